"""Questions that are asked of an object: is it true, what does it hold, what has it, how does it read.

Their answers have no derivative.  But where the object's class answers in Python, that code may change
things that have one, so it is entered like any function.  The functions here say what the interpreter
does then, in Python that adbc can follow; for all other classes the question is asked as it is.
"""

from __future__ import annotations

import builtins
import collections.abc
import operator
import sys
import types
import warnings
from typing import Any

from adbc.errors import UnsupportedError
from adbc.ir import intrinsics
from adbc.ir.intrinsics import _load_special_
from adbc.rules.classes import c_truth, overrides, plain_attributes, plain_text, says_its_class, stands_for
from adbc.rules.lookup import RuleTable
from adbc.rules.table import Rule, ZeroRule
from adbc.runtime.calls.attributes import get_default, variables
from adbc.runtime.calls.classes import is_declined, lookup
from adbc.runtime.calls.contained import compares_in_python, text_in_c
from adbc.runtime.calls.generators import Generator
from adbc.runtime.calls.steps import (
    AsItIs,
    Call,
    Delegate,
    Found,
    Protocols,
    Resolver,
    RunWatched,
    Step,
    UseRow,
    Value,
)
from adbc.runtime.report.variables import SEARCHES, is_standing, too_far
from adbc.runtime.state.activity import is_active
from adbc.tangents.fields import plain_check

__all__ = ["PROTOCOLS", "ROWS"]


def _python(cls: type, name: str) -> bool:
    """Whether Python code may answer for the special method `name` of `cls`."""
    return overrides(cls, name)


# -- truth -----------------------------------------------------------------------------------------------


def truth_of(x: Any) -> bool:
    """``bool(x)`` where the class of `x` has ``__bool__``."""
    answer = _load_special_(x, "__bool__")()
    if type(answer) is not bool:
        raise TypeError(f"__bool__ should return bool, returned {type(answer).__name__}")
    return answer


def truth_of_length(x: Any) -> bool:
    """``bool(x)`` where the class of `x` has ``__len__`` alone."""
    return len(x) != 0


def no_truth_of(x: Any) -> bool:
    """``not x`` where the class of `x` has ``__bool__``."""
    return not truth_of(x)


def no_truth_of_length(x: Any) -> bool:
    """``not x`` where the class of `x` has ``__len__`` alone."""
    return len(x) == 0


def _truth(direct: Any, by_length: Any) -> Resolver:
    """The resolver of a question for the truth: `direct` asks ``__bool__``, `by_length` asks ``__len__``."""

    def truth(call: Call, table: RuleTable) -> Step | None:
        if len(call.args) != 1 or call.keywords:
            return None
        cls: Any = type(call.args[0])
        if c_truth(cls):
            return None
        if lookup(cls, "__bool__") is not None:
            return Delegate(call.of(direct)) if _python(cls, "__bool__") else None
        return Delegate(call.of(by_length)) if _python(cls, "__len__") else None

    return truth


# -- membership ------------------------------------------------------------------------------------------


def holds(container: Any, item: Any) -> bool:
    """``item in container`` where the class of `container` has ``__contains__``."""
    return bool(_load_special_(container, "__contains__")(item))


def finds(container: Any, item: Any) -> bool:
    """``item in container`` by comparing `item` with one element after the other."""
    for value in container:  # noqa: SIM110  # `any` would make a generator of it
        if value is item or value == item:
            return True
    return False


def holds_not(container: Any, item: Any) -> bool:
    """``item not in container`` where the class of `container` has ``__contains__``."""
    return not holds(container, item)


def finds_not(container: Any, item: Any) -> bool:
    """``item not in container`` by comparing `item` with one element after the other."""
    return not finds(container, item)


_SEQUENCES = (list, tuple, collections.deque)


def _in_view(call: Call) -> Step | None:
    """The step of a test of membership among the items of a dict, whose values may be compared by Python
    code."""
    if not issubclass(type(call.args[0]), collections.abc.ItemsView):
        return None
    if compares_in_python((call.args[1], *call.args[0])):
        return RunWatched(call, "compares")
    # another call object: this depends on what stands in the dict
    return UseRow(ZeroRule(call.function), call.of(call.function))


def _contains(direct: Any, one_by_one: Any) -> Resolver:
    """The resolver of a test of membership: `direct` asks ``__contains__``, `one_by_one` iterates."""

    def contains(call: Call, table: RuleTable) -> Step | None:
        cls = type(call.args[0])
        if _python(cls, "__contains__"):
            return Delegate(call.of(direct))
        if is_declined(cls, "__contains__"):
            return UseRow(ZeroRule(call.function), call)  # which raises
        if cls is Generator or lookup(cls, "__contains__") is None:
            walks = hasattr(cls, "__iter__") or _python(cls, "__getitem__")
            return Delegate(call.of(one_by_one)) if walks else None
        if not issubclass(cls, _SEQUENCES):
            return _in_view(call)
        if compares_in_python(call.args):
            return Delegate(call.of(one_by_one))
        # another call object: this depends on what stands in the container
        return UseRow(ZeroRule(call.function), call.of(call.function))

    return contains


