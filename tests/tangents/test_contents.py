"""What stands in an array is compared bit by bit, whatever its dtype and its memory are like."""

from __future__ import annotations

from collections import OrderedDict, deque
from typing import Any

import numpy as np
import pytest

from adbc.tangents.contents import contents, differs, put_back

PAIR = np.dtype([("a", "f8"), ("b", "i1")])
ARRAYS: list[Any] = [
    np.array([1.0, np.nan, -0.0]),
    np.ones((2, 3), np.float32),
    np.asfortranarray(np.arange(6.0).reshape(2, 3)),
    np.arange(12.0).reshape(3, 4)[:, ::2],
    np.arange(4, dtype=np.int16),
    np.array([True, False]),
    np.ones(3, np.complex64),
    np.ones(3, np.longdouble),
    np.array(2.5),
    np.zeros(3, PAIR),
    np.array(["ab", "c"]),
    np.array([1.0, "text", None], object),
]


@pytest.mark.parametrize("x", ARRAYS, ids=lambda x: f"{x.dtype}-{x.shape}")
def test_a_change_of_one_element_is_seen_and_taken_back(x: Any) -> None:
    x = x.copy(order="A") if x.flags.forc else x
    ((found, old),) = list(contents([x]))
    assert found is x
    assert not differs(x, old)
    at = (0,) * x.ndim
    kept = x[at]
    x[at] = {"U": "zz", "O": [], "V": (5.0, 1), "b": not kept}.get(x.dtype.kind, 7)
    assert differs(x, old)
    put_back(x, old)
    assert not differs(x, old)


def test_bits_are_compared_and_not_numbers() -> None:
    x = np.array([0.0, np.nan])
    ((_, old),) = list(contents([x]))
    assert not differs(x, old)
    x[0] = -0.0
    assert differs(x, old)


def test_an_empty_array_is_itself() -> None:
    x = np.empty((0, 3))
    ((_, old),) = list(contents([x]))
    assert not differs(x, old)


class _CountedDict(dict[str, float]):
    def update(self, *args: Any, **kwargs: Any) -> None:
        raise AssertionError

    clear = update

    def __setitem__(self, key: str, value: float) -> None:
        raise AssertionError


class _CountedList(list[float]):
    def __setitem__(self, index: Any, value: Any) -> None:
        raise AssertionError


class _CountedDeque(deque[float]):
    def extend(self, values: Any) -> None:
        raise AssertionError

    def clear(self) -> None:
        raise AssertionError


class _CountedSet(set[float]):
    def update(self, *values: Any) -> None:
        raise AssertionError

    def clear(self) -> None:
        raise AssertionError


class _CountedOrder(OrderedDict[str, float]):
    def __setitem__(self, key: str, value: float) -> None:
        if value > 5.0:
            raise AssertionError
        super().__setitem__(key, value)


def _grown(x: Any) -> None:
    if isinstance(x, OrderedDict):
        OrderedDict.__setitem__(x, "b", 9.0)
        x.move_to_end("a")
        OrderedDict.__setitem__(x, "a", 2.0)
    elif isinstance(x, dict):
        dict.__setitem__(x, "b", 2.0)
    elif isinstance(x, set):
        set.add(x, 2.0)
    else:
        x.append(2.0)


@pytest.mark.parametrize(
    "x",
    [
        _CountedDict({"a": 1.0}), _CountedList([1.0]), _CountedDeque([1.0]), _CountedSet([1.0]),
        _CountedOrder({"a": 1.0, "c": 3.0}),
    ],
    ids=lambda x: type(x).__name__,
)  # fmt: skip
def test_what_is_put_back_passes_methods_by(x: Any) -> None:
    before = [*x.items()] if isinstance(x, dict) else [*x]
    ((_, old),) = [pair for pair in contents([x]) if pair[0] is x]
    _grown(x)
    assert differs(x, old)
    put_back(x, old)
    assert ([*x.items()] if isinstance(x, dict) else [*x]) == before
    assert not differs(x, old)
