"""Dicts: subscripts, methods, merging; also the subclasses of the standard library.

The shadow of a dict has the same keys in the same order.  A pullback restores the order too: a key
that was deleted comes back where it was, by putting what followed it behind it again.  To look a key
up by an active number is fine where nothing is found, or what has no derivative itself; to store one, and to
read a number under one, is refused; keys that are objects keep their shadows (`tangents.keys`).
"""

from __future__ import annotations

import operator
from collections import OrderedDict, defaultdict
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from adbc.ir import intrinsics
from adbc.rules.builtins.items import GET, ITEM, KEY, STORE, get_rrule, read_item, setitem_rrule, store_item
from adbc.rules.builtins.past_methods import PastMethods
from adbc.rules.classes import class_of_first, dict_like, has, overrides
from adbc.rules.dict_halves import DELETE, POP, copying, put_back_item, take_item, updating
from adbc.rules.namespaces import check_all_names, check_name
from adbc.rules.sequences import emptied, fail, nothing, pair_of, refuse_constant, symbolic
from adbc.rules.table import NO_KWARGS, Args, Kwargs, Overlay, Primitive, Rule, ZeroRule
from adbc.tangents import fill_tangent, slot_increment, slot_rdata, slot_shadow, slot_tangent
from adbc.tangents.keys import ask_key, keep_key

__all__ = ["ROWS", "fill_dict", "read_past_methods", "same_rows", "setdefault", "update_any"]


def _dict_first(cls: type, *rest: type) -> bool:
    return dict_like(cls)


def _no_missing(cls: type, *rest: type) -> bool:
    return dict_like(cls) and not has(cls, "__missing__")


def _misses(cls: type, *rest: type) -> bool:
    return _has_missing(cls) and not overrides(cls, "__getitem__")


def _has_missing(cls: type, *rest: type) -> bool:
    return issubclass(cls, dict) and has(cls, "__missing__")


def _exactly_dict(cls: type, *rest: type) -> bool:
    return cls is dict


def _no_keywords(target: type, other: type, *function: type) -> bool:
    """Whether nothing is merged into a dict: that is how rules are told that there are no keywords."""
    return target is dict and other is type(NO_KWARGS)


def _two_dicts(*classes: type) -> bool:
    return classes[:2] == (dict, dict)


def _inlined_load(rows: list[Rule]) -> list[Rule]:
    """Return `rows`, marked as ones that builders may write inline (`Rule.inline`)."""
    for row in rows:
        row.inline = "load"
    return rows


# -- d[k] ---------------------------------------------------------------------------------------------


def _getitem_frule(args: Args, dargs: Args, kwargs: Kwargs = NO_KWARGS) -> tuple[Any, Any]:
    d, k = args
    out = d[k]
    if dargs[1] is not None:
        ask_key(k, dargs[1], out)
    return out, None if dargs[0] is None else symbolic(dargs[0][k])


def _getitem_rrule(args: Args, fargs: Args, kwargs: Kwargs = NO_KWARGS) -> Any:
    return read_item(args[0], fargs[0], args[1], fargs[1], 2)


def held(d: Any, k: Any) -> Any:
    """The item of dict `d` at key `k`, read without the methods and ``__missing__`` of its class."""
    if not dict.__contains__(d, k):
        raise KeyError(k)
    return dict.__getitem__(d, k)


def _getitem_missing(d: Any, k: Any) -> Any:
    # what dict.__getitem__ does in a class that says what a missing key means
    if dict.__contains__(d, k):
        return held(d, k)
    return type(d).__missing__(d, k)


def _getitem_default(d: Any, k: Any) -> Any:
    if dict.__contains__(d, k):
        return held(d, k)
    return _missing_value(d, k)


_missing_value: Any = defaultdict.__missing__


def _is_defaultdict(cls: type, *rest: type) -> bool:
    return cls is defaultdict


