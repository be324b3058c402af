"""The table's memory on disk: inputs, snapshots, the outbox and remembered answers, in SQLite.

One transaction holds the inputs of a step and the messages and answers they caused. In WAL mode a
commit under `synchronous=FULL` syncs the whole log, so it makes every earlier unsynced commit
durable with it (https://www.sqlite.org/pragma.html#pragma_synchronous).
"""

from __future__ import annotations

import hmac
import logging
import secrets
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

from daemon import outbox
from daemon.journalfile import (
    DamagedError,
    JournalError,
    JournalFile,
    check,
    cover,
    crc,
    format_of,
)
from daemon.outbox import Kept, Limits, Outgoing, Root

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable, Sequence
    from pathlib import Path

__all__ = [
    "Answer",
    "DamagedError",
    "Journal",
    "JournalError",
    "Kept",
    "Limits",
    "Outgoing",
    "Root",
]

log = logging.getLogger("feltd.journal")

FORMAT = 3
ANSWERS_KEPT = 86_400.0
PRUNE_EVERY = 100

_SCHEMA = """
CREATE TABLE meta (
    key TEXT PRIMARY KEY, value BLOB NOT NULL, crc INTEGER NOT NULL
) WITHOUT ROWID;
CREATE TABLE inputs (id INTEGER PRIMARY KEY, crc INTEGER NOT NULL, body BLOB NOT NULL);
CREATE TABLE snapshots (upto INTEGER NOT NULL, crc INTEGER NOT NULL, state BLOB NOT NULL);
CREATE TABLE answers (
    sender TEXT NOT NULL, id TEXT NOT NULL, at REAL NOT NULL,
    digest BLOB NOT NULL, reply BLOB NOT NULL, crc INTEGER NOT NULL, PRIMARY KEY (sender, id)
) WITHOUT ROWID;
"""
_META = "INSERT OR REPLACE INTO meta VALUES (?1, ?2, crc(?1, ?2))"


@dataclass(frozen=True, slots=True)
class Answer:
    """The reply to the command (`by`, `id`) and the keyed digest of that command's body."""

    by: str
    id: str
    digest: bytes
    reply: bytes


