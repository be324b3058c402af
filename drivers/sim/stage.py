"""The demo's table: emulated readers on real pseudo-terminals, played by whoever starts it.

    python -m drivers.sim.stage --folder DIR [--discipline D] [--seats N] [--rail feig|pn532]

Writes `table.toml` and `decks/` into the folder and opens the ports under `ports/`. Then it
obeys standard input, a JSON object a line: `{"lay": [[zone, card, spot], ...]}` and
`{"lift": [card, ...]}` with the cards of deck `deck` (red or blue), `{"deck": "blue"}` to change
to the other one, `{"clear": true}`. Each line is answered with `{"done": true}`. It ends with its
standard input.
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
from typing import Any, get_args

from drivers.sim.deck import Deck, make_deck
from drivers.sim.feig import Feig
from drivers.sim.field import Field
from drivers.sim.layout import Antenna, Layout, Rail
from drivers.sim.pn532 import PN532
from drivers.sim.wire import Wire


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
        for name in dict.fromkeys(each.reader for each in self.layout.rail_antennas()):
            air = self.air[name] = Field()
            model = Feig(air) if self.layout.rail == "feig" else PN532(air)
            wires.append(Wire(model, link=folder / name))
        return wires

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


def write(stage: Stage, folder: Path) -> None:
    """The configuration and the decks, as `feltd run` wants them."""
    decks = folder / "decks"
    decks.mkdir(mode=0o700, exist_ok=True)
    text = stage.layout.config("demo").replace("mqtt://127.0.0.1:1883", "embedded")
    text = text.replace("/dev/serial/by-id/simulated-", f"{folder}/ports/")
    if stage.layout.rail == "feig":
        text = text.replace('driver = "feig"', 'driver = "feig"\nparity = "none"')
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
                stage.obey(json.loads(line))
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
    parser.add_argument("--discipline", default="holdem")
    parser.add_argument("--seats", type=int, default=6)
    parser.add_argument("--rail", choices=get_args(Rail), default="pn532")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    layout = Layout(options.discipline, options.seats, board=3, rail=options.rail, unattended="ask")
    random = Random(options.seed)  # noqa: S311 - a show, no secret
    taken: set[str] = set()
    decks = {name: make_deck(name, random, layout.air, taken) for name in ("red", "blue")}
    stage = Stage(layout, decks)
    write(stage, options.folder)
    asyncio.run(play(stage, options.folder))


if __name__ == "__main__":
    main()
