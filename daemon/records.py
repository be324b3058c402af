"""Records of finished hands: a hand as the table saw it, written in the PHH notation.

Source: the Poker Hand History standard (TOML). A table of readers knows no bets, so a record is
partial: stacks are `inf`, blinds and bets 0, and `_unknown` names what was not known. Actions are
deals, shows and mucks; a fold is a comment, because PHH has folds only between bets. Cards that
nobody saw are `??`. Fields of our own begin with `_`.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from daemon.hand import FOLDED, MUCKED, OUT, SHOWN

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from daemon.chain import Ledger, Result
    from daemon.hand import Hand, Held, Seat
    from daemon.wire import Wire

FORMAT = "feltd1"
UNKNOWN = "??"

_VARIANTS = {
    ("holdem", "fixed-limit"): "FT",
    ("holdem", "no-limit"): "NT",
    ("holdem", "pot-limit"): "NT",
    ("omaha", "fixed-limit"): "PO",
    ("omaha", "no-limit"): "PO",
    ("omaha", "pot-limit"): "PO",
}
"""PHH knows no pot-limit hold'em and no Omaha high but pot-limit; `_betting` has the truth."""
_STUD = "F7S"
_AMOUNTS = {
    "NT": ("blinds_or_straddles", "min_bet"),
    "PO": ("blinds_or_straddles", "min_bet"),
    "FT": ("blinds_or_straddles", "small_bet", "big_bet"),
    "F7S": ("bring_in", "small_bet", "big_bet"),
}
_BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")
_ENVELOPE = frozenset({"v", "table", "epoch"})


class _Action(NamedTuple):
    """One action and when it was seen (ms)."""

    text: str
    at: int


@dataclass(frozen=True)
class About:
    """What a record says besides the hand: the table's betting, its names, its clock."""

    wire: Wire
    betting: str
    names: Mapping[int, str]


@dataclass(frozen=True)
class Draft:
    """A record before it is chained: its hand, its day (UTC, ISO 8601), and its lines."""

    hand: int
    day: str
    text: str


def draft(hand: Hand, ledger: Ledger, about: About) -> Draft:
    """The record of a hand with the results that were told since it began."""
    order = players(hand)
    actions = _actions(hand, order, _shown_at(hand, ledger))
    times = [about.wire.at(action.at) for action in actions]
    fields = _standard(hand, order, about, [action.text for action in actions])
    fields |= {"_times": times} | _own(hand, order, ledger, about)
    lines = [f"{key} = {toml(value)}\n" for key, value in fields.items() if value is not None]
    day = about.wire.moment(hand.started).date().isoformat()
    return Draft(hand.number, day, "".join(lines))


def players(hand: Hand) -> list[int]:
    """The seats in the order of PHH: from the button's left, the button last."""
    seats = sorted(number for number, seat in hand.seats.items() if seat.status != OUT)
    if not hand.game.has_button or hand.button is None:
        return seats
    button = hand.button
    return [n for n in seats if n > button] + [n for n in seats if n <= button]


def toml(value: object) -> str:
    """A value in TOML, on one line; None inside a table is left out."""
    match value:
        case bool():
            return "true" if value else "false"
        case _Bare(text):
            return text
        case int():
            return str(value)
        case str():
            return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
        case dict():
            pairs = ((key, each) for key, each in value.items() if each is not None)
            return "{" + ", ".join(f"{_key(key)} = {toml(each)}" for key, each in pairs) + "}"
        case list() | tuple():
            return "[" + ", ".join(toml(each) for each in value) + "]"
        case _:
            raise TypeError(f"no TOML for {type(value).__name__}")


def _key(key: str) -> str:
    return key if _BARE_KEY.fullmatch(key) else toml(key)


@dataclass(frozen=True)
class _Bare:
    """Text that stands without quotes: `inf`, a time of day."""

    text: str


def _shown_at(hand: Hand, ledger: Ledger) -> int:
    """When hands were shown: at the last showdown, or after the last card."""
    told = [result.at for result in ledger.results if result.topic == "showdown"]
    return max(told, default=hand.last_dealt)


def _standard(
    hand: Hand, order: Sequence[int], about: About, actions: Sequence[str]
) -> dict[str, object]:
    variant = _VARIANTS.get((hand.discipline, about.betting), _STUD)
    zeros = [0] * len(order)
    moment = about.wire.moment(hand.started)
    names = [about.names.get(number, "") for number in order]
    amounts = {name: zeros if name == "blinds_or_straddles" else 0 for name in _AMOUNTS[variant]}
    return {
        "variant": variant,
        "antes": zeros,
        **amounts,
        "starting_stacks": [_Bare("inf")] * len(order),
        "actions": list(actions),
        "hand": hand.number,
        "table": about.wire.table,
        "seats": list(order),
        "players": names if any(names) else None,
        "day": moment.day,
        "month": moment.month,
        "year": moment.year,
        "time": _Bare(moment.strftime("%H:%M:%S")),
        "time_zone": "UTC",
    }


