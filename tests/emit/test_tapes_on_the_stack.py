"""Tapes: what is put on a list that stays on the stack, and read from an iterator that stays there."""

from __future__ import annotations

import types

from tests.emit.checking import checked, opnames


def count(function: types.FunctionType, name: str) -> int:
    return opnames(function.__code__).count(name)


def test_what_loops_inside_record_goes_straight_to_the_list() -> None:
    function = checked(
        """
        graph f(n, x)
        entry:
            %r = call builtins.range(%n)
            %it = call _iter_(%r)
            %tape = call _new_(builtins.list)
            jump head
        head:
            %i = call _next_(%it)
            %e = call _exhausted_(%i)
            branch %e, done, body
        body:
            %s = call builtins.range(%i)
            %inner = call _iter_(%s)
            %0 = call _record_(%tape, None)
            jump head.1
        head.1:
            %j = call _next_(%inner)
            %e.1 = call _exhausted_(%j)
            branch %e.1, latch, body.1
        body.1:
            %y = call operator.mul(%x, %j)
            %1 = call _record_(%tape, %j, %y)
            jump head.1
        latch:
            %2 = call _record_(%tape, %i)
            jump head
        done:
            %t = call _new_(builtins.tuple, %x, %tape)
            return %t
        """
    )
    assert function(3, 2.0) == (2.0, [None, 0, None, 0, 0.0, 1, None, 0, 0.0, 1, 2.0, 2])
    assert function(0, 2.0) == (2.0, [])
    assert count(function, "LIST_APPEND") == 4
    assert count(function, "BUILD_LIST") == 1


def test_a_list_that_is_wanted_on_another_way_out() -> None:
    function = checked(
        """
        graph f(values, limit)
        entry:
            %it = call _iter_(%values)
            %tape = call _new_(builtins.list)
            jump head
        head:
            %v = call _next_(%it)
            %e = call _exhausted_(%v)
            branch %e, done, body
        body:
            %more = call operator.gt(%v, %limit)
            branch %more, out, latch
        latch:
            %0 = call _record_(%tape, %v)
            jump head
        out:
            %rest = call builtins.list(%it)
            %1 = call _record_(%tape, %rest)
            %t = call _new_(builtins.tuple, %v, %tape)
            return %t
        done:
            return %tape
        """
    )
    assert function([1, 2, 3], 5) == [1, 2, 3]
    assert function([1, 7, 3, 4], 5) == (7, [1, [3, 4]])
    assert function([], 5) == []


def test_a_list_that_a_handler_wants() -> None:
    """What is on the stack is lost where an exception is caught."""
    function = checked(
        """
        graph f(values)
        entry:
            %it = call _iter_(%values)
            %tape = call _new_(builtins.list)
            jump head
        head:
            %v = call _next_(%it)
            %e = call _exhausted_(%v)
            branch %e, done, body
        body: handler caught
            %q = call operator.truediv(1.0, %v)
            jump latch
        latch:
            %0 = call _record_(%tape, %q)
            jump head
        caught:
            %error = catch
            %t = call _new_(builtins.tuple, %tape)
            return %t
        done:
            return %tape
        """
    )
    assert function([1.0, 2.0]) == [1.0, 0.5]
    assert function([1.0, 0.0, 2.0]) == ([1.0],)


def test_an_iterator_that_is_stepped_at_several_places() -> None:
    function = checked(
        """
        graph f(tape)
        entry:
            %it = call builtins.reversed(%tape)
            jump head
        head:
            %total = phi [entry: 0.0, inner: %sum]
            %v = call _next_(%it)
            %e = call _exhausted_(%v)
            branch %e, done, body
        body:
            %w = call _recall_(%it)
            %start = call operator.sub(%w, %v)
            jump inner
        inner:
            %sum = phi [body: %total, more: %next]
            %u = call _recall_(%it)
            %m = call operator.is_(%u, None)
            branch %m, head, more
        more:
            %p = call operator.mul(%u, %start)
            %next = call operator.add(%sum, %p)
            jump inner
        done:
            return %total
        """
    )
    assert function([None, 5.0, 7.0, 3.0, 1.0, None, 4.0, 4.0]) == 24.0
    assert function([]) == 0.0
    assert count(function, "FOR_ITER") == 3
    assert count(function, "LOAD_GLOBAL") == 0


def test_an_iterator_that_is_under_another() -> None:
    """It cannot be reached there, so it is stepped by a call."""
    function = checked(
        """
        graph f(tape, n)
        entry:
            %it = call builtins.reversed(%tape)
            jump head
        head:
            %total = phi [entry: 0.0, inner: %sum]
            %v = call _next_(%it)
            %e = call _exhausted_(%v)
            branch %e, done, body
        body:
            %r = call builtins.range(%n)
            %other = call _iter_(%r)
            jump inner
        inner:
            %sum = phi [body: %total, more: %next]
            %k = call _next_(%other)
            %m = call _exhausted_(%k)
            branch %m, head, more
        more:
            %u = call _recall_(%it)
            %p = call operator.mul(%u, %v)
            %next = call operator.add(%sum, %p)
            jump inner
        done:
            return %total
        """
    )
    assert function([1.0, 2.0, 3.0, 4.0, 5.0, 6.0], 2) == 6.0 * 9.0 + 3.0 * 3.0
    assert count(function, "FOR_ITER") == 2
