"""aiomqtt 2.5 for one connection, without its defects.

aiomqtt reports a refused PUBACK as success, leaves `publish` waiting when the connection breaks,
returns from a second `async with` without a CONNACK, loses a message when its iterator is
cancelled, discards acknowledged messages when its queue is full, watches a file descriptor that is
closed by then, and keeps the end of the program waiting while it connects. tests/daemon/
test_aiomqtt.py has a test for each.
"""

from __future__ import annotations

import asyncio
import logging
import struct
from collections import deque
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import aiomqtt
from aiomqtt.exceptions import MqttConnectError
from paho.mqtt.client import MQTT_ERR_SUCCESS, MQTTMessage, WebsocketConnectionError
from paho.mqtt.packettypes import PacketTypes
from paho.mqtt.properties import Properties

from daemon._dial import CONNECT_TIMEOUT, in_own_thread, open_socket
from daemon.address import Address, LinkError, LostError, RefusedError, explain

if TYPE_CHECKING:
    from collections.abc import Awaitable, Sequence
    from types import TracebackType

    from paho.mqtt.client import Client as PahoClient
    from paho.mqtt.client import ConnectFlags, DisconnectFlags
    from paho.mqtt.reasoncodes import ReasonCode

__all__ = ["WINDOW", "Connection", "LinkError", "LostError", "Received", "RefusedError"]

WINDOW = 20
GOODBYE_TIMEOUT = 0.5
KEEPALIVE = 10
OVERHEAD = 16
"""Bytes of a PUBLISH at most besides topic, payload and correlation data."""

log = logging.getLogger("feltd.mqtt")
_library_log = logging.getLogger("feltd.mqtt.library")
_library_log.setLevel(logging.CRITICAL)

_BROKEN = (OSError, ValueError, IndexError, struct.error, aiomqtt.MqttError)


class Received(NamedTuple):
    """A message as it came in; `retained` when it is an old one that the broker had kept.

    `reply_to` and `correlation` are there on MQTT 5 where the sender gave a response topic.
    """

    topic: str
    payload: bytes
    retained: bool
    reply_to: str | None = None
    correlation: bytes = b""


