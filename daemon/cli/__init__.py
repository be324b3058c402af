"""The command line: `feltd COMMAND ...`, one module of this package for each command.

A command's module has `HELP` (one line), `EXAMPLE` (a command line), `configure(parser)`
and `run(options) -> int` (the exit status). Heavy imports belong into `run`.
"""

from __future__ import annotations

import argparse
import sys
from importlib import import_module
from typing import Any

from daemon import __version__
from daemon.errors import FeltdError, UsageError

COMMANDS: tuple[str, ...] = (
    "run",
    "demo",
    "replay",
    "rule",
    "equity",
    "deck",
    "readers",
    "web",
    "schema",
    "hands",
    "verify",
    "keys",
    "check",
    "watch",
)


_EPILOG = """\
examples:
  feltd demo --once --seed 7
  feltd run --config /etc/feltd/t1.toml
  feltd rule showdown --discipline holdem --board AhKc9d3d4d --hand 1=AsKd --hand 2=2c7h

Each command has --help. Exit status: 0, 2 for usage, 78 for configuration, 1 for the rest.
"""


class _Parser(argparse.ArgumentParser):
    """An argparse parser whose errors are one line, and whose examples are not broken."""

    def __init__(self, **options: Any) -> None:  # noqa: ANN401 - those of ArgumentParser
        super().__init__(**{"formatter_class": argparse.RawDescriptionHelpFormatter} | options)

    def error(self, message: str) -> None:  # type: ignore[override]  # raises instead of exiting
        raise UsageError(f"{message} (see {self.prog} --help)")


def parser() -> argparse.ArgumentParser:
    """The whole command line."""
    top = _Parser(prog="feltd", description="The daemon inside a live poker table.", epilog=_EPILOG)
    top.add_argument("--version", action="version", version=f"feltd {__version__}")
    commands = top.add_subparsers(dest="command", metavar="COMMAND", required=True)
    for name in COMMANDS:
        module = import_module(f"daemon.cli.{name}")
        command = commands.add_parser(
            name, help=module.HELP, description=module.HELP, epilog=f"example: {module.EXAMPLE}"
        )
        module.configure(command)
        command.set_defaults(run=module.run)
    return top


def main(arguments: list[str] | None = None) -> int:
    """Run one command; errors are one line on standard error."""
    try:
        options = parser().parse_args(arguments)
        status: int = options.run(options)
    except FeltdError as error:
        print(f"feltd: {error}", file=sys.stderr)
        return error.status
    except BrokenPipeError:
        return 1
    return status
