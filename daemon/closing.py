"""How a hand comes to its end: the showdown, the sweep, what the floor is asked.

Without the floor nothing is told that a person would have to know.
"""

from __future__ import annotations

from statistics import median_low
from typing import TYPE_CHECKING

import msgspec
from msgspec import UNSET

from daemon.dealing import contested, crowded, left_lying, sure
from daemon.events import HandEnded, HandShown
from daemon.folds import SWEEP_MS, collected, in_muck, neighbours_cards, review_folds
from daemon.hand import FOLDED, MUCKED, SHOWN, fold, reveal
from daemon.lastone import AWAY_MS, PRESENT_MS, last_one
from daemon.otherdeck import foul
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
"""Hands that are tabled leave their antennas within so long of each other."""
LIMIT_MS = 10_000
"""The same where the board heard that all were swept."""
BOARD_MS = 1500
GATHER_MS = 1500
"""Hands that leave so shortly after each other, none in the muck yet, are gathered by the dealer:
the last one in play holds on to his until the hand of the other lies in the muck."""
ABSENT_MS = 2000
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
    if not certain or foul(scene) or any(incomplete(scene, hand.seats[n]) for n in live):
        _ask(scene)
        return
    hand.asked = True
    try_showdown(scene, live)


def _together(scene: Scene, live: list[int]) -> bool:
    """Every live seat was heard after the last card, and all left their antennas together.

    Either all lay there until the board was taken up, or all were slid off before; or those that
    went before were swept over the board with the rest.
    """
    seats, board = [scene.hand.seats[number] for number in live], scene.board_last()
    last = [scene.last_at(seat) for seat in seats]
    stayed = [time >= board - PRESENT_MS for time in last]
    away = max(scene.hand.gap_at, scene.hand.board_gap_at) > min(last) - AWAY_MS
    away = away or lost_sight(scene.hand) or contested(scene) or hand_unread(scene, min(last))
    if away or max(last) - min(last) > LIMIT_MS or min(last) <= scene.hand.street_at:
        return False
    if max(last) - min(last) > TOGETHER_MS or len(set(stayed)) > 1:
        until = max(board, *last)
        early = [seat for seat in seats if scene.last_at(seat) < until - PRESENT_MS]
        if any(scene.presence.last_heard(seat.tags(), {"board"}) <= until for seat in early):
            return False
    return _swept(scene, live, stayed=any(stayed))


def _swept(scene: Scene, live: list[int], *, stayed: bool) -> bool:
    """Whether hands that reached the muck were swept there, after the board or among each other.

    One that goes before the last one may have been folded, and that one took the pot unseen.
    """
    seats, board = [scene.hand.seats[number] for number in live], scene.board_last()
    mucked = [at for seat in seats if (at := in_muck(scene, seat)) is not None]
    if not mucked or min(mucked) < board:
        return not mucked
    last = max(seats, key=scene.last_at)
    left = [scene.last_at(seat) for seat in seats]
    if min(mucked) > max(left) and max(left) - min(left) <= GATHER_MS:
        return True
    before = [scene.last_at(seat) for seat in seats if seat is not last]
    if not scene.hand.game.common_card and (not stayed or min(before) >= board - BOARD_MS):
        return True
    shares = [_in_muck_share(scene, seat) for seat in seats]
    if min(shares) == 0 and max(shares) > 0.5:
        return False
    times = [scene.presence.last_heard([tag], last.zones()) for tag in last.tags()]
    return median_low(times) <= max(before) + hearing(scene).look_ms


def _in_muck_share(scene: Scene, seat: Seat) -> float:
    """How many of the seat's cards the muck has heard, from 0 to 1."""
    tags = seat.tags()
    return sum(scene.presence.hits([tag], "muck") > 0 for tag in tags) / len(tags)


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
    elif scene.shoe_alone() and not hand.named:
        _end_unfollowed(scene)
    elif scene.shoe_alone() and not hand.asked and _all_in_muck(scene):
        _ask(scene)


def _end_unfollowed(scene: Scene) -> None:
    """Nobody named the seats, and no antenna hears them: only the board says that it is over."""
    hand = scene.hand
    if not hand.passed:
        return
    board = scene.presence.last_heard([card.tag for card in hand.passed], {"board"})
    since, wait = (board, QUIET_MS) if board >= 0 else (hand.passed[-1].at, UNSEEN_MS)
    if scene.now - since < wait or not scene.looked_at("board", LOOKED_MS):
        return
    if not hand.asked:
        _ask(scene)
    if board >= 0:
        end(scene)


def _end_alone(scene: Scene) -> None:
    """One seat is left; in stud the opener of a street that just came out is told before.

    Not while the others may have been collected at a showdown, nor where nobody hears the seats.
    """
    hand = scene.hand
    if hand.last_street() and {*collected(scene)} - {*hand.live()}:
        return
    if _unsaid(scene) and hand.cleared is None:
        return
    if last_fold_unseen(scene) or _unsaid(scene):
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


def _unsaid(scene: Scene) -> bool:
    """Whether only the muck says that hands were given up, once all cards were out.

    Tabled hands are collected in any order: `unattended = "ask"` leaves it to the floor, and so
    does a hand whose seats the floor has named.
    """
    hand = scene.hand
    return (
        (scene.setup.unattended == "ask" or hand.named)
        and hand.last_street()
        and any(
            seat.by_muck and not seat.confirmed and (seat.folded_at or 0) >= hand.street_at
            for seat in hand.seats.values()
            if seat.status == FOLDED
        )
    )


def _all_in_muck(scene: Scene) -> bool:
    """Whether cards of every live hand have been in the muck for a while."""
    hand = scene.hand
    found = [in_muck(scene, hand.seats[number]) for number in hand.live()]
    rested = all(at is not None and scene.now - at >= QUIET_MS for at in found)
    return bool(found) and rested and hand.called_at is None


def _end_unseen(scene: Scene) -> None:
    """The table was swept and nobody said why: one seat was left, or the floor has to say."""
    hand = scene.hand
    review_folds(scene, SWEEP_MS)
    winner = None if _unsaid(scene) else last_one(scene)
    if winner is not None:
        others = (hand.seats[number] for number in hand.live() if number != winner)
        for seat in (one for one in others if not neighbours_cards(scene, one)):
            if in_muck(scene, seat) and any(sure(scene, seat, tag, 2) for tag in seat.tags()):
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


def end(scene: Scene, winner: int | None = None) -> None:
    """The hand is over."""
    if opener_owed(scene):
        scene.alert("unsure-opener")
    scene.hand.closed = True
    scene.tell(HandEnded(winner=UNSET if winner is None else winner))


def end_unsaid(scene: Scene) -> None:
    """The next hand begins, and nobody has said how this one ended."""
    hand = scene.hand
    if hand.result is None and not hand.asked and len(hand.live()) > 0:
        _ask(scene)
    end(scene)
