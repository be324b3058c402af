"""The emulators: independent of the drivers, and able to do what radio and lines do."""

from __future__ import annotations

import ast
import asyncio
import os
import time
from pathlib import Path
from typing import Any

import pytest

import drivers.sim
from drivers.sim.feig import Feig
from drivers.sim.field import Field
from drivers.sim.pn532 import PN532
from drivers.sim.twn4 import Twn4
from drivers.sim.wire import Trouble, Wire

SIM = Path(drivers.sim.__file__).parent
PROTOCOLS = ["pn532", "feig", "metratec", "twn4", "lines", "rdm6300"]
A, B, C = "E0040150954F0001", "E0040150954F0002", "E0040150954F0003"


@pytest.mark.parametrize("name", [*PROTOCOLS, "field", "wire"])
def test_emulators_share_nothing_with_the_drivers(name: str) -> None:
    tree = ast.parse((SIM / f"{name}.py").read_text())
    found = [node.module or "" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
    found += [
        each.name for node in ast.walk(tree) if isinstance(node, ast.Import) for each in node.names
    ]
    ours = {module for module in found if module.startswith(("drivers", "daemon"))}
    assert ours <= {"drivers.sim.field", "drivers.sim.wire"}


def test_a_card_lies_in_one_place() -> None:
    air = Field()
    air.lay(1, A, B)
    air.lay(2, A)
    assert (air.on(1), air.on(2)) == ((B,), (A,))
    air.lift(1, A)
    assert air.on(2) == (A,)
    air.lift(2, A.lower())
    assert air.on(2) == ()
    air.clear(1)
    assert air.heard(1) == []


def test_stacked_tags_collide_now_and_then_and_lone_ones_never() -> None:
    air = Field(collide=0.5)
    air.lay(1, A, B, C)
    air.lay(2, A)
    counts = [len(air.heard(1)) for _ in range(400)]
    assert set(counts) == {1, 2}
    air.lay(1, A)
    assert {len(air.heard(1)) for _ in range(400)} == {2, 3}
    air.clear()
    air.lay(2, A)
    assert {len(air.heard(2)) for _ in range(100)} == {1}


def test_neighbours_dead_tags_and_deaf_antennas() -> None:
    air = Field(overhear={2: 1}, crosstalk=0.3)
    air.lay(1, A, B)
    air.dead.add(B)
    heard = [tuple(air.heard(2)) for _ in range(300)]
    assert set(heard) == {(), (A,)}
    assert 40 < heard.count((A,)) < 160
    air.deaf.add(2)
    assert air.heard(2) == []
    assert air.heard(1) == [A]


def test_the_same_seed_is_the_same_luck() -> None:
    def luck(seed: int) -> list[list[str]]:
        air = Field(collide=0.5, seed=seed)
        air.lay(1, A, B, C)
        return [air.heard(1) for _ in range(50)]

    assert luck(1) == luck(1) != luck(2)


def test_trouble_drops_and_corrupts_as_often_as_asked() -> None:
    data = bytes(10_000)
    lost = Trouble(drop=0.1).spoil(data)
    assert 8_800 < len(lost) < 9_200
    changed = Trouble(corrupt=0.1).spoil(data)
    assert len(changed) == len(data)
    assert 8_800 < changed.count(0) < 9_200
    assert Trouble(noise=b"!").spoil(b"x") == b"!x"


class Parrot:
    period = None

    def restart(self) -> None: ...

    def speak(self) -> list[bytes]:
        return []

    def hear(self, data: bytes) -> list[tuple[float, bytes]]:
        return [(0.0, data)]


def descriptors() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))


def names(folder: Path) -> list[Path]:
    return list(folder.iterdir())


