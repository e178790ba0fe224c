"""The kind of row for functions that may give a view of their first argument."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from adbc.errors import UnsupportedError
from adbc.rules.formulas import Formula, FormulaCall
from adbc.rules.numpy.base import (
    finish,
    gather,
    gather_tangent,
    give,
    is_inexact,
    new_shadow,
    places,
    plain,
    refuse_opaque,
    refuse_text,
)
from adbc.rules.numpy.object_numbers import (
    converted_shadow,
    converted_tangent,
    gathered_shadow,
    gathered_tangent,
    is_of_objects,
    to_numbers_back,
)
from adbc.rules.numpy.objects import copied_objects, read_object
from adbc.rules.numpy.own_arrays import refuse_own_protocol
from adbc.rules.numpy.records import is_of_records, records_shadow, records_tangent
from adbc.rules.numpy.sampling import sampled
from adbc.rules.sequences import symbolic
from adbc.rules.table import NO_KWARGS, Args, Kwargs, Pullback, Rule, When
from adbc.tangents import fresh_tangent, project
from adbc.tangents.array_memory import address_of, has_number_fields, number_views

__all__ = ["FieldRule", "ViewRule", "is_view", "numbered", "writable"]


class ViewRule(Rule):
    """The rule of a function that may give a view of its first argument (or the argument itself).

    What happened to the primal decides: of a view the shadow is the same view of the shadow; a copy
    has a fresh shadow, and `back(by, x, *args, **kwargs)` brings its cotangent into the shape of `x`.
    Without `back` the elements are followed through the function by their numbers.

    names: the positional parameters, where ``against(by, out, x, **others)`` is the cotangent of `x` (1: it
    is that of the result) when nobody can tell whether the result is a view.  parts, window: see
    `FormulaCall`.
    """

    sample = staticmethod(sampled)
    follows_first = True

    def __init__(
        self,
        function: Any,
        *,
        view: Callable[..., Any] | None = None,
        back: Callable[..., Any] | None = None,
        parameters: Sequence[str] = ("a",),
        when: When = plain,
        result: Any = None,
        names: str | None = None,
        against: Formula | Callable[..., Any] | int | None = None,
        parts: bool = False,
        window: bool = True,
    ) -> None:
        super().__init__(function, when=when, parameters=parameters[:1], result=result)
        self.view = function if view is None else view
        self.back = back
        self.names = None if names is None else tuple(names.split())
        if against is not None:
            self.formulas = (Formula(against) if callable(against) else against,)
        self.parts = parts
        self.window = window

    def numeric(self, count: int) -> Sequence[int]:
        return range(min(count, 1))

    def formula_call(
        self, count: int, keywords: Sequence[str], is_complex: bool = False
    ) -> FormulaCall | None:
        if self.formulas is None or self.names is None:
            return None
        named = places(count, keywords, self.names)
        if named is None or self.names[0] not in named or not named.keys() <= set(self.names):
            return None
        array = named.pop(self.names[0])
        others = tuple(named.items())
        return FormulaCall(tuple(self.formulas), (array,), others, window=self.window, parts=self.parts)

    def _shadow(self, x: Any, f: Any, out: Any, args: Args, kwargs: Kwargs) -> Any:
        """The shadow of `out`, which is a view of `x`."""
        if out is x:
            return f
        if f.strides != x.strides and _follows_memory(args, kwargs):
            raise UnsupportedError(
                f"{self!r} takes elements as they lie in memory",
                "the tangent of its array has another memory layout",
                "give adbc.jvp a tangent with the strides of the argument",
            )
        shadow = self.view(f, *args[1:], **kwargs)
        if np.size(out) and not np.may_share_memory(shadow, f):
            raise UnsupportedError(
                f"the memory layout of the shadow of an array does not allow {self!r} as a view",
                "the derivative of a view is a view",
                "use a copy: x.copy()",
            )
        if shadow.flags.writeable:
            return shadow
        try:
            return writable(shadow)
        except ValueError:  # a view of a view that is read-only itself: the same geometry over the shadow
            if address_of(x) != address_of(out):
                raise UnsupportedError(
                    f"{self!r} gives a read-only view without a shadow",
                    "writes by other names could not be seen in it",
                    "use a copy: x.copy()",
                ) from None
            return np.lib.stride_tricks.as_strided(f, out.shape, out.strides)

    def frule(self, args: Args, dargs: Args, kwargs: Kwargs = NO_KWARGS) -> tuple[Any, Any]:
        x, dx = args[0], dargs[0]
        out = self.view(x, *args[1:], **kwargs)
        if self.function is np.ndarray.item and dx is not None and is_of_objects(x):
            return out, symbolic(dx[self._place(x, args, kwargs)])
        if isinstance(x, list | tuple):
            if dx is not None and is_of_objects(out):
                return out, gathered_tangent(x, dx, out)
            if dx is not None and is_of_records(out):
                return out, records_tangent(x, dx, out)
            _check_gathered(out, dx)
            dx = gather_tangent(x, dx)
            x = x if dx is None else gather(x)  # of what is no numbers NumPy may make no other array
        elif isinstance(x, np.ndarray) and is_view(out, x):
            return out, None if dx is None else self._shadow(x, dx, out, args, kwargs)
        if dx is not None and self._converts_objects(x, out):
            return out, converted_tangent(x, dx, out)
        if dx is not None:
            self._check_copied(x, out)
        if dx is None or not _is_number(out):
            if dargs[0] is not None:
                refuse_text(out, args[0])
            return out, fresh_tangent(out)
        if isinstance(out, np.ndarray) and out.dtype.kind in "OV" and self.back is None:
            self._numbers(x, args, kwargs)
        if isinstance(out, np.ndarray) and out.dtype.kind == "O":
            return out, self.view(dx, *args[1:], **kwargs)
        if dx.__class__ is np.ndarray and dx.strides != x.strides and _follows_memory(args, kwargs):
            like = np.empty_like(x)
            like[...] = dx
            dx = like
        if isinstance(x, np.generic):  # its tangent may be a number of Python's, which has other methods
            dx = project(dx, x)
        return out, finish(self.view(dx, *args[1:], **kwargs), out)

    def rrule(self, args: Args, fargs: Args, kwargs: Kwargs = NO_KWARGS) -> tuple[Any, Any, Pullback]:
        x, f = args[0], fargs[0]
        out = self.view(x, *args[1:], **kwargs)
        nothing = (None,) * len(args)
        if self.function is np.ndarray.item and f is not None and is_of_objects(x):
            out, fout, give_element = read_object(f, self._place(x, args, kwargs), out)

            def item_pullback(bout: Any) -> Sequence[Any]:
                give_element(bout)
                return nothing

            return out, fout, item_pullback
        if issubclass(type(x), np.ndarray) and is_view(out, x):
            shadow = None if f is None else self._shadow(x, f, out, args, kwargs)
            return out, shadow, lambda bout: nothing
        if issubclass(type(x), list | tuple):
            if f is not None and is_of_objects(out):
                return self._gathered_objects(x, f, out, len(args))
            if f is not None and is_of_records(out):
                fout, give_back = records_shadow(x, f, out)
                return out, fout, lambda bout: (give_back(), *nothing[1:])
            _check_gathered(out, f)
        elif f is not None:
            if self._converts_objects(x, out):
                return self._converted_objects(x, f, out, len(args))
            self._check_copied(x, out)
            if isinstance(out, np.ndarray) and out.dtype.kind == "O":
                return self._copied_objects(f, out, args, kwargs)
        if f is not None:
            refuse_text(out, x)
        fout = new_shadow(out, f is not None)

        def copy_pullback(bout: Any) -> Sequence[Any]:
            by = fout if isinstance(fout, np.ndarray) else bout
            if by is None or f is None:
                return nothing
            whole = gather(x)
            if by.__class__ is np.ndarray and by.dtype.kind == "V" and self.back is None:
                self._give_records(f, by, whole, args, kwargs)
                return nothing
            if self.back is None:
                d = self._by_number(by, whole, args, kwargs)
            else:
                d = self.back(by, whole, *args[1:], **kwargs)
            return (give(f, x, d), *nothing[1:])

        return out, fout, copy_pullback

    def _place(self, x: Any, args: Args, kwargs: Kwargs) -> Any:
        """The place in `x`, an array of objects, of the element that the function gives."""
        return np.unravel_index(self.view(numbered(x), *args[1:], **kwargs) - 1, x.shape)

    def _converts_objects(self, x: Any, out: Any) -> bool:
        """Whether `out` is `x` with numbers in the place of objects, or objects in the place of numbers."""
        if not isinstance(x, np.ndarray) or not isinstance(out, np.ndarray) or x.shape != out.shape:
            return False
        return "O" in (x.dtype.kind, out.dtype.kind) and bool({x.dtype.kind, out.dtype.kind} & {"f", "c"})

    def _converted_objects(self, x: Any, f: Any, out: Any, count: int) -> tuple[Any, Any, Pullback]:
        fout, numbers = converted_shadow(x, out)

        def converted_pullback(bout: Any) -> Sequence[Any]:
            by = numbers()
            if is_of_objects(x):
                to_numbers_back(x, f, by)
                return (None,) * count
            return (give(f, x, by), *(None,) * (count - 1))

        return out, fout, converted_pullback

    def _gathered_objects(self, x: Any, f: Any, out: Any, count: int) -> tuple[Any, Any, Pullback]:
        fout, give_back = gathered_shadow(x, f, out)
        return out, fout, lambda bout: (give_back(), *(None,) * (count - 1))

    def _check_copied(self, x: Any, out: Any) -> None:
        """Raise if `out` is not a copy of the objects or records in `x` as they are."""
        refuse_own_protocol(x)
        if getattr(out, "dtype", None) != getattr(x, "dtype", None) or not isinstance(out, np.ndarray):
            refuse_opaque(x)
            refuse_opaque(out)

    def _copied_objects(self, f: Any, out: Any, args: Args, kwargs: Kwargs) -> tuple[Any, Any, Pullback]:
        x = args[0]
        own = (
            np.arange(x.size).reshape(out.shape) if self.back is not None else self._numbers(x, args, kwargs)
        )
        fout, give_back = copied_objects(f, out, own)

        def objects_pullback(bout: Any) -> Sequence[Any]:
            give_back()
            return (None,) * len(args)

        return out, fout, objects_pullback

    def _numbers(self, x: Any, args: Args, kwargs: Kwargs) -> Any:
        """For each element of the result the number of its source in `x`; raises if objects are filled in."""
        if not np.size(x):
            return np.zeros(np.shape(self.view(x, *args[1:], **kwargs)), np.intp)
        numbers = self.view(numbered(x), *args[1:], **kwargs)
        if not np.all(numbers):
            refuse_opaque(x)
        return numbers - 1

    def _give_records(self, f: Any, by: Any, x: Any, args: Args, kwargs: Kwargs) -> None:
        """Add the cotangent `by` of a copy of the structured array `x` to its shadow."""
        numbers = self._numbers(x, args, kwargs)
        for part, of_part in zip(number_views(f), number_views(by), strict=True):
            np.add.at(part, np.unravel_index(numbers, x.shape), of_part)

    def _by_number(self, by: Any, x: Any, args: Args, kwargs: Kwargs) -> Any:
        """The cotangent of `x`, found by sending the numbers of its elements through the function."""
        numbers = self.view(numbered(x), *args[1:], **kwargs)
        d = np.zeros(np.size(x) + 1, np.asarray(by).dtype)
        np.add.at(d, np.ravel(numbers), np.ravel(by))  # number 0 is where the function filled in zeros
        return d[1:].reshape(np.shape(x))


class FieldRule(ViewRule):
    """The rule of ``x.getfield(dtype, offset)``: bytes of floats read as other numbers have no derivative."""

    def _shadow(self, x: Any, f: Any, out: Any, args: Args, kwargs: Kwargs) -> Any:
        if out.dtype != x.dtype and (np.dtype(args[1]), *args[2:3]) not in _fields_of(x.dtype):
            raise UnsupportedError(
                f"an active array of {x.dtype} is reinterpreted as {out.dtype}",
                "the bytes mean something else there",
                "use astype to convert",
            )
        if x.dtype.names is not None and not _is_number(out):
            return None  # a field of whole numbers
        return super()._shadow(x, f, out, args, kwargs)

    # That a view of nothing is one, its memory does not tell.

    def frule(self, args: Args, dargs: Args, kwargs: Kwargs = NO_KWARGS) -> tuple[Any, Any]:
        x, dx = args[0], dargs[0]
        if dx is None or x.size:
            return super().frule(args, dargs, kwargs)
        out = self.view(x, *args[1:], **kwargs)
        return out, self._shadow(x, dx, out, args, kwargs)

    def rrule(self, args: Args, fargs: Args, kwargs: Kwargs = NO_KWARGS) -> tuple[Any, Any, Pullback]:
        x, f = args[0], fargs[0]
        if f is None or x.size:
            return super().rrule(args, fargs, kwargs)
        out = self.view(x, *args[1:], **kwargs)
        return out, self._shadow(x, f, out, args, kwargs), lambda bout: (None,) * len(args)


def _fields_of(dtype: np.dtype[Any]) -> list[tuple[Any, ...]]:
    """The dtypes of the fields of a structured dtype, with their offsets."""
    return [tuple(field[:2]) for field in (dtype.fields or {}).values()]


def numbered(x: Any) -> Any:
    """For each element of `x` its number, from 1 on, in an array with the memory layout of `x`."""
    numbers = np.empty_like(x, np.intp)
    numbers[...] = np.arange(1, np.size(x) + 1).reshape(np.shape(x))
    return numbers


def _follows_memory(args: Args, kwargs: Kwargs) -> bool:
    """Whether a function called like this takes elements in an order that the memory layout decides."""
    order = kwargs.get("order") or next((x for x in args[1:] if type(x) is str), "")
    return order in ("K", "A", "k", "a")


def _check_gathered(out: Any, derivative: Any) -> None:
    """Raise if a list with a derivative has become an array of something else than numbers."""
    if derivative is not None and isinstance(out, np.ndarray) and out.dtype.kind in "OV":
        raise UnsupportedError(
            f"a sequence with a derivative becomes an array of dtype {out.dtype}",
            "no derivative is kept for that dtype",
            "make it with np.empty, and write its elements or fields",
        )


def _is_number(out: Any) -> bool:
    """Whether `out` is, or is an array of, numbers or objects that may have a derivative."""
    if isinstance(out, np.ndarray) and out.dtype.kind in "OV":
        return out.dtype.kind == "O" or has_number_fields(out.dtype)
    return is_inexact(out) if isinstance(out, (np.ndarray, np.generic)) else isinstance(out, (float, complex))


def is_view(out: Any, x: Any) -> bool:
    """Whether `out` is `x` or looks into its memory (new memory never overlaps that of `x`)."""
    return out is x or (isinstance(out, np.ndarray) and np.may_share_memory(out, x))


def writable(shadow: Any) -> Any:
    """Return `shadow`, a view, made writable where NumPy gives views read-only: shadows are only incremented.

    None for a field of a structured array that holds no numbers with a derivative: nothing is kept there.
    """
    if shadow.dtype.kind not in "fcOV":
        return None
    if not shadow.flags.writeable:
        shadow.flags.writeable = True
    return shadow
