"""Numbers as a person reads them in an error."""

from __future__ import annotations

from typing import Final

_WORDS: Final = (
    *("no", "one", "two", "three", "four", "five", "six"),
    *("seven", "eight", "nine", "ten", "eleven", "twelve"),
)


def count(number: int, noun: str) -> str:
    """`three cards`, `one card`, `no cards`, `13 cards`."""
    word = _WORDS[number] if 0 <= number < len(_WORDS) else str(number)
    return f"{word} {noun}{'' if number == 1 else 's'}"
