"""What a rule returns is fitted to its argument: every kind of rule on every kind of argument.

Each pair is right in both modes, in typed, guarded and dynamic code, or refused by name.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import adbc
from adbc import chainrules
from adbc.errors import AdbcError, InvalidTangentError, UnsupportedError
from adbc.rules import default_table
from adbc.rules.table import Primitive, PureRule, Rule, ScalarRule
from adbc.tangents import NO_FDATA, accumulate, cotangent_of, fresh_shadow, project

MODES = ("never", "learn", "dynamic", "always")


class Meter:
    """An object that says as which number it may be taken."""

    def __init__(self, value: float) -> None:
        self.value = value

    def __float__(self) -> float:
        return self.value


def read_only() -> Any:
    x = np.array([0.3, -0.7])
    x.flags.writeable = False
    return x


ARGUMENTS: dict[str, Callable[[], Any]] = {
    "float": lambda: 0.3,
    "int": lambda: 2,
    "bool": lambda: True,
    "complex": lambda: 0.3 + 0.4j,
    "float64": lambda: np.float64(0.3),
    "float32": lambda: np.float32(0.3),
    "0-d": lambda: np.array(0.3),
    "array": lambda: np.array([0.3, -0.7]),
    "matrix": lambda: np.array([[0.3, -0.7], [0.1, 0.2], [1.0, 0.5]]),
    "float32 array": lambda: np.array([0.3, -0.7], np.float32),
    "strided": lambda: np.linspace(-1.0, 1.0, 7)[::-2],
    "broadcast": lambda: np.broadcast_to(np.array([0.3, -0.7]), (3, 2)),
    "read-only": read_only,
    "list": lambda: [0.3, -0.7],
    "list of int and float": lambda: [1, -0.7],
    "tuple": lambda: (0.3, -0.7),
    "nested": lambda: [[0.3, -0.7], [0.1, 0.2]],
    "list of 0-d": lambda: [np.array(0.3), np.array(-0.7)],
    "object": lambda: Meter(0.3),
}


def curve(x: Any) -> Any:
    """The function ``x**3 + x`` of what NumPy makes of `x`: NumPy's code, as far as rules are concerned."""
    if isinstance(x, float | complex | int) and not isinstance(x, np.generic):
        return x * x * x + x
    x = np.asarray(float(x) if isinstance(x, Meter) else x)
    return (x * x * x + x)[()]


def slope(x: Any) -> Any:
    return 3.0 * as_array(x) ** 2 + 1.0


def as_array(x: Any) -> Any:
    return np.asarray(float(x) if isinstance(x, Meter) else x)[()]


def new(f: Callable[..., Any]) -> Callable[..., Any]:
    """A function like `f` that nobody has declared a rule for."""
    return lambda *args, **kwargs: f(*args, **kwargs)


def joint(f: Any) -> None:
    adbc.scalar_rule(f)(lambda out, x: slope(x))


def separate(f: Any) -> None:
    adbc.scalar_rule(f)((lambda out, x: slope(x),))


def formulas(f: Any) -> None:
    adbc.rule(f, jvp=lambda d, out, x: slope(x) * gathered(d), vjp=lambda b, out, x: slope(x) * b)


def gathered(d: Any) -> Any:
    """The tangent `d` with numbers in the place of what has no tangent."""
    if isinstance(d, list | tuple):
        return np.array([0.0 if isinstance(x, adbc.NoTangent) else gathered(x) for x in d])
    return d


def by_hand(f: Any) -> None:
    """A reverse rule that gives the whole cotangent back, whatever is identified by address."""

    def frule(args: Any, dargs: Any, kwargs: Any) -> Any:
        out = f(*args)
        return out, None if dargs[0] is None else project(slope(args[0]) * gathered(dargs[0]), out)

    def rrule(args: Any, fargs: Any, kwargs: Any) -> Any:
        out = f(*args)
        fout = fresh_shadow(out, fargs[0] is not None)

        def pullback(bout: Any) -> Any:
            by = cotangent_of(fout, bout)
            return (None if by is None else slope(args[0]).conjugate() * by,)

        return out, fout, pullback

    default_table().add([Primitive(f, frule=frule, rrule=rrule)], first=True)


