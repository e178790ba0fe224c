"""Rules that are written in Python are interpreted at first, as code of libraries is."""

from __future__ import annotations

from typing import Any

import numpy as np

import adbc
from adbc.runtime import default_engine


class Marked(np.ndarray):
    """An array with a mark, which what is computed from it keeps."""

    mark: Any

    def __array_finalize__(self, source: Any) -> None:
        self.mark = getattr(source, "mark", None)


def of_marked(x: Any) -> Any:
    marked = x.view(Marked)
    marked.mark = 2.0
    return float(np.linalg.norm(marked * marked.mark))


def test_rules_in_python_get_no_code_for_a_single_call() -> None:
    with adbc.use(adbc.Config(speculation="learn", warm_after=41)):  # an engine of its own
        x = np.array([3.0, 4.0])
        assert np.allclose(adbc.grad(of_marked)(x), [1.2, 1.6])
        own = [
            rule for rule in default_engine().rules.values() if "/adbc/rules/numpy/" in rule.code.co_filename
        ]
        assert all(rule.cold is not None for rule in own)
        assert own
