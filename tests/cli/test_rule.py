from __future__ import annotations

import json
import re
import shlex
from pathlib import Path

import pytest

from daemon.cli import main
from daemon.cli.rule import EXAMPLE

CASES = Path(__file__).parent.parent / "cases"
STREETS = {1: "3", 2: "4", 3: "5", 4: "6"}
BOARD = "As Kc Jd 9h 2c"


def cases(name):
    found = json.loads((CASES / f"{name}.json").read_text(encoding="utf-8"))
    return [pytest.param(case["input"], case["expected"], id=case["id"]) for case in found]


@pytest.fixture
def rule(capsys):
    def run(*arguments):
        assert main(["rule", *arguments, "--json"]) == 0
        out = capsys.readouterr()
        assert out.err == ""
        return json.loads(out.out)

    return run


@pytest.fixture
def refusal(capsys):
    def run(*arguments):
        status = main(["rule", *arguments])
        out = capsys.readouterr()
        assert out.out == ""
        assert out.err.count("\n") == 1
        return status, out.err.removeprefix("feltd: ").rstrip()

    return run


def hands(by_seat, option="--hand"):
    return [text for seat, cards in by_seat.items() for text in (option, f"{seat}={cards}")]


@pytest.mark.parametrize(("given", "expected"), cases("holdem") + cases("omaha") + cases("stud"))
def test_showdown(rule, given, expected):
    seats = {str(ord(name) - 64): given[name] for name in "ABC" if name in given}
    arguments = ["--discipline", given["game"], "--board", given["board"], *hands(seats)]
    payload = rule("showdown", *arguments)
    assert set(payload) == {"discipline", "board", "hands", "winners", "mucked", "typed"}
    assert [chr(seat + 64) for seat in payload["winners"]] == expected["winners"]
    found = {
        chr(hand["seat"] + 64): f"{hand['label']['en']} (class {hand['rank']})"
        for hand in payload["hands"]
    }
    assert found == expected["hands"]


@pytest.mark.parametrize(("given", "expected"), cases("button-draw"))
def test_button_draw(rule, given, expected):
    cards = {seat[4:]: card for seat, card in given.items()}
    payload = rule("button-draw", *hands(cards, "--card"))
    assert (payload["winner"], payload["card"]) == (expected["button"], expected["card"])
    assert {str(entry["seat"]): entry["card"] for entry in payload["order"]} == cards


@pytest.mark.parametrize(("given", "expected"), cases("first-to-act"))
def test_first_to_act(rule, given, expected):
    up = {seat[4:]: cards for seat, cards in given.items() if "folded" not in cards}
    street = STREETS[len(next(iter(up.values())).split())]
    arguments = ["--street", street, *hands(up, "--up")]
    payload = rule("first-to-act", *arguments)
    assert payload["seat"] == expected["first_to_act_suit_rule"]
    assert payload["tied"] == expected.get("tied", [])
    assert payload["boards"] == {seat: cards.split() for seat, cards in up.items()}
    if "first_to_act_position_rule" in expected:
        by_position = rule("first-to-act", *arguments, "--preset", "wsop-live")
        assert by_position["seat"] == expected["first_to_act_position_rule"]


@pytest.mark.parametrize(
    ("given", "expected"), [case for case in cases("bring-in") if "card" in case.values[1]]
)
def test_bring_in(rule, given, expected):
    up = {seat[4:]: card for seat, card in given.items()}
    payload = rule("first-to-act", "--street", "3", *hands(up, "--up"))
    assert (payload["street"], payload["kind"]) == ("third", "bring-in")
    assert (payload["seat"], up[str(payload["seat"])]) == (expected["bring_in"], expected["card"])


def test_all_in_opener(rule):
    up = ["--up", "1=Kc 9d", "--up", "3=Kd 9s", "--up", "4=2d 3d"]
    payload = rule("first-to-act", "--street", "4", *up, "--all-in", "3", "--all-in", "4")
    assert payload == {
        "street": "fourth",
        "kind": "open",
        "seat": 1,
        "tied": [1, 3],
        "decided_by": "suit",
        "boards": {"1": ["Kc", "9d"], "3": ["Kd", "9s"], "4": ["2d", "3d"]},
        "by_seat": 3,
    }


