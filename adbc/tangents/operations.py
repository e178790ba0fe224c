"""The public operations on tangents, each one walk."""

from __future__ import annotations

from typing import Any

from adbc.errors import InvalidTangentError
from adbc.tangents.nothing import NO_TANGENT
from adbc.tangents.protocol import kind_of
from adbc.tangents.walk import DifferWalk, MakeWalk, Memo, PerturbWalk, TangentWalk

__all__ = [
    "add_to_primal", "difference", "dot", "increment", "random_tangent", "scale", "set_to_zero", "tangent_type",
    "zero_tangent",
]  # fmt: skip


def tangent_type(cls: type) -> type:
    """The class of the tangents of instances of `cls` (for kinds that may be inactive: if they are not)."""
    return kind_of(cls).tangent_type(cls)


def zero_tangent(x: Any, memo: Memo | None = None) -> Any:
    """The zero tangent of `x`, with the same cycles and sharing.

    memo: objects that have a tangent already, and those that get one: ``id(x) -> (x, tangent)``.
    """
    if type(x) is float:
        return 0.0
    return MakeWalk(memo).run(x)


def random_tangent(rng: Any, x: Any) -> Any:
    """A tangent of `x` with normally distributed numbers; `rng` is a `random.Random` or a NumPy generator."""
    return MakeWalk(None, rng).run(x)


def _add(t: Any, s: Any) -> Any:
    if type(t) is not type(s):
        raise InvalidTangentError(f"a {type(t).__name__} does not go together with a {type(s).__name__}")
    return t + s


def increment(t: Any, s: Any) -> Any:
    """`t` plus `s`: in place where `t` has an address, each shared part once.  Returns the sum."""
    if type(t) is float and type(s) is float:
        return t + s
    return TangentWalk(_add, in_place=True).run(t, s)


def set_to_zero(t: Any) -> Any:
    """`t` with all numbers zero: in place where it has an address.  Returns the zero."""
    return TangentWalk(lambda c: type(c)(0.0), in_place=True).run(t)


def scale(a: float, t: Any) -> Any:
    """A new tangent, `a` times `t`."""
    return TangentWalk(lambda c: type(c)(a * c), in_place=False).run(t)


def dot(t: Any, s: Any) -> float:
    """The inner product, a real number: the sum of ``Re(conj(a) * b)``, each shared part once."""
    total = 0.0

    def leaf(a: Any, b: Any) -> Any:
        nonlocal total
        if type(a) is not type(b):
            raise InvalidTangentError(f"a {type(a).__name__} does not go together with a {type(b).__name__}")
        total += float(a.real) * float(b.real) + float(a.imag) * float(b.imag)
        return a

    walk = TangentWalk(leaf, in_place=True)
    walk.run(t, s)
    return total


def add_to_primal(x: Any, t: Any) -> Any:
    """A new primal, `x` moved by `t`.  Constructors are not called."""
    return PerturbWalk().run(x, t)


def difference(p: Any, q: Any) -> Any:
    """The tangent from `q` to `p`: ``add_to_primal(q, difference(p, q))`` equals `p`."""
    return DifferWalk().run(p, q)