def body(f: Any) -> None:
    @adbc.overlay(f)
    def _(x: Any) -> Any:
        x = np.asarray(float(x) if isinstance(x, Meter) else x)
        return x * x * x + x


RULES: dict[str, Callable[[Any], None]] = {
    "joint partials": joint,
    "separate partials": separate,
    "formulas": formulas,
    "by hand": by_hand,
    "overlay": body,
}


def total(y: Any) -> Any:
    return np.sum(np.real(y) * 2.0)


def moved(x: Any, step: float, place: int) -> Any:
    """`x` with `step` added to number `place` of those that it holds."""
    if isinstance(x, Meter):
        return Meter(x.value + step)
    if isinstance(x, np.ndarray):
        y = np.array(x, np.float64, order="C")
        y.flat[place] += step
        return y
    if isinstance(x, list | tuple):
        parts, at = [], place
        for part in x:
            n = np.size(part)
            parts.append(moved(part, step, at) if 0 <= at < n and not isinstance(part, int) else part)
            at -= n
        return type(x)(parts)
    return x + step


def flat(d: Any) -> Any:
    if isinstance(d, adbc.NoTangent):
        return np.zeros(1)
    if isinstance(d, list | tuple):
        return np.concatenate([flat(x) for x in d])
    if isinstance(d, np.ndarray):
        return np.real(d).reshape(-1)
    return np.array([d.value if hasattr(d, "value") else np.real(d)])


def ones(x: Any) -> Any:
    t = adbc.zero_tangent(x)
    if isinstance(t, np.ndarray):
        t[...] = 1.0
        return t
    if isinstance(t, list | tuple):
        return type(t)([ones(y) for y in x])
    if hasattr(t, "value"):
        t.value = 1.0
        return t
    return t if isinstance(t, adbc.NoTangent) else type(t)(1.0)


@pytest.mark.parametrize("kind", RULES)
@pytest.mark.parametrize("argument", ARGUMENTS)
def test_every_kind_of_rule_on_every_kind_of_argument(kind: str, argument: str) -> None:
    f = new(curve)
    RULES[kind](f)

    def program(x: Any) -> Any:
        return total(f(x))

    x = ARGUMENTS[argument]()
    n, h = flat(ones(x)).size, 1e-6
    wanted = [(total(curve(moved(x, h, i))) - total(curve(moved(x, -h, i)))) / (2 * h) for i in range(n)]
    if argument == "list of int and float":
        wanted[0] = 0.0
    along = np.sum(wanted)
    if argument == "broadcast":  # each place of the argument is three elements
        wanted = np.tile(np.sum(np.reshape(wanted, (3, 2)), axis=0), 3)
    tolerance = 1e-2 if "float32" in argument else 1e-6
    refused: set[bool] = set()
    for speculation in MODES:
        with adbc.use(adbc.Config(speculation=speculation)):
            for _ in range(2):
                try:
                    gradient = adbc.grad(program)(ARGUMENTS[argument]())
                    _, tangent = adbc.jvp(program, (ARGUMENTS[argument](),), (ones(x),))
                except AdbcError:
                    refused.add(True)
                    continue
                refused.add(False)
                assert type(gradient) is type(adbc.zero_tangent(x))
                found = flat(gradient)
                np.testing.assert_allclose(found, wanted, rtol=tolerance, atol=tolerance)
                np.testing.assert_allclose(tangent, along, rtol=tolerance, atol=tolerance)
    # An overlay may take an object for the number that it says; rows of the other kinds are of numbers.
    assert refused == {argument in ("int", "bool") or (argument == "object" and kind != "overlay")}


# -- shapes -------------------------------------------------------------------------------------------------


def length(x: Any) -> float:
    return float(np.sqrt(np.dot(x, x)))


