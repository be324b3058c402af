"""Which antennas come under suspicion: none to which the discipline deals nothing."""

from __future__ import annotations

import pytest

SEATS = (1, 2, 3)


def play(felt, table, discipline, seed):
    hands, board = felt.hands(discipline, SEATS, seed)
    deck = ("red", "blue")[seed % 2]
    assert table.say("start-hand", seats=[*SEATS])["ok"]
    table.deal(hands, deck=deck)
    table.run_out(board, deck=deck)
    assert table.say("showdown")["ok"]
    table.wait(1.0)
    table.sweep()


@pytest.mark.parametrize("discipline", ["holdem", "omaha"])
def test_up_antennas_hear_nothing_where_nothing_is_dealt_up(felt, discipline):
    table = felt.Felt(discipline, 3, zones=felt.zones(3, up=True))
    for seed in range(5):
        play(felt, table, discipline, seed)
    assert "antenna-deaf" not in table.kinds()
    assert len(table.showdowns()) == 5
