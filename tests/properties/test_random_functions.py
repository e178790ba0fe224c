"""Random functions: round trip, interpreted graph, forward mode and reverse mode against the plain function.

``ADBC_RANDOM_FUNCTIONS`` is how many (2000 unless set), ``ADBC_RANDOM_FIRST`` the first seed, and
``ADBC_RANDOM_SPECULATION`` sets whether types are guessed (never, learn, always) for all of them.
`python -m tests.properties.run` is for many more.
"""

from __future__ import annotations

import os

import pytest

from tests.properties.checks import CHUNK, check_chunk

FIRST = int(os.environ.get("ADBC_RANDOM_FIRST", "0"))
COUNT = int(os.environ.get("ADBC_RANDOM_FUNCTIONS", "2000"))


@pytest.mark.parametrize("first", range(FIRST, FIRST + COUNT, CHUNK))
def test_random_functions_come_back_and_are_differentiated_rightly(first: int) -> None:
    check_chunk(range(first, min(first + CHUNK, FIRST + COUNT)))
