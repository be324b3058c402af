"""Values of five to seven cards in bulk: 7463 less the rank, so that more is better, 0 is nothing.

Cards are the numbers of `daemon.rules.cards` (rank * 4 + suit). A column is the same place of many
hands: an array of cards, or one number where all hands have the same card.
"""

from __future__ import annotations

from functools import cache
from itertools import combinations
from typing import TYPE_CHECKING, Final, TypeAlias

import numpy as np

from daemon.odds.rank_sums import RANK_KEYS, Ints, RankSums, Values, rank_sets, rank_sums
from daemon.rules.classes import classes

if TYPE_CHECKING:
    from collections.abc import Sequence

Column: TypeAlias = "Ints | int"
Columns: TypeAlias = "Sequence[Column]"

WORST: Final = 7463
_SUMS: Final = (1 << 32) - 1
_FIVE_OF_A_SUIT: Final = 0x8888 << 32
_NO_CARDS: Final = 0x3333 << 32

_CARDS: Final = np.arange(52, dtype=np.int64)
CARD_KEYS: Final[Ints] = RANK_KEYS[_CARDS >> 2] + (np.int64(1) << (32 + 4 * (_CARDS & 3)))
CARD_BITS: Final[Ints] = np.int64(1) << (16 * (_CARDS & 3) + (_CARDS >> 2))
CARD_KEYS.setflags(write=False)
CARD_BITS.setflags(write=False)


@cache
def unsuited(size: int) -> RankSums:
    """The values of `size` cards (5 to 7) that hold no flush, by their ranks."""
    sets = rank_sets(size)
    if size == 5:
        known = classes().unsuited
        ranks = np.array(list(known), np.int64)
        return rank_sums(ranks, (WORST - np.array(list(known.values()))).astype(np.int16))
    fives = unsuited(5)
    values = np.zeros(len(sets), np.int16)
    for columns in combinations(range(size), 5):
        np.maximum(values, fives.of(RANK_KEYS[sets[:, columns]].sum(axis=1)), out=values)
    return rank_sums(sets, values)


@cache
def suited() -> Values:
    """The value of the flush among a suit's ranks, by their bits; 0 for fewer than five."""
    values = np.zeros(1 << 13, np.int16)
    for ranks, rank in classes().suited.items():
        values[sum(1 << place for place in ranks)] = WORST - rank
    sizes = np.array([mask.bit_count() for mask in range(1 << 13)])
    for bits in range(6, 14):
        larger = np.flatnonzero(sizes == bits)
        for place in range(13):
            without = larger[larger >> place & 1 == 1]
            values[without] = np.maximum(values[without], values[without ^ (1 << place)])
    values.setflags(write=False)
    return values


def key_total(columns: Columns) -> Column:
    """The sum of the cards' keys: a number where no column is an array."""
    fixed = sum(int(CARD_KEYS[card]) for card in columns if isinstance(card, int))
    arrays = [CARD_KEYS.take(card) for card in columns if not isinstance(card, int)]
    if not arrays:
        return fixed
    total = arrays[0]
    total += fixed
    for keys in arrays[1:]:
        total += keys
    return total


def values(columns: Columns, total: Column | None = None) -> Values:
    """The value of each hand of five to seven columns, at least one of them an array.

    `total` is the columns' `key_total` where it is known already. Cards are not checked.
    """
    totals = np.asarray(key_total(columns) if total is None else total) + _NO_CARDS
    found = unsuited(len(columns)).of(totals & _SUMS)
    flushes = np.flatnonzero(totals & _FIVE_OF_A_SUIT)
    if flushes.size:
        found[flushes] = flush_values(at(columns, flushes))
    return found


def flush_values(columns: Columns) -> Values:
    """The value of the best flush of each hand; 0 where it has none."""
    bits = card_bits(columns)
    best = suited().take(bits & 0x1FFF)
    for suit in range(1, 4):
        np.maximum(best, suited().take(bits >> 16 * suit & 0x1FFF), out=best)
    return best


def card_bits(columns: Columns) -> Ints:
    """A bit for each card, at 16 * suit + rank; one row where no column is an array."""
    bits = np.zeros(1, np.int64)
    for column in columns:
        bits = bits | CARD_BITS[column]
    return bits


def at(columns: Columns, rows: Ints) -> Columns:
    """The columns at some rows only."""
    return [card if isinstance(card, int) else card.take(rows) for card in columns]
