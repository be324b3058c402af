"""What `feltd readers` finds, laid out for a person, a configuration or a program."""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from daemon.cli._probe import Found, Slot, pcsc, probe
from drivers import ReaderError
from drivers._ports import ports, unsteady

if TYPE_CHECKING:
    from collections.abc import Sequence

    from drivers._ports import PortInfo

_RAIL: Final = frozenset({"feig", "metratec"})
"""Drivers whose readers hear many cards, and so lie at the seats; the others suit the shoe."""
_NAMES: Final = Path("/dev/serial")


def list_all(named: Sequence[str], *, as_json: bool) -> int:
    """Print the ports and PC/SC readers; nothing is opened."""
    found = [(steady(info.device), described(info)) for info in _serial()]
    serial = [(port, "") for port in named] or found
    slots, why = _slots(named)
    if as_json:
        print(json.dumps({
            "serial": [{"port": port, "description": text} for port, text in serial],
            "pcsc": [{"name": slot.name, "port": slot.port} for slot in slots],
            "pcsc_error": why,
        }))  # fmt: skip
        return 0
    print("Serial ports")
    for port, text in serial or [("none", "")]:
        print(f"  {port}  {text}".rstrip())
    print("PC/SC readers")
    for slot in slots:
        print(f"  {slot.name}  {_port_of(slot)}")
    if not slots:
        print(f"  {why or 'none'}")
    return 0


def _port_of(slot: Slot) -> str:
    return f'port = "{slot.port}"' if slot.port else "(one of several that nothing tells apart)"


def _serial() -> list[PortInfo]:
    return sorted(ports(), key=lambda info: info.device)


def _slots(named: Sequence[str]) -> tuple[list[Slot], str | None]:
    """The PC/SC readers, or the reason why there are none; none when ports are named."""
    if named:
        return [], None
    try:
        return pcsc(), None
    except ReaderError as error:
        return [], str(error)


def described(info: PortInfo) -> str:
    """What USB says about a port, in the words of a match rule."""
    parts = {
        "vid": None if info.vid is None else f"{info.vid:04x}",
        "pid": None if info.pid is None else f"{info.pid:04x}",
        "serial": info.serial_number,
        "location": info.location,
    }
    return ",".join(f"{key}={value}" for key, value in parts.items() if value)


def steady(device: str) -> str:
    """The name of a port that will be its own after a reboot, if udev gives one."""
    for folder in ("by-id", "by-path"):
        for link in sorted((_NAMES / folder).glob("*")):
            if str(link.resolve()) == device and unsteady(str(link)) is None:
                return str(link)
    return device


def probe_all(named: Sequence[str], *, as_json: bool) -> int:
    """Ask on all ports at once; print a block for each reader, and on standard error the rest."""
    asked = named or [steady(info.device) for info in _serial()]
    found = [each for each in asyncio.run(_probe(asked)) if each is not None]
    slots, why = _slots(named)
    if why:
        print(why, file=sys.stderr)
    for slot in slots:
        if slot.port:
            found.append(Found(slot.port, "pcsc", slot.name))
        else:
            print(f"{slot.name}: {_port_of(slot)}", file=sys.stderr)
    blocks = _named(found)
    if as_json:
        print(json.dumps([payload(name, each) for name, each in blocks]))
    else:
        print("\n".join(block(name, each) for name, each in blocks), end="")
    return 0 if found else 1


async def _probe(asked: Sequence[str]) -> list[Found | None]:
    return await asyncio.gather(*map(_probe_one, asked))


async def _probe_one(port: str) -> Found | None:
    """Ask on one port, and tell what is there or why it cannot be told."""
    print(f"{port}: asking", file=sys.stderr)
    try:
        found = await probe(port)
    except ReaderError as error:
        print(error, file=sys.stderr)
        return None
    print(f"{port}: {found.what if found else 'nobody answers'}", file=sys.stderr)
    return found


def _named(found: Sequence[Found]) -> list[tuple[str, Found]]:
    """Each reader with a name of its own: its driver's, numbered where there are several."""
    counts: dict[str, int] = {}
    names = []
    for each in found:
        number = counts[each.driver] = counts.get(each.driver, 0) + 1
        names.append((each.driver if number == 1 else f"{each.driver}-{number}", each))
    return names


def payload(name: str, found: Found) -> dict[str, Any]:
    """The keys of a `[[readers]]` block; where the first antenna lies is a guess."""
    return {
        "name": name,
        "driver": found.driver,
        "port": found.port,
        **found.settings,
        "antennas": {1: "seat:1" if found.driver in _RAIL else "shoe"},
    }


def block(name: str, found: Found) -> str:
    """The `[[readers]]` block, ready for a configuration."""
    lines = [f"# {found.what}", "[[readers]]"]
    for key, value in payload(name, found).items():
        text = inline(value) if isinstance(value, dict) else json.dumps(value)
        lines.append(f"{key} = {text}")
    return "\n".join(lines) + "\n"


def inline(antennas: dict[int, str]) -> str:
    """An `antennas` table."""
    return "{ " + ", ".join(f'{number} = "{zone}"' for number, zone in antennas.items()) + " }"
