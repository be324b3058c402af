"""The floor's panel from the side of those who may, and of those who may not."""

from __future__ import annotations

import asyncio
import json
import re
from contextlib import asynccontextmanager

import aiohttp
import pytest

from daemon.web.login import COMMANDS, FAILURES, IDLE, Doorkeeper, SlowDownError
from drivers.sim.table import simulate

PHRASE = "correct horse battery"


class Person:
    """Somebody with a browser's habits: cookies, an Origin, the tokens of the page."""

    def __init__(self, session, url):
        self.session, self.url = session, url
        self.own = {"Origin": url, "Sec-Fetch-Site": "same-origin"}
        self.csrf = ""
        self.given = 0

    async def page(self):
        async with self.session.get(self.url + "/floor") as response:
            return await response.text()

    async def log_in(self, password=PHRASE, role="floor", name="Anna", **more):
        gate = re.search(r'name="gate" value="([^"]+)"', await self.page())[1]
        form = {"gate": gate, "role": role, "name": name, "password": password} | more
        async with self.session.post(
            self.url + "/floor/login", data=form, headers=self.own
        ) as response:
            text = await response.text()
            found = re.search(r'name="csrf" content="([^"]+)"', text)
            self.csrf = found[1] if found else ""
            return response.status

    async def post(self, path, body, *, headers=None):
        head = {"X-CSRF-Token": self.csrf, "Content-Type": "application/json"} | self.own
        data = body if isinstance(body, bytes) else json.dumps(body)
        head = {k: v for k, v in (head | (headers or {})).items() if v is not None}
        async with self.session.post(self.url + path, data=data, headers=head) as response:
            text = await response.text()
            return response.status, json.loads(text) if text.startswith("{") else text

    async def command(self, kind, *, table="sim", headers=None, hand=None, id=None, **fields):  # noqa: A002
        self.given += 1
        order = {"table": table, "id": id or f"p{self.given}", "command": {"type": kind, **fields}}
        order |= {} if hand is None else {"hand": hand}
        return await self.post("/floor/command", order, headers=headers)

    async def picture(self, wanted):
        async with asyncio.timeout(20), self.session.get(self.url + "/floor/events") as response:
            assert response.status == 200
            async for line in response.content:
                if line.startswith(b"data: {") and b"phase" in line:
                    picture = json.loads(line[6:])
                    if wanted(picture):
                        return picture
        return None


@asynccontextmanager
async def person(url):
    jar = aiohttp.CookieJar(unsafe=True)
    async with aiohttp.ClientSession(cookie_jar=jar) as session:
        yield Person(session, url)


@pytest.fixture
def table(felt, floor_keys):
    return felt(simulate("holdem", "clean", 2, 4, commands=True, speed=4), more=floor_keys)


def as_person(url, work):
    async def run():
        async with person(url) as somebody:
            return await work(somebody)

    return asyncio.run(run())


def test_commands_carry_the_hand_and_who_gave_them(table, web):
    async def evening(anna):
        assert await anna.log_in() == 200
        table.until_phase("preflop")
        seen = await anna.picture(lambda p: p["phase"] == "preflop")
        seat = next(int(n) for n, each in seen["seats"].items() if each["status"] == "in")
        status, reply = await anna.command("fold", seat=seat, hand=seen["hand"])
        assert (status, reply["ok"]) == (200, True)
        seen = await anna.picture(lambda p: p["undoable"])
        assert seen["seats"][str(seat)]["status"] == "folded"
        done = seen["undoable"][0]
        assert done["said"] == str(seat)
        _, reply = await anna.command("undo", of=done["id"], hand=seen["hand"])
        assert reply["ok"]
        seen = await anna.picture(lambda p: not p["undoable"])
        assert seen["seats"][str(seat)]["status"] == "in"
        _, late = await anna.command("fold", seat=seat, hand=seen["hand"] - 1)
        assert not late["ok"]
        assert "not the current one" in late["error"]

    with table.playing(), web(table.config_file) as server:
        as_person(server.url, evening)
        assert [body["by"] for _, body in table.commands] == ["floor/Anna"] * 3
        assert all("hand" in body for _, body in table.commands)
        logged = server.said("floor/Anna, hand")
        assert [line.rpartition(" ")[2] for line in logged] == ["ok", "ok", "refused"]


def test_the_same_command_sent_again_acts_once(table, web):
    async def twice(anna):
        await anna.log_in()
        table.until_phase("flop")
        seen = await anna.picture(lambda p: p["phase"] == "flop")
        seat = next(int(n) for n, each in seen["seats"].items() if each["status"] == "in")
        first = await anna.command("fold", seat=seat, id="once", hand=seen["hand"])
        return first, await anna.command("fold", seat=seat, id="once", hand=seen["hand"])

    with table.playing(), web(table.config_file) as server:
        first, second = as_person(server.url, twice)
        assert first == second
        assert first[1]["ok"]


