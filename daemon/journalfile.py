"""The SQLite file under the journal: who may hold it, what a commit promises, what damage does."""

from __future__ import annotations

import fcntl
import logging
import os
import sqlite3
import threading
import zlib
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from daemon.errors import FeltdError

if TYPE_CHECKING:
    from collections.abc import Iterator

log = logging.getLogger("feltd.journal")

_DAMAGE = frozenset({sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB})
_UNREADABLE = frozenset(
    {
        sqlite3.SQLITE_IOERR_READ,
        sqlite3.SQLITE_IOERR_SHORT_READ,
        sqlite3.SQLITE_IOERR_CORRUPTFS,
        sqlite3.SQLITE_IOERR_DATA,
    }
)
_DISK = frozenset(
    {
        sqlite3.SQLITE_BUSY,
        sqlite3.SQLITE_CANTOPEN,
        sqlite3.SQLITE_FULL,
        sqlite3.SQLITE_IOERR,
        sqlite3.SQLITE_LOCKED,
        sqlite3.SQLITE_NOMEM,
        sqlite3.SQLITE_PERM,
    }
)
"""What is no fault of the file, also while it is being opened."""

_PARTS = ("", "-wal", "-shm", "-journal")
_ZEROS = bytes(1 << 16)

COVERED = {
    "inputs": "id, body",
    "snapshots": "upto, state",
    "messages": "id, root, seq, topic, payload, retain, told, at, correlation",
    "answers": "sender, id, at, digest, reply",
    "meta": "key, value",
}
"""What the checksum of each table's rows, their column `crc`, is over."""


class JournalError(FeltdError):
    """The journal cannot be read or written now; nothing of the refused call is in it."""


class DamagedError(JournalError):
    """The file is no journal, or no longer one."""


def crc(*values: object) -> int:
    """The checksum of a row; in SQL too."""
    total = 0
    for value in values:
        total = zlib.crc32(value if isinstance(value, bytes) else repr(value).encode(), total)
    return total


class JournalFile:
    """One SQLite file in a directory of its own, held by one process at a time.

    Directory 0700, files 0600; a write-ahead log, secure_delete, and no shared memory. `opened` is
    for whoever opens it to set: until then all that does not come from the disk is damage.
    `damaged` says what is wrong with the file once that has shown; the next start finds a mark.
    """

    def __init__(self, directory: Path) -> None:
        self.path = directory / "journal.db"
        self.opened = False
        self.damaged = ""
        self._mark = directory / "journal.damaged"
        self._mutex = threading.Lock()
        self._full_sync = False
        self._db: sqlite3.Connection | None = None
        try:
            directory.mkdir(mode=0o700, parents=True, exist_ok=True)
            directory.chmod(0o700)
            self._lock = os.open(directory / "lock", os.O_RDWR | os.O_CREAT, 0o600)
        except OSError as error:
            raise JournalError(f"{directory}: {error.strerror}") from error
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            os.close(self._lock)
            raise JournalError(f"{directory}: in use by another feltd") from error

    def connect(self) -> None:
        """Open the file, creating it when it is not there.

        Raises DamagedError for a file that cannot be a journal, JournalError when the disk refuses.
        """
        wal = Path(f"{self.path}-wal")
        try:
            os.close(os.open(self.path, os.O_RDWR | os.O_CREAT, 0o600))
            self.path.chmod(0o600)
            if not self.path.stat().st_size and wal.exists() and wal.stat().st_size:
                raise DamagedError(f"{self.path}: its log has no file")
            if self._mark.exists():
                raise DamagedError(f"{self.path}: found damaged while it was in use")
        except OSError as error:
            raise JournalError(f"{self.path}: {error.strerror}") from error
        db = sqlite3.connect(self.path, isolation_level=None, check_same_thread=False)
        self._db = db
        self._full_sync = False
        db.create_function("crc", -1, crc, deterministic=True)
        with self.reading():
            for pragma in (
                "locking_mode = EXCLUSIVE",
                "journal_mode = WAL",
                "secure_delete = ON",
                "synchronous = NORMAL",
            ):
                db.execute(f"PRAGMA {pragma}")

    def close(self) -> None:
        """Let the file and the lock go; what was committed stays."""
        with self._mutex:
            if self._db is not None:
                self._db.close()
                self._db = None
            if self._lock >= 0:
                os.close(self._lock)
                self._lock = -1

    def move_aside(self, suffix: str) -> Path:
        """Rename the file and its companions to `journal-SUFFIX.db...`, and say to what."""
        with self._mutex:
            if self._db is not None:
                self._db.close()
                self._db = None
            target = self.path.with_name(f"journal-{suffix}.db")
            number = 2
            while target.exists():
                target = self.path.with_name(f"journal-{suffix}-{number}.db")
                number += 1
            try:
                for part in _PARTS:
                    source = Path(f"{self.path}{part}")
                    if source.exists():
                        source.rename(f"{target}{part}")
                self._mark.unlink(missing_ok=True)
            except OSError as error:
                raise JournalError(f"{self.path}: {error.strerror}") from error
            return target

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """The connection, to this thread alone.

        Raises DamagedError for a broken file and JournalError for anything else that SQLite says.
        """
        with self._mutex:
            if self._db is None:
                raise JournalError(f"{self.path}: the journal is closed")
            try:
                yield self._db
            except sqlite3.Error as error:
                text = f"{self.path}: {error}"
                if not _is_damage(error, opened=self.opened):
                    raise JournalError(text) from error
                self._note(text)
                raise DamagedError(text) from error
            except DamagedError as error:
                self._note(str(error))
                raise

    def _note(self, text: str) -> None:
        """Damage has shown, and may not show to the one who opens the file next."""
        if self.opened and not self.damaged:
            self.damaged = text
            with suppress(OSError):
                self._mark.touch(0o600)

    @contextmanager
    def transaction(self, *, sync: bool) -> Iterator[sqlite3.Connection]:
        """All or nothing; with `sync` this and every commit before it is on the disk at the end.

        Raises JournalError; nothing of the block is kept then.
        """
        with self.reading() as db:
            if sync is not self._full_sync:
                db.execute(f"PRAGMA synchronous = {'FULL' if sync else 'NORMAL'}")
                self._full_sync = sync
            db.execute("BEGIN IMMEDIATE")
            try:
                yield db
                db.execute("COMMIT")
            finally:
                if db.in_transaction:
                    db.execute("ROLLBACK")

    def cut_log(self) -> None:
        """Move the log into the file, overwrite what it held, and cut it to nothing."""
        with self.reading() as db:
            (busy, _, _) = db.execute("PRAGMA wal_checkpoint(RESTART)").fetchone()
            if not busy:
                self._overwrite(Path(f"{self.path}-wal"))
            db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()

    def _overwrite(self, wal: Path) -> None:
        try:
            with wal.open("r+b", buffering=0) as file:
                left = os.fstat(file.fileno()).st_size
                while left > 0:
                    left -= file.write(_ZEROS[:left])
                os.fsync(file.fileno())
        except OSError as error:
            raise JournalError(f"{wal}: {error.strerror}") from error


