"""aiomqtt's defects, each shown in the library first and then not in our connection."""

from __future__ import annotations

import asyncio
import socket
import threading
from contextlib import asynccontextmanager

import aiomqtt
import pytest

from daemon._aiomqtt import Connection, LinkError, RefusedError
from daemon.address import Address

WILL = aiomqtt.Will("felt/t1/status", b"offline", qos=1, retain=True)


def connection(broker, version=4, **options):
    return Connection(Address(broker.url, version=version), "feltd-t1", WILL, **options)


class Silent:
    """Accepts TCP connections and never says a word."""

    def __init__(self, server):
        self.port = server.getsockname()[1]
        self.url = f"mqtt://127.0.0.1:{self.port}"


@pytest.fixture
def silent():
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield Silent(server)


@pytest.fixture
def guarded(mosquitto, tmp_path):
    """A Mosquitto that refuses every message outside felt/."""
    acl = tmp_path / "acl"
    acl.write_text("topic readwrite felt/#\n")
    with (tmp_path / "mosquitto.conf").open("a") as config:
        config.write(f"acl_file {acl}\n")
    mosquitto.kill()
    mosquitto.start()
    return mosquitto


def test_refused_message_looks_delivered_to_aiomqtt(guarded):
    async def main():
        five = aiomqtt.ProtocolVersion.V5
        async with aiomqtt.Client("127.0.0.1", guarded.port, protocol=five) as client:
            await client.publish("felt-private/t1/floor", b"x", qos=1)
        async with connection(guarded, version=5) as ours:
            await ours.send("felt/t1/event", b"x")
            with pytest.raises(RefusedError, match="Not authorized"):
                await ours.send("felt-private/t1/floor", b"x")
            await ours.send("felt/t1/event", b"x")

    asyncio.run(main())


async def publish_into_a_dying_broker(mosquitto):
    async with aiomqtt.Client("127.0.0.1", mosquitto.port, timeout=1) as client:
        mosquitto.freeze()
        publish = asyncio.create_task(client.publish("felt/t1/event", b"x", qos=1))
        await asyncio.sleep(0.05)
        mosquitto.kill()
        await asyncio.wait([client._disconnected])
        await asyncio.sleep(0)
        assert not publish.done()
        with pytest.raises(aiomqtt.MqttError, match="timed out"):
            await publish
        await client._disconnected


def test_lost_connection_leaves_aiomqtt_waiting(mosquitto):
    async def main():
        with pytest.raises(aiomqtt.MqttCodeError):
            await publish_into_a_dying_broker(mosquitto)
        mosquitto.start()
        async with connection(mosquitto) as ours:
            mosquitto.freeze()
            sent = [ours.send("felt/t1/event", b"x") for _ in range(30)]
            await asyncio.sleep(0.05)
            mosquitto.kill()
            await asyncio.wait([ours._disconnected])
            await asyncio.sleep(0)
            for future in sent:
                assert isinstance(future.exception(), LinkError)
            with pytest.raises(LinkError, match="connection lost"):
                ours.send("felt/t1/event", b"x")

    asyncio.run(main())


def test_second_use_is_refused(mosquitto):
    async def main():
        ours = connection(mosquitto)
        async with ours:
            await ours.send("felt/t1/event", b"x")
        with pytest.raises(LinkError, match="used once"):
            async with ours:
                pass

    asyncio.run(main())


def test_silent_server_is_no_connection(silent, monkeypatch):
    async def main():
        ours = connection(silent)
        ours.timeout = 0.1
        with pytest.raises(LinkError, match="no answer"):
            async with ours:
                pass

    asyncio.run(main())


@pytest.mark.parametrize("ticks", range(5))
def test_cancelled_reader_loses_nothing(mosquitto, ticks):
    async def main():
        async with (
            connection(mosquitto) as ours,
            aiomqtt.Client("127.0.0.1", mosquitto.port) as sender,
        ):
            await ours.listen(["felt/t1/command"])
            for n in range(20):
                reader = asyncio.create_task(ours.receive())
                await asyncio.sleep(0)
                ours._arrived.clear()
                await sender.publish("felt/t1/command", b"%d" % n, qos=1)
                await ours._arrived.wait()
                for _ in range(ticks):
                    await asyncio.sleep(0)
                reader.cancel()
                await asyncio.wait([reader])
                message = await ours.receive() if reader.cancelled() else reader.result()
                assert message[:3] == ("felt/t1/command", b"%d" % n, False)

    asyncio.run(main())


