"""Where the broker is, who we are to it, and what went wrong, in a line for a person."""

from __future__ import annotations

import socket
import ssl
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal
from urllib.parse import urlsplit

from daemon.errors import ConfigError

if TYPE_CHECKING:
    from pathlib import Path

_PORTS = {"mqtt": 1883, "mqtts": 8883}


class LinkError(Exception):
    """There is no connection, or no longer one; the text says why."""


class LostError(LinkError):
    """The connection broke, and not because we ended it or the broker fell silent."""


class RefusedError(Exception):
    """The broker answered a message with a reason not to take it, or says how much it takes."""


@dataclass(frozen=True, slots=True)
class Address:
    """The broker's URL and our credentials.

    `url` is `mqtt://host[:port]`, `mqtts://host[:port]` or `unix:///path`; certificates matter to
    `mqtts` only. `version` 5 asks for MQTT 5, where a broker can refuse a message and say so.
    Raises ConfigError for a URL of another form.
    """

    url: str
    username: str | None = None
    password_file: Path | None = None
    ca_file: Path | None = None
    cert_file: Path | None = None
    key_file: Path | None = None
    version: Literal[4, 5] = 4

    def __post_init__(self) -> None:
        try:
            parts = urlsplit(self.url)
            port = parts.port
        except ValueError as error:
            raise ConfigError(f"mqtt.url: {error}") from error
        if parts.scheme == "unix" and parts.path and not parts.netloc:
            return
        if parts.scheme not in _PORTS or not parts.hostname or port == 0:
            raise ConfigError(
                f"mqtt.url: {self.url!r} is not mqtt://host, mqtts://host or unix:///path"
            )
        if parts.username is not None or parts.path.strip("/"):
            raise ConfigError("mqtt.url: only host and port; use username and password_file")

    @property
    def transport(self) -> Literal["tcp", "unix"]:
        """How to get there."""
        return "unix" if urlsplit(self.url).scheme == "unix" else "tcp"

    @property
    def host(self) -> str:
        """Host name or address, or the path of the UNIX socket."""
        parts = urlsplit(self.url)
        return parts.path if parts.scheme == "unix" else parts.hostname or ""

    @property
    def port(self) -> int:
        """The TCP port; 1883 for a UNIX socket, where nobody asks."""
        parts = urlsplit(self.url)
        return parts.port or _PORTS.get(parts.scheme, 1883)

    def password(self) -> str | None:
        """The first line of the password file, read anew at each attempt; raises OSError."""
        if self.password_file is None:
            return None
        return self.password_file.read_text(encoding="utf-8").split("\n", 1)[0].rstrip("\r")

    def tls(self) -> ssl.SSLContext | None:
        """What to expect of an `mqtts` broker, None for the others; raises OSError."""
        if urlsplit(self.url).scheme != "mqtts":
            return None
        context = ssl.create_default_context(cafile=self.ca_file)
        context.minimum_version = ssl.TLSVersion.TLSv1_2
        if self.cert_file is not None:
            context.load_cert_chain(self.cert_file, self.key_file)
        return context


def speaks_another(error: str) -> bool:
    """Whether this is what a broker without MQTT 5 says to it."""
    return "protocol" in error or "closed the connection at once" in error


def explain(error: BaseException) -> str:
    """What a failed attempt means, without the layers it came through."""
    match error:
        case ssl.SSLCertVerificationError():
            return f"certificate refused: {error.verify_message.rstrip('.')}"
        case ssl.SSLError():
            return f"TLS failed: {(error.reason or str(error)).lower().replace('_', ' ')}"
        case socket.gaierror():
            return "no such host"
        case TimeoutError():
            return "no answer"
        case FileNotFoundError() | PermissionError() if error.filename:
            return f"{error.filename}: {(error.strerror or '').lower()}"
        case OSError() if error.strerror:
            return error.strerror.lower()
        case _:
            return str(error).splitlines()[0] if str(error) else type(error).__name__
