"""Class statements inside differentiated functions.

A class statement is a call of ``__build_class__`` with a function that is the body.  Here that builtin
and ``type.__new__`` are spelt out in Python that adbc can follow: the body fills its namespace as any
code fills a dict, metaclasses, ``__prepare__``, ``__set_name__`` and ``__init_subclass__`` are called like
any function.  What is left for C is to make the class out of the namespace (`new_classes`).
"""

from __future__ import annotations

import builtins
import operator
import sys
import types
from typing import Any

from adbc.ir import intrinsics
from adbc.ir.intrinsics import UNBOUND
from adbc.rules.lookup import RuleTable
from adbc.rules.table import Rule, ZeroRule
from adbc.runtime.calls.classes import is_python_function, lookup
from adbc.runtime.calls.new_classes import is_class
from adbc.runtime.calls.steps import Call, Delegate, Found, Hold, MakeType, Protocols, RunBody, Step
from adbc.runtime.state.activity import is_active

__all__ = ["PROTOCOLS", "ROWS"]


# -- the statement ---------------------------------------------------------------------------------------


class _Syntax:
    """A function that stands for a step of its own: `PROTOCOLS` says which, and its body never runs."""

    def __init__(self, name: str) -> None:
        self.__name__ = self.__qualname__ = name

    def __call__(self, *args: Any) -> Any:
        raise AssertionError(f"{self.__name__} needs a context")


run_body = _Syntax("run_body")
"""``run_body(body, namespace)``: the function of a class statement fills `namespace`."""

make_type = _Syntax("make_type")
"""``make_type(meta, name, bases, namespace, keywords)``: ``type.__new__`` without hooks written in Python.

Gives the class, the names whose ``__set_name__`` has not been called yet, and whether ``__init_subclass__``
is still to be called.
"""


def build_class(body: Any, name: Any, /, *bases: Any, **keywords: Any) -> Any:
    """``__build_class__(body, name, *bases, **keywords)``."""
    resolved = resolved_bases(bases)
    meta = metaclass_of(keywords.pop("metaclass", UNBOUND), resolved)
    how = how_to_prepare(meta)
    if how == 0:
        namespace: Any = {}
    else:
        namespace = meta.__prepare__(name, resolved, **keywords)
        if not hasattr(type(namespace), "__getitem__"):
            raise TypeError(
                f"{meta.__name__}.__prepare__() must return a mapping, not {type(namespace).__name__}"
            )
    cell = run_body(body, namespace)
    if resolved is not bases:
        namespace["__orig_bases__"] = bases
    made = meta(name, resolved, namespace, **keywords)
    check_cell(cell, made)
    return made


def resolved_bases(bases: Any) -> Any:
    """The bases, with ``__mro_entries__`` asked where one is no class."""
    found: list[Any] = []
    is_changed = False
    for base in bases:
        entries = None if is_class(base) else getattr(base, "__mro_entries__", None)
        if entries is None:
            found.append(base)
        else:
            given = entries(bases)
            if not issubclass(type(given), tuple):
                raise TypeError("__mro_entries__ must return a tuple")
            found.extend(given)
            is_changed = True
    return tuple(found) if is_changed else bases


def metaclass_of(given: Any, bases: tuple[Any, ...]) -> Any:
    """The metaclass that a class statement uses."""
    if given is UNBOUND:
        given = type(bases[0]) if bases else type
    return winner(given, bases) if is_class(given) else given


def winner(meta: Any, bases: tuple[Any, ...]) -> Any:
    """The most derived of `meta` and the metaclasses of the bases."""
    for base in bases:
        kind = type(base)
        if kind in meta.__mro__:
            continue
        if meta not in kind.__mro__:
            raise TypeError(
                "metaclass conflict: the metaclass of a derived class must be a (non-strict) subclass of the"
                " metaclasses of all its bases"
            )
        meta = kind
    return meta


def how_to_prepare(meta: Any) -> int:
    """How the namespace of a class of `meta` is made: 0, it is a dict; 1, ``__prepare__`` makes it."""
    if is_class(meta):
        return 0 if lookup(meta, "__prepare__") is type.__dict__["__prepare__"] else 1
    return 1 if hasattr(meta, "__prepare__") else 0


def check_cell(cell: Any, cls: Any) -> None:
    """What CPython checks of ``__class__`` when the class is there."""
    if type(cell) is not types.CellType or not is_class(cls):
        return
    try:
        found = cell.cell_contents
    except ValueError:
        raise RuntimeError(
            f"__class__ not set defining {cls.__name__!r} as {cls!r}. Was __classcell__ propagated to"
            " type.__new__?"
        ) from None
    if found is not cls:
        raise TypeError(f"__class__ set to {found!r} defining {cls.__name__!r} as {cls!r}")


def new_class(meta: Any, name: Any, bases: Any, namespace: Any, /, **keywords: Any) -> Any:
    """``type.__new__(meta, name, bases, namespace, **keywords)``."""
    cls, names, has_hook = make_type(meta, name, bases, namespace, keywords)
    for key in names:
        tell_name(dict.__getitem__(namespace, key), cls, key)
    if has_hook:
        super(cls, cls).__init_subclass__(**keywords)
    return cls


