"""The calls that a public name is judged by: those of a table, or those that its signature allows."""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from adbc.testing.coverage.cases import Case
from adbc.testing.coverage.tables import CALLS
from adbc.testing.coverage.values import FREE, KINDS, LAYOUTS, names_in

__all__ = ["cases_of"]

CONSTANTS: dict[str, Sequence[str]] = {
    "axis": ("0",),
    "axis1": ("0",),
    "axis2": ("1",),
    "axes": ("(1, 0)", "0"),
    "shape": ("(2, 3)",),
    "n": ("2",),
    "shift": ("1",),
    "k": ("1",),
    "N": ("3",),
    "M": ("3",),
    "order": ("1",),
    "deg": ("2",),
    "repeats": ("2",),
    "reps": ("2",),
    "pad_width": ("1",),
    "newshape": ("-1",),
    "dtype": ("float",),
    "ord": ("2",),
    "decimals": ("2",),
    "source": ("0",),
    "destination": ("-1",),
    "num": ("5",),
    "q": ("0.3",),
    "bins": ("3",),
    "mode": ("'full'",),
    "indices_or_sections": ("3", "1"),
    "condition": ("[True, False, True, False]", "x > 0.5"),
    "mask": ("x > 0.5",),
    "indices": ("[0, 2]", "0"),
    "kth": ("1",),
    "function": ("np.sin",),
    "func": ("np.sum",),
    "func1d": ("np.sum",),
    "format": ("'d'",),
    "fmt": ("'d'",),
    "typecode": ("'d'",),
    "p": ("2",),
    "r": ("2",),
}
"""Constants for parameters of these names, tried in order."""

LISTS = {"arrays", "tup", "arys", "seq", "xi", "choicelist", "operands"}
"""Parameters that take several arrays in a sequence."""

MATRICES = {"a": "A", "A": "A", "matrix": "A", "b": "v[:3]"}
"""What parameters of these names stand for in modules of linear algebra."""

OF_METHODS = {
    "reduce": ("v + 1.0", "A + 2.0, axis=1, keepdims=True", "A[:, :1], axis=1", "np.array([6, 5, 3])"),
    "accumulate": ("v + 1.0", "A + 2.0, axis=1", "np.array([6, 5, 3])"),
    "reduceat": ("v + 1.0, [0, 3, 1]", "v, range(5)", "np.array([6, 5, 3]), [0, 2]"),
    "outer": ("v + 1.0, u + 1.0", "A, u", "np.array([6, 5, 3]), np.array([1, 2])"),
    "at": ("v, [0, 2, 0], u[:3]", "A, [0, 2, 0], -u[:3]", "y, [0, 1, 2], 2"),
}
"""The arguments of the methods of ufuncs of two arguments."""

AT_PLACES = ("v, [0, 2]", "A, [0, 2]", "y, [0, 2]")
"""The arguments of the method `at` of ufuncs of one argument."""

FORMS = {
    "axis": ("axis=0", "axis=-1"),
    "keepdims": ("axis=0, keepdims=True",),
    "out": ("out=out",),
    "where": ("where=[True, False, True]",),
    "dtype": ("dtype=np.float32",),
    "order": ("order='F'",),
    "initial": ("initial=0.6",),
}
"""The forms of a call by keywords, for functions with parameters of these names."""


def cases_of(entry: str, function: Any) -> Iterator[Case]:
    """The cases by which the public function of this name is judged; some of them may be no calls."""
    texts = CALLS.get(entry)
    if texts is not None:
        for text in texts:
            yield from _of_kinds(entry, text, primary=True)
        return
    bound = _bound_name(entry)
    for text in _texts(bound, entry, function):
        yield from _of_kinds(entry, text, primary=True)
        yield from _forms(entry, text, function)


def _of_kinds(entry: str, text: str, primary: bool) -> Iterator[Case]:
    names = names_in(text)
    free = any(name in FREE for name in names)
    for kind in KINDS if free else LAYOUTS if names else ("plain",):
        if kind == "mixed" and "y" not in names:
            continue
        for domain in ("unit", "above") if free and kind in ("float", "1-d") else ("unit",):
            yield Case(entry, text, kind, domain, primary and kind in PRIMARY)


PRIMARY = ("float", "1-d", "2-d", "plain")


def _forms(entry: str, text: str, function: Any) -> Iterator[Case]:
    given: dict[str, Any] = dict(_parameters(function) or {})
    if entry.rpartition(".")[2] in OF_METHODS:
        return
    if isinstance(function, np.ufunc):
        given = dict.fromkeys(("out", "where", "dtype"))
    kind = "2-d" if any(name in FREE for name in names_in(text)) else "plain"
    for name, forms in FORMS.items():
        if name in given and f"{name}=" not in text:
            for form in forms:
                if name == "where" and "out" in given:
                    form += ", out=out"
                yield Case(entry, f"{text[:-1]}, {form})".replace("(, ", "("), kind, primary=False)


def _parameters(function: Any) -> dict[str, inspect.Parameter] | None:
    try:
        return dict(inspect.signature(function).parameters)
    except (TypeError, ValueError):
        return None


def _bound_name(entry: str) -> str:
    return entry.replace("numpy.", "np.", 1) if entry.startswith("numpy.") else entry


def _texts(name: str, entry: str, function: Any) -> Iterator[str]:
    """Texts of calls of `function` that its signature allows, from the most to the least likely."""
    parameters = _parameters(function)
    home, _, last = name.rpartition(".")
    if home == "np.float64":  # whose methods take no float of Python's for their own number
        calls = ("()", "(y)", "(y, z)") if callable(function) else ("",)
        yield from (f"np.float64(x).{last}{call}" for call in calls)
        return
    if home == "np.ndarray" and not callable(function):
        yield f"v.{last}"
        return
    if isinstance(function, np.ufunc) and last in OF_METHODS:
        yield from (f"{name}({given})" for given in (OF_METHODS[last] if function.nin == 2 else AT_PLACES))
        return
    if isinstance(function, np.ufunc) and function.signature is None:
        yield f"{name}({', '.join(FREE[: function.nin])})"
        if function.nin == 2:
            yield f"{name}(y, x)"  # whose first number is the larger one
        return
    if parameters is None:
        for count in (1, 2, 3, 4):
            yield f"{name}({', '.join(FREE[:count])})"
        return
    required = [p for p in parameters.values() if p.default is p.empty and p.kind in (0, 1)]
    if any(p.kind is p.VAR_POSITIONAL for p in parameters.values()) and not required:
        yield from (f"{name}({', '.join(FREE[:count])})" for count in (1, 2, 3))
        return
    if not required:
        yield f"{name}(x)" if parameters else f"{name}()"
        return
    free = iter(FREE)
    fixed: list[Sequence[str]] = []
    for p in required:
        if p.name in CONSTANTS and (
            fixed or len(required) == 1 or p.name in ("shape", "function", "func", "func1d")
        ):
            fixed.append(CONSTANTS[p.name])
        elif "linalg" in entry:
            fixed.append((MATRICES.get(p.name, "B"), "S"))
        elif p.name in LISTS:
            fixed.append((f"[{next(free, 'x')}, {next(free, 'y')}]",))
        else:
            fixed.append((next(free, "x"),))
    for choice in range(max(map(len, fixed))):
        yield f"{name}({', '.join(options[min(choice, len(options) - 1)] for options in fixed)})"
