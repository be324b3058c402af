"""What a table survives: its disk, its journal and its broker failing it, alone and together."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
from contextlib import asynccontextmanager

import pytest

HANDS = {1: ["As", "Kd"], 2: ["2c", "7h"]}
FLOP = ["Ah", "Kc", "9d"]
ROOTS = ("felt/#", "felt-private/#")


@pytest.fixture
def table(live, tmp_path, mosquitto):
    return live.Table(tmp_path, mosquitto.url)


@asynccontextmanager
async def opened(live, table, port, *options):
    async with (
        table.plugged_in(),
        live.audience("127.0.0.1", port, topics=ROOTS) as heard,
        table.running(*options),
    ):
        await heard.until("reader/rail", up=True)
        yield heard


def gapless(counted):
    return sorted(counted) == list(range(1, max(counted) + 1))


@pytest.fixture
def small_disk(tmp_path):
    """A disk of 2 MiB where the state of the table lies; only root can have one."""
    place = tmp_path / "state"
    place.mkdir(mode=0o700)
    mount = ["mount", "-t", "tmpfs", "-o", "size=2m", "feltd-test", place]
    if os.geteuid() or subprocess.run(mount, check=False, capture_output=True).returncode:
        pytest.skip("may not mount")
    yield place
    subprocess.run(["umount", place], check=True)


def test_a_full_disk_holds_everything_up_and_loses_nothing(live, table, mosquitto, small_disk):
    filler = small_disk / "filler"

    async def go():
        async with opened(live, table, mosquitto.port) as heard:
            await live.deal(table, heard, HANDS)
            with pytest.raises(OSError, match="No space"):
                filler.write_bytes(bytes(4 << 20))
            before = heard.counted()
            for spot, card in enumerate(FLOP):
                table.lay(("board", card, spot))
                await asyncio.sleep(0.2)
            body = {"id": "while full", "by": "test", "type": "set-names", "names": {"1": "Anna"}}
            await heard.client.publish("felt/demo/command", json.dumps(body), qos=1)
            await live.until(lambda: table.said("full"))
            await asyncio.sleep(3)
            during = heard.counted()
            answered = heard.of("reply", id="while full")
            filler.unlink()
            await heard.until("event", type="street", street="flop")
            reply = await heard.until("reply", id="while full")
            await table.stop()
            return before, during, answered, reply, heard

    before, during, answered, reply, heard = asyncio.run(go())
    assert during == before, "told only what is on the disk"
    assert answered == []
    assert reply["ok"]
    assert gapless(heard.counted())
    assert len(table.said("full", "error")) == 1
    assert table.process.returncode == 0


def test_a_read_only_disk_is_one_line_at_the_start(live, table, mosquitto, small_disk):
    subprocess.run(["mount", "-o", "remount,ro", small_disk], check=True)
    table.start()
    assert table.process.wait(live.PATIENCE) == 1
    subprocess.run(["mount", "-o", "remount,rw", small_disk], check=True)
    lines = table.log.read_text().splitlines()
    assert len(lines) == 1
    assert lines[0].endswith("state: Read-only file system")
    assert lines[0].startswith("feltd: ")


def test_a_damaged_journal_is_set_aside_and_said_so(live, table, mosquitto):
    async def go():
        async with opened(live, table, mosquitto.port) as heard:
            await live.deal(table, heard, HANDS)
            table.process.kill()
            table.process.wait()
            journal = table.folder / "state/journal.db"
            content = journal.read_bytes()
            journal.write_bytes(content[:4096] + os.urandom(len(content) - 4096))
            (table.folder / "state/journal.db-wal").unlink()
            old = heard.of("event")[-1]["epoch"]
            table.start()
            alert = await heard.until("alert", kind="memory-lost")
            await live.until(lambda: heard.of("state")[-1]["epoch"] != old)
            reply = await heard.command("set-button", seat=2)
            await table.stop()
            return heard, old, alert, reply

    heard, old, alert, reply = asyncio.run(go())
    assert alert["epoch"] != old
    assert (alert["seq"], alert["severity"]) == (1, "stop")
    assert reply["ok"]
    (line,) = table.said("set aside as", "error")
    aside = [path.name for path in (table.folder / "state").glob("journal-damaged-*.db")]
    assert len(aside) == 1
    assert aside[0] in line
    assert heard.of("status", online=True)[-1]["epoch"] == alert["epoch"]


def test_a_frozen_broker_costs_nothing(live, table, mosquitto):
    async def go():
        async with opened(live, table, mosquitto.port) as heard:
            await live.deal(table, heard, HANDS)
            mosquitto.freeze()
            try:
                for spot, card in enumerate(FLOP):
                    table.lay(("board", card, spot))
                    await asyncio.sleep(0.2)
                await live.until(lambda: table.said("does not acknowledge"))
            finally:
                mosquitto.thaw()
            await heard.until("event", type="street", street="flop")
            await live.until(lambda: len(table.said("connected to")) == 2)
            assert (await heard.command("set-names", names={"1": "Anna"}))["ok"]
            await table.stop()
            return heard

    heard = asyncio.run(go())
    assert gapless(heard.counted())
    assert heard.of("state")[-1]["board"] == FLOP


def test_an_empty_broker_is_told_the_last_of_everything(live, table, mosquitto):
    """This Mosquitto keeps nothing on its disk."""

    async def go():
        async with opened(live, table, mosquitto.port) as heard:
            assert (await heard.command("button-draw", seats=[1, 2]))["ok"]
            table.lay(("seat:1", "Qh"))
            await asyncio.sleep(0.5)
            table.lay(("seat:2", "Kd"))
            await heard.until("ruling/button-draw", winner=2)
            table.clear()
            await asyncio.sleep(4)
            await live.deal(table, heard, HANDS)
            for name, cards, lying in (
                ("flop", FLOP, 0),
                ("turn", ["3d"], 3),
                ("river", ["4d"], 4),
            ):
                await live.street(table, heard, name, cards, lying)
            assert (await heard.command("showdown"))["ok"]
            last = await heard.until("showdown")
            mosquitto.kill()
            mosquitto.start()
            names = ("status", "state", "showdown", "ruling/button-draw", "reader/rail", "metrics")
            async with live.audience("127.0.0.1", mosquitto.port) as late:
                found = {name: await late.until(name) for name in names}
            await table.stop()
            return last, found

    last, found = asyncio.run(go())
    assert found["status"]["online"]
    assert found["showdown"] == last
    assert found["ruling/button-draw"]["winner"] == 2
    state = found["state"]
    assert (state["phase"], state["board"]) == ("showdown", [*FLOP, "3d", "4d"])
    assert state["seq"] >= last["seq"] > found["ruling/button-draw"]["seq"]


def test_daemon_and_broker_killed_together(live, table, mosquitto):
    async def go():
        async with table.plugged_in(), table.running():
            async with live.audience("127.0.0.1", mosquitto.port) as heard:
                await heard.until("reader/rail", up=True)
                await live.deal(table, heard, HANDS)
                before = heard.counted()
            table.process.kill()
            mosquitto.kill()
            table.process.wait()
            mosquitto.start()
            table.start()
            async with live.audience("127.0.0.1", mosquitto.port) as heard:
                await heard.until("status", online=True)
                await live.street(table, heard, "flop", FLOP)
                await heard.client.publish("felt/demo/resend", '{"from": 1}', qos=1)
                await heard.until("event", late=True, type="street", street="flop")
                await table.stop()
                return before, heard

    before, heard = asyncio.run(go())
    after = heard.counted()
    assert before.items() <= after.items()
    assert gapless(after)
    assert heard.of("state")[-1]["hand"] == 1


def test_what_an_access_rule_refuses_is_an_alert(live, site, tmp_path):
    rules = site.folder / "table.acl"
    deny = "topic deny felt/demo/event\ntopic deny felt-private/demo/hole-cards\n"
    rules.write_text(rules.read_text().replace("user table\n", f"user table\n{deny}"))
    site.start("table")
    port = site.ports["table"]["1883"]
    keys = (
        f'mqtt://127.0.0.1:{port}"\nusername = "table"\npassword_file = "{tmp_path}/table.password'
    )
    table = live.Table(tmp_path, keys)
    text = table.config.read_text()
    table.config.write_text(text.replace("[secrecy]", '[secrecy]\nhole_cards = "clear"'))

    async def go():
        async with (
            table.plugged_in(),
            live.audience("127.0.0.1", port, "floor", "floor-pw") as heard,
            table.running(),
        ):
            await heard.until("reader/rail", up=True)
            assert (await heard.command("start-hand", seats=[1, 2], button=1))["ok"]
            await heard.until("alert", kind="refused-message", zone="felt/demo/event")
            for turn in range(2):
                for seat, cards in HANDS.items():
                    table.lay((f"seat:{seat}", cards[turn]))
                    await asyncio.sleep(0.15)
            await heard.until("alert", kind="refused-message", zone="felt-private/demo")
            await heard.until("state", phase="preflop")
            await table.stop()
            return heard

    heard = asyncio.run(go())
    assert heard.of("event") == []
    zones = [body["zone"] for body in heard.of("alert", kind="refused-message")]
    assert sorted(zones) == ["felt-private/demo", "felt/demo/event"]
    assert all("seq" in body for body in heard.of("alert"))
    assert len(table.said("the broker refuses felt/demo/event: Not authorized")) > 2


def test_recorded_alerts_and_odds_come_again_in_a_replay(live, table, mosquitto, tmp_path):
    other = tmp_path / "other"
    other.mkdir()
    rival = live.Table(other, mosquitto.url)
    record = tmp_path / "evening.jsonl"
    text = table.config.read_text()
    table.config.write_text(text.replace("[secrecy]", '[secrecy]\nhole_cards = "clear"'))

    async def go():
        async with opened(live, table, mosquitto.port, "--record", record) as heard:
            await live.deal(table, heard, HANDS)
            rival.start()
            await asyncio.to_thread(rival.process.wait, live.PATIENCE)
            await heard.until("alert", kind="second-daemon")
            assert (await heard.command("show", seats=[1, 2]))["ok"]
            await heard.until("event", type="equity")
            await live.street(table, heard, "flop", FLOP)
            await live.until(lambda: len(heard.of("event", type="equity")) == 2)
            await table.stop()
            return heard

    heard = asyncio.run(go())
    assert rival.process.returncode == 1
    command = [live.FELTD, "replay", record, "--config", table.config, "--reveal"]
    printed = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    lines = [json.loads(line) for line in printed.splitlines()]
    outside = ("state", "reply", "status", "metrics", "rail")

    def counted(messages):
        return [(t, p) for t, p in messages if t.rpartition("/")[2] not in outside]

    replayed = counted((line["topic"], line["payload"]) for line in lines)
    live_ones = counted((topic, payload) for topic, payload, _ in heard.messages)
    for root in ("felt/", "felt-private/"):
        assert [one for one in replayed if one[0].startswith(root)] == [
            one for one in live_ones if one[0].startswith(root)
        ]
    kinds = [payload.get("kind") for _, payload in replayed]
    assert kinds.count("second-daemon") == 1
    assert [t for t, _ in replayed].count("felt-private/demo/equity") >= 2
