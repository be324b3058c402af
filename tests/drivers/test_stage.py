"""The demo's table: what is laid on it reaches the real drivers over its ports."""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack, aclosing
from random import Random

import pytest

from daemon import config
from drivers.sim.deck import make_deck
from drivers.sim.layout import Layout
from drivers.sim.stage import Stage, write

PATIENCE = 10.0
LAYOUT = Layout(seats=10, up=True, shoe=True, shoe_driver="pn532", unattended="ask")


@pytest.fixture
def stage():
    random, taken = Random(5), set()
    decks = {name: make_deck(name, random, LAYOUT.air, taken) for name in ("red", "blue")}
    return Stage(LAYOUT, decks)


@pytest.fixture
def table(stage, tmp_path):
    write(stage, tmp_path, {"feig": "pause = 0.0"})
    (tmp_path / "ports").mkdir()
    return config.load(tmp_path / "table.toml")


async def listen(table, name, heard):
    driver, settings = next(pair for pair in table.readers if pair[1].name == name)
    async with aclosing(driver.read(settings)) as looks:
        async for look in looks:
            heard(look)


def played(stage, folder, table, scene):
    """Run `scene(until)` with both readers at work; `until(fits)` waits for such a look."""

    async def run():
        looks, news = [], asyncio.Event()

        def heard(look):
            looks.append(look)
            news.set()

        async def until(fits):
            async with asyncio.timeout(PATIENCE):
                while not any(map(fits, looks)):
                    news.clear()
                    await news.wait()
            looks.clear()

        async with AsyncExitStack() as stack:
            for wire in stage.wires(folder / "ports"):
                await stack.enter_async_context(wire)
            tasks = [asyncio.create_task(listen(table, name, heard)) for name in ("rail", "shoe")]
            await scene(until)
            for task in tasks:
                task.cancel()
            await asyncio.wait(tasks)

    asyncio.run(run())


def test_the_layout_has_room_on_one_reader(table):
    zones = table.setup().zones
    assert zones["rail/10"] == "seat:10"
    assert [zones[f"rail/{n}"] for n in (11, 18, 19, 20)] == [
        "seat:1:up", "seat:8:up", "board", "muck",
    ]  # fmt: skip
    assert zones["shoe/1"] == "shoe"
    assert len(zones) == 21


def test_both_families_hear_the_same_cards(stage, tmp_path, table):
    async def scene(until):
        uid = stage.decks["red"].uids["As"]
        await asyncio.gather(
            stage.take(["As"]), until(lambda look: look.reader == "shoe" and look.tags == (uid,))
        )
        stage.obey({"lay": [["seat:3", "As", 0], ["seat:3", "Kd", 0]]})
        both = (uid, stage.decks["red"].uids["Kd"])
        await until(lambda look: look.reader == "rail" and (look.antenna, look.tags) == (3, both))
        stage.obey({"clear": True})
        await until(lambda look: (look.reader, look.antenna, look.tags) == ("rail", 3, ()))

    played(stage, tmp_path, table, scene)


def test_a_card_leaves_a_shoe_that_nobody_reads(stage, tmp_path):
    async def run():
        wires = stage.wires(tmp_path)
        assert len(wires) == 2
        await stage.take(["As"])

    asyncio.run(run())
    assert stage.air["shoe"].on(1) == ()
