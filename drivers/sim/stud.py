"""How a hand of seven-card stud goes, eight players and the short stub included.

Source for the stub: TDA 2024 RP-10-H.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from drivers.sim.hands import announce, betting, clockwise, finish, table_all_in

if TYPE_CHECKING:
    from drivers.sim.people import Play
    from drivers.sim.script import Script

FAMILY_POT = 0.05
"""How often nobody folds before the end; with eight players the stub is then too short."""


def play_stud(play: Play) -> Script:
    """A hand of stud, from the shuffled pack to a clear table."""
    order = clockwise(play.table.occupied, 0)
    play.live = list(order)
    family = play.rng.random() < FAMILY_POT
    announce(play)
    for up in (False, False, True):
        for seat in order:
            play.deal_seat(seat, "third", up=up)
    play.street_out("third")
    play.begin_rest()
    _bet(play, order, 0.0 if family else 0.45)
    for street in ("fourth", "fifth", "sixth", "seventh"):
        if len(play.live) == 1:
            break
        play.wait(0.5, 2.0)
        if street == "seventh":
            _deal_seventh(play, order)
        else:
            _deal_street(play, order, street, up=True)
        play.street_out(street)
        _bet(play, order, 0.0 if family else 0.18)
        table_all_in(play, last=street == "seventh")
    return finish(play)


def _bet(play: Play, order: list[int], loose: float) -> None:
    """The betting, from whoever opens clockwise."""
    first = play.rng.randrange(len(order))
    betting(play, order[first:] + order[:first], loose)


def _deal_street(play: Play, order: list[int], street: str, *, up: bool) -> None:
    play.burn(street)
    for seat in order:
        if seat in play.live:
            play.deal_seat(seat, street, up=up)


def _deal_seventh(play: Play, order: list[int]) -> None:
    """One down card each while the stub suffices, else one common card on the board."""
    need = len(play.live) + 2
    burns = len([each for each in play.dealt if each.zone == "burn"])
    if len(play.pack) >= need:
        _deal_street(play, order, "seventh", up=False)
    elif len(play.pack) + burns >= need:
        _scramble(play)
        _deal_street(play, order, "seventh", up=False)
    else:
        if len(play.pack) < 3:
            _scramble(play)
        play.burn("seventh")
        play.deal_board(1, "seventh")


def _scramble(play: Play) -> None:
    """The burns go back into the stub, which is shuffled."""
    burns = [each for each in play.dealt if each.zone == "burn"]
    for each in burns:
        play.lift(play.t + play.rng.uniform(0.0, 0.5), each.uid)
    play.pack += [each.card for each in burns]
    play.rng.shuffle(play.pack)
    play.wait(6.0, 12.0)
