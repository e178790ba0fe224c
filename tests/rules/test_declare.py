"""Rules that users declare."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import adbc
from adbc.chainrules.binding import Binding
from adbc.errors import InvalidTangentError, MissingRuleError, UnsupportedError
from adbc.rules import default_table
from adbc.rules.declare import overlay, primitive, rule, scalar_rule, zero_derivative
from adbc.rules.lookup import RuleTable
from adbc.tangents import NO_FDATA, NO_RDATA, CoDual, Dual
from adbc.testing import test_rule as check_rule


def product(x, y):
    return x * math.sin(y)


def double(a):
    for k in range(len(a)):
        a[k] *= 2.0
    return sum(a)


def new_product():
    """A function that nobody has declared a rule for."""

    def product(x, y):
        return x * math.sin(y)

    return product


def row_of(function, table, *classes):
    return table.find(function, classes)


def test_scalar_rule_with_one_function() -> None:
    f = new_product()
    scalar_rule(f)(lambda out, x, y: (math.sin(y), x * math.cos(y)))
    check_rule(f, 0.7, 1.2, is_primitive=True)
    check_rule(lambda y: f(0.7, y), 1.2, is_primitive=False)


def test_scalar_rule_with_a_function_for_each_argument() -> None:
    f = new_product()
    scalar_rule(f)((lambda out, x, y: math.sin(y), lambda out, x, y: x * math.cos(y)))
    assert row_of(f, default_table(), float, float).kind == "scalar"
    check_rule(f, 0.7, 1.2, is_primitive=True)


def test_a_scalar_rule_must_give_all_partials() -> None:
    table = RuleTable()
    scalar_rule(product, table=table)(lambda out, x, y: math.sin(y))
    with pytest.raises(TypeError, match="1 partial derivatives for 2 arguments"):
        row_of(product, table, float, float).frule((0.7, 1.2), (1.0, None))


def test_rule_of_derivatives() -> None:
    f = new_product()
    rule(
        f,
        jvp=(lambda d, out, x, y: d * math.sin(y), lambda d, out, x, y: d * x * math.cos(y)),
        vjp=(lambda b, out, x, y: b * math.sin(y), lambda b, out, x, y: b * x * math.cos(y)),
    )
    check_rule(f, 0.7, 1.2, is_primitive=True)


def test_zero_derivative_and_overlay() -> None:
    table = RuleTable()
    assert zero_derivative(product, table=table) is product
    assert row_of(product, table, float, float).rrule((1.0, 2.0), (NO_FDATA, NO_FDATA))[1] is None

    @overlay(product, table=table)
    def body(x, y):
        return math.sin(y) * x

    assert row_of(product, table, float, float).body is body


def double_rrule(f, a):
    old = list(a.primal)
    out = double(a.primal)

    def pullback(rdata):
        a.primal[:] = old
        for k in range(len(old)):
            a.fdata[k] = 2.0 * (a.fdata[k] + rdata)
        return NO_RDATA, NO_RDATA

    return CoDual(out, NO_FDATA), pullback


def double_frule(f, a):
    out = double(a.primal)
    for k in range(len(a.tangent)):
        a.tangent[k] *= 2.0
    return Dual(out, sum(a.tangent))


def test_primitive_in_the_public_form() -> None:
    primitive(double, frule=double_frule, rrule=double_rrule)
    check_rule(double, [1.0, 2.0], is_primitive=True)


def test_a_mode_that_is_not_declared_is_refused() -> None:
    table = RuleTable()
    primitive(double, rrule=double_rrule, table=table)
    with pytest.raises(UnsupportedError, match="double has no forward mode"):
        row_of(double, table, list).frule(([1.0],), ([1.0],))


def test_a_declaration_makes_derived_rules_stale_and_wins() -> None:
    table = RuleTable()
    zero_derivative(product, table=table)
    before = table.epoch
    scalar_rule(product, table=table)(lambda out, x, y: (1.0, 2.0))
    assert table.epoch == before + 1
    assert row_of(product, table, float, float).frule((1.0, 2.0), (1.0, None))[1] == 1.0


# -- defaults, keywords, several outputs ---------------------------------------------------------------------

MODES = ("never", "learn", "dynamic", "always")


def scaled(x, factor=2.0, *, power=3.0):
    return x**power * factor


def of_scaled():
    """A function like `scaled` without a rule."""
    return lambda x, factor=2.0, *, power=3.0: x**power * factor


def scaled_by_x(out, x, factor, power):
    return factor * power * x ** (power - 1.0)


def scaled_by_factor(out, x, factor, power):
    return x**power


def scaled_by_power(out, x, factor, power):
    return out * math.log(x)


SCALED = (scaled_by_x, scaled_by_factor, scaled_by_power)


def declare_joint(f):
    scalar_rule(f)(lambda out, *args: tuple(partial(out, *args) for partial in SCALED))


def declare_three(f):
    scalar_rule(f)(lambda out, x, factor, power: tuple(p(out, x, factor, power) for p in SCALED))


def declare_separate(f):
    scalar_rule(f)(SCALED)


def declare_formulas(f):
    rule(
        f,
        jvp=[lambda d, out, x, factor, power, p=p: p(out, x, factor, power) * d for p in SCALED],
        vjp=[lambda b, out, x, factor, power, p=p: p(out, x, factor, power) * b for p in SCALED],
        parameters=("x", "factor", "power"),
    )


CALLS = {
    "defaults": lambda f, x: f(x),
    "by position": lambda f, x: f(x, x * 1.5),
    "by keyword": lambda f, x: f(x, factor=x),
    "all by keyword": lambda f, x: f(power=x, factor=3.0 * x, x=2.0),
    "keyword-only": lambda f, x: f(1.5, power=x),
    "a gap": lambda f, x: f(x, power=2.0 * x),
    "unpacked": lambda f, x: f(*(x, 2.0 * x), power=x),
    "inactive": lambda f, x: f(x, factor=4, power=2),
}


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("declare", [declare_joint, declare_three, declare_separate, declare_formulas])
def test_defaults_and_keywords_are_bound(call, declare) -> None:
    f = of_scaled()
    declare(f)
    program = CALLS[call]
    wanted = adbc.grad(lambda x: program(of_scaled(), x))(0.7)
    for speculation in MODES:
        with adbc.use(adbc.Config(speculation=speculation)):
            for _ in range(2):
                assert adbc.grad(lambda x: program(f, x))(0.7) == pytest.approx(wanted, rel=1e-13)
                tangent = adbc.jvp(lambda x: program(f, x), (0.7,), (1.0,))[1]
                assert tangent == pytest.approx(wanted, rel=1e-13)


declare_separate(scaled)


def test_defaults_and_keywords_of_a_function_that_is_known() -> None:
    check_rule(lambda x: scaled(x) + scaled(x, x) * scaled(power=x, x=1.5, factor=x), 0.7)


def test_an_option_that_formulas_do_not_take_stays_a_keyword() -> None:
    def rounded(x, digits=9, *, up=False):
        return round(2.0 * x, digits) + up

    rule(rounded, jvp=lambda d, out, x, **_: 2.0 * d, vjp=lambda b, out, x, **_: 2.0 * b)
    assert adbc.grad(lambda x: rounded(x, up=True))(0.3) == 2.0
    assert adbc.grad(lambda x: rounded(x, digits=3))(0.3) == 2.0
    with pytest.raises(MissingRuleError, match="'up' has a derivative"):
        adbc.grad(lambda x: rounded(1.0, up=x))(0.3)


@pytest.mark.parametrize("parameters", [("x", "power"), ("factor", "x"), ("y",)])
def test_parameters_are_those_of_the_signature(parameters) -> None:
    with pytest.raises(TypeError, match="the parameters of the function are"):
        rule(of_scaled(), jvp=(None,), vjp=(None,), parameters=parameters)


def test_names_of_a_function_without_signature() -> None:
    binding = Binding(math.hypot, (), 2, ("x", "y"))
    assert binding.bind((1.0,), {"y": 2.0}) == ((1.0, 2.0), {})
    assert binding.complete((1.0,)) == (1.0,)


def polar(x, y):
    return math.hypot(x, y), math.atan2(y, x)


@pytest.mark.parametrize("form", ["joint", "separate"])
@pytest.mark.parametrize("speculation", MODES)
def test_a_scalar_rule_of_several_results(form, speculation) -> None:
    def f(x, y):
        return polar(x, y)

    by_x = lambda out, x, y: (x / out[0], -y / out[0] ** 2)  # noqa: E731  # one of two forms
    by_y = lambda out, x, y: (y / out[0], x / out[0] ** 2)  # noqa: E731
    scalar_rule(f)((by_x, by_y) if form == "separate" else lambda *a: (by_x(*a), by_y(*a)))

    def program(x, y):
        r, angle = f(x, y)
        return r * angle + f(x, 2.0)[0]

    def plain(x, y):
        r, angle = polar(x, y)
        return r * angle + polar(x, 2.0)[0]

    with adbc.use(adbc.Config(speculation=speculation)):
        for _ in range(2):
            assert adbc.grad(program, (0, 1))(0.3, 0.4) == pytest.approx(adbc.grad(plain, (0, 1))(0.3, 0.4))
            found = adbc.jvp(program, (0.3, 0.4), (0.7, -0.2))[1]
            assert found == pytest.approx(adbc.jvp(plain, (0.3, 0.4), (0.7, -0.2))[1])
    check_rule(f, 0.3, 0.4, is_primitive=True)


@pytest.mark.parametrize("nested", [False, True])
def test_several_results_of_one_argument_and_of_arrays(nested) -> None:
    def f(x):
        return np.sin(x), np.cos(x), 3

    scalar_rule(f)(lambda out, x: ((out[1], -out[0], None),) if nested else (out[1], -out[0], None))

    def program(x):
        s, c, n = f(x)
        return np.sum(s * c * n)

    for x in (0.3, np.array([0.3, 0.4]), np.array(0.3)):
        np.testing.assert_allclose(adbc.grad(program)(x), 3.0 * np.cos(2.0 * x))
        _, tangent = adbc.jvp(program, (x,), (np.ones_like(x) if isinstance(x, np.ndarray) else 1.0,))
        np.testing.assert_allclose(tangent, np.sum(3.0 * np.cos(2.0 * x)))


def test_a_derivative_for_each_result() -> None:
    def f(x):
        return x, x * x

    scalar_rule(f)((lambda out, x: 1.0,))
    with pytest.raises(InvalidTangentError, match="the function has 2 results"):
        adbc.grad(lambda x: f(x)[1])(0.5)
    with pytest.raises(InvalidTangentError, match="the function has 2 results"):
        adbc.jvp(lambda x: f(x)[1], (0.5,), (1.0,))


def test_a_rule_of_a_function_with_several_results() -> None:
    def f(v, k):
        return v * k, float(v.sum())

    rule(
        f,
        jvp=(lambda d, out, v, k: (d * k, float(d.sum())), lambda d, out, v, k: (v * d, 0.0)),
        vjp=(lambda b, out, v, k: b[0] * k + b[1], lambda b, out, v, k: np.vdot(b[0], v)),
    )

    def program(v, k):
        w, total = f(v, k)
        return np.sum(w * w) * total + f(v, 2.0)[1]

    def plain(v, k):
        return np.sum((v * k) * (v * k)) * v.sum() + v.sum()

    v = np.array([0.3, 0.4])
    for found, wanted in zip(
        adbc.grad(program, (0, 1))(v, 0.7), adbc.grad(plain, (0, 1))(v, 0.7), strict=True
    ):
        np.testing.assert_allclose(found, wanted)
    assert adbc.jvp(program, (v, 0.7), (v, 1.0))[1] == pytest.approx(adbc.jvp(plain, (v, 0.7), (v, 1.0))[1])


# -- declared to be zero -------------------------------------------------------------------------------------


class Recorded:
    def __init__(self, u):
        self.u, self.count, self.names = u, 0, []


def clears(u):
    u[0] = 5.0


def reverses(u):
    u.reverse()


def same(u):
    return u


def tail(u):
    return u[1:]


def boxed(u):
    return [u]


def place(u, k=0):
    return max(range(len(u)), key=u.__getitem__) + k


def records(state):
    state.count += 1
    state.names.append("met")
    return [0.0] * state.count


for declared in (clears, reverses, same, tail, boxed, place, records):
    zero_derivative(declared)

WRITTEN_OR_GIVEN = [
    (lambda u: (clears(u), u[0] * u[1])[1], [2.0, 3.0], "clears writes into an argument"),
    (lambda u: (clears(u=u), u[0] * u[1])[1], np.array([2.0, 3.0]), "clears writes into an argument"),
    (lambda u: (reverses(u), u[0] * u[0])[1], [2.0, 3.0], "reverses writes into an argument"),
    (lambda u: same(u)[0] * u[1], [2.0, 3.0], "same gives its argument 0"),
    (lambda u: tail(u)[0] * u[1], np.array([2.0, 3.0]), "tail gives its argument 0, or a part"),
    (lambda u: boxed(u)[0][0] * u[1], [2.0, 3.0], "boxed gives its argument 0, or a part"),
]


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(("f", "u", "problem"), WRITTEN_OR_GIVEN)
def test_what_was_declared_zero_and_is_not_is_refused(f, u, problem, mode) -> None:
    before = u.copy()
    with adbc.use(adbc.Config(speculation=mode)):
        for _ in range(2):
            with pytest.raises(UnsupportedError, match=problem):
                adbc.grad(f)(u)
            with pytest.raises(UnsupportedError, match=problem):
                adbc.jvp(f, (u,), (before.copy(),))
            assert list(u) == list(before)


@pytest.mark.parametrize("mode", MODES)
def test_what_is_declared_zero_may_read_and_keep_records(mode) -> None:
    def f(u):
        state = Recorded(u)
        made = records(state)
        made = records(state=state)
        return state.u[place(u)] * u[place(u=u, k=-1)] * state.count * (1.0 + made[1])

    with adbc.use(adbc.Config(speculation=mode)):
        for _ in range(2):
            assert adbc.value_and_grad(f)([2.0, 3.0]) == (12.0, [6.0, 4.0])
            assert adbc.jvp(f, ([2.0, 3.0],), ([1.0, 0.0],)) == (12.0, 6.0)


def declares_and_calls(x: float) -> Any:
    def cube(t: float) -> float:
        return t**3

    adbc.scalar_rule(cube)(lambda out, t: 3 * t * t)
    return cube(x) * x


@pytest.mark.parametrize("speculation", ["learn", "always", "dynamic"])
def test_a_rule_is_declared_where_it_is_used(speculation: Any) -> None:
    with adbc.use(adbc.Config(speculation=speculation)):
        for _ in range(2):
            assert adbc.grad(declares_and_calls)(0.5) == pytest.approx(4 * 0.5**3)
            assert adbc.jvp(declares_and_calls, (0.5,), (1.0,))[1] == pytest.approx(4 * 0.5**3)
