from __future__ import annotations

import pytest

from daemon import config
from daemon.engine import AnswersInMemory, Engine
from daemon.recording import read_line, read_opening
from daemon.state import TableState
from daemon.table import restore, save
from drivers.sim.table import simulate, write

PRIVATE = "felt-private/sim/hole-cards"


def session():
    return simulate("omaha", "field", 6, 4, commands=True, keys=True)


def cards(messages):
    return [
        (each["payload"]["hand"], each["payload"]["seat"], each["payload"]["cards"])
        for each in messages
        if each["topic"] == PRIVATE
    ]


def times(messages):
    return [each["t"] for each in messages if each["topic"] == PRIVATE]


@pytest.fixture
def clear(play):
    return play(session(), 'hole_cards = "clear"')[1]


def public(messages):
    return [each for each in messages if not each["topic"].startswith("felt-private")]


@pytest.mark.parametrize("seconds", [0, 7, 40])
def test_seconds_later_in_the_same_order(play, clear, seconds):
    _, late = play(session(), 'hole_cards = "delayed"', f"delay = {seconds}")
    told = cards(late)
    assert len(told) > 20
    assert told == cards(clear)[: len(told)]
    waits = [b - a for a, b in zip(times(clear), times(late), strict=False)]
    assert min(waits) >= seconds
    assert max(waits) < seconds + 1.0
    numbers = [each["payload"]["seq"] for each in late if each["topic"] == PRIVATE]
    assert numbers == list(range(1, len(numbers) + 1))
    assert public(late) == public(clear)


def test_not_before_the_hand_is_over(play, clear):
    _, late = play(session(), 'hole_cards = "delayed"', 'delay = "hand-end"')
    assert cards(late) == cards(clear)
    ended = {}
    for each in late:
        if each["payload"].get("type") == "hand-ended":
            ended[each["payload"]["hand"]] = each["t"]
    for each in late:
        if each["topic"] == PRIVATE:
            assert each["t"] == ended[each["payload"]["hand"]]
    assert public(late) == public(clear)


def test_half_an_hour_is_the_default(play):
    _, late = play(session(), 'hole_cards = "delayed"')
    assert late[-1]["t"] < 1800
    assert cards(late) == []


@pytest.mark.parametrize("delay", ["20", '"hand-end"'])
def test_a_restart_at_any_moment_changes_nothing(tmp_path, delay):
    write(session(), tmp_path)
    table = tmp_path / "table.toml"
    keys = f'[secrecy]\nhole_cards = "delayed"\ndelay = {delay}'
    table.write_text(table.read_text().replace("[secrecy]", keys))
    setup = config.load(table).setup()
    lines = (tmp_path / "recording.jsonl").read_bytes().splitlines()
    inputs = [read_line(line) for line in lines if read_opening(line) is None]

    def told(restart_every):
        from daemon.replay import FIRST_DAY, Wire  # noqa: PLC0415

        state = TableState(epoch="e", discipline="omaha")
        wire = Wire("t1", "felt", "e", FIRST_DAY)
        engine = Engine(setup, state, wire, AnswersInMemory())
        messages = []
        for number, (now, entry) in enumerate(inputs):
            if restart_every and number % restart_every == 0:
                engine = Engine(setup, restore(save(engine.state)), wire, engine.answers)
            messages += engine.feed(now, entry).messages
        return [(m.topic, m.payload) for m in messages if m.private]

    whole = told(0)
    assert len(whole) > 20
    assert told(97) == whole


def test_what_is_held_is_dropped_when_the_mode_forbids_it(tmp_path):
    write(session(), tmp_path)
    table = tmp_path / "table.toml"
    text = table.read_text()
    lines = (tmp_path / "recording.jsonl").read_bytes().splitlines()
    inputs = [read_line(line) for line in lines if read_opening(line) is None]
    from daemon.replay import FIRST_DAY, Wire  # noqa: PLC0415

    table.write_text(text.replace("[secrecy]", '[secrecy]\nhole_cards = "delayed"'))
    wire = Wire("t1", "felt", "e", FIRST_DAY)
    state = TableState(epoch="e", discipline="omaha")
    engine = Engine(config.load(table).setup(), state, wire, AnswersInMemory())
    for now, entry in inputs[:3000]:
        engine.feed(now, entry)
    assert len(engine.state.held_back) > 5
    table.write_text(text)
    engine = Engine(config.load(table).setup(), engine.state, wire, AnswersInMemory())
    rest = [m for now, entry in inputs[3000:] for m in engine.feed(now, entry).messages]
    assert engine.state.held_back == []
    assert not any(m.topic.endswith("hole-cards") for m in rest)
