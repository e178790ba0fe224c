"""Rows for numbers: operators, builtins, `math`, `cmath`."""

from __future__ import annotations

import builtins
import cmath
import math
import operator
import sys
from typing import Any

import pytest

import adbc
from adbc.rules import default_table
from adbc.rules.table import Overlay, ScalarRule, ZeroRule
from adbc.testing import test_rule as check_rule
from tests.rules.constants import holding

REAL_UNARY = {
    "sin": (0.7, -2.0),
    "cos": (0.7, -2.0),
    "tan": (0.7, -2.0),
    "asin": (0.3, -0.9),
    "acos": (0.3, -0.9),
    "atan": (0.3, -3.0),
    "sinh": (0.7, -2.0),
    "cosh": (0.7, -2.0),
    "tanh": (0.7, -2.0),
    "asinh": (0.7, -3.0),
    "acosh": (1.4, 6.0),
    "atanh": (0.2, -0.8),
    "exp": (0.7, -2.0),
    "exp2": (0.7, -2.0),
    "expm1": (0.7, -2.0, 1e-3),
    "log": (0.7, 5.0),
    "log1p": (0.7, -0.5),
    "log2": (0.7, 5.0),
    "log10": (0.7, 5.0),
    "sqrt": (0.7, 5.0),
    "cbrt": (0.7, -5.0),
    "fabs": (0.7, -5.0),
    "degrees": (0.7,),
    "radians": (0.7,),
    "erf": (0.7, -1.1),
    "erfc": (0.7, -1.1),
    "gamma": (0.7, 4.2, -1.3),
    "lgamma": (0.7, 12.5, -1.3, -2.6),
    "floor": (0.7, -1.2),
    "ceil": (0.7, -1.2),
    "trunc": (0.7, -1.2),
    "isnan": (0.7,),
    "isinf": (0.7,),
    "isfinite": (0.7,),
    "isnormal": (0.7,),
    "issubnormal": (0.7,),
    "signbit": (0.7, -0.7),
}
UNARY_CASES = [(name, x) for name, xs in REAL_UNARY.items() if hasattr(math, name) for x in xs]


@pytest.mark.parametrize(("name", "x"), UNARY_CASES)
def test_math_of_one_number(name: str, x: float) -> None:
    check_rule(getattr(math, name), x)


@pytest.mark.parametrize(("name", "x"), UNARY_CASES)
def test_math_of_one_number_where_its_type_is_known(name: str, x: float) -> None:
    """The partial derivative is written into the code of a function with other globals."""
    made: dict[str, Any] = {"math": math}
    exec(f"def f(x):\n    return 2.0 * math.{name}(x)", made)
    check_rule(made["f"], x)


REAL_MANY = [
    *((getattr(math, f), 0.3, 1.2) for f in ("fmax", "fmin") if hasattr(math, f)),
    *((getattr(math, f), 1.2, 0.3) for f in ("fmax", "fmin") if hasattr(math, f)),
    (math.atan2, 0.3, -1.2),
    (math.pow, 0.7, 2.3),
    (math.pow, -0.7, 2.0),
    (math.log, 0.7, 3.0),
    (math.fmod, 7.3, 2.1),
    (math.fmod, -7.3, 2.1),
    (math.remainder, 7.3, 2.1),
    (math.copysign, 3.0, -2.0),
    (math.copysign, -3.0, -2.0),
    (math.ldexp, 0.7, 3),
    (math.hypot, 0.3, -0.4),
    (math.hypot, 0.3, 1.2, -0.4),
    (math.hypot, 0.3),
    (math.hypot,),
    (math.frexp, 5.3),
    (math.modf, -5.3),
    (math.nextafter, 1.0, 2.0),
    (math.comb, 5, 2),
    (math.gcd, 12, 8),
    (math.isclose, 1.0, 2.0),
]


@pytest.mark.parametrize("case", REAL_MANY)
def test_math_of_several(case: tuple) -> None:
    inactive = (1,) if case[0] is math.pow and case[1] < 0.0 else ()
    function, args = holding(case[0], case[1:], inactive=inactive)
    check_rule(function, *args)


