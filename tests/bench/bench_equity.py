"""Equity beside other calculators, and the slowest of many spots.

Run: `python tests/bench/bench_equity.py`
"""

from __future__ import annotations

import random
import sys
from importlib import import_module
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, NamedTuple

from daemon.odds import equity
from daemon.rules.cards import DECK, parse_cards

if TYPE_CHECKING:
    from collections.abc import Callable

PAIRS = ("AhAs", "KdKc", "QdQc", "JdJc", "TdTc", "9d9c", "8d8c", "7d7c", "6d6c")
STUD = ("AhAs2d", "KhKs3d", "QhQs4d", "JhJs5d", "ThTs6d", "9h9s7d", "8h8s2c", "7h7s3c")


class Spot(NamedTuple):
    """One spot, with the peers that can answer it exactly."""

    title: str
    discipline: str
    hands: tuple[str, ...]
    board: str
    peers: tuple[str, ...]


SPOTS = (
    Spot("hold'em AhAs v KdKc", "holdem", ("AhAs", "KdKc"), "", ("pokerfast", "poker-equity")),
    Spot("hold'em AhKh v QsQd", "holdem", ("AhKh", "QsQd"), "", ("pokerfast", "poker-equity")),
    Spot("hold'em AsKh v QdJc", "holdem", ("AsKh", "QdJc"), "", ("pokerfast", "poker-equity")),
    Spot("hold'em six pairs", "holdem", PAIRS[:6], "", ("pokerfast", "poker-equity")),
    Spot("hold'em nine pairs", "holdem", PAIRS, "", ("poker-equity",)),
    Spot("hold'em flop", "holdem", PAIRS[:2], "2c7d9h", ("pokerfast", "poker-equity")),
    Spot("omaha AAKK v JT98", "omaha", ("AhAsKhKs", "JdTd9c8c"), "", ("poker-equity",)),
    Spot("omaha AAKK v JT98, flop", "omaha", ("AhAsKhKs", "JdTd9c8c"), "Qd9h2c", ("poker-equity",)),
    Spot("stud, fifth street", "stud", ("AhAs2d7c9s", "KhKs3d8cTs"), "", ("poker-equity",)),
    Spot("stud, third street", "stud", ("AhAs2d", "KhKs3d"), "", ()),
)


def best_of(run: Callable[[], object], enough_s: float = 0.5) -> float:
    """Seconds of the fastest run, after one to warm up."""
    run()
    times: list[float] = []
    while sum(times) < enough_s or len(times) < 3:
        start = perf_counter()
        run()
        times.append(perf_counter() - start)
    return min(times)


def ours(spot: Spot) -> Callable[[], object]:
    """Feltd's own answer, from cards as text to the result."""
    hands = {seat: parse_cards(hand) for seat, hand in enumerate(spot.hands, 1)}
    board = parse_cards(spot.board)
    return lambda: equity(spot.discipline, hands, board)


def theirs(peer: str, spot: Spot) -> Callable[[], object]:
    """A peer's exact answer; ImportError where it is not installed."""
    hands = list(spot.hands)
    if peer == "pokerfast":
        library = import_module("pokerfast.equity")
        return lambda: library.equity(hands, spot.board, exact=True)
    library = import_module("poker_equity")
    return lambda: library.exact_from_text(spot.discipline, hands, spot.board, "")


def compare() -> None:
    """Each spot beside its peers."""
    print(f"{'exact equity':<26} {'by':<14} {'ms':>10} {'feltd is faster by':>20}")
    for spot in SPOTS:
        own = best_of(ours(spot))
        print(f"{spot.title:<26} {'feltd':<14} {1000 * own:>10.3f}")
        for peer in spot.peers:
            try:
                took = best_of(theirs(peer, spot))
            except ImportError as error:
                print(f"{'':<26} {peer:<14} not installed: {error}")
                continue
            print(f"{'':<26} {peer:<14} {1000 * took:>10.3f} {took / own:>18.1f} x")


def slowest(discipline: str, size: int, spots: int) -> None:
    """The slowest of random spots by street, two to ten seats, some cards dead."""
    rng = random.Random(2)
    for board in (0, 3, 4, 5):
        worst = (0.0, 0)
        for _ in range(spots):
            seats = rng.randint(2, 10)
            cards = rng.sample(DECK, size * seats + board + rng.randint(0, 3))
            hands = {seat + 1: cards[size * seat : size * (seat + 1)] for seat in range(seats)}
            table, dead = cards[size * seats :][:board], cards[size * seats + board :]
            took = best_of(lambda: equity(discipline, hands, table, dead), 0.0)  # noqa: B023
            worst = max(worst, (took, seats))
        print(f"{discipline}, {board} board cards: {1000 * worst[0]:.2f} ms ({worst[1]} seats)")


def stud_third_street() -> None:
    """Eight seats to a standard error of 0.3 %, and a peer's time for as many deals."""
    hands = {seat: parse_cards(hand) for seat, hand in enumerate(STUD, 1)}
    found = equity("stud", hands, target_error=0.003)
    own = best_of(lambda: equity("stud", hands, target_error=0.003))
    print(f"feltd: {1000 * own:.2f} ms, {found.deals} deals, error {100 * found.error:.3f} %")
    try:
        library = import_module("poker_equity")
    except ImportError as error:
        print(f"poker-equity is not installed: {error}")
        return
    took = best_of(lambda: library.chunk_from_text("stud", list(STUD), samples=found.deals))
    print(
        f"poker-equity, as many deals: {1000 * took:.2f} ms (feltd is faster by {took / own:.1f})"
    )


def resident_megabytes() -> float:
    """The memory that the process occupies (Linux)."""
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return pages * 4096 / 1e6


def readiness() -> None:
    """From nothing to the first answers in all three disciplines."""
    before = resident_megabytes()
    start = perf_counter()
    equity("holdem", {1: ["Ah", "As"], 2: ["Kd", "Kc"]})
    equity("omaha", {1: ["Ah", "As", "Kh", "Ks"], 2: ["Jd", "Td", "9c", "8c"]})
    equity("stud", {1: ["Ah", "As", "2d"], 2: None}, target_error=0.01)
    took = perf_counter() - start
    grown = resident_megabytes() - before
    print(
        f"tables ready after {took:.2f} s; the process grew by {grown:.1f} MB, work space included"
    )


def main() -> None:
    """Print everything."""
    print(f"Python {sys.version.split()[0]}")
    readiness()
    print()
    compare()
    print("\nthe slowest of 100 random spots, two to ten seats")
    slowest("holdem", 2, 100)
    slowest("omaha", 4, 100)
    print("\nstud, third street, eight seats, standard error 0.3 %")
    stud_third_street()


if __name__ == "__main__":
    main()
