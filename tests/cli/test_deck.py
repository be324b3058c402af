"""`feltd deck` as a program, with an emulated PN532 on a pseudo-terminal or cards in a pcscd."""

from __future__ import annotations

import asyncio
import itertools
import json
import os
import signal
import sys
from contextlib import asynccontextmanager

import pytest

from daemon.cli import main
from daemon.decks import FACTORY_ORDER, SORTED_ORDER, Deck, load, part_of, write
from drivers.sim.field import Field
from drivers.sim.pn532 import PN532
from drivers.sim.wire import Wire

RED = {card: f"04A1B2C3D4E5{number:02X}" for number, card in enumerate(SORTED_ORDER)}
BLUE = {card: f"04A1B2C3D4F6{number:02X}" for number, card in enumerate(SORTED_ORDER)}


class Program:
    """`feltd` with its lines out and in."""

    def __init__(self, process):
        self.process = process
        self.lines = []

    async def line(self, *wanted):
        """The next line that holds one of these."""
        while raw := await self.process.stdout.readline():
            self.lines.append(raw.decode().rstrip("\n"))
            if any(text in self.lines[-1] for text in wanted):
                return self.lines[-1]
        raise AssertionError(
            f"{wanted} never came: {self.lines} {await self.process.stderr.read()}"
        )

    def type(self, text):
        self.process.stdin.write(f"{text}\n".encode())

    async def end(self):
        out, err = await self.process.communicate()
        return self.process.returncode, out.decode(), err.decode()


@asynccontextmanager
async def feltd(*arguments):
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "daemon",
        *map(str, arguments),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    try:
        yield Program(process)
    finally:
        if process.returncode is None:
            process.kill()
            await process.communicate()


@asynccontextmanager
async def pn532():
    air = Field()
    async with Wire(PN532(air)) as wire:
        yield air, ["--reader", f"pn532:{wire.path}", "--set", "interval=0.0"]


def lay(air, *uids):
    air.clear(1)
    air.lay(1, *uids)


async def lay_in_turn(program, air, deck, until=""):
    """Lay down what is asked for, up to a card, which is left to the caller."""
    while True:
        line = await program.line("Next: ", "52 cards in")
        if "Next: " not in line:
            return
        card = line.split()[1]
        if card == until:
            return
        lay(air, deck[card])


def test_a_deck_is_enrolled_in_factory_order(tmp_path):
    async def test():
        async with (
            pn532() as (air, reader),
            feltd("deck", "enrol", "red", "--dir", tmp_path, *reader) as program,
        ):
            assert await program.line(" ".join(FACTORY_ORDER[:13]))
            await lay_in_turn(program, air, RED)
            return await program.end()

    assert asyncio.run(test()) == (0, "", "")
    assert load(tmp_path / "red.toml") == Deck("red", RED)
    assert not part_of(tmp_path, "red").exists()


def test_wrong_cards_on_the_way(tmp_path):
    write(tmp_path / "blue.toml", Deck("blue", BLUE))

    async def test():
        async with (
            pn532() as (air, reader),
            feltd("deck", "enrol", "red", "--dir", tmp_path, *reader) as program,
        ):
            await lay_in_turn(program, air, RED, until="4s")
            lay(air, RED["As"])
            await program.line("read before, as As")
            lay(air, BLUE["9h"])
            await program.line("9h of deck blue")
            lay(air, RED["4s"], RED["5s"])
            await program.line("one at a time")
            lay(air, RED["5s"])
            await program.line("Next: 5s")
            lay(air, RED["6s"])
            await program.line("Next: 6s")
            program.type("missed 4s")
            await program.line("4s was passed over")
            await program.line("Next: 7s")
            program.type("back")
            await program.line("6s taken back")
            program.type("nonsense")
            await program.line("no card")
            program.type("skip")
            await program.line("Next: 7s")
            lay(air, RED["7s"])
            await lay_in_turn(program, air, RED)
            return await program.end()

    assert asyncio.run(test())[0] == 0
    assert load(tmp_path / "red.toml") == Deck("red", RED)


@pytest.mark.parametrize("how", ["quit", "interrupt", "kill"])
def test_an_interrupted_enrolment_goes_on(tmp_path, how):
    async def first():
        async with (
            pn532() as (air, reader),
            feltd("deck", "enrol", "red", "--dir", tmp_path, *reader) as program,
        ):
            await lay_in_turn(program, air, RED, until="9s")
            if how == "quit":
                program.type("quit")
            else:
                signals = {"interrupt": signal.SIGINT, "kill": signal.SIGKILL}
                program.process.send_signal(signals[how])
            return await program.end()

    async def again():
        async with (
            pn532() as (air, reader),
            feltd("deck", "enrol", "red", "--dir", tmp_path, *reader) as program,
        ):
            await program.line("Going on after 8 cards")
            await lay_in_turn(program, air, RED)
            return await program.end()

    status, _, err = asyncio.run(first())
    if how != "kill":
        assert status == 1
        assert err == "feltd: deck red: 8 of 52 cards read and kept; the same command goes on\n"
    assert not (tmp_path / "red.toml").exists()
    assert asyncio.run(again())[0] == 0
    assert load(tmp_path / "red.toml") == Deck("red", RED)


