"""Deck files: which tag is which card.

`decks/NAME.toml` holds `name = "red"` and a table `[cards]` of 52 lines such as
`As = "E0040150954F02B1"`. UIDs have 4, 7, 8 or 10 bytes in upper-case hex, most significant
byte first. A deck file tells every hidden card to whoever reads it: mode 0600 in a 0700 folder.
"""

from __future__ import annotations

import csv
import os
import re
import tempfile
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from daemon.errors import ConfigError, FeltdError
from daemon.rules.cards import DECK, parse_cards
from daemon.rules.errors import CardError
from drivers._uid import LENGTHS

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

NAME: Final = re.compile(r"[a-z0-9-]{1,32}")
_HEX: Final = re.compile(r"[0-9A-F]*")
_SEPARATORS: Final = re.compile(r"[ :-]")
_KEY: Final = re.compile(r"""\s*["']?(?P<card>[2-9TJQKA][cdhs])["']?\s*=""")
_FACTORY: Final = (("s", "A23456789TJQK"), ("d", "A23456789TJQK"),
                   ("c", "KQJT98765432A"), ("h", "KQJT98765432A"))  # fmt: skip

FACTORY_ORDER: Final = tuple(rank + suit for suit, ranks in _FACTORY for rank in ranks)
"""A new deck from its top: ace to king of spades and diamonds, king to ace of clubs and hearts."""

SORTED_ORDER: Final = tuple(rank + suit for suit in "shdc" for rank in "AKQJT98765432")
"""Ace to deuce of spades, hearts, diamonds and clubs."""


@dataclass(frozen=True, slots=True)
class Deck:
    """An enrolled deck: the UID of each of its 52 cards."""

    name: str
    cards: Mapping[str, str]

    def card(self, uid: str) -> str | None:
        """The card that carries a tag; None for a tag that is not of this deck."""
        return next((card for card, own in self.cards.items() if own == uid), None)

    def sorted(self) -> Deck:
        """The same deck from ace to deuce, suit by suit."""
        cards = {card: self.cards[card] for card in SORTED_ORDER if card in self.cards}
        return Deck(self.name, cards)


def uid_of(text: str) -> str:
    """A UID as deck files write it, from any usual notation (`e0:04:01...`).

    ValueError, with what is wrong, when it is none.
    """
    uid = _SEPARATORS.sub("", text).upper()
    if not _HEX.fullmatch(uid):
        raise ValueError(f'"{text}" is not hex')
    if len(uid) % 2 or len(uid) // 2 not in LENGTHS:
        raise ValueError(f'"{text}" has {len(uid)} digits; a UID has 4, 7, 8 or 10 bytes')
    return uid


def check_name(name: str) -> str:
    """The name of a deck, if it can be one; else ConfigError."""
    if not NAME.fullmatch(name):
        raise ConfigError(f'deck "{name}": a name has 1 to 32 of a-z, 0-9 and -')
    return name


def load(path: Path) -> Deck:
    """Read a deck file of 52 cards. ConfigError names the file and the line or card."""
    deck = load_part(path)
    missing = [card for card in DECK if card not in deck.cards]
    if missing:
        more = f" and {len(missing) - 5} more" if len(missing) > 5 else ""
        raise ConfigError(f"{path}: no line for {', '.join(missing[:5])}{more}")
    return deck


def load_part(path: Path) -> Deck:
    """Read a deck file that may lack cards. ConfigError names the file and the line or card."""
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise ConfigError(f"{path}: {error.strerror}") from None
    except UnicodeDecodeError as error:
        raise ConfigError(f"{path}: {error}") from None
    lines = _card_lines(path, text)
    try:
        raw = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"{path}: {error}") from None
    unknown = sorted(raw.keys() - {"name", "cards"})
    if unknown:
        raise ConfigError(f"{path}: unknown key {unknown[0]}")
    if raw.get("name") != path.stem:
        raise ConfigError(f'{path}: name = "{path.stem}" is what a file of this name says')
    check_name(path.stem)
    return Deck(path.stem, _cards(path, raw.get("cards"), lines))


def _card_lines(path: Path, text: str) -> dict[str, int]:
    """The line number of each card; ConfigError for a card that has two lines."""
    lines: dict[str, int] = {}
    for number, line in enumerate(text.splitlines(), 1):
        match = _KEY.match(line)
        if match is None:
            continue
        card = match["card"]
        if card in lines:
            raise ConfigError(f"{path}:{number}: {card} twice, first in line {lines[card]}")
        lines[card] = number
    return lines


