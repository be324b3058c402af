"""Keeping the readers: each in a task of its own, lost and back as facts.

What hardware does (`HARDWARE`) is an outage: told once, tried again with growing, jittered
pauses. Anything else that comes out of a driver is a bug; it ends the whole group.
"""

from __future__ import annotations

import asyncio
import logging
import random
import termios
from collections import Counter
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterator, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from itertools import takewhile

from drivers import Driver, Look, ReaderDown, ReaderError, ReaderSettings, ReaderUp
from drivers._ports import place, unsteady

log = logging.getLogger("feltd.readers")

HARDWARE = (ReaderError, OSError, termios.error)
"""What a driver raises when its hardware fails; pyserial's SerialException is an OSError."""

Put = Callable[[Look | ReaderUp | ReaderDown], None]


@dataclass(frozen=True, slots=True)
class Backoff:
    """Pauses between attempts, in seconds: `first`, growing by `factor`, never above `longest`.

    Each is multiplied by a random 1 - `spread` to 1 + `spread`, so that readers that failed
    together do not return together. A reader that stayed up for `longest` starts over.
    """

    first: float = 0.25
    longest: float = 5.0
    factor: float = 2.0
    spread: float = 0.25
    dice: Callable[[], float] = random.random

    def pauses(self) -> Iterator[float]:
        """The pauses of one outage, without end."""
        pause = self.first
        while True:
            yield pause * (1.0 + self.spread * (2.0 * self.dice() - 1.0))
            pause = min(pause * self.factor, self.longest)


@dataclass(slots=True)
class _Keeper:
    """What all readers of a table have in common; `order` is that of the configuration."""

    put: Put
    backoff: Backoff
    sleep: Callable[[float], Awaitable[None]]
    order: list[ReaderSettings]
    twins: frozenset[str]

    async def keep(self, driver: Driver, settings: ReaderSettings) -> None:
        """Read for ever, through every outage."""
        clock = asyncio.get_running_loop().time
        pauses = self.backoff.pauses()
        told: str | None = None
        while True:
            begun = clock()
            was_up, reason = await self._attempt(driver, settings)
            if was_up or told is None:
                self.put(ReaderDown(settings.name, reason))
            elif reason != told:
                log.warning("reader %s is still down: %s", settings.name, reason)
            told = reason
            if was_up and clock() - begun >= self.backoff.longest:
                pauses = self.backoff.pauses()
            await self.sleep(next(pauses))

    async def _attempt(self, driver: Driver, settings: ReaderSettings) -> tuple[bool, str]:
        """Read until the hardware fails: whether it ever answered, and the reason."""
        reason = self._refusal(settings)
        if reason is not None:
            return False, reason
        up = False
        async with aclosing(driver.read(settings)) as looks:
            while isinstance(heard := await _next(looks), Look):
                if not up:
                    up = True
                    self.put(ReaderUp(settings.name))
                self.put(heard)
        if heard is None:
            raise RuntimeError(f"driver of reader {settings.name} ended without a reason")
        return up, _one_line(settings, heard)

    def _refusal(self, settings: ReaderSettings) -> str | None:
        """Why this port must not be read: an earlier reader has it, or may have it tomorrow."""
        where = place(settings.port)
        for other in takewhile(lambda each: each is not settings, self.order):
            if place(other.port) == where:
                return f"{settings.port}: the same port as {other.port} of reader {other.name}"
        return unsteady(settings.port, lone=settings.name not in self.twins)


async def _next(looks: AsyncGenerator[Look, None]) -> Look | Exception | None:
    """The next look, or the way in which the hardware failed; None when there are no more."""
    try:
        return await anext(looks, None)
    except HARDWARE as error:
        return error


async def supervise(
    readers: Sequence[tuple[Driver, ReaderSettings]],
    put: Put,
    *,
    backoff: Backoff | None = None,
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
) -> None:
    """Read all readers until cancelled; never returns.

    Puts `ReaderUp` before the first look after each outage, and `ReaderDown` once per outage
    with its first reason. The second reader on one physical port, and names that may be another
    reader's after a reboot, are refused in the same way. A bug in a driver is raised in an
    `ExceptionGroup`.
    """
    keeper = _Keeper(
        put, backoff or Backoff(), sleep, [settings for _, settings in readers], twins(readers)
    )
    async with asyncio.TaskGroup() as group:
        for driver, settings in readers:
            group.create_task(keeper.keep(driver, settings), name=f"reader {settings.name}")


def twins(readers: Sequence[tuple[Driver, ReaderSettings]]) -> frozenset[str]:
    """The names of the readers that are not the only one of their family."""
    families = Counter(id(driver) for driver, _ in readers)
    return frozenset(settings.name for driver, settings in readers if families[id(driver)] > 1)


def _one_line(settings: ReaderSettings, error: Exception) -> str:
    text = " ".join(str(error).split()) or type(error).__name__
    return (
        text
        if settings.port in text or isinstance(error, ReaderError)
        else (f"{settings.port}: {text}")
    )
