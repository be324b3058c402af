"""How a hand comes to its end: folds, the showdown, the sweep.

A fold is cards passing the muck while the hand goes on elsewhere; a sweep takes everything.
Without the floor nothing is told that a person would have to know.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec
from msgspec import UNSET

from daemon.dealing import contested, crowded, left_lying, sure, unread
from daemon.events import HandEnded, HandShown
from daemon.hand import FOLDED, IN, MUCKED, SHOWN, fold, reveal
from daemon.rules.errors import RuleError
from daemon.rules.showdown import showdown
from daemon.sweep import LOOKED_MS, QUIET_MS, lost_sight, note_sweep
from daemon.upcards import opener_owed

if TYPE_CHECKING:
    from daemon.hand import Scene, Seat

FOLD_MS = 2000
"""So long after cards reached the muck, other cards must still be heard where they lie."""
SWEEP_MS = 700
"""Once everything is over, cards that were in the muck so long before the board left."""
SWEPT_MS = 2500
"""A sweep takes all hands within so long."""
LIFT_MS = 6000
"""Nobody holds cards up to look at them for so long."""
UNSEEN_MS = 60_000
"""Where no antenna sees the end of a hand, the floor is asked so long after the last card."""
TOGETHER_MS = 5000
"""Hands that are tabled leave their antennas within so long of each other (the limit is 10 s)."""
PRESENT_MS = 2500
AWAY_MS = 8000
"""Antennas that made no looks must have been back for so long before the end."""
MARGIN_MS = 4500
ALONE_MS = 3000


def review_folds(scene: Scene, wait: int = FOLD_MS) -> None:
    """Confirm the folds whose cards reached the muck, unless the table is being swept."""
    if scene.hand.cleared is not None and wait == FOLD_MS:
        return
    for seat in scene.hand.seats.values():
        if seat.status == IN and seat.muck_at is not None and _folded(scene, seat, wait):
            fold(scene, seat)
            seat.by_muck = True


def _folded(scene: Scene, seat: Seat, wait: int) -> bool:
    presence = scene.presence
    tags = [tag for tag in seat.tags() if sure(scene, seat, tag, 2)]
    left, first = scene.last_at(seat), presence.first_heard(tags, "muck")
    if first is None or seat.muck_at is None or scene.shoe_alone() or _called(scene):
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


def _called(scene: Scene) -> bool:
    """Whether it came to a showdown: hands that reach the muck then have lost."""
    return scene.hand.result is not None or scene.hand.called


def _hand_goes_on(scene: Scene, seat: Seat, at: int, wait: int) -> bool:
    """Whether the board, or some other live hand, was still heard in its place after that.

    The board is taken up first, but hands are swept one after the other.
    """
    hand = scene.hand
    others = [hand.seats[number] for number in hand.live() if number != seat.number]
    if all(other.muck_at is not None for other in others):
        return False
    if scene.board_last() >= at + wait:
        return True
    return any(scene.last_at(other) >= at + SWEPT_MS for other in others)


def incomplete(scene: Scene, seat: Seat, due: int | None = None) -> bool:
    """Whether one of the `due` cards is missing, surplus, or not certainly this seat's."""
    hand = scene.hand
    if due is None:
        due = hand.game.own_cards - (len(hand.board) if hand.game.common_card else 0)
    if len(seat.held) != due or seat.extra or crowded(scene, seat) or left_lying(scene, seat):
        return True
    return any(held.face is None or not sure(scene, seat, held.tag) for held in seat.held)


def absent(scene: Scene, seat: Seat) -> bool:
    """Whether a living antenna has not heard this hand since the last street came out."""
    hand = scene.hand
    if seat.status == SHOWN or not scene.alive(seat.zone()):
        return False
    return bool(seat.tags()) and scene.last_at(seat) < hand.street_at - FOLD_MS


def try_showdown(scene: Scene, seats: list[int]) -> list[int]:
    """Tell the showdown of these seats, or return those it has to wait for."""
    hand = scene.hand
    waiting = [number for number in seats if incomplete(scene, hand.seats[number])]
    for number in waiting:
        scene.alert("missing-card", f"seat:{number}")
    hand.waiting = waiting
    if not waiting:
        _tell_showdown(scene, seats)
    return waiting


