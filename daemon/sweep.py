"""Whether the cards of a hand have left the table, and whether they came back.

Only a card's own place counts: the same deck may be dealt again, and its cards come elsewhere.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from daemon.hand import Hand, Scene

QUIET_MS = 5000
CLEAR_MS = 3000
LOOKED_MS = 3000
FORGOTTEN_MS = 60_000
"""Hands that were tabled wait so long for the cards that are still to come."""


def note_sweep(scene: Scene) -> None:
    """Keep `cleared` of the hand: when its last card was heard in its place, None while any is."""
    hand = scene.hand
    note_return(scene)
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
    hand = scene.hand
    wait = CLEAR_MS if hand.closed or hand.result is not None else QUIET_MS
    if scene.now - hand.in_place < wait or _tabled_early(scene) or not hand.tags():
        return False
    if hand.named and hand.street < 0 and sum(bool(seat.held) for seat in hand.seats.values()) < 2:
        return False
    if scene.shoe_alone() and (hand.result is None or scene.board_last() < 0):
        return False
    hand.in_place = last_in_place(scene)
    if scene.now - hand.in_place < wait:
        return False
    zones = {z for z in scene.setup.zones_of_readers() if z == "board" or z.startswith("seat:")}
    return all(scene.looked_at(zone, LOOKED_MS) for zone in zones)


def _gone_unseen(scene: Scene) -> bool:
    """Whether the antennas are back after a time without looks, and the hand is not there."""
    hand = scene.hand
    waited = scene.now - max(hand.gap_at, hand.board_gap_at) >= CLEAR_MS
    return lost_sight(hand) and waited and not hand.closed and not _tabled_early(scene)


def lost_sight(hand: Hand) -> bool:
    """Whether nobody looked at seats and board for a while, and the hand did not come back since.

    What lies there now may be of the next hand.
    """
    gaps = (hand.gap_at, hand.board_gap_at)
    return min(gaps) >= 0 and hand.came_back < max(gaps)


def note_return(scene: Scene) -> None:
    """Keep when the hand was heard to lie there again after a time without looks.

    Half of the cards that two of its hands had before, or of one and the board: fewer may be of
    the next deal, when the same deck comes again and some of its cards to the same seat.
    """
    hand, presence = scene.hand, scene.presence
    gap = max(hand.gap_at, hand.board_gap_at)
    if hand.came_back >= gap:
        return
    board = [card.tag for card in hand.board if card.tag and card.since <= gap]
    places = [(board, frozenset({"board"}))]
    for seat in (hand.seats[n] for n in hand.live()):
        tags = [held.tag for held in seat.held if held.tag and held.since <= gap]
        places.append((tags, seat.zones()))
    most = max(len(tags) for tags, _ in places)
    least = min(2, most)
    groups = [(tags, zones) for tags, zones in places if len(tags) >= max(1, least)]
    there = 0
    for tags, zones in groups:
        heard = sum(presence.last_heard([tag], zones) > gap for tag in tags)
        there += heard >= max(least, (len(tags) + 1) // 2)
    wanted = 2 if least < 2 else min(2, len(groups))
    if there >= wanted or not hand.tags():
        hand.came_back = scene.now


def _tabled_early(scene: Scene) -> bool:
    """Whether hands lie tabled, perhaps off their antennas, while cards are still to come."""
    hand = scene.hand
    shown = hand.to_show or any(seat.status == "shown" for seat in hand.seats.values())
    early = bool(shown) and hand.result is None and not hand.closed and not hand.last_street()
    return early and not _run_out(scene)


def _run_out(scene: Scene) -> bool:
    """Whether the board that hands were tabled for was taken up, or none came for long."""
    hand = scene.hand
    board = [card.tag for card in hand.board if card.tag is not None]
    if not board:
        return scene.now - last_in_place(scene) >= FORGOTTEN_MS
    gone = scene.now - scene.presence.last_heard(board, {"board"}) >= QUIET_MS
    return gone and scene.looked_at("board", LOOKED_MS)


def _resumed(scene: Scene) -> bool:
    """Whether half of the live cards lie in their places again."""
    hand, presence = scene.hand, scene.presence
    places = [(card.tag, frozenset({"board"})) for card in hand.board if card.tag is not None]
    for number in hand.live():
        seat = hand.seats[number]
        places += [(tag, seat.zones()) for tag in seat.tags()]
    back = sum(
        presence.home(tag) in zones and presence.last_heard([tag], zones) > (hand.cleared or 0)
        for tag, zones in places
    )
    return back >= max(2, (len(places) + 1) // 2)
