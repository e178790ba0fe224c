"""Maps over the numbers in values of any structure, of primals as of tangents.

A *leaf* is a number with a derivative, or an array of such numbers.  One object is one leaf, however often
it stands in a value; whatever has no derivative (an int, a string, a function) is none.  Numbers come in the
order in which a walk meets them: it looks at everything that an object holds before it enters the objects
among that.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from adbc.errors import InvalidTangentError
from adbc.tangents.fit import as_numbers, misfit
from adbc.tangents.operations import coordinates, with_coordinates
from adbc.tangents.walk import TangentWalk

__all__ = ["Leaves", "tree_leaves", "tree_map"]


def tree_map(function: Callable[..., Any], tree: Any, *others: Any) -> Any:
    """A value like `tree` with the numbers that `function` gives for its leaves: numbers, and arrays.

    `function` is called with a leaf of `tree` and those of `others` in the same place, and gives a number or
    an array of the same shape; it is called once for an object that stands in `tree` several times.  `others`
    are tangents of `tree` (such as a gradient), or have its structure.  What has no derivative stays as it
    is.  What has an address is new, constructors are not called.

    Raises `adbc.errors.InvalidTangentError` if structures or shapes differ.

    >>> import adbc
    >>> model = {"w": [3.0, 4.0], "steps": 5}
    >>> gradient = adbc.grad(lambda m: m["w"][0] * m["w"][1] ** 2)(model)
    >>> adbc.tree_map(lambda w, g: w - 0.125 * g, model, gradient)
    {'w': [1.0, 1.0], 'steps': 5}
    """
    given = [_numbers(tree, other) for other in others]
    walk = TangentWalk(_Mapped(function), in_place=False)
    return with_coordinates(tree, walk.run(coordinates(tree), *given))


def _numbers(tree: Any, other: Any) -> Any:
    """The numbers of `other`, which is a tangent of `tree` or a value like it, as a tangent."""
    return as_numbers(tree, other) if misfit(tree, other) is None else coordinates(other)


class _Mapped:
    """The leaf of a walk that gives what a function of the user's gives, provided that it fits."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function = function

    def __call__(self, *numbers: Any) -> Any:
        found, cls = self.function(*numbers), type(numbers[0])
        try:
            return found if type(found) is cls else cls(found)
        except (TypeError, ValueError) as error:
            raise InvalidTangentError(
                f"tree_map needs a {cls.__name__} for a {cls.__name__}, not {found!r:.60}"
            ) from error

    def on_arrays(self, *arrays: Any) -> Any:
        found = self.function(*arrays)
        shape, letter = getattr(found, "shape", ()), getattr(getattr(found, "dtype", None), "kind", "")
        if shape != arrays[0].shape or (letter == "c" and arrays[0].dtype.kind != "c"):
            raise InvalidTangentError(
                f"tree_map needs an array of shape {arrays[0].shape} and dtype {arrays[0].dtype} for such an"
                f" array, not {found!r:.60}"
            )
        return found


class Leaves:
    """The leaf of a walk that collects numbers, each with the count of arrays that were met before."""

    def __init__(self) -> None:
        self.numbers: list[tuple[int, Any]] = []
        self.arrays: list[Any] = []
        self.walk = TangentWalk(self, in_place=True)

    def __call__(self, number: Any) -> Any:
        self.numbers.append((len(self.walk.arrays), number))
        return number

    def on_arrays(self, array: Any) -> Any:
        self.arrays.append(array)
        return array

    def of(self, t: Any) -> list[Any]:
        """The leaves of tangent `t` in order."""
        self.walk.run(t)
        found: list[Any] = []
        count = 0
        for before, number in self.numbers:
            found += self.arrays[count:before]
            count = before
            found.append(number)
        return found + self.arrays[count:]


def tree_leaves(tree: Any) -> list[Any]:
    """The leaves of `tree`: its numbers and arrays that have a derivative, copied, each object once.

    >>> import adbc
    >>> adbc.tree_leaves({"w": [3.0, 4.0], "steps": 5, "rate": 0.5})
    [0.5, 3.0, 4.0]
    """
    return Leaves().of(coordinates(tree))
