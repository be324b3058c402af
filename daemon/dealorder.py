"""How much better the deal of third street fits as it was heard than with a hidden card third.

A dealer goes round the table at a steady pace, so each card lay there before every later one
was heard. A card that was heard after a later one was missed by its antenna meanwhile. What
that costs is the negative logarithm of its chance (in nats), which grows with the number of
misses, up to what a worn tag costs: those are not heard for hands. Times are whole milliseconds.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import permutations
from math import exp, inf, log
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
ROUND = 0.4
"""From look to look no more than so much of a round may pass, or rounds look alike."""
POOR = 1.0
"""A deal that costs more than so many nats a card did not go as it was heard."""


GAP_MS = 128
"""The widths of the classes in which times between two hits are counted."""
GAPS = 32
PRIOR_MS = 60_000
"""What is said above weighs as much as so long a time of listening to one tag."""


@dataclass(slots=True)
class Hearing:
    """How well the antennas hear: the share of looks that miss a tag, ms from look to look.

    `gaps` are numbers of times from hit to hit of tags that lay still, in classes of GAP_MS.
    `longer` is for each class how many were longer than that, and how long they were together.
    """

    miss: float
    look_ms: float
    gaps: Sequence[int] = ()
    longer: list[tuple[int, int]] = field(default_factory=list)

    def __post_init__(self) -> None:
        count = total = 0
        for place in range(len(self.gaps), 0, -1):
            count += self.gaps[place - 1]
            total += self.gaps[place - 1] * place * GAP_MS
            self.longer.append((count, total))
        self.longer.reverse()

    def cost(self, late: float) -> float:
        """What it costs that a card was first heard so many ms after it lay there."""
        if late <= 0:
            return 0.0
        place = int(late // GAP_MS)
        count, total = self.longer[place] if place < len(self.longer) else (0, 0)
        heard = self.longer[0][1] if self.longer else 0
        prior = PRIOR_MS * exp(-self._usual(late))
        return min(-log((total - late * count + prior) / (heard + PRIOR_MS)), WORN)

    def _usual(self, late: float) -> float:
        """The same for antennas of which nothing is known but how many looks miss a tag."""
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
    mean = (every[-1] - every[0]) / max(1, len(every) - 1)
    if hearing.look_ms > ROUND * mean * len(deal):
        return 0.0
    pace = PACE * mean
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
