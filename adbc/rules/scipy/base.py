"""The kind of row that SciPy's functions need: formulas for some parameters, and a refusal by the others.

Parameters and defaults are read from the signature.  What is called ``overwrite_a`` and the like allows a
function to leave rubbish in an argument: with a derivative it never does.
"""

from __future__ import annotations

import importlib
import inspect
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from adbc.errors import UnsupportedError
from adbc.rules.activity import Refusal, carries
from adbc.rules.formulas import AnyFormula, Formula, FormulaCall
from adbc.rules.implicit import solved
from adbc.rules.linear import along, refuse_others
from adbc.rules.numpy.base import ArrayRule, places, plain
from adbc.rules.numpy.sampling import sampled
from adbc.rules.table import NO_KWARGS, Args, Kwargs, Overlay, Primitive, Pullback, Rule, When

__all__ = ["ROWS", "FormulaRule", "ask", "bodies", "fixed", "internal", "linear", "unknown", "vendored"]

_BY_POSITION = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)


class FormulaRule(ArrayRule):
    """The rule of a function of SciPy that has formulas for its first parameters; by all others, and by those
    whose formula is None, an active number is refused."""

    sample = None  # type: ignore[assignment]  # they raise at what an example may be, and take their time

    def by_example(self, sample: Callable[..., Any] = sampled) -> FormulaRule:
        """This row, as one of a function that may be called to see what it returns (`Rule.sample`), or of
        which `sample` says that: derivatives have its formulas written into their code then."""
        self.sample = sample
        return self

    def __init__(
        self,
        function: Any,
        *,
        jvp: Sequence[Callable[..., Any] | None],
        vjp: Sequence[Callable[..., Any] | None],
        name: str | None = None,
        when: When = plain,
    ) -> None:
        parameters = inspect.signature(function).parameters
        names = [n for n, p in parameters.items() if p.kind in _BY_POSITION]
        defaults = {
            n: parameters[n].default for n in names if parameters[n].default is not inspect.Parameter.empty
        }
        super().__init__(function, " ".join(names), jvp=jvp, vjp=vjp, defaults=defaults, when=when)
        self.active = [*range(len(names))]
        self.parameters = tuple(names)
        self.known = [i for i, formula in enumerate(jvp) if formula is not None]
        self.name = name or f"{public_module(function)}.{function.__name__}"

    is_as_formulas_say = True

    def formula_call(
        self, count: int, keywords: Sequence[str], is_complex: bool = False
    ) -> FormulaCall | None:
        if self.names[0] != "self":
            return super().formula_call(count, keywords, is_complex)
        return None if is_complex else self._of_method(count, keywords, self.vjp)

    def tangent_call(self, count: int, keywords: Sequence[str]) -> FormulaCall | None:
        if self.names[0] != "self":
            return super().tangent_call(count, keywords)
        return self._of_method(count, keywords, self.jvp)

    def _of_method(
        self, count: int, keywords: Sequence[str], functions: Sequence[Callable[..., Any] | None]
    ) -> FormulaCall | None:
        """The formulas for a call of a method, whose object, a constant, they are given by name."""
        named = places(count, keywords, self.names)
        arrays = [name for name in self.names[1 : self.arrays] if named is not None and name in named]
        if named is None or not self.is_pure(count, keywords) or "self" not in named:
            return None
        others = tuple((name, i) for name, i in named.items() if name not in arrays)
        if self.written is None or self.written[0] is not functions:
            self.written = functions, tuple(map(_with_object, functions))
        formulas = tuple(self.written[1][self.names.index(name)] for name in arrays)
        return FormulaCall(formulas, tuple(named[name] for name in arrays), others)

    written: Any = None
    """What `_of_method` has made of which functions."""

    def uncovered(self, count: int) -> Sequence[int]:
        return [i for i in range(count) if i not in self.known]

    def is_pure(self, count: int, keywords: Sequence[str]) -> bool:
        given = (*self.names[: count - len(keywords)], *keywords)
        is_pure: bool = super().is_pure(count, keywords)
        return is_pure and not any(n.startswith("overwrite") for n in given)

    def _kept(self, args: Args, kwargs: Kwargs) -> tuple[Args, Kwargs]:
        """The arguments, without leave to overwrite one of them."""
        if any(n.startswith("overwrite") for n in self.names[: len(args)]):
            args = [False if n.startswith("overwrite") else x for n, x in zip(self.names, args, strict=False)]
        if any(n.startswith("overwrite") for n in kwargs):
            kwargs = {n: x for n, x in kwargs.items() if not n.startswith("overwrite")}
        return args, kwargs

    def frule(self, args: Args, dargs: Args, kwargs: Kwargs = NO_KWARGS) -> tuple[Any, Any]:
        refuse_others(self.name, self.known, args, dargs, self.names, is_tangent=True)
        args, kwargs = self._kept(args, kwargs)
        return super().frule(args, dargs, kwargs)

    def rrule(self, args: Args, fargs: Args, kwargs: Kwargs = NO_KWARGS) -> tuple[Any, Any, Pullback]:
        refuse_others(self.name, self.known, args, fargs, self.names, is_tangent=False)
        args, kwargs = self._kept(args, kwargs)
        return super().rrule(args, fargs, kwargs)


