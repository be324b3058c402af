"""How a program on this machine gets to the broker of a configured table."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Literal

from daemon.address import Address
from daemon.errors import FeltdError

if TYPE_CHECKING:
    from pathlib import Path

    from daemon.config import Config


def own(config: Config, version: Literal[4, 5] = 4) -> Address:
    """The way the daemon itself goes; raises FeltdError where it would start the broker."""
    if config.mqtt.url == "embedded":
        return _embedded(config, "table")
    keys = config.mqtt
    return Address(
        keys.url,
        username=keys.username,
        password_file=config.password_file(),
        ca_file=config.beside(keys.ca_file),
        cert_file=config.beside(keys.cert_file),
        key_file=config.beside(keys.key_file),
        version=version,
    )


def guest(config: Config, username: str | None, password_file: Path | None) -> Address:
    """The way of a subscriber: under a name of its own, else as an overlay or as the table."""
    if config.mqtt.url == "embedded":
        return _embedded(config, username or "overlay")
    address = own(config)
    if username is None:
        return address
    return Address(
        address.url,
        username=username,
        password_file=password_file,
        ca_file=address.ca_file,
        cert_file=address.cert_file,
        key_file=address.key_file,
    )


def _embedded(config: Config, user: str) -> Address:
    folder = config.state_dir / "broker"
    try:
        port: int = json.loads((folder / "nats.conf").read_bytes())["mqtt"]["port"]
    except OSError as error:
        raise FeltdError(
            f"{folder}: {(error.strerror or '').lower()}; the embedded broker runs with feltd run"
        ) from None
    return Address(
        f"mqtt://127.0.0.1:{port}", username=user, password_file=folder / f"{user}.password"
    )
