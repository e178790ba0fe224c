"""What is asked of a random call of NumPy: value, facts and arguments of the plain run in both modes, and
derivatives that agree with each other and with differences; or a refusal in both modes."""

from __future__ import annotations

import collections
from collections.abc import Iterable
from typing import Any

import numpy as np

import adbc
from adbc.errors import AdbcError
from adbc.runtime import default_engine
from adbc.testing import directional_derivative
from tests.properties.checks import fresh_engine
from tests.properties.numpy_calls import NumpyCall, quiet

__all__ = ["check", "check_among_constants", "check_chunk"]

Outcome = tuple[str, str]
"""The name of the function, and "right", "unsettled" (differences say nothing) or "refused"."""

STEP = 1e-3


def check_chunk(seeds: Iterable[int], speculation: str) -> collections.Counter[Outcome]:
    """Check the calls of some seeds, in this order and in this mode, and count what became of them.

    Raises what the first failure raised, with a note of seed and source.
    """
    found: collections.Counter[Outcome] = collections.Counter()
    with fresh_engine():
        for seed in seeds:
            default_engine().guesses.mode = speculation
            program = NumpyCall(seed)
            found[program.name, check(program)] += 1
    return found


def check(program: NumpyCall) -> str:
    """Check one call, twice: what the first run learns may change the code of the second."""
    try:
        with quiet():
            outcomes = {_checked(program) for _ in range(2)}
    except Exception as error:  # whatever it is: it goes on, and says where it comes from
        error.add_note(f"seed {program.seed}, speculation {default_engine().guesses.mode}\n{program.source}")
        raise
    assert len(outcomes) == 1, f"first and second run differ: {outcomes}\n{program.source}"
    return outcomes.pop()


def _of_a_number(f: Any, a: Any, b: Any, v: Any, s: float, t: Any) -> Any:
    return f(a.copy(), b.copy(), v.copy(), s * t)


def _in_an_array(f: Any, a: Any, b: Any, v: Any, s: float, t: Any) -> Any:
    return f(a * t, b + 0.0, v.copy(), s)


def _in_an_element(f: Any, a: Any, b: Any, v: Any, s: float, t: Any) -> Any:
    v = v * 1.0
    v[1] *= t
    return f(a.copy(), b[::-1][::-1], v, s)


def _in_a_part(f: Any, a: Any, b: Any, v: Any, s: float, t: Any) -> Any:
    b = np.sin(b)
    part = b[:2]
    part *= t
    return f(a + a.mean(), b, np.array([*v]), s)


AMONG_CONSTANTS = (_of_a_number, _in_an_array, _in_an_element, _in_a_part)
"""Ways in which some of the arguments of a call depend on a number, and the others are constants."""


def check_among_constants(program: NumpyCall) -> str:
    """Check one call, most arguments of which are constants, twice: whether both modes agree.

    That reverse mode takes for inactive what is not shows nowhere else: there everything may be active.
    """
    found = "refused"
    for mixed in AMONG_CONSTANTS:

        def f(t: float, mixed: Any = mixed) -> Any:
            return mixed(program.function, *program.arguments(), t)[0]

        try:
            with quiet():
                facts = mixed(program.function, *program.arguments(), 1.0)[1]
        except Exception:  # whatever NumPy says of such a call
            continue
        try:
            for _ in range(2):
                with quiet():
                    try:
                        same_random_numbers()
                        value, forward = adbc.jvp(f, (1.0,), (1.0,))
                        same_random_numbers()
                        again, reverse = adbc.value_and_grad(f)(1.0)
                    except AdbcError:
                        continue
                found = "right"
                is_short = any(name in program.source + str(facts) for name in SHORT)
                _agree(value, again, is_short)
                _agree(0.0 if isinstance(forward, adbc.NoTangent) else forward, reverse, is_short)
        except Exception as error:  # whatever it is: it goes on, and says where it comes from
            way = f"{mixed.__name__}, speculation {default_engine().guesses.mode}"
            error.add_note(f"seed {program.seed}, {way}\n{program.source}")
            raise
    return found


SHORT = ("float16", "float32", "complex64", "'e'", "'f'", "'df'", "'f4'", "<f2", "<f4", "<c8")
"""What says that numbers of single or half precision are computed with."""


def _agree(forward: Any, reverse: Any, is_short: bool) -> None:
    allowed = 2e-2 if is_short else 1e-8
    np.testing.assert_allclose(reverse, forward, rtol=allowed, atol=allowed)


