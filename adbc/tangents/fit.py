"""Whether a tangent, fdata or rdata fits its primal, and where it does not.

Tangents that come from outside are checked whole before anything is done with them: an error in the
middle would leave a call half done.  Debug mode asks the same of what rules return.  What is
unambiguous is let through: a Python float where a NumPy number stands, an int for a float.
"""

from __future__ import annotations

import cmath
import math
import types
from collections import deque
from collections.abc import Callable, Iterator
from typing import Any

from adbc.tangents.duals import ArrayTangent, FData, MutableTangent, RData, Tangent
from adbc.tangents.fields import FieldKey
from adbc.tangents.internal import ARRAY_FINITE, project
from adbc.tangents.nothing import NO_FDATA, NO_RDATA, NO_TANGENT
from adbc.tangents.objects import is_active_function
from adbc.tangents.operations import zero_tangent
from adbc.tangents.protocol import AddressKind, Kind, ValueKind, kind_of
from adbc.tangents.scalars import ScalarKind

__all__ = [
    "as_numbers", "broadcast", "complex_misfit", "cotangent_misfit", "fdata_misfit", "is_finite", "misfit",
    "numbers", "rdata_misfit", "result_misfit", "shadow_misfit", "shape_of",
]  # fmt: skip

Held = Callable[[Any], bool]
_FLOATS = {float}
Way = tuple[Any, ...]
"""How a part was reached: the way to the value that it is a part of, that value, and the key; or ``()``."""
Pending = list[tuple[Any, Any, Way]]


def misfit(x: Any, t: Any, held: Held | None = None, *, allow_none: bool = False) -> str | None:
    """Where and how `t` is not a tangent of `x`; None if it fits.

    held: a function that says whether an object is a constant, whose tangent is `NoTangent`.
    allow_none: whether None may stand for a zero, as the tangent of `x` or of a part of `x`.
    """
    pending: Pending = [(x, t, ())]
    seen: set[tuple[int, int]] = set()
    while pending:
        p, s, way = pending.pop()
        if allow_none and s is None:
            continue
        if _are_floats(p, s) and (held is None or not held(p)):
            continue
        kind = kind_of(type(p))
        if isinstance(kind, AddressKind):
            if (id(p), id(s)) in seen:
                continue
            seen.add((id(p), id(s)))
        problem = _misfit(p, s, way, kind, held, pending)
        if problem is not None:
            return f"{problem} (at {_spelt(way)})" if way else problem
    return None


def _are_floats(p: Any, s: Any) -> bool:
    """Whether `p` and `s` are lists of floats of one length: the commonest case, and lists are often long."""
    if type(p) is not list or type(s) is not list or len(p) != len(s):
        return False
    return set(map(type, p)) == _FLOATS == set(map(type, s))


def _misfit(x: Any, t: Any, way: Way, kind: Kind, held: Held | None, pending: Pending) -> str | None:
    cls = type(x)
    if held is not None and kind.address and held(x):
        return None if t is NO_TANGENT else f"a {cls.__name__} is declared constant and has no tangent"
    if kind.inactive or not _has_tangent(x, kind):
        return (
            None
            if t is NO_TANGENT
            else f"a {cls.__name__} ({x!r:.40}) has no tangent, but was given {t!r:.40}"
        )
    if isinstance(kind, ScalarKind):
        return None if _is_number(t, kind.is_complex) else _wanted(x, kind, t)
    if isinstance(kind, ValueKind):
        if t is NO_TANGENT:  # right if it has no part with a derivative
            pending.extend((c, t, (way, x, k)) for k, c in kind.parts(x))
            return None
        parts = kind.parts(x)
        if type(t) is not _record_class(kind, x) or _names(t) != [k for k, _ in parts]:
            return _wanted(x, kind, t, len(parts))
        pending.extend((c, kind.part(t, k), (way, x, k)) for k, c in parts)
        return None
    wanted: Any = kind.tangent_type(cls)
    if not isinstance(t, wanted):
        is_number = not way and _is_scalar_array(x) and _is_number(t, x.dtype.kind == "c")
        return None if is_number else _wanted(x, kind, t)
    if isinstance(kind, AddressKind):
        if type(t) is not wanted:
            return _wanted(x, kind, t)
        parts = kind.parts(x)
        if not _same_names(t, [k for k, _ in parts]):
            return _wanted(x, kind, t, len(parts))
        pending.extend((c, kind.part(t, k), (way, x, k)) for k, c in parts)
    elif _is_array(x):
        if type(t) is not wanted or t.shape != x.shape or t.dtype != x.dtype:
            return _wanted(x, kind, t)
        if x.dtype.kind == "O":
            pending.extend((c, d, (way, x, i)) for i, (c, d) in enumerate(zip(x.flat, t.flat, strict=True)))
    return None


