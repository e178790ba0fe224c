"""The public functions: `value_and_grad`, `grad`, `jvp`, `vjp`, `build_rrule`, `build_frule`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from adbc.rules import implicit
from adbc.runtime import default_engine
from adbc.runtime.calls.nested import FOLLOWED, LEAVING
from adbc.runtime.entry.boxed import DerivedFRule, DerivedRule
from adbc.runtime.entry.forward import value_and_tangent, value_tangent_and_aux
from adbc.runtime.entry.gradients import Gradient, ValueAndGradient
from adbc.runtime.entry.prepared import PreparedGradient
from adbc.runtime.entry.pullbacks import value_and_pullback
from adbc.runtime.entry.reusable import ReusablePullback
from adbc.runtime.entry.selection import Selector
from adbc.runtime.entry.signature import Signature, as_signature
from adbc.runtime.report.tracebacks import leave

__all__ = ["build_frule", "build_rrule", "grad", "jvp", "prepare", "value_and_grad", "vjp"]


def build_rrule(signature: Signature | tuple[Any, ...], **keywords: Any) -> DerivedRule:
    """The reverse rule of a function for arguments of given types.

    ``rule(CoDual(f, ff), CoDual(x, fx), ...) -> (CoDual(out, fout), pullback)`` where each f is the
    fdata of its primal; ``pullback(rdata) -> (rdata of f, rdata of x, ...)`` undoes what the call
    changed and adds to the fdata.

    keywords: the types of arguments that are given by keyword.  The rule takes their coduals by keyword
    too, and the pullback gives their rdata as a dict by name, behind those of the others.

    Raises `ArgumentError` if `signature` is not a `Signature` or a tuple ``(f, type, ...)``, and
    `LiftError` if the function is written in Python and cannot be lifted.

    >>> import adbc
    >>> rule = adbc.build_rrule((lambda x: x * x, float))
    >>> f = rule.signature.function
    >>> out, pullback = rule(adbc.CoDual(f, adbc.NoFData()), adbc.CoDual(3.0, adbc.NoFData()))
    >>> out.primal, pullback(1.0)
    (9.0, (NoRData(), 6.0))
    >>> rule = adbc.build_rrule((lambda x, *, k: k * x, float), k=float)
    >>> f = adbc.CoDual(rule.signature.function, adbc.NoFData())
    >>> out, pullback = rule(f, adbc.CoDual(3.0, adbc.NoFData()), k=adbc.CoDual(2.0, adbc.NoFData()))
    >>> pullback(1.0)
    (NoRData(), 2.0, {'k': 3.0})
    """
    return DerivedRule(default_engine, as_signature(signature, keywords))


def build_frule(
    signature: Signature | tuple[Any, ...], *, width: int | None = None, **keywords: Any
) -> DerivedFRule:
    """The forward rule of a function for arguments of given types.

    ``rule(Dual(f, df), Dual(x, dx), ...) -> Dual(out, dout)``; tangents of arguments that are changed
    in place are changed with them.  What is given by keyword has its type in `keywords` and its dual number
    by keyword.  With `width` the tangents are batches, as those of `jvp` are.  Raises as `build_rrule` does.

    >>> import adbc
    >>> rule = adbc.build_frule((lambda x: x * x, float))
    >>> f = rule.signature.function
    >>> rule(adbc.Dual(f, adbc.NoTangent()), adbc.Dual(3.0, 1.0))
    Dual(9.0, 6.0)
    """
    return DerivedFRule(default_engine, as_signature(signature, keywords), width)


# -- gradients ---------------------------------------------------------------------------------------


def value_and_grad(
    f: Callable[..., Any], argnums: Selector | Sequence[Selector] = 0, has_aux: bool = False
) -> Callable[..., tuple[Any, Any]]:
    """A function that gives ``f(*args, **kwargs)`` and its gradient by the arguments `argnums`.

    The gradient has the structure of the argument: a float for a float, an array of the same shape and dtype
    for an array, a list, tuple or dict likewise, and for an object a `MutableTangent` whose fields
    read as attributes.  For complex arguments it is ``df/dx + i df/dy``.  Arguments are left as they were
    before the call.

    argnums: the number of a positional parameter, or the name of any parameter, or a sequence of these, which
    gives a tuple of gradients.  It does not matter whether the argument is given by position or by keyword; a
    negative number counts from the end of the positional arguments.  A default that is used has no gradient:
    to ask for it is an error.

    has_aux: whether `f` returns a tuple ``(value, aux)``, of which the value is differentiated; the function
    then gives ``((value, aux), gradient)``, with `aux` as it was when `f` returned.

    What is returned can be copied and pickled, if `f` can.  It raises `adbc.errors.ArgumentError` if the
    value is not a real number or an argument has no derivative (an int: pass a float),
    `adbc.MissingRuleError` if a value with a derivative reaches a C function without a rule,
    `adbc.errors.LiftError` if a function is asynchronous, and what `f` raises.

    >>> import adbc
    >>> adbc.value_and_grad(lambda x, n: x ** n)(3.0, 2)
    (9.0, 6.0)
    >>> adbc.value_and_grad(lambda x, y: x * y, ("x", "y"))(3.0, y=2.0)
    (6.0, (2.0, 3.0))
    >>> adbc.value_and_grad(lambda x: (x * x, "square"), has_aux=True)(3.0)
    ((9.0, 'square'), 6.0)
    """
    return ValueAndGradient(f, argnums, has_aux, default_engine)


def grad(
    f: Callable[..., Any], argnums: Selector | Sequence[Selector] = 0, has_aux: bool = False
) -> Callable[..., Any]:
    """A function that gives the gradient of ``f(*args, **kwargs)``: what `value_and_grad` gives, without
    the value; with `has_aux`, ``(gradient, aux)``.

    >>> import math, adbc
    >>> adbc.grad(math.exp)(0.0)
    1.0
    >>> adbc.grad(lambda x, *, rate: rate * x * x, "rate")(3.0, rate=0.5)
    9.0
    """
    return Gradient(f, argnums, has_aux, default_engine)


def prepare(
    f: Callable[..., Any],
    *args: Any,
    argnums: Selector | Sequence[Selector] = 0,
    has_aux: bool = False,
    **kwargs: Any,
) -> PreparedGradient:
    """The gradient of `f`, as `grad` gives it, with everything built ahead for arguments like these: its
    first call takes as long as any other.

    ``prepared(*args, **kwargs)`` gives the gradient, ``prepared.value_and_grad(*args, **kwargs)`` the value
    as well, by the conventions of `grad` and `value_and_grad`.  `f` is called with copies of the example,
    three to eight times, until nothing is built any more; what it prints is printed then.  Arguments of other
    types and shapes than the example are right, too: they take the way of any gradient, and what they need
    is built when they come.

    Once nothing is built any more, a call takes what that of a gradient takes, or a tenth less for a function
    of a few numbers: what is saved by `prepare` is the time of the first calls.  Results are new in each
    call, and several threads may call.

    Raises what `value_and_grad` raises, and `adbc.errors.ArgumentError` if the example cannot be copied.

    >>> import adbc
    >>> gradient = adbc.prepare(lambda x, y: x * x * y, 1.0, 1.0, argnums=(0, 1))
    >>> gradient(3.0, 2.0)
    (12.0, 9.0)
    >>> gradient.value_and_grad(3.0, 2.0)
    (18.0, (12.0, 9.0))
    """
    try:
        return PreparedGradient(f, argnums, has_aux, default_engine, args, kwargs)
    except BaseException as error:  # any exception of the user's is passed on
        leave(error)
        raise


def vjp(
    f: Callable[..., Any],
    *primals: Any,
    has_aux: bool = False,
    reusable: bool = False,
    width: int | None = None,
) -> tuple[Any, ...]:
    """``(f(*primals), pullback)``, where ``pullback(cotangent)`` gives a cotangent per argument.

    The value is a copy of what `f` returns, which the pullback undoes; arguments in it are themselves.  The
    cotangent of the value has its structure (an array for an array, ...); an object that stands twice in a
    list, dict or object of the value has one cotangent, which stands there twice.  The arguments keep what
    `f` did to them until the pullback has run, which restores them.  It runs once: a second run raises
    `adbc.errors.PullbackConsumedError`, and a cotangent that does not fit the value
    `adbc.errors.InvalidTangentError`, before anything is done.  The first call raises what `value_and_grad`
    does, but takes values of any structure.

    has_aux: whether `f` returns a tuple ``(value, aux)``; then this gives ``(value, pullback, aux)``, and the
    pullback takes a cotangent of the value alone.

    reusable: let the pullback run any number of times, each with cotangents of its own.  What a run changes
    (shadows, and memory that `f` has overwritten) is noted after the forwards pass and put there again for
    the next, which costs the pullback alone.  Where the state of an object is out of sight (a generator or
    iterator that `f` has begun, an object of a class in C) `f` is run again for each run from the second on.
    A `ValueError` is raised if the arguments have been changed meanwhile.

    width: how many cotangents the pullback takes at once.  `f` is run once, and so is the pullback for all of
    them.  Each array in the cotangent, and in what comes out, has one more axis in front, of this length, and
    an array of it stands for a number.  (In JAX that is ``vmap`` over the pullback.)  What cannot be done in
    this way raises `adbc.errors.BatchError`; with ``reusable=True`` as well where the state of an object is
    out of sight.

    >>> import adbc
    >>> value, pullback = adbc.vjp(lambda x, y: x * y, 2.0, 5.0)
    >>> value, pullback(1.0)
    (10.0, (5.0, 2.0))
    >>> import numpy as np
    >>> value, pullback = adbc.vjp(lambda x: (x * x, 3.0 * x), 2.0, width=2)
    >>> pullback((np.array([1.0, 0.0]), np.array([0.0, 1.0])))
    (array([4., 3.]),)
    """
    try:
        if width is not None:
            from adbc.runtime.entry import batches  # it imports NumPy

            wide = batches.BatchedPullback(default_engine().batched, f, primals, width, has_aux, reusable)
            return wide.value, wide, *wide.aux
        if reusable:
            again = ReusablePullback(default_engine, f, primals, has_aux)
            again.keep()
            return again.value, again, *again.aux
        return value_and_pullback(default_engine(), f, primals, has_aux)
    except BaseException as error:  # any exception of the user's is passed on
        leave(error)
        raise


def jvp(
    f: Callable[..., Any],
    primals: Sequence[Any],
    tangents: Sequence[Any],
    has_aux: bool = False,
    *,
    width: int | None = None,
) -> tuple[Any, ...]:
    """``(f(*primals), tangent)``: the derivative in the direction `tangents`, one per argument.

    A tangent has the structure of its primal (a float for a float, an array for an array, a list for
    a list, ...); None or ``NoTangent()`` means zero.  Arguments are changed as `f` changes them, and
    so are their tangents.

    has_aux: whether `f` returns a tuple ``(value, aux)``; then this gives ``(value, tangent, aux)``.
    width: how many tangents are given at once.  `f` is run once for all of them.  Each array in `tangents`,
    and in what comes out, has one more axis in front, of this length, and an array of it stands for a number;
    the tangents that are given are copied.  (In JAX that is ``vmap`` over the tangents.)  What cannot be done
    in this way raises `adbc.errors.BatchError`.

    Raises `adbc.errors.InvalidTangentError` if a tangent does not fit its primal or one object has several
    tangents, and what `value_and_grad` raises for the function.

    >>> import adbc
    >>> adbc.jvp(lambda x, y: x * y, (2.0, 5.0), (1.0, 0.0))
    (10.0, 5.0)
    >>> import numpy as np
    >>> adbc.jvp(lambda x, y: x * y, (2.0, 5.0), (np.array([1.0, 0.0]), np.array([0.0, 1.0])), width=2)
    (10.0, array([5., 2.]))
    """
    try:
        if width is not None:
            from adbc.runtime.entry import batches  # it imports NumPy

            return batches.value_and_tangents(default_engine().batched, f, primals, tangents, width, has_aux)
        if has_aux:
            return value_tangent_and_aux(default_engine(), f, primals, tangents)
        return value_and_tangent(default_engine(), f, primals, tangents)
    except BaseException as error:  # any exception of the user's is passed on
        leave(error)
        raise


def _follow(calls: Any, context: Any, call: Any) -> Any:
    from adbc.runtime.entry import nested  # few take derivatives of derivatives

    return nested.follow(calls, context, call)


def _follow_rule(calls: Any, context: Any, call: Any) -> Any:
    from adbc.runtime.entry import nested_rules

    return nested_rules.follow(calls, call, jvp if type(call.function) is DerivedFRule else vjp)


def _follow_vjp(calls: Any, context: Any, call: Any) -> Any:
    is_again = "reusable" in call.keywords and call.by_name()["reusable"]
    return (_follow_rule if is_again else _follow)(calls, context, call)


FOLLOWED[DerivedFRule] = FOLLOWED[DerivedRule] = _follow_rule
FOLLOWED.update(dict.fromkeys((grad, value_and_grad, jvp), _follow))
FOLLOWED[vjp] = _follow_vjp
LEAVING.update((grad, value_and_grad))
implicit.ENGINE.jvp = jvp
implicit.ENGINE.grad = grad
