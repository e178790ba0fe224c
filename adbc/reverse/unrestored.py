"""To-be-recorded analysis: which updates of arrays in place the pullback need not undo one by one.

In general the reverse of ``u += v`` puts back what `u` was: what comes before may have a reverse that reads
it, and a caller must find his array as it was.  But ``+=`` itself is linear.  If the memory of `u` is this
function's own, and all that is done with it is to take views, to update these, and to read them in formulas,
then it is known who reads it in the pullback.  If none of these formulas stands where an update comes after
it, the pullback never looks at an old value::

    u = x.copy()
    for _ in range(n):
        u[1:-1] += k * (u[2:] - 2.0 * u[1:-1] + u[:-2])    # reads shapes, and k
    return np.sum(u**2)                                    # reads u, as it is in the end

An array that the caller passed like a number (`_own_`) is put back as a whole, in the end, if a loop changes
it.  So are writes, ``u[1:-1] = v``: that is linear, too.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from adbc.ir.graph import Block, Graph
from adbc.ir.traverse import cycles
from adbc.ir.values import Instruction, Phi, Value
from adbc.reverse.formulas import FormulaUses, values_read
from adbc.types.array_calls import formula_call
from adbc.types.callsites import CallSite
from adbc.types.effects import is_harmless
from adbc.types.inference import type_of
from adbc.types.kinds import Kind
from adbc.types.lattice import ArrayType

__all__ = ["unrestored_updates"]


def unrestored_updates(
    graph: Graph, sites: Mapping[Instruction, CallSite], formulas: FormulaUses
) -> tuple[set[Instruction], dict[Instruction, Any]]:
    """The updates of arrays that are not undone; and the owned parameters that are put back as a whole
    instead, each with the rule of one of its updates."""
    updates: set[Instruction] = set()
    owned: dict[Instruction, Any] = {}
    if any(block.handler is not None for block in graph.blocks):
        return updates, owned  # what has run of a pullback is not known
    looping = {block for cycle in cycles(graph.blocks, _successors) for block in cycle}
    for root in graph.instructions():
        if root.op != "call" or type(type_of(root)) is not ArrayType:
            continue
        family = _Family(root, sites, formulas)
        is_own = sites[root].kind is Kind.OWN
        if is_own and looping.isdisjoint(update.block for update in family.updates):
            continue  # what is overwritten may be little, and is overwritten once
        if family.updates and family.is_known and not family.is_read_before_update():
            updates.update(family.updates)
            if is_own:
                owned[root] = sites[family.updates[0]].row
    return updates, owned


def _successors(block: Block) -> Sequence[Block]:
    return block.terminator.successors


class _Family:
    """`root`, an array with memory of its own, and all views of it."""

    def __init__(
        self, root: Instruction, sites: Mapping[Instruction, CallSite], formulas: FormulaUses
    ) -> None:
        self.sites = sites
        self.formulas = formulas
        self.home = root.block
        self.updates: list[Instruction] = []
        self.readers: list[Instruction] = []
        """The calls with formulas that read the numbers of one of the arrays."""
        self.is_known = self._is_new(root)
        """Whether nothing is done with the arrays but to take views, to update them, and to read them in
        formulas."""
        seen: set[Value] = {root}
        waiting: list[Value] = [root]
        while waiting and self.is_known:
            value = waiting.pop()
            for user in formulas.users.get(value, ()):
                if isinstance(user, Phi):  # a variable that is updated
                    is_one = True
                elif isinstance(user, Instruction) and user.op == "call" and self._note(value, user):
                    site = sites[user]
                    is_one = site.kind in (Kind.VIEW, Kind.UPDATE, Kind.COPY) and site.arguments[0] is value
                else:
                    self.is_known = False
                    return
                if is_one and user not in seen:
                    seen.add(user)
                    waiting.append(user)
        for one in seen:
            if isinstance(one, Phi) and not seen.issuperset(one.operands.values()):
                self.is_known = False  # it may be another array

    def _is_new(self, root: Instruction) -> bool:
        """Whether `root` is new memory.  If the formula of `root` reads its own result, that is noted."""
        site = self.sites[root]
        if site.kind in (Kind.OWN, Kind.FRESH):
            return True
        return site.kind is Kind.FORMULA and self._note(root, root)

    def _note(self, value: Value, user: Instruction) -> bool:
        """Note what `user` does with `value`; False if that is not known."""
        site = self.sites[user]
        if site.kind in (Kind.VIEW, Kind.COPY):
            return site.arguments[0] is value
        if site.kind in (Kind.UPDATE, Kind.WRITE):
            if site.arguments[0] is value and user not in self.updates:
                self.updates.append(user)
            return True
        if site.kind is Kind.PRIMAL:
            return is_harmless(user)
        if site.kind is not Kind.FORMULA:
            return False
        types_ = [type_of(a) for a in site.arguments]
        found = formula_call(site.row, types_, user.keywords, type_of(user))
        if found is None or found.window:
            return False
        arrays = [site.arguments[i] for i in found.arrays]
        if value is not user and value not in arrays:
            return False
        parts = self.formulas.parts(user)
        together = found.together if len(parts) > 1 and None not in parts else None
        if value in values_read(parts, user, arrays, together):
            self.readers.append(user)
        return True

    def is_read_before_update(self) -> bool:
        """Whether an update may follow a call whose formulas read one of the arrays."""
        for reader in self.readers:
            block = reader.block
            assert block is not None
            behind = _behind(block, self.home)
            at = block.instructions.index(reader)
            for update in self.updates:
                if update.block in behind:
                    return True
                if update.block is block and block.instructions.index(update) > at:
                    return True
        return False


def _behind(block: Block, home: Block | None) -> set[Block]:
    """The blocks that may be entered after `block` and before `home`, where the memory is made anew;
    `block` is among them only if there is a loop."""
    found: set[Block] = set()
    waiting = [*block.terminator.successors]
    while waiting:
        next_ = waiting.pop()
        if next_ not in found and next_ is not home:
            found.add(next_)
            waiting += next_.terminator.successors
    return found
