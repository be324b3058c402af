from __future__ import annotations

import json
from datetime import UTC, datetime
from itertools import count
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from daemon.engine import AnswersInMemory, Engine
from daemon.recording import read_line
from daemon.replay import messages, replay
from daemon.rules.cards import DECK
from daemon.rules.profile import Profile
from daemon.setup import Setup
from daemon.state import TableState
from daemon.table import restore, save
from daemon.wire import Wire
from drivers.sim.layout import Layout
from drivers.sim.table import Session, simulate

CASES = Path(__file__).parents[1] / "cases"
SEATS = 8
LOOK_S = 0.25
RAIL = {f"rail/{n}": f"seat:{n}" for n in range(1, SEATS + 1)} | {
    "rail/10": "board",
    "rail/11": "muck",
}
SHOE = {"shoe/1": "shoe"}
CARDS = {f"{deck}-{card}": (deck, card) for deck in ("red", "blue") for card in DECK}


def cases(name):
    return json.loads((CASES / f"{name}.json").read_text())


class Felt:
    """Cards laid on antennas by hand, looked at four times a second."""

    def __init__(self, zones=RAIL, **options):
        self.setup = Setup(
            "t1", options.pop("discipline", "holdem"), SEATS, zones, CARDS, **options
        )
        self.lying = {zone: [] for zone in zones.values()}
        self.lines = [{"started": "2026-11-29T18:00:00Z", "epoch": "x", "hand": 7, "button": 2}]
        self.t = 0.0
        self.ids = count(1)
        self.wait(1.0)

    def wait(self, seconds):
        for _ in range(round(seconds / LOOK_S)):
            self.t += LOOK_S
            for antenna, zone in self.setup.zones.items():
                if zone != "shoe":
                    self.look(antenna, self.lying[zone])

    def look(self, antenna, tags):
        reader, _, number = antenna.partition("/")
        line = {"t": self.t, "reader": reader, "antenna": int(number), "tags": list(tags)}
        self.lines.append(line)

    def lay(self, zone, *cards, deck="red", rest=0.75):
        self.lying[zone] += [f"{deck}-{card}" for card in cards]
        self.wait(rest)

    def lift(self, zone, *cards, deck="red"):
        gone = {f"{deck}-{card}" for card in cards} or set(self.lying[zone])
        self.lying[zone] = [tag for tag in self.lying[zone] if tag not in gone]

    def sweep(self, rest=5.0):
        for zone in self.lying:
            self.lift(zone)
        self.wait(rest)

    def pass_shoe(self, *cards, deck="red"):
        for card in cards:
            self.t += 0.6
            self.look("shoe/1", [f"{deck}-{card}"])

    def say(self, kind, *, private=False, **fields):
        body = {"id": str(next(self.ids)), "by": "floor", "type": kind, **fields}
        line = {"t": self.t, "command": body}
        self.lines.append(line | {"private": True} if private else line)
        return body["id"]

    def reader(self, up):
        self.lines.append({"t": self.t, "reader": "rail", "up": up})

    def told(self, topic, *, either=False):
        texts = (json.dumps(line).encode() for line in self.lines)
        roots = {f"felt/t1/{topic}"} | ({f"felt-private/t1/{topic}"} if either else set())
        sent = messages(self.setup, "felt", texts, "test")
        return [json.loads(m.payload) for _, m in sent if m.topic in roots]

    def events(self, kind):
        return [body for body in self.told("event") if body["type"] == kind]

    def alerts(self):
        return [(body["kind"], body.get("zone")) for body in self.told("alert")]

    def answer(self):
        return self.told("reply", either=True)[-1]

    def state(self):
        return self.told("state")[-1]


def drawn(*seats, felt=None):
    """A table at which the button draw was commanded."""
    felt = felt or Felt()
    felt.say("button-draw", seats=list(seats))
    felt.wait(1.0)
    return felt


def race(counts, felt=None, old=25, new=100, **fields):
    felt = felt or Felt()
    counts = {str(seat): chips for seat, chips in counts.items()}
    felt.say("chip-race", **{"from": old, "to": new, "counts": counts}, **fields)
    felt.wait(1.0)
    return felt


