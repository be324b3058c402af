"""`feltd hands` and the commands around it, as a person sees them."""

from __future__ import annotations

import json
import tomllib
from contextlib import closing
from types import SimpleNamespace

import pytest

from daemon import config
from daemon.cli import main
from daemon.journal import Journal
from daemon.memory import Memory
from daemon.recording import read_line, read_opening
from drivers.sim.table import simulate, write


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    """A table's configuration, with the records of an evening of hold'em beside it."""
    folder = tmp_path_factory.mktemp("table")
    write(simulate("holdem", "clean", 7, 5, commands=True, keys=True), folder)
    settings = config.load(folder / "table.toml")
    with closing(Journal.open(settings.state_dir, 0.0)) as journal:
        memory = Memory(settings, journal)
        for line in (folder / "recording.jsonl").read_bytes().splitlines():
            if read_opening(line) is None:
                memory.take(*read_line(line))
        memory.close()
    return SimpleNamespace(
        config=str(folder / "table.toml"),
        records=settings.state_dir / "records",
        key=memory.archive.public,
    )


def test_the_list_is_laid_out_for_a_person(table, capsys):
    assert main(["hands", "list", "--config", table.config]) == 0
    heading, *lines = capsys.readouterr().out.splitlines()
    assert heading.split() == ["hand", "UTC", "game", "seats", "board", "won", "by"]
    assert [int(line.split()[0]) for line in lines] == [1, 2, 3, 4, 5]
    assert all(line[heading.index("game") :].startswith("holdem") for line in lines)
    assert main(["hands", "list", "--records", str(table.records), "--hand", "2", "--json"]) == 0
    (hand,) = json.loads(capsys.readouterr().out)
    assert hand["hand"] == "2"
    winner = lines[1][heading.index("won by") :].strip()
    assert hand["winners"] == winner
    assert winner


def test_hands_are_exported_each_to_a_file_that_proves_itself(table, tmp_path, capsys):
    to = tmp_path / "out"
    arguments = ["hands", "export", "--config", table.config, "--to", str(to)]
    assert main([*arguments, "--hand", "2", "--hand", "4"]) == 0
    paths = capsys.readouterr().out.splitlines()
    assert sorted(paths) == sorted(map(str, to.iterdir()))
    assert len(paths) == 2
    assert {oct((to / path).stat().st_mode & 0o777) for path in paths} == {"0o600"}
    for path, number in zip(paths, (2, 4), strict=True):
        assert tomllib.loads((to / path).read_text())["hand"] == number
        assert main(["verify", path, "--key", table.key]) == 0
        assert "All is as it was promised." in capsys.readouterr().out
        assert main(["replay", path]) == 0
        assert '"type":"hand-ended"' in capsys.readouterr().out


def test_hands_are_exported_as_json(table, capsys):
    assert main(["hands", "export", "--records", str(table.records), "--json"]) == 0
    hands = json.loads(capsys.readouterr().out)
    assert [hand["hand"] for hand in hands] == [1, 2, 3, 4, 5]
    assert set(hands[0]["starting_stacks"]) == {None}


def test_a_day_is_chosen_by_its_date(table, capsys):
    arguments = ["hands", "list", "--records", str(table.records), "--day"]
    assert main([*arguments, "1970-01-01"]) == 0
    assert len(capsys.readouterr().out.splitlines()) == 6
    assert main([*arguments, "1970-01-02"]) == 0
    assert len(capsys.readouterr().out.splitlines()) == 1
    assert main([*arguments, "yesterday"]) == 2
    assert "--day yesterday: not YYYY-MM-DD" in capsys.readouterr().err


def test_what_is_not_there_is_named(table, tmp_path, capsys):
    assert main(["hands", "list", "--config", table.config, "--hand", "99"]) == 1
    assert capsys.readouterr().err == "feltd: no record of hand 99\n"
    assert main(["hands", "list", "--records", str(tmp_path)]) == 1
    assert "no record file" in capsys.readouterr().err
    blocked = tmp_path / "file"
    blocked.write_text("")
    arguments = ["hands", "export", "--config", table.config, "--to", str(blocked)]
    assert main(arguments) == 1
    assert str(blocked) in capsys.readouterr().err


def test_the_public_key_is_shown_and_the_records_are_proved_with_it(table, tmp_path, capsys):
    assert main(["keys", "show", "--config", table.config]) == 0
    assert capsys.readouterr().out.split() == ["public", "key", table.key]
    assert main(["keys", "show", "--json", "--config", table.config]) == 0
    assert json.loads(capsys.readouterr().out) == {"public": table.key}
    assert main(["verify", str(table.records), "--key", table.key, "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert (report["ok"], report["signed"], report["keys"]) == (True, 5, [table.key])
    (day,) = table.records.iterdir()
    bad = tmp_path / "bad.phhs"
    bad.write_text(day.read_text().replace('"d db ', '"d db 2c', 1))
    assert main(["verify", str(bad)]) == 1
    out = capsys.readouterr().out
    assert "it was changed: its hash is another" in out
    assert "1 faults." in out
