"""A table to play at: emulated readers on real pseudo-terminals, `feltd run` as a child."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
from contextlib import asynccontextmanager
from pathlib import Path
from random import Random

import aiomqtt

from drivers.sim.deck import make_deck
from drivers.sim.layout import Layout
from drivers.sim.stage import Stage, write

PATIENCE = 20.0
FELTD = Path(sys.executable).with_name("feltd")


class Table:
    """The felt, its readers (in this process), and the daemon (a child of this process)."""

    def __init__(self, folder, url, *, rail="feig", seats=3, discipline="holdem", more=""):
        layout = Layout(discipline, seats, board=3, rail=rail, unattended="ask")
        random = Random(7)
        taken = set()
        decks = {name: make_deck(name, random, layout.air, taken) for name in ("red", "blue")}
        self.folder = folder
        self.stage = Stage(layout, decks)
        write(self.stage, folder)
        self.config = folder / "table.toml"
        text = self.config.read_text().replace("embedded", url) + more
        self.config.write_text(text)
        (folder / "ports").mkdir()
        self.wires = self.stage.wires(folder / "ports")
        self.url = url
        self.process = None
        self.log = folder / "feltd.log"

    @asynccontextmanager
    async def plugged_in(self):
        for wire in self.wires:
            wire.start()
        try:
            yield self
        finally:
            for wire in self.wires:
                await wire.stop()

    def lay(self, *cards, deck=None):
        """`lay(("seat:1", "As"), ("board", "Kd", 0))`: zone, card, and place on the board."""
        self.stage.obey({"lay": [list(card) for card in cards]} | ({"deck": deck} if deck else {}))

    def clear(self):
        self.stage.obey({"clear": True})

    def uid(self, card, deck="red"):
        return self.stage.decks[deck].uids[card]

    @asynccontextmanager
    async def running(self, *options):
        """`feltd run` until the block ends; then SIGTERM has to end it with status 0."""
        self.start(*options)
        try:
            yield self.process
        finally:
            if self.process.returncode is None:
                self.process.kill()
            self.process.wait()

    def start(self, *options):
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                [FELTD, "run", "--config", self.config, *options], stderr=log, stdout=log
            )

    async def stop(self, number=signal.SIGTERM):
        """Send a signal; seconds until the daemon was gone."""
        loop = asyncio.get_running_loop()
        began = loop.time()
        self.process.send_signal(number)
        await asyncio.to_thread(self.process.wait, PATIENCE)
        return loop.time() - began

    def lines(self):
        """What the daemon has logged so far."""
        text = self.log.read_text() if self.log.exists() else ""
        return [json.loads(line) for line in text.splitlines()]

    def said(self, words, level=None):
        return [
            line["message"]
            for line in self.lines()
            if words in line["message"] and level in {None, line["level"]}
        ]

    def broker(self):
        """Host, port, user and password for `feltd`'s own broker once it listens."""
        config = json.loads((self.folder / "state/broker/nats.conf").read_text())
        password = (self.folder / "state/broker/floor.password").read_text().strip()
        return "127.0.0.1", config["mqtt"]["port"], "floor", password


async def until(condition):
    """Wait for something that another program does."""
    async with asyncio.timeout(PATIENCE):
        while not condition():  # noqa: ASYNC110 - another program has no event of ours
            await asyncio.sleep(0.01)


class Audience:
    """A subscriber of the table; what people send to the table it passes over."""

    def __init__(self, client, root="felt/demo"):
        self.client = client
        self.root = root
        self.messages = []
        self.news = asyncio.Condition()
        self.given = 0

    async def listen(self):
        async for message in self.client.messages:
            topic = str(message.topic)
            if topic.endswith(("/command", "/resend", "/daemon")):
                continue
            async with self.news:
                self.messages.append((topic, json.loads(message.payload), message.retain))
                self.news.notify_all()

    def of(self, name, **wanted):
        return [
            payload
            for topic, payload, _ in self.messages
            if topic.endswith(f"/{name}") and all(payload.get(k) == v for k, v in wanted.items())
        ]

    async def until(self, name, **wanted):
        """The newest message of this kind, as soon as there is one."""
        async with asyncio.timeout(PATIENCE), self.news:
            while not (found := self.of(name, **wanted)):
                await self.news.wait()
        return found[-1]

    async def command(self, kind, *, id=None, private=False, raw=None, **fields):  # noqa: A002
        """Give a command and return the answer to it."""
        self.given += 1
        body = {"id": id or f"test-{self.given}", "by": "test", "type": kind, **fields}
        before = len(self.of("reply"))
        root = self.root.replace("/", "-private/", 1) if private else self.root
        await self.client.publish(f"{root}/command", raw or json.dumps(body), qos=1)
        async with asyncio.timeout(PATIENCE), self.news:
            while len(self.of("reply")) == before:
                await self.news.wait()
        return self.of("reply")[-1]

    def counted(self):
        """Public counted messages by `seq`; the same number twice has to be the same message."""
        found = {}
        for topic, payload, _ in self.messages:
            name = topic.removeprefix(f"{self.root}/")
            if topic.startswith(self.root) and "seq" in payload and name != "state":
                once = {key: value for key, value in payload.items() if key != "late"}
                assert found.setdefault(payload["seq"], (name, once)) == (name, once)
        return found


@asynccontextmanager
async def audience(host, port, user=None, password=None, topics=("felt/#",)):
    async with aiomqtt.Client(host, port, username=user, password=password) as client:
        heard = Audience(client)
        for topic in topics:
            await client.subscribe(topic, qos=1)
        listening = asyncio.create_task(heard.listen())
        try:
            yield heard
        finally:
            listening.cancel()
            await asyncio.wait([listening])
            if not listening.cancelled():
                listening.exception()


def children(pid):
    """Process ids below `pid`, without zombies."""
    found = []
    for status in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = status.read_text().rpartition(")")[2].split()
        except (FileNotFoundError, ProcessLookupError):
            continue
        if int(fields[1]) == pid and fields[0] != "Z":
            child = int(status.parent.name)
            found += [child, *children(child)]
    return found


def alive(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"


async def deal(table, heard, hands, button=1):
    """Start a hand by command and deal it: one card at a time, round by round."""
    seats = sorted(hands)
    reply = await heard.command("start-hand", seats=seats, button=button)
    assert reply["ok"], reply
    first = next((i for i, seat in enumerate(seats) if seat > button), 0)
    order = seats[first:] + seats[:first]
    for turn in range(len(next(iter(hands.values())))):
        for seat in order:
            card = hands[seat][turn]
            table.lay((f"seat:{seat}", card))
            await asyncio.sleep(0.15)
    await heard.until("event", type="street", street="preflop")


async def street(table, heard, name, cards, lying=0):
    """Lay the cards of a street one by one, so that their order is known."""
    for spot, card in enumerate(cards, lying):
        table.lay(("board", card, spot))
        await asyncio.sleep(0.2)
    return await heard.until("event", type="street", street=name)
