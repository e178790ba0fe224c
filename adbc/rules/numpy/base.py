"""The kinds of rows that NumPy needs: pure functions with ``out=``, ufuncs, views.

The rows here are for arrays of NumPy's own class.  Instances of subclasses have rows of their own
(`instances`), which take the class off and put it on again; calls with classes that override NumPy's
functions in C are reported as missing a rule.
Arrays of objects and structured arrays are refused when an active one arrives.

A list or tuple where NumPy would make an array of it is *gathered* into one, its tangent likewise;
on the way back the cotangent is *spread* over the slots of the list.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

import numpy as np

from adbc.errors import ConstWriteError, UnsupportedError
from adbc.rules.activity import Refusal, and_lost, uncovered, without_lost, without_refused
from adbc.rules.classes import has, overrides
from adbc.rules.formulas import Formula, FormulaCall, always, formulas_of, function_of
from adbc.rules.numpy.elements import (
    computes_whole,
    is_inexact,
    refuse_answer,
    refuse_opaque,
    refuse_text,
    refuse_text_of,
)
from adbc.rules.numpy.object_numbers import frule_by_numbers, is_constant, meets_objects, rrule_by_numbers
from adbc.rules.numpy.objects import give_records
from adbc.rules.numpy.own_arrays import (
    PROTOCOLS,
    refuse_object,
    refuse_own_elements,
    refuse_own_parts,
    refuse_own_protocol,
)
from adbc.rules.numpy.sampling import sampled
from adbc.rules.table import NO_KWARGS, Args, Kwargs, Pullback, Rule, When
from adbc.tangents import (
    NO_FDATA,
    NO_TANGENT,
    accumulate,
    fresh_shadow,
    fresh_tangent,
    project,
)
from adbc.tangents.activity_marks import is_inactive, mark_active
from adbc.tangents.array_memory import overlaps_itself
from adbc.tangents.duals import ArrayTangent, MutableTangent
from adbc.tangents.internal import REALS, add_floats, in_order

__all__ = [
    "ArrayRule",
    "SeparateRule",
    "array_first",
    "array_operands",
    "array_part",
    "before_update",
    "before_write",
    "bound",
    "by_example",
    "check_target",
    "check_writable",
    "converting",
    "finish",
    "gather",
    "gather_tangent",
    "give",
    "is_carried",
    "is_inexact",
    "is_plain",
    "is_sequence",
    "new_shadow",
    "places",
    "plain",
    "refuse_answer",
    "refuse_opaque",
    "refuse_read_only",
    "refuse_text",
    "refuse_text_of",
    "shaped",
    "write_tangent",
]

NUMBERS = (bool, int, float, complex)
_PLAIN = (np.ndarray, *NUMBERS, type(np._NoValue))
AnyRule = TypeVar("AnyRule", bound=Rule)


_LISTED_OTHERWISE = (np.ndarray, np.generic, *NUMBERS, str, bytes, bytearray, tuple, list, dict)


def is_sequence(cls: type) -> bool:
    """Whether NumPy takes instances of `cls`, a class in Python, for sequences: it lists their elements."""
    if issubclass(cls, _LISTED_OTHERWISE) or not (
        overrides(cls, "__len__") and overrides(cls, "__getitem__")
    ):
        return False
    return not any(has(cls, name) for name in (*PROTOCOLS[2:5], "__buffer__"))


def is_plain(cls: type) -> bool:
    """Whether NumPy treats instances of `cls` in its own way: they override nothing, and no code of their own
    makes arrays or numbers of them, or lists what is to be in an array.

    Buffers that are not arrays (a memoryview, an `array.array`, what ctypes makes) are left to foreign
    calls, which know whose memory it is.
    """
    if cls in _PLAIN or (issubclass(cls, np.generic) and not issubclass(cls, np.void)):
        return True
    if (
        issubclass(cls, np.void)
        or cls is memoryview
        or (cls.__name__ == "array" and cls.__module__ == "array")
        or any(base.__module__ == "_ctypes" for base in cls.__mro__)
    ):
        return False
    return not any(has(cls, name) for name in PROTOCOLS) and not is_sequence(cls)


def plain(*classes: type) -> bool:
    """The usual `when` of a row: no argument is of a subclass of ndarray, or overrides NumPy."""
    return all(map(is_plain, classes))


def array_operands(*classes: type) -> bool:
    """The `when` of operators: one operand is NumPy's, and the others are what it computes with."""
    found = False
    for cls in classes:
        if cls is np.ndarray or issubclass(cls, np.generic):
            found = True
        elif cls in (list, tuple) or _is_like_tuple(cls):
            if np.ndarray not in classes:
                return False
        elif cls not in NUMBERS:
            return False
    return found


