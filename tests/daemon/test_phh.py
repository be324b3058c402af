from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from daemon.errors import FeltdError
from daemon.phh import UIDS, inputs

HANDS = sorted((Path(__file__).parents[1] / "hands").glob("*.phh"))
FACES = {uid: card for card, uid in UIDS.items()}


def phh(tmp_path, actions, variant="NT", players=3):
    path = tmp_path / "hand.phh"
    path.write_text(
        f"variant = '{variant}'\nstarting_stacks = {[100] * players}\nactions = {actions}\n"
    )
    return path


def commands(hand):
    return [line["command"] for line in hand.lines if "command" in line]


def arrivals(hand):
    """Zone and card of each first look at a place, in order of time."""
    found: list[tuple[str, str]] = []
    for line in hand.lines:
        for uid in line.get("tags", ()):
            place = (hand.zones[f"{line['reader']}/{line['antenna']}"], FACES[uid])
            if place not in found:
                found.append(place)
    return found


@pytest.mark.parametrize("path", HANDS, ids=lambda path: path.stem)
def test_every_card_arrives_where_and_in_the_order_it_was_dealt(path):
    actions = tomllib.loads(path.read_text())["actions"]
    expected: list[tuple[str, str]] = []
    hands: dict[str, int] = {}
    stud = "F7S" in path.name
    for action in actions:
        if action.startswith("d db"):
            text = action.split()[2]
            expected += [("board", text[n : n + 2]) for n in range(0, len(text), 2)]
        elif action.startswith("d dh"):
            _, _, player, card = action.split()
            hands[player] = hands.get(player, 0) + 1
            up = ":up" if stud and 3 <= hands[player] <= 6 else ""
            expected.append((f"seat:{player[1:]}{up}", card))
    known = [place for place in expected if place[1] != "??"]
    seen = arrivals(inputs(path))
    assert [place for place in seen if place[0] not in {"muck", "burn"}] == known
    burnt = [card for zone, card in seen if zone == "burn"]
    assert len(burnt) == len(set(burnt))
    assert not {card for _, card in known} & set(burnt)


@pytest.mark.parametrize("path", HANDS, ids=lambda path: path.stem)
def test_folds_pass_the_muck_and_shown_hands_have_a_showdown(path):
    actions = tomllib.loads(path.read_text())["actions"]
    hand = inputs(path)
    folded = {int(each.split()[0][1:]) for each in actions if each.endswith(" f")}
    bare = {int(each.split()[0][1:]) for each in actions if each.endswith(" sm")}
    mucked = {card for zone, card in arrivals(hand) if zone == "muck"}
    dealt: dict[int, set[str]] = {}
    for action in actions:
        if action.startswith("d dh"):
            dealt.setdefault(int(action.split()[2][1:]), set()).add(action.split()[3])
    assert mucked == set().union(*(dealt[seat] for seat in folded | bare)) - {"??"}
    told = {each["seat"] for each in commands(hand) if each["type"] == "fold"}
    assert told == {seat for seat in folded if dealt[seat] == {"??"}}
    shown = {int(each.split()[0][1:]) for each in actions if " sm " in each}
    showdowns = [each["shown"] for each in commands(hand) if each["type"] == "showdown"]
    assert showdowns == ([sorted(shown)] if shown else [])


@pytest.mark.parametrize("path", HANDS, ids=lambda path: path.stem)
def test_time_runs_on_and_the_table_is_clear_at_both_ends(path):
    hand = inputs(path)
    times = [line["t"] for line in hand.lines if "t" in line]
    assert times == sorted(times)
    looks = [line for line in hand.lines if "tags" in line]
    count = len(hand.zones)
    assert not any(line["tags"] for line in looks[:count] + looks[-10 * count :])
    start, *_, end = commands(hand)
    assert (start["type"], end["type"]) == ("start-hand", "end-hand")
    assert start["seats"] == list(range(1, hand.seats + 1))
    assert start.get("button") == (None if hand.discipline == "stud" else hand.seats)


