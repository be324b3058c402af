"""One daemon a table: how two that share a broker find out, and which of them stops.

A newcomer asks on a private topic that only daemons may use. A daemon that holds the table answers,
and the newcomer stops. Of two that both hold the table, because the network was split, the one that
has held it longer goes on; of equals the one with the smaller random instance. A retained `online`
of a daemon that died with its broker costs the newcomer a few seconds of waiting for no answer.
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
AS_LONG = 1.0

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
        self._since: float | None = None
        self._topics = topics
        self._instance = instance
        self._epoch = epoch
        self._grace = grace
        self._echo = asyncio.Event()
        self._other_online = False

    @property
    def holds(self) -> bool:
        """Whether the table is ours, as far as this connection goes."""
        return self._since is not None

    def drop(self) -> None:
        """The connection is gone, and with it whatever was settled over it."""
        self._since = None

    async def take(self, connection: Connection) -> None:
        """Ask for the table; an objection reaches us through `heard`.

        Our own question comes back after the retained `status`, so nothing has to be timed.
        """
        self.drop()
        self._other_online = False
        self._echo.clear()
        await connection.listen((self._topics.status, self._topics.daemon))
        self._say(connection)
        try:
            await asyncio.wait_for(self._echo.wait(), ECHO_TIMEOUT)
        except TimeoutError:
            log.warning("the broker does not let us use %s", self._topics.daemon)
        if self._other_online:
            await asyncio.sleep(self._grace)
        self._since = asyncio.get_running_loop().time()

    def heard(self, connection: Connection, payload: bytes) -> str | None:
        """Judge a message of the claim topic; the instance of a rival that we turned away.

        Raises SecondDaemonError when it is we who have to go.
        """
        body = _read(payload)
        other, held = body.get("instance"), body.get("held")
        if not isinstance(other, str) or not isinstance(held, int | float | None):
            return None
        if other == self._instance:
            self._echo.set()
            return None
        if not self._wins(other, held):
            raise SecondDaemonError(
                f"another feltd ({other}) already runs table {self._topics.table} at this broker"
            )
        self._say(connection)
        return other

    def heard_status(self, payload: bytes, *, retained: bool) -> bool:
        """Judge a message of `status`: whether it says offline though we are here.

        The will of an earlier connection may be executed long after a later one was accepted.
        """
        body = _read(payload)
        if retained:
            self._other_online = body.get("online") is True and body.get("epoch") != self._epoch
        return self.holds and body.get("online") is False

    def _held(self) -> float | None:
        """Seconds since the table is ours; both sides' clocks may be wrong, durations are not."""
        return None if self._since is None else asyncio.get_running_loop().time() - self._since

    def _wins(self, other: str, other_held: float | None) -> bool:
        held = self._held()
        if (held is None) != (other_held is None):
            return held is not None
        longer = (held or 0.0) - (other_held or 0.0)
        return self._instance < other if abs(longer) < AS_LONG else longer > 0

    def _say(self, connection: Connection) -> None:
        body = {"instance": self._instance, "held": self._held()}
        told = connection.send(self._topics.daemon, json.dumps(body).encode())
        told.add_done_callback(lambda future: future.cancelled() or future.exception())


def _read(payload: bytes) -> dict[str, Any]:
    try:
        body = json.loads(payload)
    except (ValueError, RecursionError):
        return {}
    return body if isinstance(body, dict) else {}
