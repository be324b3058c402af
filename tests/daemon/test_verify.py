from __future__ import annotations

import io
import json

import pytest

from daemon.cli import main
from daemon.verify import verify
from drivers.sim.table import simulate


@pytest.fixture(scope="module")
def evening(tmp_path_factory):
    """Messages of three hands with commitments and at least one showdown."""
    from daemon import config, replay  # noqa: PLC0415
    from drivers.sim.table import write  # noqa: PLC0415

    folder = tmp_path_factory.mktemp("evening")
    write(simulate("holdem", "clean", 3, 4, commands=True, keys=True), folder)
    setup = config.load(folder / "table.toml").setup()
    with (folder / "recording.jsonl").open("rb") as lines:
        return [
            json.loads(replay.output(now, message))
            for now, message in replay.messages(setup, "felt", lines, "x")
        ]


def checked(messages):
    return verify(json.dumps(each).encode() for each in messages)


def texts(messages):
    return [(fault.line, fault.text) for fault in checked(messages).faults]


def but_heads(told):
    """What is told besides that the chain of results is broken, which it has to be."""
    broken = "head does not follow"
    assert any(broken in text for _, text in told)
    return [(line, text) for line, text in told if broken not in text]


def find(messages, kind):
    return next(n for n, each in enumerate(messages) if each["payload"].get("type") == kind)


def changed(messages, at, **fields):
    copy = list(messages)
    copy[at] = messages[at] | {"payload": messages[at]["payload"] | fields}
    return copy


@pytest.mark.parametrize("discipline", ["holdem", "omaha", "stud"])
@pytest.mark.parametrize("level", ["clean", "brutal"])
def test_what_the_table_tells_is_as_it_was_promised(play, discipline, level):
    session = simulate(discipline, level, 3, 8, commands=True, keys=True)
    _, messages = play(session, 'hole_cards = "clear"')
    report = checked(messages)
    assert report.ok, report.faults
    assert report.commits > 30
    assert report.opens > 3
    assert report.messages == len(messages)


def test_a_missing_message_is_found(evening):
    for name in ("event", "showdown"):
        at = next(n for n, each in enumerate(evening) if n > 40 and each["topic"].endswith(name))
        seq = evening[at]["payload"]["seq"]
        told = texts(evening[:at] + evening[at + 1 :])
        assert any(f"seq {seq} is missing before" in text for _, text in told)
        assert told[0][0] >= at + 1


def test_a_missing_end_is_found_by_the_state(evening):
    last = max(n for n, each in enumerate(evening) if each["topic"].endswith("event"))
    assert any(
        "state tells of seq" in text for _, text in texts(evening[:last] + evening[last + 1 :])
    )


def test_what_comes_twice_or_late_is_no_fault(evening):
    late = evening[50] | {"payload": evening[50]["payload"] | {"late": True}}
    assert checked([*evening[:50], *evening[51:], late]).ok
    assert checked([*evening, *evening[20:60]]).ok


def test_the_same_number_with_other_words_is_found(evening):
    at = find(evening, "street")
    again = evening[at] | {"payload": evening[at]["payload"] | {"street": "river"}}
    assert texts([*evening, again])[0] == (
        len(evening) + 1,
        f"seq {again['payload']['seq']} differs from line {at + 1}",
    )


@pytest.mark.parametrize(
    ("fields", "text"),
    [
        ({"card": "2c"}, "does not fit its commitment"),
        ({"salt": "00" * 16}, "does not fit its commitment"),
        ({"salt": "00"}, "does not fit its commitment"),
        ({"salt": "no hex"}, "cannot be read"),
        ({"n": 1}, "commitment 1 is opened, the last one is 0"),
        ({"index": 7}, "opened without a commitment"),
    ],
)
def test_a_wrong_opening_is_found_at_its_line(evening, fields, text):
    at = find(evening, "open")
    told = texts(changed(evening, at, **fields))
    assert any(line == at + 1 and text in each for line, each in told), told


def test_a_commitment_that_changes_afterwards_is_found(evening):
    opened = evening[find(evening, "open")]["payload"]
    place = {key: opened[key] for key in ("hand", "seat", "index")} | {"type": "commit"}
    at = next(n for n, each in enumerate(evening) if place.items() <= each["payload"].items())
    told = texts(changed(evening, at, hash="0" * 64))
    where = f"hand {place['hand']}, seat {place['seat']}, card {place['index']}"
    assert {text for _, text in told} == {f"{where}: the opening does not fit its commitment"}
    assert any("commitment 3 instead of 0" in text for _, text in texts(changed(evening, at, n=3)))
    other = changed(evening, at, replaces="0" * 64)
    assert any("replaces another" in text for _, text in texts(other))


