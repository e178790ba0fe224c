"""Runs programs: forwards, with a tape in reverse mode, and back along the tape."""

from __future__ import annotations

import sys
from collections.abc import Callable
from math import inf
from typing import Any

from adbc.ir import intrinsics
from adbc.ir.terminators import Branch, Jump, Raise, Return, Switch
from adbc.runtime.cold.program import End, Program
from adbc.runtime.cold.steps import COPIED, MERGED, TUPLE
from adbc.tangents import add

__all__ = ["Frame", "Tape", "back"]

Tape = list[tuple[Any, Any, tuple[Any, ...]]]
"""What is to be done on the way back, first to last: a pullback, the step that it is of, and the companions
of what it gives cotangents for, of which those without one get none.  In place of a pullback: `COPIED`,
`TUPLE`, or `MERGED` with the pairs of places of phis and what they were assigned."""


class Frame:
    """One call of a program.

    values, beside: by place, the values and their companions.  tape: None in forward mode.  is_protected:
    whether the caller gets exceptions as values, and so what was done before them is to be reversed.
    """

    __slots__ = (
        "beside", "caught", "context", "function", "function_companion", "is_protected", "leave", "most",
        "program", "steps", "tape", "values",
    )  # fmt: skip

    def __init__(
        self, program: Program, context: Any, function: Any, function_companion: Any, is_protected: bool
    ) -> None:
        self.program = program
        self.context = context
        self.function = function
        self.function_companion = function_companion
        self.is_protected = is_protected
        self.values = program.start.copy()
        self.beside: list[Any] = [None] * len(self.values)
        self.tape: Tape | None = None if program.mode.is_forward else []
        self.caught: BaseException | None = None
        self.steps = 0
        """How many steps have been run."""
        self.most = inf
        """Behind how many steps a loop is worth code."""
        self.leave: Callable[[Frame, int], int | None] | None = None
        """Runs what is left of the function from the beginning of the section of a number, by code that is
        made for that, and gives the place of the result; None if that cannot be done there."""

    @property
    def first(self) -> Any:
        """The first argument of a method, by the name that it has there."""
        return self.values[0] if self.program.names_self else None

    def parameter(self, name: str) -> Any:
        """What the parameter called `name` is; None if there is none."""
        for value, argument in zip(self.values, self.program.graph.arguments, strict=False):
            if argument.name == name:
                return value
        return None

    def forget(self) -> None:
        """Let go of what has been computed, which the tape holds as far as the way back needs it: memory, and
        iterators, which no pullback could be run twice with."""
        count = len(self.program.graph.arguments)
        del self.values[count:], self.beside[count:]

    def run(self) -> int:
        """Run the program; the place of the result."""
        handled = sys.exception()
        try:
            return self._run()
        except BaseException as error:  # handed on as it is: a handler may have been left on the way
            raised = error
        intrinsics._pop_except_(handled)
        intrinsics._reraise_(raised)

    def _run(self) -> int:
        sections = self.program.sections
        source, at = -1, 0
        while True:
            section = sections[at]
            if section.phis:
                self._merge(section.phis[source])
            if self.steps > self.most + section.patience:
                place = self.leave(self, at)  # type: ignore[misc]  # there, if steps are counted
                if place is not None:
                    return place
            self.steps += len(section.steps) + 1
            raised: BaseException | None = None
            end = section.end
            if section.handler < 0:
                for step in section.steps:
                    step.run(self)
                if end.kind is Return:
                    return end.places[0]
                target = self._follow(end)
            else:
                try:
                    for step in section.steps:
                        step.run(self)
                    if end.kind is Return:
                        return end.places[0]
                    target = self._follow(end)
                except BaseException as error:  # a handler sees every exception
                    raised = error
                    target = section.handler
            self.caught = raised
            source, at = at, target

    def _merge(self, pairs: tuple[tuple[int, int], ...]) -> None:
        """Give phis their values, all at the same time."""
        values, beside = self.values, self.beside
        merged = [(place, operand, values[operand], beside[operand]) for place, operand in pairs]
        active = []
        for place, operand, value, companion in merged:
            values[place], beside[place] = value, companion
            if companion is not None:
                active.append((place, operand))
        if active and self.tape is not None:
            self.tape.append((MERGED, None, tuple(active)))

    def _follow(self, end: End) -> int:
        """The number of the section that `end` leads to."""
        kind = end.kind
        if kind is Jump:
            return end.targets[0]  # type: ignore[no-any-return]  # an int
        if kind is Branch:
            return end.targets[self.values[end.places[0]]]  # type: ignore[no-any-return]
        if kind is Switch:
            return end.targets.get(self.values[end.places[0]], end.default)  # type: ignore[no-any-return]
        if kind is Raise:
            given = [self.values[place] for place in end.places]
            if not given:
                _raise()  # again, what has passed this frame
            self.program.lines.at(end.line)(_raise, given, self, self.first)
        raise AssertionError("a place in a graph was reached that cannot be")


def _raise(*given: Any) -> None:
    """``raise error from cause``, as much of it as is given."""
    if not given:
        raise  # what is being handled is the state of the thread
    if len(given) > 1:
        raise given[0] from given[1]
    raise given[0]


def back(frame: Frame, out: int, bout: Any) -> list[Any]:
    """The cotangents of what is in the places of `frame`, which has been run, if that of its result, in the
    place `out`, is `bout`."""
    program = frame.program
    first_constant = program.first_constant
    cotangents: list[Any] = [None] * first_constant
    if out < first_constant:
        cotangents[out] = bout
    assert frame.tape is not None
    for pullback, step, companions in reversed(frame.tape):
        if pullback is MERGED:
            found = [(operand, cotangents[place]) for place, operand in companions]
            for place, _ in companions:
                cotangents[place] = None
            for operand, part in found:
                if part is not None and operand < first_constant:
                    old = cotangents[operand]
                    cotangents[operand] = part if old is None else add(old, part)
            continue
        b, cotangents[step.out] = cotangents[step.out], None
        if pullback is COPIED:
            parts: Any = (b,)
        elif pullback is TUPLE:
            if b is None:
                continue
            parts = b
        else:
            parts = step.call(frame, pullback, b)
        for place, part, companion in zip(step.targets, parts, companions):  # noqa: B905  # called often
            if part is not None and companion is not None and 0 <= place < first_constant:
                old = cotangents[place]
                cotangents[place] = part if old is None else add(old, part)
    return cotangents
