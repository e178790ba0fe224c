"""Lists and dicts of classes with methods written in Python, which go on to those of `list` and `dict`.

C code does what it does to any list, and calls none of these methods, so the rules of `lists` serve, given
the list in a wrapper that leaves them out.  What only reads goes on with a plain list of the elements.  What
dicts have besides stands in `dicts`.
"""

from __future__ import annotations

import operator
from typing import Any

from adbc.rules.builtins import lists
from adbc.rules.builtins.iteration import making_iterator
from adbc.rules.builtins.past_methods import PastMethods
from adbc.rules.classes import integer, list_like, overrides
from adbc.rules.sequences import fail
from adbc.rules.table import NO_KWARGS, Args, Kwargs, Overlay, Primitive, Rule, ZeroRule

__all__ = ["ROWS"]


def _past(method: Any) -> Any:
    """`method` of lists, on the list past the methods of whose class it is called."""

    def call(self: Any, *args: Any) -> Any:
        return method(self.it, *args)

    return call


class _Plain(PastMethods):
    """A list whose class has methods written in Python, used without them."""

    __slots__ = ()

    base = list

    # The rules ask the class for these, as what is overridden may be how attributes are found.
    append, insert, pop, extend = map(_past, (list.append, list.insert, list.pop, list.extend))
    clear, reverse = map(_past, (list.clear, list.reverse))

    def __len__(self) -> int:
        return list.__len__(self.it)

    def __imul__(self, times: Any) -> Any:
        list.__imul__(self.it, times)
        return self


def _overriding(cls: type, *rest: type) -> bool:
    return issubclass(cls, list) and not list_like(cls)


_OPERATORS = {
    operator.getitem: ("__getitem__",),
    operator.setitem: ("__setitem__",),
    operator.delitem: ("__delitem__",),
    operator.iadd: ("__iadd__",),
    operator.imul: ("__imul__",),
}
"""The methods that operators call: if one is written in Python, the operator has no row."""


def _past_methods(row: Primitive) -> Rule:
    """A row like `row`, which is for lists, for those of classes with methods written in Python."""
    names = _OPERATORS.get(row.function, ())

    def when(cls: type, *rest: type) -> bool:
        if not _overriding(cls) or any(overrides(cls, name) for name in names):
            return False
        return row.when is None or row.when(list, *rest)

    def frule(args: Args, dargs: Args, kwargs: Kwargs = NO_KWARGS) -> tuple[Any, Any]:
        out, dout = row.frule((_Plain(args[0]), *args[1:]), dargs, kwargs)
        return args[0] if type(out) is _Plain else out, dout

    def rrule(args: Args, fargs: Args, kwargs: Kwargs = NO_KWARGS) -> Any:
        out, fout, pullback = row.rrule((_Plain(args[0]), *args[1:]), fargs, kwargs)
        return args[0] if type(out) is _Plain else out, fout, pullback

    return Primitive(row.function, frule=frule, rrule=rrule, is_fitted=True, when=when)


def _derived(base: type) -> Any:
    """A `when` that holds where the first argument is of a class derived from `base`."""
    return lambda cls, *rest: issubclass(cls, base) and cls is not base


_DERIVED: dict[Any, Any] = {base: _derived(base) for base in (list, dict)}


def elements(a: Any) -> Any:
    """The elements of a list, as a plain one."""
    return list.__getitem__(a, slice(None))


def items(d: Any) -> Any:
    """The keys and values of a dict, as a plain one."""
    out: dict[Any, Any] = {}
    for k, v in dict.items(d):
        out[k] = v  # noqa: PERF403  # what is differentiated had better be simple
    return out


def plain(x: Any) -> Any:
    """The plain list or dict that `x` is, or `x`."""
    if isinstance(x, list):
        return elements(x)
    return items(x) if isinstance(x, dict) else x


def _reading(method: Any) -> Overlay:
    """The row of a `method` that only reads: it does the same with a plain list or dict."""

    def body(a: Any, /, *args: Any) -> Any:
        return method(plain(a), *args)

    return Overlay(method, body, when=_DERIVED[method.__objclass__])


def _repr(a: Any, /) -> str:
    return repr(plain(a))


