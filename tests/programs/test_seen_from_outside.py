"""Programs in other styles than those of the other tests, each of which once gave a wrong number, a crash or
a foreign exception: right in both modes, however much is known of types, or refused for the reason given."""

from __future__ import annotations

import collections
import decimal
import functools
import io
import json
import math
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.interpolate
import scipy.signal
import scipy.sparse.linalg

import adbc
from adbc.config import SPECULATION

V = np.array([0.5, 1.5, 2.75])


# -- construction --------------------------------------------------------------------------------------------


class ListOfItsOwn(list):
    def __new__(cls, *_: Any) -> Any:
        return super().__new__(cls)


class DictOfItsOwn(dict):
    def __new__(cls, *_: Any) -> Any:
        return super().__new__(cls)


class Plain:
    def __init__(self, v: Any) -> None:
        self.v = v


class MakesAnother(Plain):
    def __new__(cls, v: Any) -> Any:
        return Another.__new__(Another)


class Another(MakesAnother):
    def __new__(cls, v: Any = None) -> Any:
        return object.__new__(cls)

    def __init__(self, v: Any) -> None:
        self.v = 5.0 * v


class PartialInit:
    def __new__(cls, *_: Any) -> Any:
        return object.__new__(cls)

    def _set(self, k: float, v: Any) -> None:
        self.v = k * v

    __init__: Any = functools.partialmethod(_set, 3.0)


# -- special methods with effects ----------------------------------------------------------------------------


class Hint:
    def __init__(self, x: Any) -> None:
        self.x = x
        self.asked = 0

    def __len__(self) -> int:
        self.asked += 1
        return 2

    def __iter__(self) -> Any:
        return iter([self.x, self.x])


def asks(use: Callable[[Any], Any]) -> Callable[[Any], Any]:
    def asking(x: Any) -> Any:
        k = Hint(x)
        use(k)
        return x * k.asked + x * x

    return asking


class Counting:
    def __init__(self) -> None:
        self.n = 0

    def __hash__(self) -> int:
        self.n += 1
        return 1


def hashes(x: Any) -> Any:
    k = Counting()
    d = {k: x}
    d[k] = x
    return x * k.n


class Logged:
    def __init__(self, v: Any, log: list[Any]) -> None:
        self.v = v
        self.log = log

    def __lt__(self, other: Any) -> Any:
        self.log.append(self.v)
        return self.v < other.v

    def __eq__(self, other: object) -> bool:
        self.log.append(self.v)
        return bool(self.v == other.v)  # type: ignore[attr-defined]


def sorts(x: Any) -> Any:
    log: list[Any] = []
    sorted([Logged(x, log), Logged(2.0 * x, log), Logged(0.5 * x, log)])
    return sum(log) * x


def searches(x: Any) -> Any:
    log: list[Any] = []
    _ = Logged(x, log) in [Logged(2.0 * x, log), Logged(3.0 * x, log)]
    return sum(log) * x


# -- lifetimes -----------------------------------------------------------------------------------------------


def asks_for_what_is_gone(x: Any) -> Any:
    o = Plain(x)
    r = weakref.ref(o)
    y = o.v
    del o
    return x * y if r() is None else 0.0 * x


def counts_the_dead(x: Any) -> Any:
    dead: list[int] = []

    class Mortal:
        def __del__(self) -> None:
            dead.append(1)

    o = Mortal()
    del o
    return x * len(dead)


# -- text and patches ----------------------------------------------------------------------------------------


def through_a_buffer(x: Any) -> Any:
    text = io.StringIO()
    text.write(str(x))
    return float(text.getvalue())


def patches(x: Any) -> Any:
    old = math.sin
    math.sin = math.cos
    try:
        return math.sin(x)
    finally:
        math.sin = old


# -- infinities, shapes --------------------------------------------------------------------------------------


