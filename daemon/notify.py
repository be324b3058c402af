"""Telling systemd how the service is: sd_notify(3) over its datagram socket."""

from __future__ import annotations

import os
import socket
import time

NOTIFY_SOCKET = "NOTIFY_SOCKET"
PATIENCE = 1.0
"""Seconds that a manager may take to make room for a message."""


def notify(*lines: str, patience: float = PATIENCE) -> bool:
    """Send assignments such as `READY=1`; False where no service manager listens."""
    address = os.environ.get(NOTIFY_SOCKET)
    if not address:
        return False
    if address.startswith("@"):
        address = "\0" + address[1:]
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_CLOEXEC) as sock:
        sock.settimeout(patience)
        try:
            sock.connect(address)
            sock.sendall("\n".join(lines).encode())
        except OSError:
            return False
    return True


def reloading() -> bool:
    """Say that the configuration is being read again (needs the clock of the manager)."""
    return notify("RELOADING=1", f"MONOTONIC_USEC={time.monotonic_ns() // 1000}")


def watchdog_period() -> float | None:
    """Seconds between two signs of life, None where the manager wants none from this process."""
    usec = os.environ.get("WATCHDOG_USEC", "")
    pid = os.environ.get("WATCHDOG_PID", str(os.getpid()))
    if not usec.isdigit() or pid != str(os.getpid()):
        return None
    return int(usec) / 3_000_000


class Heartbeat:
    """Signs of life of a loop that calls `beat` whenever it got round, and of nothing else.

    `period` in seconds is the longest that the loop may wait for work; None where nobody watches.
    """

    def __init__(self) -> None:
        self.period = watchdog_period()
        self._due = 0.0
        self._said = ""

    def beat(self, status: str) -> None:
        """The loop has got round; tell that, and the status line where it changed.

        Never waits for the manager: what it has no room for is told the next time.
        """
        now = time.monotonic()
        due = self.period is not None and now >= self._due
        if not due and status == self._said:
            return
        lines = ["WATCHDOG=1"] if due else []
        if status != self._said:
            lines.append(f"STATUS={status}")
        if not notify(*lines, patience=0) and NOTIFY_SOCKET in os.environ:
            return
        self._said = status
        if due and self.period is not None:
            self._due = now + self.period
