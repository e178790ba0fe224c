"""Calls of library code that nothing with a derivative reaches: they are made as they are.

Most of a program is no mathematics: it parses, looks things up, sets up a solver on constants.  To derive
that costs time, and what a library keeps for later would be undone with the rest.  So a function or class of
the standard library or an installed package is simply called if its arguments are constants, and hold nothing
that leads to code or data of the user's: it is taken not to reach the arguments of the differentiated
function by another way.  What becomes of its arguments is undone, what it keeps for itself stays.
"""

from __future__ import annotations

import functools
import gc
import inspect
import sys
import types
import weakref
from collections import OrderedDict, defaultdict, deque
from collections.abc import Iterable, Sequence
from typing import Any

from adbc.cpython.cells import captured, captures_empty_cell
from adbc.cpython.libraries import is_library_class, is_library_code, is_library_module
from adbc.cpython.names import globals_written, imports, names_in
from adbc.cpython.wrappers import CACHED, wrapped_by
from adbc.flags import HAVE_GC
from adbc.rules.lookup import RuleTable
from adbc.runtime.calls.classes import lookup
from adbc.runtime.calls.library_memory import finds_active
from adbc.runtime.calls.unfollowed import is_about_text, runs_as_it_is
from adbc.runtime.state.closures import with_active_defaults
from adbc.runtime.state.context import Context
from adbc.tangents import NO_FDATA, NO_TANGENT
from adbc.tangents.fields import has_attributes_beside, instance_dict, instance_fields, is_python_class

__all__ = [
    "has_fields_in_c",
    "is_of_library",
    "is_plain",
    "leads_nowhere",
    "made_in_c",
    "reaches_out",
    "reads_lists",
]

_PATCHING = frozenset(
    {
        ("_pytest.monkeypatch", "MonkeyPatch"), ("unittest.mock", "_patch"), ("unittest.mock", "_patch_dict"),
        ("weakref", "finalize"),
    }
)  # fmt: skip
"""Classes whose methods set attributes and put them back later: were one of these followed and the other run
as it is, only one would be undone.  And those that call what they were given by way of a table."""
_CHANGE_AND_RAISE = frozenset({"WeakKeyDictionary.popitem", "WeakValueDictionary.popitem"})
"""Functions of `weakref` that change their object before they raise, which is then expected: what a call as
it is has done could not be put back."""
_SUSPENDED = inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR
_IN_C = frozenset(
    {
        types.BuiltinFunctionType, types.MethodWrapperType, types.WrapperDescriptorType,
        types.MethodDescriptorType, types.ClassMethodDescriptorType, functools.partial,
    }
)  # fmt: skip


def is_plain(
    context: Context,
    table: RuleTable,
    function: Any,
    shadow: Any,
    args: Sequence[Any],
    shadows: Sequence[Any],
    inside: list[Any] | None = None,
) -> bool:
    """Whether `function` is library code without a rule, and its call on these arguments, with shadows or
    tangents beside all, is made as it is.

    inside: a list to which objects made in C are added that are reached from the arguments, and of which the
    garbage collector alone knows what they refer to.
    """
    given = (shadow, *shadows)
    for f in given:  # seen at once: most calls of what is followed are given a number
        if f is NO_FDATA:
            return False
    if not _is_candidate(function, table):
        return False
    if "large" in vars(context) and any(id(_owner(x)) in context.large for x in (function, *args)):
        return False
    for x, f in zip((function, *args), given, strict=True):
        if f is not None and f is not NO_TANGENT and context.depends(x, f):
            return False
    texts = context.texts
    if texts is not None and (texts.is_in_files or texts.reached((function, *args)) is not None):
        return False
    if not _Search(context, [] if inside is None else inside).leads_nowhere([function, *args]):
        return False
    if context.kept is not None and not context.kept.is_constant():
        return False
    return not finds_active(context, function, args)


def is_active_key(context: Context, key: Any) -> bool:
    """Whether `key`, of a dict or in a set, which has no shadow for it, is or has in it an object with a
    derivative."""
    pending = [key]
    while pending:
        x = pending.pop()
        if type(x) in (tuple, frozenset):
            pending.extend(x)
        elif type(x) not in _ATOMS:
            found = context.shadows.lookup(x)
            if found is not None and found is not NO_TANGENT and context.is_active(found):
                return True
    return False


