"""Nobody at the keyboard: which seat was left, and whether hands were tabled or given up."""

from __future__ import annotations

import pytest

SEATS = (1, 2, 5)


def dealt(felt, discipline="holdem", streets=0):
    """Three hands, and so many streets after the first."""
    table, (hands, board) = (
        felt.Felt(discipline, 6, unattended="all"),
        felt.hands(discipline, SEATS),
    )
    if discipline == "stud":
        table.deal({seat: cards[:3] for seat, cards in hands.items()}, rest=8.0)
        for count in range(4, 4 + streets):
            some = {seat: cards[:count] for seat, cards in hands.items()}
            table.deal(some, first=count - 1, rest=8.0)
        return table, hands
    table.deal(hands, rest=8.0)
    for cards in (board[:3], board[3:4], board[4:])[:streets]:
        table.board(*cards)
    return table, hands


def fold(table, seat, rest):
    """A hand goes to the muck and is heard there at once."""
    table.lying["muck"] += sorted(table.lift(f"seat:{seat}", rest=0.5))
    table.wait(rest)


def winners(table):
    return [event.get("winner") for event in table.events("hand-ended")]


@pytest.mark.parametrize("discipline", ["holdem", "omaha", "stud"])
@pytest.mark.parametrize("streets", [0, 1])
@pytest.mark.parametrize("between", [1.5, 3.0])
def test_who_is_left_after_folds_in_turn_wins_however_soon_he_gives_up_his_cards(
    felt, discipline, streets, between
):
    table, _ = dealt(felt, discipline, streets)
    for seat in SEATS[:2]:
        fold(table, seat, between)
    table.sweep()
    assert winners(table) == [5]
    assert [event["seat"] for event in table.events("folded")] == [1, 2]
    assert table.showdowns() == []


@pytest.mark.parametrize("discipline", ["holdem", "omaha", "stud"])
def test_a_misdeal_that_is_gathered_hand_by_hand_has_no_winner(felt, discipline):
    table, _ = dealt(felt, discipline)
    for seat in SEATS[:2]:
        fold(table, seat, 0.25)
    table.sweep()
    assert winners(table) in ([], [None])
    assert "showdown-wanted" in table.kinds()


def test_on_the_turn_the_board_must_lie_on_when_the_last_fold_is_heard(felt):
    """A river that nobody heard, and a hand collected after the board, look the same."""
    for kept in (True, False):
        table, _ = dealt(felt, streets=2)
        fold(table, 1, 4.0)
        if not kept:
            table.lift("board", rest=1.0)
        fold(table, 2, 1.5)
        table.sweep()
        assert winners(table) == [5] if kept else "showdown-wanted" in table.kinds()


def test_the_floor_is_asked_when_the_next_deal_finds_a_hand_without_an_end(felt):
    """The showdown waited for a card, and the table was swept."""
    table, (hands, board) = felt.Felt(seats=6), felt.hands("holdem", SEATS)
    table.say("start-hand", seats=list(SEATS))
    table.deal(hands | {5: hands[5][:1]})
    table.run_out(board)
    assert table.say("showdown")["waiting"] == [5]
    table.sweep()
    assert "showdown-wanted" not in table.kinds()
    table.say("start-hand", seats=list(SEATS))
    assert winners(table) == [None]
    assert "showdown-wanted" in table.kinds()


def test_a_card_left_behind_lets_no_deal_pass_unnoticed(felt):
    table, hands = dealt(felt, streets=1)
    used = {card for cards in hands.values() for card in cards}
    fold(table, 1, 4.0)
    fold(table, 2, 4.0)
    for zone in list(table.lying):
        table.lift(zone)
    table.lay("seat:5", hands[5][0], rest=20.0)
    fresh = (card for card in felt.deck(9) if card not in used)
    table.deal({seat: [next(fresh), next(fresh)] for seat in (1, 2)}, deck="blue", rest=12.0)
    assert winners(table) in ([None], [])
    assert {"showdown-wanted", "mixed-decks"} & table.kinds()


