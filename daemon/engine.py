"""The table with its mouth: inputs in, messages out. Live, replayed and restored alike."""

from __future__ import annotations

import hmac
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Protocol

import msgspec

from daemon import chances, commands
from daemon.antennas import Antennas
from daemon.chain import CHAINED, ENDS, Result, genesis
from daemon.commands import CommandError
from daemon.events import Addressed, HoleCards, Reply, ResendGone, Sealed, SealedEquity
from daemon.recording import RawCommand
from daemon.table import Order, Table
from daemon.wire import Message, Metrics, health, picture
from drivers import Look

if TYPE_CHECKING:
    from daemon.events import Question
    from daemon.recording import Entry
    from daemon.setup import Setup
    from daemon.state import TableState
    from daemon.table import Told
    from daemon.wire import Picture, Wire


class Seal(Protocol):
    """How a message is closed to all but one receiver."""

    def __call__(self, to: str, message: bytes, key: str | None) -> str:
        """The sealed box in base64; `key` is the hand's secret key."""


class Answers(Protocol):
    """Where answers to commands are remembered, by sender and id, for a day."""

    def find(self, by: str, id_: str, body: bytes) -> Reply | bool:
        """The reply given to this very command; True for another body, False for a new id."""

    def keep(self, by: str, id_: str, body: bytes, reply: Reply) -> None:
        """Remember a reply."""


@dataclass
class AnswersInMemory:
    """Answers for a replay."""

    given: dict[tuple[str, str], tuple[bytes, Reply]] = field(default_factory=dict)

    def find(self, by: str, id_: str, body: bytes) -> Reply | bool:
        """The reply given to this very command; True for another body, False for a new id."""
        known = self.given.get((by, id_))
        if known is None:
            return False
        return known[1] if hmac.compare_digest(known[0], body) else True

    def keep(self, by: str, id_: str, body: bytes, reply: Reply) -> None:
        """Remember a reply."""
        self.given[by, id_] = (body, reply)


@dataclass(frozen=True, slots=True)
class Spoken:
    """What one input led to: messages in order, and whether the input is to be remembered."""

    messages: list[Message]
    evidence: bool


SILENT = Spoken([], evidence=False)


