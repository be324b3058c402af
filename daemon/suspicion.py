"""Slow suspicions, over several hands: an antenna that is deaf, a reader that is, a worn tag.

Counted when a hand is over. What is told names a zone, a reader or a deck, never a card.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from daemon.otherdeck import RESTING_DECK
from daemon.setup import seat_number
from daemon.sweep import last_in_place

if TYPE_CHECKING:
    from daemon.hand import Hand, Scene
    from daemon.state import Step

EMPTY_HANDS = 3
"""So many hands in a row in which nothing was heard where cards were dealt."""
WORN_LOOKS = 400
WORN_HANDS = 3
LOOKED_MS = 10_000
UNREAD_HANDS = 2
"""So many hands with cards that no seat had make the silent antennas suspicious."""
RECENT_HANDS = 3
"""Who was read in one of so many hands may sit there and fold unread."""
CALM_HANDS = 5
"""After so many hands in a row without them the suspicion is over."""
BURNT_MS = 5000
"""A burn is in the muck at most so long before its street is heard."""


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
    `unread` counts hands with cards that no seat had, `calm` those without since the last one;
    `silent` are the seats' antennas that have heard nothing since the first, `recent` the seats
    of the last hands.
    """

    heard: list[str] = field(default_factory=list)
    empty: dict[str, int] = field(default_factory=dict)
    wear: dict[str, Wear] = field(default_factory=dict)
    told: list[str] = field(default_factory=list)
    unread: int = 0
    calm: int = 0
    silent: list[str] = field(default_factory=list)
    recent: list[list[int]] = field(default_factory=list)

    def note(self, antenna: str) -> None:
        """An antenna has heard a tag."""
        if antenna not in self.heard:
            self.heard.append(antenna)


def suspect(step: Step, hand: Hand) -> None:
    """A hand is over: count, and tell what has become suspicious."""
    _count_antennas(step, hand)
    _count_tags(step, hand)
    if not hand.named:
        _count_unread(step, hand)
    known = step.state.suspicions
    known.heard, known.recent = [], [*known.recent, sorted(hand.seats)][-RECENT_HANDS:]


def hand_unread(scene: Scene, since: int = -1) -> bool:
    """Whether a hand may be in play that is never read, where the floor has not named the seats.

    Cards that no seat had were in the muck, or were swept over the board: more than burns and
    the cards of known seats that were not read; or there were such in several hands before.
    What was in the muck by `since` had folded.
    """
    return not scene.hand.named and (scene.hand.doubted >= UNREAD_HANDS or _strangers(scene, since))


def _strangers(scene: Scene, since: int = -1) -> bool:
    hand = scene.hand
    found = [at for at in _times_of_strangers(scene) if at > since]
    if len(found) > RESTING_DECK:
        return False
    due = max(hand.down_cards_due(), *(len(seat.held) for seat in hand.seats.values()), 0)
    known = 0 if hand.doubted else due * len({*hand.around} - {*hand.seats})
    known += sum(max(0, due - len(seat.held)) for seat in hand.seats.values())
    burnt = _times_of_burns(hand)
    return any(
        count > max(1, known + sum(time <= at + BURNT_MS for time in burnt))
        for count, at in enumerate(found, 1)
    )


def _times_of_strangers(scene: Scene) -> list[int]:
    """When cards of the deck that are nobody's came to the muck, or over the board at the end."""
    hand, cards, swept = scene.hand, scene.setup.cards, last_in_place(scene)
    found = []
    for tag, track in scene.presence.tracks.items():
        if cards.get(tag, ("",))[0] != hand.deck or hand.owner(tag) or hand.on_board(tag):
            continue
        muck, board = track.heard.get("muck"), track.heard.get("board")
        if tag in hand.stale or track.disputed:
            continue
        if muck is not None and muck.first > hand.started:
            found.append(muck.first)
        elif board is not None and board.first > swept:
            found.append(board.first)
    return sorted(found)


def _times_of_burns(hand: Hand) -> list[int]:
    """When the streets that have a burn came out; one that was typed may have been any time."""
    times, place, stud = [], 0, hand.game.common_card
    for number, street in enumerate(hand.game.streets):
        if stud:
            cards = [seat.held[place].since for seat in hand.seats.values() if seat.held[place:]]
        else:
            cards = [card.since for card in hand.board[place:] if card.source != "typed"]
        if cards or number <= hand.street:
            times += [min(cards, default=0)] * street.burn
        place += street.down + street.up if stud else street.board
    return times


def _count_unread(step: Step, hand: Hand) -> None:
    """Seats where nothing is ever heard, while cards that no seat had come to the muck."""
    known, zones = step.state.suspicions, step.setup.zones
    seats = [one for one, zone in zones.items() if zone.startswith("seat:")]
    quiet = [one for one in seats if one not in known.heard and not zones[one].endswith(":up")]
    scene = step.scene(hand)
    known.silent = [one for one in known.silent if one in quiet]
    if not known.silent:
        known.unread = 0
    if _strangers(scene):
        known.silent = known.silent if known.unread else quiet
        known.unread, known.calm = known.unread + 1, 0
    elif len(_times_of_strangers(scene)) < 2:
        known.calm += 1
    if known.calm >= CALM_HANDS:
        known.unread = 0
    mark = " ".join(["unread", *known.silent])
    if known.unread == UNREAD_HANDS and known.silent and mark not in known.told:
        known.told = [one for one in known.told if not one.startswith("unread ")] + [mark]
        where = ", ".join(zones[one] for one in known.silent)
        step.alert("antenna-deaf", where, mark)


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
