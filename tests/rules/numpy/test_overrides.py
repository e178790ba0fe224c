"""Classes that override NumPy's functions, and what is made an array of."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import adbc
from adbc.testing import test_rule as check_rule


class Wrapped:
    def __init__(self, x: Any) -> None:
        self.x = x

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **keywords: Any) -> Any:
        plain = [i.x if isinstance(i, Wrapped) else i for i in inputs]
        return Wrapped(getattr(ufunc, method)(*plain, **keywords))

    def __array_function__(self, function: Any, types: Any, arguments: Any, keywords: Any) -> Any:
        if not all(issubclass(t, Wrapped) for t in types):
            return NotImplemented
        plain = [i.x if isinstance(i, Wrapped) else i for i in arguments]
        return 2.0 * function(*plain, **keywords)


class Doubled(Wrapped):
    """A subclass is asked first."""

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **keywords: Any) -> Any:
        return super().__array_ufunc__(ufunc, method, *inputs, **keywords).x * 2.0


class Declining(Wrapped):
    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **keywords: Any) -> Any:
        return NotImplemented


class Mixed(np.lib.mixins.NDArrayOperatorsMixin, Wrapped):
    pass


class Convertible:
    def __init__(self, x: Any) -> None:
        self.x = x

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        return self.x


def test_ufuncs() -> None:
    def function(x: Any) -> Any:
        y = np.multiply(Wrapped(x), 3.0)
        return np.sum(np.sin(y).x * x)

    check_rule(function, np.array([0.3, 1.2]))


def test_order_of_classes() -> None:
    def function(x: Any) -> Any:
        return np.sum(np.add(Wrapped(x), Doubled(x * x)))

    check_rule(function, np.array([0.3, 1.2]))


def test_a_class_that_overrides_a_function_is_asked() -> None:
    def function(x: Any) -> Any:
        return np.sum(Wrapped(x * x), axis=0)

    check_rule(function, np.array([0.3, 1.2]))


def test_operators() -> None:
    def function(x: Any) -> Any:
        y = Mixed(x) * 2.0 + x
        return np.sum((x * y).x)

    check_rule(function, np.array([0.3, 1.2]))


def test_conversion() -> None:
    def function(x: Any) -> Any:
        return np.sum(np.asarray(Convertible(x * 2.0)) * np.array(Convertible(x)))

    check_rule(function, np.array([0.3, 1.2]))


def test_nobody_answers() -> None:
    with pytest.raises(TypeError, match="NotImplemented from __array_ufunc__"):
        adbc.grad(lambda x: np.multiply(Declining(x), 3.0))(0.7)