def test_aiomqtt_discards_what_it_acknowledged_and_we_do_not(mosquitto):
    async def main():
        async with (
            aiomqtt.Client("127.0.0.1", mosquitto.port, max_queued_incoming_messages=10) as theirs,
            connection(mosquitto, inbound=10) as ours,
            aiomqtt.Client("127.0.0.1", mosquitto.port) as sender,
        ):
            theirs._logger.disabled = True
            await theirs.subscribe("felt/#", qos=1)
            await ours.listen(["felt/t1/command"])
            for n in range(300):
                await sender.publish("felt/t1/command", b"%d" % n, qos=1)
            assert len(ours._inbox) == 10
            got = [(await ours.receive()).payload for _ in range(300)]
            assert got == [b"%d" % n for n in range(300)]
            await sender.publish("felt/t1/command", b"end", qos=1)
            assert (await ours.receive()).payload == b"end"
            assert len(theirs._queue._queue) <= 10

    asyncio.run(main())


def test_frozen_broker_is_noticed_by_its_missing_acknowledgements(mosquitto):
    async def main():
        async with connection(mosquitto, ack_timeout=0.1) as ours:
            await ours.send("felt/t1/event", b"x")
            mosquitto.freeze()
            with pytest.raises(LinkError, match="does not acknowledge"):
                await ours.send("felt/t1/event", b"x")
            with pytest.raises(LinkError, match="does not acknowledge"):
                await ours.receive()
        mosquitto.thaw()

    asyncio.run(main())


def test_quiet_connection_is_not_taken_for_frozen(mosquitto):
    async def main():
        async with connection(mosquitto, ack_timeout=0.05) as ours:
            for _ in range(3):
                await ours.send("felt/t1/event", b"x")
                await asyncio.sleep(0.2)
            await ours.send("felt/t1/event", b"x")

    asyncio.run(main())


def test_will_is_executed_when_the_connection_breaks_and_not_after_goodbye(mosquitto):
    async def main():
        async with aiomqtt.Client("127.0.0.1", mosquitto.port) as watcher:
            await watcher.subscribe("felt/#", qos=1)
            async with connection(mosquitto) as ours:
                await ours.send("felt/t1/event", b"1")
            async with connection(mosquitto) as ours:
                await ours.send("felt/t1/event", b"2")
                ours._client.socket().shutdown(socket.SHUT_RDWR)
                await asyncio.wait([ours._disconnected])
            topics = [str((await anext(watcher.messages)).topic) for _ in range(3)]
            assert topics == ["felt/t1/event", "felt/t1/event", "felt/t1/status"]

    asyncio.run(main())


@asynccontextmanager
async def unreachable():
    """An address whose connection attempt neither succeeds nor fails: its queue is full."""
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        server.listen(0)
        with socket.create_connection(server.getsockname()):
            yield Silent(server)


def test_end_of_the_program_does_not_wait_for_a_connection_attempt():
    async def main():
        async with unreachable() as nowhere:
            task = asyncio.create_task(connection(nowhere).__aenter__())
            await asyncio.sleep(0.1)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task

    asyncio.run(main())
    assert "mqtt-connect" in {thread.name for thread in threading.enumerate()}


def test_wrong_password_and_missing_password_file_are_one_line(guarded, tmp_path):
    (tmp_path / "pw").write_text("secret\nsecond line\n")
    with (tmp_path / "mosquitto.conf").open("a") as config:
        config.write(f"password_file {tmp_path}/none\n")
    (tmp_path / "none").write_text("")
    (tmp_path / "mosquitto.conf").write_text(
        (tmp_path / "mosquitto.conf").read_text().replace("anonymous true", "anonymous false")
    )
    guarded.kill()
    guarded.start()

    async def main(version):
        address = Address(guarded.url, "table", tmp_path / "pw", version=version)
        assert address.password() == "secret"
        with pytest.raises(LinkError, match=r"^refused: not authori[sz]ed$"):
            async with Connection(address, "x", WILL):
                pass
        missing = Address(guarded.url, "table", tmp_path / "no")
        with pytest.raises(LinkError, match=r"no: no such file or directory$"):
            Connection(missing, "x", WILL)

    for version in (4, 5):
        asyncio.run(main(version))
