"""The memory that functions reach which a solver calls: a memo, a count of calls, a history.

A solver is called as it is, and its functions once more for the derivative, some of them several times.  So
that these find memory as the solver has found it, and its shadows in step, what the solver's calls have
written is taken back when it has ended, and so is what the slopes have needed (`Memory.put_back`).  The calls
that are differentiated write again: a value that is computed when it is first asked for, and kept, has its
derivative.  In the end there stands what the solver has left (`settle`), so that a count is that of a plain
call.

Numbers with a derivative are right if they are the same both times.  What is written anew in each call
belongs to the last step of the search, or moves with the root, whose derivative the calls do not know: it is
refused that somebody asks for that.
"""

from __future__ import annotations

import contextlib
import functools
import types
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from adbc.errors import UnsupportedError
from adbc.functions import is_function
from adbc.tangents.contents import contents, differs, elements_of, is_of_array, put_back
from adbc.tangents.fields import instance_fields, is_python_class
from adbc.tangents.protocol import kind_of

__all__ = ["Memory", "Settled", "Waiting", "leaving_memory"]

Settled = tuple[Sequence[tuple[Any, Any]], Callable[[], None], Sequence[tuple[Any, Any, UnsupportedError]]]
_ABSENT: Any = object()
_KEEP_NOTHING = frozenset({"adbc", "numpy", "scipy"})
"""Packages whose functions keep nothing in globals that a solver's function is asked for."""


def _keeps_nothing(x: Any) -> bool:
    """Whether the function or class `x` is of a package that keeps nothing in globals."""
    return (x.__module__ or "").partition(".")[0] in _KEEP_NOTHING


def _names_in(code: types.CodeType) -> set[str]:
    """The names of globals and attributes in `code`, and in the functions that are made in it."""
    names = set(code.co_names)
    for inner in code.co_consts:
        if isinstance(inner, types.CodeType):
            names |= _names_in(inner)
    return names


class _Methods:
    """The methods in Python that functions may call by the names in their code, of the objects they reach."""

    def __init__(self) -> None:
        self.names: set[str] = set()
        """What stands in the code of the functions that were met."""
        self.waiting: dict[str, list[Any]] = {}
        """By name, the methods of classes that were met, which no function has named."""
        self.classes: set[type] = {object}

    def of(self, cls: type) -> Iterator[tuple[type, str, Any]]:
        """What `cls`, which is met for the first time, has: its methods that are called by syntax or by a
        known name, and its attributes that have no effects; each with its class and name."""
        if cls in self.classes:
            return
        for base in cls.__mro__:
            if base in self.classes or not is_python_class(base) or _keeps_nothing(base):
                continue
            self.classes.add(base)
            for name, entry in vars(base).items():
                is_of_syntax = name.startswith("__") and name.endswith("__")
                methods = [*_functions_in(entry)]
                for method in methods:
                    if name in self.names or (is_of_syntax and name != "__init__"):
                        yield base, name, method
                    else:
                        self.waiting.setdefault(name, []).append(method)
                if not methods and not is_of_syntax and not hasattr(type(entry), "__get__"):
                    yield base, name, entry

    def named(self, names: set[str]) -> Iterator[Any]:
        """The methods of the classes that were met that have one of these `names`."""
        self.names |= names
        for name in names & self.waiting.keys():
            yield from self.waiting.pop(name)


def _functions_in(entry: Any) -> Iterator[Any]:
    """The functions in Python that an entry of a class calls: a method, or those of a property."""
    if is_function(entry):
        yield entry
    elif isinstance(entry, property):
        yield from (f for f in (entry.fget, entry.fset) if is_function(f))
    else:
        inner = getattr(entry, "__func__", None) or getattr(entry, "func", None)
        if is_function(inner):
            yield inner


