"""Several tables of one machine at one broker, and a bridge that carries one to a central one."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from contextlib import ExitStack, contextmanager

import aiomqtt
import pytest

from drivers.sim.table import simulate, write

HANDS = 3


@contextmanager
def running(evening, folder):
    with (folder / "feltd.log").open("ab") as log:
        table = subprocess.Popen([sys.executable, evening.__file__, folder, "1"], stderr=log)
    try:
        yield table
    finally:
        table.kill()
        table.wait()


def prepare(folder, name, discipline, mqtt):
    folder.mkdir(exist_ok=True)
    session = simulate(discipline, "field", 5, HANDS, commands=True, keys=True)
    write(session, folder)
    config = folder / "table.toml"
    text = config.read_text().replace('id = "sim"', f'id = "{name}"')
    config.write_text(text.replace('url = "mqtt://127.0.0.1:1883"', mqtt))


@pytest.mark.timeout(120)
def test_tables_at_one_broker_do_not_mix(tmp_path, mosquitto, evening):
    tables = {"t1": "holdem", "t2": "omaha", "t3": "stud"}
    folders = {name: tmp_path / name for name in tables}
    for name, discipline in tables.items():
        prepare(folders[name], name, discipline, f'url = "{mosquitto.url}"')

    async def main():
        followers = {
            name: evening.Follower(
                lambda: aiomqtt.Client("127.0.0.1", mosquitto.port, timeout=2), f"felt/{name}"
            )
            for name in tables
        }
        tasks = [asyncio.create_task(each.follow()) for each in followers.values()]
        with ExitStack() as stack:
            for name in tables:
                stack.enter_context(running(evening, folders[name]))
            for name, follower in followers.items():
                wanted = evening.expected(folders[name], 1, "e", 0.0, name)
                await follower.reaches(len(wanted))
        for task in tasks:
            task.cancel()
        await asyncio.wait(tasks)
        return {name: follower.history for name, follower in followers.items()}

    histories = asyncio.run(main())
    epochs = set()
    for name, history in histories.items():
        memory = evening.remembered(folders[name])
        assert history == evening.expected(folders[name], 1, *memory, name)
        epochs.add(memory[0])
        assert {payload["table"] for _, payload in history} == {name}
    assert len(epochs) == len(tables)


@pytest.mark.timeout(180)
def test_the_centre_misses_nothing_though_both_brokers_are_killed(tmp_path, site, evening):
    central = site.start("central")
    local = site.start("table", "bridge")
    port = site.ports["table"]["1883"]
    secret = site.folder / "table.password"
    prepare(
        tmp_path,
        "t1",
        "stud",
        f'url = "mqtt://127.0.0.1:{port}"\nusername = "table"\npassword_file = "{secret}"',
    )
    wanted = evening.expected(tmp_path, 1, "e", 0.0, "t1")

    async def main():
        director = evening.Follower(site.director, "felt/t1")
        following = asyncio.create_task(director.follow())
        with running(evening, tmp_path) as table:
            await director.reaches(20)
            central.kill()
            await asyncio.sleep(0.5)
            central.start()
            await director.reaches(len(wanted) // 3)
            local.kill()
            local.start()
            await director.reaches(2 * len(wanted) // 3)
            central.kill()
            local.kill()
            local.start()
            central.start()
            await director.reaches(len(wanted))
            assert table.poll() is None
        following.cancel()
        await asyncio.wait([following])
        return director.history

    history = asyncio.run(main())
    assert history == evening.expected(tmp_path, 1, *evening.remembered(tmp_path), "t1")
    assert len([name for name, _ in history if name == "ruling/first-to-act"]) > HANDS
