from __future__ import annotations

import json
import statistics
import tomllib
from dataclasses import replace
from itertools import pairwise

import pytest

from drivers.sim.layout import Layout
from drivers.sim.noise import LEVELS
from drivers.sim.table import simulate, write

DISCIPLINES = ("holdem", "omaha", "stud")
ALL_LEVELS = tuple(LEVELS)


def hands(discipline="holdem", level="field", seed=1, count=8, **options):
    return list(simulate(discipline, level, seed, count, **options))


@pytest.mark.parametrize("discipline", DISCIPLINES)
@pytest.mark.parametrize("level", ALL_LEVELS)
@pytest.mark.parametrize("commands", [False, True])
def test_a_card_lies_in_one_place_at_a_time(discipline, level, commands):
    lying: dict[str, tuple[str, int]] = {}
    for hand in hands(discipline, level, 3, 10, commands=commands):
        for event in hand.script.events:
            if event.action == "lay":
                assert event.uid not in lying, (event, lying[event.uid])
                lying[event.uid] = (event.zone, event.spot)
            else:
                assert lying.pop(event.uid) == (event.zone, event.spot)
        assert not lying


@pytest.mark.parametrize("discipline", DISCIPLINES)
@pytest.mark.parametrize("commands", [False, True])
def test_lines_are_in_order_of_time_and_as_the_format_says(discipline, commands):
    last = 0.0
    for hand in hands(discipline, "brutal", 5, 25, commands=commands, keys=True):
        for line in hand.lines:
            assert line["t"] >= last
            assert round(line["t"], 3) == line["t"]
            last = line["t"]
            kinds = {"tags", "up", "command", "key"} & set(line)
            assert len(kinds) == 1
            if "tags" in line:
                assert set(line) <= {"t", "reader", "antenna", "tags", "partial"}


def test_the_same_seed_is_the_same_session():
    assert hands(seed=7, commands=True) == hands(seed=7, commands=True)
    assert hands(seed=7) != hands(seed=8)


def test_dealing_goes_clockwise_from_the_left_of_the_button():
    for hand in hands("holdem", "clean", 2, 12):
        truth = hand.truth
        dealt = [each.seat for each in truth.dealt if each.street == "preflop"]
        assert len(dealt) == 2 * len(truth.seats)
        assert dealt[: len(truth.seats)] == dealt[len(truth.seats) :]
        assert dealt[-1] == truth.button
        first = dealt[: len(truth.seats)]
        assert sum(a > b for a, b in pairwise([*first, first[0]])) == 1


def test_nothing_is_lost_or_dealt_twice():
    for hand in hands("omaha", "harsh", 4, 15):
        truth = hand.truth
        cards = [each.card for each in truth.dealt]
        assert len(cards) == len(set(cards))
        assert len(truth.board) in {0, 3, 4, 5}
        assert len(truth.burns) == max(0, len(truth.board) - 2)
        out = {fold.seat for fold in truth.folds} | set(truth.shown) | set(truth.mucked)
        assert out | {truth.winner} - {None} == set(truth.seats)


def test_without_commands_live_hands_are_heard_after_the_last_card_and_end_together():
    showdowns = 0
    for hand in hands("holdem", "clean", 13, 25, layout=Layout()):
        truth = hand.truth
        if truth.showdown_at is None:
            continue
        showdowns += 1
        last_card = max(each.at for each in truth.dealt)
        last = {}
        for line in hand.lines:
            for each in truth.dealt:
                if each.seat in truth.shown and each.uid in line.get("tags", ()):
                    zone = Layout().zones()[line["antenna"] - 1]
                    if zone == each.zone:
                        last[each.seat] = line["t"]
        assert set(last) == set(truth.shown)
        assert min(last.values()) > last_card
        assert max(last.values()) - min(last.values()) < 10.0
    assert showdowns > 3


def test_hands_last_as_long_as_televised_ones():
    lengths = sorted(
        truth.ends - truth.begins
        for seed in range(12)
        for truth in (s.truth for s in simulate("holdem", "clean", seed, 40).scripts())
    )
    assert 85 < statistics.median(lengths) < 130
    assert 210 < lengths[int(0.95 * len(lengths))] < 360


def test_decks_alternate_but_not_at_the_brutal_level():
    assert [hand.truth.deck for hand in hands(level="harsh", count=4)] == ["red", "blue"] * 2
    assert {hand.truth.deck for hand in hands(level="brutal", count=4)} == {"red"}


def test_the_shoe_tells_each_card_in_order_of_dealing():
    layout = Layout(antennas=False, board=0, muck=False, shoe=True)
    for hand in hands("omaha", "clean", 5, 6, layout=layout, commands=True):
        looks = [line for line in hand.lines if line.get("reader") == "shoe"]
        assert [line["tags"][0] for line in looks] == [each.uid for each in hand.truth.dealt]
        assert len(looks) + sum("command" in line for line in hand.lines) == len(hand.lines)


