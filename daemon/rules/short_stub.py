"""What to do in stud when the stub may not last for seventh street (TDA RP-10-H, WSOP live 228)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Literal

import msgspec

from daemon.rules.errors import RuleError
from daemon.rules.labels import Label

if TYPE_CHECKING:
    from collections.abc import Sequence

StubAction = Literal[
    "deal", "scramble-and-deal", "burn-and-common-card", "scramble-and-common-card"
]

_BURNS: Final = 3
_REMEDIES: Final[dict[StubAction, Label]] = {
    "deal": Label(
        "Normal: burn and deal a down card to each player.",
        "Обычная раздача: сжечь карту и сдать каждому по закрытой.",
    ),
    "scramble-and-deal": Label(
        "Scramble the stub with the 3 burns, cut, burn, deal the down cards.",
        "Смешать остаток колоды с 3 сожжёнными картами, подснять, сжечь карту, сдать закрытые.",
    ),
    "burn-and-common-card": Label(
        "Burn the top card; the next one is a common card for everybody.",
        "Сжечь верхнюю карту; следующая — общая для всех.",
    ),
    "scramble-and-common-card": Label(
        "Scramble the stub with the 3 burns, cut, burn; the next one is a common card.",
        "Смешать остаток колоды с 3 сожжёнными картами, подснять, сжечь карту; следующая — общая.",
    ),
}


class StubRuling(msgspec.Struct, frozen=True):
    """Cards left in the stub, cards that seventh street takes, and what the dealer does."""

    stub: int
    required: int
    action: StubAction
    remedy: Label


def short_stub(players: Sequence[int]) -> StubRuling:
    """The ruling from how many are dealt a card on third, fourth, fifth, sixth and seventh street.

    Raises RuleError for numbers that no hand of stud has.
    """
    if len(players) != 5:
        raise RuleError(f"stud has five streets, {len(players)} numbers of players were given")
    if not 2 <= players[4] <= players[0] <= 8 or list(players) != sorted(players, reverse=True):
        raise RuleError("players are 8 to 2 and never more than on the street before")
    third, *later, seventh = players
    return stub_ruling(52 - 3 * third - sum(later) - _BURNS, seventh)


def stub_ruling(stub: int, players: int) -> StubRuling:
    """The ruling from the cards left in the stub and the players still in before seventh street.

    Seventh street takes a card for each player, a burn, and a last card that is never dealt.
    """
    if stub < 1 or players < 2:
        raise RuleError(f"a stub of {stub} for {players} players does not occur")
    required = players + 2
    action: StubAction
    if stub >= required:
        action = "deal"
    elif stub + _BURNS >= required:
        action = "scramble-and-deal"
    elif stub >= 3:
        action = "burn-and-common-card"
    else:
        action = "scramble-and-common-card"
    return StubRuling(stub, required, action, _REMEDIES[action])
