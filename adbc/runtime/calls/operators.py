"""Operators on instances of classes that implement them in Python, and the other protocols of one method.

The order in which the operands are asked, who is asked at all, and what is raised if nobody answers, is
CPython's.
"""

from __future__ import annotations

import collections
import inspect
import math
import operator
import sys
import types
from collections.abc import Sequence
from typing import Any

from adbc.ir import intrinsics
from adbc.rules.builtins.ordering import watched_order
from adbc.rules.builtins.permutations import sort_at_once, watched_sort
from adbc.rules.builtins.sorting import MOST, sort_by_questions, sorted_by_questions
from adbc.rules.classes import overrides, says_its_class
from adbc.rules.lookup import RuleTable
from adbc.rules.table import ZeroRule
from adbc.runtime.calls.classes import is_declined, is_heap_type, lookup, python_method
from adbc.runtime.calls.comparing import SEARCHES, compare_containers
from adbc.runtime.calls.contained import text_in_c
from adbc.runtime.calls.derived_classes import as_plain_number
from adbc.runtime.calls.keys import HASHING, is_asked_key, is_enumeration
from adbc.runtime.calls.lengths import HINTS
from adbc.runtime.calls.quiet_keys import are_quiet, classes_in
from adbc.runtime.calls.steps import (
    Alternatives,
    Call,
    Delegate,
    Protocols,
    Resolver,
    RunWatched,
    Step,
    UseRow,
)
from adbc.types import AbstractType, TupleType, class_of
from adbc.types.lattice import FLOAT, INT, ComplexType, ConstType, ListType, RealType
from adbc.types.operators import BINARY, Binary, length_told, unsupported

__all__ = ["MAY_ASK", "PROTOCOLS", "is_asked"]


def _dunder(name: str) -> str:
    """The name of the special method of an operator."""
    return f"__{name}__"


def _binary(by: Binary) -> Resolver:
    """The resolver of a binary operator: both operands are asked, in CPython's order."""
    forward, reflected, in_place, symbol = by

    def binary(call: Call, table: RuleTable) -> Step | None:
        if len(call.args) != 2 or call.keywords:
            return None
        a, b = type(call.args[0]), type(call.args[1])
        if forward == "__mod__" and issubclass(a, (str, bytes)):
            is_own = overrides(a, forward) or (in_place is not None and overrides(a, in_place))
            if not (is_own or (a in b.__mro__ and overrides(b, reflected))):
                return text_in_c(call)
        if not is_heap_type(a) and not is_heap_type(b):
            return None
        in_python = [python_method(a, forward), python_method(b, reflected)]
        if in_place is not None:
            in_python.append(python_method(a, in_place))
        if not (any(in_python) or is_declined(a, forward) or is_declined(b, reflected)):
            return of_plain_numbers(call, table)
        if _is_numpy_number(a) and issubclass(b, (int, float)) and a not in b.__mro__:
            return _by_its_value(call)
        if _is_numpy_number(a) and _is_only_object(
            b
        ):  # computed as an array of objects is, by Python's numbers
            number = call.args[0].item()
            if type(number) is not a:
                args = number, call.args[1]
                return Delegate(Call(call.function, None, args, call.shadows, call.origins, (), call.origin))
        last = _by_sequence(call, forward, reflected, in_place)
        is_joined = last is not None and _is_joined(a, forward, in_place)
        left = call.on(_method(a, forward), 0, 1) if not is_joined and _may_answer(a, forward, b) else None
        right = call.on(_method(b, reflected), 1, 0) if a is not b and _may_answer(b, reflected, a) else None
        order = [left, right]
        if a is not b and a in b.__mro__ and lookup(b, reflected) is not lookup(a, reflected):
            order.reverse()
        if in_place is not None and not is_joined and _may_answer(a, in_place, b):
            order.insert(0, call.on(_method(a, in_place), 0, 1))
        order.append(last)

        def failure() -> Any:
            raise unsupported(symbol, *call.args)

        return Alternatives([c for c in order if c is not None], failure)

    return binary


