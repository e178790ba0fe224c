"""Run as a program: the tests that come with NumPy and SciPy, as programs to be differentiated.

``python -m tests.programs.library_tests numpy.lib.tests.test_function_base -k median`` takes that module's
tests as other people's programs: every array of floats or complex numbers that they make by a literal, a
range or at random depends on one number, as do floats and arrays that they are parametrised with, and floats
that are written as arguments and in lists; what they compare with an expected value is summed, with weights.
That sum is a function of the number, whose derivative is taken in both modes, and compared with differences;
its value is compared with the value of the plain run.  A test that does not pass plainly at 1 counts for
nothing, one whose sum is the same at some other number is counted as constant and not differentiated
(``--constants``: it is), and where differences from the left and from the right do not agree, one mode is
compared with the other.  A test that fails plainly beside 1, or is refused, is tried once more with the
written floats as they are: some are bounds of what is defined, or tolerances.  The derivative is taken a
little beside 1 (``--at 1.0``: there), where elements that are equal in the test are not.  One line of JSON is
printed: how many were right, constant, at a kink, refused, wrong, and how many raised in a derivative alone.
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
import random
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
    "masked_array", "masked_values", "rvs", "exponential", "full_like", "ones_like",
}  # fmt: skip
"""Functions and methods whose arrays depend on the number."""

CHECKS = {
    "assert_equal", "assert_allclose", "assert_almost_equal", "assert_array_equal",
    "assert_array_almost_equal", "assert_array_almost_equal_nulp", "assert_approx_equal", "assert_",
    "xp_assert_close", "xp_assert_equal", "assert_func_equal", "assert_array_less", "xp_assert_less",
    "assert_array_max_ulp", "assert_almost_equal_nulp", "assert_array_approx_equal", "assert_close",
    "assert_complex_almost_equal", "assert_array_compare",
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
_IS_LITERAL_ = [False]

def _seeded_(a):
    kind = type(a)
    if (kind is _np.ndarray or kind is _np.ma.MaskedArray) and a.dtype.char in "dD" and a.size < 100000:
        pattern = _np.cos(1.0 + _np.arange(a.size)).reshape(a.shape)
        return a * (1.0 + (_NUMBER_[0] - 1.0) * pattern)
    return a

def _written_(number):
    return number * (1.0 + (_NUMBER_[0] - 1.0) * _np.cos(number)) if _IS_LITERAL_[0] else number

def _given_(arguments):
    given = {}
    for name, a in arguments.items():
        if type(a) is float and "tol" not in name:
            given[name] = _written_(a)
        elif _IS_LITERAL_[0]:
            given[name] = _seeded_(a)
        else:
            given[name] = a
    return given

def _seen_(a):
    if isinstance(a, _np.ma.MaskedArray):
        a = a.filled(0.0) if a.dtype.char in "dD" else None
    elif hasattr(a, "toarray"):
        a = a.toarray()
    if isinstance(a, (float, complex, _np.inexact, _np.ndarray)):
        flat = _np.ravel(_np.asarray(a))
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
        self.is_in_function = False

    def visit_ImportFrom(self, node: ast.ImportFrom) -> ast.AST:
        """The copy lies in no package."""
        name = importlib.util.resolve_name("." * node.level + (node.module or ""), self.package)
        return ast.ImportFrom(name, node.names, 0)

    def visit_Name(self, node: ast.Name) -> ast.AST:
        """There may be data beside the module."""
        return ast.Constant(self.path) if node.id == "__file__" else node

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        node.args = [self.written(a) for a in node.args]
        name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        if name in ("default_rng", "RandomState") and not node.args:  # each run draws the same numbers
            node.args = [ast.Constant(0)]
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
        outer, self.is_in_function = self.is_in_function, True
        self.generic_visit(node)
        self.is_in_function = outer
        node.decorator_list = decorators
        return node

    def visit_List(self, node: ast.List) -> ast.AST:
        self.generic_visit(node)
        node.elts = [self.written(a) for a in node.elts]
        return node

    def visit_Tuple(self, node: ast.Tuple) -> ast.AST:
        self.generic_visit(node)
        node.elts = [self.written(a) for a in node.elts]
        return node

    def visit_Match(self, node: ast.Match) -> ast.AST:
        """Patterns are no expressions."""
        return node

    def written(self, node: ast.expr) -> ast.expr:
        """An expression that is a float, written down, depends on the number."""
        number = node.operand if isinstance(node, ast.UnaryOp) else node
        if not (isinstance(number, ast.Constant) and type(number.value) is float and self.is_in_function):
            return node
        return ast.Call(ast.Name("_written_", ast.Load()), [node], [])


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


def start_generators() -> None:
    """Let the next run draw the numbers that the last has drawn."""
    random.seed(0)
    np.random.seed(0)  # noqa: NPY002  # the generator that the tests use


class Program:
    """One test as a function of the number."""

    def __init__(self, item: Any, kwargs: dict[str, Any], is_literal: bool) -> None:
        module: Any = item.module
        self.number, self.total, self.count = module._NUMBER_, module._TOTAL_, module._COUNT_
        self.is_checked, self.is_literal, self.given = (
            module._IS_CHECKED_,
            module._IS_LITERAL_,
            module._given_,
        )
        self.method, self.setup = item.obj, getattr(item.instance, "setup_method", None)
        self.kwargs = kwargs
        self.is_checked[0] = False
        self.is_literal[0] = is_literal

    def __call__(self, x: Any) -> Any:
        self.number[0] = x
        self.total[0] = 0.0
        self.count[0] = 0
        if self.setup is not None:
            self.setup()
        self.method(**self.given(self.kwargs))
        return self.total[0]

    def plainly(self, x: float, is_checked: bool = False) -> float:
        start_generators()
        self.is_checked[0] = is_checked
        try:
            return float(self(x))
        finally:
            self.is_checked[0] = False


class Judge:
    """A plugin of pytest that differentiates each test in place of running it."""

    def __init__(self, options: argparse.Namespace) -> None:
        self.modes = options.modes.split(",")
        self.at = options.at
        self.times = options.times
        self.cases = options.cases
        self.part, self.parts = (int(number) for number in options.split.split("/"))
        self.is_literal = options.literals
        self.is_constant_taken = options.constants
        self.end = time.monotonic() + options.seconds
        self.counts = dict.fromkeys(["right", "constant", "kink", "plainly", "late", "left out"], 0)
        self.refused: dict[str, str] = {}
        self.wrong: dict[str, str] = {}
        self.failed: dict[str, str] = {}

    def pytest_collection_modifyitems(self, items: list[Any]) -> None:
        """Keep as many cases of each test as were asked for, evenly spread, and of them one part."""
        tests: dict[str, list[Any]] = {}
        for item in items:
            tests.setdefault(item.nodeid.partition("[")[0], []).append(item)
        kept = [item for test in tests.values() for item in test[:: -(-len(test) // self.cases)]]
        items[:] = kept[len(kept) * (self.part - 1) // self.parts : len(kept) * self.part // self.parts]

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
        return self.asked(f, mode)

    def asked(self, f: Any, mode: str) -> Any:
        start_generators()
        return adbc.jvp(f, (self.at,), (1.0,)) if mode == "jvp" else adbc.value_and_grad(f)(self.at)

    def judge(self, name: str, item: Any, kwargs: dict[str, Any]) -> None:
        """Count the test, with the written floats as they are if it cannot be judged otherwise."""
        for is_literal in [True, False] if self.is_literal else [False]:
            program = Program(item, kwargs, is_literal)
            try:
                with at_most(SECONDS):
                    program.plainly(1.0, True)
                    value, compared = program.plainly(self.at), program.count[0]
                    values = program.plainly(self.at - STEP), value, program.plainly(self.at + STEP)
                    is_constant = len(set(values)) == 1 and program.plainly(self.at + 0.05) == value
            except BaseException:  # any test may fail, or be skipped
                outcome = "plainly"
                continue
            if is_constant and not self.is_constant_taken:
                outcome = "constant"
                break
            outcome = self.judged(name, program, values, compared)
            if outcome != "refused":
                break
        if outcome in self.counts:
            self.counts[outcome] += 1

    def judged(self, name: str, program: Program, values: tuple[float, ...], compared: int) -> str:
        """What becomes of the derivatives of a program that has these values beside and at the number."""
        answers, outcome = [], ""
        for mode in self.modes:
            try:
                with at_most(SECONDS):
                    found = self.derivative(program, mode)
            except Late:
                self.failed[f"{name} {mode}"] = "late"
                return "late"
            except AdbcError as error:
                self.refused[f"{name} {mode}"] = str(error)
                outcome = "refused"
                continue
            except BaseException as error:  # which it raises here alone
                self.failed[f"{name} {mode}"] = f"{type(error).__name__}: {error}"
                outcome = "failed"
                continue
            answers.append((mode, float(found[0]), float(found[1]), program.count[0]))
        left, value, right = values
        slopes = (value - left) / STEP, (right - value) / STEP
        scale = max(abs(value), abs(slopes[0]), abs(slopes[1]), 1e-3)
        is_kink = not abs(slopes[0] - slopes[1]) <= 1e-3 * scale
        outcome = outcome or ("kink" if is_kink else "right")
        for mode, got, slope, seen in answers:
            if seen != compared and mode == "jvp":
                why = f"compared {seen} values in place of {compared}"
            elif not math.isclose(got, value, rel_tol=1e-10, abs_tol=1e-12):
                why = f"value {got} in place of {value}"
            elif not is_kink and not abs(slope - sum(slopes) / 2) <= 1e-4 * scale:
                why = f"derivative {slope} where differences are {slopes}"
            elif is_kink and not abs(slope - answers[0][2]) <= 1e-8 * scale:
                why = f"derivative {slope}, by the other mode {answers[0][2]}, {slopes}"
            else:
                continue
            self.wrong[f"{name} {mode}"] = why
            outcome = "wrong"
        return outcome


def grouped(found: dict[str, str]) -> list[tuple[str, str, str]]:
    """The first case of each test in each mode, what was found there, and how many more cases there are."""
    cases: dict[tuple[str, str], list[str]] = {}
    for name in found:
        cases.setdefault((name.partition("[")[0], name.rpartition(" ")[2]), []).append(name)
    return [
        (names[0], found[names[0]], f" (and {len(names) - 1} more)" if names[1:] else "")
        for names in cases.values()
    ]


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
    parser.add_argument("--split", default="1/1", metavar="I/N", help="the I-th of N parts of the cases")
    parser.add_argument("--constants", action="store_true", help="differentiate constant tests, too")
    parser.add_argument("--no-literals", dest="literals", action="store_false", help="leave written floats")
    options = parser.parse_args()
    judge = Judge(options)
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
        for name, why, more in grouped(getattr(judge, title)):
            print(f"{title}: {name}{more}: {' '.join(why.split())[:400]}")
    numbers = {title: len(getattr(judge, title)) for title in ("wrong", "failed", "refused")}
    print(json.dumps({"module": options.module, **judge.counts, **numbers}))


if __name__ == "__main__":
    main()
