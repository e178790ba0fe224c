"""Numba's ufuncs: what they do to each element is the Python function that they were compiled from.

Functions compiled by ``njit`` need no rule: the dispatcher is looked through, and the Python function behind
it is differentiated like any other.  Nothing here is imported unless the user has imported Numba.
"""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
from numba.np.ufunc.dufunc import DUFunc
from numba.np.ufunc.gufunc import GUFunc

from adbc.errors import UnsupportedError
from adbc.rules.table import Overlay, Rule, ZeroRule

__all__ = ["ROWS"]

_COMPILED = DUFunc.__mro__[[c.__name__ for c in DUFunc.__mro__].index("_DUFunc")]


def compiled(ufunc: Any, args: tuple[Any, ...]) -> Any:
    """What the compiled code of `ufunc` gives: for its shape and dtype, which have no derivative."""
    return _COMPILED.__call__(ufunc, *args)


def vectorized(ufunc: Any, *args: Any, **options: Any) -> Any:
    """``ufunc(*args)`` of a function that ``numba.vectorize`` has compiled, element by element."""
    if options or len(args) != ufunc.nin:
        _refuse(ufunc, options)
    value = compiled(ufunc, args)
    if np.asarray(value).dtype.kind not in "fc":
        return value
    function = ufunc._dispatcher.py_func  # which a copy has, too
    if np.ndim(value) == 0:
        scalars = [np.asarray(x)[()] for x in args]
        return np.asarray(function(*scalars), value.dtype)[()]
    columns = [np.broadcast_to(np.asarray(x), value.shape) for x in args]
    out = np.zeros(value.shape, value.dtype)
    for place in itertools.product(*map(range, value.shape)):
        out[place] = function(*[column[place] for column in columns])
    return out


def generalised(ufunc: Any, *args: Any, **options: Any) -> Any:
    """``ufunc(*args)`` of a function that ``numba.guvectorize`` has compiled, loop by loop."""
    builder: Any = ufunc.gufunc_builder
    inputs, outputs = builder.sin, builder.sout
    if options or len(args) != len(inputs) or len(outputs) != 1 or builder.writable_args:
        _refuse(ufunc, options)
    types: Any = builder._sigs[0].args
    sizes: dict[str, int] = {}
    loops: Any = ()
    arrays = []
    for x, names in zip(args, inputs):  # noqa: B905  # `strict` would be one more thing to differentiate
        x = np.asarray(x)
        count = x.ndim - len(names)
        loops = np.broadcast_shapes(loops, x.shape[:count])
        sizes.update(zip(names, x.shape[count:]))  # noqa: B905
        arrays.append(x)
    columns = []
    for x, names, type_ in zip(arrays, inputs, types):  # noqa: B905
        core = x.shape[x.ndim - len(names) :]
        column = np.broadcast_to(x, loops + core)
        if not names and hasattr(type_, "ndim"):
            column = column.reshape(*loops, 1)  # a scalar that the function takes as an array
        columns.append(column)
    core = ()
    for name in outputs[0]:
        core = (*core, sizes[name])
    dtype = np.dtype(str(types[-1].dtype))
    out = np.zeros(loops + (core or (1,)), dtype)
    function = builder.py_func
    for place in itertools.product(*map(range, loops)):
        function(*[column[place] for column in columns], out[place])
    if core:
        return out
    return out[..., 0] if loops else out[0]


def _refuse(ufunc: Any, options: Any) -> None:
    raise UnsupportedError(
        f"{ufunc.__name__}, which Numba has compiled, is called with"
        f" {', '.join(options) or 'arrays for its outputs'}",
        "it is differentiated when it is called with its inputs alone and has one output",
        "assign what it returns instead",
    )


ROWS: list[Rule] = [
    ZeroRule(compiled),
    Overlay(DUFunc.__call__, vectorized),
    Overlay(GUFunc.__call__, generalised),
]
