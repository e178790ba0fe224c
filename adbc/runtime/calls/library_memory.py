"""The memory that library code finds by names: globals, attributes of modules and classes, defaults.

Library code that is given constants is run as it is (`calls.plain`), which is right if nothing with a
derivative stands in memory that it finds by itself.  `state.kept` knows of memory that was met in code of
libraries.  What was put there before the call (an argument that had been registered), or by another name
(``from library import REGISTRY as own``), is found here: from the names in the code of a function, over the
functions, classes and modules of the same package and of the user that they mean, to containers, arrays and
objects.  It is a look of limited length; packages known to keep nothing of the program's are left out.
"""

from __future__ import annotations

import enum
import operator
import re
import sys
import types
import weakref
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from adbc.cpython.cells import captured
from adbc.cpython.libraries import is_library_class, is_library_code
from adbc.cpython.names import names_in
from adbc.cpython.wrappers import wrapped_by
from adbc.runtime.state.closures import with_active_defaults
from adbc.runtime.state.context import Context
from adbc.tangents import NO_TANGENT
from adbc.tangents.contents import contents
from adbc.tangents.fields import instance_dict, instance_fields, is_python_class
from adbc.tangents.standing import Standing

__all__ = ["finds_active", "finds_memory", "found_by_names"]

_CODES = 100
"""The most functions and classes that are looked into from one."""
_OBJECTS = 1000
"""The most objects that are looked at in memory."""
_ELEMENTS = 10_000
"""The most elements of what is noted."""
_KEEP_NOTHING = frozenset({"matplotlib", "numpy", "scipy", *sys.stdlib_module_names}) - {
    "__main__", "sched", "weakref",
}  # fmt: skip
"""Packages that keep nothing that is given to them and read by functions that are given constants."""

_NOTHING = frozenset(
    {
        str, bytes, int, float, complex, bool, types.NoneType, range, slice, types.EllipsisType,
        types.CodeType, types.NotImplementedType, types.BuiltinFunctionType, types.MethodDescriptorType,
        types.WrapperDescriptorType, types.MemberDescriptorType, types.GetSetDescriptorType,
        types.GenericAlias, types.UnionType, re.Pattern,
    }
)  # fmt: skip
_CODE = (types.FunctionType, type, types.ModuleType)
_OF_ELEMENTS: tuple[Any, ...] = (list, tuple, set, frozenset, deque)
_ABSENT = object()


def finds_active(context: Context, function: Any, args: Iterable[Any] = ()) -> bool:
    """Whether code of a library, `function` that is called on `args`, finds memory with a derivative."""
    if _package(function) in _KEEP_NOTHING:
        return False
    if not context.shadows and not with_active_defaults:
        return False  # no memory was met at all
    return _looked(context).finds_active(context, function, args)


def finds_memory(context: Context, function: Any) -> bool:
    """Whether code of a library, `function`, finds memory by itself."""
    return _package(function) not in _KEEP_NOTHING and _looked(context).finds_any(context, function)


def found_by_names(context: Context, function: Any, args: Iterable[Any]) -> Noted | None:
    """The memory that code of a library, `function` that is called on `args`, finds from itself and from the
    classes of these, and what stands in it; None if there is none.  What is large is passed over."""
    if _package(function) in _KEEP_NOTHING:
        return None
    return _looked(context).noted(context, function, args)


class Noted:
    """Memory, and what stood in it.

    content: pairs of an object and what `contents` has found there.
    """

    def __init__(self, starts: Sequence[Any], found: Iterable[Any]) -> None:
        self.starts = starts
        self.content = [
            content
            for x in found
            if not _is_large(x) and (content := next(contents([x]), None)) is not None and content[0] is x
        ]
        self._standing = Standing(self.content)

    def stands(self) -> bool:
        """Whether that stands there still."""
        return self._standing.stands()


def _is_large(x: Any) -> bool:
    """Whether it takes long to note what stands in `x`."""
    if hasattr(type(x), "dtype"):
        return bool(getattr(x, "size", 0) > _ELEMENTS)
    return isinstance(x, list | deque | dict | set) and len(x) > _ELEMENTS


def _looked(context: Context) -> _Memory:
    """What was looked at in this top-level call."""
    memory: _Memory | None = context.library_memory
    if memory is None:
        memory = context.library_memory = _Memory()
    return memory


def _package(x: Any) -> str:
    """The name of the package that function, class, module or object `x` is of."""
    name = x.__name__ if isinstance(x, types.ModuleType) else getattr(x, "__module__", None)
    return name.partition(".")[0] if type(name) is str else ""