def pairs(entries):
    return [(entry["seat"], entry["card"]) for entry in entries]


@pytest.mark.parametrize("case", cases("button-draw"), ids=lambda case: case["id"])
def test_the_best_card_draws_the_button(case):
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
def test_the_best_cards_win_the_new_chips(case):
    old, new = (int(value) for value in case["input"]["change"].replace("T", "").split("->"))
    odd = {int(seat): chips for seat, chips in case["input"]["odd_chips"].items()}
    profile = Profile(race_remainder="always-up" if case["id"] == "CR-12" else "half-up")
    felt = race(odd, Felt(profile=profile), old, new)
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


def test_a_seat_that_owns_nothing_else_is_rescued():
    felt = race({1: 1, 3: 3}, all_in=[1])
    for seat, card in ((1, "5d"), (3, "Kc"), (3, "9h"), (3, "2s")):
        felt.lay(f"seat:{seat}", card)
    felt.wait(4.0)
    [ruling] = felt.told("ruling/chip-race")
    assert (ruling["awards"], ruling["rescued"]) == ({"3": 1}, [1])


def test_without_odd_chips_the_ruling_comes_at_once():
    felt = Felt()
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
def test_a_race_that_cannot_be_is_refused(fields, reason):
    felt = Felt()
    felt.say("chip-race", **fields)
    answer = felt.answer()
    assert answer["ok"] is False
    assert reason in answer["error"]
    assert felt.told("event") == []


def test_stud_has_no_button_to_draw_for():
    felt = drawn(1, 2, felt=Felt(discipline="stud"))
    assert "stud" in felt.answer()["error"]
    race({1: 3, 2: 1}, felt)
    assert felt.answer()["ok"]


def test_a_seat_with_a_card_is_not_clear():
    felt = Felt()
    felt.lay("seat:5", "As")
    drawn(1, 2, felt=felt)
    assert "seat 5 is not clear" in felt.answer()["error"]
    felt.lift("seat:5")
    felt.wait(4.0)
    drawn(1, 2, felt=felt)
    assert felt.answer()["ok"]


def test_a_seat_that_nobody_hears_is_not_clear():
    felt = Felt()
    felt.t += 10.0
    felt.say("button-draw", seats=[1, 2])
    assert "no look at seat:1" in felt.answer()["error"]
    felt.wait(1.0)
    felt.reader(up=False)
    felt.say("button-draw", seats=[1, 2])
    assert "reader rail is lost" in felt.answer()["error"]
    felt.reader(up=True)
    felt.wait(0.5)
    felt.say("button-draw", seats=[1, 2])
    assert felt.answer()["ok"]


def test_no_deal_begins_while_something_else_is_open():
    felt = Felt()
    felt.say("start-hand", seats=[1, 2])
    felt.say("button-draw", seats=[1, 2])
    assert felt.answer()["error"] == "hand 7 is still open"
    felt.say("end-hand")
    drawn(1, 2, felt=felt)
    for kind, fields in (("set-button", {"seat": 1}), ("set-discipline", {"discipline": "omaha"})):
        felt.say(kind, **fields)
        assert felt.answer()["error"] == "button-draw 8 is still open"


def test_commands_of_a_hand_do_not_fit_a_deal():
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


def test_a_deal_takes_a_number_and_shows_its_cards_at_once():
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


def test_a_command_for_another_hand_is_refused():
    felt = drawn(1, 2)
    felt.say("card", zone="seat:1", card="As", hand=8)
    assert "hand 8 is not the current one" in felt.answer()["error"]
    felt.say("card", zone="seat:1", card="As", hand=7)
    assert felt.answer()["ok"]


def test_a_missing_card_is_asked_for_and_typed_in_for_all_to_see():
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


def test_a_card_that_was_typed_is_known_when_it_is_heard():
    felt = drawn(1, 2)
    felt.say("card", zone="seat:1", card="Kd")
    felt.lay("seat:1", "Kd")
    felt.lay("seat:2", "2c")
    felt.wait(6.0)
    assert [event["card"] for event in felt.events("card-dealt")] == ["Kd", "2c"]
    assert felt.alerts() == []
    assert felt.told("ruling/button-draw")[0]["winner"] == 1


