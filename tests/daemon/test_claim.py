from __future__ import annotations

import asyncio
import json
from contextlib import closing

import aiomqtt
import pytest

from daemon.address import Address
from daemon.claim import Claim, SecondDaemonError, Topics
from daemon.journal import Journal
from daemon.mqtt import Publisher

TOPICS = Topics("felt", "t1")


@pytest.mark.parametrize("kind", ["mosquitto", "nats"])
def test_second_daemon_stops_and_the_first_goes_on(request, journal, tmp_path, kind, kit):
    broker = request.getfixturevalue(kind)

    async def main():
        listener = kit.Listener()
        async with kit.published(broker, journal, listener) as publisher:
            await kit.until(lambda: publisher.connected)
            await publisher.flush()
            with closing(Journal.open(tmp_path / "other", 0.0)) as other_journal:
                other_journal.add([], kit.events(1, 1), sync=True)
                other = Publisher(
                    Address(broker.url), TOPICS, other_journal, kit.Listener("e2"), grace=30
                )
                with pytest.raises(SecondDaemonError, match="already runs table t1"):
                    await other.run()
                assert len(other_journal.unsent(9)) == 1
            assert listener.rivals == [other.instance]
            journal.add([], kit.events(1, 1), sync=True)
            publisher.wake()
            await publisher.flush()
            async with kit.overlay(broker) as watcher:
                await kit.until(lambda: watcher.messages)
                assert json.loads(watcher.messages[0][1]) == {"online": True, "epoch": "e1"}

    asyncio.run(main())


@pytest.mark.parametrize(
    ("mine", "others", "held", "goes_on"),
    [
        (None, "b", None, True),
        (None, "0", None, False),
        (None, "b", 0.0, False),
        (0.0, "0", None, True),
        (0.0, "0", 5.0, False),
        (9.0, "0", 5.0, True),
        (5.2, "0", 5.0, False),
        (4.8, "b", 5.0, True),
    ],
)
def test_who_of_two_daemons_goes_on(mine, others, held, goes_on):
    class Line:
        sent = ()

        def send(self, topic, payload):
            self.sent = (topic, json.loads(payload))
            return asyncio.get_running_loop().create_future()

    async def main():
        claim, line = Claim(TOPICS, "a", "e1", 0.0), Line()
        if mine is not None:
            claim._since = asyncio.get_running_loop().time() - mine
        message = json.dumps({"instance": others, "held": held}).encode()
        if not goes_on:
            with pytest.raises(SecondDaemonError):
                claim.heard(line, message)
            return
        assert claim.heard(line, message) == others
        assert line.sent[0] == "felt-private/t1/daemon"
        assert line.sent[1]["instance"] == "a"
        assert (line.sent[1]["held"] is None) == (mine is None)

    asyncio.run(main())


def test_rubbish_on_the_claim_topic_means_nothing():
    async def main():
        claim = Claim(TOPICS, "a", "e1", 0.0)
        for rubbish in (
            b"",
            b"[]",
            b'{"instance": 1}',
            b'{"instance": "b", "held": "x"}',
            b"[" * 9999,
        ):
            assert claim.heard(None, rubbish) is None
            assert claim.heard_status(rubbish, retained=True) is False

    asyncio.run(main())


@pytest.mark.parametrize("epoch", ["dead daemon", "ours"])
def test_stale_online_status_only_costs_the_grace(mosquitto, journal, epoch, kit):
    grace = 0.3 if epoch == "dead daemon" else 3600
    stale = {"online": True, "epoch": journal.epoch if epoch == "ours" else epoch}

    async def main():
        async with aiomqtt.Client("127.0.0.1", mosquitto.port) as client:
            await client.publish("felt/t1/status", json.dumps(stale), qos=1, retain=True)
        async with kit.published(mosquitto, journal, kit.Listener("e1"), grace=grace) as publisher:
            await kit.until(lambda: publisher.connected)

    asyncio.run(main())


def test_late_will_of_an_earlier_connection_is_put_right(mosquitto, journal, kit):
    async def main():
        async with kit.published(mosquitto, journal, kit.Listener()) as publisher:
            await kit.until(lambda: publisher.connected)
            await publisher.flush()
            async with (
                kit.overlay(mosquitto) as watcher,
                aiomqtt.Client("127.0.0.1", mosquitto.port) as old,
            ):
                offline = json.dumps({"online": False, "epoch": "e1"})
                await old.publish("felt/t1/status", offline, qos=1, retain=True)
                await kit.until(lambda: len(watcher.messages) >= 3)
                assert json.loads(watcher.messages[2][1])["online"] is True

    asyncio.run(main())
