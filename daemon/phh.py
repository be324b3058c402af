"""Hands written in the PHH notation, dealt card by card on a virtual table.

Source: the Poker Hand History standard (TOML; `d dh pN`, `d db`, `pN f|cc|cbr|pb|sm`). Player pN
sits at seat N, the last one has the button. The virtual table has antennas at every seat (in stud
one more for up cards), the board, the muck and the burns; they miss nothing but `??`. Burns are not
noted, so they are taken from the cards that the file never deals.
"""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from daemon.errors import FeltdError
from daemon.rules.cards import DECK

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

DISCIPLINES = {
    "FT": "holdem",
    "NT": "holdem",
    "PO": "omaha",
    "FO/8": "omaha",
    "F7S": "stud",
    "F7S/8": "stud",
}
BOARD_CARDS = {"holdem": 5, "omaha": 5, "stud": 0}
MOST_SEATS = {"holdem": 10, "omaha": 10, "stud": 8}
READER = "virtual"
DECK_NAME = "phh"
UIDS = {card: f"E00401{number:010X}" for number, card in enumerate(DECK, 1)}
UNKNOWN = "??"

Line = dict[str, object]

_PASS = 0.5
_ACTION = re.compile(
    r"d (?:dh p(?P<to>\d+)|(?P<board>db)) (?P<dealt>\S+)"
    r"|p(?P<player>\d+) (?P<verb>f|cc|cbr|pb|sm)(?: (?P<rest>\S+))?"
)
_CARD = re.compile(r"[2-9TJQKA][cdhs]|\?\?")


@dataclass(frozen=True)
class PhhHand:
    """One hand as inputs of a table.

    `zones` maps `reader/antenna` to a zone, `cards` a UID to its deck and face; `lines` are those
    of a recording, the first one included.
    """

    discipline: str
    seats: int
    zones: dict[str, str]
    cards: dict[str, tuple[str, str]]
    lines: tuple[Line, ...]


