"""What `feltd check` finds, at real ports, a real pcscd and a real broker with access rules."""

from __future__ import annotations

import asyncio
import fcntl
import json
import os
import re
import socket
import string
from contextlib import suppress
from pathlib import Path
from types import SimpleNamespace

import aiomqtt
import pytest

from daemon import check, decks
from daemon.checks import files, ports
from daemon.checks.words import finding, texts
from daemon.rules.cards import DECK

TABLE = """
[table]
id = "t1"
discipline = "holdem"
seats = 6

[mqtt]
url = "{url}"
{more}

[[readers]]
name = "rail"
driver = "{driver}"
port = "{port}"
antennas = {{ 1 = "board" }}

[state]
dir = "state"
"""


@pytest.fixture
def pty():
    """The path of a serial line that nobody has open."""
    master, slave = os.openpty()
    yield os.ttyname(slave)
    os.close(master)
    os.close(slave)


def deck(folder, name="red", first=1):
    folder.mkdir(mode=0o700, exist_ok=True)
    cards = {card: f"E00401{first + n:010X}" for n, card in enumerate(DECK)}
    decks.write(folder / f"{name}.toml", decks.Deck(name, cards))


@pytest.fixture
def table(tmp_path, pty):
    """`table(...)`: the file of a table with one deck."""

    def write(url="mqtt://127.0.0.1:1", port=pty, driver="feig", more=""):
        path = tmp_path / "t1.toml"
        path.write_text(TABLE.format(url=url, port=port, driver=driver, more=more))
        deck(tmp_path / "decks")
        return path

    return write


def found(path):
    async def gather():
        return [each async for each in check.check(path)]

    return asyncio.run(gather())


def by_key(path):
    return {each.key: each for each in found(path)}


def test_every_text_is_complete_in_both_languages():
    for key, words in texts().items():
        assert (words.remedy is None) is (words.state == "ok"), key
        places = [set(re.findall(r"\{(\w+)\}", text)) for text in (words.en, words.ru)]
        assert places[0] == places[1], key
        if words.remedy is not None:
            places = [
                set(re.findall(r"\{(\w+)\}", words.remedy.en)),
                set(re.findall(r"\{(\w+)\}", words.remedy.ru)),
            ]
            assert places[0] == places[1], key
        for text in (words.en, words.ru):
            assert "\n" not in text


def test_russian_is_russian():
    own = {"config-wrong", "deck-wrong"}
    for key, words in texts().items():
        letters = set(re.sub(r"\{\w+\}", "", words.ru).lower())
        assert (
            key in own
            or letters & set("абвгдежзиклмнопрстуфхчшщыьэюя")
            or not (letters & set(string.ascii_letters))
        ), key


def test_a_config_that_is_wrong_is_all_there_is(tmp_path):
    path = tmp_path / "t1.toml"
    path.write_text('[table]\nid = "t1"\ndiscipline = "holdem"\nseats = 6\ncolour = 1\n')
    (only,) = found(path)
    assert only.key == "config-wrong"
    assert "colour" in only.message.en
    assert check.status([only]) == 78


def test_a_deck_short_of_52(table, tmp_path):
    path = table()
    file = tmp_path / "decks" / "red.toml"
    lines = [line for line in file.read_text().splitlines() if not line.startswith("As ")]
    file.write_text("\n".join(lines) + "\n")
    got = by_key(path)
    assert "no line for As" in got["deck-wrong"].message.en
    assert check.status(got.values()) == 78


def test_a_tag_of_two_decks(table, tmp_path):
    path = table()
    deck(tmp_path / "decks", "blue")
    assert "E00401" in by_key(path)["deck-wrong"].message.en


def test_no_deck_and_a_deck_for_all_to_read(table, tmp_path):
    path = table()
    (tmp_path / "decks").chmod(0o755)
    (tmp_path / "decks" / "red.toml").chmod(0o644)
    assert "chmod 600" in by_key(path)["deck-open"].remedy.en
    (tmp_path / "decks" / "red.toml").unlink()
    assert "deck-none" in by_key(path)


def test_another_feltd_of_this_machine(table, tmp_path):
    path = table()
    (tmp_path / "state").mkdir()
    lock = os.open(tmp_path / "state" / "lock", os.O_RDWR | os.O_CREAT, 0o600)
    assert "state-busy" not in by_key(path)
    fcntl.flock(lock, fcntl.LOCK_EX)
    assert "feltd@t1" in by_key(path)["state-busy"].remedy.en
    os.close(lock)


def test_a_state_directory_that_cannot_be(table, tmp_path):
    path = table()
    (tmp_path / "state").write_text("in the way")
    assert "state-forbidden" in by_key(path)


