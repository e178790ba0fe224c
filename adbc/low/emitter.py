"""Writes operations of a low program, and makes of a value what it is needed as.

What cannot be is a `NotNativeError`; what may turn out otherwise while the program runs bails out.
"""

from __future__ import annotations

from typing import Any

from adbc.errors import AdbcError
from adbc.low import kinds
from adbc.low.kinds import (
    Kind,
    Known,
    Links,
    LinksKind,
    Maybe,
    MaybeKind,
    Number,
    NumberKind,
    TapeValue,
    Tuple,
    TupleKind,
    Value,
    Variant,
    VariantKind,
    kind_of,
)
from adbc.low.ops import OPS
from adbc.low.program import (
    BOOL,
    F64,
    I64,
    Arena,
    Attribute,
    Block,
    Op,
    Operand,
    Phi,
    Program,
    Register,
    Site,
    Slot,
    Tape,
    type_of,
)

__all__ = ["Emitter", "Refusal"]


class Refusal(AdbcError):
    """Something has no low form, for this reason."""


EXACT = 2.0**53
"""Up to here, every int is a float."""
LONGEST = 2.0**62
"""Floats below this one are ints of 64 bits when they are rounded."""


class Emitter:
    """Writes into `block` of `program`.  line: where in the user's code."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.block: Block | None = None
        self.line: int | None = None
        self._sites: dict[Site, int] = {}
        self._labels: set[str] = set()

    @property
    def is_open(self) -> bool:
        """Whether there is a block to write into: none is there behind a place where all ends."""
        return self.block is not None

    # -- pieces of the program --------------------------------------------------------------------------

    def new_block(self, label: str) -> Block:
        """A new block, which is not begun yet; its label is made unique."""
        stem, count = label, 0
        while label in self._labels:
            count += 1
            label = f"{stem}.{count}"
        self._labels.add(label)
        block = Block(label)
        self.program.blocks.append(block)
        return block

    def site(self, reason: str) -> int:
        """The number of the site for this reason in the line that is written."""
        site = Site(reason, self.line)
        if site not in self._sites:
            self._sites[site] = len(self.program.sites)
            self.program.sites.append(site)
        return self._sites[site]

    def slot(self, type: str) -> Slot:
        slot = Slot(f"s{len(self.program.slots)}", type)
        self.program.slots.append(slot)
        return slot

    def tape(self) -> Tape:
        tape = Tape(f"t{len(self.program.tapes)}")
        self.program.tapes.append(tape)
        return tape

    def arena(self) -> Arena:
        arena = Arena(f"a{len(self.program.arenas)}")
        self.program.arenas.append(arena)
        return arena

    def phi(self, type: str, name: str = "") -> Phi:
        assert self.block is not None
        phi = Phi(Register(type, name))
        self.block.phis.append(phi)
        return phi

    # -- operations ---------------------------------------------------------------------------------------

    def op(self, name: str, *operands: Operand, reason: str | None = None) -> Register:
        """The result of an operation that has one and is about nothing but its operands."""
        (type,) = OPS[name].gives  # type: ignore[misc]  # there is one
        (result,) = self.about(name, None, operands, (type,), reason=reason)
        return result

    def about(
        self,
        name: str,
        attribute: Attribute,
        operands: Any = (),
        gives: Any = (),
        *,
        format: int | None = None,
        reason: str | None = None,
    ) -> list[Register]:
        """The results of an operation, of these types."""
        assert self.block is not None
        results = [Register(type) for type in gives]
        site = None if reason is None else self.site(reason)
        self.block.ops.append(Op(name, list(operands), results, attribute, format, site))
        return results

    def bail_if(self, condition: Operand, reason: str) -> None:
        """Bail out where `condition` is true."""
        if condition is not False:
            self.about("bail_if", None, (condition,), reason=reason)

    def get(self, slot: Slot) -> Register:
        (result,) = self.about("get", slot, (), (slot.type,))
        return result

    def set(self, slot: Slot, value: Operand) -> None:
        self.about("set", slot, (value,))

    def finite(self, x: Operand, reason: str) -> Operand:
        """`x`, which is a number and not infinite."""
        self.bail_if(self.op("not", self.op("finite", x)), reason)
        return x

    def height(self, tape: Tape) -> Register:
        (result,) = self.about("height", tape, (), (I64,))
        return result

    def kept(self, value: Value) -> list[Operand]:
        """The registers of `value`, which is kept as it is now: the records of its tapes are complete."""
        return kinds.parts(self.complete(value))

    def complete(self, value: Value) -> Value:
        """`value`, whose records end where they end now: nobody puts any more on its tapes."""
        match value:
            case TapeValue(tape, base, None):
                return TapeValue(tape, base, self.height(tape))
            case Tuple(parts):
                return Tuple(tuple(map(self.complete, parts)))
            case Maybe(absent, inner, token):
                return Maybe(absent, self.complete(inner), token)
            case Variant(tag, members):
                return Variant(tag, tuple(map(self.complete, members)))
        return value

    # -- values as they are needed --------------------------------------------------------------------------

    def number(self, value: Value) -> Operand:
        """A float, int or bool as an operand, of its own type."""
        value = self.present(value)
        if isinstance(value, Number):
            return value.operand
        if isinstance(value, Known) and isinstance(kind_of(value), NumberKind):
            number: Operand = value.value
            return number
        raise Refusal("this is no number")

    def to_int(self, x: Operand) -> Operand:
        """An int or bool as an int."""
        if type_of(x) == BOOL:
            return int(x) if isinstance(x, bool) else self.op("btoi", x)
        if type_of(x) != I64:
            raise Refusal("a float where an int is needed")
        return x

    def to_float(self, x: Operand) -> Operand:
        """A number as the float that it is converted to in arithmetic."""
        if type_of(x) == F64:
            return x
        x = self.to_int(x)
        return float(x) if isinstance(x, int) else self.op("itof", x)

    def to_exact_float(self, x: Operand) -> Operand:
        """A number as the float that is equal to it."""
        if type_of(x) == F64:
            return x
        x = self.to_float(x)
        if isinstance(x, float) and abs(x) <= EXACT:
            return x
        self.bail_if(self.op("fgt", self.op("fabs", x), EXACT), "an int too long to be a float")
        return x

    def short(self, x: Operand, reason: str) -> Operand:
        """A float that is an int of 64 bits when it is rounded, and a bit to spare."""
        self.bail_if(self.op("not", self.op("flt", self.op("fabs", x), LONGEST)), reason)
        return x

    def present(self, value: Value) -> Value:
        """`value`, which is not absent."""
        while isinstance(value, Maybe):
            self.bail_if(value.absent, "a value that is not there")
            value = value.inner
        return value

    def coerced(self, value: Value, kind: Kind) -> Value:
        """`value` as one of this kind."""
        if kind_of(value) == kind:
            return value
        if isinstance(kind, MaybeKind):
            if isinstance(value, Known) and value.value is None and kind.token is None:
                return Maybe(True, kinds.zeros(kind.inner), None)
            if isinstance(value, Maybe) and value.token is kind.token:
                return Maybe(value.absent, self.coerced(value.inner, kind.inner), kind.token)
            return Maybe(False, self.coerced(value, kind.inner), kind.token)
        if isinstance(kind, LinksKind) and isinstance(value, Known) and value.value is None:
            return Links(0, kind.arena)
        if isinstance(value, Maybe):
            return self.coerced(self.present(value), kind)
        if isinstance(kind, VariantKind):
            return self._as_variant(value, kind)
        if isinstance(value, Variant) and isinstance(kind, TupleKind):
            return self._as_member(value, kind)
        elements = self.elements(value)
        if isinstance(kind, TupleKind) and elements is not None and len(elements) == len(kind.elements):
            return Tuple(tuple(map(self.coerced, elements, kind.elements)))
        raise Refusal(f"a value of two kinds: {_name(kind_of(value))} here, {_name(kind)} elsewhere")

    def elements(self, value: Value) -> tuple[Value, ...] | None:
        """The elements of a tuple."""
        if isinstance(value, Tuple):
            return value.parts
        if isinstance(value, Known) and type(value.value) is tuple:
            return tuple(map(Known, value.value))
        return None

    def _as_variant(self, value: Value, kind: VariantKind) -> Value:
        if isinstance(value, Variant):
            known = [kind_of(member) for member in value.members]
            places = [kind.members.index(k) for k in known]
            tag: Operand = places[0]
            for number, place in enumerate(places[1:], 1):
                tag = self.op("iselect", self.op("ieq", value.tag, number), place, tag)
            found = dict(zip(places, value.members, strict=True))
        else:
            own = kind_of(value)
            if own not in kind.members:
                raise Refusal("a tuple of another form than elsewhere")
            tag = kind.members.index(own)
            found = {tag: value}
        return Variant(
            tag, tuple([found.get(i) or kinds.zeros(member) for i, member in enumerate(kind.members)])
        )

    def _as_member(self, value: Variant, kind: TupleKind) -> Value:
        for number, member in enumerate(value.members):
            if kind_of(member) == kind:
                self.bail_if(self.op("ine", value.tag, number), "a tuple of another form")
                return member
        raise Refusal("a tuple of another form than elsewhere")


def _name(kind: Kind | None) -> str:
    match kind:
        case None:
            return "an object"
        case NumberKind(type):
            return {F64: "a float", I64: "an int", BOOL: "a bool"}[type]
        case TupleKind():
            return "a tuple"
        case MaybeKind(inner, _):
            return f"None or {_name(inner)}"
    return "something else" if kind != kinds.NOTHING else "None"
