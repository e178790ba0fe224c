"""Rules made wrong on purpose, to see that the generated calls find it.

``python -m adbc.testing.coverage --mutate MODULE...`` takes each row of the table that a public function of
the modules has, makes a wrong one of it, and judges the calls of the function until one of them is found to
be wrong.  A mutation that no call finds survives, and is a hole in the cases.

A formula that exists in both modes is made wrong in both alike, so that nothing but differences can tell; in
a rule that is a function, the two modes are made wrong one by one; and where an argument is overwritten, it
is not put back.

So is each row that no public name stands for, and that calls of public functions meet: a method of a
distribution, a function of C below one in Python.
"""

from __future__ import annotations

import ast
import copy
import dataclasses
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from adbc.config import Config
from adbc.rules import default_table
from adbc.rules.activity import Refusal
from adbc.rules.formulas import AnyFormula, Formula, formulas_of
from adbc.rules.numpy.base import ArrayRule
from adbc.rules.numpy.elementwise import ElementwiseRule
from adbc.rules.scipy.of_distributions import MethodRule
from adbc.rules.table import Overlay, PureRule, Rule, ScalarRule, ZeroRule
from adbc.runtime import use
from adbc.tangents import FData, RData, Tangent
from adbc.tangents.array_iterators import FlatIterator
from adbc.testing.coverage.cases import Case
from adbc.testing.coverage.entries import entries_of
from adbc.testing.coverage.generated import cases_of
from adbc.testing.coverage.judge import judge
from adbc.testing.coverage.met import Met
from adbc.testing.coverage.publish import resolved
from adbc.testing.coverage.tables.survivors import ENDLESS, SURVIVORS
from adbc.testing.coverage.values import names_in

__all__ = [
    "Mutation", "mutated_entries", "mutations_of", "name_of", "replaced", "survey_of_inner_rows",
    "survey_of_mutations", "survives",
]  # fmt: skip

Function = Callable[..., Any]


@dataclasses.dataclass(frozen=True)
class Mutation:
    """A way in which a row is made wrong.

    entry: the public name of the function.  what: what is wrong, as text.  fields: the attributes of the
    wrong row that differ.
    """

    entry: str
    row: Rule
    what: str
    fields: dict[str, Any]

    @property
    def name(self) -> str:
        return f"{self.entry}: {self.what}"


def _scaled(formula: Function, factor: float) -> Function:
    def wrong(*args: Any, **options: Any) -> Any:
        return factor * np.asarray(formula(*args, **options))[()]

    return wrong


_FACTORS = {"the other sign": -1.0, "a hundredth more": 1.01}
"""What a formula is multiplied by, by what is said of it."""


def mutations_of(entry: str, function: Any) -> Iterator[Mutation]:
    """The mutations of all rows of `function`, whose public name is `entry`."""
    for number, row in enumerate(default_table().rows(function)):
        for what, fields in _ways(row):
            yield Mutation(entry, row, f"row {number}, {what}", fields)


def _ways(row: Rule) -> Iterator[tuple[str, dict[str, Any]]]:
    if isinstance(row, ZeroRule):
        return
    if isinstance(row, MethodRule):
        yield from _of_methods(row)
        return
    if isinstance(row, ScalarRule):
        yield from _of_partials(row)
    elif isinstance(row, PureRule | ArrayRule):
        yield from _of_formulas(row)
    elif not isinstance(row, Overlay):
        yield "frule: the other sign", {"frule": _wrong_frule(row.frule)}
        yield "rrule: the other sign", {"rrule": _wrong_rrule(row.rrule)}
    if row.mutates and not isinstance(row, ScalarRule | PureRule):
        yield "not restored", {"rrule": _not_restored(row.rrule)}


def _of_partials(row: ScalarRule) -> Iterator[tuple[str, dict[str, Any]]]:
    for i, partial in enumerate(row.partials):
        if partial is not None:
            others = row.partials[:i], row.partials[i + 1 :]
            for what, factor in _FACTORS.items():
                yield f"argument {i}: {what}", {"partials": _with(others, _scaled(partial, factor))}
            yield f"argument {i}: dropped", {"partials": _with(others, None)}


def _of_formulas(row: Any) -> Iterator[tuple[str, dict[str, Any]]]:
    for i, (jvp, vjp) in enumerate(zip(row.jvp, row.vjp, strict=True)):
        if jvp is None or vjp is None:
            continue
        along, against = (row.jvp[:i], row.jvp[i + 1 :]), (row.vjp[:i], row.vjp[i + 1 :])
        for what, factor in () if isinstance(jvp, Refusal) else _FACTORS.items():
            yield (
                f"argument {i}: {what}",
                _fields(row, _with(along, _scaled(jvp, factor)), _with(against, _scaled(vjp, factor))),
            )
        yield f"argument {i}: dropped", _fields(row, _with(along, None), _with(against, None))


