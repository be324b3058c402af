"""Which odds the table may tell, and telling them once somebody has worked them out.

Working them out takes long, so the table only says what it wants to know; the answer comes back as
an input like any other, and counts for nothing when the hand has gone on by then.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from daemon.events import Addressed, AllTabled, Equity, Question
from daemon.hand import SHOWN

if TYPE_CHECKING:
    from daemon.events import Fact, Odds
    from daemon.hand import Hand, Seat
    from daemon.setup import Setup
    from daemon.state import Step, TableState


def wanted(state: TableState, setup: Setup) -> list[Question]:
    """What the table would tell now and has not told yet, at most one question a root."""
    hand = state.open_hand()
    if hand is None or not _clear(hand):
        return []
    questions = []
    if setup.hole_cards != "off":
        questions.append(_question(hand, private=True))
    if all(hand.seats[number].status == SHOWN for number in hand.live()):
        questions.append(_question(hand, private=False))
    return [each for each in questions if state.odds.get(each.root()) != each]


def take(step: Step, odds: Odds) -> None:
    """Tell the answer to a question that still stands."""
    question = odds.question
    if question not in wanted(step.state, step.setup):
        return
    step.state.odds[question.root()] = question
    for fact in _facts(step.setup, odds):
        step.tell(fact, question.hand)


def _facts(setup: Setup, odds: Odds) -> list[Fact]:
    kind = Equity if odds.question.private else AllTabled
    told = kind(seats=odds.seats, exact=odds.exact, deals=odds.deals, error=odds.error)
    if isinstance(told, Equity) and setup.hole_cards == "sealed":
        return [Addressed(to=to, body=told) for to in sorted(setup.receivers)]
    return [told]


def _clear(hand: Hand) -> bool:
    """Whether two or more hands are in play, each known to the last card, none of them twice."""
    live = [hand.seats[number] for number in hand.live()]
    if hand.result is not None or hand.street < 0 or len(live) < 2:
        return False
    common = len(hand.board) if hand.game.common_card else 0
    due = hand.down_cards_due() - common
    if any(len(seat.held) != due or seat.extra for seat in live):
        return False
    faces = [card.face for card in hand.board]
    for seat in live:
        faces += _faces(seat)
    return len(set(faces)) == len(hand.board) + due * len(live)


def _question(hand: Hand, *, private: bool) -> Question:
    """Folded cards count as dead where their faces may be used: on the public root, up cards."""
    live = {number: _faces(hand.seats[number]) for number in hand.live()}
    board = [card.face for card in hand.board]
    used = {*board, *(face for faces in live.values() for face in faces)}
    dead = {
        held.face
        for seat in hand.seats.values()
        if seat.number not in live
        for held in seat.held
        if held.face is not None and (private or held.up)
    }
    return Question(
        private=private,
        hand=hand.number,
        discipline=hand.discipline,
        hands=live,
        board=board,
        dead=sorted(dead - used),
    )


def _faces(seat: Seat) -> list[str]:
    return [held.face for held in seat.held if held.face is not None]
