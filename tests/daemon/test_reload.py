from __future__ import annotations

import asyncio
import os
import signal
import socket
from contextlib import contextmanager

import pytest

from daemon import reload
from daemon.config import load
from daemon.errors import ConfigError
from daemon.notify import Heartbeat
from daemon.rules.profile import profile

TABLE = """
[table]
id = "t1"
discipline = "holdem"
seats = 6

[mqtt]
url = "mqtt://127.0.0.1:1883"

[secrecy]
unattended = "ask"

[state]
dir = "state"
"""

READER = """
[[readers]]
name = "pod"
driver = "lines"
port = "/dev/x"
antennas = { 1 = "board" }
"""


@pytest.fixture
def running(tmp_path):
    """`running(old, new)`: the plan for a table whose file was TABLE and is now another."""

    def change(old="", new=""):
        path = tmp_path / "t1.toml"
        path.write_text(TABLE)
        config = load(path)
        setup = config.setup()
        text = TABLE.replace(old, new) if old else TABLE + new
        assert new in text
        path.write_text(text)
        return reload.plan(config, setup)

    return change


def test_the_same_file_changes_nothing(running):
    plan = running()
    assert (plan.live, plan.restart) == ([], [])
    assert plan.line() == "the configuration has not changed"


@pytest.mark.parametrize(
    ("old", "new", "key"),
    [
        ('"ask"', '"all"', "secrecy.unattended"),
        ("[secrecy]", "[secrecy]\nfloor = true", "secrecy.floor"),
        ("", '\n[rules]\npreset = "tda"\n', "rules"),
    ],
)
def test_what_changes_at_once(running, old, new, key):
    plan = running(old, new)
    assert (plan.live, plan.restart) == ([key], [])
    assert plan.line() == f"the configuration was read again; in effect: {key}"


def test_what_changes_at_once_is_in_the_setup(running):
    assert running('"ask"', '"all"').setup.unattended == "all"
    assert running("[secrecy]", "[secrecy]\nfloor = true").setup.floor
    assert running("", '\n[rules]\npreset = "tda"\n').setup.profile == profile("tda", {})


@pytest.mark.parametrize(
    ("old", "new", "key"),
    [
        ("seats = 6", "seats = 7", "table.seats"),
        ('"holdem"', '"omaha"', "table.discipline"),
        ("1883", "1884", "mqtt.url"),
        ('"ask"', '"ask"\nhole_cards = "clear"', "secrecy.hole_cards"),
        ('dir = "state"', 'dir = "other"', "state.dir"),
        ("", '\n[metrics]\nfile = "x.prom"\n', "metrics.file"),
        (
            "",
            READER,
            "readers",
        ),
    ],
)
def test_what_waits_for_a_restart_is_said_and_not_done(running, old, new, key):
    plan = running(old, new)
    assert (plan.live, plan.restart) == ([], [key])
    assert plan.line().endswith(f"only after a restart: {key}")
    assert plan.setup.seats == 6
    assert plan.setup.hole_cards == "off"
    assert plan.setup.zones == {}
    assert plan.config.mqtt.url.endswith("1883")


def test_a_wrong_file_changes_nothing(running):
    with pytest.raises(ConfigError, match="seats"):
        running("seats = 6", 'seats = "six"')


def deck(folder, name, first):
    cards = [rank + suit for suit in "shdc" for rank in "23456789TJQKA"]
    lines = [f'{card} = "E00401{first + n:010X}"' for n, card in enumerate(cards)]
    text = "\n".join((f'name = "{name}"', "[cards]", *lines)) + "\n"
    (folder / f"{name}.toml").write_text(text)


def test_a_new_deck_is_known_at_once_and_an_old_one_until_the_restart(tmp_path):
    path, decks = tmp_path / "t1.toml", tmp_path / "decks"
    decks.mkdir()
    path.write_text(TABLE)
    deck(decks, "red", 0)
    config = load(path)
    setup = config.setup()
    deck(decks, "blue", 100)
    plan = reload.plan(config, setup)
    assert (plan.live, plan.restart) == (["decks"], [])
    assert len(plan.setup.cards) == 104
    (decks / "red.toml").unlink()
    plan = reload.plan(config, plan.setup)
    assert plan.restart == ["decks (52 cards taken out)"]
    assert len(plan.setup.cards) == 104


