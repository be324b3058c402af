"""`feltd demo`: a whole table on one machine, played and shown live.

The stage (a child process) has emulated readers on real pseudo-terminals. The daemon reads them
and tells a real broker. The director deals, gives the floor's commands, and is a plain
subscriber of what comes back.
"""

from __future__ import annotations

import asyncio
import json
import signal
import sys
import tempfile
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any

import aiomqtt
import msgspec

from daemon.app import App
from daemon.config import load
from daemon.errors import FeltdError
from daemon.rules.cards import DECK
from daemon.show import Show

if TYPE_CHECKING:
    from asyncio.subprocess import Process
    from collections.abc import AsyncIterator

    from daemon.address import Address
    from daemon.config import Config

PACE = 0.25
"""Seconds from one dealt card to the next."""
PATIENCE = 20.0
"""Seconds that the director waits for what must come."""


@dataclass(frozen=True)
class Plan:
    """What to play: `hands` (None for ever), from which seed, at which broker, shown how."""

    hands: int | None
    seed: int
    url: str
    as_json: bool
    rail: str = "pn532"
    seats: int = 6


class Stage:
    """The child process that has the emulated readers."""

    def __init__(self, process: Process) -> None:
        self._process = process

    async def order(self, **order: object) -> None:
        """Have cards laid or lifted, and wait until that is done."""
        if self._process.stdin is None:
            return
        self._process.stdin.write(json.dumps(order).encode() + b"\n")
        await self._process.stdin.drain()
        await self.answer()

    async def answer(self) -> dict[str, Any]:
        """The next line that the stage says."""
        line = await self._process.stdout.readline() if self._process.stdout else b""
        answer: dict[str, Any] = json.loads(line or b'{"done": false, "error": "it ended"}')
        if answer.get("done") is False:
            raise FeltdError(f"the emulated table: {answer['error']}")
        return answer


@asynccontextmanager
async def stage(folder: Path, plan: Plan) -> AsyncIterator[Stage]:
    """The emulated table, until the block ends."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "drivers.sim.stage", "--folder", str(folder)),
        *("--seats", str(plan.seats), "--seed", str(plan.seed), "--rail", plan.rail),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        start_new_session=True,
    )
    table = Stage(process)
    try:
        await table.answer()
        yield table
    finally:
        with suppress(ProcessLookupError):
            process.terminate()
        await process.wait()


@dataclass
class Audience:
    """A plain subscriber: what it has heard, and how to wait for something."""

    client: aiomqtt.Client
    show: Show
    root: str
    heard: list[tuple[str, dict[str, Any]]] = field(default_factory=list)
    news: asyncio.Condition = field(default_factory=asyncio.Condition)
    commands: int = 0

    async def listen(self) -> None:
        """Take in everything until cancelled."""
        async for message in self.client.messages:
            topic, payload = str(message.topic), msgspec.json.decode(bytes(message.payload))
            self.show.message(topic, payload)
            async with self.news:
                self.heard.append((topic, payload))
                self.news.notify_all()

    async def until(self, name: str, **wanted: object) -> dict[str, Any]:
        """Wait for a message on topic `name` with these fields that nobody has waited for yet."""
        async with asyncio.timeout(PATIENCE), self.news:
            while True:
                for number, (topic, payload) in enumerate(self.heard):
                    fits = all(payload.get(key) == value for key, value in wanted.items())
                    if topic == f"{self.root}/{name}" and fits:
                        del self.heard[: number + 1]
                        return payload
                await self.news.wait()

    async def command(self, kind: str, **fields: object) -> dict[str, Any]:
        """Give a command as the floor, and wait for its answer."""
        self.commands += 1
        body = {"id": f"demo-{self.commands}", "by": "demo", "type": kind, **fields}
        await self.client.publish(f"{self.root}/command", json.dumps(body), qos=1)
        reply = await self.until("reply", id=body["id"])
        if not reply["ok"]:
            raise FeltdError(f"{kind}: {reply['error']}")
        return reply


@dataclass
class Director:
    """Deals hands and gives commands, as dealer and floor do."""

    table: Stage
    audience: Audience
    random: Random
    seats: list[int]
    button: int
    deck: str = "red"

    async def hand(self) -> None:
        """One hand of hold'em from the first card to the sweep."""
        pack = list(DECK)
        self.random.shuffle(pack)
        self.deck = "blue" if self.deck == "red" else "red"
        await self.table.order(clear=True, deck=self.deck)
        players = sorted(self.random.sample(self.seats, self.random.randint(2, len(self.seats))))
        self.button = next((n for n in players if n > self.button), players[0])
        await self.audience.command("start-hand", seats=players, button=self.button)
        hands = await self._deal(players, pack, 2)
        await self.audience.until("event", type="street", street="preflop")
        live = list(players)
        board: list[str] = []
        for street, count in (("flop", 3), ("turn", 1), ("river", 1)):
            await self._some_fold(live, hands)
            pack.pop()
            board += await self._board(pack, count, len(board))
            await self.audience.until("event", type="street", street=street)
        await self.audience.command("showdown", shown=live)
        await asyncio.sleep(4 * PACE)
        await self.audience.command("end-hand")
        await self.table.order(clear=True)
        await asyncio.sleep(2 * PACE)

    async def _deal(self, players: list[int], pack: list[str], count: int) -> dict[int, list[str]]:
        first = next((i for i, n in enumerate(players) if n > self.button), 0)
        order = players[first:] + players[:first]
        hands: dict[int, list[str]] = {number: [] for number in players}
        for number in order * count:
            card = pack.pop()
            hands[number].append(card)
            await self.table.order(lay=[[f"seat:{number}", card]])
            await asyncio.sleep(PACE)
        return hands

    async def _some_fold(self, live: list[int], hands: dict[int, list[str]]) -> None:
        for number in list(live):
            if len(live) > 2 and self.random.random() < 0.3:
                live.remove(number)
                await self.table.order(lay=[["muck", card] for card in hands[number]])
                await self.audience.command("fold", seat=number)

    async def _board(self, pack: list[str], count: int, lying: int) -> list[str]:
        cards = [pack.pop() for _ in range(count)]
        for spot, card in enumerate(cards, lying):
            await self.table.order(lay=[["board", card, spot]])
            await asyncio.sleep(PACE)
        return cards


