"""The chip race, or color-up: small chips leave the table (TDA 24, RRoP tournaments).

Each seat changes what it can at face value. For every odd chip that is left it gets one card,
and the seats with the best single cards, by rank and then suit (rule 3.5.1), get a new chip each.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from daemon.rules.cards import DECK, number_of, require_distinct
from daemon.rules.errors import RuleError
from daemon.rules.profile import SPORT_POKER
from daemon.rules.results import ChipRaceResult, SeatCard
from daemon.rules.seats import require_seats
from daemon.rules.words import count

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from daemon.rules.profile import Profile

    Cards = Mapping[int, Sequence[str]]
    Chips = Mapping[int, int]


class _Exchange(NamedTuple):
    old: int
    new: int
    exchanged: dict[int, int]
    odd: dict[int, int]
    new_chips: int
    remainder: int


def chip_race(
    old: int,
    new: int,
    counts: Chips,
    cards: Cards | None = None,
    *,
    all_in: Collection[int] = (),
    profile: Profile = SPORT_POKER,
) -> ChipRaceResult:
    """The race of chips worth `old` into chips worth `new`.

    `counts` are all old chips by seat, `all_in` the seats that own no other chip. Without `cards`
    the result says what to exchange, and by `odd` how many cards to deal to each seat. Raises
    RuleError, which names the seat, chip or card, for an exchange that cannot be made.
    """
    exchange = _exchange(old, new, counts, profile)
    _check_all_in(counts, all_in)
    at_risk = tuple(
        seat for seat in sorted(all_in) if exchange.odd[seat] and not exchange.exchanged[seat]
    )
    before = {seat: old * chips for seat, chips in sorted(counts.items())}
    saved_first = at_risk if profile.race_last_chip == "pool-first" else ()
    left = max(exchange.new_chips - len(saved_first), 0)
    if cards is None and left:
        return _result(exchange, before, (), {}, ())
    best = _best_cards(exchange, cards or {}, saved_first if left else exchange.odd)
    ranking = tuple(SeatCard(seat, DECK[held[0]]) for seat, held in best.items())
    racing = {seat: held for seat, held in best.items() if seat not in saved_first}
    awards = _awards(racing, left, cap_one=profile.race_cap_one)
    rescued = tuple(seat for seat in at_risk if seat not in awards)
    result = _result(exchange, before, ranking, awards, rescued)
    return _settled(result)


def race_steps(leaving: Collection[int], staying: int) -> list[tuple[int, int]]:
    """The races for several denominations that leave at once: smallest first, each into the next.

    Raises RuleError where one does not divide the next.
    """
    steps = list(pairwise([*sorted(set(leaving)), staying]))
    for old, new in steps:
        _check_ratio(old, new)
    return steps


def chips_after(result: ChipRaceResult, held: Chips | None = None) -> dict[int, int]:
    """How many chips of the new value each seat has, with those it `held` before the race.

    These are the counts of the next race when several denominations leave at once.
    """
    held = held or {}
    return {
        seat: held.get(seat, 0)
        + result.exchanged.get(seat, 0)
        + result.awards.get(seat, 0)
        + (seat in result.rescued)
        for seat in sorted({*held, *result.exchanged})
    }


def _exchange(old: int, new: int, counts: Chips, profile: Profile) -> _Exchange:
    _check_ratio(old, new)
    require_seats([*counts])
    if not counts:
        raise RuleError("no seat has chips")
    for seat, chips in counts.items():
        if chips < 0:
            raise RuleError(f"seat {seat} cannot have {chips} chips")
    ratio = new // old
    odd = {seat: counts[seat] % ratio for seat in sorted(counts)}
    total = sum(odd.values())
    if total > len(DECK):
        raise RuleError(
            f"{total} odd chips of {old} need {total} cards, a deck has {len(DECK)}: "
            f"race through a value between {old} and {new}"
        )
    whole, remainder = divmod(total, ratio)
    up = {"half-up": 2 * remainder >= ratio, "always-up": remainder > 0, "down": False}
    exchanged = {seat: counts[seat] // ratio for seat in sorted(counts)}
    return _Exchange(old, new, exchanged, odd, whole + up[profile.race_remainder], remainder)


def _check_ratio(old: int, new: int) -> None:
    if old <= 0 or new <= old:
        raise RuleError(f"chips of {old} cannot be raced into chips of {new}")
    if new % old:
        raise RuleError(f"{old} does not divide {new}: these chips cannot be exchanged evenly")


def _check_all_in(counts: Chips, all_in: Collection[int]) -> None:
    for seat in sorted(all_in):
        if not counts.get(seat):
            raise RuleError(f"seat {seat} is all-in but has no chips to race")


def _best_cards(
    exchange: _Exchange, cards: Cards, optional: Collection[int]
) -> dict[int, list[int]]:
    """Card numbers of each seat, best first; seats by their best card."""
    require_seats([*cards])
    require_distinct([card for held in cards.values() for card in held])
    for seat in sorted({*exchange.odd, *cards}):
        held, odd = len(cards.get(seat, ())), exchange.odd.get(seat, 0)
        if held != odd and not (held == 0 and seat in optional):
            raise RuleError(
                f"seat {seat} has {count(held, 'card')} for {count(odd, 'odd chip')}, "
                "it is one card a chip"
            )
    best = {
        seat: sorted(map(number_of, held), reverse=True) for seat, held in cards.items() if held
    }
    return dict(sorted(best.items(), key=lambda item: item[1], reverse=True))


def _awards(best: Mapping[int, list[int]], chips: int, *, cap_one: bool) -> dict[int, int]:
    if cap_one:
        return dict.fromkeys(list(best)[:chips], 1)
    everything = sorted(((card, seat) for seat in best for card in best[seat]), reverse=True)
    awards: dict[int, int] = {}
    for _, seat in everything[:chips]:
        awards[seat] = awards.get(seat, 0) + 1
    return awards


def _result(
    exchange: _Exchange,
    before: dict[int, int],
    ranking: tuple[SeatCard, ...],
    awards: dict[int, int],
    rescued: tuple[int, ...],
) -> ChipRaceResult:
    return ChipRaceResult(
        from_=exchange.old,
        to=exchange.new,
        exchanged=exchange.exchanged,
        odd=exchange.odd,
        new_chips=exchange.new_chips,
        remainder=exchange.remainder,
        ranking=ranking,
        awards=awards,
        rescued=rescued,
        before=before,
    )


def _settled(result: ChipRaceResult) -> ChipRaceResult:
    after = {seat: result.to * chips for seat, chips in chips_after(result).items()}
    change = sum(after.values()) - sum(result.before.values())
    return msgspec.structs.replace(result, after=after, change=change)
