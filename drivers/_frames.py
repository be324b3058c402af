"""Finding frames in a stream of bytes that may begin, break off or be damaged anywhere."""

from __future__ import annotations

from typing import Generic, Protocol, TypeVar

F = TypeVar("F")


class Feeds(Protocol[F]):
    """What a link needs of a decoder."""

    errors: int

    def feed(self, data: bytes) -> list[F]:
        """Take bytes as they come; give the frames that they complete."""


class Hunter(Generic[F]):
    """A decoder that finds the first complete and intact frame wherever it begins.

    A damaged or cut frame therefore never hides the intact one behind it, whatever length it
    claimed. `errors` counts stretches of bytes that belong to no frame; it does not depend on
    how the stream was cut into pieces. No more is kept than the longest frame has.
    """

    filler = b""

    def __init__(self) -> None:
        self.errors = 0
        self._buffer = bytearray()
        self._lost = False

    def feed(self, data: bytes) -> list[F]:
        """Take bytes as they come; give the frames that they complete."""
        self._buffer += data
        frames: list[F] = []
        at = 0
        while True:
            start, end, frame = self._next(at)
            self._skip(at, start)
            at = end
            if frame is None:
                break
            self._lost = False
            frames.append(frame)
        del self._buffer[:at]
        return frames

    def reset(self) -> None:
        """Forget a frame that has begun, because the line fell silent."""
        self._skip(0, len(self._buffer))
        self._buffer.clear()

    def _next(self, at: int) -> tuple[int, int, F | None]:
        """Where the next frame begins and ends; without one, where the earliest may begin."""
        pending = -1
        size = len(self._buffer)
        at = self._seek(at)
        while at < size:
            found = self._parse(at)
            if isinstance(found, tuple):
                return at, found[0], found[1]
            if found and pending < 0:
                pending = at
            at = self._seek(at + 1)
        keep = size if pending < 0 else pending
        return keep, keep, None

    def _skip(self, start: int, end: int) -> None:
        if start < end and not self._lost and self._buffer[start:end].strip(self.filler):
            self.errors += 1
            self._lost = True

    def _seek(self, at: int) -> int:
        """The first place from `at` on where a frame may begin."""
        return at

    def _parse(self, at: int) -> tuple[int, F] | bool:
        """The end of the frame at `at` and the frame; else whether more bytes may make one."""
        raise NotImplementedError
