"""pcscd through pyscard's raw `smartcard.scard`: typed calls, errors of one line, reader names.

pyscard is an extra (`feltd[pcsc]`) and is imported at the first use.

Sources: pcsc-lite's pcsclite.h (codes and states), libccid's ifdhandler.c (CHANNEL_ID),
pcscd's readerfactory.c (`name [interface] (serial) NN SS`, NN and SS in hex).
"""

from __future__ import annotations

import contextlib
import os
import pwd
import re
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from drivers import ReaderError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

PRESENT, EMPTY, CHANGED = 0x20, 0x10, 0x02
GONE = 0x01 | 0x04 | 0x08
"""State flags ignore, unknown and unavailable: the reader is not there any more."""

TIMEOUT, CANCELLED = 0x8010000A, 0x80100002
SHARING_VIOLATION = 0x8010000B
NO_SERVICE, SECURITY_VIOLATION = 0x8010001D, 0x8010006A
CARD_TROUBLE = frozenset({
    0x8010000C,  # no smartcard
    0x8010000F,  # protocol mismatch
    0x80100015,  # invalid ATR
    0x80100016,  # not transacted: the card left in mid-command
    0x8010002F,  # communication data lost
    0x80100066,  # unresponsive card
    0x80100067,  # unpowered card
    0x80100068,  # reset card
    0x80100069,  # removed card
})  # fmt: skip
_LOST_READER = frozenset({0x80100009, 0x80100017, 0x8010002E})
_LOST_SERVICE = frozenset({0x80100003, 0x80100006, 0x80100013, 0x8010001D, 0x8010001E})

_SHARE_SHARED, _SHARE_DIRECT = 2, 3
_T0_OR_T1, _NO_PROTOCOL = 3, 0
_LEAVE_CARD = 0
_CHANNEL_ID = 0x20110
_ESCAPE = 0x42000001
_USB = 0x0020
_SYSFS = Path("/sys/bus/usb/devices")
_SOCKET = "/run/pcscd/pcscd.comm"
_NAME = re.compile(r"(?P<base>.+) (?P<number>[0-9A-F]{2}) (?P<slot>[0-9A-F]{2})")
_SAM = re.compile(r"\bSAM\b")


class RefusalError(Exception):
    """A call that PC/SC refused; `code` is its 32-bit return value."""

    def __init__(self, code: int, call: str) -> None:
        super().__init__(f"{call}: 0x{code:08X}")
        self.code = code


def explain(refusal: RefusalError, port: str) -> ReaderError:
    """The one line for a refusal that ends the use of a reader."""
    if refusal.code == SECURITY_VIOLATION:
        return ReaderError(f"{port}: {_not_allowed()}")
    if refusal.code == SHARING_VIOLATION:
        return ReaderError(f"{port}: busy, another program holds the reader for itself")
    if refusal.code in _LOST_READER:
        return ReaderError(f"{port}: the reader is unplugged")
    if refusal.code in _LOST_SERVICE:
        return ReaderError(f"{port}: {_no_service()}")
    return ReaderError(f"{port}: PC/SC refuses, {refusal}")


def _not_allowed() -> str:
    user = pwd.getpwuid(os.geteuid()).pw_name
    return (
        f"pcscd does not let user {user} in; add a polkit rule that allows the actions "
        "org.debian.pcsc-lite.access_pcsc and org.debian.pcsc-lite.access_card "
        f"to {user} or to one of its groups"
    )


def _no_service() -> str:
    socket = Path(os.environ.get("PCSCLITE_CSOCK_NAME", _SOCKET))
    if socket.exists() and not os.access(socket, os.W_OK):
        return f"no permission on {socket}, which belongs to group {socket.group()}"
    return "pcscd is not running (start pcscd.socket or pcscd)"