def of_length(vjp: Any, jvp: Any = None) -> Any:
    f = new(length)
    adbc.rule(f, jvp=jvp or (lambda d, out, x: np.dot(x, d) / out), vjp=vjp)
    return f


X = np.array([3.0, 4.0])


def test_a_cotangent_of_the_shape_of_the_argument_fits() -> None:
    np.testing.assert_allclose(adbc.grad(of_length(lambda b, out, x: b * x / out))(X), [0.6, 0.8])


@pytest.mark.parametrize(
    "vjp, shape",
    [
        (lambda b, out, x: b * x[:1] / out, "shape \\(1,\\)"),
        (lambda b, out, x: b, "shape \\(\\)"),
        (lambda b, out, x: b * np.ones(3), "shape \\(3,\\)"),
        (lambda b, out, x: b * np.ones((5, 2)), "shape \\(5, 2\\)"),
        (lambda b, out, x: "b", "no number"),
    ],
)
def test_a_cotangent_of_another_shape_is_refused(vjp: Any, shape: str) -> None:
    wanted = pytest.raises(InvalidTangentError, match=f"vjp of argument 0 gives .*{shape}")
    for speculation in MODES:
        with adbc.use(adbc.Config(speculation=speculation)), wanted:
            adbc.grad(of_length(vjp))(X)


@pytest.mark.parametrize("jvp", [lambda d, out, x: d, lambda d, out, x: np.ones(1), lambda d, out, x: "d"])
def test_a_tangent_of_another_shape_is_refused(jvp: Any) -> None:
    f = of_length(lambda b, out, x: b * x / out, jvp)
    with pytest.raises(InvalidTangentError, match="jvp of argument 0 gives"):
        adbc.jvp(f, (X,), (X,))


# -- imaginary parts ----------------------------------------------------------------------------------------


REAL = (
    "float",
    "float64",
    "float32",
    "0-d",
    "array",
    "matrix",
    "strided",
    "read-only",
    "list",
    "tuple",
    "nested",
)


def summed(x: Any) -> Any:
    return float(np.sum(2.0 * np.asarray(x)))


def complex_vjp(f: Any) -> None:
    adbc.rule(
        f, jvp=lambda d, out, x: 2.0 * np.sum(d), vjp=lambda b, out, x: (2 + 1j) * b * np.ones(np.shape(x))
    )


def complex_in_parts(f: Any) -> None:
    adbc.rule(f, jvp=lambda d, out, x: 2.0 * np.sum(d), vjp=lambda b, out, x: as_parts(x, (2 + 1j) * b))


def as_parts(x: Any, d: Any) -> Any:
    """`d` for each number in `x`, in lists and tuples like those of `x`."""
    return type(x)([as_parts(y, d) for y in x]) if isinstance(x, list | tuple) else d * np.ones(np.shape(x))


def complex_jvp(f: Any) -> None:
    adbc.rule(f, jvp=lambda d, out, x: 2j * np.sum(d), vjp=lambda b, out, x: 2.0 * b * np.ones(np.shape(x)))


def complex_transpose(f: Any) -> None:
    adbc.linear(f, transpose=lambda b, x: (2 + 1j) * b * np.ones(np.shape(x)))


def complex_rrule(f: Any) -> None:
    @chainrules.rrule(f)
    def _(f: Any, x: Any) -> Any:
        return summed(x), lambda b: (chainrules.NoTangent(), as_parts(x, (2 + 1j) * b))


def complex_frule(f: Any) -> None:
    chainrules.frule(f)(lambda d, f, x: (summed(x), 2j))


def complex_pullback(f: Any) -> None:
    def rrule(f: Any, x: Any) -> Any:
        def pullback(b: Any) -> Any:
            if isinstance(x.fdata, np.ndarray):
                x.fdata[...] += (2 + 1j) * b
                return adbc.NoRData(), adbc.NoRData()
            return adbc.NoRData(), (2 + 1j) * b

        return adbc.CoDual(summed(x.primal), adbc.NoFData()), pullback

    adbc.primitive(f, rrule=rrule)


