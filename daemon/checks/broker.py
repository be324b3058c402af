"""Checks of the broker: reachable, lets us in, no other daemon, and every right tried.

A right to publish is tried by publishing, a right to read by reading what was published. What is
sent changes nothing for a subscriber that follows the contract: counted messages carry `seq` 0,
`late` and the epoch of the retained state, and what a topic retains is told again as it was. On
MQTT 5 a broker says what it refuses; on MQTT 3.1.1 only the echo tells, so then every topic is
read as well.
"""

from __future__ import annotations

import asyncio
import json
import secrets
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from daemon import access
from daemon._aiomqtt import Connection, LinkError, RefusedError
from daemon.address import speaks_another
from daemon.checks.words import Finding, finding
from daemon.claim import Topics
from daemon.errors import ConfigError
from daemon.topics import CHANNELS

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from daemon.address import Address
    from daemon.config import Config

SETTLE = 0.5
"""Seconds in which a broker delivers what it has retained, where no echo tells that it has."""
PATIENCE = 5.0


@dataclass
class Trial:
    """The topics of one table at one broker, and what came back from each."""

    connection: Connection
    writes: list[str]
    reads: list[str]
    counted: frozenset[str]
    kept: dict[str, bytes] = field(default_factory=dict)
    echoed: dict[str, set[bytes]] = field(default_factory=dict)
    arrived: asyncio.Event = field(default_factory=asyncio.Event)

    async def listen(self) -> None:
        """Take in what comes until the connection ends."""
        with suppress(LinkError):
            while True:
                received = await self.connection.receive()
                if received.retained:
                    self.kept[received.topic] = received.payload
                self.echoed.setdefault(received.topic, set()).add(received.payload)
                self.arrived.set()

    async def heard(self, wanted: dict[str, bytes]) -> set[str]:
        """The topics on which what was published has come back, after a while."""

        def back() -> set[str]:
            return {topic for topic, body in wanted.items() if body in self.echoed.get(topic, ())}

        with suppress(TimeoutError):
            async with asyncio.timeout(PATIENCE):
                while len(back()) < len(wanted):
                    self.arrived.clear()
                    await self.arrived.wait()
        return back()

    async def settle(self, topic: str) -> None:
        """Until everything retained is here: an echo comes after it."""
        body = json.dumps({"check": secrets.token_hex(8)}).encode()
        with suppress(RefusedError):
            await self.connection.send(topic, body)
            if await self.heard({topic: body}):
                return
        await asyncio.sleep(SETTLE)

    def probe(self, topic: str, table: str, epoch: object) -> tuple[bytes, bool]:
        """What to publish, and whether it is to be retained."""
        if topic in self.kept and topic not in self.counted:
            return self.kept[topic], True
        body: dict[str, object] = {"v": 1, "table": table, "check": True}
        if topic in self.counted:
            body |= {"seq": 0, "late": True, "epoch": epoch}
        if topic.endswith("/status"):
            body["online"] = False
        return json.dumps(body | {"id": secrets.token_hex(4), "by": "feltd-check"}).encode(), False


async def check_broker(config: Config) -> AsyncIterator[Finding]:
    """Connect as the daemon would, and try all that it does there."""
    if config.mqtt.url == "embedded":
        yield finding("embedded")
        return
    try:
        address = access.own(config, 5)
    except ConfigError as error:
        yield finding("config-wrong", error=error)
        return
    for version in (5, 4):
        try:
            async for found in _visit(config, replace(address, version=version)):
                yield found
        except LinkError as error:
            if version == 5 and speaks_another(str(error)):
                continue
            yield _unreachable(config, error)
        return


