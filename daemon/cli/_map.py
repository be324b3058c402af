"""`feltd readers --map`: a card is walked over the antennas and each is given its zone."""

from __future__ import annotations

import asyncio
from contextlib import aclosing
from typing import TYPE_CHECKING

from daemon.cli._readers import Line, Readers, heard, names
from daemon.cli._screen import Screen
from daemon.errors import FeltdError
from daemon.teach_in import TeachIn, told
from drivers import Look, ReaderDown

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

    from daemon.cli._readers import Heard


def teach(readers: Readers) -> dict[str, dict[int, str]]:
    """The `antennas` table of each reader, as the person names the antennas."""
    places = tuple(
        (settings.name, antenna) for _, settings in readers for antenna in settings.antennas
    )
    lesson = TeachIn(places)
    with Screen(len(places), aside=True) as screen:
        screen.say(f"Listening to {names(readers)}. Lay one card on an antenna, type its zone;")
        screen.say("3 is seat:3, 3up its up cards; board, muck, shoe, burn; Enter alone ends.")
        try:
            asyncio.run(_listen(lesson, screen, heard(readers)))
        except KeyboardInterrupt:
            screen.say("stopped")
    return lesson.tables()


async def _listen(lesson: TeachIn, screen: Screen, hearing: AsyncGenerator[Heard, None]) -> None:
    _ask(lesson, screen)
    async with aclosing(hearing) as items:
        async for item in items:
            if isinstance(item, Line):
                if not item.text:
                    return
                _name(lesson, screen, item.text)
            elif isinstance(item, ReaderDown):
                screen.say(f"{item.error}; waiting for it")
            elif isinstance(item, Look):
                lesson.hear(item)
            if not lesson.unnamed:
                return
            _ask(lesson, screen)


def _name(lesson: TeachIn, screen: Screen, text: str) -> None:
    try:
        place, zone = lesson.name(text)
    except FeltdError as error:
        screen.say(str(error))
    else:
        screen.say(f"{told(place)} is {zone}")


def _ask(lesson: TeachIn, screen: Screen) -> None:
    lit = lesson.lit
    done = len(lesson.zones)
    if not lit:
        screen.ask(f"Lay the card on {told(lesson.unnamed[0])} or any other antenna", done)
        return
    zone = lesson.zones.get(lit[0])
    also = f" (also {', '.join(map(told, lit[1:]))})" if lit[1:] else ""
    now = f", now {zone}" if zone else ""
    screen.ask(f"{told(lit[0])} hears the card{also}{now}: which zone?", done)