def _of_methods(row: MethodRule) -> Iterator[tuple[str, dict[str, Any]]]:
    """The mutations of a row whose formulas stand in it once more, as they are written inline."""
    for what, fields in _of_formulas(row):
        i = int(what.split()[1].rstrip(":")) - 1
        factor = next((factor for said, factor in _FACTORS.items() if what.endswith(said)), None)
        others = row.written[:i], row.written[i + 1 :]
        yield what, fields | {"written": _with(others, _scaled_formula(row.written[i], factor))}


def _scaled_formula(formula: AnyFormula, factor: float | None) -> AnyFormula:
    if factor is None or not isinstance(formula, Formula):
        return None
    return Formula(_scaled(formula.function, factor), makes_new=True)


def _with(others: tuple[Sequence[Any], Sequence[Any]], formula: Any) -> tuple[Any, ...]:
    return (*others[0], formula, *others[1])


def _fields(row: Any, jvp: tuple[Any, ...], vjp: tuple[Any, ...]) -> dict[str, Any]:
    fields: dict[str, Any] = {"jvp": jvp, "vjp": vjp}
    if isinstance(row, ArrayRule):
        fields |= {"tangent_formulas": formulas_of(jvp), "cotangent_formulas": formulas_of(vjp)}
        fields |= {"together": None, "formulas": None, "refused": (*jvp, *row.refused[len(jvp) :])}
        fields["refuses"] = any(isinstance(formula, Refusal) for formula in jvp)
    if isinstance(row, ElementwiseRule):
        fields["formulas"] = formulas_of(vjp)
    return fields


def _wrong_frule(frule: Any) -> Any:
    def wrong(args: Any, dargs: Any, *more: Any, **options: Any) -> Any:
        out, dout = frule(args, dargs, *more, **options)
        if out is None:  # all that it does is to write into its first argument
            _negative(dargs[0])
        return out, _negative(dout)

    return wrong


def _negative(tangent: Any) -> Any:
    """The tangent with the other sign, in place where it is an array, for views of it are so too."""
    if isinstance(tangent, np.ndarray) and tangent.dtype.kind in "fc":
        if tangent.flags.writeable:
            np.negative(tangent, out=tangent)
        return tangent
    if isinstance(tangent, FlatIterator):
        _negative(tangent.array)
    if isinstance(tangent, np.void):
        for name in tangent.dtype.names or ():
            tangent[name] = _negative(tangent[name])
    if isinstance(tangent, float | complex | np.inexact):
        return -tangent
    if type(tangent) is tuple:
        return tuple(map(_negative, tangent))
    if type(tangent) is list:
        tangent[:] = map(_negative, tangent)
    if isinstance(tangent, Tangent | FData | RData):  # of a tuple with names
        vars(tangent).update({name: _negative(part) for name, part in vars(tangent).items()})
    return tangent


def _wrong_rrule(rrule: Any) -> Any:
    def wrong(args: Any, fargs: Any, *more: Any, **options: Any) -> Any:
        out, fout, pullback = rrule(args, fargs, *more, **options)

        def wrong_pullback(bout: Any) -> Any:
            _negative(fargs[0] if out is None else fout)
            return pullback(_negative(bout))

        return out, fout, wrong_pullback

    return wrong


def _not_restored(rrule: Any) -> Any:
    def wrong(args: Any, fargs: Any, *more: Any, **options: Any) -> Any:
        out, fout, pullback = rrule(args, fargs, *more, **options)

        def wrong_pullback(bout: Any) -> Any:
            after = [x.copy() if isinstance(x, np.ndarray | list) else None for x in args]
            result = pullback(bout)
            for x, kept in zip(args, after, strict=True):
                if kept is not None:
                    x[... if isinstance(x, np.ndarray) else slice(None)] = kept
            return result

        return out, fout, wrong_pullback

    return wrong


@contextmanager
def replaced(mutation: Mutation) -> Iterator[None]:
    """A block of code in which the row of `mutation` is wrong, and nothing derived before is used."""
    wrong = copy.copy(mutation.row)
    vars(wrong).update(mutation.fields)
    _KEPT.append(wrong)
    default_table().exchange(mutation.row, wrong)
    try:
        yield
    finally:
        default_table().exchange(wrong, mutation.row)


_KEPT: list[Rule] = []
"""The wrong rows, so that none is found where another was."""


def survives(mutation: Mutation, cases: Sequence[Case], limit: int, refused: Sequence[Case] = ()) -> bool:
    """Whether none of `cases`, which are right, and of those that are `refused` finds the mutation: neither
    where types are known, nor where they are not, so that rows are used which types make to several."""
    for speculation in ("learn", "dynamic"):
        with use(Config(speculation=speculation)), replaced(mutation):
            for case in cases:
                verdict = judge(case, limit)
                if verdict is not None and verdict.status in ("wrong", "error"):
                    return False
            for case in refused:
                verdict = judge(case, limit)
                if verdict is not None and verdict.status != "refused":
                    return False
    return True