class _Memory:
    """What was looked at in one top-level call: it does not refer to that, which would then be a cycle, and
    let objects of the program live until the garbage collector comes."""

    def __init__(self) -> None:
        self.without: dict[int, Any] = {}
        """By address, what leads to no memory."""
        self.named: dict[int, tuple[Any, _Names]] = {}
        """By address, functions and classes that may be gone after the call, and what their names lead to."""
        self.with_memory: dict[int, Any] = {}
        """By address, what led to some."""
        self.notes: dict[tuple[int, ...], Noted] = {}
        """By the addresses of a function and of classes, what was noted last."""
        self.patches = 0
        """How many attributes of modules and classes had been set when it was looked."""

    def finds_active(self, context: Context, function: Any, args: Iterable[Any]) -> bool:
        return any(_depends(context, x) for x in self.found(context, function, args))

    def finds_any(self, context: Context, function: Any) -> bool:
        return id(function) in self.with_memory or next(self.found(context, function, ()), None) is not None

    def noted(self, context: Context, function: Any, args: Iterable[Any]) -> Noted | None:
        """What stands in the memory that is found, noted anew unless all is as it was."""
        given = [x if isinstance(x, type) else type(x) for x in args if type(x) not in _NOTHING]
        starts = [function, *dict.fromkeys(cls for cls in given if is_python_class(cls))]
        if all(id(x) in self.without for x in starts):
            return None
        key = tuple(map(id, starts))
        note = self.notes.get(key)
        if note is None or not note.stands():
            package = _package(function)
            led = (x for x in starts if id(x) not in self.without)
            found = {id(y): y for x in led for y in _memory_from(x, package, self.named, True)}
            note = self.notes[key] = Noted(starts, found.values())
        return note if note.content else None

    def forget(self, note: Noted) -> None:
        """Let go of what stood somewhere, and does no more."""
        self.notes = {key: other for key, other in self.notes.items() if other is not note}

    def found(self, context: Context, function: Any, args: Iterable[Any]) -> Iterator[Any]:
        """What is found from `function` and `args`."""
        patches = len(context.__dict__.get("patches", ()))
        if patches != self.patches:
            self.without, self.notes, self.patches = {}, {}, patches
        for x in (function, *args):
            if type(x) in _NOTHING or id(x) in self.without:
                continue
            found = list(_memory_from(x, _package(function), self.named))
            if not found:
                self.without[id(x)] = x
            else:
                self.with_memory[id(x)] = x
            yield from found


def _depends(context: Context, x: Any) -> bool:
    """Whether what was reached, `x`, has a derivative of which `Kept` does not tell."""
    if type(x) is types.FunctionType and x in with_active_defaults:
        return True
    shadow = context.shadows.behind(x)
    if shadow is None or shadow is NO_TANGENT or not context.is_active(shadow):
        return False
    return context.kept is None or not context.kept.tells_of(shadow)


def _memory_from(
    start: Any, package: str, own: dict[int, tuple[Any, _Names]], is_held: bool = False
) -> Iterator[Any]:
    """The containers, arrays and objects that code finds from `start`, and functions that have captured
    something.

    own: what is known of the names of functions that may be gone after the call.
    is_held: those only that strong references lead to.
    """
    pending: deque[Any] = deque([start])
    seen: set[int] = set()
    while pending and len(seen) < _OBJECTS:
        x = pending.popleft()
        cls = type(x)
        if cls in _NOTHING or id(x) in seen:
            continue
        seen.add(id(x))
        if isinstance(x, types.ModuleType):
            continue
        if cls is types.FunctionType or isinstance(x, type):
            if _is_looked_into(x, package):
                pending.extend(_named_by(x, package, own).values())
                if cls is types.FunctionType and _has_state(x):
                    yield x
        elif (parts := wrapped_by(x)) is not None:
            pending += parts
        elif cls is classmethod or cls is staticmethod:
            pending.append(x.__func__)
        elif cls is property:
            pending += (x.fget, x.fset, x.fdel)
        elif cls is weakref.ReferenceType:
            if not is_held:  # what is noted must not live for longer by that
                pending.append(x())
        elif not (cls is tuple or cls is frozenset) or x:
            yield x
            pending.extend(_within(x))


def _is_looked_into(x: Any, package: str) -> bool:
    """Whether function or class `x` is of `package`, or of the user."""
    if isinstance(x, enum.EnumMeta):
        return False  # its members are constants
    own = _package(x)
    return own == package or (own not in _KEEP_NOTHING and not _is_of_library(x))


def _is_of_library(x: Any) -> bool:
    if type(x) is types.FunctionType:
        return is_library_code(x.__code__.co_filename, x.__globals__)
    return is_library_class(x)


