"""What antennas, outages and unheard cards do to a hand, and what must not be made of it."""

from __future__ import annotations

from dataclasses import replace

import pytest

DISCIPLINES = ("holdem", "omaha", "stud")
OWN = {"holdem": 2, "omaha": 4, "stud": 7}

each_discipline = pytest.mark.parametrize("discipline", DISCIPLINES)
both_ways = pytest.mark.parametrize("operator", [True, False], ids=["operator", "alone"])


def seated(felt, discipline, seats=(1, 2, 5), *, operator=True, **options):
    table = felt.Felt(discipline, 6, unattended="all", **options)
    hands, board = felt.hands(discipline, seats)
    if operator:
        table.say("start-hand", seats=list(seats))
    return table, hands, board


def play(table, hands, board, cards=None):
    """Everything, or the first `cards` cards of each seat."""
    if table.setup.discipline != "stud":
        table.deal(hands)
        table.run_out(board)
        return
    for street in range(3, (cards or 7) + 1):
        some = {seat: own[:street] for seat, own in hands.items()}
        table.deal(some, first=0 if street == 3 else street - 1, rest=8.0)


def spares(felt, hands, board):
    """Cards that are nowhere."""
    dealt = {card for cards in hands.values() for card in cards}
    return (card for card in felt.deck(2) if card not in dealt and card not in board)


def spare(felt, hands, board):
    return next(spares(felt, hands, board))


def openers(table):
    return {told["street"]: told["boards"] for told in table.told("ruling/first-to-act")}


@each_discipline
def test_a_seat_that_only_overheard_a_card_is_not_dealt_in(felt, discipline):
    table, hands, board = seated(felt, discipline, operator=False)
    first = hands[2][0]
    table.deaf.add("seat:2")
    table.overhear("seat:3", first, 1.0)
    table.lay("seat:1", hands[1][0], rest=0.5)
    table.lay("seat:2", first, rest=2.0)
    assert "3" in table.picture()["seats"]
    table.overhear("seat:3", first, 0.0)
    table.deaf.clear()
    table.lay("seat:5", hands[5][0], rest=8.0)
    assert sorted(table.picture()["seats"]) == ["1", "2", "5"]
    some = {seat: cards[: 3 if discipline == "stud" else None] for seat, cards in hands.items()}
    table.deal(some, first=1, rest=8.0)
    assert [event["street"] for event in table.events("street")] == [
        "third" if discipline == "stud" else "preflop"
    ]
    if discipline != "stud":
        table.run_out(board)
        table.sweep()
        assert [hand["seat"] for hand in table.showdowns()[0]["hands"]] == [1, 2, 5]


@each_discipline
@both_ways
@pytest.mark.parametrize("told", [True, False], ids=["lost", "silent"])
def test_a_hand_goes_on_when_the_readers_are_back(felt, discipline, operator, told):
    table, hands, board = seated(felt, discipline, operator=operator)
    play(table, hands, board, cards=4)
    if told:
        table.reader("rail", up=False)
    table.asleep = {*table.lying}
    table.wait(35.0)
    table.asleep = set()
    if told:
        table.reader("rail", up=True)
    table.wait(20.0)
    assert table.events("hand-ended") == []
    assert len(table.events("hand-started")) == 1
    assert table.events("folded") == []
    if discipline != "stud" and operator:
        table.say("showdown")
        told_hands = {hand["seat"]: hand["cards"] for hand in table.showdowns()[0]["hands"]}
        assert {seat: sorted(cards) for seat, cards in told_hands.items()} == {
            seat: sorted(cards) for seat, cards in hands.items()
        }


