"""Exact equity of two stud hands without dealing to both at once.

For a completion A of one hand we want the completions B of the other that share no card with it
and are worth less. Inclusion and exclusion turns that into counts over all B: those that hold a
set S of cards are added for every S within A of an even size and subtracted for an odd one.
Third street has 18 billion deals; it takes 16 such counts for each of 163,185 completions.
"""

from __future__ import annotations

from itertools import combinations
from math import comb
from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from daemon.odds.completions import Completions
    from daemon.odds.outcomes import Outcomes
    from daemon.odds.rank_sums import Ints

_VALUES: Final = 1 << 13


def heads_up(one: Completions, other: Completions, deck: int) -> Outcomes:
    """Who leads over all deals of two completions from so many cards."""
    mine, theirs = one.places.shape[1], other.places.shape[1]
    less = not_more = 0
    for size in range(min(mine, theirs) + 1):
        below, up_to = _pairs_that_share(one, other, size, deck)
        less += (-1) ** size * below
        not_more += (-1) ** size * up_to
    deals = comb(deck, mine) * comb(deck - mine, theirs)
    return {1: less, 2: deals - not_more, 3: not_more - less}


def _pairs_that_share(
    one: Completions, other: Completions, size: int, deck: int
) -> tuple[int, int]:
    """Over all sets of so many cards, pairs that both hold: the other is less, or not more."""
    held = np.sort(_keyed(other, size))
    asked = np.sort(_keyed(one, size))
    holders = comb(deck - size, other.places.shape[1] - size)
    before = int((asked // _VALUES).sum()) * holders
    below = int(np.searchsorted(held, asked, "left").sum())
    up_to = int(np.searchsorted(held, asked, "right").sum())
    return below - before, up_to - before


def _keyed(completions: Completions, size: int) -> Ints:
    """For each set of so many cards within each completion: the set's number, then the value."""
    columns = completions.places.T
    keys = [
        _numbers([columns[place] for place in chosen], len(completions.values)) * _VALUES
        + completions.values
        for chosen in combinations(range(len(columns)), size)
    ]
    return np.concatenate(keys)


def _numbers(columns: list[Ints], rows: int) -> Ints:
    """The number of each ascending set of places among all sets of its size."""
    numbers = np.zeros(rows, np.int64)
    for position, column in enumerate(columns, 1):
        numbers += np.array([comb(place, position) for place in range(52)], np.int64).take(column)
    return numbers
