"""A whole evening at a live table: emulated readers on pseudo-terminals to a plain subscriber."""

from __future__ import annotations

import asyncio
import json
import subprocess
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any

import pytest

HANDS = {1: ["As", "Kd"], 2: ["2c", "7h"], 3: ["Qh", "Qd"]}
BOARD = ["Ah", "Kc", "9d", "3d", "4d"]
SECRET = ("Qh", "Qd")
BROKERS = ("mosquitto", "embedded")


@dataclass
class Evening:
    """What was seen and answered while one hand was played."""

    table: Any
    broker: Any = None
    heard: Any = None
    replies: dict[str, Any] = field(default_factory=dict)
    retained: dict[str, Any] = field(default_factory=dict)
    children: list[int] = field(default_factory=list)
    seconds: float = 0.0


async def play(live, evening, host):
    table, say = evening.table, evening.replies
    async with table.plugged_in(), table.running("--record", table.folder / "evening.jsonl"):
        if table.url == "embedded":
            await live.until(lambda: table.said("broker listens"))
            host = table.broker()
        roots = ("felt/#",) if table.url == "embedded" else ("felt/#", "felt-private/#")
        async with live.audience(*host, topics=roots) as heard:
            evening.heard = heard
            await heard.until("status", online=True)
            await heard.until("reader/rail", up=True)
            say["names"] = await heard.command("set-names", names={"1": "Anna"}, id="once")
            await live.deal(table, heard, HANDS)
            say["hidden card, publicly"] = await heard.command(
                "card", zone="seat:3", index=0, card="Qh"
            )
            say["fold"] = await heard.command("fold", seat=3)
            table.lay(*[("muck", card) for card in HANDS[3]])
            await live.street(table, heard, "flop", BOARD[:3])
            say["too early"] = await heard.command("showdown")
            say["wrong hand"] = await heard.command("fold", seat=2, hand=99)
            await live.street(table, heard, "turn", BOARD[3:4], 3)
            await live.street(table, heard, "river", BOARD[4:], 4)
            say["showdown"] = await heard.command("showdown", hand=1)
            await heard.until("showdown")
            say["names again"] = await heard.command("set-names", names={"1": "Anna"}, id="once")
            say["other body"] = await heard.command("set-names", names={"1": "Boris"}, id="once")
            say["no JSON"] = await heard.command("", raw="{")
            say["unknown"] = await heard.command("reshuffle")
            say["unknown field"] = await heard.command("fold", seat=2, sea=3)
            say["end"] = await heard.command("end-hand")
            await heard.until("state", phase="idle")
            table.clear()
            await look_around(live, evening, host)
            await heard.client.publish("felt/demo/resend", '{"from": 3}', qos=1)
            await heard.until("event", late=True, type="hand-ended")
            evening.children = live.children(table.process.pid)
            evening.seconds = await table.stop()
            if table.url != "embedded":
                await heard.until("status", online=False)


async def look_around(live, evening, host):
    """What somebody finds who comes late."""
    async with live.audience(*host) as late:
        await late.until("showdown")
        await late.until("state")
        await late.until("reader/rail")
        await late.until("metrics")
        evening.retained = {topic: payload for topic, payload, kept in late.messages if kept}


@pytest.fixture(scope="module", params=BROKERS)
def evening(request, live, tmp_path_factory, module_broker):
    folder = tmp_path_factory.mktemp("evening")
    broker = module_broker() if request.param == "mosquitto" else None
    url = broker.url if broker else "embedded"
    evening = Evening(live.Table(folder, url))
    asyncio.run(play(live, evening, ("127.0.0.1", broker.port) if broker else None))
    return evening


def test_showdown_is_right(evening):
    (result,) = evening.heard.of("showdown", late=None)
    assert result["winners"] == [1]
    assert result["board"] == BOARD
    assert result["mucked"] == []
    assert [(hand["seat"], hand["cards"]) for hand in result["hands"]] == [
        (1, HANDS[1]),
        (2, HANDS[2]),
    ]
    best = result["hands"][0]
    assert (best["category"], best["rank"]) == ("two-pair", 2471)
    assert best["best"] == ["As", "Ah", "Kd", "Kc", "9d"]
    assert best["label"]["en"] == "Two pair, Aces and Kings, Nine kicker"


def test_the_streets_came_in_order(evening):
    streets = [
        (e["street"], e["cards"]) for e in evening.heard.of("event", type="street", late=None)
    ]
    assert streets == [
        ("preflop", []),
        ("flop", BOARD[:3]),
        ("turn", BOARD[3:4]),
        ("river", BOARD[4:]),
    ]


def test_messages_are_counted_without_gap(evening):
    counted = evening.heard.counted()
    assert sorted(counted) == list(range(1, max(counted) + 1))
    assert {body["hand"] for _, body in counted.values() if "hand" in body} == {1}


