"""Equity over deals at random."""

from __future__ import annotations

from time import monotonic
from typing import TYPE_CHECKING, Final

import numpy as np

from daemon.odds.omaha import omaha_values
from daemon.odds.outcomes import Outcomes, add, count, leaders, standard_error
from daemon.odds.values import key_total, values

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from daemon.odds.rank_sums import Ints, Values
    from daemon.odds.spot import Spot
    from daemon.odds.values import Columns

BATCH: Final = 1 << 13


def sample(spot: Spot, target_error: float, budget_s: float | None, seed: int) -> Outcomes:
    """Who leads in deals at random, in batches of `BATCH` deals.

    It ends when no seat's standard error is above `target_error`, or after the batch in which
    `budget_s` seconds have passed. Without a budget the outcome depends on the seed alone.
    """
    rng = np.random.default_rng(seed)
    end = None if budget_s is None else monotonic() + budget_s
    outcomes: Outcomes = {}
    while True:
        outcomes = add(outcomes, count(leaders(_seat_values(spot, _deal(rng, spot)))))
        if standard_error(len(spot.seats), outcomes) <= target_error:
            return outcomes
        if end is not None and monotonic() >= end:
            return outcomes


def _deal(rng: np.random.Generator, spot: Spot) -> Iterator[Ints]:
    """Columns of cards from the deck, no two alike in a deal (Fisher and Yates)."""
    deck = np.repeat(np.array(spot.deck, np.uint8), BATCH)
    deals = np.arange(BATCH)
    for place in range(sum(spot.own_missing) + spot.board_missing):
        picked = rng.integers(place, len(spot.deck), BATCH)
        picked *= BATCH
        picked += deals
        yield deck.take(picked).astype(np.int64)
        deck[picked] = deck[place * BATCH : (place + 1) * BATCH]


def _seat_values(spot: Spot, cards: Iterator[Ints]) -> Sequence[Values]:
    board: Columns = [*spot.board, *(next(cards) for _ in range(spot.board_missing))]
    owned: list[Columns] = [
        [*own, *(next(cards) for _ in range(missing))]
        for own, missing in zip(spot.own, spot.own_missing, strict=True)
    ]
    if spot.discipline == "omaha":
        table = [np.broadcast_to(np.asarray(card), (BATCH,)) for card in board]
        return [omaha_values(own, table) for own in owned]
    shared = key_total(board)
    return [_value(own, board, key_total(own) + shared) for own in owned]


def _value(own: Columns, board: Columns, total: Ints | int) -> Values:
    found = values([*own, *board], np.atleast_1d(total))
    return np.broadcast_to(found, (BATCH,))