class Memory:
    """What is reached from the functions written in Python among `given`, as it is when this is made."""

    def __init__(self, given: Iterable[Any]) -> None:
        self.variables: list[tuple[Any, str, Any]] = []
        """Cells, and the namespaces of globals with the name, each with what is there."""
        self.content: list[tuple[Any, Any]] = []
        self._functions: dict[int, Any] = {}
        """By address, the functions that were met, and what leads to functions."""
        self._methods = _Methods()
        looked_at: dict[int, Any] = {}
        pending = [x for x in given if _leads_on(x)]
        while pending:
            found = [*contents(self._reached(pending), seen=looked_at)]
            self.content += found
            pending = [m for x, _ in found for m in self._named_by(type(x))]

    def _reached(self, given: Iterable[Any]) -> Iterator[Any]:
        """The objects that the functions among `given` lead to."""
        pending = [*given]
        while pending:
            x = pending.pop()
            if id(x) in self._functions:
                continue
            self._functions[id(x)] = x
            if isinstance(x, types.MethodType):
                pending += (x.__func__, x.__self__)
            elif isinstance(x, functools.partial):
                pending += (x.func, *x.args, *x.keywords.values())
            elif is_function(x):
                pending += self._named_in(x)
            elif isinstance(x, type):
                pending += self._named_by(x)
            elif not isinstance(x, types.ModuleType):
                yield x
                pending += self._named_by(type(x))

    def _named_in(self, f: types.FunctionType) -> Iterator[Any]:
        """What `f` has captured, and finds among the globals of the user's code, and the methods that it may
        call by their names."""
        for cell in f.__closure__ or ():
            value = getattr(cell, "cell_contents", _ABSENT)
            self.variables.append((cell, "cell_contents", value))
            yield value
        names = _names_in(f.__code__)
        yield from self._methods.named(names)
        if not _keeps_nothing(f):
            for name in names:
                value = f.__globals__.get(name, _ABSENT)
                if value is not _ABSENT and not isinstance(value, types.ModuleType):
                    self.variables.append((f.__globals__, name, value))
                    yield value

    def _named_by(self, cls: type) -> Iterator[Any]:
        """What `cls` has that functions may call or change: it is met for the first time."""
        for base, name, value in self._methods.of(cls):
            if not is_function(value):
                self.variables.append((base, name, value))
            yield value

    def changed(self) -> list[tuple[Any, Any]]:
        """The objects in which something else stands now, each with that."""
        return [(x, _content(x, old)) for x, old in self.content if differs(x, old)]

    def rebound(self) -> list[tuple[Any, str, Any]]:
        """The variables that have another value now, each with that."""
        return [
            (place, name, now)
            for place, name, old in self.variables
            if (now := _variable(place, name)) is not old
        ]

    def put_back(self) -> None:
        """Let everything stand where it stood."""
        for x, old in self.content:
            if differs(x, old):
                put_back(x, old)
        for place, name, old in self.variables:
            if _variable(place, name) is not old:
                _bind(place, name, old)


@contextlib.contextmanager
def leaving_memory(*given: Any) -> Iterator[None]:
    """What is reached from functions among `given` stands afterwards as it did: for calls that a plain run
    does not make."""
    memory = Memory(given)
    try:
        yield
    finally:
        memory.put_back()


class Waiting:
    """What a solver has left in `memory`, until its functions have been differentiated."""

    def __init__(self, solver: Any, memory: Memory) -> None:
        self.solver = getattr(solver, "__name__", "the solver")
        self.left = memory.changed()
        self.before = {id(x): old for x, old in memory.content if is_of_array(x, old)}
        self.rebound = memory.rebound()
        self.overwritten: set[tuple[int, Any]] = set()
        """By address of the object, the keys at which there are other numbers after each call."""

    def __bool__(self) -> bool:
        return bool(self.left or self.rebound)

    def numbers(self) -> dict[tuple[int, Any], Any]:
        """What has a derivative among that which stands now where the solver has left something."""
        found = {}
        for x, left in self.left:
            for key, value in _slots(x, _content(x, left)):
                if not kind_of(type(value)).inactive:
                    found[id(x), key] = value
        for place, name, _ in self.rebound:
            if not kind_of(type(value := _variable(place, name))).inactive:
                found[id(place), name] = value
        return found

    def compare(self, before: dict[tuple[int, Any], Any]) -> None:
        """Note which numbers are others than `before`, the same function having been called with the same
        arguments once more."""
        now = self.numbers()
        self.overwritten.update(key for key, x in before.items() if now.get(key, _ABSENT) is not x)

    def settle(self) -> Settled:
        """Let stand what the solver has left.

        Gives the objects that are changed, each with what stood there; what puts variables back; and the
        numbers of which the derivative is not known: the object, the keys or places there, and the refusal
        that it is to ask for one.
        """
        changed, variables, lost = [], [], []
        for x, left in self.left:
            now = _content(x, left)
            where, kind = None, type(x).__name__
            if is_of_array(x, left):
                where, then = self._places(x, now, left), left
            elif isinstance(x, set | bytearray) or kind == "array":
                then = left
            else:
                settled, where = self._slots_settled(x, dict(_slots(x, now)), dict(_slots(x, left)))
                then = [*(settled.values() if isinstance(x, list | deque) else settled.items())]
            changed.append((x, now, then))
            if where is not None and len(where):
                is_field = not isinstance(x, list | deque | dict) and not is_of_array(x, left)
                lost.append(
                    (
                        x,
                        where,
                        self._refusal(f"attribute {where[0]!r} of a {kind}" if is_field else f"a {kind}"),
                    )
                )
        for place, name, left in self.rebound:
            now = _variable(place, name)
            if not self._is_there((id(place), name), now, left):
                if not all(x is _ABSENT or kind_of(type(x)).inactive for x in (left, now)):
                    raise self._refusal(f"the variable {_name_of(place, name)}")
                variables.append((place, name, now, left))
        for x, _, then in changed:
            put_back(x, then)
        for place, name, _, then in variables:
            _bind(place, name, then)

        def undo() -> None:
            for place, name, now, _ in variables:
                _bind(place, name, now)

        return [(x, now) for x, now, _ in changed], undo, lost

    def _places(self, x: Any, now: Any, left: Any) -> Any:
        """Where the solver has written into the array `x`, or the calls that are differentiated have."""
        before = self.before[id(x)]
        if not now.shape == left.shape == before.shape or left.dtype.hasobject:
            raise self._refusal(f"an array of shape {left.shape}")
        moved = _unlike(left, before) | _unlike(left, now)
        return moved.nonzero() if moved.any() else None

    def _slots_settled(
        self, x: Any, now: dict[Any, Any], left: dict[Any, Any]
    ) -> tuple[dict[Any, Any], list[Any]]:
        """What is to stand in the slots of `x`, where the solver has `left` this and those calls this; and
        the keys of numbers whose derivative is not known."""
        settled, lost = {}, []
        for key, was in left.items():
            found = now.get(key, _ABSENT)
            is_there = self._is_there((id(x), key), found, was)
            settled[key] = found if is_there else was
            if not is_there and not kind_of(type(was)).inactive:
                lost.append(key)
        return settled, lost

    def _is_there(self, at: tuple[int, Any], now: Any, left: Any) -> bool:
        return now is left or (at not in self.overwritten and _are_same(now, left))

    def _refusal(self, where: str) -> UnsupportedError:
        return UnsupportedError(
            f"a function that {self.solver} calls keeps numbers in {where}",
            "they belong to a step of the search, and their derivative is not known",
            "compute what is needed later at the result of the solver, and let the function keep nothing but"
            " what does not depend on where it is called",
        )


