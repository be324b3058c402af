r"""Elatec TWN4 with the Simple Protocol firmware (TWN4_Cx*_PRS*).

```
ASCII   FF FF data [CRClo CRChi] \r        as hex digits, two a byte     FFFF is the function
binary  LENlo LENhi FF FF data [CRClo CRChi]                             LEN counts all after it
answer  the same with an error byte in place of FFFF: 00 is none

SearchTag 0500 max         -> found type bits length id
SearchMultiTag 1208 max    -> found count bytes {length UID}
```
The optional CRC is MCRF4XX over the message without LEN. Integers are little-endian, arrays
begin with their length. The reader never talks first and its answers do not name the question:
one question at a time, and silence before the next after a lost answer. Binary messages without
CRC have nothing to find their beginning by; prefer ASCII, or the CRC.

Type 82 (ISO 15693) comes least significant byte first and is turned round; type 80 (ISO
14443A) comes as it is. `search = "multi"` lists ISO 14443A tags; `"single"` hears one tag of
the `air` chosen, so a look that heard one is partial. The field is switched off before each
look, so that a resting tag answers again.

Source: Elatec "TWN4 Simple Protocol" DocRev17. Its example of SearchMultiTag shows the question
only; the layout of the answer follows the document's rules for arrays, and a list without
count or without byte length is understood too.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from drivers import Look, ReaderError
from drivers._crc import mcrf4xx
from drivers._frames import Hunter, Lines
from drivers._serial import Link, opened
from drivers._settings import Baud, Seconds, SerialSettings
from drivers._uid import em4100, normal

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

Mode = Literal["ascii", "binary"]

VERSION = bytes.fromhex("0004FF")
FIELD_OFF = bytes.fromhex("0501")
SEARCH_ONE = bytes.fromhex("050010")
SEARCH_MULTI = bytes.fromhex("1208FF")

EM4102, ISO14443A, ISO15693 = 0x40, 0x80, 0x82
ERRORS = {
    1: "unknown function",
    2: "missing parameter",
    3: "unused parameters",
    4: "invalid function",
    5: "parser error",
}

_LONGEST = 600
_LIST_ROOM = 255
_TRIES = 3
_SILENCE = 0.1


class Settings(SerialSettings, frozen=True, kw_only=True):
    """The keys of a TWN4's `[[readers]]` block; times in seconds.

    `baud` matters to COM1 only. `interval` is the time from look to look.
    """

    baud: Baud = 9600
    mode: Mode = "ascii"
    crc: bool = False
    search: Literal["multi", "single"] = "multi"
    air: Literal["iso14443a", "iso15693", "em4102"] = "iso14443a"
    interval: Seconds = 0.1
    patience: Seconds = 1.0

    def __post_init__(self) -> None:
        """Refuse a second antenna, and lists of what the reader cannot list."""
        self.sole_antenna()
        if self.search == "multi" and self.air != "iso14443a":
            raise ValueError(f'the TWN4 lists iso14443a only; {self.air} wants search = "single"')


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer: `error` 0 is none; `tags` are read from `data` where it is a search's."""

    error: int
    data: bytes
    tags: tuple[str, ...] = ()

    @property
    def found(self) -> bool:
        """The flag that the answers of searches begin with."""
        return self.error == 0 and self.data[:1] == b"\x01"

    @property
    def text(self) -> str:
        """The string of GetVersionString."""
        return self.data[1:].decode("ascii", "replace")


class Decoder:
    """Bytes of the reader in, answers out.

    Without a mode, the first intact message decides between ASCII and binary with CRC. Without
    a word about the CRC, ASCII messages may have one, and binary ones have none.
    """

    def __init__(self, mode: Mode | None = None, *, crc: bool | None = None) -> None:
        self._crc = crc
        self._odd = 0
        self._messages: Lines | _Binary = (
            _Binary(crc or False) if mode == "binary" else Lines(2 * _LONGEST)
        )
        self._other = _Binary(crc=True) if mode is None else None

    @property
    def errors(self) -> int:
        """Damaged messages so far."""
        return self._messages.errors + self._odd

    def feed(self, data: bytes) -> list[Answer]:
        """Take bytes as they come; give the answers that they complete."""
        if self._other is None:
            return self._decided(data)
        answers = []
        for line in data.splitlines(keepends=True):
            answers += self._undecided(self._other, line) if self._other else self._decided(line)
        return answers

    def _undecided(self, other: _Binary, line: bytes) -> list[Answer]:
        """What is completed in either mode by bytes that end one line at most; it is kept to."""
        if messages := other.feed(line):
            self._messages, self._other, self._odd = other, None, 0
            return [_answer(raw) for raw in messages]
        answers = self._decided(line)
        if answers:
            self._other = None
        return answers

    def _decided(self, data: bytes) -> list[Answer]:
        answers = []
        for message in self._messages.feed(data):
            raw = self._hex(message) if isinstance(message, str) else message
            if raw is not None:
                answers.append(_answer(raw))
        return answers

    def reset(self) -> None:
        """Forget an answer that has begun."""
        self._messages.reset()
        if self._other is not None:
            self._other.reset()

    def _hex(self, line: str) -> bytes | None:
        if not line:
            return None
        try:
            raw = bytes.fromhex(line)
        except ValueError:
            raw = b""
        checked = self._crc is not False and len(raw) > 2 and not mcrf4xx(raw)
        if not raw or raw[0] > max(ERRORS) or (self._crc and not checked) or " " in line:
            self._odd += 1
            return None
        return raw[:-2] if checked else raw


