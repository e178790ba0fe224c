"""Calls with the elements of a tuple of known length become calls with so many arguments.

before::

    %t = call _new_(tuple, %p, %v, %m)
    %b: Any = call _apply_(Body, %t)

after::

    %t = call _new_(tuple, %p, %v, %m)
    %b: Any = call _new_(Body, %p, %v, %m)

So what is called is known as well as if it had been written out, and no tuple of cotangents is taken apart.

Where other arguments stand beside those of the tuple, Python gathers all in a list first::

    %l = call _new_(list, %a)
    %1 = call _list_extend_(%l, %t)            # %t: Tuple[Any, Any]
    %2 = call _list_append_(%l, %x)
    %3 = call _list_to_tuple_(%l)
    %b: Any = call _apply_(f, %3)

The list is made only where a guess was wrong before it was complete, with what was in it by then.  As long as
there is something on the way whose type may still be guessed, the list stays: the rest of the function behind
such a guess is given it.

Of a dict whose elements are arguments by keyword Python makes a copy first, which nobody else sees::

    %m = call _new_(dict)
    %1 = call _dict_merge_(%m, %d, f)          # %d: dict
    %b: Any = call _apply_(f, %t, %m)

The call is given the dict itself.  Where the dicts are displays that nobody changes, as what ``**kwargs``
gathers is in a function that hands it on, the call is given what is in them::

    %d = call _new_(dict, 'gain', %g)
    %m = call _new_(dict, 'rate', %r)
    %1 = call _dict_merge_(%m, %d, f)
    %b: Any = call _apply_(f, %t, %m)          # call f(%p, rate=%r, gain=%g)

Needs types.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any

from adbc.cpython.arity import is_misfit
from adbc.ir.graph import Block, Graph
from adbc.ir.intrinsics import (
    _apply_,
    _bool_,
    _dict_merge_,
    _getattr_,
    _list_append_,
    _list_extend_,
    _list_to_tuple_,
    _new_,
    _project_,
    _takes_named_,
)
from adbc.ir.terminators import Jump
from adbc.ir.traverse import predecessors, remove_unreachable
from adbc.ir.traverse import uses as uses_of
from adbc.ir.values import Const, Instruction, Value
from adbc.passes.query import constant, drop, target
from adbc.passes.typed.guards import is_guessed
from adbc.types.inference import is_rest, type_of
from adbc.types.lattice import NONE, Exact, TupleType

__all__ = ["spread_calls"]


def spread_calls(graph: Graph, normal: Callable[[Instruction], object], *, is_guarded: bool = True) -> bool:
    """Write spread tuples of known length as so many arguments, in place; returns whether anything changed.

    normal: brings a call into normal form.  is_guarded: whether all guards stand in the graph.
    """
    changed = _pass_by_copies(graph)
    if is_guarded:
        changed |= _sink_empty_dicts(graph)
    named: dict[Instruction, tuple[dict[str, Value], set[Instruction]]] = {}
    gone: set[Instruction] = set()
    users: dict[Value, list[Any]] | None = None
    for call in [
        call for call in graph.instructions() if target(call) is _apply_ and len(call.operands) == 4
    ]:
        users = uses_of(graph) if users is None else users
        found_names = _named(call, users, is_guarded) if _may_be_known(call.operands[2]) else None
        if found_names is not None:
            named[call] = found_names
        elif _hand_dict(call, users):
            users, changed = None, True
    for block in graph.blocks:
        calls: list[Instruction] = []
        for call in [*block.instructions]:
            container = _spread(call, named)
            elements = _elements(container)
            if elements is None and block.handler is None:
                projections = None if container is None else _projections(call, container)
                if projections is not None:
                    calls += projections
                    elements = [*projections]
                elif isinstance(container, Instruction) and target(container) is _list_to_tuple_:
                    users = uses_of(graph) if users is None else users
                    found = _gathered(call, container, users, is_guarded)
                    if found is not None:
                        elements, projections, steps = found
                        calls = [c for c in calls if c not in steps] + projections
                        users = None
            calls.append(call)
            arguments, merging = named.get(call, ({}, set()))
            # What C code does not take is left to raise, as it stands.
            function = constant(call.operands[1]) if len(call.operands) > 1 else None
            if elements is not None and not is_misfit(function, len(elements), [*arguments]):
                gone |= merging
                call.operands = [call.operands[1], *elements, *arguments.values()]
                call.keywords = tuple(arguments)
                normal(call)
                changed = True
        block.instructions = calls
    if drop(graph, gone):
        remove_unreachable(graph)
    return changed


def _pass_by_copies(graph: Graph) -> bool:
    """Read the items of dicts in place of those of copies, which are made for the purpose; returns whether
    there were any."""
    calls = [call for call in graph.instructions() if target(call) is _takes_named_]
    users = uses_of(graph) if calls else {}
    changed = False
    for call in calls:
        merged, block = call.operands[-1], call.block
        if target(merged) is not _new_ or not isinstance(merged, Instruction) or block is None:
            continue
        if len(merged.operands) > 2:  # it is given something beside
            continue
        step = block.instructions[block.instructions.index(call) - 1]
        if target(step) is not _dict_merge_ or step.operands[1] is not merged:
            continue
        if type_of(step.operands[2]) != Exact(dict) or not all(
            user is step or user in _reading(call, merged) for user in users[merged]
        ):
            continue
        block.instructions.remove(step)
        graph.replace_uses({merged: step.operands[2]})
        changed = True
    return changed


def _sink_empty_dicts(graph: Graph) -> bool:
    """Make empty dicts that are left of copies only where a guess was wrong; returns whether there were
    any."""
    made = [call for call in graph.instructions() if target(call) is _new_ and len(call.operands) == 2]
    dicts = [call for call in made if constant(call.operands[1]) is dict]
    users = uses_of(graph) if dicts else {}
    changed = False
    for call in dicts:
        rests = [user for user in users.get(call, ()) if isinstance(user, Instruction) and is_rest(user)]
        block = _block_of(call)
        if len(rests) < len(users.get(call, ())) or block.handler is not None:
            continue
        for rest in rests:
            _remake(call, rest, ())
        block.instructions.remove(call)
        changed = True
    return changed


def _reading(call: Instruction, merged: Value) -> list[Instruction]:
    """`call`, and what reads items of `merged` directly behind it."""
    assert call.block is not None
    found = [call]
    for reading in call.block.instructions[call.block.instructions.index(call) + 1 :]:
        is_method = bool(found) and reading.operands[:1] == [found[-1]]
        if not is_method and (reading.op != "call" or reading.operands[1] is not merged):
            break
        found.append(reading)
    return found


def _hand_dict(call: Instruction, users: dict[Value, list[Any]]) -> bool:
    """Let `call`, which is given a copy of a dict, made in front of it for the purpose, be given the dict;
    whether it was one.  Whoever is called gets a copy."""
    merged, block = call.operands[3], call.block
    if not isinstance(merged, Instruction) or target(merged) is not _new_ or block is None or block.handler:
        return False
    step, *others = users[merged]
    if others != [call] or target(step) is not _dict_merge_ or users[step] or step.operands[1] is not merged:
        return False
    at = block.instructions.index(call)
    is_empty = len(merged.operands) == 2 and constant(merged.operands[1]) is dict
    if not is_empty or merged.block is not block or block.instructions[at - 1] is not step:
        return False
    given = step.operands[2]
    if type_of(given) != Exact(dict):
        return False
    call.operands[3] = given
    block.instructions.remove(step)  # the empty dict stays: what is guessed in between may lead elsewhere
    return True


def _named(
    call: Instruction, users: dict[Value, list[Any]], is_guarded: bool
) -> tuple[dict[str, Value], set[Instruction]] | None:
    """The arguments by keyword of `call`, which is given a dict that is made for it of displays that nobody
    changes, and the steps that make it; None if there may be others, or if a guard that is put between these
    steps might lead to where the dict is needed."""
    merged = call.operands[3]
    found = _items(merged)
    if found is None:
        return None
    *steps, last = users[merged]
    between = _straight(merged, call) if last is call else None
    if between is None or not between.issuperset(steps):
        return None
    if not is_guarded and any(is_guessed(v) for v in between.difference(steps)):
        return None
    for step in steps:
        if target(step) is not _dict_merge_ or step.operands[1] is not merged or users[step]:
            return None
        source = step.operands[2]
        items = _items(source)
        if items is None or not found.keys().isdisjoint(items):
            return None
        if any(user is not step and not _only_reads(user) for user in users[source]):
            return None
        found |= items
    return found, set(steps)


def _straight(made: Any, call: Instruction) -> set[Instruction] | None:
    """What is run between `made` and `call` if that is the same each time, one behind the other; else None.
    Where exceptions are caught each has a block of its own."""
    block: Block = made.block
    between = {*block.instructions[block.instructions.index(made) + 1 :]}
    while block is not call.block:
        end = block.terminator
        if not isinstance(end, Jump) or end.target.phis:
            return None
        if [b for b in block.graph.blocks if end.target in b.successors] != [block]:
            return None
        block = end.target
        between.update(block.instructions)
    return between.difference(block.instructions[block.instructions.index(call) :])


def _items(made: Value) -> dict[str, Value] | None:
    """What stands in `made`, a display of a dict of which all keys are known names."""
    if (
        not isinstance(made, Instruction)
        or target(made) is not _new_
        or constant(made.operands[1]) is not dict
    ):
        return None
    keys = [constant(key) for key in made.operands[2::2]]
    is_named = all(type(key) is str for key in keys) and len(set(keys)) == len(keys)
    return dict(zip(keys, made.operands[3::2], strict=True)) if is_named else None


_READING: frozenset[Any] = frozenset(
    {_bool_, len, dict.get, dict.keys, dict.values, dict.items, dict.copy, operator.contains}
)


def _only_reads(user: Any) -> bool:
    """Whether `user`, of a dict, leaves it as it is: what is left of a function behind a wrong guess is not
    run before what follows here."""
    if not isinstance(user, Instruction):
        return False
    function = target(user)
    if function is _dict_merge_ or function is operator.getitem or is_rest(user):
        return True
    if function is _getattr_:
        return constant(user.operands[2]) in ("get", "keys", "values", "items", "copy")
    return any(function is reading for reading in _READING)


def _spread(
    call: Instruction, named: dict[Instruction, tuple[dict[str, Value], set[Instruction]]]
) -> Value | None:
    """The tuple whose elements are all the arguments of `call` by position, if there is one; `named` are
    those by keyword."""
    if target(call) is not _apply_ or call.keywords:
        return None
    if len(call.operands) == 4 and call not in named and type_of(call.operands[3]) != NONE:
        return None
    return call.operands[2]


def _may_be_known(container: Value) -> bool:
    """Whether the elements of `container`, the arguments of a call by position, may be known one by one."""
    is_gathered = isinstance(container, Instruction) and target(container) is _list_to_tuple_
    return is_gathered or isinstance(type_of(container), TupleType)


def _elements(made: Value | None) -> list[Value] | None:
    if not isinstance(made, Instruction) or target(made) is not _new_:
        return None
    kind = made.operands[1]
    return made.operands[2:] if isinstance(kind, Const) and kind.value is tuple else None


def _gathered(
    call: Instruction, container: Instruction, users: dict[Value, list[Any]], is_guarded: bool
) -> tuple[list[Value], list[Instruction], set[Instruction]] | None:
    """The arguments of `call` that are gathered in a list, of which `container` is made, those of them that
    must still be taken from tuples, and the steps that are left out; None if there may be other arguments."""
    made = container.operands[1]
    if not isinstance(made, Instruction) or target(made) is not _new_ or users[container] != [call]:
        return None
    kind = made.operands[1]
    if not (isinstance(kind, Const) and kind.value is list) or made.block is None or made.block.handler:
        return None
    above, straight = _way(made, call)
    taken: dict[Instruction, list[Instruction]] = {}
    rests = []
    for user in users[made]:
        if not isinstance(user, Instruction):
            return None
        if is_rest(user):
            rests.append(user)
        elif user is not container:
            if user.block not in straight or user.operands[1] is not made or users.get(user):
                return None
            found = _step(user, call)
            if found is None:
                return None
            taken[user] = found
    steps = sorted(taken, key=lambda step: straight.index(_block_of(step)))  # in a block they are in order
    if not is_guarded:
        passed = {container, call, *taken}
        for block in above:
            first = block.instructions.index(made) + 1 if block is made.block else 0
            end = block.instructions.index(call) if block is call.block else len(block.instructions)
            if any(is_guessed(v) and v not in passed for v in block.instructions[first:end]):
                return None
    sources = predecessors(made.block.graph)
    before: dict[Instruction, list[Instruction]] = {}
    for rest in rests:
        tested = sources.get(_block_of(rest), [])
        if len(tested) != 1 or tested[0] not in above or rest.block in above:
            return None
        at = straight.index(tested[0]) if tested[0] in straight else -1
        before[rest] = [step for step in steps if straight.index(_block_of(step)) <= at]
    for rest, done in before.items():
        _remake(made, rest, done)
    for gone in (made, *steps):
        if gone.block is not call.block:
            _block_of(gone).instructions.remove(gone)
    elements, projections = [*made.operands[2:]], []
    for step in steps:
        elements += taken[step] if target(step) is _list_extend_ else [step.operands[2]]
        projections += taken[step]
    return elements, projections, {made, container, *steps}


def _way(made: Instruction, call: Instruction) -> tuple[set[Block], list[Block]]:
    """The blocks that are passed from `made` to `call`, and the last of these, in order: what leads away from
    these leads out."""
    first = _block_of(made)
    sources = predecessors(first.graph)
    straight = [_block_of(call)]
    while straight[0] is not first and len(sources.get(straight[0], ())) == 1:
        straight.insert(0, sources[straight[0]][0])
    above = {first, *straight}
    waiting = [] if straight[0] is first else [*sources.get(straight[0], ())]
    while waiting:
        block = waiting.pop()
        if block not in above:
            above.add(block)
            waiting += sources.get(block, ())
    return above, straight


def _block_of(instruction: Instruction) -> Block:
    assert instruction.block is not None
    return instruction.block


def _step(step: Instruction, call: Instruction) -> list[Instruction] | None:
    """What `step` puts into the list, as far as it is to be taken from a tuple in front of `call`; None if it
    is not known how many elements these are."""
    if target(step) is _list_append_:
        return []
    return _projections(call, step.operands[2]) if target(step) is _list_extend_ else None


def _remake(made: Instruction, rest: Instruction, steps: Sequence[Instruction]) -> None:
    """Give `rest` a list of its own, of what was in the list that is `made` behind `steps`."""
    block = _block_of(rest)
    elements = [*made.operands]
    at = block.instructions.index(rest)
    for step in steps:
        found = _step(step, rest)
        assert found is not None
        block.instructions[at:at] = found
        at += len(found)
        elements += found if target(step) is _list_extend_ else [step.operands[2]]
    own = Instruction("call", elements, type=made.type, position=made.position, name=made.name)
    own.block = block
    block.instructions.insert(at, own)
    rest.operands = [own if v is made else v for v in rest.operands]


def _projections(call: Instruction, container: Value) -> list[Instruction] | None:
    known = type_of(container)
    if not isinstance(known, TupleType):
        return None
    found = []
    for i, type in enumerate(known.elements):
        element = Instruction(
            "call", [Const(_project_), container, Const(i)], type=type, position=call.position
        )
        element.block = call.block
        found.append(element)
    return found
