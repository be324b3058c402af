from __future__ import annotations

import re

from daemon.rules.cards import parse_cards
from daemon.rules.labels import label, label_of_rank
from daemon.rules.ranking import evaluate

CASES = ["labels.json"]


def test_case(case):
    strength = evaluate(parse_cards(case["input"]["cards"]))
    expected = case["expected"]
    assert strength.rank == expected["cls"]
    assert (label(strength).en, label(strength).ru) == (expected["en"], expected["ru"])


def test_all_labels_name_the_ranks_that_make_the_hand():
    labels = [label_of_rank(rank) for rank in range(1, 7463)]
    assert all(re.fullmatch(r"[A-Za-z, -]+|[A-Za-z, -]*[2-9TJQKA-]+", text.en) for text in labels)
    assert all(re.fullmatch(r"[А-Яа-яё, —-]+", text.ru) for text in labels)
    assert len({text.en for text in labels}) == 7462


def test_deuces_and_kickers_of_each_category():
    wanted = {
        "2c 2d 2h 2s 3d": ("Four of a kind, Deuces, Three kicker", "Каре двоек, кикер тройка"),
        "8h 8d Ks 4h 2h": ("Pair of Eights, kickers K-4-2", "Пара восьмёрок, кикер король"),
        "6d 6h 2s 2h Qc": (
            "Two pair, Sixes and Deuces, Queen kicker",
            "Две пары, шестёрки и двойки, кикер дама",
        ),
        "As Kd Qd Jd Td": ("Straight, Ace high", "Стрит до туза"),
        "5s 4d 3d 2d Ad": ("Straight, Five high", "Стрит до пятёрки"),
        "2d 2h 2s Ah Ac": ("Full house, Deuces full of Aces", "Фулл-хаус, двойки на тузах"),
    }
    found = {cards: label(evaluate(parse_cards(cards))) for cards in wanted}
    assert {cards: (text.en, text.ru) for cards, text in found.items()} == wanted
