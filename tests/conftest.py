from __future__ import annotations

import importlib.util
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import sysconfig
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path

import pytest

VPCD = Path("/usr/lib/pcsc/drivers/serial/libifdvpcd.so")
READERS = ("Feltd Shoe (S001)", "Feltd Twin", "Feltd Twin", "ACS ACR122U PICC Interface")
FIRST_PORT = 36002

HERE = Path(__file__).parent
TRACED = ("rules/", "games/", "odds/", "daemon/test_deals.py")
TRACED += ("daemon/test_deal_cards.py", "daemon/test_commitments.py", "daemon/test_config.py")
TRACED += ("daemon/test_enrolment.py", "daemon/test_journal")
TRACED += ("daemon/test_mqtt.py", "daemon/test_mqtt_limits.py", "daemon/test_phh.py")
TRACED += ("daemon/test_teach_in.py",)
"""Tests that take every branch of the modules that the Makefile names: `make test` runs these with
coverage, and the others without, which would take three times as long."""

# libpcsclite takes the path at its first use and keeps it, so one folder serves the whole run,
# and no test ever reaches the machine's own pcscd
PCSC_FOLDER = Path(tempfile.mkdtemp(prefix="feltd-pcsc-"))
os.environ["PATH"] += ":/usr/sbin"
os.environ["PCSCLITE_CSOCK_NAME"] = str(PCSC_FOLDER / "run" / "pcscd.comm")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if item.path.relative_to(HERE).as_posix().startswith(TRACED):
            item.add_marker(pytest.mark.traced)


def pytest_unconfigure() -> None:
    shutil.rmtree(PCSC_FOLDER, ignore_errors=True)


