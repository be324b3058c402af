"""RFID reader families, one file each, and what they all yield.

A driver is a module of this package with three names: `Settings` (the keys of its
`[[readers]]` block), `Decoder` (bytes in, frames out; no I/O and no clock) and
`read(settings)`, an asynchronous generator of `Look`s. Nothing here imports `daemon`.
"""

from __future__ import annotations

from dataclasses import dataclass


class ReaderError(Exception):
    """A reader cannot be used now; the one line says which port and why.

    Raised by `read`. Whoever supervises the reader waits and tries again.
    """


@dataclass(frozen=True, slots=True)
class Look:
    """Everything that one antenna saw in one pass, possibly nothing.

    `tags` are UIDs in upper-case hex, most significant byte first, of 4, 7, 8 or 10 bytes.
    `partial` means that the reader may have missed some: what it heard counts, what it did
    not hear is no evidence. `errors` counts the damaged frames met since the look before.
    """

    reader: str
    antenna: int
    tags: tuple[str, ...] = ()
    partial: bool = False
    errors: int = 0


@dataclass(frozen=True, slots=True)
class ReaderUp:
    """The reader answers (again)."""

    reader: str


@dataclass(frozen=True, slots=True)
class ReaderDown:
    """The reader is lost; `error` is the one line that says why."""

    reader: str
    error: str
