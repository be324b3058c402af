"""`feltd keys`: key pairs of those who may see hole cards, and the key that signs records."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import argparse

HELP = "make a key pair for a receiver of sealed hole cards, or show the key of the records"
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
    show = actions.add_parser(
        "show",
        help="print the public key that a table's records are signed with",
        description="Print the public key that a table's records are signed with; the table makes"
        " its key when it first starts. `feltd verify --key` takes it.",
        epilog="example: feltd keys show --config /etc/feltd/t1.toml",
    )
    show.add_argument(
        "--config", type=Path, required=True, metavar="F", help="the table's configuration"
    )
    show.add_argument("--json", action="store_true", help="print the public key as JSON")


def run(options: argparse.Namespace) -> int:
    """Make the pair, or show the table's key."""
    import json  # noqa: PLC0415  only this command needs it

    if options.action == "show":
        public = _of_table(options.config)
        print(json.dumps({"public": public}) if options.json else f"public key   {public}")
        return 0
    from daemon.sealing import new_pair  # noqa: PLC0415

    public = new_pair(options.file)
    if options.json:
        print(json.dumps({"public": public, "private_file": str(options.file)}))
    else:
        print(f"private key  {options.file}")
        print(f"public key   {public}")
    return 0


def _of_table(config: Path) -> str:
    from daemon.config import load  # noqa: PLC0415  heavy
    from daemon.signing import KEY_FILE, read  # noqa: PLC0415

    return read(load(config).state_dir / KEY_FILE).public