def _with_float(kind: Any, function: Any, a: Any, b: Any) -> Any:
    """``function(a, b)`` of a number of NumPy's and a float of a class of its own, whose operators are not
    asked, but only what float that is."""
    return function(a, kind(float(b)))


def _with_integer(kind: Any, function: Any, a: Any, b: Any) -> Any:
    return function(a, kind(int(b)))


def _by_its_value(call: Call) -> Step:
    """The call of an operator on a number of NumPy's and one of a class derived from float or int."""
    kinds = sys.modules["numpy"]
    is_float = issubclass(type(call.args[1]), float)
    body, kind = (_with_float, kinds.float64) if is_float else (_with_integer, kinds.int64)
    given = call.prepend(body, None, call.function, None, None)
    return Delegate(given.prepend(body, None, kind, None, None))


def of_plain_numbers(call: Call, table: RuleTable) -> Step | None:
    """The call on plain numbers, where operands are numbers of a class of their own; None if there is a rule
    for them, or there are none."""
    classes = tuple(map(type, call.args))
    if table.find(call.function, classes) is not None:
        return None
    args = tuple(map(as_plain_number, call.args))
    if tuple(map(type, args)) == classes:
        return None
    if len(args) == 2:
        args = _beside_numpy(classes, args)
    return Delegate(Call(call.function, None, args, call.shadows, call.origins, (), call.origin))


def _beside_numpy(classes: tuple[type, ...], args: tuple[Any, ...]) -> tuple[Any, ...]:
    """The operands `args`, of which those of a class derived from float, complex or int are what they are
    beside an array or a number of NumPy's: it takes them for numbers of 64 bits each, while plain ones get
    the bits of its own.  On the left, one of any such class computes with `float64` and `complex128`, which
    are derived from float and complex, as with other floats and complex numbers."""
    kinds: Any = sys.modules.get("numpy")
    if kinds is None:
        return args
    a, b = classes
    if not issubclass(a, kinds.generic):
        if b is kinds.float64 and issubclass(a, (float, complex)):
            return args[0], float.__float__(args[1])
        if b is kinds.complex128 and issubclass(a, complex):
            return args[0], complex.__complex__(args[1])
    beside: dict[type, Any] = {}
    for cls in classes:
        if issubclass(cls, kinds.ndarray):
            beside = {float: kinds.float64, complex: kinds.complex128, int: kinds.int64}
        elif issubclass(cls, kinds.generic):
            beside = beside or {float: kinds.float64, complex: kinds.complex128}
    of_class = zip(classes, args, strict=True)
    return tuple([x if type(x) is cls else beside.get(type(x), type(x))(x) for cls, x in of_class])


def _by_sequence(call: Call, forward: str, reflected: str, in_place: str | None) -> Call | None:
    """The call by which a sequence in C is joined or repeated, after its operands were asked as numbers; None
    if there is no such sequence among them."""
    a, b = map(type, call.args)
    if forward not in ("__add__", "__mul__"):
        return None
    if _is_joined(a, forward, in_place):
        name = in_place if in_place is not None and lookup(a, in_place) is not None else forward
        return call.on(lookup(a, name), 0, 1)
    if forward == "__mul__" and issubclass(b, _SEQUENCES) and not overrides(b, reflected):
        return call.on(lookup(b, reflected), 1, 0)
    return None


def _is_joined(cls: type, forward: str, in_place: str | None) -> bool:
    """Whether an instance of `cls` is a sequence that C joins and repeats where it is the left operand."""
    return issubclass(cls, _SEQUENCES) and not (
        overrides(cls, forward) or bool(in_place and overrides(cls, in_place))
    )


_SEQUENCES = (list, tuple, str, bytes, bytearray, collections.deque)


_binary_iadd = _binary(BINARY[operator.iadd])


def _iadd(call: Call, table: RuleTable) -> Step | None:
    """``a += b``, by numbers first, which the objects of NumPy are, and then by sequences."""
    found = _binary_iadd(call, table)
    if found is not None or len(call.args) != 2 or call.keywords:
        return found
    a, b = map(type, call.args)
    if not issubclass(a, list) or overrides(a, "__iadd__"):
        return None
    return Delegate(call.of(list.__iadd__)) if any(overrides(b, name) for name in HINTS) else None


