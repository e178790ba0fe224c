"""The interpreter's own tests of the language pass inside of a derivative, in both modes.

``nox -s language`` runs many more modules, and prints what is refused and what fails.
"""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
from typing import Any

import pytest

MODULES = {
    "test_with": 50,
    "test_exception_variations": 10,
    "test_augassign": 7,
    "test_dictcomps": 9,
    "test_property": 20,
    "test_keywordonlyarg": 9,
    "test_decorators": 12,
    "test_string": 30,
    "test_bisect": 30,
    "test_operator": 80,
    "test_subclassinit": 15,
    "test_isinstance": 20,
    "test_hash": 20,
    "test_positional_only_arg": 20,
    "test_dynamicclassattribute": 8,
    "test_yield_from": 25,
    "test_funcattrs": 12,
    "test_copy": 60,
    "test_shlex": 12,
    "test_grammar": 60,
    "test_abc": 50,
}
"""Modules, and how many of their tests are right at least, on any interpreter."""


def found(name: str) -> bool:
    """Whether the interpreter has its tests: distributions put them into a package of their own."""
    return importlib.util.find_spec("test") is not None and (
        importlib.util.find_spec(f"test.{name}") is not None
    )


@pytest.mark.parametrize("name", [name for name in MODULES if found(name)])
@pytest.mark.parametrize("mode", ["forward", "reverse"])
def test_module(name: str, mode: str) -> None:
    command = [sys.executable, "-m", "tests.programs.inside_a_derivative", name]
    finished = subprocess.run(
        command + ["--reverse"] * (mode == "reverse"), capture_output=True, text=True, check=True
    )
    report: dict[str, Any] = json.loads(finished.stdout.splitlines()[-1])
    assert report["failed"] == {}
    assert report["right"] >= MODULES[name]
