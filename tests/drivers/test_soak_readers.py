"""Hours of a table's trouble in minutes: readers vanish, garble, fall silent and return."""

from __future__ import annotations

import asyncio
import gc
import os
from pathlib import Path
from random import Random
from typing import Any

import msgspec
import pytest

from daemon.readers import Backoff, supervise
from drivers import Look, ReaderDown, ReaderUp, load
from drivers.sim.feig import Feig
from drivers.sim.field import Field
from drivers.sim.lines import Pod
from drivers.sim.metratec import Metratec
from drivers.sim.pn532 import PN532
from drivers.sim.rdm6300 import Rdm6300
from drivers.sim.twn4 import Twn4
from drivers.sim.wire import Trouble, Wire

SECONDS = float(os.environ.get("FELTD_SOAK_SECONDS", "90"))
VICINITY = [f"E00401509500{number:04X}" for number in range(12)]
PROXIMITY = [f"04A1B2C3D4E5{number:02X}" for number in range(4)]
COINS = ["67003B51C6"]
RAIL = {str(number): f"seat:{number}" for number in range(1, 11)}
QUICK = {"patience": 0.3, "interval": 0.01}

TABLE: dict[str, tuple[str, Any, dict[str, Any], list[str]]] = {
    "rail": (
        "feig",
        Feig,
        {"antennas": RAIL, "parity": "none", "pause": 0.0, **QUICK},
        VICINITY,
    ),
    "board": ("metratec", Metratec, {"antennas": {"1": "board", "2": "board"}, **QUICK}, VICINITY),
    "muck": (
        "lines",
        lambda air: Pod(air, period=0.02, form=None),
        {"antennas": {"1": "muck"}, "silence": 0.5},
        VICINITY,
    ),
    "shoe": ("pn532", PN532, {"antennas": {"1": "shoe"}, "interval": 0.01}, PROXIMITY),
    "burn": (
        "twn4",
        lambda air: Twn4(air, crc=True),
        {"antennas": {"1": "burn"}, "crc": True, **QUICK},
        PROXIMITY,
    ),
    "coin": ("rdm6300", lambda air: Rdm6300(air, period=0.02), {"antennas": {"1": "shoe"}}, COINS),
}


class Reader:
    """One emulated reader, the cards it knows and what its driver said last."""

    def __init__(self, name: str, folder: Path, luck: Random) -> None:
        driver, model, keys, self.cards = TABLE[name]
        self.air, self.luck, self.most = Field(), luck, 1 if driver in {"pn532", "rdm6300"} else 4
        self.wire = Wire(model(self.air), link=folder / name)
        block = {"name": name, "driver": driver, "port": str(folder / name), **keys}
        self.driver = load(driver)
        self.settings = msgspec.convert(block, self.driver.Settings, str_keys=True)
        self.seen: dict[int, tuple[str, ...]] = {}
        self.up = False

    def deal(self) -> None:
        """Lay some cards somewhere and take all others away."""
        self.air.clear()
        antenna = self.luck.choice(sorted(self.settings.antennas))
        self.air.lay(antenna, *self.luck.sample(self.cards, min(self.most, len(self.cards))))

    async def suffer(self) -> None:
        """One mishap, and its end."""
        trouble = self.wire.trouble
        mishap = self.luck.choice(["vanish", "silent", "garble", "split", "noise"])
        if mishap == "vanish":
            await self.wire.stop()
        elif mishap == "silent":
            trouble.silent = True
        elif mishap == "garble":
            trouble.corrupt, trouble.drop = 0.01, 0.005
        elif mishap == "split":
            trouble.split, trouble.delay = 2, 0.005
        else:
            trouble.noise = self.luck.randbytes(8)
        await asyncio.sleep(self.luck.uniform(0.0, 1.0))
        self.wire.trouble = Trouble(seed=self.luck.randrange(1000))
        if mishap == "vanish":
            self.wire.start()

    def right(self) -> bool:
        """Whether every antenna's last look is what truly lies there."""
        return self.up and all(
            set(self.seen.get(antenna, ())) == {uid[2:] if len(uid) == 10 else uid for uid in lying}
            and antenna in self.seen
            for antenna in self.settings.antennas
            for lying in [self.air.on(antenna)]
        )


async def trouble_and_calm(readers: list[Reader], news: asyncio.Event, rounds: list[int]) -> None:
    for reader in readers:
        reader.deal()
    await asyncio.gather(*(reader.suffer() for reader in readers))
    for reader in readers:
        reader.seen.clear()
    async with asyncio.timeout(30):
        while not all(reader.right() for reader in readers):
            news.clear()
            await news.wait()
    rounds.append(len(readers))


def resources() -> tuple[int, int]:
    gc.collect()
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return len(list(Path("/proc/self/fd").iterdir())), pages * os.sysconf("SC_PAGESIZE")


@pytest.mark.soak
@pytest.mark.timeout(int(SECONDS) + 120)
def test_readers_live_through_hours_of_trouble(tmp_path: Path) -> None:
    luck = Random(7)
    rounds: list[int] = []
    measured: list[tuple[int, int]] = []

    async def play() -> None:
        readers = {name: Reader(name, tmp_path, luck) for name in TABLE}
        news = asyncio.Event()

        def put(event: Look | ReaderUp | ReaderDown) -> None:
            reader = readers[event.reader]
            if isinstance(event, Look):
                reader.seen[event.antenna] = event.tags
            else:
                reader.up = isinstance(event, ReaderUp)
            news.set()

        for reader in readers.values():
            reader.wire.start()
        pairs = [(reader.driver, reader.settings) for reader in readers.values()]
        backoff = Backoff(first=0.05, longest=0.2)
        task = asyncio.create_task(supervise(pairs, put, backoff=backoff))
        until = asyncio.get_running_loop().time() + SECONDS
        while asyncio.get_running_loop().time() < until:
            await trouble_and_calm(list(readers.values()), news, rounds)
            assert not task.done()
            measured.append(resources())
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        for reader in readers.values():
            await reader.wire.stop()

    asyncio.run(play())
    warm = measured[len(measured) // 4]
    assert len(rounds) >= SECONDS / 10
    assert measured[-1][0] == warm[0], "a descriptor leaked"
    assert measured[-1][1] - warm[1] < 4 << 20, "memory grew"
