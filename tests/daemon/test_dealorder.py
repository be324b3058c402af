"""How certain it is that the third card of a seat, as it was heard, was dealt third."""

from __future__ import annotations

from math import log

import pytest
from hypothesis import given
from hypothesis import strategies as st

from daemon.dealorder import GAP_MS, GAPS, Hearing, lead
from daemon.thirdstreet import CERTAIN

GOOD = Hearing(miss=0.05, look_ms=400)
POOR = Hearing(miss=0.4, look_ms=614)


def regular(seats, pace=650, delay=0):
    """Three rounds, each card heard `delay` ms after it was dealt."""
    return [[(n * seats + seat) * pace + delay for n in range(3)] for seat in range(seats)]


@pytest.mark.parametrize("seats", range(2, 9))
@pytest.mark.parametrize("hearing", [GOOD, POOR])
def test_a_deal_that_was_heard_as_it_went_is_certain(seats, hearing):
    deal = regular(seats)
    certain = [lead(deal, place, hearing) >= CERTAIN for place in range(seats)]
    assert all(certain) or (hearing is POOR and seats < 4)


@given(
    seats=st.integers(4, 8),
    delays=st.lists(st.integers(0, 400), min_size=24, max_size=24),
    place=st.integers(0, 7),
)
def test_a_look_more_or_less_does_not_matter(seats, delays, place):
    deal = [
        [time + delays[3 * number + n] for n, time in enumerate(cards)]
        for number, cards in enumerate(regular(seats))
    ]
    assert lead(deal, place % seats, GOOD) >= CERTAIN


@given(seats=st.integers(2, 8), place=st.integers(0, 7), late=st.integers(0, 20_000))
def test_a_card_heard_after_the_third_round_leaves_it_open_which_lies_up(seats, place, late):
    deal = regular(seats)
    place %= seats
    first, down, up = deal[place]
    deal[place] = [first, up, max(up + 1, deal[-1][2]) + late]
    assert lead(deal, place, GOOD) < CERTAIN, down


def test_a_down_card_missed_until_the_third_round_is_not_taken_for_the_up_card():
    # heard at a simulated table, ms: seat 3's second card was missed seven times
    deal = [
        [0, 4320, 8000],
        [1019, 4736, 9544],
        [1457, 8817, 9455],
        [2372, 6071, 9809],
        [4016, 6517, 10220],
        [4506, 7587, 10637],
    ]
    assert lead(deal, 2, POOR) < CERTAIN
    assert lead(deal, 5, POOR) >= CERTAIN


def test_a_card_that_lay_there_before_the_deal_makes_no_order_certain():
    deal = regular(4)
    deal[3] = [-7000, deal[3][0], deal[3][1]]
    assert all(lead(deal, place, GOOD) == 0 for place in range(4))


def test_a_card_that_nobody_heard_takes_no_part():
    deal = regular(5)
    deal[2] = [*deal[2][:2], None]
    assert all(lead(deal, place, GOOD) >= CERTAIN for place in (0, 1, 3, 4))


def test_what_a_miss_costs_grows_up_to_what_a_worn_tag_costs():
    costs = [GOOD.cost(late) for late in range(-500, 30_000, 100)]
    assert costs == sorted(costs)
    assert costs[0] == 0
    assert costs[-1] == GOOD.cost(60_000)
    assert POOR.cost(1500) < GOOD.cost(1500)


def test_rounds_that_go_by_between_two_looks_cannot_be_told_apart():
    # heard at a simulated table, ms: a look a second, six cards a second; seat 4's 2579 was second
    deal = [[0, 875, 1898], [83, 980], [-773, 359, 1250], [-572, 441, 2579]]
    assert lead(deal, 3, Hearing(miss=0.22, look_ms=776)) == 0
    assert lead(regular(4, pace=335), 3, Hearing(miss=0.05, look_ms=776)) == 0
    assert lead(regular(4, pace=335), 3, Hearing(miss=0.05, look_ms=300)) >= CERTAIN


def still(length, count):
    """Gaps of so many ms, so many times, among an hour of hits every 256 ms."""
    gaps = [0] * GAPS
    gaps[1] = 3_600_000 // 256
    gaps[length // GAP_MS - 1] += count
    return gaps


def test_what_antennas_do_all_evening_says_what_a_late_card_costs():
    steady = Hearing(miss=0.05, look_ms=256, gaps=still(256, 0))
    bursts = Hearing(miss=0.05, look_ms=256, gaps=still(2048, 200))
    assert Hearing(miss=0.05, look_ms=256).cost(1500) < steady.cost(1500)
    assert bursts.cost(1500) < steady.cost(1500)
    assert bursts.cost(100) < bursts.cost(1000) < bursts.cost(3000) <= steady.cost(3000)
    share = 200 * (2048 - 1500) / (3_600_000 + 200 * 2048)
    assert bursts.cost(1500) == pytest.approx(-log(share), abs=0.1)