def beside_an_infinity(d: Any) -> Any:
    k = np.array([1.0, 2.0, 3.0]) * d
    delta = k * np.array([np.inf, 1.0, 2.0])
    return (delta[1:] * 1.0).sum()


def accumulates_into(v: Any) -> Any:
    w = np.empty(3)
    np.add.accumulate(v, out=w)
    return (w * w).sum()


# -- recursion and mappings ----------------------------------------------------------------------------------


class Mapped:
    def __init__(self, x: Any) -> None:
        self.x = x

    def keys(self) -> list[str]:
        return ["a", "b"]

    def __getitem__(self, k: str) -> Any:
        return self.x if k == "a" else 2.0 * self.x


def deep_closure(x: Any) -> Any:
    def go(n: int) -> Any:
        return x if n == 0 else go(n - 1) * 1.0

    return go(200)


def delegates(x: Any) -> Any:
    def go(n: int) -> Any:
        yield x
        if n:
            yield from go(n - 1)

    return sum(go(12))


class Linked:
    def __init__(self, v: Any, next_: Any) -> None:
        self.v = v
        self.next = next_


def linked(x: Any) -> Any:
    head = None
    for _ in range(300):
        head = Linked(x, head)
    total = 0.0
    while head is not None:
        total += head.v
        head = head.next
    return total


# -- classes -------------------------------------------------------------------------------------------------


class Deletes:
    __slots__ = ("a",)

    def __init__(self, a: Any) -> None:
        self.a = a

    def __getattr__(self, name: str) -> float:
        return 2.0

    @property
    def p(self) -> Any:
        return self.a * self.missing

    @p.deleter
    def p(self) -> None:
        self.a = self.a * 0.5


def deletes(x: Any) -> Any:
    o = Deletes(x)
    y = o.p
    del o.p
    return y * o.p


@functools.total_ordering
class Ordered:
    def __init__(self, v: Any) -> None:
        self.v = v

    def __lt__(self, other: Any) -> Any:
        return self.v < other.v

    def __eq__(self, other: object) -> bool:
        return bool(self.v == other.v)  # type: ignore[attr-defined]

    def _scaled(self, k: float, x: Any) -> Any:
        return k * self.v * x

    doubled = functools.partialmethod(_scaled, 2.0)

    @functools.cached_property
    def squared(self) -> Any:
        return self.v**2


def orders(x: Any) -> Any:
    a, b = Ordered(x), Ordered(2.0 * x)
    return max(a, b).doubled(x) + (a >= b) + a.squared * a.squared


def drops_an_element(v: Any) -> Any:
    return sum(collections.OrderedDict(zip("abc", v, strict=True)).values())


class Reflected(Plain):
    """Answers reflected operators alone, as NumPy's numbers leave them to an object."""

    def __rmul__(self, other: Any) -> Any:
        return other * self.v

    def __rsub__(self, other: Any) -> Any:
        return other - self.v

    def __rpow__(self, other: Any) -> Any:
        return other**self.v


def reflects(x: Any) -> Any:
    k = np.float64(2.0)
    return (
        k * Reflected(x)
        + (np.float64(x) - Reflected(x * x)) * (k ** Reflected(x))
        + np.int64(3) * Reflected(x)
    )


def writes_into_flat(v: Any) -> Any:
    w = v * 1.0
    part = np.asarray(w.flat)
    part *= w[1]
    return (w * w).sum() + (np.array(v.flat) * v[0]).sum()


def operates(x: Any) -> Any:
    diagonal = scipy.sparse.linalg.LinearOperator(
        (2, 2), matvec=lambda v: np.array([x * v[0], v[1]]), dtype=float
    )
    other = scipy.sparse.linalg.aslinearoperator(np.array([[x, 1.0], [0.0, x]]))
    return (diagonal @ np.array([1.0, 2.0])).sum() + (diagonal * other).matvec(np.array([1.0, 3.0])).sum()


