"""The laws of tangents for many values, and wrong operations that break each law."""

from __future__ import annotations

import collections
import dataclasses
import datetime
import enum
import fractions
import functools
import math
import random
import types
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pytest

from adbc import tangents
from adbc.errors import AdbcError, UnsupportedError
from adbc.tangents import NO_FDATA, NO_TANGENT
from adbc.testing.tangents import DEFAULT, SPLITTING_LAWS, TANGENT_LAWS, test_data, test_tangent
from tests.tangents.generated import GENERATED, REFUSED


class Point(NamedTuple):
    x: float
    y: Any


class Colour(enum.Enum):
    RED = 1.5


@dataclasses.dataclass(frozen=True)
class Frozen:
    a: float
    b: Any = None


@dataclasses.dataclass(frozen=True, slots=True)
class FrozenSlots:
    a: float
    b: Any


@dataclasses.dataclass(frozen=True)
class FrozenComputed:
    a: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "twice", 2 * self.a)


@dataclasses.dataclass
class Mutable:
    a: float
    b: Any = None


class Plain:
    def __init__(self, **fields: Any) -> None:
        self.__dict__.update(fields)

    def method(self, y: float) -> float:
        return y


class Slotted:
    __slots__ = ("__private", "left", "right")

    def __init__(self, left: Any, private: float) -> None:
        self.left = left
        self.__private = private


class SlottedChild(Slotted):
    __slots__ = ("more",)


class SlottedWithDict(Slotted):
    pass


class Loud:
    """The constructor must not be called again."""

    def __init__(self, w: float, must: str) -> None:
        self.w, self.must = w, must


class FloatSub(float):
    pass


class ListSub(list[Any]):
    pass


class SlottedList(list[Any]):
    __slots__ = ("weight",)


class DictSub(dict[Any, Any]):
    pass


class Failure(Exception):
    pass


def plain(**fields: Any) -> Plain:
    return Plain(**fields)


def with_fields(container: Any, **fields: Any) -> Any:
    for name, value in fields.items():
        setattr(container, name, value)
    return container


def closure(*values: Any) -> Callable[[], Any]:
    return lambda: values


def constant(value: Any) -> Callable[[], Any]:
    return lambda: value


def counter(start: Any) -> tuple[Callable[[], Any], Callable[[Any], None]]:
    def get() -> Any:
        return start

    def put(value: Any) -> None:
        nonlocal start
        start = value

    return get, put


def default_list(x: float, buffer: list[float] = [1.0, 2.0], *, more: Any = (3.0, [4.0])) -> Any:  # noqa: B006
    return buffer, more


def recursive() -> Callable[[int], float]:
    weight = [2.0]

    def f(n: int) -> float:
        return weight[0] if n == 0 else f(n - 1)

    return f


def cyclic_list() -> list[Any]:
    x: list[Any] = [1.0]
    x.append(x)
    return x


def cyclic_dict() -> dict[str, Any]:
    x: dict[str, Any] = {"w": 1.5}
    x["self"] = x
    return x


def cyclic_pair() -> Plain:
    a, b = plain(w=1.0), plain(w=2.0)
    a.other, b.other = b, (a, b)  # type: ignore[attr-defined]
    return a


def cyclic_tuple() -> tuple[Any, ...]:
    inner: list[Any] = [2.0]
    x = (1.0, inner)
    inner.append(x)
    return x


def cyclic_array() -> Any:
    x = np.empty(2, object)
    x[0], x[1] = x, 2.0
    return x


def shared_list() -> list[Any]:
    inner = [1.0, 2.0]
    return [inner, inner, (inner, 3.0)]


def linked_list(n: int) -> Plain | None:
    head = None
    for i in range(n):
        head = plain(value=float(i), next=head)
    return head


def empty_cell() -> types.CellType:
    return types.CellType()


def slotted_child() -> Any:
    x: Any = SlottedChild([1.0], 2.0)
    x.more = (3.0, 1)
    return x


def views() -> list[Any]:
    a = np.arange(12.0).reshape(3, 4)
    return [a[1:], a, a.T, a[::-1, ::2], a.reshape(-1), np.broadcast_to(a[0], (2, 4))]


def complex_views() -> list[Any]:
    z = np.arange(6.0).reshape(2, 3) + 1j
    return [z.real, z, z.imag, z[:, 1]]


def foreign() -> list[Any]:
    buffer = bytearray(64)
    return [np.frombuffer(buffer, np.float64)[1:3], np.frombuffer(buffer, np.float64)]


def strided() -> Any:
    return np.lib.stride_tricks.as_strided(np.arange(5.0), (3, 3), (8, 8))


