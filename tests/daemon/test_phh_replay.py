"""Televised hands through the replay: what is told agrees with what the files themselves say.

The expected values are parsed here, from actions and stacks alone.
"""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path

import pytest
from phevaluator import evaluate_cards, evaluate_omaha_cards

from daemon.replay import phh_messages

FILES = sorted((Path(__file__).parents[1] / "hands").glob("*.phh"))
RANKS, SUITS = "23456789TJQKA", "cdhs"
UP_CARDS = {"third": 1, "fourth": 2, "fifth": 3, "sixth": 4, "seventh": 4}
STREETS = ("third", "fourth", "fifth", "sixth", "seventh")


class Book:
    """What one file says happened."""

    def __init__(self, path):
        fields = tomllib.loads(path.read_text())
        self.variant = fields["variant"]
        self.stud = self.variant.startswith("F7S")
        self.won = {
            player
            for player, (before, after) in enumerate(
                zip(fields["starting_stacks"], fields["finishing_stacks"], strict=True), 1
            )
            if after > before
        }
        self.dealt = {}
        self.board = []
        self.folded = []
        self.first = {}
        self.mucked = []
        self.shown = {}
        street = -1
        waiting = True
        for action in fields["actions"]:
            words = action.split("#")[0].split()
            if words[:2] == ["d", "dh"]:
                cards = re.findall("..", words[3])
                player = int(words[2][1:])
                self.dealt.setdefault(player, []).extend(cards)
                street, waiting = self._street(street), True
            elif words[:2] == ["d", "db"]:
                self.board += re.findall("..", words[2])
                waiting = True
            else:
                self._act(int(words[0][1:]), words[1:], street, first=waiting)
                waiting = False

    def _street(self, street):
        return max(street, max(map(len, self.dealt.values())) - 3) if self.stud else street

    def _act(self, player, words, street, *, first):
        if first and self.stud and words[0] != "sm":
            self.first.setdefault(STREETS[street], player)
        if words[0] == "f":
            self.folded.append(player)
        elif words[0] == "sm" and len(words) == 1:
            self.mucked.append(player)
        elif words[0] == "sm":
            self.shown[player] = re.findall("..", words[1])

    @property
    def known(self):
        return all("??" not in cards for cards in self.dealt.values())

    def high(self):
        """Who has the high half, by an evaluator that is not ours."""
        judge = evaluate_cards if self.stud else evaluate_omaha_cards
        ranks = {seat: judge(*self.board, *cards) for seat, cards in self.shown.items()}
        return {seat for seat, rank in ranks.items() if rank == min(ranks.values())}

    @property
    def live(self):
        return sorted(set(self.dealt) - set(self.folded))


def told(path, topic):
    sent = [m for _, m in phh_messages(path, None) if m.topic == f"felt/phh/{topic}"]
    return [json.loads(message.payload) for message in sent]


each_file = pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)


def test_there_are_forty():
    assert len(FILES) == 40


@each_file
def test_winners_agree(path):
    book = Book(path)
    showdowns = told(path, "showdown")
    ends = [event for event in told(path, "event") if event["type"] == "hand-ended"]
    assert len(ends) == 1
    if len(book.live) == 1:
        assert showdowns == []
        assert {ends[0]["winner"]} == book.won == {*book.live}
        return
    assert "winner" not in ends[0]
    [showdown] = showdowns
    if not book.stud:
        assert showdown["board"] == book.board
    hands = {hand["seat"]: sorted(hand["cards"]) for hand in showdown["hands"]}
    assert hands == {seat: sorted(cards) for seat, cards in book.shown.items()}
    assert sorted(showdown["mucked"]) == sorted(book.mucked)
    best = set(showdown["winners"])
    if "8" in book.variant:
        assert best == book.high()
    elif len(book.live) == 2:
        assert best == book.won
    else:
        assert best & book.won or not book.won


@each_file
def test_folds_agree(path):
    book = Book(path)
    folds = [event["seat"] for event in told(path, "event") if event["type"] == "folded"]
    assert sorted(folds) == sorted(book.folded)


@pytest.mark.parametrize("path", [p for p in FILES if "F7S" in p.stem], ids=lambda path: path.stem)
def test_bring_ins_and_openings_agree(path):
    book = Book(path)
    rulings = {ruling["street"]: ruling for ruling in told(path, "ruling/first-to-act")}
    assert book.first
    for street, player in book.first.items():
        if street not in rulings:
            assert not book.known
            continue
        ruling = rulings[street]
        assert ruling["kind"] == ("bring-in" if street == "third" else "open")
        for seat, cards in ruling["boards"].items():
            assert cards == book.dealt[int(seat)][2:][: UP_CARDS[street]]
        assert player == ruling["seat"], street


@each_file
def test_nothing_is_asked_that_the_file_knows(path):
    if Book(path).known:
        assert [a["kind"] for a in told(path, "alert") if a["severity"] != "notice"] == []
