"""The numbers in values: where they are, and values of the same structure with others in their place.

Jacobians are of containers and objects as well as of arrays.  What they need to know of a value is the ways
that lead to its numbers and arrays; tangents have the same structure, so these ways lead to their parts too.
"""

from __future__ import annotations

import itertools
from collections import deque
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from adbc.errors import ArgumentError
from adbc.tangents import NO_TANGENT, ArrayTangent, MutableTangent, Tangent, zero_tangent
from adbc.tangents.fields import slots_of

__all__ = [
    "differ",
]


def is_own_array(x: Any) -> bool:
    """Whether `x` is an array of floats in memory of its own."""
    return type(x) is np.ndarray and x.base is None and x.dtype.kind == "f"


def is_flat_list(x: Any) -> bool:
    """Whether `x` is a list of floats."""
    return type(x) is list and [*map(type, x)].count(float) == len(x)


Leaves = list[tuple[tuple[Any, ...], Any]]
"""Numbers and arrays, with the ways that lead to them."""


def count_numbers(leaves: Leaves) -> int:
    """How many numbers there are."""
    return sum([leaf.size if isinstance(leaf, np.ndarray) else 1 for _, leaf in leaves])


Component = tuple[tuple[Any, ...], Any]
"""The place of a number: the way to a number or array, and the index there, None for a number."""


def components_of(x: Any) -> list[Component]:
    """The places of all numbers of `x`."""
    found: list[Component] = []
    for path, leaf in leaves_of(x, ()):
        shape = shape_of(leaf)
        if shape is None:
            found.append((path, None))
        else:
            found += [(path, index) for index in itertools.product(*map(range, shape))]
    return found


def leaves_of(x: Any, path: tuple[Any, ...]) -> list[tuple[tuple[Any, ...], Any]]:
    """The numbers and arrays in `x`, with the ways that lead to them."""
    if isinstance(x, np.ndarray):
        kind = x.dtype.kind
        if kind == "c":
            raise ArgumentError("a Jacobian is of real numbers: give and return real and imaginary parts")
        if kind != "O":
            return [(path, x)] if kind == "f" else []
    if isinstance(x, float | np.floating):
        return [(path, x)]
    if isinstance(x, complex | np.complexfloating):
        raise ArgumentError("a Jacobian is of real numbers: give and return real and imaginary parts")
    return [leaf for key, part in _parts(x) for leaf in leaves_of(part, (*path, key))]


def _parts(x: Any) -> list[tuple[Any, Any]]:
    """What `x`, a container or an object, or a tangent of one, consists of."""
    if isinstance(x, dict):
        return list(x.items())
    if isinstance(x, list | tuple | deque):
        return list(enumerate(x))
    if isinstance(x, np.ndarray):
        return [(index, x[index]) for index in np.ndindex(*x.shape)] if x.dtype.kind == "O" else []
    if isinstance(x, str | bytes | int | type) or x is None or callable(x):
        return []
    fields = list(getattr(x, "__dict__", {}).items())
    return fields + [(name, getattr(x, name)) for name, _ in slots_of(type(x)) if hasattr(x, name)]


def part_at(x: Any, path: tuple[Any, ...]) -> Any:
    """What is at the end of the way `path` in `x`."""
    for key in path:
        if isinstance(x, Tangent):
            x = x.__dict__[key if isinstance(key, str) else list(x.__dict__)[key]]  # of a named tuple
        elif isinstance(x, list | tuple | dict | deque | np.ndarray):
            x = x[key]
        else:
            x = x.__dict__[key] if key in getattr(x, "__dict__", ()) else getattr(x, key)
    return x.array if isinstance(x, ArrayTangent) else x


def shape_of(leaf: Any) -> Any:
    """The shape of an array, None for a number."""
    return leaf.shape if isinstance(leaf, np.ndarray) else None


def unit_tangent(x: Any, component: Component) -> Any:
    """The tangent of `x` that is one at this place and zero elsewhere."""
    path, index = component
    if not path and index is None:
        return type(x)(1.0)
    if is_own_array(x):
        unit = np.zeros(x.shape, x.dtype)
        unit[index] = 1.0
        return unit
    tangent = [0.0] * len(x) if is_flat_list(x) else zero_tangent(x)
    return _with_one(tangent, path, index)


