from __future__ import annotations

import json
import subprocess
from pathlib import Path

import msgspec
import pytest
from jsonschema import Draft202012Validator

from daemon import commands, schema
from daemon.alerts import KINDS
from daemon.cli import main
from daemon.topics import CHANNELS
from drivers.sim.table import simulate

DOCUMENT = Path(__file__).parents[2] / "docs" / "asyncapi.json"
TRAILING = (
    {"id": "1", "type": "card", "zone": "seat:3\n", "card": "As"},
    {"id": "1", "type": "card", "zone": "seat:3", "card": "As\n"},
    {"id": "1", "type": "set-names", "names": {"1\n": "x"}},
    {"id": "1", "type": "chip-race", "from": 25, "to": 100, "counts": {"1\n": 3}},
)
PARSER = ("@asyncapi/parser", "3.6.6")


def test_the_kept_document_is_what_the_types_say(capfdbinary):
    assert main(["schema"]) == 0
    printed = capfdbinary.readouterr().out
    assert printed == DOCUMENT.read_bytes(), "run: feltd schema > docs/asyncapi.json"


@pytest.mark.timeout(1500)
def test_the_asyncapi_parser_finds_nothing_wrong(npm):
    script = Path(__file__).with_name("asyncapi.mjs")
    run = subprocess.run(
        ["node", script, npm(*PARSER), DOCUMENT], check=True, capture_output=True, text=True
    )
    said = json.loads(run.stdout)
    assert said["diagnostics"] == []
    assert sorted(said["channels"]) == sorted(each.address for each in CHANNELS)
    assert set(said["messages"]) == set(schema.document()["components"]["messages"])


@pytest.mark.timeout(1500)
def test_the_asyncapi_parser_does_look(npm, tmp_path):
    document = schema.document()
    document["operations"]["tell.event"]["action"] = "shout"
    (tmp_path / "wrong.json").write_bytes(msgspec.json.encode(document))
    script = Path(__file__).with_name("asyncapi.mjs")
    command = ["node", script, npm(*PARSER), tmp_path / "wrong.json"]
    run = subprocess.run(command, check=True, capture_output=True, text=True)
    assert any(each["severity"] == 0 for each in json.loads(run.stdout)["diagnostics"])


def test_every_type_of_the_document_is_a_valid_schema():
    for each in schema.document()["components"]["schemas"].values():
        Draft202012Validator.check_schema(each)


@pytest.mark.parametrize("discipline", ["holdem", "omaha", "stud"])
@pytest.mark.parametrize("level", ["field", "brutal"])
def test_every_message_of_a_replay_fits(play, contract, discipline, level):
    session = simulate(discipline, level, 5, 5, commands=True, keys=True, extras=True)
    _, lines = play(session, 'hole_cards = "clear"')
    seen = set()
    for line in lines:
        assert contract.faults(line["topic"], line["payload"]) == [], line
        seen.add((contract.address(line["topic"]), line["payload"].get("type")))
    assert {("{prefix}/{table}/state", None), ("{prefix}/{table}/reply", None)} <= seen
    assert ("{prefix}-private/{table}/hole-cards", None) in seen
    kinds = ("commit", "hand-started", "command", "street")
    assert {("{prefix}/{table}/event", kind) for kind in kinds} <= seen


def test_a_message_that_does_not_fit_is_found(contract):
    alert = {"v": 1, "table": "t1", "epoch": "e", "seq": 4, "at": "2026-11-29T18:00:00.000Z"}
    alert |= {
        "kind": "overheard",
        "severity": "notice",
        "rule": "",
        "message": {"en": "", "ru": ""},
    }
    without = {key: value for key, value in alert.items() if key != "seq"}
    assert contract.faults("felt/t1/alert", alert) == []
    for wrong in (alert | {"kind": "gossip"}, alert | {"card": "As"}, without):
        assert contract.faults("felt/t1/alert", wrong)


def test_commands_that_fit_are_taken_and_others_are_not(contract):
    bodies = [
        {"id": "1", "type": "start-hand", "seats": [1, 2], "button": 1},
        {"id": "1", "type": "card", "zone": "seat:3", "card": "As"},
        {"id": "1", "type": "chip-race", "from": 25, "to": 100, "counts": {"1": 3}},
        {"id": "1", "type": "fold", "seat": 11},
        {"id": "1", "type": "card", "zone": "seat:3", "card": "1s"},
        {"id": "1", "type": "set-names", "names": {"12": "x"}},
        {"id": "", "type": "end-hand"},
        {"id": "1", "type": "end-hand", "why": "x"},
    ]
    for body in bodies:
        try:
            commands.decode(json.dumps(body).encode())
            taken = True
        except commands.CommandError:
            taken = False
        assert (contract.faults("felt/t1/command", body) == []) is taken, body


def test_no_line_feed_hides_at_the_end_of_a_field():
    """One behind a zone would make a seat's down card look like no secret."""
    for body in TRAILING:
        with pytest.raises(commands.CommandError, match="matching regex"):
            commands.decode(json.dumps(body).encode())


def test_kinds_of_alerts_are_a_closed_list():
    kinds = schema.document()["components"]["schemas"]["Alert"]["properties"]["kind"]
    assert kinds == {"enum": list(KINDS)}
