from __future__ import annotations

import pytest

from daemon.errors import FeltdError
from daemon.teach_in import TeachIn, zone_of
from drivers import Look

TAG = "E0040150954F02B1"


def hear(lesson, heard, *, looks=6, antennas=(1, 2, 3)):
    """Passes over the antennas; `heard` maps an antenna to the share of looks that hear it."""
    for number in range(looks):
        for antenna in antennas:
            share = heard.get(antenna, 0)
            tags = (TAG,) if number % 6 >= 6 - round(6 * share) else ()
            lesson.hear(Look("rail", antenna, tags))


def fresh():
    return TeachIn(tuple(("rail", antenna) for antenna in (1, 2, 3)))


def test_each_antenna_lights_up_and_is_named():
    lesson = fresh()
    for antenna, zone in ((2, "seat:7"), (1, "board"), (3, "seat:7:up")):
        hear(lesson, {antenna: 1})
        assert lesson.lit == [("rail", antenna)]
        assert lesson.name(zone) == (("rail", antenna), zone)
    assert lesson.unnamed == []
    assert lesson.tables() == {"rail": {1: "board", 2: "seat:7", 3: "seat:7:up"}}


def test_no_antenna_is_lit_without_a_card_or_by_one_noisy_look():
    lesson = fresh()
    hear(lesson, {1: 1 / 6})
    assert lesson.lit == []
    with pytest.raises(FeltdError, match="no antenna hears"):
        lesson.name("3")


def test_the_antenna_that_hears_it_best_is_meant():
    lesson = fresh()
    hear(lesson, {1: 1, 2: 4 / 6})
    assert lesson.lit == [("rail", 1), ("rail", 2)]
    assert lesson.name("3") == (("rail", 1), "seat:3")


def test_two_that_hear_it_equally_are_not_guessed_at():
    lesson = fresh()
    hear(lesson, {1: 1, 2: 1})
    with pytest.raises(FeltdError, match="rail/1 and rail/2 hear it equally"):
        lesson.name("3")


def test_a_seat_is_given_once_and_an_antenna_may_be_named_anew():
    lesson = fresh()
    hear(lesson, {1: 1})
    lesson.name("3")
    assert lesson.name("4") == (("rail", 1), "seat:4")
    hear(lesson, {2: 1})
    with pytest.raises(FeltdError, match="seat:4 was given to rail/1 already"):
        lesson.name("4")
    lesson.name("muck")
    hear(lesson, {3: 1})
    assert lesson.name("muck") == (("rail", 3), "muck")


@pytest.mark.parametrize(
    ("text", "zone"),
    [("10", "seat:10"), ("3up", "seat:3:up"), ("seat:1", "seat:1"), ("shoe", "shoe")],
)
def test_zones_as_they_are_typed(text, zone):
    assert zone_of(text) == zone


@pytest.mark.parametrize("text", ["11", "0", "seat:11", "table", "seat:1:down", "seat:3up"])
def test_what_is_no_zone(text):
    with pytest.raises(FeltdError, match="is no zone"):
        zone_of(text)
