"""One hand as the table has seen it: seats, cards, board, and what was told of them.

The state is plain data, so that a snapshot of it is one call and a restart goes on.
Times are whole milliseconds.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING

from msgspec import UNSET

from daemon.alerts import alert, with_remedy
from daemon.commitments import Commitment, commitment
from daemon.events import Addressed, Committed, Fact, Folded, HoleCards, Opened
from daemon.games import GAMES
from daemon.passes import Passed  # noqa: TC001  msgspec reads it
from daemon.rules.results import ShowdownResult  # noqa: TC001  msgspec reads it

if TYPE_CHECKING:
    from daemon.events import Alert
    from daemon.games.shape import Game
    from daemon.presence import Presence
    from daemon.setup import Setup

IN, FOLDED, SHOWN, MUCKED, OUT = "in", "folded", "shown", "mucked", "out"


@dataclass
class Held:
    """A card of a seat.

    `face` is None while nobody knows it; `source` is read, typed, shoe or inferred; `fixed`
    means that its place needs no further evidence.
    """

    tag: str | None
    face: str | None
    source: str
    since: int
    up: bool = False
    fixed: bool = False


@dataclass
class Place:
    """The last commitment of one place of a seat: its count, its hash, and the face in it."""

    n: int
    hash: str
    face: str


@cache
def _zones(number: int) -> frozenset[str]:
    return frozenset({f"seat:{number}", f"seat:{number}:up"})


@dataclass
class Seat:
    """A seat in play.

    `muck_at`: when one of its cards was found in the muck; `folded_at`: when its hand was given
    up; `by_muck`: because its cards were found there; `confirmed`: the floor said so too;
    `settled`: its third street is read; `tabled`: how many cards it has shown; `extra`: tags
    beyond the cards it may have, since when; `surplus`: those that stayed.
    """

    number: int
    status: str = IN
    held: list[Held] = field(default_factory=list)
    extra: dict[str, int] = field(default_factory=dict)
    surplus: list[str] = field(default_factory=list)
    places: dict[int, Place] = field(default_factory=dict)
    muck_at: int | None = None
    folded_at: int | None = None
    by_muck: bool = False
    confirmed: bool = False
    settled: bool = False
    tabled: int = 0

    def zone(self) -> str:
        """The zone of its down cards."""
        return f"seat:{self.number}"

    def zones(self) -> frozenset[str]:
        """Both zones that a seat may have."""
        return _zones(self.number)

    def tags(self) -> list[str]:
        """The tags of its cards, as far as they have been read."""
        return [held.tag for held in self.held if held.tag is not None]


@dataclass
class BoardCard:
    """A card on the board."""

    tag: str | None
    face: str
    source: str
    since: int


@dataclass
class Done:
    """A command that was carried out, with what `undo` needs to reverse it."""

    id: str
    by: str
    type: str
    seat: int = 0
    index: int = 0
    held: Held | None = None
    card: BoardCard | None = None
    status: str = ""


@dataclass
class Hand:
    """One hand of poker.

    `named`: the floor said who is in play; `not_dealt` are seats whose cards were a neighbour's.
    `passed` are the cards that passed the shoe, of which `taken` have been dealt out where seats
    have no antennas; `lost`: there one was not heard. `around` were read of late, `doubted` counts
    hands before with a seat unread. `witnessed`: when shoe and antennas were last compared.
    `called_at`: when the floor first asked for a showdown; no fold from then on. `gap_at`,
    `board_gap_at`: when an antenna last came back after a time without looks, `came_back` when the
    hand was heard there again; `in_place` when a card was last in place.
    """

    number: int
    discipline: str
    button: int | None
    deck: str | None
    key: str | None
    started: int
    named: bool
    seats: dict[int, Seat] = field(default_factory=dict)
    not_dealt: dict[int, Seat] = field(default_factory=dict)
    board: list[BoardCard] = field(default_factory=list)
    street: int = -1
    last_dealt: int = 0
    street_at: int = 0
    opened: int = -1
    members: list[int] = field(default_factory=list)
    alone_at: int | None = None
    gap_at: int = -1
    board_gap_at: int = -1
    came_back: int = -1
    in_place: int = -1
    result: ShowdownResult | None = None
    result_seq: int = 0
    wanted: list[int] | None = None
    waiting: list[int] = field(default_factory=list)
    asked: bool = False
    closed: bool = False
    void: bool = False
    to_show: list[int] = field(default_factory=list)
    typed: list[BoardCard] = field(default_factory=list)
    burns: list[str] = field(default_factory=list)
    stale: list[str] = field(default_factory=list)
    mucked: list[str] = field(default_factory=list)
    foreign: dict[str, int] = field(default_factory=dict)
    alerted: list[str] = field(default_factory=list)
    done: list[Done] = field(default_factory=list)
    cleared: int | None = None
    called_at: int | None = None
    expected: list[int] = field(default_factory=list)
    passed: list[Passed] = field(default_factory=list)
    taken: int = 0
    lost: bool = False
    around: list[int] = field(default_factory=list)
    doubted: int = 0
    witnessed: int = 0

    @property
    def game(self) -> Game:
        """The discipline that is played."""
        return GAMES[self.discipline]

    def phase(self) -> str:
        """The word for `state`: dealing, a street, showdown."""
        if self.result is not None:
            return "showdown"
        return self.game.streets[self.street].name if self.street >= 0 else "dealing"

    def live(self) -> list[int]:
        """The seats that have not given up, in order."""
        return sorted(n for n, seat in self.seats.items() if seat.status in {IN, SHOWN})

    def tags(self) -> list[str]:
        """The tags of all its cards, as far as they have been read."""
        tags = [card.tag for card in self.board if card.tag is not None]
        for seat in self.seats.values():
            tags += [*seat.tags(), *seat.extra]
        return tags

    def last_street(self) -> bool:
        """Whether every street is out."""
        return self.street == len(self.game.streets) - 1

    def seat(self, number: int) -> Seat:
        """The seat with this number, in play from now on."""
        return self.seats.setdefault(number, self.not_dealt.pop(number, Seat(number)))

    def owner(self, tag: str) -> Seat | None:
        """The seat that holds the tag."""
        for seat in self.seats.values():
            if any(held.tag == tag for held in seat.held):
                return seat
        return None

    def on_board(self, tag: str) -> bool:
        """Whether the tag is one of the told board cards."""
        return any(card.tag == tag for card in self.board)

    def down_cards_due(self) -> int:
        """How many cards each seat has by now: those of the first street, or of all told."""
        streets = self.game.streets[: max(self.street, 0) + 1]
        return sum(street.down + street.up for street in streets)


@dataclass
class Scene:
    """What one step works with: the time, the evidence, the hand, and the facts it tells.

    `first` keeps, for the step, when a card of a seat was first heard, in ms.
    """

    now: int
    setup: Setup
    presence: Presence
    hand: Hand
    out: list[tuple[Fact, int | None]]
    down: list[str]
    looked: dict[str, int]
    epoch: str
    first: dict[tuple[str, int], int] = field(default_factory=dict)

    def tell(self, *facts: Fact) -> None:
        """Add facts, in order."""
        self.out.extend((fact, self.hand.number) for fact in facts)

    def alert(self, kind: str, zone: str = "", *, once: str | None = None) -> None:
        """Raise an alert, once per hand for each kind and zone (or for `once`)."""
        mark = f"{kind} {zone if once is None else once}"
        if mark not in self.hand.alerted:
            self.hand.alerted.append(mark)
            self.tell(self.with_remedy(alert(kind, zone)))

    def with_remedy(self, told: Alert) -> Alert:
        """An alert with what the rules of this table say to do about it."""
        street = self.hand.game.streets[max(self.hand.street, 0)].name
        return with_remedy(told, street, self.setup.profile)

    def last_at(self, seat: Seat) -> int:
        """When the seat's own antennas last heard one of its cards, -1 for never."""
        return self.presence.last_heard(seat.tags(), seat.zones(), steady=True)

    def board_last(self) -> int:
        """When the board was last heard, -1 for never."""
        tags = [card.tag for card in self.hand.board if card.tag is not None]
        return self.presence.last_heard(tags, {"board"}, steady=True)

    def rivals(self) -> dict[str, str]:
        """Zones that compete for a dealt card, each with the seat it belongs to."""
        zones = self.setup.zones_of_readers()
        return {zone: self.setup.seat_of(zone) for zone in zones if zone.startswith("seat:")}

    def shoe_alone(self) -> bool:
        """Whether the table has a shoe reader and no antenna at any seat."""
        zones = self.setup.zones_of_readers()
        return "shoe" in zones and not any(zone.startswith("seat:") for zone in zones)

    def alive(self, zone: str) -> bool:
        """Whether some reader of the zone is up."""
        antennas = self.setup.antennas(zone)
        return any(antenna.rpartition("/")[0] not in self.down for antenna in antennas)

    def looked_at(self, zone: str, within: int) -> bool:
        """Whether every antenna of the zone has made a look in the last `within` ms."""
        return all(
            self.now - self.looked.get(antenna, 0) <= within + 1000
            and antenna.rpartition("/")[0] not in self.down
            for antenna in self.setup.antennas(zone)
        )


