r"""metraTec HF readers with ASCII firmware (generation 1): many ISO 15693 cards per antenna.

```
host    WORD [arguments]\r
reader  line\r ... line\r[\n]          \n ends a complete answer once EOF was sent

INV     E0040150954F02B1\r  E0040150954F02B2\r  ARP 12\r  IVF 02\r
         UIDs, most significant first           antenna   how many
REQ     TDT\r  0011112222B7DD\r  COK\r  NCL\r
               flags data CRC-16/X-25, low byte first
```
Nothing guards a line, so an inventory is partial when its IVF counts other than the UIDs that
came. The start sequence is BRK (BRA, NCM), else WAK; COF where CCE says that the checksum mode
is on; EOF; the air interface; SRI. SRT (restarted) and RNW (registers lost) come unasked and
start it again. ONT is never used: it would report a resting card only once.

Antennas: `multiplex = "manual"` selects each with SAP MAN before its INV; `"automatic"` lets
the reader go round (SAP AUT) and stream (CNR INV), each inventory with its antenna report.

Sources: `metratec-rfid` 1.4.5 (`hf_reader_ascii.py`, `reader_ascii.py`); metraTec "ISO 15693
Protocol Guide" v2.5, v2.6 and v3.6 (contents pages).
"""

from __future__ import annotations

import asyncio
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Literal

import msgspec

from drivers import Look, ReaderError
from drivers._crc import x25
from drivers._frames import Lines
from drivers._serial import Link, opened
from drivers._settings import Baud, Seconds, SerialSettings
from drivers._uid import LENGTHS, normal

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

_UID = re.compile(r"(?:[0-9A-F]{2}){4}|(?:[0-9A-F]{2}){7,8}|(?:[0-9A-F]{2}){10}")
_ROOM = 256
_START_TIME = 0.5
_TRIES = 3

AIR = {
    "iso15693": ("156", frozenset((8,))),
    "iso14443a": ("14A", frozenset((4, 7, 10))),
    "iso14443b": ("14B", frozenset((4,))),
}
"""The argument of MOD, and the sizes of a UID in bytes."""


class Settings(SerialSettings, frozen=True, kw_only=True):
    """The keys of a metraTec reader's `[[readers]]` block; times in seconds, power in mW.

    `interval` is from pass to pass over all antennas; `power` None leaves the reader's own.
    """

    baud: Baud = 115200
    air: Literal["iso15693", "iso14443a", "iso14443b"] = "iso15693"
    multiplex: Literal["manual", "automatic"] = "manual"
    power: Annotated[int, msgspec.Meta(ge=100, le=4000)] | None = None
    interval: Seconds = 0.1
    patience: Seconds = 2.0


@dataclass(frozen=True, slots=True)
class Word:
    """A line that is neither tag nor count: `OK!`, `NOS`, `SRT`, the text of REV."""

    text: str


@dataclass(frozen=True, slots=True)
class Inventory:
    """What INV heard; `antenna` is None without antenna report, `count` is what IVF said."""

    tags: tuple[str, ...]
    count: int
    antenna: int | None = None
    partial: bool = False


@dataclass(frozen=True, slots=True)
class Block:
    """The answer of a tag to REQ; `flags` not 0 is its error, `intact` that the CRC is good."""

    flags: int
    data: bytes
    intact: bool


Frame = Word | Inventory | Block


class Decoder:
    """Bytes of the reader in, words and inventories out.

    `sizes` are the bytes that a UID of this air interface may have; others are damaged ones.
    """

    def __init__(self, sizes: frozenset[int] = frozenset(LENGTHS)) -> None:
        self._lines = Lines(64)
        self._sizes = sizes
        self._odd = 0
        self._uids: list[str] = []
        self._antenna: int | None = None
        self._data = False
        self._block: bytes | None = None

    @property
    def errors(self) -> int:
        """Damaged lines, and inventories whose count was wrong or never came."""
        return self._lines.errors + self._odd

    def feed(self, data: bytes) -> list[Frame]:
        """Take bytes as they come; give the frames that they complete."""
        frames: list[Frame] = []
        for line in self._lines.feed(data):
            frame = self._line(line)
            if frame is not None:
                frames.append(frame)
        return frames

    def reset(self) -> None:
        """Forget an answer that has begun; a line that has begun may be word of a restart."""
        self._end()

    def _end(self) -> None:
        self._odd += bool(self._uids)
        self._uids.clear()
        self._antenna = None
        self._data = False
        self._block = None

    def _line(self, line: str) -> Frame | None:
        """An empty line is the end of an answer, as EOF makes the reader mark it."""
        if not line:
            self._end()
        elif self._data:
            self._tag_data(line)
        elif _UID.fullmatch(line):
            if len(self._uids) < _ROOM and len(line) // 2 in self._sizes:
                self._uids.append(line)
        else:
            return self._keyword(line)
        return None

    def _keyword(self, line: str) -> Frame | None:
        word, _, argument = line.partition(" ")
        if word == "IVF":
            return self._inventory(argument)
        if word == "ARP":
            self._antenna = int(argument) if argument.isdigit() else None
            return None
        if line == "TDT":
            self._data = True
            return None
        if self._block is not None and line == "COK":
            return None
        if self._block is not None:
            return self._tag_answer(line)
        return Word(line)

    def _inventory(self, argument: str) -> Inventory | None:
        uids, antenna = self._uids, self._antenna
        self._uids, self._antenna = [], None
        if not argument.isdigit():
            self._odd += 1
            return None
        found = (normal(bytes.fromhex(uid)) for uid in uids)
        tags = tuple(dict.fromkeys(tag for tag in found if tag is not None))
        count = int(argument)
        self._odd += count != len(uids)
        return Inventory(tags, count, antenna, count != len(uids))

    def _tag_data(self, line: str) -> None:
        self._data = False
        try:
            self._block = bytes.fromhex(line)
        except ValueError:
            self._odd += 1

    def _tag_answer(self, line: str) -> Block:
        raw, self._block = self._block or b"", None
        body, check = raw[:-2], raw[-2:]
        intact = line == "NCL" and len(raw) > 2 and x25(body).to_bytes(2, "little") == check
        return Block(body[0] if body else 0xFF, body[1:], intact)


