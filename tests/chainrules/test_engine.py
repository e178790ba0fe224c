"""The engine reads these rules as its own: in both modes, typed, guarded, dynamic and interpreted."""

from __future__ import annotations

import collections
import dataclasses
import math
import subprocess
import sys
import threading
import tracemalloc
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import adbc
from adbc import chainrules as cr
from adbc.chainrules.testing import test_frule as check_frule
from adbc.chainrules.testing import test_rrule as check_rrule
from adbc.testing import test_rule as check_rule

from .testing.test_wrong_rules import WRONG

NO, ZERO = cr.NoTangent(), cr.ZeroTangent()
SPECULATION = ["learn", "never", "dynamic", "always", "interpret"]


@pytest.fixture(autouse=True)
def scope() -> Iterator[None]:
    with cr.scoped():
        yield


@pytest.fixture(params=SPECULATION)
def way(request: Any) -> Iterator[str]:
    with adbc.use(adbc.Config(speculation=request.param, warm_after=0 if request.param == "learn" else 40)):
        yield request.param


def product(x: Any, y: Any) -> Any:
    return x * y


def caller(x: Any, y: Any) -> Any:
    total = 0.0
    for _ in range(3):
        total = total + product(x, y) * x
    return total


def declare_reverse(factor: float = 1.0) -> None:
    @cr.rrule(product)
    def _(product: Any, x: Any, y: Any) -> Any:
        dx, dy = cr.ProjectTo(x), cr.ProjectTo(y)
        return x * y, lambda d: (
            NO,
            dx(factor * np.conj(y) * cr.unthunk(d)),
            cr.Thunk(lambda: dy(np.conj(x) * d)),
        )


def declare_forward(factor: float = 1.0) -> None:
    @cr.frule(product)
    def _(tangents: Any, product: Any, x: Any, y: Any) -> Any:
        return x * y, factor * y * tangents[1] + x * tangents[2]


def test_a_mode_without_a_rule_is_derived(way: str) -> None:
    declare_reverse(10.0)
    assert adbc.grad(caller, (0, 1))(2.0, 3.0) == (3 * (10 * 3 * 2 + 6), 3 * 4.0)
    assert adbc.jvp(caller, (2.0, 3.0), (1.0, 0.0)) == (36.0, 3 * 12.0)
    cr.forget(product)
    declare_forward(10.0)
    assert adbc.grad(caller, (0, 1))(2.0, 3.0) == (36.0, 12.0)
    assert adbc.jvp(caller, (2.0, 3.0), (1.0, 0.0)) == (36.0, 3 * (10 * 3 * 2 + 6))
    declare_reverse(10.0)
    assert adbc.grad(caller)(2.0, 3.0) == 3 * (10 * 3 * 2 + 6)
    cr.forget(product)
    assert adbc.grad(caller)(2.0, 3.0) == 36.0


def test_right_rules_pass_the_tester_of_the_engine(way: str) -> None:
    declare_reverse()
    declare_forward()
    for x, y in [(2.0, 3.0), (np.arange(3.0), 2.0), (np.arange(3.0), np.ones((2, 3))), (1 + 2j, 0.5)]:
        check_rule(product, x, y, is_primitive=True)
        check_rule(lambda x, y: product(product(x, y), y), x, y)


def test_a_rule_of_a_builtin_function_leaves_the_other_mode_as_it_was() -> None:
    cr.rrule(math.sin)(lambda f, x: (f(x), lambda d: (NO, 100.0 * d)))
    assert adbc.grad(lambda x: math.sin(x) + x)(0.0) == 101.0
    assert adbc.jvp(lambda x: math.sin(x) + x, (0.0,), (1.0,))[1] == 2.0
    cr.forget(math.sin)
    assert adbc.grad(lambda x: math.sin(x) + x)(0.0) == 2.0


def softplus(x: float) -> float:
    return math.log1p(math.exp(x))


def twice_softplus(x: float) -> float:
    return softplus(x) * 2.0


