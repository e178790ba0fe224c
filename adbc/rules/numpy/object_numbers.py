"""Arrays of objects that are numbers, made of sequences and of other arrays, and computed with.

NumPy computes with such an array by the operators of its elements, one by one, which gives what it gives for
an array of numbers with the same values.  So the derivative is that of the rule for arrays of numbers.
Elements that are anything else are refused: their operators would run unseen.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from adbc.errors import UnsupportedError
from adbc.rules.sequences import Source, emptied, tangents_of
from adbc.tangents import NO_TANGENT, fill_tangent, project, slot_increment, slot_rdata, slot_tangent
from adbc.tangents.internal import in_order
from adbc.tangents.protocol import kind_of
from adbc.tangents.scalars import ScalarKind

__all__ = [
    "converted_shadow",
    "converted_tangent",
    "filled",
    "frule_by_numbers",
    "gathered_shadow",
    "gathered_tangent",
    "is_constant",
    "is_of_objects",
    "listed",
    "meets_objects",
    "rrule_by_numbers",
    "to_numbers",
    "to_numbers_back",
]


def is_of_objects(x: Any) -> bool:
    """Whether `x` is an array of objects."""
    return type(x) is np.ndarray and x.dtype.kind == "O"


def meets_objects(args: Sequence[Any], derivatives: Sequence[Any]) -> bool:
    """Whether one of `args` that has a derivative is an array of objects."""
    return any([d is not None and is_of_objects(x) for x, d in zip(args, derivatives, strict=False)])  # noqa: C419  # often


def filled(values: Sequence[Any], shape: tuple[int, ...]) -> Any:
    """The array of `shape` with these objects as elements, which NumPy does not look into."""
    made = np.empty(shape, object)
    for index, value in zip(np.ndindex(shape), values, strict=True):
        made[index] = value
    return made


# -- made of sequences ---------------------------------------------------------------------------------


def is_constant(x: Any, dx: Any) -> bool:
    """Whether `x` is a list or tuple, of such ones perhaps, in which nothing has a tangent: dates, text."""
    if not isinstance(x, list | tuple) or dx is NO_TANGENT:
        return dx is NO_TANGENT
    return all(is_constant(v, d) for v, d in zip(x, in_order(x, dx), strict=True))


def _check_nested(x: Any) -> None:
    if type(x) is not list and type(x) is not tuple and not is_of_objects(x):
        raise UnsupportedError(
            f"a {type(x).__name__} in a sequence is taken apart for an array of objects",
            "which of its elements have derivatives would have to be found out one by one",
            "make the array with np.empty(shape, object), and write its elements",
        )


def _check_elements(elements: Sequence[Any], out: Any) -> None:
    """Raise if the array `out` of objects is not made of just these: where there are arrays among them, it
    is made of what these hold."""
    if len(elements) != out.size or not all(map(operator.is_, elements, out.flat)):
        raise UnsupportedError(
            "a sequence that holds arrays becomes an array of objects",
            "it is made of their elements",
            "make the array with np.empty(shape, object), and write its elements",
        )


def gathered_tangent(x: Any, dx: Any, out: Any) -> Any:
    """The tangent of `out`, the array of objects that is made of the list or tuple `x` with tangent `dx`."""

    def parts(x: Any, d: Any, depth: int) -> list[Any]:
        _check_nested(x)
        given = None if d is None or d is NO_TANGENT else d if is_of_objects(x) else in_order(x, d)
        tangents = tangents_of(list(x), given)
        if depth == 1:
            elements.extend(x)
            return [fill_tangent(v, None if t is NO_TANGENT else t) for v, t in zip(x, tangents, strict=True)]
        return [t for v, d in zip(x, tangents, strict=True) for t in parts(v, d, depth - 1)]

    elements: list[Any] = []
    tangents = parts(x, dx, out.ndim)
    _check_elements(elements, out)
    return filled(tangents, out.shape)


def gathered_shadow(x: Any, f: Any, out: Any) -> tuple[Any, Callable[[], Any]]:
    """The shadow of `out`, the array of objects that is made of the list or tuple `x` with shadow `f`, and a
    function that gives `x` what that has received: it returns the rdata of `x`."""
    slots: list[Any] = []
    elements: list[Any] = []

    def gather(x: Any, f: Any, depth: int) -> Callable[[Any], Any]:
        _check_nested(x)
        source = Source(list(x) if is_of_objects(x) else x, f)
        if depth == 1:
            elements.extend(x)
            slots.extend(source.tangents())
            return lambda terms: source.give([next(terms) for _ in x])
        inner = [gather(v, s, depth - 1) for v, s in zip(x, source.shadows, strict=True)]
        return lambda terms: source.give([give(terms) for give in inner])

    give = gather(x, f, out.ndim)
    _check_elements(elements, out)
    fout = filled(slots, out.shape)
    return fout, lambda: give(map(slot_rdata, fout.flat))


def listed(x: Any, f: Any) -> tuple[Any, Any, Callable[[], None]]:
    """``x.tolist()`` of an array of objects with shadow `f`, its shadow, and a function that gives `f` what
    that has received."""
    slots = filled([emptied(v, t) for v, t in zip(x.flat, f.flat, strict=True)], x.shape)
    fout = slots.tolist()

    def give() -> None:
        for index in np.ndindex(x.shape):
            t = fout
            for i in index:
                t = t[i]
            r = slot_rdata(t)
            if r is not None:
                f[index] = slot_increment(f[index], r)

    return x.tolist(), fout, give


# -- computed with -------------------------------------------------------------------------------------


def to_numbers(x: Any) -> Any:
    """The array of numbers with the values of `x`, an array of objects; raises if these are anything else."""
    for v in x.flat:
        kind = kind_of(type(v))
        if not isinstance(kind, ScalarKind) and not isinstance(v, int | np.integer | np.bool_):
            raise UnsupportedError(
                f"an active array of dtype object that holds a {type(v).__name__} reached a NumPy function",
                "what it does with objects that are no numbers runs unseen",
                "use an array of numbers or a list, or loop over the elements",
            )
    is_complex = any(isinstance(v, complex | np.complexfloating) for v in x.flat)
    return x.astype(complex if is_complex else float)


def _tangent_of_numbers(x: Any, d: Any, numbers: Any) -> Any:
    """The tangent of `numbers`, those in the array `x` of objects, which has tangent `d`."""
    made = np.zeros_like(numbers)
    for index, t in zip(np.ndindex(x.shape), d.flat, strict=True):
        if t is not NO_TANGENT and t is not None:
            made[index] = t
    return made


def written_tangent(x: Any, d: Any) -> Any:
    """The tangent `d` of what is written into an array of numbers: of an array of objects that of the numbers
    in it, None if none of them has one."""
    if d is None or not is_of_objects(x):
        return d
    if all(t is NO_TANGENT or t is None for t in d.flat):
        return None
    return _tangent_of_numbers(x, d, to_numbers(x))


def to_numbers_back(x: Any, f: Any, by: Any) -> None:
    """Add the cotangent `by` of the numbers in the array `x` of objects to its shadow `f`."""
    for index in np.ndindex(x.shape):
        if f[index] is not NO_TANGENT:
            f[index] = slot_increment(f[index], project(by[index], x[index]))


def _objects(out: Any, numbers: Any) -> Any:
    """The tangent of the array `out` of objects, of which `numbers` are the tangents."""
    whole = np.broadcast_to(0.0 if numbers is None else numbers, out.shape)
    return filled(
        [
            fill_tangent(v, project(whole[index], v))
            for index, v in zip(np.ndindex(out.shape), out.flat, strict=True)
        ],
        out.shape,
    )


def converted_tangent(x: Any, d: Any, out: Any) -> Any:
    """The tangent of `out`, which is the array `x` with numbers in the place of objects, or the reverse."""
    if is_of_objects(out):
        return _objects(out, d)
    return _tangent_of_numbers(x, d, to_numbers(x)).astype(out.dtype)


def converted_shadow(x: Any, out: Any) -> tuple[Any, Callable[[], Any]]:
    """The shadow of such an `out`, and a function that gives the numbers that it has received."""
    if not is_of_objects(out):
        to_numbers(x)
        fout: Any = np.zeros(out.shape, out.dtype)
        return fout, lambda: fout
    fout = filled([slot_tangent(v, None) for v in out.flat], out.shape)

    def numbers() -> Any:
        found = np.zeros_like(x)
        for index, t in zip(np.ndindex(x.shape), fout.flat, strict=True):
            found[index] = t
        return found

    return fout, numbers


def frule_by_numbers(
    rule: Callable[..., tuple[Any, Any]], function: Any, args: Any, dargs: Any, kwargs: Any
) -> tuple[Any, Any]:
    """What `rule`, the frule of `function`, gives for arguments among which are arrays of objects."""
    _refuse_options(function, kwargs)
    out = function(*args, **kwargs)
    _refuse_sequences(function, args)
    xs, ds = list(args), list(dargs)
    for i, (x, d) in enumerate(zip(args, dargs, strict=True)):
        if is_of_objects(x):
            xs[i] = to_numbers(x)
            ds[i] = None if d is None else _tangent_of_numbers(x, d, xs[i])
    _, dout = rule(tuple(xs), tuple(ds), kwargs)
    if is_of_objects(out):
        return out, _objects(out, dout)
    return out, None if dout is None else project(dout, out)


def rrule_by_numbers(
    rule: Callable[..., tuple[Any, Any, Any]], function: Any, args: Any, fargs: Any, kwargs: Any
) -> tuple[Any, Any, Any]:
    """What `rule`, the rrule of `function`, gives for arguments among which are arrays of objects."""
    _refuse_options(function, kwargs)
    out = function(*args, **kwargs)
    _refuse_sequences(function, args)
    xs, fs = list(args), list(fargs)
    for i, (x, f) in enumerate(zip(args, fargs, strict=True)):
        if is_of_objects(x):
            xs[i] = to_numbers(x)
            fs[i] = None if f is None else np.zeros_like(xs[i])
    _, fnumbers, pullback = rule(tuple(xs), tuple(fs), kwargs)
    fout = filled([slot_tangent(v, None) for v in out.flat], out.shape) if is_of_objects(out) else fnumbers

    def by_numbers_pullback(bout: Any) -> Sequence[Any]:
        if is_of_objects(out):
            for index, t in zip(np.ndindex(out.shape), fout.flat, strict=True):
                r = slot_rdata(t)
                if r is not None:
                    fnumbers[index] += r
        result = list(pullback(bout))
        for i, (x, f) in enumerate(zip(args, fargs, strict=True)):
            if is_of_objects(x):
                result[i] = None
                if f is not None:
                    to_numbers_back(x, f, fs[i])
        return result

    return out, fout, by_numbers_pullback


def _refuse_sequences(function: Any, args: Any) -> None:
    """Raise if there are arrays of objects in lists or tuples among `args`."""
    if any(isinstance(x, (list, tuple)) and is_of_objects(np.asarray(x)) for x in args):
        raise UnsupportedError(
            f"np.{getattr(function, '__name__', function)} of a sequence that holds arrays of objects",
            "adbc has no rule for that form",
            "make an array of it",
        )


def _refuse_options(function: Any, kwargs: Any) -> None:
    """Raise if a function of arrays of objects is told how to work, and where to."""
    if kwargs.get("out") is not None or "where" in kwargs:
        raise UnsupportedError(
            f"np.{getattr(function, '__name__', function)} of arrays of objects with out= or where=",
            "adbc has no rule for that form",
            "assign the result",
        )