def _own(hand: Hand, order: Sequence[int], ledger: Ledger, about: About) -> dict[str, object]:
    variant = _VARIANTS.get((hand.discipline, about.betting), _STUD)
    at = about.wire.at
    ended = next((one for one in reversed(ledger.results) if _ends(one, hand.number)), None)
    with_status = {
        status: [n for n in order if hand.seats[n].status == status] for status in (FOLDED, MUCKED)
    }
    return {
        "_format": FORMAT,
        "_epoch": about.wire.epoch,
        "_discipline": hand.discipline,
        "_betting": about.betting,
        "_unknown": ["antes", *_AMOUNTS[variant], "starting_stacks", "bets"],
        "_button": hand.button,
        "_deck": hand.deck,
        "_started": at(hand.started),
        "_ended": None if ended is None else at(ended.at),
        "_finished": hand.closed or hand.void,
        "_void": hand.void or None,
        "_folded": with_status[FOLDED],
        "_mucked": with_status[MUCKED],
        "_typed": _typed(hand),
        "_results": [_result(result) for result in ledger.results],
        "_since": ledger.since or ledger.head,
        "_head": ledger.head,
    }


def _ends(result: Result, number: int) -> bool:
    body = msgspec.json.decode(result.payload)
    return body.get("hand") == number and body.get("type") in {"hand-ended", "hand-voided"}


def _result(result: Result) -> dict[str, object]:
    """A result without what is the same in all of them, and with its topic."""
    body = msgspec.json.decode(result.payload)
    return {"topic": result.topic} | {k: v for k, v in body.items() if k not in _ENVELOPE}


def _typed(hand: Hand) -> list[str]:
    cards = [card.face for card in hand.board if card.source == "typed"]
    for seat in hand.seats.values():
        faces = [_face(seat, index, held) for index, held in enumerate(seat.held)]
        typed = zip(faces, seat.held, strict=True)
        cards += [face for face, held in typed if held.source == "typed" and face != UNKNOWN]
    return cards


def _face(seat: Seat, index: int, held: Held) -> str:
    """A card as everybody has seen it."""
    seen = held.up or (seat.status == SHOWN and index < seat.tabled)
    return held.face if seen and held.face is not None else UNKNOWN


def _actions(hand: Hand, order: Sequence[int], shown_at: int) -> list[_Action]:
    """Deals street by street, folds where they came between them, then shows and mucks."""
    streets = _streets(hand, order)
    folds = [
        _Action(f"# p{place} f", hand.seats[number].folded_at or 0)
        for place, number in enumerate(order, 1)
        if hand.seats[number].status == FOLDED
    ]
    folds.sort(key=lambda fold: fold.at)
    actions: list[_Action] = []
    for street in streets:
        begins = min(action.at for action in street)
        while folds and actions and folds[0].at < begins:
            actions.append(folds.pop(0))
        actions += street
    return actions + folds + _shows(hand, order, shown_at)


def _streets(hand: Hand, order: Sequence[int]) -> list[list[_Action]]:
    streets = []
    dealt = common = 0
    last = len(hand.game.streets) - 1
    for number, shape in enumerate(hand.game.streets):
        size = shape.down + shape.up
        street = []
        for place, seat in enumerate((hand.seats[n] for n in order), 1):
            street += _to_seat(hand, place, seat, range(dealt, dealt + size))
        board = hand.board[common:] if number == last else hand.board[common : common + shape.board]
        if board:
            text = "".join(card.face for card in board)
            street.append(_Action(f"d db {text}", max(card.since for card in board)))
        dealt, common = dealt + size, common + shape.board
        streets += [street] if street else []
    return streets


def _to_seat(hand: Hand, place: int, seat: Seat, due: range) -> list[_Action]:
    """A seat's cards of one street. The first ones were dealt, whether they were heard or not."""
    cards = [_face(seat, at, seat.held[at]) for at in due if at < len(seat.held)]
    if due.start == 0:
        cards += [UNKNOWN] * (len(due) - len(cards))
    if not cards:
        return []
    since = [seat.held[at].since for at in due if at < len(seat.held)]
    return [_Action(f"d dh p{place} {''.join(cards)}", max(since, default=hand.started))]


def _shows(hand: Hand, order: Sequence[int], at: int) -> list[_Action]:
    actions = []
    for place, seat in enumerate((hand.seats[n] for n in order), 1):
        faces = [_face(seat, index, held) for index, held in enumerate(seat.held)]
        if seat.status == SHOWN and faces:
            actions.append(_Action(f"p{place} sm {''.join(faces)}", at))
        elif seat.status == MUCKED:
            actions.append(_Action(f"p{place} sm", at))
    return actions