def test_scalar_rules_are_written_into_the_code_of_the_caller() -> None:
    cr.scalar_rule(softplus, lambda out, x: 10.0 - 10.0 * math.exp(-out))
    for _ in range(3):
        assert adbc.grad(twice_softplus)(0.0) == 10.0
    print(adbc.inspect.explain(twice_softplus, 0.0))
    assert "scalar" in str(adbc.inspect.explain(twice_softplus, 0.0))
    cr.scalar_rule(softplus, lambda out, x: 1.0 - math.exp(-out))
    check_rule(twice_softplus, 0.3)
    check_rule(lambda v: softplus(v[0]) * v[1], [0.3, 2.0])


def test_scalar_rules_of_arrays_numbers_and_several_outputs(way: str) -> None:
    def polar(r: Any, t: Any) -> Any:
        return r * np.cos(t), r * np.sin(t)

    cr.scalar_rule(
        polar,
        (lambda cs, out, r, t: cs[0], lambda cs, out, r, t: -out[1]),
        (lambda cs, out, r, t: cs[1], lambda cs, out, r, t: out[0]),
        setup=lambda out, r, t: (np.cos(t), np.sin(t)),
    )
    check_rule(lambda r, t: polar(r, t)[0] * polar(r, t)[1], np.array([1.0, 2.0]), np.array([[0.3], [0.2]]))

    def offset(x: Any, k: Any = 2.0) -> Any:
        return x + 3.0 * k

    cr.scalar_rule(offset, 1.0, 3.0)
    check_rule(offset, 1.0)
    check_rule(lambda x, k: offset(x, k=k), 1.0, 2.0)
    check_rule(offset, np.ones(3), 2.0)


@dataclasses.dataclass
class Spring:
    k: float
    name: str


Point = collections.namedtuple("Point", "x y")


def energy(s: Any, p: Any, d: Any, v: Any) -> Any:
    return s.k * p.x * d["a"] + p.y * v[0]


def declare_energy() -> None:
    @cr.rrule(energy)
    def _(energy: Any, s: Any, p: Any, d: Any, v: Any) -> Any:
        def pullback(e: Any) -> Any:
            return (
                NO,
                cr.Tangent(Spring, k=p.x * d["a"] * e),
                cr.Tangent(Point, s.k * d["a"] * e, v[0] * e),
                {"a": s.k * p.x * e, "n": NO},
                [p.y * e, ZERO],
            )

        return energy(s, p, d, v), pullback

    @cr.frule(energy)
    def _(tangents: Any, energy: Any, s: Any, p: Any, d: Any, v: Any) -> Any:
        _, ds, dp, dd, dv = tangents
        one = ds.k * p.x * d["a"] + s.k * dp.x * d["a"] + s.k * p.x * dd["a"]
        return energy(s, p, d, v), one + dp.y * v[0] + p.y * dv[0]


def test_structures_go_in_and_out(way: str) -> None:
    declare_energy()
    arguments = (Spring(2.0, "a"), Point(3.0, 4.0), {"a": 5.0, "n": 1}, [6.0, 7.0])
    check_rrule(energy, *arguments)
    check_frule(energy, *arguments)
    check_rule(energy, *arguments, is_primitive=True)


def test_results_may_be_structures(way: str) -> None:
    def split(x: Any) -> Any:
        return {"a": x * 2.0, "b": [x * 1.0, (x * x, "text")]}

    @cr.rrule(split)
    def _(split: Any, x: Any) -> Any:
        return split(x), lambda t: (NO, 2.0 * t["a"] + t["b"][0] + 2.0 * x * t["b"][1][0])

    @cr.frule(split)
    def _(tangents: Any, split: Any, x: Any) -> Any:
        dx = tangents[1]
        return split(x), {"a": 2.0 * dx, "b": [dx, (2.0 * x * dx, NO)]}

    check_rule(split, 3.0)
    check_rule(split, np.array([1.0, 2.0]))


