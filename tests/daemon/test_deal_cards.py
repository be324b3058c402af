from __future__ import annotations

import pytest

from daemon.rules.cards import DECK

SEATS = 8
LOOK_S = 0.25
RAIL = {f"rail/{n}": f"seat:{n}" for n in range(1, SEATS + 1)}
RAIL |= {"rail/10": "board", "rail/11": "muck"}
SHOE = {"shoe/1": "shoe"}


def pairs(entries):
    return [(entry["seat"], entry["card"]) for entry in entries]


def test_two_cards_at_a_seat_withhold_the_ruling(drawn):
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
def test_the_floor_says_which_of_two_cards_counts(drawn, index, stays):
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


def test_a_card_at_a_seat_without_a_part_withholds_the_ruling(drawn):
    felt = drawn(1, 2)
    felt.lay("seat:5", "Ad")
    felt.lay("seat:1", "Kd")
    felt.lay("seat:2", "2c")
    felt.wait(6.0)
    assert felt.alerts() == [("wrong-card-count", "seat:5")]
    felt.lift("seat:5")
    felt.lay("seat:2", rest=5.0)
    assert felt.told("ruling/button-draw")[0]["winner"] == 1


def test_a_card_moved_to_the_right_seat_counts_there(drawn):
    felt = drawn(1, 2)
    felt.lay("seat:3", "Ad", rest=1.5)
    felt.lift("seat:3")
    felt.lay("seat:2", "Ad", rest=6.0)
    felt.lay("seat:1", "Kd", rest=4.0)
    assert felt.told("ruling/button-draw")[0]["winner"] == 2


def test_a_card_told_at_the_wrong_seat_is_told_again_where_it_stays(drawn):
    felt = drawn(1, 2, 3)
    felt.lay("seat:3", "Ad", rest=1.5)
    felt.lift("seat:3")
    felt.lay("seat:2", "Ad", rest=6.0)
    felt.lay("seat:1", "Kd")
    felt.lay("seat:3", "2d", rest=5.0)
    told = [(event["zone"], event["card"]) for event in felt.events("card-dealt")]
    assert told == [("seat:3", "Ad"), ("seat:2", "Ad"), ("seat:1", "Kd"), ("seat:3", "2d")]
    assert felt.told("ruling/button-draw")[0]["winner"] == 2


def test_a_card_moved_after_the_ruling_changes_nothing(drawn):
    felt = drawn(1, 2)
    felt.lay("seat:1", "Kd")
    felt.lay("seat:2", "2c", rest=4.0)
    felt.lift("seat:1")
    felt.lay("seat:3", "Kd", rest=15.0)
    [ruling] = felt.told("ruling/button-draw")
    assert ruling["winner"] == 1
    assert len(felt.events("card-dealt")) == 2


def test_a_card_typed_as_read_is_told_once_more_and_changes_no_ruling(drawn, race):
    felt = drawn(1, 2)
    felt.lay("seat:1", "Kd")
    felt.lay("seat:2", "2c", rest=4.0)
    felt.say("card", zone="seat:1", card="Kd", index=0)
    assert felt.answer()["ok"]
    race({1: 8}, felt)
    assert "not clear" in felt.answer()["error"]
    assert len(felt.told("ruling/button-draw")) == 1


def test_a_correction_leaves_the_button_that_was_set_since(drawn):
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


def test_a_race_is_corrected_too(race):
    felt = race({1: 1, 2: 3})
    for seat, card in ((1, "Kd"), (2, "2c"), (2, "3c"), (2, "4c")):
        felt.lay(f"seat:{seat}", card)
    felt.wait(4.0)
    felt.say("card", zone="seat:2", card="3c", index=1)
    felt.say("card", zone="seat:2", card="As", index=1)
    first, second = felt.told("ruling/chip-race")
    assert (first["awards"], second["awards"]) == ({"1": 1}, {"2": 1})
    assert second["replaces"] == first["seq"]


def test_a_card_heard_on_both_antennas_of_a_seat_is_one_card(lay_table, race):
    zones = RAIL | {f"rail/{20 + n}": f"seat:{n}:up" for n in range(1, SEATS + 1)}
    felt = race({1: 1, 2: 3}, lay_table(zones, discipline="stud"))
    for seat, card in ((1, "Kd"), (2, "2c"), (2, "3c"), (2, "4c")):
        felt.lying[f"seat:{seat}"].append(f"red-{card}")
        felt.lay(f"seat:{seat}:up", card, rest=3.0)
    felt.wait(3.0)
    assert pairs(felt.told("ruling/chip-race")[0]["ranking"]) == [(1, "Kd"), (2, "4c")]


