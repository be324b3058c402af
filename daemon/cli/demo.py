"""`feltd demo`: the main job on one machine, without hardware."""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import argparse

HELP = "play hands on emulated readers, through a real broker, and show them live"
EXAMPLE = "feltd demo --hands 3 --once"


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument(
        "--hands", type=int, default=2, metavar="N", help="how many hands with --once"
    )
    parser.add_argument("--once", action="store_true", help="end after the hands")
    parser.add_argument(
        "--seed", type=int, default=1, metavar="S", help="the same seed deals the same hands"
    )
    parser.add_argument("--json", action="store_true", help="print each message as a JSON line")
    parser.add_argument(
        "--url", default="embedded", metavar="U", help="another broker than the embedded one"
    )
    parser.add_argument("--rail", choices=("pn532", "feig"), default="pn532", help="reader family")


def run(options: argparse.Namespace) -> int:
    """Play until the hands are over or the person has seen enough."""
    from daemon import demo  # noqa: PLC0415  heavy, and only for this command
    from daemon.errors import FeltdError  # noqa: PLC0415

    logging.basicConfig(level=logging.ERROR, format="%(levelname)s %(name)s %(message)s")
    hands = options.hands if options.once else None
    plan = demo.Plan(hands, options.seed, options.url, options.json, options.rail)
    try:
        asyncio.run(demo.play(plan))
    except* FeltdError as errors:
        error: BaseException = errors
        while isinstance(error, BaseExceptionGroup):
            error = error.exceptions[0]
        raise error from None
    except* TimeoutError:
        raise FeltdError("the table did not answer in time") from None
    return 0
