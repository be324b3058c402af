"""Rights, tried at a running table: its own broker, and Mosquitto as config/mosquitto has it."""

from __future__ import annotations

import asyncio
import json
from contextlib import asynccontextmanager, suppress

import aiomqtt
import pytest
from paho.mqtt.packettypes import PacketTypes
from paho.mqtt.properties import Properties

HANDS = {1: ["As", "Kd"], 2: ["2c", "7h"], 3: ["Qh", "Qd"]}
CURIOUS = ("#", "felt/#", "felt-private/#", "+/+/#", "felt-private/demo/hole-cards", "+/demo/reply")
FORGED = ("command", "state", "showdown", "event", "status", "reply", "alert", "ruling/chip-race")


class House:
    """A table at a broker with rights; `login` is how somebody gets in."""

    def __init__(self, table, login):
        self.table = table
        self.login = login

    @asynccontextmanager
    async def guest(self, user, **options):
        host, port, name, password = self.login(user)
        async with aiomqtt.Client(host, port, username=name, password=password, **options) as it:
            yield it


@pytest.fixture(params=["mosquitto", "embedded"])
def house(request, live, tmp_path):
    if request.param == "embedded":
        table = live.Table(tmp_path, "embedded")

        def login(user):
            host, port, *_ = table.broker()
            secret = tmp_path / f"state/broker/{user}.password"
            return host, port, user, secret.read_text().strip()
    else:
        login, table = at_mosquitto(request.getfixturevalue("site"), live, tmp_path)
    text = table.config.read_text()
    table.config.write_text(text.replace("[secrecy]", '[secrecy]\nhole_cards = "clear"'))
    return House(table, login)


def at_mosquitto(site, live, folder, mqtt=""):
    site.start("table")
    port = site.ports["table"]["1883"]
    keys = f'mqtt://127.0.0.1:{port}"\nusername = "table"\npassword_file = "{folder}/table.password'
    table = live.Table(folder, keys, more=mqtt)
    return lambda user: ("127.0.0.1", port, user, f"{user}-pw"), table


@asynccontextmanager
async def opened(live, house):
    """The table with its floor, who hears everything that the floor may."""
    table = house.table
    async with table.plugged_in(), table.running():
        await live.until(lambda: table.said("connected to"))
        topics = ("felt/#", "felt-private/demo/floor", "felt-private/demo/reply")
        async with live.audience(*house.login("floor"), topics=topics) as floor:
            await floor.until("reader/rail", up=True)
            yield floor
            await table.stop()


async def listens(house, user, found):
    """Subscribe to everything there is; what comes, until cancelled."""
    async with house.guest(user) as client:
        for topic in CURIOUS:
            with suppress(aiomqtt.MqttError):
                await client.subscribe(topic, qos=1)
        async for message in client.messages:
            found.append((str(message.topic), message.payload))


async def forge(house, user, topic, payload, *, retain=False):
    """Write once; a broker that throws us out for it has refused it."""
    with suppress(aiomqtt.MqttError):
        async with house.guest(user) as client:
            await client.publish(topic, payload, qos=1, retain=retain, timeout=0.5)


def test_an_overlay_hears_no_secret_and_writes_nothing_but_resend(live, house):
    overlay, owner = [], []
    forged = json.dumps(
        {"id": "f", "by": "overlay", "type": "set-names", "names": {"1": "Mallory"}}
    )

    async def go():
        async with opened(live, house) as floor:
            tasks = [
                asyncio.create_task(listens(house, "overlay", overlay)),
                asyncio.create_task(listens(house, "table", owner)),
            ]
            await live.deal(house.table, floor, HANDS)
            await live.until(
                lambda: (
                    len([t for t, _ in owner if t.endswith("/hole-cards")]) >= 6
                    and [t for t, _ in owner if t.endswith("/equity")]
                )
            )
            for root in ("felt", "felt-private"):
                for name in FORGED:
                    for retain in (False, True):
                        await forge(house, "overlay", f"{root}/demo/{name}", forged, retain=retain)
            await forge(house, "overlay", "felt-private/demo/resend", '{"from": 1}')
            await forge(house, "overlay", "felt/demo/resend", '{"from": 1}')
            await floor.until("event", late=True, type="hand-started")
            assert (await floor.command("set-names", names={"2": "Anna"}))["ok"]
            await floor.until("event", type="command", by="test")
            for task in tasks:
                task.cancel()
            await asyncio.wait(tasks)
            return floor

    floor = asyncio.run(go())
    public = {topic for topic, _ in overlay}
    assert public
    assert all(topic.startswith("felt/demo/") for topic in public)
    assert {"felt/demo/event", "felt/demo/state"} <= public
    shown = json.dumps([body.decode() for _, body in overlay])
    assert not [card for cards in HANDS.values() for card in cards if f'\\"{card}\\"' in shown]
    assert "Mallory" not in json.dumps([floor.messages, shown])
    assert floor.of("event", by="overlay") == []
    assert floor.of("state")[-1]["seats"]["2"]["name"] == "Anna"
    counted = floor.counted()
    assert sorted(counted) == list(range(1, max(counted) + 1))


