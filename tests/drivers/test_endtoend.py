"""Each driver against the emulator of its protocol, over a real pseudo-terminal."""

from __future__ import annotations

import asyncio
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import msgspec
import pytest

from drivers import Look, ReaderError, load
from drivers.sim.feig import Feig
from drivers.sim.field import Field
from drivers.sim.lines import Pod
from drivers.sim.metratec import Metratec
from drivers.sim.pn532 import PN532
from drivers.sim.rdm6300 import Rdm6300
from drivers.sim.twn4 import Twn4
from drivers.sim.wire import Wire

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable
    from pathlib import Path

FIFTEEN = tuple(f"E00401509500{number:04X}" for number in range(20))
NFC = ("0416C6C2D73881", "04A1B2C3D4E580", "66CF4DC2")
LF = ("67003B51C6", "67003BA86C")
LF_UIDS = {"67003B51C6": "003B51C6", "67003BA86C": "003BA86C"}


@dataclass(frozen=True)
class Setup:
    driver: str
    model: Callable[[Field], Any]
    keys: dict[str, Any]
    cards: tuple[str, ...]
    antennas: tuple[int, ...] = (1,)


def rail(**more: Any) -> dict[str, Any]:
    return {"parity": "none", "pause": 0.0, "patience": 0.3, **more}


SETUPS = {
    "pn532": Setup("pn532", PN532, {}, NFC),
    "feig": Setup("feig", lambda air: Feig(air, page=3), rail(), FIFTEEN, (1, 2, 9)),
    "feig-advanced": Setup("feig", Feig, rail(frames="advanced"), FIFTEEN, (1, 2, 9)),
    "feig-one": Setup("feig", lambda air: Feig(air, muxes=0), rail(), FIFTEEN),
    "feig-ont": Setup(
        "feig", lambda air: Feig(air, muxes=0, ont=False), rail(rf_reset=False), FIFTEEN
    ),
    "feig-connectors": Setup(
        "feig", lambda air: Feig(air, muxes=0), rail(switch="connector"), FIFTEEN, (1, 2, 4)
    ),
    "metratec": Setup("metratec", Metratec, {"patience": 0.3}, FIFTEEN, (1, 2, 12)),
    "metratec-one": Setup(
        "metratec", lambda air: Metratec(air, ports=1, asleep=True), {"patience": 0.3}, FIFTEEN
    ),
    "metratec-stream": Setup(
        "metratec", Metratec, {"multiplex": "automatic", "patience": 0.3}, FIFTEEN, (1, 2, 3)
    ),
    "metratec-14a": Setup("metratec", Metratec, {"air": "iso14443a", "patience": 0.3}, NFC, (1, 2)),
    "twn4": Setup("twn4", Twn4, {"patience": 0.2}, NFC),
    "twn4-binary": Setup(
        "twn4", lambda air: Twn4(air, binary=True), {"mode": "binary", "patience": 0.2}, NFC
    ),
    "twn4-crc": Setup(
        "twn4",
        lambda air: Twn4(air, binary=True, crc=True),
        {"mode": "binary", "crc": True, "patience": 0.2},
        NFC,
    ),
    "twn4-15693": Setup(
        "twn4", Twn4, {"search": "single", "air": "iso15693", "patience": 0.2}, FIFTEEN
    ),
    "lines": Setup("lines", lambda air: Pod(air, period=0.02), {"hold": 0.2}, FIFTEEN),
    "lines-antennas": Setup(
        "lines",
        lambda air: Pod(air, (1, 2), 0.02, "a{antenna}={uid}"),
        {"hold": 0.2, "pattern": "a(?P<antenna>[0-9]+)=(?P<uid>.+)"},
        FIFTEEN,
        (1, 2),
    ),
    "lines-json": Setup(
        "lines", lambda air: Pod(air, (1, 2, 3), 0.02, None), {"silence": 0.3}, FIFTEEN, (1, 2, 3)
    ),
    "rdm6300": Setup("rdm6300", lambda air: Rdm6300(air, period=0.02), {"hold": 0.1}, LF),
}
TWO_AT_MOST = {"pn532"}
ONE_AT_MOST = {"twn4-15693", "rdm6300"}


