"""Intrinsics that no syntax stands for: what passes and builders write into graphs.

Records on tapes, results that may be exceptions, tests of what was assumed, derivatives that may be missing.
Like the others (`intrinsics`, which hands these on), each is an ordinary function whose body is its meaning.
"""

from __future__ import annotations

import collections
import enum
import types
from collections.abc import Callable, Iterator
from typing import Any, NoReturn

from adbc.errors import AdbcError, UnsupportedError

__all__ = ["Raised"]


# -- tapes -----------------------------------------------------------------------------------------------


def _record_(tape: list[Any], *values: object) -> None:
    """Put `values` at the end of a tape."""
    tape.extend(values)


def _recall_(tape: Iterator[Any]) -> Any:
    """The value that was put on a tape last, of those not yet recalled; there must be one."""
    return next(tape)


# -- exceptions as values ---------------------------------------------------------------------------


class Raised:
    """What `_attempt_` gives where the call raised: the exception, as a value."""

    __slots__ = ("exception",)

    def __init__(self, exception: BaseException) -> None:
        self.exception = exception


def _attempt_(function: Callable[..., Any], /, *arguments: Any, **keywords: Any) -> Any:
    """The result of a call, or a `Raised`."""
    try:
        return function(*arguments, **keywords)
    except BaseException as exception:
        return Raised(exception)


def _raised_(exception: BaseException) -> Raised:
    """An exception as the result of a function that does not raise."""
    return Raised(exception)


def _is_raised_(value: object) -> bool:
    """Whether `_attempt_` gave an exception."""
    return type(value) is Raised


def _exception_(raised: Raised) -> BaseException:
    """The exception that `_attempt_` gave."""
    return raised.exception


def _pass_on_(exception: BaseException) -> None:
    """Raise `exception` again if it is a refusal: what a handler of the user's would do about it is meant for
    other errors."""
    if issubclass(type(exception), AdbcError):
        raise exception


def _refuse_(words: str, remedy: str) -> NoReturn:
    """Refuse what stood here, in these words: it means something else where a derivative is computed."""
    raise UnsupportedError(words, "that cannot be differentiated", remedy)


# -- what is assumed, and seen -----------------------------------------------------------------------------


def _class_is_(value: object, cls: type) -> bool:
    """Whether `value` is an instance of exactly `cls`."""
    return type(value) is cls


def _array_is_(value: Any, cls: Any, code: str, ndim: int) -> bool:
    """Whether `value` is an instance of exactly `cls`, arrays, of the dtype with this code and with as many
    axes."""
    return type(value) is cls and value.dtype.char == code and value.ndim == ndim


def _form_is_(value: object, form: tuple[Any, ...]) -> bool:
    """Whether `value` is a tuple of this form: `form` has the class of each element, a form where that is a
    tuple of one, ``("array", cls, code, ndim)`` where it is an array (`_array_is_`), and None where any
    object may stand."""
    if type(value) is not tuple or len(value) != len(form):
        return False
    for element, known in zip(value, form, strict=True):
        if known.__class__ is tuple:
            is_array = known[:1] == ("array",)
            if not (_array_is_(element, *known[1:]) if is_array else _form_is_(element, known)):
                return False
        elif known is not None and type(element) is not known:
            return False
    return True


def _method_is_(value: Any, function: Any, obj: object) -> bool:
    """Whether `value` is `function` bound to `obj`, or just that where `obj` is None, as static methods are;
    one in C is told by its name, which a class has once."""
    if obj is None:
        return value is function
    if type(function) is types.MethodDescriptorType:
        is_bound = type(value) is types.BuiltinFunctionType and value.__self__ is obj
        return is_bound and value.__name__ == function.__name__
    return type(value) is types.MethodType and value.__func__ is function and value.__self__ is obj


def _has_field_(x: Any, name: str) -> bool:
    """Whether `x`, which has a dictionary of its own, has a field `name` there."""
    return name in x.__dict__


def _code_is_(value: Any, known: Any) -> bool:
    """Whether `value` is a function with the code and globals of `known`, a type of such functions."""
    return (
        type(value) is types.FunctionType
        and value.__code__ is known.code
        and value.__globals__ is known.namespace
    )


def _observe_(site: Any, value: object) -> None:
    """Let `site` see a value that nothing was known about."""
    site.see(value)


# -- what is remembered from call to call -----------------------------------------------------------------


def _remember_(owner: object, key: object) -> None:
    """Take note that the place `key` of `owner` is written: an attribute, an item, what is in a cell, a
    global variable."""


