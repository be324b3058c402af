"""Stud's third street with one antenna a seat: which of three cards was dealt third, face up.

The order in which the cards of all seats were first heard says it, where no reading of the deal
in which fewer than two cards went unheard at once makes it a down card.
"""

from __future__ import annotations

from itertools import pairwise
from statistics import median
from typing import TYPE_CHECKING

from daemon.dealorder import DOWN, Hearing, lead

if TYPE_CHECKING:
    from daemon.hand import Held, Scene, Seat

LATE_MS = 2500
"""A card that was dealt before may be heard so much later."""
PASSED_MS = 5000
"""A card is heard so soon after it passed the shoe; or it was a burn, and is dealt once more."""
CERTAIN = 9.0
"""So many nats (8,000 to 1) must set the deal as it was heard apart from any other."""


def dealt_third(scene: Scene, seat: Seat, times: list[int]) -> bool:
    """Whether the third of these cards (ms, in order) was certainly dealt third."""
    numbers = sorted(scene.hand.seats)
    limit = _heard_before(scene, seat, times[1])
    if limit is None or len(set(times)) < DOWN + 1 or scene.hand.gap_at >= times[0]:
        return False
    fourth = _first_fourth(scene)
    if fourth is not None and max(times[2], limit) >= fourth:
        return False
    if times[2] > third_round(scene, seat) + LATE_MS:
        return False
    deal = [_times_of_deal(scene, scene.hand.seats[number]) for number in numbers]
    return lead(deal, numbers.index(seat.number), hearing(scene)) >= CERTAIN


def _heard_before(scene: Scene, seat: Seat, second: int) -> int | None:
    """When a card was heard that is dealt between a seat's second and third, `second` before it.

    Those are the third cards of the seats before it, and the second cards of those after it; the
    first seat's second card may be heard in the same look as the last seat's.
    """
    numbers = sorted(scene.hand.seats)
    for number in numbers:
        times = _first_times(scene, scene.hand.seats[number])
        place = DOWN if number < seat.number else DOWN - 1
        if number == seat.number or len(times) <= place:
            continue
        same = seat.number == numbers[0] and number == numbers[-1]
        if second < times[place] or (same and second == times[place]):
            return times[place]
    return None


def _first_times(scene: Scene, seat: Seat) -> list[int]:
    """When the seat's cards of third street were first heard, in that order."""
    order = in_order(scene, seat)[: DOWN + 1]
    return [first_heard(scene, seat, held) for held in order]


def _times_of_deal(scene: Scene, seat: Seat) -> list[int | None]:
    """The same for the order of the deal: None for a card that was typed."""
    order = in_order(scene, seat)[: DOWN + 1]
    return [None if held.tag is None else first_heard(scene, seat, held) for held in order]


def hearing(scene: Scene) -> Hearing:
    """How well the cards of this hand are heard where they lie."""
    hits = looks = span = steps = 0
    for seat in scene.hand.seats.values():
        for tag in seat.tags():
            track = scene.presence.tracks.get(tag)
            total = track.heard.get(seat.zone()) if track else None
            if total is not None:
                hits, looks = hits + total.hits, looks + total.looks
                span, steps = span + total.last - total.first, steps + total.looks - 1
    missed = (looks - hits + 1) / (looks + 2)
    return Hearing(missed, max(1.0, span / max(1, steps)), scene.presence.gaps)


def third_round(scene: Scene, seat: Seat) -> int:
    """When the last of the other seats' third cards was heard: the street was out by then."""
    others = [other for other in scene.hand.seats.values() if other is not seat]
    orders = [(other, in_order(scene, other)) for other in others]
    times = [first_heard(scene, other, order[2]) for other, order in orders if len(order) > 2]
    return max(times, default=-1)


def _first_fourth(scene: Scene) -> int | None:
    """When the first card of fourth street was heard anywhere."""
    seats = scene.hand.seats.values()
    orders = [(seat, in_order(scene, seat)) for seat in seats]
    times = [first_heard(scene, seat, order[3]) for seat, order in orders if len(order) > 3]
    return min(times, default=None)


def pace(scene: Scene) -> float:
    """The usual time (ms) from card to card while third street was dealt."""
    deals = [_times_of_deal(scene, seat) for seat in scene.hand.seats.values()]
    times = sorted(time for deal in deals for time in deal if time is not None)
    return median([late - early for early, late in pairwise(times)] or [0])


def in_order(scene: Scene, seat: Seat) -> list[Held]:
    """The seat's cards in the order in which they were first heard."""
    return sorted(seat.held, key=lambda held: first_heard(scene, seat, held))


def first_heard(scene: Scene, seat: Seat, held: Held) -> int:
    """When the card left the shoe, or an antenna of the seat first heard it; or it was typed."""
    if held.tag is None or held.source == "shoe":
        return held.since
    key = (held.tag, seat.number)
    known = scene.first.get(key)
    if known is None:
        time = scene.presence.first_in(held.tag, seat.zones())
        time = held.since if time is None else time
        passes = [card.at for card in scene.hand.passed if card.tag == held.tag]
        known = max((at for at in passes if time - PASSED_MS <= at <= time), default=time)
        scene.first[key] = known
    return known