class Table:
    """One emulated reader and the looks that its driver gives."""

    def __init__(self, setup: Setup, link: Path, **trouble: Any) -> None:
        self.air = Field()
        self.setup = setup
        self.wire = Wire(setup.model(self.air), link=link)
        for name, value in trouble.items():
            setattr(self.wire.trouble, name, value)
        module = load(setup.driver)
        block = {
            "name": "r",
            "driver": setup.driver,
            "port": str(link),
            "antennas": {str(antenna): f"seat:{antenna}" for antenna in setup.antennas},
            "interval": 0.0,
            **setup.keys,
        }
        if setup.driver == "lines":
            block["interval"] = 0.02
        self.settings = msgspec.convert(block, module.Settings, str_keys=True)
        self.looks = module.read(self.settings)

    async def until(self, antenna: int, *uids: str) -> Look:
        """The next whole-or-not look at the antenna that hears exactly these tags."""
        wanted = {LF_UIDS.get(uid, uid) for uid in uids}
        async for look in self.looks:
            if look.antenna == antenna and set(look.tags) == wanted:
                return look
        raise AssertionError("the driver ended")


@asynccontextmanager
async def playing(name: str, tmp_path: Path, **trouble: Any) -> AsyncIterator[Table]:
    table = Table(SETUPS[name], tmp_path / "port", **trouble)
    async with table.wire, aclosing(table.looks):
        yield table


def run(work: Any) -> None:
    async def limited() -> None:
        async with asyncio.timeout(30):
            await work

    asyncio.run(limited())


@pytest.mark.parametrize("name", SETUPS)
def test_cards_come_rest_and_go(name: str, tmp_path: Path) -> None:
    async def play() -> None:
        async with playing(name, tmp_path) as table:
            cards, air = table.setup.cards, table.air
            for antenna in table.setup.antennas:
                assert not (await table.until(antenna)).tags
            for antenna, card in zip(table.setup.antennas, cards, strict=False):
                air.lay(antenna, card)
            for _ in range(4):
                for antenna, card in zip(table.setup.antennas, cards, strict=False):
                    look = await table.until(antenna, card)
                    assert look.partial is (name == "twn4-15693")
                    assert look.errors == 0
            air.clear()
            for antenna in table.setup.antennas:
                look = await table.until(antenna)
                assert not look.partial

    run(play())


@pytest.mark.parametrize("name", sorted(set(SETUPS) - ONE_AT_MOST))
def test_stacked_cards(name: str, tmp_path: Path) -> None:
    async def play() -> None:
        async with playing(name, tmp_path) as table:
            stack = table.setup.cards[:2] if name in TWO_AT_MOST else table.setup.cards[:7]
            antenna = table.setup.antennas[-1]
            table.air.lay(antenna, *stack)
            for _ in range(3):
                look = await table.until(antenna, *stack)
                assert look.partial is (name in TWO_AT_MOST)

    run(play())


@pytest.mark.parametrize("name", SETUPS)
def test_split_and_delayed_bytes_change_nothing(name: str, tmp_path: Path) -> None:
    async def play() -> None:
        async with playing(name, tmp_path, split=3, delay=0.002) as table:
            table.air.lay(1, table.setup.cards[0])
            for _ in range(3):
                assert (await table.until(1, table.setup.cards[0])).errors == 0

    run(play())


CHECKED = sorted(name for name in SETUPS if name[:4] in {"pn53", "feig", "rdm6"} or "crc" in name)
COUNTED = sorted(name for name in SETUPS if name.startswith("metratec") or name == "lines-json")


@pytest.mark.parametrize("name", [*CHECKED, *COUNTED])
def test_garbled_bytes_are_counted_and_never_a_wrong_card(name: str, tmp_path: Path) -> None:
    """Without a check sum a changed digit makes another card; a lost one is noticed."""

    async def play() -> None:
        async with playing(name, tmp_path) as table:
            card = table.setup.cards[0]
            table.air.lay(1, card)
            await table.until(1, card)
            table.wire.trouble.corrupt = 0.002 if name in CHECKED else 0.0
            table.wire.trouble.drop = 0.002
            errors = 0
            while not errors:
                look = await anext(table.looks)
                errors += look.errors
                assert set(look.tags) <= {LF_UIDS.get(card, card)} or look.partial
            table.wire.trouble.corrupt = table.wire.trouble.drop = 0.0
            table.air.clear()
            await table.until(1)

    run(play())


