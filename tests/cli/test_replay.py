"""`feltd replay`: recordings and televised hands as JSON lines, with no port and no broker."""

from __future__ import annotations

import io
import json
from pathlib import Path
from random import Random

import pytest

from daemon.cli import main
from drivers.sim.deck import make_deck

TESTS = Path(__file__).parents[1]
DECK = make_deck("red", Random(7))
CONFIG = """
[table]
id = "t1"
discipline = "holdem"
seats = 2

[[readers]]
name = "rail"
driver = "feig"
port = "/dev/nowhere"
antennas = { 1 = "seat:1", 2 = "seat:2", 3 = "board", 4 = "muck" }

[secrecy]
hole_cards = "clear"
"""
SEATS = {1: ["As", "Kd"], 2: ["2c", "7h"]}
BOARD = ["Ah", "Kc", "9d", "3d", "4d"]


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "table.toml").write_text(CONFIG)
    (tmp_path / "decks").mkdir()
    (tmp_path / "decks" / "red.toml").write_text(DECK.toml())
    return tmp_path


def recording():
    """One hand: every antenna looked at five times a second, cards laid one after another."""
    lies = {1: [], 2: [], 3: [], 4: []}
    yield {"t": 0.0, "key": "ab" * 32}
    yield {"t": 0.0, "command": {"id": "1", "type": "start-hand", "seats": [1, 2], "button": 1}}
    now = 0.0
    order = [(2, 0), (1, 0), (2, 1), (1, 1)]
    steps = [(seat, SEATS[seat][turn]) for seat, turn in order] + [(3, card) for card in BOARD]
    for antenna, card in steps:
        lies[antenna].append(DECK.uids[card])
        for _ in range(20 if antenna == 3 else 5):
            for number, tags in lies.items():
                now = round(now + 0.05, 3)
                yield {"t": now, "reader": "rail", "antenna": number, "tags": list(tags)}
    yield {"t": now, "command": {"id": "2", "type": "showdown"}}
    yield {"t": now, "command": {"id": "3", "type": "end-hand"}}


def written(folder, lines):
    path = folder / "evening.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


def replayed(capsysbinary, *arguments):
    assert main(["replay", *map(str, arguments)]) == 0
    return capsysbinary.readouterr().out


def test_a_recorded_hand(folder, capsysbinary):
    path = written(folder, recording())
    out = replayed(capsysbinary, path, "--config", folder / "table.toml")
    lines = [json.loads(line) for line in out.splitlines()]
    (result,) = [line for line in lines if line["topic"] == "felt/t1/showdown"]
    assert result["retain"] is True
    assert result["payload"]["winners"] == [1]
    assert result["payload"]["epoch"] == "replay"
    assert result["payload"]["hand"] == 1
    assert result["payload"]["at"].startswith("1970-01-01T00:00")
    assert not [line for line in lines if line["topic"].startswith("felt-private/")]
    assert sorted(path.name for path in folder.iterdir()) == [
        *("decks", "evening.jsonl", "table.toml")
    ]


def test_the_private_root_only_when_asked_for(folder, capsysbinary):
    path = written(folder, recording())
    out = replayed(capsysbinary, path, "--config", folder / "table.toml", "--reveal")
    private = [
        line["payload"]
        for line in map(json.loads, out.splitlines())
        if line["topic"] == "felt-private/t1/hole-cards"
    ]
    assert {body["seat"]: body["cards"] for body in private} == SEATS


def test_twice_the_same_bytes(folder, capsysbinary):
    path = written(folder, recording())
    arguments = (path, "--config", folder / "table.toml", "--reveal")
    assert replayed(capsysbinary, *arguments) == replayed(capsysbinary, *arguments)


def test_the_first_line_sets_the_scene(folder, capsysbinary):
    opening = {"started": "2026-11-29T18:00:00Z", "epoch": "e7", "hand": 17, "names": {"1": "A"}}
    path = written(folder, [opening, *recording()])
    out = replayed(capsysbinary, path, "--config", folder / "table.toml")
    body = json.loads(out.splitlines()[0])["payload"]
    assert (body["epoch"], body["hand"]) == ("e7", 17)
    assert body["at"] == "2026-11-29T18:00:00.000Z"


def test_without_keys_nothing_is_committed(folder, capsysbinary):
    path = written(folder, [line for line in recording() if "key" not in line])
    out = replayed(capsysbinary, path, "--config", folder / "table.toml")
    assert b'"commit"' not in out
    assert b'"showdown"' in out


def test_standard_input(folder, capsysbinary, monkeypatch):
    path = written(folder, recording())
    config = ("--config", folder / "table.toml")
    expected = replayed(capsysbinary, path, *config)
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(path.read_bytes())))
    assert replayed(capsysbinary, "-", *config) == expected


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('{"t": 0}\n', "line 1: "),
        ('{"t": 0, "key": "ab"}\n', "line 1: "),
        ('\n{"started": "2026-11-29T18:00:00Z"}\nrubbish\n', "line 3: "),
    ],
)
def test_a_line_that_cannot_be_read_is_named(folder, capsys, text, words):
    path = folder / "evening.jsonl"
    path.write_text(text)
    assert main(["replay", str(path), "--config", str(folder / "table.toml")]) == 1
    (line,) = capsys.readouterr().err.splitlines()
    assert f"{path}, {words}" in line


def test_no_such_recording(folder, capsys):
    missing = str(folder / "none.jsonl")
    assert main(["replay", missing, "--config", str(folder / "table.toml")]) == 1
    assert capsys.readouterr().err == f"feltd: {missing}: No such file or directory\n"


@pytest.mark.parametrize("path", sorted((TESTS / "hands").glob("*NT.phh")), ids=lambda p: p.stem)
def test_televised_hands_need_no_configuration(path, capsysbinary):
    lines = [json.loads(line) for line in replayed(capsysbinary, path).splitlines()]
    assert lines
    assert {line["topic"].split("/")[1] for line in lines} == {"phh"}
    events = [line["payload"]["type"] for line in lines if line["topic"] == "felt/phh/event"]
    assert events.count("hand-started") == events.count("hand-ended") == 1
    states = [line["payload"] for line in lines if line["topic"] == "felt/phh/state"]
    assert states[-1]["phase"] == "idle"