def inputs(path: Path) -> PhhHand:
    """The hand of a `.phh` file. Raises FeltdError, one line that names file and action."""
    try:
        with path.open("rb") as file:
            fields = tomllib.load(file)
    except OSError as error:
        raise FeltdError(f"{path}: {error.strerror}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise FeltdError(f"{path}: not TOML: {error}") from None
    try:
        return _deal(fields)
    except _HandError as error:
        raise FeltdError(f"{path}: {error}") from None


class _HandError(Exception):
    """What is wrong with the file, and at which action."""


class _Action(NamedTuple):
    """One action: `seat` is None for the board, `cards` what is dealt or shown."""

    verb: str
    seat: int | None
    cards: tuple[str, ...]
    where: str


def _deal(fields: dict[str, object]) -> PhhHand:
    discipline = DISCIPLINES.get(str(fields.get("variant")))
    if discipline is None:
        known = ", ".join(DISCIPLINES)
        raise _HandError(f"variant {fields.get('variant')!r} is none of {known}")
    stacks, texts = fields.get("starting_stacks"), fields.get("actions")
    if not isinstance(stacks, list) or not isinstance(texts, list):
        raise _HandError("starting_stacks or actions is missing")
    seats = len(stacks)
    if not 2 <= seats <= MOST_SEATS[discipline]:
        raise _HandError(f"starting_stacks: {seats} players at {discipline}")
    actions = [_parse(number, str(text), seats) for number, text in enumerate(texts, 1)]
    table = _Table(discipline, seats, _spare(actions))
    table.play([each for each in actions if each.verb])
    return PhhHand(
        discipline,
        seats,
        {f"{READER}/{number}": zone for number, zone in enumerate(table.zones, 1)},
        {uid: (DECK_NAME, card) for card, uid in UIDS.items()},
        tuple(table.lines),
    )


def _parse(number: int, text: str, seats: int) -> _Action:
    """One action; a mere comment has no verb."""
    where = f"action {number} ({text})"
    bare = text.partition("#")[0].strip()
    if not bare:
        return _Action("", None, (), where)
    match = _ACTION.fullmatch(bare)
    if match is None:
        raise _HandError(f"{where}: not an action of PHH")
    player = match["to"] or match["player"]
    seat = int(player) if player else None
    if seat is not None and not 1 <= seat <= seats:
        raise _HandError(f"{where}: no such player")
    if match["verb"] in {"f", "cc", "cbr", "pb"}:
        return _Action(match["verb"], seat, (), where)
    cards = _cards(match["dealt"] or match["rest"] or "", where)
    return _Action(match["verb"] or "deal", seat, cards, where)


def _cards(text: str, where: str) -> tuple[str, ...]:
    cards = tuple(text[at : at + 2] for at in range(0, len(text), 2))
    for card in cards:
        if not _CARD.fullmatch(card):
            raise _HandError(f"{where}: {card!r} is not a card")
    return cards


def _spare(actions: Sequence[_Action]) -> Iterator[str]:
    """The cards that may have been burnt: the file neither deals nor shows them."""
    noted = {card for action in actions for card in action.cards}
    return iter([card for card in DECK if card not in noted])


@dataclass
class _Table:
    """The virtual table: what lies where, and the recording of it so far."""

    discipline: str
    seats: int
    spare: Iterator[str]
    t: float = 0.0
    lines: list[Line] = field(default_factory=list)
    lying: dict[str, list[str]] = field(default_factory=dict)
    hands: dict[int, list[str]] = field(default_factory=dict)
    board: list[str] = field(default_factory=list)
    street: int = 0
    commands: int = 0

    def __post_init__(self) -> None:
        seats = range(1, self.seats + 1)
        self.zones = [f"seat:{seat}" for seat in seats]
        if self.discipline == "stud":
            self.zones += [f"seat:{seat}:up" for seat in seats]
        self.zones += ["board", "muck", "burn"]
        self.live = list(seats)
        self.hands = {seat: [] for seat in seats}
        self.dealt: set[str] = set()

    def play(self, actions: Sequence[_Action]) -> None:
        """The whole hand, from a clear table to a clear table."""
        header: Line = {"started": "1970-01-01T00:00:00Z", "epoch": "replay", "hand": 1}
        button = {} if self.discipline == "stud" else {"button": self.seats}
        self.lines.append(header | button)
        self.look(2)
        self.say("start-hand", seats=list(self.live), **button)
        last = max((n for n, each in enumerate(actions) if each.verb == "deal"), default=-1)
        for action in actions[: last + 1]:
            self.act(action)
        ending = actions[last + 1 :]
        for action in ending:
            if action.verb != "sm":
                self.act(action)
        self.finish([each for each in ending if each.verb == "sm"])

    def look(self, passes: int = 1) -> None:
        """All antennas look, every half second."""
        for _ in range(passes):
            self.t += _PASS
            for number, zone in enumerate(self.zones, 1):
                tags = sorted(self.lying.get(zone, ()))
                self.lines.append({"t": self.t, "reader": READER, "antenna": number, "tags": tags})

    def say(self, kind: str, **fields: object) -> None:
        """A command of the operator; typed cards are hidden ones."""
        self.commands += 1
        line: Line = {"t": self.t, "command": {"id": f"{self.commands}", "type": kind} | fields}
        self.lines.append(line | {"private": True} if kind == "card" else line)

    def act(self, action: _Action) -> None:
        """One action before the end: dealing, folding, tabling; bets only take time."""
        if action.seat is not None and action.seat not in self.live:
            raise _HandError(f"{action.where}: the hand is folded")
        match action.verb:
            case "deal" if action.seat is None:
                self.deal_board(action)
            case "deal":
                self.deal_seat(action.seat or 0, action)
            case "f":
                self.fold(action.seat or 0)
            case "sm" if action.cards:
                self.type_unheard(action)
                self.say("show", seats=[action.seat])
            case "sm":
                self.fold(action.seat or 0)
        self.look()

    def deal_seat(self, seat: int, action: _Action) -> None:
        """Cards to a seat, down or up as the street has it; a new street burns first."""
        for card in action.cards:
            hand = self.hands[seat]
            count = len(hand) + 1
            if self.discipline == "stud" and count > max(3, self.street):
                self.street = count
                self.burn()
            up = self.discipline == "stud" and 3 <= count <= 6
            hand.append(card)
            self.lay(card, f"seat:{seat}:up" if up else f"seat:{seat}", action)

    def deal_board(self, action: _Action) -> None:
        """A burn, then the cards of the street one after the other."""
        self.burn()
        for card in action.cards:
            self.board.append(card)
            self.lay(card, "board", action)

    def burn(self) -> None:
        """The next card that the file does not know, face down."""
        card = next(self.spare, None)
        if card:
            self.lying.setdefault("burn", []).append(UIDS[card])
            self.look(2)

    def lay(self, card: str, zone: str, action: _Action) -> None:
        """One card comes to rest; `??` is never heard."""
        if card == UNKNOWN:
            self.look(2)
            return
        if card in self.dealt:
            raise _HandError(f"{action.where}: {card} was dealt before")
        self.dealt.add(card)
        self.lying.setdefault(zone, []).append(UIDS[card])
        self.look(2)

    def fold(self, seat: int) -> None:
        """The hand passes the muck; one that nobody ever heard can only be told."""
        self.live.remove(seat)
        heard = [card for card in self.hands[seat] if card != UNKNOWN]
        if not heard:
            self.say("fold", seat=seat)
        self.to_muck(seat)

    def to_muck(self, seat: int) -> None:
        """The seat's cards leave it, and lie on the muck a moment later."""
        cards = self.lying.pop(f"seat:{seat}", []) + self.lying.pop(f"seat:{seat}:up", [])
        self.look()
        self.lying.setdefault("muck", []).extend(cards)
        self.look(3)

    def type_unheard(self, action: _Action) -> None:
        """Cards noted as `??` when they were dealt, and told when they are shown."""
        hand = self.hands[action.seat or 0]
        told = [card for card in action.cards if card not in hand and card != UNKNOWN]
        for index, card in enumerate(hand):
            if card == UNKNOWN and told:
                hand[index] = told.pop(0)
                self.say(
                    "card",
                    zone=f"seat:{action.seat}",
                    card=hand[index],
                    index=index,
                )

    def complete(self) -> bool:
        """Whether the last street is out."""
        if self.discipline != "stud":
            return len(self.board) == BOARD_CARDS[self.discipline]
        return all(len(self.hands[seat]) + len(self.board) == 7 for seat in self.live)

    def finish(self, ending: Sequence[_Action]) -> None:
        """The showdown with who showed, the losers' muck, and the sweep."""
        self.look(4)
        for action in ending:
            if action.seat not in self.live:
                raise _HandError(f"{action.where}: the hand is folded")
            self.type_unheard(action)
        shown = sorted(each.seat for each in ending if each.seat is not None and each.cards)
        if len(self.live) > 1 and shown and self.complete():
            self.say("showdown", shown=shown)
            self.look(2)
            for seat in [seat for seat in self.live if seat not in shown]:
                self.to_muck(seat)
        self.look(4)
        self.say("end-hand")
        self.lying.clear()
        self.look(20)
