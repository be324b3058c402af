"""What the floor commands: every command, its refusals, and how each is undone."""

from __future__ import annotations

import pytest

HANDS = {1: ["As", "Ah"], 3: ["Kd", "Jc"], 5: ["7d", "2c"]}
BOARD = ["Kh", "Qd", "8s", "5h", "3c"]
TYPED = {"zone": "seat:1", "card": "9d"}


def dealt(felt, board=0, hands=HANDS, **options):
    table = felt.Felt("holdem", 6, **options)
    assert table.say("start-hand", seats=[1, 3, 5], button=5)["ok"]
    table.deal(hands)
    for street in (BOARD[:3], BOARD[3:4], BOARD[4:]):
        if street and BOARD.index(street[0]) < board:
            table.board(*street)
    return table


def shown(felt, **options):
    table = dealt(felt, 5, **options)
    assert table.say("showdown")["ok"]
    table.wait(1.0)
    return table


def ended(felt):
    table = shown(felt)
    assert table.say("end-hand")["ok"]
    table.sweep()
    return table


def empty(felt):
    return felt.Felt("holdem", 6)


@pytest.mark.parametrize(
    ("where", "kind", "fields", "words"),
    [
        (empty, "start-hand", {"seats": [1, 7]}, "$.seats"),
        (empty, "start-hand", {"seats": [1, 1]}, "$.seats"),
        (empty, "start-hand", {"seats": [1]}, "$.seats"),
        (empty, "start-hand", {"seats": [1, 2], "button": 9}, "$.button"),
        (empty, "start-hand", {"seats": [1, 2], "discipline": "razz"}, "$.discipline"),
        (empty, "start-hand", {"seats": [1, 2], "discipline": "stud", "button": 1}, "$.button"),
        (empty, "start-hand", {"seats": [1, 2], "hand": 3}, "$.hand"),
        (dealt, "start-hand", {"seats": [1, 2]}, "open"),
        (empty, "fold", {"seat": 1}, "no hand"),
        (dealt, "fold", {"seat": 2}, "$.seat"),
        (dealt, "fold", {}, "seat"),
        (shown, "fold", {"seat": 1}, "told"),
        (empty, "show", {"seats": [1]}, "no hand"),
        (dealt, "show", {"seats": [1, 2]}, "$.seats"),
        (dealt, "show", {"seats": [3, 3]}, "$.seats"),
        (shown, "show", {"seats": [1]}, "told"),
        (empty, "showdown", {}, "no hand"),
        (dealt, "showdown", {}, "last street"),
        (shown, "showdown", {"shown": [2]}, "$.shown"),
        (empty, "end-hand", {}, "no hand"),
        (empty, "void-hand", {}, "no hand"),
        (empty, "card", TYPED, "no hand"),
        (dealt, "card", {"zone": "seat:2", "card": "9d"}, "$.zone"),
        (dealt, "card", {"zone": "muck", "card": "9d"}, "$.zone"),
        (dealt, "card", {"zone": "seat:1", "card": "1d"}, "$.card"),
        (dealt, "card", TYPED, "$.index"),
        (dealt, "card", {**TYPED, "index": 2}, "$.index"),
        (shown, "card", {"zone": "board", "card": "9d"}, "$.index"),
        (dealt, "remove-card", {"zone": "seat:1", "index": 2}, "$.index"),
        (dealt, "remove-card", {"zone": "board", "index": 0}, "$.index"),
        (dealt, "remove-card", {"zone": "seat:1", "index": -1}, "$.index"),
        (dealt, "pots", {"pots": [{"amount": 9, "seats": [1]}], "chip": 1}, "showdown"),
        (shown, "pots", {"pots": [{"amount": 9, "seats": [2]}], "chip": 1}, "$.pots"),
        (shown, "pots", {"pots": [{"amount": 0, "seats": [1]}], "chip": 1}, "$.pots[0].amount"),
        (dealt, "undo", {"of": "99"}, "$.of"),
        (shown, "undo", {"of": "2"}, "$.of"),
        (dealt, "set-button", {"seat": 1}, "open"),
        (empty, "set-button", {"seat": 7}, "$.seat"),
        (dealt, "set-discipline", {"discipline": "omaha"}, "open"),
        (empty, "set-discipline", {"discipline": "razz"}, "$.discipline"),
        (empty, "set-names", {"names": {"7": "Ann"}}, "$.names"),
        (empty, "set-names", {"names": {"1": "x" * 41}}, "$.names"),
        (dealt, "button-draw", {"seats": [1, 2]}, "open"),
        (empty, "button-draw", {"seats": [1, 7]}, "$.seats"),
        (dealt, "chip-race", {"from": 25, "to": 100, "counts": {"1": 3}}, "open"),
        (dealt, "fold", {"seat": 1, "hand": 6}, "$.hand"),
        (dealt, "fold", {"seat": 1, "hand": 8}, "$.hand"),
    ],
)
def test_what_cannot_be_done_is_refused_by_its_field(felt, where, kind, fields, words):
    table = where(felt)
    before, told = table.picture() if table.told("state") else None, len(table.public())
    answer = table.say(kind, **fields)
    assert answer["ok"] is False
    assert words in answer["error"]
    assert (table.picture() if before else None) == before
    assert [topic for _, topic, _ in table.public()[told:]] in ([], ["felt/t1/reply"])


