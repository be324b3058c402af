from __future__ import annotations

from dataclasses import replace

import pytest

from drivers.sim.script import Dealt, Fold, HandTruth, Tabled
from drivers.sim.table import simulate

HIDDEN = "E00401000000AA"


def dealt(text, street="preflop", start=10.0):
    """`1:As` to a seat, `1:As^` up, `b:As` board, `x:As` burn; a second apart."""
    cards = []
    for number, each in enumerate(text.split()):
        place, card = each.rstrip("^").split(":")
        zone = {"b": "board", "x": "burn"}.get(place, f"seat:{place}")
        seat = int(place) if place.isdigit() else None
        up = each.endswith("^") or place == "b"
        uid = f"{HIDDEN}{number:02X}"
        cards.append(Dealt(card, uid, seat, zone, street, start + number, up))
    return tuple(cards)


def truth(cards, **fields):
    public = {each.card: each.at for each in cards if each.up}
    base = HandTruth(
        number=1,
        kind="hand",
        discipline="holdem",
        deck="red",
        seats=tuple(sorted({each.seat for each in cards if each.seat})),
        button=1,
        commands=True,
        begins=9.0,
        ends=200.0,
        dealt=cards,
        streets={},
        public=public,
    )
    return replace(base, **fields)


HOLDEM = truth(
    dealt("2:As 3:7c 1:Kd 2:Ac 3:7d 1:Kh x:2d b:7s b:Kc b:2c x:3d b:9h x:4d b:3s"),
    folds=(Fold(2, 40.0),),
    showdown_at=60.0,
    shown=(1, 3),
)


def told(topic, t=61.0, table="t1", **payload):
    return {"t": t, "topic": f"felt/{table}/{topic}", "retain": False, "payload": payload}


def folded(seat, t=41.0):
    return told("event", t, type="folded", seat=seat)


def showdown(winners=(1,), board="7s Kc 2c 9h 3s", hands=None, mucked=()):
    hands = hands or {1: "Kd Kh", 3: "7c 7d"}
    return told(
        "showdown",
        board=board.split(),
        hands=[{"seat": seat, "cards": cards.split()} for seat, cards in hands.items()],
        winners=list(winners),
        mucked=list(mucked),
    )


def alert(kind="missing-card", severity="warning"):
    return told("alert", kind=kind, severity=severity)


@pytest.mark.parametrize(
    ("messages", "verdicts"),
    [
        ([folded(2), showdown()], {"showdown": "right", "folds": "right"}),
        ([folded(2), showdown(hands={1: "Kh Kd", 3: "7c 7d"})], {"showdown": "right"}),
        ([folded(2), showdown(winners=[3])], {"showdown": "wrong"}),
        ([folded(2), showdown(winners=[3]), showdown()], {"showdown": "wrong"}),
        ([folded(2), showdown(board="7s Kc 2c 9h 3c")], {"showdown": "wrong"}),
        ([folded(2), showdown(hands={1: "Kd Kh", 3: "7c 7h"})], {"showdown": "wrong"}),
        ([folded(2), showdown(hands={1: "Kd Kh"})], {"showdown": "wrong"}),
        ([folded(2), showdown(mucked=[2])], {"showdown": "wrong"}),
        ([folded(2)], {"showdown": "silent", "folds": "right"}),
        ([folded(2), alert()], {"showdown": "flagged", "folds": "right"}),
        ([folded(2), alert("overheard", "notice")], {"showdown": "silent"}),
        ([told("reply", id="1", ok=True, waiting=[3])], {"showdown": "flagged"}),
        ([told("reply", id="1", ok=True)], {"showdown": "silent"}),
        ([told("reply", 60.001, id="1", ok=False, error="too early")], {"showdown": "flagged"}),
        ([told("reply", 90.0, id="1", ok=False, error="too late")], {"showdown": "silent"}),
        ([folded(2), showdown(board="Kc 2c 7s 9h 3s")], {"showdown": "right"}),
        ([folded(2), showdown(board="7s Kc 2c 3s 9h")], {"showdown": "wrong"}),
        ([showdown()], {"folds": "silent"}),
        ([showdown(), alert()], {"folds": "flagged", "showdown": "right"}),
        ([folded(2), folded(3), showdown()], {"folds": "wrong"}),
        ([folded(2), told("event", type="hand-ended", winner=1)], {"showdown": "wrong"}),
    ],
)
def test_the_end_of_a_hand_is_judged(scorer, messages, verdicts):
    [result] = scorer.score([HOLDEM], messages)
    assert verdicts.items() <= result.verdicts.items(), result.why


