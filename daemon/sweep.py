"""Whether the cards of a hand have left the table, and whether they came back.

Only a card's own place counts: the same deck may be dealt again, and its cards come elsewhere.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from daemon.hand import Scene

QUIET_MS = 5000
CLEAR_MS = 3000
LOOKED_MS = 3000
BACK_MS = 2000
"""The first pass of antennas that came back is over within so long."""


def note_sweep(scene: Scene) -> None:
    """Keep `cleared` of the hand: when its last card was heard in its place, None while any is."""
    hand = scene.hand
    if hand.cleared is None and (_is_clear(scene) or _gone_unseen(scene)):
        hand.cleared = last_in_place(scene)
    elif hand.cleared is not None and not hand.closed and hand.result is None and _resumed(scene):
        hand.cleared = None
        hand.asked = hand.asked and hand.last_street()


def last_in_place(scene: Scene) -> int:
    """When a card of the hand was last heard where it belongs, -1 for never."""
    hand, presence = scene.hand, scene.presence
    board = [card.tag for card in hand.board if card.tag is not None]
    heard = [presence.last_heard(board, {"board"})]
    heard += [presence.last_heard(seat.tags(), seat.zones()) for seat in hand.seats.values()]
    heard += [presence.last_heard(seat.extra, seat.zones()) for seat in hand.seats.values()]
    return max(heard)


def _is_clear(scene: Scene) -> bool:
    """No card of the hand is heard in its place, and the antennas are alive."""
    zones = {z for z in scene.setup.zones_of_readers() if z == "board" or z.startswith("seat:")}
    if scene.shoe_alone() and (scene.hand.result is None or scene.board_last() < 0):
        return False
    if _tabled_early(scene):
        return False
    if not scene.hand.tags() or not all(scene.looked_at(zone, LOOKED_MS) for zone in zones):
        return False
    wait = CLEAR_MS if scene.hand.closed or scene.hand.result is not None else QUIET_MS
    return scene.now - last_in_place(scene) >= wait


def _gone_unseen(scene: Scene) -> bool:
    """Whether the antennas are back after a time without looks and hear nothing of the hand."""
    hand = scene.hand
    last = last_in_place(scene)
    back = 0 <= last < hand.gap_at - BACK_MS and hand.board_gap_at >= 0
    back = back and scene.now - hand.gap_at >= CLEAR_MS
    return back and not hand.closed and not _tabled_early(scene)


def _tabled_early(scene: Scene) -> bool:
    """Whether hands lie tabled, perhaps off their antennas, while cards are still to come."""
    hand = scene.hand
    shown = hand.to_show or any(seat.status == "shown" for seat in hand.seats.values())
    return bool(shown) and hand.result is None and not hand.closed and not hand.last_street()


def _resumed(scene: Scene) -> bool:
    """Whether half of the live cards lie in their places again."""
    hand, presence = scene.hand, scene.presence
    places = [(card.tag, {"board"}) for card in hand.board if card.tag is not None]
    for number in hand.live():
        seat = hand.seats[number]
        places += [(tag, seat.zones()) for tag in seat.tags()]
    back = sum(
        presence.home(tag) in zones and presence.last_heard([tag], zones) > (hand.cleared or 0)
        for tag, zones in places
    )
    return back >= max(2, (len(places) + 1) // 2)
