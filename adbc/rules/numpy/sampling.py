"""What NumPy's functions return, found out by calling them on small arrays.

The dtype and the number of axes of a result follow from those of the arguments, for nearly every function
in its own way.  Instead of saying each way once more, a row says that it may be asked by example
(`Rule.sample`): the function is called on arrays of the given dtypes and dimensions, with axes of length 1,
of length 2, of length 3 (and then with numbers of both signs), and of several lengths where there are several
arrays, and the type of what comes back is the answer.  Whole numbers that are not known, alone or in
arrays, are tried as 1, 0 and 2, for they may be lengths, axes or exponents, and several of them as 0, 1, 2.
Where the calls that succeed do not agree, the result depends on more than types, and there is no answer, or
one without the number of axes (``np.squeeze``).
"""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from adbc.rules.table import ArrayLike, Known

__all__ = ["sampled"]

_SMALL = 4
"""Known integers above this are lengths, or too large for an example, so that another stands for them."""

_MOST_AXES = 8
"""No example is made of an array with more.  Inference may find one axis more in each round of a function
that calls itself, and an example with an axis more is three times as large."""


class _Cannot(Exception):
    """Raised where there is no example of a value."""


def sampled(
    function: Callable[..., Any],
    arguments: Sequence[Any],
    keywords: Mapping[str, Any],
    also: Sequence[Sequence[Any]] = (),
) -> Any | None:
    """What `function` returns for arguments like these: an `ArrayLike`, a class, a tuple of such, or None.

    An argument is described by an `ArrayLike`, a `Known` value, a class, or a tuple or list of descriptions.
    also: other lists of arguments for which `function` returns the same, if it takes them.
    """
    found: list[Any] = []
    may_be_shape = _has_row_of_whole((arguments, *keywords.values()))
    try:
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a mean of nothing is no mistake of the user's
            for lengths in _LENGTHS if _arrays_in((arguments, *keywords.values())) > 1 else _LENGTHS[:3]:
                answers = _answers(function, arguments, keywords, lengths)
                if not answers and (lengths == _LENGTHS[0] or (len(lengths) == 1 and may_be_shape)):
                    return None
                found += answers
                if _may_make_objects(function):
                    found += [a for others in also for a in _answers(function, others, keywords, lengths)]
    except _Cannot:
        return None
    return _agreed(found)


def _agreed(answers: Sequence[Any]) -> Any | None:
    """What all `answers` say; of arrays of one dtype whose numbers of axes differ, that they are such."""
    first = answers[0]
    if any(a is None for a in answers):
        return None
    if all(a == first for a in answers):
        return first
    if all(isinstance(a, ArrayLike) and a.dtype == first.dtype for a in answers):
        return ArrayLike(first.dtype, None)
    return None


_LENGTHS = ((1,), (2,), (3,), (1, 2), (2, 1))
"""The lengths of the axes of the arrays in an example, in turn."""


def _answers(
    function: Callable[..., Any],
    arguments: Sequence[Any],
    keywords: Mapping[str, Any],
    lengths: Sequence[int],
) -> list[Any]:
    """What `function` returns for examples of this kind, described: for each that it takes."""
    answers: list[Any] = []
    described = (arguments, *keywords.values())
    ways = (None, itertools.repeat(1), itertools.repeat(0), itertools.repeat(2), itertools.count())
    special = (_OFF,) if _has_option(described) else ()
    fails_without = False
    if _has_float(described):
        special += (_NEGATIVE,)
    for wholes in (*special, *ways[: min(1 + 3 * _count_whole(described), 5)]):
        turns = itertools.cycle(lengths)
        try:
            args = [_example(a, turns, wholes) for a in arguments]
            named = {k: _example(a, turns, wholes) for k, a in keywords.items()}
            answers.append(_described(function(*args, **named)))
        except _ERRORS:  # this example is not one that the function takes
            fails_without = fails_without or wholes is _OFF
    if fails_without and answers:
        answers.append(None)  # nobody has seen what it returns without the option
    return answers


_OFF: Any = object()
"""In place of whole numbers: as None, but with all flags off."""

_NEGATIVE: Any = object()
"""In place of whole numbers: as None, but with all floats below zero, for which a function may return a
constant instead of what it computes."""


def _may_make_objects(function: Callable[..., Any]) -> bool:
    """Whether large ints may make an array of objects. A ufunc without a loop for objects makes floats of
    them, and is not called with such: the series of a special function may have no end there."""
    return not isinstance(function, np.ufunc) or any("O" in loop for loop in function.types)


def _has_float(description: Any) -> bool:
    """Whether a float, of Python's or of NumPy's, is among what is described."""
    if isinstance(description, tuple | list):
        return any(map(_has_float, description))
    return isinstance(description, type) and issubclass(description, float | np.floating)


def _has_option(description: Any) -> bool:
    """Whether a flag that is not known is among what is described."""
    if isinstance(description, tuple | list):
        return any(map(_has_option, description))
    return description is bool