def _unlike(a: Any, b: Any) -> Any:
    """Where two arrays of one shape hold different numbers; a NaN is itself."""
    return ~((a == b) | ((a != a) & (b != b)))


def _leads_on(x: Any) -> bool:
    """Whether the value `x`, which a solver is given, may be called by it and written in Python."""
    if isinstance(x, types.FunctionType | types.MethodType | functools.partial):
        return True
    calls = getattr(type(x), "__call__", None)  # noqa: B004  # what it is is asked, not whether there is one
    return is_function(calls)


def _content(x: Any, like: Any) -> Any:
    """What stands in `x`, in the form of `like`, which `contents` has found there."""
    if is_of_array(x, like):
        return next(found for y, found in contents([x]) if y is x and is_of_array(x, found))
    if isinstance(x, list | deque):
        return elements_of(x)
    if isinstance(x, dict):
        return [*dict.items(x)]
    if isinstance(x, set):
        return set(set.__iter__(x))
    if isinstance(x, bytearray) or type(x).__name__ == "array":
        return x[:]
    return instance_fields(x)


def _slots(x: Any, content: Any) -> Iterable[tuple[Any, Any]]:
    """The keys and values in the `content` of object `x`; none if that has no slots."""
    if is_of_array(x, content):
        return ()
    if isinstance(x, list | deque):
        return enumerate(content)
    if isinstance(x, set | bytearray) or type(x).__name__ == "array":
        return ()
    return [*content]


def _are_same(a: Any, b: Any) -> bool:
    """Whether `a` and `b` are numbers, arrays, or tuples, lists and dicts of such, that are the same."""
    if type(a) is not type(b):
        return False
    if isinstance(a, tuple | list):
        return len(a) == len(b) and all(map(_are_same, a, b))
    if isinstance(a, dict):
        return [*a] == [*b] and all(map(_are_same, a.values(), b.values()))
    if hasattr(type(a), "__array_interface__") and hasattr(a, "tobytes"):
        return bool(a.shape == b.shape and a.dtype == b.dtype and a.tobytes() == b.tobytes())
    return isinstance(a, float | complex | int | str) and bool(a == b)


def _name_of(place: Any, name: str) -> str:
    return name if isinstance(place, dict) else "of an outer function"


def _variable(place: Any, name: str) -> Any:
    if isinstance(place, dict):
        return place.get(name, _ABSENT)
    return getattr(place, name, _ABSENT)  # a cell that is empty has no contents


def _bind(place: Any, name: str, value: Any) -> None:
    if isinstance(place, dict):
        if value is _ABSENT:
            del place[name]
        else:
            place[name] = value
    elif value is _ABSENT:
        delattr(place, name)
    else:
        setattr(place, name, value)