OPERATORS = [
    *((getattr(operator, f), 0.7) for f in ("is_none", "is_not_none") if hasattr(operator, f)),
    (operator.add, 0.7, -1.3),
    (operator.add, 2, 1.5),
    (operator.add, 0.7, 1 + 2j),
    (operator.sub, 0.7, -1.3),
    (operator.mul, 0.7, -1.3),
    (operator.mul, 3, -1.3),
    (operator.mul, 1 + 2j, 0.5 - 1j),
    (operator.mul, 0.5, 1 - 2j),
    (operator.truediv, 0.7, -1.3),
    (operator.truediv, 1, 2.5),
    (operator.truediv, 1 + 2j, 0.5 - 1j),
    (operator.truediv, 2.0, 1j),
    (operator.pow, 0.7, 2.3),
    (operator.pow, 1.7, 2),
    (operator.pow, -1.7, 3),
    (operator.pow, -1.7, -2),
    (operator.pow, 2, 1.5),
    (operator.pow, 1 + 2j, 3),
    (operator.pow, 1 + 2j, 0.5 + 1j),
    (operator.pow, -1.3, 0.5),
    (operator.pow, 1.5, 1 + 1j),
    (operator.mod, 7.3, 2.1),
    (operator.mod, -7.3, 2.1),
    (operator.mod, 7.3, -2.1),
    (operator.mod, 7, 2.1),
    (operator.floordiv, 7.3, 2.1),
    (operator.neg, 0.7),
    (operator.neg, 1j),
    (operator.pos, 0.7),
    (operator.abs, 0.7),
    (operator.abs, -0.7),
    (operator.abs, 3 - 4j),
    (operator.iadd, 0.7, 1.0),
    (operator.imul, 0.7, 1.5),
    (operator.ipow, 0.7, 1.5),
    (operator.isub, 0.7, 1.5),
    (operator.itruediv, 0.7, 1.5),
    (operator.imod, 7.3, 2.1),
    (operator.ifloordiv, 7.3, 2.1),
    (operator.lt, 0.7, 1),
    (operator.eq, 0.7, 1.0),
    (operator.eq, 0.7, None),
    (operator.and_, 6, 3),
    (operator.invert, 6),
    (operator.lshift, 1, 3),
    (operator.not_, 0.0),
    (operator.mod, "%.2f", 1.234),
    (operator.contains, [1.0, 2.0], 2.0),
    (operator.is_, 1.0, None),
    (builtins.abs, -0.7),
    (builtins.abs, 3 - 4j),
    (builtins.max, 0.7, 1.2),
    (builtins.max, 1.7, 1.2),
    (builtins.min, 0.7, 1.2),
    (builtins.min, 1.7, 1.2),
    (builtins.max, 1, 1.2),
    (builtins.max, 2, 1.2),
    (builtins.pow, 0.7, 2.3),
    (builtins.pow, 3, 4, 5),
    (builtins.divmod, 7.3, 2.1),
    (builtins.divmod, -7.3, 2.1),
    (builtins.divmod, 7, 2),
    (float, 0.7),
    (float, 3),
    (float, "1.5"),
    (float,),
    (complex, 0.7),
    (complex, 0.7, 1.2),
    *([(complex, 1 + 1j, 1.2)] if sys.version_info < (3, 14) else []),  # deprecated from then on
    (complex, "1j"),
    (int, 2.7),
    (int, "3"),
    (bool, 0.7),
    (round, 2.6),
    (round, 2.643, 2),
    (float.conjugate, 0.7),
    (complex.conjugate, 1 + 2j),
    (float.is_integer, 2.5),
    (len, [1.0, 2.0]),
    (hash, 1.5),
    (str, 1.5),
    (repr, 1.5),
    (format, 1.5, ".3f"),
    (isinstance, 1.5, float),
    (type, 1.5),
]


@pytest.mark.parametrize("case", OPERATORS, ids=lambda case: f"{case[0].__name__}{case[1:]}")
def test_operators_and_builtins(case: tuple) -> None:
    function, args = case[0], case[1:]
    if _has_real_exponent_of_negative(case):
        function, args = holding(function, args, inactive=(1,))
    check_rule(function, *args)


def _has_real_exponent_of_negative(case: tuple) -> bool:
    return case[0] is operator.pow and isinstance(case[1], float) and case[1] < 0.0 and case[2] != 0.5


