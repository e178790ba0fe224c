"""Formulas: what builders write inline for a call of a function of arrays, instead of calling its rule.

A formula gives one argument its share of the cotangent of the result.  It is a Python function, and what a
builder needs to know about it stands beside it in a record.  Nothing here looks into the function: which of
its parameters it reads is a question to its bytecode, which the engine answers.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Iterator, Sequence
from types import FunctionType
from typing import Any

from adbc.functions import is_function
from adbc.records import record

__all__ = ["AnyFormula", "Formula", "FormulaCall", "always", "formulas_of", "function_of"]


@record(frozen=True)
class Formula:
    """``function(by, out, *arrays, **others)`` is the cotangent of one of `arrays`, `by` that of `out`.

    makes_new: whether what it gives is new memory (or nobody else's), not a part of what it was given.

    is_elementwise: whether it is a product of the cotangent and an elementwise function of what it reads.

    partial: that elementwise function, ``partial(out, *arrays)``, if the formula was made from it.

    is_strong: whether the product is zero where the cotangent is, even if the partial derivative is
    infinite; builders must not write ``partial(...) * by`` in its place then.

    factor: which of ``(out, *arrays)`` the partial derivative is, if it is one of these.

    over: a function that writes the result over the cotangent, an array of float64 nobody else needs.

    fits: a function that says from the types of the arrays whether the result has shape and dtype of its
    array.

    uniform: if given, all elements of the result are the number ``uniform(by, shape of the array)``; 1 if
    that is the cotangent itself.

    of_shape: a function with ``of_shape(by, shape of the array, **others)`` for the result.

    into: a function with ``into(shadow, by, **others)`` that adds the result to a shadow.

    of_types: a function that gives for the types of the arrays another one to call in the place of
    `function`, which takes fewer steps for arrays of these types, or None.
    """

    function: Callable[..., Any]
    makes_new: bool = False
    is_elementwise: bool = False
    partial: Callable[..., Any] | None = None
    is_strong: bool = False
    factor: int | None = None
    over: Callable[..., Any] | None = None
    fits: Callable[[Sequence[Any]], bool] | None = None
    uniform: Callable[..., Any] | int | None = None
    of_shape: Callable[..., Any] | None = None
    into: Callable[..., Any] | None = None
    of_types: Callable[[Sequence[Any]], Callable[..., Any] | None] | None = None

    def known(self, types: Sequence[Any]) -> Formula:
        """The formula for arrays of these types."""
        function = None if self.of_types is None else self.of_types(types)
        return self if function is None else dataclasses.replace(self, function=function)

    @property
    def slope(self) -> Callable[..., Any] | None:
        """The partial derivative, if builders may multiply the cotangent by it themselves, else None."""
        return None if self.is_strong else self.partial

    def functions(self) -> Iterator[tuple[str, FunctionType]]:
        """The Python functions of the formula, by the names of the fields that they are in."""
        for field in dataclasses.fields(self):
            value = getattr(self, field.name)
            if is_function(value):
                yield field.name, value


AnyFormula = Formula | int | None
"""A formula; 1 or -1 where the cotangent or its negative is all there is to it; None where it is zero."""


@record(frozen=True)
class FormulaCall:
    """How a call is differentiated by formulas alone.

    arrays: which arguments of the call the formulas are given by position; formulas: one for each of them
    (see `Rule.formulas`).  others: names and positions of the arguments that are given by name.

    together: a function that gives the cotangents of all arrays in a sequence, for less than the formulas one
    by one; it is used where all are wanted.

    window: whether the result may be a view of the first array, which nobody can tell as long as neither is
    changed or handed out.

    parts: whether the cotangent of the array costs much more than to read the cotangent of the result,
    because only a part of the array is read.

    is_elementwise: whether a formula multiplies what it is given by numbers that broadcast with it.
    """

    formulas: tuple[AnyFormula, ...]
    arrays: tuple[int, ...]
    others: tuple[tuple[str, int], ...] = ()
    together: Callable[..., Any] | None = None
    window: bool = False
    parts: bool = False
    is_elementwise: bool = False

    def known(self, types: Sequence[Any]) -> FormulaCall:
        """The call with its formulas for arrays of these types."""
        formulas = tuple(f.known(types) if isinstance(f, Formula) else f for f in self.formulas)
        return self if formulas == self.formulas else dataclasses.replace(self, formulas=formulas)


def always(types: Sequence[Any]) -> bool:
    """The `Formula.fits` of a formula that gives the shape and dtype of its array whatever the types are."""
    return True


def function_of(formula: Formula | Callable[..., Any] | None) -> Callable[..., Any] | None:
    """The function to call for `formula`, which may be a mere function instead of a `Formula`."""
    return formula.function if isinstance(formula, Formula) else formula


def formulas_of(functions: Iterable[Formula | Callable[..., Any] | None]) -> tuple[Formula | None, ...]:
    """These functions as formulas for builders, which know nothing more of those that are mere functions."""
    return tuple(f if f is None or isinstance(f, Formula) else Formula(f) for f in functions)
