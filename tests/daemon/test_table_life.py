"""The cases of real tables, each as a kind: over disciplines, seats and timings."""

from __future__ import annotations

import pytest

DISCIPLINES = ("holdem", "omaha", "stud")
FLOPPED = ("holdem", "omaha")
OWN = {"holdem": 2, "omaha": 4, "stud": 7}
FIRST = {"holdem": 2, "omaha": 4, "stud": 3}

each_discipline = pytest.mark.parametrize("discipline", DISCIPLINES)
flopped = pytest.mark.parametrize("discipline", FLOPPED)
both_ways = pytest.mark.parametrize("operator", [True, False], ids=["operator", "alone"])
seeds = pytest.mark.parametrize("seed", range(3))


def seated(felt, discipline, seats=(1, 2, 4), *, operator=True, seed=1, **options):
    """A table with a hand dealt to these seats, all streets of stud out; and its cards."""
    table = felt.Felt(discipline, 6, seed=seed, unattended="all", **options)
    hands, board = felt.hands(discipline, seats, seed)
    if operator:
        table.say("start-hand", seats=list(seats))
    return table, hands, board


def play_out(table, hands, board):
    """From the cards to the river."""
    if table.setup.discipline == "stud":
        deal_stud(table, hands)
    else:
        table.deal(hands)
        table.run_out(board)


def deal_stud(table, hands, streets=5):
    table.deal({seat: cards[:3] for seat, cards in hands.items()})
    for street in range(1, streets):
        table.deal({seat: cards[: 3 + street] for seat, cards in hands.items()}, first=2 + street)


def lay_streets(table, board, first=0):
    """The board from its card `first` on, street by street."""
    for street in (board[:3], board[3:4], board[4:5]):
        if street and board.index(street[0]) >= first:
            table.board(*street)


def finish(table, *, operator=True, shown=None):
    """The showdown: asked for, or all hands slid off at once and the board taken up."""
    if operator:
        answer = table.say("showdown", **({"shown": shown} if shown else {}))
        assert answer["ok"], answer
        table.wait(1.0)
    else:
        table.wait(8.0)
    table.sweep()


def told_right(table, hands, seats=None):
    """One showdown with the right cards at the right seats."""
    [showdown] = table.showdowns()
    told = {hand["seat"]: sorted(hand["cards"]) for hand in showdown["hands"]}
    assert told == {seat: sorted(hands[seat]) for seat in seats or hands}
    return showdown


@each_discipline
@seeds
@pytest.mark.parametrize(("owner", "ghost"), [(2, 3), (3, 2)])
@pytest.mark.parametrize("share", [0.1, 0.3])
def test_01_a_card_overheard_next_door_stays_where_it_is(
    felt, discipline, seed, owner, ghost, share
):
    table, hands, board = seated(felt, discipline, (2, 3, 5), seed=seed, miss=0.05)
    table.overhear(f"seat:{ghost}", hands[owner][0], share)
    play_out(table, hands, board)
    table.wait(10.0)
    assert ("overheard", f"seat:{ghost}") in table.alerts()
    assert table.counts() == dict.fromkeys(hands, OWN[discipline])
    finish(table)
    told_right(table, hands)


@flopped
@seeds
@pytest.mark.parametrize("ghost", [3, 5])
def test_02_two_equal_claims_are_asked_for_and_nothing_is_built_on_them(
    felt, discipline, seed, ghost
):
    """Both seats lack a card, so the deal cannot settle it either."""
    table, hands, board = seated(felt, discipline, (2, 3, 4, 5), seed=seed)
    table.overhear(f"seat:{ghost}", hands[4][0], 1.0)
    short = hands | {ghost: hands[ghost][1:]}
    table.deal(short)
    table.run_out(board)
    zones = ", ".join(sorted(["seat:4", f"seat:{ghost}"]))
    assert ("two-claims", zones) in table.alerts()
    answer = table.say("showdown")
    assert answer["ok"]
    assert ghost in answer["waiting"]
    table.wait(10.0)
    assert table.showdowns() == []


@pytest.mark.parametrize("owner", [2, 4])
def test_02_the_deal_settles_what_the_antennas_cannot(felt, owner):
    table, hands, board = seated(felt, "holdem", (2, 3, 4))
    table.overhear("seat:3", hands[owner][1], 1.0)
    play_out(table, hands, board)
    finish(table)
    told_right(table, hands)


