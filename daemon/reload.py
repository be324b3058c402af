"""The configuration read again while the table plays: what changes at once, what has to wait.

Only what no open hand can trip over changes live. Cards that are taken out of a deck stay known
until the restart, because they may lie on the table.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import msgspec

from daemon.config import load

if TYPE_CHECKING:
    from daemon.config import Config
    from daemon.setup import Setup

LIVE = ("rules", "secrecy.unattended", "secrecy.floor", "decks")


@dataclass(frozen=True)
class Reload:
    """What a new configuration means for a running table.

    `live` and `restart` name the keys that changed and when they take effect.
    """

    config: Config
    setup: Setup
    live: list[str]
    restart: list[str]

    def line(self) -> str:
        """The same for a person."""
        if not self.live and not self.restart:
            return "the configuration has not changed"
        parts = []
        if self.live:
            parts.append(f"in effect: {', '.join(self.live)}")
        if self.restart:
            parts.append(f"only after a restart: {', '.join(self.restart)}")
        return f"the configuration was read again; {'; '.join(parts)}"


def plan(running: Config, setup: Setup) -> Reload:
    """Read the file of `running` again. Raises ConfigError, and then nothing changes."""
    fresh = load(running.path)
    wanted = fresh.setup()
    changed = _changed(running, fresh)
    if wanted.cards.items() - setup.cards.items():
        changed.append("decks")
    taken_out = setup.cards.keys() - wanted.cards.keys()
    restart = [name for name in changed if name not in LIVE]
    if taken_out:
        restart.append(f"decks ({len(taken_out)} cards taken out)")
    secrecy = msgspec.structs.replace(
        running.secrecy, unattended=fresh.secrecy.unattended, floor=fresh.secrecy.floor
    )
    return Reload(
        config=replace(running, profile=fresh.profile, secrecy=secrecy),
        setup=replace(
            setup,
            cards=setup.cards | wanted.cards,
            profile=wanted.profile,
            unattended=wanted.unattended,
            floor=wanted.floor,
        ),
        live=[name for name in changed if name in LIVE],
        restart=restart,
    )


def _changed(old: Config, new: Config) -> list[str]:
    """The keys that differ, by the names they have in the file."""
    before, after = _keys(old), _keys(new)
    return [name for name in before | after if before.get(name) != after.get(name)]


def _keys(config: Config) -> dict[str, Any]:
    """Every setting by the name of its key; a block whose keys change together is one."""
    found: dict[str, Any] = {"rules": config.profile, "state.dir": config.state_dir}
    for block in ("table", "mqtt", "secrecy"):
        keys = msgspec.structs.asdict(getattr(config, block))
        found |= {f"{block}.{name}": value for name, value in keys.items()}
    found["readers"] = [settings for _, settings in config.readers]
    found["decks.dir"] = config.decks_dir
    found["metrics.file"] = config.metrics_file
    return found
