"""Slow suspicions, over several hands: an antenna that is deaf, a reader that is, a worn tag.

Counted when a hand is over. What is told names a zone, a reader or a deck, never a card.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from daemon.setup import seat_number

if TYPE_CHECKING:
    from daemon.hand import Hand
    from daemon.state import Step

EMPTY_HANDS = 3
"""So many hands in a row in which nothing was heard where cards were dealt."""
WORN_LOOKS = 400
WORN_HANDS = 3
LOOKED_MS = 10_000


@dataclass
class Wear:
    """How often a tag was heard in how many looks, over how many hands."""

    hits: int = 0
    looks: int = 0
    hands: int = 0


@dataclass
class Suspicions:
    """`heard` are antennas that heard any tag in this hand; `empty` counts hands by antenna.

    `wear` has at most one entry for each enrolled tag; `told` are marks of what was told.
    """

    heard: list[str] = field(default_factory=list)
    empty: dict[str, int] = field(default_factory=dict)
    wear: dict[str, Wear] = field(default_factory=dict)
    told: list[str] = field(default_factory=list)

    def note(self, antenna: str) -> None:
        """An antenna has heard a tag."""
        if antenna not in self.heard:
            self.heard.append(antenna)


def suspect(step: Step, hand: Hand) -> None:
    """A hand is over: count, and tell what has become suspicious."""
    _count_antennas(step, hand)
    _count_tags(step, hand)
    step.state.suspicions.heard = []


def _count_antennas(step: Step, hand: Hand) -> None:
    known, state = step.state.suspicions, step.state
    for antenna, zone in step.setup.zones.items():
        if antenna in known.heard:
            known.empty.pop(antenna, None)
            known.told = [mark for mark in known.told if mark != antenna]
        elif _dealt_there(hand, zone) and state.now - state.looked.get(antenna, 0) < LOOKED_MS:
            known.empty[antenna] = known.empty.get(antenna, 0) + 1
    full = [antenna for antenna, count in known.empty.items() if count >= EMPTY_HANDS]
    new = [antenna for antenna in full if antenna not in known.told]
    known.told += new
    silent = {reader for reader in map(_reader, new) if _whole(step, reader, full)}
    for reader in sorted(silent):
        step.alert("reader-silent", reader, reader)
    for antenna in new:
        if _reader(antenna) not in silent:
            step.alert("antenna-deaf", step.setup.zones[antenna], antenna)


def _reader(antenna: str) -> str:
    return antenna.rpartition("/")[0]


def _whole(step: Step, reader: str, full: list[str]) -> bool:
    """Whether the reader has several antennas, and none has heard anything lately."""
    known = step.state.suspicions
    own = [antenna for antenna in step.setup.zones if _reader(antenna) == reader]
    quiet = [antenna for antenna in own if antenna in full or antenna not in known.heard]
    return len(own) > 1 and quiet == own


def _dealt_there(hand: Hand, zone: str) -> bool:
    """Whether cards certainly came to this zone: the floor named the seat, or the board is out."""
    number = seat_number(zone)
    if number is not None:
        up = zone.endswith(":up")
        if up and not any(street.up for street in hand.game.streets):
            return False
        return hand.named and number in hand.seats and (hand.street >= up or hand.last_street())
    whole = hand.game.board_cards
    return zone == "board" and whole > 0 and len(hand.board) >= whole


def _count_tags(step: Step, hand: Hand) -> None:
    known, presence = step.state.suspicions, step.state.presence
    for tag in hand.tags():
        track = presence.tracks.get(tag)
        if track is None or not track.heard or tag not in step.setup.cards:
            continue
        best = max(track.heard.values(), key=lambda total: total.looks)
        wear = known.wear.setdefault(tag, Wear())
        wear.hits, wear.looks, wear.hands = (
            wear.hits + best.hits,
            wear.looks + best.looks,
            wear.hands + 1,
        )
    hits = sum(wear.hits for wear in known.wear.values())
    looks = sum(wear.looks for wear in known.wear.values())
    for tag in hand.tags():
        if tag in known.wear and tag not in known.told and _worn(known.wear[tag], hits, looks):
            known.told.append(tag)
            step.worn(step.setup.cards[tag][0])


def _worn(wear: Wear, hits: int, looks: int) -> bool:
    """Whether the tag is heard less than half as often as all tags are."""
    enough = wear.looks >= WORN_LOOKS and wear.hands >= WORN_HANDS
    return enough and 2 * wear.hits * looks < wear.looks * hits
