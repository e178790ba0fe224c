"""What the calls of public functions meet of rules: bodies in Python, and rows that no public name has.

A public function of SciPy is mostly Python, and what has a row is a function far below it, or a method of
which there are rows for several distributions.  Which of these are used is seen when a call is judged.
"""

from __future__ import annotations

import functools
import importlib
import inspect
import types
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from time import perf_counter
from typing import Any

from adbc.functions import is_function
from adbc.ir.graph import Graph
from adbc.records import record
from adbc.rules import default_table
from adbc.rules.table import Rule
from adbc.runtime.build import graphs
from adbc.testing.coverage.cases import Case
from adbc.testing.coverage.entries import entries_of
from adbc.testing.coverage.generated import cases_of
from adbc.testing.coverage.judge import judge
from adbc.testing.coverage.publish import resolved
from adbc.testing.coverage.tables.survivors import ENDLESS
from adbc.testing.coverage.values import names_in

__all__ = ["HOME", "HOMES", "Met", "derive_anew", "inner_rows", "met_in_calls"]

HOME = "adbc.rules."
HOMES = {
    "scipy.cluster.vq": "scipy.clusters",
    "scipy.fft": "scipy.fourier",
    "scipy.fftpack": "scipy.fftpack",
    "scipy.integrate": "scipy.integrals scipy.differential scipy.explicit_steps",
    "scipy.interpolate": "scipy.interpolate scipy.splines",
    "scipy.linalg": "scipy.factorisations scipy.other_factorisations scipy.matrix_functions scipy.solves"
    " scipy.stacks scipy.eliminations",
    "scipy.ndimage": "scipy.ndimage scipy.ndimage_interpolation",
    "scipy.optimize": "scipy.optimize scipy.least_squares",
    "scipy.signal": "scipy.signal scipy.peaks",
    "scipy.sparse": "scipy.sparse scipy.blocks_of_rows scipy.lists_of_rows",
    "scipy.sparse.linalg": "scipy.sparse_solves",
    "scipy.spatial": "scipy.trees",
    "scipy.spatial.distance": "scipy.distances",
    "scipy.spatial.transform": "scipy.rotations",
    "scipy.special": "scipy.special scipy.harmonics scipy.functions scipy.several scipy.elliptic"
    " scipy.inverses",
    "scipy.stats": "scipy.continuous scipy.estimates scipy.discrete scipy.distributions scipy.vectors"
    " scipy.normal_vectors scipy.base scipy.selection scipy.array_api",
}
"""By module, the modules of rules whose functions and rows are made wrong: others are met too, by constants
mostly."""
_TEXTS = 24
"""How many calls of a function are looked at."""
_CASES = 200
"""By how many calls a mutation is looked for, the quickest ones of each public function first."""


@record(frozen=True)
class Met:
    """What calls that are right have met of rules, each with such calls, the quickest first.

    bodies: functions in Python that were differentiated, or in which such are.  rows: rows of functions that
    no public name stands for; those that no call has met have no calls.  entered: the code of what was
    differentiated, without what is around it.
    """

    bodies: dict[types.FunctionType, Sequence[Case]]
    rows: dict[Rule, Sequence[Case]]
    entered: frozenset[types.CodeType] = frozenset()


@contextmanager
def _asked(found: set[types.FunctionType]) -> Iterator[None]:
    """A block of code in which functions of rules whose graph is asked for are added to `found`."""
    original = graphs.Graphs.primal

    @functools.wraps(original)
    def primal(self: Any, function: Any) -> Graph:
        if is_function(function) and str(function.__module__).startswith(HOME):
            found.add(function)
        return original(self, function)

    graphs.Graphs.primal = primal  # type: ignore[method-assign]  # put back below
    try:
        yield
    finally:
        graphs.Graphs.primal = original  # type: ignore[method-assign]


def derive_anew() -> None:
    """Let everything that was derived be derived again."""
    table = default_table()
    row = table.rows(abs)[0]
    table.exchange(row, row)


