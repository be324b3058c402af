"""Cards of another deck: one that was dealt makes the deck foul, a whole deck was only put down."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from daemon.hand import Scene

FOREIGN_MS = 2000
RESTING_DECK = 8
"""More tags of one deck than this in one zone are a deck that was put down."""


def review_foreign(scene: Scene) -> None:
    """Tell a deck that was put down from a foreign card that was dealt."""
    hand, presence = scene.hand, scene.presence
    for tag, since in list(hand.foreign.items()):
        zone = presence.home(tag)
        if zone is None or zone in {"muck", "burn"} or tag not in scene.setup.cards:
            del hand.foreign[tag]
        elif scene.now - since >= FOREIGN_MS:
            deck = scene.setup.cards[tag][0]
            heard = sorted(presence.tracks[tag].heard)
            pile = next((one for one in heard if deck_rests(scene, one, deck)), None)
            if pile is not None:
                scene.alert("foreign-deck", pile, once=deck)
            elif f"foreign-deck {deck}" not in hand.alerted:
                scene.alert("mixed-decks", zone, once=deck)


def foul(scene: Scene) -> bool:
    """Whether a card of another deck was dealt, and not only heard from where that deck lies."""
    hand, tracks, cards = scene.hand, scene.presence.tracks, scene.setup.cards
    decks = {mark.partition(" ")[2] for mark in hand.alerted if mark.startswith("mixed-decks ")}
    places: dict[str, dict[str, str]] = {deck: {} for deck in decks}
    for tag, track in tracks.items():
        deck = cards.get(tag, ("",))[0]
        if deck in decks and track.heard:
            places[deck][tag] = max(track.heard, key=lambda zone: track.heard[zone].hits)
    in_play = {"board", "shoe"}.union(*(seat.zones() for seat in hand.seats.values()))
    return any(
        zone in in_play and Counter(found.values())[zone] <= RESTING_DECK
        for found in places.values()
        for zone in found.values()
    )


def deck_rests(scene: Scene, zone: str, deck: str) -> bool:
    """Whether a whole deck, and no dealt card, lies in the zone."""
    tracks, cards = scene.presence.tracks, scene.setup.cards
    found = sum(cards.get(t, ("",))[0] == deck and tracks[t].home == zone for t in tracks)
    return found > RESTING_DECK
