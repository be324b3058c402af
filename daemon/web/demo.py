"""The pages of the demo: a password of its own, a port that is free."""

from __future__ import annotations

import asyncio
import secrets
import socket
from dataclasses import replace
from typing import TYPE_CHECKING

from daemon.config import WebKeys
from daemon.web import serve as pages
from daemon.web.credentials import write_password

if TYPE_CHECKING:
    from collections.abc import Callable

    from daemon.config import Config

ROLE = "floor"
PORTS = (8088, 0)


async def serve(config: Config, told: Callable[[str, str, str], None], stop: asyncio.Event) -> None:
    """Serve until `stop` is set; `told(url, role, password)` once browsers may come."""
    password = secrets.token_urlsafe(9)
    file = config.path.parent / "floor.argon2"
    await asyncio.to_thread(write_password, file, password)
    keys = WebKeys(listen=f"127.0.0.1:{_free_port()}", roles={ROLE: file.name})
    site, app = pages.public_site(replace(config, web=keys))
    async with asyncio.TaskGroup() as group:
        listening = asyncio.Event()
        group.create_task(pages.serve(site, app, stop, listening), name="pages")
        await listening.wait()
        told(f"http://127.0.0.1:{site.port}", ROLE, password)


def _free_port() -> int:
    for port in PORTS:
        try:
            with socket.create_server(("127.0.0.1", port)):
                return port
        except OSError:
            continue
    return 0