@pytest.mark.parametrize("name", SETUPS)
def test_noise_before_every_message(name: str, tmp_path: Path) -> None:
    async def play() -> None:
        noise = b"\xff\x07" if SETUPS[name].driver != "feig" else b"\xff\x09\x55"
        if name == "twn4-binary":
            noise = b""
        async with playing(name, tmp_path, noise=noise) as table:
            table.air.lay(1, table.setup.cards[0])
            await table.until(1, table.setup.cards[0])

    run(play())


@pytest.mark.parametrize("name", SETUPS)
def test_vanishing_is_told_and_the_next_reading_is_right(name: str, tmp_path: Path) -> None:
    async def play() -> None:
        async with playing(name, tmp_path) as table:
            table.air.lay(1, table.setup.cards[0])
            await table.until(1, table.setup.cards[0])
            await table.wire.stop()
            with pytest.raises(ReaderError, match=r"port: vanished"):
                await table.until(1, "no such card")
            with pytest.raises(ReaderError, match=r"port: not there"):
                await anext(load(table.setup.driver).read(table.settings))
            table.wire.start()
            table.looks = load(table.setup.driver).read(table.settings)
            await table.until(1, table.setup.cards[0])
            await table.looks.aclose()

    run(play())


ASKED = sorted(name for name in SETUPS if name.split("-")[0] not in {"lines", "rdm6300"})


@pytest.mark.parametrize("name", [*ASKED, "lines-json"])
def test_silence_is_told(name: str, tmp_path: Path) -> None:
    async def play() -> None:
        async with playing(name, tmp_path) as table:
            await table.until(1)
            table.wire.trouble.silent = True
            with pytest.raises(ReaderError, match=r"port: .*(answer|silent|stopped)"):
                await table.until(1, "no such card")

    run(play())


def test_feig_antenna_is_selected_anew_after_a_power_cut(tmp_path: Path) -> None:
    async def play() -> None:
        async with playing("feig", tmp_path) as table:
            table.air.lay(9, FIFTEEN[0])
            await table.until(9, FIFTEEN[0])
            table.wire.model.restart()
            for _ in range(2):
                await table.until(9, FIFTEEN[0])

    run(play())


def test_feig_disturbed_inventory_is_partial(tmp_path: Path) -> None:
    async def play() -> None:
        async with playing("feig", tmp_path) as table:
            table.air.lay(2, FIFTEEN[0])
            table.wire.model.rf_error = 1.0
            assert (await table.until(2, FIFTEEN[0])).partial

    run(play())


def test_feig_in_a_mode_of_its_own_says_so(tmp_path: Path) -> None:
    async def play() -> None:
        async with playing("feig", tmp_path) as table:
            table.wire.model.busy_mode = True
            with pytest.raises(ReaderError, match="Scan, Buffered Read or Notification Mode"):
                await table.until(1)

    run(play())


def test_feig_multiplexers_that_hang_on_one_another(tmp_path: Path) -> None:
    class Chained(Feig):
        def _powered(self) -> list[int]:
            if self._channels.get(1) != 8:
                return [self._channels.get(1, 0)]
            return [8 + self._channels.get(2, 0)]

    setup = Setup("feig", Chained, rail(feeds=[8]), FIFTEEN, (1, 9, 12))

    async def play() -> None:
        table = Table(setup, tmp_path / "port")
        async with table.wire, aclosing(table.looks):
            for antenna, card in zip(setup.antennas, FIFTEEN, strict=False):
                table.air.lay(antenna, card)
            for _ in range(2):
                for antenna, card in zip(setup.antennas, FIFTEEN, strict=False):
                    await table.until(antenna, card)

    run(play())


def test_missing_multiplexer_is_named(tmp_path: Path) -> None:
    setup = Setup("feig", lambda air: Feig(air, muxes=1), rail(), FIFTEEN, (1, 9))

    async def play() -> None:
        table = Table(setup, tmp_path / "port")
        async with table.wire, aclosing(table.looks):
            with pytest.raises(
                ReaderError, match="multiplexer 2 refuses: no answer of the function"
            ):
                await table.until(9)

    run(play())


