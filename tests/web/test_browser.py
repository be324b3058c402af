"""The pages in a real browser: whole hands of each discipline, outages, sleep, an evening's forms.

With FELTD_SCREENSHOTS set to a folder the pictures are kept there; docs/screenshots has some.
"""

from __future__ import annotations

import base64
import json
import os
import time
from pathlib import Path

import pytest

from drivers.sim.table import simulate

WEB = '\n[web]\nlisten = "127.0.0.1:0"\n'
PHRASE = "correct horse battery"
PATIENCE = 20.0

SEEN = """
const text = (e) => e.textContent;
const labels = (e, what) => [...e.querySelectorAll(what)].map((c) => c.getAttribute('aria-label'));
const faces = (e) => labels(e, 'svg.card');
const lifted = (e) => labels(e, 'svg.lifted');
const caption = document.querySelector('#caption');
const shown = (e) => !e.hidden && getComputedStyle(e).opacity !== '0';
return {
  seq: Number(document.body.dataset.seq), street: text(document.querySelector('#street')),
  online: document.body.dataset.online, board: faces(document.querySelector('#board')),
  lifted: lifted(document.querySelector('#board')),
  caption: shown(caption) ? text(caption) : null,
  scene: shown(document.querySelector('#scene')) ? {
    title: text(document.querySelector('#scene h2')),
    who: [...document.querySelectorAll('#scene .who')].map(text),
    cards: faces(document.querySelector('#scene')),
    winners: [...document.querySelectorAll('#scene .winner .who')].map(text),
  } : null,
  seats: Object.fromEntries([...document.querySelectorAll('.seat')].map((e) => [e.dataset.key, {
    name: text(e.querySelector('.name')), note: text(e.querySelector('.note')), faces: faces(e),
    lifted: lifted(e), classes: [...e.classList],
  }])),
};
"""


def word(face):
    ranks = {"A": "Ace", "K": "King", "Q": "Queen", "J": "Jack", "T": "10"}
    suits = {"s": "spades", "h": "hearts", "d": "diamonds", "c": "clubs"}
    return f"{ranks.get(face[0], face[0])} of {suits[face[1]]}"


class Overlay:
    def __init__(self, browser, url, *, size=(1920, 1080)):
        self.browser = browser
        self.size = size
        self.resize(*size)
        browser.get(url)

    def resize(self, width, height):
        metrics = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
        self.browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)

    def seen(self):
        return self.browser.execute_script(SEEN)

    def until(self, wanted):
        end = time.monotonic() + PATIENCE
        while not wanted(seen := self.seen()):
            assert time.monotonic() < end, seen
            time.sleep(0.02)
        return seen

    def at(self, felt):
        seq = felt.state["seq"]
        return self.until(lambda seen: seen["seq"] == seq)

    def keep(self, name):
        """A picture of what is there once everything has come to rest."""
        folder = os.environ.get("FELTD_SCREENSHOTS")
        if folder:
            time.sleep(1.2 if "draw" not in name and "race" not in name else 3)
            size = {"x": 0, "y": 0, "width": self.size[0], "height": self.size[1]}
            small = {"format": "png", "clip": size | {"scale": 960 / self.size[0]}}
            taken = self.browser.execute_cdp_cmd("Page.captureScreenshot", small)
            (Path(folder) / f"{name}.png").write_bytes(base64.b64decode(taken["data"]))


def names(felt, *people):
    felt.command("set-names", names={str(n): name for n, name in enumerate(people, 1)})


PEOPLE = (
    "Anna Petrova",
    "Борис Смирнов",
    "Chen Wei",
    "D. O’Neill",
    "<b>Eve</b>",
    "Fatima",
    "Grigori",
)


def check_nothing_wrong(browser):
    found = [entry for entry in browser.get_log("browser") if "net::ERR" not in entry["message"]]
    assert found == []


def check_street(felt, overlay):
    """The page shows what the state says."""
    seen, state = overlay.at(felt), felt.state
    assert seen["board"] == [word(face) for face in state["board"]]
    live = {n: each for n, each in state["seats"].items() if each["status"] != "out"}
    assert sorted(seen["seats"]) == sorted(live)
    for number, seat in live.items():
        shown = seen["seats"][number]
        public = [face for face in shown["faces"] if face != "face down"]
        assert public == [word(face) for face in seat["shown"] or seat["up"]]
        assert len(shown["faces"]) == seat["cards"]
        assert ("gone" in shown["classes"]) == (seat["status"] in {"folded", "mucked"})
        assert ("has-button" in shown["classes"]) == (str(state["button"]) == number)