def array_first(cls: type, *others: type) -> bool:
    """The `when` of operators that write into their left operand."""
    return cls is np.ndarray and array_operands(cls, *others)


_OPERATORS = frozenset(
    name
    for name in vars(np.ndarray)
    if f"__r{name[2:]}" in vars(np.ndarray) or f"__{name[3:]}" in vars(np.ndarray)
)
"""The special methods of binary operators that have a reflected one, and these."""


def _is_like_tuple(cls: type) -> bool:
    """Whether `cls` is a subclass of tuple (a named one, say) with which arrays compute like with a tuple."""
    if not issubclass(cls, tuple) or not is_plain(cls) or has(cls, "__array_priority__"):
        return False
    own = cls.__mro__[: cls.__mro__.index(tuple)]
    return not any(_OPERATORS & vars(base).keys() for base in own)


# -- lists where NumPy expects arrays -------------------------------------------------------------------


def gather(x: Any) -> Any:
    """`x`, or the array NumPy makes of the list or tuple `x`."""
    return np.asarray(x) if isinstance(x, list | tuple) else x


def gather_tangent(x: Any, dx: Any) -> Any:
    """The tangent of ``np.asarray(x)`` where `x` has tangent `dx`; None if that is zero."""
    if dx is None or dx is NO_TANGENT or is_constant(x, dx):
        return None
    if not isinstance(x, list | tuple):
        if type(dx) is MutableTangent:
            refuse_own_protocol(x)
        return dx
    refuse_own_elements(x)
    if (
        type(dx) is type(x) is list
        and x
        and REALS.issuperset(map(type, x))
        and REALS.issuperset(map(type, dx))
    ):
        return np.array(dx)
    whole = np.asarray(x)
    refuse_opaque(whole)
    if whole.dtype.kind not in "fc":
        return None
    parts = []
    for xi, di in zip(x, in_order(x, dx), strict=True):
        refuse_object(xi, di)
        di = gather_tangent(xi, array_part(di))
        parts.append(np.zeros(np.shape(xi), whole.dtype) if di is None else di)
    if any(getattr(part, "is_batch", False) for part in parts):
        return np.stack(parts).astype(whole.dtype)
    return np.array(parts, whole.dtype).reshape(whole.shape)


def array_part(shadow: Any) -> Any:
    """The shadow (or tangent) of the array that an instance of a subclass with this shadow is, None if it is
    constant; that of anything else is `shadow` itself."""
    if type(shadow) is not ArrayTangent:
        return shadow
    return None if shadow.array is NO_TANGENT else shadow.array


def give(f: Any, x: Any, d: Any) -> Any:
    """Add cotangent `d` of `x`, or of the array made of `x`, to its shadow `f`; returns the rdata part."""
    whole = type(x) is np.ndarray and type(f) is np.ndarray and type(d) is np.ndarray
    if whole and d.dtype.kind == "V":
        give_records(f, d)
        return None
    if whole and f.base is None and f.shape == d.shape and f.dtype == d.dtype:
        f += d
        return None
    is_row = type(f) is list and type(d) is np.ndarray and d.dtype.char == "d" and d.shape == (len(f),)
    if is_row and add_floats(f, x, d.tolist()):
        return None
    if f is not None and isinstance(x, list | tuple):
        refuse_own_parts(x)
        d = project(d, np.asarray(x))
    elif type(f) is MutableTangent:
        refuse_own_protocol(x)
    return accumulate(f, x, d)


# -- what several kinds of rows do ------------------------------------------------------------------------


def bound(
    args: Args, kwargs: Kwargs, names: Sequence[str], active: Sequence[int], defaults: Mapping[str, Any]
) -> Any:
    """`args` and `kwargs` with keywords made positional up to the last given of the `active` positions."""
    last = max((i for i in active if i >= len(args) and names[i] in kwargs), default=-1)
    if last < 0:
        return tuple(args), dict(kwargs)
    positional, rest = list(args), dict(kwargs)
    positional += [
        rest.pop(name) if name in rest else defaults.get(name) for name in names[len(args) : last + 1]
    ]
    return tuple(positional), rest


