"""Run as a program: replace the functions of a module by round trips of themselves, then test it.

``python -m tests.programs.replace_and_test statistics`` runs the interpreter's own regression tests
against the replaced functions and prints one line of JSON: what was replaced, what was refused.
"""

from __future__ import annotations

import collections
import importlib
import json
import sys
import types
import unittest
from typing import Any

from adbc.emit.verify_stack import verify_stack
from adbc.errors import LiftError
from adbc.inspect.roundtrip import roundtrip

# Where a test runs a module that was imported afresh without its C half, it is this attribute.
FRESH = {
    "bisect": ["py_bisect"],
    "heapq": ["py_heapq"],
    "statistics": ["statistics"],
    "colorsys": ["colorsys"],
    "fractions": ["fractions"],
    "textwrap": [],
    "copy": ["copy"],
}


class Replacer:
    """Replaces functions in a module and its classes, and counts."""

    def __init__(self) -> None:
        self.replaced: list[str] = []
        self.refused: collections.Counter[str] = collections.Counter()
        self.seen: dict[types.FunctionType, types.FunctionType] = {}

    def function(self, function: types.FunctionType) -> types.FunctionType:
        if function not in self.seen:
            try:
                copy = roundtrip(function)
                verify_stack(copy.__code__)
                self.replaced.append(function.__qualname__)
            except LiftError as error:
                self.refused[str(error).split(": ", 1)[-1]] += 1
                copy = function
            self.seen[function] = copy
        return self.seen[function]

    def value(self, value: Any) -> Any:
        if isinstance(value, types.FunctionType):
            return self.function(value)
        if isinstance(value, staticmethod | classmethod) and isinstance(value.__func__, types.FunctionType):
            return type(value)(self.function(value.__func__))
        if type(value) is property:
            parts = [
                self.function(f) if isinstance(f, types.FunctionType) else f
                for f in (value.fget, value.fset, value.fdel)
            ]
            return property(*parts, value.__doc__)
        return value

    def namespace(self, owner: Any, module: types.ModuleType) -> None:
        for name, value in list(vars(owner).items()):
            if isinstance(value, type):
                if value.__module__ == module.__name__ and owner is module:
                    self.namespace(value, module)
                continue
            if isinstance(value, types.FunctionType) and value.__globals__ is not vars(module):
                continue
            new = self.value(value)
            if new is not value:
                setattr(owner, name, new)


def main(name: str) -> int:
    tests = importlib.import_module(f"test.test_{name}")
    modules = [getattr(tests, attribute) for attribute in FRESH[name]] or [importlib.import_module(name)]
    replacer = Replacer()
    for module in modules:
        replacer.namespace(module, module)
        for attribute, value in list(vars(tests).items()):
            if isinstance(value, types.FunctionType) and value in replacer.seen:
                setattr(tests, attribute, replacer.seen[value])  # `from module import function`
    suite = unittest.defaultTestLoader.loadTestsFromModule(tests)
    result = unittest.TextTestRunner(verbosity=0).run(suite)
    print(
        json.dumps(
            {
                "run": result.testsRun,
                "replaced": replacer.replaced,
                "refused": replacer.refused,
                "failed": [str(test) for test, _ in (*result.failures, *result.errors)],
            }
        )
    )
    return 0 if result.wasSuccessful() else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
