"""Who comes when: the deal, the blinds, the moving button and the showdown."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import msgspec

from daemon.rules.errors import RuleError
from daemon.rules.first_to_act import first_to_act
from daemon.rules.profile import SPORT_POKER
from daemon.rules.seats import clockwise, require_seats

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from daemon.rules.profile import Profile


class Blinds(msgspec.Struct, frozen=True):
    """Where button and blinds lie; button and small blind may lie at an empty seat (TDA 32)."""

    button: int
    small_blind: int
    big_blind: int


def dealing_order(seats: Collection[int], button: int | None, cards: int) -> list[int]:
    """The seats in the order in which one card after the other is dealt, `cards` to each.

    Clockwise from the button, which comes last; in stud, where `button` is None, from the
    dealer's left. Heads-up this deals to the big blind first (TDA 34-B).
    """
    require_seats(seats)
    return clockwise(seats, button or 0) * cards


def starting_blinds(seats: Collection[int], button: int) -> Blinds:
    """The blinds of a first hand with this button; heads-up the button is the small blind."""
    require_seats(seats)
    if button not in seats:
        raise RuleError(f"seat {button} has the button but does not play")
    if len(seats) < 2:
        raise RuleError("a hand needs two seats")
    order = clockwise(seats, button)
    return Blinds(button, button, order[0]) if len(seats) == 2 else Blinds(button, *order[:2])


def next_blinds(last: Blinds, seats: Collection[int]) -> Blinds:
    """The blinds of the next hand; `seats` are those that still play (TDA 32 and 34-B).

    The big blind goes to the next player, the small blind to where the big blind was and the
    button to where the small blind was, though the seat be empty. Heads-up the player who is not
    the big blind has the button and the small blind: nobody has the big blind twice.
    """
    require_seats(seats)
    if len(seats) < 2:
        raise RuleError("a hand needs two seats")
    big = clockwise(seats, last.big_blind)[0]
    if len(seats) == 2:
        (other,) = set(seats) - {big}
        return Blinds(other, other, big)
    return Blinds(last.small_blind, last.big_blind, big)


def first_before_flop(seats: Collection[int], blinds: Blinds) -> int:
    """The seat left of the big blind; heads-up that is the button."""
    return clockwise(seats, blinds.big_blind)[0]


def first_after_flop(live: Collection[int], button: int) -> int:
    """The first live seat left of the button."""
    return clockwise(live, button)[0]


_AGGRESSION: Final = frozenset({"bet", "raise", "complete", "all-in"})


def last_aggressor(actions: Sequence[tuple[int, str]]) -> int | None:
    """The last seat that bet or raised among the (seat, action) of the final street, if any."""
    return next((seat for seat, action in reversed(actions) if action in _AGGRESSION), None)


def showdown_order(
    live: Collection[int],
    aggressor: int | None,
    button: int | None = None,
    boards: Mapping[int, Sequence[str]] | None = None,
    profile: Profile = SPORT_POKER,
) -> list[int]:
    """The live seats in the order in which they show when nobody does so unasked (TDA 17-A).

    The last aggressor of the final street starts; without one the seat that was first to act
    there: left of the `button`, or in stud the highest of `boards` (four up cards each).
    """
    require_seats(live)
    if not live:
        raise RuleError("no live hand")
    if aggressor is not None:
        first = aggressor
    elif boards is not None:
        up = {seat: boards[seat] for seat in live}
        first = first_to_act("seventh", up, profile=profile).seat
    elif button is not None:
        first = first_after_flop(live, button)
    else:
        raise RuleError("who shows first goes by the button, in stud by the boards")
    if first not in live:
        raise RuleError(f"seat {first} is to show first but has no live hand")
    return clockwise(live, first - 1)
