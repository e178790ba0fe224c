"""The steps that make calls of C, and of code that is not followed, as `Calls` does them."""

from __future__ import annotations

import abc
import functools
import sys
from collections.abc import Callable, Sequence
from types import MappingProxyType, MethodType
from typing import Any

from adbc.errors import UnsupportedError
from adbc.runtime.calls import (
    exceptions,
    foreign,
    memos,
    nested,
    plain_functions,
    steps,
    texts,
    unknown,
    weak,
)
from adbc.runtime.calls.changes import LibraryMemory
from adbc.runtime.calls.classes import SLOW
from adbc.runtime.calls.library_memory import finds_active, finds_memory
from adbc.runtime.calls.new_classes import check_namespace
from adbc.runtime.calls.objects import Answer
from adbc.runtime.calls.origins import giving, no_pullback
from adbc.runtime.calls.plain import is_plain
from adbc.runtime.calls.plain_functions import CONSTANTS, PlainFunction, are_constants
from adbc.runtime.calls.plans import Mode
from adbc.runtime.calls.steps import Call
from adbc.runtime.report.standing import called_by_user
from adbc.runtime.state.context import Context
from adbc.tangents import NO_TANGENT

__all__ = ["InC"]

_NEW = sys.getrefcount(object()) + 1
"""How often an object is referred to that only a variable holds, and the call that asks."""


