"""How a hand comes to its end: folds, the showdown, the sweep.

A fold is cards passing the muck while the hand goes on elsewhere; a sweep takes everything.
Without the floor nothing is told that a person would have to know.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec
from msgspec import UNSET

from daemon.dealing import sure
from daemon.events import HandEnded, HandShown
from daemon.hand import FOLDED, IN, MUCKED, SHOWN, fold, reveal
from daemon.rules.errors import RuleError
from daemon.rules.showdown import showdown

if TYPE_CHECKING:
    from daemon.hand import Scene, Seat

FOLD_MS = 2500
"""So long after cards reached the muck, other cards must still be heard where they lie."""
QUIET_MS = 5000
APART_MS = 10_000
CLEAR_MS = 3000
LOOKED_MS = 3000


def review_folds(scene: Scene) -> None:
    """Confirm the folds whose cards reached the muck, unless the table is being swept."""
    for seat in scene.hand.seats.values():
        if seat.status == IN and seat.muck_at is not None and _folded(scene, seat, seat.muck_at):
            fold(scene, seat)
            seat.by_muck = True


def _folded(scene: Scene, seat: Seat, at: int) -> bool:
    hand, presence = scene.hand, scene.presence
    if scene.now - at < FOLD_MS or hand.result is not None:
        return False
    own = [held.tag for held in seat.held if held.tag is not None]
    mucked = [tag for tag in own if presence.home(tag) == "muck"]
    if not mucked:
        seat.muck_at = None
        return False
    if not any(sure(scene, seat, tag, 2) for tag in mucked):
        return False
    if presence.last_heard(own, {seat.zone()}) > at + FOLD_MS // 2:
        return False
    return _hand_goes_on(scene, seat, at + FOLD_MS * 4 // 5)


def _hand_goes_on(scene: Scene, seat: Seat, since: int) -> bool:
    """Whether some other live hand or the board has been heard in its place since then."""
    hand, presence = scene.hand, scene.presence
    board = [card.tag for card in hand.board if card.tag is not None]
    if presence.last_heard(board, {"board"}) >= since:
        return True
    others = [hand.seats[number] for number in hand.live() if number != seat.number]
    return any(
        presence.last_heard([held.tag for held in other.held if held.tag], {other.zone()}) >= since
        for other in others
    )


def incomplete(scene: Scene, seat: Seat) -> bool:
    """Whether a card of this hand is missing, surplus, or not certainly this seat's."""
    hand = scene.hand
    if len(seat.held) != hand.game.own_cards or seat.extra:
        return True
    return any(held.face is None or not sure(scene, seat, held.tag) for held in seat.held)


def absent(scene: Scene, seat: Seat) -> bool:
    """Whether a living antenna has not heard this hand since the last street came out."""
    hand = scene.hand
    if seat.status == SHOWN or not scene.alive(seat.zone()):
        return False
    tags = [held.tag for held in seat.held if held.tag is not None]
    last = scene.presence.last_heard(tags, {seat.zone(), f"{seat.zone()}:up"})
    return bool(tags) and last < hand.street_at - FOLD_MS


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
        hand.seats[number].status = SHOWN
        reveal(scene, hand.seats[number])


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
    for number in list(hand.to_show):
        seat = hand.seats[number]
        if incomplete(scene, seat):
            scene.alert("missing-card", seat.zone())
            continue
        hand.to_show.remove(number)
        seat.status = SHOWN
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
    last = scene.presence.last_heard(_tags(scene), _live_zones(scene))
    covered = _live_zones(scene) & scene.setup.zones_of_readers()
    looked = all(scene.looked_at(zone, LOOKED_MS) for zone in covered)
    return scene.now - max(last, scene.hand.street_at) >= QUIET_MS and looked


def _tags(scene: Scene) -> list[str]:
    hand = scene.hand
    tags = [card.tag for card in hand.board if card.tag is not None]
    for seat in hand.seats.values():
        tags += [held.tag for held in seat.held if held.tag is not None]
        tags += seat.extra
    return tags


def _unattended(scene: Scene) -> None:
    hand = scene.hand
    hand.asked = True
    live = hand.live()
    if scene.setup.unattended != "all" or not _together(scene, live):
        scene.alert("showdown-wanted")
        return
    if any(incomplete(scene, hand.seats[number]) for number in live):
        scene.alert("showdown-wanted")
        return
    try_showdown(scene, live)


def _together(scene: Scene, live: list[int]) -> bool:
    """Every live seat was heard after the last card, and all within 10 s of each other."""
    hand, presence = scene.hand, scene.presence
    last = []
    for number in live:
        tags = [held.tag for held in hand.seats[number].held if held.tag is not None]
        last.append(presence.last_heard(tags, {f"seat:{number}", f"seat:{number}:up"}))
    return min(last) > hand.street_at and max(last) - min(last) <= APART_MS


def review_end(scene: Scene) -> None:
    """The hand is over once its cards have left the table, or one seat is left for certain."""
    hand = scene.hand
    if hand.cleared is None and _clear(scene):
        hand.cleared = scene.now
    if hand.closed:
        return
    if hand.result is not None:
        if hand.cleared is not None:
            end(scene)
        return
    live = hand.live()
    if len(live) != 1 or len(hand.seats) < 2:
        return
    if hand.named and not any(seat.by_muck for seat in hand.seats.values()):
        end(scene, live[0])
    elif hand.cleared is not None:
        end(scene, live[0] if _kept(scene, live[0]) else None)
    elif hand.named and _kept(scene, live[0], FOLD_MS):
        end(scene, live[0])


def _kept(scene: Scene, number: int, longer: int = 0) -> bool:
    """Whether the last hand was still heard at its seat after all others were given up."""
    hand = scene.hand
    if hand.blind:
        return False
    tags = [held.tag for held in hand.seats[number].held if held.tag is not None]
    folds = [seat.muck_at or 0 for seat in hand.seats.values() if seat.status == FOLDED]
    heard = scene.presence.last_heard(tags, {f"seat:{number}", f"seat:{number}:up"})
    return heard > max(folds, default=0) + longer


def _clear(scene: Scene) -> bool:
    """No card of the hand is heard at a seat or on the board, and the antennas are alive."""
    zones = {z for z in scene.setup.zones_of_readers() if z == "board" or z.startswith("seat:")}
    tags = _tags(scene)
    if not tags or not all(scene.looked_at(zone, LOOKED_MS) for zone in zones):
        return False
    wait = CLEAR_MS if scene.hand.closed or scene.hand.result is not None else QUIET_MS
    return scene.now - scene.presence.last_heard(tags, zones) >= wait


def end(scene: Scene, winner: int | None = None) -> None:
    """The hand is over."""
    scene.hand.closed = True
    scene.tell(HandEnded(winner=UNSET if winner is None else winner))
