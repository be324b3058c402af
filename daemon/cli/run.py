"""`feltd run`: the daemon."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import argparse

HELP = "run the daemon of one table"
EXAMPLE = "feltd run --config /etc/feltd/t1.toml"


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument(
        "--config", type=Path, required=True, metavar="F", help="the table's configuration"
    )
    parser.add_argument(
        "--record", type=Path, metavar="F", help="write everything that comes in to this file"
    )


def run(options: argparse.Namespace) -> int:
    """Run until SIGINT or SIGTERM."""
    from daemon import app, logs  # noqa: PLC0415  heavy, and only for this command
    from daemon.config import load  # noqa: PLC0415
    from daemon.errors import FeltdError  # noqa: PLC0415

    config = load(options.config)
    config.setup()
    logs.configure()
    try:
        asyncio.run(app.run(config, options.record))
    except* FeltdError as errors:
        raise _first(errors) from None
    return 0


def _first(errors: BaseExceptionGroup[BaseException]) -> BaseException:
    error: BaseException = errors
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error
