"""From the last byte of a reader's frame to a subscriber, and what a table costs.

Everything runs on this machine: pseudo-terminals, `feltd run`, Mosquitto on loopback. Beside it, in
the same run, a program that only reads a line from a pseudo-terminal and publishes it with aiomqtt:
the difference is what feltd does with a look (decode, judge, write and sync the journal). The
same again with the journal in memory shows what of it is the disk.
Run as `python tests/bench/bench_latency.py [latency] [cost]`; both by default.
"""

from __future__ import annotations

import asyncio
import json
import os
import socket
import statistics
import subprocess
import sys
import tempfile
import tty
from contextlib import asynccontextmanager, contextmanager, suppress
from pathlib import Path
from random import Random
from time import perf_counter
from typing import TYPE_CHECKING, Any

import aiomqtt

from drivers.sim.deck import CARDS, make_deck

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator

FELTD = Path(sys.executable).with_name("feltd")
SEATS = range(1, 10)
HANDS = 6
FRAME_EVERY = 0.02
SECONDS = 20.0
MEMORY = "/dev/shm"  # noqa: S108 - memory is the point
TICKS = os.sysconf("SC_CLK_TCK")
DECK = make_deck("red", Random(7))

CONFIG = """
[table]
id = "bench"
discipline = "{discipline}"
seats = 9

[mqtt]
url = "mqtt://127.0.0.1:{port}"

[[readers]]
name = "pod"
driver = "lines"
port = "{folder}/pod"
antennas = {{ {antennas} }}

[decks]
dir = "decks"

[state]
dir = "{state}"
"""

BARE = """
import asyncio, os, sys
import aiomqtt

async def main(path, port):
    lines = asyncio.Queue()
    port_fd = os.open(path, os.O_RDWR | os.O_NOCTTY)
    asyncio.get_running_loop().add_reader(
        port_fd, lambda: lines.put_nowait(os.read(port_fd, 4096))
    )
    async with aiomqtt.Client("127.0.0.1", port) as client:
        print("ready", flush=True)
        while True:
            await client.publish("bare/event", await lines.get(), qos=1)

asyncio.run(main(sys.argv[1], int(sys.argv[2])))
"""


@contextmanager
def mosquitto(folder: Path) -> Iterator[int]:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port: int = server.getsockname()[1]
    config = folder / "mosquitto.conf"
    user = "user root\n" if os.geteuid() == 0 else ""
    config.write_text(
        f"listener {port} 127.0.0.1\nallow_anonymous true\nset_tcp_nodelay true\n{user}"
    )
    program = ["/usr/sbin/mosquitto", "-c", str(config)]
    with subprocess.Popen(program, stderr=subprocess.DEVNULL) as broker:
        while True:
            with suppress(ConnectionRefusedError):
                socket.create_connection(("127.0.0.1", port)).close()
                break
        yield port
        broker.terminate()


class Pty:
    """The reader's end of a pseudo-terminal; `sent` is when the last byte was written."""

    def __init__(self, link: Path) -> None:
        self.master, self.slave = os.openpty()
        tty.setraw(self.slave)
        link.symlink_to(os.ttyname(self.slave))
        self.sent = 0.0

    def write(self, line: bytes) -> None:
        os.write(self.master, line)
        self.sent = perf_counter()


def write_table(
    folder: Path, port: int, discipline: str, antennas: dict[int, str], state: Path
) -> Path:
    zones = ", ".join(f'{number} = "{zone}"' for number, zone in antennas.items())
    config = folder / "table.toml"
    config.write_text(
        CONFIG.format(discipline=discipline, port=port, folder=folder, antennas=zones, state=state)
    )
    (folder / "decks").mkdir()
    (folder / "decks" / "red.toml").write_text(DECK.toml())
    return config


@asynccontextmanager
async def feltd(config: Path) -> AsyncIterator[int]:
    log = config.with_name("feltd.log").open("wb")
    process = await asyncio.create_subprocess_exec(
        FELTD, "run", "--config", config, stderr=log, stdout=log
    )
    try:
        yield process.pid
    finally:
        process.terminate()
        await process.wait()
        log.close()


