"""Cards: their notation, rank and suit.

A card is written as rank and suit, `As`. Its number is its place in `DECK`: rank * 4 + suit,
so a greater number is a better card, suits being compared inside a rank (rule 3.5.1).
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from daemon.rules.errors import CardError

if TYPE_CHECKING:
    from collections.abc import Iterable

RANKS: Final = "23456789TJQKA"
SUITS: Final = "cdhs"
DECK: Final[tuple[str, ...]] = tuple(rank + suit for rank in RANKS for suit in SUITS)
NUMBER: Final[dict[str, int]] = {card: number for number, card in enumerate(DECK)}

_SYMBOLS: Final = {"♣": "c", "♦": "d", "♥": "h", "♠": "s", "♧": "c", "♢": "d", "♡": "h", "♤": "s"}
_RANK: Final = "10|[2-9TJQKAtjqka]"
_CARD: Final = re.compile(
    rf"(?:(?P<rank>{_RANK})(?P<suit>[cdhsCDHS♣♦♥♠♧♢♡♤])"
    rf"|(?P<symbol>[♣♦♥♠♧♢♡♤])\ufe0f?(?P<after>{_RANK}))\ufe0f?"
)
_NO_CARD: Final = "{} is no card (cards are written As, Td or A♠)"
_BETWEEN: Final = re.compile(r"[\s,]*")


def parse_cards(text: str) -> list[str]:
    """The cards of a text in its order: `As Kd`, `AsKd`, `A♠ K♦`, `♠A ♦10` or `10s`.

    Raises CardError, which names the first piece that is no card.
    """
    cards: list[str] = []
    at = _end_of_gap(text, 0)
    while at < len(text):
        found = _CARD.match(text, at)
        if found is None:
            raise CardError(_NO_CARD.format(text[at:].split(maxsplit=1)[0]))
        rank = found["rank"] or found["after"]
        suit = found["suit"] or found["symbol"]
        cards.append(rank.upper().replace("10", "T") + _SYMBOLS.get(suit, suit.lower()))
        at = _end_of_gap(text, found.end())
    return cards


def _end_of_gap(text: str, at: int) -> int:
    gap = _BETWEEN.match(text, at)
    return gap.end() if gap else at


def number_of(card: str) -> int:
    """The place of a card in `DECK`; raises CardError for anything that is no card."""
    number = NUMBER.get(card)
    if number is None:
        raise CardError(_NO_CARD.format(card))
    return number


def rank_of(card: str) -> int:
    """The rank as a place in `RANKS`: 0 for a deuce to 12 for an ace."""
    return number_of(card) >> 2


def suit_of(card: str) -> int:
    """The suit as a place in `SUITS`: 0 for clubs to 3 for spades (rule 3.5.1)."""
    return number_of(card) & 3


def require_distinct(cards: Iterable[str]) -> None:
    """Raise CardError unless every card is a card and none is there twice."""
    seen: set[int] = set()
    for card in cards:
        number = number_of(card)
        if number in seen:
            raise CardError(f"{card} twice")
        seen.add(number)
