"""Arguments that can be taken for constants: nobody asks for their gradient, and nobody writes into them.

Somebody who asks for the gradient by the weights gives the data as an argument too.  Without more knowledge
the data needs a shadow, for the function may write active values there.  Where it only reads the argument
(`types.readers`), and no part of its memory belongs to something that has a shadow, it is declared constant
for this call like an `adbc.Const`.  What the analysis cannot see, memory reached through a global, meets the
declaration: a write of an active value is refused, so a derivative is never lost.
"""

from __future__ import annotations

import inspect
import types
from collections.abc import Collection, Sequence
from typing import Any

from adbc.errors import LiftError
from adbc.runtime.calls.plans import BY_VALUE, is_derived
from adbc.runtime.entry.structures import is_plain
from adbc.runtime.state.engine import EngineView
from adbc.types import typeof

__all__ = ["only_read"]


def only_read(
    engine: EngineView, f: Any, args: Sequence[Any], names: Sequence[str], places: Collection[int]
) -> list[int]:
    """The places, out of `places`, of arguments that `f` only reads and that are arrays, or lists of what has
    no address.

    names: of the last arguments, which are given by keyword.
    """
    code = getattr(f, "__code__", None)
    if code is None or not any(_may_be_read(args[i]) for i in places):
        return []
    key: list[Any] = [code, id(f.__globals__), type(getattr(f, "__self__", None)), names]
    for x in args:
        cls = type(x)
        key.append(typeof(x) if cls in BY_VALUE else cls)
        if cls.__name__ == "ndarray" and cls.__module__ == "numpy":
            key += (x.dtype, x.ndim)
    known = engine.read_places.get(tuple(key))
    if known is None:
        known = engine.read_places[tuple(key)] = _reading(engine, f, args, names)
    return [i for i in known if i in places and _may_be_read(args[i])]


def _reading(engine: EngineView, f: Any, args: Sequence[Any], names: Sequence[str]) -> list[int]:
    """The arguments that `f` only reads, provided that they are arrays, or lists of what has no address."""
    first: tuple[Any, ...] = ()
    if type(f) is types.MethodType:
        f, first = f.__func__, (f.__self__,)
    if not is_derived(engine, f):
        return []
    code = f.__code__
    if code.co_kwonlyargcount or code.co_flags & _ANY_NUMBER:
        return []
    parameters = code.co_varnames[: code.co_argcount]
    by_position = len(args) - len(names)
    values = [*first, *args[:by_position]]
    origins = [*[None] * len(first), *range(by_position)]
    if len(values) > len(parameters):
        return []  # the call itself will say so
    given = {name: i for i, name in enumerate(names, by_position)}
    defaults = dict(zip(reversed(parameters), reversed(f.__defaults__ or ()), strict=False))
    for name in parameters[len(values) :]:
        if name not in given and name not in defaults:
            return []
        origins.append(given.get(name))
        values.append(args[given[name]] if name in given else defaults[name])
    try:
        reads = engine.only_reads(f, tuple(map(typeof, values)))
    except LiftError:
        return []
    return [i for i, reads_it in zip(origins, reads, strict=True) if reads_it and i is not None]


_ANY_NUMBER = inspect.CO_VARARGS | inspect.CO_VARKEYWORDS | inspect.CO_GENERATOR


def _may_be_read(x: Any) -> bool:
    """Whether `x` is an array of floats, or a list of numbers, text, and tuples of these."""
    cls = type(x)
    if cls is list:
        return is_plain(x)
    return cls.__name__ == "ndarray" and cls.__module__ == "numpy" and x.dtype.kind in "fc"
