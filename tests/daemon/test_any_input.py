"""Whatever comes in: no exception, no card twice, the same again, and no restart is noticed."""

from __future__ import annotations

import json
from collections import Counter
from contextlib import closing
from datetime import UTC, datetime
from types import SimpleNamespace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from daemon import config
from daemon.engine import AnswersInMemory, Engine
from daemon.journal import Journal
from daemon.memory import Memory
from daemon.recording import read_line
from daemon.setup import Setup
from daemon.state import TableState
from daemon.table import restore, save
from daemon.wire import Wire
from drivers.sim.table import simulate, write

ZONES = {f"rail/{n}": f"seat:{n}" for n in range(1, 5)} | {
    "rail/5": "board",
    "rail/6": "muck",
    "shoe/1": "shoe",
}
FACES = [rank + suit for rank in "AKQJT98" for suit in "cdhs"]
CARDS = {
    f"E004{deck}{n:011X}": (name, face)
    for deck, name in enumerate(("red", "blue"))
    for n, face in enumerate(FACES)
}
TAGS = [*CARDS][:20] + [*CARDS][28:31] + ["04A2245B7C1180", "0000000000000000"]
SEAT = st.integers(1, 5)
LAY = st.fixed_dictionaries(
    {"lay": st.sampled_from([*ZONES]), "tags": st.lists(st.sampled_from(TAGS), max_size=5)}
)
WAIT = st.fixed_dictionaries({"looks": st.integers(1, 40)})
READER = st.fixed_dictionaries({"reader": st.sampled_from(["rail", "shoe"]), "up": st.booleans()})
COMMAND = st.one_of(
    st.builds(lambda s: {"type": "start-hand", "seats": s}, st.lists(SEAT, max_size=4)),
    st.builds(lambda s: {"type": "fold", "seat": s}, SEAT),
    st.builds(lambda s: {"type": "show", "seats": [s]}, SEAT),
    st.sampled_from([{"type": kind} for kind in ("showdown", "end-hand", "void-hand")]),
    st.builds(
        lambda zone, card, index: {"type": "card", "zone": zone, "card": card, "index": index},
        st.sampled_from(["seat:1", "seat:2", "board"]),
        st.sampled_from(FACES),
        st.integers(0, 4),
    ),
    st.builds(
        lambda zone, index: {"type": "remove-card", "zone": zone, "index": index},
        st.sampled_from(["seat:1", "seat:2", "board"]),
        st.integers(0, 4),
    ),
    st.builds(lambda s: {"type": "pots", "pots": [{"amount": 7, "seats": [s]}], "chip": 1}, SEAT),
    st.builds(lambda n: {"type": "undo", "of": str(n)}, st.integers(0, 30)),
    st.just({"type": "button-draw", "seats": [1, 2]}),
)
STREAM = st.lists(LAY | WAIT | READER | COMMAND, min_size=5, max_size=40)
DISCIPLINE = st.sampled_from(["holdem", "omaha", "stud"])


def lines_of(stream):
    """The lines of a recording: cards lie until others are laid there, looks go round."""
    lying = dict.fromkeys(ZONES, ())
    now = 0.0
    for number, step in enumerate(stream):
        if "type" in step:
            yield {"t": now, "command": {"id": str(number), **step}}
        elif "up" in step:
            yield {"t": now, **step}
        elif "lay" in step:
            lying[step["lay"]] = step["tags"]
        for _ in range(step.get("looks", 1)):
            now += 0.25
            for antenna, tags in lying.items():
                reader, _, place = antenna.partition("/")
                yield {"t": now, "reader": reader, "antenna": int(place), "tags": list(tags)}


def entries_of(stream):
    return [read_line(json.dumps(line).encode()) for line in lines_of(stream)]


