from __future__ import annotations

import os
import stat

import pytest

from daemon import decks
from daemon.decks import FACTORY_ORDER, SORTED_ORDER, Deck, from_csv, load, load_all, write
from daemon.errors import ConfigError, FeltdError
from daemon.rules.cards import DECK


def tags(first=0xE004015000000000):
    return {card: f"{first + number:016X}" for number, card in enumerate(DECK)}


@pytest.fixture
def red(tmp_path):
    path = tmp_path / "decks" / "red.toml"
    write(path, Deck("red", tags()))
    return path


def error(function, *arguments):
    with pytest.raises(ConfigError) as caught:
        function(*arguments)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def edited(path, old, new):
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))
    return path


def test_what_is_written_is_read(red):
    deck = load(red)
    assert deck == Deck("red", tags())
    assert deck.card(tags()["Td"]) == "Td"
    assert deck.card("01020304") is None
    assert load_all(red.parent) == [deck]


def test_a_deck_file_is_for_its_owner_only(red):
    assert stat.S_IMODE(red.stat().st_mode) == 0o600
    assert stat.S_IMODE(red.parent.stat().st_mode) == 0o700


def test_writing_is_whole_or_not_at_all(red, monkeypatch):
    before = red.read_text()

    def full(descriptor):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(FeltdError, match=r"red\.toml: No space left"):
        write(red, Deck("red", tags(0xE007000000000000)))
    assert red.read_text() == before
    assert [path.name for path in red.parent.iterdir()] == ["red.toml"]


@pytest.mark.parametrize("order", [FACTORY_ORDER, SORTED_ORDER])
def test_the_orders_hold_every_card_once(order):
    assert sorted(order) == sorted(DECK)


def test_the_factory_order_is_that_of_a_new_deck():
    assert FACTORY_ORDER[:2] == ("As", "2s")
    assert FACTORY_ORDER[25:27] == ("Kd", "Kc")
    assert FACTORY_ORDER[-1] == "Ah"


@pytest.mark.parametrize(
    ("old", "new", "text"),
    [
        ('Td = "E0', '# Td = "E0', "no line for Td"),
        ("Td = ", "Tx = ", "no card"),
        ("\nTd = ", "\nTc = ", "Tc twice, first in line"),
        (tags()["Td"], tags()["Tc"], "has the UID of T"),
        (tags()["Td"], "E00401500000002", "15 digits"),
        (tags()["Td"], "E0040150000000XY", "is not hex"),
        (tags()["Td"], "E004015000", "10 digits"),
        (tags()["Td"], "e004015000000021", 'is to be written "E004015000000021"'),
        (f'"{tags()["Td"]}"', "12", "a UID is text"),
        ('name = "red"', 'name = "blue"', 'name = "red"'),
        ("[cards]", "[crads]", "unknown key crads"),
        ("[cards]", "cards = 3\n[other]", "unknown key other"),
        ("[cards]", "[cards", "line 3"),
        ('name = "red"', "", 'name = "red"'),
    ],
)
def test_a_wrong_file_is_refused_with_the_line_or_card(red, old, new, text):
    message = error(load, edited(red, old, new))
    assert str(red) in message
    assert text in message


def test_the_line_of_a_bad_uid_is_named(red):
    line = red.read_text().splitlines().index(f'Td = "{tags()["Td"]}"') + 1
    assert f"red.toml:{line}: Td" in error(load, edited(red, tags()["Td"], "E0"))


def test_a_file_that_cannot_be_read(red, tmp_path):
    assert "No such file" in error(load, tmp_path / "green.toml")
    red.write_bytes(b"\xff\xfe")
    assert "red.toml" in error(load, red)
    red.write_text("")
    assert "name" in error(load, red)
    red.write_text('name = "red"')
    assert "[cards]" in error(load, red)


def test_a_tag_in_two_decks(red):
    write(red.with_name("blue.toml"), Deck("blue", tags(0xE007000000000000) | {"5h": tags()["Td"]}))
    message = error(load_all, red.parent)
    assert message == f"{red}: Td has tag {tags()['Td']}, which is 5h of deck blue"


def test_no_folder_is_no_deck(tmp_path):
    assert load_all(tmp_path / "nowhere") == []


@pytest.mark.parametrize("name", ["Red", "", "../red", "r" * 33])
def test_a_name_that_cannot_be_a_file(name):
    assert "a name has" in error(decks.check_name, name)


CSV = [f"{uid},{card}" for card, uid in tags().items()]


def test_csv_as_it_comes():
    assert from_csv("red", "red.csv", CSV) == Deck("red", tags())


def test_csv_with_a_heading_and_any_notation():
    symbols = str.maketrans("cdhs", "♣♦♥♠")
    lines = ["Card, UID, note"]
    for card, uid in tags().items():
        pairs = ":".join(uid[at : at + 2] for at in range(0, 16, 2)).lower()
        lines.append(f"{card.translate(symbols).replace('T', '10')}, {pairs}, new")
    assert from_csv("red", "red.csv", [*lines, "", " , "]) == Deck("red", tags())


@pytest.mark.parametrize(
    ("line", "text"),
    [
        ("E00401", "a line is uid,card"),
        ("E00401,As", "6 digits"),
        ("zz,As", "not hex"),
        ("E007000000000000,Ax", "Ax is no card"),
        ("E007000000000000,AsKs", "not one card"),
        ("E007000000000000,", "not one card"),
        (f"E007000000000000,{CSV[0][-2:]}", "twice"),
        (f"{CSV[0][:-2]}3c", "twice"),
    ],
)
def test_csv_lines_that_are_wrong(line, text):
    message = error(from_csv, "red", "red.csv", [CSV[0], line])
    assert message.startswith("red.csv:2: ")
    assert text in message


def test_csv_that_ends_early():
    assert error(from_csv, "red", "red.csv", CSV[:-2]) == (
        "red.csv:50: the end, but no line for As, Ah"
    )
