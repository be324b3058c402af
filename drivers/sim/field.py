"""The cards on the antennas of an emulated reader, and what radio does to them."""

from __future__ import annotations

from dataclasses import dataclass, field
from random import Random


@dataclass(slots=True)
class Field:
    """Cards that a script lays on antennas and lifts again.

    `collide` is the chance, 0 to 1, that one of several stacked cards stays unheard in a pass.
    `overhear` maps an antenna to a neighbour whose cards it also hears, with chance
    `crosstalk`. `deaf` antennas hear nothing, `dead` UIDs are never heard. `seed` makes the
    chances repeatable. `passes` counts by antenna how often it was listened to.
    """

    collide: float = 0.0
    overhear: dict[int, int] = field(default_factory=dict)
    crosstalk: float = 0.2
    deaf: set[int] = field(default_factory=set)
    dead: set[str] = field(default_factory=set)
    seed: int = 1
    passes: dict[int, int] = field(default_factory=dict)
    _cards: dict[int, list[str]] = field(default_factory=dict)
    _random: Random = field(init=False)

    def __post_init__(self) -> None:
        """Start the dice."""
        self._random = Random(self.seed)  # noqa: S311 - chance, no secret

    def lay(self, antenna: int, *uids: str) -> None:
        """Put cards on an antenna, wherever they lay before."""
        for uid in uids:
            self.lift_anywhere(uid)
            self._cards.setdefault(antenna, []).append(uid.upper())

    def lift(self, antenna: int, *uids: str) -> None:
        """Take cards off an antenna; those that are not there stay where they are."""
        resting = self._cards.get(antenna, [])
        gone = {uid.upper() for uid in uids}
        self._cards[antenna] = [uid for uid in resting if uid not in gone]

    def lift_anywhere(self, uid: str) -> None:
        """Take a card off whichever antenna it lies on."""
        for antenna in self._cards:
            self.lift(antenna, uid)

    def clear(self, antenna: int | None = None) -> None:
        """Take everything off one antenna, or off all."""
        if antenna is None:
            self._cards.clear()
        else:
            self._cards.pop(antenna, None)

    def on(self, antenna: int) -> tuple[str, ...]:
        """The cards that truly lie there, in the order they were laid."""
        return tuple(self._cards.get(antenna, ()))

    def heard(self, antenna: int) -> list[str]:
        """The UIDs that answer in one pass: the true cards, less and more what radio does."""
        self.passes[antenna] = self.passes.get(antenna, 0) + 1
        if antenna in self.deaf:
            return []
        cards = [uid for uid in self.on(antenna) if uid not in self.dead]
        neighbour = self.overhear.get(antenna)
        if neighbour is not None:
            ghosts = (uid for uid in self.on(neighbour) if uid not in self.dead)
            cards += [uid for uid in ghosts if self._random.random() < self.crosstalk]
        if len(cards) > 1 and self._random.random() < self.collide:
            cards.pop(self._random.randrange(len(cards)))
        return cards
