"""What the shoe saw: the cards in the order in which they passed, and what the order says.

A dealer's cards come in bursts: the deal, then a burn and the board cards of each street.
Times are whole milliseconds.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from statistics import median
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from daemon.hand import Hand

BURST_MS = 2000
"""Within a burst cards follow each other faster; the betting of two players takes longer."""
STEADY_SHARE = 1.7
"""A gap of this many usual ones has room for a card that was not heard."""
LEAST_GAP_MS = 700


@dataclass
class Passed:
    """A card that passed the shoe; `at` is when it was last heard there."""

    tag: str
    at: int


def note(passed: list[Passed], tag: str, now: int) -> None:
    """One card more has passed, or the last one still lies in the mouth of the shoe."""
    if passed and passed[-1].tag == tag:
        passed[-1].at = now
    else:
        passed.append(Passed(tag, now))


def gaps(passed: Sequence[Passed]) -> list[int]:
    """The times between one card and the next."""
    return [after.at - before.at for before, after in pairwise(passed)]


def room_for_one(passed: Sequence[Passed]) -> int:
    """How long a gap must be for one more card, by the pace of these."""
    usual = median(gaps(passed)) if len(passed) > 1 else 0
    return max(LEAST_GAP_MS, round(STEADY_SHARE * usual))


def bursts(passed: Sequence[Passed]) -> list[list[Passed]]:
    """The cards in groups with pauses between them."""
    found: list[list[Passed]] = []
    for card in passed:
        if found and card.at - found[-1][-1].at < BURST_MS:
            found[-1].append(card)
        else:
            found.append([card])
    return found


def dealt_to_seats(hand: Hand) -> int:
    """How many cards had passed when the last one passed that a seat holds."""
    tags = {tag for seat in hand.seats.values() for tag in seat.tags()}
    most = len(hand.seats) * hand.game.own_cards
    found = (n for n, card in enumerate(hand.passed[:most], 1) if card.tag in tags)
    return max(found, default=0)


def streets_passed(hand: Hand) -> list[list[str]]:
    """The tags of each street that passed whole, its burn first; they end at the first doubt.

    Only in games whose later streets all go to the board.
    """
    found: list[list[str]] = []
    if hand.street < 0 or not hand.game.has_button:
        return found
    later = bursts(hand.passed[dealt_to_seats(hand) :])
    for street, burst in zip(hand.game.streets[1:], later, strict=False):
        if len(burst) != street.burn + street.board:
            break
        found.append([card.tag for card in burst])
    return found


def never_on_board(hand: Hand) -> set[str]:
    """Tags that passed the shoe as cards of seats or as burns, by the order of dealing.

    In stud a burn may come back with the scrambled stub, and be the common card.
    """
    if hand.game.common_card:
        return set()
    dead = {card.tag for card in hand.passed[: dealt_to_seats(hand)]}
    return dead | {tags[0] for tags in streets_passed(hand)}


def is_burn(hand: Hand, tag: str) -> bool:
    """Whether this card is known to have been burnt."""
    return any(tags[0] == tag for tags in streets_passed(hand))
