"""`test_type`: the rules that a value meets whatever the program does with it.

A rule for a new kind of value is not all: the value is asked for its class, stored, read from, put into lists
and tuples and taken out again, by rules that others have written.  Each of these is tried.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from adbc.chainrules.structured import parts_of
from adbc.testing.rule import test_rule

__all__ = ["test_type"]


def _interactions(x: Any) -> Iterator[tuple[str, Callable[..., Any]]]:
    cls = type(x)
    yield "identity", lambda v: v
    yield "isinstance", lambda v: v if isinstance(v, cls) else None
    yield "is", lambda v: (v is v, v is None)
    yield "tuple", lambda v: (v, 1.0)[0]
    yield "list", lambda v: [1.0, v][1]
    yield "dict", lambda v: {"v": v}["v"]
    yield "list that grows", _appended
    yield "closure", lambda v: (lambda: v)()
    yield "conditional", lambda v: v if type(v) is cls else 0.0
    if isinstance(x, tuple | list):
        for i in range(len(x)):
            yield f"item {i}", _item(i)
        yield "unpacking", lambda v: [*v]
        yield "iteration", lambda v: [y for y in v]  # noqa: C416  # what is tested
    elif isinstance(x, dict):
        for key in x:
            yield f"item {key!r}", _item(key)
        yield "items", lambda v: list(v.items())
    elif not callable(x) and cls.__flags__ & 512:  # made by a class statement
        for name in parts_of(x) or ():
            yield f"attribute {name}", _attribute(str(name))


def _appended(v: Any) -> Any:
    found: list[Any] = []
    found.append(v)
    return found.pop()


def _item(key: Any) -> Callable[..., Any]:
    return lambda v: v[key]


def _attribute(name: str) -> Callable[..., Any]:
    return lambda v: getattr(v, name)


def test_type(x: Any) -> None:
    """Check that a value goes through what programs do with any value, in both modes: its class is asked for,
    it is put into tuples, lists, dicts and closures and taken out, and its items and attributes are read.

    Raises `AssertionError` that names what failed.

    >>> from adbc.testing import test_type
    >>> test_type((1.0, [2.0, 3]))
    """
    for name, function in _interactions(x):
        try:
            test_rule(function, x)
        except AssertionError as error:
            raise AssertionError(f"{type(x).__name__}, {name}: {error}") from error


test_type.__test__ = False  # type: ignore[attr-defined]  # a tool: pytest does not collect it
