"""Messages that a broker will not take, and says so by hanging up."""

from __future__ import annotations

import asyncio
import json
import threading

import pytest

from daemon import mqtt
from daemon._aiomqtt import WINDOW
from daemon.address import Address
from daemon.claim import Topics
from daemon.journal import Outgoing
from daemon.outbox import STRIKES

TOPICS = Topics("felt", "t1")
LIMIT = 2000
BIG = b'{"seq": 31, "much": "%s"}' % (b"x" * LIMIT)
HANGS_UP = f"{STRIKES} connections broke at it"


@pytest.fixture(autouse=True)
def quick(monkeypatch):
    """Try again soon, as nobody else is at the broker."""
    monkeypatch.setattr(mqtt, "FIRST_DELAY", 0.02)
    monkeypatch.setattr(mqtt, "LONGEST_DELAY", 0.1)


@pytest.fixture
def strict(request, tmp_path):
    """`strict(kind)`: a broker that takes no packet, or no payload, above LIMIT bytes."""

    def start(kind):
        broker = request.getfixturevalue(kind.partition(" ")[0])
        name, line = {
            "mosquitto": ("mosquitto.conf", f"max_packet_size {LIMIT}\n"),
            "mosquitto payload": ("mosquitto.conf", f"message_size_limit {LIMIT}\n"),
            "nats": ("nats.conf", f"max_payload: {LIMIT}\n"),
        }[kind]
        with (tmp_path / name).open("a") as config:
            config.write(line)
        broker.kill()
        broker.start()
        return broker

    return start


def told(journal):
    with journal._file.reading() as db:
        return dict(db.execute("SELECT seq, told FROM messages WHERE seq IS NOT NULL"))


@pytest.mark.parametrize(
    ("kind", "version", "reason"),
    [
        ("mosquitto", 4, HANGS_UP),
        ("mosquitto", 5, "Packet too large"),
        ("mosquitto payload", 5, HANGS_UP),
        ("nats", 4, HANGS_UP),
        ("nats", 5, HANGS_UP),
    ],
)
def test_what_is_too_large_is_set_aside_and_the_rest_is_told(
    strict, journal, kit, kind, version, reason
):
    broker = strict(kind)
    big = Outgoing("public", 31, "felt/t1/event", BIG)

    async def main():
        listener = kit.Listener()
        journal.add([], [*kit.events(1, 30), big, *kit.events(32, 90)], sync=True)
        async with (
            kit.overlay(broker) as watcher,
            kit.published(broker, journal, listener, version=version) as publisher,
        ):
            await publisher.flush()
            await kit.until(lambda: b"90" in watcher.payloads("felt/t1/event"))
            assert publisher._window._value == WINDOW
            return watcher.payloads("felt/t1/event"), listener.refusals

    heard, refusals = asyncio.run(main())
    assert [*dict.fromkeys(heard)] == [b"%d" % n for n in range(1, 91) if n != 31]
    assert refusals == [("felt/t1/event", reason)]
    assert told(journal) == {n: 2 if n == 31 else 1 for n in range(1, 91)}


def test_a_retained_message_that_is_too_large_does_not_come_again(strict, journal, kit):
    broker = strict("mosquitto")

    async def main():
        listener = kit.Listener()
        listener.retained = [Outgoing("public", None, "felt/t1/showdown", BIG, retain=True)]
        async with kit.published(broker, journal, listener) as publisher:
            journal.add([], kit.events(1, 5), sync=True)
            publisher.wake()
            await publisher.flush()
            broker.kill()
            broker.start()
            journal.add([], kit.events(6, 9), sync=True)
            await publisher.flush()
            smaller = Outgoing("public", None, "felt/t1/showdown", b"{}", retain=True)
            await publisher.post(smaller)
            await publisher.flush()
        async with kit.overlay(broker) as watcher:
            await kit.until(lambda: watcher.payloads("felt/t1/showdown") == [b"{}"])
        return listener

    listener = asyncio.run(main())
    assert listener.refusals == [("felt/t1/showdown", HANGS_UP)]
    assert set(told(journal).values()) == {1}


class Cutter:
    """Passes everything on to a broker, but `left` times it cuts the line at some bytes.

    With `silent` it keeps the line and swallows whatever follows.
    """

    def __init__(self, broker, at, left, *, silent=False):
        self.broker, self.at, self.left, self.silent = broker, at, left, silent
        self.url = ""

    async def __aenter__(self):
        self.server = await asyncio.start_server(self.serve, "127.0.0.1", 0)
        self.url = f"mqtt://127.0.0.1:{self.server.sockets[0].getsockname()[1]}"
        return self

    async def __aexit__(self, *_):
        self.server.close()

    async def serve(self, reader, writer):
        inner, outer = await asyncio.open_connection("127.0.0.1", self.broker.port)
        outer.write(await reader.read(1 << 16))
        back = asyncio.create_task(self.copy(inner, writer))
        while data := await reader.read(1 << 16):
            if self.at in data and self.left:
                self.left -= 1
                while self.silent and await reader.read(1 << 16):
                    pass
                break
            outer.write(data)
        back.cancel()
        outer.transport.abort()
        writer.transport.abort()

    async def copy(self, reader, writer):
        while data := await reader.read(1 << 16):
            writer.write(data)


