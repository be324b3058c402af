"""Presence by timeout, for readers that tell what arrives and not what has gone."""

from __future__ import annotations


class Resting:
    """The tags heard within the last `hold` seconds, by antenna. Time is an argument."""

    def __init__(self, hold: float) -> None:
        self._hold = hold
        self._until: dict[tuple[int, str], float] = {}

    def hear(self, now: float, antenna: int, uid: str) -> bool:
        """A tag was told; whether it had not been there."""
        key = (antenna, uid)
        fresh = self._until.get(key, now) <= now
        self._until[key] = now + self._hold
        return fresh

    def leave(self, antenna: int, uid: str) -> None:
        """A tag was told to have left."""
        self._until.pop((antenna, uid), None)

    def tags(self, now: float, antenna: int) -> tuple[str, ...]:
        """The tags that rest there, in the order they came."""
        for key in [key for key, until in self._until.items() if until <= now]:
            del self._until[key]
        return tuple(uid for place, uid in self._until if place == antenna)
