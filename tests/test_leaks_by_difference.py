"""The same evening with other cards face down: all that is public, and every figure, is the same.

Faces are changed among the cards that nobody has seen yet; the looks stay as they are. Tags are
changed by letting another hidden card be the one that is heard badly. What a running daemon puts on
the public root, into its metrics file, its log, its status line and its records may not differ.
"""

from __future__ import annotations

import json
import logging
from contextlib import closing
from dataclasses import replace
from random import Random

import msgspec
import pytest

from daemon import dealing, memory, metrics, wire
from daemon.antennas import WINDOW, Antennas
from daemon.app import App
from daemon.engine import Engine
from daemon.outbox import Outgoing
from daemon.recording import RawCommand
from drivers import Look
from drivers.sim.layout import Layout
from drivers.sim.table import simulate

DISCIPLINES = ("holdem", "omaha", "stud")
LEVELS = ("harsh", "brutal")
APART = 2.0
"""Cards that become public within so many seconds are of one moment."""
MOMENTS = 5


def turned(setup, deck, hidden, random):
    """The same table where the faces of these hidden cards are dealt out anew among them."""
    uids = [uid for uid, (name, face) in setup.cards.items() if name == deck and face in hidden]
    faces = [setup.cards[uid] for uid in uids]
    by = random.randrange(1, len(uids)) if len(uids) > 1 else 0
    other = dict(zip(uids, faces[by:] + faces[:by], strict=True))
    return replace(setup, cards=setup.cards | other)