def test_a_correction_tells_a_corrected_ruling_and_moves_the_button():
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


def test_two_cards_at_a_seat_withhold_the_ruling():
    felt = drawn(1, 2)
    felt.lay("seat:1", "Kd")
    felt.lay("seat:2", "2c")
    felt.lay("seat:2", "3c")
    felt.wait(6.0)
    assert felt.alerts() == [("wrong-card-count", "seat:2")]
    assert felt.told("ruling/button-draw") == []
    assert [event["card"] for event in felt.events("card-dealt")] == ["Kd", "2c"]
    felt.lift("seat:2", "3c")
    felt.wait(4.0)
    assert felt.told("ruling/button-draw")[0]["order"][1] == {"seat": 2, "card": "2c"}


@pytest.mark.parametrize(("index", "stays"), [(0, "3c"), (1, "2c")])
def test_the_floor_says_which_of_two_cards_counts(index, stays):
    felt = drawn(1, 2)
    felt.lay("seat:1", "Kd")
    felt.lay("seat:2", "2c")
    felt.lay("seat:2", "3c")
    felt.wait(6.0)
    felt.say("remove-card", zone="seat:2", index=2)
    assert felt.answer()["ok"] is False
    felt.say("remove-card", zone="seat:2", index=index)
    felt.wait(4.0)
    assert felt.told("ruling/button-draw")[0]["order"][1] == {"seat": 2, "card": stays}


def test_a_card_at_a_seat_without_a_part_withholds_the_ruling():
    felt = drawn(1, 2)
    felt.lay("seat:5", "Ad")
    felt.lay("seat:1", "Kd")
    felt.lay("seat:2", "2c")
    felt.wait(6.0)
    assert felt.alerts() == [("wrong-card-count", "seat:5")]
    felt.lift("seat:5")
    felt.lay("seat:2", rest=5.0)
    assert felt.told("ruling/button-draw")[0]["winner"] == 1


def test_a_card_moved_to_the_right_seat_counts_there():
    felt = drawn(1, 2)
    felt.lay("seat:3", "Ad", rest=1.5)
    felt.lift("seat:3")
    felt.lay("seat:2", "Ad", rest=6.0)
    felt.lay("seat:1", "Kd", rest=4.0)
    assert felt.told("ruling/button-draw")[0]["winner"] == 2


def test_a_card_told_at_the_wrong_seat_is_told_again_where_it_stays():
    felt = drawn(1, 2, 3)
    felt.lay("seat:3", "Ad", rest=1.5)
    felt.lift("seat:3")
    felt.lay("seat:2", "Ad", rest=6.0)
    felt.lay("seat:1", "Kd")
    felt.lay("seat:3", "2d", rest=5.0)
    told = [(event["zone"], event["card"]) for event in felt.events("card-dealt")]
    assert told == [("seat:3", "Ad"), ("seat:2", "Ad"), ("seat:1", "Kd"), ("seat:3", "2d")]
    assert felt.told("ruling/button-draw")[0]["winner"] == 2


def test_a_card_moved_after_the_ruling_changes_nothing():
    felt = drawn(1, 2)
    felt.lay("seat:1", "Kd")
    felt.lay("seat:2", "2c", rest=4.0)
    felt.lift("seat:1")
    felt.lay("seat:3", "Kd", rest=15.0)
    [ruling] = felt.told("ruling/button-draw")
    assert ruling["winner"] == 1
    assert len(felt.events("card-dealt")) == 2


def test_a_card_typed_as_read_is_told_once_more_and_changes_no_ruling():
    felt = drawn(1, 2)
    felt.lay("seat:1", "Kd")
    felt.lay("seat:2", "2c", rest=4.0)
    felt.say("card", zone="seat:1", card="Kd", index=0)
    assert felt.answer()["ok"]
    race({1: 8}, felt)
    assert "not clear" in felt.answer()["error"]
    assert len(felt.told("ruling/button-draw")) == 1


