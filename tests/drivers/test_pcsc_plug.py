# ruff: noqa: N802  # the names are those of winscard
"""What vpcd cannot provoke: plugging, refusals of polkit, names, a missing pyscard.

`FakeScard` stands for `smartcard.scard` here; everything else runs against a real pcscd in
test_pcsc.py.
"""

from __future__ import annotations

import asyncio
import sys
from contextlib import aclosing
from types import SimpleNamespace

import pytest

from drivers import Look, ReaderError, _scard
from drivers._scard import Context, choose, stable_port
from drivers.pcsc import Settings, read

UTRUST = "Identiv uTrust 3700 F Contactless Reader (5512) 00 00"
EMPTY, PRESENT, CHANGED = 0x10, 0x20, 0x02
OK, TIMEOUT, UNKNOWN_READER = 0, -0x7FEFFFF6, -0x7FEFFFF7
NO_READERS, DENIED, NO_CARD = -0x7FEFFFD2, -0x7FEFFF96, -0x7FEFFFF4


class FakeScard:
    """Readers by name, each with a UID or None; codes are negative as pyscard gives them."""

    def __init__(self, **channels):
        self.readers = {UTRUST: bytes.fromhex("04A1B2C3D4E5F6")}
        self.channels = {}
        self.establish = OK
        self.connect = OK
        self.controls = []
        self.lost = "state"

    def SCardEstablishContext(self, scope):
        return self.establish, 7

    def SCardReleaseContext(self, context):
        return OK

    def SCardCancel(self, context):
        return OK

    def SCardListReaders(self, context, groups):
        return (OK, list(self.readers)) if self.readers else (NO_READERS, [])

    def SCardGetStatusChange(self, context, milliseconds, states):
        ((name, state),) = states
        if name not in self.readers:
            if self.lost == "code":
                return UNKNOWN_READER, states
            return OK, [(name, 0x04 | 0x08 | CHANGED, [])]
        now = PRESENT if self.readers[name] else EMPTY
        return (TIMEOUT, states) if state == now else (OK, [(name, now | CHANGED, [])])

    def SCardConnect(self, context, name, share, protocol):
        if share == 2 and not self.readers[name]:
            return NO_CARD, 0, 0
        return self.connect, name, 2

    def SCardDisconnect(self, card, disposition):
        return OK

    def SCardTransmit(self, card, protocol, command):
        return OK, [*self.readers[card], 0x90, 0x00]

    def SCardControl(self, card, code, command):
        self.controls.append((code, bytes(command)))
        return OK, [0x90, 0x00]

    def SCardGetAttrib(self, card, attribute):
        value = self.channels.get(card)
        return (OK, list(value.to_bytes(4, "little"))) if value else (-0x7FEFFFDE, [])


@pytest.fixture
def fake(monkeypatch):
    scard = FakeScard()
    monkeypatch.setitem(sys.modules, "smartcard", SimpleNamespace(scard=scard))
    monkeypatch.setitem(sys.modules, "smartcard.scard", scard)
    return scard


def run(test, port="uTrust"):
    async def body():
        async with aclosing(read(Settings(name="shoe", port=port, antennas={4: "shoe"}))) as looks:
            return await test(looks)

    return asyncio.run(body())


def error(port="uTrust"):
    with pytest.raises(ReaderError) as caught:
        run(anext, port)
    assert "\n" not in str(caught.value)
    return str(caught.value)


@pytest.mark.parametrize("how", ["state", "code"])
def test_unplugged_and_plugged_in_under_another_number(fake, how):
    fake.lost = how

    async def unplugged(looks):
        assert await anext(looks) == Look("shoe", 4, ("04A1B2C3D4E5F6",), partial=True)
        fake.readers.clear()
        with pytest.raises(ReaderError, match=r"^uTrust: the reader is unplugged$"):
            await anext(looks)

    run(unplugged)
    assert error() == "uTrust: no PC/SC reader of this name (found: none)"
    fake.readers[UTRUST.replace(" 00 00", " 01 00")] = bytes.fromhex("01020304")
    assert run(anext).tags == ("01020304",)


def test_polkit_refuses(fake):
    fake.establish = DENIED
    assert "org.debian.pcsc-lite.access_pcsc" in error()
    fake.establish, fake.connect = OK, DENIED
    assert "org.debian.pcsc-lite.access_card" in error()


def test_a_code_nobody_expects_is_told(fake):
    fake.establish = -0x7FEFFFFF
    assert error() == "uTrust: PC/SC refuses, SCardEstablishContext: 0x80100001"


