"""Looks that mean two things: burns beside the board, piles beside a seat, hands never read."""

from __future__ import annotations

import pytest

SEATS = (1, 2, 5)
DISCIPLINES = ("holdem", "omaha", "stud")


def dealt(felt, discipline="holdem", **options):
    """Three hands, all down cards or the whole third street out."""
    options = {"unattended": "all"} | options
    table, (hands, board) = felt.Felt(discipline, 6, **options), felt.hands(discipline, SEATS)
    first = {seat: cards[: 3 if discipline == "stud" else None] for seat, cards in hands.items()}
    table.deal(first, rest=10.0)
    return table, hands, board


def spare(felt, hands, board):
    """Cards of the deck that are neither dealt nor on the board."""
    used = {*board, *(card for cards in hands.values() for card in cards)}
    return [card for card in felt.deck(9) if card not in used]


def streets(table):
    return [(event["street"], event["cards"]) for event in table.events("street")]


def winners(table):
    return [event.get("winner") for event in table.events("hand-ended")]


@pytest.mark.parametrize("share", [0.1, 0.2])
@pytest.mark.parametrize("seed", range(4))
def test_a_burn_that_the_board_hears_now_and_then_is_no_turn(felt, share, seed):
    table, hands, board = dealt(felt, seed=seed)
    burn = spare(felt, hands, board)[0]
    table.board(*board[:3])
    table.lying.setdefault("nowhere", []).append(felt.UIDS[f"red-{burn}"])
    table.overhear("board", burn, share)
    table.wait(30.0)
    table.board(board[3], rest=8.0)
    told = [cards for _, cards in streets(table)]
    assert all(burn not in cards for cards in told)
    assert [board[3]] in told or table.kinds() & {"extra-board-card", "missing-card"}


def test_a_burn_laid_right_after_the_flop_is_no_turn(felt):
    table, hands, board = dealt(felt)
    burn = spare(felt, hands, board)[0]
    table.board(*board[:3], rest=1.25)
    table.board(burn, rest=20.0)
    table.board(board[3], rest=12.0)
    assert burn not in [card for _, cards in streets(table) for card in cards]
    assert table.kinds() & {"extra-board-card", "missing-card"}


def test_a_flop_of_which_a_card_is_lost_for_a_while_is_told(felt):
    table, _, board = dealt(felt)
    table.lay("board", *board[:3], rest=0.75)
    table.lift("board", board[1], rest=5.0)
    table.lay("board", board[1], rest=8.0)
    assert {*streets(table)[-1][1]} == {*board[:3]}


def test_a_hand_that_rests_on_the_board_on_its_way_to_the_muck_is_no_flop(felt):
    """Four cards of Omaha that no seat had; one reaches the muck before the others."""
    table, hands, board = dealt(felt, "omaha")
    thrown = spare(felt, hands, board)[:4]
    table.lay("board", *thrown, rest=4.0)
    table.lift("board", thrown[0])
    table.lay("muck", thrown[0], rest=3.0)
    table.lift("board", rest=0.5)
    table.lay("muck", *thrown[1:], rest=5.0)
    table.board(*board[:3], rest=6.0)
    assert [cards for _, cards in streets(table)] == [[], board[:3]]


@pytest.mark.parametrize("discipline", DISCIPLINES)
def test_a_pile_that_a_seat_overhears_makes_no_foul_deck(felt, discipline):
    table, hands, _ = dealt(felt, discipline)
    pile = list(felt.deck(5))
    for card in pile:
        table.overhear("seat:5", card, 0.02, deck="blue")
    table.lay("seat:6", *pile, deck="blue", rest=20.0)
    table.lift("seat:6", rest=8.0)
    for seat in SEATS[:2]:
        table.throw(seat, rest=5.0)
    table.sweep()
    assert winners(table) == [5]
    assert len(hands) == 3


@pytest.mark.parametrize("unread", [1, 2])
def test_two_hands_that_nobody_read_and_one_of_them_in_the_muck(felt, unread):
    """Where both were there in the last hand, the other one may still be in play."""
    table = felt.Felt("omaha", 6, unattended="all")
    for deck, seats in (("red", (1, 2, 3, 5)), ("blue", (1, 2, 3, 5)[:-unread])):
        hands, _ = felt.hands("omaha", (1, 2, 3, 5))
        table.deal({seat: hands[seat] for seat in seats}, deck=deck, rest=10.0)
        if deck == "blue":
            table.lay("muck", *hands[5], deck=deck, rest=3.0)
        for seat in seats[:-1]:
            table.throw(seat, rest=5.0)
        table.sweep()
    assert winners(table) == ([5, 3] if unread == 1 else [5, None][:1] + winners(table)[1:])
    if unread == 2:
        assert winners(table)[1:] in ([], [None])
        assert "showdown-wanted" in table.kinds()


