"""What loops look like: the instructions themselves, not how long they take."""

from __future__ import annotations

import dis
import sys
import types
from typing import Any

from adbc.inspect.round_trip import roundtrip
from tests.emit.checking import checked, opnames

PY312, PY313 = sys.version_info >= (3, 12), sys.version_info >= (3, 13)


def loop_of(code: types.CodeType) -> list[str]:
    """The instructions from the innermost loop's head to its backward jump."""
    instructions = [i for i in dis.get_instructions(code) if i.opname not in ("EXTENDED_ARG", "NOT_TAKEN")]
    loops = [(i.argval, i.offset) for i in instructions if "BACKWARD" in i.opname]
    assert loops, opnames(code)
    head, end = min(loops, key=lambda loop: loop[1] - loop[0])
    return [_plain(i) for i in instructions if head <= i.offset <= end]


def _plain(instruction: dis.Instruction) -> str:
    name = instruction.opname.replace("_FORWARD", "").replace("_BACKWARD", "").replace("_BORROW", "")
    if name == "BINARY_OP" and instruction.argrepr == "[]":  # from 3.14
        return "SUBSCRIPT"
    if name in ("BINARY_OP", "COMPARE_OP"):
        return f"{name} {instruction.argrepr.removeprefix('bool(').removesuffix(')')}"
    return "SUBSCRIPT" if name == "BINARY_SUBSCR" else name


def unpaired(names: list[str]) -> list[str]:
    """With the superinstructions of 3.13 taken apart."""
    result = []
    for name in names:
        if name.endswith("_FAST") and name.count("_FAST") == 2:
            first, second = name.removesuffix("_FAST").split("_FAST_")
            result += [f"{first}_FAST", f"{second}_FAST"]
        else:
            result.append(name)
    return result


def shape(function: Any) -> list[str]:
    return unpaired(loop_of(roundtrip(function).__code__))


def total(xs: Any) -> Any:
    s = 0.0
    for x in xs:
        s = s + x
    return s


def test_sum_over_an_iterator() -> None:
    assert shape(total) == [
        "FOR_ITER",
        "STORE_FAST",
        "LOAD_FAST",
        "LOAD_FAST",
        "BINARY_OP +",
        "STORE_FAST",
        "JUMP",
    ]


def fibonacci(n: int) -> int:
    a, b = 0, 1
    for _ in range(n):
        a, b = b, a + b
    return a


def test_parallel_assignment() -> None:
    assert shape(fibonacci) == [
        "FOR_ITER",
        "POP_TOP",
        "LOAD_FAST",
        "LOAD_FAST",
        "BINARY_OP +",
        "LOAD_FAST",
        "STORE_FAST",
        "STORE_FAST",
        "JUMP",
    ]


def logistic(x: float, n: int) -> float:
    i = 0
    while i < n:
        x = 3.7 * x * (1.0 - x)
        i += 1
    return x


def test_while_has_one_test_and_one_jump_back() -> None:
    body = [
        "LOAD_CONST",
        "LOAD_FAST",
        "BINARY_OP *",
        "LOAD_CONST",
        "LOAD_FAST",
        "BINARY_OP -",
        "BINARY_OP *",
        "STORE_FAST",
        "LOAD_FAST",
        "LOAD_CONST",
        "BINARY_OP +=",
        "STORE_FAST",
    ]
    test = ["LOAD_FAST", "LOAD_FAST", "COMPARE_OP <", "POP_JUMP_IF_FALSE"]
    # The test stands where the compiler put it: at the top from 3.14, at the bottom before.
    parts = [*test, *body] if sys.version_info >= (3, 14) else [*body, *test]
    assert shape(logistic) == [*parts, "JUMP"]


def newton(x: float) -> float:
    while True:
        y = x - (x * x - 2.0) / (2.0 * x)
        if y == x:
            return y
        x = y


def test_a_loop_with_its_test_in_the_middle_falls_through() -> None:
    found = shape(newton)
    assert found.count("JUMP") == 1
    assert found[-1] == "JUMP"
    assert sum(name.startswith("POP_JUMP") for name in found) == 1