def object_views() -> list[Any]:
    o = np.empty((2, 2), object)
    o[0, 0], o[0, 1], o[1, 0], o[1, 1] = 1.0, [2.0], (3.0, 1), None
    return [o, o[1], o.T]


def negative() -> list[Any]:
    a = np.arange(5.0)
    return [a[::-1], a[3:0:-1]]


def fortran() -> list[Any]:
    a = np.asfortranarray(np.arange(12.0).reshape(3, 4))
    return [a[1:, 2], a]


def three_d() -> Any:
    return np.arange(24.0).reshape(2, 3, 4).transpose(2, 0, 1)[1:, :, ::2]


def structured_fields() -> list[Any]:
    s = np.zeros(3, [("a", "f8"), ("n", "i4")])
    return [s["a"], s["n"]]


VALUES: dict[str, Callable[[], Any]] = {
    # numbers
    **{f"float {x}": constant(x) for x in (0.0, -0.0, 1.5, -2.0, 1e3)},
    "complex": lambda: 1 + 2j,
    "float subclass": lambda: FloatSub(2.5),
    **{
        f"numpy {name}": constant(getattr(np, name)(1.5))
        for name in ("float16", "float32", "float64", "longdouble", "complex64", "complex128", "clongdouble")
    },
    # without derivative
    **{
        f"inactive {type(x).__name__} {i}": constant(x)
        for i, x in enumerate(
            [
                1,
                10**30,
                True,
                "text",
                b"bytes",
                None,
                ...,
                range(3),
                slice(1, 2),
                Colour.RED,
                Colour,
                int,
                math,
                math.sin,
                len,
                np.int64(3),
                np.bool_(True),
                np.datetime64("2020-01-01"),
                datetime.date(2020, 1, 1),
                fractions.Fraction(1, 3),
                (),
                (1, "a"),
                frozenset({1, 2}),
                {1, "a"},
                Point,
                Plain.method,
                types.CodeType,
                np.arange(3),
                np.array(["a", "b"]),
                np.array([True]),
                np.array("2020", "M8[D]"),
                np.float64,
                np,
                np.dtype("f8"),
                np.sin,
                object(),
                Point(1, 2),
                functools.partial(int, base=2),
                Frozen(1, "a"),
                closure.__code__,
                "a".upper,
                {}.__class__.fromkeys,
            ]
        )
    },
    # tuples and records
    "tuple": lambda: (1.0, 2.0),
    "tuple mixed": lambda: (1.0, 1, [2.0], "a", None),
    "tuple nested": lambda: ((1.0, (2, [3.0])), (4,), ()),
    "named": lambda: Point(1.0, 2.0),
    "named with list": lambda: Point(1.0, [2.0, 3]),
    "named nested": lambda: (Point(1, Point(2.0, 1)), 3.0),
    "frozen": lambda: Frozen(1.0, (2.0, 3)),
    "frozen with list": lambda: Frozen(1.0, [2.0]),
    "frozen with slots": lambda: FrozenSlots(1.0, [2.0]),
    "frozen inactive float": lambda: Frozen(1, Frozen(2.0)),
    "frozen computed": lambda: FrozenComputed(1.0),
    # containers
    "list empty": list,
    "list": lambda: [1.0, 2.0, 3.0],
    "list mixed": lambda: [1.0, 1, None, "a", [2.0, [3.0]], (4.0, 5)],
    "list of ints": lambda: [1, 2],
    "list shared": shared_list,
    "list cyclic": cyclic_list,
    "list subclass": lambda: ListSub([1.0, [2.0]]),
    "list subclass with fields": lambda: with_fields(ListSub([1.0]), w=[2.0], n=1),
    "list subclass with slots": lambda: with_fields(SlottedList([1.0]), weight=2.0),
    "dict empty": dict,
    "dict": lambda: {"a": 1.0, 2: [3.0], (4, 5): 6},
    "dict cyclic": cyclic_dict,
    "dict subclass": lambda: with_fields(DictSub(a=1.0), w=2.0),
    "dict default": lambda: collections.defaultdict(list, a=[1.0]),
    "dict ordered": lambda: collections.OrderedDict([("b", 1.0), ("a", [2.0])]),
    "counter": lambda: collections.Counter("aab"),
    "deque": lambda: collections.deque([1.0, [2.0], 3]),
    "deque bounded": lambda: collections.deque([1.0, 2.0], maxlen=2),
    "dict values": lambda: {"a": 1.0}.values(),
    "tuple cyclic": cyclic_tuple,
    # objects
    "instance": lambda: plain(w=1.0, n=2, inner=plain(v=[3.0])),
    "instance empty": lambda: plain(),
    "instance cyclic": cyclic_pair,
    "instance loud": lambda: Loud(1.0, "be called"),
    "instance dataclass": lambda: Mutable(1.0, [2.0]),
    "instance slots": lambda: Slotted([1.0], 2.0),
    "instance slots child": slotted_child,
    "instance slots and dict": lambda: with_fields(SlottedWithDict(1.0, 2.0), extra=3.0),
    "namespace": lambda: types.SimpleNamespace(a=1.0, b=[2.0]),
    "linked list": lambda: linked_list(20),
    "exception": lambda: ValueError("bad", 1.0),
    "exception with fields": lambda: with_fields(Failure(2.0, [3.0]), code=1.0),
    # functions
    "closure float": lambda: closure(1.0),
    "closure array": lambda: closure(np.ones(3), 2.0),
    "closure int": lambda: closure(1),
    "closure pair": lambda: counter(1.0),
    "closure recursive": recursive,
    "function default": lambda: default_list,
    "cell": lambda: types.CellType([1.0]),
    "cell empty": empty_cell,
    "method": lambda: plain(w=1.0).method,
    "method of list": lambda: [1.0].append,
    "method of float": lambda: (2.0).__add__,
    "partial": lambda: functools.partial(max, 1.0, key=[2.0]),
    "partial keyword": lambda: functools.partial(default_list, 1, buffer=[2.0]),
    "partial nested": lambda: functools.partial(functools.partial(max, 2), 3.0),
    # arrays
    **{
        f"array {dtype}": functools.partial(np.ones, (2, 3), dtype)
        for dtype in ("f2", "f4", "f8", "g", "c8", "c16", "G")
    },
    "array 0-d": lambda: np.array(2.5),
    "array complex 0-d": lambda: np.array(2.5j, np.complex64),
    "array empty": lambda: np.zeros((0, 3)),
    "array swapped": lambda: np.arange(3, dtype=">f8"),
    "array fortran": fortran,
    "array 3-d": three_d,
    "array views": views,
    "array one view": lambda: np.arange(10.0)[2:8:3],
    "array complex views": complex_views,
    "array negative": negative,
    "array broadcast": lambda: np.broadcast_to(np.arange(3.0), (4, 3)),
    "array strided": strided,
    "array windows": lambda: np.lib.stride_tricks.sliding_window_view(np.arange(6.0), 3),
    "array foreign": foreign,
    "array of memoryview": lambda: np.asarray(memoryview(bytearray(16))).view("f8"),
    "array objects": lambda: object_views(),
    "array objects cyclic": cyclic_array,
    "array structured fields": structured_fields,
    "list of arrays": lambda: [np.ones(2), np.float32(2), np.arange(2)],
}


