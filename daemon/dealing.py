"""Own cards: which card came to which seat, and what of it is told.

A card belongs to the seat where it settled first, until better evidence says otherwise. What
should not be is an alert; nothing is refused, because the card already lies on the felt.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from daemon.events import CardDealt, StreetDealt
from daemon.hand import FOLDED, IN, Held, Seat, commit, tell_privately
from daemon.passes import is_burn
from daemon.setup import seat_number
from daemon.sweep import note_sweep

if TYPE_CHECKING:
    from daemon.evidence import Track
    from daemon.hand import Scene

EXTRA_MS = 3000
"""A surplus card must rest so long before it is an irregularity and no cross-read."""
DEALT_MS = 4000


def settled(scene: Scene, tag: str, zone: str, was: str | None) -> None:
    """A tag rests in a zone: take it as a card of the hand, or say why not."""
    deck, face = scene.setup.cards.get(tag, (None, None))
    number = seat_number(zone)
    if number is not None:
        note_sweep(scene)
    if scene.hand.deck is None and number is not None and tag not in scene.hand.stale:
        scene.hand.deck = deck
    if deck is None or face is None:
        scene.alert("unknown-tag", zone, once=tag)
    elif deck != scene.hand.deck and scene.hand.deck is not None:
        if zone not in {"muck", "burn"}:
            scene.hand.foreign.setdefault(tag, scene.now)
    elif number is not None:
        to_seat(scene, tag, face, number, was)
    elif zone in {"muck", "burn"}:
        to_muck(scene, tag)


def to_seat(scene: Scene, tag: str, face: str, number: int, was: str | None) -> None:
    """The card rests at a seat."""
    hand = scene.hand
    owner = hand.owner(tag)
    if tag in hand.stale or hand.result is not None or hand.closed or hand.on_board(tag):
        return
    if owner is None and is_burn(hand, tag):
        return
    if owner is not None and owner.number == number:
        _back(scene, owner, was)
        return
    if hand.cleared is not None:
        return
    if owner is not None:
        if sure(scene, owner, tag):
            scene.alert("wrong-seat", f"seat:{number}")
            return
        _take_away(scene, owner, tag)
    _give(scene, tag, face, number)


def _back(scene: Scene, seat: Seat, was: str | None) -> None:
    if was != "muck":
        return
    seat.muck_at = None
    if seat.status == FOLDED and seat.by_muck and scene.hand.gap_at < (seat.folded_at or 0):
        seat.status, seat.by_muck, seat.folded_at = IN, False, None
        scene.alert("fold-taken-back", seat.zone(), once=f"{seat.number} {scene.now}")


def _take_away(scene: Scene, seat: Seat, tag: str) -> None:
    hand = scene.hand
    seat.held = [held for held in seat.held if held.tag != tag]
    commit(scene, seat)
    tell_privately(scene, seat)
    idle = hand.wanted is None and seat.number not in hand.to_show
    if idle and not (seat.held or seat.extra or hand.named) and seat.status == IN:
        hand.not_dealt[seat.number] = hand.seats.pop(seat.number)


def _give(scene: Scene, tag: str, face: str, number: int) -> None:
    hand = scene.hand
    seat = hand.seats.get(number)
    if seat is None:
        if hand.named:
            scene.alert("wrong-seat", f"seat:{number}")
            return
        seat = hand.seat(number)
    typed = _typed(scene, seat, tag)
    if typed is not None:
        typed.tag = tag
        return
    if len(seat.held) >= hand.game.own_cards:
        seat.extra.setdefault(tag, scene.now)
        return
    add(scene, seat, Held(tag, face, "read", scene.now))


def _typed(scene: Scene, seat: Seat, tag: str) -> Held | None:
    """The card of the seat that the floor had typed before its tag was heard."""
    face = scene.setup.cards[tag][1]
    return next((held for held in seat.held if held.tag is None and held.face == face), None)


def add(scene: Scene, seat: Seat, held: Held) -> None:
    """A seat has one card more; tell it without its face."""
    hand = scene.hand
    seat.held.append(held)
    seat.extra.pop(held.tag or "", None)
    if held.tag in hand.mucked:
        hand.mucked.remove(held.tag)
    hand.last_dealt = scene.now
    scene.tell(CardDealt(zone=seat.zone(), index=len(seat.held) - 1))
    commit(scene, seat)
    tell_privately(scene, seat)


def to_muck(scene: Scene, tag: str) -> None:
    """The card lies in the muck: its hand is given up, once the review has seen more."""
    owner = scene.hand.owner(tag)
    if owner is None:
        if not scene.hand.on_board(tag) and tag not in scene.hand.mucked:
            scene.hand.mucked.append(tag)
    elif owner.status == IN and owner.muck_at is None:
        owner.muck_at = scene.now


def sure(scene: Scene, seat: Seat, tag: str | None, hits: int = 3) -> bool:
    """Whether this card certainly came to this seat."""
    held = next(one for one in seat.held if one.tag == tag)
    if held.fixed or tag is None:
        return True
    return any(scene.presence.sure(tag, zone, scene.rivals(), hits) for zone in seat.zones())


def review_extra(scene: Scene) -> None:
    """Surplus cards that stay are irregular; many of them are another discipline."""
    hand = scene.hand
    resting = 0
    for seat in hand.seats.values():
        for tag, since in list(seat.extra.items()):
            if scene.presence.home(tag) != seat.zone() or tag not in scene.setup.cards:
                del seat.extra[tag]
                if all(scene.presence.home(own) in seat.zones() for own in seat.tags()):
                    seat.surplus = [one for one in seat.surplus if one != tag]
            elif _typed(scene, seat, tag) or len(seat.held) < hand.game.own_cards:
                del seat.extra[tag]
                _give(scene, tag, scene.setup.cards[tag][1], seat.number)
            elif scene.now - since >= EXTRA_MS:
                resting += 1
                scene.alert("wrong-card-count", seat.zone())
                seat.surplus = sorted({*seat.surplus, tag})
    full = [seat for seat in hand.seats.values() if len(seat.extra) >= 2]
    if resting and len(full) >= 2:
        most = max(len(seat.held) + len(seat.extra) for seat in full)
        scene.alert("wrong-discipline", "omaha" if most <= 4 else "stud")


def crowded(scene: Scene, seat: Seat) -> bool:
    """Whether a card that no other place can claim made too many at this seat."""
    hand = scene.hand
    return any(hand.owner(tag) is None and not hand.on_board(tag) for tag in seat.surplus)


def review_disputes(scene: Scene) -> None:
    """Settle by the deal what the antennas leave open, and ask for the rest."""
    presence = scene.presence
    for tag, track in list(presence.tracks.items()):
        card = scene.setup.cards.get(tag)
        lost = card is None or card[0] != scene.hand.deck or tag in scene.hand.stale
        if not track.disputed or card is None or lost:
            continue
        zones = _claimants(track)
        place = _only_place(scene, tag, zones)
        if _far_apart(scene, zones):
            scene.alert("duplicate-card", ", ".join(sorted(zones)))
        elif place is None:
            scene.alert("two-claims", ", ".join(sorted(zones)))
        else:
            held = Held(tag, card[1], "inferred", scene.now)
            place_card(scene, place, place.zone(), held)


def left_lying(scene: Scene, seat: Seat) -> bool:
    """Whether a card lies at the seat that is taken for one of the last hand."""
    removed = {done.held.tag for done in scene.hand.done if done.held is not None}
    lying = (tag for tag in scene.hand.stale if scene.presence.home(tag) in seat.zones())
    return any(tag not in removed for tag in lying)


def unread(scene: Scene, by: int | None = None) -> bool:
    """Whether a seat may be in play that was never read.

    One of the last hand was not, nor, by then, a card of it in the muck, where burns lie as well;
    or a seat not in play is contested.
    """
    hand, by = scene.hand, scene.now if by is None else by
    if hand.named:
        return False
    missing = len({*hand.expected} - {*hand.seats})
    due = max([hand.down_cards_due(), *(len(seat.held) for seat in hand.seats.values())])
    times = (scene.presence.first_heard([tag], "muck") for tag in hand.mucked)
    gone = sum(at is not None and at <= by for at in times)
    burns = sum(street.burn for street in hand.game.streets[: hand.street + 1])
    accounted = gone >= missing * due or gone - burns > (missing - 1) * due
    return not accounted or contested(scene)


def contested(scene: Scene) -> bool:
    """Whether a hand may lie at a seat not in play that hears its cards as often as their own.

    Not where it hears some of a hand of which the seat in play has others for certain: if both
    had hands, two cards of each would not have been heard.
    """
    hand = scene.hand
    if hand.named or not any(
        mark.startswith(("two-claims", "duplicate-card")) for mark in hand.alerted
    ):
        return False
    found: dict[str, list[str]] = {}
    for tag, track in scene.presence.tracks.items():
        if scene.setup.cards.get(tag, ("",))[0] == hand.deck:
            for zone in _claimants(track):
                if seat_number(zone) not in {None, *hand.seats}:
                    found.setdefault(zone, []).append(tag)
    return any(_may_be_a_hand(scene, tags) for tags in found.values())


def _may_be_a_hand(scene: Scene, tags: list[str]) -> bool:
    """Whether these may be the cards of a seat of their own: all of them, or some of nobody."""
    hand = scene.hand
    due = max([hand.down_cards_due(), *(len(seat.held) for seat in hand.seats.values())])
    owners = [hand.owner(tag) for tag in tags]
    if len(tags) >= due:
        return True
    for owner in owners:
        if owner is None or len(owner.held) < due:
            return True
        if not any(sure(scene, owner, tag, 2) for tag in owner.tags() if tag not in tags):
            return True
    return False


def disputed_at(scene: Scene, seat: Seat) -> int:
    """How many cards that no place has for certain this seat hears about as often as any."""
    return sum(
        track.disputed and seat.zone() in _claimants(track) and scene.hand.owner(tag) is not seat
        for tag, track in scene.presence.tracks.items()
        if scene.setup.cards.get(tag, ("",))[0] == scene.hand.deck
    )


def _claimants(track: Track) -> set[str]:
    """The zones that have heard the tag in this hand about as often as any has."""
    hits = {zone: total.hits for zone, total in track.heard.items() if zone != "shoe"}
    most = max(hits.values(), default=0)
    return {zone for zone, count in hits.items() if count * 3 > most}


def _far_apart(scene: Scene, zones: set[str]) -> bool:
    """Whether two of these seats are no neighbours: no antenna hears so far."""
    numbers = sorted({n for n in map(seat_number, zones) if n is not None})
    return any(
        1 < other - number < scene.setup.seats - 1 for number in numbers for other in numbers
    )


def _only_place(scene: Scene, tag: str, zones: set[str]) -> Seat | None:
    """The one seat among the claimants that lacks a card while all others have theirs."""
    hand = scene.hand
    if hand.street < 0 or hand.game.common_card or len(zones) < 2:
        return None
    lacking: list[Seat] = []
    for zone in zones:
        number = seat_number(zone)
        seat = hand.seats.get(number) if number is not None else None
        if seat is None:
            return None
        others = [one for one in (*seat.tags(), *seat.extra) if one != tag]
        typed = sum(held.tag is None for held in seat.held)
        if not all(scene.presence.sure(one, zone, scene.rivals()) for one in others):
            return None
        if len(others) + typed == hand.down_cards_due() - 1:
            lacking.append(seat)
        elif len(others) + typed != hand.down_cards_due():
            return None
    return lacking[0] if len(lacking) == 1 else None


def place_card(scene: Scene, seat: Seat, zone: str, card: Held) -> None:
    """Other evidence than its antennas says that the card lies in this zone of the seat."""
    tag = card.tag or ""
    track = scene.presence.tracks.get(tag)
    if track is not None and zone in track.heard:
        scene.presence.settle(tag, zone)
    owner = scene.hand.owner(tag)
    if owner is not None and owner is not seat:
        _take_away(scene, owner, tag)
    if owner is not seat:
        add(scene, seat, card)
    next(held for held in seat.held if held.tag == tag).fixed = True


def review_deal(scene: Scene) -> None:
    """The first street is out when every seat in play has its cards."""
    hand = scene.hand
    seats = hand.seats.values()
    if hand.street >= 0 or not seats:
        return
    due = hand.down_cards_due()
    full = all(len(seat.held) >= due or seat.status == FOLDED for seat in seats)
    rested = scene.now - hand.last_dealt >= DEALT_MS and len(hand.seats) >= 2
    moved_on = sum(len(seat.held) > due for seat in seats) >= max(2, len(seats) - 1)
    if (full and (hand.named or rested)) or moved_on:
        open_first_street(scene)


def open_first_street(scene: Scene) -> None:
    """The deal is over, betting begins."""
    hand = scene.hand
    hand.street, hand.street_at = 0, scene.now
    scene.tell(StreetDealt(street=hand.game.streets[0].name, cards=[]))
