"""Records of finished hands: what they say, what they keep quiet, and what finds a change."""

from __future__ import annotations

import dataclasses
import json
import subprocess
import sys
import tomllib
from contextlib import closing
from random import Random

import pytest
from pokerkit import HandHistory

from daemon import config, recordcheck, recordfile, records, replay, signing
from daemon.cli import main
from daemon.journal import Journal
from daemon.memory import STANDING_MS, Memory
from daemon.recorder import Recorder
from daemon.recording import RawCommand, read_line, read_opening
from daemon.verify import verify
from drivers.sim.table import simulate, write

DISCIPLINES = ("holdem", "omaha", "stud")
FORCED = {
    "NT": {"min_bet": 2},
    "PO": {"min_bet": 2},
    "F7S": {"bring_in": 1, "small_bet": 2, "big_bet": 4},
}
"""What pokerkit needs to apply a hand, and the table does not know."""


class Evening:
    """A simulated session at a table with a real journal, that may go down at any time."""

    def __init__(self, folder, session, *keys, betting=None):
        self.folder = folder
        self.truths = write(session, folder)
        table = folder / "table.toml"
        text = table.read_text().replace("[secrecy]", "\n".join(("[secrecy]", *keys)))
        if betting:
            text = text.replace("[table]", f'[table]\nbetting = "{betting}"')
        table.write_text(text)
        self.config = config.load(table)
        self.state = self.config.state_dir
        self.inputs = [
            read_line(line)
            for line in (folder / "recording.jsonl").read_bytes().splitlines()
            if read_opening(line) is None
        ]
        self.messages = []
        self.journal = None
        self.open()

    def open(self):
        self.journal = Journal.open(self.state, 0.0)
        self.memory = Memory(self.config, self.journal)

    def crash(self):
        """What a kill leaves: everything committed, nothing else."""
        self.journal.close()
        self.open()

    def play(self, inputs=None, every=25):
        for number, (now, entry) in enumerate(self.inputs if inputs is None else inputs, 1):
            before = len(self.memory._messages)
            self.memory.take(now, entry)
            self.messages += self.memory._messages[before:]
            if number % every == 0:
                self.memory.commit()
        self.memory.commit()
        return self

    def say(self, kind, **fields):
        body = {"id": f"{kind}-x", "by": "floor", "type": kind, **fields}
        now = self.memory.state.now + 10
        self.memory.take(now, RawCommand(json.dumps(body).encode(), private=False))
        return json.loads(self.memory._messages[-1].payload)

    def close(self):
        self.memory.close()
        self.journal.close()

    @property
    def records(self):
        return self.state / "records"

    def paths(self):
        return recordcheck.files(self.records)

    def fields(self):
        return [record.fields for record in recordcheck.load(self.paths())]

    def report(self, key=None):
        return recordcheck.verify(self.paths(), key)

    def ended(self):
        """The numbers of the hands of poker that were told to be over."""
        bodies = [json.loads(m.payload) for m in self.messages if m.topic.endswith("/event")]
        started = [b["hand"] for b in bodies if b["type"] == "hand-started"]
        over = {b["hand"] for b in bodies if b["type"] in {"hand-ended", "hand-voided"}}
        return [number for number in started if number in over]


def evening(folder, discipline="holdem", level="field", hands=4, seed=3, **options):
    keys = options.pop("keys", ())
    betting = options.pop("betting", None)
    options = {"commands": True, "keys": True, "extras": True} | options
    session = simulate(discipline, level, seed, hands, **options)
    return Evening(folder, session, *keys, betting=betting)


@pytest.fixture(scope="module")
def played(tmp_path_factory):
    """An evening of each discipline, closed."""

    def play(discipline):
        one = evening(tmp_path_factory.mktemp(discipline), discipline, hands=6, seed=5).play()
        one.close()
        return one

    return {discipline: play(discipline) for discipline in DISCIPLINES}


@pytest.mark.parametrize("discipline", DISCIPLINES)
def test_each_finished_hand_is_recorded_once_and_in_order(played, discipline):
    one = played[discipline]
    assert [fields["hand"] for fields in one.fields()] == one.ended()
    assert len(one.ended()) >= 3
    report = one.report(one.memory.archive.public)
    assert report.ok, report.faults
    assert report.signed == report.records == len(one.ended())
    assert report.begins == 1
    assert all(fields["_finished"] for fields in one.fields())