# -- classes ---------------------------------------------------------------------------------------------


def checks_each(check: Any, x: Any, kinds: Any) -> bool:
    """``check(x, kinds)``, which is `isinstance` or `issubclass`, where `kinds` is a tuple of classes."""
    for kind in kinds:  # noqa: SIM110  # `any` would make a generator of it
        if check(x, kind):
            return True
    return False


def is_instance(x: Any, kind: Any) -> bool:
    """``isinstance(x, kind)`` where the class `kind` answers for itself."""
    return type(x) is kind or bool(_load_special_(kind, "__instancecheck__")(x))


def is_subclass(x: Any, kind: Any) -> bool:
    """``issubclass(x, kind)`` where the class `kind` answers for itself."""
    return bool(_load_special_(kind, "__subclasscheck__")(x))


def says_instance(x: Any, kind: Any) -> bool:
    """``isinstance(x, kind)`` of what is none, where `x` is asked of which class it is."""
    try:
        said = x.__class__
    except AttributeError:
        return False
    return said is not type(x) and issubclass(type(said), type) and type.__subclasscheck__(kind, said)


def says_instance_of_some(x: Any, kinds: Any) -> bool:
    """``isinstance(x, kinds)`` of some classes, a tuple or union, where `x` is asked of which class it is."""
    for kind in kinds if type(kinds) is tuple else kinds.__args__:
        if type.__subclasscheck__(kind, type(x)) or says_instance(x, kind):
            return True
    return False


def _are_plain(kinds: Any) -> bool:
    """Whether `kinds` is a tuple or union of classes none of which answers for itself."""
    if type(kinds) is not tuple and type(kinds) is not types.UnionType:
        return False
    each: Any = kinds.__args__ if type(kinds) is types.UnionType else kinds
    return all(
        issubclass(type(kind), type) and lookup(type(kind), "__instancecheck__") is _CHECKS_IN_C
        for kind in each
    )


_CHECKS_IN_C = type.__dict__["__instancecheck__"]


def _checks(body: Any) -> Resolver:
    """The resolver of `isinstance` or `issubclass`: `body` asks a class that answers for itself."""

    def checks(call: Call, table: RuleTable) -> Step | None:
        if len(call.args) != 2 or call.keywords:
            return None
        x, kind = call.args
        is_asked = call.function is isinstance and says_its_class(type(x))
        if plain_check(kind) and not is_asked:
            return None
        if is_asked and _are_plain(kind):
            return Delegate(call.of(says_instance_of_some))
        if issubclass(type(kind), tuple):
            return Delegate(call.prepend(checks_each, None, call.function, None, None))
        if not plain_check(kind):
            return Delegate(call.of(body))
        is_plain = lookup(type(kind), "__instancecheck__") is _CHECKS_IN_C
        return None if issubclass(type(x), kind) or not is_plain else Delegate(call.of(says_instance))

    return checks


# -- attributes ------------------------------------------------------------------------------------------


def has_attribute(obj: Any, name: str) -> bool:
    """``hasattr(obj, name)``."""
    try:
        getattr(obj, name)
    except AttributeError:
        return False
    return True


def attribute_or(obj: Any, name: str, default: Any) -> Any:
    """``getattr(obj, name, default)``."""
    try:
        return getattr(obj, name)
    except AttributeError:
        return default


def _is_computed(obj: Any, name: str) -> bool:
    """Whether to read attribute `name` of `obj` may be to run Python code."""
    return issubclass(type(name), str) and not plain_attributes(type(obj))


def _hasattr(call: Call, table: RuleTable) -> Step | None:
    return Delegate(call.of(has_attribute)) if len(call.args) == 2 and _is_computed(*call.args) else None


def _getattr(call: Call, table: RuleTable) -> Step | None:
    if len(call.args) == 3 and _is_computed(*call.args[:2]):
        return Delegate(call.of(attribute_or))
    return get_default(call, table)


# -- text ------------------------------------------------------------------------------------------------


def text_of(x: Any) -> Any:
    """``str(x)`` where the class of `x` has ``__str__``."""
    text = _load_special_(x, "__str__")()
    if not issubclass(type(text), str):
        raise TypeError(f"__str__ returned non-string (type {type(text).__name__})")
    return text


def description_of(x: Any) -> Any:
    """``repr(x)`` where the class of `x` has ``__repr__``."""
    text = _load_special_(x, "__repr__")()
    if not issubclass(type(text), str):
        raise TypeError(f"__repr__ returned non-string (type {type(text).__name__})")
    return text


def format_of(x: Any, spec: str = "") -> Any:
    """``format(x, spec)`` where the class of `x` has ``__format__``."""
    text = _load_special_(x, "__format__")(spec)
    if not issubclass(type(text), str):
        raise TypeError(f"__format__ must return a str, not {type(text).__name__}")
    return text


def text_format_of(x: Any, spec: str = "") -> Any:
    """``format(x, spec)`` where the class of `x` has no ``__format__`` of its own."""
    if spec:
        raise TypeError(f"unsupported format string passed to {type(x).__name__}.__format__")
    return str(x)