@contextmanager
def manager(monkeypatch, tmp_path, watchdog=None):
    """A service manager's socket."""
    path = tmp_path / "notify"
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as server:
        server.bind(str(path))
        server.settimeout(0)
        monkeypatch.setenv("NOTIFY_SOCKET", str(path))
        if watchdog is not None:
            monkeypatch.setenv("WATCHDOG_USEC", str(watchdog))
        yield server


def said(server):
    lines = []
    while True:
        try:
            lines += server.recv(65536).decode().splitlines()
        except BlockingIOError:
            return lines


def test_a_loop_that_gets_round_beats_no_more_often_than_asked(monkeypatch, tmp_path):
    monkeypatch.setenv("WATCHDOG_PID", str(os.getpid()))
    with manager(monkeypatch, tmp_path, 3_000_000_000) as server:
        heart = Heartbeat()
        assert heart.period == 1000
        for _ in range(100):
            heart.beat("holdem, no hand")
        assert said(server) == ["WATCHDOG=1", "STATUS=holdem, no hand"]
        heart.beat("holdem, hand 1, flop")
        assert said(server) == ["STATUS=holdem, hand 1, flop"]


def test_nobody_beats_for_another_process(monkeypatch, tmp_path):
    monkeypatch.setenv("WATCHDOG_PID", "1")
    with manager(monkeypatch, tmp_path, 3_000_000) as server:
        Heartbeat().beat("x")
        assert said(server) == ["STATUS=x"]


def test_a_manager_that_does_not_read_stops_nobody(monkeypatch, tmp_path):
    with manager(monkeypatch, tmp_path) as server:
        heart = Heartbeat()
        for number in range(1000):
            heart.beat(f"hand {number}")
        told = said(server)
        assert 0 < len(told) < 1000
        heart.beat("hand 999")
        assert said(server) == ["STATUS=hand 999"]


async def heard(server, lines, wanted):
    async with asyncio.timeout(20):
        while not any(wanted in line for line in lines):
            lines += said(server)
            await asyncio.sleep(0.01)


async def serving(live, table, server):
    """Start, reload, fail to reload, reload again, freeze, go on, stop."""
    lines = []
    async with table.plugged_in(), table.running() as process:
        await heard(server, lines, "READY=1")
        await heard(server, lines, "WATCHDOG=1")
        await heard(server, lines, "STATUS=holdem, no hand")
        good = table.config.read_text()
        table.config.write_text(good.replace("seats = 3", "seats = 30"))
        lines.clear()
        process.send_signal(signal.SIGHUP)
        await heard(server, lines, "the new configuration is wrong, the old one stays")
        await heard(server, lines, "READY=1")
        assert any(line.startswith("MONOTONIC_USEC=") for line in lines)
        table.config.write_text(good.replace('unattended = "ask"', 'unattended = "all"'))
        lines.clear()
        process.send_signal(signal.SIGHUP)
        await heard(server, lines, "READY=1")
        await live.until(lambda: table.said("in effect: secrecy.unattended", "info"))
        process.send_signal(signal.SIGSTOP)
        await asyncio.sleep(0.2)
        said(server)
        await asyncio.sleep(0.5)
        assert said(server) == []
        process.send_signal(signal.SIGCONT)
        lines.clear()
        await heard(server, lines, "WATCHDOG=1")
        figures = table.folder / "metrics.prom"
        await live.until(figures.exists)
        assert 'feltd_readers_down{table="demo"}' in figures.read_text()
        await table.stop()
        await heard(server, lines, "STOPPING=1")
    assert process.returncode == 0


def test_the_service_manager_hears_how_it_is(live, mosquitto, monkeypatch, tmp_path):
    table = live.Table(tmp_path, mosquitto.url)
    monkeypatch.setenv("RUNTIME_DIRECTORY", str(tmp_path))
    with manager(monkeypatch, tmp_path, 300_000) as server:
        asyncio.run(serving(live, table, server))


@pytest.mark.parametrize("configured", [True, False])
def test_the_password_that_the_manager_hands_over(monkeypatch, tmp_path, configured):
    secrets = tmp_path / "credentials"
    secrets.mkdir()
    keys = 'username = "table"' + ('\npassword_file = "own"' if configured else "")
    path = tmp_path / "t1.toml"
    path.write_text(TABLE.replace("[mqtt]", f"[mqtt]\n{keys}"))
    config = load(path)
    monkeypatch.setenv("CREDENTIALS_DIRECTORY", str(secrets))
    assert config.password_file() == (tmp_path / "own" if configured else None)
    (secrets / "mqtt.password").write_text("secret\n")
    handed = tmp_path / "own" if configured else secrets / "mqtt.password"
    assert config.password_file() == handed
