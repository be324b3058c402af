"""An emulated FEIG OBID i-scan reader with its antenna multiplexers.

Written from the FEIG manuals H60301-3e-ID-B, H40801-5e and H30701-3e: it hears nothing that
has a wrong CRC or another's address, keeps heard tags quiet until their field was off, and
pages an inventory that does not fit one answer. The data sets of ISO 14443A tags (TR-TYPE 04)
are those of the FEIG FEDM SDK.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from random import Random
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from drivers.sim.field import Field
    from drivers.sim.wire import Said

_RESET_TIME = 0.015
_SLOT_TIME = 0.004
_SLOTS = 16
_SET_HEADS = {16: "0300", 14: "040001"}
"""What a data set begins with, by the length of the UID in hex: ISO 15693, ISO 14443A."""


@dataclass(slots=True)
class Feig:
    """A reader whose antennas 1-24 hang on up to three multiplexers.

    Without multiplexers (`muxes` 0) it has the antenna `connector`. `page` is how many tags one
    answer holds. `rf_error` is the chance, 0 to 1, that an inventory ends with status 83.
    `ont` off resets the field before every inventory. `real_time` takes as long as a real
    reader for the air interface.
    """

    air: Field
    address: int = 0
    muxes: int = 3
    connector: int = 1
    page: int = 16
    ont: bool = True
    rf_error: float = 0.0
    real_time: bool = False
    busy_mode: bool = False
    seed: int = 1
    period: None = None
    _input: bytearray = field(default_factory=bytearray)
    _channels: dict[int, int] = field(default_factory=dict)
    _quiet: set[str] = field(default_factory=set)
    _rest: list[str] = field(default_factory=list)
    _random: Random = field(init=False)

    def __post_init__(self) -> None:
        """Start the dice."""
        self._random = Random(self.seed)  # noqa: S311 - chance, no secret

    def restart(self) -> None:
        """Power-up: multiplexers off, no tag quiet."""
        self._input.clear()
        self._channels.clear()
        self._quiet.clear()
        self._rest.clear()

    def speak(self) -> list[bytes]:
        """Nothing; the reader never talks first."""
        return []

    def hear(self, data: bytes) -> list[Said]:
        """Host bytes in, answers out."""
        self._input += data
        out: list[Said] = []
        while (request := self._cut()) is not None:
            advanced, body = request
            if body and body[0] in {255, self.address}:
                out += self._obey(body[1], body[2:], advanced=advanced)
        return out

    def _cut(self) -> tuple[bool, bytes] | None:
        box = self._input
        advanced = box[:1] == b"\x02"
        head = 3 if advanced else 1
        if len(box) < head:
            return None
        length = box[1] << 8 | box[2] if advanced else box[0]
        if length < head + 4 or length > 1024:
            box.clear()
            return None
        if len(box) < length:
            return None
        frame = bytes(box[:length])
        del box[:length]
        if _crc(frame):
            box.clear()
            return None
        return advanced, frame[head:-2]

    def _obey(self, command: int, data: bytes, *, advanced: bool) -> list[Said]:
        if command == 0xBF:
            return [(0.0, self._function_unit(data))]
        took, status, answer = self._answer(command, data)
        body = bytes((self.address, command, status)) + answer
        return [(took if self.real_time else 0.0, _frame(body, advanced=advanced))]

    def _answer(self, command: int, data: bytes) -> tuple[float, int, bytes]:
        if command == 0x52:
            return 0.0, 0x00, b""
        if command == 0x65:
            return 0.0, 0x00, bytes.fromhex("021000004D0008")
        if command == 0x69:
            self._quiet.clear()
            return _RESET_TIME, 0x00, b""
        if command == 0x6A:
            return (0.0, *self._switch(data))
        if command == 0xB0 and data[:1] == b"\x01" and len(data) >= 2:
            return self._inventory(more=bool(data[1] & 0x80))
        return 0.0, 0x80, b""

    def _switch(self, data: bytes) -> tuple[int, bytes]:
        if len(data) != 1:
            return 0x81, b""
        if data[0] in {0, 1}:
            self._quiet.clear()
        elif 0x80 <= data[0] <= 0x84:
            if self.connector != data[0] - 0x80:
                self._quiet.clear()
            self.connector = data[0] - 0x80
        else:
            return 0x11, b""
        return 0x00, b""

    def _function_unit(self, data: bytes) -> bytes:
        if data[:8] != bytes.fromhex("010020021F02DDFE") or len(data) != 11:
            return b"\x00\x81"
        mux, one, two = data[8:]
        if not 1 <= mux <= self.muxes:
            return b"\x00\x20"
        if one > 8 or two > 8 or (one and one == two):
            return b"\x00\x11"
        if self._channels.get(mux, 0) != one:
            self._quiet.clear()
        self._channels[mux] = one
        return b"\x00\x00"

    def _powered(self) -> list[int]:
        if not self.muxes:
            return [self.connector]
        return [(mux - 1) * 8 + channel for mux, channel in self._channels.items() if channel]

    def _inventory(self, *, more: bool) -> tuple[float, int, bytes]:
        if self.busy_mode:
            return 0.0, 0x82, b""
        if not more:
            if not self.ont:
                self._quiet.clear()
            heard = (uid for antenna in self._powered() for uid in self.air.heard(antenna))
            self._rest = [uid for uid in heard if len(uid) in _SET_HEADS and uid not in self._quiet]
        batch, self._rest = self._rest[: self.page], self._rest[self.page :]
        self._quiet.update(batch)
        took = _SLOT_TIME * (_SLOTS + len(batch))
        if not batch:
            return took, 0x01, b""
        sets = b"".join(map(_data_set, batch))
        failed = self._random.random() < self.rf_error
        status = 0x83 if failed else 0x94 if self._rest else 0x00
        return took, status, bytes((len(batch),)) + sets


def _data_set(uid: str) -> bytes:
    """One tag of an inventory; the UID of an ISO 14443A tag is sent last byte first."""
    head, raw = bytes.fromhex(_SET_HEADS[len(uid)]), bytes.fromhex(uid)
    return head + (raw if head[0] == 0x03 else raw[::-1])


def _frame(body: bytes, *, advanced: bool) -> bytes:
    if advanced or len(body) + 3 > 255:
        size = len(body) + 5
        frame = bytes((2, size >> 8, size & 0xFF)) + body
    else:
        frame = bytes((len(body) + 3,)) + body
    return frame + _crc(frame).to_bytes(2, "little")


def _crc(data: bytes) -> int:
    crc = 0xFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ 0x8408 if crc & 1 else crc >> 1
    return crc
