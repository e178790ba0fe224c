"""The rule of a function whose result solves an equation, whatever computes it: a root finder in C, a
bisection, a fixed point.

At a root x of r(x, p) = 0 the derivative follows from that of r alone, r_x dx + r_p dp = 0.  So the solver is
called as it is, on constants; the residual is computed once more at its result, as a constant x, which gives
r_p dp whatever the parameters p are (arguments, variables of a closure, attributes), in both modes; and the
slope r_x, a number or a matrix, is a constant that is solved with.

These are constants of one level only (`held`).  Where the derivative is differentiated itself, the root
moves, by the same rule, and so does the slope there: the formula holds at every p.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from typing import Any

from adbc.errors import UnsupportedError
from adbc.rules.declared import DeclaredZero
from adbc.rules.kinds import RowKind
from adbc.rules.solver_memory import Memory, Settled, Waiting, leaving_memory
from adbc.rules.table import NO_KWARGS, Args, Kwargs, Overlay, Primitive, Pullback, PureRule, Rule, ZeroRule
from adbc.tangents import fresh_shadow, fresh_tangent
from adbc.tangents.keys import CALL

__all__ = [
    "ENGINE",
    "ROWS",
    "Engine",
    "at_root",
    "directional",
    "each_root",
    "first_order",
    "fixed_jacobian",
    "found_by",
    "held",
    "implicit_body",
    "jacobian",
    "moving",
    "once",
    "root_of",
    "settle",
    "settled",
    "solved",
    "valued",
]


class Engine:
    """What rules need of the engine, which knows them: it gives it to them (`adbc.api`)."""

    jvp: Callable[..., tuple[Any, Any]]
    """`adbc.jvp`: the value and the tangent of a function that a solver is given."""
    grad: Callable[..., Callable[..., Any]]
    """`adbc.grad`: the gradient of what is minimised."""


ENGINE = Engine()


def _numpy() -> Any:
    return sys.modules["numpy"]  # loaded: there are arrays


# -- what is a constant of the derivative ----------------------------------------------------------------


def solved(solver: Callable[..., Any], args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:
    """``solver(*args, **kwargs)``, as a constant."""
    return solver(*args, **kwargs)


def found_by(solver: Callable[..., Any], args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:
    """``solver(*args, **kwargs)``, as a constant; what its functions have written is taken back until it is
    `settled`."""
    memory = Memory((*args, *kwargs.values()))
    found = solver(*args, **kwargs)
    waiting = Waiting(solver, memory)
    if waiting and CALL.memory is not None:
        memory.put_back()
        CALL.memory.solvers[id(found)] = found, waiting
    return found


def settle(found: Any, functions: Any) -> Settled | None:
    """Let memory stand as the solver has left it that has `found` this and was given `functions`; what was
    changed, as `Waiting.settle` has it, or None if nothing was."""
    known = None if CALL.memory is None else CALL.memory.solvers.pop(id(found), None)
    return None if known is None else known[1].settle()


def settled(found: Any, functions: Any, result: Any) -> Any:
    """`result`, that of the body of a solver, memory being as the solver has left it that was given
    `functions` and has `found` what leads there."""
    settle(found, functions)
    return result


def _called(f: Callable[..., Any], x: Any, args: tuple[Any, ...], kwargs: Any) -> Any:
    """``f(x, *args, **kwargs)``, by one function for all, for which the engine is quick."""
    return f(x, *args, **kwargs)


def held(f: Callable[..., Any], *args: Any) -> Any:
    """``f(*args)``, as a constant of the derivative that is taken: where that is differentiated itself, what
    `f` gives is not."""
    return f(*args)


def _of_its_own(f: Callable[..., Any], given: list[Any]) -> Any:
    """``f(*given)``, or a copy of that if it is an argument: what has a tangent of its own is memory of its
    own."""
    out = f(*given)
    return out.copy() if hasattr(type(out), "dtype") and any(out is x for x in given) else out


def _held_frule(args: Args, dargs: Args, kwargs: Kwargs = NO_KWARGS) -> tuple[Any, Any]:
    f, *given = args
    out = _of_its_own(f, given)
    return out, fresh_tangent(out)


def _held_rrule(args: Args, fargs: Args, kwargs: Kwargs = NO_KWARGS) -> tuple[Any, Any, Pullback]:
    f, *given = args
    out = _of_its_own(f, given)
    return out, fresh_shadow(out, active=False), lambda bout: (None,) * len(args)


def jacobian(f: Callable[..., Any], x: Any, args: tuple[Any, ...] = (), kwargs: Any = None) -> Any:
    """The derivative of ``f(x, *args, **kwargs)`` by `x`, as a constant (`held`): a float if `x` is one.  For
    an array (or a complex number) a matrix, with a column for each real number in `x`: real parts first, then
    imaginary parts, and rows likewise."""
    return held(slope_of, f, x, args, kwargs or {})


def fixed_jacobian(f: Callable[..., Any], x: Any) -> Any:
    """The derivative of ``f(x)`` by `x`, as `jacobian` gives it, as a constant of all derivatives."""
    return slope_of(f, x, (), {})


def slope_of(f: Callable[..., Any], x: Any, args: tuple[Any, ...], given: Any) -> Any:
    """The derivative of ``f(x, *args, **given)`` by `x`, which leaves memory as it was."""
    memory = Memory((f, *args, *given.values()))
    try:
        return _jacobian(f, x, args, given)
    finally:
        if memory.changed() or memory.rebound():
            _look_again(f, x, args, given)
            memory.put_back()


def _look_again(f: Callable[..., Any], x: Any, args: tuple[Any, ...], given: Any) -> None:
    """Find out which numbers `f` writes anew each time that it is called, where a solver has left some."""
    left = [] if CALL.memory is None else CALL.memory.solvers.values()
    known = [(waiting, numbers) for _, waiting in left if (numbers := waiting.numbers())]
    if known:
        f(x, *args, **given)
    for waiting, numbers in known:
        waiting.compare(numbers)


def _jacobian(f: Callable[..., Any], x: Any, args: tuple[Any, ...], given: Any) -> Any:
    if isinstance(x, float):
        return ENGINE.jvp(_called, (f, x, args, given), (None, type(x)(1.0), None, None))[1]
    np = _numpy()
    whole = np.asarray(x)
    columns = []
    for unit in (1.0, 1j) if whole.dtype.kind == "c" else (1.0,):
        for k in range(whole.size):
            direction = np.zeros(whole.size, whole.dtype)
            direction[k] = unit
            direction = direction.reshape(whole.shape)
            point = x if not isinstance(x, np.ndarray) else x.copy()
            _, column = ENGINE.jvp(_called, (f, point, args, given), (None, direction[()], None, None))
            columns.append(np.asarray(column).ravel())
    result = np.stack(columns, axis=1) if columns else np.zeros((0, 0))
    if whole.dtype.kind == "c":
        return np.concatenate([result.real, result.imag])
    return result


def directional(f: Callable[..., Any], args: tuple[Any, ...], place: int, direction: Any) -> Any:
    """The derivative of ``f(*args)`` by the argument at `place` in a direction, as a constant."""
    tangents = [None] * len(args)
    tangents[place] = direction
    with leaving_memory(f, *args):
        return ENGINE.jvp(f, args, tangents)[1]


# -- one step to the root --------------------------------------------------------------------------------


def at_root(x: Any, r: Any, slope: Any) -> Any:
    """The root `x` of a residual, whose value there is `r` and whose derivative by `x` is `slope`."""
    return x if isinstance(x, float | complex) else x.copy()


def valued(value: Any, like: Any) -> Any:
    """`value`, which was computed in another way than `like`, with the derivative of `like`."""
    return value if isinstance(value, float | complex) else value.copy()


def _step(slope: Any, d: Any, like: Any, adjoint: bool) -> Any:
    """The solution of ``slope y = -d``, or of the system with the adjoint, as what `like` is."""
    if isinstance(slope, float) and isinstance(like, float):
        if not slope:
            _refuse_singular()
        return -d / slope
    np = _numpy()
    flat = np.asarray(d).ravel()
    is_complex = np.iscomplexobj(like)
    if is_complex:
        flat = np.concatenate([flat.real, flat.imag])
    try:
        y = np.linalg.solve(slope.T if adjoint else slope, -flat)
    except np.linalg.LinAlgError:
        _refuse_singular()
    if is_complex:
        n = y.size // 2
        y = y[:n] + 1j * y[n:]
    return y.reshape(np.shape(like))[()]


def _refuse_singular() -> None:
    raise UnsupportedError(
        "the derivative of the equation that is solved is singular at its root",
        "a root where the residual only touches zero does not move smoothly with the parameters",
        "solve an equation that crosses zero, or pass the parameters as constants: adbc.stop_gradient(p)",
    )


def is_root(x: Any, r: Any, slope: Any) -> bool:
    """Whether `x` is, but for small digits, a root of what is `r` there and has this derivative.  One that
    is NaN says so itself."""
    np = _numpy()
    if not np.size(x):
        return True
    try:
        move = _step(slope, r, x, False)
    except UnsupportedError:  # which is said where a derivative is divided by the slope
        return True
    return not np.max(np.abs(move)) > 1e-2 * np.max(np.abs(x)) + 1e-4


def root_of(x: Any, residual: Callable[..., Any], args: tuple[Any, ...], kwargs: Any = None) -> Any:
    """The constant `x`, with the derivative of the root of ``residual(x, *args, **kwargs)`` that it is;
    refused where it is none, as that of a search that has ended before."""
    given = {} if kwargs is None else kwargs
    x = moving(x, residual, args, given)
    slope = jacobian(residual, x, args, given)
    r = residual(x, *args, **given)
    if not isinstance(x, float):
        r = _numpy().asarray(r)
    if not is_root(x, r, slope):
        raise UnsupportedError(
            "what a solver gives is no root of its equation",
            "the search has not reached one, so it does not move with the parameters as a root does",
            "ask the solver whether it has converged, begin nearer to the root, search longer, or pass"
            " constants: adbc.stop_gradient(p)",
        )
    return at_root(x, r, slope)


def moving(x: Any, residual: Callable[..., Any], args: tuple[Any, ...], kwargs: Any) -> Any:
    """The root `x` of ``residual(x, *args, **kwargs)``, as a constant (`held`)."""
    return held(_again, x, residual, args, kwargs)


def _again(x: Any, residual: Callable[..., Any], args: tuple[Any, ...], kwargs: Any) -> Any:
    """The root `x`, which moves where the derivative is differentiated that has it for a constant."""
    return x


def each_root(x: Any, value: Callable[..., Any], slope: Callable[..., Any]) -> Any:
    """The constants in the array `x`, each with the derivative of the root that it is of its own equation,
    whose residuals are ``value(x)`` and have there the derivatives ``slope(x)``."""
    x = held(_each_again, x, value, slope)
    return valued(x, x - value(x) / held(slope, x))


def _each_again(x: Any, value: Callable[..., Any], slope: Callable[..., Any]) -> Any:
    """The roots in `x`, which move where the derivative is differentiated that has them for constants."""
    return x


def implicit_body(solver: Callable[..., Any], residual: Callable[..., Any]) -> Callable[..., Any]:
    """The body that is differentiated in place of `solver`."""

    def body(*args: Any, **kwargs: Any) -> Any:
        found = found_by(solver, args, kwargs)
        return settled(found, (residual, args, kwargs), root_of(found, residual, args, kwargs))

    return body


# -- the first derivative only -----------------------------------------------------------------------------


def once(x: Any, function: Any) -> Any:
    """The array `x`, the first derivative of which is right, where `function` is differentiated; where that
    is differentiated itself, it is refused."""
    return x.copy()


def _once(d: Any, out: Any, x: Any, function: Any) -> Any:
    first_order(function)
    return d


def first_order(function: Any) -> None:
    """Nothing; where it is differentiated itself, in a derivative of a derivative, that is refused."""


def _refuse_second_order(function: Any) -> None:
    name = getattr(function, "__qualname__", None) or type(function).__name__
    raise UnsupportedError(
        f"a second derivative is taken through {name}",
        "its rule gives the first derivative of what is found, and takes the slope there for a constant",
        "take the second derivative by differences of the first: (g(x + h) - g(x - h)) / (2 * h)",
    )


class _Settling(Rule):
    """The row of `settle`.  What was written in the calls that are differentiated stands there again when
    their pullbacks run."""

    kind = RowKind.PRIMITIVE
    is_apart = True
    puts_in_step = True


ROWS: list[Rule] = [
    DeclaredZero(solved),
    DeclaredZero(found_by),
    Primitive(held, frule=_held_frule, rrule=_held_rrule),
    Overlay(_again, root_of),
    Overlay(_each_again, each_root),
    Overlay(slope_of, _jacobian),
    _Settling(settle),
    ZeroRule(is_root),
    DeclaredZero(fixed_jacobian),
    DeclaredZero(directional),
    Overlay(first_order, _refuse_second_order),
    PureRule(once, jvp=(_once,), vjp=(_once,)),
    PureRule(
        at_root,
        jvp=(lambda d, *_: d, lambda d, x, _, r, slope: _step(slope, d, x, False)),
        vjp=(lambda by, *_: by, lambda by, x, _, r, slope: _step(slope, by, x, True)),
    ),
    PureRule(valued, jvp=(None, lambda d, *_: d), vjp=(None, lambda by, *_: by)),
]
