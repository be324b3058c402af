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
    """The boards with `size` cards of one suit; `first` is the number of their first suited set.

    `codes` (5 - size, other sets) are those of the other cards as in `BoardClasses`, `classes`
    (suited sets, other sets) the class of each board.
    """

    size: int
    first: int
    codes: Ints
    classes: Ints


@dataclass(frozen=True, eq=False)
class BoardClasses:
    """All tables about boards.

    `codes` (5, classes): for each place rank * 5 + how many of that rank, or 0.
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
    masks = np.array(
        [sum(1 << rank for rank in ranks) for size in _SIZES for ranks in _suited_ranks(size)]
    )
    rows = np.full(1 << 13, NO_FLUSH, np.int64)
    rows[masks] = np.arange(NO_FLUSH)
    triples = np.stack([_place(sets[:, three]) for three in combinations(range(5), 3)])
    return BoardClasses(by_sum, _codes(sets), triples, _suited_triples(masks), kinds, masks, rows)


def _place(sets: Ints) -> Ints:
    return triple_numbers().take((sets[:, 0] * 13 + sets[:, 1]) * 13 + sets[:, 2])


def _codes(sets: Ints) -> Ints:
    codes = np.zeros(sets.T.shape, np.int64)
    for place, here in enumerate(sets.T):
        first = (sets[:, :place] != here[:, None]).all(axis=1)
        number = (sets == here[:, None]).sum(axis=1)
        codes[place, first] = (here * 5 + number)[first]
    return codes


def _suited_ranks(size: int) -> list[tuple[int, ...]]:
    return list(combinations(range(13), size))


def _suited(by_sum: RankSums, size: int) -> Suited:
    first = sum(len(_suited_ranks(smaller)) for smaller in _SIZES if smaller < size)
    others = _sets(5 - size)
    sums = RANK_KEYS[np.array(_suited_ranks(size))].sum(axis=1)
    classes = by_sum.of(sums[:, None] + RANK_KEYS[others].sum(axis=1)).astype(np.int64)
    return Suited(size, first, _codes(others), classes)


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

    `plain` has the shape (6175,), each of the four of `flush` (2289,), the last value being that
    of "no set"; `needs` is how many board cards of each suit a flush takes at least.
    """

    plain: Values
    flush: Sequence[Values]
    needs: tuple[int, ...]


@cache
def _holdem_plain() -> Values:
    """Values of (two own ranks, class)."""
    own = RANK_KEYS[pairs()].sum(axis=1)
    board = RANK_KEYS[rank_sets(5)].sum(axis=1)
    return unsuited(7).of(own[:, None] + board)


@cache
def _holdem_flush(own: int) -> Values:
    """The flushes of own cards of a suit (ranks as bits) with each suited set of the board."""
    flush = np.zeros(NO_FLUSH + 1, np.int16)
    flush[:NO_FLUSH] = suited().take(board_classes().suited_masks | own)
    return flush


@cache
def omaha_plain() -> Values:
    """Values of (two own ranks, three ranks of the board)."""
    return unsuited(5).of(RANK_KEYS[pairs()].sum(axis=1)[:, None] + triple_sums())


@cache
def _omaha_flush(own: int) -> Values:
    """The flushes of two own cards of a suit (ranks as bits) with three of each suited set."""
    tables = board_classes()
    flush = np.zeros(NO_FLUSH + 1, np.int16)
    threes = suited().take(tables.suited_masks[: tables.suited[1].first] | own)
    flush[:NO_FLUSH] = threes.take(tables.suited_triples).max(axis=0)
    return flush


def holdem_seat(own: Sequence[int]) -> SeatValues:
    """The best five of two own cards and the board."""
    plain = _holdem_plain()[_pair(own[0] >> 2, own[1] >> 2)]
    held = _by_suit(own)
    flush = [_holdem_flush(sum(bits)) for bits in held]
    return SeatValues(plain, flush, tuple(5 - len(bits) for bits in held))


def omaha_seat(own: Sequence[int]) -> SeatValues:
    """The best of exactly two of four own cards and three of the board."""
    rows = [_pair(one >> 2, other >> 2) for one, other in combinations(own, 2)]
    plain = omaha_plain()[rows].max(axis=0).take(board_classes().triples).max(axis=0)
    none = np.zeros(NO_FLUSH + 1, np.int16)
    flush: list[Values] = []
    for held in _by_suit(own):
        pairs_held = [_omaha_flush(sum(two)) for two in combinations(held, 2)]
        flush.append(np.maximum.reduce(pairs_held) if pairs_held else none)
    return SeatValues(plain, flush, tuple(3 if len(held) > 1 else 6 for held in _by_suit(own)))


def _pair(one: int, other: int) -> int:
    return int(pair_numbers()[one * 13 + other])


def _by_suit(cards: Sequence[int]) -> list[list[int]]:
    return [[1 << (card >> 2) for card in cards if card & 3 == suit] for suit in range(4)]
