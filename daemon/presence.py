"""From looks to steady tags: which tag rests in which zone, and how sure that is.

Every tag is claimed by the antennas that hear it. The claims compete on evidence: how often
the tag was heard there, for how long, how densely, and whether its old place stopped hearing
it. A resting tag that is missed for seconds does not leave; a tag that two zones hear equally
well is disputed, and nothing is guessed. Times are whole milliseconds.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from daemon.dealorder import GAP_MS, GAPS
from daemon.evidence import (
    GONE_MISSES,
    GONE_MS,
    STEADY_MS,
    Change,
    Claim,
    Disputed,
    Heard,
    Left,
    Overheard,
    PassedShoe,
    Settled,
    Track,
    decide,
)

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Mapping

MANY_GAPS = 200_000
"""So many are a long evening; then the older ones count half."""

__all__ = ["Change", "Disputed", "Left", "Overheard", "PassedShoe", "Presence", "Settled"]


@dataclass
class Presence:
    """All tags in the field. `by_antenna` repeats the tracks' claims by antenna, for speed.

    `gaps` counts the times from hit to hit of tags that lie still, in classes of GAP_MS.
    """

    tracks: dict[str, Track] = field(default_factory=dict)
    by_antenna: dict[str, dict[str, Claim]] = field(default_factory=dict)
    noise: int = 0
    ghosts: int = 0
    gaps: list[int] = field(default_factory=lambda: [0] * GAPS)

    def look(
        self, now: int, antenna: str, zone: str, tags: Iterable[str], *, partial: bool
    ) -> tuple[list[Change], bool]:
        """Take one look in. Returns what changed, and whether any evidence did at all."""
        changes: list[Change] = []
        claims = self.by_antenna.setdefault(antenna, {})
        heard = tuple(dict.fromkeys(tags))
        if not claims and not heard:
            return changes, False
        if zone == "shoe":
            return self._pass(now, antenna, heard), True
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
            if track.still:
                self.gaps[min((now - claim.last) // GAP_MS, GAPS - 1)] += 1
            claim.last = now
            claim.hits += 1
            claim.looks += 1
            claim.missed = 0
        elif claim is None:
            claim = self._claim(now, antenna, zone, tag, track)
        else:
            self._again(now, track, claim)
        total = track.heard.get(zone)
        if total is None:
            total = track.heard[zone] = Heard(first=now, last=-STEADY_MS)
        total.hit(now)
        if track.home != zone:
            changes += decide(now, tag, track, claim)
            self.ghosts += sum(isinstance(change, Overheard) for change in changes)

    def _pass(self, now: int, antenna: str, heard: tuple[str, ...]) -> list[Change]:
        """Cards pass the shoe one after the other; what it no longer hears has passed."""
        claims = self.by_antenna[antenna]
        for tag, claim in list(claims.items()):
            if tag not in heard and now - claim.last >= GONE_MS:
                del claims[tag], self.tracks[tag].claims[antenna]
        for tag in heard:
            track = self.tracks.setdefault(tag, Track())
            claim = claims.get(tag) or self._claim(now, antenna, "shoe", tag, track)
            claim.last = now
            track.heard.setdefault("shoe", Heard(first=now, last=-STEADY_MS)).hit(now)
        return [PassedShoe(tag) for tag in heard]

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
        if track.disputed:
            changes.append(Left(tag, claim.zone))
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

    def last_heard(
        self, tags: Iterable[str], zones: Container[str], *, steady: bool = False
    ) -> int:
        """When any of these zones last heard any of these tags, -1 for never.

        With `steady` only hits count that followed another one closely.
        """
        latest = -1
        for tag in tags:
            track = self.tracks.get(tag)
            for zone, total in track.heard.items() if track is not None else ():
                time = total.steady if steady else total.last
                if time > latest and zone in zones:
                    latest = time
        return latest

    def first_heard(self, tags: Iterable[str], zone: str) -> int | None:
        """When the zone first heard any of these tags, None for never."""
        earliest = None
        for tag in tags:
            track = self.tracks.get(tag)
            total = track.heard.get(zone) if track is not None else None
            if total is not None and (earliest is None or total.first < earliest):
                earliest = total.first
        return earliest

    def first_in(self, tag: str, zones: Iterable[str]) -> int | None:
        """When any of these zones first heard the tag, None for never."""
        track = self.tracks.get(tag)
        if track is None:
            return None
        return min((track.heard[zone].first for zone in zones if zone in track.heard), default=None)

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
        if sum(self.gaps) > MANY_GAPS:
            self.gaps = [count // 2 for count in self.gaps]
        for tag, track in list(self.tracks.items()):
            track.ghost_told = track.still = False
            if not track.claims:
                del self.tracks[tag]
            elif tag not in kept:
                track.heard = {
                    claim.zone: Heard(claim.hits, claim.looks, claim.first, claim.last, claim.last)
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
