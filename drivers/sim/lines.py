"""Emulated pods that print lines: one UID a line while a tag rests, or JSON looks."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from drivers.sim.field import Field
    from drivers.sim.wire import Said


@dataclass(slots=True)
class Pod:
    """A microcontroller that scans its antennas once per `period` seconds and prints.

    `form` is a format with {antenna} and {uid} for one line a tag, or None for JSON looks.
    """

    air: Field
    antennas: tuple[int, ...] = (1,)
    period: float | None = 0.1
    form: str | None = "{uid}"
    end: str = "\r\n"
    _seq: int = 0

    def restart(self) -> None:
        """Power-up: the sequence starts over."""
        self._seq = 0

    def hear(self, data: bytes) -> list[Said]:
        """Nothing; pods only talk."""
        del data
        return []

    def speak(self) -> list[bytes]:
        """The lines of one scan."""
        return [
            (line + self.end).encode("ascii")
            for antenna in self.antennas
            for line in self._scan(antenna)
        ]

    def _scan(self, antenna: int) -> list[str]:
        heard = self.air.heard(antenna)
        if self.form is not None:
            return [self.form.format(antenna=antenna, uid=uid) for uid in heard]
        self._seq += 1
        look = {"v": 1, "ant": antenna, "uids": heard, "seq": self._seq}
        return [json.dumps(look, separators=(",", ":"))]
