"""Writing the pullback: cotangents as SSA variables, saved values as SSA variables.

`PullbackWriter` is what the reverses of statements write with.  It knows where the values that the
forwards pass saved are, and keeps one variable per *leaf* of a value's cotangent: a float has one
leaf, a tuple of known structure has those of its elements, a value of unknown type has one leaf
that holds rdata of any kind.  Zero is known at build time wherever possible: the first contribution
to a leaf is an assignment, the second an addition.
"""

from __future__ import annotations

import operator
from collections.abc import Container, Hashable, Mapping, Sequence
from typing import Any

from adbc.ir import intrinsics
from adbc.ir.builder import Builder, Variables
from adbc.ir.graph import Block, Graph
from adbc.ir.values import Const, Instruction, Value
from adbc.reverse.support import Support
from adbc.types.inference import type_of
from adbc.types.lattice import (
    FLOAT,
    TANGENT,
    AbstractType,
    TupleType,
    ValueArrayType,
    has_cotangent,
    is_float64,
    is_number,
    tangent_of,
)

__all__ = ["Cotangent", "PullbackWriter", "leaves"]

Path = tuple[int, ...]
Cotangent = dict[Path, Value]
"""The cotangent of one value: leaves that are known to be zero are absent."""


def leaves(type: AbstractType) -> list[tuple[Path, AbstractType]]:
    """The leaves of the cotangent of a value of `type`, each with its path: the parts that have a variable
    of their own."""
    if isinstance(type, TupleType):
        return [
            ((i, *path), leaf) for i, element in enumerate(type.elements) for path, leaf in leaves(element)
        ]
    return [((), type)] if has_cotangent(type) else []


def zero(type: AbstractType) -> Const:
    return Const(0.0) if is_number(type) else Const(None)


def is_zero(value: Value) -> bool:
    return isinstance(value, Const) and (
        value.value is None or (type(value.value) is float and value.value == 0.0)
    )


