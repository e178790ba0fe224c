"""A batch of tangents against as many tangents one by one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from adbc.tangents import NO_TANGENT
from adbc.tangents.walk import STRUCTURES

__all__ = ["stacked"]


def stacked(tangents: Sequence[Any]) -> Any:
    """The batch of `tangents`, which have one structure: one more axis in front of each array, and an array
    in the place of each number."""
    return _stacked(tangents, {})


def _stacked(tangents: Sequence[Any], memo: dict[int, Any]) -> Any:
    first = tangents[0]
    if first is NO_TANGENT or first is None:
        return first
    if isinstance(first, int | float | complex | np.number):
        return np.array(tangents)
    if id(first) in memo:
        return memo[id(first)]
    if isinstance(first, np.ndarray) and first.dtype.kind in "fc":
        memo[id(first)] = made = np.stack(list(tangents))
        return made
    structure = STRUCTURES.get(type(first))
    if structure is None:
        raise AssertionError(f"internal: no batch of tangents is made of a {type(first).__name__}")
    target, keys = first, structure.keys(first)
    if structure.address:
        target = memo[id(first)] = structure.shell(first)
    columns = zip(*[structure.get(t, keys) for t in tangents], strict=True)
    return structure.put(target, keys, [_stacked(column, memo) for column in columns])
