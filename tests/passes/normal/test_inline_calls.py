"""Small functions are written into their callers: values, derivatives and tracebacks are as without that."""

from __future__ import annotations

import itertools
import math
import traceback
import types
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import adbc
from adbc.errors import NotFiniteError
from adbc.ir.interpret import interpret
from adbc.ir.values import Const, Instruction
from adbc.ir.verify import verify
from adbc.lift import lift
from adbc.passes import normalise
from adbc.passes.normal.inline_calls import inline_calls, is_small
from adbc.passes.query import target
from adbc.runtime import default_engine
from adbc.testing import test_rule as check_rule


def scaled(k: float, v: float) -> float:
    return k * v


def clipped(v: float, low: float = 0.0, high: float = 2.0) -> float:
    if v < low:
        return low * v
    elif v > high:
        v = high + 0.1 * v
    return v * v


def both(x: float) -> float:
    return clipped(scaled(2.0, x), high=1.0) + clipped(scaled(v=x, k=-1.0))


def loops(n: int) -> float:
    total = 0.0
    for _ in range(n):
        total += 1.0
    return total


def caught(x: float) -> float:
    try:
        return 1.0 / x
    except ZeroDivisionError:
        return 0.0


def factorial(x: float) -> float:
    return 1.0 if x < 1.0 else x * factorial(x - 1.0)


def even(x: float) -> float:
    return x if x < 1.0 else scaled(1.5, odd(x - 1.0))


def odd(x: float) -> float:
    return 2.0 * x if x < 1.0 else scaled(0.5, even(x - 1.0))


def pair(x: float, y: float) -> tuple[float, float]:
    return x * y, x - y


def unpacks(x: float) -> float:
    for _ in range(3):
        x, y = pair(x, 1.1)
        x += 0.1 * y
    return x


def writes(u: list[float], x: float) -> list[float]:
    u[0] *= x
    u.append(x)
    return u


def changes(x: float, u: list[float]) -> float:
    v = writes(u, x)
    w = writes(v, u[0])
    return w[0] * v[-1] * u[1]


def ignores(x: float) -> float:
    changes(x, [1.0, 2.0])
    return scaled(x, x)


def in_array(x: float, a: Any) -> Any:
    a[1:] = scaled(x, a[:-1])
    return a


def of_arrays(x: float, a: Any) -> Any:
    return np.sum(scaled(x, in_array(x, a)))


PROGRAMS: list[tuple[Callable[..., Any], tuple[Any, ...]]] = [
    (both, (0.3,)),
    (both, (0.9,)),
    (both, (-3.0,)),
    (factorial, (3.5,)),
    (even, (3.5,)),
    (unpacks, (0.7,)),
    (changes, (1.5, [2.0, 3.0])),
    (ignores, (1.5,)),
    (of_arrays, (1.5, np.array([1.0, 2.0, 3.0]))),
]


@pytest.mark.parametrize(("function", "arguments"), PROGRAMS, ids=lambda x: getattr(x, "__name__", None))
def test_what_is_written_in_is_differentiated_rightly(
    function: Callable[..., Any], arguments: tuple[Any, ...]
) -> None:
    check_rule(function, *arguments)


def _graph(function: Any) -> Any:
    return normalise(lift(function), function.__globals__)


def _choose(call: Instruction) -> Any:
    function: Any = target(call)
    if type(function) is not types.FunctionType or function.__module__ != __name__ or call.keywords:
        return None
    graph = _graph(function)
    return (graph, call.operands[1:]) if len(call.operands) == len(graph.arguments) + 1 else None


def test_branches_become_blocks() -> None:
    def straight(x: float) -> float:
        return clipped(x, 0.0, 1.0) + 1.0

    graph = _graph(straight)
    assert inline_calls(graph, _choose)
    verify(graph)
    for x in (-1.0, 0.5, 3.0):
        assert interpret(graph, x, globals=globals()) == straight(x)
    (behind,) = [block for block in graph.blocks if block.label == "entry.behind"]
    assert [len(phi.operands) for phi in behind.phis] == [2]


def test_positions_remember_the_call() -> None:
    def straight(x: float) -> float:
        return scaled(2.0, x) + 1.0

    graph = _graph(straight)
    inline_calls(graph, _choose)
    product, total = graph.instructions()
    assert product.position is not None and total.position is not None
    inlined = product.position.inlined
    assert inlined is not None and inlined.call is not None and total.position.inlined is None
    assert inlined.qualname == "scaled"
    assert product.position.line == scaled.__code__.co_firstlineno + 1
    assert inlined.call.line == straight.__code__.co_firstlineno + 1


