"""Random calls of NumPy's functions: both modes against the plain run, each other and differences.

``ADBC_RANDOM_CALLS`` is how many (100 unless set, a fifth in each mode), ``ADBC_RANDOM_FIRST`` the first
seed.
`python -m tests.properties.run --kind numpy` is for many more, and counts what is refused.
"""

from __future__ import annotations

import os

import pytest

from adbc.config import SPECULATION
from adbc.runtime import default_engine
from tests.properties.checks import fresh_engine
from tests.properties.numpy_calls import POOLS, TABLE, NumpyCall
from tests.properties.numpy_checks import check_among_constants, check_chunk
from tests.properties.numpy_families import CHOICES, FAMILIES

FIRST = int(os.environ.get("ADBC_RANDOM_FIRST", "0"))
COUNT = int(os.environ.get("ADBC_RANDOM_CALLS", "100"))


@pytest.mark.parametrize("part, speculation", [*enumerate(SPECULATION)])
def test_random_calls_are_right_or_refused(part: int, speculation: str) -> None:
    found = check_chunk(range(FIRST + part, FIRST + COUNT, 5), speculation)
    refused = sum(times for (_, outcome), times in found.items() if outcome == "refused")
    assert refused <= found.total() // 4, f"much is refused: {found}"


@pytest.mark.parametrize("part, speculation", [(0, "learn"), (1, "never"), (2, "dynamic"), (3, "always")])
def test_random_calls_on_constants_agree(part: int, speculation: str) -> None:
    with fresh_engine():
        default_engine().guesses.mode = speculation
        seeds = range(FIRST + part, FIRST + COUNT // 4, 4)
        found = [check_among_constants(NumpyCall(seed)) for seed in seeds]
    assert found.count("refused") <= len(found) // 4


def test_the_tables_are_large() -> None:
    assert len(FAMILIES) > 200 and sum(map(len, CHOICES.values())) > 100
    assert len({name for name, _, _ in TABLE}) > 300
    assert sum(map(len, POOLS.values())) > 100
