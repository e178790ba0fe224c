"""What was derived goes when the functions it was derived from have gone.

Rules lead to the functions that they differentiate: by their globals, by facts, by constants of their code.
So no weak reference would ever see such a function die, and the garbage collector is no help either, since it
does not look into code objects.  Here is what it would do: of everything that is reached from the caches of
an engine, references from inside are counted.  What has more references than these is held by somebody else,
and keeps what it leads to.  An entry of a cache stays if the code, classes and namespaces that it is about
stay.

A mistake costs time, not derivatives: a rule that is missing is built again.  Code that is found under its
name in a module is held without being counted.
"""

from __future__ import annotations

import gc
import itertools
import sys
import time
import types
from collections.abc import Iterable, Iterator, MutableMapping
from typing import Any

from adbc.config import FOLDER
from adbc.flags import HEAP_TYPE
from adbc.runtime.build.derived import Derived
from adbc.types import AbstractType

__all__ = ["Pace", "forget_the_dead", "may_go", "shed"]

_SHARE = 0.05
"""The share of the time that looking for the dead may take."""

_MOST = 500_000
"""How many objects are looked at at most; where there are more, everything stays."""

_ATOMS = frozenset(
    {
        int, float, complex, bool, str, bytes, bytearray, type(None), type(...), type(NotImplemented), range,
        types.ModuleType, types.BuiltinFunctionType, types.WrapperDescriptorType, types.MethodDescriptorType,
        types.ClassMethodDescriptorType,
    }
)  # fmt: skip
"""Classes of what leads to no code, or belongs to others for good."""

Cache = MutableMapping[Any, Any] | set[Any]


class Pace:
    """When what was derived is looked through: around every full collection that a program asks for, and
    around those that begin by themselves as long as that takes little of the time.
    """

    def __init__(self) -> None:
        self.is_looking = False
        self._due = 0.0
        self._began = 0.0

    def begin(self) -> bool:
        """Whether to look, around the full collection that is about to begin."""
        self._began = time.perf_counter()
        begins_by_itself = gc.get_count()[0] > gc.get_threshold()[0]
        self.is_looking = self._began >= self._due or not begins_by_itself
        return self.is_looking

    def end(self) -> None:
        """The look is over."""
        now = time.perf_counter()
        self._due = now + (now - self._began) / _SHARE


class _Modules:
    """The namespaces of modules, and what stands in them under its own name."""

    def __init__(self) -> None:
        modules = [m for m in list(sys.modules.values()) if isinstance(m, types.ModuleType)]
        self.namespaces = {id(vars(m)): vars(m) for m in modules}
        self._known: dict[tuple[int, int], bool] = {}

    def has_code(self, code: types.CodeType, namespace: dict[str, Any]) -> bool:
        """Whether the function with this code, or the one around it, stands in `namespace`, a module's."""
        key = id(code), id(namespace)
        known = self._known.get(key)
        if known is None:
            known = self._known[key] = _has_code(namespace, code)
        return known

    def has_class(self, cls: type) -> bool:
        """Whether class `cls` stands in its module."""
        module = sys.modules.get(cls.__module__)
        return module is not None and _member(vars(module), cls.__qualname__) is cls


def may_go(function: Any) -> bool:
    """Whether `function` may go before the program ends: it does not stand in a module under its name."""
    code, namespace = function.__code__, function.__globals__
    if type(code) is not types.CodeType:
        return False
    module = sys.modules.get(namespace.get("__name__", ""))
    if module is None or vars(module) is not namespace:
        return True
    return not _has_code(namespace, code) and _function(_member(namespace, function.__qualname__)) is not code


def _has_code(namespace: dict[str, Any], code: types.CodeType) -> bool:
    """Whether the function with this code, or the one around it, stands in `namespace` under its name."""
    if code.co_filename.startswith(FOLDER):
        return True  # a row of a table of rules, for example
    outer, *inner = code.co_qualname.split(".<locals>.")
    found = _function(_member(namespace, outer))
    codes = [found] if found is not None else []
    for _ in inner:
        codes = [c for known in codes for c in known.co_consts if type(c) is types.CodeType]
    return any(c is code for c in codes)


