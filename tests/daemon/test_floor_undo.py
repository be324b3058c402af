"""Typed and removed cards taken back: of seats, the board and the burns, in any order."""

from __future__ import annotations

from random import Random

import pytest

from daemon.rules.cards import DECK

HANDS = {1: ["As", "Ah"], 3: ["Kd", "Jc"], 5: ["7d"]}
FLOP = ["Kh", "Qd", "8s"]


def dealt(felt, *, board=True):
    """Seat 5 has a card that no reader heard."""
    table = felt.Felt("holdem", 6)
    assert table.say("start-hand", seats=[1, 3, 5], button=5)["ok"]
    table.deal(HANDS)
    if board:
        table.board(*FLOP)
    return table


def cards(table):
    hand = table.state.hand
    seats = {number: [held.face for held in seat.held] for number, seat in hand.seats.items()}
    return seats, [card.face for card in hand.board], [*hand.burns], [c.face for c in hand.typed]


def burns(table):
    return table.state.hand.burns


def test_a_typed_burn_is_undone(felt):
    table = dealt(felt)
    assert table.say("card", zone="burn", card="9d", id="b")["ok"]
    assert burns(table) == ["9d"]
    assert table.say("undo", of="b")["ok"]
    assert burns(table) == []
    assert "$.of" in table.say("undo", of="b")["error"]


def test_a_burn_is_corrected_removed_and_all_of_it_taken_back(felt):
    table = dealt(felt)
    table.say("card", zone="burn", card="9d", id="one")
    table.say("card", zone="burn", card="9c", id="two")
    assert table.say("card", zone="burn", card="4d", index=0, id="three")["ok"]
    assert burns(table) == ["4d", "9c"]
    assert table.say("remove-card", zone="burn", index=0, id="four")["ok"]
    assert burns(table) == ["9c"]
    for of, left in (("four", ["4d", "9c"]), ("three", ["9d", "9c"]), ("two", ["9d"]), ("one", [])):
        assert table.say("undo", of=of)["ok"]
        assert burns(table) == left


@pytest.mark.parametrize(
    ("kind", "fields"),
    [("card", {"card": "9c", "index": 2}), ("remove-card", {"index": 1})],
)
def test_a_burn_that_is_not_there_is_named(felt, kind, fields):
    table = dealt(felt)
    table.say("card", zone="burn", card="9d")
    reply = table.say(kind, zone="burn", **fields)
    assert reply["error"] == f"burn has no card {fields['index']} - at `$.index`"
    assert burns(table) == ["9d"]


@pytest.mark.parametrize("kind", ["card", "remove-card", "undo"])
def test_what_is_done_to_a_burn_is_not_public(felt, kind):
    table = dealt(felt)
    table.say("card", zone="burn", card="9d", id="b")
    fields = {"card": {"zone": "burn", "card": "4d", "index": 0}, "undo": {"of": "b"}}
    fields["remove-card"] = {"zone": "burn", "index": 0}
    assert table.say(kind, **fields[kind])["ok"]
    told = [event["command"] for event in table.events("command")][-2:]
    assert told[0] == {"type": "card"}
    assert told[1] == {"type": kind} | (fields["undo"] if kind == "undo" else {})
    assert not any(face in payload for _, _, payload in table.public() for face in (b"9d", b"4d"))


def test_a_burn_tells_no_showdown_again(felt):
    hands = {1: ["As", "Ah"], 3: ["Kd", "Jc"]}
    table = felt.Felt("holdem", 6)
    table.say("start-hand", seats=[1, 3], button=1)
    table.deal(hands)
    table.run_out([*FLOP, "5h", "3c"])
    table.say("showdown")
    assert table.say("card", zone="burn", card="9d", id="b")["ok"]
    assert table.say("remove-card", zone="burn", index=0, id="r")["ok"]
    assert table.say("undo", of="r")["ok"]
    assert len(table.showdowns()) == 1


def test_a_removed_burn_is_remembered_across_a_restart(felt):
    table = dealt(felt)
    table.say("card", zone="burn", card="9d")
    table.say("remove-card", zone="burn", index=0, id="r")
    table.restart()
    assert table.say("undo", of="r")["ok"]
    assert burns(table) == ["9d"]


