"""The two CRC-16 of these readers: both the mirrored polynomial 1021, started at FFFF."""

from __future__ import annotations

from binascii import crc_hqx

_MIRROR = bytes(int(f"{byte:08b}"[::-1], 2) for byte in range(256))


def mcrf4xx(data: bytes) -> int:
    """CRC-16/MCRF4XX (check value 6F91): FEIG ISO host, TWN4. Sent low byte first.

    Over a frame that ends with its own CRC the result is 0.
    """
    crc = crc_hqx(data.translate(_MIRROR), 0xFFFF)
    return _MIRROR[crc & 0xFF] << 8 | _MIRROR[crc >> 8]


def x25(data: bytes) -> int:
    """CRC-16/X-25 (check value 906E): the air interface of ISO 15693. Sent low byte first."""
    return mcrf4xx(data) ^ 0xFFFF
