"""`feltd readers` as a program, with emulated readers on pseudo-terminals and cards in a pcscd."""

from __future__ import annotations

import asyncio
import json
import os
import re
import sys
import tomllib
from contextlib import AsyncExitStack, aclosing
from functools import partial
from pathlib import Path
from types import SimpleNamespace

import pytest

import drivers
from daemon import config
from daemon.cli import _found, main
from daemon.cli._probe import PROBES
from drivers.sim.feig import Feig
from drivers.sim.field import Field
from drivers.sim.lines import Pod
from drivers.sim.metratec import Metratec
from drivers.sim.pn532 import PN532
from drivers.sim.rdm6300 import Rdm6300
from drivers.sim.twn4 import Twn4
from drivers.sim.wire import Wire

MODELS = {
    "feig": (partial(Feig, muxes=0), "E0040150954F02B1"),
    "pn532": (PN532, "04A1B2C3D4E5F6"),
    "metratec": (Metratec, "E0040150954F02B1"),
    "twn4": (Twn4, "04A1B2C3D4E5F6"),
    "rdm6300": (Rdm6300, "010087D6F3"),
    "lines": (Pod, "04A1B2C3D4E5F6"),
}


async def feltd(*arguments):
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "daemon", *map(str, arguments)),
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    out, err = await process.communicate()
    return process.returncode, out.decode(), err.decode()


async def first_tags(block):
    """What the driver hears with the settings of a block."""
    driver, settings = config.check(
        Path("table.toml"), {"table": TABLE, "readers": [block]}
    ).readers[0]
    async with asyncio.timeout(20), aclosing(driver.read(settings)) as looks:
        async for look in looks:
            if look.tags:
                return look.tags
    return ()


def on_a_pty(block):
    """A pseudo-terminal takes a parity once, and refuses it from then on."""
    return block | {"parity": "none"} if block["driver"] == "feig" else block


TABLE = {"id": "t1", "discipline": "holdem", "seats": 9}


def test_every_family_is_found_and_none_is_upset():
    async def test():
        async with AsyncExitStack() as stack:
            ports = {}
            for name, (model, uid) in MODELS.items():
                air = Field()
                air.lay(1, uid)
                wire = await stack.enter_async_context(Wire(model(air)))
                ports[wire.path] = name
            master, slave = os.openpty()
            stack.callback(os.close, master)
            stack.callback(os.close, slave)
            silent = os.ttyname(slave)
            asked = [*ports, silent, "/dev/nowhere"]
            arguments = [text for port in asked for text in ("--port", port)]
            status, out, err = await feltd("readers", "--probe", *arguments)
            blocks = tomllib.loads(out)["readers"]
            heard = [await first_tags(on_a_pty(block)) for block in blocks]
            return status, blocks, err, ports, heard, silent

    status, blocks, err, ports, heard, silent = asyncio.run(test())
    assert status == 0
    assert {block["port"]: block["driver"] for block in blocks} == ports
    assert heard == [(MODELS[block["driver"]][1].removeprefix("01"),) for block in blocks]
    assert {block["name"] for block in blocks} == set(MODELS)
    assert "TWN4" in err
    assert "PN532, firmware 1.6" in err
    assert "DESKID_ISO" in err
    assert f"{silent}: nobody answers" in err
    assert "/dev/nowhere: not there" in err


def test_nothing_is_found(capsys):
    assert main(["readers", "--probe", "--json", "--port", "/dev/nowhere"]) == 1
    assert json.loads(capsys.readouterr().out) == []


def test_pcsc_readers_are_found_by_steady_names(pcscd, capsys, monkeypatch):
    monkeypatch.setattr(_found, "ports", list)
    assert main(["readers", "--probe"]) == 0
    out, err = capsys.readouterr()
    blocks = tomllib.loads(out)["readers"]
    ports = {block["port"]: block for block in blocks}
    acr122u = [port for port in ports if port.startswith("ACS ACR122U PICC Interface")]
    shoe = [port for port in ports if port.startswith("Feltd Shoe (S001)")]
    assert len(acr122u) == len(shoe) == 2
    assert len(blocks) == 4
    assert [block["name"] for block in blocks] == ["pcsc", "pcsc-2", "pcsc-3", "pcsc-4"]
    assert err.count("nothing tells apart") == 4
    pcscd.order("insert", slot=0, uid="04A1B2C3D4E5F6")
    assert asyncio.run(first_tags(ports[min(shoe)])) == ("04A1B2C3D4E5F6",)


