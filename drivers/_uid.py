"""One notation for the UIDs of all families."""

from __future__ import annotations

from typing import Literal

LENGTHS: tuple[Literal[4], Literal[7], Literal[8], Literal[10]] = (4, 7, 8, 10)
"""Bytes of a UID: ISO 14443A single, double and triple size, ISO 15693."""


def normal(raw: bytes, *, lsb_first: bool = False) -> str | None:
    """The UID in upper-case hex, most significant byte first; None if it has no known length.

    An ISO 15693 UID has E0 as its most significant byte (ISO/IEC 15693-3, 4.1). Readers
    disagree on the order, so it decides where only one end has it; else the family's order
    does (`lsb_first`).
    """
    if len(raw) not in LENGTHS:
        return None
    if len(raw) == 8 and (raw[0] == 0xE0) != (raw[7] == 0xE0):
        lsb_first = raw[7] == 0xE0
    return (raw[::-1] if lsb_first else raw).hex().upper()


def em4100(raw: bytes) -> str:
    """The UID that a 5-byte EM4100 identifier goes by here: its low four bytes.

    The first byte is a version or customer number, the same on all tags of a batch, and no
    permitted UID has five bytes.
    """
    return raw[1:].hex().upper()
