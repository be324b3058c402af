"""Hole cards for named receivers alone: libsodium sealed boxes, and the keys that open them.

A sealed box is `epk || crypto_box(message, nonce, pk, esk)`, nonce = BLAKE2b-192(epk || pk)
(https://doc.libsodium.org/public-key_cryptography/sealed_boxes). Its one-time key is drawn from the
hand's secret key and the message, so that the same inputs give the same messages.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import os
from typing import TYPE_CHECKING

from daemon.errors import ConfigError, FeltdError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from daemon.engine import Seal
    from daemon.setup import Setup

KEY_BYTES = 32
NONCE_BYTES = 24
_DOMAIN = b"feltd1-box|"


def public_key(text: str) -> bytes:
    """A receiver's public key from base64. Raises ConfigError that does not repeat it."""
    try:
        key = base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        raise ConfigError("not base64") from None
    if len(key) != KEY_BYTES:
        raise ConfigError(f"{len(key)} bytes instead of {KEY_BYTES}")
    if not any(key):
        raise ConfigError("not a public key")
    return key


class Sealer:
    """Seals messages for `receivers`, public keys in base64 by name. Raises ConfigError.

    The error names the receiver whose key is no good, or what has to be installed.
    """

    def __init__(self, receivers: Mapping[str, str]) -> None:
        try:
            from nacl.exceptions import CryptoError  # noqa: PLC0415  an extra
            from nacl.public import Box, PrivateKey, PublicKey, SealedBox  # noqa: PLC0415
        except ImportError:
            raise ConfigError("sealed needs PyNaCl: pip install 'feltd[sealed]'") from None
        self._box, self._sealed_box, self._private = Box, SealedBox, PrivateKey
        self._keys: dict[str, PublicKey] = {}
        for name, text in receivers.items():
            try:
                self._keys[name] = PublicKey(public_key(text))
                self.seal(name, b"", "00")
            except ConfigError as error:
                raise ConfigError(f"{error} - at secrecy.receivers.{name}") from None
            except CryptoError:
                place = f"secrecy.receivers.{name}"
                raise ConfigError(f"not a public key - at {place}") from None

    def seal(self, to: str, message: bytes, key: str | None) -> str:
        """The box in base64. `key` is the hand's, in hex; without one the box is random."""
        receiver = self._keys[to]
        if key is None:
            return base64.b64encode(self._sealed_box(receiver).encrypt(message)).decode()
        secret = bytes.fromhex(key)
        once = self._private(hmac.digest(secret, _DOMAIN + f"{to}|".encode() + message, "sha256"))
        ours, theirs = bytes(once.public_key), bytes(receiver)
        nonce = hashlib.blake2b(ours + theirs, digest_size=NONCE_BYTES).digest()
        box = self._box(once, receiver).encrypt(message, nonce).ciphertext
        return base64.b64encode(ours + box).decode()


def sealer(setup: Setup) -> Seal | None:
    """How a table seals, or None where it does not. Raises ConfigError for a receiver's key."""
    return Sealer(setup.receivers).seal if setup.hole_cards == "sealed" else None


class Opener:
    """Opens boxes with the private key of a file. Raises FeltdError that names the file."""

    def __init__(self, path: Path) -> None:
        try:
            from nacl.exceptions import CryptoError  # noqa: PLC0415  an extra
            from nacl.public import PrivateKey, SealedBox  # noqa: PLC0415
        except ImportError:
            raise FeltdError("sealed boxes need PyNaCl: pip install 'feltd[sealed]'") from None
        try:
            key = base64.b64decode(path.read_text(encoding="ascii").strip(), validate=True)
            self._opener = SealedBox(PrivateKey(key))
        except OSError as error:
            raise FeltdError(f"{path}: {error.strerror}") from None
        except (ValueError, TypeError, CryptoError):
            raise FeltdError(f"{path}: no private key") from None
        self._failed = CryptoError

    def open(self, box: str) -> bytes | None:
        """The message in a box, or None where it is not for this key."""
        try:
            return self._opener.decrypt(base64.b64decode(box, validate=True))
        except (binascii.Error, ValueError, TypeError, self._failed):
            return None


def new_pair(path: Path) -> str:
    """Write a new private key to a new file of its owner alone; the public one in base64.

    Raises FeltdError where the file exists or cannot be written.
    """
    try:
        from nacl.public import PrivateKey  # noqa: PLC0415  an extra
    except ImportError:
        raise FeltdError("keys need PyNaCl: pip install 'feltd[sealed]'") from None
    pair = PrivateKey.generate()
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        os.fchmod(descriptor, 0o600)
        with os.fdopen(descriptor, "wb") as file:
            file.write(base64.b64encode(bytes(pair)) + b"\n")
    except OSError as error:
        raise FeltdError(f"{path}: {error.strerror}") from None
    return base64.b64encode(bytes(pair.public_key)).decode()