def best_label(result):
    winner = result["winners"][0]
    return next(h["label"]["en"] for h in result["hands"] if h["seat"] == winner)


def check_showdown(felt, overlay, result):
    seen = overlay.at(felt)
    for hand in result["hands"]:
        shown = seen["seats"][str(hand["seat"])]
        assert shown["faces"] == [word(face) for face in hand["cards"]]
        own = {word(face) for face in hand["cards"]}
        assert set(shown["lifted"]) == {word(face) for face in hand["best"]} & own
        assert shown["note"].startswith(hand["label"]["en"])
        assert ("winner" in shown["classes"]) == (hand["seat"] in result["winners"])
    best = {word(f) for h in result["hands"] if h["seat"] in result["winners"] for f in h["best"]}
    assert set(seen["lifted"]) == best & set(seen["board"])
    assert best_label(result) in seen["caption"]
    return result


STREETS = {
    "holdem": ["preflop", "flop", "turn", "river"],
    "omaha": ["preflop", "flop", "turn", "river"],
    "stud": ["third", "fourth", "fifth", "sixth", "seventh"],
}


@pytest.mark.parametrize(("discipline", "seed"), [("holdem", 3), ("omaha", 2), ("stud", 5)])
def test_a_whole_hand(felt, web, browser, discipline, seed):
    table = felt(simulate(discipline, "clean", seed, 4, commands=True, speed=4), more=WEB)
    with table.playing(), web(table.config_file) as server:
        overlay = Overlay(browser, server.url + "/overlay?lang=en")
        names(table, *PEOPLE)
        phases = []

        def moved(told, state):
            return state["phase"] != (phases or ["idle"])[-1] or any(
                topic == "showdown" for topic, _ in told
            )

        result = None
        while result is None:
            told = table.until(moved)
            phases.append(table.state["phase"])
            result = next((body for topic, body in told if topic == "showdown"), None)
            if phases[-1] in STREETS[discipline]:
                check_street(table, overlay)
            if phases[-1] == STREETS[discipline][-2]:
                overlay.keep(f"overlay-{discipline}")
        assert set(STREETS[discipline]) <= set(phases)
        check_showdown(table, overlay, result)
        overlay.keep(f"overlay-{discipline}-showdown")
        check_nothing_wrong(browser)


def test_stud_marks_who_opens(felt, web, browser):
    table = felt(simulate("stud", "clean", 5, 3, commands=True, speed=4), more=WEB)
    with table.playing(), web(table.config_file) as server:
        overlay = Overlay(browser, server.url + "/overlay?lang=ru")
        told = table.until_told("ruling/first-to-act", street="third")
        opener = [payload["seat"] for topic, payload in told if topic == "ruling/first-to-act"][-1]
        seen = overlay.at(table)
        marked = [n for n, seat in seen["seats"].items() if "opens" in seat["classes"]]
        assert marked == [str(opener)]
        assert seen["seats"][str(opener)]["note"] == "Бринг-ин"
        overlay.keep("overlay-bring-in-ru")


def check_scene(seen, order, winners, seat):
    assert seen["scene"]["who"] == [f"{seat} {each['seat']}" for each in reversed(order)]
    assert seen["scene"]["cards"][-1] == word(order[0]["card"]) or seat != "Seat"
    assert sorted(seen["scene"]["winners"]) == sorted(f"{seat} {n}" for n in winners)


def test_button_draw_and_chip_race_are_scenes_with_the_winner_last(felt, web, browser):
    session = simulate("holdem", "clean", 3, 10, commands=True, extras=True, speed=4, players=9)
    table = felt(session, more=WEB)
    with table.playing(), web(table.config_file) as server:
        overlay = Overlay(browser, f"{server.url}/overlay?lang=en")
        told = table.until_told("ruling/button-draw")
        draw = [payload for topic, payload in told if topic == "ruling/button-draw"][-1]
        check_scene(overlay.at(table), draw["order"], [draw["winner"]], "Seat")
        script = """return [...document.querySelectorAll('#board, #seats, #street, #caption')]
            .every((e) => getComputedStyle(e).opacity === '0')"""
        assert browser.execute_script(script)
        overlay.keep("overlay-button-draw")
        table.until_phase("preflop")
        assert overlay.at(table)["scene"] is None
        browser.get(f"{server.url}/overlay?lang=ru")
        told = table.until_told("ruling/chip-race")
        race = [payload for topic, payload in told if topic == "ruling/chip-race"][-1]
        winners = [*map(int, race["awards"]), *race["rescued"]]
        check_scene(overlay.at(table), race["ranking"], winners, "Место")
        overlay.keep("overlay-chip-race-ru")
        check_nothing_wrong(browser)