class Pcscd:
    """A real pcscd with two slots per virtual reader; slot numbers count through them all."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        ports = []
        for number, name in enumerate(READERS):
            library = folder / f"libifdvpcd{number}.so"
            # vpcd keeps its state by slot only: readers that share a library mix up their cards
            shutil.copy(VPCD, library)
            port = FIRST_PORT + 2 * number
            (folder / "conf" / f"reader{number}").write_text(
                f'FRIENDLYNAME "{name}"\nDEVICENAME /dev/null:{port}\n'
                f"LIBPATH {library}\nCHANNELID {port}\n"
            )
            ports += [port, port + 1]
        (folder / "ports.json").write_text(json.dumps(ports))
        own_user = [] if os.geteuid() == 0 else ["--map-root-user"]
        rack = Path(__file__).with_name("pcscd_rack.py")
        self.process = subprocess.Popen(
            ["unshare", "--net", "--mount", *own_user, sys.executable, rack, folder],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def order(self, do: str, **arguments: object) -> object:
        assert self.process.stdin
        assert self.process.stdout
        self.process.stdin.write(json.dumps({"do": do, **arguments}) + "\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        if not line:
            pytest.fail("no namespaces of its own for pcscd: root or user namespaces are needed")
        return json.loads(line)["answer"]

    def close(self) -> None:
        assert self.process.stdin
        assert self.process.stdout
        self.process.stdin.close()
        self.process.wait(10)
        self.process.stdout.close()


def wait_until_empty() -> None:
    """pcscd takes 400 ms to notice that a card has gone."""
    from smartcard import scard  # noqa: PLC0415  # the only fixture that needs the extra

    _, context = scard.SCardEstablishContext(scard.SCARD_SCOPE_USER)
    _, names = scard.SCardListReaders(context, [])
    states = dict.fromkeys(names, scard.SCARD_STATE_UNAWARE)
    while not all(state & scard.SCARD_STATE_EMPTY for state in states.values()):
        _, events = scard.SCardGetStatusChange(context, 1000, list(states.items()))
        states = {name: state & ~scard.SCARD_STATE_CHANGED for name, state, _ in events}
    scard.SCardReleaseContext(context)


@pytest.fixture(scope="session")
def _pcscd():
    missing = [what for what in ("pcscd", "unshare") if not shutil.which(what)]
    if missing or not VPCD.exists():
        pytest.fail("needs the Debian packages pcscd, vsmartcard-vpcd and util-linux")
    for name in ("run", "conf"):
        (PCSC_FOLDER / name).mkdir()
    rack = Pcscd(PCSC_FOLDER)
    rack.order("start")
    yield rack
    rack.close()


@pytest.fixture
def pcscd(_pcscd):
    """The running pcscd with all slots empty."""
    yield _pcscd
    for slot in range(2 * len(READERS)):
        _pcscd.order("remove", slot=slot)
    wait_until_empty()


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as server:
        return server.getsockname()[1]


class BrokerProcess:
    """A real broker on a loopback port that survives `kill` and `start`."""

    def __init__(self, command: list[str | Path], port: int) -> None:
        self.command = command
        self.port = port
        self.url = f"mqtt://127.0.0.1:{port}"
        self.process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        self.process = subprocess.Popen(
            self.command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        while True:
            try:
                socket.create_connection(("127.0.0.1", self.port)).close()
            except ConnectionRefusedError:
                if self.process.poll() is not None:
                    pytest.fail(f"{self.command} ended with {self.process.returncode}")
                time.sleep(0.01)
            else:
                return

    def kill(self) -> None:
        assert self.process
        self.process.kill()
        self.process.wait()

    def freeze(self) -> None:
        assert self.process
        self.process.send_signal(signal.SIGSTOP)

    def thaw(self) -> None:
        assert self.process
        self.process.send_signal(signal.SIGCONT)


@contextmanager
def brokers():
    """Gives `start(command, port)`; what it started ends with the block."""
    started = []

    def start(command, port):
        broker = BrokerProcess(command, port)
        started.append(broker)
        broker.start()
        return broker

    try:
        yield start
    finally:
        for broker in started:
            broker.kill()


@pytest.fixture
def start_broker():
    """Starts brokers that end with the test: `start_broker(command, port)`."""
    with brokers() as start:
        yield start


def open_mosquitto(folder, start):
    """A running Mosquitto that lets everybody do everything and keeps nothing on disk."""
    port = free_port()
    config = folder / "mosquitto.conf"
    config.write_text(
        f"listener {port} 127.0.0.1\nallow_anonymous true\nset_tcp_nodelay true\n"
        "max_queued_messages 100000\n" + ("user root\n" if os.geteuid() == 0 else "")
    )
    return start(["/usr/sbin/mosquitto", "-c", config], port)


@pytest.fixture
def mosquitto(tmp_path, start_broker):
    """A Mosquitto of the test's own."""
    return open_mosquitto(tmp_path, start_broker)


@pytest.fixture(scope="module")
def module_broker(tmp_path_factory):
    """Starts a Mosquitto that serves all tests of a module."""
    with brokers() as start:
        yield lambda: open_mosquitto(tmp_path_factory.mktemp("broker"), start)


@pytest.fixture
def nats(tmp_path, start_broker):
    """A running nats-server that speaks MQTT and lets everybody do everything."""
    port = free_port()
    config = tmp_path / "nats.conf"
    config.write_text(
        f'server_name: test\nlisten: "127.0.0.1:-1"\n'
        f'jetstream {{ store_dir: "{tmp_path}/nats" }}\n'
        f'mqtt {{ host: "127.0.0.1", port: {port} }}\n'
    )
    binary = Path(sysconfig.get_path("scripts")) / "nats-server"
    return start_broker([binary, "-c", config], port)


