"""What memory holds decides whether it is active: C code is given constants; what was written is followed.

`binned` stands for any function in C without a rule.
"""

from __future__ import annotations

import array
import collections
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import adbc
from adbc.errors import AdbcError
from adbc.testing import test_rule as check_rule
from tests.runtime.opaque import binned

CONSTANT = np.array([0.5, 2.0, 3.0])
SQUARE = np.array([[2.0, 0.3], [0.1, 1.5]])
COMPLEX = np.array([1 + 2j, 0.5, 3.0])


def weigh(a: Any) -> Any:
    """A function in C without a rule, of the numbers in `a`."""
    return binned(np.arange(np.size(a)) % 2, np.ravel(np.real(a)))[1]


class Holder:
    def __init__(self, values: Any) -> None:
        self.values = values


# -- constants -----------------------------------------------------------------------------------------------


def of_a_global(x):
    return x * weigh(CONSTANT)


def of_a_local(x):
    a = np.array([0.5, 2.0])
    return x * binned([0, 1], a)[1]


def of_a_fresh_array(x):
    return x * binned([0, 1], np.ones(2)).sum() + binned([0, 0], np.linspace(0.0, 1.0, 2))[0]


def of_a_view(x):
    a = np.arange(6.0).reshape(2, 3)
    return x * binned([0, 1, 0], a[1])[0]


def used_before(x):
    y = (CONSTANT * x).sum()
    return y * weigh(CONSTANT) + (CONSTANT @ CONSTANT) * x


def in_an_object(x):
    holder = Holder(np.array([1.0, 2.0, 4.0]))
    return x * binned([0, 1, 1], holder.values)[1]


def in_a_list(x):
    arrays = [CONSTANT, CONSTANT[:2]]
    return sum(x * binned(np.arange(len(a)), a)[1] for a in arrays)


def captured() -> Callable[[Any], Any]:
    table = np.array([1.0, 5.0])

    def f(x):
        return x * binned([0, 1], table)[1]

    return f


def with_inactive_writes(x):
    a = np.zeros(3)
    a[1] = 2.0
    a[2:] += 1.0
    return x * binned([0, 1, 1], a)[1]


def changed_by_c(x):
    a = np.array([3.0, 1.0, 2.0])
    y = (a * x).sum()
    np.random.default_rng(0).shuffle(a)
    return y + x * a[0]


def default(x, a=np.array([1.0, 2.0])):  # noqa: B008
    return x * binned([0, 1], a)[1]


def computed(x):
    t = np.linspace(0.0, 1.0, 4)
    kernel = np.exp(-((t[:, None] - t[None]) ** 2)) + 1e-6 * np.eye(4)
    return x * weigh(kernel)


def computed_by_rules(x):
    a = np.linalg.inv(SQUARE) @ np.concatenate([CONSTANT[:2], np.zeros(1)])[:2]
    q, r = np.linalg.qr(SQUARE * a)
    return x * weigh(np.sort(a)) + x * weigh(q) + weigh(np.maximum(r, 0.1))


def computed_by_numbers(x):
    a = CONSTANT * CONSTANT.sum() + np.sqrt(CONSTANT[1])
    return x * weigh(a / np.linalg.norm(a))


def computed_by_a_function(x):
    def kernel(t):
        return np.exp(-(np.subtract.outer(t, t) ** 2))

    return x * weigh(kernel(CONSTANT) + np.diag(CONSTANT))


def computed_in_a_loop(x):
    out = 0.0
    for i in range(3):
        a = np.sin(CONSTANT * i) + 2.0
        out += x * weigh(a)
    return out


def on_the_way(x):
    """A later write is followed from then on."""
    a = np.array([1.0, 2.0, 3.0])
    y = x * binned([0, 1, 1], a)[1]
    a[0] = x * x
    return y + a.sum() * x


CONSTANTS = [
    of_a_global, of_a_local, of_a_fresh_array, of_a_view, used_before, in_an_object, in_a_list,
    with_inactive_writes, changed_by_c, computed, computed_by_rules, computed_by_numbers,
    computed_by_a_function, computed_in_a_loop, on_the_way,
]  # fmt: skip


@pytest.mark.parametrize("f", CONSTANTS, ids=lambda f: f.__qualname__)
@pytest.mark.parametrize("speculation", ["learn", "dynamic"])
def test_constants(f: Any, speculation: str) -> None:
    with adbc.use(adbc.Config(speculation=speculation)):
        check_rule(f, 1.5)


def test_what_the_function_holds() -> None:
    for f in (captured(), default):
        assert adbc.grad(f)(1.5) == f(1.0)
        assert adbc.jvp(f, (1.5,), (1.0,))[1] == f(1.0)


# -- writes --------------------------------------------------------------------------------------------------


def _item(a, x):
    a[1] = x


def _slice(a, x):
    a[1:] = x


def _through_a_view(a, x):
    part = a[1:]
    part[0] = x


def _through_views(a, x):
    a.reshape(-1)[::-1][1] = x