def _comparing(base: type, name: str) -> Overlay:
    """The row of a method that compares a list with another one, or a dict."""
    compare = getattr(operator, name)

    def body(a: Any, other: Any, /) -> Any:
        return compare(plain(a), plain(other)) if isinstance(other, base) else NotImplemented

    return Overlay(getattr(base, f"__{name}__"), body, when=_DERIVED[base])


def _add(a: Any, other: Any, /) -> Any:
    if not isinstance(other, list):
        fail(list.__add__, a, other)
    return elements(a) + elements(other)


def _two(left: type, right: type) -> bool:
    """Whether ``left + right`` joins two lists in C, of which one is of a class with methods in Python."""
    if not (issubclass(left, list) and issubclass(right, list)) or (list_like(left) and list_like(right)):
        return False
    return not any(overrides(cls, name) for cls in (left, right) for name in ("__add__", "__radd__"))


def _times(a: Any, times: Any, /) -> Any:
    return elements(a) * times


def _times_from_right(times: Any, a: Any, /) -> Any:
    return elements(a) * times


def _multiplied(cls: type, times: type) -> bool:
    return _overriding(cls) and integer(times) and not any(overrides(cls, n) for n in ("__mul__", "__rmul__"))


def _extend(a: Any, values: Any, /) -> None:
    for x in values:
        list.append(a, x)


def _iadd(a: Any, values: Any, /) -> Any:
    for x in values:
        list.append(a, x)
    return a


def _extended(cls: type, other: type) -> bool:
    """Whether ``a += b`` adds the elements of `b`, which is no array, to the list `a`."""
    return _overriding(cls) and not overrides(cls, "__iadd__") and not hasattr(other, "__array_interface__")


def _setslice(a: Any, where: Any, values: Any, /) -> None:
    list.__setitem__(a, where, [*values])


def _sliced(cls: type, index: type, *value: type) -> bool:
    return _overriding(cls) and index is slice


def _remove(a: Any, value: Any, /) -> None:
    list.__delitem__(a, list.index(a, value))


def _sort(a: Any, /, *, key: Any = None, reverse: bool = False) -> None:
    list.__setitem__(a, slice(None), sorted(elements(a), key=key, reverse=reverse))


_CHANGING = {
    operator.getitem, list.__getitem__, operator.setitem, list.__setitem__, operator.delitem,
    list.__delitem__, list.append, list.extend, operator.iadd, list.__iadd__, list.insert, list.pop,
    list.clear, list.reverse, operator.imul, list.__imul__,
}  # fmt: skip
"""What has rules that do all they do by methods of the list they are given."""

ROWS: list[Rule] = [
    *(_past_methods(row) for row in lists.ROWS if isinstance(row, Primitive) and row.function in _CHANGING),
    Overlay(list.extend, _extend, when=_overriding),
    Overlay(list.__iadd__, _iadd, when=_overriding),
    Overlay(operator.iadd, _iadd, when=_extended),
    Overlay(list.__setitem__, _setslice, when=_sliced),
    Overlay(
        operator.setitem,
        _setslice,
        when=lambda cls, *rest: _sliced(cls, *rest) and not overrides(cls, "__setitem__"),
    ),
    Overlay(list.remove, _remove, when=_overriding),
    Overlay(list.sort, _sort, when=_overriding),
    *map(
        _reading,
        (list.copy, list.__mul__, list.__rmul__, list.index, list.count, list.__contains__, dict.copy),
    ),
    *(Overlay(base.__repr__, _repr, when=when) for base, when in _DERIVED.items()),
    *(_comparing(list, name) for name in ("eq", "ne", "lt", "le", "gt", "ge")),
    *(_comparing(dict, name) for name in ("eq", "ne")),
    Overlay(list.__add__, _add, when=_overriding),
    Overlay(operator.add, _add, when=_two, result=list),
    Overlay(operator.mul, _times, when=_multiplied, result=list),
    Overlay(operator.mul, _times_from_right, when=lambda times, cls: _multiplied(cls, times), result=list),
    *(making_iterator(base.__iter__, when) for base, when in _DERIVED.items()),
    *(making_iterator(base.__reversed__, when, backwards=True) for base, when in _DERIVED.items()),
    ZeroRule(list.__len__, when=_DERIVED[list], result=int),
]
"""The rows of lists and dicts of classes with methods written in Python."""
