"""A small language for tests: cards laid on antennas by hand, looked at four times a second."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from itertools import count
from random import Random

from daemon.engine import AnswersInMemory, Engine
from daemon.recording import read_line
from daemon.rules.cards import DECK
from daemon.setup import Setup
from daemon.state import TableState
from daemon.table import restore, save
from daemon.wire import Wire

LOOK_S = 0.25
STARTED = datetime(2026, 11, 29, 18, tzinfo=UTC)
DECKS = ("red", "blue")
UIDS = {
    f"{deck}-{card}": f"E004015{number:X}{4099 * place + 17:08X}"
    for number, deck in enumerate(DECKS)
    for place, card in enumerate(DECK)
}
CARDS = {uid: tuple(name.split("-")) for name, uid in UIDS.items()}
OWN = {"holdem": 2, "omaha": 4, "stud": 7}
KEY = "5a" * 32


def zones(seats, *, up=False, board=1, shoe=False):
    """One reader for the rail: seats, board (in parts), muck."""
    names = [f"seat:{n}" for n in range(1, seats + 1)]
    names += [f"seat:{n}:up" for n in range(1, seats + 1)] * up
    names += ["board"] * board + ["muck"]
    found = {f"rail/{n}": zone for n, zone in enumerate(names, 1)}
    return found | ({"shoe/1": "shoe"} if shoe else {})


class Felt:
    """A table at which every card is where the test puts it.

    `miss` is the share of looks in which a tag is not heard; `heard_at` lets other zones hear a
    tag too, with their share of looks.
    """

    def __init__(self, discipline="holdem", seats=6, *, miss=0.0, seed=1, **options):
        where = options.pop("zones", None) or zones(seats)
        self.setup = Setup("t1", discipline, seats, where, CARDS, **options)
        self.engine = self._engine(TableState("x", discipline, next_number=7, button=seats))
        self.random = Random(seed)
        self.miss = miss
        self.lying = {zone: [] for zone in where.values()}
        self.deaf = set()
        self.asleep = set()
        self.heard_at = {}
        self.lines = []
        self.sent = []
        self.t = 0.0
        self.ids = count(1)
        self.wait(1.0)

    def _engine(self, state, answers=None):
        wire = Wire("t1", "felt", "x", STARTED)
        return Engine(self.setup, state, wire, answers or AnswersInMemory())

    def restart(self):
        """The daemon goes down and comes back with what it remembered."""
        self.engine = self._engine(restore(save(self.engine.state)), self.engine.answers)

    @property
    def state(self):
        return self.engine.state

    def feed(self, **line):
        line = {"t": self.t, **line}
        self.lines.append(line)
        messages = self.engine.feed(*read_line(json.dumps(line).encode())).messages
        self.sent += [(self.t, message) for message in messages]
        return messages

    def wait(self, seconds):
        for _ in range(round(seconds / LOOK_S)):
            self.t += LOOK_S
            for antenna, zone in self.setup.zones.items():
                if zone != "shoe" and zone not in self.asleep:
                    self.look(antenna, zone)

    def look(self, antenna, zone):
        reader, _, number = antenna.partition("/")
        lying = self.lying[zone] + self._overheard(zone)
        tags = [tag for tag in lying if self.random.random() >= self.miss]
        tags = [] if zone in self.deaf else list(dict.fromkeys(tags))
        line = {"reader": reader, "antenna": int(number), "tags": tags}
        if zone == "muck" and len(tags) >= 2:
            line |= {"tags": self.random.sample(tags, 2), "partial": True}
        self.feed(**line)

    def _overheard(self, zone):
        on_felt = {tag for tags in self.lying.values() for tag in tags}
        chances = self.heard_at.get(zone, {}).items()
        return [tag for tag, share in chances if tag in on_felt and self.random.random() < share]

    def overhear(self, zone, card, share, deck="red"):
        self.heard_at.setdefault(zone, {})[UIDS[f"{deck}-{card}"]] = share

    def lay(self, zone, *cards, deck="red", rest=0.5):
        self.lying[zone] += [UIDS.get(f"{deck}-{card}", card) for card in cards]
        self.wait(rest)

    def lift(self, zone, *cards, deck="red", rest=0.0):
        gone = {UIDS.get(f"{deck}-{card}", card) for card in cards} or set(self.lying[zone])
        self.lying[zone] = [tag for tag in self.lying[zone] if tag not in gone]
        self.wait(rest)
        return gone

    def deal(self, hands, *, gap=0.5, deck="red", first=0, rest=5.0):
        """One card at a time, round by round, as a dealer does."""
        for place in range(first, max(map(len, hands.values()))):
            for seat, cards in hands.items():
                if place < len(cards):
                    self.lay(f"seat:{seat}", cards[place], deck=deck, rest=gap)
        self.wait(rest)

    def throw(self, seat, zone="muck", rest=4.0):
        """The cards of a seat go to the muck."""
        gone = self.lift(f"seat:{seat}", rest=0.5)
        self.lying[zone] += sorted(gone)
        self.wait(rest)

    def board(self, *cards, deck="red", rest=4.0):
        self.lay("board", *cards, deck=deck, rest=rest)

    def run_out(self, cards, deck="red"):
        """Flop, turn and river."""
        for street in (cards[:3], cards[3:4], cards[4:5]):
            self.board(*street, deck=deck)

    def sweep(self, rest=12.0):
        for zone in self.lying:
            self.lift(zone)
        self.wait(rest)

    def say(self, kind, *, private=None, id=None, **fields):  # noqa: A002  a field of a command
        """Give a command; its answer."""
        body = {"id": id or str(next(self.ids)), "by": "floor", "type": kind, **fields}
        line = {"command": body} | ({} if private is None else {"private": private})
        messages = self.feed(**line)
        return next(json.loads(m.payload) for m in messages if m.topic.endswith("/reply"))

    def reader(self, name, *, up):
        self.feed(reader=name, up=up)

    def told(self, topic, *, private=False, since=0.0):
        name = f"felt{'-private' if private else ''}/t1/{topic}"
        return [json.loads(m.payload) for t, m in self.sent if m.topic == name and t >= since]

    def events(self, kind, **options):
        return [body for body in self.told("event", **options) if body["type"] == kind]

    def alerts(self, *, notices=True, **options):
        told = self.told("alert", **options)
        return [
            (body["kind"], body.get("zone"))
            for body in told
            if notices or body["severity"] != "notice"
        ]

    def kinds(self):
        return {kind for kind, _ in self.alerts()}

    def picture(self):
        return self.told("state")[-1]

    def counts(self):
        """How many cards each seat has."""
        return {int(n): seat["cards"] for n, seat in self.picture()["seats"].items()}

    def showdowns(self):
        return self.told("showdown")

    def public(self):
        return [(t, m.topic, m.payload) for t, m in self.sent if not m.private]


def deck(seed=1, without=()):
    """A shuffled deck as an iterator."""
    cards = [card for card in DECK if card not in without]
    Random(seed).shuffle(cards)
    return iter(cards)


def hands(discipline, seats, seed=1, count=None):
    """Hands for these seats, and a board."""
    cards = deck(seed)
    number = count or OWN[discipline]
    dealt = {seat: [next(cards) for _ in range(number)] for seat in seats}
    return dealt, [next(cards) for _ in range(5)]
