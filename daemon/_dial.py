"""Getting a socket to the broker without waiting for it at the end of the program."""

from __future__ import annotations

import asyncio
import socket
import threading
from contextlib import ExitStack, suppress
from typing import TYPE_CHECKING

from paho.mqtt.client import WebsocketConnectionError

if TYPE_CHECKING:
    import ssl
    from collections.abc import Callable

    from daemon.address import Address

CONNECT_TIMEOUT = 5.0


def open_socket(address: Address, context: ssl.SSLContext | None) -> socket.socket:
    """As paho does, but a failed attempt leaves no open socket, and small packets do not wait."""
    with ExitStack() as opened:
        if address.transport == "unix":
            sock = opened.enter_context(socket.socket(socket.AF_UNIX))
            sock.settimeout(CONNECT_TIMEOUT)
            sock.connect(address.host)
        else:
            target = (address.host, address.port)
            sock = opened.enter_context(socket.create_connection(target, CONNECT_TIMEOUT))
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        if context is not None:
            sock = opened.enter_context(context.wrap_socket(sock, server_hostname=address.host))
        opened.pop_all()
        return sock


async def in_own_thread(work: Callable[[], object]) -> None:
    """Run blocking `work` where neither our end nor the loop's waits for it."""
    loop = asyncio.get_running_loop()
    done: asyncio.Future[None] = loop.create_future()

    def settle(error: Exception | None) -> None:
        if done.done():
            return
        if error is None:
            done.set_result(None)
        else:
            done.set_exception(error)

    def run() -> None:
        problem: Exception | None = None
        try:
            work()
        except (OSError, ValueError, RuntimeError, WebsocketConnectionError) as error:
            problem = error
        with suppress(RuntimeError):
            loop.call_soon_threadsafe(settle, problem)

    threading.Thread(target=run, name="mqtt-connect", daemon=True).start()
    await done
