from __future__ import annotations

import random
from itertools import combinations

import numpy as np
import pytest

from daemon.odds import equity
from daemon.odds.bulk import ranks
from daemon.rules.cards import DECK, NUMBER, parse_cards

PAIRS = ("AhAs", "KdKc", "QdQc", "JdJc", "TdTc", "9d9c", "8d8c", "7d7c", "6d6c")


@pytest.mark.parametrize(
    ("texts", "board", "expected"),
    [
        (("AhAs", "KdKc"), "", 81.25549),
        (("AhAs", "KhKs"), "", 82.63661),
        (("AhKd", "2c2s"), "", 46.95965),
        (("AhAs", "KdKc"), "2c7d9h", 91.61616),
    ],
)
def test_published_heads_up_equities(hands, texts, board, expected):
    found = equity("holdem", hands(*texts), parse_cards(board))
    assert found.exact
    assert 100 * found.seats[0].equity == pytest.approx(expected, abs=5e-6)


def test_aces_against_kings_to_the_last_deal(hands):
    found = equity("holdem", hands("AhAs", "KdKc"))
    aces, kings = found.seats
    assert found.deals == 1_712_304
    assert round(aces.win * found.deals) == 1_388_072
    assert round(aces.tie * found.deals) == 6_538
    assert round(kings.win * found.deals) == 317_694
    assert kings.tie == aces.tie


def test_published_equities_of_nine_pairs(hands):
    found = equity("holdem", hands(*PAIRS))
    assert [100 * seat.equity for seat in found.seats] == pytest.approx(
        [30.35175, 16.79373, 13.11869, 10.22711, 7.96948, 6.01301, 4.97008, 4.75517, 5.80097],
        abs=5e-6,
    )


def test_published_omaha_flop(hands):
    found = equity("omaha", hands("AhAsKhKs", "JdTd9c8c"), parse_cards("Qd9h2c"))
    assert found.deals == 820
    assert [round(seat.win * 820) for seat in found.seats] == [376, 444]
    assert [seat.tie for seat in found.seats] == [0, 0]


@pytest.mark.parametrize("board", [3, 4, 5])
@pytest.mark.parametrize("discipline", ["holdem", "omaha"])
@pytest.mark.parametrize("seed", range(4))
def test_flop_turn_and_river_as_enumerated(deal, enumerate_boards, same, discipline, board, seed):
    rng = random.Random(100 * board + seed)
    size, seats = (2, rng.randint(2, 6)) if discipline == "holdem" else (4, rng.randint(2, 3))
    known, further = deal(rng, seats, size, board + 4)
    table, dead = further[:board], further[board:]
    found = equity(discipline, known, table, dead)
    same(found, enumerate_boards(discipline, known, table, dead))


@pytest.mark.parametrize("discipline", ["holdem", "omaha"])
@pytest.mark.parametrize("seed", range(6))
def test_before_the_flop_with_many_dead_cards_as_enumerated(
    deal, enumerate_boards, same, discipline, seed
):
    rng = random.Random(seed)
    size, left, seats = (2, 17, rng.randint(2, 5)) if discipline == "holdem" else (4, 14, 2)
    known, dead = deal(rng, seats, size, 52 - left - seats * size)
    found = equity(discipline, known, dead=dead)
    same(found, enumerate_boards(discipline, known, dead=dead))


@pytest.mark.parametrize("discipline", ["holdem", "omaha"])
@pytest.mark.parametrize("suit", "cdhs")
def test_before_the_flop_with_a_deck_of_mostly_one_suit_as_enumerated(
    enumerate_boards, same, discipline, suit
):
    rng = random.Random(suit)
    deck = [card for card in DECK if card[1] == suit] + rng.sample(
        [card for card in DECK if card[1] != suit], 11 if discipline == "holdem" else 9
    )
    rng.shuffle(deck)
    size = 2 if discipline == "holdem" else 4
    known = {3: deck[:size], 7: deck[size : 2 * size]}
    dead = [card for card in DECK if card not in deck]
    found = equity(discipline, known, dead=dead)
    same(found, enumerate_boards(discipline, known, dead=dead))