def _recognise_(
    found: object, is_equality: bool, value: object, remembered: object, owner: object, key: object
) -> None:
    """Take note that `value` was compared with `remembered`, which the place `key` of `owner` held, and what
    was `found`: that they are the same, for `is_equality`, or not."""


# -- enumerations ----------------------------------------------------------------------------------------

_ITERATED: Any = enum.EnumType.__iter__


def _members_(cls: Any) -> tuple[Any, ...]:
    """``tuple(cls)`` of an enumeration, the class of which is exactly `enum.EnumType`."""
    if enum.EnumType.__iter__ is not _ITERATED:
        return tuple(cls)
    return tuple(map(cls._member_map_.__getitem__, cls._member_names_))


# -- dicts of other classes --------------------------------------------------------------------------------


def _empty_default_(factory: Any) -> Any:
    """An empty `defaultdict` whose missing values are made by a class, or not at all."""
    return collections.defaultdict(factory)


def _empty_counter_() -> Any:
    """An empty `Counter`."""
    return collections.Counter()


def _factory_is_(d: Any, factory: Any) -> bool:
    """Whether a `defaultdict` makes its missing values by `factory`."""
    return d.default_factory is factory


_COUNTED: Any = collections.Counter.__missing__


def _counts_from_zero_(counter: Any) -> bool:
    """Whether a `Counter` gives zero for what is missing, as its class did when it was made."""
    return type(counter).__missing__ is _COUNTED


# -- derivatives, and what is overwritten ----------------------------------------------------------------


def _or_else_(value: Any, other: Any) -> Any:
    """`value`, or `other` if it is None."""
    return other if value is None else value


def _not_nan_(value: Any) -> bool:
    """Whether `value`, a number, is a number: NaN is not equal to itself."""
    return bool(value == value)


def _nonzero_(value: Any, other: Any) -> Any:
    """`value`, or `other` if it is zero."""
    return value or other


def _product_(a: Any, b: Any) -> Any:
    """``a * b`` of numbers, a derivative and what it is multiplied by, where zero wins over what is not
    finite."""
    product = a * b
    if product == product:
        return product
    strong = getattr(product, "strong_product", None)  # of what is not one number, but several
    if strong is not None:
        return strong(a, b)
    return product if a and b else product.__class__(0.0)


def _quotient_(a: Any, b: Any) -> Any:
    """``a / b`` of numbers, of which `a` is a derivative: its `_product_` with the reciprocal of `b`."""
    quotient = a / b
    if quotient == quotient:
        return quotient
    strong = getattr(quotient, "strong_quotient", None)
    if strong is not None:
        return strong(a, b)
    return quotient if a and b - b == 0.0 else quotient.__class__(0.0)


def _real_(derivative: Any, nothing: object) -> Any:
    """A derivative as a number: 0.0 if it is None or `nothing`."""
    return 0.0 if derivative is None or derivative is nothing else derivative


def _slot_(values: Any, key: Any, nothing: object) -> Any:
    """``values[key]``; None if `values` is None or `nothing` stands at `key`."""
    if values is None:
        return None
    found = values[key]
    return None if found is nothing else found


def _require_(value: object, complain: Callable[..., object], subject: object) -> None:
    """Call ``complain(subject, None)``, which raises, if `value` is None."""
    if value is None:
        complain(subject, None)


def _within_(value: Any, limit: float, complain: Callable[..., object], *others: object) -> None:
    """Call ``complain(value, *others)``, which may raise, if the size of `value` is `limit` or more."""
    if value >= limit or value <= -limit:
        complain(value, *others)


def _init_field_(obj: object, name: str, value: object) -> None:
    """``obj.name = value``, where `obj` is new and the name is a plain field that it does not have yet."""
    setattr(obj, name, value)


def _overwrite_field_(obj: object, name: str, value: object, old: object) -> None:
    """``obj.name = value``, where the name is a plain field in which `old` stands before."""
    setattr(obj, name, value)


def _overwrite_item_(values: list[Any], index: int, value: object, old: object) -> None:
    """``values[index] = value``, where `old` stands before."""
    values[index] = value


def _assume_(value: Any, type: object) -> Any:
    """`value`, which is known to be of abstract type `type`."""
    return value


def _own_(array: Any) -> Any:
    """`array`, whose memory belongs to nobody else: from here on it has a shadow."""
    return array


def _expose_(array: Any) -> Any:
    """`array`, whose memory nobody else has seen so far and nothing active was written into: from here on it
    has a shadow."""
    return array
