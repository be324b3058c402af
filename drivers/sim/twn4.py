r"""An emulated Elatec TWN4 with the Simple Protocol firmware.

Written from Elatec's "TWN4 Simple Protocol" DocRev17: answers only when asked, hex lines or
binary messages, with or without CRC. A tag that was heard keeps quiet until the field was off.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from drivers.sim.field import Field
    from drivers.sim.wire import Said

_VERSION = b"TWN4/B1.03/CCF1.57/PRS1.03/PI"
_KIND = {8: 0x80, 14: 0x80, 20: 0x80, 16: 0x82, 10: 0x40}


@dataclass(slots=True)
class Twn4:
    """A reader with one antenna, in the mode that its firmware was set to.

    Cards of ten hex digits are EM4102, of sixteen ISO 15693, all others ISO 14443A.
    """

    air: Field
    antenna: int = 1
    binary: bool = False
    crc: bool = False
    period: None = None
    _input: bytearray = field(default_factory=bytearray)
    _quiet: set[str] = field(default_factory=set)
    _types: set[int] = field(default_factory=lambda: {0x40, 0x80, 0x82})

    def restart(self) -> None:
        """Power-up: all types, no tag quiet."""
        self._input.clear()
        self._quiet.clear()
        self._types = {0x40, 0x80, 0x82}

    def speak(self) -> list[bytes]:
        """Nothing; the reader never talks first."""
        return []

    def hear(self, data: bytes) -> list[Said]:
        """Host bytes in, answers out."""
        self._input += data
        out: list[Said] = []
        while (message := self._cut()) is not None:
            out.append((0.0, self._pack(self._checked(message))))
        return out

    def _cut(self) -> bytes | None:
        box = self._input
        if self.binary:
            if len(box) < 2 or len(box) < 2 + (box[0] | box[1] << 8):
                return None
            end = 2 + (box[0] | box[1] << 8)
            message = bytes(box[2:end])
            del box[:end]
            return message
        end = box.find(b"\r")
        if end < 0:
            return None
        line = bytes(box[:end])
        del box[: end + 1]
        try:
            return bytes.fromhex(line.decode("ascii"))
        except ValueError:
            return b""

    def _checked(self, message: bytes) -> bytes:
        if self.crc:
            if len(message) < 4 or _crc(message):
                return b"\x05"
            message = message[:-2]
        return self._obey(message[:2], message[2:])

    def _pack(self, answer: bytes) -> bytes:
        if self.crc:
            answer += _crc(answer).to_bytes(2, "little")
        if self.binary:
            return len(answer).to_bytes(2, "little") + answer
        return answer.hex().upper().encode() + b"\r"

    def _obey(self, function: bytes, rest: bytes) -> bytes:
        match function:
            case b"\x00\x04":
                return b"\x00" + bytes((len(_VERSION),)) + _VERSION
            case b"\x05\x01":
                self._quiet.clear()
                return b"\x00"
            case b"\x05\x02":
                return self._choose(rest)
            case b"\x05\x00" if len(rest) == 1:
                return b"\x00" + self._search()
            case b"\x12\x08" if len(rest) == 1:
                return b"\x00" + self._list(rest[0])
            case _:
                return b"\x01" if len(function) == 2 else b"\x05"

    def _choose(self, masks: bytes) -> bytes:
        if len(masks) < 8:
            return b"\x02"
        low, high = (int.from_bytes(masks[at : at + 4], "little") for at in (0, 4))
        self._types = {0x40 + bit for bit in range(32) if low >> bit & 1}
        self._types |= {0x80 + bit for bit in range(32) if high >> bit & 1}
        return b"\x00"

    def _hearing(self) -> list[str]:
        heard = self.air.heard(self.antenna)
        fresh = (uid for uid in heard if uid not in self._quiet)
        return [uid for uid in fresh if _KIND.get(len(uid)) in self._types]

    def _search(self) -> bytes:
        for uid in self._hearing()[:1]:
            self._quiet.add(uid)
            kind, raw = _KIND[len(uid)], bytes.fromhex(uid)
            raw = raw[::-1] if kind == 0x82 else raw
            return bytes((1, kind, 8 * len(raw), len(raw))) + raw
        return b"\x00"

    def _list(self, room: int) -> bytes:
        body, count = b"", 0
        for uid in self._hearing():
            raw = bytes.fromhex(uid)
            if _KIND[len(uid)] == 0x80 and len(body) + 1 + len(raw) <= room:
                self._quiet.add(uid)
                body += bytes((len(raw),)) + raw
                count += 1
        return bytes((1, count, len(body))) + body if count else b"\x00"


def _crc(data: bytes) -> int:
    crc = 0xFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ 0x8408 if crc & 1 else crc >> 1
    return crc