def _with_object(function: Callable[..., Any] | None) -> AnyFormula:
    """The formula of a method by the function that is given the object in front of the arrays."""
    if function is None:
        return None

    def written(by: Any, out: Any, *arrays: Any, self: Any, **others: Any) -> Any:
        return function(by, out, self, *arrays, **others)

    return Formula(written)


def public_module(function: Any) -> str:
    """The module by whose name people know `function`: without the parts that start with an underscore."""
    parts = str(function.__module__).split(".")
    return ".".join(part for part in parts if not part.startswith("_"))


def linear(
    function: Any,
    places: int | Sequence[int] = 0,
    *,
    transpose: Callable[..., Any] | Sequence[Callable[..., Any]],
    name: str | None = None,
) -> FormulaRule:
    """The row of a function that is linear in each of the arguments at `places`: `adbc.linear`, for arrays
    and lists of numbers.  ``transpose(by, *arrays, **others)`` gives the cotangent of the argument."""
    where = (places,) if isinstance(places, int) else tuple(places)
    adjoints = (transpose,) if callable(transpose) else tuple(transpose)
    count = max(where) + 1
    jvp: list[Any] = [None] * count
    vjp: list[Any] = [None] * count
    for place, adjoint in zip(where, adjoints, strict=True):
        jvp[place] = along(function, place)
        vjp[place] = _without_result(adjoint)
    return FormulaRule(function, jvp=jvp, vjp=vjp, name=name)


def _without_result(adjoint: Callable[..., Any]) -> Callable[..., Any]:
    return lambda by, out, /, *args, **others: adjoint(by, *args, **others)


def internal(*names: str) -> Any:
    """The first module of these names that there is: modules of SciPy's own use move, come and go with its
    versions; None if there is none."""
    for name in names:
        try:
            return importlib.import_module(name)
        except ImportError:
            continue
    return None


_VENDORED = ("scipy._lib", "scipy._external")


def vendored(name: str) -> Any:
    """The module `name` of what SciPy has adopted from other projects, which moved with SciPy 1.18; None if
    it has not been imported."""
    found = (sys.modules.get(f"{home}.{name}") for home in _VENDORED)
    return next((module for module in found if module is not None), None)


def bodies(module: Any, found: Mapping[str, Callable[..., Any]]) -> list[Any]:
    """The overlays of those functions of `module` that it has, by name."""
    return [Overlay(getattr(module, name), body) for name, body in found.items() if hasattr(module, name)]


def ask(function: Any, arrays: Sequence[Any], *options: Any) -> None:
    """Let `function` raise what it raises for these options, and arrays of so many axes and such dtypes: it
    is called with one element of each."""
    solved(function, (*[x[(slice(0, 1),) * np.ndim(x)] for x in map(np.asarray, arrays)], *options), {})


def unknown(name: str, argument: str) -> Refusal:
    """What stands in place of a partial derivative for which there is no formula."""
    return Refusal(
        f"{name} has no derivative rule by {argument}",
        "adbc has no formula for it",
        "pass it as a constant: adbc.stop_gradient(x) in place of x",
    )


def fixed(x: Any, what: str, instead: str) -> Any:
    """`x`, of which nothing may have a derivative: otherwise it is refused, as `what`."""
    return x


def _refuse_active(args: Args, derivatives: Args, is_tangent: bool) -> None:
    if carries(args[0], derivatives[0], is_tangent=is_tangent):
        raise UnsupportedError(args[1], "adbc has no rule for that", args[2])


def _fixed_frule(args: Args, dargs: Args, kwargs: Kwargs = NO_KWARGS) -> tuple[Any, Any]:
    _refuse_active(args, dargs, True)
    return args[0], None


def _fixed_rrule(args: Args, fargs: Args, kwargs: Kwargs = NO_KWARGS) -> tuple[Any, Any, Pullback]:
    _refuse_active(args, fargs, False)
    return args[0], None, lambda bout: (None,) * len(args)


ROWS: list[Rule] = [Primitive(fixed, frule=_fixed_frule, rrule=_fixed_rrule)]