@pytest.fixture(scope="session")
def npm():
    """`npm(package, version)` is a folder whose node_modules has the package; installed once."""

    def install(package, version):
        folder = Path.home() / ".cache/feltd-tests" / f"{package.replace('/', '-')}-{version}"
        if folder.exists():
            return folder
        if not shutil.which("npm") or not shutil.which("node"):
            pytest.fail("needs node and npm (Debian packages nodejs and npm)")
        folder.parent.mkdir(parents=True, exist_ok=True)
        fresh = Path(tempfile.mkdtemp(dir=folder.parent))
        options = ["--save-exact", "--ignore-scripts", "--no-audit", "--no-fund"]
        command = ["npm", "install", *options, "--prefix", fresh, f"{package}@{version}"]
        for _ in range(3):  # a registry may be slow to answer, and npm gives up early
            done = subprocess.run(command, check=False, capture_output=True, text=True)
            if done.returncode == 0:
                break
        assert done.returncode == 0, done.stderr
        fresh.rename(folder)
        return folder

    return install


class Contract:
    """The schema of every message, without room for fields that it does not name."""

    def __init__(self) -> None:
        from jsonschema import Draft202012Validator  # noqa: PLC0415  few tests need it

        from daemon import schema  # noqa: PLC0415

        document = schema.document()
        components = _closed(document["components"])
        self._validators = {}
        for channel in document["channels"].values():
            names = [each["$ref"].rpartition("/")[2] for each in channel["messages"].values()]
            bodies = [document["components"]["messages"][name]["payload"] for name in names]
            self._validators[channel["address"]] = Draft202012Validator(
                {"oneOf": bodies, "components": components}
            )

    def address(self, topic: str) -> str:
        """The topic as the schema writes it."""
        root, _, name = topic.split("/", 2)
        name = "reader/{reader}" if name.startswith("reader/") else name
        private = "-private" if root.endswith("-private") else ""
        return f"{{prefix}}{private}/{{table}}/{name}"

    def faults(self, topic: str, payload: object) -> list[str]:
        """What is wrong with a message."""
        validator = self._validators[self.address(topic)]
        return [error.message for error in validator.iter_errors(payload)]


def _closed(value):
    if isinstance(value, list):
        return [_closed(each) for each in value]
    if not isinstance(value, dict):
        return value
    changed = {key: _closed(each) for key, each in value.items()}
    if "properties" in value and "additionalProperties" not in value:
        changed["additionalProperties"] = False
    return changed


@pytest.fixture(scope="session")
def contract():
    """The message contract, strictly."""
    return Contract()


@pytest.fixture
def play(tmp_path):
    """`play(session, *keys)`: truths and messages of a simulated session through the replay.

    `keys` are lines for `[secrecy]`.
    """
    from daemon import config, replay  # noqa: PLC0415  not before the tests are collected
    from drivers.sim.table import write  # noqa: PLC0415

    def run(session, *keys):
        folder = Path(tempfile.mkdtemp(dir=tmp_path))
        truths = write(session, folder)
        table = folder / "table.toml"
        secrecy = "\n".join(("[secrecy]", *keys))
        table.write_text(table.read_text().replace("[secrecy]", secrecy))
        settings = config.load(table)
        with (folder / "recording.jsonl").open("rb") as lines:
            messages = replay.messages(settings.setup(), "felt", lines, "recording")
            return truths, [json.loads(replay.output(*each)) for each in messages]

    return run


def beside(name):
    """A module of this folder, which is no package."""
    path = Path(__file__).with_name(f"{name}.py")
    spec = importlib.util.spec_from_file_location(f"feltd_{name}", path)
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="session")
def scorer():
    """The module tests/score.py: what a stream of messages is worth."""
    return beside("score")


@pytest.fixture(scope="session")
def live():
    """The module tests/live.py: a table to play at."""
    return beside("live")


@pytest.fixture(scope="session")
def evening():
    """The module tests/evening.py: a table with simulated readers."""
    return beside("evening")


@pytest.fixture(scope="session")
def house():
    """The module tests/house.py: the running daemon in virtual time."""
    return beside("house")


@pytest.fixture(scope="session")
def felt():
    """The module tests/felt.py: cards laid by hand."""
    return beside("felt")