def test_a_split_pot_names_all_winners_and_their_shares(felt, web, browser):
    table = felt(simulate("holdem", "clean", 3, 6, commands=True, speed=4), more=WEB)

    def contested(told, _):
        return any(t == "showdown" and len(body["hands"]) > 1 for t, body in told)

    with table.playing(), web(table.config_file) as server:
        overlay = Overlay(browser, server.url + "/overlay?lang=en")
        told = table.until(contested)
        result = [payload for topic, payload in told if topic == "showdown"][-1]
        seats = [hand["seat"] for hand in result["hands"]]
        table.command("pots", pots=[{"amount": 1500, "seats": seats}], chip=25)
        seen = overlay.at(table)
        assert "+1,500" in seen["seats"][str(result["winners"][0])]["note"]
        first, second = result["hands"][:2]
        like = {key: first[key] for key in ("label", "rank", "category")}
        result["hands"][1] = second | like
        halves = result | {"seq": table.state["seq"] + 1, "winners": seats[:2]}
        halves["pots"] = [
            {"amount": 1500, "winners": seats[:2], "shares": {str(n): 750 for n in seats[:2]}}
        ]
        state = table.state | {"seq": halves["seq"]}
        publish(table, ("showdown", halves), ("state", state))
        seen = overlay.until(lambda seen: seen["seq"] == halves["seq"])
        assert seen["caption"].startswith(f"Split pot: Seat {seats[0]}, Seat {seats[1]} — ")
        for number in seats[:2]:
            assert "winner" in seen["seats"][str(number)]["classes"]
            assert seen["seats"][str(number)]["note"].endswith("+750")
        overlay.keep("overlay-split")


def publish(table, *messages):
    """Put messages on the table's public root, as the daemon would."""
    import paho.mqtt.publish as mqtt  # noqa: PLC0415

    packed = [(f"felt/sim/{name}", json.dumps(body), 1, True) for name, body in messages]
    mqtt.multiple(packed, hostname="127.0.0.1", port=table.broker.port)


def test_broker_killed_browser_asleep_and_two_browsers_that_end_equal(felt, web, browser):
    table = felt(simulate("holdem", "clean", 2, 6, commands=True, speed=4), more=WEB)
    with table.playing(), web(table.config_file) as server:
        overlay = Overlay(browser, server.url + "/overlay?lang=en")
        first = browser.current_window_handle
        table.until_phase("flop")
        assert len(overlay.at(table)["board"]) == 3
        browser.execute_cdp_cmd("Page.setWebLifecycleState", {"state": "frozen"})
        browser.switch_to.new_window("tab")
        second = Overlay(browser, server.url + "/overlay?lang=en")
        table.broker.kill()
        assert second.until(lambda seen: seen["online"] == "false")["board"]
        table.until_told("showdown")
        table.broker.start()
        fresh = second.at(table)
        assert fresh["online"] == "true"
        assert fresh["caption"]
        browser.switch_to.window(first)
        browser.execute_cdp_cmd("Page.setWebLifecycleState", {"state": "active"})
        assert overlay.at(table) == fresh


def test_a_server_that_went_comes_back_on_the_page(felt, web, browser):
    table = felt(simulate("holdem", "clean", 2, 6, commands=True, speed=4), more=WEB)
    with table.playing():
        with web(table.config_file) as server:
            overlay = Overlay(browser, server.url + "/overlay?lang=en")
            table.until_phase("flop")
            overlay.at(table)
            port = server.url.rpartition(":")[2]
        overlay.until(
            lambda _: browser.execute_script("return document.body.dataset.link") == "false"
        )
        table.until_phase("river")
        text = table.config_file.read_text().replace("127.0.0.1:0", f"127.0.0.1:{port}")
        table.config_file.write_text(text)
        with web(table.config_file):
            assert len(overlay.at(table)["board"]) == 5


