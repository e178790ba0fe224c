"""The functions that generated code calls, put together for the builders."""

from __future__ import annotations

import dataclasses
import math
import sys
import types
from collections.abc import Callable, Container, Iterable, Sequence
from typing import Any, Protocol

from adbc.cpython.names import parameters_read
from adbc.errors import AdbcError, UnsupportedError
from adbc.forward import ForwardSupport
from adbc.ir.graph import Graph
from adbc.ir.intrinsics import _real_
from adbc.reverse import Support
from adbc.runtime.build.partials import Partials
from adbc.runtime.calls import exceptions, fields
from adbc.runtime.calls.forward import ForwardCalls
from adbc.runtime.calls.reverse import ReverseCalls
from adbc.runtime.report.debug import Watch
from adbc.runtime.state import slots
from adbc.runtime.state.activity import is_active
from adbc.runtime.state.closures import captured, freevar, freevar_shadow, with_active_defaults
from adbc.runtime.state.context import Context
from adbc.tangents import (
    NO_FDATA,
    NO_TANGENT,
    MutableTangent,
    add,
    fill_tangent,
    fresh_shadow,
    fresh_tangent,
    project,
    slot_rdata,
    slot_tangent,
    zero_tangent,
)
from adbc.tangents.internal import ARRAY_ACCUMULATE
from adbc.tangents.protocol import kind_of
from adbc.tangents.walk import is_address_tangent
from adbc.types import AbstractType
from adbc.types.callsites import Knowledge
from adbc.types.decisions import Decisions

__all__ = ["forward_support", "reverse_support"]

_ABSENT = object()


class Owner(Protocol):
    """Whose code the helpers are for: an engine."""

    @property
    def knowledge(self) -> Knowledge: ...

    @property
    def partials(self) -> Partials: ...

    @property
    def guarded(self) -> Container[tuple[int, str]]: ...

    def static_entry(
        self, binding: Any, types_: Sequence[AbstractType], active: Sequence[int], mode: str
    ) -> Any: ...

    def later(self, name: str, graph: Callable[[], Graph]) -> types.FunctionType: ...


Told = Callable[[Decisions], None]


def reverse_support(
    owner: Owner, calls: ReverseCalls, watch: Watch | None = None, told: Told | None = None
) -> Support:
    """`watch`: what checks the calls of rules, in debug mode.  `told`: see `Support.told`."""
    support = dataclasses.replace(_reverse_support(owner, calls), told=told)
    if watch is None:
        return support
    return dataclasses.replace(support, rule=watch.rrule, values=False, **_watched(watch))


def _reverse_support(owner: Owner, calls: ReverseCalls) -> Support:
    return Support(
        knowledge=owner.knowledge,
        derived=lambda binding, types_, active: owner.static_entry(binding, types_, active, "reverse"),
        partial=owner.partials.partial,
        parameters_read=parameters_read,
        later=owner.later,
        call=calls.call,
        attempt=calls.attempt,
        protocol=calls.handler,
        fresh_shadow=fresh_shadow,
        known=Context.known_shadow,
        instance=Context.instance_shadow,
        caught=exceptions.caught,
        function=function_shadow,
        defaults_pullback=defaults_pullback,
        freevar=freevar,
        freevar_shadow=freevar_shadow,
        store_global=global_store(owner.guarded),
        item=item,
        item_rdata=item,
        append_item=slots.append_item,
        undo_append=slots.undo_append,
        add_to_item=slots.add_to_item,
        add_to_field=slots.add_to_field,
        item_slot=slots.item_slot_shadow,
        field_slot=slots.field_slot_shadow,
        store_item=slots.store_item,
        store_field=slots.store_field,
        restore_item=slots.restore_item,
        restore_field=slots.restore_field,
        set_field=fields.SET.rrule,
        bound=slots.bound_shadow,
        give_array=give_array,
        copied=copied,
        inner=inner,
        fit=fit,
        filled=filled,
        fit_array=fit_array,
        filled_array=filled_array,
        add_to_array=add_to_array,
        transposed=transposed,
        reshaped=reshaped,
        share=share,
        full_array=full_array,
        new_array=new_array,
        as_part=as_part,
        add_to_part=add_to_part,
        give_own=give_own,
        take_own=take_own,
        negate=negate,
        take_array=take_array,
        as_negative_part=as_negative_part,
        take_from_part=take_from_part,
        values=True,
        view=view,
        sink=slots.SINK,
        resumed=slots.resumed_shadow,
        add_to_slot=slots.add_to_slot,
        check_slot=slots.check_slot,
        restore_slot=slots.restore_slot,
        float_rdata=slots.as_float,
        add=add,
        no_tangent=NO_TANGENT,
        no_fdata=NO_FDATA,
    )


