"""`resend`: a subscriber that missed something gets it again, at most one answer a second."""

from __future__ import annotations

import asyncio
import logging
import time
from typing import TYPE_CHECKING

import msgspec
from msgspec import Struct

from daemon.journalfile import JournalError
from daemon.outbox import Outgoing

if TYPE_CHECKING:
    from daemon.memory import Memory
    from daemon.mqtt import Publisher
    from daemon.outbox import Root

log = logging.getLogger("feltd.resend")

EVERY = 1.0
MOST = 500


class Request(Struct, frozen=True, forbid_unknown_fields=True, rename={"since": "from"}):
    """What a subscriber sends: all messages with at least this `seq`."""

    since: int


class Resender:
    """Answers on both roots, each with its own counter."""

    def __init__(self, memory: Memory, publisher: Publisher) -> None:
        self._memory = memory
        self._publisher = publisher
        self._answered = {False: -EVERY, True: -EVERY}
        self._tasks: set[asyncio.Task[None]] = set()

    async def ask(self, payload: bytes, *, private: bool) -> None:
        """One request. More than one a second, and what is no request, is passed over."""
        try:
            request = msgspec.json.decode(payload, type=Request)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            log.warning("a resend request cannot be read: %s", error)
            return
        now = time.monotonic()
        if now - self._answered[private] < EVERY or request.since < 0:
            return
        self._answered[private] = now
        task = asyncio.create_task(self._answer(request.since, private=private))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _answer(self, since: int, *, private: bool) -> None:
        """What is still kept, and in its place what is not: each gap is told where it lies."""
        root: Root = "private" if private else "public"
        due, last = max(since, 1), self._memory.told[root]
        try:
            kept = await asyncio.to_thread(self._memory.journal.range, root, due, MOST)
        except JournalError as error:
            log.error("nothing can be told again: %s", error)  # noqa: TRY400 - the line says it all
            return
        for message in kept.messages:
            if message.seq is None:
                continue
            if message.seq > due:
                await self._publisher.post(self._gone(due, message.seq - 1, private=private))
            await self._publisher.post(late(message))
            due = message.seq + 1
        if len(kept.messages) < MOST and due <= last:
            await self._publisher.post(self._gone(due, last, private=private))

    def _gone(self, since: int, to: int, *, private: bool) -> Outgoing:
        message = self._memory.engine.gone(since, to, private=private)
        root: Root = "private" if private else "public"
        return Outgoing(root, None, message.topic, message.payload)


def late(message: Outgoing) -> Outgoing:
    """The same message told again: `late` true, same `seq`, never retained."""
    body = msgspec.json.decode(message.payload)
    body["late"] = True
    return Outgoing(message.root, None, message.topic, msgspec.json.encode(body))
