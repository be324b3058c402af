"""What the rulings say: the bodies of the messages on `showdown` and `ruling/*`.

Seats are numbers in lists and become texts as keys; cards are notation. A field that is `UNSET`
is left out of the message.
"""

from __future__ import annotations

from typing import Literal

import msgspec
from msgspec import UNSET, UnsetType

from daemon.rules.labels import Label

DecidedBy = Literal["rank", "suit", "position"]
OpenerKind = Literal["bring-in", "open"]


class ShownHand(msgspec.Struct, frozen=True):
    """One seat's hand: its own cards, and the five that count in the order they are read."""

    seat: int
    cards: tuple[str, ...]
    best: tuple[str, ...]
    category: str
    rank: int
    label: Label


class PotShares(msgspec.Struct, frozen=True):
    """What each winner of one pot gets; shares add up to the amount."""

    amount: int
    winners: tuple[int, ...]
    shares: dict[int, int]


class ShowdownResult(msgspec.Struct, frozen=True):
    """Who won with what; hands and winners by seat number."""

    discipline: str
    board: tuple[str, ...]
    hands: tuple[ShownHand, ...]
    winners: tuple[int, ...]
    mucked: tuple[int, ...] = ()
    typed: tuple[str, ...] = ()
    pots: tuple[PotShares, ...] | UnsetType = UNSET
    replaces: int | UnsetType = UNSET
    void: bool | UnsetType = UNSET


class SeatCard(msgspec.Struct, frozen=True):
    """A seat, and the card that stands for it."""

    seat: int
    card: str


class ButtonDrawResult(msgspec.Struct, frozen=True):
    """Who has the button for the first hand; `order` is everybody, best card first."""

    winner: int
    card: str
    order: tuple[SeatCard, ...]
    replaces: int | UnsetType = UNSET
    void: bool | UnsetType = UNSET


class FirstToActResult(msgspec.Struct, frozen=True):
    """Who acts first on a street of stud; `by_seat` is set when the cards named an all-in seat.

    `tied` are the seats whose boards were equal before suit or position decided.
    """

    street: str
    kind: OpenerKind
    seat: int
    tied: tuple[int, ...]
    decided_by: DecidedBy
    boards: dict[int, tuple[str, ...]]
    by_seat: int | UnsetType = UNSET


class ChipRaceResult(msgspec.Struct, frozen=True):
    """A color-up: seats get `exchanged` new chips at face value, `awards` by card.

    A seat in `rescued` gets one more new chip, since it would have none. `odd` old chips, a card
    for each, make `new_chips`; `remainder` counts old chips before rounding. `before` and `after`
    are the values of the leaving chips and of what replaces them, by seat; `change` is what the
    table gains or loses. Both are set once nothing is left to be drawn for.
    """

    from_: int = msgspec.field(name="from")
    to: int
    exchanged: dict[int, int]
    odd: dict[int, int]
    new_chips: int
    remainder: int
    ranking: tuple[SeatCard, ...]
    awards: dict[int, int]
    rescued: tuple[int, ...]
    before: dict[int, int]
    after: dict[int, int] | UnsetType = UNSET
    change: int | UnsetType = UNSET
    replaces: int | UnsetType = UNSET
    void: bool | UnsetType = UNSET
