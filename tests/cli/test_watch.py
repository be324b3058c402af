from __future__ import annotations

import asyncio
import json
import os
import pty
import re
import signal
import subprocess
import sys
from pathlib import Path

import aiomqtt
import pytest
from rich.console import Console

from daemon.cli._watch_screen import draw
from daemon.cli._watch_words import WORDS, Speech
from daemon.watch import View
from daemon.web.follow import Follower
from daemon.web.subscriber import Root
from drivers.sim.table import simulate

FELTD = Path(sys.executable).with_name("feltd")
ROOT = Root("felt/t1", ())
SEAT = {"status": "in", "cards": 2, "up": [], "shown": [], "name": "Ann"}
STATE = {
    "epoch": "e1",
    "seq": 7,
    "at": "2026-11-29T18:01:15.250Z",
    "hand": 3,
    "phase": "flop",
    "discipline": "holdem",
    "button": 2,
    "board": ["7s", "Kc", "2c"],
    "seats": {"2": SEAT, "9": SEAT | {"status": "shown", "shown": ["As", "Ah"], "name": ""}},
}
ALERT = {
    "epoch": "e1",
    "severity": "warning",
    "kind": "overheard",
    "message": {"en": "seat:3 overhears a card.", "ru": "seat:3 слышит карту."},
}


class Watcher:
    """A view with the rule of `seq` in front of it."""

    def __init__(self, lang="en"):
        self.speech = Speech(lang)
        self.lines = []
        self.view = View(self.happened)
        self.follower = Follower()

    def happened(self, topic, payload):
        line = self.speech.line(topic, payload)
        if line is not None:
            self.lines.append(line)

    def take(self, topic, **payload):
        if "seq" in payload:
            for step in self.follower.take(topic, payload):
                self.view.step(ROOT, step)
        else:
            self.view.aside(ROOT, topic, payload)

    def screen(self):
        console = Console(width=80, record=True, file=open(os.devnull, "w"))  # noqa: PTH123, SIM115
        console.print(draw(self.view, self.speech, "felt/t1"))
        console.file.close()
        return console.export_text()


@pytest.fixture
def watcher():
    return Watcher()


def test_the_screen_has_what_is_asked_for(watcher):
    watcher.take("state", **STATE)
    watcher.take("reader/rail", up=False, error="unplugged")
    watcher.take("alert", **ALERT, seq=8)
    text = watcher.screen()
    for part in ("felt/t1", "hold'em", "flop", "hand 3", "button 2", "7♠ K♣ 2♣", "2 *", "Ann"):
        assert part in text
    for part in ("A♠ A♥", "## ##", "reader rail: DOWN, unplugged", "seat:3 overhears"):
        assert part in text
    assert max(map(len, text.splitlines())) <= 80


def test_in_russian():
    watcher = Watcher("ru")
    watcher.take("state", **STATE)
    watcher.take("alert", **ALERT, seq=8)
    text = watcher.screen()
    assert "холдем  флоп  раздача 3" in text
    assert "seat:3 слышит карту." in text
    assert watcher.lines == ["! seat:3 слышит карту."]


def test_every_word_is_there_twice():
    for english, russian in WORDS.values():
        assert english
        assert set(russian.lower()) & set("абвгдежзиклмнопрстуфхчшщыьэюя")


def test_ten_seats_with_long_names_fit_80_columns(watcher):
    seat = SEAT | {"name": "x" * 40, "cards": 7, "shown": ["Td"] * 7, "status": "shown"}
    watcher.take("state", **STATE | {"seats": {str(n): seat for n in range(1, 11)}})
    assert max(map(len, watcher.screen().splitlines())) <= 80


def test_a_message_is_told_once_and_in_order(watcher):
    watcher.take("state", **STATE)
    watcher.take("event", epoch="e1", seq=9, type="folded", seat=4)
    assert watcher.lines == []
    assert watcher.follower.missing() == 8
    watcher.take("event", epoch="e1", seq=8, type="street", street="turn", cards=["2d"], late=True)
    watcher.take("event", epoch="e1", seq=9, type="folded", seat=4, late=True)
    assert watcher.lines == ["turn 2d", "seat 4: folds"]


SHOWDOWN = {
    "epoch": "e1",
    "hand": 2,
    "winners": [9],
    "hands": [
        {"seat": 2, "cards": ["Kd", "Kh"], "label": {"en": "Pair of Kings", "ru": "Пара королей"}},
        {"seat": 9, "cards": ["As", "Ah"], "label": {"en": "Pair of Aces", "ru": "Пара тузов"}},
    ],
}


def test_a_retained_showdown_is_shown_and_is_no_news(watcher):
    watcher.take("state", **STATE)
    watcher.take("showdown", **SHOWDOWN, seq=5)
    assert watcher.lines == []
    text = watcher.screen()
    assert text.index("seat 9 As Ah: Pair of Aces, wins") < text.index("seat 2 Kd Kh")
    watcher.take("ruling/button-draw", epoch="e1", seq=4, winner=1, card="As")
    assert "has the button" not in watcher.screen()