def test_a_shuffled_deck_by_name_over_pcsc(tmp_path, pcscd):
    cards = list(RED)[40:] + list(RED)[:40]
    part = part_of(tmp_path, "red")
    write(part, Deck("red", {card: RED[card] for card in cards[:-2]}))

    async def test():
        reader = ["--reader", "pcsc:(S001) 00 00", "--set", "interval=0.02"]
        async with feltd(
            "deck", "enrol", "red", "--by-name", "--dir", tmp_path, *reader
        ) as program:
            await program.line("Going on after 50 cards")
            for card in cards[-2:]:
                pcscd.order("insert", slot=0, uid=RED[card])
                await program.line("Which card is it?")
                program.type(cards[0])
                await program.line("was read already")
                program.type(card)
                await program.line(f"{card} read")
                pcscd.order("remove", slot=0)
            return await program.end()

    assert asyncio.run(test())[0] == 0
    assert load(tmp_path / "red.toml") == Deck("red", RED)


def test_a_deck_that_is_there_is_not_overwritten(tmp_path, capsys):
    write(tmp_path / "red.toml", Deck("red", RED))
    arguments = ["deck", "enrol", "red", "--dir", str(tmp_path), "--reader", "pn532:/dev/null"]
    assert main(arguments) == 1
    assert "red.toml is there already" in capsys.readouterr().err


def test_a_reader_that_cannot_be_used_ends_it(tmp_path, capsys):
    arguments = ["deck", "enrol", "red", "--dir", str(tmp_path), "--reader", "pn532:/dev/nowhere"]
    assert main(arguments) == 1
    assert capsys.readouterr().err.startswith("feltd: /dev/nowhere: not there")


async def check(tmp_path, laid, *answers, json_=True):
    write(tmp_path / "red.toml", Deck("red", RED))
    write(tmp_path / "blue.toml", Deck("blue", BLUE))
    async with (
        pn532() as (air, reader),
        feltd("deck", "check", "red", "--dir", tmp_path, *reader, *["--json"] * json_) as program,
    ):
        for uid in laid:
            lay(air, uid)
            while True:
                line = (await program.process.stderr.readline()).decode()
                if "heard" in line or "This tag" in line:
                    break
        air.clear()
        for answer in answers:
            if answer in RED.values():
                air.lay(1, answer)
            else:
                program.type(answer)
        status, out, _ = await program.end()
        return status, json.loads(out) if json_ else out


def test_a_whole_deck_passes(tmp_path):
    status, result = asyncio.run(check(tmp_path, RED.values()))
    assert status == 0
    assert result["whole"]


def test_dead_missing_and_foreign_tags_are_told(tmp_path):
    lost = ["8h", "7d", "2c"]
    laid = [uid for card, uid in RED.items() if card not in lost]
    laid[5:5] = [BLUE["Th"], "01020304050607"]
    status, result = asyncio.run(check(tmp_path, laid, "", "", "m", RED["2c"]))
    assert status == 1
    assert result == {
        "deck": "red",
        "whole": False,
        "dead": ["8h"],
        "missing": ["7d"],
        "unheard": [],
        "foreign": [
            {"tag": BLUE["Th"], "deck": "blue", "card": "Th"},
            {"tag": "01020304050607", "deck": None, "card": None},
        ],
    }


def test_nobody_says_what_is_with_an_unheard_card(tmp_path):
    laid = [uid for card, uid in RED.items() if card != "8h"]
    status, text = asyncio.run(check(tmp_path, [*laid, BLUE["2c"]], "", "stop", json_=False))
    assert status == 1
    assert text == "deck red:\n  dead or missing: 8h\n  of other decks: 2c of deck blue\n"


def test_a_check_without_anybody_ends_by_itself(tmp_path):
    write(tmp_path / "red.toml", Deck("red", RED))

    async def test():
        async with (
            pn532() as (_, reader),
            feltd("deck", "check", "red", "--dir", tmp_path, "--idle", "0.2", *reader) as program,
        ):
            return await program.end()

    status, out, _ = asyncio.run(test())
    assert status == 1
    assert "dead or missing: As Ks" in out


