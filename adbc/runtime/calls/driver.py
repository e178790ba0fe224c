"""Calls that are decided at run time: the core that both modes share.

`Calls.call` is what generated code does where it did not know what it was calling, and how rules are entered
from outside.  Where classes decide, inline caches (`plans`) say what to do.  Else `resolve.step` says what
CPython would do next, and the driver of that step does it (`steps.DRIVERS`).

What a mode is, is little: what stands beside a value (a shadow or a tangent), how a row of the table is used,
and how a derived rule is entered.  Inside, both modes have one form: a driver answers (result, shadow,
pullback), in forward mode with a pullback that nobody runs, and that gives pairs of origin and rdata.
"""

from __future__ import annotations

import abc
from collections.abc import Callable, Sequence
from types import BuiltinFunctionType, CodeType, FunctionType, MethodDescriptorType, MethodType
from typing import Any, ClassVar

from adbc.ir import intrinsics
from adbc.ir.intrinsics import Raised
from adbc.rules.table import NO_KWARGS
from adbc.runtime.calls import (
    foreign,
    plans,
    resolve,
    steps,
    texts,
)
from adbc.runtime.calls.binding import Bound, bind
from adbc.runtime.calls.callables import has_defaults_beside, own_part, self_shadow, way_to_call, way_to_make
from adbc.runtime.calls.classes import (
    CONTAINERS,
    FIELD,
    LIBRARY,
    SLOW,
    VALUES,
    is_array_or_number,
    is_python_function,
    lookup,
    method_in_c,
    way_to_set,
)
from adbc.runtime.calls.comparing import compared_plainly
from adbc.runtime.calls.forms import forms_met
from adbc.runtime.calls.in_c import InC
from adbc.runtime.calls.iterating import Iterating
from adbc.runtime.calls.known_functions import Called, KnownFunctions
from adbc.runtime.calls.logs import is_silent
from adbc.runtime.calls.objects import Answer
from adbc.runtime.calls.origins import no_pullback
from adbc.runtime.calls.plain import is_plain, reads_lists
from adbc.runtime.calls.plain_functions import are_constants
from adbc.runtime.calls.plans import Mode
from adbc.runtime.calls.reading import Attributes
from adbc.runtime.calls.steps import Call, Protocols, Spread
from adbc.runtime.calls.values_in_c import METHOD_OF_CLASS, are_values
from adbc.runtime.report.tracebacks import plain_traceback
from adbc.runtime.state.closures import with_active_defaults
from adbc.runtime.state.context import Context
from adbc.runtime.state.engine import EngineView
from adbc.tangents import NO_FDATA, NO_TANGENT
from adbc.types import AbstractType, has_cotangent, has_shadow

__all__ = ["Answer", "Called", "Calls", "Names", "Values"]

_SPREAD = (tuple, list)
_NAMES = frozenset({str})
_SETTING = (intrinsics._setattr_, intrinsics._init_field_)
_WITH_HANDLERS = (BuiltinFunctionType, FunctionType)
WITH_RULES = (FunctionType, type, MethodDescriptorType)
"""The classes of callables that may have rules of their own, beside those made in C."""

Names = tuple[str, ...]
Values = tuple[Any, ...]


