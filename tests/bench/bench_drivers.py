"""What reading costs: decoded looks per second, time from byte to look, and a rail at line speed.

Run as `python tests/bench/bench_drivers.py [decode] [latency] [share] [rail]`; all by default.
Emulators run in a process of their own, so that the shares are those of the drivers alone.
"""

from __future__ import annotations

import asyncio
import resource
import statistics
import sys
import tempfile
import time
from contextlib import aclosing, asynccontextmanager, suppress
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any

import msgspec

from daemon.readers import supervise
from drivers import Look, feig, lines, load, metratec, pn532, rdm6300, twn4
from drivers._crc import mcrf4xx
from drivers.sim.feig import Feig
from drivers.sim.field import Field
from drivers.sim.lines import Pod
from drivers.sim.pn532 import PN532
from drivers.sim.wire import Wire

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

UIDS = [f"E0040150954F{number:02X}B1" for number in range(7)]
SHORT = [f"04A1B2C3D4E5{number:02X}" for number in range(7)]
SECONDS = 5.0
LOOKS = 20_000


def feig_frame() -> bytes:
    body = b"\x00\xb0\x00\x07" + b"".join(b"\x03\x00" + bytes.fromhex(uid) for uid in UIDS)
    frame = bytes((len(body) + 3,)) + body
    return frame + mcrf4xx(frame).to_bytes(2, "little")


def pn532_frame() -> bytes:
    targets = b"".join(
        bytes((number, 0, 0x44, 0, 7)) + bytes.fromhex(uid) for number, uid in enumerate(SHORT[:2])
    )
    body = b"\xd5\x4b\x02" + targets
    head = b"\x00\x00\xff" + bytes((len(body), -len(body) & 0xFF))
    return head + body + bytes((-sum(body) & 0xFF, 0))


def twn4_frame() -> bytes:
    listed = b"".join(b"\x07" + bytes.fromhex(uid) for uid in SHORT)
    return twn4.encode(b"\x00\x01\x07" + bytes((len(listed),)) + listed)


def json_frame() -> bytes:
    quoted = ",".join(f'"{uid}"' for uid in UIDS)
    return f'{{"v":1,"ant":3,"uids":[{quoted}],"seq":0}}\n'.encode()


STREAMS: dict[str, tuple[Any, Callable[[], bytes], int]] = {
    "feig, seven tags": (feig.Decoder, feig_frame, 7),
    "metratec, seven tags": (
        metratec.Decoder,
        lambda: "".join(f"{uid}\r" for uid in UIDS).encode() + b"ARP 03\rIVF 07\r\n",
        7,
    ),
    "twn4, seven tags": (twn4.Decoder, twn4_frame, 7),
    "lines, JSON of seven": (lines.Decoder, json_frame, 7),
    "lines, one UID each": (lines.Decoder, f"{UIDS[0]}\r\n".encode, 1),
    "pn532, two tags": (pn532.Decoder, pn532_frame, 2),
    "rdm6300, one tag": (rdm6300.Decoder, lambda: b"\x0267003B51C6CB\x03", 1),
}


def decode() -> None:
    """Looks per second on one core, each frame fed whole and in pieces of 16 bytes."""
    print(f"{'decoder':24} {'looks/s whole':>14} {'in 16 bytes':>14}")
    for name, (decoder, build, tags) in STREAMS.items():
        frame = build()
        pieces = [frame[start : start + 16] for start in range(0, len(frame), 16)]
        rates = []
        for parts in ([frame], pieces):
            machine = decoder()
            begun = perf_counter()
            found = [got for _ in range(LOOKS) for part in parts for got in machine.feed(part)]
            rates.append(LOOKS / (perf_counter() - begun))
            if len(found) != LOOKS or len(found[-1].tags) != tags or machine.errors:
                raise SystemExit(f"{name}: {len(found)} looks of {LOOKS}")
        print(f"{name:24} {rates[0]:14,.0f} {rates[1]:14,.0f}")