def percentiles(times: list[float]) -> tuple[float, float]:
    ordered = sorted(times)
    return statistics.median(ordered) * 1e3, ordered[len(ordered) * 99 // 100] * 1e3


def show(name: str, times: list[float]) -> tuple[float, float]:
    half, most = percentiles(times)
    print(f"{name:50} p50 {half:7.2f} ms   p99 {most:7.2f} ms   ({len(times)})")
    return half, most


class Overlay:
    """A subscriber that knows when each message came."""

    def __init__(self, client: aiomqtt.Client) -> None:
        self.client = client
        self.news: asyncio.Queue[tuple[float, str, dict[str, Any]]] = asyncio.Queue()

    async def listen(self) -> None:
        async for message in self.client.messages:
            at = perf_counter()
            with suppress(ValueError):
                body = json.loads(message.payload)
                self.news.put_nowait((at, str(message.topic), body))

    async def until(self, topic: str, **wanted: object) -> float:
        async with asyncio.timeout(20):
            while True:
                at, name, body = await self.news.get()
                if name == topic and all(body.get(k) == v for k, v in wanted.items()):
                    return at

    async def command(self, kind: str, number: int, **fields: object) -> None:
        id_ = f"{kind}-{number}"
        body = {"id": id_, "by": "bench", "type": kind, **fields}
        await self.client.publish("felt/bench/command", json.dumps(body), qos=1)
        await self.until("felt/bench/reply", id=id_, ok=True)


@asynccontextmanager
async def overlay(port: int) -> AsyncIterator[Overlay]:
    async with aiomqtt.Client("127.0.0.1", port) as client:
        heard = Overlay(client)
        await client.subscribe("felt/#", qos=1)
        await client.subscribe("bare/#", qos=1)
        listening = asyncio.create_task(heard.listen())
        yield heard
        listening.cancel()


class Dealer:
    """Lays cards on antennas and lets the reader say so in frames, all antennas in turn."""

    def __init__(self, pty: Pty) -> None:
        self.pty = pty
        self.lies: dict[int, list[str]] = {number: [] for number in SEATS}
        self.number = 0

    def frame(self, antenna: int) -> None:
        uids = [DECK.uids[card] for card in self.lies[antenna]]
        body = {"v": 1, "ant": antenna, "uids": uids, "seq": self.number}
        self.number += 1
        self.pty.write(json.dumps(body).encode() + b"\n")

    async def until_dealt(self, heard: Overlay, seat: int, index: int) -> float:
        """Frames of the seat until its card is told: seconds since the last of them."""
        wanted = {"type": "card-dealt", "zone": f"seat:{seat}", "index": index}
        told = asyncio.create_task(heard.until("felt/bench/event", **wanted))
        while not told.done():
            self.frame(seat)
            await asyncio.wait([told], timeout=FRAME_EVERY)
        return told.result() - self.pty.sent

    async def sweep(self) -> None:
        for seat in SEATS:
            self.lies[seat].clear()
        for _ in range(250):
            for seat in SEATS:
                self.frame(seat)
            await asyncio.sleep(FRAME_EVERY)


async def deal(heard: Overlay, pty: Pty) -> list[float]:
    dealer, times, random = Dealer(pty), [], Random(1)
    for hand in range(HANDS):
        pack = list(CARDS)
        random.shuffle(pack)
        await heard.command("start-hand", hand, seats=list(SEATS), button=9)
        for index in range(4):
            for seat in SEATS:
                dealer.lies[seat].append(pack.pop())
                times.append(await dealer.until_dealt(heard, seat, index))
        await heard.command("void-hand", hand)
        await dealer.sweep()
    return times


async def bare(folder: Path, port: int, heard: Overlay, count: int) -> list[float]:
    pty = Pty(folder / "bare")
    pipe = asyncio.subprocess.PIPE
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-c", BARE, str(folder / "bare"), str(port), stdout=pipe
    )
    assert process.stdout
    await process.stdout.readline()
    times = []
    payload = json.dumps({"v": 1, "type": "card-dealt", "text": "x" * 150}).encode()
    for _ in range(count):
        pty.write(payload)
        times.append(await heard.until("bare/event") - pty.sent)
        await asyncio.sleep(FRAME_EVERY)
    process.kill()
    await process.wait()
    return times


