"""`feltd deck check`: a deck passes over an antenna, card by card or as a whole."""

from __future__ import annotations

import asyncio
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from daemon.cli._enrol import TOLD
from daemon.cli._readers import Line, Readers, heard, names
from daemon.cli._screen import Screen
from daemon.enrolment import Note, Owners, Passing
from drivers import Look, ReaderDown

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Sequence

    from daemon.cli._readers import Heard
    from daemon.decks import Deck

_ASKABLE: Final = 8
"""With more cards unheard than this nobody wants to be asked for each."""


@dataclass(slots=True)
class Result:
    """What a check found. `unheard` cards are dead or missing, nobody said which."""

    deck: str
    unheard: list[str]
    foreign: list[Note]
    dead: list[str] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)

    @property
    def whole(self) -> bool:
        """Whether all 52 cards were heard and nothing else."""
        return not (self.unheard or self.foreign or self.dead or self.missing)

    def payload(self) -> dict[str, Any]:
        """For programs."""
        foreign = [
            {"tag": n.uid, "deck": n.deck or None, "card": n.card or None} for n in self.foreign
        ]
        return {
            "deck": self.deck,
            "whole": self.whole,
            "dead": self.dead,
            "missing": self.missing,
            "unheard": self.unheard,
            "foreign": foreign,
        }

    def text(self) -> str:
        """For people."""
        if self.whole:
            return f"deck {self.deck}: all 52 cards heard, nothing else"
        lists = {"dead": self.dead, "missing": self.missing, "dead or missing": self.unheard}
        lines = [f"deck {self.deck}:"]
        lines += [f"  {what}: {' '.join(cards)}" for what, cards in lists.items() if cards]
        known = [f"{note.card} of deck {note.deck}" for note in self.foreign if note.deck]
        if known:
            lines.append(f"  of other decks: {', '.join(known)}")
        strange = [note.uid for note in self.foreign if not note.deck]
        if strange:
            lines.append(f"  of no deck: {', '.join(strange)}")
        return "\n".join(lines)


def check(
    deck: Deck, others: Sequence[Deck], readers: Readers, zone: str | None, idle: float
) -> Result:
    """Listen until all cards are heard, the person presses Enter, or `idle` seconds bring nothing.

    Each card that stayed unheard is then asked for; at the end of input or after `idle`
    seconds without an answer it stays `unheard`.
    """
    passing = Passing(deck, Owners(others))
    result = Result(deck.name, [], [])
    with Screen(52, aside=True) as screen:
        screen.say(f"Listening to {names(readers)}. Pass deck {deck.name}, then press Enter.")
        try:
            asyncio.run(_Check(passing, result, screen, idle).follow(heard(readers, zone)))
        except KeyboardInterrupt:
            screen.say("stopped")
    settled = {*result.dead, *result.missing}
    result.unheard = [card for card in passing.unheard if card not in settled]
    result.foreign = list(passing.foreign.values())
    return result


@dataclass(slots=True)
class _Check:
    """The conversation of one check."""

    passing: Passing
    result: Result
    screen: Screen
    idle: float

    async def follow(self, hearing: AsyncGenerator[Heard, None]) -> None:
        """The pass itself up to Enter, then card by card what was not heard."""
        async with aclosing(hearing) as items:
            while self.passing.unheard:
                self._ask("Press Enter when the whole deck has passed")
                if await self._news(items) is not None:
                    break
            unheard = self.passing.unheard
            for card in unheard if len(unheard) <= _ASKABLE else []:
                if not await self._settle(card, items):
                    return

    async def _settle(self, card: str, items: AsyncGenerator[Heard, None]) -> bool:
        """Whether it was found out, or said, what is with a card that was not heard."""
        self._ask(f"{card} was not heard. Lay it down; Enter if it stays unheard, m if missing")
        while card in self.passing.unheard:
            answer = await self._news(items)
            if answer is None:
                continue
            if answer not in {"", "m"}:
                return False
            (self.result.missing if answer == "m" else self.result.dead).append(card)
            return True
        return True

    def _ask(self, text: str) -> None:
        self.screen.ask(text, len(self.passing.looks))

    async def _news(self, items: AsyncGenerator[Heard, None]) -> str | None:
        """None for a tag heard, else what was typed, or `idle` when nothing more will come."""
        try:
            async with asyncio.timeout(self.idle):
                async for item in items:
                    if isinstance(item, Line):
                        return item.text
                    if self._noted(item):
                        return None
        except TimeoutError:
            self.screen.say(f"nothing for {self.idle:g} s")
        return "idle"

    def _noted(self, item: Heard) -> bool:
        if isinstance(item, ReaderDown):
            self.screen.say(f"{item.error}; waiting for it")
        notes = self.passing.hear(item) if isinstance(item, Look) else []
        for note in notes:
            self.screen.say(TOLD[note.kind].format(card=note.card, deck=note.deck))
        return bool(notes)
