"""The running daemon without its readers, its broker and the clock on the wall.

A real App takes the inputs of a recording in virtual time, commits to a real journal and tells its
figures every ten seconds. What comes out is everything that anybody could see of it from outside.
"""

from __future__ import annotations

import asyncio
import json
import logging
import shutil
from types import SimpleNamespace
from typing import TYPE_CHECKING

from daemon import app as apps
from daemon import config
from daemon.events import Odds, SeatChance
from daemon.recording import read_line, read_opening
from drivers import ReaderUp
from drivers.sim.table import write

if TYPE_CHECKING:
    from pathlib import Path

BEGAN = 1_796_000_000
"""Unix seconds at which the virtual time begins."""

ALL = ('hole_cards = "clear"', "floor = true")
"""The mode in which there is most to keep to oneself."""


class Clock:
    """What `time` is to the daemon; `now` in milliseconds."""

    def __init__(self):
        self.now = 0

    def time(self):
        return BEGAN + self.now / 1000

    def monotonic(self):
        return self.now / 1000

    def monotonic_ns(self):
        return self.now * 1_000_000


class Lines(logging.Handler):
    """The daemon's log."""

    def __init__(self):
        super().__init__(logging.DEBUG)
        self.told = []

    def emit(self, record):
        self.told.append(record.getMessage())


class House:
    """A session on disk, ready to be played any number of times from the same fresh memory."""

    def __init__(self, folder: Path, session, patch):
        self.folder = folder
        self.clock = Clock()
        self.patch = patch
        patch.setattr(apps, "time", self.clock)
        patch.setattr(apps, "secrets", SimpleNamespace(token_hex=lambda size: "5a" * size))
        folder.mkdir()
        self.truths = write(session, folder)
        table = folder / "table.toml"
        text = table.read_text().replace("[secrecy]", "\n".join(("[secrecy]", *ALL)))
        table.write_text(f'{text}\n[metrics]\nfile = "metrics.prom"\n')
        self.config = config.load(table)
        lines = (folder / "recording.jsonl").read_bytes().splitlines()
        self.button = read_opening(lines[0]).button
        readers = sorted(settings.name for _, settings in self.config.readers)
        self.inputs = [(0, ReaderUp(name)) for name in readers]
        self.inputs += map(read_line, lines[1:])
        fresh = apps.App(self.config)
        fresh.journal.close()
        self.config.state_dir.rename(folder / "fresh")
        self.setup = self.config.setup()

    def play(self, *, setups=(), inputs=None, until=None):
        """Everything public, as (ms, where, what); `setups` are (ms from which on, Setup)."""
        shutil.copytree(self.folder / "fresh", self.config.state_dir)
        self.clock.now = 0
        self.patch.setattr(apps, "time", self.clock)
        log, logger = Lines(), logging.getLogger("feltd")
        level = logger.level
        logger.addHandler(log)
        logger.setLevel(logging.DEBUG)
        try:
            run = Run(apps.App(self.config), self.clock, self.button, log)
            return asyncio.run(run.through(inputs or self.inputs, list(setups), until))
        finally:
            logger.removeHandler(log)
            logger.setLevel(level)
            shutil.rmtree(self.config.state_dir)


class Run:
    """One run of the daemon."""

    def __init__(self, app, clock, button, log):
        self.app, self.clock, self.log = app, clock, log
        self.out = []
        self.cursor = 0
        self.figures_at = 0
        self.committed = 0
        app.memory.state.button = button
        app.journal._clock = clock.time

    async def through(self, inputs, setups, until):
        for now, entry in inputs:
            if until is not None and now >= until:
                await self.figures_until(until - 1)
                self.app.journal.close()
                return self.out
            while setups and now >= setups[0][0]:
                self.app.memory.engine.table.setup = setups.pop(0)[1]
            await self.figures_until(now)
            self.clock.now = now
            await self.take(now, entry)
        await self.figures(self.clock.now)
        self.close()
        return self.out

    async def figures_until(self, now):
        while now >= self.figures_at:
            await self.figures(self.figures_at)

    async def take(self, now, entry):
        """As the loop does it; odds are answered at once, and say nothing."""
        self.app._take(now, entry)
        await self.commit(now)
        for question in self.app.memory.engine.questions():
            chances = [SeatChance(seat, 0.5, 0.0, 0.5) for seat in question.hands]
            self.app._take(now, Odds(question, chances, exact=True, deals=1))
            await self.commit(now)

    async def commit(self, now):
        if not self.app.memory.urgent and now - self.committed <= 1000 * apps.LAZY:
            return
        await self.app._commit()
        self.committed = now
        for message in self.app.journal.unsent(10_000, self.cursor):
            self.cursor = message.id
            if message.root == "public":
                self.tell(now, message.topic, message.payload)

    async def figures(self, now):
        """What is told every ten seconds; the broker has acknowledged all that came before."""
        self.clock.now, self.figures_at = now, now + round(1000 * apps.METRICS_EVERY)
        await self.app._tell_health()
        for message in self.app.publisher._posted.values():
            self.tell(now, message.topic, message.payload)
        self.app.publisher._posted.clear()
        self.tell(now, "the file", (self.app.config.path.parent / "metrics.prom").read_bytes())
        self.tell(now, "the service manager", self.app._status_line().encode())
        self.tell(now, "status", self.app.status(online=True))
        waiting = [one.id for one in self.app.journal.unsent(10_000)]
        self.app.journal.acknowledged(waiting)

    def tell(self, now, where, what):
        self.out.append((now, where, what))
        self.out += [(now, "the log", line.encode()) for line in self.log.told]
        self.log.told.clear()

    def close(self):
        """The records, as they are once the table has been closed."""
        self.app.memory.close()
        self.app.journal.close()
        folder = self.app.config.state_dir / "records"
        for path in sorted(folder.glob("*")):
            self.tell(self.clock.now, path.name, path.read_bytes())


def visible(told, until=None):
    """What has to be the same: all but the hash over a secret, as far as `until` (ms)."""
    return [
        (now, where, _without_hash(what))
        for now, where, what in told
        if until is None or now < until
    ]


def _without_hash(what):
    if b'"type":"commit"' not in what:
        return what
    body = json.loads(what)
    return {key: value for key, value in body.items() if key not in {"hash", "replaces"}}


def figures(told):
    """The counters alone."""
    return [each for each in told if each[1].endswith("/metrics") or each[1] == "the file"]


__all__ = ["ALL", "House", "Run", "figures", "visible"]