def encode(command: str) -> bytes:
    """The bytes of a command."""
    return command.encode("ascii") + b"\r"


async def read(settings: Settings) -> AsyncGenerator[Look, None]:
    """Look after look; `ReaderError` names the port and why."""
    decoder = Decoder(AIR[settings.air][1])
    async with opened(settings.port, decoder, baud=settings.baud) as link:
        reader = _Reader(link, decoder, settings)
        while True:
            try:
                await reader.start()
                looks = reader.manual if settings.multiplex == "manual" else reader.automatic
                async for look in looks():
                    yield look
            except _RestartedError:
                continue


class _RestartedError(Exception):
    """The reader said that it lost its settings."""


class _Reader:
    """The conversation with one reader."""

    def __init__(self, link: Link[Frame], decoder: Decoder, settings: Settings) -> None:
        self._link = link
        self._decoder = decoder
        self._settings = settings

    async def start(self) -> None:
        """From any state to the field being on."""
        await self._wake()
        await self._expect("EOF")
        await self._expect(f"MOD {AIR[self._settings.air][0]}", optional={"UCO", "NOS"})
        if self._settings.power is not None:
            await self._expect(f"SET PWR {self._settings.power}")
        await self._expect("SRI SS 100")
        if self._settings.multiplex == "automatic":
            await self._expect("SAP ARP ON")
            await self._expect(f"SAP AUT {max(self._settings.antennas)} 0")

    async def manual(self) -> AsyncGenerator[Look, None]:
        """Pass after pass, antenna by antenna."""
        clock = asyncio.get_running_loop().time
        sole = len(self._settings.antennas) == 1
        while True:
            begun = clock()
            for antenna in sorted(self._settings.antennas):
                await self._expect(f"SAP MAN {antenna}", optional={"NOS"} if sole else set())
                yield self._look(antenna, await self._inventory())
            await asyncio.sleep(max(0.0, begun + self._settings.interval - clock()))

    async def automatic(self) -> AsyncGenerator[Look, None]:
        """The reader's own round, as it streams it."""
        self._send("CNR INV")
        while True:
            heard = await self._link.find(self._heard, self._settings.patience)
            if heard is None:
                raise ReaderError(f"{self._link.port}: the metraTec reader stopped its inventories")
            if heard.antenna in self._settings.antennas:
                yield self._look(heard.antenna, heard)

    def _look(self, antenna: int, heard: Inventory) -> Look:
        name, errors = self._settings.name, self._link.take_errors()
        return Look(name, antenna, heard.tags, heard.partial or errors > 0, errors)

    async def _inventory(self) -> Inventory:
        for _ in range(_TRIES):
            self._send("INV")
            heard = await self._link.find(self._heard, self._settings.patience)
            if heard is not None:
                return heard
        raise ReaderError(f"{self._link.port}: no answer from the metraTec reader to INV")

    def _heard(self, frame: Frame) -> Inventory | None:
        self._notice(frame)
        return frame if isinstance(frame, Inventory) else None

    async def _wake(self) -> None:
        """Stop what may be running; rouse a sleeping reader; turn its checksum mode off."""
        for command in ("BRK", "WAK", "WAK 5E70", "COF 4F5E", "BRK"):
            self._link.drain()
            self._link.send(encode(command))
            word = await self._link.find(_word, _START_TIME)
            if word in {"BRA", "NCM", "GMO", "DNS"}:
                return
        raise ReaderError(
            f"{self._link.port}: no answer from a metraTec reader at {self._settings.baud} baud"
        )

    async def _expect(
        self, command: str, optional: set[str] | frozenset[str] = frozenset()
    ) -> None:
        said = "nothing"
        for _ in range(_TRIES):
            self._send(command)
            word = await self._link.find(self._reply, self._settings.patience)
            if word == "OK!" or word in optional:
                return
            said = word or said
        raise ReaderError(f"{self._link.port}: the metraTec reader answers {said} to {command}")

    def _reply(self, frame: Frame) -> str | None:
        self._notice(frame)
        word = _word(frame)
        return None if word in {"HBT", "BRA", "NCM"} else word

    def _notice(self, frame: Frame) -> None:
        if isinstance(frame, Word) and frame.text in {"SRT", "RNW", "CCE"}:
            raise _RestartedError

    def _send(self, command: str) -> None:
        for frame in self._link.drain():
            self._notice(frame)
        self._decoder.reset()
        self._link.send(encode(command))


def _word(frame: Frame) -> str | None:
    return frame.text if isinstance(frame, Word) else None
