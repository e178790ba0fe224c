"""Objects, iterators and generators in derivatives that are differentiated once more: how the calls that make
them, and those that read from them, are written (`inner`)."""

from __future__ import annotations

from abc import ABCMeta
from types import BuiltinMethodType, MappingProxyType, MethodType, MethodWrapperType, ModuleType
from typing import Any

from adbc.cpython.arity import is_misfit
from adbc.ir import intrinsics
from adbc.rules.table import TextRule
from adbc.runtime.calls import attributes, exceptions, inner_texts, steps
from adbc.runtime.calls.binding import bind
from adbc.runtime.calls.classes import initialiser
from adbc.runtime.calls.generators import Generator, send
from adbc.runtime.calls.inner_ways import Kept, Places, Ways, Written, name_of
from adbc.runtime.calls.library_classes import default_of
from adbc.runtime.calls.steps import Call
from adbc.runtime.calls.unfollowed import is_looked_up
from adbc.tangents.protocol import kind_of

__all__ = ["Objects"]

_BOUND = (MethodType, BuiltinMethodType, MethodWrapperType)
_ABSENT = object()
_READING = (intrinsics._getattr_, intrinsics._load_special_, object.__getattribute__)


class Objects(Ways):
    """The part of the writer that has to do with objects."""

    def value_step(self, step: Any) -> None:
        """An attribute that is found in a class, or a method that is bound."""
        call, value = step.call, step.value
        if value is NotImplemented:
            self.lines += ["out = NotImplemented", "fout = None"]
            return
        if call.function is getattr:  # with a default, which is what it gives
            self.lines.append(f"out, fout = {self.values(call)[2]}, {self.shadows(call)[2]}")
            self.give(call.origins[2], "bout")
            return
        if call.function is type and len(call.args) == 1 and step.shadow is None:
            self.lines += [f"out = {self.name(type)}({self.values(call)[0]})", "fout = None"]
            return
        if call.function not in _READING:
            raise self.refuse(f"{name_of(call.function)} is called there")
        obj, name = self.values(call)
        read = "getattr" if call.function is intrinsics._getattr_ else self.name(call.function)
        self.lines.append(f"out = {read}({obj}, {name})")
        (of_obj, _) = self.shadows(call)
        if type(value) in _BOUND and (value.__self__ is call.args[0] or type(call.args[0]) is super):
            own = "__self__=fobj" if type(value) is not MethodType else "__self__=fobj, __func__=None"
            if step.shadow is not None and len(vars(step.shadow)) != own.count("="):
                raise self.refuse(f"the attribute {call.args[1]!r} is looked up there")
            self._beside_method(of_obj, own, call.origins[0])
        elif step.shadow is None:
            self.lines.append("fout = None")
        elif step.shadow is getattr(call.shadows[0], "__dict__", None):
            self.lines.append(f"fout = {of_obj}.__dict__")
        else:
            raise self.refuse(f"the attribute {call.args[1]!r} is looked up there")

    def _beside_method(self, of_obj: str, own: str, origin: Any) -> None:
        """Write what stands beside a bound method: that of its object, which `origin` is."""
        self.lines.append(f"fobj = {of_obj}")
        self.lines.append(f"fout = None if fobj is None else FData({own})")
        self.back.append("if bout is not None: r = bout.__dict__.get('__self__')")
        self.back.insert(0, "r = None")
        self.give(origin, "r")

    def make_method(self, call: Call, step: Any) -> None:
        """``types.MethodType(function, obj)``, of a function that has no derivative itself."""
        if step.shadow is not None and step.shadow.__func__ is not None:
            raise self.refuse(f"{name_of(call.function)} is called there, of a function with a derivative")
        function, obj = self.values(call)
        self.lines.append(f"out = {self.name(MethodType)}({function}, {obj})")
        self._beside_method(self.shadows(call)[1], "__self__=fobj, __func__=None", call.origins[1])

    def found(self, step: Any) -> None:
        """What an object, module or class has, or a function gives, that is constant at this level.

        What has an address is known by it to the outer level; a value may have its derivative there from
        where it is found, and is read anew."""
        call, kind = step.call, kind_of(type(step.value))
        is_copy = bool(call.args) and type(call.args[0]) is MappingProxyType
        if (kind.address and not is_copy) or kind.inactive:
            self._found(call, self.name(step.value))
        else:
            read = "getattr" if call.function is intrinsics._getattr_ else self.name(call.function)
            self._found(call, f"{read}({', '.join(self.values(call))})")

    def _found(self, call: Call, value: str) -> None:
        self.lines.append(f"out = {value}")
        if self.context.texts is not None and call.args:
            self.lines.append(f"text_read(context, {self.values(call)[0]}, out)")
        self.lines.append("fout = beside(context, out)")

    def library(self, step: Any) -> None:
        """What the standard library does as it is: it looks something up, writes a line for a log that only
        goes out, or warns."""
        call = step.call
        if is_looked_up(call.function) or is_misfit(call.function, call.count, call.keywords):
            self.as_it_is(call, changes_nothing=True)
            self.lines.append("if out.__class__ is list: fout = let_be(context, out)")
            return
        if call.keywords or not inner_texts.goes_to_streams(call):
            raise self.refuse(f"{name_of(call.function)} is called there, which runs as it is")
        function = self.value(call.function, call.origin)
        args = "".join(f"{x}, " for x in self.values(call))
        beside = "".join(f"{x}, " for x in self.shadows(call))
        self.lines += [
            f"out, fout = {function}({args}), None",
            f"text_logged(context, {function}, ({args}), ({beside}))",
        ]

    def make_instance(self, step: Any) -> None:
        """``cls(...)``: ``__init__`` on a new object, whose shadow is empty at first."""
        call, cls = step.call, step.call.function
        values = "".join(f"{x}, " for x in self.values(call))
        shadows = "".join(f"{x}, " for x in self.shadows(call))
        if step.allocate is None:
            self.lines.append(f"obj = {self.name(object.__new__)}({self.name(cls)})")
            self.lines.append("fobj = instance(context, obj)")
        elif exceptions.is_allocator(step.allocate):
            self._make_exception(step, values, shadows)
        else:
            given = f"{call.keywords!r}, {self.name(step.allocate)}, None"
            given += f", ({self.name(cls)}, {values}), (None, {shadows})"
            made = "obj, fobj" if self.is_forward else "obj, fobj, made"
            self.lines.append(f"{made} = {self.asked}({self.name(self.calls)}, context, {given})")
        self.lines += ["out, fout, inner = obj, fobj, None", f"if has_made({self.name(cls)}, obj):"]
        initialise = initialiser(cls)
        if initialise is None:
            self.lines.append(" pass")
        else:
            given = f"{call.keywords!r}, {self.name(initialise)}, None, (obj, {values}), (fobj, {shadows})"
            names = "_, _" if self.is_forward else "said, _, inner"
            self.lines.append(f" {names} = {self.asked}({self.name(self.calls)}, context, {given})")
            if self.mode == "protected":
                self.lines.append(" if said.__class__ is Raised: out, fout = said, None")
        if self.is_forward:
            return
        self.back += [
            "given = (None,) * 99 if inner is None else inner(None)",
            "first = joined(bout, given[1])",
        ]
        for k, origin in enumerate(call.origins):
            self.give(origin, f"given[{k + 2}]")
        if step.allocate is None:
            return
        if exceptions.is_allocator(step.allocate):
            self.back.append("given = (None, None, *elements_of(slot_rdata(fobj.__dict__.get('args')), 0))")
        else:
            self.back.append("given = made(first)")
        for k, origin in enumerate(call.origins):
            self.give(origin, f"part(given, {k + 2})")

    @property
    def asked(self) -> str:
        """The name of what makes another dynamic call."""
        return "attempt" if self.mode == "protected" else "call"

    @property
    def answered(self) -> str:
        """The names for what that answers.  It is unpacked: a level further out that attempts to read an
        element would take a `Raised` of this level, a value to it, for an exception of its own."""
        return "out, fout" if self.is_forward else "out, fout, inner"

    def _make_exception(self, step: Any, values: str, shadows: str) -> None:
        call, n = step.call, step.call.count
        given = values
        if call.keywords:
            by_name = [f"{k}={x}" for k, x in zip(call.keywords, self.values(call)[n:], strict=True)]
            given = ", ".join([*self.values(call)[:n], *by_name])
        made = "exception_tangent" if self.is_forward else "exception_shadow"
        self.lines += [
            f"obj = {self.name(step.allocate)}({self.name(call.function)}, {given})",
            f"fobj = {made}(context, obj, ({values})[:{n}], ({shadows})[:{n}])",
        ]

    def make_record(self, step: Any) -> None:
        """A frozen dataclass or named tuple is made of values for its fields."""
        call, n = step.call, step.call.count
        names = (*step.names[:n], *call.keywords)
        function = self.value(call.function, call.origin)
        values = self.values(call)
        named = [f"{k}={x}" for k, x in zip(call.keywords, values[n:], strict=True)]
        self.lines.append(f"out = {function}({', '.join([*values[:n], *named])})")
        beside = dict(zip(names, self.shadows(call), strict=True))
        for name in step.fields:
            if name not in beside:
                if default_of(self.context, step.constructor, name) is not None:
                    raise self.refuse(f"a default of {name_of(call.function)} has a derivative")
                beside[name] = f"beside(context, out.{name})"
        shadows = "".join(f"{beside[name]}, " for name in step.fields)
        made = "record_tangent" if self.is_forward else "record_shadow"
        self.lines.append(f"fout = {made}(out, {tuple(step.fields)!r}, ({shadows}))")
        self.back.append("of_fields = {} if bout is None else bout.__dict__")
        for name, origin in zip(names, call.origins, strict=True):
            self.give(origin, f"of_fields.get({name!r})")

    def of_class(self, step: Any) -> None:
        """An attribute of a class."""
        fields = self.context.class_fields(step.owner)
        if fields is not None and step.name in fields:
            raise self.refuse(f"the attribute {step.name!r} of a class that has a derivative is read")
        if kind_of(type(step.value)).address:
            self.found(step)
        else:  # the class may have got it in the outer level, and may get another one
            read = self.name(type.__getattribute__)
            self._found(step.call, f"{read}({self.name(step.owner)}, {step.name!r})")

    def on_class(self, step: Any) -> None:
        """An attribute of a class or module is set to, or was, what is constant at this level."""
        call = step.call
        owner, name = call.args[:2]
        is_set = len(call.args) == 3
        own = vars(owner)
        old = own.get(name, _ABSENT)
        is_plain = type(owner) in (type, ModuleType, ABCMeta) and (
            old is _ABSENT or not hasattr(old, "__get__")
        )
        if not is_plain or hasattr(type(owner), name) or call.keywords:
            raise self.refuse(
                "a method, or another attribute that is more than a value, of a class is set there"
            )
        if self.context.class_fields(owner) is not None or self.context.is_active(call.shadows[-1]):
            raise self.refuse("an attribute of a class or module is set there")
        setter, deleter, getter = (
            (setattr, delattr, getattr) if type(owner) is ModuleType
            else (type.__setattr__, type.__delattr__, type.__getattribute__)
        )  # fmt: skip
        itself = self.name(owner)
        read = f"{self.name(getter)}({itself}, {name!r})"
        put_back = f"{self.name(deleter)}({itself}, {name!r})"
        if old is not _ABSENT:
            self.lines.append(f"old = {read}")
            put_back = f"{self.name(setter)}({itself}, {name!r}, old)"
        if is_set:
            value, shadow = self.values(call)[2], self.shadows(call)[2]
            self.lines.append(f"{self.name(setter)}({itself}, {name!r}, {value})")
            if shadow != "None":
                self.lines.append(f"adopted(context, {value}, {shadow})")
        else:
            self.lines.append(f"{self.name(deleter)}({itself}, {name!r})")
        self.lines += [f"class_changed(context, {itself}, {name!r})", "out = fout = None"]
        self.back += [put_back, "forget_attributes(context)"]

    def run_watched(self, step: Any) -> None:
        """A function of C runs code in Python, which may change nothing."""
        call = step.call
        function = self.value(call.function, call.origin)
        values, n = self.values(call), call.count
        named = [f"{k}={x}" for k, x in zip(call.keywords, values[n:], strict=True)]
        args = "".join(f"{x}, " for x in values)
        beside = "".join(f"{x}, " for x in self.shadows(call))
        self.lines += [
            f"seen = watch({function}, ({args}))",
            f"out = {function}({', '.join([*values[:n], *named])})",
            f"check_watched(seen, {step.what!r})",
            "fout = beside(context, out)",
        ]
        if step.makes_text:
            given = (
                f"{self.name(TextRule(call.function))}, {function}, ({args}), ({beside}), {call.keywords!r}"
            )
            self.lines.append(f"text_noted(context, {given}, out)")

    def of_exception(self, step: Any) -> None:
        """An attribute of an exception, whose shadow is that of its address."""
        call = step.call
        if call.shadows[0] is None:
            error = self.values(call)[0]
            self.lines.append(f"met = met_exception(context, {error})")
            call.shadows = (exceptions.caught(self.context, call.args[0]), *call.shadows[1:])
            call.origins = (Written(error, "met", call.origins[0]), *call.origins[1:])
        found = exceptions.of_exception(self.context, step)
        found = found or attributes.plain_get(call, self.calls.table, True)
        assert found is not None
        if type(found) is steps.Delegate:
            self.make(found.call)
        else:
            self.take(found)

    def advance(self, step: Any) -> None:
        """``next(it)`` of an iterator written in Python: that there is no more is an answer like others."""
        call = step.call
        asked = (
            f"({self.name(self.calls)}, context, (), {self.name(call.function)}, None,"
            f" ({self.values(call)[0]},), ({self.shadows(call)[0]},))"
        )
        if self.is_forward:
            self.lines += [
                "try:",
                f" out, fout = call{asked}",
                "except StopIteration:",
                " out, fout = EXHAUSTED, None",
            ]
            return
        self.lines += [
            f"out, fout, inner = attempt{asked}",
            "if out.__class__ is Raised:",
            " if isinstance(out.exception, StopIteration): out, fout = EXHAUSTED, None",
        ]
        if self.mode != "protected":
            self.lines.append(" else: raise out.exception")
        self.back.append("given = inner(bout)")
        self.give(call.origins[0], "given[1]")

    def suspend(self, step: Any) -> None:
        """A generator function is called."""
        call, context = step.call, self.context
        function = call.function
        segments = self.calls.engine.segments(function)
        kept = Call(
            function, call.shadow, call.args, call.shadows, tuple(map(Kept, call.origins)), call.keywords
        )
        bound = bind(kept, context, self.calls)
        itself, own = self.value(function, call.origin), self.shadow(function, call.shadow, call.origin)
        places = Places(call, itself, own)
        given = [self.bound(places, i, *parameter) for i, parameter in enumerate(bound)]
        values = "".join(f"{value}, " for value, _ in given)
        beside = "".join(f"{shadow}, " for _, shadow in given)
        self.lines += [
            f"state, beside_state = with_cells(context, {itself}, {own}, ({values}), ({beside}))",
            f"slots = {'filled' if self.is_forward else 'slotted'}(state, beside_state)",
            f"out, fout = generator(context, {self.name(segments)}, state, slots, {function.__name__!r})",
        ]
        if self.is_forward:
            return
        self.back.append(f"given = elements_of(slot_rdata(fout.__dict__['state']), {len(bound)})")
        for i, (_, f, origin) in enumerate(bound):
            self.give_bound(places, i, origin, f"given[{i}]")
            if type(origin) is dict and f is not None:
                for k, o in origin.items():
                    self.give(o.origin, f"slot_rdata(fnamed[{k!r}])")

    def resume(self, step: Any) -> None:
        """A generator goes on, by its method in Python."""
        call = step.call
        if step.is_pair:
            self.make(call.of(send))
            return
        throwing, value, beside = step.sent
        args, shadows = (call.args[0], throwing, value), (call.shadows[0], None, beside)
        self.make(Call(Generator.resume, None, args, shadows, (call.origins[0], None, step.origin)))