@pytest.mark.parametrize("function", [loops, caught, lambda *xs: xs, lambda: (yield)])
def test_what_stays_a_function(function: Any) -> None:
    assert not is_small(_graph(function))


def test_no_call_is_left_where_all_are_small() -> None:
    graph = default_engine().primal(both)
    assert not [call for call in graph.instructions() if isinstance(target(call), types.FunctionType)
                and target(call).__module__ == __name__]  # fmt: skip


def test_where_an_exception_is_handled_a_call_stays() -> None:
    def careful(x: float) -> float:
        try:
            return scaled(x, math.sqrt(x))
        except ValueError:
            return scaled(x, x)

    graph = default_engine().primal(careful)
    protected = [c for block in graph.blocks if block.handler for c in block.instructions]
    assert any(isinstance(v, Const) and v.value is scaled for call in protected for v in call.operands)
    check_rule(careful, 2.0)
    check_rule(careful, -2.0)


def test_a_function_that_is_replaced(monkeypatch: pytest.MonkeyPatch) -> None:
    gradient = adbc.value_and_grad(ignores)
    assert gradient(3.0) == (9.0, 6.0)
    monkeypatch.setitem(globals(), "scaled", lambda a, b: a + b)
    assert gradient(3.0) == (6.0, 2.0)
    monkeypatch.undo()
    assert gradient(3.0) == (9.0, 6.0)
    monkeypatch.setattr(scaled, "__code__", (lambda k, v: k * v * v).__code__)
    assert gradient(3.0) == (27.0, 27.0)
    monkeypatch.undo()
    monkeypatch.setattr(clipped, "__defaults__", (0.0, 1.0))
    assert adbc.value_and_grad(both)(-3.0) == (
        both(-3.0),
        pytest.approx((both(-2.999) - both(-3.001)) / 0.002),
    )


LIMIT = 2.0


def limited(x: float) -> float:
    return x * LIMIT


def uses_limit(x: float) -> float:
    return limited(x) * x


def test_what_an_inlined_function_reads_is_guarded(monkeypatch: pytest.MonkeyPatch) -> None:
    gradient = adbc.value_and_grad(uses_limit)
    assert gradient(3.0) == (18.0, 12.0)
    monkeypatch.setitem(globals(), "LIMIT", 5.0)
    assert gradient(3.0) == (45.0, 30.0)


def test_a_function_with_a_rule_is_not_written_in() -> None:
    def rounded(x: float) -> float:
        return float(round(x))

    namespace = {"rounded": rounded}
    exec("def through(x):\n    return rounded(x) * x", namespace)
    through: Any = namespace["through"]
    assert adbc.grad(through)(2.4) == 2.0

    @adbc.scalar_rule(rounded)
    def partials(out: float, x: float) -> float:
        return 1.0

    assert adbc.grad(through)(2.4) == 4.4


def fails(x: float) -> float:
    return x / (x - x)


def fails_inside(x: float) -> float:
    y = scaled(x, x)
    return (fails(y) if y > 0.0 else y) + 1.0


def outermost(x: float) -> float:
    return 2.0 * fails_inside(x) + scaled(x, x)


def _frames(run: Callable[[], object]) -> list[tuple[str, Any]]:
    with pytest.raises(ZeroDivisionError) as caught:
        run()
    entry = caught.value.__traceback__
    found = []
    while entry is not None:
        code = entry.tb_frame.f_code
        if code.co_name in ("outermost", "fails_inside", "fails"):
            position = next(itertools.islice(code.co_positions(), entry.tb_lasti // 2, None))
            assert entry.tb_lineno == position[0]
            found.append((code.co_qualname, position))
        entry = entry.tb_next
    return found


def test_tracebacks_show_the_frames() -> None:
    expected = _frames(lambda: outermost(1.5))
    assert len(expected) == 3
    assert _frames(lambda: adbc.grad(outermost)(1.5)) == expected
    assert _frames(lambda: adbc.jvp(outermost, (1.5,), (1.0,))) == expected


def test_tracebacks_print() -> None:
    with pytest.raises(ZeroDivisionError) as caught:
        adbc.grad(outermost)(1.5)
    text = "".join(traceback.format_exception(caught.value))
    assert text.index("in outermost") < text.index("in fails_inside") < text.index("in fails\n")
    assert "return x / (x - x)" in text


def test_debug_mode_names_the_function() -> None:
    with (
        adbc.use(adbc.Config(trace_nan=True)),
        pytest.raises(NotFiniteError, match="Called in root "),
    ):
        adbc.grad(uses_root)(0.0)


def root(x: float) -> float:
    return math.sqrt(x)


def uses_root(x: float) -> float:
    return root(x) * 2.0