def test_a_card_of_another_deck_is_foul(drawn):
    felt = drawn(1, 2)
    felt.lay("seat:1", "Kd")
    felt.lay("seat:2", "2c", deck="blue")
    felt.wait(7.0)
    assert felt.alerts() == [("mixed-decks", "seat:2"), ("missing-card", "seat:2")]
    felt.lift("seat:2", deck="blue")
    felt.lay("seat:2", "3c")
    felt.wait(4.0)
    assert felt.told("ruling/button-draw")[0]["winner"] == 1


def test_another_deck_put_down_on_a_free_seat_is_a_notice(drawn):
    felt = drawn(1, 2)
    felt.lay("seat:1", "Kd")
    felt.lay("seat:5", *DECK, deck="blue")
    felt.lay("seat:2", "2c")
    felt.wait(5.0)
    assert felt.alerts() == [("foreign-deck", "seat:5")]
    assert felt.told("ruling/button-draw")[0]["winner"] == 1


def test_the_same_face_twice_is_no_ruling_until_it_is_corrected(drawn):
    felt = drawn(1, 2)
    felt.lay("seat:1", "Kd")
    felt.wait(1.0)
    felt.say("card", zone="seat:2", card="Kd")
    felt.wait(3.0)
    assert ("duplicate-card", "seat:2") in felt.alerts()
    assert felt.told("ruling/button-draw") == []
    felt.say("card", zone="seat:2", card="Ks", index=0)
    assert felt.told("ruling/button-draw")[0]["winner"] == 2


def test_a_typed_card_that_is_read_elsewhere_is_a_duplicate(drawn):
    felt = drawn(1, 2)
    felt.say("card", zone="seat:2", card="Kd")
    felt.lay("seat:1", "Kd")
    felt.wait(5.0)
    assert ("duplicate-card", "seat:1") in felt.alerts()
    assert felt.told("ruling/button-draw") == []


def test_a_card_heard_at_two_open_seats_is_asked_for(drawn):
    felt = drawn(1, 2)
    felt.lying["seat:1"].append("red-Kd")
    felt.lay("seat:2", "Kd", rest=5.0)
    assert ("two-claims", "seat:1, seat:2") in felt.alerts()
    felt.wait(5.0)
    assert felt.told("ruling/button-draw") == []


def test_of_two_places_the_deal_may_leave_only_one(drawn):
    felt = drawn(1, 2)
    felt.lay("seat:1", "2c", rest=1.5)
    felt.lying["seat:1"].append("red-Kd")
    felt.lay("seat:2", "Kd", rest=8.0)
    assert felt.told("ruling/button-draw")[0]["winner"] == 2


def test_a_ruling_waits_until_an_overheard_card_is_certain_again(drawn):
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


def test_the_stub_put_down_on_an_antenna_is_no_card(drawn):
    felt = drawn(1, 2)
    felt.lay("seat:1", "Kd")
    felt.lay("seat:2", "2c", rest=1.5)
    felt.lay("board", *DECK[2:40])
    felt.lay("seat:7", *DECK[2:40], rest=5.0)
    assert len(felt.told("ruling/button-draw")) == 1
    felt.sweep()
    assert felt.alerts() == []
    assert felt.state()["phase"] == "idle"


def test_a_card_that_lay_there_before_the_command_has_no_part(lay_table):
    felt = lay_table()
    felt.lay("seat:1", "As", rest=LOOK_S)
    felt.say("button-draw", seats=[1, 2])
    assert felt.answer()["ok"]
    felt.wait(1.0)
    felt.lay("seat:2", "2c")
    felt.wait(8.0)
    assert felt.alerts() == [("missing-card", "seat:1")]


def test_with_a_shoe_alone_cards_go_clockwise_from_seat_1(lay_table, drawn, race):
    felt = drawn(5, 2, 3, felt=lay_table(SHOE))
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


def test_the_shoe_is_asked_for_a_card_that_never_passed(lay_table, drawn):
    felt = drawn(1, 2, felt=lay_table(SHOE))
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


def test_a_card_in_the_mouth_of_the_shoe_has_no_part(lay_table, drawn):
    felt = lay_table(SHOE)
    felt.pass_shoe("9c")
    drawn(1, 2, felt=felt)
    felt.pass_shoe("9c", "2c", "3d")
    assert felt.told("ruling/button-draw")[0]["winner"] == 2


def test_a_card_that_was_typed_is_known_when_it_is_heard(drawn):
    felt = drawn(1, 2)
    felt.say("card", zone="seat:1", card="Kd")
    felt.lay("seat:1", "Kd")
    felt.lay("seat:2", "2c")
    felt.wait(6.0)
    assert [event["card"] for event in felt.events("card-dealt")] == ["Kd", "2c"]
    assert felt.alerts() == []
    assert felt.told("ruling/button-draw")[0]["winner"] == 1


def test_a_removed_card_is_asked_for_again(drawn):
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
