"""The simulated table: sessions of hands with readers' noise, as recordings in virtual time.

`simulate` yields hands one by one, so that memory does not grow with their number; `write` puts a
session into a folder that `feltd replay FILE --config C` can read. The same seed and arguments
always give the same session.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from random import Random
from typing import TYPE_CHECKING, TextIO

from drivers.sim.deals import drawn_button, play_button_draw, play_chip_race
from drivers.sim.deck import Deck, make_deck
from drivers.sim.hands import HOLE_CARDS, clockwise, play_flop_game
from drivers.sim.layout import Layout
from drivers.sim.noise import LEVELS, Ears, Level, Line
from drivers.sim.people import Habits, Play, Table
from drivers.sim.script import Fault, HandTruth, Kind, Script
from drivers.sim.stud import play_stud

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

FIRST_HAND = 1


def _play_hand(play: Play) -> Script:
    return play_stud(play) if play.layout.discipline == "stud" else play_flop_game(play)


PLAYS: dict[Kind, Callable[[Play], Script]] = {
    "hand": _play_hand,
    "button-draw": play_button_draw,
    "chip-race": play_chip_race,
}


@dataclass(frozen=True)
class SimHand:
    """One hand: its script, its recording, and the truth."""

    script: Script
    lines: tuple[Line, ...]
    truth: HandTruth


@dataclass(frozen=True)
class Session:
    """A session ready to be played: configuration and decks as text, hands when asked for."""

    table: Table
    hands: int
    button: int | None
    extras: bool = False
    keys: bool = False

    @property
    def layout(self) -> Layout:
        """The antennas of the table."""
        return self.table.layout

    @property
    def decks(self) -> tuple[Deck, Deck]:
        """The two enrolled decks, red and blue."""
        return self.table.decks

    def config(self) -> str:
        """The text of the configuration file."""
        return self.layout.config()

    def header(self) -> Line:
        """The first line of the recording."""
        line: Line = {"started": "2026-11-29T18:00:00Z", "epoch": "sim", "hand": FIRST_HAND}
        return line if self.button is None else line | {"button": self.button}

    def scripts(self) -> Iterator[Script]:
        """What happens, hand by hand, without any antenna."""
        now, button = 5.0, self.button
        drawn = False
        for count in range(self.hands):
            kind = self._kind(count)
            if button is not None and count and kind == "hand" and not drawn:
                button = clockwise(self.table.occupied, button)[0]
            brutal = self.table.level.brutal
            deck, other = self.decks if brutal or count % 2 == 0 else reversed(self.decks)
            play = Play(self.table, deck, other, button, now)
            script = self._finished(play, PLAYS[kind](play), FIRST_HAND + count)
            yield script
            drawn = kind == "button-draw" or (drawn and kind == "chip-race")
            if kind == "button-draw":
                button = drawn_button(script)
            now = script.truth.ends + self._pause()

    def _kind(self, count: int) -> Kind:
        """With extras: a button draw, then seven hands and a chip race, over and over."""
        if not self.extras or not self.table.habits.commands:
            return "hand"
        if count % 10 == 0 and self.button is not None:
            return "button-draw"
        return "chip-race" if count % 10 == 8 else "hand"

    def __iter__(self) -> Iterator[SimHand]:
        """The hands, one at a time; a second iteration goes on with other cards."""
        ears = Ears(self.layout, self.table.level, self.table.rng)
        for script in self.scripts():
            lines = tuple(ears.run(script, script.truth.ends + 6.0))
            yield SimHand(script, lines, _with_hearing(script.truth, ears))

    def _finished(self, play: Play, script: Script, number: int) -> Script:
        """Number and faults of a hand; now and then the other deck lies on an antenna."""
        truth = replace(script.truth, number=number)
        key = f"{self.table.rng.getrandbits(256):064x}" if self.keys else None
        events = script.events
        if self.table.rng.random() < 0.08:
            play.lay_other_deck(truth.ends + 3.0)
            events = tuple(sorted(play.events, key=lambda each: each.t))
        if self.table.level.brutal:
            truth = replace(truth, faults=truth.faults + brutal_faults(self.table, truth))
        return replace(script, events=events, truth=truth, key=key)

    def _pause(self) -> float:
        rest = self.table.rng.uniform(15.0, 25.0) / self.table.habits.speed
        return max(11.0, rest)


def simulate(
    discipline: str,
    level: str,
    seed: int,
    hands: int,
    *,
    seats: int | None = None,
    players: int | None = None,
    commands: bool = False,
    speed: float = 1.0,
    extras: bool = False,
    keys: bool = False,
    typing: bool = False,
    layout: Layout | None = None,
) -> Session:
    """A session of `hands` hands at a noise level: clean, field, harsh or brutal.

    `seats` has antennas, `players` of them are taken (both chosen by the seed if left out).
    `layout` replaces the usual one antenna a seat, one or more for the board, and the muck.
    `extras` adds button draws and chip races, `keys` the hands' secret keys, `typing`
    the floor's private commands for shown cards that no reader had heard.
    """
    rng = _seeded(f"{discipline}/{level}/{seed}")
    most = 8 if discipline == "stud" else 9
    seats = seats or (layout.seats if layout else most)
    layout = replace(layout or Layout(board=rng.randint(1, 4)), discipline=discipline, seats=seats)
    taken = players or rng.randint(min(4, seats), seats)
    occupied = tuple(sorted(rng.sample(range(1, seats + 1), taken)))
    uids: set[str] = set()
    decks = tuple(make_deck(name, rng, layout.air, uids) for name in ("red", "blue"))
    table = Table(
        layout, LEVELS[level], Habits(commands, speed, typing), occupied, rng, (decks[0], decks[1])
    )
    button = rng.choice(occupied) if discipline in HOLE_CARDS else None
    return Session(table, hands, button, extras, keys)


def write(session: Session, folder: Path) -> list[HandTruth]:
    """Put `table.toml`, `decks/*.toml` and `recording.jsonl` into a folder; the truth comes back.

    Raises `OSError` where the folder cannot be written.
    """
    (folder / "decks").mkdir(parents=True, exist_ok=True)
    (folder / "table.toml").write_text(session.config())
    for deck in session.decks:
        (folder / "decks" / f"{deck.name}.toml").write_text(deck.toml())
    with (folder / "recording.jsonl").open("w") as out:
        return list(stream(session, out))


def stream(session: Session, out: TextIO) -> Iterator[HandTruth]:
    """Write the recording line by line; each hand's truth after its last line."""
    out.write(json.dumps(session.header()) + "\n")
    for hand in session:
        out.writelines(json.dumps(line) + "\n" for line in hand.lines)
        yield hand.truth


