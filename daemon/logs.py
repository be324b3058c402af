"""Log lines: plain on a terminal, JSON with fields elsewhere. Never a hidden card."""

from __future__ import annotations

import logging
import os
import sys
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import msgspec

if TYPE_CHECKING:
    from collections.abc import Callable

FIELDS = ("table", "hand", "reader")
"""What a line may carry beside its message: nothing that a card could be told from."""

_PRIORITY = {logging.DEBUG: 7, logging.INFO: 6, logging.WARNING: 4, logging.ERROR: 3}
_COLOUR = {logging.WARNING: "33", logging.ERROR: "31"}


class Place(logging.Filter):
    """Adds to each line the hand that is open when it is written; `hand` is asked for it."""

    def __init__(self, table: str, hand: Callable[[], int | None]) -> None:
        super().__init__()
        self._table = table
        self._hand = hand

    def filter(self, record: logging.LogRecord) -> bool:
        """Let every line pass."""
        record.table = self._table
        record.hand = self._hand()
        return True


class Plain(logging.Formatter):
    """For a person: time, level, what, and in which hand; coloured by level on a terminal."""

    def __init__(self, *, colour: bool = True) -> None:
        super().__init__()
        self._colour = colour

    def format(self, record: logging.LogRecord) -> str:
        """One line."""
        at = datetime.fromtimestamp(record.created, UTC).strftime("%H:%M:%S")
        level = f"{record.levelname.lower():7}"
        if self._colour:
            level = f"\x1b[{_COLOUR.get(record.levelno, '0')}m{level}\x1b[0m"
        hand = fields(record).get("hand")
        return f"{at} {level} {'' if hand is None else f'hand {hand}: '}{_line(record)}"


class Fields(logging.Formatter):
    """For a machine: a JSON object, with the priority that journald wants in front of it."""

    def format(self, record: logging.LogRecord) -> str:
        """One line."""
        body = {
            "at": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": _line(record),
        }
        prefix = f"<{_PRIORITY.get(record.levelno, 2)}>" if "JOURNAL_STREAM" in os.environ else ""
        return prefix + msgspec.json.encode(body | fields(record)).decode()


def fields(record: logging.LogRecord) -> dict[str, str | int]:
    """Those of FIELDS that this line has."""
    found = {name: getattr(record, name, None) for name in FIELDS}
    return {name: value for name, value in found.items() if value is not None}


def _line(record: logging.LogRecord) -> str:
    text = record.getMessage()
    if record.exc_info:
        text += f": {logging.Formatter().formatException(record.exc_info)}"
    return " ".join(text.split())


def configure() -> None:
    """Send all log lines to standard error."""
    handler = logging.StreamHandler(sys.stderr)
    plain = Plain(colour="NO_COLOR" not in os.environ)
    handler.setFormatter(plain if sys.stderr.isatty() else Fields())
    logging.basicConfig(level=logging.INFO, handlers=[handler], force=True)
    logging.getLogger("asyncio").setLevel(logging.WARNING)


def within(place: Place) -> None:
    """Have every line say where the table is."""
    for handler in logging.getLogger().handlers:
        for old in [each for each in handler.filters if isinstance(each, Place)]:
            handler.removeFilter(old)
        handler.addFilter(place)
