"""What a kind of value must say about its tangents, and the table from class to kind.

A kind describes values by their *parts*: how to list them, and how to put a tangent (or a new
primal) together from the results for the parts.  Every operation is then a walk (`walk`), so that
cycles and sharing are treated in one place.  Kinds never recurse by themselves.

The table is filled in `kinds`, the one place that names all of them.  NumPy's kinds join when a
class from a loaded NumPy is first met: nothing here imports NumPy.
"""

from __future__ import annotations

import importlib
import sys
import threading
from collections.abc import Callable, Sequence
from typing import Any

from adbc.errors import InvalidTangentError, UnsupportedError
from adbc.tangents.nothing import NO_RDATA, NO_TANGENT, NoTangent

__all__ = ["INACTIVE", "KINDS", "RESOLVERS", "Inactive", "Kind", "Parts", "kind_of", "register_tangent"]

Parts = list[tuple[Any, Any]]
"""The parts of a value or of a tangent: pairs of a key and what stands there, in a fixed order."""


class Kind:
    """How the values of a class are differentiated.

    address: whether the tangent is an object with an address of its own (a shadow).
    inactive: whether the tangent is `NoTangent`.
    """

    address = False
    inactive = False

    def tangent_type(self, cls: type) -> type:
        """The class of the tangents of the active values of `cls`."""
        raise NotImplementedError

    def make(self, x: Any, walk: Any) -> Any:
        """A tangent of `x`, with the numbers that the walk chooses."""
        raise NotImplementedError

    def perturb(self, x: Any, t: Any, walk: Any) -> Any:
        """A new primal: `x` moved by tangent `t`."""
        raise NotImplementedError

    def difference(self, p: Any, q: Any, walk: Any) -> Any:
        """The tangent from primal `q` to primal `p`."""
        raise NotImplementedError

    def remember(self, x: Any, t: Any, memo: dict[Any, tuple[Any, Any]]) -> None:
        """Let `memo` say that `t` is the tangent of `x`."""
        memo[id(x)] = (x, t)

    def placed(self, x: Any, t: Any, memo: dict[Any, tuple[Any, Any]]) -> Any:
        """What tangent `t` of `x`, given from outside, says, where the tangent of `x` belongs.

        It is `t` itself but for an array that shows a part of some memory: its tangent belongs into the
        counterpart of that.
        """
        return t

    def project(self, d: Any, x: Any) -> Any:
        """Cotangent `d` projected to the tangent space of `x`, as far as that can be done without NumPy."""
        return d

    def zero_rdata(self, x: Any) -> Any:
        """The zero rdata of `x`."""
        return NO_RDATA


class Inactive(Kind):
    """Values that cannot be perturbed: they have no derivative."""

    inactive = True

    def tangent_type(self, cls: type) -> type:
        return NoTangent

    def make(self, x: Any, walk: Any) -> Any:
        return NO_TANGENT

    def perturb(self, x: Any, t: Any, walk: Any) -> Any:
        if t is not NO_TANGENT:
            raise InvalidTangentError(f"a {type(x).__name__} has no tangent, but was given {t!r}")
        return x

    def difference(self, p: Any, q: Any, walk: Any) -> Any:
        return NO_TANGENT

    def project(self, d: Any, x: Any) -> Any:
        return None


INACTIVE = Inactive()


class Refused(Kind):
    """Values that have a derivative in principle, but none here: asking for one raises
    `UnsupportedError` with these parts."""

    def __init__(self, met: str, why: str, remedy: str) -> None:
        self.parts = met, why, remedy

    def tangent_type(self, cls: type) -> type:
        raise UnsupportedError(*self.parts)

    def make(self, x: Any, walk: Any) -> Any:
        raise UnsupportedError(*self.parts)

    perturb = difference = make  # type: ignore[assignment]  # all refuse

    def project(self, d: Any, x: Any) -> Any:
        raise UnsupportedError(*self.parts)

    def zero_rdata(self, x: Any) -> Any:
        raise UnsupportedError(*self.parts)


class ValueKind(Kind):
    """Immutable values made of parts: the tangent is a value, put together again for each result."""

    def parts(self, x: Any) -> Parts:
        raise NotImplementedError

    def join(self, x: Any, parts: Parts) -> Any:
        """The tangent of `x` with these parts."""
        raise NotImplementedError

    def part(self, t: Any, key: Any) -> Any:
        """The part of tangent `t` (which is not NO_TANGENT) at `key`."""
        raise NotImplementedError

    def rebuild(self, x: Any, parts: Parts) -> Any:
        """A primal like `x` with these parts."""
        raise NotImplementedError

    def zero(self, x: Any) -> Any:
        """The tangent zero of `x` if that has names for its parts and all are floats or other atoms; else
        None.  Such values are frequent, and need not be taken apart."""
        return None

    def _part(self, t: Any, key: Any) -> Any:
        return NO_TANGENT if t is NO_TANGENT else self.part(t, key)

    def make(self, x: Any, walk: Any) -> Any:
        parts = [(k, walk(c)) for k, c in self.parts(x)]
        return NO_TANGENT if all(c is NO_TANGENT for _, c in parts) else self.join(x, parts)

    def perturb(self, x: Any, t: Any, walk: Any) -> Any:
        if t is NO_TANGENT:
            return x
        return self.rebuild(x, [(k, walk(c, self._part(t, k))) for k, c in self.parts(x)])

    def difference(self, p: Any, q: Any, walk: Any) -> Any:
        parts = [(k, walk(c, d)) for (k, c), (_, d) in zip(self.parts(p), self.parts(q), strict=True)]
        return NO_TANGENT if all(c is NO_TANGENT for _, c in parts) else self.join(p, parts)


