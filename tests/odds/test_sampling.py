from __future__ import annotations

import random

import numpy as np
import phevaluator
import pytest

from daemon.odds import equity
from daemon.odds.omaha import omaha_values
from daemon.odds.outcomes import sampled_equity
from daemon.odds.sampling import BATCH, sample
from daemon.odds.spot import checked_spot
from daemon.rules.cards import DECK, parse_cards

SIGMAS = 4.5


def assert_near(sampled, exact):
    """Every share within so many standard errors, each from its own exact probability."""
    assert not sampled.exact
    for got, true in zip(sampled.seats, exact.seats, strict=True):
        for share, probability in ((got.win, true.win), (got.tie, true.tie)):
            sigma = max(probability * (1 - probability), 1 / sampled.deals) / sampled.deals
            assert abs(share - probability) <= SIGMAS * sigma**0.5
        assert abs(got.equity - true.equity) <= SIGMAS * sampled.error


@pytest.mark.parametrize(
    ("discipline", "texts", "board"),
    [
        ("holdem", ("AhAs", "KdKc"), ""),
        ("holdem", ("AhKh", "QdQc", "7s6s"), "8s9h2h"),
        ("omaha", ("AhAsKdQd", "9c8c7h6h"), ""),
        ("omaha", ("AhAsKhKs", "JdTd9c8c", "5s6s7d8d"), "Qd9h2c"),
        ("stud", ("AhAs2d7c9s", "KhKs3d8cTs"), ""),
        ("stud", ("AhAs2d7c9s", "KhKs3d8cTs"), "2c"),
        ("stud", ("AhAs2d7c", "KhKs3d8c"), ""),
        ("stud", ("AhJh2h", "KhKs3d"), ""),
        ("stud", ("AhAs2d7c9s4c", "KhKs3d8cTs5h", "QdJd9d8d2c3c"), ""),
    ],
)
def test_dealing_at_random_comes_near_the_exact_answer(hands, discipline, texts, board):
    known, table = hands(*texts), parse_cards(board)
    asked = checked_spot(discipline, known, table, ())
    outcomes = sample(asked, target_error=0.0012, budget_s=None, seed=7)
    assert_near(sampled_equity(asked.seats, outcomes), equity(discipline, known, table))


def test_a_short_stub_is_sampled_with_its_common_card(deal):
    known, _ = deal(random.Random(3), 8, 6)
    asked = checked_spot("stud", known, (), ())
    outcomes = sample(asked, target_error=0.0015, budget_s=None, seed=1)
    assert_near(sampled_equity(asked.seats, outcomes), equity("stud", known))


@pytest.mark.parametrize(
    ("discipline", "mine", "board"),
    [("holdem", "QhQd", "2c7d9hJs3s"), ("holdem", "8h7h", "6h5hKdKs2c")],
)
def test_an_unknown_hand_is_any_hand_that_is_left(hands, discipline, mine, board):
    own, table = parse_cards(mine), parse_cards(board)
    left = [card for card in DECK if card not in own + table]
    exact = [
        equity(discipline, {1: own, 2: [one, other]}, table).seats[0].equity
        for place, one in enumerate(left)
        for other in left[place + 1 :]
    ]
    found = equity(discipline, {1: own, 2: None}, table, target_error=0.002)
    assert not found.exact
    assert abs(found.seats[0].equity - sum(exact) / len(exact)) <= SIGMAS * found.error


def test_a_half_known_hand_is_completed_from_the_deck(hands):
    own, table = parse_cards("QhQd"), parse_cards("2c7d9hJs3s")
    left = [card for card in DECK if card not in [*own, *table, "As"]]
    exact = [equity("holdem", {1: own, 2: ["As", card]}, table).seats[1].equity for card in left]
    found = equity("holdem", {1: own, 2: ["As", "??"]}, table)
    assert abs(found.seats[1].equity - sum(exact) / len(exact)) <= SIGMAS * found.error


@pytest.mark.parametrize("discipline", ["holdem", "omaha", "stud"])
def test_hands_that_nobody_knows_are_worth_the_same(discipline):
    found = equity(discipline, dict.fromkeys(range(1, 5)), target_error=0.002)
    assert not found.exact
    for seat in found.seats:
        assert abs(seat.equity - 0.25) <= SIGMAS * found.error
    assert sum(seat.equity for seat in found.seats) == pytest.approx(1)


def test_the_seed_decides_and_the_target_is_kept(deal):
    known, _ = deal(random.Random(2), 8, 3)
    first = equity("stud", known, target_error=0.003, seed=5)
    assert first == equity("stud", known, target_error=0.003, seed=5)
    assert first != equity("stud", known, target_error=0.003, seed=6)
    assert first.error <= 0.003
    assert first.deals < equity("stud", known, target_error=0.001, seed=5).deals


def test_a_spent_budget_ends_after_one_batch(deal):
    known, _ = deal(random.Random(2), 8, 3)
    found = equity("stud", known, budget_s=0.0, target_error=1e-9)
    assert found.deals == BATCH
    assert found.error > 0.001


def test_certainty_that_was_only_sampled_is_not_stated_as_certain(hands):
    found = equity("holdem", {1: parse_cards("AsKs"), 2: None}, parse_cards("QsJsTs2d3d"))
    assert found.seats[0].win == 1
    assert found.error == pytest.approx(1 / found.deals)


def test_omaha_hands_at_random_rank_as_phevaluator_ranks_them():
    rng = random.Random(1)
    deals = [rng.sample(range(52), 9) for _ in range(10_000)]
    narrow = [card for card in range(52) if card & 3 == 2 or card >> 2 in {0, 12}]
    deals += [rng.sample(narrow, 9) for _ in range(10_000)]
    columns = list(np.array(deals, np.int64).T)
    found = omaha_values(columns[:4], columns[4:]).tolist()
    for cards, value in zip(deals, found, strict=True):
        names = [DECK[card] for card in cards]
        assert 7463 - value == phevaluator.evaluate_omaha_cards(*names[4:], *names[:4]), names


def test_a_known_omaha_hand_has_the_values_of_its_columns():
    rng = random.Random(4)
    own = rng.sample(range(52), 4)
    left = [card for card in range(52) if card not in own]
    board = list(np.array([rng.sample(left, 5) for _ in range(2_000)], np.int64).T)
    columns = [np.full(2_000, card) for card in own]
    assert (omaha_values(own, board) == omaha_values(columns, board)).all()
