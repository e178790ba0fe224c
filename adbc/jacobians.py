"""Jacobians, Hessians and products with them, from `jvp`, `vjp` and `grad`.

These are functions of Python in terms of the public ones: they can be taken inside functions that are
differentiated, and of each other.
"""

from __future__ import annotations

import copy
import functools
import itertools
import math
import random
import types
import weakref
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from adbc.api import grad, jvp, vjp
from adbc.components import (
    Component,
    Leaves,
    components_of,
    count_numbers,
    differ,
    is_flat_list,
    leaves_of,
    part_at,
    parts_at,
    paths_to,
    refilled,
    shape_of,
    shapes_of,
    unit_tangent,
)
from adbc.errors import ArgumentError, UnsupportedError
from adbc.rows import CANNOT, Lanes, note_count, of_lanes, rows_in_lanes, unit_batch
from adbc.rules import default_table
from adbc.rules.table import Overlay, ZeroRule
from adbc.runtime import default_engine
from adbc.runtime.calls.nested import apart
from adbc.runtime.entry.held import Computed, Held
from adbc.runtime.entry.reusable import ReusablePullback
from adbc.runtime.entry.selection import Selector, places, selectors
from adbc.runtime.report.messages import describe
from adbc.tangents import NO_TANGENT, Const, zero_tangent
from adbc.tangents.protocol import kind_of

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
    return zero_tangent(x) is not NO_TANGENT and any(np.size(leaf) > 0 for _, leaf in leaves_of(x, ()))


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
    that is about 32, or all where they are no more than 64; few columns are computed one by one where that
    takes less time, and so are those of functions that a batch of tangents cannot be carried through
    (`adbc.errors.BatchError`).

    `f` is called on copies of what it is given, once for each chunk or column.  Raises
    `adbc.errors.UnsupportedError` if it gives another value in one of these calls (a function that keeps a
    state from call to call, or draws random numbers, has its Jacobian in one run, or by `jacrev`),
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

    `f` is called once, on copies of what it is given.  In the first call for arguments of some sizes, and for
    a value of few numbers, the pullback runs once per number; see `adbc.vjp` with ``reusable=True`` for where
    `f` is run once per row.  From then on it runs once for many rows (`adbc.vjp` with ``width=``), unless a
    batch of cotangents cannot be carried through `f`, which is found out once.

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
    return Computed("Jacobian", _by_either, f, argnums, {})


def value_and_jacobian(f: Callable[..., Any], argnums: Argnums = 0) -> Callable[..., tuple[Any, Any]]:
    """A function that gives ``f(*args, **kwargs)`` and its Jacobian, which is that of `jacobian`.

    >>> import adbc, numpy as np
    >>> value, by_x = adbc.value_and_jacobian(lambda x, k: k * x)(np.array([1.0, 2.0]), 3.0)
    >>> value, by_x
    (array([3., 6.]), array([[3., 0.],
           [0., 3.]]))
    """
    return Computed("value and Jacobian", _with_value, f, argnums, {})


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


def _by_either(f: Any, argnums: Argnums, seen: _Seen, args: Any, kwargs: Any) -> Any:
    return _with_value(f, argnums, seen, args, kwargs)[1]


_Seen = dict[Any, bool]
"""By the shapes of arguments, whether there were more numbers in them than in the value."""
_MOST_SEEN = 64


def _with_value(f: Any, argnums: Argnums, seen: _Seen, args: Any, kwargs: Any) -> tuple[Any, Any]:
    """Value and Jacobian.  How large the value is decides how the Jacobian is computed, so the first time the
    value is computed before; from then on the size is expected, and the other way is taken if it is not."""
    problem = _Problem(f, argnums, args, kwargs)
    is_wide = _expected(problem, seen)
    if is_wide is None:
        value = _value(problem)
        is_wide = _is_wide(problem, value)
        again, found = (_reverse if is_wide else _forward)(problem)
        check_same(f, value, again)
    else:
        value, found = (_reverse if is_wide else _forward)(problem)
        if is_wide is not _is_wide(problem, value):
            is_wide = not is_wide
            again, found = (_reverse if is_wide else _forward)(problem)
            check_same(f, value, again)
    _note(problem, seen, is_wide)
    return value, found


def _is_wide(problem: _Problem, value: Any) -> bool:
    """Whether there are more numbers in the arguments than in the value."""
    return len(problem.inputs) > (count_numbers(leaves_of(value, ())) or len(problem.outputs(value)))


def _expected(problem: _Problem, seen: _Seen) -> bool | None:
    """What `_is_wide` gave for arguments of these shapes; None if it was not asked, or if `f` may have been
    called once more before than it is by the user, and knows it."""
    return None if may_keep_state(problem.f) else seen.get(problem.key())