def commit(scene: Scene, seat: Seat) -> None:
    """Publish the commitments of cards that are new at their place and hidden, or were before."""
    hand = scene.hand
    for index, held in enumerate(seat.held):
        place = seat.places.get(index)
        if hand.key is None or held.face is None or (held.up and place is None):
            continue
        if place is not None and place.face == held.face:
            continue
        n = 0 if place is None else place.n + 1
        made = _made(scene, seat, index, n, held.face)
        replaces = UNSET if place is None else place.hash
        scene.tell(Committed(seat=seat.number, index=index, n=n, hash=made.hash, replaces=replaces))
        seat.places[index] = Place(n, made.hash, held.face)


def _made(scene: Scene, seat: Seat, index: int, n: int, card: str) -> Commitment:
    hand = scene.hand
    return commitment(
        hand.key or "",
        epoch=scene.epoch,
        hand=hand.number,
        seat=seat.number,
        index=index,
        n=n,
        card=card,
    )


def reveal(scene: Scene, seat: Seat) -> None:
    """Open the last commitments of a hand that is shown."""
    hand = scene.hand
    for index, held in enumerate(seat.held):
        place = seat.places.get(index)
        if hand.key is None or place is None or place.face != held.face:
            continue
        made = _made(scene, seat, index, place.n, place.face)
        scene.tell(
            Opened(seat=seat.number, index=index, n=place.n, card=place.face, salt=made.salt)
        )


def tell_privately(scene: Scene, seat: Seat) -> None:
    """Publish the seat's down cards on the private root, where the mode allows."""
    if scene.setup.hole_cards == "off":
        return
    cards = [held.face for held in seat.held if not held.up]
    told = HoleCards(seat=seat.number, cards=cards)
    if scene.setup.hole_cards == "sealed":
        scene.tell(*(Addressed(to=to, body=told) for to in sorted(scene.setup.receivers)))
    else:
        scene.tell(told)


def fold(scene: Scene, seat: Seat) -> None:
    """The seat has given up its hand."""
    seat.status, seat.folded_at = FOLDED, scene.now
    scene.tell(Folded(seat=seat.number))