@each_discipline
@both_ways
@pytest.mark.parametrize("same", [0, 1, 2], ids=lambda same: f"{same} at the same seat")
def test_the_next_deal_of_the_deck_is_no_end_of_a_hand_that_nobody_saw_end(
    felt, discipline, operator, same
):
    table, hands, board = seated(felt, discipline, operator=operator)
    play(table, hands, board, cards=3)
    table.asleep = {*table.lying}
    for zone in table.lying:
        table.lift(zone)
    kept = hands[1][:same]
    others = [card for card in felt.deck(9) if card not in kept]
    table.lay("seat:1", *kept, others.pop(), rest=0.0)
    table.lay("seat:2", others.pop(), others.pop(), rest=0.0)
    table.lay("seat:5", others.pop(), others.pop(), rest=20.0)
    since = table.t
    table.asleep = set()
    table.wait(6.0)
    table.throw(1)
    table.throw(2)
    table.wait(10.0)
    number = table.events("hand-started")[0]["hand"]
    after = [event for event in table.told("event", since=since) if event["hand"] == number]
    assert {event["type"] for event in after} <= {"card-dealt", "hand-ended", "street", "commit"}
    assert not [event for event in after if "winner" in event or "card" in event]
    assert table.showdowns() == []


def test_a_deck_put_down_beside_two_seats_begins_no_hand(felt):
    table = felt.Felt("holdem", 6, unattended="all", miss=0.3)
    cards = list(felt.deck())
    table.lay("seat:3", *cards[:40], rest=0.0)
    for card in cards[:40]:
        table.overhear("seat:2", card, 0.15)
        table.overhear("seat:4", card, 0.15)
    table.wait(30.0)
    assert table.events("hand-started") == []
    assert ("foreign-deck", "seat:3") in table.alerts()


def test_a_hand_of_one_seat_has_no_winner(felt):
    table = felt.Felt("holdem", 6)
    table.say("start-hand", seats=[1, 2])
    table.deal({1: ["As", "Ah"]})
    table.state.hand.seats.pop(2)
    table.say("end-hand")
    assert "winner" not in table.events("hand-ended")[0]


@each_discipline
@both_ways
def test_a_fold_counts_from_when_its_cards_left(felt, discipline, operator):
    """The muck heard one of the cards, in a garbled look, while the hand lay at its seat."""
    table, hands, board = seated(felt, discipline, operator=operator)
    play(table, hands, board, cards=3)
    uid = felt.UIDS[f"red-{hands[2][0]}"]
    table.feed(reader="rail", antenna=8, tags=[uid], partial=True)
    table.wait(10.0)
    assert table.events("folded") == []
    table.throw(2, rest=8.0)
    assert [event["seat"] for event in table.events("folded")] == [2]


@both_ways
def test_a_card_too_many_that_rested_keeps_the_showdown_waiting(felt, operator):
    table, hands, board = seated(felt, "holdem", operator=operator)
    hands[2].append(spare(felt, hands, board))
    play(table, hands, board)
    table.wait(5.0)
    assert ("wrong-card-count", "seat:2") in table.alerts()
    table.lift("seat:2")
    table.wait(4.0)
    if operator:
        assert 2 in table.say("showdown")["waiting"]
    table.sweep()
    assert table.showdowns() == []


def test_a_card_too_many_that_is_taken_back_is_forgotten(felt):
    table, hands, board = seated(felt, "holdem")
    extra = spare(felt, hands, board)
    table.deal(hands | {2: [*hands[2], extra]})
    table.lift("seat:2", extra, rest=6.0)
    table.run_out(board)
    assert table.say("showdown")["ok"]
    assert len(table.showdowns()) == 1


def test_a_surplus_card_takes_the_place_of_one_that_the_floor_removes(felt):
    table, hands, board = seated(felt, "holdem")
    extra = spare(felt, hands, board)
    table.deal(hands | {2: [extra, *hands[2]]})
    table.run_out(board)
    table.say("remove-card", zone="seat:2", index=0)
    table.wait(1.0)
    assert table.say("showdown").get("waiting", []) == []
    told = {hand["seat"]: sorted(hand["cards"]) for hand in table.showdowns()[0]["hands"]}
    assert told[2] == sorted(hands[2])


