"""From the picture to the browsers: Server-Sent Events, the newest picture to each.

There are no queues: a browser that is slow finds the newest picture when it has taken the last,
so what a hundred of them cost does not grow with what they miss.
"""

from __future__ import annotations

import asyncio
import logging
import socket
from typing import TYPE_CHECKING

import msgspec
from aiohttp import web

if TYPE_CHECKING:
    from collections.abc import Callable

    from daemon.web.follow import Payload

BEAT = 5.0
WRITE_TIMEOUT = 20.0
MOST = 200
BUFFER = 32_768
_HEADERS = {
    "Content-Type": "text/event-stream; charset=utf-8",
    "Cache-Control": "no-store",
    "X-Accel-Buffering": "no",
}

log = logging.getLogger("feltd.web")


class Hub:
    """The newest picture and those who wait for it."""

    def __init__(self, draw: Callable[[], Payload]) -> None:
        self.watching = 0
        self.closed = False
        self._draw = draw
        self._body = b""
        self._version = 0
        self._due = False
        self._news = asyncio.Event()
        self.changed()

    def changed(self) -> None:
        """The picture is another; what happens in the same turn of the loop is told as one."""
        if not self._due:
            self._due = True
            asyncio.get_running_loop().call_soon(self._publish)

    def close(self) -> None:
        """Let everybody go."""
        self.closed = True
        self.wake()

    def _publish(self) -> None:
        self._due = False
        body = msgspec.json.encode(self._draw())
        if body != self._body:
            self._body = body
            self._version += 1
            self.wake()

    def wake(self) -> None:
        """Let everybody look again."""
        self._news.set()
        self._news = asyncio.Event()

    async def stream(self, request: web.Request, allowed: Callable[[], bool]) -> web.StreamResponse:
        """Serve one browser until it goes, is not `allowed` any more, or takes nothing."""
        if self.watching >= MOST:
            raise web.HTTPServiceUnavailable(text="too many browsers")
        response = web.StreamResponse(headers=_HEADERS)
        await response.prepare(request)
        _keep_small(request)
        self.watching += 1
        try:
            await self._serve(response, allowed)
        except TimeoutError:
            if request.transport is not None:
                request.transport.abort()
        except ConnectionError:
            log.debug("a browser went away")
        finally:
            self.watching -= 1
        return response

    async def _serve(self, response: web.StreamResponse, allowed: Callable[[], bool]) -> None:
        seen = -1
        while not self.closed and allowed():
            news = self._news
            if seen != self._version:
                seen = self._version
                await _write(response, b"event: picture\ndata: " + self._body + b"\n\n")
                continue
            try:
                async with asyncio.timeout(BEAT):
                    await news.wait()
            except TimeoutError:
                await _write(response, b"event: beat\ndata: {}\n\n")
        if not allowed():
            await _write(response, b"event: over\ndata: {}\n\n")


async def _write(response: web.StreamResponse, data: bytes) -> None:
    async with asyncio.timeout(WRITE_TIMEOUT):
        await response.write(data)


def _keep_small(request: web.Request) -> None:
    """Let little lie between us and a slow browser: what lies there is old when it arrives."""
    transport = request.transport
    if transport is not None:
        transport.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, BUFFER)