def _has_state(function: types.FunctionType) -> bool:
    return bool(function.__closure__ or function.__defaults__ or function.__kwdefaults__ or vars(function))


def _within(x: Any) -> Iterable[Any]:
    """What stands in a container or an object, and the class whose methods may be called."""
    if isinstance(x, dict):
        yield from dict.keys(x)
        yield from dict.values(x)
    for base in _OF_ELEMENTS:
        if isinstance(x, base):
            yield from base.__iter__(x)
    if is_python_class(type(x)):
        yield type(x)
        own = instance_dict(x)
        if own is not None:
            yield own
        yield from (value for _, value in instance_fields(x))
    elif getattr(getattr(x, "dtype", None), "kind", "") == "O" and hasattr(x, "tolist"):
        yield from x.ravel().tolist()


# -- what is found by names ----------------------------------------------------------------------------------


class _Names:
    """What names lead to from a function or class of a library: it is looked through once, and compared
    before it is used again."""

    def __init__(self, start: Any, package: str) -> None:
        self.package = package
        self.spaces: list[Mapping[str, Any]] = []
        self.keys: list[str] = []
        self.code: list[Any] = []
        """The functions, classes and modules that stand there: what else the names lead to rests on them."""
        self.places: list[tuple[Mapping[str, Any], str]] = []
        """Where else there may be memory."""
        self.functions: list[weakref.ReferenceType[types.FunctionType]] = []
        """The functions that were met, which may capture something else by the next time: not kept alive, as
        one of them is what this is kept for."""
        self.is_of_library = True
        self._follow(start)

    def _follow(self, start: Any) -> None:
        pending: deque[tuple[Any, tuple[str, ...]]] = deque([(start, ())])
        seen: set[Any] = set()
        count = 0
        while pending and count < _CODES:
            x, names = pending.popleft()
            if isinstance(x, types.ModuleType):
                if (id(x), names) not in seen and _package(x) not in _KEEP_NOTHING:
                    seen.add((id(x), names))
                    self._at(vars(x), names, pending, names)
                continue
            if id(x) in seen or not (x is start or _is_looked_into(x, self.package)):
                continue
            seen.add(id(x))
            count += 1
            if isinstance(x, type):
                for base in x.__mro__:
                    if is_python_class(base) and (base is x or _is_looked_into(base, self.package)):
                        self._at(vars(base), tuple(vars(base)), pending, names)
            else:
                if x is not start and not is_library_code(x.__code__.co_filename, x.__globals__):
                    self.is_of_library = False
                self.functions.append(weakref.ref(x))
                names = names_in(x.__code__)
                self._at(x.__globals__, names, pending, names)

    def _at(
        self,
        space: Mapping[str, Any],
        keys: tuple[str, ...],
        pending: deque[tuple[Any, tuple[str, ...]]],
        names: tuple[str, ...],
    ) -> None:
        for key in keys:
            x = space.get(key, _ABSENT)
            if x is _ABSENT or type(x) in _NOTHING or isinstance(x, enum.Enum) or key in _OF_MODULES:
                continue
            if isinstance(x, _CODE):
                self.spaces.append(space)
                self.keys.append(key)
                self.code.append(x)
                pending.append((x, names))
            else:
                self.places.append((space, key))

    def holds(self) -> bool:
        """Whether the names mean what they did."""
        return all(map(operator.is_, map(_value_at, self.spaces, self.keys), self.code))

    def values(self) -> Iterator[Any]:
        """What stands where there may be memory, and what functions have captured."""
        for reference in self.functions:
            function = reference()
            if function is None or not _has_state(function):
                continue
            yield function
            yield from function.__closure__ or ()  # a cell has the shadow of what was put there
            yield from captured(function)
            yield from function.__defaults__ or ()
            yield from (function.__kwdefaults__ or {}).values()
            if vars(function):
                yield vars(function)
        for space, key in self.places:
            yield space.get(key)


def _value_at(space: Mapping[str, Any], key: str) -> Any:
    return space.get(key)


_OF_MODULES = frozenset(
    {"__annotations__", "__builtins__", "__dict__", "__loader__", "__spec__", "__weakref__"}
)
_known: weakref.WeakKeyDictionary[Any, _Names] = weakref.WeakKeyDictionary()
"""By function or class, what its names lead to."""


def _named_by(x: Any, package: str, own: dict[int, tuple[Any, _Names]]) -> _Names:
    known = _known.get(x) or own.get(id(x), (None, None))[1]
    if known is not None and known.package == package and known.holds():
        return known
    names = _Names(x, package)
    if names.is_of_library and "<locals>" not in x.__qualname__:
        _known[x] = names
    else:
        own[id(x)] = x, names
    return names
