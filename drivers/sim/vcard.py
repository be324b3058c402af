"""A contactless card for vsmartcard's `vpcd`, the virtual reader of a real pcscd.

`vpcd` waits for a TCP connection: an open one is a card in the slot, a closed one an
empty slot. Both ways run a big-endian length of two bytes and that many bytes:

    00 01 | 00              power off, no answer
    00 01 | 01              power on, no answer
    00 01 | 02              reset, no answer
    00 01 | 04              the ATR is asked for (also every 400 ms: is the card there?)
    LL LL | C-APDU          answered by LL LL | R-APDU

The card knows what PC/SC part 3 asks of storage cards: GET DATA (FF CA) for its UID and,
refused, for its ATS, and READ BINARY (FF B0); the ACS pseudo-APDUs (FF 00) succeed.

Sources: the wire as observed between pcscd 1.9.9 and vpcd 3.3; PC/SC part 3 v2.01,
3.1.3.2.3 (ATR) and 3.2.2.1 (commands).
"""

from __future__ import annotations

import asyncio
import contextlib
import socket
from dataclasses import dataclass, field

PORT = 35963
"""Where vpcd listens for its first slot; the second is one higher."""

_POWER_OFF, _POWER_ON, _RESET, _GET_ATR = (bytes([code]) for code in (0, 1, 2, 4))
_OK = b"\x90\x00"
_WRONG_LENGTH = b"\x67\x00"
_NO_SUCH_FUNCTION = b"\x6a\x81"
_UNKNOWN_CLASS = b"\x6e\x00"


def storage_atr(standard: int = 0x03, card: int = 0x0003) -> bytes:
    """The ATR of a contactless storage card; by default ISO 14443 A-3, Ultralight or NTAG."""
    head = bytes.fromhex("8F8001804F0CA000000306") + bytes([standard])
    body = head + card.to_bytes(2, "big") + bytes(4)
    check = 0
    for byte in body:
        check ^= byte
    return b"\x3b" + body + bytes([check])


ICODE = storage_atr(0x0B, 0x0014)
"""The ATR of an ISO 15693 card, NXP ICODE SLI."""


@dataclass(slots=True)
class VirtualCard:
    """A card with a UID as the reader sends it; `insert` and `remove` move it.

    `uid` may be changed while the card rests: a swap too fast for any event. A `faults`
    entry, a status word or empty bytes for an answer of no length, replaces the answer to
    the next command; `delay` seconds pass before each answer. `heard` keeps the commands.
    """

    uid: bytes
    atr: bytes = field(default_factory=storage_atr)
    delay: float = 0.0
    faults: list[bytes] = field(default_factory=list)
    heard: list[bytes] = field(default_factory=list)
    _task: asyncio.Task[None] | None = None

    async def insert(self, port: int = PORT, host: str = "127.0.0.1") -> None:
        """Lay the card on the reader behind `port`; OSError when nothing listens there."""
        reader, writer = await asyncio.open_connection(host, port)
        self._task = asyncio.create_task(self._serve(reader, writer), name=f"card at {port}")

    async def remove(self) -> None:
        """Take the card away; nothing happens when it is not there."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.wait([self._task])
            self._task = None

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        wire: socket.socket = writer.get_extra_info("socket")
        try:
            while True:
                # vpcd writes length and payload apart; a delayed ACK costs 40 ms a command
                wire.setsockopt(socket.IPPROTO_TCP, socket.TCP_QUICKACK, 1)
                size = int.from_bytes(await reader.readexactly(2), "big")
                wire.setsockopt(socket.IPPROTO_TCP, socket.TCP_QUICKACK, 1)
                answer = await self._answer(await reader.readexactly(size))
                if answer is not None:
                    writer.write(len(answer).to_bytes(2, "big") + answer)
        except (asyncio.IncompleteReadError, ConnectionError):
            return
        finally:
            writer.close()
            with contextlib.suppress(ConnectionError):
                await writer.wait_closed()

    async def _answer(self, payload: bytes) -> bytes | None:
        if payload == _GET_ATR:
            return self.atr
        if payload in {_POWER_OFF, _POWER_ON, _RESET}:
            return None
        self.heard.append(payload)
        if self.delay:
            await asyncio.sleep(self.delay)
        return self.faults.pop(0) if self.faults else self.answer(payload)

    def answer(self, command: bytes) -> bytes:
        """The R-APDU to a C-APDU, as a storage card behind a reader gives it."""
        if len(command) < 5:
            return _WRONG_LENGTH
        match command[:4]:
            case b"\xff\xca\x00\x00":
                return self._uid(command[4])
            case [0xFF, 0xB0, _, _]:
                return bytes(range(0x10, 0x10 + command[4] % 0xF0)) + _OK
            case [0xFF, 0x00, _, _]:
                return _OK
            case [0xFF, _, _, _]:
                return _NO_SUCH_FUNCTION
        return _UNKNOWN_CLASS

    def _uid(self, wanted: int) -> bytes:
        if wanted in {0, len(self.uid)}:
            return self.uid + _OK
        return bytes([0x6C, len(self.uid)])
