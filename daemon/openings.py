"""Commitments and openings of each hand, checked as anybody can who has the public messages."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias

from daemon.commitments import SALT_BYTES, digest

if TYPE_CHECKING:
    from collections.abc import Callable

Payload: TypeAlias = dict[str, Any]
Place: TypeAlias = tuple[int, int]
"""Seat and index."""


@dataclass
class _Hand:
    """`complete` means that the hand's beginning is in the recording."""

    epoch: str
    number: int
    complete: bool = False
    committed: dict[Place, Payload] = field(default_factory=dict)
    opened: dict[Place, tuple[int, str]] = field(default_factory=dict)
    shown: dict[int, tuple[int, list[str]]] = field(default_factory=dict)


class Hands:
    """Takes public messages in the order of `seq`; `wrong(line, text)` is told of each fault."""

    def __init__(self, wrong: Callable[[int, str], None]) -> None:
        self._wrong = wrong
        self.hands: dict[tuple[str, str, int], _Hand] = {}
        self.commits = 0
        self.opens = 0
        self.unchecked = 0

    def take(self, line: int, payload: Payload, topic: str) -> None:
        """One message; those that belong to no hand or are malformed are passed over or named."""
        number = payload.get("hand")
        if not isinstance(number, int):
            return
        key = (payload["table"], payload["epoch"], number)
        hand = self.hands.setdefault(key, _Hand(payload["epoch"], number))
        try:
            self._take(hand, line, payload, topic)
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            self._wrong(line, f"{topic} cannot be read: {error!r}")

    def _take(self, hand: _Hand, line: int, payload: Payload, topic: str) -> None:
        match topic, payload.get("type"):
            case "event", "hand-started":
                hand.complete = True
            case "event", "commit":
                self._commit(hand, line, payload)
            case "event", "open":
                self._open(hand, line, payload)
            case "event", "hand-shown":
                hand.shown[payload["seat"]] = (line, payload["cards"])
            case "showdown", _:
                for each in payload["hands"]:
                    hand.shown[each["seat"]] = (line, each["cards"])

    def _commit(self, hand: _Hand, line: int, payload: Payload) -> None:
        self.commits += 1
        place = (payload["seat"], payload["index"])
        before = hand.committed.get(place)
        hand.committed[place] = payload
        if before is None and not hand.complete:
            return
        n = 0 if before is None else before["n"] + 1
        replaced = None if before is None else before["hash"]
        if payload["n"] != n:
            self._wrong(line, f"{_named(hand, place)}: commitment {payload['n']} instead of {n}")
        if payload.get("replaces") != replaced:
            self._wrong(line, f"{_named(hand, place)}: replaces another commitment than the last")

    def _open(self, hand: _Hand, line: int, payload: Payload) -> None:
        self.opens += 1
        place = (payload["seat"], payload["index"])
        hand.opened[place] = (line, payload["card"])
        commit = hand.committed.get(place)
        if commit is None:
            self._without_commitment(hand, line, place)
            return
        if payload["n"] != commit["n"]:
            text = f"commitment {payload['n']} is opened, the last one is {commit['n']}"
            self._wrong(line, f"{_named(hand, place)}: {text}")
        elif _hash(hand, payload) != commit["hash"]:
            self._wrong(line, f"{_named(hand, place)}: the opening does not fit its commitment")

    def _without_commitment(self, hand: _Hand, line: int, place: Place) -> None:
        if hand.complete:
            self._wrong(line, f"{_named(hand, place)}: opened without a commitment")
        else:
            self.unchecked += 1

    def finish(self) -> None:
        """What is known only at the end: shown is opened, opened is shown, and both are one."""
        for hand in self.hands.values():
            for seat, index in hand.committed:
                line, cards = hand.shown.get(seat, (0, []))
                if index < len(cards) and (seat, index) not in hand.opened:
                    self._wrong(line, f"{_named(hand, (seat, index))}: never opened")
            for place, (line, card) in hand.opened.items():
                self._shown(hand, place, line, card)

    def _shown(self, hand: _Hand, place: Place, line: int, card: str) -> None:
        seat, index = place
        if seat not in hand.shown:
            if hand.complete:
                self._wrong(line, f"{_named(hand, place)}: opened though the seat never showed")
            return
        at, cards = hand.shown[seat]
        if cards[index : index + 1] != [card]:
            self._wrong(at, f"{_named(hand, place)}: shown is not what was opened")


def _named(hand: _Hand, place: Place) -> str:
    return f"hand {hand.number}, seat {place[0]}, card {place[1]}"


def _hash(hand: _Hand, payload: Payload) -> str:
    salt = bytes.fromhex(payload["salt"])
    if len(salt) != SALT_BYTES:
        return ""
    place = f"{hand.epoch}|{hand.number}|{payload['seat']}|{payload['index']}"
    return digest(salt, f"feltd1|{place}|{payload['card']}")
