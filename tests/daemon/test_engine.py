"""One table without anything around it: whatever comes in, it goes on, and it counts."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from daemon.engine import AnswersInMemory, Engine
from daemon.events import Key
from daemon.recording import RawCommand
from daemon.setup import Setup
from daemon.state import TableState
from daemon.table import restore, save
from daemon.wire import Wire
from drivers import Look, ReaderDown, ReaderUp
from drivers.sim.deck import CARDS, make_deck

DECK = make_deck("red", Random(7))
ZONES = {f"rail/{n}": f"seat:{n}" for n in range(1, 4)} | {
    "rail/10": "board",
    "rail/11": "muck",
    "rail/12": "shoe",
}
STARTED = datetime(2026, 11, 29, 18, tzinfo=UTC)


def engine(state=None, answers=None, **secrecy):
    cards = {uid: ("red", card) for card, uid in DECK.uids.items()}
    setup = Setup("t1", "holdem", 3, ZONES, cards, **secrecy)
    return Engine(
        setup,
        state or TableState(epoch="e1", discipline="holdem"),
        Wire("t1", "felt", "e1", STARTED),
        answers or AnswersInMemory(),
    )


def command(kind, *, private=False, **fields):
    body = {"id": fields.pop("id", "1"), "by": "test", "type": kind, **fields}
    return RawCommand(json.dumps(body).encode(), private)


def told(spoken):
    return [(message.topic, json.loads(message.payload)) for message in spoken.messages]


def reply(spoken):
    (body,) = [body for topic, body in told(spoken) if topic.endswith("/reply")]
    return body


SEATS = st.integers(0, 11)
KINDS = (
    *("start-hand", "fold", "show", "showdown", "end-hand", "void-hand", "card", "remove-card"),
    *("pots", "undo", "set-button", "set-discipline", "set-names", "button-draw", "chip-race"),
)
FIELDS = st.fixed_dictionaries(
    {},
    optional={
        "seat": SEATS,
        "seats": st.lists(SEATS, max_size=4),
        "shown": st.lists(SEATS, max_size=4),
        "button": SEATS,
        "hand": st.integers(0, 3),
        "zone": st.sampled_from(["seat:1", "seat:2:up", "board", "muck", "burn", "seat:99"]),
        "card": st.sampled_from([*CARDS[:6], "1x"]),
        "index": st.integers(-1, 8),
        "reason": st.text(max_size=5),
        "of": st.sampled_from(["1", "2", "3"]),
        "discipline": st.sampled_from(["holdem", "omaha", "stud", "razz"]),
        "names": st.dictionaries(st.sampled_from(["1", "2", "x"]), st.text(max_size=5)),
        "pots": st.just([{"amount": 7, "seats": [1, 2]}]),
        "chip": st.integers(0, 5),
        "from": st.just(25),
        "to": st.just(100),
        "counts": st.just({"1": 3, "2": 2}),
    },
)
COMMANDS = st.builds(
    lambda kind, id_, fields, private: RawCommand(
        json.dumps({"id": id_, "type": kind} | fields).encode(), private
    ),
    st.sampled_from(KINDS),
    st.sampled_from(["1", "2", "3", "4", "5"]),
    FIELDS,
    st.sampled_from([None, False, True]),
)
NOISE = st.builds(RawCommand, st.binary(max_size=40), st.booleans())
LOOKS = st.builds(
    Look,
    st.just("rail"),
    st.sampled_from([*range(1, 4), 10, 11, 12, 99]),
    st.lists(st.sampled_from([*list(DECK.uids.values())[:8], "0102030405060708"]), unique=True).map(
        tuple
    ),
    st.booleans(),
    st.integers(0, 2),
)
INPUTS = st.one_of(
    LOOKS,
    COMMANDS,
    NOISE,
    st.just(ReaderUp("rail")),
    st.just(ReaderDown("rail", "gone")),
    st.just(ReaderUp("nobody")),
    st.just(Key("ab" * 32)),
)
STREAMS = st.lists(st.tuples(st.integers(0, 4000), INPUTS), max_size=30)


@settings(deadline=None)
@given(STREAMS)
def test_no_input_raises_and_every_message_is_counted(stream):
    table, now, public, private = engine(floor=True), 0, [], []
    for pause, entry in stream:
        now += pause
        for message in table.feed(now, entry).messages:
            body = json.loads(message.payload)
            assert body["v"] == 1
            assert message.topic.startswith("felt-private/t1/" if message.private else "felt/t1/")
            if message.seq is not None:
                assert body["seq"] == message.seq
                (private if message.private else public).append(message.seq)
    assert public == list(range(1, len(public) + 1))
    assert private == list(range(1, len(private) + 1))


@settings(deadline=None)
@given(STREAMS, st.integers(0, 30))
def test_a_restart_at_any_point_changes_nothing(stream, cut):
    once, twice, now = engine(), engine(), 0
    for number, (pause, entry) in enumerate(stream):
        now += pause
        if number == cut:
            twice = engine(restore(save(twice.state)), twice.answers)
        first, second = once.feed(now, entry), twice.feed(now, entry)
        counted = [[m for m in spoken.messages if m.seq is not None] for spoken in (first, second)]
        assert counted[0] == counted[1]
        assert first.evidence == second.evidence
    # what is derived from the state is built anew when it is read back
    again = [engine(restore(save(table.state))) for table in (once, twice)]
    assert save(again[0].state) == save(again[1].state)


@settings(deadline=None)
@given(st.lists(COMMANDS, max_size=12))
def test_every_command_is_answered_where_it_came_from(commands):
    table = engine()
    for now, raw in enumerate(commands):
        answers = [m for m in table.feed(now, raw).messages if m.topic.endswith("/reply")]
        assert len(answers) == 1
        assert json.loads(answers[0].payload)["id"] == json.loads(raw.data)["id"]
        if raw.private is not None:
            assert answers[0].private == raw.private


def test_the_same_command_acts_once():
    table = engine()
    first = table.feed(0, command("set-button", seat=2))
    again = table.feed(1000, command("set-button", seat=2))
    other = table.feed(2000, command("set-button", seat=3))
    assert reply(first)["ok"]
    assert reply(again)["ok"]
    assert not reply(other)["ok"]
    assert table.state.button == 2
    assert [m.seq for m in again.messages + other.messages if m.seq] == []


def test_the_same_id_of_two_senders_is_two_commands():
    table = engine()
    mine = RawCommand(b'{"id": "1", "by": "a", "type": "set-button", "seat": 2}', private=False)
    theirs = RawCommand(b'{"id": "1", "by": "b", "type": "set-button", "seat": 3}', private=False)
    assert reply(table.feed(0, mine))["ok"]
    assert reply(table.feed(1, theirs))["ok"]
    assert table.state.button == 3


@pytest.mark.parametrize(
    ("raw", "words"),
    [
        (b"", "truncated"),
        (b"{}", "type"),
        (b'{"id": "1", "type": "fold"}', "seat"),
        (b'{"id": "1", "type": "fold", "seat": 11}', "$.seat"),
        (b'{"id": 1, "type": "showdown"}', "$.id"),
        (b'{"id": "1", "type": "showdown", "shown": [1, "2"]}', "$.shown[1]"),
        (b'{"id": "1", "type": "fold", "seat": 1, "x": 1}', "x"),
        (b'{"id": "1", "type": "set-names", "names": {"0": "A"}}', "$.names"),
        (b" " * 20_000, "16384"),
    ],
)
def test_a_refusal_names_the_field(raw, words):
    body = reply(engine().feed(0, RawCommand(raw, private=False)))
    assert not body["ok"]
    assert words in body["error"]


def test_state_follows_the_messages_that_changed_it():
    table = engine()
    messages = told(table.feed(0, command("start-hand", seats=[1, 2], button=1)))
    names = [topic.removeprefix("felt/t1/") for topic, _ in messages]
    assert names == ["event", "event", "state", "reply"]
    assert messages[2][1]["seq"] == messages[1][1]["seq"] == 2
