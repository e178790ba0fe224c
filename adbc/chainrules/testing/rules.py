"""`test_scalar`, `test_frule`, `test_rrule`: a rule against finite differences, and against its contract.

Each argument is moved alone, in two random directions: a cotangent that goes to the wrong argument, or to
none, cannot be made up for by another.
"""

from __future__ import annotations

import copy
import math
import random
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from adbc.chainrules.arrays import has, is_array, loaded, shape_of
from adbc.chainrules.configs import RuleConfig
from adbc.chainrules.project import ProjectTo
from adbc.chainrules.registry import registry
from adbc.chainrules.rules import Pullback, frule, rrule
from adbc.chainrules.structured import Tangent, move, parts_of
from adbc.chainrules.testing.finite import CentralDifferences, central_fdm
from adbc.chainrules.testing.tangents import (
    PrimalAndTangent,
    inner,
    problem_of,
    rand_tangent,
)
from adbc.chainrules.thunks import InplaceableThunk, Thunk, unthunk
from adbc.chainrules.zeros import NoTangent, NotImplementedTangent, ZeroTangent

__all__ = ["test_frule", "test_rrule", "test_scalar"]

Rule = Callable[..., Any]


class _Case:
    """A function, its arguments, and how exact the differences have to be."""

    def __init__(
        self,
        f: Any,
        args: Sequence[Any],
        kwargs: Mapping[str, Any] | None,
        rng: random.Random | int | None,
        rtol: float,
        atol: float,
        fdm: CentralDifferences | None,
    ) -> None:
        self.rng = rng if isinstance(rng, random.Random) else random.Random(20240229 if rng is None else rng)
        self.function = f.primal if isinstance(f, PrimalAndTangent) else f
        self.name = getattr(self.function, "__qualname__", None) or repr(self.function)
        everything = [f, *args]
        self.values = [a.primal if isinstance(a, PrimalAndTangent) else a for a in everything]
        self.given = [a.tangent if isinstance(a, PrimalAndTangent) else None for a in everything]
        self.kwargs = dict(kwargs or {})
        self.fdm = fdm if fdm is not None else central_fdm(5, 1, max_step=1e-2)
        coarse = any(_is_coarse(v) for v in self.values)
        self.rtol, self.atol = (max(rtol, 2e-2), max(atol, 2e-2)) if coarse else (rtol, atol)
        self.out = self.call(self.values)

    def copies(self) -> list[Any]:
        """The function and the arguments, copied, but for what cannot be or need not."""
        return [
            x if (callable(x) and not hasattr(x, "__dict__")) or _is_function(x) else copy.deepcopy(x)
            for x in self.values
        ]

    def call(self, values: Sequence[Any]) -> Any:
        """What the function gives for copies of these values."""
        f, *args = (v if _is_function(v) else copy.deepcopy(v) for v in values)
        return f(*args, **self.kwargs)

    def fail(self, message: str) -> AssertionError:
        """The error that says so."""
        return AssertionError(f"{self.name}: {message}")

    def tangent(self, i: int) -> Any:
        """A direction in which value `i` is moved."""
        return rand_tangent(self.values[i], self.rng) if self.given[i] is None else self.given[i]

    def active(self) -> list[int]:
        """The values that have tangents."""
        return [
            i
            for i, (x, t) in enumerate(zip(self.values, self.given, strict=True))
            if not isinstance(t, NoTangent) and ProjectTo(x).is_differentiable
        ]

    def place(self, i: int) -> str:
        """What value `i` is called."""
        return "the function" if i == 0 else f"argument {i - 1}"

    def differences(self, i: int, t: Any, cotangent: Any) -> tuple[float, float]:
        """The derivative of ``<cotangent, f(...)>`` as value `i` moves along `t`, and how sure that is."""

        def along(h: float) -> float:
            moved = [*self.values[:i], move(self.values[i], t * h), *self.values[i + 1 :]]
            return inner(cotangent, _as_tangent(self.call(moved)))

        found = self.fdm.estimate(along)
        return float(found.value), found.error

    def is_near(self, a: float, b: float, size: float, error: float) -> bool:
        """Whether an inner product and its differences agree; `size`: of what was added up."""
        return abs(a - b) <= self.atol + self.rtol * max(abs(b), size) + error

    def check_value(self, y: Any, kind: str) -> None:
        """Raise unless `y` is what the function gives."""
        problem = problem_of(_as_tangent(y), _as_tangent(self.out), 1e-12, 1e-12)
        if problem is None and type(y) is not type(self.out):
            problem = f"a {type(y).__name__} is not a {type(self.out).__name__}"
        if problem is not None:
            raise self.fail(f"the {kind} gives another value than the function: {problem}")

    def check_untouched(self, before: Sequence[Any], after: Sequence[Any], what: str) -> None:
        """Raise if a value has been changed."""
        for i, (x, y) in enumerate(zip(before, after, strict=True)):
            if not _is_function(x) and problem_of(_as_tangent(x), _as_tangent(y), 0.0, 0.0) is not None:
                raise self.fail(f"{what} changes {self.place(i)}")


