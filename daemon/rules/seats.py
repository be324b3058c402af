"""Seats around a table: numbers from 1, clockwise from the dealer's left."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from daemon.rules.errors import RuleError

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

LAST_SEAT: Final = 10


def require_seats(seats: Collection[int], most: int = LAST_SEAT) -> None:
    """Raise RuleError for a number that is no seat, a seat named twice, or too many of them."""
    seen: set[int] = set()
    for seat in seats:
        if not 1 <= seat <= LAST_SEAT:
            raise RuleError(f"seat {seat}: a table has seats 1 to {LAST_SEAT}")
        if seat in seen:
            raise RuleError(f"seat {seat} twice")
        seen.add(seat)
    if len(seen) > most:
        raise RuleError(f"{len(seen)} seats, at most {most} can play")


def clockwise(seats: Iterable[int], after: int = 0) -> list[int]:
    """The seats clockwise, starting with the next one after `after` (0: the dealer)."""
    return sorted(seats, key=lambda seat: (seat <= after, seat))
