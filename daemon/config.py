"""The configuration of one table: TOML to typed settings, every error one line with its key.

Source: docs/configuration.md. Relative paths are relative to the configuration file.
"""

from __future__ import annotations

import os
import re
import tomllib
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import msgspec
from msgspec import UNSET, Meta, Struct, UnsetType

import drivers
from daemon.decks import load_all
from daemon.errors import ConfigError
from daemon.games import GAMES
from daemon.rules.errors import RuleError
from daemon.rules.profile import Profile, profile
from daemon.sealing import Sealer, public_key
from daemon.setup import Setup, seat_number

if TYPE_CHECKING:
    from collections.abc import Mapping

    from drivers import Driver, ReaderSettings

Name = Annotated[str, Meta(pattern=r"^[a-z0-9-]{1,32}$(?!\n)")]
CREDENTIAL = "mqtt.password"
"""What the unit file calls the broker's password."""
Shared = {"board", "muck", "shoe", "burn"}
_ZONE = re.compile(r"seat:(\d+)(:up)?|board|muck|shoe|burn")


class TableKeys(Struct, frozen=True, forbid_unknown_fields=True):
    """`[table]`."""

    id: Name
    discipline: Literal["holdem", "omaha", "stud"]
    seats: Annotated[int, Meta(ge=2, le=10)]
    betting: Literal["no-limit", "pot-limit", "fixed-limit"] = "no-limit"


class MqttKeys(Struct, frozen=True, forbid_unknown_fields=True):
    """`[mqtt]`; the secrets' root is `<prefix>-private`."""

    url: str = "mqtt://127.0.0.1:1883"
    prefix: Name = "felt"
    username: str | None = None
    password_file: str | None = None
    ca_file: str | None = None
    cert_file: str | None = None
    key_file: str | None = None


class DeckKeys(Struct, frozen=True, forbid_unknown_fields=True):
    """`[decks]`."""

    dir: str = "decks"


class SecrecyKeys(Struct, frozen=True, forbid_unknown_fields=True):
    """`[secrecy]`; `delay` in seconds, or until the hand is over."""

    hole_cards: Literal["off", "sealed", "delayed", "clear"] = "off"
    delay: Annotated[int, Meta(ge=0)] | Literal["hand-end"] = 1800
    unattended: Literal["ask", "all"] = "ask"
    floor: bool = False
    receivers: dict[Name, str] = {}


class StateKeys(Struct, frozen=True, forbid_unknown_fields=True):
    """`[state]`."""

    dir: str | UnsetType = UNSET


class PrivateWebKeys(Struct, frozen=True, forbid_unknown_fields=True):
    """`[web.private]`: the process that shows hole cards; `key_file` opens what is sealed."""

    receiver: Name
    tokens_file: str
    listen: str = "127.0.0.1:8089"
    key_file: str | None = None
    username: str | None = None
    password_file: str | None = None


class WebKeys(Struct, frozen=True, forbid_unknown_fields=True):
    """`[web]`: `hosts` are names by which browsers may ask, `roles` have a password file each.

    A log-in lasts `session_hours`. User and password are those for the broker.
    """

    listen: str = "127.0.0.1:8088"
    hosts: list[str] = []
    roles: dict[Name, str] = {}
    session_hours: Annotated[int, Meta(ge=1, le=24)] = 12
    username: str | None = None
    password_file: str | None = None
    private: PrivateWebKeys | None = None


class MetricsKeys(Struct, frozen=True, forbid_unknown_fields=True):
    """`[metrics]`; `file` is a Prometheus text file."""

    file: str | None = None


class File(Struct, frozen=True, forbid_unknown_fields=True):
    """The whole file; `readers` and `rules` are checked by those whose keys they are."""

    table: TableKeys
    mqtt: MqttKeys = MqttKeys()
    readers: list[dict[str, Any]] = []
    decks: DeckKeys = DeckKeys()
    rules: dict[str, Any] = {}
    secrecy: SecrecyKeys = SecrecyKeys()
    state: StateKeys = StateKeys()
    metrics: MetricsKeys = MetricsKeys()
    web: WebKeys = WebKeys()


@dataclass(frozen=True)
class Config:
    """A checked configuration. Paths are absolute; `readers` are drivers with their settings."""

    path: Path
    table: TableKeys
    mqtt: MqttKeys
    readers: list[tuple[Driver, ReaderSettings]]
    decks_dir: Path
    profile: Profile
    secrecy: SecrecyKeys
    state_dir: Path
    metrics_file: Path | None = None
    web: WebKeys = field(default_factory=WebKeys)

    def setup(self) -> Setup:
        """What the core has to know. Raises ConfigError for a deck that is wrong."""
        return Setup(
            table=self.table.id,
            discipline=self.table.discipline,
            seats=self.table.seats,
            zones=zones([settings for _, settings in self.readers]),
            cards=cards(self.decks_dir),
            profile=self.profile,
            unattended=self.secrecy.unattended,
            hole_cards=self.secrecy.hole_cards,
            floor=self.secrecy.floor,
            receivers=self.secrecy.receivers,
            delay=None if self.secrecy.delay == "hand-end" else self.secrecy.delay * 1000,
        )

    def password_file(self) -> Path | None:
        """The broker's password: as configured, else what the service manager hands over."""
        credentials = os.environ.get("CREDENTIALS_DIRECTORY")
        if self.mqtt.password_file is None and self.mqtt.username and credentials:
            handed = Path(credentials) / CREDENTIAL
            return handed if handed.exists() else None
        return self.beside(self.mqtt.password_file)

    def beside(self, name: str | None) -> Path | None:
        """A path of the file, relative to it; None where none is given."""
        return None if name is None else self.path.parent / name


