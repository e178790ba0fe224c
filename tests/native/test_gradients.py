"""Machine code gives what bytecode gives, to the last bit, and leaves to bytecode what it cannot do."""

from __future__ import annotations

import gc
import math
import os
import signal
import subprocess
import sys
import threading
import weakref
from array import array
from collections.abc import Iterator
from typing import Any

import pytest

import adbc
from adbc.config import Config
from adbc.errors import NativeError
from adbc.low.interpret import BailedOut, interpret
from adbc.low.text import read
from adbc.rules import default_table
from adbc.runtime import default_engine, make_engine, using
from benchmarks.workload import duplicate
from benchmarks.workloads import GROUPS
from tests.low.lowering import arguments, bits, is_shadow, lowered, outcome
from tests.low.programs import PROGRAMS, checked, horner, newton, rows
from tests.low.scalar_functions import function, inputs, source
from tests.low.test_lower import NATIVE

pytest.importorskip("llvmlite")

from adbc.native.code import Code
from adbc.native.machine import is_installed, same_functions

WORKLOADS = {w.name: w for group in GROUPS.values() for w in group}
COUNT = int(os.environ.get("ADBC_RANDOM_FUNCTIONS", "200"))
SCALE = 2.0


@pytest.fixture
def native() -> Iterator[Any]:
    """An engine for machine code, as the default."""
    engine = make_engine(default_table(), Config(backend="native"))
    with using(engine):
        yield engine


def codes(engine: Any) -> list[Any]:
    return [rule.native.code for rule in engine.rules.values() if rule.native is not None]


@pytest.mark.parametrize("name", PROGRAMS)
def test_gradients_are_those_of_bytecode(name: str, native: Any) -> None:
    f, args, argnums = PROGRAMS[name]
    with using(make_engine(default_table(), Config(warm_after=0))):
        expected = bits(adbc.value_and_grad(f, argnums)(*args))
    both = adbc.value_and_grad(f, argnums)
    assert bits(both(*args)) == bits(both(*args)) == expected
    assert bits(adbc.grad(f, argnums)(*args)) == expected[1]
    assert all(codes(native))


@pytest.mark.parametrize("name", PROGRAMS)
def test_tangents_are_those_of_bytecode(name: str, native: Any) -> None:
    f, args, argnums = PROGRAMS[name]
    wanted = [i for i in ((argnums,) if isinstance(argnums, int) else argnums) if type(args[i]) is float]
    if not wanted:
        pytest.skip("tangents of lists are bytecode's business")
    along = tuple(1.5 if i in wanted else None for i in range(len(args)))
    with using(make_engine(default_table(), Config(warm_after=0))):
        expected = bits(adbc.jvp(f, args, along))
    assert bits(adbc.jvp(f, args, along)) == bits(adbc.jvp(f, args, along)) == expected
    assert all(codes(native))


@pytest.mark.parametrize("name", sorted(NATIVE))
def test_benchmark_programs_are_those_of_bytecode(name: str, native: Any) -> None:
    workload = WORKLOADS[name]
    expected = bits(workload_gradient(workload))
    with using(make_engine(default_table(), Config(warm_after=0))):
        assert bits(workload_gradient(workload)) == expected
    assert all(codes(native))


def workload_gradient(workload: Any) -> Any:
    return adbc.value_and_grad(workload.function, workload.argnums)(*duplicate(workload.small))


@pytest.mark.parametrize("first", range(0, COUNT, 20))
def test_random_functions_are_those_of_bytecode(first: int) -> None:
    for seed in range(first, min(first + 20, COUNT)):
        f, text = function(seed), source(seed)
        bytecode = make_engine(default_table(), Config(warm_after=0))
        with using(make_engine(default_table(), Config(backend="native"))):
            for number in range(3):
                x, y, n = inputs(seed, number)
                n = n % 8 if "range(n" in text else n
                both = adbc.value_and_grad(f, (0, 1))
                try:
                    found = outcome(both, x, y, n), outcome(adbc.jvp, f, (x, y, n), (1.0, 0.5, None))
                except NativeError:
                    break
                with using(bytecode):
                    both = adbc.value_and_grad(f, (0, 1))
                    expected = outcome(both, x, y, n), outcome(adbc.jvp, f, (x, y, n), (1.0, 0.5, None))
                assert found == expected, f"{seed}: {x}, {y}, {n}\n{text}"