_ERRORS = (
    TypeError, ValueError, LookupError, ArithmeticError, AttributeError, NotImplementedError,
    np.linalg.LinAlgError,
)  # fmt: skip


def _count_whole(description: Any) -> int:
    """How many ints and bools are among what is described, in the place of which others are tried."""
    if isinstance(description, tuple | list):
        return sum(map(_count_whole, description))
    if isinstance(description, Known):
        return type(description.value) is int
    if isinstance(description, ArrayLike):
        return 2 if description.ndim and description.dtype.startswith(("int", "uint")) else 0  # perhaps axes
    return description is int or description is bool or _is_whole(description)


def _is_whole(description: Any) -> bool:
    """Whether an integer of NumPy's is described, which may be a number of axes or a place as an int is."""
    return isinstance(description, type) and issubclass(description, np.integer)


def _has_row_of_whole(description: Any) -> bool:
    """Whether an array that may be a shape or axes is among what is described: its length may decide."""
    if isinstance(description, tuple | list):
        return any(map(_has_row_of_whole, description))
    return (
        isinstance(description, ArrayLike)
        and description.ndim == 1
        and description.dtype.startswith(("int", "uint"))
    )


def _arrays_in(descriptions: Sequence[Any]) -> int:
    """How many arrays there are in `descriptions`."""
    return sum(
        _arrays_in(d) if isinstance(d, tuple | list) else isinstance(d, ArrayLike) for d in descriptions
    )


def _example(description: Any, lengths: Iterator[int], wholes: Iterator[int] | None) -> Any:
    """A value that fits `description`, in which integers are `wholes` (None: 1, but small known ones are
    kept, and flags are on; `_OFF`: the same with flags off; `_NEGATIVE`: the same with floats below zero)."""
    if wholes is _OFF:
        return False if description is bool else _without(description, lengths)
    if wholes is _NEGATIVE:
        return _negated(description, lengths)
    if isinstance(description, ArrayLike):
        return _array(description, next(lengths), wholes)
    if isinstance(description, Known):
        value = description.value
        if type(value) is int and not description.is_exact and (wholes is not None or abs(value) > _SMALL):
            return 1 if wholes is None else next(wholes)
        return value
    if isinstance(description, tuple | list):
        return type(description)(_example(d, lengths, wholes) for d in description)
    if description is int or _is_whole(description):
        return description(1 if wholes is None else next(wholes))
    if description is float or description is complex:
        return description(0.5)
    if description is bool:
        return wholes is None or next(wholes) != 0  # an option may decide about the form: `keepdims`
    if description is slice:
        return slice(None)
    if isinstance(description, type) and issubclass(description, np.number | np.bool_):
        maker: Any = description
        return maker(0.5 if issubclass(description, np.inexact) else 1)
    raise _Cannot


def _without(description: Any, lengths: Iterator[int]) -> Any:
    """An example with flags off."""
    if isinstance(description, tuple | list):
        return type(description)(_example(d, lengths, _OFF) for d in description)
    return _example(description, lengths, None)


def _negated(description: Any, lengths: Iterator[int]) -> Any:
    """An example with floats below zero."""
    if isinstance(description, tuple | list):
        return type(description)(_negated(d, lengths) for d in description)
    value = _example(description, lengths, None)
    return -value if _has_float(description) else value


def _array(description: ArrayLike, length: int, wholes: Iterator[int] | None) -> Any:
    """An array that fits `description`: integers in it are 0 (`wholes` is None), different, or the next of
    `wholes`."""
    dtype, ndim = np.dtype(description.dtype), description.ndim
    if dtype.kind not in "fciub" or ndim is None or ndim > _MOST_AXES:
        raise _Cannot
    if dtype.kind in "iub":
        different = np.arange(length**ndim).reshape((length,) * ndim)
        if isinstance(wholes, itertools.count):
            return different.astype(dtype)
        return np.full((length,) * ndim, 0 if wholes is None else next(wholes), dtype)
    if length > 2:  # neither positive nor symmetric
        varied: Any = np.cos(np.arange(length**ndim, dtype=np.float64))
        return varied.reshape((length,) * ndim).astype(dtype)
    value = np.full((length,) * ndim, 0.25, dtype)
    if ndim >= 2:
        value += np.eye(length, dtype=dtype)  # positive definite, for those who factorise it
    return value


def _described(out: Any) -> Any | None:
    if type(out) is np.ndarray:
        # Of a large int an array without axes is made that holds an object.
        is_known = out.dtype.kind in ("fciub" if out.ndim else "fc")
        return ArrayLike(out.dtype.name, out.ndim) if is_known else None
    if type(out) is tuple:
        parts = tuple(map(_described, out))
        return None if any(p is None for p in parts) else parts
    is_number = isinstance(out, np.number | np.bool_)
    return type(out) if is_number or type(out) in (int, float, bool, complex, str, list, type(None)) else None
