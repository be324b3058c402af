"""The cards of a draw or race: which were heard where, and which of them are certain.

A card is told once its place is certain and it has lain there for a moment, so that no
neighbour's antenna and no deck in somebody's hand is taken for a dealt card.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import UNSET

from daemon.alerts import alert
from daemon.events import CardDealt
from daemon.hand import Held
from daemon.otherdeck import FOREIGN_MS, RESTING_DECK
from daemon.setup import seat_number

if TYPE_CHECKING:
    from collections.abc import Iterable

    from daemon.deal import Deal
    from daemon.evidence import Track
    from daemon.hand import Seat
    from daemon.setup import Setup
    from daemon.state import Step

REST_MS = 1000
"""A card has lain so long before it is told."""
EXTRA_MS = 3000


def deal_alert(step: Step, deal: Deal, kind: str, zone: str, once: str | None = None) -> None:
    """Raise an alert, once per deal for each kind and zone (or for `once`)."""
    mark = f"{kind} {zone if once is None else once}"
    if mark not in deal.alerted:
        deal.alerted.append(mark)
        step.tell(alert(kind, zone), deal.number)


def ask_again(deal: Deal, number: int) -> None:
    """What was asked of this seat may be asked once more."""
    marks = {f"{kind} seat:{number}" for kind in ("missing-card", "wrong-card-count")}
    deal.alerted = [mark for mark in deal.alerted if mark not in marks]


def seat_antennas(setup: Setup) -> list[str]:
    """The antennas that serve a seat."""
    return [antenna for antenna, zone in setup.zones.items() if zone.startswith("seat:")]


def seat_claims(step: Step) -> dict[str, int]:
    """The enrolled tags that some seat claims, and since when (ms); piles are left out."""
    deal, found = step.state.deal, dict[str, int]()
    piled = set(deal.piled) if deal is not None else set()
    for antenna in seat_antennas(step.setup):
        for tag, claim in step.state.presence.by_antenna.get(antenna, {}).items():
            if tag in step.setup.cards and tag not in piled:
                found[tag] = min(claim.first, found.get(tag, claim.first))
    return found


def sure(step: Step, seat: Seat, held: Held) -> bool:
    """Whether this card certainly lies, or lay, at this seat."""
    return held.fixed or held.tag is None or _sure_at(step, held.tag, seat.number)


def _sure_at(step: Step, tag: str, number: int) -> bool:
    zones = {zone for zone in step.setup.zones_of_readers() if zone.startswith("seat:")}
    rivals = {zone: step.setup.seat_of(zone) for zone in zones}
    mine = [zone for zone in zones if seat_number(zone) == number]
    return any(step.state.presence.sure(tag, zone, rivals) for zone in mine)


def read_cards(step: Step, deal: Deal) -> None:
    """Take in what the antennas hear by now."""
    if not seat_antennas(step.setup):
        _read_shoe(step, deal)
        return
    _sweep(step, deal)
    _find_piles(step, deal)
    _drop_gone(step, deal)
    if not deal.swept:
        for tag, number in _candidates(step, deal):
            _settled(step, deal, tag, number)
    _review_surplus(step, deal)


def _at_seat(step: Step, tag: str) -> int | None:
    home = step.state.presence.home(tag)
    return seat_number(home) if home is not None else None


def _drop_gone(step: Step, deal: Deal) -> None:
    """What was surplus or foreign and lies there no more, or was settled by the floor, is gone."""
    settled = {*deal.dismissed, *deal.piled, *deal.tags()}
    for surplus in (deal.extra, deal.foreign):
        for tag in [tag for tag in surplus if tag in settled or _at_seat(step, tag) is None]:
            del surplus[tag]


def _sweep(step: Step, deal: Deal) -> None:
    """Once its cards have left the seats, a deal takes no more of them."""
    tags = deal.tags()
    if tags and not deal.swept and not tags & seat_claims(step).keys():
        deal.swept = True
        deal.extra.clear()
        deal.foreign.clear()


def _find_piles(step: Step, deal: Deal) -> None:
    """Remember the tags of a deck that was put down: they are no dealt cards."""
    cards, heard = step.setup.cards, dict[tuple[str, str], list[str]]()
    for tag, track in step.state.presence.tracks.items():
        if tag in cards:
            for zone in {claim.zone for claim in track.claims.values()}:
                heard.setdefault((zone, cards[tag][0]), []).append(tag)
    for (zone, deck), tags in heard.items():
        due = deal.expected.get(seat_number(zone) or 0, 0)
        if len(tags) > RESTING_DECK + due and zone != "shoe":
            deal.piled += set(tags) - {*deal.piled, *deal.tags()}
            if deck != deal.deck:
                deal_alert(step, deal, "foreign-deck", zone, once=deck)


def _candidates(step: Step, deal: Deal) -> list[tuple[str, int]]:
    """Enrolled tags heard since the command, with the seat where each rests, oldest first."""
    found = []
    for tag, track in step.state.presence.tracks.items():
        if not _is_new(step, deal, tag, track):
            continue
        fixed = any(held.tag == tag and held.fixed for _, held in deal.held())
        deck = step.setup.cards[tag][0]
        if track.disputed and not fixed and deal.deck in {None, deck}:
            _settle_by_deal(step, deal, tag, track)
        number = _at_seat(step, tag)
        if number is not None:
            found.append((step.state.presence.since(tag), tag, number))
    return [(tag, number) for _, tag, number in sorted(found)]


def _is_new(step: Step, deal: Deal, tag: str, track: Track) -> bool:
    if tag not in step.setup.cards or tag in deal.piled or tag in deal.dismissed:
        return False
    return all(claim.first > deal.started for claim in track.claims.values())


def _settle_by_deal(step: Step, deal: Deal, tag: str, track: Track) -> None:
    """Of two places that hear a card equally well the deal may leave only one."""
    zones = sorted({claim.zone for claim in track.claims.values()} - {"shoe"})
    numbers = {number for zone in zones if (number := seat_number(zone)) is not None}
    if len(numbers) == 1 and all(zone.startswith("seat:") for zone in zones):
        step.state.presence.settle(tag, zones[0])
        return
    open_seats = [number for number in numbers if _waits_for(step, deal, number, tag)]
    full = [number for number in numbers if _is_full(step, deal, number, tag)]
    if deal.ruled_at is None and len(open_seats) == 1 and len(full) == len(zones) - 1:
        step.state.presence.settle(tag, f"seat:{open_seats[0]}")
        _give(step, deal, tag, open_seats[0], "inferred")
    else:
        deal_alert(step, deal, "two-claims", ", ".join(zones))


def _others(deal: Deal, number: int, tag: str) -> list[Held]:
    seat = deal.seats.get(number)
    return [held for held in seat.held if held.tag != tag] if seat is not None else []


def _waits_for(step: Step, deal: Deal, number: int, tag: str) -> bool:
    """Whether this would be the last card of the seat, all others being certain."""
    others = _others(deal, number, tag)
    certain = all(sure(step, deal.seats[number], held) for held in others)
    return certain and len(others) + 1 == deal.expected.get(number, 0)


def _is_full(step: Step, deal: Deal, number: int, tag: str) -> bool:
    others = _others(deal, number, tag)
    certain = all(sure(step, deal.seats[number], held) for held in others)
    return certain and len(others) == deal.expected.get(number, 0)


def _settled(step: Step, deal: Deal, tag: str, number: int) -> None:
    """A card rests at a seat: take it, or remember that it should not be there."""
    now, owner = step.state.now, deal.owner(tag)
    if owner is not None and owner.number == number:
        return
    if not _sure_at(step, tag, number) or now - step.state.presence.since(tag) < REST_MS:
        return
    deck, face = step.setup.cards[tag]
    if deal.deck not in {None, deck}:
        deal.foreign.setdefault(tag, now)
    elif _given_up(deal, owner, tag) and not _is_typed(deal, tag, face, number):
        _take(step, deal, tag, number)


def _given_up(deal: Deal, owner: Seat | None, tag: str) -> bool:
    """Whether no other seat has this card any more."""
    for held in [held for held in owner.held if held.tag == tag] if owner is not None else ():
        if held.fixed or deal.ruled_at is not None:
            return False
        _remove(deal, tag)
    return True


def _remove(deal: Deal, tag: str) -> None:
    for seat in deal.seats.values():
        seat.held = [held for held in seat.held if held.tag != tag]
    deal.changed = True


def _is_typed(deal: Deal, tag: str, face: str, number: int) -> bool:
    """Give a card that was typed in its tag, when that very card is heard."""
    seat = deal.seats.get(number)
    typed = [one for one in seat.held if one.tag is None and one.face == face] if seat else []
    for held in typed[:1]:
        held.tag = tag
    return bool(typed)


def _take(step: Step, deal: Deal, tag: str, number: int) -> None:
    face = step.setup.cards[tag][1]
    twice = any(held.face == face for _, held in deal.held())
    if twice:
        deal_alert(step, deal, "duplicate-card", f"seat:{number}")
    if twice or not deal.lacks(number):
        deal.extra.setdefault(tag, step.state.now)
    else:
        _give(step, deal, tag, number, "read")


def _give(step: Step, deal: Deal, tag: str, number: int, source: str) -> None:
    deck, face = step.setup.cards[tag]
    _remove(deal, tag)
    deal.deck = deal.deck or deck
    deal.extra.pop(tag, None)
    deal.last_dealt = step.state.now
    held = Held(tag, face, source, step.state.now, fixed=source != "read")
    add(step, deal, deal.seats[number], held)


def add(step: Step, deal: Deal, seat: Seat, held: Held) -> None:
    """A seat has one card more, which everybody sees."""
    held.up = True
    seat.held.append(held)
    deal.changed = True
    tell_card(step, deal, seat, len(seat.held) - 1)


def tell_card(step: Step, deal: Deal, seat: Seat, index: int) -> None:
    """Tell one card of a seat with its face."""
    face = seat.held[index].face or UNSET
    step.tell(CardDealt(zone=seat.zone(), index=index, card=face), deal.number)


def extra_cards(step: Step, deal: Deal, seat: Seat) -> list[str]:
    """Tags of the deck that rest at the seat beyond those that are due, oldest first."""
    return [tag for tag in deal.extra if _at_seat(step, tag) == seat.number]


def _review_surplus(step: Step, deal: Deal) -> None:
    now = step.state.now
    for tag, since in deal.extra.items():
        number = _at_seat(step, tag)
        if number is not None and now - since >= EXTRA_MS:
            deal_alert(step, deal, "wrong-card-count", f"seat:{number}")
    for tag, since in deal.foreign.items():
        number = _at_seat(step, tag)
        if number is not None and now - since >= FOREIGN_MS:
            deal_alert(step, deal, "mixed-decks", f"seat:{number}", step.setup.cards[tag][0])


def _read_shoe(step: Step, deal: Deal) -> None:
    """Without antennas at the seats cards go by the order in which they pass the shoe."""
    for tag in _passed(step, deal):
        deck, face = step.setup.cards[tag]
        lacking = deal.lacking()
        if deal.deck not in {None, deck}:
            deal_alert(step, deal, "mixed-decks", "shoe", deck)
        elif any(held.face == face for _, held in deal.held()):
            deal_alert(step, deal, "duplicate-card", "shoe")
        elif lacking:
            _give(step, deal, tag, lacking[0], "shoe")
            continue
        else:
            deal_alert(step, deal, "wrong-card-count", "shoe")
        deal.dismissed.append(tag)


def _passed(step: Step, deal: Deal) -> Iterable[str]:
    known = {*deal.tags(), *deal.dismissed}
    found = []
    for tag, track in step.state.presence.tracks.items():
        claim = track.strongest("shoe")
        if claim is None or tag in known or tag not in step.setup.cards:
            continue
        again = claim.last >= deal.started and tag not in deal.before
        if claim.first > deal.started or again:
            found.append((claim.last, tag))
    return [tag for _, tag in sorted(found)]
