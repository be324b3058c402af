from __future__ import annotations

import re

import pytest

from daemon.rules.errors import RuleError
from daemon.rules.irregularities import KINDS, OF_ALERT, irregularity, of_alert, substantial_action
from daemon.rules.profile import PRESETS, VALUES, profile

CASES = ["irregularities.json"]

EXPECTED = {
    "IR-01": ("four-card-flop", ["Scramble the four", "at random", "next burn"]),
    "IR-02": ("flop-without-burn", ["becomes the burn", "other two", "next card of the stub"]),
    "IR-03": ("flop-without-burn-acted", ["flop stands", "One burn before the turn"]),
    "IR-04": ("premature-flop", ["burn stays", "reshuffle face down", "without another burn"]),
    "IR-06": ("premature-river", ["burn stays", "goes back", "without another burn"]),
    "IR-07": ("premature-stud-card", ["Back to the stub, reshuffle", "without another burn"]),
    "IR-08": ("boxed-card", ["scrap of paper", "muck", "next card"]),
    "IR-09": ("boxed-cards", ["Misdeal"]),
    "IR-10": ("fouled-deck", ["double read", "second deck", "all bets are returned"]),
    "IR-12": ("first-card-wrong-seat", ["Misdeal", "same button, blinds and players"]),
    "IR-13": ("early-card-exposed", ["Misdeal"]),
    "IR-14": ("down-card-exposed", ["Finish the deal", "top card", "first burn"]),
    "IR-15": ("down-cards-exposed", ["Misdeal"]),
    "IR-16": ("wrong-card-count", ["Misdeal"]),
    "IR-17": ("wrong-card-count-acted", ["dead", "mucked", "one burn per street"]),
    "IR-21": ("up-cards-lifted", ["dead"]),
    "IR-22": ("seventh-card-exposed", ["replaced", "it stays, with options"]),
    "IR-24": ("miscalled-hand", ["Cards speak"]),
    "IR-25": ("long-stud-hand", ["dead", "More than seven"]),
}


def test_case(case):
    if case["id"] == "IR-20":
        said = [re.findall(r"call|fold|check|bet", text) for text in case["input"]["cases"]]
        found = ["yes" if substantial_action(actions) else "no" for actions in said]
        assert found == case["expected"]["result"]
        return
    kind, words = EXPECTED[case["id"]]
    known = irregularity(kind)
    first_rule = known.rule.split(", ")[0].lower()
    assert any(first_rule in authority.lower() for authority in case["authority"])
    assert all(word in known.remedy.en for word in words)


@pytest.mark.parametrize("preset", PRESETS)
@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_has_a_rule_and_a_remedy_in_both_languages(kind, preset):
    known = irregularity(kind, PRESETS[preset])
    assert known.kind == kind
    assert re.search(r"\d|RRoP", known.rule)
    assert re.search(r"[A-Za-z]{4}", known.remedy.en)
    assert re.search(r"[а-яё]{4}", known.remedy.ru)
    assert not re.search(r"[а-яё]", known.remedy.en)


@pytest.mark.parametrize(
    ("kind", "key"),
    [
        ("four-card-flop", "four_card_flop"),
        ("premature-turn", "premature_turn"),
        ("exposed-down-card", "exposed_down_card"),
    ],
)
def test_where_authorities_disagree_the_profile_chooses(kind, key):
    remedies = {irregularity(kind, profile(overrides={key: value})) for value in VALUES[key]}
    assert len(remedies) == len(VALUES[key])


def test_alerts_bring_their_rule_along():
    assert all(of_alert(alert).kind == kind for alert, kind in OF_ALERT.items())
    assert of_alert("reader-down") is None
    assert of_alert("premature-card", "turn").kind == "premature-turn"
    assert of_alert("premature-card", "fifth").kind == "premature-stud-card"
    river_first = of_alert("premature-card", "turn", PRESETS["rrop"])
    assert "would-be river" in river_first.remedy.en


def test_what_is_no_irregularity_is_named():
    with pytest.raises(RuleError, match=r"^spilled-drink is no irregularity with a rule$"):
        irregularity("spilled-drink")


def test_what_is_no_action_is_named():
    with pytest.raises(RuleError, match=r"^nod is no action"):
        substantial_action(["nod"])
