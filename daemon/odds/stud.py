"""Exact equity in stud: every way in which the seats' hands can be completed."""

from __future__ import annotations

from math import comb
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from daemon.odds.completions import Completions, completions
from daemon.odds.heads_up import heads_up
from daemon.odds.outcomes import Outcomes, add, count

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from daemon.odds.rank_sums import Ints, Values
    from daemon.odds.spot import Spot

MOST_DEALS: Final = 10_000_000
_PAIRS_AT_ONCE: Final = 1 << 19


class _Deals(NamedTuple):
    """Partial deals: cards used, the best value so far and the seats that have it, as bits."""

    used: Ints
    best: Values
    leading: Ints


def exact_outcomes(spot: Spot) -> Outcomes | None:
    """Who leads over all deals; None where they are too many to look at."""
    if len(spot.seats) == 2 and not spot.board_missing:
        one, other = _seats(spot, spot.board)
        return heads_up(one, other, len(spot.deck))
    return _every_deal(spot) if deals_left(spot) <= MOST_DEALS else None


def deals_left(spot: Spot) -> int:
    """The number of ways in which the deal can end."""
    left = len(spot.deck)
    ways = 1
    for missing in (spot.board_missing, *spot.own_missing):
        ways *= comb(left, missing)
        left -= missing
    return ways


def _every_deal(spot: Spot) -> Outcomes:
    outcomes: Outcomes = {}
    for place, common in _common_cards(spot):
        start = _Deals(np.array([place]), np.zeros(1, np.int16), np.zeros(1, np.int64))
        outcomes = add(outcomes, _deal_on(start, _seats(spot, common), 0))
    return outcomes


def _seats(spot: Spot, common: Sequence[int]) -> list[Completions]:
    return [
        completions(own, missing, common, spot.deck)
        for own, missing in zip(spot.own, spot.own_missing, strict=True)
    ]


def _common_cards(spot: Spot) -> Iterator[tuple[int, Sequence[int]]]:
    if not spot.board_missing:
        yield 0, spot.board
        return
    for place, card in enumerate(spot.deck):
        yield 1 << place, (card,)


def _deal_on(deals: _Deals, seats: Sequence[Completions], seat: int) -> Outcomes:
    if seat == len(seats):
        return count(deals.leading)
    outcomes: Outcomes = {}
    step = max(1, _PAIRS_AT_ONCE // len(seats[seat].cards))
    for start in range(0, len(deals.used), step):
        part = slice(start, start + step)
        some = _Deals(deals.used[part], deals.best[part], deals.leading[part])
        outcomes = add(outcomes, _deal_on(_dealt(some, seats[seat], seat), seats, seat + 1))
    return outcomes


def _dealt(deals: _Deals, seat: Completions, place: int) -> _Deals:
    """The deals, each with every completion of the next seat that its deck still allows."""
    deal, completion = np.nonzero(deals.used[:, None] & seat.cards == 0)
    value, best = seat.values.take(completion), deals.best.take(deal)
    leading = deals.leading.take(deal)
    leading[value > best] = 0
    leading[value >= best] |= 1 << place
    used = deals.used.take(deal) | seat.cards.take(completion)
    return _Deals(used, np.maximum(value, best), leading)
