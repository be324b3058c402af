"""Exact equity in hold'em and Omaha, boards counted by classes."""

from __future__ import annotations

from itertools import combinations
from math import comb
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from daemon.odds.board_classes import CLASSES, board_classes
from daemon.odds.outcomes import Outcomes, Weights, add, count, leaders
from daemon.odds.values import card_bits, key_total

if TYPE_CHECKING:
    from collections.abc import Sequence

    from daemon.odds.board_classes import SeatValues, Suited
    from daemon.odds.rank_sums import Ints, Values

_SUMS: Final = (1 << 32) - 1


class _Block(NamedTuple):
    """Boards with three or more cards of a suit: (suit, suited sets), classes and weights."""

    parts: list[tuple[int, Ints]]
    classes: Ints
    weights: Weights


def all_boards(seats: Sequence[SeatValues], deck: Sequence[int]) -> Outcomes:
    """Who leads over all boards of five from the cards of `deck`."""
    blocks = [
        block for kind in board_classes().suited if (block := _block(kind, seats, deck)) is not None
    ]
    plain = _class_weights(deck)
    outcomes: Outcomes = {}
    for block in blocks:
        plain -= np.bincount(block.classes, block.weights, CLASSES)
        values = [_block_values(seat, block) for seat in seats]
        outcomes = add(outcomes, count(leaders(values), block.weights))
    return add(outcomes, count(leaders([seat.plain for seat in seats]), plain))


def _class_weights(deck: Sequence[int]) -> Weights:
    """How many boards from the deck are in each class."""
    left = _left(deck)
    choose = [float(comb(number, wanted)) for number in left for wanted in range(5)]
    factors = np.array([*choose, 1.0]).take(board_classes().codes)
    return np.asarray(factors.prod(axis=0))


def _left(cards: Sequence[int]) -> list[int]:
    ranks = [card >> 2 for card in cards]
    return [ranks.count(rank) for rank in range(13)]


def _block(kind: Suited, seats: Sequence[SeatValues], deck: Sequence[int]) -> _Block | None:
    """The boards with so many suited cards, of the suits in which a seat can have a flush."""
    parts: list[tuple[int, Ints]] = []
    weights: list[Weights] = []
    for suit in range(4):
        in_suit = [card for card in deck if card & 3 == suit]
        missing = 0x1FFF ^ sum(1 << (card >> 2) for card in in_suit)
        rows = np.flatnonzero(kind.masks & missing == 0)
        places = rows + kind.rows.start
        if any(seat.flush[suit].take(places).any() for seat in seats):
            parts.append((suit, places))
            others = _other_weights(kind, [card for card in deck if card & 3 != suit])
            weights.append(np.tile(others, len(rows)))
    if not parts:
        return None
    classes = [kind.classes[places - kind.rows.start].ravel() for _, places in parts]
    return _Block(parts, np.concatenate(classes), np.concatenate(weights))


def _other_weights(kind: Suited, others: Sequence[int]) -> Weights:
    """In how many ways the cards of other suits fill each of `kind.others`."""
    left = _left(others)
    found = np.ones(len(kind.others))
    for row, ranks in enumerate(kind.others.tolist()):
        for rank in set(ranks):
            found[row] *= comb(left[rank], ranks.count(rank))
    return found


def _block_values(seat: SeatValues, block: _Block) -> Values:
    values = seat.plain.take(block.classes)
    flushes = np.concatenate([seat.flush[suit].take(places) for suit, places in block.parts])
    table = values.reshape(len(flushes), -1)
    np.maximum(table, flushes[:, None], out=table)
    return values


def boards_from(seats: Sequence[SeatValues], board: Sequence[int], deck: Sequence[int]) -> Outcomes:
    """Who leads over all boards that complete a board of three to five cards."""
    rest = np.array(list(combinations(deck, 5 - len(board))), np.int64)
    columns = [*board, *rest.T]
    tables = board_classes()
    classes = tables.by_sum.of(np.atleast_1d(key_total(columns)) & _SUMS).astype(np.int64)
    bits = card_bits(columns)
    rows = [tables.suited_row.take(bits >> 16 * suit & 0x1FFF) for suit in range(4)]
    return count(leaders([_board_values(seat, classes, rows) for seat in seats]))


def _board_values(seat: SeatValues, classes: Ints, rows: Sequence[Ints]) -> Values:
    values = seat.plain.take(classes)
    for flush, row in zip(seat.flush, rows, strict=True):
        np.maximum(values, flush.take(row), out=values)
    return values
