"""Cards that only the floor can name: an up card of stud, a burn, a common card."""

from __future__ import annotations

THIRD = {1: ["As", "Ah", "9d"], 3: ["Kd", "Jc", "5h"], 5: ["7d", "2c", "2h"]}


def unheard_up(felt):
    """Third street, but the up card of seat 5 is heard by nobody."""
    table = felt.Felt("stud", 6)
    assert table.say("start-hand", seats=[1, 3, 5])["ok"]
    table.deal({seat: cards[: 3 if seat != 5 else 2] for seat, cards in THIRD.items()})
    return table


def test_an_up_card_that_the_floor_names_is_public_and_opens_the_street(felt):
    table = unheard_up(felt)
    assert table.told("ruling/first-to-act") == []
    assert table.say("card", zone="seat:5:up", card="2h", private=False)["ok"]
    table.wait(6.0)
    told = [event for event in table.events("card-dealt") if event["zone"] == "seat:5:up"]
    assert [event["card"] for event in told] == ["2h"]
    assert table.picture()["seats"]["5"]["up"] == ["2h"]
    (ruling,) = table.told("ruling/first-to-act")
    assert (ruling["seat"], ruling["boards"]["5"]) == (5, ["2h"])


def test_a_read_card_that_the_floor_calls_up_is_turned_up_where_it_is(felt):
    table = felt.Felt("stud", 6)
    table.say("start-hand", seats=[1, 3])
    table.deal({1: ["As"], 3: ["Kd"]}, rest=1.0)
    assert table.say("card", zone="seat:3:up", card="Kd", private=False)["ok"]
    assert table.picture()["seats"]["3"]["up"] == ["Kd"]
    assert table.counts() == {1: 1, 3: 1}


def test_the_answer_is_the_same_whether_the_seat_holds_the_card(felt):
    for card in ("Kd", "4s"):
        table = felt.Felt("stud", 6)
        table.say("start-hand", seats=[1, 3])
        table.deal({1: ["As"], 3: ["Kd"]}, rest=1.0)
        reply = table.say("card", zone="seat:3:up", card=card, private=False)
        assert reply["ok"] is True
        assert "error" not in reply


def test_up_cards_are_stud_s(felt):
    table = felt.Felt("holdem", 6)
    table.say("start-hand", seats=[1, 3], button=1)
    assert "$.zone" in table.say("card", zone="seat:3:up", card="Kd", private=False)["error"]


def test_a_typed_up_card_can_be_undone(felt):
    table = unheard_up(felt)
    table.say("card", zone="seat:5:up", card="2h", private=False, id="up")
    assert table.say("undo", of="up")["ok"]
    assert table.picture()["seats"]["5"]["up"] == []
    assert table.counts()[5] == 2


def test_a_burn_may_be_typed_and_its_clash_is_the_floor_s_alone(felt):
    table = felt.Felt("holdem", 6)
    table.say("start-hand", seats=[1, 3], button=1)
    table.deal({1: ["As", "Ah"], 3: ["Kd", "Jc"]})
    assert table.say("card", zone="burn", card="Kd", private=True)["ok"]
    (note,) = table.told("floor", private=True)
    assert note["cards"] == ["Kd"]
    assert not any(b'"Kd"' in payload for _, _, payload in table.public())


def test_a_burn_is_not_typed_in_public(felt):
    table = felt.Felt("holdem", 6)
    table.say("start-hand", seats=[1, 3], button=1)
    assert not table.say("card", zone="burn", card="Kd", private=False)["ok"]


def test_a_common_card_may_be_typed(felt):
    table = felt.Felt("stud", 6)
    table.say("start-hand", seats=[1, 3])
    hands = {1: ["As", "Ah", "9d", "9c", "4d", "4c"], 3: ["Kd", "Jc", "5h", "5d", "8s", "8c"]}
    table.deal(hands)
    assert table.say("card", zone="board", card="Ks", private=False)["ok"]
    table.wait(2.0)
    assert table.picture()["board"] == ["Ks"]
    assert table.say("showdown", shown=[1, 3])["ok"]
    (result,) = table.showdowns()
    assert (result["winners"], result["board"], result["typed"]) == ([1], ["Ks"], ["Ks"])