def without(messages, kind, hand):
    """The messages with those of a kind left out and everything numbered anew."""
    kept = [
        each
        for each in messages
        if not (each["payload"].get("type") == kind and each["payload"]["hand"] == hand)
    ]
    counted = [each for each in kept if "seq" in each["payload"] and "state" not in each["topic"]]
    numbers = {each["payload"]["seq"]: n for n, each in enumerate(counted, 1)}
    return [
        each | {"payload": each["payload"] | {"seq": numbers[each["payload"]["seq"]]}}
        for each in counted
    ]


def test_a_shown_card_that_is_never_opened_is_found(evening):
    hand = evening[find(evening, "open")]["payload"]["hand"]
    told = but_heads(texts(without(evening, "open", hand)))
    assert told
    assert all("never opened" in text for _, text in told)


def test_a_showdown_with_other_cards_than_opened_is_found(evening):
    at = next(n for n, each in enumerate(evening) if each["topic"].endswith("showdown"))
    hands = [dict(each) for each in evening[at]["payload"]["hands"]]
    hands[0]["cards"] = [hands[0]["cards"][1], hands[0]["cards"][0]]
    told = but_heads(texts(changed(evening, at, hands=hands)))
    assert [text.partition(": ")[2] for _, text in told] == ["shown is not what was opened"] * 2


def test_a_card_that_was_opened_and_never_shown_is_found(evening):
    messages = evening
    for at, each in enumerate(evening):
        if each["topic"].endswith("showdown"):
            messages = changed(messages, at, hands=[])
        if each["payload"].get("type") == "hand-shown":
            messages = changed(messages, at, seat=0)
    told = but_heads(texts(messages))
    assert told
    assert all("though the seat never showed" in text for _, text in told)


def test_who_joins_in_mid_hand_is_not_blamed(evening):
    opened = find(evening, "open")
    state = max(n for n, each in enumerate(evening[: opened - 3]) if "state" in each["topic"])
    showdown = next(each for each in evening if each["topic"].endswith("showdown"))
    old = showdown | {"payload": showdown["payload"] | {"seq": 1, "hand": 0, "hands": []}}
    joined = checked([old, *evening[state:]])
    assert joined.ok, joined.faults
    assert joined.unchecked >= 2


@pytest.mark.parametrize(
    ("line", "text"),
    [
        (b"{", "no message"),
        (b"[]", "no message"),
        (b'{"topic": "felt/t1/event", "payload": "\xff"}', "no message"),
        (b'{"topic": "felt/t1/event", "payload": {"v": 2}}', "v is 2, not 1"),
        (b'{"topic": "felt/t1/event", "payload": {"v": 1, "table": "t2"}}', "table is 't2'"),
        (b'{"topic": "felt/t1/event", "payload": {"v": 1, "table": "t1"}}', "epoch is missing"),
        (
            b'{"topic": "f/t/alert", "payload": {"v": 1, "table": "t", "epoch": "e", "at": ""}}',
            "alert: seq is None",
        ),
    ],
)
def test_a_line_that_is_no_message_is_named(line, text):
    (fault,) = verify([b"", line]).faults
    assert fault.line == 2
    assert text in fault.text


def test_payloads_may_be_texts_as_mosquitto_sub_prints_them(evening):
    lines = [
        {"tst": "", "topic": each["topic"], "qos": 1, "payload": json.dumps(each["payload"])}
        for each in evening
    ]
    assert checked(lines).ok
    assert checked(lines).messages == len(evening)


def test_the_command_line_says_where(evening, tmp_path, capsys, monkeypatch):
    good, bad = tmp_path / "good.jsonl", tmp_path / "bad.jsonl"
    good.write_text("".join(json.dumps(each) + "\n" for each in evening))
    at = find(evening, "open")
    bad.write_text(
        "".join(json.dumps(each) + "\n" for each in changed(evening, at, salt="11" * 16))
    )
    assert main(["verify", str(good)]) == 0
    assert "All is as it was promised." in capsys.readouterr().out
    assert main(["verify", str(bad)]) == 1
    assert f"bad.jsonl, line {at + 1}: hand" in capsys.readouterr().out
    assert main(["verify", "--json", str(bad)]) == 1
    report = json.loads(capsys.readouterr().out)
    assert report["ok"] is False
    assert [fault["line"] for fault in report["faults"]] == [at + 1]
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(good.read_bytes())))
    assert main(["verify", "-"]) == 0
    assert main(["verify", str(tmp_path / "none")]) == 1
    assert "No such file" in capsys.readouterr().err
