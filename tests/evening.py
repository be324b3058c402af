"""A table whose readers and clock are simulated, everything else of it real; run as a program.

`python tests/evening.py FOLDER ROUNDS`: FOLDER holds table.toml and a recording, which is played
ROUNDS times over. A table that was killed goes on where its journal stops, and what it tells is
known beforehand.
"""

from __future__ import annotations

import asyncio
import json
import sys
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import aiomqtt

import daemon.app
from daemon import config
from daemon.journal import Journal
from daemon.recording import read_line, read_opening
from daemon.replay import messages

PAUSE_MS = 20_000
BURST = 25
PATIENCE = 60.0


def lines(folder):
    """The recording without its opening, each line at a millisecond of its own."""
    found, last = [], 0
    for text in (folder / "recording.jsonl").read_bytes().splitlines():
        if read_opening(text) is None:
            line = json.loads(text)
            last = max(round(line["t"] * 1000), last + 1)
            found.append((last, line))
    return found


def inputs(folder, rounds, after=0):
    """(ms, line) of everything that comes later than `after`."""
    once = lines(folder)
    span = once[-1][0] + PAUSE_MS
    for number in range(max(0, after) // span, rounds):
        for at, line in once:
            now = number * span + at
            if now <= after:
                continue
            if "command" in line:
                command = {k: v for k, v in line["command"].items() if k != "hand"}
                yield now, line | {"command": command | {"id": f"{number}-{command['id']}"}}
            else:
                yield now, line


class Follower:
    """Keeps the rule of `seq`: each number once, in order, and `resend` for what is missing."""

    def __init__(self, connect, root="felt/sim"):
        self.connect = connect
        self.root = root
        self.history = []
        self.ahead = {}
        self.news = asyncio.Event()

    async def follow(self):
        while True:
            try:
                async with self.connect() as client:
                    await client.subscribe(f"{self.root}/#", qos=1)
                    async with asyncio.TaskGroup() as group:
                        group.create_task(self.ask(client))
                        group.create_task(self.read(client))
            except (aiomqtt.MqttError, ExceptionGroup):
                await asyncio.sleep(0.05)

    async def read(self, client):
        async for message in client.messages:
            name = str(message.topic).removeprefix(f"{self.root}/")
            payload = json.loads(message.payload)
            if name == "state" or "seq" not in payload:
                continue
            payload.pop("late", None)
            told = self.ahead.setdefault(payload["seq"], (name, payload))
            assert told == (name, payload), "the same number is the same message"
            while (due := len(self.history) + 1) in self.ahead:
                self.history.append(self.ahead[due])
                self.news.set()

    async def ask(self, client):
        while True:
            before = len(self.history)
            await asyncio.sleep(0.5)
            if len(self.history) == before:
                question = json.dumps({"from": before + 1})
                await client.publish(f"{self.root}/resend", question, qos=1)

    async def reaches(self, number):
        while len(self.history) < number:
            self.news.clear()
            async with asyncio.timeout(PATIENCE):
                await self.news.wait()


def expected(folder, rounds, epoch, started, table="sim"):
    """What a table that nobody kills tells of the same evening."""
    opening = {"started": datetime.fromtimestamp(started, UTC).isoformat(), "epoch": epoch}
    texts = (json.dumps(line | {"t": now / 1000}).encode() for now, line in inputs(folder, rounds))

    def everything():
        yield json.dumps(opening).encode()
        yield from texts

    setup = config.load(folder / "table.toml").setup()
    return [
        (message.topic.removeprefix(f"felt/{table}/"), json.loads(message.payload))
        for _, message in messages(setup, "felt", everything(), "evening")
        if message.seq is not None and not message.private
    ]


def remembered(folder):
    """Epoch and beginning of a table that does not run."""
    with closing(Journal.open(folder / "state", 0.0)) as journal:
        return journal.epoch, journal.started


class Table(daemon.app.App):
    """The daemon with a clock that the readers set, and keys from the recording."""

    at = 0

    def now(self):
        return self.at

    def _draw_key(self):
        return


async def main(folder, rounds):
    table = Table(config.load(folder / "table.toml"))
    table.at = table.memory.state.now
    table.calculator.ask = lambda _: None

    async def readers(_, put):
        for number, (now, line) in enumerate(inputs(folder, rounds, table.memory.state.now)):
            table.at, entry = read_line(json.dumps(line | {"t": now / 1000}).encode())
            await table._inbox.put((table.at, entry))
            if number % BURST == 0:
                await asyncio.sleep(0.002)
        await asyncio.Event().wait()

    daemon.app.supervise = readers
    await table.run()


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1]), int(sys.argv[2])))
