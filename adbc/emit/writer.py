"""Writing the code: walks the nodes in order and performs the plans.

All decisions were made before: `flow` has the order, `schedule` the trees, `slots` the variables,
`assembler` the spelling.  What remains is to put them together, to move values on edges, and to
fuse tests with jumps.
"""

from __future__ import annotations

import operator
from typing import Any

from adbc.emit.assembler import ITERATOR_SLOTS, Assembler
from adbc.emit.assembly import PY313
from adbc.emit.flow import Flow, Node
from adbc.emit.items import Label
from adbc.emit.promises import promise_of
from adbc.emit.schedule import ForLoop, Schedule
from adbc.emit.sequences import SEQUENCES
from adbc.emit.slots import Slots
from adbc.emit.templates import COMPARE, Callee, Form, Step
from adbc.errors import AdbcError
from adbc.ir import intrinsics as i
from adbc.ir import ops
from adbc.ir.graph import Graph
from adbc.ir.terminators import Branch, Jump, Raise, Return, Switch, Unreachable
from adbc.ir.values import Const, Instruction, Phi, Undef, Value
from adbc.types.promises import promise

__all__ = ["Writer"]

BOOLS = frozenset(id(f) for f in ops.BOOLS)
"""The ids of functions whose opcodes leave a bool.  Ids, because a callee may be any object, even one with
a hostile ``==``."""

INVERSE = {"TRUE": "FALSE", "FALSE": "TRUE", "NONE": "NOT_NONE", "NOT_NONE": "NONE"}


