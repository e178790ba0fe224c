"""Tangents for tests: random ones, pairs of a primal and a tangent, inner products, comparisons."""

from __future__ import annotations

import math
import random
from typing import Any

from adbc.chainrules.arrays import has, is_array, loaded, shape_of
from adbc.chainrules.project import ProjectTo
from adbc.chainrules.structured import Tangent, parts_of
from adbc.chainrules.thunks import unthunk
from adbc.chainrules.zeros import NoTangent, NotImplementedTangent, ZeroTangent
from adbc.records import record

__all__ = [
    "PrimalAndTangent",
    "assert_approx",
    "inner",
    "primal_with_tangent",
    "problem_of",
    "rand_tangent",
]


@record(frozen=True)
class PrimalAndTangent:
    """An argument of a test, with the tangent to test it with."""

    primal: Any
    tangent: Any


def primal_with_tangent(x: Any, tangent: Any = None) -> PrimalAndTangent:
    """The argument `x` of a test, with the direction in which it is moved; a random one if none is given.

    `NoTangent` says that nobody differentiates by it.

    >>> from adbc.chainrules.testing import primal_with_tangent
    >>> from adbc import chainrules as cr
    >>> primal_with_tangent(2.0, 1.0)
    PrimalAndTangent(primal=2.0, tangent=1.0)
    """
    return PrimalAndTangent(x, rand_tangent(x) if tangent is None else tangent)


def rand_tangent(x: Any, rng: random.Random | int | None = None) -> Any:
    """A random tangent of `x`: its numbers are between 0.5 and 2 in magnitude, with two decimals.

    rng: a generator, or a seed; the default is a fixed seed.

    >>> from adbc.chainrules.testing import rand_tangent
    >>> rand_tangent(3), type(rand_tangent(1.0))
    (NoTangent(), <class 'float'>)
    """
    if not isinstance(rng, random.Random):
        rng = random.Random(20240229 if rng is None else rng)
    return _random(x, rng)


def _number(rng: random.Random) -> float:
    # Not small: a number that is lost in rounding would hide what it is multiplied with.
    return rng.choice((-1.0, 1.0)) * round(rng.uniform(0.5, 2.0), 2)


def _random(x: Any, rng: random.Random, around: tuple[int, ...] = ()) -> Any:
    if id(x) in around or not ProjectTo(x).is_differentiable:
        return NoTangent()
    numpy = loaded()
    if numpy is not None and isinstance(x, numpy.ndarray | numpy.generic):
        if x.dtype.kind == "O":
            made = numpy.empty(x.shape, object)
            for i, part in enumerate(x.flat):
                made.flat[i] = _random(part, rng)
            return made
        numbers = [_number(rng) for _ in range(x.size)]
        if x.dtype.kind == "c":
            numbers = [n + 1j * _number(rng) for n in numbers]  # type: ignore[misc]
        made = numpy.asarray(numbers).reshape(x.shape).astype(x.dtype)
        return made if is_array(x) else made[()]
    if has(x, "tocoo"):
        made = x.copy()
        made.data = _random(made.data, rng)
        return made
    if isinstance(x, complex):
        return complex(_number(rng), _number(rng))
    if isinstance(x, float):
        return _number(rng)
    parts = parts_of(x) or {}
    inside = (*around, id(x)) if callable(x) else around  # a function may hold itself
    return Tangent.of(type(x), {key: _random(part, rng, inside) for key, part in parts.items()})


def inner(a: Any, b: Any) -> float:
    """The real inner product of two tangents of one value; zeros, and parts that lack, give nothing."""
    a, b = unthunk(a), unthunk(b)
    for t in (a, b):
        if isinstance(t, NotImplementedTangent):
            t.raise_error("the tested result")
        if isinstance(t, NoTangent | ZeroTangent):
            return 0.0
    if isinstance(a, Tangent | tuple | list | dict) or isinstance(b, Tangent | tuple | list | dict):
        one, other = _parts(a), _parts(b)
        return math.fsum(inner(part, other[key]) for key, part in one.items() if key in other)
    if has(a, "toarray") or has(b, "toarray"):
        a, b = (t.toarray() if has(t, "toarray") else t for t in (a, b))
    if is_array(a) or is_array(b):
        numpy = loaded()
        if any(has(t, "dtype") and t.dtype == object for t in (a, b)):
            pairs = zip(numpy.asarray(a, object).flat, numpy.asarray(b, object).flat, strict=True)
            return math.fsum(inner(c, d) for c, d in pairs)
        return float(numpy.sum(numpy.conj(a) * b).real)
    return float((a.conjugate() * b).real)


