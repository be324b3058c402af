"""The shoe reader: cards that pass it begin a hand, and alone it follows one by their order.

Without antennas at the seats the order of dealing says where each card goes. It says so only while
every burst of cards is as long as the deal takes; after a card that was not heard nothing more is
dealt out, because everything after it may have shifted.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from daemon.board import put_on_board
from daemon.dealing import add
from daemon.deals import left_over
from daemon.hand import FOLDED, BoardCard, Held
from daemon.passes import BURST_MS, Passed, gaps, note, room_for_one
from daemon.rules.order import dealing_order
from daemon.rules.short_stub import stub_ruling
from daemon.upcards import turn_up

if TYPE_CHECKING:
    from daemon.hand import Hand, Scene
    from daemon.state import Step

START_MS = 30_000
"""Cards that passed so long ago are no part of a hand that begins."""
JITTER_MS = 3000
STRAY_MS = 5000
DECK = 52


def passed(step: Step, tag: str) -> None:
    """A card passes the shoe: it belongs to the open hand, or to the one that comes."""
    state, now = step.state, step.state.now
    if tag not in step.setup.cards or state.open_deal() is not None:
        return
    hand = state.open_hand()
    if hand is not None and _again(hand, tag, now):
        return
    if hand is None or not _belongs(step, hand, tag):
        state.passing = [card for card in state.passing if now - card.at < START_MS]
        note(state.passing, tag, now)
        return
    deck = step.setup.cards[tag][0]
    hand.deck = hand.deck or deck
    strays = [card for card in state.passing if now - card.at < STRAY_MS]
    if len(strays) == 1 and step.setup.cards[strays[0].tag][0] != deck:
        step.scene(hand).alert("mixed-decks", "shoe", once=step.setup.cards[strays[0].tag][0])
    note(hand.passed, tag, now)
    hand.stale = [old for old in hand.stale if old != tag]


def _again(hand: Hand, tag: str, now: int) -> bool:
    """Whether a card that has just passed is heard once more."""
    return any(card.tag == tag and now - card.at < JITTER_MS for card in hand.passed[:-1])


def _belongs(step: Step, hand: Hand, tag: str) -> bool:
    if hand.deck not in {None, step.setup.cards[tag][0]}:
        return False
    if hand.result is not None or hand.cleared is not None:
        return False
    if not any(card.tag == tag for card in hand.passed[:-1]):
        return True
    last_but_one = hand.street == len(hand.game.streets) - 2
    return hand.game.common_card and last_but_one and hand.owner(tag) is None


def deck_of_start(step: Step) -> str | None:
    """The deck whose cards pass the shoe of a clear table, so that a hand begins."""
    hand, state, cards = step.state.hand, step.state, step.setup.cards
    fresh = recent(step)
    if len(fresh) < 2 or state.open_deal() is not None:
        return None
    deck = cards[fresh[-1].tag][0]
    if any(left_over(step, card.tag) for card in fresh):
        return None
    if hand is None:
        return deck
    over = hand.closed or hand.result or (hand.asked and not hand.named)
    if over and step.scene(hand).shoe_alone():
        return deck
    if hand.cleared is None and not (hand.closed and deck != hand.deck):
        return None
    if not hand.closed:
        known = {card.tag for card in hand.passed}
        return deck if deck != hand.deck or any(card.tag in known for card in fresh) else None
    return None if hand.stale and deck == hand.deck else deck


def recent(step: Step) -> list[Passed]:
    """The cards of one deck that passed last, for the hand that begins."""
    now, cards, passing = step.state.now, step.setup.cards, step.state.passing
    deck = cards[passing[-1].tag][0] if passing else ""
    return [card for card in passing if cards[card.tag][0] == deck and now - card.at < START_MS]


def take_over(step: Step, hand: Hand) -> None:
    """The hand has begun: what passed the shoe for it is its own."""
    fresh = recent(step)
    if fresh and hand.deck in {None, step.setup.cards[fresh[-1].tag][0]}:
        hand.deck = step.setup.cards[fresh[-1].tag][0]
        hand.passed = fresh
    step.state.passing = []
    hand.lost = bool(step.setup.antennas("shoe")) and not step.scene(hand).alive("shoe")


def follow_alone(scene: Scene) -> None:
    """Deal out what has passed, where the shoe is the only witness at the seats."""
    hand = scene.hand
    if not scene.shoe_alone() or not hand.named or hand.result is not None:
        return
    if hand.game.has_button and hand.button is None:
        return
    if hand.lost:
        _ask(scene)
    elif hand.street < 0:
        _first_street(scene)
    elif hand.game.common_card:
        _later_street(scene)
    elif "board" not in scene.setup.zones_of_readers():
        _board_street(scene)


def _ask(scene: Scene) -> None:
    if scene.hand.passed:
        scene.alert("missing-card", "shoe")


def _lose(scene: Scene) -> None:
    """A card was not heard, or one came too many: from here on the order says nothing."""
    scene.hand.lost = True
    _ask(scene)


def _rest(scene: Scene) -> list[Passed]:
    return scene.hand.passed[scene.hand.taken :]


def _paused(scene: Scene, cards: list[Passed], size: int, pause: int = BURST_MS) -> bool:
    """Whether a pause follows the first `size` of these cards."""
    after = cards[size].at if len(cards) > size else scene.now
    return after - cards[size - 1].at >= pause


def _first_street(scene: Scene) -> None:
    """The deal takes a known number of cards; a longer gap among them hides one more."""
    hand = scene.hand
    street = hand.game.streets[0]
    order = dealing_order(list(hand.seats), hand.button, street.down + street.up)
    cards, size = _rest(scene), len(order)
    dealt = cards[:size]
    if not dealt:
        return
    uneven = len(dealt) > 2 and max(gaps(dealt)) > room_for_one(dealt)
    if uneven or (len(dealt) < size and _paused(scene, dealt, len(dealt))):
        _lose(scene)
    elif len(dealt) == size and _paused(scene, cards, size, room_for_one(dealt)):
        _deal_out(scene, dealt, order, street.down * len(hand.seats))
    elif len(cards) > size:
        _lose(scene)


def _deal_out(scene: Scene, cards: list[Passed], order: list[int], down: int) -> None:
    """Each card goes to its seat, and after the first `down` of them they lie face up."""
    hand = scene.hand
    hand.taken += len(cards)
    for place, (card, number) in enumerate(zip(cards, order, strict=True)):
        face = scene.setup.cards[card.tag][1]
        held = Held(card.tag, face, "shoe", card.at, fixed=True)
        add(scene, hand.seats[number], held)
        if place >= down:
            turn_up(scene, hand.seats[number], held)


def _later_street(scene: Scene) -> None:
    """Stud: a burn, then a card for each hand that was live when the last one was dealt."""
    hand, cards = scene.hand, _rest(scene)
    size = next((n for n in range(1, len(cards) + 1) if _paused(scene, cards, n)), 0)
    if not size or hand.last_street():
        return
    burst = cards[:size]
    live = [number for number in sorted(hand.seats) if _dealt_in(scene, number, burst[-1].at)]
    if len(burst) == 2 < len(live) + 1 and _common_due(hand, len(live)):
        hand.taken += 2
        if "board" not in scene.setup.zones_of_readers():
            _to_board(scene, burst[1:])
    elif len(burst) == len(live) + 1 and max(gaps(burst[1:]), default=0) <= _room(hand):
        hand.taken += 1
        _deal_out(scene, burst[1:], live, hand.game.streets[hand.street + 1].down * len(live))
    else:
        _lose(scene)


def _room(hand: Hand) -> int:
    """How long a gap is that has room for one more card, by the pace of the deal."""
    street = hand.game.streets[0]
    return room_for_one(hand.passed[: len(hand.seats) * (street.down + street.up)])


def _dealt_in(scene: Scene, number: int, at: int) -> bool:
    seat = scene.hand.seats[number]
    return seat.status != FOLDED or (seat.folded_at or 0) > at


def _common_due(hand: Hand, players: int) -> bool:
    """Whether the stub is too short for a seventh card each (TDA RP-10-H)."""
    stub = DECK - len({card.tag for card in hand.passed[: hand.taken]})
    if hand.street != len(hand.game.streets) - 2 or players < 2 or stub < 1:
        return False
    return stub_ruling(stub, players).action.endswith("common-card")


def _board_street(scene: Scene) -> None:
    """Hold'em and Omaha without a board antenna: a burn, then the cards of the street."""
    hand, cards = scene.hand, _rest(scene)
    if hand.last_street() or not cards:
        return
    street = hand.game.streets[hand.street + 1]
    size = street.burn + street.board
    burst = cards[:size]
    flop = burst[street.burn :]
    if len(burst) < size:
        if _paused(scene, burst, len(burst)):
            _lose(scene)
    elif max(gaps(burst)) >= BURST_MS or max(gaps(flop), default=0) > _room(hand):
        _lose(scene)
    elif _paused(scene, cards, size, _room(hand)):
        hand.taken += size
        _to_board(scene, flop)
    elif len(cards) > size:
        scene.alert("extra-board-card", "board")
        _lose(scene)


def _to_board(scene: Scene, cards: list[Passed]) -> None:
    faces = scene.setup.cards
    put_on_board(
        scene, [BoardCard(card.tag, faces[card.tag][1], "shoe", card.at) for card in cards]
    )
