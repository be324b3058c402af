from __future__ import annotations

import json

import pytest

from daemon.cli import main

TABLE = '[table]\nid = "t1"\ndiscipline = "holdem"\nseats = 6\n'
CLOSED = '[mqtt]\nurl = "mqtt://127.0.0.1:1"\n[state]\ndir = "state"\n'


@pytest.fixture
def config(tmp_path):
    path = tmp_path / "t1.toml"
    path.write_text(TABLE + CLOSED)
    return path


def test_a_line_and_a_remedy_for_each(capsys, config):
    assert main(["check", "--config", str(config)]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("ok    ")
    wrong = [number for number, line in enumerate(lines) if line.startswith("WRONG ")]
    assert len(wrong) == 2
    assert all(lines[number + 1].startswith("      -> ") for number in wrong)


def test_in_russian(capsys, config):
    assert main(["check", "--config", str(config), "--lang", "ru"]) == 1
    text = capsys.readouterr().out
    assert "НЕТ   " in text
    assert "работает ли брокер" in text


def test_as_json(capsys, config):
    assert main(["check", "--config", str(config), "--json"]) == 1
    findings = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert {"key", "state", "message", "remedy"} == set(findings[0])
    wrong = [each["key"] for each in findings if each["state"] == "problem"]
    assert wrong == ["deck-none", "broker-silent"]


def test_a_wrong_key_is_78(capsys, config):
    config.write_text(TABLE + "colour = 1\n")
    assert main(["check", "--config", str(config)]) == 78
    assert "colour" in capsys.readouterr().out


def test_no_file_is_78(capsys, tmp_path):
    assert main(["check", "--config", str(tmp_path / "none.toml")]) == 78
    assert "none.toml" in capsys.readouterr().out
