"""What the floor commands about a button draw or a chip race.

Its cards lie face up, so they may be typed in on either root. A correction after the ruling
tells a corrected ruling; a deal may be corrected until the next hand or deal begins.
"""

from __future__ import annotations

from copy import copy
from typing import TYPE_CHECKING

from msgspec import UNSET

from daemon import commands as c
from daemon.commands import CommandError
from daemon.deal import Correction
from daemon.deal_cards import add, ask_again, deal_alert, extra_cards, tell_card
from daemon.deals import close, take_back
from daemon.events import HandVoided
from daemon.hand import Held
from daemon.setup import seat_number

if TYPE_CHECKING:
    from daemon.deal import Deal
    from daemon.hand import Seat
    from daemon.state import Step


def correct(step: Step, deal: Deal, command: c.AnyCommand) -> bool:
    """Carry out what concerns the deal; False where the command does not. Raises CommandError."""
    match command:
        case c.TypeCard():
            _type_card(step, deal, command)
        case c.RemoveCard():
            _remove_card(step, deal, command)
        case c.Undo():
            _undo(deal, command)
        case c.EndHand() if deal.closed_at is None:
            close(step, deal)
        case c.VoidHand():
            _void(step, deal, command)
        case c.Pots():
            raise CommandError(f"a {deal.kind} has no pots")
        case c.SetButton() | c.SetDiscipline() if deal.closed_at is None:
            raise CommandError(f"{deal.kind} {deal.number} is still open")
        case _:
            return False
    return True


def _seat(deal: Deal, zone: str) -> Seat:
    number = seat_number(zone)
    seat = deal.seats.get(number) if number is not None else None
    if seat is None or not deal.expected.get(seat.number):
        raise CommandError(f"{zone} gets no card in this {deal.kind} - at `$.zone`")
    return seat


def _type_card(step: Step, deal: Deal, command: c.TypeCard) -> None:
    seat = _seat(deal, command.zone)
    due, size = deal.expected[seat.number], len(seat.held)
    if command.index is UNSET and size == due:
        raise CommandError(f"{command.zone} has its cards; name one to replace - at `$.index`")
    index = size if command.index is UNSET else command.index
    if index > size or index >= due:
        raise CommandError(f"{command.zone} has no card {index} - at `$.index`")
    _remember(deal, command, seat)
    deal.dismissed += extra_cards(step, deal, seat)
    ask_again(deal, seat.number)
    held = Held(None, command.card, "typed", step.state.now, up=True, fixed=True)
    if index == size:
        add(step, deal, seat, held)
    else:
        _put(step, deal, seat, index, held)
    if sum(one.face == command.card for _, one in deal.held()) > 1:
        deal_alert(step, deal, "duplicate-card", command.zone, once=command.card)


def _put(step: Step, deal: Deal, seat: Seat, index: int, held: Held) -> None:
    before = seat.held[index]
    if before.face == held.face:
        held.tag = before.tag
    elif before.tag is not None:
        deal.dismissed.append(before.tag)
    seat.held[index] = held
    deal.changed = True
    tell_card(step, deal, seat, index)


def _remember(deal: Deal, command: c.TypeCard | c.RemoveCard, seat: Seat) -> None:
    held = [copy(one) for one in seat.held]
    by = command.by or ""
    deal.done.append(Correction(command.id, by, seat.number, held, [*deal.dismissed]))


def _remove_card(step: Step, deal: Deal, command: c.RemoveCard) -> None:
    """Surplus cards of a seat are counted after its own."""
    seat, index = _seat(deal, command.zone), command.index
    extra = extra_cards(step, deal, seat)
    if index >= len(seat.held) + len(extra):
        raise CommandError(f"{command.zone} has no card {index} - at `$.index`")
    _remember(deal, command, seat)
    if index < len(seat.held):
        held = seat.held.pop(index)
        deal.dismissed += [held.tag] if held.tag is not None else []
    else:
        deal.dismissed.append(extra[index - len(seat.held)])
    deal.changed = True
    ask_again(deal, seat.number)


def _undo(deal: Deal, command: c.Undo) -> None:
    found = [done for done in deal.done if done.id == command.of]
    same = [done for done in found if done.by == (command.by or "")]
    if not found:
        kind = deal.kind
        raise CommandError(f"no command {command.of!r} of this {kind} can be undone - at `$.of`")
    done = (same or found)[-1]
    deal.done.remove(done)
    deal.seats[done.seat].held = done.held
    deal.dismissed = done.dismissed
    deal.changed = True
    ask_again(deal, done.seat)


def _void(step: Step, deal: Deal, command: c.VoidHand) -> None:
    if deal.void:
        raise CommandError(f"the {deal.kind} is void already")
    step.tell(HandVoided(reason=command.reason or ""), deal.number)
    take_back(step, deal)
    if deal.closed_at is None:
        close(step, deal)
