from __future__ import annotations

import re
from collections import Counter
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import UNSET

from daemon.rules.cards import DECK, parse_cards, rank_of, suit_of
from daemon.rules.errors import RuleError
from daemon.rules.first_to_act import UP_CARDS, board_value, first_to_act, posted_bring_in
from daemon.rules.irregularities import irregularity
from daemon.rules.profile import PRESETS, profile

CASES = ["first-to-act.json", "bring-in.json"]
STREETS = {2: "fourth", 3: "fifth", 4: "sixth"}
POSITION = profile(overrides={"stud_equal_boards": "position"})
INSIDE_PAIR = profile(overrides={"stud_board_suit": "inside-pair"})
COMMON_COUNTS = profile(overrides={"common_card_opener": "with-common-card"})


def test_case(case):
    expected = case["expected"]
    if case["id"].startswith("FA"):
        _check_opener(case["input"], expected)
    elif "card" in expected:
        up = {int(seat[4:]): [card] for seat, card in case["input"].items()}
        result = first_to_act("third", up)
        assert (result.seat, up[result.seat]) == (expected["bring_in"], [expected["card"]])
        assert (result.kind, result.by_seat) == ("bring-in", UNSET)
    elif "posted" in expected:
        stack = int(case["input"]["seat2"].split()[2])
        assert posted_bring_in(case["input"]["bring_in"], stack) == expected["posted"]
        assert "full bring-in or complete" in irregularity("short-bring-in").remedy.en
    elif "result" in expected:
        remedy = irregularity("absent-bring-in").remedy.en
        assert "posted from the absent player's stack, then the hand is killed" in remedy
    else:
        _check_exposed_down_card(expected)


def _check_opener(boards, expected):
    folded = {int(seat[4:]) for seat, cards in boards.items() if "folded" in cards}
    up = {int(seat[4:]): parse_cards(cards.split(" (")[0]) for seat, cards in boards.items()}
    street = STREETS[len(next(iter(up.values())))]
    result = first_to_act(street, up, folded=folded)
    assert result.seat == expected["first_to_act_suit_rule"]
    assert result.tied == tuple(expected.get("tied", ()))
    assert result.decided_by == ("suit" if result.tied else "rank")
    by_position = first_to_act(street, up, folded=folded, profile=POSITION)
    assert by_position.seat == expected.get("first_to_act_position_rule", result.seat)
    assert by_position.decided_by == ("position" if result.tied else "rank")


def _check_exposed_down_card(expected):
    found = {
        value: irregularity("exposed-down-card", profile(overrides={"exposed_down_card": value}))
        for value in ("becomes-up", "misdeal", "third-down")
    }
    assert "becomes the up card" in expected["TDA"]
    assert "becomes the up card" in found["becomes-up"].remedy.en
    assert expected["WSOP_T"].startswith("misdeal")
    assert found["misdeal"].remedy.en.startswith("Misdeal")
    assert "misdeal only if all three show" in expected["WSOP_Live"]
    assert "misdeal only if all three show" in found["third-down"].remedy.en


def test_equal_pairs_and_kickers_by_the_two_readings_of_suit():
    up = {1: parse_cards("8s 8c Kh"), 2: parse_cards("8h 8d Ks")}
    assert first_to_act("fifth", up).seat == 2
    assert first_to_act("fifth", up, profile=INSIDE_PAIR).seat == 1


@pytest.mark.parametrize("street", UP_CARDS)
def test_all_in_passes_to_the_next_seat_clockwise(street):
    cards = iter(parse_cards("2c 9c 8c 7c 4d Td Jd 3d Ah Kh Qh 5h"))
    up = {seat: [next(cards) for _ in range(UP_CARDS[street])] for seat in (2, 5, 8)}
    decider = first_to_act(street, up).seat
    after = {2: 5, 5: 8, 8: 2}
    result = first_to_act(street, up, all_in=[decider])
    assert (result.seat, result.by_seat, result.decided_by) == (after[decider], decider, "rank")
    further = first_to_act(street, up, all_in=[decider, after[decider]])
    assert (further.seat, further.by_seat) == (after[after[decider]], decider)


def test_low_cards_of_one_rank_are_tied_and_the_lowest_suit_decides():
    result = first_to_act("third", {3: ["3c"], 6: ["3s"], 7: ["8h"]})
    assert (result.seat, result.tied, result.decided_by) == (3, (3, 6), "suit")


def test_seventh_street_goes_by_the_boards_of_sixth():
    up = {1: parse_cards("Kc Qd 9s 5h"), 2: parse_cards("Kd Qc 9d 6c")}
    result = first_to_act("seventh", up)
    assert (result.street, result.kind, result.seat) == ("seventh", "open", 2)
    assert result.boards == {1: ("Kc", "Qd", "9s", "5h"), 2: ("Kd", "Qc", "9d", "6c")}


