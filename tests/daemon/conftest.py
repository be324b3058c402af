"""A site with Mosquitto as config/mosquitto has it, for the tests of this folder."""

from __future__ import annotations

import asyncio
import json
import os
import re
import shutil
import socket
import ssl
import subprocess
import time
from contextlib import asynccontextmanager, closing
from itertools import count
from pathlib import Path
from types import SimpleNamespace

import aiomqtt
import pytest
import trustme

from daemon.address import Address
from daemon.claim import Topics
from daemon.journal import Journal, Outgoing
from daemon.mqtt import Publisher
from daemon.replay import messages
from daemon.rules.cards import DECK
from daemon.setup import Setup

TOPICS = Topics("felt", "t1")
CONFIG = Path(__file__).parents[2] / "config" / "mosquitto"
USERS = ("table", "floor", "overlay", "vault", "bridge")


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as server:
        return server.getsockname()[1]


def answers(port):
    with socket.socket() as client:
        return client.connect_ex(("127.0.0.1", port)) == 0


class Site:
    """A folder with everything that the configurations name, and brokers run from it."""

    def __init__(self, folder, start_broker):
        self.folder = folder
        self.start_broker = start_broker
        self.authority = trustme.CA()
        certs = folder / "certs"
        certs.mkdir()
        self.authority.cert_pem.write_to_path(certs / "ca.crt")
        for name in ("table", "central"):
            self.certify(name, "localhost", "127.0.0.1")
        for name in ("bridge-t1", "director"):
            self.certify(name, name, common_name=name)
        for number, user in enumerate(USERS):
            new = [] if number else ["-c"]
            command = ["mosquitto_passwd", *new, "-b", folder / "table.pw", user, f"{user}-pw"]
            subprocess.run(command, check=True)
            (folder / f"{user}.password").write_text(f"{user}-pw\n")
        for name in ("table", "central"):
            shutil.copy(CONFIG / f"{name}.acl", folder)
        self.ports = {}

    def certify(self, name, *identities, **options):
        issued = self.authority.issue_cert(*identities, **options)
        issued.private_key_pem.write_to_path(self.folder / "certs" / f"{name}.key")
        issued.cert_chain_pems[0].write_to_path(self.folder / "certs" / f"{name}.crt")

    def start(self, name, *more):
        """Run NAME.conf with what `more` files add; every listener gets a port of its own."""
        text = "\n".join((CONFIG / f"{file}.conf").read_text() for file in (name, *more))
        ports = {}

        def listener(match):
            ports[match[1]] = free_port()
            return f"listener {ports[match[1]]} 127.0.0.1"

        text = re.sub(r"^listener (\d+)(?: 127\.0\.0\.1)?$", listener, text, flags=re.MULTILINE)
        data = self.folder / f"{name}-data"
        data.mkdir()
        text = text.replace("/etc/mosquitto/felt", str(self.folder))
        text = text.replace("/var/lib/mosquitto/", f"{data}/")
        text = text.replace("BRIDGE-PASSWORD", "bridge-pw")
        if "central" in self.ports:
            text = text.replace(
                "central.example:8883", f"localhost:{self.ports['central']['8883']}"
            )
        if os.geteuid() == 0:
            text += "\nuser root\n"
        self.ports[name] = ports
        config = self.folder / f"{name}.conf"
        config.write_text(text)
        broker = self.start_broker(["/usr/sbin/mosquitto", "-c", config], ports["8883"])
        for port in ports.values():
            while not answers(port):
                time.sleep(0.01)
        return broker

    def context(self, certificate=None):
        context = ssl.create_default_context(cafile=self.folder / "certs" / "ca.crt")
        if certificate:
            stem = self.folder / "certs" / certificate
            context.load_cert_chain(f"{stem}.crt", f"{stem}.key")
        return context

    def client(self, user, listener="8883", **options):
        transport = "websockets" if listener == "9001" else "tcp"
        return aiomqtt.Client(
            "localhost",
            self.ports["table"][listener],
            username=user,
            password=f"{user}-pw",
            transport=transport,
            tls_context=None if listener == "1883" else self.context(),
            timeout=5,
            **options,
        )

    def director(self):
        port = self.ports["central"]["8883"]
        return aiomqtt.Client("localhost", port, tls_context=self.context("director"), timeout=5)


@pytest.fixture
def site(tmp_path, start_broker):
    return Site(tmp_path, start_broker)


@pytest.fixture
def listening():
    """Local addresses, as in /proc/net/tcp, on which a process listens."""

    def addresses(pid):
        sockets = set()
        for link in Path(f"/proc/{pid}/fd").iterdir():
            try:
                sockets.add(str(link.readlink()).removeprefix("socket:[").removesuffix("]"))
            except FileNotFoundError:
                continue
        lines = [
            line.split()
            for name in ("tcp", "tcp6")
            for line in Path(f"/proc/{pid}/net/{name}").read_text().splitlines()[1:]
        ]
        return {line[1] for line in lines if line[3] == "0A" and line[9] in sockets}

    return addresses


class Listener:
    """Keeps what it hears, and waits for it."""

    def __init__(self, epoch="e1"):
        self.epoch = epoch
        self.received = []
        self.troubles = []
        self.rivals = []
        self.refusals = []
        self.retained = []
        self.heard = asyncio.Event()

    async def inbound(self, received):
        self.received.append((received.topic, received.payload, received.retained))
        self.heard.set()

    def status(self, *, online):
        return json.dumps({"online": online, "epoch": self.epoch}).encode()

    def on_connect(self):
        return self.retained

    def refused(self, message, reason):
        self.refusals.append((message.topic, reason))

    def trouble(self, line):
        self.troubles.append(line)
        self.heard.set()

    def rival(self, instance):
        self.rivals.append(instance)


