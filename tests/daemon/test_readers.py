from __future__ import annotations

import asyncio
import types
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec
import pytest

from daemon.readers import Backoff, supervise
from drivers import Look, ReaderDown, ReaderError, ReaderUp, pn532
from drivers.sim.field import Field
from drivers.sim.pn532 import PN532
from drivers.sim.wire import Wire


@dataclass(frozen=True)
class Settings:
    name: str
    port: str = "/dev/reader"
    antennas: dict[int, str] = field(default_factory=lambda: {1: "shoe"})


Script = Callable[[Any], AsyncGenerator[Look, None]]


def driver(read: Script) -> Any:
    module = types.ModuleType("scripted")
    module.__dict__.update(read=read, Settings=Settings, Decoder=object)
    return module


def endless(*lives: list[Any]) -> Script:
    """A reader that yields and raises what each of its lives holds; the last one waits."""
    left = iter(lives)

    async def read(settings: Any) -> AsyncGenerator[Look, None]:
        for step in next(left, []):
            if isinstance(step, Exception):
                raise step
            yield Look(settings.name, 1, step)
        await asyncio.Event().wait()

    return read


@asynccontextmanager
async def supervised(readers: Any, put: Any, **more: Any) -> Any:
    task = asyncio.create_task(supervise(readers, put, **more))
    try:
        yield task
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task


class Put:
    """Where facts and looks go; `done` as soon as they are enough."""

    def __init__(self, enough: Callable[[list[Any]], bool]) -> None:
        self.heard: list[Any] = []
        self.enough = enough
        self.done = asyncio.Event()

    def __call__(self, event: Any) -> None:
        self.heard.append(event)
        if self.enough(self.heard):
            self.done.set()


def told(
    readers: list[Any], enough: Callable[[list[Any]], bool], pauses: list[float] | None = None
) -> list[Any]:
    put = Put(enough)

    async def sleep(seconds: float) -> None:
        if pauses is not None:
            pauses.append(seconds)
        await asyncio.sleep(0)

    async def play() -> None:
        async with asyncio.timeout(10), supervised(readers, put, sleep=sleep):
            await put.done.wait()

    asyncio.run(play())
    return put.heard


A, B = ("A" * 16,), ("B" * 16,)


def test_up_before_the_first_look_and_down_once_per_outage() -> None:
    gone = ReaderError("/dev/reader: vanished")
    read = endless([A, A, gone], [gone], [OSError(5, "Input/output error")], [B])
    heard = told([(driver(read), Settings("shoe"))], lambda heard: len(heard) >= 6)
    assert heard == [
        ReaderUp("shoe"),
        Look("shoe", 1, A),
        Look("shoe", 1, A),
        ReaderDown("shoe", "/dev/reader: vanished"),
        ReaderUp("shoe"),
        Look("shoe", 1, B),
    ]


def test_a_reader_that_never_was_there_is_told_once_in_one_line() -> None:
    read = endless([OSError(5, "bad\nluck")], [ReaderError("/dev/reader: not there")], [A])
    heard = told([(driver(read), Settings("shoe"))], lambda heard: len(heard) >= 3)
    assert heard[0] == ReaderDown("shoe", "/dev/reader: [Errno 5] bad luck")
    assert heard[1:] == [ReaderUp("shoe"), Look("shoe", 1, A)]


def test_one_failing_reader_takes_no_other_down() -> None:
    broken = driver(endless(*[[ReaderError("/dev/a: gone")]] * 50))
    fine = driver(endless([A] * 50))
    readers = [(broken, Settings("a", "/dev/a")), (fine, Settings("b", "/dev/b"))]
    heard = told(readers, lambda heard: len(heard) >= 52)
    assert heard.count(Look("b", 1, A)) == 50
    assert heard.count(ReaderDown("a", "/dev/a: gone")) == 1


def test_a_bug_in_a_driver_is_raised() -> None:
    async def play(read: Script) -> None:
        heard: list[Any] = []
        async with asyncio.timeout(5):
            await supervise([(driver(read), Settings("shoe"))], heard.append)

    with pytest.raises(ExceptionGroup) as caught:
        asyncio.run(play(endless([A, KeyError("tags")])))
    assert isinstance(caught.value.exceptions[0], KeyError)

    async def ends(settings: Any) -> AsyncGenerator[Look, None]:
        yield Look(settings.name, 1)

    with pytest.raises(ExceptionGroup) as caught:
        asyncio.run(play(ends))
    assert "ended without a reason" in str(caught.value.exceptions[0])


def test_pauses_grow_to_a_limit_and_are_jittered() -> None:
    dice = iter([0.5, 0.5, 0.5, 0.5, 0.0, 1.0])
    backoff = Backoff(first=1.0, longest=4.0, dice=lambda: next(dice))
    pauses = backoff.pauses()
    assert [next(pauses) for _ in range(6)] == [1.0, 2.0, 4.0, 4.0, 3.0, 5.0]


