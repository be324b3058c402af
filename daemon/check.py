"""Everything that can be wrong before play, found in one go."""

from __future__ import annotations

from typing import TYPE_CHECKING

from daemon.checks.broker import check_broker
from daemon.checks.files import check_clock, check_decks, check_state, check_user
from daemon.checks.ports import check_ports
from daemon.checks.words import Finding, finding
from daemon.config import load
from daemon.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterable
    from pathlib import Path


async def check(path: Path) -> AsyncIterator[Finding]:
    """All findings, each as soon as it is known; nothing is changed and nothing is kept open."""
    try:
        config = load(path)
    except ConfigError as error:
        yield finding("config-wrong", error=error)
        return
    yield finding("config", path=path, table=config.table.id, readers=len(config.readers))
    for some in (check_user, check_decks, check_state):
        for found in some(config):
            yield found
    async for found in check_ports(config):
        yield found
    async for found in check_broker(config):
        yield found
    for found in check_clock():
        yield found


def status(findings: Iterable[Finding]) -> int:
    """The exit status: 78 when the daemon would not start, 1 for any other problem."""
    states = {found.state for found in findings}
    if "config" in states:
        return 78
    return 1 if "problem" in states else 0