def test_pyscard_is_missing(monkeypatch):
    monkeypatch.setitem(sys.modules, "smartcard", None)
    monkeypatch.setitem(sys.modules, "smartcard.scard", None)
    assert "install feltd[pcsc]" in error()


def test_a_socket_without_permission_names_the_group(fake, monkeypatch, tmp_path):
    socket = tmp_path / "pcscd.comm"
    socket.touch()
    monkeypatch.setenv("PCSCLITE_CSOCK_NAME", str(socket))
    monkeypatch.setattr(_scard.os, "access", lambda path, mode: False)
    fake.establish = -0x7FEFFFE3
    assert f"no permission on {socket}, which belongs to group {socket.group()}" in error()


def test_the_acr122u_is_silenced_through_its_driver_where_that_allows_it(fake):
    fake.readers = {"ACS ACR122U PICC Interface 00 00": None}
    assert run(anext, "ACR122") == Look("shoe", 4)
    assert fake.controls == [
        (0x42000001, bytes.fromhex("FF00520000")),
        (0x42000001, bytes.fromhex("FF00400C0400000000")),
    ]


TWINS = ("ACS ACR122U PICC Interface 00 00", "ACS ACR122U PICC Interface 01 00")
DUAL = (
    "ACS ACR1252 Dual Reader [ACR1252 Dual Reader PICC] (A7) 00 00",
    "ACS ACR1252 Dual Reader [ACR1252 Dual Reader SAM] (A7) 01 00",
    "ACS ACR1252 Dual Reader [ACR1252 Dual Reader PICC] (B9) 02 00",
)


@pytest.mark.parametrize(
    ("port", "names", "found"),
    [
        ("ACS ACR122U PICC Interface 07 00", TWINS[:1], TWINS[0]),
        ("acr122u", TWINS[:1], TWINS[0]),
        ("(A7)", DUAL, DUAL[0]),
        ("PICC.*B9", DUAL, DUAL[2]),
        ("usb:1-1.4", TWINS, TWINS[1]),
        ("Virtual PCD 03 01", ("Virtual PCD 00 00", "Virtual PCD 00 01"), "Virtual PCD 00 01"),
        ("Odd name", ("Odd name",), "Odd name"),
    ],
)
def test_a_port_means_one_reader(port, names, found):
    usb = {TWINS[0]: "1-1.3", TWINS[1]: "1-1.4"}
    assert choose(port, names, usb.get) == found


@pytest.mark.parametrize(
    ("port", "names", "text"),
    [
        (TWINS[0], TWINS, "2 PC/SC readers match"),
        ("ACR1252", DUAL, "2 PC/SC readers match"),
        ("usb:2-1", TWINS, "no PC/SC reader"),
        ("(((", TWINS, "no PC/SC reader"),
    ],
)
def test_a_port_that_means_none_or_several_is_refused(port, names, text):
    with pytest.raises(ReaderError, match=text):
        choose(port, names, {}.get)


def test_the_usb_port_comes_from_the_channel(fake, monkeypatch, tmp_path):
    for path, bus, device in (("1-1.3", 1, 12), ("1-1.4", 1, 13), ("usb1", 1, 1)):
        (tmp_path / path).mkdir()
        (tmp_path / path / "busnum").write_text(f"{bus}\n")
        (tmp_path / path / "devnum").write_text(f"{device}\n")
    monkeypatch.setattr(_scard, "_SYSFS", tmp_path)
    fake.readers = dict.fromkeys((*TWINS, "Other 02 00", "Serial 03 00"))
    fake.channels = {TWINS[0]: 0x0020010C, TWINS[1]: 0x0020010D, "Serial 03 00": 0x00010001}
    context = Context()
    paths = [context.usb_path(name) for name in fake.readers]
    assert paths == ["1-1.3", "1-1.4", None, None]
    assert run(anext, "usb:1-1.4").tags == ()


@pytest.mark.parametrize(
    ("name", "names", "usb", "port"),
    [
        (TWINS[0], TWINS[:1], None, "ACS ACR122U PICC Interface"),
        (TWINS[0], TWINS, "1-1.3", "usb:1-1.3"),
        (TWINS[0], TWINS, None, None),
        (DUAL[0], DUAL, None, DUAL[0].removesuffix(" 00 00")),
        ("V 00 01", ("V 00 00", "V 00 01"), None, "V 00 01"),
    ],
)
def test_the_port_to_write_down(name, names, usb, port):
    assert stable_port(name, names, usb) == port
    if port:
        assert choose(port, names, {name: usb}.get) == name