class InC(abc.ABC):
    """The part of `Calls` that has to do with what is not followed: functions of C, library code that nothing
    with a derivative reaches, values that are found and not computed."""

    table: Any
    drivers: dict[type, Callable[..., Any]]
    known: Callable[[Context, Any], Any]
    known_in: Callable[[Context, Any, Any], Any]
    written: Callable[[Context, Call], Sequence[Any]]
    and_written: Callable[..., Answer]

    @abc.abstractmethod
    def constant(self, out: Any, fout: Any, count: int, undo: Callable[[], None] | None = None) -> Any:
        """The answer of `call`, of a result that nothing with a derivative goes into; undo: what the pullback
        does all the same."""

    @abc.abstractmethod
    def run(self, context: Context, call: Call, mode: Mode) -> Answer:
        """Make `call`, step by step."""

    def _is_plain(self, context: Context, call: Call) -> bool:
        """Whether `call` is made as it is, which is noted."""
        if call.is_plain is None:
            call.is_plain = is_plain(
                context, self.table, call.function, call.shadow, call.args, call.shadows, call.inside
            )
        return call.is_plain

    def plain(self, context: Context, call: Call) -> Answer:
        """Library code that nothing with a derivative reaches is called as it is."""
        function = call.function
        if function.__class__ is MethodType:  # its object is an argument like others
            own = getattr(call.shadow, "__dict__", {}).get("__self__")
            given, call = call, call.prepend(function.__func__, None, function.__self__, own, None)
            call.inside = given.inside
        latest = weak.latest_finaliser()
        try:
            out, undo = foreign.call_plainly(context, call)
        except BaseException as error:
            exceptions.raised_plainly(context, error)
            raise
        self._check_unbroken(context, call.function)
        if weak.latest_finaliser() > latest:
            weak.note_new_finalisers(context, latest)
        elif undo is None and not call.inside and are_constants(call.args, call.shadows):
            plain_functions.remember(self.table.plain_functions, call.function)
        # What somebody else holds was there before, and may be found again.
        shadow = self.known_in(context, function if sys.getrefcount(out) > _NEW else None, out)
        if shadow is not None and context.is_active(shadow):
            context.note_made(out, shadow)
        return out, shadow, no_pullback if undo is None else giving(undo)

    def again_plainly(
        self, context: Context, known: PlainFunction, function: Any, ff: Any, xs: Any, keywords: Sequence[str]
    ) -> Any:
        """``function(*xs)``, on constants, the last of them by keyword, as the function of which that is
        `known` was called before; `SLOW` if that may be no more as it was."""
        if (ff is not None and ff is not NO_TANGENT) or context.texts is not None:
            return SLOW
        if context.kept is not None or context.__dict__.get("held") or not known.holds(function):
            return SLOW
        is_bounded = known.is_harmless or known.is_quiet
        memory: LibraryMemory | None = None
        if not is_bounded and (known.finds_memory or finds_memory(context, function)):
            known.finds_memory = True
            if finds_active(context, function):
                return SLOW
            memory = LibraryMemory(context, function, ())
        named: dict[str, Any] = {}
        given = xs
        if keywords:
            count = len(xs) - len(keywords)
            given, named = xs[:count], dict(zip(keywords, xs[count:], strict=True))
        try:
            if known.looks:
                out = called_by_user(functools.partial(function, *given, **named))
            else:
                out = function(*given, **named)
        except BaseException as error:
            exceptions.raised_plainly(context, error)
            raise
        undo = None if memory is None else memory.undoing(None)
        if not known.is_quiet:
            context.attributes.clear()
        if not is_bounded:
            self._check_unbroken(context, function)
        if type(out) in CONSTANTS:
            return self.constant(out, None, len(xs) + 1, undo)
        foreign.keep_made(context, out, ())
        shadow = self.known_in(context, function if sys.getrefcount(out) > _NEW else None, out)
        if shadow is not None and context.is_active(shadow):
            context.note_made(out, shadow)
        return self.constant(out, shadow, len(xs) + 1, undo)

    def _check_unbroken(self, context: Context, function: Any) -> None:
        """Raise if `function`, which was called as it is, has bound names anew that derived code uses."""
        broken = [rule for rule in context.checked if rule is not None and not rule.holds()]
        if broken and all(rule.goes_on() for rule in broken):
            context.checked.difference_update(broken)
        elif broken:
            name, *_ = [name for rule in broken for name in rule.mend()] or ["a method of a class"]
            who = getattr(function, "__qualname__", type(function).__qualname__)
            raise UnsupportedError(
                f"{name} is bound to something else by {who}",
                "code that uses what it was bound to is being differentiated",
                "bind it before the call, or pass the function or module as an argument",
            )

    def foreign(self, context: Context, step: steps.Foreign, mode: Mode) -> Answer:
        out, undo, lost = foreign.call_foreign(context, step.call)
        if lost is not None:
            return out, self.known(context, out), lost.pullback(undo)
        return out, self.known(context, out), no_pullback if undo is None else giving(undo)

    def differentiate(self, context: Context, step: steps.Differentiate, mode: Mode) -> Answer:
        """A derivative is taken: that of constants as it is, any other by code that is followed."""
        call = step.call
        if not foreign.reaches_active(context, call):
            return self.foreign(context, steps.Foreign(call), mode)
        context.follows_inner = True
        return self.run(context, nested.followed(call)(self, context, call), mode)

    def delegate_active(self, context: Context, step: steps.DelegateActive, mode: Mode) -> Answer:
        call = step.call
        if not foreign.is_met(context, call):
            return self.foreign(context, steps.Foreign(call), mode)
        return self.run(context, call.of(step.body), mode)

    def remember(self, context: Context, step: steps.Remember, mode: Mode) -> Answer:
        call = step.call
        if not step.name:
            tells_values_apart = not self.table.declared
            return memos.call_remembered(
                context, call, lambda inner: self.run(context, inner, mode), tells_values_apart
            )
        memo = memos.memo_of(context, call.args[0])
        if memo is None or len(call.args) > 1:
            return self.foreign(context, steps.Foreign(call), mode)
        if step.name == "cache_info":
            return memo.info(), None, no_pullback
        memo.clear()
        return self.foreign(context, steps.Foreign(call), mode)

    def apart(self, context: Context, step: steps.Apart, mode: Mode) -> Answer:
        call = step.call
        nested.adopt_all(context, call)
        out = call.perform()
        return out, self.known(context, out), no_pullback

    def put_in_step(self, context: Context, step: steps.PutInStep, mode: Mode) -> Answer:
        nested.adopt_all(context, step.call)
        settled = step.call.perform()
        if settled is None:
            return None, None, no_pullback
        changed, put_back, lost = settled
        undo = unknown.settled_undo(context, changed)
        shadows = [(self.known(context, x), where, refusal) for x, where, refusal in lost]
        if context.is_forward or context.follows_inner:
            unknown.mark(context, shadows)

        def undo_all() -> None:
            unknown.check(shadows)
            put_back()
            undo()

        return None, None, giving(undo_all)

    def found(self, context: Context, step: steps.Found, mode: Mode) -> Answer:
        texts.read(context, step.call, step.value)
        owner = step.call.args[0] if step.call.args else None
        if context.classes and type(owner) is MappingProxyType:
            check_namespace(context, owner)
        return step.value, self.known_in(context, owner, step.value), no_pullback

    def of_function(self, context: Context, step: steps.OfFunction, mode: Mode) -> Answer:
        space, name = step.call.args
        shadow = context.shadows.lookup(space)
        if shadow is None:  # nothing is followed there that was written: it is found by its address
            return self.found(context, steps.Found(step.call, space[name]), mode)
        step.call.shadows = (shadow, None)
        return self.run(context, step.call, mode)

    def run_watched(self, context: Context, step: steps.RunWatched, mode: Mode) -> Answer:
        call = step.call
        written = self.written(context, call) if step.makes_text else ()
        out, undo = foreign.watched(context, call, step.what)
        if step.makes_text:
            texts.follow(context, call.function, call.args, call.shadows, out, call.by_name(), bool(written))
        answer = out, self.known(context, out), no_pullback if undo is None else giving(undo)
        return self.and_written(context, written, answer)

    def settle(self, context: Context, step: steps.Settle, mode: Mode) -> Answer:
        undo = foreign.settled(context, step.keys, step.container)
        inner = step.step
        answer: Answer
        if type(inner) is steps.Delegate:
            answer = self.run(context, inner.call, mode)
        else:
            answer = self.drivers[type(inner)](context, inner, mode)
        if undo is None:
            return answer
        out, shadow, pullback = answer

        def settled_pullback(bout: Any) -> Any:
            returned = list(pullback(bout))
            undo()
            return returned

        return out, shadow, settled_pullback