def test_a_correction_leaves_the_button_that_was_set_since():
    felt = drawn(1, 2)
    felt.lay("seat:1", "Kd")
    felt.lay("seat:2", "2c", rest=4.0)
    felt.sweep()
    felt.say("set-button", seat=5)
    felt.say("card", zone="seat:2", card="As", index=0)
    assert felt.told("ruling/button-draw")[-1]["winner"] == 2
    assert felt.state()["button"] == 5
    felt.say("void-hand")
    assert felt.state()["button"] == 5
    assert len(felt.events("hand-ended")) == 1


def test_a_race_is_corrected_too():
    felt = race({1: 1, 2: 3})
    for seat, card in ((1, "Kd"), (2, "2c"), (2, "3c"), (2, "4c")):
        felt.lay(f"seat:{seat}", card)
    felt.wait(4.0)
    felt.say("card", zone="seat:2", card="3c", index=1)
    felt.say("card", zone="seat:2", card="As", index=1)
    first, second = felt.told("ruling/chip-race")
    assert (first["awards"], second["awards"]) == ({"1": 1}, {"2": 1})
    assert second["replaces"] == first["seq"]


def test_a_card_heard_on_both_antennas_of_a_seat_is_one_card():
    zones = RAIL | {f"rail/{20 + n}": f"seat:{n}:up" for n in range(1, SEATS + 1)}
    felt = race({1: 1, 2: 3}, Felt(zones, discipline="stud"))
    for seat, card in ((1, "Kd"), (2, "2c"), (2, "3c"), (2, "4c")):
        felt.lying[f"seat:{seat}"].append(f"red-{card}")
        felt.lay(f"seat:{seat}:up", card, rest=3.0)
    felt.wait(3.0)
    assert pairs(felt.told("ruling/chip-race")[0]["ranking"]) == [(1, "Kd"), (2, "4c")]


def test_a_card_of_another_deck_is_foul():
    felt = drawn(1, 2)
    felt.lay("seat:1", "Kd")
    felt.lay("seat:2", "2c", deck="blue")
    felt.wait(7.0)
    assert felt.alerts() == [("mixed-decks", "seat:2"), ("missing-card", "seat:2")]
    felt.lift("seat:2", deck="blue")
    felt.lay("seat:2", "3c")
    felt.wait(4.0)
    assert felt.told("ruling/button-draw")[0]["winner"] == 1


def test_another_deck_put_down_on_a_free_seat_is_a_notice():
    felt = drawn(1, 2)
    felt.lay("seat:1", "Kd")
    felt.lay("seat:5", *DECK, deck="blue")
    felt.lay("seat:2", "2c")
    felt.wait(5.0)
    assert felt.alerts() == [("foreign-deck", "seat:5")]
    assert felt.told("ruling/button-draw")[0]["winner"] == 1


def test_the_same_face_twice_is_no_ruling_until_it_is_corrected():
    felt = drawn(1, 2)
    felt.lay("seat:1", "Kd")
    felt.wait(1.0)
    felt.say("card", zone="seat:2", card="Kd")
    felt.wait(3.0)
    assert ("duplicate-card", "seat:2") in felt.alerts()
    assert felt.told("ruling/button-draw") == []
    felt.say("card", zone="seat:2", card="Ks", index=0)
    assert felt.told("ruling/button-draw")[0]["winner"] == 2


def test_a_typed_card_that_is_read_elsewhere_is_a_duplicate():
    felt = drawn(1, 2)
    felt.say("card", zone="seat:2", card="Kd")
    felt.lay("seat:1", "Kd")
    felt.wait(5.0)
    assert ("duplicate-card", "seat:1") in felt.alerts()
    assert felt.told("ruling/button-draw") == []


def test_a_card_heard_at_two_open_seats_is_asked_for():
    felt = drawn(1, 2)
    felt.lying["seat:1"].append("red-Kd")
    felt.lay("seat:2", "Kd", rest=5.0)
    assert ("two-claims", "seat:1, seat:2") in felt.alerts()
    felt.wait(5.0)
    assert felt.told("ruling/button-draw") == []


