"""`feltd replay`: recordings and PHH hands as the messages that they lead to."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

from daemon.errors import FeltdError, UsageError

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator

    from daemon.config import Config
    from daemon.events import Odds, Question
    from daemon.wire import Message

HELP = "play recordings or .phh hands through the table and print every message"
EXAMPLE = "feltd replay evening.jsonl --config t1.toml"


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("files", nargs="+", metavar="FILE", help="recording, .phh, or - for stdin")
    parser.add_argument(
        "--config", type=Path, metavar="F", help="the table's configuration (not for .phh)"
    )
    parser.add_argument("--reveal", action="store_true", help="print the private root too")


def run(options: argparse.Namespace) -> int:
    """Print one JSON line for each message."""
    from daemon.config import load  # noqa: PLC0415  only this command needs it
    from daemon.replay import output  # noqa: PLC0415

    config = load(options.config) if options.config else None
    out = sys.stdout.buffer
    for name in options.files:
        for now, message in _messages(name, config, private=options.reveal):
            if options.reveal or not message.private:
                out.write(output(now, message) + b"\n")
    out.flush()
    return 0


def _messages(name: str, config: Config | None, *, private: bool) -> Iterator[tuple[int, Message]]:
    from daemon import replay  # noqa: PLC0415
    from daemon.calculator import answer  # noqa: PLC0415

    def odds(question: Question) -> Odds | None:
        return answer(question) if private or not question.private else None

    if name.endswith(".phh"):
        yield from replay.phh_messages(Path(name), config.setup() if config else None, odds)
        return
    if config is None:
        raise UsageError(f"{name}: a recording needs --config")
    setup, prefix = config.setup(), config.mqtt.prefix
    if name == "-":
        yield from replay.messages(setup, prefix, sys.stdin.buffer, "standard input", odds)
        return
    try:
        with Path(name).open("rb") as lines:
            yield from replay.messages(setup, prefix, lines, name, odds)
    except OSError as error:
        raise FeltdError(f"{name}: {error.strerror}") from None
