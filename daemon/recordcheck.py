"""Record files against their own promises: chain, results, signatures.

What is found: a record that was changed, left out, added or moved, as long as one after it stands
or the table's key is known. Source: docs/protocol.md, records.
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias

from msgspec import Struct

from daemon.chain import genesis, link
from daemon.errors import FeltdError
from daemon.recordfile import SUFFIX, blocks, hashed, origin
from daemon.signing import genuine

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from daemon.recordfile import Block

Fields: TypeAlias = dict[str, Any]
ENVELOPE_VERSION = 1


class RecordFault(Struct, frozen=True):
    """What is wrong with the record that begins at this line of this file."""

    file: str
    line: int
    text: str


class RecordReport(Struct, frozen=True, kw_only=True):
    """What was checked, and every fault.

    `signed` counts good signatures, `unsigned` records without one, `unchecked` signatures that
    cannot be checked here. `begins` is the number of the first record: what came before it is
    not proved. `keys` are all public keys met, in base64.
    """

    ok: bool
    files: int
    records: int
    results: int
    begins: int
    signed: int
    unsigned: int
    unchecked: int
    keys: list[str]
    faults: list[RecordFault]


class Record(Struct, frozen=True):
    """One record as it was read: where it stands, its text, and its fields."""

    file: str
    line: int
    text: str
    fields: Fields


@dataclass
class _Chain:
    """Where the records of one memory are: the last one's number, hash, hand, and heads."""

    number: int
    hash: str
    since: str
    head: str


@dataclass
class _Check:
    key: str | None
    faults: list[RecordFault] = field(default_factory=list)
    chains: dict[tuple[str, str], _Chain] = field(default_factory=dict)
    counts: dict[str, int] = field(default_factory=dict)
    keys: set[str] = field(default_factory=set)
    begins: int = 0

    def count(self, what: str, number: int = 1) -> None:
        self.counts[what] = self.counts.get(what, 0) + number


def files(path: Path) -> list[Path]:
    """A record file, or all of a folder by day. Raises FeltdError for a folder without any."""
    if not path.is_dir():
        return [path]
    found = sorted(path.glob(f"*{SUFFIX}"))
    if not found:
        raise FeltdError(f"{path}: no record file (*{SUFFIX})")
    return found


def is_record(head: bytes) -> bool:
    """Whether a file that begins like this holds records and not messages."""
    return head.lstrip()[:1] not in {b"{", b""}


def verify(paths: Sequence[Path], key: str | None = None) -> RecordReport:
    """Check record files, in this order; `key` is the public key that must have signed them.

    Raises FeltdError for a file that cannot be read.
    """
    check = _Check(key)
    for path in paths:
        _file(check, path)
    counts = check.counts
    return RecordReport(
        ok=not check.faults,
        files=len(paths),
        records=counts.get("records", 0),
        results=counts.get("results", 0),
        begins=check.begins,
        signed=counts.get("signed", 0),
        unsigned=counts.get("unsigned", 0),
        unchecked=counts.get("unchecked", 0),
        keys=sorted(check.keys),
        faults=check.faults,
    )


def load(paths: Iterable[Path]) -> list[Record]:
    """The records of these files as they stand; those that cannot be read are left out."""
    found = []
    for path in paths:
        for block in blocks(_text(path)):
            try:
                fields = tomllib.loads(block.text)
            except tomllib.TOMLDecodeError:
                continue
            found.append(Record(str(path), block.line, block.text, fields))
    return found


def _text(path: Path) -> str:
    try:
        return path.read_bytes().decode(errors="replace")
    except OSError as error:
        raise FeltdError(f"{path}: {error.strerror}") from None


def _file(check: _Check, path: Path) -> None:
    text = _text(path)
    found = list(blocks(text))
    for place, block in enumerate(found, 1):
        faults: list[str] = []
        if block.section not in {None, place}:
            faults.append(f"it is [{block.section}] in its file, not [{place}]")
        check.count("records")
        try:
            fields = tomllib.loads(block.text)
            faults += _record(check, block, fields)
        except tomllib.TOMLDecodeError as error:
            faults.append(f"no record: {error}")
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            faults.append(f"cannot be read: {error!r}")
        check.faults += [RecordFault(str(path), block.line, fault) for fault in faults]
    if found and not text.endswith("\n\n"):
        check.faults.append(RecordFault(str(path), found[-1].line, "the record has no end"))


def _record(check: _Check, block: Block, fields: Fields) -> list[str]:
    name = f"record {fields['_record']} (hand {fields['hand']})"
    faults = _place(check, fields)
    if hashed(fields["_previous"], block.chained) != fields["_hash"]:
        faults.append("it was changed: its hash is another")
    faults += _results(check, fields)
    faults += _signed(check, fields)
    chain = _Chain(fields["_record"], fields["_hash"], fields["_since"], fields["_head"])
    check.chains[fields["table"], fields["_epoch"]] = chain
    return [f"{name}: {fault}" for fault in faults]


def _place(check: _Check, fields: Fields) -> list[str]:
    """Whether a record follows the one before it."""
    number, previous = fields["_record"], fields["_previous"]
    last = check.chains.get((fields["table"], fields["_epoch"]))
    if last is None:
        check.begins = check.begins or number
        first = previous == origin(fields["table"], fields["_epoch"])
        return ["it is called the first, and is not"] if (number == 1) is not first else []
    if number <= last.number:
        return [f"it comes after record {last.number}"]
    if number > last.number + 1:
        lost = f"{last.number + 1} to {number - 1}"
        lost = f"{number - 1} is" if number == last.number + 2 else f"{lost} are"
        return [f"{lost} missing before it"]
    if previous != last.hash:
        return [f"it does not follow record {last.number} as that stands"]
    since = last.since if "_replaces" in fields else last.head
    return [] if fields["_since"] == since else ["results are missing before it"]


def _results(check: _Check, fields: Fields) -> list[str]:
    """Whether its results lead from one head to the other."""
    envelope = {"v": ENVELOPE_VERSION, "table": fields["table"], "epoch": fields["_epoch"]}
    head = fields["_since"]
    faults = []
    first = min((result["seq"] for result in fields["_results"]), default=0)
    if first == 1 and head != genesis(fields["table"], fields["_epoch"]):
        faults.append("its results begin elsewhere")
    for result in fields["_results"]:
        payload = envelope | {key: value for key, value in result.items() if key != "topic"}
        head = link(head, payload)
    check.count("results", len(fields["_results"]))
    if head != fields["_head"]:
        faults.append("its results do not lead to its head")
    return faults


def _signed(check: _Check, fields: Fields) -> list[str]:
    key, signature = fields.get("_key"), fields.get("_signature")
    if key is None or signature is None:
        check.count("unsigned")
        return [] if check.key is None else ["it is not signed"]
    check.keys.add(key)
    if check.key not in {None, key}:
        return ["it is signed with another key"]
    good = genuine(key, fields["_hash"], signature)
    check.count("unchecked" if good is None else "signed" if good else "forged")
    return ["its signature is not genuine"] if good is False else []
