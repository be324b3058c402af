from __future__ import annotations

import json
from pathlib import Path

import pytest

CASES = Path(__file__).parent.parent / "cases"


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Run a test that takes `case` once for each case of the file its module names in CASES."""
    if "case" in metafunc.fixturenames:
        cases = json.loads((CASES / metafunc.module.CASES).read_text())
        metafunc.parametrize("case", cases, ids=[case["id"] for case in cases])
