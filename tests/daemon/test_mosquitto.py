"""The files under config/mosquitto, run as they are but for paths, ports and addresses."""

from __future__ import annotations

import asyncio
from pathlib import Path

import aiomqtt
import pytest

CONFIG = Path(__file__).parents[2] / "config" / "mosquitto"
PUBLIC = {
    f"felt/t1/{name}"
    for name in ("status", "state", "event", "showdown", "ruling/chip-race", "alert", "reply/x")
}
SECRET = {
    f"felt-private/t1/{name}"
    for name in ("hole-cards", "equity", "floor", "command", "reply", "reply/x", "daemon")
}
END = "felt/t1/event/end"


async def heard(watcher, end=END):
    topics = set()
    async for message in watcher.messages:
        if str(message.topic) == end:
            return topics
        topics.add(str(message.topic))
    raise AssertionError


READABLE = {
    ("overlay", "9001"): set(),
    ("overlay", "8883"): set(),
    ("floor", "8883"): {"floor", "reply", "reply/x"},
    ("vault", "8883"): {"hole-cards", "equity", "floor"},
    ("bridge", "1883"): set(),
    ("table", "1883"): {name.removeprefix("felt-private/t1/") for name in SECRET},
}


@pytest.mark.parametrize(("user", "listener"), READABLE)
def test_who_reads_what(site, user, listener):
    site.start("table")

    async def main():
        async with site.client("table", "1883") as table:
            await table.publish("felt-private/t1/hole-cards", b"{}", qos=1, retain=True)
            await table.publish("felt/t1/state", b"{}", qos=1, retain=True)
            async with site.client(user, listener) as reader:
                for topic in ("#", "felt/#", "felt-private/#", "+/+/#", *SECRET):
                    await reader.subscribe(topic, qos=1)
                for topic in (*SECRET, *PUBLIC, END):
                    await table.publish(topic, b"{}", qos=1)
                private = {f"felt-private/t1/{name}" for name in READABLE[user, listener]}
                assert await heard(reader) == PUBLIC | private

    asyncio.run(main())


ASKED = {f"{root}/t1/{name}" for root in ("felt", "felt-private") for name in ("command", "resend")}
WRITABLE = {
    "overlay": {"felt/t1/resend"},
    "floor": ASKED,
    "vault": {"felt/t1/resend", "felt-private/t1/resend"},
    "bridge": {"felt/t1/command", "felt/t1/resend", "felt-bridge/t1"},
}


@pytest.mark.parametrize("user", WRITABLE)
def test_who_writes_what(site, user):
    site.start("table")
    attempts = (
        PUBLIC
        | SECRET
        | ASKED
        | {"felt-bridge/t1", "felt/t1/bridge", "felt/t1/reader/rail", "other/topic"}
    )

    async def main():
        async with site.client("table", "1883") as table:
            await table.subscribe([("felt/#", 1), ("felt-private/#", 1), ("felt-bridge/#", 1)])
            async with site.client(user) as writer:
                for retain in (False, True):
                    for topic in attempts:
                        await writer.publish(topic, b"forged", qos=1, retain=retain)
            await table.publish(END, b"", qos=1)
            assert await heard(table) == WRITABLE[user]

    asyncio.run(main())


def test_nobody_gets_in_without_a_password(site):
    site.start("table")

    async def main():
        for options in ({}, {"username": "overlay", "password": "wrong"}):
            with pytest.raises(aiomqtt.MqttError, match=r"[Nn]ot auth"):
                async with aiomqtt.Client("127.0.0.1", site.ports["table"]["1883"], **options):
                    pass

    asyncio.run(main())


def test_listeners_stay_on_the_address_that_was_asked_for(site, listening):
    broker = site.start("table")
    wanted = {f"0100007F:{port:04X}" for port in site.ports["table"].values()}
    assert listening(broker.process.pid) == wanted
    conf = (CONFIG / "table.conf").read_text()
    assert "listener 9001 127.0.0.1\nsocket_domain ipv4\nprotocol websockets" in conf
