"""FEIG OBID i-scan and classic-pro, ISO host protocol: many ISO 15693 cards per antenna.

```
standard  host   LEN COM-ADR CMD [DATA] CRClo CRChi             LEN counts the whole frame
          reader LEN COM-ADR CMD STATUS [DATA] CRClo CRChi
advanced  host   02 LENhi LENlo COM-ADR CMD [DATA] CRClo CRChi
          reader 02 LENhi LENlo COM-ADR CMD STATUS [DATA] CRClo CRChi
function unit, inside [BF]: 02 DD FE ADDR OUT1 OUT2, answered by bare 00 STATUS
```
The CRC is MCRF4XX over all before it. A standard answer is never 2 long, so 02 means advanced;
a reader answers advanced when asked so, or when the answer has more than 255 bytes. COM-ADR FF
reaches any reader, which answers with its own.

[B0][01] Inventory answers STATUS DATA-SETS {TR-TYPE DSFID UID(8, most significant first)}.
Status 94 means more data: asked again with MODE 80. Under 02, 03, 83, 84, 90, 93 and 95 what
was heard counts, but the look is partial. A tag that was heard keeps quiet until its field was
off, so [69] RF Reset comes before each inventory (`rf_reset`), or the reader's ONT bit is 0.

Antennas are numbered through the multiplexers ID ISC.ANT.MUX: 1-8 are the channels of address
1, 9-16 of address 2, 17-24 of address 3. Multiplexers stand side by side, the idle ones
switched off, or hang on one another (`feeds`). `switch = "connector"` selects the antenna
connectors 1-4 of a multi-antenna reader with [6A] 81..84 instead.

Sources: FEIG manuals H60301-3e-ID-B, H40801-5e, H90692-16e, H01113-4e, H01114-0e, H90400-0e,
H30701-3e (multiplexer); Fosstrak `hal-impl-feig` (connectors, bare answers); FEIG FEDM SDK (which
statuses still carry tags; tag types other than ISO 15693, untried on a reader).
"""

from __future__ import annotations

import asyncio
import functools
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Literal

import msgspec

from drivers import Look, ReaderError
from drivers._crc import mcrf4xx
from drivers._datasets import uids
from drivers._frames import Hunter
from drivers._serial import Link, opened
from drivers._settings import Baud, Parity, Seconds, SerialSettings

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

BAUD_DETECT, RF_RESET, RF_SWITCH, INVENTORY, TRANSPARENT = 0x52, 0x69, 0x6A, 0xB0, 0xBF

OK, NONE, MORE = 0x00, 0x01, 0x94
PARTIAL = frozenset((0x02, 0x03, 0x83, 0x84, 0x90, 0x93, 0x95))
"""The inventory was disturbed; what it heard still counts."""

STATUS = {
    0x11: "parameter out of range",
    0x13: "login request",
    0x20: "no answer of the function unit",
    0x80: "unknown command",
    0x81: "length error",
    0x82: "command not available (Scan, Buffered Read or Notification Mode is on)",
}

_COMMANDS = frozenset(
    bytes.fromhex("18191A1B 2122 313233343536 52 636465666768696A6B6C6D6E6F 71727576")
    + bytes.fromhex("8081828384858687 9F A0A1A2 B0B1B2B3B4BCBDBEBF C0C1C2C3")
)
_BARE = frozenset((0x00, 0x01, 0x02, 0x03, 0x10, 0x11, 0x20, 0x80, 0x81, 0x82))
_LONGEST, _PAGES, _TRIES, _MUX_TIME = 2048, 32, 2, 0.3


class Settings(SerialSettings, frozen=True, kw_only=True):
    """The keys of a FEIG reader's `[[readers]]` block; times in seconds.

    `interval` is from pass to pass over all antennas, `pause` the silence before each request
    (5 ms by the manual, 50 ms on the oldest readers), `patience` must exceed the reader's
    TR-RESPONSE-TIME. `feeds` are the channels that the second and third multiplexer hang on.
    """

    baud: Baud = 38400
    parity: Parity = "even"
    frames: Literal["standard", "advanced"] = "standard"
    address: Annotated[int, msgspec.Meta(ge=0, le=255)] = 255
    switch: Literal["auto", "none", "mux", "connector"] = "auto"
    feeds: Annotated[
        tuple[Annotated[int, msgspec.Meta(ge=1, le=8)], ...], msgspec.Meta(max_length=2)
    ] = ()
    rf_reset: bool = True
    interval: Seconds = 0.1
    pause: Seconds = 0.005
    patience: Seconds = 3.5

    def __post_init__(self) -> None:
        """Refuse antennas that the way of switching cannot reach."""
        most = {"none": 255, "mux": 24, "connector": 4}[self.switching()]
        if self.switching() == "none":
            self.sole_antenna()
        if max(self.antennas) > most:
            raise ValueError(
                f"antenna {max(self.antennas)} is beyond the {most} of a {self.switch}"
            )

    def switching(self) -> Literal["none", "mux", "connector"]:
        """How antennas are selected; several without a word about it hang on multiplexers."""
        if self.switch == "auto":
            return "none" if len(self.antennas) == 1 else "mux"
        return self.switch


