"""A serial line or TCP port with its file descriptor in the event loop.

pyserial finds, opens, locks and sets up the port; the bytes then flow from the descriptor
through a decoder without a thread and without polling. A read of nothing, or EIO, means that
the device is gone. Where the port can, it is told not to hold bytes back (FTDI's latency timer
is 16 ms otherwise, at each of the four answers that a look may take).
"""

from __future__ import annotations

import asyncio
import os
import socket
import termios
from collections import deque
from contextlib import asynccontextmanager, suppress
from typing import TYPE_CHECKING, Generic, TypeVar
from urllib.parse import urlsplit

import serial

from drivers import ReaderError
from drivers._ports import blame, resolve

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

    from drivers._frames import Feeds

F = TypeVar("F")
T = TypeVar("T")

_PARITY = {"none": serial.PARITY_NONE, "even": serial.PARITY_EVEN, "odd": serial.PARITY_ODD}
_ROOM = 65536
"""Bytes that wait to be decoded; older ones give way."""

_CONNECT = 3.0
"""Seconds for a TCP connection to a reader on the local network."""


class Link(Generic[F]):
    """An open port: requests out, decoded frames in.

    Use it within the event loop that it was made in. `port` is the name for error lines.
    """

    def __init__(
        self, fd: int, decoder: Feeds[F], port: str, shut: Callable[[], None] = lambda: None
    ) -> None:
        self.port = port
        self.decoder = decoder
        self._fd = fd
        self._shut = shut
        self._frames: deque[F] = deque()
        self._input = b""
        self._waiter: asyncio.Future[bool] | None = None
        self._gone: str | None = None
        self._told = decoder.errors
        self._loop = asyncio.get_running_loop()
        self._loop.add_reader(fd, self._readable)

    def send(self, data: bytes) -> None:
        """Write a request at once; `ReaderError` if the port is gone or takes no bytes."""
        if self._gone is not None:
            raise ReaderError(self._gone)
        try:
            written = os.write(self._fd, data)
        except BlockingIOError:
            written = 0
        except OSError as error:
            raise ReaderError(f"{self.port}: vanished ({error.strerror})") from error
        if written != len(data):
            raise ReaderError(f"{self.port}: the reader takes no bytes")

    async def receive(self, patience: float) -> F | None:
        """The next frame, or None when `patience` seconds brought none.

        Raises `ReaderError` when the port is gone and all frames before that are taken.
        """
        until = self._loop.time() + patience
        while not self._decode():
            if self._gone is not None:
                raise ReaderError(self._gone)
            if not await self._news(until):
                return None
        return self._frames.popleft()

    async def _news(self, until: float) -> bool:
        """Whether bytes came, or the port went, before that time of the loop's clock."""
        self._waiter = self._loop.create_future()
        timer = self._loop.call_at(until, self._wake, False)  # noqa: FBT003 - no keywords here
        try:
            return await self._waiter
        finally:
            timer.cancel()
            self._waiter = None

    async def find(self, accept: Callable[[F], T | None], patience: float) -> T | None:
        """What `accept` makes of the first frame it accepts within `patience` seconds."""
        until = self._loop.time() + patience
        while (left := until - self._loop.time()) > 0:
            frame = await self.receive(left)
            found = None if frame is None else accept(frame)
            if found is not None:
                return found
        return None

    async def gather(self, patience: float) -> list[F]:
        """All frames that have come; the first is waited for as long as `patience` seconds."""
        first = await self.receive(patience)
        return [] if first is None else [first, *self.drain()]

    def drain(self) -> list[F]:
        """The frames that came without being asked for; they are not received again."""
        self._decode()
        frames = list(self._frames)
        self._frames.clear()
        return frames

    def take_errors(self) -> int:
        """Damaged frames since this was asked last."""
        count = self.decoder.errors - self._told
        self._told += count
        return count

    def close(self) -> None:
        """Leave the event loop and give the port back."""
        if self._fd >= 0:
            self._loop.remove_reader(self._fd)
            self._fd = -1
            self._shut()

    def _readable(self) -> None:
        try:
            data = os.read(self._fd, 4096)
        except BlockingIOError:
            return
        except OSError as error:
            self._lose(f"{self.port}: vanished ({error.strerror})")
            return
        if not data:
            self._lose(f"{self.port}: vanished")
            return
        self._input = (self._input + data)[-_ROOM:]
        self._wake(True)  # noqa: FBT003 - as a timer calls it

    def _decode(self) -> bool:
        """Decode in the driver's own task, where a bug is raised; the loop would only log it."""
        if self._input:
            data, self._input = self._input, b""
            self._frames.extend(self.decoder.feed(data))
        return bool(self._frames)

    def _lose(self, reason: str) -> None:
        self._loop.remove_reader(self._fd)
        self._gone = reason
        self._wake(True)  # noqa: FBT003 - as a timer calls it

    def _wake(self, news: bool) -> None:  # noqa: FBT001 - a timer calls it
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(news)


