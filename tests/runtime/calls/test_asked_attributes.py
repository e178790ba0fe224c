"""An object whose class reads attributes by a method in Python is asked for what CPython asks for, no more.

The method writes into a list that has a derivative, so that each question counts: in value, derivative and
what is restored.  A use is right in both modes, or refused.
"""

from __future__ import annotations

from typing import Any

import pytest

import adbc
from adbc.errors import AdbcError

OBJECTS = {
    "object": "",
    "list": "[x, 2.0]",
    "tuple": "[x, x]",
    "dict": "{'a': x, 'b': 2.0}",
    "collections.OrderedDict": "{'a': x}",
    "collections.defaultdict": "float, {'a': x}",
    "collections.deque": "",
    "set": "[2]",
    "frozenset": "[2]",
    "float": "x",
    "complex": "x",
    "int": "3",
    "str": "'a'",
    "bytes": "b'ab'",
    "Exception": "x",
}
USES = {
    "made": "o",
    "a key": "{o: x}[o]",
    "found": "[o].index(o) + (o in [1, o])",
    "an item": "o[0]",
    "an item of a dict": "o['a']",
    "an item is set": "put(o, 0, x)",
    "an item of a dict is set": "put(o, 'a', x)",
    "an item is deleted": "drop(o, 0)",
    "an item of a dict is deleted": "drop(o, 'a')",
    "appended": "o.append(x)",
    "popped": "o.pop()",
    "updated": "o.update(b=x)",
    "walked": "[k for k in o]",
    "reversed": "[k for k in reversed(o)]",
    "sorted": "sorted([o, o])",
    "truth": "bool(o)",
    "added": "o + o",
    "repeated": "o * 2",
    "a number": "float(o)",
    "an attribute": "put_attribute(o, x)",
    "not an attribute": "getattr(o, 'z', 1)",
    "an instance": "isinstance(o, list)",
    "an instance of float": "isinstance(o, float)",
    "an instance of one of two": "isinstance(o, (int, str))",
    "an instance of a union": "isinstance(o, int | str)",
    "a weak reference": "weakref.ref(o)",
    "raised": "raised(o)",
    "in containers": "[{1: o}, (o, x), [o]]",
    "its class": "type(o)",
    "handed on": "(lambda *a, **k: x)(o, k=o)",
}


def program(base: str, arguments: str, use: str) -> Any:
    source = f"""
import collections, weakref

def put(o, k, x):
    o[k] = x

def drop(o, k):
    del o[k]

def put_attribute(o, x):
    o.y = x
    return o.y

def raised(o):
    try:
        raise o
    except Exception:
        return 1

def f(x, u):
    class C({base}):
        def __getattribute__(self, name):
            u.append(0.5 * x)
            return object.__getattribute__(self, name)
    o = C({arguments})
    {use}
    return sum(u) * x + len(u)
"""
    space: dict[str, Any] = {}
    exec(source, space)
    return space["f"]


INTERPRETED = {use for use in USES if use.startswith("an instance")}
"""Uses that are followed where code is interpreted; written code asks in C if it does not know the class."""


@pytest.mark.parametrize("use", USES)
@pytest.mark.parametrize("base", OBJECTS)
def test_nothing_else_is_asked(base: str, use: str) -> None:
    f = program(base, OBJECTS[base], USES[use])
    u = [1.0]
    try:
        value = f(1.3, u)
    except Exception:
        pytest.skip("these objects cannot be used so")
    asked, h = len(u), 1e-6
    wanted = (f(1.3 + h, [1.0]) - f(1.3 - h, [1.0])) / (2.0 * h)
    warm_after = 40 if use in INTERPRETED else 0
    for speculation in ("learn",) if use in INTERPRETED else ("never", "learn", "dynamic", "always"):
        with adbc.use(adbc.Config(speculation=speculation, warm_after=warm_after)):
            for _ in range(2):
                u, du = [1.0], [0.0]
                try:
                    out, tangent = adbc.jvp(f, (1.3, u), (1.0, du))
                except AdbcError:
                    continue
                assert (out, len(u), len(du)) == (value, asked, asked)
                assert tangent == pytest.approx(wanted)
                u = [1.0]
                try:
                    out, pullback = adbc.vjp(f, 1.3, u)
                except AdbcError:
                    continue
                assert (out, len(u)) == (value, asked)
                assert pullback(1.0)[0] == pytest.approx(wanted)
                assert u == [1.0]
