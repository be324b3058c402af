from __future__ import annotations

import json
from pathlib import Path

import pytest

from daemon.rules.profile import Profile

CASES = Path(__file__).parents[1] / "cases"


def cases(name):
    return json.loads((CASES / f"{name}.json").read_text())


def pairs(entries):
    return [(entry["seat"], entry["card"]) for entry in entries]


@pytest.mark.parametrize("case", cases("button-draw"), ids=lambda case: case["id"])
def test_the_best_card_draws_the_button(drawn, case):
    cards = {int(seat.removeprefix("seat")): card for seat, card in case["input"].items()}
    felt = drawn(*cards)
    for seat, card in cards.items():
        felt.lay(f"seat:{seat}", card)
    felt.wait(4.0)
    [ruling] = felt.told("ruling/button-draw")
    assert (ruling["winner"], ruling["card"]) == tuple(case["expected"].values())
    assert dict(pairs(ruling["order"])) == cards
    assert felt.state()["button"] == case["expected"]["button"]
    assert felt.alerts() == []


RACES = [case for case in cases("chip-race") if "cards_in_deal_order" in case["input"]]


@pytest.mark.parametrize("case", RACES, ids=lambda case: case["id"])
def test_the_best_cards_win_the_new_chips(lay_table, race, case):
    old, new = (int(value) for value in case["input"]["change"].replace("T", "").split("->"))
    odd = {int(seat): chips for seat, chips in case["input"]["odd_chips"].items()}
    profile = Profile(race_remainder="always-up" if case["id"] == "CR-12" else "half-up")
    felt = race(odd, lay_table(profile=profile), old, new)
    for seat, cards in case["input"]["cards_in_deal_order"].items():
        for card in cards.split():
            felt.lay(f"seat:{seat}", card)
    felt.wait(4.0)
    expected = case["expected"]
    [started] = felt.events("deal-started")
    assert started["expected"] == {str(seat): chips for seat, chips in odd.items()}
    [ruling] = felt.told("ruling/chip-race")
    assert ruling["new_chips"] == expected["new_chips"]
    assert ruling["remainder"] == expected["remainder"]
    assert [f"{seat}:{card}" for seat, card in pairs(ruling["ranking"])] == expected["ranking"]
    assert sorted(map(int, ruling["awards"])) == sorted(expected["winners"])
    assert felt.alerts() == []


def test_a_seat_that_owns_nothing_else_is_rescued(race):
    felt = race({1: 1, 3: 3}, all_in=[1])
    for seat, card in ((1, "5d"), (3, "Kc"), (3, "9h"), (3, "2s")):
        felt.lay(f"seat:{seat}", card)
    felt.wait(4.0)
    [ruling] = felt.told("ruling/chip-race")
    assert (ruling["awards"], ruling["rescued"]) == ({"3": 1}, [1])


def test_without_odd_chips_the_ruling_comes_at_once(lay_table, race):
    felt = lay_table()
    race({1: 8, 2: 4, 3: 0}, felt)
    [started] = felt.events("deal-started")
    assert (started["expected"], started["exchanged"]) == ({}, {"1": 2, "2": 1, "3": 0})
    [ruling] = felt.told("ruling/chip-race")
    assert (ruling["ranking"], ruling["new_chips"], ruling["change"]) == ([], 0, 0)
    assert ruling["at"] == started["at"]
    felt.wait(4.0)
    assert felt.state()["phase"] == "idle"


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"from": 25, "to": 500, "counts": {"1": 19, "2": 19, "3": 19}}, "a deck has 52"),
        ({"from": 25, "to": 60, "counts": {"1": 3}}, "25 does not divide 60"),
        ({"from": 25, "to": 100, "counts": {}}, "no seat has chips"),
        ({"from": 25, "to": 100, "counts": {"1": 0, "2": 3}, "all_in": [1]}, "seat 1 is all-in"),
        ({"from": 25, "to": 100, "counts": {"9": 3}}, "at `$.counts`"),
    ],
)
def test_a_race_that_cannot_be_is_refused(lay_table, fields, reason):
    felt = lay_table()
    felt.say("chip-race", **fields)
    answer = felt.answer()
    assert answer["ok"] is False
    assert reason in answer["error"]
    assert felt.told("event") == []


def test_stud_has_no_button_to_draw_for(lay_table, drawn, race):
    felt = drawn(1, 2, felt=lay_table(discipline="stud"))
    assert "stud" in felt.answer()["error"]
    race({1: 3, 2: 1}, felt)
    assert felt.answer()["ok"]


def test_a_seat_with_a_card_is_not_clear(lay_table, drawn):
    felt = lay_table()
    felt.lay("seat:5", "As")
    drawn(1, 2, felt=felt)
    assert "seat 5 is not clear" in felt.answer()["error"]
    felt.lift("seat:5")
    felt.wait(4.0)
    drawn(1, 2, felt=felt)
    assert felt.answer()["ok"]


