"""The data sets of a FEIG inventory: a count, then for each tag TR-TYPE and what the type has.

```
00 01 03 05 0A 0B   one byte (DSFID, chip or protocol info), UID (8, most significant first)
04                  TR-INFO OPT-INFO, UID (10 where bit 2 of TR-INFO is set, else 7)
```
03 is ISO 15693. Of 04, ISO 14443A, the UID comes last byte first. Types that are not listed
have layouts of their own; what follows one cannot be read.

Sources: FEIG H60301-3e-ID-B p59-60 (03); FEIG FEDM SDK (the others, untried on a reader).
"""

from __future__ import annotations

from drivers._uid import normal


def uids(data: bytes) -> tuple[list[str], bool]:
    """The UIDs of the data sets, and whether all sets were there and understood."""
    tags: list[str] = []
    at, count = 1, data[0] if data else 0
    for _ in range(count):
        uid, at = _data_set(data, at)
        if uid is None:
            return tags, False
        tags.append(uid)
    return tags, at == len(data)


def _data_set(data: bytes, at: int) -> tuple[str | None, int]:
    kind = data[at] if at < len(data) else -1
    if kind == 0x04:
        return _iso14443a(data, at + 1)
    if kind not in {0x00, 0x01, 0x03, 0x05, 0x0A, 0x0B} or at + 10 > len(data):
        return None, at
    return normal(data[at + 2 : at + 10]), at + 10


def _iso14443a(data: bytes, at: int) -> tuple[str | None, int]:
    """TR-INFO, OPT-INFO, then 10 bytes where bit 2 of TR-INFO says so, else 7; first byte last."""
    if at + 2 > len(data):
        return None, at
    end = at + (12 if data[at] & 0x04 else 9)
    if end > len(data):
        return None, at
    raw = data[at + 2 : end][::-1]
    if not data[at] & 0x04 and not data[at + 1] & 0x03:
        raw = raw[:4]
    return normal(raw), end
