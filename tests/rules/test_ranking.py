from __future__ import annotations

from collections import Counter
from itertools import combinations, permutations

import phevaluator
import pytest
from hypothesis import given
from hypothesis import strategies as st
from treys import Card, Evaluator

from daemon.rules.cards import DECK, SUITS, number_of, parse_cards, rank_of
from daemon.rules.classes import CATEGORIES, classes
from daemon.rules.errors import CardError, RuleError
from daemon.rules.ranking import evaluate, rank

FIVE_CARD_HANDS = {
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
HANDS = st.integers(5, 7).flatmap(
    lambda size: st.lists(st.sampled_from(DECK), min_size=size, max_size=size, unique=True)
)


def test_all_five_card_hands():
    ranks = Counter(map(rank, combinations(range(52), 5)))
    assert sorted(ranks) == list(range(1, 7463))
    found = Counter()
    for place, number in ranks.items():
        found[classes().best_first[place - 1].category] += number
    assert found == FIVE_CARD_HANDS
    assert tuple(FIVE_CARD_HANDS) == CATEGORIES


@pytest.mark.parametrize("size", [5, 6, 7])
def test_random_hands_rank_as_treys_and_phevaluator_say(size, rng):
    treys = Evaluator()
    for _ in range(10_000):
        numbers = rng.sample(range(52), size)
        cards = [DECK[number] for number in numbers]
        coded = [Card.new(card) for card in cards]
        assert rank(numbers) == treys.evaluate([], coded) == phevaluator.evaluate_cards(*cards)


@given(HANDS)
def test_the_best_five_are_among_the_cards_and_worth_the_same(cards):
    found = evaluate(cards)
    assert set(found.best) <= set(cards)
    assert len(set(found.best)) == 5
    assert rank([number_of(card) for card in found.best]) == found.rank
    assert found.category == classes().best_first[found.rank - 1].category
    ranks = tuple(rank_of(card) for card in found.best)
    assert ranks == classes().best_first[found.rank - 1].ranks


@given(HANDS, st.randoms(use_true_random=False))
def test_the_order_of_cards_changes_nothing(cards, random):
    assert evaluate(random.sample(cards, len(cards))) == evaluate(cards)


@given(HANDS, st.sampled_from(list(permutations(SUITS))))
def test_suits_change_no_rank(cards, suits):
    swapped = [card.translate(str.maketrans(SUITS, "".join(suits))) for card in cards]
    assert evaluate(swapped).rank == evaluate(cards).rank


@pytest.mark.parametrize(
    ("cards", "best"),
    [
        ("Ad 2c 3s 4h 5d Kc Kd", "5d 4h 3s 2c Ad"),
        ("8c Ks 8d Kh Kd 3c 3d", "Ks Kh Kd 8d 8c"),
        ("2h Jh 9h 5h Ah 9c 9d", "Ah Jh 9h 5h 2h"),
        ("5c 5d 5h 2c 2d 2h Ks", "5h 5d 5c 2h 2d"),
        ("Ac Ad 6h 6s 3c 3d Kh", "Ad Ac 6s 6h Kh"),
        ("7c 7d 7h 7s 2c Ac Kd", "7s 7h 7d 7c Ac"),
        ("Qh 4d 9s 9c 2d", "9s 9c Qh 4d 2d"),
    ],
)
def test_the_best_five_are_read_pair_first(cards, best):
    assert evaluate(parse_cards(cards)).best == tuple(parse_cards(best))


def test_an_ace_is_low_in_the_wheel_only():
    assert evaluate(parse_cards("Qd Kc Ah 2s 3d")).category == "high-card"


@pytest.mark.parametrize("cards", ["As Kd Qd Jd", "As Kd Qd Jd Td 9d 8d 7d"])
def test_a_hand_is_found_among_five_to_seven(cards):
    with pytest.raises(RuleError, match="five to seven"):
        evaluate(parse_cards(cards))


def test_a_card_twice_is_no_hand():
    with pytest.raises(CardError, match=r"^As twice$"):
        evaluate(["As", "Kd", "Qd", "Jd", "As"])
