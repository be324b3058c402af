"""`feltd verify`: recorded messages against their own promises."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

from daemon.errors import FeltdError

if TYPE_CHECKING:
    import argparse

    from daemon.verify import Report

HELP = "check recorded messages: none missing, every opened card as it was committed to"
EXAMPLE = "mosquitto_sub -t 'felt/t1/#' -F %J > evening.jsonl; feltd verify evening.jsonl"


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument(
        "file", metavar="FILE", help="messages as JSON lines {topic, payload}, or - for stdin"
    )
    parser.add_argument("--json", action="store_true", help="print the report as JSON")


def run(options: argparse.Namespace) -> int:
    """Print what was checked; 1 where anything is wrong."""
    import msgspec  # noqa: PLC0415  only this command needs it

    report = _report(options.file)
    if options.json:
        print(msgspec.json.encode(report).decode())
    else:
        _print(options.file, report)
    return 0 if report.ok else 1


def _report(name: str) -> Report:
    from daemon.verify import verify  # noqa: PLC0415

    if name == "-":
        return verify(sys.stdin.buffer)
    try:
        with Path(name).open("rb") as lines:
            return verify(lines)
    except OSError as error:
        raise FeltdError(f"{name}: {error.strerror}") from None


def _print(name: str, report: Report) -> None:
    for fault in report.faults:
        print(f"{name}, line {fault.line}: {fault.text}")
    print(f"messages     {report.messages}")
    print(f"hands        {report.hands}")
    print(f"commitments  {report.commits}, opened {report.opens}")
    if report.unchecked:
        print(f"             {report.unchecked} opened that were made before the recording began")
    faults = len(report.faults)
    print("All is as it was promised." if report.ok else f"{faults} faults.")
