"""On the cuts of complex functions, derivatives take the side that the functions take."""

from __future__ import annotations

import cmath

import pytest

import adbc

ON_CUTS = [
    complex(3.0, 0.0), complex(3.0, -0.0), complex(-3.0, 0.0), complex(-3.0, -0.0), complex(0.0, 3.0),
    complex(-0.0, 3.0), complex(0.0, -3.0), complex(-0.0, -3.0), complex(0.3, 0.4),
]  # fmt: skip


@pytest.mark.parametrize("name", ["asin", "acos", "asinh", "acosh", "atan", "atanh", "sqrt", "log"])
@pytest.mark.parametrize("z", ON_CUTS, ids=repr)
def test_on_a_cut_the_side_is_that_of_the_function(name: str, z: complex) -> None:
    function = getattr(cmath, name)
    along = 1.0 if z.imag == 0.0 else 1j

    def moved(t: float) -> complex:
        return complex(z.real + t, z.imag) if z.imag == 0.0 else complex(z.real, z.imag + t)

    h = 1e-6
    difference = (function(moved(h)) - function(moved(-h))) / (2 * h)
    _, tangent = adbc.jvp(function, (z,), (complex(along),))
    assert tangent == pytest.approx(difference, rel=1e-5)


@pytest.mark.parametrize("name", ["asin", "acos", "acosh", "atanh", "sqrt", "log"])
@pytest.mark.parametrize("x", [3.0, -3.0, 0.3])
def test_real_numbers_are_on_the_side_where_the_function_sees_them(name: str, x: float) -> None:
    function = getattr(cmath, name)
    h = 1e-6
    difference = (function(x + h) - function(x - h)) / (2 * h)
    _, tangent = adbc.jvp(function, (x,), (1.0,))
    assert tangent == pytest.approx(difference, rel=1e-5)
    for part in ("real", "imag"):
        slope = adbc.grad(lambda x: getattr(function(x), part))(x)  # noqa: B023
        assert slope == pytest.approx(getattr(difference, part), rel=1e-5, abs=1e-9)