def test_a_common_card_counts_where_the_profile_says_so():
    up = {1: parse_cards("Kc Qd 9s 5h"), 2: parse_cards("Ad Qc 8d 6c")}
    assert first_to_act("seventh", up, common="5s").seat == 2
    assert first_to_act("seventh", up, common="5s", profile=COMMON_COUNTS).seat == 1
    assert first_to_act("seventh", up, common="5s", profile=PRESETS["rrop"]).seat == 1


def test_straights_and_flushes_do_not_count():
    up = {1: parse_cards("Ah Kh Qh Jh"), 2: parse_cards("2s 2d 3c 4c")}
    assert first_to_act("sixth", up).seat == 2


@pytest.mark.parametrize(
    ("size", "wanted"),
    [
        (2, {(2,): 78, (1, 1): 1248}),
        (3, {(3,): 52, (2, 1): 3744, (1, 1, 1): 18304}),
        (4, {(4,): 13, (3, 1): 2496, (2, 2): 2808, (2, 1, 1): 82368, (1, 1, 1, 1): 183040}),
    ],
)
def test_all_boards(size, wanted):
    found = Counter(board_value(cards)[0] for cards in combinations(DECK, size))
    assert found == wanted
    assert list(wanted) == sorted(wanted, reverse=True)


@st.composite
def boards(draw):
    street = draw(st.sampled_from(list(UP_CARDS)))
    size = UP_CARDS[street]
    seats = draw(st.lists(st.integers(1, 10), min_size=1, max_size=8, unique=True))
    wanted = size * len(seats)
    cards = draw(st.lists(st.sampled_from(DECK), min_size=wanted, max_size=wanted, unique=True))
    return street, {seat: cards[place * size :][:size] for place, seat in enumerate(seats)}


@given(boards(), st.randoms(use_true_random=False))
def test_the_order_of_seats_and_cards_changes_nothing(dealt, random):
    street, up = dealt
    shuffled = {s: random.sample(up[s], len(up[s])) for s in random.sample(sorted(up), len(up))}
    one, other = first_to_act(street, up), first_to_act(street, shuffled)
    assert (one.seat, one.tied, one.decided_by) == (other.seat, other.tied, other.decided_by)


@given(boards())
def test_suits_decide_between_equal_boards_only(dealt):
    street, up = dealt
    swap = str.maketrans("cdhs", "shdc")
    swapped = {seat: [card[0] + card[1].translate(swap) for card in up[seat]] for seat in up}
    one, other = first_to_act(street, up), first_to_act(street, swapped)
    assert (one.tied, one.decided_by) == (other.tied, other.decided_by)
    if not one.tied:
        assert one.seat == other.seat


@given(boards())
def test_without_a_tie_nobody_has_a_board_as_good(dealt):
    street, up = dealt
    result = first_to_act(street, up)
    if street == "third":
        lowest = min(up, key=lambda seat: (rank_of(up[seat][0]), suit_of(up[seat][0])))
        assert result.seat == lowest
    else:
        values = {seat: board_value(cards) for seat, cards in up.items()}
        best = tuple(seat for seat in sorted(up) if values[seat] == max(values.values()))
        assert result.seat in best
        assert result.tied == (best if len(best) > 1 else ())


@pytest.mark.parametrize(
    ("street", "up", "more", "reason"),
    [
        ("third", {1: "As Kd"}, {}, "seat 1 has two up cards, third street is opened on 1"),
        (
            "seventh",
            {1: "As Kd 2c"},
            {},
            "seat 1 has three up cards, seventh street is opened on 4",
        ),
        ("third", {1: "As", 2: "As"}, {}, "As twice"),
        (
            "eighth",
            {1: "As"},
            {},
            "eighth is no street of stud (third, fourth, fifth, sixth, seventh)",
        ),
        (
            "third",
            {1: "As", 2: "Ks"},
            {"all_in": [1, 2]},
            "every live seat is all-in, nobody can act",
        ),
        ("third", {1: "As", 2: "Ks"}, {"all_in": [3]}, "seat 3 is all-in but has no live up cards"),
        ("third", {1: "As", 2: "Ks"}, {"folded": [1, 2]}, "no live seat has up cards"),
        ("third", {1: "As"}, {"common": "Ks"}, "a common card is dealt on seventh street only"),
        ("seventh", {1: "As Kd 2c 3c"}, {"common": "Kd"}, "Kd twice"),
    ],
)
def test_refusals_name_the_seat_or_card(street, up, more, reason):
    cards = {seat: parse_cards(text) for seat, text in up.items()}
    with pytest.raises(RuleError, match=f"^{re.escape(reason)}$"):
        first_to_act(street, cards, **more)