def test_parameters_of_the_address(felt, web, browser):
    table = felt(simulate("holdem", "clean", 2, 6, commands=True, speed=4), more=WEB)
    query = "?lang=ru&parts=board,street&deck=4&accent=00ff00&panel=bad;colour&motion=off"
    with table.playing(), web(table.config_file) as server:
        overlay = Overlay(browser, server.url + "/overlay" + query, size=(3840, 2160))
        table.until_phase("river")
        seen = overlay.at(table)
        assert seen["street"].endswith("Ривер")
        style = "return getComputedStyle(document.documentElement).getPropertyValue(arguments[0])"
        assert browser.execute_script(style, "--accent") == "#00ff00"
        assert "bad" not in browser.execute_script(style, "--panel")
        assert browser.execute_script(style, "--scale") == "2"
        assert browser.execute_script(style, "--suit-d").strip() == "#1558c0"
        script = "return getComputedStyle(document.querySelector('#seats')).display"
        assert browser.execute_script(script) == "none"
        script = "return getComputedStyle(document.body).backgroundColor"
        assert browser.execute_script(script) == "rgba(0, 0, 0, 0)"
        check_nothing_wrong(browser)


def test_hole_cards_on_the_private_page_alone(felt, web, browser, tmp_path):
    from daemon.web.credentials import add_token  # noqa: PLC0415

    token = add_token(tmp_path / "tokens", "obs")
    more = WEB + (
        '[web.private]\nlisten = "127.0.0.1:0"\nreceiver = "overlay"\ntokens_file = "tokens"\n'
    )
    table = felt(
        simulate("holdem", "clean", 2, 3, commands=True, speed=4), 'hole_cards = "clear"', more=more
    )
    with table.playing(), web(table.config_file, "--private") as server:
        overlay = Overlay(browser, f"{server.url}/overlay/private?token={token}")
        overlay.until(lambda seen: seen["online"] == "true")
        table.until_phase("preflop")
        overlay.at(table)
        seen = overlay.until(
            lambda seen: all("face down" not in seat["faces"] for seat in seen["seats"].values())
        )
        assert len(seen["seats"]) > 1
        equity = [{"seat": int(n), "equity": 0.25, "win": 0.25, "tie": 0} for n in seen["seats"]]
        body = {"epoch": table.state["epoch"], "seq": 500, "hand": table.state["hand"]}
        import paho.mqtt.publish as mqtt  # noqa: PLC0415

        message = json.dumps(body | {"seats": equity, "exact": True, "deals": 1})
        mqtt.single(
            "felt-private/sim/equity", message, 1, hostname="127.0.0.1", port=table.broker.port
        )
        script = "return document.querySelectorAll('.percent').length"
        overlay.until(lambda _: browser.execute_script(script) == len(seen["seats"]))
        overlay.keep("overlay-private-equity")


class Panel(Overlay):
    """The floor's panel, used as a person uses it."""

    def __init__(self, browser, url, lang="en"):
        super().__init__(browser, f"{url}/floor?lang={lang}", size=(1180, 820))
        browser.find_element("name", "name").send_keys("Anna")
        browser.find_element("name", "password").send_keys(PHRASE)
        browser.find_element("tag name", "button").click()
        self.wait("return document.querySelector('#link')?.dataset.up === 'true'")

    def wait(self, script, *arguments):
        end = time.monotonic() + PATIENCE
        while not self.browser.execute_script(script, *arguments):
            assert time.monotonic() < end, script
            time.sleep(0.02)

    def at(self, felt):
        self.wait("return Number(document.body.dataset.seq) === arguments[0]", felt.state["seq"])

    def open(self, kind):
        self.wait("return !document.querySelector(`[data-key=${arguments[0]}]`).disabled", kind)
        self.browser.find_element("css selector", f"[data-key={kind}]").click()

    def fill(self, **values):
        for name, value in values.items():
            self.browser.find_element("css selector", f"dialog [name={name}]").send_keys(value)

    def tick(self, name, *wanted):
        script = """
        for (const box of document.querySelectorAll(`dialog [name=${arguments[0]}]`)) {
          const on = arguments[1].includes(box.value);
          if (box.checked !== on) box.click();
        }"""
        self.browser.execute_script(script, name, [str(each) for each in wanted])

    def send(self):
        self.browser.execute_script("document.querySelector('#answer').className = ''")
        self.browser.find_element("css selector", "dialog .buttons button:last-child").click()
        self.wait("return document.querySelector('#answer').className !== ''")
        answer = self.browser.find_element("id", "answer")
        return answer.get_attribute("class"), answer.text

    def text(self, selector):
        return self.browser.find_element("css selector", selector).text


