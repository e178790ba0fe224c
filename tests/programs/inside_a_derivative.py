"""Run as a program: the interpreter's own tests, inside of a derivative.

``python -m tests.programs.inside_a_derivative test_with`` calls each method of that module's test cases in
a function that is differentiated, at a number that the test case holds, and prints one line of JSON: how many
were right, which were refused, and which failed although they pass plainly.  The module is loaded from a
copy, so that it counts as the program's, and not as a library's.  ``--reverse`` takes gradients in place of
tangents: what a test writes is undone there.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib.util
import io
import json
import pathlib
import shutil
import sys
import tempfile
import types
import unittest
import warnings
from collections.abc import Iterator
from typing import Any

import adbc
from adbc.errors import AdbcError

AT = 1.5


def copied(name: str, folder: str) -> types.ModuleType:
    """The module ``test.name``, as one of the program's."""
    found = importlib.util.find_spec(f"test.{name}")
    if found is None or found.origin is None:
        raise SystemExit(f"this interpreter has no test.{name}")
    target = shutil.copy(found.origin, pathlib.Path(folder, f"inside_{name}.py"))
    sys.path.insert(0, folder)
    assert target
    return importlib.import_module(f"inside_{name}")


def cases(suite: Any) -> Iterator[unittest.TestCase]:
    """The test cases of `suite`, each with one method."""
    for part in suite:
        if isinstance(part, unittest.TestSuite):
            yield from cases(part)
        elif type(part).__module__.startswith("inside_"):
            yield part


def fresh(case: unittest.TestCase) -> Any:
    """Another test case like `case`, ready to be run by hand."""
    made: Any = type(case)(case._testMethodName)
    made._outcome = unittest.case._Outcome(None)  # type: ignore[attr-defined]
    return made


def run(case: Any) -> None:
    """Call the method of `case` as unittest does."""
    case.setUp()
    try:
        getattr(case, case._testMethodName)()
    finally:
        case.tearDown()
        case.doCleanups()


def judged(case: unittest.TestCase, is_reverse: bool) -> str | None:
    """What became of `case` inside of a derivative: "" if all was right; None if it does not pass plainly."""
    try:
        run(fresh(case))
    except BaseException:  # any test may fail, or be skipped
        return None
    held = fresh(case)

    def f(x: Any) -> Any:
        held.number = x
        run(held)
        return x * held.number

    try:
        found = adbc.value_and_grad(f)(AT) if is_reverse else adbc.jvp(f, (AT,), (1.0,))
    except AdbcError as error:
        return f"refused: {error}"
    except BaseException as error:  # which it raises here alone
        return f"{type(error).__name__}: {error}"
    if sys.exc_info()[1] is not None:
        return f"{sys.exc_info()[1]!r} is handled for good"
    return "" if found == (AT * AT, 2.0 * AT) else f"gives {found}"


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.programs.inside_a_derivative", description=__doc__)
    parser.add_argument("module")
    parser.add_argument("--reverse", action="store_true")
    options = parser.parse_args()
    report: dict[str, Any] = {"right": 0, "refused": {}, "failed": {}}
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        suite = unittest.defaultTestLoader.loadTestsFromModule(copied(options.module, folder))
        prepared: set[type] = set()
        for case in cases(suite):
            if type(case) not in prepared:
                prepared.add(type(case))
                type(case).setUpClass()
            with contextlib.redirect_stdout(io.StringIO()):
                answer = judged(case, options.reverse)
            name = f"{type(case).__name__}.{case._testMethodName}"
            if answer == "":
                report["right"] += 1
            elif answer is not None:
                of = "refused" if answer.startswith("refused: ") else "failed"
                report[of][name] = answer.removeprefix("refused: ")
    print(json.dumps(report))


if __name__ == "__main__":
    main()
