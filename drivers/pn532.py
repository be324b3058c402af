"""NXP PN532 over HSU (high speed UART): two ISO 14443A cards per antenna.

```
normal    00 00 FF LEN LCS TFI PD0..PDn DCS 00           LEN+LCS = 0, TFI+PD..+DCS = 0 mod 256
extended  00 00 FF FF FF LENM LENL LCS TFI PD.. DCS 00   LENM+LENL+LCS = 0 mod 256
ACK       00 00 FF 00 FF 00       NACK  00 00 FF FF 00 00       error  00 00 FF 01 FF 7F 81 00
```
TFI is D4 from host to chip and D5 back; LEN counts TFI and PD. A command is acknowledged, then
answered with its code plus one. The answer to InListPassiveTarget is NbTg and for each target
Tg SENS_RES(2) SEL_RES NFCIDLength NFCID, then ATS (its first byte is its length) where bit 5 of
SEL_RES says ISO 14443-4.

The chip lists two targets at most: two heard may be three on the felt, so such a look is
partial. Listed targets stay activated and would not answer again, so they are released and the
field is cycled between looks. One chip has one antenna.

Sources: NXP UM0701-02 rev 02; libnfc `drivers/pn532_uart.c`, `chips/pn53x.c` (wake-up, target
layout); nfcpy 1.0.4 `clf/pn532.py`, `clf/pn53x.py` (frames, error codes).
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from enum import Enum
from functools import partial
from typing import TYPE_CHECKING

from drivers import Look, ReaderError
from drivers._frames import Hunter
from drivers._serial import Link, opened
from drivers._settings import Baud, Seconds, SerialSettings
from drivers._uid import normal

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

WAKE_UP = b"\x55\x55" + bytes(14)
"""Takes the chip out of low battery mode, if SAMConfiguration follows; harmless when awake."""

FIRMWARE, SAM, BAUD_RATE, RF_CONFIG, EXCHANGE, LIST, RELEASE = (
    0x02, 0x14, 0x10, 0x32, 0x40, 0x4A, 0x52,
)  # fmt: skip

_TELL_STATUS = frozenset((0x41, 0x43, 0x45, 0x4F, 0x51, 0x53, 0x55, 0x57))
"""Answers that begin with an error code: of EXCHANGE, InCommunicateThru, InDeselect, InPSL,
InATR, RELEASE, InSelect, InJumpForDEP."""

_MAX_LENGTH = 265
_ACK_TIME, _FIRST_TIME = 0.3, 1.5
_TRIES = 3


class Settings(SerialSettings, frozen=True, kw_only=True):
    """The keys of a PN532's `[[readers]]` block.

    `interval` is the time from look to look, in seconds.
    """

    baud: Baud = 115200
    interval: Seconds = 0.1

    def __post_init__(self) -> None:
        """Refuse a second antenna."""
        self.sole_antenna()


class Signal(Enum):
    """The frames that carry nothing."""

    ACK = "ack"
    NACK = "nack"
    SYNTAX_ERROR = "syntax error"


@dataclass(frozen=True, slots=True)
class Message:
    """An information frame.

    `code` is that of the command (even) or of its answer (odd), `data` what follows it. `tags`
    are the UIDs of an InListPassiveTarget answer and `targets` its NbTg. `status` is the error
    code, 0 for none, of an answer that has one.
    """

    code: int
    data: bytes
    from_chip: bool = True
    targets: int = 0
    tags: tuple[str, ...] = ()
    status: int | None = None


Frame = Message | Signal


class Decoder(Hunter[Frame]):
    """Bytes of either direction in, frames out.

    The postamble is not looked at: it may be missing, and be the next frame's preamble.
    """

    filler = b"\x00\x55"

    def _seek(self, at: int) -> int:
        found = self._buffer.find(b"\x00\xff", at)
        if found >= 0:
            return found
        size = len(self._buffer)
        return size - 1 if at < size and self._buffer[-1] == 0 else size

    def _parse(self, at: int) -> tuple[int, Frame] | int:
        head = bytes(self._buffer[at + 1 : at + 7])
        if len(head) < 3 and b"\xff".startswith(head[:1]):
            return at + 4
        if head[0] != 0xFF:
            return 0
        if head[1:3] == b"\x00\xff":
            return at + 4, Signal.ACK
        if head[1:3] == b"\xff\x00":
            return at + 4, Signal.NACK
        if head[1:3] == b"\xff\xff":
            if len(head) < 6:
                return at + 7
            return self._body(at + 7, head[3] << 8 | head[4], sum(head[3:6]))
        return self._body(at + 4, head[1], sum(head[1:3]))

    def _body(self, start: int, length: int, check: int) -> tuple[int, Frame] | int:
        if check & 0xFF or not 1 <= length <= _MAX_LENGTH:
            return 0
        body = bytes(self._buffer[start : start + length + 1])
        if body and body[0] not in {0xD4, 0xD5, 0x7F}:
            return 0
        if len(body) <= length:
            return start + length + 1 if body else start + 1
        if sum(body) & 0xFF:
            return 0
        end = start + length + 1
        if body[0] == 0x7F:
            return end, Signal.SYNTAX_ERROR
        if length == 1:
            return 0
        return end, _message(body[1], body[2:-1], from_chip=body[0] == 0xD5)


def _message(code: int, data: bytes, *, from_chip: bool) -> Message:
    if from_chip and code == LIST + 1 and data:
        return Message(code, data, from_chip, data[0], _targets(data[0], data[1:]))
    if from_chip and code in _TELL_STATUS and data:
        return Message(code, data, from_chip, status=data[0] & 0x3F)
    return Message(code, data, from_chip)


def _targets(count: int, data: bytes) -> tuple[str, ...]:
    tags = []
    for _ in range(count):
        if len(data) < 5 or len(data) < 5 + data[4]:
            break
        end = 5 + data[4]
        uid = normal(data[5:end])
        if uid is not None:
            tags.append(uid)
        if data[3] & 0x20 and len(data) > end:
            end += max(data[end], 1)
        data = data[end:]
    return tuple(tags)


def encode(code: int, data: bytes = b"") -> bytes:
    """The frame of a command; `data` is at most 263 bytes."""
    body = bytes((0xD4, code)) + data
    size = len(body)
    if size > _MAX_LENGTH:
        raise ValueError(f"{size} bytes are more than a frame holds")
    if size < 0x100:
        head = bytes((size, -size & 0xFF))
    else:
        high, low = divmod(size, 0x100)
        head = bytes((0xFF, 0xFF, high, low, -(high + low) & 0xFF))
    return b"\x00\x00\xff" + head + body + bytes((-sum(body) & 0xFF, 0))


ACK = bytes.fromhex("0000FF00FF00")
NACK = bytes.fromhex("0000FFFF0000")
SAM_CONFIGURATION = encode(SAM, bytes((1, 0, 0)))
GET_FIRMWARE = encode(FIRMWARE)
FIELD_OFF = encode(RF_CONFIG, bytes((1, 0)))
FIELD_ON = encode(RF_CONFIG, bytes((1, 1)))
MAX_RETRIES = encode(RF_CONFIG, bytes((5, 0xFF, 1, 2)))
"""MxRtyPassiveActivation = 2, so that an empty antenna is answered and not waited on."""
LIST_TWO = encode(LIST, bytes((2, 0)))
"""InListPassiveTarget, MaxTg = 2, 106 kbit/s type A."""
RELEASE_ALL = encode(RELEASE, b"\x00")


async def read(settings: Settings) -> AsyncGenerator[Look, None]:
    """Look after look from the chip's antenna; `ReaderError` names the port and why."""
    antenna = settings.sole_antenna()
    loop = asyncio.get_running_loop()
    async with opened(settings.port, Decoder(), baud=settings.baud) as link:
        await _start(link)
        while True:
            begun = loop.time()
            heard = await _look(link)
            yield Look(
                settings.name,
                antenna,
                tuple(dict.fromkeys(heard.tags)),
                partial=heard.targets >= 2 or heard.targets != len(heard.tags),
                errors=link.take_errors(),
            )
            await asyncio.sleep(max(0.0, begun + settings.interval - loop.time()))


