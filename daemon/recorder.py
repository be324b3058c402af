"""`feltd run --record`: everything that goes into the table, from between two hands on."""

from __future__ import annotations

import os
from contextlib import suppress
from typing import TYPE_CHECKING

from daemon.errors import FeltdError
from daemon.events import Key
from daemon.recording import Opening, RecordingError, write_line, write_opening

if TYPE_CHECKING:
    from pathlib import Path

    from daemon.memory import Memory
    from daemon.recording import Entry


class Recorder:
    """Writes a recording; times count from its start. The file is for its owner alone."""

    def __init__(self, path: Path) -> None:
        try:
            descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        except OSError as error:
            raise FeltdError(f"{path}: {error.strerror}") from None
        os.fchmod(descriptor, 0o600)
        self._file = os.fdopen(descriptor, "wb", buffering=0)
        self._zero: int | None = None

    def before(self, now: int, memory: Memory) -> None:
        """Begin between hands and deals: the opening line, and the key that is already drawn."""
        state = memory.state
        if self._zero is not None or state.open_hand() or state.open_deal():
            return
        self._zero = now
        self._write(
            write_opening(
                Opening(
                    started=memory.wire.moment(now),
                    epoch=state.epoch,
                    hand=state.next_number,
                    button=state.button,
                    discipline=state.discipline,
                    names=state.names or None,
                    odds=True,
                    seq=state.seq,
                    private_seq=state.private_seq,
                    head=state.ledger.head,
                )
            )
        )
        if state.key is not None:
            self._write(write_line(0, Key(state.key)))

    def input(self, now: int, entry: Entry) -> None:
        """One input, in the order in which the table took it; what is no JSON changed nothing."""
        if self._zero is not None:
            with suppress(RecordingError):
                self._write(write_line(now - self._zero, entry))

    def close(self) -> None:
        """No more lines."""
        self._file.close()

    def _write(self, line: bytes) -> None:
        self._file.write(line + b"\n")