def test_an_evening_from_the_panel(felt, web, browser, floor_keys):
    table = felt(simulate("holdem", "clean", 2, 4, speed=4), more=floor_keys)
    with table.playing(), web(table.config_file) as server:
        panel = Panel(browser, server.url)
        panel.open("set-names")
        panel.fill(
            name1="<script>alert(1)</script>", name2="Борис", name3='"><img src=x onerror=x>'
        )
        assert panel.send() == ("ok", "Names: done.")
        table.until_phase("preflop")
        panel.at(table)
        assert browser.execute_script("return document.querySelectorAll('script').length") == 1
        assert browser.execute_script("return document.querySelectorAll('img').length") == 0
        live = [n for n, each in table.state["seats"].items() if each["status"] == "in"]
        panel.open("start-hand")
        panel.tick("seats", *live)
        assert panel.send()[0] == "ok"
        panel.open("showdown")
        assert panel.send() == ("bad", "Showdown: refused. the last street is not out")
        panel.open("fold")
        panel.tick("seat", live[0])
        assert panel.send()[0] == "ok"
        panel.at(table)
        assert table.state["seats"][live[0]]["status"] == "folded"
        panel.open("undo")
        assert panel.send()[0] == "ok"
        assert table.state["seats"][live[0]]["status"] == "in"
        panel.open("card")
        panel.browser.find_element("css selector", f"option[value='seat:{live[1]}']").click()
        panel.fill(card="2c", index="1")
        assert panel.send()[0] == "ok"
        assert "2 of clubs" not in browser.page_source
        assert '"2c"' not in browser.page_source
        assert table.commands[-1][0] == "felt-private/sim/command"
        panel.keep("floor")
        panel.open("void-hand")
        panel.fill(reason="fouled deck")
        panel.keep("floor-void")
        assert panel.send()[0] == "ok"
        assert all("hand" in body for _, body in table.commands)
        assert {body["by"] for _, body in table.commands} == {"floor/Anna"}
        check_nothing_wrong(browser)


def test_a_showdown_with_pots_from_the_panel(felt, web, browser, floor_keys):
    table = felt(simulate("holdem", "clean", 2, 4, speed=4), more=floor_keys)
    with table.playing(), web(table.config_file) as server:
        panel = Panel(browser, server.url, lang="ru")
        panel.at(table)
        panel.open("set-button")
        panel.tick("seat", 1)
        assert panel.send() == ("ok", "Баттон: выполнено.")
        table.until(lambda told, state: state["phase"] == "river" and told[-1][0] == "state")
        panel.at(table)
        live = [n for n, each in table.state["seats"].items() if each["status"] == "in"]
        panel.open("showdown")
        panel.tick("shown", *live)
        kind, text = panel.send()
        assert (kind, text) == ("ok", "Вскрытие: выполнено.")
        panel.at(table)
        assert "выигрывает" in panel.text("#result")
        panel.open("pots")
        panel.fill(amount0="1200", chip="25")
        assert panel.send() == ("ok", "Банки: выполнено.")
        panel.wait("return /1200/.test(document.querySelector('#result').textContent)")
        panel.keep("floor-showdown-ru")


