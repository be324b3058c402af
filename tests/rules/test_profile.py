from __future__ import annotations

import re

import msgspec
import pytest

from daemon.rules.errors import RuleError
from daemon.rules.profile import PRESETS, VALUES, Profile, profile


def test_the_first_value_of_every_key_is_the_sport_poker_default():
    assert {key: values[0] for key, values in VALUES.items()} == msgspec.structs.asdict(profile())
    assert profile() == PRESETS["sport-poker"] == Profile()
    assert len(VALUES) == 13


@pytest.mark.parametrize("preset", PRESETS)
def test_presets_are_made_of_known_values(preset):
    chosen = msgspec.structs.asdict(profile(preset))
    assert all(value in VALUES[key] for key, value in chosen.items())


@pytest.mark.parametrize("key", VALUES)
def test_every_value_of_every_key_can_be_chosen(key):
    for value in VALUES[key]:
        assert getattr(profile("rrop", {key: value}), key) == value


def test_what_authorities_rule_differently():
    differ = {
        name: {
            key: value
            for key, value in msgspec.structs.asdict(preset).items()
            if value != VALUES[key][0]
        }
        for name, preset in PRESETS.items()
    }
    assert differ["sport-poker"] == {}
    assert differ["tda"]["stud_odd_chip"] == "suit-of-five"
    assert differ["wsop-live"]["stud_equal_boards"] == "position"
    assert differ["rrop"]["race_last_chip"] == "pool-first"


@pytest.mark.parametrize(
    ("preset", "overrides", "reason"),
    [
        ("home", {}, "preset home is unknown (there are sport-poker, tda, wsop-live, rrop)"),
        ("tda", {"odd_chips": "nobody"}, "odd_chips cannot be nobody (one-each-clockwise, "),
        ("tda", {"race_cap_one": 1}, "race_cap_one cannot be 1 (true, false)"),
        ("tda", {"race_cap_one": "true"}, "race_cap_one cannot be true (true, false)"),
        ("tda", {"race_remainder": ["down"]}, "race_remainder cannot be ['down'] (half-up, "),
        (
            "tda",
            {"race_reminder": "down"},
            "race_reminder is no rule (there are stud_equal_boards,",
        ),
    ],
)
def test_unknown_presets_keys_and_values_are_named(preset, overrides, reason):
    with pytest.raises(RuleError, match=f"^{re.escape(reason)}"):
        profile(preset, overrides)
