"""What stays on the stack: trees of instructions, and the patterns that have syntax of their own.

Instructions are written in their original order, without exception, because almost any of them can
call user code.  A value may stay on the stack if it is used once and its user's plan, read from
right to left, meets the values exactly in the order in which they were computed.  Then the user and
its operands form a tree that is written in one go; the roots of a block's trees are its statements.
Everything else goes through a local variable.

Found here as well: real cell variables, unpacking into variables, ``for`` loops whose iterator can
stay on the stack for the whole loop, and containers that are built by a chain of updates.

This module refuses to know which local a value gets (`slots`) and how a step is spelt.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from adbc.emit.assembler import SPECIAL, Assembler
from adbc.emit.flow import Flow, Node
from adbc.emit.templates import UPDATES, Callee, Form, Plan, Step, form_of, plan_of
from adbc.ir import intrinsics as i
from adbc.ir.graph import Graph
from adbc.ir.ops import PURE, may_raise
from adbc.ir.terminators import Branch, Jump, Raise, Return, Switch
from adbc.ir.values import Argument, Const, Instruction, Phi, Undef, Value

__all__ = ["ForLoop", "Schedule"]

DEPTH_LIMIT = 40
"""The greatest depth of a tree of instructions; deeper ones are cut, because the writer is recursive, and
the stack that a tree needs grows with it."""

_CELL_READS = frozenset({id(i._cell_get_), id(i._cell_del_)})
_PURE_IDS = frozenset(id(f) for f in PURE)


class ForLoop:
    """A loop header that becomes FOR_ITER: `iterator` stays on the stack, `value` is the loop variable.

    A `tape` that the loop writes stays there too, below the iterator, and goes into its variable behind the
    loop.
    """

    __slots__ = ("body", "exit", "iterator", "kept_from", "node", "tape", "value")

    def __init__(self, node: Node, iterator: Value, value: Instruction, body: Node, exit: Node) -> None:
        self.node = node
        self.iterator = iterator
        self.value = value
        self.body = body
        self.exit = exit
        self.kept_from: Node | None = None  # the node that computes the iterator and leaves it there
        self.tape: Instruction | None = None


class Schedule:
    """The decisions about one graph of what stays on the stack and what has syntax of its own."""

    def __init__(self, graph: Graph, flow: Flow) -> None:
        self.graph = graph
        self.flow = flow
        self.forms: dict[Value, Form] = {}
        self.plans: dict[Value, Plan] = {}
        self.alias: dict[Value, Value] = {}
        self.uses: dict[Value, int] = {}
        self.users: dict[Value, list[tuple[Node, object]]] = {}
        self.cells: dict[Value, tuple[str, bool]] = {}  # cell values with a name: (name, is free)
        self.param_cells: dict[Argument, str] = {}
        self.groups: dict[Value, list[Instruction | None]] = {}  # unpacking -> its parts
        self.for_loops: dict[Node, ForLoop] = {}
        self.loop_bodies: dict[Node, ForLoop] = {}
        self.loop_exits: dict[Node, ForLoop] = {}
        self.recalls: dict[Instruction, ForLoop] = {}
        """Calls that step the iterator of the innermost ``for`` loop around them, elsewhere than at its
        head."""
        self.absorbed: set[Value] = set()
        self.chained: set[Value] = set()  # updates whose value is the container they changed
        self.body: dict[Node, list[Instruction]] = {}
        self.roots: dict[Node, list[Instruction]] = {}
        self.live_phis: set[Phi] = set()
        self.phis: dict[Node, list[Phi]] = {}
        """By node, its phis that are used."""
        self._find_live_phis()
        self._count()
        self._name_cells()
        self._group_unpackings()
        self._group_entries()
        self._chain_updates()
        self._remove_unused()
        self._plan_all()
        self._find_for_loops()
        self.kept: dict[Value, ForLoop] = {
            f.iterator: f for f in self.for_loops.values() if f.kept_from is not None
        }
        for node in flow.layout:
            self._treeify(node)
        self.exceptions = self._find_exceptions()

    # -- uses ----------------------------------------------------------------------------------------

    def resolve(self, value: Value) -> Value:
        while value in self.alias:
            value = self.alias[value]
        return value

    def _find_live_phis(self) -> None:
        """Find the phis that are used by something else than dead phis: only these need copies."""
        phis = {phi for node in self.flow.layout for phi in node.phis}
        if phis:
            used: list[Value] = []
            for node in self.flow.layout:
                for instruction in node.instructions:
                    used += instruction.operands
                if node.block is not None:
                    used += node.block.terminator.values
            work = phis.intersection(used)
            while work:
                self.live_phis |= work
                operands = {operand for phi in work for operand in phi.operands.values()}
                work = (phis & operands) - self.live_phis
        self.phis = {
            node: [phi for phi in node.phis if phi in self.live_phis]
            for node in self.flow.layout
            if node.phis
        }

    def copies(self, source: Node, target: Node) -> list[tuple[Phi, Value]]:
        """The live phis of `target`, each with the value that it gets on the edge from `source`."""
        phis = self.phis.get(target)
        if not phis:
            return []
        origin = source.origin
        return [(phi, self.resolve(phi.operands[origin])) for phi in phis if origin in phi.operands]

    def _count(self) -> None:
        for node in self.flow.layout:
            body = []
            for instruction in node.instructions:
                if instruction.op == "catch":
                    self.forms[instruction] = Form(None, Const(None), [], ())
                else:
                    self.forms[instruction] = form_of(instruction)
                body.append(instruction)
            self.body[node] = body
        self._recount()

    def _recount(self) -> None:
        found: dict[Value, list[tuple[Node, object]]] = {}
        forms, alias, resolve = self.forms, self.alias, self.resolve
        for node in self.flow.layout:
            for instruction in self.body[node]:
                form = forms[instruction]
                user = node, instruction
                if form.callee.__class__ is not Const:
                    found.setdefault(resolve(form.callee), []).append(user)
                for value in form.arguments:
                    if value.__class__ is not Const:
                        if alias:
                            value = resolve(value)
                        found.setdefault(value, []).append(user)
            if node.block is not None:
                terminator = node.block.terminator
                for value in terminator.values:
                    if value.__class__ is not Const:
                        found.setdefault(resolve(value), []).append((node, terminator))
            for target in self.flow.outgoing(node):
                for phi, value in self.copies(node, target):
                    if value.__class__ is not Const:
                        found.setdefault(value, []).append((node, phi))
        self.users = found
        self.uses = {value: len(users) for value, users in found.items()}

    # -- cells ---------------------------------------------------------------------------------------

    def _name_cells(self) -> None:
        """Find the cells that are variables of the code object: those of the closure, and those made once
        at the entry."""
        graph = self.graph
        taken: set[str] = set(graph.free)
        parameters = {argument.name for argument in graph.arguments}
        for instruction, form in self.forms.items():
            if form.function is i._freevar_ and isinstance(form.arguments[0], Const):
                index = form.arguments[0].value
                assert isinstance(index, int)
                self.cells[instruction] = (graph.free[index], True)
        for instruction in self.body[self.flow.entry]:
            form = self.forms[instruction]
            if form.function is not i._cell_new_ or form.keywords or len(form.arguments) > 1:
                continue
            users = self.users.get(instruction, [])
            if any(isinstance(user, Phi) for _, user in users):
                continue
            name = self._cell_name(instruction)
            content = form.arguments[0] if form.arguments else None
            if (
                isinstance(content, Argument)
                and content not in self.param_cells
                and content.name not in taken
                and name in (content.name, None)
            ):
                taken.add(content.name)
                self.param_cells[content] = content.name
                self.cells[instruction] = (content.name, False)
                continue
            if name is None or name in taken or name in parameters:
                # The name only shows in messages about empty cells.
                if any(
                    isinstance(user, Instruction) and id(self.forms[user].function) in _CELL_READS
                    for _, user in users
                ) and (content is None or isinstance(content, Const)):
                    continue
                stem = name or "cell"
                number = 0
                while f"{stem}.{number}" in taken:
                    number += 1
                name = f"{stem}.{number}"
            taken.add(name)
            self.cells[instruction] = (name, False)

    def _cell_name(self, cell: Instruction) -> str | None:
        """The name of a cell, taken from its uses."""
        for _, user in self.users.get(cell, []):
            if isinstance(user, Instruction):
                form = self.forms[user]
                if id(form.function) in _CELL_READS and form.arguments[0] is cell:
                    name = form.arguments[1]
                    if isinstance(name, Const) and isinstance(name.value, str):
                        return name.value
        return cell.name if cell.name and cell.name.isidentifier() else None

    # -- patterns ------------------------------------------------------------------------------------

    def _group_unpackings(self) -> None:
        """Let an unpacking all of whose uses are constant projections store straight into variables."""
        removed: set[Value] = set()
        for instruction, form in self.forms.items():
            if form.function is not i._unpack_ and form.function is not i._unpack_ex_:
                continue
            counts = form.arguments[1:]
            numbers = [c.value for c in counts if isinstance(c, Const) and type(c.value) is int]
            if form.keywords or len(numbers) != (1 if form.function is i._unpack_ else 2):
                continue
            size = numbers[0] if len(numbers) == 1 else numbers[0] + numbers[1] + 1
            parts: list[Instruction | None] = [None] * size
            extra: list[tuple[Instruction, Instruction]] = []
            for _, user in self.users.get(instruction, []):
                if not isinstance(user, Instruction):
                    break
                use = self.forms[user]
                index = use.arguments[1] if use.function is i._project_ and len(use.arguments) == 2 else None
                if not (
                    isinstance(index, Const)
                    and type(index.value) is int
                    and 0 <= index.value < size
                    and use.arguments[0] is instruction
                ):
                    break
                first = parts[index.value]
                if first is None:
                    parts[index.value] = user
                else:
                    extra.append((user, first))
            else:
                self.groups[instruction] = parts
                removed.update(part for part in parts if part is not None)
                for duplicate, first in extra:
                    removed.add(duplicate)
                    self.alias[duplicate] = first
        if removed:
            for node, body in self.body.items():
                self.body[node] = [x for x in body if x not in removed]

    def _group_entries(self) -> None:
        """Group the two lookups and the call at the entry of a ``with`` statement, which are one
        instruction.

        It leaves the manager's exit on the stack, and what its enter returned on top.
        """
        if not Assembler.enters_at_once:
            return
        for body in self.body.values():
            lines = list(zip(body, body[1:], body[2:], strict=False))
            for enter, leave, call in lines:
                first, second, third = self.forms[enter], self.forms[leave], self.forms[call]
                if (
                    first.function is i._load_special_
                    and second.function is i._load_special_
                    and first.arguments[0] is second.arguments[0]
                    and _constant(first.arguments[1]) == "__enter__"
                    and _constant(second.arguments[1]) == "__exit__"
                    and third.callee is enter
                    and not third.arguments
                    and len(self.users.get(enter, ())) == 1
                ):
                    self.groups[enter] = [call, leave]
                    body.remove(leave)
                    body.remove(call)

    def _chain_updates(self) -> None:
        """``c = []; c.extend(x); use(c)`` in one block: let each update take and give the container.

        Then `c` is used once at each step and may stay on the stack throughout.
        """
        for node, body in self.body.items():
            position = {instruction: k for k, instruction in enumerate(body)}
            for instruction in body:
                form = self.forms[instruction]
                if form.function is not i._new_ or instruction not in position:
                    continue
                users = self.users.get(instruction, [])
                if len(users) < 2 or any(at is not node for at, _ in users):
                    continue
                chain = [user for _, user in users]
                instructions = [user for user in chain if isinstance(user, Instruction) and user in position]
                if len(set(instructions)) != len(chain):
                    continue
                instructions.sort(key=lambda user: position[user])
                updates = instructions[:-1]
                if not all(
                    id(self.forms[u].function) in UPDATES
                    and self.forms[u].arguments[0] is instruction
                    and not self.uses.get(u)
                    for u in updates
                ):
                    continue
                for user in instructions[1:]:
                    previous = updates[instructions.index(user) - 1]
                    old = self.forms[user]
                    self.forms[user] = Form(
                        old.function,
                        previous if old.callee is instruction else old.callee,
                        [previous if a is instruction else a for a in old.arguments],
                        old.keywords,
                    )
                self.chained.update(updates)

    def _remove_unused(self) -> None:
        """Drop pure instructions without uses, cells that need no code, and count again."""
        changed = bool(self.groups or self.chained)  # they take uses away
        while True:
            if changed:
                self._recount()
            changed = False
            for node, body in self.body.items():
                kept = []
                for instruction in body:
                    form = self.forms[instruction]
                    if instruction in self.cells:
                        contents = form.arguments[0] if form.arguments else None
                        if (
                            form.function is i._freevar_
                            or contents is None
                            or (isinstance(contents, Const) and contents.value is i.UNBOUND)
                            or (
                                isinstance(contents, Argument)
                                and contents in self.param_cells
                                and self.cells[instruction] == (self.param_cells[contents], False)
                            )
                        ):
                            continue
                    elif id(form.function) in _PURE_IDS and not self.uses.get(instruction):
                        changed = True
                        continue
                    kept.append(instruction)
                self.body[node] = kept
            if not changed:
                return

    # -- plans ---------------------------------------------------------------------------------------

    def _plan_all(self) -> None:
        for body in self.body.values():
            for instruction in body:
                self.plans[instruction] = self._resolved(self._plan(instruction))

    def _resolved(self, plan: Plan) -> Plan:
        if self.alias:
            plan.steps = [
                self.resolve(step)
                if isinstance(step, Value)
                else Callee(self.resolve(step.value), step.is_alone)
                if isinstance(step, Callee)
                else step
                for step in plan.steps
            ]
        return plan

    def _plan(self, instruction: Instruction) -> Plan:
        form = self.forms[instruction]
        function, arguments = form.function, form.arguments
        if instruction.op == "catch":
            return Plan([])
        if function is i._release_:
            return Plan([], False)
        if instruction in self.groups:
            if function is i._load_special_:
                return Plan([arguments[0], ("before_with",)])
            numbers = [a.value for a in arguments[1:] if isinstance(a, Const)]
            return Plan([arguments[0], ("unpack" if len(numbers) == 1 else "unpack_ex", *numbers)])
        if function is i._load_special_ and not Assembler.enters_at_once:
            name = _constant(arguments[1])
            if name in SPECIAL:
                return Plan([arguments[0], ("find_special", name)])
        if instruction in self.cells:
            name, free = self.cells[instruction]
            return Plan([arguments[0], ("store_deref", name, free)], False)
        if function is i._cell_get_ and arguments[0] in self.cells:
            return Plan([("load_deref", *self.cells[arguments[0]])])
        if function is i._class_cell_ and arguments[1] in self.cells:
            return Plan([arguments[0], ("class_deref", *self.cells[arguments[1]])])
        if function is i._cell_set_ and arguments[0] in self.cells:
            return Plan([arguments[1], ("store_deref", *self.cells[arguments[0]])], False)
        if function is i._cell_del_ and arguments[0] in self.cells:
            return Plan([("delete_deref", *self.cells[arguments[0]])], False)
        return plan_of(form)

    # -- loops ---------------------------------------------------------------------------------------

    def _find_for_loops(self) -> None:
        for header, loop in self.flow.bodies.items():
            block = header.block
            if block is None or not isinstance(block.terminator, Branch) or len(header.instructions) < 2:
                continue
            if header.instructions and header.instructions[0].op == "catch":
                continue
            body = self.body[header]
            if len(body) < 2:
                continue
            value, test = body[-2:]
            if self.forms[value].function is not i._next_ or self.forms[test].function is not i._exhausted_:
                continue
            if self.forms[test].arguments[0] is not value or block.terminator.condition is not test:
                continue
            if self.uses.get(test) != 1:
                continue
            iterator = self.resolve(self.forms[value].arguments[0])
            inside = {x for node in loop for x in (*node.phis, *self.body[node])}
            if iterator in inside:
                continue
            body_node, exit_node = (
                header.targets[block.terminator.false],
                header.targets[block.terminator.true],
            )
            if body_node not in loop or exit_node in loop or not self._only_in(value, body_node, test):
                continue
            self.for_loops[header] = found = ForLoop(header, iterator, value, body_node, exit_node)
            self.loop_bodies[body_node] = found
            self.loop_exits[exit_node] = found
            self.body[header] = body[:-2]
            self.uses[value] -= 1  # the test is gone
        for found in self.for_loops.values():
            self._keep_on_stack(found, self.flow.bodies[found.node])

    def _only_in(self, value: Value, body: Node, test: Instruction) -> bool:
        """Whether `value`, but for `test`, is used only where the loop has given an element: in `body` or
        behind."""
        return all(
            user is test or self.flow.dominates(body, node) for node, user in self.users.get(value, [])
        )

    def _keep_on_stack(self, found: ForLoop, loop: set[Node]) -> None:
        """Leave the iterator on the stack if it is made in the block in front of the loop and used by this
        loop only.

        A tape that is made there stays on the stack in either case.
        """
        recalls = self._find_recalls(found, loop)
        entries = [p for p in found.node.predecessors if p not in loop]
        if len(entries) != 1:
            return
        source = entries[0]
        if self.context(source) != self.context(found.node)[:-1]:
            return
        tapes = [x for x in self.body[source] if self._is_written_in(x, loop, source)]
        if tapes:
            found.tape = tapes[0]
            self._wind(found, loop)
            self.body[source].remove(tapes[0])
        if (
            self.uses.get(found.iterator) == 1 + len(recalls)
            and found.iterator in self.body[source]
            and found.iterator not in self.groups
            and found.iterator not in self.cells
        ):
            found.kept_from = source

    def _wind(self, found: ForLoop, loop: set[Node]) -> None:
        """Let what is recorded in `loop` go straight to the tape on the stack."""
        assert found.tape is not None
        for node, user in self.users[found.tape]:
            if node in loop:
                assert isinstance(user, Instruction)
                steps: list[Step] = []
                for value in self.forms[user].arguments[1:]:
                    steps += (self.resolve(value), ("wind", found))
                self.plans[user] = Plan(steps, False)

    def _is_written_in(self, tape: Instruction, loop: set[Node], source: Node) -> bool:
        """Whether `tape` is a list that `loop` only puts values on, and that is used behind the loop.

        An exception that is caught outside the loop would find it gone from the stack.
        """
        form = self.forms[tape]
        if form.function is not i._new_ or len(form.arguments) != 1 or tape in self.chained:
            return False
        inside = [(node, user) for node, user in self.users.get(tape, []) if node in loop]
        return (
            0 < len(inside) < self.uses.get(tape, 0)
            and all(node is not source for node, _ in self.users[tape])
            and all(
                isinstance(user, Instruction)
                and self.forms[user].function is i._record_
                and tape not in self.forms[user].arguments[1:]
                for _, user in inside
            )
            and source.handler is None
            and all(node.handler is None or node.handler in loop for node in loop)
        )

    def _find_recalls(self, found: ForLoop, loop: set[Node]) -> list[Instruction]:
        """The calls of `_recall_` that step the iterator of `found` while it is on top of the stack."""
        recalls = []
        for node, user in self.users.get(found.iterator, []):
            if not isinstance(user, Instruction) or self.forms[user].function is not i._recall_:
                continue
            if node in loop and self.context(node)[-1] is found:
                recalls.append(user)
                self.recalls[user] = found
                self.plans[user] = Plan([("recall", found)])
        return recalls

    def context(self, node: Node) -> list[ForLoop]:
        """The loops whose iterators are on the stack in `node`, outermost first."""
        return [self.for_loops[header] for header in node.loops if header in self.for_loops]

    # -- exceptions ----------------------------------------------------------------------------------

    def ends_handling(self, root: Instruction) -> bool:
        function = self.forms[root].function
        return function is i._pop_except_ or function is i._reraise_

    def _find_exceptions(self) -> dict[Value, Node]:
        """By value that a handler was given by the interpreter, and phi of such values, the node where it
        is defined."""
        found: dict[Value, Node] = {}
        users: dict[Value, list[tuple[Phi, Node]]] = {}
        for node in self.flow.layout:
            for phi in node.phis:
                for operand in phi.operands.values():
                    users.setdefault(self.resolve(operand), []).append((phi, node))
            for instruction in node.instructions:
                if instruction.op == "catch" or self.forms[instruction].function is i._push_exc_info_:
                    found[instruction] = node
        waiting = list(found)
        while waiting:
            for phi, node in users.get(waiting.pop(), ()):
                if phi not in found:
                    found[phi] = node
                    waiting.append(phi)
        return found

    # -- trees ---------------------------------------------------------------------------------------

    def region_start(self, node: Node) -> int:
        """The number of the root at which the region of a node with a handler begins.

        It is the first root that may raise: what the handler finds is there by then.
        """
        for k, root in enumerate(self.roots[node]):
            if self._tree_raises(root):
                return k
        return len(self.roots[node])

    def region_end(self, node: Node) -> int:
        """The number of the root behind which the region of a node with a handler ends.

        It is the last root that may raise; if the end of the node may, it is the number of roots.
        """
        roots = self.roots[node]
        raises = node.block is not None and isinstance(node.block.terminator, Raise)
        if (
            raises
            or node in self.for_loops
            or any(
                value in self.absorbed and self._tree_raises(value) for value in self.terminator_values(node)
            )
        ):
            return len(roots)
        return max((k for k, root in enumerate(roots) if self._tree_raises(root)), default=len(roots))

    def _tree_raises(self, root: Value) -> bool:
        work: list[object] = [root]
        while work:
            value = work.pop()
            if isinstance(value, Instruction):
                if may_raise(value):
                    return True
                steps = self.plans[value].steps
                work.extend(
                    operand
                    for step in steps
                    if (operand := step.value if isinstance(step, Callee) else step) in self.absorbed
                )
        return False

    def drops_container(self, value: Value) -> bool:
        """Whether the code of an instruction leaves a container on the stack that is not wanted."""
        return self.plans[value].container and value not in self.chained

    def pushes(self, value: Value) -> bool:
        """Whether the code of an instruction leaves its value on the stack."""
        return self.plans[value].pushes and not self.drops_container(value)

    def _treeify(self, node: Node) -> None:
        body = self.body[node]
        position = len(body) - 1

        def may_absorb(value: Instruction) -> bool:
            """Whether `value` may be part of the tree of its user, in front of which it stands."""
            return (
                self.uses.get(value) == 1
                and value not in self.groups
                and value not in self.cells
                and value not in self.kept
                and value not in self.recalls
                and value.op != "catch"
            )

        def absorb(steps: Sequence[object], depth: int) -> None:
            nonlocal position
            for step in reversed(steps):
                if position < 0:
                    return
                value = step.value if step.__class__ is Callee else step
                if value is body[position] and depth < DEPTH_LIMIT and may_absorb(value):
                    self.absorbed.add(value)
                    position -= 1
                    absorb(self.plans[value].steps, depth + 1)

        absorb(self.terminator_values(node), 0)
        roots: list[Instruction] = []
        while position >= 0:
            root = body[position]
            roots.append(root)
            position -= 1
            absorb(self.plans[root].steps, 0)
        roots.reverse()
        self.roots[node] = roots

    def terminator_values(self, node: Node) -> tuple[Value, ...]:
        """The values that the end of a node takes from the stack, in order."""
        if node.block is None or node in self.for_loops:
            return ()
        terminator = node.block.terminator
        if isinstance(terminator, Switch) and len(terminator.cases) > 1:
            return ()  # loaded again for every comparison
        if isinstance(terminator, (Branch, Return, Raise, Switch)):
            return tuple(self.resolve(v) for v in terminator.values)
        assert isinstance(terminator, Jump) or not terminator.values
        return ()

    def tree_leaves(self, steps: list[object] | tuple[object, ...]) -> list[Value]:
        """The values that a tree takes from local variables."""
        result: list[Value] = []
        work: list[object] = list(steps)
        while work:
            value: Any = work.pop()
            kind = value.__class__
            if kind is Callee:
                value = value.value
                kind = value.__class__
            if kind is tuple or kind is Const or kind is Undef or not isinstance(value, Value):
                continue
            if value in self.absorbed:
                work.extend(self.plans[value].steps)
            elif value not in self.cells:
                result.append(value)
        return result


def _constant(value: Value) -> object:
    return value.value if isinstance(value, Const) else None
