from __future__ import annotations

import asyncio
import json
import re
import shutil
import subprocess
import sys
import threading
import time
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from daemon import config
from daemon.address import Address
from daemon.claim import Topics
from daemon.journal import Journal
from daemon.memory import Memory
from daemon.mqtt import Publisher
from daemon.recording import RawCommand, read_line, read_opening
from daemon.resend import Resender
from daemon.wire import Status
from drivers.sim.table import write

FELTD = Path(sys.executable).with_name("feltd")
PATIENCE = 20.0
CHROMIUM = (
    *("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
    *("--disable-dev-shm-usage", "--hide-scrollbars", "--force-device-scale-factor=1"),
    "--lang=en",
)


class Felt:
    """A table that plays a simulated evening to a real broker, as far as the test wants.

    The real engine, journal, publisher and resender; only the looks come from a recording.
    """

    def __init__(self, folder, broker, session, *keys, more=""):
        write(session, folder)
        self.config_file = folder / "table.toml"
        text = self.config_file.read_text().replace("[secrecy]", "\n".join(("[secrecy]", *keys)))
        text = re.sub(r'url = "[^"]*"', f'url = "{broker.url}"', text) if "url" in text else text
        if broker.url not in text:
            text += f'\n[mqtt]\nurl = "{broker.url}"\n'
        self.config_file.write_text(text + more)
        lines = (folder / "recording.jsonl").read_bytes().splitlines()
        self.inputs = iter([read_line(line) for line in lines if read_opening(line) is None])
        self.folder, self.broker = folder, broker
        self.commands = []
        self.now = 0

    async def inbound(self, received):
        topic, payload = received.topic, received.payload
        private = topic.startswith("felt-private/")
        if topic.endswith("/resend"):
            await self.resender.ask(payload, private=private)
        elif topic.endswith("/command"):
            self.commands.append((topic, json.loads(payload)))
            self._take([(self.now, RawCommand(payload, private))])

    def status(self, *, online):
        return self.memory.wire.status(0, Status(online=online, version="0", since="")).payload

    def on_connect(self):
        from daemon.memory import again  # noqa: PLC0415

        kept = [m for t, m in self.memory.retained.items() if not t.endswith("/state")]
        return again([*kept, self.memory.wire.state(self.now, self.memory.state)])

    def refused(self, message, reason):
        pytest.fail(reason)

    def trouble(self, line):
        del line

    def rival(self, instance):
        pytest.fail(instance)

    def _take(self, inputs):
        for now, entry in inputs:
            self.now = now
            self.memory.take(now, entry)
        self.memory.commit()
        self.publisher.wake()

    @contextmanager
    def playing(self, name="state"):
        """The table on a thread of its own."""
        with closing(Journal.open(self.folder / name, 0.0)) as self.journal:
            settings = config.load(self.config_file)
            self.memory = Memory(settings, self.journal)
            self.table = settings.table.id
            topics = Topics("felt", self.table)
            address = Address(self.broker.url)
            self.publisher = Publisher(address, topics, self.journal, self, grace=0.1)
            self.resender = Resender(self.memory, self.publisher)
            self.loop = asyncio.new_event_loop()
            thread = threading.Thread(target=self.loop.run_forever)
            thread.start()
            running = asyncio.run_coroutine_threadsafe(self.publisher.run(), self.loop)
            try:
                yield self
            finally:
                running.cancel()
                self.call(asyncio.sleep(0.2))
                self.loop.call_soon_threadsafe(self.loop.stop)
                thread.join()
                self.loop.close()

    def call(self, work):
        return asyncio.run_coroutine_threadsafe(work, self.loop).result(PATIENCE)

    def until(self, wanted):
        """Play on until `wanted(messages, state)` holds; what was told on the way."""

        async def play():
            told = []
            for now, entry in self.inputs:
                self.now = now
                self.memory.take(now, entry)
                new = list(self.memory._messages)
                told += [(m.topic.split("/", 2)[2], json.loads(m.payload)) for m in new]
                if self.memory.urgent:
                    self._take([])
                if new and wanted(told, self.state):
                    return told
            pytest.fail("the evening is over")

        return self.call(play())

    @property
    def state(self):
        return json.loads(self.memory.wire.state(0, self.memory.state).payload)

    def step(self, told):
        """Play on to the next picture; `told` gets when its look came in (ms), by `seq`."""

        async def play():
            for now, entry in self.inputs:
                self.now = now
                came, before = time.time() * 1000, self.memory.state.seq
                self.memory.take(now, entry)
                if self.memory.urgent:
                    self._take([])
                if self.memory.state.seq != before:
                    told[self.memory.state.seq] = came
                    return True
            return False

        return self.call(play())

    def until_phase(self, *phases):
        return self.until(lambda _, state: state["phase"] in phases)

    def until_told(self, topic, **fields):
        def fits(name, payload):
            return name == topic and all(payload.get(k) == v for k, v in fields.items())

        return self.until(lambda told, _: any(fits(*each) for each in told))

    def command(self, kind, **fields):
        """The floor's command, straight to the table."""
        body = {"id": f"c{time.monotonic_ns()}", "by": "test", "type": kind, **fields}

        async def send():
            self._take([(self.now, RawCommand(json.dumps(body).encode(), None))])

        self.call(send())


@contextmanager
def feltd_web(config_file, *options):
    """`feltd web` as a real process; where it listens."""
    log = config_file.with_name(f"web{len(options)}.log")
    with log.open("wb") as out:
        process = subprocess.Popen([FELTD, "web", "--config", config_file, *options], stderr=out)
    try:
        end = time.monotonic() + PATIENCE
        while not (found := re.search(r"http://127.0.0.1:\d+", log.read_text())):
            assert process.poll() is None, log.read_text()
            assert time.monotonic() < end
            time.sleep(0.02)
        yield Web(found[0], process, log)
    finally:
        process.terminate()
        process.wait(10)


class Web:
    def __init__(self, url, process, log):
        self.url, self.process, self.log = url, process, log

    def lines(self):
        return [json.loads(line) for line in self.log.read_text().splitlines()]

    def said(self, words):
        return [line["message"] for line in self.lines() if words in line["message"]]


WEB = '\n[web]\nlisten = "127.0.0.1:0"\n'
PHRASE = "correct horse battery"


@pytest.fixture
def floor_keys(tmp_path):
    """A `[web]` block with the role `floor`, whose password is PHRASE."""
    from daemon.web.credentials import write_password  # noqa: PLC0415

    write_password(tmp_path / "floor.argon2", PHRASE)
    return WEB + '[web.roles]\nfloor = "floor.argon2"\n'


@pytest.fixture
def web():
    """Starts `feltd web`: `with web(config_file, *options) as server`."""
    return feltd_web


@pytest.fixture
def felt(tmp_path, mosquitto):
    """`felt(session, *keys, more="")`: a table at a Mosquitto of its own."""

    def make(session, *keys, more=""):
        return Felt(tmp_path, mosquitto, session, *keys, more=more)

    return make


@contextmanager
def chrome():
    """A real browser with a window of 1920x1080."""
    from selenium import webdriver  # noqa: PLC0415  only these tests need it
    from selenium.webdriver.chrome.service import Service  # noqa: PLC0415

    if not shutil.which("chromium") or not shutil.which("chromedriver"):
        pytest.fail("needs the Debian packages chromium and chromium-driver")
    options = webdriver.ChromeOptions()
    options.binary_location = shutil.which("chromium")
    for flag in CHROMIUM:
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    driver = webdriver.Chrome(options=options, service=Service(shutil.which("chromedriver")))
    try:
        driver.set_window_size(1920, 1080)
        yield driver
    finally:
        driver.quit()


@pytest.fixture(scope="session")
def chromium():
    """One real browser for all tests."""
    with chrome() as driver:
        yield driver


@pytest.fixture
def browser(chromium):
    """The browser with one empty tab; afterwards nothing may have gone wrong in it."""
    chromium.switch_to.new_window("tab")
    first = chromium.current_window_handle
    chromium.get_log("browser")
    yield chromium
    for handle in chromium.window_handles:
        if handle != first:
            chromium.switch_to.window(handle)
            chromium.close()
    chromium.switch_to.window(first)
