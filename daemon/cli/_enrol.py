"""`feltd deck enrol` and `replace`: the conversation with the person who lays the cards down."""

from __future__ import annotations

import asyncio
from contextlib import aclosing
from dataclasses import dataclass
from typing import TYPE_CHECKING

from daemon import decks
from daemon.cli._readers import Line, Readers, heard, names
from daemon.cli._screen import Screen
from daemon.decks import Deck
from daemon.enrolment import Enrolment, Note, Owners
from daemon.errors import FeltdError
from daemon.rules.cards import parse_cards
from daemon.rules.errors import CardError
from drivers import Look, ReaderDown

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Sequence
    from pathlib import Path

    from daemon.cli._readers import Heard

_HELP = "Type `back` to take the last card back, `quit` to stop and go on later"
_HELP_ORDER = "`skip` to leave a card for the end, `missed 8c` if the 8c was passed over by mistake"


def enrol(
    where: Path,
    name: str,
    others: Sequence[Deck],
    readers: Readers,
    *,
    order: tuple[str, ...],
    by_name: bool,
    restart: bool,
    zone: str | None,
) -> int:
    """Read a deck in and write its file. FeltdError when it stops before all 52 are read."""
    part = decks.part_of(where, name)
    kept = {} if restart or not part.exists() else dict(decks.load_part(part).cards)
    enrolment = Enrolment(Owners(others), order, by_name=by_name, cards=kept)
    with Screen(52) as screen:
        _explain(screen, enrolment, readers)
        talk = Talk(enrolment, screen, part, name)
        try:
            asyncio.run(_listen(talk, heard(readers, zone)))
        except KeyboardInterrupt:
            enrolment.waiting = ""
    if enrolment.missing:
        raise FeltdError(_unfinished(enrolment, name))
    path = decks.path_of(where, name)
    decks.write(path, Deck(name, enrolment.cards).sorted())
    part.unlink(missing_ok=True)
    print(f"deck {name}: 52 cards in {path}")
    return 0


def _explain(screen: Screen, enrolment: Enrolment, readers: Readers) -> None:
    screen.say(f"Listening to {names(readers)}. Lay the cards down one at a time.")
    if not enrolment.by_name:
        for start in range(0, 52, 13):
            screen.say("  " + " ".join(enrolment.order[start : start + 13]))
    screen.say(f"{_HELP}{'' if enrolment.by_name else ', ' + _HELP_ORDER}.")
    if enrolment.cards:
        screen.say(f"Going on after {len(enrolment.cards)} cards of an interrupted run.")


def _unfinished(enrolment: Enrolment, name: str) -> str:
    missing = enrolment.missing
    which = f", missing {' '.join(missing)}" if len(missing) <= 6 else ""
    return (
        f"deck {name}: {len(enrolment.cards)} of 52 cards read and kept{which}; "
        "the same command goes on"
    )


async def _listen(talk: Talk, hearing: AsyncGenerator[Heard, None]) -> None:
    """Follow what is heard and typed until the deck is complete or the person stops."""
    talk.ask()
    async with aclosing(hearing) as items:
        async for item in items:
            if not talk.take(item):
                return


@dataclass(slots=True)
class Talk:
    """What is heard and typed, turned into cards and answers."""

    enrolment: Enrolment
    screen: Screen
    part: Path
    name: str

    def ask(self) -> None:
        """Say what to do next."""
        enrolment = self.enrolment
        if enrolment.waiting:
            text = "Which card is it?"
        elif enrolment.by_name:
            text = "Lay a card down"
        else:
            text = f"Next: {enrolment.expected}"
        self.screen.ask(text, len(enrolment.cards))

    def take(self, item: Heard) -> bool:
        """Whether to go on after this."""
        if isinstance(item, Line):
            if item.text in {"quit", "q"}:
                return False
            self._typed(item.text)
        elif isinstance(item, ReaderDown):
            self.screen.say(f"{item.error}; waiting for it")
        elif isinstance(item, Look):
            note = self.enrolment.hear(item)
            if note is None:
                return True
            self._tell(note)
        if not self.enrolment.missing:
            return False
        self.ask()
        return True

    def _tell(self, note: Note) -> None:
        self.screen.say(TOLD[note.kind].format(card=note.card, deck=note.deck))
        if note.kind == "enrolled":
            self._save()

    def _save(self) -> None:
        decks.write(self.part, Deck(self.name, self.enrolment.cards))

    def _typed(self, text: str) -> None:
        word, _, rest = text.partition(" ")
        try:
            if word:
                self._obey(word, rest)
        except (FeltdError, CardError) as error:
            self.screen.say(str(error))

    def _obey(self, word: str, rest: str) -> None:
        enrolment = self.enrolment
        if word == "back":
            self.screen.say(f"{enrolment.back()} taken back")
        elif word == "skip" and not enrolment.by_name:
            self.screen.say(f"{enrolment.skip()} left for the end")
        elif word == "missed" and not enrolment.by_name:
            enrolment.missed(card := _one(rest))
            self.screen.say(f"{card} was passed over; all cards since moved on by one")
        else:
            self._tell(enrolment.name(_one(f"{word} {rest}")))
        self._save()


TOLD = {
    "enrolled": "{card} read",
    "unnamed": "A new tag",
    "twice": "This card was read before, as {card}",
    "foreign": "This tag is {card} of deck {deck}; not taken",
    "unknown": "This tag is of no deck",
    "several": "More than one tag at once; lay the cards down one at a time",
    "heard": "{card} heard",
}


def _one(text: str) -> str:
    cards = parse_cards(text)
    if len(cards) != 1:
        raise CardError(f'"{text.strip()}" is not one card')
    return cards[0]


def new_tag(
    card: str, deck: Deck, others: Sequence[Deck], readers: Readers, zone: str | None
) -> str:
    """The tag of the card that is laid down in place of one. FeltdError when it is stopped."""
    enrolment = Enrolment(Owners(others), (*deck.cards, card), by_name=True, cards=dict(deck.cards))
    with Screen(1) as screen:
        screen.ask(f"Listening to {names(readers)}. Lay the new {card} down", 0)
        try:
            return asyncio.run(_first_new(enrolment, screen, heard(readers, zone)))
        except KeyboardInterrupt:
            raise FeltdError(f"deck {deck.name}: nothing replaced") from None


async def _first_new(
    enrolment: Enrolment, screen: Screen, hearing: AsyncGenerator[Heard, None]
) -> str:
    async with aclosing(hearing) as items:
        async for item in items:
            if isinstance(item, ReaderDown):
                screen.say(f"{item.error}; waiting for it")
            note = enrolment.hear(item) if isinstance(item, Look) else None
            if note and note.kind == "unnamed":
                return note.uid
            if note:
                screen.say(TOLD[note.kind].format(card=note.card, deck=note.deck))
    raise FeltdError("the readers ended")
