"""Corrections by the floor: cards typed in or taken out, pots, and commands undone.

A hand may be corrected until the next one begins. A correction after the showdown tells a
corrected showdown that names the one it replaces. Corrections of one place are undone newest first.
"""

from __future__ import annotations

from copy import copy
from typing import TYPE_CHECKING, TypeVar

import msgspec
from msgspec import UNSET

from daemon.board import review_board
from daemon.closing import try_showdown
from daemon.commands import CommandError
from daemon.dealing import add
from daemon.events import FloorNote
from daemon.hand import IN, BoardCard, Done, Held, commit, tell_privately
from daemon.rules.errors import RuleError
from daemon.rules.labels import Label
from daemon.rules.pots import Pot, share_pots
from daemon.setup import seat_number
from daemon.thirdstreet import first_heard
from daemon.upcards import turn_up
from daemon.watchdog import watch_pots

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from daemon.commands import Pots, RemoveCard, TypeCard, Undo
    from daemon.hand import Hand, Scene, Seat
    from daemon.rules.results import ShowdownResult
    from daemon.state import Step

T = TypeVar("T")

BURNS = -1
"""What stands for the burns where a command that was carried out names a seat."""


def type_card(scene: Scene, command: TypeCard) -> None:
    """A card that no reader can read, or which card it is."""
    number = seat_number(command.zone)
    if command.zone == "board":
        _type_board(scene, command)
    elif number is not None and command.zone.endswith(":up"):
        _type_up(scene, command, number)
    elif number is not None:
        _type_seat(scene, command, number)
    elif command.zone == "burn":
        _type_burn(scene, command)
        return
    else:
        raise CommandError(f"no card can be typed at {command.zone} - at `$.zone`")
    _tell_again(scene)


def _type_board(scene: Scene, command: TypeCard) -> None:
    hand = scene.hand
    index = command.index
    size = len(hand.board)
    if index is not UNSET and index < size:
        before = hand.board[index]
        hand.done.append(_done(command, index=index, before=copy(before)))
        hand.stale += [before.tag] if before.tag is not None else []
        hand.board[index] = BoardCard(None, command.card, "typed", scene.now)
    elif size + len(hand.typed) >= max(hand.game.board_cards, int(hand.game.common_card)):
        raise CommandError("the board is complete; name the index to replace - at `$.index`")
    else:
        hand.done.append(_done(command, index=-1))
        hand.typed.append(BoardCard(None, command.card, "typed", scene.now))
        review_board(scene)
    _clash(scene, command.card, "board")


def _type_burn(scene: Scene, command: TypeCard) -> None:
    """No showdown depends on a burn, so none is told again."""
    burns = scene.hand.burns
    index = command.index if command.index is not UNSET else len(burns)
    if index > len(burns):
        raise CommandError(f"burn has no card {index} - at `$.index`")
    before = _burnt(scene, burns[index]) if index < len(burns) else None
    scene.hand.done.append(_done(command, seat=BURNS, index=index, before=before))
    burns[index : index + 1] = [command.card]
    _clash(scene, command.card, "burn")


def _burnt(scene: Scene, face: str) -> BoardCard:
    return BoardCard(None, face, "typed", scene.now)


def _type_seat(scene: Scene, command: TypeCard, number: int) -> None:
    hand = scene.hand
    seat = hand.seats.get(number)
    if seat is None:
        raise CommandError(f"seat {number} is not in this hand - at `$.zone`")
    index = command.index if command.index is not UNSET else len(seat.held)
    if index > len(seat.held) or index >= hand.game.own_cards:
        raise CommandError(f"seat {number} has no card {index} - at `$.index`")
    seat.surplus = []
    if index == len(seat.held):
        hand.done.append(_done(command, seat=number, index=index))
        add(scene, seat, Held(None, command.card, "typed", scene.now, fixed=True))
    else:
        hand.done.append(_done(command, seat=number, index=index, before=copy(seat.held[index])))
        since = first_heard(scene, seat, seat.held[index])
        _replace(scene, seat, index, Held(None, command.card, "typed", since, fixed=True))
    _clash(scene, command.card, command.zone)


