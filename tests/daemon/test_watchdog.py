"""Tabled hands compared with what is then done, and what is suspicious over several hands."""

from __future__ import annotations

import json

import pytest

from daemon.noise import garbled
from daemon.rules.profile import PRESETS

WINS, TIES, LOSES = ["As", "Ah"], ["Ad", "Ac"], ["7d", "2c"]
BOARD = ["Kh", "Qd", "8s", "5h", "3c"]
SPLIT = {1: WINS, 3: TIES, 5: LOSES}
ALONE = {1: WINS, 3: ["Kd", "Jc"], 5: LOSES}


def at_the_river(felt, hands, shown=None, **options):
    table = felt.Felt("holdem", 6, **options)
    table.say("start-hand", seats=[*hands])
    table.deal(hands)
    table.run_out(BOARD)
    assert table.say("showdown", **({"shown": shown} if shown else {}))["ok"]
    table.wait(1.0)
    return table


def mismatches(table):
    return [zone for kind, zone in table.alerts() if kind == "ruling-mismatch"]


@pytest.mark.parametrize(
    ("hands", "pots", "left_out"),
    [
        (SPLIT, [[1, 3, 5]], []),
        (SPLIT, [[1, 3]], []),
        (SPLIT, [[1]], ["seat:3"]),
        (SPLIT, [[5]], ["seat:1", "seat:3"]),
        (ALONE, [[1, 3, 5], [3, 5]], []),
        (ALONE, [[3, 5], [3]], ["seat:1"]),
    ],
)
def test_26_pots_that_leave_a_winner_out(felt, hands, pots, left_out):
    table = at_the_river(felt, hands)
    body = [{"amount": 100, "seats": seats} for seats in pots]
    assert table.say("pots", pots=body, chip=5)["ok"]
    assert mismatches(table) == left_out
    table.wait(5.0)
    assert mismatches(table) == left_out
    assert table.events("hand-ended") == []


@pytest.mark.parametrize("hands", [SPLIT, ALONE])
@pytest.mark.parametrize("wait", [3.0, 30.0])
def test_26_a_winner_whose_cards_are_mucked_before_the_losers(felt, hands, wait):
    table = at_the_river(felt, hands)
    table.throw(1, rest=wait)
    assert mismatches(table) == ["seat:1"]


@pytest.mark.parametrize("hands", [SPLIT, ALONE])
def test_the_losers_are_mucked_first_and_then_everything(felt, hands):
    table = at_the_river(felt, hands)
    for seat in sorted(hands, reverse=True):
        table.throw(seat, rest=3.0)
    table.sweep()
    assert mismatches(table) == []
    assert len(table.events("hand-ended")) == 1


@pytest.mark.parametrize("board", [[], BOARD[:3], BOARD])
def test_a_tabled_hand_is_folded_only_when_it_is_beaten(felt, board):
    table = felt.Felt("holdem", 6)
    table.say("start-hand", seats=[1, 3, 5])
    table.deal(ALONE)
    for street in (board[:3], board[3:4], board[4:]):
        if street:
            table.board(*street)
    table.say("show", seats=[1, 5])
    table.wait(1.0)
    assert table.say("fold", seat=5)["ok"]
    assert mismatches(table) == ([] if len(board) == 5 else ["seat:5"])
    assert table.say("fold", seat=1)["ok"]
    assert mismatches(table)[-1] == "seat:1"


@pytest.mark.parametrize("floor", [False, True])
def test_a_better_hand_that_was_never_shown_is_the_floors_business_alone(felt, floor):
    told = []
    for hands in (ALONE, ALONE | {1: ["4s", "6d"]}):
        table = at_the_river(felt, hands, shown=[3, 5], floor=floor)
        table.wait(5.0)
        table.sweep()
        told.append([(t, topic, body) for t, topic, body in table.public()])
        notes = [note["zone"] for note in table.told("floor", private=True)]
        assert notes == (["seat:1"] if floor and hands is ALONE else [])
        assert mismatches(table) == []
    assert told[0] == told[1]


@pytest.mark.parametrize("preset", ["tda", "rrop"])
def test_an_alert_brings_rule_and_remedy_of_the_profile(felt, preset):
    table = felt.Felt("holdem", 6, profile=PRESETS[preset])
    table.say("start-hand", seats=[1, 3])
    table.deal({1: WINS, 3: LOSES})
    table.board(*BOARD[:4], rest=8.0)
    [told] = [body for body in table.told("alert") if body["kind"] == "extra-board-card"]
    assert {"en", "ru"} == set(told["remedy"])
    words = {"tda": "scramble", "rrop": "eshuffle"}[preset]
    assert words in told["remedy"]["en"].replace("Scramble", "scramble")
    assert told["rule"]


