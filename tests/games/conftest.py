from __future__ import annotations

from random import Random

import pytest


@pytest.fixture
def rng() -> Random:
    """Randomness that is the same in every run."""
    return Random(20261129)
