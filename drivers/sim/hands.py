"""How a hand goes: hold'em and Omaha here, what all disciplines share, and its end."""

from __future__ import annotations

from typing import TYPE_CHECKING

from drivers.sim.script import HandTruth, Kind, Script, Tabled

if TYPE_CHECKING:
    from drivers.sim.people import Play

HOLE_CARDS = {"holdem": 2, "omaha": 4}


def clockwise(seats: tuple[int, ...], after: int) -> list[int]:
    """The seats in order of dealing, from the left of a seat (0 is the dealer)."""
    return [s for s in seats if s > after] + [s for s in seats if s <= after]


def announce(play: Play) -> None:
    """`start-hand`, mostly before the first card, sometimes while cards are in the air."""
    late = play.rng.random() < 0.2
    at = play.t + (play.rng.uniform(0.5, 2.5) if late else -play.rng.uniform(0.5, 3.0))
    fields: dict[str, object] = {"seats": sorted(play.live)}
    if play.button is not None:
        fields["button"] = play.button
    play.say(at, "start-hand", **fields)


def play_flop_game(play: Play) -> Script:
    """A hand of hold'em or Omaha, from the shuffled pack to a clear table."""
    discipline = play.layout.discipline
    seats = play.table.occupied
    order = clockwise(seats, play.button or 0)
    play.live = list(order)
    play.caught = {seat for seat in order[:-1] if play.rng.random() < 0.011}
    announce(play)
    for _ in range(HOLE_CARDS[discipline]):
        for seat in order:
            play.deal_seat(seat, "preflop")
    play.street_out("preflop")
    play.begin_rest()
    betting(play, order[2:] + order[:2], 0.6)
    for street, count in (("flop", 3), ("turn", 1), ("river", 1)):
        if len(play.live) == 1:
            break
        play.wait(0.5, 2.0)
        play.burn(street)
        play.deal_board(count, street)
        play.street_out(street)
        betting(play, order, 0.2)
        table_all_in(play, last=street == "river")
    return finish(play)


def betting(play: Play, order: list[int], loose: float) -> None:
    """Each in turn thinks, some fold; after a raise the rest are asked once more."""
    if play.tabled:
        play.wait(2.0, 5.0)
        return
    laps = 2 if play.rng.random() < 0.3 else 1
    for lap in range(laps):
        for seat in order:
            if len(play.live) == 1:
                return
            if seat not in play.live:
                continue
            play.think(3.6, 1.2)
            if seat in play.caught or play.rng.random() < (loose if lap == 0 else 0.2):
                play.fold(seat)


def table_all_in(play: Play, *, last: bool) -> None:
    """Now and then all is in: the live hands are tabled, and the board is run out.

    Without an operator they stay on their antennas, as such a table asks.
    """
    if last or play.tabled or len(play.live) < 2 or play.rng.random() >= 0.1:
        return
    play.think(6.0)
    tabled_at = play.t
    seats = tuple(sorted(play.live))
    for seat in play.live:
        play.reveal(seat, play.t, slide=play.commands and play.rng.random() < 0.5)
        play.wait(0.3, 2.0)
    play.tabled.append(Tabled(tabled_at, seats))
    play.say(play.t + play.rng.uniform(0.0, 1.5), "show", seats=list(seats))
    play.wait(2.0, 4.0)


def finish(play: Play) -> Script:
    """The showdown or the last hand's surrender, the sweep, and the truth of it all."""
    showdown_at = None
    shown: list[int] = []
    live = list(play.live)
    if len(live) > 1:
        shown = _choose_shown(play)
        showdown_at = _showdown(play, shown)
    else:
        play.end_rest(live[0], play.t + 1.0)
        play.wait(3.0, 6.0)
    ended_early = play.rng.random() < 0.3
    if ended_early:
        play.say(play.t - 0.2, "end-hand")
    play.sweep()
    if not ended_early:
        play.say(play.t + play.rng.uniform(0.1, 2.0), "end-hand")
    play.peeks()
    mucked = [seat for seat in live if seat not in shown] if showdown_at is not None else []
    winner = live[0] if showdown_at is None else None
    return script(play, showdown_at=showdown_at, shown=shown, mucked=mucked, winner=winner)


def _choose_shown(play: Play) -> list[int]:
    """All, if all-in; else some losers muck."""
    if play.tabled:
        return list(play.live)
    muck = 0.3 if play.commands else 0.0
    first, *rest = play.rng.sample(play.live, len(play.live))
    return [first, *(seat for seat in rest if play.rng.random() >= muck)]


def _showdown(play: Play, shown: list[int]) -> float:
    """Hands are turned up within seconds of each other; the cards had time to be read before."""
    play.wait(6.0, 10.0)
    for seat in play.live:
        play.end_rest(seat, play.t - 5.0)
    early = play.rng.random() < 0.3
    at = play.t - 0.1 if early else None
    slide = play.rng.random() < 0.7
    fresh = [seat for seat in shown if not play.tabled]
    for seat in fresh:
        play.reveal(seat, play.t, slide=slide)
        play.wait(0.2, 4.0 / len(fresh))
    kept = [seat for seat in play.live if seat not in shown]
    if at is None:
        play.wait(0.3, 2.0)
    told = play.t if at is None else at
    play.say(told, "showdown", shown=sorted(shown))
    _type_unheard(play, told, shown)
    for seat in kept:
        _muck_live(play, seat)
    play.public.update(
        {c.card: min(told, play.public.get(c.card, told)) for c in play.dealt if c.seat in shown}
    )
    play.wait(4.0, 8.0)
    return told


def _type_unheard(play: Play, told: float, shown: list[int]) -> None:
    """The floor types cards that no reader had heard before they were shown, out of public view."""
    if not play.table.habits.typing:
        return
    unheard = {each.place for each in play.faults if each.kind == "unheard-card"}
    for each in play.dealt:
        if each.uid in unheard and each.seat in shown:
            at = told + play.rng.uniform(1.5, 4.0)
            play.say(at, "card", zone=each.zone, card=each.card)


def _muck_live(play: Play, seat: int) -> None:
    """A loser throws the hand away unseen; with an operator that is no fold but a muck."""
    said, folds = list(play.said), list(play.folds)
    play.fold(seat)
    play.said = said
    if play.commands:
        play.folds = folds


def script(
    play: Play,
    kind: Kind = "hand",
    *,
    showdown_at: float | None = None,
    shown: list[int] | None = None,
    mucked: list[int] | None = None,
    winner: int | None = None,
    counts: dict[int, int] | None = None,
    chips: tuple[int, int] | None = None,
) -> Script:
    """The finished hand as data; its number and ears' faults are filled in by the session."""
    said = sorted(play.said, key=lambda each: each.t)
    events = sorted(play.events, key=lambda each: each.t)
    begins = min([play.begins, *(each.t for each in said)])
    truth = HandTruth(
        number=0,
        kind=kind,
        discipline=play.layout.discipline,
        deck=play.deck.name,
        seats=tuple(sorted(play.table.occupied)),
        button=play.button,
        commands=play.commands,
        begins=begins,
        ends=max([play.t, *(each.t for each in said)]),
        dealt=tuple(play.dealt),
        streets=dict(play.streets),
        folds=tuple(play.folds),
        tabled=tuple(play.tabled),
        showdown_at=showdown_at,
        shown=tuple(sorted(shown or ())),
        mucked=tuple(sorted(mucked or ())),
        winner=winner,
        public=dict(play.public),
        faults=tuple(play.faults),
        counts=counts or {},
        chips=chips,
    )
    return Script(tuple(events), tuple(said), truth)