ALL = {**VALUES, **GENERATED}


def test_there_are_enough_values() -> None:
    assert len(ALL) >= 600
    assert len({*VALUES} & {*GENERATED}) == 0


@pytest.mark.parametrize("law", TANGENT_LAWS + SPLITTING_LAWS, ids=lambda law: law.__name__)
def test_law(law: Any) -> None:
    failures = []
    for name, make in ALL.items():
        try:
            law(random.Random(1), make(), DEFAULT)
        except (AssertionError, AdbcError) as error:
            failures.append(f"{name}: {type(error).__name__}: {error}")
    assert not failures, "\n".join(failures)


@pytest.mark.parametrize("name", VALUES)
def test_every_law_holds_for_every_value(name: str) -> None:
    test_data(VALUES[name](), random.Random(2))


def test_generated_values() -> None:
    failures = []
    for name, make in GENERATED.items():
        try:
            test_data(make(), random.Random(3))
        except (AssertionError, AdbcError) as error:
            failures.append(f"{name}: {type(error).__name__}: {error}")
    assert not failures, "\n".join(failures)


def test_most_generated_values_have_a_derivative() -> None:
    active = [name for name, make in GENERATED.items() if tangents.zero_tangent(make()) is not NO_TANGENT]
    assert len(active) >= 400


@pytest.mark.parametrize("name", REFUSED)
def test_values_without_a_tangent_are_refused_with_a_remedy(name: str) -> None:
    make, remedy = REFUSED[name]
    with pytest.raises(UnsupportedError) as caught:
        test_tangent(make())
    assert remedy in str(caught.value).lower()


def test_generators_of_numpy_make_random_tangents() -> None:
    t = tangents.random_tangent(np.random.default_rng(1), [1.0, 1j, np.float32(1), np.ones(3)])
    assert all(np.all(np.abs(c) > 0) for c in t)


# -- wrong operations ------------------------------------------------------------------------------


def new_increment(t: Any, s: Any) -> Any:
    return tangents.increment(tangents.scale(1.0, t), s)