def new_shadow(out: Any, active: bool) -> Any:
    """The shadow of the new value `out`, as `fresh_shadow` gives it, but quicker for arrays."""
    if type(out) is np.ndarray:
        if out.flags.c_contiguous and out.dtype.kind in "fc":
            return np.zeros(out.shape, out.dtype)
    elif isinstance(out, np.inexact):
        return NO_FDATA if active else None
    if isinstance(out, np.ndarray) and active:
        project(out, out)  # which refuses what C code has made of a class of the user's
    return fresh_shadow(out, active)


def finish(dout: Any, out: Any) -> Any:
    """The tangent of `out`, as new memory of its shape, dtype and layout, from `dout`, which is broadcast."""
    if dout is None:
        return fresh_tangent(out)
    refuse_text(out, dout)
    if np.shape(dout) != np.shape(out):
        if np.size(out) == 0:  # what is broadcast to nothing is read-only, and shares no memory
            return fresh_tangent(out)
        dout = np.broadcast_to(dout, np.shape(out))
    d = project(dout, out, fresh=True)
    if d.__class__ is np.ndarray and d.strides != out.strides:  # what is a view of `out` must be one of `d`
        like = np.empty_like(out)
        like[...] = d
        return like
    return d


def check_target(target: Any, shadow: Any, active: bool) -> Any:
    """The one array that a call writes into, and its shadow, where it is given them for ``out=``; raises as
    `check_writable` does, and if the target is of a class of its own."""
    if type(target) is tuple:
        (target,) = target
        shadow = None if shadow is None else shadow[0]
    if type(target) is not np.ndarray:
        raise UnsupportedError(
            f"a {type(target).__name__} as out=",
            "only what is written into an array of NumPy's own class is followed",
            "give out= an array, np.asarray(x), or assign the result",
        )
    check_writable(target, shadow, active)
    return target, shadow


def is_carried(shadow: Any) -> bool:
    """Whether a value with this shadow, which is written somewhere, may carry a derivative there."""
    return shadow is not None and not (type(shadow) is np.ndarray and is_inactive(shadow))


def check_writable(target: Any, shadow: Any, active: bool) -> None:
    """Raise if an active value is about to be written into the constant array `target`, or into one with
    several elements at one place, of which the last that is written stays."""
    if shadow is not None:
        if active:
            mark_active(shadow)
        refuse_opaque(target)
        if isinstance(target, np.ndarray) and overlaps_itself(target):
            raise UnsupportedError(
                "an array with several elements at one place in memory, as as_strided gives it, is"
                " written to",
                "the derivatives of these elements cannot be told apart",
                "write into the array that it is a view of",
            )
    elif active and isinstance(target, np.ndarray):
        refuse_opaque(target)
        if is_inexact(target):
            raise ConstWriteError(
                "an active value is written into an array that is constant",
                "its derivative would be lost",
            )


def refuse_read_only(target: Any, ufunc: Any) -> None:
    """Raise if the array `target` of ``ufunc.at`` is read-only: NumPy writes there all the same, but nothing
    else does, so that the pullback could not put back what was there."""
    if not target.flags.writeable:
        raise UnsupportedError(
            f"np.{ufunc.__name__}.at is given a read-only array, and NumPy writes into it all the same",
            "the pullback could not put back what was there",
            "give it a copy, np.array(x)",
        )


def before_update(target: Any, shadow: Any, is_active: bool) -> Any:
    """A copy of `target`, which is about to be changed in place; is_active: whether by active values."""
    if shadow is None or target.dtype.kind not in "fc" or overlaps_itself(target):
        check_writable(target, shadow, is_active)
    elif is_active:
        mark_active(shadow)
    return target.copy()


def before_write(u: Any, fu: Any, index: Any, given: Any) -> Any:
    """A copy of ``u[index]``, a view, which is about to be overwritten by values with the shadow `given`,
    None if they are constant."""
    if fu is None or overlaps_itself(u):
        check_writable(u, fu, given is not None)
    elif given is not None:
        mark_active(fu)
    return u[index].copy()


def write_tangent(dtarget: Any, dout: Any, where: Any = True) -> None:
    """Assign tangent `dout` (None for zero) to `dtarget` where the mask `where` is on."""
    if dtarget is None:
        return
    if dout is None:
        dout = 0
    elif np.iscomplexobj(dout) and not np.iscomplexobj(dtarget):
        dout = dout.real
    np.copyto(dtarget, dout, where=where, casting="unsafe")


