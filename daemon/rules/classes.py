"""The 7,462 classes of five cards that are worth the same, best first (rule 3.6.1)."""

from __future__ import annotations

from functools import cache
from itertools import combinations, permutations
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

CATEGORIES: Final = (
    "royal-flush",
    "straight-flush",
    "four-of-a-kind",
    "full-house",
    "flush",
    "straight",
    "three-of-a-kind",
    "two-pair",
    "pair",
    "high-card",
)

Ranks = tuple[int, ...]

_DOWN: Final = range(12, -1, -1)
_WHEEL: Final[Ranks] = (3, 2, 1, 0, 12)
STRAIGHTS: Final[tuple[Ranks, ...]] = (
    *(tuple(range(top, top - 5, -1)) for top in range(12, 3, -1)),
    _WHEEL,
)


class Class(NamedTuple):
    """A category, and the ranks of its five cards (0 to 12) in the order they are read."""

    category: str
    ranks: Ranks


class Classes(NamedTuple):
    """All classes, `best_first[rank - 1]`, and their rank (1 to 7462) by ranks as read."""

    best_first: tuple[Class, ...]
    suited: dict[Ranks, int]
    unsuited: dict[Ranks, int]


@cache
def classes() -> Classes:
    """The table of classes, made at the first call."""
    best_first = tuple(_best_first())
    suited: dict[Ranks, int] = {}
    unsuited: dict[Ranks, int] = {}
    for rank, (category, ranks) in enumerate(best_first, 1):
        (suited if category.endswith("flush") else unsuited)[ranks] = rank
    return Classes(best_first, suited, unsuited)


def _best_first() -> Iterator[Class]:
    flat = [ranks for ranks in combinations(_DOWN, 5) if not _is_straight(ranks)]
    yield Class("royal-flush", STRAIGHTS[0])
    yield from (Class("straight-flush", ranks) for ranks in STRAIGHTS[1:])
    yield from (Class("four-of-a-kind", (a, a, a, a, k)) for a, k in permutations(_DOWN, 2))
    yield from (Class("full-house", (a, a, a, b, b)) for a, b in permutations(_DOWN, 2))
    yield from (Class("flush", ranks) for ranks in flat)
    yield from (Class("straight", ranks) for ranks in STRAIGHTS)
    yield from (Class("three-of-a-kind", (a, a, a, *k)) for a, k in _with_kickers(2))
    yield from (
        Class("two-pair", (a, a, b, b, k))
        for a, b in combinations(_DOWN, 2)
        for k in _DOWN
        if k not in {a, b}
    )
    yield from (Class("pair", (a, a, *k)) for a, k in _with_kickers(3))
    yield from (Class("high-card", ranks) for ranks in flat)


def _is_straight(ranks: Ranks) -> bool:
    return ranks[0] - ranks[4] == 4 or ranks == (12, 3, 2, 1, 0)


def _with_kickers(number: int) -> Iterator[tuple[int, Ranks]]:
    for rank in _DOWN:
        others = (other for other in _DOWN if other != rank)
        yield from ((rank, kickers) for kickers in combinations(others, number))