class Engine:
    """One table at work. `feed` never raises, whatever comes in.

    `seal` is needed where hole cards are sealed (else ValueError).
    """

    def __init__(
        self,
        setup: Setup,
        state: TableState,
        wire: Wire,
        answers: Answers,
        seal: Seal | None = None,
    ) -> None:
        if setup.hole_cards == "sealed" and seal is None:
            raise ValueError("sealed hole cards need a way to seal")
        self._seal = seal
        self.table = Table(setup, state)
        self.wire = wire
        self.answers = answers
        self._picture: Picture | None = None
        self.antennas = Antennas(state.next_number)

    @property
    def state(self) -> TableState:
        """What the table remembers."""
        return self.table.state

    def feed(self, now: int, entry: Entry) -> Spoken:
        """Take one input in, at `now` milliseconds of the table's memory."""
        if isinstance(entry, RawCommand):
            return self._command(now, entry) if entry.reply_to is None else self._reply(now, entry)
        if isinstance(entry, Look):
            heard = self.state.presence.by_antenna.get(f"{entry.reader}/{entry.antenna}", {})
            self.antennas.take(entry, heard)
        outcome = self.table.step(now, entry)
        if not outcome.told and not outcome.evidence:
            return SILENT
        messages = [self._message(told) for told in outcome.told]
        if outcome.told:
            self._follow(messages, counted=any(not told.private for told in outcome.told))
        if outcome.health is not None:
            messages.append(self.reader(outcome.health))
        return Spoken(messages, outcome.evidence)

    def _reply(self, now: int, raw: RawCommand) -> Spoken:
        """Answer a command of MQTT 5 on its response topic too; of a secret one, in private."""
        private = bool(raw.private)
        roots = [self.wire.replies(private=True)]
        roots += [] if private else [self.wire.replies(private=False)]
        topic = raw.reply_to or ""
        if not any(topic.startswith(root) and topic != root for root in roots):
            error = commands.refusal(raw.data, f"the response topic is not below {roots[-1]}")
            reply = Reply(id=error.id, by=error.by, ok=False, error=str(error))
            return Spoken([self.wire.reply(now, reply, private=private)], evidence=False)
        spoken = self._command(now, raw)
        copy = replace(
            spoken.messages[-1],
            topic=topic,
            private=topic.startswith(roots[0]),
            correlation=raw.correlation,
        )
        return Spoken([*spoken.messages, copy], spoken.evidence)

    def questions(self) -> list[Question]:
        """The odds that the table would tell now; `feed` takes the answers."""
        return chances.wanted(self.state, self.table.setup)

    def _command(self, now: int, raw: RawCommand) -> Spoken:
        private = bool(raw.private)
        try:
            command = commands.decode(raw.data)
        except CommandError as error:
            reply = Reply(id=error.id, by=error.by, ok=False, error=str(error))
            return Spoken([self.wire.reply(now, reply, private=private)], evidence=False)
        private = private or (raw.private is None and commands.about_hidden_cards(command))
        body = msgspec.json.encode(command, order="sorted")
        by = command.by or ""
        known = self.answers.find(by, command.id, body)
        if isinstance(known, Reply):
            return Spoken([self.wire.reply(now, known, private=private)], evidence=False)
        if known:
            text = f"id {command.id!r} was used for another command - at `$.id`"
            reply = Reply(id=command.id, by=command.by, ok=False, error=text)
            return Spoken([self.wire.reply(now, reply, private=private)], evidence=False)
        return self._obey(now, Order(command, raw.private), body, private=private)

    def _obey(self, now: int, order: Order, body: bytes, *, private: bool) -> Spoken:
        outcome = self.table.step(now, order)
        messages = [self._message(told) for told in outcome.told]
        if outcome.told:
            self._follow(messages, counted=any(not told.private for told in outcome.told))
        if outcome.reply is not None:
            self.answers.keep(order.command.by or "", order.command.id, body, outcome.reply)
            messages.append(self.wire.reply(self.state.now, outcome.reply, private=private))
        return Spoken(messages, evidence=True)

    def _message(self, told: Told) -> Message:
        """A counted message; what is for one receiver alone is sealed first."""
        now, fact, hand = self.state.now, told.fact, self.state.hand
        if isinstance(fact, Addressed) and self._seal is not None:
            plain = self.wire.body(fact.body, now, seq=told.seq, hand=told.hand)
            key = hand.key if hand is not None and hand.number == told.hand else None
            sealed = Sealed if isinstance(fact.body, HoleCards) else SealedEquity
            told = replace(told, fact=sealed(to=fact.to, box=self._seal(fact.to, plain, key)))
        return self._chained(told, self.wire.told(now, told))

    def _chained(self, told: Told, message: Message) -> Message:
        """A result joins the chain; the end of a hand tells the head."""
        state, hand = self.state, self.state.hand
        if not state.ledger.head:
            state.ledger.head = state.ledger.since = genesis(self.wire.table, self.wire.epoch)
        if hand is not None and hand.number == told.hand != state.ledger.hand:
            state.ledger = state.ledger.next(hand.number)
        if not isinstance(told.fact, CHAINED):
            return message
        topic = message.topic.removeprefix(self.wire.topic(""))
        head = state.ledger.add(Result(topic, state.now, message.payload))
        if not isinstance(told.fact, ENDS):
            return message
        fact = msgspec.structs.replace(told.fact, head=head)
        return self.wire.told(state.now, replace(told, fact=fact))

    def _follow(self, messages: list[Message], *, counted: bool) -> None:
        """The picture follows the messages that changed it."""
        now_seen = picture(self.state)
        if counted or now_seen != self._picture:
            self._picture = now_seen
            messages.append(self.wire.state(self.state.now, self.state))

    def reader(self, name: str) -> Message:
        """The health of one reader, as it stands; looks are counted since the start."""
        looked = {
            int(antenna.rpartition("/")[2]): at
            for antenna, at in self.state.looked.items()
            if antenna.rpartition("/")[0] == name
        }
        body = health(self.wire, self.state.readers[name], looked, self.antennas.looks(name))
        return self.wire.reader(self.state.now, name, body)

    def metrics(
        self,
        counters: dict[str, int],
        outages: dict[str, int],
        timings: dict[str, float],
    ) -> Metrics:
        """Counters and timings; nothing about any card."""
        state = self.state
        idle = state.open_hand() is None and state.open_deal() is None
        self.antennas.settle(state.next_number, state.presence.noise, idle=idle)
        return Metrics(
            seq_told=state.seq,
            noise=self.antennas.noise,
            readers_down=len(state.down()),
            counters=counters,
            antennas=self.antennas.counts(),
            outages=outages,
            timings=timings,
        )

    def gone(self, since: int, to: int, *, private: bool) -> Message:
        """Messages that were asked for again are no longer kept."""
        return self.wire.gone(self.state.now, ResendGone(from_=since, to=to), private=private)