@pytest.mark.parametrize("name", PROGRAMS)
def test_bailing_out_at_any_site_changes_nothing(name: str, native: Any) -> None:
    f, args, argnums = PROGRAMS[name]
    both = adbc.value_and_grad(f, argnums)
    expected = bits(both(*args))
    (rule,) = [r for r in native.rules.values() if r.native is not None]
    program = lowered(f, args, argnums)
    visited: set[int] = set()
    interpret(program, *arguments(program, args, f), visited=visited)
    for site in visited:

        def stops(*values: Any, site: int = site) -> Any:
            return interpret(program, *values, bail_at=[site])

        with pytest.raises(BailedOut):
            stops(*arguments(program, args, f))
        rule.native.code = stops
        fresh = adbc.value_and_grad(f, argnums)
        assert bits(fresh(*args)) == expected
        assert bits(fresh(*args)) == expected


@pytest.mark.parametrize("name", PROGRAMS)
def test_machine_code_bails_out_where_the_interpreter_does(name: str) -> None:
    f, args, argnums = PROGRAMS[name]
    program = lowered(f, args, argnums)
    given = arguments(program, args, f)
    code = Code(program)
    shadows = [i for i, register in enumerate(program.parameters) if is_shadow(register)]
    for x in (0.0, -0.0, -1.5, 1e-320, 1e308, math.inf, math.nan):
        if type(given[0]) is float:
            given[0] = x
        if name.startswith("newton") and not 0.0 < x < 10.0:
            continue
        ours, theirs = list(given), list(given)
        for i in shadows:
            ours[i], theirs[i] = array("d", given[i]), list(given[i])
        expected = ending(lambda *values: interpret(program, *values), theirs)
        assert ending(code, ours) == expected
        assert [bits(list(ours[i])) for i in shadows] == [bits(theirs[i]) for i in shadows]


def ending(call: Any, given: list[Any]) -> Any:
    try:
        return bits(tuple(call(*given)))
    except BailedOut as bailed:
        return bailed.site


# -- what is left to bytecode ------------------------------------------------------------------------------


def test_exceptions_are_those_of_the_function(native: Any) -> None:
    def f(x: float, n: int) -> float:
        return math.log(x) / n

    both = adbc.value_and_grad(f)
    assert both(1.0, 2) == (0.0, 0.5)
    with pytest.raises(ValueError, match="math domain error") as caught:
        both(-1.0, 2)
    assert caught.traceback[-1].lineno == f.__code__.co_firstlineno
    with pytest.raises(ZeroDivisionError):
        both(2.0, 0)
    assert both(1.0, 2) == (0.0, 0.5)


def test_exceptions_that_are_raised_are_those_of_the_function(native: Any) -> None:
    both = adbc.value_and_grad(checked)
    assert both(4.0) == (4.0, 0.5)
    assert all(codes(native))
    with pytest.raises(ValueError, match="is negative"):
        both(-1.0)
    assert both(4.0, None) == (4.0, 0.5)
    assert both(4.0, 1.0) == (2.0, 0.25)


def test_long_ints_are_bytecodes_business(native: Any) -> None:
    def f(x: float, n: int) -> float:
        return x * (n * n)

    both = adbc.value_and_grad(f)
    assert both(1.0, 3) == (9.0, 9.0)
    assert both(1.0, 10**10) == (1e20, 1e20)
    assert both(1.0, 10**30) == (1e60, 1e60)


def test_arguments_of_other_classes_are_refused(native: Any) -> None:
    both = adbc.value_and_grad(newton)
    assert both(2.0, 1e-9)[0] == math.sqrt(2.0) or both(2.0, 1e-9)
    with pytest.raises(NativeError, match="argument 1 is of type"):
        both(2.0, 1j)
    with pytest.raises(adbc.errors.ArgumentError, match="pass a float"):
        both(2, 1e-9)
    with pytest.raises(TypeError, match="missing 1 required"):
        both(2.0)