def _answer(raw: bytes) -> Answer:
    return Answer(raw[0], raw[1:], _tags(raw))


class _Binary(Hunter[bytes]):
    def __init__(self, crc: bool) -> None:  # noqa: FBT001 - the only option there is
        super().__init__()
        self.lookahead = self._crc = crc

    def _parse(self, at: int) -> tuple[int, bytes] | int:
        head = self._buffer[at : at + 3]
        least = 3 if self._crc else 1
        if len(head) >= 2 and not least <= head[0] | head[1] << 8 <= _LONGEST:
            return 0
        if len(head) < 3:
            return at + len(head) + 1
        if head[2] > max(ERRORS):
            return 0
        end = at + 2 + (head[0] | head[1] << 8)
        if len(self._buffer) < end:
            return end
        raw = bytes(self._buffer[at + 2 : end])
        if not self._crc:
            return end, raw
        return (end, raw[:-2]) if not mcrf4xx(raw) else 0


def _tags(raw: bytes) -> tuple[str, ...]:
    if raw[:2] != b"\x00\x01":
        return ()
    data = raw[2:]
    if len(data) > 3 and data[2] == len(data) - 3 and data[0] >= EM4102:
        bits, size = data[1], data[2]
        if 8 * (size - 1) < bits <= 8 * size:
            uid = _uid(data[0], data[3:])
            return () if uid is None else (uid,)
    return _listed(data)


def _uid(kind: int, raw: bytes) -> str | None:
    if kind == EM4102 and len(raw) == 5:
        return em4100(raw)
    return normal(raw, lsb_first=kind == ISO15693)


def _listed(data: bytes) -> tuple[str, ...]:
    """The UIDs of a list whose count and byte length agree, as far as it has them."""
    if len(data) > 2 and data[1] == len(data) - 2:
        tags = _uids(data[2:])
        if len(tags) == data[0]:
            return tags
    if len(data) > 1 and data[0] == len(data) - 1:
        return _uids(data[1:])
    tags = _uids(data[1:])
    return tags if data and len(tags) == data[0] else ()


def _uids(data: bytes) -> tuple[str, ...]:
    tags = []
    while data:
        uid = normal(data[1 : 1 + data[0]])
        if uid is None:
            return ()
        tags.append(uid)
        data = data[1 + data[0] :]
    return tuple(dict.fromkeys(tags))


def encode(message: bytes, mode: Mode = "ascii", *, crc: bool = False) -> bytes:
    """The bytes of a question: function code and parameters."""
    if crc:
        message += mcrf4xx(message).to_bytes(2, "little")
    if mode == "ascii":
        return message.hex().upper().encode() + b"\r"
    return len(message).to_bytes(2, "little") + message


def set_tag_types(kind: int) -> bytes:
    """SetTagTypes (0502) for one type only: the masks of the LF and the HF types."""
    mask = (1 << (kind & 0x1F)).to_bytes(4, "little")
    return b"\x05\x02" + (mask + bytes(4) if kind < 0x80 else bytes(4) + mask)


async def read(settings: Settings) -> AsyncGenerator[Look, None]:
    """Look after look; `ReaderError` names the port and why."""
    clock = asyncio.get_running_loop().time
    decoder = Decoder(settings.mode, crc=settings.crc)
    async with opened(settings.port, decoder, baud=settings.baud) as link:
        reader = _Reader(link, decoder, settings)
        await reader.start()
        while True:
            begun = clock()
            yield await reader.look()
            await asyncio.sleep(max(0.0, begun + settings.interval - clock()))


class _Reader:
    """The conversation with one reader."""

    def __init__(self, link: Link[Answer], decoder: Decoder, settings: Settings) -> None:
        self._link = link
        self._decoder = decoder
        self._settings = settings
        self._antenna = settings.sole_antenna()

    async def start(self) -> None:
        """Find out who answers, and tell it which tags to look for."""
        version = await self._ask(VERSION)
        if not version.text.startswith("TWN4"):
            raise ReaderError(f"{self._link.port}: answers, but is no TWN4")
        kind = {"iso14443a": ISO14443A, "iso15693": ISO15693, "em4102": EM4102}
        await self._ask(set_tag_types(kind[self._settings.air]))

    async def look(self) -> Look:
        """One pass: off, on, search."""
        await self._ask(FIELD_OFF)
        multi = self._settings.search == "multi"
        answer = await self._ask(SEARCH_MULTI if multi else SEARCH_ONE)
        full = len(answer.data) > _LIST_ROOM - 11 if multi else answer.found
        missed = full or (answer.found and not answer.tags)
        errors = self._link.take_errors()
        return Look(self._settings.name, self._antenna, answer.tags, missed, errors)

    async def _ask(self, question: bytes) -> Answer:
        why = "no answer from a TWN4 with the Simple Protocol"
        for _ in range(_TRIES):
            self._decoder.reset()
            self._link.drain()
            self._link.send(encode(question, self._settings.mode, crc=self._settings.crc))
            answer = await self._link.receive(self._settings.patience)
            if answer is not None and not answer.error:
                return answer
            if answer is not None:
                why = f"{question[:2].hex().upper()} refused, {ERRORS.get(answer.error, 'error')}"
            while await self._link.receive(_SILENCE) is not None:
                pass
        raise ReaderError(f"{self._link.port}: {why}")
