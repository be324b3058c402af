"""From the options of `feltd rule` to a ruling."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, TypeVar

import msgspec

from daemon.cli import _rule_text
from daemon.errors import FeltdError, UsageError
from daemon.games import GAMES
from daemon.rules import RuleError
from daemon.rules.button_draw import button_draw
from daemon.rules.chip_race import chip_race
from daemon.rules.first_to_act import UP_CARDS, first_to_act
from daemon.rules.pots import Pot, share_pots
from daemon.rules.profile import profile
from daemon.rules.showdown import showdown

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Iterable

    from daemon.rules.profile import Profile

_Value = TypeVar("_Value")


def ruling(options: argparse.Namespace) -> str:
    """The ruling as text or JSON.

    Raises UsageError for options that do not fit together, and FeltdError with the reason for
    which the rules refuse.
    """
    try:
        rules = profile(options.preset, dict(options.rule))
    except RuleError as error:
        raise UsageError(str(error)) from error
    try:
        result = _RULINGS[options.ruling](options, rules)
    except RuleError as error:
        raise FeltdError(str(error)) from error
    if options.json:
        return msgspec.json.encode(result).decode()
    return _rule_text.text(result, options.lang)


def _showdown(options: argparse.Namespace, _: Profile) -> msgspec.Struct:
    hands = _by_seat(options.hand)
    return showdown(GAMES[options.discipline], options.board, hands, options.mucked)


def _pots(options: argparse.Namespace, rules: Profile) -> msgspec.Struct:
    game = GAMES[options.discipline]
    if game.has_button and options.button is None:
        raise UsageError(f"--button is required in {game.name}: odd chips go by it")
    if not game.has_button and options.button is not None:
        raise UsageError(f"--button is refused in {game.name}, which has no button")
    hands = _by_seat(options.hand)
    result = showdown(game, options.board, hands, options.mucked)
    pots = [Pot(amount, tuple(seats)) for amount, seats in options.pot]
    return share_pots(result, pots, options.chip, options.button, rules)


def _button_draw(options: argparse.Namespace, _: Profile) -> msgspec.Struct:
    return button_draw(_by_seat(options.card), discipline=options.discipline)


def _first_to_act(options: argparse.Namespace, rules: Profile) -> msgspec.Struct:
    street = list(UP_CARDS)[options.street - 3]
    up = _by_seat(options.up)
    common = options.common[0] if options.common else None
    return first_to_act(street, up, all_in=options.all_in, common=common, profile=rules)


def _chip_race(options: argparse.Namespace, rules: Profile) -> msgspec.Struct:
    counts = _by_seat(options.counts)
    cards = _by_seat(options.cards) if options.cards else None
    return chip_race(options.old, options.new, counts, cards, all_in=options.all_in, profile=rules)


def _by_seat(pairs: Iterable[tuple[int, _Value]]) -> dict[int, _Value]:
    found: dict[int, _Value] = {}
    for seat, value in pairs:
        if seat in found:
            raise UsageError(f"seat {seat} is given twice")
        found[seat] = value
    return found


_RULINGS: Final[dict[str, Callable[[argparse.Namespace, Profile], msgspec.Struct]]] = {
    "showdown": _showdown,
    "button-draw": _button_draw,
    "first-to-act": _first_to_act,
    "chip-race": _chip_race,
    "pots": _pots,
}
