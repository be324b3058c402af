from __future__ import annotations

import copy
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
PARSER = ("@asyncapi/parser", "3.6.6")


def closed(value):
    """The same schemas without room for fields that they do not name."""
    if isinstance(value, list):
        return [closed(each) for each in value]
    if not isinstance(value, dict):
        return value
    changed = {key: closed(each) for key, each in value.items()}
    if "properties" in value and "additionalProperties" not in value:
        changed["additionalProperties"] = False
    return changed


@pytest.fixture(scope="module")
def validators():
    """A strict validator for each channel, by address."""
    document = schema.document()
    components = closed(copy.deepcopy(document["components"]))
    found = {}
    for channel in document["channels"].values():
        names = [each["$ref"].rpartition("/")[2] for each in channel["messages"].values()]
        payloads = [document["components"]["messages"][name]["payload"] for name in names]
        found[channel["address"]] = Draft202012Validator(
            {"oneOf": payloads, "components": components}
        )
    return found


def address(topic):
    root, _, name = topic.split("/", 2)
    if name.startswith("reader/"):
        name = "reader/{reader}"
    return f"{{prefix}}{'-private' if root.endswith('-private') else ''}/{{table}}/{name}"


def test_the_kept_document_is_what_the_types_say(capfdbinary):
    assert main(["schema"]) == 0
    printed = capfdbinary.readouterr().out
    assert printed == DOCUMENT.read_bytes(), "run: feltd schema > docs/asyncapi.json"


@pytest.mark.timeout(300)
def test_the_asyncapi_parser_finds_nothing_wrong(npm):
    script = Path(__file__).with_name("asyncapi.mjs")
    run = subprocess.run(
        ["node", script, npm(*PARSER), DOCUMENT], check=True, capture_output=True, text=True
    )
    said = json.loads(run.stdout)
    assert said["diagnostics"] == []
    assert sorted(said["channels"]) == sorted(each.address for each in CHANNELS)
    assert set(said["messages"]) == set(schema.document()["components"]["messages"])


@pytest.mark.timeout(300)
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
def test_every_message_of_a_replay_fits(play, validators, discipline, level):
    session = simulate(discipline, level, 5, 5, commands=True, keys=True, extras=True)
    _, lines = play(session, 'hole_cards = "clear"')
    seen = set()
    for line in lines:
        errors = list(validators[address(line["topic"])].iter_errors(line["payload"]))
        assert not errors, (line, errors[0].message)
        seen.add((address(line["topic"]), line["payload"].get("type")))
    assert {("{prefix}/{table}/state", None), ("{prefix}/{table}/reply", None)} <= seen
    assert ("{prefix}-private/{table}/hole-cards", None) in seen
    kinds = ("commit", "hand-started", "command", "street")
    assert {("{prefix}/{table}/event", kind) for kind in kinds} <= seen


def test_a_message_that_does_not_fit_is_found(validators):
    alert = {"v": 1, "table": "t1", "epoch": "e", "seq": 4, "at": "2026-11-29T18:00:00.000Z"}
    alert |= {
        "kind": "overheard",
        "severity": "notice",
        "rule": "",
        "message": {"en": "", "ru": ""},
    }
    check = validators["{prefix}/{table}/alert"].is_valid
    assert check(alert)
    assert not check(alert | {"kind": "gossip"})
    assert not check(alert | {"card": "As"})
    assert not check({key: value for key, value in alert.items() if key != "seq"})


def test_commands_that_fit_are_taken_and_others_are_not(validators):
    check = validators["{prefix}/{table}/command"].is_valid
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
        assert check(body) is taken, body


def test_kinds_of_alerts_are_a_closed_list():
    kinds = schema.document()["components"]["schemas"]["Alert"]["properties"]["kind"]
    assert kinds == {"enum": list(KINDS)}
