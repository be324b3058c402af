# ruff: noqa: INP001 - a script of the package build
"""Manual pages and bash completion from what they describe.

`manual.py man` prints feltd(1) and `manual.py completion` the completion, both from the command
line itself; `manual.py toml FILE` prints feltd.toml(5) from docs/configuration.md.
"""

from __future__ import annotations

import argparse
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from daemon import __version__
from daemon.cli import parser

if TYPE_CHECKING:
    from collections.abc import Iterator

HEAD = r""".TH FELTD 1 "" "feltd {version}" "feltd"
.SH NAME
feltd \- the daemon inside a live poker table
.SH SYNOPSIS
.B feltd
.I COMMAND
.RI [ OPTIONS ]
.SH DESCRIPTION
Reads the cards from RFID readers under the felt and in the shoe, follows every hand of hold'em,
Omaha and seven\-card stud, and tells over MQTT what the rules say.
.SH COMMANDS
"""
TAIL = r""".SH FILES
.TP
.I /etc/feltd/TABLE.toml
the configuration of one table, see
.BR feltd.toml (5)
.TP
.I /etc/feltd/decks
enrolled decks; they tell the card of every tag
.TP
.I /var/lib/feltd/TABLE
journal and outbox
.TP
.I /run/feltd/TABLE/metrics.prom
metrics for Prometheus
.SH SIGNALS
SIGHUP reads the configuration again; one that is wrong changes nothing. SIGTERM and SIGINT end the
daemon.
.SH EXIT STATUS
0; 2 for usage, 78 for configuration, 1 for the rest.
.SH SEE ALSO
.BR feltd.toml (5),
.BR systemctl (1)
"""


def commands(of: argparse.ArgumentParser) -> dict[str, argparse.ArgumentParser]:
    """The subcommands of a parser."""
    for action in of._actions:  # noqa: SLF001 - argparse has no other way to ask
        if isinstance(action, argparse._SubParsersAction):  # noqa: SLF001
            return dict(action.choices)
    return {}


def leaves(of: argparse.ArgumentParser, name: str = "") -> Iterator[tuple[str, str]]:
    """Every command that can be given, with its options and choices as completion words."""
    below = commands(of)
    words = list(below)
    for action in of._actions:  # noqa: SLF001
        words += action.option_strings
    yield name, " ".join(sorted(words))
    for each, inner in below.items():
        yield from leaves(inner, f"{name} {each}".strip())


def escaped(text: str) -> str:
    """Text as roff takes it."""
    return text.replace("\\", r"\e").replace("-", r"\-").replace("\n.", "\n\\&.")


def section(name: str, command: argparse.ArgumentParser) -> str:
    """One command of the manual page."""
    lines = [f".SS {escaped(f'feltd {name}')}", escaped(command.description or "")]
    for action in command._actions:  # noqa: SLF001
        if isinstance(action, argparse._HelpAction | argparse._SubParsersAction):  # noqa: SLF001
            continue
        value = action.metavar or (action.dest.upper() if action.nargs != 0 else "")
        if action.choices:
            value = "|".join(str(each) for each in action.choices)
        head = ", ".join(action.option_strings) or str(value)
        told = f" \\fI{escaped(str(value))}\\fR" if action.option_strings and value else ""
        lines += [".TP", f"\\fB{escaped(head)}\\fR{told}", escaped(action.help or "")]
    if command.epilog and command.epilog.startswith("example: "):
        lines += [".PP", ".EX", escaped(command.epilog.removeprefix("example: ")), ".EE"]
    return "\n".join(lines) + "\n"


def sections(of: argparse.ArgumentParser, name: str = "") -> Iterator[str]:
    """All commands, in the order of the help."""
    for each, inner in commands(of).items():
        full = f"{name} {each}".strip()
        yield section(full, inner)
        yield from sections(inner, full)


def manual() -> str:
    """feltd(1)."""
    return HEAD.format(version=__version__) + "".join(sections(parser())) + TAIL


COMPLETION = r"""# bash completion for feltd
_feltd() {
    local word=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD-1]} command="" each
    for each in "${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
        case "$command $each" in
@NAMES@) command="${command:+$command }$each" ;;
        esac
    done
    case "$previous" in
    --config)
        mapfile -t COMPREPLY < <(compgen -f -X '!*.toml' -- "$word"; compgen -d -- "$word")
        return
        ;;
    --lang) mapfile -t COMPREPLY < <(compgen -W "en ru" -- "$word"); return ;;
    --discipline) mapfile -t COMPREPLY < <(compgen -W "holdem omaha stud" -- "$word"); return ;;
    esac
    case "$command" in
@WORDS@
    esac
    [ ${#COMPREPLY[@]} -gt 0 ] || mapfile -t COMPREPLY < <(compgen -f -- "$word")
}
complete -o filenames -F _feltd feltd
"""


def completion() -> str:
    """The bash completion."""
    found = dict(leaves(parser()))
    pairs = [f'"{f" {name}" if " " not in name else name}"' for name in found if name]
    words = "\n".join(
        f'    "{name}") mapfile -t COMPREPLY < <(compgen -W "{list_}" -- "$word") ;;'
        for name, list_ in found.items()
    )
    names = "        " + " | ".join(pairs)
    return COMPLETION.replace("@NAMES@", names).replace("@WORDS@", words)


TOML_HEAD = r""".TH FELTD.TOML 5 "" "feltd {version}" "feltd"
.SH NAME
feltd.toml \- the configuration of one poker table
.SH DESCRIPTION
"""


def inline(text: str) -> str:
    """A line of Markdown as roff."""
    text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", text)
    parts = text.split("`")
    marked = [
        f"\\fB{escaped(each)}\\fR" if n % 2 else escaped(each) for n, each in enumerate(parts)
    ]
    joined = "".join(marked)
    return f"\\&{joined}" if joined[:1] in {".", "'"} else joined


def row(line: str) -> list[str]:
    """A row of a table: the key, then what is said about it."""
    cells = [cell.strip() for cell in line.strip("|").split("|")]
    return [".TP", inline(cells[0]), inline("; ".join(cell for cell in cells[1:] if cell)) or r"\&"]


def blocks(source: str) -> Iterator[str]:
    """The lines of a page, without its title; the heads of tables are left out."""
    code = False
    lines = source.splitlines()
    for number, line in enumerate(lines):
        following = lines[number + 1] if number + 1 < len(lines) else ""
        if line.startswith("```"):
            code = not code
            yield ".EX" if code else ".EE"
        elif code:
            yield escaped(line) if not line.startswith(".") else f"\\&{escaped(line)}"
        elif line.startswith("## "):
            yield f".SH {inline(line[3:])}"
        elif line.startswith("### "):
            yield f".SS {inline(line[4:])}"
        elif line.startswith("|"):
            if not line.startswith("|--") and not following.startswith("|--"):
                yield from row(line)
        elif not line.startswith("# "):
            yield inline(line) or ".PP"


def toml(source: str) -> str:
    """feltd.toml(5)."""
    page: list[str] = []
    for line in blocks(source):
        if line == ".PP" and (not page or page[-1].startswith((".PP", ".SH", ".SS"))):
            continue
        if line.startswith((".SH", ".SS")) and page and page[-1] == ".PP":
            page.pop()
        page.append(line)
    return TOML_HEAD.format(version=__version__) + "\n".join(page) + "\n"


def main(what: str, *files: str) -> str:
    """What was asked for."""
    if what == "toml":
        return toml(Path(files[0]).read_text(encoding="utf-8"))
    return {"man": manual, "completion": completion}[what]()


if __name__ == "__main__":
    print(main(*sys.argv[1:]), end="")
