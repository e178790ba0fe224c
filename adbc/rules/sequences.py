"""Values that are taken out of a container in order, with what a derivative needs of each.

A `Source` is an argument that a rule runs through: it hands out the values with their shadows, and
on the way back takes one rdata per value and puts it where the value came from.  Lists (and other
containers with an address) are incremented in place; a tuple has no address, so what it is owed is
returned as the rdata of the argument.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any, NoReturn

from adbc.errors import ConstWriteError, UnsupportedError
from adbc.rules.classes import stands_for_position
from adbc.tangents import (
    NO_FDATA,
    NO_TANGENT,
    fill_tangent,
    slot_increment,
    slot_rdata,
    slot_shadow,
    slot_tangent,
)
from adbc.tangents.iterators import out_of_step
from adbc.tangents.keys import key_shadow, key_tangent

__all__ = [
    "ITERABLES",
    "Source",
    "check_constant",
    "collected",
    "count_of",
    "element_tangents",
    "emptied",
    "fail",
    "gathered",
    "nothing",
    "out_of_step",
    "pair_of",
    "plain_slice",
    "refuse_constant",
    "sequence_rdata",
    "symbolic",
    "tangents_of",
]


def nothing(count: int) -> Callable[[Any], Sequence[None]]:
    """The pullback of a call of `count` arguments with no derivative and nothing to undo."""
    zeros = (None,) * count
    return lambda bout: zeros


def fail(function: Callable[..., object], *arguments: Any) -> NoReturn:
    """Call `function` for the error that it raises.

    Bodies in Python that stand for `function` call this, not `function`, which would be the body again: the
    derivative of this is declared zero, so that it is called as it is.
    """
    function(*arguments)
    raise AssertionError(f"{function} was to raise an error for {arguments}")


def pair_of(item: Any, index: int) -> Any:
    """The key and the value that `item` is, the element number `index` of what a dict is made of."""
    if not hasattr(type(item), "__iter__") and not hasattr(type(item), "__getitem__"):
        raise TypeError(f"cannot convert dictionary update sequence element #{index} to a sequence")
    pair = item if type(item) is tuple or type(item) is list else list(iter(item))
    if len(pair) != 2:
        length = len(pair)
        raise ValueError(f"dictionary update sequence element #{index} has length {length}; 2 is required")
    return pair


def symbolic(t: Any) -> Any:
    """The tangent `t` found in a slot as the flat protocol has it: with None in place of `NoTangent`."""
    return None if t is NO_TANGENT else t


def emptied(x: Any, t: Any) -> Any:
    """The slot tangent `t` of `x` with zero in its value part, as before anything was read from the slot."""
    cls = t.__class__
    if cls is float:
        return 0.0
    if cls is tuple and _FLAT.issuperset(map(type, t)):
        return tuple(map(_ZEROS.__getitem__, map(type, t)))
    return slot_tangent(x, slot_shadow(t))


_ZEROS: dict[Any, Any] = {float: 0.0, type(NO_TANGENT): NO_TANGENT}
"""By class of slot tangent, its zero, of those in tuples of numbers."""
_FLAT = frozenset(_ZEROS)


def refuse_constant(container: Any, *shadows: Any) -> None:
    """Raise if one of `shadows`, those of values written into the constant `container`, is active."""
    if any(f is not None for f in shadows):
        raise ConstWriteError(
            f"a value that has a derivative is written into a constant {type(container).__name__}",
            "its derivative would be lost",
        )


def check_constant(container: Any, shadow: Any, written: Any) -> None:
    """Raise if `container` is constant (its `shadow` is None), and what is written into it active."""
    if shadow is None:
        refuse_constant(container, written)


def element_tangents(d: Any, count: int) -> list[Any]:
    """The tangents of the elements of a list or tuple whose tangent is `d`, None for zero."""
    return [None] * count if d is None else [symbolic(t) for t in d]


def sequence_rdata(f: Any, terms: Sequence[Any]) -> Any:
    """Give each element of a list or tuple with shadow `f` its term: in place, or as the rdata returned."""
    if type(f) is tuple:
        return tuple([None if g is None else r for g, r in zip(f, terms, strict=True)])
    if type(f) is list and len(f) == len(terms) and {*map(type, f)} == {*map(type, terms)} == _FLOATS:
        f[:] = map(operator.add, f, terms)
    elif f is not None:
        for i, r in enumerate(terms):
            t = f[i]
            if t.__class__ is float and r.__class__ is float:
                f[i] = t + r
            elif r is not None and t is not NO_TANGENT:
                f[i] = slot_increment(t, r)
    return None


class Source:
    """The values that a reverse rule takes out of argument `x`, whose shadow is `f`."""

    __slots__ = ("_f", "shadows", "values")

    def __init__(self, x: Any, f: Any) -> None:
        self.values: list[Any] = list(x)
        self._f = None
        if f is None or not isinstance(x, (list, tuple)):
            if isinstance(x, _HASHED):
                self.shadows: list[Any] = [*map(key_shadow, self.values)]
            else:
                self.shadows = [None] * len(self.values)
        else:
            self._f = f
            if type(f) is tuple:
                self.shadows = list(f)
            elif {*map(type, f)} == _FLOATS:
                self.shadows = [NO_FDATA] * len(f)
            else:
                self.shadows = [slot_shadow(t) for t in f]

    def tangents(self) -> list[Any]:
        """A slot tangent for each value, to go into a new container."""
        if {*map(type, self.values)} == _FLOATS:
            return [0.0] * len(self.values)
        return [slot_tangent(x, f) for x, f in zip(self.values, self.shadows, strict=True)]

    def give(self, terms: Sequence[Any]) -> Any:
        """Give each value its rdata; returns the rdata of the argument."""
        return None if self._f is None else sequence_rdata(self._f, terms)


_HASHED = (dict, set, frozenset)
_FLOATS = {float}
"""The classes in what is the most frequent, and seen at once: numbers, or tangents of numbers."""

ITERABLES: frozenset[type] = frozenset({list, tuple, dict, str, bytes, range, set, frozenset})
"""The classes of containers that a rule can run through again and again, by C code only."""


def tangents_of(x: Any, d: Any) -> list[Any]:
    """A tangent for each value of `x`, whose tangent is `d` (None for zero), to go into a new container."""
    if isinstance(x, _HASHED):
        return [fill_tangent(v, key_tangent(v)) for v in x]
    if d is None or not isinstance(x, (list, tuple)):
        return [fill_tangent(v, None) for v in x]
    return list(d)


def gathered(out: list[Any], sources: Sequence[Source]) -> tuple[list[Any], Callable[[], list[Any]]]:
    """The shadow of list `out`, made of the values of `sources` one after another, and a function that gives
    the sources what the shadow has received: it returns one rdata per source."""
    fout = [t for source in sources for t in source.tangents()]

    def give() -> list[Any]:
        terms = fout if {*map(type, fout)} == _FLOATS else [slot_rdata(t) for t in fout]
        result, start = [], 0
        for source in sources:
            end = start + len(source.values)
            result.append(source.give(terms[start:end]))
            start = end
        return result

    return fout, give


def plain_slice(where: slice) -> slice:
    """The slice `where`; raises if a bound has an ``__index__`` in Python, to be called just once."""
    for bound in (where.start, where.stop, where.step):
        if bound is None or type(bound) is int:
            continue
        if stands_for_position(type(bound)):
            raise UnsupportedError(
                f"a bound of a slice is a {type(bound).__name__}",
                "its __index__ would be called more often than by the interpreter",
                "make it a number before: operator.index(bound)",
            )
    return where


def collected(iterable: Any, /) -> Any:
    """A list of what `iterable` gives, which is not asked for its length; this is differentiated."""
    out: list[Any] = []
    for x in iterable:
        out.append(x)  # noqa: PERF402  # `list` would ask how long it is
    return out


def count_of(values: Any, value: Any, /) -> int:
    """How often `value` is among `values`, as ``operator.countOf`` counts."""
    count = 0
    for x in values:
        if x is value or x == value:
            count += 1
    return count
