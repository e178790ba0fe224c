"""Calls with constants among their arguments: `adbc.testing.test_rule` differentiates by the others."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

__all__ = ["holding"]


def holding(
    function: Callable[..., Any],
    args: Sequence[Any],
    *,
    inactive: Sequence[int] = (),
    keywords: Mapping[str, Any] | None = None,
    memory: Mapping[str, Any] | None = None,
) -> tuple[Callable[..., Any], tuple[Any, ...]]:
    """A function that calls `function`, and its arguments: those of `args` that are not numbered in
    `inactive`, then those of `memory`, which it passes on by name.

    What is numbered in `inactive`, and `keywords`, are written into its code: numbers as they are,
    arrays of numbers as nested tuples; the rest as globals.
    """
    space: dict[str, Any] = {"function": function, "inf": np.inf}
    parameters: list[str] = []
    passed: list[str] = []
    given: list[Any] = []
    for k, x in enumerate(args):
        if k in inactive:
            passed.append(_written(f"x{k}", x, space))
        else:
            passed.append(f"x{k}")
            parameters.append(f"x{k}")
            given.append(x)
    for name, x in (keywords or {}).items():
        passed.append(f"{name}={_written(f'of_{name}', x, space)}")
    for name, x in (memory or {}).items():
        parameters.append(f"by_{name}")
        given.append(x)
        passed.append(f"{name}=by_{name}")
    exec(f"def call({', '.join(parameters)}):\n    return function({', '.join(passed)})", space)
    return space["call"], tuple(given)


def _written(name: str, x: Any, space: dict[str, Any]) -> str:
    """`x` as an expression: a literal if it has one, else `name`, which becomes a global."""
    if isinstance(x, np.ndarray):
        return repr(_nested(x.tolist()))
    if type(x) in (int, float, complex, bool, str, tuple, type(None)):
        return repr(x)
    space[name] = x
    return name


def _nested(x: Any) -> Any:
    return tuple(map(_nested, x)) if isinstance(x, list) else x