@pytest.mark.parametrize("discipline", DISCIPLINES)
def test_a_record_says_what_was_told(played, discipline):
    shown = 0
    for fields in played[discipline].fields():
        numbers = {f"p{place}": seat for place, seat in enumerate(fields["seats"], 1)}
        told = [each for each in fields["_results"] if each["topic"] == "showdown"]
        actions = [text.split() for text in fields["actions"]]
        board = "".join(each[2] for each in actions if each[:2] == ["d", "db"])
        tabled = {numbers[each[0]]: each[2] for each in actions if each[1:2] == ["sm"] and each[2:]}
        if told:
            assert board == "".join(told[-1]["board"])
            assert tabled == {each["seat"]: "".join(each["cards"]) for each in told[-1]["hands"]}
            shown += len(tabled)
        folded = {numbers[each[1]] for each in actions if each[0] == "#"}
        assert folded == set(fields["_folded"])
        assert len(fields["_times"]) == len(actions)
        assert not {each[1] for each in actions} & {"cc", "cbr", "pb"}
        assert {each[1] for each in actions if each[0].startswith("p")} <= {"sm"}
    assert shown


@pytest.mark.parametrize("discipline", DISCIPLINES)
def test_pokerkit_reads_the_records_and_deals_them(played, discipline):
    (path,) = played[discipline].paths()
    hands = list(HandHistory.loads_all(path.read_text()))
    assert [hand.hand for hand in hands] == played[discipline].ended()
    for record, hand in zip(recordcheck.load([path]), hands, strict=True):
        assert HandHistory.loads(record.text).actions == hand.actions
        assert all(stack.is_infinite() for stack in hand.starting_stacks)
        assert hand.user_defined_fields["_unknown"][-1] == "bets"
        seats = len(hand.seats)
        if seats < 2:
            continue
        forced = dict(FORCED[hand.variant])
        if "bring_in" not in forced:
            forced["blinds_or_straddles"] = [1, 2, *[0] * seats][:seats]
        dealt = dataclasses.replace(hand, actions=hand.actions[:seats], **forced)
        *_, last = dealt
        cards = ["".join(map(repr, own)) for own in last.hole_cards]
        assert cards == [text.split()[3] for text in hand.actions[:seats]]


def test_the_button_is_last_and_the_draw_goes_before(played):
    first, *others = played["holdem"].fields()
    for fields in (first, *others):
        if fields["_button"] in fields["seats"]:
            assert fields["seats"][-1] == fields["_button"]
    assert first["_results"][0]["topic"] == "ruling/button-draw"
    openers = [each["topic"] for fields in played["stud"].fields() for each in fields["_results"]]
    assert openers.count("ruling/first-to-act") > 3


@pytest.mark.parametrize(
    ("discipline", "betting", "variant"),
    [("holdem", "fixed-limit", "FT"), ("stud", "no-limit", "F7S"), ("omaha", "no-limit", "PO")],
)
def test_the_betting_is_named(tmp_path, discipline, betting, variant):
    one = evening(tmp_path, discipline, "clean", hands=1, extras=False, betting=betting).play()
    one.close()
    (fields,) = one.fields()
    assert (fields["variant"], fields["_betting"]) == (variant, betting)
    assert HandHistory.loads(recordcheck.load(one.paths())[0].text).variant == variant


def test_text_of_people_stays_text(tmp_path):
    one = evening(tmp_path, hands=1, extras=False)
    names = {"1": 'A "b"\\\n[3]\n\n_hash = "00"', "2": "Анна\x7f"}
    assert one.say("set-names", names=names)["ok"]
    one.play()
    one.close()
    (fields,) = one.fields()
    assert {names["1"], names["2"]} < set(fields["players"])
    assert one.report().ok


def leaked(scorer, one):
    """Hidden cards and tags in records, each judged by the hand during which it began."""
    found = []
    for fields in one.fields():
        own = [each for each in fields["_results"] if each["hand"] == fields["hand"]]
        (truth,) = [each for each in one.truths if _began(fields, each)][-1:]
        line = {"t": truth.ends, "topic": "felt/sim/record"}
        told = {key: str(value) for key, value in fields.items() if key != "_results"}
        found += scorer.leaks([truth], [line | {"payload": told | {"own": own}}])
    return found


def _began(fields, truth):
    hours, minutes, seconds = fields["_started"].partition("T")[2].rstrip("Z").split(":")
    return truth.begins - 1 <= int(hours) * 3600 + int(minutes) * 60 + float(seconds)


