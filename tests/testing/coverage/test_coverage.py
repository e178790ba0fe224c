"""The tool that calls every public function, and what it makes of what is right, wrong, or refused."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import adbc
from adbc.testing.coverage import Case, Group, Verdict, judge, table
from adbc.testing.coverage.entries import entries_of
from adbc.testing.coverage.generated import cases_of
from adbc.testing.coverage.judge import is_clear
from adbc.testing.coverage.report import of_entry, to_look_at
from adbc.testing.coverage.values import KINDS, names_in, value


def test_names_in_a_text() -> None:
    assert names_in("np.clip(x, 0.3, out=out, axis=v)") == ["x", "out", "v"]
    assert names_in("np.einsum('x->x', A).x + p.y(y=1)") == ["A", "p"]


@pytest.mark.parametrize("kind", KINDS)
def test_values_of_kinds(kind: str) -> None:
    x = np.asarray(value("x", kind))
    assert x.dtype.kind in "fci"
    assert np.asarray(value("A", kind)).shape == (3, 3)
    assert (kind == "complex") == np.iscomplexobj(value("S", kind))
    if kind != "empty":
        assert not np.array_equal(x, value("y", kind))


def test_a_case_is_a_call() -> None:
    case = Case("numpy.add", "np.add(x, y, out=out)", "1-d")
    values = case.values()
    assert case.function()(*values) is values[2]
    np.testing.assert_array_equal(values[2], values[0] + values[1])
    assert "np.add(x, y, out=out)" in case.program()


def _judged(text: str, kind: str = "1-d", entry: str = "numpy.it") -> Verdict:
    found = judge(Case(entry, text, kind))
    assert found is not None
    return found


def test_methods_of_numbers_are_called_on_numbers() -> None:
    entries = entries_of("numpy")["numpy numbers"]
    for name, text in {"__add__": "np.float64(x).__add__(y)", "sum": "np.float64(x).sum()"}.items():
        texts = [case.text for case in cases_of(f"numpy.float64.{name}", entries[f"numpy.float64.{name}"])]
        assert text in texts
        assert _judged(text, "float", f"numpy.float64.{name}").status == "right"


def test_verdicts() -> None:
    assert _judged("np.sin(x)").status == "right"
    assert _judged("np.argmax(x)").status == "zero"
    assert _judged("np.copyto(u, v)").status == "right"
    assert judge(Case("numpy.it", "np.sin(x, 3.0, 4.0)", "1-d")) is None
    assert _judged("np.log(x - x)").status == "not judged"
    assert _judged("np.sin(1e9 * x)").status == "not judged"
    assert _judged("float(repr(x))", "float", "numpy.other").status == "unclear"
    assert judge(Case("numpy.it", "[1 for _ in iter(int, 1)] + [x]", "float"), 1).status == "error"  # type: ignore[union-attr]


def test_what_is_wrong_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    def wrong(x: Any) -> Any:
        return x * x

    adbc.scalar_rule(wrong)(lambda out, x: 3.0 * x)
    monkeypatch.setattr(np, "it", wrong, raising=False)
    verdict = _judged("np.it(x)")
    assert verdict.status == "wrong"
    group = Group.of("a group", ["numpy.it", "numpy.other"], [verdict])
    assert group.count("wrong") == 1
    assert "np.it(x)" in to_look_at([group], ["wrong"])
    assert "a group" in table([group])


def test_a_function_is_what_the_worst_of_its_calls_is() -> None:
    def verdict(status: str, primary: bool = True) -> Verdict:
        return Verdict(Case("f", "f(x)", "1-d", primary=primary), status)

    assert of_entry([verdict("right"), verdict("refused")]) == "refused"
    assert of_entry([verdict("right"), verdict("wrong", primary=False)]) == "right"
    assert of_entry([verdict("right"), verdict("zero"), verdict("not judged")]) == "right"
    assert of_entry([]) == "not judged"


def test_clear_errors() -> None:
    case = Case("numpy.eig", "np.eig(x)", "1-d")
    assert is_clear("numpy.eig met x, in call (<generated call 1>:2): why. Use this", case)
    assert not is_clear("numpy.eig met x, in call (<generated call 1>:2)", case)
    assert not is_clear("it met x, in call (<generated call 1>:2): why. Use this", case)
    assert not is_clear("numpy.eig met x: why. Use this", case)
    nested = Case("numpy.eig", "np.eig(np.svd(x)[0])", "1-d")
    assert is_clear("numpy.svd met x, in call (<generated call 1>:2): why. Use this", nested)
    assert not is_clear("numpy.sort met x, in call (<generated call 1>:2): why. Use this", nested)


def test_entries_and_cases() -> None:
    groups = entries_of("numpy")
    assert "numpy.hypot.reduce" in groups["ufunc methods"]
    assert "numpy.ndarray.cumsum" in groups["ndarray"]
    assert "numpy.random.Generator.normal" in groups["numpy.random"]
    texts = {case.text for case in cases_of("numpy.cumsum", np.cumsum)}
    assert "np.hypot.reduce(v + 1.0)" in {case.text for case in cases_of("numpy.hypot.reduce", np.hypot)}
    assert {case.text for case in cases_of("numpy.exp.at", np.exp)} >= {"np.exp.at(v, [0, 2])"}
    assert {"np.cumsum(x)", "np.cumsum(x, axis=0)", "np.cumsum(x, out=out)"} <= texts


def test_entries_of_scipy() -> None:
    pytest.importorskip("scipy.spatial.transform")
    found = entries_of("scipy.spatial.transform")["scipy.spatial.transform"]
    assert "scipy.spatial.transform.Slerp" in found
    assert "scipy.spatial.transform.Rotation.from_euler" in found  # methods are given by the table
    assert "numpy.ndarray.T" not in entries_of("numpy")["numpy"]


def test_the_command(tmp_path: Path) -> None:
    file = tmp_path / "verdicts.json"
    found = subprocess.run(
        [sys.executable, "-m", "adbc.testing.coverage", "cmath", "--only=cos", "--primary", "--json", file],
        capture_output=True, text=True, check=True, timeout=300,
    ).stdout  # fmt: skip
    assert re.search(r"cmath +4 of +4 ", found)
    verdicts = json.loads(file.read_text())["cmath"]["cmath.cosh"]
    assert verdicts["status"] == "right"
    assert {case["kind"] for case in verdicts["cases"]} <= {"float", "1-d", "2-d", "plain"}