def any_active(shadows: Sequence[Any]) -> bool:
    """Whether one of the shadows or tangents is not the symbolic zero."""
    return any([f is not None for f in shadows])  # noqa: C419  # quicker than a generator, and can be lifted


def places(count: int, keywords: Sequence[str], names: Sequence[str]) -> dict[str, int] | None:
    """The index of each parameter, by name, among `count` arguments, the last of which are given by keyword;
    None if the function cannot be called in this way."""
    positional = count - len(keywords)
    found = dict(zip(names, range(positional), strict=False))
    if positional > len(names) or not found.keys().isdisjoint(keywords):
        return None
    return {**found, **{name: i for i, name in enumerate(keywords, positional)}}


def shaped(of_shape: Callable[..., Any], **known: Any) -> Formula:
    """The formula ``of_shape(by, shape, **others)``, which needs just the shape of its array, and gives a
    result of this shape; known: other fields of the `Formula`."""

    def of_array(by: Any, out: Any, x: Any, /, **others: Any) -> Any:
        return of_shape(by, np.shape(x), **others)

    return Formula(of_array, of_shape=of_shape, fits=always, **known)


def by_example(row: AnyRule) -> AnyRule:
    """Return `row`, marked as of a function that may be called to see what it returns (`Rule.sample`)."""
    row.sample = sampled
    return row


_NOTHING = id(np._NoValue)
"""The `id` of what NumPy's functions in Python pass on for an argument that they were not given."""


def _asking_for_array(args: Args, kwargs: Kwargs) -> tuple[Args, Kwargs]:
    """The arguments of a call with an Ellipsis for a target, which asks for an array even where the result
    would be a number, and is allowed by name alone."""
    return args, {**kwargs, "out": ...}


def converting(row: AnyRule, place: int = 0) -> AnyRule:
    """Return `row`, marked as of a function that makes numbers of text at `place` (`Rule.converts`)."""
    row.converts, row.meets_text = slice(place, place + 1), True
    return row


