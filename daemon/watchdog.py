"""The ruling watchdog: tabled hands compared with what is then done with them.

What contradicts the tabled hands is an alert for everybody. What concerns a hand that was never
shown is told to the floor alone, and only where that is configured.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from daemon.events import FloorNote
from daemon.hand import MUCKED, SHOWN
from daemon.rules.errors import RuleError
from daemon.rules.labels import Label
from daemon.rules.showdown import showdown

if TYPE_CHECKING:
    from collections.abc import Iterable

    from daemon.hand import Scene, Seat

PUSHED_MS = 2000
"""So long after a winner's cards reached the muck, a loser's cards still lie at their seat."""


def tabled_winners(scene: Scene) -> list[int]:
    """Who wins of the hands that everybody has seen, empty while that is not certain."""
    hand = scene.hand
    if hand.result is not None:
        return list(hand.result.winners)
    shown = [number for number, seat in hand.seats.items() if seat.status == SHOWN]
    return _best(scene, shown) if hand.last_street() else []


def _best(scene: Scene, seats: Iterable[int]) -> list[int]:
    hand = scene.hand
    hands = {n: [held.face for held in hand.seats[n].held if held.face] for n in seats}
    try:
        return list(showdown(hand.game, [c.face for c in hand.board], hands, [], []).winners)
    except RuleError:
        return []


def watch_pots(scene: Scene, main: Iterable[int]) -> None:
    """`pots` were named: every winner has a part in the main one, whose seats `main` are."""
    _mismatch(scene, set(tabled_winners(scene)) - set(main))


def watch_fold(scene: Scene, seat: Seat) -> None:
    """A seat is said to have folded: a tabled hand that is not beaten cannot lose."""
    winners = tabled_winners(scene)
    if seat.status == SHOWN and (not winners or seat.number in winners):
        _mismatch(scene, {seat.number})


def review_rulings(scene: Scene) -> None:
    """Whether the winner's cards were mucked before the losers', or the best hand unseen."""
    if scene.hand.closed:
        return
    winners = tabled_winners(scene)
    if winners and not any(done.type == "pots" for done in scene.hand.done):
        _mismatch(scene, {number for number in winners if _killed(scene, number, winners)})
    if scene.setup.floor:
        _note_unshown(scene)


def _killed(scene: Scene, number: int, winners: list[int]) -> bool:
    """Whether these cards lie in the muck while a beaten hand still lies where it was."""
    presence, seats = scene.presence, scene.hand.seats
    tags = seats[number].tags()
    at = presence.first_heard([tag for tag in tags if presence.home(tag) == "muck"], "muck")
    if at is None or scene.last_at(seats[number]) > at:
        return False
    beaten = [s for s in seats.values() if s.status == SHOWN and s.number not in winners]
    return any(scene.last_at(seat) >= at + PUSHED_MS for seat in beaten)


def _mismatch(scene: Scene, seats: set[int]) -> None:
    for number in sorted(seats):
        scene.alert("ruling-mismatch", f"seat:{number}")


def _note_unshown(scene: Scene) -> None:
    """A hand that was mucked at the showdown would have won: for the floor alone."""
    hand = scene.hand
    mucked = [number for number, seat in hand.seats.items() if seat.status == MUCKED]
    mark = f"unshown {mucked}"
    if hand.result is None or mark in hand.alerted or not mucked:
        return
    hand.alerted.append(mark)
    whole = len(hand.seats[hand.result.winners[0]].held)
    known = [n for n in mucked if sum(h.face is not None for h in hand.seats[n].held) == whole]
    best = _best(scene, [*(each.seat for each in hand.result.hands), *known])
    for number in sorted(set(best) & set(known)):
        scene.tell(_note(number))


def _note(number: int) -> FloorNote:
    en = f"Seat {number} mucked a hand that is not beaten by those shown."
    ru = f"Место {number}: в отбое рука, которую не бьют вскрытые."
    return FloorNote(kind="ruling-mismatch", zone=f"seat:{number}", message=Label(en, ru))
