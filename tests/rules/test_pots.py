from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from daemon.games import GAMES
from daemon.rules.cards import parse_cards
from daemon.rules.errors import RuleError
from daemon.rules.pots import Pot, make_pots, odd_chip_order, share_pots, split
from daemon.rules.profile import PRESETS, profile
from daemon.rules.showdown import showdown

CASES = ["pots-and-odd-chips.json"]
FIRST_TAKES_ALL = profile(overrides={"odd_chips": "first-seat-takes-all"})
STRAIGHTS = {1: "9h 8d 7c 6c 5h 2s 2c", 5: "9d 8c 7h 6h 5d As Kd"}


def _stud(hands):
    return showdown(GAMES["stud"], [], {seat: parse_cards(text) for seat, text in hands.items()})


def test_case(case):
    if "put_in" in case["input"]:
        _check_side_pots(case)
    elif "button" in case["input"]:
        _check_split(case["input"], case["expected"])
    elif "pot" in case["input"]:
        assert odd_chip_order([2, 6], None) == [2, 6]
        assert split(1100, [2, 6], 100) == {2: 600, 6: 500}
        assert (
            "seat 2 (first clockwise from the dealer) 600, seat 6 500" in case["expected"]["seed"]
        )
    else:
        _check_stud_readings(case)


def _check_split(given_, expected):
    order = odd_chip_order(given_["winners"], given_["button"])
    assert order == expected["odd_chip_order"]
    shares = split(given_["pot"], order, given_["smallest_chip"])
    assert shares == {int(seat): share for seat, share in expected["shares"].items()}


def _check_side_pots(case):
    given_, expected = case["input"], case["expected"]
    put_in = {int(seat): amount for seat, amount in given_["put_in"].items()}
    ranks = {int(seat): rank for seat, rank in given_["hand_rank_1_is_best"].items()}
    made = make_pots(put_in, given_["folded"])
    payout = dict(made.returned)
    told = []
    for place, pot in enumerate(made.pots):
        best = min(pot.seats, key=lambda seat: ranks[seat])
        payout[best] = payout.get(best, 0) + pot.amount
        name = f"side{place}" if place else "main"
        told.append(f"{name} {pot.amount} eligible {list(pot.seats)} -> {{{best}: {pot.amount}}}")
    told += [
        f"{amount} returned to seat {seat} (uncalled)" for seat, amount in made.returned.items()
    ]
    assert told == expected["pots"]
    assert payout == {int(seat): amount for seat, amount in expected["payout"].items()}


def _check_stud_readings(case):
    hands = {
        int(seat[4:]): text.split(" -> ")[0].replace("+ ", "")
        for seat, text in case["input"].items()
    }
    result = _stud(hands)
    assert result.winners == (1, 5)
    shown = {hand.seat: hand for hand in result.hands}
    first = [
        odd_chip_order(result.winners, None, shown, profile(overrides={"stud_odd_chip": rule}))[0]
        for rule in ("position", "suit-of-five", "suit-of-seven")
    ]
    expected = case["expected"]
    assert first[0] == expected["seed_position"]
    assert expected["TDA_five_cards"].endswith(f"seat {first[1]}")
    assert expected["RRoP_all_seven"].endswith(f"seat {first[2]}")


@pytest.mark.parametrize(
    ("preset", "first"), [("sport-poker", 1), ("tda", 1), ("wsop-live", 1), ("rrop", 5)]
)
def test_the_odd_chip_of_stud_by_preset(preset, first):
    rules = PRESETS[preset]
    result = share_pots(_stud(STRAIGHTS), [Pot(325, (1, 5))], 25, None, rules)
    assert result.pots[0].shares == {1: 150, 5: 150, first: 175}


def test_the_ace_of_a_wheel_is_its_low_card():
    hands = {1: "5h 4d 3c 2c As 9s 9c", 5: "5s 4c 3h 2h Ad Kd Kc"}
    result = share_pots(_stud(hands), [Pot(325, (1, 5))], 25, None, PRESETS["tda"])
    assert result.pots[0].shares == {1: 150, 5: 175}


def test_suits_give_the_odd_chip_by_the_highest_card_that_differs():
    hands = {1: "Kd Kc 8c 8d 3h 2c", 5: "Kh Ks 8s 8h 3d 2d"}
    board = ["As"]
    result = showdown(GAMES["stud"], board, {s: parse_cards(text) for s, text in hands.items()})
    shared = share_pots(result, [Pot(325, (1, 5))], 25, None, PRESETS["tda"])
    assert shared.pots[0].shares == {1: 150, 5: 175}


def test_suits_cannot_give_an_odd_chip_without_cards():
    with pytest.raises(RuleError, match=r"^seat 1 shows no cards"):
        odd_chip_order([1, 5], None, {}, PRESETS["tda"])


@pytest.mark.parametrize(
    ("rules", "shares"),
    [
        (PRESETS["sport-poker"], {8: 375, 1: 375, 5: 350}),
        (FIRST_TAKES_ALL, {8: 400, 1: 350, 5: 350}),
    ],
)
def test_two_odd_chips_of_three(rules, shares):
    assert split(1100, odd_chip_order([1, 5, 8], 6), 25, rules) == shares


