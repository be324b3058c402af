"""How a hand comes to its end: the showdown, the sweep, the last one in play.

Without the floor nothing is told that a person would have to know.
"""

from __future__ import annotations

from statistics import median_low
from typing import TYPE_CHECKING

import msgspec
from msgspec import UNSET

from daemon.dealing import contested, crowded, left_lying, sure, unread
from daemon.events import HandEnded, HandShown
from daemon.folds import SWEEP_MS, called, collected, in_muck, neighbours_cards, review_folds
from daemon.hand import FOLDED, MUCKED, SHOWN, fold, reveal
from daemon.rules.errors import RuleError
from daemon.rules.showdown import showdown
from daemon.suspicion import hand_unread
from daemon.sweep import LOOKED_MS, QUIET_MS, lost_sight, note_sweep
from daemon.thirdstreet import hearing
from daemon.upcards import opener_owed

if TYPE_CHECKING:
    from daemon.hand import Scene, Seat

UNSEEN_MS = 60_000
"""Where no antenna sees the end of a hand, the floor is asked so long after the last card."""
TOGETHER_MS = 5000
"""Hands that are tabled leave their antennas within so long of each other (the limit is 10 s)."""
PRESENT_MS = 2500
BOARD_MS = 800
ABSENT_MS = 2000
AWAY_MS = 8000
"""Antennas that made no looks must have been back for so long before the end."""
MARGIN_MS = 4500
ALONE_MS = 3000


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
    return bool(seat.tags()) and scene.last_at(seat) < hand.street_at - ABSENT_MS


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
    certain = scene.setup.unattended == "all" and bool(live) and _together(scene, live)
    if not certain or hand.foul() or any(incomplete(scene, hand.seats[n]) for n in live):
        _ask(scene)
        return
    hand.asked = True
    try_showdown(scene, live)


def _together(scene: Scene, live: list[int]) -> bool:
    """Every live seat was heard after the last card, and all left their antennas together.

    Either all lay there until the board was taken up, or all were slid off before.
    """
    last = [scene.last_at(scene.hand.seats[number]) for number in live]
    stayed = [time >= scene.board_last() - PRESENT_MS for time in last]
    together = max(last) - min(last) <= TOGETHER_MS and len(set(stayed)) == 1
    away = max(scene.hand.gap_at, scene.hand.board_gap_at) > min(last) - AWAY_MS
    away = away or lost_sight(scene.hand) or contested(scene) or hand_unread(scene, min(last))
    if away or not together or min(last) <= scene.hand.street_at:
        return False
    return _swept(scene, live, stayed=stayed[0])


def _swept(scene: Scene, live: list[int], *, stayed: bool) -> bool:
    """Whether hands that reached the muck were swept there, after the board or among each other.

    One that goes before the last one may have been folded, and that one took the pot unseen.
    """
    seats, board = [scene.hand.seats[number] for number in live], scene.board_last()
    found = [scene.presence.first_heard(seat.tags(), "muck") for seat in seats]
    mucked = [at for at in found if at is not None]
    if not mucked or min(mucked) < board:
        return not mucked
    last = max(seats, key=scene.last_at)
    before = [scene.last_at(seat) for seat in seats if seat is not last]
    if not scene.hand.game.common_card and (not stayed or min(before) >= board - BOARD_MS):
        return True
    times = [scene.presence.last_heard([tag], last.zones()) for tag in last.tags()]
    return median_low(times) <= max(before) + hearing(scene).look_ms


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
    elif scene.shoe_alone() and not hand.asked and _all_in_muck(scene):
        _ask(scene)


def _end_alone(scene: Scene) -> None:
    """One seat is left; in stud the opener of a street that just came out is told before.

    Not while the others may have been collected at a showdown, nor where nobody hears the seats.
    """
    hand = scene.hand
    if hand.last_street() and {*collected(scene)} - {*hand.live()}:
        return
    if last_fold_unseen(scene):
        if not hand.asked:
            _ask(scene)
        return
    if hand.alone_at is None:
        hand.alone_at = scene.now
    if scene.now - hand.alone_at >= ALONE_MS or not hand.game.common_card:
        end(scene, hand.live()[0])


def last_fold_unseen(scene: Scene) -> bool:
    """Whether nobody hears the seats, and the floor has not said that the last one folded."""
    gave_up = [seat for seat in scene.hand.seats.values() if seat.status == FOLDED]
    last = max(gave_up, key=lambda seat: seat.folded_at or 0, default=None)
    return scene.shoe_alone() and last is not None and last.by_muck and not last.confirmed


def _all_in_muck(scene: Scene) -> bool:
    """Whether cards of every live hand have been in the muck for a while."""
    hand = scene.hand
    found = [in_muck(scene, hand.seats[number]) for number in hand.live()]
    rested = all(at is not None and scene.now - at >= QUIET_MS for at in found)
    return bool(found) and rested and not hand.called


def _end_unseen(scene: Scene) -> None:
    """The table was swept and nobody said why: one seat was left, or the floor has to say."""
    hand = scene.hand
    review_folds(scene, SWEEP_MS)
    winner = _last_one(scene)
    if winner is not None:
        others = (hand.seats[number] for number in hand.live() if number != winner)
        for seat in (one for one in others if not neighbours_cards(scene, one)):
            if seat.muck_at is not None and any(sure(scene, seat, tag, 2) for tag in seat.tags()):
                fold(scene, seat)
        end(scene, winner)
    elif hand.last_street() and len(hand.live()) > 1:
        review_showdown(scene)
    else:
        _ask(scene)


def _ask(scene: Scene) -> None:
    """The floor has to say how the hand ended."""
    scene.hand.asked = True
    scene.alert("showdown-wanted")


def _last_one(scene: Scene) -> int | None:
    """The one seat that certainly had not given up when the table was swept."""
    hand = scene.hand
    live = [hand.seats[number] for number in hand.live()]
    if not live or scene.down or len(hand.seats) < 2 or unread(scene) or called(scene):
        return None
    if hand.foul() or hand_unread(scene):
        return None
    if not all(seat.held for seat in hand.seats.values()):
        return None
    last = max(live, key=scene.last_at)
    kept, board = scene.last_at(last), scene.board_last()
    if max(hand.gap_at, hand.board_gap_at) > kept - AWAY_MS or lost_sight(hand):
        return None
    others = [seat for seat in live if seat is not last]
    if others and hand.board and kept < board - PRESENT_MS:
        return None
    if not all(sure(scene, last, tag, 2) for tag in last.tags()):
        return None
    gave_up = [seat for seat in hand.seats.values() if seat.status == FOLDED]
    if any(scene.last_at(seat) > kept - (SWEEP_MS if others else 0) for seat in gave_up):
        return None
    if any(_in_muck_later(scene, one, last) for one in others):
        return None
    if others and (_may_be_showdown(scene) or _tabled_or_doubtful(scene)):
        return None
    margin = PRESENT_MS if hand.board else MARGIN_MS
    return last.number if all(kept - scene.last_at(one) >= margin for one in others) else None


def _in_muck_later(scene: Scene, seat: Seat, last: Seat) -> bool:
    """Whether the muck heard this seat after the one that seems to be the last one in play."""
    after, before = in_muck(scene, seat), in_muck(scene, last)
    return after is not None and before is not None and after >= before


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