def test_hidden_cards_go_to_the_private_root_and_nowhere_else(table, web):
    async def typed(anna):
        await anna.log_in()
        table.until_phase("flop")
        seen = await anna.picture(lambda p: p["phase"] == "flop")
        seat = next(n for n, each in seen["seats"].items() if each["status"] == "in")
        spare = next(c for c in ("2c", "2d", "2h") if c not in seen["board"])
        _, reply = await anna.command(
            "card", zone=f"seat:{seat}", card=spare, index=0, hand=seen["hand"]
        )
        assert reply["ok"], reply
        after = await anna.picture(lambda p: p["undoable"])
        text = json.dumps(after) + await anna.page()
        assert spare not in text
        assert after["undoable"][0]["said"] == f"seat:{seat}"
        for zone in ("muck", "shoe"):
            _, reply = await anna.command("card", zone=zone, card=spare, hand=seen["hand"])
            assert not reply["ok"]
        return spare

    with table.playing(), web(table.config_file) as server:
        spare = as_person(server.url, typed)
        assert [topic for topic, _ in table.commands] == ["felt-private/sim/command"]
        assert spare not in server.log.read_text()


def test_the_exchange_of_a_chip_race_is_shown_before_it_begins(table, web):
    async def look(anna):
        await anna.log_in()
        body = {"from": 25, "to": 100, "counts": {"1": 7, "2": 2, "5": 3}}
        _, shown = await anna.post("/floor/race", body)
        assert shown["race"]["exchanged"] == {"1": 1, "2": 0, "5": 0}
        assert shown["race"]["odd"] == {"1": 3, "2": 2, "5": 3}
        assert shown["race"]["new_chips"] == 2
        _, wrong = await anna.post("/floor/race", body | {"to": 60})
        assert not wrong["ok"]
        assert "25 does not divide 60" in wrong["error"]

    with table.playing(), web(table.config_file) as server:
        as_person(server.url, look)
        assert table.commands == []


def test_without_a_table_the_answer_says_that_it_is_not_known(table, web):
    async def alone(anna):
        await anna.log_in()
        return await anna.command("start-hand", seats=[1, 2], hand=1)

    with web(table.config_file) as server:
        status, reply = as_person(server.url, alone)
        assert (status, reply["ok"]) == (200, None)
        assert server.said("no answer")


def test_wrong_passwords_are_logged_and_slowed_down(table, web):
    async def guess(eve):
        found = [await eve.log_in(password=f"guess {n}") for n in range(FAILURES)]
        return found, await eve.log_in()

    with web(table.config_file) as server:
        guesses, right_one = as_person(server.url, guess)
        assert guesses == [403] * FAILURES
        assert right_one == 429
        assert len(server.said("wrong log-in as 'floor'")) == FAILURES
        assert server.said("too many log-ins")
        assert "guess" not in server.log.read_text()
        assert PHRASE not in server.log.read_text()


def test_a_role_that_is_not_there_looks_like_a_wrong_password(table, web):
    async def try_both(eve):
        first = await eve.log_in(role="admin")
        return first, await eve.log_in(name="<script>"), await eve.log_in(role="floor")

    with web(table.config_file) as server:
        assert as_person(server.url, try_both) == (403, 403, 200)


def test_a_log_in_form_of_another_site_is_refused(table, web):
    async def forge(eve):
        found = [await eve.log_in(gate="made-up")]
        eve.own = {"Origin": "http://evil.example"}
        found.append(await eve.log_in())
        eve.own = {"Origin": "null"}
        found.append(await eve.log_in())
        eve.own = {}
        found.append(await eve.log_in())
        eve.own = {"Sec-Fetch-Site": "cross-site", "Origin": eve.url}
        return [*found, await eve.log_in()]

    with web(table.config_file) as server:
        assert as_person(server.url, forge) == [403] * 5
        assert len(server.said("not from our own pages")) == 4
        assert len(server.said("a log-in form that is not ours")) == 1


def test_a_forged_command_does_nothing(table, web):
    async def forge(anna):
        await anna.log_in()
        tries = [
            {"X-CSRF-Token": None},
            {"X-CSRF-Token": "made-up"},
            {"Origin": "http://evil.example"},
            {"Origin": "null", "Sec-Fetch-Site": "cross-site"},
            {"Origin": None, "Sec-Fetch-Site": None},
            {"Cookie": "feltd_floor=stolen"},
        ]
        found = []
        for headers in tries:
            if "Cookie" in headers:
                anna.session.cookie_jar.clear()
            found.append((await anna.command("end-hand", headers=headers))[0])
        return found

    with table.playing(), web(table.config_file) as server:
        table.until_phase("flop")
        assert as_person(server.url, forge) == [403] * 6
        assert table.commands == []
        assert len(server.said("refused POST '/floor/command'")) == 6


