"""Names for the objects that generated code refers to, under which another process finds the same.

`Names.of` gives a name made of plain data, or raises `Nameless`; `Names.find` gives the object back, or
raises `Nameless` if there is none or it has changed.  Functions of the user's are named with a digest of
their code and defaults, so that a changed function is not found.
"""

from __future__ import annotations

import dataclasses
import enum
import hashlib
import marshal
import sys
import types
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from adbc.functions import is_function
from adbc.rules.formulas import Formula
from adbc.rules.table import NO_KWARGS
from adbc.runtime.build.places import Nameless, codes_in, module_of, place_of, walk
from adbc.tangents.protocol import kind_of
from adbc.types import ANY, NEVER, AbstractType
from adbc.types.lattice import (
    ArrayType,
    ClosureType,
    ComplexType,
    ConstType,
    Exact,
    IteratorType,
    ListType,
    RealType,
    RecordType,
    TupleType,
    ValueArrayType,
)

if TYPE_CHECKING:  # the names are those of an engine's
    from adbc.runtime.build.engine import Engine

__all__ = ["Names", "digest_of_code", "functions_of"]

PLAIN = frozenset({bool, int, float, complex, str, bytes, type(None), type(Ellipsis)})
ROW_PARTS = ("rrule", "frule", "function", "together", "complain")


def digest_of_code(code: types.CodeType) -> bytes:
    """A digest of all that a code object says, positions and constants included."""
    found = hashlib.sha256()

    def add(code: types.CodeType) -> None:
        found.update(
            repr(
                (
                    code.co_code, code.co_names, code.co_varnames, code.co_freevars, code.co_cellvars,
                    code.co_flags, code.co_argcount, code.co_posonlyargcount, code.co_kwonlyargcount,
                    code.co_exceptiontable, code.co_linetable, code.co_firstlineno, code.co_filename,
                    code.co_qualname,
                )
            ).encode("utf-8", "surrogatepass")
        )  # fmt: skip
        for constant in code.co_consts:
            add_constant(constant)

    def add_constant(constant: Any) -> None:
        found.update(type(constant).__name__.encode())
        if isinstance(constant, types.CodeType):
            add(constant)
        elif isinstance(constant, tuple):
            found.update(str(len(constant)).encode())
            for part in constant:
                add_constant(part)
        elif isinstance(constant, frozenset):
            for text in sorted(map(repr, constant)):  # their order is not that of another process
                found.update(text.encode("utf-8", "surrogatepass"))
        else:
            found.update(repr(constant).encode("utf-8", "surrogatepass"))

    add(code)
    return found.digest()


