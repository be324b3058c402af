"""100 simulated tables into one Mosquitto: messages a second, look to subscriber, memory a table.

Each table is the whole daemon but for its readers: inbox, table, journal synced to the disk,
publisher. They share a few processes, as 100 processes would measure how this machine starts them;
the memory is that of a `feltd run` of its own. Run: `python tests/bench/bench_tables.py`
"""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from datetime import datetime
from pathlib import Path

import aiomqtt

sys.path.insert(0, str(Path(__file__).parent))
from bench_mqtt import mosquitto

import daemon.app
from daemon import config
from daemon.recording import RawCommand, read_line, read_opening
from drivers.sim.table import simulate, write

TABLES = 100
SECONDS = 30.0
WORKERS = max(2, os.cpu_count() or 2)


def prepare(folder, port, number):
    """A table of its own in `folder`, all with the same recording."""
    table = folder / f"t{number}"
    table.mkdir()
    session = simulate("holdem", "field", 5, 4, commands=True, speed=3)
    write(session, table)
    text = (table / "table.toml").read_text()
    text = text.replace('id = "sim"', f'id = "t{number}"')
    (table / "table.toml").write_text(text.replace("127.0.0.1:1883", f"127.0.0.1:{port}"))
    return table


def recorded(table):
    lines = (table / "recording.jsonl").read_bytes().splitlines()
    return [read_line(line) for line in lines if read_opening(line) is None]


async def work(tables):
    """Run these tables until we are ended; their readers follow the clock."""
    loop = asyncio.get_running_loop()
    entries = recorded(tables[0])
    apps = {}

    async def readers(_, put):
        app = apps[put.__self__.config.table.id]
        began = loop.time()
        for at, entry in entries:
            await asyncio.sleep(max(0.0, began + at / 1000 - loop.time()))
            if isinstance(entry, RawCommand):
                await app._inbox.put((app.now(), entry))
            else:
                put(entry)
        await asyncio.Event().wait()

    daemon.app.supervise = readers
    async with asyncio.TaskGroup() as group:
        for table in tables:
            app = daemon.app.App(config.load(table / "table.toml"))
            apps[app.config.table.id] = app
            group.create_task(app.serve(asyncio.Event()))
            await asyncio.sleep(5.0 / len(tables))


async def listen(port, latencies):
    """Milliseconds from the input that led to it to the receipt of each counted message."""
    async with aiomqtt.Client("127.0.0.1", port) as client:
        await client.subscribe("felt/#", qos=1)
        async for message in client.messages:
            payload = json.loads(message.payload)
            if "seq" in payload and not str(message.topic).endswith("/state"):
                told = datetime.fromisoformat(payload["at"]).timestamp()
                latencies.append((time.time() - told) * 1e3)


def kilobytes(pid, name):
    text = Path(f"/proc/{pid}/smaps_rollup").read_text()
    return next(int(line.split()[1]) for line in text.splitlines() if line.startswith(name))


async def memory(table):
    """Of one daemon in a process of its own, once it is connected: all, and what is its alone."""
    program = Path(sys.executable).with_name("feltd")
    log = table / "log"
    with log.open("wb") as out:
        command = [program, "run", "--config", table / "table.toml"]
        child = subprocess.Popen(command, stderr=out)  # noqa: ASYNC220
    while b"connected to" not in log.read_bytes():  # noqa: ASYNC110 - another program's log
        await asyncio.sleep(0.05)
    await asyncio.sleep(1)
    found = kilobytes(child.pid, "Rss:"), kilobytes(child.pid, "Private_Dirty:")
    child.terminate()
    child.wait()
    return found


async def main():
    """Three lines."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        async with mosquitto(folder) as port:
            tables = [prepare(folder, port, number) for number in range(TABLES + 1)]
            rss, own = await memory(tables.pop())
            latencies = []
            listener = asyncio.create_task(listen(port, latencies))
            workers = [
                subprocess.Popen(  # noqa: ASYNC220 - nothing else runs yet
                    [sys.executable, __file__, *tables[number::WORKERS]], stderr=subprocess.DEVNULL
                )
                for number in range(WORKERS)
            ]
            await asyncio.sleep(10)
            latencies.clear()
            await asyncio.sleep(SECONDS)
            ended = [worker.poll() for worker in workers]
            assert ended == [None] * WORKERS, ended
            for worker in workers:
                worker.kill()
                worker.wait()
            listener.cancel()
            with suppress(asyncio.CancelledError):
                await listener
    latencies.sort()
    p50, p99 = latencies[len(latencies) // 2], latencies[len(latencies) * 99 // 100]
    print(f"{TABLES} tables, {WORKERS} processes: {len(latencies) / SECONDS:.0f} messages a second")
    print(f"from the look to a subscriber: p50 {p50:.1f} ms   p99 {p99:.1f} ms")
    print(f"a daemon in a process of its own: {rss / 1024:.0f} MB, {own / 1024:.0f} MB not shared")


if __name__ == "__main__":
    asyncio.run(work([Path(each) for each in sys.argv[1:]]) if sys.argv[1:] else main())