def _is_function(x: Any) -> bool:
    return callable(x) and not isinstance(x, PrimalAndTangent) and type(x).__name__ in _FUNCTIONS


_FUNCTIONS = frozenset(
    {"function", "builtin_function_or_method", "ufunc", "type", "method_descriptor",
     "_ArrayFunctionDispatcher", "wrapper_descriptor", "_CFuncPtr", "method"}
)  # fmt: skip


def _is_coarse(x: Any) -> bool:
    """Whether numbers of `x` have less than double precision: differences are as coarse."""
    if has(x, "dtype"):
        return str(x.dtype) in ("float32", "float16", "complex64")
    return any(map(_is_coarse, (parts_of(x) or {}).values())) if not _is_function(x) else False


def _as_tangent(y: Any) -> Any:
    """A value as a point of its tangent space: its parts in a `Tangent`, what has no tangent left out."""
    if has(y, "dtype") or isinstance(y, int | float | complex):
        return y
    parts = None if _is_function(y) or isinstance(y, Tangent) else parts_of(y)
    if parts is None:
        return y
    return Tangent.of(type(y), {key: _as_tangent(part) for key, part in parts.items()})


# -- forward ----------------------------------------------------------------------------------------------


def test_frule(
    f: Any,
    *args: Any,
    kwargs: Mapping[str, Any] | None = None,
    rule: Rule | None = None,
    config: RuleConfig | None = None,
    rng: random.Random | int | None = None,
    rtol: float = 1e-7,
    atol: float = 1e-7,
    fdm: CentralDifferences | None = None,
) -> None:
    """Check the rule of forward mode of `f` at `args`; raise `AssertionError` that says what is wrong.

    The value is that of the function; the tangent is that of finite differences, for each argument alone, the
    others having `ZeroTangent`, and for all together; it has the shape and dtype of the value; arguments and
    tangents are left as they are; a second run gives the same.

    args: values, or `primal_with_tangent`.  rule: what to test instead of the rule that is declared.

    >>> import math
    >>> from adbc.chainrules.testing import test_frule
    >>> def rule(tangents, f, x):
    ...     return math.sin(x), math.cos(x) * tangents[1]
    >>> test_frule(math.sin, 0.7, rule=rule)
    """
    case = _Case(f, args, kwargs, rng, rtol, atol, fdm)
    active = case.active()
    choices = [[i] for i in active for _ in range(2)] + ([active] if len(active) > 1 else [])
    for chosen in choices:
        tangents = tuple(
            case.tangent(i) if i in chosen else (ZeroTangent() if i in active else NoTangent())
            for i in range(len(case.values))
        )
        _check_frule(case, tangents, chosen, rule, config)


