"""`feltd equity`: the chances of each seat, without any hardware."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Final

from daemon.errors import UsageError
from daemon.rules.cards import SUITS, parse_cards
from daemon.rules.errors import CardError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from daemon.odds import Equity

HELP: Final = "win, tie and equity of each seat, exact or sampled"
EXAMPLE: Final = (
    "feltd equity --discipline holdem --board '2c 7d 9h' --hand 1=AhAs --hand 2='Kd ??'"
)

_UNKNOWN: Final = "??"
_SYMBOLS: Final = str.maketrans(SUITS, "♣♦♥♠")
_RUSSIAN: Final = {
    "holdem": "Холдем",
    "omaha": "Омаха",
    "stud": "Стад",
    "board": "борд",
    "common card": "общая карта",
    "dead": "вышли",
    "seat": "место",
    "cards": "карты",
    "wins": "выигрыш",
    "ties": "делёж",
    "equity": "эквити",
    "exact, all deals": "точно, все раздачи",
    "sampled, deals": "выборка, раздачи",
    "standard error": "стандартная ошибка",
}
_ENGLISH: Final = {"holdem": "Hold'em", "omaha": "Omaha", "stud": "Stud"}


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the command's options."""
    parser.add_argument("--discipline", choices=("holdem", "omaha", "stud"), required=True)
    parser.add_argument(
        "--board", type=_cards, default=[], metavar="CARDS", help="in stud the common card"
    )
    parser.add_argument(
        "--dead", type=_cards, default=[], metavar="CARDS", help="cards out of play"
    )
    parser.add_argument(
        "--hand",
        action="extend",
        nargs="+",
        type=_seat_cards,
        required=True,
        metavar="SEAT=CARDS",
        help="own cards; ?? is an unknown card, SEAT= an unknown hand; repeated",
    )
    parser.add_argument("--seed", type=int, default=0, help="of sampled deals (default: 0)")
    parser.add_argument("--json", action="store_true", help="the payload of the topic")
    parser.add_argument("--lang", choices=("en", "ru"), default="en", help="default: en")


def run(options: argparse.Namespace) -> int:
    """Print the chances; a spot that cannot be is an error with status 1."""
    import msgspec  # noqa: PLC0415  # what every other command can do without

    from daemon.odds import equity  # noqa: PLC0415  # numpy, only where it is needed

    if options.seed < 0:
        raise UsageError("--seed must not be negative")
    hands: dict[int, list[str]] = {}
    for seat, cards in options.hand:
        if seat in hands:
            raise UsageError(f"seat {seat} twice")
        hands[seat] = cards
    found = equity(options.discipline, hands, options.board, options.dead, seed=options.seed)
    if options.json:
        print(msgspec.json.encode(found).decode())
    else:
        print("\n".join(_text(options, hands, found)))
    return 0


def _cards(text: str) -> list[str]:
    try:
        return parse_cards(text)
    except CardError as error:
        raise argparse.ArgumentTypeError(str(error)) from error


def _seat_cards(text: str) -> tuple[int, list[str]]:
    seat, equals, cards = text.partition("=")
    if not equals:
        raise argparse.ArgumentTypeError(f"{text!r} is not of the form SEAT=CARDS")
    try:
        number = int(seat)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{seat.strip()!r} is no seat") from None
    known, *unknown = cards.split(_UNKNOWN)
    found = _cards(known)
    for piece in unknown:
        found += [_UNKNOWN, *_cards(piece)]
    return number, found


def _text(
    options: argparse.Namespace, hands: Mapping[int, Sequence[str]], found: Equity
) -> Iterable[str]:
    words = _RUSSIAN if options.lang == "ru" else _ENGLISH

    def word(english: str) -> str:
        return words.get(english, english)

    table = word("common card" if options.discipline == "stud" else "board")
    places = ((table, options.board), (word("dead"), options.dead))
    yield ", ".join(
        [word(options.discipline)] + [f"{name} {_shown(cards)}" for name, cards in places if cards]
    )
    rows = [[word("seat"), word("cards"), word("wins"), word("ties"), word("equity")]]
    for seat in found.seats:
        chances = [f"{100 * chance:.3f} %" for chance in (seat.win, seat.tie, seat.equity)]
        rows.append([str(seat.seat), _shown(hands[seat.seat]) or _UNKNOWN, *chances])
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for number, cards, *chances in rows:
        cells = [f"{cell:>{width}}" for cell, width in zip(chances, widths[2:], strict=True)]
        yield "  ".join([f"{number:>{widths[0]}}", f"{cards:<{widths[1]}}", *cells])
    kind = word("exact, all deals" if found.exact else "sampled, deals")
    error = f"; {word('standard error')} {100 * found.error:.3f} %" if found.error else ""
    deals = f"{found.deals:,}".replace(",", " ")
    yield f"{kind}: {deals}{error}"


def _shown(cards: Sequence[str]) -> str:
    return " ".join(card[0] + card[1:].translate(_SYMBOLS) for card in cards)
