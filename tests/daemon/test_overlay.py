"""The page for overlay makers: its examples fit the schema, its programs run against a broker."""

from __future__ import annotations

import asyncio
import json
import re
import sys
from contextlib import closing
from pathlib import Path

import pytest

from daemon import config
from daemon.address import Address
from daemon.claim import Topics
from daemon.journal import Journal
from daemon.memory import Memory
from daemon.mqtt import Publisher
from daemon.recording import read_line, read_opening
from daemon.resend import Resender
from daemon.topics import CHANNELS, EVENTS
from drivers.sim.table import simulate, write

PAGE = (Path(__file__).parents[2] / "docs" / "overlay.md").read_text(encoding="utf-8")
MQTT_JS = ("mqtt", "5.16.0")
EXAMPLES = re.findall(
    r"^### `([^`]+)`[^\n]*\n(?:\n(?!```)[^\n]+\n)?\n```json\n(.*)\n```", PAGE, re.MULTILINE
)


def blocks(language):
    return re.findall(rf"```{language}\n(.*?)```", PAGE, re.DOTALL)


def test_every_topic_has_an_example_that_fits(contract):
    told = set()
    for topic, text in EXAMPLES:
        payload = json.loads(text)
        assert contract.faults(topic, payload) == []
        told.add((contract.address(topic), payload.get("type")))
    assert {place for place, _ in told} == {each.address for each in CHANNELS if not each.taken}
    kinds = {each.__struct_config__.tag for each in EVENTS}
    assert {kind for place, kind in told if place.endswith("/event")} == kinds
    assert len(EXAMPLES) == PAGE.count("```json") - 1


class Stage:
    """A table that tells a real broker two halves of an evening, some messages lost on the way."""

    def __init__(self, folder, broker):
        write(simulate("holdem", "field", 3, 4, commands=True, keys=True), folder)
        lines = (folder / "recording.jsonl").read_bytes().splitlines()
        self.inputs = [read_line(line) for line in lines if read_opening(line) is None]
        self.journal = Journal.open(folder / "state", 0.0)
        self.memory = Memory(config.load(folder / "table.toml"), self.journal)
        topics = Topics("felt", "sim")
        self.publisher = Publisher(Address(broker.url), topics, self.journal, self)
        self.resender = Resender(self.memory, self.publisher)
        self.joined_at = 0

    async def inbound(self, received):
        if received.topic.endswith("/resend"):
            await self.resender.ask(received.payload, private=False)

    def status(self, *, online):
        from daemon.wire import Status  # noqa: PLC0415

        body = Status(online=online, version="0", since="")
        return self.memory.wire.status(0, body).payload

    def on_connect(self):
        return []

    def refused(self, message, reason):
        pytest.fail(reason)

    def trouble(self, line):
        pytest.fail(line)

    def rival(self, instance):
        pytest.fail(instance)

    def tell(self, inputs, lost):
        """Take inputs in; those of the counted messages are never sent, as if the broker had."""
        for now, entry in inputs:
            self.memory.take(now, entry)
        self.memory.commit()
        counted = [m for m in self.journal.unsent(10_000) if m.seq and m.root == "public"]
        self.journal.acknowledged([counted[at].id for at in lost])
        self.publisher.wake()

    async def sent(self):
        while self.journal.unsent(1):  # noqa: ASYNC110 - the outbox has no event
            await asyncio.sleep(0.01)


async def read(overlay):
    line = await overlay.stdout.readline()
    assert line, "the overlay has ended"
    return line.decode().split()


async def run(stage, command):
    """Start the overlay between the two halves; its lines until it has everything."""
    publisher = asyncio.create_task(stage.publisher.run())
    half = len(stage.inputs) // 3
    stage.tell(stage.inputs[:half], [3])
    await stage.sent()
    stage.joined_at = stage.memory.state.seq
    overlay = await asyncio.create_subprocess_exec(*command, stdout=asyncio.subprocess.PIPE)
    try:
        lines = [await read(overlay)]
        stage.tell(stage.inputs[half:], [5, 6, 20])
        last = str(stage.memory.state.seq)
        while lines[-1][0] != last:
            lines.append(await read(overlay))
    finally:
        overlay.kill()
        await overlay.wait()
        publisher.cancel()
        await asyncio.wait([publisher])
    return lines


def check(stage, lines):
    kept = stage.journal.range("public", stage.joined_at + 1, 10_000).messages
    assert len(kept) > 60
    assert lines[0] == ["joined", "at", str(stage.joined_at)]
    expected = []
    for each in kept:
        payload = json.loads(each.payload)
        kind = [payload["type"]] if "type" in payload else []
        expected.append([str(each.seq), each.topic.split("/", 2)[2], *kind])
    assert lines[1:] == expected


def test_the_python_overlay_misses_nothing(tmp_path, mosquitto):
    program = tmp_path / "overlay.py"
    program.write_text(blocks("python")[0])
    stage = Stage(tmp_path, mosquitto)
    with closing(stage.journal):
        command = [sys.executable, program, "127.0.0.1", str(mosquitto.port), "felt/sim"]
        check(stage, asyncio.run(run(stage, command)))


@pytest.mark.timeout(300)
def test_the_javascript_overlay_misses_nothing(tmp_path, mosquitto, npm):
    (tmp_path / "node_modules").symlink_to(npm(*MQTT_JS) / "node_modules")
    program = tmp_path / "overlay.mjs"
    program.write_text(blocks("javascript")[0])
    stage = Stage(tmp_path, mosquitto)
    with closing(stage.journal):
        command = ["node", program, mosquitto.url, "felt/sim"]
        check(stage, asyncio.run(run(stage, command)))


@pytest.mark.parametrize("language", ["python", "javascript"])
def test_the_programs_are_about_fifty_lines(language):
    (program,) = blocks(language)
    assert len(program.splitlines()) <= 60
