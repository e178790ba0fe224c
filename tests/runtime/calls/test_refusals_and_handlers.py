"""A refusal of adbc's is never taken for an error of the user's own."""

from __future__ import annotations

import struct
import sys
from typing import Any

import pytest

import adbc
from adbc.errors import MissingRuleError
from adbc.runtime import default_engine
from adbc.testing import test_rule


class Holder:
    def __init__(self, u: float) -> None:
        self.u = u


def test_a_missing_attribute_is_the_users_error() -> None:
    def f(x: float) -> Any:
        holder = Holder(x)
        try:
            return holder.missing  # type: ignore[attr-defined]  # that is the point
        except AttributeError:
            return 2.0 * x * holder.u

    assert adbc.value_and_grad(f)(1.5) == (4.5, 6.0)
    assert adbc.jvp(f, (1.5,), (1.0,)) == (4.5, 6.0)


def swallows(x: float) -> Any:
    try:
        text = struct.pack("d", x)  # written in C, without a rule
        return x * len(text)
    except Exception:
        return 100.0 * x
    finally:
        x = x + 1.0


def deeper(x: float) -> Any:
    try:
        return swallows(x)
    except BaseException:
        return -x


@pytest.mark.parametrize("f", [swallows, deeper])
def test_a_refusal_passes_all_handlers(f: Any) -> None:
    with pytest.raises(MissingRuleError):
        adbc.value_and_grad(f)(1.5)
    with pytest.raises(MissingRuleError):
        adbc.jvp(f, (1.5,), (1.0,))


def test_operands_that_do_not_go_together_are_the_users_error() -> None:
    def f(x: Any, other: Any) -> Any:
        for operation in (
            lambda y: y + other,
            lambda y: -other * y,
            lambda y: y < other,
            lambda y: y[0],
            lambda y: [*y],
        ):
            try:
                return operation(x)
            except TypeError:
                x = x * 2.0
        return x * x

    test_rule(f, 0.75, None)


def test_what_cannot_be_called_is_the_users_error() -> None:
    def f(x: Any, other: Any) -> Any:
        try:
            return other(x)
        except TypeError:
            return x * 3.0

    test_rule(f, 0.75, None)


def test_an_assignment_past_the_end_is_the_users_error() -> None:
    def f(x: Any, xs: list[float]) -> Any:
        try:
            xs[0] = x * 2.0
            xs[7] = x
        except IndexError as error:
            return xs[0] * x * len(str(error))
        return x

    test_rule(f, 0.75, [1.0, 2.0])


def test_an_attribute_that_cannot_be_set_is_the_users_error() -> None:
    def f(x: Any, other: Any) -> Any:
        try:
            other.attribute = x
        except AttributeError as error:
            return x * len(str(error))
        return x

    test_rule(f, 0.75, None)


def test_constant_keyword_defaults_carry_no_derivative() -> None:
    def f(x: Any) -> Any:
        scaled = lambda y, *rest, k=2.0, n=3: y * k + n + len(rest)  # noqa: E731  # the construct
        return scaled(x) * scaled(x, 1, k=x)

    test_rule(f, 0.75)


class Carrying(Exception):
    pass


@pytest.mark.parametrize("guess", ["never", "learn", "always"])
def test_an_integer_where_a_float_might_be_has_no_derivative(
    guess: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def f(x: float, n: int) -> float:
        v = 0 if n else x
        try:
            raise Carrying(v)
        except Carrying as e:
            return 2.0 * x + e.args[0]

    engine = default_engine()
    engine.clear()
    monkeypatch.setattr(engine.guesses, "mode", guess)
    assert adbc.jvp(lambda x: f(x, 1), (0.5,), (1.0,)) == (1.0, 2.0)
    assert adbc.value_and_grad(lambda x: f(x, 1))(0.5) == (1.0, 2.0)
    assert adbc.jvp(lambda x: f(x, 0), (0.5,), (1.0,)) == (1.5, 3.0)
    assert adbc.value_and_grad(lambda x: f(x, 0))(0.5) == (1.5, 3.0)
    engine.clear()


def refuses_in_a_handler(x: float) -> Any:
    try:
        raise KeyError(x)
    except KeyError:
        try:
            raise ValueError
        except ValueError:
            return struct.pack("d", Number(x))


class Number(Exception):
    """A number in an exception: what it holds is refused at once, in each mode."""

    def __float__(self) -> float:
        return float(self.args[0])


@pytest.mark.parametrize(
    "run",
    [
        lambda: adbc.grad(refuses_in_a_handler)(1.5),
        lambda: adbc.jvp(refuses_in_a_handler, (1.5,), (1.0,)),
        lambda: adbc.vjp(refuses_in_a_handler, 1.5),
    ],
)
def test_a_refusal_in_a_handler_leaves_nothing_handled(run: Any) -> None:
    with pytest.raises(MissingRuleError):
        run()
    assert sys.exception() is None
    outer = RuntimeError()
    try:
        raise outer
    except RuntimeError:
        with pytest.raises(MissingRuleError):
            run()
        assert sys.exception() is outer
    assert sys.exception() is None
