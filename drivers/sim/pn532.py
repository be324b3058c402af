"""An emulated PN532 on its high speed UART.

Written from NXP UM0701-02 rev 02 and the behaviour that libnfc and nfcpy work around: the chip
sleeps until a wake-up and SAMConfiguration, waits for ever on an empty antenna unless told
how often to try, lists two targets at most, and does not hear a listed card again before the
field was off.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from drivers.sim.field import Field
    from drivers.sim.wire import Said

_ACK = bytes.fromhex("0000FF00FF00")
_SYNTAX = bytes.fromhex("0000FF01FF7F8100")


@dataclass(slots=True)
class PN532:
    """One chip and the antenna it is wired to.

    Cards whose UID is in `iso_dep` show an ATS, as phones and bank cards do.
    """

    air: Field
    antenna: int = 1
    iso_dep: set[str] = field(default_factory=set)
    period: None = None
    _input: bytearray = field(default_factory=bytearray)
    _awake: bool = False
    _ready: bool = False
    _retries: int = 0xFF
    _active: set[str] = field(default_factory=set)
    _waiting: bool = False

    def restart(self) -> None:
        """Power-up: asleep, endless retries, nothing activated."""
        self._input.clear()
        self._awake = self._ready = self._waiting = False
        self._retries = 0xFF
        self._active.clear()

    def speak(self) -> list[bytes]:
        """Nothing; the chip never talks first."""
        return []

    def hear(self, data: bytes) -> list[Said]:
        """Host bytes in; acknowledgements and answers out."""
        self._input += data
        if b"\x55\x55" in self._input or bytes(10) in self._input:
            self._awake = True
        out: list[Said] = []
        while (command := self._cut()) is not None:
            if command and self._awake:
                out += [(0.0, message) for message in self._obey(command)]
        return out

    def _cut(self) -> bytes | None:
        """The next command; empty for a frame to ignore; None when none is complete."""
        box = self._input
        start = box.find(b"\x00\xff")
        if start < 0:
            del box[:-1]
            return None
        if len(box) < start + 4:
            return None
        size = box[start + 2]
        if (size + box[start + 3]) & 0xFF:
            del box[: start + 4]
            self._waiting = False
            return b""
        if size == 0:
            del box[: start + 2]
            return b""
        if len(box) < start + 5 + size:
            return None
        body = bytes(box[start + 4 : start + 5 + size])
        del box[: start + 5 + size]
        return body[1:-1] if sum(body) & 0xFF == 0 and body[0] == 0xD4 else b""

    def _obey(self, command: bytes) -> list[bytes]:
        code, rest = command[0], command[1:]
        if code == 0x14:
            self._ready = True
        if not self._ready:
            return []
        answer = self._answer(code, rest)
        if answer is None:
            return [_ACK, _SYNTAX]
        if code == 0x4A and answer == b"\x00" and self._retries == 0xFF:
            return [_ACK]
        return [_ACK, _frame(bytes((0xD5, code + 1)) + answer)]

    def _answer(self, code: int, rest: bytes) -> bytes | None:
        if code == 0x02:
            return b"\x32\x01\x06\x07"
        if code == 0x14:
            return b""
        if code == 0x32 and rest:
            return self._configure(rest)
        if code == 0x4A and len(rest) >= 2 and rest[1] == 0:
            return self._list(rest[0])
        if code == 0x52:
            return b"\x00"
        return None

    def _configure(self, rest: bytes) -> bytes:
        if rest[0] == 0x01 and rest[1:2] == b"\x00":
            self._active.clear()
        if rest[0] == 0x05 and len(rest) >= 4:
            self._retries = rest[3]
        return b""

    def _list(self, most: int) -> bytes:
        hearing = [uid for uid in self.air.heard(self.antenna) if len(uid) in {8, 14, 20}]
        fresh = [uid for uid in hearing if uid not in self._active][: min(most, 2)]
        self._active.update(fresh)
        targets = b"".join(self._target(number, uid) for number, uid in enumerate(fresh, 1))
        return bytes((len(fresh),)) + targets

    def _target(self, number: int, uid: str) -> bytes:
        raw = bytes.fromhex(uid)
        atqa = {4: b"\x00\x04", 7: b"\x00\x44", 10: b"\x00\x84"}[len(raw)]
        chatty = uid in self.iso_dep
        head = bytes((number,)) + atqa + (b"\x20" if chatty else b"\x00") + bytes((len(raw),))
        return head + raw + (bytes.fromhex("067577810280") if chatty else b"")


def _frame(body: bytes) -> bytes:
    size = len(body)
    return b"\x00\x00\xff" + bytes((size, -size & 0xFF)) + body + bytes((-sum(body) & 0xFF, 0))
