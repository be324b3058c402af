"""Every mistake in a configuration is one line that names its key, status 78, nothing started."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from random import Random

import pytest

from daemon.cli import main
from daemon.config import load
from daemon.errors import ConfigError
from drivers.sim.deck import make_deck

GOOD = """
[table]
id = "t1"
discipline = "holdem"
seats = 6

[mqtt]
url = "mqtt://127.0.0.1:1"

[[readers]]
name = "rail"
driver = "feig"
port = "/dev/nowhere"
antennas = { 1 = "seat:1", 2 = "seat:2", 10 = "board", 11 = "board", 12 = "muck" }

[[readers]]
name = "shoe"
driver = "pn532"
port = "/dev/nowhere-either"
antennas = { 1 = "shoe" }

[rules]
preset = "tda"

[secrecy]
hole_cards = "off"

[state]
dir = "state"
"""
EXAMPLE = Path(__file__).parents[2] / "config" / "table.example.toml"

# what is replaced, by what, and the words that the one line has to have
MISTAKES = {
    "unknown table": ("[rules]", "[ruels]\n[rules]", "ruels"),
    "unknown key": ("seats = 6", "seats = 6\nseat = 7", "seat` - at table"),
    "unknown key of mqtt": ("[mqtt]", '[mqtt]\nuser = "me"', "user"),
    "unknown key of a reader": ('name = "rail"', 'name = "rail"\nbuad = 9600', "readers[0]"),
    "unknown rule": ('preset = "tda"', "odd_chips = 1", "odd_chips"),
    "unknown preset": ('"tda"', '"tad"', "preset"),
    "unknown discipline": ('"holdem"', '"razz"', "table.discipline"),
    "unknown driver": ('"feig"', '"fieg"', "readers[0].driver"),
    "no driver": ('driver = "feig"\n', "", "readers[0].driver"),
    "no port": ('port = "/dev/nowhere"\n', "", "port"),
    "no seats": ("seats = 6\n", "", "seats"),
    "no table": ('[table]\nid = "t1"\ndiscipline = "holdem"\nseats = 6\n', "", "table"),
    "too few seats": ("seats = 6", "seats = 1", "table.seats"),
    "too many seats": ("seats = 6", "seats = 11", "table.seats"),
    "stud seats": ('"holdem"\nseats = 6', '"stud"\nseats = 9', "table.seats"),
    "seats as text": ("seats = 6", 'seats = "6"', "table.seats"),
    "table id": ('"t1"', '"T 1"', "table.id"),
    "table id with a line feed": ('"t1"', r'"t1\n"', "table.id"),
    "prefix": ("[mqtt]", '[mqtt]\nprefix = "felt/"', "mqtt.prefix"),
    "zone twice": ('2 = "seat:2"', '2 = "seat:1"', "seat:1"),
    "zone twice over readers": ('"shoe" }', '"seat:2" }', "seat:2"),
    "antenna twice": ('2 = "seat:2"', '1 = "seat:2"', "line"),
    "antenna twice, spelt apart": ('2 = "seat:2"', '01 = "seat:2"', "antennas"),
    "antenna 0": ('1 = "seat:1"', '0 = "seat:1"', "readers[0].antennas"),
    "antenna 256": ('1 = "seat:1"', '256 = "seat:1"', "readers[0].antennas"),
    "antenna beyond the reader": ('1 = "seat:1"', '99 = "seat:1"', "readers[0]"),
    "two antennas where there is one": ('{ 1 = "shoe" }', '{ 1 = "shoe", 2 = "burn" }', "[1]"),
    "no antennas": ('{ 1 = "shoe" }', "{ }", "readers[1].antennas"),
    "seat beyond the table": ('"seat:2"', '"seat:7"', "antennas.2"),
    "seat 0": ('"seat:2"', '"seat:0"', "antennas.2"),
    "unknown zone": ('"muck"', '"muk"', "antennas.12"),
    "reader twice": ('"shoe"\ndriver', '"rail"\ndriver', "rail"),
    "reader name": ('name = "rail"', 'name = "the rail"', "the rail"),
    "baud rate": ('name = "rail"', 'name = "rail"\nbaud = 1', "readers[0].baud"),
    "secrecy": ('"off"', '"on"', "secrecy.hole_cards"),
    "unattended": ("[secrecy]", '[secrecy]\nunattended = "some"', "secrecy.unattended"),
    "delay": ("[secrecy]", "[secrecy]\ndelay = -1", "secrecy.delay"),
    "broker": ("mqtt://127.0.0.1:1", "amqp://127.0.0.1", "mqtt.url"),
    "broker without a host": ("mqtt://127.0.0.1:1", "mqtt:///felt", "mqtt.url"),
    "no TOML": ("[mqtt]", "[mqtt", "line"),
}


def written(folder, text):
    path = folder / "table.toml"
    path.write_text(text)
    return path


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_is_one_line_that_names_its_key(tmp_path, capsys, mistake):
    old, new, words = MISTAKES[mistake]
    assert old in GOOD
    path = written(tmp_path, GOOD.replace(old, new, 1))
    assert main(["run", "--config", str(path)]) == 78
    out, error = capsys.readouterr()
    assert out == ""
    (line,) = error.splitlines()
    assert line.startswith(f"feltd: {path}: ") or "mqtt.url" in line
    assert words.replace("`", "") in line
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize(
    ("name", "damage", "words"),
    [
        ("red", lambda text: text.replace("As = ", "# As = "), "As"),
        ("red", lambda text: text.replace("E00401", "E00402", 1).replace("E00401", "XX"), "hex"),
        ("blue", lambda text: text, "name"),
        ("red", lambda text: text.replace("[cards]", "[card]"), "card"),
    ],
)
def test_a_deck_that_is_wrong(tmp_path, capsys, name, damage, words):
    path = written(tmp_path, GOOD)
    (tmp_path / "decks").mkdir()
    deck = tmp_path / "decks" / f"{name}.toml"
    deck.write_text(damage(make_deck("red", Random(1)).toml()))
    assert main(["run", "--config", str(path)]) == 78
    (line,) = capsys.readouterr().err.splitlines()
    assert str(deck) in line
    assert words in line
    assert not (tmp_path / "state").exists()


def test_no_file(tmp_path, capsys):
    path = tmp_path / "none.toml"
    assert main(["run", "--config", str(path)]) == 78
    assert capsys.readouterr().err == f"feltd: {path}: No such file or directory\n"


def test_the_program_ends_with_78(tmp_path):
    path = written(tmp_path, GOOD.replace("seats = 6", "seats = 60"))
    command = [sys.executable, "-m", "daemon", "run", "--config", path]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    assert run.returncode == 78
    assert len(run.stderr.splitlines()) == 1
    assert run.stdout == ""


def test_what_is_read(tmp_path):
    config = load(written(tmp_path, GOOD))
    setup = config.setup()
    assert setup.zones["rail/11"] == "board"
    assert setup.zones["shoe/1"] == "shoe"
    assert config.state_dir == tmp_path / "state"
    assert config.beside("x.pw") == tmp_path / "x.pw"
    assert config.beside(None) is None
    assert setup.cards == {}


def test_decks_are_read_whole(tmp_path):
    (tmp_path / "decks").mkdir()
    decks = [make_deck(name, Random(name)) for name in ("red", "blue")]
    for deck in decks:
        (tmp_path / "decks" / f"{deck.name}.toml").write_text(deck.toml())
    cards = load(written(tmp_path, GOOD)).setup().cards
    assert len(cards) == 104
    assert cards[decks[1].uids["As"]] == ("blue", "As")


def test_without_a_state_folder_it_lies_where_services_keep_theirs(tmp_path):
    text = GOOD[: GOOD.index("[state]")]
    assert load(written(tmp_path, text)).state_dir == Path("/var/lib/feltd/t1")


def test_the_example_is_right(tmp_path):
    config = load(EXAMPLE)
    assert config.setup().seats == config.table.seats
    with pytest.raises(ConfigError, match="readers"):
        load(written(tmp_path, EXAMPLE.read_text().replace('driver = "', 'driver = "x')))


def test_the_configuration_in_the_readme_is_right(tmp_path):
    readme = (EXAMPLE.parents[1] / "README.md").read_text(encoding="utf-8")
    text = readme.partition("```toml\n")[2].partition("```")[0]
    assert load(written(tmp_path, text)).setup().zones["rail/10"] == "board"
