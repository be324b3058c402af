from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from daemon.games import GAMES
from daemon.rules.cards import DECK, parse_cards
from daemon.rules.errors import RuleError
from daemon.rules.showdown import showdown

CASES = ["holdem.json", "omaha.json", "stud.json"]
SEATS = "ABCDEFGH"
SUIT_SWAP = str.maketrans("cdhs", "shcd")


def test_case(case):
    given_ = case["input"]
    hands = {
        place: parse_cards(given_[name]) for place, name in enumerate(SEATS, 1) if name in given_
    }
    result = showdown(GAMES[given_["game"]], parse_cards(given_["board"]), hands)
    assert [SEATS[seat - 1] for seat in result.winners] == case["expected"]["winners"]
    found = {SEATS[hand.seat - 1]: f"{hand.label.en} (class {hand.rank})" for hand in result.hands}
    assert found == case["expected"]["hands"]


@st.composite
def deals(draw):
    game = draw(st.sampled_from(list(GAMES.values())))
    players = draw(st.integers(1, 6))
    size = players * game.own_cards + game.board_cards
    cards = draw(st.lists(st.sampled_from(DECK), min_size=size, max_size=size, unique=True))
    board, own = cards[: game.board_cards], cards[game.board_cards :]
    hands = {
        seat: own[(seat - 1) * game.own_cards : seat * game.own_cards]
        for seat in range(1, players + 1)
    }
    return game, board, hands


@given(deals())
def test_swapping_suits_changes_no_winner_rank_or_label(deal):
    game, board, hands = deal
    swapped = {seat: [c.translate(SUIT_SWAP) for c in cards] for seat, cards in hands.items()}
    one = showdown(game, board, hands)
    other = showdown(game, [card.translate(SUIT_SWAP) for card in board], swapped)
    assert one.winners == other.winners
    assert [(h.rank, h.label) for h in one.hands] == [(h.rank, h.label) for h in other.hands]


@given(deals(), st.randoms(use_true_random=False))
def test_seats_and_the_order_of_cards_change_only_names(deal, random):
    game, board, hands = deal
    to = dict(zip(hands, random.sample(sorted(hands), len(hands)), strict=True))
    moved = {to[seat]: random.sample(cards, len(cards)) for seat, cards in hands.items()}
    one, other = (
        showdown(game, board, hands),
        showdown(game, random.sample(board, len(board)), moved),
    )
    assert sorted(to[seat] for seat in one.winners) == list(other.winners)
    best = {hand.seat: hand.best for hand in other.hands}
    assert all(best[to[hand.seat]] == hand.best for hand in one.hands)


@given(deals())
def test_the_winners_are_those_nobody_beats(deal):
    result = showdown(*deal)
    ranks = {hand.seat: hand.rank for hand in result.hands}
    assert result.winners
    assert all(ranks[seat] == min(ranks.values()) for seat in result.winners)
    assert all(ranks[seat] > min(ranks.values()) for seat in set(ranks) - set(result.winners))


BOARD = "2c 3d 8h Js Kd"


@pytest.mark.parametrize(
    ("game", "board", "hands", "reason"),
    [
        ("holdem", BOARD, {1: "As Ad", 4: "Ah Ac Qs"}, "seat 4 has three cards"),
        ("holdem", BOARD, {1: "As Ad", 4: ""}, "seat 4 has no cards"),
        ("omaha", BOARD, {4: "Ah Ac Qs"}, "seat 4 has three cards"),
        ("stud", "", {2: "2c 3d 8h Js Kd Ac Ad 4h"}, "seat 2 has eight cards"),
        ("stud", "", {2: "2c 3d 8h Js"}, "seat 2 has four cards"),
        ("stud", "9s", {2: "2c 3d 8h Js Kd Ac Ad"}, "seat 2 has seven cards"),
        (
            "stud",
            "9s 9d",
            {2: "2c 3d 8h Js Kd Ac"},
            "the board has two cards, stud has at most one",
        ),
        ("holdem", BOARD, {1: "As Ad", 4: "As Ac"}, "As twice"),
        ("holdem", BOARD, {1: "Kd Ad"}, "Kd twice"),
        ("holdem", "2c 3d 8h Js", {1: "As Ad"}, "the board has four cards, holdem has five cards"),
        ("holdem", BOARD, {}, "no hand is shown"),
        ("holdem", BOARD, {11: "As Ad"}, "seat 11: a table has seats 1 to 10"),
    ],
)
def test_refusals_name_the_seat_or_card(game, board, hands, reason):
    cards = {seat: parse_cards(text) for seat, text in hands.items()}
    with pytest.raises(RuleError, match=f"^{re.escape(reason)}$"):
        showdown(GAMES[game], parse_cards(board), cards)


def test_nine_hands_of_stud_are_too_many():
    hands = {seat: list(DECK[seat * 5 : seat * 5 + 5]) for seat in range(1, 10)}
    with pytest.raises(RuleError, match=r"^9 seats, at most 8 can play$"):
        showdown(GAMES["stud"], [], hands)


def test_mucked_seats_win_nothing_and_are_told():
    hands = {3: parse_cards("7c 7d")}
    result = showdown(GAMES["holdem"], parse_cards(BOARD), hands, mucked=[5, 1], typed=["7c"])
    assert (result.winners, result.mucked, result.typed) == ((3,), (1, 5), ("7c",))


def test_a_seat_cannot_show_and_muck():
    with pytest.raises(RuleError, match=r"^seat 3 twice$"):
        showdown(GAMES["holdem"], parse_cards(BOARD), {3: ["7c", "7d"]}, mucked=[3])


def test_stud_accepts_what_the_floor_may_rule_live():
    five = parse_cards("2c 2d 8h Js Kd")
    result = showdown(GAMES["stud"], ["9s"], {2: five, 3: parse_cards("As Ad 3c 4c 5h 9d")})
    assert result.winners == (3,)