def test_another_table_and_broken_bodies_are_refused(table, web):
    async def attack(anna):
        await anna.log_in()
        found = [(await anna.command("end-hand", table="t2"))[0]]
        deep = b"[" * 8_000
        big = b'{"table":"sim","id":"1","command":{"type":"void-hand","reason":"' + b"x" * 20_000
        for body in (b"", b"{}", b"\xff\xfe", deep, big + b'"}}'):
            found.append((await anna.post("/floor/command", body))[0])  # noqa: PERF401
        text = {"Content-Type": "text/plain"}
        found.append((await anna.command("end-hand", headers=text))[0])
        odd = {"type": "fold", "seat": 1, "by": "table", "hand": 99, "extra": True}
        order = {"table": "sim", "id": "x", "command": odd}
        _, reply = await anna.post("/floor/command", order)
        assert not reply["ok"]
        assert "extra" in reply["error"]
        return found

    with table.playing(), web(table.config_file) as server:
        table.until_phase("flop")
        assert as_person(server.url, attack) == [409, 400, 400, 400, 400, 413, 415]
        assert table.commands == []
        assert server.said("named another table")
        assert server.said("too large")
        assert server.said("no JSON")


def test_a_body_that_does_not_say_how_long_it_is_ends_at_the_limit(table, web):
    async def pour(anna):
        await anna.log_in()

        async def endless():
            for _ in range(100):
                yield b"x" * 1024

        head = {"X-CSRF-Token": anna.csrf, "Content-Type": "application/json"} | anna.own
        async with anna.session.post(
            anna.url + "/floor/command", data=endless(), headers=head
        ) as response:
            return response.status

    with web(table.config_file) as server:
        assert as_person(server.url, pour) == 413
        assert server.said("too large")


def test_who_is_logged_out_sees_and_does_nothing(table, web):
    async def leave(anna):
        await anna.log_in()
        assert await anna.picture(lambda p: p["link"])
        watching = asyncio.create_task(anna.picture(lambda _: False))
        await asyncio.sleep(0.2)
        status, _ = await anna.post("/floor/logout", {})
        assert status == 200
        assert (await anna.command("end-hand"))[0] == 403
        async with anna.session.get(anna.url + "/floor/events") as response:
            assert response.status == 403
        assert await watching is None
        assert 'name="password"' in await anna.page()

    with table.playing(), web(table.config_file) as server:
        as_person(server.url, leave)
        assert server.said("logged out")


def test_too_many_commands_are_slowed_down(table, web):
    async def hurry(anna):
        await anna.log_in()
        body = {"from": 25, "to": 100, "counts": {"1": 7}}
        return [(await anna.post("/floor/race", body))[0] for _ in range(COMMANDS + 3)]

    with web(table.config_file) as server:
        assert as_person(server.url, hurry) == [200] * COMMANDS + [429] * 3


def test_cookies_are_for_this_page_alone(table, web):
    async def look(anna):
        async with anna.session.get(anna.url + "/floor") as response:
            gate = response.headers["Set-Cookie"]
        await anna.log_in()
        return gate

    with web(table.config_file) as server:
        gate = as_person(server.url, look)
        for word in ("HttpOnly", "SameSite=Strict", "Path=/floor"):
            assert word in gate


def test_sessions_end(table):
    del table
    from daemon.web.credentials import hash_password  # noqa: PLC0415

    now = [0.0]

    async def evening():
        door = Doorkeeper({"floor": hash_password("x" * 12)}, 6, clock=lambda: now[0])
        cookie = await door.admit("floor", "Анна", "x" * 12, "here")
        session = door.session(cookie)
        assert session.by == "floor/Анна"
        now[0] += IDLE - 1
        door.use(session)
        now[0] += IDLE - 1
        assert door.session(cookie) is session
        assert door.lasts(session)
        now[0] += 1
        assert not door.lasts(session)
        assert door.session(cookie) is None
        cookie = await door.admit("floor", "Анна", "x" * 12, "here")
        session = door.session(cookie)
        for _ in range(6):
            now[0] += 3600 - 1
            if door.session(cookie):
                door.use(session)
        now[0] += 6
        assert door.session(cookie) is None
        for _ in range(FAILURES):
            assert await door.admit("floor", "Eve", "wrong", "there") is None
        with pytest.raises(SlowDownError):
            await door.admit("floor", "Eve", "x" * 12, "there")
        assert await door.admit("floor", "Anna", "x" * 12, "here")
        now[0] += 61
        assert await door.admit("floor", "Eve", "x" * 12, "there")

    asyncio.run(evening())