@pytest.mark.parametrize(
    ("given", "expected"), [case for case in cases("chip-race") if "cards_in_deal" in str(case)]
)
def test_chip_race(rule, given, expected, request):
    old, new = (value[1:] for value in given["change"].split("->"))
    held = hands(given["odd_chips"], "--counts") + hands(given["cards_in_deal_order"], "--cards")
    house = ["--rule", "race_remainder=always-up"] if "CR-12" in request.node.name else []
    payload = rule("chip-race", "--from", old, "--to", new, *held, *house)
    assert (payload["from"], payload["to"]) == (int(old), int(new))
    assert payload["odd"] == given["odd_chips"]
    assert payload["new_chips"] == expected["new_chips"]
    assert payload["remainder"] == expected["remainder"]
    assert [f"{one['seat']}:{one['card']}" for one in payload["ranking"]] == expected["ranking"]
    assert payload["awards"] == {str(seat): 1 for seat in expected["winners"]}


def test_chip_race_without_cards(rule):
    payload = rule("chip-race", "--from", "25", "--to", "100", "--counts", "1=11", "2=6", "3=0")
    assert payload["exchanged"] == {"1": 2, "2": 1, "3": 0}
    assert payload["odd"] == {"1": 3, "2": 2, "3": 0}
    assert (payload["new_chips"], payload["remainder"]) == (1, 1)
    assert (payload["ranking"], payload["awards"], payload["rescued"]) == ([], {}, [])
    assert "change" not in payload


def test_last_chip_by_preset(rule):
    race = "--from 25 --to 100 --counts 1=1 --counts 3=3 --cards 1=5d --cards 3=Kc9h2s --all-in 1"
    payload = rule("chip-race", *race.split())
    assert (payload["awards"], payload["rescued"], payload["change"]) == ({"3": 1}, [1], 100)
    payload = rule("chip-race", *race.split(), "--preset", "rrop")
    assert (payload["awards"], payload["rescued"], payload["change"]) == ({}, [1], 0)


@pytest.mark.parametrize(
    ("given", "expected"), [case for case in cases("pots-and-odd-chips") if "shares" in str(case)]
)
def test_split_pots(rule, given, expected):
    pot = f"{given['pot']}={','.join(map(str, given['winners']))}"
    cards = iter(["Ad 4c", "Ah 3d", "Ac 3s"])
    shown = hands({seat: next(cards) for seat in given["winners"]})
    payload = rule(
        *("pots", "--discipline", "holdem", "--pot", pot, "--board", BOARD, *shown),
        *("--chip", str(given["smallest_chip"]), "--button", str(given["button"])),
    )
    assert payload["pots"] == [
        {
            "amount": given["pot"],
            "winners": sorted(given["winners"]),
            "shares": dict(sorted(expected["shares"].items())),
        }
    ]


def test_pots_of_stud_by_preset(rule):
    shown = hands({1: "9h 8d 7c 6c 5h 2s 2c", 5: "9d 8c 7h 6h 5d As Kd"})
    arguments = ["pots", "--discipline", "stud", "--pot", "325=1,5", "--chip", "25", *shown]
    assert rule(*arguments)["pots"][0]["shares"] == {"1": 175, "5": 150}
    assert rule(*arguments, "--preset", "rrop")["pots"][0]["shares"] == {"1": 150, "5": 175}


@pytest.mark.parametrize(
    ("arguments", "status", "reason"),
    [
        ("showdown --discipline stud --hand 4='As Kd Qc'", 1, "seat 4 has three cards"),
        ("showdown --discipline omaha --board AsKcJd9h2c --hand 1=As4c5d6d", 1, "As twice"),
        ("showdown --discipline holdem --hand 1=AsKd --hand 1=AcKc", 2, "seat 1 is given twice"),
        ("showdown --discipline draw --hand 1=AsKd", 2, "argument --discipline: invalid choice"),
        (
            "showdown --discipline stud --hand 1AsKd",
            2,
            "argument --hand: '1AsKd' is not of the form",
        ),
        ("showdown --discipline stud --hand x=AsKd", 2, "argument --hand: 'x' is no seat"),
        ("showdown --discipline stud --hand 1=AsKx", 2, "argument --hand: Kx is no card"),
        ("showdown --discipline stud", 2, "the following arguments are required: --hand"),
        (
            "button-draw --card 1=As --card 2=KdQd",
            1,
            "seat 2 has two cards, a draw is one card each",
        ),
        (
            "button-draw --discipline stud --card 1=As --card 2=Kd",
            1,
            "stud has no button to draw for",
        ),
        ("first-to-act --street 8 --up 1=As", 2, "argument --street: invalid choice: 8"),
        (
            "first-to-act --street 7 --up 1=AsKdQd5c --common AdAc",
            2,
            "argument --common: 'AdAc' is",
        ),
        ("first-to-act --street 7 --up 1=AsKdQd", 1, "seat 1 has three up cards"),
        ("chip-race --from 25 --to 60 --counts 1=3", 1, "25 does not divide 60"),
        (
            "chip-race --from 25 --to 100 --counts 1=x",
            2,
            "argument --counts: 'x' is no number of chips",
        ),
        ("chip-race --from 25 --to 100 --counts 1=3 --preset home", 2, "preset home is unknown"),
        ("chip-race --from 25 --to 100 --counts 1=3 --rule cap=no", 2, "cap is no rule"),
        (
            "pots --discipline stud --pot 100=1 --chip 25 --button 1 --hand 1=As",
            2,
            "--button is refused",
        ),
        ("pots --discipline holdem --pot 100=1 --chip 25 --hand 1=AsKd", 2, "--button is required"),
        (
            "pots --discipline holdem --pot x=1 --chip 25 --hand 1=AsKd",
            2,
            "argument --pot: 'x' is no",
        ),
    ],
)
def test_refusals_are_one_line(refusal, arguments, status, reason):
    found = refusal(*shlex.split(arguments))
    assert found[0] == status
    assert found[1].startswith(reason)


