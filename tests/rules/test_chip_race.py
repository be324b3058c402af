from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import UNSET

from daemon.rules.cards import DECK, number_of, parse_cards
from daemon.rules.chip_race import chip_race, chips_after, race_steps
from daemon.rules.errors import RuleError
from daemon.rules.profile import PRESETS, VALUES, profile

CASES = ["chip-race.json"]


def _values(case):
    return [int(value[1:]) for value in case["input"]["change"].split("->")]


def _by_seat(values):
    return {int(seat): value for seat, value in values.items()}


def test_case(case):
    if "cards_in_deal_order" in case["input"]:
        _check_race(case)
    elif "counts" in case["input"]:
        _check_exchange(case)
    else:
        _check_impossible(case)


def _check_race(case):
    given_, expected = case["input"], case["expected"]
    odd = _by_seat(given_["odd_chips"])
    cards = {seat: text.split() for seat, text in _by_seat(given_["cards_in_deal_order"]).items()}
    rules = profile(overrides={"race_remainder": "always-up"} if case["id"] == "CR-12" else {})
    all_in = {"CR-17": [1], "CR-19": [1, 2]}.get(case["id"], [])
    result = chip_race(*_values(case), odd, cards, all_in=all_in, profile=rules)
    assert (result.odd, result.exchanged) == (odd, dict.fromkeys(odd, 0))
    assert (result.new_chips, result.remainder) == (expected["new_chips"], expected["remainder"])
    assert [f"{entry.seat}:{entry.card}" for entry in result.ranking] == expected["ranking"]
    assert list(result.awards) == expected["winners"]
    assert set(result.awards.values()) == {1}
    if all_in:
        assert result.rescued == {"CR-17": (1,), "CR-19": (2,)}[case["id"]]
        assert result.change == 100
    if "value_change" in expected:
        assert result.change == expected["value_change"]


def _check_exchange(case):
    expected = case["expected"]
    result = chip_race(*_values(case), _by_seat(case["input"]["counts"]))
    assert result.odd == _by_seat(expected["odd_chips"])
    assert result.new_chips == int(str(expected["new_chips"]).split()[0])
    direct = expected.get("direct", {"1": 2, "2": 1, "3": 0})
    assert result.exchanged == _by_seat(direct)
    assert (result.ranking, result.awards, result.rescued) == ((), {}, ())
    assert (result.change is UNSET) == (result.new_chips > 0)


def _check_impossible(case):
    counts = dict.fromkeys(range(1, case["input"]["players"] + 1), case["input"]["ratio"] - 1)
    with pytest.raises(
        RuleError, match=r"^190 odd chips of 25 need 190 cards, a deck has 52: race"
    ):
        chip_race(*_values(case), counts)


def test_last_chip_from_the_pool_first():
    cards = {1: ["5d"], 3: parse_cards("Kc 9h 2s")}
    result = chip_race(25, 100, {1: 1, 3: 3}, cards, all_in=[1], profile=PRESETS["rrop"])
    assert (result.awards, result.rescued, result.change) == ({}, (1,), 0)
    early = chip_race(25, 100, {1: 1, 3: 3}, all_in=[1], profile=PRESETS["rrop"])
    assert (early.rescued, early.after) == ((1,), {1: 100, 3: 0})


def test_a_saved_seat_needs_no_card_when_it_is_paid_first():
    cards = {2: parse_cards("Qs 3d 4d"), 3: parse_cards("Kc 9h 2s")}
    counts = {1: 2, 2: 3, 3: 3}
    result = chip_race(25, 100, counts, cards, all_in=[1], profile=PRESETS["rrop"])
    assert (result.new_chips, result.awards, result.rescued) == (2, {3: 1}, (1,))
    assert [entry.seat for entry in result.ranking] == [3, 2]


def test_without_the_cap_the_best_cards_win_whoever_holds_them():
    cards = {1: parse_cards("As Ks Qs"), 2: ["2c"], 3: parse_cards("Jd 5h 6c"), 4: ["Jh"]}
    counts = {1: 3, 2: 1, 3: 3, 4: 1}
    result = chip_race(25, 100, counts, cards, profile=profile(overrides={"race_cap_one": False}))
    assert result.awards == {1: 2}
    assert [entry.seat for entry in result.ranking] == [1, 4, 3, 2]


@pytest.mark.parametrize(
    ("remainder", "chips"), [("half-up", (1, 2, 2)), ("always-up", (2, 2, 2)), ("down", (1, 1, 1))]
)
def test_the_remainder_rule(remainder, chips):
    rules = profile(overrides={"race_remainder": remainder})
    found = [chip_race(25, 100, {1: 3, 2: extra}, profile=rules).new_chips for extra in (2, 3)]
    found.append(chip_race(25, 100, {1: 3, 2: 3, 3: 1}, profile=rules).new_chips)
    assert found == [chips[0], chips[1], chips[2]]


def test_a_dropped_remainder_takes_nobodys_last_chip():
    result = chip_race(25, 100, {1: 1, 2: 8}, all_in=[1])
    assert (result.new_chips, result.remainder, result.rescued) == (0, 1, (1,))
    assert (result.after, result.change) == ({1: 100, 2: 200}, 75)


def test_two_denominations_leave_at_once():
    assert race_steps([100, 25], 500) == [(25, 100), (100, 500)]
    first = chip_race(25, 100, {1: 3, 2: 4, 3: 1}, {1: parse_cards("2c 3c 4c"), 3: ["Kd"]})
    counts = chips_after(first, {1: 2, 2: 4})
    assert counts == {1: 2, 2: 5, 3: 1}
    second = chip_race(100, 500, counts, {1: parse_cards("7s 7d"), 3: ["7h"]})
    assert (second.exchanged, second.awards) == ({1: 0, 2: 1, 3: 0}, {1: 1})


