"""What code of a library reaches by names: it is looked through once, and compared before it is used again.

From a function or class the names in its code lead over globals, attributes of modules and classes, defaults
and closures to functions and classes of the same package and of the user, and to containers, arrays and
objects.  A package like pandas has thousands of such names.  So a look (`Reach`) notes what every name meant
and what stood in everything that it met, in lists that are compared without code of Python for each.

Looks that begin at code of libraries, and met no other, are kept from call to call.  What is no longer in
memory of the library is let go when the garbage collector looks at all there is.
"""

from __future__ import annotations

import enum
import gc
import re
import sys
import types
import weakref
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, islice
from operator import attrgetter, is_
from typing import Any

from adbc.cpython.cells import is_filled
from adbc.cpython.libraries import is_library_class, is_library_code
from adbc.cpython.names import names_in
from adbc.cpython.wrappers import wrapped_by
from adbc.tangents.contents import contents, differs
from adbc.tangents.fields import instance_dict, instance_fields, is_python_class
from adbc.tangents.standing import Standing, is_alike, same_row

__all__ = [
    "KEEP_NOTHING",
    "Reach",
    "content_of",
    "functions_beside",
    "is_large",
    "memory_in",
    "package_of",
    "reach_of",
]

_CODES = 1000
"""The most functions and classes that are looked into from one."""
_OBJECTS = 1000
"""The most objects that are looked at in memory."""
_ELEMENTS = 10_000
"""The most elements of one container that are looked at."""
_KEPT = 64
"""The most looks that are kept from call to call."""
_PART = 64
"""How many containers and objects are looked at together."""
_LARGE = 10_000
"""The most elements of what is noted."""
KEEP_NOTHING = frozenset({"matplotlib", "numpy", "scipy", *sys.stdlib_module_names}) - {
    "__main__", "sched", "weakref",
}  # fmt: skip
"""Packages that keep nothing that is given to them and read by functions that are given constants."""

NOTHING = frozenset(
    {
        str, bytes, int, float, complex, bool, types.NoneType, range, slice, types.EllipsisType,
        types.CodeType, types.NotImplementedType, types.BuiltinFunctionType, types.MethodDescriptorType,
        types.WrapperDescriptorType, types.MemberDescriptorType, types.GetSetDescriptorType,
        types.GenericAlias, types.UnionType, re.Pattern,
    }
)  # fmt: skip
_OF_ELEMENTS: tuple[Any, ...] = (list, tuple, set, frozenset, deque)
_ABSENT = object()
Content = list[tuple[Any, Any]]
"""Objects with what `contents` has found in them."""
_OF_MODULES = frozenset(
    {"__annotations__", "__builtins__", "__dict__", "__loader__", "__spec__", "__weakref__"}
)
_CALLED: Any = weakref.ReferenceType.__call__
_CLOSURE = attrgetter("cell_contents")
_DEFAULTS = attrgetter("__defaults__", "__kwdefaults__", "__code__")


def package_of(x: Any) -> str:
    """The name of the package that function, class, module or object `x` is of."""
    name = x.__name__ if issubclass(type(x), types.ModuleType) else getattr(x, "__module__", None)
    return name.partition(".")[0] if type(name) is str else ""


def reach_of(start: Any, package: str, own: dict[int, Reach]) -> Reach:
    """What `start`, a function or class, reaches as code of `package`.

    own: the looks of one call, which does not outlive it: of code that may be gone by the next.
    """
    key = id(start)
    found = own.get(key) or _kept.get(key)
    if found is not None and found.package == package and found.stands():
        return found
    _kept.pop(key, None)
    found = own[key] = Reach(start, package)
    if found.is_of_library and "<locals>" not in getattr(start, "__qualname__", "<locals>"):
        _kept[key] = found
        while len(_kept) > _KEPT:
            _kept.pop(next(iter(_kept)), None)
    return found


_kept: dict[int, Reach] = {}
"""By the address of its beginning, each look that is kept from call to call, the oldest first."""


def _drop_stale(phase: str, info: Mapping[str, int]) -> None:
    """Let go of looks that do not hold, and so of objects that libraries no longer keep."""
    if phase == "start" and info["generation"] == 2:
        for key, reach in list(_kept.items()):
            if not reach.stands():
                _kept.pop(key, None)


gc.callbacks.append(_drop_stale)


