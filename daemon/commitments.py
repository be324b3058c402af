"""Commitments to hidden cards: told at the deal, opened when the card is shown.

hash = SHA-256(salt || text) over text `feltd1|epoch|hand|seat|index|card`; salt is the first
16 bytes of HMAC-SHA256(hand key, `feltd1|epoch|hand|seat|index|n`). Numbers are decimal, text
is UTF-8, hash, salt and key are lower-case hex.
"""

from __future__ import annotations

import hashlib
import hmac
from typing import NamedTuple

SALT_BYTES = 16


class Commitment(NamedTuple):
    """A commitment and the salt that opens it, both in lower-case hex."""

    hash: str
    salt: str


def commitment(
    key: str, *, epoch: str, hand: int, seat: int, index: int, n: int, card: str
) -> Commitment:
    """The n-th commitment of a place. `key` is the hand's secret key in hex."""
    place = f"feltd1|{epoch}|{hand}|{seat}|{index}"
    salt = hmac.digest(bytes.fromhex(key), f"{place}|{n}".encode(), "sha256")[:SALT_BYTES]
    return Commitment(digest(salt, f"{place}|{card}"), salt.hex())


def digest(salt: bytes, text: str) -> str:
    """SHA-256 over salt and text, in lower-case hex."""
    return hashlib.sha256(salt + text.encode()).hexdigest()