def _type_up(scene: Scene, command: TypeCard, number: int) -> None:
    """The floor says that this card lies face up at the seat; from now on everybody may know."""
    hand = scene.hand
    seat = hand.seats.get(number)
    if seat is None or not hand.game.common_card:
        raise CommandError(f"seat {number} has no up cards in this hand - at `$.zone`")
    known = next((held for held in seat.held if held.face == command.card), None)
    if known is None and len(seat.held) < hand.game.own_cards:
        known = Held(None, command.card, "typed", scene.now, fixed=True)
        hand.done.append(_done(command, seat=number, index=len(seat.held)))
        seat.held.append(known)
    if known is not None and not known.up:
        known.fixed = True
        turn_up(scene, seat, known)
    seat.settled = seat.settled or (len(seat.held) == 3 and known is not None)
    _clash(scene, command.card, command.zone)


def _replace(scene: Scene, seat: Seat, index: int, held: Held) -> None:
    seat.held[index] = held
    commit(scene, seat)
    tell_privately(scene, seat)


def _clash(scene: Scene, face: str, zone: str) -> None:
    """Tell the floor, and nobody else, that the typed card is already in play."""
    hand = scene.hand
    places = [seat.zone() for seat in hand.seats.values() for h in seat.held if h.face == face]
    places += ["board" for card in hand.board if card.face == face]
    places += ["burn" for burnt in hand.burns if burnt == face]
    if len(places) > 1:
        text = ", ".join(sorted(places))
        scene.tell(
            FloorNote(
                kind="duplicate-card",
                zone=zone,
                cards=[face],
                message=Label(f"{face} is in play twice: {text}", f"{face} в игре дважды: {text}"),
            )
        )


def _done(
    command: TypeCard | RemoveCard,
    *,
    seat: int = 0,
    index: int = 0,
    before: Held | BoardCard | None = None,
) -> Done:
    """For `undo`: `before` is what lay there, `status` the card that was typed."""
    kind = str(command.__struct_config__.tag)
    done = Done(command.id, command.by or "", kind, seat=seat, index=index)
    done.status = getattr(command, "card", "")
    if isinstance(before, Held):
        done.held = before
    else:
        done.card = before
    return done


def remove_card(scene: Scene, command: RemoveCard) -> None:
    """The card is no part of the hand."""
    hand, number = scene.hand, seat_number(command.zone)
    if command.zone == "board" and command.index < len(hand.board):
        card = hand.board.pop(command.index)
        hand.done.append(_done(command, index=command.index, before=card))
        hand.stale += [card.tag] if card.tag is not None else []
        hand.street = min(hand.street, street_of(hand))
    elif number in hand.seats and command.index < len(hand.seats[number].held):
        seat = hand.seats[number]
        held = seat.held.pop(command.index)
        seat.surplus = []
        hand.done.append(_done(command, seat=number, index=command.index, before=held))
        hand.stale += [held.tag] if held.tag is not None else []
        commit(scene, seat)
        tell_privately(scene, seat)
    elif command.zone == "burn" and command.index < len(hand.burns):
        before = _burnt(scene, hand.burns.pop(command.index))
        hand.done.append(_done(command, seat=BURNS, index=command.index, before=before))
        return
    else:
        raise CommandError(f"{command.zone} has no card {command.index} - at `$.index`")
    _tell_again(scene)


def street_of(hand: Hand) -> int:
    """The street that a board of this size belongs to."""
    size, street, needed = len(hand.board), 0, 0
    for number, shape in enumerate(hand.game.streets):
        needed += shape.board
        if size >= needed:
            street = number
    return street


def _tell_again(scene: Scene) -> None:
    """After its showdown was told, a corrected hand tells it again once it is complete."""
    hand = scene.hand
    if hand.result is not None and hand.wanted is not None and hand.last_street():
        try_showdown(scene, hand.wanted)


