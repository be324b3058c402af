"""One message of each kind, byte for byte: what subscribers were built against does not change."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import msgspec
import pytest

from daemon import commands, events, schema, wire
from daemon.resend import Request
from daemon.rules import results
from daemon.rules.labels import Label
from daemon.topics import CHANNELS

GOLDEN = Path(__file__).parents[1] / "golden"
WIRE = wire.Wire("t1", "felt", "4f1c09aa77e2", datetime(2026, 11, 29, 18, tzinfo=UTC))
QUADS = Label("Four of a Kind, Aces", "Каре тузов")
FIVE = ("As", "Ah", "Ad", "Ac", "Ks")
SALT = "00112233445566778899aabbccddeeff"
HASH = "a" * 64
CHANCES = [events.SeatChance(2, 0.25, 0.5, 0.5), events.SeatChance(9, 0.25, 0.5, 0.5)]

BODIES = (
    wire.Status(
        online=True, version="0.1.0", since="2026-11-29T18:00:00.000Z", instance="ab12", key="AAEC"
    ),
    wire.Picture(
        phase="flop",
        discipline="holdem",
        button=2,
        board=["7s", "Kc", "2c"],
        seats={
            2: wire.SeatPicture(status="in", cards=2, up=[], shown=[], name="Ann"),
            9: wire.SeatPicture(status="shown", cards=2, up=[], shown=["As", "Ah"], name=""),
        },
    ),
    events.HandStarted(button=2, deck="red", seats=[2, 9]),
    events.CardDealt(zone="board", index=0, card="7s"),
    events.StreetDealt(street="flop", cards=["7s", "Kc", "2c"]),
    events.Folded(seat=4),
    events.HandShown(seat=9, cards=["As", "Ah"]),
    events.HandEnded(winner=2, head=HASH),
    events.HandVoided(reason="fouled deck", head=HASH),
    events.CommandTaken(command={"type": "fold", "seat": 4}, by="floor-2"),
    events.Committed(seat=2, index=1, n=1, hash=HASH, replaces="b" * 64),
    events.Opened(seat=2, index=1, n=1, card="As", salt=SALT),
    events.DealStarted(kind="chip-race", expected={2: 1, 9: 3}, exchanged={2: 4, 9: 0}),
    events.AllTabled(seats=CHANCES, exact=True, deals=990),
    events.ResendGone(from_=17, to=40),
    results.ShowdownResult(
        discipline="holdem",
        board=("Ad", "Ac", "Ks", "2c", "3d"),
        hands=(results.ShownHand(9, ("As", "Ah"), FIVE, "four-of-a-kind", 11, QUADS),),
        winners=(9,),
        mucked=(2,),
        typed=("Ah",),
        pots=(results.PotShares(500, (9,), {9: 500}),),
        replaces=99,
        void=True,
    ),
    results.ButtonDrawResult(
        winner=9, card="As", order=(results.SeatCard(9, "As"), results.SeatCard(2, "Kd"))
    ),
    results.FirstToActResult(
        street="third",
        kind="bring-in",
        seat=3,
        tied=(),
        decided_by="rank",
        boards={2: ("2c",), 3: ("9d",)},
        by_seat=2,
    ),
    results.ChipRaceResult(
        from_=25,
        to=100,
        exchanged={2: 1, 9: 0},
        odd={2: 1, 9: 3},
        new_chips=1,
        remainder=0,
        ranking=(results.SeatCard(9, "As"), results.SeatCard(2, "Kd")),
        awards={9: 1},
        rescued=(),
        before={2: 125, 9: 75},
        after={2: 100, 9: 100},
        change=0,
    ),
    events.Alert(
        kind="overheard",
        severity="notice",
        rule="",
        zone="seat:3",
        message=Label("seat:3 overhears a card.", "seat:3 слышит карту."),
    ),
    wire.ReaderPicture(
        up=False,
        since="2026-11-29T18:00:00.000Z",
        error="no answer",
        antennas={1: {"last_seen": "2026-11-29T18:00:00.000Z"}},
    ),
    wire.Metrics(
        seq_told=41,
        noise=3,
        readers_down=1,
        counters={"inputs": 100},
        antennas={"rail/1": wire.AntennaCounts(looks=90, misses=2)},
        outages={"rail": 1},
        timings={"commit_max": 0.004},
    ),
    events.Reply(id="7", by="floor-2", waiting=[3]),
    events.HoleCards(seat=2, cards=["As", None]),
    events.Sealed(to="overlay", box="AAEC"),
    events.Equity(seats=CHANCES, exact=False, deals=24_576, error=0.0009),
    events.SealedEquity(to="overlay", box="AAEC"),
    events.FloorNote(
        kind="duplicate-card",
        zone="seat:2",
        cards=["As"],
        message=Label("As is in play twice", "As в игре дважды"),
    ),
)

COMMANDS = (
    commands.StartHand(id="7", by="floor-2", hand=17, seats=[1, 2], button=1, discipline="omaha"),
    commands.Fold(id="7", seat=4),
    commands.Show(id="7", seats=[1, 2]),
    commands.Showdown(id="7", shown=[1]),
    commands.EndHand(id="7", reason="all folded"),
    commands.VoidHand(id="7", reason="fouled deck"),
    commands.TypeCard(id="7", zone="board", card="As", index=2),
    commands.RemoveCard(id="7", zone="seat:3:up", index=0),
    commands.Pots(id="7", pots=[commands.Pot(500, [1, 2])], chip=25),
    commands.Undo(id="7", of="6"),
    commands.SetButton(id="7", seat=3),
    commands.SetDiscipline(id="7", discipline="stud"),
    commands.SetNames(id="7", names={"3": "Ann"}),
    commands.ButtonDraw(id="7", seats=[1, 2]),
    commands.ChipRace(id="7", from_=25, to=100, counts={"1": 3}, all_in=[1]),
    Request(since=17),
)


def channel_of(body):
    return next(each for each in CHANNELS if type(body) in each.bodies)


def encoded(body):
    channel = channel_of(body)
    if channel.taken:
        return msgspec.json.encode(body)
    counted = channel.counted and not isinstance(body, events.ResendGone)
    return WIRE.body(body, 75_250, seq=41 if counted else None, hand=17 if counted else None)


@pytest.mark.parametrize("body", BODIES + COMMANDS, ids=lambda body: type(body).__name__)
def test_the_wire_format_stands(body):
    name = schema.message_name(channel_of(body), type(body))
    assert encoded(body) + b"\n" == (GOLDEN / f"{name}.json").read_bytes()


@pytest.mark.parametrize("body", COMMANDS[:-1], ids=lambda body: type(body).__name__)
def test_golden_commands_are_read(body):
    name = schema.message_name(channel_of(body), type(body))
    assert commands.decode((GOLDEN / f"{name}.json").read_bytes()) == body


@pytest.mark.parametrize("body", BODIES, ids=lambda body: type(body).__name__)
def test_a_body_has_fields_and_none_of_the_envelope(body):
    """The two are written one behind the other."""
    names = {field.encode_name for field in msgspec.structs.fields(body)}
    assert names
    assert not names & set(wire.Envelope.__struct_fields__)


def test_there_is_one_for_each_kind():
    kinds = {body for each in CHANNELS for body in each.bodies}
    assert kinds == {type(body) for body in BODIES + COMMANDS}
    assert len(list(GOLDEN.iterdir())) == len(kinds)
