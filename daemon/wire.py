"""From facts to messages: the envelope, the topics, and the picture of the table (`state`).

Source: docs/protocol.md. Payloads are JSON objects; nothing on the public root names a hidden
card.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import msgspec
from msgspec import UNSET, Struct, UnsetType

from daemon.events import Alert, Equity, Event, FloorNote, HoleCards, Sealed, SealedEquity
from daemon.rules.results import (
    ButtonDrawResult,
    ChipRaceResult,
    FirstToActResult,
    ShowdownResult,
)

if TYPE_CHECKING:
    from daemon.deal import Deal
    from daemon.events import Reply, ResendGone
    from daemon.hand import Hand, Seat
    from daemon.state import Health, TableState
    from daemon.table import Told

VERSION = 1

_TOPICS: tuple[tuple[type, str, bool], ...] = (
    (Event, "event", False),
    (Alert, "alert", False),
    (ShowdownResult, "showdown", True),
    (ButtonDrawResult, "ruling/button-draw", True),
    (FirstToActResult, "ruling/first-to-act", True),
    (ChipRaceResult, "ruling/chip-race", True),
    (FloorNote, "floor", False),
    (HoleCards, "hole-cards", False),
    (Sealed, "hole-cards", False),
    (Equity, "equity", False),
    (SealedEquity, "equity", False),
)


@dataclass(frozen=True, slots=True)
class Message:
    """A message as it goes out: `seq` is None where the topic is not counted."""

    private: bool
    topic: str
    retain: bool
    payload: bytes
    seq: int | None = None
    hand: int | None = None
    correlation: bytes = b""


class Envelope(Struct, frozen=True, kw_only=True):
    """What every message carries before its own fields.

    `seq` counts within an `epoch`, one counter a root; `late` marks a message told again.
    """

    v: int = VERSION
    table: str
    epoch: str
    seq: int | UnsetType = UNSET
    at: str
    hand: int | UnsetType = UNSET
    late: bool | UnsetType = UNSET


class SeatPicture(Struct, frozen=True, kw_only=True):
    """One seat in `state`; `cards` is a count, `up` and `shown` are public faces."""

    status: str
    cards: int
    up: list[str]
    shown: list[str]
    name: str


class Picture(Struct, frozen=True, kw_only=True):
    """The body of `state`."""

    phase: str
    discipline: str
    button: int | None
    board: list[str]
    seats: dict[int, SeatPicture]


class ReaderPicture(Struct, frozen=True, kw_only=True):
    """The body of `reader/<name>`."""

    up: bool
    since: str
    error: str | None
    antennas: dict[int, dict[str, int | str | None]]


class AntennaCounts(Struct, frozen=True, kw_only=True):
    """One antenna since the start; `misses` change every 20 hands, so that they tell no card."""

    looks: int
    misses: int


class Metrics(Struct, frozen=True, kw_only=True):
    """The body of `metrics`; `antennas` by `reader/antenna`, `timings` in seconds."""

    seq_told: int
    noise: int
    readers_down: int
    counters: dict[str, int]
    antennas: dict[str, AntennaCounts] = {}
    outages: dict[str, int] = {}
    timings: dict[str, float] = {}


class Status(Struct, frozen=True, kw_only=True):
    """The body of `status`, and of the last will; `key` is what records are signed with."""

    online: bool
    version: str
    since: str
    instance: str | UnsetType = UNSET
    key: str | UnsetType = UNSET


@dataclass
class Wire:
    """Encodes what one table tells. `started` is when its memory began, in UTC."""

    table: str
    prefix: str
    epoch: str
    started: datetime

    def topic(self, name: str, *, private: bool = False) -> str:
        """The full topic of `name` on one of the two roots."""
        return f"{self.prefix}{'-private' if private else ''}/{self.table}/{name}"

    def replies(self, *, private: bool) -> str:
        """What a response topic has to begin with."""
        return self.topic("reply/", private=private)

    def moment(self, now: int) -> datetime:
        """A time of the table's memory, in UTC."""
        return (self.started + timedelta(milliseconds=now)).astimezone(UTC)

    def at(self, now: int) -> str:
        """The same in ISO 8601, to the millisecond."""
        return self.moment(now).isoformat(timespec="milliseconds").replace("+00:00", "Z")

    def body(
        self, body: Struct, now: int, *, seq: int | None = None, hand: int | None = None
    ) -> bytes:
        """A payload: the envelope, then the body's own fields; every body has some."""
        envelope = Envelope(
            table=self.table,
            epoch=self.epoch,
            seq=UNSET if seq is None else seq,
            at=self.at(now),
            hand=UNSET if hand is None else hand,
        )
        return msgspec.json.encode(envelope)[:-1] + b"," + msgspec.json.encode(body)[1:]

    def told(self, now: int, told: Told) -> Message:
        """A counted message."""
        name, retain = next(
            (name, retain) for kind, name, retain in _TOPICS if isinstance(told.fact, kind)
        )
        payload = self.body(told.fact, now, seq=told.seq, hand=told.hand)
        topic = self.topic(name, private=told.private)
        return Message(told.private, topic, retain, payload, told.seq, told.hand)

    def state(self, now: int, state: TableState) -> Message:
        """The retained picture; its `seq` is the last counted message folded into it."""
        hand = state.open_hand() or state.open_deal()
        number = hand.number if hand is not None else None
        payload = self.body(picture(state), now, seq=state.seq, hand=number)
        return Message(False, self.topic("state"), retain=True, payload=payload)  # noqa: FBT003

    def status(self, now: int, status: Status) -> Message:
        """The retained status; also the last will, with `online` false."""
        return Message(
            private=False, topic=self.topic("status"), retain=True, payload=self.body(status, now)
        )

    def reader(self, now: int, name: str, reader: ReaderPicture) -> Message:
        """The retained health of one reader."""
        topic = self.topic(f"reader/{name}")
        return Message(private=False, topic=topic, retain=True, payload=self.body(reader, now))

    def metrics(self, now: int, metrics: Metrics) -> Message:
        """The retained counters."""
        topic = self.topic("metrics")
        return Message(private=False, topic=topic, retain=True, payload=self.body(metrics, now))

    def gone(self, now: int, gone: ResendGone, *, private: bool) -> Message:
        """An event outside the count: it answers one subscriber and changes nothing."""
        topic = self.topic("event", private=private)
        return Message(private, topic, retain=False, payload=self.body(gone, now))

    def reply(self, now: int, reply: Reply, *, private: bool) -> Message:
        """The answer to a command, on the root the command came from."""
        topic = self.topic("reply", private=private)
        return Message(private, topic, retain=False, payload=self.body(reply, now))