def test_of_two_places_the_deal_may_leave_only_one():
    felt = drawn(1, 2)
    felt.lay("seat:1", "2c", rest=1.5)
    felt.lying["seat:1"].append("red-Kd")
    felt.lay("seat:2", "Kd", rest=8.0)
    assert felt.told("ruling/button-draw")[0]["winner"] == 2


def test_a_ruling_waits_until_an_overheard_card_is_certain_again():
    felt = drawn(1, 2)
    felt.lay("seat:1", "Kd", rest=1.5)
    felt.lying["seat:2"].append("red-Kd")
    felt.lay("seat:2", "2c", rest=1.5)
    felt.lift("seat:2", "Kd")
    felt.wait(1.5)
    assert len(felt.events("card-dealt")) == 2
    assert felt.told("ruling/button-draw") == []
    felt.wait(6.0)
    assert felt.told("ruling/button-draw")[0]["winner"] == 1


def test_the_stub_put_down_on_an_antenna_is_no_card():
    felt = drawn(1, 2)
    felt.lay("seat:1", "Kd")
    felt.lay("seat:2", "2c", rest=1.5)
    felt.lay("board", *DECK[2:40])
    felt.lay("seat:7", *DECK[2:40], rest=5.0)
    assert len(felt.told("ruling/button-draw")) == 1
    felt.sweep()
    assert felt.alerts() == []
    assert felt.state()["phase"] == "idle"


def test_a_card_that_lay_there_before_the_command_has_no_part():
    felt = Felt()
    felt.lay("seat:1", "As", rest=LOOK_S)
    felt.say("button-draw", seats=[1, 2])
    assert felt.answer()["ok"]
    felt.wait(1.0)
    felt.lay("seat:2", "2c")
    felt.wait(8.0)
    assert felt.alerts() == [("missing-card", "seat:1")]


def test_cards_that_come_after_the_sweep_are_secret():
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


def test_an_abandoned_deal_ends_and_hands_begin_by_themselves_again():
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


def test_a_draw_may_be_commanded_again_once_the_seats_are_clear():
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


def test_a_draw_without_a_ruling_is_not_passed_over_in_silence():
    felt = drawn(1, 2)
    felt.lay("seat:1", "Kd", rest=2.0)
    felt.say("start-hand", seats=[1, 2])
    assert felt.alerts() == [("missing-card", "seat:2")]
    assert [body["hand"] for body in felt.told("alert")] == [7]
    assert felt.state()["hand"] == 8


def test_a_deal_of_which_no_card_comes_is_forgotten():
    felt = drawn(1, 2)
    felt.wait(30.0)
    assert felt.alerts() == [("missing-card", "seat:1"), ("missing-card", "seat:2")]
    felt.wait(280.0)
    assert felt.state()["phase"] == "idle"


@pytest.mark.parametrize("kind", ["end-hand", "void-hand"])
def test_what_lies_there_at_the_end_begins_no_hand(kind):
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


def test_a_void_draw_is_told_as_void_and_the_button_goes_back():
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


def test_a_void_race_is_told_as_void():
    felt = race({1: 4, 2: 8})
    felt.say("void-hand")
    assert [body.get("void") for body in felt.told("ruling/chip-race")] == [None, True]


def test_the_next_hand_closes_the_deal_and_has_the_drawn_button():
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
def test_a_card_where_none_is_due_is_refused(zone, card, index):
    felt = drawn(1, 2)
    felt.say("card", zone="seat:2", card="2c")
    felt.say("card", zone=zone, card=card, **({} if index is None else {"index": index}))
    answer = felt.answer()
    assert answer["ok"] is False
    assert "at `$." in answer["error"]


def test_a_removed_card_is_asked_for_again():
    felt = drawn(1, 2)
    felt.lay("seat:1", "Kd")
    felt.wait(8.0)
    removed = felt.say("remove-card", zone="seat:1", index=0)
    felt.wait(1.0)
    assert felt.alerts() == [("missing-card", "seat:2"), ("missing-card", "seat:1")]
    felt.say("undo", of=removed)
    felt.lay("seat:2", "2c")
    felt.wait(4.0)
    assert felt.told("ruling/button-draw")[0]["winner"] == 1


