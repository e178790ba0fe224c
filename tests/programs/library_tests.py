"""Run as a program: the tests that come with NumPy and SciPy, as programs to be differentiated.

``python -m tests.programs.library_tests numpy.lib.tests.test_function_base -k median`` takes that module's
tests as other people's programs: every array of floats or complex numbers that they make by a literal, a
range or at random depends on one number, and what they compare with an expected value is summed, with
weights.  That sum is a function of the number, whose derivative is taken in both modes, and compared with
differences; its value is compared with the value of the plain run.  A test that does not pass plainly at 1
counts for nothing, and where differences from the left and from the right do not agree, one mode is
compared with the other.  The derivative is taken a little beside 1 (``--at 1.0``: there), where elements
that are equal in the test are not.  One line of JSON is printed: how many were right, at a kink, refused,
wrong, and how many raised in a derivative alone.
"""

from __future__ import annotations

import argparse
import ast
import contextlib
import importlib.util
import io
import json
import math
import pathlib
import signal
import sys
import tempfile
import time
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import adbc
from adbc.errors import AdbcError

MAKERS = {
    "array", "asarray", "arange", "linspace", "logspace", "geomspace", "ones", "full", "eye", "identity",
    "diag", "tile", "matrix", "rand", "randn", "random", "random_sample", "standard_normal", "normal",
    "uniform", "vander", "tri", "asfortranarray", "ascontiguousarray", "mat", "hilbert", "toeplitz",
}  # fmt: skip
"""Functions and methods whose arrays depend on the number."""

CHECKS = {
    "assert_equal", "assert_allclose", "assert_almost_equal", "assert_array_equal",
    "assert_array_almost_equal", "assert_array_almost_equal_nulp", "assert_approx_equal", "assert_",
    "xp_assert_close", "xp_assert_equal", "assert_func_equal",
}  # fmt: skip
"""Functions that compare what a test has computed with what it expects."""

PLUGINS = ["no:cacheprovider", "no:randomly", "no:xdist"]
"""Plugins of pytest that are given beside SciPy's own, which has the fixtures of its tests."""

STEP = 1e-6
SECONDS = 40

SUPPORT = """
import numpy as _np
import warnings as _warnings
_NUMBER_ = [1.0]
_TOTAL_ = [0.0]
_COUNT_ = [0]
_IS_CHECKED_ = [True]

def _seeded_(a):
    if type(a) is _np.ndarray and a.dtype.char in "dD" and a.size < 100000:
        pattern = _np.cos(1.0 + _np.arange(a.size)).reshape(a.shape)
        return a * (1.0 + (_NUMBER_[0] - 1.0) * pattern)
    return a

def _seen_(a):
    if type(a) is _np.ndarray or isinstance(a, (float, complex, _np.inexact)):
        flat = _np.ravel(a)
        if flat.dtype.char in "dD":
            flat = flat[_np.isfinite(flat)]
            weights = _np.sin(0.7 + _COUNT_[0] + _np.arange(flat.size))
            _TOTAL_[0] = _TOTAL_[0] + _np.sum(flat.real * weights)
            if flat.dtype.char == "D":
                _TOTAL_[0] = _TOTAL_[0] + 0.6 * _np.sum(flat.imag * weights)
        _COUNT_[0] += 1
    elif isinstance(a, (tuple, list)) and len(a) < 50:
        for part in a:
            _seen_(part)
    return a

def _warned_():
    return _warnings.catch_warnings(record=True)

def _compared_(check, *args, **kwargs):
    for a in args[:2]:
        _seen_(a)
    if _IS_CHECKED_[0]:
        check(*args, **kwargs)
"""


class Late(BaseException):
    """A run that takes too long."""


