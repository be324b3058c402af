"""The draw for the button in Hold'em and Omaha: a card each, the best one has it (rule 3.5.1)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from daemon.rules.cards import number_of, require_distinct
from daemon.rules.errors import RuleError
from daemon.rules.results import ButtonDrawResult, SeatCard
from daemon.rules.seats import require_seats
from daemon.rules.words import count

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence


def button_draw(
    cards: Mapping[int, Sequence[str]],
    seats: Collection[int] = (),
    discipline: str = "holdem",
) -> ButtonDrawResult:
    """The button, and everybody best card first; rank before suit, so nobody draws again.

    `seats` are those entitled to a card, where known. Raises RuleError in stud, which has no
    button, and where a seat has no card or more than one, or a card is there twice.
    """
    if discipline == "stud":
        raise RuleError("stud has no button to draw for")
    require_seats([*cards])
    for seat in sorted({*seats, *cards}):
        held = cards.get(seat, ())
        if len(held) != 1:
            raise RuleError(f"seat {seat} has {count(len(held), 'card')}, a draw is one card each")
        if seats and seat not in seats:
            raise RuleError(f"seat {seat} has a card but no part in the draw")
    if len(cards) < 2:
        raise RuleError("a draw needs two seats")
    drawn = {seat: held[0] for seat, held in cards.items()}
    require_distinct(drawn.values())
    order = sorted(drawn, key=lambda seat: number_of(drawn[seat]), reverse=True)
    return ButtonDrawResult(
        winner=order[0],
        card=drawn[order[0]],
        order=tuple(SeatCard(seat, drawn[seat]) for seat in order),
    )
