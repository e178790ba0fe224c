"""Derived rules take arguments by keyword, and give what belongs to these by name."""

from __future__ import annotations

from typing import Any

import pytest

import adbc
from adbc.errors import InvalidTangentError

NONE = adbc.NoFData()


def kinds(x: Any, y: Any = 2.0, *, k: Any = 1.0, **others: Any) -> Any:
    others["u"][0] = others["u"][0] * x
    return x * y * k * others["u"][0]


def test_keywords_of_a_signature_in_reverse() -> None:
    rule = adbc.build_rrule((kinds, float), u=list, k=float)
    f = adbc.CoDual(kinds, NONE)
    for _ in range(2):
        u, bu = [3.0], [0.0]
        # in another order than that of the signature
        out, pullback = rule(f, adbc.CoDual(2.0, NONE), k=adbc.CoDual(5.0, NONE), u=adbc.CoDual(u, bu))
        assert (out.primal, u) == (2.0 * 2.0 * 5.0 * 6.0, [6.0])
        assert pullback(1.0) == (adbc.NoRData(), 120.0, {"u": adbc.NoRData(), "k": 24.0})
        assert (u, bu) == ([3.0], [40.0])


def test_keywords_of_a_signature_forward() -> None:
    rule = adbc.build_frule(adbc.Signature.of(kinds, 2.0, k=5.0), u=list)
    f = adbc.Dual(kinds, adbc.NoTangent())
    u, du = [3.0], [1.0]
    dual = rule(f, adbc.Dual(2.0, 0.0), u=adbc.Dual(u, du), k=adbc.Dual(5.0, 1.0))
    assert (dual.primal, dual.tangent, u, du) == (120.0, 24.0 + 40.0, [6.0], [2.0])
    assert str(rule.signature) == "kinds(float, k=float, u=list)"


def test_names_of_positional_parameters() -> None:
    def product(x: Any, y: Any) -> Any:
        return x * x * y

    rule = adbc.build_rrule((product, float, float))
    f, x, y = adbc.CoDual(product, NONE), adbc.CoDual(2.0, NONE), adbc.CoDual(3.0, NONE)
    for given, named in [((f, x), {"y": y}), ((f,), {"y": y, "x": x}), ((f, x, y), {})]:
        out, pullback = rule(*given, **named)
        assert (out.primal, pullback(1.0)) == (12.0, (adbc.NoRData(), 12.0, 4.0))


def test_other_keywords_than_those_of_the_signature_are_an_error() -> None:
    rule = adbc.build_rrule((kinds, float), k=float)
    f, x = adbc.CoDual(kinds, NONE), adbc.CoDual(2.0, NONE)
    for named in ({}, {"u": x}, {"k": x, "u": x}):
        with pytest.raises(InvalidTangentError, match=r"by the keywords \['k'\], not"):
            rule(f, x, **named)
    with pytest.raises(InvalidTangentError, match="CoDual"):
        rule(f, x, k=5.0)  # type: ignore[arg-type]  # that is the mistake