@dataclass(frozen=True, slots=True)
class Answer:
    """A frame of the reader.

    `data` is what follows STATUS. `tags` are the UIDs of an inventory, without duplicates;
    `partial` says that it may have missed some, `more` that the reader holds more of them.
    """

    address: int
    command: int
    status: int
    data: bytes
    advanced: bool = False
    tags: tuple[str, ...] = ()
    partial: bool = False
    more: bool = False


@dataclass(frozen=True, slots=True)
class BareStatus:
    """The answer of a function unit: neither length nor CRC."""

    status: int


Frame = Answer | BareStatus


class Decoder(Hunter[Frame]):
    """Bytes of the reader in, frames out."""

    def __init__(self) -> None:
        super().__init__()
        self._bare = False

    def expect(self) -> None:
        """The next answer may be a bare `00 STATUS`; the next frame of any kind ends that.

        With no check of its own it counts only where no other frame has begun.
        """
        self._bare = True

    def reset(self) -> None:
        """Forget a frame that has begun, and what was expected."""
        super().reset()
        self._bare = False

    def _parse(self, at: int) -> tuple[int, Frame] | int:
        buffer = self._buffer
        first = buffer[at]
        if first == 0:
            return self._bare_status(at) if self._bare else 0
        if first != 2:
            if first < 6 or (len(buffer) > at + 2 and buffer[at + 2] not in _COMMANDS):
                return 0
            return self._framed(at, first, at + 1)
        if len(buffer) < at + 3:
            return at + 3
        length = buffer[at + 1] << 8 | buffer[at + 2]
        return self._framed(at, length, at + 3) if 8 <= length <= _LONGEST else 0

    def _bare_status(self, at: int) -> tuple[int, Frame] | int:
        if self._begun:
            return 0
        if len(self._buffer) < at + 2:
            return at + 2
        if self._buffer[at + 1] not in _BARE:
            return 0
        self._bare = False
        return at + 2, BareStatus(self._buffer[at + 1])

    def _framed(self, at: int, length: int, body: int) -> tuple[int, Frame] | int:
        size = len(self._buffer)
        if size < body + 2:
            return body + 2
        if self._buffer[body + 1] not in _COMMANDS:
            return 0
        if size < at + length:
            return at + length
        frame = bytes(self._buffer[at : at + length])
        if mcrf4xx(frame):
            return 0
        self._bare = False
        return at + length, _answer(frame[body - at : -2], advanced=body - at == 3)


def _answer(body: bytes, *, advanced: bool) -> Answer:
    address, command, status, data = body[0], body[1], body[2], body[3:]
    if command != INVENTORY or status not in PARTIAL | {OK, MORE}:
        return Answer(address, command, status, data, advanced)
    found, whole = uids(data)
    tags = tuple(dict.fromkeys(found)) if whole or status in PARTIAL else ()
    partial = status in PARTIAL or not whole
    return Answer(address, command, status, data, advanced, tags, partial, status == MORE)


def encode(command: int, data: bytes = b"", *, address: int = 255, advanced: bool = False) -> bytes:
    """The frame of a request."""
    size = len(data) + (7 if advanced else 5)
    if not advanced and size > 255:
        raise ValueError(f"{size} bytes are more than a standard frame holds")
    head = bytes((2, size >> 8, size & 0xFF)) if advanced else bytes((size,))
    frame = head + bytes((address, command)) + data
    return frame + mcrf4xx(frame).to_bytes(2, "little")


def mux_select(mux: int, channel: int) -> bytes:
    """The data of a [BF] request that switches a multiplexer; channel 0 is off."""
    return bytes((0x01, 0x00, 0x20, 0x02, 0x1F, 0x02, 0xDD, 0xFE, mux, channel, 0))


