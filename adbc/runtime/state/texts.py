"""The memory of a call for text that was made from numbers with a derivative.

A number that is written out and read again comes back as a constant, so what reads numbers must know
whether a text was made from a number with a derivative.  Text has no shadow: nearly all text is printed or
used as a key, and to carry something beside it would cost where nothing is ever read from it.  What is
remembered is the object, by its address, so that it is known again wherever it is kept: in a list, an
attribute, an exception, a closure.  What is made of it (a part of it, a text that contains it, a stream that
it was written to) is remembered when it is made.  A text with the same digits from elsewhere is another
object.

What nobody else holds is forgotten, so that a loop that prints does not fill the memory: that is looked at
when the number of objects has doubled.
"""

from __future__ import annotations

import collections
import contextvars
import functools
import gc
import io
import os
import re
import stat
import sys
import types
from collections.abc import Iterable, Iterator
from typing import Any

from adbc.cpython.cells import captured
from adbc.cpython.libraries import is_library_class, is_library_code
from adbc.tangents.fields import arguments, instance_dict, instance_fields, is_python_class

__all__ = ["Texts", "behind", "is_told", "keeps_unseen"]

_FINDER: type = type(re.finditer("", ""))
_NESTING = (list, tuple, set, frozenset, collections.deque)
_AT_LEAST = 256
"""The number of objects below which none is forgotten."""


class Texts:
    """The objects of one call that hold text made from numbers with a derivative."""

    def __init__(self) -> None:
        self._known: dict[int, tuple[Any, bool]] = {}
        """By address, the object, and whether it is as it was made from a number."""
        self._limit = _AT_LEAST
        self._digits: set[str] = set()
        """Single characters that were taken from text.  The interpreter has one object for each, so these
        are known by what they are."""
        self._files: set[tuple[int, int]] = set()
        """Device and number of the files that text was written to."""
        self._outlets: dict[int, Any] = {}
        """By address, the streams made in C that have been `written` to."""
        self._names: set[str] = set()
        """Names in the file system that are such text: who lists a directory is given them as new texts."""
        self.is_certain = False
        """Whether some text was made of numbers with a derivative to which nothing comes back from there."""
        self.nan: float | None = None
        """What comes back to the others, once a number was read from such text."""
        self.is_read_back = False
        """Whether something was made of what such text was written to: until then, what was only written out
        is in no text that the program has."""

    # -- what is known -------------------------------------------------------------------------------------

    @property
    def is_in_files(self) -> bool:
        """Whether some of it was written to a file, or names one."""
        return bool(self._files or self._names)

    @property
    def is_in_names(self) -> bool:
        """Whether some of it is a name in the file system."""
        return bool(self._names)

    def is_named(self, x: str | bytes) -> bool:
        """Whether `x`, which was asked of the file system, has such a name in it."""
        said = os.fsdecode(x)
        return any(name in said for name in self._names)

    def holds(self, x: Any) -> bool:
        """Whether `x` itself, a text or something that text was written to, was made from a number."""
        return id(x) in self._known or (type(x) is str and x in self._digits)

    def is_whole(self, x: Any) -> bool:
        """Whether `x` is a text just as it was made from a number, no part of one and not put together."""
        found = self._known.get(id(x))
        return found is not None and found[1]

    def reached(self, roots: Iterable[Any]) -> Any:
        """Something among `roots`, or within what stands there, that holds such text; None if there is
        nothing."""
        pending = list(roots)
        seen: dict[int, Any] = {}  # held, so that no address is used again
        while pending:
            x = pending.pop()
            if self.holds(x) or self._is_written(x):
                return x
            if id(x) not in seen:
                parts = _parts(x)
                if parts:
                    seen[id(x)] = x
                    pending.extend(parts)
        return None

    def is_free(self, x: Any) -> bool:
        """Whether nothing in `x` holds such text: what `reached` finds, quickly for plain values."""
        if type(x) is re.Match:
            x = x.string
        if type(x) is _FINDER:  # what it goes through cannot be asked for: it was remembered itself
            return id(x) not in self._known
        if type(x) in _PLAIN and not self._files:
            return id(x) not in self._known and not (type(x) is str and x in self._digits)
        return self.reached((x,)) is None

    def _is_written(self, x: Any) -> bool:
        """Whether `x` is a file that such text was written to by another object, or the path of one."""
        if not self._files:
            return False
        return (
            _path(x) if issubclass(type(x), _PATHS) else _file(x) if _is_stream(x) else None
        ) in self._files

    # -- what is remembered --------------------------------------------------------------------------------

    def made(self, x: Any) -> None:
        """Remember `x`, a text that was made from a number.  One character says no more than a rounding
        would."""
        if len(x) > 1:
            self._remember(x, True)

    def taken(self, x: str | bytes | bytearray) -> None:
        """Remember `x`, a text that was made of such text."""
        if len(x) > 1:
            if id(x) not in self._known:
                self._remember(x, False)
        elif type(x) is str and x.isdigit():
            self._digits.add(x)

    def note_source(self, source: Any) -> None:
        """Take note that something is made of `source`, which holds such text."""
        if not (issubclass(type(source), (str, bytes, bytearray)) and self.holds(source)):
            self.is_read_back = True

    def kept(self, x: Any) -> None:
        """Remember `x`, an object that says such text."""
        self._remember(x, False)

    def spelt(self, x: str) -> None:
        """Remember the characters of `x`, which is gone through one by one."""
        self._digits.update(c for c in x if c.isdigit())

    def written(self, x: Any) -> None:
        """Remember `x`, which may give back the text that it was given, and what stands behind it."""
        if type(x) in _STREAMS:  # what stands behind one of these is always the same
            if self._outlets.get(id(x)) is x:
                return
            self._outlets[id(x)] = x
        for each in behind(x):
            if keeps_unseen(each):
                self._remember(each, False)
                if _is_stream(each) and (file := _file(each)) is not None:
                    self._files.add(file)

    def written_at(self, path: Any) -> None:
        """Remember the file at `path`, to which text was written that was made from a number."""
        if (file := _path(path)) is not None:
            self._files.add(file)

    def named(self, path: Any) -> None:
        """Remember the names in `path`, at which there is something now."""
        names = re.split(r"[/\\]", os.fsdecode(path))
        self._names.update(name for name in names if len(name) > 1 and re.search(r"\d", name))

    def _remember(self, x: Any, is_whole: bool) -> None:
        self._known[id(x)] = x, is_whole
        if len(self._known) > self._limit:
            alone = _references((object(), True))
            self._known = {at: entry for at, entry in self._known.items() if _references(entry) > alone}
            self._limit = max(_AT_LEAST, 2 * len(self._known))


