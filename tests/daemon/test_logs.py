from __future__ import annotations

import io
import json
import logging

import pytest

from daemon import logs


@pytest.fixture
def lines(monkeypatch):
    """`lines(formatter, *filters)`: a logger, and what it has written."""
    monkeypatch.delenv("JOURNAL_STREAM", raising=False)

    def build(formatter, *filters):
        out = io.StringIO()
        handler = logging.StreamHandler(out)
        handler.setFormatter(formatter)
        for each in filters:
            handler.addFilter(each)
        logger = logging.Logger("feltd.test")  # noqa: LOG001 - seen by no other test
        logger.addHandler(handler)
        return logger, out

    return build


def test_a_line_elsewhere_is_json_with_hand_table_and_reader(lines):
    logger, out = lines(logs.Fields(), logs.Place("t1", lambda: 17))
    logger.warning("reader %s is down", "rail", extra={"reader": "rail"})
    line = json.loads(out.getvalue())
    assert line["message"] == "reader rail is down"
    assert (line["level"], line["logger"]) == ("warning", "feltd.test")
    assert (line["table"], line["hand"], line["reader"]) == ("t1", 17, "rail")


def test_between_hands_there_is_no_hand(lines):
    logger, out = lines(logs.Fields(), logs.Place("t1", lambda: None))
    logger.info("open")
    assert "hand" not in json.loads(out.getvalue())


@pytest.mark.parametrize("name", ["card", "tag", "tags", "face", "seat"])
def test_no_field_but_those_named_gets_into_a_line(lines, name):
    logger, out = lines(logs.Fields())
    logger.info("taken", extra={name: "As"})
    assert "As" not in out.getvalue()


@pytest.mark.parametrize(
    ("level", "number"), [("info", 6), ("warning", 4), ("error", 3), ("critical", 2)]
)
def test_the_journal_gets_its_priority(lines, monkeypatch, level, number):
    logger, out = lines(logs.Fields())
    monkeypatch.setenv("JOURNAL_STREAM", "8:1")
    getattr(logger, level)("x")
    assert out.getvalue().startswith(f"<{number}>{{")


def test_a_traceback_stays_on_one_line(lines):
    logger, out = lines(logs.Fields())
    try:
        int("two\nlines")
    except ValueError:
        logger.exception("it broke")
    assert out.getvalue().count("\n") == 1
    assert "ValueError: invalid literal" in json.loads(out.getvalue())["message"]


@pytest.mark.parametrize("colour", [True, False])
def test_a_terminal_gets_plain_lines(lines, colour):
    logger, out = lines(logs.Plain(colour=colour), logs.Place("t1", lambda: 3))
    logger.error("the disk is full")
    text = out.getvalue()
    assert "error" in text
    assert "hand 3: the disk is full" in text
    assert ("\x1b[31m" in text) is colour


def test_the_place_of_the_last_table_counts(capsys):
    logs.configure()
    logs.within(logs.Place("t1", lambda: 1))
    logs.within(logs.Place("t2", lambda: None))
    logging.getLogger("feltd").info("here")
    line = json.loads(capsys.readouterr().err)
    assert line["table"] == "t2"
    assert "hand" not in line
