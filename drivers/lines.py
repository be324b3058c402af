r"""One UID a line, or JSON looks: home-made pods around a PN5180, an MFRC522 and the like.

```
E0:04:01:50:95:4F:02:B1\n                                  8-20 hex digits, separators : - blank
{"v":1,"ant":3,"uids":["E0040150954F02B1"],"seq":17}\n     all that antenna 3 heard in one scan
```
Lines end in LF, CR or both and have at most 256 bytes; longer ones are dropped up to their end.
What is neither form is ignored and counted. `prefix` is cut off before a UID; `pattern` is a
regular expression for other formats, with the named group `uid` and, as they occur,
`antenna`, `rssi` and `leave` (any text there means that the tag has left).

A JSON look is a whole scan, so it is passed on as it is and a lost line costs nothing; a gap
in `seq`, which counts the pod's lines, is counted as so many damaged frames. UID lines only
tell what is there: a tag not told for `hold` seconds has gone. Pods that once sent JSON and
then nothing for `silence` seconds are taken for dead.

Source: the format is this project's own; its hex and separators are what common sketches for
these chips print.
"""

from __future__ import annotations

import asyncio
import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated, Literal

import msgspec

from drivers import Look, ReaderError
from drivers._frames import Lines
from drivers._presence import Resting
from drivers._serial import Link, opened
from drivers._settings import Antenna, Baud, Parity, Seconds, SerialSettings
from drivers._uid import LENGTHS, normal

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

LIMIT = 256
"""Bytes of a line, without its end."""

_GAP = 1000
"""Lines that may be missing at once; a longer gap is a damaged number and counts as one line."""

_UID = re.compile(r"[0-9A-Fa-f]{2}(?:[ :-]?[0-9A-Fa-f]{2}){3,9}")


class Settings(SerialSettings, frozen=True, kw_only=True):
    """The keys of a pod's `[[readers]]` block; times in seconds.

    `hold` is how long a tag stays present without being told, `interval` the time from look
    to look; neither matters to JSON looks. `silence` ends the patience with a JSON pod. `sizes`
    are the bytes that the UIDs of the cards in play have: naming the one size turns a line that
    lost digits from another card into damage.
    """

    baud: Baud = 115200
    parity: Parity = "none"
    prefix: str = ""
    pattern: str | None = None
    hold: Seconds = 1.0
    interval: Seconds = 0.1
    silence: Seconds = 5.0
    sizes: Annotated[tuple[Literal[4, 7, 8, 10], ...], msgspec.Meta(min_length=1)] = LENGTHS

    def __post_init__(self) -> None:
        """Refuse a pattern without a UID in it."""
        if self.pattern is None:
            return
        try:
            groups = re.compile(self.pattern).groupindex
        except re.error as error:
            raise ValueError(f"pattern: {error}") from error
        if "uid" not in groups:
            raise ValueError("pattern has no group (?P<uid>...)")


@dataclass(frozen=True, slots=True)
class Told:
    """A tag told by a line; `antenna` None is the only one, `rssi` is in the pod's own unit."""

    uid: str
    antenna: int | None = None
    rssi: float | None = None
    left: bool = False

    @property
    def tags(self) -> tuple[str, ...]:
        """The one UID."""
        return (self.uid,)


@dataclass(frozen=True, slots=True)
class Snapshot:
    """All that one antenna heard in one scan; `missed` lines of the pod came before it."""

    antenna: int
    tags: tuple[str, ...]
    seq: int | None = None
    missed: int = 0


Frame = Told | Snapshot


class _Json(msgspec.Struct):
    v: int
    ant: Antenna
    uids: list[str]
    seq: Annotated[int, msgspec.Meta(ge=0)] | None = None


_json = msgspec.json.Decoder(_Json)


