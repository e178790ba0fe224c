"""The tester passes right rules, and sees each way in which a rule can be wrong, naming the step."""

from __future__ import annotations

import dataclasses
import enum
import functools
import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pytest

import adbc
from adbc import chainrules
from adbc.tangents import NO_FDATA, NO_RDATA, NO_TANGENT, CoDual, Dual
from adbc.testing import test_rule
from adbc.testing.orders import derivatives

# Each function comes with right rules, written out by hand in the public form.


def sin_frule(f: Dual, x: Dual) -> Dual:
    return Dual(math.sin(x.primal), math.cos(x.primal) * x.tangent)


def sin_rrule(f: CoDual, x: CoDual) -> Any:
    partial = math.cos(x.primal)
    return CoDual(math.sin(x.primal), NO_FDATA), lambda by: (NO_RDATA, by * partial)


def square_in_place(u: np.ndarray) -> float:
    """u <- u*u in place; the old sum is returned."""
    total = float(u.sum())
    u *= u
    return total


def square_frule(f: Dual, u: Dual) -> Dual:
    dtotal = float(u.tangent.sum())
    u.tangent *= 2.0 * u.primal
    return Dual(square_in_place(u.primal), dtotal)


def square_rrule(f: CoDual, u: CoDual) -> Any:
    x, fx = u.primal, u.fdata
    old = x.copy()
    y = square_in_place(x)

    def square_pullback(by: float) -> Any:
        x[:] = old
        fx[:] = 2.0 * old * fx + by
        return NO_RDATA, NO_RDATA

    return CoDual(y, NO_FDATA), square_pullback


def weigh(pair: tuple[float, list[float]], shared: list[float]) -> list[float]:
    """A tuple of a number and a list; a new list comes out."""
    return [pair[0] * pair[1][0] + shared[0], pair[1][1]]


def weigh_frule(f: Dual, pair: Dual, shared: Dual) -> Dual:
    (a, b), (da, db) = pair.primal, pair.tangent
    dy = [da * b[0] + a * db[0] + shared.tangent[0], db[1]]
    return Dual(weigh(pair.primal, shared.primal), dy)


def weigh_rrule(f: CoDual, pair: CoDual, shared: CoDual) -> Any:
    (a, b), (_, fb) = pair.primal, pair.fdata
    fs = shared.fdata
    y = CoDual(weigh(pair.primal, shared.primal), [0.0, 0.0])

    def weigh_pullback(by: Any) -> Any:
        first, second = y.fdata
        fb[0] += a * first
        fb[1] += second
        fs[0] += first
        return NO_RDATA, (b[0] * first, NO_RDATA), NO_RDATA

    return y, weigh_pullback


def head(x: list[list[float]]) -> list[float]:
    """The output is a part of the argument."""
    return x[0]


def head_frule(f: Dual, x: Dual) -> Dual:
    return Dual(x.primal[0], x.tangent[0])


def head_rrule(f: CoDual, x: CoDual) -> Any:
    return CoDual(x.primal[0], x.fdata[0]), lambda by: (NO_RDATA, NO_RDATA)


def count(x: float, n: int) -> int:
    return n + 1


def count_frule(f: Dual, x: Dual, n: Dual) -> Dual:
    return Dual(count(x.primal, n.primal), NO_TANGENT)


def count_rrule(f: CoDual, x: CoDual, n: CoDual) -> Any:
    return CoDual(count(x.primal, n.primal), NO_FDATA), lambda by: (NO_RDATA, 0.0, NO_RDATA)


SHARED = [2.0, 3.0]
MEMORY = np.array([0.5, -1.5, 2.0])
RIGHT: dict[str, tuple[Any, ...]] = {
    "sin": (math.sin, sin_frule, sin_rrule, 0.7),
    "square": (square_in_place, square_frule, square_rrule, MEMORY),
    "square of a view": (square_in_place, square_frule, square_rrule, MEMORY[::-2]),
    "weigh": (weigh, weigh_frule, weigh_rrule, (5.0, [1.0, 2.0]), [3.0]),
    "weigh, aliased": (weigh, weigh_frule, weigh_rrule, (5.0, SHARED), SHARED),
    "head": (head, head_frule, head_rrule, [[1.0, 2.0], [3.0]]),
    "count": (count, count_frule, count_rrule, 1.0, 3),
}