def tell_name(value: Any, cls: Any, key: str) -> None:
    """Call the ``__set_name__`` of an attribute; an error says which."""
    try:
        type(value).__set_name__(value, cls, key)
    except BaseException as error:
        text = f"Error calling __set_name__ on '{type(value).__name__}' instance {key!r} in {cls.__name__!r}"
        if _ADDS_NOTES:
            error.add_note(text)
            raise
        raise RuntimeError(text) from error


_ADDS_NOTES = sys.version_info >= (3, 12)


# -- names in the body -------------------------------------------------------------------------------------


global_name = _Syntax("global_name")
"""``global_name(globals, name)``: the global or builtin."""


def name_in(namespace: Any, name: str, globals: Any) -> Any:
    """What `name` means in the body of a class."""
    try:
        return namespace[name]
    except KeyError:
        pass
    return global_name(globals, name)


def cell_in(namespace: Any, cell: Any, name: str, free: bool) -> Any:
    """What `name`, a variable of the function around it, means in the body of a class."""
    try:
        return namespace[name]
    except KeyError:
        pass
    return intrinsics._cell_get_(cell, name, free)


def delete_name(namespace: Any, name: str) -> None:
    """``del name`` in the body of a class."""
    try:
        del namespace[name]
    except KeyError:
        pass
    else:
        return
    raise NameError(f"name '{name}' is not defined", name=name)


def setup_annotations(namespace: Any) -> None:
    """What the body of a class with annotations begins with, before 3.14."""
    try:
        namespace["__annotations__"]
    except KeyError:
        namespace["__annotations__"] = {}


def _is_looked_up_in_c(namespace: Any) -> bool:
    """Whether C code, and no method in Python, finds what `namespace` has under a name."""
    cls = type(namespace)
    if not issubclass(type(namespace), dict) or hasattr(cls, "__missing__"):
        return False
    return not is_python_function(lookup(cls, "__getitem__"))


def _load_name(call: Call, table: RuleTable) -> Step:
    namespace, name, globals = call.args
    if not _is_looked_up_in_c(namespace):
        return Delegate(call.of(name_in))
    if name in namespace:
        return Delegate(call.on(operator.getitem, 0, 1))
    return Found(call, intrinsics.global_or_builtin(globals, name))


def _global_name(call: Call, table: RuleTable) -> Step:
    return Found(call, intrinsics.global_or_builtin(*call.args))


def _class_cell(call: Call, table: RuleTable) -> Step:
    if not _is_looked_up_in_c(call.args[0]):
        return Delegate(call.of(cell_in))
    if call.args[2] in call.args[0]:
        return Delegate(call.on(operator.getitem, 0, 2))
    return Delegate(call.on(intrinsics._cell_get_, 1, 2, 3))


def _build(call: Call, table: RuleTable) -> Step:
    return Delegate(call.of(build_class))


def _run_body(call: Call, table: RuleTable) -> Step:
    return RunBody(call)


def _make_type(call: Call, table: RuleTable) -> Step:
    return MakeType(call)


def _delete_name(call: Call, table: RuleTable) -> Step:
    return Delegate(call.of(delete_name))


def _setup_annotations(call: Call, table: RuleTable) -> Step:
    return Delegate(call.of(setup_annotations))


def _new(call: Call, table: RuleTable) -> Step | None:
    """``type.__new__(meta, name, bases, namespace)``, by the most derived metaclass."""
    if call.count != 4:
        return None
    meta, bases = call.args[0], call.args[2]
    if issubclass(type(bases), tuple):
        best = winner(meta, bases)
        new = lookup(best, "__new__")
        if best is not meta and new is not type.__dict__["__new__"]:
            new = getattr(new, "__func__", new)
            return Delegate(
                Call(new, None, (best, *call.args[1:]), call.shadows, call.origins, call.keywords, None)
            )
        call.args = (best, *call.args[1:])
    return Delegate(call.of(new_class))


def _hold(call: Call, table: RuleTable) -> Step | None:
    """The step that makes a `property` or the like of a function that closes over something with a
    derivative."""
    return Hold(call) if any(map(is_active, call.shadows)) else None


PROTOCOLS: Protocols = {
    builtins.__build_class__: _build,
    run_body: _run_body,
    global_name: _global_name,
    intrinsics._load_name_: _load_name,
    intrinsics._delete_name_: _delete_name,
    intrinsics._setup_annotations_: _setup_annotations,
    intrinsics._class_cell_: _class_cell,
    make_type: _make_type,
    type.__new__: _new,
    property: _hold,
    staticmethod: _hold,
    classmethod: _hold,
    property.getter: _hold,
    property.setter: _hold,
    property.deleter: _hold,
}
"""What class statements, and what their bodies do with names, lead to."""

ROWS: list[Rule] = [
    ZeroRule(is_class),
    ZeroRule(metaclass_of),
    ZeroRule(how_to_prepare),
    ZeroRule(check_cell),
    ZeroRule(type.__init__),
]
"""The rules of what is only asked of classes while one is made."""
