"""The running daemon: one queue, one loop, one clock around the table.

Readers and the broker put their inputs into the inbox with the time of their arrival; `_follow`
takes them in that order, commits them with what they led to, and wakes the publisher.
"""

from __future__ import annotations

import asyncio
import logging
import secrets
import signal
import time
from contextlib import suppress
from typing import TYPE_CHECKING

from daemon import __version__
from daemon.address import Address
from daemon.broker import EmbeddedBroker
from daemon.events import Key
from daemon.journal import Journal, JournalError
from daemon.memory import Memory, again, outgoing
from daemon.mqtt import Publisher, Topics
from daemon.notify import notify, watchdog_period
from daemon.readers import supervise
from daemon.recorder import Recorder
from daemon.recording import RawCommand
from daemon.resend import Resender
from daemon.wire import Status
from drivers import ReaderDown, ReaderUp

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from daemon.config import Config
    from daemon.outbox import Outgoing
    from daemon.recording import Entry
    from drivers import Look

log = logging.getLogger("feltd")

LAZY = 0.1
"""Looks that told nothing are committed together after so many seconds."""
INBOX = 20_000
METRICS_EVERY = 10.0
KEY_BYTES = 32


class App:
    """One table's daemon."""

    def __init__(self, config: Config, record: Path | None = None) -> None:
        self.config = config
        self.broker = self._embedded()
        self.publisher_address = self.address()
        self.journal = Journal.open(config.state_dir, time.time())
        self.memory = Memory(config, self.journal)
        self.recorder = Recorder(record) if record is not None else None
        self.topics = Topics(config.mqtt.prefix, config.table.id)
        self.opened = asyncio.Event()
        self.publisher = Publisher(self.publisher_address, self.topics, self.journal, self)
        self.resender = Resender(self.memory, self.publisher)
        self._inbox: asyncio.Queue[tuple[int, Entry]] = asyncio.Queue(INBOX)
        self._instance = secrets.token_hex(4)
        wall = round((time.time() - self.journal.started) * 1000)
        self._zero = max(wall, self.memory.state.now) - time.monotonic_ns() // 1_000_000
        self._since = self.memory.wire.at(self.now())
        self._heard_of: set[str] = set()
        self._health = asyncio.Event()
        self._trouble = ""
        self._dropped = self._refused = 0
        self._looks = 0

    def _embedded(self) -> EmbeddedBroker | None:
        if self.config.mqtt.url != "embedded":
            return None
        return EmbeddedBroker(self.config.state_dir / "broker", self.config.mqtt.prefix)

    def address(self, user: str = "table") -> Address:
        """How this daemon, or another user of the embedded broker, gets to the broker."""
        if self.broker is not None:
            return self.broker.address(user)
        keys = self.config.mqtt
        beside = self.config.beside
        return Address(
            keys.url,
            username=keys.username,
            password_file=beside(keys.password_file),
            ca_file=beside(keys.ca_file),
            cert_file=beside(keys.cert_file),
            key_file=beside(keys.key_file),
        )

    def now(self) -> int:
        """Milliseconds of the table's memory; never runs backwards."""
        return self._zero + time.monotonic_ns() // 1_000_000

    async def run(self) -> None:
        """Run until cancelled, or until SIGINT or SIGTERM."""
        stop = asyncio.Event()
        loop = asyncio.get_running_loop()
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(number, stop.set)
        await self.serve(stop)

    async def serve(self, stop: asyncio.Event) -> None:
        """Run until `stop` is set."""
        try:
            await self._run(stop)
        finally:
            with suppress(JournalError):
                self.memory.commit()
            self.journal.close()
            if self.recorder is not None:
                self.recorder.close()

    async def _run(self, stop: asyncio.Event) -> None:
        self._draw_key()
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(self._follow(), name="follow")]
            if self.broker is not None:
                tasks.append(group.create_task(self.broker.run(self.trouble), name="broker"))
                await self.broker.ready()
            tasks += [
                group.create_task(self.publisher.run(), name="publisher"),
                group.create_task(self._metrics(), name="metrics"),
            ]
            if self.config.readers:
                work = supervise(self.config.readers, self.put)
                tasks.append(group.create_task(work, name="readers"))
            notify("READY=1")
            self.opened.set()
            log.info("table %s is open, epoch %s", self.config.table.id, self.journal.epoch)
            await stop.wait()
            notify("STOPPING=1")
            for task in tasks:
                task.cancel()

    def put(self, entry: Look | ReaderUp | ReaderDown) -> None:
        """An input of a reader. A table that cannot keep up loses looks, and counts them."""
        match entry:
            case ReaderUp(reader):
                log.info("reader %s is up", reader)
            case ReaderDown(reader, error):
                log.warning("reader %s is down: %s", reader, error)
        try:
            self._inbox.put_nowait((self.now(), entry))
        except asyncio.QueueFull:
            self._dropped += 1

    async def _follow(self) -> None:
        """The only loop: take what has come in, commit, tell."""
        period = watchdog_period()
        committed = time.monotonic()
        while True:
            with suppress(TimeoutError):
                async with asyncio.timeout(min(LAZY, period or LAZY)):
                    self._take(*await self._inbox.get())
            while not self._inbox.empty():
                self._take(*self._inbox.get_nowait())
            if self.memory.urgent or time.monotonic() - committed > LAZY:
                await self._commit()
                committed = time.monotonic()
            if period is not None:
                notify("WATCHDOG=1", self._status_line())

    def _take(self, now: int, entry: Entry) -> None:
        self._looks += 1
        if self.recorder is not None:
            self.recorder.before(now, self.memory)
            self.recorder.input(now, entry)
        self.memory.take(now, entry)
        if isinstance(entry, ReaderUp | ReaderDown):
            self._heard_of.add(entry.reader)
            self._health.set()
        if self.memory.state.key is None:
            self._draw_key()

    def _draw_key(self) -> None:
        if self.memory.state.key is not None:
            return
        now, key = self.now(), Key(secrets.token_hex(KEY_BYTES))
        if self.recorder is not None:
            self.recorder.input(now, key)
        self.memory.take(now, key)

    async def _commit(self) -> None:
        """Until the disk takes it: nothing that is told or answered is lost."""
        if not self.memory.pending:
            return
        told = ""
        while True:
            try:
                if self.memory.urgent:
                    await asyncio.to_thread(self.memory.commit)
                else:
                    self.memory.commit()
            except JournalError as error:
                if str(error) != told:
                    told = str(error)
                    log.error("%s", error)  # noqa: TRY400 - the line says it all
                await asyncio.sleep(1)
            else:
                self.publisher.wake()
                return

    async def _metrics(self) -> None:
        """Tell how readers and table are, at once when a reader came or went."""
        while True:
            self._health.clear()
            await self.publisher.post(outgoing(self.memory.engine.metrics(self._counts())))
            for reader in sorted(self._heard_of & set(self.memory.state.readers)):
                await self.publisher.post(outgoing(self.memory.engine.reader(reader)))
            with suppress(TimeoutError):
                async with asyncio.timeout(METRICS_EVERY):
                    await self._health.wait()

    def _counts(self) -> dict[str, int]:
        return {
            "inputs": self._looks,
            "lost_looks": self._dropped,
            "inbox": self._inbox.qsize(),
            "refused": self._refused,
        }

    def _status_line(self) -> str:
        hand = self.memory.state.open_hand()
        place = "no hand" if hand is None else f"hand {hand.number}, {hand.phase()}"
        trouble = "" if self.publisher.connected else f", {self._trouble or 'not connected'}"
        return f"STATUS={self.memory.state.discipline}, {place}{trouble}"

    async def inbound(self, topic: str, payload: bytes, *, retained: bool) -> None:
        """A message for the table. Retained ones are ignored: nobody gave them now."""
        name, private = topic.rpartition("/")[2], topic.startswith(self.topics.private)
        if retained:
            log.warning("a retained message on %s is ignored", topic)
        elif name == "command":
            await self._inbox.put((self.now(), RawCommand(payload, private)))
        elif name == "resend":
            await self.resender.ask(payload, private=private)

    def status(self, *, online: bool) -> bytes:
        """The payload of `status`, and of the last will."""
        body = Status(
            online=online, version=__version__, since=self._since, instance=self._instance
        )
        return self.memory.wire.status(self.now(), body).payload

    def on_connect(self) -> Sequence[Outgoing]:
        """What a broker that came back empty has to hear again."""
        told = [m for t, m in self.memory.retained.items() if not t.endswith("/state")]
        state = self.memory.wire.state(self.now(), self.memory.state)
        return again([*told, state])

    def refused(self, message: Outgoing, reason: str) -> None:
        """The broker will not take a message; the publisher has logged it as an error."""
        log.debug("%s was refused: %s", message.topic, reason)
        self._refused += 1

    def trouble(self, line: str) -> None:
        """No connection, and why; who noticed it has logged it."""
        self._trouble = line

    def rival(self, instance: str) -> None:
        """Another daemon wanted this table."""
        log.error("a second daemon (%s) for table %s", instance, self.config.table.id)


async def run(config: Config, record: Path | None = None) -> None:
    """Run one table until it is told to stop."""
    await App(config, record).run()
