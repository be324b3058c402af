"""Which antenna lies under which zone: one card is walked over them, and each is named."""

from __future__ import annotations

import re
from collections import deque
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from daemon.errors import FeltdError

if TYPE_CHECKING:
    from drivers import Look

Place = tuple[str, int]
"""A reader's name and the number of one of its antennas."""

_WINDOW: Final = 6
_ZONE: Final = re.compile(r"seat:([1-9]|10)(:up)?|board|muck|shoe|burn")
_SHORT: Final = re.compile(r"([1-9]|10)(up)?")


def zone_of(text: str) -> str:
    """The zone that is typed; `3` and `3up` are short for `seat:3` and `seat:3:up`.

    FeltdError when it is none.
    """
    short = _SHORT.fullmatch(text)
    zone = f"seat:{short[1]}{':up' if short[2] else ''}" if short else text
    if not _ZONE.fullmatch(zone):
        raise FeltdError(f'"{text}" is no zone; seat:3 or 3, seat:3:up, board, muck, shoe, burn')
    return zone


@dataclass(slots=True)
class TeachIn:
    """The antennas of all readers and the zones given so far."""

    places: tuple[Place, ...]
    zones: dict[Place, str] = field(default_factory=dict)
    _heard: dict[Place, deque[bool]] = field(default_factory=dict)

    def hear(self, look: Look) -> None:
        """Take a look; an antenna is lit while it hears any card in most of its looks."""
        place = look.reader, look.antenna
        self._heard.setdefault(place, deque(maxlen=_WINDOW)).append(bool(look.tags))

    @property
    def lit(self) -> list[Place]:
        """The antennas that hear the card now, the one that hears it best first."""
        scores = {place: sum(looks) / _WINDOW for place, looks in self._heard.items()}
        lit = [place for place, score in scores.items() if score >= 0.5 and self._heard[place][-1]]
        return sorted(lit, key=lambda place: (-scores[place], place))

    @property
    def unnamed(self) -> list[Place]:
        """The antennas without a zone."""
        return [place for place in self.places if place not in self.zones]

    def name(self, text: str) -> tuple[Place, str]:
        """The best lit antenna lies under this zone. FeltdError when that cannot be."""
        zone = zone_of(text)
        if not self.lit:
            raise FeltdError("no antenna hears the card")
        place = self.lit[0]
        if len(self.lit) > 1 and self._ties(place, self.lit[1]):
            raise FeltdError(
                f"{told(place)} and {told(self.lit[1])} hear it equally; move the card"
            )
        taken = next((other for other, given in self.zones.items() if given == zone), None)
        if zone.startswith("seat") and taken not in {None, place}:
            raise FeltdError(f"{zone} was given to {told(taken or place)} already")
        self.zones[place] = zone
        return place, zone

    def _ties(self, one: Place, other: Place) -> bool:
        return sum(self._heard[one]) == sum(self._heard[other])

    def tables(self) -> dict[str, dict[int, str]]:
        """The `antennas` table of each reader."""
        tables: dict[str, dict[int, str]] = {}
        for reader, antenna in sorted(self.zones):
            tables.setdefault(reader, {})[antenna] = self.zones[reader, antenna]
        return tables


def told(place: Place) -> str:
    """An antenna for people."""
    return f"{place[0]}/{place[1]}"