def _tell_showdown(scene: Scene, seats: list[int]) -> None:
    hand = scene.hand
    hands = {n: [held.face for held in hand.seats[n].held if held.face] for n in seats}
    mucked = [number for number in hand.live() if number not in seats]
    board = [card.face for card in hand.board]
    try:
        result = showdown(hand.game, board, hands, mucked, _typed(scene, seats))
    except RuleError:
        scene.alert("duplicate-card", "board")
        return
    replaces = hand.result_seq if hand.result is not None else UNSET
    hand.result = msgspec.structs.replace(result, replaces=replaces)
    hand.wanted = seats
    scene.tell(hand.result)
    for number in mucked:
        hand.seats[number].status = MUCKED
    for number in seats:
        seat = hand.seats[number]
        seat.status, seat.tabled = SHOWN, len(seat.held)
        reveal(scene, seat)


def _typed(scene: Scene, seats: list[int]) -> list[str]:
    hand = scene.hand
    cards = [card.face for card in hand.board if card.source == "typed"]
    for number in seats:
        held = hand.seats[number].held
        cards += [one.face for one in held if one.source == "typed" and one.face]
    return cards


def review_shows(scene: Scene) -> None:
    """Hands that the floor called tabled are told as soon as all their cards are known."""
    hand = scene.hand
    hand.to_show = [number for number in hand.to_show if number in hand.seats]
    for number in list(hand.to_show):
        seat = hand.seats[number]
        if incomplete(scene, seat, None if hand.last_street() else hand.down_cards_due()):
            scene.alert("missing-card", seat.zone())
            continue
        hand.to_show.remove(number)
        seat.status, seat.tabled = SHOWN, len(seat.held)
        cards = [held.face for held in seat.held if held.face is not None]
        scene.tell(HandShown(seat=number, cards=cards))
        reveal(scene, seat)


def review_showdown(scene: Scene) -> None:
    """A showdown that waited for a card, or one that nobody asked for."""
    hand = scene.hand
    if hand.result is not None or hand.closed or not hand.last_street():
        return
    if hand.wanted is not None:
        if not any(incomplete(scene, hand.seats[number]) for number in hand.wanted):
            try_showdown(scene, hand.wanted)
    elif not hand.asked and len(hand.live()) > 1 and _quiet(scene):
        _unattended(scene)


def _live_zones(scene: Scene) -> set[str]:
    zones = {f"seat:{number}{up}" for number in scene.hand.live() for up in ("", ":up")}
    return zones | {"board"}


def _quiet(scene: Scene) -> bool:
    """Board and live seats, all with living readers, have heard no card of the hand for 5 s."""
    last = scene.presence.last_heard(scene.hand.tags(), _live_zones(scene))
    covered = _live_zones(scene) & scene.setup.zones_of_readers()
    looked = all(scene.looked_at(zone, LOOKED_MS) for zone in covered)
    unseen = not covered or (scene.shoe_alone() and scene.board_last() < 0)
    wait = UNSEEN_MS if unseen else QUIET_MS
    return scene.now - max(last, scene.hand.street_at) >= wait and looked


def _unattended(scene: Scene) -> None:
    hand = scene.hand
    review_folds(scene, SWEEP_MS)
    live = hand.live()
    if len(live) == 1:
        return
    hand.asked = True
    certain = scene.setup.unattended == "all" and bool(live) and _together(scene, live)
    if not certain or any(incomplete(scene, hand.seats[number]) for number in live):
        scene.alert("showdown-wanted")
        return
    try_showdown(scene, live)


def _together(scene: Scene, live: list[int]) -> bool:
    """Every live seat was heard after the last card, and all left their antennas together.

    Either all lay there until the board was taken up, or all were slid off before.
    """
    last = [scene.last_at(scene.hand.seats[number]) for number in live]
    stayed = [time >= scene.board_last() - PRESENT_MS for time in last]
    together = max(last) - min(last) <= TOGETHER_MS and len(set(stayed)) == 1
    away = max(scene.hand.gap_at, scene.hand.board_gap_at) > min(last) - AWAY_MS
    away = away or lost_sight(scene.hand) or contested(scene)
    mucked = [scene.hand.seats[number].muck_at for number in live]
    before = any(at is not None and at < scene.board_last() for at in mucked)
    return min(last) > scene.hand.street_at and together and not away and not before


