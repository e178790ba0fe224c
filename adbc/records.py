"""Data classes whose methods are not compiled one by one.

`dataclasses.dataclass` writes the source of up to six methods for every class and compiles each of them by
itself.  For the hundred and more records of adbc that would be a quarter of what loading it costs, and of the
time to a first gradient.  `record` leaves the fields to `dataclasses`, compares and hashes what C code reads,
and makes `__init__` from templates, one for each number of fields, by putting names into the code.  They are
as fast as those written out.
"""

from __future__ import annotations

import dataclasses
import functools
import operator
import reprlib
import types
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, NoReturn

__all__ = ["record"]


@functools.cache
def _template(source: str) -> types.CodeType:
    """The code of the function with this source."""
    space: dict[str, Any] = {}
    exec(source, space)
    (code,) = (f.__code__ for f in space.values() if isinstance(f, types.FunctionType))
    return code


def _function(source: str, names: Iterable[str], cls: type) -> types.FunctionType:
    """The method of `cls` with this source, where `names` stand in place of `_0`, `_1`, ..."""
    code = _template(source)
    of_placeholder = {f"_{k}": name for k, name in enumerate(names)}
    made = code.replace(
        co_varnames=tuple(of_placeholder.get(name, name) for name in code.co_varnames),
        co_names=tuple(of_placeholder.get(name, name) for name in code.co_names),
        co_consts=tuple(of_placeholder.get(c, c) if type(c) is str else c for c in code.co_consts),
        co_qualname=f"{cls.__qualname__}.{code.co_name}",
    )
    method = types.FunctionType(made, globals(), code.co_name)
    method.__qualname__, method.__module__ = made.co_qualname, cls.__module__
    return method


_assign = object.__setattr__


class _Factory:
    """The default of a field of which every record gets one of its own."""

    __slots__ = ("make",)

    def __init__(self, make: Callable[[], Any]) -> None:
        self.make = make

    def __repr__(self) -> str:
        return "<factory>"


def _init(cls: type, fields: tuple[dataclasses.Field[Any], ...], is_frozen: bool) -> types.FunctionType:
    """`__init__` as `dataclasses` has it."""
    if not all(f.init for f in fields):
        raise TypeError(f"{cls.__qualname__} has fields that only dataclasses.dataclass knows how to make")
    ordered = sorted(fields, key=lambda f: bool(f.kw_only))
    positional = sum(not f.kw_only for f in fields)
    parameters, body = ["self"], []
    for k, field in enumerate(ordered):
        if k == positional:
            parameters.append("*")
        parameters.append(f"_{k}")
        has_factory = field.default_factory is not dataclasses.MISSING
        value = f"_{k}.make() if _{k}.__class__ is _Factory else _{k}" if has_factory else f"_{k}"
        body.append(f"_assign(self, '_{k}', {value})" if is_frozen else f"self._{k} = {value}")
    if hasattr(cls, "__post_init__"):
        body.append("self.__post_init__()")
    statements = "\n    ".join(body or ["pass"])
    source = f"def __init__({', '.join(parameters)}):\n    {statements}"
    made = _function(source, [f.name for f in ordered], cls)
    defaults = {f.name: _default(f) for f in ordered if _default(f) is not dataclasses.MISSING}
    made.__defaults__ = tuple(defaults[f.name] for f in ordered[:positional] if f.name in defaults) or None
    made.__kwdefaults__ = {f.name: defaults[f.name] for f in ordered[positional:] if f.name in defaults}
    made.__annotations__ = {f.name: f.type for f in ordered} | {"return": None}
    return made


def _default(field: dataclasses.Field[Any]) -> Any:
    make = field.default_factory
    return field.default if make is dataclasses.MISSING else _Factory(make)


def _values(fields: tuple[dataclasses.Field[Any], ...]) -> Callable[[Any], object]:
    """What gives the values of these fields of a record, in C: a tuple, or the value of a single field."""
    return operator.attrgetter(*(f.name for f in fields)) if fields else lambda record: ()


