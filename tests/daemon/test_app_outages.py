"""What a table survives: its broker, its readers and its own process going away in mid-hand."""

from __future__ import annotations

import asyncio
import json
import signal
from contextlib import asynccontextmanager

import pytest

from drivers.sim.feig import Feig

HANDS = {1: ["As", "Kd"], 2: ["2c", "7h"]}
FLOP = ["Ah", "Kc", "9d"]


@pytest.fixture
def table(live, tmp_path, mosquitto):
    return live.Table(tmp_path, mosquitto.url)


@asynccontextmanager
async def opened(live, table, broker, *options):
    """The table plugged in and running, with somebody who listens to both roots."""
    async with (
        table.plugged_in(),
        live.audience("127.0.0.1", broker.port, topics=("felt/#", "felt-private/#")) as heard,
        table.running(*options),
    ):
        await heard.until("reader/rail", up=True)
        yield heard


async def started_again(live, table, heard):
    before = len(heard.of("status", online=True))
    table.start()
    await live.until(lambda: len(heard.of("status", online=True)) > before)


def gapless(counted):
    return sorted(counted) == list(range(1, max(counted) + 1))


def test_broker_down_at_start_and_killed_in_mid_hand(live, table, mosquitto):
    async def go():
        mosquitto.kill()
        async with table.plugged_in(), table.running():
            await live.until(lambda: table.said("connection refused"))
            mosquitto.start()
            async with live.audience("127.0.0.1", mosquitto.port) as heard:
                await heard.until("status", online=True)
                await live.deal(table, heard, HANDS)
                before = heard.counted()
            mosquitto.kill()
            for spot, card in enumerate(FLOP):
                table.lay(("board", card, spot))
                await asyncio.sleep(0.2)
            await asyncio.sleep(3)
            mosquitto.start()
            async with live.audience("127.0.0.1", mosquitto.port) as heard:
                await heard.until("status", online=True)
                await heard.client.publish("felt/demo/resend", '{"from": 1}', qos=1)
                await heard.until("event", late=True, street="flop")
                after = heard.counted()
            await table.stop()
        return before, after

    before, after = asyncio.run(go())
    assert gapless(before)
    assert gapless(after)
    assert before.items() <= after.items()
    assert after[max(before) + 1][1]["cards"] == FLOP
    refused = table.said("connection refused")
    assert len(refused) == 2
    assert all(f":{mosquitto.port}" in line for line in refused)
    assert table.process.returncode == 0


def test_killed_in_mid_hand_goes_on_with_the_same_hand(live, table, mosquitto):
    async def go():
        async with opened(live, table, mosquitto) as heard:
            first = await heard.command("set-names", names={"1": "Anna"}, id="once")
            await live.deal(table, heard, HANDS)
            refused = await heard.command("card", zone="seat:2", index=0, card="3c")
            await live.street(table, heard, "flop", FLOP)
            table.process.kill()
            table.process.wait()
            await heard.until("status", online=False)
            await started_again(live, table, heard)
            again = await heard.command("set-names", names={"1": "Anna"}, id="once")
            other = await heard.command("set-names", names={"2": "Anna"}, id="once")
            await live.street(table, heard, "turn", ["3d"], 3)
            await live.street(table, heard, "river", ["4d"], 4)
            assert (await heard.command("showdown"))["ok"]
            result = await heard.until("showdown")
            assert (await heard.command("end-hand"))["ok"]
            table.clear()
            await asyncio.sleep(4)
            table.process.kill()
            table.process.wait()
            await started_again(live, table, heard)
            reply = await heard.command("start-hand", seats=[1, 2])
            started = (await heard.until("event", type="hand-started", hand=2), reply)
            await table.stop()
        return heard, first, refused, again, other, result, started

    heard, first, refused, again, other, result, started = asyncio.run(go())
    assert first["ok"]
    assert {**again, "at": ""} == {**first, "at": ""}
    assert not other["ok"]
    assert not refused["ok"]
    assert (result["hand"], result["winners"]) == (1, [1])
    assert result["hands"][1]["cards"] == HANDS[2]
    assert started[1]["ok"]
    assert started[0]["button"] == 2
    counted = heard.counted()
    assert gapless(counted)
    events = [body for _, body in counted.values()]
    begun = [body["hand"] for body in events if body.get("type") == "hand-started"]
    assert begun == [1, 2]
    assert [b["street"] for b in events if b.get("type") == "street"] == [
        *("preflop", "flop", "turn", "river")
    ]
    assert len([b for b in events if b.get("type") == "commit"]) == 4
    assert len([b for b in events if (b.get("command") or {}).get("type") == "set-names"]) == 1


def test_a_retained_command_is_ignored(live, table, mosquitto):
    async def go():
        async with live.audience("127.0.0.1", mosquitto.port) as heard:
            body = json.dumps({"id": "old", "by": "test", "type": "start-hand", "seats": [1, 2]})
            await heard.client.publish("felt/demo/command", body, qos=1, retain=True)
            async with table.plugged_in(), table.running():
                await heard.until("reader/rail", up=True)
                reply = await heard.command("set-button", seat=2)
                await table.stop()
        return heard, reply

    heard, reply = asyncio.run(go())
    assert reply["ok"]
    assert heard.of("reply", id="old") == []
    assert heard.of("event", type="hand-started") == []
    assert len(table.said("retained message on felt/demo/command is ignored")) == 1


