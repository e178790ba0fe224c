"""What the functions that make dynamic calls of an inner level are written with (`inner`).

A way is a function in Python, ``way(context, f, ff, xs, fs)``: its lines, and those of its pullback, name the
arguments of the call by the places that they come from.
"""

from __future__ import annotations

import abc
import functools
from typing import Any, NamedTuple

from adbc.errors import UnsupportedError
from adbc.runtime.calls import inner_defaults
from adbc.runtime.calls.binding import Default
from adbc.runtime.calls.inner_parts import elements_of, shadow_in, tangent_in
from adbc.runtime.calls.steps import Call, OfPartial, OfSelf
from adbc.runtime.state.context import Context
from adbc.tangents.protocol import kind_of
from adbc.types import AbstractType, TupleType
from adbc.types.lattice import FLOAT, is_number

__all__ = ["Kept", "Places", "Ways", "Written", "completed", "name_of", "refused", "written"]


class Ways(abc.ABC):
    """Writes down what one call needs, and what its pullback does."""

    def __init__(self, calls: Any, context: Context, mode: str, count: int) -> None:
        self.calls, self.context, self.mode, self.count = calls, context, mode, count
        self.is_forward = calls.mode == "forward"
        self.lines: list[str] = []
        self.back: list[str] = []
        """The lines of the pullback, which adds to r0, r1, ..."""
        self.is_joining = False
        """Whether an argument may be given cotangents in any order, so that each is added."""
        self._given: set[str] = set()
        self.scope: dict[str, Any] = {}
        self.result = "out", "fout"

    def name(self, value: Any) -> str:
        """The name of a constant."""
        name = f"k{len(self.scope)}"
        self.scope[name] = value
        return name

    def value(self, x: Any, origin: Any) -> str:
        """What gives an argument."""
        if type(origin) is Written:
            return str(origin.value)
        if type(origin) is OfSelf and origin.place is not None:
            return f"{self.value(None, origin.place)}.__self__"
        if type(origin) is OfPartial and origin.place is not None:
            held = f"{self.value(None, origin.place)}.{origin.part}"
            return held if origin.key is None else f"{held}[{origin.key!r}]"
        if type(origin) is int:
            return "f" if origin == 0 else "obj" if origin < 0 else f"xs[{origin - 1}]"
        return self.name(x)

    def shadow(self, x: Any, shadow: Any, origin: Any) -> str:
        """What gives that which stands beside an argument."""
        if shadow is None:
            return "None"
        if type(origin) is Written:
            return str(origin.shadow)
        if type(origin) is OfSelf and origin.place is not None:
            return f"of_self({self.shadow(None, shadow, origin.place)})"
        if type(origin) is OfPartial and origin.place is not None:
            return f"of_partial({self.shadow(None, shadow, origin.place)}, {origin.part!r}, {origin.key!r})"
        if type(origin) is int:
            return "ff" if origin == 0 else "fobj" if origin < 0 else f"fs[{origin - 1}]"
        return f"beside(context, {self.name(x)})"

    def give(self, origin: Any, r: str) -> None:
        """Let the pullback hand `r` to an argument."""
        if type(origin) is Written:
            origin = origin.origin
        while type(origin) is OfSelf or type(origin) is OfPartial:
            if isinstance(origin, OfSelf):
                r = f"to_self({r}, {origin.has_function})"
            else:
                r = f"to_partial({r}, {origin.part!r}, {origin.key!r}, {origin.count})"
            origin = origin.place
        if type(origin) is int:
            name = "robj" if origin < 0 else f"r{origin}"
            is_first = name not in self._given and not self.is_joining
            self._given.add(name)
            self.back.append(f"{name} = {r}" if is_first else f"{name} = joined({name}, {r})")

    def values(self, call: Call) -> list[str]:
        return [self.value(x, o) for x, o in zip(call.args, call.origins, strict=True)]

    def shadows(self, call: Call) -> list[str]:
        given = zip(call.args, call.shadows, call.origins, strict=True)
        return [self.shadow(x, f, o) for x, f, o in given]

    def refuse(self, what: str) -> UnsupportedError:
        return refused(what)

    @abc.abstractmethod
    def make(self, call: Call) -> None:
        """Write what makes `call`."""

    @abc.abstractmethod
    def as_it_is(self, call: Call, *, changes_nothing: bool = False) -> None:
        """Write the call of what is a constant at this level."""

    @abc.abstractmethod
    def take(self, step: Any) -> None:
        """Write what carries `step` out."""

    def bound(self, places: Places, number: int, x: Any, f: Any, origin: Any) -> tuple[str, str]:
        """What gives the value of parameter `number`, and what gives that which stands beside it."""
        if type(origin) is Kept:
            return self.value(x, origin.origin), self.shadow(x, f, origin.origin)
        if type(origin) is tuple:
            values = [self.value(y, o.origin) for y, o in zip(x, origin, strict=True)]
            parts = elements_of(f, len(x))
            shadows = [self.shadow(y, g, o.origin) for y, g, o in zip(x, parts, origin, strict=True)]
            shadow = f"({''.join(f'{s}, ' for s in shadows)})"
            whole = f"({''.join(f'{v}, ' for v in values)})"
            if self.is_forward and f is not None:
                shadow = f"fill_all({whole}, {shadow})"
            return whole, shadow if f is not None else "None"
        if type(origin) is dict:
            return self._gathered(x, f, origin)
        return self._default(places, number, x, f, origin)

    def _default(self, places: Places, number: int, x: Any, f: Any, origin: Any) -> tuple[str, str]:
        """What gives a default, and what gives that which stands beside it at this level."""
        kind = kind_of(type(x))
        if kind.inactive:
            return self.name(x), "None"
        name, key = inner_defaults.place_of(places.call.function, number)
        is_at = kind.address
        given = "default_at(context, " if is_at else "default_of(itself(context, "
        read = f"{given}{places.function}{'' if is_at else ')'}, {name!r}, {key!r})"
        self.lines.append(f"d{number} = {read}")
        if f is None:
            return f"d{number}", "None"
        if type(origin) is Default and not is_at:
            part = "default_tangent" if self.is_forward else "default_shadow"
            return f"d{number}", f"{part}({places.shadow}, {name!r}, {key!r})"
        return f"d{number}", f"beside(context, d{number})"

    def _gathered(self, x: dict[str, Any], f: Any, origins: dict[str, Kept]) -> tuple[str, str]:
        """What gives the dictionary of ``**keywords``, and what gives its shadow or tangent."""
        values = self._display({k: self.value(y, origins[k].origin) for k, y in x.items()})
        if f is None:
            return values, "None"
        beside = {}
        for k, y in x.items():
            part = tangent_in(f, k) if self.is_forward else shadow_in(f, k)
            beside[k] = self.shadow(y, part, origins[k].origin)
        made = "tangents_by_name" if self.is_forward else "slots_by_name"
        self.lines += [f"named = {values}", f"fnamed = {made}(named, {self._display(beside)})"]
        return "named", "fnamed"

    def _display(self, parts: dict[str, str]) -> str:
        return f"{{{', '.join(f'{k!r}: {part}' for k, part in parts.items())}}}"

    def give_bound(self, places: Places, number: int, origin: Any, b: str) -> None:
        """Let the pullback hand `b` to the argument of parameter `number`, or to its default."""
        if type(origin) is Default:
            name, key = inner_defaults.place_of(places.call.function, number)
            self.back.append(f"give_default({places.shadow}, {name!r}, {key!r}, {b})")
        if type(origin) is Kept:
            self.give(origin.origin, b)
        elif type(origin) is tuple and origin:
            self.back.append(f"elements = elements_of({b}, {len(origin)})")
            for i, o in enumerate(origin):
                self.give(o.origin, f"elements[{i}]")


