"""Whole hands at a running table while table and broker are killed, and somebody who follows."""

from __future__ import annotations

import asyncio
import os
import socket
import subprocess
import sys
from random import Random

import aiomqtt
import pytest

from drivers.sim.table import simulate, write


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
    wanted = evening.expected(tmp_path, rounds, "e", 0.0)
    moments = sorted(random.sample(range(1, len(wanted) - 1), kills))

    def start():
        command = [sys.executable, evening.__file__, tmp_path, str(rounds)]
        with (tmp_path / "feltd.log").open("ab") as log:
            return subprocess.Popen(command, stderr=log)

    async def main():
        follower = evening.Follower(lambda: aiomqtt.Client("127.0.0.1", broker.port, timeout=2))
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
    assert history == evening.expected(tmp_path, rounds, *evening.remembered(tmp_path))
    results = [payload for name, payload in history if name == "showdown" or "ruling/" in name]
    assert len(results) >= rounds * 2
