"""The code of handlers: what it keeps alive, where its regions are, and the state it leaves."""

from __future__ import annotations

import contextlib
import dis
import gc
import itertools
import sys
import weakref
from typing import Any

import pytest

from adbc.ir import intrinsics as i
from tests.emit.checking import checked_roundtrip, opnames


class Own(Exception):
    pass


def catches(log: list[Any]) -> None:
    try:
        raise Own
    except Own as error:
        log.append(weakref.ref(error))


def raises_again(log: list[Any]) -> None:
    try:
        try:
            raise Own
        except Own as error:
            log.append(weakref.ref(error))
            raise
    except Own:
        pass


def nests(log: list[Any]) -> None:
    for _ in range(2):
        try:
            raise Own
        except Own as error:
            log.append(weakref.ref(error))
            try:
                raise Own from error
            except Own as inner:
                log.append(weakref.ref(inner))
                continue
            finally:
                log.append(log[-1])


def lets_through(log: list[Any]) -> None:
    try:
        raise Own
    except Own as error:
        log.append(weakref.ref(error))
        raise


@pytest.mark.parametrize("function", [catches, raises_again, nests, lets_through], ids=lambda f: f.__name__)
def test_exceptions_die_with_their_handling(function: Any) -> None:
    copy = checked_roundtrip(function)
    log: list[Any] = []
    gc.collect()
    gc.disable()
    try:
        with contextlib.suppress(Own):
            copy(log)
        assert log and all(reference() is None for reference in log)
    finally:
        gc.enable()


def regions(function: Any) -> int:
    return len(dis._parse_exception_table(function.__code__))  # type: ignore[attr-defined]


def test_a_suite_is_one_region() -> None:
    def f(xs: Any) -> Any:
        total = 0
        try:
            for x in xs:
                xs.append(x.value * 2)
        except AttributeError:
            return None
        return total

    copy = checked_roundtrip(f)
    assert "FOR_ITER" in opnames(copy.__code__)  # not a call of next
    assert regions(copy) <= 8
    assert copy([]) == 0 and copy([1]) is None


def test_with_is_entered_by_its_own_instruction() -> None:
    def f(manager: Any) -> Any:
        with manager as value:
            return value

    assert ("BEFORE_WITH" in opnames(checked_roundtrip(f).__code__)) == (sys.version_info < (3, 14))


def test_what_a_handler_reads_is_not_overwritten_in_its_region() -> None:
    def f(g: Any) -> Any:
        a = b = 1
        try:
            a = g(a)
            b = g(a + b)
            a = g(b)
        except Own:
            return a, b
        return a + b

    def fails_at(n: int) -> Any:
        calls = itertools.count()

        def g(x: Any) -> Any:
            if next(calls) == n:
                raise Own
            return x * 10

        return g

    copy = checked_roundtrip(f)
    assert [copy(fails_at(n)) for n in range(4)] == [(1, 1), (10, 1), (10, 110), 1210]


def test_the_state_of_handling_is_that_of_the_thread() -> None:
    outer = Own("outer")
    assert sys.exception() is None
    previous = i._push_exc_info_(outer)
    assert previous is None and sys.exception() is outer
    before = i._push_exc_info_(Own("inner"))
    assert before is outer
    i._pop_except_(before)
    assert sys.exception() is outer
    i._pop_except_(previous)
    assert sys.exception() is None


def test_raising_again_changes_neither_context_nor_traceback() -> None:
    error = Own()
    previous = i._push_exc_info_(ValueError())
    with pytest.raises(Own) as caught:
        i._reraise_(error)
    i._pop_except_(previous)
    assert caught.value.__context__ is None
    assert [t.name for t in caught.traceback] == ["test_raising_again_changes_neither_context_nor_traceback"]


def counts(n: int) -> Any:
    yield from range(n)
    raise Own(n)


class Raising:
    @property
    def content(self) -> Any:
        raise Own("content")

    def __getitem__(self, index: int) -> Any:
        raise Own(index)


def sums_a_generator(n: int) -> Any:
    total = 0
    try:
        for x in counts(n):
            total += x
    except Own as error:
        return total, str(error)


def delegates_to_a_generator(n: int) -> Any:
    seen = 0
    try:
        seen += 1
        yield from counts(n)
    except Own as error:
        yield seen, str(error)


def reads_a_property_behind(make: Any) -> Any:
    try:
        y = make()
    except Own:
        return "caught by the handler of another instruction"
    return y.content


def indexes_in(made: Any, index: Any) -> Any:
    log = 0
    try:
        log = index + 1
        log = made[index] + made[log]
    except Own as error:
        return log, str(error)


def outcome(function: Any, *arguments: Any) -> Any:
    try:
        result = function(*arguments)
        return list(result) if hasattr(result, "send") else result
    except Own as error:
        return repr(error)


@pytest.mark.parametrize("normal", [False, True], ids=["raw", "normal"])
@pytest.mark.parametrize(
    ("function", "arguments"),
    [
        (sums_a_generator, (4,)),
        (delegates_to_a_generator, (4,)),
        (reads_a_property_behind, (Raising,)),
        (indexes_in, (Raising(), 3)),
    ],
    ids=lambda x: getattr(x, "__name__", ""),
)
def test_callees_without_a_c_frame_raise_into_the_right_handler(
    function: Any, arguments: Any, normal: bool
) -> None:
    expected = outcome(function, *arguments)
    copy = checked_roundtrip(function, normal=normal)
    # Often enough for the instructions to be specialised.
    assert [outcome(copy, *arguments) for _ in range(50)] == [expected] * 50