def engine(discipline, state=None, answers=None):
    setup = Setup("t1", discipline, 5, ZONES, CARDS, unattended="all", floor=True)
    wire = Wire("t1", "felt", "x", datetime(2026, 11, 29, tzinfo=UTC))
    state = state or TableState("x", discipline)
    return Engine(setup, state, wire, answers or AnswersInMemory())


def said(spoken):
    return [(m.topic, m.payload) for m in spoken.messages]


def lasting(spoken):
    """All but the health of readers, whose looks are counted since the start of the daemon."""
    return [(topic, payload) for topic, payload in said(spoken) if "/reader/" not in topic]


def check_cards(state):
    """No tag is in two places of a hand, and no seat has more cards than are dealt."""
    hand = state.hand
    if hand is None:
        return
    places = Counter(hand.tags())
    assert not [tag for tag, count in places.items() if count > 1]
    for seat in hand.seats.values():
        assert len(seat.held) <= hand.game.own_cards
    assert len(hand.board) <= max(hand.game.board_cards, 1)
    assert -1 <= hand.street < len(hand.game.streets)


@settings(deadline=None, max_examples=25, suppress_health_check=[HealthCheck.too_slow])
@given(DISCIPLINE, STREAM)
def test_no_card_is_in_two_places_and_the_same_input_tells_the_same(discipline, stream):
    once, again = engine(discipline), engine(discipline)
    for now, entry in entries_of(stream):
        first = once.feed(now, entry)
        assert said(first) == said(again.feed(now, entry))
        check_cards(once.state)


@settings(deadline=None, max_examples=25, suppress_health_check=[HealthCheck.too_slow])
@given(DISCIPLINE, STREAM, st.floats(0, 1), st.booleans())
def test_a_restart_tells_the_same(discipline, stream, where, snapshot):
    """From a snapshot, or from all remembered inputs; what was no evidence is not remembered."""
    entries = entries_of(stream)
    cut = int(where * len(entries))
    whole, kept = engine(discipline), []
    for now, entry in entries[:cut]:
        if whole.feed(now, entry).evidence:
            kept.append((now, entry))
    answers = AnswersInMemory(dict(whole.answers.given))
    if snapshot:
        other = engine(discipline, restore(save(whole.state)), answers)
    else:
        other = engine(discipline)
        for now, entry in kept:
            other.feed(now, entry)
    other._picture = whole._picture
    for now, entry in entries[cut:]:
        assert lasting(whole.feed(now, entry)) == lasting(other.feed(now, entry))
    assert whole.state.seq == other.state.seq


@pytest.mark.parametrize("discipline", ["holdem", "omaha", "stud"])
def test_a_table_that_restarts_all_the_time_tells_the_same_from_a_real_journal(
    tmp_path, discipline
):
    session = simulate(discipline, "field", 3, 2, commands=True, keys=True)
    folder = tmp_path / "session"
    folder.mkdir()
    write(session, folder)
    settings_ = config.load(folder / "table.toml")
    texts = (folder / "recording.jsonl").read_bytes().splitlines()[1:]
    entries = [read_line(text) for text in texts]
    told = []
    for name, restarts in (("steady", 0), ("shaky", 12)):
        table = SimpleNamespace(journal=Journal.open(tmp_path / name, 0.0))
        table.memory = Memory(settings_, table.journal)
        every = len(entries) // restarts if restarts else len(entries) + 1
        messages = []
        for number, (now, entry) in enumerate(entries, 1):
            table.memory.take(now, entry)
            messages += [
                (m.topic, json.loads(m.payload) | {"epoch": "", "at": "", "head": ""})
                for m in table.memory._messages
                if m.seq is not None
            ]
            table.memory.commit()
            if number % every == 0:
                table.journal.close()
                table.journal = Journal.open(tmp_path / name, 0.0)
                table.memory = Memory(settings_, table.journal)
        with closing(table.journal):
            told.append([each for each in messages if not {"hash", "salt"} & set(each[1])])
    assert len(told[0]) > 20
    assert told[0] == told[1]
