"""Instances, records, closures, cells, bound methods, partial applications, exceptions.

What has an address has a `MutableTangent`, one field for each field that is there; what has none
(a frozen dataclass, a bound method) has a `Tangent`.  A closure's fields are its free variables, by
name, each the tangent of a cell; and its defaults where they hold objects with tangents.

A class is told to be an instance class by how it was made: by a class statement, not in C.  The
fields of an object made in C are out of sight, so its class has no tangent unless registered.
"""

from __future__ import annotations

import functools
import itertools
import types
from collections.abc import Callable, Sequence
from typing import Any

from adbc.cpython.cells import captured, captures_empty_cell
from adbc.tangents.duals import ArrayTangent, MutableTangent, Tangent, zero_record
from adbc.tangents.fields import (
    arguments,
    hides_arguments,
    instance_dict,
    instance_fields,
    is_python_class,
    refuse_shared_dictionary,
    set_instance_field,
    slots_of,
)
from adbc.tangents.nothing import NO_TANGENT
from adbc.tangents.protocol import AddressKind, Kind, Parts, ValueKind, kind_of

__all__ = [
    "ARRAY_TANGENT",
    "BUILTIN_METHOD",
    "CELL",
    "EXCEPTION",
    "FUNCTION",
    "KEYWORDS",
    "METHOD",
    "NAMESPACE",
    "PARTIAL",
    "FieldKind",
    "InstanceKind",
    "Keywords",
    "Record",
    "frozen_fields",
    "resolve_object",
]  # fmt: skip


class FieldKind(AddressKind):
    """Objects with named fields: the tangent is a `MutableTangent` with the tangents of the fields."""

    def tangent_type(self, cls: type) -> type:
        return MutableTangent

    def shell(self, x: Any) -> Any:
        return MutableTangent()

    def fill(self, t: Any, parts: Parts) -> None:
        t.__dict__.update(parts)

    def part(self, t: Any, key: Any) -> Any:
        return t.__dict__[key]


class InstanceKind(FieldKind):
    """Instances of Python classes, whose fields are the instance dictionary and the slots."""

    def __init__(self, slots: tuple[tuple[str, Any], ...] = ()) -> None:
        self.slots = slots

    def parts(self, x: Any) -> Parts:
        return list(instance_fields(x, self.slots))

    def make(self, x: Any, walk: Any) -> Any:
        return self._once(x, walk, lambda: super(InstanceKind, self).make(x, walk), self.shell)

    def perturb(self, x: Any, t: Any, walk: Any) -> Any:
        return self._once(x, walk, lambda: super(InstanceKind, self).perturb(x, t, walk), self.primal_shell)

    def difference(self, p: Any, q: Any, walk: Any) -> Any:
        return self._once(p, walk, lambda: super(InstanceKind, self).difference(p, q, walk), self.shell)

    def _once(self, x: Any, walk: Any, visit: Callable[[], Any], shell: Callable[[Any], Any]) -> Any:
        """The result for `x` by ``visit()``; if its dictionary was met before, by itself or as the dictionary
        of another object, a `shell` around what was made for that."""
        fields = instance_dict(x)
        key = ("fields", id(fields))
        has_fields = fields or type(x).__dictoffset__  # an empty one may be filled by its own name
        known = (walk.memo.get(key) or walk.memo.get(id(fields))) if has_fields else None
        if known is None or known[0] is not fields:
            result = visit()
            if has_fields:
                walk.memo[key] = (fields, result)
            return result
        result = known[1]
        if result is not NO_TANGENT:
            if self.slots:
                refuse_shared_dictionary(x)
            result = shell(x)
            result.__dict__ = known[1] if type(known[1]) is dict else known[1].__dict__
            walk.memo[key] = (fields, result)
        walk.register(x, result)
        return result

    def primal_shell(self, x: Any) -> Any:
        # Not the class's own constructor: it may compute, count or print.
        return _bare(type(x))

    def primal_fill(self, y: Any, x: Any, parts: Parts) -> None:
        for name, value in parts:
            set_instance_field(y, name, value)