def _get_frule(args: Args, dargs: Args, kwargs: Kwargs = NO_KWARGS) -> tuple[Any, Any]:
    d, k, *default = args
    if k in d:
        return _getitem_frule((d, k), dargs[:2], kwargs)
    return (default[0], dargs[2]) if default else (None, None)


# -- d[k] = v, del d[k] ---------------------------------------------------------------------------------


def _setitem_frule(args: Args, dargs: Args, kwargs: Kwargs = NO_KWARGS) -> tuple[Any, Any]:
    d, k, v = args
    dd, dk, dv = dargs
    keep_key(k, dk, KEY)
    if dd is None:
        refuse_constant(d, dv)
    check_name(d, k, v)
    d[k] = v
    if dd is not None:
        dd[k] = fill_tangent(v, dv)
    return None, None


def _delitem_frule(args: Args, dargs: Args, kwargs: Kwargs = NO_KWARGS) -> tuple[Any, Any]:
    d, k = args
    check_name(d, k)
    del d[k]
    if dargs[0] is not None:
        del dargs[0][k]
    return None, None


def _delitem_rrule(args: Args, fargs: Args, kwargs: Kwargs = NO_KWARGS) -> Any:
    taken = take_item(args[0], fargs[0], args[1])

    def delitem_pullback(bout: Any) -> Sequence[Any]:
        put_back_item(taken, None)
        return None, None

    return None, None, delitem_pullback


def _pop_frule(args: Args, dargs: Args, kwargs: Kwargs = NO_KWARGS) -> tuple[Any, Any]:
    d, k, *default = args
    if default and k not in d:
        return default[0], dargs[2]
    check_name(d, k)
    if dargs[1] is not None and k in d:
        ask_key(k, dargs[1], d[k])
    out = d.pop(k)
    return out, None if dargs[0] is None else symbolic(dargs[0].pop(k))


def _pop_rrule(args: Args, fargs: Args, kwargs: Kwargs = NO_KWARGS) -> Any:
    d, k, *default = args
    if default and k not in d:
        return default[0], fargs[2], lambda bout: (None, None, bout)
    lost = ask_key(k, fargs[1], d[k]) if fargs[1] is not None and k in d else None
    rdata = (None, lost, None)[: len(args)]
    taken = take_item(d, fargs[0], k)

    def pop_pullback(bout: Any) -> Sequence[Any]:
        put_back_item(taken, bout)
        return rdata

    return taken[0], None if fargs[0] is None else slot_shadow(taken[1]), pop_pullback


def _popitem(d: Any, /) -> Any:
    if not d:
        raise KeyError("popitem(): dictionary is empty")
    k = next(reversed(d))
    return k, d.pop(k)


def setdefault(d: Any, k: Any, default: Any = None, /) -> Any:
    if k not in d:
        d[k] = default
    return d[k]


# -- many at once ---------------------------------------------------------------------------------------


def _update_into(d: Any, fd: Any, other: Any, fother: Any) -> Callable[[], None]:
    """Store all items of `other` in `d`; returns a function that undoes this and increments `fother`."""
    check_all_names(d, other)
    undos = []
    for k, v in list(other.items()):
        fv = None if fother is None else slot_shadow(fother[k])
        undos.append((k, store_item(d, fd, k, v, fv)))

    def undo_all() -> None:
        given = [(k, undo()) for k, undo in reversed(undos)]
        if fother is not None:
            for k, r in given:
                if r is not None:
                    fother[k] = slot_increment(fother[k], r)

    return undo_all


