"""All numbers of a value of any structure as one vector, and back: for optimisers that know vectors alone."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from adbc.errors import InvalidTangentError, UnsupportedError
from adbc.tangents.array_memory import Array, overlaps_itself, places_of, ultimate_owner
from adbc.tangents.operations import coordinates, with_coordinates
from adbc.tangents.trees import Leaves
from adbc.tangents.walk import TangentWalk

__all__ = ["ravel"]


def ravel(tree: Any) -> tuple[Array, Callable[[Array], Any]]:
    """``(vector, back)``: the numbers of `tree` as a vector, and what takes such a vector to a value like
    `tree`.

    Numbers come in the order of `tree_leaves`; an object, and memory that several arrays share, comes once.
    The vector has the smallest dtype that holds all numbers, and ``back`` gives each number the class or
    dtype that it had.  Whatever has no derivative is that of `tree`; constructors are not called.

    >>> import adbc
    >>> vector, back = adbc.ravel({"w": [3.0, 4.0], "steps": 5, "rate": 0.5})
    >>> vector
    array([0.5, 3. , 4. ])
    >>> back(2 * vector)
    {'w': [6.0, 8.0], 'steps': 5, 'rate': 1.0}
    """
    t = coordinates(tree)
    leaves = Leaves().of(t)
    arrays = [x for x in leaves if issubclass(type(x), np.ndarray)]
    firsts = _first_places(arrays)
    indices = iter(firsts)
    pieces = [
        x.reshape(-1)[next(indices)] if issubclass(type(x), np.ndarray) else np.asarray(x).reshape(1)
        for x in leaves
    ]
    vector: Array = np.concatenate(pieces) if pieces else np.zeros(0)
    ends = np.cumsum([piece.size for piece in pieces])
    is_complex = vector.dtype.kind == "c"

    def back(numbers: Array) -> Any:
        given = np.asarray(numbers)
        if given.shape != vector.shape or given.dtype.kind not in ("biufc" if is_complex else "biuf"):
            raise InvalidTangentError(
                f"the vector has shape {vector.shape} and dtype {vector.dtype}, not {given.shape} and"
                f" {given.dtype}"
            )
        parts = [given[end - piece.size : end] for piece, end in zip(pieces, ends, strict=True)]
        leaf = _Taken(leaves, parts, firsts)
        return with_coordinates(tree, TangentWalk(leaf, in_place=False).run(t))

    return vector, back


def _first_places(arrays: Sequence[Array]) -> list[Any]:
    """Per array, the indices of the elements (of all in a row) whose memory no array before it shows."""
    owners = [id(ultimate_owner(x)) for x in arrays]
    found: list[Any] = []
    for i, x in enumerate(arrays):
        others = [y for k, y in enumerate(arrays[:i]) if owners[k] == owners[i] and np.shares_memory(x, y)]
        if not others and not overlaps_itself(x):
            found.append(slice(None))
            continue
        if any(y.dtype != x.dtype for y in others):
            raise UnsupportedError(
                f"arrays of dtypes {x.dtype} and {others[0].dtype} share memory",
                "which of them the vector should show is not known",
                "leave one out",
            )
        places, first = np.unique(places_of(x), return_index=True)
        seen = np.concatenate([np.zeros(0, np.int64), *[places_of(y).reshape(-1) for y in others]])
        found.append(np.sort(first[~np.isin(places, seen)]))
    return found


class _Taken:
    """The leaf of a walk that takes numbers, in the order of leaves, from the parts of a vector."""

    def __init__(self, leaves: Sequence[Any], parts: Sequence[Array], firsts: Sequence[Any]) -> None:
        given = list(zip(leaves, parts, strict=True))
        self.numbers = iter([part for leaf, part in given if not issubclass(type(leaf), np.ndarray)])
        self.arrays = iter([part for leaf, part in given if issubclass(type(leaf), np.ndarray)])
        self.firsts = iter(firsts)

    def __call__(self, number: Any) -> Any:
        (taken,) = next(self.numbers).tolist()
        cls = type(number)
        return cls(taken if issubclass(type(cls(0)), complex | np.complexfloating) else taken.real)

    def write(self, target: Array) -> None:
        """Write the next numbers into the elements of `target` that are the first to show their memory."""
        numbers = next(self.arrays)
        target.flat[next(self.firsts)] = numbers if target.dtype.kind == "c" else numbers.real