class Seeding(ast.NodeTransformer):
    """Lets arrays depend on the number, and adds what is compared to the sum."""

    def __init__(self, path: str, package: str) -> None:
        self.path = path
        self.package = package

    def visit_ImportFrom(self, node: ast.ImportFrom) -> ast.AST:
        """The copy lies in no package."""
        name = importlib.util.resolve_name("." * node.level + (node.module or ""), self.package)
        return ast.ImportFrom(name, node.names, 0)

    def visit_Name(self, node: ast.Name) -> ast.AST:
        """There may be data beside the module."""
        return ast.Constant(self.path) if node.id == "__file__" else node

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        if name in MAKERS:
            return ast.Call(ast.Name("_seeded_", ast.Load()), [node], [])
        if name == "warns":  # pytest's keeps what was warned of in a list that only C code appends to
            return ast.Call(ast.Name("_warned_", ast.Load()), [], [])
        if name in CHECKS:
            return ast.Call(ast.Name("_compared_", ast.Load()), [node.func, *node.args], node.keywords)
        return node

    def visit_Assert(self, node: ast.Assert) -> ast.AST:
        self.generic_visit(node)
        part = node.test.left if isinstance(node.test, ast.Compare) else node.test
        seen = ast.Expr(ast.Call(ast.Name("_seen_", ast.Load()), [part], []))
        is_checked = ast.Subscript(ast.Name("_IS_CHECKED_", ast.Load()), ast.Constant(0), ast.Load())
        return ast.If(is_checked, [node], [seen])

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        """Decorators run where the module is loaded; they are left as they are."""
        decorators, node.decorator_list = node.decorator_list, []
        self.generic_visit(node)
        node.decorator_list = decorators
        return node


def seeded(name: str, folder: str) -> str:
    """The path of a copy of module `name` in `folder`, whose arrays depend on a number."""
    found = importlib.util.find_spec(name)
    if found is None or found.origin is None:
        raise SystemExit(f"there is no module {name}")
    source = pathlib.Path(found.origin).read_text(encoding="utf-8")
    seeding = Seeding(found.origin, name.rpartition(".")[0])
    text = ast.unparse(ast.fix_missing_locations(seeding.visit(ast.parse(source))))
    target = pathlib.Path(folder, f"test_seeded_{name.rpartition('.')[2]}.py")
    futures = "".join(line + "\n" for line in text.splitlines() if line.startswith("from __future__"))
    target.write_text(futures + SUPPORT + text.replace(futures, ""), encoding="utf-8")
    return str(target)


@contextlib.contextmanager
def at_most(seconds: int) -> Iterator[None]:
    """Raise `Late` in the block after `seconds`."""

    def stop(*_: Any) -> None:
        raise Late

    signal.signal(signal.SIGALRM, stop)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)


