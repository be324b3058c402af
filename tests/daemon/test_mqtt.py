from __future__ import annotations

import asyncio
import json

import aiomqtt
import pytest

from daemon.claim import Topics
from daemon.journal import Outgoing

TOPICS = Topics("felt", "t1")


@pytest.mark.parametrize("kind", ["mosquitto", "nats"])
@pytest.mark.parametrize("version", [4, 5])
def test_outbox_is_told_in_order_and_emptied(request, journal, kind, version, kit):
    """NATS speaks MQTT 3.1.1, so there the publisher has to go back to that."""
    broker = request.getfixturevalue(kind)

    async def main():
        journal.add([], kit.events(1, 200), sync=True)
        async with (
            kit.overlay(broker) as watcher,
            kit.published(broker, journal, kit.Listener(), version=version) as publisher,
        ):
            await publisher.flush()
            journal.add([], kit.events(201, 250), sync=True)
            publisher.wake()
            await publisher.flush()
            assert journal.unsent(1) == []
            await kit.until(lambda: len(watcher.payloads("felt/t1/event")) >= 250)
            assert watcher.payloads("felt/t1/event") == [b"%d" % n for n in range(1, 251)]
        assert [m.seq for m in journal.range("public", 240).messages] == list(range(240, 251))

    asyncio.run(main())


@pytest.mark.parametrize("kind", ["mosquitto", "nats"])
def test_status_is_retained_and_says_offline_at_the_end(request, journal, kind, kit):
    broker = request.getfixturevalue(kind)

    async def main():
        async with kit.published(broker, journal, kit.Listener()) as publisher:
            await kit.until(lambda: publisher.connected)
            await publisher.flush()
            async with kit.overlay(broker) as watcher:
                await kit.until(lambda: watcher.messages)
                assert watcher.messages[0][2]
                assert json.loads(watcher.messages[0][1])["online"] is True
        async with kit.overlay(broker) as watcher:
            await kit.until(lambda: watcher.messages)
            assert json.loads(watcher.messages[0][1])["online"] is False

    asyncio.run(main())


@pytest.mark.parametrize("kind", ["mosquitto", "nats"])
def test_commands_come_in_and_retained_ones_say_so(request, journal, kind, kit):
    broker = request.getfixturevalue(kind)

    async def main():
        listener = kit.Listener()
        async with aiomqtt.Client("127.0.0.1", broker.port) as floor:
            await floor.publish("felt/t1/command", b"forged", qos=1, retain=True)
            async with kit.published(broker, journal, listener) as publisher:
                await kit.until(lambda: listener.received)
                assert listener.received == [("felt/t1/command", b"forged", True)]
                for topic in (*TOPICS.inbound, "felt/t2/command"):
                    await floor.publish(topic, topic.encode(), qos=1)
                await kit.until(lambda: len(listener.received) >= 5)
                # nats-server keeps the order of a subscription, not that among several
                assert sorted(listener.received[1:]) == [
                    (t, t.encode(), False) for t in sorted(TOPICS.inbound)
                ]
                assert publisher.connected

    asyncio.run(main())


def test_broker_that_dies_costs_nothing_and_one_line(mosquitto, journal, kit):
    async def main():
        listener = kit.Listener()
        newest = Outgoing("public", None, "felt/t1/state", b"told again", retain=True)
        listener.retained = [newest]
        async with kit.published(mosquitto, journal, listener) as publisher:
            journal.add([], kit.events(1, 30), sync=True)
            await kit.until(lambda: publisher.connected)
            await publisher.flush()
            mosquitto.kill()
            await kit.until(lambda: listener.troubles)
            journal.add([], kit.events(31, 60), sync=True)
            publisher.wake()
            mosquitto.start()
            async with kit.overlay(mosquitto) as watcher:
                await publisher.flush()
                await kit.until(lambda: len(watcher.payloads("felt/t1/event")) >= 30)
                await kit.until(lambda: watcher.payloads("felt/t1/state"))
                assert watcher.payloads("felt/t1/event") == [b"%d" % n for n in range(31, 61)]
        assert listener.troubles[0] == f"{mosquitto.url}: connection lost"
        assert listener.troubles[1:] in ([], [f"{mosquitto.url}: connection refused"])

    asyncio.run(main())


def test_no_older_retained_message_overtakes_the_outbox(mosquitto, journal, kit):
    async def main():
        listener = kit.Listener()
        listener.retained = [
            Outgoing("public", None, "felt/t1/state", b"older", retain=True),
            Outgoing("public", None, "felt/t1/reader/rail", b"up", retain=True),
        ]
        newer = Outgoing("public", None, "felt/t1/state", b"newer", retain=True)
        journal.add([], [*kit.events(1, 3), newer], sync=True)
        async with kit.overlay(mosquitto) as watcher:
            async with kit.published(mosquitto, journal, listener) as publisher:
                await kit.until(lambda: publisher.connected)
                await publisher.flush()
            await kit.until(lambda: len(watcher.messages) >= 7)
            assert watcher.payloads("felt/t1/state") == [b"newer"]
            assert watcher.payloads("felt/t1/reader/rail") == [b"up"]

    asyncio.run(main())


