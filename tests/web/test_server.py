"""The real `feltd web` against a real broker, and clients that are no browsers."""

from __future__ import annotations

import asyncio
import json
import socket
import subprocess
import sys
from pathlib import Path

import aiohttp
import pytest

from daemon.web.credentials import add_token
from drivers.sim.table import simulate

FELTD = Path(sys.executable).with_name("feltd")
WEB = '\n[web]\nlisten = "127.0.0.1:0"\n'


class Watcher:
    """One browser's end of the stream."""

    def __init__(self, session, url):
        self.session, self.url = session, url
        self.picture = None
        self.count = 0

    async def until(self, wanted):
        async with asyncio.timeout(20), self.session.get(self.url) as response:
            assert response.status == 200
            assert response.content_type == "text/event-stream"
            async for line in response.content:
                if line.startswith(b"data: {") and b"phase" in line:
                    self.picture = json.loads(line[6:])
                    self.count += 1
                    if wanted(self.picture):
                        return self.picture
        return None


def at(seq):
    return lambda picture: picture["seq"] == seq and picture["link"]


async def get(url, **options):
    async with aiohttp.ClientSession() as session, session.get(url, **options) as response:
        return response.status, response.headers, await response.text()


@pytest.fixture
def holdem(felt):
    return felt(simulate("holdem", "clean", 2, 6, commands=True, speed=4), more=WEB)


def test_pages_ask_nothing_of_anybody_else(holdem, web):
    with web(holdem.config_file) as server:
        for path in ("/overlay", "/static/overlay.js", "/static/cards.css", "/nothing"):
            _, headers, text = asyncio.run(get(server.url + path))
            policy = headers["Content-Security-Policy"]
            assert "default-src 'none'" in policy
            assert "unsafe" not in policy
            assert "*" not in policy
            assert headers["X-Content-Type-Options"] == "nosniff"
            assert "aiohttp" not in headers["Server"].lower()
            assert "http://" not in text.replace("http://www.w3.org/2000/svg", "")
            assert "https://" not in text
        assert asyncio.run(get(server.url + "/static/overlay.html"))[0] == 404
        assert asyncio.run(get(server.url + "/static/..%2fserve.py"))[0] == 404


def test_without_roles_there_is_no_floor(holdem, web):
    with web(holdem.config_file) as server:
        assert asyncio.run(get(server.url + "/floor"))[0] == 404
        assert asyncio.run(get(server.url + "/overlay/private?token=x"))[0] == 404
        assert asyncio.run(get(server.url + "/overlay/private/events?token=x"))[0] == 404


def test_a_name_that_leads_here_from_elsewhere_is_refused(holdem, web):
    with web(holdem.config_file) as server:
        status, _, _ = asyncio.run(get(server.url + "/overlay", headers={"Host": "evil.example"}))
        assert status == 421
        assert server.said("'evil.example' is not ours")
        bad = asyncio.run(get(server.url + "/overlay", headers={"Host": "[::1"}))
        assert bad[0] in {400, 421}


def test_a_hundred_browsers_end_with_the_same_picture(holdem, web):
    async def watch(url, last):
        connector = aiohttp.TCPConnector(limit=0)
        async with aiohttp.ClientSession(connector=connector) as session:
            watchers = [Watcher(session, url) for _ in range(100)]
            tasks = [asyncio.create_task(each.until(lambda p: p["link"])) for each in watchers]
            await asyncio.gather(*tasks)
            await asyncio.to_thread(holdem.until_told, "showdown")
            seq = last()
            pictures = await asyncio.gather(*(each.until(at(seq)) for each in watchers))
            return [json.dumps(each) for each in pictures]

    with holdem.playing(), web(holdem.config_file) as server:
        url = server.url + "/overlay/events"
        pictures = asyncio.run(watch(url, lambda: holdem.state["seq"]))
        assert len(pictures) == 100
        assert len(set(pictures)) == 1
        assert json.loads(pictures[0])["result"]["kind"] == "showdown"