def test_a_seat_that_nobody_hears_is_not_clear(lay_table):
    felt = lay_table()
    felt.t += 10.0
    felt.say("button-draw", seats=[1, 2])
    assert "no look at seat:1" in felt.answer()["error"]
    felt.wait(1.0)
    felt.lines.append({"t": felt.t, "reader": "rail", "up": False})
    felt.say("button-draw", seats=[1, 2])
    assert "reader rail is lost" in felt.answer()["error"]
    felt.lines.append({"t": felt.t, "reader": "rail", "up": True})
    felt.wait(0.5)
    felt.say("button-draw", seats=[1, 2])
    assert felt.answer()["ok"]


def test_no_deal_begins_while_something_else_is_open(lay_table, drawn):
    felt = lay_table()
    felt.say("start-hand", seats=[1, 2])
    felt.say("button-draw", seats=[1, 2])
    assert felt.answer()["error"] == "hand 7 is still open"
    felt.say("end-hand")
    drawn(1, 2, felt=felt)
    for kind, fields in (("set-button", {"seat": 1}), ("set-discipline", {"discipline": "omaha"})):
        felt.say(kind, **fields)
        assert felt.answer()["error"] == "button-draw 8 is still open"


def test_commands_of_a_hand_do_not_fit_a_deal(drawn):
    felt = drawn(1, 2)
    for kind, fields in (
        ("fold", {"seat": 1}),
        ("show", {"seats": [1]}),
        ("showdown", {}),
        ("pots", {"pots": [{"amount": 5, "seats": [1]}], "chip": 1}),
        ("undo", {"of": "1"}),
    ):
        felt.say(kind, **fields)
        assert felt.answer()["ok"] is False, kind


def test_a_deal_takes_a_number_and_shows_its_cards_at_once(drawn):
    felt = drawn(1, 2)
    felt.lay("seat:1", "Kd", rest=1.5)
    [dealt] = felt.events("card-dealt")
    assert (dealt["hand"], dealt["zone"], dealt["index"], dealt["card"]) == (7, "seat:1", 0, "Kd")
    state = felt.state()
    assert (state["phase"], state["hand"]) == ("button-draw", 7)
    assert state["seats"]["1"] == {
        "status": "in",
        "cards": 1,
        "up": ["Kd"],
        "shown": [],
        "name": "",
    }
    felt.lay("seat:2", "2c")
    felt.wait(4.0)
    felt.sweep()
    assert (felt.state()["phase"], felt.state()["button"]) == ("idle", 1)
    assert [event["hand"] for event in felt.events("hand-ended")] == [7]
    felt.say("button-draw", seats=[1, 2], hand=7)
    assert felt.answer()["ok"]
    assert felt.events("deal-started")[-1]["hand"] == 8


def test_a_command_for_another_hand_is_refused(drawn):
    felt = drawn(1, 2)
    felt.say("card", zone="seat:1", card="As", hand=8)
    assert "hand 8 is not the current one" in felt.answer()["error"]
    felt.say("card", zone="seat:1", card="As", hand=7)
    assert felt.answer()["ok"]


def test_a_missing_card_is_asked_for_and_typed_in_for_all_to_see(drawn):
    felt = drawn(1, 2, 3)
    felt.lay("seat:1", "Kd")
    felt.lay("seat:3", "2c")
    felt.wait(8.0)
    assert felt.alerts() == [("missing-card", "seat:2")]
    assert felt.told("ruling/button-draw") == []
    felt.say("card", zone="seat:2", card="Ah")
    assert felt.answer()["ok"]
    assert felt.events("command")[-1]["command"] == {"type": "card", "zone": "seat:2", "card": "Ah"}
    [ruling] = felt.told("ruling/button-draw")
    assert ruling["winner"] == 2


def test_a_correction_tells_a_corrected_ruling_and_moves_the_button(drawn):
    felt = drawn(1, 2)
    felt.lay("seat:1", "Kd")
    felt.lay("seat:2", "2c")
    felt.wait(4.0)
    change = felt.say("card", zone="seat:1", card="2h", index=0)
    felt.say("card", zone="seat:2", card="As", index=0)
    felt.say("undo", of=change)
    first, second, *rest = felt.told("ruling/button-draw")
    assert (first["winner"], second["winner"]) == (1, 1)
    assert second["replaces"] == first["seq"]
    assert [ruling["winner"] for ruling in rest] == [2, 2]
    assert rest[1]["replaces"] == rest[0]["seq"]
    assert felt.state()["button"] == 2
    felt.sweep()
    felt.say("card", zone="seat:2", card="2d", index=0)
    assert felt.told("ruling/button-draw")[-1]["winner"] == 1
    assert felt.state()["button"] == 1


def test_cards_that_come_after_the_sweep_are_secret(drawn):
    felt = drawn(1, 2, 3)
    felt.lay("seat:1", "Kd")
    felt.lay("seat:2", "2c")
    felt.wait(1.0)
    felt.sweep()
    assert felt.alerts() == [("missing-card", "seat:3")]
    for seat, card in ((3, "As"), (1, "Ks")):
        felt.lay(f"seat:{seat}", card)
    felt.wait(5.0)
    assert [event["card"] for event in felt.events("card-dealt")] == ["Kd", "2c"]
    felt.say("card", zone="seat:3", card="Ad")
    assert felt.told("ruling/button-draw")[0]["winner"] == 3


