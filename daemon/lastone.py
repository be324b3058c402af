"""Which seat was left when all others had given up, as far as antennas can say it.

A fold that nothing has confirmed yet counts where the muck heard that hand while the last one
still lay at its seat, before all cards were out.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from daemon.dealing import sure, unread
from daemon.folds import SWEEP_MS, called, in_muck
from daemon.hand import FOLDED, SHOWN
from daemon.otherdeck import foul
from daemon.suspicion import hand_unread
from daemon.sweep import lost_sight

if TYPE_CHECKING:
    from daemon.hand import Scene, Seat

PRESENT_MS = 2500
"""A hand that lay there was heard so shortly before the board was taken up."""
AWAY_MS = 8000
"""Antennas that made no looks must have been back for so long before the end."""
MARGIN_MS = 4500
TURN_MS = 1200
"""Hands that fold reach the muck so long after each other; a misdeal is gathered at once."""


def last_one(scene: Scene) -> int | None:
    """The one seat that certainly had not given up when the table was swept."""
    hand = scene.hand
    live = [hand.seats[number] for number in hand.live()]
    if not live:
        return None
    last = max(live, key=scene.last_at)
    kept = scene.last_at(last)
    if not _all_known(scene, kept):
        return None
    if max(hand.gap_at, hand.board_gap_at) > kept - AWAY_MS or lost_sight(hand):
        return None
    if hand_unread(scene, kept):
        return None
    others = [seat for seat in live if seat is not last]
    if not all(sure(scene, last, tag, 2) for tag in last.tags()):
        return None
    gave_up = [seat for seat in hand.seats.values() if seat.status == FOLDED]
    if any(scene.last_at(seat) > kept - (SWEEP_MS if others else 0) for seat in gave_up):
        return None
    return last.number if not others or _outlasted(scene, others, last) else None


def _all_known(scene: Scene, kept: int) -> bool:
    """Whether all seats were read that were in play by then, with one deck, and no showdown."""
    hand = scene.hand
    if scene.down or len(hand.seats) < 2 or unread(scene, kept) or called(scene):
        return False
    return not foul(scene) and all(seat.held for seat in hand.seats.values())


def _outlasted(scene: Scene, others: list[Seat], last: Seat) -> bool:
    """Whether the last one still lay there when the others, not known to have folded, had gone."""
    kept, board = scene.last_at(last), scene.board_last()
    doubt = _tabled_or_doubtful(scene) or scene.hand.last_street()
    if doubt or any(_in_muck_later(scene, one, last) for one in others):
        return False
    mucked = _mucked_in_turn(scene, others)
    if mucked is not None and mucked <= kept and (mucked <= board or not _all_out(scene)):
        return True
    margin = PRESENT_MS if scene.hand.board else MARGIN_MS
    there = not _all_out(scene) and (board < 0 or kept >= board - PRESENT_MS)
    if any(in_muck(scene, one) is None for one in others):
        return False
    return there and all(kept - scene.last_at(one) >= margin for one in others)


def _mucked_in_turn(scene: Scene, seats: list[Seat]) -> int | None:
    """When the muck first heard the last of these hands, if it heard them one after the other."""
    found = [in_muck(scene, seat) for seat in seats]
    times = sorted(time for time in found if time is not None)
    at_once = any(late - early < TURN_MS for early, late in pairwise(times))
    return None if at_once or len(times) < len(seats) else times[-1]


def _in_muck_later(scene: Scene, seat: Seat, last: Seat) -> bool:
    """Whether the muck heard this seat after the one that seems to be the last one in play."""
    after, before = in_muck(scene, seat), in_muck(scene, last)
    return after is not None and before is not None and after >= before


def _all_out(scene: Scene) -> bool:
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