def test_a_browser_that_takes_nothing_costs_nothing_and_finds_the_newest_picture(holdem, web):
    """Its window is full at once; what it finds at the end is the end, not the whole way."""
    with holdem.playing(), web(holdem.config_file) as server:
        host, port = server.url.removeprefix("http://").split(":")
        lazy = socket.socket()
        lazy.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2048)
        lazy.connect((host, int(port)))
        lazy.sendall(f"GET /overlay/events HTTP/1.1\r\nHost: {host}\r\n\r\n".encode())
        holdem.until_told("showdown")
        for number in range(400):
            holdem.command("set-names", names={"1": f"{number}" * 8})
        seq = holdem.state["seq"]

        async def quick():
            async with aiohttp.ClientSession() as session:
                return await Watcher(session, server.url + "/overlay/events").until(at(seq))

        asyncio.run(quick())
        lazy.settimeout(10)
        got = b""
        while f'"seq":{seq},'.encode() not in got:
            more = lazy.recv(65536)
            assert more
            got += more
        lazy.close()
        assert 0 < got.count(b"event: picture") < 300


def test_the_broker_dies_in_mid_hand_and_the_picture_is_whole_afterwards(holdem, web):
    async def watch(url, wanted):
        async with aiohttp.ClientSession() as session:
            return await Watcher(session, url).until(wanted)

    with holdem.playing(), web(holdem.config_file) as server:
        url = server.url + "/overlay/events"
        holdem.until_phase("flop")
        before = asyncio.run(watch(url, at(holdem.state["seq"])))
        assert before["board"] == holdem.state["board"]
        holdem.broker.kill()
        gone = asyncio.run(watch(url, lambda picture: not picture["link"]))
        assert gone["board"] == before["board"]
        holdem.until_told("showdown")
        holdem.broker.start()
        after = asyncio.run(watch(url, at(holdem.state["seq"])))
        assert after["result"]["winners"]
        assert after["board"] == holdem.state["board"]
        assert after["seats"] == holdem.state["seats"]


def test_a_table_whose_memory_is_new_starts_over(holdem, web):
    async def watch(url, wanted):
        async with aiohttp.ClientSession() as session:
            return await Watcher(session, url).until(wanted)

    with web(holdem.config_file) as server:
        url = server.url + "/overlay/events"
        with holdem.playing("one"):
            holdem.until_told("showdown")
            first = asyncio.run(watch(url, at(holdem.state["seq"])))
            assert first["result"]
        with holdem.playing("two"):
            epoch = holdem.state["epoch"]
            second = asyncio.run(watch(url, lambda p: p["epoch"] == epoch and p["online"]))
            assert first["epoch"] != epoch
            assert second["result"] is None
            holdem.until_phase("preflop")
            asyncio.run(watch(url, at(holdem.state["seq"])))


PRIVATE = '[web.private]\nlisten = "127.0.0.1:0"\nreceiver = "overlay"\ntokens_file = "tokens"\n'


def private(felt, tmp_path, *keys):
    token = add_token(tmp_path / "tokens", "obs")
    table = felt(
        simulate("holdem", "clean", 2, 3, commands=True, speed=4), *keys, more=WEB + PRIVATE
    )
    return token, table


def test_hole_cards_need_a_process_and_a_token_of_their_own(felt, web, tmp_path):
    token, table = private(felt, tmp_path, 'hole_cards = "clear"')

    async def watch(url, wanted):
        async with aiohttp.ClientSession() as session:
            return await Watcher(session, url).until(wanted)

    def dealt(picture):
        return picture["phase"] == "preflop" and picture["seq"] == table.state["seq"]

    with (
        table.playing(),
        web(table.config_file) as public,
        web(table.config_file, "--private") as secret,
    ):
        asyncio.run(
            watch(f"{secret.url}/overlay/private/events?token={token}", lambda p: p["link"])
        )
        table.until_phase("preflop")
        seen = asyncio.run(watch(f"{secret.url}/overlay/private/events?token={token}", dealt))
        live = [seat for seat, each in table.state["seats"].items() if each["status"] == "in"]
        assert sorted(seen["hole"]) == sorted(live)
        assert all(len(cards) == 2 for cards in seen["hole"].values())
        open_to_all = asyncio.run(watch(public.url + "/overlay/events", dealt))
        assert "hole" not in open_to_all
        text = json.dumps(open_to_all)
        assert not [c for cards in seen["hole"].values() for c in cards if f'"{c}"' in text]
        for path in ("/overlay/private", "/overlay/private/events"):
            for query in ("", "?token=", "?token=wrong", f"?token={token[:-1]}"):
                assert asyncio.run(get(secret.url + path + query))[0] == 403
        assert asyncio.run(get(secret.url + "/overlay"))[0] == 404
        assert asyncio.run(get(secret.url + "/floor"))[0] == 404
        assert len(secret.said("no token")) == 8
        assert token not in secret.log.read_text()