class ArrayTangentKind(InstanceKind):
    """How tangents of instances of subclasses of `ndarray` are differentiated themselves: as these are, so
    that beside the dictionary of the tangent stands that of its own tangent, with the same names."""

    def tangent_type(self, cls: type) -> type:
        return ArrayTangent

    def shell(self, x: Any) -> Any:
        return ArrayTangent()

    def parts(self, x: Any) -> Parts:
        return [(None, x.array), *super().parts(x)]

    def fill(self, t: Any, parts: Parts) -> None:
        t.array = parts[0][1]
        super().fill(t, parts[1:])

    def part(self, t: Any, key: Any) -> Any:
        return t.array if key is None else super().part(t, key)

    def primal_fill(self, y: Any, x: Any, parts: Parts) -> None:
        y.array = parts[0][1]
        super().primal_fill(y, x, parts[1:])


def _bare(cls: type) -> Any:
    """A new instance of `cls` made by the constructor of its nearest base made in C."""
    base: Any = next(c for c in cls.__mro__ if not is_python_class(c))
    return base.__new__(cls)


class ExceptionKind(InstanceKind):
    """Exceptions, whose fields are ``args`` and the attributes."""

    def parts(self, x: Any) -> Parts:
        own = [] if hides_arguments(type(x)) else [("args", arguments(x))]
        return [*own, *super().parts(x)]

    def primal_shell(self, x: Any) -> Any:
        return BaseException.__new__(type(x))

    def primal_fill(self, y: Any, x: Any, parts: Parts) -> None:
        fields = dict(parts)
        if hides_arguments(type(x)):
            _set_arguments(y, arguments(x))
        else:
            y.args = fields.pop("args")
        y.__traceback__, y.__cause__, y.__context__ = x.__traceback__, x.__cause__, x.__context__
        y.__suppress_context__ = x.__suppress_context__
        super().primal_fill(y, x, list(fields.items()))


_set_arguments = vars(BaseException)["args"].__set__


class FrozenKind(ValueKind):
    """Frozen dataclasses with the generated constructor: values with named parts."""

    def __init__(self, names: tuple[str, ...]) -> None:
        self.names = names

    def tangent_type(self, cls: type) -> type:
        return Tangent

    def parts(self, x: Any) -> Parts:
        return [(name, object.__getattribute__(x, name)) for name in self.names]

    def join(self, x: Any, parts: Parts) -> Any:
        return Tangent(**dict(parts))

    def part(self, t: Any, key: Any) -> Any:
        return t.__dict__[key]

    def zero(self, x: Any) -> Any:
        values = map(object.__getattribute__, itertools.repeat(x), self.names)
        return zero_record(self.names, tuple(map(type, values)))

    def rebuild(self, x: Any, parts: Parts) -> Any:
        y = object.__new__(type(x))
        for name, value in parts:
            object.__setattr__(y, name, value)
        return y


class CellKind(FieldKind):
    """Cells of closures, whose one field is ``cell_contents``, absent while the cell is empty."""

    def parts(self, x: Any) -> Parts:
        try:
            return [("cell_contents", x.cell_contents)]
        except ValueError:
            return []

    def primal_shell(self, x: Any) -> Any:
        return types.CellType()

    def primal_fill(self, y: Any, x: Any, parts: Parts) -> None:
        for _, value in parts:
            y.cell_contents = value


class FunctionKind(FieldKind):
    """Functions: inactive unless they have cells that may hold numbers, or defaults with an address."""

    def parts(self, x: Any) -> Parts:
        found: Parts = list(zip(x.__code__.co_freevars, x.__closure__ or (), strict=True))
        if _holds_objects(x.__defaults__):
            found.append(("__defaults__", x.__defaults__))
        if x.__kwdefaults__ and _holds_objects(tuple(x.__kwdefaults__.values())):
            found.append(("__kwdefaults__", x.__kwdefaults__))
        return found

    def make(self, x: Any, walk: Any) -> Any:
        return super().make(x, walk) if is_active_function(x) else NO_TANGENT

    def perturb(self, x: Any, t: Any, walk: Any) -> Any:
        if t is NO_TANGENT:
            return x
        # A function gets its cells when it is made.  Cells are objects: their contents come later.
        names = x.__code__.co_freevars
        cells = tuple([walk(c, t.__dict__[n]) for n, c in zip(names, x.__closure__ or (), strict=True)])
        y = types.FunctionType(x.__code__, x.__globals__, x.__name__, x.__defaults__, cells or None)
        y.__kwdefaults__, y.__qualname__, y.__module__ = x.__kwdefaults__, x.__qualname__, x.__module__
        y.__doc__, y.__annotations__ = x.__doc__, x.__annotations__
        y.__dict__.update(x.__dict__)
        walk.register(x, y)
        for name in ("__defaults__", "__kwdefaults__"):
            if name in t.__dict__:
                walk.later(lambda n=name: setattr(y, n, walk(getattr(x, n), t.__dict__[n])))
        return y

    def difference(self, p: Any, q: Any, walk: Any) -> Any:
        return super().difference(p, q, walk) if is_active_function(p) else NO_TANGENT


