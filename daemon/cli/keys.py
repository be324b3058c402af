"""`feltd keys`: key pairs of those who may see hole cards."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import argparse

HELP = "make a key pair for a receiver of sealed hole cards"
EXAMPLE = "feltd keys new overlay.key"


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    actions = parser.add_subparsers(dest="action", metavar="ACTION", required=True)
    new = actions.add_parser(
        "new",
        help="write a private key and print the public one",
        description="Write a private key to FILE (mode 0600) and print the public one, which goes"
        " into [secrecy.receivers] of the table's configuration.",
        epilog=f"example: {EXAMPLE}",
    )
    new.add_argument("file", type=Path, metavar="FILE", help="a file that does not exist yet")
    new.add_argument("--json", action="store_true", help="print the public key as JSON")


def run(options: argparse.Namespace) -> int:
    """Make the pair."""
    import json  # noqa: PLC0415  only this command needs it

    from daemon.sealing import new_pair  # noqa: PLC0415

    public = new_pair(options.file)
    if options.json:
        print(json.dumps({"public": public, "private_file": str(options.file)}))
    else:
        print(f"private key  {options.file}")
        print(f"public key   {public}")
    return 0
