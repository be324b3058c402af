"""The table's Ed25519 key: records are signed with it, anybody can check them with the public one.

PyNaCl is an extra (`feltd[sealed]`); without it records are chained but not signed.
"""

from __future__ import annotations

import base64
import binascii
import logging
import os
from typing import TYPE_CHECKING

from daemon.errors import FeltdError

if TYPE_CHECKING:
    from pathlib import Path

    from nacl.signing import SigningKey

log = logging.getLogger("feltd.records")

KEY_FILE = "table.key"
_DOMAIN = b"feltd1-record|"


class Signer:
    """Signs the heads of one table's records; `public` is the public key in base64."""

    def __init__(self, key: SigningKey) -> None:
        self._key = key
        self.public = base64.b64encode(bytes(key.verify_key)).decode()

    def sign(self, head: str) -> str:
        """The signature of a head (hex), in base64."""
        return base64.b64encode(self._key.sign(_DOMAIN + head.encode()).signature).decode()


def signer(directory: Path) -> Signer | None:
    """The table's signer, with a new key where there is none; None where nothing can be signed."""
    try:
        from nacl.signing import SigningKey  # noqa: PLC0415  an extra
    except ImportError:
        return None
    path = directory / KEY_FILE
    try:
        if not path.exists():
            _write(path, base64.b64encode(bytes(SigningKey.generate())))
        return read(path)
    except (OSError, FeltdError) as error:
        log.error("records are not signed: %s", error)  # noqa: TRY400 - the line says it all
        return None


def read(path: Path) -> Signer:
    """The signer of a key file. Raises FeltdError that names the file."""
    try:
        from nacl.signing import SigningKey  # noqa: PLC0415  an extra
    except ImportError:
        raise FeltdError("keys need PyNaCl: pip install 'feltd[sealed]'") from None
    try:
        return Signer(SigningKey(base64.b64decode(path.read_bytes().strip(), validate=True)))
    except OSError as error:
        raise FeltdError(f"{path}: {error.strerror}") from None
    except (ValueError, TypeError):
        raise FeltdError(f"{path}: no signing key") from None


def genuine(public: str, head: str, signature: str) -> bool | None:
    """Whether the signature of a head is that of this key; None where it cannot be checked."""
    try:
        from nacl.exceptions import CryptoError  # noqa: PLC0415  an extra
        from nacl.signing import VerifyKey  # noqa: PLC0415  an extra
    except ImportError:
        return None
    try:
        key = VerifyKey(base64.b64decode(public, validate=True))
        key.verify(_DOMAIN + head.encode(), base64.b64decode(signature, validate=True))
    except (binascii.Error, ValueError, TypeError, CryptoError):
        return False
    return True


def _write(path: Path, text: bytes) -> None:
    """The whole key or nothing, for its owner alone."""
    fresh = path.with_name(f"{path.name}.new")
    fresh.unlink(missing_ok=True)
    descriptor = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        file.write(text + b"\n")
        file.flush()
        os.fsync(file.fileno())
    fresh.rename(path)