async def play(plan: Plan) -> None:
    """The whole show; ends after the hands, or with SIGINT or SIGTERM."""
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stop.set)
    show = Show(as_json=plan.as_json)
    with tempfile.TemporaryDirectory(prefix="feltd-demo-") as name:
        async with asyncio.TaskGroup() as group:
            acting = group.create_task(_act(Path(name), plan, show), name="demo")
            stopping = group.create_task(stop.wait(), name="stop")
            await asyncio.wait([acting, stopping], return_when=asyncio.FIRST_COMPLETED)
            acting.cancel()
            stopping.cancel()
    show.close()


async def _act(folder: Path, plan: Plan, show: Show) -> None:
    async with stage(folder, plan) as table:
        config = load(folder / "table.toml")
        if plan.url != "embedded":
            config = replace(config, mqtt=msgspec.structs.replace(config.mqtt, url=plan.url))
        app = App(config)
        closing = asyncio.Event()
        async with asyncio.TaskGroup() as group:
            running = group.create_task(app.serve(closing), name="daemon")
            try:
                await app.opened.wait()
                show.opened(app.publisher_address.url, config.mqtt.prefix)
                if not plan.as_json:
                    group.create_task(_pages(config, show, closing), name="web")
                await _perform(app.address("floor"), config.table.id, table, plan, show)
                await app.publisher.flush()
            finally:
                closing.set()
                await asyncio.wait([running], timeout=2)


async def _pages(config: Config, show: Show, closing: asyncio.Event) -> None:
    """Overlay and floor panel beside the show, where the extra is installed."""
    try:
        from daemon.web import demo  # noqa: PLC0415  an extra
    except ImportError:
        return
    await demo.serve(config, show.pages, closing)


async def _perform(address: Address, name: str, table: Stage, plan: Plan, show: Show) -> None:
    async with aiomqtt.Client(
        address.host, address.port, username=address.username, password=address.password()
    ) as client:
        audience = Audience(client, show, f"felt/{name}")
        await client.subscribe("felt/#", qos=1)
        listening = asyncio.create_task(audience.listen())
        try:
            await audience.until("status", online=True)
            random = Random(plan.seed)  # noqa: S311 - a show, no secret
            seats = list(range(1, plan.seats + 1))
            director = Director(table, audience, random, seats, random.choice(seats))
            played = 0
            while plan.hands is None or played < plan.hands:
                await director.hand()
                played += 1
        finally:
            listening.cancel()
            with suppress(asyncio.CancelledError):
                await listening