class Judge:
    """A plugin of pytest that differentiates each test in place of running it."""

    def __init__(self, modes: list[str], at: float, times: int, cases: int, seconds: float) -> None:
        self.modes = modes
        self.at = at
        self.times = times
        self.cases = cases
        self.end = time.monotonic() + seconds
        self.counts = dict.fromkeys(["right", "unused", "kink", "plainly", "late", "left out"], 0)
        self.refused: dict[str, str] = {}
        self.wrong: dict[str, str] = {}
        self.failed: dict[str, str] = {}

    def pytest_collection_modifyitems(self, items: list[Any]) -> None:
        """Keep as many cases of each test as were asked for, evenly spread."""
        tests: dict[str, list[Any]] = {}
        for item in items:
            tests.setdefault(item.nodeid.partition("[")[0], []).append(item)
        items[:] = [item for test in tests.values() for item in test[:: -(-len(test) // self.cases)]]

    def pytest_pyfunc_call(self, pyfuncitem: Any) -> bool:
        if time.monotonic() > self.end:
            self.counts["left out"] += 1
            return True
        name = pyfuncitem.nodeid.partition("::")[2]
        kwargs = {key: pyfuncitem.funcargs[key] for key in pyfuncitem._fixtureinfo.argnames}
        with warnings.catch_warnings(), np.errstate(all="ignore"), contextlib.redirect_stdout(io.StringIO()):
            warnings.simplefilter("ignore")
            self.judge(name, pyfuncitem, kwargs)
        return True

    def derivative(self, f: Any, mode: str) -> Any:
        """The value and the derivative of `f`, asked for the last of so many times."""
        for _ in range(self.times - 1):
            self.asked(f, mode)
            np.random.seed(0)  # noqa: NPY002  # the generator that the tests use
        return self.asked(f, mode)

    def asked(self, f: Any, mode: str) -> Any:
        return adbc.jvp(f, (self.at,), (1.0,)) if mode == "jvp" else adbc.value_and_grad(f)(self.at)

    def judge(self, name: str, item: Any, kwargs: dict[str, Any]) -> None:
        module: Any = item.module
        method, setup = item.obj, getattr(item.instance, "setup_method", None)
        number, total, count, checked = module._NUMBER_, module._TOTAL_, module._COUNT_, module._IS_CHECKED_

        def f(x: Any) -> Any:
            number[0] = x
            total[0] = 0.0
            count[0] = 0
            if setup is not None:
                setup()
            method(**kwargs)
            return total[0]

        def plainly(x: float, is_checked: bool) -> float:
            np.random.seed(0)  # noqa: NPY002  # the generator that the tests use
            checked[0] = is_checked
            try:
                return float(f(x))
            finally:
                checked[0] = False

        try:
            with at_most(SECONDS):
                plainly(1.0, True)
                value, compared = plainly(self.at, False), count[0]
                left, right = plainly(self.at - STEP, False), plainly(self.at + STEP, False)
        except BaseException:  # any test may fail, or be skipped
            self.counts["plainly"] += 1
            return
        slopes = (value - left) / STEP, (right - value) / STEP
        if value == left == right:
            self.counts["unused"] += 1
        answers = []
        for mode in self.modes:
            np.random.seed(0)  # noqa: NPY002  # the generator that the tests use
            try:
                with at_most(SECONDS):
                    found = self.derivative(f, mode)
            except Late:
                self.counts["late"] += 1
                self.failed[f"{name} {mode}"] = "late"
                return
            except AdbcError as error:
                self.refused[f"{name} {mode}"] = str(error)
                continue
            except BaseException as error:  # which it raises here alone
                self.failed[f"{name} {mode}"] = f"{type(error).__name__}: {error}"
                continue
            finally:
                checked[0] = False
            answers.append((mode, float(found[0]), float(found[1]), count[0]))
        scale = max(abs(value), abs(slopes[0]), abs(slopes[1]), 1e-3)
        is_kink = not abs(slopes[0] - slopes[1]) <= 1e-3 * scale
        for mode, got, slope, seen in answers:
            if seen != compared and mode == "jvp":
                self.wrong[f"{name} {mode}"] = f"compared {seen} values in place of {compared}"
            elif not math.isclose(got, value, rel_tol=1e-10, abs_tol=1e-12):
                self.wrong[f"{name} {mode}"] = f"value {got} in place of {value}"
            elif not is_kink and not abs(slope - sum(slopes) / 2) <= 1e-4 * scale:
                self.wrong[f"{name} {mode}"] = f"derivative {slope} where differences are {slopes}"
            elif is_kink and not abs(slope - answers[0][2]) <= 1e-8 * scale:
                self.wrong[f"{name} {mode}"] = (
                    f"derivative {slope}, by the other mode {answers[0][2]}, {slopes}"
                )
            elif is_kink:
                self.counts["kink"] += mode == self.modes[0]
            else:
                self.counts["right"] += mode == self.modes[-1]


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.programs.library_tests", description=__doc__)
    parser.add_argument("module")
    parser.add_argument("-k", default="", help="which tests, as pytest's -k")
    parser.add_argument("--modes", default="jvp,grad")
    parser.add_argument("--at", type=float, default=1.001)
    parser.add_argument("--keep", default=None, help="a folder that keeps the copy")
    parser.add_argument("--times", type=int, default=1, help="which call counts: code is built at the third")
    parser.add_argument("--cases", type=int, default=10**6, help="how many cases of each test at most")
    parser.add_argument("--seconds", type=float, default=math.inf, help="begin no test after so many")
    options = parser.parse_args()
    judge = Judge(options.modes.split(","), options.at, options.times, options.cases, options.seconds)
    with tempfile.TemporaryDirectory() as folder:
        path = seeded(options.module, options.keep or folder)
        arguments = [path, "-q", "-c", "/dev/null"]
        fixtures = ["scipy.conftest"] if options.module.startswith("scipy.") else []
        for plugin in PLUGINS + fixtures:
            arguments += ["-p", plugin]
        with contextlib.redirect_stdout(io.StringIO()) as printed:
            pytest.main([*arguments, "-k", options.k, f"--rootdir={folder}"], plugins=[judge])
    if not sum(judge.counts.values()):
        print(printed.getvalue(), file=sys.stderr)
    for title in ("wrong", "failed", "refused"):
        for name, why in getattr(judge, title).items():
            print(f"{title}: {name}: {' '.join(why.split())[:400]}")
    numbers = {title: len(getattr(judge, title)) for title in ("wrong", "failed", "refused")}
    print(json.dumps({"module": options.module, **judge.counts, **numbers}))


if __name__ == "__main__":
    main()
