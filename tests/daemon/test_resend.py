"""What a subscriber gets that asks again: everything that is kept, and where the rest was."""

from __future__ import annotations

import asyncio
import json
from contextlib import closing

import pytest

from daemon import config
from daemon.journal import Journal, Limits
from daemon.memory import Memory
from daemon.recording import RawCommand
from daemon.resend import MOST, Resender
from drivers.sim.table import simulate, write


class Posts:
    """Takes the place of the connection: keeps what is posted."""

    def __init__(self):
        self.messages = []

    async def post(self, message):
        self.messages.append(message)


@pytest.fixture
def memory(tmp_path):
    write(simulate("holdem", "clean", 3, 1), tmp_path)
    limits = Limits(waiting=10_000)
    with closing(Journal.open(tmp_path / "state", 0.0, limits=limits)) as journal:
        yield Memory(config.load(tmp_path / "table.toml"), journal)


def tell(memory, first, last):
    """Names at the table: one event each, with `seq` from `first` to `last`."""
    for number in range(first, last + 1):
        body = {"id": str(number), "type": "set-names", "names": {"1": str(number)}}
        memory.take(number, RawCommand(json.dumps(body).encode(), private=False))
    memory.commit()
    assert memory.state.seq == last


def forget(memory, *numbers):
    with memory.journal._file.transaction(sync=False) as db:
        db.executemany("DELETE FROM messages WHERE seq = ?", [(n,) for n in numbers])


def asked(memory, since, *, private=False):
    """(`seq` or the ends of a gap) of each message of the answer."""

    async def main():
        posts = Posts()
        resender = Resender(memory, posts)
        await resender.ask(json.dumps({"from": since}).encode(), private=private)
        await asyncio.gather(*resender._tasks)
        return posts.messages

    answer = []
    for message in asyncio.run(main()):
        body = json.loads(message.payload)
        assert not message.retain
        if body.get("type") == "resend-gone":
            assert not {"seq", "hand", "late"} & set(body)
            assert message.seq is None
            answer.append((body["from"], body["to"]))
        else:
            assert body["late"] is True
            answer.append(body["seq"])
    return answer


def test_everything_from_there_on(memory):
    tell(memory, 1, 6)
    assert asked(memory, 3) == [3, 4, 5, 6]
    assert asked(memory, 0) == [1, 2, 3, 4, 5, 6]
    assert asked(memory, 7) == []


def test_each_gap_is_told_where_it_lies(memory):
    tell(memory, 1, 9)
    forget(memory, 1, 2, 5, 8, 9)
    assert asked(memory, 1) == [(1, 2), 3, 4, (5, 5), 6, 7, (8, 9)]
    assert asked(memory, 2) == [(2, 2), 3, 4, (5, 5), 6, 7, (8, 9)]


def test_nothing_is_kept_any_more(memory):
    tell(memory, 1, 4)
    forget(memory, 1, 2, 3, 4)
    assert asked(memory, 2) == [(2, 4)]
    assert asked(memory, 5) == []
    assert asked(memory, 1, private=True) == []


def test_what_is_not_yet_on_the_disk_is_not_gone(memory):
    tell(memory, 1, 2)
    body = b'{"id": "x", "type": "set-names", "names": {"1": "x"}}'
    memory.take(9, RawCommand(body, private=False))
    assert memory.state.seq == 3
    assert asked(memory, 1) == [1, 2]


def test_an_answer_is_bounded_and_says_nothing_of_what_lies_beyond(memory):
    tell(memory, 1, MOST + 20)
    assert asked(memory, 1) == list(range(1, MOST + 1))
    assert asked(memory, MOST + 1) == list(range(MOST + 1, MOST + 21))


def test_an_answer_changes_nothing_that_is_counted(memory):
    tell(memory, 1, 3)
    forget(memory, 1)
    assert asked(memory, 1) == [(1, 1), 2, 3]
    tell(memory, 4, 4)
    assert asked(memory, 4) == [4]