class PullbackWriter:
    """Writes a pullback: cotangents and saved values are variables, and what is written goes into the block
    that `builder` stands at."""

    def __init__(self, graph: Graph, support: Support, active: Container[Value]) -> None:
        self.graph = graph
        self.active = active
        self.support = support
        self.builder = Builder(graph, graph.add_block("entry"))
        self.without_numpy = True
        """Whether no value of the primal may be a number of NumPy; if one may, what leaves as the cotangent
        of a float is made a float."""
        self.owned: set[Value] = set()
        """Cotangents of arrays, in new memory (or None), that only one leaf will ever use: others may be
        added to them in place."""
        self.uniform: set[Value] = set()
        """Numbers that stand for cotangents of arrays, all elements being the same."""
        self.negations: dict[Value, Value] = {}
        """By cotangent of an array, the one that it is the negative of: who can subtract that need not
        negate."""
        self.never_none: set[Value] = set()
        """Cotangents of arrays that are not the symbolic zero when the pullback runs."""
        self.fields: dict[Value, dict[str, AbstractType]] = {}
        """By record that fields are read of, their names and the types of their cotangents: each has a
        variable of its own until the cotangent of the record is taken."""
        self.leaf_types: dict[Hashable, AbstractType] = {}
        self.variables = Variables(graph, initial=self._initial)
        self.recomputed: Mapping[Value, Sequence[Value]] = {}
        """Values of the forwards pass that are not saved but rematerialised, each with the operands of the
        call that computed it."""
        self._again: dict[tuple[Value, Block], Value] = {}
        self._floats: dict[tuple[Value, Block], Value] = {}

    def _initial(self, variable: Hashable) -> Value:
        return zero(self.leaf_types[variable]) if variable in self.leaf_types else Const(None)

    @property
    def block(self) -> Block:
        return self.builder.block

    # -- saved values --------------------------------------------------------------------------------

    def define(self, saved: Value, value: Value) -> None:
        """Let `value` stand for `saved`, a value of the forwards pass, from the current block on."""
        self.variables.write(("saved", saved), self.block, value)

    def get(self, value: Value) -> Value:
        """What stands in the current block of the pullback for `value`, a value of the forwards pass."""
        if isinstance(value, Const):
            return value
        if value in self.recomputed:
            return self._compute(value)
        return self.variables.read(("saved", value), self.block)

    def _compute(self, value: Value) -> Value:
        """Compute a value of the forwards pass again, once per block: in the next iteration of a loop it is
        another."""
        key = value, self.block
        if key not in self._again:
            operands = [self.get(operand) for operand in self.recomputed[value]]
            self._again[key] = self.builder.emit("call", *operands, type=value.type)
        return self._again[key]

    def as_float(self, value: Value) -> Value:
        """What stands for a value of the forwards pass, as Python's float if it is a number of NumPy's:
        arithmetic on Python's floats takes a quarter of the time."""
        if isinstance(value, Const) or not is_float64(type_of(value)):
            return self.get(value)
        key = value, self.block
        if key not in self._floats:
            self._floats[key] = self.builder.call(float, self.get(value), type=TANGENT)
        return self._floats[key]

    # -- cotangents ----------------------------------------------------------------------------------

    def take(self, value: Value) -> Cotangent:
        """The cotangent of `value` so far; from the current block on it is zero."""
        result: Cotangent = {}
        for path, type in leaves(type_of(value)):
            variable = self._variable(value, path, type)
            cotangent = self.variables.read(variable, self.block)
            if not is_zero(cotangent):
                result[path] = cotangent
                self.variables.write(variable, self.block, zero(type))
        whole = self._take_fields(value) if value in self.fields else None
        if whole is not None:
            result[()] = self.sum(result[()], whole, type_of(value)) if () in result else whole
        return result

    def forget(self, value: Value) -> None:
        """Let the cotangent of `value` be zero from the current block on, whatever was known of it before."""
        for path, type in leaves(type_of(value)):
            self.variables.write(self._variable(value, path, type), self.block, zero(type))
        for name, type in self.fields.get(value, {}).items():
            self.variables.write(self._field(value, name, type), self.block, zero(type))

    def give(self, value: Value, cotangent: Cotangent, type: AbstractType | None = None) -> None:
        """Add `cotangent`, structured like `type` (default: the type of `value`), to the cotangent of
        `value`."""
        if value not in self.active:
            return
        target = type_of(value)
        if type is not None and type != target:
            cotangent = self.convert(cotangent, type, target)
        for path, leaf in leaves(target):
            if path in cotangent:
                self.add_leaf(value, path, leaf, cotangent[path])

    def add_leaf(self, value: Value, path: Path, type: AbstractType, contribution: Value) -> None:
        if is_zero(contribution) or isinstance(value, Const):
            return
        variable = self._variable(value, path, type)
        present = self.variables.read(variable, self.block)
        self.variables.write(variable, self.block, self.sum(present, contribution, type))

    def give_field(self, record: Value, name: str, contribution: Value) -> None:
        """Add the cotangent of its field `name` to that of `record`, a value with named parts."""
        if not is_zero(contribution):
            type = self.fields[record][name]
            variable = self._field(record, name, type)
            total = self.sum(self.variables.read(variable, self.block), contribution, type)
            self.variables.write(variable, self.block, total)

    def _take_fields(self, record: Value) -> Value | None:
        """The cotangent of `record`, as far as it is that of single fields, which are zero from the current
        block on; None if it is zero."""
        parts: dict[str, Value] = {}
        for name, type in self.fields[record].items():
            variable = self._field(record, name, type)
            cotangent = self.variables.read(variable, self.block)
            if not is_zero(cotangent):
                parts[name] = cotangent
                self.variables.write(variable, self.block, zero(type))
        return self.builder.call(self.support.record_rdata, tuple(parts), *parts.values()) if parts else None

    def _field(self, record: Value, name: str, type: AbstractType) -> Hashable:
        variable = ("cotangent", record, name)
        self.leaf_types[variable] = type
        return variable

    def sum(self, a: Value, b: Value, type: AbstractType) -> Value:
        if is_zero(a):
            return b
        if is_zero(b):
            return a
        if isinstance(type, ValueArrayType):
            return self._sum_of_arrays(a, b, type)
        if is_number(type):
            return self.builder.call(operator.add, a, b, type=tangent_of(type))
        return self.builder.call(self.support.add, a, b)

    def _sum_of_arrays(self, a: Value, b: Value, type: AbstractType) -> Value:
        """Sum two cotangents of one array; their shapes and dtypes agree."""
        if a in self.uniform and b in self.uniform:
            total = self.builder.call(operator.add, a, b)
            self.uniform.add(total)
            return total
        if a in self.negations and b in self.negations:
            return self.negated(self._sum_of_arrays(self.negations[a], self.negations[b], type), type)
        if a in self.negations or b in self.negations:
            return self._difference(a, b, type)
        if b in self.owned and (a not in self.owned or not self.is_never_none(a, type)):
            a, b = b, a
        known = self.is_never_none(a, type), self.is_never_none(b, type)
        if a in self.owned and all(known):
            total = self.builder.call(operator.iadd, a, b)
        elif a in self.owned:
            total = self.builder.call(self.support.add_to_array, a, b)
        else:
            total = self.builder.call(self.support.add, a, b)
        if all(known) or (a in self.owned and (known[0] or b in self.owned)):
            self.owned.add(total)
        if any(known):
            self.never_none.add(total)
        return total

    def _difference(self, a: Value, b: Value, type: AbstractType) -> Value:
        """Sum two cotangents of one array of which just one is a negation."""
        if a in self.negations:
            a, b = b, a
        if not self.is_never_none(a, type):
            total = self.builder.call(self.support.add, a, b)
            if a in self.owned:
                self.owned.add(total)
        else:
            subtract = operator.isub if a in self.owned else operator.sub
            total = self.builder.call(subtract, a, self.negations[b])
            self.owned.add(total)
        self.never_none.add(total)
        return total

    def negated(self, cotangent: Value, type: AbstractType) -> Value:
        """The negative of `cotangent`, of an array and not None; it is computed only if somebody wants it
        as it is."""
        result = self.builder.call(operator.neg, cotangent)
        self.negations[result] = cotangent
        self.owned.add(result)
        self.never_none.add(result)
        return result

    def signed(self, cotangent: Value) -> tuple[Value, bool]:
        """The cotangent that `cotangent` is the negative of, and True; or `cotangent` itself, and False."""
        known = self.negations.get(cotangent)
        return (cotangent, False) if known is None else (known, True)

    def is_never_none(self, cotangent: Value, type: AbstractType) -> bool:
        """Whether a cotangent for `type` is certainly not the symbolic zero when the pullback runs."""
        if is_number(type) or cotangent in self.never_none or cotangent in self.uniform:
            return True
        callee = cotangent.operands[0] if isinstance(cotangent, Instruction) else None
        return isinstance(callee, Const) and callee.value in (
            self.support.fit, self.support.fit_array, self.support.filled, self.support.filled_array,
            operator.neg,
        )  # fmt: skip

    def moved(self, source: Value, result: Value) -> Value:
        """Return `result`, which is `source` or new memory, and note it as owned if `source` is."""
        if source in self.owned:
            self.owned.add(result)
        return result

    def _variable(self, value: Value, path: Path, type: AbstractType) -> Hashable:
        variable = ("cotangent", value, path)
        self.leaf_types[variable] = type
        return variable

    # -- between leaves and whole rdata ----------------------------------------------------------------

    def pack(self, cotangent: Cotangent, type: AbstractType) -> Value:
        """The rdata of a value of `type`, one object made of the leaves of `cotangent`: a float, a tuple,
        or whatever an unknown type has."""
        if isinstance(type, TupleType):
            if not cotangent and not any(is_number(t) for _, t in leaves(type)):
                return Const(None)
            return self.builder.call(
                intrinsics._new_,
                tuple,
                *(
                    self.pack({p[1:]: v for p, v in cotangent.items() if p[0] == i}, element)
                    for i, element in enumerate(type.elements)
                ),
            )
        if not has_cotangent(type):
            return Const(None)
        leaf = cotangent.get((), zero(type))
        if type == FLOAT and not self.without_numpy and not isinstance(leaf, Const):
            return self.builder.call(self.support.float_rdata, leaf)
        return leaf

    def split(self, rdata: Value, type: AbstractType, *, exact: bool) -> Cotangent:
        """The leaves of an rdata object.  `exact` says that it came from code that knew `type`, so
        that numbers are numbers; else any part of it may be None."""
        if isinstance(type, TupleType):
            result: Cotangent = {}
            for i, element in enumerate(type.elements):
                if leaves(element):
                    part = self.builder.call(self.support.item_rdata, rdata, i)
                    for path, leaf in self.split(part, element, exact=exact).items():
                        result[(i, *path)] = leaf
            return result
        if not has_cotangent(type):
            return {}
        if type == FLOAT and not exact:
            return {(): self.builder.call(self.support.float_rdata, rdata)}
        if is_number(type) and not exact:
            return {(): self.builder.call(intrinsics._real_, rdata, self.support.no_tangent)}
        return {(): rdata}

    def convert(self, cotangent: Cotangent, source: AbstractType, target: AbstractType) -> Cotangent:
        """A cotangent with the structure of `source` as one with the structure of `target`."""
        if isinstance(source, TupleType) and isinstance(target, TupleType):
            result: Cotangent = {}
            for i, (s, t) in enumerate(zip(source.elements, target.elements, strict=True)):
                part = {p[1:]: v for p, v in cotangent.items() if p[0] == i}
                result.update({(i, *p): v for p, v in self.convert(part, s, t).items()})
            return result
        if not cotangent:
            return {}
        if isinstance(source, TupleType):
            return {(): self.pack(cotangent, source)}
        if isinstance(target, TupleType):
            return self.split(cotangent[()], target, exact=False)
        if is_number(target) and not is_number(source):
            return self.split(cotangent[()], target, exact=False)
        return cotangent if has_cotangent(target) else {}

    def unpack(self, value: Value, count: int, type: AbstractType | None = None) -> list[Any]:
        """The `count` elements of a tuple, of this type if that does not follow from the type of `value`."""
        unpacked = self.builder.call(intrinsics._unpack_, value, count, type=type)
        return [self.builder.call(intrinsics._project_, unpacked, i) for i in range(count)]
