"""`ProjectTo`: what a rule computed, made into a tangent of the argument that it is for.

A rule multiplies matrices and sums products; whether the argument was float32, real, a row that was repeated,
or an array without dimensions, is not its concern.  It is said here, once for all rules.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from adbc.chainrules.arrays import has, is_array, loaded, shape_of, unbroadcast
from adbc.chainrules.linear import Linear
from adbc.chainrules.structured import Tangent, parts_of
from adbc.chainrules.thunks import InplaceableThunk, Thunk
from adbc.chainrules.zeros import NoTangent, ZeroTangent
from adbc.errors import InvalidTangentError

__all__ = ["ProjectTo"]

Projection = Callable[[Any], Any]


class ProjectTo:
    """The projection onto the tangents of `x`: ``ProjectTo(x)(dx)``.

    An int, a flag, a text: `NoTangent`.  A float: a float, the real part of what is complex.  An array: an
    array of its shape and dtype, its real part if that is real; what was broadcast is summed, and what has no
    dimensions keeps none.  A sparse array of SciPy's: its pattern.  Tuples, dicts and objects: a `Tangent`,
    part by part.  A thunk is projected when it is computed.

    It keeps no reference to `x`: a pullback that needs no more than the kind of an argument does not keep its
    memory.  Raises `adbc.errors.InvalidTangentError` for what is no tangent of `x`.

    >>> from adbc import chainrules as cr
    >>> cr.ProjectTo(1.5)(2 + 3j), cr.ProjectTo(3)(2.0)
    (2.0, NoTangent())
    >>> import numpy as np
    >>> cr.ProjectTo(np.zeros(2, np.float32))(np.ones((3, 2)))
    array([3., 3.], dtype=float32)
    """

    __slots__ = ("_name", "_project")

    def __init__(self, x: Any) -> None:
        self._name = type(x).__name__
        self._project = _projection(x, ())

    @property
    def is_differentiable(self) -> bool:
        """Whether there are tangents at all."""
        return self._project is not _none

    def __call__(self, dx: Any) -> Any:
        return self._project(dx)

    def __repr__(self) -> str:
        return f"<ProjectTo of a {self._name}>"


def _none(dx: Any) -> NoTangent:
    return NoTangent()


def _projection(x: Any, around: tuple[int, ...]) -> Projection:
    """The projection onto the tangents of `x`; `around`: the addresses of the objects around it."""
    cls = type(x)
    if cls is float or (isinstance(x, float) and not hasattr(cls, "dtype")):
        return _special(_to_float)
    if cls is complex or (isinstance(x, complex) and not hasattr(cls, "dtype")):
        return _special(_to_complex)
    numpy = loaded()
    if numpy is not None and isinstance(x, numpy.ndarray | numpy.generic):
        return _of_array(x, around)
    sparse = loaded("scipy.sparse")
    if sparse is not None and sparse.issparse(x):
        return _of_pattern(x)
    parts = parts_of(x)
    if not parts:
        return _none
    if id(x) in around and callable(x):
        return _none  # a function that calls itself: its tangent is the one around
    if id(x) in around:
        raise InvalidTangentError(
            f"a {cls.__name__} holds itself",
            "a tangent by parts would have no end",
            "give the rule what is needed of the object",
        )
    inside = {key: _projection(part, (*around, id(x))) for key, part in parts.items()}
    if all(project is _none for project in inside.values()):
        return _none
    return _special(_of_parts(cls, inside))


def _special(project: Projection) -> Projection:
    """The projection that leaves what is no number as it is, and thunks uncomputed."""

    def special(dx: Any) -> Any:
        if isinstance(dx, InplaceableThunk):
            return InplaceableThunk(dx.add_into, lambda: special(dx.value()))
        if isinstance(dx, Thunk):
            return Thunk(lambda: special(dx.value()))
        if isinstance(dx, Linear) and not isinstance(dx, Tangent):
            return dx
        if dx is None:
            raise InvalidTangentError(
                "a rule gives None as a tangent", "None is no number", "give ZeroTangent() or NoTangent()"
            )
        return project(dx)

    return special


def _number(dx: Any) -> Any:
    """The number in `dx`, which may be an array of one number without dimensions."""
    if shape_of(dx) != ():
        try:
            return unbroadcast(dx, ())[()]
        except ValueError as error:
            raise InvalidTangentError(str(error)) from error
    if has(dx, "dtype"):
        return dx[()].item()
    if not isinstance(dx, int | float | complex):
        raise InvalidTangentError(f"{dx!r:.60} is no tangent of a number")
    return dx


def _to_float(dx: Any) -> float:
    return dx if type(dx) is float else float(_number(dx).real)


def _to_complex(dx: Any) -> complex:
    return dx if type(dx) is complex else complex(_number(dx))


def _of_array(x: Any, around: tuple[int, ...]) -> Projection:
    """The projection onto the tangents of an array or a number of NumPy's."""
    numpy, dtype, shape, is_number = loaded(), x.dtype, x.shape, not is_array(x)
    if dtype.kind == "O":
        inside = [_projection(part, (*around, id(x))) for part in x.flat]

        def to_objects(dx: Any) -> Any:
            made = numpy.empty(shape, object)
            for i, (project, d) in enumerate(zip(inside, numpy.asarray(dx, object).flat, strict=True)):
                made.flat[i] = project(d)
            return made

        return _special(to_objects)
    if dtype.kind not in "fc":
        return _none

    def to_array(dx: Any) -> Any:
        if isinstance(dx, Tangent):
            raise InvalidTangentError(f"{dx!r:.60} is no tangent of an array")
        found = numpy.asarray(dx.toarray() if has(dx, "toarray") else dx)
        try:
            found = unbroadcast(found, shape)
        except ValueError as error:
            raise InvalidTangentError(str(error)) from error
        if dtype.kind == "f" and found.dtype.kind == "c":
            found = found.real
        if found.dtype.kind not in "biufc":
            raise InvalidTangentError(f"{dx!r:.60} is no array of numbers")
        found = numpy.asarray(found, dtype)
        return found[()] if is_number else found

    return _special(to_array)


