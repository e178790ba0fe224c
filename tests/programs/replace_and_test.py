"""Run as a program: replace the functions of a module by round trips of themselves, then test it.

``python -m tests.programs.replace_and_test statistics`` runs the interpreter's own regression tests
against the replaced functions and prints one line of JSON: what was replaced, what was refused, what failed.
With ``--plain`` nothing is replaced: what fails then is not adbc's doing.  ``numpy.lib`` runs all of NumPy's
tests of that package, ``numpy.lib:test_twodim_base`` those of one file.
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import pathlib
import pkgutil
import platform
import sys
import types
import unittest
from typing import Any

import pytest

from tests.programs.replacing import Replacer

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


PACKAGES = ("numpy.polynomial", "numpy.lib", "numpy.ma")
"""Packages whose tests, by pytest, are in a folder of theirs."""


class Namespace:
    """Globals, seen as the attributes of an object."""

    def __init__(self, space: dict[str, Any]) -> None:
        self.__dict__ = space


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


def space_at(path: str, tests: types.ModuleType) -> dict[str, Any]:
    """The globals at `path`, an attribute of the tests or a module."""
    if not path.startswith("tests."):
        return vars(importlib.import_module(path))
    value: Any = tests
    for attribute in path.split(".")[1:]:
        value = getattr(value, attribute)
    return value if isinstance(value, dict) else vars(value)


def spaces_of_package(name: str) -> list[dict[str, Any]]:
    """The globals of a package and of all modules in it but its tests."""
    package = importlib.import_module(name)
    modules = [package]
    for info in pkgutil.walk_packages(package.__path__, name + "."):
        if "tests" not in info.name.split("."):
            modules.append(importlib.import_module(info.name))
    return [vars(module) for module in modules]


class Outcomes:
    """A plugin of pytest that counts."""

    def __init__(self) -> None:
        self.run = 0
        self.failed: list[str] = []

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self.run += report.when == "call"
        if report.failed:
            self.failed.append(f"{report.nodeid} ({report.when})")

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.failed:
            self.failed.append(report.nodeid)


def run_pytest(package: str, file: str) -> tuple[int, list[str]]:
    """How many tests of a package ran, and which failed."""
    folder = pathlib.Path(importlib.import_module(package).__path__[0]) / "tests"
    outcomes = Outcomes()
    where = folder / f"{file}.py" if file else folder
    options = ["-q", "-p", "no:cacheprovider", "-c", os.devnull, "--rootdir", str(folder), "-m", "not slow"]
    pytest.main([*options, "-W", "ignore::pytest.PytestUnknownMarkWarning", str(where)], plugins=[outcomes])
    return outcomes.run, outcomes.failed


def run_unittest(tests: types.ModuleType) -> tuple[int, list[str]]:
    """How many tests of a module ran, and which failed."""
    suite = unittest.defaultTestLoader.loadTestsFromModule(tests)
    result = unittest.TextTestRunner(verbosity=0).run(suite)
    return result.testsRun, [str(test) for test, _ in (*result.failures, *result.errors)]


def main(name: str, *, plain: bool) -> int:
    """Run one program; the result is 1 if a test failed."""
    replacer = Replacer()
    package, _, file = name.partition(":")
    if package in PACKAGES:
        if not plain:
            replacer.namespaces(spaces_of_package(package))
        run, failed = run_pytest(package, file)
    else:
        name_of_tests, paths = PROGRAMS[name]
        tests = tests_of(name_of_tests)
        if not plain:
            replacer.namespaces(space_at(path, tests) for path in paths)
        run, failed = run_unittest(tests)
    report = {
        "python": platform.python_version(),
        "run": run,
        "replaced": replacer.replaced,
        "refused": replacer.refused,
        "failed": failed,
    }
    print("\n" + json.dumps(report))
    return 1 if failed else 0


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m tests.programs.replace_and_test", description=__doc__)
    parser.add_argument("name", metavar="MODULE")
    parser.add_argument("--plain", action="store_true", help="replace nothing")
    options = parser.parse_args()
    sys.exit(main(options.name, plain=options.plain))
