"""Arrays into which nothing active is ever written: memory whose contents are known from beginning to end.

The type of an array says that it could hold numbers with a derivative, so that what is new (``np.zeros(n)``)
or a view of a constant counts as active: somebody may write an active value there later.  Here are found the
arrays of which it is seen that nobody can: all their names in the graph are known, none of them leaves it,
and what is written under any of them is inactive.  These need no shadow, and what is computed from them
needs no derivative::

    p = np.zeros(n)
    for j in range(1, n):
        p[j] = -c / (a * p[j - 1] + b)      # a, b, c are constants: so is p

The names of one memory are a family: an array that is new, or an inactive argument, its views, and variables
that hold nothing else.  A family is quiet until something active is written into it or goes into making it
(`Families.wake`).  One that leaves the graph is awake from the beginning.

Where the rest of the function behind a wrong guess is called, memory leaves that has been quiet so far.
There it gets a shadow, by a call of `_expose_` that `expose` puts in.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from adbc.ir import intrinsics
from adbc.ir.graph import Block, Graph
from adbc.ir.values import Const, Instruction, Phi, Undef, Value
from adbc.rules.effects import HANDS_ON, KEEPS, RETURNS, WRITES, Use
from adbc.types.effects import EffectKnowledge, uses
from adbc.types.inference import call_parts, is_rest, type_of
from adbc.types.lattice import ArrayType, ValueArrayType, has_shadow

__all__ = ["Families", "expose"]

_DTYPES = ("float64", "float32", "complex128", "complex64")


def _is_memory(value: Value) -> bool:
    """Whether `value` is an array whose memory may have a shadow."""
    known = type_of(value)
    return type(known) is ArrayType and known.dtype in _DTYPES


class Families:
    """The arrays of `graph`, by the memory that they lie in.

    active_arguments: per argument, whether it is active.
    """

    def __init__(self, graph: Graph, active_arguments: Sequence[bool], knowledge: EffectKnowledge) -> None:
        self._parents: dict[Value, Value] = {}
        self._awake: set[Value] = set()
        self._writes: dict[Instruction, list[Value]] = {}
        self.rests: list[tuple[Instruction, list[Instruction | Phi]]] = []
        """The calls of the rest of the function, and the arrays that are handed over there."""
        self._known = {
            argument
            for argument, is_active in zip(graph.arguments, active_arguments, strict=True)
            if not is_active and _is_memory(argument)
        }
        for block in graph.blocks:
            for phi in block.phis:
                self._meet_phi(phi)
            for call in block.instructions:
                self._meet(call, block, knowledge)
            self._wake(filter(_is_memory, block.terminator.values))
        for _, arrays in self.rests:
            roots = [self._root(v) for v in arrays]
            if len(set(roots)) < len(roots):
                self._awake.update(roots)  # each would get a shadow of its own
        for value in list(self._parents):
            if not isinstance(value, Phi | Instruction | Undef) and value not in self._known:
                self._wake([value])
        self._awake = {self._root(v) for v in self._awake}

    # -- what is asked

    def is_quiet(self, value: Value) -> bool:
        """Whether nothing active is in the memory of `value`, as far as is known."""
        return value in self._parents and self._root(value) not in self._awake

    def wake(self, value: Value) -> bool:
        """Let the family of `value` count as active; whether it did not before."""
        root = self._root(value)
        is_new = root not in self._awake
        self._awake.add(root)
        return is_new

    def written(self, call: Instruction) -> Sequence[Value]:
        """The arrays into which `call` writes."""
        return self._writes.get(call, ())

    def is_name(self, call: Instruction) -> bool:
        """Whether `call` changes nothing and gives another name of the memory of one of its arguments."""
        if call not in self._parents or call in self._writes:
            return False
        root = self._root(call)
        return any(v in self._parents and self._root(v) is root for v in call.operands)

    # -- how it is found

    def _root(self, value: Value) -> Value:
        parents = self._parents
        while (parent := parents.setdefault(value, value)) is not value:
            parents[value] = parents[parent]
            value = parent
        return value

    def _join(self, one: Value, other: Value) -> None:
        first, second = self._root(one), self._root(other)
        if first is not second:
            self._parents[first] = second
            if first in self._awake:
                self._awake.add(second)

    def _wake(self, values: Iterable[Value]) -> None:
        self._awake.update(map(self._root, values))

    def _meet_phi(self, phi: Phi) -> None:
        operands = [v for v in phi.operands.values() if not isinstance(v, Undef)]
        if _is_memory(phi) and all(map(_is_memory, operands)):
            for value in operands:
                self._join(phi, value)
        else:
            self._wake(v for v in [phi, *operands] if _is_memory(v))

    def _meet(self, call: Instruction, block: Block, knowledge: EffectKnowledge) -> None:
        if call.op != "call" or block.handler is not None:
            self._wake(v for v in [call, *call.operands] if _is_memory(v))
            return
        _, arguments = call_parts(call)
        arrays = [v for v in arguments if _is_memory(v)]
        if is_rest(call):
            if arrays:
                self.rests.append(
                    (call, [v for v in dict.fromkeys(arrays) if isinstance(v, Instruction | Phi)])
                )
                for array in arrays:
                    self._root(array)
            return
        if not arrays and not _is_memory(call):
            return
        done = uses(call, knowledge)
        if done is None:
            self._wake(v for v in [call, *call.operands] if _is_memory(v))
            return
        for value, use in zip(arguments, done, strict=True):
            self._meet_use(call, value, use)
        if _is_memory(call):
            self._root(call)

    def _meet_use(self, call: Instruction, value: Value, use: Use) -> None:
        gives = bool(use & (RETURNS | HANDS_ON))
        if not _is_memory(value):
            if gives and _is_memory(call) and has_shadow(type_of(value)):
                self._wake([call])  # what was in a list, or is an attribute of an object
            return
        self._root(value)
        if use & KEEPS:
            self._wake([value])
        if use & WRITES:
            self._writes.setdefault(call, []).append(value)
        if gives and _is_memory(call):
            self._join(call, value)
        elif gives and type(type_of(call)) is not ValueArrayType:  # which is nothing but read
            self._wake([value])


def expose(graph: Graph, families: Families) -> bool:
    """Put a call of `_expose_` in front of each call of the rest of `graph`, for each array of `families`
    that is quiet and handed over there; whether there is any."""
    is_any = False
    for call, arrays in families.rests:
        block = call.block
        assert block is not None
        for array in arrays:
            if not families.is_quiet(array):
                continue
            shown = Instruction("call", [Const(intrinsics._expose_), array], type=array.type, name=array.name)
            shown.block, shown.position = block, call.position
            block.instructions.insert(block.instructions.index(call), shown)
            call.operands = [shown if v is array else v for v in call.operands]
            is_any = True
    return is_any
