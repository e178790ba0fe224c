"""The reverses of statements.

Each statement of the primal leaves an `Adjoint` behind when its forwards pass is written.  An adjoint says
which values of the forwards pass it needs (these are what gets saved) and writes its reverse:
take the cotangent of the result, give contributions to the arguments.

The mathematics is that of the adjoint of ``x -> (x, g(a(x)))`` (g the call, a the selection of its
arguments): the cotangent of the result is consumed, those of the arguments are incremented.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Iterable, Sequence

from adbc.derive.mirror import ReadSlot
from adbc.ir import intrinsics
from adbc.ir.graph import Graph
from adbc.ir.values import Const, Value
from adbc.passes.derived.partials import are_sums_and_products, needed, taken_apart
from adbc.records import record
from adbc.reverse.pullback import Cotangent, PullbackWriter
from adbc.rules.complex_parts import conjugate, real_part
from adbc.types.array_calls import is_complex
from adbc.types.derived import cotangent_type
from adbc.types.inference import type_of
from adbc.types.lattice import (
    ANY,
    COMPLEX,
    FLOAT,
    NEVER,
    TANGENT,
    AbstractType,
    ComplexType,
    RealType,
    TupleType,
    class_of,
    has_cotangent,
    is_real,
    tangent_of,
)
from adbc.types.number_calls import class_for_divisor

__all__ = [
    "Adjoint",
    "CallAdjoint",
    "ComplexAdjoint",
    "CopyAdjoint",
    "DerivedAdjoint",
    "LoadAdjoint",
    "MoveAdjoint",
    "OverwriteAdjoint",
    "OwnAdjoint",
    "PartAdjoint",
    "ProjectAdjoint",
    "RecordAdjoint",
    "ReplaceAdjoint",
    "ScalarAdjoint",
    "SlotAdjoint",
    "SlotStoreAdjoint",
    "StoreAdjoint",
    "TupleAdjoint",
    "UndoAdjoint",
    "fields_read",
    "slot_adjoint",
    "wants",
]


class Adjoint:
    """The reverse of one statement."""

    needs: Sequence[Value] = ()
    position: object = None

    def reverse(self, writer: PullbackWriter) -> None:
        raise NotImplementedError


@record
class ScalarAdjoint(Adjoint):
    """A call of a scalar rule on real numbers: ``bx += partial * bout``, written inline.

    `partials` has, per argument, the graph of the partial derivative in terms of (out, *arguments),
    or None if the argument is inactive.  `values` are (out, *arguments) in the forwards pass.  Of a quotient,
    where all partial derivatives have the same divisor, the cotangent is divided once.
    """

    result: Value
    arguments: Sequence[Value]
    partials: Sequence[Graph | None]
    values: Sequence[Value]
    name: str = ""
    is_quotient: bool = False

    def __post_init__(self) -> None:
        needs: dict[Value, None] = {}
        for partial in self.partials:
            if partial is not None:
                for value in used_arguments(partial):
                    needs[self.values[value]] = None
        self.needs = [v for v in needs if not isinstance(v, Const)]

    def reverse(self, writer: PullbackWriter) -> None:
        cotangent = writer.take(self.result).get(())
        if cotangent is None:
            return
        quotients: dict[Value, Value] = {}
        for argument, partial in zip(self.arguments, self.partials, strict=True):
            if partial is not None:
                product = self._product(writer, partial, cotangent, argument, quotients)
                if writer.support.watch is not None:
                    product = writer.builder.call(writer.support.watch, product, self.name, type=product.type)
                writer.give(argument, {(): product})

    def _product(
        self,
        writer: PullbackWriter,
        partial: Graph,
        cotangent: Value,
        argument: Value,
        quotients: dict[Value, Value],
    ) -> Value:
        """The product ``partial * cotangent``; `quotients` has, by divisor, the cotangent that has been
        divided by it."""
        (result,) = partial.entry.terminator.values
        is_negative, factor, divisor = taken_apart(result, self.is_quotient)
        product, known = cotangent, tangent_of(type_of(self.result))
        call = functools.partial(writer.builder.call, type=known)
        if divisor is not None:
            below = inline(writer, partial, self.values, divisor, known)
            if below not in quotients:
                cls = class_for_divisor(self.result, below)
                by = below if cls is None else call(cls, below)
                quotients[below] = call(operator.truediv, cotangent, by)
            product = quotients[below]
        if factor is not None:
            as_floats = known is not None and divisor is None
            product = call(
                operator.mul, inline(writer, partial, self.values, factor, known, as_floats), product
            )
        return call(operator.neg, product) if is_negative else product


@record
class ComplexAdjoint(ScalarAdjoint):
    """A call of a scalar rule on numbers of which some are complex: ``bx += conj(partial) * bout``, or the
    real part of that where `x` is real."""

    def _product(
        self,
        writer: PullbackWriter,
        partial: Graph,
        cotangent: Value,
        argument: Value,
        quotients: dict[Value, Value],
    ) -> Value:
        (result,) = partial.entry.terminator.values
        is_negative, factor, _ = taken_apart(result, False)
        call = functools.partial(writer.builder.call, type=TANGENT)
        product = cotangent
        if factor is not None:
            quotient = self.result if self.is_quotient else None
            slope = inline(writer, partial, self.values, factor, TANGENT, quotient=quotient)
            product = call(operator.mul, call(conjugate, slope), product)
        known, result_type = type_of(argument), type_of(self.result)
        if not is_complex(known) and is_complex(result_type):
            product = call(real_part, product)
        of_python = complex if known == COMPLEX else float if is_real(known) else None
        if isinstance(known, ComplexType):
            of_python = complex
        if of_python is not None and any(map(_may_be_of_numpy, (result_type, *map(type_of, self.arguments)))):
            product = call(of_python, product)
        return call(operator.neg, product) if is_negative else product


def _may_be_of_numpy(type: AbstractType) -> bool:
    """Whether a number of this type may be one of NumPy's, and so a product with it."""
    classes = type.members if isinstance(type, ComplexType | RealType) else {class_of(type)}
    return any(cls is not None and cls.__module__ == "numpy" for cls in classes)