def _parts(t: Any) -> dict[Any, Any]:
    return t._parts if isinstance(t, Tangent) else parts_of(t) or {}


def assert_approx(a: Any, b: Any, *, rtol: float = 1e-9, atol: float = 1e-9, what: str = "") -> None:
    """Raise `AssertionError` unless two tangents are the same up to rounding, zeros of any kind being zero.

    >>> from adbc.chainrules.testing import assert_approx
    >>> from adbc import chainrules as cr
    >>> assert_approx(cr.Tangent(tuple, 1.0, 0.0), cr.Tangent(tuple, 1.0, cr.ZeroTangent()))
    """
    problem = problem_of(a, b, rtol, atol)
    if problem is not None:
        raise AssertionError(f"{what}: {problem}" if what else problem)


def problem_of(a: Any, b: Any, rtol: float = 1e-9, atol: float = 1e-9) -> str | None:
    """Where and how the tangents or values `a` and `b` differ; None if they are the same up to rounding."""
    a, b = unthunk(a), unthunk(b)
    if isinstance(a, NotImplementedTangent) or isinstance(b, NotImplementedTangent):
        return None if type(a) is type(b) else f"{a!r} is not {b!r}"
    if isinstance(a, NoTangent | ZeroTangent):
        return None if _is_zero(b) else f"zero is not {b!r:.80}"
    if isinstance(b, NoTangent | ZeroTangent):
        return None if _is_zero(a) else f"{a!r:.80} is not zero"
    if has(a, "toarray") or has(b, "toarray"):
        a, b = (t.toarray() if has(t, "toarray") else t for t in (a, b))
    if _is_number(a) and _is_number(b):
        return _numbers_differ(a, b, rtol, atol)
    if isinstance(a, Tangent) or isinstance(b, Tangent) or (parts_of(a) and parts_of(b)):
        one, other = _parts(a), _parts(b)
        for key in {**one, **other}:
            problem = problem_of(one.get(key, ZeroTangent()), other.get(key, ZeroTangent()), rtol, atol)
            if problem is not None:
                return f"at {key!r}: {problem}"
        return None
    try:
        return None if bool(a == b) or a is b else f"{a!r:.80} is not {b!r:.80}"
    except ValueError:  # arrays of different kinds
        return f"{a!r:.80} is not {b!r:.80}"


def _is_number(x: Any) -> bool:
    return isinstance(x, int | float | complex) or has(x, "dtype")


def _is_zero(t: Any) -> bool:
    if isinstance(t, NoTangent | ZeroTangent):
        return True
    if isinstance(t, Tangent) or not _is_number(t):
        return all(_is_zero(unthunk(part)) for part in _parts(t).values())
    return not t.any() if is_array(t) else bool(t == 0)


def _numbers_differ(a: Any, b: Any, rtol: float, atol: float) -> str | None:
    if shape_of(a) != shape_of(b):
        return f"shape {shape_of(a)} is not shape {shape_of(b)}"
    numpy = loaded()
    if numpy is not None and (is_array(a) or is_array(b)):
        if a.dtype == object or b.dtype == object:
            found = [problem_of(c, d, rtol, atol) for c, d in zip(a.flat, b.flat, strict=True)]
            return next((problem for problem in found if problem is not None), None)
        size = float(numpy.max(numpy.abs(b), initial=0.0, where=numpy.isfinite(b)))
        if numpy.allclose(a, b, rtol=0.0, atol=atol + rtol * size, equal_nan=True):
            return None
        return f"{a!r:.120} is not {b!r:.120}"
    same = a == b or (a != a and b != b) or abs(a - b) <= atol + rtol * abs(b)
    return None if same else f"{a!r} is not {b!r}"