@pytest.mark.parametrize("name", RIGHT)
def test_right_rules_pass(name: str) -> None:
    f, frule, rrule, *args = RIGHT[name]
    test_rule(f, *args, frule=frule, rrule=rrule)


def test_arguments_are_left_alone() -> None:
    u = np.array([1.0, 2.0])
    test_rule(square_in_place, u, frule=square_frule, rrule=square_rrule)
    assert u.tolist() == [1.0, 2.0]


def test_single_precision_has_its_own_tolerance() -> None:
    u = np.array([0.5, -1.5, 2.0], np.float32)
    test_rule(square_in_place, u, frule=square_frule, rrule=square_rrule)


def test_a_mode_can_be_left_out() -> None:
    test_rule(math.sin, 0.3, frule=sin_frule, modes=["forward"])
    test_rule(math.sin, 0.3, rrule=sin_rrule, modes=["reverse"])


# -- wrong rules -----------------------------------------------------------------------------------


def sign_error_frule(f: Dual, x: Dual) -> Dual:
    return Dual(math.sin(x.primal), -math.cos(x.primal) * x.tangent)


def sign_error_rrule(f: CoDual, x: CoDual) -> Any:
    partial = -math.cos(x.primal)
    return CoDual(math.sin(x.primal), NO_FDATA), lambda by: (NO_RDATA, by * partial)


def slightly_off_rrule(f: CoDual, x: CoDual) -> Any:
    partial = math.cos(x.primal) * (1 + 1e-9)
    return CoDual(math.sin(x.primal), NO_FDATA), lambda by: (NO_RDATA, by * partial)


def wrong_value_frule(f: Dual, x: Dual) -> Dual:
    return Dual(math.sin(x.primal) + 1e-9, math.cos(x.primal) * x.tangent)


def wrong_type_frule(f: Dual, x: Dual) -> Dual:
    return Dual(math.sin(x.primal), np.float64(math.cos(x.primal) * x.tangent))


def not_linear_frule(f: Dual, x: Dual) -> Dual:
    return Dual(math.sin(x.primal), math.cos(x.primal) * x.tangent + (x.tangent == 0.0))


def no_box_frule(f: Dual, x: Dual) -> Any:
    return math.sin(x.primal), math.cos(x.primal) * x.tangent


def too_few_rrule(f: CoDual, x: CoDual) -> Any:
    partial = math.cos(x.primal)
    return CoDual(math.sin(x.primal), NO_FDATA), lambda by: (by * partial,)


def no_tuple_rrule(f: CoDual, x: CoDual) -> Any:
    partial = math.cos(x.primal)
    return CoDual(math.sin(x.primal), NO_FDATA), lambda by: [NO_RDATA, by * partial]


def wrong_rdata_rrule(f: CoDual, x: CoDual) -> Any:
    return CoDual(math.sin(x.primal), NO_FDATA), lambda by: (NO_RDATA, NO_RDATA)


def wrong_fdata_rrule(f: CoDual, x: CoDual) -> Any:
    partial = math.cos(x.primal)
    return CoDual(math.sin(x.primal), 0.0), lambda by: (NO_RDATA, by * partial)


STATE: list[float] = []


def shared_state_rrule(f: CoDual, x: CoDual) -> Any:
    STATE[:] = [math.cos(x.primal)]
    return CoDual(math.sin(x.primal), NO_FDATA), lambda by: (NO_RDATA, by * STATE[0])


CALLS = [0]


def stale_rrule(f: CoDual, x: CoDual) -> Any:
    """Keeps the partial of the first call."""
    CALLS[0] += 1
    partial = math.cos(x.primal) * (1.0 if CALLS[0] <= 2 else 2.0)
    return CoDual(math.sin(x.primal), NO_FDATA), lambda by: (NO_RDATA, by * partial)


def drifting_frule(f: Dual, x: Dual) -> Dual:
    """Off by a little more from call to call, and by less than differences see."""
    CALLS[0] += 1
    return Dual(math.sin(x.primal), math.cos(x.primal) * x.tangent * (1.0 + 1e-8 * CALLS[0]))


