"""Hole cards and odds that are told late: held in the table's state, so a restart keeps them.

Looks are the clock, so what is due goes out with the next input.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from daemon.events import Equity, HoleCards
from daemon.state import HeldBack

if TYPE_CHECKING:
    from daemon.state import Out, Step


def due(step: Step) -> Out:
    """What of a step may be told now, then what was held back until now, in its order."""
    state = step.state
    if step.setup.hole_cards != "delayed":
        state.held_back.clear()
        return step.out
    told: Out = []
    for fact, hand in step.out:
        if isinstance(fact, HoleCards):
            state.held_back.append(HeldBack(fact, hand, state.now))
        elif isinstance(fact, Equity):
            state.held_back.append(HeldBack(None, hand, state.now, fact))
        else:
            told.append((fact, hand))
    while state.held_back and _is_due(step, state.held_back[0]):
        held = state.held_back.pop(0)
        told += [(fact, held.hand) for fact in (held.fact, held.equity) if fact is not None]
    return told


def _is_due(step: Step, held: HeldBack) -> bool:
    if step.setup.delay is not None:
        return step.state.now >= held.since + step.setup.delay
    hand = step.state.open_hand()
    return hand is None or hand.number != held.hand
