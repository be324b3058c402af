"""How hands end: folds that only the muck hears, hands collected, the last one in play."""

from __future__ import annotations

import pytest

HOLDEM = {1: ["As", "Ah"], 2: ["Kd", "Kc"], 3: ["7h", "2c"]}
BOARD = ("Qs", "Jd", "9h", "5h", "8c")
BURNS = ("3s", "4d", "6s")
SHOE_ALONE = {"rail/1": "board", "rail/2": "muck", "shoe/1": "shoe"}


def pass_shoe(felt, table, *cards):
    for card in cards:
        table.feed(reader="shoe", antenna=1, tags=[felt.UIDS[f"red-{card}"]], partial=True)
        table.wait(0.5)


def shoe_alone(felt, streets=3, **options):
    """Three seats that no antenna hears, dealt from the shoe, and the board on its antenna."""
    table = felt.Felt(seats=3, zones=SHOE_ALONE, **options)
    table.say("start-hand", seats=[1, 2, 3], button=3)
    for place in (0, 1):
        pass_shoe(felt, table, *(HOLDEM[seat][place] for seat in (1, 2, 3)))
    table.wait(6.0)
    for street in range(streets):
        next_street(felt, table, street)
    return table


def next_street(felt, table, street):
    cards = (BOARD[:3], BOARD[3:4], BOARD[4:])[street]
    pass_shoe(felt, table, BURNS[street], *cards)
    table.board(*cards, rest=6.0)


def seated(felt, discipline="holdem", *, named=True, **options):
    """Three hands and every card dealt."""
    table = felt.Felt(discipline, 6, unattended="all", **options)
    hands, board = felt.hands(discipline, (1, 2, 5))
    if named:
        table.say("start-hand", seats=[1, 2, 5])
    if discipline == "stud":
        for count in range(3, 8):
            some = {seat: cards[:count] for seat, cards in hands.items()}
            table.deal(some, first=0 if count == 3 else count - 1, rest=8.0)
    else:
        table.deal(hands)
        table.run_out(board)
    return table, hands


def folded(table):
    return [event["seat"] for event in table.events("folded")]


def shown(result):
    return [hand["seat"] for hand in result["hands"]]


def winners(table):
    return [event.get("winner") for event in table.events("hand-ended")]


# A shoe and a muck, and no antenna at any seat


@pytest.mark.parametrize("street", [0, 1, 2, 3])
def test_a_hand_in_the_muck_is_folded_where_only_the_shoe_saw_it(felt, street):
    table = shoe_alone(felt, streets=street)
    table.lay("muck", *HOLDEM[2], rest=4.0)
    assert folded(table) == [2]
    for later in range(street, 3):
        next_street(felt, table, later)
    table.wait(8.0)
    table.say("showdown")
    assert shown(table.showdowns()[0]) == [1, 3]


def test_a_hand_in_the_muck_just_before_the_showdown_is_not_told(felt):
    table = shoe_alone(felt)
    table.lay("muck", *HOLDEM[2], rest=1.0)
    assert table.say("showdown")["waiting"] == [2]
    assert ("showdown-wanted", None) in table.alerts()
    table.lay("muck", *HOLDEM[3], *HOLDEM[1], rest=5.0)
    table.sweep()
    assert (folded(table), table.showdowns(), winners(table)) == ([], [], [])
    table.say("showdown", shown=[1, 3])
    [told] = table.showdowns()
    assert (shown(told), told["mucked"]) == ([1, 3], [2])


def test_the_last_hand_that_nobody_sees_is_no_winner_by_the_muck_alone(felt):
    table = shoe_alone(felt, streets=1)
    table.say("fold", seat=3)
    table.lay("muck", *HOLDEM[2], rest=8.0)
    assert folded(table) == [3, 2]
    assert winners(table) == []
    assert ("showdown-wanted", None) in table.alerts()
    table.say("end-hand")
    assert winners(table) == [None]


def test_a_fold_that_the_floor_types_after_the_muck_ends_the_hand(felt):
    table = shoe_alone(felt, streets=1)
    table.say("fold", seat=3)
    table.lay("muck", *HOLDEM[2], rest=8.0)
    assert table.say("fold", seat=2)["ok"] is False
    table.wait(1.0)
    assert winners(table) == [1]


def test_when_every_hand_is_in_the_muck_and_nobody_sees_the_seats_the_floor_is_asked(felt):
    table = shoe_alone(felt, streets=1)
    table.lay("muck", *HOLDEM[2], *HOLDEM[1], *HOLDEM[3], rest=8.0)
    assert (folded(table), winners(table)) == ([], [])
    assert ("showdown-wanted", None) in table.alerts()