async def _start(link: Link[Frame]) -> None:
    await _ask(link, WAKE_UP + SAM_CONFIGURATION, SAM, _FIRST_TIME)
    firmware = await _ask(link, WAKE_UP + GET_FIRMWARE, FIRMWARE, _FIRST_TIME)
    if firmware.data[:1] != b"\x32":
        raise ReaderError(f"{link.port}: answers, but is no PN532 (IC {firmware.data[:1].hex()})")
    await _ask(link, MAX_RETRIES, RF_CONFIG)


async def _look(link: Link[Frame]) -> Message:
    await _ask(link, FIELD_OFF, RF_CONFIG)
    await _ask(link, FIELD_ON, RF_CONFIG)
    heard = await _ask(link, LIST_TWO, LIST)
    if heard.targets:
        await _ask(link, RELEASE_ALL, RELEASE)
    return heard


async def _ask(link: Link[Frame], frame: bytes, code: int, patience: float = _ACK_TIME) -> Message:
    for _ in range(_TRIES):
        link.drain()
        link.send(frame)
        answer = await link.find(partial(_of, code + 1), patience)
        if isinstance(answer, Message):
            return answer
        link.send(ACK)
    raise ReaderError(f"{link.port}: no answer from the PN532 to command {code:02X}")


def _of(code: int, frame: Frame) -> Frame | None:
    """The answer with that code, or the chip's refusal."""
    if isinstance(frame, Message):
        return frame if frame.code == code else None
    return frame if frame is Signal.SYNTAX_ERROR else None
