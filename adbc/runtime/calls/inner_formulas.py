"""Functions of numbers in derivatives that are differentiated once more: their formulas are written where the
functions are called (`inner`), for a rule that looks at classes and fits what it gives takes many steps that
say nothing new at the outer level."""

from __future__ import annotations

from typing import Any

from adbc.rules.quotients import QuotientRule
from adbc.rules.table import ScalarRule, ZeroRule
from adbc.runtime.calls.inner_ways import Ways
from adbc.runtime.calls.steps import Call

__all__ = ["Formulas"]

_PLAIN = frozenset({bool, int, str, float})
"""The classes of results of which nothing stands beside a constant."""
_NUMBERS = frozenset({float, int, bool})


class Formulas(Ways):
    """The part of the writer that has to do with functions of numbers."""

    def write_formulas(self, row: Any, call: Call) -> bool:
        """Write the formulas of `row` for `call`; False if it has none, or `call` is not of numbers alone."""
        if call.keywords or call.function is not row.function:
            return False
        if type(row) is ZeroRule:
            return self._constant(row, call)
        if type(row) is ScalarRule or type(row) is QuotientRule:
            return self._formulas(row, call)
        return False

    def _constant(self, row: Any, call: Call) -> bool:
        result = row.result
        if callable(result) and not issubclass(type(result), type):
            result = result(*map(type, call.args))
        if result not in _PLAIN:
            return False
        self.lines += [f"out = {self._call(call)}", "fout = None"]
        return True

    def _formulas(self, row: Any, call: Call) -> bool:
        if not _NUMBERS.issuperset(map(type, call.args)) or float not in map(type, call.args):
            return False
        places = [i for i, f in enumerate(call.shadows) if f is not None and i < len(row.partials)]
        places = [i for i in places if row.partials[i] is not None]
        if not places or any(type(call.args[i]) is not float for i in places):
            return False
        if self.is_forward and any(type(call.shadows[i]) is not float for i in places):
            return False
        values = self.values(call)
        partials = {i: f"{self.name(row.partials[i])}(out, {', '.join(values)})" for i in places}
        general = f"({''.join(f'{x}, ' for x in values)}), ({''.join(f'{x}, ' for x in self.shadows(call))})"
        self.lines.append(f"out = {self._call(call)}")
        if self.is_forward:
            self._tangent(row, general, call, partials)
        else:
            self._cotangents(row, general, call, partials)
        return True

    def _call(self, call: Call) -> str:
        return f"{self.name(call.function)}({', '.join(self.values(call))})"

    def _tangent(self, row: Any, general: str, call: Call, partials: dict[int, str]) -> None:
        shadows = self.shadows(call)
        self.lines.append("if out.__class__ is float:")
        for k, (i, partial) in enumerate(partials.items()):
            self.lines += self._product("d", partial, shadows[i])
            self.lines.append(" fout = fout + d" if k else " fout = d")
        self.lines.append(f"else: out, fout = {self.name(row.frule)}({general})")

    @staticmethod
    def _product(name: str, partial: str, by: str) -> list[str]:
        """The lines of a block that give the derivative `partial` times `by`, in which zero wins."""
        return [f" p = {partial}", f" {name} = p * {by}", f" if {name} != {name}: {name} = multiply(p, {by})"]

    def _cotangents(self, row: Any, general: str, call: Call, partials: dict[int, str]) -> None:
        self.lines += [
            "fout, inner = NO_FDATA, None",
            f"if out.__class__ is not float: out, fout, inner = {self.name(row.rrule)}({general})",
        ]
        names = [f"b{i}" for i in partials]
        self.back += [
            f"{' = '.join(names)} = None",
            "if inner is not None:",
            " given = tuple(inner(bout))",
            *[f" b{i} = part(given, {i})" for i in partials],
            "elif bout is not None:",
            " if bout.__class__ is not float: bout = as_float(bout)",
            *[line for i, partial in partials.items() for line in self._product(f"b{i}", partial, "bout")],
        ]
        for i in partials:
            self.give(call.origins[i], f"b{i}")