def is_active_function(x: types.FunctionType) -> bool:
    """Whether function `x` has a tangent.

    A cell may be rebound to a number by anyone who shares it, so a closure is inactive only if all
    its cells hold code: functions (inactive themselves), classes, modules.
    """
    return _may_hold_numbers([x], ())


def _is_code(x: Any) -> bool:
    if issubclass(type(x), type | types.ModuleType):
        return True
    return type(x) is types.BuiltinFunctionType and (
        x.__self__ is None or issubclass(type(x.__self__), type | types.ModuleType)
    )


def _holds_objects(values: tuple[Any, ...] | None) -> bool:
    """Whether one of `values`, defaults of parameters, has state that a call may change, as no number has."""
    return _may_hold_numbers([], values or ())


def _may_hold_numbers(functions: list[types.FunctionType], defaults: Sequence[Any]) -> bool:
    """Whether a cell of one of `functions` may hold a number some day, or one of `defaults` has state that a
    call may change; functions that are found in either are looked into too, each once."""
    values, seen = list(defaults), set()
    while functions or values:
        if functions:
            function = functions.pop()
            if id(function) in seen:
                continue
            seen.add(id(function))
            if captures_empty_cell(function):
                return True
            for content in captured(function):
                if type(content) is types.FunctionType:
                    functions.append(content)
                elif not _is_code(content):
                    return True
            values += function.__defaults__ or ()
            values += (function.__kwdefaults__ or {}).values()
            continue
        value = values.pop()
        if type(value) is types.FunctionType:
            functions.append(value)
        elif type(value) is tuple:
            values += value
        else:
            kind = kind_of(type(value))
            if kind.address and not (hasattr(value, "dtype") and value.dtype.kind not in "fcO"):
                return True
            if isinstance(kind, ValueKind):
                values += [part for _, part in kind.parts(value)]
    return False


class MethodKind(ValueKind):
    """Bound methods, whose parts are the object and the function."""

    def tangent_type(self, cls: type) -> type:
        return Tangent

    def parts(self, x: Any) -> Parts:
        return [("__self__", x.__self__), ("__func__", x.__func__)]

    def join(self, x: Any, parts: Parts) -> Any:
        return Tangent(**dict(parts))

    def part(self, t: Any, key: Any) -> Any:
        return t.__dict__[key]

    def rebuild(self, x: Any, parts: Parts) -> Any:
        fields = dict(parts)
        return types.MethodType(fields["__func__"], fields["__self__"])


class BuiltinMethodKind(MethodKind):
    """Bound methods implemented in C, whose one part is the object."""

    def parts(self, x: Any) -> Parts:
        return [("__self__", x.__self__)]

    def rebuild(self, x: Any, parts: Parts) -> Any:
        return getattr(parts[0][1], x.__name__)


class Keywords:
    """The keyword arguments of a partial application, as an immutable value: nobody changes them there."""

    __slots__ = ("items",)

    def __init__(self, items: dict[str, Any]) -> None:
        self.items = items


class KeywordsKind(MethodKind):
    """Keyword arguments of a partial application: the tangent is a `Tangent` with a field for each."""

    def parts(self, x: Any) -> Parts:
        return list(x.items.items())

    def rebuild(self, x: Any, parts: Parts) -> Any:
        return Keywords(dict(parts))


class SliceKind(MethodKind):
    """Slices, whose parts are the bounds: these may be any values if a class of the user's is sliced."""

    def parts(self, x: Any) -> Parts:
        return [("start", x.start), ("stop", x.stop), ("step", x.step)]

    def rebuild(self, x: Any, parts: Parts) -> Any:
        return slice(*[value for _, value in parts])


