"""`feltd demo`: a whole table on one machine, played and shown live.

The stage (a child process) has emulated readers on real pseudo-terminals. The daemon reads them
and tells a real broker. The director deals, gives the floor's commands, and is a plain
subscriber of what comes back.
"""

from __future__ import annotations

import asyncio
import signal
import tempfile
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Literal

import msgspec

from daemon import demo_play
from daemon.app import App
from daemon.config import load
from daemon.demo_table import PATIENCE, audience, stage
from daemon.errors import FeltdError
from daemon.show import Show

if TYPE_CHECKING:
    from daemon.config import Config
    from daemon.demo_table import Stage

GAMES = {"feig": ("holdem", "omaha", "stud"), "pn532": ("holdem",)}
"""What can be played by the reader under the rail: a PN532 hears two cards of a seat."""
SEATS = {"feig": 10, "pn532": 6}


@dataclass(frozen=True)
class Plan:
    """What to play: `hands` of each discipline, for ever or `once`, from which seed, shown how.

    `url` is the broker, `rail` the reader under it, `shoe` whether cards come out of a shoe.
    """

    hands: int
    once: bool
    seed: int
    url: str
    as_json: bool
    rail: Literal["feig", "pn532"] = "feig"
    shoe: bool = True

    def stage(self, folder: Path) -> list[str]:
        """The options of the emulated table."""
        options = ["--folder", str(folder), "--seed", str(self.seed), "--rail", self.rail]
        return [*options, "--seats", str(SEATS[self.rail]), *["--shoe"] * self.shoe]


async def play(plan: Plan) -> None:
    """The whole show; ends after the hands, or with SIGINT or SIGTERM."""
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stop.set)
    show = Show(as_json=plan.as_json)
    with tempfile.TemporaryDirectory(prefix="feltd-demo-") as name:
        async with asyncio.TaskGroup() as group:
            acting = group.create_task(_act(Path(name), plan, show), name="demo")
            stopping = group.create_task(stop.wait(), name="stop")
            await asyncio.wait([acting, stopping], return_when=asyncio.FIRST_COMPLETED)
            acting.cancel()
            stopping.cancel()
    show.close()


async def _act(folder: Path, plan: Plan, show: Show) -> None:
    async with stage(*plan.stage(folder)) as table:
        config = load(folder / "table.toml")
        if plan.url != "embedded":
            config = replace(config, mqtt=msgspec.structs.replace(config.mqtt, url=plan.url))
        app = App(config)
        closing = asyncio.Event()
        async with asyncio.TaskGroup() as group:
            running = group.create_task(app.serve(closing), name="daemon")
            try:
                await _opened(app)
                show.opened(app.publisher_address.url, config.mqtt.prefix)
                if not plan.as_json:
                    group.create_task(_pages(config, show, closing), name="web")
                await _perform(app, table, plan, show)
                await app.publisher.flush()
            finally:
                closing.set()
                await asyncio.wait([running], timeout=2)


async def _pages(config: Config, show: Show, closing: asyncio.Event) -> None:
    """Overlay and floor panel beside the show, where the extra is installed."""
    try:
        from daemon.web import demo  # noqa: PLC0415  an extra
    except ImportError:
        return
    await demo.serve(config, show.pages, closing)


async def _opened(app: App) -> None:
    try:
        async with asyncio.timeout(PATIENCE):
            await app.opened.wait()
    except TimeoutError:
        raise FeltdError(f"the table did not open within {PATIENCE:.0f} s") from None


async def _perform(app: App, table: Stage, plan: Plan, show: Show) -> None:
    """Round after round; what is dealt depends on the seed alone."""
    random = Random(plan.seed)  # noqa: S311 - a show, no secret
    seats = list(range(1, SEATS[plan.rail] + 1))
    pace = demo_play.BRISK if plan.once else demo_play.EASY
    async with audience(app.address("floor"), app.config.table.id, show) as people:
        director = demo_play.Director(table, people, random, seats, pace)
        await demo_play.play(director, GAMES[plan.rail], plan.hands)
        while not plan.once:
            await people.until("event", type="hand-ended", hand=people.hand)
            await people.command("set-discipline", discipline=GAMES[plan.rail][0])
            await demo_play.play(director, GAMES[plan.rail], plan.hands)