def test_burns_come_before_each_street(tmp_path):
    deals = ["d dh p1 AsKs", "d dh p2 2c2d", "d db QsJsTs", "d db 3c", "d db 3d"]
    hand = inputs(phh(tmp_path, deals, players=2))
    zones = [zone for zone, _ in arrivals(hand)]
    assert zones[4:] == ["burn", *["board"] * 3, "burn", "board", "burn", "board"]


def test_hands_tabled_before_the_last_deal_are_shown():
    hand = inputs(next(path for path in HANDS if "54-4-06" in path.name))
    kinds = [(each["type"], each.get("seats", each.get("shown"))) for each in commands(hand)]
    assert kinds[1:-1] == [("show", [4]), ("show", [5]), ("showdown", [4, 5])]


def test_a_bare_muck_in_mid_hand_is_a_fold(tmp_path):
    deals = ["d dh p1 AsKs", "d dh p2 2c2d", "d dh p3 4c4d", "p1 sm", "d db QsJsTs"]
    hand = inputs(phh(tmp_path, deals))
    assert ("muck", "As") in arrivals(hand)
    assert ("muck", "2c") not in arrivals(hand)


def test_unheard_cards_that_are_shown_are_typed_privately(tmp_path):
    deals = ["d dh p1 ????", "d dh p2 2c2d", "d db QsJsTs", "d db 3c", "d db 3d"]
    hand = inputs(phh(tmp_path, [*deals, "p1 sm AsKs", "p2 sm"], players=2))
    typed = [line for line in hand.lines if line.get("private")]
    assert [(line["command"]["card"], line["command"]["index"]) for line in typed] == [
        ("As", 0),
        ("Ks", 1),
    ]


def test_comments_are_no_actions(tmp_path):
    hand = inputs(phh(tmp_path, ["# dealt at noon", "d dh p1 AsKs # the button", "p1 f"]))
    assert ("seat:1", "As") in arrivals(hand)


def test_a_common_card_in_stud_lies_on_the_board(tmp_path):
    deals = ["d dh p1 AsKsQs", "d dh p2 2c2d2h", "d db 3c"]
    hand = inputs(phh(tmp_path, deals, variant="F7S", players=2))
    assert ("board", "3c") in arrivals(hand)


@pytest.mark.parametrize(
    ("actions", "error"),
    [
        (["d dh p9 AsKs"], "action 1 (d dh p9 AsKs): no such player"),
        (["d dh p1 AsXs"], "action 1 (d dh p1 AsXs): 'Xs' is not a card"),
        (["d dh p1 AsK"], "action 1 (d dh p1 AsK): 'K' is not a card"),
        (["d dh p1 As", "d dh p2 As"], "action 2 (d dh p2 As): As was dealt before"),
        (["d dh p1 As", "p1 jumps"], "action 2 (p1 jumps): not an action of PHH"),
        (["d dh p1 As", "p1 f", "p1 cc"], "action 3 (p1 cc): the hand is folded"),
        (["d dh p1 As", "p1 f", "p1 sm As"], "action 3 (p1 sm As): the hand is folded"),
    ],
)
def test_errors_are_one_line_that_names_file_and_action(tmp_path, actions, error):
    path = phh(tmp_path, actions)
    with pytest.raises(FeltdError) as caught:
        inputs(path)
    assert str(caught.value) == f"{path}: {error}"


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("variant = 'KP'", "variant 'KP' is none of FT, NT, PO, FO/8, F7S, F7S/8"),
        ("variant = 'NT'", "starting_stacks or actions is missing"),
        (
            "variant = 'NT'\nstarting_stacks = [1]\nactions = []",
            "starting_stacks: 1 players at holdem",
        ),
        ("variant = ", "not TOML: Invalid value (at end of document)"),
    ],
)
def test_a_file_that_is_no_hand(tmp_path, text, error):
    path = tmp_path / "hand.phh"
    path.write_text(text)
    with pytest.raises(FeltdError) as caught:
        inputs(path)
    assert str(caught.value) == f"{path}: {error}"


def test_a_missing_file(tmp_path):
    with pytest.raises(FeltdError, match="No such file"):
        inputs(tmp_path / "none.phh")
