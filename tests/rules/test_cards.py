from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from daemon.rules.cards import (
    DECK,
    SUITS,
    number_of,
    parse_cards,
    rank_of,
    require_distinct,
    suit_of,
)
from daemon.rules.errors import CardError

SYMBOLS = str.maketrans(SUITS, "♣♦♥♠")


@pytest.mark.parametrize(
    "text",
    [
        "As Kd Tc",
        "AsKdTc",
        "A♠ K♦ T♣",
        "A♠K♦10♣",
        "as kD 10c",
        "♠A ♦K ♣10",
        "A♠\ufe0f, K♦,T♣ ",
        "A♤K♢T♧",
    ],
)
def test_ways_to_write_three_cards(text):
    assert parse_cards(text) == ["As", "Kd", "Tc"]


def test_no_cards():
    assert parse_cards("  ") == []


@pytest.mark.parametrize(
    ("text", "named"), [("As Kx", "Kx"), ("1s", "1s"), ("As K", "K"), ("AsK dd", "K"), ("10", "10")]
)
def test_what_is_no_card_is_named(text, named):
    with pytest.raises(CardError, match=f"^{named} is no card"):
        parse_cards(text)


@given(st.lists(st.sampled_from(DECK)), st.sampled_from(["", " ", ", "]), st.booleans())
def test_what_is_written_is_read(cards, between, symbols):
    text = between.join(cards)
    assert parse_cards(text.translate(SYMBOLS) if symbols else text) == cards


def test_numbers_order_the_deck_by_rank_then_suit():
    assert [number_of(card) for card in DECK] == list(range(52))
    assert (rank_of("2c"), suit_of("2c"), rank_of("As"), suit_of("As")) == (0, 0, 12, 3)


def test_numbers_are_of_cards_only():
    with pytest.raises(CardError, match=r"^Xx is no card"):
        number_of("Xx")


def test_a_card_twice_is_named():
    with pytest.raises(CardError, match=r"^As twice$"):
        require_distinct(["As", "Kd", "As"])