def _check_frule(
    case: _Case, tangents: tuple[Any, ...], chosen: list[int], rule: Rule | None, config: RuleConfig | None
) -> None:
    function, *args = case.copies()
    kept = copy.deepcopy(tangents)

    def run() -> Any:
        if rule is not None:
            return rule(tangents, function, *args, **case.kwargs)
        front = () if config is None else (config,)
        return frule(*front, tangents, function, *args, **case.kwargs)

    found = run()
    if found is None:
        raise case.fail("there is no frule")
    if not isinstance(found, tuple) or len(found) != 2:
        raise case.fail(f"the frule gives {found!r:.80}; it gives (y, dy)")
    y, dy = found
    case.check_value(y, "frule")
    case.check_untouched(case.values, [function, *args], "the frule")
    if problem_of(Tangent(tuple, *tangents), Tangent(tuple, *kept), 0.0, 0.0) is not None:
        raise case.fail("the frule changes a tangent that it is given")
    first = copy.deepcopy(unthunk(dy))
    _check_space(case, dy, case.out, "the tangent of the result")
    again = run()
    if problem_of(again[1], first, 0.0, 0.0) or problem_of(dy, first, 0.0, 0.0):
        raise case.fail("the frule gives something else when it runs again, or changes what it gave")
    if isinstance(first, NotImplementedTangent):
        first.raise_error(case.name)
    cotangent = rand_tangent(case.out, case.rng)
    actual, size = inner(cotangent, first), abs(inner(cotangent, first))
    expected, error = 0.0, 0.0
    for i in chosen:
        part, unsure = case.differences(i, tangents[i], cotangent)
        expected, error, size = expected + part, error + unsure, size + abs(part)
    if not case.is_near(actual, expected, size, error):
        where = " and ".join(case.place(i) for i in chosen)
        raise case.fail(
            f"the frule gives a derivative of {actual!r} along {where}, finite differences {expected!r}"
        )


# -- reverse ----------------------------------------------------------------------------------------------


def test_rrule(
    f: Any,
    *args: Any,
    kwargs: Mapping[str, Any] | None = None,
    rule: Rule | None = None,
    config: RuleConfig | None = None,
    output_tangent: Any = None,
    rng: random.Random | int | None = None,
    rtol: float = 1e-7,
    atol: float = 1e-7,
    fdm: CentralDifferences | None = None,
) -> None:
    """Check the rule of reverse mode of `f` at `args`; raise `AssertionError` that says what is wrong.

    The value is that of the function.  The pullback gives 1 + n cotangents; that of a plain function is none;
    those of ints, flags and texts are `NoTangent`, those of numbers and arrays have their shape and dtype;
    the inner product with a tangent is that of finite differences, for each argument alone.  A cotangent that
    comes as a thunk gives the same; an `InplaceableThunk` adds what it computes.  Arguments, value and
    cotangent are left as they are; the pullback runs twice, and what it gave first stays; what it gives is
    not the memory of an argument.

    args: values, or `primal_with_tangent`.  rule: what to test instead of the rule that is declared.

    >>> import math
    >>> from adbc import chainrules as cr
    >>> from adbc.chainrules.testing import test_rrule
    >>> def rule(f, x):
    ...     return math.sin(x), lambda dy: (cr.NoTangent(), math.cos(x) * dy)
    >>> test_rrule(math.sin, 0.7, rule=rule)
    """
    case = _Case(f, args, kwargs, rng, rtol, atol, fdm)
    function, *given = case.copies()
    if rule is not None:
        found = rule(function, *given, **case.kwargs)
    elif config is not None:
        found = rrule(config, function, *given, **case.kwargs)
    else:
        found = rrule.call(function, *given, **case.kwargs)
    if found is None:
        raise case.fail("there is no rrule")
    if not isinstance(found, tuple) or len(found) != 2 or not callable(found[1]):
        raise case.fail(f"the rrule gives {found!r:.80}; it gives (y, pullback)")
    y, pullback = found[0], found[1]
    case.check_value(y, "rrule")
    case.check_untouched(case.values, [function, *given], "the rrule")
    kind = _kind(case) if rule is None else "rule"
    for _ in range(2):
        cotangent = rand_tangent(case.out, case.rng) if output_tangent is None else output_tangent
        _check_pullback(case, y, pullback, cotangent, [function, *given], kind)


def _kind(case: _Case) -> str:
    """The kind of the declaration: for a scalar rule ints are numbers, where it is "zero" nothing is."""
    found = registry.find(case.function, "reverse", tuple(map(type, case.values[1:])))
    return "rule" if found is None else found.kind


