from __future__ import annotations

import os
import random
import resource
import signal
import sqlite3
import stat
import subprocess
import sys
import textwrap
import zlib
from contextlib import closing

import pytest

from daemon.journal import Answer, Journal, JournalError, Limits, Outgoing

STARTED = 1_796_000_000.25


@pytest.fixture
def journal(tmp_path):
    with closing(Journal.open(tmp_path / "t1", STARTED)) as opened:
        yield opened


def event(seq, root="public", payload=b"{}", topic="felt/t1/event"):
    return Outgoing(root, seq, topic, payload)


def state(payload):
    return Outgoing("public", None, "felt/t1/state", payload, retain=True)


def reopen(directory, **options):
    return closing(Journal.open(directory, STARTED + 60, **options))


def test_memory_outlives_the_process(tmp_path):
    directory = tmp_path / "t1"
    with closing(Journal.open(directory, STARTED)) as first:
        first.add([b"look 1", b"look 2"], sync=False)
        first.snapshot(b"flop")
        first.add([b"look 3"], [event(1)], sync=True)
        first.remember("instance", b"abc")
        epoch, digest = first.epoch, first.digest(b"body")
    with reopen(directory) as second:
        assert second.restore() == (b"flop", [b"look 3"])
        assert second.unsent(10) == [event(1)]
        assert (second.epoch, second.started, second.set_aside) == (epoch, STARTED, None)
        assert second.recall("instance") == b"abc"
        assert second.recall("other") is None
        assert second.digest(b"body") == digest


def test_another_memory_has_another_epoch_and_key(tmp_path):
    with reopen(tmp_path / "a") as a, reopen(tmp_path / "b") as b:
        assert a.epoch != b.epoch
        assert a.digest(b"body") != b.digest(b"body")
        assert len(bytes.fromhex(a.epoch)) == 6


def test_only_the_owner_reads_the_files(tmp_path):
    directory = tmp_path / "t1"
    with reopen(directory) as journal:
        journal.add([b"look"], sync=True)
        modes = {p.name: stat.S_IMODE(p.stat().st_mode) for p in directory.iterdir()}
        assert stat.S_IMODE(directory.stat().st_mode) == 0o700
        assert set(modes) == {"lock", "journal.db", "journal.db-wal"}
        assert set(modes.values()) == {0o600}