def view(shadow: Any, index: Any) -> Any:
    """The same view of a shadow or tangent as of its array: writable, even where NumPy gives it read-only."""
    if shadow is None:
        return None
    result = shadow[index]
    if not result.flags.writeable:
        result.flags.writeable = True
    return result


def give_array(shadow: Any, x: Any, d: Any) -> None:
    """Let the shadow of array `x` grow by `d`; None is the shadow of a constant."""
    if shadow is None:
        return
    is_alike = d.__class__ is shadow.__class__ and d.shape == shadow.shape and d.dtype == shadow.dtype
    if is_alike and (shadow.base is None or shadow.flags.forc) and shadow.dtype.char in "dfDF":
        shadow += d  # no two elements are at one place
    else:
        ARRAY_ACCUMULATE[shadow.__class__](shadow, x, d)


def take_array(shadow: Any, x: Any, d: Any) -> None:
    """Let the shadow of array `x` shrink by `d`."""
    if shadow is None:
        return
    is_alike = d.__class__ is shadow.__class__ and d.shape == shadow.shape and d.dtype == shadow.dtype
    if is_alike and (shadow.base is None or shadow.flags.forc) and shadow.dtype.char in "dfDF":
        shadow -= d  # no two elements are at one place
    else:
        ARRAY_ACCUMULATE[shadow.__class__](shadow, x, -d)


def give_own(shadow: Any, d: Any) -> None:
    """Let `shadow`, of which no two elements are at one place, grow by `d`."""
    if d.__class__ is shadow.__class__ and d.shape == shadow.shape and d.dtype == shadow.dtype:
        shadow += d
    else:
        ARRAY_ACCUMULATE[shadow.__class__](shadow, shadow, d)


def take_own(shadow: Any, d: Any) -> None:
    """The same for ``-d``."""
    if d.__class__ is shadow.__class__ and d.shape == shadow.shape and d.dtype == shadow.dtype:
        shadow -= d
    else:
        ARRAY_ACCUMULATE[shadow.__class__](shadow, shadow, -d)


def negate(d: Any) -> Any:
    """``-d``, written over `d`, which is nobody else's."""
    numpy: Any = sys.modules["numpy"]  # loaded: there is an array
    return numpy.negative(d, out=d)


def inner(d: Any, p: Any) -> Any:
    """The cotangent of a number by which an array has the partial derivative `p`, real as `d` is."""
    if p.__class__ is d.__class__ and p.shape == d.shape:
        numpy: Any = sys.modules["numpy"]  # loaded: there is an array
        return numpy.vdot(d, p)
    return d * p


def copied(x: Any) -> Any:
    return x.copy()


def fit(d: Any, x: Any) -> Any:
    """`d` as a cotangent of `x`, a number or an array; broadcasting undone."""
    if d.__class__ is x.__class__ and d.shape == x.shape and d.dtype == x.dtype:
        return d
    return project(d, x)


def filled(d: Any, x: Any) -> Any:
    """`d`, or zeros like `x`."""
    return zero_tangent(x) if d is None else d


def fit_array(d: Any, shape: tuple[int, ...], code: str) -> Any:
    """`d` as a cotangent of an array of `shape` and of the dtype with this code; broadcasting undone."""
    try:
        if d.dtype.char == code:
            if d.shape == shape:
                return d
            if d.shape:
                return kind_of(d.__class__).summed(d, shape)  # type: ignore[attr-defined]  # of arrays
    except AttributeError:
        pass  # a number of Python
    return project(d, zeros_of(shape, code))


def filled_array(d: Any, shape: tuple[int, ...], code: str) -> Any:
    """`d`, or zeros of that shape and dtype."""
    return zeros_of(shape, code) if d is None else d


def add_to_array(a: Any, b: Any) -> Any:
    """The sum of two cotangents of one array; `a` may be changed."""
    if a is None or b is None:
        return b if a is None else a
    a += b
    return a


def transposed(d: Any) -> Any:
    """The cotangent of what was transposed."""
    return None if d is None else d.T


def reshaped(d: Any, shape: tuple[int, ...]) -> Any:
    """The cotangent of what had `shape` before."""
    return None if d is None else d.reshape(shape)


def share(number: Any, part: tuple[int, ...], whole: tuple[int, ...]) -> Any:
    """`number` times how often each element of an array of shape `part` is in one of shape `whole`."""
    return number if part == whole else number * (math.prod(whole) / max(math.prod(part), 1))