@pytest.mark.parametrize("street", [4, 5, 6])
@pytest.mark.parametrize("seat", [1, 2, 5])
@both_ways
def test_no_board_of_stud_has_a_later_card_in_place_of_an_unheard_one(felt, seat, street, operator):
    table, hands, _ = seated(felt, "stud", operator=operator)
    table.deal({n: cards[:3] for n, cards in hands.items()})
    for place in range(3, 7):
        table.wait(8.0)
        for number, cards in hands.items():
            if (number, place + 1) != (seat, street):
                table.lay(f"seat:{number}", cards[place])
    for name, boards in openers(table).items():
        count = {"third": 1, "fourth": 2, "fifth": 3}.get(name, 4)
        assert {int(n): cards for n, cards in boards.items()} == {
            n: cards[2 : 2 + count] for n, cards in hands.items()
        }


def test_a_disputed_card_leaves_its_street_without_an_opener(felt):
    table, hands, _ = seated(felt, "stud", (1, 2, 3, 5))
    table.overhear("seat:3", hands[2][3], 1.0)
    play(table, hands, [], cards=5)
    assert set(openers(table)) <= {"third"}
    assert "unsure-opener" in table.kinds()


@pytest.mark.parametrize("seat", [1, 2, 5])
def test_two_hands_of_seven_cards_have_no_winner_though_a_third_left_unseen(felt, seat):
    table, hands, _ = seated(felt, "stud", operator=False)
    play(table, hands, [], cards=3)
    table.lift(f"seat:{seat}")
    left = {n: cards for n, cards in hands.items() if n != seat}
    for place in range(4, 8):
        table.deal({n: cards[:place] for n, cards in left.items()}, first=place - 1, rest=8.0)
    first, second = left
    table.lift(f"seat:{first}")
    table.wait(6.0)
    table.lift(f"seat:{second}")
    table.wait(15.0)
    assert [event.get("winner") for event in table.events("hand-ended")] in ([], [None])
    assert table.showdowns() == []
    assert "showdown-wanted" in table.kinds()


@each_discipline
def test_a_card_that_lay_there_since_the_last_hand_makes_a_seat_uncertain(felt, discipline):
    table, hands, board = seated(felt, discipline)
    left = spare(felt, hands, board)
    table.lay("seat:2", left, rest=3.0)
    table.say("end-hand")
    table.say("start-hand", seats=list(hands))
    play(table, hands, board)
    assert 2 in table.say("showdown")["waiting"]
    assert {name for name, boards in openers(table).items() if "2" in boards} == set()
    table.lift("seat:2", left, rest=6.0)
    assert len(table.showdowns()) == 1


@pytest.mark.parametrize(("seconds", "certain"), [(0.5, False), (1.0, True)])
def test_an_up_antenna_says_soon_that_a_card_lies_face_up(felt, seconds, certain):
    zones = felt.zones(4, up=True)
    table = felt.Felt("stud", 4, zones=zones)
    table.say("start-hand", seats=[1, 2])
    table.deal({1: ["As", "Ah"], 2: ["Kd", "Kc"]}, rest=2.0)
    table.lay("seat:1:up", "9d", rest=seconds)
    told = [event["zone"] for event in table.events("card-dealt") if "card" in event]
    assert told == ["seat:1:up"] * certain


@pytest.mark.parametrize("seats", [(1, 2), (2, 4, 5), (1, 2, 3, 4, 5, 6)])
@pytest.mark.parametrize("gap", [0.4, 0.6, 1.5])
@both_ways
def test_a_deal_of_any_pace_has_its_openers(felt, seats, gap, operator):
    table, hands, _ = seated(felt, "stud", seats, operator=operator)
    table.deal({seat: cards[:3] for seat, cards in hands.items()}, gap=gap, rest=6.0)
    for street in range(4, 7):
        some = {seat: cards[:street] for seat, cards in hands.items()}
        table.deal(some, gap=gap, first=street - 1, rest=3.0)
    assert list(openers(table)) == ["third", "fourth", "fifth", "sixth"]
    for place, boards in enumerate(openers(table).values(), 1):
        assert boards == {str(seat): cards[2 : 2 + place] for seat, cards in hands.items()}


