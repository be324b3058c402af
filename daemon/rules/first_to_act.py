"""Who acts first in stud: the bring-in on third street, the highest board after (rule 3.5.1).

On a board of two to four cards straights and flushes do not count, and the ace is high.
"""

from __future__ import annotations

from collections import Counter
from itertools import chain
from typing import TYPE_CHECKING, Final

from msgspec import UNSET

from daemon.rules.cards import number_of, rank_of, require_distinct
from daemon.rules.errors import RuleError
from daemon.rules.profile import SPORT_POKER
from daemon.rules.results import FirstToActResult
from daemon.rules.seats import clockwise, require_seats
from daemon.rules.words import count

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from daemon.rules.profile import Profile
    from daemon.rules.results import DecidedBy

UP_CARDS: Final = {"third": 1, "fourth": 2, "fifth": 3, "sixth": 4, "seventh": 4}
"""How many up cards a seat has on each street; those of sixth street rule the seventh."""
STUD_SEATS: Final = 8


def first_to_act(
    street: str,
    up: Mapping[int, Sequence[str]],
    *,
    all_in: Collection[int] = (),
    folded: Collection[int] = (),
    common: str | None = None,
    profile: Profile = SPORT_POKER,
) -> FirstToActResult:
    """Who opens `street` (a key of `UP_CARDS`), from the up cards of each seat in order of deal.

    Boards of `folded` seats are dead. Where the deciding seat is all-in, the next one clockwise
    that is not acts (TDA RP-10-E, WSOP live 217 and 240). `common` is the common card that
    replaces the seventh, if it was dealt; the profile says whether it counts. Raises RuleError,
    which names the seat or card.
    """
    boards = {seat: tuple(up[seat]) for seat in clockwise(up) if seat not in folded}
    _check(street, boards, all_in, common)
    require_distinct([*chain.from_iterable(up.values()), *([common] if common else [])])
    able = [seat for seat in boards if seat not in all_in]
    if not able:
        raise RuleError("every live seat is all-in, nobody can act")
    if street == "third":
        decider, tied, decided_by = _bring_in(boards)
    else:
        shared = common if profile.common_card_opener == "with-common-card" else None
        decider, tied, decided_by = _opener(boards, shared, profile)
    seat = decider if decider in able else clockwise(able, decider)[0]
    return FirstToActResult(
        street=street,
        kind="bring-in" if street == "third" else "open",
        seat=seat,
        tied=tied,
        decided_by=decided_by,
        boards=boards,
        by_seat=UNSET if seat == decider else decider,
    )


_Decision = tuple[int, tuple[int, ...], "DecidedBy"]


def _bring_in(boards: Mapping[int, Sequence[str]]) -> _Decision:
    lowest = min(boards, key=lambda seat: number_of(boards[seat][0]))
    rank = rank_of(boards[lowest][0])
    equal = tuple(seat for seat in boards if rank_of(boards[seat][0]) == rank)
    return (lowest, equal, "suit") if len(equal) > 1 else (lowest, (), "rank")


def _opener(boards: Mapping[int, Sequence[str]], common: str | None, profile: Profile) -> _Decision:
    shared = [common] if common else []
    values = {seat: board_value([*cards, *shared]) for seat, cards in boards.items()}
    best = max(values.values())
    equal = tuple(seat for seat in boards if values[seat] == best)
    if len(equal) == 1:
        return equal[0], (), "rank"
    if profile.stud_equal_boards == "position":
        return equal[0], equal, "position"
    inside_pair = profile.stud_board_suit == "inside-pair"
    return max(equal, key=lambda seat: _suited(boards[seat], inside_pair)), equal, "suit"


def board_value(cards: Sequence[str]) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """What an open board is worth, greater is better: quads, trips, two pair, pair, high cards.

    How often its ranks are there, and then the ranks themselves in the same order.
    """
    ranks = Counter(rank_of(card) for card in cards)
    groups = sorted(((number, rank) for rank, number in ranks.items()), reverse=True)
    return tuple(number for number, _ in groups), tuple(rank for _, rank in groups)


def _suited(cards: Sequence[str], inside_pair: bool) -> list[int]:  # noqa: FBT001  # local
    """The cards of an equal board from the one whose suit is asked first."""
    ranks = Counter(rank_of(card) for card in cards)
    numbers = sorted(map(number_of, cards), reverse=True)
    if inside_pair:
        numbers.sort(key=lambda number: (ranks[number >> 2], number), reverse=True)
    return numbers


def _check(
    street: str, up: Mapping[int, Sequence[str]], all_in: Collection[int], common: str | None
) -> None:
    wanted = UP_CARDS.get(street)
    if wanted is None:
        raise RuleError(f"{street} is no street of stud ({', '.join(UP_CARDS)})")
    if common and street != "seventh":
        raise RuleError("a common card is dealt on seventh street only")
    if not up:
        raise RuleError("no live seat has up cards")
    require_seats([*up], STUD_SEATS)
    for seat, cards in up.items():
        if len(cards) != wanted:
            held = count(len(cards), "up card")
            raise RuleError(f"seat {seat} has {held}, {street} street is opened on {wanted}")
    for seat in all_in:
        if seat not in up:
            raise RuleError(f"seat {seat} is all-in but has no live up cards")


def posted_bring_in(bring_in: int, stack: int) -> int:
    """What the low card posts: the bring-in, or all it has (WSOP live 217).

    The others owe the full bring-in all the same.
    """
    return min(bring_in, stack)