class Names:
    """The names of one engine."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self._parts: dict[int, tuple[Any, ...]] | None = None
        self._row_names: dict[Any, tuple[Any, ...]] = {}
        self._row_count = -1
        self._digests: dict[types.CodeType, bytes] = {}

    # -- objects -----------------------------------------------------------------------------------------

    def of(self, value: Any) -> tuple[Any, ...]:
        """The name of an object."""
        kind = type(value)
        if kind in PLAIN:
            return ("plain", value)
        if kind is tuple:
            return ("tuple", tuple(map(self.of, value)))
        if isinstance(value, enum.Enum) and kind.__members__.get(value.name) is value:
            return ("member", self.of(kind), value.name)
        if value is NO_KWARGS:
            return ("no keywords",)
        if isinstance(value, types.ModuleType):
            if sys.modules.get(value.__name__) is value:
                return ("module", value.__name__)
            raise Nameless(f"the module {value.__name__}, which is not imported under its name")
        part = self._part_of_engine(value)
        if part is not None:
            return part
        if kind is types.FunctionType and self._is_representative(value):
            return ("representative", *self._of_closure(ClosureType(value.__code__, value.__globals__)))
        handled = getattr(value, "handled", None) if kind is types.FunctionType else None
        if handled is not None:
            return ("handler", handled[0], self.of(handled[1]))
        module, path = place_of(value)
        if kind is types.FunctionType and not _is_ours(module):
            return ("function", module, path, self.digest(value))
        if isinstance(value, type) and not _is_ours(module):
            return ("class", module, path, self.digest_of_class(value))
        return ("object", module, path)

    def find(self, name: tuple[Any, ...]) -> Any:
        """The object of a name."""
        kind, *rest = name
        if kind == "plain":
            return rest[0]
        if kind == "tuple":
            return tuple(map(self.find, rest[0]))
        if kind == "member":
            members = self.find(rest[0]).__members__
            if rest[1] not in members:
                raise Nameless(f"{rest[1]}, which is no member any more")
            return members[rest[1]]
        if kind == "no keywords":
            return NO_KWARGS
        if kind == "module":
            return module_of(rest[0])
        if kind == "support":
            return getattr(getattr(self.engine, rest[0]), rest[1])
        if kind == "method":
            return getattr(getattr(self.engine, rest[0]), rest[1])
        if kind == "handler":
            calls, function = getattr(self.engine, rest[0]), self.find(rest[1])
            return calls.handler(function) or calls.row_handler(function)
        if kind == "row":
            function, index, part, position, *field = rest
            rows = self.engine.table.rows(self.find(function))
            if index >= len(rows):
                raise Nameless(f"rule {index} of {function}")
            found = getattr(rows[index], part)
            if position is not None:
                found = found[position]
            return getattr(found, field[0]) if field else found
        if kind == "representative":
            return self.engine.bindings.representative(self._find_closure(*rest))
        if kind not in ("function", "class", "object"):
            raise Nameless(f"a {kind}")
        found = walk(module_of(rest[0]), rest[1])
        if kind == "function" and (type(found) is not types.FunctionType or self.digest(found) != rest[2]):
            raise Nameless(f"{rest[0]}.{rest[1]}, which has changed")
        if kind == "class" and (not isinstance(found, type) or self.digest_of_class(found) != rest[2]):
            raise Nameless(f"{rest[0]}.{rest[1]}, which has changed")
        return found

    def _is_representative(self, function: types.FunctionType) -> bool:
        found = self.engine.bindings.representatives.get((function.__code__, id(function.__globals__)))
        return found is function

    def _of_closure(self, made: ClosureType) -> tuple[Any, ...]:
        """The function of a module inside which closures of this code are made, and where in its code."""
        path = made.code.co_qualname.partition(".<locals>")[0]
        module = made.namespace.get("__name__")
        if isinstance(module, str) and vars(module_of(module)) is made.namespace:
            outer = getattr(walk(module_of(module), path), "__code__", None)
            for places, code in codes_in(outer):
                if code is made.code:
                    return module, path, places, self._digest(made.code)
        raise Nameless(f"{made.code.co_qualname}, which no function of a module makes")

    def _find_closure(self, module: str, path: str, places: tuple[int, ...], digest: bytes) -> ClosureType:
        code = getattr(walk(module_of(module), path), "__code__", None)
        for at in places:
            code = code.co_consts[at] if type(code) is types.CodeType and at < len(code.co_consts) else None
        if type(code) is not types.CodeType or self._digest(code) != digest:
            raise Nameless(f"what {module}.{path} makes, which has changed")
        return ClosureType(code, vars(module_of(module)))

    def _digest(self, code: types.CodeType) -> bytes:
        known = self._digests.get(code)
        if known is None:
            known = self._digests[code] = digest_of_code(code)
        return known

    def digest(self, function: types.FunctionType) -> bytes:
        """A digest of code and defaults of a function."""
        known = self._digest(function.__code__)
        defaults = (*(function.__defaults__ or ()), *sorted((function.__kwdefaults__ or {}).items()))
        if not defaults:
            return known
        return hashlib.sha256(known + repr([self._default(value) for value in defaults]).encode()).digest()

    def digest_of_class(self, cls: type) -> bytes:
        """A digest of how instances are differentiated, and of what the class and its bases define."""
        found = hashlib.sha256(type(kind_of(cls)).__qualname__.encode())
        for base in cls.__mro__:
            found.update(f"{base.__module__}.{base.__qualname__}".encode())
            if _is_ours(base.__module__):
                continue
            for name, value in sorted(vars(base).items()):
                if name in _PASSING:
                    continue
                found.update(f"{name} {type(value).__qualname__}".encode())
                for function in _functions_in(value):
                    found.update(self.digest(function))
        return found.digest()

    def _default(self, value: Any) -> tuple[Any, ...]:
        if is_function(value) and value.__defaults__:
            return ("opaque",)  # it may be a default of itself
        try:
            return self.of(value)
        except Nameless:
            return ("opaque", type(value).__qualname__)  # nothing is specialised on it

    def _part_of_engine(self, value: Any) -> tuple[Any, ...] | None:
        """The name of a helper that belongs to the engine, or of a part of a rule; None of anything else."""
        if isinstance(value, types.MethodType):
            for owner in ("reverse_calls", "forward_calls"):
                if value.__self__ is getattr(self.engine, owner):
                    return ("method", owner, value.__name__)
            known = self._rows().get(id(value.__self__))
            if known is not None and value.__name__ in ROW_PARTS:
                return ("row", known[0], known[1], value.__name__, None)
            return None
        if self._parts is None:
            self._parts = {
                id(getattr(support, field.name)): ("support", name, field.name)
                for name, support in (("reverse", self.engine.reverse), ("forward", self.engine.forward))
                for field in dataclasses.fields(support)
                if isinstance(getattr(support, field.name), types.FunctionType | types.MethodType)
                or field.name in ("sink", "no_fdata")
            }
        return self._parts.get(id(value)) or self._rows().get(("part", id(value)))

    def _rows(self) -> dict[Any, tuple[Any, ...]]:
        """Names of rows by address; of their formulas and partial derivatives by ``("part", address)``."""
        functions = list(self.engine.table.by_function())
        if len(functions) == self._row_count:
            return self._row_names
        found: dict[Any, tuple[Any, ...]] = {}
        for function, rows in functions:
            for index, row in enumerate(rows):
                try:
                    module, path = place_of(function)
                except Nameless:
                    continue
                name = ("object", module, path)
                found[id(row)] = (name, index)
                for part in ROW_PARTS:
                    value = row.__dict__.get(part)
                    if is_function(value):
                        found["part", id(value)] = ("row", name, index, part, None)
                for part in ("formulas", "partials", "jvp", "vjp"):
                    given = getattr(row, part, None)  # one function, if a rule gives all derivatives at once
                    for position, value in enumerate(given if isinstance(given, tuple | list) else ()):
                        if is_function(value):
                            found["part", id(value)] = ("row", name, index, part, position)
                        elif isinstance(value, Formula):
                            for field, function in value.functions():
                                found["part", id(function)] = ("row", name, index, part, position, field)
        self._row_names, self._row_count = found, len(functions)
        return found

    # -- types -------------------------------------------------------------------------------------------

    def of_type(self, type_: AbstractType) -> tuple[Any, ...]:
        """The name of an abstract type."""
        if type_ is ANY or type_ is NEVER:
            return (type(type_).__name__,)
        if isinstance(type_, RealType):
            classes = sorted(type_.members, key=lambda cls: cls.__name__)
            return ("Real", tuple(map(self.of, classes)))
        if isinstance(type_, ComplexType):
            return ("Complex", tuple(map(self.of, sorted(type_.members, key=lambda cls: cls.__name__))))
        if type(type_) is Exact:
            return ("Exact", self.of(type_.cls))
        if type(type_) is ListType:
            return ("List", self.of_type(type_.element))
        if type(type_) is RecordType:
            names, types_ = zip(*type_.fields, strict=True)
            return ("Record", self.of(type_.cls), names, tuple(map(self.of_type, types_)))
        if type(type_) is TupleType:
            return ("Tuple", tuple(map(self.of_type, type_.elements)))
        if isinstance(type_, ArrayType):
            kind = "Array" if type(type_) is ArrayType else "ValueArray"
            return (kind, type_.dtype, type_.ndim, self.of(type_.cls))
        if type(type_) is IteratorType:
            return ("Iterator", self.of_type(type_.element))
        if type(type_) is ConstType:
            return ("Const", self.of(type_.value))
        if type(type_) is ClosureType:
            return ("Closure", self._of_closure(type_))
        raise Nameless(f"the type {type_}")

    def find_type(self, name: tuple[Any, ...]) -> AbstractType:
        """The type of a name."""
        kind, *rest = name
        if kind in _SINGLE:
            return _SINGLE[kind]
        if kind == "Real":
            return RealType(frozenset(map(self.find, rest[0])))
        if kind == "Complex":
            return ComplexType(frozenset(map(self.find, rest[0])))
        if kind == "Tuple":
            return TupleType(tuple(map(self.find_type, rest[0])))
        if kind in ("Array", "ValueArray"):
            made = ArrayType if kind == "Array" else ValueArrayType
            return made(rest[0], rest[1], self.find(rest[2]))
        if kind == "Record":
            cls, names, types_ = rest
            return RecordType(self.find(cls), tuple(zip(names, map(self.find_type, types_), strict=True)))
        if kind == "List":
            return ListType(list, self.find_type(rest[0]))
        if kind == "Iterator":
            return IteratorType(self.find_type(rest[0]))
        if kind == "Closure":
            return self._find_closure(*rest[0])
        return _OF_ONE[kind](self.find(rest[0]))

    # -- code --------------------------------------------------------------------------------------------

    def of_code(self, code: types.CodeType, name: Callable[[Any], Any]) -> tuple[Any, ...]:
        """A code object as data, its constants named by `name`."""
        return marshal.dumps(code.replace(co_consts=())), tuple(map(name, code.co_consts))

    @staticmethod
    def find_code(stored: tuple[Any, ...], find: Callable[[Any], Any]) -> types.CodeType:
        """The code object that `of_code` was given."""
        code: types.CodeType = marshal.loads(stored[0])
        return code.replace(co_consts=tuple(map(find, stored[1])))


_PASSING = frozenset({"__doc__", "__dict__", "__weakref__", "__firstlineno__", "__static_attributes__"})


def _functions_in(value: Any) -> list[types.FunctionType]:
    """The functions written in Python that a method consists of: a property may have three."""
    if isinstance(value, staticmethod | classmethod):
        value = value.__func__
    parts = (value.fget, value.fset, value.fdel) if isinstance(value, property) else (value,)
    return [part for part in parts if is_function(part)]


def functions_of(cls: type) -> list[types.FunctionType]:
    """The functions that the user's classes among `cls` and its bases define."""
    return [
        function
        for base in cls.__mro__
        if not _is_ours(base.__module__)
        for value in vars(base).values()
        for function in _functions_in(value)
    ]


_SINGLE: dict[str, AbstractType] = {type(t).__name__: t for t in (ANY, NEVER)}
_OF_ONE: dict[str, Callable[[Any], AbstractType]] = {"Exact": Exact, "Const": ConstType}


def _is_ours(module: str) -> bool:
    """Whether the sources of a module are in the fingerprint, or its objects cannot change."""
    return module.partition(".")[0] in ("adbc", "builtins", "numpy") or module in sys.builtin_module_names
