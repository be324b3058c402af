"""`feltd hands`: the records of finished hands, listed and exported."""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from daemon.errors import FeltdError, UsageError

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

    from daemon.recordcheck import Record

HELP = "list and export the records of finished hands"
EXAMPLE = "feltd hands list --config /etc/feltd/t1.toml --day 2026-11-29"

Fields = dict[str, Any]
_DAY = re.compile(r"\d{4}-\d\d-\d\d")
_HEADINGS = ("hand", "UTC", "game", "seats", "board", "won by", "")


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    actions = parser.add_subparsers(dest="action", metavar="ACTION", required=True)
    listed = actions.add_parser(
        "list",
        help="a line for each hand",
        description="A line for each hand: when, who, the board, who won.",
        epilog=f"example: {EXAMPLE}",
    )
    export = actions.add_parser(
        "export",
        help="a .phh file for each hand, or all as JSON",
        description="Write a .phh file for each hand into a folder (mode 0600), or print all of"
        " them as JSON. `feltd verify` checks an exported file too.",
        epilog="example: feltd hands export --config t1.toml --hand 17 --hand 18 --to hands",
    )
    for each in (listed, export):
        source = each.add_mutually_exclusive_group(required=True)
        source.add_argument("--config", type=Path, metavar="F", help="the table's configuration")
        source.add_argument("--records", type=Path, metavar="DIR", help="a folder of records")
        each.add_argument("--day", metavar="YYYY-MM-DD", help="only hands that began on this day")
        each.add_argument(
            "--hand", type=int, action="append", metavar="N", help="only this hand; repeatable"
        )
        each.add_argument("--json", action="store_true", help="print JSON instead")
    export.add_argument(
        "--to", type=Path, default=Path(), metavar="DIR", help="default: the current folder"
    )


def run(options: argparse.Namespace) -> int:
    """List or export; 1 where a hand that was asked for is not there."""
    records = _chosen(options)
    if options.json:
        _print_json(options.action, records)
    elif options.action == "list":
        _print_table([_row(record.fields) for record in records])
    else:
        for record in records:
            print(_export(record, options.to))
    return 0


def _chosen(options: argparse.Namespace) -> list[Record]:
    """The last record of each hand that was asked for, in order."""
    from daemon.recordcheck import files, load  # noqa: PLC0415  only this command needs it

    if options.day is not None and not _DAY.fullmatch(options.day):
        raise UsageError(f"--day {options.day}: not YYYY-MM-DD")
    paths = [path for path in files(_folder(options)) if options.day in {None, path.stem}]
    last: dict[tuple[str, int], Record] = {}
    for record in load(paths):
        epoch, number = str(record.fields.get("_epoch")), int(record.fields.get("hand", 0))
        if options.hand is None or number in options.hand:
            last[epoch, number] = record
    missing = sorted(set(options.hand or ()) - {number for _, number in last})
    if missing:
        raise FeltdError(f"no record of hand {', '.join(map(str, missing))}")
    return list(last.values())


def _folder(options: argparse.Namespace) -> Path:
    if options.records is not None:
        folder: Path = options.records
        return folder
    from daemon.config import load  # noqa: PLC0415  heavy
    from daemon.recordfile import FOLDER  # noqa: PLC0415

    return load(options.config).state_dir / FOLDER


def _row(fields: Fields) -> tuple[str, ...]:
    results = fields.get("_results", [])
    board = [text[5:] for text in fields.get("actions", []) if text.startswith("d db ")]
    cards = "".join(board)
    showdown = _last(results, "showdown")
    ended = _last(results, "event")
    winners = [] if fields.get("_void") else showdown.get("winners", [])
    if not winners and "winner" in ended and not fields.get("_void"):
        winners = [ended["winner"]]
    names = dict(zip(fields.get("seats", []), fields.get("players", []), strict=False))
    notes = [word for word, key in (("void", "_void"), ("corrected", "_replaces")) if key in fields]
    notes += [] if fields.get("_finished", True) else ["not finished"]
    return (
        str(fields.get("hand", "")),
        str(fields.get("_started", ""))[:19].replace("T", " "),
        str(fields.get("_discipline", "")),
        " ".join(str(seat) for seat in sorted(fields.get("seats", []))),
        " ".join(cards[at : at + 2] for at in range(0, len(cards), 2)),
        ", ".join(f"{seat} {names.get(seat, '')}".strip() for seat in winners),
        ", ".join(notes),
    )


def _last(results: Sequence[Fields], topic: str) -> Fields:
    return next((each for each in reversed(results) if each.get("topic") == topic), {})


def _print_table(rows: Sequence[tuple[str, ...]]) -> None:
    lines = [_HEADINGS, *rows]
    widths = [max(len(line[at]) for line in lines) for at in range(len(_HEADINGS))]
    for line in lines:
        cells = (cell.ljust(width) for cell, width in zip(line, widths, strict=True))
        print("  ".join(cells).rstrip())


def _print_json(action: str, records: Sequence[Record]) -> None:
    """Whole records for `export`, one short object a hand for `list`; `inf` becomes null."""
    import msgspec  # noqa: PLC0415  only this command needs it

    if action == "export":
        told: list[Fields] = [record.fields for record in records]
    else:
        keys = ("hand", "started", "discipline", "seats", "board", "winners", "notes")
        told = [dict(zip(keys, _row(record.fields), strict=True)) for record in records]
    sys.stdout.write(msgspec.json.encode(told).decode() + "\n")


def _export(record: Record, folder: Path) -> Path:
    fields = record.fields
    name = f"{fields.get('table')}-{fields.get('_epoch')}-{fields.get('hand')}.phh"
    path = folder / re.sub(r"[^A-Za-z0-9.-]", "_", name)
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        os.fchmod(descriptor, 0o600)
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write(f"{record.text}\n")
    except OSError as error:
        raise FeltdError(f"{path}: {error.strerror}") from None
    return path