def _references(entry: tuple[Any, bool]) -> int:
    return sys.getrefcount(entry[0])


def _parts(x: Any) -> Iterable[Any]:
    """What C code that is given `x` finds in it."""
    cls = type(x)
    if cls in _PLAIN:
        return ()
    if issubclass(cls, dict):
        return (*dict.keys(x), *dict.values(x))
    if issubclass(cls, _NESTING):
        # C code may have a list with places that are empty, which Python code cannot go through.
        return gc.get_referents(x) if cls in _NESTING else _contained(x)
    if cls is types.FunctionType:
        return (*captured(x), *(x.__defaults__ or ()), *(x.__kwdefaults__ or {}).values())
    if cls is types.MethodType or issubclass(cls, (types.BuiltinMethodType, types.MethodWrapperType)):
        return (x.__self__,)
    if cls is functools.partial:
        return (x.func, *x.args, *x.keywords.values())
    if issubclass(cls, BaseException):
        return (*arguments(x), *(value for _, value in instance_fields(x)))
    if cls in _OF_CONTEXTS:
        return _of_context(x)
    if keeps_unseen(x):
        return _referents(x)
    return tuple(value for _, value in instance_fields(x)) if is_python_class(cls) else ()


_OF_CONTEXTS = (contextvars.Token, contextvars.ContextVar, contextvars.Context)


def _of_context(x: Any) -> Iterable[Any]:
    """What Python code can ask a variable of a context, its token or a copy of the context for.  They refer
    to all other variables, too: to whatever each library of the process keeps there, this one among them."""
    if type(x) is contextvars.Context:
        return tuple(value for value in x.values() if not _is_ours(value))
    if type(x) is contextvars.Token:
        return x.var, x.old_value
    value = x.get(None)
    return () if _is_ours(value) else (value,)


def _is_ours(x: Any) -> bool:
    return str(type(x).__module__).partition(".")[0] == "adbc"