def used_arguments(graph: Graph) -> list[int]:
    """The indices of the arguments of `graph` that one of its instructions or terminators uses."""
    used: set[Value] = set()
    for block in graph.blocks:
        used.update(block.terminator.values)
        for instruction in block.instructions:
            used.update(instruction.operands)
    return [a.index for a in graph.arguments if a in used]


def inline(
    writer: PullbackWriter,
    graph: Graph,
    values: Sequence[Value],
    result: Value,
    known: AbstractType | None = None,
    as_floats: bool = False,
    quotient: Value | None = None,
) -> Value:
    """Write into the pullback what `result`, a value of the one block of `graph`, is computed by; return
    what stands for `result` there.

    known: the type of all that is computed; as_floats: NumPy's numbers may be taken for Python's floats;
    quotient: what the last of `values` is the divisor of, if it is.
    """
    wanted = needed([result])
    read = {result, *(v for instruction in wanted for v in instruction.operands)}
    get = writer.as_float if as_floats and are_sums_and_products(wanted) else writer.get
    mapping: dict[Value, Value] = {a: get(values[a.index]) for a in graph.arguments if a in read}
    last = graph.arguments[-1]
    cls = None if quotient is None or last not in mapping else class_for_divisor(quotient, values[last.index])
    if cls is not None:
        mapping[last] = writer.builder.call(cls, mapping[last], type=known)
    for instruction in graph.entry.instructions:
        if instruction in wanted:
            mapping[instruction] = writer.builder.emit(
                instruction.op,
                *(mapping.get(v, v) for v in instruction.operands),
                keywords=instruction.keywords,
                attribute=instruction.attribute,
                type=known,
            )
    return mapping.get(result, result)


