"""`feltd rule`: the floor's calculator, without any hardware."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Final

from daemon.rules import CardError
from daemon.rules.cards import parse_cards

if TYPE_CHECKING:
    from collections.abc import Callable

HELP: Final = "rule on a showdown, a button draw, stud's opener, a chip race or pots"
EXAMPLE: Final = "feltd rule first-to-act --street 4 --up 1='Kc 9d' --up 3='Kd 9s'"


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the five rulings with their options."""
    rulings = parser.add_subparsers(dest="ruling", metavar="RULING", required=True)
    for name, (configure_ruling, about, example) in _RULINGS.items():
        ruling = rulings.add_parser(
            name, help=about, description=about, epilog=f"example: feltd rule {name} {example}"
        )
        configure_ruling(ruling)
        ruling.add_argument("--json", action="store_true", help="the payload of the topic")
        ruling.add_argument("--lang", choices=("en", "ru"), default="en", help="default: en")
        ruling.add_argument("--preset", default="sport-poker", help="the rule profile")
        _many(ruling, "--rule", _setting, "KEY=VALUE", "one rule that differs from the preset")


def run(options: argparse.Namespace) -> int:
    """Print the ruling; a refusal by the rules is an error with status 1."""
    from daemon.cli import _rulings  # noqa: PLC0415  # what every other command can do without

    print(_rulings.ruling(options))
    return 0


def _configure_showdown(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--discipline", choices=_DISCIPLINES, required=True)
    parser.add_argument(
        "--board", type=_cards, default=[], metavar="CARDS", help="in stud: the common card"
    )
    _many(parser, "--hand", _seat_cards, "SEAT=CARDS", "a hand that is shown", required=True)
    _many(parser, "--mucked", _seat, "SEAT", "a seat that does not show")


def _configure_pots(parser: argparse.ArgumentParser) -> None:
    _configure_showdown(parser)
    _many(parser, "--pot", _pot, "AMOUNT=SEAT,SEAT", "a pot and who can win it", required=True)
    parser.add_argument(
        "--chip", type=int, required=True, metavar="V", help="the smallest chip in play"
    )
    parser.add_argument("--button", type=_seat, metavar="SEAT", help="not in stud")


def _configure_button_draw(parser: argparse.ArgumentParser) -> None:
    _many(parser, "--card", _seat_cards, "SEAT=CARD", "one card each", required=True)
    parser.add_argument("--discipline", choices=_DISCIPLINES, default="holdem")


def _configure_first_to_act(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--street", type=int, choices=range(3, 8), required=True, help="3 is the bring-in"
    )
    up = "live up cards; on 7 those of sixth street"
    _many(parser, "--up", _seat_cards, "SEAT=CARDS", up, required=True)
    _many(parser, "--all-in", _seat, "SEAT", "a seat that cannot act")
    parser.add_argument(
        "--common", type=_one_card, default=[], metavar="CARD", help="the common card on 7"
    )


def _configure_chip_race(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--from", type=int, required=True, dest="old", metavar="V")
    parser.add_argument("--to", type=int, required=True, dest="new", metavar="V")
    counts = "all chips of the old value that a seat holds, 0 included"
    _many(parser, "--counts", _seat_chips, "SEAT=CHIPS", counts, required=True)
    _many(parser, "--cards", _seat_cards, "SEAT=CARDS", "a card for each odd chip")
    _many(parser, "--all-in", _seat, "SEAT", "a seat that owns nothing else")


def _many(
    parser: argparse.ArgumentParser,
    option: str,
    kind: Callable[[str], object],
    metavar: str,
    about: str,
    *,
    required: bool = False,
) -> None:
    """An option that is repeated, or followed by several values."""
    parser.add_argument(
        option,
        action="extend",
        nargs="+",
        type=kind,
        default=None if required else [],
        required=required,
        metavar=metavar,
        help=f"{about}; repeated",
    )


def _cards(text: str) -> list[str]:
    try:
        return parse_cards(text)
    except CardError as error:
        raise argparse.ArgumentTypeError(str(error)) from error


def _one_card(text: str) -> list[str]:
    cards = _cards(text)
    if len(cards) != 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not one card")
    return cards


def _number(text: str, what: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is no {what}") from None


def _seat(text: str) -> int:
    return _number(text, "seat")


def _pair(text: str, form: str) -> tuple[str, str]:
    left, equals, right = text.partition("=")
    if not equals:
        raise argparse.ArgumentTypeError(f"{text!r} is not of the form {form}")
    return left.strip(), right.strip()


def _seat_cards(text: str) -> tuple[int, list[str]]:
    seat, cards = _pair(text, "SEAT=CARDS")
    return _seat(seat), _cards(cards)


def _seat_chips(text: str) -> tuple[int, int]:
    seat, chips = _pair(text, "SEAT=CHIPS")
    return _seat(seat), _number(chips, "number of chips")


def _pot(text: str) -> tuple[int, list[int]]:
    amount, seats = _pair(text, "AMOUNT=SEAT,SEAT")
    return _number(amount, "amount"), [_seat(seat.strip()) for seat in seats.split(",")]


def _setting(text: str) -> tuple[str, object]:
    key, value = _pair(text, "KEY=VALUE")
    return key, {"true": True, "false": False}.get(value, value)


_POTS_EXAMPLE: Final = (
    "--discipline holdem --pot 125=1,2 --chip 25 --button 1 --board 'Ah Kh Qh Jh Th' "
    "--hand 1=AsAd --hand 2=2c7d"
)
_DISCIPLINES: Final = ("holdem", "omaha", "stud")

_RULINGS: Final[dict[str, tuple[Callable[[argparse.ArgumentParser], None], str, str]]] = {
    "showdown": (
        _configure_showdown,
        "who wins, and with what",
        "--discipline stud --board 9s --hand 1='9c 9d 4h 4c Ks 2d' --hand 2=AhAd5c5d3s3c",
    ),
    "button-draw": (
        _configure_button_draw,
        "who has the button for the first hand",
        "--card 1=Ah --card 2=Kd --card 3=As",
    ),
    "first-to-act": (
        _configure_first_to_act,
        "who opens a street of stud",
        "--street 4 --up 1='Kc 9d' --up 3='Kd 9s' --all-in 3",
    ),
    "chip-race": (
        _configure_chip_race,
        "who wins the new chips of a color-up",
        "--from 25 --to 100 --counts 1=11 --counts 2=5 --cards 1='As 3c 4d' --cards 2=Td",
    ),
    "pots": (
        _configure_pots,
        "how pots are split, odd chips included",
        _POTS_EXAMPLE,
    ),
}
