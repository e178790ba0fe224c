"""The page that says what each public function has: a rule, a derivative by descent, zero, or a refusal."""

from __future__ import annotations

import importlib
import platform
import types
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from adbc.functions import is_builtin_function, is_function
from adbc.rules import default_table
from adbc.rules.classes import has_float
from adbc.rules.kinds import RowKind
from adbc.rules.numpy.scalars import METHODS
from adbc.rules.table import Rule
from adbc.testing.coverage.entries import entries_of

__all__ = ["MODULES", "page", "resolved", "what_it_has"]

MODULES = (
    "numpy", "math", "cmath", "statistics", "bisect", "heapq", "random", "operator", "itertools", "functools",
    "collections", "copy", "array", "struct", "fractions", "decimal", "contextvars", "json",
)  # fmt: skip
"""The modules that the page is about."""

INSTEAD = {
    "as_integer_ratio": "compute with the float",
    "fractions.Fraction": "a fraction of a float with a derivative has none: compute with the float",
    "decimal.Decimal": "a decimal of a float with a derivative has none: compute with the float",
    "struct": "bytes have no derivative: keep the numbers, or pack adbc.stop_gradient(x)",
    "json": "text has no derivative: dump adbc.stop_gradient(x)",
    "contextvars": "hand the number on as an argument",
    "byteswap": "astype",
    "getfield": "index the field, x['name']",
    "setfield": "assign to the field, x['name'] = v",
    "nested_iters": "write the loops",
    "resize": "np.resize(x, shape)",
    "tobytes": "keep the array",
    "dumps": "keep the array",
    "flatiter": "x.flat",
    "ndarray": "np.asarray, and np.ndarray.view",
    "packbits": "compare first",
    "base": "the number",
    "Generator.spawn": "seeds",
}
"""What to use in place of what is refused, by the end or the beginning of a name."""

_NUMBERS = "numpy.float64."

IN_C_BELOW = ("json.dump", "json.dumps", "json.JSONEncoder", "fractions.Fraction")
"""Functions in Python that end in C where they are given a number with a derivative."""

KINDS = {
    "rule": "with a rule",
    "descent": "by descent into their Python code",
    "zero": "with the derivative zero",
    "refused": "refused where an argument has a derivative",
}


def resolved(entry: str, thing: Any) -> Any:
    """What a public name stands for, found by its name."""
    parts = entry.split(".")
    for count in range(len(parts) - 1, 0, -1):
        try:
            home = importlib.import_module(".".join(parts[:count]))
        except ImportError:
            continue
        found: Any = home
        for name in parts[count:]:
            found = getattr(found, name, None)
        return found
    return thing


def what_it_has(entry: str, thing: Any = None) -> str:
    """One of `KINDS` for the public name `entry`."""
    found = resolved(entry, thing)
    last = entry.rpartition(".")[2]
    if entry in IN_C_BELOW:
        return "refused"
    if isinstance(found, types.MethodType):
        found = found.__func__
    table = default_table()
    rows = table.rows(found) if found is not None else []
    if not rows and hasattr(found, "__objclass__"):  # a method that is inherited
        rows = table.rows(getattr(found.__objclass__, last, None))
    if rows:
        if entry.startswith(_NUMBERS) and last in METHODS:
            return what_it_has(f"numpy.ndarray.{last}")
        return "zero" if _is_zero(rows) else "rule"
    inner = getattr(found, "__wrapped__", found)
    if is_function(inner) or (isinstance(inner, type) and _is_in_python(inner)):
        return "descent"
    if entry.startswith(("numpy.polynomial", "operator", "random.", "itertools", "functools", "collections")):
        return "descent" if not is_builtin_function(inner) else "rule"
    if entry.startswith(("numpy.r_", "numpy.c_", "numpy.s_", "numpy.mgrid", "numpy.ogrid")):
        return "descent"
    return "refused"


def _is_zero(rows: Sequence[Rule]) -> bool:
    """Whether the rows of a function give no derivative by plain numbers or arrays.

    Overlays are for numbers of the user's own classes then, and what is zero besides a formula is so for
    whole numbers.
    """
    first = next((row for row in rows if row.when is not has_float), rows[0])
    formulas = (row for row in rows if row.kind not in (RowKind.ZERO, RowKind.OVERLAY, RowKind.OPT_OUT))
    return (first.kind is RowKind.ZERO or _is_step(first)) and all(map(_is_step, formulas))


def _is_step(row: Any) -> bool:
    """Whether a row gives no derivative by any of its arguments."""
    jvp = getattr(row, "jvp", None)
    return jvp is not None and not any(jvp)


def _is_in_python(cls: type) -> bool:
    return any(is_function(x) for x in vars(cls).values())


def _instead(entry: str) -> str:
    for name, words in INSTEAD.items():
        if entry == name or entry.endswith(f".{name}") or entry.startswith(f"{name}."):
            return f" ({words})"
    return ""


def _group(name: str, entries: dict[str, Any]) -> Iterator[str]:
    by_kind: dict[str, list[str]] = {kind: [] for kind in KINDS}
    for entry, thing in entries.items():
        if ".__" in entry and "polynomial" not in entry:  # the operators say what these are
            continue
        by_kind[what_it_has(entry, thing)].append(entry)
    yield name
    yield "-" * len(name)
    yield ""
    for kind, found in by_kind.items():
        if found:
            names = ", ".join(f"``{entry}``{_instead(entry) if kind == 'refused' else ''}" for entry in found)
            yield f"{len(found)} {KINDS[kind]}"
            yield f"   {names}"
            yield ""


def versions() -> str:
    """The versions that the page is true of."""
    return f"CPython {'.'.join(platform.python_version_tuple()[:2])} and NumPy {np.__version__}"


def page() -> str:
    """The text of the page."""
    lines = [
        "What each function has",
        "======================",
        "",
        "``python -m adbc.testing.coverage --publish docs/functions.rst`` writes this page from the table of",
        f"rules, for {versions()}. It says what is there, not that it is right in all cases: that is what",
        "``python -m adbc.testing.coverage numpy math`` finds out by calling every one of these functions.",
        "",
        "A function with a rule, or by descent, is refused by name where one of its options has no",
        "derivative. What special methods do is what the operators do.",
        "",
    ]
    for module in MODULES:
        for name, entries in entries_of(module).items():
            lines += _group(name, entries)
    return "\n".join(lines).rstrip() + "\n"