def responds(x: Any) -> Any:
    return abs(scipy.signal.lti([x], [1.0, x]).freqresp(np.array([1.0]))[1][0])


def sums_powers(x: Any, n: int) -> Any:
    return sum(x**k for k in range(n))


adbc.scalar_rule(sums_powers)(
    lambda out, x, n: (sum([k * x ** (k - 1) for k in range(1, n)]) + (lambda: 0.0 * x)(), None)
)


RIGHT: dict[str, tuple[Callable[[Any], Any], Any]] = {
    "list_new": (lambda x: x + sum(ListOfItsOwn([x, x])), 2.0),
    "dict_new": (lambda x: x + sum(DictOfItsOwn([(1, x), (2, x)]).values()), 2.0),
    "another_instance": (lambda x: MakesAnother(x).v * x, 2.0),
    "partialmethod_init": (lambda x: PartialInit(x).v * x, 2.0),
    "fsum_0d": (lambda x: math.fsum([x, x]), np.array(2.0)),
    "fsum_nditer": (lambda x: math.fsum(np.nditer(x)), V),
    "dist_0d": (lambda x: math.dist([x], [1.0]), np.array(2.0)),
    "broadcast_float": (lambda k: (np.broadcast_to(k, (4, 1)) * 1.0).sum(), 0.7),
    "int64_of_array": (lambda w: w[np.int64(np.floor(w[:, -1]) * 0.0)].sum(), np.full((3, 2), 0.5)),
    "median_overwrite": (lambda v: np.median(v.copy(), overwrite_input=True), V[[2, 0, 1]]),
    "nanmedian": (lambda v: np.nanmedian(v * np.array([1.0, np.nan, 1.0])), V),
    "len_list": (asks(lambda k: list(k)), 2.0),
    "len_tuple": (asks(lambda k: tuple(k)), 2.0),
    "len_star": (asks(lambda k: (lambda *a: a)(*k)), 2.0),
    "len_extend": (asks(lambda k: [].extend(k)), 2.0),
    "search_that_logs": (searches, 2.0),
    "infinite_factor": (beside_an_infinity, 1.0),
    "accumulate_out": (accumulates_into, V),
    "nanprod": (np.nanprod, V),
    "nanquantile": (lambda v: np.nanquantile(v, 0.3), V),
    "poly1d": (lambda v: np.array(np.poly1d(v), copy=None).sum(), V),
    "polymul": (lambda v: np.polymul(v, v).sum(), V),
    "kron_of_numbers": (lambda v: np.kron(v[0], 2.0) * v[1], V),
    "float_of_0d": (lambda v: float(np.array(v[0])) * v[1], V),
    "value_0d": (lambda v: np.squeeze(v[:1] * 2.0), V),
    "value_ellipsis": (lambda v: v[1, ...], V),
    "generic_item": (lambda v: np.generic.item(v[0]) * v[1], V),
    "mapping": (lambda x: sum(dict(**Mapped(x)).values()) * x, 2.0),
    "closure": (deep_closure, 2.0),
    "delegation": (delegates, 2.0),
    "linked": (linked, 2.0),
    "deleter": (deletes, 1.5),
    "total_ordering": (orders, 1.5),
    "ordered_dict": (drops_an_element, V),
    "reflected_by_numbers": (reflects, 1.5),
    "array_of_flat": (writes_into_flat, V),
    "comparison_that_logs": (sorts, 1.5),
    "linear_operator": (operates, 2.0),
    "linear_system": (responds, 2.0),
    "lagrange": (lambda v: scipy.interpolate.lagrange([0.0, 1.0, 2.0], v)(1.5), V),
    "rule_with_a_comprehension": (lambda x: sums_powers(x, 4) * x, 1.5),
}