@flopped
@seeds
@pytest.mark.parametrize("apart", [1.0, 8.0])
def test_03_two_folded_hands_on_a_muck_that_hears_two_cards(felt, discipline, seed, apart):
    table, hands, board = seated(felt, discipline, (1, 2, 4, 5), seed=seed, operator=False)
    table.deal(hands)
    table.throw(2, rest=apart)
    table.throw(5)
    table.run_out(board)
    table.wait(5.0)
    told = {event["seat"] for event in table.events("folded")}
    assert told <= {2, 5}
    finish(table, operator=False)
    assert told == {2, 5} or {"showdown-wanted", "missing-card"} & table.kinds()
    for showdown in table.showdowns():
        assert {hand["seat"] for hand in showdown["hands"]} == {1, 4}


@pytest.mark.parametrize(
    "pair", [("As", "Ks"), ("7d", "7c"), ("2h", "9h")], ids=["suited", "pocket pair", "low"]
)
@both_ways
@pytest.mark.parametrize("seat", [2, 5])
def test_04_any_pair_that_is_mucked_is_a_fold(felt, pair, operator, seat):
    table = felt.Felt("holdem", 6, unattended="all")
    cards = felt.deck(3, without=pair)
    hands = {n: [next(cards), next(cards)] for n in (1, 2, 4, 5)} | {seat: list(pair)}
    if operator:
        table.say("start-hand", seats=[1, 2, 4, 5])
    table.deal(hands)
    table.throw(seat)
    assert table.events("folded")[0]["seat"] == seat
    assert table.picture()["seats"][str(seat)]["status"] == "folded"


@each_discipline
@both_ways
@pytest.mark.parametrize("pause", [5.0, 20.0])
def test_05_the_same_card_at_the_same_seat_in_the_next_hand(felt, discipline, operator, pause):
    table, hands, board = seated(felt, discipline, operator=operator)
    play_out(table, hands, board)
    finish(table, operator=operator)
    assert len(table.events("hand-ended")) == 1
    table.wait(pause)
    if operator:
        table.say("start-hand", seats=[*hands])
    play_out(table, hands, board)
    finish(table, operator=operator)
    first, second = table.showdowns()
    assert first["hands"] == second["hands"]
    assert second["hand"] == first["hand"] + 1
    assert len(table.events("hand-started")) == 2


@flopped
@both_ways
@pytest.mark.parametrize("pauses", [(0.0, 0.25), (0.75, 3.0), (3.0, 0.5), (3.0, 3.0)])
def test_06_a_flop_is_three_cards_however_slowly_they_come(felt, discipline, operator, pauses):
    table, hands, board = seated(felt, discipline, operator=operator)
    table.deal(hands)
    table.lay("board", board[0], rest=pauses[0] or 0.25)
    table.lay("board", board[1], rest=pauses[1])
    table.board(board[2])
    streets = [event for event in table.events("street") if event["cards"]]
    assert [(event["street"], sorted(event["cards"])) for event in streets] == [
        ("flop", sorted(board[:3]))
    ]


@each_discipline
@both_ways
@pytest.mark.parametrize("silence", ["no looks", "no cards heard"])
@pytest.mark.parametrize("minutes", [1, 10, 35])
def test_07_silence_ends_no_hand(felt, discipline, operator, silence, minutes):
    table, hands, board = seated(felt, discipline, operator=operator)
    if discipline == "stud":
        deal_stud(table, hands, 3)
    else:
        table.deal(hands)
        table.board(*board[:3])
    if silence == "no looks":
        table.t += minutes * 60
    else:
        table.deaf = {*table.lying}
        table.wait(minutes * 60)
        table.deaf = set()
    table.wait(5.0)
    assert table.events("hand-ended") == []
    assert table.counts() == {
        seat: 5 if discipline == "stud" else len(hands[seat]) for seat in hands
    }
    if discipline == "stud":
        for street in (5, 6):
            table.deal({n: cards[: street + 1] for n, cards in hands.items()}, first=street)
    else:
        for card in board[3:]:
            table.board(card)
    assert table.say("showdown")["ok"]
    table.wait(2.0)
    told_right(table, hands)