def moments(truth):
    """Up to MOMENTS times at which something became public that was not before, in seconds."""
    times = sorted(truth.public.values())
    found = [at for at, before in zip(times, [-APART, *times], strict=False) if at - before > APART]
    return found[:: -(-len(found) // MOMENTS) or 1]


def faces(setup, deck):
    return {face for name, face in setup.cards.values() if name == deck}


def first_difference(one, other):
    for left, right in zip(one, other, strict=False):
        if left != right:
            return f"{left}\n{right}"
    return "" if len(one) == len(other) else f"{len(one)} and {len(other)} messages"


def differences(house, home, seed):
    """Each moment of a hand: what was to be seen before, against other faces on what was not."""
    (truth,) = home.truths
    every, random = faces(home.setup, truth.deck), Random(seed)
    told = home.play()
    found = []
    for at in [*moments(truth), None]:
        seen = {face for face, when in truth.public.items() if at is None or when < at}
        other = turned(home.setup, truth.deck, every - seen, random)
        assert other.cards != home.setup.cards
        until = None if at is None else round(at * 1000)
        again = home.play(setups=[(0, other)], until=until)
        difference = first_difference(house.visible(told, until), house.visible(again))
        found += [f"until {at}: {difference}"] if difference else []
    return found


@pytest.mark.parametrize(
    ("discipline", "level", "commands"),
    [
        ("holdem", "harsh", False),
        ("omaha", "brutal", True),
        ("stud", "harsh", True),
        ("stud", "brutal", False),
    ],
)
def test_no_byte_depends_on_a_face_before_it_is_seen(
    house, tmp_path, monkeypatch, discipline, level, commands
):
    session = simulate(discipline, level, 1, 1, commands=commands)
    home = house.House(tmp_path / "house", session, monkeypatch)
    assert differences(house, home, 1) == []


@pytest.mark.soak
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("discipline", DISCIPLINES)
@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("commands", [False, True])
def test_no_byte_of_many_tables_depends_on_a_face_before_it_is_seen(
    house, tmp_path, monkeypatch, discipline, level, commands
):
    for seed in range(40):
        session = simulate(discipline, level, seed, 1, commands=commands, typing=commands)
        home = house.House(tmp_path / str(seed), session, monkeypatch)
        assert differences(house, home, seed) == []


def test_no_byte_of_many_hands_depends_on_a_face_that_is_never_seen(house, tmp_path, monkeypatch):
    """Long enough for what is counted over many hands."""
    session = simulate("holdem", "harsh", 5, WINDOW + 2, commands=True, speed=8.0)
    home = house.House(tmp_path / "house", session, monkeypatch)
    setups = []
    for truth in home.truths:
        hidden = faces(home.setup, truth.deck) - set(truth.public)
        other = turned(home.setup, truth.deck, hidden, Random(truth.number))
        setups.append((round(truth.begins * 1000), other))
    assert (
        first_difference(house.visible(home.play()), house.visible(home.play(setups=setups))) == ""
    )


@pytest.mark.parametrize("discipline", DISCIPLINES)
def test_no_byte_of_a_table_with_more_antennas_depends_on_a_hidden_face(
    house, tmp_path, monkeypatch, discipline
):
    layout = Layout(discipline, shoe=True, burn=True, up=discipline == "stud", seats=6)
    session = simulate(discipline, "harsh", 2, 1, commands=True, layout=layout)
    home = house.House(tmp_path / "house", session, monkeypatch)
    assert differences(house, home, 2) == []


def high(seat):
    """How many of its hidden cards are aces or kings: a word about them, and none named."""
    return sum(not held.up and (held.face or "")[:1] in {"A", "K"} for held in seat.held)


def of_all(app):
    hand = app.memory.state.hand
    return 0 if hand is None else sum(map(high, hand.seats.values()))


def leak_figure(patch):
    """A counter counts high cards."""

    def told(engine, *arguments):
        hand = engine.state.hand
        found = 0 if hand is None else sum(map(high, hand.seats.values()))
        return msgspec.structs.replace(original(engine, *arguments), noise=found)

    original = Engine.metrics
    patch.setattr(Engine, "metrics", told)


def leak_looks(patch):
    """A reader counts looks at high cards twice, in its health alone."""

    def fed(engine, now, entry):
        known = engine.table.setup.cards
        if isinstance(entry, Look) and any(known.get(t, "  ")[1][0] == "A" for t in entry.tags):
            engine.antennas.take(Look(entry.reader, entry.antenna), {})
        return original(engine, now, entry)

    original = Engine.feed
    patch.setattr(Engine, "feed", fed)


def leak_alert(patch):
    """An alert comes for a good hand, and says nothing of it."""

    def commit(scene, seat):
        if high(seat):
            scene.alert("overheard", seat.zone())
        return original(scene, seat)

    original = dealing.commit
    patch.setattr(dealing, "commit", commit)


def leak_picture(patch):
    """The picture of the table counts one card too few where one is high."""

    def pictured(state, hand, number):
        found, seat = original(state, hand, number), hand.seats.get(number)
        less = 0 if seat is None else bool(high(seat))
        return msgspec.structs.replace(found, cards=found.cards - less)

    original = wire._seat
    patch.setattr(wire, "_seat", pictured)


def leak_log(patch):
    """The log says how good a hand is."""

    def commit(scene, seat):
        logging.getLogger("feltd").debug("strength %d", high(seat))
        return original(scene, seat)

    original = dealing.commit
    patch.setattr(dealing, "commit", commit)


def leak_status(patch):
    """The service manager is told more than a street."""
    original = App._status_line
    patch.setattr(App, "_status_line", lambda app: f"{original(app)} {of_all(app)}")


def leak_record(patch):
    """The record has a word on hands that were never shown."""

    def drafted(hand, ledger, about):
        found = original(hand, ledger, about)
        return replace(found, text=f"{found.text}_high = {sum(map(high, hand.seats.values()))}\n")

    original = memory.draft
    patch.setattr(memory, "draft", drafted)


LEAKS = (leak_figure, leak_looks, leak_alert, leak_picture, leak_log, leak_status, leak_record)


@pytest.mark.parametrize("leak", LEAKS)
@pytest.mark.parametrize("discipline", ["holdem", "stud"])
def test_a_build_that_leaks_without_naming_a_card_is_caught(
    house, tmp_path, monkeypatch, leak, discipline
):
    leak(monkeypatch)
    for seed in range(4):
        session = simulate(discipline, "brutal", seed, 1, commands=True, speed=4.0)
        home = house.House(tmp_path / str(seed), session, monkeypatch)
        if differences(house, home, seed):
            return
    pytest.fail("nothing found")


def weakened(home, pick):
    """The inputs where one hidden card of each hand is heard badly as it lies; `pick` says which.

    It is one of the two seats that keep their hands longest, and is heard well until it is dealt
    and when it leaves.
    """
    weak = {}
    for truth in home.truths:
        folds = {fold.seat: fold.at for fold in truth.folds}
        late = sorted(truth.seats, key=lambda seat: folds.get(seat, truth.ends))[-2:]
        card = next(each for each in truth.dealt if each.seat == late[pick])
        ends = min(folds.get(each, truth.ends) for each in late)
        ends = min([ends, *truth.public.values()]) - 8 if truth.public else ends - 8
        weak.setdefault(card.uid, []).append((truth.streets["preflop"] + 4, ends))
    for number, (now, entry) in enumerate(home.inputs):
        if isinstance(entry, Look) and number % 3 == 0:
            bad = {tag for tag in entry.tags for a, b in weak.get(tag, []) if a < now / 1000 < b}
            yield now, replace(entry, tags=tuple(tag for tag in entry.tags if tag not in bad))
        else:
            yield now, entry


@pytest.fixture
def worn(house, tmp_path, monkeypatch):
    """Two evenings in which the worn card of each hand lies at another seat, up to a window."""
    session = simulate("holdem", "harsh", 6, WINDOW + 2, commands=True, speed=12.0)
    home = house.House(tmp_path / "house", session, monkeypatch)
    until = round(home.truths[WINDOW - 1].begins * 1000)

    def play():
        both = [home.play(inputs=[*weakened(home, pick)]) for pick in (0, 1)]
        early = [house.figures(house.visible(told, until)) for told in both]
        return first_difference(*early), [house.figures(told)[-1] for told in both], len(early[0])

    return play


def test_figures_of_a_window_do_not_tell_where_a_worn_card_lies(worn):
    difference, (one, other), count = worn()
    assert difference == ""
    assert count > 30
    assert one != other, "it is heard badly"


def test_misses_that_are_told_at_once_are_caught(worn, monkeypatch):
    monkeypatch.setattr(Antennas, "settle", settled_at_once)
    assert "misses" in worn()[0]


def settled_at_once(antennas, hands, noise, *, idle):
    antennas._told = antennas._misses.copy()


def own(truth, *seats):
    """The cards that these seats hold face down."""
    return {each.card for each in truth.dealt if each.seat in seats and not each.up}


def typed(now, seat, card):
    body = {"id": "x", "by": "floor", "type": "card", "zone": f"seat:{seat}", "index": 0}
    return now, RawCommand(json.dumps(body | {"card": card}).encode(), private=True)


def typed_twice(house, home):
    """The difference between a typed card that lies at another seat, and one that lies nowhere."""
    (truth,) = home.truths
    first, second = truth.seats[:2]
    clash = min(own(truth, second))
    free = min(faces(home.setup, truth.deck) - {each.card for each in truth.dealt})
    at = round(min(truth.streets.values()) * 1000) + 8000
    shown = [truth.public.get(card, truth.ends) for card in own(truth, first, second)]
    until = round(min(shown) * 1000)
    assert until > at + 15_000, "long enough for the next figures"
    told = []
    for card in (clash, free):
        place = next(n for n, (now, _) in enumerate(home.inputs) if now >= at)
        inputs = [*home.inputs[:place], typed(at, first, card), *home.inputs[place:]]
        told.append(house.visible(home.play(inputs=inputs, until=until)))
    return first_difference(*told)


@pytest.mark.parametrize("discipline", DISCIPLINES)
def test_no_byte_tells_that_a_typed_card_lies_elsewhere(house, tmp_path, monkeypatch, discipline):
    session = simulate(discipline, "harsh", 8, 1, commands=True)
    home = house.House(tmp_path / "house", session, monkeypatch)
    assert typed_twice(house, home) == ""


def test_counted_answers_to_secret_questions_are_caught(house, tmp_path, monkeypatch):
    """A hand with a card that lies elsewhere has no odds, so nobody asks for them."""
    home = house.House(
        tmp_path / "house", simulate("omaha", "harsh", 8, 1, commands=True), monkeypatch
    )
    monkeypatch.setattr(metrics.Gauge, "took", took_all)
    assert "inputs" in typed_twice(house, home)


def took_all(gauge, entry, seconds):
    gauge.inputs += 1


def test_counted_commits_of_secrets_are_caught(house, tmp_path, monkeypatch):
    home = house.House(
        tmp_path / "house", simulate("omaha", "harsh", 8, 1, commands=True), monkeypatch
    )
    monkeypatch.setattr(
        metrics.Gauge, "committed", lambda gauge, took, public: gauge.commit.add(took)
    )
    assert "commit" in typed_twice(house, home)


def test_refused_secrets_are_counted_once_a_connection(house, tmp_path, monkeypatch):
    home = house.House(tmp_path / "house", simulate("holdem", "clean", 1, 1), monkeypatch)
    app = App(home.config)
    with closing(app.journal):
        for root, topic in [("private", "felt-private/sim/floor")] * 3 + [
            ("public", "felt/sim/event")
        ] * 2:
            app.refused(Outgoing(root, 1, topic, b""), "Not authorized")
        assert app._gauge.refused == 3
        app.on_connect()
        app.refused(Outgoing("private", 1, "felt-private/sim/floor", b""), "Not authorized")
        assert app._gauge.refused == 4
