"""The steps of iterators and generators, as `Calls` does them."""

from __future__ import annotations

import abc
from collections.abc import Callable
from typing import Any, ClassVar

from adbc.ir import intrinsics
from adbc.ir.intrinsics import Raised
from adbc.runtime.calls import steps
from adbc.runtime.calls.binding import bind
from adbc.runtime.calls.classes import SLOW, may_change, python_method
from adbc.runtime.calls.generators import Generator, suspended
from adbc.runtime.calls.objects import Answer
from adbc.runtime.calls.origins import keyword_rdata, no_pullback, scatter
from adbc.runtime.calls.plans import Mode, Plan
from adbc.runtime.calls.resuming import resumed, stopped, stops
from adbc.runtime.calls.steps import Call
from adbc.runtime.state.closures import cells_of
from adbc.runtime.state.context import Context
from adbc.runtime.state.engine import EngineView
from adbc.tangents import slot_rdata

__all__ = ["Iterating"]

Values = tuple[Any, ...]

_NOTHING_SENT = False, None, None


class Iterating(abc.ABC):
    """The part of `Calls` that has to do with iterators and generators."""

    engine: EngineView
    mode: ClassVar[Mode]
    attempted: ClassVar[Mode]
    slot: Callable[[Any], Any]
    fill: Callable[[Any, Any], Any]
    fill_each: Callable[[Any, Any], Any]
    known: Callable[[Context, Any], Any]
    known_in: Callable[[Context, Any, Any], Any]
    decided: dict[Any, Any]

    @abc.abstractmethod
    def enter_planned(
        self,
        context: Context,
        plan: Plan,
        function: Any,
        ff: Any,
        xs: Any,
        fs: Any,
        first: int,
        hand: Any = None,
    ) -> Any:
        """Enter a Python function as `plan` says; cotangents come behind `first` Nones.

        hand: what hands the arguments to the code in place of the plan's own; where it gives None, because
        they are of other classes than those that it is for, so does the method.
        """

    @abc.abstractmethod
    def of_elements(self, shadow: Any) -> Values:
        """What stands beside the elements of a tuple or list."""

    @abc.abstractmethod
    def of_keywords(self, values: dict[str, Any], shadows: dict[str, Any]) -> Any:
        """What stands beside the dictionary of ``**kwargs``."""

    @abc.abstractmethod
    def run(self, context: Context, call: Call, mode: Mode) -> Answer:
        """Make `call`, step by step."""

    @abc.abstractmethod
    def call(
        self, context: Context, keywords: Any, f: Any, ff: Any, xs: Any, fs: Any, mode: Mode | None = None
    ) -> Any:
        """Answer a call."""

    @abc.abstractmethod
    def constant(self, out: Any, fout: Any, count: int) -> Any:
        """The answer of a call to the `count` arguments of which nothing comes back."""

    @abc.abstractmethod
    def by_row(self, function: Any) -> Callable[..., Any]:
        """The handler of an intrinsic or operator."""

    @abc.abstractmethod
    def use_on_iterator(self, row: Any, xs: Any, fs: Any) -> Any:
        """The answer of a handler, of the next value of an iterator in C, by `row`."""

    @abc.abstractmethod
    def named(self, handle: Any, function: Any) -> Callable[..., Any]:
        """`handle`, the handler of `function`, with a name by which it is found again."""

    @abc.abstractmethod
    def of_one(self, answer: Answer) -> Any:
        """The answer of a handler that was given one argument, to which nothing comes back, from that of a
        driver."""

    @abc.abstractmethod
    def of_last(self, answer: Answer, count: int) -> Any:
        """The answer of a handler that was given `count` arguments, of which something comes back to the
        last, from that of a driver."""

    @abc.abstractmethod
    def of_step(self, answer: Any, is_over: bool) -> Any:
        """The answer of a handler that was given an iterator, from that of `call` of its ``__next__``; with
        `is_over`, there is no more."""

    def next_of(self, function: Any) -> Callable[..., Any]:
        """The handler of `function`, which asks an iterator for its next value: generators go on without more
        ado, and iterators written in Python are asked as any function is called."""
        otherwise, raises, own = self.by_row(function), function is next, self.mode
        step, decided, use = self.by_row(intrinsics._next_), self.decided, self.use_on_iterator
        in_c: dict[type, Any] = {}  # keys of rows, by classes of iterators of which no Python code is asked

        def take(context: Context, xs: Values, fs: Values, mode: Mode = own) -> Any:
            if not xs:
                return otherwise(context, xs, fs, mode)
            key = in_c.get(type(xs[0]))
            if key is not None:
                row = decided.get(key)
                is_known = row is not None and row is not SLOW
                return use(row, xs, fs) if is_known else otherwise(context, xs, fs, mode)
            if type(xs[0]) is Generator and fs[0] is not None and len(xs) == 1:
                answer = self.of_one(resumed(self, context, xs[0], fs[0], _NOTHING_SENT, mode))
                if raises and answer[0] is intrinsics.EXHAUSTED:
                    if mode == own:
                        raise stopped(context, xs[0], fs[0])
                    return stops(context, xs[0], fs[0], answer[2])
                return answer
            if raises and len(xs) == 1 and not may_change(type(xs[0])):  # no Python code is asked
                answer = step(context, xs, fs, mode)
                if answer[0] is intrinsics.EXHAUSTED:
                    raise StopIteration
                return answer
            way = self.way_to_advance(context, type(xs[0]))
            if way is SLOW or raises:
                if not raises and type(xs[0]) is not Generator and not may_change(type(xs[0])):
                    in_c[type(xs[0])] = function, (type(xs[0]),)
                return otherwise(context, xs, fs, mode)
            return self.advanced(context, way, xs, fs, mode)

        return self.named(take, function)

    def iterator_of(self, function: Any) -> Callable[..., Any]:
        """The handler of `function`, which asks for an iterator: a generator is its own."""
        otherwise, own = self.by_row(function), self.mode

        def iterator(context: Context, xs: Values, fs: Values, mode: Mode = own) -> Any:
            if type(xs[0]) is Generator:
                return self.constant(xs[0], fs[0], 1)
            return otherwise(context, xs, fs, mode)

        return self.named(iterator, function)

    def resume_of(self, function: Any) -> Callable[..., Any]:
        """The handler of `function`, which lets a generator go on with what it is sent."""
        otherwise, is_pair, own = self.by_row(function), function is intrinsics._send_, self.mode

        def resume(context: Context, xs: Values, fs: Values, mode: Mode = own) -> Any:
            if type(xs[0]) is not Generator or fs[0] is None or type(xs[-1]) is intrinsics.Thrown:
                return otherwise(context, xs, fs, mode)
            sent = not is_pair and xs[1], xs[-1], fs[-1]
            return self.of_last(resumed(self, context, xs[0], fs[0], sent, mode, is_pair), len(xs))

        return self.named(resume, function)

    def way_to_advance(self, context: Context, cls: type) -> Any:
        """The ``__next__`` of instances of `cls`, if it is written in Python; else `SLOW`."""
        key = cls, "next()"
        found = context.attributes.get(key)
        if found is None:
            method = None if cls is Generator else python_method(cls, "__next__")
            found = context.attributes[key] = SLOW if method is None else method
        return found

    def advanced(self, context: Context, method: Any, xs: Any, fs: Any, mode: Mode) -> Any:
        """The answer of a handler that asks an iterator by its `method`, as `advance` does."""
        try:
            answer = self.call(context, (), method, None, xs, fs, self.attempted)
        except StopIteration as stop:
            context.has_caught(stop)
            return self.constant(intrinsics.EXHAUSTED, None, 1)
        if type(answer[0]) is Raised:
            error = answer[0].exception
            if issubclass(type(error), StopIteration):
                return self.of_step(answer, True)
            if mode != self.attempted:
                raise error
        return self.of_step(answer, False)

    def advance(self, context: Context, step: steps.Advance, mode: Mode) -> Answer:
        """``next(it)`` of an iterator written in Python.

        It is attempted, for it may have done something before it found that there is no more.
        """
        try:
            answer = self.run(context, step.call, self.attempted)
        except StopIteration as stop:
            context.has_caught(stop)
            return intrinsics.EXHAUSTED, None, no_pullback
        if type(answer[0]) is Raised:
            error = answer[0].exception
            if issubclass(type(error), StopIteration):
                return intrinsics.EXHAUSTED, None, answer[2]
            if mode != self.attempted:
                raise error
        return answer

    def suspend(self, context: Context, step: steps.Suspend, mode: Mode) -> Answer:
        """A generator function is called: its parameters and cells become the state of a generator."""
        call = step.call
        function = call.function
        if call.shadow is None:
            call.shadow = context.shadows.lookup(function)
        bound = bind(call, context, self)
        cells = cells_of(context, function, call.shadow)
        state = (*(value for value, _, _ in bound), *(cell for cell, _ in cells))
        shadows = (*(shadow for _, shadow, _ in bound), *(shadow for _, shadow in cells))
        filled = tuple(map(self.fill, state, shadows))
        segments = self.engine.segments(function)
        out, shadow = suspended(segments, state, filled, function, context.opening())
        context.shadows.register(out, shadow)

        def suspended_pullback(bout: Any) -> Any:
            rdata = slot_rdata(shadow.__dict__["state"])
            targets = [origin for _, _, origin in bound if origin.__class__ is not dict]
            return keyword_rdata(bound) + ([] if rdata is None else scatter(targets, rdata))

        return out, shadow, suspended_pullback

    def resume(self, context: Context, step: steps.Resume, mode: Mode) -> Answer:
        generator, shadow = step.call.args[0], step.call.shadows[0]
        out, fout, pullback = resumed(self, context, generator, shadow, step.sent, mode, step.is_pair)
        return out, fout, lambda bout: ((step.origin, pullback(bout)),)
