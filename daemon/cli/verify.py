"""`feltd verify`: recorded messages and record files against their own promises."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

from daemon.errors import FeltdError

if TYPE_CHECKING:
    import argparse

    from daemon.recordcheck import RecordReport
    from daemon.verify import Report

HELP = "check recorded messages or record files: none missing, changed or moved"
EXAMPLE = "feltd verify /var/lib/feltd/t1/records --key BASE64"


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.description = (
        "Messages are JSON lines {topic, payload}, as `feltd replay` and `mosquitto_sub -F %J`"
        " print them: numbers without a gap, every opened card as it was committed to, every head"
        " as the results lead to it. Records are files of a table's folder `records`, the folder,"
        " or an exported hand: their chain, their results, their signatures."
    )
    parser.add_argument(
        "file", metavar="FILE", help="messages, records, a folder of records, or - for stdin"
    )
    parser.add_argument(
        "--key", metavar="BASE64", help="the public key that must have signed the records"
    )
    parser.add_argument("--json", action="store_true", help="print the report as JSON")


def run(options: argparse.Namespace) -> int:
    """Print what was checked; 1 where anything is wrong."""
    import msgspec  # noqa: PLC0415  only this command needs it

    if options.file != "-" and _holds_records(Path(options.file)):
        report: Report | RecordReport = _records(options)
    else:
        report = _report(options.file)
    if options.json:
        print(msgspec.json.encode(report).decode())
    else:
        _print(options.file, report)
    return 0 if report.ok else 1


def _holds_records(path: Path) -> bool:
    from daemon.recordcheck import is_record  # noqa: PLC0415

    if path.is_dir() or path.suffix in {".phh", ".phhs"}:
        return True
    try:
        with path.open("rb") as file:
            return is_record(file.read(64))
    except OSError as error:
        raise FeltdError(f"{path}: {error.strerror}") from None


def _records(options: argparse.Namespace) -> RecordReport:
    from daemon import recordcheck  # noqa: PLC0415

    return recordcheck.verify(recordcheck.files(Path(options.file)), options.key)


def _report(name: str) -> Report:
    from daemon.verify import verify  # noqa: PLC0415

    if name == "-":
        return verify(sys.stdin.buffer)
    try:
        with Path(name).open("rb") as lines:
            return verify(lines)
    except OSError as error:
        raise FeltdError(f"{name}: {error.strerror}") from None


def _print(name: str, report: Report | RecordReport) -> None:
    from daemon.recordcheck import RecordFault, RecordReport  # noqa: PLC0415

    for fault in report.faults:
        where = fault.file if isinstance(fault, RecordFault) else name
        print(f"{where}, line {fault.line}: {fault.text}")
    if isinstance(report, RecordReport):
        _print_records(report)
    else:
        _print_messages(report)
    faults = len(report.faults)
    print("All is as it was promised." if report.ok else f"{faults} faults.")


def _print_messages(report: Report) -> None:
    print(f"messages     {report.messages}")
    print(f"hands        {report.hands}")
    print(f"commitments  {report.commits}, opened {report.opens}")
    if report.unchecked:
        print(f"             {report.unchecked} opened that were made before the recording began")
    print(f"heads        {report.heads}")


def _print_records(report: RecordReport) -> None:
    print(f"records      {report.records} in {report.files} files, from number {report.begins} on")
    print(f"results      {report.results}")
    unsigned = f", {report.unsigned} without" if report.unsigned else ""
    print(f"signatures   {report.signed}{unsigned}")
    if report.unchecked:
        print(f"             {report.unchecked} unchecked: pip install 'feltd[sealed]'")
    for key in report.keys:
        print(f"signed with  {key}")