@pytest.mark.parametrize("discipline", DISCIPLINES)
@pytest.mark.parametrize(
    ("level", "commands"), [("harsh", True), ("brutal", True), ("harsh", False)]
)
def test_no_record_names_a_hidden_card(tmp_path, scorer, discipline, level, commands):
    one = evening(
        tmp_path,
        discipline,
        level,
        seed=17,
        commands=commands,
        extras=commands,
        keys=('hole_cards = "clear"', "floor = true"),
    ).play()
    one.close()
    assert leaked(scorer, one) == []
    assert not [path for path in one.records.iterdir() if path.suffix != ".phhs"]
    assert [oct(path.stat().st_mode & 0o777) for path in one.paths()] == ["0o600"]
    assert oct(one.records.stat().st_mode & 0o777) == "0o700"


@pytest.mark.soak
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("discipline", DISCIPLINES)
@pytest.mark.parametrize("level", ["harsh", "brutal"])
def test_no_record_of_many_names_a_hidden_card(tmp_path, scorer, discipline, level):
    one = evening(tmp_path, discipline, level, hands=400, keys=('hole_cards = "clear"',)).play()
    one.close()
    assert leaked(scorer, one) == []
    assert one.report().ok


def test_records_that_leak_on_purpose_are_caught(tmp_path, scorer, monkeypatch):
    monkeypatch.setattr(records, "_face", lambda _seat, _index, held: held.face or "??")
    one = evening(tmp_path, "holdem", "harsh", seed=17).play()
    one.close()
    assert len(leaked(scorer, one)) > 5


def edited(one, change):
    """The report on a copy of the day's file with its blocks changed."""
    (path,) = one.paths()
    blocks = path.read_text().split("\n\n")[:-1]
    changed = change(list(blocks))
    copy = path.with_name("copy.phhs.txt")
    copy.write_text("".join(f"{block}\n\n" for block in changed))
    try:
        return [fault.text for fault in recordcheck.verify([copy]).faults]
    finally:
        copy.unlink()


def numbered(blocks):
    """Blocks with their `[n]` counted anew, as a careful forger would."""
    return [f"[{n}]\n{block.partition(chr(10))[2]}" for n, block in enumerate(blocks, 1)]


def test_a_record_that_is_missing_is_found(played):
    one = played["holdem"]
    told = edited(one, lambda blocks: numbered(blocks[:1] + blocks[2:]))
    assert len(told) == 1
    assert "2 is missing before it" in told[0]
    told = edited(one, lambda blocks: numbered(blocks[:1] + blocks[3:]))
    assert "2 to 3 are missing before it" in told[0]
    assert "it is [3] in its file, not [2]" in edited(one, lambda b: b[:1] + b[2:])


def test_records_that_were_moved_are_found(played):
    told = edited(played["holdem"], lambda b: numbered([b[0], b[2], b[1], *b[3:]]))
    assert any("comes after record 3" in each for each in told)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("_folded = [", "_folded = [99, "),
        ('"d dh p1 ', '"d dh p2 '),
        ("starting_stacks", " starting_stacks"),
        ('_deck = "', '_deck = "other'),
    ],
)
def test_a_record_that_was_changed_is_found(played, old, new):
    def change(blocks):
        assert old in blocks[1]
        return [blocks[0], blocks[1].replace(old, new, 1), *blocks[2:]]

    told = edited(played["holdem"], change)
    assert len(told) == 1
    assert told[0].startswith("record 2 (hand ")
    assert "it was changed: its hash is another" in told[0]


def forged(block, old, new):
    """A change with the hash made anew: only those who have the key could do more."""
    head, _, text = block.replace(old, new, 1).partition("\n")
    chained, _, rest = text.partition("_hash = ")
    previous = tomllib.loads(text)["_previous"]
    digest = recordfile.hashed(previous, chained)
    return f'{head}\n{chained}_hash = "{digest}"{rest[66:]}'


def test_a_forged_hash_breaks_the_chain_and_the_signature(played):
    one = played["holdem"]
    old, new = "_folded = [", "_folded = [99, "
    told = edited(one, lambda b: [b[0], forged(b[1], old, new), *b[2:]])
    assert [each.partition(": ")[2] for each in told] == [
        "its signature is not genuine",
        "it does not follow record 2 as that stands",
    ]
    told = edited(one, lambda b: [*b[:-1], forged(b[-1], old, new)])
    assert [each.partition(": ")[2] for each in told] == ["its signature is not genuine"]


def test_results_in_a_record_have_to_lead_to_its_head(played):
    def change(blocks):
        return [forged(blocks[0], 'topic = "ruling/button-draw", seq = ', 'topic = "x", seq = 9')]

    told = edited(played["holdem"], change)
    assert any("its results do not lead to its head" in each for each in told)


