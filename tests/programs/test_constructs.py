"""Constructs of the language, one function each: right in both modes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from adbc.testing import test_rule as check_rule
from tests.programs.checks import check_gradient
from tests.programs.constructs import CASES


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_the_gradient_of_every_construct_is_right(case: tuple[Callable[..., Any], float]) -> None:
    function, x = case
    check_gradient(function, x)


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_both_rules_of_every_construct_are_right(case: tuple[Callable[..., Any], float]) -> None:
    function, x = case
    check_rule(function, x)
