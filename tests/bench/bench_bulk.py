"""Ranks in bulk beside other evaluators, and the census of all seven-card hands.

Run: `python tests/bench/bench_bulk.py`
"""

from __future__ import annotations

from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from importlib import import_module
from itertools import combinations
from time import perf_counter
from typing import TYPE_CHECKING

import numpy as np

from daemon.odds.bulk import ranks
from daemon.rules.cards import DECK
from daemon.rules.classes import classes

if TYPE_CHECKING:
    from collections.abc import Callable

HANDS = 50_000


def fours() -> np.ndarray:
    """All sets of four cards, ascending, so that those above a card are the last ones."""
    sets = np.fromiter(combinations(range(52), 4), np.dtype((np.uint8, 4)))
    return np.ascontiguousarray(sets)


def count_from(first: int, tails: np.ndarray) -> np.ndarray:
    """How many hands of each rank have this card as their lowest."""
    counts = np.zeros(7463, np.int64)
    starts = np.searchsorted(tails[:, 0], np.arange(53))
    for second in range(first + 1, 52):
        rests = [tails[starts[third + 1] :] for third in range(second + 1, 52)]
        hands = np.empty((sum(map(len, rests)), 7), np.uint8)
        hands[:, :2] = first, second
        start = 0
        for third, rest in enumerate(rests, second + 1):
            hands[start : start + len(rest), 2] = third
            hands[start : start + len(rest), 3:] = rest
            start += len(rest)
        counts += np.bincount(ranks(hands), minlength=7463)
    return counts


def count_seven_card_hands(threads: int = 2) -> np.ndarray:
    """How many of all seven-card hands have each rank (0 is unused)."""
    tails = fours()
    with ThreadPoolExecutor(threads) as pool:
        return np.sum(list(pool.map(lambda first: count_from(first, tails), range(46))), axis=0)


def categories(counts: np.ndarray) -> dict[str, int]:
    """The counts by category."""
    totals: Counter[str] = Counter()
    for rank, number in enumerate(counts[1:].tolist()):
        totals[classes().best_first[rank].category] += number
    return dict(totals)


def peers(hands: list[list[str]]) -> dict[str, Callable[[], Callable[[], object]]]:
    """What prepares a run over all hands in each peer's own form; only the run is timed."""

    def card_objects(module: str) -> Callable[[], object]:
        library = import_module(module)
        cards = {name: library.Card(name) for name in DECK}
        own = [[cards[name] for name in hand] for hand in hands]
        return lambda: list(map(library.evaluate, own))

    def treys() -> Callable[[], object]:
        library = import_module("treys")
        judge = library.Evaluator()
        own = [[library.Card.new(name) for name in hand] for hand in hands]
        return lambda: [judge.evaluate(hand[:2], hand[2:]) for hand in own]

    def phevaluator() -> Callable[[], object]:
        library = import_module("phevaluator")
        own = [[library.Card(name) for name in hand] for hand in hands]
        return lambda: [library.evaluate_cards(*hand) for hand in own]

    def pokerkit() -> Callable[[], object]:
        hand_type = import_module("pokerkit").StandardHighHand
        own = ["".join(hand) for hand in hands[:500]]
        return lambda: [hand_type.from_game(hand) for hand in own]

    def pokerfast() -> Callable[[], object]:
        library = import_module("pokerfast.equity")
        return lambda: library.evaluate(hands)

    def poker_equity() -> Callable[[], object]:
        library = import_module("poker_equity")
        own = ["".join(hand) for hand in hands]
        return lambda: library.score_batch("high", own)

    return {
        "pkrbot, a call a hand": lambda: card_objects("pkrbot"),
        "eval7, a call a hand": lambda: card_objects("eval7"),
        "treys, a call a hand": treys,
        "phevaluator, a call a hand": phevaluator,
        "pokerkit, a call a hand": pokerkit,
        "pokerfast (OMPEval), in bulk": pokerfast,
        "poker-equity, in bulk": poker_equity,
    }


def per_second(run: Callable[[], object], hands: int) -> float:
    """The best of several runs, after one to warm up."""
    run()
    times = []
    for _ in range(5):
        start = perf_counter()
        run()
        times.append(perf_counter() - start)
    return hands / min(times)


def main() -> None:
    """Print the table."""
    rng = np.random.default_rng(1)
    hands = np.argsort(rng.random((HANDS, 52)), axis=1)[:, :7].astype(np.uint8)
    ours = per_second(lambda: ranks(hands), HANDS)
    print(f"{'ranks of seven cards':<30} {'hands a second':>16} {'feltd is faster by':>20}")
    print(f"{'feltd, in bulk':<30} {ours:>16,.0f}")
    for name, prepare in peers([[DECK[card] for card in hand] for hand in hands]).items():
        try:
            run = prepare()
        except ImportError as error:
            print(f"{name:<30} not installed: {error}")
            continue
        theirs = per_second(run, 500 if name.startswith("pokerkit") else HANDS)
        print(f"{name:<30} {theirs:>16,.0f} {ours / theirs:>18.1f} x")
    start = perf_counter()
    counts = count_seven_card_hands()
    took = perf_counter() - start
    print(f"\nall {counts.sum():,} seven-card hands, two threads: {took:.1f} s")
    for category, number in categories(counts).items():
        print(f"{category:<16} {number:>12,}")


if __name__ == "__main__":
    main()
