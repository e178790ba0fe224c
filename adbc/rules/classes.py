"""Predicates on classes of arguments, and the classes of results that follow from them.

Rows of the table are chosen by these.  They know NumPy's scalars by name only, so that code on
plain floats never loads NumPy; and they refuse subclasses that redefine an operator, because the
method of such a class is the user's code and not ours to differentiate by a formula.
"""

from __future__ import annotations

import functools
import gc
import sys
import threading
from collections import OrderedDict, deque
from collections.abc import Callable, Iterable, Sequence
from types import (
    BuiltinMethodType,
    ClassMethodDescriptorType,
    FunctionType,
    MappingProxyType,
    MethodDescriptorType,
    MethodType,
    ModuleType,
    NoneType,
    SimpleNamespace,
    WrapperDescriptorType,
)
from typing import Any, TypeVar

from adbc.flags import HEAP_TYPE, IMMUTABLE_TYPE

__all__ = [
    "NESTING",
    "Question",
    "arithmetic",
    "arity",
    "builtin_data",
    "c_truth",
    "class_of_first",
    "complex_only",
    "dict_like",
    "division",
    "forbids",
    "has",
    "has_float",
    "inherits",
    "integer",
    "list_like",
    "noting",
    "number",
    "numbers",
    "overrides",
    "plain_attributes",
    "plain_text",
    "power",
    "real",
    "reals",
    "refuse_keywords",
    "says_its_class",
    "shown_by",
    "stands_for",
    "stands_for_position",
    "still",
]

Answer = TypeVar("Answer")
Question = tuple[type, str, type | None, bool]
"""A class, the name of an attribute, the class that it is compared with (None: it is asked whether it is
written in Python), and the answer."""


class _Asked(threading.local):
    """What has been asked of classes that may be changed since somebody began to note it."""

    questions: list[Question] | None = None


_asked = _Asked()


class noting:  # a context manager, and no generator: it is entered for each row that is looked for
    """What is asked in the block of classes that may be changed: the choice of a row rests on the answers."""

    __slots__ = ("before",)

    def __enter__(self) -> list[Question]:
        self.before = _asked.questions
        questions: list[Question] = []
        _asked.questions = questions
        return questions

    def __exit__(self, *raised: object) -> None:
        _asked.questions = self.before


def still(questions: Iterable[Question]) -> bool:
    """Whether all questions have the same answers as before."""
    for cls, name, base, answer in questions:
        if (overrides(cls, name) if base is None else inherits(cls, name, base)) != answer:
            return False
    return True


def _stays(cls: type) -> bool:
    """Whether nobody can put other methods into `cls`."""
    return not cls.__flags__ & HEAP_TYPE or bool(cls.__flags__ & IMMUTABLE_TYPE)


def _kept(predicate: Callable[[type], Answer]) -> Callable[[type], Answer]:
    """`predicate`, whose answers are kept for classes that cannot be changed."""
    answers: dict[type, Answer] = {}

    @functools.wraps(predicate)
    def ask(cls: type) -> Answer:
        if cls in answers:
            return answers[cls]
        found = predicate(cls)
        if _stays(cls):
            answers[cls] = found
        return found

    return ask


_C_METHODS = (WrapperDescriptorType, MethodDescriptorType, ClassMethodDescriptorType, NoneType)
"""The classes of methods that are C code, as classes hold them; None says that there is no such method."""


def overrides(cls: type, name: str) -> bool:
    """Whether `cls` has a method `name` of its own: a function, whatever stands for one, or C code that does
    something else elsewhere (``__setattr__ = dict.__setitem__``)."""
    if _stays(cls):
        return _overrides_for_good(cls, name)
    answer = _overrides(cls, name)
    if _asked.questions is not None:
        _asked.questions.append((cls, name, None, answer))
    return answer


def _overrides(cls: type, name: str) -> bool:
    for base in cls.__mro__:
        if name in base.__dict__:
            found = base.__dict__[name]
            return not isinstance(found, _C_METHODS) or getattr(found, "__name__", name) != name
    return False


@functools.lru_cache(maxsize=1000)
def _overrides_for_good(cls: type, name: str) -> bool:
    """What `overrides` says of a class that never changes."""
    return _overrides(cls, name)


def inherits(cls: type, name: str, base: type) -> bool:
    """Whether attribute `name` of `cls` is that of `base`, from which it is derived."""
    answer = getattr(cls, name, None) is getattr(base, name, None)
    if _asked.questions is not None and not _stays(cls):
        _asked.questions.append((cls, name, base, answer))
    return answer


def has(cls: type, name: str) -> bool:
    """Whether `cls` has an attribute `name`, which instances of `object` have not."""
    return not inherits(cls, name, object)


