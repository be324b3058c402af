from __future__ import annotations

import errno
from dataclasses import dataclass
from pathlib import Path

import pytest

from drivers import ReaderError, _ports


@dataclass
class Info:
    device: str
    vid: int | None = None
    pid: int | None = None
    serial_number: str | None = None
    location: str | None = None


FTDI = Info("/dev/ttyUSB0", 0x0403, 0x6001, "A10K1ABC", "1-1.2")
CLONES = [
    Info("/dev/ttyUSB1", 0x10C4, 0xEA60, "0001", "1-1.3"),
    Info("/dev/ttyUSB2", 0x10C4, 0xEA60, "0001", "1-1.4"),
]
FOUND = [FTDI, *CLONES, Info("/dev/ttyS0")]


@pytest.mark.parametrize(
    "rule",
    [
        "vid=0403",
        "vid=0403,pid=6001",
        "serial=A10K1ABC",
        "serial=a10k1abc,vid=0403",
        "location=1-1.2",
    ],
)
def test_rules_that_name_one_port(rule: str) -> None:
    assert _ports.resolve(rule, FOUND) == "/dev/ttyUSB0"


def test_a_rule_that_names_none_or_two_says_so() -> None:
    with pytest.raises(ReaderError, match="no port on this machine matches"):
        _ports.resolve("vid=1a86", FOUND)
    with pytest.raises(ReaderError, match=r"2 ports \(/dev/ttyUSB1, /dev/ttyUSB2\)"):
        _ports.resolve("vid=10c4,serial=0001", FOUND)
    assert _ports.resolve("vid=10c4,location=1-1.4", FOUND) == "/dev/ttyUSB2"


@pytest.mark.parametrize("port", ["/dev/ttyUSB0", "socket://reader:10001", "ACS ACR122U", "vid"])
def test_what_is_no_rule_stays(port: str) -> None:
    assert _ports.resolve(port, FOUND) == port


def test_two_names_of_one_place(tmp_path: Path) -> None:
    device = tmp_path / "ttyUSB0"
    device.write_text("")
    link = tmp_path / "by-id"
    link.symlink_to(device)
    assert _ports.place(str(link)) == _ports.place(str(device)) == str(device)
    assert _ports.place("socket://Reader:10001") == _ports.place("socket://reader:10001")
    assert _ports.place("vid=ffff,pid=ffff") == "vid=ffff,pid=ffff"


def test_names_that_may_be_anothers_tomorrow(tmp_path: Path) -> None:
    assert "order of discovery" in (_ports.unsteady("/dev/ttyUSB0", FOUND) or "")
    assert "order of discovery" in (_ports.unsteady("/dev/ttyACM3", FOUND) or "")
    assert _ports.unsteady("/dev/ttyACM3", FOUND, lone=True) is None
    folder = tmp_path / "serial" / "by-id"
    folder.mkdir(parents=True)
    for name, info in (("usb-FTDI", FTDI), ("usb-CP2102_0001", CLONES[1])):
        (folder / name).symlink_to(tmp_path / Path(info.device).name)
        (tmp_path / Path(info.device).name).write_text("")
    here = [Info(str(tmp_path / Path(i.device).name), i.vid, i.pid, i.serial_number) for i in FOUND]
    assert _ports.unsteady(str(folder / "usb-FTDI"), here) is None
    said = _ports.unsteady(str(folder / "usb-CP2102_0001"), here) or ""
    assert "ttyUSB1" in said
    assert "ttyUSB2 share this name" in said
    assert _ports.unsteady("/dev/serial/by-path/pci-0", here) is None


@pytest.mark.parametrize(
    ("number", "said"),
    [
        (errno.EACCES, "no permission; this user must be in group "),
        (errno.ENOENT, "not there"),
        (errno.EBUSY, "in use by "),
        (errno.EIO, "Input/output error"),
    ],
)
def test_blame(number: int, said: str, tmp_path: Path) -> None:
    port = tmp_path / "port"
    port.write_text("")
    line = _ports.blame(str(port), OSError(number, "Input/output error"), "9600 8N1")
    assert line.startswith(f"{port}: {said}")


def test_the_group_is_that_of_the_port(tmp_path: Path) -> None:
    port = tmp_path / "port"
    port.write_text("")
    line = _ports.blame(str(port), PermissionError(errno.EACCES, "denied"), "9600 8N1")
    assert line.endswith(f"group {port.group()}")
