"""A spot: what is known of a hand in progress, checked, and what is still to be dealt."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from daemon.errors import FeltdError
from daemon.games import GAMES
from daemon.rules.cards import DECK, number_of, require_distinct
from daemon.rules.errors import CardError
from daemon.rules.words import count

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from daemon.games import Game

UNKNOWN: Final = "??"
_NEVER_DEALT: Final = 2


@dataclass(frozen=True)
class Spot:
    """Known cards as numbers, and how many more each seat and the board will have.

    `unknown` says that a card already dealt is not known; `deck` are the cards not known to be
    anywhere, among them the unknown ones.
    """

    discipline: str
    seats: tuple[int, ...]
    own: tuple[tuple[int, ...], ...]
    own_missing: tuple[int, ...]
    board: tuple[int, ...]
    board_missing: int
    deck: tuple[int, ...]
    unknown: bool


def checked_spot(
    discipline: str,
    hands: Mapping[int, Sequence[str] | None],
    board: Sequence[str],
    dead: Sequence[str],
) -> Spot:
    """The spot; raises FeltdError, which names the card or seat that is wrong."""
    game = GAMES.get(discipline)
    if game is None:
        raise FeltdError(f"{discipline} is no discipline ({', '.join(GAMES)})")
    if not hands:
        raise FeltdError("no seat has a hand")
    _check_board(game, board)
    dealt = {seat: _dealt(game, seat, cards, len(board)) for seat, cards in hands.items()}
    known = [[card for card in cards if card != UNKNOWN] for cards in dealt.values()]
    numbers = _numbers([*(card for cards in known for card in cards), *board, *dead])
    deck = tuple(card for card in range(len(DECK)) if card not in numbers)
    sizes = _sizes(game, dealt, board, dead)
    own = tuple(tuple(number_of(card) for card in cards) for cards in known)
    missing = tuple(sizes[0] - len(cards) for cards in own)
    if sum(missing) + sizes[1] - len(board) > len(deck):
        raise FeltdError(f"{len(hands)} seats want more cards than the deck has left")
    return Spot(
        discipline,
        tuple(hands),
        own,
        missing,
        tuple(number_of(card) for card in board),
        sizes[1] - len(board),
        deck,
        unknown=any(UNKNOWN in cards for cards in dealt.values()),
    )


def _check_board(game: Game, board: Sequence[str]) -> None:
    sizes = [0]
    for street in game.streets:
        sizes.append(sizes[-1] + street.board)
    allowed = (0, 1) if game.common_card else sorted(set(sizes))
    if len(board) not in allowed:
        wanted = ", ".join(map(str, allowed))
        raise FeltdError(f"the board has {count(len(board), 'card')} ({game.name}: {wanted})")


def _dealt(game: Game, seat: int, cards: Sequence[str] | None, board: int) -> Sequence[str]:
    if seat < 1:
        raise FeltdError(f"seat {seat}: seats are numbered from 1")
    most = game.own_cards - (board if game.common_card else 0)
    least = game.streets[0].down + game.streets[0].up
    if all(card == UNKNOWN for card in cards or ()) and len(cards or ()) <= most:
        return [UNKNOWN] * max(least, len(cards or ()))
    given = cards or ()
    if not least <= len(given) <= most:
        wanted = str(most) if least == most else f"{least} to {most}"
        raise FeltdError(f"seat {seat} has {count(len(given), 'card')} ({game.name}: {wanted})")
    return given


def _numbers(cards: Sequence[str]) -> set[int]:
    try:
        require_distinct(cards)
    except CardError as error:
        raise FeltdError(str(error)) from None
    return {number_of(card) for card in cards}


def _sizes(
    game: Game, dealt: Mapping[int, Sequence[str]], board: Sequence[str], dead: Sequence[str]
) -> tuple[int, int]:
    """How many cards each seat and the board will have in the end.

    Stud deals a common card for the last one when the stub and the old burns, less a burn and the
    last card, are too few (TDA RP-10-H); burns are counted there unless named as dead.
    """
    if not game.common_card:
        return game.own_cards, game.board_cards
    if board:
        return game.own_cards - 1, 1
    left = len(DECK) - len(dead) - game.own_cards * len(dealt)
    complete = max(map(len, dealt.values())) == game.own_cards
    if left >= _NEVER_DEALT or complete:
        return game.own_cards, 0
    return game.own_cards - 1, 1