@flopped
@both_ways
def test_08_a_sixth_board_card_is_told_and_changes_nothing(felt, discipline, operator):
    table, hands, board = seated(felt, discipline, operator=operator)
    play_out(table, hands, board)
    table.board(next(felt.deck(9, without=[*board, *(c for h in hands.values() for c in h)])))
    assert ("extra-board-card", "board") in table.alerts()
    assert table.picture()["board"] == board
    assert table.say("showdown")["ok"]
    table.wait(1.0)
    assert told_right(table, hands)["board"] == board


@each_discipline
@both_ways
@pytest.mark.parametrize("seat", [1, 4])
def test_08_a_card_too_many_at_a_seat_is_told_and_changes_nothing(felt, discipline, operator, seat):
    table, hands, board = seated(felt, discipline, operator=operator)
    play_out(table, hands, board)
    used = [*board, *(card for hand in hands.values() for card in hand)]
    table.lay(f"seat:{seat}", next(felt.deck(9, without=used)), rest=5.0)
    assert ("wrong-card-count", f"seat:{seat}") in table.alerts()
    assert table.counts() == dict.fromkeys(hands, OWN[discipline])


PHONE, KEY_CARD = "04A2245B7C1180", "5E22A1F0"


@each_discipline
@both_ways
@pytest.mark.parametrize("zone", ["seat:1", "seat:6", "board"])
def test_09_a_phone_and_a_room_key_are_one_alert_each(felt, discipline, operator, zone):
    table, hands, _board = seated(felt, discipline, operator=operator, miss=0.05)
    table.lay(zone, PHONE, rest=5.0)
    table.deal({seat: cards[: FIRST[discipline]] for seat, cards in hands.items()})
    table.lay(zone, KEY_CARD, rest=60.0)
    assert table.alerts().count(("unknown-tag", zone)) == 2
    assert {kind for kind, _ in table.alerts()} <= {"unknown-tag", "unsure-opener", "unsure-face"}
    assert table.counts() == dict.fromkeys(hands, FIRST[discipline])


