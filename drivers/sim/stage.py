"""The demo's table: emulated readers on real pseudo-terminals, played by whoever starts it.

    python -m drivers.sim.stage --folder DIR [--seats N] [--rail feig|pn532] [--shoe]

Writes `table.toml` and `decks/` into the folder and opens the ports under `ports/`. Then it
obeys standard input, a JSON object a line: `{"lay": [[zone, card, spot], ...]}` and
`{"lift": [card, ...]}` with the cards of deck `deck` (red or blue), `{"deck": "blue"}` to change
to the other one, `{"clear": true}`. `{"pass": [card, ...]}` takes cards out of the shoe before
they are laid, each once its reader has listened. Each line is answered with `{"done": true}`. It
ends with its standard input.

A FEIG rail has up antennas for eight seats of stud beside those of every seat, a board and a
muck. Readers that hear two tags need three antennas for the board.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any, get_args

from drivers.sim.deck import Deck, make_deck
from drivers.sim.feig import Feig
from drivers.sim.field import Field
from drivers.sim.layout import Antenna, Layout, Rail
from drivers.sim.pn532 import PN532
from drivers.sim.wire import Wire

if TYPE_CHECKING:
    from collections.abc import Mapping

SHOE_TIME = 1.0
"""Seconds after which a card leaves a shoe whose reader does not listen."""
BRISK = {"feig": "pause = 0.0\ninterval = 0.05", "pn532": "interval = 0.02"}
"""Keys by driver for readers that keep up with a quick deal: nobody waits for real silicon."""


@dataclass
class Stage:
    """Readers, their antennas, and the deck that is in play."""

    layout: Layout
    decks: dict[str, Deck]
    air: dict[str, Field] = field(default_factory=dict)
    deck: str = "red"

    def wires(self, folder: Path) -> list[Wire]:
        """One pseudo-terminal for each reader; the link in `folder` is its port."""
        wires = []
        shoe = self.layout.shoe_antenna()
        for name in dict.fromkeys(each.reader for each in self.layout.rail_antennas()):
            air = self.air[name] = Field()
            model = Feig(air) if self.layout.rail == "feig" else PN532(air)
            wires.append(Wire(model, link=folder / name))
        if shoe is not None:
            air = self.air[shoe.reader] = Field()
            wires.append(Wire(PN532(air), link=folder / shoe.reader))
        return wires

    async def take(self, cards: list[str]) -> None:
        """Take cards out of the shoe, each once its reader has listened."""
        shoe = self.layout.shoe_antenna()
        if shoe is None:
            return
        air, loop = self.air[shoe.reader], asyncio.get_running_loop()
        for card in cards:
            before, until = air.passes.get(shoe.number, 0), loop.time() + SHOE_TIME
            air.lay(shoe.number, self.decks[self.deck].uids[card])
            while air.passes.get(shoe.number, 0) == before and loop.time() < until:  # noqa: ASYNC110 - a field has no event
                await asyncio.sleep(0.005)
            air.clear()

    def obey(self, order: dict[str, Any]) -> None:
        """Lay or lift cards; a card lies in one place."""
        self.deck = order.get("deck", self.deck)
        if order.get("clear"):
            for air in self.air.values():
                air.clear()
        for card in order.get("lift", ()):
            self._lift(card)
        for zone, card, *spot in order.get("lay", ()):
            self._lift(card)
            antenna = self._antenna(zone, spot[0] if spot else 0)
            self.air[antenna.reader].lay(antenna.number, self.decks[self.deck].uids[card])

    def _lift(self, card: str) -> None:
        for air in self.air.values():
            air.lift_anywhere(self.decks[self.deck].uids[card])

    def _antenna(self, zone: str, spot: int) -> Antenna:
        antennas = [a for a in self.layout.rail_antennas() if a.zone == zone and a.covers(spot)]
        if not antennas:
            raise ValueError(f"no antenna covers {zone}")
        return antennas[0]


def write(stage: Stage, folder: Path, more: Mapping[str, str] | None = None) -> None:
    """The configuration and the decks, as `feltd run` wants them; `more` are keys by driver."""
    decks = folder / "decks"
    decks.mkdir(mode=0o700, exist_ok=True)
    text = stage.layout.config("demo").replace("mqtt://127.0.0.1:1883", "embedded")
    text = text.replace("/dev/serial/by-id/simulated-", f"{folder}/ports/")
    if stage.layout.rail == "feig":
        text = text.replace('driver = "feig"', 'driver = "feig"\nparity = "none"')
    for driver, keys in (more or {}).items():
        text = text.replace(f'driver = "{driver}"', f'driver = "{driver}"\n{keys}')
    (folder / "table.toml").write_text(text)
    for deck in stage.decks.values():
        path = decks / f"{deck.name}.toml"
        path.touch(mode=0o600)
        path.write_text(deck.toml())


async def play(stage: Stage, folder: Path) -> None:
    """Open the ports and obey until standard input ends."""
    loop = asyncio.get_running_loop()
    orders = asyncio.StreamReader()
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(orders), sys.stdin)
    (folder / "ports").mkdir(exist_ok=True)
    async with AsyncExitStack() as stack:
        for wire in stage.wires(folder / "ports"):
            await stack.enter_async_context(wire)
        _say({"ready": str(folder / "table.toml")})
        while line := await orders.readline():
            try:
                order = json.loads(line)
                await stage.take(order.get("pass", []))
                stage.obey(order)
                _say({"done": True})
            except (ValueError, KeyError, TypeError) as error:
                _say({"done": False, "error": str(error)})


def _say(answer: dict[str, object]) -> None:
    sys.stdout.write(json.dumps(answer) + "\n")
    sys.stdout.flush()


def main() -> None:
    """Set the stage and play."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--folder", type=Path, required=True)
    parser.add_argument("--seats", type=int, default=10)
    parser.add_argument("--rail", choices=get_args(Rail), default="feig")
    parser.add_argument("--shoe", action="store_true")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    wide = options.rail == "feig"
    layout = Layout(
        seats=options.seats,
        up=wide,
        board=1 if wide else 3,
        shoe=options.shoe,
        rail=options.rail,
        shoe_driver="pn532",
        unattended="ask",
    )
    random = Random(options.seed)  # noqa: S311 - a show, no secret
    taken: set[str] = set()
    decks = {name: make_deck(name, random, layout.air, taken) for name in ("red", "blue")}
    stage = Stage(layout, decks)
    write(stage, options.folder, BRISK if wide else None)
    asyncio.run(play(stage, options.folder))


if __name__ == "__main__":
    main()
