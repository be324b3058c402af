"""An emulated reader at the far end of a real pseudo-terminal, and the troubles of its line."""

from __future__ import annotations

import asyncio
import os
import tty
from contextlib import suppress
from dataclasses import dataclass, field
from random import Random
from typing import TYPE_CHECKING, Protocol, Self

if TYPE_CHECKING:
    from collections.abc import Awaitable
    from pathlib import Path

_CHUNK = 16


Said = tuple[float, bytes]
"""Seconds that the reader takes, and the message it then sends."""


class Model(Protocol):
    """A reader's firmware: what it answers, and what it says unasked."""

    def hear(self, data: bytes) -> list[Said]:
        """Take bytes of the host as they come; give the messages that answer them."""

    def speak(self) -> list[bytes]:
        """What the reader says by itself each time its `period` is over."""

    @property
    def period(self) -> float | None:
        """Seconds between two calls of `speak`; None for readers that never talk first."""

    def restart(self) -> None:
        """Lose power: forget what the host set up."""


@dataclass(slots=True)
class Trouble:
    """What happens to the bytes on their way to the host; may be changed at any time.

    `drop` and `corrupt` are chances per byte, 0 to 1. `split` sends pieces of at most so many
    bytes, `delay` waits so many seconds before each message, `noise` is put before each
    message. A `silent` reader neither hears nor answers.
    """

    drop: float = 0.0
    corrupt: float = 0.0
    split: int = 0
    delay: float = 0.0
    noise: bytes = b""
    silent: bool = False
    seed: int = 1
    _random: Random = field(init=False)

    def __post_init__(self) -> None:
        """Start the dice."""
        self._random = Random(self.seed)  # noqa: S311 - chance, no secret

    def spoil(self, data: bytes) -> bytes:
        """The bytes as they arrive."""
        data = self.noise + data
        if not self.drop and not self.corrupt:
            return data
        out = bytearray()
        for byte in data:
            if self._random.random() < self.drop:
                continue
            flip = self._random.random() < self.corrupt
            out.append(byte ^ self._random.randrange(1, 256) if flip else byte)
        return bytes(out)


class Wire:
    """A reader model on a pseudo-terminal: `start`, then talk to `path`.

    `link` is a symbolic link that keeps the name when the reader vanishes and returns.
    `baud` paces both directions at `bits` per byte, as a UART would; None is as fast as the
    pseudo-terminal is. Use within a running event loop.
    """

    def __init__(
        self,
        model: Model,
        *,
        link: Path | None = None,
        baud: int | None = None,
        bits: int = 10,
        trouble: Trouble | None = None,
    ) -> None:
        self.model = model
        self.trouble = trouble or Trouble()
        self.heard = 0
        self._link = link
        self._byte_time = bits / baud if baud else 0.0
        self._master = self._slave = -1
        self._tasks: list[asyncio.Task[None]] = []
        self._queue: asyncio.Queue[tuple[float, bytes]] = asyncio.Queue()

    @property
    def path(self) -> str:
        """The port to open: the link if there is one, else the pseudo-terminal's own name."""
        return str(self._link) if self._link else os.ttyname(self._slave)

    async def __aenter__(self) -> Self:
        """Plug in."""
        self.start()
        return self

    async def __aexit__(self, *_: object) -> None:
        """Unplug."""
        await self.stop()

    def start(self) -> None:
        """Plug in: a new pseudo-terminal, the model freshly powered."""
        self._master, self._slave = os.openpty()
        tty.setraw(self._slave)
        os.set_blocking(self._master, False)
        if self._link:
            self._link.unlink(missing_ok=True)
            self._link.symlink_to(os.ttyname(self._slave))
        self.model.restart()
        self._queue = asyncio.Queue()
        asyncio.get_running_loop().add_reader(self._master, self._readable)
        self._tasks = [asyncio.create_task(self._send(), name="wire send")]
        if self.model.period is not None:
            self._tasks.append(asyncio.create_task(self._chatter(), name="wire chatter"))

    async def stop(self) -> None:
        """Unplug: the port is gone at once, in mid-message if need be."""
        if self._master < 0:
            return
        asyncio.get_running_loop().remove_reader(self._master)
        tasks, self._tasks = self._tasks, []
        if self._link:
            self._link.unlink(missing_ok=True)
        os.close(self._master)
        os.close(self._slave)
        self._master = self._slave = -1
        for task in tasks:
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task

    def _readable(self) -> None:
        try:
            data = os.read(self._master, 4096)
        except (BlockingIOError, OSError):
            return
        self.heard += len(data)
        if self.trouble.silent:
            return
        took = len(data) * self._byte_time
        for working, answer in self.model.hear(data):
            self._queue.put_nowait((took + working, answer))
            took = 0.0

    async def _chatter(self) -> None:
        while True:
            await asyncio.sleep(self.model.period or 0.0)
            if not self.trouble.silent:
                for message in self.model.speak():
                    self._queue.put_nowait((0.0, message))

    async def _send(self) -> None:
        while True:
            took, message = await self._queue.get()
            await _pause(took + self.trouble.delay)
            data = self.trouble.spoil(message)
            step = self.trouble.split or (_CHUNK if self._byte_time else len(data)) or 1
            for start in range(0, len(data), step):
                piece = data[start : start + step]
                await _pause(len(piece) * self._byte_time)
                self._write(piece)
                if self.trouble.split:
                    await asyncio.sleep(0)

    def _write(self, piece: bytes) -> None:
        if self.trouble.silent or self._master < 0:
            return
        with suppress(BlockingIOError):
            os.write(self._master, piece)


def _pause(seconds: float) -> Awaitable[None]:
    return asyncio.sleep(seconds) if seconds > 0 else _at_once()


async def _at_once() -> None:
    return