def share(scene: Scene, command: Pots) -> None:
    """The pots: a showdown becomes shares, with the odd chip."""
    hand = scene.hand
    if hand.result is None:
        raise CommandError("the showdown is not told yet")
    for place, pot in enumerate(command.pots):
        if not set(pot.seats) <= set(hand.seats):
            raise CommandError(f"a seat that is not in this hand - at `$.pots[{place}].seats`")
    pots = [Pot(pot.amount, tuple(pot.seats)) for pot in command.pots]
    bare = msgspec.structs.replace(hand.result, pots=UNSET)
    try:
        result = share_pots(bare, pots, command.chip, hand.button, scene.setup.profile)
    except RuleError as error:
        raise CommandError(f"{error} - at `$.pots`") from None
    hand.done.append(Done(command.id, command.by or "", "pots"))
    _tell_result(scene, result)
    watch_pots(scene, pots[0].seats)


def _tell_result(scene: Scene, result: ShowdownResult) -> None:
    corrected = msgspec.structs.replace(result, replaces=scene.hand.result_seq)
    scene.hand.result = corrected
    scene.tell(corrected)


def undo(step: Step, scene: Scene, command: Undo) -> None:
    """Reverse a command of this hand."""
    hand = scene.hand
    found = [done for done in hand.done if done.id == command.of]
    same = [done for done in found if done.by == (command.by or "")]
    if not found:
        raise CommandError(f"no command {command.of!r} of this hand can be undone - at `$.of`")
    done = (same or found)[-1]
    if done.seat > 0 and done.seat not in hand.seats:
        raise CommandError(f"seat {done.seat} is no longer in this hand - at `$.of`")
    match done.type:
        case "fold":
            hand.seats[done.seat].status = done.status or IN
            hand.seats[done.seat].folded_at = None
        case "card" | "remove-card":
            _newest(hand.done, done)
            _undo_card(scene, done)
        case "pots" if hand.result is not None:
            _tell_result(scene, msgspec.structs.replace(hand.result, pots=UNSET))
        case "end-hand" if step.state.hand is hand:
            hand.closed = False
            hand.stale = sorted({*hand.stale} - {*hand.tags()})
        case _:
            raise CommandError(f"a {done.type} cannot be undone - at `$.of`")
    hand.done = [each for each in hand.done if each is not done]
    if done.seat != BURNS:
        _tell_again(scene)


def _newest(every: Sequence[Done], done: Done) -> None:
    """An earlier correction counts places as they were before the later ones."""
    place = next(number for number, each in enumerate(every) if each is done)
    for each in every[place + 1 :]:
        if each.type in {"card", "remove-card"} and each.seat == done.seat:
            raise CommandError("a later correction of the same place comes first - at `$.of`")


def _undo_card(scene: Scene, done: Done) -> None:
    hand, back = scene.hand, done.held or done.card
    tag = None if back is None else back.tag
    if tag is not None and (hand.owner(tag) is not None or hand.on_board(tag)):
        raise CommandError("the card lies elsewhere by now - at `$.of`")
    if done.seat == BURNS:
        burnt = None if done.card is None else done.card.face
        _put_back(hand.burns, done, burnt, lambda face: face)
    elif done.seat:
        seat = hand.seats[done.seat]
        _put_back(seat.held, done, done.held, lambda held: held.face)
        commit(scene, seat)
        tell_privately(scene, seat)
    elif any(card.face == done.status for card in hand.typed) and done.index < 0:
        _put_back(hand.typed, done, None, lambda card: card.face)
    else:
        _put_back(hand.board, done, done.card, lambda card: card.face)
        if done.type == "remove-card":
            hand.street = max(hand.street, street_of(hand))
        elif done.card is None:
            hand.street = min(hand.street, street_of(hand))
    if tag in hand.stale:
        hand.stale.remove(tag)


def _put_back(
    cards: list[T], done: Done, before: T | None, face: Callable[[T], str | None]
) -> None:
    """Undo a removal, a replacement (both known) or an addition (no card before).

    Readers may have added cards and taken some away since, so the typed one is looked for.
    """
    if done.type == "remove-card":
        cards[done.index : done.index] = [] if before is None else [before]
        return
    typed = [place for place, card in enumerate(cards) if face(card) == done.status]
    if not typed:
        raise CommandError(f"the card of {done.id!r} is gone - at `$.of`")
    place = done.index if done.index in typed else typed[-1]
    cards[place : place + 1] = [] if before is None else [before]
