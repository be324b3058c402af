"""Odds: asked for by the table, worked out outside, told only while the question stands."""

from __future__ import annotations

import asyncio
import base64
import json
from collections import Counter

import pytest
from nacl.public import PrivateKey, SealedBox

from daemon import config
from daemon.calculator import Calculator, answer
from daemon.engine import AnswersInMemory, Engine
from daemon.events import Odds, Question, SeatChance
from daemon.odds import equity
from daemon.recording import RawCommand, read_line, write_line
from daemon.replay import FIRST_DAY, messages, output
from daemon.state import TableState
from daemon.wire import Wire
from drivers.sim.table import simulate, write

HANDS = {1: ["As", "Kd"], 2: ["2c", "7h"], 3: ["Qh", "Qd"]}
FLOP = ["Ah", "Kc", "9d"]


def dealt(lay_table, **options):
    felt = lay_table(**options)
    felt.say("start-hand", seats=sorted(HANDS), button=1)
    for turn in range(2):
        for seat, cards in HANDS.items():
            felt.lay(f"seat:{seat}", cards[turn])
    felt.wait(4.0)
    return felt


def run(felt, odds=answer):
    texts = [json.dumps(line).encode() for line in felt.lines]
    return list(messages(felt.setup, "felt", texts, "test", odds))


def told(felt, topic, odds=answer):
    return [json.loads(m.payload) for _, m in run(felt, odds) if m.topic == topic]


def public(felt, odds=answer):
    return [one for one in told(felt, "felt/t1/event", odds) if one["type"] == "equity"]


def private(felt):
    return told(felt, "felt-private/t1/equity")


def chances(body):
    return {one["seat"]: one["equity"] for one in body["seats"]}


def expected(hands, board=(), dead=()):
    return {one.seat: one.equity for one in equity("holdem", hands, board, dead).seats}


def test_nothing_while_a_live_hand_is_not_tabled(lay_table):
    felt = dealt(lay_table)
    felt.say("show", seats=[1, 2])
    felt.wait(1.0)
    assert public(felt) == private(felt) == []
    felt.say("show", seats=[3])
    felt.wait(1.0)
    (body,) = public(felt)
    assert chances(body) == expected(HANDS)
    assert body["exact"]
    assert private(felt) == []


def test_again_on_each_street_and_never_after_the_showdown(lay_table):
    felt = dealt(lay_table)
    felt.say("fold", seat=2)
    felt.say("show", seats=[1, 3])
    felt.wait(1.0)
    live = {1: HANDS[1], 3: HANDS[3]}
    felt.lay("board", *FLOP, rest=3.0)
    felt.lay("board", "3d", rest=3.0)
    felt.lay("board", "4d", rest=3.0)
    felt.say("showdown")
    felt.wait(2.0)
    boards = [(), FLOP, [*FLOP, "3d"], [*FLOP, "3d", "4d"]]
    assert [chances(one) for one in public(felt)] == [expected(live, board) for board in boards]
    names = [one["type"] for one in told(felt, "felt/t1/event")]
    assert names.count("equity") == 4
    assert names.index("equity") > max(n for n, name in enumerate(names) if name == "hand-shown")


def test_what_is_dead_is_used_only_where_it_may_be_known(lay_table):
    felt = dealt(lay_table, hole_cards="clear")
    felt.say("fold", seat=2)
    felt.say("show", seats=[1, 3])
    felt.wait(1.0)
    live = {1: HANDS[1], 3: HANDS[3]}
    assert [chances(one) for one in public(felt)] == [expected(live)]
    assert chances(private(felt)[0]) == expected(HANDS)
    assert chances(private(felt)[-1]) == expected(live, dead=HANDS[2])


@pytest.mark.parametrize("mode", ["off", "sealed", "delayed", "clear"])
def test_the_mode_decides_who_hears_of_hidden_hands(lay_table, mode):
    key = PrivateKey.generate()
    more = {"receivers": {"overlay": base64.b64encode(bytes(key.public_key)).decode()}}
    felt = dealt(
        lay_table,
        hole_cards=mode,
        delay=10_000 if mode == "delayed" else None,
        **(more if mode == "sealed" else {}),
    )
    felt.wait(4.0)
    early = private(felt)
    assert public(felt) == []
    if mode == "off":
        assert early == []
        return
    if mode == "delayed":
        assert early == []
        felt.wait(12.0)
        early = private(felt)
    if mode == "sealed":
        (sealed,) = early
        assert set(sealed) >= {"to", "box"}
        assert "seats" not in sealed
        early = [json.loads(SealedBox(key).decrypt(base64.b64decode(sealed["box"])))]
    (body,) = early
    assert chances(body) == expected(HANDS)
    assert {"seats", "exact", "deals", "seq", "hand"} <= set(body)


def test_the_same_public_bytes_whatever_the_private_root_hears(lay_table):
    streams = []
    for mode in ("off", "clear"):
        felt = dealt(lay_table, hole_cards=mode)
        felt.say("show", seats=sorted(HANDS))
        felt.wait(1.0)
        sent = run(felt)
        streams.append([(now, m.topic, m.payload) for now, m in sent if not m.private])
    assert streams[0] == streams[1]


