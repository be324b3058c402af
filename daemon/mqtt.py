"""The way out of the house: the outbox told to the broker, in order, over any number of outages."""

from __future__ import annotations

import asyncio
import logging
import random
import secrets
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Protocol

import aiomqtt

from daemon._aiomqtt import WINDOW, Connection, LinkError, LostError, Received, RefusedError
from daemon.address import speaks_another
from daemon.claim import Claim, SecondDaemonError, Topics
from daemon.journal import JournalError
from daemon.outbox import STRIKES, Outgoing, Strikes

if TYPE_CHECKING:
    from collections.abc import Sequence

    from daemon.address import Address
    from daemon.journal import Journal

FIRST_DELAY = 0.2
LONGEST_DELAY = 10.0
STEADY = 10.0
GRACE = 3.0
FAREWELL_TIMEOUT = 0.5
POSTED_LIMIT = 200

__all__ = ["Listener", "Publisher", "Received", "SecondDaemonError", "Topics"]

log = logging.getLogger("feltd.mqtt")


class Listener(Protocol):
    """What the daemon wants to know about its connection; only `inbound` may wait."""

    async def inbound(self, received: Received) -> None:
        """A message for the table; until this returns the next one waits."""

    def status(self, *, online: bool) -> bytes:
        """The payload of `status`; with `online` false also the will. It carries our `epoch`."""

    def on_connect(self) -> Sequence[Outgoing]:
        """The newest retained messages, `status` apart: the broker may have come back empty."""

    def refused(self, message: Outgoing, reason: str) -> None:
        """The broker will not take `message`; it is not sent again."""

    def trouble(self, line: str) -> None:
        """No connection, and why; once an outage unless the reason changes."""

    def rival(self, instance: str) -> None:
        """Another daemon wanted this table and was told that it is taken."""


