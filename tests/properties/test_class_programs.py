"""Random classes: values, what was run how often, and derivatives, against the plain function.

``ADBC_RANDOM_CLASSES`` is how many programs (60 unless set), ``ADBC_RANDOM_FIRST`` the first seed.  More:
``python -m tests.properties.run --kind classes``.
"""

from __future__ import annotations

import os

import pytest

from tests.properties.checks import fresh_engine
from tests.properties.class_checks import check_classes, way_of
from tests.properties.class_programs import ClassProgram

FIRST = int(os.environ.get("ADBC_RANDOM_FIRST", "0"))
COUNT = int(os.environ.get("ADBC_RANDOM_CLASSES", "60"))
CHUNK = 5


@pytest.mark.parametrize("first", range(FIRST, FIRST + COUNT, CHUNK))
def test_random_classes_are_differentiated_rightly_or_refused(first: int) -> None:
    with fresh_engine():
        for seed in range(first, min(first + CHUNK, FIRST + COUNT)):
            check_classes(ClassProgram(seed), way_of(seed))