def test_one_hit_of_the_muck_is_no_fold_where_nobody_hears_the_seats(felt):
    table = shoe_alone(felt)
    table.lay("muck", HOLDEM[2][0], rest=0.25)
    table.lift("muck", rest=10.0)
    assert folded(table) == []
    assert table.say("showdown")["waiting"] == [2]


def test_a_showdown_that_came_too_early_for_the_board_stops_folds_by_the_muck(felt):
    table = shoe_alone(felt, streets=1)
    assert table.say("showdown", shown=[1])["ok"] is False
    table.lay("muck", *HOLDEM[2], rest=8.0)
    assert folded(table) == []


# Hands that the dealer collects before the floor has said `showdown`


@pytest.mark.parametrize("wait", [1.0, 3.0], ids=["live", "taken for folded"])
def test_a_hand_collected_before_the_showdown_has_to_be_named(felt, wait):
    table, _ = seated(felt)
    table.throw(1, rest=wait)
    assert folded(table) == ([1] if wait > 2 else [])
    assert table.say("showdown")["waiting"] == [1]
    table.throw(2, rest=1.0)
    table.sweep()
    assert (table.showdowns(), winners(table)) == ([], [])
    table.say("showdown", shown=[1, 2, 5])
    assert shown(table.showdowns()[0]) == [1, 2, 5]
    assert (("fold-taken-back", "seat:1") in table.alerts()) == (wait > 2)


@pytest.mark.parametrize("typed", [True, False])
def test_a_fold_long_before_the_showdown_or_typed_is_not_asked_for(felt, typed):
    table, _ = seated(felt)
    table.throw(1, rest=3.0 if typed else 8.0)
    if typed:
        table.say("fold", seat=1)
    assert "waiting" not in table.say("showdown")
    assert shown(table.showdowns()[0]) == [2, 5]


@pytest.mark.parametrize("command", ["end-hand", None])
def test_the_hand_that_is_left_while_others_are_collected_is_no_winner(felt, command):
    table, _ = seated(felt)
    table.throw(1, rest=2.0)
    table.throw(2, rest=3.0)
    assert folded(table) == [1, 2]
    assert winners(table) == []
    assert table.say("showdown")["waiting"] == [1, 2]
    if command is None:
        table.sweep()
        assert winners(table) == []
    else:
        table.say(command)
        assert winners(table) == [None]


@pytest.mark.parametrize("swept", [False, True])
def test_the_floor_says_who_folded_on_the_river_before_one_wins(felt, swept):
    """Tabled hands may be collected in any order, so that the muck alone does not say it."""
    table, _ = seated(felt)
    table.throw(1, rest=2.0)
    table.throw(2, rest=8.0)
    if swept:
        table.throw(5, rest=1.0)
        table.sweep()
    assert winners(table) == []
    assert ("showdown-wanted" in table.kinds()) == swept
    for seat in (1, 2):
        assert "folded already" in table.say("fold", seat=seat)["error"]
    table.wait(5.0)
    assert winners(table) == [5]


# Nobody at the keyboard


def dealt(felt, discipline, **options):
    """Hands only, before any later street."""
    table = felt.Felt(discipline, 6, unattended="all", **options)
    hands, board = felt.hands(discipline, (1, 2, 5))
    count = 3 if discipline == "stud" else None
    table.deal({seat: cards[:count] for seat, cards in hands.items()}, rest=8.0)
    return table, board


@pytest.mark.parametrize("discipline", ["holdem", "omaha", "stud"])
@pytest.mark.parametrize("pushed", [True, False], ids=["over the muck", "unseen"])
def test_of_two_hands_in_the_muck_the_first_is_not_the_winner(felt, discipline, pushed):
    """The last one had lifted his cards long before, or his antenna was deaf."""
    table, _ = dealt(felt, discipline)
    table.throw(1, rest=6.0)
    gone = table.lift("seat:2", rest=5.0)
    table.throw(5, rest=1.5)
    table.lying["muck"] += sorted(gone) if pushed else []
    table.wait(1.0)
    table.sweep()
    assert folded(table)[0] == 1
    assert winners(table) == []
    assert "showdown-wanted" in table.kinds()


@pytest.mark.parametrize("discipline", ["holdem", "omaha", "stud"])
@pytest.mark.parametrize("taken", [0.5, 2.0])
def test_a_fold_on_the_last_street_is_no_showdown(felt, discipline, taken):
    table, _ = seated(felt, discipline, named=False)
    table.throw(1, rest=6.0)
    table.throw(2, rest=taken)
    table.lift("seat:5", rest=1.0)
    table.sweep()
    assert table.showdowns() == []
    assert winners(table) in ([], [5])
    assert winners(table) or "showdown-wanted" in table.kinds()