def same_random_numbers() -> None:
    np.random.seed(0)  # noqa: NPY002  # what the programs call


def _checked(program: NumpyCall) -> str:
    f = program.function
    plain = program.arguments()
    same_random_numbers()
    value, facts = f(*plain)
    direction = _direction(program.seed)

    forward = _of_forward_mode(f, program.arguments(), direction, (value, facts), plain)
    reverse = _of_reverse_mode(f, program.arguments(), direction, (value, facts), plain)
    if forward is None:  # while forward mode may know more of what is constant
        assert reverse is None, f"refused in forward mode only: {reverse}"
        return "refused"
    is_single = any(name in program.source + str(facts) for name in SHORT)
    is_half = "float16" in program.source or "<f2" in str(facts)
    if reverse is not None:
        allowed = (1e-2 if is_half else 1e-4 if is_single else 1e-9) * max(1.0, abs(forward), abs(reverse))
        assert abs(forward - reverse) <= allowed, f"forward {forward}, reverse {reverse}"
    if is_half:  # differences say nothing of numbers with three digits
        return "unsettled"

    def run(args: Any) -> Any:
        same_random_numbers()
        return f(*args)[0]

    if np.finfo(float).eps * abs(value) / STEP > 1e-6:  # what is left of a difference is rounding
        return "unsettled"

    # Of single precision large steps say more, but they may go across a kink: then a smaller one disagrees.
    steps = (100 * STEP, 10 * STEP) if is_single else (STEP,)
    slopes = []
    for step in steps:
        try:
            ((_, slope),), (error,) = directional_derivative(run, program.arguments(), direction, step=step)
        except ValueError:  # a quantile above 1, say: the step leaves what the function is defined for
            return "unsettled"
        allowed = (2e-2 if is_single else 1e-5) * max(1.0, abs(slope))
        if not error <= allowed:
            return "unsettled"
        slopes.append(slope)
    if max(slopes) - min(slopes) > allowed / 2:
        return "unsettled"
    assert abs(slope - forward) <= allowed, f"difference {slope}, forward {forward}"
    return "right" if reverse is not None else "refused"


def _direction(seed: int) -> list[Any]:
    rng = np.random.default_rng(seed + 1)
    return [rng.uniform(-1.0, 1.0, shape) for shape in ((3, 4), (4, 3), (4,))] + [
        float(rng.uniform(-1.0, 1.0))
    ]


def _compare(out: tuple[Any, Any], args: list[Any], expected: tuple[Any, Any], plain: list[Any]) -> None:
    (value, facts), (wanted, wanted_facts) = out, expected
    assert facts == wanted_facts, f"facts {facts}, plain {wanted_facts}"
    assert type(value) is type(wanted), f"{type(value)}, plain {type(wanted)}"
    np.testing.assert_allclose(value, wanted, rtol=1e-5 if _is_single(facts) else 1e-11, atol=1e-12)
    for x, y in zip(args, plain, strict=True):
        np.testing.assert_allclose(x, y, rtol=1e-11, err_msg="an argument after the call")


def _is_single(facts: Any) -> bool:
    return (
        any(map(_is_single, facts))
        if isinstance(facts, tuple)
        else facts in ("<f4", "<c8", "<f2", "float32", "complex64", "float16")
    )


def _of_forward_mode(
    f: Any, args: list[Any], direction: list[Any], expected: tuple[Any, Any], plain: list[Any]
) -> float | None:
    tangents = [d.copy() if isinstance(d, np.ndarray) else d for d in direction]
    same_random_numbers()
    try:
        out, dout = adbc.jvp(f, tuple(args), tuple(tangents))
    except AdbcError:
        return None
    _compare(out, args, expected, plain)
    return 0.0 if isinstance(dout, adbc.NoTangent) else float(dout[0])


def _of_reverse_mode(
    f: Any, args: list[Any], direction: list[Any], expected: tuple[Any, Any], plain: list[Any]
) -> float | None:
    given = [x.copy() if isinstance(x, np.ndarray) else x for x in args]
    same_random_numbers()
    try:
        out, pullback = adbc.vjp(f, *args)
    except AdbcError:
        return None
    _compare(out, args, expected, plain)
    try:
        gradients = pullback((1.0, adbc.NoTangent()))
    except AdbcError:
        return None
    for x, y in zip(args, given, strict=True):
        np.testing.assert_array_equal(x, y, "an argument after the pullback")
    return sum(float(np.sum(np.asarray(g) * d)) for g, d in zip(gradients, direction, strict=True))
