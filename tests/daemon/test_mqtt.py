from __future__ import annotations

import asyncio
import json
from contextlib import asynccontextmanager, closing

import aiomqtt
import pytest

from daemon.address import Address
from daemon.claim import SecondDaemonError, Topics
from daemon.journal import Journal, Outgoing
from daemon.mqtt import Publisher

TOPICS = Topics("felt", "t1")


@pytest.fixture
def journal(tmp_path):
    with closing(Journal.open(tmp_path / "t1", 0.0)) as opened:
        yield opened


class Listener:
    """Keeps what it hears, and waits for it."""

    def __init__(self, epoch="e1"):
        self.epoch = epoch
        self.received = []
        self.troubles = []
        self.rivals = []
        self.refusals = []
        self.retained = []
        self.heard = asyncio.Event()

    async def inbound(self, topic, payload, *, retained):
        self.received.append((topic, payload, retained))
        self.heard.set()

    def status(self, *, online):
        return json.dumps({"online": online, "epoch": self.epoch}).encode()

    def on_connect(self):
        return self.retained

    def refused(self, message, reason):
        self.refusals.append((message.topic, reason))

    def trouble(self, line):
        self.troubles.append(line)
        self.heard.set()

    def rival(self, instance):
        self.rivals.append(instance)


async def until(condition):
    while not condition():  # noqa: ASYNC110 - conditions of other programs have no event
        await asyncio.sleep(0.005)


@asynccontextmanager
async def published(broker, journal, listener, **options):
    address = Address(broker.url, version=options.pop("version", 4))
    publisher = Publisher(address, TOPICS, journal, listener, **options)
    task = asyncio.create_task(publisher.run())
    try:
        yield publisher
    finally:
        task.cancel()
        await asyncio.wait([task])
    if not task.cancelled():
        task.result()


class Overlay:
    """A subscriber in its own connection."""

    def __init__(self, client):
        self.client = client
        self.messages = []

    async def read(self):
        async for message in self.client.messages:
            self.messages.append((str(message.topic), message.payload, message.retain))

    def payloads(self, topic):
        return [payload for name, payload, _ in self.messages if name == topic]


@asynccontextmanager
async def overlay(broker, topic="felt/#"):
    async with aiomqtt.Client("127.0.0.1", broker.port) as client:
        watcher = Overlay(client)
        await client.subscribe(topic, qos=1)
        task = asyncio.create_task(watcher.read())
        yield watcher
        task.cancel()


def events(first, last):
    return [Outgoing("public", n, "felt/t1/event", b"%d" % n) for n in range(first, last + 1)]


@pytest.mark.parametrize("kind", ["mosquitto", "nats"])
@pytest.mark.parametrize("version", [4, 5])
def test_outbox_is_told_in_order_and_emptied(request, journal, kind, version):
    if (kind, version) == ("nats", 5):
        pytest.skip("nats-server speaks MQTT 3.1.1")
    broker = request.getfixturevalue(kind)

    async def main():
        journal.add([], events(1, 200), sync=True)
        async with (
            overlay(broker) as watcher,
            published(broker, journal, Listener(), version=version) as publisher,
        ):
            await publisher.flush()
            journal.add([], events(201, 250), sync=True)
            publisher.wake()
            await publisher.flush()
            assert journal.unsent(1) == []
            await until(lambda: len(watcher.payloads("felt/t1/event")) >= 250)
            assert watcher.payloads("felt/t1/event") == [b"%d" % n for n in range(1, 251)]
        assert [m.seq for m in journal.range("public", 240).messages] == list(range(240, 251))

    asyncio.run(main())


@pytest.mark.parametrize("kind", ["mosquitto", "nats"])
def test_status_is_retained_and_says_offline_at_the_end(request, journal, kind):
    broker = request.getfixturevalue(kind)

    async def main():
        async with published(broker, journal, Listener()) as publisher:
            await until(lambda: publisher.connected)
            await publisher.flush()
            async with overlay(broker) as watcher:
                await until(lambda: watcher.messages)
                assert watcher.messages[0][2]
                assert json.loads(watcher.messages[0][1])["online"] is True
                await until(lambda: True)
        async with overlay(broker) as watcher:
            await until(lambda: watcher.messages)
            assert json.loads(watcher.messages[0][1])["online"] is False

    asyncio.run(main())


