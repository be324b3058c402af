"""Equity of hands in play, exact or sampled. Only this package imports numpy."""

from __future__ import annotations

from typing import TYPE_CHECKING

from daemon.odds.board_classes import holdem_seat, omaha_seat
from daemon.odds.boards import all_boards, boards_from
from daemon.odds.outcomes import Equity, Seat, exact_equity, sampled_equity
from daemon.odds.sampling import sample
from daemon.odds.spot import UNKNOWN, checked_spot
from daemon.odds.stud import exact_outcomes

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from daemon.odds.outcomes import Outcomes
    from daemon.odds.spot import Spot

__all__ = ["UNKNOWN", "Equity", "Seat", "equity"]


def equity(
    discipline: str,
    hands: Mapping[int, Sequence[str] | None],
    board: Sequence[str] = (),
    dead: Sequence[str] = (),
    *,
    budget_s: float | None = None,
    target_error: float = 0.001,
    seed: int = 0,
) -> Equity:
    """The chances of each seat when all hands stay to the showdown.

    `hands` are own cards by seat (`As`), `??` for one that is not known, None or nothing for none
    known; in stud `board` is the common card. Unknown cards are as likely to be any that are left.
    Hold'em and Omaha with known hands are exact, stud where few deals are left; the rest is dealt
    at random until no seat's standard error is above `target_error` or `budget_s` seconds are
    over. Without a budget the answer depends on the arguments alone.
    Raises FeltdError, which names the card or the seat.
    """
    asked = checked_spot(discipline, hands, board, dead)
    outcomes = None if asked.unknown else _exact(asked)
    if outcomes is not None:
        return exact_equity(asked.seats, outcomes)
    return sampled_equity(asked.seats, sample(asked, target_error, budget_s, seed))


def _exact(asked: Spot) -> Outcomes | None:
    if asked.discipline == "stud":
        return exact_outcomes(asked)
    make = holdem_seat if asked.discipline == "holdem" else omaha_seat
    seats = [make(own) for own in asked.own]
    if asked.board:
        return boards_from(seats, asked.board, asked.deck)
    return all_boards(seats, asked.deck)
