"""Elementwise functions: the kind of row for ufuncs and for operators on arrays.

A row is a function with one partial derivative per argument, ``partial(out, *args)``, or a number
where it is constant.  The formulas are holomorphic; what is not (``abs``, ``conjugate``, ...) gives
`jvp` and `vjp` by hand.  Zero wins in the product of a partial and a derivative (`tangents.multiply` says
why), so that a branch that `where` did not take does not make the gradient NaN.  `singular` says that a
partial can be infinite or undefined where the arguments are finite: then the warnings of computing it are
not shown.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from adbc.rules.activity import Refusal, without_refused
from adbc.rules.formulas import AnyFormula, Formula, FormulaCall, formulas_of
from adbc.rules.numpy.base import (
    NUMBERS,
    ArrayRule,
    any_active,
    array_first,
    array_operands,
    before_update,
    check_writable,
    finish,
    give,
    new_shadow,
    plain,
    refuse_answer,
    refuse_opaque,
)
from adbc.rules.numpy.object_numbers import frule_by_numbers, is_of_objects, meets_objects, rrule_by_numbers
from adbc.rules.table import NO_KWARGS, UNKNOWN, Args, Kwargs, Pullback, When
from adbc.tangents import NO_FDATA
from adbc.tangents.array_memory import overlaps_itself
from adbc.tangents.array_products import is_finite, zero_wins
from adbc.tangents.zeros import is_exactly

__all__ = [
    "ElementwiseRule",
    "InplaceRule",
    "conj",
    "elementwise",
    "operator_row",
    "quiet",
    "real_formula",
    "real_formulas",
    "strong",
    "the_first",
    "the_result",
    "the_second",
]

Partial = Callable[..., Any] | int | None


def the_result(out: Any, x: Any) -> Any:
    return out


def the_first(out: Any, x: Any, y: Any) -> Any:
    return x


def the_second(out: Any, x: Any, y: Any) -> Any:
    return y


_FACTORS: dict[Any, int] = {the_result: 0, the_first: 1, the_second: 2}
"""For partial derivatives that are one of ``(out, *args)``: which one."""


def conj(p: Any) -> Any:
    """The conjugate of `p`, which costs nothing where `p` is real."""
    if p.__class__ is np.ndarray:
        return np.conjugate(p) if p.dtype.kind == "c" else p
    return np.conjugate(p) if np.iscomplexobj(p) else p


def strong(p: Any, d: Any) -> Any:
    """``p * d``, which is zero where one of them is, even if the other is infinite or NaN."""
    product = p * d
    return product if is_finite(product) else zero_wins(product, p, d)


def quiet(p: Any, d: Any) -> Any:
    """Return what `strong` does, without a warning of partial derivatives that are infinite."""
    with np.errstate(all="ignore"):
        return strong(p, d)


def _numpy(x: Any) -> Any:
    """`x`, as a number of NumPy's if it is one of Python's: division by zero is then not an error."""
    return np.asarray(x)[()] if type(x) in NUMBERS else x


def _along(partial: Callable[..., Any] | int, singular: bool) -> Callable[..., Any]:
    """The formula ``partial * dx`` for the tangent, as a function."""
    if isinstance(partial, Refusal):
        return partial
    if not callable(partial):
        return (lambda d, out, *args, **others: d) if partial == 1 else (lambda d, out, *args, **others: -d)
    if not singular:
        return lambda d, out, *args, **others: strong(partial(out, *args), d)

    def along(d: Any, out: Any, *args: Any, **others: Any) -> Any:
        with np.errstate(all="ignore"):
            return strong(partial(out, *map(_numpy, args)), d)

    return along


def _against(partial: Callable[..., Any] | int, singular: bool) -> Callable[..., Any]:
    """The formula ``conj(partial) * by`` for the cotangent, as a function."""
    if isinstance(partial, Refusal) or not callable(partial):
        return _along(partial, singular)
    if not singular:
        return lambda d, out, *args, **others: strong(conj(partial(out, *args)), d)

    def against(d: Any, out: Any, *args: Any, **others: Any) -> Any:
        with np.errstate(all="ignore"):
            return strong(conj(partial(out, *map(_numpy, args))), d)

    return against


def _real(partial: Partial, singular: bool) -> AnyFormula:
    """The formula for the cotangent of real numbers: `_against` without the conjugate."""
    if partial is None or not callable(partial):
        return partial
    if singular:
        return Formula(
            _against(partial, singular), makes_new=True, is_elementwise=True, partial=partial, is_strong=True
        )

    def product(d: Any, out: Any, *args: Any) -> Any:
        p = partial(out, *args)
        if not _is_ours(p, out, args):
            return strong(p, d)
        if d.__class__ is float:  # the cotangent is full of it
            if is_exactly(d, 1):
                return p
        elif d.__class__ is not np.ndarray or d.shape != p.shape or d.dtype != p.dtype:
            return strong(p, d)
        p *= d
        return p if is_finite(p) else zero_wins(p, partial(out, *args), d)

    return Formula(
        product, makes_new=True, is_elementwise=True, partial=partial, factor=_FACTORS.get(partial)
    )


def _is_ours(p: Any, out: Any, args: Sequence[Any]) -> bool:
    """Whether `p`, a partial derivative, is an array of floats in new memory, which may be written over."""
    if p.__class__ is not np.ndarray or p.dtype.char not in "df" or p.base is not None or p is out:
        return False
    for x in args:  # noqa: SIM110  # quicker than a generator
        if p is x:
            return False
    return True


def real_formula(function: Callable[..., Any], over: Callable[..., Any] | None = None) -> Formula:
    """The elementwise formula ``function(by, out, *args)`` for real numbers; `over`: see `Formula`."""
    return Formula(function, makes_new=True, is_elementwise=True, over=over)


def real_formulas(row: ElementwiseRule, *formulas: Formula | None) -> None:
    """Let builders write these formulas inline for real numbers, in the place of None what they do anyway."""
    assert row.formulas is not None
    row.formulas = tuple(
        general if formula is None else formula
        for general, formula in zip(row.formulas, formulas, strict=True)
    )


def _with_options(formula: Callable[..., Any], function: Any) -> Callable[..., Any]:
    """A formula like `formula` for calls of `function` with options: with zeros where the mask ``where=`` is
    off, and on arguments of the dtypes that are computed with, which ``dtype=`` decides."""
    if isinstance(formula, Refusal):
        return formula

    def with_options(
        d: Any, out: Any, *args: Any, where: Any = True, dtype: Any = None, signature: Any = None,
        casting: Any = "same_kind", **others: Any,
    ) -> Any:  # fmt: skip
        if dtype is not None or signature is not None:
            args = _as_computed(function, args, dtype, signature, casting)
        if where is True:
            return formula(d, out, *args)
        with np.errstate(all="ignore"):
            return np.where(where, formula(np.where(where, d, 0), out, *args), 0)

    return with_options


def _as_computed(
    function: np.ufunc, args: Sequence[Any], dtype: Any, signature: Any, casting: Any
) -> tuple[Any, ...]:
    """The arguments of a ufunc that is called with these options, as the numbers that it computes with."""
    arrays = [np.asarray(x) for x in args]
    nothing = (None,) * function.nout
    wanted = (None,) * function.nin + (np.dtype(dtype),) * function.nout if signature is None else signature
    found = function.resolve_dtypes((*(x.dtype for x in arrays), *nothing), signature=wanted, casting=casting)
    return tuple([x.astype(kind) for x, kind in zip(arrays, found, strict=False)])


class ElementwiseRule(ArrayRule):
    """The rule of a ufunc or operator on arrays, with ``out=`` and ``where=`` where these exist."""

    takes_result = True
    partials: Sequence[Partial] = ()
    """The partial derivatives that the formulas were made from, if they were."""

    def __init__(
        self,
        function: Any,
        *,
        jvp: Sequence[Callable[..., Any] | None],
        vjp: Sequence[Callable[..., Any] | None],
        when: When = plain,
        result: Any = "elementwise",
        formulas: Sequence[AnyFormula] | None = None,
        names: str | None = None,
    ) -> None:
        self.formulas = formulas_of(vjp) if formulas is None else formulas
        names = names or " ".join(f"x{i + 1}" for i in range(len(jvp)))
        if isinstance(function, np.ufunc):
            names += " out"
        super().__init__(
            function,
            names,
            jvp=[None if f is None else _with_options(f, function) for f in jvp],
            vjp=[None if f is None else _with_options(f, function) for f in vjp],
            when=when,
            result=result,
        )

    def numeric(self, count: int) -> Sequence[int]:
        return range(min(count, self.arrays))

    def tangent_call(self, count: int, keywords: Sequence[str]) -> FormulaCall | None:
        found = super().tangent_call(count, keywords)
        if found is None or keywords or count != self.arrays or self.formulas is None:
            return found
        # Of real numbers, what multiplies a cotangent multiplies a tangent.
        return FormulaCall(tuple(self.formulas), tuple(range(count)), is_elementwise=True)

    def frule(
        self, args: Args, dargs: Args, kwargs: Kwargs = NO_KWARGS, out: Any = UNKNOWN
    ) -> tuple[Any, Any]:
        if out is UNKNOWN:
            return super().frule(args, dargs, kwargs)
        if self.refuses:
            dargs = without_refused(self.jvp, args, dargs)
        if is_of_objects(out) and any_active(dargs):
            return frule_by_numbers(self.frule, self.function, args, dargs, kwargs)
        if any_active(dargs):
            refuse_answer(out)
        dout = self._tangent(out, list(args), dargs, {})
        if dout is not None:
            refuse_opaque(out)
        return out, finish(dout, out)

    def rrule(
        self, args: Args, fargs: Args, kwargs: Kwargs = NO_KWARGS, out: Any = UNKNOWN
    ) -> tuple[Any, Any, Pullback]:
        if kwargs or self.refuses or len(args) > self.arrays:
            return super().rrule(args, fargs, kwargs)
        if out is UNKNOWN:
            out = self.function(*args)
        active = any_active(fargs)
        if active and (is_of_objects(out) or meets_objects(args, fargs)):
            return rrule_by_numbers(self.rrule, self.function, args, fargs, kwargs)
        fout = new_shadow(out, active)
        if not active:
            return out, fout, lambda bout: (None,) * len(args)
        refuse_answer(out)

        def elementwise_pullback(bout: Any) -> Sequence[Any]:
            by = fout if isinstance(fout, np.ndarray) else bout
            return self._cotangents(by, out, list(args), fargs, {}, len(args))

        return out, fout, elementwise_pullback

    def _call_into(
        self, target: Any, arrays: list[Any], others: dict[str, Any], args: Args, kwargs: Kwargs
    ) -> Any:
        # A target by position is deprecated for some ufuncs, and may not be a tuple.
        if isinstance(self.function, np.ufunc):
            return self.function(*arrays, out=target, **others)
        return self.function(*args, **kwargs)

    def _written(self, others: dict[str, Any]) -> Any:
        return others.get("where", True)


def _updating(ufunc: np.ufunc) -> Callable[..., None]:
    """What does to the tangent `du` of array `u` what `ufunc` did to `u` in place, given a value with the
    tangent `dv`, None for zero."""

    def update(u: Any, du: Any, dv: Any) -> None:
        if du is None or overlaps_itself(u):
            check_writable(u, du, dv is not None)
        if du is not None and dv is not None:
            ufunc(du, dv, out=du, casting="unsafe")

    return update


_UPDATES: dict[Any, Callable[..., Any]] = {1: _updating(np.add), -1: _updating(np.subtract)}


class InplaceRule(ElementwiseRule):
    """The rule of ``operator.iadd`` and its kin with an array on the left, which is overwritten."""

    takes_result = False
    mutates = True
    """True: the pullback restores the array, so the rule must be used even where nothing is active."""

    def formula_call(
        self, count: int, keywords: Sequence[str], is_complex: bool = False
    ) -> FormulaCall | None:
        return None

    def __init__(self, function: Any, ufunc: np.ufunc, pure: ElementwiseRule) -> None:
        super().__init__(function, jvp=pure.jvp, vjp=pure.vjp, when=array_first)
        self.sign = pure.formulas[1] if pure.formulas and pure.formulas[0] == 1 else None
        """The factor of the right operand, 1 or -1, if the function is linear: ``+=`` or ``-=``."""
        self.inline = "update" if self.sign in (1, -1) else None
        self.save = before_update
        self.update_tangent = _UPDATES.get(self.sign)
        self.result = np.ndarray

    def frule(
        self, args: Args, dargs: Args, kwargs: Kwargs = NO_KWARGS, out: Any = UNKNOWN
    ) -> tuple[Any, Any]:
        update = self.update_tangent
        if update is not None and dargs[0] is not None and not isinstance(args[1], list | tuple):
            target, dtarget, d = args[0], dargs[0], dargs[1]
            check_writable(target, dtarget, d is not None)
            out = self.function(*args)
            update(target, dtarget, d)
            return out, dtarget
        return self._frule_into(args[0], dargs[0], list(args), dargs, {}, args, kwargs)

    def rrule(
        self, args: Args, fargs: Args, kwargs: Kwargs = NO_KWARGS, out: Any = UNKNOWN
    ) -> tuple[Any, Any, Pullback]:
        if self.sign not in (1, -1) or fargs[0] is None:
            return self._rrule_into(args[0], fargs[0], list(args), fargs, {}, args, kwargs)
        target, shadow = args[0], fargs[0]
        old = before_update(target, shadow, fargs[1] is not None)
        self.function(*args)

        def linear_pullback(bout: Any) -> Sequence[Any]:
            target[...] = old
            if fargs[1] is None:
                return None, None
            # The shadow will change, and what is given may be kept.
            d = shadow.copy() if self.sign == 1 else -shadow
            y = args[1]
            if fargs[1] is NO_FDATA and type(y) is np.ndarray and y.shape == d.shape and y.dtype == d.dtype:
                return None, d
            return None, give(fargs[1], y, d)

        return target, shadow, linear_pullback


def elementwise(
    function: Any,
    *partials: Partial,
    singular: bool = False,
    when: When = plain,
    result: Any = "elementwise",
) -> ElementwiseRule:
    """The row of a function with these partial derivatives, None where the derivative is zero."""
    row = ElementwiseRule(
        function,
        jvp=[None if p is None else _along(p, singular) for p in partials],
        vjp=[None if p is None else _against(p, singular) for p in partials],
        when=when,
        result=result,
        formulas=[_real(p, singular) for p in partials],
    )
    row.partials = partials
    if row.refuses or (isinstance(function, np.ufunc) and _makes_complex(function)):
        row.formulas = None  # they are for real numbers, results included
    return row


def _makes_complex(function: np.ufunc) -> bool:
    """Whether a ufunc computes complex numbers of real ones."""
    loops = [loop.split("->") for loop in function.types]
    of_real = [made for given, made in loops if set(given) <= set(_REAL)]
    return any(set(made) & set("FDG") for made in (of_real or [made for _, made in loops]))


_REAL = np.typecodes["AllInteger"] + np.typecodes["Float"] + "?"


def operator_row(function: Any, row: ElementwiseRule, names: str | None = None) -> ElementwiseRule:
    """The row of an operator differentiated as in `row`, where an operand is an array or NumPy scalar; with
    `names`, its operands may be given by name."""
    same = ElementwiseRule(
        function, jvp=row.jvp, vjp=row.vjp, when=array_operands, formulas=row.formulas, names=names
    )
    same.together = row.together
    return same