def test_commands_tell_folds_and_the_showdown():
    for hand in hands("holdem", "clean", 15, 20, commands=True):
        said = [line["command"] for line in hand.lines if "command" in line]
        kinds = [each["type"] for each in said]
        truth = hand.truth
        assert kinds.count("start-hand") == kinds.count("end-hand") == 1
        folded = sorted(each["seat"] for each in said if each["type"] == "fold")
        assert folded == sorted(fold.seat for fold in truth.folds)
        assert kinds.count("showdown") == (truth.showdown_at is not None)
        shown = [each["shown"] for each in said if each["type"] == "showdown"]
        assert shown == ([list(truth.shown)] if shown else [])
        ids = [each["id"] for each in said]
        assert len(ids) == len(set(ids))


def test_a_session_is_written_for_replay(tmp_path):
    session = simulate("holdem", "field", 1, 3, commands=True)
    truths = write(session, tmp_path)
    assert [truth.number for truth in truths] == [1, 2, 3]
    config = tomllib.loads((tmp_path / "table.toml").read_text())
    assert config["table"]["discipline"] == "holdem"
    for name in ("red", "blue"):
        deck = tomllib.loads((tmp_path / "decks" / f"{name}.toml").read_text())
        assert deck["name"] == name
        assert len(set(deck["cards"].values())) == 52
    first, *lines = (tmp_path / "recording.jsonl").read_text().splitlines()
    assert json.loads(first)["button"] == truths[0].button or session.button
    assert all("t" in json.loads(line) for line in lines)


def test_stud_streets_burns_and_the_common_card():
    commons = 0
    for hand in (
        s for s in simulate("stud", "clean", 1, 150, players=8, layout=Layout(seats=8)).scripts()
    ):
        truth = hand.truth
        for seat in truth.seats:
            ups = [each.up for each in truth.dealt if each.seat == seat]
            assert ups == [False, False, True, True, True, True, False][: len(ups)]
        for seat in truth.shown:
            assert len(truth.own(seat)) + len(truth.board) == 7
        assert len(truth.burns) == len(truth.streets) - 1
        commons += bool(truth.board)
    assert commons > 1


def test_what_is_dealt_to_a_tabled_hand_is_public():
    scripts = simulate("stud", "clean", 1, 150, commands=True).scripts()
    late = [
        (card, truth.public)
        for truth in (script.truth for script in scripts)
        for tabled in truth.tabled
        for card in truth.dealt
        if card.seat in tabled.seats and card.at > tabled.at
    ]
    assert any(not card.up for card, _ in late)
    assert all(public[card.card] == card.at for card, public in late)


def test_stud_with_up_antennas_hears_up_cards_there():
    layout = Layout(seats=8, up=True)
    zones = layout.zones()
    for hand in hands("stud", "clean", 2, 5, layout=layout):
        places = {each.uid: each.zone for each in hand.truth.dealt if each.seat}
        for line in hand.lines:
            zone = zones[line["antenna"] - 1]
            if zone.startswith("seat:"):
                assert all(places.get(uid, zone) == zone for uid in line["tags"])


def test_extras_are_a_button_draw_and_a_chip_race():
    items = hands("holdem", "clean", 3, 12, commands=True, extras=True)
    kinds = [hand.truth.kind for hand in items]
    assert kinds[0] == kinds[10] == "button-draw"
    assert kinds[8] == "chip-race"
    draw, race = items[0].truth, items[8].truth
    assert [each.seat for each in draw.dealt] == list(draw.seats)
    best = max(draw.dealt, key=lambda each: ("23456789TJQKA".index(each.card[0]), each.card[1]))
    assert items[1].truth.button == best.seat
    for seat, count in race.counts.items():
        assert len(race.own(seat)) == count % 4


def test_keys_come_before_the_hand():
    for hand in hands(count=3, keys=True, commands=True):
        at = next(n for n, line in enumerate(hand.lines) if "key" in line)
        first = next(
            n for n, line in enumerate(hand.lines) if line.get("tags") or "command" in line
        )
        assert at < first
        assert len(bytes.fromhex(hand.lines[at]["key"])) == 32


def test_speed_shortens_thinking_only():
    slow = [s.truth for s in simulate("holdem", "clean", 1, 20).scripts()]
    fast = [s.truth for s in simulate("holdem", "clean", 1, 20, speed=8.0).scripts()]
    assert fast[-1].ends < 0.6 * slow[-1].ends
    for earlier, later in pairwise(fast):
        assert later.begins - earlier.ends > 7.0


def test_each_card_of_the_board_lies_on_an_antenna():
    layout = Layout(board=4)
    numbers = [[each.part for each in layout.under("board", spot)] for spot in range(5)]
    assert numbers == [[0], [0], [1], [2], [3]]
    assert layout.under("seat:3")[0].number == 3
    assert layout.under("shoe") == ()


def test_every_seat_gives_its_session_a_table_that_is_written_as_toml():
    for layout in (Layout(shoe=True, burn=True), Layout(up=True, seats=8), Layout(rail="pn532")):
        config = tomllib.loads(layout.config())
        zones = [zone for each in config["readers"] for zone in each["antennas"].values()]
        assert sorted(zones) == sorted([*layout.zones(), *["shoe"] * layout.shoe])


def test_layouts_are_values():
    assert replace(Layout(), seats=6).zones()[:6] == tuple(f"seat:{n}" for n in range(1, 7))
