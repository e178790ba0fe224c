"""Rules of functions that make arrays: of numbers, of sequences, of other arrays."""

from __future__ import annotations

import builtins
from collections.abc import Sequence
from typing import Any

import numpy as np

from adbc.errors import UnsupportedError
from adbc.rules.numpy.base import (
    ArrayRule,
    SeparateRule,
    any_active,
    by_example,
    converting,
    finish,
    give,
    new_shadow,
    plain,
)
from adbc.rules.numpy.indexing import inlined
from adbc.rules.numpy.views import ViewRule
from adbc.rules.table import NO_KWARGS, Args, Kwargs, Overlay, Pullback, Rule, ZeroRule
from adbc.tangents import fresh_tangent

__all__ = ["ROWS", "AstypeView", "same_elements"]


def same_elements(by: Any, x: Any, *args: Any, **kwargs: Any) -> Any:
    """The cotangent of array `x` from `by`, that of a copy, perhaps with leading axes of length 1."""
    return np.reshape(by, np.shape(x))


def copying(function: Any, name: str = "a", **options: Any) -> ViewRule:
    """The rule of a function that gives its argument as an array: itself, a view, or a converted copy.

    names: the parameters of calls in which the cotangent of the argument is that of the result."""
    return converting(
        ViewRule(
            function,
            back=same_elements,
            parameters=(name,),
            **{"against": None if "names" not in options else same_back, **options},
        )
    )


def same_back(by: Any, out: Any, x: Any, **others: Any) -> Any:
    return by


# -- full, arange, linspace --------------------------------------------------------------------------------


def full_jvp(d: Any, y: Any, shape: Any, value: Any, **_: Any) -> Any:
    return d


def full_vjp(by: Any, y: Any, shape: Any, value: Any, **_: Any) -> Any:
    return by


class ArangeRule(ArrayRule):
    """The rule of ``np.arange``: each value is ``start + i * step``; the stop only decides their number."""

    def __init__(self) -> None:
        super().__init__(
            np.arange,
            "start stop step",
            jvp=[_arange_along(0), None, _arange_along(2)],
            vjp=[_arange_against(0), None, _arange_against(2)],
            defaults={"start": 0},
        )


def _arange_weight(y: Any, i: int, stop: Any) -> Any:
    """The derivative of the values of ``np.arange`` by argument `i`; without a stop, the first is that."""
    if i == 0 and stop is None:
        return np.zeros(np.shape(y))
    return np.ones(np.shape(y)) if i == 0 else np.arange(np.size(y)) * 1.0


def _arange_along(i: int) -> Any:
    return lambda d, y, start=None, stop=None, *_, **__: _arange_weight(y, i, stop) * d


def _arange_against(i: int) -> Any:
    return lambda by, y, start=None, stop=None, *_, **__: _arange_weight(y, i, stop) * by


def _fractions(y: Any, num: Any, endpoint: Any, axis: Any, retstep: Any) -> Any:
    """How far each value of a linspace is on the way from start to stop."""
    if retstep:
        raise UnsupportedError(
            "np.linspace with retstep=True",
            "adbc has no rule for that form",
            "compute the step from start, stop and num",
        )
    steps = num - 1 if endpoint else num
    t = np.arange(num) / np.maximum(steps, 1)
    ndim = np.ndim(y)
    return np.reshape(t, [num if k == axis % ndim else 1 for k in range(ndim)])


def _space_terms(along: bool) -> list[Any]:
    def start(d: Any, y: Any, a: Any, b: Any, num: Any = 50, endpoint: Any = True, retstep: Any = False,
              axis: Any = 0, **_: Any) -> Any:  # fmt: skip
        return _spaced(d, 1 - _fractions(y, num, endpoint, axis, retstep), y, axis, along)

    def stop(d: Any, y: Any, a: Any, b: Any, num: Any = 50, endpoint: Any = True, retstep: Any = False,
             axis: Any = 0, **_: Any) -> Any:  # fmt: skip
        return _spaced(d, _fractions(y, num, endpoint, axis, retstep), y, axis, along)

    return [start, stop]


def _spaced(d: Any, t: Any, y: Any, axis: Any, along: bool) -> Any:
    if along:
        return t * (np.expand_dims(d, axis) if np.ndim(d) == np.ndim(y) - 1 and np.ndim(d) else d)
    return np.sum(t * d, axis=axis)


# -- conversions of arrays to numbers and back --------------------------------------------------------------


def _array_operand(cls: type, *rest: type) -> bool:
    return cls is np.ndarray or issubclass(cls, np.generic)


def _array_alone(cls: type, *rest: type) -> bool:
    return not rest and _array_operand(cls)


def _array_among_two(*classes: type) -> bool:
    return len(classes) == 2 and np.ndarray in classes


def _complex(real: Any, imag: Any) -> Any:
    # as CPython converts them: the first may be complex
    real = complex(real) if isinstance(real, np.ndarray) else real
    return complex(real, float(imag) if isinstance(imag, np.ndarray) else imag)