@pytest.mark.parametrize("number", [7, None])
def test_a_command_for_this_hand_is_carried_out(felt, number):
    table = dealt(felt)
    assert table.say("fold", seat=1, **({"hand": number} if number else {}))["ok"]
    assert table.events("folded")[0]["hand"] == 7


def test_hidden_cards_are_the_private_topics(felt):
    table = dealt(felt)
    answer = table.say("card", private=False, **TYPED, index=0)
    assert not answer["ok"]
    assert "private" in answer["error"]
    assert table.say("card", private=True, **TYPED, index=0)["ok"]
    assert table.told("reply", private=True)[-1]["ok"]
    assert (
        "card"
        not in next(e for e in table.events("command") if e["command"]["type"] == "card")["command"]
    )


def test_a_fold_is_undone(felt):
    table = dealt(felt, 3)
    table.say("fold", seat=3, id="f")
    assert table.picture()["seats"]["3"]["status"] == "folded"
    assert table.say("undo", of="f")["ok"]
    assert table.picture()["seats"]["3"]["status"] == "in"
    assert not table.say("undo", of="f")["ok"]


@pytest.mark.parametrize("kind", ["card", "remove-card"])
@pytest.mark.parametrize("zone", ["seat:1", "board"])
def test_a_correction_of_the_showdown_and_its_undoing_replace_it(felt, kind, zone):
    table = shown(felt)
    first = table.showdowns()[-1]
    fields = {"zone": zone, "index": 0} | ({"card": "9d"} if kind == "card" else {})
    assert table.say(kind, id="c", **fields)["ok"]
    table.wait(1.0)
    told = table.showdowns()
    if kind == "card":
        assert told[1]["replaces"] == first["seq"]
        assert told[1]["typed"] == ["9d"]
    else:
        assert len(told) == 1
    assert table.say("undo", of="c")["ok"]
    table.wait(1.0)
    last = table.showdowns()[-1]
    assert last["replaces"] == told[-1]["seq"]
    for name in ("hands", "board", "winners", "typed"):
        assert last[name] == first[name]


def test_a_typed_card_takes_the_next_place(felt):
    hands = HANDS | {1: ["As"]}
    table = dealt(felt, 5, hands)
    assert table.say("showdown")["waiting"] == [1]
    assert ("missing-card", "seat:1") in table.alerts()
    assert table.showdowns() == []
    assert table.say("card", zone="seat:1", card="Ah")["ok"]
    [told] = table.showdowns()
    assert told["winners"] == [1]
    assert told["typed"] == ["Ah"]


@pytest.mark.parametrize("board", [5, 4], ids=["a hand lacks a card", "the board lacks a card"])
def test_a_loser_who_mucks_while_the_showdown_waits_has_not_folded(felt, board):
    table = dealt(felt, board, HANDS | {1: ["As"]})
    for seat in table.state.hand.live():
        if seat not in {1, 3}:
            table.say("fold", seat=seat)
    folded = len(table.events("folded"))
    answer = table.say("showdown", shown=[1])
    assert (answer.get("waiting") == [1]) == (board == 5)
    assert answer["ok"] == (board == 5)
    table.throw(3, rest=8.0)
    assert len(table.events("folded")) == folded
    assert table.events("hand-ended") == []
    if board == 5:
        table.say("card", zone="seat:1", card="Ah")
        [told] = table.showdowns()
        assert (told["winners"], told["mucked"]) == ([1], [3])
    else:
        table.say("end-hand")
        assert "winner" not in table.events("hand-ended")[0]


