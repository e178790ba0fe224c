"""`explain` says what the built rule does, with line, class and reason."""

from __future__ import annotations

import doctest
import importlib
import math
import struct
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import adbc
import adbc.inspect
from adbc.errors import ArgumentError, MissingRuleError
from adbc.runtime import default_engine


def square(x: float) -> float:
    return x * x


def cube(x: float) -> float:
    y = 1.0
    for _ in range(3):
        y *= x
    return y


def sites_of(f: Callable[..., Any], *args: Any, **kwargs: Any) -> dict[str, adbc.inspect.Site]:
    """The sites of `f` itself by their text."""
    section = adbc.inspect.explain(f, *args, **kwargs).sections[0]
    return {site.source or site.called: site for site in section.sites}


def mixed(a: float, xs: list[float], f: Any) -> Any:
    total = 0.0
    n = len(xs)
    for x in xs:
        total += a * math.sin(x)
    return square(total) * cube(total) + n * f(xs[0])


def test_each_class() -> None:
    found = sites_of(mixed, 2.0, [1.0, 2.0], adbc.stop_gradient)
    assert found["len(xs)"].kind == "inactive"
    assert found["math.sin(x)"].kind == "inline"
    assert found["math.sin(x)"].how == "scalar"
    assert found["math.sin(x)"].depth == 1
    assert found["cube(total)"].kind == "derived"
    assert found["x * x"].kind == "inline"  # it is written into the function
    assert found["x * x"].function == "square"
    assert found["xs[0]"].kind == "guarded"
    assert "element of a list, guessed to be float and guarded" in found["xs[0]"].why
    assert {site.kind for site in found.values() if site.called == "next element"} == {"guarded"}


def test_lines_and_text() -> None:
    for text, site in sites_of(mixed, 2.0, [1.0], abs).items():
        assert site.filename == __file__
        inside = square if site.function == "square" else mixed
        first = inside.__code__.co_firstlineno
        assert site.line is not None and first < site.line <= first + 5, text
    first = mixed.__code__.co_firstlineno
    found = list(sites_of(mixed, 2.0, [1.0], abs).values())
    assert next(site.line for site in found if site.source == "math.sin(x)") == first + 4
    functions = [site.function for site in found]
    assert functions.index("mixed") < functions.index("square") < len(functions) - 1


def closed_over(k: float) -> Callable[[float], float]:
    return lambda x: k * x


SCALED = closed_over(3.0)


def dynamic_calls(x: float, options: dict[str, Any]) -> Any:
    y = SCALED(x)
    z = max(x, y, 0.0, 1.0)
    w = np.clip(x, a_min=-3.0, a_max=9.0)
    return options["f"](y) + z + w


def test_why_dynamic() -> None:
    found = sites_of(dynamic_calls, 2.0, {"f": math.sin})
    assert found["SCALED(x)"].kind == "derived"  # as any other function with its code
    assert "a Python function that is known here" in found["SCALED(x)"].why
    assert "differentiated through _max" in found["max(x, y, 0.0, 1.0)"].why
    unknown = found['options["f"](y)']
    assert unknown.kind == "dynamic"
    assert "is not known: an element of a dict" in unknown.why


def arrays(w: Any, x: Any) -> Any:
    y = np.tanh(x @ w)
    y[0] *= 2.0
    return np.sum(y)


def test_calls_on_arrays_are_inline_or_views() -> None:
    found = sites_of(arrays, np.ones((3, 2)), np.ones((4, 3)))
    assert found["np.sum(y)"].kind == "inline"
    assert found["np.tanh(x @ w)"].kind in ("inline", "primitive")
    assert found["y[0]"].how == "view"


def test_derived_functions_are_sections() -> None:
    found = adbc.inspect.explain(mixed, 2.0, [1.0], abs)
    names = [section.name for section in found.sections]
    assert names[:2] == ["mixed", "cube"]
    assert found.sections[1].parameters == ("x: float",)
    assert found.sites == tuple(site for section in found.sections for site in section.sites)
    assert found.value == mixed(2.0, [1.0], abs)


