"""Some hundred values for the laws of tangents: every kind of object with fields of every kind."""

from __future__ import annotations

import array
import collections
import dataclasses
import datetime
import random
import types
import weakref
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

__all__ = ["GENERATED", "REFUSED"]


class Leaf:
    def __init__(self, w: float) -> None:
        self.w = w


FIELDS: dict[str, Callable[[], Any]] = {
    "float": lambda: 1.5,
    "complex": lambda: 1.0 - 2.0j,
    "int": lambda: 3,
    "text": lambda: "a",
    "none": lambda: None,
    "list": lambda: [1.0, [2.0], 3],
    "tuple": lambda: (1.0, [2.0], "a", ()),
    "dict": lambda: {"a": 1.0, 2: {"b": [3.0]}},
    "float32": lambda: np.float32(2.5),
    "array": lambda: np.arange(4.0).reshape(2, 2)[:, ::-1],
    "ints": lambda: np.arange(3),
    "object": lambda: Leaf(2.0),
}
MISSING = object()


# -- kinds of objects with up to three fields --------------------------------------------------------


class Plain:
    pass


class Slots:
    __slots__ = ("a", "b", "c")


class SlotsBase:
    __slots__ = ("a",)


class SlotsChild(SlotsBase):
    __slots__ = ("b", "c")


class DictChild(SlotsBase):
    """A slot, and a dictionary beside it."""


class Child(Leaf):
    pass


@dataclasses.dataclass
class Mutable:
    a: Any = None
    b: Any = None
    c: Any = None


@dataclasses.dataclass(slots=True)
class MutableSlots:
    a: Any = None
    b: Any = None
    c: Any = None


@dataclasses.dataclass(frozen=True)
class Frozen:
    a: Any = None
    b: Any = None
    c: Any = None


@dataclasses.dataclass(frozen=True)
class FrozenChild(Frozen):
    d: float = 0.5


class Named(NamedTuple):
    a: Any = None
    b: Any = None
    c: Any = None


class Words(list[Any]):
    pass


class Table(dict[str, Any]):
    pass


class Queue(collections.deque[Any]):
    pass


class Problem(Exception):
    pass


def with_fields(cls: Any, *arguments: Any) -> Callable[[dict[str, Any]], Any]:
    def make(fields: dict[str, Any]) -> Any:
        x = cls(*arguments)
        for name, value in fields.items():
            setattr(x, name, value)
        return x

    return make


def closure(fields: dict[str, Any]) -> Any:
    a, b, c = fields.get("a"), fields.get("b"), fields.get("c")

    def f() -> Any:
        return a, b, c

    return f


def generic(cls: Any) -> Callable[[dict[str, Any]], Any]:
    return lambda fields: cls(**fields)


MAKERS: dict[str, Callable[[dict[str, Any]], Any]] = {
    "class": with_fields(Plain),
    "child class": with_fields(Child, 0.5),
    "slots": with_fields(Slots),
    "slots of two classes": with_fields(SlotsChild),
    "slots and a dictionary": with_fields(DictChild),
    "dataclass": generic(Mutable),
    "dataclass with slots": generic(MutableSlots),
    "frozen dataclass": generic(Frozen),
    "child of a frozen dataclass": generic(FrozenChild),
    "named tuple": generic(Named),
    "namespace": generic(types.SimpleNamespace),
    "list with attributes": with_fields(Words, [1.0]),
    "dict with attributes": with_fields(Table, {"x": 1.0}),
    "deque with attributes": with_fields(Queue, [1.0]),
    "ordered dict": lambda fields: collections.OrderedDict(reversed(fields.items())),
    "default dict": lambda fields: collections.defaultdict(list, fields),
    "exception": with_fields(Problem, 1.0),
    "closure": closure,
}


def _object(make: Callable[[dict[str, Any]], Any], kinds: tuple[str, ...]) -> Callable[[], Any]:
    return lambda: make({name: FIELDS[kind]() for name, kind in zip("abc", kinds, strict=False)})


def _choices() -> list[tuple[str, ...]]:
    """No field, each kind alone, and pairs and triples in which each kind is at each place."""
    names = list(FIELDS)
    turned = [names[i:] + names[:i] for i in range(len(names))]
    pairs = [(t[0], t[5]) for t in turned]
    triples = [(t[0], t[3], t[8]) for t in turned]
    return [(), *((name,) for name in names), *pairs[::3], *triples[::4]]


# -- values that are none of these -------------------------------------------------------------------


def list_in_itself() -> Any:
    x: list[Any] = [1.0]
    x += [x, (x, [x])]
    return x


