"""Main and side pots, and their shares (TDA 20 and 21).

Every pot is split on its own, in the smallest chip in play. Odd chips go by position: clockwise
from the button, in stud from the dealer's left, unless the profile has suits decide in stud.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from daemon.rules.cards import number_of
from daemon.rules.errors import RuleError
from daemon.rules.profile import SPORT_POKER
from daemon.rules.results import PotShares
from daemon.rules.seats import clockwise, require_seats

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from daemon.rules.profile import Profile
    from daemon.rules.results import ShowdownResult, ShownHand


class Pot(msgspec.Struct, frozen=True):
    """An amount, and the seats that can win it."""

    amount: int
    seats: tuple[int, ...]


class Pots(msgspec.Struct, frozen=True):
    """The pots of a hand, main pot first, and the money that nobody called."""

    pots: tuple[Pot, ...]
    returned: dict[int, int]


def make_pots(put_in: Mapping[int, int], folded: Collection[int] = ()) -> Pots:
    """The pots from what each seat put in over the whole hand; nothing is lost or added.

    Raises RuleError for an amount below zero or when every seat has folded.
    """
    require_seats([*put_in])
    for seat, amount in put_in.items():
        if amount < 0:
            raise RuleError(f"seat {seat} cannot have put in {amount}")
    live = [seat for seat in sorted(put_in) if seat not in folded]
    if not live:
        raise RuleError("every seat has folded")
    called, returned = _without_uncalled(put_in, live)
    return Pots(tuple(_layers(called, live)), returned)


def _without_uncalled(
    put_in: Mapping[int, int], live: Sequence[int]
) -> tuple[dict[int, int], dict[int, int]]:
    most = max(live, key=lambda seat: put_in[seat])
    others = max((amount for seat, amount in put_in.items() if seat != most), default=0)
    over = put_in[most] - others
    if over <= 0:
        return dict(put_in), {}
    return {**put_in, most: others}, {most: over}


def _layers(called: Mapping[int, int], live: Sequence[int]) -> list[Pot]:
    pots: list[Pot] = []
    floor = 0
    for level in sorted({called[seat] for seat in live} - {0}):
        amount = _between(called, floor, level)
        pots.append(Pot(amount, tuple(seat for seat in live if called[seat] >= level)))
        floor = level
    dead = _between(called, floor, max(called.values()))
    if dead and pots:
        pots[-1] = Pot(pots[-1].amount + dead, pots[-1].seats)
    elif dead:
        pots.append(Pot(dead, tuple(live)))
    return pots


def _between(called: Mapping[int, int], floor: int, level: int) -> int:
    return sum(max(min(amount, level) - floor, 0) for amount in called.values())


def odd_chip_order(
    winners: Collection[int],
    button: int | None,
    hands: Mapping[int, ShownHand] | None = None,
    profile: Profile = SPORT_POKER,
) -> list[int]:
    """The winners in the order in which odd chips go to them; `button` is None in stud.

    `hands` are needed where the profile lets suits decide the odd chip in stud.
    """
    order = clockwise(winners, button or 0)
    if button is not None or profile.stud_odd_chip == "position":
        return order
    hands = hands or {}
    for seat in order:
        if seat not in hands:
            raise RuleError(f"seat {seat} shows no cards, suits cannot give the odd chip")
    of_seven = profile.stud_odd_chip == "suit-of-seven"
    return sorted(order, key=lambda seat: _high_cards(hands[seat], of_seven), reverse=True)


def _high_cards(hand: ShownHand, of_seven: bool) -> list[int]:  # noqa: FBT001  # local
    if of_seven:
        return sorted(map(number_of, hand.cards), reverse=True)
    if "straight" in hand.category:
        return [number_of(card) for card in hand.best]
    return sorted(map(number_of, hand.best), reverse=True)


def split(
    amount: int, order: Sequence[int], chip: int, profile: Profile = SPORT_POKER
) -> dict[int, int]:
    """The share of each winner, in multiples of `chip`; `order` is that of odd chips.

    Raises RuleError when no number of these chips makes the amount.
    """
    if chip <= 0:
        raise RuleError(f"a chip cannot be worth {chip}")
    if amount <= 0 or amount % chip:
        raise RuleError(f"a pot of {amount} cannot be made of chips of {chip}")
    each, odd = divmod(amount // chip, len(order))
    if profile.odd_chips == "first-seat-takes-all":
        return {seat: (each + odd * (seat == order[0])) * chip for seat in order}
    return {seat: (each + (place < odd)) * chip for place, seat in enumerate(order)}


def share_pots(
    result: ShowdownResult,
    pots: Sequence[Pot],
    chip: int,
    button: int | None,
    profile: Profile = SPORT_POKER,
) -> ShowdownResult:
    """A showdown with the shares of its pots, which are given main pot first.

    `button` is None in stud and only there. A pot with one seat goes to it without a hand.
    Raises RuleError, which names the seat, for a seat in a pot that neither shows nor mucked.
    """
    if (result.discipline == "stud") != (button is None):
        raise RuleError(
            "stud has no button" if button is not None else "the odd chip goes by the button"
        )
    if button is not None:
        require_seats([button])
    if not pots:
        raise RuleError("there is no pot")
    shares = tuple(_share(result, pot, chip, button, profile) for pot in pots)
    return msgspec.structs.replace(result, pots=shares)


def _share(
    result: ShowdownResult, pot: Pot, chip: int, button: int | None, profile: Profile
) -> PotShares:
    hands = {hand.seat: hand for hand in result.hands}
    require_seats(pot.seats)
    for seat in pot.seats:
        if seat not in hands and seat not in result.mucked and len(pot.seats) > 1:
            raise RuleError(f"seat {seat} is in a pot but shows no hand")
    ranks = {seat: hands[seat].rank for seat in pot.seats if seat in hands}
    if len(pot.seats) == 1:
        ranks = dict.fromkeys(pot.seats, 0)
    if not ranks:
        raise RuleError(f"nobody shows a hand for the pot of {pot.amount}")
    winners = [seat for seat in sorted(ranks) if ranks[seat] == min(ranks.values())]
    order = winners if len(winners) == 1 else odd_chip_order(winners, button, hands, profile)
    shares = split(pot.amount, order, chip, profile)
    return PotShares(pot.amount, tuple(winners), dict(sorted(shares.items())))