def test_lists_are_looked_at_in_each_call(native: Any) -> None:
    both = adbc.value_and_grad(horner)
    assert both(0.5, [1.0, 2.0]) == (2.5, 1.0)
    assert both(0.5, [1.0, 2.0, 3.0]) == (4.25, 3.0)
    assert both(0.5, [1.0, 2]) == (2.5, 1.0)  # bytecode's business


def test_other_gradients_are_not_native_and_say_so(native: Any) -> None:
    with pytest.raises(NativeError, match="it has a closure"):
        adbc.grad(lambda x: x * native.epoch)(1.0)
    with pytest.raises(NativeError, match="no function written in Python"):
        adbc.grad(math.exp)(1.0)
    with pytest.raises(NativeError, match=r"line \d+: gamma: there is no native form of this call") as caught:
        adbc.grad(lambda x: math.gamma(x) * x)(1.5)
    assert 'Config(backend="auto")' in str(caught.value)


# -- what has to hold ----------------------------------------------------------------------------------------


def scaled(x: float) -> float:
    return wave(x) * x


def wave(x: float) -> float:
    return math.sin(x)


def test_what_names_lead_to_is_looked_at_in_each_call(native: Any, monkeypatch: Any) -> None:
    both = adbc.value_and_grad(scaled)
    assert both(0.5) == (math.sin(0.5) * 0.5, math.cos(0.5) * 0.5 + math.sin(0.5))
    monkeypatch.setitem(globals(), "wave", lambda x: x * x)
    assert both(0.5) == (0.125, 0.75)
    monkeypatch.setattr(wave, "__code__", (lambda x: x).__code__)
    monkeypatch.setitem(globals(), "wave", wave)
    assert both(0.5) == (0.25, 1.0)


def test_defaults_are_read_in_each_call(native: Any) -> None:
    def f(x: float, scale: float = 2.0) -> float:
        return x * scale

    both = adbc.value_and_grad(f)
    assert both(3.0) == (6.0, 2.0)
    f.__defaults__ = (5.0,)
    assert both(3.0) == (15.0, 5.0)
    assert both(3.0, scale=4.0) == (12.0, 4.0)


def test_a_new_rule_is_seen(native: Any) -> None:
    def g(x: float) -> float:
        return x * x

    def f(x: float) -> float:
        return g(x) + x

    with adbc.use(Config(backend="native")):
        both = adbc.value_and_grad(g)
        assert both(3.0) == (9.0, 6.0)
        default_engine().table.epoch += 1
        assert both(3.0) == (9.0, 6.0)


def test_code_goes_with_its_rule(native: Any) -> None:
    assert adbc.value_and_grad(rows)(0.5, 3)
    (rule,) = [r for r in native.rules.values() if r.native is not None]
    machine = weakref.ref(rule.native.code.machine)
    del rule
    native.clear()
    gc.collect()
    assert machine() is None


@pytest.mark.parametrize("switch", [{"debug": True}, {"trace_nan": True}])
def test_what_watches_switches_machine_code_off(switch: dict[str, Any]) -> None:
    with using(make_engine(default_table(), Config(backend="native", **switch))) as _:
        assert default_engine().native is None
        assert adbc.grad(newton)(2.0, 1e-9) == pytest.approx(0.5 / math.sqrt(2.0))


def test_auto_takes_what_there_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("adbc.runtime.entry.native.WORTHWHILE", 0.0)
    engine = make_engine(default_table(), Config(backend="auto"))
    with using(engine):
        both = adbc.value_and_grad(newton)
        expected = both(2.0, 1e-9)
        for _ in range(3):
            assert both(2.0, 1e-9) == expected
        assert len([code for code in codes(engine) if code]) == 1
        refused = adbc.value_and_grad(lambda x: math.gamma(x))
        for _ in range(3):
            assert refused(1.0) == refused(1.0)


def spin(x: float, n: int) -> float:
    for _ in range(n):
        x = x * 1.0
    return x


