"""`feltd readers`: what is plugged in, what answers, which antenna is where."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final

from daemon.cli._reader_options import add_options
from daemon.errors import UsageError

if TYPE_CHECKING:
    import argparse

HELP: Final = "readers found, what answers on them, which antenna lies where"
EXAMPLE: Final = "feltd readers --probe >> table.toml"


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the command's options."""
    parser.add_argument(
        "--probe", action="store_true", help="ask what answers; print [[readers]] blocks"
    )
    parser.add_argument(
        "--port", action="append", metavar="P", help="only this port or socket://host:port"
    )
    parser.add_argument(
        "--map", action="store_true", help="walk a card over the antennas and name their zones"
    )
    parser.add_argument("--json", action="store_true")
    add_options(parser)


def run(options: argparse.Namespace) -> int:
    """List, probe or map; exit status 1 when nothing answers or nothing was named."""
    if options.map and options.probe:
        raise UsageError("--probe or --map, one after the other")
    if options.map:
        return _map(options)
    from daemon.cli import _found  # noqa: PLC0415 - all drivers

    act = _found.probe_all if options.probe else _found.list_all
    return act(options.port or [], as_json=options.json)


def _map(options: argparse.Namespace) -> int:
    from daemon.cli._found import inline  # noqa: PLC0415 - all drivers
    from daemon.cli._map import teach  # noqa: PLC0415 - asyncio and rich
    from daemon.cli._readers import chosen  # noqa: PLC0415 - all drivers

    tables = teach(chosen(options))
    if options.json:
        print(json.dumps(tables))
    else:
        for name, antennas in tables.items():
            print(f"# reader {name}\nantennas = {inline(antennas)}")
    return 0 if tables else 1
