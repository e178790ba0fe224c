"""`scalar_rule`: rules of functions of numbers, made of their partial derivatives."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from adbc.chainrules.arrays import broadcast_to, is_array, loaded, shape_of
from adbc.chainrules.binding import Binding
from adbc.chainrules.linear import Linear, add
from adbc.chainrules.project import ProjectTo
from adbc.chainrules.registry import Declaration, When, registry
from adbc.chainrules.structured import Tangent
from adbc.chainrules.thunks import unthunk
from adbc.chainrules.zeros import NoTangent, ZeroTangent

__all__ = ["Partials", "derivatives_given_output", "scalar_rule"]

Partial = Callable[..., Any] | float | complex | None


class Partials:
    """The partial derivatives of a function: one row for each output, in it one for each argument.

    They are functions of ``(out, *args)``, of ``(shared, out, *args)`` if there is a `setup`, whose result is
    `shared`; numbers where they are constant, None where they are zero.
    """

    def __init__(
        self,
        function: Callable[..., Any],
        partials: Sequence[Partial | tuple[Partial, ...]],
        setup: Callable[..., Any] | None,
    ) -> None:
        is_nested = [isinstance(p, tuple) for p in partials]
        if not partials or any(is_nested) != all(is_nested):
            raise TypeError(
                "scalar_rule is given one partial derivative for each argument, or a tuple of such for each"
                " output"
            )
        self.rows: tuple[tuple[Partial, ...], ...] = (
            tuple(partials) if all(is_nested) else (tuple(partials),)  # type: ignore[arg-type]
        )
        if len(set(map(len, self.rows))) != 1:
            raise TypeError("scalar_rule is given as many partial derivatives for each output")
        self.function, self.setup = function, setup
        given = [setup] if setup is not None else [p for row in self.rows for p in row if callable(p)]
        self.binding = Binding(function, given, 1, count=len(self.rows[0]))
        total = self.binding.total
        if total is not None and total < len(self.rows[0]):
            raise TypeError(
                f"scalar_rule of {getattr(function, '__qualname__', function)} is given {len(self.rows[0])}"
                f" partial derivatives; the function has {total} parameters"
            )

    @property
    def is_single(self) -> bool:
        """Whether there is one output, and not a tuple of them."""
        return len(self.rows) == 1

    def bound(self, args: Sequence[Any], kwargs: dict[str, Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """The arguments that the partial derivatives are given, and keywords that are none of them."""
        bound, rest = self.binding.bind(args, kwargs)
        return self.binding.complete(bound), rest

    def evaluate(self, out: Any, args: Sequence[Any], wanted: Sequence[int]) -> list[list[Any]]:
        """For each output the partial derivatives by the `wanted` arguments; None for zero."""
        first = (out,) if self.setup is None else (self.setup(out, *args), out)
        return [
            [_evaluated(row[i] if i < len(row) else None, first, args) for i in wanted] for row in self.rows
        ]

    # -- the two rules ----------------------------------------------------------------------------------

    def frule(self, tangents: tuple[Any, ...], function: Any, *args: Any, **kwargs: Any) -> Any:
        """The rule of forward mode."""
        whole, rest = self.bound(args, kwargs)
        out = self.binding.call(self.function, whole, rest)
        given = [unthunk(t) for t in tangents[1:]]
        active = [i for i, t in enumerate(given) if not isinstance(t, NoTangent | ZeroTangent)]
        if not active:
            return out, ZeroTangent()
        outs = (out,) if self.is_single else tuple(out)
        found = []
        for y, row in zip(outs, self.evaluate(out, whole, active), strict=True):
            total: Any = ZeroTangent()
            for partial, i in zip(row, active, strict=True):
                if partial is not None:
                    total = add(total, _times(partial, given[i]))
            found.append(_fitted(y, total))
        return out, found[0] if self.is_single else Tangent(tuple, *found)

    def rrule(self, function: Any, *args: Any, **kwargs: Any) -> Any:
        """The rule of reverse mode.  An int that is an argument counts as a number."""
        whole, rest = self.bound(args, kwargs)
        out = self.binding.call(self.function, whole, rest)
        count = len(args)

        def scalar_pullback(cotangent: Any) -> tuple[Any, ...]:
            cotangent = unthunk(cotangent)
            if isinstance(cotangent, NoTangent | ZeroTangent):
                return (NoTangent(), *[cotangent] * count)
            by = (cotangent,) if self.is_single else tuple(cotangent)
            totals: list[Any] = [ZeroTangent()] * count
            for b, row in zip(by, self.evaluate(out, whole, range(count)), strict=False):
                b = unthunk(b)
                if isinstance(b, NoTangent | ZeroTangent):
                    continue
                for i, partial in enumerate(row):
                    if partial is not None:
                        totals[i] = add(totals[i], _times(partial.conjugate(), b))
            return (NoTangent(), *map(_projected, totals, args))

        return out, scalar_pullback


def _evaluated(partial: Partial, first: tuple[Any, ...], args: Sequence[Any]) -> Any:
    return partial(*first, *args) if callable(partial) else partial


def _times(partial: Any, d: Any) -> Any:
    """The product, which is zero where the tangent `d` is, even if the partial derivative is infinite."""
    if isinstance(d, Linear) or isinstance(partial, Linear):
        return partial * d
    if not is_array(partial) and not is_array(d):
        product = partial * d
        return 0.0 * d if product != product and d == 0 and d == d else product
    numpy = loaded()
    with numpy.errstate(invalid="ignore"):
        product = partial * d
    bad = numpy.isnan(product)
    return numpy.where(bad & (numpy.asarray(d) == 0), 0.0, product) if bad.any() else product


def _fitted(out: Any, dout: Any) -> Any:
    """`dout` as a tangent of the output `out`."""
    if isinstance(dout, Linear):
        return dout
    return ProjectTo(out)(broadcast_to(dout, shape_of(out))) if is_array(out) else dout


def _projected(dx: Any, x: Any) -> Any:
    """`dx` as a tangent of `x`, an int being a number."""
    if isinstance(dx, Linear):
        return dx
    if type(x) is int:
        return ProjectTo(float(x))(dx)
    return ProjectTo(x)(dx)


def scalar_rule(
    function: Callable[..., Any],
    *partials: Partial | tuple[Partial, ...],
    setup: Callable[..., Any] | None = None,
    when: When = None,
    for_speed: bool = False,
) -> Declaration:
    """Declare the partial derivatives of a function of numbers: this makes its `frule` and its `rrule`.

    partials: one for each argument, a function of ``(out, *args)``, a number, or None where the derivative
    is zero.  Of a function with several outputs, one tuple of such for each output.  They are applied to
    arrays as they are to numbers, element by element, and broadcasting is undone; of a holomorphic function
    the derivative is conjugated where that is due.  Defaults and keywords reach them by position.
    setup: ``setup(out, *args)`` is computed once and given to the partial derivatives in front.

    >>> import math
    >>> from adbc import chainrules as cr
    >>> def polar(r, t):
    ...     return r * math.cos(t), r * math.sin(t)
    >>> _ = cr.scalar_rule(
    ...     polar,
    ...     (lambda cs, out, r, t: cs[0], lambda cs, out, r, t: -out[1]),
    ...     (lambda cs, out, r, t: cs[1], lambda cs, out, r, t: r * cs[0]),
    ...     setup=lambda out, r, t: (math.cos(t), math.sin(t)),
    ... )
    >>> cr.frule((cr.NoTangent(), 0.0, 1.0), polar, 2.0, 0.0)
    ((2.0, 0.0), Tangent(tuple, 0.0, 2.0))
    """
    found = Partials(function, partials, setup)
    rules: dict[str, Callable[..., Any]] = {"forward": found.frule, "reverse": found.rrule}
    return registry.add(Declaration(function, "scalar", rules, when=when, for_speed=for_speed, detail=found))


def derivatives_given_output(out: Any, function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """The partial derivatives of a function that has a `scalar_rule`, where its result is known to be `out`:
    for each output a tuple with one for each argument, 0.0 where it is zero.  None if it has no such rule.

    >>> from adbc import chainrules as cr
    >>> def half(x):
    ...     return 0.5 * x
    >>> _ = cr.scalar_rule(half, 0.5)
    >>> cr.derivatives_given_output(2.0, half, 4.0)
    ((0.5,),)
    """
    found = registry.find(function, "forward", tuple(map(type, args)))
    if found is None or found.detail is None:
        return None
    partials: Partials = found.detail
    whole, _ = partials.bound(args, kwargs)
    rows = partials.evaluate(out, whole, range(len(args)))
    return tuple(tuple(0.0 if p is None else p for p in row) for row in rows)