@pytest.mark.parametrize(("zone", "typed"), [("seat:5", {"card": "2c"}), ("burn", {"card": "2c"})])
def test_an_earlier_correction_waits_for_the_later_ones_of_its_place(felt, zone, typed):
    """Its card is gone by then, or another lies where it lay."""
    table = dealt(felt)
    table.say("card", zone=zone, id="typed", **typed)
    before = cards(table)
    table.say("remove-card", zone=zone, index=0, id="removed")
    if zone == "burn":
        table.say("card", zone=zone, card="3h", id="other")
    reply = table.say("undo", of="typed")
    assert reply["error"] == "a later correction of the same place comes first - at `$.of`"
    for of in ["other"] * (zone == "burn") + ["removed"]:
        assert table.say("undo", of=of)["ok"]
    assert cards(table) == before
    assert table.say("undo", of="typed")["ok"]


def test_corrections_of_other_places_do_not_wait(felt):
    table = dealt(felt)
    before = cards(table)
    table.say("card", zone="seat:5", card="2c", id="seat")
    table.say("card", zone="burn", card="9d", id="burn")
    table.say("card", zone="board", card="9h", index=0, id="board")
    for of in ("seat", "board", "burn"):
        assert table.say("undo", of=of)["ok"]
    assert cards(table) == before


def test_a_typed_board_card_is_undone_though_others_came_after_it(felt):
    table = dealt(felt, board=False)
    table.say("card", zone="board", card="Kh", id="typed")
    table.board("Qd", "8s")
    table.board("5h")
    assert "Kh" in cards(table)[1]
    assert table.say("undo", of="typed")["ok"]
    assert sorted(cards(table)[1]) == ["5h", "8s", "Qd"]


def test_a_board_card_that_is_called_another_does_not_come_again_as_the_next(felt):
    table = dealt(felt)
    assert table.say("card", zone="board", card="9h", index=2, id="c")["ok"]
    table.wait(6.0)
    assert cards(table)[1] == ["Kh", "Qd", "9h"]
    assert table.say("undo", of="c")["ok"]
    table.wait(6.0)
    assert cards(table)[1] == FLOP


def test_a_removed_card_that_lies_at_another_seat_by_now_is_not_there_twice(felt):
    table = dealt(felt)
    assert table.say("remove-card", zone="seat:1", index=0, id="r")["ok"]
    table.lift("seat:1", "As", rest=5.0)
    table.lay("seat:5", "As", rest=5.0)
    assert cards(table)[0][5] == ["7d", "As"]
    assert "elsewhere" in table.say("undo", of="r")["error"]
    assert cards(table)[0] == {1: ["Ah"], 3: ["Kd", "Jc"], 5: ["7d", "As"]}


def test_a_seat_that_left_the_hand_takes_its_corrections_along(felt):
    table = felt.Felt("holdem", 6)
    table.deal({1: ["As"], 3: ["Kd"], 5: ["7d"]}, rest=1.0)
    assert table.say("card", zone="seat:5", card="2c", id="c")["ok"]
    assert table.say("start-hand", seats=[1, 3], button=1)["ok"]
    assert "$.of" in table.say("undo", of="c")["error"]


@pytest.mark.parametrize("seed", range(30))
def test_whatever_was_corrected_is_as_it_was_once_all_is_undone(felt, seed):
    """Newest first; out of turn an undo is refused or goes well, and breaks nothing."""
    random = Random(seed)
    table = dealt(felt)
    before = cards(table)
    done = []
    for number in range(random.randrange(3, 14)):
        zone = random.choice(["seat:1", "seat:3", "seat:5", "board", "burn"])
        fields = {"zone": zone, "index": random.randrange(4)}
        kind = random.choice(["card", "card", "remove-card", "undo"])
        if kind == "card":
            fields |= {"card": random.choice(DECK)}
        elif kind == "undo":
            fields = {"of": str(random.choice([*done, "none"]))}
        reply = table.say(kind, id=f"c{number}", **fields)
        if kind == "undo" and reply["ok"]:
            done.remove(fields["of"])
        elif reply["ok"]:
            done.append(f"c{number}")
    for of in reversed(done):
        assert table.say("undo", of=of)["ok"]
    assert cards(table) == before
