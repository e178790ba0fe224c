"""What is known of the elements of lists: where tests of their classes go, and where they must not."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import pytest

import adbc
from adbc.ir import intrinsics
from adbc.ir.graph import Graph
from adbc.ir.values import Const
from adbc.runtime import default_engine
from adbc.runtime.build.derived import Derived
from adbc.testing import test_rule as check_rule
from adbc.types.lattice import FLOAT, LIST, ListType, inferred_type, is_list, join

Matrix = list[list[float]]

pytestmark = pytest.mark.usefixtures("at_once")
"""What is counted are tests in code that is written at once."""


def rule_of(f: Callable[..., Any], mode: str) -> Derived:
    """The rule of `f` that was built last."""
    engine = default_engine()
    return [r for r in engine.rules.values() if r.code is f.__code__ and r.mode == mode and r.is_built][-1]


def looks_in(graphs: tuple[Graph, ...]) -> int:
    """How often the class of a value is tested."""
    return sum(
        call.op == "call"
        and isinstance(call.operands[0], Const)
        and call.operands[0].value is intrinsics._class_is_
        for graph in graphs
        for call in graph.instructions()
    )


def check(f: Callable[..., Any], *args: Any, looks: int = 0) -> None:
    """`f` has the right derivatives, and looks at so many classes when guesses have settled."""
    for _ in range(3):
        check_rule(f, *args)
    directions = [zeros_like(x) for x in args]
    for _ in range(3):
        adbc.value_and_grad(f)(*args)
        adbc.jvp(f, tuple(map(copy, args)), tuple(map(copy, directions)))
    for mode in ("reverse", "forward"):
        assert looks_in(rule_of(f, mode).graphs) == looks, f"{mode}: {rule_of(f, mode).graphs[0]}"


def copy(x: Any) -> Any:
    return [copy(part) for part in x] if isinstance(x, list) else x


def zeros_like(x: Any) -> Any:
    if isinstance(x, list):
        return [zeros_like(part) for part in x]
    return 0.5 if isinstance(x, float) else None


# -- types ---------------------------------------------------------------------------------------------


def test_the_type() -> None:
    floats = ListType(list, FLOAT)
    assert floats == ListType(list, FLOAT) != ListType(list, floats)
    assert floats != LIST and is_list(floats) and is_list(LIST)
    assert inferred_type(floats) == LIST and inferred_type(FLOAT) == FLOAT
    assert str(ListType(list, floats)) == "List[List[float]]"
    assert join(floats, floats) == floats


# -- arguments -----------------------------------------------------------------------------------------


def norm(xs: list[float]) -> float:
    total = 0.0
    for x in xs:
        total += x * x
    return math.sqrt(total)


def by_index(a: list[float], b: list[float]) -> float:
    total = 0.0
    for i in range(len(a)):
        total += a[i] * b[-1 - i]
    return total


def trace(a: Matrix, b: Matrix) -> float:
    total = 0.0
    for i, row in enumerate(a):
        for j in range(len(row)):
            total += row[j] * b[j][i]
    return total


def in_place(u: list[float], k: float) -> float:
    for i in range(1, len(u)):
        u[i] += k * u[i - 1]
    u.append(u[0] * k)
    return sum(u)


def rows_in_place(a: Matrix, x: float) -> float:
    for row in a:
        row[0] *= x
        row.append(x)
    return a[0][0] * a[1][-1]


def unpacked(xs: list[float]) -> float:
    x, y, z = xs
    return x * y + z


def zipped(a: list[float], b: list[float]) -> float:
    total = 1.0
    for x, y in zip(a, b):  # noqa: B905
        total *= x + y * y
    return total


@pytest.mark.parametrize(
    ("f", "args"),
    [
        (norm, ([1.0, 2.0, -3.0],)),
        (by_index, ([1.0, 2.0, -3.0], [0.5, 1.5, 2.5])),
        (trace, ([[1.0, 2.0], [3.0, 4.0]], [[0.5, 0.2], [0.1, 0.9]])),
        (in_place, ([1.0, 2.0, -3.0], 0.3)),
        (rows_in_place, ([[1.0, 2.0], [3.0, 4.0]], 0.7)),
        (unpacked, ([1.0, 2.0, -3.0],)),
        (zipped, ([1.0, 2.0], [0.5, 1.5])),
    ],
    ids=lambda value: getattr(value, "__name__", None),
)
def test_arguments(f: Callable[..., Any], args: tuple[Any, ...]) -> None:
    check(f, *args)


def test_empty_lists() -> None:
    assert adbc.value_and_grad(by_index, (0, 1))([], []) == (0.0, ([], []))
    assert adbc.jvp(by_index, ([], []), ([], [])) == (0.0, 0.0)


def test_the_same_list_twice() -> None:
    xs = [1.0, 2.0, 4.0]
    for _ in range(3):
        value, (a, b) = adbc.value_and_grad(by_index, (0, 1))(xs, xs)
        assert value == 12.0
        assert a is b or a == b
        assert a == [8.0, 4.0, 2.0]


# -- lists that are made here --------------------------------------------------------------------------


def powers(x: float, n: int) -> float:
    table = [1.0]
    for _ in range(n):
        table.append(table[-1] * x)
    return sum(table)


def convolution(x: float, n: int) -> float:
    a = [x * k for k in range(n)]
    b = [0.0] * n
    for i in range(n):
        for j in range(n - i):
            b[i + j] += a[i] * a[j]
    return b[-1] + b[1]


def grid(x: float, n: int) -> float:
    u = [[x * (i + j) for j in range(n)] for i in range(n)]
    v = [row[:] for row in u]
    for i in range(1, n - 1):
        for j in range(1, n - 1):
            v[i][j] = 0.25 * (u[i - 1][j] + u[i + 1][j] + u[i][j - 1] + u[i][j + 1]) * u[i][j]
    return sum([sum(row) for row in v])


def through_phi(x: float, flag: bool) -> float:
    one, two = [x, 2.0], [3.0, x * x]
    chosen = one if flag else two
    chosen[0] = chosen[0] * chosen[1]
    return one[0] + two[0]


@pytest.mark.parametrize(
    ("f", "args"),
    [
        (powers, (1.5, 4)),
        (convolution, (0.7, 4)),
        (through_phi, (1.3, True)),
        (through_phi, (1.3, False)),
    ],
    ids=lambda value: getattr(value, "__name__", None),
)
def test_elements_of_lists_that_are_made_here_need_no_test(
    f: Callable[..., Any], args: tuple[Any, ...]
) -> None:
    check(f, *args)


def test_lists_of_lists_made_here() -> None:
    check_rule(grid, 0.4, 4)
    for _ in range(3):
        adbc.value_and_grad(grid)(0.4, 4)
    assert looks_in(rule_of(grid, "reverse").graphs) < 4  # what is appended to a list comes from unknown sums


# -- functions that are given lists --------------------------------------------------------------------


def reads(rows: Matrix, k: float) -> float:
    total = 0.0
    for row in rows:
        total += row[0] * k
    return total


def writes_an_int(rows: Matrix) -> None:
    rows[0][0] = 1  # a list of floats no longer


def calls_a_reader(rows: Matrix, k: float) -> float:
    copies = [list(row) for row in rows]
    copies[0][0] *= k
    return reads(copies, k) + copies[0][0] * copies[1][0]


def calls_a_writer(rows: Matrix, k: float) -> float:
    copies = [list(row) for row in rows]
    before = copies[0][0] * k
    writes_an_int(copies)
    return before + copies[0][0] * k + copies[1][0]


@pytest.mark.usefixtures("at_once")
def test_a_function_that_reads() -> None:
    check(calls_a_reader, [[1.0, 2.0], [3.0, 4.0]], 0.7, looks=1)  # at what is returned


def test_a_function_that_writes() -> None:
    for _ in range(3):
        check_rule(calls_a_writer, [[1.0, 2.0], [3.0, 4.0]], 0.7)
        value, gradient = adbc.value_and_grad(calls_a_writer)([[2.0, 5.0], [3.0, 4.0]], 0.5)
        assert (value, gradient) == (4.5, [[0.5, 0.0], [1.0, 0.0]])
        answer = adbc.jvp(calls_a_writer, ([[2.0, 5.0], [3.0, 4.0]], 0.5), (None, 1.0))
        assert answer == (4.5, 3.0)


# -- what must not be believed -------------------------------------------------------------------------


def puts_an_int(xs: list[float], ys: list[Any]) -> float:
    ys[0] = 2  # perhaps the first element of `xs`
    return xs[0] * xs[1]


def test_a_list_that_may_be_another() -> None:
    for _ in range(3):
        xs = [3.0, 5.0]
        assert adbc.value_and_grad(puts_an_int)(xs, xs) == (10.0, [0.0, 2.0])
        assert xs == [3.0, 5.0]
        assert adbc.value_and_grad(puts_an_int)([3.0, 5.0], [1.0]) == (15.0, [5.0, 3.0])
        assert adbc.jvp(puts_an_int, ([3.0, 5.0], [1.0]), ([1.0, 1.0], None)) == (15.0, 8.0)


SHARED = [3.0, 5.0]


def changes_a_global() -> None:
    SHARED[0] = 2


def meanwhile(xs: list[float], k: float) -> float:
    first = xs[0] * k
    changes_a_global()
    return first + xs[0] * xs[1]


class Meddler:
    """Changes a list when it is multiplied by something."""

    def __init__(self, target: list[Any]) -> None:
        self.target = target

    def __mul__(self, other: float) -> float:
        self.target[0] = 2
        return other


def meddled(xs: list[float], other: Any) -> float:
    y = other * xs[1]
    return xs[0] * y


class Weight(float):
    """Like a float, but its products are its own."""

    def __mul__(self, other: float) -> float:
        return 10.0 * float(self) * other


def test_a_global_that_is_the_argument() -> None:
    for _ in range(3):
        SHARED[:] = [3.0, 5.0]
        value, pullback = adbc.vjp(meanwhile, SHARED, 2.0)
        assert (value, pullback(1.0)) == (16.0, ([2.0, 2.0], 3.0))
        assert SHARED == [3.0, 5.0]
        SHARED[:] = [3.0, 5.0]
        assert adbc.jvp(meanwhile, (SHARED, 2.0), ([1.0, 1.0], 0.0)) == (16.0, 4.0)


def test_an_operator_that_changes_the_argument() -> None:
    for _ in range(3):
        xs: list[Any] = [3.0, 5.0]
        value, pullback = adbc.vjp(meddled, xs, Meddler(xs))
        assert value == 10.0
        assert pullback(1.0)[0] == [0.0, 2.0]
        assert xs == [3.0, 5.0]


def test_subclasses_and_other_numbers_are_seen_at_each_call() -> None:
    gradient = adbc.value_and_grad(norm)
    for _ in range(4):
        assert gradient([3.0, 4.0]) == (5.0, pytest.approx([0.6, 0.8]))
    assert gradient([3, 4.0])[0] == 5.0
    assert gradient([3.0, 4.0]) == (5.0, pytest.approx([0.6, 0.8]))
    total = math.sqrt(106.0)  # of 10 * 3 * 3 and 4 * 4
    assert gradient([Weight(3.0), 4.0]) == (total, pytest.approx([30.0 / total, 4.0 / total]))
    assert adbc.jvp(norm, ([3.0, 4],), ([1.0, adbc.NoTangent()],))[0] == 5.0
    for _ in range(3):
        assert adbc.jvp(norm, ([3.0, 4.0],), ([1.0, 0],)) == (5.0, pytest.approx(0.6))
    with pytest.raises(adbc.errors.AdbcError):
        adbc.jvp(norm, ([3.0, 4.0],), ([1.0, "x"],))


def leaves(xs: list[float], keep: list[Any]) -> float:
    made = [xs[0], 2.0]
    keep.append(made)
    made[1] = made[0] * made[1]
    return made[1]


def test_a_list_that_is_kept_by_others() -> None:
    for _ in range(3):
        kept: list[Any] = []
        value, pullback = adbc.vjp(leaves, [3.0], kept)
        assert value == 6.0 and pullback(1.0)[0] == [2.0]
        assert kept == []


def mixed(x: float, flag: bool) -> float:
    parts: list[Any] = [x, 2.0]
    if flag:
        parts.append(3)
    return parts[-1] * parts[0]


def test_lists_of_several_classes() -> None:
    for _ in range(3):
        check_rule(mixed, 1.5, False)
        check_rule(mixed, 1.5, True)


def caught(xs: list[float], k: float) -> float:
    made = [k]
    try:
        made.append(xs[7])
    except IndexError:
        made.append(xs[0])
    return made[0] * made[1]


def test_what_is_put_in_where_an_exception_is_handled() -> None:
    for _ in range(3):
        check_rule(caught, [1.5, 2.0], 0.7)
