"""Finding frames in a stream of bytes that may begin, break off or be damaged anywhere."""

from __future__ import annotations

from typing import Generic, Protocol, TypeVar

F = TypeVar("F")


class Feeds(Protocol[F]):
    """What a link needs of a decoder."""

    @property
    def errors(self) -> int:
        """Damaged frames so far."""

    def feed(self, data: bytes) -> list[F]:
        """Take bytes as they come; give the frames that they complete."""


class Hunter(Generic[F]):
    """A decoder that finds the first complete and intact frame wherever it begins.

    A damaged or cut frame therefore never hides the intact one behind it, whatever length it
    claimed. `errors` counts stretches of bytes that belong to no frame; it does not depend on
    how the stream was cut into pieces. No more is kept than the longest frame has.
    """

    filler = b""
    """Bytes that may stand between frames."""

    lookahead = True
    """Whether a frame inside one that is not complete yet counts; wants a strong check sum."""

    def __init__(self) -> None:
        self.errors = 0
        self._buffer = bytearray()
        self._lost = False
        self._seen = 0
        self._begun: list[tuple[int, int]] = []

    def feed(self, data: bytes) -> list[F]:
        """Take bytes as they come; give the frames that they complete."""
        self._buffer += data
        frames: list[F] = []
        while (found := self._next()) is not None:
            start, end, frame = found
            self._skip(start)
            self._cut(end)
            self._lost = False
            frames.append(frame)
        keep = self._begun[0][1] if self._begun else self._seen
        if keep:
            self._skip(keep)
            del self._buffer[:keep]
            self._seen -= keep
            self._begun = [(need - keep, start - keep) for need, start in self._begun]
        return frames

    def reset(self) -> None:
        """Forget a frame that has begun, because the line fell silent."""
        self._skip(len(self._buffer))
        self._cut(len(self._buffer))

    def _next(self) -> tuple[int, int, F] | None:
        """Where the first complete frame begins and ends, and the frame."""
        size = len(self._buffer)
        begun, self._begun = self._begun, []
        for need, start in begun:
            found = need if need > size else self._parse(start)
            if isinstance(found, tuple):
                return start, *found
            if found:
                self._begun.append((found, start))
        while self._seen < size and (self.lookahead or not self._begun):
            start = self._seek(self._seen)
            self._seen = start + 1
            found = self._parse(start) if start < size else 0
            if isinstance(found, tuple):
                return start, *found
            if found:
                self._begun.append((found, start))
        self._seen = min(self._seen, size)
        return None

    def _skip(self, end: int) -> None:
        """Count the bytes before `end` as one stretch of damage, unless they are filler."""
        if end and not self._lost and self._buffer[:end].strip(self.filler):
            self.errors += 1
            self._lost = True

    def _cut(self, end: int) -> None:
        """Begin to look anew behind a frame."""
        del self._buffer[:end]
        self._seen = 0
        self._begun.clear()

    def _seek(self, at: int) -> int:
        """The first place from `at` on where a frame may begin."""
        return at

    def _parse(self, at: int) -> tuple[int, F] | int:
        """The end of the frame at `at`, and the frame.

        Else how many bytes the buffer must hold to tell more, or 0 if no frame begins there.
        """
        raise NotImplementedError


class Lines:
    """Cuts a stream into lines of printable ASCII that end in CR, LF or both.

    Longer lines than `limit` bytes and lines with other bytes in them are counted and dropped;
    other bytes before a line, as a port gives when it is plugged in, are counted and cut off.
    """

    def __init__(self, limit: int) -> None:
        self.errors = 0
        self._limit = limit
        self._rest = b""
        self._flood = False

    def feed(self, data: bytes) -> list[str]:
        """Take bytes as they come; give the lines that they complete, empty ones too."""
        *lines, rest = (self._rest + data.replace(b"\r", b"\n")).split(b"\n")
        texts = []
        for line in lines:
            text = None if self._flood else self._text(line)
            self._flood = False
            if text is not None:
                texts.append(text)
        if len(rest) > self._limit:
            self.errors += not self._flood
            self._flood = True
        self._rest = b"" if self._flood else rest
        return texts

    def reset(self) -> None:
        """Forget a line that has begun."""
        self._rest = b""
        self._flood = False

    def _text(self, line: bytes) -> str | None:
        if len(line) > self._limit:
            self.errors += 1
            return None
        clean = line if line.isascii() and line.decode().isprintable() else _unprefixed(line)
        if clean is not line:
            self.errors += 1
        return None if clean is None else clean.decode()


def _unprefixed(line: bytes) -> bytes | None:
    """The line without the unprintable bytes before it; None if there are more inside."""
    start = next((at for at, byte in enumerate(line) if 0x20 <= byte < 0x7F), len(line))
    clean = line[start:]
    return clean if clean and clean.isascii() and clean.decode().isprintable() else None
