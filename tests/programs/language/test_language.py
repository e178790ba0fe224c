"""Every construct of the language, in both modes, with a change of state inside it."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

import pytest

from adbc.testing import test_rule as check_rule
from tests.programs.checks import check_gradient

MODULES = [
    "assignments",
    "callables",
    "carried",
    "class_bodies",
    "classes_in_functions",
    "constructed",
    "container_classes",
    "derived_classes",
    "descriptors",
    "dict_walks",
    "exceptions",
    "generators",
    "hints",
    "inherited",
    "list_walks",
    "managers",
    "matching",
    "records",
    "settings",
    "slices",
    "special_methods",
    "spread_calls",
]


def programs() -> list[Any]:
    found = []
    for name in MODULES:
        module = importlib.import_module(f"tests.programs.language.{name}")
        found += [pytest.param(*entry, id=f"{name}: {key}") for key, entry in module.case.items()]
    return found


@pytest.mark.parametrize(("function", "arguments"), programs())
def test_both_rules_of_every_construct_are_right(
    function: Callable[..., Any], arguments: tuple[Any, ...]
) -> None:
    check_rule(function, *arguments)


@pytest.mark.parametrize(("function", "arguments"), programs())
def test_the_gradient_of_every_construct_is_right(
    function: Callable[..., Any], arguments: tuple[Any, ...]
) -> None:
    check_gradient(function, *arguments)