def _update(returns: bool) -> tuple[Any, Any]:
    """The pair of rules of ``d |= other`` if it `returns` the dict, else of ``d.update(other)``."""

    def frule(args: Args, dargs: Args, kwargs: Kwargs = NO_KWARGS) -> tuple[Any, Any]:
        d, other = args[:2]
        dd, dother = dargs[:2]
        check_all_names(d, [*other, *kwargs])
        if dd is None:
            refuse_constant(d, dother)
        else:
            dd.update(_tangents(other, dother))
            dd.update(_tangents(kwargs, None))
        d.update(other, **kwargs)
        return (d, dd) if returns else (None, None)

    def rrule(args: Args, fargs: Args, kwargs: Kwargs = NO_KWARGS) -> Any:
        undo = _update_into(args[0], fargs[0], args[1], fargs[1])
        undo_named = _update_into(args[0], fargs[0], kwargs, None)

        def update_pullback(bout: Any) -> Sequence[Any]:
            undo_named()
            undo()
            return (None,) * len(args)

        return (args[0], fargs[0], update_pullback) if returns else (None, None, update_pullback)

    return frule, rrule


def _tangents(d: Any, dd: Any) -> dict[Any, Any]:
    """The tangents of the values of `d` by key, made of its tangent `dd`: zeros if that is None."""
    return {k: fill_tangent(v, None) for k, v in d.items()} if dd is None else dict(dd)


def _merge_frule(args: Args, dargs: Args, kwargs: Kwargs = NO_KWARGS) -> tuple[Any, Any]:
    target, other, function = args[0], args[1], args[2] if len(args) > 2 else None
    tangents = _tangents(other, dargs[1])
    intrinsics._dict_merge_(target, other, function)
    if dargs[0] is not None:
        dargs[0].update(tangents)
    return None, None


def _merge_rrule(args: Args, fargs: Args, kwargs: Kwargs = NO_KWARGS) -> Any:
    for key in args[1]:
        if key in args[0]:
            intrinsics._dict_merge_(*args)  # for its error
    return _update(returns=False)[1](args, fargs, kwargs)


def _merge_mapping(target: Any, other: Any, function: Any = None) -> None:
    if read_past_methods(other):
        for k, v in list(dict.items(other)):
            if k in target:
                fail(intrinsics._dict_merge_, target, {k: None}, function)
            target[k] = v
        return
    keys = getattr(other, "keys", None)
    if keys is None:
        fail(intrinsics._dict_merge_, target, other, function)
    for k in list(iter(keys())):
        if k in target:
            fail(intrinsics._dict_merge_, target, {k: None}, function)
        target[k] = other[k]


def read_past_methods(other: Any) -> bool:
    """Whether C code reads `other` as a dict, without calling ``keys`` and ``__getitem__`` of its class."""
    cls = type(other)
    return issubclass(cls, dict) and cls.__iter__ is dict.__iter__


def update_any(d: Any, other: Any = (), /, **named: Any) -> None:
    if read_past_methods(other):
        if type(other) is not dict:
            hasattr(other, "keys")  # C code looks for them first, and then does without
        for k, v in list(dict.items(other)):
            d[k] = v
    elif hasattr(other, "keys"):
        for k in list(iter(other.keys())):
            d[k] = other[k]
    else:
        index = 0
        for item in other:
            k, v = pair_of(item, index)
            d[k] = v
            index += 1  # noqa: SIM113  # what is differentiated had better be simple
    for k, v in named.items():
        d[k] = v


def _update_display(d: Any, other: Any) -> None:
    """``{**other}``: C code asks for the keys once, where an update makes sure first that there are any."""
    if read_past_methods(other):
        for k, v in list(dict.items(other)):
            d[k] = v
        return
    keys = getattr(other, "keys", None)
    if keys is None:
        fail(intrinsics._dict_update_, d, other)
    for k in list(iter(keys())):
        d[k] = other[k]


def _clear_frule(args: Args, dargs: Args, kwargs: Kwargs = NO_KWARGS) -> tuple[Any, Any]:
    check_all_names(args[0], args[0])
    args[0].clear()
    if dargs[0] is not None:
        dargs[0].clear()
    return None, None


def _clear_rrule(args: Args, fargs: Args, kwargs: Kwargs = NO_KWARGS) -> Any:
    d, fd = args[0], fargs[0]
    check_all_names(d, d)
    items = list(d.items())
    shadows = None if fd is None else dict(fd)
    d.clear()
    if fd is not None:
        fd.clear()

    def clear_pullback(bout: Any) -> Sequence[Any]:
        for k, v in items:
            d[k] = v
            if shadows is not None:
                fd[k] = emptied(v, shadows[k])
        return (None,)

    return None, None, clear_pullback


