"""The shape of a discipline: what is dealt where, and how hands compare."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from daemon.rules.ranking import Strength


@dataclass(frozen=True)
class Street:
    """One street: how many cards it deals down and up to each seat, and to the board."""

    name: str
    down: int = 0
    up: int = 0
    board: int = 0
    burn: int = 0


@dataclass(frozen=True)
class Game:
    """A discipline: its streets in order, its seats, and the strength of a complete hand.

    `strength(own, board)` takes the seat's own cards and the board in notation (`As`).
    `short_hands` are the numbers of own cards, besides all of them, that the floor may rule live
    at a showdown; `common_card` says that one may lie on the board for everybody's last card.
    """

    name: str
    streets: tuple[Street, ...]
    max_seats: int
    has_button: bool
    strength: Callable[[Sequence[str], Sequence[str]], Strength]
    short_hands: tuple[int, ...] = ()
    common_card: bool = False

    @property
    def own_cards(self) -> int:
        """How many cards a seat has once every street is dealt (no common card)."""
        return sum(street.down + street.up for street in self.streets)

    @property
    def board_cards(self) -> int:
        """How many cards the board has once every street is dealt."""
        return sum(street.board for street in self.streets)

    def cards_used(self, players: int) -> int:
        """How many cards of the deck a whole hand takes, burns included, when nobody folds."""
        burns = sum(street.burn for street in self.streets)
        return players * self.own_cards + self.board_cards + burns
