"""A subscriber of one table over any number of outages, and the way in for the floor's commands."""

from __future__ import annotations

import asyncio
import logging
import secrets
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import msgspec

from daemon._aiomqtt import Connection, LinkError, RefusedError
from daemon.errors import FeltdError
from daemon.web.follow import Follower, Payload

if TYPE_CHECKING:
    from collections.abc import Callable

    from daemon.address import Address
    from daemon.web.follow import Step

FIRST_DELAY = 0.2
LONGEST_DELAY = 3.0
ASK_EVERY = 1.1
PATIENCE = 5
LOOK_BACK = 50
ANSWER_TIMEOUT = 5.0

log = logging.getLogger("feltd.web")


class NoAnswerError(Exception):
    """The table did not answer: whether the command was carried out is not known."""


@dataclass(frozen=True, slots=True)
class Root:
    """One of the two roots: where it is, what is read there, and whether it has a `state`."""

    name: str
    topics: tuple[str, ...]
    anchored: bool = True


@dataclass
class _Followed:
    root: Root
    follower: Follower
    asked: int = 0
    last_seq: int = -1
    looked_back: str | None = None


@dataclass
class Subscriber:
    """Follows roots of one table and tells `step(root, step)`, `aside(root, topic, payload)`.

    `linked(True)` when the broker has accepted us, `linked(False)` when it is gone.
    """

    address: Callable[[], Address]
    roots: tuple[Root, ...]
    step: Callable[[Root, Step], None]
    aside: Callable[[Root, str, Payload], None]
    linked: Callable[[bool], None]
    _connection: Connection | None = None
    _replies: dict[tuple[str, str], asyncio.Future[Payload]] = field(default_factory=dict)

    async def run(self) -> None:
        """Connect and listen until cancelled."""
        followed = {
            root.name: _Followed(root, Follower(anchored=root.anchored)) for root in self.roots
        }
        delay, told = FIRST_DELAY, ""
        while True:
            try:
                address = self.address()
                name = f"feltd-web-{secrets.token_hex(4)}"
                async with Connection(address, name, None, inbound=2_000) as connection:
                    topics = [f"{root.name}/{each}" for root in self.roots for each in root.topics]
                    await connection.listen(topics)
                    delay, told = FIRST_DELAY, ""
                    await self._converse(connection, followed)
            except (LinkError, FeltdError) as error:
                if str(error) != told:
                    told = str(error)
                    log.warning("no connection to the broker: %s", error)
            await asyncio.sleep(delay)
            delay = min(2 * delay, LONGEST_DELAY)

    async def _converse(self, connection: Connection, followed: dict[str, _Followed]) -> None:
        asking = asyncio.create_task(_ask(connection, followed, self.step), name="web-resend")
        self._connection = connection
        self.linked(True)  # noqa: FBT003
        try:
            while True:
                received = await connection.receive()
                self._take(followed, received.topic, received.payload)
        finally:
            self._connection = None
            asking.cancel()
            with suppress(asyncio.CancelledError):
                await asking
            self.linked(False)  # noqa: FBT003

    def _take(self, followed: dict[str, _Followed], topic: str, data: bytes) -> None:
        each = next((e for name, e in followed.items() if topic.startswith(f"{name}/")), None)
        if each is None:
            return
        try:
            payload = msgspec.json.decode(data, type=dict[str, object])
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            log.warning("a message on %s cannot be read", topic)
            return
        name = topic.removeprefix(f"{each.root.name}/")
        if name == "reply":
            self._replied(payload)
        elif name in {"command", "resend"}:
            return
        elif "seq" in payload or payload.get("type") == "resend-gone":
            for step in each.follower.take(name, payload):
                self.step(each.root, step)
        else:
            self.aside(each.root, name, payload)

    def _replied(self, payload: Payload) -> None:
        future = self._replies.get((str(payload.get("by", "")), str(payload.get("id"))))
        if future is not None and not future.done():
            future.set_result(payload)

    async def command(self, root: str, by: str, id_: str, body: bytes) -> Payload:
        """Send a command and return the table's answer. Raises NoAnswerError.

        The same `by` and `id_` may be sent again: the table acts once.
        """
        if self._connection is None:
            raise NoAnswerError("no connection to the broker")
        future = self._replies.setdefault((by, id_), asyncio.get_running_loop().create_future())
        try:
            await self._connection.send(f"{root}/command", body)
            async with asyncio.timeout(ANSWER_TIMEOUT):
                return await asyncio.shield(future)
        except (LinkError, RefusedError) as error:
            raise NoAnswerError(str(error)) from error
        except TimeoutError:
            raise NoAnswerError("the table does not answer") from None
        finally:
            self._replies.pop((by, id_), None)


async def _ask(
    connection: Connection, followed: dict[str, _Followed], step: Callable[[Root, Step], None]
) -> None:
    """Ask for what is missing, once a second; after a while go on without it."""
    while True:
        for each in followed.values():
            since = _wanted(each)
            if since is not None:
                with suppress(RefusedError, LinkError):
                    body = msgspec.json.encode({"from": since})
                    await connection.send(f"{each.root.name}/resend", body)
            if each.asked > PATIENCE:
                log.warning("%s: message %s is lost", each.root.name, since)
                each.asked = 0
                for due in each.follower.give_up():
                    step(each.root, due)
        await asyncio.sleep(ASK_EVERY)


def _wanted(each: _Followed) -> int | None:
    """From which number to ask: the first of a gap; once an epoch, what was told before."""
    follower = each.follower
    missing = follower.missing()
    if missing is not None:
        stuck = missing == each.last_seq
        each.asked, each.last_seq = (each.asked + 1 if stuck else 1), missing
        return missing
    each.asked = 0
    if each.root.anchored and follower.epoch not in {None, each.looked_back}:
        each.looked_back = follower.epoch
        return max(1, follower.seq - LOOK_BACK) if follower.seq else None
    return None
