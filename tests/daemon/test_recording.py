from __future__ import annotations

import json
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from daemon.events import Key
from daemon.recording import (
    Opening,
    RawCommand,
    RecordingError,
    read_line,
    read_opening,
    write_line,
    write_opening,
)
from drivers import Look, ReaderDown, ReaderUp

NAMES = st.from_regex(r"[a-z0-9-]{1,32}", fullmatch=True)
TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=40)
UIDS = st.binary(min_size=7, max_size=7).map(lambda raw: raw.hex().upper())
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**60), 2**60) | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=8,
)
TIMES = st.integers(0, 10**11)


@given(TIMES, NAMES, st.integers(1, 255), st.lists(UIDS, max_size=5), st.booleans(), TIMES)
def test_looks_come_back(now, reader, antenna, tags, partial, errors):
    look = Look(reader, antenna, tuple(tags), partial, errors)
    assert read_line(write_line(now, look)) == (now, look)


@given(TIMES, NAMES, TEXT)
def test_readers_and_keys_come_back(now, reader, error):
    for entry in (ReaderUp(reader), ReaderDown(reader, error), Key("ab" * 32)):
        assert read_line(write_line(now, entry)) == (now, entry)


@given(TIMES, JSON, st.sampled_from([None, False, True]), st.sampled_from([None, 2]))
def test_commands_come_back_on_one_line(now, command, private, indent):
    """However they were laid out, and from the root that they came from."""
    text = json.dumps(command, indent=indent, ensure_ascii=False).encode()
    line = write_line(now, RawCommand(text, private))
    assert b"\n" not in line
    again, entry = read_line(line)
    assert again == now
    assert isinstance(entry, RawCommand)
    assert json.loads(entry.data) == command
    assert entry.private == private


@pytest.mark.parametrize("data", [b"{", b"", b'"\xff"', b"[" * 100_000, b"{} {}"])
def test_a_command_that_is_no_json_has_no_line(data):
    with pytest.raises(RecordingError):
        write_line(0, RawCommand(data, private=False))


@pytest.mark.parametrize(
    "line",
    [
        b"",
        b"{",
        b"[]",
        b'{"t": 1}',
        b'{"t": "1", "reader": "rail", "up": true}',
        b'{"t": 1, "reader": "rail"}',
        b'{"t": 1, "reader": "rail", "tags": []}',
        b'{"t": 1, "up": true}',
        b'{"t": 1, "key": "short"}',
        b'{"reader": "rail", "antenna": 1, "tags": []}',
        b'{"t": 1, "key": "\xff"}',
        b'{"t": 1, "command": ' + b"[" * 100_000,
    ],
)
def test_what_is_no_line_is_said_to_be_none(line):
    with pytest.raises(RecordingError):
        read_line(line)


def test_the_lines_of_the_contract_can_be_read():
    look = b'{"t": 12.350, "reader": "rail", "antenna": 3, "tags": ["E0040150954F02B1"]}'
    assert read_line(look) == (12_350, Look("rail", 3, ("E0040150954F02B1",)))
    lost = b'{"t": 14.000, "reader": "rail", "up": false}'
    assert read_line(lost) == (14_000, ReaderDown("rail", ""))
    command = b'{"t": 20.125, "command": {"id": "7", "type": "showdown"}}'
    assert read_line(command) == (20_125, RawCommand(b'{"id": "7", "type": "showdown"}', None))
    marked = b'{"t": 20.125, "command": {}, "private": true}'
    assert read_line(marked) == (20_125, RawCommand(b"{}", private=True))


def test_openings_come_back():
    opening = Opening(
        started=datetime(2026, 11, 29, 18, tzinfo=UTC),
        epoch="e1",
        hand=17,
        button=3,
        discipline="stud",
        names={1: "Anna"},
    )
    assert read_opening(write_opening(opening)) == opening
    assert read_opening(b'{"started": "2026-11-29T18:00:00Z"}') == Opening(
        started=datetime(2026, 11, 29, 18, tzinfo=UTC)
    )
    assert read_opening(b'{"t": 1, "reader": "rail", "up": true}') is None
    assert read_opening(b"[]") is None


@pytest.mark.parametrize("line", [b"{", b'{"started": "yesterday"}', b'{"started": 1, "hand": []}'])
def test_an_opening_that_is_wrong(line):
    with pytest.raises(RecordingError):
        read_opening(line)
