"""The commands of the floor, typed once: decoding checks every field and names the place.

Source: the command table of docs/protocol.md. Seats are numbers in lists and strings as keys.
"""

from __future__ import annotations

import re
from typing import Annotated, TypeAlias

import msgspec
from msgspec import UNSET, Meta, Struct, UnsetType

Seat: TypeAlias = Annotated[int, Meta(ge=1, le=10)]
Chips: TypeAlias = Annotated[int, Meta(ge=0, le=10**12)]
Value: TypeAlias = Annotated[int, Meta(ge=1, le=10**12)]
Text: TypeAlias = Annotated[str, Meta(max_length=200)]
Id: TypeAlias = Annotated[str, Meta(min_length=1, max_length=64)]
LAST = r"(?!\n)"
"""Behind a `$`, which in Python alone also matches before a line feed at the end."""
_END = f"${LAST}"
_SEAT = "([1-9]|10)"
Card: TypeAlias = Annotated[str, Meta(pattern=f"^[2-9TJQKA][cdhs]{_END}")]
Zone: TypeAlias = Annotated[str, Meta(pattern=f"^(seat:{_SEAT}(:up)?|board|muck|shoe|burn){_END}")]
SeatKeys: TypeAlias = dict[Annotated[str, Meta(pattern=f"^{_SEAT}{_END}")], Chips]
Names: TypeAlias = dict[
    Annotated[str, Meta(pattern=f"^{_SEAT}{_END}")], Annotated[str, Meta(max_length=40)]
]

MAX_BYTES = 16_384


class Command(Struct, frozen=True, kw_only=True, tag_field="type", forbid_unknown_fields=True):
    """What every command carries; `hand` binds it to one hand."""

    id: Id
    by: Id | UnsetType = UNSET
    hand: int | UnsetType = UNSET


class StartHand(Command, frozen=True, kw_only=True, tag="start-hand"):
    """Begin a hand, or adopt the one whose deal began by itself."""

    seats: Annotated[list[Seat], Meta(min_length=2, max_length=10)]
    button: Seat | UnsetType = UNSET
    discipline: str | UnsetType = UNSET


class Fold(Command, frozen=True, kw_only=True, tag="fold"):
    """The seat has given up its hand."""

    seat: Seat


class Show(Command, frozen=True, kw_only=True, tag="show"):
    """These hands are tabled before the end."""

    seats: Annotated[list[Seat], Meta(min_length=1, max_length=10)]


class Showdown(Command, frozen=True, kw_only=True, tag="showdown"):
    """After the last street: who showed; all live seats where nobody is named."""

    shown: Annotated[list[Seat], Meta(min_length=1, max_length=10)] | UnsetType = UNSET


class EndHand(Command, frozen=True, kw_only=True, tag="end-hand"):
    """The hand is over."""

    reason: Text | UnsetType = UNSET


class VoidHand(Command, frozen=True, kw_only=True, tag="void-hand"):
    """The hand does not count."""

    reason: Text | UnsetType = UNSET


class TypeCard(Command, frozen=True, kw_only=True, tag="card"):
    """A card that no reader can read, or which card it is."""

    zone: Zone
    card: Card
    index: Annotated[int, Meta(ge=0, le=9)] | UnsetType = UNSET


class RemoveCard(Command, frozen=True, kw_only=True, tag="remove-card"):
    """The card is not part of the hand."""

    zone: Zone
    index: Annotated[int, Meta(ge=0, le=9)]


class Pot(Struct, frozen=True, forbid_unknown_fields=True):
    """One pot: its amount and the seats that may win it."""

    amount: Value
    seats: Annotated[list[Seat], Meta(min_length=1, max_length=10)]


class Pots(Command, frozen=True, kw_only=True, tag="pots"):
    """The pots of the hand, the main pot first, and the smallest chip in play."""

    pots: Annotated[list[Pot], Meta(min_length=1, max_length=10)]
    chip: Value


class Undo(Command, frozen=True, kw_only=True, tag="undo"):
    """Reverse a command of this hand."""

    of: Id


class SetButton(Command, frozen=True, kw_only=True, tag="set-button"):
    """The button of the next hand."""

    seat: Seat


class SetDiscipline(Command, frozen=True, kw_only=True, tag="set-discipline"):
    """What is played from the next hand on."""

    discipline: str


class SetNames(Command, frozen=True, kw_only=True, tag="set-names"):
    """Who sits where; an empty text takes a name away."""

    names: Names


class ButtonDraw(Command, frozen=True, kw_only=True, tag="button-draw"):
    """One card face up to each of these seats."""

    seats: Annotated[list[Seat], Meta(min_length=2, max_length=10)]


class ChipRace(Command, frozen=True, kw_only=True, tag="chip-race"):
    """Color up: `counts` are all chips of the old value that each seat holds."""

    from_: Value = msgspec.field(name="from")
    to: Value
    counts: SeatKeys
    all_in: list[Seat] = []


AnyCommand: TypeAlias = (
    StartHand
    | Fold
    | Show
    | Showdown
    | EndHand
    | VoidHand
    | TypeCard
    | RemoveCard
    | Pots
    | Undo
    | SetButton
    | SetDiscipline
    | SetNames
    | ButtonDraw
    | ChipRace
)

_DECODER: msgspec.json.Decoder[AnyCommand] = msgspec.json.Decoder(AnyCommand)
_DOWN_ZONE = re.compile(r"seat:\d+|burn")


class CommandError(Exception):
    """A command that cannot be carried out; `id` and `by` where they could be read."""

    def __init__(self, message: str, id_: str = "", by: str | UnsetType = UNSET) -> None:
        super().__init__(message)
        self.id = id_
        self.by = by


class _Envelope(Struct):
    """As much of a broken command as is needed to answer it."""

    id: Id = ""
    by: Id | UnsetType = UNSET


def decode(data: bytes) -> AnyCommand:
    """One command from its JSON. Raises CommandError that names the field."""
    if len(data) > MAX_BYTES:
        raise CommandError(f"longer than {MAX_BYTES} bytes")
    try:
        return _DECODER.decode(data)
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError) as error:
        sender = _envelope(data)
        raise CommandError(str(error), sender.id, sender.by) from None


def refusal(data: bytes, why: str) -> CommandError:
    """The error for a command that is not looked at any further, to whom it came from."""
    sender = _envelope(data[:MAX_BYTES])
    return CommandError(why, sender.id, sender.by)


def _envelope(data: bytes) -> _Envelope:
    try:
        return msgspec.json.decode(data, type=_Envelope)
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
        return _Envelope()


def about_hidden_cards(command: AnyCommand) -> bool:
    """Whether the command speaks of down cards or burns, so belongs on the private root."""
    return isinstance(command, TypeCard | RemoveCard) and bool(_DOWN_ZONE.fullmatch(command.zone))


def public_part(command: AnyCommand, *, face_up: bool = False) -> dict[str, object]:
    """The fields of a command that everybody may see; `face_up`: all cards lie open."""
    if about_hidden_cards(command) and not face_up:
        return {}
    fields: dict[str, object] = msgspec.to_builtins(command)
    return {key: value for key, value in fields.items() if key not in {"id", "by", "type", "hand"}}
