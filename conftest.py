"""What all tests share: a seeded generator, verification, and Hypothesis without a clock.

The first call of a differentiated function builds its rule, so single examples vary in time by orders of
magnitude; a deadline would only measure that.
"""

from __future__ import annotations

import os

import numpy as np
import pytest
from hypothesis import HealthCheck, settings

# Every graph that is built and every code object that is emitted is verified, in subprocesses too.
# ADBC_VERIFY=0 in the environment switches it off.
os.environ.setdefault("ADBC_VERIFY", "1")

settings.register_profile("adbc", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("adbc")


@pytest.fixture
def rng() -> np.random.Generator:
    """A generator that gives every test the same numbers on every run."""
    return np.random.default_rng(20240229)