@pytest.mark.parametrize("swept", [True, False])
def test_hands_that_left_apart_are_told_if_the_board_heard_them_swept(felt, swept):
    """Two are slid forward, one stays on its antenna until everything is taken up."""
    table, _ = dealt(felt, streets=3)
    slid = {zone: table.lift(zone) for zone in ("seat:1", "seat:2")}
    table.wait(6.0)
    table.lift("board", rest=1.0)
    stayed = table.lift("seat:5", rest=0.25)
    if swept:
        for tags in [*slid.values(), stayed]:
            table.lying["board"] += sorted(tags)
            table.wait(1.0)
            table.lift("board")
    table.wait(12.0)
    told = [[hand["seat"] for hand in body["hands"]] for body in table.showdowns()]
    assert told == ([[1, 2, 5]] if swept else [])
    assert swept or "showdown-wanted" in table.kinds()


def test_stud_hands_of_which_only_one_reached_the_muck_are_not_told(felt):
    table, hands = dealt(felt, "stud", streets=4)
    fold(table, 1, 4.0)
    table.lift("seat:5", *hands[5][:4], rest=1.0)
    gone = table.lift("seat:2")
    table.lying["muck"] += sorted(gone)
    table.wait(0.5)
    table.lift("seat:5")
    table.wait(3.0)
    table.lift("muck", rest=15.0)
    assert table.showdowns() == []
    assert winners(table) in ([], [5])
    assert winners(table) == [5] or "showdown-wanted" in table.kinds()


@pytest.mark.parametrize("late", [1, 5])
def test_an_up_card_that_is_heard_late_belongs_to_its_street(felt, late):
    table, (hands, _) = felt.Felt("stud", 6), felt.hands("stud", SEATS)
    table.say("start-hand", seats=list(SEATS))
    table.deal({seat: cards[:3] for seat, cards in hands.items()}, rest=8.0)
    table.deal({seat: cards[:4] for seat, cards in hands.items()}, first=3, rest=8.0)
    for seat in SEATS:
        if seat != late:
            table.lay(f"seat:{seat}", hands[seat][4])
    table.wait(2.5)
    table.lay(f"seat:{late}", hands[late][4], rest=8.0)
    told = {body["street"]: body["boards"] for body in table.told("ruling/first-to-act")}
    assert told["fifth"] == {str(seat): hands[seat][2:5] for seat in SEATS}


@pytest.mark.parametrize("discipline", ["holdem", "omaha", "stud"])
def test_13_in_the_first_hand_too_an_unread_fold_is_no_winner(felt, discipline):
    """Cards that lay in the muck while the last one was still there had been folded."""
    table, hands = dealt(felt, discipline)
    used = {card for cards in hands.values() for card in cards}
    fresh = (card for card in felt.deck(3) if card not in used)
    table.lay("muck", *(next(fresh) for _ in range(4)), rest=4.0)
    for seat in SEATS[:2]:
        fold(table, seat, 4.0)
    table.sweep()
    assert winners(table) == [5]


def test_a_flop_of_which_four_cards_were_heard_at_once_is_asked_for(felt):
    """One of the four had not come to rest yet; nobody knows which of them is the turn."""
    table, (hands, board) = felt.Felt(seats=6), felt.hands("holdem", SEATS)
    table.say("start-hand", seats=list(SEATS))
    table.deal(hands, rest=8.0)
    table.lying["board"] = [felt.UIDS[f"red-{card}"] for card in board[:4]]
    for _ in range(2):
        table.wait(0.5)
        table.lift("board", board[0], rest=1.0)
        table.lay("board", board[0], rest=0.25)
    table.lift("board", board[0], rest=6.0)
    table.lay("board", board[0], rest=8.0)
    assert [event["street"] for event in table.events("street")] == ["preflop"]
    assert {"extra-board-card", "missing-card"} & table.kinds()


def test_a_stray_uid_in_the_muck_makes_no_showdown_a_fold(felt):
    """A garbled look repeats what another antenna heard just before."""
    table, hands = dealt(felt, streets=3)
    tag = felt.UIDS[f"red-{hands[5][0]}"]
    antenna = next(name for name, zone in table.setup.zones.items() if zone == "muck")
    reader, _, number = antenna.partition("/")
    table.feed(reader=reader, antenna=int(number), tags=[tag])
    table.wait(20.0)
    table.lift("board", rest=0.5)
    for seat in SEATS:
        table.lying["muck"] += sorted(table.lift(f"seat:{seat}"))
    table.wait(12.0)
    assert [[hand["seat"] for hand in body["hands"]] for body in table.showdowns()] == [[1, 2, 5]]