class Context:
    """One connection to pcscd. Calls raise `RefusalError`; ReaderError when pyscard is missing."""

    def __init__(self) -> None:
        try:
            self._scard: Any = import_module("smartcard.scard")
        except ImportError as error:
            raise ReaderError(f"driver pcsc needs pyscard: install feltd[pcsc] ({error})") from None
        self._context = self._call(self._scard.SCardEstablishContext, 2)[0]

    def _call(self, function: Callable[..., Any], *arguments: object) -> Sequence[Any]:
        result = function(*arguments)
        code, values = (result[0], result[1:]) if isinstance(result, list | tuple) else (result, ())
        if code & 0xFFFFFFFF:
            raise RefusalError(code & 0xFFFFFFFF, function.__name__)
        return values

    def readers(self) -> list[str]:
        """The names of all readers, possibly none."""
        try:
            names: list[str] = self._call(self._scard.SCardListReaders, self._context, [])[0]
        except RefusalError as refusal:
            if refusal.code in _LOST_READER:
                return []
            raise
        return names

    def wait(self, reader: str, state: int, seconds: float) -> int:
        """The reader's state word once it differs from `state`, or `state` after `seconds`."""
        question = [(reader, state)]
        try:
            (states,) = self._call(
                self._scard.SCardGetStatusChange, self._context, int(seconds * 1000), question
            )
        except RefusalError as refusal:
            if refusal.code in {TIMEOUT, CANCELLED}:
                return state
            raise
        word: int = states[0][1]
        return word & ~CHANGED & 0xFFFFFFFF

    def connect(self, reader: str) -> tuple[Any, int]:
        """A handle on the card in the reader, and its protocol; shared with other programs."""
        return self._connect(reader, _SHARE_SHARED, _T0_OR_T1)

    def _connect(self, reader: str, share: int, protocol: int) -> tuple[Any, int]:
        handle, active = self._call(
            self._scard.SCardConnect, self._context, reader, share, protocol
        )
        return handle, active

    def transmit(self, card: tuple[Any, int], command: bytes) -> bytes:
        """The R-APDU to a C-APDU."""
        handle, protocol = card
        (answer,) = self._call(self._scard.SCardTransmit, handle, protocol, list(command))
        return bytes(byte & 0xFF for byte in answer)

    def disconnect(self, card: tuple[Any, int]) -> None:
        """Give a handle back and leave the card as it is.

        A card swapped while it is being powered down stays unseen by pcscd 1.9.9 for good.
        """
        with contextlib.suppress(RefusalError):
            self._call(self._scard.SCardDisconnect, card[0], _LEAVE_CARD)

    def escape(self, reader: str, commands: Iterable[bytes]) -> bool:
        """Whether commands went to the reader itself, without a card; most drivers refuse."""
        try:
            direct = self._connect(reader, _SHARE_DIRECT, _NO_PROTOCOL)
        except RefusalError:
            return False
        try:
            for command in commands:
                self._call(self._scard.SCardControl, direct[0], _ESCAPE, list(command))
        except RefusalError:
            return False
        finally:
            self.disconnect(direct)
        return True

    def usb_path(self, reader: str) -> str | None:
        """The USB port the reader hangs on, as in sysfs (`1-1.4`); None when it is not told."""
        try:
            direct = self._connect(reader, _SHARE_DIRECT, _NO_PROTOCOL)
        except RefusalError:
            return None
        try:
            (value,) = self._call(self._scard.SCardGetAttrib, direct[0], _CHANNEL_ID)
        except RefusalError:
            return None
        finally:
            self.disconnect(direct)
        return _sysfs_name(int.from_bytes(bytes(value[:4]), "little"))

    def cancel(self) -> None:
        """End a wait that goes on in another thread."""
        self._scard.SCardCancel(self._context)

    def close(self) -> None:
        """Give the connection back."""
        self._scard.SCardReleaseContext(self._context)


def _sysfs_name(channel: int) -> str | None:
    if channel >> 16 != _USB:
        return None
    wanted = (channel >> 8 & 0xFF, channel & 0xFF)
    for device in sorted(_SYSFS.glob("*/busnum")):
        numbers = device.read_text(), device.with_name("devnum").read_text()
        if (int(numbers[0]), int(numbers[1])) == wanted:
            return device.parent.name
    return None


def base_and_slot(name: str) -> tuple[str, str]:
    """A reader's name without the number that follows the order of plugging in."""
    match = _NAME.fullmatch(name)
    return (match["base"], match["slot"]) if match else (name, "00")


def is_sam(name: str) -> bool:
    """Whether this is a reader's slot for a security module, where no card ever lies."""
    return _SAM.search(name) is not None


def choose(port: str, names: Sequence[str], usb_path: Callable[[str], str | None]) -> str:
    """The one reader that `port` means.

    In this order: `usb:PATH`, the name but for its running number, a part of the name, a
    regular expression; of two interfaces of one device the one that is no SAM. ReaderError
    when none or several remain.
    """
    if port.startswith("usb:"):
        found = [name for name in names if usb_path(name) == port.removeprefix("usb:")]
    else:
        found = _by_name(port, names)
    found = [name for name in found if not is_sam(name)] or found
    if not found:
        seen = ", ".join(names) or "none"
        raise ReaderError(f"{port}: no PC/SC reader of this name (found: {seen})")
    if len(found) > 1:
        raise ReaderError(
            f"{port}: {len(found)} PC/SC readers match ({', '.join(found)}), and their numbers "
            "change from start to start; name a serial number or usb:PATH"
        )
    return found[0]


def _by_name(port: str, names: Sequence[str]) -> list[str]:
    wanted = base_and_slot(port)
    low = port.casefold()
    return (
        [name for name in names if base_and_slot(name) == wanted]
        or [name for name in names if low in name.casefold()]
        or [name for name in names if _matches(port, name)]
    )


def _matches(pattern: str, name: str) -> bool:
    try:
        return re.search(pattern, name) is not None
    except re.error:
        return False


def stable_port(name: str, names: Sequence[str], usb: str | None) -> str | None:
    """What to write as `port` so that it still means this reader after a restart."""
    base, slot = base_and_slot(name)
    same = [other for other in names if base_and_slot(other)[0] == base]
    if len(same) == 1:
        return base
    if sum(base_and_slot(other)[1] == slot for other in same) == 1:
        return name
    return f"usb:{usb}" if usb else None