def full_array(number: Any, shape: tuple[int, ...], code: str) -> Any:
    """An array of that shape and dtype, full of `number`."""
    numpy: Any = sys.modules["numpy"]  # loaded: there is an array
    whole = numpy.empty(shape, code)
    whole.fill(number)
    return whole


def new_array(d: Any) -> Any:
    """A copy of a cotangent that somebody else may have."""
    return None if d is None else d.copy()


def as_part(index: Any, d: Any, shape: tuple[int, ...], code: str) -> Any:
    """The cotangent of an array of which the part at `index` has the cotangent `d`."""
    whole = zeros_of(shape, code)
    if d is not None:
        whole[index] = d
    return whole


def add_to_part(whole: Any, index: Any, d: Any, shape: tuple[int, ...], code: str) -> Any:
    """The same, added to `whole`."""
    if whole is None:
        return as_part(index, d, shape, code)
    if d is not None:
        whole[index] += d
    return whole


def as_negative_part(index: Any, d: Any, shape: tuple[int, ...], code: str) -> Any:
    """`as_part` for ``-d``."""
    whole = zeros_of(shape, code)
    if d is not None:
        numpy: Any = sys.modules["numpy"]  # loaded: there is an array
        numpy.negative(d, out=whole[index])
    return whole


def take_from_part(whole: Any, index: Any, d: Any, shape: tuple[int, ...], code: str) -> Any:
    """`add_to_part` for ``-d``."""
    if whole is None:
        return as_negative_part(index, d, shape, code)
    if d is not None:
        whole[index] -= d
    return whole


def zeros_of(shape: tuple[int, ...], code: str) -> Any:
    numpy: Any = sys.modules["numpy"]  # loaded: there is an array
    return numpy.zeros(shape, code)


def forward_support(
    owner: Owner, calls: ForwardCalls, watch: Watch | None = None, told: Told | None = None
) -> ForwardSupport:
    """`watch`: what checks the calls of rules, in debug mode.  `told`: see `Support.told`."""
    support = dataclasses.replace(_forward_support(owner, calls), told=told)
    if watch is None:
        return support
    return dataclasses.replace(support, rule=watch.frule, formulas=False, **_watched(watch))


def _watched(watch: Watch) -> dict[str, Any]:
    """What the builders of both modes are told where rules are watched."""
    return {"checks_aliases": watch.debug, "watch": watch.number if watch.trace_nan else None}


def _forward_support(owner: Owner, calls: ForwardCalls) -> ForwardSupport:
    return ForwardSupport(
        knowledge=owner.knowledge,
        derived=lambda binding, types_, active: owner.static_entry(binding, types_, active, "forward"),
        partial=owner.partials.partial,
        straight=owner.partials.straight,
        call=calls.call,
        protocol=calls.handler,
        fresh_tangent=fresh_tangent,
        known=Context.known_tangent,
        instance=Context.instance_shadow,
        append_tangent=slots.append_tangent,
        function=function_tangent,
        captured=captured,
        store_global=global_store(owner.guarded),
        item=item_tangent,
        fill_tangent=fill_tangent,
        fit_number=fit_number,
        fit_array=fit,
        own_array=own_array,
        fill_array=filled,
        make_tuple=make_tuple,
        item_slot=slots.item_slot_tangent,
        field_slot=slots.field_slot_tangent,
        view=view,
        sink=slots.SINK,
        bound=slots.bound_tangent,
        resumed=slots.resumed_shadow,
        check_slot=slots.check_slot,
        caught=caught_tangent,
    )


def item(whole: Any, index: int) -> Any:
    """The shadow or rdata of an element of a tuple, None if the tuple has none."""
    return None if whole is None else whole[index]


def item_tangent(whole: Any, index: int) -> Any:
    """The tangent of an element of a tuple, None for zero."""
    if whole is None or whole is NO_TANGENT:
        return None
    part = whole[index]
    return None if part is NO_TANGENT else part


def make_tuple(xs: tuple[Any, ...], dxs: tuple[Any, ...]) -> Any:
    """The tangent of a tuple: None if all of it is zero, else with a real tangent for each element."""
    if all(d is None for d in dxs):
        return None
    return tuple(map(fill_tangent, xs, dxs))


def caught_tangent(context: Context, error: BaseException) -> Any:
    """The tangent of an exception that a handler was entered with, unless it is a refusal."""
    pass_on(error)
    return exceptions.caught(context, error)