class Reach:
    """What is reached from `start`, a function or class, as code of `package`.

    found: the containers, arrays and objects, and functions that have captured something; first those, `held`
    in number, that are held by strong references.
    ids: the addresses of those that nothing else is seen through; windows: the others.
    codes: the addresses of the functions and classes that were looked into.
    """

    def __init__(self, start: Any, package: str) -> None:
        self.package = package
        self.found: list[Any] = []
        self.held = 0
        self.codes: set[int] = set()
        self.is_of_library = True
        self.functions: list[types.FunctionType] = []
        self._objects = _Bindings(dict.get)
        self._members = _Bindings(types.MappingProxyType.get, types.MappingProxyType.values)
        self._states: dict[int, Mapping[str, Any]] = {}
        """By address, the namespaces in which a name may come to stand that was none."""
        self._cells: list[types.CellType] = []
        self._references: list[weakref.ReferenceType[Any]] = []
        self._is_whole = True
        self._follow(start)
        self._noted: tuple[Content, list[tuple[Any, Any]]] | None = None
        self.is_cut = len(self.codes) == _CODES or len(self.found) == _OBJECTS
        """Whether there may be more than was looked at."""
        self._captured = [*map(_CLOSURE, self._cells)]
        self._sizes = [*map(len, self._states.values())]
        self._defaults = [*map(_DEFAULTS, self.functions)]
        self._with_defaults = [f for f in self.functions if f.__defaults__ or f.__kwdefaults__]
        self._own_defaults = [*chain.from_iterable(map(_DEFAULTS, self._with_defaults))]
        self._targets = [reference() for reference in self._references]
        content = [
            content
            for x in self.found
            if not hasattr(type(x), "dtype")
            and (content := next(contents([x], with_arrays=False), None)) is not None
            and content[0] is x
        ]
        self.parts = [_Part(content[i : i + _PART]) for i in range(0, len(content), _PART)]
        """The containers and objects with what stands there."""
        self.windows = [x for x in self.found if _is_window(x)]
        self.ids = frozenset(map(id, self.found)) - set(map(id, self.windows))

    def stands(self) -> bool:
        """Whether the names mean what they did, and the same stands in all that was met."""
        try:
            return (
                self._is_whole
                and self._objects.stand()
                and self._members.stand()
                and [*map(len, self._states.values())] == self._sizes
                and all(
                    map(is_, chain.from_iterable(map(_DEFAULTS, self._with_defaults)), self._own_defaults)
                )
                and same_row([*map(_DEFAULTS, self.functions)], self._defaults)
                and all(map(is_, map(_CLOSURE, self._cells), self._captured))
                and all(
                    reference() is x for reference, x in zip(self._references, self._targets, strict=True)
                )
                and self._still_stands()
            )
        except ValueError:  # of a cell that was emptied
            return False

    def _code_stands(self) -> bool:
        """Whether the functions have the code and the defaults that they had."""
        now = chain.from_iterable(map(_DEFAULTS, self._with_defaults))
        return all(map(is_, now, self._own_defaults)) and same_row(
            [*map(_DEFAULTS, self.functions)], self._defaults
        )

    def _still_stands(self) -> bool:
        """Whether the same stands in the containers and objects, but for numbers and texts, which are noted
        anew."""
        for i, part in enumerate(self.parts):
            if part.standing.stands():
                continue
            anew = part.now()
            if anew is None:
                return False
            self.parts[i] = anew
            self._noted = None
        return True

    def noted(self) -> tuple[Content, list[tuple[Any, Any]]]:
        """What stands in what is held by strong references, in containers and objects and in arrays, but for
        what is large; `stands` was asked just now."""
        if self._noted is None:
            held = set(map(id, self.found[: self.held]))
            content = [
                pair for part in self.parts for pair in part.content if id(pair[0]) in held
                and not is_large(pair[0])
            ]  # fmt: skip
            arrays = [x for x in self.windows if id(x) in held and not is_large(x)]
            self._noted = content, [pair for x in arrays for pair in content_of(x)]
        content, arrays = self._noted
        if any(differs(x, old) for x, old in arrays):
            arrays = [pair for x, _ in arrays for pair in content_of(x)]
            self._noted = content, arrays
        return content, arrays

    # -- the look --------------------------------------------------------------------------------------------

    def _follow(self, start: Any) -> None:
        pending: deque[tuple[Any, tuple[str, ...]]] = deque([(start, ())])
        weak: list[Any] = []
        seen: set[Any] = set()
        is_behind = False
        while pending or weak:
            if not pending:
                self.held, is_behind = len(self.found), True
                pending.extend((x, ()) for x in weak)
                weak = []
            x, names = pending.popleft()
            cls = type(x)
            key = (id(x), names) if cls is types.ModuleType else id(x)
            if cls in NOTHING or key in seen:
                continue
            seen.add(key)
            if issubclass(type(x), types.ModuleType):
                if package_of(x) not in KEEP_NOTHING:
                    self._add_state(vars(x))
                    pending.extend((y, names) for y in self._objects.look(vars(x), names))
            elif cls is types.FunctionType or issubclass(type(x), type):
                if (x is start or is_looked_into(x, self.package)) and len(self.codes) < _CODES:
                    self.codes.add(id(x))
                    pending.extend(
                        self._of_function(x, start) if cls is types.FunctionType else self._of_class(x)
                    )
            elif issubclass(cls, weakref.ReferenceType):
                self._references.append(x)
                weak.append(x())
            elif (parts := _parts(x)) is not None:
                pending.extend((y, names) for y in parts)
            elif (not (cls is tuple or cls is frozenset) or x) and len(self.found) < _OBJECTS:
                self.found.append(x)
                pending.extend((y, names) for y in _within(x))
        if not is_behind:
            self.held = len(self.found)

    def _add_state(self, space: Mapping[str, Any]) -> None:
        self._states[id(space)] = space

    def _of_function(self, x: types.FunctionType, start: Any) -> Iterator[tuple[Any, tuple[str, ...]]]:
        if x is not start and not (_is_of_library(x) or _is_written(x)):
            self.is_of_library = False
        names = names_in(x.__code__)
        for y in self._objects.look(x.__globals__, names):
            yield y, names
        self.functions.append(x)
        self._add_state(x.__globals__)
        self._add_state(vars(x))
        cells = x.__closure__ or ()
        full = [cell for cell in cells if is_filled(cell)]
        self._cells += full
        self._is_whole &= len(full) == len(cells)
        if cells or x.__defaults__ or x.__kwdefaults__ or vars(x):
            self.found.append(x)
            # A cell has the shadow of what was put there.
            for y in (
                *cells,
                *map(_CLOSURE, full),
                *(x.__defaults__ or ()),
                *(x.__kwdefaults__ or {}).values(),
            ):
                yield y, names
            if x.__kwdefaults__:
                yield x.__kwdefaults__, names
            if vars(x):
                yield vars(x), names

    def _of_class(self, x: type) -> Iterator[tuple[Any, tuple[str, ...]]]:
        for base in x.__mro__:
            if is_python_class(base) and (base is x or is_looked_into(base, self.package)):
                space = vars(base)
                self._add_state(space)
                for y in self._members.look(space, tuple(space)):
                    yield y, ()