def test_opting_out_derives(way: str) -> None:
    declare_reverse(10.0)
    declare_forward(10.0)
    cr.opt_out(product, when=lambda *classes: classes[0] is np.ndarray)
    assert adbc.grad(product)(2.0, 3.0) == 30.0
    assert adbc.grad(lambda x: product(x, 3.0).sum())(np.ones(2)).tolist() == [3.0, 3.0]
    cr.opt_out(product, mode="forward")
    assert adbc.jvp(product, (2.0, 3.0), (1.0, 0.0))[1] == 3.0
    assert adbc.grad(product)(2.0, 3.0) == 30.0


def test_opting_out_of_a_function_of_c_is_refused() -> None:
    cr.opt_out(math.atan2)
    with pytest.raises(adbc.MissingRuleError, match="atan2"):
        adbc.grad(lambda x: math.atan2(x, 1.0))(2.0)
    cr.forget(math.atan2)
    assert adbc.grad(lambda x: math.atan2(x, 1.0))(1.0) == 0.5


def test_what_has_no_derivative(way: str) -> None:
    @cr.non_differentiable
    def nearest(x: float) -> float:
        return float(int(x + 0.5))

    assert adbc.grad(lambda x: x * nearest(x))(2.2) == 2.0
    assert adbc.grad(lambda x: x * cr.ignore_derivatives(x * 2.0))(3.0) == 6.0
    assert adbc.jvp(lambda x: x * cr.ignore_derivatives(x), (3.0,), (1.0,))[1] == 3.0


# -- thunks ----------------------------------------------------------------------------------------------


def test_a_thunk_of_an_inactive_argument_is_never_computed() -> None:
    computed: list[str] = []

    @cr.rrule(product)
    def _(product: Any, x: Any, y: Any) -> Any:
        def part(name: str, value: Any) -> Any:
            return cr.Thunk(lambda: computed.append(name) or value)  # type: ignore[func-returns-value]

        return x * y, lambda d: (NO, part("x", y * d), part("y", x * d))

    assert adbc.grad(product)(2.0, 3.0) == 3.0
    assert computed == ["x"]
    assert adbc.grad(product, (0, 1))(2.0, 3.0) == (3.0, 2.0)
    assert computed == ["x", "x", "y"]


def pick(x: Any, i: int) -> float:
    return float(x[i])


def test_an_in_place_thunk_saves_the_allocations() -> None:
    made: list[int] = []

    def value_of(x: Any, i: int, d: Any) -> Any:
        made.append(x.nbytes)
        dx = np.zeros_like(x)
        dx[i] = d
        return dx

    def f(x: Any) -> float:
        total = 0.0
        for i in range(20):
            total += pick(x, i) * i
        return total

    def peak() -> int:
        """The most memory that a pullback takes at once, beside what is there when it is called."""
        for _ in range(2):
            assert adbc.grad(f)(x)[:20].tolist() == expected
        made.clear()
        _, pullback = adbc.vjp(f, x)
        tracemalloc.start()
        try:
            assert pullback(1.0)[0][:20].tolist() == expected
            return tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()

    x, expected = np.ones(100_000), [float(i) for i in range(20)]
    cr.rrule(pick)(lambda f, x, i: (float(x[i]), lambda d: (NO, cr.Thunk(lambda: value_of(x, i, d)), NO)))
    before = peak()
    assert sum(made) == 20 * x.nbytes
    assert before >= x.nbytes  # a cotangent, beside the gradient that it is added to

    @cr.rrule(pick)
    def _(pick: Any, x: Any, i: int) -> Any:
        def pullback(d: Any) -> Any:
            def add_into(buffer: Any) -> Any:
                buffer[i] += cr.unthunk(d)
                return buffer

            return NO, cr.InplaceableThunk(add_into, lambda: value_of(x, i, d)), NO

        return float(x[i]), pullback

    check_rrule(pick, np.ones(3), 1)
    after = peak()
    assert made == []
    assert after < 0.02 * x.nbytes


# -- refusals --------------------------------------------------------------------------------------------