@pytest.mark.parametrize("seed", range(8))
def test_holdem_before_the_flop_as_counted_over_every_board(deal, seed):
    rng = random.Random(seed)
    known, _ = deal(rng, rng.choice([2, 3, 9]), 2)
    gone = {card for hand in known.values() for card in hand}
    deck = [NUMBER[card] for card in DECK if card not in gone]
    boards = np.array(list(combinations(deck, 5)), np.uint8)
    table = np.empty((len(boards), 7), np.uint8)
    table[:, 2:] = boards
    ranked = []
    for hand in known.values():
        table[:, :2] = [NUMBER[card] for card in hand]
        ranked.append(ranks(table))
    leads = np.array(ranked) == np.min(ranked, axis=0)
    shares = (leads / leads.sum(axis=0)).mean(axis=1)
    alone = (leads & (leads.sum(axis=0) == 1)).mean(axis=1)
    found = equity("holdem", known)
    assert found.deals == len(boards)
    assert [seat.equity for seat in found.seats] == pytest.approx(shares.tolist(), abs=1e-9)
    assert [seat.win for seat in found.seats] == pytest.approx(alone.tolist(), abs=1e-9)


@pytest.mark.parametrize(("discipline", "size"), [("holdem", 2), ("omaha", 4)])
@pytest.mark.parametrize("board", [0, 3, 4, 5])
def test_seats_suits_and_the_order_of_cards_change_only_places(deal, discipline, size, board):
    rng = random.Random(board)
    known, table = deal(rng, 4, size, board)
    found = {seat.seat: seat for seat in equity(discipline, known, table).seats}
    suits = dict(zip("cdhs", rng.sample("cdhs", 4), strict=True))
    seats = dict(zip(known, rng.sample(sorted(known), 4), strict=True))

    def moved(cards):
        return [card[0] + suits[card[1]] for card in rng.sample(cards, len(cards))]

    other = {seats[seat]: moved(known[seat]) for seat in rng.sample(sorted(known), 4)}
    for seat in equity(discipline, other, moved(table)).seats:
        (origin,) = (old for old, new in seats.items() if new == seat.seat)
        assert (seat.win, seat.tie) == (found[origin].win, found[origin].tie)
        assert seat.equity == pytest.approx(found[origin].equity, abs=1e-12)


@pytest.mark.parametrize(("discipline", "size"), [("holdem", 2), ("omaha", 4)])
def test_equities_add_up_to_one(deal, discipline, size):
    rng = random.Random(discipline)
    for seats in range(1, 11):
        known, _ = deal(rng, seats, size)
        found = equity(discipline, known)
        assert sum(seat.equity for seat in found.seats) == pytest.approx(1, abs=1e-12)
        assert all(seat.win <= seat.equity <= seat.win + seat.tie for seat in found.seats)


def test_a_board_that_nobody_beats_is_shared(hands):
    found = equity("holdem", hands("2c3d", "2d3h", "2h4s"), parse_cards("AsKsQsJsTs"))
    assert found.deals == 1
    for seat in found.seats:
        assert (seat.win, seat.tie) == (0, 1)
        assert seat.equity == pytest.approx(1 / 3)


def test_omaha_plays_exactly_two_own_cards(hands):
    found = equity("omaha", hands("As2c3d4h", "KdQd9c8c"), parse_cards("KsQsJsTs5d"))
    assert [seat.win for seat in found.seats] == [0, 1]


def test_twenty_three_hands_of_holdem():
    known = {seat + 1: DECK[2 * seat : 2 * seat + 2] for seat in range(23)}
    found = equity("holdem", known)
    assert found.exact
    assert found.deals == 6
    assert sum(seat.equity for seat in found.seats) == pytest.approx(1)
