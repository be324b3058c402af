"""The outbox: what has to be told, in order, until a broker has it, and for a while afterwards."""

from __future__ import annotations

import logging
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, NamedTuple

from daemon.journalfile import COVERED, DamagedError, crc

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Mapping, Sequence

Root = Literal["public", "private"]

STRIKES = 3
"""So many connections may break with the same message alone on its way."""

log = logging.getLogger("feltd.journal")

SCHEMA = """
CREATE TABLE messages (
    id INTEGER PRIMARY KEY, root TEXT NOT NULL, seq INTEGER, topic TEXT NOT NULL,
    payload BLOB NOT NULL, retain INTEGER NOT NULL, told INTEGER NOT NULL, at REAL NOT NULL,
    correlation BLOB NOT NULL DEFAULT x'', crc INTEGER NOT NULL
);
CREATE UNIQUE INDEX counted ON messages (root, seq) WHERE seq IS NOT NULL;
CREATE INDEX waiting ON messages (id) WHERE told = 0;
CREATE UNIQUE INDEX latest ON messages (topic) WHERE seq IS NULL AND retain = 1;
"""


@dataclass(frozen=True, slots=True)
class Outgoing:
    """A message for the broker, always at QoS 1.

    `seq` is None for a message that is not counted. Of those that are also retained only the
    newest on each topic waits; it takes the place of the one before. `id` is the journal's own;
    `correlation` goes with an answer to a command of MQTT 5.
    """

    root: Root
    seq: int | None
    topic: str
    payload: bytes
    retain: bool = False
    id: int = field(default=0, compare=False)
    correlation: bytes = b""


@dataclass(frozen=True, slots=True)
class Limits:
    """Bounds of the outbox.

    Acknowledged messages are dropped first, beyond `kept` a root or older than `age` seconds.
    Only when more than `waiting` were never acknowledged do the oldest of those go.
    """

    waiting: int = 50_000
    kept: Mapping[Root, int] = field(
        default_factory=lambda: {"public": 50_000, "private": 5_000},
    )
    age: Mapping[Root, float] = field(
        default_factory=lambda: {"public": 7 * 86_400.0, "private": 86_400.0},
    )


class Strikes:
    """Messages at which brokers hang up: MQTT 3.1.1 knows no other way to refuse one."""

    def __init__(self) -> None:
        self._counts: Counter[str] = Counter()
        self._hopeless: set[tuple[str, bytes]] = set()
        self._sizes: dict[str, int] = {}

    def lost(self, message: Outgoing) -> bool:
        """The connection broke with this one alone on its way; whether once too often.

        It is told in order, so all strikes of a topic in a row are of one message, or of newer ones
        that have taken its place.
        """
        topic, size = message.topic, len(message.payload)
        self._counts[topic] += 1
        if self._counts[topic] < STRIKES:
            return False
        self._hopeless.add((topic, message.payload))
        if _replaces(message):
            self._sizes[topic] = min(size, self._sizes.get(topic, size))
        return True

    def acknowledged(self, message: Outgoing) -> None:
        """The broker has it, whatever happened before."""
        self._counts.pop(message.topic, None)

    def hopeless(self, message: Outgoing) -> bool:
        """Whether the very same was given up, or one of its kind that was no larger."""
        limit = self._sizes.get(message.topic)
        if limit is not None and _replaces(message) and len(message.payload) >= limit:
            return True
        return (message.topic, message.payload) in self._hopeless


class Kept(NamedTuple):
    """Messages of one root in the order of `seq`, and the lowest `seq` that is still kept."""

    lowest: int | None
    messages: list[Outgoing]


def insert(db: sqlite3.Connection, messages: Sequence[Outgoing], first_id: int, at: float) -> None:
    """Append `messages` with ids from `first_id` on, told about `at` (Unix seconds)."""
    newest = {m.topic: number for number, m in enumerate(messages) if _replaces(m)}
    rows = [
        (
            *(first_id + number, m.root, m.seq, m.topic, m.payload, int(m.retain)),
            *(0, float(at), m.correlation),
        )
        for number, m in enumerate(messages)
        if not _replaces(m) or newest[m.topic] == number
    ]
    db.executemany(
        "DELETE FROM messages WHERE topic = ? AND seq IS NULL AND retain = 1",
        [(topic,) for topic in newest],
    )
    db.executemany(
        "INSERT INTO messages VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        [(*row, crc(*row)) for row in rows],
    )


def _replaces(message: Outgoing) -> bool:
    return message.seq is None and message.retain


def settle(db: sqlite3.Connection, ids: Sequence[int], told: int) -> None:
    """Mark counted messages as told (1) or refused (2) and forget the others."""
    keys = [(number,) for number in ids]
    db.executemany("DELETE FROM messages WHERE id = ? AND seq IS NULL", keys)
    db.executemany("UPDATE messages SET told = ? WHERE id = ?", [(told, i) for i in ids])
    columns = COVERED["messages"]
    db.executemany(f"UPDATE messages SET crc = crc({columns}) WHERE id = ?", keys)  # noqa: S608


def select(db: sqlite3.Connection, where: str, values: Sequence[object]) -> list[Outgoing]:
    """The messages that a fixed condition of this package names. Raises DamagedError."""
    rows = db.execute(
        "SELECT root, seq, topic, payload, retain, id, correlation,"  # noqa: S608
        f" crc IS crc({COVERED['messages']}) FROM messages WHERE {where}",
        values,
    )
    found = []
    for root, seq, topic, payload, retain, number, correlation, whole in rows:
        if not whole:
            raise DamagedError("a checksum of messages is wrong")
        found.append(Outgoing(root, seq, topic, payload, bool(retain), number, correlation))
    return found


def prune(db: sqlite3.Connection, limits: Limits, now: float) -> int:
    """Drop what is beyond `limits` at `now`; how many of it no broker had acknowledged."""
    for root, kept in limits.kept.items():
        db.execute(
            "DELETE FROM messages WHERE told > 0 AND root = ? AND (at <= ? OR seq <="
            " (SELECT max(seq) FROM messages WHERE root = ? AND seq IS NOT NULL) - ?)",
            (root, now - limits.age[root], root, kept),
        )
    (waiting,) = db.execute("SELECT count(*) FROM messages WHERE told = 0").fetchone()
    excess: int = max(0, waiting - limits.waiting)
    if excess:
        db.execute(
            "DELETE FROM messages WHERE id IN"
            " (SELECT id FROM messages WHERE told = 0 ORDER BY id LIMIT ?)",
            (excess,),
        )
        log.warning("outbox full: the %d oldest unsent messages dropped", excess)
    return excess
