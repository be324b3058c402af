"""Checks of what lies on this machine: decks, state directory, disk, clock."""

from __future__ import annotations

import ctypes
import fcntl
import os
import shutil
import tempfile
from typing import TYPE_CHECKING

from daemon import decks
from daemon.checks.words import Finding, finding
from daemon.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from daemon.config import Config

MEGABYTE = 1 << 20
LEAST_FREE = 200 * MEGABYTE
LEAST_SHARE = 0.05

_UNSYNCHRONISED = 0x40
"""STA_UNSYNC of adjtimex(2)."""
_TIMEX_BYTES = 512
_STATUS_AT = 5 * ctypes.sizeof(ctypes.c_long)
"""`status` follows modes (padded), offset, freq, maxerror and esterror in struct timex."""


def check_decks(config: Config) -> Iterator[Finding]:
    """Every deck has its 52 cards, none has a tag of another, nobody else reads them."""
    folder = config.decks_dir
    found = decks.files(folder) if folder.is_dir() else []
    if not found:
        yield finding("deck-none", folder=folder)
        return
    wrong = False
    for path in found:
        try:
            deck = decks.load(path)
        except ConfigError as error:
            wrong = True
            yield finding("deck-wrong", error=error)
        else:
            yield finding("deck", deck=deck.name)
            if path.stat().st_mode & 0o077 and folder.stat().st_mode & 0o077:
                yield finding("deck-open", path=path)
    if not wrong:
        try:
            decks.load_all(folder)
        except ConfigError as error:
            yield finding("deck-wrong", error=error)


def check_state(config: Config) -> Iterator[Finding]:
    """The state directory can be written, is nobody else's, and has room."""
    place = config.state_dir
    while not place.exists() and place != place.parent:
        place = place.parent
    try:
        with tempfile.TemporaryFile(dir=place):
            pass
    except OSError as error:
        yield finding("state-forbidden", path=place, error=error.strerror)
    else:
        yield finding("state", path=config.state_dir)
    if _locked(config.state_dir / "lock"):
        yield finding("state-busy", table=config.table.id)
    yield from check_disk(place)


def check_disk(place: Path) -> Iterator[Finding]:
    """The disk has room for the journal of an evening."""
    total, _, free = shutil.disk_usage(place)
    key = "disk-full" if free < LEAST_FREE or free < LEAST_SHARE * total else "disk"
    yield finding(key, path=place, free=free // MEGABYTE, share=100 * free // max(total, 1))


def check_clock(status: int | None = None) -> Iterator[Finding]:
    """The kernel says that something keeps its clock right; `status` as adjtimex(2) tells it."""
    word = _clock_status() if status is None else status
    yield finding("clock-free" if word & _UNSYNCHRONISED else "clock")


def check_user(config: Config) -> Iterator[Finding]:
    """Who checks is who will run."""
    if os.geteuid() == 0:
        yield finding("as-root", path=config.path)


def _clock_status() -> int:
    timex = ctypes.create_string_buffer(_TIMEX_BYTES)
    ctypes.CDLL(None).adjtimex(timex)
    return ctypes.c_int.from_buffer(timex, _STATUS_AT).value


def _locked(path: Path) -> bool:
    """Whether a feltd holds the journal; asked for, never taken."""
    try:
        descriptor = os.open(path, os.O_RDONLY)
    except OSError:
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(descriptor)
    return False
