"""Who is ahead, deal by deal, and the equity that follows."""

from __future__ import annotations

from math import sqrt
from typing import TYPE_CHECKING, Any, TypeAlias

import msgspec
import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from daemon.odds.rank_sums import Values

Weights: TypeAlias = npt.NDArray[np.float64]
Sets: TypeAlias = npt.NDArray[np.integer[Any]]
Outcomes: TypeAlias = "Mapping[int, int]"


class Seat(msgspec.Struct, frozen=True):
    """The chances of a seat, fractions of one: `equity` is `win` and its shares of ties."""

    seat: int
    win: float
    tie: float
    equity: float


class Equity(msgspec.Struct, frozen=True, omit_defaults=True):
    """The chances of each seat over `deals` deals: all that are left, or so many at random.

    `error` is the standard error of the least certain seat's equity, where `exact` is false.
    """

    seats: tuple[Seat, ...]
    exact: bool
    deals: int
    error: float | msgspec.UnsetType = msgspec.UNSET


def leaders(values: Sequence[Values]) -> Sets:
    """For each deal the seats that have the best value, as bits in the order of `values`."""
    best = values[0]
    for value in values[1:]:
        best = np.maximum(best, value)
    kind = np.min_scalar_type((1 << len(values)) - 1)
    sets = np.zeros(best.shape, kind)
    for place, value in enumerate(values):
        sets |= np.left_shift((value == best).view(np.uint8), place, dtype=kind)
    return sets


def count(sets: Sets, weights: Weights | None = None) -> Outcomes:
    """How many deals each set of leaders has; a deal counts `weights` times where given."""
    if weights is not None and sets.dtype == np.uint8 and sets.max() <= 3:
        # bincount waits for its last addition when it meets the same bin again
        return {one: int((weights * (sets == one)).sum()) for one in (1, 2, 3)}
    counts = np.bincount(sets, weights)
    return {leading: int(counts[leading]) for leading in np.flatnonzero(counts).tolist()}


def add(one: Outcomes, other: Outcomes) -> Outcomes:
    """Both together."""
    return {leading: one.get(leading, 0) + other.get(leading, 0) for leading in {*one, *other}}


def exact_equity(seats: Sequence[int], outcomes: Outcomes) -> Equity:
    """The equity of all deals that are left."""
    return Equity(_seats(seats, outcomes), exact=True, deals=sum(outcomes.values()))


def sampled_equity(seats: Sequence[int], outcomes: Outcomes) -> Equity:
    """The equity of deals at random, and how sure it is."""
    deals = sum(outcomes.values())
    error = standard_error(len(seats), outcomes)
    return Equity(_seats(seats, outcomes), exact=False, deals=deals, error=error)


def standard_error(seats: int, outcomes: Outcomes) -> float:
    """The standard error of the least certain equity; never less than one deal's worth."""
    deals = sum(outcomes.values())
    largest = 1 / deals
    for place in range(seats):
        shares = [(1 / s.bit_count(), n) for s, n in outcomes.items() if s >> place & 1]
        mean = sum(share * n for share, n in shares) / deals
        square = sum(share * share * n for share, n in shares) / deals
        largest = max(largest, square - mean * mean)
    return sqrt(largest / deals)


def _seats(seats: Sequence[int], outcomes: Outcomes) -> tuple[Seat, ...]:
    deals = sum(outcomes.values())
    return tuple(_seat(seat, 1 << place, outcomes, deals) for place, seat in enumerate(seats))


def _seat(seat: int, bit: int, outcomes: Outcomes, deals: int) -> Seat:
    won = outcomes.get(bit, 0)
    ties: dict[int, int] = {}
    for leading, number in outcomes.items():
        if leading & bit and leading != bit:
            size = leading.bit_count()
            ties[size] = ties.get(size, 0) + number
    shares = sum(number / size for size, number in sorted(ties.items()))
    tied = sum(ties.values())
    return Seat(seat, won / deals, tied / deals, (won + shares) / deals)
