"""What generated code needs at run time in both modes, as the builders see it.

The runtime stands above the builders, so it hands them its functions in records.  Each field that is a
function is written into generated code as a constant; docstrings say how it is called there.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from adbc.ir.graph import Graph
from adbc.passes.derived.strong_zeros import Strong
from adbc.records import record
from adbc.types.callsites import Binding, Knowledge
from adbc.types.decisions import Decisions
from adbc.types.lattice import AbstractType

__all__ = ["CommonSupport"]


@record(frozen=True, kw_only=True)
class CommonSupport:
    """What generated code of either mode needs at run time.

    `c` stands before the name of a value for its companion: its tangent, or its shadow.
    """

    knowledge: Knowledge
    complete: Callable[[Graph], Graph]
    """complete(graph): types the values that a builder has left without a type (`types.completion`), in
    place."""
    derived: Callable[[Binding, Sequence[AbstractType], Sequence[int]], Any]
    """The entry of a function's derived rule, by parameter types and activities, perhaps not built yet.  If
    it `takes_function`, the function and its companion stand behind the context."""
    partial: Callable[[Any, int], Graph | None]
    """partial(row, i): the graph of partial derivative number `i` of a scalar rule, one block in normal
    form; or None"""
    rule: Callable[[Any], Callable[..., Any]]
    """The frule or rrule of a row: rule(xs, cxs, options) -> (out, cout[, pullback])"""
    call: Callable[..., Any]
    """call(context, keywords, f, cf, xs, cxs) -> (out, cout[, pullback]); pullback(bout) -> (bf, *bxs)"""
    call_with_displays: Callable[..., Any]
    """call_with_displays(context, keywords, f, cf, xs, cxs, places): as `call`; the arguments at `places` are
    displays of constants, which nobody else has"""
    row_handler: Callable[[object], Callable[..., Any] | None]
    """row_handler(function): what `protocol` gives, for another function that has rules"""
    protocol: Callable[[object], Callable[..., Any] | None]
    """The handler of an intrinsic or operator: handler(context, xs, cxs) -> (out, cout[, pullback])."""
    known: Callable[..., Any]
    """known(context, value): the companion of an object that did not come through an argument"""
    kept: Callable[..., Any]
    """kept(context, value): as `known`, of a global that is read by code of a library"""
    given: Callable[..., Any]
    """given(context, value): the companion of what library code has made of constants"""
    instance: Callable[..., Any]
    """instance(context, obj): the companion of a new instance, which has no fields yet"""
    function: Callable[..., Any]
    """function(context, function, cclosure, cdefaults, ckwdefaults): the companion of a function just made"""
    store_global: Callable[..., Any]
    """store_global(context, globals, name, value, cvalue) -> undo; undo(None) -> (bvalue,) puts back what was
    there"""
    store_attribute: Callable[..., Any]
    """store_attribute(context, owner, name, count) -> undo: an attribute of a class or function is set to an
    object without a derivative; undo(None) puts back what was there"""
    check_global: Callable[..., Any]
    """check_global(context, globals, name): refuse to read a number with a derivative as a global"""
    text: Callable[..., Any]
    """text(context, f, xs, cxs): ``f(*xs)``, text made of `xs` or a number read from one of them; raises
    where the text was made from a number with a derivative"""
    passed: Callable[..., Any]
    """passed(context, exception): what `caught` gives, for an exception that nobody looks at there"""
    caught: Callable[..., Any]
    """caught(context, exception): the companion of an exception that a handler was entered with.  If it is a
    refusal, which `passes.normal.refusals` lets pass, the call ends with it, whatever handlers do."""
    item: Callable[..., Any]
    """item(ctuple, index): the companion of an element of a tuple, None if the tuple has no companion"""
    item_slot: Callable[..., Any]
    """item_slot(cl, index[, value]): the companion of what is in a slot of a list or dict; if `value` is
    given, it is what a loop reads there, and may be the end of the loop, which has no companion"""
    check_kept: Callable[..., Any]
    """check_kept(obj, cobj, name): refuses a field of an object that its companion does not have"""
    is_instance: Callable[..., Any]
    """is_instance(x, classes): `isinstance` of an `x` which is asked for its class, that is not known"""
    default_fields: Callable[..., Any]
    """default_fields(ctx, obj, cobj, name): the companion of `obj`, or of its class where only that has the
    attribute"""
    field_slot: Callable[..., Any]
    """field_slot(cobj, name): the companion of what is in a field of an object"""
    record_slot: Callable[..., Any]
    """record_slot(crecord, name): the companion of what is in a field of a record"""
    bound: Callable[..., Any]
    """bound(value, obj, cobj, name): the companion of `value`, a method of `obj` or its field `name`"""
    resumed: Callable[..., Any]
    """resumed(cl, index): the companion of an iterator over a list that has given `index` elements"""
    resumed_view: Callable[..., Any]
    """resumed_view(cd, iterator): the companion of `iterator`, which steps through a dict with companion `cd`
    or through a view of it"""
    keys: Any
    """what stands for the companion of a dict where its keys are read: at each key, that of the key"""
    view: Callable[..., Any]
    """view(cu, index): ``cu[index]``, a view, None if `cu` is None"""
    strong: Strong
    """The products of derivatives in which zero wins (`passes.derived.strong_zeros`)."""
    sink: object
    """Stands for the companion of a constant where it is read (zeros) and written to (nothing happens)."""
    check_slot: Callable[..., Any]
    """check_slot(u, cu): raises `ConstWriteError` unless an active number may be written into `u`"""
    checks_aliases: bool = False
    """Whether rows with a zero derivative are called as rules too, so that they can be checked."""
    watch: Callable[[Any, str], Any] | None = None
    """watch(number, name): `number`, or an error if it is not finite; written behind inlined products"""
    check_type: Callable[[Any, AbstractType, str], object] | None = None
    """check_type(value, type, name): raises unless `value`, the result of a call of `name`, has the type that
    it was taken for"""
    told: Callable[[Decisions], object] | None = None
    """told(decisions): what became of each call of the graph that was built, for those who look inside"""