def exchange(wire: Wire, data: bytes) -> tuple[bytes, float]:
    """What the far end of the pseudo-terminal gives back, and in how many seconds."""

    async def play() -> tuple[bytes, float]:
        async with wire:
            port = os.open(wire.path, os.O_RDWR | os.O_NOCTTY)
            os.set_blocking(port, False)
            begun, got = time.perf_counter(), b""
            os.write(port, data)
            while len(got) < len(data):
                await asyncio.sleep(0.001)
                try:
                    got += os.read(port, 4096)
                except BlockingIOError:
                    continue
            os.close(port)
            return got, time.perf_counter() - begun

    return asyncio.run(asyncio.wait_for(play(), 10))


def test_a_line_is_never_faster_than_its_speed() -> None:
    data = bytes(range(96))
    got, took = exchange(Wire(Parrot(), baud=9600), data)
    assert got == data
    assert took >= 2 * len(data) * 10 / 9600
    got, took = exchange(Wire(Parrot(), trouble=Trouble(split=5)), data)
    assert got == data


def test_vanishing_leaves_no_name_and_no_descriptor(tmp_path: Path) -> None:
    async def play() -> None:
        wire = Wire(Parrot(), link=tmp_path / "reader")
        before = descriptors()
        for _ in range(5):
            async with wire:
                assert (tmp_path / "reader").is_char_device()
            assert names(tmp_path) == []
            await wire.stop()
        assert descriptors() == before

    asyncio.run(play())


def said(model: Any, *requests: str) -> list[str]:
    model.restart()
    return [
        answer.hex() for request in requests for _, answer in model.hear(bytes.fromhex(request))
    ]


def test_feig_keeps_heard_tags_quiet_until_the_field_was_off() -> None:
    air = Field()
    air.lay(1, "E01680FF08004FBC")
    inventory, reset = "07ffb001001c56", "05ff698901"
    one, none = "1100b000010300e01680ff08004fbc187b", "0600b0015c63"
    answers = said(Feig(air, muxes=0), inventory, inventory, reset, inventory)
    assert [answers[0], answers[1], answers[3]] == [one, none, one]
    assert said(Feig(air, muxes=0, ont=False), inventory, inventory) == [one, one]


def test_feig_answers_nothing_to_a_wrong_sum_or_another_address() -> None:
    air = Field()
    assert said(Feig(air), "07ffb001001c57") == []
    assert said(Feig(air, address=5), "060052000000") == []
    assert said(Feig(air), "06ff52000f6e") == ["06005200fca8"]
    assert said(Feig(air), "020009ffb001001843")[0].startswith("020008")


def test_pn532_sleeps_until_woken_and_configured() -> None:
    list_two, sam = "0000ff04fcd44a0200e000", "0000ff03fdd414011700"
    chip = PN532(Field())
    assert said(chip, list_two, sam) == []
    ack = "0000ff00ff00"
    assert said(chip, "5555" + "00" * 14 + sam) == [ack, "0000ff02fed5151600"]


def test_pn532_waits_for_ever_on_an_empty_antenna_unless_told() -> None:
    wake, list_two = "5555" + "00" * 14 + "0000ff03fdd414011700", "0000ff04fcd44a0200e000"
    retries = "0000ff06fad43205ff0102f300"
    ack = "0000ff00ff00"
    assert said(PN532(Field()), wake, list_two)[2:] == [ack]
    assert said(PN532(Field()), wake, retries, list_two)[4:] == [ack, "0000ff03fdd54b00e000"]


def test_twn4_answers_the_documents_examples() -> None:
    air = Field()
    air.lay(1, "66CF4DC2")
    asked = [b"0004FF\r".hex(), b"050010\r".hex(), b"0501\r".hex()]
    answers = [bytes.fromhex(answer).decode() for answer in said(Twn4(air), *asked)]
    assert answers == [
        "001D54574E342F42312E30332F434346312E35372F505253312E30332F5049\r",
        "000180200466CF4DC2\r",
        "00\r",
    ]
    binary = Twn4(Field(), binary=True, crc=True)
    assert said(binary, "0400050182d9")[0].startswith("0300")
