"""What some versions compile in a way of their own comes back with the same behaviour."""

from __future__ import annotations

import dis
import sys
from typing import Any

import pytest

from adbc.inspect.round_trip import roundtrip
from adbc.ir import intrinsics as i
from tests.emit.checking import checked, checked_roundtrip
from tests.lift.judge import run_function

NESTED = """
def f(t):
    def g(x: t = 1, *, y: "text" = 2) -> [t]:
        "The words of g."
        return x, y, t
    return g
"""


def made(source: str, name: str = "f") -> Any:
    space: dict[str, Any] = {}
    exec(source, space)
    return space[name]


@pytest.mark.parametrize("future", ["", "from __future__ import annotations\n"], ids=["plain", "future"])
@pytest.mark.parametrize("normal", [False, True], ids=["raw", "normal"])
def test_annotations_of_a_nested_function(future: str, normal: bool) -> None:
    f = made(future + NESTED)
    copy = checked_roundtrip(f, normal=normal)
    for t in (int, 3):
        ours, theirs = copy(t), f(t)
        assert ours.__annotations__ == theirs.__annotations__
        assert (ours(), ours.__doc__) == (theirs(), theirs.__doc__)
        assert ours.__kwdefaults__ == theirs.__kwdefaults__


def test_annotations_are_not_evaluated_earlier_than_before() -> None:
    space: dict[str, Any] = {}
    exec("Later = int\ndef f(x: Later) -> Later: return x", space)
    f = space["f"]
    del space["Later"]
    copy = checked_roundtrip(f)
    space["Later"] = float
    assert copy.__annotations__ == f.__annotations__


def test_docstring_and_first_constant() -> None:
    for source in (
        'def f(): return "text"',
        'def f(): "doc"',
        'def f(): "doc"; return "text"',
        "def f(): return None",
        "def f(): return 1.5, [2.5]",
    ):
        f = made(source)
        copy = roundtrip(f)
        assert (copy.__doc__, copy()) == (f.__doc__, f())
        again = type(f)(copy.__code__, {})
        assert again.__doc__ == type(f)(f.__code__, {}).__doc__


def all_any(xs: Any) -> Any:
    return all(x > 0 for x in xs), any(x > 2 for x in xs), tuple(x for x in xs), sum(x for x in xs)


def nested_loops(rows: Any, stop: Any) -> Any:
    found = []
    for row in rows:
        for x in row:
            for y in x:
                if y == stop:
                    return found, y
                if y < 0:
                    break
                found.append(y)
            else:
                continue
            break
    return found


def grows(xs: Any) -> Any:
    # Over a list that changes: the index of 3.15 has to behave as a list iterator did.
    out = []
    for x in xs:
        if len(xs) < 8:
            xs.append(x + 1)
        out.append(x)
        if x == 4:
            xs.clear()
    return out


def by_hand(xs: Any) -> Any:
    it = iter(xs)
    out = []
    for x in it:
        for y in it:
            out.append((x, y))
            break
    return out, [z for z in it if z]


def text(s: Any) -> Any:
    return [[c, *(d for d in s)] for c in s], {c: k for k, c in enumerate(s)}, {c for c in s if c}


