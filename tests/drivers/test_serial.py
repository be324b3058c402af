from __future__ import annotations

import asyncio
import errno
import os
import socket
import struct
import sys
import tempfile
import termios
from contextlib import aclosing, asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
import pytest
import serial

from drivers import Look, ReaderError, feig, known, load, pn532, rdm6300
from drivers._serial import opened
from drivers.sim.feig import Feig
from drivers.sim.field import Field
from drivers.sim.wire import Wire

if TYPE_CHECKING:
    from collections.abc import Iterator


class Silent:
    period = None

    def restart(self) -> None: ...

    def speak(self) -> list[bytes]:
        return []

    def hear(self, data: bytes) -> list[tuple[float, bytes]]:
        return [(0.0, data)]


class Echo:
    errors = 0

    def feed(self, data: bytes) -> list[bytes]:
        return [data]


def run(work: Any) -> None:
    async def limited() -> None:
        async with asyncio.timeout(20):
            await work

    asyncio.run(limited())


def descriptors() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))


async def refused(port: str) -> str:
    with pytest.raises(ReaderError) as caught:
        async with opened(port, Echo(), baud=9600):
            pass
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_missing_port_and_what_is_no_port(tmp_path: Path) -> None:
    plain = tmp_path / "file"
    plain.write_text("")

    async def play() -> None:
        gone = str(tmp_path / "ttyUSB9")
        assert await refused(gone) == f"{gone}: not there; is the reader plugged in?"
        assert await refused(str(plain)) == f"{plain}: not a serial port"
        assert "unknown" in await refused("rfc1149://pigeon")

    run(play())


HOLDER = (
    "import sys, serial; port = serial.Serial(sys.argv[1], exclusive=True);"
    "print('open', flush=True); sys.stdin.read()"
)


def test_a_port_that_another_process_has_is_blamed_on_it() -> None:
    async def play() -> None:
        async with Wire(Silent()) as wire:
            pipe = asyncio.subprocess.PIPE
            process = await asyncio.create_subprocess_exec(
                sys.executable, "-c", HOLDER, wire.path, stdin=pipe, stdout=pipe
            )
            assert process.stdout is not None
            await process.stdout.readline()
            said = await refused(wire.path)
            assert said.startswith(f"{wire.path}: in use by ")
            assert f"(pid {process.pid})" in said
            await process.communicate(b"")
            async with opened(wire.path, Echo(), baud=9600) as link:
                link.send(b"free again")
                assert await link.receive(2.0) == b"free again"

    run(play())


@pytest.fixture
def forbidden() -> Iterator[Path]:
    """A port in a folder that everybody may enter, which nobody may open."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        port = Path(folder) / "port"
        port.write_text("")
        port.chmod(0)
        yield port


def test_without_permission_the_group_is_named(forbidden: Path) -> None:
    port = forbidden
    ends = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            if os.getuid() == 0:
                os.setgroups([])
                os.setuid(65534)
            os.write(ends[1], asyncio.run(refused(str(port))).encode())
        finally:
            os._exit(0)
    os.waitpid(child, 0)
    os.close(ends[1])
    said = os.read(ends[0], 1000).decode()
    os.close(ends[0])
    group = port.group()
    assert said == f"{port}: no permission; this user must be in group {group}"


def test_a_port_is_locked_while_it_is_open() -> None:
    async def play() -> None:
        async with Wire(Silent()) as wire, opened(wire.path, Echo(), baud=9600):
            assert f"(pid {os.getpid()})" in await refused(wire.path)

    run(play())


def test_line_settings_that_the_port_does_not_take_are_named(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Some C libraries refuse parity on a pseudo-terminal, others drop it without a word."""

    def refuse(*_: Any, **__: Any) -> None:
        raise termios.error(errno.EINVAL, "Invalid argument")

    monkeypatch.setattr(serial, "serial_for_url", refuse)

    async def play() -> None:
        with pytest.raises(ReaderError, match="does not take the line settings 38400 8E1"):
            async with opened("/dev/ttyS9", Echo(), baud=38400, parity="even"):
                pass

    run(play())