@pytest.mark.parametrize("kind", ["mosquitto", "nats"])
def test_commands_come_in_and_retained_ones_say_so(request, journal, kind):
    broker = request.getfixturevalue(kind)

    async def main():
        listener = Listener()
        async with aiomqtt.Client("127.0.0.1", broker.port) as floor:
            await floor.publish("felt/t1/command", b"forged", qos=1, retain=True)
            async with published(broker, journal, listener) as publisher:
                await until(lambda: listener.received)
                assert listener.received == [("felt/t1/command", b"forged", True)]
                for topic in (*TOPICS.inbound, "felt/t2/command"):
                    await floor.publish(topic, topic.encode(), qos=1)
                await until(lambda: len(listener.received) >= 5)
                # nats-server keeps the order of a subscription, not that among several
                assert sorted(listener.received[1:]) == [
                    (t, t.encode(), False) for t in sorted(TOPICS.inbound)
                ]
                assert publisher.connected

    asyncio.run(main())


def test_broker_that_dies_costs_nothing_and_one_line(mosquitto, journal):
    async def main():
        listener = Listener()
        newest = Outgoing("public", None, "felt/t1/state", b"told again", retain=True)
        listener.retained = [newest]
        async with published(mosquitto, journal, listener) as publisher:
            journal.add([], events(1, 30), sync=True)
            await until(lambda: publisher.connected)
            await publisher.flush()
            mosquitto.kill()
            await until(lambda: listener.troubles)
            journal.add([], events(31, 60), sync=True)
            publisher.wake()
            mosquitto.start()
            async with overlay(mosquitto) as watcher:
                await publisher.flush()
                await until(lambda: len(watcher.payloads("felt/t1/event")) >= 30)
                await until(lambda: watcher.payloads("felt/t1/state"))
                assert watcher.payloads("felt/t1/event") == [b"%d" % n for n in range(31, 61)]
        assert listener.troubles[0] == f"{mosquitto.url}: connection lost"
        assert listener.troubles[1:] in ([], [f"{mosquitto.url}: connection refused"])

    asyncio.run(main())


def test_no_older_retained_message_overtakes_the_outbox(mosquitto, journal):
    async def main():
        listener = Listener()
        listener.retained = [
            Outgoing("public", None, "felt/t1/state", b"older", retain=True),
            Outgoing("public", None, "felt/t1/reader/rail", b"up", retain=True),
        ]
        newer = Outgoing("public", None, "felt/t1/state", b"newer", retain=True)
        journal.add([], [*events(1, 3), newer], sync=True)
        async with overlay(mosquitto) as watcher:
            async with published(mosquitto, journal, listener) as publisher:
                await until(lambda: publisher.connected)
                await publisher.flush()
            await until(lambda: len(watcher.messages) >= 7)
            assert watcher.payloads("felt/t1/state") == [b"newer"]
            assert watcher.payloads("felt/t1/reader/rail") == [b"up"]

    asyncio.run(main())


def test_posted_messages_are_told_and_only_the_newest_of_a_retained_topic(mosquitto, journal):
    async def main():
        async with (
            overlay(mosquitto) as watcher,
            published(mosquitto, journal, Listener()) as publisher,
        ):
            await publisher.post(Outgoing("public", None, "felt/t1/metrics", b"1", retain=True))
            await publisher.post(Outgoing("public", None, "felt/t1/metrics", b"2", retain=True))
            await publisher.post(Outgoing("public", 7, "felt/t1/event", b"lost"))
            await until(lambda: publisher.connected)
            for n in range(500):
                await publisher.post(Outgoing("public", n, "felt/t1/event", b"%d" % n))
            await publisher.flush()
            await until(lambda: len(watcher.payloads("felt/t1/event")) >= 500)
            assert watcher.payloads("felt/t1/metrics") == [b"2"]
            assert watcher.payloads("felt/t1/event") == [b"%d" % n for n in range(500)]

    asyncio.run(main())


def test_refused_message_is_reported_and_not_sent_again(mosquitto, journal, tmp_path):
    acl = tmp_path / "acl"
    acl.write_text("topic readwrite felt/t1/#\ntopic readwrite felt-private/t1/daemon\n")
    with (tmp_path / "mosquitto.conf").open("a") as config:
        config.write(f"acl_file {acl}\n")
    mosquitto.kill()
    mosquitto.start()

    async def main():
        listener = Listener()
        secret = Outgoing("private", 1, "felt-private/t1/hole-cards", b"{}")
        journal.add([], [*events(1, 1), secret, *events(2, 2)], sync=True)
        async with (
            overlay(mosquitto) as watcher,
            published(mosquitto, journal, listener, version=5) as publisher,
        ):
            await publisher.flush()
            await until(lambda: len(watcher.payloads("felt/t1/event")) == 2)
        assert listener.refusals == [("felt-private/t1/hole-cards", "Not authorized")]
        assert journal.unsent(9) == []

    asyncio.run(main())