def test_an_abandoned_deal_ends_and_hands_begin_by_themselves_again(drawn):
    felt = drawn(1, 2, 3)
    felt.lay("seat:1", "Kd")
    felt.wait(2.0)
    felt.sweep(rest=12.0)
    assert felt.state()["phase"] == "idle"
    felt.lay("seat:1", "Ks", "Qs")
    felt.lay("seat:2", "Js", "Ts")
    felt.wait(2.0)
    assert felt.events("hand-started")[0]["hand"] == 8
    assert all("card" not in event for event in felt.events("card-dealt")[1:])


def test_a_draw_may_be_commanded_again_once_the_seats_are_clear(drawn):
    felt = drawn(1, 2)
    felt.lay("seat:1", "Kd", rest=2.0)
    drawn(1, 2, felt=felt)
    assert "seat 1 is not clear" in felt.answer()["error"]
    felt.sweep(rest=3.5)
    drawn(1, 3, felt=felt)
    assert felt.answer()["ok"]
    assert felt.alerts() == [("missing-card", "seat:2")]
    felt.lay("seat:1", "Kd")
    felt.lay("seat:3", "Ks")
    felt.wait(4.0)
    assert [ruling["hand"] for ruling in felt.told("ruling/button-draw")] == [8]


def test_a_draw_without_a_ruling_is_not_passed_over_in_silence(drawn):
    felt = drawn(1, 2)
    felt.lay("seat:1", "Kd", rest=2.0)
    felt.say("start-hand", seats=[1, 2])
    assert felt.alerts() == [("missing-card", "seat:2")]
    assert [body["hand"] for body in felt.told("alert")] == [7]
    assert felt.state()["hand"] == 8


def test_a_deal_of_which_no_card_comes_is_forgotten(drawn):
    felt = drawn(1, 2)
    felt.wait(30.0)
    assert felt.alerts() == [("missing-card", "seat:1"), ("missing-card", "seat:2")]
    felt.wait(280.0)
    assert felt.state()["phase"] == "idle"


@pytest.mark.parametrize("kind", ["end-hand", "void-hand"])
def test_what_lies_there_at_the_end_begins_no_hand(drawn, kind):
    felt = drawn(1, 2)
    felt.lay("seat:1", "Kd")
    felt.lay("seat:2", "2c", rest=1.5)
    felt.say(kind)
    assert felt.answer()["ok"]
    felt.wait(10.0)
    felt.lay("seat:3", "5s")
    felt.wait(5.0)
    assert felt.state()["phase"] == "idle"
    assert felt.told("ruling/button-draw") == []
    assert felt.events("hand-started") == []
    felt.sweep(rest=10.0)
    felt.lay("seat:1", "Kd", "2c")
    felt.lay("seat:2", "5s", "6s")
    felt.wait(2.0)
    assert [event["hand"] for event in felt.events("hand-started")] == [8]


def test_a_void_draw_is_told_as_void_and_the_button_goes_back(drawn):
    felt = drawn(1, 2)
    felt.lay("seat:1", "Kd")
    felt.lay("seat:2", "3c")
    felt.wait(4.0)
    felt.say("void-hand", reason="fouled deck")
    told, void = felt.told("ruling/button-draw")
    assert (void["void"], void["replaces"], void["winner"]) == (True, told["seq"], 1)
    assert felt.events("hand-voided")[0]["reason"] == "fouled deck"
    assert felt.state()["button"] == 2
    felt.say("void-hand")
    assert felt.answer()["error"] == "the button-draw is void already"


def test_a_void_race_is_told_as_void(race):
    felt = race({1: 4, 2: 8})
    felt.say("void-hand")
    assert [body.get("void") for body in felt.told("ruling/chip-race")] == [None, True]


def test_the_next_hand_closes_the_deal_and_has_the_drawn_button(drawn):
    felt = drawn(1, 2)
    felt.lay("seat:1", "Kd")
    felt.lay("seat:2", "2c")
    felt.wait(4.0)
    felt.say("start-hand", seats=[1, 2], hand=8)
    assert felt.answer()["ok"]
    assert felt.events("hand-started")[0]["button"] == 1
    felt.wait(2.0)
    assert all(seat["cards"] == 0 for seat in felt.state()["seats"].values())


@pytest.mark.parametrize(
    ("zone", "card", "index"),
    [("seat:3", "As", None), ("board", "As", None), ("seat:1", "As", 1), ("seat:2", "As", None)],
)
def test_a_card_where_none_is_due_is_refused(drawn, zone, card, index):
    felt = drawn(1, 2)
    felt.say("card", zone="seat:2", card="2c")
    felt.say("card", zone=zone, card=card, **({} if index is None else {"index": index}))
    answer = felt.answer()
    assert answer["ok"] is False
    assert "at `$." in answer["error"]