@record
class PartAdjoint(Adjoint):
    """``y = a[index]``, a view of an array that is treated like a number: ``ba[index] += by``."""

    result: Value
    array: Value
    index: Value
    shape: Value
    code: str

    def __post_init__(self) -> None:
        self.needs = [v for v in (self.index, self.shape) if not isinstance(v, Const)]

    def reverse(self, writer: PullbackWriter) -> None:
        cotangent = writer.take(self.result).get(())
        if cotangent is None or not wants(writer, self.array):
            return
        call, support = writer.builder.call, writer.support
        cotangent, is_negative = writer.signed(cotangent)
        index, shape = writer.get(self.index), writer.get(self.shape)
        present = writer.take(self.array).get(())
        if present is not None and present in writer.owned:
            add = support.take_from_part if is_negative else support.add_to_part
            whole = call(add, present, index, cotangent, shape, self.code)
        else:
            fill = support.as_negative_part if is_negative else support.as_part
            whole = call(fill, index, cotangent, shape, self.code)
        writer.owned.add(whole)
        writer.never_none.add(whole)
        if present is not None and present not in writer.owned:
            writer.give(self.array, {(): present})
        writer.give(self.array, {(): whole})


@record
class MoveAdjoint(Adjoint):
    """``y = a.reshape(...)``, or ``y = a.T`` where `shape` is None, of an array that is treated like a
    number."""

    result: Value
    array: Value
    shape: Value | None

    def __post_init__(self) -> None:
        self.needs = [] if self.shape is None or isinstance(self.shape, Const) else [self.shape]

    def reverse(self, writer: PullbackWriter) -> None:
        cotangent = writer.take(self.result).get(())
        if cotangent is None or not wants(writer, self.array):
            return
        call, support = writer.builder.call, writer.support
        if self.shape is None:
            moved = call(support.transposed, cotangent)
        else:
            moved = call(support.reshaped, cotangent, writer.get(self.shape))
        if writer.is_never_none(cotangent, type_of(self.result)):
            writer.never_none.add(moved)
        writer.give(self.array, {(): writer.moved(cotangent, moved)})


@record
class OwnAdjoint(Adjoint):
    """``y = x``, where `x` is treated like a number and `y` has a shadow: ``bx += fy``.  If there is an
    `old`, it is what the pullback writes back into the memory `array`."""

    argument: Value
    shadow: Value
    array: Value
    old: Value | None

    def __post_init__(self) -> None:
        self.needs = [self.shadow]
        if self.old is not None:
            self.needs += [self.array, self.old]

    def reverse(self, writer: PullbackWriter) -> None:
        if self.old is not None:
            writer.builder.call(operator.setitem, writer.get(self.array), ..., writer.get(self.old))
        shadow = writer.get(self.shadow)
        writer.owned.add(shadow)  # this comes last of all that has to do with `y`
        writer.never_none.add(shadow)
        writer.give(self.argument, {(): shadow})


@record
class TupleAdjoint(Adjoint):
    """``t = (a, b)``: the cotangent of each element of the tuple goes to the value in its place."""

    result: Value
    elements: Sequence[Value]

    def reverse(self, writer: PullbackWriter) -> None:
        cotangent = writer.take(self.result)
        source = type_of(self.result)
        if source is NEVER:
            return  # an element never comes about
        assert isinstance(source, TupleType)
        for i, element in enumerate(self.elements):
            part = {path[1:]: leaf for path, leaf in cotangent.items() if path[0] == i}
            writer.give(element, part, source.elements[i])


@record
class ProjectAdjoint(Adjoint):
    """``a = t[index]`` of a tuple of known structure."""

    result: Value
    container: Value
    index: int

    def reverse(self, writer: PullbackWriter) -> None:
        container = type_of(self.container)
        if container is NEVER:
            return
        assert isinstance(container, TupleType)
        index = self.index % len(container.elements)
        part = writer.convert(writer.take(self.result), type_of(self.result), container.elements[index])
        writer.give(self.container, {(index, *path): leaf for path, leaf in part.items()})


