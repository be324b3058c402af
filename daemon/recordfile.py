"""Record files: chained blocks of TOML, a file a day, and the writer that appends to them.

A block is `[n]` (left out where the hand is alone in its file), the lines of the record, the lines
`_record`, `_replaces`?, `_previous`, then `_hash`, `_signature`?, `_key`?, and an empty line.
`_hash` is SHA-256(previous || text): the previous hash as 32 bytes, the text from the first line
below `[n]` to the end of the line `_previous`. The first previous hash is SHA-256 of
`feltd1-records|table|epoch`. Source: docs/protocol.md, records.
"""

from __future__ import annotations

import hashlib
import logging
import os
import re
import tomllib
from contextlib import suppress
from typing import TYPE_CHECKING, NamedTuple

import msgspec
from msgspec import Struct

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from daemon.journal import Journal
    from daemon.records import Draft
    from daemon.signing import Signer

log = logging.getLogger("feltd.records")

FOLDER = "records"
SUFFIX = ".phhs"
MARK = "record"

_SECTION = re.compile(r"\[(\d+)\]\n")
_FIELD = re.compile(r'^(_record|_replaces|_previous|_hash) = "?([0-9a-f]+)"?$', re.MULTILINE)


class Mark(Struct, frozen=True):
    """The last record: its number, its hash, its hand, and the digest of what it says of it."""

    number: int
    hash: str
    hand: int
    digest: str


class Block(NamedTuple):
    """One record of a file: its first line's number, its `[n]`, its text without that line."""

    line: int
    section: int | None
    text: str

    @property
    def chained(self) -> str:
        """The text that its hash covers, beside the hash before it."""
        return self.text[: self.text.rfind("\n_hash = ") + 1]

    @property
    def fields(self) -> dict[str, str]:
        """The fields of the chain, as texts."""
        return dict(_FIELD.findall(self.text[self.text.rfind("\n_record = ") + 1 :]))


def origin(table: str, epoch: str) -> str:
    """The hash before the first record of a memory."""
    return hashlib.sha256(f"feltd1-records|{table}|{epoch}".encode()).hexdigest()


def hashed(previous: str, text: str) -> str:
    """The hash of a record. Raises ValueError where `previous` is no hex."""
    return hashlib.sha256(bytes.fromhex(previous) + text.encode()).hexdigest()


def blocks(text: str) -> Iterator[Block]:
    """The records of a file; what a crash left of the last one has no end and is one too."""
    line = 1
    for part in text.split("\n\n"):
        if part.strip():
            whole = f"{part}\n"
            match = _SECTION.match(whole)
            yield Block(
                line, int(match[1]) if match else None, whole[match.end() if match else 0 :]
            )
        line += part.count("\n") + 2


class Archive:
    """Appends the records of one table's memory; `write` may be tried again after any failure.

    A record waits until it is on the disk. What was written before a crash is not written again.
    """

    def __init__(
        self, directory: Path, journal: Journal, table: str, signer: Signer | None
    ) -> None:
        self._folder = directory / FOLDER
        self._journal = journal
        self._signer = signer
        self._waiting: list[Draft] = []
        self._trouble = ""
        self._seen: tuple[Path | None, int, int] = (None, 0, 0)
        kept = journal.recall(MARK)
        self._mark = Mark(0, origin(table, journal.epoch), 0, "")
        if kept is not None:
            self._mark = msgspec.msgpack.decode(kept, type=Mark)

    @property
    def public(self) -> str | None:
        """The table's public key in base64, where records are signed."""
        return None if self._signer is None else self._signer.public

    @property
    def waiting(self) -> bool:
        """Whether a record is not on the disk yet."""
        return bool(self._waiting)

    def add(self, draft: Draft) -> None:
        """Take a record in; the next `write` appends it."""
        self._waiting.append(draft)

    def write(self) -> bool:
        """Append what waits; False where the disk refused it, which is logged once."""
        try:
            while self._waiting:
                self._append(self._waiting[0])
                del self._waiting[0]
        except OSError as error:
            text = f"{self._folder}: {error.strerror}"
            if text != self._trouble:
                log.error("records wait for the disk: %s", text)  # noqa: TRY400
                self._trouble = text
            return False
        self._trouble = ""
        return True

    def _append(self, draft: Draft) -> None:
        """Append a record, unless it is there already. Raises OSError, JournalError."""
        self._folder.mkdir(mode=0o700, exist_ok=True)
        self._folder.chmod(0o700)
        path = self._folder / f"{draft.day}{SUFFIX}"
        fresh = not path.exists()
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o600)
        try:
            os.fchmod(descriptor, 0o600)
            count = self._adopt(path, descriptor)
            digest = hashlib.sha256(draft.text.encode()).hexdigest()
            known = draft.hand == self._mark.hand and digest == self._mark.digest
            if draft.hand >= self._mark.hand and not known:
                mark, block = self._block(draft, digest, count + 1)
                self._put(descriptor, block)
                self._mark, self._seen = mark, (path, os.fstat(descriptor).st_size, count + 1)
        finally:
            os.close(descriptor)
        if fresh:
            _sync(self._folder)
        self._journal.remember(MARK, msgspec.msgpack.encode(self._mark), sync=False)

    def _adopt(self, path: Path, descriptor: int) -> int:
        """How many records a file has; those are ours that a crash kept us from remembering."""
        size = os.fstat(descriptor).st_size
        if self._seen[:2] == (path, size):
            return self._seen[2]
        data = os.pread(descriptor, size, 0)
        if data and not data.endswith(b"\n\n"):
            data = data[: data.rfind(b"\n\n") + 2] if b"\n\n" in data else b""
            log.warning("%s: what a crash left of a record is cut off", path)
            os.ftruncate(descriptor, len(data))
        found = list(blocks(data.decode(errors="replace")))
        for block in found:
            fields = block.fields
            if fields.get("_previous") == self._mark.hash and "_hash" in fields:
                self._mark = _mark(block)
        return len(found)

    def _block(self, draft: Draft, digest: str, section: int) -> tuple[Mark, bytes]:
        mark = self._mark
        chained = f"{draft.text}_record = {mark.number + 1}\n"
        if draft.hand == mark.hand:
            chained += f"_replaces = {mark.number}\n"
        chained += f'_previous = "{mark.hash}"\n'
        head = hashed(mark.hash, chained)
        block = f'[{section}]\n{chained}_hash = "{head}"\n'
        if self._signer is not None:
            block += f'_signature = "{self._signer.sign(head)}"\n_key = "{self._signer.public}"\n'
        return Mark(mark.number + 1, head, draft.hand, digest), f"{block}\n".encode()

    def _put(self, descriptor: int, block: bytes) -> None:
        """All of it, synced, or nothing."""
        size = os.fstat(descriptor).st_size
        try:
            left = memoryview(block)
            while left:
                left = left[os.write(descriptor, left) :]
            os.fsync(descriptor)
        except OSError:
            with suppress(OSError):
                os.ftruncate(descriptor, size)
            raise


def _mark(block: Block) -> Mark:
    """What the journal would have remembered of a record."""
    text, fields = block.chained, block.fields
    said = text[: text.rfind("_record = ")]
    hand = int(tomllib.loads(text).get("hand", 0))
    digest = hashlib.sha256(said.encode()).hexdigest()
    return Mark(int(fields["_record"]), fields["_hash"], hand, digest)


def _sync(folder: Path) -> None:
    """Make the name of a new file durable."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