def _has_tangent(x: Any, kind: Kind) -> bool:
    """Whether `x`, a value of `kind`, which is an active one, has a tangent."""
    is_active = getattr(kind, "is_active", None)
    if is_active is not None:
        return bool(is_active(x))
    return is_active_function(x) if type(x) is types.FunctionType else True


def _is_array(x: Any) -> bool:
    # Asked of the class: an object of the user's may answer to any name.
    return hasattr(type(x), "__array_interface__")


def _is_scalar_array(x: Any) -> bool:
    """Whether `x` is an array of one number and no dimensions, which a number may stand for."""
    return _is_array(x) and x.shape == () and x.dtype.kind in ("f", "c") and kind_of(type(x)).address


def _is_number(t: Any, is_complex: bool) -> bool:
    cls = type(t)
    if cls is bool:
        return False
    if issubclass(type(t), int | float) or (is_complex and issubclass(type(t), complex)):
        return True
    letter = getattr(getattr(t, "dtype", None), "kind", "")
    return getattr(t, "ndim", None) == 0 and letter != "" and letter in ("iufc" if is_complex else "iuf")


def _record_class(kind: ValueKind, x: Any) -> type:
    found = kind.tangent_type(type(x))
    return found if found in (tuple, Tangent) else tuple


def _names(t: Any) -> list[Any]:
    return list(range(len(t))) if type(t) is tuple else list(t.__dict__)


def _same_names(t: Any, keys: list[Any]) -> bool:
    fields = {k.name for k in keys if type(k) is FieldKey}
    inside = [k for k in keys if type(k) is not FieldKey]
    if issubclass(type(t), list | deque):
        return len(t) == len(inside) and getattr(t, "__dict__", {}).keys() == fields
    if issubclass(type(t), dict):
        return t.keys() == set(inside) and getattr(t, "__dict__", {}).keys() == fields
    if type(t) is ArrayTangent:
        inside.remove(None)  # the key of the array
    return not isinstance(t, MutableTangent) or t.__dict__.keys() == set(inside)


def _spelt(way: Way) -> str:
    """`way` as it is written behind the name of the value that it begins at."""
    steps = []
    while way:
        way, x, key = way
        steps.append(_step(x, key))
    return "".join(reversed(steps)).removeprefix(".")


def _step(x: Any, key: Any) -> str:
    if type(key) is FieldKey:
        return f".{key.name}"
    return f".{key}" if type(key) is str and not issubclass(type(x), dict) else f"[{key!r}]"


def _wanted(x: Any, kind: Kind, t: Any, count: int | None = None) -> str:
    wanted = kind.tangent_type(type(x)).__name__
    article = "an" if wanted[0] in "aeiou" else "a"
    if _is_array(x) and not isinstance(kind, ScalarKind):
        wanted += f" of shape {x.shape} and dtype {x.dtype}"
    elif count is not None:
        wanted += f" with the same {count} part{'' if count == 1 else 's'}"
    elif isinstance(kind, ScalarKind):
        wanted += ", or another number that is not complex" if not kind.is_complex else ", or another number"
    found = f"{t!r:.60}"
    if _is_array(t) and t.shape != ():
        found = f"one of shape {t.shape} and dtype {t.dtype}"
    return f"the tangent of a {type(x).__name__} is {article} {wanted}; not {found}"