def test_frozen_broker_is_left_and_found_again(mosquitto, journal):
    async def main():
        listener = Listener()
        async with published(mosquitto, journal, listener, ack_timeout=0.2) as publisher:
            await until(lambda: publisher.connected)
            await publisher.flush()
            mosquitto.freeze()
            journal.add([], events(1, 50), sync=True)
            publisher.wake()
            await until(lambda: listener.troubles)
            mosquitto.thaw()
            await publisher.flush()
        assert listener.troubles[0] == f"{mosquitto.url}: the broker does not acknowledge"

    asyncio.run(main())


def test_stop_is_quick_while_the_broker_is_frozen(mosquitto, journal):
    async def main():
        loop = asyncio.get_running_loop()
        async with published(mosquitto, journal, Listener()) as publisher:
            await until(lambda: publisher.connected)
            await publisher.flush()
            mosquitto.freeze()
            journal.add([], events(1, 5), sync=True)
            publisher.wake()
            began = loop.time()
        mosquitto.thaw()
        return loop.time() - began

    assert asyncio.run(main()) < 5


@pytest.mark.parametrize("kind", ["mosquitto", "nats"])
def test_second_daemon_stops_and_the_first_goes_on(request, journal, tmp_path, kind):
    broker = request.getfixturevalue(kind)

    async def main():
        listener = Listener()
        async with published(broker, journal, listener) as publisher:
            await until(lambda: publisher.connected)
            await publisher.flush()
            with closing(Journal.open(tmp_path / "other", 0.0)) as other_journal:
                other_journal.add([], events(1, 1), sync=True)
                other = Publisher(
                    Address(broker.url), TOPICS, other_journal, Listener("e2"), grace=30
                )
                with pytest.raises(SecondDaemonError, match="already runs table t1"):
                    await other.run()
                assert len(other_journal.unsent(9)) == 1
            assert listener.rivals == [other.instance]
            journal.add([], events(1, 1), sync=True)
            publisher.wake()
            await publisher.flush()
            async with overlay(broker) as watcher:
                await until(lambda: watcher.messages)
                assert json.loads(watcher.messages[0][1]) == {"online": True, "epoch": "e1"}

    asyncio.run(main())


@pytest.mark.parametrize("epoch", ["dead daemon", "ours"])
def test_stale_online_status_only_costs_the_grace(mosquitto, journal, epoch):
    grace = 0.3 if epoch == "dead daemon" else 3600
    stale = {"online": True, "epoch": journal.epoch if epoch == "ours" else epoch}

    async def main():
        async with aiomqtt.Client("127.0.0.1", mosquitto.port) as client:
            await client.publish("felt/t1/status", json.dumps(stale), qos=1, retain=True)
        async with published(mosquitto, journal, Listener("e1"), grace=grace) as publisher:
            await until(lambda: publisher.connected)

    asyncio.run(main())


def test_late_will_of_an_earlier_connection_is_put_right(mosquitto, journal):
    async def main():
        async with published(mosquitto, journal, Listener()) as publisher:
            await until(lambda: publisher.connected)
            await publisher.flush()
            async with (
                overlay(mosquitto) as watcher,
                aiomqtt.Client("127.0.0.1", mosquitto.port) as old,
            ):
                offline = json.dumps({"online": False, "epoch": "e1"})
                await old.publish("felt/t1/status", offline, qos=1, retain=True)
                await until(lambda: len(watcher.messages) >= 3)
                assert json.loads(watcher.messages[2][1])["online"] is True

    asyncio.run(main())


def test_broker_that_is_not_there_is_one_line(journal, tmp_path):
    class Nowhere:
        url = f"unix://{tmp_path}/no.sock"

    async def main():
        listener = Listener()
        async with published(Nowhere, journal, listener):
            await asyncio.wait_for(listener.heard.wait(), 10)
            await asyncio.sleep(1)
        assert listener.troubles == [f"{Nowhere.url}: no such file or directory"]

    asyncio.run(main())
