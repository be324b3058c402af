"""What each antenna has heard and missed since the start, told so that no card can be told from it.

A worn card is missed more often than others. Whoever saw the misses of a seat grow within one hand
could tell that this card lies there, so misses and noise are told a window of hands at a time.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from daemon.wire import AntennaCounts

if TYPE_CHECKING:
    from collections.abc import Mapping

    from daemon.evidence import Claim
    from drivers import Look

WINDOW = 20
"""Hands after which misses and noise are told again."""


class Antennas:
    """Counts by `reader/antenna`.

    A miss is a look that did not hear a card which the antenna heard before and afterwards.
    `hands` is how many the table had begun before.
    """

    def __init__(self, hands: int) -> None:
        self.noise = 0
        self._looks: Counter[str] = Counter()
        self._misses: Counter[str] = Counter()
        self._told: Counter[str] = Counter()
        self._since = hands

    def take(self, look: Look, claims: Mapping[str, Claim]) -> None:
        """Count a look, before it changes `claims`, the tags that this antenna heard."""
        name = f"{look.reader}/{look.antenna}"
        self._looks[name] += 1
        for tag in look.tags:
            claim = claims.get(tag)
            if claim is not None:
                self._misses[name] += claim.missed

    def looks(self, reader: str) -> dict[int, int]:
        """Looks of one reader by the number of the antenna."""
        return {
            int(name.rpartition("/")[2]): count
            for name, count in self._looks.items()
            if name.rpartition("/")[0] == reader
        }

    def settle(self, hands: int, noise: int, *, idle: bool) -> None:
        """Let what was counted be told, once WINDOW hands are over; `hands` were begun so far."""
        if idle and hands - self._since >= WINDOW:
            self._since = hands
            self._told = self._misses.copy()
            self.noise = noise

    def counts(self) -> dict[str, AntennaCounts]:
        """What may be told."""
        return {
            name: AntennaCounts(looks=looks, misses=self._told[name])
            for name, looks in sorted(self._looks.items())
        }