def survey_of_mutations(module: str, pattern: str = "", limit: int = 20) -> Iterator[tuple[Mutation, str]]:
    """The mutations of all rows of the public functions of `module` whose names contain `pattern`: each is
    "found", or "survives", is "listed" among those that cannot be found, "refused" as all calls are, or
    "untried" as there is no call."""
    for entry, function, mutations in mutated_entries(module, pattern):
        cases = _by_status(entry, function, limit)
        for mutation in mutations:
            yield mutation, _word(mutation, cases, limit)


def survey_of_inner_rows(met: Met, limit: int = 20) -> Iterator[tuple[Mutation, str]]:
    """The mutations of the rows that were `met` in calls of public functions and that no public name stands
    for, "found", "listed", "survives" or, where no call meets the row, "untried".  Of a refusal that is
    dropped nothing is said: the calls are those that are right."""
    for row, cases in met.rows.items():
        number = next(i for i, other in enumerate(default_table().rows(row.function)) if other is row)
        for what, fields in _ways(row):
            mutation = Mutation(name_of(row), row, f"row {number}, {what}", fields)
            if _without_refusal(mutation) is not None:
                continue
            if cases and not survives(mutation, cases, limit):
                yield mutation, "found"
            else:
                yield mutation, _unfound(mutation.name, "survives" if cases else "untried")


def _unfound(name: str, word: str) -> str:
    return "listed" if name in SURVIVORS else word


def name_of(row: Rule) -> str:
    """What a row is of, as text: the name that it has itself, or that of its function."""
    function = row.function
    home = getattr(getattr(function, "__objclass__", function), "__module__", None)
    name = getattr(function, "__qualname__", None) or getattr(function, "__name__", repr(function))
    return str(getattr(row, "name", "") or (f"{home}.{name}" if home else name))


def mutated_entries(module: str, pattern: str = "") -> Iterator[tuple[str, Any, list[Mutation]]]:
    """The public functions of `module` whose names contain `pattern` and which have rows with mutations: the
    name, the function, and these."""
    for entries in entries_of(module).values():
        for entry, function in entries.items():
            mutations = list(mutations_of(entry, resolved(entry, function))) if pattern in entry else []
            if mutations:
                yield entry, function, mutations


def _by_status(entry: str, function: Any, limit: int) -> dict[str, list[Case]]:
    """The calls that a function is judged by, with other kinds of arguments too, by their status; each call
    comes once before one comes again, for there may be a row for each."""
    cases = [case for case in cases_of(entry, function) if case.kind not in ENDLESS.get(entry, ())]
    judged_by = {case.text for case in cases if case.primary}
    turns: dict[str, int] = {}
    ordered = []
    for case in sorted((case for case in cases if case.text in judged_by), key=lambda case: not case.primary):
        turns[case.text] = turns.get(case.text, 0) + 1
        ordered.append((not case.primary, turns[case.text], case))
    cases = [case for _, _, case in sorted(ordered, key=lambda entry: entry[:2])]
    found: dict[str, list[Case]] = {}
    for case in cases[:60]:
        verdict = judge(case, limit) if names_in(case.text) else None  # of constants there is no derivative
        if verdict is not None:
            found.setdefault(verdict.status, []).append(case)
    return found


def _right(cases: dict[str, list[Case]]) -> list[Case]:
    """The calls that may find a mutation, those with a derivative that is not zero first."""
    return [*cases.get("right", [])[:24], *cases.get("zero", [])[:6]]


def _word(mutation: Mutation, cases: dict[str, list[Case]], limit: int) -> str:
    right, refused = _right(cases), cases.get("refused", [])[:6]
    if (argument := _without_refusal(mutation)) is not None:
        moved = {case.text: case for case in reversed(right)}.values()  # the first call of each text
        refused += [c for case in moved if (c := _moving(case, argument)) and _is_refused(c, limit)]
    if (right or refused) and not survives(mutation, right, limit, refused):
        return "found"
    return _unfound(mutation.name, "survives" if right else "refused" if refused else "untried")


def _without_refusal(mutation: Mutation) -> int | None:
    """The argument whose refusal the mutation drops; None for another mutation."""
    before, after = vars(mutation.row).get("jvp", ()), mutation.fields.get("jvp", ())
    dropped = (
        i for i, (a, b) in enumerate(zip(before, after, strict=False)) if isinstance(a, Refusal) and not b
    )
    return next(dropped, None)


def _is_refused(case: Case, limit: int) -> bool:
    verdict = judge(case, limit)
    return verdict is not None and verdict.status == "refused"


def _moving(case: Case, argument: int) -> Case | None:
    """`case` with a derivative by an argument that is constant in its call; None where there is none such."""
    call = ast.parse(case.text, mode="eval").body
    last = case.entry.rpartition(".")[2]
    if not isinstance(call, ast.Call) or ast.unparse(call.func).rpartition(".")[2] != last:
        return None
    if argument >= len(call.args) or names_in(case.text) == []:
        return None
    call.args[argument] = ast.parse(f"{ast.unparse(call.args[argument])} + 0.0 * w", mode="eval").body
    return dataclasses.replace(case, text=ast.unparse(call))