def _in_a_loop(a, x):
    for i in range(len(a)):
        a[i] = x * i


def _by_mask(a, x):
    a[a > 0.1] = x


def _by_index(a, x):
    a[np.array([0, 1])] = np.array([x, 2.0])


def _in_place(a, x):
    a += x


def _in_place_product(a, x):
    a *= x


def _in_place_power(a, x):
    a **= x


def _in_place_part(a, x):
    a[1:] -= x


def _out(a, x):
    np.multiply(a, x, out=a)


def _out_of_another(a, x):
    np.add(np.ones(len(a)), x, out=a)


def _out_where(a, x):
    np.exp(np.full(len(a), x), out=a, where=np.arange(len(a)) > 0)


def _out_sum(a, x):
    np.cumsum(np.full(len(a), x), out=a)


def _out_dot(a, x):
    np.dot(np.eye(len(a)) * x, np.ones(len(a)), out=a)


def _out_clip(a, x):
    np.clip(np.full(len(a), x), 0.0, 9.0, out=a)


def _out_take(a, x):
    np.take(np.array([x, x, 2.0]), np.arange(len(a)) % 2, out=a)


def _out_concatenate(a, x):
    np.concatenate([np.array([x]), np.ones(len(a) - 1)], out=a)


def _fill(a, x):
    a.fill(x)


def _copyto(a, x):
    np.copyto(a, x)


def _put(a, x):
    np.put(a, [0, 1], [x, x])


def _put_method(a, x):
    a.put([1], x)


def _putmask(a, x):
    np.putmask(a, a > 0.1, x)


def _place(a, x):
    np.place(a, a > 0.1, [x])


def _put_along_axis(a, x):
    np.put_along_axis(a, np.array([1]), x, 0)


def _fill_diagonal(a, x):
    np.fill_diagonal(a[:, None], x)


def _add_at(a, x):
    np.add.at(a, [1, 1], x)


def _flat(a, x):
    a.flat[1] = x


def _real(a, x):
    a.real[1] = x


def _real_whole(a, x):
    a.real = x


def _memory(a, x):
    memoryview(a)[1] = x


def _by_buffer(a, x):
    np.frombuffer(a)[1] = x


def _asarray(a, x):
    np.asarray(a)[1] = x


def _transposed(a, x):
    a[:, None].T[0, 1] = x


def _from_an_object(a, x):
    holder = Holder(a)
    holder.values[1] = x


def _from_an_object_in_place(a, x):
    holder = Holder(a)
    holder.values += x


def _from_a_list(a, x):
    for v in [a]:
        v[1] = x


def _by_a_function(a, x):
    _item(a, x)


def _by_a_generator(a, x):
    def steps():
        for i in range(2):
            a[i] = x
            yield i

    for _ in steps():
        pass


def _by_setitem(a, x):
    a.__setitem__(1, x)


def _by_another_array(a, x):
    a[:] = np.array([x] * len(a))


def _by_an_exception(a, x):
    try:
        a[1] = x
        raise ValueError
    except ValueError:
        pass


WRITES = [value for name, value in list(vars().items()) if name.startswith("_") and callable(value)]
WRITES = [f for f in WRITES if getattr(f, "__module__", None) == __name__]


def _dynamically(write: Any) -> Any:
    return {"f": write}["f"]


@pytest.mark.parametrize("write", WRITES, ids=lambda f: f.__name__)
@pytest.mark.parametrize("where", ["global", "local", "captured", "argument", "computed"])
@pytest.mark.parametrize("speculation", ["learn", "dynamic"])
def test_what_was_written_is_active(write: Any, where: str, speculation: str) -> None:
    """A function in C without a rule refuses memory into which an active value was written."""
    if where == "global":

        def f(x):
            write(CONSTANT, x)
            return x * weigh(CONSTANT)
    elif where == "local":

        def f(x):
            a = np.zeros(3) + 0.5
            b = np.ones(3)
            write(a, x)
            write(b, x)
            return x * weigh(b) + weigh(a)
    elif where == "captured":
        table = np.array([0.5, 2.0, 3.0])

        def f(x):
            write(table, x)
            return x * weigh(table)
    elif where == "computed":

        def f(x):
            a = np.exp(-np.linspace(0.0, 1.0, 3)) * CONSTANT.sum()
            b = np.linalg.solve(np.eye(3), a) + 1.0
            y = weigh(a) + weigh(b)
            write(a, x)
            write(b, x)
            return y + weigh(a) + weigh(b * 2.0) * x
    else:

        def f(x, a=None):
            a = np.array([0.5, 2.0, 3.0])
            y = weigh(a)
            write(a, x)
            return x * weigh(a[:2]) + y

    before = CONSTANT.copy()
    with adbc.use(adbc.Config(speculation=speculation)):
        for run in (lambda: adbc.grad(f)(1.5), lambda: adbc.jvp(f, (1.5,), (1.0,))):
            for _ in range(2):
                with pytest.raises(AdbcError):
                    run()
                CONSTANT[:] = before


