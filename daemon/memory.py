"""The table's memory at work: restored from the journal, written to it, told from it."""

from __future__ import annotations

import logging
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import msgspec

from daemon.engine import AnswersInMemory, Engine
from daemon.events import Reply
from daemon.journal import Answer, JournalError
from daemon.outbox import Outgoing
from daemon.recordfile import Archive
from daemon.recording import RecordingError, read_line, write_line
from daemon.records import About, draft
from daemon.sealing import sealer
from daemon.signing import signer
from daemon.state import TableState
from daemon.table import restore, save
from daemon.wire import Wire

if TYPE_CHECKING:
    from collections.abc import Iterable

    from daemon.chain import Ledger
    from daemon.config import Config
    from daemon.engine import Spoken
    from daemon.hand import Hand
    from daemon.journal import Journal
    from daemon.outbox import Root
    from daemon.recording import Entry
    from daemon.setup import Setup
    from daemon.wire import Message

log = logging.getLogger("feltd.memory")

RETAINED = "retained"
STANDING_MS = 600_000
"""A finished hand is recorded so long after its last result, if none begins before."""


class AnswersOnDisk:
    """Answers of the last day, in the journal; new ones wait for the next commit."""

    def __init__(self, journal: Journal) -> None:
        self.journal = journal
        self.fresh: dict[tuple[str, str], Answer] = {}

    def find(self, by: str, id_: str, body: bytes) -> Reply | bool:
        """The reply given to this very command; True for another body, False for a new id."""
        known = self.fresh.get((by, id_)) or self.journal.answer(by, id_)
        if known is None:
            return False
        if known.digest != self.journal.digest(body):
            return True
        return msgspec.json.decode(known.reply, type=Reply)

    def keep(self, by: str, id_: str, body: bytes, reply: Reply) -> None:
        """Remember a reply with the commit that carries its command."""
        digest = self.journal.digest(body)
        self.fresh[by, id_] = Answer(by, id_, digest, msgspec.json.encode(reply))