def test_what_is_not_implemented_is_an_error_if_the_result_depends_on_it() -> None:
    cr.rrule(product)(lambda f, x, y: (x * y, lambda d: (NO, y * d, cr.not_implemented("by y"))))
    assert adbc.grad(product)(2.0, 3.0) == 3.0
    with pytest.raises(adbc.errors.UnsupportedError, match="by y"):
        adbc.grad(product, 1)(2.0, 3.0)

    def area(a: float, b: float) -> float:
        return a * b

    cr.scalar_rule(area, lambda out, a, b: b, lambda out, a, b: cr.not_implemented("by b"))
    assert adbc.grad(area)(2.0, 3.0) == 3.0
    with pytest.raises(adbc.errors.UnsupportedError, match="by b"):
        adbc.grad(area, 1)(2.0, 3.0)
    with pytest.raises(adbc.errors.UnsupportedError, match="by b"):
        adbc.jvp(lambda b: area(2.0, b) * 2.0, (3.0,), (1.0,))


@pytest.mark.parametrize(
    ("given", "error", "message"),
    [
        (lambda d: (NO, np.ones(1) * d), adbc.errors.InvalidTangentError, "shape"),
        (lambda d: (NO, np.ones(3) * d), adbc.errors.InvalidTangentError, "shape"),
        (lambda d: (NO, d), adbc.errors.InvalidTangentError, "shape"),
        (lambda d: (NO, "text"), adbc.errors.InvalidTangentError, "no number"),
        (lambda d: (np.ones(2) * d,), TypeError, "a tuple of 2"),
        (lambda d: (d, np.ones(2) * d), adbc.errors.UnsupportedError, "of the function itself"),
    ],
)
def test_what_does_not_fit_is_an_error(given: Any, error: Any, message: str) -> None:
    def total(x: Any) -> float:
        return float(np.sum(x))

    cr.rrule(total)(lambda total, x: (total(x), given))
    with pytest.raises(error, match=message):
        adbc.grad(total)(np.ones(2))


def test_a_result_that_is_an_argument_is_refused() -> None:
    def same(x: Any) -> Any:
        return x

    cr.rrule(same)(lambda same, x: (x, lambda d: (NO, d)))
    with pytest.raises(adbc.errors.UnsupportedError, match=r"chainrules\.rrule is for functions"):
        adbc.grad(lambda x: same(x).sum())(np.ones(2))


def test_keywords_with_a_derivative_reach_rules_by_position_or_are_refused() -> None:
    def scaled(x: Any, k: Any = 1.0, *, shift: Any = 0.0) -> Any:
        return x * k + shift

    @cr.rrule(scaled)
    def _(scaled: Any, x: Any, k: Any = 1.0, *, shift: Any = 0.0) -> Any:
        return x * k + shift, lambda d: (NO, k * d, x * d)

    assert adbc.grad(lambda x, k: scaled(x, k=k), (0, 1))(2.0, 3.0) == (3.0, 2.0)
    assert adbc.grad(lambda x: scaled(x, 3.0, shift=2.0))(2.0) == 3.0
    with pytest.raises(adbc.errors.UnsupportedError, match="'shift' by name"):
        adbc.grad(lambda x: scaled(x, 3.0, shift=x))(2.0)


# -- functions that take functions, and rules that are derived --------------------------------------------


def apply(g: Any, x: Any) -> Any:
    return g(x)


def test_a_rule_calls_back_into_the_engine(way: str) -> None:
    @cr.rrule(apply, config=cr.RuleConfig.requires("reverse"))
    def _(config: Any, apply: Any, g: Any, x: Any) -> Any:
        y, back = config.rrule_via_ad(g, x)
        return y, lambda dy: (NO, *back(dy))

    @cr.frule(apply, config=cr.RuleConfig.requires("forward"))
    def _(config: Any, tangents: Any, apply: Any, g: Any, x: Any) -> Any:
        return config.frule_via_ad(tangents[1:], g, x)

    assert adbc.grad(lambda x: apply(math.exp, x) * 2.0)(0.0) == 2.0
    check_rule(lambda x: apply(lambda t: t * t, x), 3.0)
    check_rule(lambda x: apply(lambda t: t * x, 2.0), 3.0)  # the derivative comes by the closure
    check_rule(lambda x: apply(lambda t: t * x, x * 2.0), np.array([1.0, 2.0]))


