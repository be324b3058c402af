"""Contactless PC/SC readers (ACR122U, ACR1252, Omnikey 5022, uTrust 3700) through pcscd.

A reader hears one card, so it suits the shoe. What goes over the air and over USB is pcscd's
and its driver's business; spoken here is ISO 7816-4, a command and its answer at a time:

    command   FF CA 00 00 00            GET DATA, the UID
    answer    UID[4|7|8|10] 90 00       or SW1 SW2 alone: 63 00 failed, 6A 81 not supported,
                                        6C XX ask again for XX bytes
    ATR       3B 8F 80 01 80 4F 0C A0 00 00 03 06 SS NN NN 00 00 00 00 TCK

A card swapped within the reader's own poll raises no event, so the UID is read again at every
look while a card rests. The ATR decides nothing: readers disagree about it, the UID they
give. ISO 15693 UIDs are sent with the least significant byte first by the standard and the
other way round by many readers; they come out E0 first.

Sources: PC/SC part 3 v2.01 (3.1.3.2.3 ATR, 3.2.2.1 commands); ISO 7816-3 8.2 (ATR); ACS
ACR122U API V2.04 (buzzer, LEDs); HID PLT-03092 (ISO 15693 over PC/SC).
"""

from __future__ import annotations

import asyncio
import re
import threading
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from functools import reduce
from operator import xor
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeVar

import msgspec

from drivers import Look, ReaderError
from drivers._scard import (
    CARD_TROUBLE,
    EMPTY,
    GONE,
    PRESENT,
    Context,
    RefusalError,
    choose,
    explain,
)
from drivers._settings import Antenna
from drivers._uid import normal

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable

T = TypeVar("T")

GET_UID = bytes.fromhex("FFCA000000")
BUZZER_OFF = bytes.fromhex("FF00520000")
LEDS_OFF = bytes.fromhex("FF00400C0400000000")

_PATIENCE = 10.0
"""Seconds for one step; a slow card takes two or three."""
_MESSAGE_LIMIT = 65538
"""Bytes of the longest R-APDU, data and status word (ISO 7816-4)."""
_OK, _SHORTER_THAN_ASKED = 0x9000, 0x6282
_FIRMWARE = re.compile(rb"(ACR122U[ -~]{2,})(?:\x90\x00)?")
_ISO15693 = 0xE0
_TAG_MAKERS = frozenset({0x02, 0x04, 0x05, 0x07, 0x08, 0x16, 0x17})
"""ISO 7816-6 codes of those who make ISO 15693 tags: ST, NXP, Infineon, TI, Fujitsu, EM, KSW."""
_STORAGE_CARD = bytes.fromhex("804F0CA000000306")
_STANDARDS = {
    0x03: "ISO 14443 A-3",
    0x07: "ISO 14443 B-3",
    0x09: "ISO 15693-1",
    0x0A: "ISO 15693-2",
    0x0B: "ISO 15693-3",
    0x0C: "ISO 15693-4",
    0x11: "FeliCa",
}


