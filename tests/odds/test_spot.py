from __future__ import annotations

import pytest

from daemon.errors import FeltdError
from daemon.odds import equity
from daemon.rules.cards import parse_cards


@pytest.mark.parametrize(
    ("discipline", "texts", "board", "dead", "message"),
    [
        ("holdem", {1: "AsKs", 2: "AsQd"}, "", "", "As twice"),
        ("holdem", {1: "AsKs"}, "2c3c2c", "", "2c twice"),
        ("holdem", {1: "AsKs"}, "", "Ks", "Ks twice"),
        ("holdem", {1: "AsKs", 4: "AdKdQd"}, "", "", "seat 4 has three cards (holdem: 2)"),
        ("holdem", {4: "As"}, "", "", "seat 4 has one card (holdem: 2)"),
        ("omaha", {2: "AsKs"}, "", "", "seat 2 has two cards (omaha: 4)"),
        ("stud", {7: "AsKs"}, "", "", "seat 7 has two cards (stud: 3 to 7)"),
        ("stud", {7: "2c3c4c5c6c7c8c"}, "9c", "", "seat 7 has seven cards (stud: 3 to 6)"),
        ("holdem", {1: "AsKs"}, "2c", "", "the board has one card (holdem: 0, 3, 4, 5)"),
        ("omaha", {1: None}, "2c3c4c5c6c7c", "", "the board has six cards (omaha: 0, 3, 4, 5)"),
        ("stud", {1: None}, "2c3c", "", "the board has two cards (stud: 0, 1)"),
        ("holdem", {0: "AsKs"}, "", "", "seat 0: seats are numbered from 1"),
        ("holdem", {}, "", "", "no seat has a hand"),
        ("razz", {1: None}, "", "", "razz is no discipline (holdem, omaha, stud)"),
        ("omaha", dict.fromkeys(range(1, 13)), "", "", "12 seats want more cards than the deck"),
        ("stud", dict.fromkeys(range(1, 10)), "", "", "9 seats want more cards than the deck"),
    ],
)
def test_what_is_wrong_is_named(discipline, texts, board, dead, message):
    hands = {seat: None if text is None else parse_cards(text) for seat, text in texts.items()}
    with pytest.raises(FeltdError) as caught:
        equity(discipline, hands, parse_cards(board), parse_cards(dead))
    assert str(caught.value).startswith(message)


def test_a_text_that_is_no_card_is_named():
    with pytest.raises(FeltdError, match="1s is no card"):
        equity("holdem", {1: ["1s", "Ks"]})


@pytest.mark.parametrize("unknown", [None, (), ["??"], ["??", "??"]])
def test_unknown_hands_may_be_written_in_several_ways(unknown):
    known = ["As", "Ah"]
    expected = equity("holdem", {1: known, 2: None}, target_error=0.005)
    assert equity("holdem", {1: known, 2: unknown}, target_error=0.005) == expected
    assert not expected.exact


def test_seats_keep_the_order_in_which_they_are_asked():
    found = equity("holdem", {9: ["As", "Ah"], 2: ["Kd", "Kc"]})
    assert [seat.seat for seat in found.seats] == [9, 2]