def as_numbers(x: Any, t: Any) -> Any:
    """Tangent or cotangent `t`, which fits `x`, with its numbers converted to the classes that `x` asks for.

    Only numbers in the value part are converted, and one in the place of an array without dimensions:
    objects stay themselves.
    """
    kind = kind_of(type(x))
    if kind.inactive:
        return NO_TANGENT if t is not None else None  # a number may stand for zero there
    if isinstance(kind, ScalarKind):
        return t if t is None or type(t) is kind.tangent else kind.project(t, x)
    if isinstance(kind, ValueKind) and t is not None and t is not NO_TANGENT:
        if type(t) is RData:  # a part that is not there is zero
            given = t.__dict__
            return RData(**{k: as_numbers(c, given[k]) for k, c in kind.parts(x) if k in given})
        return kind.join(x, [(k, as_numbers(c, kind.part(t, k))) for k, c in kind.parts(x)])
    if t is not None and type(t) is not type(x) and _is_scalar_array(x):
        return project(t, x)
    return t


# -- the two halves, as rules have them -------------------------------------------------------------


def shadow_misfit(x: Any, f: Any, *, is_tangent: bool = False) -> str | None:
    """How `f` is not a shadow of `x`, or not a tangent of `x` if `is_tangent`; None if it fits.

    `NoFData` and None stand for what has no shadow, None for a zero tangent.  What objects hold is not
    looked at.
    """
    cls, kind = type(x), kind_of(type(x))
    if f is None or f is NO_FDATA or f is NO_TANGENT:
        # None says that the value is inactive, or a constant.
        return "a shadow by value of an object" if f is NO_FDATA and kind.address else None
    if kind.inactive:
        if cls is super or (is_tangent and type(f) is float and f == 0.0):  # it stands for its instance; zero
            return None
        return f"the shadow {f!r:.40} of a {cls.__name__}, which has none"
    if isinstance(kind, ScalarKind):
        if is_tangent and _is_number(f, kind.is_complex):
            return None
        return f"the {'tangent' if is_tangent else 'shadow'} {f!r:.40} of a {cls.__name__}"
    if isinstance(kind, ValueKind):
        parts = kind.parts(x)
        if type(f) not in (tuple, FData, Tangent):
            return f"the shadow of a {cls.__name__} is a tuple or FData, not {f!r:.40}"
        names = _names(f)
        if not set(names) <= {k for k, _ in parts}:
            return f"the shadow of a {cls.__name__} has other parts than it: {names}"
        if type(f) is tuple and len(f) != len(parts):
            return f"the shadow of a tuple of {len(parts)} has {len(f)} parts"
        for k, c in parts:
            if k in names:
                problem = shadow_misfit(c, kind.part(f, k), is_tangent=is_tangent)
                if problem is not None:
                    return f"{problem} (at {_step(x, k)})"
        return None
    if not issubclass(type(f), kind.tangent_type(cls)):
        return f"the shadow of a {cls.__name__} is a {kind.tangent_type(cls).__name__}, not {f!r:.40}"
    if _is_array(x):
        array = f.array if isinstance(f, ArrayTangent) else f
        for attribute in ("shape", "dtype") if array is not NO_TANGENT else ():
            if getattr(array, attribute) != getattr(x, attribute):
                return (
                    f"an array of {attribute} {getattr(x, attribute)} has a shadow of {attribute}"
                    f" {getattr(array, attribute)}"
                )
    for base in (list, dict, deque):
        if issubclass(cls, base) and base.__len__(x) != len(f):  # past the methods of a subclass
            return f"a {cls.__name__} of {base.__len__(x)} has a shadow of {len(f)}"
    return None