@pytest.mark.parametrize("argument", REAL)
@pytest.mark.parametrize(
    "declare, is_forward",
    [
        (complex_vjp, False),
        (complex_in_parts, False),
        (complex_jvp, True),
        (complex_transpose, False),
        (complex_rrule, False),
        (complex_frule, True),
        (complex_pullback, False),
    ],
)
def test_an_imaginary_part_is_never_dropped(declare: Any, is_forward: bool, argument: str) -> None:
    if declare is complex_pullback and argument in ("list", "tuple", "nested"):
        pytest.skip("the pullback of a primitive adds to lists by itself")
    f = new(summed)
    with chainrules.scoped():
        declare(f)
        x = ARGUMENTS[argument]()
        for speculation in MODES:
            # what a primitive adds to the memory of an array is NumPy's to refuse
            wanted = pytest.raises((InvalidTangentError, np.exceptions.ComplexWarning, TypeError))
            with adbc.use(adbc.Config(speculation=speculation)), wanted as raised:
                adbc.jvp(f, (x,), (ones(x),)) if is_forward else adbc.grad(f)(x)
            message = str(raised.value)
            assert "complex" in message or declare is complex_pullback
            if declare in (complex_vjp, complex_transpose, complex_rrule):
                assert "argument 0" in message and "(...).real" in message


@pytest.mark.parametrize("result", [None, float])
@pytest.mark.parametrize("form", ["joint", "separate", "by a function"])
def test_a_real_result_has_real_partial_derivatives_by_real_arguments(form: str, result: Any) -> None:
    slopes: Any = {
        "joint": lambda out, x: 2 + 1j,
        "separate": [lambda out, x: 2 + 1j],
        "by a function": [lambda out, x: fancy(x)],
    }[form]
    f = new(lambda x: x * 2)
    adbc.scalar_rule(f, result=result)(slopes)

    def program(x: Any) -> Any:
        return f(f(x)) * x

    for speculation in MODES:
        with adbc.use(adbc.Config(speculation=speculation, warm_after=0)):
            for x in (0.5,) if result is float else (0.5, np.float64(0.5), np.array(0.5), X):
                wanted = pytest.raises(
                    InvalidTangentError, match=r"as its derivative by argument 0.* complex"
                )
                with wanted:
                    adbc.grad(lambda x: np.sum(program(x)))(x)
                with wanted:
                    adbc.jvp(program, (x,), (x,))


def fancy(x: Any) -> Any:
    return [2 + 1j][0]


def test_a_complex_result_has_complex_partial_derivatives() -> None:
    f = new(lambda x: x * (2 + 1j))
    adbc.scalar_rule(f)([lambda out, x: 2 + 1j])
    for speculation in MODES:
        with adbc.use(adbc.Config(speculation=speculation, warm_after=0)):
            for _ in range(2):
                assert adbc.grad(lambda x: f(x).real)(0.5) == 2.0
                assert adbc.grad(lambda x: f(x).imag)(0.5) == 1.0
                assert adbc.jvp(f, (0.5,), (1.0,))[1] == 2 + 1j


def test_a_number_of_a_list_that_is_complex_has_a_complex_cotangent() -> None:
    f = new(lambda x: float(x[0] + x[1].real))
    adbc.rule(f, jvp=lambda d, out, x: d[0] + d[1].real, vjp=lambda b, out, x: [b, b + 0j])
    assert adbc.grad(f)([0.5, 1j]) == [1.0, 1.0 + 0j]
    g = new(lambda x: float(x[0] + x[1].real))
    adbc.rule(g, jvp=lambda d, out, x: d[0] + d[1].real, vjp=lambda b, out, x: [b + 0j, b + 0j])
    with pytest.raises(InvalidTangentError, match="complex, for a real float"):
        adbc.grad(g)([0.5, 1j])


