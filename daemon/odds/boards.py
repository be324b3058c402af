"""Exact equity in hold'em and Omaha, boards counted by classes."""

from __future__ import annotations

from functools import cache
from itertools import combinations
from math import comb
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from daemon.odds.board_classes import CLASSES, NO_FLUSH, board_classes
from daemon.odds.outcomes import Outcomes, Weights, count, leaders
from daemon.odds.values import card_bits, key_total

if TYPE_CHECKING:
    from collections.abc import Sequence

    from daemon.odds.board_classes import SeatValues, Suited
    from daemon.odds.rank_sums import Ints, Values

_SUMS: Final = (1 << 32) - 1
_CHOOSE: Final[Weights] = np.array([[comb(n, k) for k in range(5)] for n in range(5)], np.float64)


class _Block(NamedTuple):
    """Boards with so many cards of a suit in which a seat can have a flush with them.

    `sets` are the numbers of suited sets, `weights` in how many ways the other cards can fall;
    the boards (sets, weights) are a slice of all boards.
    """

    kind: Suited
    suit: int
    sets: Ints
    weights: Weights
    place: slice


def all_boards(seats: Sequence[SeatValues], deck: Sequence[int]) -> Outcomes:
    """Who leads over all boards of five from the cards of `deck`.

    First come the blocks of suited boards, then each class with the boards that no block has.
    """
    grid = np.bincount(np.array(deck, np.int64), minlength=52).reshape(13, 4)
    blocks = _blocks(seats, grid)
    suited = blocks[-1].place.stop if blocks else 0
    classes = np.empty(suited + CLASSES, np.int64)
    weights = np.empty(suited + CLASSES)
    for block in blocks:
        shape = (len(block.sets), len(block.weights))
        rows = block.sets - block.kind.first
        block.kind.classes.take(rows, 0, classes[block.place].reshape(shape), "clip")
        weights[block.place].reshape(shape)[:] = block.weights
    classes[suited:] = np.arange(CLASSES)
    weights[suited:] = _ways(grid.sum(axis=1), board_classes().codes)
    weights[suited:] -= np.bincount(classes[:suited], weights[:suited], CLASSES)
    return count(leaders([_values(seat, classes, blocks) for seat in seats]), weights)


def _ways(left: Ints, codes: Ints) -> Weights:
    """In how many ways so many cards of each rank make up each set of ranks."""
    return np.asarray(_CHOOSE[left].take(codes).prod(axis=0))


def _blocks(seats: Sequence[SeatValues], deck: Ints) -> list[_Block]:
    tables = board_classes()
    left = deck.sum(axis=1)
    missing = (1 - deck.T) @ (1 << np.arange(13))
    blocks: list[_Block] = []
    start = 0
    for suit in range(4):
        needed = min(seat.needs[suit] for seat in seats)
        sets = np.flatnonzero(tables.suited_masks & missing[suit] == 0)
        ends = np.searchsorted(sets, [*(kind.first for kind in tables.suited), NO_FLUSH])
        for kind, first, last in zip(tables.suited, ends, ends[1:], strict=False):
            if kind.size < needed:
                continue
            weights = _ways(left - deck[:, suit], kind.codes)
            end = start + int(last - first) * len(weights)
            blocks.append(_Block(kind, suit, sets[first:last], weights, slice(start, end)))
            start = end
    return blocks


def _values(seat: SeatValues, classes: Ints, blocks: Sequence[_Block]) -> Values:
    values = seat.plain.take(classes)
    for block in blocks:
        if block.kind.size >= seat.needs[block.suit]:
            boards = values[block.place].reshape(len(block.sets), len(block.weights))
            np.maximum(boards, seat.flush[block.suit].take(block.sets)[:, None], out=boards)
    return values


def boards_from(seats: Sequence[SeatValues], board: Sequence[int], deck: Sequence[int]) -> Outcomes:
    """Who leads over all boards that complete a board of three to five cards."""
    left = np.array(deck, np.int64)
    columns = [*board, *left.take(_choices(len(deck), 5 - len(board)))]
    tables = board_classes()
    classes = tables.by_sum.of(np.atleast_1d(key_total(columns)) & _SUMS).astype(np.int64)
    bits = card_bits(columns)
    sets = [tables.suited_row.take(bits >> 16 * suit & 0x1FFF) for suit in range(4)]
    return count(leaders([_board_values(seat, classes, sets) for seat in seats]))


@cache
def _choices(cards: int, wanted: int) -> Ints:
    """Columns of the places of all choices of `wanted` cards."""
    places = np.array(list(combinations(range(cards), wanted)), np.int64)
    return np.ascontiguousarray(places.T)


def _board_values(seat: SeatValues, classes: Ints, sets: Sequence[Ints]) -> Values:
    values = seat.plain.take(classes)
    for flush, numbers in zip(seat.flush, sets, strict=True):
        np.maximum(values, flush.take(numbers), out=values)
    return values
