"""Folds: cards that pass the muck while the hand goes on elsewhere.

That they are lifted says nothing, and a sweep takes everything.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from daemon.dealing import sure
from daemon.hand import IN, fold
from daemon.sweep import lost_sight

if TYPE_CHECKING:
    from daemon.hand import Scene, Seat

FOLD_MS = 2000
"""So long after cards reached the muck, other cards must still be heard where they lie."""
SWEPT_MS = 2500
"""A sweep takes all hands within so long."""
LIFT_MS = 6000
"""Nobody holds cards up to look at them for so long."""
SWEEP_MS = 700
"""Once everything is over, cards that were in the muck so long before the board left."""


def review_folds(scene: Scene, wait: int = FOLD_MS) -> None:
    """Confirm the folds whose cards reached the muck, unless the table is being swept."""
    if scene.hand.cleared is not None and wait == FOLD_MS:
        return
    for seat in scene.hand.seats.values():
        _note_muck(scene, seat)
        if seat.status == IN and seat.muck_at is not None and _folded(scene, seat, wait):
            fold(scene, seat)
            seat.by_muck = True


def _note_muck(scene: Scene, seat: Seat) -> None:
    """A hand was heard in the muck, too shortly to settle there, and nowhere else since."""
    left = scene.last_at(seat)
    if seat.status != IN or seat.muck_at is not None or scene.now - left < LIFT_MS:
        return
    tags = [tag for tag in seat.tags() if sure(scene, seat, tag, 2)]
    heard = scene.presence.last_heard(tags, {"muck"})
    if heard > left:
        seat.muck_at = heard


def _folded(scene: Scene, seat: Seat, wait: int) -> bool:
    presence = scene.presence
    tags = [tag for tag in seat.tags() if sure(scene, seat, tag, 2)]
    left, first = scene.last_at(seat), presence.first_heard(tags, "muck")
    if first is None or seat.muck_at is None or scene.shoe_alone() or called(scene):
        return False
    if lost_sight(scene.hand):
        return False
    at = first if first > left else seat.muck_at
    if left > at + 500:
        if all(presence.home(tag) in seat.zones() for tag in seat.tags()):
            seat.muck_at = None
        return False
    if scene.hand.gap_at > left:
        return False
    if presence.hits(tags, "muck") < 2 and scene.now - left < LIFT_MS:
        return False
    return _hand_goes_on(scene, seat, at, wait)


def called(scene: Scene) -> bool:
    """Whether it came to a showdown: hands that reach the muck then have lost."""
    return scene.hand.result is not None or scene.hand.called


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
