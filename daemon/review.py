"""After each change, and four times a second of table time: what follows from what lies there."""

from __future__ import annotations

from typing import TYPE_CHECKING

from daemon.board import review_board
from daemon.closing import end_unsaid, review_end, review_showdown, review_shows
from daemon.dealing import (
    review_deal,
    review_disputes,
    review_extra,
    settled,
)
from daemon.deals import follow, left_over, superseded
from daemon.events import HandStarted
from daemon.folds import review_folds
from daemon.hand import Hand
from daemon.otherdeck import RESTING_DECK, review_foreign
from daemon.setup import seat_number
from daemon.shoe import deck_of_start, follow_alone, take_over
from daemon.state import move_button
from daemon.suspicion import suspect
from daemon.upcards import review_upcards
from daemon.watchdog import review_rulings
from daemon.witness import review_witness

if TYPE_CHECKING:
    from daemon.presence import Presence
    from daemon.state import Step

START_MS = 1000
"""A dealt card has been there so long before it begins a hand."""


def review(step: Step) -> None:
    """Draw every conclusion that is due."""
    hand = step.state.hand
    if hand is not None:
        _review_hand(step, hand)
    follow(step)
    _review_start(step)


def _review_hand(step: Step, hand: Hand) -> None:
    scene = step.scene(hand)
    if not hand.closed:
        review_foreign(scene)
        review_extra(scene)
        follow_alone(scene)
        review_witness(scene)
        review_disputes(scene)
        review_deal(scene)
        review_folds(scene)
        review_board(scene)
        review_upcards(scene)
        review_shows(scene)
        review_showdown(scene)
        review_rulings(scene)
    was_closed = hand.closed
    review_end(scene)
    if hand.closed and not was_closed:
        close(step, hand)
    elif was_closed and hand.cleared is not None and hand.stale:
        presence = step.state.presence
        hand.stale = [tag for tag in hand.stale if _remains(presence, tag, hand.cleared)]
    elif was_closed and hand.void and not hand.tags():
        hand.stale = [tag for tag in hand.stale if _claimed(step.state.presence, tag)]


def close(step: Step, hand: Hand) -> None:
    """What is left to do when a hand was closed: the button moves, its cards grow stale."""
    state = step.state
    hand.closed, hand.cleared = True, None
    lies = _claimed if hand.void else _lies
    resting = [tag for tag in state.presence.tracks if lies(state.presence, tag)]
    hand.stale = sorted({*resting, *hand.tags()})
    move_button(state, hand)
    suspect(step, hand)


def _remains(presence: Presence, tag: str, cleared: int) -> bool:
    """Whether a tag lies on the table since before it was swept."""
    return _lies(presence, tag) and presence.since(tag) <= cleared


def _lies(presence: Presence, tag: str) -> bool:
    """Whether a tag lies on the table, be it between two seats."""
    track = presence.tracks.get(tag)
    return track is not None and (track.disputed or _on_table(track.home))


def _claimed(presence: Presence, tag: str) -> bool:
    """Whether a tag is heard on the table, be it not yet at rest."""
    track = presence.tracks.get(tag)
    return track is not None and any(_on_table(claim.zone) for claim in track.claims.values())


def _on_table(zone: str | None) -> bool:
    return zone is not None and (zone == "board" or zone.startswith("seat:"))


def _review_start(step: Step) -> None:
    """Cards that pass the shoe of a clear table, or come to two seats, begin a hand."""
    state, hand = step.state, step.state.hand
    passing = deck_of_start(step)
    if passing is not None:
        _begin_anew(step, passing)
        return
    if hand is not None and not hand.closed and hand.cleared is None:
        return
    if state.open_deal() is not None:
        return
    _notice_decks(step)
    found = _candidates(step)
    decks = {step.setup.cards[tag][0] for tag, _ in found}
    for deck in sorted(decks):
        tags = [(tag, zone) for tag, zone in found if step.setup.cards[tag][0] == deck]
        if hand is not None and hand.stale and deck == hand.deck:
            continue
        if not _deck_rests(step, deck) and _begins(step, tags):
            _begin_anew(step, deck)
            return


def _begin_anew(step: Step, deck: str) -> None:
    hand = step.state.hand
    if hand is not None and not hand.closed:
        cleared, presence = hand.cleared, step.state.presence
        end_unsaid(step.scene(hand))
        close(step, hand)
        if cleared is not None:
            hand.stale = [tag for tag in hand.stale if _remains(presence, tag, cleared)]
    begin(step, None, step.state.button, deck)