def alternating() -> Callable[..., Any]:
    calls = iter(range(1000))

    def zero(x: Any, memo: Any = None) -> Any:
        return tangents.scale(float(next(calls)), tangents.random_tangent(random.Random(0), x))

    return zero


def split_sharing(x: Any, memo: Any = None) -> Any:
    return [tangents.zero_tangent(c) for c in x]


VALUE_LIST = [1.0, [2.0]]
WRONG: dict[str, list[tuple[Any, dict[str, Any]]]] = {
    "L1": [(1.0, {"zero_tangent": lambda x, memo=None: 0}), (1.0, {"random_tangent": lambda rng, x: 1j})],
    "L2": [(VALUE_LIST, {"zero_tangent": alternating()})],
    "L3": [([1.0], {"zero_tangent": lambda x, memo=None: (0.0,), "tangent_type": lambda cls: object})],
    "L4": [(1.0, {"increment": lambda t, s: t + s + 1.0})],
    "L5": [(1.0, {"increment": lambda t, s: 0.0}), (VALUE_LIST, {"increment": lambda t, s: t})],
    "L6": [(VALUE_LIST, {"increment": new_increment})],
    "L7": [(1.0, {"increment": max}), (1.0, {"increment": lambda t, s: t if t is s else t - s})],
    "L8": [
        (VALUE_LIST, {"set_to_zero": lambda t: t}),
        (VALUE_LIST, {"set_to_zero": lambda t: tangents.scale(0.0, t)}),
    ],
    "L9": [
        (VALUE_LIST, {"slot_shadow": lambda t: tangents.scale(1.0, t)}),
        (1.0, {"slot_increment": lambda t, r: t}),
    ],
    "L10": [(1.0, {"add_to_primal": lambda x, t: x + 1.0})],
    "L11": [(VALUE_LIST, {"add_to_primal": lambda x, t: x})],
    "L12": [
        (1.0, {"difference": lambda p, q: q - p}),
        (1.0, {"difference": lambda p, q: 0.0}),
        (np.float32(1), {"add_to_primal": lambda x, t: float(x) + float(t)}),
    ],
    "L13": [
        (1.0, {"dot": lambda t, s: t + s}),
        (1j, {"dot": lambda t, s: (t * s).real}),
        ([1.0], {"dot": lambda t, s: 2}),
    ],
    "L14": [
        (VALUE_LIST, {"scale": lambda a, t: t}),
        (VALUE_LIST, {"scale": lambda a, t: tangents.increment(t, t) if a == 2.0 else tangents.scale(a, t)}),
    ],
    "L15": [(1.0, {"difference": lambda p, q: 2.0 * (p - q)})],
    "L16": [(shared_list(), {"zero_tangent": split_sharing}), (views(), {"zero_tangent": split_sharing})],
    "S1": [([1.0], {"fdata": lambda t: NO_FDATA}), (1.0, {"rdata": lambda t: t + 0.5})],
    "S3": [
        ([1.0], {"tangent": lambda f, r: list(f)}),
        ((1.0, [1.0]), {"fdata": lambda t: (NO_FDATA, [1.0])}),
        ((1.0, 2.0), {"rdata": lambda t: t[:1]}),
    ],
    "S6": [(1.0, {"zero_rdata": lambda x: 1.0})],
    "S7": [((1, 1.0), {"zero_rdata": lambda x: (0.0, 0.0)})],
    "S8": [((1.0, 1), {"internal_rdata": lambda r: r}), ((1.0, 1), {"internal_fdata": lambda f, x: f})],
    "S9": [((1.0, 1), {"external_rdata": lambda r, x: r})],
    "S10": [((1.0, 1), {"slot_increment": lambda t, r: r})],
}
BY_NAME = {
    law.__name__[0].upper() + str(int(law.__name__[1:3])): law for law in TANGENT_LAWS + SPLITTING_LAWS
}


@pytest.mark.parametrize("name", BY_NAME)
def test_wrong_operations_break_the_law(name: str) -> None:
    for value, wrong in WRONG[name]:
        with pytest.raises(AssertionError, match=rf"^{name}\b"):
            BY_NAME[name](random.Random(1), value, dataclasses.replace(DEFAULT, **wrong))


def test_the_tester_finds_a_wrong_operation_by_itself() -> None:
    with pytest.raises(AssertionError, match="L6"):
        test_tangent(VALUE_LIST, operations=dataclasses.replace(DEFAULT, increment=new_increment))
    with pytest.raises(AssertionError, match="S7"):
        test_data(
            (1, 1.0),
            operations=dataclasses.replace(
                DEFAULT, zero_rdata=lambda x: (0.0, 0.0), tangent=lambda f, r: (NO_TANGENT, r[1])
            ),
        )
