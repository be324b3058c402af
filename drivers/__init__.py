"""RFID reader families, one file each, and what they all yield.

A driver is a module of this package with three names: `Settings` (the keys of its
`[[readers]]` block), `Decoder` (bytes in, frames out; no I/O and no clock) and
`read(settings)`, an asynchronous generator of `Look`s. Nothing here imports `daemon`.
"""

from __future__ import annotations

import importlib
import pkgutil
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, cast

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator


class ReaderError(Exception):
    """A reader cannot be used now; the one line says which port and why.

    Raised by `read`. Whoever supervises the reader waits and tries again.
    """


@dataclass(frozen=True, slots=True)
class Look:
    """Everything that one antenna saw in one pass, possibly nothing.

    `tags` are UIDs in upper-case hex, most significant byte first, of 4, 7, 8 or 10 bytes.
    `partial` means that the reader may have missed some: what it heard counts, what it did
    not hear is no evidence. `errors` counts the damaged frames met since the look before.
    """

    reader: str
    antenna: int
    tags: tuple[str, ...] = ()
    partial: bool = False
    errors: int = 0


@dataclass(frozen=True, slots=True)
class ReaderUp:
    """The reader answers (again)."""

    reader: str


@dataclass(frozen=True, slots=True)
class ReaderDown:
    """The reader is lost; `error` is the one line that says why."""

    reader: str
    error: str


class ReaderSettings(Protocol):
    """What the `Settings` of every driver have."""

    @property
    def name(self) -> str:
        """The reader's name, as in its `[[readers]]` block."""

    @property
    def port(self) -> str:
        """Path, match rule, `socket://host:port` or PC/SC reader name."""

    @property
    def antennas(self) -> dict[int, str]:
        """Zone by antenna number, 1 to 255."""


class Driver(Protocol):
    """The three names of a driver module.

    `read` yields looks until it is closed. It raises `ReaderError`, or an `OSError` of the
    system, when the reader cannot be used; it never ends by itself.
    """

    @property
    def Settings(self) -> type[Any]:  # noqa: N802 - a class of the module
        """A frozen msgspec structure that refuses unknown keys."""

    @property
    def Decoder(self) -> type[Any]:  # noqa: N802 - a class of the module
        """Bytes in, frames out; constructed without arguments."""

    def read(self, settings: Any, /) -> AsyncGenerator[Look, None]:  # noqa: ANN401 - its own Settings
        """Open the port and yield looks."""


def known() -> list[str]:
    """The names that `driver =` may have, sorted."""
    return sorted(
        module.name
        for module in pkgutil.iter_modules(__path__)
        if not module.ispkg and not module.name.startswith("_")
    )


def load(name: str) -> Driver:
    """The driver module of that name; `LookupError` lists the known ones."""
    if name not in known():
        raise LookupError(f'unknown driver "{name}"; known are {", ".join(known())}')
    return cast("Driver", importlib.import_module(f"{__name__}.{name}"))