def test_an_argument_is_active() -> None:
    for f in (weigh, lambda a: weigh(a[1:]), lambda a: weigh(a.T), lambda a: weigh(a * 2.0)):
        with pytest.raises(AdbcError):
            adbc.grad(f)(np.array([1.0, 2.0, 3.0]))
        with pytest.raises(AdbcError):
            adbc.jvp(f, (np.ones(3),), (np.ones(3),))


def test_an_argument_that_the_function_holds_too() -> None:
    def f(a):
        return a.sum() * weigh(CONSTANT)

    for argument in (CONSTANT, CONSTANT[1:]):
        with pytest.raises(AdbcError):
            adbc.grad(f)(argument)

    view = CONSTANT[1:]

    def g(a, b):
        return a.sum() + weigh(view) + b

    with pytest.raises(AdbcError):
        adbc.grad(g)(CONSTANT, 1.0)
    assert adbc.grad(g, 1)(CONSTANT, 1.0) == 1.0


def test_memory_of_an_argument_that_is_not_asked_for() -> None:
    def f(x, data):
        return x * weigh(data)

    data = np.array([1.0, 2.0, 3.0])
    assert adbc.grad(f)(2.0, data) == 2.0
    assert adbc.value_and_grad(f)(2.0, data=data) == (4.0, 2.0)
    assert adbc.jvp(f, (2.0, data), (1.0, None)) == (4.0, 2.0)


def test_complex_and_single_precision() -> None:
    def f(x):
        return x * weigh(COMPLEX) + x * weigh(np.ones(3, np.float32))

    check_rule(f, 1.5)

    def g(x):
        COMPLEX.real[1] = x
        return weigh(COMPLEX)

    with pytest.raises(AdbcError):
        adbc.grad(g)(1.5)

    def h(x):
        COMPLEX.imag[1] = x  # of which nobody asks
        return weigh(COMPLEX)

    assert adbc.grad(h)(1.5) == 0.0


def test_typed_arrays_count_as_active() -> None:
    def f(x):
        a = array.array("d", [1.0, 2.0])
        a[0] = x
        return binned([0, 1], a)[0]

    with pytest.raises(AdbcError):
        adbc.grad(f)(1.5)


def test_marks_go_with_the_memory() -> None:
    from adbc.tangents import activity_marks

    before = len(activity_marks.INACTIVE)
    for _ in range(3):
        adbc.grad(of_a_fresh_array)(1.5)
        adbc.grad(of_a_global)(1.5)
    assert len(activity_marks.INACTIVE) <= before


def _given_to_cython(x: Any) -> Any:
    paths = pytest.importorskip("scipy.sparse.csgraph").shortest_path
    later, other = np.ones((2, 2)), np.ones((2, 2))
    paths(later, directed=False)
    later[0, 1] = x
    return later.sum() * paths(other, directed=False).sum()


@pytest.mark.parametrize("warm_after", [0, 3])
def test_flags_and_compiled_functions_hide_nothing(warm_after: int) -> None:
    f = _given_to_cython
    slope = f(2.0) - f(1.0)
    with adbc.use(adbc.Config(warm_after=warm_after)):
        for _ in range(5):
            assert adbc.grad(f)(1.3) == pytest.approx(slope)
            assert adbc.jvp(f, (1.3,), (1.0,)) == pytest.approx((f(1.3), slope))


class _Named(dict):  # type: ignore[type-arg]
    pass


class _Listed(list):  # type: ignore[type-arg]
    pass


def test_parts_of_what_derives_from_containers() -> None:
    from adbc.runtime.state.activity import is_active, is_nonzero

    for constants in (
        _Named(a=None, b="c"), _Listed(["a", None]), collections.deque(["a"]), collections.OrderedDict(a="b")
    ):  # fmt: skip
        assert not is_nonzero(adbc.zero_tangent(constants))
        assert not is_active(adbc.zero_tangent(constants))
    for numbers in (_Named(a=1.0), _Listed([2.0]), collections.deque([3.0]), collections.OrderedDict(a=1.0)):
        tangent = adbc.zero_tangent(numbers)
        assert is_active(tangent) and not is_nonzero(tangent)
        tangent["a" if isinstance(numbers, dict) else 0] = 1.0
        assert is_nonzero(tangent)


def _in_a_container(x: Any, table: Any) -> Any:
    return x * binned(np.array([0, 0]), table["a"])[0]


def _given_in_a_container(table: Any) -> Any:
    return binned(np.array([0, 0]), table["a"])[0]


@pytest.mark.parametrize("kind", [dict, _Named, collections.OrderedDict])
def test_what_is_given_in_a_container_is_active(kind: Any) -> None:
    table = kind(a=np.array([1.0, 2.0]))
    tangent = adbc.zero_tangent(table)
    tangent["a"][...] = 1.0
    with pytest.raises(AdbcError):
        adbc.jvp(_given_in_a_container, (table,), (tangent,))
    with pytest.raises(AdbcError):
        adbc.grad(_given_in_a_container)(table)
    assert adbc.grad(_in_a_container)(1.5, table) == pytest.approx(3.0)
