from __future__ import annotations

import statistics
from itertools import pairwise

import pytest

from drivers.sim.layout import Layout
from drivers.sim.table import simulate


def hands(discipline="holdem", level="field", seed=1, count=8, **options):
    return list(simulate(discipline, level, seed, count, **options))


def test_the_clean_level_hears_every_resting_card():
    for hand in hands("holdem", "clean", 9, 12, commands=True):
        heard = {uid for line in hand.lines for uid in line.get("tags", ())}
        caught = {f.seat for f in hand.truth.folds if not f.read}
        for each in hand.truth.dealt:
            assert each.uid in heard or each.zone == "burn" or each.seat in caught


def _share_missed(level):
    seen = expected = 0
    for hand in hands("holdem", level, 6, 12, layout=Layout(board=1)):
        board = {each.uid: each.at for each in hand.truth.dealt if each.zone == "board"}
        gone = {e.uid: e.t for e in hand.script.events if e.action == "lift" and e.zone == "board"}
        number = hand_antenna("board")
        for line in hand.lines:
            if line.get("antenna") != number:
                continue
            for uid, at in board.items():
                if at < line["t"] < gone[uid] - 4.0:
                    expected += 1
                    seen += uid in line["tags"]
    return 1 - seen / expected


def hand_antenna(zone):
    return Layout(board=1).zones().index(zone) + 1


def test_tags_are_missed_as_often_as_the_level_says():
    assert _share_missed("clean") == 0.0
    assert 0.04 < _share_missed("field") < 0.08
    assert 0.29 < _share_missed("harsh") < 0.40


@pytest.mark.parametrize(("level", "share"), [("clean", 0.0), ("field", 0.004), ("harsh", 0.03)])
def test_neighbours_overhear_as_often_as_the_level_says(level, share):
    ghosts = chances = far = 0
    layout = Layout(board=1)
    zones = layout.zones()
    for hand in hands("holdem", level, 11, 15, layout=layout, players=3):
        home = {each.uid: each.seat for each in hand.truth.dealt if each.seat}
        for line in hand.lines:
            if "tags" not in line or not zones[line["antenna"] - 1].startswith("seat:"):
                continue
            seat = int(zones[line["antenna"] - 1].split(":")[1])
            for uid in line["tags"]:
                if uid not in home or home[uid] == seat:
                    chances += home.get(uid) == seat
                else:
                    ghosts += abs(home[uid] - seat) == 1
                    far += abs(home[uid] - seat) > 1
    assert ghosts / chances <= share * 3
    assert (ghosts > 0) == (share > 0)
    assert far <= chances / 500


def test_garbled_tags_come_at_the_harsh_level_only_now_and_then():
    session = simulate("holdem", "harsh", 1, 30)
    known = {uid for deck in session.decks for uid in deck.uids.values()}
    looks = strange = 0
    for hand in session:
        for line in hand.lines:
            if "tags" in line:
                looks += 1
                strange += any(uid not in known for uid in line["tags"])
    assert 0 < strange / looks < 0.002


def test_the_muck_hears_two_cards_about_once_a_second():
    for hand in hands("holdem", "clean", 12, 5):
        number = max(line["antenna"] for line in hand.lines if "tags" in line)
        looks = [line for line in hand.lines if line.get("antenna") == number]
        assert all(len(line["tags"]) <= 2 for line in looks)
        assert all(line.get("partial", False) == (len(line["tags"]) == 2) for line in looks)
        gaps = [b["t"] - a["t"] for a, b in pairwise(looks)]
        assert 0.7 < statistics.mean(gaps) < 1.3


def test_the_brutal_level_has_its_faults_and_says_so():
    kinds = {
        fault.kind
        for seed in range(2)
        for hand in hands("holdem", "brutal", seed, 40)
        for fault in hand.truth.faults
    }
    assert kinds == {"crossed", "antenna-deaf", "reader-lost", "reader-silent", "unheard-card"}


def test_two_tag_readers_hear_two_tags():
    layout = Layout(rail="pn532", board=4)
    for hand in hands("omaha", "clean", 5, 3, layout=layout):
        looks = [line for line in hand.lines if "tags" in line]
        assert max(len(line["tags"]) for line in looks) == 2
        assert {line["antenna"] for line in looks} == {1}
        assert all(len(uid) == 14 for line in looks for uid in line["tags"])


def test_a_table_with_nothing_but_a_shoe_lives_through_the_brutal_level():
    layout = Layout(antennas=False, board=0, muck=False, shoe=True)
    looks = cards = 0
    for hand in hands("holdem", "brutal", 3, 30, layout=layout, commands=True):
        looks += sum(line.get("tags") != [] and "tags" in line for line in hand.lines)
        cards += len(hand.truth.dealt)
    assert 0.8 * cards < looks < cards


def test_burns_are_heard_by_a_burn_antenna_only():
    for burn in (False, True):
        layout = Layout(burn=burn)
        for hand in hands("holdem", "clean", 4, 6, layout=layout):
            before = [line for line in hand.lines if line["t"] < hand.truth.ends - 8.0]
            heard = {uid for line in before for uid in line.get("tags", ())}
            burnt = {each.uid for each in hand.truth.dealt if each.zone == "burn"}
            assert burnt & heard == (burnt if burn else set())
            assert bool(set(hand.truth.burns) & set(hand.truth.unheard)) == (
                not burn and burnt != set()
            )


def test_the_floor_types_unheard_cards_on_the_private_topic():
    typed = 0
    for script in simulate("omaha", "brutal", 2, 60, commands=True, typing=True).scripts():
        truth = script.truth
        unheard = {each.place for each in truth.faults if each.kind == "unheard-card"}
        for said in script.said:
            assert said.private == (said.body["type"] == "card")
            if said.private:
                typed += 1
                [card] = [each for each in truth.dealt if each.card == said.body["card"]]
                assert card.uid in unheard
                assert card.seat in truth.shown
                assert said.body["zone"] == card.zone
    assert typed
