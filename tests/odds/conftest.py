from __future__ import annotations

from itertools import combinations
from math import comb

import phevaluator
import pytest

from daemon.rules.cards import DECK, parse_cards


def holdem_rank(own, board):
    return phevaluator.evaluate_cards(*own, *board)


def omaha_rank(own, board):
    return phevaluator.evaluate_omaha_cards(*board, *own)


def _shares(hands, ranked, totals):
    best = min(ranked.values())
    ahead = [seat for seat in hands if ranked[seat] == best]
    for seat in ahead:
        totals[seat][min(len(ahead), 2) - 1] += 1
        totals[seat][2] += 1 / len(ahead)


@pytest.fixture(scope="session")
def enumerate_boards():
    """Win, tie and equity by seat over every board, one evaluation at a time."""

    def run(discipline, hands, board=(), dead=()):
        rank = {"holdem": holdem_rank, "omaha": omaha_rank}[discipline]
        gone = {*board, *dead, *(card for hand in hands.values() for card in hand)}
        deck = [card for card in DECK if card not in gone]
        totals = {seat: [0, 0, 0.0] for seat in hands}
        for rest in combinations(deck, 5 - len(board)):
            ranked = {seat: rank(hand, [*board, *rest]) for seat, hand in hands.items()}
            _shares(hands, ranked, totals)
        deals = comb(len(deck), 5 - len(board))
        return deals, {seat: [n / deals for n in found] for seat, found in totals.items()}

    return run


@pytest.fixture(scope="session")
def enumerate_stud():
    """The same in stud, over every way to deal the missing own cards, then a common card."""

    def run(hands, dead=(), common=(), *, missing_common=0, size=7):
        gone = {*dead, *common, *(card for hand in hands.values() for card in hand)}
        deck = [card for card in DECK if card not in gone]
        totals = {seat: [0, 0, 0.0] for seat in hands}
        deals = 0
        stack = [({}, deck, list(hands))]
        while stack:
            complete, left, waiting = stack.pop()
            if waiting:
                seat, *others = waiting
                for more in combinations(left, size - len(hands[seat])):
                    rest = [card for card in left if card not in more]
                    stack.append(({**complete, seat: [*hands[seat], *more]}, rest, others))
                continue
            for shared in combinations(left, missing_common):
                deals += 1
                ranked = {
                    seat: phevaluator.evaluate_cards(*hand, *common, *shared)
                    for seat, hand in complete.items()
                }
                _shares(hands, ranked, totals)
        return deals, {seat: [n / deals for n in found] for seat, found in totals.items()}

    return run


@pytest.fixture(scope="session")
def deal():
    """Hands by seat and further cards, dealt by a seeded generator."""

    def run(rng, seats, size, further=0):
        cards = rng.sample(DECK, seats * size + further)
        hands = {seat + 1: cards[seat * size : (seat + 1) * size] for seat in range(seats)}
        return hands, cards[seats * size :]

    return run


@pytest.fixture(scope="session")
def hands():
    """Hands by seat from texts."""
    return lambda *texts: {seat: parse_cards(text) for seat, text in enumerate(texts, 1)}


@pytest.fixture(scope="session")
def same():
    """Whether an exact answer agrees with an enumeration."""

    def check(found, enumerated):
        deals, expected = enumerated
        assert found.exact
        assert found.deals == deals
        for seat in found.seats:
            assert [seat.win, seat.tie, seat.equity] == pytest.approx(
                expected[seat.seat], abs=1e-12
            )

    return check
