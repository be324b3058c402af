"""The state of a table: plain data, encoded whole into a snapshot and read back from it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from daemon.alerts import alert, with_remedy
from daemon.chain import Ledger
from daemon.deal import Deal  # noqa: TC001  msgspec reads it
from daemon.events import Equity, Fact, HoleCards, Question
from daemon.hand import Hand, Scene
from daemon.passes import Passed  # noqa: TC001  msgspec reads it
from daemon.presence import Presence
from daemon.rules.order import Blinds, next_blinds, starting_blinds
from daemon.suspicion import Suspicions

if TYPE_CHECKING:
    from daemon.setup import Setup


@dataclass
class Health:
    """A reader: whether it answers, since when (ms), and what it last failed with."""

    up: bool
    since: int
    error: str | None = None


@dataclass
class HeldBack:
    """Hole cards or odds of a hand that are told later; `since` when they were known (ms)."""

    fact: HoleCards | None
    hand: int | None
    since: int
    equity: Equity | None = None


@dataclass
class TableState:
    """Everything that the table remembers. `seq` and `private_seq` are the last ones used.

    `button` is where it lies in the open hand, or will lie in the next; `blinds` are those of
    the last hand, None where the button was set since. `passing` are cards that passed the shoe
    and are no part of the last hand.
    """

    epoch: str
    discipline: str
    now: int = 0
    seq: int = 0
    private_seq: int = 0
    next_number: int = 1
    button: int | None = None
    blinds: Blinds | None = None
    names: dict[int, str] = field(default_factory=dict)
    key: str | None = None
    hand: Hand | None = None
    deal: Deal | None = None
    presence: Presence = field(default_factory=Presence)
    readers: dict[str, Health] = field(default_factory=dict)
    looked: dict[str, int] = field(default_factory=dict)
    cell: int = -1
    alerted: list[str] = field(default_factory=list)
    held_back: list[HeldBack] = field(default_factory=list)
    odds: dict[str, Question] = field(default_factory=dict)
    suspicions: Suspicions = field(default_factory=Suspicions)
    passing: list[Passed] = field(default_factory=list)
    ledger: Ledger = field(default_factory=Ledger)

    def down(self) -> list[str]:
        """The readers that do not answer."""
        return [name for name, health in self.readers.items() if not health.up]

    def open_hand(self) -> Hand | None:
        """The hand that is being played, its showdown included."""
        return self.hand if self.hand is not None and not self.hand.closed else None

    def open_deal(self) -> Deal | None:
        """The button draw or chip race that is going on."""
        return self.deal if self.deal is not None and self.deal.closed_at is None else None


Out = list[tuple[Fact, int | None]]
"""Facts in order, each with the number of its hand."""


@dataclass
class Step:
    """One step at work: the state, the table as configured, and the facts so far."""

    state: TableState
    setup: Setup
    out: Out

    def tell(self, fact: Fact, hand: int | None = None) -> None:
        """Add a fact that belongs to a hand, or to none."""
        self.out.append((fact, hand))

    def alert(self, kind: str, zone: str, once: str) -> None:
        """Raise an alert outside of any hand, once until the next hand."""
        mark = f"{kind} {once}"
        if mark not in self.state.alerted:
            self.state.alerted.append(mark)
            self.tell(with_remedy(alert(kind, zone), None, self.setup.profile))

    def worn(self, deck: str) -> None:
        """A tag of this deck is worn."""
        self.tell(alert("worn-tag", deck=deck))

    def scene(self, hand: Hand) -> Scene:
        """What the functions of one hand work with."""
        state = self.state
        return Scene(
            now=state.now,
            setup=self.setup,
            presence=state.presence,
            hand=hand,
            out=self.out,
            down=state.down(),
            looked=state.looked,
            epoch=state.epoch,
        )


def move_button(state: TableState, hand: Hand) -> None:
    """Where the button goes after a hand that counted (TDA 32, 34-B)."""
    seats = sorted(hand.seats)
    if hand.void or not hand.game.has_button or hand.button is None or len(seats) < 2:
        return
    if state.blinds is not None:
        state.blinds = next_blinds(state.blinds, seats)
    elif hand.button in seats:
        state.blinds = starting_blinds(seats, hand.button)
    if state.blinds is not None and state.blinds.button == hand.button:
        state.button = next_blinds(state.blinds, seats).button
    else:
        state.blinds = None
        state.button = next((n for n in seats if n > hand.button), seats[0])