def test_of_a_complex_result_the_real_part_is_the_cotangent_of_a_real_number() -> None:
    f = new(np.multiply)
    by_x, by_z = (lambda b, out, x, z: b * np.conj(z)), (lambda b, out, x, z: b * x)
    adbc.rule(f, jvp=(lambda d, out, x, z: d * z, lambda d, out, x, z: x * d), vjp=(by_x, by_z))
    z = np.array([1 + 2j, 3 - 1j])
    assert adbc.grad(lambda x: np.sum(f(x, z).imag))(np.array([0.5, 0.5])).tolist() == [2.0, -1.0]
    assert adbc.grad(lambda x: np.sum(f(x, z).imag))(0.5) == 1.0


class Slope:
    def __init__(self, k: float) -> None:
        self.k = k

    def __call__(self, out: Any, x: Any) -> Any:
        return self.k * x

    def of(self, out: Any, x: Any) -> Any:
        return self.k * x


@pytest.mark.parametrize(
    "partial",
    [
        Slope(2.0),
        Slope(2.0).of,
        functools.partial(lambda k, out, x: k * x, 2.0),
        lambda out, *xs: 2.0 * xs[0],
        lambda out, x, k=2.0: k * x,
        lambda out, x, *, k=2.0: k * x,
        lambda *given: 2.0 * given[1],
        lambda out, x: 2.0 * x,
        lambda out, x: [2.0 * x][0],
    ],
)
def test_partial_derivatives_may_be_called_in_any_way(partial: Any) -> None:
    def f(x: float) -> float:
        return x * x

    adbc.scalar_rule(f, result=float)([partial])
    for speculation in MODES:
        with adbc.use(adbc.Config(speculation=speculation, warm_after=0)):
            for _ in range(2):
                assert adbc.grad(lambda x: f(f(x)))(0.5) == 0.5
                assert adbc.jvp(lambda x: f(f(x)), (0.5,), (1.0,))[1] == 0.5
                assert adbc.grad(adbc.grad(lambda x: f(x) * 0.5))(0.5) == 1.0


# -- shapes again -------------------------------------------------------------------------------------------


def test_broadcasting_is_undone_but_never_added() -> None:
    f = new(np.multiply)
    adbc.rule(
        f,
        jvp=(lambda d, out, x, y: d * y, lambda d, out, x, y: x * d),
        vjp=(lambda b, out, x, y: b * y, lambda b, out, x, y: b * x),
    )
    column, row = np.array([[1.0], [2.0], [3.0]]), np.array([4.0, 5.0])

    def program(x: Any, y: Any, k: Any) -> Any:
        return np.sum(f(f(x, y), k))

    found = adbc.grad(program, (0, 1, 2))(column, row, 0.5)
    np.testing.assert_allclose(found[0], [[4.5], [4.5], [4.5]])
    np.testing.assert_allclose(found[1], [3.0, 3.0])
    assert found[2] == 54.0
    assert adbc.jvp(program, (column, row, 0.5), (None, None, 1.0))[1] == 54.0


def test_the_shape_of_a_partial_derivative_is_that_of_the_result() -> None:
    f = new(curve)
    adbc.scalar_rule(f)(lambda out, x: np.ones(3))
    for x in (X, 0.5):
        with pytest.raises(InvalidTangentError, match="its derivative by argument 0"):
            adbc.grad(lambda x: np.sum(f(x)))(x)
        with pytest.raises(InvalidTangentError, match="its derivative by argument 0"):
            adbc.jvp(lambda x: np.sum(f(x)), (x,), (x,))


def test_a_scalar_rule_of_a_function_of_whole_arrays_is_refused() -> None:
    f = new(length)
    adbc.scalar_rule(f)(lambda out, x: x / out)
    with pytest.raises(UnsupportedError, match=r"Declare its derivative so: adbc\.rule"):
        adbc.grad(f)(X)
    with pytest.raises(UnsupportedError, match=r"Declare its derivative so: adbc\.rule"):
        adbc.jvp(f, (X,), (X,))


