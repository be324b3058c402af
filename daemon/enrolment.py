"""Reading a deck in, checking it and replacing a card: what the looks mean, without any I/O."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, Literal

from daemon.errors import FeltdError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from daemon.decks import Deck
    from drivers import Look

STEADY: Final = 2
"""Looks in a row that must hear a tag, and it alone: a weak field garbles UIDs now and then."""


@dataclass(frozen=True, slots=True)
class Note:
    """What a look meant.

    `enrolled`: `card` got `uid`. `unnamed`: a new tag waits for its card's name. `twice`: the
    tag is this deck's `card` already. `foreign`: it is `card` of `deck`. `unknown`: it is of no
    deck. `several`: more than one tag at once. `heard`: the deck's `card` passed.
    """

    kind: Literal["enrolled", "unnamed", "twice", "foreign", "unknown", "several", "heard"]
    uid: str = ""
    card: str = ""
    deck: str = ""


class Owners:
    """Which card of which deck carries a tag."""

    def __init__(self, decks: Sequence[Deck]) -> None:
        self._owners = {
            uid: (deck.name, card) for deck in decks for card, uid in deck.cards.items()
        }

    def foreign(self, uid: str) -> Note | None:
        """The note for a tag of these decks; None for any other."""
        if uid not in self._owners:
            return None
        deck, card = self._owners[uid]
        return Note("foreign", uid, card, deck)


@dataclass(slots=True)
class _Rest:
    tags: tuple[str, ...] = ()
    looks: int = 0


class OneByOne:
    """Tells when a single tag has come to rest on an antenna."""

    def __init__(self) -> None:
        self._rests: dict[tuple[str, int], _Rest] = {}

    def hear(self, look: Look) -> tuple[str, ...]:
        """The tags that have just been steady; more than one when they lie together."""
        if look.partial and not look.tags:
            return ()
        rest = self._rests.setdefault((look.reader, look.antenna), _Rest())
        tags = tuple(sorted(look.tags))
        if tags != rest.tags:
            rest.tags, rest.looks = tags, 0
        rest.looks += 1
        return tags if rest.looks == STEADY else ()


@dataclass(slots=True)
class Enrolment:
    """A deck being read in.

    Each new tag is the next card of `order`; `by_name`, a new tag is `waiting` for its name.
    `cards` are those read so far, in the order of reading; more may be there from a run that
    was interrupted. Those put off with `skip` or `missed` come up again at the end.
    """

    owners: Owners
    order: tuple[str, ...]
    by_name: bool = False
    cards: dict[str, str] = field(default_factory=dict)
    waiting: str = ""
    _put_off: set[str] = field(default_factory=set)
    _arrivals: OneByOne = field(default_factory=OneByOne)

    @property
    def missing(self) -> list[str]:
        """The cards still to be read, in their order."""
        return [card for card in self.order if card not in self.cards]

    @property
    def expected(self) -> str:
        """The card to lay down next; empty when the deck is complete."""
        missing = self.missing
        first = [card for card in missing if card not in self._put_off] or missing
        return first[0] if first else ""

    def hear(self, look: Look) -> Note | None:
        """What a look means for the deck."""
        tags = self._arrivals.hear(look)
        if len(tags) != 1:
            return Note("several") if tags else None
        (uid,) = tags
        foreign = self.owners.foreign(uid)
        if foreign is not None:
            return foreign
        known = next((card for card, own in self.cards.items() if own == uid), None)
        if known is not None:
            return None if known == next(reversed(self.cards)) else Note("twice", uid, known)
        if self.by_name:
            self.waiting = uid
            return Note("unnamed", uid)
        return self._enrol(self.expected, uid) if self.expected else Note("unknown", uid)

    def _enrol(self, card: str, uid: str) -> Note:
        self.cards[card] = uid
        self._put_off.discard(card)
        return Note("enrolled", uid, card)

    def name(self, card: str) -> Note:
        """The waiting tag is this card. FeltdError when none waits or the card was read."""
        if not self.waiting:
            raise FeltdError(f"no card waits for its name; lay {card} down first")
        if card in self.cards:
            raise FeltdError(f"{card} was read already, with another tag")
        uid, self.waiting = self.waiting, ""
        return self._enrol(card, uid)

    def skip(self) -> str:
        """Put the expected card off to the end; the card."""
        card = self.expected
        self._put_off.add(card)
        return card

    def back(self) -> str:
        """Forget the card read last; the card. FeltdError when none was read."""
        if not self.cards:
            raise FeltdError("no card has been read yet")
        card, _ = self.cards.popitem()
        self._put_off.discard(card)
        return card

    def missed(self, card: str) -> None:
        """The card was passed over, so what was read since moves on by one card.

        FeltdError when the card was not read, or when the tags since would run out of cards.
        """
        if card not in self.cards:
            raise FeltdError(f"{card} has not been read, so nothing moves")
        after = self.order[self.order.index(card) :]
        moved = [(old, self.cards[old]) for old in after if old in self.cards]
        heirs = [heir for heir in after[1:] if heir not in self._put_off][: len(moved)]
        if len(heirs) < len(moved):
            raise FeltdError(f"all cards after {card} were read, so none was passed over")
        for old, _ in moved:
            del self.cards[old]
        self.cards.update(zip(heirs, (uid for _, uid in moved), strict=True))
        self._put_off.add(card)


@dataclass(slots=True)
class Passing:
    """A deck that is passed over an antenna to see whether every card is heard."""

    deck: Deck
    owners: Owners
    looks: dict[str, int] = field(default_factory=dict)
    foreign: dict[str, Note] = field(default_factory=dict)
    _strange: dict[str, int] = field(default_factory=dict)

    @property
    def unheard(self) -> list[str]:
        """The cards that no look has held."""
        return [card for card in self.deck.cards if card not in self.looks]

    def hear(self, look: Look) -> list[Note]:
        """What is new: cards heard for the first time, tags that do not belong here."""
        return [note for tag in look.tags if (note := self._hear(tag))]

    def _hear(self, uid: str) -> Note | None:
        card = self.deck.card(uid)
        if card is not None:
            self.looks[card] = self.looks.get(card, 0) + 1
            return Note("heard", uid, card) if self.looks[card] == 1 else None
        note = self.owners.foreign(uid)
        if note is None:
            self._strange[uid] = self._strange.get(uid, 0) + 1
            note = Note("unknown", uid) if self._strange[uid] >= STEADY else None
        if note is None or uid in self.foreign:
            return None
        self.foreign[uid] = note
        return note
