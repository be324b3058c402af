"""Cards, tagged decks, and the file in which a deck is enrolled."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from random import Random

RANKS = "23456789TJQKA"
SUITS = "cdhs"
CARDS: tuple[str, ...] = tuple(rank + suit for rank in RANKS for suit in SUITS)

Air = Literal["iso15693", "iso14443a"]


@dataclass(frozen=True)
class Deck:
    """One enrolled deck: its name, and the UID of each of the 52 cards."""

    name: str
    uids: dict[str, str]

    def toml(self) -> str:
        """The text of `decks/NAME.toml`."""
        cards = "".join(f'{card} = "{uid}"\n' for card, uid in self.uids.items())
        return f'name = "{self.name}"\n\n[cards]\n{cards}'


def make_deck(name: str, rng: Random, air: Air = "iso15693", taken: set[str] | None = None) -> Deck:
    """A deck of fresh tags: 8 bytes from E0 04 01 (ISO 15693) or 7 from 04 (ISO 14443A).

    `taken` holds the UIDs of other decks and receives those of this one.
    """
    taken = set() if taken is None else taken
    head, size = ("E00401", 8) if air == "iso15693" else ("04", 7)
    uids: dict[str, str] = {}
    for card in CARDS:
        uid = _fresh(rng, head, size)
        while uid in taken:
            uid = _fresh(rng, head, size)
        taken.add(uid)
        uids[card] = uid
    return Deck(name, uids)


def _fresh(rng: Random, head: str, size: int) -> str:
    tail = size - len(head) // 2
    return head + f"{rng.getrandbits(8 * tail):0{2 * tail}X}"
