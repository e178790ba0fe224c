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


class Unit:
    """No array, but asked by ufuncs, and by operators behind the array's."""

    __array_priority__ = 17

    def __init__(self, size: float) -> None:
        self.size = size

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **keywords: Any) -> Any:
        if ufunc is np.maximum:
            return NotImplemented
        return getattr(ufunc, method)(*[self.size if i is self else i for i in inputs], **keywords)

    def __rmul__(self, other: Any) -> Any:
        return "is not asked"

    __radd__ = __rsub__ = __rtruediv__ = __rpow__ = __rmod__ = __rfloordiv__ = __rmul__

    def __mul__(self, other: Any) -> Any:
        return NotImplemented


class Deferred(Unit):
    """A class that says that arrays are to leave operators to it."""

    __array_ufunc__: Any = None

    def __rmul__(self, other: Any) -> Any:
        return other * self.size * -1.0


def _in_place(x: Any, unit: Any) -> Any:
    y = x * 1.0
    y *= unit
    return y * x


BY_UNITS: list[Any] = [
    lambda x, u: x * u,
    lambda x, u: x / u + u * x,
    lambda x, u: (x + u) * (x - u) * x**u,
    lambda x, u: x % u * x + x // u,
    lambda x, u: x.__mul__(u) * x.__rtruediv__(u),
    lambda x, u: x * Deferred(2.0) * x,
    _in_place,
]


@pytest.mark.parametrize("program", BY_UNITS)
@pytest.mark.parametrize("x", [np.array([0.3, 1.2]), np.float64(0.7), np.float32(0.75), np.array(1.3)])
def test_operators_of_arrays_ask_the_other_class_by_its_ufunc(program: Any, x: Any) -> None:
    """It has reflected methods, too, which NumPy leaves alone."""

    def function(x: Any) -> Any:
        return program(x, Unit(1.75))

    def with_size(x: Any) -> Any:
        return np.sum(program(x, Unit(np.sum(x) * 1.5)))

    for _ in range(3):
        check_rule(function, x)
        check_rule(with_size, x)


def test_a_ufunc_that_the_other_class_declines_is_an_error() -> None:
    for derivative in (adbc.grad, lambda f: lambda x: adbc.jvp(f, (x,), (np.ones_like(x),))):
        with pytest.raises(TypeError, match="NotImplemented from __array_ufunc__"):
            derivative(lambda x: np.sum(np.maximum(x, Unit(2.0))))(np.array([1.0, 2.0]))


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


class Written:
    """Is made an array where it is written into one."""

    def __init__(self, x: Any, log: Any) -> None:
        self.x, self.log = x, log

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        self.log[0] *= 1.5
        return np.asarray(self.x, dtype)

    def __float__(self) -> float:
        self.log[0] *= 0.5
        return float(np.sum(self.x))


@pytest.mark.parametrize("guess", adbc.config.SPECULATION)
def test_what_is_made_an_array_is_written_into_another(guess: str) -> None:
    def write(x: Any, log: Any) -> Any:
        u, objects = np.zeros(4), np.empty(2, object)
        u[:2] = Written(x * x, log)
        u[[2, 3]] = Written(x[1], log)
        u[1] = Written(x * log[0], log)
        u[u > 100.0] = Written(x[0], log)
        objects[0] = Written(x, log)
        return u * np.arange(1.0, 5.0) * objects[0].x[1]

    with adbc.use(adbc.Config(speculation=guess)):
        check_rule(write, np.array([1.5, 2.0]), np.array([1.0]))


def test_what_is_made_an_array_in_a_list_is_refused() -> None:
    def join(x: Any) -> Any:
        return np.array([x, Written(x, [1.0])]).sum()

    for differentiate in (adbc.grad(join), lambda x: adbc.jvp(join, (x,), (x,))):
        with pytest.raises(adbc.errors.AdbcError):
            differentiate(np.array([1.5, 2.0]))


class Pose:
    """Keeps NumPy's operators away from itself, and shows its memory."""

    __array_ufunc__ = None

    def __init__(self, a: Any) -> None:
        self.a = a

    @property
    def __array_interface__(self) -> Any:
        return self.a.__array_interface__

    def __mul__(self, other: Any) -> Any:
        return Pose(self.a @ other.a) if type(other) is Pose else self.a * other

    def __rmul__(self, other: Any) -> Any:
        return other * self.a * 2.0

    def __imul__(self, other: Any) -> Any:
        self.a = self.a + other.a
        return self


class Turn(Pose):
    def __rmul__(self, other: Any) -> Any:
        return Turn(other.a @ self.a * 3.0) if isinstance(other, Pose) else other * self.a * 5.0


def test_operators_of_a_class_that_keeps_those_of_numpy_away() -> None:
    def compute(x: Any) -> Any:
        a, b = Pose(x), Turn(x.T)
        c = a * b
        d = a * Pose(x * x)
        d *= c
        return c.a, d.a, a * 2.0, 3.0 * b, x * a, np.float64(2.0) * b

    check_rule(compute, np.array([[0.5, 1.0], [1.5, -2.0]]))