class Journal:
    """The open journal of one table; calls may come from any thread, one at a time gets in.

    `epoch` (12 hex digits) and `started` (Unix seconds) belong to this memory and change only when
    it is new. `set_aside` names the damaged file that was found instead of a journal. `dropped`
    counts the messages that never reached a broker since this journal was opened.
    """

    def __init__(self, file: JournalFile, limits: Limits, clock: Callable[[], float]) -> None:
        self.set_aside: Path | None = None
        self.dropped = 0
        self.epoch = ""
        self.started = 0.0
        self._file = file
        self._limits = limits
        self._clock = clock
        self._since_prune = 0
        self._last_input = 0
        self._last_message = 0
        self._key = b""

    @classmethod
    def open(
        cls,
        directory: Path,
        now_wall: float,
        *,
        limits: Limits | None = None,
        clock: Callable[[], float] = time.time,
    ) -> Self:
        """Open or create the journal in `directory`; `now_wall` (Unix seconds) dates a new epoch.

        A damaged journal is set aside under another name and a new one begun.
        Raises JournalError when another process has the journal open or the disk refuses.
        """
        file = JournalFile(directory)
        journal = cls(file, limits or Limits(), clock)
        try:
            journal._load(now_wall)
        except BaseException:
            file.close()
            raise
        return journal

    def close(self) -> None:
        """Close the file and let the next process in; what was committed stays."""
        self._file.close()

    def add(
        self,
        inputs: Sequence[bytes],
        messages: Sequence[Outgoing] = (),
        answers: Sequence[Answer] = (),
        *,
        sync: bool,
    ) -> int:
        """Append all of it or nothing; with `sync` it and everything before it is on the disk.

        Returns how many unsent messages had to be dropped to keep the outbox bounded.
        Raises JournalError, after which the same call may be tried again.
        """
        with self._file.transaction(sync=sync) as db:
            self._add_inputs(db, inputs)
            outbox.insert(db, messages, self._last_message + 1, self._clock())
            self._last_message += len(messages)
            self._add_answers(db, answers)
            self._since_prune += len(messages)
            dropped = self._prune(db) if self._since_prune >= PRUNE_EVERY else 0
        self.dropped += dropped
        return dropped

    def snapshot(self, state: bytes) -> None:
        """Keep `state` as what all inputs so far have led to; synced."""
        with self._file.transaction(sync=True) as db:
            db.execute(
                "INSERT INTO snapshots VALUES (?, ?, ?)",
                (self._last_input, crc(self._last_input, state), state),
            )

    def restore(self) -> tuple[bytes | None, list[bytes]]:
        """The newest snapshot, if there is one, and the inputs after it, oldest first."""
        with self._file.reading() as db:
            newest = db.execute(
                "SELECT upto, state FROM snapshots ORDER BY rowid DESC LIMIT 1"
            ).fetchone()
            upto, state = newest or (0, None)
            rows = db.execute("SELECT body FROM inputs WHERE id > ? ORDER BY id", (upto,))
            return state, [body for (body,) in rows]

    def erase_hand(self) -> None:
        """Erase for good what the newest snapshot makes needless: earlier inputs and snapshots.

        Overwritten in the file (secure_delete) and in the log before that is cut to nothing.
        """
        with self._file.transaction(sync=True) as db:
            db.execute(
                "DELETE FROM inputs WHERE id <= (SELECT upto FROM snapshots"
                " ORDER BY rowid DESC LIMIT 1)"
            )
            db.execute("DELETE FROM snapshots WHERE rowid < (SELECT max(rowid) FROM snapshots)")
        self._file.cut_log()

    def unsent(self, limit: int, after: int = 0) -> list[Outgoing]:
        """The first `limit` messages that no broker acknowledged, with an id above `after`."""
        return self._select("told = 0 AND id > ? ORDER BY id LIMIT ?", (after, limit))

    def unsent_topics(self) -> frozenset[str]:
        """Topics on which a retained message is still waiting."""
        with self._file.reading() as db:
            rows = db.execute("SELECT topic FROM messages WHERE told = 0 AND retain = 1")
            return frozenset(topic for (topic,) in rows)

    def waiting(self) -> tuple[int, float]:
        """How many public messages no broker has acknowledged; the oldest one's age in seconds."""
        with self._file.reading() as db:
            count, since = db.execute(
                "SELECT count(*), min(at) FROM messages WHERE told = 0 AND root = 'public'"
            ).fetchone()
        return count, max(0.0, self._clock() - since) if count else 0.0

    def acknowledged(self, ids: Sequence[int]) -> None:
        """The broker has these: keep the counted ones for `range`, forget the others; unsynced."""
        self._settle(ids, 1)

    def refused(self, ids: Sequence[int]) -> None:
        """The broker refused these: never sent again, yet kept as told ones are; unsynced."""
        self._settle(ids, 2)

    def range(self, root: Root, from_seq: int, limit: int = 500) -> Kept:
        """At most `limit` kept messages of `root` from `from_seq` on; ask again from the last."""
        messages = self._select(
            "root = ? AND seq >= ? ORDER BY seq LIMIT ?", (root, from_seq, limit)
        )
        with self._file.reading() as db:
            (lowest,) = db.execute(
                "SELECT min(seq) FROM messages WHERE root = ? AND seq IS NOT NULL", (root,)
            ).fetchone()
        return Kept(lowest, messages)

    def answer(self, by: str, id: str) -> Answer | None:  # noqa: A002 - the contract's word
        """What the command (`by`, `id`) was answered within the last day."""
        with self._file.reading() as db:
            row = db.execute(
                "SELECT sender, id, digest, reply, crc IS crc(sender, id, at, digest, reply)"
                " FROM answers WHERE sender = ? AND id = ? AND at > ?",
                (by, id, self._clock() - ANSWERS_KEPT),
            ).fetchone()
            if row and not row[-1]:
                raise DamagedError("a checksum of answers is wrong")
        return Answer(*row[:-1]) if row else None

    def digest(self, body: bytes) -> bytes:
        """HMAC-SHA256 of a command's body under this journal's own random key; 32 bytes."""
        return hmac.digest(self._key, body, "sha256")

    def remember(self, key: str, value: bytes, *, sync: bool = True) -> None:
        """Keep one small value under a name."""
        with self._file.transaction(sync=sync) as db:
            db.execute(_META, (f"app.{key}", value))

    def recall(self, key: str) -> bytes | None:
        """The value kept under `key`."""
        with self._file.reading() as db:
            row = db.execute("SELECT value FROM meta WHERE key = ?", (f"app.{key}",)).fetchone()
        return row[0] if row else None

    def begin_anew(self, why: str, now_wall: float | None = None) -> None:
        """Set this journal aside for good, and begin a new one. Raises JournalError."""
        now_wall = self._clock() if now_wall is None else now_wall
        self._file.opened = False
        self.set_aside = self._file.move_aside(f"damaged-{int(now_wall)}")
        log.error("%s; damaged, set aside as %s", why, self.set_aside)
        self._file.connect()
        self._adopt(now_wall)

    def check(self) -> None:
        """Raise DamagedError once damage has shown: only a new start, with a new journal, helps."""
        if self._file.damaged:
            raise DamagedError(f"{self._file.damaged}; the next start sets it aside")

    def _load(self, now_wall: float) -> None:
        try:
            self._file.connect()
            self._adopt(now_wall)
        except DamagedError as error:
            self.begin_anew(str(error), now_wall)

    def _adopt(self, now_wall: float) -> None:
        with self._file.reading() as db:
            version = format_of(db)
        if version > FORMAT:
            raise JournalError(f"{self._file.path}: written by a newer feltd (format {version})")
        if version == 0:
            self._create(now_wall)
        elif version < FORMAT:
            self._widen(version)
        with self._file.transaction(sync=False) as db:
            check(db)
            db.execute(_META, ("format", b"%d" % FORMAT))
            meta = dict(db.execute("SELECT key, value FROM meta"))
            (self._last_input,) = db.execute(
                "SELECT max((SELECT coalesce(max(id), 0) FROM inputs),"
                " (SELECT coalesce(max(upto), 0) FROM snapshots))"
            ).fetchone()
            (self._last_message,) = db.execute(
                "SELECT coalesce(max(id), 0) FROM messages"
            ).fetchone()
            missing = {"epoch", "started", "key"} - meta.keys()
            if missing:
                raise DamagedError(f"it has no {min(missing)}")
        self.epoch = meta["epoch"].decode()
        self.started = float(meta["started"])
        self._key = meta["key"]
        self._file.opened = True

    def _create(self, now_wall: float) -> None:
        with self._file.transaction(sync=True) as db:
            for statement in (_SCHEMA + outbox.SCHEMA).split(";"):
                db.execute(statement)
            values = {
                "epoch": secrets.token_hex(6).encode(),
                "started": repr(now_wall).encode(),
                "key": secrets.token_bytes(32),
                "format": b"%d" % FORMAT,
            }
            db.executemany(_META, values.items())
            db.execute(f"PRAGMA user_version = {FORMAT}")

    def _widen(self, version: int) -> None:
        """Format 1 had no correlation data, format 2 checksums of inputs and snapshots alone."""
        with self._file.transaction(sync=True) as db:
            if version == 1:
                db.execute("ALTER TABLE messages ADD COLUMN correlation BLOB NOT NULL DEFAULT x''")
            cover(db)
            db.execute(_META, ("format", b"%d" % FORMAT))
            db.execute(f"PRAGMA user_version = {FORMAT}")

    def _add_inputs(self, db: sqlite3.Connection, inputs: Sequence[bytes]) -> None:
        rows = [
            (number, crc(number, body), body)
            for number, body in enumerate(inputs, self._last_input + 1)
        ]
        db.executemany("INSERT INTO inputs VALUES (?, ?, ?)", rows)
        self._last_input += len(rows)

    def _add_answers(self, db: sqlite3.Connection, answers: Sequence[Answer]) -> None:
        now = self._clock()
        rows = [(a.by, a.id, float(now), a.digest, a.reply) for a in answers]
        db.executemany(
            "INSERT OR REPLACE INTO answers VALUES (?, ?, ?, ?, ?, ?)",
            [(*row, crc(*row)) for row in rows],
        )

    def _prune(self, db: sqlite3.Connection) -> int:
        self._since_prune = 0
        now = self._clock()
        db.execute("DELETE FROM answers WHERE at <= ?", (now - ANSWERS_KEPT,))
        return outbox.prune(db, self._limits, now)

    def _settle(self, ids: Sequence[int], told: int) -> None:
        with self._file.transaction(sync=False) as db:
            outbox.settle(db, ids, told)

    def _select(self, where: str, values: Sequence[object]) -> list[Outgoing]:
        with self._file.reading() as db:
            return outbox.select(db, where, values)