class Memory:
    """Engine and journal together: `take` inputs, then `commit` them with what they led to.

    `told` is the highest `seq` of each root that is on the disk.
    """

    def __init__(self, config: Config, journal: Journal) -> None:
        self.journal = journal
        setup, state = config.setup(), self._state(config)
        started = datetime.fromtimestamp(journal.started, UTC)
        self.wire = Wire(config.table.id, config.mqtt.prefix, journal.epoch, started)
        self.answers = AnswersOnDisk(journal)
        self.engine = Engine(setup, state, self.wire, AnswersInMemory(), sealer(setup))
        self.retained: dict[str, Message] = {}
        self._inputs: list[bytes] = []
        self._messages: list[Message] = []
        self._milestone = ""
        self._betting = config.table.betting
        self.archive = Archive(config.state_dir, journal, config.table.id, signer(config.state_dir))
        self._recorded = 0
        self._restore()
        self.engine.answers = self.answers

    def _state(self, config: Config) -> TableState:
        """The table at the last snapshot. One that cannot be read takes its journal with it.

        The numbers of what was told are in it, and none may come twice.
        """
        snapshot, _ = self.journal.restore()
        if snapshot is not None:
            try:
                return restore(snapshot)
            except msgspec.DecodeError as error:
                self.journal.begin_anew(f"a snapshot of another version cannot be read: {error}")
        return TableState(epoch=self.journal.epoch, discipline=config.table.discipline)

    def _restore(self) -> None:
        """Go through the inputs since the snapshot again; what they led to was told already."""
        told = self.journal.recall(RETAINED)
        if told is not None:
            kept = msgspec.msgpack.decode(told, type=dict[str, bytes])
            for topic, payload in kept.items():
                self._retain(_message(topic, payload))
        _, inputs = self.journal.restore()
        for text in inputs:
            try:
                now, entry = read_line(text)
            except RecordingError as error:
                log.error("an input in the journal cannot be read: %s", error)  # noqa: TRY400
                continue
            for message in self._feed(now, entry).messages:
                self._retain(message)
        self._milestone = self._place()
        self.told = self._counted()

    def _counted(self) -> dict[Root, int]:
        return {"public": self.state.seq, "private": self.state.private_seq}

    @property
    def state(self) -> TableState:
        """What the table remembers."""
        return self.engine.state

    @property
    def pending(self) -> bool:
        """Whether something waits for a commit."""
        return bool(self._inputs or self._messages or self.answers.fresh or self.archive.waiting)

    @property
    def urgent(self) -> bool:
        """Whether what waits holds a message, so has to be synced."""
        return bool(self._messages or self.answers.fresh)

    @property
    def public(self) -> bool:
        """Whether what waits holds a message that everybody may hear."""
        return any(not message.private for message in self._messages)

    def take(self, now: int, entry: Entry) -> bool:
        """Take one input in; whether it told anything."""
        spoken = self._feed(now, entry)
        if spoken.evidence:
            self._inputs.append(write_line(self.state.now, entry))
        self._messages += spoken.messages
        return bool(spoken.messages)

    def _feed(self, now: int, entry: Entry) -> Spoken:
        """Feed the engine; a hand that gives way to the next one is as it will be recorded."""
        hand, ledger = self.state.hand, self.state.ledger
        spoken = self.engine.feed(now, entry)
        if hand is not None and self.state.hand is not hand:
            self._record(hand, ledger)
        return spoken

    def _record(self, hand: Hand, ledger: Ledger) -> None:
        self._recorded = hand.number
        self.archive.add(draft(hand, ledger, About(self.wire, self._betting, self.state.names)))

    def _record_standing(self, wait: int) -> None:
        """Record the last hand, if nothing was told of it for `wait` ms."""
        hand, ledger = self.state.hand, self.state.ledger
        if hand is None or not (hand.closed or hand.void) or hand.number == self._recorded:
            return
        if ledger.results and self.state.now - ledger.results[-1].at >= wait:
            self._record(hand, ledger)

    def close(self) -> None:
        """Commit, with the record of a hand that is over. Raises JournalError."""
        self._recorded = 0
        self._record_standing(0)
        self.commit()

    def adopt(self, setup: Setup) -> None:
        """Go on with another setup; a snapshot sees to it that a restart does not mix the two.

        Nothing may wait for a commit. Raises JournalError.
        """
        if self.archive.waiting:
            raise JournalError("a record waits for the disk")
        self.journal.snapshot(save(self.state))
        self.engine.table.setup = setup

    def commit(self) -> None:
        """Put everything that waits on the disk, all or nothing. Raises JournalError."""
        messages, inputs, counted = self._messages, self._inputs, self._counted()
        answers = list(self.answers.fresh.values())
        sync = bool(messages or answers)
        self.journal.add(inputs, [outgoing(one) for one in messages], answers, sync=sync)
        self._inputs, self._messages = [], []
        self.told = counted
        self.answers.fresh.clear()
        for message in messages:
            self._retain(message)
        if any(message.retain and message.seq is not None for message in messages):
            self._keep_retained()
        self._record_standing(STANDING_MS)
        if self.archive.write():
            self._mark()

    def _retain(self, message: Message) -> None:
        if message.retain:
            self.retained[message.topic] = message

    def _keep_retained(self) -> None:
        kept = {
            topic: message.payload
            for topic, message in self.retained.items()
            if message.seq is not None
        }
        self.journal.remember(RETAINED, msgspec.msgpack.encode(kept), sync=False)

    def _place(self) -> str:
        hand, deal = self.state.hand, self.state.deal
        if deal is not None:
            return f"{deal.number} {deal.phase()} {deal.closed_at is not None}"
        return "" if hand is None else f"{hand.number} {hand.phase()} {hand.closed}"

    def _mark(self) -> None:
        """A snapshot at each street; with a new hand the journal of the old one is erased."""
        place = self._place()
        if place == self._milestone:
            return
        new_hand = place.partition(" ")[0] != self._milestone.partition(" ")[0]
        self._milestone = place
        self.journal.snapshot(save(self.state))
        if new_hand:
            self.journal.erase_hand()


def _message(topic: str, payload: bytes) -> Message:
    from daemon.wire import Message  # noqa: PLC0415

    return Message(private=False, topic=topic, retain=True, payload=payload, seq=0)


def outgoing(message: Message) -> Outgoing:
    """A message as the outbox takes it."""
    root: Root = "private" if message.private else "public"
    return Outgoing(
        root,
        message.seq,
        message.topic,
        message.payload,
        message.retain,
        correlation=message.correlation,
    )


def again(messages: Iterable[Message]) -> list[Outgoing]:
    """Retained messages told again to a broker that came back; they are not counted anew."""
    return [Outgoing("public", None, one.topic, one.payload, retain=True) for one in messages]