def faces(table, seat):
    """The up cards that were told of a seat."""
    told = [event for event in table.events("card-dealt") if "card" in event]
    return [event["card"] for event in told if event["zone"] == f"seat:{seat}:up"]


@pytest.mark.parametrize("typed_first", [1, 2])
def test_no_typed_card_of_third_street_is_told_as_the_one_that_lies_up(felt, typed_first):
    table, hands, _ = seated(felt, "stud")
    for place in range(3):
        for seat, cards in hands.items():
            if seat != 2 or place == 0:
                table.lay(f"seat:{seat}", cards[place])
        if place == 1:
            table.say("card", zone="seat:2", card=hands[2][typed_first])
    table.say("card", zone="seat:2", card=hands[2][3 - typed_first])
    table.wait(8.0)
    assert faces(table, 2) == []
    assert "unsure-opener" in table.kinds()


def test_third_street_may_be_typed_altogether(felt):
    table, hands, _ = seated(felt, "stud")
    for place in range(3):
        for seat, cards in hands.items():
            assert table.say("card", zone=f"seat:{seat}", card=cards[place])["ok"]
            table.wait(1.0)
    table.wait(6.0)
    assert [faces(table, seat) for seat in hands] == [[], [], []]


@pytest.mark.parametrize("after", [1, 2, 5])
def test_a_down_card_that_the_floor_corrects_stays_down(felt, after):
    table, hands, _ = seated(felt, "stud")
    right = spare(felt, hands, [])
    table.deal({seat: cards[:3] for seat, cards in hands.items()}, rest=8.0)
    for place in range(3, 6):
        for seat, cards in hands.items():
            table.lay(f"seat:{seat}", cards[place])
            if (place, seat) == (3, after):
                table.say("card", zone="seat:2", index=0, card=right)
        table.wait(10.0)
    assert faces(table, 2) == hands[2][2:6]


@pytest.mark.parametrize("undone", [True, False], ids=["undone", "carried back"])
def test_a_fold_taken_back_leaves_the_seat_its_up_cards(felt, undone):
    table, hands, _ = seated(felt, "stud")
    table.deal({seat: cards[:3] for seat, cards in hands.items()}, rest=6.0)
    if undone:
        table.say("fold", seat=5, id="f")
        table.wait(2.0)
        assert table.say("undo", of="f")["ok"]
    else:
        gone = sorted(table.lift("seat:5", rest=0.5))
        table.lying["muck"] += gone
        table.wait(5.0)
        table.lift("muck")
        table.lying["seat:5"] += gone
        table.wait(4.0)
    table.wait(12.0)
    table.deal({seat: cards[:4] for seat, cards in hands.items()}, first=3, rest=8.0)
    assert faces(table, 5) == hands[5][2:4]


@pytest.mark.parametrize("when", ["before", "during"])
@pytest.mark.parametrize("rest", [0.5, 4.0])
@both_ways
def test_an_outage_around_the_deal_costs_no_card(felt, when, rest, operator):
    table, hands, board = seated(felt, "holdem", operator=operator)
    if when == "during":
        table.deal({seat: cards[:1] for seat, cards in hands.items()}, rest=2.0)
    table.t += 6.0
    table.wait(rest)
    table.deal(hands, first=when == "during", gap=0.75)
    table.run_out(board)
    assert len(table.events("hand-started")) == 1
    assert table.counts() == dict.fromkeys(hands, 2)
    assert "showdown-wanted" not in table.kinds()


@pytest.mark.parametrize("delay", [0.0, 0.5, 1.0])
@pytest.mark.parametrize("board_left", [1.5, 4.0])
@both_ways
def test_of_two_hands_mucked_together_none_has_won(felt, delay, board_left, operator):
    table, hands, board = seated(felt, "holdem", (1, 2), operator=operator)
    play(table, hands, board)
    table.lying["muck"] += sorted(table.lift("seat:2"))
    table.wait(delay)
    table.lying["muck"] += sorted(table.lift("seat:1"))
    table.wait(board_left)
    table.lift("board", rest=15.0)
    assert table.events("folded") == []
    assert table.showdowns() == []
    assert [event.get("winner") for event in table.events("hand-ended")] in ([], [None])
    assert "showdown-wanted" in table.kinds()