def test_pauses_are_kept_between_attempts() -> None:
    pauses: list[float] = []
    read = endless(*[[ReaderError("/dev/reader: gone")]] * 6, [A])
    told([(driver(read), Settings("shoe"))], lambda heard: len(heard) >= 3, pauses)
    assert len(pauses) == 6
    assert 0.25 * 0.75 <= pauses[0] <= 0.25 * 1.25
    assert all(3.75 <= pause <= 6.25 for pause in pauses[5:])


def test_two_readers_on_one_port_are_refused_with_the_reason(tmp_path: Path) -> None:
    device, link = tmp_path / "ttyUSB0", tmp_path / "by-id"
    device.write_text("")
    link.symlink_to(device)
    readers = [
        (driver(endless([A])), Settings("a", str(device))),
        (driver(endless([B])), Settings("b", str(link))),
    ]
    heard = told(readers, lambda heard: len(heard) >= 3)
    assert Look("a", 1, A) in heard
    assert Look("b", 1, B) not in heard
    assert ReaderDown("b", f"{link}: the same port as {device} of reader a") in heard


def test_the_second_reader_on_a_port_never_gets_it_while_the_first_is_down() -> None:
    gone = [[ReaderError("/dev/a: gone")]] * 20
    readers = [
        (driver(endless(*gone, [A])), Settings("a", "/dev/a")),
        (driver(endless([B])), Settings("b", "/dev/a")),
    ]
    heard = told(readers, lambda heard: Look("a", 1, A) in heard)
    assert Look("b", 1, B) not in heard


def test_twins_at_counted_names_are_refused_and_a_single_one_is_not() -> None:
    module = driver(endless([A]))
    one, two = Settings("a", "/dev/ttyUSB0"), Settings("b", "/dev/ttyUSB1")
    heard = told([(module, one), (module, two)], lambda heard: len(heard) >= 2)
    assert [down.reader for down in heard] == ["a", "b"]
    assert all("order of discovery" in down.error for down in heard)
    other = Settings("c", "/dev/serial/by-path/pci-0")
    heard = told([(module, one), (driver(endless([B])), other)], lambda heard: len(heard) >= 4)
    assert Look("a", 1, A) in heard


def test_cancelling_closes_the_driver_at_once() -> None:
    closed = []

    async def read(settings: Any) -> AsyncGenerator[Look, None]:
        try:
            while True:
                yield Look(settings.name, 1)
                await asyncio.sleep(0)
        finally:
            closed.append(settings.name)

    heard = told([(driver(read), Settings("shoe"))], lambda heard: len(heard) > 2)
    assert heard[0] == ReaderUp("shoe")
    assert closed == ["shoe"]


def test_tasks_carry_the_readers_name() -> None:
    async def play() -> set[str]:
        async with supervised([(driver(endless([A])), Settings("shoe"))], lambda _: None):
            await asyncio.sleep(0)
            return {task.get_name() for task in asyncio.all_tasks()}

    assert "reader shoe" in asyncio.run(play())


def descriptors() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))


class Counted:
    """Facts and looks, and a way to wait until so many of a kind have come."""

    def __init__(self) -> None:
        self.heard: list[Any] = []
        self.news = asyncio.Event()

    def __call__(self, event: Any) -> None:
        self.heard.append(event)
        self.news.set()

    async def until(self, kind: type, times: int) -> None:
        while sum(isinstance(event, kind) for event in self.heard) < times:
            self.news.clear()
            await self.news.wait()


def test_a_real_reader_vanishes_and_returns_on_its_name(tmp_path: Path) -> None:
    block = {
        "name": "shoe",
        "driver": "pn532",
        "port": str(tmp_path / "port"),
        "antennas": {"1": "shoe"},
        "interval": 0.0,
    }
    settings = msgspec.convert(block, pn532.Settings, str_keys=True)
    card = "0416C6C2D73881"

    async def play() -> list[Any]:
        put = Counted()
        air = Field()
        air.lay(1, card)
        wire = Wire(PN532(air), link=tmp_path / "port")
        backoff = Backoff(first=0.01, longest=0.02)
        async with asyncio.timeout(20), supervised([(pn532, settings)], put, backoff=backoff):
            await put.until(ReaderDown, 1)
            before = descriptors()
            for times in range(1, 6):
                wire.start()
                await put.until(ReaderUp, times)
                await wire.stop()
                await put.until(ReaderDown, times + 1)
            assert descriptors() == before
            return put.heard

    heard = asyncio.run(play())
    assert all(look.tags == (card,) for look in heard if isinstance(look, Look))
    assert sum(isinstance(event, ReaderDown) for event in heard) == 6
