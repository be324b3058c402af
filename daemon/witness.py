"""The shoe as a second witness beside the antennas: what the order of dealing says of each card.

A card whose neighbours in the order were both read for certain where the order puts them lies
between those two places. The shoe may miss a card and the antennas another; nothing is said where
the order does not close. Times are whole milliseconds.
"""

from __future__ import annotations

from statistics import median
from typing import TYPE_CHECKING

from daemon.dealing import place_card, sure
from daemon.hand import FOLDED, Held
from daemon.passes import BURST_MS, STEADY_SHARE, gaps, streets_passed

if TYPE_CHECKING:
    from daemon.hand import Hand, Scene, Seat

EVERY_MS = 1000
LATE_MS = 3000
"""The antennas have so long to say themselves where a card lies."""
UNHEARD_MS = 10_000
NEVER_MS = 8000
"""A board card that passed the shoe has so long to be heard on the board."""
BOARD = 0
"""Stands for the board where places are numbers of seats."""


def review_witness(scene: Scene) -> None:
    """Compare what passed the shoe with what the antennas read, once a second."""
    hand = scene.hand
    if not hand.passed or hand.result is not None or scene.shoe_alone():
        return
    _settle_board(scene)
    if scene.now - hand.witnessed < EVERY_MS:
        return
    hand.witnessed = scene.now
    places = [_place(scene, card.tag) for card in hand.passed]
    for index, place in enumerate(places):
        if place is None and scene.now - hand.passed[index].at >= LATE_MS:
            _settle(scene, places, index)
    if not hand.lost:
        _review_bypass(scene)
        _review_order(scene, places)
        _review_board(scene)


def _place(scene: Scene, tag: str) -> int | None:
    """Where antennas alone read this card for certain: a seat, the board, or nobody knows."""
    hand = scene.hand
    if hand.on_board(tag):
        return BOARD
    seat = hand.owner(tag)
    if seat is None:
        return None
    held = next(one for one in seat.held if one.tag == tag)
    if held.source == "read" and not held.fixed and sure(scene, seat, tag):
        return seat.number
    return None


def _settle(scene: Scene, places: list[int | None], index: int) -> None:
    """Give a card whose place the antennas leave open to the seat that the order says."""
    hand, card = scene.hand, scene.hand.passed[index]
    owner = hand.owner(card.tag)
    if owner is not None and any(one.tag == card.tag and one.fixed for one in owner.held):
        return
    number = _predicted(scene, places, index)
    seat = hand.seats.get(number) if number is not None else None
    if seat is None or seat.extra or hand.street < 0:
        return
    if not hand.named and number not in places:
        return
    if owner is not seat and len(seat.held) >= _due(hand):
        return
    heard = {zone for zone in _heard(scene, card.tag) if zone.startswith("seat:")}
    if heard & seat.zones() or (not heard and scene.now - card.at >= UNHEARD_MS):
        own = heard & seat.zones()
        zone = max(own, key=lambda one: scene.presence.hits([card.tag], one), default=seat.zone())
        held = Held(card.tag, scene.setup.cards[card.tag][1], "shoe", card.at)
        place_card(scene, seat, zone, held)


def _due(hand: Hand) -> int:
    """How many cards a seat may have by now."""
    return min(hand.down_cards_due() + (1 if hand.game.common_card else 0), hand.game.own_cards)


def _heard(scene: Scene, tag: str) -> list[str]:
    track = scene.presence.tracks.get(tag)
    return [zone for zone in track.heard if zone != "shoe"] if track is not None else []


def _predicted(scene: Scene, places: list[int | None], index: int) -> int | None:
    """The seat between the two neighbours of this card, where the order closes around it.

    All three came in one burst without room for another card: a burn is never among them.
    """
    if not 0 < index < len(places) - 1:
        return None
    before, after = places[index - 1], places[index + 1]
    if not before or not after or len(scene.hand.seats) < 2:
        return None
    hand, at = scene.hand, scene.hand.passed[index].at
    if max(gaps(hand.passed[index - 1 : index + 2])) > _room(hand):
        return None
    deal = hand.game.streets[0]
    first = len(hand.seats) * (deal.down + deal.up)
    return _between(_dealt_in(hand, at), before, after, wraps=index < first - 1)


def _room(hand: Hand) -> float:
    """How long a gap must be for one more card, by the pace of this dealer."""
    quick = [gap for gap in gaps(hand.passed) if gap < BURST_MS]
    return median(quick) * STEADY_SHARE if len(quick) > 2 else 0