class Places(NamedTuple):
    """A call whose arguments are bound, and what gives its function and the shadow of that."""

    call: Call
    function: str
    shadow: str


class Kept:
    """The origin of an argument, which is no default."""

    def __init__(self, origin: Any) -> None:
        self.origin = origin


class Written(NamedTuple):
    """The origin of a value that the way has written down, with what stands beside it."""

    value: str
    shadow: str
    origin: Any


def name_of(function: Any) -> str:
    return getattr(function, "__qualname__", None) or repr(function)


def refused(why: str) -> UnsupportedError:
    """The error that says why a derivative inside a derivative is not followed."""
    return UnsupportedError(
        "a derivative is taken inside a function that is being differentiated",
        f"{why}, and that is not followed through two derivatives yet",
        "write the inner derivative out, or take it at adbc.stop_gradient(x) in place of x",
    )


def written(name: str, source: str, scope: dict[str, Any]) -> Any:
    """The function `name` that `source` defines, with the globals `scope`."""
    scope["__name__"] = __name__  # the module of what is defined there
    scope["__spec__"] = __spec__  # whose globals nobody writes to
    exec(_compiled(source), scope)
    return scope[name]


@functools.lru_cache(10_000)
def _compiled(source: str) -> Any:
    return compile(source, __file__, "exec")


def completed(type_: AbstractType, name: str) -> list[str]:
    """The lines that put zeros where the pullback of a rule with a result of this type expects numbers."""
    if isinstance(type_, TupleType):
        parts = [f"{name}{i}" for i in range(len(type_.elements))]
        lines = [f"if {name} is None: {name} = ({'None, ' * len(parts)})"]
        lines.append(f"{''.join(f'{p}, ' for p in parts)}= {name}" if parts else "pass")
        for each, element in zip(parts, type_.elements, strict=True):
            lines += completed(element, each)
        return [*lines, f"{name} = ({''.join(f'{p}, ' for p in parts)})"]
    if type_ == FLOAT:
        return [f"{name} = as_float({name})"]
    return [f"if {name} is None: {name} = 0.0"] if is_number(type_) else []
