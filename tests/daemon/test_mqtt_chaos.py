"""Daemon and broker killed at random moments, and a subscriber that keeps the rule of `seq`."""

from __future__ import annotations

import asyncio
import json
import os
import random
import socket
import subprocess
import sys

import aiomqtt
import pytest

DAEMON = """
import asyncio, json, sys, time
from pathlib import Path
from daemon.address import Address
from daemon.claim import Topics
from daemon.journal import Journal, Outgoing
from daemon.mqtt import Publisher

class Table:
    def __init__(self, folder, port, last):
        self.journal = Journal.open(folder, time.time())
        self.publisher = Publisher(Address(f"mqtt://127.0.0.1:{port}"), Topics("felt", "t1"),
                                   self.journal, self, ack_timeout=1.0)
        self.last = last
    async def inbound(self, received):
        if received.topic != "felt/t1/resend":
            return
        start = json.loads(received.payload)["from"]
        while messages := self.journal.range("public", start).messages:
            for m in messages:
                await self.publisher.post(Outgoing(m.root, m.seq, m.topic, m.payload))
            start = messages[-1].seq + 1
    def status(self, *, online):
        return json.dumps({"online": online, "epoch": self.journal.epoch}).encode()
    def on_connect(self): return []
    def refused(self, message, reason): raise AssertionError(reason)
    def trouble(self, line): print(line, flush=True)
    def rival(self, instance): raise AssertionError(instance)
    async def play(self):
        for n in range(len(self.journal.restore()[1]) + 1, self.last + 1):
            body = json.dumps({"seq": n}).encode()
            self.journal.add([body], [Outgoing("public", n, "felt/t1/event", body)], sync=True)
            self.publisher.wake()
            await asyncio.sleep(0.002)

async def main():
    table = Table(Path(sys.argv[1]), sys.argv[2], int(sys.argv[3]))
    await asyncio.gather(table.play(), table.publisher.run())

asyncio.run(main())
"""


class Follower:
    """Takes messages in the order of `seq`, drops repetitions, asks again where one is missing."""

    def __init__(self, port, last):
        self.port = port
        self.last = last
        self.history = []

    async def follow(self):
        while len(self.history) < self.last:
            try:
                async with aiomqtt.Client("127.0.0.1", self.port, timeout=2) as client:
                    await client.subscribe("felt/t1/event", qos=1)
                    async with asyncio.TaskGroup() as group:
                        asking = group.create_task(self.ask(client))
                        await self.read(client)
                        asking.cancel()
            except (aiomqtt.MqttError, ExceptionGroup):
                await asyncio.sleep(0.05)

    async def read(self, client):
        async for message in client.messages:
            seq = json.loads(message.payload)["seq"]
            if seq == len(self.history) + 1:
                self.history.append(seq)
            if len(self.history) == self.last:
                return

    async def ask(self, client):
        while True:
            before = len(self.history)
            await asyncio.sleep(0.3)
            if len(self.history) == before:
                question = json.dumps({"from": before + 1})
                await client.publish("felt/t1/resend", question, qos=1)


@pytest.mark.parametrize(
    ("kills", "last"), [(8, 1500), pytest.param(60, 20_000, marks=pytest.mark.soak)]
)
@pytest.mark.timeout(600)
def test_history_is_whole_after_any_kills(tmp_path, start_broker, kills, last):
    random_ = random.Random(20261129)
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    config = tmp_path / "mosquitto.conf"
    config.write_text(
        f"listener {port} 127.0.0.1\nallow_anonymous true\npersistence true\n"
        f"persistence_location {tmp_path}/\nautosave_on_changes true\nautosave_interval 1\n"
        + ("user root\n" if os.geteuid() == 0 else "")
    )
    broker = start_broker(["/usr/sbin/mosquitto", "-c", config], port)
    command = [sys.executable, "-c", DAEMON, tmp_path / "t1", str(port), str(last)]

    def start():
        return subprocess.Popen(command, stdout=subprocess.DEVNULL)

    async def main():
        follower = Follower(port, last)
        following = asyncio.create_task(follower.follow())
        daemon = start()
        try:
            for _ in range(kills):
                await asyncio.sleep(random_.uniform(0.1, 0.6))
                victims = random_.choice(("daemon", "broker", "both"))
                if victims != "broker":
                    daemon.kill()
                    daemon.wait()
                if victims != "daemon":
                    broker.kill()
                    broker.start()
                if victims != "broker":
                    daemon = start()
            await following
        finally:
            daemon.kill()
            daemon.wait()
        assert follower.history == list(range(1, last + 1))

    asyncio.run(main())
