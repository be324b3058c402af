"""Stud: which cards lie face up, which street is out, and who opens it.

Whether a card that an antenna hears lies face up follows from the order of the deal alone, so a
face is public only where no other reading of the deal is left in which fewer than two cards went
unheard at once. With antennas of their own for up cards the antenna says it, once it is certain.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from daemon.dealing import disputed_at, left_lying, sure, unread
from daemon.dealorder import DOWN
from daemon.events import CardDealt, StreetDealt
from daemon.folds import in_muck
from daemon.hand import IN
from daemon.rules.errors import RuleError
from daemon.rules.first_to_act import UP_CARDS, first_to_act
from daemon.sweep import lost_sight
from daemon.thirdstreet import LATE_MS, dealt_third, first_heard, in_order, pace, third_round

if TYPE_CHECKING:
    from daemon.hand import Held, Scene, Seat

UP_HITS = 2
UP_REST_MS = 1500
"""So long an up antenna hears a card; a third of it, three times, where the down one never did."""
SETTLED_HITS = 8
UNSURE_MS = 4000
"""A face or an opener that is not certain after so long is the floor's to settle."""
MOST_UP = 4
FOLDED_MS = 10_000
"""So long after a seat gave up, its up card may still count for who opens."""
PAUSE_MS, PAUSE = 3000, 4
"""Cards of two streets are heard so long after each other, or so many times the dealer's pace."""
BETTING_MS, BETTING = 1500, 2.5
"""The same between the last card of a street and the first of the next, which takes longer."""
TYPED_MS = 5000
"""A fold is typed so soon after it."""
BURST_MS, PACE = 3000, 1.2
"""The cards of one street are heard within so long, and so many times the dealer's pace a card."""


def review_upcards(scene: Scene) -> None:
    """Tell the faces that are certain by now, the streets that are out, and who opens."""
    hand = scene.hand
    if hand.discipline != "stud" or hand.closed or hand.result is not None or lost_sight(hand):
        return
    for number in [] if scene.shoe_alone() else sorted(hand.seats):
        _review_seat(scene, hand.seats[number])
    _review_street(scene)
    _review_opener(scene)


def turn_up(scene: Scene, seat: Seat, held: Held) -> None:
    """A card of the seat is public from now on."""
    held.up = True
    track = scene.presence.tracks.get(held.tag or "")
    if track is not None:
        track.still = True
    zone = f"{seat.zone()}:up"
    if held.face is not None:
        scene.tell(CardDealt(zone=zone, index=seat.held.index(held), card=held.face))


def _review_seat(scene: Scene, seat: Seat) -> None:
    if seat.folded_at is not None and scene.now - seat.folded_at > FOLDED_MS:
        return
    if f"{seat.zone()}:up" in scene.setup.zones_of_readers():
        _by_antenna(scene, seat)
        return
    if not seat.settled:
        _third(scene, seat)
    unsettled = len(seat.held) > 2 + sum(held.up for held in seat.held)
    if seat.settled and unsettled and not disputed_at(scene, seat):
        for place, held in enumerate(in_order(scene, seat)[3:6], 4):
            if not held.up and held.face is not None and held.tag is not None:
                _later(scene, seat, held, place)


def _by_antenna(scene: Scene, seat: Seat) -> None:
    """Up cards lie on an antenna of their own; each needs the seat's two first down cards."""
    presence, up_zone = scene.presence, f"{seat.zone()}:up"
    up = [held for held in seat.held if held.up]
    for held in in_order(scene, seat):
        if held.up or held.tag is None or presence.home(held.tag) != up_zone:
            continue
        if seat.status != IN or in_muck(scene, seat) is not None:
            continue
        due = _down_before(scene, seat, held) >= DOWN
        if up:
            due = not _may_be_seventh(scene, seat, first_heard(scene, seat, held))
        if due and len(up) < MOST_UP and _only_up(scene, held.tag, seat):
            turn_up(scene, seat, held)
            up.append(held)
        elif scene.now - held.since >= UNSURE_MS:
            scene.alert("unsure-face", seat.zone())


def _down_before(scene: Scene, seat: Seat, held: Held) -> int:
    """How many cards certainly lay face down at the seat before this one was heard."""
    at = first_heard(scene, seat, held)
    own = [one for one in seat.held if one.tag and scene.presence.home(one.tag) == seat.zone()]
    return sum(
        sure(scene, seat, one.tag, UP_HITS) and first_heard(scene, seat, one) < at for one in own
    )


