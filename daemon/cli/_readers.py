"""What the commands that listen to readers share: which readers, what they hear, what is typed."""

from __future__ import annotations

import asyncio
import os
import sys
import tomllib
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import msgspec

import drivers
from daemon import config
from daemon.errors import ConfigError, FeltdError, UsageError
from daemon.readers import supervise
from drivers import Look, ReaderDown, ReaderUp

if TYPE_CHECKING:
    import argparse
    from collections.abc import AsyncGenerator, Callable, Iterator, Sequence

    from drivers import Driver, ReaderSettings

Readers = list[tuple["Driver", "ReaderSettings"]]


@dataclass(frozen=True, slots=True)
class Line:
    """A line that the person typed, without its end."""

    text: str


Heard = Look | ReaderUp | ReaderDown | Line


def chosen(options: argparse.Namespace) -> Readers:
    """The readers that the options name. UsageError or ConfigError when they name none."""
    if options.reader:
        return [_named(options)]
    if not options.config:
        raise UsageError("which reader? --config F, or --reader DRIVER:PORT")
    readers = [
        (driver, settings)
        for driver, settings in config.load(options.config).readers
        if options.zone is None or options.zone in settings.antennas.values()
    ]
    if not readers:
        what = f"zone {options.zone}" if options.zone else "[[readers]]"
        raise ConfigError(f"{options.config}: no reader for {what}")
    return readers


def _named(options: argparse.Namespace) -> tuple[Driver, ReaderSettings]:
    name, _, port = options.reader.partition(":")
    if not port:
        raise UsageError(f"--reader {options.reader}: not DRIVER:PORT, as in pcsc:ACR122U")
    block = {
        **dict(_setting(text) for text in options.set),
        "name": name,
        "driver": name,
        "port": port,
        "antennas": dict.fromkeys(_numbers(options.antennas), "shoe"),
    }
    try:
        driver = drivers.load(name)
        return driver, msgspec.convert(block, driver.Settings, strict=False)
    except LookupError as error:
        raise UsageError(f"--reader {options.reader}: {error.args[0]}") from None
    except msgspec.ValidationError as error:
        raise UsageError(f"--reader {options.reader}: {error}") from None


def _setting(text: str) -> tuple[str, Any]:
    key, equals, value = text.partition("=")
    if not equals:
        raise UsageError(f"--set {text}: not KEY=VALUE")
    try:
        return key, tomllib.loads(f"value = {value}")["value"]
    except tomllib.TOMLDecodeError:
        return key, value


def _numbers(text: str) -> list[int]:
    numbers: list[int] = []
    for piece in text.split(","):
        first, _, last = piece.partition("-")
        if not first.isdecimal() or not (last or first).isdecimal():
            raise UsageError(f"--antennas {text}: not numbers and ranges, as in 1-10,12")
        numbers += range(int(first), int(last or first) + 1)
    return numbers


async def heard(readers: Readers, zone: str | None = None) -> AsyncGenerator[Heard, None]:
    """Looks of the readers, their ups and downs, and lines typed on standard input.

    Readers that are lost are waited for. FeltdError when none of them answers at the start.
    """
    queue: asyncio.Queue[Heard] = asyncio.Queue()
    zones = {settings.name: settings.antennas for _, settings in readers}
    silent = dict.fromkeys(zones, "")
    keeping = asyncio.create_task(supervise(readers, queue.put_nowait), name="readers")
    try:
        with _typed(queue.put_nowait):
            while True:
                item = await _next(queue, keeping)
                if isinstance(item, ReaderUp):
                    silent.clear()
                if isinstance(item, ReaderDown) and item.reader in silent:
                    silent[item.reader] = item.error
                    _give_up(silent.values())
                if not isinstance(item, Look) or zone in {None, zones[item.reader][item.antenna]}:
                    yield item
    finally:
        keeping.cancel()
        await asyncio.wait([keeping])


def _give_up(errors: Any) -> None:  # noqa: ANN401 - a view of texts
    if all(errors):
        raise FeltdError("; ".join(errors))


async def _next(queue: asyncio.Queue[Heard], keeping: asyncio.Task[None]) -> Heard:
    """What is heard next; what ends the readers, a bug in a driver, is raised here."""
    getting = asyncio.ensure_future(queue.get())
    try:
        await asyncio.wait([getting, keeping], return_when=asyncio.FIRST_COMPLETED)
        if not getting.done():
            keeping.result()
        return await getting
    finally:
        getting.cancel()


@contextmanager
def _typed(put: Callable[[Heard], None]) -> Iterator[None]:
    """Put the lines of standard input while the block runs; nothing when there is none."""
    loop = asyncio.get_running_loop()
    try:
        descriptor = sys.stdin.fileno()
    except (AttributeError, OSError, ValueError):
        yield
        return
    lines = _Lines(put)

    def readable() -> None:
        if not lines.feed(os.read(descriptor, 4096)):
            loop.remove_reader(descriptor)

    try:
        loop.add_reader(descriptor, readable)
    except PermissionError:  # a file, which is always readable
        while lines.feed(os.read(descriptor, 4096)):
            pass
    try:
        yield
    finally:
        loop.remove_reader(descriptor)


class _Lines:
    """Cuts what is typed into lines."""

    def __init__(self, put: Callable[[Heard], None]) -> None:
        self._put = put
        self._rest = b""

    def feed(self, data: bytes) -> bool:
        """Take bytes as they come; False at the end of the input."""
        *lines, self._rest = (self._rest + data).split(b"\n")
        for line in lines:
            self._put(Line(line.decode(errors="replace").strip()))
        return bool(data)


def names(readers: Sequence[tuple[Driver, ReaderSettings]]) -> str:
    """The readers in a line for the person."""
    return ", ".join(f"{settings.name} ({settings.port})" for _, settings in readers)