def _member(namespace: dict[str, Any], path: str) -> Any:
    """What a path of names, of classes and their members, leads to; no code of the user's is run."""
    name, *rest = path.split(".")
    found = namespace.get(name)
    for part in rest:
        found = type.__dict__["__dict__"].__get__(found).get(part) if isinstance(found, type) else None
    return found


def _function(found: Any) -> types.CodeType | None:
    """The code of a function, also of one that a decorator of Python's or `functools.wraps` has wrapped."""
    for _ in range(_DEEPEST):
        if type(found) is types.FunctionType:
            wrapped = found.__dict__.get("__wrapped__")
            if wrapped is None:
                return found.__code__
            found = wrapped
        elif type(found) in (staticmethod, classmethod):
            found = found.__func__
        elif type(found) is property:
            found = found.fget
        else:
            return None
    return None


_DEEPEST = 8
"""Through how many decorators a function is looked for."""


def _mortals(key: Any) -> Iterator[Any]:
    """What an entry with this key is about: code, functions, classes and, behind code, the address of a
    namespace."""
    pending = [key]
    while pending:
        x = pending.pop()
        if type(x) is tuple:
            pending.extend(x)
            for before, after in itertools.pairwise(x):
                if type(after) is int and _is_code(before):
                    yield _Address(after)
        elif isinstance(x, AbstractType):
            fields = [part for part in gc.get_referents(x) if part is not type(x)]
            for part in fields:
                pending.extend(part.values() if type(part) is dict and len(fields) == 1 else [part])
        elif isinstance(x, types.FunctionType | type) or _is_code(x):
            yield x


def _is_code(x: Any) -> bool:
    """Whether `x` is a code object, or what stands for one where a function is given by a graph."""
    return isinstance(x, types.CodeType) or hasattr(x, "co_qualname")


class _Address(int):
    """The address of a namespace."""