def test_with_a_shoe_alone_cards_go_clockwise_from_seat_1():
    felt = drawn(5, 2, 3, felt=Felt(SHOE))
    felt.pass_shoe("2c", "Ad", "Kd")
    [ruling] = felt.told("ruling/button-draw")
    assert sorted(pairs(ruling["order"])) == [(2, "2c"), (3, "Ad"), (5, "Kd")]
    felt.t += 10.0
    race({3: 2, 1: 3}, felt)
    felt.pass_shoe("Kd", "Ad", "3c", "4c")
    assert felt.told("ruling/chip-race") == []
    felt.pass_shoe("As")
    [ruling] = felt.told("ruling/chip-race")
    assert pairs(ruling["ranking"]) == [(3, "As"), (1, "Ad")]


def test_the_shoe_is_asked_for_a_card_that_never_passed():
    felt = drawn(1, 2, felt=Felt(SHOE))
    felt.pass_shoe("2c", "2c")
    felt.t += 8.0
    felt.pass_shoe("3c", deck="blue")
    assert felt.alerts() == [("mixed-decks", "shoe"), ("missing-card", "shoe")]
    felt.say("card", zone="seat:2", card="As")
    assert felt.told("ruling/button-draw")[0]["winner"] == 2
    felt.pass_shoe("As")
    assert felt.alerts()[-1] == ("duplicate-card", "shoe")
    felt.pass_shoe("5c")
    assert felt.alerts()[-1] == ("wrong-card-count", "shoe")


def test_a_card_in_the_mouth_of_the_shoe_has_no_part():
    felt = Felt(SHOE)
    felt.pass_shoe("9c")
    drawn(1, 2, felt=felt)
    felt.pass_shoe("9c", "2c", "3d")
    assert felt.told("ruling/button-draw")[0]["winner"] == 2


class Deals(Session):
    """A session with more draws and races than hands."""

    def _kind(self, number):
        if number % 4 == 3:
            return "hand"
        return "chip-race" if number % 2 or self.button is None else "button-draw"


def simulated(level, seed):
    discipline = ("holdem", "omaha", "stud")[seed % 3]
    layout = Layout(up=True, seats=8) if discipline == "stud" and seed % 2 else None
    made = simulate(discipline, level, seed, 4, commands=True, extras=True, layout=layout)
    return Deals(made.table, made.hands, made.button, extras=True)


def setup_of(session):
    zones = {f"{a.reader}/{a.number}": a.zone for a in session.layout.rail_antennas()}
    cards = {uid: (deck.name, card) for deck in session.decks for card, uid in deck.uids.items()}
    return Setup("t1", session.layout.discipline, session.layout.seats, zones, cards)


@pytest.mark.parametrize(("level", "right"), [("clean", 1.0), ("field", 0.98), ("harsh", 0.95)])
def test_simulated_draws_and_races_are_never_wrong(scorer, level, right):
    verdicts = []
    for seed in range(20):
        session = simulated(level, seed)
        lines, truths = [session.header()], []
        for hand in session:
            lines += hand.lines
            truths.append(hand.truth)
        texts = (json.dumps(line).encode() for line in lines)
        told = [json.loads(line) for line in replay(setup_of(session), "felt", texts, level)]
        assert scorer.leaks(truths, told) == []
        scores = scorer.score(truths, told)
        verdicts += [one.verdict for one in scores if one.truth.kind != "hand"]
    assert len(verdicts) == 60
    assert set(verdicts) <= {"right", "flagged"}
    assert verdicts.count("right") >= right * len(verdicts)


def engine(setup, state):
    started = datetime(2026, 11, 29, tzinfo=UTC)
    return Engine(setup, state, Wire("t1", "felt", "x", started), AnswersInMemory())