def _method(cls: type, name: str) -> Any:
    """What is called for the special method `name` of `cls`, in Python or in C."""
    return python_method(cls, name) or lookup(cls, name)


def _may_answer(cls: type, name: str, other: type) -> bool:
    """Whether method `name` of `cls` may do something with a user-made `other`.

    Methods of the built-in classes return NotImplemented for classes that are not their own, except that
    numbers compute with narrower ones.
    """
    if python_method(cls, name) is not None or is_declined(cls, name):
        return True  # None is called as well, which is an error
    if lookup(cls, name) is None or (hasattr(cls, "__array_interface__") and _array_defers(name, other)):
        return False
    return cls not in _DECLINING or issubclass(other, _NARROWER.get(cls, cls))


def _array_defers(name: str, other: type) -> bool:
    """Whether an array leaves the operator `name` to an operand of class `other`, as NumPy decides it."""
    if name.startswith("__i"):
        return False
    if hasattr(other, "__array_ufunc__"):
        return other.__array_ufunc__ is None
    if hasattr(other, "__array_interface__"):  # a number of NumPy's
        return False
    return bool(getattr(other, "__array_priority__", 0.0) > 0.0)


def _is_numpy_number(cls: type) -> bool:
    """Whether instances of `cls` are numbers of NumPy's own."""
    return cls.__module__ == "numpy" and hasattr(cls, "__array_interface__") and hasattr(cls, "is_integer")


def _is_only_object(cls: type) -> bool:
    """Whether NumPy takes an instance of `cls` for an object like others, which has nothing to do with
    arrays, and does not leave operators to it."""
    return not any(hasattr(cls, name) for name in _OF_ARRAYS)


_OF_ARRAYS = (
    "__array__", "__array_interface__", "__array_priority__", "__array_struct__", "__array_ufunc__",
    "__buffer__", "__len__", "__getitem__",
)  # fmt: skip
_DECLINING = frozenset({int, float, complex, bool, str, bytes, list, tuple, dict, set, frozenset, type(None)})

_NARROWER: dict[type, Any] = {float: (float, int), complex: (complex, float, int)}
"""By class of numbers, the classes that its operators take."""

_COMPARE = {
    "lt": ("gt", "<"),
    "le": ("ge", "<="),
    "gt": ("lt", ">"),
    "ge": ("le", ">="),
    "eq": ("eq", "=="),
    "ne": ("ne", "!="),
}


def differs(x: Any, y: Any) -> Any:
    """``x != y`` where the class of `x` has ``__eq__`` alone."""
    answer = intrinsics._load_special_(x, "__eq__")(y)
    return answer if answer is NotImplemented else not answer


def _comparison(cls: type, name: str) -> Any:
    """The function that compares instances of `cls`, if the class implements the comparison in Python."""
    if name == "ne" and lookup(cls, "__ne__") is object.__ne__ and python_method(cls, "__eq__") is not None:
        return differs
    return python_method(cls, _dunder(name))


def _may_compare_in_c(cls: type, name: str, other: type) -> bool:
    """Whether C code that compares instances of `cls` may say something of one of `other`."""
    method = _dunder(name)
    return lookup(cls, method) is not getattr(object, method) and _may_answer(cls, method, other)


def _compare(name: str) -> Resolver:
    """The resolver of a comparison: each operand is asked for its own and for the mirrored one."""
    mirrored, symbol = _COMPARE[name]

    def compare(call: Call, table: RuleTable) -> Step | None:
        a, b = (type(x) for x in call.args)
        forward, reflected = _comparison(a, name), _comparison(b, mirrored)
        is_ruled_out = is_declined(a, _dunder(name)) or is_declined(b, _dunder(mirrored))
        if forward is None and reflected is None and not is_ruled_out:
            return compare_containers(call) or of_plain_numbers(call, table)
        calls = []
        if forward is not None or _may_compare_in_c(a, name, b):
            calls.append(call.on(forward or lookup(a, _dunder(name)), 0, 1))
        if reflected is not None or _may_compare_in_c(b, mirrored, a):
            calls.append(call.on(reflected or lookup(b, _dunder(mirrored)), 1, 0))
            if a is not b and a in b.__mro__:  # not by what a class says of its subclasses
                calls.reverse()
        x, y = call.args

        def failure() -> Any:
            if name in ("eq", "ne"):
                return (x is y) == (name == "eq")
            raise TypeError(
                f"'{symbol}' not supported between instances of '{a.__name__}' and '{b.__name__}'"
            )

        return Alternatives(calls, failure)

    return compare