def fdata_misfit(x: Any, f: Any) -> str | None:
    """How `f` is not fdata of `x`; None if it fits.  `NoFData` fits an object too, as a constant."""
    cls, kind = type(x), kind_of(type(x))
    if f is NO_FDATA:
        return None
    if kind.address and not kind.inactive:
        return misfit(x, f)
    if not isinstance(kind, ValueKind):
        return f"the fdata of a {cls.__name__} is NoFData(), not {f!r:.60}"
    parts = kind.parts(x)
    if type(f) not in (tuple, FData) or _names(f) != [k for k, _ in parts]:
        return f"the fdata of a {cls.__name__} of {len(parts)} parts has the same parts, not {f!r:.60}"
    for k, c in parts:
        problem = fdata_misfit(c, kind.part(f, k))
        if problem is not None:
            return f"{problem} (at {_step(x, k)})"
    return None


def rdata_misfit(x: Any, r: Any) -> str | None:
    """How `r` is not rdata of `x`, in which None stands for zero; None if it fits.

    The number zero stands for zero too where there is no derivative: among numbers, some are ints.
    """
    if r is None or r is NO_RDATA:
        return None
    cls, kind = type(x), kind_of(type(x))
    if kind.inactive and type(r) is float and r == 0.0:
        return None
    if kind.inactive or kind.address:
        return f"rdata {r!r:.40} for a {cls.__name__}, which has none"
    if isinstance(kind, ScalarKind):
        return None if _is_number(r, kind.is_complex) else f"rdata {r!r:.40} for a {cls.__name__}"
    if isinstance(kind, ValueKind):
        names = {k for k, _ in kind.parts(x)}
        given = _names(r) if type(r) in (tuple, RData) else []
        if type(r) is RData:  # that of a bound method says None of its function, which those of C have not
            given = [name for name in given if r.__dict__[name] is not None]
        if type(r) not in (tuple, RData) or not set(given) <= names:
            return f"rdata {r!r:.40} for a {cls.__name__} with the parts {sorted(map(str, names))}"
        if type(r) is tuple and len(r) != len(names):
            return f"rdata of {len(r)} parts for a tuple of {len(names)}"
        for k, c in kind.parts(x):
            if k in _names(r) and (problem := rdata_misfit(c, kind.part(r, k))) is not None:
                return f"{problem} (at {_step(x, k)})"
    return None


# -- what the formulas of users give ------------------------------------------------------------------

Shape = tuple[int, ...]


def shape_of(x: Any) -> Shape | None:
    """The shape of a number, an array of numbers, or a list or tuple of such; None of anything else."""
    if issubclass(type(x), int | float | complex):
        return ()
    if issubclass(type(x), list | tuple):
        shapes = set(map(shape_of, x))
        if len(shapes) != 1 or None in shapes:
            return None if shapes else (0,)
        return (len(x), *(shapes.pop() or ()))
    letter = getattr(getattr(x, "dtype", None), "kind", "")
    if letter and letter in "biufc":
        return tuple(x.shape)
    return None


def broadcast(*shapes: Shape) -> Shape | None:
    """The shape that arrays of these shapes are broadcast to; None if they do not go together."""
    whole = [1] * max(map(len, shapes), default=0)
    for shape in shapes:
        for i, n in enumerate(reversed(shape), 1):
            if n != 1 and whole[-i] not in (1, n):
                return None
            whole[-i] = n if n != 1 else whole[-i]
    return tuple(whole)


def complex_misfit(x: Any, d: Any, out: Any) -> str | None:
    """How `d` is complex where the part of `x` that it belongs to is real, and `out` too; None if it is not.

    The derivative of a real result by a real number is real.  Of a complex result the cotangent of a real
    number is the real part of what a formula gives, by the inner product; it is taken for the formula.
    """
    if not _is_complex_for_real(x, d) or any(map(_is_complex, numbers(zero_tangent(out)))):
        return None
    return f"{d!r:.60}, which is complex, for a real {type(x).__name__}; give what is real, as (...).real"


def _is_complex_for_real(x: Any, d: Any) -> bool:
    if issubclass(type(x), list | tuple) and issubclass(type(d), list | tuple) and len(x) == len(d):
        return any(map(_is_complex_for_real, x, d))
    if issubclass(type(x), dict) and issubclass(type(d), dict):
        return any(_is_complex_for_real(x[key], d[key]) for key in x if key in d)
    return _is_complex(d) and _is_real(x)


