"""Recordings: one JSON object a line, everything that went into a table.

The journal keeps its inputs in the same form. Source: docs/protocol.md, recordings.
"""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, TypeAlias

import msgspec
from msgspec import UNSET, Meta, Raw, Struct, UnsetType

from daemon.events import Damaged, Key, Odds, Refused, Rival
from drivers import Look, ReaderDown, ReaderUp


class RecordingError(Exception):
    """A line that cannot be read; says what is wrong with it."""


class Opening(Struct, frozen=True, omit_defaults=True):
    """The first line: where the table's memory stood; `hand` is the next number.

    `odds` says that the odds which were told are among the lines. `seq`, `private_seq` and `head`
    are the last ones told before.
    """

    started: datetime
    epoch: str | UnsetType = UNSET
    hand: int = 1
    button: int | None = None
    discipline: str | None = None
    names: dict[int, str] | None = None
    odds: bool = False
    seq: int = 0
    private_seq: int = 0
    head: str = ""


class Line(Struct, frozen=True, omit_defaults=True):
    """Any other line; `t` is in seconds, to the millisecond."""

    t: float
    reader: str | UnsetType = UNSET
    antenna: int | UnsetType = UNSET
    tags: list[str] | UnsetType = UNSET
    partial: bool = False
    up: bool | UnsetType = UNSET
    error: str | UnsetType = UNSET
    errors: int = 0
    command: Raw | UnsetType = UNSET
    private: bool | UnsetType = UNSET
    reply_to: str | None = None
    key: Annotated[str, Meta(pattern=r"^[0-9a-f]{64}$(?!\n)")] | UnsetType = UNSET
    odds: Odds | UnsetType = UNSET
    refused: str | UnsetType = UNSET
    rival: str | UnsetType = UNSET
    damaged: str | UnsetType = UNSET


class RawCommand(Struct, frozen=True):
    """A command as it came: undecoded, and from which root.

    `private` is None where that is not known; it then counts as sent where it belongs. `reply_to`
    is the response topic of MQTT 5, `correlation` what its answer has to carry (not recorded).
    """

    data: bytes
    private: bool | None
    reply_to: str | None = None
    correlation: bytes = b""


Notice: TypeAlias = Damaged | Odds | Refused | Rival
"""What the daemon itself has to say."""

Entry: TypeAlias = Look | ReaderUp | ReaderDown | Key | Notice | RawCommand

_LINE: msgspec.json.Decoder[Line] = msgspec.json.Decoder(Line)
_ENCODER = msgspec.json.Encoder()


def read_opening(text: bytes) -> Opening | None:
    """The first line of a recording, or None where it is an ordinary line."""
    try:
        raw: Any = msgspec.json.decode(text)
        if not isinstance(raw, dict) or "started" not in raw:
            return None
        return msgspec.convert(raw, Opening, strict=False)
    except msgspec.DecodeError as error:
        raise RecordingError(str(error)) from None


def read_line(text: bytes) -> tuple[int, Entry]:
    """Time (ms) and input of one line. Raises RecordingError."""
    try:
        line = _LINE.decode(text)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise RecordingError(str(error)) from None
    now = round(line.t * 1000)
    if line.tags is not UNSET and line.reader is not UNSET and line.antenna is not UNSET:
        tags = tuple(line.tags)
        return now, Look(line.reader, line.antenna, tags, line.partial, line.errors)
    if line.command is not UNSET:
        private = None if line.private is UNSET else line.private
        return now, RawCommand(bytes(line.command), private, line.reply_to)
    if line.up is not UNSET and line.reader is not UNSET:
        why = "" if line.error is UNSET else line.error
        return now, ReaderUp(line.reader) if line.up else ReaderDown(line.reader, why)
    for value, kind in (
        (line.key, Key),
        (line.refused, Refused),
        (line.rival, Rival),
        (line.damaged, Damaged),
    ):
        if value is not UNSET:
            return now, kind(value)
    if line.odds is not UNSET:
        return now, line.odds
    raise RecordingError("neither a look, a reader, a command nor a key")


def write_opening(opening: Opening) -> bytes:
    """The first line, without its end."""
    return _ENCODER.encode(opening)


def write_line(now: int, entry: Entry) -> bytes:
    """One line, without its end. Raises RecordingError for a command that is no JSON."""
    seconds = now / 1000
    match entry:
        case Look(reader, antenna, tags, partial, errors):
            line = Line(
                seconds,
                reader=reader,
                antenna=antenna,
                tags=list(tags),
                partial=partial,
                errors=errors,
            )
        case ReaderUp(reader):
            line = Line(seconds, reader=reader, up=True)
        case ReaderDown(reader, error):
            line = Line(seconds, reader=reader, up=False, error=error)
        case Key(key):
            line = Line(seconds, key=key)
        case Odds():
            line = Line(seconds, odds=entry)
        case Refused(zone):
            line = Line(seconds, refused=zone)
        case Damaged(file):
            line = Line(seconds, damaged=file)
        case Rival(instance):
            line = Line(seconds, rival=instance)
        case RawCommand(data, private, reply_to):
            known = UNSET if private is None else private
            command = Raw(_compact(data))
            line = Line(seconds, command=command, private=known, reply_to=reply_to)
    return _ENCODER.encode(line)


def _compact(data: bytes) -> bytes:
    try:
        return _ENCODER.encode(msgspec.json.decode(data))
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise RecordingError(str(error)) from None
