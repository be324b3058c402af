"""The strength of five to seven cards (rules 3.5.2 and 3.6.1).

The cards are added up, each as a number with one octal digit for its rank and one hexadecimal
digit for its suit: the sum holds how many there are of each. Suit digits start at three, so that
five of a suit set the digit's top bit. The value of every sum is worked out once, when it is
first met, and remembered: there is no table to load.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import msgspec

from daemon.rules.cards import DECK, number_of, require_distinct
from daemon.rules.classes import STRAIGHTS, Ranks, classes
from daemon.rules.errors import RuleError

if TYPE_CHECKING:
    from collections.abc import Sequence

_RANK_BITS: Final = 39
_RANK_MASK: Final = (1 << _RANK_BITS) - 1
_NO_CARDS: Final = 0x3333 << _RANK_BITS
_FLUSH: Final = 0x8888 << _RANK_BITS
_KEYS: Final = tuple(
    (1 << 3 * rank) + (1 << _RANK_BITS + 4 * suit) for rank in range(13) for suit in range(4)
)
_key: Final = _KEYS.__getitem__


class Strength(msgspec.Struct, frozen=True, gc=False):
    """What cards are worth: `rank` from 1 (royal flush) to 7462 (7-5-4-3-2), less is better.

    `best` are the five cards that count, in the order they are read: pair first, then kickers.
    """

    rank: int
    category: str
    best: tuple[str, ...]


def rank(cards: Sequence[int]) -> int:
    """The rank (1 to 7462) of five to seven different card numbers; they are not checked."""
    total = sum(map(_key, cards), _NO_CARDS)
    if total & _FLUSH:
        return _SUITED[sum(1 << (card >> 2) for card in cards if card & 3 == _suit(total))]
    return _UNSUITED[total & _RANK_MASK]


def evaluate(cards: Sequence[str]) -> Strength:
    """The strength of five to seven cards. Of equal cards the higher suits are named as best.

    Raises RuleError for another number of cards and CardError for a card that is there twice.
    """
    if not 5 <= len(cards) <= 7:
        raise RuleError(f"{len(cards)} cards: a hand is found among five to seven")
    require_distinct(cards)
    return strength([number_of(card) for card in cards])


def strength(cards: Sequence[int]) -> Strength:
    """The strength of five to seven different card numbers; they are not checked."""
    total = sum(map(_key, cards), _NO_CARDS)
    pool = sorted(cards, reverse=True)
    if total & _FLUSH:
        suit = _suit(total)
        pool = [card for card in pool if card & 3 == suit]
        found = _SUITED[sum(1 << (card >> 2) for card in pool)]
    else:
        found = _UNSUITED[total & _RANK_MASK]
    category, ranks = classes().best_first[found - 1]
    return Strength(found, category, _pick(pool, ranks))


def _pick(pool: list[int], ranks: Ranks) -> tuple[str, ...]:
    held = [card >> 2 for card in pool]
    best: list[str] = []
    for wanted in ranks:
        place = held.index(wanted)
        del held[place]
        best.append(DECK[pool.pop(place)])
    return tuple(best)


def _suit(total: int) -> int:
    return ((total & _FLUSH) >> _RANK_BITS).bit_length() - 1 >> 2


class _Unsuited(dict[int, int]):
    """Rank by the octal count of ranks, worked out when it is first asked for."""

    def __missing__(self, key: int) -> int:
        counts = [key >> 3 * rank & 7 for rank in range(13)]
        self[key] = found = classes().unsuited[_best_of_counts(counts)]
        return found


class _Suited(dict[int, int]):
    """Rank by the set of ranks (bits) of five to seven suited cards."""

    def __missing__(self, key: int) -> int:
        ranks = tuple(rank for rank in range(12, -1, -1) if key >> rank & 1)
        self[key] = found = classes().suited[_straight_in(ranks) or ranks[:5]]
        return found


_UNSUITED: Final = _Unsuited()
_SUITED: Final = _Suited()


def _straight_in(ranks: Ranks) -> Ranks | None:
    return next((straight for straight in STRAIGHTS if set(straight) <= set(ranks)), None)


def _best_of_counts(counts: list[int]) -> Ranks:
    """The five ranks that count, as read, where no five cards are suited."""
    down = sorted((rank for rank in range(13) if counts[rank]), key=lambda r: (-counts[r], -r))
    first, second = down[0], down[1]
    kickers = sorted(down, reverse=True)
    if counts[first] == 4:
        return (*[first] * 4, *_without(kickers, first)[:1])
    if counts[first] == 3 and counts[second] >= 2:
        pair = max(rank for rank in down[1:] if counts[rank] >= 2)
        return (*[first] * 3, pair, pair)
    if straight := _straight_in(tuple(kickers)):
        return straight
    if counts[first] == 3:
        return (*[first] * 3, *_without(kickers, first)[:2])
    if counts[second] == 2:
        return (first, first, second, second, *_without(kickers, first, second)[:1])
    if counts[first] == 2:
        return (first, first, *_without(kickers, first)[:3])
    return tuple(kickers[:5])


def _without(ranks: list[int], *gone: int) -> list[int]:
    return [rank for rank in ranks if rank not in gone]