def latency() -> None:
    """From the write of a frame's last byte on the pseudo-terminal to the look."""

    async def play(folder: Path) -> list[float]:
        sent = 0.0

        class Stamped(Wire):
            def _write(self, piece: bytes) -> None:
                nonlocal sent
                sent = perf_counter()
                super()._write(piece)

        air = Field()
        air.lay(3, *UIDS)
        wire = Stamped(Pod(air, (3,), 0.002, None), link=folder / "pod")
        async with wire, aclosing(lines.read(settings("lines", wire, {"3": "muck"}))) as looks:
            return [perf_counter() - sent async for _ in take(looks, 2000)]

    times = sorted(run(play))
    p99 = times[len(times) * 99 // 100]
    print(f"last byte to look: p50 {statistics.median(times) * 1e6:.0f} us, p99 {p99 * 1e6:.0f} us")


async def take(looks: Any, count: int) -> AsyncIterator[Look]:
    """So many looks."""
    for _ in range(count):
        yield await anext(looks)


def settings(driver: str, wire: Wire | Path, antennas: dict[str, str], **keys: Any) -> Any:
    port = wire.path if isinstance(wire, Wire) else str(wire)
    block = {"name": port, "driver": driver, "port": port, "antennas": antennas, **keys}
    return msgspec.convert(block, load(driver).Settings, str_keys=True)


def run(play: Callable[[Path], Any]) -> Any:
    with tempfile.TemporaryDirectory() as folder:
        return asyncio.run(play(Path(folder)))


RAIL = {str(number): f"seat:{number}" for number in range(1, 11)}
TWELVE = {**RAIL, "11": "board", "12": "muck"}


def tables(folder: Path) -> dict[str, tuple[list[Wire], list[tuple[str, Any]]]]:
    """Emulators and readers of each set-up; ten antennas read ten times a second, but one."""
    air, cards = Field(), Field()
    for number in range(1, 13):
        air.lay(number, *(f"E0040150954F{number:02X}{card:02X}" for card in range(2)))
        cards.lay(number, *(f"04A1B2C3D4{number:02X}{card:02X}" for card in range(2)))
    rail = Wire(Feig(air, real_time=True), link=folder / "rail", baud=38400, bits=11)
    chips = [Wire(PN532(cards, number), link=folder / f"c{number}") for number in range(1, 11)]
    pod = Wire(Pod(air, tuple(range(1, 11)), 0.1, None), link=folder / "pod")
    quick = {"parity": "none", "interval": 0.1}
    return {
        "one FEIG, 10 antennas": (
            [fast := Wire(Feig(air), link=folder / "fast")],
            [("feig", settings("feig", Path(fast._link or ""), RAIL, pause=0.0, **quick))],
        ),
        "ten PN532": (
            chips,
            [
                ("pn532", settings("pn532", folder / f"c{number}", {str(number): "seat:1"}))
                for number in range(1, 11)
            ],
        ),
        "one pod, 10 antennas": ([pod], [("lines", settings("lines", folder / "pod", RAIL))]),
        "FEIG rail of 12 at 38400 baud": (
            [rail],
            [("feig", settings("feig", folder / "rail", TWELVE, parity="none", interval=0.0))],
        ),
    }


async def emulate(folder: Path, name: str) -> None:
    """The child process: the emulators of one set-up until standard input ends."""
    wires, _ = tables(folder)[name]
    for wire in wires:
        wire.start()
    print("ready", flush=True)
    await asyncio.to_thread(sys.stdin.read)
    for wire in wires:
        await wire.stop()


@asynccontextmanager
async def emulators(folder: Path, name: str) -> AsyncIterator[None]:
    """The emulators of one set-up in a process of their own."""
    pipe = asyncio.subprocess.PIPE
    process = await asyncio.create_subprocess_exec(
        sys.executable, __file__, "emulate", str(folder), name, stdin=pipe, stdout=pipe
    )
    assert process.stdout is not None
    await process.stdout.readline()
    yield
    await process.communicate(b"")


async def measure(folder: Path, name: str) -> None:
    count = 0

    def put(event: object) -> None:
        nonlocal count
        count += isinstance(event, Look)

    _, readers = tables(folder)[name]
    async with emulators(folder, name):
        task = asyncio.create_task(supervise([(load(kind), each) for kind, each in readers], put))
        await asyncio.sleep(1.0)
        count, used, begun = 0, time.process_time(), perf_counter()
        await asyncio.sleep(SECONDS)
        used, took = time.process_time() - used, perf_counter() - begun
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task
    each = used / max(count, 1) * 1e6
    print(f"{name:32} {count / took:9.1f} {100 * used / took:10.2f} {each:12.0f}")


def share(names: list[str]) -> None:
    print(f"{'readers':32} {'looks/s':>9} {'% of core':>10} {'us per look':>12}")
    for name in names:
        run(lambda folder, name=name: measure(folder, name))


def main(chosen: list[str]) -> None:
    """Print what was asked for."""
    names = list(tables(Path()))
    if "decode" in chosen:
        decode()
    if "latency" in chosen:
        latency()
    if "share" in chosen:
        share(names[:-1])
    if "rail" in chosen:
        share(names[-1:])
    print(f"resident at most {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MB")


if __name__ == "__main__":
    if sys.argv[1:2] == ["emulate"]:
        asyncio.run(emulate(Path(sys.argv[2]), sys.argv[3]))
    else:
        main(sys.argv[1:] or ["decode", "latency", "share", "rail"])