class Connection(aiomqtt.Client):
    """One connection to a broker: `async with` once, then a new object.

    `ack_timeout` in seconds is how long a broker may leave messages unacknowledged before it counts
    as frozen. At most `inbound` received messages wait; then the socket is not read until half of
    them have been taken. Raises LinkError where aiomqtt raises anything.
    """

    def __init__(
        self,
        address: Address,
        identifier: str,
        will: aiomqtt.Will | None,
        *,
        ack_timeout: float = 5.0,
        inbound: int = 100,
    ) -> None:
        try:
            password, context = address.password(), address.tls()
        except OSError as error:
            raise LinkError(explain(error)) from error
        five = self._five = address.version == 5
        super().__init__(
            address.host,
            address.port,
            username=address.username,
            password=password,
            logger=_library_log,
            identifier=identifier,
            protocol=aiomqtt.ProtocolVersion(address.version),
            will=will,
            clean_session=None if five else True,
            clean_start=True if five else 3,
            timeout=CONNECT_TIMEOUT,
            keepalive=KEEPALIVE,
            max_inflight_messages=WINDOW,
        )
        self.pending_calls_threshold = 2 * WINDOW
        self._client._create_socket = partial(open_socket, address, context)  # type: ignore[method-assign] # noqa: SLF001
        self._acks: dict[int, asyncio.Future[None]] = {}
        self._largest: int | None = None
        self._ack_timeout = ack_timeout
        self._ack_due = 0.0
        self._inbox: deque[Received] = deque()
        self._inbox_limit = inbound
        self._arrived = asyncio.Event()
        self._paused = self._used = self._closed = False
        self._disconnected.add_done_callback(self._lost)

    async def __aenter__(self) -> Self:
        """Connect; returns once the broker has accepted us, raises LinkError when it does not."""
        if self._used:
            raise LinkError("a connection is used once")
        self._used = True
        try:
            await in_own_thread(self._client_connect)
            async with asyncio.timeout(self.timeout):
                await asyncio.shield(self._connected)
        except (*_BROKEN, WebsocketConnectionError) as error:
            self._close()
            raise LinkError(_refusal(error)) from error
        except BaseException:
            self._close()
            raise
        return self

    async def __aexit__(
        self,
        exc_type: type[BaseException] | None,
        exc: BaseException | None,
        tb: TracebackType | None,
    ) -> None:
        """Say goodbye, so that the will is not executed; at most half a second."""
        try:
            if not self._disconnected.done():
                self._client.disconnect()
                await asyncio.wait([self._disconnected], timeout=GOODBYE_TIMEOUT)
        finally:
            self._close()

    def send(
        self, topic: str, payload: bytes, *, retain: bool = False, correlation: bytes = b""
    ) -> asyncio.Future[None]:
        """Publish at QoS 1 in the order of the calls; `correlation` data goes over MQTT 5 only.

        The future ends with the broker's acknowledgement, a RefusedError, or a LinkError as soon
        as the connection is lost. Raises LinkError when it is lost already.
        """
        if self._disconnected.done():
            raise self._loss()
        future: asyncio.Future[None] = self._loop.create_future()
        size = len(topic.encode()) + len(payload) + len(correlation) + OVERHEAD
        if self._largest is not None and size > self._largest:
            future.set_exception(RefusedError("Packet too large"))
            return future
        properties = None
        if correlation and self._five:
            properties = Properties(PacketTypes.PUBLISH)  # type: ignore[no-untyped-call]
            properties.CorrelationData = correlation
        info = self._client.publish(topic, payload, 1, retain, properties)
        if info.rc != MQTT_ERR_SUCCESS:
            raise LinkError("connection lost")
        if not self._acks:
            self._ack_due = self._loop.time() + self._ack_timeout
        self._acks[info.mid] = future
        return future

    async def listen(self, topics: Sequence[str]) -> None:
        """Subscribe to `topics` at QoS 1; raises LinkError, also for those we may not read."""
        codes = await self._or_loss(self.subscribe([(topic, 1) for topic in topics]))
        for topic, code in zip(topics, codes, strict=True):
            if (code if isinstance(code, int) else code.value) >= 0x80:
                raise LinkError(f"the broker does not let us read {topic}")

    async def receive(self) -> Received:
        """The next message; cancelling loses none. Raises LinkError after the last one."""
        while not self._inbox:
            if self._disconnected.done():
                raise self._loss()
            self._arrived.clear()
            await self._arrived.wait()
        message = self._inbox.popleft()
        if self._paused and len(self._inbox) <= self._inbox_limit // 2:
            self._resume()
        return message

    async def _or_loss(self, work: Awaitable[Any]) -> Any:  # noqa: ANN401 - whatever `work` gives
        task = asyncio.ensure_future(work)
        try:
            await asyncio.wait([task, self._disconnected], return_when=asyncio.FIRST_COMPLETED)
            if not task.done():
                raise self._loss()
            return task.result()
        except _BROKEN as error:
            raise LinkError(explain(error)) from error
        finally:
            task.cancel()

    def _loss(self) -> LinkError:
        error = None if self._disconnected.cancelled() else self._disconnected.exception()
        if isinstance(error, LinkError):
            return LinkError(str(error))
        return (LinkError if error is None else LostError)("connection lost")

    def _lost(self, _: asyncio.Future[None]) -> None:
        acks, self._acks = self._acks, {}
        for future in acks.values():
            if not future.done():
                future.set_exception(self._loss())
        self._arrived.set()

    def _break(self, error: BaseException) -> None:
        if not self._disconnected.done():
            self._disconnected.set_exception(error)

    def _close(self) -> None:
        self._closed = True
        if self._connected.done() and not self._connected.cancelled():
            self._connected.exception()
        self._client._sock_close()  # noqa: SLF001 - the only way without a handshake
        if not self._disconnected.done():
            self._disconnected.set_result(None)

    def _on_connect(
        self,
        client: PahoClient,
        userdata: Any,  # noqa: ANN401
        flags: ConnectFlags,
        reason_code: ReasonCode,
        properties: Properties | None = None,
    ) -> None:
        if not self._connected.done():
            self._largest = getattr(properties, "MaximumPacketSize", None)
            super()._on_connect(client, userdata, flags, reason_code, properties)

    def _on_disconnect(
        self,
        client: PahoClient,
        userdata: Any,  # noqa: ANN401
        flags: DisconnectFlags,
        reason_code: ReasonCode,
        properties: Properties | None = None,
    ) -> None:
        if not self._connected.done():
            self._connected.set_exception(LinkError("the broker closed the connection at once"))
        super()._on_disconnect(client, userdata, flags, reason_code, properties)

    def _on_message(self, client: PahoClient, userdata: Any, message: MQTTMessage) -> None:  # noqa: ANN401, ARG002
        found = message.properties
        reply_to = getattr(found, "ResponseTopic", None)
        correlation = getattr(found, "CorrelationData", b"")
        payload = bytes(message.payload)
        self._inbox.append(Received(message.topic, payload, message.retain, reply_to, correlation))
        self._arrived.set()
        sock = self._client.socket()
        if not self._paused and len(self._inbox) >= self._inbox_limit and sock is not None:
            self._paused = True
            self._loop.remove_reader(sock.fileno())

    def _on_publish(
        self,
        client: PahoClient,  # noqa: ARG002
        userdata: Any,  # noqa: ANN401, ARG002
        mid: int,
        reason_code: ReasonCode,
        properties: Properties,  # noqa: ARG002
    ) -> None:
        self._ack_due = self._loop.time() + self._ack_timeout
        future = self._acks.pop(mid, None)
        if future is None or future.done():
            return
        if reason_code.is_failure:
            future.set_exception(RefusedError(str(reason_code)))
        else:
            future.set_result(None)

    def _on_socket_open(self, client: PahoClient, userdata: Any, sock: Any) -> None:  # noqa: ANN401, ARG002
        self._loop.call_soon_threadsafe(self._watch)

    def _on_socket_close(self, client: PahoClient, userdata: Any, sock: Any) -> None:  # noqa: ANN401
        if sock.fileno() >= 0:
            self._loop.remove_writer(sock.fileno())
        super()._on_socket_close(client, userdata, sock)

    def _on_socket_register_write(self, client: PahoClient, userdata: Any, sock: Any) -> None:  # noqa: ANN401, ARG002
        self._loop.call_soon_threadsafe(self._watch_writing)

    def _on_socket_unregister_write(self, client: PahoClient, userdata: Any, sock: Any) -> None:  # noqa: ANN401, ARG002
        self._loop.call_soon_threadsafe(self._watch_writing)

    def _watch(self) -> None:
        sock = self._client.socket()
        if self._closed:
            self._client._sock_close()  # noqa: SLF001
        elif sock is not None:
            self._loop.add_reader(sock.fileno(), self._read)
            self._misc_task = self._loop.create_task(self._misc_loop())

    def _watch_writing(self) -> None:
        sock = self._client.socket()
        if sock is None:
            return
        if self._client.want_write():
            self._loop.add_writer(sock.fileno(), self._write)
        else:
            self._loop.remove_writer(sock.fileno())

    def _write(self) -> None:
        try:
            self._client.loop_write()
        except _BROKEN as error:
            self._break(error)

    def _resume(self) -> None:
        self._paused = False
        sock = self._client.socket()
        if sock is not None:
            self._loop.add_reader(sock.fileno(), self._read)
            self._loop.call_soon(self._read_decoded)

    def _read_decoded(self) -> None:
        if getattr(self._client.socket(), "pending", int)() > 0:
            self._read()

    def _read(self) -> None:
        """Read what is there; a TLS socket may hold decoded bytes that `select` cannot see."""
        try:
            self._client.loop_read()
            while not self._paused and getattr(self._client.socket(), "pending", int)() > 0:
                self._client.loop_read()
        except _BROKEN as error:
            self._break(error)

    async def _misc_loop(self) -> None:
        while self._client.loop_misc() == MQTT_ERR_SUCCESS:
            if self._acks and self._loop.time() > self._ack_due:
                self._break(LinkError("the broker does not acknowledge"))
                return
            await asyncio.sleep(min(1.0, self._ack_timeout))


def _refusal(error: BaseException) -> str:
    if isinstance(error, MqttConnectError):
        return f"refused: {str(error.rc).lower()}"
    return explain(error)