@asynccontextmanager
async def opened(
    port: str, decoder: Feeds[F], *, baud: int, parity: str = "none"
) -> AsyncIterator[Link[F]]:
    """Open a path, match rule or `socket://host:port`, locked, for as long as the block lasts.

    Raises `ReaderError` with the one line that names the port and what keeps it from opening.
    """
    if port.startswith("socket://"):
        link = await _connect(port, decoder)
    elif "://" in port:
        raise ReaderError(f"{port}: this kind of address is unknown, use socket://host:port")
    else:
        link = _open(resolve(port), decoder, baud, parity)
    try:
        yield link
    finally:
        link.close()


def _open(path: str, decoder: Feeds[F], baud: int, parity: str) -> Link[F]:
    line = f"{baud} 8{parity[0].upper()}1"
    try:
        device = serial.serial_for_url(
            path, baudrate=baud, parity=_PARITY[parity], timeout=0, exclusive=True
        )
    except termios.error as error:
        raise ReaderError(blame(path, OSError(*error.args), line)) from error
    except OSError as error:
        inner = error.__context__
        plain = OSError(*inner.args) if isinstance(inner, termios.error) else error
        raise ReaderError(blame(path, plain, line)) from error
    except ValueError as error:
        raise ReaderError(f"{path}: does not take the line settings {line}") from error
    with suppress(OSError, ValueError):
        device.set_low_latency_mode(True)
    return Link(device.fileno(), decoder, path, lambda: _close(device))


def _close(device: serial.Serial) -> None:
    with suppress(OSError, termios.error):
        device.reset_output_buffer()
    with suppress(OSError, termios.error):
        device.close()


async def _connect(url: str, decoder: Feeds[F]) -> Link[F]:
    loop = asyncio.get_running_loop()
    try:
        where = urlsplit(url)
        host, number = where.hostname, where.port
    except ValueError:
        host = number = None
    if not host or not number:
        raise ReaderError(f"{url}: not of the form socket://host:port")
    try:
        async with asyncio.timeout(_CONNECT):
            found = await loop.getaddrinfo(host, number, type=socket.SOCK_STREAM)
            family, kind, protocol, _, address = found[0]
            peer = socket.socket(family, kind, protocol)
            try:
                await _join(loop, peer, address)
            except BaseException:
                peer.close()
                raise
    except TimeoutError as error:
        raise ReaderError(f"{url}: no connection within {_CONNECT:g} s") from error
    except OSError as error:
        number = error.errno or 0
        why = os.strerror(number) if number > 0 else error.strerror or str(error)
        raise ReaderError(f"{url}: {why}") from error
    return Link(peer.fileno(), decoder, url, peer.close)


async def _join(loop: asyncio.AbstractEventLoop, peer: socket.socket, address: object) -> None:
    peer.setblocking(False)  # noqa: FBT003 - positional only
    peer.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    peer.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    await loop.sock_connect(peer, address)  # type: ignore[arg-type]
