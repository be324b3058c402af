"""One daemon a table: how two that share a broker find out, and which of them stops.

A newcomer asks on a private topic that only daemons may use. A daemon that holds the table answers,
and the newcomer stops. Of two newcomers, and of two that both held the table while the network was
split, the one with the smaller random instance goes on. A retained `online` of a daemon that died
with its broker costs the newcomer a few seconds of waiting for an answer that never comes.
"""

from __future__ import annotations

import asyncio
import json
import logging
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from daemon.errors import FeltdError

if TYPE_CHECKING:
    from daemon._aiomqtt import Connection

ECHO_TIMEOUT = 2.0

log = logging.getLogger("feltd.mqtt")


class SecondDaemonError(FeltdError):
    """Another feltd has this table; this one has to stop."""


@dataclass(frozen=True, slots=True)
class Topics:
    """The topics of one table that the connection itself deals with."""

    prefix: str
    table: str

    @property
    def public(self) -> str:
        """Where everybody may read."""
        return f"{self.prefix}/{self.table}"

    @property
    def private(self) -> str:
        """The root of secrets."""
        return f"{self.prefix}-private/{self.table}"

    @property
    def status(self) -> str:
        """Online or not; retained, and the will."""
        return f"{self.public}/status"

    @property
    def daemon(self) -> str:
        """Where two daemons of one table meet; never retained."""
        return f"{self.private}/daemon"

    @property
    def inbound(self) -> tuple[str, ...]:
        """What others send to the table."""
        roots = (self.public, self.private)
        return tuple(f"{root}/{name}" for root in roots for name in ("command", "resend"))


class Claim:
    """The claim of one daemon to its table; `holds` once nobody objected.

    `grace` in seconds is how long a daemon that the retained `status` names has to object.
    """

    def __init__(self, topics: Topics, instance: str, epoch: str, grace: float) -> None:
        self.holds = False
        self._topics = topics
        self._instance = instance
        self._epoch = epoch
        self._grace = grace
        self._echo = asyncio.Event()
        self._other_online = False

    async def take(self, connection: Connection) -> None:
        """Ask for the table; an objection reaches us through `heard`.

        Our own question comes back after the retained `status`, so nothing has to be timed.
        """
        self.holds = False
        self._other_online = False
        self._echo.clear()
        await connection.listen((self._topics.status, self._topics.daemon))
        self._say(connection, holds=False)
        try:
            await asyncio.wait_for(self._echo.wait(), ECHO_TIMEOUT)
        except TimeoutError:
            log.warning("the broker does not let us use %s", self._topics.daemon)
        if self._other_online:
            await asyncio.sleep(self._grace)
        self.holds = True

    def heard(self, connection: Connection, payload: bytes) -> str | None:
        """Judge a message of the claim topic; the instance of a rival that we turned away.

        Raises SecondDaemonError when it is we who have to go.
        """
        body = _read(payload)
        other, other_holds = body.get("instance"), body.get("holds")
        if not isinstance(other, str) or not isinstance(other_holds, bool):
            return None
        if other == self._instance:
            self._echo.set()
            return None
        wins = self.holds if self.holds != other_holds else self._instance < other
        if not wins:
            raise SecondDaemonError(
                f"another feltd ({other}) already runs table {self._topics.table} at this broker"
            )
        self._say(connection, holds=True)
        return other

    def heard_status(self, payload: bytes, *, retained: bool) -> bool:
        """Judge a message of `status`: whether it says offline though we are here.

        The will of an earlier connection may be executed long after a later one was accepted.
        """
        body = _read(payload)
        if retained:
            self._other_online = body.get("online") is True and body.get("epoch") != self._epoch
        return self.holds and body.get("online") is False

    def _say(self, connection: Connection, *, holds: bool) -> None:
        body = {"instance": self._instance, "holds": holds}
        told = connection.send(self._topics.daemon, json.dumps(body).encode())
        told.add_done_callback(lambda future: future.cancelled() or future.exception())


def _read(payload: bytes) -> dict[str, Any]:
    try:
        body = json.loads(payload)
    except (ValueError, RecursionError):
        return {}
    return body if isinstance(body, dict) else {}