def test_sealed_hole_cards_are_opened_with_the_key_of_the_private_process(felt, web, tmp_path):
    from daemon.sealing import new_pair  # noqa: PLC0415

    public_key = new_pair(tmp_path / "overlay.key")
    other = new_pair(tmp_path / "other.key")
    token, table = private(
        felt,
        tmp_path,
        'hole_cards = "sealed"',
        f'[secrecy.receivers]\noverlay = "{public_key}"\nvault = "{other}"',
    )
    text = table.config_file.read_text()
    head, _, tail = text.partition("[secrecy.receivers]")
    receivers, rest = tail.split("\n", 3)[:3], tail.split("\n", 3)[3]
    text = head + rest + "\n[secrecy.receivers]" + "\n".join(receivers) + "\n"
    table.config_file.write_text(text.replace(PRIVATE, PRIVATE + 'key_file = "overlay.key"\n'))

    async def watch(url, wanted):
        async with aiohttp.ClientSession() as session:
            return await Watcher(session, url).until(wanted)

    with table.playing(), web(table.config_file, "--private") as secret:
        url = f"{secret.url}/overlay/private/events?token={token}"
        asyncio.run(watch(url, lambda p: p["link"]))
        table.until_phase("preflop")
        seats = sum(each["status"] == "in" for each in table.state["seats"].values())
        seen = asyncio.run(watch(url, lambda p: len(p.get("hole", {})) == seats))
        assert all(None not in cards for cards in seen["hole"].values())


@pytest.mark.parametrize(
    ("block", "words"),
    [
        ('[web]\nlisten = "here"\n', "'here' is not host:port"),
        ("[web]\nport = 80\n", "unknown field port - at web"),
        ('[web]\n[web.roles]\nfloor = "nowhere"\n', "nowhere: No such file"),
        ('[web]\n[web.roles]\nfloor = "table.toml"\n', "no argon2id hash"),
        ('[web]\nlisten = "192.0.2.7:80"\n', "cannot listen on 192.0.2.7:80"),
    ],
)
def test_what_is_wrong_with_the_configuration_is_one_line(felt, block, words):
    table = felt(simulate("holdem", "clean", 2, 1), more="\n" + block)
    run = subprocess.run(
        [FELTD, "web", "--config", table.config_file], capture_output=True, text=True, check=False
    )
    last = run.stderr.splitlines()[-1]
    assert words in last.replace("Object contains ", "")
    assert run.returncode in {1, 78}


def test_passwords_and_tokens_are_kept_as_hashes(tmp_path):
    file = tmp_path / "floor.argon2"
    made = [FELTD, "web", "--new-password", file]
    short = subprocess.run(made, input="short\n", capture_output=True, text=True, check=False)
    assert short.returncode == 2
    assert not file.exists()
    subprocess.run(made, input="long enough a password\n", text=True, check=True)
    assert file.read_text().startswith("$argon2id$")
    assert file.stat().st_mode & 0o777 == 0o600
    tokens = [
        subprocess.run(
            [FELTD, "web", "--new-token", tmp_path / "tokens", "--name", name],
            capture_output=True,
            text=True,
            check=True,
        ).stdout.strip()
        for name in ("obs", "vmix")
    ]
    kept = (tmp_path / "tokens").read_text()
    assert [line.split()[0] for line in kept.splitlines()] == ["obs", "vmix"]
    assert not [token for token in tokens if token in kept]