def _not_expected(problem: _Problem, seen: _Seen) -> None:
    """Say that nothing is known: this is what is differentiated once more."""
    return None


def _note(problem: _Problem, seen: _Seen, is_wide: bool) -> None:
    """Let `_expected` know."""
    if len(seen) >= _MOST_SEEN:
        seen.clear()
    seen[problem.key()] = is_wide


def _value(problem: _Problem) -> Any:
    """The value of a function; what it keeps for its next call is put back."""
    if not may_keep_state(problem.f):
        return problem.value()
    f, given = problem.function()
    pullback = ReusablePullback(default_engine, f, given, False)
    value = pullback.value
    pullback(unit_tangent(value, problem.outputs(value)[0]))
    return value


def _value_as_it_is(problem: _Problem) -> Any:
    """What `_value` gives, by a plain call: this is what is differentiated once more."""
    return problem.value()


def may_keep_state(f: Any) -> bool:
    """Whether `f` is likely to keep something from call to call: a method, an object, a function around one.

    A derivative keeps nothing: what was done for it is put back.  Globals are not looked for.
    """
    if isinstance(f, Held):
        return False
    if type(f) is functools.partial:
        return may_keep_state(f.func) or any(map(_is_stateful, (*f.args, *f.keywords.values())))
    if type(f) is not types.FunctionType:
        return not isinstance(f, types.BuiltinFunctionType | np.ufunc | type)
    return any(map(_is_stateful, map(_content, f.__closure__ or ())))


def _content(cell: types.CellType) -> Any:
    try:
        return cell.cell_contents
    except ValueError:  # it is empty
        return None


def _is_stateful(x: Any) -> bool:
    if isinstance(x, np.random.Generator | np.random.RandomState | random.Random):
        return True
    if isinstance(x, np.ndarray | float | complex | tuple | types.FunctionType | Held):
        return False
    return not getattr(kind_of(type(x)), "inactive", False)


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
        self.inputs: list[Component] = []
        self.shapes = [shapes_of(x) for x in self.chosen]
        """Per argument by which it is differentiated, the shapes of its numbers and arrays."""
        for x in self.chosen:
            found = components_of(x)
            if not found:
                raise ArgumentError(
                    f"an argument by which {describe(f)} is to be differentiated is a {type(x).__name__}"
                    " without real numbers that have a derivative: pass floats"
                )
            self.inputs += found

    def key(self) -> Any:
        """The shapes of the arguments by which it is differentiated."""
        return tuple(map(tuple, self.shapes))

    def value(self) -> Any:
        """The value of the function, on copies of the arguments."""
        if not self.kwargs:
            return self.f(*_copied(self.args))
        args, kwargs = copy.deepcopy((self.args, self.kwargs))
        return self.f(*args, **kwargs)

    def outputs(self, value: Any) -> list[Component]:
        """Where the numbers of the value are."""
        found = components_of(value)
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


def check_same(f: Any, first: Any, value: Any) -> None:
    """Raise if two runs of `f`, of which a Jacobian is put together, have given other values."""
    if differ(first, value):
        raise UnsupportedError(
            f"{describe(f)} gives another value each time it is called: it keeps a state, or draws random"
            " numbers",
            "a Jacobian that is computed in several runs would be put together of several functions",
            "use adbc.jacrev, which puts the state back behind each run, or give a chunk_size of as many"
            " columns as there are; let random numbers be drawn outside, or from a generator that is seeded"
            " inside",
        )


def _copied(args: tuple[Any, ...]) -> tuple[Any, ...]:
    """Copies of arguments and all that they hold, in which one object is one object."""
    made: list[Any] = []
    copies: dict[int, Any] = {}
    for x in args:
        cls = type(x)
        if cls in _IMMUTABLE:
            made.append(x)
        elif id(x) in copies:
            made.append(copies[id(x)])
        elif cls is np.ndarray and x.dtype.char in _PLAIN_DTYPES:
            copies[id(x)] = x.copy("K")  # as `copy.deepcopy` does it, a view becoming an array of its own
            made.append(copies[id(x)])
        elif is_flat_list(x):
            copies[id(x)] = list(x)
            made.append(copies[id(x)])
        else:
            return copy.deepcopy(args)
    return tuple(made)


_IMMUTABLE = frozenset({float, int, bool, str, type(None), np.float64})
_PLAIN_DTYPES = np.typecodes["AllInteger"] + np.typecodes["AllFloat"] + "?"