class AstypeView(ViewRule):
    """The rule of ``x.view(dtype)``: bytes of floats read as other numbers have no derivative."""

    def _refuse(self, args: Args, kwargs: Kwargs, active: bool) -> None:
        dtype = args[1] if len(args) > 1 else kwargs.get("dtype")
        if active and dtype is not None:
            wanted, present = np.dtype(dtype), args[0].dtype
            if wanted == present:
                return
            if wanted.kind not in "fc" or np.zeros(0, wanted).real.dtype != np.zeros(0, present).real.dtype:
                raise UnsupportedError(
                    f"an active array of {present} is reinterpreted as {wanted}",
                    "the bytes mean something else there",
                    "use astype to convert",
                )

    def frule(self, args: Args, dargs: Args, kwargs: Kwargs = NO_KWARGS) -> Any:
        self._refuse(args, kwargs, dargs[0] is not None)
        return super().frule(args, dargs, kwargs)

    def rrule(self, args: Args, fargs: Args, kwargs: Kwargs = NO_KWARGS) -> Any:
        self._refuse(args, kwargs, fargs[0] is not None)
        return super().rrule(args, fargs, kwargs)


def _item_back(by: Any, x: Any, *index: Any) -> Any:
    """The cotangent of array `x` from `by`, that of one element that was read."""
    d = np.zeros(np.shape(x), np.asarray(by).dtype)
    if len(index) == 1 and not isinstance(index[0], tuple):
        d.reshape(-1)[index[0]] = by
    else:
        d[index[0] if len(index) == 1 else index] = by
    return d


# -- arrays of what is written between brackets --------------------------------------------------------------


def array_of(*items: Any, shape: tuple[int, ...], dtype: Any = None) -> Any:
    """The array that ``np.array`` makes of `items` in nested lists of this `shape`."""
    made = np.array(items, dtype)
    return made if len(shape) == 1 else made.reshape(shape)


def _items(by: Any, shape: tuple[int, ...]) -> Any:
    """The cotangents of the items of an array of `shape`, along the first axis."""
    return by if len(shape) == 1 else by.reshape(-1)


def _together(by: Any, y: Any, *items: Any, shape: tuple[int, ...], dtype: Any = None) -> Any:
    return list(_items(by, shape))


def _item(i: int) -> Any:
    def item_vjp(by: Any, y: Any, *items: Any, shape: tuple[int, ...], dtype: Any = None) -> Any:
        return _items(by, shape)[i]

    return item_vjp


class ArrayOfRule(SeparateRule):
    """The rule of `array_of`: each item has one place in the array."""

    takes_values = 64

    def __init__(self) -> None:
        super().__init__(array_of, _item, _together)

    def frule(self, args: Args, dargs: Args, kwargs: Kwargs = NO_KWARGS) -> tuple[Any, Any]:
        out = array_of(*args, **kwargs)
        if all(d is None for d in dargs):
            return out, fresh_tangent(out)
        parts = [np.zeros(np.shape(x)) if d is None else d for x, d in zip(args, dargs, strict=True)]
        return out, finish(np.array(parts).reshape(out.shape), out)

    def rrule(self, args: Args, fargs: Args, kwargs: Kwargs = NO_KWARGS) -> tuple[Any, Any, Pullback]:
        out = array_of(*args, **kwargs)
        fout = new_shadow(out, any_active(fargs))

        def items_pullback(bout: Any) -> Sequence[Any]:
            if fout is None:
                return (None,) * len(args)
            parts = _items(fout, kwargs["shape"])
            return [None if f is None else give(f, x, d) for f, x, d in zip(fargs, args, parts, strict=True)]

        return out, fout, items_pullback


def _of_displays(row: ViewRule) -> list[Rule]:
    row.joined, row.joined_names, row.joined_shape = array_of, ("dtype",), True
    return [row]


NEW: list[Any] = [
    np.zeros, np.ones, np.empty, np.zeros_like, np.ones_like, np.empty_like, np.eye, np.identity, np.tri,
]  # fmt: skip

ROWS: list[Rule] = [
    *(by_example(ZeroRule(function, when=plain, result=np.ndarray)) for function in NEW),
    by_example(ZeroRule(np.indices, when=plain)),  # a tuple if it is to be sparse
    converting(ArrayOfRule()),
    *_of_displays(copying(np.array, "object", names="object dtype", window=False)),
    *_of_displays(copying(np.asarray, names="a dtype")),
    copying(np.asanyarray, names="a dtype"),
    copying(np.ascontiguousarray, names="a dtype"),
    copying(np.asfortranarray, names="a dtype"),
    copying(np.copy, names="a", window=False),
    copying(np.ndarray.copy, names="a order", against=1, window=False),
    copying(np.ndarray.__copy__),
    copying(np.ndarray.__deepcopy__),
    copying(np.ndarray.astype, names="a dtype", window=False),
    *([copying(np.astype, "x", names="x dtype", window=False)] if hasattr(np, "astype") else []),
    copying(np.generic.astype),
    copying(np.generic.copy),
    inlined("item", ViewRule(np.ndarray.item, back=_item_back)),
    ViewRule(np.generic.item, back=_item_back),
    ViewRule(builtins.float, back=same_elements, when=_array_alone),
    ViewRule(builtins.complex, back=same_elements, when=_array_alone),
    Overlay(builtins.complex, _complex, when=_array_among_two, result=complex),
    converting(ArrayRule(np.full, "shape fill_value", jvp=[None, full_jvp], vjp=[None, full_vjp]), 1),
    converting(ArrayRule(np.full_like, "a fill_value", jvp=[None, full_jvp], vjp=[None, full_vjp]), 1),
    ArangeRule(),
    ArrayRule(np.linspace, "start stop num endpoint retstep dtype axis", jvp=_space_terms(True),
              vjp=_space_terms(False)),
]  # fmt: skip
