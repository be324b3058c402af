from __future__ import annotations

import pytest

from daemon.decks import FACTORY_ORDER, Deck
from daemon.enrolment import Enrolment, Note, Owners, Passing
from daemon.errors import FeltdError
from drivers import Look

RED = {card: f"E0040150000000{number:02X}" for number, card in enumerate(FACTORY_ORDER)}
BLUE = {card: f"E0040150000001{number:02X}" for number, card in enumerate(FACTORY_ORDER)}


def look(*tags, antenna=1, partial=False):
    return Look("shoe", antenna, tags, partial)


def rest(enrolment, *tags, looks=2, **keys):
    """Lay tags down, let them rest, lift them; the notes."""
    notes = [enrolment.hear(look(*tags, **keys)) for _ in range(looks)]
    notes.append(enrolment.hear(look()))
    return [note for note in notes if note]


def fresh(**keys):
    return Enrolment(Owners([Deck("blue", BLUE)]), FACTORY_ORDER, **keys)


def test_a_whole_deck_in_order():
    enrolment = fresh()
    for card in FACTORY_ORDER:
        assert enrolment.expected == card
        assert rest(enrolment, RED[card]) == [Note("enrolled", RED[card], card)]
    assert enrolment.cards == RED
    assert enrolment.expected == ""
    assert rest(enrolment, "01020304") == [Note("unknown", "01020304")]


def test_a_uid_that_is_heard_once_is_noise():
    enrolment = fresh()
    assert rest(enrolment, "00000001", looks=1) == []
    assert enrolment.hear(look(RED["As"])) is None
    assert enrolment.hear(look(RED["2s"])) is None
    assert enrolment.cards == {}


def test_a_resting_card_is_read_once_through_gaps_and_on_two_antennas():
    enrolment = fresh()
    assert len(rest(enrolment, RED["As"], looks=20)) == 1
    assert rest(enrolment, RED["As"]) == []
    assert rest(enrolment, RED["As"], antenna=2) == []
    assert enrolment.hear(look(partial=True)) is None
    assert enrolment.cards == {"As": RED["As"]}


def test_a_card_read_before_is_told():
    enrolment = fresh()
    rest(enrolment, RED["As"])
    rest(enrolment, RED["2s"])
    assert rest(enrolment, RED["As"]) == [Note("twice", RED["As"], "As")]
    assert enrolment.expected == "3s"


def test_a_tag_of_another_deck_is_not_taken():
    enrolment = fresh()
    assert rest(enrolment, BLUE["Kh"]) == [Note("foreign", BLUE["Kh"], "Kh", "blue")]
    assert enrolment.cards == {}


def test_two_cards_at_once_are_not_taken_until_one_lies_alone():
    enrolment = fresh()
    assert rest(enrolment, RED["As"], RED["2s"]) == [Note("several")]
    assert rest(enrolment, RED["As"]) == [Note("enrolled", RED["As"], "As")]


def test_a_reader_of_one_card_hears_a_swap_without_a_gap():
    enrolment = fresh()
    notes = [enrolment.hear(look(RED[card], partial=True)) for card in ("As", "As", "2s", "2s")]
    assert [note.card for note in notes if note] == ["As", "2s"]


def test_skipped_cards_come_up_again_at_the_end():
    enrolment = fresh()
    assert enrolment.skip() == "As"
    for card in FACTORY_ORDER[1:]:
        rest(enrolment, RED[card])
    assert enrolment.expected == "As"
    assert enrolment.missing == ["As"]
    rest(enrolment, RED["As"])
    assert enrolment.cards == RED


def test_skipping_all_that_is_left_begins_again():
    enrolment = fresh(cards={card: RED[card] for card in FACTORY_ORDER[:50]})
    assert [enrolment.skip() for _ in range(2)] == ["2h", "Ah"]
    assert enrolment.expected == "2h"


def test_a_passed_over_card_moves_the_rest_on():
    enrolment = fresh()
    laid = [card for card in FACTORY_ORDER if card != "8d"]
    for card in laid:
        rest(enrolment, RED[card])
    assert enrolment.expected == "Ah"
    enrolment.missed("8d")
    assert enrolment.expected == "8d"
    rest(enrolment, RED["8d"])
    assert enrolment.cards == RED


def test_a_passed_over_card_in_mid_deck_with_one_skipped_on_purpose():
    enrolment = fresh()
    for card in FACTORY_ORDER[:20]:
        if card == "5s":
            enrolment.skip()
        elif card != "Js":
            rest(enrolment, RED[card])
    enrolment.missed("Js")
    assert enrolment.expected == FACTORY_ORDER[20]
    assert enrolment.missing[:2] == ["5s", "Js"]
    assert enrolment.cards == {c: RED[c] for c in FACTORY_ORDER[:20] if c not in {"5s", "Js"}}


@pytest.mark.parametrize("count", [3, 52])
def test_what_cannot_have_been_passed_over(count):
    enrolment = fresh(cards={card: RED[card] for card in FACTORY_ORDER[:count]})
    with pytest.raises(FeltdError):
        enrolment.missed("9c" if count == 3 else "As")


def test_back_takes_the_last_card_back():
    enrolment = fresh()
    rest(enrolment, RED["As"])
    rest(enrolment, RED["3s"])
    assert enrolment.back() == "2s"
    assert enrolment.expected == "2s"
    assert rest(enrolment, RED["2s"]) == [Note("enrolled", RED["2s"], "2s")]
    enrolment.back()
    enrolment.back()
    with pytest.raises(FeltdError, match="no card has been read"):
        enrolment.back()


def test_by_name_each_new_tag_waits_for_its_card():
    enrolment = fresh(by_name=True)
    with pytest.raises(FeltdError, match="no card waits"):
        enrolment.name("Td")
    assert rest(enrolment, RED["Td"]) == [Note("unnamed", RED["Td"])]
    assert enrolment.name("Td") == Note("enrolled", RED["Td"], "Td")
    rest(enrolment, RED["9d"])
    with pytest.raises(FeltdError, match="Td was read already"):
        enrolment.name("Td")
    enrolment.name("9d")
    assert enrolment.cards == {"Td": RED["Td"], "9d": RED["9d"]}


def passing():
    return Passing(Deck("red", RED), Owners([Deck("blue", BLUE)]))


def test_a_deck_passes_in_any_way():
    check = passing()
    tags = list(RED.values())
    for at in range(0, 52, 4):
        assert len(check.hear(look(*tags[at : at + 4], partial=True))) == 4
        assert check.hear(look(*tags[at : at + 4])) == []
    assert check.unheard == []
    assert check.foreign == {}


def test_what_does_not_belong_is_told_once():
    check = passing()
    assert check.hear(look(BLUE["2c"])) == [Note("foreign", BLUE["2c"], "2c", "blue")]
    assert check.hear(look(BLUE["2c"], "0102030405060708")) == []
    assert check.hear(look("0102030405060708")) == [Note("unknown", "0102030405060708")]
    assert check.hear(look("0102030405060708")) == []
    assert set(check.foreign) == {BLUE["2c"], "0102030405060708"}
    assert len(check.unheard) == 52