def is_of_library(owner: Any) -> bool:
    """Whether `owner` is a module, class or function of a library."""
    if issubclass(type(owner), types.ModuleType):
        return is_library_module(owner)
    if type(owner) is types.FunctionType:
        return is_library_code(owner.__code__.co_filename, owner.__globals__)
    return issubclass(type(owner), type) and _is_library(owner)


def leads_nowhere(function: Any) -> bool:
    """Whether `function`, given values, reaches nothing that it could have a derivative by."""
    return _Search(None, []).leads_nowhere([function])


def made_in_c(value: Any) -> list[Any]:
    """The objects made in C, of those that `is_plain` finds `inside`, that are reached from `value`."""
    found: list[Any] = []
    if type(value) not in _ATOMS:
        _Search(None, found).leads_nowhere([value])
    return found


def _is_candidate(function: Any, table: RuleTable) -> bool:
    """Whether what is called is library code without a rule, which may be run as it is."""
    cls = type(function)
    if cls is types.FunctionType:
        code = function.__code__
        return (
            not code.co_flags & _SUSPENDED
            and is_library_code(code.co_filename, function.__globals__)
            and not table.rows(function)
            and (function.__module__, function.__qualname__.partition(".")[0]) not in _PATCHING
            and (is_about_text(function) or not runs_as_it_is(function))
            and not (function.__module__ == "weakref" and function.__qualname__ in _CHANGE_AND_RAISE)
            and not _captures_memory(function)
        )
    if cls is types.MethodType:
        return type(function.__func__) is types.FunctionType and _is_candidate(function.__func__, table)
    if cls in _IN_C:
        return False
    if cls is CACHED:
        return type(getattr(function, "__wrapped__", None)) is types.FunctionType
    if issubclass(type(function), type):
        return (
            is_python_class(function)
            and not issubclass(function, BaseException)
            and _is_library(cls)
            and _is_library(function)
            and not table.rows(function)
        )
    method = lookup(cls, "__call__")
    return type(method) is types.FunctionType and _is_library(cls) and _is_candidate(method, table)


def _captures_memory(function: types.FunctionType) -> bool:
    """Whether a function, or one that it has captured, has captured an object that it may change: what
    becomes of that is not looked at."""
    pending, seen = [function], {id(function)}
    while pending:
        f = pending.pop()
        if captures_empty_cell(f):
            return True
        for content in captured(f):
            if type(content) is types.FunctionType:
                if id(content) not in seen:
                    seen.add(id(content))
                    pending.append(content)
            elif not (type(content) in _ATOMS or issubclass(type(content), type)):
                return True
    return False


def reads_lists(function: Any) -> bool:
    """Whether what is called is made in C and known to read lists that it is given, and to keep none."""
    if type(function) is types.BuiltinFunctionType:
        owner: Any = function.__self__
        name = owner.__name__ if issubclass(type(owner), types.ModuleType) else type(owner).__module__
        return name.partition(".")[0] in _READERS
    return type(function).__module__ == "numpy"


_READERS = frozenset({"numpy", "scipy", "math", "bisect", "_bisect", "statistics", "_statistics"})


# -- what is reached -----------------------------------------------------------------------------------------


_ATOMS = frozenset(
    {
        str, bytes, bytearray, int, float, complex, bool, types.NoneType, range, slice, types.EllipsisType,
        types.NotImplementedType, types.BuiltinFunctionType, types.MethodDescriptorType,
        types.WrapperDescriptorType, types.MemberDescriptorType, types.GetSetDescriptorType, types.CodeType,
    }
)  # fmt: skip
_CONTAINERS = frozenset({list, tuple, set, frozenset})
_OF_TYPES = frozenset({types.GenericAlias, types.UnionType})
"""The classes of types made of others (``list[float]``, ``int | None``), of which these are all they hold."""
_MANY = 5000
"""The most objects that are looked at: who has more is followed."""


def _owner(x: Any) -> Any:
    """The object of a method; all else is its own."""
    return x.__self__ if type(x) is types.MethodType else x