async def read(settings: Settings) -> AsyncGenerator[Look, None]:
    """Look after look, antenna by antenna; `ReaderError` names the port and why."""
    loop = asyncio.get_running_loop()
    async with opened(
        settings.port, decoder := Decoder(), baud=settings.baud, parity=settings.parity
    ) as link:
        reader = _Reader(link, decoder, settings)
        await reader.start()
        while True:
            begun = loop.time()
            for antenna in sorted(settings.antennas):
                yield await reader.look(antenna)
            await asyncio.sleep(max(0.0, begun + settings.interval - loop.time()))


class _Reader:
    """The conversation with one reader."""

    def __init__(self, link: Link[Frame], decoder: Decoder, settings: Settings) -> None:
        self._link = link
        self._decoder = decoder
        self._settings = settings
        self._switching = settings.switching()
        self._off: set[int] = set()
        self._pause = 0.0 if settings.port.startswith("socket://") else settings.pause

    async def start(self) -> None:
        """Find out whether a reader answers at these line settings."""
        await self._ask(BAUD_DETECT, b"\x00")

    async def look(self, antenna: int) -> Look:
        """One pass over one antenna."""
        await self._select(antenna)
        if self._settings.rf_reset:
            self._check(await self._ask(RF_RESET), {OK})
        tags: dict[str, None] = {}
        answer = await self._ask(INVENTORY, b"\x01\x00")
        missed = False
        for _ in range(_PAGES):
            self._check(answer, PARTIAL | {OK, NONE, MORE})
            tags.update(dict.fromkeys(answer.tags))
            missed = missed or answer.partial
            if not answer.more:
                break
            answer = await self._ask(INVENTORY, b"\x01\x80")
        missed, errors = missed or answer.more, self._link.take_errors()
        return Look(self._settings.name, antenna, tuple(tags), missed, errors)

    async def _select(self, antenna: int) -> None:
        """Switch anew each time: a reader that lost power would hear the wrong antenna."""
        if self._switching == "connector":
            self._check(await self._ask(RF_SWITCH, bytes((0x80 + antenna,))), {OK})
        if self._switching == "mux":
            for mux, channel in self._route(antenna).items():
                if channel or mux not in self._off:
                    await self._switch(mux, channel)

    def _route(self, antenna: int) -> dict[int, int]:
        """The channel of every multiplexer for this antenna; those switched off come first."""
        count = (max(self._settings.antennas) + 7) // 8
        last, channel = (antenna + 7) // 8, (antenna - 1) % 8 + 1
        route = {mux: 0 for mux in range(1, count + 1) if mux != last}
        route.update(enumerate(self._settings.feeds[: last - 1], 1))
        return {**route, last: channel}

    async def _switch(self, mux: int, channel: int) -> None:
        for _ in range(_TRIES):
            await self._send(TRANSPARENT, mux_select(mux, channel))
            self._decoder.expect()
            frame = await self._link.receive(_MUX_TIME)
            if frame is not None and frame.status == OK:
                (self._off.discard if channel else self._off.add)(mux)
                return
            if frame is not None:
                raise ReaderError(
                    f"{self._link.port}: multiplexer {mux} refuses: {_why(frame.status)}"
                )
        raise ReaderError(f"{self._link.port}: no answer from multiplexer {mux}")

    async def _ask(self, command: int, data: bytes = b"") -> Answer:
        for _ in range(_TRIES):
            await self._send(command, data)
            answer = await self._link.find(
                functools.partial(self._of, command), self._settings.patience
            )
            if answer is not None:
                return answer
        line = f"{self._settings.baud} 8{self._settings.parity[0].upper()}1"
        raise ReaderError(f"{self._link.port}: no FEIG reader answers [{command:02X}] at {line}")

    async def _send(self, command: int, data: bytes) -> None:
        if self._pause:
            await asyncio.sleep(self._pause)
        self._decoder.reset()
        self._link.drain()
        advanced = self._settings.frames == "advanced"
        self._link.send(encode(command, data, address=self._settings.address, advanced=advanced))

    def _of(self, command: int, frame: Frame) -> Answer | None:
        if not isinstance(frame, Answer) or frame.command != command:
            return None
        return frame if self._settings.address in {255, frame.address} else None

    def _check(self, answer: Answer, allowed: frozenset[int] | set[int]) -> None:
        if answer.status not in allowed:
            why = _why(answer.status)
            raise ReaderError(f"{self._link.port}: [{answer.command:02X}] refused: {why}")


def _why(status: int) -> str:
    return STATUS.get(status, f"status {status:02X}")