def _only_up(scene: Scene, tag: str, seat: Seat) -> bool:
    """Whether the up antenna hears the card, and the down antenna as good as never.

    Where the up antenna hears the seat's down cards too, much more of it is needed.
    """
    heard = scene.presence.tracks[tag].heard
    up, down = heard.get(f"{seat.zone()}:up"), heard.get(seat.zone())
    if up is None:
        return False
    rested, hits, blurred = up.last - up.first, UP_HITS, _blurred(scene, seat)
    if rested < UP_REST_MS and down is None and not blurred:
        rested, hits = 3 * rested, UP_HITS + 1
    if blurred:
        hits = SETTLED_HITS
    if up.hits < hits or rested < UP_REST_MS or (blurred and down is not None):
        return False
    certain = scene.presence.sure(tag, f"{seat.zone()}:up", scene.rivals(), UP_HITS)
    return certain and (down is None or down.hits * 4 <= up.hits)


def _blurred(scene: Scene, seat: Seat) -> bool:
    """Whether the up antenna hears cards that lie face down, and not once in a while."""
    presence, zone = scene.presence, seat.zone()
    down = [one.tag for one in seat.held if one.tag and presence.home(one.tag) == zone]
    up = [presence.hits([tag], f"{zone}:up") for tag in down]
    return any(
        own > 1 and own * 4 > presence.hits([tag], zone) for tag, own in zip(down, up, strict=True)
    )


def _third(scene: Scene, seat: Seat) -> None:
    """Third street with one antenna: the third card lies up if both others were dealt before."""
    order = in_order(scene, seat)
    if len(order) < 3:
        return
    times = [first_heard(scene, seat, held) for held in order[:3]]
    certain = all(sure(scene, seat, held.tag, UP_HITS) for held in order[:3])
    if certain and order[2].tag is not None and dealt_third(scene, seat, times):
        seat.settled = True
        turn_up(scene, seat, order[2])
    elif scene.now - times[2] >= UNSURE_MS:
        scene.alert("unsure-face", seat.zone())


def _later(scene: Scene, seat: Seat, held: Held, place: int) -> None:
    """Fourth to sixth street: up, unless the seat may have missed a card and this is a down one."""
    if not sure(scene, seat, held.tag, UP_HITS):
        return
    before = first_heard(scene, seat, in_order(scene, seat)[place - 2])
    at = first_heard(scene, seat, held)
    missed = scene.hand.gap_at >= before or not _beside_others(scene, seat, held, at)
    missed = missed or not _in_step(scene, seat, place, at) or at <= third_round(scene, seat)
    missed = missed or _streets_before(scene, seat, at) > place - DOWN - 2
    if missed or _may_be_seventh(scene, seat, at):
        if scene.now - held.since >= UNSURE_MS:
            scene.alert("unsure-face", seat.zone())
        return
    if scene.now >= at + LATE_MS or not _may_be_seventh(scene, seat, at, unheard=1):
        turn_up(scene, seat, held)


def _streets_before(scene: Scene, seat: Seat, at: int) -> int:
    """How many streets after the third were dealt before: times at which several seats got a card.

    A card that comes alone may be a late one of its street, as may several that other seats get,
    and this one if nobody else got any then.
    """
    cards = sorted(
        (first_heard(scene, other, held), other.number)
        for other in scene.hand.seats.values()
        for held in in_order(scene, other)[DOWN + 1 :]
    )
    pause = min(PAUSE_MS, PAUSE * pace(scene))
    streets, last = 0, at
    street: set[int] = set()
    burst: set[int] = set()
    for time, number in [*(card for card in cards if card[0] < at), (at, seat.number)]:
        if time - last > pause:
            again = not street.isdisjoint(burst)
            streets += again and len(street) > 1
            street, burst = burst if again else street | burst, set()
        burst.add(number)
        last = time
    alone = burst == {seat.number} and not any(at < time <= at + LATE_MS for time, _ in cards)
    late = alone and seat.number not in street and scene.now >= at + LATE_MS
    return streets + (len(street) > 1 and not late)


def _in_step(scene: Scene, seat: Seat, place: int, at: int) -> bool:
    """Whether the other live seats are on the same street: none is a card behind or ahead."""
    for number in scene.hand.live():
        other = scene.hand.seats[number]
        if other is seat:
            continue
        times = [first_heard(scene, other, held) for held in other.held]
        ahead = sum(time < at for time in times) > place
        behind = sum(time < at + LATE_MS for time in times) < place - 1
        if ahead or behind:
            return False
    return True


def _beside_others(scene: Scene, seat: Seat, held: Held, at: int) -> bool:
    """Whether an up card of the seat still lay there: else this one may be of the next hand."""
    up = [one.tag for one in seat.held if one.up and one is not held and one.tag is not None]
    return scene.presence.last_heard(up, seat.zones()) >= at


def _may_be_seventh(scene: Scene, seat: Seat, at: int, *, unheard: int = 0) -> bool:
    """Whether all other live seats had by then what they would have on seventh street.

    Cards dealt before may be heard a little later; `unheard` seats may lack one.
    """
    betting = min(BETTING_MS, BETTING * pace(scene))
    for number in scene.hand.live():
        other = scene.hand.seats[number]
        if other is seat:
            continue
        by = at + LATE_MS if number < seat.number else at - betting
        had = sum(first_heard(scene, other, held) < by for held in other.held)
        had += len(other.extra) + disputed_at(scene, other)
        lacking = (7 if number < seat.number else 6) - had
        if lacking > 1 or (lacking == 1 and not unheard):
            return False
        unheard -= max(lacking, 0)
    return True