class _Search:
    """A look at what can be reached from objects.

    context: the call that knows what has a derivative; None if that is not asked.
    inside: gets the objects that `_tells_all` is asked of.
    """

    def __init__(self, context: Context | None, inside: list[Any]) -> None:
        self.context = context
        self.inside = inside

    def hides(self, x: Any) -> bool:
        """Whether object `x` hides something with a derivative."""
        return self.context is not None and self.context.is_held(x)

    def depends(self, x: Any) -> bool:
        """Whether object `x`, of which no shadow of an argument tells, is known to depend on the input."""
        return self.context is not None and self.context.depends(x, self.context.shadows.behind(x))

    def has_followed_attributes(self, function: Any) -> bool:
        """Whether code that is followed has given attributes to `function`, which has a shadow for them: that
        must get what the call writes beside them."""
        return self.context is not None and self.context.shadows.lookup(function.__dict__) is not None

    def has_active_key(self, keys: Iterable[Any]) -> bool:
        """Whether one of `keys`, of a dict or in a set, has a derivative."""
        return self.context is not None and any(is_active_key(self.context, key) for key in keys)

    def leads_nowhere(self, roots: Iterable[Any]) -> bool:
        """Whether what is reached from `roots` are values, library objects and library code, and functions of
        the user's that name nothing else."""
        left = list(roots)
        root: Any = None
        pending: list[Any] = []
        behind: list[Any] = []  # what is looked through when all else was
        is_behind = False
        seen: set[int] = set()
        while pending or left or behind:
            if not pending and left:
                pending.append(root := left.pop())
            elif not pending:
                pending, behind, is_behind = behind, [], True
            x = pending.pop()
            cls = type(x)
            if cls in _ATOMS or id(x) in seen or (cls is tuple and _ATOMS.issuperset(map(type, x))):
                continue
            seen.add(id(x))
            if len(seen) > _MANY:
                if self.context is not None:  # not to be looked through again
                    self.context.large[id(_owner(root))] = _owner(root)
                return False
            if self.hides(x) or (is_behind and self.depends(x)):
                return False
            if cls is weakref.ReferenceType:
                behind += (x(), x.__callback__)
            elif cls is types.FunctionType:
                if self.has_followed_attributes(x) or not _is_followed_to_the_end(x, pending):
                    return False
            elif (parts := wrapped_by(x)) is not None:
                pending += parts
            elif issubclass(type(x), types.ModuleType):
                if not is_library_module(x):
                    return False
            elif issubclass(type(x), type):
                if not _is_library(x):
                    return False
            else:
                within = self._held_by(x, cls, behind)
                if within is None:
                    return False
                pending.extend(within)
        return True

    def _held_by(self, x: Any, cls: type, behind: list[Any]) -> Iterable[Any] | None:
        """What a container or instance holds, as far as it is to be looked at, some of it in `behind`; None
        if that cannot be seen, or there is something with a derivative."""
        if cls in _CONTAINERS:
            if len(x) > _MANY and not set(map(type, x)) <= _ATOMS:
                return None
            within = [y for y in x if type(y) not in _ATOMS]
            return None if cls not in (list, tuple) and self.has_active_key(within) else within
        if cls is dict:
            return None if self.has_active_key(x) else [*x, *x.values()]
        if cls in _OF_TYPES:
            return gc.get_referents(x)
        if cls is types.MappingProxyType:
            behind += gc.get_referents(x)  # it has no shadow that would tell of the dictionary
            return ()
        if cls.__module__ == "numpy":
            dtype = getattr(x, "dtype", None)
            if getattr(dtype, "kind", "") == "O" and hasattr(x, "tolist"):
                return [y for y in x.ravel("K").tolist() if type(y) not in _ATOMS]
            return None if getattr(dtype, "hasobject", False) else ()
        if not _is_library(cls):
            return None
        if not all(is_python_class(base) or _shows_all(base) for base in cls.__mro__):
            if not _tells_all(cls):
                return None  # iterators, generators, frames: what is behind them cannot be seen
            self.inside.append(x)
            behind.extend(gc.get_referents(x))
            return ()
        if has_attributes_beside(cls) and self.depends(instance_dict(x)):
            return None
        within = [*_elements(x)]
        if issubclass(type(x), _HASHED) and self.has_active_key(within):
            return None
        return [*within, *(value for _, value in instance_fields(x))]


def _shows_all(cls: type) -> bool:
    """Whether instances of a class made in C keep nothing out of sight that may be the user's."""
    return cls in _WITH_FIELDS_ONLY or cls in _OF_ELEMENTS or cls.__module__.partition(".")[0] in _HARMLESS