def test_a_rule_that_needs_what_the_engine_lacks_is_passed_over() -> None:
    declare_reverse()
    cr.rrule(product, config=cr.RuleConfig.requires("quantum"))(lambda config, f, x, y: None)
    assert adbc.grad(product)(2.0, 3.0) == 3.0


def test_derived_rules_have_the_form_of_these() -> None:
    def work(x: Any, p: Any, k: float = 2.0) -> Any:
        return {"y": (x * p[0] * k).sum(), "z": p[1]}

    arguments = (np.arange(3.0), (2.0, 3.0))
    for kwargs in ({}, {"k": 5.0}):
        check_rrule(work, *arguments, kwargs=kwargs, rule=cr.rrule.from_ad(work))
        check_frule(work, *arguments, kwargs=kwargs, rule=cr.frule.from_ad(work))


def test_the_pullback_of_a_derived_rule_does_not_run_again_on_other_arguments() -> None:
    def total(x: Any) -> float:
        return float((x * x).sum())

    x = np.array([1.0, 2.0])
    _, pullback = cr.rrule.from_ad(total)(total, x)
    assert pullback(1.0)[1].tolist() == [2.0, 4.0]
    assert pullback(2.0)[1].tolist() == [4.0, 8.0]
    x[0] = 5.0
    with pytest.raises(ValueError, match="has been changed"):
        pullback(1.0)


def test_derived_rules_chain_with_rules_by_hand() -> None:
    def square(x: float) -> float:
        return x * x

    cr.scalar_rule(math.sin, lambda out, x: math.cos(x))
    a, a_pullback = cr.rrule.from_ad(square)(square, 1.5)
    b, b_pullback = cr.rrule(math.sin, a)
    _, da = b_pullback(1.0)
    assert a_pullback(da)[1] == pytest.approx(math.cos(2.25) * 3.0)
    assert b == math.sin(2.25)


SEEN = [
    "sign",
    "conjugate",
    "transposed",
    "complex for real",
    "slot of f",
    "slot of f, shifted",
    "shape (1,)",
    "dropped",
    "dropped in part",
    "overwritten",
    "not restored",
    "changed in the pullback",
    "value",
]
"""Wrong rules that the engine's tester can see: it projects precisions, and gives rules no thunks."""


@pytest.mark.parametrize("kind", SEEN)
def test_the_tester_of_the_engine_rejects_wrong_rules(kind: str) -> None:
    function, args, rule, _ = WRONG[kind]
    cr.rrule(function)(rule)
    with pytest.raises((AssertionError, TypeError, adbc.errors.AdbcError)):
        check_rule(function, *args)


@pytest.mark.parametrize("kind", ["dtype", "an int has a tangent", "aliasing an argument"])
def test_what_the_engine_fits_to_the_argument_is_right_in_it(kind: str) -> None:
    function, args, rule, _ = WRONG[kind]
    if kind == "aliasing an argument":
        cr.rrule(function)(lambda f, x: (f(x), lambda d: (NO, x if d == 1.0 else x * d)))
    else:
        cr.rrule(function)(rule)
    check_rule(function, *args)


def test_an_add_into_that_is_not_in_place_is_an_error() -> None:
    cr.rrule(pick)(
        lambda f, x, i: (
            float(x[i]),
            lambda d: (NO, cr.InplaceableThunk(lambda b: b + np.eye(3)[i] * d, lambda: np.eye(3)[i] * d), NO),
        )
    )
    with pytest.raises(adbc.errors.InvalidTangentError, match="add_into"):
        adbc.grad(pick)(np.ones(3), 1)
    with pytest.raises(AssertionError, match="does not return the buffer"):
        check_rrule(pick, np.ones(3), 1)


class Scale:
    def __init__(self, k: float) -> None:
        self.k = k

    def apply(self, x: float) -> float:
        return self.k * x


def test_rules_of_methods(way: str) -> None:
    @cr.rrule(Scale.apply)
    def _(apply: Any, self: Any, x: Any) -> Any:
        return self.k * x, lambda d: (NO, cr.Tangent(Scale, k=10.0 * x * d), 10.0 * self.k * d)

    assert adbc.grad(lambda x: Scale(3.0).apply(x))(2.0) == 30.0
    assert adbc.grad(lambda s: s.apply(2.0))(Scale(3.0)).k == 20.0
    assert adbc.jvp(lambda x: Scale(3.0).apply(x), (2.0,), (1.0,))[1] == 3.0


