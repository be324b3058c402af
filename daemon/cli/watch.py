"""`feltd watch`: the table live in a terminal, from MQTT."""

from __future__ import annotations

import asyncio
import signal
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import argparse

    from daemon.config import Config
    from daemon.watch import View

HELP = "the table live in a terminal, from MQTT"
EXAMPLE = "feltd watch --config /etc/feltd/t1.toml"
PATIENCE = 5.0
"""Seconds that --once waits for the table."""


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument(
        "--config", type=Path, required=True, metavar="F", help="the table's configuration"
    )
    how = parser.add_mutually_exclusive_group()
    how.add_argument("--plain", action="store_true", help="a line for each thing that happens")
    how.add_argument("--json", action="store_true", help="the messages, a line of JSON each")
    how.add_argument("--once", action="store_true", help="print the table as it is and end")
    parser.add_argument("--lang", choices=("en", "ru"), default="en", help="default: en")
    parser.add_argument("--username", metavar="N", help="a broker's user of its own")
    parser.add_argument("--password-file", type=Path, metavar="F", help="its password")


def run(options: argparse.Namespace) -> int:
    """Watch until Ctrl-C; with --once, 1 when the table did not say anything."""
    from daemon.config import load  # noqa: PLC0415  heavy

    return asyncio.run(_watch(load(options.config), options))


async def _watch(config: Config, options: argparse.Namespace) -> int:
    from daemon import access, watch  # noqa: PLC0415  heavy

    _quiet()
    news = asyncio.Event()
    view = watch.View(_teller(options, news))
    follower = watch.subscriber(
        lambda: access.guest(config, options.username, options.password_file),
        config.mqtt.prefix,
        config.table.id,
        view,
    )
    access.guest(config, options.username, options.password_file)
    stop = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    title = f"{config.mqtt.prefix}/{config.table.id}"
    tasks = [asyncio.create_task(follower.run()), asyncio.create_task(stop.wait())]
    tasks.append(asyncio.create_task(_show(view, news, options, title)))
    try:
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in tasks:
            task.cancel()
        ends = await asyncio.gather(*tasks, return_exceptions=True)
    for end in ends:
        if isinstance(end, Exception):
            raise end
    return 1 if options.once and not view.state else 0


def _quiet() -> None:
    """What the connection logs would run through the picture; the picture says it itself."""
    import logging  # noqa: PLC0415

    logging.getLogger("feltd").addHandler(logging.NullHandler())


def _teller(options: argparse.Namespace, news: asyncio.Event) -> Any:  # noqa: ANN401 - a closure
    from daemon.cli._watch_words import Speech  # noqa: PLC0415

    speech = Speech(options.lang)

    def happened(topic: str, payload: dict[str, Any]) -> None:
        news.set()
        if options.json and topic != "link":
            _json(topic, payload)
        elif options.plain:
            line = speech.line(topic, payload)
            if line is not None:
                at = str(payload.get("at", ""))[11:19]
                print(f"{at} {line}" if at else line, flush=True)

    return happened


def _json(topic: str, payload: dict[str, Any]) -> None:
    import msgspec  # noqa: PLC0415

    sys.stdout.write(msgspec.json.encode({"topic": topic, "payload": payload}).decode() + "\n")
    sys.stdout.flush()


async def _show(view: View, news: asyncio.Event, options: argparse.Namespace, title: str) -> None:
    if options.plain or options.json:
        await asyncio.Event().wait()
    from rich.console import Console  # noqa: PLC0415
    from rich.live import Live  # noqa: PLC0415

    from daemon.cli._watch_screen import draw  # noqa: PLC0415
    from daemon.cli._watch_words import Speech  # noqa: PLC0415

    speech, console = Speech(options.lang), Console(highlight=False)
    if options.once:
        try:
            async with asyncio.timeout(PATIENCE):
                while not view.state:
                    news.clear()
                    await news.wait()
                await asyncio.sleep(0.3)
        except TimeoutError:
            pass
        console.print(draw(view, speech, title))
        return
    with Live(console=console, auto_refresh=False, screen=console.is_terminal) as live:
        while True:
            live.update(draw(view, speech, title), refresh=True)
            news.clear()
            await news.wait()
            await asyncio.sleep(0.05)
