"""Values of sets of ranks, found by adding up one key for each card.

The keys are the least whole numbers for which the sums of up to seven ranks, four of each at most,
differ. The sums spread thinly over eight million numbers, so the table is cut into rows that are
laid over each other where their gaps allow (Tarjan and Yao, "Storing a sparse table", 1979): it
then fits a processor's own cache.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations_with_replacement
from typing import TYPE_CHECKING, Final, TypeAlias

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from collections.abc import Iterable

Ints: TypeAlias = npt.NDArray[np.int64]
Values: TypeAlias = npt.NDArray[np.int16]

_KEYS: Final = (0, 1, 5, 22, 98, 453, 2031, 8698, 22854, 83661, 262349, 636345, 1479181)
_ROW_BITS: Final = 9

RANK_KEYS: Final[Ints] = np.array(_KEYS, np.int64)
RANK_KEYS.setflags(write=False)


def rank_sets(size: int) -> Ints:
    """All sets of `size` ranks (0 to 12) with at most four of each, shape (sets, size)."""
    rows = np.array(list(combinations_with_replacement(range(13), size)), np.int64)
    too_many = (rows[:, : size - 4] == rows[:, 4:]).any(axis=1)
    return np.ascontiguousarray(rows[~too_many])


@dataclass(frozen=True, eq=False)
class RankSums:
    """A value for each set of one size, by the sum of its `RANK_KEYS`."""

    starts: Ints
    values: Values

    def of(self, sums: Ints) -> Values:
        """The values at these sums; at a sum that no four suits allow, any value."""
        places = self.starts.take(sums >> _ROW_BITS)
        places += sums
        return self.values.take(places)

    @property
    def nbytes(self) -> int:
        """The bytes that the table occupies."""
        return self.starts.nbytes + self.values.nbytes


def rank_sums(sets: Ints, values: Values) -> RankSums:
    """The table that gives `values` (one for each row of `sets`) by sums of keys."""
    sums = RANK_KEYS[sets].sum(axis=1)
    rows = (sets.shape[1] * int(RANK_KEYS[-1]) >> _ROW_BITS) + 1
    starts = -(np.arange(rows, dtype=np.int64) << _ROW_BITS)
    for row, start in _laid_over_each_other(sums.tolist()):
        starts[row] += start
    places = starts[sums >> _ROW_BITS] + sums
    table = np.zeros(int(places.max()) + (1 << _ROW_BITS), np.int16)
    table[places] = values
    return RankSums(starts, table)


def _laid_over_each_other(sums: list[int]) -> Iterable[tuple[int, int]]:
    """The start of each row in the common table, fullest row first, each at the first fit."""
    rows: dict[int, list[int]] = {}
    for total in sums:
        rows.setdefault(total >> _ROW_BITS, []).append(total & ((1 << _ROW_BITS) - 1))
    used = 0
    for row, columns in sorted(rows.items(), key=lambda item: -len(item[1])):
        taken = 0
        for column in columns:
            taken |= used >> column
        start = (~taken & (taken + 1)).bit_length() - 1
        used |= sum(1 << column for column in columns) << start
        yield row, start