def pass_on(error: BaseException) -> None:
    """Raise `error` again if it is a refusal: in a handler of the user's it would be taken for one of the
    user's own errors, and the derivative of another path would be given."""
    if isinstance(error, AdbcError):
        raise error


def fit_number(d: Any, x: Any) -> Any:
    """`d` as the tangent of `x`, a real number."""
    return d if d.__class__ is x.__class__ else _real_(project(d, x), NO_TANGENT)


def own_array(d: Any, x: Any, source: Any) -> Any:
    """`d`, which is made of the tangent `source`, as the tangent of array `x` with memory of its own."""
    if (
        d.__class__ is x.__class__
        and d.base is None
        and d is not source
        and d.shape == x.shape
        and d.dtype == x.dtype
    ):
        return d
    return project(d, x, fresh=True)


def function_shadow(
    context: Context, function: types.FunctionType, cells: Any, defaults: Any, kwdefaults: Any
) -> Any:
    """The shadow of a function that was just made: its cells by name, and its defaults.

    Defaults that hold memory only are found again through their address (`Context.known_shadow`).
    """
    return _of_function(context, function, cells, defaults, kwdefaults, slot_tangent)


def function_tangent(
    context: Context, function: types.FunctionType, cells: Any, defaults: Any, kwdefaults: Any
) -> Any:
    """The same in forward mode."""
    return _of_function(context, function, cells, defaults, kwdefaults, fill_tangent)


def _of_function(
    context: Context,
    function: types.FunctionType,
    cells: Any,
    defaults: Any,
    kwdefaults: Any,
    fill: Callable[[Any, Any], Any],
) -> Any:
    kept: dict[str, Any] = {}
    if function.__defaults__ and defaults is not None:
        _register_defaults(context, function.__defaults__, defaults)
        if any(map(_is_by_value, defaults)):
            kept["__defaults__"] = tuple(map(fill, function.__defaults__, defaults))
    if function.__kwdefaults__ and kwdefaults is not None:
        shadows = [kwdefaults[name] for name in function.__kwdefaults__]
        _register_defaults(context, function.__kwdefaults__.values(), shadows)
        if any(map(_is_by_value, shadows)):
            kept["__kwdefaults__"] = kwdefaults
    if cells is None:
        cells = (None,) * len(function.__closure__ or ())
    tangent = MutableTangent()
    for name, cell, shadow in zip(
        function.__code__.co_freevars, function.__closure__ or (), cells, strict=True
    ):
        tangent.__dict__[name] = context.shadows.tangent(cell) if shadow is None else shadow
    if kept:
        tangent.__dict__.update(kept)
        with_active_defaults.add(function)
    context.shadows.register(function, tangent)
    return tangent


def _is_by_value(shadow: Any) -> bool:
    """Whether a default has a derivative that its address does not lead to."""
    return not (shadow is None or shadow is NO_TANGENT or is_address_tangent(type(shadow))) and is_active(
        shadow
    )


def _register_defaults(context: Context, values: Iterable[Any], shadows: Iterable[Any]) -> None:
    for value, shadow in zip(values, shadows, strict=True):
        if is_address_tangent(type(shadow)):
            context.shadows.register(value, shadow)


def defaults_pullback(shadow: Any) -> Callable[[Any], Any]:
    """What gives the defaults of a function with this shadow the cotangents that it has collected."""
    fields = getattr(shadow, "__dict__", {})
    return lambda bout: (slot_rdata(fields.get("__defaults__")),)


def global_store(guarded: Container[tuple[int, str]]) -> Callable[..., Any]:
    """The function for ``global name; name = value``, for values without a derivative.

    It gives what undoes it.  A global that generated code takes for fixed (a function that it calls)
    cannot be changed while that code runs.
    """

    def store_global(context: Context, namespace: dict[str, Any], name: str, value: Any, shadow: Any) -> Any:
        if is_active(shadow):
            raise UnsupportedError(
                f"global {name!r} is set to a value that has a derivative; a global outlives the call."
                " Return the"
                " value, or keep it in an object that is passed in."
            )
        old = namespace.get(name, _ABSENT)
        if old is not value and (id(namespace), name) in guarded:
            raise UnsupportedError(
                f"global {name!r} is bound to something else while code that uses what it was bound to is"
                " being"
                " differentiated; bind it before the call, or pass the function or module as an argument"
            )
        context.shadows.adopt(value, shadow)  # it will be met again, as what the global holds
        namespace[name] = value

        def undo(_: object) -> None:
            if old is _ABSENT:
                namespace.pop(name, None)
            else:
                namespace[name] = old

        return undo

    return store_global