def _unreachable(config: Config, error: LinkError) -> Finding:
    text, url = str(error), config.mqtt.url
    if text.startswith("refused"):
        return finding("broker-refuses", url=url, error=text, user=config.mqtt.username or "-")
    secret = config.password_file()
    if secret is not None and text.startswith(str(secret)):
        return finding("broker-secret", error=text)
    if text.startswith(("certificate", "TLS", str(config.path.parent))):
        return finding("broker-tls", url=url, error=text)
    return finding("broker-silent", url=url, error=text)


async def _visit(config: Config, address: Address) -> AsyncIterator[Finding]:
    name = f"feltd-check-{secrets.token_hex(4)}"
    async with Connection(address, name, None, inbound=1000) as connection:
        yield finding("broker", url=address.url)
        trial = _trial(config, connection)
        listening = asyncio.create_task(trial.listen())
        try:
            async for found in _judge(config, trial, certain=address.version == 5):
                yield found
        finally:
            listening.cancel()
            await asyncio.gather(listening, return_exceptions=True)


def _trial(config: Config, connection: Connection) -> Trial:
    prefix, table = config.mqtt.prefix, config.table.id
    topics = Topics(prefix, table)
    names = [settings.name for _, settings in config.readers]
    written: list[str] = []
    counted: set[str] = set()
    for channel in CHANNELS:
        if channel.taken:
            continue
        of_readers = names if "{reader}" in channel.address else [""]
        told = [channel.address.format(prefix=prefix, table=table, reader=n) for n in of_readers]
        written += told
        counted |= set(told) if channel.counted else set()
    reads = [*topics.inbound, topics.status, topics.daemon]
    return Trial(connection, [*written, topics.daemon], reads, frozenset(counted))


async def _judge(config: Config, trial: Trial, *, certain: bool) -> AsyncIterator[Finding]:
    topics = Topics(config.mqtt.prefix, config.table.id)
    barred = await _subscribe(trial, sorted({*trial.reads, *trial.writes}))
    await trial.settle(topics.daemon)
    status = _read(trial.kept.get(topics.status, b""))
    if status.get("online") is True:
        yield finding("second", since=status.get("since", "?"))
        return
    epoch = _read(trial.kept.get(f"{topics.public}/state", b"")).get("epoch")
    sent, refused = await _publish(trial, config.table.id, epoch)
    back = await trial.heard({t: b for t, b in sent.items() if not certain or t in trial.reads})
    missing = [finding("right-write", topic=t) for t in trial.writes if t in refused]
    missing += [
        finding("right-read", topic=topic)
        for topic in trial.reads
        if topic in barred or (topic in sent and topic not in back and certain)
    ]
    if not certain:
        silent = [topic for topic in sent if topic not in back]
        missing += [finding("right-unsure", topic=topic) for topic in silent]
    missing += [
        finding("right-unsure", topic=t)
        for t in trial.reads
        if t in refused and t not in trial.writes
    ]
    for each in missing:
        yield each
    if not missing:
        yield finding("rights", count=len(trial.writes) + len(trial.reads))


async def _subscribe(trial: Trial, topics: list[str]) -> set[str]:
    """The topics whose subscription the broker refuses."""
    barred = set()
    for topic in topics:
        try:
            await trial.connection.listen([topic])
        except LinkError as error:
            if "let us read" not in str(error):
                raise
            barred.add(topic)
    return barred


async def _publish(
    trial: Trial, table: str, epoch: object
) -> tuple[dict[str, bytes], dict[str, str]]:
    """What was published on each topic, and the reasons of those that were refused."""
    sent: dict[str, bytes] = {}
    refused: dict[str, str] = {}
    for topic in dict.fromkeys((*trial.writes, *trial.reads)):
        body, retain = trial.probe(topic, table, epoch)
        try:
            await trial.connection.send(topic, body, retain=retain)
        except RefusedError as error:
            refused[topic] = str(error)
        else:
            sent[topic] = body
    return sent, refused


def _read(payload: bytes) -> dict[str, object]:
    try:
        body = json.loads(payload)
    except ValueError:
        return {}
    return body if isinstance(body, dict) else {}