def test_the_listing(pcscd, capsys):
    assert main(["readers"]) == 0
    out = capsys.readouterr().out
    assert re.search(r'(Feltd Shoe \(S001\) \d\d 00)  port = "\1"', out)
    assert main(["readers", "--json"]) == 0
    listing = json.loads(capsys.readouterr().out)
    assert listing["pcsc_error"] is None
    twins = [slot for slot in listing["pcsc"] if slot["name"].startswith("Feltd Twin")]
    assert len(twins) == 4
    assert not any(slot["port"] for slot in twins)
    assert main(["readers", "--port", "/dev/ttyX"]) == 0
    assert "  /dev/ttyX\n" in capsys.readouterr().out


INFO = SimpleNamespace(
    device="/dev/ttyUSB0", vid=0x0403, pid=0x6001, serial_number="A10K1ABC", location="1-1.2"
)


def test_what_usb_says_is_a_match_rule():
    assert _found.described(INFO) == "vid=0403,pid=6001,serial=A10K1ABC,location=1-1.2"
    nothing = SimpleNamespace(
        device="/dev/ttyS0", vid=None, pid=None, serial_number=None, location=None
    )
    assert _found.described(nothing) == ""


@pytest.mark.parametrize("folder", ["by-id", "by-path"])
def test_a_steady_name_is_preferred(tmp_path, monkeypatch, folder):
    device = tmp_path / "ttyUSB0"
    device.touch()
    (tmp_path / folder).mkdir()
    link = tmp_path / folder / "usb-FTDI-if00-port0"
    link.symlink_to(device)
    monkeypatch.setattr(_found, "_NAMES", tmp_path)
    assert _found.steady(str(device)) == str(link)
    assert _found.steady("/dev/ttyS0") == "/dev/ttyS0"


class Teacher:
    """A person at `feltd readers --map`."""

    def __init__(self, process):
        self.process = process

    async def sees(self, text):
        seen = []
        while raw := await self.process.stderr.readline():
            seen.append(raw.decode())
            if text in seen[-1]:
                return
        raise AssertionError(f"{text} never came: {seen}")

    def types(self, text):
        self.process.stdin.write(f"{text}\n".encode())


@pytest.mark.parametrize("as_json", [False, True])
def test_a_card_is_walked_over_the_antennas(as_json):
    async def test():
        air = Field()
        async with Wire(Feig(air)) as wire:
            process = await asyncio.create_subprocess_exec(
                *(sys.executable, "-m", "daemon", "readers", "--map", *["--json"] * as_json),
                *("--reader", f"feig:{wire.path}", "--antennas", "1-4"),
                *("--set", "parity=none", "--set", "interval=0.0", "--set", "pause=0.0"),
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.PIPE,
            )
            person = Teacher(process)
            for antenna, zone in ((1, "3"), (3, "board"), (2, "muck")):
                air.lay(antenna, "E0040150954F02B1")
                await person.sees(f"feig/{antenna} hears the card: which zone?")
                person.types("table")
                await person.sees("is no zone")
                person.types(zone)
                await person.sees(f"feig/{antenna} is")
            person.types("")
            out, _ = await process.communicate()
            return process.returncode, out.decode()

    status, out = asyncio.run(test())
    assert status == 0
    zones = {"1": "seat:3", "2": "muck", "3": "board"}
    if as_json:
        assert json.loads(out) == {"feig": zones}
    else:
        assert tomllib.loads(out) == {"antennas": zones}


def test_mapping_the_readers_of_a_configuration(tmp_path):
    async def test():
        air = Field()
        async with Wire(PN532(air)) as wire:
            path = tmp_path / "table.toml"
            path.write_text(
                '[table]\nid = "t1"\ndiscipline = "holdem"\nseats = 9\n[[readers]]\nname = "one"\n'
                f'driver = "pn532"\nport = "{wire.path}"\nantennas = {{ 1 = "seat:1" }}\n'
            )
            process = await asyncio.create_subprocess_exec(
                *(sys.executable, "-m", "daemon", "readers", "--map", "--config", path),
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.PIPE,
            )
            person = Teacher(process)
            air.lay(1, "04A1B2C3D4E5F6")
            await person.sees("one/1 hears the card")
            person.types("shoe")
            out, _ = await process.communicate()
            return process.returncode, out.decode()

    assert asyncio.run(test()) == (0, '# reader one\nantennas = { 1 = "shoe" }\n')


@pytest.mark.parametrize(
    ("arguments", "text"),
    [(["--map"], "which reader?"), (["--map", "--probe"], "one after the other")],
)
def test_wrong_use(capsys, arguments, text):
    assert main(["readers", *arguments]) == 2
    assert text in capsys.readouterr().err


def test_every_driver_has_a_probe_or_is_pcsc():
    assert {probe.driver for probe in PROBES} | {"pcsc"} == set(drivers.known())
