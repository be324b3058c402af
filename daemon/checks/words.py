"""What the checks say: a message and, where something is to be done, a remedy, in two languages."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Literal

import msgspec

from daemon.rules.labels import Label

State = Literal["ok", "note", "problem", "config"]
"""`config` is a problem with which the daemon does not start at all (exit status 78)."""


class Words(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A section of words.toml, with places for the values."""

    state: State
    en: str
    ru: str
    remedy: Label | None = None


class Finding(msgspec.Struct, frozen=True):
    """One line about one thing; `remedy` where there is something to do."""

    key: str
    state: State
    message: Label
    remedy: Label | None = None


@cache
def texts() -> dict[str, Words]:
    """Everything that can be found, by its key."""
    source = Path(__file__).with_name("words.toml").read_bytes()
    return msgspec.toml.decode(source, type=dict[str, Words])


def finding(key: str, **values: object) -> Finding:
    """The finding of this key with its values filled in."""
    words = texts()[key]
    remedy = words.remedy and Label(
        words.remedy.en.format(**values), words.remedy.ru.format(**values)
    )
    message = Label(words.en.format(**values), words.ru.format(**values))
    return Finding(key, words.state, message, remedy)
