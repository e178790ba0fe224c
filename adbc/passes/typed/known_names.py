"""Classes of instances, their names, what is made of constant texts, and attributes that are named by these.

before::

    %1 = call _foreigncall_(type, %self)                     # %self: Circle
    %2 = call _getattr_(%1, '__name__')
    %3 = call operator.add('visit_', %2)
    %4 = call _foreigncall_(getattr, %visitor, %3)
    %5 = call _foreigncall_(getattr, %self, 'unit', 1.0)

after::

    %4 = call _getattr_(%visitor, 'visit_Circle')
    %5 = call own_or_default(%self, 1.0)                     # `unit` may be a field

An attribute that the class has for all its instances is read like any other, and where the class leaves no
place for it, the default is the answer.  What is known now is still there where it was computed: the rest of
the function behind a guess may be given it.  Needs types.  What is assumed about classes is for
`NameKnowledge` to note.
"""

from __future__ import annotations

import operator
from typing import Any, Protocol

from adbc.flags import HEAP_TYPE
from adbc.ir.graph import Graph
from adbc.ir.intrinsics import _assume_, _check_, _foreigncall_, _format_, _getattr_, _join_
from adbc.ir.values import Const, Instruction, Value
from adbc.passes.normal.named_attributes import name_attribute
from adbc.passes.query import NOTHING, constant, target, use_counts
from adbc.types.attributes import own_or_default
from adbc.types.inference import type_of
from adbc.types.lattice import ConstType, Exact
from adbc.types.places import Places, named_place

__all__ = ["NameKnowledge", "known_names"]

_LONGEST = 200
"""Texts that are longer are no names."""


class NameKnowledge(Places, Protocol):
    """What `known_names` asks of the rest of the system."""

    def class_told(self, cls: type) -> type:
        """What ``type(x)`` is for an `x` of exactly `cls`: or the class that it stands for."""

    def is_lasting(self, cls: type) -> bool:
        """Whether `cls` was not made in a call, so that it may stand in code."""

    def setting(self, cls: type, name: str) -> Any | None:
        """The number or text that ``cls.name`` is, if `cls` is a class of a library."""

    def name_of_class(self, cls: type) -> str | None:
        """What ``cls.__name__`` is, if that is known."""


def known_names(graph: Graph, knowledge: NameKnowledge) -> bool:
    """Put in what is known, in place; returns whether anything changed."""
    changed = False
    used: dict[Value, int] | None = None
    for call in graph.instructions():
        if name_attribute(call) or _name_with_default(call, knowledge):
            changed = True
            continue
        known = _known(call, knowledge)
        if known is NOTHING:
            continue
        used = use_counts(graph) if used is None else used
        if used.get(call):
            graph.replace_uses({call: Const(known)})
            if target(call) is not _assume_:
                call.operands = [Const(_check_), Const(known), Const("")]  # as quick as it gets
            used = None
            changed = True
    return changed


def _known(call: Instruction, knowledge: NameKnowledge) -> Any:
    """What `call` gives, if it is a class or a text that is known; else `NOTHING`."""
    if call.op != "call" or call.keywords:
        return NOTHING
    function, given = target(call), call.operands[1:]
    if function is NOTHING:
        return _text_of_method(call.operands[0], given)
    if function is _foreigncall_:
        return _class_of(given[1], knowledge) if len(given) == 2 and constant(given[0]) is type else NOTHING
    if function is _getattr_:
        if constant(given[1]) == "__name__":
            return _name_of(given[0], knowledge)
        return _setting_of(given[0], constant(given[1]), knowledge)
    if function is _assume_:
        known = constant(given[0])
        return known if type(known) is str or isinstance(known, type) else NOTHING
    texts = [constant(value) for value in given]
    if function is _format_ and texts[1:] == [-1, ""]:
        return texts[0] if type(texts[0]) is str else NOTHING
    if (function is operator.add and len(texts) == 2) or function is _join_:
        return _short("".join(texts)) if all(type(text) is str for text in texts) else NOTHING
    return NOTHING


def _class_of(value: Value, knowledge: NameKnowledge) -> Any:
    known = type_of(value)
    if not isinstance(known, Exact) or not known.cls.__flags__ & HEAP_TYPE or isinstance(value, Const):
        return NOTHING
    cls = knowledge.class_told(known.cls)
    return cls if knowledge.is_lasting(cls) else NOTHING


def _name_of(value: Value, knowledge: NameKnowledge) -> Any:
    known = type_of(value)
    cls = known.value if isinstance(known, ConstType) else constant(value)
    name = knowledge.name_of_class(cls) if isinstance(cls, type) else None
    return NOTHING if name is None else name


def _setting_of(value: Value, name: Any, knowledge: NameKnowledge) -> Any:
    """What a class of a library has as `name`, if that is a setting: a number or a text."""
    cls = constant(value)
    if not isinstance(cls, type) or type(name) is not str:
        return NOTHING
    found = knowledge.setting(cls, name)
    return NOTHING if found is None else found


def _text_of_method(callee: Value, given: list[Value]) -> Any:
    """What a method of a constant text gives, by itself or with other texts."""
    if target(callee) is not _getattr_:
        return NOTHING
    text, name = (constant(value) for value in callee.operands[1:3])  # type: ignore[attr-defined]  # a call
    arguments = [constant(value) for value in given]
    if type(text) is not str or name not in _METHODS or len(given) != _METHODS[name]:
        return NOTHING
    return _short(getattr(text, name)(*arguments)) if all(type(a) is str for a in arguments) else NOTHING


_METHODS = {
    "lower": 0, "upper": 0, "title": 0, "capitalize": 0, "strip": 0, "lstrip": 0, "rstrip": 0,
    "replace": 2, "removeprefix": 1, "removesuffix": 1,
}  # fmt: skip
"""Methods of texts that give names, with the number of texts that they are given."""


def _short(text: str) -> Any:
    return text if len(text) <= _LONGEST else NOTHING


def _name_with_default(call: Instruction, knowledge: NameKnowledge) -> bool:
    """Read an attribute that may be missing by what is known of the class, in place; whether it is known."""
    if target(call) is not _foreigncall_ or len(call.operands) != 5 or call.keywords:
        return False
    function, obj, name, default = call.operands[1:]
    if constant(function) is not getattr:
        return False
    place = named_place(obj, name)
    if place is None:
        return False
    found = knowledge.has(*place)
    if found is not None:
        call.operands = [Const(_getattr_), obj, name] if found else [Const(_check_), default, name]
        return True
    reading = own_or_default(place[1]) if knowledge.asks_nothing(*place) else None
    if reading is not None:
        call.operands = [Const(reading), obj, default]
    return reading is not None