class Writer:
    """Writes the code of one graph with an assembler."""

    def __init__(self, graph: Graph, flow: Flow, schedule: Schedule, slots: Slots) -> None:
        self.graph = graph
        self.flow = flow
        self.schedule = schedule
        self.slots = slots
        self.asm = Assembler()
        self.labels: dict[Node, Label] = {}
        self.pending: Value | None = None  # a value on the stack that belongs into its variable
        self.tails: dict[Node, list[tuple[Phi, Instruction]]] = {}
        self.handlers = {node.handler for node in flow.layout if node.handler is not None}

    def write(self) -> Assembler:
        asm, graph = self.asm, self.graph
        asm.at_line(graph.first_line)
        if graph.free:
            asm.copy_free_vars(len(graph.free))
        for name in self.cell_names():
            asm.make_cell(name)
        if graph.is_generator:
            asm.make_generator()
        asm.resume()
        for argument in self.slots.entry_copies:
            asm.load_deref(self.schedule.param_cells[argument], False)
            asm.store(self.slots.slot_of[argument])
        for node in self.flow.layout:
            self._plan_tail(node)
        order = [node for node in self.flow.layout if self.final(node) is node]
        for node in order:
            self.labels[node] = label = Label()
            label.depth = self.entry_depth(node)
        for k, node in enumerate(order):
            self._node(node, order[k + 1] if k + 1 < len(order) else None)
        if asm.reachable:
            raise AdbcError(f"the code of {graph.name} runs off its end")
        return asm

    def cell_names(self) -> list[str]:
        names = {name for name, free in self.schedule.cells.values() if not free}
        return sorted(names)

    # -- edges ---------------------------------------------------------------------------------------

    def entry_depth(self, node: Node) -> int:
        """How many values are on the stack when `node` is reached by a jump."""
        if self._moves_at_start(node):
            source = node.predecessors[0]
            depth = self._height(self.schedule.context(source))
            if node in self.schedule.loop_bodies:
                return depth + 1
            if node in self.schedule.loop_exits:
                return depth - ITERATOR_SLOTS
            return depth
        # A handler finds the exception on top.
        return self._height(self.schedule.context(node)) + (node in self.handlers)

    def _height(self, context: list[ForLoop]) -> int:
        """How many values the iterators and tapes of these loops are on the stack."""
        return sum(ITERATOR_SLOTS + (found.tape is not None) for found in context)

    def _moves_at_start(self, node: Node) -> bool:
        """Whether the copies of the edge into `node` stand at the beginning of its code."""
        if len(node.predecessors) != 1 or node in self.handlers:
            return False
        return len(node.predecessors[0].successors) > 1

    def final(self, node: Node) -> Node:
        """The node that a jump to `node` really leads to: nodes without code are passed."""
        seen = {node}
        while True:
            if (
                self.schedule.roots[node]
                or node.handler is not None
                or len(node.successors) != 1
                or node in self.schedule.loop_exits
                or node in self.schedule.for_loops
                or node is self.flow.entry
                or node in self.handlers
            ):
                return node
            found = self.schedule.loop_bodies.get(node)
            if found is not None:
                return node
            if node.block is not None and not isinstance(node.block.terminator, Jump):
                return node
            target = node.successors[0]
            if target in seen:
                return node
            here = self.schedule.context(node)
            if self._moves_at_start(node):
                if self.schedule.context(node.predecessors[0]) != here:
                    return node
                if self._moves(node.predecessors[0], node):
                    return node
            if here != self.schedule.context(target) or self._moves(node, target):
                return node
            node = target
            seen.add(node)

    def _moves(self, source: Node, target: Node) -> list[tuple[Phi, Value]]:
        """The copies that the edge needs because a phi and its value are in different variables."""
        slot_of = self.slots.slot_of
        result = []
        for phi, value in self.schedule.copies(source, target):
            if value in slot_of and slot_of[value] == slot_of[phi]:
                continue
            result.append((phi, value))
        return result

    def _plan_tail(self, node: Node) -> None:
        """Find the values computed at the end of `node` for one phi each: they stay on the stack until all
        are there."""
        tail: list[tuple[Phi, Instruction]] = []
        if len(node.successors) == 1 and node.handler is None and node.successors[0] is not node:
            wanted = {value: phi for phi, value in self._moves(node, node.successors[0])}
            roots = self.schedule.roots[node]
            for root in reversed(roots):
                if (
                    root not in wanted
                    or self.schedule.uses.get(root) != 1
                    or root in self.schedule.groups
                    or root in self.schedule.kept
                    or root in self.schedule.recalls
                    or root.op == "catch"
                    or self.slots.slot_of.get(root) is None
                    or not self.schedule.pushes(root)
                ):
                    break
                tail.append((wanted[root], root))
            tail.reverse()
        self.tails[node] = tail

    def _transfer(self, source: Node, target: Node, on_stack: list[tuple[Phi, Instruction]]) -> None:
        """Write the copies into the phis of `target`; the values of `on_stack` have been pushed in this
        order."""
        pushed = {phi for phi, _ in on_stack}
        moves = [(phi, value) for phi, value in self._moves(source, target) if phi not in pushed]
        slot_of = self.slots.slot_of
        # What a move overwrites must not be read by a later one.  Moves that nobody waits for come
        # first; what remains are cycles, which go through the stack.
        while moves:
            read: dict[str, int] = {}
            for _, value in moves:
                if value in slot_of:
                    read[slot_of[value]] = read.get(slot_of[value], 0) + 1
            ready = [(phi, value) for phi, value in moves if read.get(slot_of[phi], 0) == 0]
            if not ready:
                for _, value in moves:
                    self.push(value)
                for phi, _ in reversed(moves):
                    self.asm.store(slot_of[phi])
                break
            for phi, value in ready:
                self.push(value)
                self.asm.store(slot_of[phi])
            done = {phi for phi, _ in ready}
            moves = [(phi, value) for phi, value in moves if phi not in done]
        for phi, _ in reversed(on_stack):
            self.asm.store(slot_of[phi])

    def _drop_iterators(self, before: list[ForLoop], after: list[ForLoop]) -> None:
        common = 0
        while common < min(len(before), len(after)) and before[common] is after[common]:
            common += 1
        if before[common:]:
            self._unprotect()  # the handler may want them
        for found in reversed(before[common:]):
            self.asm.drop_iterator()
            self._take_tape(found)

    def _begin_tape(self, found: ForLoop) -> None:
        """Begin the tape of a loop, in front of it: the tape goes under the iterator."""
        if found.tape is not None:
            self.flush()
            self.asm.build("LIST", 0)

    def _take_tape(self, found: ForLoop) -> None:
        """Put the tape of a loop, behind it, from the stack into a variable."""
        if found.tape is not None:
            self.asm.store(self.slots.slot_of[found.tape])

    # -- nodes ---------------------------------------------------------------------------------------

    def _node(self, node: Node, following: Node | None) -> None:
        asm, schedule = self.asm, self.schedule
        context = schedule.context(node)
        if node in schedule.loop_exits:
            # The interpreter skips the first instruction that is written here: were it on the line behind
            # the loop, tracers would not hear of that line.
            asm.at(schedule.loop_exits[node].value.position)
            asm.end_for(self.labels[node])
            self._take_tape(schedule.loop_exits[node])
            if node.block is not None and node.block.instructions:
                asm.at(node.block.instructions[0].position)
        else:
            asm.place(self.labels[node])
        if self._moves_at_start(node):
            source = node.predecessors[0]
            before = schedule.context(source)
            found = schedule.loop_bodies.get(node)
            if found is not None:
                if found.value in self.slots.slot_of:
                    self.pending = found.value
                else:
                    asm.pop()
            if node in schedule.loop_exits:
                before = before[:-1]
            if before != context or self._moves(source, node):
                self.flush()
                self._drop_iterators(before, context)
                self._transfer(source, node, [])
        tail = self.tails[node]
        roots = schedule.roots[node]
        on_stack = len(roots) - len(tail)
        region = schedule.region_start(node) if node.handler is not None else None
        region_end = schedule.region_end(node) if node.handler is not None else None
        for k, root in enumerate(roots):
            if k == region:
                self._protect(node)
            self._root(root, k >= on_stack, k == region_end)
        if region == len(roots):
            self._protect(node)
        if asm.reachable:
            self._end(node, following)
        self._unprotect()

    def _protect(self, node: Node) -> None:
        """Begin the region of a node; in front of it, the phis of the handler get their values."""
        assert node.handler is not None
        self.flush()
        self._transfer(node, node.handler, [])
        depth = self._height(self.schedule.context(node.handler))
        self.asm.protect(self.labels[node.handler], depth)

    def _unprotect(self) -> None:
        if self.asm.region is not None:
            self.asm.unprotect()

    def _root(self, root: Instruction, leave: bool, ends_region: bool) -> None:
        asm, schedule = self.asm, self.schedule
        if root in schedule.kept:
            self._begin_tape(schedule.kept[root])
        self.tree(root)
        if ends_region:
            self._unprotect()
        if schedule.forms[root].function in (i._pop_except_, i._release_):
            self.forget(root)
        if root in schedule.kept:
            if schedule.forms[root].function is not i._iter_:
                asm.enter_loop_with_iterator()
            return
        if leave:
            return
        if root in schedule.groups:
            for part in schedule.groups[root]:
                if part is not None and schedule.uses.get(part):
                    self.flush()
                    self.pending = part
                else:
                    self.flush()
                    asm.pop()
            return
        if root in schedule.cells:
            return
        used = bool(schedule.uses.get(root))
        if schedule.pushes(root):
            if used:
                self.pending = root
            else:
                asm.pop()
        elif used:
            asm.const(None)
            self.pending = root

    def forget(self, root: Instruction) -> None:
        """Empty the variables of exceptions whose handling ends at `root`, or of what is let go of there."""
        for name in self.slots.forgotten.get(root, ()):
            self.asm.const(None)
            self.asm.store(name)

    def flush(self) -> None:
        """Put the pending value into its variable."""
        if self.pending is not None:
            value, self.pending = self.pending, None
            self.asm.store(self.slots.slot_of[value])

    # -- values --------------------------------------------------------------------------------------

    def push(self, value: Value) -> None:
        """Push a value, or leave it where it is if it is on top of the stack already."""
        if value is self.pending:
            self.pending = None
            if self.schedule.uses.get(value) == 1:
                return  # it is there already
            self.asm.store(self.slots.slot_of[value])
        self.flush()
        if isinstance(value, Const):
            self.asm.const(value.value)
        elif isinstance(value, Undef):
            self.asm.const(None)
        elif value in self.schedule.cells:
            self.asm.load_closure(*self.schedule.cells[value])
        elif value in self.schedule.absorbed:
            assert isinstance(value, Instruction)
            self.tree(value)
            if not self.schedule.pushes(value):
                self.asm.const(None)
        else:
            self.asm.load(self.slots.slot_of[value])

    def tree(self, instruction: Instruction) -> None:
        """Write the code of an instruction, operands first."""
        schedule = self.schedule
        steps = self.refined(instruction)
        if not steps or isinstance(steps[0], tuple):
            self.flush()
        for step in steps:
            if isinstance(step, Value):
                self.asm.at(instruction.position)
                self.push(step)
            elif isinstance(step, Callee):
                self.callee(step, instruction)
            else:
                self.flush()
                self.asm.at(instruction.position)
                self.step(step, instruction)
        if schedule.drops_container(instruction):
            self.asm.pop()
        elif schedule.pushes(instruction) or instruction in schedule.groups:
            self.asm.say(promise_of(instruction, schedule.forms[instruction].function))

    def refined(self, instruction: Instruction) -> list[Step]:
        """The steps of a plan, fused with those of its operands where there is an opcode for both."""
        schedule = self.schedule
        form = schedule.forms[instruction]
        steps = schedule.plans[instruction].steps
        function, arguments = form.function, form.arguments
        if form.keywords:
            return steps
        if function is i._iter_ and instruction in schedule.kept:
            return [*steps[:-1], ("enter_loop",)]
        if (function is operator.getitem or function is operator.setitem) and self._is_slice(arguments[1]):
            index = schedule.resolve(arguments[1])
            parts = schedule.plans[index].steps[:2]
            before = list(steps[:-2])
            return [*before, *parts, ("get_slice",) if function is operator.getitem else ("set_slice",)]
        if function is i._apply_ and len(arguments) == 3:
            merge = schedule.resolve(arguments[2])
            inner = schedule.forms.get(merge)
            if (
                inner is not None
                and merge in schedule.absorbed
                and merge in schedule.chained
                and inner.function is i._dict_merge_
                and schedule.resolve(inner.arguments[2]) is schedule.resolve(arguments[0])
                and not isinstance(arguments[0], Const)
                and schedule.resolve(arguments[0]) not in schedule.absorbed
            ):
                return [
                    *steps[:2],
                    schedule.resolve(inner.arguments[0]),
                    schedule.resolve(inner.arguments[1]),
                    ("dict_merge",),
                    ("call_ex", True),
                ]
        if function is i._bool_ and PY313:
            compared = self._fusable_compare(arguments[0])
            if compared is not None:
                return compared
        if function is operator.not_ and PY313 and self._makes_bool(arguments[0]):
            return [steps[0], ("not_", True)]
        return steps

    def _is_slice(self, value: Value) -> bool:
        value = self.schedule.resolve(value)
        form = self.schedule.forms.get(value)
        return (
            form is not None
            and value in self.schedule.absorbed
            and form.function is i._new_
            and len(form.arguments) == 3
            and isinstance(form.arguments[0], Const)
            and form.arguments[0].value is slice
        )

    def _fusable_compare(self, value: Value) -> list[Step] | None:
        """The steps of a comparison that is written where it is used, and whose result is made a bool at
        once."""
        form = self._absorbed_form(value)
        if form is None or id(form.function) not in COMPARE or len(form.arguments) != 2 or form.keywords:
            return None
        steps = self.schedule.plans[self.schedule.resolve(value)].steps
        return [*steps[:-1], ("compare", COMPARE[id(form.function)], True)]

    def _absorbed_form(self, value: Value) -> Form | None:
        value = self.schedule.resolve(value)
        return self.schedule.forms.get(value) if value in self.schedule.absorbed else None

    def _makes_bool(self, value: Value) -> bool:
        form = self._absorbed_form(value)
        return form is not None and not form.keywords and id(form.function) in BOOLS

    def callee(self, callee: Callee, call: Instruction) -> None:
        """Push the function of a call: with NULL, or as a method and its receiver."""
        asm, schedule, value = self.asm, self.schedule, callee.value
        form = self._absorbed_form(value)
        if form is not None and not form.keywords:
            assert isinstance(value, Instruction)
            if form.function is i._global_:
                self.flush()
                asm.at(value.position)
                name = form.arguments[0]
                assert isinstance(name, Const) and isinstance(name.value, str)
                asm.global_callable(name.value)
                return
            if form.function is i._getattr_ and isinstance(form.arguments[1], Const) and not callee.is_alone:
                method = form.arguments[1].value
                if isinstance(method, str):
                    asm.at(value.position)
                    self.push(schedule.resolve(form.arguments[0]))
                    asm.at(value.position)
                    asm.method(method)
                    return
        if not PY313 and value is self.pending:
            # The NULL goes under the value that is on the stack already.
            self.pending = None
            if schedule.uses.get(value) == 1:
                asm.at(call.position)
                asm.null_before()
                asm.swap(2)
                return
            asm.store(self.slots.slot_of[value])
        self.flush()
        asm.at(call.position)
        asm.null_before()
        self.push(value)
        asm.null_after()

    def step(self, step: tuple[Any, ...], instruction: Instruction) -> None:
        """Write a step that is not a value."""
        name, *arguments = step
        if name == "reraise":
            self.forget(instruction)
        if name in SEQUENCES:
            SEQUENCES[name](self.asm, arguments[0])
        elif name == "recall":
            # There is a value, so what is written here never jumps.
            self.asm.for_iter(self.labels[arguments[0].exit])
        elif name == "wind":
            outer = self.schedule.context(arguments[0].node)[:-1]
            self.asm.extend("LIST_APPEND", self.asm.depth - self._height(outer) - 1)
        elif name == "padding":
            for _ in range(self.asm.keyword_padding):
                self.asm.const(None)
        elif name == "unpadding":
            for _ in range(self.asm.keyword_padding + 1):
                self.asm.drop_below()
        else:
            getattr(self.asm, name)(*arguments)

    # -- ends of nodes -------------------------------------------------------------------------------

    def _end(self, node: Node, following: Node | None) -> None:
        asm, schedule = self.asm, self.schedule
        found = schedule.for_loops.get(node)
        if found is not None:
            self.flush()
            asm.at(found.value.position)
            asm.for_iter(self.labels[found.exit])
            asm.say(promise(found.value.type))
            self.go(found.body, following)
            return
        terminator = node.block.terminator if node.block is not None else None
        if terminator is not None and not isinstance(terminator, Jump):
            asm.at(terminator.position)
        if len(node.successors) == 1 and (terminator is None or isinstance(terminator, (Jump, Switch))):
            self._leave(node, following)
        elif isinstance(terminator, Branch):
            self._branch(node, terminator, following)
        elif isinstance(terminator, Switch):
            self._switch(node, terminator, following)
        elif isinstance(terminator, Return):
            self._return(node, terminator)
        elif isinstance(terminator, Raise):
            if not terminator.values:
                self.flush()
            for value in terminator.values:
                self.push(schedule.resolve(value))
            asm.at(terminator.position)
            for variable in self.slots.of_exception(terminator, node.block):
                asm.const(None)
                asm.store(variable)
            asm.raise_(len(terminator.values))
        else:
            assert isinstance(terminator, Unreachable), terminator
            self.flush()
            asm.const(AssertionError)  # the class: code with an instance could not be kept on disk
            asm.raise_(1)

    def _leave(self, node: Node, following: Node | None) -> None:
        """Write the end of a node with one successor: moves, iterators, jump."""
        schedule = self.schedule
        target = node.successors[0]
        if not self._moves_at_start(target):
            tail = self.tails[node]
            self._transfer(node, target, tail)
            self.flush()
            before, after = schedule.context(node), schedule.context(target)
            entered = schedule.for_loops.get(target)
            if entered is not None and entered not in before:
                if entered.kept_from is None:
                    self._drop_iterators(before, after[:-1])
                    self._begin_tape(entered)
                    self.push(entered.iterator)
                    self.asm.enter_loop_with_iterator()
            else:
                self._drop_iterators(before, after)
        self.flush()
        self.go(target, following)

    def go(self, target: Node, following: Node | None) -> None:
        """Let control go on at `target`."""
        target = self.final(target)
        if target is not following:
            self.flush()
            self.asm.jump(self.labels[target])

    def _branch(self, node: Node, branch: Branch, following: Node | None) -> None:
        true, false = self.final(node.targets[branch.true]), self.final(node.targets[branch.false])
        condition = self.schedule.resolve(branch.condition)
        if true is false:
            self.push(condition)
            self.asm.pop()
            self.go(true, following)
            return
        test = self.condition(condition, False)
        self.asm.at(branch.position)
        if following is true:
            self.asm.jump_if(INVERSE[test], self.labels[false])
        elif following is false:
            self.asm.jump_if(test, self.labels[true])
        elif self.labels[true].placed and not self.labels[false].placed:
            self.asm.jump_if(INVERSE[test], self.labels[false])
            self.asm.jump(self.labels[true])
        else:
            self.asm.jump_if(test, self.labels[true])
            self.asm.jump(self.labels[false])

    def condition(self, value: Value, any_object: bool) -> str:
        """Push what a branch on `value` tests; the result says which kind of jump is taken if `value` is
        true.

        `any_object`: the value need not be a bool.
        """
        schedule, asm = self.schedule, self.asm
        value = schedule.resolve(value)
        form = self._absorbed_form(value)
        if form is not None and not form.keywords and isinstance(value, Instruction):
            function, arguments = form.function, form.arguments
            if function is operator.not_ and len(arguments) == 1:
                asm.at(value.position)
                return INVERSE[self.condition(arguments[0], True)]
            if function is i._bool_ and len(arguments) == 1:
                asm.at(value.position)
                return self.condition(arguments[0], True)
            if (function is operator.is_ or function is operator.is_not) and len(arguments) == 2:
                other = arguments[1]
                if isinstance(other, Const) and other.value is None:
                    asm.at(value.position)
                    self.push(schedule.resolve(arguments[0]))
                    asm.at(value.position)
                    return "NONE" if function is operator.is_ else "NOT_NONE"
            compared = self._fusable_compare(value)
            if compared is not None:
                for step in compared:
                    asm.at(value.position)
                    if isinstance(step, Value):
                        self.push(step)
                    else:
                        assert isinstance(step, tuple)
                        self.flush()
                        self.step(step, value)
                return "TRUE"
            if self._makes_bool(value):
                self.push(value)
                return "TRUE"
        self.push(value)
        if any_object and PY313:
            asm.truth()
        return "TRUE"

    def _switch(self, node: Node, switch: Switch, following: Node | None) -> None:
        """Write a switch as a tree of comparisons; only the last of them falls through."""
        asm = self.asm
        value = self.schedule.resolve(switch.value)
        cases = sorted(switch.cases.items())
        default = node.targets[switch.default]
        unreachable = switch.default.terminator.__class__ is Unreachable and not switch.default.instructions
        if len(cases) > 1:
            self.flush()

        def write(low: int, high: int, following: Node | None) -> None:
            if high - low == 1:
                key, block = cases[low]
                target = node.targets[block]
                if unreachable and len(cases) > 1:
                    self.go(target, following)
                    return
                self.push(value)
                asm.const(key)
                asm.compare("eq", True)
                there, otherwise = self.final(target), self.final(default)
                if there is otherwise:
                    asm.pop()
                elif there is following:
                    asm.jump_if("FALSE", self.labels[otherwise])
                else:
                    asm.jump_if("TRUE", self.labels[there])
                    self.go(otherwise, following)
                    return
                self.go(there, following)
                return
            middle = (low + high) // 2
            upper = Label()
            self.push(value)
            asm.const(cases[middle][0])
            asm.compare("lt", True)
            asm.jump_if("FALSE", upper)
            write(low, middle, None)
            asm.place(upper)
            write(middle, high, following)

        if cases:
            write(0, len(cases), following)
        else:
            self.flush()
            self.go(default, following)

    def _return(self, node: Node, terminator: Return) -> None:
        asm, schedule = self.asm, self.schedule
        value = schedule.resolve(terminator.value)
        context = schedule.context(node)[::-1]
        if isinstance(value, Const):
            self.flush()
            self._unprotect()
            for found in context:
                asm.drop_iterator()
                if found.tape is not None:
                    asm.pop()
            asm.ret_const(value.value)
            return
        self.push(value)
        asm.at(terminator.position)
        self._unprotect()
        for found in context:
            asm.drop_iterator_below()
            if found.tape is not None:
                asm.drop_below()
        asm.ret()
