"""Which cards of stud lie face up, and who opens, where antennas hear cards late or not at all."""

from __future__ import annotations

import pytest


def openers(table):
    return {body["street"]: body["seat"] for body in table.told("ruling/first-to-act")}


def up_cards(table):
    return {event["zone"]: event["card"] for event in table.events("card-dealt") if "card" in event}


def deal_by_shoe(felt, table, hands, unheard):
    """Third street out of a shoe that hears every card; the `unheard` rest unheard for a while."""
    late = []
    for place in range(3):
        for seat, cards in hands.items():
            tag = felt.UIDS[f"red-{cards[place]}"]
            table.feed(reader="shoe", antenna=1, tags=[tag])
            table.feed(reader="shoe", antenna=1, tags=[])
            if cards[place] in unheard:
                late.append((seat, cards[place]))
                table.wait(0.5)
            else:
                table.lay(f"seat:{seat}", cards[place], rest=0.5)
    for seat, card in late:
        table.lay(f"seat:{seat}", card)
    table.wait(6.0)


@pytest.mark.parametrize("place", [0, 1])
def test_the_shoe_knows_which_card_was_dealt_third(felt, place):
    table = felt.Felt("stud", 4, zones=felt.zones(4, shoe=True))
    hands = {1: ["As", "Kd", "9c"], 2: ["Qs", "Jd", "5h"], 4: ["8s", "8d", "2h"]}
    table.say("start-hand", seats=[1, 2, 4])
    deal_by_shoe(felt, table, hands, {hands[2][place]})
    assert up_cards(table) == {"seat:1:up": "9c", "seat:2:up": "5h", "seat:4:up": "2h"}
    assert openers(table) == {"third": 4}


def test_a_burn_that_is_dealt_once_more_is_not_taken_for_an_early_card(felt):
    """Before seventh street the burns are shuffled in; one of them comes as the last down card."""
    table = felt.Felt("stud", 4, zones=felt.zones(4, shoe=True))
    hands = {1: ["As", "Kd", "9c"], 2: ["Qs", "Jd", "5h"], 4: ["8s", "8d", "2h"]}
    table.say("start-hand", seats=[1, 2, 4])
    deal_by_shoe(felt, table, hands, set())
    burns = {"fourth": "3c", "fifth": "3d", "sixth": "3h"}
    streets = {
        "fourth": ["Tc", "Td", "Th"],
        "fifth": ["7c", "7d", "7h"],
        "sixth": ["6c", "6d", "6h"],
    }
    told = up_cards(table)
    for street, burn in burns.items():
        for zone, card in [
            ("", burn),
            *zip(("seat:1", "seat:2", "seat:4"), streets[street], strict=True),
        ]:
            table.feed(reader="shoe", antenna=1, tags=[felt.UIDS[f"red-{card}"]])
            table.feed(reader="shoe", antenna=1, tags=[])
            table.lay(zone, card) if zone else table.wait(0.5)
        table.wait(6.0)
    before = len(table.events("card-dealt"))
    for seat, card in ((1, "3c"), (2, "3d"), (4, "3h")):
        table.lay(f"seat:{seat}", card)
    table.wait(6.0)
    assert len(told) == 3
    assert len(table.events("card-dealt")) == before + 3
    assert [event for event in table.events("card-dealt")[before:] if "card" in event] == []


def test_an_opener_that_was_withheld_is_not_told_once_the_unknown_seat_folds(felt):
    table, (hands, _) = felt.Felt("stud", 6), felt.hands("stud", (1, 2, 3, 4, 5, 6), count=4)
    table.deaf.add("seat:3")
    table.say("start-hand", seats=[1, 2, 3, 4, 5, 6])
    table.deal({seat: cards[:3] for seat, cards in hands.items()})
    table.wait(10.0)
    table.deal(hands, first=3)
    table.wait(20.0)
    table.say("fold", seat=3)
    table.wait(10.0)
    assert openers(table) == {}
    assert "unsure-opener" in table.kinds()


def test_a_street_that_is_out_before_the_opener_of_the_last_was_certain_is_asked_for(felt):
    """A whole round lies there at once, and the next one before anybody could look."""
    table, (hands, _) = felt.Felt("stud", 4), felt.hands("stud", (1, 2, 4))
    table.say("start-hand", seats=[1, 2, 4])
    for seat, cards in hands.items():
        table.lay(f"seat:{seat}", *cards[:3], rest=0.0)
    table.wait(1.75)
    for seat, cards in hands.items():
        table.lay(f"seat:{seat}", cards[3], rest=0.0)
    table.wait(1.75)
    for seat in hands:
        table.throw(seat, rest=0.25)
    table.wait(10.0)
    streets = [event["street"] for event in table.events("street")]
    assert [name for name in streets if name not in openers(table)] == streets
    assert len([kind for kind, _ in table.alerts() if kind == "unsure-opener"]) >= len(streets)
