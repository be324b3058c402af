from __future__ import annotations

import json
from pathlib import Path
from random import Random

import pytest

CASES = Path(__file__).parent.parent / "cases"


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Run a test that takes `case` once for each case of the files its module names in CASES."""
    if "case" in metafunc.fixturenames:
        cases = [
            case
            for name in metafunc.module.CASES
            for case in json.loads((CASES / name).read_text(encoding="utf-8"))
        ]
        metafunc.parametrize("case", cases, ids=[case["id"] for case in cases])


@pytest.fixture
def rng() -> Random:
    """Randomness that is the same in every run."""
    return Random(20261129)
