from __future__ import annotations

import pytest

from daemon.rules.errors import RuleError
from daemon.rules.short_stub import short_stub, stub_ruling

CASES = ["stud-short-stub.json"]
ACTIONS = {
    "scramble stub with 3 burns, cut, burn, community card": "scramble-and-common-card",
    "burn top card, next card is a community card": "burn-and-common-card",
    "scramble stub with 3 burns, cut, burn, deal down cards": "scramble-and-deal",
    "normal": "deal",
}


def test_case(case):
    ruling = short_stub(case["input"]["players_3rd_to_7th"])
    expected = case["expected"]
    assert (ruling.stub, ruling.required) == (expected["stub"], expected["required"])
    assert ruling.action == ACTIONS[expected["action"]]


def test_remedies_name_the_common_card_in_both_languages():
    for players in ([8] * 5, [8, 7, 7, 7, 7]):
        remedy = short_stub(players).remedy
        assert "common card" in remedy.en
        assert "общая" in remedy.ru


@pytest.mark.parametrize(
    ("stub", "players", "action"),
    [
        (9, 7, "deal"),
        (8, 7, "scramble-and-deal"),
        (6, 7, "scramble-and-deal"),
        (5, 7, "burn-and-common-card"),
        (3, 8, "burn-and-common-card"),
        (2, 8, "scramble-and-common-card"),
    ],
)
def test_the_limits_between_actions(stub, players, action):
    assert stub_ruling(stub, players).action == action


@pytest.mark.parametrize("players", [[8] * 4, [9] * 5, [6, 6, 7, 7, 7], [8, 8, 8, 8, 1]])
def test_hands_that_are_no_stud(players):
    with pytest.raises(RuleError):
        short_stub(players)


def test_a_stub_that_does_not_occur():
    with pytest.raises(RuleError, match=r"^a stub of 0 for 8 players does not occur$"):
        stub_ruling(0, 8)