def check(db: sqlite3.Connection) -> None:
    """Raise DamagedError unless every page and every row is as it was written."""
    (verdict,) = db.execute("PRAGMA integrity_check(1)").fetchone()
    if verdict != "ok":
        raise DamagedError(verdict.splitlines()[-1])
    for table, columns in COVERED.items():
        query = f"SELECT 1 FROM {table} WHERE crc IS NOT crc({columns}) LIMIT 1"  # noqa: S608
        if db.execute(query).fetchone() is not None:
            raise DamagedError(f"a checksum of {table} is wrong")


def cover(db: sqlite3.Connection) -> None:
    """Give rows of earlier formats their checksums; inputs and snapshots had some for the body.

    Raises DamagedError where those are wrong.
    """
    for table, columns in COVERED.items():
        known = [name for _, name, *_ in db.execute(f"PRAGMA table_info({table})")]
        if "crc" not in known:
            db.execute(f"ALTER TABLE {table} ADD COLUMN crc INTEGER NOT NULL DEFAULT 0")
        else:
            body = columns.rpartition(" ")[2]
            query = f"SELECT 1 FROM {table} WHERE crc IS NOT crc({body}) LIMIT 1"  # noqa: S608
            if db.execute(query).fetchone() is not None:
                raise DamagedError(f"a checksum of {table} is wrong")
        db.execute(f"UPDATE {table} SET crc = crc({columns})")  # noqa: S608


def format_of(db: sqlite3.Connection) -> int:
    """The format, 0 for an empty file; it is told in two places, as one alone may be damaged."""
    (version,) = db.execute("PRAGMA user_version").fetchone()
    tables = {name for (name,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    if "meta" not in tables:
        told = b"0"
    else:
        row = db.execute("SELECT value FROM meta WHERE key = 'format'").fetchone()
        told = row[0] if row else b"%d" % min(max(version, 1), 2)
    if told != b"%d" % version:
        raise DamagedError("its format is not the one that it tells")
    return int(version)


def _is_damage(error: sqlite3.Error, *, opened: bool) -> bool:
    code = getattr(error, "sqlite_errorcode", None)
    if code is None:
        return isinstance(error, sqlite3.OperationalError)
    if code & 0xFF in _DAMAGE or code in _UNREADABLE:
        return True
    read_only = code & 0xFF == sqlite3.SQLITE_READONLY and code != sqlite3.SQLITE_READONLY
    return not (opened or read_only or code & 0xFF in _DISK)