def _dealt_in(hand: Hand, at: int) -> list[int]:
    """The seats that had not given up when a card passed, in order."""
    seats = sorted(hand.seats.items())
    return [n for n, seat in seats if seat.status != FOLDED or (seat.folded_at or 0) > at]


def _between(seats: list[int], before: int, after: int, *, wraps: bool) -> int | None:
    if before not in seats or after not in seats:
        return None
    number = _next(seats, before)
    if _next(seats, number) != after:
        return None
    return number if wraps or before < number < after else None


def _next(seats: list[int], number: int) -> int:
    return seats[(seats.index(number) + 1) % len(seats)]


def _settle_board(scene: Scene) -> None:
    """A street that passed whole and is heard on the board needs no long rest there."""
    hand, presence = scene.hand, scene.presence
    passed = streets_passed(hand)[max(hand.street, 0) :]
    for tag in passed[0][1:] if passed else ():
        track = presence.tracks.get(tag)
        if track is not None and track.home is None and hand.owner(tag) is None:
            own = track.heard.get("board")
            if own is not None and own.hits >= 2 and own.last >= scene.now - EVERY_MS:
                presence.settle(tag, "board")


def _review_bypass(scene: Scene) -> None:
    """Cards that were dealt and never passed the shoe, though most others did."""
    hand = scene.hand
    passed = {card.tag for card in hand.passed}
    tags = hand.tags()
    if hand.street < 0 or sum(tag in passed for tag in tags) * 2 < len(tags):
        return
    for seat in hand.seats.values():
        for held in seat.held:
            unseen = held.tag is not None and held.tag not in passed
            if unseen and scene.now - held.since >= LATE_MS and sure(scene, seat, held.tag):
                scene.alert("bypassed-shoe", seat.zone())
    if any(card.tag is not None and card.tag not in passed for card in hand.board):
        scene.alert("bypassed-shoe", "board")


def _review_order(scene: Scene, places: list[int | None]) -> None:
    """A seat that was passed over or got a card out of turn, once the deal is out."""
    hand = scene.hand
    seats, deal = sorted(hand.seats), hand.game.streets[0]
    size = len(seats) * (deal.down + deal.up)
    if hand.street < 0 or scene.now - hand.last_dealt < LATE_MS or len(seats) < 3:
        return
    steps = zip(gaps(hand.passed[:size]), places, places[1:size], strict=False)
    for gap, before, after in steps:
        if not before or not after or gap >= _room(hand) or {before, after} - {*seats}:
            continue
        skipped = (seats.index(after) - seats.index(before) - 1) % len(seats)
        if skipped > 1:
            scene.alert("wrong-seat", f"seat:{after}")
        elif skipped == 1:
            _passed_over(scene, hand.seats[_next(seats, before)], deal.down + deal.up)


def _passed_over(scene: Scene, seat: Seat, due: int) -> None:
    if 0 < len(seat.held) < due:
        scene.alert("wrong-card-count", seat.zone())


def _review_board(scene: Scene) -> None:
    """A street without its burn, and a board card that passed the shoe but never came."""
    hand = scene.hand
    order = {card.tag: index for index, card in enumerate(hand.passed)}
    for street in range(1, hand.street + 1) if hand.game.has_button else ():
        _review_burn(scene, order, street)
    streets = streets_passed(hand)[max(hand.street, 0) :]
    if "board" in scene.setup.zones_of_readers() and scene.alive("board") and streets:
        late = scene.now - hand.passed[order[streets[0][-1]]].at >= NEVER_MS
        unheard = [tag for tag in streets[0][1:] if "board" not in _heard(scene, tag)]
        if late and unheard:
            scene.alert("missing-card", "board", once=f"shoe {hand.street}")


def _review_burn(scene: Scene, order: dict[str, int], street: int) -> None:
    """The card before a street's first one was burnt, unless it lies at a seat or on the board."""
    hand = scene.hand
    start = sum(shape.board for shape in hand.game.streets[:street])
    tags = [card.tag for card in hand.board[start : start + hand.game.streets[street].board]]
    places = sorted(order.get(tag or "", -1) for tag in tags)
    if not places or places[0] < 1 or places[-1] - places[0] != len(places) - 1:
        return
    before = hand.passed[places[0] - 1].tag
    owner = hand.owner(before)
    if hand.on_board(before) or (owner is not None and sure(scene, owner, before)):
        scene.alert("no-burn", "board", once=f"no-burn {street}")
