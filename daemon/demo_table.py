"""The two ends of the demo: the emulated table, a child process, and a subscriber of what is told.

The subscriber gives the floor's commands too. It knows of the table what any other would.
"""

from __future__ import annotations

import asyncio
import json
import secrets
import sys
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias

import msgspec

from daemon._aiomqtt import Connection, LinkError
from daemon.errors import FeltdError

if TYPE_CHECKING:
    from asyncio.subprocess import Process
    from collections.abc import AsyncIterator, Mapping, Sequence

    from daemon._aiomqtt import Received
    from daemon.address import Address
    from daemon.show import Show

Payload: TypeAlias = dict[str, Any]

PATIENCE = 20.0
"""Seconds that the demo waits for what must come."""
INBOX = 5000
OPENING = frozenset(("start-hand", "button-draw", "chip-race"))
"""The commands that begin what the next number stands for."""


class Stage:
    """The child process that has the emulated readers."""

    def __init__(self, process: Process) -> None:
        self._process = process

    async def order(self, **order: object) -> None:
        """Have cards dealt, laid or lifted, and wait until that is done."""
        if self._process.stdin is None:
            return
        with suppress(ConnectionError):
            self._process.stdin.write(json.dumps(order).encode() + b"\n")
            await self._process.stdin.drain()
        await self.answer()

    async def answer(self) -> Payload:
        """The next line that the stage says; raises FeltdError where it complains or is gone."""
        line = await self._process.stdout.readline() if self._process.stdout else b""
        answer: Payload = json.loads(line or b'{"done": false, "error": "it ended"}')
        if answer.get("done") is False:
            raise FeltdError(f"the emulated table: {answer['error']}")
        return answer


@asynccontextmanager
async def stage(*options: str) -> AsyncIterator[Stage]:
    """The emulated table, until the block ends."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "drivers.sim.stage", *options),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        start_new_session=True,
    )
    try:
        table = Stage(process)
        await table.answer()
        yield table
    finally:
        with suppress(ProcessLookupError):
            process.terminate()
        await process.wait()


@dataclass
class Audience:
    """A subscriber: what it has heard that nobody has waited for yet, and how to wait.

    `hand` is the number of the hand, draw or race that was begun last.
    """

    connection: Connection
    show: Show
    root: str
    heard: list[tuple[str, Payload]] = field(default_factory=list)
    news: asyncio.Condition = field(default_factory=asyncio.Condition)
    commands: int = 0
    hand: int = 0

    async def listen(self) -> None:
        """Take in everything until cancelled; raises FeltdError when the broker is gone."""
        try:
            while True:
                await self._take(await self.connection.receive())
        except LinkError as error:
            raise FeltdError(f"the demo's subscriber: {error}") from None

    async def _take(self, received: Received) -> None:
        payload: Payload = msgspec.json.decode(received.payload)
        self.show.message(received.topic, payload, old=received.retained)
        kept = received.retained and not received.topic.endswith("/status")
        if kept or payload.get("late"):
            return
        async with self.news:
            self.heard.append((received.topic, payload))
            self.news.notify_all()

    async def until(self, name: str, /, **wanted: object) -> Payload:
        """Wait for a message on topic `name` with these fields; what came before it is done with.

        Raises FeltdError when it does not come.
        """
        try:
            async with asyncio.timeout(PATIENCE), self.news:
                while True:
                    found = self._find(f"{self.root}/{name}", wanted)
                    if found is not None:
                        return found
                    await self.news.wait()
        except TimeoutError:
            what = " ".join([name, *map(str, wanted.values())])
            raise FeltdError(f"the table told no {what} within {PATIENCE:.0f} s") from None

    def _find(self, topic: str, wanted: Mapping[str, object]) -> Payload | None:
        for number, (heard, payload) in enumerate(self.heard):
            fits = all(payload.get(key) == value for key, value in wanted.items())
            if heard == topic and fits:
                del self.heard[number if topic.endswith("/reply") else 0 : number + 1]
                return payload
        return None

    async def command(self, kind: str, /, **fields: object) -> None:
        """Give a command as the floor; raises FeltdError where the table refuses it."""
        reply = await self._ask(kind, fields)
        if not reply["ok"]:
            raise FeltdError(f"{kind}: {reply['error']}")

    async def once_clear(self, kind: str, seats: Sequence[int], /, **fields: object) -> None:
        """Give a command that wants clear seats, again until the antennas have heard them clear."""
        loop = asyncio.get_running_loop()
        until = loop.time() + PATIENCE
        while not (reply := await self._ask(kind, fields))["ok"]:
            clearing = any(f"seat {number} " in reply["error"] for number in seats)
            if not clearing or loop.time() > until:
                raise FeltdError(f"{kind}: {reply['error']}")
            await asyncio.sleep(0.3)

    async def _ask(self, kind: str, fields: Mapping[str, object]) -> Payload:
        self.commands += 1
        name, hand = f"demo-{self.commands}", self.hand + (kind in OPENING)
        body = {"id": name, "by": "demo", "type": kind, "hand": hand, **fields}
        try:
            await self.connection.send(f"{self.root}/command", json.dumps(body).encode())
        except LinkError as error:
            raise FeltdError(f"the demo's subscriber: {error}") from None
        reply = await self.until("reply", id=name)
        self.hand = hand if reply["ok"] else self.hand
        return reply


@asynccontextmanager
async def audience(address: Address, name: str, show: Show) -> AsyncIterator[Audience]:
    """Subscribe to everything public of the table `name`, until the block ends."""
    try:
        async with Connection(
            address, f"feltd-demo-{secrets.token_hex(4)}", None, inbound=INBOX
        ) as connection:
            await connection.listen(["felt/#"])
            people = Audience(connection, show, f"felt/{name}")
            async with asyncio.TaskGroup() as group:
                listening = group.create_task(people.listen(), name="audience")
                await people.until("status", online=True)
                yield people
                listening.cancel()
    except LinkError as error:
        raise FeltdError(f"{address.url}: {error}") from None
