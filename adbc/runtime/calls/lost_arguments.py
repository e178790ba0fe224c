"""Arguments of functions in C without a rule, while it is not known whether they have a derivative.

What such a function makes of them is taken for constant, and NaN comes back to them (`tangents.lost`).  So it
does to numbers that were written as text, if a number was read from text later.
"""

from __future__ import annotations

import gc
import sys
import types
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from adbc.errors import MissingRuleError
from adbc.runtime.calls.generators import Generator
from adbc.runtime.calls.steps import Call
from adbc.runtime.report.messages import missing_rule
from adbc.runtime.state.context import Context
from adbc.tangents import lost

__all__ = ["LostArguments", "LostKeywords", "lost_arguments", "queued", "written_as_text"]


class LostArguments:
    """Values, each with the origin of its cotangent and its shadow, to which `nan` comes back."""

    def __init__(self, call: Call, values: Sequence[tuple[Any, Any, Any]], nan: float) -> None:
        self.call = call
        self.values = values
        self.nan = nan

    def refuse(self, undo: Callable[[], None] | None) -> None:
        """Raise, if there is something to undo in memory that may have a derivative: what was changed there
        would have none."""
        if undo is not None and any(lost.has_memory(x, f) for _, x, f in self.values):
            undo()
            raise missing_rule(self.call)

    def pullback(self, undo: Callable[[], None] | None) -> Callable[[Any], Any]:
        """The pullback of the call; `undo` takes back what it has changed."""

        def losing_pullback(bout: Any) -> Any:
            if undo is not None:
                undo()
            return [(origin, lost.lose(x, f, self.nan)) for origin, x, f in self.values]

        return losing_pullback


class LostKeywords:
    """The arguments by keyword of `call` that its rule takes for constants, while it is not known whether
    they are."""

    def __init__(self, context: Context, call: Call) -> None:
        self.context = context
        self.call = call
        self.places: list[tuple[int, float]] = []

    def put_off(self, place: int, error: MissingRuleError) -> bool:
        """Whether `error`, about the argument at this place, may wait, which is noted."""
        if not lost.may_be_lost(self.call.args[place], self.call.shadows[place]):
            return False
        nan = self.context.put_off(lambda: error)
        if nan is not None:
            self.places.append((place, nan))
        return nan is not None

    def origins(self) -> list[Any]:
        return [self.call.origins[place] for place, _ in self.places]

    def and_lost(self, answer: Any, count: int) -> Any:
        """The `answer` of a rule; behind what its pullback gives for its `count` arguments stands what comes
        back to those that are lost."""
        if not self.places:
            return answer
        out, fout, inner = answer
        call = self.call

        def losing_pullback(bout: Any) -> Any:
            given = list(inner(bout))
            given += [None] * (count - len(given))
            return given + [lost.lose(call.args[i], call.shadows[i], nan) for i, nan in self.places]

        return out, fout, losing_pullback


def lost_arguments(context: Context, call: Call, shadows: Sequence[Any]) -> LostArguments:
    """The arguments of `call`, of a function without a rule, that may have a derivative.

    Raises `MissingRuleError` if something of another kind may have one than `tangents.lost` knows, or the
    refusal may not wait.
    """
    found: list[tuple[Any, Any, Any]] = []
    nan = None
    if not context.is_active(call.shadow):
        for x, shadow, origin in zip(call.args, shadows, call.origins, strict=True):
            if shadow is not None and context.is_active(shadow):
                if not lost.may_be_lost(x, shadow):
                    break
                found.append((origin, x, shadow))
        else:
            nan = context.put_off(lambda: missing_rule(call))
    if nan is None:
        raise missing_rule(call)
    return LostArguments(call, found, nan)


def written_as_text(context: Context, call: Call) -> Sequence[tuple[Any, Any, Any]]:
    """The arguments of `call`, which makes text, that may have a derivative, each with its origin and shadow;
    none if one is of another kind than `tangents.lost` knows, or no refusal may wait."""
    if context.start_waiting is None or context.follows_inner:
        return ()
    found = []
    for x, shadow, origin in zip(call.args, call.shadows, call.origins, strict=False):
        if shadow is not None and context.is_active(shadow):
            if not lost.may_be_lost(x, shadow):
                return ()
            found.append((origin, x, shadow))
    return found


def queued(call: Call) -> Iterator[Any]:
    """The functions in what `call` puts into a queue of C code's: a thread that was started before, and
    looked at then, may take them out and call them."""
    queue = sys.modules.get("queue")
    owner = getattr(call.function, "__self__", call.args[0] if call.args else None)
    if queue is None or type(owner) is not queue.SimpleQueue:
        return
    pending, seen = list(call.args), set[int]()
    while pending:
        x = pending.pop()
        if id(x) in seen:
            continue
        seen.add(id(x))
        if type(x) in (tuple, list):
            pending.extend(x)
        elif type(x) is dict:
            pending.extend(x.values())
        elif type(x) is Generator:  # of tasks
            pending.extend(x.state)
        elif type(x) is types.GeneratorType:
            pending.extend(y for y in gc.get_referents(x) if type(y) in _WHERE_TASKS_ARE)
        elif type(x) in _CALLED:
            yield x


_CALLED = frozenset({types.FunctionType, types.MethodType})
_WHERE_TASKS_ARE = frozenset({tuple, list, dict, *_CALLED})
