"""How long from start to ready, and how much memory a table in play takes.

`feltd run` as the service manager starts it, with Mosquitto and emulated readers on real
pseudo-terminals; ready is when READY=1 reaches the manager's socket. Aims: 0.5 s, 80 MB.
"""

from __future__ import annotations

import asyncio
import importlib.util
import os
import socket
import subprocess
import sys
import tempfile
from contextlib import suppress
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from types import ModuleType

STARTS = 7
HANDS = 5
MB = 1 << 20


def _live() -> ModuleType:
    path = Path(__file__).parents[1] / "live.py"
    spec = importlib.util.spec_from_file_location("feltd_live", path)
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def mosquitto(folder: Path) -> tuple[subprocess.Popen[bytes], int]:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port: int = server.getsockname()[1]
    config = folder / "mosquitto.conf"
    user = "user root\n" if os.geteuid() == 0 else ""
    config.write_text(f"listener {port} 127.0.0.1\nallow_anonymous true\n{user}")
    process = subprocess.Popen(
        ["/usr/sbin/mosquitto", "-c", str(config)], stderr=subprocess.DEVNULL
    )
    while True:
        with suppress(ConnectionRefusedError):
            socket.create_connection(("127.0.0.1", port)).close()
            return process, port


def drain(manager: socket.socket) -> None:
    """Forget what an earlier process has said."""
    with suppress(BlockingIOError):
        while True:
            manager.recv(65536, socket.MSG_DONTWAIT)


def ready(manager: socket.socket) -> None:
    while b"READY=1" not in manager.recv(65536):
        pass


def memory(pid: int) -> tuple[float, float]:
    """Resident memory now and at its highest, in MB."""
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    values = dict(line.split(":", 1) for line in lines)
    return tuple(int(values[key].split()[0]) / 1024 for key in ("VmRSS", "VmHWM"))  # type: ignore[return-value]


def processor(pid: int) -> float:
    """Seconds of processor time so far: what a busy machine cannot make longer."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


async def play(live: ModuleType, folder: Path, port: int, manager: socket.socket) -> None:
    table = live.Table(folder, f"mqtt://127.0.0.1:{port}", seats=9)
    took, worked = [], []
    async with table.plugged_in():
        for _ in range(STARTS):
            drain(manager)
            began = perf_counter()
            async with table.running() as process:
                await asyncio.to_thread(ready, manager)
                took.append(perf_counter() - began)
                worked.append(processor(process.pid))
                await table.stop()
        drain(manager)
        async with table.running() as process:
            await asyncio.to_thread(ready, manager)
            async with live.audience("127.0.0.1", port) as heard:
                await heard.until("status", online=True)
                for hand in range(HANDS):
                    await _hand(live, table, heard, hand)
                now, most = memory(process.pid)
            await table.stop()
    took.sort()
    cpu = min(worked)
    print(f"start to ready   best {took[0]:.2f} s, middle {took[STARTS // 2]:.2f} s (aim 0.5 s)")
    print(f"  of which work  {cpu:.2f} s of processor time")
    print(f"memory in play   {now:.1f} MB, at most {most:.1f} MB (aim 80 MB)")


async def _hand(live: ModuleType, table: object, heard: object, number: int) -> None:
    suits = "shdc"
    hands = {seat: [f"{'23456789T'[seat - 1]}{s}" for s in suits[:2]] for seat in range(1, 10)}
    await live.deal(table, heard, hands, button=number % 9 + 1)
    await live.street(table, heard, "flop", ["As", "Kd", "Qc"])
    await live.street(table, heard, "turn", ["Jh"], 3)
    await live.street(table, heard, "river", ["2d"], 4)
    await heard.command("showdown")  # type: ignore[attr-defined]
    await heard.command("end-hand")  # type: ignore[attr-defined]
    table.clear()  # type: ignore[attr-defined]
    await asyncio.sleep(4)


def main() -> None:
    live = _live()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        path = folder / "notify"
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as manager:
            manager.bind(str(path))
            os.environ["NOTIFY_SOCKET"] = str(path)
            broker, port = mosquitto(folder)
            try:
                asyncio.run(play(live, folder, port, manager))
            finally:
                broker.terminate()
                broker.wait()


if __name__ == "__main__":
    sys.exit(main())