def test_draw_and_race_from_the_panel(felt, web, browser, floor_keys):
    session = simulate("holdem", "clean", 3, 12, commands=True, extras=True, speed=4, seats=6)
    table = felt(session, more=floor_keys)
    with table.playing(), web(table.config_file) as server:
        panel = Panel(browser, server.url)
        panel.at(table)
        panel.open("chip-race")
        panel.fill(**{"from": "25", "to": "100", "count1": "7", "count2": "2", "count4": "3"})
        buttons = browser.find_elements("css selector", "dialog .buttons button")
        buttons[0].click()
        panel.wait("return document.querySelectorAll('#preview tbody tr').length === 3")
        rows = [
            [cell.text for cell in row.find_elements("tag name", "td")]
            for row in browser.find_elements("css selector", "#preview tbody tr")
        ]
        assert rows == [
            ["Seat 1", "1 × 100", "3"],
            ["Seat 2", "0 × 100", "2"],
            ["Seat 4", "0 × 100", "3"],
        ]
        panel.keep("floor-chip-race")
        assert table.commands == []
        buttons[1].click()
        told = table.until_told("ruling/chip-race")
        race = [payload for topic, payload in told if topic == "ruling/chip-race"][-1]
        panel.at(table)
        ruled = browser.find_elements("css selector", "#ruling tbody tr")
        assert len(ruled) == len(race["exchanged"])
        panel.keep("floor-chip-race-ruling")


def test_the_panel_by_keyboard_and_for_a_screen_reader(felt, web, browser, floor_keys):
    from selenium.webdriver.common.keys import Keys  # noqa: PLC0415

    table = felt(simulate("holdem", "clean", 2, 4, commands=True, speed=4), more=floor_keys)
    with table.playing(), web(table.config_file) as server:
        panel = Panel(browser, server.url)
        table.until_phase("flop")
        panel.at(table)
        fold = browser.find_element("css selector", "[data-key=fold]")
        fold.send_keys(Keys.ENTER)
        panel.wait("return document.querySelector('dialog').open")
        inside = "return document.querySelector('dialog').contains(document.activeElement)"
        assert browser.execute_script(inside)
        browser.switch_to.active_element.send_keys(Keys.ESCAPE)
        panel.wait("return !document.querySelector('dialog').open")
        assert browser.switch_to.active_element == fold
        nameless = """return [...document.querySelectorAll('button, svg, section, input')]
            .filter((e) => !(e.textContent || e.getAttribute('aria-label') || e.labels?.length
              || e.getAttribute('aria-labelledby'))).length"""
        assert browser.execute_script(nameless) == 0
        live = browser.execute_script("return document.querySelectorAll('[aria-live]').length")
        assert live == 3


def test_contrast_of_all_words(felt, web, browser, floor_keys):
    table = felt(simulate("holdem", "field", 3, 6, commands=True, speed=4), more=floor_keys)
    script = """
    const parse = (c) => (c.match(/[\\d.]+/g) ?? []).map(Number);
    const light = ([r, g, b]) => [r, g, b].map((v) => v / 255)
      .map((v) => v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)
      .reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
    const behind = (e) => {
      for (; e; e = e.parentElement) {
        const c = parse(getComputedStyle(e).backgroundColor);
        if (c.length === 3 || c[3] > 0.8) return c;
      }
      return [18, 22, 28];
    };
    const low = [];
    for (const e of document.querySelectorAll('body *')) {
      const words = [...e.childNodes].some((n) => n.nodeType === 3 && n.data.trim());
      if (e.closest('svg') || e.disabled || !words || !e.checkVisibility()) continue;
      const both = [light(parse(getComputedStyle(e).color)), light(behind(e))];
      const ratio = (Math.max(...both) + 0.05) / (Math.min(...both) + 0.05);
      if (ratio < 4.5) low.push(`${e.tagName} ${e.className} ${e.textContent.slice(0, 30)}`);
    }
    return low;"""
    with table.playing(), web(table.config_file) as server:
        panel = Panel(browser, server.url)
        table.until_told("showdown")
        panel.at(table)
        assert browser.execute_script(script) == []
        overlay = Overlay(browser, server.url + "/overlay?lang=en")
        overlay.at(table)
        assert browser.execute_script(script) == []


def test_nothing_moves_when_words_change(felt, web, browser):
    table = felt(simulate("holdem", "clean", 2, 4, commands=True, speed=4), more=WEB)
    where = """return [...document.querySelectorAll(arguments[0])]
        .map((e) => e.getBoundingClientRect()).map((r) => [r.x, r.y, r.width, r.height])"""

    def places():
        return browser.execute_script(where, "#board, #seats, .plate")

    with table.playing(), web(table.config_file) as server:
        overlay = Overlay(browser, server.url + "/overlay?lang=en&motion=off")
        table.until_phase("flop")
        overlay.at(table)
        before = places()
        names(table, "A" * 40, "Ж" * 40)
        overlay.at(table)
        table.until_phase("river")
        overlay.at(table)
        assert places() == before