@pytest.mark.parametrize("unattended", ["ask", "all"])
@pytest.mark.parametrize("discipline", DISCIPLINES[:2])
def test_who_is_left_after_the_last_card_is_asked_for(felt, discipline, unattended):
    """Hands are collected in any order; only with `all` is the muck believed."""
    table, _, board = dealt(felt, discipline, unattended=unattended)
    table.run_out(board)
    for seat in SEATS[:2]:
        table.throw(seat, rest=8.0)
    table.sweep()
    assert winners(table) == ([5] if unattended == "all" else [])
    assert ("showdown-wanted" in table.kinds()) == (unattended == "ask")


def test_hands_that_lay_off_their_antennas_before_the_muck_were_perhaps_shown(felt):
    table, _, board = dealt(felt)
    table.run_out(board)
    gone = table.lift("seat:1", rest=7.0)
    table.lying["muck"] += sorted(gone)
    table.wait(6.0)
    table.throw(2, rest=8.0)
    table.sweep()
    assert 1 not in [event["seat"] for event in table.events("folded")]
    assert winners(table) in ([], [None])
    assert "showdown-wanted" in table.kinds()


def test_hands_tabled_for_a_board_that_was_taken_up_hold_up_no_other_hand(felt):
    table, hands, board = dealt(felt)
    table.board(*board[:3])
    assert table.say("show", seats=list(SEATS))["ok"]
    for seat in SEATS:
        table.lift(f"seat:{seat}")
    table.wait(20.0)
    assert "showdown-wanted" not in table.kinds()
    table.sweep(rest=12.0)
    assert "showdown-wanted" in table.kinds()
    again, _ = felt.hands("holdem", SEATS, seed=4)
    table.deal(again, rest=8.0)
    assert len(table.events("hand-started")) == 2
    public = " ".join(payload.decode() for t, _, payload in table.public() if t > table.t - 8.0)
    shown = {card for cards in hands.values() for card in cards}
    fresh = {card for cards in again.values() for card in cards} - shown
    assert not [card for card in fresh if f'"{card}"' in public]


def up_table(felt):
    return felt.Felt("stud", 4, zones=felt.zones(4, up=True), unattended="all")


def test_a_down_card_that_the_up_antenna_hears_better_is_not_told(felt):
    """The seat's other down card is heard there as well, so that the antenna says little."""
    table, (hands, _) = up_table(felt), felt.hands("stud", (1, 2, 3), count=3)
    table.overhear("seat:1:up", hands[1][0], 0.6)
    table.lay("seat:1", hands[1][0], rest=2.0)
    table.lay("seat:1:up", hands[1][1], rest=3.0)
    assert not [event for event in table.events("card-dealt") if "card" in event]


def test_cards_that_fly_over_the_up_antenna_of_a_seat_that_folded_are_not_told(felt):
    table, (hands, _) = up_table(felt), felt.hands("stud", (1, 2, 3), count=3)
    table.deal({seat: cards[:2] for seat, cards in hands.items()}, rest=0.0)
    for seat, cards in hands.items():
        table.lay(f"seat:{seat}:up", cards[2])
    table.wait(8.0)
    fold = [table.lift(f"seat:1{part}") for part in ("", ":up")]
    table.lying["muck"] += sorted(set.union(*fold))
    table.wait(6.0)
    told = len([event for event in table.events("card-dealt") if "card" in event])
    table.lift("seat:2", *hands[2][:2])
    table.lay("seat:1:up", *hands[2][:2], rest=6.0)
    assert len([event for event in table.events("card-dealt") if "card" in event]) == told == 3


@pytest.mark.parametrize("discipline", DISCIPLINES)
def test_a_shoe_that_follows_nobodys_hand_asks_once_the_board_is_taken_up(felt, discipline):
    where = {"rail/1": "board", "rail/2": "muck", "shoe/1": "shoe"}
    table = felt.Felt(discipline, 6, zones=where, unattended="all")
    for deck in ("red", "red"):
        cards = list(felt.deck(3 if table.events("hand-started") else 1))
        for card in cards[:6]:
            table.feed(reader="shoe", antenna=1, tags=[felt.UIDS[f"{deck}-{card}"]])
            table.wait(0.75)
        table.wait(10.0)
        for card in cards[6:11]:
            table.feed(reader="shoe", antenna=1, tags=[felt.UIDS[f"{deck}-{card}"]])
            table.lay("board", card, deck=deck, rest=2.0)
        table.wait(5.0)
        table.sweep(rest=15.0)
    assert len(table.events("hand-started")) == 2
    assert [kind for kind, _ in table.alerts()].count("showdown-wanted") == 2
    assert table.showdowns() == []
