"""The table: one state, one step. `step` takes the time and an input, and returns what is told.

The core reads no clock and draws no random number, and no input raises. Times are whole
milliseconds since the table's memory began.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

import msgspec

from daemon.chances import take
from daemon.dealing import settled
from daemon.delay import due
from daemon.events import Damaged, Fact, Key, Odds, Private, Refused, Reply, Rival
from daemon.floor import obey
from daemon.noise import garbled
from daemon.presence import Change, Left, Overheard, PassedShoe, Settled
from daemon.review import review
from daemon.rules.results import ButtonDrawResult, ChipRaceResult, ShowdownResult
from daemon.shoe import passed
from daemon.state import Health, Step, TableState
from drivers import Look, ReaderDown, ReaderUp

if TYPE_CHECKING:
    from daemon.commands import AnyCommand
    from daemon.hand import Hand
    from daemon.setup import Setup

CELL_MS = 250
"""Conclusions that need only time are drawn once in each cell of this length."""

GAP_MS = 3000
"""An antenna that made no look for so long may have missed more than one card."""


@dataclass(frozen=True, slots=True)
class Order:
    """A command and where it came from: `private` is None where that is not known."""

    command: AnyCommand
    private: bool | None = None


Input: TypeAlias = Look | ReaderUp | ReaderDown | Key | Odds | Refused | Rival | Damaged | Order


@dataclass(frozen=True, slots=True)
class Told:
    """A fact with its number on its root, and the hand it belongs to."""

    fact: Fact
    seq: int
    private: bool
    hand: int | None


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a step told and answered, and whether it is to be remembered.

    `health` names the reader whose health changed.
    """

    told: list[Told]
    reply: Reply | None
    evidence: bool
    health: str | None = None


NOTHING = Outcome([], None, evidence=False)