def test_a_show_waits_for_a_card_and_is_told_when_it_is_typed(felt):
    table = dealt(felt, 0, HANDS | {1: ["As"]})
    assert table.say("show", seats=[1, 3])["ok"]
    table.wait(1.0)
    assert [event["seat"] for event in table.events("hand-shown")] == [3]
    table.say("card", zone="seat:1", card="Ah")
    table.wait(1.0)
    assert table.events("hand-shown")[-1]["cards"] == ["As", "Ah"]


@pytest.mark.parametrize("clash", ["Kd", "Qd", "9d"])
def test_a_clash_with_a_hidden_card_is_the_floors_alone(felt, clash):
    told = []
    for card in ("9s", clash):
        table = dealt(felt, 3)
        answer = table.say("card", zone="seat:1", card=card, index=0, private=True)
        table.wait(5.0)
        table.say("fold", seat=1)
        told.append((answer["ok"], table.public()))
        notes = table.told("floor", private=True)
        assert len(notes) == (card in {"Kd", "Qd"})
        assert all(clash in note["cards"] for note in notes)
    assert told[0] == told[1]


def test_pots_become_shares_and_can_be_undone(felt):
    table = shown(felt)
    first = table.showdowns()[-1]
    pots = [{"amount": 305, "seats": [1, 3, 5]}, {"amount": 50, "seats": [3, 5]}]
    assert table.say("pots", id="p", pots=pots, chip=5)["ok"]
    told = table.showdowns()[-1]
    assert told["replaces"] == first["seq"]
    assert [pot["shares"] for pot in told["pots"]] == [{"1": 305}, {"3": 50}]
    assert table.say("undo", of="p")["ok"]
    assert "pots" not in table.showdowns()[-1]


def test_void_after_the_showdown_tells_it_again(felt):
    table = shown(felt)
    button = table.picture()["button"]
    assert table.say("void-hand", reason="fouled deck")["ok"]
    first, void = table.showdowns()
    assert void["void"]
    assert void["replaces"] == first["seq"]
    assert void["hands"] == first["hands"]
    assert table.events("hand-voided")[0]["reason"] == "fouled deck"
    assert table.picture()["button"] == button
    assert not table.say("void-hand")["ok"]


def test_end_hand_after_the_hand_ended_by_itself_is_accepted(felt):
    table = shown(felt)
    table.sweep()
    assert len(table.events("hand-ended")) == 1
    assert table.say("end-hand", hand=7)["ok"]
    assert len(table.events("hand-ended")) == 1


def test_an_end_is_undone(felt):
    table = dealt(felt, 3)
    assert table.say("end-hand", id="e")["ok"]
    assert table.picture()["phase"] == "idle"
    assert table.say("undo", of="e")["ok"]
    assert table.picture()["phase"] == "flop"
    table.board(BOARD[3])
    assert table.picture()["board"] == BOARD[:4]


@pytest.mark.parametrize("where", [empty, dealt, shown, ended])
def test_names_are_set_at_any_time(felt, where):
    table = where(felt)
    assert table.say("set-names", names={"1": "Анна", "2": "Bo"})["ok"]
    assert table.picture()["seats"]["1"]["name"] == "Анна"
    assert table.say("set-names", names={"2": ""})["ok"]
    assert "2" not in table.picture()["seats"]


def test_between_hands_button_and_discipline_are_set(felt):
    table = ended(felt)
    assert table.say("set-button", seat=2)["ok"]
    assert table.picture()["button"] == 2
    assert table.say("set-discipline", discipline="omaha")["ok"]
    assert table.picture()["discipline"] == "omaha"
    assert table.say("start-hand", seats=[1, 2], hand=8)["ok"]
    started = table.events("hand-started")[-1]
    assert (started["hand"], started["button"], started["seats"]) == (8, 2, [1, 2])


def test_a_start_adopts_the_deal_that_began_by_itself(felt):
    table = felt.Felt("holdem", 6)
    table.deal(HANDS, rest=0.5)
    assert table.say("start-hand", seats=[1, 3, 5], button=3)["ok"]
    table.wait(5.0)
    assert len(table.events("hand-started")) == 1
    assert table.picture()["button"] == 3
    assert table.counts() == dict.fromkeys(HANDS, 2)


def test_live_seats_left_out_of_the_showdown_stay_hidden(felt):
    table = dealt(felt, 5)
    assert table.say("showdown", shown=[3, 5])["ok"]
    [told] = table.showdowns()
    assert told["mucked"] == [1]
    assert told["winners"] == [3]
    assert not any(b"As" in body for _, _, body in table.public())
    assert table.say("showdown", shown=[1, 3, 5])["ok"]
    assert table.showdowns()[-1]["winners"] == [1]
    assert table.showdowns()[-1]["replaces"] == told["seq"]
