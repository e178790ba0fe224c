"""How users say how a function is differentiated: each declaration adds a row to the default table.

A new row stands before the rows that are there, and derived rules that were built without it are
stale from then on (`RuleTable.epoch`).  `table` names another table to add to.

    @adbc.scalar_rule(lib.softplus)
    def _(out, x):
        return 1.0 / (1.0 + math.exp(-x))

    adbc.zero_derivative(lib.log_message)
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from adbc.chainrules.declarations import forget as forget_declared
from adbc.chainrules.registry import BOTH, Rank
from adbc.rules import default_table
from adbc.rules.declared import (
    DeclaredRule,
    DeclaredZero,
    JointPartials,
    SeparatePartials,
    flat_frule,
    flat_rrule,
)
from adbc.rules.implicit import implicit_body
from adbc.rules.linear import LinearRule
from adbc.rules.lookup import RuleTable, refusal
from adbc.rules.table import Overlay, Primitive, Rule, When

__all__ = ["forget", "implicit", "linear", "overlay", "primitive", "rule", "scalar_rule", "zero_derivative"]

F = TypeVar("F", bound=Callable[..., Any])
Partials = Callable[..., Any] | Sequence[Callable[..., Any] | None]


def _add(row: Rule, table: RuleTable | None) -> None:
    (default_table() if table is None else table).add([row], first=True)


def _one(mode: str) -> frozenset[str]:
    if mode not in BOTH:
        raise ValueError(f"there is no mode {mode!r}: forward or reverse")
    return frozenset({mode})


def forget(function: Callable[..., Any], *, table: RuleTable | None = None) -> int:
    """Take back what the program has declared for `function`, here or in `adbc.chainrules`; how many
    declarations there were.  What plug-ins and the library itself say of it holds again.

    table: another table than that of the public functions.

    >>> import math, adbc
    >>> _ = adbc.scalar_rule(math.sinh)([lambda out, x: 100.0])
    >>> adbc.grad(math.sinh)(0.0), adbc.forget(math.sinh), adbc.grad(math.sinh)(0.0)
    (100.0, 1, 1.0)
    """
    where = default_table() if table is None else table
    count = forget_declared(function) if where is default_table() else 0
    found = [row for row in where.rows(function) if row.origin.rank is Rank.USER]
    return count + sum(map(where.remove, found))


def scalar_rule(
    function: Callable[..., Any], *, when: When = None, result: Any = None, table: RuleTable | None = None
) -> Callable[[Partials], Partials]:
    """Declare the partial derivatives of a function of numbers.

    What is decorated is one function ``partials(out, *args)``, which gives the derivative by each argument
    as a tuple (or as it is, if there is one argument), or a sequence of such functions, one for each
    argument, None where the derivative is zero; the second form is inlined.  Arguments and results are real
    or complex numbers; what a holomorphic function's partial derivative is conjugated for is done in the
    engine.  Of a real result by a real argument it is real.  Arrays, and lists and tuples of numbers, are
    taken element by element.  Of a function with several results, a tuple, each derivative is a tuple with
    one for each result.  Defaults, keywords and keyword-only parameters are given by position, in the order
    of the signature.

    when: restricts the rule to calls for which ``when(*classes of the arguments)`` holds.  table: another
    table to add to than that of the public functions.

    Raises, when the derivative is taken, `TypeError` if the tuple has not one element for each argument,
    `adbc.errors.InvalidTangentError` if a derivative does not go with the result, and
    `adbc.errors.UnsupportedError` if the function was not applied element by element.

    >>> import adbc
    >>> def double(x):
    ...     return round(2.0 * x, 9)  # the rule says: as if it were not rounded
    >>> @adbc.scalar_rule(double)
    ... def _(out, x):
    ...     return 2.0
    >>> adbc.grad(double)(0.25)
    2.0
    """

    def declare(partials: Partials) -> Partials:
        if callable(partials):
            row: Rule = JointPartials(function, partials, when=when, result=result)
        else:
            row = SeparatePartials(function, partials, when=when, result=result)
        _add(row, table)
        return partials

    return declare


def zero_derivative(
    function: F, *, when: When = None, mode: str | None = None, table: RuleTable | None = None
) -> F:
    """Declare that the derivative of `function` is zero by all of its arguments, and return `function`.

    For functions whose result is a position, a flag or a text, and for those that are called for an effect:
    what comes out is a constant of the derivative.  It may be used as a decorator.  The function may change
    things that have no derivative: counters, texts, records of what it was called with.

    Raises, when the derivative is taken, `adbc.errors.UnsupportedError` if `function` writes numbers into an
    argument, or gives an argument with a derivative or a part of one: then the derivative is not zero.

    mode: "forward" or "reverse", if the declaration is for one of them; the other keeps the rule that is
    there, or derives.  when: restricts the rule to calls for which ``when(*classes of the arguments)``
    holds.  table: another table to add to than that of the public functions.

    >>> import adbc
    >>> @adbc.zero_derivative
    ... def nearest(x):
    ...     return float(int(x + 0.5))
    >>> adbc.grad(lambda x: x * nearest(x))(2.2)
    2.0
    """
    row = DeclaredZero(function, when=when)
    if mode is not None:
        row.modes = _one(mode)
    _add(row, table)
    return function


def rule(
    function: Callable[..., Any],
    *,
    jvp: Callable[..., Any] | Sequence[Callable[..., Any] | None],
    vjp: Callable[..., Any] | Sequence[Callable[..., Any] | None],
    when: When = None,
    parameters: Sequence[str] | None = None,
    table: RuleTable | None = None,
) -> None:
    """Declare the derivatives of a function without side effects whose result is new.

    ``jvp[i](dx, out, *args, **kwargs)`` and ``vjp[i](cotangent, out, *args, **kwargs)`` belong to argument
    `i`; None says that the derivative is zero.  One function stands for a sequence of one. A tangent has
    the shape and dtype of the argument and a cotangent those of the result.  What ``jvp`` returns is
    broadcast to the shape of the result, and what ``vjp`` returns is summed over what the argument was
    broadcast to.  Its real part is taken where the argument is real and the result complex; of a real result
    by a real argument both are real.  They may keep and change nothing.

    parameters: the names of those parameters that the functions are given by position, if these are not those
    of the signature, or if it has none; keyword-only parameters may be among them.
    when: restricts the rule to calls for which ``when(*classes of the arguments)`` holds.  table: another
    table to add to than that of the public functions.

    Raises, when the derivative is taken, `adbc.errors.InvalidTangentError` if what the functions return does
    not fit, `adbc.errors.UnsupportedError` if `function` writes into an argument or returns one, and
    `adbc.errors.ConstWriteError` if the argument that it writes into is constant.

    >>> import numpy as np, adbc
    >>> def total(v, weight):
    ...     return float(np.dot(v, v)) * weight
    >>> adbc.rule(
    ...     total,
    ...     jvp=(
    ...         lambda dv, out, v, weight: 2.0 * weight * np.dot(v, dv),
    ...         lambda dweight, out, v, weight: np.dot(v, v) * dweight,
    ...     ),
    ...     vjp=(
    ...         lambda b, out, v, weight: 2.0 * weight * b * v,
    ...         lambda b, out, v, weight: b * np.dot(v, v),
    ...     ),
    ... )
    >>> adbc.grad(total, (0, 1))(np.array([1.0, 2.0]), 3.0)
    (array([ 6., 12.]), 5.0)
    """
    row = DeclaredRule(
        function,
        jvp=(jvp,) if callable(jvp) else jvp,
        vjp=(vjp,) if callable(vjp) else vjp,
        when=when,
        parameters=parameters,
    )
    _add(row, table)


def linear(
    function: Callable[..., Any],
    argnums: int | Sequence[int] = 0,
    *,
    transpose: Callable[..., Any] | Sequence[Callable[..., Any]],
    when: When = None,
    parameters: Sequence[str] | None = None,
    table: RuleTable | None = None,
) -> None:
    """Declare that `function` is linear in an argument: its tangent is the function of the tangent.

    ``transpose(cotangent, *args, **kwargs)`` gives the cotangent of the argument, from that of the result and
    all arguments of the call.  It is the adjoint: ``dot(b, function(x)) == dot(transpose(b, x), x)``, for
    complex numbers with the real part of ``conj(a) * b`` in both products.

    argnums: the number of the argument, or of several, in each of which the function is linear while the
    others are fixed; `transpose` then has a function for each.  An active argument that is not among them is
    refused.
    parameters, when, table: as in `adbc.rule`.

    >>> import numpy as np, adbc
    >>> def moved(x, places):
    ...     return np.asarray([x[i] for i in places])
    >>> def moved_back(b, x, places):
    ...     d = np.zeros_like(x)
    ...     np.add.at(d, places, b)
    ...     return d
    >>> adbc.linear(moved, 0, transpose=moved_back)
    >>> adbc.grad(lambda x: (moved(x, [2, 0, 0]) ** 2).sum())(np.array([1.0, 5.0, 3.0]))
    array([4., 0., 6.])
    """
    places = (argnums,) if isinstance(argnums, int) else tuple(argnums)
    transposes = (transpose,) if callable(transpose) else tuple(transpose)
    if len(places) != len(transposes) or not places or min(places) < 0:
        raise TypeError(
            f"argnums={argnums!r} and {len(transposes)} functions in transpose: give one for each argument,"
            " and arguments by their numbers from 0"
        )
    _add(LinearRule(function, places, transposes, when=when, parameters=parameters), table)


def implicit(
    solver: Callable[..., Any],
    residual: Callable[..., Any],
    *,
    when: When = None,
    table: RuleTable | None = None,
) -> None:
    """Declare that the result of `solver` is a root: ``residual(solver(*args), *args)`` is zero.

    The derivative of the result is that of the root, whatever computes it: nothing is differentiated in
    `solver`, which is called as it is, but the residual is, at the result.  What the residual reads
    (arguments, variables of functions that are given to the solver, attributes) may have derivatives.  The
    result is a number or an array, and the residual has as many numbers as the result.

    The slope at the root counts as a constant: the rule is for first derivatives.

    when: restricts the rule to calls for which ``when(*classes of the arguments)`` holds.  table: another
    table to add to than that of the public functions.

    Raises, when the derivative is taken, `adbc.errors.UnsupportedError` if the derivative of the residual by
    the result is singular, and if `solver` writes into what it is given.  The residual is called again,
    once more than the solver does, and once for each number of the result.

    >>> import adbc
    >>> def cube_root(a):
    ...     x = 1.0
    ...     while abs(x ** 3 - a) > 1e-12:
    ...         x = x - (x ** 3 - a) / (3.0 * x * x)
    ...     return x
    >>> adbc.implicit(cube_root, lambda x, a: x ** 3 - a)
    >>> round(adbc.grad(cube_root)(8.0), 9)
    0.083333333
    """
    _add(Overlay(solver, implicit_body(solver, residual), when=when), table)


def overlay(
    function: Callable[..., Any], *, when: When = None, table: RuleTable | None = None
) -> Callable[[F], F]:
    """Declare a Python body that is differentiated in place of `function`: ``overlay(function)(body)``.

    The body takes the arguments of `function` and returns what it returns; adbc derives the body, in both
    modes, and calls it in place of `function` wherever something is differentiated.  It suits functions in
    C that take callables or iterators.

    when: restricts the rule to calls for which ``when(*classes of the arguments)`` holds.  table: another
    table to add to than that of the public functions.

    >>> import functools, adbc
    >>> def power(x, n):
    ...     return functools.reduce(lambda y, _: y * x, range(n), 1.0)
    >>> @adbc.overlay(power)
    ... def _(x, n):
    ...     return x ** n
    >>> adbc.grad(power)(3.0, 2)
    6.0
    """

    def declare(body: F) -> F:
        _add(Overlay(function, body, when=when), table)
        return body

    return declare


def primitive(
    function: Callable[..., Any],
    *,
    frule: Callable[..., Any] | None = None,
    rrule: Callable[..., Any] | None = None,
    build: Callable[..., Any] | None = None,
    when: When = None,
    table: RuleTable | None = None,
) -> None:
    """Declare rules written by hand, in the public form.

    ``frule(Dual(f, df), Dual(x, dx), ...) -> Dual`` and
    ``rrule(CoDual(f, fdata), CoDual(x, fdata), ...) -> (CoDual, pullback)``, where
    ``pullback(rdata) -> (rdata of f, rdata of x, ...)`` restores what the call overwrote and
    increments fdata in place.  A mode that is not given is refused when it is asked for, with
    `adbc.errors.UnsupportedError`.

    build: makes the rules instead: ``build(*classes) -> (frule, rrule)``, either of them None.  It is called
    for each place in derived code that calls the function, once for each combination of classes there, so
    the rules may keep what the calls from that place share: buffers, or what is costly to find out.  Code
    that is written anew begins anew; calls that are decided when they run, or are interpreted because they
    have not run often, have no place of their own and share what was made for their classes.

    when: restricts the rule to calls for which ``when(*classes of the arguments)`` holds.  table: another
    table to add to than that of the public functions.

    Raises `TypeError` when a pullback returns another number of rdata than one for the function and one for
    each argument, and `adbc.errors.ConstWriteError` when a rule writes into an argument that is constant.

    >>> import adbc
    >>> def cube(x):
    ...     return x ** 3
    >>> def cube_rrule(f, x):
    ...     slope = 3.0 * x.primal ** 2
    ...     return adbc.CoDual(x.primal ** 3, adbc.NoFData()), lambda b: (adbc.NoRData(), slope * b)
    >>> adbc.primitive(cube, rrule=cube_rrule)
    >>> adbc.grad(cube)(2.0)
    12.0
    """
    if build is not None:
        if frule is not None or rrule is not None:
            raise TypeError("build makes the rules: give build, or frule and rrule")
        _add(_Built(function, build, when), table)
        return
    _add(_primitive(function, frule, rrule, when), table)


def _primitive(
    function: Callable[..., Any],
    frule: Callable[..., Any] | None,
    rrule: Callable[..., Any] | None,
    when: When = None,
) -> Primitive:
    return Primitive(
        function,
        frule=refusal(function, "forward") if frule is None else flat_frule(function, frule),
        rrule=refusal(function, "reverse") if rrule is None else flat_rrule(function, rrule),
        when=when,
    )


class _Built(Primitive):
    """The row whose rules `build` makes when they are first needed for classes of arguments.

    What is called from written code has a row for each call (`at_site`); what is decided when it runs, or
    interpreted, is nobody's call in particular, and shares this one.
    """

    def __init__(self, function: Callable[..., Any], build: Callable[..., Any], when: When) -> None:
        self.build = build
        self.made: dict[tuple[type, ...], Primitive] = {}
        super().__init__(
            function,
            frule=lambda args, dargs, kwargs: self.row_for(args).frule(args, dargs, kwargs),
            rrule=lambda args, fargs, kwargs: self.row_for(args).rrule(args, fargs, kwargs),
            when=when,
        )

    def row_for(self, args: Sequence[Any]) -> Primitive:
        """The row with the rules that were made for the classes of `args`."""
        classes = tuple(map(type, args))
        row = self.made.get(classes)
        if row is None:
            row = self.made.setdefault(classes, _primitive(self.function, *self.build(*classes)))
        return row

    def at_site(self) -> Primitive:
        return _Built(self.function, self.build, self.when)
