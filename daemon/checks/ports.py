"""Checks of the readers' ports: there, free, allowed, and the same tomorrow."""

from __future__ import annotations

import asyncio
import errno
import fcntl
import grp
import os
import pwd
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from daemon.checks.words import Finding, finding
from daemon.readers import twins
from drivers import ReaderError
from drivers._ports import holders, place, resolve, unsteady
from drivers._scard import NO_SERVICE, SECURITY_VIOLATION, Context, RefusalError, choose, explain

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator

    from daemon.config import Config
    from drivers import ReaderSettings

PATIENCE = 3.0
_GONE = frozenset({errno.ENOENT, errno.ENXIO, errno.ENODEV})


async def check_ports(config: Config) -> AsyncIterator[Finding]:
    """Every reader's port, in the order of the configuration."""
    several = twins(config.readers)
    seen: dict[str, str] = {}
    for driver, settings in config.readers:
        if driver.__name__.endswith(".pcsc"):  # type: ignore[attr-defined]  # a module
            yield await _pcsc(settings)
            continue
        where = place(settings.port)
        if where in seen:
            names = {"reader": settings.name, "port": settings.port, "other": seen[where]}
            yield finding("port-twice", **names)
            continue
        seen[where] = settings.name
        if settings.port.startswith("socket://"):
            yield await _host(settings)
            continue
        for found in check_serial(settings, lone=settings.name not in several):
            yield found


def check_serial(settings: ReaderSettings, *, lone: bool) -> Iterator[Finding]:
    """Open the port as the daemon would, and give it back at once."""
    names = {"reader": settings.name, "port": settings.port}
    try:
        path = resolve(settings.port)
    except ReaderError as error:
        yield finding("port-rule", reader=settings.name, error=error)
        return
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_NOCTTY | os.O_NONBLOCK)
    except OSError as error:
        yield _blamed(names, path, error)
        return
    try:
        yield _opened(names, path, descriptor)
    finally:
        os.close(descriptor)
    reason = unsteady(settings.port, lone=lone)
    if reason is not None:
        yield finding("port-unsteady", reader=settings.name, error=reason)


def _opened(names: dict[str, str], path: str, descriptor: int) -> Finding:
    if not os.isatty(descriptor):
        return finding("port-other", **names, error="not a serial port")
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return finding("port-busy", **names, holders=_others(path))
    others = [each for each in holders(path) if f"(pid {os.getpid()})" not in each]
    if others and not _is_pty(path):
        return finding("port-busy", **names, holders=", ".join(others))
    return finding("port", **names)


def _blamed(names: dict[str, str], path: str, error: OSError) -> Finding:
    if error.errno in _GONE:
        return finding("port-missing", **names)
    if error.errno in {errno.EACCES, errno.EPERM}:
        return finding("port-forbidden", **names, group=_group(path), user=_user())
    if error.errno in {errno.EBUSY, errno.EAGAIN}:
        return finding("port-busy", **names, holders=_others(path))
    return finding("port-other", **names, error=error.strerror)


def _others(path: str) -> str:
    mine = f"(pid {os.getpid()})"
    return ", ".join(each for each in holders(path) if mine not in each) or "another user's program"


def _is_pty(path: str) -> bool:
    """The other end of a pseudo-terminal is often held by the process that made both."""
    return str(Path(path).resolve()).startswith("/dev/pts/")


def _group(path: str) -> str:
    try:
        return grp.getgrgid(Path(path).stat().st_gid).gr_name
    except (OSError, KeyError):
        return "dialout"


def _user() -> str:
    return pwd.getpwuid(os.geteuid()).pw_name


async def _host(settings: ReaderSettings) -> Finding:
    parts = urlsplit(settings.port)
    names = {"reader": settings.name, "port": settings.port}
    try:
        async with asyncio.timeout(PATIENCE):
            _, writer = await asyncio.open_connection(parts.hostname, parts.port)
    except TimeoutError:
        return finding("host-silent", **names, error="no answer")
    except (OSError, ValueError) as error:
        return finding("host-silent", **names, error=_reason(error))
    writer.close()
    return finding("port", **names)


def _reason(error: Exception) -> str:
    return (error.strerror if isinstance(error, OSError) else None) or str(error)


async def _pcsc(settings: ReaderSettings) -> Finding:
    try:
        async with asyncio.timeout(PATIENCE):
            return await asyncio.to_thread(check_pcsc, settings)
    except TimeoutError:
        return finding("pcsc-off", reader=settings.name)


def check_pcsc(settings: ReaderSettings) -> Finding:
    """Ask pcscd for its readers and choose the one that is meant."""
    try:
        context = Context()
    except RefusalError as refusal:
        return _refused(settings, refusal)
    except ReaderError as error:
        return finding("pcsc-other", reader=settings.name, error=error)
    try:
        name = choose(settings.port, context.readers(), context.usb_path)
    except RefusalError as refusal:
        return _refused(settings, refusal)
    except ReaderError as error:
        return finding("pcsc-other", reader=settings.name, error=error)
    finally:
        context.close()
    return finding("pcsc", reader=settings.name, port=settings.port, name=name)


def _refused(settings: ReaderSettings, refusal: RefusalError) -> Finding:
    error = explain(refusal, settings.port)
    if refusal.code == SECURITY_VIOLATION or "no permission" in str(error):
        return finding("pcsc-forbidden", reader=settings.name, error=error)
    if refusal.code == NO_SERVICE:
        return finding("pcsc-off", reader=settings.name)
    return finding("pcsc-other", reader=settings.name, error=error)