def test_a_table_without_pynacl_chains_and_does_not_sign(tmp_path, monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "nacl.signing", None)
    one = evening(tmp_path, hands=2, extras=False).play()
    one.close()
    report = one.report()
    assert report.ok
    assert (report.signed, report.unsigned) == (0, 2)
    assert one.memory.archive.public is None
    monkeypatch.undo()
    assert main(["verify", str(one.records)]) == 0
    assert "signatures   0, 2 without" in capsys.readouterr().out
    assert main(["verify", str(one.records), "--key", "AAEC"]) == 1
    assert "it is not signed" in capsys.readouterr().out


def test_another_key_and_a_missing_library_are_said(played, monkeypatch):
    one = played["holdem"]
    told = {fault.text.partition(": ")[2] for fault in one.report("AAEC").faults}
    assert told == {"it is signed with another key"}
    monkeypatch.setitem(sys.modules, "nacl.signing", None)
    report = one.report()
    assert report.ok
    assert (report.signed, report.unchecked) == (0, report.records)


def test_a_key_file_that_is_damaged_is_no_reason_to_stop(tmp_path, caplog):
    one = evening(tmp_path, hands=1, extras=False)
    one.journal.close()
    (one.state / signing.KEY_FILE).write_text("x")
    one.open()
    one.play()
    one.close()
    assert one.report().unsigned == 1
    assert f"{signing.KEY_FILE}: no signing key" in caplog.text