def dict_in_itself() -> Any:
    x: dict[str, Any] = {"w": 1.0}
    x["me"] = x
    return x


def deque_in_itself() -> Any:
    x: collections.deque[Any] = collections.deque([1.0], maxlen=3)
    x.append(x)
    return x


def object_in_itself() -> Any:
    x: Any = Plain()
    x.w, x.me = 1.0, x
    return x


def slots_in_themselves() -> Any:
    x = Slots()
    x.a, x.b = x, 1.0  # and c was never set
    return x


def mutual() -> Any:
    a, b = Plain(), Mutable(2.0)
    a.other, b.b = b, [a, (a, b)]  # type: ignore[attr-defined]
    return a


def array_in_itself() -> Any:
    x = np.empty(3, object)
    x[:] = [1.0, [2.0], None]
    x[2] = x
    return x


def cell_in_itself() -> Any:
    def f(n: int) -> Any:
        return f(n - 1) if n else weight

    weight = [1.0]
    return f


def same_thrice() -> Any:
    a = [1.0, 2.0]
    return {"a": a, "b": (a, Leaf(3.0)), "c": [a]}


def overlapping() -> Any:
    a = np.arange(8.0)
    return Mutable(a[1:5], a[::2], a.reshape(2, 4).T)


def object_and_dictionary() -> Any:
    x = Leaf(1.0)
    return [x, x.__dict__]


def dictionary_and_object() -> Any:
    x = Leaf(1.0)
    return [x.__dict__, x]


def two_objects_one_dictionary() -> Any:
    x, y = Leaf(1.0), Plain()
    y.__dict__ = x.__dict__
    return x, y


def objects() -> Any:
    x = np.empty((2, 2), object)
    for i, value in enumerate([1.0, (2.0, [3.0]), np.ones(2), "a"]):
        x.flat[i] = value
    return x


def records() -> Any:
    s = np.zeros(3, [("a", "f8"), ("b", "f8", 2), ("c", "i4")])
    s["a"], s["b"], s["c"] = [0.5, 1.5, 2.5], 0.25, [1, 2, 3]
    return s


def flat_iterators() -> Any:
    """One at the start, one partly consumed, and the array that both walk over."""
    x = np.arange(6.0).reshape(2, 3).T
    consumed = x.flat
    next(consumed)
    return [x.flat, consumed, x]


def weak() -> Any:
    x = Leaf(1.0)
    return [x, weakref.ref(x), weakref.WeakValueDictionary]


def nested(depth: int) -> Any:
    x: Any = 1.0
    for i in range(depth):
        x = ([x], {"x": x}, (x, i), Leaf(x), Frozen(x))[i % 5]
    return x


def numbers() -> dict[str, Callable[[], Any]]:
    made: dict[str, Callable[[], Any]] = {}
    for letter in np.typecodes["AllFloat"]:
        dtype = np.dtype(letter)
        made[f"scalar {dtype} {letter}"] = lambda t=dtype.type: t(0.0)
        for shape in ((), (1,), (2, 3), (0,)):
            made[f"array {dtype} {letter} {shape}"] = lambda d=dtype, s=shape: np.ones(s, d)
    for letter in np.typecodes["AllInteger"] + "?":
        dtype = np.dtype(letter)
        made[f"scalar {dtype} {letter}"] = lambda t=dtype.type: t(1)
        made[f"array of {dtype} {letter}"] = lambda d=dtype: np.ones(2, d)
    for text in ("S3", "U3", "M8[s]", "m8[s]"):
        made[f"array of {text}"] = lambda d=text: np.zeros(2, d)
    return made


class ArrayWithFields(np.ndarray[Any, Any]):
    """A subclass of ndarray whose instances have attributes."""


def array_with_fields(x: Any) -> Any:
    """`x` as an instance of a subclass, with attributes that hold numbers, memory of `x`, and itself."""
    made = x.view(ArrayWithFields)
    made.scale, made.name, made.memory, made.own = 0.5, "a", x[::2], made
    return made