def _check_pullback(
    case: _Case,
    y: Any,
    pullback: Callable[[Any], Any],
    cotangent: Any,
    values: Sequence[Any],
    kind: str,
) -> None:
    value, kept = copy.deepcopy(_as_tangent(y)), copy.deepcopy(cotangent)
    count = len(case.values)
    try:
        found = pullback(cotangent)
    except TypeError as error:
        if isinstance(pullback, Pullback) and "the pullback of" in str(error):
            raise case.fail(str(error)) from error
        raise
    if not isinstance(found, tuple) or len(found) != count:
        raise case.fail(
            f"the pullback gives {found!r:.80}; it gives {count} cotangents: that of the function first"
        )
    for i, (x, t) in enumerate(zip(values, found, strict=True)):
        _check_cotangent(case, i, x, t, kind)
    first = [copy.deepcopy(unthunk(t)) for t in found]
    case.check_untouched(case.values, values, "the pullback")
    if problem_of(_as_tangent(y), value, 0.0, 0.0):
        raise case.fail("the pullback changes the result")
    if problem_of(cotangent, kept, 0.0, 0.0):
        raise case.fail("the pullback changes the cotangent that it is given")

    again = pullback(cotangent)
    for i, (a, b, c) in enumerate(zip(found, first, again, strict=True)):
        if problem_of(c, b, 1e-12, 1e-12) is not None:
            raise case.fail(f"a second run gives another cotangent of {case.place(i)}")
        if problem_of(a, b, 0.0, 0.0) is not None:
            raise case.fail(f"a second run changes the cotangent of {case.place(i)} that the first gave")
    lazily = pullback(Thunk(lambda: cotangent))
    for i, (b, c) in enumerate(zip(first, lazily, strict=True)):
        problem = problem_of(c, b, 1e-12, 1e-12)
        if problem is not None:
            raise case.fail(f"a thunk as cotangent gives another cotangent of {case.place(i)}: {problem}")
    _check_numbers(case, first, cotangent)


def _check_cotangent(case: _Case, i: int, x: Any, t: Any, kind: str) -> None:
    """Raise unless `t` is a cotangent of `x`, of which value `i` is a copy."""
    where = f"the cotangent of {case.place(i)}"
    if isinstance(t, InplaceableThunk):
        _check_in_place(case, t, x, where)
    value = unthunk(t)
    if i == 0 and not isinstance(value, NoTangent | ZeroTangent) and not ProjectTo(x).is_differentiable:
        raise case.fail(f"{where} is {value!r:.60}: a function without state has none, NoTangent()")
    if not ProjectTo(x).is_differentiable:
        if kind == "scalar" and type(x) in (int, bool):
            return
        if not isinstance(value, NoTangent | ZeroTangent):
            raise case.fail(f"{where}, a {type(x).__name__}, is {value!r:.60}: it has none, NoTangent()")
        return
    if isinstance(value, NoTangent):
        if kind == "zero":
            return
        raise case.fail(f"{where} is NoTangent(), but it has tangents; ZeroTangent() is for a zero")
    _check_space(case, value, x, where)
    _check_memory(case, value, x, where)


def _check_space(case: _Case, t: Any, x: Any, where: str) -> None:
    """Raise unless the tangent `t` has the shape and dtype of `x`, and its parts."""
    t = unthunk(t)
    if isinstance(t, NoTangent | ZeroTangent | NotImplementedTangent):
        return
    if has(x, "dtype") or isinstance(x, float | complex):
        if isinstance(t, Tangent) or not (has(t, "dtype") or isinstance(t, int | float | complex)):
            raise case.fail(f"{where} is {t!r:.60}, no number and no array")
        if shape_of(t) != shape_of(x):
            raise case.fail(f"{where} has shape {shape_of(t)}, it should have {shape_of(x)}")
        if is_array(x) != is_array(t) and shape_of(x) != ():
            raise case.fail(f"{where} is a {type(t).__name__}, it should be a {type(x).__name__}")
        if isinstance(x, float) and not has(x, "dtype") and isinstance(t, complex):
            raise case.fail(f"{where} is complex, but it is real")
        if has(x, "dtype") and x.dtype.kind in "fc" and has(t, "dtype") and t.dtype != x.dtype:
            raise case.fail(f"{where} has dtype {t.dtype}, it should have {x.dtype}")
        return
    parts = parts_of(x) or {}
    if isinstance(t, tuple | list | dict) and isinstance(x, tuple | list | dict):
        t = ProjectTo(x)(t)
    given = t._parts if isinstance(t, Tangent) else parts_of(t)
    if not isinstance(t, Tangent) or given is None or not set(given) <= set(parts):
        raise case.fail(f"{where} is {t!r:.60}; it should be a Tangent with the parts {list(parts)!r:.60}")
    for key, part in given.items():
        _check_space(case, part, parts[key], f"{where} at {key!r}")


