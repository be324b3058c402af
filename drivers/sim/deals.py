"""Deals that are no hands: the button draw and the chip race, cards face up."""

from __future__ import annotations

from typing import TYPE_CHECKING

from drivers.sim.deck import CARDS
from drivers.sim.hands import script

if TYPE_CHECKING:
    from drivers.sim.people import Play
    from drivers.sim.script import Script


def play_button_draw(play: Play) -> Script:
    """One card face up to every seat, from seat 1; suits break ties."""
    seats = list(play.table.occupied)
    play.say(play.t, "button-draw", seats=seats)
    play.wait(0.8, 2.5)
    play.live = seats
    for seat in seats:
        play.deal_seat(seat, "button-draw", up=True)
    _clear(play)
    return script(play, "button-draw")


def drawn_button(made: Script) -> int:
    """The seat that the draw gave the button: `CARDS` is in order of rank, then suit."""
    ranked = sorted(made.truth.dealt, key=lambda each: CARDS.index(each.card))
    return ranked[-1].seat or 0


def play_chip_race(play: Play, old: int = 25, new: int = 100) -> Script:
    """One card face up per odd chip, all of a player's before the next player's, from seat 1."""
    seats = play.table.occupied
    ratio = new // old
    counts = dict.fromkeys(seats, 0)
    while not any(count % ratio for count in counts.values()):
        counts = {seat: play.rng.randrange(13) for seat in seats}
    fields = {"from": old, "to": new, "counts": {str(s): n for s, n in counts.items()}}
    play.say(play.t, "chip-race", **fields)
    play.wait(0.8, 2.5)
    play.live = list(seats)
    for seat, count in counts.items():
        for _ in range(count % ratio):
            play.deal_seat(seat, "chip-race", up=True)
    _clear(play)
    return script(play, "chip-race", counts=counts, chips=(old, new))


def _clear(play: Play) -> None:
    """The cards lie for all to see, then go back into the pack."""
    play.wait(8.0, 14.0)
    play.sweep()
