"""What happens at the simulated table, as data, and the truth that goes with it.

Times are seconds since the start of the session. A script knows nothing of readers: the same one
is played to virtual antennas (`noise`) or to emulated readers in real time.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

Action = Literal["lay", "lift"]
Kind = Literal["hand", "button-draw", "chip-race"]

PILE = -1
"""The `spot` of a card inside a squared deck, where tags detune each other."""


@dataclass(frozen=True, slots=True)
class Event:
    """A card is laid on a zone or lifted from it; `spot` counts the cards of the board from 0."""

    t: float
    action: Action
    uid: str
    zone: str
    spot: int = 0


@dataclass(frozen=True, slots=True)
class Said:
    """A command of the operator; `private` where it belongs on the private topic."""

    t: float
    body: dict[str, object]
    private: bool = False


@dataclass(frozen=True, slots=True)
class Dealt:
    """A card as it was dealt: to a seat, or with `seat` None to `board` or `burn`."""

    card: str
    uid: str
    seat: int | None
    zone: str
    street: str
    at: float
    up: bool = False


@dataclass(frozen=True, slots=True)
class Fold:
    """A hand given up: when it left the seat, over the muck antenna or past it.

    `board` tells that it crossed the board antenna; `read` that its seat had heard any of it.
    """

    seat: int
    at: float
    muck: bool = True
    board: bool = False
    read: bool = True


@dataclass(frozen=True, slots=True)
class Tabled:
    """Hands turned up before the end, all-in."""

    at: float
    seats: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Fault:
    """What was wrong with the ears.

    `kind`: antenna-deaf (empty looks), reader-lost (told), reader-silent (no looks, nothing told),
    unheard-card (until `until`, when it is shown), crossed (a neighbour `zone` hears the card as
    often as its own antenna). `place` is a zone, a reader or a UID.
    """

    kind: str
    place: str
    since: float
    until: float
    zone: str = ""


@dataclass(frozen=True)
class HandTruth:
    """One hand, or one deal of a button draw or a chip race, as it really was.

    `number` counts from the session's first hand number; `begins` lies before its first command
    and card, `ends` is when the last card was off the table. `dealt` is in order of dealing, burns
    included. `streets` tells when the last card of each street lay. `shown` and `mucked` are the
    live hands of a showdown, empty where one seat was left: then `winner` is that seat.
    `public` tells from when each card that ever became public was so; `unheard` are the cards that
    no antenna heard at the place they were dealt to.
    """

    number: int
    kind: Kind
    discipline: str
    deck: str
    seats: tuple[int, ...]
    button: int | None
    commands: bool
    begins: float
    ends: float
    dealt: tuple[Dealt, ...]
    streets: dict[str, float]
    folds: tuple[Fold, ...] = ()
    tabled: tuple[Tabled, ...] = ()
    showdown_at: float | None = None
    shown: tuple[int, ...] = ()
    mucked: tuple[int, ...] = ()
    winner: int | None = None
    public: dict[str, float] = field(default_factory=dict)
    faults: tuple[Fault, ...] = ()
    counts: dict[int, int] = field(default_factory=dict)
    chips: tuple[int, int] | None = None
    unheard: tuple[str, ...] = ()

    def own(self, seat: int) -> tuple[str, ...]:
        """The seat's cards in order of dealing."""
        return tuple(each.card for each in self.dealt if each.seat == seat)

    def up(self, seat: int) -> tuple[str, ...]:
        """The seat's up cards in order of dealing."""
        return tuple(each.card for each in self.dealt if each.seat == seat and each.up)

    @property
    def board(self) -> tuple[str, ...]:
        """The board in order of dealing."""
        return tuple(each.card for each in self.dealt if each.zone == "board")

    @property
    def burns(self) -> tuple[str, ...]:
        """The burns in order of dealing."""
        return tuple(each.card for each in self.dealt if each.zone == "burn")


@dataclass(frozen=True)
class Script:
    """One hand for the antennas: events and commands by time, and the truth beside them.

    `key` is the hand's secret key in hex, drawn just before it begins.
    """

    events: tuple[Event, ...]
    said: tuple[Said, ...]
    truth: HandTruth
    key: str | None = None