@pytest.mark.parametrize("name", ["metratec", "metratec-stream"])
@pytest.mark.parametrize("mishap", ["brown_out", "lose_registers"])
def test_metratec_sets_up_again_what_the_reader_lost(
    name: str, mishap: str, tmp_path: Path
) -> None:
    async def play() -> None:
        async with playing(name, tmp_path) as table:
            table.air.lay(1, FIFTEEN[0])
            await table.until(1, FIFTEEN[0])
            getattr(table.wire.model, mishap)()
            for _ in range(5):
                await table.until(1, FIFTEEN[0])

    run(play())


def test_pn532_third_card_is_why_two_are_partial(tmp_path: Path) -> None:
    async def play() -> None:
        async with playing("pn532", tmp_path) as table:
            table.air.lay(1, *NFC)
            look = await table.until(1, *NFC[:2])
            assert look.partial
            table.air.lift(1, NFC[0])
            assert (await table.until(1, *NFC[1:])).partial

    run(play())


def test_pn532_phone_with_an_ats(tmp_path: Path) -> None:
    async def play() -> None:
        async with playing("pn532", tmp_path) as table:
            table.wire.model.iso_dep.add(NFC[0])
            table.air.lay(1, *NFC[:2])
            await table.until(1, *NFC[:2])

    run(play())


def test_two_em4100_cards_are_damage_and_no_absence(tmp_path: Path) -> None:
    async def play() -> None:
        async with playing("rdm6300", tmp_path) as table:
            table.air.lay(1, *LF)
            async for look in table.looks:
                if look.errors:
                    assert look.partial
                    break

    run(play())


def test_id12_tells_arrivals_only(tmp_path: Path) -> None:
    setup = Setup(
        "rdm6300", lambda air: Rdm6300(air, once=True, period=0.02), {"module": "id12"}, LF
    )

    async def play() -> None:
        table = Table(setup, tmp_path / "port")
        async with table.wire, aclosing(table.looks):
            assert (await anext(table.looks)) == Look("r", 1, partial=True)
            table.air.lay(1, LF[0])
            assert (await anext(table.looks)) == Look("r", 1, ("003B51C6",), partial=True)
            table.air.clear()
            await asyncio.sleep(0.1)
            table.air.lay(1, LF[1])
            assert (await anext(table.looks)) == Look("r", 1, ("003BA86C",), partial=True)

    run(play())


class Teller(Pod):
    """A pod that prints the lines it is given, over and over."""

    script: tuple[bytes, ...] = ()

    def speak(self) -> list[bytes]:
        return list(self.script)


def test_a_line_may_say_that_a_tag_has_left(tmp_path: Path) -> None:
    pattern = r"(?P<antenna>\d) (?P<uid>\w+)(?P<leave> off)?"
    keys = {"hold": 30.0, "pattern": pattern}
    setup = Setup("lines", lambda air: Teller(air, period=0.01), keys, FIFTEEN, (1, 2))

    async def play() -> None:
        table = Table(setup, tmp_path / "port")
        async with table.wire, aclosing(table.looks):
            a, b, c = (card.encode() for card in FIFTEEN[:3])
            table.wire.model.script = (b"2 %b\n2 %b\n7 %b\n" % (a, b, c),)
            assert not (await table.until(2, *FIFTEEN[:2])).partial
            table.wire.model.script = (b"2 %b off\n" % a,)
            await table.until(2, FIFTEEN[1])
            table.wire.model.script = (b"2 \xff%b\n2 %b off\n" % (a, b),)
            assert (await table.until(2)).errors > 0

    run(play())


def test_a_pods_antenna_that_is_not_configured_is_nobodys(tmp_path: Path) -> None:
    setup = Setup("lines", lambda air: Pod(air, (9, 1), 0.02, None), {}, FIFTEEN)

    async def play() -> None:
        table = Table(setup, tmp_path / "port")
        async with table.wire, aclosing(table.looks):
            table.air.lay(9, FIFTEEN[0])
            table.air.lay(1, FIFTEEN[1])
            seen = [await anext(table.looks) for _ in range(5)]
            assert {look.antenna for look in seen} == {1}
            await table.until(1, FIFTEEN[1])

    run(play())
