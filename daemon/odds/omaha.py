"""Values of Omaha hands in bulk: exactly two of four own cards and three of the board."""

from __future__ import annotations

from functools import cache
from itertools import combinations
from typing import TYPE_CHECKING, Final

import numpy as np

from daemon.odds.board_classes import (
    board_classes,
    omaha_plain,
    pair_numbers,
    triple_numbers,
)
from daemon.odds.values import at, card_bits, suited

if TYPE_CHECKING:
    from daemon.odds.rank_sums import Ints, Values
    from daemon.odds.values import Columns

_OTHER_SUIT: Final = 1 << 13
_TRIPLES: Final = 455


@cache
def _suited_pairs() -> Values:
    """`suited`, and 0 for every set with a card of another suit in it."""
    return np.concatenate([suited(), np.zeros(1 << 13, np.int16)])


@cache
def _set_sizes() -> Ints:
    return np.array([mask.bit_count() for mask in range(1 << 13)], np.int64)


def omaha_values(own: Columns, board: Columns) -> Values:
    """The value of each hand; `own` are four columns, `board` five, which must be arrays."""
    best = _plain(own, board)
    own_bits, board_bits = card_bits(own), card_bits(board)
    for suit in range(4):
        mine, theirs = own_bits >> 16 * suit & 0x1FFF, board_bits >> 16 * suit & 0x1FFF
        possible = (_set_sizes().take(mine) >= 2) & (_set_sizes().take(theirs) >= 3)
        rows = np.flatnonzero(possible)
        if rows.size:
            flushes = _flushes(at(own, rows), theirs.take(rows), suit)
            best[rows] = np.maximum(best[rows], flushes)
    return best


def _plain(own: Columns, board: Columns) -> Values:
    ranks = [np.asarray(card) >> 2 for card in board]
    threes = [
        triple_numbers().take((one * 13 + two) * 13 + three)
        for one, two, three in combinations(ranks, 3)
    ]
    table = omaha_plain()
    numbers = [
        pair_numbers()[(one >> 2) * 13 + (other >> 2)] for one, other in combinations(own, 2)
    ]
    if all(isinstance(card, int) for card in own):
        known = table[[int(number) for number in numbers]].max(axis=0)
        return np.asarray(np.maximum.reduce([known.take(three) for three in threes]))
    best = np.zeros(threes[0].shape, np.int16)
    for number in numbers:
        start = number * _TRIPLES
        for three in threes:
            np.maximum(best, table.take(start + three), out=best)
    return best


def _flushes(own: Columns, board: Ints, suit: int) -> Values:
    """The best flush of hands with two cards of a suit on boards with three (sets as bits)."""
    tables = board_classes()
    threes = tables.suited_masks.take(tables.suited_triples[:, tables.suited_row.take(board)])
    bits = [
        np.where(np.asarray(card) & 3 == suit, 1 << (np.asarray(card) >> 2), _OTHER_SUIT)
        for card in own
    ]
    best = np.zeros(len(board), np.int16)
    for one, other in combinations(bits, 2):
        np.maximum(best, _suited_pairs().take(threes | one | other).max(axis=0), out=best)
    return best