OTHERS: dict[str, Callable[[], Any]] = {
    "list in itself": list_in_itself,
    "dict in itself": dict_in_itself,
    "deque in itself": deque_in_itself,
    "object in itself": object_in_itself,
    "slots in themselves": slots_in_themselves,
    "mutual references": mutual,
    "array in itself": array_in_itself,
    "cell in itself": cell_in_itself,
    "same thrice": same_thrice,
    "overlapping views in fields": overlapping,
    "object and dictionary": object_and_dictionary,
    "dictionary and object": dictionary_and_object,
    "two objects, one dictionary": two_objects_one_dictionary,
    "array of objects": objects,
    "flat iterator": flat_iterators,
    "array of objects, 0-d": lambda: np.array(Leaf(1.0), object),
    "counter of two": lambda: collections.Counter(a=2, b=1),
    "counter of floats": lambda: collections.Counter({"a": 0.5}),
    "chain map": lambda: collections.ChainMap({"a": 1.0}, {"b": [2.0]}),
    "user dict": lambda: collections.UserDict(a=1.0),
    "user list": lambda: collections.UserList([1.0, [2.0]]),
    "set": lambda: {1, "a", None},
    "frozen set": lambda: frozenset({(1, 2), "a"}),
    "array.array": lambda: array.array("d", [1.0, 2.0]),
    "array.array of ints": lambda: array.array("q", [1, 2]),
    "array.array seen by NumPy": lambda: (lambda a: [a, np.frombuffer(a), memoryview(a)[1:]])(
        array.array("d", [1.0, 2.0, 3.0])
    ),
    "memoryview": lambda: memoryview(bytearray(8)),
    "memoryview of floats": lambda: (lambda a: [memoryview(a)[::2], a])(np.arange(5.0)),
    "bytearray": lambda: bytearray(b"abc"),
    "mapping proxy": lambda: types.MappingProxyType({"a": 1.0}),
    "weak reference": weak,
    "random.Random": lambda: random.Random(1),
    "numpy generator": lambda: np.random.default_rng(1),
    "date": lambda: datetime.datetime(2020, 1, 1),
    "structured array of ints": lambda: np.zeros(2, [("a", "i4"), ("b", "S2")]),
    "structured array": lambda: records(),
    "structured array and its fields": lambda: (lambda s: [s["a"], s, s["b"][1:], s[::-1]])(records()),
    "nested structured array": lambda: np.ones(2, [("a", [("b", "c16"), ("c", "f4", (2, 2))]), ("d", "S2")]),
    "structured array in an object": lambda: Leaf(np.ones(1, [("a", "f8", 3)])),  # type: ignore[arg-type]
    "records": lambda: (lambda s: [s[1], s, s[1], s[0].copy()])(records()),
    "padded structured array": lambda: np.ones(3, np.dtype([("a", "i1"), ("b", "f8")], align=True)),
    "field of a structured array": lambda: np.zeros(2, [("a", "f8"), ("b", "i2")])["a"],
    "masked array": lambda: np.ma.array([1.0, 2.0], mask=[True, False]),
    "masked array of ints": lambda: np.ma.array([1, 2]),
    "record array": lambda: np.zeros(2, [("a", "f8"), ("b", "i4")]).view(np.recarray),
    "array with attributes": lambda: array_with_fields(np.arange(3.0)),
    "array with attributes and its memory": lambda: (lambda a: [array_with_fields(a), a[1:], a])(np.ones(3)),
    "array of ints with attributes": lambda: array_with_fields(np.arange(3)),
    "array and its dictionary": lambda: (lambda a: [a, vars(a), a])(array_with_fields(np.ones(2))),
    "dictionary and its array": lambda: (lambda a: [vars(a), a, a])(array_with_fields(np.ones(2))),
    **{f"nested {depth}": lambda depth=depth: nested(depth) for depth in range(1, 12)},
    **numbers(),
}

GENERATED: dict[str, Callable[[], Any]] = {
    **{
        f"{name} ({', '.join(kinds)})": _object(make, kinds)
        for name, make in MAKERS.items()
        for kinds in _choices()
        if not (name == "closure" and not kinds)
    },
    **OTHERS,
}

REFUSED: dict[str, tuple[Callable[[], Any], str]] = {
    "set of floats": (lambda: {1.0}, "use a list or a dict"),
    "set in a list": (lambda: [{1.0}], "use a list or a dict"),
    "frozen set of tuples": (lambda: frozenset({(1, 2.0)}), "use a list or a dict"),
    "structured array of objects": (lambda: np.zeros(2, [("a", "f8"), ("b", "O")]), "a field of objects"),
    "nditer": (lambda: np.nditer(np.ones(2)), "loop over the array"),
    "float with attributes": (lambda: with_fields(type("F", (float,), {}), 1.0)({"a": 1.0}), "in an object"),
    "int with a float": (lambda: with_fields(type("I", (int,), {}), 1)({"a": 1.0}), "in an object"),
    "tuple with attributes": (
        lambda: with_fields(type("T", (tuple,), {}), (1.0,))({"a": 1.0}),
        "a dataclass",
    ),
}
