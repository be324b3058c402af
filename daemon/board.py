"""The board: which cards lie there as part of the hand, street by street.

A first sighting on a board antenna counts only when a board card is due, rests, and the count
fits: folded hands are thrown across it, and everything is swept over it at the end.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from daemon.dealing import DEALT_MS, open_first_street
from daemon.events import StreetDealt
from daemon.hand import FOLDED, IN, BoardCard
from daemon.otherdeck import RESTING_DECK
from daemon.passes import never_on_board

if TYPE_CHECKING:
    from daemon.hand import Scene

TOGETHER_MS = 8000
"""The cards of one street are first heard within this time of each other."""
PAIR_REST_MS = 6000
"""Two new cards where one is due may be a hand thrown across; they must rest so long."""
EXTRA_MS = 3000
AWAY_REST_MS = 4000
SOON_MS = 2000
NEXT_MS = 4000
"""The first card of the next street comes so long after the last of this one."""
ONE_MORE_HITS, ONE_MORE_MS = 2, 10_000
"""A card heard on the board so often, and so short a time ago, may lie there."""
APART_MS = 1500
"""No dealer lays the cards of two streets within so long of each other; one may be a burn."""
LEAST_HEARD, FEW_HEARD, SURE_HITS, LAIN_MS = 0.5, 0.75, 6, 1250
"""A card of the board is heard in so many of the looks since it was laid there, few or many."""
PASSING_MS = 2000
WELL_HITS, WELL_HEARD = 8, 0.6
TAKEN_BACK_MS = 5000
SHUFFLE_MS = 5000
"""More tags of the deck than a resting one has, heard within so long, are the deck itself."""


def review_board(scene: Scene) -> None:
    """Compare what rests on the board with what is due, and tell a street that is out."""
    hand = scene.hand
    if hand.result is not None or hand.closed or hand.cleared is not None:
        return
    if hand.game.common_card:
        _common_card(scene)
        return
    if _taken_back(scene):
        scene.alert("premature-card", "board", once=str(hand.street))
        return
    _take_typed(scene)
    fresh = _fresh(scene)
    while fresh and not hand.last_street():
        street = hand.game.streets[max(hand.street, 0) + 1]
        if not _due(scene):
            return
        dealt = _street_out(scene, fresh, street.board)
        if not dealt:
            break
        _tell(scene, dealt)
        fresh = _fresh(scene)
    _surplus(scene, fresh)


def _common_card(scene: Scene) -> None:
    """Stud with a short stub: one card on the board stands for everybody's seventh."""
    hand = scene.hand
    seventh = len(hand.game.streets) - 2
    fresh = [tag for tag in _fresh(scene) if scene.now - scene.presence.since(tag) >= EXTRA_MS]
    none_has_seven = all(len(hand.seats[n].held) < hand.game.own_cards for n in hand.live())
    if hand.street == seventh and hand.typed and none_has_seven:
        put_on_board(scene, [hand.typed.pop(0)])
    elif hand.street == seventh and len(fresh) == 1 and none_has_seven:
        _tell(scene, fresh)
    elif fresh:
        scene.alert("extra-board-card", "board")


def _fresh(scene: Scene) -> list[str]:
    """Tags of this deck that rest on the board and are no card told or held, oldest first."""
    hand, cards = scene.hand, scene.setup.cards
    resting = scene.presence.at("board")
    elsewhere = never_on_board(hand) if resting and hand.passed else set()
    fresh = [
        tag
        for tag in resting
        if cards.get(tag, ("",))[0] == hand.deck
        and tag not in elsewhere
        and tag not in hand.stale
        and not hand.on_board(tag)
        and hand.owner(tag) is None
        and not _typed(scene, tag)
        and not _heard_in_passing(scene, tag)
    ]
    return [] if fresh and _deck_there(scene) else fresh


