from __future__ import annotations

import numpy as np

from daemon.odds import board_classes as boards
from daemon.odds.omaha import _suited_pairs
from daemon.odds.rank_sums import RANK_KEYS, rank_sets
from daemon.odds.values import suited, unsuited


def test_sums_of_keys_tell_sets_of_ranks_apart():
    for size, number in ((5, 6175), (6, 18395), (7, 49205)):
        sets = rank_sets(size)
        assert len(sets) == number
        assert len(np.unique(RANK_KEYS[sets].sum(axis=1))) == number


def test_every_board_belongs_to_a_class_and_suited_boards_to_a_set():
    tables = boards.board_classes()
    sets = rank_sets(5)
    assert (tables.by_sum.of(RANK_KEYS[sets].sum(axis=1)) == np.arange(boards.CLASSES)).all()
    sizes = [mask.bit_count() for mask in tables.suited_masks.tolist()]
    assert [sizes.count(size) for size in (3, 4, 5)] == [286, 715, 1287]
    assert (tables.suited_row[tables.suited_masks] == np.arange(boards.NO_FLUSH)).all()


def test_tables_stay_below_25_megabytes():
    tables = boards.board_classes()
    arrays = [suited(), _suited_pairs(), boards._holdem_plain(), boards.omaha_plain()]
    arrays += [tables.codes, tables.triples, tables.suited_triples, tables.suited_row]
    arrays += [boards.triple_numbers(), boards.pair_numbers(), boards.triple_sums()]
    arrays += [kind.classes for kind in tables.suited]
    total = sum(array.nbytes for array in arrays) + tables.by_sum.nbytes
    total += sum(unsuited(size).nbytes for size in (5, 6, 7))
    assert 1_000_000 < total < 25_000_000