def _is_complex(d: Any) -> bool:
    """Whether `d` is a complex number or an array of such, or a list or tuple with one."""
    if issubclass(type(d), list | tuple):
        return any(map(_is_complex, d))
    return issubclass(type(d), complex) or getattr(getattr(d, "dtype", None), "kind", "") == "c"


def _is_real(x: Any) -> bool:
    """Whether `x` is a real number with a derivative or an array of such, or a list or tuple with one."""
    if issubclass(type(x), list | tuple):
        return any(map(_is_real, x))
    return issubclass(type(x), float) or getattr(getattr(x, "dtype", None), "kind", "") == "f"


def cotangent_misfit(x: Any, d: Any, out: Any) -> str | None:
    """How `d` cannot be the cotangent of `x` that a formula has computed from that of `out`; None if it can.

    It has the shape of `x`, or one that `x` and `out` are broadcast to, and then it is summed.  It is never
    repeated: a number may be what should have been an array.
    """
    if d is None or type(d) is float is type(x):
        return None
    if issubclass(type(x), list | tuple) and issubclass(type(d), list | tuple):
        if len(x) != len(d):
            return f"{len(d)} parts for a {type(x).__name__} of {len(x)}"
        found = [cotangent_misfit(*parts, out) for parts in zip(x, d, strict=True)]
        return next((problem for problem in found if problem is not None), None)
    shape, given = shape_of(x), shape_of(d)
    if shape is None:
        return misfit(x, d, allow_none=True)
    if (problem := complex_misfit(x, d, out)) is not None:
        return problem
    if given == shape:
        return None
    if given is None:
        return f"{d!r:.60}, which is no number and no array of numbers, for a {type(x).__name__}"
    of_result = shape_of(out)
    whole = None if of_result is None else broadcast(shape, of_result)
    if whole is not None and broadcast(given, whole) == whole and broadcast(given, shape) == given:
        return None
    return (
        f"something of shape {given} for an argument of shape {shape} and a result of shape {of_result}; it"
        " must have the shape of the argument, or be what the argument was broadcast to"
    )


def result_misfit(out: Any, d: Any) -> str | None:
    """How `d`, which a formula gives, cannot be the tangent of the result `out`; None if it can be
    broadcast to it."""
    if d is None or type(d) is float is type(out):
        return None
    shape, given = shape_of(out), shape_of(d)
    if shape is None:
        return misfit(out, d, allow_none=True)
    if (problem := complex_misfit(out, d, out)) is not None:
        return problem
    if given is None:
        return f"{d!r:.60}, which is no number and no array of numbers, for a {type(out).__name__}"
    if broadcast(given, shape) == shape:
        return None
    return f"something of shape {given} for a result of shape {shape}"


def numbers(t: Any) -> Iterator[Any]:
    """The numbers and arrays of numbers in a tangent, shadow or rdata, each object once."""
    pending, seen = [t], set()
    while pending:
        s = pending.pop()
        cls = type(s)
        if s is None or s is NO_TANGENT or s is NO_FDATA or s is NO_RDATA:
            continue
        if cls is float or cls is complex:
            yield s
            continue
        if id(s) in seen:
            continue
        seen.add(id(s))
        if issubclass(type(s), tuple | list | deque):
            pending.extend(s)
        elif issubclass(type(s), dict):
            pending.extend(s.values())
        elif hasattr(cls, "__array_interface__"):
            if s.dtype.kind == "O":
                pending.extend(s.flat)
            else:
                yield s
        if cls is ArrayTangent:
            pending.append(s.array)
        if isinstance(s, MutableTangent | Tangent | FData | RData | list | dict | deque):
            pending.extend(getattr(s, "__dict__", {}).values())


def is_finite(t: Any) -> bool:
    """Whether no number in a tangent, shadow or rdata is infinite or not a number."""
    if type(t) is float:
        return math.isfinite(t)
    return all(map(_is_finite, numbers(t)))


def _is_finite(number: Any) -> bool:
    whole = ARRAY_FINITE.get(type(number))
    return cmath.isfinite(number) if whole is None else whole(number)