def refuse_keywords(builtin: type, other: str, cls: type, named: dict[str, Any]) -> None:
    """Raise as a constructor of `builtin` does that is given keywords, which it passes over if `cls` has a
    constructor of its own (`other`) that they may be meant for."""
    if named and (builtin is complex or getattr(cls, other) is getattr(builtin, other)):
        raise TypeError(f"{builtin.__name__}() takes no keyword arguments")


def forbids(cls: type, name: str) -> bool:
    """Whether None stands in `cls` for the special method `name`: Python raises then."""
    return next((vars(base)[name] for base in cls.__mro__ if name in vars(base)), "") is None


_REAL = frozenset({int, bool, float})
_ARITHMETIC = tuple(
    f"__{side}{name}__"
    for name in ["add", "sub", "mul", "truediv", "floordiv", "mod", "divmod", "pow"]
    for side in ("", "r")
) + ("__neg__", "__pos__", "__abs__", "__float__", "__int__", "__round__", "__bool__", "__eq__", "__lt__")


@functools.cache
def _numpy_kind(cls: type) -> str | None:
    """The letter of a scalar class of NumPy's: "i" (or booleans), "f" or "c"; None for other classes."""
    if cls.__module__ != "numpy":
        return None
    names = {base.__name__ for base in cls.__mro__}
    if "complexfloating" in names:
        return "c"
    if "floating" in names:
        return "f"
    return "i" if names & {"integer", "bool_", "bool"} and "generic" in names else None


@_kept
def integer(cls: type) -> bool:
    """Whether `cls` is a class of integers with C arithmetic: int, bool, enumerations, NumPy's integers."""
    if cls is int or cls is bool or _numpy_kind(cls) == "i":
        return True
    return issubclass(cls, int) and all(inherits(cls, name, int) for name in _ARITHMETIC)


def real(cls: type) -> bool:
    """Whether `cls` is a class of real numbers with C arithmetic."""
    return cls in _REAL or integer(cls) or _numpy_kind(cls) == "f"


def number(cls: type) -> bool:
    """Whether `cls` is a class of real or complex numbers with C arithmetic."""
    return cls is complex or real(cls) or _numpy_kind(cls) == "c"


def complex_only(cls: type) -> bool:
    """Whether `cls` is a class of complex numbers."""
    return number(cls) and not real(cls)


def reals(*classes: type) -> bool:
    """Whether all arguments are real numbers."""
    return all(map(real, classes))


def numbers(*classes: type) -> bool:
    """Whether all arguments are numbers."""
    return all(map(number, classes))


def has_float(*classes: type) -> bool:
    """Whether some arguments have a method ``__float__`` in Python, and the others are real numbers."""
    user = [overrides(cls, "__float__") for cls in classes]
    return any(user) and all(u or real(cls) for u, cls in zip(user, classes, strict=True))


def arity(count: int, each: Callable[[type], bool] = real) -> Callable[..., bool]:
    """The predicate that there are `count` arguments, and `each` accepts the class of every one."""
    return lambda *classes: len(classes) == count and all(map(each, classes))


_LIST_METHODS = (
    "__getitem__",
    "__setitem__",
    "__delitem__",
    "__iter__",
    "__len__",
    "append",
    "insert",
    "pop",
    "extend",
    "clear",
    "reverse",
    "__iadd__",
    "__imul__",
    "__getattribute__",  # rules read ``x.append``
)
_DICT_METHODS = (
    "__getitem__",
    "__setitem__",
    "__contains__",
    "__iter__",
    "__reversed__",
    "pop",
    "clear",
    "items",
    "__getattribute__",
)


@_kept
def says_its_class(cls: type) -> bool:
    """Whether to ask an instance of `cls` for its ``__class__``, as `isinstance` does where it is not of the
    class that is meant, is to run Python code."""
    if stands_for(cls) is not None:
        return False
    return overrides(cls, "__getattribute__") or any("__class__" in vars(base) for base in cls.__mro__[:-1])


@_kept
def list_like(cls: type) -> bool:
    """Whether `cls` is list, or a subclass that overrides none of the methods that rules rely on."""
    return cls is list or (issubclass(cls, list) and all(inherits(cls, n, list) for n in _LIST_METHODS))


@_kept
def dict_like(cls: type) -> bool:
    """Whether `cls` is dict, or a subclass whose methods are C code, as those of the standard library."""
    return cls is dict or (issubclass(cls, dict) and not any(overrides(cls, name) for name in _DICT_METHODS))


_DATA = frozenset(
    {
        NoneType,
        type,
        str,
        bytes,
        bytearray,
        range,
        slice,
        list,
        tuple,
        dict,
        set,
        frozenset,
        type(Ellipsis),
        FunctionType,
        type(len),
        type({}.keys()),
        type({}.values()),
        type({}.items()),
    }
)


