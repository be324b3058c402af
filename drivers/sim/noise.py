"""Virtual antennas: what readers make of a script, with the faults of real ones.

A long-range reader polls its antennas in turn, a full pass in 0.1-0.7 s; each antenna is one look.
The muck is looked at about once a second and hears two tags of what lies there.
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass
from itertools import pairwise
from math import log
from typing import TYPE_CHECKING, TypeAlias

from drivers.sim.script import PILE, Event, Fault, Said, Script

if TYPE_CHECKING:
    from collections.abc import Iterator
    from random import Random

    from drivers.sim.layout import Antenna, Layout

Line = dict[str, object]

IN_PILE = 0.35
"""How often a tag inside a squared deck is heard."""


@dataclass(frozen=True)
class Level:
    """How bad the readers are.

    `missed`: the share of looks that miss a tag; `spells`: looks from one deaf spell (0.3-2 s) to
    the next; `overheard`: the share of a neighbour's looks that hear a tag; `garbled`: looks from
    one garbled UID to the next; `shoe`: the share of cards that pass the shoe unheard. `brutal`
    adds whole hands of crossed antennas, dead readers, unheard cards and a deck played twice.
    """

    name: str
    missed: float = 0.0
    spells: int = 0
    overheard: float = 0.0
    garbled: int = 0
    shoe: float = 0.0
    brutal: bool = False


LEVELS = {
    level.name: level
    for level in (
        Level("clean"),
        Level("field", 0.05, 250, 0.004, 5000, 0.001),
        Level("harsh", 0.30, 50, 0.03, 1000, 0.005),
        Level("brutal", 0.30, 50, 0.03, 1000, 0.02, brutal=True),
    )
}


class Ears:
    """All antennas of a table; they keep looking from one hand to the next."""

    def __init__(self, layout: Layout, level: Level, rng: Random) -> None:
        self._rng = rng
        self._level = level
        self._shoe = layout.shoe_antenna()
        self._antennas = layout.rail_antennas()
        self._near = neighbours(layout.zones())
        self._lying: dict[str, dict[str, int]] = {}
        self._unheard: dict[str, Fault] = {}
        self._crossed: dict[str, Fault] = {}
        self.dead: tuple[Fault, ...] = ()
        self._pending: list[_Thing] = []
        self._deaf: dict[str, float] = {}
        self._last = ""
        self._spell = self._gap(level.spells)
        self._garble = self._gap(level.garbled)
        pass_time = rng.uniform(0.1, 0.7)
        self._turns: list[tuple[float, int]] = []
        self._periods: list[float] = []
        for index, antenna in enumerate(self._antennas):
            slow = antenna.zone == "muck"
            self._periods.append(max(pass_time, rng.uniform(0.8, 1.1)) if slow else pass_time)
            heapq.heappush(self._turns, (pass_time * index / len(self._antennas), index))
        self.looks = 0
        self.first_heard: dict[tuple[str, str], float] = {}

    def run(self, script: Script, until: float) -> Iterator[Line]:
        """The recording of one hand, up to `until` in seconds; lines in order of time.

        What lasts longer, a dead reader for one, goes on in the next run.
        """
        self.first_heard.clear()
        faults = script.truth.faults
        self._unheard = {each.place: each for each in faults if each.kind == "unheard-card"}
        self._crossed = {each.place: each for each in faults if each.kind == "crossed"}
        fresh = tuple(each for each in faults if each.kind in _DEAD)
        begins = script.truth.begins
        self.dead = tuple(each for each in self.dead if each.until > begins) + fresh
        things: list[_Thing] = [
            *self._pending,
            *_key(script),
            *script.events,
            *script.said,
            *_told(fresh),
        ]
        things.sort(key=lambda thing: thing.t)
        self._pending = [thing for thing in things if thing.t >= until]
        for thing in things[: len(things) - len(self._pending)]:
            yield from self._look_until(thing.t)
            yield from self._happen(thing)
        yield from self._look_until(until)

    def _look_until(self, t: float) -> Iterator[Line]:
        while self._turns and self._turns[0][0] < t:
            yield from self._turn()

    def _happen(self, thing: _Thing) -> Iterator[Line]:
        match thing:
            case Event(action="lay"):
                self._lying.setdefault(thing.zone, {})[thing.uid] = thing.spot
                if thing.zone == "shoe":
                    yield from self._pass_shoe(thing)
            case Event():
                self._lying.get(thing.zone, {}).pop(thing.uid, None)
            case Said():
                line: Line = {"t": round(thing.t, 3), "command": thing.body}
                yield line | {"private": True} if thing.private else line
            case _Told():
                yield {"t": round(thing.t, 3), "reader": thing.reader, "up": thing.up}
            case _Key():
                yield {"t": round(thing.t, 3), "key": thing.key}

    def _pass_shoe(self, card: Event) -> Iterator[Line]:
        if self._shoe is None or self._dead_now(card.t, self._shoe):
            return
        if card.uid in self._unheard or self._rng.random() < self._level.shoe:
            return
        self._note(card.t, "shoe", card.uid)
        yield _look(card.t, self._shoe, [card.uid])

    def _turn(self) -> Iterator[Line]:
        due, index = heapq.heappop(self._turns)
        antenna = self._antennas[index]
        jitter = self._rng.uniform(0.95, 1.05)
        heapq.heappush(self._turns, (due + self._periods[index] * jitter, index))
        dead = self._dead_now(due, antenna)
        if dead in {"reader-lost", "reader-silent"}:
            return
        self.looks += 1
        tags = [] if dead else self._hear(due, antenna)
        for uid in tags:
            self._note(due, antenna.zone, uid)
        yield _look(due, antenna, tags)

    def _dead_now(self, now: float, antenna: Antenna) -> str:
        for fault in self.dead:
            place = antenna.zone if fault.kind == "antenna-deaf" else antenna.reader
            if fault.place == place and fault.since <= now < fault.until:
                return fault.kind
        return ""

    def _hear(self, now: float, antenna: Antenna) -> list[str]:
        lying = self._lying.get(antenna.zone, {})
        self._begin_spell(now, antenna, lying)
        if now < self._deaf.get(_name(antenna), 0.0):
            return []
        heard = [
            uid
            for uid, spot in lying.items()
            if antenna.covers(spot) and self._answers(now, uid, spot)
        ]
        for zone in self._near.get(antenna.zone, ()):
            heard += [
                uid
                for uid in self._lying.get(zone, ())
                if self._overheard(now, antenna.zone, uid) and uid not in heard
            ]
        if antenna.limit and len(heard) > antenna.limit:
            heard = self._loudest(heard, antenna)
        return sorted(self._garbled(heard))

    def _loudest(self, heard: list[str], antenna: Antenna) -> list[str]:
        """The tags that a limited antenna hears; on a muck mostly those on top."""
        limit = antenna.limit or len(heard)
        if antenna.zone != "muck":
            return self._rng.sample(heard, limit)
        under = list(heard)
        found: list[str] = []
        while len(found) < limit:
            depth = int(self._rng.expovariate(0.5)) % len(under)
            found.append(under.pop(len(under) - 1 - depth))
        return found

    def _answers(self, now: float, uid: str, spot: int) -> bool:
        if self._silenced(now, uid):
            return False
        heard = IN_PILE if spot == PILE else 1.0
        missed = self._level.missed
        return (heard == 1.0 and missed == 0.0) or self._rng.random() < heard * (1.0 - missed)

    def _overheard(self, now: float, zone: str, uid: str) -> bool:
        level = self._level
        if self._silenced(now, uid):
            return False
        crossed = self._crossed.get(uid)
        if crossed and crossed.zone == zone:
            return self._rng.random() >= level.missed
        return level.overheard > 0.0 and self._rng.random() < level.overheard

    def _silenced(self, now: float, uid: str) -> bool:
        unheard = self._unheard.get(uid)
        return (unheard is not None and now < unheard.until) or now < self._deaf.get(uid, 0.0)

    def _begin_spell(self, now: float, antenna: Antenna, lying: dict[str, int]) -> None:
        """Once in so many looks the antenna, or one tag on it, is deaf for 0.3-2 s."""
        if not self._level.spells:
            return
        self._spell -= 1
        if self._spell > 0:
            return
        self._spell = self._gap(self._level.spells)
        single = lying and self._rng.random() < 0.5
        who = self._rng.choice(sorted(lying)) if single else _name(antenna)
        self._deaf[who] = now + self._rng.uniform(0.3, 2.0)

    def _garbled(self, heard: list[str]) -> list[str]:
        """Once in so many looks one UID comes shifted, as zeros, or from the reader before."""
        last, self._last = self._last, heard[-1] if heard else self._last
        if not self._level.garbled:
            return heard
        self._garble -= 1
        if self._garble > 0:
            return heard
        self._garble = self._gap(self._level.garbled)
        uid = heard[-1] if heard else last
        if not uid:
            return heard
        shift = 2 * self._rng.randrange(1, len(uid) // 2)
        noise = self._rng.choice((uid[shift:] + uid[:shift], "0" * len(uid), last or uid))
        return sorted({*heard[:-1], noise})

    def _gap(self, mean: int) -> int:
        """Looks until the next rare thing that happens once in `mean` looks."""
        return 1 + int(-log(1.0 - self._rng.random()) * mean) if mean else 0

    def _note(self, now: float, zone: str, uid: str) -> None:
        self.first_heard.setdefault((zone, uid), now)


_DEAD = frozenset({"antenna-deaf", "reader-lost", "reader-silent"})


@dataclass(frozen=True, slots=True)
class _Told:
    t: float
    reader: str
    up: bool


@dataclass(frozen=True, slots=True)
class _Key:
    t: float
    key: str


_Thing: TypeAlias = Event | Said | _Told | _Key


def _key(script: Script) -> list[_Key]:
    return [_Key(script.truth.begins - 0.01, script.key)] if script.key else []


def _told(faults: tuple[Fault, ...]) -> list[_Told]:
    lost = [each for each in faults if each.kind == "reader-lost"]
    ends = [_Told(each.until, each.place, up=True) for each in lost]
    return [_Told(each.since, each.place, up=False) for each in lost] + ends


def _name(antenna: Antenna) -> str:
    return f"{antenna.reader}/{antenna.number}"


def _look(t: float, antenna: Antenna, tags: list[str]) -> Line:
    line: Line = {
        "t": round(t, 3),
        "reader": antenna.reader,
        "antenna": antenna.number,
        "tags": tags,
    }
    if antenna.limit and len(tags) >= antenna.limit:
        line["partial"] = True
    return line


def neighbours(zones: tuple[str, ...]) -> dict[str, tuple[str, ...]]:
    """Whose cards an antenna may overhear: the seats beside it, and the two zones of one seat."""
    near: dict[str, list[str]] = {zone: [] for zone in zones if zone.startswith("seat:")}
    for row in ([z for z in near if not z.endswith(":up")], [z for z in near if z.endswith(":up")]):
        for left, right in pairwise(row):
            near[left].append(right)
            near[right].append(left)
    for zone, beside in near.items():
        up = f"{zone}:up"
        if up in near:
            beside.append(up)
            near[up].append(zone)
    return {zone: tuple(others) for zone, others in near.items()}