def _heard_in_passing(scene: Scene, tag: str) -> bool:
    """Whether the board hears the card now and then only: a burn may lie beside it.

    One that was heard before, and was lost, counts once it is heard as well as any.
    """
    track = scene.presence.tracks[tag]
    claims = [claim for claim in track.claims.values() if claim.zone == "board"]
    hits, looks = sum(claim.hits for claim in claims), sum(claim.looks for claim in claims)
    total = track.heard["board"]
    since = min((claim.first for claim in claims), default=total.last)
    few = hits < SURE_HITS
    if hits < (FEW_HEARD if few else LEAST_HEARD) * looks or (few and scene.now - since < LAIN_MS):
        return True
    early = since - total.first
    well = hits >= WELL_HITS and hits >= WELL_HEARD * looks
    return early > PASSING_MS and not well


def _deck_there(scene: Scene) -> bool:
    """Whether the deck itself is on the board, being shuffled or gathered, and no card is dealt."""
    hand, cards, since = scene.hand, scene.setup.cards, scene.now - SHUFFLE_MS
    there = 0
    for tag, track in scene.presence.tracks.items():
        heard = track.heard.get("board")
        if heard is not None and heard.last >= since and not hand.on_board(tag):
            there += cards.get(tag, ("",))[0] == hand.deck
    return there > RESTING_DECK


def _typed(scene: Scene, tag: str) -> bool:
    """Give a typed board card its tag, when that very card is heard."""
    face = scene.setup.cards[tag][1]
    for card in (*scene.hand.board, *scene.hand.typed):
        if card.tag is None and card.face == face:
            card.tag = tag
            return True
    return False


def _due(scene: Scene) -> bool:
    """A board card is due once the deal has come to rest."""
    hand = scene.hand
    seats = [seat for seat in hand.seats.values() if seat.held or seat.status == FOLDED]
    return len(seats) >= (1 if hand.named else 2) and scene.now - hand.last_dealt >= DEALT_MS // 4


def _street_out(scene: Scene, fresh: list[str], size: int) -> list[str]:
    """The tags that make up the next street, empty while that is not certain."""
    if len(fresh) < size:
        return []
    first = [scene.presence.since(tag) for tag in fresh]
    if _order_unsure(scene, fresh, first, size):
        if len(first) > size or scene.now - first[0] >= AWAY_REST_MS:
            scene.alert("missing-card", "board")
        return []
    if len(fresh) == size:
        first = _ever_heard(scene, fresh)
    apart = max((late - early for early, late in pairwise(first[:size])), default=0)
    if apart > NEXT_MS or first[size - 1] - first[0] > TOGETHER_MS:
        scene.alert("missing-card", "board")
        return []
    if len(fresh) == size:
        return _unless_one_more(scene, fresh, first[-1])
    later = first[size] - first[size - 1]
    if later > NEXT_MS:
        return fresh[:size]
    rested = scene.now - first[-1] >= PAIR_REST_MS
    if size == 1 and rested and len(fresh) <= _missing(scene) and later > 0:
        return fresh[:1]
    return []


def _unless_one_more(scene: Scene, fresh: list[str], last: int) -> list[str]:
    """These cards, which are as many as are due; none where another one may lie there too."""
    if not _one_more_heard(scene, fresh, last):
        return fresh
    if scene.now - last >= AWAY_REST_MS:
        scene.alert("missing-card", "board")
    return []


def _ever_heard(scene: Scene, fresh: list[str]) -> list[int]:
    """When the board first heard these, in order: one that was lost for a while came no later."""
    found = (scene.presence.first_in(tag, {"board"}) for tag in fresh)
    return sorted(scene.now if at is None else at for at in found)


def _one_more_heard(scene: Scene, fresh: list[str], last: int) -> bool:
    """Whether the board has heard another card by then that does not lie there now.

    It may be one of these as well, so that nobody knows which of them came later; or it lay there
    with them, as the cards of a hand do that is folded across the board.
    """
    hand, cards = scene.hand, scene.setup.cards
    elsewhere = {*fresh, *(never_on_board(hand) if hand.passed else ())}
    for tag, track in scene.presence.tracks.items():
        heard = track.heard.get("board")
        if heard is None or tag in elsewhere or heard.hits < ONE_MORE_HITS:
            continue
        lay_there = heard.hits > ONE_MORE_HITS and heard.last > last
        if track.home not in {None, "board"} and not lay_there:
            continue
        known = hand.on_board(tag) or hand.owner(tag) is not None or tag in hand.stale
        recent = heard.first <= last + NEXT_MS and scene.now - heard.last <= ONE_MORE_MS
        if recent and not known and cards.get(tag, ("",))[0] == hand.deck:
            return True
    return False


