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
import zlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

from daemon import outbox
from daemon.journalfile import DamagedError, JournalError, JournalFile
from daemon.outbox import Kept, Limits, Outgoing, Root

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable, Sequence
    from pathlib import Path

__all__ = ["Answer", "Journal", "JournalError", "Kept", "Limits", "Outgoing", "Root"]

log = logging.getLogger("feltd.journal")

FORMAT = 2
ANSWERS_KEPT = 86_400.0
PRUNE_EVERY = 100

_SCHEMA = """
CREATE TABLE meta (key TEXT PRIMARY KEY, value BLOB NOT NULL) WITHOUT ROWID;
CREATE TABLE inputs (id INTEGER PRIMARY KEY, crc INTEGER NOT NULL, body BLOB NOT NULL);
CREATE TABLE snapshots (upto INTEGER NOT NULL, crc INTEGER NOT NULL, state BLOB NOT NULL);
CREATE TABLE answers (
    sender TEXT NOT NULL, id TEXT NOT NULL, at REAL NOT NULL,
    digest BLOB NOT NULL, reply BLOB NOT NULL, PRIMARY KEY (sender, id)
) WITHOUT ROWID;
"""


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
                (self._last_input, zlib.crc32(state), state),
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
                "SELECT sender, id, digest, reply FROM answers"
                " WHERE sender = ? AND id = ? AND at > ?",
                (by, id, self._clock() - ANSWERS_KEPT),
            ).fetchone()
        return Answer(*row) if row else None

    def digest(self, body: bytes) -> bytes:
        """HMAC-SHA256 of a command's body under this journal's own random key; 32 bytes."""
        return hmac.digest(self._key, body, "sha256")

    def remember(self, key: str, value: bytes, *, sync: bool = True) -> None:
        """Keep one small value under a name."""
        with self._file.transaction(sync=sync) as db:
            db.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (f"app.{key}", value))

    def recall(self, key: str) -> bytes | None:
        """The value kept under `key`."""
        with self._file.reading() as db:
            row = db.execute("SELECT value FROM meta WHERE key = ?", (f"app.{key}",)).fetchone()
        return row[0] if row else None

    def _load(self, now_wall: float) -> None:
        try:
            self._file.connect()
            self._adopt(now_wall)
        except DamagedError as error:
            self.set_aside = self._file.move_aside(f"damaged-{int(now_wall)}")
            log.error("%s; damaged, set aside as %s", error, self.set_aside)  # noqa: TRY400
            self._file.connect()
            self._adopt(now_wall)

    def _adopt(self, now_wall: float) -> None:
        with self._file.reading() as db:
            (version,) = db.execute("PRAGMA user_version").fetchone()
        if version > FORMAT:
            raise JournalError(f"{self._file.path}: written by a newer feltd (format {version})")
        if version == 0:
            self._create(now_wall)
        elif version == 1:
            self._widen()
        with self._file.reading() as db:
            _check(db)
            meta = dict(db.execute("SELECT key, value FROM meta"))
            (self._last_input,) = db.execute(
                "SELECT max((SELECT coalesce(max(id), 0) FROM inputs),"
                " (SELECT coalesce(max(upto), 0) FROM snapshots))"
            ).fetchone()
            (self._last_message,) = db.execute(
                "SELECT coalesce(max(id), 0) FROM messages"
            ).fetchone()
        self.epoch = meta["epoch"].decode()
        self.started = float(meta["started"])
        self._key = meta["key"]

    def _create(self, now_wall: float) -> None:
        with self._file.transaction(sync=True) as db:
            for statement in (_SCHEMA + outbox.SCHEMA).split(";"):
                db.execute(statement)
            values = {
                "epoch": secrets.token_hex(6).encode(),
                "started": repr(now_wall).encode(),
                "key": secrets.token_bytes(32),
            }
            db.executemany("INSERT INTO meta VALUES (?, ?)", values.items())
            db.execute(f"PRAGMA user_version = {FORMAT}")

    def _widen(self) -> None:
        """Format 1 had no correlation data."""
        with self._file.transaction(sync=True) as db:
            db.execute("ALTER TABLE messages ADD COLUMN correlation BLOB NOT NULL DEFAULT x''")
            db.execute(f"PRAGMA user_version = {FORMAT}")

    def _add_inputs(self, db: sqlite3.Connection, inputs: Sequence[bytes]) -> None:
        rows = [
            (number, zlib.crc32(body), body)
            for number, body in enumerate(inputs, self._last_input + 1)
        ]
        db.executemany("INSERT INTO inputs VALUES (?, ?, ?)", rows)
        self._last_input += len(rows)

    def _add_answers(self, db: sqlite3.Connection, answers: Sequence[Answer]) -> None:
        now = self._clock()
        rows = [(a.by, a.id, now, a.digest, a.reply) for a in answers]
        db.executemany("INSERT OR REPLACE INTO answers VALUES (?, ?, ?, ?, ?)", rows)

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


def _check(db: sqlite3.Connection) -> None:
    (verdict,) = db.execute("PRAGMA quick_check(1)").fetchone()
    if verdict != "ok":
        raise DamagedError(verdict.splitlines()[0])
    for query in ("SELECT crc, body FROM inputs", "SELECT crc, state FROM snapshots"):
        if any(zlib.crc32(body) != crc for crc, body in db.execute(query)):
            raise DamagedError("a checksum is wrong")
    for key in ("epoch", "started", "key"):
        if db.execute("SELECT 1 FROM meta WHERE key = ?", (key,)).fetchone() is None:
            raise DamagedError(f"it has no {key}")