def review_end(scene: Scene) -> None:
    """The hand is over once its cards have left the table, or one seat is left for certain."""
    hand = scene.hand
    note_sweep(scene)
    if hand.closed:
        return
    if hand.result is not None:
        if hand.cleared is not None:
            end(scene)
    elif hand.named and len(hand.live()) == 1 and len(hand.seats) > 1:
        _end_alone(scene)
    elif hand.cleared is not None and not hand.asked:
        _end_unseen(scene)


def _end_alone(scene: Scene) -> None:
    """One seat is left; in stud the opener of a street that just came out is told before."""
    hand = scene.hand
    if hand.alone_at is None:
        hand.alone_at = scene.now
    if scene.now - hand.alone_at >= ALONE_MS or not hand.game.common_card:
        end(scene, hand.live()[0])


def _end_unseen(scene: Scene) -> None:
    """The table was swept and nobody said why: one seat was left, or the floor has to say."""
    hand = scene.hand
    review_folds(scene, SWEEP_MS)
    winner = _last_one(scene)
    if winner is not None:
        for seat in (hand.seats[number] for number in hand.live() if number != winner):
            if seat.muck_at is not None and any(sure(scene, seat, tag, 2) for tag in seat.tags()):
                fold(scene, seat)
        end(scene, winner)
    elif hand.last_street():
        review_showdown(scene)
    elif not hand.asked:
        hand.asked = True
        scene.alert("showdown-wanted")


def _last_one(scene: Scene) -> int | None:
    """The one seat that certainly had not given up when the table was swept."""
    hand = scene.hand
    live = [hand.seats[number] for number in hand.live()]
    if not live or scene.down or len(hand.seats) < 2 or unread(scene) or _called(scene):
        return None
    if not all(seat.held for seat in hand.seats.values()):
        return None
    last = max(live, key=scene.last_at)
    kept, board = scene.last_at(last), scene.board_last()
    if max(hand.gap_at, hand.board_gap_at) > kept - AWAY_MS or lost_sight(hand):
        return None
    if hand.board and kept < board - PRESENT_MS:
        return None
    if not all(sure(scene, last, tag, 2) for tag in last.tags()):
        return None
    gave_up = [seat for seat in hand.seats.values() if seat.status == FOLDED]
    if any(scene.last_at(seat) > kept - SWEEP_MS for seat in gave_up):
        return None
    others = [seat for seat in live if seat is not last]
    if others and (_may_be_showdown(scene) or _tabled_or_doubtful(scene)):
        return None
    margin = PRESENT_MS if hand.board else MARGIN_MS
    return last.number if all(kept - scene.last_at(one) >= margin for one in others) else None


def _may_be_showdown(scene: Scene) -> bool:
    """Whether all cards may be out: one may have gone unheard."""
    hand = scene.hand
    most = max(len(hand.seats[number].held) for number in hand.live())
    by_cards = hand.game.common_card and most >= hand.game.own_cards - 1
    return hand.last_street() or by_cards or len(hand.board) > 3


def _tabled_or_doubtful(scene: Scene) -> bool:
    """Whether hands were tabled, or board cards asked for: then there may have been a showdown."""
    hand = scene.hand
    shown = hand.to_show or any(seat.status == SHOWN for seat in hand.seats.values())
    kinds = {mark.partition(" ")[0] for mark in hand.alerted if mark.endswith(" board")}
    return bool(shown) or bool(kinds & {"missing-card", "extra-board-card", "premature-card"})


def end(scene: Scene, winner: int | None = None) -> None:
    """The hand is over."""
    if opener_owed(scene):
        scene.alert("unsure-opener")
    scene.hand.closed = True
    scene.tell(HandEnded(winner=UNSET if winner is None else winner))
