"""Omaha: four down cards and a board of five; exactly two own cards and three of the board."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING, Final

from daemon.games.shape import Game, Street
from daemon.rules.cards import NUMBER, number_of, require_distinct
from daemon.rules.errors import RuleError
from daemon.rules.ranking import rank, strength

if TYPE_CHECKING:
    from collections.abc import Sequence

    from daemon.rules.ranking import Strength


def _strength(own: Sequence[str], board: Sequence[str]) -> Strength:
    """The best two of `own` (2 to 4 cards) and three of `board` (3 to 5 cards)."""
    if not (2 <= len(own) <= 4 and 3 <= len(board) <= 5):
        raise RuleError(f"{len(own)} own cards and {len(board)} on the board make no Omaha hand")
    require_distinct([*own, *board])
    pairs = list(combinations([number_of(card) for card in own], 2))
    threes = list(combinations([number_of(card) for card in board], 3))
    ranked = [(rank(pair + three), pair + three) for pair in pairs for three in threes]
    least, _ = min(ranked)
    equals = (strength(cards) for found, cards in ranked if found == least)
    return max(equals, key=lambda found: [NUMBER[card] for card in found.best])


GAME: Final = Game(
    name="omaha",
    streets=(
        Street("preflop", down=4),
        Street("flop", board=3, burn=1),
        Street("turn", board=1, burn=1),
        Street("river", board=1, burn=1),
    ),
    max_seats=10,
    has_button=True,
    strength=_strength,
)
