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

PROGRAMS: dict[str, tuple[str, tuple[str, ...]]] = {
    "statistics": ("test.test_statistics", ("tests.statistics",)),
    "colorsys": ("test.test_colorsys", ("tests.colorsys",)),
    "bisect": ("test.test_bisect", ("tests.py_bisect",)),
    "heapq": ("test.test_heapq", ("tests.py_heapq",)),
    "fractions": ("test.test_fractions", ("tests.fractions",)),
    "copy": ("test.test_copy", ("tests.copy",)),
    "textwrap": ("test.test_textwrap", ("textwrap",)),
    "string": ("test.test_string", ("string",)),
    "difflib": ("test.test_difflib", ("difflib",)),
    "calendar": ("test.test_calendar", ("calendar",)),
    "reprlib": ("test.test_reprlib", ("reprlib",)),
    "graphlib": ("test.test_graphlib", ("graphlib",)),
    "numbers": ("test.test_abstract_numbers", ("numbers",)),
    "random": ("test.test_random", ("random",)),
    "pprint": ("test.test_pprint", ("pprint",)),
    "contextlib": ("test.test_contextlib", ("contextlib",)),
    "functools": ("test.test_functools", ("tests.py_functools",)),
    "collections": ("test.test_collections", ("collections", "_collections_abc")),
    "json": (
        "test.test_json",
        ("tests.pyjson", "tests.pyjson.decoder", "tests.pyjson.encoder", "tests.pyjson.scanner"),
    ),
    "datetime": ("test.datetimetester", ("tests.datetime_module.timedelta.__add__.__globals__",)),
    "decimal": ("test.test_decimal", ("tests.P.Decimal.from_float.__func__.__globals__",)),
    "argparse": ("test.test_argparse", ("argparse",)),
    "configparser": ("test.test_configparser", ("configparser",)),
    "ipaddress": ("test.test_ipaddress", ("ipaddress",)),
    "dataclasses": ("test.test_dataclasses", ("dataclasses",)),
}
"""Module -> its tests, and where the functions are that these run.

Where a test imports a module afresh, without its C half, that is found in the tests themselves.
"""


class Namespace:
    """Globals, seen as the attributes of an object."""

    def __init__(self, space: dict[str, Any]) -> None:
        self.__dict__ = space


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

    def namespace(self, owner: Any, space: dict[str, Any]) -> None:
        for name, value in list(vars(owner).items()):
            if isinstance(value, type):
                if value.__module__ == space["__name__"] and not isinstance(owner, type):
                    self.namespace(value, space)
                continue
            if isinstance(value, types.FunctionType) and value.__globals__ is not space:
                continue
            new = self.value(value)
            if new is not value:
                setattr(owner, name, new)


def tests_of(name: str) -> types.ModuleType:
    if name != "test.datetimetester":
        return importlib.import_module(name)
    from test.support.import_helper import import_fresh_module  # type: ignore[import-untyped]

    # These run twice, against the module in C and the one in Python.
    fresh = ["datetime", "_strptime", *(["_pydatetime"] if sys.version_info >= (3, 12) else [])]
    tests = import_fresh_module(name, fresh=fresh, blocked=["_datetime"])
    sys.modules.update({name: tests, "datetime": tests.datetime_module, "_strptime": tests._strptime})
    if sys.version_info >= (3, 12):  # where pickles find the classes
        sys.modules["_pydatetime"] = Namespace(tests.datetime_module.timedelta.__add__.__globals__)  # type: ignore[assignment]
    for value in vars(tests).values():
        if isinstance(value, type) and issubclass(value, unittest.TestCase):
            value.__name__ += "_Pure"  # the tests look at this
            value.__qualname__ += "_Pure"
    return tests


def found(path: str, tests: types.ModuleType) -> Any:
    """The namespace at `path`, an attribute of the tests or a module."""
    if not path.startswith("tests."):
        return importlib.import_module(path)
    value: Any = tests
    for attribute in path.split(".")[1:]:
        value = getattr(value, attribute)
    return Namespace(value) if isinstance(value, dict) else value


def main(name: str) -> int:
    name_of_tests, paths = PROGRAMS[name]
    tests = tests_of(name_of_tests)
    replacer = Replacer()
    for path in paths:
        owner = found(path, tests)
        replacer.namespace(owner, vars(owner))
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