def syncs(folder: Path, count: int) -> list[float]:
    """What the disk takes for one small synced write."""
    times = []
    with (folder / "sync").open("wb", buffering=0) as file:
        for _ in range(count):
            began = perf_counter()
            file.write(b"x" * 500)
            os.fdatasync(file.fileno())
            times.append(perf_counter() - began)
    return times


async def dealt(folder: Path, port: int, state: Path) -> list[float]:
    zones = {number: f"seat:{number}" for number in SEATS}
    config = write_table(folder, port, "omaha", zones, state)
    pty = Pty(folder / "pod")
    async with overlay(port) as heard, feltd(config):
        await heard.until("felt/bench/status", online=True)
        return await deal(heard, pty)


async def latency(folder: Path, port: int) -> None:
    async with overlay(port) as heard:
        alone = await bare(folder, port, heard, HANDS * 4 * len(SEATS))
    name = "pty, a bare aiomqtt publish, subscriber"
    _, least = show(name, alone)
    shares = {}
    for place, parent in (("on disk", None), ("in memory", MEMORY)):
        with (
            tempfile.TemporaryDirectory() as work,
            tempfile.TemporaryDirectory(dir=parent) as state,
        ):
            times = await dealt(Path(work), port, Path(state))
            shares[place] = show(f"pty, feltd with its journal {place}, subscriber", times)[1]
    show("one synced write to that disk", syncs(folder, 300))
    for place, most in shares.items():
        print(f"feltd's own share of p99, journal {place}: {most - least:.2f} ms (goal: under 2)")


def used(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


def resident(pid: int) -> float:
    (line,) = [
        line for line in Path(f"/proc/{pid}/status").read_text().splitlines() if "VmRSS" in line
    ]
    return int(line.split()[1]) / 1024


async def cost(folder: Path, port: int) -> None:
    """Ten antennas with two cards on each seat, read ten times a second."""
    zones = {number: f"seat:{number}" for number in SEATS} | {10: "board"}
    config = write_table(folder, port, "holdem", zones, folder / "state")
    pty = Pty(folder / "pod")
    dealer = Dealer(pty)
    dealer.lies = {n: [CARDS[2 * n], CARDS[2 * n + 1]] for n in SEATS} | {10: list(CARDS[40:43])}
    async with overlay(port) as heard, feltd(config) as pid:
        await heard.until("felt/bench/status", online=True)
        await heard.command("start-hand", 1, seats=list(SEATS), button=9)

        async def read() -> None:
            clock = asyncio.get_running_loop().time
            due = clock()
            while True:
                for antenna in dealer.lies:
                    dealer.frame(antenna)
                    due += 0.01
                    await asyncio.sleep(max(0.0, due - clock()))

        reading = asyncio.create_task(read())
        await asyncio.sleep(5)
        before, frames, began = used(pid), dealer.number, perf_counter()
        await asyncio.sleep(SECONDS)
        took = perf_counter() - began
        share, rate = (used(pid) - before) / took, (dealer.number - frames) / took
        memory = resident(pid)
        reading.cancel()
    print(
        f"{rate:.0f} looks a second: {share:.1%} of one core (goal: under 3 %),"
        f" {memory:.0f} MB resident (goal: under 80 MB)"
    )


def main(chosen: list[str]) -> None:
    for name, measure in (("latency", latency), ("cost", cost)):
        if name in chosen:
            with tempfile.TemporaryDirectory() as path, mosquitto(Path(path)) as port:
                asyncio.run(measure(Path(path), port))


if __name__ == "__main__":
    main(sys.argv[1:] or ["latency", "cost"])
