"""Progress for a person: a live panel on a terminal, plain lines elsewhere."""

from __future__ import annotations

import sys
from collections import deque
from typing import TYPE_CHECKING, Self

from rich.console import Console, Group
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.text import Text

if TYPE_CHECKING:
    from types import TracebackType

_KEPT = 6
"""Lines of what happened that the panel keeps in sight."""


class Screen:
    """What happened, how far it is, what to do next. Standard error when `aside`."""

    def __init__(self, total: int, *, aside: bool = False) -> None:
        self._file = sys.stderr if aside else sys.stdout
        self._console = Console(file=self._file, highlight=False)
        self._total = total
        self._done = 0
        self._next = ""
        self._said: deque[str] = deque(maxlen=_KEPT)
        self._live = Live(console=self._console, auto_refresh=False, transient=True)

    def __enter__(self) -> Self:
        """Show the panel, if there is a terminal for it."""
        if self._console.is_terminal:
            self._live.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Take the panel away."""
        if self._live.is_started:
            self._live.stop()

    def say(self, text: str) -> None:
        """A thing that happened."""
        self._said.append(text)
        if not self._live.is_started:
            print(text, file=self._file, flush=True)
        self._draw()

    def ask(self, text: str, done: int) -> None:
        """What to do next, and how many of the total are done."""
        if not self._live.is_started and text != self._next:
            print(f"{text} [{done}/{self._total}]", file=self._file, flush=True)
        self._next, self._done = text, done
        self._draw()

    def _draw(self) -> None:
        if not self._live.is_started:
            return
        panel = Group(
            *(Text(line, style="dim") for line in self._said),
            ProgressBar(total=self._total, completed=self._done, width=52),
            Text(f"{self._done} of {self._total}", style="dim"),
            Text(self._next, style="bold"),
        )
        self._live.update(panel, refresh=True)