def _unary(*names: str, ask: Any = None) -> Resolver:
    """The resolver of a function that asks its first argument for the first of these special methods; `ask`
    does that and looks at what it gives."""

    def unary(call: Call, table: RuleTable) -> Step | None:
        if not call.args or call.keywords:
            return None
        cls = type(call.args[0])
        for name in names:
            if lookup(cls, name) is not None:
                method = python_method(cls, name)
                if method is None:
                    return of_plain_numbers(call, table)
                return Delegate(call.of(ask or _TELLING.get(name) or method))
            if is_declined(cls, name):
                return UseRow(ZeroRule(call.function), call)  # which says that it is not to be done
        return None

    return unary


def answer_of(x: Any, name: str, kind: type) -> Any:
    """What the method `name` of `x` gives, which has to be an instance of `kind`."""
    answer = intrinsics._load_special_(x, name)()
    if isinstance(answer, kind):
        return answer
    raise TypeError(f"{name} returned non-{kind.__name__} (type {type(answer).__name__})")


def complex_of(x: Any) -> Any:
    """``complex(x)`` where the class of `x` has ``__complex__``."""
    return answer_of(x, "__complex__", complex)


def int_of(x: Any) -> Any:
    """``int(x)`` where the class of `x` has ``__int__``."""
    answer = answer_of(x, "__int__", int)
    return answer if type(answer) is int else int.__pos__(answer)  # past what its class says


def bytes_of(x: Any) -> Any:
    """``bytes(x)`` where the class of `x` has ``__bytes__``."""
    return answer_of(x, "__bytes__", bytes)


_MOST = sys.maxsize + 1
"""Hashes of less, either way, are taken as they are told, and not folded as those of integers are."""


def hash_of(x: Any) -> int:
    """``hash(x)`` where the class of `x` has ``__hash__``."""
    answer = intrinsics._load_special_(x, "__hash__")()
    if not issubclass(type(answer), int):
        raise TypeError("__hash__ method should return an integer")
    number = answer if type(answer) is int else int.__pos__(answer)  # past what a subclass says
    if not -_MOST <= number < _MOST:
        return int.__hash__(number)
    return number if number != -1 else -2  # which stands for errors


_TELLING: dict[str, Any] = {
    "__bytes__": bytes_of,
    "__complex__": complex_of,
    "__hash__": hash_of,
    "__int__": int_of,
}
"""What asks for a method and looks at what it gives."""


def iterator_of(x: Any) -> Any:
    """``iter(x)`` where the class of `x` has ``__iter__``."""
    answer = intrinsics._load_special_(x, "__iter__")()
    if not hasattr(type(answer), "__next__"):
        raise TypeError(f"iter() returned non-iterator of type '{type(answer).__name__}'")
    return answer


def _iter(call: Call, table: RuleTable) -> Step | None:
    method = python_method(type(call.args[0]), "__iter__") if len(call.args) == 1 else None
    if type(method) is types.FunctionType and method.__code__.co_flags & inspect.CO_GENERATOR:
        return Delegate(call.of(method))
    return _asked_for_iterator(call, table)


_asked_for_iterator = _unary("__iter__", ask=iterator_of)


def length_of(x: Any) -> int:
    """``len(x)`` where the class of `x` has ``__len__``."""
    return length_told(intrinsics._load_special_(x, "__len__")())


def float_of(x: Any) -> float:
    """``float(x)`` where the class of `x` has ``__float__``."""
    answer = intrinsics._load_special_(x, "__float__")()
    if type(answer) is float:
        return answer
    if issubclass(type(answer), float):
        return float.__float__(answer)  # past what its class says
    raise TypeError(f"{type(x).__name__}.__float__ returned non-float (type {type(answer).__name__})")