def test_a_long_loop_can_be_interrupted(native: Any) -> None:
    both = adbc.value_and_grad(spin)
    assert both(1.0, 10) == (1.0, 1.0)
    timer = threading.Timer(0.3, lambda: os.kill(os.getpid(), signal.SIGINT))
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        adbc.jvp(spin, (1.0, 10**13), (1.0, None))
    timer.join()
    assert both(1.0, 10) == (1.0, 1.0)


def test_other_threads_run_meanwhile(native: Any) -> None:
    adbc.jvp(spin, (1.0, 10), (1.0, None))
    ticks: list[int] = []
    ticker = threading.Thread(target=lambda: ticks.extend(range(1000)))
    ticker.start()
    adbc.jvp(spin, (1.0, 10**8), (1.0, None))
    assert len(ticks) == 1000
    ticker.join()


def test_nothing_is_loaded_unless_it_is_used() -> None:
    code = (
        "import sys, adbc; adbc.grad(lambda x: x * x)(2.0)\n"
        "sys.exit(any(name.startswith(('llvmlite', 'adbc.low', 'adbc.native')) for name in sys.modules))"
    )
    environment = {k: v for k, v in os.environ.items() if k != "ADBC_BACKEND"}
    assert subprocess.run([sys.executable, "-c", code], check=False, env=environment).returncode == 0


def test_without_llvmlite_it_is_said_what_to_install() -> None:
    code = (
        "import sys, adbc\n"
        "sys.modules['llvmlite'] = None\n"
        "f = lambda x: x * x\n"
        "assert adbc.grad(f)(2.0) == 4.0\n"
        "with adbc.use(adbc.Config(backend='auto')):\n"
        "    assert adbc.grad(f)(2.0) == 4.0\n"
        "with adbc.use(adbc.Config(backend='native')):\n"
        "    try: adbc.grad(f)(2.0)\n"
        "    except adbc.errors.NativeError as error: print(error)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert 'pip install "adbc-autodiff[native]"' in done.stdout


def test_the_functions_of_the_c_library_are_those_of_math() -> None:
    assert is_installed()
    assert {"sin", "cos", "exp", "log"} <= same_functions()


def test_tapes_grow(native: Any) -> None:
    assert adbc.value_and_grad(rows)(0.5, 200) == using_bytecode(rows, 0.5, 200)


def using_bytecode(f: Any, *args: Any) -> Any:
    with using(make_engine(default_table(), Config(warm_after=0))):
        return adbc.value_and_grad(f)(*args)


def test_every_operation_is_the_machines() -> None:
    """The operations that no program of these tests may come to, on ordinary numbers."""
    text = """\
low f(x: f64, y: f64, k: i64, m: i64, c: i1) -> f64, f64, f64, f64, f64, f64, f64
site 0: 'long'
entry:
    %1: i64 = ifloordiv %k, %m
    %2: i64 = imod %k, %m
    %3: i64 = imul %1, %2 else 0
    %4: i64 = iselect %c, %3, %k
    %5: f64 = itof %4
    %6: f64 = frem %x, %y
    %7: f64 = copysign %x, %y
    %8: f64 = trunc %x
    %9: f64 = ceil %y
    %10: i1 = xor %c, True
    %11: i1 = bselect %10, %c, %10
    %12: i64 = btoi %11
    %13: f64 = itof %12
    %14: f64 = fselect %c, %x, %y
    return %5, %6, %7, %8, %9, %13, %14
"""
    program = read(text)
    code = Code(program)
    for x, y in ((5.5, -1.25), (-5.5, 1.25), (-0.0, 3.0)):
        for k, m in ((7, -3), (-7, 3), (-9, -4), (8, 2), (-8, 2)):
            for c in (True, False):
                assert bits(tuple(code(x, y, k, m, c))) == bits(interpret(program, x, y, k, m, c))


def test_overflow_is_seen() -> None:
    text = """\
low f(k: i64) -> f64
site 0: 'long'
entry:
    %1: i64 = imul %k, %k else 0
    %2: f64 = itof %1
    return %2
"""
    code = Code(read(text))
    assert code(2**31) == (2.0**62,)
    with pytest.raises(BailedOut, match="long"):
        code(2**32)