class Calls(Attributes, InC, Iterating, KnownFunctions):
    """The dynamic calls of one engine in one mode."""

    mode: ClassVar[Mode]
    attempted: ClassVar[Mode]
    """The mode for a call that is only attempted: what it raises need not reach the user."""
    name: ClassVar[str]
    """The name of the engine's attribute for the calls of this mode."""

    known: Callable[[Context, Any], Any]
    """What stands beside an object that did not come through an argument."""
    slot: Callable[[Any], Any]
    """What stands beside a value of which a slot holds this tangent."""
    fill: Callable[[Any, Any], Any]
    """The tangent for a slot that gets a value, from what stands beside the value."""
    set_field: Callable[..., Any]
    """The rule of writing a field."""

    def __init__(self, engine: EngineView, protocols: Protocols) -> None:
        self.engine = engine
        self.table = engine.table
        self.decided = engine.table.decided
        self.decided_without_text = engine.table.decided_without_text
        self.bodies = engine.table.bodies
        self.plain_functions = engine.table.plain_functions
        self.protocols = protocols
        self.unfollowed: set[CodeType] = set()
        """Code of libraries, functions with which are never entered without a look at what they are given."""
        self.drivers = {step: getattr(self, name) for step, name in steps.DRIVERS.items()}

    # -- what a mode is ----------------------------------------------------------------------------------

    @abc.abstractmethod
    def enter_function(
        self,
        context: Context,
        function: FunctionType,
        ff: Any,
        xs: Values,
        fs: Values,
        called: Called,
        mode: Mode,
    ) -> Any:
        """Enter a Python function without a rule on exactly its parameters, if the classes say how; else
        None.  called: what the call was of."""

    @abc.abstractmethod
    def made(self, obj: Any, shadow: Any, initialised: Any) -> Any:
        """The answer of a call that has made `obj`, from that of the call of its ``__init__``."""

    def stored(self, cls: type, names: Names, keywords: Names, xs: Values, fs: Values) -> Any:
        """The answer of a call of `cls`, a frozen dataclass or named tuple with fields of these `names`, on a
        value for each, the last ones by keyword; None if it is given something else."""
        count = len(xs) - len(keywords)
        given = (*names[:count], *keywords) if keywords else names
        if len(xs) != len(names) or (given != names and {*given} != {*names}):
            return None
        out = cls(*xs[:count], **dict(zip(keywords, xs[count:], strict=True))) if keywords else cls(*xs)
        if all(f is None for f in fs):  # not counted: an array answers to == in its own way
            return self.constant(out, None, len(xs) + 1)
        beside = dict(zip(given, fs, strict=True))
        if given != names:
            beside = {name: beside[name] for name in names}
        return self.of_fields(out, self.of_record(out, beside), given)

    @abc.abstractmethod
    def of_fields(self, record: Any, shadow: Any, names: Names) -> Any:
        """The answer of `call` that has made `record`, whose fields of these `names` it was given."""

    @abc.abstractmethod
    def use_decided(self, row: Any, xs: Values, fs: Values) -> Any:
        """Answer a call by `row`, which the classes of the arguments decide."""

    @abc.abstractmethod
    def use_given(self, row: Any, xs: Values, fs: Values, out: Any) -> Any:
        """Answer a call by `row`, which `takes_result`: the function has been called and gave `out`."""

    @abc.abstractmethod
    def use_method(self, row: Any, own: Any, fown: Any, xs: Values, fs: Values) -> Any:
        """Answer a call of a method that is bound to `own`, with `fown` beside it, by `row`, which the
        classes decide."""

    @abc.abstractmethod
    def by_row(self, function: Any) -> Callable[..., Any]:
        """The handler of an intrinsic or operator, which asks for the row by the classes."""

    @abc.abstractmethod
    def of_bound(self, answer: Any, bound: Bound) -> Answer:
        """The answer of a driver, from that of `enter_planned` for the bound arguments of a call."""

    @abc.abstractmethod
    def of_origins(self, answer: Any, origins: Sequence[Any]) -> Answer:
        """The answer of a driver, from that of `enter_gathered` for an object, the arguments of which have
        these `origins`."""

    @abc.abstractmethod
    def use_row(self, context: Context, step: steps.UseRow, mode: Mode) -> Answer:
        """Carry out the step `UseRow`: answer a call by a rule."""

    @abc.abstractmethod
    def of_places(self, answer: Answer, count: int) -> Any:
        """The answer of a handler, from that of a driver whose origins are places below `count`."""

    @abc.abstractmethod
    def of_spread(self, step: steps.Spread, answer: Any) -> Answer:
        """The answer of a driver, from that of `call` on the elements that were spread."""

    @abc.abstractmethod
    def of_applied(self, answer: Any, beside: Any, count: int) -> Any:
        """The answer of the handler of ``f(*args)``, which is given `count` things, from that of `call` on
        the elements of `args`, which has `beside` beside it."""

    @abc.abstractmethod
    def of_tuple(self, values: Values, shadows: Values) -> Any:
        """What stands beside a tuple that is an argument, from what stands beside its elements."""

    @abc.abstractmethod
    def of_elements(self, shadow: Any) -> Values:
        """What stands beside the elements of a tuple or list that has `shadow` beside it."""

    @abc.abstractmethod
    def of_keywords(self, values: dict[str, Any], shadows: dict[str, Any]) -> Any:
        """What stands beside the dictionary of ``**kwargs``, from what stands beside its values."""

    @abc.abstractmethod
    def of_record(self, record: Any, shadows: dict[str, Any]) -> Any:
        """What stands beside a frozen dataclass or named tuple, from what stands beside its fields."""

    def copy(self, value: Any, slot: Any) -> Any:
        """The tangent for another slot that gets `value`, of which `slot` is the tangent (`Copy`)."""
        return self.fill(value, self.slot(slot))

    # -- entry points ------------------------------------------------------------------------------------

    def call(
        self,
        context: Context,
        keywords: Names,
        f: Any,
        ff: Any,
        xs: Values,
        fs: Values,
        mode: Mode | None = None,
    ) -> Any:
        """``f(*xs)``, the last arguments by keyword, as generated code calls it; the pullback of reverse mode
        gives (bf, *bxs).  Python functions are entered in `mode`, that of these calls if it is not said."""
        if mode is None:
            mode = self.mode
        kind: Any = BuiltinFunctionType if type(f) is METHOD_OF_CLASS else type(f)
        entered: Any = None
        if kind is FunctionType:
            if f.__module__ == "logging" and is_silent(f, xs):
                return self.of_values(context, f, xs, len(xs) + 1, keywords)
            entered = self.enter_known(context, keywords, f, ff, xs, fs, "function", mode)
            if entered is not None:
                return entered
        elif kind is MethodType and type(f.__func__) is FunctionType:
            given, beside = (f.__self__, *xs), (own_part(ff), *fs)
            if f.__func__.__module__ == "logging" and is_silent(f.__func__, given):
                return self.of_values(context, f, xs, len(xs) + 1, keywords)
            entered = self.enter_known(context, keywords, f.__func__, None, given, beside, "method", mode)
            if entered is not None:
                return entered
        verdict: bool | None = None
        inside: list[Any] = []
        if kind is BuiltinFunctionType or (kind in WITH_RULES and self.table.rows(f)):
            verdict = False
            owner: Any = getattr(f, "__self__", None) if kind is BuiltinFunctionType else None
            is_of_values = (owner is not None and type(owner) in VALUES) or f in VALUES
            if is_of_values and ff is None and are_values(xs, fs) and texts.are_free(context, f, xs):
                return self.of_values(context, f, xs, len(xs) + 1, keywords)
            if not keywords and (type(owner) in CONTAINERS or is_array_or_number(type(owner))):
                row = self.row_of_method(context, f, xs)
                if row is not SLOW:
                    own = None if ff is NO_TANGENT else self_shadow(ff)
                    return self.use_method(row, owner, own, xs, fs)
            if kind is BuiltinFunctionType and plans.is_bound_in_c(f) and not self.table.rows(f):
                count = len(xs) + 1
                call = Call(f, ff, xs, fs, tuple(range(1, count)), keywords, 0, verdict, inside)
                return self.call_slowly(context, call, count, mode)
            if not keywords:
                key = f, tuple(map(type, xs))
                row = self.decided.get(key) or self.decide(f, xs)
                if row is SLOW and context.texts is None:
                    row = self.decided_without_text.get(key) or self.decide_without_text(f, xs)
                    if row is SLOW:
                        row = self.decide_for_instances(context, f, xs)
                if row is not SLOW:
                    return self.use_decided(row, xs, fs)
            entered = self.enter_body(context, keywords, f, xs, fs, mode)
        elif kind is type and f in VALUES and are_values(xs, fs) and texts.are_free(context, f, xs):
            return self.of_values(context, f, xs, len(xs) + 1, keywords)
        elif (known := self.plain_functions.get(id(f))) and are_constants(xs, fs):
            made = self.again_plainly(context, known, f, ff, xs, keywords)
            if made is not SLOW:
                return made
        elif verdict := is_plain(context, self.table, f, ff, xs, fs, inside):
            pass
        elif kind is FunctionType:
            entered = self.enter_directly(context, keywords, f, ff, xs, fs, "function", mode)
        elif kind is MethodType:
            function = f.__func__
            if type(function) is FunctionType and not self.table.rows(function):
                given, beside = (f.__self__, *xs), (own_part(ff), *fs)
                entered = self.enter_directly(
                    context, keywords, function, None, given, beside, "method", mode
                )
        else:
            entered = self.enter_through_class(context, keywords, f, ff, xs, fs, mode)
        if entered is not None:
            return entered
        count = len(xs) + 1
        call = Call(f, ff, xs, fs, tuple(range(1, count)), keywords, 0, verdict, inside)
        return self.call_slowly(context, call, count, mode)

    def call_with_displays(
        self,
        context: Context,
        keywords: Names,
        f: Any,
        ff: Any,
        xs: Values,
        fs: Values,
        places: tuple[int, ...],
    ) -> Any:
        """``f(*xs)`` as `call` answers it; the arguments at `places` are displays of constants, which nobody
        else has: to a function that is called as it is they are constants."""
        constant = tuple([None if i in places else f for i, f in enumerate(fs)])
        if reads_lists(f) or is_plain(context, self.table, f, ff, xs, constant):
            fs = constant
        return self.call(context, keywords, f, ff, xs, fs)

    def call_from_outside(
        self, context: Context, keywords: Names, f: Any, ff: Any, xs: Values, fs: Values, lists: Sequence[Any]
    ) -> Any:
        """Answer the first call of all, as `call` does; `lists` says what is known of elements of
        arguments."""
        if self.engine.stale:
            self.engine.refresh()
        is_watched = lists and getattr(self.engine, self.mode).watch is not None
        if lists and not (is_watched or keywords) and type(f) is FunctionType and not self.table.rows(f):
            plan = plans.plan(self.engine, self.mode, f, xs, fs, lists)
            if plan is not None:
                return self.enter_planned(context, plan, f, ff, xs, fs, 1)
        return self.call(context, keywords, f, ff, xs, fs)

    def of_values(self, context: Context, f: Any, xs: Values, count: int, keywords: Names = ()) -> Any:
        """Answer a call of what is made in C on values of `VALUES` without a derivative, the last ones by
        keyword: it is made as it is.  Its pullback gives `count` times None."""
        if keywords:
            first = len(xs) - len(keywords)
            out = f(*xs[:first], **dict(zip(keywords, xs[first:], strict=True)))
        else:
            out = f(*xs)
        if type(out) in VALUES:
            return self.constant(out, None, count)
        if type(out) is not list:
            foreign.let_iterators_be(context, out)
        return self.constant(out, self.known(context, out), count)

    def enter_body(
        self, context: Context, keywords: Names, f: Any, xs: Values, fs: Values, mode: Mode
    ) -> Any:
        """Enter the Python function that stands in for `f`, if the classes of the arguments say which; else
        None."""
        key = (f, keywords, *map(type, xs))
        try:
            body = self.bodies[key]
        except KeyError:
            body = plans.body(f, xs, keywords, self.table, self.protocols)
            if plans.stays(f) or plans.is_of_class(f):  # other callables come and go
                self.bodies[key] = body
        if body is None or context.follows_inner:
            return None
        return self.enter_bound(context, keywords, body, None, xs, fs, "function", mode)

    def enter_directly(
        self,
        context: Context,
        keywords: Names,
        f: Any,
        ff: Any,
        xs: Values,
        fs: Values,
        called: Called,
        mode: Mode,
    ) -> Any:
        """Enter a Python function without a rule if the classes of the arguments say how; else None.  called:
        what the call was of."""
        entered = None if keywords else self.enter_function(context, f, ff, xs, fs, called, mode)
        return (
            self.enter_bound(context, keywords, f, ff, xs, fs, called, mode) if entered is None else entered
        )

    def enter_through_class(
        self, context: Context, keywords: Names, f: Any, ff: Any, xs: Values, fs: Values, mode: Mode
    ) -> Any:
        """Enter the method ``__call__`` of an instance, or ``__init__`` where an instance of a class is made,
        if that is written in Python and all that is to be done; else None."""
        is_class = issubclass(type(f), type)  # an object may say that it is one
        key = (f, "new()") if is_class else (type(f), "()")
        function = context.attributes.get(key)
        if function is None:
            function = context.attributes[key] = way_to_make(f) if is_class else way_to_call(type(f))
        if function is SLOW or context.follows_inner or self.table.rows(function) or self.has_meaning(f):
            return None
        if type(function) is tuple:
            return self.stored(f, function, keywords, xs, fs)
        if not is_class:
            return self.enter_directly(context, keywords, function, None, (f, *xs), (ff, *fs), "object", mode)
        obj = object.__new__(f)
        shadow = context.instance_shadow(obj)
        made = self.enter_directly(
            context, keywords, function, None, (obj, *xs), (shadow, *fs), "object", mode
        )
        if made is None:
            return None
        if type(made[0]) is Raised:
            return self.made(made[0], None, made)
        if made[0] is not None:
            raise TypeError(f"__init__() should return None, not '{type(made[0]).__name__}'")
        return self.made(obj, shadow, made)

    def has_meaning(self, f: Any) -> bool:
        """Whether something else than its class says what a call of the object `f` does."""
        cls = type(f)
        if is_python_function(lookup(cls, "__hash__")) and not self.table.has_of(cls):
            return False
        try:
            return f in self.protocols or bool(self.table.rows(f))
        except TypeError:  # it cannot be hashed
            return False

    def enter_bound(
        self,
        context: Context,
        keywords: Names,
        f: Any,
        ff: Any,
        xs: Values,
        fs: Values,
        called: Called,
        mode: Mode,
    ) -> Any:
        """Enter a Python function without a rule on arguments that are not exactly its parameters, the last
        ones by keyword, if that has been planned; else None.  called: what the call was of."""
        if f in self.protocols or f in with_active_defaults or has_defaults_beside(ff):
            return None
        found = plans.bound(self.engine, mode, f, xs, fs, keywords, self.fill)
        if found is None:
            return None
        plan, values, beside, gather = found
        return self.enter_gathered(context, plan, f, ff, values, beside, gather, called)

    def decide(self, function: Any, xs: Values) -> Any:
        """The row for a call of `function` on arguments of these classes, if they decide it, else `SLOW`."""
        row = plans.decide(function, xs, self.table, self.protocols)
        if plans.stays(function) or plans.is_of_class(function):  # other callables come and go
            self.decided[function, tuple(map(type, xs))] = row
        return row

    def decide_without_text(self, function: Any, xs: Values) -> Any:
        """As `decide`, where no text has been made from numbers with a derivative."""
        row = plans.decide(function, xs, self.table, self.protocols, texts.makes_text)
        if plans.stays(function) or plans.is_of_class(function):
            self.decided_without_text[function, tuple(map(type, xs))] = row
        return row

    def decide_for_instances(self, context: Context, function: Any, xs: Values) -> Any:
        """The row for a call of `function` on arguments of these classes, among which are such as a class
        statement has made; else `SLOW`.  It holds as long as nothing is set in a class."""
        key = "row", function, *map(type, xs)
        row = context.attributes.get(key)
        if row is None:
            row = context.attributes[key] = plans.decide_for_instances(
                function, xs, self.table, self.protocols
            )
        return row

    def row_of_method(self, context: Context, method: Any, xs: Values) -> Any:
        """The row for a call of a method that is bound to a builtin container or an array, as `decide` has
        it: the method is a new object whenever it is read, and its descriptor is the same."""
        own = method.__self__
        cls: Any = type(own)
        descriptor = method_in_c(cls, method.__name__)
        if descriptor is None:
            return SLOW
        key = descriptor, (cls, *map(type, xs))
        row = self.decided.get(key)
        if row is None:
            row = self.decided[key] = plans.decide(descriptor, (own, *xs), self.table, self.protocols)
        if row is SLOW:
            row = compared_plainly(descriptor, (own, *xs)) or SLOW
        if row is SLOW and context.texts is None:
            row = self.decide_for_instances(context, descriptor, (own, *xs))
        return row

    def handler(self, function: Any) -> Callable[..., Any] | None:
        """The direct way to an intrinsic or operator: ``handler(context, xs, fs)``, and the mode if Python
        functions are not entered in that of these calls."""
        if function not in self.protocols:
            return None
        if function is intrinsics._getattr_:
            return self.get_attribute
        if function is intrinsics._next_ or function is next:
            return self.next_of(function)
        if function is intrinsics._resume_ or function is intrinsics._send_:
            return self.resume_of(function)
        if function is intrinsics._iter_:
            return self.iterator_of(function)
        if function in _SETTING:
            return self.set_of(function)
        if function is getattr:
            return self.get_of(function)
        if function is intrinsics._apply_:
            return self.apply_of(function)
        if function is type:
            return self.class_of(function)
        return self.named(self.by_row(function), function)

    def row_handler(self, function: Any) -> Callable[..., Any] | None:
        """The `handler` of another function that has rules and is there as long as its module is."""
        has_rows = type(function) in _WITH_HANDLERS and plans.stays(function) and self.table.rows(function)
        if not has_rows:
            return None
        if function is setattr:
            return self.set_of(function)
        at_once = getattr(self.table.rows(function)[0], "at_once", None)
        return (
            self.named(self.by_row(function), function)
            if at_once is None
            else self.apart_of(function, at_once)
        )

    def get_of(self, function: Any) -> Callable[..., Any]:
        """The handler of `getattr`: without a default it reads an attribute as ``obj.name`` does."""
        otherwise = self.by_row(function)

        def get(context: Context, xs: Values, fs: Values, mode: Mode = self.mode) -> Any:
            is_plain_name = len(xs) == 2 and type(xs[1]) is str and context.texts is None
            return (self.get_attribute if is_plain_name else otherwise)(context, xs, fs, mode)

        return self.named(get, function)

    def apply_of(self, function: Any) -> Callable[..., Any]:
        """The handler of `function`, which calls something with the elements of a tuple or list and of a
        dict: these are spread at once."""
        otherwise = self.by_row(function)

        def apply(context: Context, xs: Values, fs: Values, mode: Mode = self.mode) -> Any:
            if context.texts is not None or type(xs[1]) not in _SPREAD:
                return otherwise(context, xs, fs, mode)
            keywords = {} if len(xs) == 2 or xs[2] is None else xs[2]
            if type(keywords) is not dict:
                return otherwise(context, xs, fs, mode)
            if not keywords:
                beside = fs[1]
                if beside is None or beside is NO_FDATA:
                    shadows: Values = (None,) * len(xs[1])
                else:
                    shadows = self.of_elements(beside)
                answer = self.call(context, (), xs[0], fs[0], (*xs[1],), shadows, mode)
                return self.of_applied(answer, beside, len(xs))
            call = Call(function, None, xs, fs, tuple(range(len(xs))), (), None)
            return self.of_places(self.spread(context, Spread(call, xs[0], xs[1], keywords), mode), len(xs))

        return self.named(apply, function)

    def set_of(self, function: Any) -> Callable[..., Any]:
        """The handler of `function`, which sets an attribute: fields of ordinary instances are written
        without more ado."""
        otherwise, write = self.by_row(function), self.set_field

        def put(context: Context, xs: Values, fs: Values, mode: Mode = self.mode) -> Any:
            obj, name, _ = xs
            key = type(obj), name, "="
            found = context.attributes.get(key)
            if found is None:
                found = context.attributes[key] = way_to_set(key[0], name)
            return write(xs, fs, NO_KWARGS) if found is FIELD else otherwise(context, xs, fs, mode)

        return self.named(put, function)

    def named(self, handle: Any, function: Any) -> Callable[..., Any]:
        """`handle`, the handler of `function`, with a name by which it is found again."""
        handle.__name__ = handle.__qualname__ = getattr(function, "__name__", "handle")
        handle.handled = self.name, function  # by which `naming` finds it again
        handle.of = self
        return handle  # type: ignore[no-any-return]  # a function with an attribute

    # -- the loop ----------------------------------------------------------------------------------------

    def run(self, context: Context, call: Call, mode: Mode) -> Answer:
        """Make `call`, step by step; Python functions are entered in `mode`."""
        if self._is_plain(context, call):
            return self.plain(context, call)
        if context.texts is not None:
            texts.check_evaluated(context, call)
        step = resolve.step(call, self.table, self.protocols)
        while True:
            if context.follows_inner and type(step) is steps.Enter:
                step = resolve.met_inside(step)
            if type(step) is not steps.Delegate:
                break
            step = resolve.step(step.call, self.table, self.protocols)
        return self.drivers[type(step)](context, step, mode)  # type: ignore[no-any-return]  # all of them

    def use_row_of_mode(self, context: Context, step: steps.UseRowOfMode, mode: Mode) -> Answer:
        """Carry out the step `UseRowOfMode`: by what the row says for this mode."""
        found = steps.pass_to_row(step.row.of(self.mode), step.call)
        if type(found) is steps.Delegate:  # the function is derived
            return self.run(context, found.call, mode)
        return self.drivers[type(found)](context, found, mode)  # type: ignore[no-any-return]  # all of them

    def use_text_row(self, context: Context, step: steps.UseTextRow, mode: Mode) -> Answer:
        """As `use_row`, where text is made, or may be met that was made from numbers with a derivative."""
        written = self.written(context, step.call) if step.row.of_text else ()
        answer = self.use_row(context, step, mode)
        texts.after_row(context, step, answer[0], bool(written))
        return self.and_written(context, written, answer)

    def written(self, context: Context, call: Call) -> Sequence[Any]:
        """The arguments of `call`, which makes text, to which NaN comes back if a number is read from text:
        while it is not known whether they have a derivative."""
        return ()

    def and_written(
        self, context: Context, written: Sequence[Any], answer: Answer, *, is_out: bool = False
    ) -> Answer:
        """The `answer` of a call that has made text of `written`.  is_out: the text went to streams and
        nowhere else, and it is only read when something is made of such again."""
        return answer

    # -- rules and Python functions ------------------------------------------------------------------------

    def enter(self, context: Context, step: steps.Enter, mode: Mode) -> Answer:
        """A Python function is entered through its derived rule for arguments of these types."""
        call, engine = step.call, self.engine
        function = call.function
        engine.written(function)
        if self._is_plain(context, call):
            return self.plain(context, call)
        if type(function) is FunctionType:
            answer = self.enter_bound(
                context, call.keywords, function, call.shadow, call.args, call.shadows, "object", mode
            )
            if answer is not None:
                return self.of_origins(answer, call.origins)
        if call.shadow is None and function in with_active_defaults:
            call.shadow = context.shadows.lookup(function)
        bound = bind(call, context, self)
        parameters: list[AbstractType] = []
        values, shadows, active = [], [], []
        for value, shadow, _ in bound:
            type_ = engine.typeof(value)
            flag = 0 if shadow is None else has_shadow(type_) + 2 * has_cotangent(type_)
            if shadow.__class__ is tuple:
                shadow = self.of_tuple(value, shadow)
            values.append(value)
            shadows.append(shadow)
            parameters.append(type_)
            active.append(flag > 0)
        parameters = forms_met(engine, function, parameters)
        plan = plans.planned(engine, mode, function, parameters, active)
        args, beside = tuple(values), tuple(shadows)
        answer = self.enter_planned(context, plan, function, call.shadow, args, beside, 0)
        return self.of_bound(answer, bound)

    def alternatives(self, context: Context, step: steps.Alternatives, mode: Mode) -> Answer:
        """An operator: its operands are asked one after the other until one does not decline."""
        declined: list[Callable[[Any], Any]] = []
        for call in step.calls:
            answer = self.run(context, call, mode)
            if answer[0] is not NotImplemented:
                break
            declined.append(answer[2])  # what it did before it declined is undone like the rest
        else:
            try:
                answer = step.failure(), None, no_pullback
            except TypeError as error:
                if not (mode == "protected" and declined):
                    raise
                answer = Raised(plain_traceback(error)), None, no_pullback
        if not declined:
            return answer
        out, shadow, last = answer

        def declined_pullback(bout: Any) -> Any:
            returned = list(last(bout))
            for pullback in reversed(declined):
                returned += pullback(None)
            return returned

        return out, shadow, declined_pullback

    def spread(self, context: Context, step: steps.Spread, mode: Mode) -> Answer:
        """``f(*args, **kwargs)``: a call of `f` on the elements."""
        ff, fargs, fkeywords = (*step.call.shadows, None)[:3]
        keywords, args = step.keywords, (*step.arguments, *step.keywords.values())
        if not _NAMES.issuperset(map(type, keywords)) and not all(issubclass(type(k), str) for k in keywords):
            raise TypeError("keywords must be strings")
        if fargs is None or fargs is NO_FDATA:
            shadows: Values = (None,) * len(step.arguments)
        else:
            shadows = self.of_elements(fargs)
        named = [None if fkeywords is None else self.slot(fkeywords[k]) for k in keywords]
        names, parts = tuple(keywords), (*shadows, *named)
        return self.of_spread(step, self.call(context, names, step.function, ff, args, parts, mode))

    def locate(self, context: Context, step: steps.Locate, mode: Mode) -> Answer:
        call, place = step.call, step.place
        found = call.args[place]
        is_library = type(found).__module__ in LIBRARY
        shadow = context.shadows.lookup(found) if is_library else self.known(context, found)
        call.shadows = (*call.shadows[:place], shadow, *call.shadows[place + 1 :])
        return self.run(context, call, mode)