def inner_rows(module: str) -> list[Rule]:
    """The rows in the modules of rules of `module` whose functions no public name stands for."""
    homes = [importlib.import_module(HOME + name) for name in HOMES.get(module, "").split()]
    functions = {id(row.function): row.function for home in homes for row in getattr(home, "ROWS", ())}
    functions |= {id(f): f for home in homes for f in getattr(home, "LAST_ROWS", ())}
    public = _public() if functions else ()
    return [row for f in functions.values() if not _is_among(f, public) for row in default_table().rows(f)]


def _is_among(function: Any, functions: Any) -> bool:
    try:
        return function in functions
    except TypeError:
        return False


@functools.cache
def _public() -> frozenset[Any]:
    """What the public names stand for whose rows are made wrong one by one."""
    found = []
    for module in ("math", "cmath", "numpy", *HOMES):
        for entries in entries_of(module).values():
            for entry, thing in entries.items():
                function = resolved(entry, thing)
                if getattr(type(function), "__hash__", None) is not None:
                    found.append(function)
    return frozenset(found)


def met_in_calls(module: str, pattern: str, limit: int) -> Met:
    """What right calls of public functions of `module` whose names contain `pattern` meet of its rules."""
    homes = {HOME + name for name in HOMES.get(module, "").split()}
    if not homes:
        return Met({}, {})
    bodies: dict[types.FunctionType, list[tuple[float, Case]]] = {}
    rows: dict[Rule, list[tuple[float, Case]]] = {row: [] for row in inner_rows(module)}
    entered: set[types.CodeType] = set()
    for case in _calls(module, pattern):
        met: set[types.FunctionType] = set()
        derive_anew()
        start = perf_counter()
        with _asked(met):
            verdict = judge(case, limit)
        seconds = perf_counter() - start
        if verdict is None or verdict.status != "right":
            continue
        entered |= {f.__code__ for f in met}
        for outer in {_outermost(f) for f in met if f.__module__ in homes} - {None}:
            bodies.setdefault(outer, []).append((seconds, case))  # type: ignore[arg-type]  # not None
        for row in _chosen() & rows.keys():
            rows[row].append((seconds, case))
    return Met(
        {f: _in_turns(found)[:_CASES] for f, found in bodies.items()},
        {row: _in_turns(found)[:_CASES] for row, found in rows.items()},
        frozenset(entered),
    )


def _chosen() -> set[Rule]:
    """The rows that were chosen since everything was derived anew."""
    table = default_table()
    return {row for row in (*table.found.values(), *(row for row, _ in table.resting.values())) if row}


def _calls(module: str, pattern: str) -> Iterator[Case]:
    for entries in entries_of(module).values():
        for entry, thing in entries.items():
            if pattern in entry:
                yield from _some(entry, thing)


def _in_turns(timed: list[tuple[float, Case]]) -> list[Case]:
    """The cases, the quickest of each public function first, then the next quickest of each."""
    turns: dict[str, int] = {}
    ordered = []
    for number, (_, case) in enumerate(sorted(timed, key=lambda x: x[0])):
        turns[case.entry] = turns.get(case.entry, 0) + 1
        ordered.append((turns[case.entry], number, case))
    return [case for _, _, case in sorted(ordered, key=lambda x: x[:2])]


def _some(entry: str, thing: Any) -> Sequence[Case]:
    """A call of each form by which a function is judged, and one with complex numbers."""
    found: dict[tuple[str, bool], Case] = {}
    for case in cases_of(entry, resolved(entry, thing)):
        is_complex = case.kind == "complex"
        if (case.primary or is_complex) and names_in(case.text) and case.kind not in ENDLESS.get(entry, ()):
            found.setdefault((case.text, is_complex), case)
    texts = list(dict.fromkeys(text for text, _ in found))[:_TEXTS]
    return [case for (text, _), case in found.items() if text in texts]


def _outermost(function: types.FunctionType) -> types.FunctionType | None:
    """The function of a module, or the method of a class there, in whose text that of `function` stands; None
    if there is no text."""
    home: Any = inspect.getmodule(function)
    for name in function.__qualname__.partition(".<locals>")[0].split("."):
        home = getattr(home, name, None)
    home = getattr(home, "__wrapped__", home)
    return home if is_function(home) and home.__name__ != "<lambda>" else None