def test_the_worst_aspect_is_the_verdict(scorer):
    [result] = scorer.score([HOLDEM], [folded(2), showdown(winners=[3])])
    assert result.verdict == "wrong"
    assert scorer.score([HOLDEM], [folded(2), showdown()])[0].verdict == "right"
    assert scorer.score([HOLDEM], [])[0].verdict == "silent"


@pytest.mark.parametrize(
    ("messages", "verdict"),
    [
        ([told("event", type="hand-ended", winner=1)], "right"),
        ([told("event", type="hand-ended", winner=3)], "wrong"),
        ([told("event", type="hand-ended")], "silent"),
        ([alert("showdown-wanted")], "flagged"),
        ([told("event", type="hand-ended", winner=1), showdown()], "wrong"),
    ],
)
def test_the_winner_of_an_unshown_hand_is_judged(scorer, messages, verdict):
    alone = replace(HOLDEM, showdown_at=None, shown=(), winner=1)
    [result] = scorer.score([alone], messages)
    assert result.verdicts["winner"] == verdict


def test_without_commands_folds_count_that_the_table_could_hear(scorer):
    unheard = (Fold(2, 40.0, read=False), Fold(3, 41.0, muck=False))
    quiet = replace(HOLDEM, commands=False, folds=unheard, showdown_at=None, winner=1)
    [result] = scorer.score([quiet], [])
    assert result.verdicts["folds"] == "right"
    told_by_operator = replace(quiet, commands=True)
    [result] = scorer.score([told_by_operator], [])
    assert result.verdicts["folds"] == "silent"


def test_without_commands_the_only_shown_hand_is_a_winner(scorer):
    alone = replace(HOLDEM, commands=False, shown=(1,), mucked=(3,))
    ended = told("event", type="hand-ended", winner=1)
    assert scorer.score([alone], [ended])[0].verdicts["winner"] == "right"


def test_omaha_takes_two_and_three(scorer):
    cards = dealt("1:Qs 2:6s 1:Jh 2:5s 1:Td 2:7h 1:3c 2:8h b:As b:Ks b:9s b:4s b:2d")
    omaha = truth(cards, discipline="omaha", showdown_at=60.0, shown=(1, 2))
    assert scorer.winners(omaha) == [2]
    assert scorer.winners(replace(omaha, discipline="omaha", shown=(1,))) == [1]


def test_a_common_card_counts_as_everyones_seventh(scorer):
    cards = dealt("1:9c 1:9d 1:4h 1:4c 1:Ks 1:2d 2:Ah 2:Ad 2:5c 2:5d 2:3s 2:3c b:9s")
    stud = truth(cards, discipline="stud", showdown_at=60.0, shown=(1, 2))
    assert scorer.winners(stud) == [1]


STUD = truth(
    dealt("1:2c 2:2d 3:2h 1:3c 2:3d 3:3h 1:9c^ 2:4d^ 3:9d^ 1:Kc^ 2:As^ 3:Kd^", start=10.0),
    discipline="stud",
    button=None,
    streets={"third": 18.0, "fourth": 21.0},
    folds=(),
    winner=1,
)


