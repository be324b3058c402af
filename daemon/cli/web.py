"""`feltd web`: the overlay for the broadcast and the panel for the floor."""

from __future__ import annotations

import asyncio
import getpass
import sys
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import argparse

HELP = "serve the overlay and the floor's panel to browsers"
EXAMPLE = "feltd web --config /etc/feltd/t1.toml"
SHORTEST = 10


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    does = parser.add_mutually_exclusive_group(required=True)
    does.add_argument("--config", type=Path, metavar="F", help="the table's configuration")
    does.add_argument(
        "--new-password", type=Path, metavar="F", help="ask for a password, write its hash to F"
    )
    does.add_argument(
        "--new-token", type=Path, metavar="F", help="print a new token, add its hash to F"
    )
    parser.add_argument("--name", default="overlay", metavar="N", help="whose token it is")
    parser.add_argument(
        "--private", action="store_true", help="serve /overlay/private alone, with hole cards"
    )


def run(options: argparse.Namespace) -> int:
    """Serve until SIGINT or SIGTERM, or write a password or a token."""
    from daemon.errors import ConfigError  # noqa: PLC0415

    try:
        from daemon.web import credentials, serve  # noqa: PLC0415  an extra
    except ImportError:
        raise ConfigError("web needs aiohttp and argon2: pip install 'feltd[web]'") from None
    if options.new_password is not None:
        credentials.write_password(options.new_password, _ask())
        return 0
    if options.new_token is not None:
        print(credentials.add_token(options.new_token, options.name))
        return 0
    from daemon import logs  # noqa: PLC0415
    from daemon.config import load  # noqa: PLC0415

    config = load(options.config)
    logs.configure()
    asyncio.run(serve.run(config, private=options.private))
    return 0


def _ask() -> str:
    """A new password: typed twice on a terminal, else the first line of standard input."""
    from daemon.errors import UsageError  # noqa: PLC0415

    if not sys.stdin.isatty():
        password = sys.stdin.readline().rstrip("\r\n")
    else:
        password = getpass.getpass("Password: ")
        if getpass.getpass("Again: ") != password:
            raise UsageError("the two are not the same")
    if len(password) < SHORTEST:
        raise UsageError(f"a password has at least {SHORTEST} characters")
    return password