class AddressKind(Kind):
    """Objects: the tangent is an object too, which the walk knows before the parts are visited."""

    address = True

    def parts(self, x: Any) -> Parts:
        raise NotImplementedError

    def shell(self, x: Any) -> Any:
        """A tangent of `x` that has no parts yet."""
        raise NotImplementedError

    def fill(self, t: Any, parts: Parts) -> None:
        """Give tangent `t` its parts."""
        raise NotImplementedError

    def part(self, t: Any, key: Any) -> Any:
        raise NotImplementedError

    def primal_shell(self, x: Any) -> Any:
        """A primal like `x` that has no parts yet."""
        raise NotImplementedError

    def primal_fill(self, y: Any, x: Any, parts: Parts) -> None:
        """Give primal `y`, made by `primal_shell`, its parts, and what else `x` has."""
        raise NotImplementedError

    def make(self, x: Any, walk: Any) -> Any:
        t = self.shell(x)
        walk.register(x, t)
        walk.later(lambda: self.fill(t, [(k, walk(c)) for k, c in self.parts(x)]))
        return t

    def perturb(self, x: Any, t: Any, walk: Any) -> Any:
        if t is NO_TANGENT:
            raise InvalidTangentError(f"a {type(x).__name__} has a tangent of its own, not NoTangent()")
        y = self.primal_shell(x)
        walk.register(x, y)
        walk.later(lambda: self.primal_fill(y, x, [(k, walk(c, self.part(t, k))) for k, c in self.parts(x)]))
        return y

    def difference(self, p: Any, q: Any, walk: Any) -> Any:
        t = self.shell(p)
        walk.register(p, t)
        others = dict(self.parts(q))
        walk.later(lambda: self.fill(t, [(k, walk(c, others[k])) for k, c in self.parts(p)]))
        return t


KINDS: dict[type, Kind] = {}
"""The kind of each exact class that was met."""

RESOLVERS: list[Callable[[type], Kind | None]] = []
"""The functions that are asked in turn for the kind of a class that is not in `KINDS`."""

_FOREIGN: Sequence[tuple[str, str]] = (
    ("numpy", "adbc.tangents.arrays"), ("array", "adbc.tangents.typed_arrays"),
)  # fmt: skip
_loaded: set[str] = set()
_lock = threading.RLock()


def kind_of(cls: type) -> Kind:
    """The kind of the values of exact class `cls`."""
    kind = KINDS.get(cls)
    return kind if kind is not None else _classify(cls)


def _classify(cls: type) -> Kind:
    for package, module in _FOREIGN:
        if package in _loaded or package not in sys.modules:
            continue
        if cls is memoryview or any(str(c.__module__).partition(".")[0] == package for c in cls.__mro__):
            with _lock:  # another thread must not judge the class before the tables are filled
                if package not in _loaded:
                    importlib.import_module(module).install()
                    _loaded.add(package)
            if cls in KINDS:
                return KINDS[cls]
    for resolve in RESOLVERS:
        kind = resolve(cls)
        if kind is not None:
            break
    else:
        kind = INACTIVE
    if cls is not memoryview:  # what it may show is not known before NumPy is loaded
        KINDS[cls] = kind
    return kind


def register_tangent(cls: type, kind: Kind | None) -> None:
    """Say how the instances of `cls` (exactly) are differentiated; None: they have no derivative.

    How those of a class made in C are, which hides what it holds, is not known otherwise.  A `Record` says
    what an immutable value is made of; the functions of the class need rules of their own.

    >>> import datetime, adbc
    >>> adbc.register_tangent(
    ...     datetime.timedelta,
    ...     adbc.Record(
    ...         parts=lambda t: {"seconds": t.total_seconds()},
    ...         rebuild=lambda t, parts: datetime.timedelta(**parts),
    ...     ),
    ... )
    >>> adbc.zero_tangent(datetime.timedelta(minutes=1))
    Tangent(seconds=0.0)
    >>> adbc.register_tangent(datetime.timedelta, None)
    >>> adbc.zero_tangent(datetime.timedelta(minutes=1))
    NoTangent()
    """
    if not issubclass(type(cls), type) or not (kind is None or isinstance(kind, Kind)):
        raise TypeError("register_tangent takes a class and a Kind, or None")
    KINDS[cls] = INACTIVE if kind is None else kind