@pytest.mark.parametrize("seed", range(3))
def test_nothing_is_lost_or_told_twice_when_the_table_goes_down(tmp_path, seed):
    random = Random(seed)
    discipline = DISCIPLINES[seed]
    one = evening(tmp_path, discipline, "clean", hands=4, seed=seed)
    rest = one.inputs
    while rest:
        size = random.randint(1, len(one.inputs) // 12)
        one.play(rest[:size], every=random.choice([50, 170, 900]))
        rest = rest[size:]
        one.crash()
    one.close()
    assert [fields["hand"] for fields in one.fields()] == one.ended()
    assert one.report().ok, one.report().faults
    assert one.report().records >= 3


KILLED = """
import os, signal, sys
from pathlib import Path
from daemon import config, recordfile
from daemon.journal import Journal
from daemon.memory import Memory
from daemon.recording import read_line, read_opening

folder, stage, record = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])
calls = 0

def die(*_):
    os.kill(os.getpid(), signal.SIGKILL)

def put(self, descriptor, block):
    global calls
    calls += 1
    if calls == record and stage == "before":
        die()
    if calls == record and stage == "torn":
        os.write(descriptor, block[: len(block) * 2 // 3])
        die()
    original(self, descriptor, block)
    if calls == record and stage == "after":
        die()

original = recordfile.Archive._put
recordfile.Archive._put = put
settings = config.load(folder / "table.toml")
journal = Journal.open(settings.state_dir, 0.0)
memory = Memory(settings, journal)
for line in (folder / "recording.jsonl").read_bytes().splitlines():
    if read_opening(line) is None:
        now, entry = read_line(line)
        if now > memory.state.now or not memory.state.now:
            memory.take(now, entry)
            if memory.urgent:
                memory.commit()
memory.close()
journal.close()
"""


@pytest.mark.parametrize("stage", ["before", "torn", "after"])
def test_a_kill_around_the_writing_of_a_record_costs_nothing(tmp_path, stage):
    one = evening(tmp_path, "holdem", "clean", hands=3, extras=False)
    one.journal.close()
    for record in (1, 2):
        arguments = [sys.executable, "-c", KILLED, str(tmp_path), stage, str(record)]
        assert subprocess.run(arguments, check=False).returncode == -9
        assert stage != "torn" or not one.paths()[0].read_bytes().endswith(b"\n\n")
    arguments = [sys.executable, "-c", KILLED, str(tmp_path), "never", "0"]
    subprocess.run(arguments, check=True)
    numbers = [fields["hand"] for fields in one.fields()]
    assert numbers == [1, 2, 3]
    assert one.report().ok, one.report().faults


def test_the_last_hand_is_recorded_at_a_clean_stop_and_again_when_corrected(tmp_path, capsys):
    one = evening(tmp_path, hands=2, extras=False).play()
    assert len(one.fields()) == 1
    one.close()
    assert len(one.fields()) == 2
    one.open()
    one.close()
    assert len(one.fields()) == 2
    one.open()
    assert one.say("void-hand", reason="fouled deck")["ok"]
    one.close()
    _, last, again = one.fields()
    assert again["hand"] == last["hand"]
    assert again["_replaces"] == last["_record"]
    assert again["_void"]
    assert again["_results"][-1]["topic"] in {"showdown", "event"}
    assert one.report().ok, one.report().faults
    assert main(["hands", "list", "--records", str(one.records)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 3
    assert lines[-1].endswith("void, corrected")


def test_a_hand_that_stands_is_recorded_after_a_while(tmp_path):
    one = evening(tmp_path, hands=1, extras=False).play()
    assert not one.records.exists()
    _, entry = one.inputs[-1]
    for wait in (STANDING_MS - 60_000, 2 * STANDING_MS, 3 * STANDING_MS):
        one.memory.take(one.memory.state.now + wait, entry)
        one.memory.commit()
    assert len(one.fields()) == 1
    one.crash()
    one.memory.take(one.memory.state.now + 1000, entry)
    one.memory.commit()
    assert len(one.fields()) == 1
    one.journal.close()


def test_a_disk_that_refuses_a_record_stops_nothing_and_loses_nothing(tmp_path, caplog):
    one = evening(tmp_path, "holdem", "clean", hands=4, extras=False)
    one.records.write_text("in the way")
    one.play()
    told = [each for each in caplog.messages if "records wait for the disk" in each]
    assert len(told) == 1
    assert one.memory.archive.waiting
    one.crash()
    assert one.memory.pending
    one.records.unlink()
    one.memory.commit()
    assert not one.memory.archive.waiting
    one.close()
    assert [fields["hand"] for fields in one.fields()] == one.ended()
    assert one.report().ok


def test_the_stream_and_the_records_have_the_same_heads(played):
    one = played["stud"]
    bodies = [json.loads(m.payload) for m in one.messages if m.topic.endswith("/event")]
    heads = {b["hand"]: b["head"] for b in bodies if b["type"] == "hand-ended"}
    for fields in one.fields():
        if fields["_results"][-1].get("type") == "hand-ended":
            assert fields["_head"] == heads[fields["_results"][-1]["hand"]]


def stream(one):
    return [json.loads(replay.output(0, message)) for message in one.messages]


def checked(messages):
    return verify(json.dumps(each).encode() for each in messages)


def test_the_chain_of_results_is_checked_over_the_stream(played):
    messages = stream(played["omaha"])
    report = checked(messages)
    assert report.ok, report.faults
    assert report.heads >= len(played["omaha"].ended())
    at = next(n for n, m in enumerate(messages) if m["topic"].endswith("/showdown"))
    changed = [dict(m) for m in messages]
    changed[at] = messages[at] | {"payload": messages[at]["payload"] | {"winners": [99]}}
    (fault,) = checked(changed).faults
    assert "its head does not follow from the results before it" in fault.text
    assert fault.line > at + 1


def test_a_result_that_was_left_out_with_care_is_found(played):
    """All numbers after it are one less, so that no gap shows."""
    messages = [m for m in stream(played["stud"]) if "seq" in m["payload"]]
    public = [m for m in messages if "private" not in m["topic"] and "/state" not in m["topic"]]
    at = next(n for n, m in enumerate(public) if m["topic"].endswith("/first-to-act"))
    kept = [
        m | {"payload": m["payload"] | {"seq": n}}
        for n, m in enumerate(public[:at] + public[at + 1 :], 1)
    ]
    told = {fault.text.partition(": ")[2] for fault in checked(kept).faults}
    assert told == {"its head does not follow from the results before it"}


def _said(entry):
    return entry.data if isinstance(entry, RawCommand) else b""


def test_a_recording_gives_the_same_heads_as_the_table_did(tmp_path):
    """Also one that was begun in the middle of the evening."""
    one = evening(tmp_path, "holdem", "clean", hands=4, seed=5)
    path = tmp_path / "half.jsonl"
    with closing(Recorder(path)) as recorder:
        starts = [n for n, (_, each) in enumerate(one.inputs) if b"start-hand" in _said(each)]
        half = starts[len(starts) // 2] - 1
        one.play(one.inputs[:half])
        told = None
        for now, entry in one.inputs[half:]:
            recorder.before(now, one.memory)
            if told is None and recorder._zero is not None:
                told = len(one.messages)
            recorder.input(now, entry)
            one.play([(now, entry)])
    one.close()
    live = [m.payload for m in one.messages[told:] if m.seq is not None]
    with path.open("rb") as lines:
        setup = one.config.setup()
        again = [m for _, m in replay.messages(setup, "felt", lines, "half")]
    assert [m.payload for m in again if m.seq is not None] == live
    assert sum(b'"head":' in payload for payload in live) >= 2