def brutal_faults(table: Table, truth: HandTruth) -> tuple[Fault, ...]:
    """Crossed antennas for whole hands, and an antenna or a reader dead for 10-60 s."""
    rng = table.rng
    faults: list[Fault] = []
    if table.layout.antennas and rng.random() < 0.25:
        faults += _crossed(table, truth)
    if rng.random() < 0.2:
        since = rng.uniform(truth.begins, truth.ends)
        until = since + rng.uniform(10.0, 60.0)
        shoe = table.layout.shoe_antenna()
        antenna = rng.choice([*table.layout.rail_antennas(), *([shoe] if shoe else [])])
        kind = rng.choice(("antenna-deaf", "reader-lost", "reader-silent"))
        place = antenna.zone if kind == "antenna-deaf" else antenna.reader
        faults.append(Fault(kind, place, since, until))
    return tuple(faults)


def _crossed(table: Table, truth: HandTruth) -> list[Fault]:
    seat = table.rng.choice(truth.seats)
    beside = [s for s in (seat - 1, seat + 1) if 1 <= s <= table.layout.seats]
    zone = f"seat:{table.rng.choice(beside)}"
    uids = [each.uid for each in truth.dealt if each.seat == seat]
    some = table.rng.sample(uids, min(len(uids), table.rng.randint(1, 2)))
    return [Fault("crossed", uid, truth.begins, truth.ends, zone) for uid in some]


def _with_hearing(truth: HandTruth, ears: Ears) -> HandTruth:
    """Which folds were never read, which cards never heard at home, what was dead the while."""
    unheard = [each for each in truth.dealt if (each.zone, each.uid) not in ears.first_heard]
    read = {each.seat for each in truth.dealt} - {
        seat
        for seat in truth.seats
        if all(each in unheard for each in truth.dealt if each.seat == seat)
    }
    earlier = tuple(each for each in ears.dead if each not in truth.faults)
    return replace(
        truth,
        folds=tuple(replace(fold, read=fold.seat in read) for fold in truth.folds),
        faults=truth.faults + earlier,
        unheard=tuple(each.card for each in unheard),
    )


def _seeded(text: str) -> Random:
    return Random(text)  # noqa: S311 - a session has to be repeatable, not secret


__all__ = ["Level", "Session", "SimHand", "brutal_faults", "simulate", "stream", "write"]
