"""From looks to steady tags: which tag rests in which zone, and how sure that is.

Every tag is claimed by the antennas that hear it. The claims compete on evidence: how often
the tag was heard there, for how long, how densely, and whether its old place stopped hearing
it. A resting tag that is missed for seconds does not leave; a tag that two zones hear equally
well is disputed, and nothing is guessed. Times are whole milliseconds.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Mapping

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
    """How often a zone heard a tag, over all its stays since the hand began."""

    hits: int = 0
    looks: int = 0
    first: int = 0
    last: int = 0


@dataclass(slots=True)
class Track:
    """One tag: who claims it, where it is at home, who has heard it."""

    claims: dict[str, Claim] = field(default_factory=dict)
    home: str | None = None
    disputed: bool = False
    ghost_told: bool = False
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


Change: TypeAlias = Settled | Left | Overheard | Disputed


@dataclass
class Presence:
    """All tags in the field. `claims` repeats the tracks' claims by antenna, for speed."""

    tracks: dict[str, Track] = field(default_factory=dict)
    by_antenna: dict[str, dict[str, Claim]] = field(default_factory=dict)
    noise: int = 0
    ghosts: int = 0

    def look(
        self, now: int, antenna: str, zone: str, tags: Iterable[str], *, partial: bool
    ) -> tuple[list[Change], bool]:
        """Take one look in. Returns what changed, and whether any evidence did at all."""
        changes: list[Change] = []
        claims = self.by_antenna.setdefault(antenna, {})
        heard = tuple(dict.fromkeys(tags))
        if not claims and not heard:
            return changes, False
        if not partial:
            for tag in [tag for tag in claims if tag not in heard]:
                self._missed(now, antenna, tag, changes)
        for tag in heard:
            self._hit(now, antenna, zone, tag, changes)
        return changes, bool(heard) or bool(claims) or bool(changes)

    def _hit(self, now: int, antenna: str, zone: str, tag: str, changes: list[Change]) -> None:
        track = self.tracks.get(tag)
        if track is None:
            track = self.tracks[tag] = Track()
        claim = track.claims.get(antenna)
        if claim is not None and track.home == zone:
            claim.last = now
            claim.hits += 1
            claim.looks += 1
            claim.missed = 0
        elif claim is None:
            claim = self._claim(now, antenna, zone, tag, track)
        else:
            self._again(now, track, claim)
        total = track.heard.setdefault(zone, Heard(first=now))
        total.hits += 1
        total.looks += 1
        total.last = now
        if track.home != zone:
            changes += _decide(now, tag, track, claim)
            self.ghosts += sum(isinstance(change, Overheard) for change in changes)

    def _claim(self, now: int, antenna: str, zone: str, tag: str, track: Track) -> Claim:
        at_home = track.home_hits()
        claim = Claim(zone, now, now, base=at_home)
        track.claims[antenna] = claim
        self.by_antenna.setdefault(antenna, {})[tag] = claim
        return claim

    @staticmethod
    def _again(now: int, track: Track, claim: Claim) -> None:
        if claim.last <= track.home_last():
            claim.run = claim.run_looks = 0
        claim.last = now
        claim.hits += 1
        claim.looks += 1
        claim.run += 1
        claim.run_looks += 1
        claim.missed = 0

    def _missed(self, now: int, antenna: str, tag: str, changes: list[Change]) -> None:
        track = self.tracks[tag]
        claim = track.claims[antenna]
        claim.missed += 1
        claim.looks += 1
        claim.run_looks += 1
        track.heard[claim.zone].looks += 1
        if claim.missed < GONE_MISSES or now - claim.last < GONE_MS:
            return
        del track.claims[antenna], self.by_antenna[antenna][tag]
        if track.home == claim.zone and not track.heard_in(claim.zone):
            track.home = None
            changes.append(Left(tag, claim.zone))
        if track.claims:
            return
        track.disputed = False
        if claim.hits == 1 and len(track.heard) == 1 and track.heard[claim.zone].hits == 1:
            self.noise += 1
            del self.tracks[tag]

    def relink(self) -> None:
        """Rebuild the index by antenna, after the state was read back."""
        self.by_antenna = {}
        for tag, track in self.tracks.items():
            for antenna, claim in track.claims.items():
                self.by_antenna.setdefault(antenna, {})[tag] = claim

    def last_heard(self, tags: Iterable[str], zones: Container[str]) -> int:
        """When any of these zones last heard any of these tags, -1 for never."""
        return max(
            (
                total.last
                for tag in tags
                if tag in self.tracks
                for zone, total in self.tracks[tag].heard.items()
                if zone in zones
            ),
            default=-1,
        )

    def first_heard(self, tags: Iterable[str], zone: str) -> int | None:
        """When the zone first heard any of these tags, None for never."""
        firsts = [
            self.tracks[tag].heard[zone].first
            for tag in tags
            if tag in self.tracks and zone in self.tracks[tag].heard
        ]
        return min(firsts, default=None)

    def hits(self, tags: Iterable[str], zone: str) -> int:
        """How often the zone heard these tags, all together."""
        return sum(
            self.tracks[tag].heard[zone].hits
            for tag in tags
            if tag in self.tracks and zone in self.tracks[tag].heard
        )

    def home(self, tag: str) -> str | None:
        """The zone in which the tag rests."""
        track = self.tracks.get(tag)
        return track.home if track else None

    def since(self, tag: str) -> int:
        """When the tag was first heard in its present stay at home, -1 without a home."""
        track = self.tracks.get(tag)
        claims = [c.first for c in track.claims.values() if c.zone == track.home] if track else []
        return min(claims, default=-1)

    def forget(self, keep: Iterable[str] = ()) -> None:
        """Drop the tags that nobody claims, and the totals of all others: a new hand begins."""
        kept = set(keep)
        for tag, track in list(self.tracks.items()):
            track.ghost_told = False
            if not track.claims:
                del self.tracks[tag]
            elif tag not in kept:
                track.heard = {
                    claim.zone: Heard(claim.hits, claim.looks, claim.first, claim.last)
                    for claim in track.claims.values()
                }

    def settle(self, tag: str, zone: str) -> None:
        """Settle a dispute from outside: the deal, or the floor, says where the tag is."""
        track = self.tracks.get(tag)
        if track is not None:
            track.home = zone
            track.disputed = False

    def at(self, zone: str) -> list[str]:
        """The tags at home in a zone, in the order in which it first heard them."""
        tags = [tag for tag, track in self.tracks.items() if track.home == zone]
        return sorted(tags, key=lambda tag: self.tracks[tag].heard[zone].first)

    def sure(self, tag: str, zone: str, rivals: Mapping[str, str], hits: int = 3) -> bool:
        """Whether all evidence of this hand places the tag in `zone`.

        `rivals` maps zones that compete (neighbour seats) to the seat they belong to;
        zones of the same seat are no rivals.
        """
        track = self.tracks.get(tag)
        if track is None or track.disputed:
            return False
        own = track.heard.get(zone)
        if own is None or own.hits < hits or own.hits * 5 < own.looks:
            return False
        mine = rivals.get(zone)
        others = [
            total.hits
            for other, total in track.heard.items()
            if other in rivals and rivals[other] != mine
        ]
        return not others or max(others) * 3 <= own.hits


def _decide(now: int, tag: str, track: Track, claim: Claim) -> list[Change]:
    if track.home is None:
        return _settle_first(now, tag, track, claim)
    if _moved(now, track, claim):
        was, track.home = track.home, claim.zone
        track.disputed = False
        claim.base = 0
        return [Settled(tag, claim.zone, was)]
    return _rival(now, tag, track, claim)


def _settle_first(now: int, tag: str, track: Track, claim: Claim) -> list[Change]:
    best = max(track.claims.values(), key=lambda one: (one.hits, -one.first))
    if not _enough(now, best):
        return []
    rivals = [
        one for one in track.claims.values() if one.zone != best.zone and now - one.last < STALE_MS
    ]
    strongest = max((one.hits for one in rivals), default=0)
    if strongest * 3 <= best.hits:
        track.home, track.disputed = best.zone, False
        return [Settled(tag, best.zone, None)]
    return _dispute(now, tag, track, claim, strongest)


def _enough(now: int, claim: Claim) -> bool:
    if claim.zone in {"shoe", "muck"}:
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
    zones = sorted({one.zone for one in track.claims.values()})
    return [Disputed(tag, tuple(zones))]
