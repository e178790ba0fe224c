"""The fields of named tuples that are made here are values, where they are read.

before::

    b:
        %p = call _new_(Point, %x, 0.0)
        jump loop
    loop:
        %q = phi [b: %p, body: %r]
        ...
    body:
        %1 = call _getattr_(%q, 'x')
        %2 = call operator.mul(%1, 0.5)
        %replace = call _getattr_(%q, '_replace')
        %r = call %replace(x=%2)
        jump loop

after::

    loop:
        %x1 = phi [b: %x, body: %2]
        ...
    body:
        %2 = call operator.mul(%x1, 0.5)
        jump loop

Named tuples do not change, so whoever else gets one gets the object that was made; only one that nobody needs
any more is not made.  Needs calls of `_new_`, and classes that are constants under a guard.
"""

from __future__ import annotations

import collections
import operator
from collections.abc import Callable
from typing import Any

from adbc.functions import is_function
from adbc.ir.builder import remove_dead_phis
from adbc.ir.graph import Graph, Guard
from adbc.ir.intrinsics import _getattr_, _new_, _project_, _unpack_
from adbc.ir.traverse import uses
from adbc.ir.values import Const, Instruction, Phi, Value
from adbc.passes.query import constant, drop, target

__all__ = ["named_tuples"]

_Some: Any = collections.namedtuple("_Some", "a")
_REPLACE = _Some._replace.__code__


def named_tuples(graph: Graph, is_plain: Callable[[type], bool]) -> bool:
    """Read the fields of named tuples where these were made, in place; returns whether there were any.

    is_plain: whether a class has no rule of its own.
    """
    return _Fields(graph, is_plain).replace()


