"""What the floor commands. Every command is answered; one that cannot be carried out says why.

An answer never depends on a face that the sender may not know.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec
from msgspec import UNSET

from daemon import commands as c
from daemon import deals
from daemon.closing import absent, end, end_unsaid, last_fold_unseen, try_showdown
from daemon.commands import CommandError
from daemon.corrections import remove_card, share, type_card, undo
from daemon.deal_corrections import correct
from daemon.events import CommandTaken, HandVoided, Reply
from daemon.folds import collected
from daemon.games import GAMES
from daemon.hand import FOLDED, IN, MUCKED, SHOWN, Done, fold
from daemon.review import begin, close, name_seats
from daemon.watchdog import watch_fold

if TYPE_CHECKING:
    from daemon.hand import Hand, Scene
    from daemon.state import Step


def obey(step: Step, command: c.AnyCommand, *, private: bool | None) -> Reply:
    """Carry a command out and answer it."""
    told = len(step.out)
    hand = step.state.open_hand()
    try:
        _check(step, command, private=private)
        waiting = _carry_out(step, command)
    except CommandError as error:
        del step.out[told:]
        return Reply(id=command.id, by=command.by, ok=False, error=str(error))
    deal = step.state.deal
    number = deal or step.state.open_hand() or hand or step.state.hand
    public = c.public_part(command, face_up=deal is not None)
    taken = {"type": command.__struct_config__.tag, **public}
    event = CommandTaken(command=taken, by=command.by)
    step.out.insert(told, (event, number.number if number is not None else None))
    return Reply(id=command.id, by=command.by, waiting=waiting or UNSET)


def _check(step: Step, command: c.AnyCommand, *, private: bool | None) -> None:
    deal = step.state.deal
    if c.about_hidden_cards(command) and private is False and deal is None:
        raise CommandError("hidden cards are the private topic's: send it there")
    hand = step.state.hand
    if command.hand is UNSET:
        return
    known = {step.state.next_number} if hand is None else {hand.number}
    if hand is not None and hand.closed:
        known.add(step.state.next_number)
    if deal is not None:
        known = {deal.number} | ({step.state.next_number} if deal.ruled_or_closed() else set())
    if command.hand not in known:
        raise CommandError(f"hand {command.hand} is not the current one - at `$.hand`")


def _carry_out(step: Step, command: c.AnyCommand) -> list[int]:  # noqa: C901, PLR0912  a table
    deal = step.state.deal
    if deal is not None and correct(step, deal, command):
        return []
    match command:
        case c.StartHand():
            _start_hand(step, command)
        case c.Fold():
            _fold(step, command)
        case c.Show():
            return _show(step, command)
        case c.Showdown():
            return _showdown(step, command)
        case c.EndHand():
            _end_hand(step, command)
        case c.VoidHand():
            _void_hand(step, command)
        case c.TypeCard():
            type_card(_correctable(step), command)
        case c.RemoveCard():
            remove_card(_correctable(step), command)
        case c.Pots():
            share(_correctable(step), command)
        case c.Undo():
            undo(step, _correctable(step), command)
        case c.SetButton():
            _set_button(step, command)
        case c.SetDiscipline():
            _set_discipline(step, command)
        case c.SetNames():
            _set_names(step, command)
        case c.ButtonDraw() | c.ChipRace():
            _deal(step, command)
    return []


def _open(step: Step) -> Scene:
    hand = step.state.open_hand()
    if hand is None:
        raise CommandError("no hand is open")
    return step.scene(hand)


def _correctable(step: Step) -> Scene:
    """The open hand, or the last one while the next has not begun."""
    if step.state.hand is None:
        raise CommandError("no hand has been dealt")
    return step.scene(step.state.hand)


def _between(step: Step) -> None:
    hand = step.state.open_hand()
    if hand is not None:
        raise CommandError(f"hand {hand.number} is still open")


def _deal(step: Step, command: c.ButtonDraw | c.ChipRace) -> None:
    _between(step)
    if isinstance(command, c.ButtonDraw):
        check_seats(step, command.seats, "seats")
    else:
        check_seats(step, [int(number) for number in command.counts], "counts")
        check_seats(step, command.all_in, "all_in")
    deals.begin(step, deals.planned(step, command))


def check_seats(step: Step, seats: list[int], place: str) -> None:
    """Refuse a seat that the table does not have, or one named twice."""
    for number in seats:
        if number > step.setup.seats:
            raise CommandError(f"seat {number} is beyond {step.setup.seats} - at `$.{place}`")
    if len(set(seats)) != len(seats):
        raise CommandError(f"a seat is named twice - at `$.{place}`")


def _start_hand(step: Step, command: c.StartHand) -> None:
    state, hand = step.state, step.state.open_hand()
    discipline = command.discipline or state.discipline
    _check_discipline(discipline)
    check_seats(step, command.seats, "seats")
    game = GAMES[discipline]
    if len(command.seats) > game.max_seats:
        raise CommandError(f"{discipline} has at most {game.max_seats} seats - at `$.seats`")
    button = _button(step, command, has_button=game.has_button)
    if hand is not None and hand.result is None and hand.cleared is None:
        _adopt(step, hand, command, discipline, button)
        return
    if hand is not None:
        end_unsaid(step.scene(hand))
        close(step, hand)
        button = _button(step, command, has_button=game.has_button)
    state.discipline, state.button = discipline, button
    if command.button is not UNSET:
        state.blinds = None if state.blinds and state.blinds.button != button else state.blinds
    begin(step, command.seats, button, None)


def _button(step: Step, command: c.StartHand, *, has_button: bool) -> int | None:
    if command.button is UNSET:
        return step.state.button
    if not has_button:
        raise CommandError("stud has no button - at `$.button`")
    check_seats(step, [command.button], "button")
    return command.button


def _adopt(
    step: Step, hand: Hand, command: c.StartHand, discipline: str, button: int | None
) -> None:
    if hand.named or hand.street > 0:
        raise CommandError(f"hand {hand.number} is still open")
    surplus = sorted(set(hand.seats) - set(command.seats))
    scene = step.scene(hand)
    for number in surplus:
        scene.alert("wrong-seat", f"seat:{number}")
    step.state.discipline = hand.discipline = discipline
    step.state.button = button
    hand.button = button if hand.game.has_button else None
    name_seats(hand, command.seats)


def _seat(scene: Scene, number: int, place: str) -> None:
    if number not in scene.hand.seats:
        raise CommandError(f"seat {number} is not in this hand - at `$.{place}`")


def _fold(step: Step, command: c.Fold) -> None:
    scene = _open(step)
    _seat(scene, command.seat, "seat")
    seat = scene.hand.seats[command.seat]
    if scene.hand.result is not None:
        raise CommandError("the showdown is told")
    if seat.status == FOLDED:
        seat.confirmed = True
        raise CommandError(f"seat {command.seat} has folded already - at `$.seat`")
    if len(scene.hand.live()) == 1:
        raise CommandError(f"seat {command.seat} is the last one left - at `$.seat`")
    watch_fold(scene, seat)
    scene.hand.done.append(
        Done(command.id, command.by or "", "fold", seat=command.seat, status=seat.status)
    )
    fold(scene, seat)


def _show(step: Step, command: c.Show) -> list[int]:
    scene = _open(step)
    hand = scene.hand
    check_seats(step, command.seats, "seats")
    for number in command.seats:
        _seat(scene, number, "seats")
        if hand.seats[number].status not in {IN, SHOWN}:
            raise CommandError(f"seat {number} is not live - at `$.seats`")
    if hand.result is not None:
        raise CommandError("the showdown is told")
    new = [n for n in command.seats if hand.seats[n].status == IN and n not in hand.to_show]
    hand.to_show += new
    return []


def _showdown(step: Step, command: c.Showdown) -> list[int]:
    scene = _open(step)
    hand = scene.hand
    if hand.called_at is None and (_nearly_out(hand) or scene.shoe_alone()):
        hand.called_at = scene.now
    if not hand.last_street():
        raise CommandError("the last street is not out")
    if command.shown is UNSET:
        return _showdown_of_all(scene)
    check_seats(step, command.shown, "shown")
    for number in command.shown:
        _seat(scene, number, "shown")
        seat = hand.seats[number]
        if seat.status == FOLDED and not seat.by_muck:
            raise CommandError(f"seat {number} has folded - at `$.shown`")
    tabled = [n for n, seat in hand.seats.items() if seat.status == SHOWN and hand.result is None]
    hand.wanted = sorted({*command.shown, *tabled})
    for number in hand.wanted:
        if hand.seats[number].status == FOLDED:
            scene.alert("fold-taken-back", f"seat:{number}")
        hand.seats[number].status = IN
    for seat in hand.seats.values():
        if hand.result is not None and seat.status == SHOWN:
            seat.status = IN
    return try_showdown(scene, hand.wanted)


def _nearly_out(hand: Hand) -> bool:
    """Whether all cards may be out: the last street is next, or a card that came was not heard."""
    missed = any(mark.startswith(("missing-card", "extra-board-card")) for mark in hand.alerted)
    return missed or hand.street >= len(hand.game.streets) - 2


def _showdown_of_all(scene: Scene) -> list[int]:
    """Every live seat; one whose cards left it long ago, or are in the muck, has to be named."""
    hand = scene.hand
    for seat in hand.seats.values():
        if seat.status == MUCKED:
            seat.status = IN
    live = hand.live()
    away = [number for number in live if absent(scene, hand.seats[number])]
    away = sorted({*away, *collected(scene)})
    if away:
        hand.asked = True
        scene.alert("showdown-wanted", once=str(away))
        return away
    hand.wanted = live
    return try_showdown(scene, live)


def _end_hand(step: Step, command: c.EndHand) -> None:
    if step.state.open_hand() is None and step.state.hand is not None:
        return
    scene = _open(step)
    hand = scene.hand
    live = hand.live()
    hand.done.append(Done(command.id, command.by or "", "end-hand"))
    alone = len(live) == 1 and len(hand.seats) > 1 and hand.result is None
    collecting = hand.called_at is not None and {*collected(scene)} - {*live}
    alone = alone and not collecting and not last_fold_unseen(scene)
    end(scene, live[0] if alone else None)
    close(step, hand)


def _void_hand(step: Step, command: c.VoidHand) -> None:
    scene = _open(step) if step.state.open_hand() else _correctable(step)
    hand = scene.hand
    if hand.void:
        raise CommandError("the hand is void already")
    hand.done.append(Done(command.id, command.by or "", "void-hand"))
    hand.void = True
    scene.tell(HandVoided(reason=command.reason or ""))
    if hand.result is not None:
        replaced = msgspec.structs.replace(hand.result, void=True, replaces=hand.result_seq)
        hand.result = replaced
        scene.tell(replaced)
    if not hand.closed:
        close(step, hand)


def _set_button(step: Step, command: c.SetButton) -> None:
    _between(step)
    check_seats(step, [command.seat], "seat")
    if not GAMES[step.state.discipline].has_button:
        raise CommandError("stud has no button")
    step.state.button, step.state.blinds = command.seat, None


def _set_discipline(step: Step, command: c.SetDiscipline) -> None:
    _between(step)
    _check_discipline(command.discipline)
    if step.setup.seats > GAMES[command.discipline].max_seats:
        raise CommandError(f"{command.discipline} has fewer seats than this table")
    step.state.discipline = command.discipline


def _check_discipline(name: str) -> None:
    if name not in GAMES:
        known = ", ".join(GAMES)
        raise CommandError(f"unknown discipline {name!r} ({known}) - at `$.discipline`")


def _set_names(step: Step, command: c.SetNames) -> None:
    check_seats(step, [int(number) for number in command.names], "names")
    for number, name in command.names.items():
        if name:
            step.state.names[int(number)] = name
        else:
            step.state.names.pop(int(number), None)
