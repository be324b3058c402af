"""Nothing that anybody may hear tells of a hidden card: searched, and shown by difference."""

from __future__ import annotations

import json
import logging
from contextlib import closing
from dataclasses import replace

import msgspec
import pytest

from daemon import alerts, commands, config, dealing, wire
from daemon import folds as ends
from daemon.engine import AnswersInMemory, Engine
from daemon.events import CardDealt
from daemon.journal import Journal
from daemon.memory import Memory
from daemon.recording import RawCommand, read_line, read_opening
from daemon.replay import FIRST_DAY
from daemon.rules.labels import Label
from daemon.state import TableState
from daemon.wire import Wire
from drivers.sim.table import simulate, write

DISCIPLINES = ("holdem", "omaha", "stud")
LEVELS = ("harsh", "brutal")
TALKATIVE = ('hole_cards = "clear"', "floor = true")
"""The mode in which the private root hears everything."""


def session(discipline, level, hands, *, commands, seed=17):
    return simulate(discipline, level, seed, hands, commands=commands, keys=True, extras=commands)


@pytest.mark.parametrize("discipline", DISCIPLINES)
@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("commands", [False, True])
def test_no_public_message_names_a_hidden_card(play, scorer, discipline, level, commands):
    truths, lines = play(session(discipline, level, 5, commands=commands), *TALKATIVE)
    assert scorer.leaks(truths, lines) == []
    private = [line for line in lines if line["topic"].startswith("felt-private")]
    assert scorer.leaks(truths, map(published, private)), "the search finds what is there"


def test_cards_of_the_next_hand_are_no_up_cards_of_one_that_did_not_end(play, scorer):
    truths, lines = play(simulate("stud", "brutal", 101, 3, keys=True), *TALKATIVE)
    assert scorer.leaks(truths, lines) == []


@pytest.mark.soak
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("discipline", DISCIPLINES)
@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("commands", [False, True])
def test_no_public_message_of_many_names_a_hidden_card(play, scorer, discipline, level, commands):
    for seed in range(10):
        truths, lines = play(
            session(discipline, level, 50, commands=commands, seed=seed), *TALKATIVE
        )
        assert scorer.leaks(truths, lines) == []


def published(line):
    return line | {"topic": line["topic"].replace("felt-private", "felt")}


def leak_dealt(patch):
    """Cards are dealt with their faces."""

    def add(scene, seat, held):
        original(scene, seat, held)
        scene.tell(CardDealt(zone=seat.zone(), index=len(seat.held) - 1, card=held.face))

    original = dealing.add
    patch.setattr(dealing, "add", add)


def leak_label(patch):
    """An alert says in words which card it means."""

    def told(scene, seat, tag, hits=3):
        held = next(one for one in seat.held if one.tag == tag)
        scene.tell(
            msgspec.structs.replace(
                alerts.alert("overheard", seat.zone()),
                message=Label(f"The {held.face} is loud.", ""),
            )
        )
        return sure(scene, seat, tag, hits)

    sure = ends.sure
    patch.setattr(ends, "sure", told)


def leak_tag(patch):
    """An alert names the tag in its zone."""

    def told(scene, seat):
        scene.alert("overheard", f"{seat.zone()} {seat.held[-1].tag.lower()}" if seat.held else "")
        commit(scene, seat)

    commit = dealing.commit
    patch.setattr(dealing, "commit", told)


def leak_state(patch):
    """The picture of the table takes every card for a shown one."""
    patch.setattr(wire, "_shown", lambda seat: [held.face for held in seat.held if held.face])


@pytest.mark.parametrize("leak", [leak_dealt, leak_label, leak_tag, leak_state])
def test_a_build_that_leaks_on_purpose_is_caught(play, scorer, monkeypatch, leak):
    leak(monkeypatch)
    found = []
    for seed in range(4):
        truths, lines = play(session("holdem", "brutal", 4, commands=True, seed=seed), *TALKATIVE)
        found += scorer.leaks(truths, lines)
        if found:
            return
    pytest.fail("nothing found")


class Play:
    """One hand in a folder of its own, ready to be played to an engine."""

    def __init__(self, folder, discipline, level, seed, *, commands):
        one = simulate(discipline, level, seed, 1, commands=commands)
        (self.truth,) = write(one, folder)
        table = folder / "table.toml"
        keys = "\n".join(("[secrecy]", *TALKATIVE))
        table.write_text(table.read_text().replace("[secrecy]", keys))
        self.config = config.load(table)
        self.setup = self.config.setup()
        self.lines = [
            line
            for line in (folder / "recording.jsonl").read_bytes().splitlines()
            if read_opening(line) is None
        ]
        self.inputs = [read_line(line) for line in self.lines]
        self.hidden = {each.uid: each.card for each in self.truth.dealt} | {
            uid: face for uid, (deck, face) in self.setup.cards.items() if deck == self.truth.deck
        }
        for card in self.truth.public:
            self.hidden = {uid: face for uid, face in self.hidden.items() if face != card}

    def public(self, setup=None, inputs=None):
        setup = setup or self.setup
        state = TableState(epoch="e", discipline=setup.discipline, button=self.truth.button)
        engine = Engine(setup, state, Wire("t1", "felt", "e", FIRST_DAY), AnswersInMemory())
        return [
            (now, message.topic, message.payload)
            for now, entry in (inputs or self.inputs)
            for message in engine.feed(now, entry).messages
            if not message.private
        ]


