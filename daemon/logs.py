"""Log lines: plain on a terminal, JSON with fields elsewhere. Never a hidden card."""

from __future__ import annotations

import logging
import os
import sys
from datetime import UTC, datetime

import msgspec

_PRIORITY = {logging.DEBUG: 7, logging.INFO: 6, logging.WARNING: 4, logging.ERROR: 3}


class Plain(logging.Formatter):
    """For a person: time, level, what."""

    def format(self, record: logging.LogRecord) -> str:
        """One line, coloured by its level."""
        colour = {logging.WARNING: "33", logging.ERROR: "31"}.get(record.levelno, "0")
        at = datetime.fromtimestamp(record.created, UTC).strftime("%H:%M:%S")
        return f"{at} \x1b[{colour}m{record.levelname.lower():7}\x1b[0m {_line(record)}"


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
        return prefix + msgspec.json.encode(body).decode()


def _line(record: logging.LogRecord) -> str:
    text = record.getMessage()
    if record.exc_info:
        text += f": {logging.Formatter().formatException(record.exc_info)}"
    return " ".join(text.split())


def configure() -> None:
    """Send all log lines to standard error."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(Plain() if sys.stderr.isatty() else Fields())
    logging.basicConfig(level=logging.INFO, handlers=[handler], force=True)
    logging.getLogger("asyncio").setLevel(logging.WARNING)
