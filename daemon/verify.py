"""Recorded messages against their own promises: gapless numbers, commitments, heads.

Reads JSON lines with `topic` and `payload`: what `feltd replay` prints, or `mosquitto_sub -F %J`
(with `%j` the payload is a text). Source: docs/protocol.md, topics and secrets.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias

import msgspec
from msgspec import UNSET, Struct, UnsetType

from daemon.chain import Heads
from daemon.openings import Hands
from daemon.wire import VERSION

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

Payload: TypeAlias = dict[str, Any]
COUNTED_ROOTS = ("event", "showdown", "ruling", "alert", "hole-cards", "equity", "floor")
STREAMED = frozenset({"event", "alert"})


class Fault(Struct, frozen=True):
    """What is wrong, and at which line of the file."""

    line: int
    text: str


class Report(Struct, frozen=True, kw_only=True):
    """What was checked, and every fault by line.

    `unchecked` counts openings whose commitment was told before the recording began.
    """

    ok: bool
    lines: int
    messages: int
    epochs: int
    hands: int
    commits: int
    opens: int
    unchecked: int
    heads: int
    faults: list[Fault]


class _Line(Struct):
    topic: str
    payload: Payload | str
    t: float | UnsetType = UNSET


@dataclass(frozen=True, slots=True)
class Heard:
    """One message: its line, its topic below the table, and its payload."""

    line: int
    topic: str
    payload: Payload

    @property
    def counted(self) -> bool:
        """Whether it has a number of its own."""
        gone = self.payload.get("type") == "resend-gone"
        return self.topic.partition("/")[0] in COUNTED_ROOTS and not gone


@dataclass
class _Stream:
    """One counter: a root of a table in one epoch; `joined` is the `seq` it was joined at."""

    private: bool
    messages: dict[int, Heard] = field(default_factory=dict)
    joined: int | None = None
    pictures: list[tuple[int, int]] = field(default_factory=list)
    begun: bool = False


@dataclass
class _Check:
    faults: list[Fault] = field(default_factory=list)
    streams: dict[tuple[str, str, str], _Stream] = field(default_factory=dict)
    lines: int = 0
    messages: int = 0

    def wrong(self, line: int, text: str) -> None:
        self.faults.append(Fault(line, text))


def verify(lines: Iterable[bytes]) -> Report:
    """Check recorded messages; a line that cannot be read is a fault like any other."""
    check = _Check()
    for number, text in enumerate(lines, 1):
        if text.strip():
            check.lines += 1
            _read(check, number, text)
    hands = Hands(check.wrong)
    heads = 0
    for stream in check.streams.values():
        chain = Heads(check.wrong)
        for message in _in_order(check, stream):
            if not stream.private:
                hands.take(message.line, message.payload, message.topic)
                chain.take(message.line, message.topic, message.payload)
        heads += chain.heads
    hands.finish()
    return Report(
        ok=not check.faults,
        lines=check.lines,
        messages=check.messages,
        epochs=len({(table, epoch) for _, table, epoch in check.streams}),
        hands=len(hands.hands),
        commits=hands.commits,
        opens=hands.opens,
        unchecked=hands.unchecked,
        heads=heads,
        faults=sorted(check.faults, key=lambda fault: fault.line),
    )


def _read(check: _Check, number: int, text: bytes) -> None:
    try:
        line = msgspec.json.decode(text, type=_Line)
        payload = line.payload
        if isinstance(payload, str):
            payload = msgspec.json.decode(payload.encode(), type=Payload)
    except (msgspec.DecodeError, UnicodeError, RecursionError) as error:
        check.wrong(number, f"no message: {error}")
        return
    root, _, rest = line.topic.partition("/")
    table, _, topic = rest.partition("/")
    if topic in {"command", "resend"}:
        return
    check.messages += 1
    problem = _envelope(payload, table)
    if problem:
        check.wrong(number, f"{line.topic}: {problem}")
        return
    key = (root, table, str(payload["epoch"]))
    stream = check.streams.setdefault(key, _Stream(root.endswith("-private")))
    _file(check, stream, Heard(number, topic, payload))


def _envelope(payload: Payload, table: str) -> str:
    if payload.get("v") != VERSION:
        return f"v is {payload.get('v')!r}, not {VERSION}"
    if payload.get("table") != table:
        return f"table is {payload.get('table')!r}, not {table!r}"
    missing = [name for name in ("epoch", "at") if not isinstance(payload.get(name), str)]
    return f"{missing[0]} is missing" if missing else ""


def _file(check: _Check, stream: _Stream, message: Heard) -> None:
    """Put a message at its number; the same one may come again."""
    number = message.payload.get("seq")
    name = message.topic
    if not message.counted and name != "state":
        return
    if not isinstance(number, int) or number < 0:
        check.wrong(message.line, f"{name}: seq is {number!r}")
        return
    if name == "state":
        stream.pictures.append((message.line, number))
        if not stream.begun:
            stream.joined = number
            stream.begun = True
        return
    stream.begun = stream.begun or name in STREAMED or stream.private
    before = stream.messages.setdefault(number, message)
    if _bare(before.payload) != _bare(message.payload) or before.topic != name:
        check.wrong(message.line, f"seq {number} differs from line {before.line}")


def _bare(payload: Payload) -> Payload:
    return {key: value for key, value in payload.items() if key != "late"}


def _in_order(check: _Check, stream: _Stream) -> Iterator[Heard]:
    """The messages of a stream by number; what is missing is told on the way."""
    numbers = sorted(stream.messages)
    start = [] if stream.joined is None else [stream.joined]
    expected = [*start, *(n for n in numbers if stream.joined is None or n > stream.joined)]
    for before, after in itertools.pairwise(expected):
        if after != before + 1:
            text = f"{_numbers(before + 1, after - 1)} missing before seq {after}"
            check.wrong(stream.messages[after].line, text)
    last = expected[-1] if expected else 0
    for line, number in stream.pictures:
        if number > last:
            check.wrong(line, f"state tells of seq {number}; {_numbers(last + 1, number)} missing")
            break
    return (stream.messages[number] for number in numbers)


def _numbers(low: int, high: int) -> str:
    return f"seq {low} is" if low == high else f"seq {low} to {high} are"