def _of_pattern(x: Any) -> Projection:
    """The projection onto sparse arrays with the pattern of `x`: what is not stored cannot be perturbed."""
    coo = x.tocoo(copy=True)
    places, shape, dtype, make = (coo.row, coo.col), coo.shape, coo.dtype, type(coo)
    convert = f"to{x.format}"
    del coo

    def to_pattern(dx: Any) -> Any:
        if shape_of(dx) != shape:
            raise InvalidTangentError(f"a tangent of shape {shape_of(dx)} for something of shape {shape}")
        values = dx.tocsr()[places] if has(dx, "tocsr") else dx[places]
        values = loaded().asarray(values).reshape(-1)
        values = values.real if dtype.kind == "f" else values
        return getattr(make((values.astype(dtype), places), shape=shape), convert)()

    return _special(to_pattern)


def _of_parts(cls: type, inside: dict[Any, Projection]) -> Projection:
    """The projection onto the tangents of a value of class `cls` with the parts that `inside` has."""

    def to_parts(dx: Any) -> Any:
        if isinstance(dx, Tangent):
            given = dx._parts
            if dx._cls is not cls:
                raise InvalidTangentError(f"the tangent of a {dx._cls.__name__} for a {cls.__name__}")
        else:
            given = parts_of(dx) or {} if isinstance(dx, tuple | list | dict) else None
            if given is None and type(dx) is cls:
                given = parts_of(dx) or {}
            if given is None or len(given) != len(inside):
                raise InvalidTangentError(f"{dx!r:.60} is no tangent of a {cls.__name__}")
            if not isinstance(dx, dict) and issubclass(cls, tuple):
                given = dict(zip(inside, given.values(), strict=True))  # a tuple for a named one
        unknown = [key for key in given if key not in inside]
        if unknown:
            raise InvalidTangentError(
                f"the tangent of a {cls.__name__} has a part {unknown[0]!r} that it lacks"
            )
        return Tangent.of(
            cls, {key: project(given.get(key, ZeroTangent())) for key, project in inside.items()}
        )

    return to_parts
