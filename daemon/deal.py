"""A button draw or a chip race as the table has seen it: cards face up at seats, then a ruling.

The state is plain data, so that a snapshot holds it. Times are whole milliseconds.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from daemon.hand import BoardCard, Held, Seat  # noqa: TC001  msgspec reads it
from daemon.rules.order import Blinds  # noqa: TC001  msgspec reads it
from daemon.rules.results import ButtonDrawResult, ChipRaceResult  # noqa: TC001  msgspec reads it

if TYPE_CHECKING:
    from collections.abc import Iterator

BUTTON_DRAW, CHIP_RACE = "button-draw", "chip-race"


@dataclass
class Correction:
    """A correction by the floor, with the seat's cards as they were before, for `undo`."""

    id: str
    by: str
    seat: int
    held: list[Held]
    dismissed: list[str]


@dataclass
class Deal:
    """One draw or race.

    `expected` is the number of cards by seat; `counts`, `old` and `new` are those of a race.
    `piled` are tags of a deck that was put down on an antenna, `dismissed` those that the floor
    said are no part of this, `extra` those that rest where no card is due, `foreign` those of
    another deck. `swept`: its cards have left the seats, what comes now is something else.
    `stale` are the tags that lay on the table when the deal closed. `last_button` and
    `last_blinds` are what a void draw goes back to.
    """

    number: int
    kind: str
    discipline: str
    button: int | None
    started: int
    last_dealt: int
    seats: dict[int, Seat]
    expected: dict[int, int]
    counts: dict[int, int] = field(default_factory=dict)
    old: int = 0
    new: int = 0
    all_in: list[int] = field(default_factory=list)
    deck: str | None = None
    before: list[str] = field(default_factory=list)
    piled: list[str] = field(default_factory=list)
    dismissed: list[str] = field(default_factory=list)
    extra: dict[str, int] = field(default_factory=dict)
    foreign: dict[str, int] = field(default_factory=dict)
    alerted: list[str] = field(default_factory=list)
    done: list[Correction] = field(default_factory=list)
    board: list[BoardCard] = field(default_factory=list)
    changed: bool = True
    swept: bool = False
    void: bool = False
    draw: ButtonDrawResult | None = None
    race: ChipRaceResult | None = None
    result_seq: int = 0
    ruled_at: int | None = None
    closed_at: int | None = None
    stale: list[str] = field(default_factory=list)
    last_button: int | None = None
    last_blinds: Blinds | None = None

    def phase(self) -> str:
        """The word for `state`."""
        return self.kind

    def result(self) -> ButtonDrawResult | ChipRaceResult | None:
        """The last ruling."""
        return self.draw or self.race

    def ruled_or_closed(self) -> bool:
        """Whether the next hand or deal may begin."""
        return self.ruled_at is not None or self.closed_at is not None

    def held(self) -> Iterator[tuple[Seat, Held]]:
        """Every card with its seat."""
        return ((seat, held) for seat in self.seats.values() for held in seat.held)

    def tags(self) -> set[str]:
        """The tags of its cards, as far as they have been read."""
        return {held.tag for _, held in self.held() if held.tag is not None}

    def owner(self, tag: str) -> Seat | None:
        """The seat that holds the tag."""
        return next((seat for seat, held in self.held() if held.tag == tag), None)

    def lacks(self, number: int) -> bool:
        """Whether this seat waits for a card."""
        seat = self.seats.get(number)
        return seat is not None and len(seat.held) < self.expected.get(number, 0)

    def lacking(self) -> list[int]:
        """The seats that wait for a card, in the order of dealing."""
        return [number for number in sorted(self.seats) if self.lacks(number)]
