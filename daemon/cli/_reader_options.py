"""The options that say which readers a command listens to."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import argparse


def add_options(parser: argparse.ArgumentParser) -> None:
    """The options that say which readers to listen to."""
    parser.add_argument("--config", type=Path, metavar="F", help="the table's configuration")
    parser.add_argument(
        "--reader", metavar="DRIVER:PORT", help="this reader instead of those configured"
    )
    parser.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="KEY=VALUE",
        help="a setting of --reader, such as parity=none; repeated",
    )
    parser.add_argument(
        "--antennas", default="1", metavar="N", help="of --reader, as in 1-10,12 (default: 1)"
    )
    parser.add_argument("--zone", metavar="Z", help="only antennas of this zone, as in shoe")