def test_a_command_about_hidden_cards_belongs_on_the_private_root(live, table, mosquitto):
    async def go():
        async with opened(live, table, mosquitto) as heard:
            await live.deal(table, heard, HANDS)
            body = {"zone": "seat:2", "index": 0, "card": "3c"}
            public = await heard.command("card", **body)
            private = await heard.command("card", private=True, **body)
            await table.stop()
        return heard, public, private

    heard, public, private = asyncio.run(go())
    assert not public["ok"]
    assert private["ok"], private
    roots = [topic for topic, body, _ in heard.messages if topic.endswith("/reply")]
    assert roots[-2:] == ["felt/demo/reply", "felt-private/demo/reply"]
    told = [body for topic, body, _ in heard.messages if topic.startswith("felt/")]
    assert '"3c"' not in json.dumps(told)


def test_missing_vanishing_and_returning_port(live, table, mosquitto):
    (wire,) = table.wires
    port = str(table.folder / "ports/rail")

    async def go():
        async with (
            live.audience("127.0.0.1", mosquitto.port) as heard,
            table.running(),
        ):
            await heard.until("alert", kind="reader-down")
            down = await heard.until("reader/rail", up=False)
            wire.start()
            await heard.until("reader/rail", up=True)
            await wire.stop()
            await live.until(lambda: len(heard.of("reader/rail", up=False)) > 1)
            wire.start()
            await live.until(lambda: len(table.said("reader rail is up")) == 2)
            await heard.until("reader/rail", up=True)
            assert (await heard.command("set-button", seat=2))["ok"]
            await table.stop()
            await wire.stop()
        return heard, down

    heard, down = asyncio.run(go())
    assert port in down["error"]
    assert len(heard.of("alert", kind="reader-down")) == 2
    lines = table.said("reader rail is down", "warning")
    assert len(lines) == 2
    assert all(port in line for line in lines)
    assert table.process.returncode == 0


def test_garbage_from_the_reader(live, table, mosquitto):
    (wire,) = table.wires

    async def go():
        async with opened(live, table, mosquitto) as heard:
            wire.trouble.corrupt, wire.trouble.drop = 0.02, 0.01
            wire.trouble.noise = b"\x55\xaa\x00rubbish"
            await asyncio.sleep(2)
            wire.trouble.corrupt, wire.trouble.drop = 0.0, 0.0
            wire.trouble.noise = b""
            await live.until(lambda: heard.of("reader/rail")[-1]["up"])
            await asyncio.sleep(1)
            await live.deal(table, heard, HANDS)
            await live.street(table, heard, "flop", FLOP)
            await table.stop()
        return heard

    heard = asyncio.run(go())
    assert gapless(heard.counted())
    assert heard.of("state")[-1]["board"] == FLOP
    assert heard.of("alert", kind="unknown-tag") == []
    assert table.process.returncode == 0


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_signals_end_it_at_once_though_no_broker_answers(live, table, mosquitto, number):
    async def go():
        mosquitto.freeze()
        try:
            async with table.plugged_in(), table.running():
                await live.until(lambda: table.said("table demo is open"))
                return await table.stop(number)
        finally:
            mosquitto.thaw()

    assert asyncio.run(go()) < 1.0
    assert table.process.returncode == 0


def test_a_second_daemon_has_to_go(live, table, mosquitto, tmp_path):
    other = tmp_path / "other"
    other.mkdir()
    rival = live.Table(other, mosquitto.url)

    async def go():
        async with opened(live, table, mosquitto) as heard:
            rival.start()
            await asyncio.to_thread(rival.process.wait, 20)
            reply = await heard.command("set-button", seat=2)
            await table.stop()
        return reply

    assert asyncio.run(go())["ok"]
    assert rival.process.returncode == 1
    assert rival.log.read_text().splitlines()[-1].startswith("feltd: another feltd")
    assert table.process.returncode == 0


def test_a_hand_on_readers_that_hear_two_tags(live, tmp_path, mosquitto):
    """A PN532 for each antenna; the cards of the board lie on three of them."""
    table = live.Table(tmp_path, mosquitto.url, rail="pn532", seats=2)
    assert not any(isinstance(wire.model, Feig) for wire in table.wires)

    async def go():
        async with (
            table.plugged_in(),
            live.audience("127.0.0.1", mosquitto.port) as heard,
            table.running(),
        ):
            await heard.until("reader/muck", up=True)
            await live.deal(table, heard, HANDS)
            await live.street(table, heard, "flop", FLOP)
            await live.street(table, heard, "turn", ["3d"], 3)
            await live.street(table, heard, "river", ["4d"], 4)
            await heard.command("showdown")
            result = await heard.until("showdown")
            await table.stop()
        return result

    assert asyncio.run(go())["winners"] == [1]
