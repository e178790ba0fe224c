"""Jacobians, Hessians and products with them, from `jvp`, `vjp` and `grad`.

These are functions of Python in terms of the public ones: they can be taken inside functions that are
differentiated, and of each other.
"""

from __future__ import annotations

import copy
import itertools
import math
import weakref
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from adbc.api import grad, jvp, vjp
from adbc.errors import AdbcError, ArgumentError
from adbc.rules import default_table
from adbc.rules.table import Overlay, ZeroRule
from adbc.runtime import default_engine
from adbc.runtime.calls.nested import apart
from adbc.runtime.entry.held import Computed
from adbc.runtime.entry.reusable import ReusablePullback
from adbc.runtime.entry.selection import Selector, places, selectors
from adbc.runtime.report.messages import describe
from adbc.tangents import NO_TANGENT, ArrayTangent, Const, MutableTangent, Tangent, zero_tangent
from adbc.tangents.fields import slots_of

__all__ = ["hessian", "hvp", "jacfwd", "jacobian", "jacrev", "value_and_jacobian", "vhp"]

Argnums = Selector | Sequence[Selector]


# -- products ------------------------------------------------------------------------------------------------


def hvp(f: Callable[..., Any], primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[Any, ...]:
    """The product of the Hessian of ``f(*primals)`` with `tangents`: per argument, the derivative of the
    gradient by it in this direction.

    `f` gives a real number.  The tangents are those of `adbc.jvp`, None for zero; what has no derivative has
    ``NoTangent()`` for a product.  It is the forward derivative of the reverse one, so that it costs a small
    multiple of `f`, whatever the number of arguments.

    Raises what `adbc.grad` and `adbc.jvp` raise.

    >>> import adbc
    >>> adbc.hvp(lambda x, y: x * x * y, (3.0, 5.0), (1.0, 0.0))
    (10.0, 6.0)
    """
    asked = _with_derivative(primals)
    found = jvp(grad(f, asked), primals, tangents)[1] if asked else ()
    return _spread(asked, found, len(primals))


def vhp(f: Callable[..., Any], primals: Sequence[Any], cotangents: Sequence[Any]) -> tuple[Any, ...]:
    """The product of `cotangents` with the Hessian of ``f(*primals)``, by two reverse passes.

    The Hessian is symmetric, so this is what `hvp` gives for the same direction, in which None is a zero.

    >>> import adbc
    >>> adbc.vhp(lambda x, y: x * x * y, (3.0, 5.0), (1.0, 0.0))
    (10.0, 6.0)
    """
    if len(primals) != len(cotangents):
        raise ArgumentError(
            f"vhp needs one cotangent per argument: {len(primals)} arguments, {len(cotangents)} cotangents"
        )
    asked = _with_derivative(primals)
    if not asked:
        return _spread(asked, (), len(primals))
    _, pullback = vjp(grad(f, asked), *primals)
    given = [zero_tangent(primals[i]) if cotangents[i] is None else cotangents[i] for i in asked]
    found = pullback(tuple(given))
    return tuple(found)


def _with_derivative(primals: Sequence[Any]) -> tuple[int, ...]:
    """The places of the arguments that have a derivative."""
    return tuple([i for i, x in enumerate(primals) if type(x) is not Const and _has_derivative(x)])


def _has_derivative(x: Any) -> bool:
    if type(x) is float:
        return True
    if type(x) is np.ndarray and x.dtype.kind == "f":
        return x.size > 0
    return zero_tangent(x) is not NO_TANGENT and any(np.size(leaf) > 0 for _, leaf in _leaves(x, ()))


def _spread(asked: Sequence[int], found: Sequence[Any], count: int) -> tuple[Any, ...]:
    """`found`, which belongs to the arguments at the places `asked`, with `NoTangent` for others."""
    every: list[Any] = [NO_TANGENT] * count
    for i, product in zip(asked, found, strict=True):
        every[i] = product
    return tuple(every)


# -- Jacobians -----------------------------------------------------------------------------------------------


def jacfwd(f: Callable[..., Any], argnums: Argnums = 0, chunk_size: int | None = None) -> Callable[..., Any]:
    """A function that gives the Jacobian of ``f(*args, **kwargs)`` by the arguments `argnums`, column by
    column in forward mode: the way for functions with few inputs.

    Of an array of shape S by one of shape T it is an array of shape ``(*S, *T)``, of a number by a number a
    number.  Where the value or the argument is a tuple, list, dict or object, the Jacobian has the structure
    of the value, and in place of each number or array the structure of the argument.  `argnums` is that of
    `adbc.grad`: a sequence gives a tuple of Jacobians in the place of each.

    chunk_size: how many columns one run of `f` gives (`adbc.jvp` with ``width=chunk_size``).  By default
    that is up to 32; few columns are computed one by one where that takes less time, and so are those of
    functions that a batch of tangents cannot be carried through (`adbc.errors.BatchError`).

    `f` is called on copies of what it is given, once for each chunk or column.  Raises
    `adbc.errors.ArgumentError` if an argument or the value has no real numbers to differentiate, and what
    `adbc.jvp` raises.

    >>> import adbc, numpy as np
    >>> adbc.jacfwd(lambda x: x ** 2)(np.array([1.0, 2.0]))
    array([[2., 0.],
           [0., 4.]])
    """
    return Computed("Jacobian", _by_columns, f, argnums, chunk_size)


def jacrev(f: Callable[..., Any], argnums: Argnums = 0) -> Callable[..., Any]:
    """A function that gives the Jacobian of ``f(*args, **kwargs)`` as `jacfwd` does, row by row in reverse
    mode: the way for functions with few outputs.

    `f` is called once, on copies of what it is given, and the pullback runs once per number of the value; see
    `adbc.vjp` with ``reusable=True`` for where `f` is run once per row.

    >>> import adbc, numpy as np
    >>> adbc.jacrev(lambda x: x @ x)(np.array([1.0, 2.0]))
    array([2., 4.])
    """
    return Computed("Jacobian", _by_rows, f, argnums)


def jacobian(f: Callable[..., Any], argnums: Argnums = 0) -> Callable[..., Any]:
    """A function that gives the Jacobian of ``f(*args, **kwargs)``: by `jacfwd` if there are no more numbers
    in the arguments than in the value, else by `jacrev`.

    >>> import adbc
    >>> adbc.jacobian(lambda x, y: (x * y, x + y), (0, 1))(2.0, 5.0)
    ((5.0, 2.0), (1.0, 1.0))
    """
    return Computed("Jacobian", _by_either, f, argnums)


def value_and_jacobian(f: Callable[..., Any], argnums: Argnums = 0) -> Callable[..., tuple[Any, Any]]:
    """A function that gives ``f(*args, **kwargs)`` and its Jacobian, which is that of `jacobian`.

    >>> import adbc, numpy as np
    >>> value, by_x = adbc.value_and_jacobian(lambda x, k: k * x)(np.array([1.0, 2.0]), 3.0)
    >>> value, by_x
    (array([3., 6.]), array([[3., 0.],
           [0., 3.]]))
    """
    return Computed("value and Jacobian", _with_value, f, argnums)


def hessian(f: Callable[..., Any], argnums: Argnums = 0) -> Callable[..., Any]:
    """A function that gives the Hessian of ``f(*args, **kwargs)``, a real number, by the arguments `argnums`:
    the Jacobian of the gradient, column by column in forward mode over reverse mode.

    Of an array of shape S it has the shape ``(*S, *S)``.  With several arguments it is a tuple of tuples: the
    part ``[i][j]`` is the derivative by the argument `j` of the gradient by the argument `i`.

    >>> import adbc, numpy as np
    >>> adbc.hessian(lambda x: x[0] ** 2 * x[1])(np.array([3.0, 5.0]))
    array([[10.,  6.],
           [ 6.,  0.]])
    >>> adbc.hessian(lambda x, y: x * x * y, (0, 1))(3.0, 5.0)
    ((10.0, 6.0), (6.0, 0.0))
    """
    return jacfwd(grad(f, argnums), argnums)


def _by_columns(f: Any, argnums: Argnums, chunk_size: int | None, args: Any, kwargs: Any) -> Any:
    return _forward(_Problem(f, argnums, args, kwargs), chunk_size)[1]


def _by_rows(f: Any, argnums: Argnums, args: Any, kwargs: Any) -> Any:
    return _reverse(_Problem(f, argnums, args, kwargs))[1]


def _by_either(f: Any, argnums: Argnums, args: Any, kwargs: Any) -> Any:
    return _with_value(f, argnums, args, kwargs)[1]


def _with_value(f: Any, argnums: Argnums, args: Any, kwargs: Any) -> tuple[Any, Any]:
    problem = _Problem(f, argnums, args, kwargs)
    value = problem.value()
    is_wide = len(problem.inputs) > len(problem.outputs(value))
    return value, (_reverse if is_wide else _forward)(problem)[1]


class _Problem:
    """A function, its arguments, and those by which it is differentiated.

    inputs: where the numbers of these are, per number.
    """

    def __init__(self, f: Any, argnums: Argnums, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        self.f = f
        self.args = args
        self.kwargs = kwargs
        self.single = isinstance(argnums, str) or not isinstance(argnums, Sequence)
        self.asked = _asked(f, argnums, args, kwargs)
        self.given = (*args, *kwargs.values())
        self.chosen = tuple([self.given[i] for i in self.asked])
        self.inputs: list[_Component] = []
        self.shapes = [_shapes(x) for x in self.chosen]
        """Per argument by which it is differentiated, the shapes of its numbers and arrays."""
        for x in self.chosen:
            found = _components(x)
            if not found:
                raise ArgumentError(
                    f"an argument by which {describe(f)} is to be differentiated is a {type(x).__name__}"
                    " without real numbers that have a derivative: pass floats"
                )
            self.inputs += found

    def value(self) -> Any:
        """The value of the function, on copies of the arguments."""
        args, kwargs = copy.deepcopy((self.args, self.kwargs))
        return self.f(*args, **kwargs)

    def outputs(self, value: Any) -> list[_Component]:
        """Where the numbers of the value are."""
        found = _components(value)
        if not found:
            raise ArgumentError(
                f"the value of {describe(self.f)} is a {type(value).__name__} without real numbers that have"
                " a derivative"
            )
        return found

    def function(self) -> tuple[Any, tuple[Any, ...]]:
        """A function of all arguments by position, and these, copied."""
        if not self.kwargs:
            return self.f, _copied(self.args)
        f, count, names = self.f, len(self.args), tuple(self.kwargs)

        def by_position(*given: Any) -> Any:
            return f(*given[:count], **dict(zip(names, given[count:], strict=True)))

        return by_position, _copied(self.given)


def _copied(args: tuple[Any, ...]) -> tuple[Any, ...]:
    """Copies of arguments and all that they hold, in which one object is one object."""
    if len(args) == 1 and _is_flat(args[0]):
        return (list(args[0]),)
    arrays = [x for x in args if type(x) not in _IMMUTABLE]
    if len(arrays) == 1 and _is_own(arrays[0]):
        return tuple([x.copy("K") if x is arrays[0] else x for x in args])
    return copy.deepcopy(args)


_IMMUTABLE = (float, int, bool, str, type(None))


def _is_own(x: Any) -> bool:
    """Whether `x` is an array of floats in memory of its own."""
    return type(x) is np.ndarray and x.base is None and x.dtype.kind == "f"


def _is_flat(x: Any) -> bool:
    """Whether `x` is a list of floats."""
    return type(x) is list and [*map(type, x)].count(float) == len(x)


def _asked(f: Any, argnums: Argnums, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[int, ...]:
    """The places of the arguments by which `f` is to be differentiated."""
    return places(f, selectors(argnums), args, kwargs)


def _forward(problem: _Problem, chunk_size: int | None = None) -> tuple[Any, Any]:
    """Value and Jacobian, column by column."""
    value, columns = _columns(problem, chunk_size)
    if type(columns[0]) is _Columns:
        return value, _of_batches(problem, value, columns)
    paths = _paths(value)
    if not paths:
        problem.outputs(value)  # it raises
    by_column = [_parts_at(column, paths) for column in columns]
    rows = [_row(problem, [parts[k] for parts in by_column]) for k in range(len(paths))]
    return value, _filled(value, iter(rows))


_CHUNK = 32
"""How many columns one run gives at most, if nobody says."""
_FEW_OF_ARRAYS, _FEW_NUMBERS = 8, 24
"""Fewer columns than these take less time one by one, where arrays are among the inputs and where only
numbers are: arithmetic of 32 numbers takes NumPy as long as that of one takes Python twenty times."""

_one_by_one: weakref.WeakSet[Any] = weakref.WeakSet()
"""Code of functions that batches of tangents could not be carried through."""


_CANNOT = (AdbcError, TypeError, AttributeError, ValueError)
"""What may say that a batch cannot be carried through a function.  If the function itself raises it, it comes
again where directions are taken one by one."""


def in_chunks(
    f: Any,
    function: Callable[[], tuple[Any, Sequence[Any]]],
    tangents: Callable[[range], Sequence[Any]],
    count: int,
    chunk_size: int | None = None,
) -> tuple[Any, list[Any]] | None:
    """The value of `f`, and batches of its derivatives in `count` directions, of `chunk_size` at most; None
    if they are to be computed one by one.

    function: gives a function and what it is called with, anew for each run.  tangents: gives the batch of
    tangents of these for some of the directions.
    """
    code = getattr(f, "__code__", None)
    if code is not None and code in _one_by_one:
        return None
    size = -(-count // -(-count // (chunk_size or _CHUNK)))  # all runs have about as many
    value: Any = None
    batches: list[Any] = []
    try:
        for start in range(0, count, size):
            lanes = range(start, min(start + size, count))
            called, given = function()
            value, batch = jvp(called, given, tangents(lanes), width=len(lanes))
            batches.append(batch)
    except _CANNOT:
        if code is not None:
            _one_by_one.add(code)
        return None
    return value, batches


def _not_in_chunks(f: Any, function: Any, tangents: Any, count: int, chunk_size: int | None = None) -> None:
    """Say that directions are taken one by one: this is what is differentiated once more."""
    return None


def _columns(problem: _Problem, chunk_size: int | None) -> tuple[Any, list[Any]]:
    """The value, and the columns of its Jacobian: tangents, or batches of as many as one run has given."""
    count = len(problem.inputs)
    if chunk_size is None:
        has_arrays = any(index is not None for _, index in problem.inputs)
        if count < (_FEW_OF_ARRAYS if has_arrays else _FEW_NUMBERS):
            return _columns_one_by_one(problem, None)
    elif type(chunk_size) is bool or not isinstance(chunk_size, int) or chunk_size < 1:
        raise ArgumentError(f"chunk_size is how many columns one run gives, from 1 on, not {chunk_size!r}")
    leaves = [_leaves(x, ()) for x in problem.chosen]
    first = [0, *itertools.accumulate(_count(numbers) for numbers in leaves)]

    def tangents(lanes: range) -> list[Any]:
        given: list[Any] = [None] * len(problem.given)
        if len(lanes) == count and len(problem.chosen) == 1 and isinstance(problem.chosen[0], np.ndarray):
            x = problem.chosen[0]
            given[problem.asked[0]] = np.eye(count, dtype=x.dtype).reshape(count, *x.shape)
            return given
        for k, x in enumerate(problem.chosen):
            mine = range(max(lanes.start, first[k]), min(lanes.stop, first[k + 1]))
            if mine:
                places = [(n - lanes.start, problem.inputs[n]) for n in mine]
                given[problem.asked[k]] = _units(x, leaves[k], places, len(lanes))
        return given

    found = in_chunks(problem.f, problem.function, tangents, count, chunk_size)
    if found is None:
        return _columns_one_by_one(problem, None)
    return found[0], [_Columns(batch, leaves) for batch in found[1]]


def _columns_one_by_one(problem: _Problem, chunk_size: int | None) -> tuple[Any, list[Any]]:
    """What `_columns` gives, by a run for each column: this is what is differentiated once more."""
    value: Any = None
    columns: list[Any] = []
    for k, x in enumerate(problem.chosen):
        for component in _components(x):
            f, given = problem.function()
            tangents: list[Any] = [None] * len(given)
            tangents[problem.asked[k]] = _unit(x, component)
            value, column = jvp(f, given, tangents)
            columns.append(column)
    return value, columns


class _Columns:
    """Columns that one run has given: `batch` has the structure of a tangent, with a first axis in front of
    those of its arrays.  leaves: the numbers and arrays in each of the arguments."""

    def __init__(self, batch: Any, leaves: list[_Leaves]) -> None:
        self.batch, self.leaves = batch, leaves


def _of_batches(problem: _Problem, value: Any, columns: Sequence[_Columns]) -> Any:
    """The Jacobian, from its columns in batches."""
    found = []
    leaves = columns[0].leaves
    for path, out in _leaves(value, ()) or problem.outputs(value):
        parts = [_at(column.batch, path) for column in columns]
        whole = parts[0] if len(parts) == 1 else np.concatenate(parts)
        rows, at = [], 0
        for x, numbers in zip(problem.chosen, leaves, strict=True):
            by = []
            for _, leaf in numbers:
                count = leaf.size if isinstance(leaf, np.ndarray) else 1
                by.append(_joined_batch(whole[at : at + count], out, _shape(leaf)))
                at += count
            rows.append(_filled(x, iter(by)))
        found.append(rows[0] if problem.single else tuple(rows))
    return _filled(value, iter(found))


def _joined_batch(columns: Any, out: Any, shape: Any) -> Any:
    """The Jacobian of the number or array `out` by one number or by an array of this shape."""
    if shape is not None:
        return np.moveaxis(columns, 0, -1).reshape(columns.shape[1:] + shape)
    return float(columns[0]) if type(out) is float else columns[0]


_Leaves = list[tuple[tuple[Any, ...], Any]]
"""Numbers and arrays, with the ways that lead to them."""


def _count(leaves: _Leaves) -> int:
    """How many numbers there are."""
    return sum([leaf.size if isinstance(leaf, np.ndarray) else 1 for _, leaf in leaves])


def _units(x: Any, leaves: _Leaves, lanes: Sequence[tuple[int, _Component]], width: int) -> Any:
    """A batch of tangents of `x`, which has these `leaves`: in each of `lanes` one that is one at a place,
    zero in all others."""
    batches = {
        path: np.zeros((width, *leaf.shape), leaf.dtype) if hasattr(leaf, "dtype") else np.zeros(width)
        for path, leaf in leaves
    }
    for lane, (path, index) in lanes:
        batches[path][(lane, *(index or ()))] = 1.0
    return _filled(x, iter(batches.values()))


def _reverse(problem: _Problem) -> tuple[Any, Any]:
    """Value and Jacobian, row by row."""
    value, components, pulled = _rows(problem)
    parts: dict[Any, list[Any]] = {}
    for component, found in zip(components, pulled, strict=True):
        rows = parts.setdefault(component[0], [])
        rows.append(tuple([found[i] for i in problem.asked]))
    blocks = [
        _stacked(problem, parts[path], shape)
        for path, shape in zip(_paths(value), _shapes(value), strict=True)
    ]
    return value, _filled(value, iter(blocks))


_FEW_ROWS = 3
"""Up to this many rows another forwards pass costs less than to keep what the pullback changes."""


def _rows(problem: _Problem) -> tuple[Any, list[_Component], list[Any]]:
    """The value, the places of its numbers, and what comes back for each: one pullback, run again."""
    f, given = problem.function()
    pullback = ReusablePullback(default_engine, f, given, False)
    components = problem.outputs(pullback.value)
    if len(components) > _FEW_ROWS:
        pullback.keep()
    pulled = [pullback(_unit(pullback.value, component)) for component in components]
    return pullback.value, components, pulled


def _rows_one_by_one(problem: _Problem) -> tuple[Any, list[_Component], list[Any]]:
    """What `_rows` gives, by a forwards pass for each row: this is what is differentiated once more."""
    f, given = problem.function()
    value, pullback = vjp(f, *given)
    components = problem.outputs(value)
    pulled = [pullback(_unit(value, components[0]))]
    for component in components[1:]:
        f, given = problem.function()
        value, pullback = vjp(f, *given)
        pulled.append(pullback(_unit(value, component)))
    return value, components, pulled


def _row(problem: _Problem, columns: list[Any]) -> Any:
    """The Jacobian of one number or array, from its tangents for each number of the arguments."""
    found, at = [], 0
    for x, shapes in zip(problem.chosen, problem.shapes, strict=True):
        if shapes.count(None) == len(shapes):
            by = columns[at : at + len(shapes)]
            at += len(shapes)
        else:
            by = []
            for shape in shapes:
                count = 1 if shape is None else math.prod(shape)
                by.append(columns[at] if shape is None else _joined(columns[at : at + count], shape))
                at += count
        found.append(_filled(x, iter(by)))
    return found[0] if problem.single else tuple(found)


def _joined(columns: Sequence[Any], shape: Any) -> Any:
    """The Jacobian by an array of this shape."""
    whole = np.stack([np.asarray(c) for c in columns], axis=-1)
    return whole.reshape(whole.shape[:-1] + shape)


def _stacked(problem: _Problem, rows: Sequence[Any], shape: Any) -> Any:
    """The Jacobian of one number or of an array of this shape, from the gradients of its numbers."""
    found = []
    for k, x in enumerate(problem.chosen):
        paths = _paths(x)
        gradients = [_parts_at(row[k], paths) for row in rows]
        if shape is None:
            found.append(_filled(x, iter(gradients[0])))
        else:
            by = [_piled([parts[i] for parts in gradients], shape) for i in range(len(paths))]
            found.append(_filled(x, iter(by)))
    return found[0] if problem.single else tuple(found)


def _piled(rows: Sequence[Any], shape: Any) -> Any:
    whole = np.stack([np.asarray(row) for row in rows])
    return whole.reshape(shape + whole.shape[1:])


# -- the numbers in values -----------------------------------------------------------------------------------

_Component = tuple[tuple[Any, ...], Any]
"""The place of a number: the way to a number or array, and the index there, None for a number."""


def _components(x: Any) -> list[_Component]:
    """The places of all numbers of `x`."""
    found: list[_Component] = []
    for path, leaf in _leaves(x, ()):
        shape = _shape(leaf)
        if shape is None:
            found.append((path, None))
        else:
            found += [(path, index) for index in np.ndindex(*shape)]
    return found


def _leaves(x: Any, path: tuple[Any, ...]) -> list[tuple[tuple[Any, ...], Any]]:
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
    return [leaf for key, part in _parts(x) for leaf in _leaves(part, (*path, key))]


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


def _at(x: Any, path: tuple[Any, ...]) -> Any:
    """What is at the end of the way `path` in `x`."""
    for key in path:
        if isinstance(x, Tangent):
            x = x.__dict__[key if isinstance(key, str) else list(x.__dict__)[key]]  # of a named tuple
        elif isinstance(x, list | tuple | dict | deque | np.ndarray):
            x = x[key]
        else:
            x = x.__dict__[key] if key in getattr(x, "__dict__", ()) else getattr(x, key)
    return x.array if isinstance(x, ArrayTangent) else x


def _shape(leaf: Any) -> Any:
    """The shape of an array, None for a number."""
    return leaf.shape if isinstance(leaf, np.ndarray) else None


def _unit(x: Any, component: _Component) -> Any:
    """The tangent of `x` that is one at this place and zero elsewhere."""
    path, index = component
    if not path and index is None:
        return type(x)(1.0)
    if _is_own(x):
        unit = np.zeros_like(x, order="C")
        unit[index] = 1.0
        return unit
    tangent = [0.0] * len(x) if _is_flat(x) else zero_tangent(x)
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


def _paths(x: Any) -> tuple[tuple[Any, ...], ...]:
    """The ways to the numbers and arrays of `x`."""
    return tuple(dict.fromkeys([path for path, _ in _leaves(x, ())]))


def _shapes(x: Any) -> list[Any]:
    """The shapes of the arrays of `x`, and None for each of its numbers."""
    return [_shape(leaf) for _, leaf in _leaves(x, ())]


def _parts_at(x: Any, paths: Sequence[tuple[Any, ...]]) -> list[Any]:
    """What is at the ends of these ways in `x`."""
    if type(x) is list and len(x) == len(paths) and max(map(len, paths), default=0) == 1:
        return x  # they lead to one after the other
    return [_at(x, path) for path in paths]


def _filled(x: Any, parts: Iterator[Any]) -> Any:
    """The structure of `x` with `parts` in place of its numbers and arrays, one after the other."""
    if _is_flat(x):
        return [next(parts) for _ in x]
    if isinstance(x, float | np.floating) or (isinstance(x, np.ndarray) and x.dtype.kind == "f"):
        return next(parts)
    if isinstance(x, dict):
        return {key: _filled(part, parts) for key, part in x.items()}
    found = [(key, _filled(part, parts)) for key, part in _parts(x)]
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


# Inside functions that are differentiated, these tell of structure alone.
default_table().add(
    [
        *apart(_asked, _components, _paths, _shapes, _is_flat, _has_derivative, describe),
        ZeroRule(_unit),
        Overlay(_rows, _rows_one_by_one),
        Overlay(_columns, _columns_one_by_one),
        Overlay(in_chunks, _not_in_chunks),
    ]
)
