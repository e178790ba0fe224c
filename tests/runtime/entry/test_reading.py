"""Arguments that nobody asks for and that a function only reads are constants of the call."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import adbc
from adbc.errors import ConstWriteError
from adbc.runtime import default_engine
from adbc.runtime.entry import reverse
from adbc.runtime.entry.reading import only_read


def places(f: Callable[..., Any], *args: Any, names: tuple[str, ...] = ()) -> list[int]:
    return only_read(default_engine(), f, args, names, range(len(args)))


W, X, Y = np.array([0.5, -1.0, 2.0]), np.arange(12.0).reshape(4, 3), np.array([1.0, 0.0, 2.0, 1.0])


def least_squares(w: Any, x: Any, y: Any) -> Any:
    error = x @ w - y
    return np.sum(error * error)


def by_rows(w: Any, x: Any, y: Any) -> Any:
    total = 0.0
    for row, target in zip(x, y, strict=True):
        total += (row @ w - target) ** 2
    return total + x.T[0].sum() * w[0]


def through_a_helper(w: Any, x: Any, y: Any) -> Any:
    return least_squares(w, x[1:], y[1:]) + by_rows(w, x, y)


def polynomial(x: float, coefficients: list[float]) -> float:
    total = 0.0
    for c in coefficients:
        total = total * x + c
    return total + len(coefficients) * coefficients[0] * x


def writes_into_the_buffer(w: Any, x: Any, buffer: Any) -> Any:
    buffer[:] = w * x
    buffer[:1] += x[:1]
    return buffer.sum()


def writes_into_a_view(w: Any, x: Any) -> Any:
    view = x[1:]
    view[0] = w[0] * w[1]
    return np.sum(x * w)


def adds_in_place(w: Any, x: Any) -> Any:
    x += w
    return np.sum(x * x)


def appends(w: float, values: list[float]) -> float:
    values.append(w * w)
    return sum(values)


def keeps_it_in_a_list(w: Any, x: Any) -> Any:
    kept = [x]
    kept[0][0] = w[0]
    return np.sum(x * w)


def passes_it_on(w: Any, x: Any) -> Any:
    return adds_in_place(w, x) + x[0]


def as_output(w: Any, x: Any) -> Any:
    np.multiply(w, w, out=x)
    return np.sum(x)


def as_output_by_position(w: Any, x: Any) -> Any:
    np.multiply(w, w, x)
    np.sum(np.stack([x, w]), 0, None, x)
    return np.sum(x)


def sorts(w: float, values: list[float]) -> float:
    values.sort()
    values[0] = w
    return values[0] * values[1]


READERS: list[tuple[Callable[..., Any], tuple[Any, ...], list[int]]] = [
    (least_squares, (W, X, Y), [0, 1, 2]),
    (by_rows, (W, X, Y), [0, 1, 2]),
    (through_a_helper, (W, X, Y), [0, 1, 2]),
    (polynomial, (0.5, [1.0, 2.0, -0.5]), [1]),
]

WRITERS: list[tuple[Callable[..., Any], tuple[Any, ...], list[int]]] = [
    (writes_into_the_buffer, (W, W + 1.0, np.zeros(3)), [0, 1]),
    (writes_into_a_view, (W, W + 1.0), [0]),
    (adds_in_place, (W, W + 1.0), [0]),
    (appends, (2.0, [1.0]), []),
    (keeps_it_in_a_list, (W, W + 1.0), [0]),
    (passes_it_on, (W, W + 1.0), [0]),
    (as_output, (W, W + 1.0), [0]),
    (as_output_by_position, (W, W + 1.0), []),
    (sorts, (2.0, [3.0, 1.0]), []),
]


@pytest.mark.parametrize(("f", "args", "expected"), READERS + WRITERS)
def test_which_arguments_are_only_read(
    f: Callable[..., Any], args: tuple[Any, ...], expected: list[int]
) -> None:
    assert places(f, *args) == expected


def copied(args: tuple[Any, ...]) -> tuple[Any, ...]:
    return tuple(x.copy() if hasattr(x, "copy") else x for x in args)


@pytest.mark.parametrize(("f", "args", "_"), READERS + WRITERS)
def test_the_gradient_is_that_with_all_arguments_asked_for(
    f: Callable[..., Any], args: tuple[Any, ...], _: list[int]
) -> None:
    value, gradient = adbc.value_and_grad(f)(*copied(args))
    expected, gradients = adbc.value_and_grad(f, tuple(range(len(args))))(*copied(args))
    assert value == expected
    np.testing.assert_array_equal(gradient, gradients[0])
    direction = np.ones(3) if isinstance(args[0], np.ndarray) else 1.0
    _, tangent = adbc.jvp(f, copied(args), (direction, *[None] * (len(args) - 1)))
    np.testing.assert_allclose(tangent, np.sum(gradient), rtol=1e-13)


def product(x: Any, y: Any) -> Any:
    return np.sum(x * y * y)


def test_shared_memory_is_not_constant() -> None:
    x = np.array([1.0, 2.0, 3.0])
    expected = 3.0 * x * x
    for other in (x, x[:], np.asarray(x).view()):
        np.testing.assert_array_equal(adbc.grad(product)(x, other), expected)
        np.testing.assert_array_equal(adbc.jvp(product, (x, other), (np.ones(3), None))[1], expected.sum())
    # By hand: sum of x[i] * x[2 - i] ** 2.
    by_hand = [x[2] ** 2 + 2.0 * x[2] * x[0], 3.0 * x[1] ** 2, x[0] ** 2 + 2.0 * x[0] * x[2]]
    np.testing.assert_array_equal(adbc.grad(product)(x, x[::-1]), by_hand)


def sum_of_three(x: Any, y: Any, z: Any) -> Any:
    return np.sum(x * y * z * 1.0)


def kept_product(x: Any, y: Any, z: Any) -> Any:
    """A function that is given shadows, for its result is no number."""
    return np.tensordot(x * y, z, 1)


@pytest.mark.parametrize("f", [sum_of_three, kept_product])
def test_constants_may_be_one_object_and_views_and_integers(f: Callable[..., Any]) -> None:
    """They take the short way then; what shares memory with an argument that is asked for takes the long."""
    gradient, taken = adbc.grad(f), []
    with pytest.MonkeyPatch.context() as patch:
        first = reverse.FirstCall.__init__

        def noted(self: Any, *args: Any, **options: Any) -> None:
            taken.append(args)
            first(self, *args, **options)

        patch.setattr(reverse.FirstCall, "__init__", noted)
        x, y, wide = np.array([1.0, 2.0, 3.0]), np.array([4.0, 5.0, 6.0]), np.arange(6.0)
        for other in (y, y[:], wide[3:], wide[:3], np.array([1, 2, 3])):
            for _ in range(3):
                taken.clear()
                np.testing.assert_array_equal(gradient(x, other, other), other * other)
                np.testing.assert_array_equal(gradient(x, y, other), y * other)
            assert not taken
    for _ in range(3):
        np.testing.assert_array_equal(gradient(x, y, x), 2.0 * x * y)
        np.testing.assert_array_equal(gradient(x, x, y), 2.0 * x * y)
        np.testing.assert_array_equal(gradient(x, x, x), 3.0 * x * x)
        np.testing.assert_array_equal(gradient(wide[:3], y, wide[:3]), 2.0 * wide[:3] * y)


class Holder:
    def __init__(self, data: Any) -> None:
        self.data = data


def writes_through_an_object(w: Any, holder: Holder, x: Any) -> Any:
    holder.data[:] = w * w
    return np.sum(x)


def test_memory_that_another_argument_holds_is_not_constant() -> None:
    x = np.array([1.0, 2.0])
    np.testing.assert_array_equal(adbc.grad(writes_through_an_object)(x + 1.0, Holder(x), x), [4.0, 6.0])
    np.testing.assert_array_equal(x, [1.0, 2.0])


def test_memory_of_the_closure_is_not_constant() -> None:
    x = np.array([1.0, 2.0])

    def f(w: Any, y: Any) -> Any:
        x[:] = w * w
        return np.sum(y)

    np.testing.assert_array_equal(adbc.grad(f)(x + 1.0, x), [4.0, 6.0])


SHARED = np.array([1.0, 2.0])


def writes_through_a_global(w: Any, x: Any) -> Any:
    SHARED[:] = w * w
    return np.sum(x)


def test_a_write_through_a_global_is_refused() -> None:
    with pytest.raises(ConstWriteError, match="argnums"):
        adbc.grad(writes_through_a_global)(SHARED + 1.0, SHARED)
    np.testing.assert_array_equal(
        adbc.grad(writes_through_a_global, (0, 1))(SHARED + 1.0, SHARED)[0], [4.0, 6.0]
    )


def test_constants_are_found_among_keywords_and_behind_methods() -> None:
    np.testing.assert_array_equal(adbc.grad(least_squares)(W, y=Y, x=X), 2.0 * X.T @ (X @ W - Y))
    assert places(least_squares, W, Y, X, names=("y", "x")) == [0, 2, 1]

    class Model:
        scale = 2.0

        def loss(self, w: Any, x: Any) -> Any:
            return np.sum(self.scale * w * x)

    assert places(Model().loss, W, Y) == [0, 1]
    np.testing.assert_array_equal(adbc.grad(Model().loss)(W, W + 1.0), 2.0 * (W + 1.0))


def test_lists_that_hold_more_than_numbers_have_shadows() -> None:
    def f(w: float, rows: list[list[float]]) -> float:
        row = rows[0]
        row[0] = w * w
        return rows[0][0]

    assert adbc.grad(f)(3.0, [[1.0]]) == 6.0