def _notice_decks(step: Step) -> None:
    """A deck that was put down on the board between hands."""
    presence, last, cards = step.state.presence, step.state.hand, step.setup.cards
    lying = [tag for tag in presence.at("board") if tag in cards]
    if len(lying) <= RESTING_DECK:
        return
    decks = {cards[tag][0] for tag in lying} - {last.deck if last is not None else None}
    if any(sum(cards[tag][0] == deck for tag in lying) > RESTING_DECK for deck in decks):
        step.alert("foreign-deck", "board", "board")


def _candidates(step: Step) -> list[tuple[str, str]]:
    """Enrolled tags at rest on seats that are no remains of the last hand, with their zones."""
    state, hand = step.state, step.state.hand
    found = []
    for tag, track in state.presence.tracks.items():
        zone = track.home
        if zone is None or not zone.startswith("seat:") or tag not in step.setup.cards:
            continue
        if (hand is not None and tag in hand.stale) or left_over(step, tag):
            continue
        if hand is not None and not hand.closed and _goes_on(step, hand, tag, zone):
            continue
        found.append((tag, zone))
    return found


def _goes_on(step: Step, hand: Hand, tag: str, zone: str) -> bool:
    """Whether this card lies there as part of the open hand."""
    owner = hand.owner(tag)
    if owner is not None and owner.number == seat_number(zone):
        return True
    return hand.cleared is None or step.state.presence.since(tag) < hand.cleared


def _deck_rests(step: Step, deck: str) -> bool:
    """Whether the deck was put down on a seat: what the neighbours hear of it was not dealt."""
    counts: dict[str, int] = {}
    for antenna, claims in step.state.presence.by_antenna.items():
        zone = step.setup.zones.get(antenna, "")
        if zone.startswith("seat:"):
            own = sum(step.setup.cards.get(tag, ("",))[0] == deck for tag in claims)
            counts[zone] = counts.get(zone, 0) + own
    resting = [zone for zone, count in counts.items() if count > RESTING_DECK]
    for zone in resting:
        step.alert("foreign-deck", zone, zone)
    return bool(resting)


def _begins(step: Step, tags: list[tuple[str, str]]) -> bool:
    presence, now = step.state.presence, step.state.now
    seats = {seat_number(zone) for _, zone in tags}
    oldest = min((presence.since(tag) for tag, _ in tags), default=now)
    return len(seats) >= 2 and now - oldest >= START_MS


def begin(step: Step, seats: list[int] | None, button: int | None, deck: str | None) -> Hand:
    """A hand begins; what already rests on the seats belongs to it."""
    state = step.state
    last = state.hand
    old = [*(last.stale if last is not None else []), *superseded(step)]
    stale = [tag for tag in old if _lies(state.presence, tag)]
    state.presence.forget()
    hand = Hand(
        number=state.next_number,
        discipline=state.discipline,
        button=button,
        deck=deck,
        key=state.key,
        started=state.now,
        named=seats is not None,
        last_dealt=state.now,
        stale=stale,
        expected=sorted(last.seats) if last is not None else [],
        doubted=state.suspicions.unread if state.suspicions.silent else 0,
        around=sorted({seat for seats in state.suspicions.recent for seat in seats}),
    )
    if not hand.game.has_button:
        hand.button = None
    state.next_number += 1
    hand.alerted = _told_tags(step, last)
    state.key, state.hand, state.alerted = None, hand, []
    state.odds = {}
    take_over(step, hand)
    started = HandStarted(button=hand.button, deck=hand.deck)
    if seats is not None:
        name_seats(hand, seats)
        started = HandStarted(button=hand.button, deck=hand.deck, seats=sorted(seats))
    step.tell(started, hand.number)
    _deal_in(step, hand)
    return hand


def _told_tags(step: Step, last: Hand | None) -> list[str]:
    """Marks of unknown tags that still lie there: one alert for each is enough."""
    marks = [*step.state.alerted, *(last.alerted if last is not None else [])]
    tags = {f"unknown-tag {tag}" for tag in step.state.presence.tracks}
    return sorted(tags & set(marks))


def name_seats(hand: Hand, seats: list[int]) -> None:
    """The floor says who is in play."""
    hand.named = True
    for number in sorted(seats):
        hand.seat(number)
    hand.seats = {number: hand.seats[number] for number in sorted(seats)}


def _deal_in(step: Step, hand: Hand) -> None:
    presence, cards = step.state.presence, step.setup.cards
    resting = [
        (presence.since(tag), tag, track.home)
        for tag, track in presence.tracks.items()
        if track.home is not None and track.home.startswith("seat:") and tag not in hand.stale
    ]
    if hand.deck is None:
        known = [cards[tag][0] for _, tag, _ in sorted(resting) if tag in cards]
        hand.deck = known[0] if known else None
    scene = step.scene(hand)
    for _, tag, zone in sorted(resting):
        settled(scene, tag, zone, None)
