"""Units and rules, judged offline by systemd itself, and the rules that other daemons read."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

SYSTEMD = Path(__file__).parents[2] / "systemd"
UNITS = ("feltd@.service", "feltd-web@.service")


@pytest.fixture
def units(tmp_path):
    """A folder with the units, whose program is one that exists here."""
    for name in UNITS:
        text = (SYSTEMD / name).read_text()
        assert "/opt/feltd/bin/feltd" in text
        (tmp_path / name).write_text(text.replace("/opt/feltd/bin/feltd", "/bin/true"))
    return tmp_path


def analyze(folder, *arguments):
    return subprocess.run(
        ["systemd-analyze", *arguments], cwd=folder, capture_output=True, text=True, check=False
    )


def exposure(folder, name):
    done = analyze(folder, "security", "--offline=true", f"./{name}")
    return float(re.search(r"Overall exposure level for \S+: ([0-9.]+)", done.stdout)[1])


def test_verify_has_nothing_to_say(units):
    for name in UNITS:
        done = analyze(units, "verify", "--man=no", f"./{name}")
        assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


@pytest.mark.parametrize("name", UNITS)
def test_exposure_over_tcp(units, name):
    assert exposure(units, name) <= 1.5


def test_exposure_over_a_unix_socket(units):
    folder = units / "feltd@.service.d"
    folder.mkdir()
    shutil.copy(SYSTEMD / "variants" / "unix.conf", folder)
    assert exposure(units, "feltd@.service") <= 0.5


def test_what_play_needs_is_not_hardened_away():
    text = (SYSTEMD / "feltd@.service").read_text()
    for line in ("char-ttyUSB rw", "char-ttyACM rw", "SupplementaryGroups=dialout"):
        assert line in text
    assert "PrivateDevices" not in text
    for driver in ("usbserial", "cdc_acm", "ftdi_sio"):
        assert text.count(f"modprobe@{driver}.service") == 2
    assert "LimitCORE=0" in text
    assert "network-online" not in re.sub(r"#.*", "", text)


def test_the_watchdog_has_time_for_a_slow_disk_and_no_more():
    text = (SYSTEMD / "feltd@.service").read_text()
    assert "WatchdogSec=10s" in text
    assert "Type=notify\n" in text
    assert "RestartPreventExitStatus=78" in text


def test_users_and_folders_are_read_by_systemd(tmp_path):
    for name in ("passwd", "group"):
        (tmp_path / "etc").mkdir(exist_ok=True)
        (tmp_path / "etc" / name).write_text("")
    for kind in ("sysusers", "tmpfiles"):
        folder = tmp_path / "usr" / "lib" / f"{kind}.d"
        folder.mkdir(parents=True)
        shutil.copy(SYSTEMD / f"feltd.{kind}", folder / "feltd.conf")
    done = subprocess.run(
        ["systemd-sysusers", f"--root={tmp_path}", "--dry-run", "feltd.conf"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "feltd" in done.stdout + done.stderr
    lines = [
        line.split()
        for line in (SYSTEMD / "feltd.tmpfiles").read_text().splitlines()
        if not line.startswith("#")
    ]
    assert ["d", "/etc/feltd/decks", "0700", "feltd", "feltd"] in lines


def test_udev_rules_are_one_match_or_assignment_after_another():
    item = re.compile(r'[A-Z]+[A-Za-z_{}.]*(==|!=|=|\+=|:=)"[^"]*"')
    text = (SYSTEMD / "feltd.udev").read_text()
    for line in text.splitlines():
        if line and not line.startswith("#"):
            assert all(item.fullmatch(each.strip()) for each in line.split(", ")), line
    assert 'ENV{ID_MM_PORT_IGNORE}="1"' in text
    assert text.count("feltd_end") == 3


def test_the_polkit_rule_lets_feltd_in_and_nobody_else():
    rule = (SYSTEMD / "feltd-polkit.rules").read_text()
    program = (
        "const polkit = { Result: { YES: 'yes' }, addRule: f => { globalThis.rule = f; } };\n"
        + rule
        + "const ask = (id, user) => rule({id}, {user}) || 'no';\n"
        "const p = 'org.debian.pcsc-lite.';\n"
        "console.log([ask(p + 'access_pcsc', 'feltd'), ask(p + 'access_card', 'feltd'),"
        " ask(p + 'access_pcsc', 'guest'), ask('org.freedesktop.login1.halt', 'feltd')].join());\n"
    )
    done = subprocess.run(["node", "-e", program], capture_output=True, text=True, check=True)
    assert done.stdout == "yes,yes,no,no\n"