def tries(xs: Any) -> Any:
    out = []
    for x in xs:
        for k in range(2):
            try:
                out.append(6 // x)
                if x == 7:
                    return out
            except ZeroDivisionError:
                out.append("zero")
                continue
            except TypeError as error:
                out.append(str(error))
                break
            finally:
                out.append((x, k))
        else:
            out.append("all")
    return out


class Manager:
    def __init__(self, log: Any, swallow: Any) -> None:
        self.log, self.swallow = log, swallow

    def __enter__(self) -> Any:
        self.log.append("in")
        return self

    def __exit__(self, kind: Any, error: Any, _: Any) -> Any:
        self.log.append((kind, str(error)))
        return self.swallow


def leaves(xs: Any, k: Any) -> Any:
    log: list[Any] = []
    for x in xs:
        with Manager(log, k < 4) as outer, Manager(log, False):
            if k == 0:
                continue
            if k == 1:
                break
            if k == 2:
                return log, outer.swallow
            if x == 2:
                raise ValueError(x)
        log.append(x)
    return log


def comprehends(xs: Any) -> Any:
    x = "outer"
    try:
        found = [6 // x for x in xs]
    except ZeroDivisionError:
        found = ["zero", x]
    except TypeError as error:
        found = [str(error), x, all(y for y in (1, x)), tuple(y for y in "ab")]
    return found, x


def nested_handlers(k: Any) -> Any:
    out = []
    for j in range(3):
        try:
            for i in range(3):
                try:
                    try:
                        if i == k:
                            raise TypeError(i)
                    finally:
                        out.append((j, i))
                except TypeError as error:
                    out.append(repr(error))
                    if j == 1:
                        raise KeyError(j) from error
        except KeyError as error:
            out.append((repr(error), repr(error.__cause__), repr(error.__context__)))
            return out
    return out


def imports() -> Any:
    import collections.abc
    import os.path as p
    from math import pi as pi

    return p.join("a", "b"), pi, collections.abc.Iterable


@pytest.mark.parametrize("normal", [False, True], ids=["raw", "normal"])
@pytest.mark.parametrize(
    ("function", "cases"),
    [
        (all_any, [([1, 2, 3],), ([],), ((0, 1),)]),
        (nested_loops, [([[[1, 2], [3]], [[4, -1, 5]], [(6,)]], s) for s in (2, 6, 9)]),
        (grows, [([1],), ([3, 4, 5],)]),
        (by_hand, [([1, 2, 3],), ((1, 2, 3, 4),), ("abcd",), (range(5),), ({1: 2, 3: 4},)]),
        (text, [("abc",), ("",), (("x",),)]),
        (imports, [()]),
        (tries, [([3, 0, "x", None, 2, 7, 1],), ([2, 1, 1],), ((2, 0),)]),
        (leaves, [([1, 2, 3], k) for k in range(5)]),
        (comprehends, [([1, 2, 4],), ([1, 0],), ([1, "x"],), (7,)]),
        (nested_handlers, [(k,) for k in range(4)]),
    ],
    ids=lambda f: getattr(f, "__name__", ""),
)
def test_loops_and_imports(function: Any, cases: list[Any], normal: bool) -> None:
    copy = checked_roundtrip(function, normal=normal)
    for arguments in cases:
        assert run_function(copy, arguments) == run_function(function, arguments)


class Enters:
    def __enter__(self) -> Any:
        return self


class Leaves:
    def __exit__(self, *rest: Any) -> Any:
        return None


class Waits:
    async def __aenter__(self) -> Any:
        return self

    async def __aexit__(self, *rest: Any) -> Any:
        return None


@pytest.mark.parametrize("manager", [object(), Enters(), Leaves(), Waits()], ids=lambda m: type(m).__name__)
def test_what_is_no_context_manager(manager: Any) -> None:
    def enters(x: Any) -> None:
        with x:
            pass

    words = []
    for function in (enters, checked_roundtrip(enters)):
        with pytest.raises(TypeError) as caught:
            function(manager)
        words.append(str(caught.value))
    assert words[0] == words[1]


def test_iterator_that_a_loop_does_not_own() -> None:
    function = checked(
        """
        graph f(xs)
        entry:
            %it = call _iter_(%xs)
            %first = call _next_(%it)
            jump loop
        loop:
            %s = phi [entry: %first, body: %t]
            %v = call _next_(%it)
            %c = call _exhausted_(%v)
            branch %c, done, body
        body:
            %t = call operator.add(%s, %v)
            jump loop
        done:
            %r = call _new_(builtins.tuple, %s, %it)
            return %r
        """
    )
    for xs in ([1, 2, 3], (1, 2, 3), range(1, 4)):
        total, it = function(xs)
        assert total == 6
        assert i._next_(it) is i.EXHAUSTED and type(it) is type(iter(xs))
    with pytest.raises(TypeError, match="'int' object is not iterable"):
        function(1)


def test_loop_over_a_value_that_is_not_asked_for_its_iterator() -> None:
    function = checked(
        """
        graph f(make)
        entry:
            %it = call %make()
            jump loop
        loop:
            %s = phi [entry: 0, body: %t]
            %v = call _next_(%it)
            %c = call _exhausted_(%v)
            branch %c, done, body
        body:
            %t = call operator.add(%s, %v)
            jump loop
        done:
            return %s
        """
    )
    assert function(lambda: iter([1, 2, 3])) == 6
    assert "FOR_ITER" in {x.opname for x in dis.get_instructions(function)}


if sys.version_info >= (3, 14):

    @pytest.mark.parametrize("normal", [False, True], ids=["raw", "normal"])
    @pytest.mark.parametrize(
        "template",
        ['t""', 't"only text"', 't"{x}"', 't"a{x}{y!r}b{x!s:>{y}}c{y!a:>3}"', 't"{x:{y}.2f} {x=}"'],
    )
    def test_template_strings(template: str, normal: bool) -> None:
        f = made(f"def f(x, y): return {template}")
        ours, theirs = checked_roundtrip(f, normal=normal)(1.5, 8), f(1.5, 8)
        assert ours.strings == theirs.strings
        parts = [
            [(p.value, p.expression, p.conversion, p.format_spec) for p in t.interpolations]
            for t in (ours, theirs)
        ]
        assert parts[0] == parts[1]
