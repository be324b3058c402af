"""Ranks of many hands at once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np
import numpy.typing as npt

from daemon.errors import FeltdError
from daemon.odds.values import WORST, values

if TYPE_CHECKING:
    from daemon.odds.rank_sums import Values

_BATCH: Final = 1 << 14


def ranks(hands: npt.NDArray[np.uint8]) -> Values:
    """The rank (1 to 7462, less is better) of each hand.

    `hands` has the shape (hands, 5 to 7) and holds numbers of different cards, rank * 4 + suit
    with clubs 0 to spades 3. Whether the cards of a hand differ is not checked.
    Raises FeltdError for another shape or a number beyond 51.
    """
    if hands.ndim != 2 or not 5 <= hands.shape[1] <= 7:
        raise FeltdError(f"hands of shape {hands.shape}: five to seven cards a row are wanted")
    if hands.size and int(hands.max()) > 51:
        raise FeltdError(f"{int(hands.max())} is no card's number (0 to 51)")
    found = np.empty(len(hands), np.int16)
    for start in range(0, len(hands), _BATCH):
        columns = np.ascontiguousarray(hands[start : start + _BATCH].T).astype(np.int64)
        np.subtract(WORST, values(list(columns)), out=found[start : start + _BATCH])
    return found