def test_an_answer_to_an_old_question_is_dropped(lay_table):
    felt = dealt(lay_table)
    felt.say("show", seats=sorted(HANDS))
    felt.wait(1.0)
    asked = []
    assert public(felt, odds=asked.append) == []
    stale = answer(asked[0])
    felt.lay("board", *FLOP, rest=3.0)
    felt.lines.append(json.loads(write_line(round(felt.t * 1000), stale)))
    assert public(felt, odds=None) == []
    asked.clear()
    public(felt, odds=asked.append)
    felt.lines.append(json.loads(write_line(round(felt.t * 1000), answer(asked[-1]))))
    felt.lines.append(felt.lines[-1])
    (body,) = public(felt, odds=None)
    assert chances(body) == expected(HANDS, FLOP)


def test_a_recording_that_has_the_answers_is_not_answered_anew(lay_table):
    """The run that answered at once, and the replay of what it recorded, byte for byte."""
    felt = dealt(lay_table, hole_cards="clear")
    felt.say("show", seats=sorted(HANDS))
    felt.wait(1.0)
    felt.lay("board", *FLOP, rest=3.0)
    recorded = []

    def lines():
        for number, line in enumerate(felt.lines):
            recorded.append(line if number else line | {"odds": True})
            yield json.dumps(line).encode()

    def odds(question):
        found = answer(question)
        recorded.append(json.loads(write_line(round(recorded[-1]["t"] * 1000), found)))
        return found

    live = [output(*one) for one in messages(felt.setup, "felt", lines(), "test", odds)]
    texts = [json.dumps(line).encode() for line in recorded]
    assert [output(*one) for one in messages(felt.setup, "felt", texts, "t", pytest.fail)] == live
    assert sum(b'"equity":' in line for line in live) > 2


@pytest.mark.parametrize("discipline", ["holdem", "omaha", "stud"])
def test_odds_leak_nothing_in_public(tmp_path, scorer, discipline):
    told = Counter()
    for seed in range(2):
        folder = tmp_path / str(seed)
        folder.mkdir()
        session = simulate(discipline, "brutal", seed, 4, commands=True, keys=True, extras=True)
        truths = write(session, folder)
        table = folder / "table.toml"
        table.write_text(table.read_text().replace("[secrecy]", '[secrecy]\nhole_cards = "clear"'))
        with (folder / "recording.jsonl").open("rb") as lines:
            setup = config.load(table).setup()
            sent = [json.loads(output(*one)) for one in messages(setup, "felt", lines, "x", answer)]
        assert scorer.leaks(truths, sent) == []
        told.update(line["topic"] for line in sent)
    assert told["felt-private/sim/equity"] > 2


def test_an_answer_comes_back_from_its_line():
    question = Question(
        private=True,
        hand=7,
        discipline="stud",
        hands={2: ["As"], 9: ["Kd"]},
        board=[],
        dead=["2c"],
    )
    seats = [SeatChance(2, 1 / 3, 0.0, 1 / 3), SeatChance(9, 2 / 3, 0.0, 2 / 3)]
    for odds in (
        Odds(question, seats, exact=True, deals=3),
        Odds(question, seats, exact=False, deals=3, error=0.1),
    ):
        assert read_line(write_line(5, odds)) == (5, odds)


def test_cards_that_do_not_fit_have_no_odds_and_are_not_logged(caplog):
    question = Question(
        private=True,
        hand=7,
        discipline="holdem",
        hands={2: ["As", "Kd"], 9: ["As", "Qd"]},
        board=[],
        dead=[],
    )
    assert answer(question) is None
    assert not {"As", "Kd", "Qd"} & set(caplog.text.replace(":", " ").split())
    assert "hand 7" in caplog.text


def test_the_calculator_answers_the_newest_question_beside_the_loop():
    def question(board):
        return Question(
            private=False, hand=1, discipline="holdem", hands=HANDS, board=board, dead=[]
        )

    async def main():
        answers = asyncio.Queue()
        calculator = Calculator(answers.put_nowait)
        calculator.ask([question([])])
        calculator.ask([question(FLOP)])
        task = asyncio.create_task(calculator.run())
        first = await answers.get()
        calculator.ask([question(FLOP)])
        calculator.ask([question([*FLOP, "3d"])])
        second = await answers.get()
        task.cancel()
        return first.question.board, second.question.board, answers.empty()

    assert asyncio.run(main()) == (FLOP, [*FLOP, "3d"], True)


def test_a_draw_wipes_what_was_asked_about_the_hand_before(lay_table):
    felt = dealt(lay_table, hole_cards="clear")
    felt.say("end-hand")
    felt.sweep()
    state = TableState("x", "holdem")
    table = Engine(felt.setup, state, Wire("t1", "felt", "x", FIRST_DAY), AnswersInMemory())
    held = []
    for line in felt.lines[1:]:
        now, entry = read_line(json.dumps(line).encode())
        table.feed(now, entry)
        for question in table.questions():
            table.feed(now, answer(question))
        held.append(dict(state.odds))
    assert held[-1]["private"].hands == HANDS
    draw = {"id": "d", "by": "floor", "type": "button-draw", "seats": [1, 2]}
    table.feed(now + 1, RawCommand(json.dumps(draw).encode(), private=False))
    assert state.deal is not None
    assert state.odds == {}