def _asked(f: Any, argnums: Argnums, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[int, ...]:
    """The places of the arguments by which `f` is to be differentiated."""
    return places(f, selectors(argnums), args, kwargs)


def _forward(problem: _Problem, chunk_size: int | None = None) -> tuple[Any, Any]:
    """Value and Jacobian, column by column."""
    value, columns = _columns(problem, chunk_size)
    if type(columns[0]) is _Columns:
        return value, _of_batches(problem, value, columns)
    paths = paths_to(value)
    if not paths:
        problem.outputs(value)  # it raises
    by_column = [parts_at(column, paths) for column in columns]
    rows = [_row(problem, [parts[k] for parts in by_column]) for k in range(len(paths))]
    return value, refilled(value, iter(rows))


_CHUNK = 32
"""How many columns one run gives at most, if nobody says, and there are more than twice as many: up to there
one run takes less time than two."""
_FEW_OF_ARRAYS, _FEW_OF_GRADIENTS, _FEW_NUMBERS = 4, 8, 24
"""Fewer columns than these take less time one by one, where arrays are among the inputs, where a gradient is
differentiated, for which more has to be built once more for batches, and where there are only numbers:
arithmetic of 32 numbers takes NumPy as long as that of one takes Python twenty times."""

_one_by_one: weakref.WeakSet[Any] = weakref.WeakSet()
"""Code of functions that batches of tangents could not be carried through."""


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
    most = chunk_size or (_CHUNK if count > 2 * _CHUNK else count)
    size = -(-count // -(-count // most))  # all runs have about as many
    value: Any = None
    batches: list[Any] = []
    for start in range(0, count, size):
        lanes = range(start, min(start + size, count))
        called, given = function()
        try:
            found, batch = jvp(called, given, tangents(lanes), width=len(lanes))
        except CANNOT:
            if code is not None:
                _one_by_one.add(code)
            return None
        if start:
            check_same(f, value, found)
        value = found
        batches.append(batch)
    return value, batches


def _not_in_chunks(f: Any, function: Any, tangents: Any, count: int, chunk_size: int | None = None) -> None:
    """Say that directions are taken one by one: this is what is differentiated once more."""
    return None


def _columns(problem: _Problem, chunk_size: int | None) -> tuple[Any, list[Any]]:
    """The value, and the columns of its Jacobian: tangents, or batches of as many as one run has given."""
    count = len(problem.inputs)
    if chunk_size is None:
        has_arrays = any(index is not None for _, index in problem.inputs)
        few_arrays = _FEW_OF_GRADIENTS if isinstance(problem.f, Held) else _FEW_OF_ARRAYS
        few = few_arrays if has_arrays else _FEW_NUMBERS
        if count < few and (count == 1 or not may_keep_state(problem.f)):
            return _columns_one_by_one(problem, None)
    elif type(chunk_size) is bool or not isinstance(chunk_size, int) or chunk_size < 1:
        raise ArgumentError(f"chunk_size is how many columns one run gives, from 1 on, not {chunk_size!r}")
    leaves = [leaves_of(x, ()) for x in problem.chosen]
    first = [0, *itertools.accumulate(count_numbers(numbers) for numbers in leaves)]

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
                given[problem.asked[k]] = unit_batch(x, leaves[k], places, len(lanes))
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
        for component in components_of(x):
            f, given = problem.function()
            tangents: list[Any] = [None] * len(given)
            tangents[problem.asked[k]] = unit_tangent(x, component)
            found, column = jvp(f, given, tangents)
            if columns:
                check_same(problem.f, value, found)
            value = found
            columns.append(column)
    return value, columns


class _Columns:
    """Columns that one run has given: `batch` has the structure of a tangent, with a first axis in front of
    those of its arrays.  leaves: the numbers and arrays in each of the arguments."""

    def __init__(self, batch: Any, leaves: list[Leaves]) -> None:
        self.batch, self.leaves = batch, leaves


def _of_batches(problem: _Problem, value: Any, columns: Sequence[_Columns]) -> Any:
    """The Jacobian, from its columns in batches."""
    found = []
    leaves = columns[0].leaves
    for path, out in leaves_of(value, ()) or problem.outputs(value):
        parts = [part_at(column.batch, path) for column in columns]
        whole = parts[0] if len(parts) == 1 else np.concatenate(parts)
        rows, at = [], 0
        for x, numbers in zip(problem.chosen, leaves, strict=True):
            by = []
            for _, leaf in numbers:
                count = leaf.size if isinstance(leaf, np.ndarray) else 1
                by.append(_joined_batch(whole[at : at + count], out, shape_of(leaf)))
                at += count
            rows.append(refilled(x, iter(by)))
        found.append(rows[0] if problem.single else tuple(rows))
    return refilled(value, iter(found))


def _joined_batch(columns: Any, out: Any, shape: Any) -> Any:
    """The Jacobian of the number or array `out` by one number or by an array of this shape."""
    if shape is not None:
        turned = columns.transpose(*range(1, columns.ndim), 0) if columns.ndim > 1 else columns
        return turned if len(shape) == 1 else turned.reshape(columns.shape[1:] + shape)
    return float(columns[0]) if type(out) is float else columns[0]


def _reverse(problem: _Problem) -> tuple[Any, Any]:
    """Value and Jacobian, row by row."""
    value, components, pulled = _rows(problem)
    if type(pulled) is Lanes:
        return value, of_lanes(problem, value, pulled)
    parts: dict[Any, list[Any]] = {}
    for component, found in zip(components, pulled, strict=True):
        rows = parts.setdefault(component[0], [])
        rows.append(tuple([found[i] for i in problem.asked]))
    blocks = [
        _stacked(problem, parts[path], shape)
        for path, shape in zip(paths_to(value), shapes_of(value), strict=True)
    ]
    return value, refilled(value, iter(blocks))


_FEW_ROWS = 3
"""Up to this many rows another forwards pass costs less than to keep what the pullback changes."""


def _rows(problem: _Problem) -> tuple[Any, list[Component], Any]:
    """The value, the places of its numbers, and what comes back for each: one pullback, run again."""
    in_lanes = rows_in_lanes(problem)
    if in_lanes is not None:
        return in_lanes
    found = _rows_by_runs(problem)
    note_count(problem, len(found[1]))
    return found


def _rows_by_runs(problem: _Problem) -> tuple[Any, list[Component], list[Any]]:
    """What `_rows` gives, by a run of the pullback for each number."""
    f, given = problem.function()
    check = functools.partial(check_same, problem.f)
    pullback = ReusablePullback(default_engine, f, given, False, check, is_unit=True)
    components = problem.outputs(pullback.value)
    if len(components) > _FEW_ROWS or may_keep_state(problem.f):
        pullback.keep()
    pulled = [pullback(unit_tangent(pullback.value, component)) for component in components]
    return pullback.value, components, pulled


def _rows_one_by_one(problem: _Problem) -> tuple[Any, list[Component], list[Any]]:
    """What `_rows` gives, by a forwards pass for each row: this is what is differentiated once more."""
    f, given = problem.function()
    value, pullback = vjp(f, *given)
    components = problem.outputs(value)
    pulled = [pullback(unit_tangent(value, components[0]))]
    for component in components[1:]:
        f, given = problem.function()
        again, pullback = vjp(f, *given)
        check_same(problem.f, value, again)
        pulled.append(pullback(unit_tangent(value, component)))
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
        found.append(refilled(x, iter(by)))
    return found[0] if problem.single else tuple(found)


def _joined(columns: Sequence[Any], shape: Any) -> Any:
    """The Jacobian by an array of this shape."""
    whole = np.array(columns)
    turned = np.ascontiguousarray(whole.transpose(*range(1, whole.ndim), 0))
    return turned if len(shape) == 1 else turned.reshape(whole.shape[1:] + shape)


def _stacked(problem: _Problem, rows: Sequence[Any], shape: Any) -> Any:
    """The Jacobian of one number or of an array of this shape, from the gradients of its numbers."""
    found = []
    for k, x in enumerate(problem.chosen):
        paths = paths_to(x)
        gradients = [parts_at(row[k], paths) for row in rows]
        if shape is None:
            found.append(refilled(x, iter(gradients[0])))
        else:
            by = [_piled([parts[i] for parts in gradients], shape) for i in range(len(paths))]
            found.append(refilled(x, iter(by)))
    return found[0] if problem.single else tuple(found)


def _piled(rows: Sequence[Any], shape: Any) -> Any:
    whole = np.stack([np.asarray(row) for row in rows])
    return whole.reshape(shape + whole.shape[1:])


# Inside functions that are differentiated, these tell of structure alone.
default_table().add(
    [
        *apart(_asked, components_of, paths_to, shapes_of, is_flat_list, _has_derivative, describe),
        ZeroRule(unit_tangent),
        ZeroRule(check_same, result=type(None)),
        ZeroRule(_note, result=type(None)),
        ZeroRule(may_keep_state, result=bool),
        Overlay(_value, _value_as_it_is),
        Overlay(_expected, _not_expected),
        Overlay(_rows, _rows_one_by_one),
        Overlay(_columns, _columns_one_by_one),
        Overlay(in_chunks, _not_in_chunks),
    ]
)
