"""The SQLite file under the journal: who may hold it, what a commit promises, what damage does."""

from __future__ import annotations

import fcntl
import logging
import os
import sqlite3
import threading
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from daemon.errors import FeltdError

if TYPE_CHECKING:
    from collections.abc import Iterator

log = logging.getLogger("feltd.journal")

_DAMAGE = frozenset({sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB})
_PARTS = ("", "-wal", "-shm", "-journal")
_ZEROS = bytes(1 << 16)


class JournalError(FeltdError):
    """The journal cannot be read or written now; nothing of the refused call is in it."""


class DamagedError(JournalError):
    """The file is no journal, or no longer one."""


class JournalFile:
    """One SQLite file in a directory of its own, held by one process at a time.

    Directory 0700, files 0600; a write-ahead log, secure_delete, and no shared memory.
    """

    def __init__(self, directory: Path) -> None:
        self.path = directory / "journal.db"
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
        except OSError as error:
            raise JournalError(f"{self.path}: {error.strerror}") from error
        db = sqlite3.connect(self.path, isolation_level=None, check_same_thread=False)
        self._db = db
        self._full_sync = False
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
                kind = DamagedError if _code(error) in _DAMAGE else JournalError
                raise kind(f"{self.path}: {error}") from error

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


def _code(error: sqlite3.Error) -> int | None:
    extended = getattr(error, "sqlite_errorcode", None)
    return None if extended is None else extended & 0xFF
