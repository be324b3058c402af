"""The rule of `seq`, for a subscriber: state and messages joined in order, each once.

Take `state` at `seq` S, drop what is not above S, apply the rest in order; on a gap ask for the
first missing number; on a new epoch start over. Source: docs/overlay.md.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

Payload: TypeAlias = dict[str, Any]

MOST_WAITING = 5_000


@dataclass(frozen=True, slots=True)
class Step:
    """What to do with a message.

    `fresh`: forget everything, this is the picture. `state`: the picture has come to here. `told`:
    the next counted message. `old`: one from before the picture, or one told twice.
    """

    kind: Literal["fresh", "state", "told", "old"]
    topic: str
    payload: Payload


class Follower:
    """Joins one root of one table; `take` never raises, whatever was in the message.

    The private root has no `state`: with `anchored` false the first message is where to join.
    """

    def __init__(self, *, anchored: bool = True) -> None:
        self.epoch: str | None = None
        self.seq = 0
        self._anchored = anchored
        self._waiting: dict[tuple[str, int], tuple[str, Payload]] = {}
        self._state: Payload | None = None

    def take(self, topic: str, payload: Payload) -> list[Step]:
        """The steps that a message leads to; none while something before it is missing."""
        epoch, seq = payload.get("epoch"), payload.get("seq")
        if not isinstance(epoch, str):
            return []
        if payload.get("type") == "resend-gone":
            return self._gone(epoch, payload)
        if type(seq) is not int:
            return []
        if topic == "state":
            return self._picture(epoch, seq, payload)
        if not self._anchored and epoch != self.epoch:
            if self.epoch is not None and payload.get("late"):
                return []
            return self._start_over(epoch, seq, Step("fresh", topic, payload))
        if epoch == self.epoch and seq <= self.seq:
            return [Step("old", topic, payload)]
        self._wait(epoch, seq, topic, payload)
        return self._advance()

    def missing(self) -> int | None:
        """The first number to ask for, if there is a gap."""
        if self.epoch is None:
            return None
        behind = self._state is not None and self._state["seq"] > self.seq
        ahead = any(epoch == self.epoch for epoch, _ in self._waiting)
        return self.seq + 1 if behind or ahead else None

    def give_up(self) -> list[Step]:
        """Nobody has what is missing: go on with the newest picture, or after the gap."""
        numbers = [seq for epoch, seq in self._waiting if epoch == self.epoch]
        if self._state is not None:
            self.seq = self._state["seq"]
            old = self._forget_up_to_here()
            return old + self._state_due() + self._advance()
        if numbers:
            self.seq = min(numbers) - 1
        return self._advance()

    def _wait(self, epoch: str, seq: int, topic: str, payload: Payload) -> None:
        self._waiting[epoch, seq] = (topic, payload)
        if len(self._waiting) > MOST_WAITING:
            del self._waiting[next(iter(self._waiting))]

    def _picture(self, epoch: str, seq: int, payload: Payload) -> list[Step]:
        if epoch != self.epoch:
            return self._start_over(epoch, seq, Step("fresh", "state", payload))
        if seq < self.seq:
            return []
        if self._state is None or seq >= self._state["seq"]:
            self._state = payload
        return self._state_due()

    def _start_over(self, epoch: str, seq: int, step: Step) -> list[Step]:
        self.epoch, self.seq, self._state = epoch, seq, None
        return [step, *self._forget_up_to_here(), *self._advance()]

    def _forget_up_to_here(self) -> list[Step]:
        """What waited and is not above the picture: old news, in order."""
        ours = {seq: told for (epoch, seq), told in self._waiting.items() if epoch == self.epoch}
        self._waiting = {(self.epoch or "", s): told for s, told in ours.items() if s > self.seq}
        return [Step("old", *ours[seq]) for seq in sorted(ours) if seq <= self.seq]

    def _advance(self) -> list[Step]:
        steps: list[Step] = []
        while self.epoch is not None:
            steps += self._state_due()
            following = self._waiting.pop((self.epoch, self.seq + 1), None)
            if following is None:
                break
            self.seq += 1
            steps.append(Step("told", *following))
        return steps

    def _state_due(self) -> list[Step]:
        if self._state is None or self._state["seq"] > self.seq:
            return []
        state, self._state = self._state, None
        return [Step("state", "state", state)] if state["seq"] == self.seq else []

    def _gone(self, epoch: str, payload: Payload) -> list[Step]:
        since, to = payload.get("from"), payload.get("to")
        if epoch != self.epoch or type(since) is not int or type(to) is not int:
            return []
        if not since <= self.seq + 1 <= to:
            return []
        self.seq = to
        return self._forget_up_to_here() + self._state_due() + self._advance()