def _with_one(tangent: Any, path: tuple[Any, ...], index: Any) -> Any:
    """`tangent`, zeros, with a one at this place: the object itself where it can be changed."""
    if not path:
        if index is None:
            return type(tangent)(1.0)
        array = tangent.array if isinstance(tangent, ArrayTangent) else tangent
        array[index] = 1.0
        return tangent
    key, rest = path[0], path[1:]
    if type(tangent) is tuple:
        part = _with_one(tangent[key], rest, index)
        return (*tangent[:key], part, *tangent[key + 1 :])
    if isinstance(tangent, Tangent):
        fields = dict(tangent.__dict__)
        names = list(fields)
        name = names[key] if isinstance(key, int) else key
        fields[name] = _with_one(fields[name], rest, index)
        return Tangent(**fields)
    if isinstance(tangent, list | dict | deque | np.ndarray):
        tangent[key] = _with_one(tangent[key], rest, index)
    else:
        tangent.__dict__[key] = _with_one(tangent.__dict__[key], rest, index)
    return tangent


def paths_to(x: Any) -> tuple[tuple[Any, ...], ...]:
    """The ways to the numbers and arrays of `x`."""
    return tuple(dict.fromkeys([path for path, _ in leaves_of(x, ())]))


def shapes_of(x: Any) -> list[Any]:
    """The shapes of the arrays of `x`, and None for each of its numbers."""
    return [shape_of(leaf) for _, leaf in leaves_of(x, ())]


def parts_at(x: Any, paths: Sequence[tuple[Any, ...]]) -> list[Any]:
    """What is at the ends of these ways in `x`."""
    if type(x) is list and len(x) == len(paths) and max(map(len, paths), default=0) == 1:
        return x  # they lead to one after the other
    return [part_at(x, path) for path in paths]


def refilled(x: Any, parts: Iterator[Any]) -> Any:
    """The structure of `x` with `parts` in place of its numbers and arrays, one after the other."""
    if is_flat_list(x):
        return [next(parts) for _ in x]
    if isinstance(x, float | np.floating) or (isinstance(x, np.ndarray) and x.dtype.kind == "f"):
        return next(parts)
    if isinstance(x, dict):
        return {key: refilled(part, parts) for key, part in x.items()}
    found = [(key, refilled(part, parts)) for key, part in _parts(x)]
    if found and isinstance(x, np.ndarray):
        array = np.empty(x.shape, object)
        for index, part in found:
            array[index] = part
        return array
    if isinstance(x, list | tuple | deque):
        values = [part for _, part in found]
        return values if isinstance(x, list) else tuple(values) if isinstance(x, tuple) else deque(values)
    if not found:
        return NO_TANGENT
    made = MutableTangent()
    made.__dict__.update(found)
    return made


_NEARLY = 1e-6
"""How far numbers may differ, relative to the largest beside them, that are computed in the same way: another
place in memory is enough for BLAS to round otherwise."""


def differ(a: Any, b: Any) -> bool:
    """Whether the numbers in two values of a function are not those of one call, but for rounding."""
    quick = _differ_quickly(a, b)
    if quick is not None:
        return quick
    if type(a) is list and type(b) is list and _FLOATS.issuperset(map(type, a)) and a == b:
        return False
    first, second = leaves_of(a, ()), leaves_of(b, ())
    if [path for path, _ in first] != [path for path, _ in second]:
        return True
    for (_, x), (_, y) in zip(first, second, strict=True):
        quick = _differ_quickly(x, y)
        if np.shape(x) != np.shape(y) or _are_apart(x, y) if quick is None else quick:
            return True
    return False


_FLOATS = frozenset({float, np.float64})


def _differ_quickly(a: Any, b: Any) -> bool | None:
    """What `differ` says of two floats, or two arrays of them; None for all else."""
    if type(a) is float and type(b) is float:
        return a != b and abs(a - b) > _NEARLY * abs(a)
    if type(a) is np.ndarray and type(b) is np.ndarray and a.dtype == b.dtype and a.dtype.kind == "f":
        return a.shape != b.shape or (a.tobytes() != b.tobytes() and _are_apart(a, b))
    return None


def _are_apart(a: Any, b: Any) -> bool:
    scale = np.max(np.abs(a), initial=0.0, where=np.isfinite(a))
    return not np.allclose(a, b, rtol=0.0, atol=_NEARLY * scale, equal_nan=True)