@record
class CopyAdjoint(Adjoint):
    """``y = x``, where the two are one value: ``bx += by``."""

    result: Value
    source: Value

    def reverse(self, writer: PullbackWriter) -> None:
        writer.give(self.source, writer.take(self.result), type_of(self.result))


@record
class LoadAdjoint(Adjoint):
    """``y = u[i]`` of a number: ``fu[i] += by``."""

    result: Value
    shadow: Value
    index: Value

    def __post_init__(self) -> None:
        self.needs = [v for v in (self.shadow, self.index) if not isinstance(v, Const)]

    def reverse(self, writer: PullbackWriter) -> None:
        cotangent = writer.take(self.result).get(())
        if cotangent is not None:
            shadow, index = writer.get(self.shadow), writer.get(self.index)
            writer.builder.call(writer.support.add_to_slot, shadow, index, cotangent)


@record
class StoreAdjoint(Adjoint):
    """``u[i] = v`` of a number: ``bv = fu[i]; fu[i] = 0; u[i] = old``."""

    value: Value
    container: Value
    shadow: Value
    index: Value
    old: Value

    def __post_init__(self) -> None:
        self.needs = [
            v for v in (self.container, self.shadow, self.index, self.old) if not isinstance(v, Const)
        ]

    def reverse(self, writer: PullbackWriter) -> None:
        container, shadow, index = writer.get(self.container), writer.get(self.shadow), writer.get(self.index)
        bv = writer.builder.call(writer.support.restore_slot, container, shadow, index, writer.get(self.old))
        if wants(writer, self.value):
            writer.give(self.value, {(): bv})


@record
class SlotAdjoint(Adjoint):
    """``y = l[i]`` or ``y = obj.x``: the cotangent is added to the slot of the shadow.

    With `sink`, a shadow that is never None, and a plain float for a cotangent, the addition is written
    inline.
    """

    result: Value
    shadow: Value
    key: Value
    is_field: bool
    sink: Value | None = None
    may_lack: bool = False
    """Whether there may be no such field, but a constant of the class."""

    def __post_init__(self) -> None:
        self.needs = [v for v in (self.sink or self.shadow, self.key) if not isinstance(v, Const)]

    def reverse(self, writer: PullbackWriter) -> None:
        taken = writer.take(self.result)
        if not taken:
            return
        cotangent = taken[()] if () in taken else writer.pack(taken, type_of(self.result))
        call, key = writer.builder.call, writer.get(self.key)
        if self.sink is None:
            support = writer.support
            of_fields = support.add_to_kept if self.may_lack else support.add_to_field
            call(
                of_fields if self.is_field else support.add_to_item,
                writer.get(self.shadow),
                key,
                cotangent,
            )
            return
        sink = writer.get(self.sink)
        present = call(intrinsics._getattr_ if self.is_field else operator.getitem, sink, key)
        total = call(operator.add, present, cotangent)
        call(intrinsics._setattr_ if self.is_field else operator.setitem, sink, key, total)


@record
class RecordAdjoint(Adjoint):
    """``y = record.name``, of a value with named parts: the cotangent of `record` grows by one that has that
    of `y` as a field."""

    result: Value
    record: Value
    name: str

    def reverse(self, writer: PullbackWriter) -> None:
        taken = writer.take(self.result)
        if taken and wants(writer, self.record):
            writer.give_field(self.record, self.name, writer.pack(taken, type_of(self.result)))


def slot_adjoint(value: Value, slot: ReadSlot, may_lack: bool = False) -> Adjoint:
    """The adjoint of `value` having been read from `slot`."""
    if slot.record is not None:
        assert isinstance(slot.key, Const)
        return RecordAdjoint(value, slot.record, slot.key.value)  # type: ignore[arg-type]  # a str
    return SlotAdjoint(value, slot.companion, slot.key, slot.is_field, may_lack=may_lack)


