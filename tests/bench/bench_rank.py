"""One hand at a time in plain Python, beside peers in the same run; prints ratios."""

from __future__ import annotations

from random import Random
from time import perf_counter
from typing import TYPE_CHECKING

import eval7
import phevaluator
import pkrbot
from pokerkit import StandardHighHand
from treys import Card, Evaluator

from daemon.rules.cards import DECK
from daemon.rules.labels import label
from daemon.rules.ranking import evaluate, rank

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

HANDS = 20_000
SLOW_HANDS = 400
ROUNDS = 5


def seconds_each(call: Callable[[object], object], hands: Sequence[object]) -> float:
    """The best of several rounds, divided by the number of hands; the first round warms up."""
    best = float("inf")
    for _ in range(ROUNDS + 1):
        start = perf_counter()
        for hand in hands:
            call(hand)
        best = min(best, perf_counter() - start)
    return best / len(hands)


def main() -> None:
    """Time `rank` and a full result with label beside peers in Python and, below, in C."""
    random = Random(1)
    numbers = [random.sample(range(52), 7) for _ in range(HANDS)]
    cards = [[DECK[number] for number in hand] for hand in numbers]
    coded = [[Card.new(card) for card in hand] for hand in cards]
    joined = ["".join(hand) for hand in cards[:SLOW_HANDS]]
    treys = Evaluator()
    times = {
        "feltd rank": seconds_each(rank, numbers),
        "feltd evaluate and label": seconds_each(lambda hand: label(evaluate(hand)), cards),
        "treys": seconds_each(lambda hand: treys.evaluate([], hand), coded),
        "phevaluator": seconds_each(lambda hand: phevaluator.evaluate_cards(*hand), cards),
        "phevaluator, numbers": seconds_each(
            lambda hand: phevaluator.evaluate_cards(*hand), numbers
        ),
        "pokerkit": seconds_each(StandardHighHand.from_game, joined),
        "eval7 (C)": seconds_each(eval7.evaluate, [list(map(eval7.Card, hand)) for hand in cards]),
        "pkrbot (C)": seconds_each(
            pkrbot.evaluate, [list(map(pkrbot.Card, hand)) for hand in cards]
        ),
    }
    print(f"{'one seven-card hand':28} {'us':>9} {'x rank':>8} {'x full':>8}")
    for name, time in times.items():
        by_rank = time / times["feltd rank"]
        by_full = time / times["feltd evaluate and label"]
        print(f"{name:28} {time * 1e6:9.2f} {by_rank:8.1f} {by_full:8.1f}")


if __name__ == "__main__":
    main()