def rounding_frule(f: Dual, x: Dual) -> Dual:
    """As a sum of terms that cancel, in memory that is aligned otherwise from call to call."""
    CALLS[0] += 1
    return Dual(math.sin(x.primal), math.cos(x.primal) * x.tangent + 1e-16 * (-1) ** CALLS[0] * x.tangent)


STACK: list[float] = []


def stack_rrule(f: CoDual, x: CoDual) -> Any:
    """Right as long as pullbacks run in the reverse order of calls, and all of them do."""
    STACK.append(math.cos(x.primal))
    return CoDual(math.sin(x.primal), NO_FDATA), lambda by: (NO_RDATA, by * STACK.pop())


def square_not_restoring_rrule(f: CoDual, u: CoDual) -> Any:
    x, fx = u.primal, u.fdata
    old = x.copy()
    y = square_in_place(x)

    def square_pullback(by: float) -> Any:
        fx[:] = 2.0 * old * fx + by
        return NO_RDATA, NO_RDATA

    return CoDual(y, NO_FDATA), square_pullback


def square_dropping_rrule(f: CoDual, u: CoDual) -> Any:
    """Right only for zero shadows of what it overwrites: forgets the cotangent of the new state."""
    x, fx = u.primal, u.fdata
    old = x.copy()
    y = square_in_place(x)

    def square_pullback(by: float) -> Any:
        x[:] = old
        fx[:] = by
        return NO_RDATA, NO_RDATA

    return CoDual(y, NO_FDATA), square_pullback


def square_from_zero_rrule(f: CoDual, u: CoDual) -> Any:
    """Right only if the shadow is zero before the call: takes what it holds then for cotangent."""
    x, fx = u.primal, u.fdata
    old, noise = x.copy(), fx.copy()
    y = square_in_place(x)

    def square_pullback(by: float) -> Any:
        x[:] = old
        fx[:] = 2.0 * old * (fx - noise) + by
        return NO_RDATA, NO_RDATA

    return CoDual(y, NO_FDATA), square_pullback


def square_untouched_frule(f: Dual, u: Dual) -> Dual:
    """Forgets the tangent of the mutated argument."""
    dtotal = float(u.tangent.sum())
    return Dual(square_in_place(u.primal), dtotal)


def square_copying_frule(f: Dual, u: Dual) -> Dual:
    """Forgets to mutate."""
    dtotal = float(u.tangent.sum())
    u.tangent *= 2.0 * u.primal
    return Dual(float(u.primal.sum()), dtotal)


def weigh_overwriting_rrule(f: CoDual, pair: CoDual, shared: CoDual) -> Any:
    (a, b), (_, fb) = pair.primal, pair.fdata
    fs = shared.fdata
    y = CoDual(weigh(pair.primal, shared.primal), [0.0, 0.0])

    def weigh_pullback(by: Any) -> Any:
        first, second = y.fdata
        fb[0] = a * first
        fb[1] = second
        fs[0] += first
        return NO_RDATA, (b[0] * first, NO_RDATA), NO_RDATA

    return y, weigh_pullback


BUFFER = [0.0, 0.0]


def weigh_buffer_rrule(f: CoDual, pair: CoDual, shared: CoDual) -> Any:
    """One buffer is the shadow of every output."""
    BUFFER[:] = [0.0, 0.0]
    (a, b), (_, fb) = pair.primal, pair.fdata
    fs = shared.fdata
    y = CoDual(weigh(pair.primal, shared.primal), BUFFER)

    def weigh_pullback(by: Any) -> Any:
        first, second = y.fdata
        fb[0] += a * first
        fb[1] += second
        fs[0] += first
        return NO_RDATA, (b[0] * first, NO_RDATA), NO_RDATA

    return y, weigh_pullback


def weigh_dirty_rrule(f: CoDual, pair: CoDual, shared: CoDual) -> Any:
    """The new shadow does not start at zero."""
    y, pullback = weigh_rrule(f, pair, shared)
    y.fdata[0] = 1.0
    return y, pullback


