"""Recordings and PHH hands through the same table in virtual time.

Opens no port and no broker, writes nothing. Times come from the recording alone.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import msgspec

from daemon.chain import Ledger
from daemon.engine import AnswersInMemory, Engine
from daemon.errors import FeltdError
from daemon.phh import inputs
from daemon.recording import Opening, RecordingError, read_line, read_opening
from daemon.sealing import sealer
from daemon.setup import Setup
from daemon.state import TableState
from daemon.wire import Wire

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from pathlib import Path

    from daemon.events import Odds, Question
    from daemon.recording import Entry
    from daemon.wire import Message

FIRST_DAY = datetime(1970, 1, 1, tzinfo=UTC)
PHH_TABLE = "phh"
PREFIX = "felt"


def replay(setup: Setup, prefix: str, lines: Iterable[bytes], name: str) -> Iterator[bytes]:
    """One output line (without its end) for each message, private ones too, as (t, message).

    Raises FeltdError that names the line of `name` that cannot be read.
    """
    for now, message in messages(setup, prefix, lines, name):
        yield output(now, message)


def messages(
    setup: Setup,
    prefix: str,
    lines: Iterable[bytes],
    name: str,
    odds: Callable[[Question], Odds | None] | None = None,
) -> Iterator[tuple[int, Message]]:
    """Every message with its time (ms), in order.

    `odds` answers what the table asks, unless the answers are among the lines.
    """
    engine = None
    for number, text in enumerate(lines, 1):
        if not text.strip():
            continue
        try:
            if engine is None:
                opening = read_opening(text)
                engine = _engine(setup, prefix, opening)
                odds = None if opening is not None and opening.odds else odds
                if opening is not None:
                    continue
            now, entry = read_line(text)
        except RecordingError as error:
            raise FeltdError(f"{name}, line {number}: {error}") from None
        for message in _fed(engine, now, entry, odds):
            yield now, message


def _fed(
    engine: Engine,
    now: int,
    entry: Entry,
    odds: Callable[[Question], Odds | None] | None,
) -> Iterator[Message]:
    spoken = engine.feed(now, entry)
    yield from spoken.messages
    if odds is None or not spoken.evidence:
        return
    for question in engine.questions():
        answer = odds(question)
        if answer is not None:
            yield from engine.feed(now, answer).messages


def _engine(setup: Setup, prefix: str, opening: Opening | None) -> Engine:
    opening = opening or Opening(FIRST_DAY)
    epoch = opening.epoch or "replay"
    state = TableState(
        epoch=epoch,
        discipline=opening.discipline or setup.discipline,
        next_number=opening.hand,
        button=opening.button,
        names=opening.names or {},
        seq=opening.seq,
        private_seq=opening.private_seq,
        ledger=Ledger(since=opening.head, head=opening.head),
    )
    wire = Wire(setup.table, prefix, epoch, opening.started)
    return Engine(setup, state, wire, AnswersInMemory(), sealer(setup))


def output(now: int, message: Message) -> bytes:
    """A message as a line of output."""
    return msgspec.json.encode(
        {
            "t": now / 1000,
            "topic": message.topic,
            "retain": message.retain,
            "payload": msgspec.Raw(message.payload),
        }
    )


def phh_messages(
    path: Path,
    setup: Setup | None,
    odds: Callable[[Question], Odds | None] | None = None,
) -> Iterator[tuple[int, Message]]:
    """The messages of a `.phh` hand; rules and secrecy of `setup`, where there is one."""
    hand = inputs(path)
    bare = Setup(PHH_TABLE, hand.discipline, hand.seats, hand.zones, hand.cards)
    if setup is not None:
        bare = replace(
            setup,
            discipline=hand.discipline,
            seats=hand.seats,
            zones=hand.zones,
            cards=hand.cards,
        )
    lines = (msgspec.json.encode(line) for line in hand.lines)
    return messages(bare, PREFIX, lines, str(path), odds)