def _check_memory(case: _Case, t: Any, x: Any, where: str) -> None:
    numpy = loaded()
    if numpy is None:
        return
    for other in [x, *case.values]:
        if is_array(t) and is_array(other) and t.size and numpy.shares_memory(t, other):
            raise case.fail(f"{where} is the memory of an argument: who adds to it changes the argument")


def _check_in_place(case: _Case, t: InplaceableThunk, x: Any, where: str) -> None:
    """Raise unless ``t.add_into`` adds what `t` computes to the buffer it is given."""
    buffer = rand_tangent(x, case.rng)
    expected = buffer + unthunk(copy.copy(t))
    given = copy.deepcopy(buffer)
    added = t.add_into(given)
    if is_array(given) and added is not given:
        raise case.fail(f"{where}: add_into does not return the buffer that it is given")
    problem = problem_of(added, expected, 1e-12, 1e-12)
    if problem is not None:
        raise case.fail(f"{where}: add_into does not add what the thunk computes: {problem}")


def _check_numbers(case: _Case, found: Sequence[Any], cotangent: Any) -> None:
    for i in case.active():
        if isinstance(found[i], NotImplementedTangent):
            if case.given[i] is None:
                raise case.fail(
                    f"the derivative by {case.place(i)} is not implemented ({found[i].reason}); give it with"
                    " primal_with_tangent(x, NoTangent()) to leave it out"
                )
            continue
        for _ in range(2):
            t = case.tangent(i)
            expected, error = case.differences(i, t, cotangent)
            actual = inner(found[i], t)
            size = _norm(found[i]) * _norm(t)
            if not case.is_near(actual, expected, min(size, abs(expected) + 1.0), error):
                raise case.fail(
                    f"the cotangent of {case.place(i)} gives {actual!r} along a tangent, finite differences"
                    f" {expected!r}"
                )


def _norm(t: Any) -> float:
    return math.sqrt(inner(t, t))


# -- scalars ----------------------------------------------------------------------------------------------


def test_scalar(
    f: Callable[..., Any],
    x: Any,
    *,
    rng: random.Random | int | None = None,
    rtol: float = 1e-9,
    atol: float = 1e-9,
    fdm: CentralDifferences | None = None,
) -> None:
    """Check both rules of a function of one number, real or complex, at `x`, against finite differences.

    >>> import math
    >>> from adbc import chainrules as cr
    >>> from adbc.chainrules.testing import test_scalar
    >>> with cr.scoped():
    ...     _ = cr.scalar_rule(math.sin, lambda out, x: math.cos(x))
    ...     test_scalar(math.sin, 0.7)
    """
    values = [x] if not isinstance(x, int) else [x, float(x)]
    for value in values:
        options: dict[str, Any] = {"rng": rng, "rtol": rtol, "atol": atol, "fdm": fdm}
        test_frule(f, value, **options)
        test_rrule(f, value, **options)
    if frule((NoTangent(), ZeroTangent()), f, x) is None:
        raise AssertionError(f"{f!r}: there is no frule")


# These are tools, not tests: pytest is told not to collect them where they are imported.
test_scalar.__test__ = False  # type: ignore[attr-defined]
test_frule.__test__ = False  # type: ignore[attr-defined]
test_rrule.__test__ = False  # type: ignore[attr-defined]