def test_no_descriptor_is_left_behind() -> None:
    async def play() -> None:
        async with Wire(Silent()) as wire:
            before = descriptors()
            for _ in range(20):
                async with opened(wire.path, Echo(), baud=9600) as link:
                    link.send(b"x")
                    assert "in use" in await refused(wire.path)
            assert descriptors() == before

    run(play())


def test_frames_before_the_loss_are_still_received(tmp_path: Path) -> None:
    async def play() -> None:
        wire = Wire(Silent(), link=tmp_path / "port")
        async with wire, opened(wire.path, Echo(), baud=9600) as link:
            link.send(b"last words")
            link._frames.appendleft(await link.receive(5.0))
            await wire.stop()
            await asyncio.sleep(0.05)
            assert await link.receive(1.0) == b"last words"
            with pytest.raises(ReaderError, match="vanished"):
                link.send(b"?")
            with pytest.raises(ReaderError, match="vanished"):
                await link.receive(1.0)

    run(play())


@asynccontextmanager
async def opened_late(wire: Wire, decoder: Any) -> Any:
    """The port of a wire that was not there before."""
    async with opened(wire.path, decoder, baud=9600) as link:
        yield link


def test_bytes_that_make_no_frame_do_not_prolong_the_patience() -> None:
    async def play() -> None:
        wire, decoder = Wire(Silent()), rdm6300.Decoder()
        async with wire, opened_late(wire, decoder) as link:
            waiting = asyncio.create_task(link.receive(0.05))
            while not waiting.done():
                link.send(b"\x02")
                await asyncio.sleep(0)
            assert await waiting is None

    run(play())


def test_a_bug_in_a_decoder_is_raised_where_frames_are_received() -> None:
    class Broken(Echo):
        def feed(self, data: bytes) -> list[bytes]:
            raise IndexError(data)

    async def play() -> None:
        async with Wire(Silent()) as wire, opened(wire.path, Broken(), baud=9600) as link:
            link.send(b"x")
            with pytest.raises(IndexError):
                await link.receive(2.0)

    run(play())


def test_patience_ends() -> None:
    async def play() -> None:
        async with Wire(Silent()) as wire, opened(wire.path, Echo(), baud=9600) as link:
            assert await link.receive(0.01) is None
            assert await link.gather(0.01) == []

    run(play())


@asynccontextmanager
async def bridge(model: Any) -> Any:
    """A TCP port in front of a reader model, as ser2net or the reader itself has it."""
    ended = asyncio.Event()

    async def serve(source: asyncio.StreamReader, sink: asyncio.StreamWriter) -> None:
        while data := await source.read(4096):
            for _, answer in model.hear(data):
                sink.write(answer)
        sink.close()
        await sink.wait_closed()
        ended.set()

    async with await asyncio.start_server(serve, "127.0.0.1", 0) as server:
        yield server.sockets[0].getsockname()[1]
        await ended.wait()


def test_reader_on_the_network() -> None:
    async def play() -> None:
        air = Field()
        air.lay(1, "E0040150954F02B1")
        async with bridge(Feig(air, muxes=0)) as port:
            block = {
                "name": "rail",
                "driver": "feig",
                "port": f"socket://127.0.0.1:{port}",
                "antennas": {"1": "seat:1"},
                "frames": "advanced",
            }
            async with aclosing(feig.read(convert(block, feig))) as looks:
                assert await anext(looks) == Look("rail", 1, ("E0040150954F02B1",))

    run(play())


def test_network_addresses_that_cannot_be_reached() -> None:
    async def play() -> None:
        with socket.socket() as closed:
            closed.bind(("127.0.0.1", 0))
            port = closed.getsockname()[1]
        assert "Connection refused" in await refused(f"socket://127.0.0.1:{port}")
        assert "socket://host:port" in await refused("socket://127.0.0.1")
        assert "socket://host:port" in await refused("socket://127.0.0.1:99999999")

    run(play())


