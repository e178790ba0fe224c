"""A mapping behind two stars in a call is read item by item, as the function takes them.

before::                                     after::

    %m = call _new_(dict)                        %m = call _new_(dict)
    call _dict_merge_(%m, %d, model)             call _dict_merge_(%m, %d, model)
    %r = call _apply_(model, %t, %m)             call _takes_named_(model, 1, (), ('a', 'b'), 1, %m)
                                                 %a = call operator.getitem(%m, 'a')
                                                 %g = call _getattr_(%m, 'get')
                                                 %b = call %g('b', 2.0)
                                                 %r = call model(%x, a=%a, b=%b)

where `model` is known and has two parameters beside those that `%t`, a display of a tuple, has values for,
the last one with a default.  Any other names are an error, which the call raises.  If `%d` is a dict it is
read itself, and the copy is not made (`spreads`).
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence

from adbc.ir.graph import Graph
from adbc.ir.intrinsics import _apply_, _dict_merge_, _getattr_, _new_, _takes_named_
from adbc.ir.traverse import uses
from adbc.ir.values import Const, Instruction, Value
from adbc.passes.normal.spread_sequences import MOST, Signature, put_in
from adbc.passes.query import constant, target

__all__ = ["spread_mappings"]

Users = Mapping[Value, Sequence[object]]


def spread_mappings(
    graph: Graph,
    signature: Callable[[Value], Signature | None],
    normal: Callable[[Instruction], object],
    is_dict: Callable[[Value], bool] = lambda value: False,
) -> bool:
    """Read the items of what stands behind two stars one by one, in place; returns whether there were any.

    signature: what a function takes.  normal: brings a call into normal form.  is_dict: whether a value is
    known to be a dict, which is read itself.
    """
    calls = [call for call in graph.instructions() if target(call) is _apply_ and len(call.operands) == 4]
    users = uses(graph) if calls else {}
    changed = False
    for call in calls:
        if call.block is None or call.block.handler is not None:  # only what comes last may raise there
            continue
        merging = None if is_dict(call.operands[3]) else _merged(call, users)
        known = signature(call.operands[1]) if merging is not None or is_dict(call.operands[3]) else None
        elements = _elements(call.operands[2])
        if known is not None and elements is not None:
            changed |= _read_items(call, merging, known, elements, normal)
    return changed


def _elements(container: Value) -> list[Value] | None:
    """The arguments by position, if they are written down one by one."""
    if isinstance(container, Const):
        return [*map(Const, container.value)] if type(container.value) is tuple else None
    is_display = target(container) is _new_ and constant(container.operands[1]) is tuple  # type: ignore[attr-defined]
    return container.operands[2:] if is_display else None  # type: ignore[attr-defined]


def _merged(call: Instruction, users: Users) -> Instruction | None:
    """What puts the only mapping that is spread into the dict of arguments by keyword of `call`, just in
    front of that."""
    made, block = call.operands[3], call.block
    if not isinstance(made, Instruction) or target(made) is not _new_:
        return None
    if constant(made.operands[1]) is not dict:
        return None
    if block is None or made.block is not block:
        return None
    merging = [user for user in users.get(made, ()) if user is not call]
    at = block.instructions.index(call)
    if at == 0 or merging != [block.instructions[at - 1]]:
        return None
    step = block.instructions[at - 1]
    if target(step) is not _dict_merge_ or step.operands[1] is not made or users.get(step):
        return None
    source = step.operands[2]
    is_display = target(source) is _new_ and constant(source.operands[1]) is dict  # type: ignore[attr-defined]
    return None if is_display else step  # what is in a display is looked at by `spreads`


def _read_items(
    call: Instruction,
    merging: Instruction | None,
    known: Signature,
    elements: Sequence[Value],
    normal: Callable[[Instruction], object],
) -> bool:
    """Let `call` be given items one by one, of what `merging` copies or of its dict, if it may be."""
    function, items = call.operands[1], call.operands[3]
    given: dict[str, Value] | None = {} if merging is None else _given(items)
    if given is None or len(elements) > len(known.positional):
        return False
    by_name = (*known.positional[len(elements) :], *known.named)
    left = [name for name in by_name if name not in given]
    required = [name for name in left if name not in known.defaults]
    names = required + [name for name in left if name in known.defaults]
    if known.only > len(elements) or not 0 < len(left) <= MOST or not {*given} <= {*by_name}:
        return False
    if merging is not None and given:  # a dict of what is spread alone
        assert call.block is not None
        call.block.instructions.remove(items)  # type: ignore[arg-type]  # a display
        items = merging.operands[1] = put_in(merging, [Const(_new_), Const(dict)])
    taken = [len(elements) + known.bound, tuple(given), tuple(names), len(required)]
    put_in(call, [Const(_takes_named_), known.function or function, *map(Const, taken), items])
    read: dict[str, Value] = {}
    for name in names:
        if name in required:
            read[name] = put_in(call, [Const(operator.getitem), items, Const(name)])
        else:
            get = put_in(call, [Const(_getattr_), items, Const("get")])
            read[name] = put_in(call, [get, Const(name), known.defaults[name]])
    call.operands = [function, *elements, *given.values(), *read.values()]
    call.keywords = (*given, *read)
    normal(call)
    return True


def _given(made: Value) -> dict[str, Value] | None:
    """The arguments by keyword that are written down, in the display `made`."""
    entries = made.operands[2:]  # type: ignore[attr-defined]
    keys = [constant(key) for key in entries[::2]]
    is_named = all(type(key) is str for key in keys) and len({*keys}) == len(keys)
    return dict(zip(keys, entries[1::2], strict=True)) if is_named else None
