"""The director of the demo: deals a draw, hands of every discipline and a race, as people would.

Dealer, players and floor in one. Which streets are out and what the rules say comes from the
table alone. Only what it was told about the cards is held against those that were dealt.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from daemon.errors import FeltdError
from daemon.games import GAMES
from daemon.rules.cards import DECK
from daemon.rules.seats import clockwise

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from random import Random

    from daemon.demo_table import Audience, Stage
    from daemon.games import Game, Street

OLD, NEW = 25, 100
"""The chips of the race."""
CROWD = {"holdem": (6, 10), "omaha": (4, 7), "stud": (6, 8)}
"""How many are dealt in, at least and at most, where there are so many seats."""
MOST_ON = {"stud": 5}
"""So few are left after the first bets of stud that the deck has a seventh card for each."""
FOLDING = 0.3
TO_ACT = 2.1
"""No street of the board comes sooner after the last one was told: somebody has to act."""
TO_TABLE = 0.6
"""Nobody tables a card sooner after it was dealt."""
TO_CLEAR = 3.2
"""So long after the sweep the antennas say that the seats are clear."""


@dataclass(frozen=True)
class Pace:
    """Times in seconds: from card to card, for a round of bets, and to look at what was told."""

    card: float
    bets: float
    look: float


BRISK = Pace(0.02, 0.0, 0.3)
EASY = Pace(0.25, 1.5, 4.0)


@dataclass
class Director:
    """Deals with one deck while the other is shuffled; `deck` is the one in play.

    `told` is when the last street was, `swept` when the last card left the table (s).
    """

    table: Stage
    audience: Audience
    random: Random
    seats: list[int]
    pace: Pace
    button: int = 0
    deck: str = "blue"
    pack: list[str] = field(default_factory=list)
    told: float = 0.0
    swept: float = -TO_CLEAR

    async def button_draw(self) -> None:
        """A card face up to every seat; the best one has the button."""
        await self._shuffle()
        await _until(self.swept + TO_CLEAR)
        await self.audience.once_clear("button-draw", self.seats, seats=self.seats)
        dealt = await self._deal(self.seats)
        ruling = await self.audience.until("ruling/button-draw", hand=self.audience.hand)
        _agree("the draw", {each["seat"]: [each["card"]] for each in ruling["order"]}, dealt)
        self.button = ruling["winner"]
        await asyncio.sleep(self.pace.look)
        await self._sweep()

    async def chip_race(self) -> None:
        """A card face up for every odd chip, all of a seat before the next seat's."""
        await self._shuffle()
        counts = {seat: self.random.randrange(13) for seat in self.seats}
        counts[self.seats[0]] |= 1
        told = {str(seat): chips for seat, chips in counts.items()}
        await _until(self.swept + TO_CLEAR)
        await self.audience.once_clear(
            "chip-race", self.seats, **{"from": OLD, "to": NEW}, counts=told
        )
        odd = [seat for seat in self.seats for _ in range(counts[seat] % (NEW // OLD))]
        dealt = await self._deal(odd)
        ruling = await self.audience.until("ruling/chip-race", hand=self.audience.hand)
        best = {each["seat"]: [each["card"]] for each in ruling["ranking"]}
        _agree("the race", best, {n: [max(cards, key=DECK.index)] for n, cards in dealt.items()})
        await asyncio.sleep(self.pace.look)
        await self._sweep()

    async def hand(self, discipline: str) -> None:
        """One hand from the first card to the sweep."""
        game = GAMES[discipline]
        await self._shuffle()
        players = self._players(game)
        if game.has_button:
            self.button = next((n for n in players if n > self.button), players[0])
        fields = {"button": self.button} if game.has_button else {}
        await self.audience.command("start-hand", discipline=discipline, seats=players, **fields)
        order = clockwise(players, self.button if game.has_button else 0)
        hands: dict[int, list[str]] = {number: [] for number in order}
        board: list[str] = []
        for number, street in enumerate(game.streets):
            opener = await self._street(game, street, hands, board)
            if number < len(game.streets) - 1:
                await self._bets(hands, opener, MOST_ON.get(discipline, len(hands)))
        await self._showdown(hands, board)

    async def _showdown(self, hands: Mapping[int, list[str]], board: list[str]) -> None:
        await _until(self.told + TO_TABLE)
        await self.audience.command("showdown", shown=sorted(hands))
        told = await self.audience.until("showdown", hand=self.audience.hand)
        _agree("the board", {0: told["board"]}, {0: board})
        _agree("the showdown", {each["seat"]: each["cards"] for each in told["hands"]}, hands)
        await asyncio.sleep(self.pace.look)
        await self.audience.command("end-hand")
        await self._sweep()

    async def _shuffle(self) -> None:
        """The other deck, shuffled, and nothing on the table."""
        self.deck = "red" if self.deck == "blue" else "blue"
        self.pack = list(DECK)
        self.random.shuffle(self.pack)
        await self.table.order(clear=True, deck=self.deck)

    def _players(self, game: Game) -> list[int]:
        least, most = CROWD[game.name]
        seats = self.seats[: game.max_seats]
        count = self.random.randint(min(least, len(seats)), min(most, len(seats)))
        return sorted(self.random.sample(seats, count))

    async def _deal(self, seats: Iterable[int]) -> dict[int, list[str]]:
        """Cards face up to these seats, one after the other."""
        dealt: dict[int, list[str]] = {}
        for number in seats:
            dealt.setdefault(number, []).append(await self._card(f"seat:{number}"))
        return dealt

    async def _card(self, zone: str, spot: int = 0) -> str:
        card = self.pack.pop()
        await self.table.order(**{"pass": [card]}, lay=[[zone, card, spot]])
        await asyncio.sleep(self.pace.card)
        return card

    async def _street(
        self, game: Game, street: Street, hands: dict[int, list[str]], board: list[str]
    ) -> int | None:
        """Deal one street and wait until the table has told it, and in stud who opens."""
        if street.board:
            await _until(self.told + (TO_ACT if board else TO_ACT / 2))
        if street.burn:
            await self.table.order(**{"pass": [self.pack.pop()]})
        for up in [False] * street.down + [True] * street.up:
            for number, cards in hands.items():
                zone = f"seat:{number}:up" if up else f"seat:{number}"
                cards.append(await self._card(zone))
        for _ in range(street.board):
            board.append(await self._card("board", len(board)))
        await self.audience.until("event", type="street", street=street.name)
        self.told = _now()
        if game.has_button:
            return None
        ruling = await self.audience.until("ruling/first-to-act", street=street.name)
        opener: int = ruling["seat"]
        return opener

    async def _bets(self, hands: dict[int, list[str]], opener: int | None, most: int) -> None:
        """Some give up in their turn, as many as have to; the opener and one more stay in."""
        await asyncio.sleep(self.pace.bets)
        wanted = sum(self.random.random() < FOLDING for _ in hands)
        count = min(max(wanted, len(hands) - most), len(hands) - 2)
        folding = self.random.sample([n for n in hands if n != opener], count)
        for number in [number for number in hands if number in folding]:
            await self.table.order(lay=[["muck", card] for card in hands.pop(number)])
            await self.audience.command("fold", seat=number)

    async def _sweep(self) -> None:
        await self.table.order(clear=True)
        self.swept = _now()


def _now() -> float:
    return asyncio.get_running_loop().time()


async def _until(time: float) -> None:
    await asyncio.sleep(time - _now())


def _agree(what: str, told: Mapping[int, Sequence[str]], dealt: Mapping[int, list[str]]) -> None:
    """Raise FeltdError unless the table has told the very cards that were dealt."""
    if {n: sorted(cards) for n, cards in told.items()} != {n: sorted(c) for n, c in dealt.items()}:
        raise FeltdError(f"{what}: the table told {dict(told)}, but {dict(dealt)} was dealt")


async def play(director: Director, games: Sequence[str], hands: int) -> None:
    """One round: the draw, so many hands of each discipline, the race."""
    await director.button_draw()
    for discipline in games:
        for _ in range(hands):
            await director.hand(discipline)
    await director.chip_race()
