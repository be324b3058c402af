"""The rule profile: what the rule book leaves open, or where authorities disagree.

The first value of each key is the default of sport poker. A preset changes what its authority
rules differently and leaves alone what that authority does not say.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Literal

import msgspec

from daemon.rules.errors import RuleError

if TYPE_CHECKING:
    from collections.abc import Mapping

Value = str | bool


class Profile(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The keys of `[rules]` beside `preset`; docs/rules.md tells what each decides."""

    stud_equal_boards: Literal["suit", "position"] = "suit"
    stud_board_suit: Literal["highest-card", "inside-pair"] = "highest-card"
    stud_odd_chip: Literal["position", "suit-of-five", "suit-of-seven"] = "position"
    race_remainder: Literal["half-up", "always-up", "down"] = "half-up"
    race_last_chip: Literal["extra-chip", "pool-first"] = "extra-chip"
    race_cap_one: bool = True
    button_start: Literal["draw", "fixed"] = "draw"
    common_card_opener: Literal["as-on-sixth", "with-common-card"] = "as-on-sixth"
    exposed_down_card: Literal["becomes-up", "misdeal", "third-down"] = "becomes-up"
    four_card_flop: Literal["scramble", "reshuffle"] = "scramble"
    premature_turn: Literal["reshuffle-stub", "river-first"] = "reshuffle-stub"
    open_pair_doubles: bool = False
    odd_chips: Literal["one-each-clockwise", "first-seat-takes-all"] = "one-each-clockwise"


SPORT_POKER: Final = Profile()

PRESETS: Final[dict[str, Profile]] = {
    "sport-poker": SPORT_POKER,
    "tda": Profile(stud_odd_chip="suit-of-five", odd_chips="first-seat-takes-all"),
    "wsop-live": Profile(
        stud_equal_boards="position",
        stud_odd_chip="suit-of-five",
        exposed_down_card="third-down",
        open_pair_doubles=True,
        odd_chips="first-seat-takes-all",
    ),
    "rrop": Profile(
        stud_equal_boards="position",
        stud_odd_chip="suit-of-seven",
        race_last_chip="pool-first",
        common_card_opener="with-common-card",
        exposed_down_card="third-down",
        four_card_flop="reshuffle",
        premature_turn="river-first",
        open_pair_doubles=True,
    ),
}


def profile(preset: str = "sport-poker", overrides: Mapping[str, object] | None = None) -> Profile:
    """A preset with single keys changed; RuleError names an unknown preset, key or value."""
    base = PRESETS.get(preset)
    if base is None:
        raise RuleError(f"preset {preset} is unknown (there are {', '.join(PRESETS)})")
    chosen = {**msgspec.structs.asdict(base), **(overrides or {})}
    for key, value in chosen.items():
        values = VALUES.get(key)
        if values is None:
            raise RuleError(f"{key} is no rule (there are {', '.join(VALUES)})")
        if not any(value == known and type(value) is type(known) for known in values):
            raise RuleError(f"{key} cannot be {_shown(value)} ({', '.join(map(_shown, values))})")
    return msgspec.convert(chosen, Profile)


def _values() -> dict[str, tuple[Value, ...]]:
    found: dict[str, tuple[Value, ...]] = {}
    for field in msgspec.inspect.type_info(Profile).fields:  # type: ignore[attr-defined]
        values = getattr(field.type, "values", (True, False))
        found[field.name] = (field.default, *(v for v in values if v != field.default))
    return found


def _shown(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


VALUES: Final[dict[str, tuple[Value, ...]]] = _values()
"""The values of each key, the default first."""
