"""UIDs that a weak field garbles: zeros, or another tag's bytes shifted. They are no tags."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

LEAST_BYTES = 5
"""So many bytes in a row are no coincidence, makers' codes (two bytes) included."""


def garbled(tag: str, uids: Iterable[str]) -> bool:
    """Whether an unknown UID (hex) is noise: no bytes but zeros, or one of `uids` shifted."""
    if not tag.strip("0"):
        return True
    shifts = range(2, len(tag) - 2 * LEAST_BYTES + 2, 2)
    left = {tag[:-shift] for shift in shifts}
    right = {tag[shift:] for shift in shifts}
    return any(
        len(uid) == len(tag) and any(uid[n:] in left or uid[:-n] in right for n in shifts)
        for uid in uids
    )
