"""The name of a hand in English and Russian; it never depends on the other hands.

Russian names of categories are the rule book's (3.6.1). English names every kicker that counts,
Russian the highest one.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Final, NamedTuple

import msgspec

from daemon.rules.cards import RANKS
from daemon.rules.classes import classes

if TYPE_CHECKING:
    from daemon.rules.classes import Ranks
    from daemon.rules.ranking import Strength


class Label(msgspec.Struct, frozen=True):
    """A text for people, in both languages."""

    en: str
    ru: str


class _Russian(NamedTuple):
    """A rank: nominative, genitive singular; nominative, genitive, prepositional plural."""

    one: str
    of_one: str
    many: str
    of_many: str
    on_many: str


_ENGLISH: Final = (
    *("Deuce", "Three", "Four", "Five", "Six", "Seven", "Eight", "Nine", "Ten"),
    *("Jack", "Queen", "King", "Ace"),
)
_RUSSIAN: Final = (
    _Russian("двойка", "двойки", "двойки", "двоек", "двойках"),
    _Russian("тройка", "тройки", "тройки", "троек", "тройках"),
    _Russian("четвёрка", "четвёрки", "четвёрки", "четвёрок", "четвёрках"),
    _Russian("пятёрка", "пятёрки", "пятёрки", "пятёрок", "пятёрках"),
    _Russian("шестёрка", "шестёрки", "шестёрки", "шестёрок", "шестёрках"),
    _Russian("семёрка", "семёрки", "семёрки", "семёрок", "семёрках"),
    _Russian("восьмёрка", "восьмёрки", "восьмёрки", "восьмёрок", "восьмёрках"),
    _Russian("девятка", "девятки", "девятки", "девяток", "девятках"),
    _Russian("десятка", "десятки", "десятки", "десяток", "десятках"),
    _Russian("валет", "валета", "валеты", "валетов", "валетах"),
    _Russian("дама", "дамы", "дамы", "дам", "дамах"),
    _Russian("король", "короля", "короли", "королей", "королях"),
    _Russian("туз", "туза", "тузы", "тузов", "тузах"),
)


def label(strength: Strength) -> Label:
    """The name of a hand, `Full house, Sixes full of Kings`."""
    return label_of_rank(strength.rank)


@cache
def label_of_rank(rank: int) -> Label:
    """The name of the class with this rank, 1 to 7462."""
    category, ranks = classes().best_first[rank - 1]
    return Label(_english(category, ranks), _russian(category, ranks))


def _english(category: str, ranks: Ranks) -> str:
    first, many = _ENGLISH[ranks[0]], _plural(ranks[0])
    match category:
        case "royal-flush":
            return "Royal flush"
        case "straight-flush":
            return f"Straight flush, {first} high"
        case "four-of-a-kind":
            return f"Four of a kind, {many}, {_ENGLISH[ranks[4]]} kicker"
        case "full-house":
            return f"Full house, {many} full of {_plural(ranks[3])}"
        case "flush":
            return f"Flush, {_dashed(ranks)}"
        case "straight":
            return f"Straight, {first} high"
        case "three-of-a-kind":
            return f"Three of a kind, {many}, kickers {_dashed(ranks[3:])}"
        case "two-pair":
            return f"Two pair, {many} and {_plural(ranks[2])}, {_ENGLISH[ranks[4]]} kicker"
        case "pair":
            return f"Pair of {many}, kickers {_dashed(ranks[2:])}"
        case _:
            return f"High card {_dashed(ranks)}"


def _russian(category: str, ranks: Ranks) -> str:
    first = _RUSSIAN[ranks[0]]
    match category:
        case "royal-flush":
            return "Флеш-рояль"
        case "straight-flush":
            return f"Стрит-флеш до {first.of_one}"
        case "four-of-a-kind":
            return f"Каре {first.of_many}, кикер {_RUSSIAN[ranks[4]].one}"
        case "full-house":
            return f"Фулл-хаус, {first.many} на {_RUSSIAN[ranks[3]].on_many}"
        case "flush":
            return f"Флеш до {first.of_one}"
        case "straight":
            return f"Стрит до {first.of_one}"
        case "three-of-a-kind":
            return f"Тройка {first.of_many}, кикер {_RUSSIAN[ranks[3]].one}"
        case "two-pair":
            second, kicker = _RUSSIAN[ranks[2]].many, _RUSSIAN[ranks[4]].one
            return f"Две пары, {first.many} и {second}, кикер {kicker}"
        case "pair":
            return f"Пара {first.of_many}, кикер {_RUSSIAN[ranks[2]].one}"
        case _:
            return f"Пустая, старшая карта — {first.one}"


def _plural(rank: int) -> str:
    name = _ENGLISH[rank]
    return f"{name}es" if name == "Six" else f"{name}s"


def _dashed(ranks: Ranks) -> str:
    return "-".join(RANKS[rank] for rank in ranks)