RULINGS = {
    "showdown": (
        "--discipline holdem --board 'As Kc Jd 9h 2c' --hand 1=Ad4c --hand 2=Ah3d --mucked 5",
        ["A♠ A♦ K♣ J♦ 9♥", "Pair of Aces, kickers K-J-9", "split: seats 1, 2", "mucked: seat 5"],
        ["Пара тузов, кикер король", "делёж: места 1, 2", "не вскрылись: место 5"],
    ),
    "button-draw": (
        "--card 1=Ah --card 3=As",
        ["Seat 3 has the button (A♠)"],
        ["Место 3 получает баттон (A♠)"],
    ),
    "first-to-act": (
        "--street 4 --up 1='Kc 9d' --up 3='Kd 9s' --all-in 3",
        ["Seat 1 opens, fourth street", "decided by suit (equal boards: seats 1, 3)", "all-in"],
        ["Место 1 открывает торговлю, четвёртая улица", "решила масть (равные борды: места 1, 3)"],
    ),
    "chip-race": (
        "--from 25 --to 100 --counts 1=11 --counts 2=1 --cards 1=As3c4d --cards 2=Td --all-in 2",
        ["odd chips 4, new chips 1, remainder 0", "before 300, after 400 (+100)"],
        ["лишних чипов 4, новых чипов 1, остаток 0", "было 300, стало 400 (+100)"],
    ),
    "pots": (
        "--discipline stud --pot 325=1,5 --chip 25 --hand 1=9h8d7c6c5h2s2c --hand 5=9d8c7h6h5dAsKd",
        ["seat 1: 175", "seat 5: 150", "Straight, Nine high"],
        ["место 1: 175", "место 5: 150", "Стрит до девятки"],
    ),
}


@pytest.mark.parametrize("name", RULINGS)
def test_rulings_for_a_person(capsys, name):
    arguments, english, russian = RULINGS[name]
    assert main(["rule", name, *shlex.split(arguments)]) == 0
    out = capsys.readouterr().out
    assert all(text in out for text in english)
    assert main(["rule", name, *shlex.split(arguments), "--lang", "ru"]) == 0
    out = capsys.readouterr().out
    assert all(text in out for text in russian)
    assert not re.search(r"[a-z]{3}", out)


@pytest.mark.parametrize(
    ("counts", "said"), [("1=11", "deal a card for each odd chip"), ("1=8", "no race is needed")]
)
def test_what_to_do_before_the_race(capsys, counts, said):
    assert main(["rule", "chip-race", "--from", "25", "--to", "100", "--counts", counts]) == 0
    assert said in capsys.readouterr().out


@pytest.mark.parametrize("name", ["showdown", "button-draw", "first-to-act", "chip-race", "pots"])
def test_the_example_of_each_help_runs(capsys, name):
    with pytest.raises(SystemExit, match="0"):
        main(["rule", name, "--help"])
    example = " ".join(capsys.readouterr().out.split("example: feltd ")[1].split())
    assert main(shlex.split(example)) == 0


def test_the_example_of_the_command_runs():
    assert main(shlex.split(EXAMPLE)[1:]) == 0