def _copy_frule(args: Args, dargs: Args, kwargs: Kwargs = NO_KWARGS) -> tuple[Any, Any]:
    out = args[0].copy()
    return out, _tangents(out, dargs[0])


def _copy_rrule(args: Args, fargs: Args, kwargs: Kwargs = NO_KWARGS) -> Any:
    d, fd = args[0], fargs[0]
    out = d.copy()
    if fd is None:
        return out, {k: slot_tangent(v, None) for k, v in d.items()}, nothing(1)
    fout = {k: emptied(v, fd[k]) for k, v in d.items()}

    def copy_pullback(bout: Any) -> Sequence[Any]:
        for k, t in fout.items():
            r = slot_rdata(t)
            if r is not None:
                fd[k] = slot_increment(fd[k], r)
        return (None,)

    return out, fout, copy_pullback


def _or(d: Any, other: Any, /) -> Any:
    out = d.copy()
    out.update(other)
    return out


def _fromkeys(keys: Any, value: Any = None, /) -> Any:
    return {k: value for k in keys}  # noqa: C420  # `dict.fromkeys` is what this is the body of


# -- subclasses with methods written in Python ------------------------------------------------------------


class _Plain(PastMethods):
    """A dict whose class has methods written in Python, used without them."""

    __slots__ = ()

    base = dict

    def __contains__(self, k: Any) -> bool:
        return dict.__contains__(self.it, k)

    def __reversed__(self) -> Any:
        return dict.__reversed__(self.it)


class _PlainOrdered(_Plain):
    """An `OrderedDict` of such a class: the methods of dict would not see to its order."""

    __slots__ = ()

    base = OrderedDict

    def __reversed__(self) -> Any:
        return OrderedDict.__reversed__(self.it)


def _plain(d: Any) -> _Plain:
    return _PlainOrdered(d) if issubclass(type(d), OrderedDict) else _Plain(d)


def _overriding(cls: type, *rest: type) -> bool:
    return issubclass(cls, dict) and not dict_like(cls)


def _but_not(name: str) -> Any:
    """A `when` that holds for classes of dicts with methods written in Python, but not the method `name`."""

    def when(cls: type, *rest: type) -> bool:
        return _overriding(cls) and not overrides(cls, name)

    return when


def _but_not_ordered(name: str) -> Any:
    """A `when` that holds for these, but for an `OrderedDict`: its C code calls methods written in Python."""

    def when(cls: type, *rest: type) -> bool:
        return _overriding(cls) and not issubclass(cls, OrderedDict) and not overrides(cls, name)

    return when


_OPERATORS = {
    operator.getitem: "__getitem__",
    operator.setitem: "__setitem__",
    operator.delitem: "__delitem__",
    operator.or_: "__or__",
    operator.ior: "__ior__",
}
"""The methods that operators call: if one is written in Python, the operator has no row."""


def _past_methods(row: Primitive) -> Rule:
    """A row like `row` for dicts of classes with methods written in Python, which are not called."""

    def frule(args: Args, dargs: Args, kwargs: Kwargs = NO_KWARGS) -> tuple[Any, Any]:
        d = _plain(args[0])
        out, dout = row.frule((d, *args[1:]), dargs, kwargs)
        return args[0] if out is d else out, dout

    def rrule(args: Args, fargs: Args, kwargs: Kwargs = NO_KWARGS) -> Any:
        d = _plain(args[0])
        out, fout, pullback = row.rrule((d, *args[1:]), fargs, kwargs)
        return args[0] if out is d else out, fout, pullback

    name = _OPERATORS.get(row.function)
    when = _overriding if name is None else _but_not(name)
    return Primitive(row.function, frule=frule, rrule=rrule, when=when)


