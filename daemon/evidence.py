"""Evidence for one tag: the antennas that claim it, and which of them to believe.

Times are whole milliseconds.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypeAlias

GONE_MS = 3000
"""A tag has left when whole looks missed it for so long; deaf spells last up to 2 s."""
GONE_MISSES = 3
STALE_MS = 1500
"""After so long without being heard, a claim no longer rivals the one that settles."""
MOVE_MS = 2000
MUCK_MOVE_MS = 700
UNPROVEN_MOVE_MS = 6000
"""A move away from an antenna that cannot prove absence (dead, or partial looks)."""
BOARD_REST_MS = 1500
STEADY_MS = 1500
DISPUTE_MS = 2000
DISPUTE_HITS = 6


@dataclass(slots=True)
class Claim:
    """One antenna's evidence for one tag since it first heard it in this stay."""

    zone: str
    first: int
    last: int
    hits: int = 1
    looks: int = 1
    missed: int = 0
    run: int = 1
    run_looks: int = 1
    base: int = 0

    def density(self) -> float:
        """Share of this antenna's whole looks that heard the tag in the present run."""
        return self.run / max(self.run_looks, self.run)


@dataclass(slots=True)
class Heard:
    """How often a zone heard a tag, over all its stays since the hand began.

    `steady` is the last hit that followed another one closely, -1 without any.
    """

    hits: int = 0
    looks: int = 0
    first: int = 0
    last: int = 0
    steady: int = -1

    def hit(self, now: int) -> None:
        """The zone heard the tag; a hit that stands alone may be noise."""
        if now - self.last <= STEADY_MS:
            self.steady = now
        self.hits += 1
        self.looks += 1
        self.last = now


@dataclass(slots=True)
class Track:
    """One tag: who claims it, where it is at home, who has heard it.

    `still`: nobody lifts this card to look at it.
    """

    claims: dict[str, Claim] = field(default_factory=dict)
    home: str | None = None
    disputed: bool = False
    ghost_told: bool = False
    still: bool = False
    heard: dict[str, Heard] = field(default_factory=dict)

    def strongest(self, zone: str | None) -> Claim | None:
        """The claim of the antenna of `zone` that heard the tag last."""
        claims = [claim for claim in self.claims.values() if claim.zone == zone]
        return max(claims, key=lambda claim: claim.last, default=None)

    def home_hits(self) -> int:
        """How often the home antenna has heard the tag in this stay."""
        home = self.strongest(self.home)
        return home.hits if home else 0

    def home_last(self) -> int:
        """When the home antenna last heard the tag, -1 without a home."""
        home = self.strongest(self.home)
        return home.last if home else -1

    def heard_in(self, zone: str) -> bool:
        """Whether any antenna of the zone still claims the tag."""
        return any(claim.zone == zone for claim in self.claims.values())


@dataclass(frozen=True, slots=True)
class Settled:
    """The tag rests in a zone (`was`: the zone it came from, if it moved)."""

    tag: str
    zone: str
    was: str | None


@dataclass(frozen=True, slots=True)
class Left:
    """Whole looks of a living antenna no longer hear the tag."""

    tag: str
    zone: str


@dataclass(frozen=True, slots=True)
class Overheard:
    """Another zone hears the tag now and then; it stays at home."""

    tag: str
    home: str
    ghost: str


@dataclass(frozen=True, slots=True)
class Disputed:
    """Two zones hear the tag equally well."""

    tag: str
    zones: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class PassedShoe:
    """The shoe heard the tag; nothing comes to rest there."""

    tag: str


Change: TypeAlias = Settled | Left | Overheard | Disputed | PassedShoe


def decide(now: int, tag: str, track: Track, claim: Claim) -> list[Change]:
    """What a hit of `claim` means for the tag: it settles, moves, is overheard or disputed."""
    if track.home is None:
        return _settle_first(now, tag, track, claim)
    if _moved(now, track, claim):
        was, track.home = track.home, claim.zone
        track.disputed = False
        claim.base = 0
        return [Settled(tag, claim.zone, was)]
    return _rival(now, tag, track, claim)


def _settle_first(now: int, tag: str, track: Track, claim: Claim) -> list[Change]:
    claims = [one for one in track.claims.values() if one.zone != "shoe"]
    best = max(claims, key=lambda one: (one.hits, -one.first))
    if not _enough(now, best):
        return []
    rivals = [one for one in claims if one.zone != best.zone and now - one.last < STALE_MS]
    strongest = max((one.hits for one in rivals), default=0)
    if strongest * 3 <= best.hits:
        track.home, track.disputed = best.zone, False
        return [Settled(tag, best.zone, None)]
    return _dispute(now, tag, track, claim, strongest)


def _enough(now: int, claim: Claim) -> bool:
    if claim.zone == "muck":
        return True
    if claim.zone == "board":
        rested = claim.last - claim.first >= BOARD_REST_MS
        return claim.hits >= 3 and rested and claim.hits * 3 >= claim.looks
    return claim.hits >= 2 and claim.hits * 4 >= claim.looks and now - claim.first > 0


def _moved(now: int, track: Track, claim: Claim) -> bool:
    home = track.strongest(track.home)
    if home is None:
        return _enough(now, claim)
    away = now - home.last
    if claim.last <= home.last or claim.density() < 0.3:
        return False
    if claim.zone == "muck":
        proven = home.missed >= GONE_MISSES and away >= MUCK_MOVE_MS
        return proven or (claim.run >= 3 and away >= UNPROVEN_MOVE_MS)
    if claim.zone == "board" and claim.last - max(claim.first, home.last) < BOARD_REST_MS:
        return False
    proven = home.missed >= GONE_MISSES and away >= MOVE_MS
    return claim.run >= 4 and (proven or away >= UNPROVEN_MOVE_MS)


def _rival(now: int, tag: str, track: Track, claim: Claim) -> list[Change]:
    home = track.strongest(track.home)
    if home is None or track.home is None:
        return []
    overlap = home.hits - claim.base
    if claim.hits >= DISPUTE_HITS and claim.hits * 3 > overlap and claim.hits * 3 > claim.looks:
        return _dispute(now, tag, track, claim, overlap)
    if claim.hits >= 2 and not track.ghost_told:
        track.ghost_told = True
        return [Overheard(tag, track.home, claim.zone)]
    return []


def _dispute(now: int, tag: str, track: Track, claim: Claim, other: int) -> list[Change]:
    long_enough = now - claim.first >= DISPUTE_MS
    if track.disputed or not long_enough or min(claim.hits, other) < DISPUTE_HITS // 2:
        return []
    track.disputed, track.home = True, None
    zones = sorted({one.zone for one in track.claims.values() if one.zone != "shoe"})
    return [Disputed(tag, tuple(zones))]