class _Census:
    """The objects that are reached from some entries of caches, and which of them others hold."""

    def __init__(self, caches: Iterable[Cache], anchors: Iterable[Any]) -> None:
        self.modules = _Modules()
        self.anchors = {id(x) for x in anchors} | self.modules.namespaces.keys()
        self.visited: dict[int, Any] = {}
        self.inside: dict[int, int] = {}
        """How many references come from visited objects and suspect entries."""
        self.entries: list[tuple[Cache, Any, list[int]]] = []
        """The suspect entries: those about something that no module has, with the addresses of that."""
        for cache in caches:
            for key in list(cache):
                value = cache.get(key) if isinstance(cache, MutableMapping) else None
                suspects = self.suspects(key, value)
                if suspects:
                    self.entries.append((cache, key, suspects))
                    self.inside[id(key)] = self.inside.get(id(key), 0) + 1  # from this list

    def suspects(self, key: Any, value: Any) -> list[int]:
        """The addresses of what an entry is about and no module has."""
        about = list(_mortals(key))
        if isinstance(value, Derived):
            about += [value.code, _Address(id(value.globals))]
        elif type(key) is int and type(value) is tuple:  # an inline cache, by the address of code
            about += [value[0], _Address(id(value[1]))]
        elif type(key) is int and type(value) is list:  # the ways into a function, likewise
            about += [x for way in value for x in (way.code, _Address(id(way.namespace)))]
        spaces = self.modules.namespaces
        namespaces = [spaces[x] for x in about if type(x) is _Address and x in spaces]
        found = []
        for x in about:
            if type(x) is _Address:
                if x not in spaces:
                    found.append(int(x))
            elif type(x) is types.CodeType:
                if not any(self.modules.has_code(x, namespace) for namespace in namespaces):
                    found.append(id(x))
            elif not self._is_permanent(x):
                found.append(id(x))
        return found

    def _is_permanent(self, x: Any) -> bool:
        """Whether `x` leads to no code, or is held by a module or the engine itself."""
        cls = type(x)
        if cls in _ATOMS or id(x) in self.anchors:
            return True
        if issubclass(cls, type):  # `isinstance` asks a proxy, which may be of something that is gone
            return not x.__flags__ & HEAP_TYPE or self.modules.has_class(x)
        if cls is types.FunctionType:
            namespace = self.modules.namespaces.get(id(x.__globals__))
            return namespace is not None and _member(namespace, x.__qualname__) is x
        return False

    def run(self) -> bool:
        """Visit everything; False if that is too much."""
        pending: list[Any] = []
        for cache, key, _ in self.entries:
            pending.append(key)
            if isinstance(cache, MutableMapping):
                pending.append(cache.get(key))
        inside, visited = self.inside, self.visited
        while pending:
            x = pending.pop()
            if self._is_permanent(x):
                continue
            at = id(x)
            inside[at] = inside.get(at, 0) + 1
            if at in visited:
                continue
            if len(visited) >= _MOST:
                return False
            visited[at] = x
            pending.extend(_referents(x))
        return True

    def alive(self) -> set[int]:
        """The addresses of visited objects that are held from outside, or that such objects lead to."""
        (own,) = _counts({0: object()}).values()
        counts = _counts(self.visited)
        alive: set[int] = set()
        self._mark(alive, [at for at, count in counts.items() if count > self.inside[at] + own])
        waiting = self.entries
        while waiting:
            kept = [entry for entry in waiting if self.is_kept(entry, alive)]
            if not kept:
                break
            waiting = [entry for entry in waiting if not self.is_kept(entry, alive)]
            for cache, key, _ in kept:
                parts = [key, cache.get(key)] if isinstance(cache, MutableMapping) else [key]
                self._mark(alive, map(id, parts))
        return alive

    def is_kept(self, entry: tuple[Cache, Any, list[int]], alive: set[int]) -> bool:
        """Whether all that an entry is about is alive."""
        return alive.issuperset(entry[2])

    def _mark(self, alive: set[int], starts: Iterable[int]) -> None:
        pending = list(starts)
        while pending:
            at = pending.pop()
            if at in alive or at not in self.visited:
                continue
            alive.add(at)
            pending.extend(map(id, _referents(self.visited[at])))


def _referents(x: Any) -> list[Any]:
    """What `x` refers to, each reference once."""
    if type(x) is types.CodeType:
        return list(x.co_consts)  # the tuple is the code's own
    return gc.get_referents(x)


def _counts(visited: dict[int, Any]) -> dict[int, int]:
    """The counts of references to objects, those from here included."""
    return {at: sys.getrefcount(x) for at, x in visited.items()}


def shed(aids: Iterable[Cache], rules: Iterable[Derived]) -> None:
    """Drop entries of `aids`, caches of what is found out anew when it is needed, and graphs of `rules`:
    those that are not about what stands in a module.

    They refer to functions from many places, in cycles; without them, `forget_the_dead` has less to look at.
    """
    census = _Census((), ())
    for cache in aids:
        for key in list(cache):
            if census.suspects(key, cache.get(key) if isinstance(cache, MutableMapping) else None):
                _drop(cache, key)
    for rule in list(rules):
        if rule.is_built and census.suspects((rule.code, id(rule.globals)), rule):
            rule.graphs = ()


def forget_the_dead(caches: Iterable[Cache], anchors: Iterable[Any]) -> bool:
    """Drop the entries of `caches` about what nobody else holds; whether there were any.

    anchors: objects that the caches lead to and that stay.
    """
    census = _Census(caches, anchors)
    if not census.entries or not census.run():
        return False
    alive = census.alive()
    dead = [entry for entry in census.entries if not census.is_kept(entry, alive)]
    for cache, key, _ in dead:
        _drop(cache, key)
    for at, x in census.visited.items():
        if issubclass(type(x), Derived) and at not in alive:  # not `isinstance`, which asks a proxy
            x.forget()
    return bool(dead)


def _drop(cache: Cache, key: Any) -> None:
    if isinstance(cache, MutableMapping):
        cache.pop(key, None)
    else:
        cache.discard(key)
