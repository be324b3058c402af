"""`feltd schema`: the message contract as an AsyncAPI 3 document."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import argparse

HELP = "print the AsyncAPI 3 document of all messages"
EXAMPLE = "feltd schema > asyncapi.json"


def configure(parser: argparse.ArgumentParser) -> None:
    """No arguments."""
    del parser


def run(options: argparse.Namespace) -> int:
    """Print the document."""
    from daemon.schema import encoded  # noqa: PLC0415  only this command needs it

    del options
    sys.stdout.buffer.write(encoded())
    sys.stdout.flush()
    return 0