COMPLEX = [
    (getattr(cmath, name), 0.4 - 0.3j)
    for name in [
        "exp",
        "sin",
        "cos",
        "tan",
        "sinh",
        "cosh",
        "tanh",
        "asin",
        "acos",
        "atan",
        "asinh",
        "acosh",
        "atanh",
        "log",
        "log10",
        "sqrt",
        "phase",
        "polar",
        "isnan",
    ]
] + [
    (cmath.log, 1 + 2j, 3 - 1j),
    (cmath.rect, 0.7, 1.2),
    (cmath.polar, -1.5),
    (cmath.exp, 0.7),
    (cmath.phase, -1 - 2j),
]
COMPLEX += [
    (f, z) for f in (cmath.asin, cmath.acos, cmath.asinh, cmath.acosh) for z in (-2 + 1j, 2 - 1j, -0.5 - 2j)
]


@pytest.mark.parametrize("case", COMPLEX, ids=lambda case: f"{case[0].__name__}{case[1:]}")
def test_cmath(case: tuple) -> None:
    check_rule(*case)


@pytest.mark.parametrize("name", ["real", "imag"])
def test_parts_of_a_complex_number(name: str) -> None:
    check_rule(operator.attrgetter(name), 1.5 - 2j)


@pytest.mark.parametrize("name", ["real", "imag"])
def test_parts_of_a_real_number(name: str) -> None:
    check_rule(operator.attrgetter(name), 1.5)


def test_declared_class_of_the_result_is_the_class() -> None:
    for case in [*OPERATORS, *REAL_MANY, *UNARY_CASES_OF_MATH, *COMPLEX]:
        function, *args = case
        classes = tuple(type(x) for x in args)
        row = default_table().find(function, classes)
        assert row is not None, function
        declared = (
            row.result(*classes) if callable(row.result) and not isinstance(row.result, type) else row.result
        )
        if declared is not None:
            assert type(function(*args)) is declared, case


UNARY_CASES_OF_MATH = [(getattr(math, name), x) for name, x in UNARY_CASES]


def test_every_function_of_math_has_a_row() -> None:
    table = default_table()
    missing = [name for name, f in vars(math).items() if callable(f) and not table.rows(f)]
    assert missing == ["__loader__"] or not [m for m in missing if not m.startswith("_")]


def test_every_function_of_cmath_has_a_row() -> None:
    table = default_table()
    assert not [
        n for n, f in vars(cmath).items() if callable(f) and not n.startswith("_") and not table.rows(f)
    ]


def test_scalar_partials_match_the_number_of_arguments() -> None:
    for row in default_table():
        if isinstance(row, ScalarRule) and not row.is_looked_at:  # not those that other tests declare
            for partial in row.partials:
                assert partial is None or partial.__code__.co_argcount >= 2


def test_a_subclass_with_its_own_operators_has_no_row() -> None:
    class Own(float):
        def __add__(self, other: object) -> float:
            return 0.0

    table = default_table()
    assert table.find(operator.add, (Own, float)) is None
    assert table.find(operator.add, (bool, float)) is not None


def test_kinds_of_rows() -> None:
    table = default_table()
    assert isinstance(table.find(len, (list,)), ZeroRule)
    assert isinstance(table.find(sorted, (list,)), Overlay)


def test_the_greater_by_a_key() -> None:
    check_rule(builtins.max, 1.0, -3.0, kwargs={"key": abs})
    check_rule(builtins.min, 1.0, -3.0, kwargs={"key": abs})


def test_a_complex_number_by_keywords_is_not_a_constant() -> None:
    row = default_table().find(complex, ())
    assert isinstance(row, Overlay)
    assert row.body(imag=2.0) == 2j
    assert row.body() == 0j
    assert row.body(1.5, imag=2.0) == 1.5 + 2j


class Angle:
    def __init__(self, degrees: float) -> None:
        self.degrees = degrees

    def __float__(self) -> float:
        return self.degrees * math.pi / 180.0


def test_what_has_a_float() -> None:
    check_rule(lambda x: math.sin(Angle(x)) + math.atan2(x, Angle(x * x)), 37.0)


@pytest.mark.parametrize("function", [max, min])
def test_a_default_is_for_one_iterable_alone(function: Any) -> None:
    """Several numbers and a default are refused as by Python, also by code that is written for numbers."""

    def two(x: float) -> float:
        return function(x, 2.0, default=3.0)

    def three(x: float) -> float:
        return function(x, 2.0, 3.0, key=abs, default=None)

    for f in (two, three):
        for _ in range(5):
            with pytest.raises(TypeError, match="Cannot specify a default"):
                adbc.grad(f)(1.5)
            with pytest.raises(TypeError, match="Cannot specify a default"):
                adbc.jvp(f, (1.5,), (1.0,))
