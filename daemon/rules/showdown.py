"""The showdown: cards speak, suits never decide (rules 3.5.2 and 3.6.1)."""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING, Protocol

from daemon.rules.cards import require_distinct
from daemon.rules.errors import RuleError
from daemon.rules.labels import label
from daemon.rules.results import ShowdownResult, ShownHand
from daemon.rules.seats import require_seats
from daemon.rules.words import count

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence

    from daemon.rules.ranking import Strength


class Discipline(Protocol):
    """What a showdown has to know about a discipline (`daemon.games`)."""

    @property
    def name(self) -> str:
        """The discipline as in the configuration."""

    @property
    def max_seats(self) -> int:
        """How many can play."""

    @property
    def own_cards(self) -> int:
        """How many cards a seat has in the end."""

    @property
    def board_cards(self) -> int:
        """How many cards the board has in the end."""

    @property
    def short_hands(self) -> Collection[int]:
        """Other numbers of own cards that may be ruled live."""

    @property
    def common_card(self) -> bool:
        """Whether one card on the board may stand for everybody's last."""

    @property
    def strength(self) -> Callable[[Sequence[str], Sequence[str]], Strength]:
        """The strength of own cards with a board."""


def showdown(
    game: Discipline,
    board: Sequence[str],
    hands: Mapping[int, Sequence[str]],
    mucked: Collection[int] = (),
    typed: Sequence[str] = (),
) -> ShowdownResult:
    """The winners among the hands that are shown, by seat; `board` is stud's common card, if any.

    `mucked` seats win nothing; `typed` are cards that were typed in. Raises RuleError, which
    names the seat or card, for a hand or a board that is not complete or a card that is there
    twice.
    """
    _check(game, board, hands, mucked)
    shown = tuple(_shown(game, seat, hands[seat], board) for seat in sorted(hands))
    best = min(hand.rank for hand in shown)
    return ShowdownResult(
        discipline=game.name,
        board=tuple(board),
        hands=shown,
        winners=tuple(hand.seat for hand in shown if hand.rank == best),
        mucked=tuple(sorted(mucked)),
        typed=tuple(typed),
    )


def _shown(game: Discipline, seat: int, cards: Sequence[str], board: Sequence[str]) -> ShownHand:
    found = game.strength(cards, board)
    return ShownHand(seat, tuple(cards), found.best, found.category, found.rank, label(found))


def _check(
    game: Discipline,
    board: Sequence[str],
    hands: Mapping[int, Sequence[str]],
    mucked: Collection[int],
) -> None:
    if not hands:
        raise RuleError("no hand is shown")
    require_seats([*hands, *mucked], game.max_seats)
    require_distinct(chain(board, *hands.values()))
    boards = (0, 1) if game.common_card else (game.board_cards,)
    if len(board) not in boards:
        wanted = "at most one" if game.common_card else count(game.board_cards, "card")
        raise RuleError(f"the board has {count(len(board), 'card')}, {game.name} has {wanted}")
    common = len(board) if game.common_card else 0
    most = game.own_cards - common
    for seat, cards in sorted(hands.items()):
        if len(cards) != most and (len(cards) not in game.short_hands or len(cards) > most):
            raise RuleError(f"seat {seat} has {count(len(cards), 'card')}")