def _popitem_past(d: Any, /) -> Any:
    if not dict.__len__(d):
        raise KeyError("popitem(): dictionary is empty")
    k = next(dict.__reversed__(d))
    return k, dict.pop(d, k)


def _setdefault_past(d: Any, k: Any, default: Any = None, /) -> Any:
    if not dict.__contains__(d, k):
        dict.__setitem__(d, k, default)
    return dict.__getitem__(d, k)


def fill_dict(d: Any, other: Any, named: Any) -> None:
    """Put what ``dict(other, **named)`` holds into `d`, without calling methods of the class of `d`."""
    if read_past_methods(other):
        if type(other) is not dict:
            hasattr(other, "keys")
        for k, v in list(dict.items(other)):
            dict.__setitem__(d, k, v)
    elif hasattr(other, "keys"):
        for k in list(iter(other.keys())):
            dict.__setitem__(d, k, other[k])
    else:
        index = 0
        for item in other:
            k, v = pair_of(item, index)
            dict.__setitem__(d, k, v)
            index += 1  # noqa: SIM113  # what is differentiated had better be simple
    for k, v in named.items():
        dict.__setitem__(d, k, v)


def _update_past(d: Any, other: Any = (), /, **named: Any) -> None:
    fill_dict(d, other, named)


def _copy_past(d: Any, /) -> Any:
    out: dict[Any, Any] = {}
    if dict.__len__(d):  # else nothing is asked of it
        _update_display(out, d)
    return out


def _or_past(d: Any, other: Any, /) -> Any:
    if not issubclass(type(other), dict):
        return NotImplemented
    out = dict.copy(d)
    out.update(other)
    return out


def _ior_past(d: Any, other: Any, /) -> Any:
    _update_past(d, other)
    return d


def _init_past(d: Any, /, *other: Any, **named: Any) -> None:
    _update_past(d, *other, **named)


def _view(method: Any) -> list[Rule]:
    """The row of `method`, which gives a view of a dict: the shadow of the view is that of the dict."""

    name = method.__name__

    def view(d: Any) -> Any:
        """The view of a dict past the methods of its class, or by one that stands for a dict past those."""
        return method(d) if isinstance(d, dict) else getattr(d, name)()

    def frule(args: Args, dargs: Args, kwargs: Kwargs = NO_KWARGS) -> tuple[Any, Any]:
        return view(args[0]), dargs[0]

    def rrule(args: Args, fargs: Args, kwargs: Kwargs = NO_KWARGS) -> Any:
        return view(args[0]), fargs[0], nothing(1)

    cls = type(getattr({}, name)())
    rows: list[Rule] = [Primitive(method, frule=frule, rrule=rrule, when=_exactly_dict, result=cls)]
    return [*rows, Primitive(method, frule=frule, rrule=rrule, when=_dict_first)]


def _primitive(
    functions: Sequence[Any],
    frule: Any,
    rrule: Any,
    when: Any,
    result: Any = None,
    **more: Any,
) -> list[Rule]:
    options = {"frule": frule, "rrule": rrule, "is_fitted": True, "when": when, "result": result, **more}
    return [Primitive(f, **options) for f in functions]


_UPDATE, _IOR = _update(returns=False), _update(returns=True)

