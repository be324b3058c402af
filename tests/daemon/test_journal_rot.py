"""A disk that does not keep what was written: bits, pages and sectors lost in mid-file."""

from __future__ import annotations

import random
import shutil
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from daemon import outbox
from daemon.journal import Answer, DamagedError, Journal, Outgoing
from daemon.journalfile import crc

STARTED = 1_796_000_000.25
LATER = STARTED + 60


def message(seq, root="public"):
    return Outgoing(
        root, seq, f"felt/t1/event/{seq % 3}", b'{"seq": %d, "x": "%s"}' % (seq, b"x" * 300)
    )


def content(journal):
    """Everything that the table will ever ask of its journal."""
    return (
        journal.epoch,
        journal.started,
        journal.restore(),
        journal.unsent(10_000),
        journal.unsent_topics(),
        [journal.range(root, 0, 10_000) for root in ("public", "private")],
        [journal.answer("floor", str(number)) for number in range(60)],
        journal.recall("retained"),
        journal.digest(b"a command"),
    )


def test_a_message_whose_row_changed_in_memory_is_never_told(tmp_path):
    """The row no longer fits its checksum, as when the disk gave other bytes than it got."""
    with closing(sqlite3.connect(tmp_path / "rot.db")) as db:
        db.create_function("crc", -1, crc, deterministic=True)
        db.executescript(outbox.SCHEMA)
        outbox.insert(db, [message(1), message(2)], 1, STARTED)
        assert [kept.seq for kept in outbox.select(db, "seq > ?", (0,))] == [1, 2]
        db.execute("UPDATE messages SET payload = ? WHERE id = 2", (b'{"seq": 3}',))
        assert [kept.seq for kept in outbox.select(db, "seq < ?", (2,))] == [1]
        with pytest.raises(DamagedError, match="checksum of messages"):
            outbox.select(db, "seq > ?", (0,))


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """A closed journal as an evening leaves it, and what is in it."""
    folder = tmp_path_factory.mktemp("whole")
    with closing(Journal.open(folder, STARTED, clock=lambda: STARTED)) as journal:
        for number in range(1, 61):
            inputs = [b"look %d %d" % (number, n) + bytes(60) for n in range(8)]
            told = [message(5 * number - n) for n in range(4, -1, -1)]
            told += [message(number, "private")] if number % 4 == 0 else []
            told += [Outgoing("public", None, "felt/t1/state", b"%d" % number, retain=True)]
            answer = Answer("floor", str(number), bytes([number]) * 32, b'{"ok": true}')
            journal.add(inputs, told, [answer], sync=False)
            if number == 40:
                journal.snapshot(b"the whole table" * 400)
        journal.remember("retained", b"showdowns" * 500)
        journal.acknowledged(range(1, 250))
        journal.refused([250])
        return folder / "journal.db", content(journal)


def opened(folder):
    return closing(Journal.open(folder, LATER, clock=lambda: STARTED))


def spoilt(whole, folder, spoil):
    """Whether a copy that was spoilt is set aside; one that is not has to be as it was."""
    file, before = whole
    folder.mkdir()
    body = bytearray(file.read_bytes())
    spoil(body)
    (folder / "journal.db").write_bytes(body)
    with opened(folder) as journal:
        aside = journal.set_aside
        assert aside is not None or content(journal) == before
        journal.add([b"look"], [message(1000)], sync=True)
        after = content(journal)
    if aside is not None:
        assert aside.read_bytes() == bytes(body)
    with opened(folder) as journal:
        assert journal.set_aside is None
        assert content(journal) == after
    shutil.rmtree(folder)
    return aside is not None


def test_an_unspoilt_journal_is_kept(whole, tmp_path):
    assert not spoilt(whole, tmp_path / "t1", lambda body: None)


@pytest.mark.parametrize("seed", range(6))
def test_any_single_bit_is_harmless_or_found(whole, tmp_path, seed):
    chance = random.Random(seed)
    found = 0
    for number in range(25):

        def flip(body):
            body[chance.randrange(len(body))] ^= 1 << chance.randrange(8)

        found += spoilt(whole, tmp_path / str(number), flip)
    assert found > 12


def test_any_bit_of_the_head_is_harmless_or_found(whole, tmp_path):
    found = 0
    for place in range(100):

        def flip(body, place=place):
            body[place] ^= 1 << place % 8

        found += spoilt(whole, tmp_path / str(place), flip)
    assert found > 30


@pytest.mark.parametrize("rest", [b"\x00", b"\xff", b"\x5a"])
def test_any_lost_page_is_found(whole, tmp_path, rest):
    pages = len(whole[0].read_bytes()) // 4096
    assert pages > 40
    for page in range(0, pages, 3):

        def lose(body, page=page):
            body[4096 * page : 4096 * page + 4096] = rest * 4096

        assert spoilt(whole, tmp_path / str(page), lose)


BAD_SECTORS = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
ssize_t pread64(int file, void *to, size_t size, off64_t at) {
  ssize_t (*real)(int, void *, size_t, off64_t) = dlsym(RTLD_NEXT, "pread64");
  char link[64], name[4096] = "";
  snprintf(link, sizeof link, "/proc/self/fd/%d", file);
  readlink(link, name, sizeof name - 1);
  if (at < atol(getenv("BAD_FROM")) || !strstr(name, "/journal.db") || strstr(name, "-wal"))
    return real(file, to, size, at);
  errno = EIO;
  return -1;
}
ssize_t pread(int file, void *to, size_t size, off_t at) { return pread64(file, to, size, at); }
"""
OPEN = """
import sys
from pathlib import Path
from daemon.journal import Journal
journal = Journal.open(Path(sys.argv[1]), 1.0)
print(journal.set_aside.name, journal.restore())
"""


@pytest.mark.parametrize("bad_from", [4096, 65536])
def test_sectors_that_cannot_be_read_do_not_hold_up_the_start(whole, tmp_path, bad_from):
    """The disk answers with an input/output error, this time and every time."""
    library, folder = tmp_path / "bad.so", tmp_path / "t1"
    command = ["gcc", "-shared", "-fPIC", "-w", "-x", "c", "-", "-o", library, "-ldl"]
    subprocess.run(command, input=BAD_SECTORS.encode(), check=True)
    folder.mkdir()
    shutil.copy(whole[0], folder)
    child = subprocess.run(
        [sys.executable, "-c", OPEN, folder],
        env={
            "LD_PRELOAD": str(library),
            "BAD_FROM": str(bad_from),
            "PYTHONPATH": str(Path(__file__).parents[2]),
        },
        check=True,
        capture_output=True,
        text=True,
    )
    assert child.stdout == "journal-damaged-1.db (None, [])\n"
    assert "damaged, set aside as" in child.stderr
    assert (folder / "journal-damaged-1.db").read_bytes() == whole[0].read_bytes()