def convert(block: dict[str, Any], module: Any) -> Any:
    return msgspec.convert(block, module.Settings, str_keys=True)


BLOCK = {"name": "r", "driver": "x", "port": "/dev/x", "antennas": {"1": "seat:1"}}
SERIAL = ["feig", "lines", "metratec", "pn532", "rdm6300", "twn4"]


@pytest.mark.parametrize("name", SERIAL)
def test_settings_refuse_what_they_do_not_know(name: str) -> None:
    module = load(name)
    settings = convert(BLOCK, module)
    assert settings.antennas == {1: "seat:1"}
    assert module.Decoder().errors == 0
    with pytest.raises(msgspec.ValidationError, match="bauds"):
        convert({**BLOCK, "bauds": 9600}, module)
    with pytest.raises(msgspec.ValidationError, match=r"antennas"):
        convert({**BLOCK, "antennas": {"256": "seat:1"}}, module)
    with pytest.raises(msgspec.ValidationError):
        convert({**BLOCK, "antennas": {}}, module)
    with pytest.raises(AttributeError):
        settings.port = "/dev/y"


@pytest.mark.parametrize("name", ["pn532", "rdm6300", "twn4"])
def test_one_antenna_only(name: str) -> None:
    with pytest.raises(msgspec.ValidationError, match="one antenna, not 2"):
        convert({**BLOCK, "antennas": {"1": "seat:1", "2": "seat:2"}}, load(name))


def test_settings_that_contradict_themselves() -> None:
    with pytest.raises(msgspec.ValidationError, match='wants search = "single"'):
        convert({**BLOCK, "air": "iso15693"}, load("twn4"))
    with pytest.raises(msgspec.ValidationError, match="uid"):
        convert({**BLOCK, "pattern": "(.*)"}, load("lines"))
    with pytest.raises(msgspec.ValidationError, match="pattern"):
        convert({**BLOCK, "pattern": "(?P<uid>"}, load("lines"))
    for switch, antenna in (("connector", "5"), ("mux", "25")):
        with pytest.raises(msgspec.ValidationError, match="beyond"):
            convert({**BLOCK, "antennas": {antenna: "muck"}, "switch": switch}, load("feig"))


def test_the_rail_of_the_design() -> None:
    antennas = {"1": "seat:1", "2": "seat:2", "10": "board", "11": "muck"}
    settings = convert({**BLOCK, "antennas": antennas}, load("feig"))
    assert settings.switching() == "mux"
    assert (settings.baud, settings.parity) == (38400, "even")
    assert convert(BLOCK, load("feig")).switching() == "none"


def test_unknown_driver_is_told_the_known_ones() -> None:
    assert set(SERIAL) <= set(known())
    assert load("pn532") is pn532
    with pytest.raises(LookupError, match=r'unknown driver "sim"; known are feig, lines'):
        load("sim")


def flood(link: Any) -> None:
    """More than any buffer of a port holds."""
    for _ in range(1000):
        link.send(b"?" * 1000)


def test_a_port_that_takes_no_bytes_is_told() -> None:
    master, slave = os.openpty()

    async def play() -> None:
        async with opened(os.ttyname(slave), Echo(), baud=9600) as link:
            with pytest.raises(ReaderError, match="takes no bytes"):
                flood(link)

    run(play())
    os.close(master)
    os.close(slave)


def test_a_connection_that_is_reset_is_told() -> None:
    async def play() -> None:
        with socket.create_server(("127.0.0.1", 0)) as server:
            server.settimeout(0)
            loop = asyncio.get_running_loop()
            port = server.getsockname()[1]
            async with opened(f"socket://127.0.0.1:{port}", Echo(), baud=9600) as link:
                peer, _ = await loop.sock_accept(server)
                peer.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                peer.close()
                with pytest.raises(ReaderError, match=r"vanished \(Connection reset by peer\)"):
                    await link.receive(5.0)

    run(play())