def head_copying_rrule(f: CoDual, x: CoDual) -> Any:
    """The output is an alias of a part of the argument; its shadow is not."""
    y = CoDual(x.primal[0], [0.0] * len(x.primal[0]))

    def head_pullback(by: Any) -> Any:
        for i, d in enumerate(y.fdata):
            x.fdata[0][i] += d
        return NO_RDATA, NO_RDATA

    return y, head_pullback


def head_replacing_rrule(f: CoDual, x: CoDual) -> Any:
    """Puts an equal but other object back."""

    def head_pullback(by: Any) -> Any:
        x.primal[1] = list(x.primal[1])
        return NO_RDATA, NO_RDATA

    return CoDual(x.primal[0], x.fdata[0]), head_pullback


def head_copying_frule(f: Dual, x: Dual) -> Dual:
    return Dual(x.primal[0], list(x.tangent[0]))


def head_value_copying_frule(f: Dual, x: Dual) -> Dual:
    return Dual(list(x.primal[0]), x.tangent[0])


Case = tuple[str, Callable[..., Any] | None, Callable[..., Any] | None, str]
WRONG: list[Case] = [
    ("sin", sign_error_frule, None, "forward: finite differences"),
    ("sin", None, sign_error_rrule, "adjoint"),
    ("sin", None, slightly_off_rrule, "adjoint"),
    ("sin", wrong_value_frule, None, "forward: value"),
    ("sin", wrong_type_frule, None, "forward: types"),
    ("sin", not_linear_frule, None, "forward: zero"),
    ("sin", no_box_frule, None, "returns a Dual"),
    ("sin", None, too_few_rrule, "tuple of 2 rdata"),
    ("sin", None, no_tuple_rrule, "tuple of 2 rdata"),
    ("sin", None, wrong_rdata_rrule, "rdata of argument 0"),
    ("sin", None, wrong_fdata_rrule, "types"),
    ("sin", None, shared_state_rrule, "interleaved"),
    ("sin", drifting_frule, None, "forward: repeated"),
    ("sin", None, stale_rrule, "reverse: repeated"),
    ("sin", None, stack_rrule, "interleaved"),
    ("square", None, square_not_restoring_rrule, "restoration"),
    ("square", None, square_dropping_rrule, "adjoint"),
    ("square", None, square_from_zero_rrule, "shadows not zero: adjoint"),
    ("square", square_untouched_frule, None, "tangent of argument 0 after the call"),
    ("square", square_copying_frule, None, "forward: value"),
    ("weigh", None, weigh_overwriting_rrule, "adjoint"),
    ("weigh", None, weigh_buffer_rrule, "interleaved|results of the first run"),
    ("weigh", None, weigh_dirty_rrule, "new shadow is not zero"),
    ("weigh, aliased", None, weigh_overwriting_rrule, "adjoint"),
    ("head", None, head_copying_rrule, "types"),
    ("head", None, head_replacing_rrule, "other objects"),
    ("head", head_copying_frule, None, "forward: types"),
    ("head", head_value_copying_frule, None, "forward: value"),
]


@pytest.mark.parametrize(
    ("name", "frule", "rrule", "message"), WRONG, ids=[(case[1] or case[2]).__name__ for case in WRONG]
)
def test_wrong_rules_are_caught(name: str, frule: Any, rrule: Any, message: str) -> None:
    CALLS[0] = 0
    f, right_frule, right_rrule, *args = RIGHT[name]
    with pytest.raises(AssertionError, match=message):
        test_rule(f, *args, frule=frule or right_frule, rrule=rrule or right_rrule)


def test_rounding_is_no_difference_between_runs() -> None:
    test_rule(math.sin, math.pi / 2, frule=rounding_frule, modes=["forward"])


def test_a_kink_is_reported_as_such() -> None:
    def frule(f: Dual, x: Dual) -> Dual:
        return Dual(abs(x.primal), 0.0)

    with pytest.raises(AssertionError, match="kink"):
        test_rule(abs, 1e-4, frule=frule, modes=["forward"])