@pytest.mark.parametrize(
    ("marker", "breaks"),
    [(b'"online": true', 3 * STRIKES), (b"the one", STRIKES)],
    ids=["before anything was taken", "at one message, then it holds"],
)
def test_a_line_that_breaks_now_and_then_costs_nothing(mosquitto, journal, kit, marker, breaks):
    """Before anything was taken it proves nothing; a first break has more than one suspect."""

    async def main():
        listener = kit.Listener()
        async with Cutter(mosquitto, marker, breaks) as line:
            message = Outgoing("public", 41, "felt/t1/event", b"the one")
            journal.add([], [*kit.events(1, 40), message], sync=True)
            async with kit.published(line, journal, listener) as publisher:
                await publisher.flush()
            assert line.left == 0
        return listener

    assert asyncio.run(main()).refusals == []
    assert set(told(journal).values()) == {1}


def test_a_broker_that_falls_silent_refuses_nothing(mosquitto, journal, kit):
    async def main():
        listener = kit.Listener()
        async with Cutter(mosquitto, b"the one", 2 * STRIKES, silent=True) as line:
            message = Outgoing("public", 41, "felt/t1/event", b"the one")
            journal.add([], [*kit.events(1, 40), message], sync=True)
            async with kit.published(line, journal, listener, ack_timeout=0.1) as publisher:
                await publisher.flush()
            assert line.left == 0
        return listener

    listener = asyncio.run(main())
    assert listener.refusals == []
    assert listener.troubles[0].endswith("the broker does not acknowledge")
    assert set(told(journal).values()) == {1}


def test_a_refusal_that_is_being_filed_as_the_session_ends_is_filed_in_the_next(
    mosquitto, journal, kit, monkeypatch
):
    begun, go_on = threading.Event(), threading.Event()

    def slowly(ids):
        begun.set()
        go_on.wait()

    async def main():
        publisher = mqtt.Publisher(Address(mosquitto.url), TOPICS, journal, kit.Listener())
        publisher._acked, publisher._refused = [1], [2]
        with monkeypatch.context() as patch:
            patch.setattr(journal, "acknowledged", slowly)
            filing = asyncio.create_task(publisher._file_acks())
            await asyncio.to_thread(begun.wait)
            filing.cancel()
            await asyncio.wait([filing])
            go_on.set()
        assert told(journal) == {1: 0, 2: 0}
        await publisher._file_acks()

    journal.add([], kit.events(1, 2), sync=True)
    asyncio.run(main())
    assert told(journal) == {1: 1, 2: 2}


def command(id_, names):
    return json.dumps({"id": id_, "by": "test", "type": "set-names", "names": names})


@pytest.mark.parametrize("kind", ["mosquitto", "nats"])
def test_the_floor_hears_of_a_picture_that_is_too_large(live, strict, tmp_path, kind):
    """Long names make `state` larger than this broker takes; the hand goes on."""
    broker = strict(kind)
    table = live.Table(tmp_path, broker.url, seats=10)
    names = {str(seat): "\N{GRINNING FACE}" * 40 for seat in range(1, 11)}

    async def go():
        async with (
            table.plugged_in(),
            live.audience("127.0.0.1", broker.port) as heard,
            table.running(),
        ):
            await heard.until("reader/rail", up=True)
            for seat, name in names.items():
                await heard.client.publish("felt/demo/command", command(seat, {seat: name}), qos=1)
            await heard.until("alert", kind="refused-message", zone="felt/demo/state")
            assert (await heard.command("start-hand", seats=[1, 2], button=1))["ok"]
            await heard.until("event", type="hand-started")
            body = command("none", dict.fromkeys(names, ""))
            await heard.client.publish("felt/demo/command", body, qos=1)
            await live.until(lambda: heard.of("state")[-1].get("hand") == 1)
            await table.stop()
            return heard

    heard = asyncio.run(go())
    numbers = heard.counted()
    assert sorted(numbers) == list(range(1, max(numbers) + 1))
    refused = table.said("the broker refuses felt/demo/state")
    assert len(refused) > 1
    assert len(table.said("connected to")) == (1 if kind == "mosquitto" else STRIKES + 2)