def fields_read(adjoints: Iterable[Adjoint]) -> dict[Value, dict[str, AbstractType]]:
    """By record that fields are read of, their names and the types of their cotangents."""
    found: dict[Value, dict[str, AbstractType]] = {}
    for adjoint in adjoints:
        if isinstance(adjoint, RecordAdjoint):
            known = type_of(adjoint.result)
            fields = found.setdefault(adjoint.record, {})
            is_float = known == FLOAT and fields.get(adjoint.name, FLOAT) == FLOAT
            fields[adjoint.name] = FLOAT if is_float else ANY
    return found


@record
class SlotStoreAdjoint(StoreAdjoint):
    """``l[i] = v`` or ``obj.x = v``, undone by a function of the runtime, which is given `old`: what the
    store has saved."""

    is_field: bool = False

    def reverse(self, writer: PullbackWriter) -> None:
        container, shadow, index = writer.get(self.container), writer.get(self.shadow), writer.get(self.index)
        restore = writer.support.restore_field if self.is_field else writer.support.restore_item
        bv = writer.builder.call(restore, container, shadow, index, writer.get(self.old))
        if wants(writer, self.value):
            writer.give(self.value, {(): bv})


@record
class InitAdjoint(Adjoint):
    """``obj.x = v`` of a new object, which nobody has any more when the pullback comes here: ``bv`` is what
    has been added up in the shadow."""

    value: Value
    shadow: Value
    name: Value

    def __post_init__(self) -> None:
        self.needs = [v for v in (self.shadow,) if not isinstance(v, Const)]

    def reverse(self, writer: PullbackWriter) -> None:
        if not wants(writer, self.value):
            return
        call, shadow = writer.builder.call, writer.get(self.shadow)
        if type_of(self.value) == FLOAT:
            bv = call(intrinsics._getattr_, shadow, self.name)
            call(intrinsics._setattr_, shadow, self.name, 0.0)
            writer.give(self.value, {(): bv})
        else:
            bv = call(writer.support.take_slot, shadow, self.name)
            writer.give(self.value, writer.split(bv, type_of(self.value), exact=False))


@record
class PutAdjoint(StoreAdjoint):
    """``obj.x = v`` of anything but a float, undone by a function of the runtime, which is given `old`: what
    was there, in the object and in its shadow."""

    def reverse(self, writer: PullbackWriter) -> None:
        container, shadow, name = writer.get(self.container), writer.get(self.shadow), writer.get(self.index)
        bv = writer.builder.call(writer.support.take_field, container, shadow, name, writer.get(self.old))
        if wants(writer, self.value):
            writer.give(self.value, writer.split(bv, type_of(self.value), exact=False))


@record
class AppendAdjoint(Adjoint):
    """``l.append(v)`` of a number, or a tuple of such: ``bv = fl.pop()``, and `l` loses its last element.
    What is memory has its cotangent in its own shadow, and what has no derivative none at all (`is_memory`).
    """

    value: Value
    container: Value
    shadow: Value
    is_memory: bool = False

    def __post_init__(self) -> None:
        self.needs = [self.container, self.shadow]

    def reverse(self, writer: PullbackWriter) -> None:
        container, shadow = writer.get(self.container), writer.get(self.shadow)
        if isinstance(type_of(self.value), TupleType):
            bv = writer.builder.call(writer.support.undo_flat, container, shadow)
            if wants(writer, self.value):
                writer.give(self.value, writer.split(bv, type_of(self.value), exact=False))
            return
        bv = writer.builder.call(writer.support.undo_append, container, shadow)
        if not self.is_memory and wants(writer, self.value):
            writer.give(self.value, {(): bv})


@record
class OverwriteAdjoint(StoreAdjoint):
    """``l[i] = v`` or ``obj.x = v`` over a float, undone inline.

    The slot of `shadow`, which is never None, has a number.
    """

    is_field: bool = False

    def reverse(self, writer: PullbackWriter) -> None:
        call, key, shadow = writer.builder.call, writer.get(self.index), writer.get(self.shadow)
        overwrite = intrinsics._overwrite_field_ if self.is_field else intrinsics._overwrite_item_
        call(overwrite, writer.get(self.container), key, writer.get(self.old), None)
        bv = call(intrinsics._getattr_ if self.is_field else operator.getitem, shadow, key)
        call(intrinsics._setattr_ if self.is_field else operator.setitem, shadow, key, 0.0)
        if wants(writer, self.value):
            writer.give(self.value, {(): bv})


