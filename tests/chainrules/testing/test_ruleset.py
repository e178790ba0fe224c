"""`test_ruleset` finds what is wrong with rules without running them."""

from __future__ import annotations

import sys
import types
from collections.abc import Iterator
from typing import Any

import pytest

from adbc import chainrules as cr
from adbc.chainrules.testing import test_ruleset as check_ruleset


@pytest.fixture(autouse=True)
def scope() -> Iterator[None]:
    with cr.scoped():
        yield


def area(a: Any, b: Any) -> Any:
    return a * b


def test_right_rules_are_counted() -> None:
    found = [
        cr.scalar_rule(area, lambda out, a, b: b, lambda out, a, b: a),
        cr.scalar_rule(area, 1.0, None, when=(complex,)),
    ]

    @cr.rrule(len)
    def _(len: Any, x: Any) -> Any: ...

    cr.opt_out(area, when=(list,))
    assert check_ruleset(cr.registry) >= len(found) + 2


@pytest.mark.parametrize(
    ("declare", "message"),
    [
        (lambda: cr.rrule(area)(lambda area, a: None), "takes 1 arguments, the function 2"),
        (lambda: cr.rrule(area)(lambda a, b: None), "takes 1 arguments, the function 2"),
        (lambda: cr.frule(area)(lambda tangents: None), "lacks the place of the function"),
        (lambda: cr.frule(area)(lambda tangents, f, a, b, c: None), "takes 3 arguments"),
        (
            lambda: cr.rrule(area, config=cr.RuleConfig.requires("reverse"))(lambda f, a, b: None),
            "takes 1 arguments",
        ),
        (lambda: cr.scalar_rule(area, lambda a, b: b, None), "a partial derivative takes 2"),
        (lambda: cr.scalar_rule(area, 1.0, 1.0, when=(float, float, float)), "3 classes for 2"),
        (
            lambda: (cr.scalar_rule(area, 1.0, 1.0), cr.scalar_rule(area, 1.0, 1.0)),
            "declared twice",
        ),
        (
            lambda: (
                cr.scalar_rule(area, 1.0, 1.0, when=(float,)),
                cr.scalar_rule(area, 1.0, 1.0, when=lambda *classes: classes[1] is int),
            ),
            r"two rules are for \(float, int\)",
        ),
    ],
)
def test_wrong_rules_are_listed(declare: Any, message: str) -> None:
    declare()
    with pytest.raises(AssertionError, match=message):
        check_ruleset([d for d in cr.registry if d.function is area])


def test_a_rule_of_the_module_that_nobody_declared_is_listed() -> None:
    module = types.ModuleType("some_rules")
    sys.modules["some_rules"] = module
    try:
        exec(
            "from adbc import chainrules as cr\n"
            "def f(x): return x\n"
            "@cr.rrule(f)\n"
            "def f_rrule(f, x): pass\n"
            "def g_rrule(g, x): pass\n",
            vars(module),
        )
        with pytest.raises(AssertionError, match=r"some_rules\.g_rrule is named like a rule"):
            check_ruleset(module)
        del module.g_rrule
        assert check_ruleset(module) == 1
    finally:
        del sys.modules["some_rules"]
