"""A table whose readers and clock are simulated, everything else of it real; run as a program.

`python tests/evening.py FOLDER ROUNDS`: FOLDER holds table.toml and a recording, which is played
ROUNDS times over. A table that was killed goes on where its journal stops.
"""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path

import daemon.app
from daemon import config
from daemon.recording import read_line, read_opening

PAUSE_MS = 20_000
BURST = 25


def lines(folder):
    """The recording without its opening, each line at a millisecond of its own."""
    found, last = [], 0
    for text in (folder / "recording.jsonl").read_bytes().splitlines():
        if read_opening(text) is None:
            line = json.loads(text)
            last = max(round(line["t"] * 1000), last + 1)
            found.append((last, line))
    return found


def inputs(folder, rounds, after=0):
    """(ms, line) of everything that comes later than `after`."""
    once = lines(folder)
    span = once[-1][0] + PAUSE_MS
    for number in range(max(0, after) // span, rounds):
        for at, line in once:
            now = number * span + at
            if now <= after:
                continue
            if "command" in line:
                command = {k: v for k, v in line["command"].items() if k != "hand"}
                yield now, line | {"command": command | {"id": f"{number}-{command['id']}"}}
            else:
                yield now, line


class Table(daemon.app.App):
    """The daemon with a clock that the readers set, and keys from the recording."""

    at = 0

    def now(self):
        return self.at

    def _draw_key(self):
        return


async def main(folder, rounds):
    table = Table(config.load(folder / "table.toml"))
    table.at = table.memory.state.now
    table.calculator.ask = lambda _: None

    async def readers(_, put):
        for number, (now, line) in enumerate(inputs(folder, rounds, table.memory.state.now)):
            table.at, entry = read_line(json.dumps(line | {"t": now / 1000}).encode())
            await table._inbox.put((table.at, entry))
            if number % BURST == 0:
                await asyncio.sleep(0.002)
        await asyncio.Event().wait()

    daemon.app.supervise = readers
    await table.run()


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1]), int(sys.argv[2])))
