"""Exceptions, context managers, patterns and generators: right in both modes, arguments restored."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from adbc.testing import test_rule as check_rule
from tests.programs.checks import check_gradient
from tests.programs.control import CASES


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_the_gradient_through_control_flow_is_right(case: tuple[Callable[..., Any], tuple[Any, ...]]) -> None:
    function, arguments = case
    check_gradient(function, *arguments)


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_both_rules_through_control_flow_are_right(case: tuple[Callable[..., Any], tuple[Any, ...]]) -> None:
    function, arguments = case
    check_rule(function, *arguments)
