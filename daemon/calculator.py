"""Works out the odds that a table wants to tell, beside the loop and never in it."""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING

from daemon._dial import in_own_thread
from daemon.errors import FeltdError
from daemon.events import Odds, SeatChance

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from daemon.events import Question

log = logging.getLogger("feltd.odds")


def answer(question: Question) -> Odds | None:
    """The odds, from the question alone; None for a spot that cannot be. Takes up to seconds."""
    from daemon.odds import equity  # noqa: PLC0415  numpy, only where a question comes up

    try:
        found = equity(question.discipline, question.hands, question.board, question.dead)
    except FeltdError:
        log.warning("no odds for hand %d: its cards do not fit", question.hand)
        return None
    seats = [SeatChance(one.seat, one.win, one.tie, one.equity) for one in found.seats]
    return Odds(question, seats, found.exact, found.deals, found.error)


class Calculator:
    """Answers the newest question of each root, one at a time, in a thread of its own.

    `put` takes the answer, in the loop.
    """

    def __init__(self, put: Callable[[Odds], None]) -> None:
        self._put = put
        self._asked: dict[str, Question] = {}
        self._open: dict[str, Question] = {}
        self._news = asyncio.Event()

    def ask(self, questions: Iterable[Question]) -> None:
        """Take these on, unless they were the last ones already."""
        for question in questions:
            root = question.root()
            if self._asked.get(root) != question:
                self._asked[root] = self._open[root] = question
                self._news.set()

    async def run(self) -> None:
        """Answer until cancelled."""
        while True:
            await self._news.wait()
            self._news.clear()
            while self._open:
                _, question = self._open.popitem()
                await self._answer(question)

    async def _answer(self, question: Question) -> None:
        found: list[Odds | None] = []
        await in_own_thread(lambda: found.append(answer(question)))
        if found[0] is not None:
            self._put(found[0])