@pytest.mark.parametrize("discipline", ["holdem", "omaha", "stud"])
def test_a_hand_heard_in_the_muck_once_is_a_fold_and_the_last_one_wins(felt, discipline):
    table, _ = dealt(felt, discipline)
    table.lying["muck"] += sorted(table.lift("seat:1", rest=0.25))
    table.wait(0.25)
    table.lift("muck", rest=8.0)
    table.throw(2, rest=6.0)
    table.throw(5, rest=1.0)
    table.sweep()
    assert folded(table)[:1] == [1]
    assert winners(table) == [5]


@pytest.mark.parametrize("discipline", ["holdem", "omaha", "stud"])
def test_the_one_who_is_left_wins_or_is_asked_for_when_his_cards_leave(felt, discipline):
    table, _ = seated(felt, discipline, named=False)
    table.throw(1, rest=5.0)
    table.throw(2, rest=5.0)
    assert folded(table) == [1, 2]
    table.lift("seat:5", rest=4.0)
    table.sweep()
    assert winners(table) == [5] or "showdown-wanted" in table.kinds()
    assert table.showdowns() == []


@pytest.mark.parametrize("discipline", ["holdem", "omaha"])
@pytest.mark.parametrize("streets", [0, 2, 3], ids=["flop due", "river due", "none due"])
def test_no_board_card_is_taken_from_a_deck_that_is_shuffled_there(felt, discipline, streets):
    table, board = dealt(felt, discipline)
    for street in (board[:3], board[3:4], board[4:])[:streets]:
        table.board(*street)
    before = table.events("street")
    others = list(felt.deck(1))[20:]
    resting, moving = (others[:1], others[3:]) if streets else (others[:3], others[3:])
    table.lay("board", *resting, rest=0.0)
    for turn in range(24):
        some = [moving[(5 * turn + n) % len(moving)] for n in range(5)]
        table.lay("board", *some, rest=0.25)
        table.lift("board", *some)
    assert table.events("street") == before


@pytest.mark.parametrize("discipline", ["holdem", "omaha", "stud"])
def test_a_misdeal_that_is_gathered_does_not_swallow_the_next_deal(felt, discipline):
    table = felt.Felt(discipline, 6)
    table.say("start-hand", seats=[1, 2, 5])
    table.deal({1: ["As"], 2: ["Kd"]})
    table.sweep()
    hands, _ = felt.hands(discipline, (1, 2, 5))
    table.deal({seat: cards[:3] for seat, cards in hands.items()}, rest=8.0)
    assert len(table.events("hand-started")) == 2
    assert table.counts() == {seat: len(cards[:3]) for seat, cards in hands.items()}


# A seat whose antenna is deaf, nobody at the keyboard


def folded_round(felt, table, discipline, seed, *, early=0, late=0):
    """Cards for three seats, two folds over the muck, and the last one's cards leave his antenna.

    So many cards that no antenna ever heard come to the muck before them, or after.
    """
    hands, _ = felt.hands(discipline, (1, 2, 5), seed)
    name = ("red", "blue")[seed % 2]
    spare = list(felt.deck(seed))[-8:]
    table.deal(
        {seat: cards[: DEAF[discipline]] for seat, cards in hands.items()}, deck=name, rest=8.0
    )
    table.lay("muck", *spare[:early], deck=name, rest=3.0)
    for seat in (1, 2):
        table.throw(seat, rest=5.0)
    table.lift("seat:5", rest=1.0)
    table.lay("muck", *spare[early : early + late], deck=name, rest=3.0)
    table.sweep()


DEAF = {"holdem": 2, "omaha": 4, "stud": 3}


@pytest.mark.parametrize("discipline", ["holdem", "omaha", "stud"])
def test_25_an_unread_hand_leaves_no_winner_and_a_silent_antenna_suspected(felt, discipline):
    table = felt.Felt(discipline, 6, unattended="all")
    for seed in range(4):
        folded_round(felt, table, discipline, seed, late=DEAF[discipline])
    assert [winner for winner in winners(table) if winner] == []
    assert table.alerts().count(("showdown-wanted", None)) == 4
    [(_, zone)] = [each for each in table.alerts() if each[0] == "antenna-deaf"]
    assert zone == "seat:3, seat:4, seat:6"


