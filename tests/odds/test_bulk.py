from __future__ import annotations

import random
from itertools import combinations

import numpy as np
import phevaluator
import pytest
import treys

from daemon.errors import FeltdError
from daemon.odds.bulk import ranks
from daemon.rules.cards import DECK
from daemon.rules.classes import classes

FIVE = {
    "royal-flush": 4,
    "straight-flush": 36,
    "four-of-a-kind": 624,
    "full-house": 3744,
    "flush": 5108,
    "straight": 10200,
    "three-of-a-kind": 54912,
    "two-pair": 123552,
    "pair": 1098240,
    "high-card": 1302540,
}


def test_all_hands_of_five_cards_fall_into_their_categories():
    hands = np.fromiter(combinations(range(52), 5), np.dtype((np.uint8, 5)), 2598960)
    counts = np.bincount(ranks(hands), minlength=7463)
    assert counts[0] == 0
    assert counts[1:].min() > 0
    found = dict.fromkeys(FIVE, 0)
    for rank, number in enumerate(counts[1:].tolist()):
        found[classes().best_first[rank].category] += number
    assert found == FIVE


@pytest.mark.parametrize("size", [5, 6, 7])
def test_random_hands_rank_as_phevaluator_and_treys_rank_them(size):
    rng = random.Random(size)
    hands = [rng.sample(range(52), size) for _ in range(12_000)]
    found = ranks(np.array(hands, np.uint8)).tolist()
    judge = treys.Evaluator()
    for hand, rank in zip(hands, found, strict=True):
        cards = [DECK[card] for card in hand]
        assert rank == phevaluator.evaluate_cards(*cards), cards
        if size == 7:
            numbers = [treys.Card.new(card) for card in cards]
            assert rank == judge.evaluate(numbers[:2], numbers[2:]), cards


def test_hands_rich_in_flushes_and_pairs_rank_as_phevaluator_ranks_them():
    rng = random.Random(8)
    narrow = [card for card in range(52) if card & 3 == 1 or card >> 2 in {3, 4, 12}]
    hands = [rng.sample(narrow, 7) for _ in range(12_000)]
    found = ranks(np.array(hands, np.uint8)).tolist()
    for hand, rank in zip(hands, found, strict=True):
        assert rank == phevaluator.evaluate_cards(*(DECK[card] for card in hand)), hand


def test_no_hands_have_no_ranks():
    assert ranks(np.empty((0, 7), np.uint8)).shape == (0,)


@pytest.mark.parametrize("shape", [(3, 4), (3, 8), (7,)])
def test_other_shapes_are_refused(shape):
    with pytest.raises(FeltdError, match="five to seven cards a row"):
        ranks(np.zeros(shape, np.uint8))


def test_numbers_that_are_no_cards_are_refused():
    with pytest.raises(FeltdError, match="52 is no card's number"):
        ranks(np.array([[0, 1, 2, 3, 52]], np.uint8))