def test_posted_messages_are_told_and_only_the_newest_of_a_retained_topic(mosquitto, journal, kit):
    async def main():
        async with (
            kit.overlay(mosquitto) as watcher,
            kit.published(mosquitto, journal, kit.Listener()) as publisher,
        ):
            await publisher.post(Outgoing("public", None, "felt/t1/metrics", b"1", retain=True))
            await publisher.post(Outgoing("public", None, "felt/t1/metrics", b"2", retain=True))
            await publisher.post(Outgoing("public", 7, "felt/t1/event", b"lost"))
            await kit.until(lambda: publisher.connected)
            for n in range(500):
                await publisher.post(Outgoing("public", n, "felt/t1/event", b"%d" % n))
            await publisher.flush()
            await kit.until(lambda: len(watcher.payloads("felt/t1/event")) >= 500)
            assert watcher.payloads("felt/t1/metrics") == [b"2"]
            assert watcher.payloads("felt/t1/event") == [b"%d" % n for n in range(500)]

    asyncio.run(main())


def test_refused_message_is_reported_and_not_sent_again(mosquitto, journal, tmp_path, kit):
    acl = tmp_path / "acl"
    acl.write_text("topic readwrite felt/t1/#\ntopic readwrite felt-private/t1/daemon\n")
    with (tmp_path / "mosquitto.conf").open("a") as config:
        config.write(f"acl_file {acl}\n")
    mosquitto.kill()
    mosquitto.start()

    async def main():
        listener = kit.Listener()
        secret = Outgoing("private", 1, "felt-private/t1/hole-cards", b"{}")
        journal.add([], [*kit.events(1, 1), secret, *kit.events(2, 2)], sync=True)
        async with (
            kit.overlay(mosquitto) as watcher,
            kit.published(mosquitto, journal, listener, version=5) as publisher,
        ):
            await publisher.flush()
            await kit.until(lambda: len(watcher.payloads("felt/t1/event")) == 2)
        assert listener.refusals == [("felt-private/t1/hole-cards", "Not authorized")]
        assert journal.unsent(9) == []

    asyncio.run(main())


def test_frozen_broker_is_left_and_found_again(mosquitto, journal, kit):
    async def main():
        listener = kit.Listener()
        async with kit.published(mosquitto, journal, listener, ack_timeout=0.2) as publisher:
            await kit.until(lambda: publisher.connected)
            await publisher.flush()
            mosquitto.freeze()
            journal.add([], kit.events(1, 50), sync=True)
            publisher.wake()
            await kit.until(lambda: listener.troubles)
            mosquitto.thaw()
            await publisher.flush()
        assert listener.troubles[0] == f"{mosquitto.url}: the broker does not acknowledge"

    asyncio.run(main())


def test_stop_is_quick_while_the_broker_is_frozen(mosquitto, journal, kit):
    async def main():
        loop = asyncio.get_running_loop()
        async with kit.published(mosquitto, journal, kit.Listener()) as publisher:
            await kit.until(lambda: publisher.connected)
            await publisher.flush()
            mosquitto.freeze()
            journal.add([], kit.events(1, 5), sync=True)
            publisher.wake()
            began = loop.time()
        mosquitto.thaw()
        return loop.time() - began

    assert asyncio.run(main()) < 5


def test_broker_that_is_not_there_is_one_line(journal, tmp_path, kit):
    class Nowhere:
        url = f"unix://{tmp_path}/no.sock"

    async def main():
        listener = kit.Listener()
        async with kit.published(Nowhere, journal, listener):
            await asyncio.wait_for(listener.heard.wait(), 10)
            await asyncio.sleep(1)
        assert listener.troubles == [f"{Nowhere.url}: no such file or directory"]

    asyncio.run(main())


@pytest.mark.parametrize("ticks", range(6))
def test_stop_is_heard_while_the_connection_breaks(mosquitto, journal, ticks, kit):
    async def main():
        listener = kit.Listener()
        async with kit.published(mosquitto, journal, listener) as publisher:
            await kit.until(lambda: publisher.connected)
            mosquitto.freeze()
            journal.add([], kit.events(1, 50), sync=True)
            publisher.wake()
            await asyncio.sleep(0.05)
            mosquitto.kill()
            for _ in range(ticks):
                await asyncio.sleep(0)

    asyncio.run(main())
