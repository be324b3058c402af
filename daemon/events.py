"""What goes into the table and what comes out of it, as frozen records.

Facts are the bodies of messages: `wire` puts the envelope around them. A fact that may
name a hidden card is a `Private` one and never reaches the public root.
"""

from __future__ import annotations

from typing import TypeAlias

from msgspec import UNSET, Struct, UnsetType, field

from daemon.rules.labels import Label
from daemon.rules.results import (
    ButtonDrawResult,
    ChipRaceResult,
    FirstToActResult,
    ShowdownResult,
)


class Key(Struct, frozen=True):
    """The secret key of the next hand: 32 random bytes, drawn outside, in lower-case hex."""

    key: str


class Refused(Struct, frozen=True):
    """The broker would not take a message of the table; `zone` is its topic, or a whole root."""

    zone: str


class Rival(Struct, frozen=True):
    """Another daemon wanted this table; `instance` is its random name."""

    instance: str


class Damaged(Struct, frozen=True):
    """The journal could not be read and lies beside the new one, under the name `file`."""

    file: str


class Question(Struct, frozen=True, kw_only=True):
    """A spot whose odds the table wants to tell, on one of its roots; `hands` by seat."""

    private: bool
    hand: int
    discipline: str
    hands: dict[int, list[str]]
    board: list[str]
    dead: list[str]

    def root(self) -> str:
        """Where the answer is told."""
        return "private" if self.private else "public"


class SeatChance(Struct, frozen=True):
    """The chances of a seat, fractions of one: `equity` is `win` and its shares of ties."""

    seat: int
    win: float
    tie: float
    equity: float


class Odds(Struct, frozen=True):
    """The answer to a question, over `deals` deals; `error` is a standard error, of samples."""

    question: Question
    seats: list[SeatChance]
    exact: bool
    deals: int
    error: float | UnsetType = UNSET


class Event(Struct, frozen=True, tag_field="type", kw_only=True):
    """Topic `event`: one thing that happened at the table."""


class HandStarted(Event, frozen=True, tag="hand-started"):
    """A hand began; `seats` only where the floor named them."""

    button: int | None
    deck: str | None
    seats: list[int] | UnsetType = UNSET


class CardDealt(Event, frozen=True, tag="card-dealt"):
    """A card came to a zone; `card` only where it lies face up."""

    zone: str
    index: int
    card: str | UnsetType = UNSET


class StreetDealt(Event, frozen=True, tag="street"):
    """A street is out; `cards` are the board cards it brought."""

    street: str
    cards: list[str]


class Folded(Event, frozen=True, tag="folded"):
    """A seat gave up its hand."""

    seat: int


class HandShown(Event, frozen=True, tag="hand-shown"):
    """A hand was tabled before the end."""

    seat: int
    cards: list[str]


class HandEnded(Event, frozen=True, tag="hand-ended"):
    """The hand is over; `winner` where one seat was left, `head` of the chain of results."""

    winner: int | UnsetType = UNSET
    head: str | UnsetType = UNSET


class HandVoided(Event, frozen=True, tag="hand-voided"):
    """The hand does not count; `head` of the chain of results."""

    reason: str
    head: str | UnsetType = UNSET


class CommandTaken(Event, frozen=True, tag="command", kw_only=True):
    """A command was accepted; what it says of hidden cards is left out."""

    command: dict[str, object]
    by: str | UnsetType = UNSET


class Committed(Event, frozen=True, tag="commit"):
    """SHA-256 over salt and text of a hidden card, told when it was dealt."""

    seat: int
    index: int
    n: int
    hash: str
    replaces: str | UnsetType = UNSET


class Opened(Event, frozen=True, tag="open"):
    """What a commitment was made of, told when the card is shown."""

    seat: int
    index: int
    n: int
    card: str
    salt: str


class DealStarted(Event, frozen=True, tag="deal-started"):
    """A button draw or chip race began; `expected` is the number of cards by seat."""

    kind: str
    expected: dict[int, int]
    exchanged: dict[int, int] | UnsetType = UNSET


class AllTabled(Event, frozen=True, tag="equity"):
    """The chances of each seat, once all live hands are tabled, and again on each street.

    Exact over `deals` deals, or sampled with the standard error `error`; fractions of one.
    """

    seats: list[SeatChance]
    exact: bool
    deals: int
    error: float | UnsetType = UNSET


class ResendGone(Event, frozen=True, tag="resend-gone"):
    """Messages that were asked for again are no longer kept; both ends included."""

    from_: int = field(name="from")
    to: int


class Alert(Struct, frozen=True, kw_only=True):
    """Topic `alert`: please look, and what the rule says to do. Never names a hidden card."""

    kind: str
    severity: str
    rule: str
    message: Label
    zone: str | UnsetType = UNSET
    remedy: Label | UnsetType = UNSET


class FloorNote(Struct, frozen=True, kw_only=True):
    """Private topic `floor`: what only the floor may know."""

    kind: str
    message: Label
    zone: str | UnsetType = UNSET
    cards: list[str] | UnsetType = UNSET


class HoleCards(Struct, frozen=True, kw_only=True):
    """Private topic `hole-cards`: the down cards of one seat, in the order of dealing."""

    seat: int
    cards: list[str | None]


class Equity(Struct, frozen=True, kw_only=True):
    """Private topic `equity`: the chances of each live seat, folded cards counted as dead.

    Exact over `deals` deals, or sampled with the standard error `error`; fractions of one.
    """

    seats: list[SeatChance]
    exact: bool
    deals: int
    error: float | UnsetType = UNSET


class Addressed(Struct, frozen=True, kw_only=True):
    """A secret for one receiver, before it is sealed; never told as it is."""

    to: str
    body: HoleCards | Equity


class Sealed(Struct, frozen=True, kw_only=True):
    """Private topic `hole-cards` in mode sealed: `box` is for the receiver `to` alone.

    A libsodium sealed box in base64; in it lies the message that mode clear would publish.
    """

    to: str
    box: str


class SealedEquity(Struct, frozen=True, kw_only=True):
    """Private topic `equity` in mode sealed, as `Sealed` is on `hole-cards`."""

    to: str
    box: str


class Reply(Struct, frozen=True, kw_only=True):
    """Topic `reply`, on the root the command came from."""

    id: str
    by: str | UnsetType = UNSET
    ok: bool = True
    error: str | UnsetType = UNSET
    waiting: list[int] | UnsetType = UNSET


class ReaderState(Struct, frozen=True, kw_only=True):
    """Topic `reader/<name>`: its health; `looks` and `last_seen` (ms) by antenna."""

    reader: str
    up: bool
    since: int
    error: str | None


Public: TypeAlias = (
    Event | Alert | ShowdownResult | ButtonDrawResult | FirstToActResult | ChipRaceResult
)
Private: TypeAlias = FloorNote | HoleCards | Equity | Addressed | Sealed | SealedEquity
Fact: TypeAlias = Public | Private