def test_a_scalar_rule_broadcasts() -> None:
    f = new(lambda x, y: x * y)
    adbc.scalar_rule(f)(lambda out, x, y: (y, x))

    def program(x: Any, k: Any) -> Any:
        return np.sum(f(x, k))

    gradient = adbc.grad(program, (0, 1))(X, 2.0)
    np.testing.assert_allclose(gradient[0], [2.0, 2.0])
    assert gradient[1] == 7.0
    assert adbc.jvp(program, (X, 2.0), (X, 1.0))[1] == 21.0


# -- what users' functions may not do ---------------------------------------------------------------------


def test_a_declared_function_may_not_write_into_its_arguments() -> None:
    def halved(x: Any) -> Any:
        x *= 0.5
        return float(x.sum())

    adbc.rule(halved, jvp=lambda d, out, x: 0.5 * d.sum(), vjp=lambda b, out, x: np.full(2, 0.5 * b))
    x = X.copy()
    with pytest.raises(UnsupportedError, match="writes into an argument"):
        adbc.grad(halved)(x)
    with pytest.raises(UnsupportedError, match="writes into an argument"):
        adbc.jvp(halved, (x,), (X,))
    np.testing.assert_array_equal(x, X)


@pytest.mark.parametrize("give", [lambda x: x, lambda x: x[1:], lambda x: x.T])
def test_a_declared_function_gives_new_memory(give: Any) -> None:
    f = new(give)
    adbc.rule(f, jvp=lambda d, out, x: give(d), vjp=lambda b, out, x: b)
    with pytest.raises(UnsupportedError, match="whose result is new"):
        adbc.grad(lambda x: np.sum(f(x)))(X)
    with pytest.raises(UnsupportedError, match="whose result is new"):
        adbc.jvp(lambda x: np.sum(f(x)), (X,), (X,))


@pytest.mark.parametrize(
    "rdata, problem", [("b", "rdata 'b'"), (np.ones(2), "rdata array"), ((1.0,), "rdata \\(1.0,\\)")]
)
def test_the_rdata_of_a_primitive_are_checked(rdata: Any, problem: str) -> None:
    f = new(math.sin)

    def rrule(f: Any, x: Any) -> Any:
        return adbc.CoDual(math.sin(x.primal), adbc.NoFData()), lambda b: (adbc.NoRData(), rdata)

    adbc.primitive(f, rrule=rrule)
    with pytest.raises(InvalidTangentError, match=f"for argument 0 its pullback gives {problem}"):
        adbc.grad(f)(0.5)


def test_the_rdata_of_a_primitive_for_an_array_is_refused() -> None:
    f = new(length)

    def rrule(f: Any, x: Any) -> Any:
        return adbc.CoDual(length(x.primal), adbc.NoFData()), lambda b: (adbc.NoRData(), b * x.primal)

    adbc.primitive(f, rrule=rrule)
    with pytest.raises(InvalidTangentError, match=r"rdata .* for a ndarray, which has none"):
        adbc.grad(f)(X)


@pytest.mark.parametrize("tangent", [np.ones(2), "t", [1.0]])
def test_the_tangent_of_a_primitive_is_checked(tangent: Any) -> None:
    f = new(math.sin)
    adbc.primitive(f, frule=lambda f, x: adbc.Dual(math.sin(x.primal), tangent))
    with pytest.raises(InvalidTangentError, match="does not fit: it gives the tangent"):
        adbc.jvp(f, (0.5,), (1.0,))


def test_the_fdata_of_a_primitive_are_checked() -> None:
    f = new(np.sin)

    def rrule(f: Any, x: Any) -> Any:
        return adbc.CoDual(np.sin(x.primal), np.zeros(3)), lambda b: (adbc.NoRData(), adbc.NoRData())

    adbc.primitive(f, rrule=rrule)
    with pytest.raises(InvalidTangentError, match="has a shadow of shape"):
        adbc.grad(lambda x: np.sum(f(x)))(X)


# -- rows of the library -----------------------------------------------------------------------------------


