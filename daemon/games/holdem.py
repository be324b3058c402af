"""Texas Hold'em: two down cards and a board of five, any five of the seven."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from daemon.games.shape import Game, Street
from daemon.rules.ranking import evaluate

if TYPE_CHECKING:
    from collections.abc import Sequence

    from daemon.rules.ranking import Strength


def _strength(own: Sequence[str], board: Sequence[str]) -> Strength:
    return evaluate([*own, *board])


GAME: Final = Game(
    name="holdem",
    streets=(
        Street("preflop", down=2),
        Street("flop", board=3, burn=1),
        Street("turn", board=1, burn=1),
        Street("river", board=1, burn=1),
    ),
    max_seats=10,
    has_button=True,
    strength=_strength,
)
