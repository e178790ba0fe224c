"""Rules that a test declares are gone behind it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from adbc import chainrules as cr


@pytest.fixture(autouse=True)
def scope() -> Iterator[None]:
    with cr.scoped():
        yield
