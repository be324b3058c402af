"""The daemon over TLS, and the bridge to a central broker."""

from __future__ import annotations

import asyncio
import datetime as dt

import pytest
import trustme

from daemon.address import Address
from daemon.journal import Outgoing


def securely(kit, site, listener, url, journal):
    """The publisher as table, with the site's certificates."""
    address = Address(
        url,
        username="table",
        password_file=site.folder / "table.password",
        ca_file=site.folder / "certs" / "ca.crt",
    )
    return kit.published(None, journal, listener, address=address)


def event(seq, root="public"):
    topic = "felt/t1/event" if root == "public" else "felt-private/t1/hole-cards"
    return Outgoing(root, seq, topic, b"event %d" % seq)


def test_the_daemon_talks_tls(site, journal, kit):
    site.start("table")
    journal.add([], [event(1), event(1, "private")], sync=True)

    async def main():
        listener = kit.Listener()
        url = f"mqtts://localhost:{site.ports['table']['8883']}"
        async with (
            site.client("floor") as floor,
            securely(kit, site, listener, url, journal) as publisher,
        ):
            await publisher.flush()
            await floor.publish("felt/t1/command", b"{}", qos=1)
            await kit.until(lambda: listener.received)
        assert listener.troubles == []
        assert listener.received == [("felt/t1/command", b"{}", False)]

    asyncio.run(main())


PAST = dt.datetime(2020, 1, 1, tzinfo=dt.UTC)


def foreign(site):
    site.authority = trustme.CA()
    site.certify("table", "localhost")


WRONG = {
    "wrong host": (
        lambda site: site.certify("table", "t7.example"),
        "certificate refused: Hostname mismatch, certificate is not valid for 'localhost'",
    ),
    "expired": (
        lambda site: site.certify("table", "localhost", not_before=PAST, not_after=PAST),
        "certificate refused: certificate has expired",
    ),
    "foreign": (foreign, "certificate refused: unable to get local issuer certificate"),
}


@pytest.mark.parametrize("wrong", WRONG)
def test_wrong_certificate_is_refused_in_one_line(site, journal, wrong, kit):
    spoil, line = WRONG[wrong]
    spoil(site)
    site.start("table")
    url = f"mqtts://localhost:{site.ports['table']['8883']}"

    async def main():
        listener = kit.Listener()
        async with securely(kit, site, listener, url, journal):
            await kit.until(lambda: listener.troubles)
        assert listener.troubles == [f"{url}: {line}"]

    asyncio.run(main())


def test_bridge_carries_the_public_topics_over_any_crash(site, journal, kit):
    central = site.start("central")
    table = site.start("table", "bridge")

    async def main():
        listener = kit.Listener()
        url = f"mqtt://127.0.0.1:{site.ports['table']['1883']}"
        async with securely(kit, site, listener, url, journal) as publisher:
            journal.add([], [event(1), event(1, "private")], sync=True)
            await publisher.flush()
            central.kill()
            journal.add([], [event(n) for n in range(2, 101)], sync=True)
            publisher.wake()
            await publisher.flush()
            saved = site.folder / "table-data" / "mosquitto.db"
            await kit.until(lambda: saved.exists() and b"event 100" in saved.read_bytes())
            table.kill()
            central.start()
            await at_the_centre(site, table, listener)

    asyncio.run(main())


async def at_the_centre(site, table, listener):
    async with site.director() as director:
        await director.subscribe("#", qos=1)
        table.start()
        events, topics = [], set()
        async for message in director.messages:
            topics.add(str(message.topic))
            if str(message.topic) == "felt/t1/event":
                events.append(int(message.payload.split()[1]))
            if events and events[-1] == 100:
                break
        assert [n for n in dict.fromkeys(events) if n > 1] == list(range(2, 101))
        assert not [topic for topic in topics if topic.startswith("felt-private")]
        await director.publish("felt/t1/state", b"forged", qos=1)
        while not listener.received:
            await director.publish("felt/t1/command", b"from the centre", qos=1)
            await asyncio.sleep(0.1)
        assert listener.received[0] == ("felt/t1/command", b"from the centre", False)
        async for message in director.messages:
            assert str(message.topic) != "felt/t1/state"
            if str(message.topic) == "felt/t1/command":
                break