@pytest.mark.parametrize("primitive", [True, False])
def test_rules_must_be_of_the_declared_kind(primitive: bool) -> None:
    class Rule:
        is_primitive = primitive

        def __call__(self, f: Dual, x: Dual) -> Dual:
            return sin_frule(f, x)

    test_rule(math.sin, 0.3, frule=Rule(), modes=["forward"], is_primitive=primitive)
    with pytest.raises(AssertionError, match=r"written by hand|derived"):
        test_rule(math.sin, 0.3, frule=Rule(), modes=["forward"], is_primitive=not primitive)


def repoint(box: list[list[float]], x: float) -> None:
    """The argument lets go of what it held, and refers to something new."""
    old = box[0]
    box[0] = [old[0] * x]
    old[0] = 3.0 * old[0]


def repoint_frule(f: Dual, box: Dual, x: Dual) -> Dual:
    old, dold = box.primal[0], box.tangent[0]
    dnew = [dold[0] * x.primal + old[0] * x.tangent]
    repoint(box.primal, x.primal)
    box.tangent[0] = dnew
    dold[0] *= 3.0
    return Dual(None, NO_TANGENT)


def repoint_rrule(f: CoDual, box: CoDual, x: CoDual, *, forgets: bool = False) -> Any:
    old, fold = box.primal[0], box.fdata[0]
    number = old[0]
    repoint(box.primal, x.primal)
    fnew = [0.0]
    box.fdata[0] = fnew

    def repoint_pullback(by: Any) -> Any:
        old[0] = number
        box.primal[0] = old
        box.fdata[0] = fold
        fold[0] = (0.0 if forgets else 3.0 * fold[0]) + fnew[0] * x.primal
        return NO_RDATA, NO_RDATA, number * fnew[0]

    return CoDual(None, NO_FDATA), repoint_pullback


def test_what_an_argument_lets_go_of_still_has_a_cotangent() -> None:
    test_rule(repoint, [[2.0]], 5.0, frule=repoint_frule, rrule=repoint_rrule)
    forgetful = functools.partial(repoint_rrule, forgets=True)
    with pytest.raises(AssertionError, match="shadows not zero: adjoint"):
        test_rule(repoint, [[2.0]], 5.0, frule=repoint_frule, rrule=forgetful)


class Reading(NamedTuple):
    value: float
    count: int
    history: list[float]


@dataclasses.dataclass(frozen=True)
class Frozen:
    a: float
    b: int = 2
    c: list[float] = dataclasses.field(default_factory=lambda: [1.5])


@dataclasses.dataclass
class Open:
    a: float
    b: int = 2
    c: tuple[float, int] = (1.0, 2)


@dataclasses.dataclass(slots=True)
class Slotted:
    a: float
    b: int = 2
    c: tuple[float, int] = (1.0, 2)


class Kind(enum.Enum):
    WHOLE = 1
    HALF = 2.5


def of_record(r: Any, x: float) -> Any:
    r.history[0] *= x
    return r.value * r.history[0] * x * r.count


def of_frozen(r: Any, x: float) -> Any:
    r.c[0] *= r.a
    return r.a * r.c[0] * r.b * x


def of_object(r: Any, x: float) -> Any:
    r.a *= x
    return r.a * r.c[0] * r.b


def of_kind(kind: Kind, x: float) -> Any:
    return kind.value * x if kind is Kind.HALF else x * x


def of_pair(pair: Any, x: float) -> Any:
    return pair[0].a * pair[1].value * x * pair[1].history[1]


def makes_records(x: float) -> Any:
    return Reading(x, 2, [x]), Frozen(x * 2.0), Slotted(x), Kind.HALF


@pytest.mark.parametrize(
    ("f", "arguments"),
    [
        (of_record, (Reading(1.0, 2, [2.0]), 1.5)),
        (of_record, (Reading(1.0, 2, [2.0, 3.0]), 1.5)),
        (of_frozen, (Frozen(1.5), 2.0)),
        (of_object, (Open(1.5), 2.0)),
        (of_object, (Slotted(1.5), 2.0)),
        (of_kind, (Kind.HALF, 2.0)),
        (of_kind, (Kind.WHOLE, 2.0)),
        (of_pair, ((Frozen(1.0), Reading(2.0, 3, [1.0, 4.0])), 2.0)),
        (makes_records, (1.5,)),
    ],
)
def test_records_as_arguments(f: Callable[..., Any], arguments: tuple[Any, ...]) -> None:
    test_rule(f, *arguments)