def _review_street(scene: Scene) -> None:
    """The next street is out when every live seat has its card, or all but one have moved on.

    Its members are all that got a card, even if they gave up at once.
    """
    hand = scene.hand
    if hand.street < 0 or hand.last_street():
        return
    due = hand.down_cards_due() + 1
    members = [n for n in sorted(hand.seats) if len(hand.seats[n].held) >= due]
    live = hand.live()
    moved_on = sum(len(hand.seats[n].held) > due for n in live) >= max(2, len(live) - 1)
    if len(members) < 2 or not (set(live) <= set(members) or moved_on):
        return
    if hand.opened < hand.street:
        scene.alert("unsure-opener", once=hand.game.streets[hand.street].name)
    hand.street += 1
    hand.street_at = scene.now
    hand.members = sorted({*members, *live})
    scene.tell(StreetDealt(street=hand.game.streets[hand.street].name, cards=[]))
    for number in live:
        if len(hand.seats[number].held) < due:
            scene.alert("missing-card", f"seat:{number}", once=f"{number} {hand.street}")


def _review_opener(scene: Scene) -> None:
    """The bring-in or the opener of the street that is out, once, and only if it is certain."""
    hand = scene.hand
    members = hand.members or sorted(hand.seats)
    if hand.street < 0 or hand.opened >= hand.street or len(members) < 2:
        return
    street = hand.game.streets[hand.street].name
    boards = {n: _board(scene, hand.seats[n], UP_CARDS[street]) for n in members}
    known = {number: cards for number, cards in boards.items() if cards is not None}
    if _half_dealt(scene, members):
        scene.alert("unsure-opener", once=street)
        hand.opened = hand.street
    elif len(known) == len(boards) and not unread(scene):
        common = hand.board[0].face if hand.board else None
        try:
            ruling = first_to_act(street, known, common=common, profile=scene.setup.profile)
        except RuleError:
            scene.alert("unsure-opener", once=street)
            hand.opened = hand.street
            return
        hand.opened = hand.street
        scene.tell(ruling)
    elif scene.now - hand.street_at >= UNSURE_MS:
        scene.alert("unsure-opener", once=street)


def _half_dealt(scene: Scene, members: list[int]) -> bool:
    """Whether the boards of this street may lack a card.

    A seat gave up while it was dealt, or got its card so much later that it missed one before.
    """
    hand = scene.hand
    due = hand.down_cards_due()
    orders = [(hand.seats[n], in_order(scene, hand.seats[n])) for n in members]
    cards = [(seat, order[due - 1]) for seat, order in orders if order[due - 1 :]]
    times = [first_heard(scene, seat, held) for seat, held in cards if held.tag is not None]
    began = min(times, default=scene.now)
    if max(times, default=began) - began > BURST_MS + PACE * pace(scene) * len(members):
        return True
    others = [seat for number, seat in hand.seats.items() if number not in members]
    typed = [seat.folded_at or began for seat in others if not seat.by_muck]
    if max(typed, default=began) >= began + TYPED_MS:
        return True
    return any(scene.last_at(seat) >= began for seat in others)


def opener_owed(scene: Scene) -> bool:
    """Whether a street is out, or half out, whose opener was not told."""
    hand = scene.hand
    if hand.discipline != "stud" or hand.result is not None:
        return False
    due = hand.down_cards_due()
    begun = any(len(seat.held) > due for seat in hand.seats.values()) and not hand.last_street()
    return hand.opened < max(hand.street, 0) or begun


def _board(scene: Scene, seat: Seat, count: int) -> list[str] | None:
    """The seat's up cards in order, None while one is not known for certain.

    A third card among its first ones of which nobody knows how it lies may be an up card.
    """
    order = in_order(scene, seat)
    up = [held for held in order if held.up][:count]
    known = sum(held.up for held in order[: DOWN + count]) >= count and not seat.extra
    if not known or left_lying(scene, seat) or not _in_their_streets(scene, seat, up):
        return None
    faces = [held.face for held in up if held.face is not None]
    return faces if len(faces) == count else None


def _in_their_streets(scene: Scene, seat: Seat, up: list[Held]) -> bool:
    """Whether each of these was heard while its own street was dealt, as far as antennas know."""
    before, gap, apart = None, scene.hand.gap_at, pace(scene)
    for place, held in enumerate(up):
        if held.tag is None or held.source == "shoe":
            continue
        time = first_heard(scene, seat, held)
        if place == 0 and time > third_round(scene, seat) + LATE_MS:
            return False
        if place > 0 and _streets_before(scene, seat, time) > place - 1:
            return False
        if before is not None and (time - before < apart or before <= gap <= time + PAUSE_MS):
            return False
        before = time
    return True