@pytest.mark.parametrize("discipline", ["holdem", "omaha", "stud"])
def test_a_suspicion_that_is_open_leaves_no_winner_until_hands_were_all_read(felt, discipline):
    table = felt.Felt(discipline, 6, unattended="all")
    for seed in range(2):
        folded_round(felt, table, discipline, seed, late=DEAF[discipline])
    since = table.t
    for seed in range(2, 9):
        folded_round(felt, table, discipline, seed)
    told = [event.get("winner") for event in table.events("hand-ended", since=since)]
    assert told[-2:] == [5, 5]
    assert [winner for winner in told if winner] == [5, 5]


@pytest.mark.parametrize("discipline", ["holdem", "omaha"])
def test_burns_in_the_muck_are_no_unread_hand(felt, discipline):
    table = felt.Felt(discipline, 6, unattended="all")
    for seed in range(3):
        hands, board = felt.hands(discipline, (1, 2, 5), seed)
        name, spare = ("red", "blue")[seed % 2], [*felt.deck(seed)][-2:]
        table.deal(hands, deck=name, rest=8.0)
        for burn, street in zip(spare, (board[:3], board[3:4]), strict=True):
            table.lay("muck", burn, deck=name, rest=1.0)
            table.board(*street, deck=name)
        for seat in (1, 2):
            table.throw(seat, rest=5.0)
        table.sweep()
    assert winners(table) == [5, 5, 5]
    assert "antenna-deaf" not in table.kinds()


def test_13_one_who_folds_unread_is_no_deaf_seat(felt):
    table = felt.Felt("holdem", 6, unattended="all")
    folded_round(felt, table, "holdem", 0)
    hands, _ = felt.hands("holdem", (1, 2, 5), 1)
    table.deal({seat: hands[seat] for seat in (1, 5)}, deck="blue", rest=8.0)
    table.lay("muck", *hands[2], deck="blue", rest=3.0)
    table.throw(1, rest=5.0)
    table.sweep()
    for seed in (2, 3):
        folded_round(felt, table, "holdem", seed)
    assert winners(table) == [5, 5, 5, 5]
    assert "antenna-deaf" not in table.kinds()


# Cards of one seat that only its neighbour hears


@pytest.mark.parametrize("discipline", ["holdem", "omaha", "stud"])
@pytest.mark.parametrize("read", [True, False], ids=["partly read", "unread"])
def test_a_seat_that_was_never_dealt_in_does_not_fold(felt, discipline, read):
    """The player of seat 2 holds his cards up so far over that seat 3 hears one of them."""
    table = felt.Felt(discipline, 6, unattended="all")
    folded_round(felt, table, discipline, 0)
    since = table.t
    hands, _ = felt.hands(discipline, (1, 2, 5), 1)
    hands = {seat: own[:3] if discipline == "stud" else own for seat, own in hands.items()}
    own = hands.pop(2)
    table.deal(hands | {3: own[:1]} | ({2: own[1:]} if read else {}), deck="blue", rest=8.0)
    table.throw(3, rest=0.0)
    table.throw(2, rest=6.0)
    table.throw(1, rest=6.0)
    assert 3 not in [event["seat"] for event in table.events("folded", since=since)]
    assert 1 in [event["seat"] for event in table.events("folded", since=since)]
    table.lift("seat:5", rest=1.0)
    table.sweep()
    assert 3 not in [event["seat"] for event in table.events("folded", since=since)]


def test_a_seat_of_which_a_card_was_not_read_folds_where_no_neighbour_lacks_one(felt):
    table = felt.Felt("holdem", 6, unattended="all")
    hands, _ = felt.hands("holdem", (1, 2, 4, 5))
    table.deal(hands | {2: hands[2][:1]}, rest=8.0)
    table.throw(2, rest=6.0)
    assert folded(table) == [2]


@pytest.mark.parametrize("discipline", ["holdem", "omaha", "stud"])
@pytest.mark.parametrize("rest", [0.25, 0.5, 2.0])
def test_cards_of_a_void_deal_begin_no_hand_and_may_be_dealt_again(felt, discipline, rest):
    table = felt.Felt(discipline, 6)
    table.say("start-hand", seats=[1, 2, 5])
    hands, _ = felt.hands(discipline, (1, 2, 5))
    for seat, cards in hands.items():
        table.lay(f"seat:{seat}", cards[0], rest=0.0)
    table.wait(rest)
    table.say("void-hand", reason="misdeal")
    table.wait(3.0)
    table.sweep()
    assert len(table.events("hand-started")) == 1
    table.deal({seat: cards[:3] for seat, cards in hands.items()}, rest=8.0)
    assert len(table.events("hand-started")) == 2
    assert table.counts() == {seat: len(cards[:3]) for seat, cards in hands.items()}