def test_each_pot_is_split_on_its_own():
    board = parse_cards("As Kc Jd 9h 2c")
    hands = {1: parse_cards("Ad 4c"), 2: parse_cards("Ah 3d"), 3: parse_cards("Qs Td")}
    result = showdown(GAMES["holdem"], board, hands, mucked=[7])
    pots = [Pot(400, (1, 2, 3, 7)), Pot(125, (1, 2, 7)), Pot(50, (7,))]
    shared = share_pots(result, pots, 25, 1)
    assert [(pot.amount, pot.winners, pot.shares) for pot in shared.pots] == [
        (400, (3,), {3: 400}),
        (125, (1, 2), {1: 50, 2: 75}),
        (50, (7,), {7: 50}),
    ]


BOARD = parse_cards("As Kc Jd 9h 2c")


@pytest.mark.parametrize(
    ("pots", "chip", "button", "reason"),
    [
        ([Pot(110, (1, 2))], 25, 1, "a pot of 110 cannot be made of chips of 25"),
        ([Pot(0, (1, 2))], 25, 1, "a pot of 0 cannot be made of chips of 25"),
        ([Pot(100, (1, 2))], 0, 1, "a chip cannot be worth 0"),
        ([Pot(100, (1, 2, 4))], 25, 1, "seat 4 is in a pot but shows no hand"),
        ([Pot(100, (3, 5))], 25, 1, "nobody shows a hand for the pot of 100"),
        ([Pot(100, (1, 1))], 25, 1, "seat 1 twice"),
        ([Pot(100, (1, 2))], 25, None, "the odd chip goes by the button"),
        ([Pot(100, (1, 2))], 25, 11, "seat 11: a table has seats 1 to 10"),
        ([], 25, 1, "there is no pot"),
    ],
)
def test_pots_that_cannot_be_shared(pots, chip, button, reason):
    hands = {1: parse_cards("Ad 4c"), 2: parse_cards("Ah 3d")}
    result = showdown(GAMES["holdem"], BOARD, hands, mucked=[3, 5])
    with pytest.raises(RuleError, match=f"^{re.escape(reason)}$"):
        share_pots(result, pots, chip, button)


def test_stud_has_no_button():
    with pytest.raises(RuleError, match=r"^stud has no button$"):
        share_pots(_stud(STRAIGHTS), [Pot(100, (1, 5))], 25, 1)


def test_money_of_folded_seats_stays_in_the_pots():
    made = make_pots({1: 100, 2: 300, 3: 500}, folded=[2])
    assert made.pots == (Pot(300, (1, 3)), Pot(400, (3,)))
    assert made.returned == {3: 200}
    over = make_pots({1: 100, 2: 300, 3: 100}, folded=[2])
    assert over.pots == (Pot(500, (1, 3)),)
    assert make_pots({1: 0, 2: 50, 3: 0}, folded=[2]).pots == (Pot(50, (1, 3)),)


@pytest.mark.parametrize(
    ("put_in", "folded", "reason"),
    [({1: -5}, (), "seat 1 cannot have put in -5"), ({1: 5}, (1,), "every seat has folded")],
)
def test_stakes_that_make_no_pots(put_in, folded, reason):
    with pytest.raises(RuleError, match=f"^{reason}$"):
        make_pots(put_in, folded)


STAKES = st.dictionaries(st.integers(1, 10), st.integers(0, 1000), min_size=1, max_size=10)


@given(STAKES, st.sets(st.integers(1, 10)))
def test_pots_keep_every_chip(put_in, folded):
    live = set(put_in) - folded
    if not live:
        return
    made = make_pots(put_in, folded)
    assert sum(pot.amount for pot in made.pots) + sum(made.returned.values()) == sum(
        put_in.values()
    )
    assert len(made.returned) <= 1
    for earlier, later in zip(made.pots, made.pots[1:], strict=False):
        assert set(later.seats) < set(earlier.seats) <= live


@given(
    st.integers(1, 400),
    st.sampled_from([1, 25, 100]),
    st.sets(st.integers(1, 10), min_size=1),
    st.integers(1, 10),
    st.sampled_from([PRESETS["sport-poker"], FIRST_TAKES_ALL]),
)
def test_shares_keep_every_chip(chips, chip, winners, button, rules):
    order = odd_chip_order(winners, button)
    shares = split(chips * chip, order, chip, rules)
    assert sum(shares.values()) == chips * chip
    assert all(share % chip == 0 for share in shares.values())
    assert list(shares.values()) == sorted(shares.values(), reverse=True)
    if rules is not FIRST_TAKES_ALL:
        assert max(shares.values()) - min(shares.values()) <= chip


@given(st.permutations("cdhs"), st.integers(1, 40))
def test_suits_give_no_odd_chip_by_the_rule_book(suits, chips):
    swap = str.maketrans("cdhs", "".join(suits))
    swapped = {
        seat: "".join(card[0] + card[1].translate(swap) for card in text.split())
        for seat, text in STRAIGHTS.items()
    }
    pots = [Pot(25 * chips, (1, 5))]
    shares = [share_pots(_stud(hands), pots, 25, None).pots for hands in (STRAIGHTS, swapped)]
    assert shares[0] == shares[1]