def _unary_or_float(name: str, of_float: Any) -> Resolver:
    """The resolver of a function that asks its argument for the special method `name`, or else makes a number
    of it by ``__float__``, of which `of_float` gives the result."""

    def unary_or_float(call: Call, table: RuleTable) -> Step | None:
        if len(call.args) != 1 or call.keywords:
            return None
        cls = type(call.args[0])
        if lookup(cls, name) is not None or python_method(cls, "__float__") is None:
            return asked(call, table)
        return Delegate(call.of(of_float))

    asked = _unary(name, "__float__")
    return unary_or_float


def _complex(call: Call, table: RuleTable) -> Step | None:
    """``complex(x)``: text is read without asking its methods."""
    if call.args and issubclass(type(call.args[0]), str):
        return None
    return _complex_of_others(call, table)


def floor_of_float(x: Any) -> Any:
    """``math.floor(x)`` of what has a method ``__float__``."""
    return math.floor(float(x))


def ceil_of_float(x: Any) -> Any:
    """``math.ceil(x)`` of what has a method ``__float__``."""
    return math.ceil(float(x))


def complex_of_float(x: Any) -> Any:
    """``complex(x)`` of what has a method ``__float__``."""
    return complex(float(x))


_complex_of_others = _unary_or_float("__complex__", complex_of_float)


def _power(call: Call, table: RuleTable) -> Step | None:
    """``pow(x, y[, m])``, also by keyword: the operator takes none."""
    if call.keywords:
        at = dict(zip(call.keywords, range(call.count, len(call.args)), strict=True))
        places = [at.pop(name) for name in ("base", "exp", "mod")[call.count :] if name in at]
        if at or not 2 <= call.count + len(places) <= 3:
            return None  # it is an error
        call = call.on(call.function, *range(call.count), *places)
        if len(call.args) == 3:
            return Delegate(call)
    if len(call.args) == 2:
        return Delegate(call.of(operator.pow))
    method = python_method(type(call.args[0]), "__pow__") if len(call.args) == 3 else None
    return None if method is None else Delegate(call.of(method))


ASKED: dict[Any, tuple[str, ...]] = {
    **dict.fromkeys((range, chr, bin, hex, oct), ("__index__",)),
    **dict.fromkeys((operator.contains, intrinsics._not_contains_, operator.eq, operator.ne), ("__eq__",)),
    **dict.fromkeys((list, tuple, list.extend, intrinsics._list_extend_, list.__iadd__), HINTS),
    operator.iadd: (*HINTS, "__radd__"),
    dir: ("__dir__",),
    type: ("gi_frame",),  # what stands for a generator has another class
}
"""Functions with rules, and the special methods by which a class may answer for itself in Python."""

_SELDOM = frozenset({chr, bin, hex, oct, dir, type})
"""Functions in `ASKED` that are called so seldom that it does not matter what it costs to ask."""

COMPARISONS = frozenset({operator.eq, operator.ne, operator.lt, operator.le, operator.gt, operator.ge})
_MEMBERSHIP = frozenset({operator.contains, intrinsics._not_contains_})
_COMPARING = COMPARISONS | _MEMBERSHIP | {*SEARCHES}
"""Functions that compare what stands in containers."""

MAY_ASK = frozenset({*ASKED, *_COMPARING, *HASHING, intrinsics._new_, isinstance})
"""The functions with rules that may run Python code, be it of the classes of the arguments or of what those
hold."""


def is_asked(function: Any, types_: Sequence[AbstractType]) -> bool:
    """Whether the types of the arguments do not suffice to say if `function`, one of `MAY_ASK`, runs Python
    code for them."""
    if any(map(_is_asked_key, types_)) and (function in HASHING or _is_hashing_display(function, types_)):
        return True
    if function is isinstance:
        cls = class_of(types_[0])
        return cls is not None and says_its_class(cls)
    is_seldom = function in _SELDOM
    names = ASKED.get(function, ())
    for cls in map(class_of, types_):
        if is_seldom if cls is None else any(overrides(cls, name) for name in names):
            return True
    if function in _MEMBERSHIP and class_of(types_[0]) is dict and not _may_be_object(types_[1]):
        return False  # only keys are compared, and nobody is asked where one is read by such a key, either
    return function in _COMPARING and any(map(_holds_objects, types_))


