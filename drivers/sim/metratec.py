r"""An emulated metraTec reader with ASCII firmware, generation 1.

Written from the commands and answers of metraTec's "ISO 15693 Protocol Guide" as its own
software kit uses them: every line ends in \r, complete answers also in \n once EOF was sent;
nothing is heard before SRI; BRK stops a stream; a restart is told with SRT.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from drivers.sim.field import Field
    from drivers.sim.wire import Said

_MODES = {"156": {16}, "14A": {8, 14, 20}, "14B": {8}}
_PLAIN = {
    "SRI OFF": "OK!",
    "REV": "DESKID_ISO     01000218",
    "WAK": "DNS",
    "COF 4F5E": "OK!",
}


@dataclass(slots=True)
class Metratec:
    """A reader with `ports` antennas; 1 has no multiplexer and answers NOS to SAP.

    `asleep` readers answer nothing but WAK. `period` is the time from inventory to inventory
    while streaming, in seconds.
    """

    air: Field
    ports: int = 16
    asleep: bool = False
    period: float | None = 0.02
    _input: bytearray = field(default_factory=bytearray)
    _sleeping: bool = False
    _framed: bool = False
    _on: bool = False
    _report: bool = False
    _streaming: bool = False
    _mode: str = "156"
    _antenna: int = 1
    _round: int = 0
    _unasked: list[str] = field(default_factory=list)

    def restart(self) -> None:
        """Power-up: everything the host set is gone."""
        self._input.clear()
        self._sleeping = self.asleep
        self._framed = self._on = self._report = self._streaming = False
        self._mode, self._antenna, self._round = "156", 1, 0
        self._unasked.clear()

    def brown_out(self) -> None:
        """Restart by itself, and say so."""
        self.restart()
        self._unasked.append("SRT")

    def lose_registers(self) -> None:
        """The field goes off; the reader says so."""
        self._on = False
        self._unasked.append("RNW")

    def speak(self) -> list[bytes]:
        """What was to be said unasked, and the next inventory of a stream."""
        out = [self._message([text]) for text in self._unasked]
        self._unasked.clear()
        if self._streaming:
            out.append(self._message(self._inventory()))
        return out

    def hear(self, data: bytes) -> list[Said]:
        """Host bytes in, answers out."""
        *lines, rest = bytes(self._input + data).split(b"\r")
        self._input = bytearray(rest[-256:])
        out: list[Said] = []
        for line in lines:
            answer = self._obey(line.decode("ascii", "replace").strip())
            if answer:
                out.append((0.0, self._message(answer)))
        return out

    def _message(self, lines: list[str]) -> bytes:
        text = "".join(line + "\r" for line in lines)
        return (text + "\n" if self._framed else text).encode("ascii")

    def _obey(self, command: str) -> list[str]:
        if self._sleeping:
            if command != "WAK":
                return []
            self._sleeping = False
            return ["GMO"]
        if command == "BRK":
            was, self._streaming = self._streaming, False
            return ["BRA" if was else "NCM"]
        if self._streaming:
            return []
        if command == "EOF":
            self._framed = True
            return ["OK!"]
        if command in _PLAIN:
            return [_PLAIN[command]]
        return self._work(command.split())

    def _work(self, words: list[str]) -> list[str]:
        match words:
            case ["SRI", "SS", "100"]:
                self._on = True
            case ["MOD", mode] if mode in _MODES:
                self._mode = mode
            case ["SET", "PWR", power] if power.isdigit():
                return ["OK!"] if 100 <= int(power) <= 4000 else ["UPA"]
            case ["INV"]:
                return self._inventory()
            case ["CNR", "INV"]:
                self._streaming = True
                return []
            case ["SAP", *rest]:
                return [self._select(rest)]
            case _:
                return ["UCO"]
        return ["OK!"]

    def _select(self, words: list[str]) -> str:
        if self.ports == 1:
            return "NOS"
        match words:
            case ["MAN", number] if number.isdigit() and 1 <= int(number) <= self.ports:
                self._antenna, self._round = int(number), 0
            case ["AUT", count, _] if count.isdigit() and 1 <= int(count) <= self.ports:
                self._round = int(count)
            case ["ARP", "ON"]:
                self._report = True
            case _:
                return "UPA"
        return "OK!"

    def _inventory(self) -> list[str]:
        if self._round:
            self._antenna = self._antenna % self._round + 1
        heard = self.air.heard(self._antenna) if self._on else []
        uids = [uid for uid in heard if len(uid) in _MODES[self._mode]]
        report = [f"ARP {self._antenna:02d}"] if self._report else []
        return [*uids, *report, f"IVF {len(uids):02d}"]