async def wait_until(condition):
    while not condition():  # noqa: ASYNC110 - conditions of other programs have no event
        await asyncio.sleep(0.005)


@asynccontextmanager
async def published(broker, journal, listener, **options):
    address = options.pop("address", None) or Address(broker.url, version=options.pop("version", 4))
    publisher = Publisher(address, TOPICS, journal, listener, **options)
    task = asyncio.create_task(publisher.run())
    try:
        yield publisher
    finally:
        task.cancel()
        await asyncio.wait([task])
    if not task.cancelled():
        task.result()


class Overlay:
    """A subscriber in its own connection."""

    def __init__(self, client):
        self.client = client
        self.messages = []

    async def read(self):
        async for message in self.client.messages:
            self.messages.append((str(message.topic), message.payload, message.retain))

    def payloads(self, topic):
        return [payload for name, payload, _ in self.messages if name == topic]


@asynccontextmanager
async def overlay(broker, topic="felt/#"):
    async with aiomqtt.Client("127.0.0.1", broker.port) as client:
        watcher = Overlay(client)
        await client.subscribe(topic, qos=1)
        task = asyncio.create_task(watcher.read())
        yield watcher
        task.cancel()


def events(first, last):
    return [Outgoing("public", n, "felt/t1/event", b"%d" % n) for n in range(first, last + 1)]


@pytest.fixture
def journal(tmp_path):
    with closing(Journal.open(tmp_path / "t1", 0.0)) as opened:
        yield opened


@pytest.fixture
def kit():
    """What the tests of the connection share."""
    return SimpleNamespace(
        Listener=Listener, published=published, overlay=overlay, until=wait_until, events=events
    )


SEATS = 8
LOOK_S = 0.25
RAIL = {f"rail/{n}": f"seat:{n}" for n in range(1, SEATS + 1)}
RAIL |= {"rail/10": "board", "rail/11": "muck"}
CARDS = {f"{deck}-{card}": (deck, card) for deck in ("red", "blue") for card in DECK}


class Felt:
    """Cards laid on antennas by hand, looked at four times a second."""

    def __init__(self, zones=RAIL, **options):
        self.setup = Setup(
            "t1", options.pop("discipline", "holdem"), SEATS, zones, CARDS, **options
        )
        self.lying = {zone: [] for zone in zones.values()}
        self.lines = [{"started": "2026-11-29T18:00:00Z", "epoch": "x", "hand": 7, "button": 2}]
        self.t = 0.0
        self.ids = count(1)
        self.wait(1.0)

    def wait(self, seconds):
        for _ in range(round(seconds / LOOK_S)):
            self.t += LOOK_S
            for antenna, zone in self.setup.zones.items():
                if zone != "shoe":
                    self.look(antenna, self.lying[zone])

    def look(self, antenna, tags):
        reader, _, number = antenna.partition("/")
        place = {"reader": reader, "antenna": int(number)}
        self.lines.append({"t": self.t, **place, "tags": list(tags)})

    def lay(self, zone, *cards, deck="red", rest=0.75):
        self.lying[zone] += [f"{deck}-{card}" for card in cards]
        self.wait(rest)

    def lift(self, zone, *cards, deck="red"):
        left = {f"{deck}-{card}" for card in cards}
        self.lying[zone] = [tag for tag in self.lying[zone] if cards and tag not in left]

    def sweep(self, rest=5.0):
        for zone in self.lying:
            self.lift(zone)
        self.wait(rest)

    def pass_shoe(self, *cards, deck="red"):
        for card in cards:
            self.t += 0.6
            self.look("shoe/1", [f"{deck}-{card}"])

    def say(self, kind, **fields):
        body = {"id": str(next(self.ids)), "by": "floor", "type": kind, **fields}
        self.lines.append({"t": self.t, "command": body})
        return body["id"]

    def told(self, topic, roots=("felt",)):
        texts = (json.dumps(line).encode() for line in self.lines)
        topics = {f"{root}/t1/{topic}" for root in roots}
        sent = messages(self.setup, "felt", texts, "test")
        return [json.loads(m.payload) for _, m in sent if m.topic in topics]

    def events(self, kind):
        return [body for body in self.told("event") if body["type"] == kind]

    def alerts(self):
        return [(body["kind"], body.get("zone")) for body in self.told("alert")]

    def answer(self):
        return self.told("reply", ("felt", "felt-private"))[-1]

    def state(self):
        return self.told("state")[-1]


@pytest.fixture
def lay_table():
    return Felt


@pytest.fixture
def drawn():
    def drawn(*seats, felt=None):
        """A table at which the button draw was commanded."""
        felt = felt or Felt()
        felt.say("button-draw", seats=list(seats))
        felt.wait(1.0)
        return felt

    return drawn


@pytest.fixture
def race():
    def race(counts, felt=None, old=25, new=100, **fields):
        felt = felt or Felt()
        fields |= {"from": old, "to": new, "counts": {str(n): c for n, c in counts.items()}}
        felt.say("chip-race", **fields)
        felt.wait(1.0)
        return felt

    return race
