"""`feltd check`: what a technician would otherwise look for all evening."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import argparse

    from daemon.checks.words import Finding

HELP = "find what is wrong before play, with a remedy for each"
EXAMPLE = "feltd check --config /etc/feltd/t1.toml"

_MARKS = {
    "ok": ("ok", "green"),
    "note": ("note", "yellow"),
    "problem": ("WRONG", "bold red"),
    "config": ("WRONG", "bold red"),
}
_RUSSIAN = {"ok": "да", "note": "прим.", "WRONG": "НЕТ"}


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument(
        "--config", type=Path, required=True, metavar="F", help="the table's configuration"
    )
    parser.add_argument("--lang", choices=("en", "ru"), default="en", help="default: en")
    parser.add_argument("--json", action="store_true", help="a line of JSON for each finding")


def run(options: argparse.Namespace) -> int:
    """Print each finding as it is made; 0 when all is well, 1 or 78 when not."""
    from daemon.check import status  # noqa: PLC0415  heavy

    findings = asyncio.run(_all(options))
    return status(findings)


async def _all(options: argparse.Namespace) -> list[Finding]:
    from daemon.check import check  # noqa: PLC0415  heavy

    found = []
    async for each in check(options.config):
        found.append(each)
        _print(each, options.lang, as_json=options.json)
    return found


def _print(found: Finding, lang: str, *, as_json: bool) -> None:
    import msgspec  # noqa: PLC0415
    from rich.console import Console  # noqa: PLC0415
    from rich.text import Text  # noqa: PLC0415

    if as_json:
        print(msgspec.json.encode(found).decode(), flush=True)
        return
    mark, style = _MARKS[found.state]
    word = _RUSSIAN[mark] if lang == "ru" else mark
    console = Console(highlight=False, soft_wrap=True)
    console.print(Text(f"{word:6}", style) + Text(getattr(found.message, lang)))
    if found.remedy is not None:
        console.print(Text(f"{'':6}-> {getattr(found.remedy, lang)}", "dim"))