class _Part:
    """Some of the containers and objects that are reached, with what stands there.

    They are looked at in parts, so that where something has changed not all are looked at again.
    """

    def __init__(self, content: Content) -> None:
        self.content = content
        self.standing = Standing(content, numbers_alike=True)

    def now(self) -> _Part | None:
        """What stands there now; None if something that may lead on has come or gone."""
        anew = []
        for x, old in self.content:
            if not differs(x, old):
                anew.append((x, old))
                continue
            now = next(contents([x], with_arrays=False))
            if [*_leading(now[1])] != [*_leading(old)]:
                return None
            anew.append(now)
        return _Part(anew)


class _Bindings:
    """What names mean in namespaces, which `get` looks up.

    values: if all names of the namespaces are looked at, what gives all that stands in one.
    """

    def __init__(self, get: Any, values: Any = None) -> None:
        self._get = get
        self._all_values = values
        self._whole: dict[int, Mapping[str, Any]] = {}
        self._row: list[Any] | None = None
        """What stood in all of these."""
        self._met: set[tuple[int, str]] = set()
        # What code means, and what may lead to memory.
        self._spaces_of_code: list[Mapping[str, Any]] = []
        self._keys_of_code: list[str] = []
        self._code: list[Any] = []
        self._spaces: list[Mapping[str, Any]] = []
        self._keys: list[str] = []
        self._values: list[Any] = []
        # A number, text or None that another takes the place of leads to nothing as it did.
        self._spaces_of_atoms: list[Mapping[str, Any]] = []
        self._keys_of_atoms: list[str] = []
        self._classes: list[type] = []

    def look(self, space: Mapping[str, Any], keys: Iterable[str]) -> Iterator[Any]:
        """What `keys` mean in `space`."""
        self._whole[id(space)] = space
        for key in keys:
            x = space.get(key, _ABSENT)
            if x is _ABSENT or key in _OF_MODULES:
                continue
            is_met = (id(space), key) in self._met
            if type(x) in NOTHING or issubclass(type(x), enum.Enum):
                if not is_met:
                    self._spaces_of_atoms.append(space)
                    self._keys_of_atoms.append(key)
                    self._classes.append(type(x))
            else:
                if not is_met and is_alike(x):
                    self._spaces_of_code.append(space)
                    self._keys_of_code.append(key)
                    self._code.append(x)
                elif not is_met:
                    self._spaces.append(space)
                    self._keys.append(key)
                    self._values.append(x)
                yield x
            self._met.add((id(space), key))

    def stand(self) -> bool:
        """Whether the names mean what they did."""
        get = self._get
        if not all(map(is_, map(get, self._spaces, self._keys), self._values)):
            return False
        row = None
        if self._all_values is not None:
            row = [*chain.from_iterable(map(self._all_values, self._whole.values()))]
            if self._row is not None and same_row(row, self._row):
                return True
        stands = same_row([*map(get, self._spaces_of_code, self._keys_of_code)], self._code) and all(
            map(is_, map(type, map(get, self._spaces_of_atoms, self._keys_of_atoms)), self._classes)
        )
        self._row = row if stands else None
        return stands


