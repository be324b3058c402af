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

from msgspec import UNSET

from daemon import __version__, access, logs, metrics, reload
from daemon.broker import EmbeddedBroker
from daemon.calculator import Calculator
from daemon.errors import ConfigError
from daemon.events import Damaged, Key, Refused, Rival
from daemon.journal import Journal, JournalError
from daemon.memory import Memory, again, outgoing
from daemon.mqtt import Publisher, Topics
from daemon.notify import Heartbeat, notify, reloading
from daemon.readers import supervise
from daemon.recorder import Recorder
from daemon.recording import RawCommand
from daemon.resend import Resender
from daemon.wire import Status
from drivers import ReaderDown, ReaderUp

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from daemon.address import Address
    from daemon.config import Config
    from daemon.mqtt import Received
    from daemon.outbox import Outgoing
    from daemon.recording import Entry, Notice
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
        self.calculator = Calculator(self.put)
        self.resender = Resender(self.memory, self.publisher)
        self._inbox: asyncio.Queue[tuple[int, Entry]] = asyncio.Queue(INBOX)
        self._instance = secrets.token_hex(4)
        wall = round((time.time() - self.journal.started) * 1000)
        self._zero = max(wall, self.memory.state.now) - time.monotonic_ns() // 1_000_000
        self._since = self.memory.wire.at(self.now())
        self._heard_of: set[str] = set()
        self._refusals: set[str] = set()
        self._health = asyncio.Event()
        self._reread = asyncio.Event()
        self._reloaded: reload.Reload | None = None
        self._trouble = self._fault = ""
        self._gauge = metrics.Gauge()
        self._heart = Heartbeat()
        self._metrics_file = metrics.target(config.metrics_file)

    def _embedded(self) -> EmbeddedBroker | None:
        if self.config.mqtt.url != "embedded":
            return None
        return EmbeddedBroker(self.config.state_dir / "broker", self.config.mqtt.prefix)

    def address(self, user: str = "table") -> Address:
        """How this daemon, or another user of the embedded broker, gets to the broker."""
        if self.broker is not None:
            return self.broker.address(user)
        return access.own(self.config, 5)

    def now(self) -> int:
        """Milliseconds of the table's memory; never runs backwards."""
        return self._zero + time.monotonic_ns() // 1_000_000

    async def run(self) -> None:
        """Run until cancelled, or until SIGINT or SIGTERM."""
        stop = asyncio.Event()
        loop = asyncio.get_running_loop()
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(number, stop.set)
        loop.add_signal_handler(signal.SIGHUP, self._reread.set)
        logs.within(logs.Place(self.config.table.id, self._hand))
        await self.serve(stop)

    async def serve(self, stop: asyncio.Event) -> None:
        """Run until `stop` is set."""
        try:
            await self._run(stop)
        finally:
            with suppress(JournalError):
                self.memory.close()
            self.journal.close()
            if self.recorder is not None:
                self.recorder.close()

    async def _run(self, stop: asyncio.Event) -> None:
        self._draw_key()
        if self.journal.set_aside is not None:
            self.put(Damaged(self.journal.set_aside.name))
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(self._follow(), name="follow")]
            if self.broker is not None:
                tasks.append(group.create_task(self.broker.run(self.trouble), name="broker"))
                await self.broker.ready()
            tasks += [
                group.create_task(self.publisher.run(), name="publisher"),
                group.create_task(self.calculator.run(), name="calculator"),
                group.create_task(self._metrics(), name="metrics"),
                group.create_task(self._reload(), name="reload"),
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

    def put(self, entry: Look | ReaderUp | ReaderDown | Notice) -> None:
        """An input of ours. A table that cannot keep up loses looks, and counts them."""
        match entry:
            case ReaderUp(reader):
                log.info("reader %s is up", reader, extra={"reader": reader})
            case ReaderDown(reader, error):
                log.warning("reader %s is down: %s", reader, error, extra={"reader": reader})
        try:
            self._inbox.put_nowait((self.now(), entry))
        except asyncio.QueueFull:
            self._gauge.lost_looks += 1

    async def _follow(self) -> None:
        """The only loop: take what has come in, commit, tell."""
        committed = time.monotonic()
        while True:
            with suppress(TimeoutError):
                async with asyncio.timeout(min(LAZY, self._heart.period or LAZY)):
                    self._take(*await self._inbox.get())
            while not self._inbox.empty():
                self._take(*self._inbox.get_nowait())
            self.journal.check()
            self.calculator.ask(self.memory.engine.questions())
            if self.memory.urgent or time.monotonic() - committed > LAZY:
                await self._commit()
                committed = time.monotonic()
            if self._reloaded is not None:
                await self._adopt(self._reloaded)
            self._heart.beat(self._status_line())

    def _take(self, now: int, entry: Entry) -> None:
        self._gauge.took(entry, (self.now() - now) / 1000)
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
        told, public = "", self.memory.public
        began = time.monotonic()
        while True:
            try:
                if self.memory.urgent:
                    await asyncio.to_thread(self.memory.commit)
                else:
                    self.memory.commit()
            except JournalError as error:
                self.journal.check()
                if str(error) != told:
                    told = str(error)
                    log.error("%s", error)  # noqa: TRY400 - the line says it all
                self._heart.beat(told)
                await asyncio.sleep(min(1.0, self._heart.period or 1.0))
            else:
                self._gauge.committed(time.monotonic() - began, public=public)
                self.publisher.wake()
                return

    async def _reload(self) -> None:
        """On SIGHUP read the configuration again; one that is wrong changes nothing."""
        while True:
            await self._reread.wait()
            self._reread.clear()
            reloading()
            try:
                setup = self.memory.engine.table.setup
                self._reloaded = await asyncio.to_thread(reload.plan, self.config, setup)
            except ConfigError as error:
                self._fault = f"the new configuration is wrong, the old one stays: {error}"
                log.error("%s", self._fault)  # noqa: TRY400 - the line says it all
                notify("READY=1")

    async def _adopt(self, fresh: reload.Reload) -> None:
        """Between two inputs, with everything committed that the old configuration led to."""
        await self._commit()
        try:
            self.memory.adopt(fresh.setup)
        except JournalError as error:
            self._fault = f"the new configuration waits for the disk: {error}"
            return
        self._reloaded, self.config, self._fault = None, fresh.config, ""
        log.info("%s", fresh.line())
        notify("READY=1")

    async def _metrics(self) -> None:
        """Tell how readers and table are, at once when a reader came or went."""
        while True:
            self._health.clear()
            await self._tell_health()
            with suppress(TimeoutError):
                async with asyncio.timeout(METRICS_EVERY):
                    await self._health.wait()

    async def _tell_health(self) -> None:
        memory = self.memory
        waiting, age = 0, 0.0
        with suppress(JournalError):
            waiting, age = await asyncio.to_thread(self.journal.waiting)
        body = memory.engine.metrics(
            self._gauge.counters(self._inbox.qsize(), waiting),
            dict(self._gauge.outages),
            self._gauge.timings(age),
        )
        await self.publisher.post(outgoing(memory.wire.metrics(memory.state.now, body)))
        if self._metrics_file is not None:
            try:
                metrics.write(self._metrics_file, metrics.text(self.config.table.id, body))
            except OSError as error:
                log.error("%s: %s", self._metrics_file, error.strerror)  # noqa: TRY400
                self._metrics_file = None
        for reader in sorted(self._heard_of & set(memory.state.readers)):
            await self.publisher.post(outgoing(memory.engine.reader(reader)))

    def _hand(self) -> int | None:
        hand = self.memory.state.open_hand() or self.memory.state.open_deal()
        return None if hand is None else hand.number

    def _status_line(self) -> str:
        hand = self.memory.state.open_hand()
        place = "no hand" if hand is None else f"hand {hand.number}, {hand.phase()}"
        trouble = "" if self.publisher.connected else f", {self._trouble or 'not connected'}"
        fault = f"; {self._fault}" if self._fault else ""
        return f"{self.memory.state.discipline}, {place}{trouble}{fault}"

    async def inbound(self, received: Received) -> None:
        """A message for the table. Retained ones are ignored: nobody gave them now."""
        topic, payload = received.topic, received.payload
        name, private = topic.rpartition("/")[2], topic.startswith(f"{self.topics.private}/")
        if received.retained:
            log.warning("a retained message on %s is ignored", topic)
        elif name == "command":
            command = RawCommand(payload, private, received.reply_to, received.correlation)
            await self._inbox.put((self.now(), command))
        elif name == "resend":
            await self.resender.ask(payload, private=private)

    def status(self, *, online: bool) -> bytes:
        """The payload of `status`, and of the last will."""
        body = Status(
            online=online,
            version=__version__,
            since=self._since,
            instance=self._instance,
            key=self.memory.archive.public or UNSET,
        )
        return self.memory.wire.status(self.now(), body).payload

    def on_connect(self) -> Sequence[Outgoing]:
        """What a broker that came back empty has to hear again."""
        self._refusals.clear()
        told = [m for t, m in self.memory.retained.items() if not t.endswith("/state")]
        state = self.memory.wire.state(self.now(), self.memory.state)
        return again([*told, state])

    def refused(self, message: Outgoing, reason: str) -> None:
        """The broker will not take a message; the publisher has logged it as an error.

        Of secrets only the root is told, once a connection: never that there was one now.
        """
        log.debug("%s was refused: %s", message.topic, reason)
        zone = self.topics.private if message.root == "private" else message.topic
        self._gauge.refused += message.root == "public" or zone not in self._refusals
        if zone not in self._refusals:
            self._refusals.add(zone)
            self.put(Refused(zone))

    def trouble(self, line: str) -> None:
        """No connection, and why; who noticed it has logged it."""
        self._trouble = line

    def rival(self, instance: str) -> None:
        """Another daemon wanted this table."""
        log.error("a second daemon (%s) for table %s", instance, self.config.table.id)
        self.put(Rival(instance))


async def run(config: Config, record: Path | None = None) -> None:
    """Run one table until it is told to stop."""
    await App(config, record).run()