class Settings(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The keys of a `[[readers]]` block with driver `pcsc`.

    `port` is the reader's name, a part of it or a regular expression; running numbers at its
    end do not matter, a serial number or `usb:1-1.4` tells twins apart. `interval` is the
    longest time between two looks in seconds (at most 0.5). `quiet` turns the ACR122U's buzzer
    and LEDs off. `uid_order` is the byte order of 8-byte UIDs that do not show it themselves.
    """

    name: str
    driver: str = "pcsc"
    port: Annotated[str, msgspec.Meta(min_length=1)]
    antennas: dict[Antenna, str]
    interval: float = 0.25
    quiet: bool = True
    uid_order: Literal["auto", "msb", "lsb"] = "auto"

    def __post_init__(self) -> None:
        """ValueError, one line, when a value cannot be meant."""
        if len(self.antennas) != 1:
            raise ValueError("antennas: a PC/SC reader has exactly one")
        if not 0.02 <= self.interval <= 0.5:
            raise ValueError("interval: 0.02 to 0.5 seconds")

    @property
    def antenna(self) -> int:
        """The number of the only antenna."""
        return next(iter(self.antennas))


@dataclass(frozen=True, slots=True)
class Uid:
    """A card's UID: upper-case hex, most significant byte first."""

    uid: str

    @property
    def tags(self) -> tuple[str, ...]:
        """The one UID."""
        return (self.uid,)


@dataclass(frozen=True, slots=True)
class Status:
    """An answer that is no UID: the status word SW1 SW2 and the data before it."""

    sw: int
    data: bytes = b""


@dataclass(frozen=True, slots=True)
class Atr:
    """A card's answer to reset; `standard` and `card` (NN NN) of storage cards only."""

    raw: bytes
    standard: str | None = None
    card: int | None = None


@dataclass(frozen=True, slots=True)
class Firmware:
    """What the ACR122U answers to FF 00 48 00 00, ended with 90 00 or not: name and version."""

    text: str


Frame = Uid | Status | Atr | Firmware


class Decoder:
    """Whole messages from pcscd in, frames out; what is neither answer nor ATR is counted.

    PC/SC delimits its messages, so there is nothing to gather: each `feed` is one answer or
    one ATR. `errors` counts what was neither.
    """

    def __init__(self, uid_order: Literal["auto", "msb", "lsb"] = "auto") -> None:
        self.errors = 0
        self._order = uid_order

    def feed(self, message: bytes) -> list[Frame]:
        """The frame in an R-APDU or an ATR, or nothing."""
        if firmware := _FIRMWARE.fullmatch(message):
            return [Firmware(firmware[1].decode("ascii"))]
        atr = _atr(message)
        return [atr] if atr else self.answer(message)

    def answer(self, message: bytes) -> list[Frame]:
        """The frame in an R-APDU, also where it could be taken for something else."""
        if not 2 <= len(message) <= _MESSAGE_LIMIT:
            self.errors += 1
            return []
        data, sw = message[:-2], int.from_bytes(message[-2:], "big")
        uid = self._uid(data) if sw in {_OK, _SHORTER_THAN_ASKED} and any(data) else None
        return [Uid(uid) if uid else Status(sw, data)]

    def _uid(self, data: bytes) -> str | None:
        turned = self._order == "lsb" or (self._order == "auto" and _ends_with_a_maker(data))
        return normal(data, lsb_first=turned and len(data) == 8)


def _ends_with_a_maker(uid: bytes) -> bool:
    """Whether an ISO 15693 UID with E0 at both ends has its maker's code only at the far one."""
    both = len(uid) == 8 and uid[0] == uid[-1] == _ISO15693
    return both and uid[1] not in _TAG_MAKERS and uid[-2] in _TAG_MAKERS


def _atr(message: bytes) -> Atr | None:
    """An ATR, if that is what the message is (ISO 7816-3 8.2)."""
    if len(message) < 2 or message[0] not in {0x3B, 0x3F}:
        return None
    count, presence, at, protocols = message[1] & 15, message[1] >> 4, 2, set()
    while presence:
        at += presence.bit_count()
        if not presence & 8:
            break
        if at > len(message):
            return None
        protocols.add(message[at - 1] & 15)
        presence = message[at - 1] >> 4
    checked = bool(protocols - {0})
    if len(message) != at + count + checked or (checked and reduce(xor, message[1:])):
        return None
    history = message[at : at + count]
    if not history.startswith(_STORAGE_CARD) or count < 11:
        return Atr(message)
    standard = _STANDARDS.get(history[8], f"standard {history[8]:02X}")
    return Atr(message, standard, int.from_bytes(history[9:11], "big"))


class _Slot:
    """One reader, from a thread of its own. Calls block for `interval` at most; one at a time."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._decoder = Decoder(settings.uid_order)
        self._lock = threading.Lock()
        self._context: Context | None = None
        self._reader = ""
        self._state = 0
        self._card: tuple[Any, int] | None = None

    def open(self) -> None:
        """Find the reader; ReaderError when that cannot be."""
        with self._lock:
            try:
                context = self._context = Context()
                names = context.readers()
            except RefusalError as refusal:
                raise explain(refusal, self._settings.port) from None
            self._reader = choose(self._settings.port, names, context.usb_path)
            if self._acr122u:
                context.escape(self._reader, (BUZZER_OFF, LEDS_OFF))

    @property
    def _acr122u(self) -> bool:
        return self._settings.quiet and "ACR122" in self._reader

    def look(self) -> Look:
        """The next look, after an event or `interval`; ReaderError when the reader is lost."""
        with self._lock:
            if self._context is None:
                raise ReaderError(f"{self._settings.port}: closed")
            try:
                return self._look(self._context)
            except RefusalError as refusal:
                raise explain(refusal, self._settings.port) from None

    def _look(self, context: Context) -> Look:
        before = self._state
        self._state = context.wait(self._reader, before, self._settings.interval)
        if self._state & GONE:
            raise ReaderError(f"{self._settings.port}: the reader is unplugged")
        if self._state & PRESENT:
            uid = self._uid(context)
            tags = (uid,) if uid else ()
            return self._seen(tags, partial=True, errors=0 if uid else 1)
        self._drop(context)
        passed = before & self._state & EMPTY and before != self._state
        return self._seen((), partial=not self._state & EMPTY, errors=1 if passed else 0)

    def _seen(self, tags: tuple[str, ...], *, partial: bool, errors: int) -> Look:
        return Look(self._settings.name, self._settings.antenna, tags, partial, errors)

    def _uid(self, context: Context) -> str | None:
        """The UID of the card that is present, selected anew if need be; None if it is unheard."""
        for _ in range(2):
            try:
                answer = self._ask(context)
            except RefusalError as refusal:
                if refusal.code not in CARD_TROUBLE:
                    raise
                answer = None
            if isinstance(answer, Uid):
                return answer.uid
            self._drop(context)
        return None

    def _ask(self, context: Context) -> Frame | None:
        if self._card is None:
            self._card = context.connect(self._reader)
            if self._acr122u:
                for command in (BUZZER_OFF, LEDS_OFF):
                    context.transmit(self._card, command)
        answer = self._decoder.answer(context.transmit(self._card, GET_UID))
        if answer and isinstance(answer[0], Status) and answer[0].sw >> 8 == 0x6C:
            again = GET_UID[:4] + bytes([answer[0].sw & 0xFF])
            answer = self._decoder.answer(context.transmit(self._card, again))
        return answer[0] if answer else None

    def _drop(self, context: Context) -> None:
        if self._card is not None:
            context.disconnect(self._card)
            self._card = None

    def stop(self) -> None:
        """End a wait at once and give everything back."""
        if self._context is not None:
            self._context.cancel()
        with self._lock:
            if self._context is not None:
                self._drop(self._context)
                self._context.close()
                self._context = None


_stuck: dict[str, Future[Any]] = {}
"""By reader, a call that pcscd has not come back from; threads cannot be ended from outside."""


async def read(settings: Settings) -> AsyncGenerator[Look, None]:
    """Looks of the reader's slot, at each event and at least every `interval` seconds.

    A look with a tag is partial, since a reader hears one card; so is one at which a card was
    there but not heard. Cards that came and went between two looks count as `errors`.
    ReaderError when pyscard or pcscd is missing, access refused, the reader busy or gone, or
    pcscd hangs.
    """
    slot = _Slot(settings)
    threads = ThreadPoolExecutor(2, thread_name_prefix=f"pcsc {settings.name}")
    try:
        await _call(threads, slot.open, settings)
        while True:
            yield await _call(threads, slot.look, settings)
    finally:
        threads.submit(slot.stop)
        threads.shutdown(wait=False)


async def _call(threads: ThreadPoolExecutor, step: Callable[[], T], settings: Settings) -> T:
    """The step, in a thread; ReaderError when pcscd does not come back from it."""
    earlier = _stuck.get(settings.name)
    if earlier is None or earlier.done():
        call = threads.submit(step)
        with suppress(TimeoutError):
            async with asyncio.timeout(_PATIENCE):
                return await asyncio.wrap_future(call)
        _stuck[settings.name] = call
    raise ReaderError(f"{settings.port}: pcscd does not answer")
