"""Rules that are interpreted until they are worth code of their own.

What is made for a rule is what the builders would make: a forwards pass and a pullback, or a dual function,
that are called in the same way.  Each call counts its steps; when they have cost about what code costs, the
rule gets code, in the same place.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from adbc.forward.structure import is_solid
from adbc.ir.intrinsics import Raised, _real_
from adbc.runtime.calls.reverse import completing_type, value_shadow
from adbc.runtime.cold.machine import Frame, back
from adbc.runtime.cold.program import Program
from adbc.runtime.report.tracebacks import plain_traceback
from adbc.tangents import NO_TANGENT, fill_tangent, fresh_shadow
from adbc.types import AbstractType, has_cotangent, has_shadow
from adbc.types.lattice import ValueArrayType, is_number

__all__ = ["REPEATED", "ColdRule", "Record"]

_DEEP = 16
"""How many calls of one function may be interpreted at a time."""
REPEATED = 3
"""In so many calls from outside is a function of the user's met that is interpreted; in the last it gets
code: who has called for a derivative so often will do so again."""
_SEVERAL = 2
"""A function of a library does too if each of these calls runs its steps more often than that."""


class Record:
    """What the forwards pass of a cold rule saves for the pullback: its frame, and the place of the result.

    It is there from the beginning of the pass, in which the rule may come to have code.
    """

    __slots__ = ("frame", "out", "rule")

    def __init__(self, rule: ColdRule, frame: Frame) -> None:
        self.rule = rule
        self.frame = frame
        self.out = 0
        rule.records += 1

    def __del__(self) -> None:
        self.rule.records -= 1
        if not self.rule.records and self.rule.when_none is not None:
            self.rule.when_none()


class ColdRule:
    """How one program is called as a derived rule.

    active: per parameter, whether it is.  warm: makes code, and gives what is to be called from then on; None
    if the rule is to stay cold.  learn: called when a result has been of another class than before.  leave:
    `Frame.leave`.  worth: how often each step is run, on average, before code is made.  retire: given where
    another rule is to have the code; in the call of a context, has that entered from the next time on.
    """

    def __init__(
        self,
        program: Program,
        parameters: Sequence[AbstractType],
        active: Sequence[Any],
        result: AbstractType,
        mode: str,
        takes_function: bool,
        warm: Callable[[], Callable[..., Any]] | None,
        learn: Callable[[], None] | None,
        leave: Callable[[Frame, int], int | None],
        worth: int,
        retire: Callable[[Any], None] | None,
    ) -> None:
        self.program = program
        self.result = result
        self.is_protected = mode == "protected"
        self.takes_function = takes_function
        self.warm = warm
        self.learn = learn
        self.leave = leave
        self.retire = retire
        self.steps = 0
        """How many steps have been run."""
        self.most = worth * program.size
        self.repeats = REPEATED - (retire is not None)
        """In how many calls from outside the program is met before code is made; where another rule is to
        have it, which is entered from the next call on, that is one less."""
        self.running = 0
        """How many calls of it are under way."""
        self.records = 0
        """How many records there are that the pullback has to understand."""
        self.when_none: Callable[[], object] | None = None
        """Called when there are no such records any more."""
        is_forward = program.mode.is_forward
        pairs = [*zip(parameters, map(bool, active), strict=True)]
        self.with_companion = [on and (is_forward or has_shadow(t)) for t, on in pairs]
        self.implied = [None if not on or is_forward else value_shadow(t) for t, on in pairs]
        """By parameter, its companion where the caller gives none."""
        self.owned = [i for i, (t, on) in enumerate(pairs) if on and type(t) is ValueArrayType]
        """The arrays whose cotangents the caller wants back as values."""
        self.wanted = [(i, completing_type(t)) for i, (t, on) in enumerate(pairs) if on and has_cotangent(t)]
        self.returns_companion = has_shadow(result)
        self.returns_cotangent = has_cotangent(result)

    def _entered(self, arguments: Sequence[Any]) -> Frame:
        """The frame of a call with these arguments, in the order in which derived rules get them."""
        at = 3 if self.takes_function else 1
        function, companion = arguments[1:at] or (None, None)
        frame = Frame(self.program, arguments[0], function, companion, self.is_protected)
        if self.warm is not None and not self.program.mode.thermostat.is_held:
            frame.most, frame.leave = self.most - self.steps, self.leave
        values, beside = frame.values, frame.beside
        for i, is_given in enumerate(self.with_companion):
            values[i], beside[i] = arguments[at], self.implied[i]
            at += 1
            if is_given:
                beside[i] = arguments[at]
                at += 1
        for i in self.owned:
            beside[i] = fresh_shadow(values[i], False)
        return frame

    def _is_hot(self, context: Any) -> bool:
        """Whether the rule is to have code; a recursion is, which would take more room on the stack."""
        if self.warm is None:
            return False
        program = self.program
        if program not in context.interpreted:
            context.interpreted.add(program)
            program.rounds += 1
        # What rules are made of stands where code of the user's does in derivatives that are differentiated.
        is_repeated = program.is_of_user or (program.is_own and context.follows_inner)
        is_worth_it = self.steps > self.most or (
            program.rounds >= self.repeats
            and (is_repeated or self.steps > _SEVERAL * program.rounds * program.size)
        )
        return (is_worth_it and not program.mode.thermostat.is_held) or self.running >= _DEEP

    def _ended(self, frame: Frame) -> None:
        self.running -= 1
        self.steps += frame.steps
        if self.learn is not None and self.program.news:
            self.learn()

    # -- what derived rules are called as ------------------------------------------------------------------

    def forwards(self, *arguments: Any) -> Any:
        """The forwards pass."""
        if self._is_hot(arguments[0]):
            if self.retire is None:
                return self.warm()(*arguments)  # type: ignore[misc]  # is not None
            self.retire(arguments[0])
        frame = self._entered(arguments)
        record = Record(self, frame)
        self.running += 1
        try:
            place = record.out = frame.run()
        except BaseException as error:  # the caller has asked for any exception as a value
            if not self.is_protected:
                raise
            self.program.mode.caught(frame.context, error)
            out, companion = Raised(plain_traceback(error)), None
        else:
            out, companion = frame.values[place], frame.beside[place]
        finally:
            self._ended(frame)
            frame.forget()
        return (out, companion, record) if self.returns_companion else (out, record)

    def pullback(self, record: Record, bout: Any = None) -> tuple[Any, ...]:
        """The pullback of a call that `forwards` has recorded."""
        frame = record.frame
        cotangents = back(frame, record.out, bout)
        owned = self.owned
        return tuple([frame.beside[i] if i in owned else made(cotangents[i]) for i, made in self.wanted])

    def dual(self, *arguments: Any) -> Any:
        """The dual function of forward mode."""
        if self._is_hot(arguments[0]):
            if self.retire is None:
                return self.warm()(*arguments)  # type: ignore[misc]  # is not None
            self.retire(arguments[0])
        frame = self._entered(arguments)
        self.running += 1
        try:
            place = frame.run()
        finally:
            self._ended(frame)
        out = frame.values[place]
        return out, _in_form(out, frame.beside[place], self.result)


def _in_form(value: Any, tangent: Any, known: AbstractType) -> Any:
    """`tangent`, that of `value`, in the form that tangents of values of this type have in generated code."""
    if tangent is NO_TANGENT:
        tangent = None
    if is_number(known):
        return _real_(tangent, NO_TANGENT)
    return fill_tangent(value, tangent) if is_solid(known) else tangent
