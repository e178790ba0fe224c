"""The steps that make instances and classes, refer to them, and read exceptions, as `Calls` does them."""

from __future__ import annotations

import abc
import weakref
from collections.abc import Callable, Sequence
from typing import Any

from adbc.ir.intrinsics import Raised
from adbc.runtime.calls import (
    attributes,
    beside,
    exceptions,
    fields,
    foreign,
    library_classes,
    new_classes,
    steps,
    texts,
    weak,
)
from adbc.runtime.calls.classes import (
    initialiser,
)
from adbc.runtime.calls.origins import giving, no_pullback
from adbc.runtime.calls.plans import Mode
from adbc.runtime.calls.steps import Call
from adbc.runtime.state.closures import cells_of
from adbc.runtime.state.context import Context
from adbc.runtime.state.engine import EngineView
from adbc.tangents import add, slot_increment, slot_rdata
from adbc.tangents.scalars import is_distribution

__all__ = ["Answer", "Objects"]

Answer = tuple[Any, Any, Callable[[Any], Any]]
"""What a driver gives: the result, its shadow or tangent, and what gives pairs of origin and rdata."""


class Objects(abc.ABC):
    """The part of `Calls` that has to do with instances, classes and exceptions."""

    engine: EngineView
    table: Any
    drivers: dict[type, Callable[..., Any]]
    known: Callable[[Context, Any], Any]
    known_in: Callable[[Context, Any, Any], Any]
    written: Callable[[Context, Call], Sequence[Any]]
    and_written: Callable[..., Answer]
    slot: Callable[[Any], Any]
    fill: Callable[[Any, Any], Any]

    @abc.abstractmethod
    def run(self, context: Context, call: Call, mode: Mode) -> Answer:
        """Make `call`, step by step."""

    @abc.abstractmethod
    def enter(self, context: Context, step: steps.Enter, mode: Mode) -> Answer:
        """Enter a Python function."""

    @abc.abstractmethod
    def use_row(self, context: Context, step: steps.UseRow, mode: Mode) -> Answer:
        """Answer a call by a rule."""

    @abc.abstractmethod
    def of_record(self, record: Any, shadows: dict[str, Any]) -> Any:
        """What stands beside a frozen dataclass or named tuple, from what stands beside its fields."""

    @abc.abstractmethod
    def copy(self, value: Any, slot: Any) -> Any:
        """The tangent for another slot that gets `value`, of which `slot` is the tangent (`Copy`)."""

    def refer(self, context: Context, step: steps.Refer, mode: Mode) -> Answer:
        call = step.call
        context.shadows.adopt(call.args[step.place], call.shadows[step.place])
        out = call.function(*call.args)
        callback = call.args[step.place + 1] if len(call.args) > step.place + 1 else None
        weak.note_reference(context, call.args[step.place], step.place, callback)
        return out, self.known(context, out), no_pullback

    def ask_weakly(self, context: Context, step: steps.AskWeakly, mode: Mode) -> Answer:
        call = step.call
        if issubclass(type(call.function), weakref.ReferenceType):
            out = weak.answered(context, call.perform())
        else:
            weak.counted(context, call.args[0])
            out = call.perform()
        return out, self.known(context, out), no_pullback

    def value(self, context: Context, step: steps.Value, mode: Mode) -> Answer:
        origin = step.origin
        if origin is not None:
            return step.value, step.shadow, lambda bout: ((origin, bout),)
        target = step.call.origins[0]

        def bound_pullback(bout: Any) -> Any:
            return () if bout is None else ((target, bout.__dict__.get("__self__")),)

        return step.value, step.shadow, bound_pullback

    # -- instances and classes -------------------------------------------------------------------------------

    def make(self, context: Context, step: steps.Make, mode: Mode) -> Answer:
        """``cls(...)``: ``__new__``, then ``__init__`` on the new object, whose shadow is empty at first."""
        call, cls = step.call, step.call.function
        first: Callable[[Any], Any] = no_pullback
        if step.allocate is None:
            obj = object.__new__(cls)
            shadow: Any = context.instance_shadow(obj)
            if weak.is_finalised(cls):
                weak.note_finaliser(context, obj)
        else:
            obj, shadow, first = self.run(context, call.prepend(step.allocate, None, cls, None, None), mode)
            if not issubclass(type(obj), cls):  # whatever it says that its class is
                return obj, shadow, first
            if shadow is None and is_distribution(cls) and not vars(obj):  # new: `__init__` fills it
                shadow = context.instance_shadow(obj)
        initialise = initialiser(type(obj))
        if initialise is None:
            return obj, shadow, first
        answer, _, second = self.run(context, call.prepend(initialise, None, obj, shadow, -1), mode)

        def make_pullback(bout: Any) -> Any:
            returned = list(second(None))
            if first is not no_pullback:
                for origin, rdata in returned:
                    if origin == -1:
                        bout = add(bout, rdata)
                returned += first(bout)
            return [(o, r) for o, r in returned if o != -1]

        if answer is None:
            return obj, shadow, make_pullback
        if type(answer) is Raised:
            return answer, None, make_pullback
        raise TypeError(f"__init__() should return None, not '{type(answer).__name__}'")

    def make_record(self, context: Context, step: steps.MakeRecord, mode: Mode) -> Answer:
        """A frozen dataclass or named tuple: its fields are the arguments of its generated constructor."""
        call = step.call
        out = call.perform()
        names = [*step.names[: call.count], *call.keywords]
        shadows = dict(zip(names, call.shadows, strict=True))
        defaults = {}
        for name in step.fields:
            if name not in shadows:
                origin = library_classes.default_of(context, step.constructor, name)
                if origin is None:
                    shadows[name] = self.known(context, object.__getattribute__(out, name))
                else:
                    shadows[name] = self.slot(origin.tangent())
                    defaults[name] = origin

        def record_pullback(bout: Any) -> Any:
            if bout is None:
                return ()
            for name, origin in defaults.items():
                origin.give(bout.__dict__.get(name))
            return [(o, bout.__dict__.get(name)) for name, o in zip(names, call.origins, strict=True)]

        if all(f is None for f in shadows.values()):
            return out, None, record_pullback
        return out, self.of_record(out, {name: shadows[name] for name in step.fields}), record_pullback

    def run_body(self, context: Context, step: steps.RunBody, mode: Mode) -> Answer:
        """The body of a class statement fills its namespace."""
        call = step.call
        (body, namespace), (shadow, names) = call.args, call.shadows
        if namespace is body.__globals__:  # functions that are made there will read it
            context.shadows.adopt(namespace, names)
        cells = cells_of(context, body, shadow)
        args = (namespace, *(cell for cell, _ in cells))
        shadows = (names, *(shadow for _, shadow in cells))
        function = self.engine.class_body(body)
        entered = Call(function, None, args, shadows, (None,) * len(args))
        return self.enter(context, steps.Enter(entered), mode)

    def make_type(self, context: Context, step: steps.MakeType, mode: Mode) -> Answer:
        out, give = new_classes.made(context, step.call, self.copy)
        return out, None, giving(give)

    def as_it_is(self, context: Context, step: steps.AsItIs, mode: Mode) -> Answer:
        call = step.call
        held = texts.before_library(context, call)
        written = self.written(context, call) if call.function.__module__ == "logging" else ()
        if call.function in weak.COUNTING:
            weak.count_container(context, call.args[0])
        elif call.function.__module__ == "weakref":
            weak.ask_finaliser(context, call)
        latest = weak.latest_finaliser()
        out, give = library_classes.as_it_is(context, call, self.copy, bool(written))
        texts.after_library(context, call, out, held)
        weak.note_new_finalisers(context, latest)
        answer = out, self.known(context, out), giving(give)
        return self.and_written(context, written, answer, is_out=True)

    def hold(self, context: Context, step: steps.Hold, mode: Mode) -> Answer:
        return foreign.held(context, step.call), None, no_pullback

    def of_class(self, context: Context, step: steps.OfClass, mode: Mode) -> Answer:
        """An attribute of a class: its derivative stands in the fields of the class, if they are known."""
        name, value = step.name, step.value
        fields = context.class_fields(step.owner)
        if fields is None or name not in fields:
            return value, self.known_in(context, step.owner, value), no_pullback

        def class_pullback(bout: Any) -> Any:
            fields[name] = slot_increment(fields[name], bout)
            return ()

        return value, self.slot(fields[name]), class_pullback

    def on_class(self, context: Context, step: steps.OnClass, mode: Mode) -> Answer:
        call = step.call
        out, undo = new_classes.on_class(context, call, self.fill, self.engine.builds)
        return out, None, lambda bout: ((call.origins[-1], undo()),)

    def beside(self, context: Context, step: steps.Beside, mode: Mode) -> Answer:
        call, row = step.call, step.row
        own = beside.shadow(context, call, row)
        if own is None and row is fields.GET:
            value = call.perform()
            return value, self.known(context, value), no_pullback
        call.shadows, call.origins = (own, *call.shadows[1:]), (None, *call.origins[1:])
        return self.use_row(context, steps.UseRow(row, call), mode)

    # -- exceptions ----------------------------------------------------------------------------------------

    def allocate_exception(self, context: Context, step: steps.AllocateException, mode: Mode) -> Answer:
        call = step.call
        out, shadow = exceptions.allocated(context, call, self.fill)

        def allocated_pullback(bout: Any) -> Any:
            returned = slot_rdata(shadow.__dict__.get("args"))
            return () if returned is None else zip(call.origins[1:], returned, strict=False)

        return out, shadow, allocated_pullback

    def of_exception(self, context: Context, step: steps.OfException, mode: Mode) -> Answer:
        call = step.call
        if call.shadows[0] is None:
            call.shadows = (exceptions.caught(context, call.args[0]), *call.shadows[1:])
        found = exceptions.of_exception(context, step) or attributes.plain_get(call, self.table, True)
        assert found is not None
        if type(found) is steps.Delegate:
            return self.run(context, found.call, mode)
        answer: Answer = self.drivers[type(found)](context, found, mode)
        return answer