@pytest.mark.parametrize("deck", ["red", "blue"])
def test_the_first_cards_of_the_next_deal_are_not_taken_for_old_ones(felt, deck):
    """Nobody answered who had won."""
    table, (hands, board) = felt.Felt("holdem", 6), felt.hands("holdem", (1, 2, 5))
    play(table, hands, board)
    table.sweep()
    fresh = spares(felt, hands, board)
    table.deal({seat: [next(fresh), next(fresh)] for seat in hands}, deck=deck)
    assert len(table.events("hand-started")) == 2
    assert table.counts() == dict.fromkeys(hands, 2)


def test_a_card_between_two_seats_since_the_last_hand_is_nobodys(felt):
    table, hands, board = seated(felt, "holdem", (1, 2, 3))
    left = hands[1][0]
    table.deal(hands)
    table.say("end-hand")
    table.overhear("seat:2", left, 1.0)
    table.sweep(rest=0.0)
    table.lay("seat:1", left, rest=15.0)
    table.say("start-hand", seats=[1, 2, 3])
    fresh = spares(felt, hands, board)
    table.deal({1: [next(fresh), next(fresh)], 2: [next(fresh)], 3: [next(fresh), next(fresh)]})
    table.run_out(board)
    assert 2 in table.say("showdown")["waiting"]
    table.wait(10.0)
    assert table.showdowns() == []


@pytest.mark.parametrize("deck", ["red", "blue"])
@pytest.mark.parametrize("zone", ["seat:1", "board"])
def test_a_restart_with_a_smaller_deck_goes_on(felt, deck, zone):
    table, hands, board = seated(felt, "holdem")
    table.deal(hands)
    extra = spare(felt, hands, board)
    table.lay(zone, extra, deck=deck, rest=1.0)
    gone = felt.UIDS[f"{deck}-{extra}"]
    cards = {tag: card for tag, card in table.setup.cards.items() if tag != gone}
    table.setup = replace(table.setup, cards=cards)
    table.restart()
    table.wait(12.0)
    assert table.counts() == dict.fromkeys(hands, 2)


def test_a_seat_whose_only_card_goes_elsewhere_is_shown_no_more(felt):
    table, hands, _ = seated(felt, "holdem", (1, 2), operator=False)
    third = spare(felt, hands, [])
    table.deal(hands | {3: [third]}, rest=0.5)
    table.say("show", seats=[3])
    table.lift("seat:3")
    table.lay("seat:4", third, rest=8.0)
    assert table.say("start-hand", seats=[1, 2])["ok"]
    table.wait(2.0)
    assert table.events("hand-shown") == []


@each_discipline
def test_a_deal_that_the_floor_announced_is_waited_for(felt, discipline):
    """A card of the deck lay at a seat and left just when the hand was started."""
    table = felt.Felt(discipline, 6, unattended="all")
    hands, board = felt.hands(discipline, (1, 2, 5))
    table.lay("seat:2", spare(felt, hands, board), rest=1.0)
    table.say("start-hand", seats=list(hands))
    table.lift("seat:2", rest=20.0)
    assert table.events("hand-ended") == []
    play(table, hands, board)
    assert len(table.events("hand-started")) == 1
    assert [event.get("winner") for event in table.events("hand-ended")] in ([], [None])


@each_discipline
def test_a_hand_whose_end_is_undone_has_its_showdown(felt, discipline):
    table, hands, board = seated(felt, discipline)
    play(table, hands, board)
    table.say("end-hand", id="e")
    table.wait(1.0)
    assert table.say("undo", of="e")["ok"]
    table.wait(1.0)
    assert table.say("showdown").get("waiting", []) == []
    assert len(table.showdowns()) == 1