def _order_unsure(scene: Scene, fresh: list[str], first: list[int], size: int) -> bool:
    """Whether cards were first heard together, after the antennas were away, or not for a while."""
    hand = scene.hand
    away = hand.board_gap_at > hand.street_at
    if away and (len(first) > size or scene.now - first[0] < AWAY_REST_MS):
        return True
    again = (scene.presence.first_in(tag, {"board"}) for tag in fresh)
    if len(first) > size and any(
        at is not None and at < since for at, since in zip(again, first, strict=True)
    ):
        return True
    before = [card.since for card in hand.board if card.tag is not None]
    return size == 1 and bool(before) and _ever_heard(scene, fresh)[0] - max(before) < APART_MS


def _missing(scene: Scene) -> int:
    return scene.hand.game.board_cards - len(scene.hand.board)


def _tell(scene: Scene, tags: list[str]) -> None:
    faces = [scene.setup.cards[tag][1] for tag in tags]
    put_on_board(
        scene,
        [
            BoardCard(tag, face, "read", _ever_heard(scene, [tag])[0])
            for tag, face in zip(tags, faces, strict=True)
        ],
    )


def put_on_board(scene: Scene, cards: list[BoardCard]) -> None:
    """A street is out: its cards are public from now on."""
    hand = scene.hand
    if hand.street < 0:
        open_first_street(scene)
    if _too_soon(scene, cards):
        scene.alert("late-card", "board", once=str(hand.street))
    hand.street += 1
    hand.street_at = hand.last_dealt = scene.now
    hand.board += cards
    hand.members = hand.live()
    hand.alerted = [mark for mark in hand.alerted if not mark.startswith("extra-board-card")]
    street = hand.game.streets[hand.street].name
    scene.tell(StreetDealt(street=street, cards=[card.face for card in cards]))


def _too_soon(scene: Scene, cards: list[BoardCard]) -> bool:
    """Whether nobody had time to act on the street before; all-in hands do not act."""
    hand = scene.hand
    first = min((card.since for card in cards if card.source == "read"), default=scene.now)
    acting = sum(hand.seats[number].status == IN for number in hand.live())
    return hand.street > 0 and first - hand.street_at < SOON_MS and acting > 1


def _taken_back(scene: Scene) -> bool:
    """Whether a told card has left while a new one lies with the rest of the board."""
    hand, presence = scene.hand, scene.presence
    tags = [card.tag for card in hand.board if card.tag is not None]
    if hand.last_street() or len(tags) < 2 or not _fresh(scene):
        return False
    last = [presence.last_heard([tag], {"board"}) for tag in tags]
    return max(last) - min(last) >= TAKEN_BACK_MS


def _take_typed(scene: Scene) -> None:
    """Typed board cards make up a street, with those that were read where they fit."""
    hand, cards = scene.hand, scene.setup.cards
    while hand.typed and not hand.last_street():
        size = hand.game.streets[max(hand.street, 0) + 1].board
        fresh = [tag for tag in _fresh(scene) if cards[tag][1] not in _faces(hand.typed)]
        if len(hand.typed) >= size:
            dealt, hand.typed = hand.typed[:size], hand.typed[size:]
        elif len(hand.typed) + len(fresh) == size:
            read = [BoardCard(tag, cards[tag][1], "read", scene.now) for tag in fresh]
            dealt, hand.typed = read + hand.typed, []
        else:
            return
        put_on_board(scene, dealt)


def _faces(cards: list[BoardCard]) -> set[str]:
    return {card.face for card in cards}


def _surplus(scene: Scene, fresh: list[str]) -> None:
    """More cards than the street deals, resting, are the floor's to look at."""
    hand = scene.hand
    resting = [tag for tag in fresh if scene.now - scene.presence.since(tag) >= EXTRA_MS]
    over = hand.last_street() and resting
    four = hand.street <= 0 and len(resting) > hand.game.streets[1].board
    pair = hand.street > 0 and not hand.last_street() and len(resting) > 1
    if over or four or pair:
        scene.alert("extra-board-card", "board")