def test_openers_of_stud_are_computed(scorer):
    assert scorer.openers(STUD) == {"third": 2, "fourth": 2}
    assert scorer.openers(replace(STUD, folds=(Fold(2, 18.5),))) == {"third": 2, "fourth": 3}
    assert scorer.openers(replace(STUD, tabled=(Tabled(18.5, (1, 2, 3)),))) == {"third": 2}
    assert scorer.openers(HOLDEM) == {}


def opener(street, seat, boards=None):
    boards = boards or {"1": ["9c"], "2": ["4d"], "3": ["9d"]}
    return told("ruling/first-to-act", 19.0, street=street, seat=seat, boards=boards)


@pytest.mark.parametrize(
    ("messages", "third"),
    [
        ([opener("third", 2)], "right"),
        ([opener("third", 1)], "wrong"),
        ([opener("third", 2, {"2": ["2d"]})], "wrong"),
        ([alert("unsure-opener")], "flagged"),
        ([opener("fourth", 2)], "silent"),
    ],
)
def test_openers_are_judged(scorer, messages, third):
    [result] = scorer.score([STUD], messages)
    assert result.verdicts["opener-third"] == third


@pytest.mark.parametrize(
    ("cards", "high"),
    [
        (["Kc Qd", "Ks 2d"], 0),
        (["Kc 9d", "Kd 9s"], 1),
        (["As Ks", "2c 2d"], 1),
        (["9c 9d Kh", "9h 9s Kd"], 0),
        (["2c 2d 2h", "Ac Ad Kh"], 0),
        (["3c 3d 2h 2s", "Ac Ad Kh Qs"], 0),
    ],
)
def test_high_boards(scorer, cards, high):
    strengths = [scorer._board_strength(board.split()) for board in cards]
    assert strengths.index(max(strengths)) == high


def test_a_button_draw_is_judged(scorer):
    draw = truth(dealt("1:9c^ 2:Ah^ 3:As^"), kind="button-draw")
    order = [{"seat": 3, "card": "As"}, {"seat": 2, "card": "Ah"}, {"seat": 1, "card": "9c"}]
    right = told("ruling/button-draw", winner=3, card="As", order=order)
    wrong = told("ruling/button-draw", winner=2, card="Ah", order=order)
    assert scorer.score([draw], [right])[0].verdict == "right"
    assert scorer.score([draw], [wrong])[0].verdict == "wrong"
    assert scorer.score([draw], [right, showdown()])[0].verdict == "wrong"
    assert scorer.score([draw], [alert()])[0].verdict == "flagged"


def test_a_chip_race_is_judged(scorer):
    counts = {1: 3, 2: 6, 5: 2, 7: 1}
    cards = dealt("1:7c^ 1:Jd^ 1:2s^ 2:Qh^ 2:3c^ 5:4d^ 5:4h^ 7:Ks^")
    race = truth(cards, kind="chip-race", counts=counts, chips=(25, 100))
    ranking = [(7, "Ks"), (2, "Qh"), (1, "Jd"), (5, "4h")]
    body = {
        "odd": {"1": 3, "2": 2, "5": 2, "7": 1},
        "new_chips": 2,
        "ranking": [{"seat": seat, "card": card} for seat, card in ranking],
        "awards": {"7": 1, "2": 1},
    }
    assert scorer.score([race], [told("ruling/chip-race", **body)])[0].verdict == "right"
    for wrong in ({"new_chips": 1}, {"awards": {"7": 1, "1": 1}}, {"odd": {"1": 3}}):
        result = scorer.score([race], [told("ruling/chip-race", **(body | wrong))])[0]
        assert result.verdict == "wrong"


def test_messages_belong_to_the_hand_during_which_they_were_told(scorer):
    second = replace(HOLDEM, number=2, begins=300.0)
    first_only = [folded(2), showdown()]
    results = scorer.score([HOLDEM, second], first_only)
    assert [each.verdict for each in results] == ["right", "silent"]
    counts = scorer.tally(results)
    assert counts["showdown"] == {"right": 1, "silent": 1}


