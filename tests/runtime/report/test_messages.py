"""What refusals say: what was met, in which public function of which library, called from which of the user's
lines; why; and what to do, in code that can be typed."""

from __future__ import annotations

import ast
import fractions
import hashlib
import io
import itertools
import json
import math
import operator
import pathlib
import re
import struct
import sys
import textwrap
import threading
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import adbc
from adbc.config import FOLDER, SPECULATION
from adbc.errors import AdbcError
from adbc.ir import intrinsics
from adbc.runtime.calls.steps import Call
from adbc.runtime.report.messages import gives_floats, missing_rule
from adbc.runtime.report.places import typed_name

X = 0.75
HERE = re.escape(__file__)


def refusal(f: Callable[..., Any], *args: Any) -> adbc.AdbcError:
    """The refusal of `f` in reverse mode, which is the same in forward mode and however much is known of
    types."""
    found: list[adbc.AdbcError] = []
    for speculation in SPECULATION:
        with adbc.use(adbc.Config(speculation=speculation)):
            with pytest.raises(adbc.AdbcError) as caught:
                adbc.grad(f)(*args)
            found.append(caught.value)
            tangents = [np.ones_like(x) if isinstance(x, np.ndarray) else 1.0 for x in args]
            with pytest.raises(adbc.AdbcError) as caught:
                adbc.jvp(f, args, tangents)
            found.append(caught.value)
    # Where it is not known that a value has no derivative, another argument may be met first.
    assert {(type(e), e.place) for e in found} == {(type(found[0]), found[0].place)}
    return found[0]


def line_of(function: Any, text: str) -> int:
    """The number of the line of this module, from that of `function` on, that has `text`."""
    lines = pathlib.Path(__file__).read_text(encoding="utf-8").split("\n")
    first = function.__code__.co_firstlineno
    return next(i for i, line in enumerate(lines[first - 1 :], first) if text in line)


# -- where ---------------------------------------------------------------------------------------------------


def packs(x: float) -> Any:
    y = x * x
    return struct.unpack("d", struct.pack("d", y))[0]


def test_in_the_users_own_code() -> None:
    error = refusal(packs, X)
    assert isinstance(error, adbc.MissingRuleError)
    assert error.place == f"in packs ({__file__}:{line_of(packs, 'struct.pack(')})"
    assert re.fullmatch(
        rf"struct\.pack\(str, float\) cannot be differentiated, in packs \({HERE}:\d+\): it is implemented"
        r" in C, has no rule, and a value with a derivative reaches it\. Declare its derivative:"
        r" adbc\.rule\(struct\.pack, jvp=\.\.\., vjp=\.\.\.\); or .*; or only if no number .*:"
        r" adbc\.zero_derivative\(struct\.pack\)",
        str(error),
    )


def through_text(x: float) -> Any:
    return json.loads(json.dumps({"x": x}))["x"]


def ratio(x: float) -> Any:
    return float(fractions.Fraction(x))


def in_a_thread(x: float) -> Any:
    found: list[float] = []
    thread = threading.Thread(target=lambda: found.append(x * x))
    thread.start()
    thread.join()
    return found[0]