def test_a_sixth_card_has_no_remedy_of_the_flop(felt):
    table = at_the_river(felt, ALONE)
    table = felt.Felt("holdem", 6)
    table.say("start-hand", seats=[1, 3])
    table.deal({1: WINS, 3: LOSES})
    table.run_out(BOARD)
    table.board("9s", rest=8.0)
    [told] = [body for body in table.told("alert") if body["kind"] == "extra-board-card"]
    assert "remedy" not in told


def play(table, hands, board):
    table.say("start-hand", seats=[*hands])
    table.deal(hands, gap=0.25)
    table.run_out(board)
    table.say("end-hand")
    table.sweep()


@pytest.mark.parametrize("zone", ["seat:3", "seat:1", "board"])
def test_25_an_antenna_that_never_hears_a_card_is_suspected(felt, zone):
    where = felt.zones(6, board=2)
    table = felt.Felt("holdem", 6, zones=where)
    silent = next(a for a, covered in where.items() if covered == zone)
    table.look = lambda antenna, zone: (
        felt.Felt.look(table, antenna, zone)
        if antenna != silent
        else table.feed(reader="rail", antenna=int(silent[5:]), tags=[])
    )
    for seed in range(6):
        hands, board = felt.hands("holdem", (1, 3, 5), seed)
        play(table, hands, board)
        told = [kind for kind, _ in table.alerts() if kind == "antenna-deaf"]
        assert len(told) == (seed >= 2)
    assert ("antenna-deaf", zone) in table.alerts()


def test_an_antenna_whose_players_fold_unread_now_and_then_is_not_suspected(felt):
    table = felt.Felt("holdem", 6, miss=0.3)
    for seed in range(6):
        hands, board = felt.hands("holdem", (1, 3, 5), seed)
        play(table, hands if seed % 3 == 2 else {1: hands[1], 3: hands[3], 5: []}, board)
    assert not {"antenna-deaf", "reader-silent", "worn-tag"} & table.kinds()


def test_a_reader_that_hears_nothing_at_any_antenna_is_told_as_one(felt):
    where = felt.zones(6)
    where = {("far/" + a[5:] if int(a[5:]) in {4, 5, 6} else a): z for a, z in where.items()}
    table = felt.Felt("holdem", 6, zones=where)
    table.deaf = {"seat:4", "seat:5", "seat:6"}
    for seed in range(4):
        hands, board = felt.hands("holdem", (1, 3, 4, 5), seed)
        play(table, hands, board)
    assert [alert for alert in table.alerts() if alert[0] == "reader-silent"] == [
        ("reader-silent", "far")
    ]
    assert "antenna-deaf" not in table.kinds()


def test_a_worn_tag_names_its_deck_once_and_never_the_card(felt):
    table = felt.Felt("holdem", 6, miss=0.05)
    worn = felt.UIDS["red-7d"]
    overheard = table._overheard

    def weak(zone):
        if worn in table.lying[zone] and table.random.random() < 0.65:
            table.lying[zone].remove(worn)
            table.hidden = zone
        return overheard(zone)

    def look(antenna, zone):
        felt.Felt.look(table, antenna, zone)
        if getattr(table, "hidden", None) == zone:
            table.lying[zone].append(worn)
            table.hidden = None

    table._overheard, table.look = (lambda zone: (weak(zone), [])[1]), look
    for _ in range(8):
        table.say("start-hand", seats=[1, 3, 5])
        table.deal(ALONE, gap=0.25, rest=30.0)
        table.run_out(BOARD)
        table.say("end-hand")
        table.sweep()
    told = [body for body in table.told("alert") if body["kind"] == "worn-tag"]
    assert len(told) == 1
    text = json.dumps(told[0])
    assert "red" in text
    assert worn not in text
    assert "7d" not in text


@pytest.mark.parametrize(
    ("tag", "noise"),
    [
        ("0000000000000000", True),
        ("040150000310A400", True),
        ("00E0040150000310", True),
        ("E0040150000310A4", False),
        ("E004015000041DFF", False),
        ("04A2245B7C1180", False),
        ("00", True),
    ],
)
def test_only_shifted_bytes_and_zeros_are_noise(tag, noise):
    assert garbled(tag, ["E0040150000310A4"]) == noise
