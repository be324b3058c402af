"""RDM6300, ID-3LA, ID-12LA and ID-20LA: one EM4100 card (125 kHz) per module.

```
RDM6300   02 V V D D D D D D D D S S 03            14 bytes: version, id and checksum in hex ASCII
ID-12LA   02 V V D D D D D D D D S S 0D 0A 03      16 bytes
```
The checksum is the XOR of the five bytes before it. Both forms are taken from either module; a
02 inside a frame begins it anew.

The RDM6300 repeats the frame about every 65 ms while the card rests, so a card that was not
told for `hold` seconds has gone. The ID modules tell each arrival once: with
`module = "id12"` each arrival is a look of its own, partial, since nothing ever says that a
card has gone. There is no anticollision: two cards give damaged frames or none, and a look with
damaged frames is partial.

An EM4100 identifier has five bytes, which no UID here may have; the UID is the low four, the
printed card number, without the version byte.

Sources: arduino12/rdm6300 (repeat time, hold of 300 ms), mad-tinkerer/python-rdm6300 and
flaviut/rdm6300 (frames). That the ID modules tell once is general knowledge.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from drivers import Look
from drivers._frames import Hunter
from drivers._presence import Resting
from drivers._serial import Link, opened
from drivers._settings import Baud, Seconds, SerialSettings
from drivers._uid import em4100

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

_STX = 2
_DIGITS = b"0123456789ABCDEFabcdef"
_LONGEST = 18


class Settings(SerialSettings, frozen=True, kw_only=True):
    """The keys of the module's `[[readers]]` block; times in seconds.

    `hold` is how long a card stays present without being told, `interval` the time from look
    to look.
    """

    baud: Baud = 9600
    module: Literal["rdm6300", "id12"] = "rdm6300"
    hold: Seconds = 0.3
    interval: Seconds = 0.1

    def __post_init__(self) -> None:
        """Refuse a second antenna."""
        self.sole_antenna()


@dataclass(frozen=True, slots=True)
class Card:
    """A card told by the module: `number` is the printed one, `version` the first byte."""

    version: int
    number: int
    uid: str

    @property
    def tags(self) -> tuple[str, ...]:
        """The one UID."""
        return (self.uid,)


class Decoder(Hunter[Card]):
    """Bytes of the module in, cards out."""

    filler = b"\r\n"

    def _seek(self, at: int) -> int:
        found = self._buffer.find(_STX, at)
        return found if found >= 0 else len(self._buffer)

    def _parse(self, at: int) -> tuple[int, Card] | int:
        body, etx, _ = bytes(self._buffer[at + 1 : at + 1 + _LONGEST]).partition(b"\x03")
        digits = body.translate(None, b"\r\n")
        if len(body) >= _LONGEST or len(digits) > 12 or digits.translate(None, _DIGITS):
            return 0
        if not etx:
            return len(self._buffer) + 1
        if len(digits) != 12:
            return 0
        raw = bytes.fromhex(digits.decode())
        if raw[0] ^ raw[1] ^ raw[2] ^ raw[3] ^ raw[4] ^ raw[5]:
            return 0
        return at + len(body) + 2, Card(raw[0], int.from_bytes(raw[1:5], "big"), em4100(raw[:5]))


async def read(settings: Settings) -> AsyncGenerator[Look, None]:
    """Look after look from the module; `ReaderError` names the port and why."""
    async with opened(settings.port, Decoder(), baud=settings.baud) as link:
        looks = _arrivals if settings.module == "id12" else _resting
        async for look in looks(link, settings):
            yield look


async def _resting(link: Link[Card], settings: Settings) -> AsyncGenerator[Look, None]:
    clock = asyncio.get_running_loop().time
    antenna = settings.sole_antenna()
    resting = Resting(settings.hold)
    due = clock() + settings.hold
    while True:
        cards = await link.gather(max(0.0, due - clock()))
        now = clock()
        fresh = [resting.hear(now, antenna, card.uid) for card in cards]
        if any(fresh) or now >= due:
            errors = link.take_errors()
            yield Look(
                settings.name,
                antenna,
                resting.tags(now, antenna),
                partial=errors > 0,
                errors=errors,
            )
        if now >= due:
            due = now + settings.interval


async def _arrivals(link: Link[Card], settings: Settings) -> AsyncGenerator[Look, None]:
    antenna = settings.sole_antenna()
    yield Look(settings.name, antenna, partial=True)
    while True:
        for card in await link.gather(60.0):
            yield Look(settings.name, antenna, card.tags, partial=True, errors=link.take_errors())