class Decoder:
    """Bytes of a pod in, tags told and looks out."""

    def __init__(
        self,
        prefix: str = "",
        pattern: str | None = None,
        sizes: tuple[int, ...] = LENGTHS,
    ) -> None:
        self._lines = Lines(LIMIT)
        self._sizes = sizes
        self._prefix = prefix
        self._pattern = None if pattern is None else re.compile(pattern)
        self._seq: int | None = None
        self._odd = 0

    @property
    def errors(self) -> int:
        """Lines that were no look, and lines that the sequence says are missing."""
        return self._lines.errors + self._odd

    def feed(self, data: bytes) -> list[Frame]:
        """Take bytes as they come; give the looks and tags that they complete."""
        frames = []
        for line in self._lines.feed(data):
            text = line.strip()
            if text:
                frame = self._snapshot(text) if text[0] == "{" else self._told(text)
                if frame is not None:
                    frames.append(frame)
        return frames

    def _snapshot(self, text: str) -> Frame | None:
        try:
            look = _json.decode(text)
        except msgspec.DecodeError:
            self._odd += 1
            return None
        tags = [self._uid(uid) for uid in look.uids]
        if look.v != 1 or None in tags:
            self._odd += 1
            return None
        missed = 0
        if look.seq is not None:
            if self._seq is not None:
                missed = max(0, look.seq - self._seq - 1)
            self._seq = look.seq
            missed = missed if missed <= _GAP else 1
            self._odd += missed
        whole = dict.fromkeys(tag for tag in tags if tag is not None)
        return Snapshot(look.ant, tuple(whole), look.seq, missed)

    def _told(self, text: str) -> Frame | None:
        told = None
        if self._pattern is not None:
            match = self._pattern.search(text)
            told = self._matched(match.groupdict()) if match else None
        elif text.startswith(self._prefix):
            uid = self._uid(text.removeprefix(self._prefix))
            told = None if uid is None else Told(uid)
        self._odd += told is None
        return told

    def _matched(self, groups: dict[str, str | None]) -> Told | None:
        uid = self._uid(groups["uid"] or "")
        antenna, rssi = groups.get("antenna"), groups.get("rssi")
        try:
            number = int(antenna) if antenna else None
            strength = float(rssi) if rssi else None
        except ValueError:
            return None
        return None if uid is None else Told(uid, number, strength, bool(groups.get("leave")))

    def _uid(self, text: str) -> str | None:
        text = text.strip()
        if _UID.fullmatch(text) is None:
            return None
        raw = bytes.fromhex(re.sub("[ :-]", "", text))
        return normal(raw) if len(raw) in self._sizes else None


async def read(settings: Settings) -> AsyncGenerator[Look, None]:
    """Look after look from the pod; `ReaderError` names the port and why."""
    decoder = Decoder(settings.prefix, settings.pattern, settings.sizes)
    async with opened(settings.port, decoder, baud=settings.baud, parity=settings.parity) as link:
        pod = _Pod(link, settings)
        while True:
            for look in await pod.looks():
                yield look


class _Pod:
    """What one pod has told so far."""

    def __init__(self, link: Link[Frame], settings: Settings) -> None:
        self._link = link
        self._settings = settings
        self._clock = asyncio.get_running_loop().time
        self._resting = Resting(settings.hold)
        self._scans = False
        self._due = self._clock() + settings.hold

    async def looks(self) -> list[Look]:
        """The looks that the next lines, or the time that passes without any, make."""
        frames = await self._link.gather(max(0.0, self._due - self._clock()))
        now = self._clock()
        looks: list[Look] = []
        for frame in frames:
            looks += self._scan(frame) if isinstance(frame, Snapshot) else self._tell(now, frame)
        if self._scans:
            if frames:
                self._due = now + self._settings.silence
            elif now >= self._due:
                raise ReaderError(f"{self._link.port}: silent for {self._settings.silence:g} s")
        elif now >= self._due:
            self._due = now + self._settings.interval
            looks += [self._look(now, antenna) for antenna in sorted(self._settings.antennas)]
        return self._damaged(looks) if looks else looks

    def _scan(self, scan: Snapshot) -> list[Look]:
        self._scans = True
        if scan.antenna not in self._settings.antennas:
            return []
        return [Look(self._settings.name, scan.antenna, scan.tags)]

    def _tell(self, now: float, told: Told) -> list[Look]:
        antenna = min(self._settings.antennas) if told.antenna is None else told.antenna
        if antenna not in self._settings.antennas:
            return []
        if told.left:
            self._resting.leave(antenna, told.uid)
        elif not self._resting.hear(now, antenna, told.uid):
            return []
        return [self._look(now, antenna)]

    def _look(self, now: float, antenna: int) -> Look:
        return Look(self._settings.name, antenna, self._resting.tags(now, antenna))

    def _damaged(self, looks: list[Look]) -> list[Look]:
        """A damaged UID line may have told a tag of any antenna; a scan is whole by itself."""
        errors = self._link.take_errors()
        if errors and not self._scans:
            looks = [replace(look, partial=True) for look in looks]
        return [replace(looks[0], errors=errors), *looks[1:]]
