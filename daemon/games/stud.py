"""Seven-card stud: three down and four up cards each, or a common card for the seventh."""

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
    name="stud",
    streets=(
        Street("third", down=2, up=1),
        Street("fourth", up=1, burn=1),
        Street("fifth", up=1, burn=1),
        Street("sixth", up=1, burn=1),
        Street("seventh", down=1, burn=1),
    ),
    max_seats=8,
    has_button=False,
    strength=_strength,
    short_hands=(5, 6),
    common_card=True,
)
