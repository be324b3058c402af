"""An emulated RDM6300, or one of the ID-12LA family.

Written from the frame that arduino12/rdm6300 and python-rdm6300 read: the RDM6300 repeats it
about every 65 ms, an ID module sends it once per arrival; two cards at once give garbage.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from drivers.sim.field import Field
    from drivers.sim.wire import Said


@dataclass(slots=True)
class Rdm6300:
    """One module and its coil; cards are EM4100 identifiers of ten hex digits."""

    air: Field
    antenna: int = 1
    once: bool = False
    period: float | None = 0.065
    _there: set[str] = field(default_factory=set)

    def restart(self) -> None:
        """Power-up."""
        self._there.clear()

    def hear(self, data: bytes) -> list[Said]:
        """Nothing; the module only talks."""
        del data
        return []

    def speak(self) -> list[bytes]:
        """The frame of the card that rests there, if it is to be told now."""
        cards = [uid for uid in self.air.heard(self.antenna) if len(uid) == 10]
        fresh = set(cards) - self._there
        self._there = set(cards)
        if len(cards) > 1:
            mixed = bytes(
                a | b for a, b in zip(*(self._frame(uid) for uid in cards[:2]), strict=True)
            )
            return [mixed[:9]]
        told = [uid for uid in cards if uid in fresh or not self.once]
        return [self._frame(uid) for uid in told]

    def _frame(self, uid: str) -> bytes:
        check = 0
        for byte in bytes.fromhex(uid):
            check ^= byte
        tail = b"\r\n\x03" if self.once else b"\x03"
        return b"\x02" + uid.encode("ascii") + f"{check:02X}".encode() + tail