@record
class ReplaceAdjoint(Adjoint):
    """``l[i] = v`` or ``obj.x = v`` over `old`, where neither has a derivative: `old` is put back."""

    container: Value
    index: Value
    old: Value
    is_field: bool

    def __post_init__(self) -> None:
        self.needs = [v for v in (self.container, self.index, self.old) if not isinstance(v, Const)]

    def reverse(self, writer: PullbackWriter) -> None:
        overwrite = intrinsics._overwrite_field_ if self.is_field else intrinsics._overwrite_item_
        container, key = writer.get(self.container), writer.get(self.index)
        writer.builder.call(overwrite, container, key, writer.get(self.old), None)


@record
class UndoAdjoint(Adjoint):
    """A statement without a result, the effect of which is taken back by `undo`, a function saved by the
    forwards pass."""

    undo: Value

    def __post_init__(self) -> None:
        self.needs = [self.undo]

    def reverse(self, writer: PullbackWriter) -> None:
        writer.builder.call(writer.get(self.undo), None)


@record
class CallAdjoint(Adjoint):
    """A call that returned its own pullback: ``(b0, b1, ...) = pullback(bout)``.

    `targets` are the values that the results belong to, in order, None for those to drop.
    """

    result: Value
    pullback: Value
    targets: Sequence[Value | None]

    def __post_init__(self) -> None:
        self.needs = [self.pullback]

    def reverse(self, writer: PullbackWriter) -> None:
        type = type_of(self.result)
        bout = writer.pack(writer.take(self.result), type)
        returned = self.pulled_back(writer, bout)
        if not any(t is not None and wants(writer, t) for t in self.targets):
            return
        for target, rdata in zip(self.targets, writer.unpack(returned, len(self.targets)), strict=True):
            if target is not None and wants(writer, target):
                writer.give(target, writer.split(rdata, type_of(target), exact=False))

    def pulled_back(self, writer: PullbackWriter, bout: Value) -> Value:
        """What the pullback returns for the cotangent `bout` of the result."""
        return writer.builder.call(writer.get(self.pullback), bout)


def wants(writer: PullbackWriter, value: Value) -> bool:
    """Whether the pullback adds up a cotangent of `value`."""
    return value in writer.active and has_cotangent(type_of(value))


@record
class DerivedAdjoint(Adjoint):
    """A call of a known Python function through its derived rule.

    `targets` has, per cotangent that the pullback returns, the argument it belongs to (None for a
    default) and the parameter's type.
    """

    result: Value
    result_type: AbstractType
    pullback: object
    saved: Value
    targets: Sequence[tuple[Value | None, AbstractType]]

    def __post_init__(self) -> None:
        self.needs = [self.saved]

    def reverse(self, writer: PullbackWriter) -> None:
        arguments = [writer.get(self.saved)]
        if has_cotangent(self.result_type):
            cotangent: Cotangent = writer.take(self.result)
            cotangent = writer.convert(cotangent, type_of(self.result), self.result_type)
            arguments.append(writer.pack(cotangent, self.result_type))
        given = TupleType(tuple(cotangent_type(type) for _, type in self.targets))
        returned = writer.builder.call(self.pullback, *arguments, type=given)
        wanted = [t is not None and wants(writer, t) for t, _ in self.targets]
        if not any(wanted):
            return
        for (target, type), rdata in zip(
            self.targets, writer.unpack(returned, len(self.targets)), strict=True
        ):
            if target is not None and wants(writer, target):
                writer.owned.add(rdata)  # as each derived pullback sees to
                writer.give(target, writer.split(rdata, type, exact=True), type)