@pytest.mark.parametrize("speculation", MODES)
def test_sequences_of_arrays_without_axes(speculation: str) -> None:
    x = np.array(2.0)
    with adbc.use(adbc.Config(speculation=speculation)):
        for f, wanted in [
            (lambda x: math.fsum([x, x]), 2.0),
            (lambda x: math.fsum((x, x * x)), 5.0),
            (lambda x: math.dist([x, 1.0], [0.0, x]), 3.0 / math.sqrt(5.0)),
            (lambda x: math.dist((x,), (3.0,)), -1.0),
            (lambda x: math.fsum(np.nditer(x)), 1.0),
            (lambda x: math.fsum(x * np.ones(3)), 3.0),
        ]:
            np.testing.assert_allclose(adbc.grad(f)(x), wanted)
            np.testing.assert_allclose(adbc.jvp(f, (x,), (np.array(1.0),))[1], wanted)


def test_library_rows_fit_what_they_give() -> None:
    """A scalar rule and a pure rule of the table, of a function that takes anything."""

    def f(x: Any) -> Any:
        return curve(x)

    rows: list[Rule] = [
        ScalarRule(f, (lambda out, x: slope(x),)),
        PureRule(f, jvp=(lambda d, out, x: slope(x) * d,), vjp=(lambda b, out, x: slope(x) * b,)),
    ]
    for row in rows:
        for x in (X, np.array(0.5), [0.5, 1.0], (0.5, 1.0)):
            shadow = (NO_FDATA, NO_FDATA) if isinstance(x, tuple) else fresh_shadow(x)
            _, fout, pullback = row.rrule((x,), (shadow,))
            is_array = isinstance(fout, np.ndarray)
            if is_array:
                fout[...] = 1.0
            (rdata,) = pullback(None if is_array else 1.0)
            found = rdata if isinstance(x, tuple) else shadow
            assert (rdata is None) is not isinstance(x, tuple)
            np.testing.assert_allclose(found, slope(x))


@pytest.mark.parametrize(
    "x, d",
    [
        ([1.0, 2.0], [1.0]),
        ([1.0, 2.0], 3.0),
        ((1.0, 2.0), (1.0, 2.0, 3.0)),
        (Meter(1.0), 2.0),
        (np.ones(2), np.ones(3)),
        (1.0, "d"),
        (1.0, [1.0]),
    ],
)
def test_what_cannot_be_a_cotangent_is_refused(x: Any, d: Any) -> None:
    shadow = (NO_FDATA, NO_FDATA) if isinstance(x, tuple) else fresh_shadow(x)
    with pytest.raises(InvalidTangentError):
        accumulate(shadow, x, d)


@pytest.mark.parametrize("speculation", MODES)
def test_a_number_that_is_broadcast_counts_once_for_each_element(speculation: str) -> None:
    def program(k: Any) -> Any:
        wide = np.broadcast_to(k, (4, 1))
        first, second = np.broadcast_arrays(k, np.ones((2, 2)))
        return (
            (wide * 1.0).sum() + (first.reshape(-1)[1:] * 3.0).sum() + (first.T * second).sum() + wide[0, 0]
        )

    with adbc.use(adbc.Config(speculation=speculation)):
        for k in (0.7, np.float64(0.7)):
            assert adbc.grad(program)(k) == 4.0 + 9.0 + 4.0 + 1.0
            assert adbc.jvp(program, (k,), (1.0,))[1] == 18.0


@pytest.mark.parametrize("speculation", MODES)
def test_a_declared_function_may_give_an_array_that_overlaps_itself(speculation: str) -> None:
    f = new(lambda k: np.broadcast_to(np.float64(k), (2, 3)))
    adbc.rule(f, jvp=lambda d, out, k: d, vjp=lambda b, out, k: b)
    weights = np.arange(6.0).reshape(2, 3)
    with adbc.use(adbc.Config(speculation=speculation)):
        assert adbc.grad(lambda k: (f(k) * weights).sum())(0.5) == 15.0
        assert adbc.jvp(lambda k: (f(k) * weights).sum(), (0.5,), (1.0,))[1] == 15.0
