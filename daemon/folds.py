"""Folds: cards that pass the muck while the hand goes on elsewhere.

That they are lifted says nothing, and a sweep takes everything.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from daemon.dealing import sure
from daemon.hand import FOLDED, IN, fold
from daemon.sweep import lost_sight

if TYPE_CHECKING:
    from daemon.hand import Scene, Seat

FOLD_MS = 2000
"""So long after cards reached the muck, other cards must still be heard where they lie."""
SWEPT_MS = 2500
"""A sweep takes all hands within so long."""
LIFT_MS = 6000
"""Nobody holds cards up to look at them for so long."""
TABLED_MS = 5000
"""Once all cards are out, a hand that comes to the muck so long after it left was perhaps shown."""
COLLECTING_MS = 15_000
COLLECT_MS = 6000
"""Hands of a showdown may be collected so long before the floor asks for it."""
SWEEP_MS = 700
"""Once everything is over, cards that were in the muck so long before the board left."""


def review_folds(scene: Scene, wait: int = FOLD_MS) -> None:
    """Confirm the folds whose cards reached the muck, unless the table is being swept."""
    if scene.hand.cleared is not None and wait == FOLD_MS:
        return
    for seat in scene.hand.seats.values():
        if seat.status != IN:
            continue
        if seat.muck_at is None:
            _note_muck(scene, seat)
        if seat.muck_at is not None and _folded(scene, seat, wait):
            fold(scene, seat)
            seat.by_muck = True
            if scene.shoe_alone():
                seat.folded_at = in_muck(scene, seat)


def _note_muck(scene: Scene, seat: Seat) -> None:
    """A hand was heard in the muck, too shortly to settle there, and nowhere else since."""
    presence, zones = scene.presence, seat.zones()
    for held in seat.held:
        track = presence.tracks.get(held.tag or "")
        if track is not None and track.home in zones:
            return
    left = scene.last_at(seat)
    if scene.now - left < LIFT_MS:
        return
    tags = [tag for tag in seat.tags() if sure(scene, seat, tag, 2)]
    heard = presence.last_heard(tags, {"muck"})
    if heard > left:
        seat.muck_at = heard


def _folded(scene: Scene, seat: Seat, wait: int) -> bool:
    if scene.shoe_alone():
        return _folded_unseen(scene, seat)
    presence = scene.presence
    tags = [tag for tag in seat.tags() if sure(scene, seat, tag, 2)]
    left, first = scene.last_at(seat), presence.first_heard(tags, "muck")
    if first is None or seat.muck_at is None or called(scene):
        return False
    if lost_sight(scene.hand) or neighbours_cards(scene, seat):
        return False
    at = first if first > left else seat.muck_at
    if left > at + 500:
        if all(presence.home(tag) in seat.zones() for tag in seat.tags()):
            seat.muck_at = None
        return False
    if scene.hand.gap_at > left:
        return False
    if scene.hand.last_street() and at - left > TABLED_MS and not _stayed(scene, seat, at):
        return False
    if presence.hits(tags, "muck") < 2 and scene.now - left < LIFT_MS:
        return False
    return _hand_goes_on(scene, seat, at, wait)


def _folded_unseen(scene: Scene, seat: Seat) -> bool:
    """No antenna hears the seats: the cards rest in the muck, and those of another hand do not."""
    presence, hand, tags = scene.presence, scene.hand, seat.tags()
    at = in_muck(scene, seat)
    others = (hand.seats[number] for number in hand.live() if number != seat.number)
    if at is None or called(scene) or all(in_muck(scene, one) is not None for one in others):
        return False
    several = sum(presence.hits([tag], "muck") > 0 for tag in tags) > 1
    rested = several or presence.last_heard(tags, {"muck"}, steady=True) >= at
    return rested and scene.now - at >= SWEPT_MS


def in_muck(scene: Scene, seat: Seat) -> int | None:
    """When the muck first heard cards of the seat after they had lain there, None for never."""
    presence, tags = scene.presence, seat.tags()
    dealt = max((held.since for held in seat.held if held.tag is not None), default=-1)
    left, last = max(scene.last_at(seat), dealt), presence.last_heard(tags, {"muck"})
    found = (presence.first_heard(tags, "muck"), seat.muck_at, last)
    return min((at for at in found if at is not None and left < at <= last), default=None)


def collected(scene: Scene) -> list[int]:
    """Seats whose cards the dealer may have collected before the floor asked for the showdown.

    They may as well have folded, so that only the floor can say whether they showed.
    """
    return [number for number, seat in scene.hand.seats.items() if _may_have_shown(scene, seat)]


def _may_have_shown(scene: Scene, seat: Seat) -> bool:
    hand, at = scene.hand, in_muck(scene, seat)
    until = scene.now if hand.called_at is None else hand.called_at
    if at is None or at > until:
        return False
    by_muck = seat.status == FOLDED and seat.by_muck and not seat.confirmed
    return seat.status == IN or (by_muck and at > max(hand.street_at, until - COLLECT_MS))


def neighbours_cards(scene: Scene, seat: Seat) -> bool:
    """Whether nobody may sit here: the few cards heard here are as many as a neighbour lacks."""
    hand, own = scene.hand, len(seat.held)
    held = dict.fromkeys(hand.expected, 0) | {n: len(one.held) for n, one in hand.seats.items()}
    due = max(hand.down_cards_due(), *held.values())
    if hand.named or own * 2 > due:
        return False
    beside = {1, scene.setup.seats - 1}
    return any(abs(n - seat.number) in beside and count <= due - own for n, count in held.items())


def called(scene: Scene) -> bool:
    """Whether it came to a showdown: hands that reach the muck then have lost."""
    return scene.hand.result is not None or scene.hand.called_at is not None


def _stayed(scene: Scene, seat: Seat, at: int) -> bool:
    """Whether others lay at their seats for much longer than it takes to collect tabled hands."""
    others = (scene.hand.seats[n] for n in scene.hand.live() if n != seat.number)
    return any(scene.last_at(other) >= at + COLLECTING_MS for other in others)


def _hand_goes_on(scene: Scene, seat: Seat, at: int, wait: int) -> bool:
    """Whether some other live hand was still heard in its place after that, and for a while.

    Or the board for it, which is taken up first; hands are swept one after the other.
    """
    hand = scene.hand
    others = [hand.seats[number] for number in hand.live() if number != seat.number]
    if all(other.muck_at is not None for other in others):
        return False
    last = max(scene.last_at(other) for other in others)
    return last >= at + SWEPT_MS or (last >= at and scene.board_last() >= at + wait)
