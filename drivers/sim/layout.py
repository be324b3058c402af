"""Which antennas the simulated table has, and the configuration that says so."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from drivers.sim.deck import Air

Rail = Literal["feig", "pn532"]
Shoe = Literal["pcsc", "pn532"]
STUD_SEATS = 8


@dataclass(frozen=True, slots=True)
class Antenna:
    """One antenna: what it is called, the zone it serves, and how many tags it can hear.

    `part` is its place among the `parts` antennas of the zone.
    """

    reader: str
    number: int
    zone: str
    limit: int | None = None
    part: int = 0
    parts: int = 1

    def covers(self, spot: int) -> bool:
        """Whether the card at this place of the board (0-4) lies on this antenna."""
        return self.parts == 1 or spot < 0 or spot * self.parts // 5 == self.part


@dataclass(frozen=True)
class Layout:
    """A table and its antennas.

    `up`: antennas of their own for the up cards of stud. `board`: how many antennas the board has.
    `rail`: one long-range reader for the whole rail, or a two-tag reader for each antenna.
    `shoe_driver`: what reads the shoe, if there is a `shoe`; a PN532 wants ISO 14443A decks.
    """

    discipline: str = "holdem"
    seats: int = 9
    antennas: bool = True
    up: bool = False
    board: int = 1
    muck: bool = True
    shoe: bool = False
    burn: bool = False
    rail: Rail = "feig"
    shoe_driver: Shoe = "pcsc"
    unattended: str = "all"

    @property
    def air(self) -> Air:
        """What the rail's readers and the shoe's can hear."""
        limited = self.rail == "pn532" or (self.shoe and self.shoe_driver == "pn532")
        return "iso14443a" if limited else "iso15693"

    def zones(self) -> tuple[str, ...]:
        """The zones with antennas on the rail, in the order in which they are polled."""
        seats = range(1, self.seats + 1) if self.antennas else ()
        zones = [f"seat:{seat}" for seat in seats]
        if self.up:
            zones += [f"seat:{seat}:up" for seat in seats if seat <= STUD_SEATS]
        zones += ["board"] * self.board
        zones += ["muck"] * self.muck + ["burn"] * self.burn
        return tuple(zones)

    def rail_antennas(self) -> tuple[Antenna, ...]:
        """Every antenna but the shoe's; a muck antenna hears two tags whatever reads it."""
        found = []
        part = 0
        for number, zone in enumerate(self.zones(), 1):
            alone = self.rail == "pn532"
            reader, antenna = (zone.replace(":", "-"), 1) if alone else ("rail", number)
            if zone == "board" and alone:
                reader = f"board-{part + 1}"
            limit = 2 if alone or zone == "muck" else None
            parts = self.board if zone == "board" else 1
            found.append(Antenna(reader, antenna, zone, limit, part if parts > 1 else 0, parts))
            part += zone == "board"
        return tuple(found)

    def under(self, zone: str, spot: int = 0) -> tuple[Antenna, ...]:
        """The antennas that hear a card of this zone; real readers get their tags by it."""
        shoe = self.shoe_antenna()
        every = (*self.rail_antennas(), *([shoe] if shoe else ()))
        return tuple(each for each in every if each.zone == zone and each.covers(spot))

    def shoe_antenna(self) -> Antenna | None:
        """The reader in the shoe, which hears one card at a time."""
        return Antenna("shoe", 1, "shoe", 1) if self.shoe else None

    def config(self, table: str = "sim") -> str:
        """The table's configuration as TOML, decks beside it in `decks/`."""
        readers: dict[str, list[Antenna]] = {}
        for antenna in self.rail_antennas():
            readers.setdefault(antenna.reader, []).append(antenna)
        blocks = [_reader(name, self.rail, them) for name, them in readers.items()]
        shoe = self.shoe_antenna()
        if shoe:
            blocks.append(_reader("shoe", self.shoe_driver, [shoe]))
        return (
            f'[table]\nid = "{table}"\ndiscipline = "{self.discipline}"\nseats = {self.seats}\n\n'
            '[mqtt]\nurl = "mqtt://127.0.0.1:1883"\n\n'
            + "".join(blocks)
            + '[decks]\ndir = "decks"\n\n'
            + f'[secrecy]\nunattended = "{self.unattended}"\n\n'
            + '[state]\ndir = "state"\n'
        )


def _reader(name: str, driver: str, antennas: list[Antenna]) -> str:
    zones = ", ".join(f'{each.number} = "{each.zone}"' for each in antennas)
    port = f"/dev/serial/by-id/simulated-{name}" if driver != "pcsc" else f"Simulated {name}"
    return (
        f'[[readers]]\nname = "{name}"\ndriver = "{driver}"\nport = "{port}"\n'
        f"antennas = {{ {zones} }}\n\n"
    )