class InterpolationKind(MethodKind):
    """Interpolations of template strings, whose one part is the value."""

    def parts(self, x: Any) -> Parts:
        return [("value", x.value)]

    def rebuild(self, x: Any, parts: Parts) -> Any:
        return type(x)(parts[0][1], x.expression, x.conversion, x.format_spec)


class TemplateKind(MethodKind):
    """Template strings, whose parts are the texts and the interpolations."""

    def parts(self, x: Any) -> Parts:
        return [("strings", x.strings), ("interpolations", x.interpolations)]

    def rebuild(self, x: Any, parts: Parts) -> Any:
        texts = [text for pair in zip(x.strings, (*parts[1][1], ""), strict=True) for text in pair]
        return type(x)(*texts[:-1])


class PartialKind(MethodKind):
    """Partial applications, whose parts are the function and the arguments given already."""

    def parts(self, x: Any) -> Parts:
        return [("func", x.func), ("args", x.args), ("keywords", Keywords(x.keywords))]

    def rebuild(self, x: Any, parts: Parts) -> Any:
        fields = dict(parts)
        y = type(x)(fields["func"], *fields["args"], **fields["keywords"].items)
        instance_dict(y).update(instance_dict(x))
        return y


class Record(MethodKind):
    """How immutable values of a class that is made in C are differentiated: by named parts.

    ``parts(x)`` is a dict of the parts, and ``rebuild(x, parts)`` a value like `x` with other parts.  The
    tangent is a `Tangent` with a field for each part.  See `register_tangent`, which has an example.
    """

    def __init__(
        self, parts: Callable[[Any], dict[str, Any]], rebuild: Callable[[Any, dict[str, Any]], Any]
    ) -> None:
        self._parts_of = parts
        self._rebuild = rebuild

    def parts(self, x: Any) -> Parts:
        return list(self._parts_of(x).items())

    def rebuild(self, x: Any, parts: Parts) -> Any:
        return self._rebuild(x, dict(parts))


def frozen_fields(cls: type) -> tuple[str, ...] | None:
    """The fields of `cls` if it is, as it is now, a frozen dataclass whose instances have nothing else, or
    None."""
    params = vars(cls).get("__dataclass_params__")
    if params is None or not params.frozen or not params.init:
        return None
    init = vars(cls).get("__init__")
    if getattr(getattr(init, "__code__", None), "co_filename", "") != "<string>":
        return None
    if any("__new__" in vars(c) for c in cls.__mro__[:-1]):
        return None  # which may do anything to what it makes
    for c in cls.__mro__:
        if "__post_init__" in vars(c) or any(
            issubclass(type(v), functools.cached_property) for v in vars(c).values()
        ):
            return None  # instances have state beside their fields
    return tuple(name for name, f in cls.__dataclass_fields__.items() if f._field_type.name == "_FIELD")  # type: ignore[attr-defined]


def resolve_object(cls: type) -> Kind | None:
    """The kind of a class of exceptions, a frozen dataclass or another class with fields; else None."""
    if issubclass(cls, BaseException):
        return ExceptionKind(slots_of(cls))
    if issubclass(cls, functools.partial):
        return PARTIAL
    if issubclass(cls, types.BuiltinMethodType):  # a second class, of methods that know their class
        return BUILTIN_METHOD
    if cls.__module__ == "string.templatelib":
        return {"Interpolation": INTERPOLATION, "Template": TEMPLATE}.get(cls.__name__)
    if not is_python_class(cls):
        return None
    names = frozen_fields(cls)
    if names is not None:
        return FrozenKind(names)
    return InstanceKind(slots_of(cls))


ARRAY_TANGENT = ArrayTangentKind()
CELL = CellKind()
FUNCTION = FunctionKind()
METHOD = MethodKind()
BUILTIN_METHOD = BuiltinMethodKind()
KEYWORDS = KeywordsKind()
PARTIAL = PartialKind()
SLICE = SliceKind()
INTERPOLATION = InterpolationKind()
TEMPLATE = TemplateKind()
EXCEPTION = ExceptionKind()


class _NamespaceKind(InstanceKind):
    def primal_shell(self, x: Any) -> Any:
        return type(x)()


NAMESPACE = _NamespaceKind()