def _referents(x: Any) -> list[Any]:
    """What `x`, an object made in C, refers to, which may be all that it does with text."""
    found: list[Any] = []
    for y in gc.get_referents(x):
        found.extend(y.values() if type(y) is dict else (y,))
    return found


def behind(x: Any) -> Iterator[Any]:
    """`x`, and what it leads to if it is made in C: the stream behind a stream, a function that it calls, and
    the attributes of objects of Python that it hands text to."""
    pending = [x]
    seen: dict[int, Any] = {}  # held, so that no address is used again
    while pending:
        x = pending.pop()
        if id(x) in seen:
            continue
        seen[id(x)] = x
        yield x
        if issubclass(type(x), (types.BuiltinMethodType, types.MethodType)):
            pending.append(x.__self__)
        elif keeps_unseen(x):
            pending.extend(_referents(x))
        elif is_python_class(type(x)) and is_library_class(type(x)):
            pending.extend(value for _, value in instance_fields(x))


def is_told(x: Any) -> bool:
    """Whether `x`, which an object made in C refers to, is code that sees the text that this is given."""
    if issubclass(type(x), types.MethodType):
        return type(x.__func__) is types.FunctionType
    if issubclass(type(x), types.BuiltinMethodType):  # what is looked up in a table is not what the text says
        return issubclass(type(x.__self__), (*_NESTING, dict)) and x.__name__ not in _LOOKING_UP
    return type(x) is types.FunctionType and not is_library_code(x.__code__.co_filename, x.__globals__)


_LOOKING_UP = frozenset({"__contains__", "__getitem__", "count", "get", "index"})
"""Methods of containers that keep nothing of what they are given."""


def _contained(x: Any) -> Iterable[Any]:
    """The elements and attributes of an instance of a class derived from a container, past what the class
    says of its elements."""
    base: Any = next(base for base in type(x).__mro__ if base in _NESTING)
    return (*base.__iter__(x), *instance_dict(x).values())


_PLAIN: frozenset[type] = frozenset(
    {int, float, complex, bool, str, bytes, bytearray, types.NoneType, type, types.ModuleType, range, slice}
)
"""Classes without parts, and those that are the same for all calls."""

_KEEPS_NOTHING: tuple[type, ...] = (
    *_PLAIN, *_NESTING, dict, type, re.Pattern, types.FunctionType, types.MethodType, types.CodeType,
    types.BuiltinFunctionType, types.MethodDescriptorType, types.WrapperDescriptorType,
    types.GetSetDescriptorType, types.CellType, functools.partial, BaseException, types.TracebackType,
    types.FrameType,
)  # fmt: skip
"""Classes whose instances can be looked into, or remember nothing."""
_OF_SYSTEM = frozenset({"_thread", "_struct", "_operator", "datetime", "time", "decimal", "weakref"})
"""Modules whose objects are given no text to keep."""


def keeps_unseen(x: Any) -> bool:
    """Whether C code may have put text into `x` so that it is not found by looking into it."""
    cls = type(x)
    if issubclass(cls, bytearray):
        return True
    own = cls
    if is_python_class(cls):  # a class of Python may be derived from one that is made in C
        cls = next(base for base in cls.__mro__ if not is_python_class(base))
    if cls is object or issubclass(own, _KEEPS_NOTHING) or cls.__module__ in _OF_SYSTEM:
        return False
    return not hasattr(cls, "dtype")


def _is_stream(x: Any) -> bool:
    return any(base.__module__ in ("_io", "io") for base in type(x).__mro__)


_STREAMS = frozenset(
    {io.TextIOWrapper, io.StringIO, io.BytesIO, io.BufferedWriter, io.BufferedRandom, io.FileIO}
)
_PATHS = (str, bytes, os.PathLike)


def _path(x: Any) -> tuple[int, int] | None:
    """Device and number of the regular file of which `x` is the path."""
    try:
        found = os.stat(x)
    except (OSError, ValueError):  # no file, or no path
        return None
    return (found.st_dev, found.st_ino) if stat.S_ISREG(found.st_mode) else None


def _file(x: Any) -> tuple[int, int] | None:
    """Device and number of the regular file that a stream stands for."""
    try:
        found = os.fstat(x.fileno())
    except (OSError, ValueError, AttributeError):  # no file, or closed
        return None
    return (found.st_dev, found.st_ino) if stat.S_ISREG(found.st_mode) else None
