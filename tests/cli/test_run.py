"""The command line as a whole, and `feltd run` where it does not get to run."""

from __future__ import annotations

import importlib
import shlex

import pytest

from daemon import __version__
from daemon.cli import COMMANDS, main

LEAVES = [
    *([name] for name in COMMANDS),
    *(["rule", name] for name in ("showdown", "button-draw", "first-to-act", "chip-race", "pots")),
    *(["deck", name] for name in ("enrol", "import", "list", "check", "replace")),
]


def helped(capsys, *arguments):
    with pytest.raises(SystemExit) as ended:
        main([*arguments, "--help"])
    assert ended.value.code == 0
    return capsys.readouterr().out


@pytest.mark.parametrize("command", LEAVES, ids=" ".join)
def test_each_command_explains_itself_with_an_example(capsys, command):
    text = helped(capsys, *command)
    (example,) = [line for line in text.splitlines() if line.startswith("example: ")]
    words = shlex.split(example.removeprefix("example: "))
    assert words[words.index("feltd") + 1] == command[0]


def test_help_lists_every_command(capsys):
    text = helped(capsys)
    for name in COMMANDS:
        assert f"    {name} " in text
        assert importlib.import_module(f"daemon.cli.{name}").HELP.split()[0] in text


def test_version(capsys):
    with pytest.raises(SystemExit):
        main(["--version"])
    assert capsys.readouterr().out == f"feltd {__version__}\n"


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["reshuffle"],
        ["run"],
        ["run", "--config"],
        ["run", "--config", "t1.toml", "--loud"],
        ["replay"],
        ["replay", "evening.jsonl"],
        ["demo", "--hands", "many"],
        ["demo", "--rail", "barcode"],
    ],
    ids=" ".join,
)
def test_wrong_usage_is_one_line_and_2(capsys, arguments):
    assert main(arguments) == 2
    out, error = capsys.readouterr()
    assert out == ""
    assert len(error.splitlines()) == 1
    assert error.startswith("feltd: ")


def test_a_folder_that_cannot_be_written_is_one_line_and_1(capsys, tmp_path):
    (tmp_path / "state").write_text("in the way")
    config = tmp_path / "table.toml"
    config.write_text(
        '[table]\nid = "t1"\ndiscipline = "holdem"\nseats = 2\n[state]\ndir = "state"\n'
    )
    assert main(["run", "--config", str(config)]) == 1
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 1
    assert str(tmp_path / "state") in lines[0]


def test_a_recording_that_cannot_be_written_is_one_line_and_1(capsys, tmp_path):
    config = tmp_path / "table.toml"
    config.write_text(
        '[table]\nid = "t1"\ndiscipline = "holdem"\nseats = 2\n[state]\ndir = "state"\n'
    )
    record = tmp_path / "none" / "evening.jsonl"
    assert main(["run", "--config", str(config), "--record", str(record)]) == 1
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 1
    assert str(record) in lines[0]
