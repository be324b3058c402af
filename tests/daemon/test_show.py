"""What a person sees of the demo: real messages in, lines of at most 80 columns out."""

from __future__ import annotations

import json

import pytest

from daemon.show import Show

SEATS = (1, 2, 3)


@pytest.fixture
def shown(capsys):
    """Show the messages of a table that is played at, and return the lines."""

    def show(table, *, as_json=False, old=False):
        screen = Show(as_json=as_json)
        for _, message in table.sent:
            if not message.private:
                screen.message(message.topic, json.loads(message.payload), old=old)
        screen.close()
        return [line.rstrip() for line in capsys.readouterr().out.splitlines()]

    return show


def start(felt, discipline, **options):
    table = felt.Felt(discipline, 3, zones=felt.zones(3, up=discipline == "stud"), **options)
    table.say("start-hand", seats=[*SEATS], discipline=discipline)
    return table


def test_a_hand_of_holdem_with_a_fold_and_cards_that_count(felt, shown):
    table = start(felt, "holdem")
    table.deal({1: ["As", "Kd"], 2: ["7c", "2h"], 3: ["Qs", "Qd"]})
    table.say("fold", seat=2)
    table.run_out(["Ah", "Kc", "9s", "4d", "3c"])
    table.say("show", seats=[3])
    table.say("showdown")
    lines = shown(table)
    assert lines == [
        "",
        "Hand 7, hold'em: seats 1 2 3, button 3",
        "  deal    ▪▪▪▪▪▪",
        "  seat 2 folds",
        "  flop    A♥ K♣ 9♠",
        "  turn    4♦",
        "  river   3♣",
        "  seat 3 tables Q♠ Q♦",
        "  seat 1  A♠ K♦  Two pair, Aces and Kings, Nine kicker",
        "  seat 3  Q♠ Q♦  Pair of Queens, kickers A-K-9",
        "  seat 1 wins",
        "The table is closed.",
    ]


def test_hidden_cards_are_backs_until_they_are_shown(felt, shown):
    table = start(felt, "stud")
    table.deal({1: ["As", "Kd"], 2: ["7c", "2h"], 3: ["Qs", "Qd"]})
    for seat, card in ((1, "5d"), (2, "3c"), (3, "3d")):
        table.lay(f"seat:{seat}:up", card)
    table.wait(4.0)
    table.say("fold", seat=1)
    table.say("fold", seat=3)
    table.wait(4.0)
    text = "\n".join(shown(table))
    assert "  third    1 5♦   2 3♣   3 3♦\n  seat 2 brings it in with 3♣, by suit\n" in text
    assert text.count("▪") == 9
    assert not [card for card in ("A♠", "K♦", "7♣", "2♥", "Q♠", "Q♦") if card in text]
    assert "  seat 2 wins, all others folded\n" in text


def test_a_race_with_more_cards_than_a_line_holds(felt, shown):
    table = felt.Felt("holdem", 3)
    counts = {"1": 7, "2": 6, "3": 3}
    assert table.say("chip-race", **{"from": 25, "to": 200}, counts=counts)["ok"]
    cards = list(felt.deck(3))[:16]
    hands = {1: cards[:7], 2: cards[7:13], 3: cards[13:]}
    for seat, held in hands.items():
        for card in held:
            table.lay(f"seat:{seat}", card)
    table.wait(5.0)
    lines = shown(table)
    assert lines[1] == "Chip race: a card face up for each of 16 odd chips"
    assert lines[2].startswith("  cards    1 ")
    assert lines[3].startswith(" " * 10)
    assert "  16 odd chips of 25 make 2 of 200" in lines
    assert sum(" gets 1 with " in line for line in lines) == 2
    assert max(map(len, lines)) <= 80


def test_what_is_no_news_is_passed_over_and_json_is_every_message(felt, shown):
    table = start(felt, "holdem")
    table.deal({1: ["As", "Kd"], 2: ["7c", "2h"], 3: ["Qs", "Qd"]})
    assert shown(table, old=True) == ["The table is closed."]
    lines = [json.loads(line) for line in shown(table, as_json=True)]
    assert lines == [
        {"topic": message.topic, "payload": json.loads(message.payload)}
        for _, message in table.sent
        if not message.private
    ]


def test_messages_told_again_are_no_news(capsys):
    screen = Show(as_json=False)
    event = {"type": "folded", "seat": 4}
    screen.message("felt/t1/event", event)
    screen.message("felt/t1/event", {**event, "late": True})
    assert capsys.readouterr().out == "  seat 4 folds\n"
