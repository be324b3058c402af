"""What the core has to know of one table: its zones, its decks, its rules, its secrecy."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

from daemon.rules.profile import Profile


@dataclass(frozen=True)
class Setup:
    """One table as configured.

    `zones` maps `reader/antenna` to a zone, `cards` a tag's UID to its deck and face.
    `unattended` is `ask` or `all`, `hole_cards` one of off, sealed, delayed, clear.
    `receivers` are public keys in base64 by name, for sealed; `delay` is in milliseconds, None
    until the hand is over, for delayed.
    """

    table: str
    discipline: str
    seats: int
    zones: dict[str, str]
    cards: dict[str, tuple[str, str]]
    profile: Profile = field(default_factory=Profile)
    unattended: str = "ask"
    hole_cards: str = "off"
    floor: bool = False
    receivers: dict[str, str] = field(default_factory=dict)
    delay: int | None = None

    @cached_property
    def _by_zone(self) -> dict[str, list[str]]:
        found: dict[str, list[str]] = {}
        for antenna, zone in self.zones.items():
            found.setdefault(zone, []).append(antenna)
        return found

    def zones_of_readers(self) -> set[str]:
        """Every zone that some antenna covers."""
        return set(self._by_zone)

    def antennas(self, zone: str) -> list[str]:
        """The antennas, as `reader/antenna`, that cover a zone."""
        return self._by_zone.get(zone, [])

    def seat_of(self, zone: str) -> str:
        """`seat:3` for `seat:3` and `seat:3:up`; zones that are no seats are their own."""
        return zone.removesuffix(":up")


def seat_number(zone: str) -> int | None:
    """The seat of `seat:N` or `seat:N:up`, None for any other zone."""
    kind, _, rest = zone.partition(":")
    return int(rest.removesuffix(":up")) if kind == "seat" else None