_WITH_FIELDS_ONLY = (object, types.SimpleNamespace, int, str, bytes)
_HARMLESS = frozenset(
    {
        "numpy", "scipy", "re", "_sre", "datetime", "decimal", "_decimal", "zoneinfo", "random", "_random",
        "io", "_io", "_thread", "time", "_hashlib", "abc", "_abc", "typing", "_typing",
    }
)  # fmt: skip
"""Modules whose objects in C are given no objects of the user's to keep."""

_HASHED = (dict, set, frozenset)
_OF_ELEMENTS: tuple[Any, ...] = (dict, list, tuple, set, frozenset, deque, defaultdict, OrderedDict)


def _tells_all(cls: type) -> bool:
    """Whether instances of `cls`, a class of an installed package that is made in C, tell the garbage
    collector of all objects that they refer to; iterators, which are used up, do not count."""
    return lookup(cls, "__next__") is None and all(
        is_python_class(base) or _shows_all(base) or _tells(base) for base in cls.__mro__
    )


def has_fields_in_c(cls: type) -> bool:
    """Whether instances of `cls`, which derives from a class of an installed package that is made in C, tell
    the garbage collector of fields that they have there."""
    return any(
        base.__flags__ & HAVE_GC
        and not is_python_class(base)
        and str(base.__module__).partition(".")[0] not in _WITHOUT_FIELDS
        for base in cls.__mro__
    )


_WITHOUT_FIELDS = sys.stdlib_module_names | {"numpy"}
"""The packages whose classes made in C have other answers."""


def _tells(cls: type) -> bool:
    """Whether instances of `cls` itself tell the garbage collector what they refer to, or refer to nothing:
    in what Cython compiles, classes with attributes that are objects do tell."""
    if str(cls.__module__).partition(".")[0] in sys.stdlib_module_names:
        return False
    return bool(cls.__flags__ & HAVE_GC) or not _BY_CYTHON.isdisjoint(vars(cls))


_BY_CYTHON = frozenset({"__reduce_cython__", "__pyx_vtable__"})
"""What classes that Cython compiles have in their dictionaries."""


def _elements(x: Any) -> Iterable[Any]:
    """The elements of an instance of a class derived from a container, read without its methods."""
    for base in _OF_ELEMENTS:
        if issubclass(type(x), base):
            found = [*dict.keys(x), *dict.values(x)] if base is dict else list(base.__iter__(x))
            return [*found, x.default_factory] if issubclass(type(x), defaultdict) else found
    return ()


def _is_followed_to_the_end(function: types.FunctionType, pending: list[Any]) -> bool:
    """Whether a function leads to nothing but what is put into `pending`: its closure, and what one of the
    user's names."""
    if function.__code__.co_flags & _SUSPENDED or function in with_active_defaults:
        return False
    if _captures_memory(function):
        return False
    pending.extend(captured(function))
    code, namespace = function.__code__, function.__globals__
    if is_library_code(code.co_filename, namespace):
        return True
    if reaches_out(code):
        return False
    pending.extend(function.__defaults__ or ())
    pending.extend((function.__kwdefaults__ or {}).values())
    for name in names_in(code):
        if name in namespace:
            value = namespace[name]
            if type(value) in (list, dict, set) or hasattr(type(value), "__array_interface__"):
                return False  # data of the user's, which may change
            pending.append(value)
    return True


@functools.lru_cache(1000)
def reaches_out(code: types.CodeType, is_library: bool = False) -> bool:
    """Whether `code`, or code in it, binds globals, or finds things by other ways than its names.

    is_library: it is code of a library, which imports modules of libraries, by their names, and no others.
    """
    if globals_written(code) or not _WAYS.isdisjoint(names_in(code)):
        return True
    return not is_library and imports(code)


_WAYS = frozenset(
    {
        "globals", "locals", "vars", "eval", "exec", "__import__", "import_module", "modules", "_getframe",
        "currentframe", "stack", "get_objects", "get_referrers", "__globals__", "__dict__",
    }
)  # fmt: skip
"""Names by which code finds what it does not name."""


def _is_library(cls: Any) -> bool:
    known = _libraries.get(cls)
    if known is None:
        known = _libraries[cls] = is_library_class(cls)
    return known


_libraries: weakref.WeakKeyDictionary[Any, bool] = weakref.WeakKeyDictionary()
"""By class, what `is_library_class` says of it."""