class ArrayRule(Rule):
    """The rule of a function whose result is new memory, or is written into ``out=``.

    names: the positional parameters; the first `arrays` of them may be active, and ``out``.
    jvp, vjp: one function per array, None where there is no derivative.  They are called as
        ``jvp(dx, y, *arrays, **others)`` and ``vjp(by, y, *arrays, **others)``, the others by name;
        they may ignore broadcasting, dtype and the realness of arguments.  A `Formula` in the place of one of
        `vjp` says more about it to builders.
    defaults: the values, if not None, of parameters before ``out`` that were not given.
    """

    sample = staticmethod(sampled)

    is_as_formulas_say = False
    """Whether an `frule` of the class's own does what the formulas say in all calls that are pure."""

    def __init__(
        self,
        function: Any,
        names: str,
        *,
        jvp: Sequence[Callable[..., Any] | None],
        vjp: Sequence[Formula | Callable[..., Any] | None],
        defaults: Mapping[str, Any] | None = None,
        when: When = plain,
        result: Any = None,
    ) -> None:
        self.names = tuple(names.split())
        self.arrays = self.takes_values = len(jvp)
        self.jvp = tuple(jvp)
        self.vjp = tuple(map(function_of, vjp))
        self.tangent_formulas = formulas_of(jvp)
        self.cotangent_formulas = formulas_of(vjp)
        self.refuses = any(isinstance(f, Refusal) for f in self.jvp)
        self.refused = (*self.jvp, *[uncovered(function, name) for name in self.names[len(jvp) :]])
        self.defaults = dict(defaults or {})
        self.out_index = self.names.index("out") if "out" in self.names else None
        self.active = [*range(self.arrays)] + ([] if self.out_index is None else [self.out_index])
        super().__init__(function, when=when, parameters=self.names[: self.active[-1] + 1], result=result)

    def uncovered(self, count: int) -> Sequence[int]:
        return [i for i in range(self.arrays, count) if i != self.out_index]

    def bind(self, args: Args, kwargs: Kwargs) -> tuple[tuple[Any, ...], dict[str, Any]]:
        moved: tuple[tuple[Any, ...], dict[str, Any]] = bound(
            args, kwargs, self.names, self.active, self.defaults
        )
        return moved

    def formula_call(
        self, count: int, keywords: Sequence[str], is_complex: bool = False
    ) -> FormulaCall | None:
        found = super().formula_call(count, keywords, is_complex)
        if found is not None or not self.is_pure(count, keywords):
            return found
        named = places(count, keywords, self.names)
        arrays = self.names[: self.arrays]
        if named is None or any(name not in named for name in arrays):
            return None
        together = None if self.formulas is not None else self.together  # of real numbers alone
        where = tuple(named.pop(name) for name in arrays)
        return FormulaCall(self.cotangent_formulas, where, tuple(named.items()), together=together)

    def is_pure(self, count: int, keywords: Sequence[str]) -> bool:
        return (
            not (self.mutates or self.refuses)
            and "out" not in keywords
            and (self.out_index is None or count - len(keywords) <= self.out_index)
        )

    def tangent_call(self, count: int, keywords: Sequence[str]) -> FormulaCall | None:
        is_of_its_own = type(self).frule is not ArrayRule.frule and not self.takes_result
        if (is_of_its_own and not self.is_as_formulas_say) or not self.is_pure(count, keywords):
            return None
        named = places(count, keywords, self.names)
        arrays = self.names[: self.arrays]
        if named is None or "out" in named or any(name not in named for name in arrays):
            return None
        where = tuple(named.pop(name) for name in arrays)
        return FormulaCall(self.tangent_formulas, where, tuple(named.items()))

    def numeric(self, count: int) -> Sequence[int]:
        return [i for i, jvp in enumerate(self.jvp[:count]) if jvp is not None]

    def split(self, args: Args, kwargs: Kwargs) -> tuple[list[Any], dict[str, Any], Any, int]:
        """The arrays, the other arguments by name, and the target of ``out=`` with its position."""
        n = self.arrays
        others = {}
        if len(args) > n:
            others = dict(zip(self.names[n:], args[n:], strict=False))
        elif not kwargs:
            return list(args), others, None, -1
        others.update(kwargs)
        if _NOTHING in map(id, others.values()):
            others = {k: x for k, x in others.items() if id(x) != _NOTHING}
        target = others.pop("out", None)
        return list(args[:n]), others, target, -1 if target is None else self.out_index or 0

    def frule(self, args: Args, dargs: Args, kwargs: Kwargs = NO_KWARGS) -> tuple[Any, Any]:
        arrays, others, target, index = self.split(args, kwargs)
        if self.refuses or len(args) > self.arrays:
            dargs = without_refused(self.refused, args, dargs)
        if target is not None:
            if target is not Ellipsis:
                return self._frule_into(target, dargs[index], arrays, dargs, others, args, kwargs)
            args, kwargs = _asking_for_array(args[:index], kwargs)
        if meets_objects(args, dargs):
            return frule_by_numbers(self.frule, self.function, args, dargs, kwargs)
        out = self.function(*args, **kwargs)
        if any_active(dargs):
            refuse_answer(out)
        dout = self._tangent(out, arrays, dargs, others)
        if dout is not None:
            refuse_opaque(out)
        return out, finish(dout, out)

    def _tangent(self, out: Any, arrays: list[Any], dargs: Args, others: dict[str, Any]) -> Any:
        dout = None
        if computes_whole(others):
            return None
        gathered = [gather(x) for x in arrays]
        for jvp, x, dx in zip(self.jvp, arrays, dargs, strict=False):
            if jvp is not None and dx is not None:
                refuse_opaque(x)
                dx = gather_tangent(x, dx)
                if dx is not None:
                    term = jvp(dx, out, *gathered, **others)
                    dout = term if dout is None else dout + term
        return dout

    def _frule_into(
        self,
        target: Any,
        dtarget: Any,
        arrays: list[Any],
        dargs: Args,
        others: dict[str, Any],
        args: Args,
        kwargs: Kwargs,
    ) -> tuple[Any, Any]:
        target, dtarget = check_target(target, dtarget, any_active(dargs[: len(arrays)]))
        refuse_text_of(target, arrays, dargs)
        olds = [
            x.copy() if isinstance(x, np.ndarray) and np.may_share_memory(x, target) else x for x in arrays
        ]
        out = self._call_into(target, arrays, others, args, kwargs)
        dout = self._tangent(out.copy(), olds, dargs, others) if dtarget is not None else None
        write_tangent(dtarget, dout, self._written(others))
        if out is not target and not isinstance(out, np.ndarray):  # some give a number for a 0-d array
            return out, None if dtarget is None else project(dtarget, out)
        return out, dtarget

    def _call_into(
        self, target: Any, arrays: list[Any], others: dict[str, Any], args: Args, kwargs: Kwargs
    ) -> Any:
        """Call the function so that it writes into `target`; returns what it returns."""
        return self.function(*args, **kwargs)

    def _written(self, others: dict[str, Any]) -> Any:
        """The mask of the elements of ``out`` that are written."""
        return True

    def rrule(self, args: Args, fargs: Args, kwargs: Kwargs = NO_KWARGS) -> tuple[Any, Any, Pullback]:
        arrays, others, target, index = self.split(args, kwargs)
        count = len(args)
        if self.refuses or len(args) > self.arrays:
            fargs, lost = without_lost(self.refused, args, fargs)
            if lost:
                return and_lost(self.rrule(args, fargs, kwargs), lost)
        if target is not None:
            if target is not Ellipsis:
                return self._rrule_into(target, fargs[index], arrays, fargs, others, args, kwargs)
            args, kwargs = _asking_for_array(args[:index], kwargs)
        active = any_active(fargs[: len(arrays)])
        if active and meets_objects(args, fargs):
            return rrule_by_numbers(self.rrule, self.function, args, fargs, kwargs)
        if active:
            for x, f in zip(arrays, fargs, strict=False):
                if f is not None:
                    refuse_opaque(x)
        out = self.function(*args, **kwargs)
        if active:
            refuse_answer(out)
            refuse_opaque(out)
            refuse_text_of(out, arrays, fargs)
        fout = new_shadow(out, active)

        def array_pullback(bout: Any) -> Sequence[Any]:
            by = fout if isinstance(fout, np.ndarray) else bout
            return self._cotangents(by, out, arrays, fargs, others, count)

        return out, fout, array_pullback

    def _cotangents(
        self, by: Any, out: Any, arrays: list[Any], fargs: Args, others: dict[str, Any], count: int
    ) -> Sequence[Any]:
        result: list[Any] = [None] * count
        if by is not None and not computes_whole(others):
            gathered = [gather(x) for x in arrays]
            terms = [
                vjp(by, out, *gathered, **others) if vjp is not None and f is not None else None
                for vjp, f in zip(self.vjp, fargs[: len(arrays)], strict=False)
            ]
            for i, term in enumerate(terms):
                if term is not None:
                    result[i] = give(fargs[i], arrays[i], term)
        return result

    def _rrule_into(
        self,
        target: Any,
        ftarget: Any,
        arrays: list[Any],
        fargs: Args,
        others: dict[str, Any],
        args: Args,
        kwargs: Kwargs,
    ) -> tuple[Any, Any, Pullback]:
        target, ftarget = check_target(target, ftarget, any_active(fargs[: len(arrays)]))
        refuse_text_of(target, arrays, fargs)
        old = target.copy()
        given = self._call_into(target, arrays, others, args, kwargs)
        is_number = not isinstance(given, np.ndarray)  # some give a number for a 0-d array

        def overwriting_pullback(bout: Any) -> Sequence[Any]:
            out = target.copy()
            target[...] = old
            if ftarget is None:
                return (None,) * len(args)
            by = ftarget.copy()
            if is_number and bout is not None:
                by += bout
            np.copyto(ftarget, 0, where=self._written(others))
            return self._cotangents(by, out, arrays, fargs, others, len(args))

        if is_number:
            return given, None if ftarget is None else NO_FDATA, overwriting_pullback
        return target, ftarget, overwriting_pullback


class SeparateRule(Rule):
    """The rule of a function that makes an array of others, or of numbers, given one by one; what is
    given by name has no derivative.

    function_for: gives the function of the formula for an argument by its index; together: see
    `FormulaCall`.
    """

    sample = staticmethod(sampled)
    makes_arrays = True

    def __init__(
        self,
        function: Callable[..., Any],
        function_for: Callable[[int], Callable[..., Any]],
        together: Callable[..., Any],
    ) -> None:
        super().__init__(function, when=plain, result=np.ndarray)
        self.formulas = tuple(Formula(function_for(i)) for i in range(self.takes_values))
        self.together = together

    def is_pure(self, count: int, keywords: Sequence[str]) -> bool:
        return True

    def numeric(self, count: int) -> Sequence[int]:
        return range(count)

    def formula_call(
        self, count: int, keywords: Sequence[str], is_complex: bool = False
    ) -> FormulaCall | None:
        n = count - len(keywords)
        if n > self.takes_values or self.formulas is None:
            return None
        others = tuple((name, n + i) for i, name in enumerate(keywords))
        together = self.together if n > 1 else None
        return FormulaCall(tuple(self.formulas[:n]), tuple(range(n)), others, together=together)