@pytest.mark.parametrize(
    ("free", "key"), [(50 << 30, "disk"), (2 << 30, "disk-full"), (100 << 20, "disk-full")]
)
def test_a_disk_that_is_nearly_full(monkeypatch, tmp_path, free, key):
    usage = SimpleNamespace(total=100 << 30, used=0, free=free)
    monkeypatch.setattr(files.shutil, "disk_usage", lambda _: (usage.total, usage.used, usage.free))
    (only,) = files.check_disk(tmp_path)
    assert only.key == key


@pytest.mark.parametrize(("status", "key"), [(0x2001, "clock"), (0x40, "clock-free")])
def test_the_clock(status, key):
    (only,) = files.check_clock(status)
    assert only.key == key


def test_the_kernel_tells_how_its_clock_is():
    (only,) = files.check_clock()
    assert only.key in {"clock", "clock-free"}


def test_a_port_that_can_be_opened(table, pty):
    assert pty in by_key(table())["port"].message.en


def test_a_port_that_is_not_there(table):
    got = by_key(table(port="/dev/serial/by-id/usb-nobody"))
    assert "feltd readers" in got["port-missing"].remedy.en
    assert check.status(got.values()) == 1


def test_a_port_that_another_program_holds(table, pty):
    holder = os.open(pty, os.O_RDWR | os.O_NOCTTY)
    fcntl.flock(holder, fcntl.LOCK_EX)
    assert "in use" in by_key(table())["port-busy"].message.en
    os.close(holder)


def test_a_port_that_is_forbidden_names_the_group(monkeypatch, table):
    def forbidden(path, *_):
        raise PermissionError(13, "Permission denied", path)

    path = table(port="/dev/null")
    settings = SimpleNamespace(name="rail", port="/dev/null")
    monkeypatch.setattr(ports.os, "open", forbidden)
    (only,) = ports.check_serial(settings, lone=True)
    assert only.key == "port-forbidden"
    group = ports.grp.getgrgid(Path("/dev/null").stat().st_gid).gr_name
    assert f"group {group}" in only.message.en
    assert f"usermod -aG {group}" in only.remedy.en
    assert path.exists()


def test_what_is_no_serial_port(table):
    assert "not a serial port" in by_key(table(port="/dev/null"))["port-other"].message.en


def test_one_port_for_two_readers(table, pty, tmp_path):
    link = tmp_path / "link"
    link.symlink_to(pty)
    block = f'[[readers]]\nname = "pod"\ndriver = "feig"\nport = "{link}"\n'
    path = table()
    path.write_text(path.read_text() + block + 'antennas = { 1 = "muck" }\n')
    assert "reader rail as well" in by_key(path)["port-twice"].message.en


def test_a_reader_on_the_network(table):
    with socket.create_server(("127.0.0.1", 0)) as server:
        url = f"socket://127.0.0.1:{server.getsockname()[1]}"
        assert url in by_key(table(port=url))["port"].message.en
    assert "host-silent" in by_key(table(port=url))


def test_pcsc_readers(table, pcscd):
    assert (
        "Feltd Shoe"
        in by_key(table(driver="pcsc", port="Feltd Shoe (S001) 00 00"))["pcsc"].message.en
    )
    assert "no PC/SC reader" in by_key(table(driver="pcsc", port="Acme"))["pcsc-other"].message.en


@pytest.mark.parametrize(
    ("code", "key"),
    [(0x8010001D, "pcsc-off"), (0x8010006A, "pcsc-forbidden"), (0x8010001F, "pcsc-other")],
)
def test_pcscd_that_refuses(monkeypatch, code, key):
    def refuse():
        raise ports.RefusalError(code, "SCardEstablishContext")

    monkeypatch.setattr(ports, "Context", refuse)
    monkeypatch.setenv("PCSCLITE_CSOCK_NAME", "/nowhere")
    assert ports.check_pcsc(SimpleNamespace(name="shoe", port="Acme")).key == key


def test_the_embedded_broker_is_no_broker_for_play(table):
    assert "mosquitto" in by_key(table(url="embedded"))["embedded"].remedy.en


def test_a_broker_that_is_not_there(table):
    got = by_key(table())
    assert "connection refused" in got["broker-silent"].message.en


@pytest.fixture
def broker(site, table, tmp_path):
    """`broker(acl)`: the file of a table at a Mosquitto with these rules for user table."""

    def start(acl=None, line="table-pw\n"):
        if acl is not None:
            (site.folder / "table.acl").write_text(f"user table\n{acl}\n")
        site.start("table")
        (tmp_path / "secret").write_text(line)
        return table(
            url=f"mqtt://127.0.0.1:{site.ports['table']['1883']}",
            more='username = "table"\npassword_file = "secret"',
        )

    return start


