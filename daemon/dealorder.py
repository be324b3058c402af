"""How much better the deal of third street fits as it was heard than with a hidden card third.

A dealer goes round the table at a steady pace, so each card lay there before every later one
was heard. A card that was heard after a later one was missed by its antenna meanwhile. What
that costs is the negative logarithm of its chance (in nats), which grows with the number of
misses, up to what a worn tag costs: those are not heard for hands. Times are whole milliseconds.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import permutations
from math import inf, log
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

DOWN, CARDS = 2, 3
"""Cards of third street that a seat gets face down, and all."""
WORN = 4.6
"""One tag in a hundred is hardly heard at all."""
DEAF = 3.2
"""One card in 25 is laid down while its antenna, or its tag, is deaf."""
DEAF_MS = 2000
PACE = 0.8
"""The cards follow each other no faster than so much of their mean interval."""
POOR = 1.2
"""A deal that costs more than so many nats a card did not go as it was heard."""


@dataclass(frozen=True, slots=True)
class Hearing:
    """How well the antennas hear: the share of looks that miss a tag, ms from look to look."""

    miss: float
    look_ms: float

    def cost(self, late: float) -> float:
        """What it costs that a card was first heard so many ms after it lay there."""
        if late <= 0:
            return 0.0
        each = -log(min(max(self.miss, 0.02), 0.6))
        missed = max(0.0, late / self.look_ms - 1)
        deaf = DEAF + max(0.0, (late - DEAF_MS) / self.look_ms) * each
        return min(missed * each, deaf, WORN)


def lead(deal: Sequence[Sequence[int | None]], place: int, hearing: Hearing) -> float:
    """By how many nats the order in which seat `place` was heard beats all in which it lies down.

    `deal` has for each seat, in the order of dealing, when its cards were first heard, at most
    three, in that order; None for a card that no antenna heard. Returns 0 if no order fits well.
    """
    own = deal[place]
    every = sorted(time for seat in deal for time in seat if time is not None)
    if own[DOWN] is None:
        return 0.0
    pace = PACE * (every[-1] - every[0]) / max(1, len(every) - 1)
    heard = _cost(_slots(deal, place, own), pace, hearing)
    if heard > POOR * len(every):
        return 0.0
    others = [one for one in permutations(own) if one[DOWN] != own[DOWN]]
    best = min((_cost(_slots(deal, place, one), pace, hearing) for one in others), default=inf)
    return best - heard


def _slots(
    deal: Sequence[Sequence[int | None]], place: int, own: Sequence[int | None]
) -> list[int | None]:
    """When the cards were heard, in the order in which they would have been dealt."""
    seats = [own if number == place else seat for number, seat in enumerate(deal)]
    return [seat[n] if n < len(seat) else None for n in range(CARDS) for seat in seats]


def _cost(slots: Sequence[int | None], pace: float, hearing: Hearing) -> float:
    total, latest = 0.0, inf
    for time in reversed(slots):
        latest -= pace
        if time is not None:
            total += hearing.cost(time - latest)
            latest = min(latest, time)
    return total