REFUSED: dict[str, tuple[Callable[[Any], Any], str]] = {
    "hash_that_counts": (hashes, "__hash__ or __eq__ of Counting"),
    "weak_reference": (asks_for_what_is_gone, "weak reference"),
    "finaliser": (counts_the_dead, "when an object dies"),
    "repr": (lambda x: float(repr(x)), "text made from"),
    "fstring": (lambda x: float(f"{x}"), "text made from"),
    "percent": (lambda x: float("%.17g" % x), "text made from"),
    "format": (lambda x: float(format(x)), "text made from"),
    "buffer": (through_a_buffer, "text made from"),
    "json": (lambda x: json.loads(json.dumps(x)), r"json\.(dumps|loads)"),
    "decimal": (lambda x: float(decimal.Decimal(repr(x))), "text made from"),
    "patch": (patches, "global 'sin' of module 'math'"),
    "transposed_flat": (lambda x: np.asarray((np.ones((2, 2)) * x).T.flat).sum(), "x is not contiguous"),
}


@pytest.mark.parametrize("speculation", SPECULATION)
@pytest.mark.parametrize("name", RIGHT)
def test_right_in_both_modes(name: str, speculation: str) -> None:
    f, x = RIGHT[name]
    plain = f(x)
    expected = differences(f, x)
    with adbc.use(adbc.Config(speculation=speculation)):
        for _ in range(3):
            value, gradient = adbc.value_and_grad(f)(x)
            assert value == plain
            np.testing.assert_allclose(gradient, expected, rtol=1e-6, atol=1e-8)
            direction = np.cos(np.arange(np.size(x))).reshape(np.shape(x)) if np.ndim(x) else 1.0
            if isinstance(x, np.ndarray):
                direction = np.array(direction)
            value, tangent = adbc.jvp(f, (x,), (direction,))
            assert value == plain
            np.testing.assert_allclose(tangent, np.sum(gradient * direction), rtol=1e-12)


@pytest.mark.parametrize("speculation", SPECULATION)
@pytest.mark.parametrize("name", REFUSED)
def test_refused_in_both_modes(name: str, speculation: str) -> None:
    f, reason = REFUSED[name]
    with adbc.use(adbc.Config(speculation=speculation)):
        for _ in range(2):
            for run in (lambda: adbc.grad(f)(1.5), lambda: adbc.jvp(f, (1.5,), (1.0,))):
                with pytest.raises(adbc.AdbcError, match=reason) as caught:
                    run()
                assert __file__ in str(caught.value)


LONG = {
    "closure",
    "delegation",
    "lagrange",
    "linear_operator",
    "linear_system",
    "linked",
    "nanmedian",
    "nanquantile",
    "poly1d",
    "polymul",
}
"""Programs that make so many calls, or hold so many objects, that debug mode takes seconds for them."""


@pytest.mark.parametrize("name", sorted(RIGHT.keys() - LONG))
def test_rules_keep_their_contract(name: str) -> None:
    """Debug mode, which compares types, shadows, cotangents and what is restored, raises nothing."""
    f, x = RIGHT[name]
    value, gradient = adbc.value_and_grad(f)(x)
    with adbc.use(adbc.Config(debug=True)):
        found, back = adbc.value_and_grad(f)(x)
        assert found == value
        np.testing.assert_allclose(back, gradient, rtol=1e-12)
        assert adbc.jvp(f, (x,), (np.ones_like(x) if isinstance(x, np.ndarray) else 1.0,))[0] == value


def differences(f: Callable[[Any], Any], x: Any) -> Any:
    """The gradient by central differences."""
    found = np.zeros(np.shape(x))
    for i in np.ndindex(np.shape(x)):
        step = np.zeros(np.shape(x))
        step[i] = 1e-6
        ahead, behind = (x + step, x - step) if isinstance(x, np.ndarray) else (x + 1e-6, x - 1e-6)
        if isinstance(x, np.ndarray) and not x.shape:
            ahead, behind = np.array(ahead), np.array(behind)
        found[i] = (f(ahead) - f(behind)) / 2e-6
    return found
