"""Passwords and tokens as they lie on disk: hashes alone, for their owner alone."""

from __future__ import annotations

import hashlib
import hmac
import os
import re
import secrets
from typing import TYPE_CHECKING

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError

from daemon.errors import ConfigError, FeltdError

if TYPE_CHECKING:
    from pathlib import Path

_HASHER = PasswordHasher()


def hash_password(password: str) -> str:
    """The line for a password file (argon2id)."""
    return _HASHER.hash(password)


def is_right(known: str, password: str) -> bool:
    """Whether a password belongs to a hash; takes some 50 ms of a processor."""
    try:
        return _HASHER.verify(known, password)
    except (VerificationError, InvalidHashError):
        return False


def read_hash(path: Path) -> str:
    """The hash in a role's password file. Raises ConfigError that names the file."""
    try:
        text = path.read_text(encoding="ascii").strip()
    except OSError as error:
        raise ConfigError(f"{path}: {error.strerror}") from None
    except UnicodeDecodeError:
        text = ""
    if not text.startswith("$argon2id$"):
        raise ConfigError(f"{path}: no argon2id hash; feltd web --new-password writes one")
    return text


def write_password(path: Path, password: str) -> None:
    """Write the hash of a password to a file of its owner alone. Raises FeltdError."""
    _write(path, hash_password(password) + "\n", os.O_TRUNC)


def add_token(path: Path, name: str) -> str:
    """Add the digest of a new token to a file; the token itself is nowhere but in the answer.

    Raises FeltdError for a name that is not [a-z0-9-], or a file that cannot be written.
    """
    if not re.fullmatch("[a-z0-9-]{1,32}", name):
        raise FeltdError(f"the name {name!r} is not [a-z0-9-]{{1,32}}")
    token = secrets.token_urlsafe(32)
    _write(path, f"{name} {digest_of(token)}\n", os.O_APPEND)
    return token


def _write(path: Path, text: str, how: int) -> None:
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | how, 0o600)
        with os.fdopen(descriptor, "w", encoding="ascii") as file:
            file.write(text)
    except OSError as error:
        raise FeltdError(f"{path}: {error.strerror}") from None


class Tokens:
    """Tokens of those who may see hole cards: lines of a name and a SHA-256 in hex.

    Raises ConfigError that names the file.
    """

    def __init__(self, path: Path) -> None:
        try:
            lines = path.read_text(encoding="utf-8").splitlines()
        except (OSError, UnicodeDecodeError) as error:
            raise ConfigError(f"{path}: {getattr(error, 'strerror', 'not text')}") from None
        self._known: dict[str, str] = {}
        for line in filter(str.strip, lines):
            name, _, digest = line.strip().partition(" ")
            if not re.fullmatch("[0-9a-f]{64}", digest):
                raise ConfigError(f"{path}: a line is a name and 64 hex digits")
            self._known[digest] = name

    def whose(self, token: str) -> str | None:
        """The name that goes with a token."""
        digest = digest_of(token)
        found = [name for known, name in self._known.items() if hmac.compare_digest(known, digest)]
        return found[0] if found else None


def digest_of(token: str) -> str:
    """What is kept of a token, which is random and long."""
    return hashlib.sha256(token.encode(errors="replace")).hexdigest()