@pytest.mark.parametrize("discipline", DISCIPLINES)
@pytest.mark.parametrize("level", ["field", "brutal"])
@pytest.mark.parametrize("commands", [False, True])
def test_other_faces_on_hidden_cards_change_no_public_byte(tmp_path, discipline, level, commands):
    for seed in range(2):
        hand = Play(tmp_path / str(seed), discipline, level, seed, commands=commands)
        uids = list(hand.hidden)
        faces = [hand.setup.cards[uid] for uid in uids]
        turned = dict(zip(uids, [*faces[7:], *faces[:7]], strict=True))
        other = replace(hand.setup, cards=hand.setup.cards | turned)
        assert other.cards != hand.setup.cards
        assert hand.public() == hand.public(other)


def typed(now, seat, card):
    body = {"id": "x", "by": "floor", "type": "card", "zone": f"seat:{seat}", "index": 0}
    return now, RawCommand(json.dumps(body | {"card": card}).encode(), private=True)


def masked(messages, until):
    """Public payloads without what may differ: the hash over a secret."""
    return [
        (topic, {k: v for k, v in json.loads(payload).items() if k not in {"hash", "replaces"}})
        for now, topic, payload in messages
        if now < until
    ]


@pytest.mark.parametrize("discipline", DISCIPLINES)
def test_a_typed_clash_with_a_hidden_card_is_told_to_the_floor_alone(tmp_path, discipline):
    hand = Play(tmp_path, discipline, "clean", 8, commands=True)
    first, second = hand.truth.seats[:2]
    clash = next(each for each in hand.truth.dealt if each.seat == second and not each.up)
    dealt = {each.card for each in hand.truth.dealt}
    free = next(face for _, face in hand.setup.cards.values() if face not in dealt)
    street = min(hand.truth.streets.values()) + 8
    at = round(street * 1000)
    place = next(n for n, (now, _) in enumerate(hand.inputs) if now >= at)
    told = []
    for card in (clash.card, free):
        inputs = [*hand.inputs[:place], typed(at, first, card), *hand.inputs[place:]]
        told.append(masked(hand.public(inputs=inputs), at + 3000))
    assert told[0] == told[1]
    assert any(body.get("type") == "command" for _, body in told[0])


def test_a_typed_card_that_is_repeated_in_public_is_caught(tmp_path, scorer, monkeypatch):
    hand = Play(tmp_path, "holdem", "clean", 8, commands=True)
    at = round(min(hand.truth.streets.values()) * 1000) + 8000
    place = next(n for n, (now, _) in enumerate(hand.inputs) if now >= at)
    own = next(each for each in hand.truth.dealt if each.seat == hand.truth.seats[0])
    inputs = [*hand.inputs[:place], typed(at, own.seat, own.card), *hand.inputs[place:]]

    def found():
        lines = [
            {"t": now / 1000, "topic": topic, "payload": json.loads(payload)}
            for now, topic, payload in hand.public(inputs=inputs)
        ]
        return scorer.leaks([hand.truth], lines)

    assert found() == []
    monkeypatch.setattr(commands, "about_hidden_cards", lambda command: False)
    assert any(f"event has {own.card}" in each for each in found())


def test_logs_file_names_and_replies_tell_nothing(tmp_path, caplog):
    hand = Play(tmp_path / "table", "stud", "brutal", 4, commands=True)
    secrets = {each.uid for each in hand.truth.dealt if each.card not in hand.truth.public}
    faces = {each.card for each in hand.truth.dealt if each.card not in hand.truth.public}
    assert len(faces) > 3
    wrong = [
        RawCommand(json.dumps(body).encode(), private)
        for face in sorted(faces)
        for private in (False, True)
        for body in (
            {"id": f"a{face}{private}", "type": "card", "zone": "seat:1", "card": face, "x": 1},
            {"id": f"b{face}{private}", "type": "card", "zone": "seat:9", "card": face},
            {"id": f"c{face}{private}", "type": "remove-card", "zone": "burn", "index": 9},
        )
    ]
    with caplog.at_level(logging.DEBUG), closing(Journal.open(tmp_path / "state", 0.0)) as journal:
        memory = Memory(hand.config, journal)
        for number, (now, entry) in enumerate(hand.inputs):
            memory.take(now, entry)
            if number % 400 == 100 and wrong:
                memory.take(now, wrong.pop())
        memory.commit()
        errors = [
            json.loads(m.payload).get("error", "")
            for m in journal.unsent(10_000)
            if m.topic.endswith("/reply")
        ]
    names = [str(path.relative_to(tmp_path)) for path in (tmp_path / "state").rglob("*")]
    texts = [*caplog.messages, *names, *errors]
    assert len(errors) > 3
    assert not [text for text in texts for uid in secrets if uid in text.upper()]
    assert not [text for text in texts for face in faces if face in text]
