from __future__ import annotations

import json
from random import Random

import pytest

from daemon.web.follow import Follower
from daemon.web.picture import HoleView, TableView
from daemon.web.subscriber import LOOK_BACK
from drivers.sim.table import simulate


def public(messages):
    lines = [m for m in messages if m["topic"].startswith("felt/")]
    return [(m["topic"].split("/", 2)[2], m["payload"], m["retain"]) for m in lines]


def fold(view, follower, topic, payload):
    if "seq" not in payload:
        view.aside(topic, payload)
    for step in follower.take(topic, payload):
        view.take(step)


@pytest.fixture
def evening(play):
    def make(discipline, seed=4, hands=9):
        session = simulate(discipline, "field", seed, hands, commands=True, extras=True, keys=True)
        return public(play(session)[1])

    return make


@pytest.mark.parametrize("discipline", ["holdem", "omaha", "stud"])
def test_who_joins_at_any_time_sees_what_all_others_see(evening, discipline):
    stream = evening(discipline)
    whole, steady = TableView("sim"), Follower()
    pictures, kept, retained = [], [], {}
    for topic, payload, retain in stream:
        fold(whole, steady, topic, payload)
        if retain:
            retained[topic] = payload
        kept.append((topic, payload))
        pictures.append((json.dumps(whole.overlay()), dict(retained), len(kept), topic))
    joinable = [each for each in pictures if each[3] == "state"]
    for expected, old, count, _ in Random(3).sample(joinable, 60):
        late, follower = TableView("sim"), Follower()
        topics = sorted(old)
        Random(count).shuffle(topics)
        for topic in topics:
            fold(late, follower, topic, old[topic])
        since = follower.seq - LOOK_BACK
        for topic, payload in kept[:count]:
            if topic != "state" and payload.get("seq", -1) >= since:
                fold(late, follower, topic, payload | {"late": True})
        seen, wanted = late.overlay(), json.loads(expected)
        for each in (seen, wanted):
            for part in ("result", "opener", "deal", "equity"):
                (each[part] or {}).pop("late", None)
        assert json.loads(json.dumps(seen)) == wanted


def test_scenes_come_and_go_with_their_hand(evening):
    view, follower = TableView("sim"), Follower()
    kinds = []
    for topic, payload, _ in evening("holdem"):
        fold(view, follower, topic, payload)
        seen = view.overlay()
        if seen["result"]:
            assert seen["result"]["hand"] == seen["hand"]
        kind = seen["result"]["kind"] if seen["result"] else seen["phase"]
        if not kinds or kinds[-1] != kind:
            kinds.append(kind)
    assert kinds.index("button-draw") < kinds.index("showdown") < kinds.index("chip-race")


def test_the_opener_is_marked_on_its_street_only(evening):
    view, follower = TableView("sim"), Follower()
    seen = set()
    for topic, payload, _ in evening("stud"):
        fold(view, follower, topic, payload)
        picture = view.overlay()
        if picture["opener"]:
            assert picture["opener"]["street"] == picture["phase"]
            assert picture["opener"]["hand"] == picture["hand"]
            seen.add(picture["opener"]["kind"])
    assert seen == {"bring-in", "open"}


def test_a_void_showdown_is_taken_away():
    view, follower = TableView("t1"), Follower()
    base = {"epoch": "e", "hand": 3}
    state = base | {"phase": "showdown", "seats": {}, "board": []}
    fold(view, follower, "state", state | {"seq": 1})
    fold(view, follower, "showdown", base | {"seq": 2, "winners": [1]})
    fold(view, follower, "state", state | {"seq": 2})
    assert view.overlay()["result"]["winners"] == [1]
    fold(view, follower, "showdown", base | {"seq": 3, "winners": [1], "void": True})
    assert view.overlay()["result"] is None


def test_alerts_come_with_rule_and_remedy():
    view, follower = TableView("t1"), Follower()
    fold(view, follower, "state", {"epoch": "e", "seq": 1, "phase": "flop", "board": ["As"] * 3})
    for seq, kind in enumerate(["mixed-decks", "premature-card", "overheard"], 2):
        body = {"epoch": "e", "seq": seq, "kind": kind, "rule": "", "message": {"en": kind}}
        fold(view, follower, "alert", body)
        fold(view, follower, "alert", body | {"late": True})
    overheard, premature, mixed = view.floor()["alerts"]
    assert mixed["rule"].startswith("TDA 35-A6")
    assert "foul" in mixed["remedy"]["en"]
    assert "turn" in premature["remedy"]["en"]
    assert overheard["remedy"] is None
    notice = {"epoch": "e", "seq": 5, "kind": "foreign-deck", "severity": "notice", "rule": ""}
    fold(view, follower, "alert", notice)
    assert view.floor()["alerts"][0]["remedy"] is None


def test_a_fresh_table_has_its_first_hand_number():
    view, follower = TableView("t1"), Follower()
    assert view.next_hand() is None
    fold(view, follower, "state", {"epoch": "e", "seq": 0, "phase": "idle"})
    assert view.next_hand() == 1
    fold(view, follower, "event", {"epoch": "e", "seq": 1, "hand": 1, "type": "hand-started"})
    assert view.next_hand() == 1


def test_hole_cards_belong_to_the_hand_that_is_played():
    hole = HoleView()
    hole.take("hole-cards", {"hand": 4, "seat": 1, "cards": ["As", None]})
    hole.take("hole-cards", {"hand": 4, "seat": 2, "cards": ["Kd", "Kh"]})
    hole.take("hole-cards", {"hand": 3, "seat": 5, "cards": ["2c", "2h"]})
    public = {"hand": 4, "open": True, "equity": None}
    assert hole.on(public)["hole"] == {"1": ["As", None], "2": ["Kd", "Kh"]}
    assert hole.on(public | {"open": False})["hole"] == {}
    hole.take("hole-cards", {"hand": 5, "seat": 2, "cards": ["Qd"]})
    assert hole.on(public | {"hand": 5})["hole"] == {"2": ["Qd"]}
    hole.forget()
    assert hole.on(public | {"hand": 5})["hole"] == {}


def test_readers_and_status_are_outside_the_count():
    view, follower = TableView("t1"), Follower()
    fold(view, follower, "reader/rail", {"epoch": "e", "up": False, "error": "no answer"})
    fold(view, follower, "status", {"epoch": "e", "online": True})
    assert view.floor()["readers"]["rail"]["error"] == "no answer"
    assert view.overlay()["online"]
    assert "readers" not in view.overlay()


def test_odds_end_with_their_street_whatever_came_first():
    base = {"epoch": "e", "hand": 3}
    state = base | {"seq": 9, "phase": "turn", "board": []}
    events = [(5, "street"), (6, "equity"), (8, "street"), (9, "equity")]
    for order in (events, events[::-1], events[2:] + events[:2]):
        view, follower = TableView("t1"), Follower()
        fold(view, follower, "state", state)
        for seq, kind in order:
            fold(view, follower, "event", base | {"seq": seq, "type": kind, "late": True})
        assert view.overlay()["equity"]["seq"] == 9
        fold(view, follower, "event", base | {"seq": 10, "type": "street"})
        assert view.overlay()["equity"] is None
    hole = HoleView()
    hole.take("equity", base | {"seats": []})
    assert hole.on({"hand": 3, "open": True, "equity": None})["equity"]
    hole.new_street()
    assert hole.on({"hand": 3, "open": True, "equity": None})["equity"] is None
