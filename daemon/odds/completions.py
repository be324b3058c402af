"""The ways in which one stud hand can be completed."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from daemon.odds.values import values

if TYPE_CHECKING:
    from collections.abc import Sequence

    from daemon.odds.rank_sums import Ints, Values


class Completions(NamedTuple):
    """The cards that a seat can still get, and the value of the hand that they complete.

    `places` are ascending places in the deck, shape (completions, cards); `cards` the same as bits.
    """

    places: Ints
    cards: Ints
    values: Values


def completions(
    own: Sequence[int], missing: int, common: Sequence[int], deck: Sequence[int]
) -> Completions:
    """Every completion of a hand from the deck, in the order of combinations."""
    places = np.array(list(combinations(range(len(deck)), missing)), np.int64)
    columns = np.array(deck, np.int64)[places].T
    bits = (np.int64(1) << places).sum(axis=1)
    fixed = [np.full(len(places), card) for card in (*own, *common)]
    return Completions(places, bits, values([*fixed, *columns]))
