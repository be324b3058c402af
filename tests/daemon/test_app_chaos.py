"""Whole hands at a running table while table and broker are killed, and somebody who follows."""

from __future__ import annotations

import asyncio
import json
import os
import socket
import subprocess
import sys
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from random import Random

import aiomqtt
import pytest

from daemon import config
from daemon.journal import Journal
from daemon.replay import messages
from drivers.sim.table import simulate, write

PROGRAM = Path(__file__).parents[1] / "evening.py"
PATIENCE = 60.0


class Follower:
    """Keeps the rule of `seq`: each number once, in order, and `resend` for what is missing."""

    def __init__(self, port):
        self.port = port
        self.history = []
        self.ahead = {}
        self.news = asyncio.Event()

    async def follow(self):
        while True:
            try:
                async with aiomqtt.Client("127.0.0.1", self.port, timeout=2) as client:
                    await client.subscribe("felt/sim/#", qos=1)
                    async with asyncio.TaskGroup() as group:
                        group.create_task(self.ask(client))
                        group.create_task(self.read(client))
            except (aiomqtt.MqttError, ExceptionGroup):
                await asyncio.sleep(0.05)

    async def read(self, client):
        async for message in client.messages:
            name = str(message.topic).removeprefix("felt/sim/")
            payload = json.loads(message.payload)
            if name == "state" or "seq" not in payload:
                continue
            payload.pop("late", None)
            told = self.ahead.setdefault(payload["seq"], (name, payload))
            assert told == (name, payload), "the same number is the same message"
            while (due := len(self.history) + 1) in self.ahead:
                self.history.append(self.ahead[due])
                self.news.set()

    async def ask(self, client):
        while True:
            before = len(self.history)
            await asyncio.sleep(0.5)
            if len(self.history) == before:
                question = json.dumps({"from": before + 1})
                await client.publish("felt/sim/resend", question, qos=1)

    async def reaches(self, number):
        while len(self.history) < number:
            self.news.clear()
            async with asyncio.timeout(PATIENCE):
                await self.news.wait()


def expected(evening, folder, rounds, epoch, started):
    """What a table that nobody kills tells of the same evening."""
    opening = {"started": datetime.fromtimestamp(started, UTC).isoformat(), "epoch": epoch}
    texts = (
        json.dumps(line | {"t": now / 1000}).encode()
        for now, line in evening.inputs(folder, rounds)
    )

    def everything():
        yield json.dumps(opening).encode()
        yield from texts

    setup = config.load(folder / "table.toml").setup()
    return [
        (message.topic.removeprefix("felt/sim/"), json.loads(message.payload))
        for _, message in messages(setup, "felt", everything(), "evening")
        if message.seq is not None and not message.private
    ]


def remembered(folder):
    """Epoch and beginning of a table that does not run."""
    with closing(Journal.open(folder / "state", 0.0)) as journal:
        return journal.epoch, journal.started


@pytest.fixture
def broker(tmp_path, start_broker):
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    conf = tmp_path / "mosquitto.conf"
    conf.write_text(
        f"listener {port} 127.0.0.1\nallow_anonymous true\npersistence true\n"
        f"persistence_location {tmp_path}/\nautosave_on_changes true\nautosave_interval 1\n"
        "max_queued_messages 100000\n" + ("user root\n" if os.geteuid() == 0 else "")
    )
    return start_broker(["/usr/sbin/mosquitto", "-c", conf], port)


EVENINGS = [
    ("holdem", 1, 6),
    ("stud", 1, 6),
    pytest.param("holdem", 84, 26, marks=pytest.mark.soak),
    pytest.param("omaha", 84, 26, marks=pytest.mark.soak),
    pytest.param("stud", 84, 26, marks=pytest.mark.soak),
]
HANDS = 8


@pytest.mark.parametrize(("discipline", "rounds", "kills"), EVENINGS)
@pytest.mark.timeout(1800)
def test_every_result_and_ruling_once_after_any_kills(
    tmp_path, broker, evening, discipline, rounds, kills
):
    session = simulate(discipline, "field", 5, HANDS, commands=True, keys=True, extras=True)
    write(session, tmp_path)
    text = (tmp_path / "table.toml").read_text()
    (tmp_path / "table.toml").write_text(text.replace("127.0.0.1:1883", f"127.0.0.1:{broker.port}"))
    random = Random(20261130)
    # epoch and times of the messages are the journal's, the rest of what is told is known before
    wanted = expected(evening, tmp_path, rounds, "e", 0.0)
    moments = sorted(random.sample(range(1, len(wanted) - 1), kills))

    def start():
        command = [sys.executable, PROGRAM, tmp_path, str(rounds)]
        with (tmp_path / "feltd.log").open("ab") as log:
            return subprocess.Popen(command, stderr=log)

    async def main():
        follower = Follower(broker.port)
        following = asyncio.create_task(follower.follow())
        table = start()
        try:
            for moment in moments:
                await follower.reaches(moment)
                victims = random.choice(("table", "broker", "both"))
                if victims != "broker":
                    table.kill()
                    table.wait()
                if victims != "table":
                    broker.kill()
                    broker.start()
                if victims != "broker":
                    table = start()
            await follower.reaches(len(wanted))
        finally:
            table.kill()
            table.wait()
            following.cancel()
            await asyncio.wait([following])
        return follower.history

    history = asyncio.run(main())
    assert history == expected(evening, tmp_path, rounds, *remembered(tmp_path))
    results = [payload for name, payload in history if name == "showdown" or "ruling/" in name]
    assert len(results) >= rounds * 3
