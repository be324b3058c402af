from __future__ import annotations

import json

import pytest

from daemon.cli import main


@pytest.fixture
def feltd(capsys):
    """The status, output and errors of a command line."""

    def run(*arguments):
        status = main(["equity", *arguments])
        said = capsys.readouterr()
        return status, said.out, said.err

    return run


def test_json_is_the_payload_of_the_topic(feltd):
    arguments = ("--discipline", "holdem", "--hand", "1=AhAs", "--hand", "2=Kd K♣", "--json")
    status, out, err = feltd(*arguments)
    assert (status, err) == (0, "")
    assert out.count("\n") == 1
    assert json.loads(out) == {
        "seats": [
            {
                "seat": 1,
                "win": 1_388_072 / 1_712_304,
                "tie": 6_538 / 1_712_304,
                "equity": (1_388_072 + 6_538 / 2) / 1_712_304,
            },
            {
                "seat": 2,
                "win": 317_694 / 1_712_304,
                "tie": 6_538 / 1_712_304,
                "equity": (317_694 + 6_538 / 2) / 1_712_304,
            },
        ],
        "exact": True,
        "deals": 1_712_304,
    }


@pytest.mark.parametrize("hand", ["2=", "2=??", "2=????", "2=As??", "2=?? As"])
def test_sampled_json_states_its_error(feltd, hand):
    spot = ("--discipline", "holdem", "--board", "2c7d9h", "--hand", "1=KhKd", hand, "--json")
    status, out, _ = feltd(*spot)
    found = json.loads(out)
    assert status == 0
    assert list(found) == ["seats", "exact", "deals", "error"]
    assert found["exact"] is False
    assert 0 < found["error"] <= 0.001
    assert feltd(*spot)[1] == out
    assert feltd(*spot, "--seed", "1")[1] != out


def test_a_person_reads_percentages(feltd):
    flop = ("--discipline", "holdem", "--board", "2c 7d 9h", "--dead", "Jh")
    status, out, _ = feltd(*flop, "--hand", "1=AhAs", "--hand", "12=KdKc")
    lines = out.splitlines()
    assert status == 0
    assert lines[0] == "Hold'em, board 2♣ 7♦ 9♥, dead J♥"
    assert lines[1].split() == ["seat", "cards", "wins", "ties", "equity"]
    assert [line.split()[0] for line in lines[2:4]] == ["1", "12"]
    assert len({len(line) for line in lines[1:4]}) == 1
    assert lines[4] == "exact, all deals: 946"


def test_large_numbers_are_grouped(feltd):
    _, out, _ = feltd("--discipline", "holdem", "--hand", "1=AhAs", "--hand", "2=KdKc")
    assert out.endswith("exact, all deals: 1 712 304\n")


def test_russian(feltd):
    stud = ("--discipline", "stud", "--board", "9c", "--hand", "1=AhAs2d", "2=KdKc3d", "5=QdQc4d")
    status, out, _ = feltd(*stud, "--lang", "ru")
    lines = out.splitlines()
    assert status == 0
    assert lines[0] == "Стад, общая карта 9♣"
    assert lines[1].split() == ["место", "карты", "выигрыш", "делёж", "эквити"]
    assert "стандартная ошибка 0.0" in lines[5] or "стандартная ошибка 0.1" in lines[5]


@pytest.mark.parametrize(
    ("arguments", "status", "message"),
    [
        (("--hand", "1=AhAs", "--hand", "2=AsKd"), 1, "feltd: As twice"),
        (("--hand", "4=AhAs2d"), 1, "feltd: seat 4 has three cards (holdem: 2)"),
        (("--hand", "1=AhAs", "--board", "2c"), 1, "feltd: the board has one card"),
        (("--hand", "1=AhAs", "--hand", "1=KdKc"), 2, "feltd: seat 1 twice"),
        (("--hand", "x=AhAs"), 2, "feltd: argument --hand: 'x' is no seat"),
        (("--hand", "AhAs"), 2, "feltd: argument --hand: 'AhAs' is not of the form SEAT=CARDS"),
        (("--hand", "1=AhA1"), 2, "feltd: argument --hand: A1 is no card"),
        (("--hand", "1=AhAs", "--dead", "1x"), 2, "feltd: argument --dead: 1x is no card"),
        (("--hand", "1=AhAs", "--seed", "-1"), 2, "feltd: --seed must not be negative"),
        ((), 2, "feltd: the following arguments are required: --hand"),
    ],
)
def test_errors_are_one_line(feltd, arguments, status, message):
    found, out, err = feltd("--discipline", "holdem", *arguments)
    assert (found, out) == (status, "")
    assert err.startswith(message)
    assert err.count("\n") == 1