DEEP = "[" * 50_000 + "]" * 50_000
HOSTILE = {
    "not JSON": "{",
    "not UTF-8": b'{"id": "\xff", "type": "fold"}',
    "nothing": " ",
    "oversized": json.dumps({"id": "big", "type": "end-hand", "reason": "x" * 60_000}),
    "deeply nested": DEEP,
    "deep inside": '{"id": "deep", "type": "set-names", "names": ' + DEEP + "}",
    "a list": "[1, 2]",
    "no type": '{"id": "1"}',
    "no id": '{"type": "end-hand"}',
    "a long id": json.dumps({"id": "x" * 65, "type": "end-hand"}),
    "wrong type": '{"id": "w", "type": "fold", "seat": "2"}',
    "a number for a list": '{"id": "n", "type": "show", "seats": 1}',
    "out of range": '{"id": "r", "type": "fold", "seat": 11}',
    "unknown field": '{"id": "u", "type": "fold", "seat": 2, "card": "As"}',
    "unknown command": '{"id": "c", "type": "deal-me-in"}',
}


def test_hostile_commands_get_an_error_and_cost_nothing(live, house):
    async def go():
        async with opened(live, house) as floor:
            await live.deal(house.table, floor, HANDS)
            before = floor.of("state")[-1]
            answers = {
                (name, private): await floor.command("", raw=raw, private=private)
                for name, raw in HOSTILE.items()
                for private in (False, True)
            }
            first = await floor.command("set-names", id="once", names={"1": "Anna"})
            told = len(floor.counted())
            again = await floor.command("set-names", id="once", names={"1": "Anna"})
            other = await floor.command("set-names", id="once", names={"1": "Mallory"})
            assert len(floor.counted()) == told
            return before, answers, (first, again, other), floor

    before, answers, (first, again, other), floor = asyncio.run(go())
    for name, answer in answers.items():
        assert not answer["ok"], name
        assert answer["error"], name
        assert len(json.dumps(answer)) < 1000, name
    assert first["ok"]
    assert {**again, "at": ""} == {**first, "at": ""}
    assert not other["ok"]
    obeyed = [body["command"]["type"] for body in floor.of("event", type="command")]
    assert obeyed == ["start-hand", "set-names"]
    kinds = {body["type"] for body in floor.of("event") if body["seq"] > before["seq"]}
    assert kinds <= {"command", "commit", "card-dealt", "street"}
    assert [seat["status"] for seat in floor.of("state")[-1]["seats"].values()] == ["in"] * 3


def properties(topic, correlation=b"c-7"):
    wanted = Properties(PacketTypes.PUBLISH)
    wanted.ResponseTopic = topic
    wanted.CorrelationData = correlation
    return wanted


async def ask(client, topic, response, body):
    command = json.dumps({"by": "desk", **body})
    await client.publish(topic, command, qos=1, properties=properties(response))


RESPONSE = (
    ("felt/demo/command", "felt/demo/reply/desk", True),
    ("felt/demo/command", "felt-private/demo/reply/desk", True),
    ("felt-private/demo/command", "felt-private/demo/reply/desk/2", True),
    ("felt-private/demo/command", "felt/demo/reply/desk", False),
    ("felt/demo/command", "felt/demo/reply/", False),
    ("felt/demo/command", "felt/demo/reply", False),
    ("felt/demo/command", "felt/demo/replyx", False),
    ("felt/demo/command", "felt/demo/state", False),
    ("felt/demo/command", "felt/other/reply/desk", False),
    ("felt/demo/command", "felt-private/demo/hole-cards", False),
)


def test_a_response_topic_is_honoured_below_reply_and_nowhere_else(live, site, tmp_path):
    login, table = at_mosquitto(site, live, tmp_path)
    house = House(table, login)
    answers = []

    async def listen(client):
        async for message in client.messages:
            body = json.loads(message.payload)
            found = message.properties
            answers.append((str(message.topic), body, getattr(found, "CorrelationData", None)))

    async def go():
        five = {"protocol": aiomqtt.ProtocolVersion.V5}
        async with opened(live, house) as floor, house.guest("table", **five) as client:
            for topic in (
                "felt/+/reply/#",
                "felt-private/+/reply/#",
                "felt-private/demo/hole-cards",
            ):
                await client.subscribe(topic, qos=1)
            listening = asyncio.create_task(listen(client))
            async with house.guest("floor", **five) as desk:
                for number, (topic, response, _) in enumerate(RESPONSE):
                    body = {"id": str(number), "type": "set-names", "names": {"1": f"n{number}"}}
                    await ask(desk, topic, response, body)
            last = len(RESPONSE) - 1
            await live.until(lambda: any(body["id"] == str(last) for _, body, _ in answers))
            listening.cancel()
            return floor

    floor = asyncio.run(go())
    for number, (topic, response, honoured) in enumerate(RESPONSE):
        usual = topic.replace("command", "reply")
        got = {t: (body, data) for t, body, data in answers if body["id"] == str(number)}
        assert set(got) == ({usual, response} if honoured else {usual}), number
        assert got[usual][0]["ok"] is honoured
        assert got[usual][0]["by"] == "desk"
        if honoured:
            assert got[response] == (got[usual][0], b"c-7")
        else:
            assert "response topic" in got[usual][0]["error"]
    names = [body["command"]["names"]["1"] for body in floor.of("event", type="command")]
    assert names == [f"n{n}" for n, (_, _, honoured) in enumerate(RESPONSE) if honoured]
    assert all("seats" in body for body in floor.of("state"))
