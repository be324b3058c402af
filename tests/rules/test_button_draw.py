from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from daemon.rules.button_draw import button_draw
from daemon.rules.cards import DECK, number_of, rank_of, suit_of
from daemon.rules.errors import RuleError

CASES = ["button-draw.json"]

DRAWS = st.dictionaries(
    st.integers(1, 10), st.sampled_from(DECK).map(lambda card: [card]), min_size=2, max_size=10
).filter(lambda cards: len({held[0] for held in cards.values()}) == len(cards))


def test_case(case):
    result = button_draw({int(seat[4:]): [card] for seat, card in case["input"].items()})
    assert (result.winner, result.card) == (case["expected"]["button"], case["expected"]["card"])


@given(DRAWS)
def test_everybody_is_in_order_of_rank_then_suit(cards):
    result = button_draw(cards)
    assert {entry.seat: [entry.card] for entry in result.order} == cards
    keys = [(rank_of(entry.card), suit_of(entry.card)) for entry in result.order]
    assert keys == sorted(keys, reverse=True)
    assert result.order[0].seat == result.winner


@given(DRAWS)
def test_suits_decide_inside_a_rank_only(cards):
    swap = str.maketrans("cdhs", "shdc")
    swapped = button_draw({seat: [card[0].translate(swap)] for seat, card in cards.items()})
    ranks = [rank_of(entry.card) for entry in button_draw(cards).order]
    assert ranks == [rank_of(entry.card) for entry in swapped.order]
    ties = [number_of(entry.card) for entry in swapped.order]
    assert ties == sorted(ties, reverse=True)


@pytest.mark.parametrize(
    ("cards", "seats", "reason"),
    [
        ({1: ["As"], 2: ["As"]}, (), "As twice"),
        ({1: ["As"], 2: ["Kd", "Qd"]}, (), "seat 2 has two cards, a draw is one card each"),
        ({1: ["As"], 2: []}, (), "seat 2 has no cards, a draw is one card each"),
        ({1: ["As"], 2: ["Kd"]}, (1, 2, 3), "seat 3 has no cards, a draw is one card each"),
        ({1: ["As"], 2: ["Kd"], 4: ["Qd"]}, (1, 2), "seat 4 has a card but no part in the draw"),
        ({1: ["As"]}, (), "a draw needs two seats"),
        ({}, (), "a draw needs two seats"),
        ({0: ["As"], 2: ["Kd"]}, (), "seat 0: a table has seats 1 to 10"),
    ],
)
def test_incomplete_draws_are_refused(cards, seats, reason):
    with pytest.raises(RuleError, match=f"^{re.escape(reason)}$"):
        button_draw(cards, seats)


def test_stud_has_no_button():
    with pytest.raises(RuleError, match="stud has no button"):
        button_draw({1: ["As"], 2: ["Kd"]}, discipline="stud")
