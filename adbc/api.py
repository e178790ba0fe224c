"""The public functions: `value_and_grad`, `grad`, `jvp`, `vjp`, `build_rrule`, `build_frule`."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

from adbc.runtime import default_engine
from adbc.runtime.entry.boxed import DerivedFRule, DerivedRule
from adbc.runtime.entry.forward import value_and_tangent
from adbc.runtime.entry.reverse import value_and_gradient_of, value_and_pullback
from adbc.runtime.entry.signature import Signature, as_signature

__all__ = ["build_frule", "build_rrule", "grad", "jvp", "value_and_grad", "vjp"]


def build_rrule(signature: Signature | tuple[Any, ...]) -> DerivedRule:
    """The reverse rule of a function for arguments of given types.

    ``rule(CoDual(f, ff), CoDual(x, fx), ...) -> (CoDual(out, fout), pullback)`` where each f is the
    fdata of its primal; ``pullback(rdata) -> (rdata of f, rdata of x, ...)`` undoes what the call
    changed and adds to the fdata.

    Raises `ArgumentError` if `signature` is not a `Signature` or a tuple ``(f, type, ...)``, and
    `LiftError` if the function is written in Python and cannot be lifted.

    >>> import adbc
    >>> rule = adbc.build_rrule((lambda x: x * x, float))
    >>> f = rule.signature.function
    >>> out, pullback = rule(adbc.CoDual(f, adbc.NoFData()), adbc.CoDual(3.0, adbc.NoFData()))
    >>> out.primal, pullback(1.0)
    (9.0, (NoRData(), 6.0))
    """
    return DerivedRule(default_engine(), as_signature(signature))


def build_frule(signature: Signature | tuple[Any, ...]) -> DerivedFRule:
    """The forward rule of a function for arguments of given types.

    ``rule(Dual(f, df), Dual(x, dx), ...) -> Dual(out, dout)``; tangents of arguments that are changed
    in place are changed with them.  Raises as `build_rrule` does.

    >>> import adbc
    >>> rule = adbc.build_frule((lambda x: x * x, float))
    >>> f = rule.signature.function
    >>> rule(adbc.Dual(f, adbc.NoTangent()), adbc.Dual(3.0, 1.0))
    Dual(9.0, 6.0)
    """
    return DerivedFRule(default_engine(), as_signature(signature))


# -- gradients ---------------------------------------------------------------------------------------


def value_and_grad(f: Callable[..., Any], argnums: int | Sequence[int] = 0) -> Callable[..., tuple[Any, Any]]:
    """A function that gives ``f(*args, **kwargs)`` and its gradient by the arguments `argnums`.

    The gradient has the structure of the argument: a float for a float, an array of the same shape and dtype
    for an array, a list, tuple or dict likewise, and for an object a `MutableTangent` whose fields
    read as attributes.  For complex arguments it is ``df/dx + i df/dy``.  A tuple of argnums gives a
    tuple of gradients.  Arguments are left as they were before the call.

    The function that is returned raises `adbc.errors.ArgumentError` if the value is not a real number or an
    argument has no derivative (an int: pass a float), `adbc.MissingRuleError` if a value with a derivative
    reaches a C function without a rule, `adbc.errors.LiftError` if a function looks at its own frame or is
    asynchronous, and what `f` raises.

    >>> import adbc
    >>> adbc.value_and_grad(lambda x, n: x ** n)(3.0, 2)
    (9.0, 6.0)
    """
    return value_and_gradient_of(f, argnums, default_engine)


def grad(f: Callable[..., Any], argnums: int | Sequence[int] = 0) -> Callable[..., Any]:
    """A function that gives the gradient of ``f(*args, **kwargs)``: what `value_and_grad` gives, without
    the value.

    >>> import math, adbc
    >>> adbc.grad(math.exp)(0.0)
    1.0
    """
    both = value_and_grad(f, argnums)

    @functools.wraps(f, assigned=("__module__", "__name__", "__qualname__", "__doc__"), updated=())
    def gradient(*args: Any, **kwargs: Any) -> Any:
        return both(*args, **kwargs)[1]

    return gradient


def vjp(f: Callable[..., Any], *primals: Any) -> tuple[Any, Callable[[Any], tuple[Any, ...]]]:
    """``(f(*primals), pullback)``, where ``pullback(cotangent)`` gives a cotangent per argument.

    The cotangent of the value has its structure (an array for an array, ...).  The arguments keep what `f`
    did to them until the pullback has run, which restores them.  It runs once: a second run raises
    `adbc.errors.PullbackConsumedError`, and a cotangent that does not fit the value
    `adbc.errors.InvalidTangentError`, before anything is done.  The first call raises what `value_and_grad`
    does, but takes values of any structure.

    >>> import adbc
    >>> value, pullback = adbc.vjp(lambda x, y: x * y, 2.0, 5.0)
    >>> value, pullback(1.0)
    (10.0, (5.0, 2.0))
    """
    return value_and_pullback(default_engine(), f, primals)


def jvp(f: Callable[..., Any], primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[Any, Any]:
    """``(f(*primals), tangent)``: the derivative in the direction `tangents`, one per argument.

    A tangent has the structure of its primal (a float for a float, an array for an array, a list for
    a list, ...); None or ``NoTangent()`` means zero.  Arguments are changed as `f` changes them, and
    so are their tangents.

    Raises `adbc.errors.InvalidTangentError` if a tangent does not fit its primal or one object has several
    tangents, and what `value_and_grad` raises for the function.

    >>> import adbc
    >>> adbc.jvp(lambda x, y: x * y, (2.0, 5.0), (1.0, 0.0))
    (10.0, 5.0)
    """
    return value_and_tangent(default_engine(), f, primals, tangents)
