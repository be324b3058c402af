"""Who may command: a password for each role, sessions that end, and no hurry for guessers."""

from __future__ import annotations

import asyncio
import re
import secrets
import time
from collections import OrderedDict, deque
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from daemon.web.credentials import digest_of, hash_password, is_right

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

IDLE = 2 * 3600.0
MOST_SESSIONS = 50
MOST_ADDRESSES = 1_000
FAILURES, WITHIN = 5, 60.0
COMMANDS, PER = 20, 10.0
NAME = re.compile(r"[\w .-]{1,24}")


@dataclass
class Session:
    """One log-in; `csrf` has to come with every command."""

    role: str
    name: str
    ends: float
    idle: float
    csrf: str = field(default_factory=lambda: secrets.token_urlsafe(24))
    commands: deque[float] = field(default_factory=deque)

    @property
    def by(self) -> str:
        """How commands are signed."""
        return f"{self.role}/{self.name}"


class SlowDownError(Exception):
    """Too many attempts; the person has to wait."""


class Doorkeeper:
    """Checks passwords and keeps sessions, in memory: a restart logs everybody out."""

    def __init__(
        self, hashes: Mapping[str, str], hours: float, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._hashes = hashes
        self._lasts = hours * 3600
        self._clock = clock
        self._decoy = hash_password(secrets.token_hex(8))
        self._sessions: OrderedDict[str, Session] = OrderedDict()
        self._failures: OrderedDict[str, deque[float]] = OrderedDict()
        self._one_at_a_time = asyncio.Lock()
        self._in_line = 0

    @property
    def roles(self) -> list[str]:
        """Roles that can log in."""
        return sorted(self._hashes)

    async def admit(self, role: str, name: str, password: str, address: str) -> str | None:
        """A new session's cookie, or None. Raises SlowDownError; takes as long for any role."""
        recent = self._recent(address)
        if len(recent) >= FAILURES or self._in_line >= FAILURES:
            raise SlowDownError
        recent.append(self._clock())
        self._in_line += 1
        try:
            async with self._one_at_a_time:
                known = self._hashes.get(role, self._decoy)
                right = await asyncio.to_thread(is_right, known, password)
        finally:
            self._in_line -= 1
        if not right or role not in self._hashes or not NAME.fullmatch(name):
            return None
        self._failures.pop(address, None)
        return self._open(role, name)

    def session(self, cookie: str | None) -> Session | None:
        """The session of a cookie while it lasts."""
        key = digest_of(cookie or "")
        session = self._sessions.get(key)
        if session is None:
            return None
        if self._clock() >= min(session.ends, session.idle):
            del self._sessions[key]
            return None
        return session

    def lasts(self, session: Session) -> bool:
        """Whether it has neither ended nor been logged out."""
        return session in self._sessions.values() and self._clock() < min(
            session.ends, session.idle
        )

    def use(self, session: Session) -> None:
        """Count a command. Raises SlowDownError."""
        now = self._clock()
        while session.commands and session.commands[0] <= now - PER:
            session.commands.popleft()
        if len(session.commands) >= COMMANDS:
            raise SlowDownError
        session.commands.append(now)
        session.idle = now + IDLE

    def leave(self, cookie: str | None) -> None:
        """Log out."""
        self._sessions.pop(digest_of(cookie or ""), None)

    def _open(self, role: str, name: str) -> str:
        now, cookie = self._clock(), secrets.token_urlsafe(32)
        self._sessions[digest_of(cookie)] = Session(role, name, now + self._lasts, now + IDLE)
        if len(self._sessions) > MOST_SESSIONS:
            self._sessions.popitem(last=False)
        return cookie

    def _recent(self, address: str) -> deque[float]:
        recent = self._failures.setdefault(address, deque())
        self._failures.move_to_end(address)
        if len(self._failures) > MOST_ADDRESSES:
            self._failures.popitem(last=False)
        while recent and recent[0] <= self._clock() - WITHIN:
            recent.popleft()
        return recent