@each_discipline
@pytest.mark.parametrize("rhythm", [(1, 1), (1, 3), (4, 7)], ids=str)
def test_10_a_card_read_only_now_and_then_never_leaves(felt, discipline, rhythm):
    table, hands, _board = seated(felt, discipline, operator=False)
    table.deal({seat: cards[: FIRST[discipline]] for seat, cards in hands.items()})
    tag = felt.UIDS[f"red-{hands[2][0]}"]
    on, off = rhythm
    for _ in range(600 // (on + off)):
        table.wait(on * felt.LOOK_S)
        table.lying["seat:2"].remove(tag)
        table.wait(off * felt.LOOK_S)
        table.lying["seat:2"].insert(0, tag)
    table.wait(5.0)
    assert table.counts() == dict.fromkeys(hands, FIRST[discipline])
    assert table.events("folded") == []
    assert table.events("hand-ended") == []
    assert table.engine.state.presence.home(tag) == "seat:2"


def garbled(uid, how):
    return {
        "zeros": "0" * len(uid),
        "left": uid[2:] + "00",
        "right": "00" + uid[:-2],
        "far": uid[6:] + uid[:6],
    }[how]


@each_discipline
@pytest.mark.parametrize("how", ["zeros", "left", "right", "far"])
@pytest.mark.parametrize("looks", [1, 2, 40])
def test_11_a_garbled_uid_is_noise_and_no_card(felt, discipline, how, looks):
    table, hands, _board = seated(felt, discipline, operator=False)
    table.deal({seat: cards[: FIRST[discipline]] for seat, cards in hands.items()})
    before = table.engine.state.presence.noise
    tag = garbled(felt.UIDS[f"red-{hands[2][0]}"], how)
    table.lay("seat:2", tag, rest=looks * felt.LOOK_S)
    table.lift("seat:2", tag)
    table.wait(10.0)
    assert table.engine.state.presence.noise > before
    assert "unknown-tag" not in table.kinds()
    assert table.counts() == dict.fromkeys(hands, FIRST[discipline])


@each_discipline
@seeds
@pytest.mark.parametrize(("owner", "edge"), [(1, 2), (4, 3)])
def test_12_the_edge_of_the_next_antenna_takes_no_card_away(felt, discipline, seed, owner, edge):
    table, hands, _board = seated(felt, discipline, (1, 2, 4), seed=seed, operator=False, miss=0.05)
    table.deal({seat: cards[: FIRST[discipline]] for seat, cards in hands.items()})
    tag = felt.UIDS[f"red-{hands[owner][0]}"]
    table.overhear(f"seat:{edge}", hands[owner][0], 0.15)
    for spell in (0.5, 1.0, 2.0, 2.5) * 8:
        table.wait(5.0)
        table.lying[f"seat:{owner}"].remove(tag)
        table.lying["seat:6"], kept = [tag], table.lying["seat:6"]
        table.deaf = {"seat:6"}
        table.wait(spell)
        table.lying["seat:6"], table.deaf = kept, set()
        table.lying[f"seat:{owner}"].insert(0, tag)
    table.wait(10.0)
    assert table.engine.state.presence.home(tag) == f"seat:{owner}"
    assert table.counts() == dict.fromkeys(hands, FIRST[discipline])


@flopped
@both_ways
def test_13_a_hand_folded_unread_is_folded_and_not_missing(felt, discipline, operator):
    table, hands, board = seated(felt, discipline, (1, 2, 4), operator=operator)
    read = {1: hands[1], 4: hands[4]}
    table.deal(read)
    if operator:
        table.say("fold", seat=2)
    table.run_out(board)
    finish(table, operator=operator)
    told_right(table, read)
    assert "missing-card" not in table.kinds()
    assert [event["seat"] for event in table.events("folded")] == [2] * operator


@each_discipline
@both_ways
@pytest.mark.parametrize("place", [0, 1])
def test_14_the_first_card_of_the_other_deck_is_told(felt, discipline, operator, place):
    table, hands, _board = seated(felt, discipline, operator=operator)
    table.deal({seat: cards[:place] for seat, cards in hands.items()}, rest=0.5)
    table.lay("seat:1", hands[1][place], rest=1.5)
    table.lay("seat:2", hands[2][place], deck="blue", rest=3.0)
    table.lay("seat:4", hands[4][place], rest=3.0)
    assert [kind for kind, _ in table.alerts()].count("mixed-decks") == 1
    assert table.alerts(notices=False)[0][0] == "mixed-decks"


@each_discipline
@pytest.mark.parametrize("zone", ["board", "seat:2", "seat:6"])
@pytest.mark.parametrize("when", ["between", "during"])
@pytest.mark.parametrize("count", [20, 52])
def test_14b_a_deck_that_is_put_down_is_one_notice(felt, discipline, zone, when, count):
    table, hands, _board = seated(felt, discipline, operator=False)
    if when == "during":
        table.deal({seat: cards[: FIRST[discipline]] for seat, cards in hands.items()})
    started = len(table.events("hand-started"))
    other = list(felt.deck(5))[:count]
    table.lay(zone, *other, deck="blue", rest=40.0)
    table.lift(zone, *other, deck="blue", rest=10.0)
    assert [kind for kind, _ in table.alerts()].count("foreign-deck") == 1
    assert table.kinds() <= {"foreign-deck", "unsure-opener", "unsure-face"}
    assert len(table.events("hand-started")) == started
    assert not table.showdowns()


@each_discipline
@both_ways
@pytest.mark.parametrize(("seat", "clone"), [(1, 4), (2, 5), (5, 2)])
def test_15_the_same_uid_at_two_far_seats_is_a_duplicate(felt, discipline, operator, seat, clone):
    table, hands, _board = seated(felt, discipline, (1, 2, 4, 5), operator=operator)
    hands[clone][0] = hands[seat][0]
    table.deal({n: cards[: FIRST[discipline]] for n, cards in hands.items()}, rest=10.0)
    assert "duplicate-card" in table.kinds()
    assert "two-claims" not in table.kinds()


@both_ways
def test_16_four_cards_each_look_like_omaha(felt, operator):
    table = felt.Felt("holdem", 6)
    hands, _ = felt.hands("omaha", (1, 2, 4))
    if operator:
        table.say("start-hand", seats=[1, 2, 4])
    table.deal(hands)
    [told] = [body for body in table.told("alert") if body["kind"] == "wrong-discipline"]
    assert "Omaha" in told["message"]["en"]
    assert table.counts() == dict.fromkeys(hands, 2)


@each_discipline
@both_ways
@pytest.mark.parametrize("gap", [0.25, 1.0, 2.5])
def test_17_a_sweep_over_the_board_is_no_card_and_no_hand(felt, discipline, operator, gap):
    table, hands, board = seated(felt, discipline, operator=operator)
    play_out(table, hands, board)
    finish_early(table, operator)
    for seat in hands:
        table.lift(f"seat:{seat}")
        table.lay("board", *hands[seat], rest=gap)
    table.lift("board")
    table.wait(15.0)
    assert len(table.events("hand-started")) == 1
    assert len(table.events("hand-ended")) == 1
    assert len([e for e in table.events("street") if e["cards"]]) == (
        0 if discipline == "stud" else 3
    )
    told_right(table, hands)
    assert table.picture()["phase"] == "idle"


def finish_early(table, operator):
    """The showdown is told while the cards still lie there."""
    if operator:
        table.say("showdown")
        table.wait(1.0)
    else:
        for zone in table.lying:
            table.lift(zone)
        table.wait(6.0)


@flopped
@both_ways
def test_18_a_turn_that_comes_too_soon_stands_with_a_note(felt, discipline, operator):
    table, hands, board = seated(felt, discipline, operator=operator)
    table.deal(hands)
    table.board(*board[:3], rest=2.0)
    table.board(board[3], rest=8.0)
    assert "late-card" in table.kinds() or "premature-card" in table.kinds()
    assert table.picture()["board"] == board[:4]
    table.board(board[4])
    finish(table, operator=operator)
    assert told_right(table, hands)["board"] == board


@flopped
@pytest.mark.parametrize("late", [(2,), (1, 4)])
def test_19_cards_read_only_after_the_last_action_complete_the_showdown(felt, discipline, late):
    table, hands, board = seated(felt, discipline)
    table.deal({seat: cards for seat, cards in hands.items() if seat not in late})
    table.run_out(board)
    table.wait(20.0)
    answer = table.say("showdown")
    assert sorted(answer["waiting"]) == sorted(late)
    assert table.showdowns() == []
    for seat in late:
        table.lay(f"seat:{seat}", *hands[seat], rest=3.0)
    told_right(table, hands)


@each_discipline
def test_20_a_seat_change_waits_until_the_hand_is_over(felt, discipline):
    table, hands, board = seated(felt, discipline)
    play_out(table, hands, board)
    refused = table.say("start-hand", seats=[1, 2, 3, 4])
    assert not refused["ok"]
    assert "open" in refused["error"]
    if discipline != "stud":
        assert "open" in table.say("set-button", seat=2)["error"]
    assert "open" in table.say("set-discipline", discipline="holdem")["error"]
    finish(table)
    told_right(table, hands)
    assert table.say("start-hand", seats=[1, 2, 3, 4])["ok"]


@each_discipline
@both_ways
@pytest.mark.parametrize("times", [1, 3])
def test_21_a_restart_in_mid_hand_is_not_to_be_noticed(felt, discipline, operator, times):
    told = []
    for restarts in (0, times):
        table, hands, board = seated(felt, discipline, operator=operator, miss=0.05)
        if discipline == "stud":
            deal_stud(table, hands, 3)
        else:
            table.deal(hands)
            table.board(*board[:3])
        for _ in range(restarts):
            table.restart()
            table.wait(0.5)
        table.wait(2.0 - restarts * 0.5)
        if discipline == "stud":
            for street in (5, 6):
                table.deal({n: cards[: street + 1] for n, cards in hands.items()}, first=street)
        else:
            for card in board[3:]:
                table.board(card)
        finish(table, operator=operator)
        told_right(table, hands)
        told.append([(t, m.topic, m.payload) for t, m in table.sent if m.seq is not None])
    assert told[0] == told[1]


@each_discipline
def test_23_after_the_showdown_the_state_covers_it(felt, discipline):
    """A late subscriber takes `state` at its seq and drops the retained showdown below it."""
    table, hands, board = seated(felt, discipline)
    play_out(table, hands, board)
    finish(table)
    retained = {m.topic: m for _, m in table.sent if m.retain}
    state, showdown = table.picture(), table.showdowns()[-1]
    assert retained["felt/t1/showdown"].seq == showdown["seq"] < state["seq"]
    assert state["phase"] == "idle"
    assert state["board"] == []
    table.wait(60.0)
    assert len(table.showdowns()) == 1


@each_discipline
@pytest.mark.parametrize("gap", [0.0, 0.25, 0.75])
def test_24_cards_that_come_within_a_second_all_count(felt, discipline, gap):
    table, hands, _board = seated(felt, discipline)
    for seat, cards in hands.items():
        for card in cards[:2]:
            table.lay(f"seat:{seat}", card, rest=gap)
    table.wait(3.0)
    assert table.counts() == dict.fromkeys(hands, 2)


@flopped
@both_ways
@pytest.mark.parametrize("street", [0, 3, 4])
def test_27_an_unread_hand_folded_across_the_board_is_no_board_card(
    felt, discipline, operator, street
):
    table, hands, board = seated(felt, discipline, (1, 2, 4), operator=operator)
    thrown = hands.pop(2)
    table.deal(hands)
    lay_streets(table, board[:street])
    table.lay("board", *thrown, rest=1.0)
    table.lift("board", *thrown)
    table.lay("muck", *thrown, rest=6.0)
    lay_streets(table, board, street)
    finish(table, operator=operator, shown=[1, 4])
    assert told_right(table, hands)["board"] == board


def test_28_a_down_card_heard_after_the_up_card_hides_the_face(felt):
    table, hands, _board = seated(felt, "stud", (1, 2, 4))
    deaf = hands[2][0]
    rounds = [(seat, hands[seat][place]) for place in range(3) for seat in hands]
    for seat, card in rounds:
        if card != deaf:
            table.lay(f"seat:{seat}", card)
    table.wait(2.0)
    table.lay("seat:2", deaf, rest=10.0)
    told = [event for event in table.events("card-dealt") if "card" in event]
    assert not {event["card"] for event in told} & set(hands[2])
    assert table.told("ruling/first-to-act") == []
    assert {"unsure-opener", "unsure-face"} & table.kinds()


@flopped
@pytest.mark.parametrize("street", [0, 3, 4])
def test_29_all_in_hands_are_public_at_the_show_and_the_hand_goes_on(felt, discipline, street):
    table, hands, board = seated(felt, discipline, (1, 4))
    table.feed(key=felt.KEY)
    table.deal(hands)
    lay_streets(table, board[:street])
    assert table.say("show", seats=[1, 4])["ok"]
    table.wait(1.0)
    shown = {event["seat"]: event["cards"] for event in table.events("hand-shown")}
    assert shown == hands
    assert table.picture()["seats"]["1"]["shown"] == hands[1]
    table.lift("seat:1")
    lay_streets(table, board, street)
    assert table.showdowns() == []
    assert table.say("showdown")["ok"]
    table.wait(1.0)
    told_right(table, hands)


@each_discipline
@pytest.mark.parametrize("silence", ["deaf", "asleep", "down"])
@pytest.mark.parametrize("zone", ["seat:1", "board"])
def test_30_an_antenna_that_falls_silent_makes_no_showdown(felt, discipline, silence, zone):
    table, hands, board = seated(felt, discipline, operator=False)
    play_out(table, hands, board)
    if silence == "down":
        table.reader("rail", up=False)
        table.asleep = {*table.lying}
    else:
        getattr(table, silence).add(zone)
    table.wait(120.0)
    assert table.showdowns() == []
    assert table.events("hand-ended") == []


@pytest.mark.parametrize("street", [3, 4, 5, 6])
def test_29_in_stud_what_is_dealt_after_the_show_stays_hidden_until_it_is_due(felt, street):
    table, hands, _ = seated(felt, "stud", (1, 4))
    deal_stud(table, hands, street - 2)
    table.say("show", seats=[1, 4])
    table.wait(1.0)
    shown = {event["seat"]: event["cards"] for event in table.events("hand-shown")}
    assert shown == {seat: cards[:street] for seat, cards in hands.items()}
    for place in range(street, 7):
        table.deal({seat: cards[: place + 1] for seat, cards in hands.items()}, first=place)
    assert table.picture()["seats"]["1"]["shown"] == hands[1][:street]
    seventh = [hands[seat][6].encode() for seat in hands]
    assert not any(card in body for _, _, body in table.public() for card in seventh)
    finish(table)
    told_right(table, hands)
