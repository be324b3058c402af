"""Button draw and chip race from the real cards: the command, the cards, the ruling, the end.

Only cards first heard after the command belong to a deal, at seats that were clear; they lie
face up, so each is told as soon as its place is certain. The ruling follows once every expected
card is known. A table with a shoe reader alone takes the cards in the order of dealing: from
seat 1, all cards of one seat before the next.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec
from msgspec import UNSET

from daemon.commands import ButtonDraw, CommandError
from daemon.deal import BUTTON_DRAW, CHIP_RACE, Deal
from daemon.deal_cards import deal_alert, read_cards, seat_antennas, seat_claims, sure
from daemon.events import DealStarted, HandEnded
from daemon.games import GAMES
from daemon.hand import Seat
from daemon.rules.button_draw import button_draw
from daemon.rules.chip_race import chip_race
from daemon.rules.errors import RuleError
from daemon.setup import seat_number

if TYPE_CHECKING:
    from daemon.commands import ChipRace
    from daemon.hand import Hand
    from daemon.rules.results import ButtonDrawResult, ChipRaceResult
    from daemon.state import Step

LOOKED_MS = 4000
"""An antenna that has not looked for so long cannot say that its seat is clear."""
CARD_HITS = 3
"""Fewer hits are a ghost or a garbled UID; a card that came just before the command has no part."""
QUIET_MS = 2000
"""So long after the last card the ruling waits for one too many."""
ASK_MS = 6000
ASK_FIRST_MS = 20_000
CLEAR_MS = 3000
ABANDON_MS = 10_000
EXPIRE_MS = 300_000
"""A deal of which no card has come in five minutes is taken for forgotten."""
AGAIN_MS = 8000
"""A card of the deal is not dealt anew in a hand within so long of its end."""


def planned(step: Step, command: ButtonDraw | ChipRace) -> Deal:
    """The deal that a command asks for; raises CommandError where it may not or cannot be."""
    made = _draw(step, command) if isinstance(command, ButtonDraw) else _race(step, command)
    _check_clear(step)
    return made


def _check_clear(step: Step) -> None:
    state, cards = step.state, step.setup.cards
    for antenna, zone in step.setup.zones.items():
        number, reader = seat_number(zone), antenna.rpartition("/")[0]
        if number is None:
            continue
        if not state.readers[reader].up:
            raise CommandError(f"seat {number} cannot be heard clear: reader {reader} is lost")
        looked = state.looked.get(antenna)
        if looked is None or state.now - looked > LOOKED_MS:
            raise CommandError(f"seat {number} has not been heard clear: no look at {zone}")
        claims = state.presence.by_antenna.get(antenna, {})
        if any(tag in cards and claim.hits >= CARD_HITS for tag, claim in claims.items()):
            raise CommandError(f"seat {number} is not clear: a card is heard there")


def _draw(step: Step, command: ButtonDraw) -> Deal:
    if not GAMES[step.state.discipline].has_button:
        raise CommandError("stud has no button to draw for")
    return _deal(step, BUTTON_DRAW, command.seats, dict.fromkeys(command.seats, 1))


def _race(step: Step, command: ChipRace) -> Deal:
    counts = {int(number): chips for number, chips in command.counts.items()}
    deal = _deal(step, CHIP_RACE, [*counts], {})
    deal.counts, deal.old, deal.new = counts, command.from_, command.to
    deal.all_in = command.all_in
    try:
        bare = _plan(step, deal)
    except RuleError as error:
        raise CommandError(str(error)) from None
    deal.expected = {number: odd for number, odd in bare.odd.items() if odd}
    return deal


def _deal(step: Step, kind: str, seats: list[int], expected: dict[int, int]) -> Deal:
    state = step.state
    return Deal(
        number=state.next_number,
        kind=kind,
        discipline=state.discipline,
        button=state.button,
        started=state.now,
        last_dealt=state.now,
        seats={number: Seat(number) for number in sorted(seats)},
        expected=dict(sorted(expected.items())),
        last_button=state.button,
        last_blinds=state.blinds,
    )


def _plan(step: Step, deal: Deal, cards: dict[int, list[str]] | None = None) -> ChipRaceResult:
    profile = step.setup.profile
    return chip_race(deal.old, deal.new, deal.counts, cards, all_in=deal.all_in, profile=profile)


def begin(step: Step, deal: Deal) -> None:
    """The deal is open: from now on cards at the seats belong to it."""
    state = step.state
    superseded(step)
    if state.hand is not None:
        _forget_cards(state.hand)
    state.presence.forget()
    state.odds = {}
    state.suspicions.wear.clear()
    deal.before = [
        tag
        for tag, track in state.presence.tracks.items()
        if any(deal.started - claim.last <= CLEAR_MS for claim in track.claims.values())
    ]
    state.next_number += 1
    state.deal = deal
    exchanged = _plan(step, deal).exchanged if deal.kind == CHIP_RACE else UNSET
    told = DealStarted(kind=deal.kind, expected=deal.expected, exchanged=exchanged)
    step.tell(told, deal.number)


def _forget_cards(hand: Hand) -> None:
    """The last hand can be corrected no more, so its hidden cards need not be known."""
    hand.key = None
    for seat in hand.seats.values():
        seat.held, seat.places, seat.extra = [], {}, {}


def follow(step: Step) -> None:
    """Draw every conclusion that is due about the deal."""
    deal = step.state.deal
    if deal is None:
        return
    if deal.closed_at is None:
        read_cards(step, deal)
    if deal.changed and not deal.void and _complete(step, deal):
        deal.changed = False
        _rule(step, deal)
    if deal.closed_at is not None:
        _forget_gone(step, deal)
        return
    if deal.result() is None:
        _ask(step, deal)
    if _over(step, deal):
        close(step, deal)


def _forget_gone(step: Step, deal: Deal) -> None:
    """After the end only what still lies there is remembered."""
    presence, claims = step.state.presence, seat_claims(step)
    deal.stale = [tag for tag in deal.stale if tag in claims or presence.home(tag) == "board"]
    tracks = presence.tracks
    deal.piled = [tag for tag in deal.piled if tag in tracks and tracks[tag].claims]


def _complete(step: Step, deal: Deal) -> bool:
    """Whether every expected card is known, certainly placed, and none is there beyond them."""
    if deal.lacking():
        return False
    if deal.ruled_at is not None:
        return True
    if deal.extra or deal.foreign:
        return False
    if any(not sure(step, seat, held) for seat, held in deal.held()):
        return False
    quiet = step.state.now - deal.last_dealt >= QUIET_MS
    return quiet or not deal.tags() or not seat_antennas(step.setup)


def _rule(step: Step, deal: Deal) -> None:
    cards = {n: [held.face or "" for held in seat.held] for n, seat in deal.seats.items()}
    try:
        if deal.kind == BUTTON_DRAW:
            _rule_draw(step, deal, button_draw(cards, [*deal.seats], deal.discipline))
        else:
            given = {number: held for number, held in cards.items() if held}
            _rule_race(step, deal, _plan(step, deal, given))
    except RuleError:
        deal_alert(step, deal, "duplicate-card", "", once="ruling")


def _rule_draw(step: Step, deal: Deal, result: ButtonDrawResult) -> None:
    """Tell the draw; the winner has the button, unless the floor has set it since."""
    last, state = deal.draw, step.state
    if last is not None:
        if result == msgspec.structs.replace(last, replaces=UNSET):
            return
        result = msgspec.structs.replace(result, replaces=deal.result_seq)
    if last is None or state.button == last.winner:
        state.button, state.blinds = result.winner, None
    deal.draw, deal.button = result, state.button
    deal.ruled_at = deal.ruled_at or state.now
    step.tell(result, deal.number)


def _rule_race(step: Step, deal: Deal, result: ChipRaceResult) -> None:
    if deal.race is not None:
        if result == msgspec.structs.replace(deal.race, replaces=UNSET):
            return
        result = msgspec.structs.replace(result, replaces=deal.result_seq)
    deal.race = result
    deal.ruled_at = deal.ruled_at or step.state.now
    step.tell(result, deal.number)


def take_back(step: Step, deal: Deal) -> None:
    """A void deal: its ruling is told again as void, and the button is where it was."""
    state, draw, race = step.state, deal.draw, deal.race
    deal.void = True
    if draw is not None:
        if state.button == draw.winner:
            state.button, state.blinds = deal.last_button, deal.last_blinds
        deal.draw = msgspec.structs.replace(draw, void=True, replaces=deal.result_seq)
        deal.button = state.button
        step.tell(deal.draw, deal.number)
    if race is not None:
        deal.race = msgspec.structs.replace(race, void=True, replaces=deal.result_seq)
        step.tell(deal.race, deal.number)


def _ask(step: Step, deal: Deal) -> None:
    """Ask for the cards that are missing, or whose place is not certain."""
    wait = ASK_MS if deal.last_dealt > deal.started else ASK_FIRST_MS
    if deal.swept or step.state.now - deal.last_dealt >= wait:
        _ask_now(step, deal)


def _ask_now(step: Step, deal: Deal) -> None:
    unsure = {seat.number for seat, held in deal.held() if not sure(step, seat, held)}
    alone = not seat_antennas(step.setup) and "shoe" in step.setup.zones_of_readers()
    for number in sorted({*deal.lacking(), *unsure}):
        deal_alert(step, deal, "missing-card", "shoe" if alone else f"seat:{number}")


def _over(step: Step, deal: Deal) -> bool:
    """Whether the cards have left the seats for good, or were never dealt."""
    now = step.state.now
    if deal.ruled_at is None:
        forgotten = not deal.tags() and now - deal.started >= EXPIRE_MS
        return forgotten or (deal.swept and now - deal.last_dealt >= ABANDON_MS)
    wait = CLEAR_MS if seat_antennas(step.setup) else AGAIN_MS
    return now - deal.ruled_at >= wait and not _lying(step, deal)


def _lying(step: Step, deal: Deal) -> list[str]:
    """Tags at the seats that are its cards, or came before its cards had left."""
    presence, tags = step.state.presence, deal.tags()
    zones = {zone for zone in step.setup.zones_of_readers() if zone.startswith("seat:")}
    last = presence.last_heard(tags, zones)
    until = step.state.now if last < 0 or deal.result() is None else last
    own = {*tags, *deal.extra, *deal.dismissed}
    return [tag for tag, first in seat_claims(step).items() if tag in own or first <= until]


def close(step: Step, deal: Deal) -> None:
    """The deal is over; what lies there begins no hand."""
    state = step.state
    tags = deal.tags()
    board = [tag for tag in state.presence.at("board") if tag in tags]
    deal.stale = [*_lying(step, deal), *board]
    deal.closed_at, deal.changed = state.now, False
    step.tell(HandEnded(), deal.number)


def left_over(step: Step, tag: str) -> bool:
    """Whether this tag at a seat is a remainder of the last deal, and begins no hand."""
    deal = step.state.deal
    if deal is None or deal.closed_at is None:
        return False
    if deal.stale and step.setup.cards[tag][0] == deal.deck:
        return True
    again = step.state.presence.since(tag) - deal.closed_at >= AGAIN_MS
    return tag in {*deal.stale, *deal.piled} or (tag in deal.tags() and not again)


def superseded(step: Step) -> list[str]:
    """A hand or another deal begins: this one is history, but for its cards that still lie there.

    A ruling that never came is not passed over in silence.
    """
    state, deal = step.state, step.state.deal
    if deal is None:
        return []
    if deal.closed_at is None:
        if deal.ruled_at is None:
            _ask_now(step, deal)
        close(step, deal)
    state.deal = None
    homes = {tag: state.presence.home(tag) or "" for tag in (*deal.stale, *deal.piled)}
    return [tag for tag, home in homes.items() if home == "board" or home.startswith("seat:")]
