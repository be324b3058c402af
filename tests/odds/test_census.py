from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

SEVEN = {
    "straight-flush": 41_584,
    "four-of-a-kind": 224_848,
    "full-house": 3_473_184,
    "flush": 4_047_644,
    "straight": 6_180_020,
    "three-of-a-kind": 6_461_620,
    "two-pair": 31_433_400,
    "pair": 58_627_800,
    "high-card": 23_294_460,
}


@pytest.mark.soak
def test_all_hands_of_seven_cards_fall_into_their_categories():
    path = Path(__file__).parents[1] / "bench" / "bench_bulk.py"
    spec = importlib.util.spec_from_file_location("bench_bulk", path)
    bench = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(bench)
    found = bench.categories(bench.count_seven_card_hands())
    royal = found.pop("royal-flush")
    found["straight-flush"] += royal
    assert royal == 4_324
    assert found == SEVEN
    assert sum(found.values()) == 133_784_560