def _is_asked_key(type: AbstractType) -> bool:
    """Whether Python code runs where a value of this type is looked up as a key, or may, as it is a tuple."""
    if isinstance(type, TupleType):
        return any(_is_asked_key(t) or _may_be_object(t) for t in type.elements)
    cls = class_of(type)
    return cls is not None and is_asked_key(cls)


def _is_hashing_display(function: Any, types_: Sequence[AbstractType]) -> bool:
    """Whether a call is the display of a dict or set."""
    kind = types_[0] if function is intrinsics._new_ and types_ else None
    return isinstance(kind, ConstType) and kind.value in (dict, set)


def _may_be_object(type: AbstractType) -> bool:
    """Whether a value of this type may be an instance of a class that compares by Python code."""
    cls = class_of(type)
    if cls is None:
        return not isinstance(type, RealType | ComplexType)
    return is_heap_type(cls) and not is_enumeration(cls)


def _holds_objects(type: AbstractType) -> bool:
    """Whether a container of this type may hold objects that are compared by Python code."""
    if isinstance(type, TupleType):
        return any(_holds_objects(t) or _may_be_object(t) for t in type.elements)
    if isinstance(type, ListType) and type.element in (FLOAT, INT):
        return False
    return class_of(type) in (list, tuple, dict, collections.deque)


def _is_asked_one_by_one(keys: Any) -> bool:
    """Whether `keys` are sorted by comparisons that are followed: they may change something."""
    if len(keys) > MOST:
        return False
    classes = classes_in(keys)
    return classes is None or not are_quiet(classes, in_order=True)


def _watched_order(call: Call, table: RuleTable) -> Step | None:
    if _is_asked_one_by_one(call.args[0]):
        return Delegate(call.of(sorted_by_questions))
    return RunWatched(call, "sorts by comparisons written in Python")


def _watched_sort(call: Call, table: RuleTable) -> Step | None:
    one_by_one = _is_asked_one_by_one(call.args[1])
    return Delegate(call.of(sort_by_questions if one_by_one else sort_at_once))


def _next_or_raise(call: Call, table: RuleTable) -> Step | None:
    """``next(it)``, whose `StopIteration` is the iterator's own, with its value."""
    if len(call.args) != 1:
        return None
    method = python_method(type(call.args[0]), "__next__")
    return None if method is None else Delegate(call.of(method))


def _binary_operators() -> Protocols:
    """The resolvers of binary operators, in place or not."""
    return {**{function: _binary(by) for function, by in BINARY.items()}, operator.iadd: _iadd}


PROTOCOLS: Protocols = {
    **_binary_operators(),
    **{getattr(operator, name): _compare(name) for name in _COMPARE},
    operator.neg: _unary("__neg__"),
    operator.pos: _unary("__pos__"),
    operator.invert: _unary("__invert__"),
    operator.abs: _unary("__abs__"),
    abs: _unary("__abs__"),
    divmod: _binary(Binary("__divmod__", "__rdivmod__", None, "divmod()")),
    pow: _power,
    int: _unary("__int__", "__index__"),
    float: _unary("__float__", ask=float_of),
    complex: _complex,
    bytes: _unary("__bytes__"),
    hash: _unary("__hash__"),
    len: _unary("__len__", ask=length_of),
    round: _unary("__round__"),
    math.floor: _unary_or_float("__floor__", floor_of_float),
    math.ceil: _unary_or_float("__ceil__", ceil_of_float),
    math.trunc: _unary("__trunc__"),
    iter: _iter,
    intrinsics._iter_: _iter,
    reversed: _unary("__reversed__"),
    next: _next_or_raise,
    watched_order: _watched_order,
    watched_sort: _watched_sort,
}
"""What operators, and functions that ask for one special method, lead to."""
