"""The classes into which boards of five cards fall, and what a seat's cards are worth on each.

Without a flush a board counts by its five ranks: 6,175 classes. A flush needs three or more board
cards of one suit: 2,288 sets of ranks. Values are those of `daemon.odds.values`.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from itertools import combinations, combinations_with_replacement, product
from typing import TYPE_CHECKING, Final

import numpy as np

from daemon.odds.rank_sums import RANK_KEYS, Ints, RankSums, Values, rank_sets, rank_sums
from daemon.odds.values import suited, unsuited

if TYPE_CHECKING:
    from collections.abc import Sequence

CLASSES: Final = 6175
NO_FLUSH: Final = 2288
_SIZES: Final = (3, 4, 5)


@dataclass(frozen=True, eq=False)
class Suited:
    """The boards with `size` cards of one suit.

    `rows` are the numbers of their suited sets, `masks` the ranks as bits, `others` the possible
    ranks of the other cards (other sets, 5 - size), `classes` the class of each (row, other set).
    """

    size: int
    rows: slice
    masks: Ints
    others: Ints
    classes: Ints


@dataclass(frozen=True, eq=False)
class BoardClasses:
    """All tables about boards.

    `codes` (5, classes): for each place rank * 5 + how many of that rank, or 65 for none.
    `triples` (10, classes): the numbers of the three-card sets within a class.
    `suited_triples` (10, suited sets): the same within a suited set, some of them repeated.
    """

    by_sum: RankSums
    codes: Ints
    triples: Ints
    suited_triples: Ints
    suited: tuple[Suited, ...]
    suited_masks: Ints
    suited_row: Ints


@cache
def pairs() -> Ints:
    """The 91 sets of two ranks, shape (91, 2)."""
    return _sets(2)


@cache
def triple_sums() -> Ints:
    """The key sums of the 455 sets of three ranks."""
    return np.asarray(RANK_KEYS[_sets(3)].sum(axis=1))


@cache
def pair_numbers() -> Ints:
    """The number of a set of two ranks at rank * 13 + rank."""
    return _numbers(pairs())


@cache
def triple_numbers() -> Ints:
    """The number of a set of three ranks at (rank * 13 + rank) * 13 + rank."""
    return _numbers(_sets(3))


def _sets(size: int) -> Ints:
    return np.array(list(combinations_with_replacement(range(13), size)), np.int64)


def _numbers(sets: Ints) -> Ints:
    places = {tuple(ranks): number for number, ranks in enumerate(sets.tolist())}
    every = product(range(13), repeat=sets.shape[1])
    return np.array([places[tuple(sorted(ranks))] for ranks in every], np.int64)


@cache
def board_classes() -> BoardClasses:
    """The tables, made at the first call."""
    sets = rank_sets(5)
    by_sum = rank_sums(sets, np.arange(CLASSES, dtype=np.int16))
    kinds = tuple(_suited(by_sum, size) for size in _SIZES)
    masks = np.concatenate([kind.masks for kind in kinds])
    rows = np.full(1 << 13, NO_FLUSH, np.int64)
    rows[masks] = np.arange(NO_FLUSH)
    triples = np.stack([_place(sets[:, three]) for three in combinations(range(5), 3)])
    return BoardClasses(by_sum, _codes(sets), triples, _suited_triples(masks), kinds, masks, rows)


def _place(sets: Ints) -> Ints:
    return triple_numbers().take((sets[:, 0] * 13 + sets[:, 1]) * 13 + sets[:, 2])


def _codes(sets: Ints) -> Ints:
    codes = np.full((5, len(sets)), 65, np.int64)
    for place in range(5):
        here = sets[:, place]
        first = (sets[:, :place] != here[:, None]).all(axis=1)
        count = (sets == here[:, None]).sum(axis=1)
        codes[place, first] = (here * 5 + count)[first]
    return codes


def _suited(by_sum: RankSums, size: int) -> Suited:
    start = {3: 0, 4: 286, 5: 1001}[size]
    ranks = np.array(list(combinations(range(13), size)), np.int64)
    others = _sets(5 - size) if size < 5 else np.zeros((1, 0), np.int64)
    sums = RANK_KEYS[ranks].sum(axis=1)[:, None] + RANK_KEYS[others].sum(axis=1)
    masks = (1 << ranks).sum(axis=1)
    rows = slice(start, start + len(ranks))
    return Suited(size, rows, masks, others, by_sum.of(sums).astype(np.int64))


def _suited_triples(masks: Ints) -> Ints:
    number = {mask: row for row, mask in enumerate(masks[:286].tolist())}
    triples = np.empty((10, len(masks)), np.int64)
    for row, mask in enumerate(masks.tolist()):
        bits = [1 << rank for rank in range(13) if mask >> rank & 1]
        found = [number[sum(three)] for three in combinations(bits, 3)]
        triples[:, row] = (found * 10)[:10]
    return triples


@dataclass(frozen=True, eq=False)
class SeatValues:
    """What a seat has on every board: without flushes by class, and its flush by suit and set.

    `plain` has the shape (6175,), `flush` (4, 2289), the last column being "no flush here".
    """

    plain: Values
    flush: Values


@cache
def _holdem_plain() -> Values:
    """Values of (two own ranks, class)."""
    own = RANK_KEYS[pairs()].sum(axis=1)
    board = RANK_KEYS[rank_sets(5)].sum(axis=1)
    return unsuited(7).of(own[:, None] + board)


@cache
def omaha_plain() -> Values:
    """Values of (two own ranks, three ranks of the board)."""
    return unsuited(5).of(RANK_KEYS[pairs()].sum(axis=1)[:, None] + triple_sums())


def holdem_seat(own: Sequence[int]) -> SeatValues:
    """The best five of two own cards and the board."""
    masks = board_classes().suited_masks
    flush = np.zeros((4, NO_FLUSH + 1), np.int16)
    for suit, held in enumerate(_by_suit(own)):
        flush[suit, :NO_FLUSH] = suited().take(masks | sum(1 << rank for rank in held))
    return SeatValues(_holdem_plain()[_pair(own[0] >> 2, own[1] >> 2)], flush)


def omaha_seat(own: Sequence[int]) -> SeatValues:
    """The best of exactly two of four own cards and three of the board."""
    tables = board_classes()
    rows = [_pair(one >> 2, other >> 2) for one, other in combinations(own, 2)]
    plain = omaha_plain()[rows].max(axis=0).take(tables.triples).max(axis=0)
    flush = np.zeros((4, NO_FLUSH + 1), np.int16)
    threes = tables.suited[0].masks
    for suit, held in enumerate(_by_suit(own)):
        if len(held) < 2:
            continue
        twos = [1 << one | 1 << other for one, other in combinations(held, 2)]
        best = np.max([suited().take(threes | two) for two in twos], axis=0)
        flush[suit, :NO_FLUSH] = best.take(tables.suited_triples).max(axis=0)
    return SeatValues(plain, flush)


def _pair(one: int, other: int) -> int:
    return int(pair_numbers()[one * 13 + other])


def _by_suit(cards: Sequence[int]) -> list[list[int]]:
    return [[card >> 2 for card in cards if card & 3 == suit] for suit in range(4)]