def test_values_that_leave_at_once_must_divide():
    with pytest.raises(RuleError, match=r"^200 does not divide 500"):
        race_steps([100, 200], 500)


@pytest.mark.parametrize(
    ("old", "new", "counts", "cards", "all_in", "reason"),
    [
        (25, 60, {1: 1}, None, (), "25 does not divide 60: these chips cannot be exchanged evenly"),
        (100, 25, {1: 1}, None, (), "chips of 100 cannot be raced into chips of 25"),
        (0, 25, {1: 1}, None, (), "chips of 0 cannot be raced into chips of 25"),
        (25, 100, {}, None, (), "no seat has chips"),
        (25, 100, {3: -1}, None, (), "seat 3 cannot have -1 chips"),
        (25, 100, {3: 1}, None, (4,), "seat 4 is all-in but has no chips to race"),
        (25, 100, {12: 1}, None, (), "seat 12: a table has seats 1 to 10"),
    ],
)
def test_shapes_that_cannot_be_raced(old, new, counts, cards, all_in, reason):
    with pytest.raises(RuleError, match=f"^{re.escape(reason)}$"):
        chip_race(old, new, counts, cards, all_in=all_in)


@pytest.mark.parametrize(
    ("cards", "reason"),
    [
        ({1: "As Kd Qd"}, "seat 2 has no cards for two odd chips, it is one card a chip"),
        (
            {1: "As Kd", 2: "3c 4c"},
            "seat 1 has two cards for three odd chips, it is one card a chip",
        ),
        (
            {1: "As Kd Qd", 2: "3c 4c", 3: "7c"},
            "seat 3 has one card for no odd chips, it is one card a chip",
        ),
        ({1: "As Kd Qd", 2: "3c As"}, "As twice"),
    ],
)
def test_one_card_for_each_odd_chip(cards, reason):
    held = {seat: parse_cards(text) for seat, text in cards.items()}
    with pytest.raises(RuleError, match=f"^{re.escape(reason)}$"):
        chip_race(25, 100, {1: 3, 2: 2, 3: 4}, held)


PROFILES = st.fixed_dictionaries(
    {key: st.sampled_from(VALUES[key]) for key in VALUES if key.startswith("race_")}
).map(lambda rules: profile(overrides=rules))


@st.composite
def races(draw):
    old, ratio = draw(st.sampled_from([25, 100, 500])), draw(st.sampled_from([2, 4, 5]))
    seats = st.integers(1, 10)
    counts = draw(st.dictionaries(seats, st.integers(0, 40), min_size=1, max_size=10))
    deck = iter(draw(st.permutations(DECK)))
    cards = {s: [next(deck) for _ in range(counts[s] % ratio)] for s in sorted(counts)}
    all_in = draw(st.sets(st.sampled_from(sorted(counts)))) & {s for s in counts if counts[s]}
    rules = draw(PROFILES)
    return old, old * ratio, counts, {s: held for s, held in cards.items() if held}, all_in, rules


@given(races())
def test_no_money_is_lost_and_nobody_is_raced_out(race):
    old, new, counts, cards, all_in, rules = race
    result = chip_race(old, new, counts, cards, all_in=all_in, profile=rules)
    after = chips_after(result)
    assert result.before == {seat: old * counts[seat] for seat in sorted(counts)}
    assert result.after == {seat: new * chips for seat, chips in after.items()}
    assert result.change == sum(result.after.values()) - sum(result.before.values())
    for seat in counts:
        assert counts[seat] == result.exchanged[seat] * (new // old) + result.odd[seat]
    extra = sum(result.awards.values()) - result.new_chips
    assert extra <= 0
    rounding = result.new_chips * new - sum(result.odd.values()) * old
    paid = sum(result.awards.values()) + len(result.rescued)
    assert result.change == rounding + (paid - result.new_chips) * new
    assert all(after[seat] for seat in all_in)


@given(races())
def test_at_most_one_chip_each_and_never_more_than_there_are_seats_with_odd_chips(race):
    old, new, counts, cards, all_in, rules = race
    if not rules.race_cap_one:
        return
    result = chip_race(old, new, counts, cards, all_in=all_in, profile=rules)
    assert set(result.awards.values()) <= {1}
    assert result.new_chips <= sum(odd > 0 for odd in result.odd.values())
    if rules.race_last_chip == "extra-chip":
        assert list(result.awards) == [entry.seat for entry in result.ranking][: result.new_chips]


@given(races(), st.randoms(use_true_random=False))
def test_the_order_of_seats_and_cards_changes_nothing(race, random):
    old, new, counts, cards, all_in, rules = race
    shuffled = {
        s: random.sample(cards[s], len(cards[s])) for s in random.sample(sorted(cards), len(cards))
    }
    one = chip_race(old, new, counts, cards, all_in=all_in, profile=rules)
    assert chip_race(old, new, counts, shuffled, all_in=all_in, profile=rules) == one


@given(races())
def test_ranking_is_the_best_single_card_of_each(race):
    old, new, counts, cards, _, _ = race
    result = chip_race(old, new, counts, cards)
    best = {seat: max(map(number_of, held)) for seat, held in cards.items()}
    order = sorted(best, key=lambda seat: best[seat], reverse=True)
    assert [entry.seat for entry in result.ranking] == order
    assert [number_of(entry.card) for entry in result.ranking] == [best[seat] for seat in order]
