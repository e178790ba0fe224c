"""The public operations on tangents, each one walk."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

from adbc.errors import InvalidTangentError
from adbc.tangents.protocol import kind_of
from adbc.tangents.scalars import NUMBERS
from adbc.tangents.walk import DifferWalk, MakeWalk, Memo, PerturbWalk, TangentWalk

__all__ = [
    "add_to_primal", "check_increment", "coordinates", "difference", "dot", "increment", "norm",
    "random_tangent", "scale", "set_to_zero", "tangent_type", "with_coordinates", "zero_tangent",
]  # fmt: skip


def tangent_type(cls: type) -> type:
    """The class that tangents of instances of `cls` have.

    Every class has one tangent type, `NoTangent` if its instances have no derivative.  Where that depends on
    the instance (a tuple of ints has none), the answer is right for instances that have a derivative.

    >>> import adbc
    >>> adbc.tangent_type(float), adbc.tangent_type(list), adbc.tangent_type(int)
    (<class 'float'>, <class 'list'>, <class 'adbc.chainrules.zeros.NoTangent'>)
    """
    return kind_of(cls).tangent_type(cls)


def zero_tangent(x: Any, memo: Memo | None = None, is_found: bool = False) -> Any:
    """The zero tangent of `x`: zeros in the structure of `x`, ``NoTangent()`` where it holds no derivative.

    An array has an array of zeros of its shape, dtype and memory layout.  An object that stands in `x`
    twice has one tangent that stands there twice, and views of one memory have views of one memory, cycles
    included.

    memo: the tangents that objects have already, ``id(x) -> (x, tangent)``; those that are made are added.
    is_found: whether `x` was come by in the middle of a call, and nobody asks for a derivative with respect
    to numbers in it.

    Raises `adbc.errors.UnsupportedError` if `x` holds something that has no tangent and no answer either.

    >>> import adbc
    >>> adbc.zero_tangent({"rate": 0.3, "steps": 4})
    {'rate': 0.0, 'steps': NoTangent()}
    """
    cls = type(x)
    if cls in NUMBERS:
        return NUMBERS[cls]
    return MakeWalk(memo, None, is_found).run(x)


def random_tangent(rng: Any, x: Any) -> Any:
    """A tangent of `x` with normally distributed numbers; `rng` is a `random.Random` or a NumPy generator."""
    return MakeWalk(None, rng).run(x)


class _Leaf:
    """What a walk does to numbers when called, and to whole arrays by `on_arrays`."""

    def __call__(self, *numbers: Any) -> Any:
        raise NotImplementedError

    def on_arrays(self, *arrays: Any) -> Any:
        return self(*arrays)


class _Add(_Leaf):
    def __call__(self, *numbers: Any) -> Any:
        t, s = numbers
        if type(t) is not type(s):
            _check_numbers(t, s)
            total = t + s
            return total if getattr(total.__class__, "is_batch", False) else type(t)(total)
        return t + s

    def into(self, t: Any, s: Any) -> None:
        """Add array `s` to array `t` in place."""
        t += s


class _CheckAdd(_Leaf):
    """The leaf of a walk that adds nothing, but raises for numbers that cannot be added."""

    def __call__(self, *numbers: Any) -> Any:
        if type(numbers[0]) is not type(numbers[1]):
            _check_numbers(*numbers)
        return numbers[0]

    def reduce_arrays(self, rows: Iterable[Any]) -> None:
        """Do nothing: shapes and dtypes of the arrays have been compared already."""


def _check_numbers(t: Any, s: Any) -> None:
    """Raise unless the number `s` can be added to the number `t`: a complex one cannot be to a real one."""
    is_number = issubclass(type(s), int | float | complex) or getattr(s, "ndim", None) == 0
    if not is_number or (_is_complex(s) and not _is_complex(t)):
        raise InvalidTangentError(f"a {type(t).__name__} does not go together with a {type(s).__name__}")


def _is_complex(x: Any) -> bool:
    return issubclass(type(x), complex) or getattr(getattr(x, "dtype", None), "kind", "") == "c"


class _Zero(_Leaf):
    def __call__(self, *numbers: Any) -> Any:
        return type(numbers[0])(0.0)

    def on_arrays(self, *arrays: Any) -> Any:
        return 0.0

    def into(self, t: Any) -> None:
        """Make array `t` zero in place."""
        t.fill(0.0)


class _Scale(_Leaf):
    def __init__(self, factor: float) -> None:
        self.factor = factor

    def __call__(self, *numbers: Any) -> Any:
        return type(numbers[0])(self.factor * numbers[0])

    def on_arrays(self, *arrays: Any) -> Any:
        return self.factor * arrays[0]


class _Dot(_Leaf):
    def __init__(self) -> None:
        self.total = 0.0

    def __call__(self, *numbers: Any) -> Any:
        a, b = numbers
        if type(a) is not type(b):
            raise InvalidTangentError(f"a {type(a).__name__} does not go together with a {type(b).__name__}")
        self.total += float(a.real) * float(b.real) + float(a.imag) * float(b.imag)
        return a

    def reduce_arrays(self, rows: Iterable[Any]) -> None:
        """Add the inner products of pairs of arrays to `total`."""
        for a, b in rows:
            self.total += float((a.conj() * b).real.sum())


def increment(t: Any, s: Any) -> Any:
    """Tangent `t` plus tangent `s`: in place where `t` has an address, each part once.  Returns the sum."""
    if type(t) is float and type(s) is float:
        return t + s
    return TangentWalk(_Add(), in_place=True).run(t, s)


def check_increment(t: Any, s: Any) -> None:
    """Raise `InvalidTangentError` if ``increment(t, s)`` would raise, which might happen half way."""
    TangentWalk(_CheckAdd(), in_place=True).run(t, s)


def set_to_zero(t: Any) -> Any:
    """Tangent `t` with all numbers zero: in place where it has an address.  Returns the zero."""
    return TangentWalk(_Zero(), in_place=True).run(t)


def scale(a: float, t: Any) -> Any:
    """A new tangent: the number `a` times tangent `t`."""
    return TangentWalk(_Scale(a), in_place=False).run(t)


def dot(t: Any, s: Any) -> float:
    """The inner product of tangents `t` and `s`: the sum of ``Re(conj(a) * b)``, each shared part once.

    >>> import adbc
    >>> adbc.dot([1.0, {"a": 2.0}], [3.0, {"a": 4.0}])
    11.0
    """
    leaf = _Dot()
    # In place, so that no second tangent is made; the leaf gives each number back unchanged.
    TangentWalk(leaf, in_place=True).run(t, s)
    return leaf.total


def norm(t: Any) -> float:
    """The length of tangent `t`: the square root of the inner product with itself.

    >>> import adbc
    >>> adbc.norm({"a": 3.0, "b": [4.0]})
    5.0
    """
    return math.sqrt(dot(t, t))


def add_to_primal(x: Any, t: Any) -> Any:
    """A new primal: `x` moved by tangent `t`.  Constructors are not called."""
    return PerturbWalk().run(x, t)


def difference(p: Any, q: Any) -> Any:
    """The tangent from primal `q` to primal `p`: ``add_to_primal(q, difference(p, q))`` equals `p`."""
    return DifferWalk().run(p, q)


class _OwnNumbers(DifferWalk):
    """The walk that makes the tangent whose numbers are those of its first primal."""

    combine = staticmethod(lambda p, q: p)


class _GivenNumbers(PerturbWalk):
    """The walk that makes a primal whose numbers are those of a tangent."""

    combine = staticmethod(lambda x, t: t)


def coordinates(x: Any) -> Any:
    """The numbers of `x` as a tangent of `x`, which shares no memory with it."""
    return _OwnNumbers().run(x, x)


def with_coordinates(x: Any, t: Any) -> Any:
    """A new primal like `x` with the numbers of tangent `t`; constructors are not called.

    ``with_coordinates(x, coordinates(x))`` is a copy of `x`.
    """
    return _GivenNumbers().run(x, t)