def builtin_data(cls: type) -> bool:
    """Whether `cls` is a class of the language itself, numbers included, whose protocols run C code only."""
    return cls in _DATA or number(cls)


@_kept
def c_truth(cls: type) -> bool:
    """Whether the truth of an instance is decided without running Python code, and without an array."""
    if cls.__module__ == "numpy" and _numpy_kind(cls) is None:
        return False
    return not any(overrides(cls, name) for name in ("__bool__", "__len__"))


def plain_attributes(cls: type) -> bool:
    """Whether no attribute of an instance is computed by Python code."""
    return not cls.__flags__ & HEAP_TYPE or issubclass(cls, (type, ModuleType))


NESTING = (list, tuple, set, frozenset, dict)
"""The containers: the text of one has the texts of what is in it."""


def shown_by(x: Any) -> Sequence[Any]:
    """What an object made in C that is none of the containers shows in its text: an exception its arguments,
    a bound method its object, and so on; so does what stands for such an object."""
    cls = type(x)
    if stands_for(cls) is not None:
        return list(vars(x).values())
    if issubclass(cls, BaseException):
        arguments: tuple[Any, ...] = _ARGUMENTS.__get__(x)
        return arguments
    return gc.get_referents(x) if issubclass(cls, _SHOWING) else ()


_ARGUMENTS: Any = BaseException.__dict__["args"]
"""What gives the arguments of an exception in C: its class may answer for its attributes in Python."""

_SHOWING: tuple[type, ...] = (
    functools.partial, slice, SimpleNamespace, MappingProxyType, MethodType, BuiltinMethodType,
    type({}.keys()), type({}.values()), type({}.items()),
)  # fmt: skip


def plain_text(*classes: type) -> bool:
    """Whether C code makes the text of an instance, apart from the texts of what is in it."""
    return not any(
        overrides(cls, name)
        for cls in classes
        for base, names in _ASKED_FOR_TEXT
        if issubclass(cls, base)
        for name in names
    )


_ASKED_FOR_TEXT: tuple[tuple[type, tuple[str, ...]], ...] = (
    (object, ("__str__", "__repr__", "__format__")),
    (set, ("__iter__", "__len__")),
    (frozenset, ("__iter__", "__len__")),
    (deque, ("__iter__", "__len__")),
    (OrderedDict, ("items",)),
)
"""By bases of a class, the methods that its instances are asked by for their text: the C code of these
containers makes a list of what is in them, as anybody does."""


def stands_for(cls: type) -> type | None:
    """The class that instances of `cls`, if that is derived from `rules.surrogates.Surrogate`, stand for."""
    for base in cls.__mro__:
        if "__stands_for__" in base.__dict__:
            meant: type = base.__dict__["__stands_for__"]
            return meant
    return None


def stands_for_position(cls: type) -> bool:
    """Whether instances of `cls` say by a method ``__index__`` written in Python which int they stand for.

    Those of classes derived from `int` are one, and are not asked.
    """
    return not issubclass(cls, int) and overrides(cls, "__index__")


# -- classes of results ----------------------------------------------------------------------------


def class_of_first(*classes: type) -> type:
    """The class of ``x += y`` where that is `x` itself."""
    return classes[0]


def arithmetic(*classes: type) -> type | None:
    """The class of ``x + y`` and the like for numbers of `classes`; None where it depends on the values."""
    if all(c is int or c is bool for c in classes):
        return int
    if all(c in _REAL for c in classes):
        return float
    if all(c in _REAL or c is complex for c in classes):
        return complex
    if classes[0] is complex and all(issubclass(c, float) or c in _REAL for c in classes[1:]):
        return complex  # Python's method takes float64 for the float that it is
    wide = {c for c in classes if c not in _REAL and c is not complex}
    kinds = {*map(_numpy_kind, wide)}
    if None in kinds or kinds == {"i"}:
        return None
    # NumPy's numbers absorb Python's, and so do the narrower ones: Python's are weak.
    if len(wide) == 1 and (complex not in classes or "c" in kinds):
        return wide.pop()
    numpy: Any = sys.modules["numpy"]  # loaded: there is a number of its
    found: type = numpy.result_type(*wide, *[0j] * (complex in classes)).type
    return found


def division(*classes: type) -> type | None:
    """The class of ``x / y`` for numbers of `classes`; None where it depends on the values."""
    return float if (result := arithmetic(*classes)) is int else result


def power(*classes: type) -> type | None:
    """The class of ``base ** exponent``; None where it depends on the values, such as a negative base."""
    if len(classes) != 2:
        return None
    result = arithmetic(*classes)
    return None if result is int or (result is float and not integer(classes[1])) else result
