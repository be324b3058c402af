"""Which serial port is meant, who has it, and whether its name will still be its own tomorrow."""

from __future__ import annotations

import errno
import grp
import re
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from drivers import ReaderError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

_RULE = re.compile(r"(vid|pid|serial|location)=[^,]+(,(vid|pid|serial|location)=[^,]+)*")
_COUNTED = re.compile(r"/dev/tty(USB|ACM)\d+")


class PortInfo(Protocol):
    """What pyserial's `list_ports` says about a port."""

    device: str
    vid: int | None
    pid: int | None
    serial_number: str | None
    location: str | None


def ports() -> Sequence[PortInfo]:
    """The serial ports of this machine."""
    from serial.tools.list_ports import comports  # noqa: PLC0415 - only a match rule needs it

    return list(comports())


def is_rule(port: str) -> bool:
    """Whether the port is named by a match rule (`vid=0403,pid=6001,serial=...`)."""
    return _RULE.fullmatch(port) is not None


def resolve(port: str, found: Iterable[PortInfo] | None = None) -> str:
    """The device path that a port or match rule names; URLs and paths are returned as they are.

    A rule must match exactly one port, else `ReaderError` says how many it matched.
    """
    if not is_rule(port):
        return port
    rule = dict(part.split("=", 1) for part in port.split(","))
    matches = [info.device for info in (ports() if found is None else found) if _fits(info, rule)]
    if len(matches) != 1:
        what = f"{len(matches)} ports ({', '.join(matches)})" if matches else "no port"
        raise ReaderError(f"{port}: {what} on this machine match{'' if matches else 'es'}")
    return matches[0]


def place(port: str) -> str:
    """What is the same for two names of one physical port; names that resolve to none stay."""
    try:
        path = resolve(port)
    except ReaderError:
        return port
    return str(Path(path).resolve()) if path.startswith("/") else path.lower()


def unsteady(
    port: str, found: Iterable[PortInfo] | None = None, *, lone: bool = False
) -> str | None:
    """Why this name may belong to another reader after a reboot, or None when it will not.

    A name counted in the order of discovery does for the `lone` reader of its family.
    """
    if _COUNTED.fullmatch(port) and not lone:
        return f"{port}: counted in the order of discovery, {_better(port)}"
    if "/serial/by-id/" not in port or not Path(port).exists():
        return None
    device = str(Path(port).resolve())
    listed = list(ports() if found is None else found)
    twins = [info for info in listed if _identity(info) == _identity_of(device, listed)]
    if len(twins) < 2:
        return None
    others = ", ".join(sorted(info.device for info in twins))
    return f"{port}: {others} share this name, use their /dev/serial/by-path names"


def holders(path: str) -> list[str]:
    """The processes that have the device open, as far as /proc tells: `name (pid N)`."""
    device = Path(path).resolve()
    found = (process for process in Path("/proc").iterdir() if process.name.isdigit())
    return sorted(f"{_comm(each)} (pid {each.name})" for each in found if _has_open(each, device))


def blame(path: str, error: OSError, line: str) -> str:
    """One line on why a port cannot be opened: which port, and what to do about it."""
    if isinstance(error, FileNotFoundError) or error.errno == errno.ENOENT:
        return f"{path}: not there; is the reader plugged in?"
    if error.errno in {errno.EACCES, errno.EPERM}:
        return f"{path}: no permission; this user must be in group {_group(path)}"
    if error.errno in {errno.EBUSY, errno.EAGAIN}:
        return f"{path}: in use by {', '.join(holders(path)) or 'a process of another user'}"
    if error.errno in {errno.ENOTTY, errno.EISDIR}:
        return f"{path}: not a serial port"
    if error.errno == errno.EINVAL:
        return f"{path}: does not take the line settings {line}"
    return f"{path}: {error.strerror or error}"


def _fits(info: PortInfo, rule: dict[str, str]) -> bool:
    values = {
        "vid": "" if info.vid is None else f"{info.vid:04x}",
        "pid": "" if info.pid is None else f"{info.pid:04x}",
        "serial": (info.serial_number or "").lower(),
        "location": (info.location or "").lower(),
    }
    return all(values[key] == wanted.lower() for key, wanted in rule.items())


def _identity(info: PortInfo) -> tuple[int | None, int | None, str | None]:
    return info.vid, info.pid, info.serial_number


def _identity_of(
    device: str, found: Iterable[PortInfo]
) -> tuple[int | None, int | None, str | None] | None:
    return next((_identity(info) for info in found if info.device == device), None)


def _better(port: str) -> str:
    for folder in (Path("/dev/serial/by-id"), Path("/dev/serial/by-path")):
        for link in sorted(folder.glob("*")):
            if str(link.resolve()) == port:
                return f"use {link}"
    return "use its name under /dev/serial/by-id or by-path"


def _group(path: str) -> str:
    try:
        gid = Path(path).stat().st_gid
    except OSError:
        return "dialout"
    try:
        return grp.getgrgid(gid).gr_name
    except KeyError:
        return str(gid)


def _has_open(process: Path, device: Path) -> bool:
    try:
        return any(fd.readlink() == device for fd in (process / "fd").iterdir())
    except OSError:
        return False


def _comm(process: Path) -> str:
    try:
        return (process / "comm").read_text().strip()
    except OSError:
        return "a process"