@pytest.mark.parametrize(
    ("function", "library", "text"),
    [
        (through_text, "json.loads", "json.loads"),
        (ratio, "fractions.Fraction", "fractions.Fraction"),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_in_the_standard_library(function: Any, library: str, text: str) -> None:
    error = refusal(function, X)
    at = f"{function.__qualname__} ({__file__}:{line_of(function, text)})"
    assert error.place == f"in {library}, called from {at}"


def test_in_a_thread() -> None:
    error = refusal(in_a_thread, X)
    assert error.place == f"in in_a_thread ({__file__}:{line_of(in_a_thread, 'thread.start')})"
    assert "in_a_thread.<locals>.<lambda>" in str(error)


def saves(v: Any) -> Any:
    file = io.BytesIO()
    np.save(file, v)
    file.seek(0)
    return np.load(file).sum()


def test_in_numpy() -> None:
    error = refusal(saves, np.array([1.0, 2.0]))
    at = f"saves ({__file__}:{line_of(saves, 'np.save')})"
    assert error.place == f"in numpy.save, called from {at}"
    assert "zero_derivative" not in str(error)


def test_in_scipy() -> None:
    linalg = pytest.importorskip("scipy.linalg")
    interpolate = pytest.importorskip("scipy.interpolate")
    theta, phi = np.linspace(0.2, 2.9, 30), np.linspace(0.2, 6.0, 30)

    def decomposes(v: Any) -> Any:
        return linalg.schur(np.outer(v, v))[0].sum()

    def smooths(v: Any) -> Any:
        heights = 2.0 + np.sin(np.arange(30)) * v[0]
        return interpolate.SmoothSphereBivariateSpline(theta, phi, heights, s=3.5)(1.0, 1.0)[0, 0]

    error = refusal(decomposes, np.array([1.0, 2.0]))
    assert str(error.place).startswith("in scipy.linalg.schur, called from ")
    assert "adbc.rule(scipy.linalg.schur, " in str(error)
    # The constructor is that of a class that nobody speaks of.
    with pytest.raises(adbc.MissingRuleError) as caught:
        adbc.grad(smooths)(np.array([1.0, 2.0]))
    at = "in scipy.interpolate.SmoothSphereBivariateSpline, called from "
    assert str(caught.value.place).startswith(at)
    assert "f of your own" in str(caught.value)


def test_methods_of_what_a_module_has_are_called_by_its_name() -> None:
    """The classes of distributions are private, and most methods inherited; `numpy.vectorize` calls back."""
    stats = pytest.importorskip("scipy.stats")
    for use, name in (
        (lambda x: stats.ksone.logpdf(x, 5), "scipy.stats.ksone.logpdf"),
        (lambda x: stats.gausshyper.cdf(0.3, 2.0 + x, 3.0, 1.5, 0.5), "scipy.stats.gausshyper.cdf"),
        (lambda x: stats.ncx2.logpdf(0.7, 2.0 + x, 1.0), "scipy.stats.ncx2.logpdf"),  # by a private helper
    ):
        with pytest.raises(AdbcError, match=rf"in {re.escape(name)}, called from "):
            adbc.grad(use)(0.2)


def test_with_a_library_between(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A library calls another, whose public function is defined in a private module, behind a decorator."""
    packages = tmp_path / "site-packages"
    sources = {
        "innerlib/__init__.py": "from innerlib._core import solve",
        "innerlib/_core.py": """
            import functools, struct
            def checked(f):
                @functools.wraps(f)
                def wrapper(*args):
                    return f(*args)
                return wrapper
            @checked
            def solve(x):
                return _solve(x)
            def _solve(x):
                return struct.unpack("d", struct.pack("d", x))[0]
            """,
        "outerlib.py": """
            import innerlib
            class Model:
                def fit(self, x):
                    return self._fit(x)
                def _fit(self, x):
                    return innerlib.solve(x)
            """,
    }
    for name, source in sources.items():
        path = packages / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(textwrap.dedent(source))
    monkeypatch.syspath_prepend(str(packages))
    import outerlib  # type: ignore[import-not-found]

    def fits(x: float) -> Any:
        return outerlib.Model().fit(x)

    error = refusal(fits, X)
    at = f"{fits.__qualname__} ({__file__}:{line_of(fits, 'Model().fit')})"
    assert error.place == f"in innerlib.solve, called by outerlib.Model.fit, called from {at}"
    assert "adbc.rule(innerlib.solve, jvp=..., vjp=...)" in str(error)
    # The line from which a function of a library is differentiated, where none of the user's is in between.
    with pytest.raises(adbc.MissingRuleError) as caught:
        adbc.grad(outerlib.innerlib.solve)(X)
    assert f"in innerlib.solve, called from {test_with_a_library_between.__name__} (" in str(caught.value)
    for name in ("innerlib", "innerlib._core", "outerlib"):
        del sys.modules[name]


def looks(x: float) -> Any:
    return x * sys._getframe().f_locals["x"]


def calls_looks(x: float) -> Any:
    return looks(x) * 2.0


def test_frames_of_pandas_are_read_as_arrays() -> None:
    pd = pytest.importorskip("pandas")
    series = pd.Series([1.0, 2.0])
    for f in (lambda x: (x * series).sum(), lambda x: pd.Series([x, 2.0]).sum()):
        for derivative in (adbc.grad(f), lambda x, f=f: adbc.jvp(f, (x,), (1.0,))):
            with pytest.raises(adbc.MissingRuleError, match=r"Compute with arrays, as x \* s\.to_numpy\(\)"):
                derivative(1.5)
    assert adbc.grad(lambda x: (x * series.to_numpy()).sum())(1.5) == 3.0


def test_code_that_looks_at_its_frame_names_its_line() -> None:
    error = refusal(calls_looks, X)
    assert isinstance(error, adbc.errors.UnsupportedError)
    assert error.place == f"in looks ({__file__}:{line_of(looks, '_getframe')})"


async def never_awaited(x: float) -> Any:
    return x


def calls_what_cannot_be_lifted(x: float) -> Any:
    return never_awaited(x)


def test_code_that_cannot_be_lifted_names_its_own_line_and_that_of_the_call() -> None:
    error = refusal(calls_what_cannot_be_lifted, X)
    assert isinstance(error, adbc.errors.LiftError)
    assert f"line {line_of(never_awaited, 'def ')}) " in error.met
    line = line_of(calls_what_cannot_be_lifted, "never_awaited(x)")
    assert error.place == f"called from calls_what_cannot_be_lifted ({__file__}:{line})"


def test_where_a_pullback_refuses() -> None:
    def values(a: Any) -> Any:
        return np.linalg.svd(a)[0][:, 2].sum()

    with pytest.raises(adbc.errors.UnsupportedError) as caught:
        adbc.grad(values)(np.eye(4)[:, :2] + 0.1)
    assert f"in {values.__qualname__} ({__file__}:" in str(caught.value)
    assert caught.value.remedy


# -- what, and what to do ------------------------------------------------------------------------------------


def test_zero_is_proposed_last_and_not_for_what_gives_floats() -> None:
    text = str(refusal(packs, X))
    assert text.index("zero_derivative") > max(map(text.index, ("adbc.rule", "adbc.stop_gradient")))
    assert gives_floats(np.sin)
    assert gives_floats(np.hypot)
    assert not gives_floats(np.isfinite)
    assert not gives_floats(len)


class _Described:
    def __init__(self, doc: str) -> None:
        self.__doc__ = doc


@pytest.mark.parametrize(
    ("doc", "floats"),
    [
        ("c,info = dpotrf(a)\n\nWrapper for dpotrf.", False),
        ("solve(a: numpy.ndarray) -> numpy.ndarray\n", True),
        ("norm(x: float, y: float) -> float", True),
        ("size(x: numpy.ndarray) -> int", False),
    ],
)
def test_what_a_docstring_says_of_results(doc: str, floats: bool) -> None:
    assert gives_floats(_Described(doc)) is floats


def test_names_can_be_typed() -> None:
    names = {
        math.sin: "math.sin",
        struct.pack: "struct.pack",
        len: "len",
        operator.mul: "operator.mul",
        float.hex: "float.hex",
        (1.0).hex: "float.hex",
        [].append: "list.append",
        np.ndarray.tobytes: "numpy.ndarray.tobytes",
        np.sin: "numpy.sin",
        np.add.reduce: "numpy.ufunc.reduce",
        hashlib.sha1: "hashlib.sha1",
        itertools.count.__new__: "itertools.count",
    }
    assert {f: typed_name(f) for f in names} == names
    assert typed_name(object()) is None


def test_functions_of_f2py_have_the_names_by_which_they_are_imported() -> None:
    lapack = pytest.importorskip("scipy.linalg.lapack")
    assert typed_name(lapack.dpotrf) == "scipy.linalg.lapack.dpotrf"


def writes_to_module(x: float) -> float:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        math.settings = ["none of these", 3]  # type: ignore[attr-defined]
        return x * x


@pytest.mark.parametrize("speculation", SPECULATION)
def test_what_holds_no_number_may_be_kept_in_a_module(speculation: str) -> None:
    with adbc.use(adbc.Config(speculation=speculation)):
        assert adbc.grad(writes_to_module)(3.0) == 6.0
        assert adbc.jvp(writes_to_module, (3.0,), (1.0,)) == (9.0, 6.0)
    del math.settings  # type: ignore[attr-defined]


def keeps_and_fills(x: float) -> float:
    found: list[float] = []
    math.found = found  # type: ignore[attr-defined]
    found.append(x * x)
    return math.found[0]  # type: ignore[attr-defined,no-any-return]


def test_a_list_in_a_module_that_is_filled_later_has_its_derivative() -> None:
    assert adbc.jvp(keeps_and_fills, (3.0,), (1.0,)) == (9.0, 6.0)
    assert adbc.grad(keeps_and_fills)(3.0) == 6.0
    assert not hasattr(math, "found") or math.found == [9.0]
    if hasattr(math, "found"):
        del math.found


def on_a_path(x: float) -> float:
    path = pathlib.PurePosixPath("/a") / "b" / "c.txt"
    return x * len(path.parts) * len(path.suffix) * len(re.findall("a", "banana"))


@pytest.mark.parametrize("speculation", SPECULATION)
def test_paths_and_patterns_are_constants(speculation: str) -> None:
    with adbc.use(adbc.Config(speculation=speculation)):
        assert adbc.grad(on_a_path)(3.0) == on_a_path(1.0)
        assert adbc.jvp(on_a_path, (3.0,), (1.0,))[1] == on_a_path(1.0)


def test_nobody_is_told_not_to_declare_what_nobody_declared() -> None:
    text = io.StringIO()

    def keeps(x: float) -> Any:
        text.value = x  # type: ignore[attr-defined]
        return text.value  # type: ignore[attr-defined]

    with pytest.raises(adbc.AdbcError) as caught:
        adbc.grad(keeps)(X)
    assert "Const" not in str(caught.value)


# -- all texts -----------------------------------------------------------------------------------------------

MODULES = sorted(pathlib.Path(FOLDER).rglob("*.py"))
BROKEN = re.compile(r"  |\w [,.;:)]|\( |[a-z][;,][A-Za-z]")
PARTED = {"UnsupportedError", "MissingRuleError", "ConstWriteError"}


def test_every_refusal_has_its_parts() -> None:
    lacking = []
    for path in MODULES:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") in PARTED:
                is_parted = len(node.args) >= 2 or any(isinstance(a, ast.Starred) for a in node.args)
                if not is_parted:
                    lacking.append(f"{path}:{node.lineno}")
                ends = [part for part in map(_text, node.args) if part.endswith(".")]
                lacking += [f"{path}:{node.lineno}: {part}" for part in ends if not part.endswith("...")]
    assert lacking == []


def _text(node: ast.expr) -> str:
    """The words of a string, with a name for what is put into it."""
    if isinstance(node, ast.JoinedStr):
        return "".join(_text(v) if isinstance(v, ast.Constant) else "x" for v in node.values)
    return str(node.value) if isinstance(node, ast.Constant) else "x"


def test_no_text_is_broken_where_its_parts_join() -> None:
    broken = []
    for path in MODULES:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") in adbc.errors.__all__:
                broken += [
                    f"{path}:{node.lineno}: {text}"
                    for text in map(_text, node.args)
                    if BROKEN.search(re.sub(r"\n  ", "", re.sub(r"'[^']*'", "x", text)))
                ]
        lines = path.read_text(encoding="utf-8").split("\n")
        for number, (left, right) in enumerate(itertools.pairwise(lines), 1):
            first, second = re.fullmatch(r'\s*f?"(.+)"', left), re.fullmatch(r'\s*f?"(.+)"[,)]*', right)
            if first and second and first[1][-1].isalnum() and second[1][0].isalnum():
                broken.append(f"{path}:{number}: {left.strip()} {right.strip()}")
    assert broken == []


def test_what_stands_for_syntax_is_not_named() -> None:
    for function in intrinsics.INTRINSICS.values():
        call = Call(function, None, (1.5,), (None,), (None,))
        assert str(missing_rule(call)).startswith(f"{function.__name__.strip('_')}(float) cannot")
        assert function.__name__ not in str(missing_rule(call))