def field_of(x: Any, conversion: int, spec: str) -> Any:
    """What a field of an f-string writes."""
    if conversion == 0:
        return format(x, spec)
    text = str(x) if conversion == 1 else repr(x) if conversion == 2 else ascii(x)
    return format(text, spec)


def joined(separator: str, parts: Any) -> str:
    """``separator.join(parts)`` where `parts` is neither a list nor a tuple."""
    return separator.join(list(iter(parts)))


def printed(*values: Any, **options: Any) -> None:
    """``print(*values, **options)`` where a value has a text of its own."""
    texts = []
    for x in values:
        texts.append(str(x))  # noqa: PERF401  # before 3.12 a comprehension is a function
    print(*texts, **options)


def _str(call: Call, table: RuleTable) -> Step | None:
    if len(call.args) != 1 or call.keywords:
        return None
    cls = type(call.args[0])
    if _python(cls, "__str__"):
        return Delegate(call.of(text_of))
    # `object` asks for ``__repr__``, but a class may have taken the text of what it derives from, in C.
    is_described = lookup(cls, "__str__") is object.__str__ and _python(cls, "__repr__")
    return Delegate(call.of(description_of)) if is_described else text_in_c(call)


def _repr(call: Call, table: RuleTable) -> Step | None:
    cls = type(call.args[0])
    return Delegate(call.of(description_of)) if _python(cls, "__repr__") else text_in_c(call)


def _format(call: Call, table: RuleTable) -> Step | None:
    cls = type(call.args[0])
    if _python(cls, "__format__"):
        return Delegate(call.of(format_of))
    if lookup(cls, "__format__") is not object.__format__ or plain_text(cls):
        return text_in_c(call)
    return Delegate(call.of(text_format_of))


def _field(call: Call, table: RuleTable) -> Step | None:
    return text_in_c(call) if plain_text(type(call.args[0])) else Delegate(call.of(field_of))


def _in_c(call: Call, table: RuleTable) -> Step | None:
    return text_in_c(call)


def _join(call: Call, table: RuleTable) -> Step | None:
    if len(call.args) != 2 or type(call.args[1]) in (list, tuple, str, dict, set, frozenset):
        return None
    return Delegate(call.of(joined))


def _print(call: Call, table: RuleTable) -> Step | None:
    values = call.args[: call.count]
    return text_in_c(call) if all(plain_text(type(x)) for x in values) else Delegate(call.of(printed))


# -- frames ------------------------------------------------------------------------------------------------


def names_of(x: Any) -> list[str]:
    """``dir(x)`` where the class of `x` has ``__dir__``."""
    return sorted(_load_special_(x, "__dir__")())


def _looks(call: Call, table: RuleTable) -> Step | None:
    if call.function is vars and call.args:
        return variables(call, table)
    if call.function is dir and call.args:
        return Delegate(call.of(names_of)) if _python(type(call.args[0]), "__dir__") else None
    raise UnsupportedError(
        f"{call.function.__name__}() looks at the frame that it is called from, or changes it",
        "that is not the frame of the user's function while it is differentiated",
        "pass the values that are needed as arguments",
    )


def _frame(call: Call, table: RuleTable) -> Step | None:
    """``sys._getframe(depth)``: a frame that stands for the user's, and does not show its variables."""
    found = call.perform_for_user()
    if not is_standing(found):
        raise too_far()
    return Found(call, found)


def _class_of(call: Call, table: RuleTable) -> Step | None:
    """``type(x)``, where `x` stands for an object of another class, such as a generator."""
    if len(call.args) != 1 or call.keywords:
        return None
    meant = stands_for(type(call.args[0]))
    return None if meant is None else Value(call, meant, None)


def _says(call: Call, table: RuleTable) -> Step | None:
    return None if any(map(is_active, call.shadows)) else AsItIs(call)


PROTOCOLS: Protocols = {
    type: _class_of,
    warnings.warn: _says,
    locals: _looks,
    vars: _looks,
    dir: _looks,
    sys._getframe: _frame,
    sys.settrace: _looks,
    sys.setprofile: _looks,
    intrinsics._bool_: _truth(truth_of, truth_of_length),
    bool: _truth(truth_of, truth_of_length),
    operator.truth: _truth(truth_of, truth_of_length),
    operator.not_: _truth(no_truth_of, no_truth_of_length),
    operator.contains: _contains(holds, finds),
    intrinsics._not_contains_: _contains(holds_not, finds_not),
    isinstance: _checks(is_instance),
    issubclass: _checks(is_subclass),
    hasattr: _hasattr,
    getattr: _getattr,
    str: _str,
    repr: _repr,
    builtins.format: _format,
    intrinsics._format_: _field,
    str.join: _join,
    print: _print,
    str.format: _in_c,
    str.format_map: _in_c,
    str.translate: _in_c,
    ascii: _in_c,
}
"""What each question leads to; None: the question is asked as it is."""

ROWS: list[Rule] = [ZeroRule(search) for search in SEARCHES]
