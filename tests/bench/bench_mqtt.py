"""From the journal to a subscriber through Mosquitto on loopback, beside a bare aiomqtt publish.

Run: `python tests/bench/bench_mqtt.py`
"""

from __future__ import annotations

import asyncio
import os
import socket
import struct
import subprocess
import sys
import tempfile
from contextlib import asynccontextmanager, closing, suppress
from pathlib import Path
from time import perf_counter, sleep

import aiomqtt

from daemon.address import Address
from daemon.journal import Journal, Outgoing
from daemon.mqtt import Publisher, Topics

MESSAGES = 2000
RATE = 200.0
PADDING = bytes(492)
BURST = 10_000


class Listener:
    """Nobody asks for anything here."""

    async def inbound(self, received):
        raise AssertionError(received.topic)

    def status(self, *, online):
        return b'{"online": true}' if online else b'{"online": false}'

    def on_connect(self):
        return ()

    def refused(self, message, reason):
        raise AssertionError(reason)

    def trouble(self, line):
        print(line, file=sys.stderr)

    def rival(self, instance):
        raise AssertionError(instance)


def event(number):
    payload = struct.pack("d", perf_counter()) + PADDING
    return Outgoing("public", number, "felt/t1/event", payload)


async def subscriber(port):
    """Print the milliseconds from the stamp in each message to its receipt."""
    async with aiomqtt.Client("127.0.0.1", port) as client:
        await client.subscribe("felt/t1/event", qos=1)
        print("ready", flush=True)
        left = MESSAGES
        async for message in client.messages:
            (sent,) = struct.unpack_from("d", message.payload)
            print((perf_counter() - sent) * 1e3)
            left -= 1
            if not left:
                return


def line(name, times):
    times.sort()
    p50, p99 = times[len(times) // 2], times[len(times) * 99 // 100]
    print(f"{name:44} p50 {p50:6.2f} ms   p99 {p99:6.2f} ms", flush=True)


async def measured(name, port, send):
    """Send MESSAGES at RATE; `send(number)` stamps and publishes one."""
    command = [sys.executable, __file__, str(port)]
    child = await asyncio.create_subprocess_exec(*command, stdout=subprocess.PIPE)
    await child.stdout.readline()
    start = perf_counter()
    for number in range(1, MESSAGES + 1):
        await asyncio.sleep(max(0.0, start + number / RATE - perf_counter()))
        await send(number)
    out, _ = await child.communicate()
    line(name, [float(text) for text in out.split()])


@asynccontextmanager
async def publishing(port, journal):
    address = Address(f"mqtt://127.0.0.1:{port}")
    publisher = Publisher(address, Topics("felt", "t1"), journal, Listener())
    task = asyncio.create_task(publisher.run())
    while not publisher.connected:  # noqa: ASYNC110 - it has no event for us
        await asyncio.sleep(0.01)
    yield publisher
    task.cancel()
    with suppress(asyncio.CancelledError):
        await task


async def latencies(port, folder):
    async with aiomqtt.Client("127.0.0.1", port) as client:

        async def bare(number):
            message = event(number)
            await client.publish(message.topic, message.payload, qos=1)

        await measured("bare aiomqtt publish", port, bare)
    for name in ("inline", "in a thread"):
        with closing(Journal.open(folder / name, 0.0)) as journal:
            async with publishing(port, journal) as publisher:

                async def told(number, journal=journal, publisher=publisher, name=name):
                    message = [event(number)]
                    if name == "inline":
                        journal.add([PADDING], message, sync=True)
                    else:
                        await asyncio.to_thread(journal.add, [PADDING], message, sync=True)
                    publisher.wake()

                await measured(f"journal (synced {name}) and Publisher", port, told)


async def rates(port, folder):
    messages = [event(number) for number in range(1, BURST + 1)]
    async with aiomqtt.Client("127.0.0.1", port) as client:
        client.pending_calls_threshold = 100
        window = asyncio.Semaphore(20)

        async def one(message):
            async with window:
                await client.publish(message.topic, message.payload, qos=1)

        start = perf_counter()
        await asyncio.gather(*map(one, messages))
        print(f"{'bare aiomqtt, 20 in flight':44} {BURST / (perf_counter() - start):7.0f} a second")
    with closing(Journal.open(folder / "burst", 0.0)) as journal:
        journal.add([], messages, sync=True)
        async with publishing(port, journal) as publisher:
            start = perf_counter()
            await publisher.flush()
            print(f"{'the outbox, drained':44} {BURST / (perf_counter() - start):7.0f} a second")


def commits(folder):
    for sync in (True, False):
        times = []
        with closing(Journal.open(folder / f"commit-{sync}", 0.0)) as journal:
            for number in range(1, MESSAGES + 1):
                start = perf_counter()
                journal.add([PADDING], [event(number)] if sync else (), sync=sync)
                times.append((perf_counter() - start) * 1e3)
        line(
            "commit, " + ("input and message, synced" if sync else "input alone, not synced"), times
        )


@asynccontextmanager
async def mosquitto(folder):
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    config = folder / "mosquitto.conf"
    root = "user root\n" if os.geteuid() == 0 else ""
    config.write_text(
        f"{root}listener {port} 127.0.0.1\nallow_anonymous true\nset_tcp_nodelay true\n"
    )
    with subprocess.Popen(  # noqa: ASYNC220 - nothing else runs yet
        ["/usr/sbin/mosquitto", "-c", config], stderr=subprocess.DEVNULL
    ) as broker:
        while socket.socket().connect_ex(("127.0.0.1", port)):
            sleep(0.01)  # noqa: ASYNC251
        yield port
        broker.terminate()


async def main():
    """Everything, one line each; the journal lies where the temporary files do."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        commits(folder)
        async with mosquitto(folder) as port:
            await latencies(port, folder)
            await rates(port, folder)


if __name__ == "__main__":
    asyncio.run(subscriber(int(sys.argv[1])) if sys.argv[1:] else main())
