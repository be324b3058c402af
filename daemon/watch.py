"""The table as a subscriber sees it: what the terminal shows, and each thing that happened once.

The rule of `seq` is kept by daemon/web/follow.py: state at S, then what is above S in order, and a
gap is asked for again.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias

from daemon.web.subscriber import Root, Subscriber

if TYPE_CHECKING:
    from collections.abc import Callable

    from daemon.address import Address
    from daemon.web.follow import Step

Payload: TypeAlias = dict[str, Any]

TOPICS = ("status", "state", "event", "showdown", "ruling/+", "alert", "reader/+", "metrics")
ALERTS = 4
RULINGS = ("showdown", "ruling/")


@dataclass
class View:
    """One table, as far as it was told; `happened` gets each new thing with its topic, once."""

    happened: Callable[[str, Payload], None]
    link: bool = False
    status: Payload = field(default_factory=dict)
    state: Payload = field(default_factory=dict)
    ruling: tuple[str, Payload] | None = None
    readers: dict[str, Payload] = field(default_factory=dict)
    metrics: Payload = field(default_factory=dict)
    alerts: deque[Payload] = field(default_factory=lambda: deque(maxlen=ALERTS))

    def step(self, _root: Root, step: Step) -> None:
        """A counted message in its turn."""
        if step.topic == "state":
            if step.kind == "fresh":
                self.ruling = None
                self.alerts.clear()
            before, self.state = self.state, step.payload
            if before != step.payload:
                self.happened("state", step.payload)
        elif step.topic.startswith(RULINGS):
            self._rule(step)
        elif step.kind == "told":
            if step.topic == "alert":
                self.alerts.append(step.payload)
            self.happened(step.topic, step.payload)

    def _rule(self, step: Step) -> None:
        """The newest ruling is shown; one from before we came is no news."""
        if self.ruling is None or step.payload.get("seq", 0) > self.ruling[1].get("seq", 0):
            self.ruling = (step.topic, step.payload)
        if step.kind == "told":
            self.happened(step.topic, step.payload)

    def aside(self, _root: Root, topic: str, payload: Payload) -> None:
        """A message outside of the count."""
        kind, _, name = topic.partition("/")
        if kind == "status":
            self.status = payload
        elif kind == "metrics":
            self.metrics = payload
            return
        elif kind == "reader":
            before = self.readers.get(name, {}).get("up")
            self.readers[name] = payload
            if before == payload.get("up"):
                return
        self.happened(topic, payload)

    def linked(self, link: bool) -> None:  # noqa: FBT001 - as the subscriber calls it
        """The broker has come or gone."""
        self.link = link
        self.happened("link", {"link": link})


def subscriber(address: Callable[[], Address], prefix: str, table: str, view: View) -> Subscriber:
    """Who follows the table and tells the view."""
    root = Root(f"{prefix}/{table}", TOPICS)
    return Subscriber(address, (root,), view.step, view.aside, view.linked)