def load(path: Path) -> Config:
    """Read and check a configuration. Raises ConfigError that names file and key."""
    try:
        raw = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise ConfigError(f"{path}: {error.strerror}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path}: {error}") from None
    try:
        return check(path, raw)
    except ConfigError as error:
        text = str(error)
        raise ConfigError(text if str(path) in text else f"{path}: {text}") from None


def check(path: Path, raw: Mapping[str, Any]) -> Config:
    """Check the parsed file. Raises ConfigError that names the key."""
    try:
        file = msgspec.convert(raw, File)
    except msgspec.ValidationError as error:
        raise ConfigError(_plain(str(error))) from None
    if file.table.discipline == "stud" and file.table.seats > GAMES["stud"].max_seats:
        raise ConfigError("stud has at most 8 seats - at table.seats")
    readers = [_reader(number, block) for number, block in enumerate(file.readers)]
    _check_readers([settings for _, settings in readers], file.table.seats)
    _check_mode(file.secrecy)
    state = file.state.dir if file.state.dir is not UNSET else f"/var/lib/feltd/{file.table.id}"
    metrics = file.metrics.file
    return Config(
        path=path.absolute(),
        table=file.table,
        mqtt=file.mqtt,
        readers=readers,
        decks_dir=path.absolute().parent / file.decks.dir,
        profile=_profile(file.rules),
        secrecy=file.secrecy,
        state_dir=path.absolute().parent / state,
        metrics_file=None if metrics is None else path.absolute().parent / metrics,
        web=file.web,
    )


def _plain(error: str) -> str:
    """Put a msgspec message in the words of the file: `$.readers[0].baud` is readers[0].baud."""
    return error.replace("`$.", "`").replace("`$`", "the top level").replace("`", "")


def _profile(rules: Mapping[str, Any]) -> Profile:
    keys = dict(rules)
    preset = keys.pop("preset", "sport-poker")
    try:
        return profile(preset, keys)
    except RuleError as error:
        raise ConfigError(f"{error} - at rules") from None


def _reader(number: int, block: dict[str, Any]) -> tuple[Driver, ReaderSettings]:
    place = f"readers[{number}]"
    name = block.get("driver")
    if not isinstance(name, str):
        raise ConfigError(f"a driver is missing - at {place}.driver")
    try:
        driver = drivers.load(name)
    except LookupError as error:
        raise ConfigError(f"{error.args[0]} - at {place}.driver") from None
    try:
        settings = msgspec.convert(block, driver.Settings, strict=False)
    except msgspec.ValidationError as error:
        text = str(error)
        text = text.replace("`$", f"`$.{place}") if "`$" in text else f"{text} - at {place}"
        raise ConfigError(_plain(text)) from None
    return driver, settings


def _check_readers(readers: list[ReaderSettings], seats: int) -> None:
    names: set[str] = set()
    used: dict[str, str] = {}
    for reader in readers:
        if not re.fullmatch(r"[a-z0-9-]{1,32}", reader.name):
            raise ConfigError(f"the name {reader.name!r} is not [a-z0-9-]{{1,32}} - at readers")
        if reader.name in names:
            raise ConfigError(f"two readers are called {reader.name}")
        names.add(reader.name)
        for antenna, zone in reader.antennas.items():
            place = f"reader {reader.name}, antennas.{antenna}"
            _check_antenna(antenna, zone, seats, place)
            if zone in used and zone not in Shared:
                raise ConfigError(f"{zone} is used twice, at {used[zone]} and at {place}")
            used[zone] = place


def _check_antenna(antenna: int, zone: str, seats: int, place: str) -> None:
    if not 1 <= antenna <= 255:
        raise ConfigError(f"antenna numbers are 1 to 255 - at {place}")
    if not _ZONE.fullmatch(zone):
        raise ConfigError(f"{zone!r} is no zone - at {place}")
    number = seat_number(zone)
    if number is not None and not 1 <= number <= seats:
        raise ConfigError(f"{zone} is beyond the {seats} seats of the table - at {place}")


def _check_mode(secrecy: SecrecyKeys) -> None:
    for name, key in secrecy.receivers.items():
        try:
            public_key(key)
        except ConfigError as error:
            raise ConfigError(f"{error} - at secrecy.receivers.{name}") from None
    if secrecy.hole_cards == "sealed":
        if not secrecy.receivers:
            raise ConfigError("sealed needs at least one receiver - at secrecy.receivers")
        Sealer(secrecy.receivers)


def zones(readers: list[ReaderSettings]) -> dict[str, str]:
    """Zone by `reader/antenna`."""
    return {
        f"{reader.name}/{antenna}": zone
        for reader in readers
        for antenna, zone in reader.antennas.items()
    }


def cards(directory: Path) -> dict[str, tuple[str, str]]:
    """Deck and face by UID, over all decks of a folder; empty where there is none."""
    if not directory.is_dir():
        return {}
    return {
        uid: (deck.name, card) for deck in load_all(directory) for card, uid in deck.cards.items()
    }
