"""What dealer and players do with their hands: the physical half of a simulated hand."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from drivers.sim.deck import CARDS, Deck
from drivers.sim.script import PILE, Dealt, Event, Fault, Fold, Said, Tabled

if TYPE_CHECKING:
    from random import Random

    from drivers.sim.layout import Layout
    from drivers.sim.noise import Level


@dataclass(frozen=True)
class Habits:
    """How a session is played.

    `commands`: an operator announces hands, folds and showdowns. `speed` divides the time that
    people think and rest; dealing, folding and antennas keep their pace. `typing`: shown cards that
    no reader had heard are typed in.
    """

    commands: bool = False
    speed: float = 1.0
    typing: bool = False


@dataclass
class Table:
    """Who sits where, with which decks; what a hand is played on."""

    layout: Layout
    level: Level
    habits: Habits
    occupied: tuple[int, ...]
    rng: Random
    decks: tuple[Deck, Deck]


@dataclass
class Play:
    """One hand in the making: a clock `t` in seconds, the pack, and who holds what."""

    table: Table
    deck: Deck
    other: Deck
    button: int | None
    t: float
    pack: list[str] = field(default_factory=list)
    events: list[Event] = field(default_factory=list)
    said: list[Said] = field(default_factory=list)
    dealt: list[Dealt] = field(default_factory=list)
    folds: list[Fold] = field(default_factory=list)
    tabled: list[Tabled] = field(default_factory=list)
    faults: list[Fault] = field(default_factory=list)
    streets: dict[str, float] = field(default_factory=dict)
    public: dict[str, float] = field(default_factory=dict)
    live: list[int] = field(default_factory=list)
    caught: set[int] = field(default_factory=set)
    resting: dict[str, tuple[str, int]] = field(default_factory=dict)
    rests: dict[int, tuple[float, float]] = field(default_factory=dict)
    commanded: int = 0

    def __post_init__(self) -> None:
        self.begins = self.t
        self.rng = self.table.rng
        self.layout = self.table.layout
        self.commands = self.table.habits.commands
        self.pack = list(CARDS)
        self.rng.shuffle(self.pack)

    def wait(self, low: float, high: float) -> None:
        """Physical time passes, in seconds."""
        self.t += self.rng.uniform(low, high)

    def think(self, median: float, spread: float = 0.8) -> None:
        """Somebody thinks; the long tail of it is what makes some hands last minutes."""
        speed = self.table.habits.speed
        self.t += min(240.0, median * self.rng.lognormvariate(0.0, spread)) / speed

    def say(self, t: float, kind: str, **fields: object) -> None:
        """The operator gives a command, where there is an operator."""
        if self.commands:
            self.commanded += 1
            body: dict[str, object] = {"id": f"{self.begins:.3f}-{self.commanded}", "by": "floor"}
            self.said.append(Said(t, {**body, "type": kind, **fields}, private=kind == "card"))

    def lay(self, t: float, uid: str, zone: str, spot: int = 0) -> None:
        """A card comes to rest on a zone."""
        self.events.append(Event(t, "lay", uid, zone, spot))
        self.resting[uid] = (zone, spot)

    def lift(self, t: float, uid: str) -> None:
        """A resting card is taken off its zone."""
        if uid in self.resting:
            zone, spot = self.resting.pop(uid)
            self.events.append(Event(t, "lift", uid, zone, spot))

    def draw(self, seat: int | None, zone: str, street: str, *, up: bool) -> Dealt:
        """The next card leaves the shoe; about one every 0.5-0.8 s."""
        self.wait(0.5, 0.8)
        return self.turn_over(self.pack.pop(), seat, zone, street, up=up)

    def turn_over(self, card: str, seat: int | None, zone: str, street: str, *, up: bool) -> Dealt:
        """The given card is dealt now."""
        uid = self.deck.uids[card]
        if self.layout.shoe:
            self.lay(self.t - 0.3, uid, "shoe")
            self.lift(self.t - 0.15, uid)
        dealt = Dealt(card, uid, seat, zone, street, self.t, up)
        self.dealt.append(dealt)
        if up or any(seat in tabled.seats for tabled in self.tabled):
            self.public[card] = self.t
        if self.table.level.brutal and self.rng.random() < 0.01 and zone != "burn":
            self.faults.append(Fault("unheard-card", uid, self.begins, float("inf")))
        return dealt

    def deal_seat(self, seat: int, street: str, *, up: bool = False) -> None:
        """One card to a seat; some players catch theirs and never lay them down."""
        zone = f"seat:{seat}:up" if up and self.layout.up else f"seat:{seat}"
        dealt = self.draw(seat, zone, street, up=up)
        if seat not in self.caught:
            self.lay(self.t, dealt.uid, zone)

    def burn(self, street: str) -> None:
        """The top card goes face down beside the pack."""
        self.wait(0.3, 0.8)
        dealt = self.draw(None, "burn", street, up=False)
        self.lay(self.t, dealt.uid, "burn")

    def deal_board(self, count: int, street: str) -> None:
        """Board cards, one after the other: a flop takes one to two seconds."""
        for _ in range(count):
            spot = sum(each.zone == "board" for each in self.dealt)
            if spot == 0 or count == 1:
                self.wait(0.3, 1.0)
            self.wait(-0.2, 0.0)
            dealt = self.draw(None, "board", street, up=True)
            self.lay(self.t, dealt.uid, "board", spot)

    def street_out(self, street: str) -> None:
        """The last card of a street lies."""
        self.streets[street] = self.t

    def cards(self, seat: int) -> list[str]:
        """UIDs of what a seat was dealt."""
        return [each.uid for each in self.dealt if each.seat == seat]

    def fold(self, seat: int) -> None:
        """The hand is thrown at the muck, now and then across the board, now and then past it."""
        rng = self.rng
        self.live.remove(seat)
        hand = self.cards(seat)
        start = self.t
        self.end_rest(seat, start)
        past = rng.random() < (0.05 if self.commands else 0.02 * self.table.level.brutal)
        across = rng.random() < 0.12
        at = start + rng.uniform(0.1, 0.3)
        for uid in hand:
            self.lift(start + rng.uniform(0.0, 0.1), uid)
            if across:
                self.lay(at, uid, "board", rng.randrange(5))
        at += rng.uniform(0.2, 0.8) if across else rng.uniform(0.2, 0.5)
        for uid in hand:
            self.lift(at, uid)
            if not past:
                self.lay(at + rng.uniform(0.05, 0.3), uid, "muck")
        self.t = at + 0.3
        self.folds.append(Fold(seat, start, muck=not past, board=across))
        self.say(start + rng.uniform(0.2, 2.5), "fold", seat=seat)

    def end_rest(self, seat: int, t: float) -> None:
        """From now on the player of this seat does not look at the cards again."""
        since, until = self.rests.get(seat, (t, t))
        self.rests[seat] = (since, min(until, t))

    def begin_rest(self) -> None:
        """Every live player has cards to look at."""
        for seat in self.live:
            self.rests.setdefault(seat, (self.t + 0.3, float("inf")))

    def reveal(self, seat: int, t: float, *, slide: bool) -> None:
        """A hand is turned up at `t`: on its antenna, or slid forward off it."""
        hand = self.cards(seat)
        self.public.update(
            {each.card: min(t, self.public.get(each.card, t)) for each in self._of(seat)}
        )
        self.end_rest(seat, t - 0.1)
        if self.hear_again(hand, t) or not slide:
            return
        for uid in hand:
            self.lift(t + self.rng.uniform(0.0, 0.6), uid)

    def hear_again(self, hand: list[str], t: float) -> bool:
        """Cards that were never heard are, once they lie open; whether there were any."""
        found = False
        for index, fault in enumerate(self.faults):
            if fault.kind == "unheard-card" and fault.place in hand and fault.until > t:
                self.faults[index] = Fault(fault.kind, fault.place, fault.since, t)
                found = True
        return found

    def _of(self, seat: int) -> list[Dealt]:
        return [each for each in self.dealt if each.seat == seat]

    def sweep(self) -> None:
        """Everything goes over the board and the muck into the dealer's hand."""
        rng = self.rng
        board = [uid for uid, (zone, _) in self.resting.items() if zone == "board"]
        hands = [each.uid for each in self.dealt if each.seat in self.live]
        for uid in board:
            self.lift(self.t + rng.uniform(0.0, 0.5), uid)
        self.t += 0.5
        for seat in self.live:
            self.end_rest(seat, self.t - 0.6)
        for uid in hands:
            at = self.t + rng.uniform(0.0, 1.5)
            self.lift(at, uid)
            if rng.random() < 0.7:
                self.lay(at + 0.2, uid, "board", rng.randrange(5))
                at += rng.uniform(0.3, 0.9)
                self.lift(at, uid)
            self.lay(at + 0.15, uid, "muck")
        for uid in board:
            self.lay(self.t + rng.uniform(0.3, 1.0), uid, "muck")
        self.wait(3.0, 5.0)
        for uid in list(self.resting):
            self.lift(self.t + rng.uniform(0.0, 0.8), uid)
        self.t += 0.8

    def peeks(self) -> None:
        """Players lift their down cards to look at them, 0.5-4 s, several times a hand."""
        for seat, (since, until) in self.rests.items():
            down = [each for each in self._of(seat) if not each.up]
            at = since + self.rng.uniform(0.0, 3.0)
            while seat not in self.caught:
                length = self.rng.uniform(0.5, 4.0)
                if at + length + 0.5 > until:
                    break
                self._peek([each for each in down if each.at + 0.3 < at], at, length)
                at += length + self.rng.expovariate(1 / 25.0) + 1.0

    def _peek(self, cards: list[Dealt], at: float, length: float) -> None:
        for each in cards:
            start = at + self.rng.uniform(0.0, 0.15)
            end = at + length - self.rng.uniform(0.0, 0.15)
            self.events.append(Event(start, "lift", each.uid, each.zone))
            self.events.append(Event(end, "lay", each.uid, each.zone))

    def lay_other_deck(self, until: float) -> None:
        """The other deck is squared and shuffled on top of an antenna for a while."""
        rng = self.rng
        free = [seat for seat in range(1, self.layout.seats + 1) if seat not in self.table.occupied]
        zone = "board" if not free or rng.random() < 0.3 else f"seat:{rng.choice(free)}"
        start = rng.uniform(self.begins, max(self.begins, until - 10.0))
        end = start + rng.uniform(4.0, 40.0)
        for uid in self.other.uids.values():
            self.events.append(Event(start, "lay", uid, zone, PILE))
            self.events.append(Event(min(end, until), "lift", uid, zone, PILE))