def test_second_process_is_refused_until_the_first_ends(tmp_path):
    program = "import sys; from daemon.journal import Journal; from pathlib import Path\n"
    program += "Journal.open(Path(sys.argv[1]), 0.0); print('in', flush=True); sys.stdin.read()"
    with subprocess.Popen(
        [sys.executable, "-c", program, str(tmp_path / "t1")],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as other:
        assert other.stdout.readline() == b"in\n"
        with pytest.raises(JournalError, match=r"t1: in use by another feltd$"):
            Journal.open(tmp_path / "t1", STARTED)
        other.kill()
        other.wait()
    with reopen(tmp_path / "t1") as journal:
        assert journal.restore() == (None, [])


def test_outbox_is_told_in_order_and_kept_for_resend(journal):
    journal.add([], [event(1), event(2), event(1, "private"), event(3)], sync=True)
    first, second = journal.unsent(2)
    assert (first.seq, second.seq) == (1, 2)
    journal.acknowledged([first.id])
    journal.refused([second.id])
    assert [(m.root, m.seq) for m in journal.unsent(9)] == [("private", 1), ("public", 3)]
    assert [m.seq for m in journal.unsent(9, after=second.id + 1)] == [3]
    kept = journal.range("public", 2)
    assert kept.lowest == 1
    assert [m.seq for m in kept.messages] == [2, 3]
    assert [m.seq for m in journal.range("public", 1, limit=2).messages] == [1, 2]
    assert journal.range("private", 2) == (1, [])


def test_only_the_newest_uncounted_retained_message_waits(journal):
    reply = Outgoing("public", None, "felt/t1/reply", b"1")
    journal.add([], [state(b"1"), event(1), reply], sync=True)
    journal.add([], [event(2), state(b"2"), reply, state(b"3")], sync=True)
    assert [m.payload for m in journal.unsent(9)] == [b"{}", b"1", b"{}", b"1", b"3"]
    assert journal.unsent_topics() == {"felt/t1/state"}
    journal.acknowledged([m.id for m in journal.unsent(9)])
    assert journal.unsent(9) == []
    assert [m.seq for m in journal.range("public", 0).messages] == [1, 2]


def test_number_once_used_is_not_used_again(journal):
    journal.add([], [event(1)], sync=True)
    with pytest.raises(JournalError):
        journal.add([b"look"], [event(2), event(1)], sync=True)
    assert journal.restore() == (None, [])
    assert [m.seq for m in journal.unsent(9)] == [1]


def test_outbox_drops_acknowledged_messages_first(tmp_path):
    limits = Limits(waiting=150, kept={"public": 100, "private": 10})
    with reopen(tmp_path, limits=limits) as journal:
        journal.add([], [event(seq) for seq in range(1, 301)], sync=True)
        assert (journal.dropped, journal.unsent(1)[0].seq) == (150, 151)
        journal.acknowledged([m.id for m in journal.unsent(50)])
        assert journal.add([], [event(seq) for seq in range(301, 401)], sync=True) == 50
        assert journal.unsent(1)[0].seq == 251
        assert journal.range("public", 1).lowest == 251
        journal.acknowledged([m.id for m in journal.unsent(150)])
        assert journal.add([], [event(seq) for seq in range(401, 501)], sync=True) == 0
        assert journal.range("public", 1).lowest == 401


def test_acknowledged_messages_age_and_waiting_ones_do_not(tmp_path):
    now = STARTED
    with reopen(tmp_path, clock=lambda: now) as journal:
        journal.add([], [event(1), event(2), event(1, "private")], sync=True)
        waiting = journal.unsent(9)
        journal.acknowledged([waiting[0].id, waiting[2].id])
        now += 8 * 86_400
        journal.add([], [event(seq) for seq in range(3, 103)], sync=True)
        assert journal.range("public", 1).lowest == 2
        assert journal.range("private", 1).lowest is None


def test_answers_are_remembered_for_a_day(tmp_path):
    now = STARTED
    with reopen(tmp_path, clock=lambda: now) as journal:
        answer = Answer("floor-2", "7", journal.digest(b"body"), b'{"ok":true}')
        journal.add([b"command"], [], [answer], sync=True)
        now += 86_399
        assert journal.answer("floor-2", "7") == answer
        assert journal.answer("floor-1", "7") is None
        now += 1
        assert journal.answer("floor-2", "7") is None


def test_erased_hand_is_in_no_file(tmp_path):
    directory = tmp_path / "t1"
    secret = [f"hole card {n:04} of seat 3".encode() for n in range(500)]
    with reopen(directory) as journal:
        for look in secret:
            journal.add([look], sync=False)
        journal.snapshot(b"state with hole card 0007 of seat 3")
        assert b"hole card" in (directory / "journal.db-wal").read_bytes()
        journal.add([b"last look of the hand"], sync=True)
        journal.snapshot(b"between hands")
        journal.add([b"first look of the next"], sync=True)
        journal.erase_hand()
        for file in directory.iterdir():
            assert b"hole card" not in file.read_bytes(), file
            assert b"last look" not in file.read_bytes(), file
        assert journal.restore() == (b"between hands", [b"first look of the next"])
    with reopen(directory) as journal:
        journal.add([b"second"], sync=True)
        assert journal.restore() == (b"between hands", [b"first look of the next", b"second"])


def test_erasing_overwrites_the_log_before_cutting_it(tmp_path):
    directory = tmp_path / "t1"
    with reopen(directory) as journal:
        journal.add([b"hole card of seat 3"], sync=True)
        journal.snapshot(b"between hands")
        with (directory / "journal.db-wal").open("rb") as log:
            os.link(log.name, tmp_path / "kept")
            journal._file._db.execute("DELETE FROM inputs")
            cut = []
            journal._file._db.set_trace_callback(
                lambda sql: "TRUNCATE" in sql and cut.append((tmp_path / "kept").read_bytes())
            )
            journal.erase_hand()
    (before,) = cut
    assert before
    assert not any(before)


def damage_head(file):
    file.write_bytes(b"not a database at all" + file.read_bytes()[21:])


def damage_page(file):
    content = bytearray(file.read_bytes())
    content[4096:8192] = b"\x5a" * 4096
    file.write_bytes(content)


def damage_body(file):
    content = file.read_bytes()
    assert b"look number 7" in content
    file.write_bytes(content.replace(b"look number 7", b"look number 9"))


@pytest.mark.parametrize("damage", [damage_head, damage_page, damage_body])
def test_damaged_journal_is_set_aside(tmp_path, damage):
    with closing(Journal.open(tmp_path, STARTED)) as journal:
        journal.add([f"look number {n}".encode() for n in range(10)], [event(1)], sync=True)
        epoch = journal.epoch
    damage(tmp_path / "journal.db")
    damaged = (tmp_path / "journal.db").read_bytes()
    with reopen(tmp_path) as journal:
        assert journal.set_aside == tmp_path / "journal-damaged-1796000060.db"
        assert journal.set_aside.read_bytes() == damaged
        assert stat.S_IMODE(journal.set_aside.stat().st_mode) == 0o600
        assert journal.epoch != epoch
        assert journal.started == STARTED + 60
        assert journal.restore() == (None, [])
        journal.add([b"look"], [event(1)], sync=True)
    with reopen(tmp_path) as journal:
        assert journal.set_aside is None
        assert journal.restore() == (None, [b"look"])


def test_emptied_file_with_a_log_is_damage(tmp_path):
    run_child(tmp_path, "journal.add([b'look'], sync=True); os.kill(os.getpid(), 9)")
    (tmp_path / "journal.db").write_bytes(b"")
    with reopen(tmp_path) as journal:
        assert journal.set_aside is not None
        assert journal.set_aside.with_name(journal.set_aside.name + "-wal").exists()


def made_old(file, version):
    """Make a file of an earlier format out of a journal."""
    with closing(sqlite3.connect(file)) as db:
        db.create_function("crc32", 1, zlib.crc32)
        for table in ("messages", "answers", "meta"):
            db.execute(f"ALTER TABLE {table} DROP COLUMN crc")
        for table, column in (("inputs", "body"), ("snapshots", "state")):
            db.execute(f"UPDATE {table} SET crc = crc32({column})")  # noqa: S608
        if version == 1:
            db.execute("ALTER TABLE messages DROP COLUMN correlation")
        db.execute("DELETE FROM meta WHERE key = 'format'")
        db.execute(f"PRAGMA user_version = {version}")
        db.commit()


@pytest.mark.parametrize("version", [1, 2])
def test_a_journal_of_an_earlier_format_goes_on(tmp_path, version):
    with closing(Journal.open(tmp_path, STARTED)) as journal:
        journal.add([b"1"], [event(1)], [Answer("floor", "7", b"d", b"yes")], sync=True)
        journal.snapshot(b"so far")
        journal.add([b"2"], sync=True)
        epoch = journal.epoch
    made_old(tmp_path / "journal.db", version)
    answer = Outgoing("public", None, "felt/t1/reply/x", b"{}", correlation=b"\x00c")
    for _ in range(2):
        with reopen(tmp_path, clock=lambda: STARTED) as journal:
            assert journal.set_aside is None
            assert journal.epoch == epoch
            assert journal.restore() == (b"so far", [b"2"])
            assert journal.unsent(9)[:1] == [event(1)]
            journal.add([], [answer], sync=True)
            assert journal.unsent(9)[-1] == answer


@pytest.mark.parametrize("version", [1, 2])
def test_a_damaged_journal_of_an_earlier_format_is_set_aside(tmp_path, version):
    with closing(Journal.open(tmp_path, STARTED)) as journal:
        journal.add([b"look number 7"], [event(1)], sync=True)
    made_old(tmp_path / "journal.db", version)
    damage_body(tmp_path / "journal.db")
    with reopen(tmp_path) as journal:
        assert journal.set_aside is not None
        assert journal.restore() == (None, [])


def test_newer_format_is_left_alone(tmp_path):
    with closing(Journal.open(tmp_path, STARTED)):
        pass
    with closing(sqlite3.connect(tmp_path / "journal.db")) as db:
        db.execute("UPDATE meta SET value = x'3939' WHERE key = 'format'")
        db.execute("PRAGMA user_version = 99")
        db.commit()
    with pytest.raises(JournalError, match="newer feltd"):
        Journal.open(tmp_path, STARTED)
    assert [p.name for p in tmp_path.glob("*damaged*")] == []


def run_child(directory, body):
    program = """
    import os, sys
    from pathlib import Path
    from daemon.journal import Journal, Outgoing
    journal = Journal.open(Path(sys.argv[1]), 1.0)
    """
    command = [sys.executable, "-c", textwrap.dedent(program) + body, str(directory)]
    return subprocess.run(command, stdout=subprocess.PIPE, check=False)


ENDLESS = """
import itertools
have = len(journal.restore()[1])
for n in itertools.count(have + 1):
    sync = n % 3 == 0
    journal.add([b"%d" % n], [Outgoing("public", n, "t", b"%d" % n)] if sync else [], sync=sync)
    if sync:
        print(n, flush=True)
"""


def test_kill_at_any_moment_loses_nothing_that_was_promised(tmp_path):
    random_ = random.Random(20261129)
    program = "import os, sys\nfrom pathlib import Path\nfrom daemon.journal import *\n"
    program += "journal = Journal.open(Path(sys.argv[1]), 1.0)\n" + ENDLESS
    promised = 0
    for _ in range(8):
        lines = random_.randint(1, 400)
        with subprocess.Popen(
            [sys.executable, "-c", program, str(tmp_path)], stdout=subprocess.PIPE
        ) as child:
            for _ in range(lines):
                promised = int(child.stdout.readline())
            child.send_signal(signal.SIGKILL)
            for line in child.stdout:
                promised = int(line)
        with reopen(tmp_path) as journal:
            inputs = journal.restore()[1]
            assert journal.set_aside is None
            assert inputs == [b"%d" % n for n in range(1, len(inputs) + 1)]
            assert len(inputs) >= promised
            told = [m.seq for m in journal.unsent(1_000_000)]
            assert told == list(range(3, len(inputs) + 1, 3))


@pytest.mark.parametrize("torn", ["cut", "garbled"])
def test_torn_end_of_the_log_costs_only_what_was_not_synced(tmp_path, torn):
    body = """
    journal.add([b'1'], [Outgoing('public', 1, 't', b'')], sync=True)
    print(os.stat(journal._file.path.with_name('journal.db-wal')).st_size, flush=True)
    for n in range(2, 30): journal.add([b'%d' % n], sync=False)
    os.kill(os.getpid(), 9)
    """
    synced = int(run_child(tmp_path, textwrap.dedent(body)).stdout)
    log = tmp_path / "journal.db-wal"
    content = log.read_bytes()
    middle = (synced + len(content)) // 2
    log.write_bytes(content[:middle] + (b"" if torn == "cut" else bytes(len(content) - middle)))
    with reopen(tmp_path) as journal:
        assert journal.set_aside is None
        inputs = journal.restore()[1]
        assert inputs == [b"%d" % n for n in range(1, len(inputs) + 1)]
        assert 1 <= len(inputs) < 29
        assert journal.unsent(9) == [Outgoing("public", 1, "t", b"")]


def test_full_disk_is_one_line_and_heals(tmp_path):
    with reopen(tmp_path) as journal:
        journal.add([b"before"], [event(1)], sync=True)
        size = (tmp_path / "journal.db-wal").stat().st_size
        soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (size + 4096, hard))
        try:
            with pytest.raises(JournalError, match=r"^[^\n]*journal\.db: [^\n]+$"):
                journal.add([bytes(100_000)], [event(2)], sync=True)
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        assert journal.restore() == (None, [b"before"])
        assert journal.unsent(9) == [event(1)]
        journal.add([b"after"], [event(2)], sync=True)
    with reopen(tmp_path) as journal:
        assert journal.restore() == (None, [b"before", b"after"])