def test_what_is_told_late_of_an_earlier_hand_belongs_to_it(scorer):
    second = replace(HOLDEM, number=2, begins=300.0, ends=500.0)
    mine = folded(2)
    late = showdown()
    mine["payload"]["hand"] = late["payload"]["hand"] = 1
    late["t"] = 310.0
    call = told("alert", 311.0, hand=1, kind="missing-card", severity="warning")
    first, after = scorer.score([HOLDEM, second], [mine, late, call])
    assert (first.verdict, after.verdict) == ("right", "flagged")
    shown = replace(HOLDEM, public=HOLDEM.public | dict.fromkeys(["Kd", "Kh", "7c", "7d"], 60.0))
    hidden = replace(second, public={})
    assert scorer.leaks([shown, hidden], [mine, late]) == []
    assert len(scorer.leaks([shown, hidden], [late])) == 9


@pytest.mark.parametrize(
    ("payload", "leak"),
    [
        ({"message": {"en": "The As is missing."}}, True),
        ({"message": {"ru": "Нет карты A♠"}}, True),
        ({"note": "AsAc"}, True),
        ({"tag": f"tag {HIDDEN}00".lower()}, True),
        ({"cards": {"As": 1}}, True),
        ({"type": "equity"}, True),
        ({"board": ["7s", "Kc", "2c"]}, False),
        ({"message": "9 s, seat 2, Assam, 2026-11-29T18:00:00Z", "hash": "2c" * 32}, False),
        ({"hash": "ab2c" * 16}, False),
    ],
)
def test_hidden_cards_and_tags_are_found_in_any_text(scorer, payload, leak):
    found = scorer.leaks([HOLDEM], [told("alert", **payload)])
    assert bool(found) == leak, found


def test_a_card_may_be_named_from_when_it_is_public(scorer):
    shown = replace(HOLDEM, public=HOLDEM.public | {"As": 50.0})
    assert scorer.leaks([shown], [told("event", 49.9, card="As")])
    assert not scorer.leaks([shown], [told("event", 50.0, card="As")])
    assert scorer.leaks([HOLDEM], [told("event", 15.0, card="7s")])
    private = {"t": 15.0, "topic": "felt-private/t1/hole-cards", "payload": {"cards": ["As"]}}
    assert not scorer.leaks([HOLDEM], [private])


@pytest.mark.parametrize("discipline", ["holdem", "omaha", "stud"])
@pytest.mark.parametrize("commands", [False, True])
def test_a_stream_made_from_the_truth_is_right_and_leaks_nothing(scorer, discipline, commands):
    session = simulate(discipline, "field", 5, 40, commands=commands)
    truths = [hand.truth for hand in session]
    messages = [line for each in truths for line in _perfect(scorer, each)]
    results = scorer.score(truths, messages)
    assert all(each.verdict == "right" for each in results), [each.why for each in results]
    assert scorer.leaks(truths, messages) == []
    assert any(each.showdown_at for each in truths)
    assert any(each.winner for each in truths)


def _perfect(scorer, real):
    lines = [folded(fold.seat, fold.at) for fold in real.folds]
    for street, seat in scorer.openers(real).items():
        at = real.streets[street]
        live = {s for s in real.seats if not any(f.seat == s and f.at < at for f in real.folds)}
        boards = {
            str(s): [c.card for c in real.dealt if c.seat == s and c.up and c.at <= at]
            for s in live
        }
        body = {"street": street, "seat": seat, "boards": boards}
        lines.append(told("ruling/first-to-act", at, **body))
    if real.showdown_at is None or (not real.commands and len(real.shown) == 1):
        winner = real.winner or real.shown[0]
        lines.append(told("event", real.ends, type="hand-ended", winner=winner))
    else:
        hands = [{"seat": s, "cards": list(real.own(s))} for s in real.shown]
        body = {"board": list(real.board), "hands": hands, "mucked": list(real.mucked)}
        lines.append(told("showdown", real.ends, winners=scorer.winners(real), **body))
    return sorted(lines, key=lambda line: line["t"])
