from __future__ import annotations

import json
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from daemon.engine import AnswersInMemory, Engine
from daemon.recording import read_line
from daemon.replay import replay
from daemon.rules.cards import DECK
from daemon.setup import Setup
from daemon.state import TableState
from daemon.table import restore, save
from daemon.wire import Wire
from drivers.sim.layout import Layout
from drivers.sim.table import Session, simulate

SEATS = 8
RAIL = {f"rail/{n}": f"seat:{n}" for n in range(1, SEATS + 1)}
RAIL |= {"rail/10": "board", "rail/11": "muck"}
SHOE = {"shoe/1": "shoe"}
CARDS = {f"{deck}-{card}": (deck, card) for deck in ("red", "blue") for card in DECK}


class Deals(Session):
    """A session with more draws and races than hands."""

    def _kind(self, number):
        if number % 4 == 3:
            return "hand"
        return "chip-race" if number % 2 or self.button is None else "button-draw"


def simulated(level, seed):
    discipline = ("holdem", "omaha", "stud")[seed % 3]
    layout = Layout(up=True, seats=8) if discipline == "stud" and seed % 2 else None
    made = simulate(discipline, level, seed, 4, commands=True, extras=True, layout=layout)
    return Deals(made.table, made.hands, made.button, extras=True)


def setup_of(session):
    zones = {f"{a.reader}/{a.number}": a.zone for a in session.layout.rail_antennas()}
    cards = {uid: (deck.name, card) for deck in session.decks for card, uid in deck.uids.items()}
    return Setup("t1", session.layout.discipline, session.layout.seats, zones, cards)


@pytest.mark.parametrize(("level", "right"), [("clean", 1.0), ("field", 0.98), ("harsh", 0.95)])
def test_simulated_draws_and_races_are_never_wrong(scorer, level, right):
    verdicts = []
    for seed in range(20):
        session = simulated(level, seed)
        lines, truths = [session.header()], []
        for hand in session:
            lines += hand.lines
            truths.append(hand.truth)
        texts = (json.dumps(line).encode() for line in lines)
        told = [json.loads(line) for line in replay(setup_of(session), "felt", texts, level)]
        assert scorer.leaks(truths, told) == []
        scores = scorer.score(truths, told)
        verdicts += [one.verdict for one in scores if one.truth.kind != "hand"]
    assert len(verdicts) == 60
    assert set(verdicts) <= {"right", "flagged"}
    assert verdicts.count("right") >= right * len(verdicts)


def engine(setup, state):
    started = datetime(2026, 11, 29, tzinfo=UTC)
    return Engine(setup, state, Wire("t1", "felt", "x", started), AnswersInMemory())


def test_a_snapshot_at_any_point_goes_on_with_the_same_messages(race):
    felt = race({1: 3, 2: 6, 3: 1})
    for seat, card in ((1, "Kd"), (1, "2c"), (1, "3c"), (2, "As"), (2, "4d"), (3, "4h")):
        felt.lay(f"seat:{seat}", card)
    felt.wait(3.0)
    felt.say("card", zone="seat:3", card="Ah", index=0)
    felt.sweep()
    whole = engine(felt.setup, TableState("x", "holdem", next_number=7))
    broken = engine(felt.setup, TableState("x", "holdem", next_number=7))
    told = 0
    for line in felt.lines[1:]:
        now, entry = read_line(json.dumps(line).encode())
        expected = whole.feed(now, entry).messages
        told += len(expected)
        assert broken.feed(now, entry).messages == expected
        broken = engine(felt.setup, restore(save(broken.state)))
        broken._picture = whole._picture
    assert told > 20


def test_a_deal_wipes_the_hidden_cards_of_the_hand_before(lay_table, drawn):
    felt = lay_table()
    felt.lay("seat:1", "As", "Ks")
    felt.lay("seat:2", "Qs", "Js", rest=2.0)
    felt.say("end-hand")
    felt.sweep()
    table = engine(felt.setup, TableState("x", "holdem"))
    drawn(1, 2, felt=felt)
    for line in felt.lines[1:]:
        if "command" in line and line["command"]["type"] == "button-draw":
            assert b"red-Qs" in save(table.state)
            table.state.presence.forget()
        table.feed(*read_line(json.dumps(line).encode()))
    assert table.state.deal is not None
    assert b"red-Qs" not in save(table.state)


TAGS = st.lists(
    st.sampled_from([*(f"red-{card}" for card in DECK[:6]), "blue-As", "00", "red-As"]), max_size=4
)
LOOKS = st.builds(
    lambda antenna, tags, partial: {"antenna": antenna, "tags": tags, "partial": partial},
    st.sampled_from([*RAIL, *SHOE]),
    TAGS,
    st.booleans(),
)
DEALS = [
    {"type": "button-draw", "seats": [1, 2]},
    {"type": "chip-race", "from": 25, "to": 100, "counts": {"1": 2, "2": 1}},
    {"type": "chip-race", "from": 25, "to": 100, "counts": {"1": 4}},
]
COMMANDS = st.sampled_from(
    [
        *DEALS,
        {"type": "card", "zone": "seat:1", "card": "As"},
        {"type": "card", "zone": "seat:1", "card": "2c", "index": 0},
        {"type": "card", "zone": "seat:2", "card": "As"},
        {"type": "remove-card", "zone": "seat:1", "index": 0},
        {"type": "undo", "of": "5"},
        {"type": "end-hand"},
        {"type": "void-hand"},
        {"type": "start-hand", "seats": [1, 2]},
        {"type": "set-button", "seat": 2},
        {"type": "pots", "pots": [{"amount": 5, "seats": [1]}], "chip": 1},
    ]
)
STEPS = st.lists(st.tuples(st.sampled_from([0, 100, 600, 4000]), LOOKS | COMMANDS), max_size=60)


@given(st.sampled_from(DEALS), STEPS, st.sampled_from([RAIL, SHOE, RAIL | SHOE]))
def test_no_input_raises_and_no_card_is_in_two_places(first, steps, zones):
    setup = Setup("t1", "holdem", SEATS, zones, CARDS)
    felt = engine(setup, TableState("x", "holdem"))
    now = 0
    for antenna in zones:
        reader, _, number = antenna.partition("/")
        clear = {"t": 0.0, "reader": reader, "antenna": int(number), "tags": []}
        felt.feed(*read_line(json.dumps(clear).encode()))
    for number, (passed, step) in enumerate([(0, first), *steps]):
        now += passed
        line = {"t": now / 1000}
        if "type" in step:
            line["command"] = {"id": str(number), **step}
        else:
            reader, _, antenna = step["antenna"].partition("/")
            line |= {"reader": reader, **step, "antenna": int(antenna)}
        spoken = felt.feed(*read_line(json.dumps(line).encode()))
        assert all(json.loads(message.payload) for message in spoken.messages)
        deal = felt.state.deal
        if deal is not None:
            tags = [held.tag for _, held in deal.held() if held.tag is not None]
            assert len(tags) == len(set(tags))
            due = deal.expected
            assert all(len(s.held) <= due.get(n, 0) for n, s in deal.seats.items())
        assert restore(save(felt.state)).seq == felt.state.seq