def test_a_snapshot_at_any_point_goes_on_with_the_same_messages():
    felt = race({1: 3, 2: 6, 3: 1})
    for seat, card in ((1, "Kd"), (1, "2c"), (1, "3c"), (2, "As"), (2, "4d"), (3, "4h")):
        felt.lay(f"seat:{seat}", card)
    felt.wait(3.0)
    felt.say("card", zone="seat:3", card="Ah", index=0)
    felt.sweep()
    whole = engine(felt.setup, TableState("x", "holdem", next_number=7))
    broken = engine(felt.setup, TableState("x", "holdem", next_number=7))
    told = 0
    for line in felt.lines[1:]:
        now, entry = read_line(json.dumps(line).encode())
        expected = whole.feed(now, entry).messages
        told += len(expected)
        assert broken.feed(now, entry).messages == expected
        broken = engine(felt.setup, restore(save(broken.state)))
        broken._picture = whole._picture
    assert told > 20


def test_a_deal_wipes_the_hidden_cards_of_the_hand_before():
    felt = Felt()
    felt.lay("seat:1", "As", "Ks")
    felt.lay("seat:2", "Qs", "Js", rest=2.0)
    felt.say("end-hand")
    felt.sweep()
    table = engine(felt.setup, TableState("x", "holdem"))
    drawn(1, 2, felt=felt)
    for line in felt.lines[1:]:
        if "command" in line and line["command"]["type"] == "button-draw":
            assert b"red-Qs" in save(table.state)
            table.state.presence.forget()
        table.feed(*read_line(json.dumps(line).encode()))
    assert table.state.deal is not None
    assert b"red-Qs" not in save(table.state)


TAGS = st.lists(
    st.sampled_from([*(f"red-{card}" for card in DECK[:6]), "blue-As", "00", "red-As"]), max_size=4
)
LOOKS = st.builds(
    lambda antenna, tags, partial: {"antenna": antenna, "tags": tags, "partial": partial},
    st.sampled_from([*RAIL, *SHOE]),
    TAGS,
    st.booleans(),
)
DEALS = [
    {"type": "button-draw", "seats": [1, 2]},
    {"type": "chip-race", "from": 25, "to": 100, "counts": {"1": 2, "2": 1}},
    {"type": "chip-race", "from": 25, "to": 100, "counts": {"1": 4}},
]
COMMANDS = st.sampled_from(
    [
        *DEALS,
        {"type": "card", "zone": "seat:1", "card": "As"},
        {"type": "card", "zone": "seat:1", "card": "2c", "index": 0},
        {"type": "card", "zone": "seat:2", "card": "As"},
        {"type": "remove-card", "zone": "seat:1", "index": 0},
        {"type": "undo", "of": "5"},
        {"type": "end-hand"},
        {"type": "void-hand"},
        {"type": "start-hand", "seats": [1, 2]},
        {"type": "set-button", "seat": 2},
        {"type": "pots", "pots": [{"amount": 5, "seats": [1]}], "chip": 1},
    ]
)
STEPS = st.lists(st.tuples(st.sampled_from([0, 100, 600, 4000]), LOOKS | COMMANDS), max_size=60)


@given(st.sampled_from(DEALS), STEPS, st.sampled_from([RAIL, SHOE, RAIL | SHOE]))
def test_no_input_raises_and_no_card_is_in_two_places(first, steps, zones):
    setup = Setup("t1", "holdem", SEATS, zones, CARDS)
    felt = engine(setup, TableState("x", "holdem"))
    now = 0
    for antenna in zones:
        reader, _, number = antenna.partition("/")
        clear = {"t": 0.0, "reader": reader, "antenna": int(number), "tags": []}
        felt.feed(*read_line(json.dumps(clear).encode()))
    for number, (passed, step) in enumerate([(0, first), *steps]):
        now += passed
        line = {"t": now / 1000}
        if "type" in step:
            line["command"] = {"id": str(number), **step}
        else:
            reader, _, antenna = step["antenna"].partition("/")
            line |= {"reader": reader, **step, "antenna": int(antenna)}
        spoken = felt.feed(*read_line(json.dumps(line).encode()))
        assert all(json.loads(message.payload) for message in spoken.messages)
        deal = felt.state.deal
        if deal is not None:
            tags = [held.tag for _, held in deal.held() if held.tag is not None]
            assert len(tags) == len(set(tags))
            due = deal.expected
            assert all(len(s.held) <= due.get(n, 0) for n, s in deal.seats.items())
        assert restore(save(felt.state)).seq == felt.state.seq