class Publisher:
    """Tells the journal's outbox to the broker for as long as `run` runs.

    A message leaves the outbox when the broker has acknowledged it. After a connection broke with
    messages on their way, the next ones go one at a time, so that it shows whether one of them is
    why. `grace` and `ack_timeout` in seconds: see `Claim` and `Connection`.
    """

    def __init__(
        self,
        address: Address,
        topics: Topics,
        journal: Journal,
        listener: Listener,
        *,
        grace: float = GRACE,
        ack_timeout: float = 5.0,
    ) -> None:
        self.instance = secrets.token_hex(4)
        self.connected = self._spoken = False
        self._address = address
        self._topics = topics
        self._journal = journal
        self._listener = listener
        self._ack_timeout = ack_timeout
        self._claim = Claim(topics, self.instance, journal.epoch, grace)
        self._news = asyncio.Event()
        self._settled = asyncio.Event()
        self._progress = asyncio.Event()
        self._posted: dict[object, Outgoing] = {}
        self._window = asyncio.Semaphore(WINDOW)
        self._in_flight = 0
        self._acked: list[int] = []
        self._refused: list[int] = []
        self._last_trouble = ""
        self._strikes = Strikes()
        self._caution = 0
        self._proven = False

    def wake(self) -> None:
        """There is something new in the outbox."""
        self._news.set()

    async def post(self, message: Outgoing) -> None:
        """Tell an uncounted message that is not worth the disk.

        Waits while many others do. Of a retained topic the newest alone is told; what is not
        retained is forgotten when there is no connection.
        """
        while self.connected and not message.retain and len(self._posted) >= POSTED_LIMIT:
            self._progress.clear()
            await self._progress.wait()
        if message.retain:
            self._posted.pop(message.topic, None)
            self._posted[message.topic] = message
        elif self.connected:
            self._posted[object()] = message
        self._news.set()

    async def flush(self) -> None:
        """Until the broker has acknowledged everything that is there to be told."""
        while True:
            self._progress.clear()
            unsent = await asyncio.to_thread(self._journal.unsent, 1)
            if not (unsent or self._posted or self._in_flight):
                return
            await self._progress.wait()

    async def run(self) -> None:
        """Connect, tell and listen until cancelled; then the status says offline.

        Raises SecondDaemonError when the table is another daemon's.
        """
        loop = asyncio.get_running_loop()
        delay = FIRST_DELAY
        while True:
            began = loop.time()
            try:
                await self._session()
            except (LinkError, JournalError) as error:
                if self._goes_back(str(error)):
                    continue
                if self._refused or (self.connected and loop.time() - began > STEADY):
                    delay, self._last_trouble = FIRST_DELAY, ""
                self._report(f"{self._address.url}: {error}")
            finally:
                self._end_session()
            await asyncio.sleep(delay * random.uniform(0.5, 1.0))  # noqa: S311 - only spreads
            delay = min(2 * delay, LONGEST_DELAY)

    def _goes_back(self, error: str) -> bool:
        """Go on with MQTT 3.1.1 where the broker has never spoken MQTT 5 with us."""
        if self._spoken or self._address.version == 4 or not speaks_another(error):
            return False
        self._address = replace(self._address, version=4)
        return True

    async def _session(self) -> None:
        offline = self._listener.status(online=False)
        will = aiomqtt.Will(self._topics.status, offline, qos=1, retain=True)
        name = f"feltd-{self._topics.table}-{self.instance}"
        connection = Connection(self._address, name, will, ack_timeout=self._ack_timeout)
        async with connection:
            self._spoken = True
            try:
                await self._converse(connection)
            except asyncio.CancelledError:
                await self._farewell(connection, offline)
                raise

    async def _converse(self, connection: Connection) -> None:
        # no TaskGroup: one whose child fails while it is cancelled forgets the cancellation
        tasks = [
            asyncio.create_task(self._talk(connection), name="mqtt-talk"),
            asyncio.create_task(self._listen(connection), name="mqtt-listen"),
            asyncio.create_task(self._settle(), name="mqtt-settle"),
        ]
        try:
            done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
        errors = [error for task in done if (error := task.exception()) is not None]
        raise next((e for e in errors if not isinstance(e, LinkError)), errors[0])

    async def _farewell(self, connection: Connection, offline: bytes) -> None:
        if not self._claim.holds:
            return
        with suppress(LinkError):
            told = connection.send(self._topics.status, offline, retain=True)
            await asyncio.wait([told], timeout=FAREWELL_TIMEOUT)
            _ = told.cancel() or told.exception()
        with suppress(JournalError):
            await self._file_acks()

    def _end_session(self) -> None:
        self.connected = False
        self._claim.drop()
        self._window = asyncio.Semaphore(1 if self._caution else WINDOW)
        self._in_flight = 0
        self._proven = False
        self._posted = {key: m for key, m in self._posted.items() if m.retain}
        self._progress.set()

    async def _talk(self, connection: Connection) -> None:
        await self._file_acks()
        await self._claim.take(connection)
        await connection.listen(self._topics.inbound)
        self.connected = True
        log.info("connected to %s", self._address.url)
        await self._tell_again(connection)
        cursor = 0
        while True:
            self._news.clear()
            while self._posted:
                await self._tell(connection, self._posted.pop(next(iter(self._posted))))
            batch = await asyncio.to_thread(self._journal.unsent, WINDOW, cursor)
            for message in batch:
                await self._tell(connection, message)
                cursor = message.id
            if not batch and not self._posted:
                if not self._in_flight:
                    self._be_careful(0)
                await self._news.wait()

    async def _tell_again(self, connection: Connection) -> None:
        """Status and the newest retained messages, but none that the outbox has a later one of."""
        waiting = await asyncio.to_thread(self._journal.unsent_topics)
        again = [self._status(), *self._listener.on_connect()]
        for message in again:
            self._posted.pop(message.topic, None)
            if message.topic not in waiting:
                await self._tell(connection, message)

    def _status(self) -> Outgoing:
        payload = self._listener.status(online=True)
        return Outgoing("public", None, self._topics.status, payload, retain=True)

    async def _tell(self, connection: Connection, message: Outgoing) -> None:
        if self._strikes.hopeless(message):
            if message.id:
                self._refuse(message, "connections broke at one like it")
            return
        await self._window.acquire()
        told = connection.send(
            message.topic,
            message.payload,
            retain=message.retain,
            correlation=message.correlation,
        )
        self._in_flight += 1
        suspect = self._caution > 0 and self._proven
        told.add_done_callback(partial(self._told, message, self._window, suspect))

    def _told(
        self,
        message: Outgoing,
        window: asyncio.Semaphore,
        suspect: bool,  # noqa: FBT001 - bound, not called by hand
        told: asyncio.Future[None],
    ) -> None:
        """How it went; a `suspect` was alone on its way, at a broker that had taken others."""
        current = window is self._window
        if current:
            window.release()
            self._in_flight -= 1
        if told.cancelled():
            return
        error = told.exception()
        if isinstance(error, LostError) and current:
            self._caution = WINDOW
            if suspect and self._strikes.lost(message):
                error = RefusedError(f"{STRIKES} connections broke at it")
        if isinstance(error, LinkError):
            return
        if isinstance(error, RefusedError):
            self._refuse(message, str(error))
            return
        if current:
            self._strikes.acknowledged(message)
            self._proven = True
            self._be_careful(self._caution - bool(message.id))
        self._acked += [message.id] if message.id else []
        self._settled.set()

    def _refuse(self, message: Outgoing, reason: str) -> None:
        log.error("the broker refuses %s: %s", message.topic, reason)
        self._listener.refused(message, reason)
        self._refused += [message.id] if message.id else []
        self._settled.set()

    def _be_careful(self, left: int) -> None:
        """So many messages of the outbox still go alone; with the last of them the window opens."""
        if self._caution > 0 >= left:
            for _ in range(WINDOW - 1):
                self._window.release()
        self._caution = max(0, left)

    async def _settle(self) -> None:
        while True:
            await self._settled.wait()
            self._settled.clear()
            try:
                await self._file_acks()
            except JournalError as error:
                self._report(str(error))
                await asyncio.sleep(1)
                self._settled.set()
            self._progress.set()

    async def _file_acks(self) -> None:
        acked, self._acked = self._acked, []
        refused, self._refused = self._refused, []
        try:
            if acked:
                await asyncio.to_thread(self._journal.acknowledged, acked)
            if refused:
                await asyncio.to_thread(self._journal.refused, refused)
        except (JournalError, asyncio.CancelledError):
            self._acked[:0] = acked
            self._refused[:0] = refused
            raise

    async def _listen(self, connection: Connection) -> None:
        while True:
            received = await connection.receive()
            if received.topic == self._topics.daemon:
                rival = self._claim.heard(connection, received.payload)
                if rival is not None:
                    self._listener.rival(rival)
            elif received.topic == self._topics.status:
                if self._claim.heard_status(received.payload, retained=received.retained):
                    await self.post(self._status())
            else:
                await self._listener.inbound(received)

    def _report(self, line: str) -> None:
        if line != self._last_trouble:
            self._last_trouble = line
            log.warning("%s", line)
            self._listener.trouble(line)
