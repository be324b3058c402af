"""`feltd demo`: the main job on one machine, without hardware."""

from __future__ import annotations

import argparse
import asyncio
import logging
import signal

from daemon.errors import FeltdError

HELP = "a draw, hands of all disciplines and a race on emulated readers, shown live"
EXAMPLE = "feltd demo --once --seed 7"


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument(
        "--hands", type=_hands, default=1, metavar="N", help="hands of each discipline in a round"
    )
    parser.add_argument("--once", action="store_true", help="one quick round, then end")
    parser.add_argument(
        "--seed", type=int, default=1, metavar="S", help="the same seed deals the same cards"
    )
    parser.add_argument("--json", action="store_true", help="print each message as a JSON line")
    parser.add_argument(
        "--url", default="embedded", metavar="U", help="another broker than the embedded one"
    )
    parser.add_argument(
        "--rail",
        choices=("feig", "pn532"),
        default="feig",
        help="reader family; a PN532 hears two cards, so it plays hold'em only",
    )
    parser.add_argument("--no-shoe", action="store_true", help="without a reader in the shoe")


def _hands(text: str) -> int:
    if not text.isdecimal() or not int(text):
        raise argparse.ArgumentTypeError(f"{text!r} is no number of hands")
    return int(text)


def _stop(_number: int, _frame: object) -> None:
    """Until the loop runs, which has its own way to end."""
    raise SystemExit(0)


def run(options: argparse.Namespace) -> int:
    """Play until the round is over or the person has seen enough."""
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, _stop)
    from daemon import demo  # noqa: PLC0415  heavy, and only for this command

    logging.basicConfig(level=logging.ERROR, format="%(levelname)s %(name)s %(message)s")
    plan = demo.Plan(
        hands=options.hands,
        once=options.once,
        seed=options.seed,
        url=options.url,
        as_json=options.json,
        rail=options.rail,
        shoe=not options.no_shoe,
    )
    try:
        asyncio.run(demo.play(plan))
    except* FeltdError as errors:
        error: BaseException = errors
        while isinstance(error, BaseExceptionGroup):
            error = error.exceptions[0]
        raise error from None
    return 0