def is_looked_into(x: Any, package: str) -> bool:
    """Whether function or class `x` is of `package`, or of the user."""
    if issubclass(type(x), enum.EnumMeta):
        return False  # its members are constants
    own = package_of(x)
    return own == package or (own not in KEEP_NOTHING and not _is_of_library(x))


def _is_of_library(x: Any) -> bool:
    if type(x) is types.FunctionType:
        return is_library_code(x.__code__.co_filename, x.__globals__)
    return is_library_class(x)


def _is_written(x: types.FunctionType) -> bool:
    """Whether `x` was made of text in a namespace of its own that is no module's: of a class of named tuples,
    or by a library, for signatures that it knows when it is run."""
    module = x.__globals__.get("__name__")
    return module is None or (x.__name__ == "__new__" and str(module).startswith("namedtuple_"))


def _parts(x: Any) -> Sequence[Any] | None:
    """What a callable or descriptor is made of; None if `x` is something else."""
    cls = type(x)
    if cls is classmethod or cls is staticmethod:
        return (x.__func__,)
    if cls is property:
        return x.fget, x.fset, x.fdel
    return wrapped_by(x)


def functions_beside(x: Any, seen: dict[int, Any]) -> list[Any]:
    """The functions and methods in Python that are attributes of `x`, an object of a class in Python, or of
    the one that `x` is a method of, and may be called by who has it; none if that is in `seen`, to which it
    is added."""
    if type(x) is types.MethodType:
        x = x.__self__
    key = ~id(x)  # as one that may be called it has a place of its own
    if not is_python_class(type(x)) or key in seen:
        return []
    seen[key] = x
    return [f for _, f in instance_fields(x) if type(f) in (types.FunctionType, types.MethodType)]


def _within(x: Any) -> Iterator[Any]:
    """What stands in a container or an object, and the class whose methods may be called."""
    if issubclass(type(x), dict):
        yield from islice(dict.keys(x), _ELEMENTS)
        yield from islice(dict.values(x), _ELEMENTS)
    for base in _OF_ELEMENTS:
        if issubclass(type(x), base):
            yield from islice(base.__iter__(x), _ELEMENTS)
    if is_python_class(type(x)):
        yield type(x)
        own = instance_dict(x)
        if own is not None:
            yield own
        yield from (value for _, value in instance_fields(x))
    elif getattr(getattr(x, "dtype", None), "kind", "") == "O" and hasattr(x, "tolist"):
        yield from x.ravel()[:_ELEMENTS].tolist()


def memory_in(x: Any, package: str, starts: dict[int, Any], is_held: bool = False) -> Iterator[Any]:
    """The containers, arrays and objects in `x`, an argument of code of `package`; functions and classes that
    are looked into are added to `starts`.  is_held: those only that strong references lead to."""
    pending: deque[Any] = deque([x])
    seen: set[int] = set()
    while pending and len(seen) < _OBJECTS:
        x = pending.popleft()
        cls = type(x)
        if cls in NOTHING or id(x) in seen or issubclass(type(x), types.ModuleType):
            continue
        seen.add(id(x))
        if cls is types.FunctionType or issubclass(type(x), type):
            if id(x) not in starts and is_looked_into(x, package):
                starts[id(x)] = x
        elif issubclass(cls, weakref.ReferenceType):
            if not is_held:
                pending.append(x())
        elif (parts := _parts(x)) is not None:
            pending += parts
        elif not (cls is tuple or cls is frozenset) or x:
            yield x
            pending.extend(_within(x))


def content_of(x: Any) -> Content:
    """`x` with what stands in it, if it is an object in which something may stand."""
    found = next(contents([x]), None)
    return [] if found is None or found[0] is not x else [found]


def is_large(x: Any) -> bool:
    """Whether it takes long to note what stands in `x`."""
    cls = type(x)
    if issubclass(cls, list | deque | dict | set):
        return len(x) > _LARGE
    return hasattr(cls, "dtype") and bool(getattr(x, "size", 0) > _LARGE)


def _is_window(x: Any) -> bool:
    """Whether something else may be seen through `x`, as through an array."""
    return (
        type(x) in (types.MappingProxyType, memoryview, *weakref.ProxyTypes)
        or hasattr(type(x), "__array_interface__")
        or type(x).__name__ == "array"
    )


def _leading(content: Any) -> Iterator[Any]:
    """By address, what in the content of one object may lead on; where there are numbers and the like, their
    class."""
    for part in content:
        for x in part if type(part) is tuple else (part,):
            yield type(x) if type(x) in NOTHING else id(x)