def test_nobody_heard_of_the_cards_that_were_not_shown(evening):
    table = evening.table
    told = json.dumps([[t, p] for t, p, _ in evening.heard.messages])
    log = table.log.read_text()
    for card in SECRET:
        assert f'"{card}"' not in told
        assert card not in log.replace(str(table.folder), "")
        assert table.uid(card) not in told + log


def test_every_card_was_committed_and_the_shown_ones_opened(evening):
    commits = {(e["seat"], e["index"]): e for e in evening.heard.of("event", type="commit")}
    opens = {(e["seat"], e["index"]): e for e in evening.heard.of("event", type="open")}
    assert len(commits) == 6
    assert {place: e["card"] for place, e in opens.items()} == {
        (seat, index): HANDS[seat][index] for seat in (1, 2) for index in (0, 1)
    }
    for place, opened in opens.items():
        text = "|".join(
            ["feltd1", opened["epoch"], "1", *(str(number) for number in place), opened["card"]]
        )
        digest = sha256(bytes.fromhex(opened["salt"]) + text.encode()).hexdigest()
        assert digest == commits[place]["hash"]


def test_answers(evening):
    say = evening.replies
    for accepted in ("names", "fold", "showdown", "end"):
        assert say[accepted]["ok"], accepted
    for refused in ("hidden card, publicly", "too early", "wrong hand", "unknown", "no JSON"):
        assert not say[refused]["ok"]
        assert say[refused]["error"]
    assert "sea" in say["unknown field"]["error"]
    assert say["unknown"]["id"]
    assert say["unknown"]["by"] == "test"


def test_the_same_command_acts_once_and_is_answered_twice(evening):
    say = evening.replies
    assert {**say["names again"], "at": ""} == {**say["names"], "at": ""}
    assert not say["other body"]["ok"]
    taken = [
        event
        for seq, (_, event) in evening.heard.counted().items()
        if event.get("type") == "command" and event["command"]["type"] == "set-names"
    ]
    assert len(taken) == 1


def test_what_is_kept_for_those_who_come_late(evening):
    kept = {topic.removeprefix("felt/demo/"): body for topic, body in evening.retained.items()}
    assert kept["status"]["online"] is True
    assert kept["state"]["phase"] == "idle"
    assert kept["state"]["board"] == []
    assert kept["state"]["seats"]["1"]["name"] == "Anna"
    assert kept["showdown"]["winners"] == [1]
    assert kept["reader/rail"]["up"] is True
    assert all(antenna["looks"] > 0 for antenna in kept["reader/rail"]["antennas"].values())
    assert kept["metrics"]["counters"]["lost_looks"] == 0
    assert not {name for name in kept if name in {"event", "alert", "reply", "command"}}


def test_what_was_asked_for_again_is_late_and_not_kept(evening):
    late = [(p, kept) for _, p, kept in evening.heard.messages if p.get("late")]
    assert next(payload["seq"] for payload, _ in late) == 3
    assert not any(kept for _, kept in late)


def test_sigterm_ends_everything_within_a_second(evening, live):
    assert evening.table.process.returncode == 0
    assert evening.seconds < 1.0
    assert not [pid for pid in evening.children if live.alive(pid)]
    assert evening.children or evening.table.url != "embedded"


def test_files_are_for_the_owner_alone(evening):
    recording = evening.table.folder / "evening.jsonl"
    secrets = [path for path in (evening.table.folder / "state").rglob("*") if path.is_file()]
    ours = [path for path in secrets if "store" not in path.parts]
    assert ours
    assert {path.stat().st_mode & 0o077 for path in [recording, *ours]} == {0}


def test_the_log_is_free_of_trouble(evening):
    assert [line for line in evening.table.lines() if line["level"] != "info"] == []


def replayed(evening, live, *options):
    command = [live.FELTD, "replay", evening.table.folder / "evening.jsonl"]
    run = subprocess.run(
        [*command, "--config", evening.table.config, *options], capture_output=True, check=True
    )
    assert run.stderr == b""
    return run.stdout


def without_time(topic, body):
    """Times, numbers and connections of a run apart, this is what a message says."""
    return topic, {key: value for key, value in body.items() if key not in {"at", "seq"}}


def test_the_recording_replays_to_the_same_messages(evening, live):
    lines = [json.loads(line) for line in replayed(evening, live).splitlines()]
    apart = ("/status", "/metrics", "/reply", "/command", "/resend", "/state", "/reader/rail")
    again = [
        without_time(line["topic"], line["payload"])
        for line in lines
        if not line["topic"].endswith(apart)
    ]
    once = [
        without_time(topic, payload)
        for topic, payload, _ in evening.heard.messages
        if topic.startswith("felt/") and not topic.endswith(apart) and "late" not in payload
    ]
    assert again == once
    states = [line["payload"] for line in lines if line["topic"].endswith("/state")]
    seen = evening.heard.of("state")
    assert [without_time("", s) for s in states] == [
        without_time("", s) for s in seen[-len(states) :]
    ]


def test_a_recording_replays_twice_byte_for_byte(evening, live):
    assert replayed(evening, live, "--reveal") == replayed(evening, live, "--reveal")