def pairs(items: Any) -> Any:
    s = 0
    for k, v in items:
        s += k * v
    return s


def test_unpacking_stores_directly() -> None:
    found = shape(pairs)
    assert found[:4] == ["FOR_ITER", "UNPACK_SEQUENCE", "STORE_FAST", "STORE_FAST"]
    assert found.count("STORE_FAST") == 3


def methods(xs: Any, out: Any) -> None:
    for x in xs:
        out.append(x)


def test_methods_are_not_bound() -> None:
    found = shape(methods)
    assert found == [
        "FOR_ITER",
        "STORE_FAST",
        "LOAD_FAST",
        "LOAD_ATTR" if PY312 else "LOAD_METHOD",
        "LOAD_FAST",
        *([] if PY312 else ["PRECALL"]),
        "CALL",
        "POP_TOP",
        "JUMP",
    ]


def first_none(xs: Any) -> int:
    n = 0
    for x in xs:
        if x is None:
            n += 1
    return n


def test_none_is_tested_by_the_jump() -> None:
    found = shape(first_none)
    assert any(name.endswith(("_IF_NONE", "_IF_NOT_NONE")) for name in found)
    assert "IS_OP" not in found


def truthy(xs: Any) -> int:
    n = 0
    for x in xs:
        if not x:
            n += 1
    return n


def test_truth_is_tested_by_the_jump() -> None:
    found = shape(truthy)
    assert "UNARY_NOT" not in found
    assert found.count("TO_BOOL") == (1 if PY313 else 0)


def test_callables_are_constants() -> None:
    function = checked(
        """
        graph f(x)
        entry:
            %1 = call math.sin(%x)
            %2 = call _foreigncall_(math.cos, %1)
            return %2
        """
    )
    names = opnames(function.__code__)
    assert "LOAD_GLOBAL" not in names
    assert "STORE_FAST" not in names


def test_a_generated_pullback_loop() -> None:
    # The shape of reversed loops: a counter, saved tuples in a list, phis for the cotangents.
    function = checked(
        """
        graph pullback(tape, by)
        entry:
            %n = call builtins.len(%tape)
            jump head
        head:
            %i = phi [entry: %n, body: %j]
            %bx = phi [entry: %by, body: %bz]
            %more = call operator.gt(%i, 0)
            branch %more, body, done
        body:
            %j = call operator.sub(%i, 1)
            %record = call operator.getitem(%tape, %j)
            %parts = call _unpack_(%record, 2)
            %a = call _project_(%parts, 0)
            %b = call _project_(%parts, 1)
            %1 = call operator.mul(%bx, %a)
            %2 = call operator.mul(%bx, %b)
            %bz = call operator.add(%1, %2)
            jump head
        done:
            return %bx
        """
    )
    assert function([(1.0, 2.0), (3.0, 4.0)], 1.0) == 21.0
    assert unpaired(loop_of(function.__code__)) == [
        "LOAD_FAST",
        "LOAD_CONST",
        "COMPARE_OP >",
        "POP_JUMP_IF_FALSE",
        "LOAD_FAST",
        "LOAD_CONST",
        "BINARY_OP -",
        "STORE_FAST",
        "LOAD_FAST",
        "LOAD_FAST",
        "SUBSCRIPT",
        "UNPACK_SEQUENCE",
        "STORE_FAST",
        "STORE_FAST",
        "LOAD_FAST",
        "LOAD_FAST",
        "BINARY_OP *",
        "LOAD_FAST",
        "LOAD_FAST",
        "BINARY_OP *",
        "BINARY_OP +",
        "STORE_FAST",
        "JUMP",
    ]


def test_roundtrips_are_not_longer() -> None:
    for function in (total, fibonacci, logistic, newton, pairs, methods, first_none, truthy):
        original, copy = unpaired(opnames(function.__code__)), unpaired(opnames(roundtrip(function).__code__))
        assert len(copy) <= len(original) + 3, (original, copy)