@pytest.mark.parametrize(
    ("topic", "payload", "line"),
    [
        ("showdown", SHOWDOWN, "seat 9 As Ah: Pair of Aces, wins; seat 2 Kd Kh: Pair of Kings"),
        ("ruling/button-draw", {"winner": 9, "card": "As"}, "seat 9 has the button with As"),
        (
            "ruling/first-to-act",
            {"street": "third", "kind": "bring-in", "seat": 3},
            "third street: seat 3 brings it in",
        ),
        (
            "ruling/chip-race",
            {"from": 25, "to": 100, "awards": {"9": 1}},
            "chip race 25 -> 100: seats 9 get a chip",
        ),
        ("event", {"type": "hand-ended", "winner": 2}, "seat 2 wins"),
        ("event", {"type": "hand-ended"}, "hand over"),
        ("event", {"type": "hand-voided", "reason": "x"}, "hand void"),
        ("event", {"type": "hand-shown", "seat": 2, "cards": ["As"]}, "seat 2 shows As"),
        (
            "event",
            {"type": "hand-started", "hand": 4, "seats": [1, 2], "button": 2},
            "hand 4, seats 1 2, button 2",
        ),
        ("event", {"type": "commit"}, None),
        ("status", {"online": False}, "the daemon does not run"),
        ("reader/rail", {"up": True, "error": None}, "reader rail: up"),
        ("link", {"link": False}, "no connection to the broker"),
    ],
)
def test_lines_for_a_log(topic, payload, line):
    assert Speech("en").line(topic, payload) == line


def test_a_reader_is_news_only_when_it_came_or_went(watcher):
    for up in (True, True, False, False):
        watcher.take("reader/rail", up=up, error=None)
    assert watcher.lines == ["reader rail: up", "reader rail: DOWN"]


def test_a_new_epoch_starts_over(watcher):
    watcher.take("state", **STATE)
    watcher.take("alert", **ALERT, seq=8)
    watcher.take("state", **STATE | {"epoch": "e2", "seq": 1, "phase": "idle", "seats": {}})
    assert "overhears" not in watcher.screen()
    assert "no hand" in watcher.screen()


@pytest.fixture
def table(mosquitto, tmp_path):
    path = tmp_path / "t1.toml"
    path.write_text(
        '[table]\nid = "t1"\ndiscipline = "holdem"\nseats = 9\n'
        f'[mqtt]\nurl = "{mosquitto.url}"\n[state]\ndir = "state"\n'
    )
    return path


async def publish(port, messages):
    async with aiomqtt.Client("127.0.0.1", port) as client:
        for topic, payload, retain in messages:
            await client.publish(f"felt/t1/{topic}", json.dumps(payload), qos=1, retain=retain)


def test_once_prints_the_table_and_ends(mosquitto, table):
    asyncio.run(publish(mosquitto.port, [("state", STATE, True)]))
    done = subprocess.run(
        [FELTD, "watch", "--config", table, "--once"], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert "7♠ K♣ 2♣" in done.stdout


def test_plain_follows_a_simulated_evening(mosquitto, table, play):
    _, told = play(simulate("holdem", "clean", 5, 2, commands=True))
    messages = [
        (each["topic"].split("/", 2)[2], each["payload"], each["retain"])
        for each in told
        if each["topic"].startswith("felt/")
    ]
    command = [FELTD, "watch", "--config", table, "--plain"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as watching:
        assert watching.stdout.readline() == "connected\n"
        asyncio.run(publish(mosquitto.port, messages))
        wanted = [name for name, _, _ in messages].count("showdown")
        assert wanted
        lines = []
        while sum(", wins" in line or ", splits" in line for line in lines) < wanted:
            lines.append(watching.stdout.readline())
        watching.send_signal(signal.SIGTERM)
        assert watching.wait(10) == 0
    assert all(re.match(r"\d\d:\d\d:\d\d ", line) for line in lines)
    assert any(" flop " in line for line in lines)


def test_on_a_terminal_it_is_redrawn_in_place(mosquitto, table):
    asyncio.run(publish(mosquitto.port, [("state", STATE, True)]))
    master, slave = pty.openpty()
    environment = os.environ | {"TERM": "xterm", "COLUMNS": "80", "LINES": "24"}
    command = [FELTD, "watch", "--config", table]
    with subprocess.Popen(command, stdout=slave, stderr=slave, env=environment) as watching:
        os.close(slave)
        text = b""
        while "7♠".encode() not in text:
            text += os.read(master, 4096)
        assert b"\x1b[?1049h" in text
        asyncio.run(publish(mosquitto.port, [("state", STATE | {"seq": 7, "phase": "turn"}, True)]))
        while b"turn" not in text:
            text += os.read(master, 4096)
        watching.send_signal(signal.SIGINT)
        while b"\x1b[?1049l" not in text:
            text += os.read(master, 4096)
        assert watching.wait(10) == 0
    os.close(master)