def test_all_rights_of_the_shipped_rules(broker):
    got = by_key(broker())
    assert "each tried" in got["rights"].message.en
    assert check.status(got.values()) == 0


def test_a_wrong_password(broker):
    got = by_key(broker(line="guess\n"))
    assert "user table" in got["broker-refuses"].message.en


def test_a_password_that_is_not_there(broker, tmp_path):
    path = broker()
    (tmp_path / "secret").unlink()
    assert "secret" in by_key(path)["broker-secret"].message.en


def missing(path, key):
    return {each.message.en.split()[-1] for each in found(path) if each.key == key}


def test_each_right_to_publish_that_is_missing(broker):
    path = broker(
        "topic readwrite felt-private/#\ntopic read felt/#\n"
        "topic write felt/t1/state\ntopic write felt/t1/event\ntopic write felt/t1/command\n"
        "topic write felt/t1/resend\ntopic write felt/t1/status\ntopic write felt/t1/ruling/#"
    )
    assert missing(path, "right-write") == {
        f"felt/t1/{name}" for name in ("alert", "metrics", "reply", "showdown", "reader/rail")
    }


def test_each_right_to_read_that_is_missing(broker):
    path = broker(
        "topic write felt/#\ntopic write felt-private/#\n"
        "topic read felt/t1/status\ntopic read felt/t1/command\ntopic read felt-private/t1/daemon"
    )
    assert missing(path, "right-read") == {
        "felt/t1/resend",
        "felt-private/t1/command",
        "felt-private/t1/resend",
    }


def test_a_trial_changes_nothing_that_is_retained(broker, site):
    path = broker()
    kept = {}

    async def retained(client):
        messages = {}
        await client.subscribe("felt/#", qos=1)
        async with asyncio.timeout(5):
            async for message in client.messages:
                messages[str(message.topic)] = message.payload
                if len(messages) == 2:
                    break
        return messages

    async def visit():
        async with site.client("table", "1883") as client:
            for topic in ("felt/t1/metrics", "felt/t1/state"):
                body = b'{"epoch": "abc", "seq": 7}'
                await client.publish(topic, body, qos=1, retain=True)
            kept.update(await retained(client))
        got = [each async for each in check.check(path)]
        assert check.status(got) == 0
        async with site.client("overlay", "1883") as client:
            assert await retained(client) == kept

    asyncio.run(visit())


@pytest.mark.parametrize("known", [True, False])
def test_what_subscribers_hear_is_dropped_by_the_rule_of_seq(broker, site, known):
    from daemon.web.follow import Follower  # noqa: PLC0415

    path = broker()

    async def visit():
        async with site.client("table", "1883") as client:
            await client.subscribe("felt/#", qos=1)
            if known:
                body = b'{"epoch": "abc", "seq": 7}'
                await client.publish("felt/t1/state", body, qos=1, retain=True)
            assert check.status([each async for each in check.check(path)]) == 0
            follower = Follower()
            assert follower.take("state", {"epoch": "abc", "seq": 7})
            steps, heard = [], 0
            with suppress(TimeoutError):
                async with asyncio.timeout(0.5):
                    async for message in client.messages:
                        name = str(message.topic).removeprefix("felt/t1/")
                        steps += follower.take(name, json.loads(message.payload))
                        heard += 1
            assert heard > 10
            told = [step for step in steps if step.payload != {"epoch": "abc", "seq": 7}]
            assert {step.kind for step in told} <= {"old"}
            assert follower.missing() is None

    asyncio.run(visit())


def test_a_broker_of_mqtt_3_tells_by_the_echo(nats, table):
    got = by_key(table(url=nats.url))
    assert "rights" in got
    assert check.status(got.values()) == 0


def test_another_daemon_for_this_table(mosquitto, table):
    async def announce():
        async with aiomqtt.Client("127.0.0.1", mosquitto.port) as client:
            body = '{"online": true, "since": "2026-11-29T18:00:00Z"}'
            await client.publish("felt/t1/status", body, qos=1, retain=True)

    asyncio.run(announce())
    got = by_key(table(url=mosquitto.url))
    assert "18:00" in got["second"].message.en
    assert "rights" not in got
    assert check.status(got.values()) == 1


def test_a_finding_fills_its_places_in():
    one = finding("port-busy", reader="rail", port="/dev/x", holders="cat (pid 7)")
    assert one.message.en == "reader rail: /dev/x is in use by cat (pid 7)"
    assert one.message.ru == "считыватель rail: порт /dev/x занят: cat (pid 7)"