def test_rules_declared_before_the_engine_is_loaded_are_read_by_it() -> None:
    program = """
from adbc import chainrules as cr
def f(x):
    return x
cr.scalar_rule(f, 5.0)
import adbc, sys
assert 'adbc.rules' not in sys.modules
print(adbc.grad(f)(1.0), adbc.rules.default_table().declared)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["5.0", "1"]  # a cache on disk does without


def test_threads_declare_while_others_look_up() -> None:
    def f(x: float) -> float:
        return x * x

    failures: list[BaseException] = []

    def declare() -> None:
        try:
            for _ in range(50):
                cr.scalar_rule(f, lambda out, x: 2.0 * x)
                cr.forget(f)
        except BaseException as error:  # a thread's error would be lost
            failures.append(error)

    def differentiate() -> None:
        try:
            for _ in range(50):
                assert adbc.grad(f)(3.0) == 6.0
                cr.rrule(f, 3.0)
        except BaseException as error:  # a thread's error would be lost
            failures.append(error)

    threads = [threading.Thread(target=t) for t in (declare, differentiate, declare, differentiate)]
    for t in threads:
        t.start()
    for t in threads:
        t.join(60)
    assert not failures
    assert not any(t.is_alive() for t in threads)
    while cr.forget(f):
        pass


def test_what_stands_in_two_places_of_a_result_is_refused() -> None:
    def twice(x: Any) -> Any:
        y = x * 2.0
        return [y, (y, 1)]

    def window(x: Any) -> Any:
        y = x * 2.0
        return y, y[1:]

    for f, pullback in [
        (twice, lambda d: (NO, 2.0 * (d[0] + d[1][0]))),
        (window, lambda d: (NO, 2.0 * d[0])),
    ]:
        cr.rrule(f)(lambda f, x, pullback=pullback: (f(x), pullback))
        cr.frule(f)(lambda t, f, x: (f(x), f(t[1])))
        with pytest.raises(adbc.errors.UnsupportedError, match="in two places"):
            adbc.grad(lambda x, f=f: f(x)[0].sum())(np.ones(3))
        with pytest.raises(adbc.errors.UnsupportedError, match="in two places"):
            adbc.jvp(f, (np.ones(3),), (np.ones(3),))
    assert adbc.grad(lambda x: twice(x)[0])(1.0) == 2.0  # of numbers there is no memory


def test_what_stands_in_two_places_of_an_argument() -> None:
    def both(v: Any) -> Any:
        return (v[0] * v[1]).sum()

    cr.rrule(both)(lambda f, v: (f(v), lambda d: (NO, [v[1] * d, v[0] * d])))
    cr.frule(both)(lambda t, f, v: (f(v), (t[1][0] * v[1] + v[0] * t[1][1]).sum()))
    x = np.array([1.0, 2.0])
    check_rule(lambda x: both([x, x]), x)  # each place adds its share
    with pytest.raises(adbc.errors.UnsupportedError, match="in two places"):
        cr.rrule.from_ad(both)(both, [x, x])
    with pytest.raises(adbc.errors.UnsupportedError, match="in two places"):
        cr.frule.from_ad(both)((NO, [x, x]), both, [x, x])


def test_records_that_are_frozen_go_in_and_out(way: str) -> None:
    def product_of(z: Frozen) -> Any:
        return z.a * z.b[0]

    cr.rrule(product_of)(lambda f, z: (f(z), lambda d: (NO, cr.Tangent(Frozen, a=z.b[0] * d, b=[z.a * d]))))
    cr.frule(product_of)(lambda t, f, z: (f(z), t[1].a * z.b[0] + z.a * t[1].b[0]))
    check_rule(product_of, Frozen(2.0, [3.0]))


@dataclasses.dataclass(frozen=True)
class Frozen:
    a: float
    b: list[float]