def test_a_card_is_replaced(tmp_path):
    write(tmp_path / "red.toml", Deck("red", RED))
    write(tmp_path / "blue.toml", Deck("blue", BLUE))

    async def test():
        async with (
            pn532() as (air, reader),
            feltd("deck", "replace", "red", "9h", "--dir", tmp_path, *reader) as program,
        ):
            await program.line("Lay the new 9h down")
            lay(air, RED["9h"])
            await program.line("read before, as 9h")
            lay(air, BLUE["9h"])
            await program.line("9h of deck blue")
            lay(air, "0401020304AABB")
            return await program.end()

    status, out, _ = asyncio.run(test())
    assert status == 0
    assert "9h has its new tag" in out
    assert load(tmp_path / "red.toml") == Deck("red", RED | {"9h": "0401020304AABB"})


def test_a_tag_is_given_by_hand(tmp_path, capsys):
    write(tmp_path / "red.toml", Deck("red", RED))
    arguments = ["deck", "replace", "red", "9♥", "--dir", str(tmp_path), "--tag"]
    assert main([*arguments, "04:01:02:03:04:aa:bb"]) == 0
    assert load(tmp_path / "red.toml").cards["9h"] == "0401020304AABB"
    assert main([*arguments, RED["2c"]]) == 1
    assert "is 2c of deck red already" in capsys.readouterr().err
    assert main([*arguments, "04"]) == 2


def test_import_and_list(tmp_path, capsys):
    source = tmp_path / "red.csv"
    source.write_text("uid,card\n" + "".join(f"{uid},{card}\n" for card, uid in RED.items()))
    where = ["--dir", str(tmp_path / "decks")]
    assert main(["deck", "list", *where]) == 0
    assert main(["deck", "import", "red", str(source), *where]) == 0
    assert load(tmp_path / "decks" / "red.toml") == Deck("red", RED)
    assert main(["deck", "import", "red", str(source), *where]) == 1
    assert main(["deck", "import", "red", str(source), "--force", *where]) == 0
    assert main(["deck", "import", "blue", str(source), *where]) == 78
    assert "is As of deck red" in capsys.readouterr().err
    assert main(["deck", "list", "--json", *where]) == 0
    (row,) = json.loads(capsys.readouterr().out)
    assert (row["name"], row["error"]) == ("red", None)


def test_list_tells_a_wrong_file(tmp_path, capsys):
    (tmp_path / "red.toml").write_text('name = "red"\n[cards]\nAs = "E0"\n')
    assert main(["deck", "list", "--dir", str(tmp_path)]) == 78
    out, err = capsys.readouterr()
    assert "red.toml:3: As" in out
    assert "red.toml:3: As" in err


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (["list"], "which decks?"),
        (["enrol", "red", "--dir", "."], "which reader?"),
        (["enrol", "red", "--dir", ".", "--reader", "pn532"], "not DRIVER:PORT"),
        (["enrol", "red", "--dir", ".", "--reader", "x:y"], "unknown driver"),
        (
            ["enrol", "red", "--dir", ".", "--reader", "pn532:y", "--set", "z=1"],
            "unknown field `z`",
        ),
        (["enrol", "red", "--dir", ".", "--reader", "pn532:y", "--set", "z"], "not KEY=VALUE"),
        (["enrol", "red", "--dir", ".", "--reader", "feig:y", "--antennas", "a"], "--antennas a"),
        (["replace", "red", "9x", "--dir", "."], "is no card"),
        (["replace", "red", "9hTh", "--dir", "."], "is not one card"),
    ],
)
def test_wrong_use(tmp_path, monkeypatch, capsys, arguments, text):
    monkeypatch.chdir(tmp_path)
    assert main(["deck", *arguments]) == 2
    err = capsys.readouterr().err
    assert text in err
    assert err.count("\n") == 1


def test_on_a_terminal_the_panel_is_drawn_in_place(tmp_path):
    async def test():
        master, slave = os.openpty()
        shown = bytearray()
        more = asyncio.Event()

        def readable():
            shown.extend(os.read(master, 4096))
            more.set()

        async def until(text):
            while text not in shown:
                more.clear()
                await more.wait()

        asyncio.get_running_loop().add_reader(master, readable)

        async with pn532() as (air, reader):
            process = await asyncio.create_subprocess_exec(
                *(sys.executable, "-m", "daemon", "deck", "enrol", "red", "--dir", tmp_path),
                *reader,
                stdin=slave,
                stdout=slave,
                stderr=slave,
                env=os.environ | {"TERM": "xterm"},
            )
            for card, following in itertools.pairwise(FACTORY_ORDER[:4]):
                await until(f"Next: {card}".encode())
                lay(air, RED[card])
                await until(f"Next: {following}".encode())
            os.write(master, b"quit\n")
            status = await process.wait()
            await until(b"3 of 52 cards read and kept")
        asyncio.get_running_loop().remove_reader(master)
        os.close(master)
        os.close(slave)
        return status, bytes(shown)

    status, shown = asyncio.run(test())
    assert status == 1
    assert b"\x1b[2K" in shown
    assert b"3s read" in shown
