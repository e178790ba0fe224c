"""Methods of the distributions of ``scipy.stats`` by all of their parameters: the kind of row."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from adbc.rules.formulas import AnyFormula, Formula, FormulaCall
from adbc.rules.linear import refuse_others
from adbc.rules.numpy.base import plain
from adbc.rules.numpy.elementwise import ElementwiseRule, elementwise, quiet
from adbc.rules.table import NO_KWARGS, UNKNOWN, Args, Kwargs, Pullback

__all__ = ["MethodRule", "over"]

Function = Callable[..., Any]


def over(p: Any, z: Any) -> Any:
    """``p / z``, the derivative of ``xlogy(p, z)``: zero where both are.  It keeps the derivative by `p`."""
    if np.all(p != 0):
        return p / z
    return p / np.where((p == 0) & (z == 0), 1.0, z)


def _written(partial: Function | None) -> AnyFormula:
    """The formula for the cotangent of real numbers, which is given the distribution by name."""
    if partial is None:
        return None

    def against(by: Any, out: Any, *arrays: Any, self: Any) -> Any:
        return quiet(partial(out, self, *arrays), by)

    return Formula(against, makes_new=True)


class MethodRule(ElementwiseRule):
    """The rule of a method of a distribution, whose own attributes are constants.

    partials: ``partial(out, distribution, x, *parameters)``, by x, the shapes, and what has `defaults`;
    first: the name of x.
    """

    def __init__(
        self,
        method: Function,
        distribution: Any,
        partials: Sequence[Function | None],
        defaults: Mapping[str, Any],
        first: str = "x",
    ) -> None:
        shapes = distribution.shapes.split(", ") if distribution.shapes else []
        cls = type(distribution)
        row = elementwise(method, None, *partials, singular=True, result=None)
        super().__init__(
            row.function,
            jvp=row.jvp,
            vjp=row.vjp,
            when=lambda self, *others: self is cls and plain(*others),
            formulas=row.formulas,
            names=" ".join(["self", first, *shapes, *defaults]),
        )
        self.partials = row.partials
        self.least = 2 + len(shapes)
        self.defaults = dict(defaults)
        self.name = f"scipy.stats.{distribution.name}.{method.__name__}"
        self.written = tuple(map(_written, partials))

    def bind(self, args: Args, kwargs: Kwargs) -> tuple[tuple[Any, ...], dict[str, Any]]:
        if any(name not in kwargs for name in self.names[len(args) : self.least]):
            return tuple(args), dict(kwargs)  # SciPy says what is missing
        bound: tuple[tuple[Any, ...], dict[str, Any]] = super().bind(args, kwargs)
        return bound

    def formula_call(
        self, count: int, keywords: Sequence[str], is_complex: bool = False
    ) -> FormulaCall | None:
        if keywords or is_complex or not self.least <= count <= self.arrays:
            return None
        return FormulaCall(self.written[: count - 1], tuple(range(1, count)), (("self", 0),))

    def uncovered(self, count: int) -> Sequence[int]:
        return [0]

    def numeric(self, count: int) -> Sequence[int]:
        return range(1, min(count, self.arrays))

    def frule(
        self, args: Args, dargs: Args, kwargs: Kwargs = NO_KWARGS, out: Any = UNKNOWN
    ) -> tuple[Any, Any]:
        self._refuse(args, dargs, is_tangent=True)
        return super().frule(args, (None, *dargs[1:]), kwargs, out)

    def rrule(
        self, args: Args, fargs: Args, kwargs: Kwargs = NO_KWARGS, out: Any = UNKNOWN
    ) -> tuple[Any, Any, Pullback]:
        self._refuse(args, fargs, is_tangent=False)
        return super().rrule(args, (None, *fargs[1:]), kwargs, out)

    def _refuse(self, args: Args, derivatives: Args, *, is_tangent: bool) -> None:
        places = range(1, len(args))
        refuse_others(self.name, places, args, derivatives, self.names, is_tangent=is_tangent)