def _cards(path: Path, raw: Any, lines: Mapping[str, int]) -> dict[str, str]:  # noqa: ANN401 - TOML
    if not isinstance(raw, dict):
        raise ConfigError(f"{path}: no table [cards]")
    cards: dict[str, str] = {}
    for card, uid in raw.items():
        place = f"{path}:{lines[card]}: {card}" if card in lines else f"{path}: {card}"
        if card not in DECK:
            raise ConfigError(f"{place} is no card (cards are written As, Td)")
        cards[card] = _checked(place, uid)
    owner: dict[str, str] = {}
    for card, uid in cards.items():
        first = owner.setdefault(uid, card)
        if first != card:
            raise ConfigError(f"{path}:{lines.get(card, 0)}: {card} has the UID of {first}, {uid}")
    return cards


def _checked(place: str, uid: object) -> str:
    if not isinstance(uid, str):
        raise ConfigError(f'{place}: a UID is text, as in "E0040150954F02B1"')
    try:
        normal = uid_of(uid)
    except ValueError as error:
        raise ConfigError(f"{place}: {error}") from None
    if normal != uid:
        raise ConfigError(f'{place}: "{uid}" is to be written "{normal}"')
    return uid


def load_all(folder: Path) -> list[Deck]:
    """All decks of a folder by name; none if it is not there.

    ConfigError for a file that is wrong, and for a tag that two decks claim.
    """
    decks = [load(path) for path in files(folder)]
    owner: dict[str, tuple[str, str]] = {}
    for deck in decks:
        for card, uid in deck.cards.items():
            first = owner.setdefault(uid, (deck.name, card))
            if first != (deck.name, card):
                raise ConfigError(
                    f"{path_of(folder, deck.name)}: {card} has tag {uid}, which is "
                    f"{first[1]} of deck {first[0]}"
                )
    return decks


def files(folder: Path) -> list[Path]:
    """The deck files of a folder."""
    return sorted(folder.glob("*.toml"))


def path_of(folder: Path, name: str) -> Path:
    """Where a deck of this name is kept."""
    return folder / f"{name}.toml"


def part_of(folder: Path, name: str) -> Path:
    """Where a deck is kept while it is being enrolled; no `*.toml`, so nobody plays with it."""
    return folder / "enrolling" / f"{name}.toml"


def write(path: Path, deck: Deck) -> None:
    """Put a deck file in place, whole or not at all; the folder is made if need be.

    The cards keep their order. FeltdError, with the reason, when it cannot be written.
    """
    lines = [f'{card} = "{uid}"\n' for card, uid in deck.cards.items()]
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        _put(path, f'name = "{deck.name}"\n\n[cards]\n{"".join(lines)}')
    except OSError as error:
        raise FeltdError(f"{path}: {error.strerror}") from None


def _put(path: Path, text: str) -> None:
    """Write beside the file, sync, rename; `NamedTemporaryFile` makes it mode 0600."""
    with tempfile.NamedTemporaryFile(
        "w", dir=path.parent, prefix=f".{path.name}.", delete=False, encoding="utf-8"
    ) as file:
        try:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
            Path(file.name).rename(path)
        except BaseException:
            Path(file.name).unlink(missing_ok=True)
            raise
    _sync(path.parent)


def _sync(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def from_csv(name: str, source: str, lines: Iterable[str]) -> Deck:
    """A deck from lines `uid,card`, or as a heading orders the columns.

    Notation of UIDs and cards is free (`e0:04:...`, `A♠`). ConfigError names `source` and line.
    """
    order: tuple[str, ...] = ("uid", "card")
    cards: dict[str, str] = {}
    number = 0
    for number, row in enumerate(csv.reader(lines), 1):
        heading = tuple(cell.strip().lower() for cell in row)
        if number == 1 and {"uid", "card"} <= set(heading):
            order = heading
        elif any(heading):
            _take(f"{source}:{number}", dict(zip(order, row, strict=False)), cards)
    missing = [card for card in SORTED_ORDER if card not in cards]
    if missing:
        raise ConfigError(f"{source}:{number}: the end, but no line for {', '.join(missing)}")
    return Deck(name, cards).sorted()


def _take(place: str, row: Mapping[str, str], cards: dict[str, str]) -> None:
    """Add one CSV line to the cards."""
    if "card" not in row:
        raise ConfigError(f"{place}: a line is uid,card")
    try:
        uid, found = uid_of(row["uid"]), parse_cards(row["card"])
    except (ValueError, CardError) as error:
        raise ConfigError(f"{place}: {error}") from None
    if len(found) != 1:
        raise ConfigError(f'{place}: "{row["card"]}" is not one card')
    if found[0] in cards:
        raise ConfigError(f"{place}: {found[0]} twice")
    if uid in cards.values():
        raise ConfigError(f"{place}: UID {uid} twice")
    cards[found[0]] = uid