ROWS: list[Rule] = [
    *_inlined_load(
        _primitive(
            (operator.getitem, dict.__getitem__), _getitem_frule, _getitem_rrule, _no_missing, halves=ITEM
        )
    ),
    Overlay(operator.getitem, _getitem_default, when=_is_defaultdict),
    Overlay(operator.getitem, _getitem_missing, when=_misses),
    Overlay(dict.__getitem__, _getitem_missing, when=_has_missing),
    *_primitive(
        (operator.setitem, dict.__setitem__, intrinsics._map_add_),
        _setitem_frule,
        setitem_rrule,
        _dict_first,
        halves=STORE,
        leading=2,
    ),
    *_primitive(
        (operator.delitem, dict.__delitem__), _delitem_frule, _delitem_rrule, _dict_first, halves=DELETE
    ),
    *_primitive((dict.get,), _get_frule, get_rrule, _dict_first, halves=GET, leading=2),
    *_primitive((dict.pop,), _pop_frule, _pop_rrule, _dict_first, halves=POP, leading=2),
    Overlay(dict.popitem, _popitem, when=_dict_first),
    Overlay(dict.setdefault, setdefault, when=_dict_first),
    *_primitive(
        (dict.update, intrinsics._dict_update_),
        *_UPDATE,
        _two_dicts,
        halves=updating(_UPDATE[1], returns=False),
    ),
    Overlay(dict.update, update_any, when=_dict_first),
    Overlay(intrinsics._dict_update_, _update_display, when=_dict_first),
    *_primitive((intrinsics._dict_merge_,), _merge_frule, _merge_rrule, _two_dicts),
    ZeroRule(intrinsics._dict_merge_, when=_no_keywords, result=type(None)),
    Overlay(intrinsics._dict_merge_, _merge_mapping),
    *_primitive((operator.ior,), *_IOR, _two_dicts, class_of_first, halves=updating(_IOR[1], returns=True)),
    Overlay(operator.or_, _or, when=_two_dicts, result=dict),
    *_primitive((dict.clear,), _clear_frule, _clear_rrule, _dict_first),
    *_primitive((dict.copy,), _copy_frule, _copy_rrule, _exactly_dict, dict, halves=copying(_copy_rrule)),
    Overlay(dict.fromkeys, _fromkeys, result=dict),
    *_view(dict.keys),
    *_view(dict.values),
    *_view(dict.items),
    ZeroRule(dict.__contains__, when=_dict_first, result=bool),
]
"""The rows of dicts: of the class itself and of subclasses."""

_PAST = {
    operator.getitem, dict.__getitem__, operator.setitem, dict.__setitem__, operator.delitem,
    dict.__delitem__, dict.get, dict.pop, dict.clear, dict.keys, dict.values, dict.items,
}  # fmt: skip
_seen: set[Any] = set()
for _row in list(ROWS):
    if isinstance(_row, Primitive) and _row.function in _PAST and _row.function not in _seen:
        _seen.add(_row.function)
        ROWS.append(_past_methods(_row))
_held = _past_methods(Primitive(held, frule=_getitem_frule, rrule=_getitem_rrule))
_held.when = None
ROWS += [
    _held,
    Overlay(dict.popitem, _popitem_past, when=_overriding),
    Overlay(dict.setdefault, _setdefault_past, when=_overriding),
    Overlay(dict.update, _update_past, when=_overriding),
    Overlay(dict.copy, _copy_past, when=_overriding),
    Overlay(operator.or_, _or_past, when=_but_not_ordered("__or__")),
    Overlay(dict.__or__, _or_past, when=_overriding),
    Overlay(operator.ior, _ior_past, when=_but_not_ordered("__ior__")),
    Overlay(dict.__ior__, _ior_past, when=_overriding),
    Overlay(dict.__init__, _init_past, when=_overriding),
    ZeroRule(dict.__contains__, when=_overriding, result=bool),
    ZeroRule(dict.__len__, result=int),
    ZeroRule(read_past_methods, result=bool),
]


def same_rows(
    cls: type, base: type, names: Sequence[str], parameters: Mapping[str, Sequence[str]]
) -> list[Rule]:
    """Rows for the methods `names` of `cls`, like those of `base`: its C code does the same.

    parameters: the names of the parameters of methods that can be called by keyword.
    """
    rows: list[Rule] = []
    for name in names:
        for row in ROWS:
            if row.function is getattr(base, name):
                assert isinstance(row, Primitive)
                options: Any = {"is_fitted": True, "halves": row.halves, "when": row.when}
                options["parameters"] = parameters.get(name)
                rows.append(Primitive(getattr(cls, name), frule=row.frule, rrule=row.rrule, **options))
    return rows