@pytest.fixture
def small_disk(tmp_path):
    place = tmp_path / "disk"
    place.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=256k", "feltd-test", place]
    if os.geteuid() or subprocess.run(mount, check=False, capture_output=True).returncode:
        pytest.skip("may not mount")
    yield place
    subprocess.run(["umount", place], check=True)


def test_disk_that_fills_up_and_turns_read_only(small_disk):
    directory = small_disk / "t1"
    with reopen(directory) as journal:
        journal.add([b"before"], sync=True)
        filler = small_disk / "filler"
        with pytest.raises(OSError, match="No space"):
            filler.write_bytes(bytes(1 << 20))
        with pytest.raises(JournalError, match="full"):
            journal.add([bytes(50_000)], sync=True)
        filler.unlink()
        journal.add([b"after"], sync=True)
    subprocess.run(["mount", "-o", "remount,ro", small_disk], check=True)
    with pytest.raises(JournalError, match=r"t1: Read-only file system$"):
        Journal.open(directory, STARTED)
    subprocess.run(["mount", "-o", "remount,rw", small_disk], check=True)
    with reopen(directory) as journal:
        assert journal.restore() == (None, [b"before", b"after"])


def test_directory_that_cannot_be_made(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(JournalError, match=r"file/t1: Not a directory$"):
        Journal.open(tmp_path / "file" / "t1", STARTED)


def test_closed_journal_says_so(tmp_path):
    journal = Journal.open(tmp_path, STARTED)
    journal.close()
    journal.close()
    with pytest.raises(JournalError, match="closed"):
        journal.restore()