def _eq(cls: type, fields: tuple[dataclasses.Field[Any], ...]) -> types.FunctionType:
    values = _values(fields)
    if len(fields) == 1:  # what is the same object is equal, as in a tuple

        def __eq__(self: Any, other: Any) -> Any:
            if other.__class__ is self.__class__:
                return (values(self),) == (values(other),)
            return NotImplemented

    else:

        def __eq__(self: Any, other: Any) -> Any:
            if other.__class__ is self.__class__:
                return values(self) == values(other)
            return NotImplemented

    return _named(__eq__, cls)


def _hash(cls: type, fields: tuple[dataclasses.Field[Any], ...]) -> types.FunctionType:
    values = _values(fields)

    def __hash__(self: Any) -> int:
        return hash(values(self))

    return _named(__hash__, cls)


def _named(method: Any, cls: type) -> types.FunctionType:
    """The function `method` as one of `cls`."""
    method.__qualname__, method.__module__ = f"{cls.__qualname__}.{method.__name__}", cls.__module__
    return method  # type: ignore[no-any-return]


@reprlib.recursive_repr()
def _repr(self: Any) -> str:
    parts = (f"{f.name}={getattr(self, f.name)!r}" for f in dataclasses.fields(self))
    return f"{type(self).__qualname__}({', '.join(parts)})"


def _refuse_assignment(self: Any, name: str, value: object) -> NoReturn:
    raise dataclasses.FrozenInstanceError(f"cannot assign to field {name!r}")


def _refuse_deletion(self: Any, name: str) -> NoReturn:
    raise dataclasses.FrozenInstanceError(f"cannot delete field {name!r}")


def _state(self: Any) -> list[Any]:
    return [getattr(self, f.name) for f in dataclasses.fields(self)]


def _set_state(self: Any, state: list[Any]) -> None:
    for field, value in zip(dataclasses.fields(self), state, strict=True):
        _assign(self, field.name, value)


def _record(cls: type, *, init: bool = True, eq: bool = True, frozen: bool = False, **options: bool) -> type:
    own = vars(cls).copy()
    cls = dataclasses.dataclass(init=False, repr=False, eq=False, **options)(cls)
    fields = dataclasses.fields(cls)
    methods: dict[str, Any] = {"__repr__": _repr}
    if init:
        methods["__init__"] = _init(cls, fields, frozen)
    if eq:
        methods["__eq__"] = _eq(cls, fields)
        if own.get("__hash__") is None:
            methods["__hash__"] = _hash(cls, fields) if frozen else None
    if frozen:
        methods["__setattr__"], methods["__delattr__"] = _refuse_assignment, _refuse_deletion
        if options.get("slots"):  # the usual way to restore slots would assign to them
            methods["__getstate__"], methods["__setstate__"] = _state, _set_state
    for name, method in methods.items():
        if name not in own or name == "__hash__":
            setattr(cls, name, method)
    return cls


if TYPE_CHECKING:
    from dataclasses import dataclass as record
else:

    def record(cls: type | None = None, /, **options: bool) -> type | Callable[[type], type]:
        """The data class with the fields of `cls`, as `dataclasses.dataclass` makes it.

        options: `init`, `eq`, `frozen`, `slots` and `kw_only` of `dataclasses.dataclass`.  Fields may have
        defaults and factories of them; what else `dataclasses.field` knows is for that.

        >>> @record(frozen=True)
        ... class Point:
        ...     x: float
        ...     y: float = 0.0
        >>> Point(1.0)
        Point(x=1.0, y=0.0)
        >>> Point(1.0) == Point(1.0, 0.0), dataclasses.replace(Point(1.0), y=2.0)
        (True, Point(x=1.0, y=2.0))
        """
        if cls is None:
            return functools.partial(_record, **options)
        return _record(cls, **options)
