from __future__ import annotations

import pytest
from phevaluator import evaluate_omaha_cards
from pokerkit import OmahaHoldemHand, StandardHighHand

from daemon.games import GAMES
from daemon.rules.cards import DECK
from daemon.rules.errors import RuleError
from daemon.rules.showdown import showdown


def test_what_each_street_deals():
    shapes = {
        name: [(s.name, s.down, s.up, s.board, s.burn) for s in game.streets]
        for name, game in GAMES.items()
    }
    flop = [("flop", 0, 0, 3, 1), ("turn", 0, 0, 1, 1), ("river", 0, 0, 1, 1)]
    assert shapes == {
        "holdem": [("preflop", 2, 0, 0, 0), *flop],
        "omaha": [("preflop", 4, 0, 0, 0), *flop],
        "stud": [
            ("third", 2, 1, 0, 0),
            ("fourth", 0, 1, 0, 1),
            ("fifth", 0, 1, 0, 1),
            ("sixth", 0, 1, 0, 1),
            ("seventh", 1, 0, 0, 1),
        ],
    }


def test_omaha_ranks_as_phevaluator_says(rng):
    strength = GAMES["omaha"].strength
    for _ in range(20_000):
        cards = rng.sample(DECK, 9)
        found = strength(cards[5:], cards[:5])
        assert found.rank == evaluate_omaha_cards(*cards)
        assert len(set(found.best) & set(cards[5:])) == 2


def test_omaha_best_five_do_not_depend_on_the_order_of_cards(rng):
    strength = GAMES["omaha"].strength
    for _ in range(300):
        own, board = rng.sample(DECK[-24:-8], 4), rng.sample(DECK[-8:] + DECK[:4], 5)
        again = strength(rng.sample(own, 4), rng.sample(board, 5))
        assert again == strength(own, board)


@pytest.mark.parametrize(("own", "board"), [(1, 5), (5, 5), (4, 2), (4, 6)])
def test_omaha_needs_two_own_cards_and_three_of_the_board(own, board):
    with pytest.raises(RuleError, match="no Omaha hand"):
        GAMES["omaha"].strength(DECK[:own], DECK[10 : 10 + board])


def _peer_winners(hands):
    best = max(hands.values())
    return tuple(seat for seat, hand in sorted(hands.items()) if hand == best)


@pytest.mark.parametrize("name", ["holdem", "stud", "omaha"])
def test_showdowns_end_as_pokerkit_says(name, rng):
    game = GAMES[name]
    kind = OmahaHoldemHand if name == "omaha" else StandardHighHand
    for _ in range(1500):
        cards = rng.sample(DECK, game.board_cards + 4 * game.own_cards)
        board = cards[: game.board_cards]
        hands = {
            seat: cards[len(board) + seat * game.own_cards :][: game.own_cards] for seat in range(4)
        }
        peers = {
            seat + 1: kind.from_game("".join(own), "".join(board)) for seat, own in hands.items()
        }
        result = showdown(game, board, {seat + 1: own for seat, own in hands.items()})
        assert result.winners == _peer_winners(peers)