def accumulate(x: float, n: int) -> float:
    y = x
    for _ in range(n):
        y = math.sin(y) * x
    return y


def test_what_is_saved_in_each_iteration() -> None:
    section = adbc.inspect.explain(accumulate, 0.5, 3).sections[0]
    line = accumulate.__code__.co_firstlineno + 2
    in_loop = {saved.what: saved.type for saved in section.saved if saved.loop == line}
    assert in_loop == {"y": "float", "math.sin(y)": "float"}
    assert ("x", "float") in {(s.what, s.type) for s in section.saved if s.loop is None}


def test_tapes() -> None:
    section = adbc.inspect.explain(accumulate, 0.5, 3).sections[0]
    assert "the records of a loop inside" in {saved.what for saved in section.saved if saved.loop is None}


def test_types_without_derivative() -> None:
    assert adbc.inspect.explain(accumulate, 0.5, 3).sections[0].parameters == (
        "x: float",
        "n: int (no derivative)",
    )


def test_it_agrees_with_what_runs() -> None:
    """No dynamic site, no call of the dispatcher."""
    found = adbc.inspect.explain(accumulate, 0.5, 3)
    assert {site.kind for site in found.sites} == {"inactive", "inline"}
    graph = str(adbc.inspect.fwd_ir((accumulate, float, int)))
    assert "adbc.runtime" not in graph and "<const" not in graph
    found = adbc.inspect.explain(dynamic_calls, 2.0, {"f": math.sin})
    assert any(site.kind == "dynamic" for site in found.sections[0].sites)


def test_forward_mode_is_explained_and_saves_nothing() -> None:
    section = adbc.inspect.explain(accumulate, 0.5, 3, mode="forward").sections[0]
    assert section.mode == "forward"
    assert not section.saved
    assert {s.source: s.depth for s in section.sites}["math.sin(y)"] == 1


def test_methods_and_keyword_arguments_are_explained() -> None:
    class Scale:
        def __init__(self, k: float) -> None:
            self.k = k

        def apply(self, x: float) -> float:
            return self.k * x

    found = adbc.inspect.explain(Scale(2.0).apply, 3.0)
    assert found.value == 6.0
    assert found.sections[0].sites[0].kind in ("guarded", "inline")
    assert adbc.inspect.explain(accumulate, 0.5, n=2).value == accumulate(0.5, 2)


def overwrite(xs: list[float]) -> float:
    xs[0] = xs[0] * 2.0
    return xs[0]


@pytest.mark.parametrize("mode", ["reverse", "forward"])
def test_arguments_are_left_alone(mode: str) -> None:
    xs = [3.0]
    assert adbc.inspect.explain(overwrite, xs, mode=mode).value == 6.0
    assert xs == [3.0]


def test_the_default_engine_learns_nothing() -> None:
    engine = default_engine()
    before = engine.builds
    adbc.inspect.explain(accumulate, 0.25, 2)
    assert default_engine() is engine
    assert engine.builds == before


def test_the_text_names_function_types_calls_and_what_is_saved() -> None:
    text = str(adbc.inspect.explain(mixed, 2.0, [1.0], abs))
    assert text == repr(adbc.inspect.explain(mixed, 2.0, [1.0], abs))
    assert text.startswith("mixed(a: float, xs: list, f: ")
    assert "math.sin(x)" in text
    assert "saved per iteration of the loop in line" in text


def test_unknown_modes_and_missing_rules_are_refused() -> None:
    with pytest.raises(ArgumentError, match='"reverse" or "forward"'):
        adbc.inspect.explain(square, 2.0, mode="sideways")
    with pytest.raises(MissingRuleError):
        adbc.inspect.explain(lambda x: struct.pack("d", x), 2.0)


@pytest.mark.parametrize("module", ["explain", "profile", "show", "stages", "control_flow"])
def test_examples_in_docstrings_run(module: str) -> None:
    result = doctest.testmod(importlib.import_module(f"adbc.inspect.{module}"))
    assert result.failed == 0