class _Fields:
    """The named tuples of one graph, and the values of their fields."""

    def __init__(self, graph: Graph, is_plain: Callable[[type], bool]) -> None:
        self.graph = graph
        self.paths: dict[type, tuple[str, ...]] = {
            g.value: g.path for g in graph.guards if isinstance(g.value, type) and is_plain(g.value)
        }
        self.classes: dict[Value, type] = {}
        self.sources: dict[Instruction, Value] = {}
        """What calls of ``_replace`` replace fields of."""
        self.fields: dict[Value, list[Value]] = {}
        self._find()

    def _find(self) -> None:
        """Find the named tuples: assume that all that may be one is, and take away what is not."""
        phis = [phi for block in self.graph.blocks for phi in block.phis]
        for call in self.graph.instructions():
            if target(call) is _new_ and not call.keywords:
                cls = constant(call.operands[1])
                if self._is_known(cls) and len(call.operands) - 2 == len(cls._fields):
                    self.classes[call] = cls
        waiting: list[Value] = [*phis, *self.graph.instructions()] if self.classes else []
        changed = True
        while changed:
            changed = False
            for value in waiting:
                cls = None if value in self.classes else self._class_of(value)
                if cls is not None:
                    self.classes[value] = cls
                    changed = True
        changed = True
        while changed:
            changed = False
            for value in [v for v in self.classes if isinstance(v, Phi)]:
                if any(self.classes.get(v) is not self.classes[value] for v in value.operands.values()):
                    del self.classes[value]
                    changed = True
            for call, source in list(self.sources.items()):
                if source not in self.classes:
                    del self.sources[call], self.classes[call]
                    changed = True

    def _is_known(self, cls: Any) -> bool:
        """Whether `cls` is what `collections.namedtuple`, or a statement of `typing.NamedTuple`, has made."""
        if not isinstance(cls, type) or type(cls) is not type or cls.__bases__ != (tuple,):
            return False
        make: object = cls.__new__
        return (
            cls in self.paths
            and is_function(make)
            and make.__globals__.get("__name__") == f"namedtuple_{cls.__name__}"
        )

    def _class_of(self, value: Value) -> type | None:
        """The class that `value` may have: of a phi, that of one operand; of a call of ``_replace``, that of
        the object."""
        if isinstance(value, Phi):
            return next((self.classes[v] for v in value.operands.values() if v in self.classes), None)
        if not isinstance(value, Instruction) or value.op != "call":
            return None
        if len(value.operands) != 1 + len(value.keywords):
            return None
        method = value.operands[0]
        if target(method) is not _getattr_ or constant(method.operands[2]) != "_replace":  # type: ignore[attr-defined]
            return None
        source = method.operands[1]  # type: ignore[attr-defined]
        cls = self.classes.get(source)
        function = None if cls is None else vars(cls).get("_replace")
        if cls is None or getattr(function, "__code__", None) is not _REPLACE:
            return None
        if not set(value.keywords) <= set(cls._fields):  # type: ignore[attr-defined]
            return None
        self.sources[value] = source
        return cls

    def replace(self) -> bool:
        for value, cls in self.classes.items():
            if isinstance(value, Phi):
                self.fields[value] = [Phi(value.block, name=name) for name in cls._fields]  # type: ignore[attr-defined]
        for value in self.classes:
            self._fields_of(value)
        for value, parts in self.fields.items():
            if isinstance(value, Phi):
                for k, part in enumerate(parts):
                    assert isinstance(part, Phi)
                    part.position = value.position
                    part.operands = {b: self.fields[v][k] for b, v in value.operands.items()}
                    value.block.phis.append(part)
        replaced = self._reads()
        for cls in dict.fromkeys(self.classes.values()):
            self._note(cls, "__new__")
        for call in self.sources:
            call.operands = [Const(_new_), Const(self.classes[call]), *self.fields[call]]
            call.keywords = ()
        gone = {i for i in replaced if isinstance(i, Instruction)}
        if not gone and not self.sources:
            remove_dead_phis(self.graph)
            return False
        drop(self.graph, gone)
        self.graph.replace_uses(self._final(replaced))
        remove_dead_phis(self.graph)
        self._drop_unused()
        return True

    def _fields_of(self, value: Value) -> list[Value]:
        if value not in self.fields:
            assert isinstance(value, Instruction)
            if value in self.sources:
                names = self.classes[value]._fields  # type: ignore[attr-defined]
                given = dict(zip(value.keywords, value.operands[1:], strict=True))
                own = self._fields_of(self.sources[value])
                self.fields[value] = [given.get(name, part) for name, part in zip(names, own, strict=True)]
            else:
                self.fields[value] = value.operands[2:]
        return self.fields[value]

    def _reads(self) -> dict[Value, Value]:
        """What stands for each value that is read from a named tuple."""
        users = uses(self.graph)
        replaced: dict[Value, Value] = {}
        for value, cls in self.classes.items():
            names: tuple[str, ...] = cls._fields  # type: ignore[attr-defined]
            for user in users.get(value, ()):
                if not isinstance(user, Instruction) or user.operands[1:2] != [value]:
                    continue
                function, key = target(user), constant(user.operands[2]) if len(user.operands) == 3 else None
                if function is _getattr_ and key in names and self._is_field(cls, key):
                    self._note(cls, key)
                    replaced[user] = self.fields[value][names.index(key)]
                elif function is _getattr_ and key == "_replace":
                    if all(u in self.sources for u in users.get(user, ())):
                        self._note(cls, key)
                        replaced[user] = Const(None)
                elif function is operator.getitem and type(key) is int and -len(names) <= key < len(names):
                    if self._is_inherited(cls, "__getitem__"):
                        replaced[user] = self.fields[value][key]
                elif function is _unpack_ and key == len(names) and self._is_inherited(cls, "__iter__"):
                    parts = users.get(user, ())
                    projections = [u for u in parts if isinstance(u, Instruction) and target(u) is _project_]
                    if len(projections) == len(parts):
                        replaced[user] = Const(None)
                        for part in projections:
                            replaced[part] = self.fields[value][constant(part.operands[2])]
        return replaced

    def _is_field(self, cls: type, name: str) -> bool:
        return type(vars(cls).get(name)).__name__ == "_tuplegetter" and self._is_inherited(
            cls, "__getattribute__"
        )

    def _is_inherited(self, cls: type, name: str) -> bool:
        """Whether `name` means for `cls` what it means for tuples; that is noted."""
        if getattr(cls, name) is not getattr(tuple, name):
            return False
        self._note(cls, name)
        return True

    def _note(self, cls: type, name: str) -> None:
        """Note that the attribute `name` of `cls` is taken for what it is."""
        path = (*self.paths[cls], name)
        if not any(g.path == path for g in self.graph.guards):
            self.graph.guards.append(Guard(path, getattr(cls, name)))

    @staticmethod
    def _final(replaced: dict[Value, Value]) -> dict[Value, Value]:
        """`replaced`, with nothing in it that is itself replaced."""
        found = {}
        for value, by in replaced.items():
            while by in replaced:
                by = replaced[by]
            found[value] = by
        return found

    def _drop_unused(self) -> None:
        while True:
            users = uses(self.graph)
            unused = {
                call
                for call in self.classes
                if isinstance(call, Instruction)
                and call.block is not None
                and call in call.block.instructions
                and not users.get(call)
            }
            if not unused:
                return
            drop(self.graph, unused)
            remove_dead_phis(self.graph)
