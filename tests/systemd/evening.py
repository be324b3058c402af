# ruff: noqa: ASYNC240 - a script that waits for what it does to files
"""Inside a booted machine: a hand at emulated readers, while the service is maltreated.

`evening.py play` lays the table out, plays to the turn through reload, kill -9, a frozen loop and
an upgrade, and leaves the hand open; `evening.py after` looks at what a power cut has left of it.
Run with the package's own Python, beside tests/live.py.
"""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import live

FOLDER = Path("/srv/table")
UNIT = "feltd@t1"
SHOE = """
[[readers]]
name = "shoe"
driver = "pcsc"
port = "Virtual PCD 00 00"
antennas = { 1 = "shoe" }
"""


def sh(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


def main_pid():
    return int(sh("systemctl", "show", "-P", "MainPID", UNIT))


def status_text():
    return sh("systemctl", "show", "-P", "StatusText", UNIT)


def restarts():
    return int(sh("systemctl", "show", "-P", "NRestarts", UNIT))


def install(table):
    """Configuration and decks where the package wants them."""
    text = table.config.read_text()
    text = text.replace('dir = "decks"', 'dir = "/etc/feltd/decks"')
    text = text.replace('dir = "state"', 'dir = "/var/lib/feltd/t1"')
    Path("/etc/feltd/t1.toml").write_text(text + SHOE)
    Path("/etc/feltd/t1.toml").chmod(0o644)
    for deck in (FOLDER / "decks").glob("*.toml"):
        target = Path("/etc/feltd/decks") / deck.name
        shutil.copy(deck, target)
        shutil.chown(target, "feltd", "feltd")
    for link in (FOLDER / "ports").iterdir():
        link.resolve().chmod(0o666)
    FOLDER.chmod(0o755)


def resident(pid):
    """Resident memory in MB."""
    pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    return round(pages * os.sysconf("SC_PAGE_SIZE") / (1 << 20), 1)


async def back(heard, pid):
    """Until another process has the table, and is online."""
    async with asyncio.timeout(40):
        while main_pid() in {0, pid} or "not connected" in status_text():  # noqa: ASYNC110
            await asyncio.sleep(0.1)
    await asyncio.sleep(1.5)
    return main_pid()


async def play():
    (FOLDER).mkdir(parents=True, exist_ok=True)
    table = live.Table(FOLDER, "mqtt://127.0.0.1:1883", seats=3)
    async with table.plugged_in():
        install(table)
        began = time.monotonic()
        sh("systemctl", "start", UNIT)
        figures = {"start": round(time.monotonic() - began, 2)}
        async with live.audience("127.0.0.1", 1883) as heard:
            await heard.until("reader/rail", up=True)
            await heard.until("reader/shoe", up=True)
            hands = {1: ["As", "Ah"], 2: ["Kd", "Kc"], 3: ["7h", "2s"]}
            await live.deal(table, heard, hands)
            await live.street(table, heard, "flop", ["Qs", "9d", "4c"])
            assert "flop" in status_text(), status_text()
            hand = heard.of("event", type="hand-started")[-1]["hand"]
            await reload()
            figures |= await trouble(table, heard)
            assert heard.of("state")[-1]["hand"] == hand
            assert heard.of("state")[-1]["phase"] == "turn"
            seqs = sorted(heard.counted())
            assert seqs == list(range(seqs[0], seqs[-1] + 1)), "a message was lost"
            assert len(heard.of("event", type="street", street="turn")) == 1
    figures |= {"hand": hand, "memory": resident(main_pid())}
    print(json.dumps(figures))


async def reload():
    """A good configuration is taken while the hand goes on, a wrong one is not."""
    path = Path("/etc/feltd/t1.toml")
    good, pid = path.read_text(), main_pid()
    path.write_text(good.replace("seats = 3", "seats = 99"))
    sh("systemctl", "reload", UNIT)
    await live.until(lambda: "the old one stays" in status_text())
    path.write_text(good.replace('unattended = "ask"', 'unattended = "all"'))
    sh("systemctl", "reload", UNIT)
    await live.until(lambda: "the old one stays" not in status_text())
    assert main_pid() == pid


async def trouble(table, heard):
    """kill -9, the turn, an upgrade, a loop that stands still."""
    figures = {}
    pid = main_pid()
    os.kill(pid, 9)
    began = time.monotonic()
    pid = await back(heard, pid)
    figures["after kill -9"] = round(time.monotonic() - began, 2)
    await live.street(table, heard, "turn", ["5h"], 3)
    sh("sh", "-c", "dpkg -i /root/feltd_*.deb")
    pid = await back(heard, pid)
    assert status_text().startswith("holdem, hand"), status_text()
    before = restarts()
    os.kill(pid, 19)
    began = time.monotonic()
    await back(heard, pid)
    figures["after a frozen loop"] = round(time.monotonic() - began, 2)
    assert restarts() == before + 1
    assert "Watchdog timeout" in sh("journalctl", "-u", UNIT, "--no-pager")
    return figures


async def after():
    """The hand that was open when the power went."""
    async with live.audience("127.0.0.1", 1883) as heard:
        state = await heard.until("state")
        await live.until(lambda: heard.of("status")[-1]["online"])
        print(json.dumps({"hand": state.get("hand"), "phase": state["phase"]}))


if __name__ == "__main__":
    asyncio.run({"play": play, "after": after}[sys.argv[1]]())