def test_board_cards_that_were_lost_and_heard_again_are_asked_for(felt):
    """All four were heard at once; that one is heard again later does not make it the turn."""
    table, (hands, board) = felt.Felt(seats=6), felt.hands("holdem", SEATS)
    table.say("start-hand", seats=list(SEATS))
    table.deal(hands, rest=8.0)
    table.lay("board", board[0], board[3], board[1], board[2], rest=0.5)
    table.lift("board", board[2], rest=6.0)
    table.lay("board", board[2], rest=12.0)
    assert [event["street"] for event in table.events("street")] == ["preflop"]
    assert "missing-card" in table.kinds()


def test_a_showdown_at_which_a_hand_was_never_read_is_asked_for(felt):
    """Its cards come to the muck with all others, and no antenna had heard them before."""
    table, hands = dealt(felt, streets=3)
    used = {card for cards in hands.values() for card in cards}
    table.wait(10.0)
    for seat in SEATS:
        table.lift(f"seat:{seat}")
    table.lift("board", rest=1.0)
    fresh = [card for card in felt.deck(3) if card not in used][-12:]
    table.lay("muck", *fresh[:6], rest=12.0)
    assert table.showdowns() == []
    assert "showdown-wanted" in table.kinds()


@pytest.mark.parametrize("end", ["showdown", "winner"])
def test_with_a_foul_deck_nobody_wins_without_the_floor(felt, end):
    table, hands = dealt(felt, streets=3 if end == "showdown" else 1)
    used = {card for cards in hands.values() for card in cards}
    stray = next(card for card in felt.deck(3) if card not in used)
    table.lay("seat:5", stray, deck="blue", rest=4.0)
    table.lift("seat:5", stray, deck="blue", rest=8.0)
    assert "mixed-decks" in table.kinds()
    if end == "winner":
        for seat in SEATS[:2]:
            fold(table, seat, 4.0)
    table.sweep()
    assert table.showdowns() == []
    assert winners(table) in ([], [None])
    assert "showdown-wanted" in table.kinds()


def rounds(felt, table, unread, *, late):
    """Hands in turn of two decks; of some no antenna hears what seat 2 got, folded soon or last."""
    for seed, missing in enumerate(unread):
        hands, _ = felt.hands("holdem", (1, 2, 3), seed)
        deck, seen = ("red", "blue")[seed % 2], [n for n in (1, 2, 3) if n != 2 or not missing]
        table.deal({seat: hands[seat] for seat in seen}, deck=deck, rest=8.0)
        if missing and not late:
            table.lay("muck", *hands[2], deck=deck, rest=3.0)
        for seat in seen[:-1]:
            fold(table, seat, 4.0)
        table.lift("seat:3", rest=1.0)
        if missing and late:
            table.lay("muck", *hands[2], deck=deck, rest=3.0)
        table.sweep()


def test_13_one_who_folds_unread_three_times_in_a_row_is_no_deaf_seat(felt):
    table = felt.Felt(seats=6, unattended="all")
    rounds(felt, table, [False, True, True, True, False], late=False)
    assert winners(table) == [3] * 5
    assert "antenna-deaf" not in table.kinds()


@pytest.mark.parametrize(("seats", "told"), [(3, [3]), (6, [])])
def test_hands_that_were_not_read_block_no_winner_where_every_antenna_hears(felt, seats, told):
    """The last hand is read whole; at the larger table one of the silent seats may be in it."""
    table = felt.Felt(seats=seats, unattended="all")
    rounds(felt, table, [False], late=True)
    since = table.t
    for seed in range(4):
        hands, _ = felt.hands("holdem", (1, 2, 3), 5 + seed)
        deck, spare = ("blue", "red")[seed % 2], [*felt.deck(5 + seed)][-4:]
        table.deal(hands, deck=deck, rest=8.0)
        for seat in (1, 2):
            fold(table, seat, 4.0)
        table.lift("seat:3", rest=1.0)
        if seed < 3:
            table.lay("muck", *spare, deck=deck, rest=3.0)
        table.sweep()
    found = [event.get("winner") for event in table.events("hand-ended", since=since)]
    assert [winner for winner in found if winner] == told