def picture(state: TableState) -> Picture:
    """The table as everybody may see it."""
    hand = state.open_hand() or state.open_deal()
    if hand is None:
        seats = {
            number: SeatPicture(status="out", cards=0, up=[], shown=[], name=name)
            for number, name in sorted(state.names.items())
        }
        return Picture(
            phase="idle", discipline=state.discipline, button=state.button, board=[], seats=seats
        )
    numbers = sorted({*hand.seats, *state.names})
    return Picture(
        phase=hand.phase(),
        discipline=hand.discipline,
        button=hand.button,
        board=[card.face for card in hand.board],
        seats={number: _seat(state, hand, number) for number in numbers},
    )


def _seat(state: TableState, hand: Hand | Deal, number: int) -> SeatPicture:
    name = state.names.get(number, "")
    seat = hand.seats.get(number)
    if seat is None:
        return SeatPicture(status="out", cards=0, up=[], shown=[], name=name)
    return SeatPicture(
        status=seat.status,
        cards=len(seat.held),
        up=[held.face for held in seat.held if held.up and held.face is not None],
        shown=_shown(seat),
        name=name,
    )


def _shown(seat: Seat) -> list[str]:
    if seat.status != "shown":
        return []
    return [held.face for held in seat.held[: seat.tabled] if held.face is not None]


def health(
    wire: Wire, health: Health, antennas: dict[int, int], looks: dict[int, int]
) -> ReaderPicture:
    """A reader's health; `antennas` are the times (ms) of their last looks, `looks` how many."""
    return ReaderPicture(
        up=health.up,
        since=wire.at(health.since),
        error=health.error,
        antennas={
            number: {"looks": looks.get(number, 0), "last_seen": wire.at(at)}
            for number, at in sorted(antennas.items())
        },
    )
