from __future__ import annotations

import random

import pytest

from daemon.odds import equity, stud
from daemon.odds.spot import checked_spot


def test_published_fifth_street(hands):
    found = equity("stud", hands("AhAs2d7c9s", "KhKs3d8cTs"))
    assert found.exact
    assert found.deals == 671_580
    assert [round(seat.win * found.deals) for seat in found.seats] == [475_266, 196_314]
    assert [seat.tie for seat in found.seats] == [0, 0]


@pytest.mark.parametrize("seats", [2, 3])
@pytest.mark.parametrize("seed", range(2))
def test_sixth_street_as_enumerated(deal, enumerate_stud, same, seats, seed):
    rng = random.Random(seed)
    known, dead = deal(rng, seats, 6, 12)
    same(equity("stud", known, dead=dead), enumerate_stud(known, dead))


def test_fifth_street_as_enumerated(deal, enumerate_stud, same):
    known, dead = deal(random.Random(5), 2, 5, 28)
    same(equity("stud", known, dead=dead), enumerate_stud(known, dead))


def test_hands_of_different_sizes_as_enumerated(deal, enumerate_stud, same):
    known, dead = deal(random.Random(6), 3, 7, 15)
    known[1], known[2] = known[1][:6], known[2][:5]
    same(equity("stud", known, dead=dead), enumerate_stud(known, dead))


def test_a_short_stub_deals_a_common_card(deal, enumerate_stud, same):
    known, _ = deal(random.Random(8), 8, 6)
    same(equity("stud", known), enumerate_stud(known, missing_common=1, size=6))


def test_a_short_stub_is_foreseen_on_fifth_street(deal, enumerate_stud, same):
    known, dead = deal(random.Random(9), 2, 5, 37)
    same(equity("stud", known, dead=dead), enumerate_stud(known, dead, missing_common=1, size=6))


def test_seven_seats_still_get_a_card_each(deal):
    known, _ = deal(random.Random(10), 7, 6)
    assert equity("stud", known).deals == 10 * 9 * 8 * 7 * 6 * 5 * 4


def test_a_common_card_on_the_board_counts_for_everybody(deal, enumerate_stud, same):
    known, further = deal(random.Random(11), 3, 5, 26)
    common, dead = further[:1], further[1:]
    same(equity("stud", known, common, dead), enumerate_stud(known, dead, common, size=6))


def test_complete_hands_are_compared(hands):
    found = equity("stud", hands("AhAs2d7c9s4h5h", "KhKs3d8cTsKd2c"))
    assert found.deals == 1
    assert [seat.equity for seat in found.seats] == [0, 1]


@pytest.mark.parametrize(("first", "second"), [(3, 3), (3, 5), (4, 7), (6, 3), (7, 7), (5, 5)])
@pytest.mark.parametrize("seed", range(3))
def test_two_seats_are_counted_as_they_are_dealt(deal, first, second, seed):
    known, dead = deal(random.Random(seed), 2, 7, 24)
    known = {1: known[1][:first], 2: known[2][:second]}
    asked = checked_spot("stud", known, (), dead)
    assert asked.board_missing == 0
    counted = stud.exact_outcomes(asked)
    assert sum(counted.values()) == stud.deals_left(asked)
    assert {k: n for k, n in counted.items() if n} == stud._every_deal(asked)


def test_two_seats_with_a_common_card_are_counted_as_they_are_dealt(deal):
    known, further = deal(random.Random(4), 2, 4, 30)
    asked = checked_spot("stud", known, further[:1], further[1:])
    counted = stud.exact_outcomes(asked)
    assert {k: n for k, n in counted.items() if n} == stud._every_deal(asked)


def test_two_seats_are_exact_from_third_street_on(hands):
    found = equity("stud", hands("AhAs2d", "KhKs3d"))
    assert found.exact
    assert found.deals == 18_265_297_050
    swapped = equity("stud", hands("KhKs3d", "AhAs2d"))
    assert [seat.win for seat in swapped.seats] == [seat.win for seat in found.seats[::-1]]
    assert found.seats[0].tie == found.seats[1].tie


def test_three_seats_are_sampled_where_too_many_deals_are_left(deal):
    known, _ = deal(random.Random(1), 3, 5)
    assert stud.deals_left(checked_spot("stud", known, (), ())) > stud.MOST_DEALS
    assert not equity("stud", known, target_error=0.01).exact