def test_one_mode_alone() -> None:
    test_rule(math.sin, 0.7, frule=sin_frule, rrule=sign_error_rrule, mode="forward")
    with pytest.raises(AssertionError, match="differences"):
        test_rule(math.sin, 0.7, frule=sign_error_frule, mode="forward")
    test_rule(math.sin, 0.7, rrule=sin_rrule, mode="reverse")
    with pytest.raises(ValueError, match="no mode"):
        test_rule(math.sin, 0.7, mode="sideways")


def test_new_memory_is_put_back_to_anything() -> None:
    """What is made by `numpy.empty` has other numbers in each run, to which the pullback puts it back."""
    rubbish = iter(np.geomspace(1.0, 1e9, 60))

    def made(x: np.ndarray) -> np.ndarray:
        return x * x

    def rrule(f: CoDual, x: CoDual) -> Any:
        out = made(x.primal)
        shadow = np.zeros_like(out)

        def pullback(by: Any) -> Any:
            out[:] = next(rubbish)
            x.fdata[:] += 2.0 * x.primal * shadow
            shadow[:] = 0.0
            return NO_RDATA, NO_RDATA

        return CoDual(out, shadow), pullback

    test_rule(made, MEMORY, rrule=rrule, mode="reverse")

    def filled(x: np.ndarray) -> np.ndarray:
        out = np.empty(3)
        out[:] = x
        out[1] *= x[0]
        return out

    for _ in range(5):
        np.full(3, next(rubbish))  # memory that `empty` is likely to be given
        test_rule(filled, MEMORY)


def test_results_that_the_next_run_changes_are_caught() -> None:
    held = np.zeros(3)

    def rrule(f: CoDual, x: CoDual) -> Any:
        held[:] = x.primal * x.primal
        shadow = np.zeros(3)

        def pullback(by: Any) -> Any:
            x.fdata[:] += 2.0 * x.primal * shadow
            held[:] += 1.0
            return NO_RDATA, NO_RDATA

        return CoDual(held, shadow), pullback

    with pytest.raises(AssertionError, match="interleaved"):
        test_rule(lambda x: x * x, MEMORY, rrule=rrule, mode="reverse")


# -- derivatives of derivatives ------------------------------------------------------------------------------


def test_second_and_third_derivatives_are_tested() -> None:
    def mixed(values: list[float], x: float) -> float:
        values[0] = values[1] * x
        values.append(x * x)
        return sum([v * v * x for v in values])

    def in_place(a: np.ndarray) -> Any:
        tail = a[1:]
        tail *= a[0]
        return np.sin(a)

    test_rule(mixed, [1.0, 2.0], 1.5, order=2, width=2)
    test_rule(in_place, np.array([1.0, 2.0, 3.0]), order=2)
    test_rule(np.linalg.solve, np.array([[2.0, 0.3], [0.1, 1.5]]), np.array([1.0, 2.0]), order=2)
    test_rule(lambda x: x * math.sin(x), 1.3, order=3)


def test_a_wrong_second_derivative_is_caught() -> None:
    def squared(x: float) -> float:
        return x * x

    # It is right, but for those who differentiate it.
    chainrules.scalar_rule(squared, lambda out, x: 2.0 * adbc.stop_gradient(x))
    test_rule(squared, 1.5)
    with pytest.raises(AssertionError, match="the derivative in forward mode: step 'forward: finite"):
        test_rule(lambda x: squared(x) * 1.0, 1.5, order=2)
    rng = np.random.default_rng(0)
    [(_, derivative)] = derivatives(lambda x: squared(x) * 1.0, (1.5,), ["reverse"], rng)
    with pytest.raises(AssertionError, match="step 'forward: finite"):
        test_rule(derivative, 1.5)


def test_rules_that_are_given_have_no_second_order() -> None:
    with pytest.raises(ValueError, match="order=1"):
        test_rule(math.sin, 0.5, frule=lambda f, x: x, order=2)
