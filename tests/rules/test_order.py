from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from daemon.games import GAMES
from daemon.rules.cards import parse_cards
from daemon.rules.errors import RuleError
from daemon.rules.irregularities import irregularity
from daemon.rules.order import (
    Blinds,
    dealing_order,
    first_after_flop,
    first_before_flop,
    last_aggressor,
    next_blinds,
    showdown_order,
    starting_blinds,
)

CASES = ["dealing-order.json", "showdown-order.json"]


def test_case(case):
    _CHECKS[case["id"]](case["input"], case["expected"])


def _check_deal(game):
    def check(given_, expected):
        players, own = given_["players"], GAMES[game].own_cards
        assert dealing_order(players, given_["button"], own) == expected["order"]
        assert GAMES[game].cards_used(len(players)) == expected["cards_used"]
        boards = [(street.burn, street.board) for street in GAMES[game].streets[1:]]
        then = expected.get("then", ["burn", "flop x3", "burn", "turn", "burn", "river"])
        assert boards == [(1, 3), (1, 1), (1, 1)]
        assert then[::2] == ["burn"] * 3

    return check


def _check_heads_up(given_, expected):
    players, button = given_["players"], given_["button"]
    blinds = starting_blinds(players, button)
    assert blinds == Blinds(button, expected["small_blind"], expected["big_blind"])
    assert dealing_order(players, button, 2) == expected["order"]
    assert first_before_flop(players, blinds) == expected["first_preflop"]
    assert first_after_flop(players, button) == expected["first_postflop"]


def _check_fourth_street(given_, expected):
    assert dealing_order(given_["live"], None, 1) == expected["order"]


def _check_dead_small_blind(given_, expected):
    left = [seat for seat in given_["seats"] if seat != given_["busts"]]
    second = next_blinds(Blinds(**given_["hand1"]), left)
    assert second == Blinds(4, 5, expected["hand2"]["big_blind"])
    assert expected["hand2"]["button"] == second.button
    assert second.small_blind not in left
    third = next_blinds(second, left)
    assert third == Blinds(5, expected["hand3"]["small_blind"], expected["hand3"]["big_blind"])
    assert third.button not in left


def _check_dead_button(given_, expected):
    left = [seat for seat in given_["seats"] if seat != given_["busts"]]
    second = next_blinds(Blinds(**given_["hand1"]), left)
    assert second == Blinds(4, expected["hand2"]["small_blind"], expected["hand2"]["big_blind"])
    assert second.button not in left


def _check_down_to_two(given_, expected):
    last = Blinds(**given_["three_handed"])
    left = {last.button, last.small_blind, last.big_blind} - {given_["busts"]}
    both = expected["button_and_small_blind"]
    assert next_blinds(last, left) == Blinds(both, both, expected["big_blind"])


def _check_bet_and_call(given_, expected):
    text = given_["river"].replace("checks", "check").replace("raises", "raise")
    said = re.findall(r"seat (\d+) (\w+)", text.replace("bets", "bet").replace("calls", "call"))
    actions = [(int(seat), action) for seat, action in said]
    assert len(actions) == 4
    aggressor = last_aggressor(actions)
    assert showdown_order([2, 4], aggressor, given_["button"])[0] == expected["shows_first"]


def _check_checked_through(given_, expected):
    checks = [(seat, "check") for seat in given_["live"]]
    order = showdown_order(given_["live"], last_aggressor(checks), given_["button"])
    assert order == [2, 4, 6]
    assert order[0] == expected["shows_first"]


def _check_stud_checked_through(given_, expected):
    boards = {int(seat): parse_cards(text) for seat, text in given_["live"].items()}
    assert showdown_order(boards, None, boards=boards) == [expected["shows_first"], 1]


def _check_last_hand(_, expected):
    remedy = irregularity("last-live-hand").remedy.en
    assert expected["ruling"] in remedy


_CHECKS = {
    "DL-01": _check_deal("holdem"),
    "DL-02": _check_deal("omaha"),
    "DL-03": _check_heads_up,
    "DL-05": _check_fourth_street,
    "DL-06": _check_dead_small_blind,
    "DL-07": _check_dead_button,
    "DL-08": _check_down_to_two,
    "DL-09": _check_down_to_two,
    "SO-01": _check_bet_and_call,
    "SO-02": _check_checked_through,
    "SO-03": _check_stud_checked_through,
    "SO-05": _check_last_hand,
}


def test_stud_is_dealt_from_the_dealers_left():
    assert dealing_order([8, 1, 4], None, 3) == [1, 4, 8] * 3


def test_three_start_with_the_blinds_left_of_the_button():
    assert starting_blinds([2, 5, 8], 5) == Blinds(5, 8, 2)


def test_who_acts_first_with_three():
    blinds = starting_blinds([2, 5, 8], 5)
    assert first_before_flop([2, 5, 8], blinds) == 5
    assert first_after_flop([2, 5], 5) == 2


@given(st.sets(st.integers(1, 10), min_size=3), st.data())
def test_nobody_has_the_big_blind_twice_while_others_wait(seats, data):
    blinds = starting_blinds(seats, data.draw(st.sampled_from(sorted(seats))))
    had = [blinds.big_blind]
    for _ in range(len(seats) - 1):
        blinds = next_blinds(blinds, seats)
        had.append(blinds.big_blind)
    assert sorted(had) == sorted(seats)


@pytest.mark.parametrize(
    ("call", "reason"),
    [
        (lambda: starting_blinds([1, 2], 3), "seat 3 has the button but does not play"),
        (lambda: starting_blinds([1], 1), "a hand needs two seats"),
        (lambda: next_blinds(Blinds(1, 2, 3), [3]), "a hand needs two seats"),
        (lambda: showdown_order([], None, 1), "no live hand"),
        (lambda: showdown_order([1, 2], 3), "seat 3 is to show first but has no live hand"),
        (
            lambda: showdown_order([1, 2], None),
            "who shows first goes by the button, in stud by the boards",
        ),
    ],
)
def test_refusals(call, reason):
    with pytest.raises(RuleError, match=f"^{reason}$"):
        call()
