"""A journal that rots while the table is in use: a clear line, an end, and a clean start."""

from __future__ import annotations

import asyncio
from contextlib import closing

import pytest

from daemon import config
from daemon.app import App
from daemon.events import Rival
from daemon.journal import DamagedError, Journal, Outgoing
from daemon.state import TableState
from daemon.table import save

TOLD = 6000


@pytest.fixture
def table(live, tmp_path, mosquitto):
    return live.Table(tmp_path, mosquitto.url)


def long_evening(folder):
    """A journal larger than what SQLite keeps in memory."""
    with closing(Journal.open(folder, 1_796_000_000.0)) as journal:
        for first in range(1, TOLD, 100):
            numbers = range(first, first + 100)
            body = b'{"type": "folded", "seat": 1, "pad": "%s"}' % (b"x" * 900)
            told = [Outgoing("public", n, "felt/demo/event", body) for n in numbers]
            journal.add([], told, sync=False)
        journal.acknowledged(range(1, TOLD + 1))
        state = TableState(epoch=journal.epoch, discipline="holdem", seq=TOLD)
        journal.snapshot(save(state))
        return journal.epoch


def rot(file):
    """The middle of the file is no longer what it was; head and tail are."""
    size = file.stat().st_size
    with file.open("r+b") as pages:
        pages.seek(size // 4096 // 10 * 4096)
        pages.write(b"\x5a" * (size // 4096 * 8 // 10 * 4096))


def test_a_journal_that_rots_in_use_ends_the_daemon_and_starts_anew(live, table, mosquitto):
    state = table.folder / "state"
    state.mkdir()
    old = long_evening(state)

    async def go():
        async with (
            table.plugged_in(),
            live.audience("127.0.0.1", mosquitto.port) as heard,
            table.running(),
        ):
            await heard.until("reader/rail", up=True)
            assert heard.of("status", online=True)[-1]["epoch"] == old
            rot(state / "journal.db")
            await heard.client.publish("felt/demo/resend", '{"from": 1}', qos=1)
            ended = await asyncio.to_thread(table.process.wait, live.PATIENCE)
            last = table.log.read_text().splitlines()[-1]
            log = table.log.read_text()
            table.log.unlink()
            table.start()
            alert = await heard.until("alert", kind="memory-lost")
            assert (await heard.command("set-button", seat=2))["ok"]
            assert await table.stop() < 5
            return ended, last, log, alert

    ended, last, log, alert = asyncio.run(go())
    assert ended == 1
    assert last.startswith(f"feltd: {state}/journal.db: ")
    assert "Traceback" not in log
    assert (alert["seq"], alert["severity"]) == (1, "stop")
    assert alert["epoch"] != old
    (line,) = table.said("set aside as", "error")
    (aside,) = state.glob("journal-damaged-*.db")
    assert str(aside) in line
    assert "found damaged while it was in use" in line
    assert table.process.returncode == 0
    assert list(state.glob("journal.damaged")) == []


@pytest.fixture
def rotten(table):
    """The daemon's parts around a journal that has just rotted below them."""
    state = table.folder / "state"
    state.mkdir()
    long_evening(state)
    app = App(config.load(table.config))
    app.journal._file._db.execute("PRAGMA cache_size = 1")
    app.journal._file.cut_log()
    rot(state / "journal.db")
    with closing(app.journal):
        yield app


def test_a_commit_does_not_wait_for_a_journal_that_is_damaged(rotten):
    """A full disk is waited for; this one will never take anything again."""
    rotten.memory.take(1, Rival("other"))

    async def go():
        async with asyncio.timeout(20):
            await rotten._commit()

    with pytest.raises(DamagedError, match=r"journal\.db: "):
        asyncio.run(go())
    with pytest.raises(DamagedError, match="the next start sets it aside"):
        rotten.journal.check()


FINDERS = {
    "resend": lambda app: app.journal.range("public", 1, 5000),
    "refusal": lambda app: app.journal.refused([TOLD // 2]),
}


@pytest.mark.parametrize("finder", FINDERS)
def test_whoever_finds_the_damage_the_loop_hears_of_it(rotten, finder):
    rotten.journal.check()
    with pytest.raises(DamagedError):
        FINDERS[finder](rotten)
    with pytest.raises(DamagedError, match="the next start sets it aside"):
        rotten.journal.check()
    rotten.journal.close()
    with closing(Journal.open(rotten.config.state_dir, 1_796_000_060.0)) as journal:
        assert journal.set_aside is not None
        assert journal.restore() == (None, [])


def test_damage_that_no_check_at_the_start_can_see_is_remembered(tmp_path):
    """Or the next start would go on with the same file, and end at the same place."""
    with closing(Journal.open(tmp_path, 1.0)) as journal:
        journal.add([b"look"], sync=True)
        with pytest.raises(DamagedError), journal._file.reading():
            raise DamagedError("a sector that can be read only now and then")
        epoch = journal.epoch
    with closing(Journal.open(tmp_path, 2.0)) as journal:
        assert journal.set_aside is not None
        assert journal.epoch != epoch
        journal.add([b"look"], sync=True)
    with closing(Journal.open(tmp_path, 3.0)) as journal:
        assert journal.set_aside is None
        assert journal.restore() == (None, [b"look"])


def test_a_snapshot_of_another_version_takes_its_numbers_with_it(live, table, mosquitto):
    """A table that went on in the same epoch would use numbers that are used."""
    state = table.folder / "state"
    state.mkdir()
    old = long_evening(state)
    with closing(Journal.open(state, 1_796_000_000.0)) as journal:
        journal.snapshot(b"what a later version writes")

    async def go():
        async with (
            table.plugged_in(),
            live.audience("127.0.0.1", mosquitto.port) as heard,
            table.running(),
        ):
            alert = await heard.until("alert", kind="memory-lost")
            assert (await heard.command("set-button", seat=2))["ok"]
            await table.stop()
            return alert

    alert = asyncio.run(go())
    assert alert["seq"] == 1
    assert alert["epoch"] != old
    assert len(table.said("another version cannot be read", "error")) == 1