class Table:
    """The state machine around a TableState."""

    def __init__(self, setup: Setup, state: TableState) -> None:
        self.setup = setup
        self.state = state
        state.presence.relink()
        if state.hand is not None:
            _without_lost_cards(state.hand, setup)
        for reader in {antenna.rpartition("/")[0] for antenna in setup.zones}:
            state.readers.setdefault(reader, Health(up=True, since=state.now))

    def step(self, now: int, item: Input) -> Outcome:
        """Take one input in; time never runs backwards."""
        state = self.state
        state.now = max(now, state.now)
        if isinstance(item, Look):
            return self._look(item)
        step = Step(state, self.setup, [])
        reply, health = None, None
        match item:
            case ReaderUp(reader):
                health = self._reader(step, reader, None)
            case ReaderDown(reader, error):
                health = self._reader(step, reader, error)
            case Key(key):
                state.key = key
            case Odds():
                take(step, item)
            case Refused() | Damaged() | Rival():
                _notice(step, item)
            case Order(command, private):
                if state.hand is not None and step.scene(state.hand).shoe_alone():
                    review(step)
                reply = obey(step, command, private=private)
                review(step)
        return Outcome(self._number(step), reply, evidence=True, health=health)

    def _look(self, look: Look) -> Outcome:
        state = self.state
        antenna = f"{look.reader}/{look.antenna}"
        zone = self.setup.zones.get(antenna)
        if zone is None:
            return NOTHING
        state.presence.noise += look.errors
        tags = self._without_noise(look.tags)
        if tags:
            state.suspicions.note(antenna)
        changes, evidence = state.presence.look(
            state.now, antenna, zone, tags, partial=look.partial
        )
        second = state.now - state.now % 1000
        before = state.looked.get(antenna, second)
        if before != second or antenna not in state.looked:
            state.looked[antenna] = second
            evidence = True
            if second - before >= GAP_MS and state.hand is not None:
                _note_gap(state.hand, zone, state.now)
        cell = state.now // CELL_MS
        if not changes and cell == state.cell:
            return Outcome([], None, evidence=True) if evidence else NOTHING
        state.cell = cell
        step = Step(state, self.setup, [])
        for change in changes:
            self._change(step, change)
        review(step)
        return Outcome(self._number(step), None, evidence=True)

    def _without_noise(self, tags: tuple[str, ...]) -> tuple[str, ...]:
        cards, tracks = self.setup.cards, self.state.presence.tracks
        noise = [
            tag for tag in tags if tag not in cards and tag not in tracks and garbled(tag, cards)
        ]
        if not noise:
            return tags
        self.state.presence.noise += len(noise)
        return tuple(tag for tag in tags if tag not in noise)

    def _change(self, step: Step, change: Change) -> None:
        hand = self.state.hand
        match change:
            case Left(tag, zone):
                if hand is not None and not hand.closed and tag in hand.stale:
                    hand.stale.remove(tag)
            case Settled(tag, zone, was):
                if hand is not None and not hand.closed:
                    if tag in hand.stale and zone in {"muck", "burn"}:
                        hand.stale.remove(tag)
                    settled(step.scene(hand), tag, zone, was)
                elif tag not in self.setup.cards:
                    step.alert("unknown-tag", zone, tag)
            case PassedShoe(tag):
                passed(step, tag)
            case Overheard(tag, _, ghost):
                known = tag in self.setup.cards and ghost.startswith("seat:")
                if hand is not None and not hand.closed and known:
                    step.scene(hand).alert("overheard", ghost)

    def _reader(self, step: Step, reader: str, error: str | None) -> str | None:
        state = self.state
        before = state.readers.get(reader)
        if before is None or before.up == (error is None):
            return None
        state.readers[reader] = Health(error is None, state.now, error)
        if error is not None:
            state.alerted = [mark for mark in state.alerted if mark != f"reader-down {reader}"]
            step.alert("reader-down", reader, reader)
            if state.hand is not None:
                antennas = self.setup.antennas("shoe")
                state.hand.lost |= any(one.rpartition("/")[0] == reader for one in antennas)
        return reader

    def _number(self, step: Step) -> list[Told]:
        return [self._count(fact, hand) for fact, hand in due(step)]

    def _count(self, fact: Fact, hand: int | None) -> Told:
        state = self.state
        private = isinstance(fact, Private)
        if private:
            state.private_seq += 1
            return Told(fact, state.private_seq, private, hand)
        state.seq += 1
        if isinstance(fact, ShowdownResult) and state.hand is not None:
            state.hand.result_seq = state.seq
        if isinstance(fact, ButtonDrawResult | ChipRaceResult) and state.deal is not None:
            state.deal.result_seq = state.seq
        return Told(fact, state.seq, private, hand)


def _without_lost_cards(hand: Hand, setup: Setup) -> None:
    """Cards that passed the shoe and were taken out of their deck since count as not heard."""
    known = [card for card in hand.passed if card.tag in setup.cards]
    if len(known) < len(hand.passed):
        hand.passed, hand.taken, hand.lost = known, min(hand.taken, len(known)), True


def _notice(step: Step, item: Refused | Damaged | Rival) -> None:
    """What happened around the table and is the floor's to know."""
    match item:
        case Refused(zone):
            step.alert("refused-message", zone, zone)
        case Damaged():
            step.alert("memory-lost", "", "")
        case Rival(instance):
            step.alert("second-daemon", "", instance)


def _note_gap(hand: Hand, zone: str, now: int) -> None:
    """From now on it counts that this zone was not looked at for a while."""
    if zone.startswith("seat:"):
        hand.gap_at = now
    elif zone == "board":
        hand.board_gap_at = now


def save(state: TableState) -> bytes:
    """A snapshot of the state."""
    return msgspec.msgpack.encode(state)


def restore(data: bytes) -> TableState:
    """The state of a snapshot. Raises msgspec.DecodeError on damage."""
    return msgspec.msgpack.decode(data, type=TableState)
