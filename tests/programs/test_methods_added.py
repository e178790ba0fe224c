"""Special methods that are put into a class after derivatives have been taken with its instances.

Which row of the table a call has, and what the interpreter does without one, depends on the classes of the
arguments; a class may get another method at any time, and what was derived before must not be used then.
"""

from __future__ import annotations

import dataclasses
import itertools
from collections import namedtuple
from collections.abc import Callable, Iterable
from typing import Any

import pytest

import adbc

X = 0.7

Maker = Callable[[], type]


def tuple_class() -> type:
    return namedtuple("P", "a b")  # type: ignore[no-any-return]  # it is made when it runs


def derived_tuple_class() -> type:
    class P(namedtuple("P", "a b")):  # type: ignore[misc]  # noqa: SLOT002  # a base made when it runs
        pass

    return P


def data_class() -> type:
    @dataclasses.dataclass
    class P:
        a: float
        b: float

    return P


def frozen_class() -> type:
    @dataclasses.dataclass(frozen=True)
    class P:
        a: float
        b: float

    return P


def plain_class() -> type:
    class P:
        def __init__(self, a: float, b: float) -> None:
            self.a, self.b = a, b

    return P


def slotted_class() -> type:
    class P:
        __slots__ = ("a", "b")

        def __init__(self, a: float, b: float) -> None:
            self.a, self.b = a, b

    return P


def list_class() -> type:
    class P(list):  # type: ignore[type-arg]
        def __init__(self, a: float, b: float) -> None:
            super().__init__([a, b])

    return P


def dict_class() -> type:
    class P(dict):  # type: ignore[type-arg]
        def __init__(self, a: float, b: float) -> None:
            super().__init__({0: a, 1: b})

    return P


def float_class() -> type:
    class P(float):
        def __new__(cls, a: float, b: float) -> Any:
            return super().__new__(cls, a + 2 * b)

    return P


CLASSES: list[Maker] = [
    tuple_class, derived_tuple_class, data_class, frozen_class, plain_class, slotted_class, list_class,
    dict_class, float_class,
]  # fmt: skip

METHODS: dict[str, tuple[Callable[[Any], Any], Callable[..., Any]]] = {
    "__getitem__": (lambda p: p[0], lambda self, k: 7.0),
    "__iter__": (lambda p: sum(p), lambda self: iter([5.0, 6.0])),
    "__len__": (lambda p: len(p) * 1.0, lambda self: 9),
    "__contains__": (lambda p: 1.5 if 0.25 in p else 2.5, lambda self, v: True),
    "__add__": (lambda p: (p + p)[0] if isinstance(p, (tuple, list)) else p + p, lambda self, o: (8.0,)),
    "__radd__": (lambda p: 1.0 + p, lambda self, o: 8.5),
    "__mul__": (lambda p: (p * 2)[0] if isinstance(p, (tuple, list)) else p * 2, lambda self, o: (11.0,)),
    "__rmul__": (lambda p: (2 * p)[0] if isinstance(p, (tuple, list)) else 2 * p, lambda self, o: (11.5,)),
    "__neg__": (lambda p: -p, lambda self: 3.25),
    "__float__": (lambda p: float(p), lambda self: 3.75),
    "__bool__": (lambda p: 1.25 if p else 2.25, lambda self: False),
    "__eq__": (lambda p: 1.75 if p == (0.25, 0.5) else 2.75, lambda self, o: True),
    "__lt__": (lambda p: 1.75 if p < (0.0, 0.0) else 2.75, lambda self, o: True),
    "__call__": (lambda p: p(2.0), lambda self, v: v * 4.5),
    "__getattr__": (lambda p: p.c, lambda self, name: 6.5),
    "__getattribute__": (lambda p: p.a if hasattr(p, "a") else 0.0, lambda self, name: 6.75),
    "__enter__": (lambda p: p.__enter__() * 1.0, lambda self: 2.125),
    "__abs__": (lambda p: abs(p), lambda self: 2.375),
    "__reversed__": (lambda p: next(reversed(p)), lambda self: iter([4.125])),
    "__index__": (lambda p: [1.0, 2.0, 3.0][p], lambda self: 2),
    "__truediv__": (lambda p: p / 2, lambda self, o: 4.25),
    "__matmul__": (lambda p: p @ p, lambda self, o: 4.375),
    "__pow__": (lambda p: p**2, lambda self, o: 4.5),
    "__iadd__": (lambda p: _added(p), lambda self, o: 4.625),
}
"""By special method, what uses it, and the method that is put in."""


def _added(p: Any) -> Any:
    p += (1.0,) if isinstance(p, (tuple, list)) else 1.0
    return p[-1] if isinstance(p, (tuple, list)) else p


def attempt(run: Callable[[], Any]) -> Any:
    """What `run` gives, or the class of what it raises."""
    try:
        return run()
    except Exception as error:
        return type(error)


SEQUENCE = ["__getitem__", "__iter__", "__add__", "__mul__", "__len__", "__rmul__"]
"""The methods by which instances of classes derived from containers are known."""


def test_a_method_of_a_sequence_is_used_in_written_code() -> None:
    check(tuple_class, "always", SEQUENCE[:3], ["reverse"])
    check(tuple_class, "learn", SEQUENCE, ["forward"])


@pytest.mark.slow
@pytest.mark.parametrize("speculation", ["learn", "always", "dynamic"])
@pytest.mark.parametrize("make", CLASSES)
def test_a_method_that_is_put_in_is_used(make: Maker, speculation: Any) -> None:
    check(make, speculation, METHODS, ["reverse", "forward"])


def check(make: Maker, speculation: Any, methods: Iterable[str], modes: Iterable[str]) -> None:
    """Compare derivatives before each of `methods` is put into a class, with it, and when it is gone."""
    for method, mode in itertools.product(methods, modes):
        use, added = METHODS[method]
        if method == "__getattribute__" and make in (list_class, dict_class):
            continue  # what super() finds is asked of it
        cls = make()

        def program(x: float) -> Any:
            p = cls(x, 2 * x)  # noqa: B023  # used in this round
            return x * 1.0 + use(p) * x  # noqa: B023

        def outcome(x: float) -> Any:
            if mode == "reverse":  # noqa: B023
                return adbc.value_and_grad(program)(x)  # noqa: B023
            return adbc.jvp(program, (x,), (1.0,))  # noqa: B023

        def compare(when: str) -> None:
            plain = attempt(lambda: program(X))
            found = attempt(lambda: outcome(X))
            where = f"{make.__name__}.{method} {mode} {when}"  # noqa: B023
            if isinstance(plain, type):
                is_error = found is plain or (isinstance(found, type) and issubclass(found, adbc.AdbcError))
                assert is_error, f"{where}: {found} in place of {plain}"
                return
            if found is adbc.errors.MissingRuleError:  # not wrong
                return
            assert not isinstance(found, type), f"{where}: {found}"
            step = 1e-6
            slope = (program(X + step) - program(X - step)) / (2 * step)  # noqa: B023
            assert found[0] == pytest.approx(plain), where
            assert found[1] == pytest.approx(slope, abs=1e-6), where

        with adbc.use(adbc.Config(speculation=speculation)):
            for _ in range(2):
                compare("before")
            setattr(cls, method, added)
            for _ in range(2):
                compare("with it")
            delattr(cls, method)
            compare("when it is gone")
