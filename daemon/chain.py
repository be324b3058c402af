"""Published results chained by SHA-256: none is changed, left out or moved unnoticed.

A result is a message on `showdown` or `ruling/*`, or an event `hand-ended` or `hand-voided`. Its
head is SHA-256(head before || payload), the head before as 32 bytes, the payload as canonical JSON:
UTF-8, keys sorted, no spaces, without `head` and `late`. The first head before is SHA-256 of
`feltd1|table|epoch`. Source: docs/protocol.md, the chain.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias

import msgspec

from daemon.events import HandEnded, HandVoided
from daemon.rules.results import (
    ButtonDrawResult,
    ChipRaceResult,
    FirstToActResult,
    ShowdownResult,
)

if TYPE_CHECKING:
    from collections.abc import Callable

Payload: TypeAlias = dict[str, Any]

ENDS = (HandEnded, HandVoided)
CHAINED = (*ENDS, ShowdownResult, ButtonDrawResult, FirstToActResult, ChipRaceResult)
_ENDS = frozenset({"hand-ended", "hand-voided"})


@dataclass
class Result:
    """A published result: topic below the table, time (ms), payload before its head was known."""

    topic: str
    at: int
    payload: bytes


@dataclass
class Ledger:
    """Results since the hand `hand` began, and the heads before the first and after the last.

    The first hand has those told before it too.
    """

    hand: int = 0
    since: str = ""
    head: str = ""
    results: list[Result] = field(default_factory=list)

    def add(self, result: Result) -> str:
        """The head with one result more."""
        self.results.append(result)
        self.head = link(self.head, msgspec.json.decode(result.payload))
        return self.head

    def next(self, hand: int) -> Ledger:
        """The ledger of a hand that begins."""
        if not self.hand:
            return Ledger(hand, self.since, self.head, self.results)
        return Ledger(hand, self.head, self.head)


def genesis(table: str, epoch: str) -> str:
    """The head before the first result of a memory."""
    return hashlib.sha256(f"feltd1|{table}|{epoch}".encode()).hexdigest()


def link(head: str, payload: Payload) -> str:
    """The head after this result. Raises ValueError for a head that is no hex."""
    bare = {key: value for key, value in payload.items() if key not in {"head", "late"}}
    text = msgspec.json.encode(bare, order="sorted")
    return hashlib.sha256(bytes.fromhex(head) + text).hexdigest()


def is_result(topic: str, payload: Payload) -> bool:
    """Whether a message (topic below the table) is chained."""
    if topic == "event":
        return payload.get("type") in _ENDS
    return topic == "showdown" or topic.startswith("ruling/")


class Heads:
    """Takes the public messages of one table's memory in the order of `seq`, and checks heads.

    Until the first head is told after a gap, what comes before it cannot be checked.
    """

    def __init__(self, wrong: Callable[[int, str], None]) -> None:
        self._wrong = wrong
        self._head: str | None = None
        self._seq = 0
        self.heads = 0

    def take(self, line: int, topic: str, payload: Payload) -> None:
        """One message; `wrong(line, text)` is told where a head does not follow."""
        seq = payload["seq"]
        if seq == 1:
            self._head = genesis(payload["table"], payload["epoch"])
        elif seq != self._seq + 1:
            self._head = None
        self._seq = seq
        if not is_result(topic, payload):
            return
        if self._head is not None:
            self._head = link(self._head, payload)
        told = payload.get("head")
        if topic == "event" and isinstance(told, str):
            self._compare(line, told, f"{payload['type']} of hand {payload.get('hand')}")

    def _compare(self, line: int, told: str, name: str) -> None:
        if self._head is not None:
            self.heads += 1
            if told != self._head:
                self._wrong(line, f"{name}: its head does not follow from the results before it")
        self._head = told if len(told) == 64 and _is_hex(told) else None


def _is_hex(text: str) -> bool:
    return not set(text) - set("0123456789abcdef")
