"""Functions and loops of which nothing is saved: the pullback runs them again.

A call is differentiated by itself, in a context of its own: once in the forwards pass, of which only the
value is kept, and once more in the pullback, from the state that there was before.  What it has overwritten
is noted and put back for that, and so are the states of random generators.  The second run has to give the
same bits as the first.

That is right for functions that only reach memory with a derivative by way of their arguments and their
closure, and change nothing but numbers there.  All others are differentiated as if nobody had asked for a
checkpoint: whether they are is found out when the forwards pass runs.
"""

from __future__ import annotations

import copy
import functools
import hashlib
import math
import os
import random
import sys
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from adbc.errors import AdbcError, ArgumentError, UnsupportedError
from adbc.rules import default_table
from adbc.rules.table import Primitive
from adbc.runtime import default_engine
from adbc.runtime.calls.replaying import Notes, OutOfSight, has_kept_form, is_changed
from adbc.runtime.entry.first import FirstCall
from adbc.runtime.report.messages import describe
from adbc.runtime.state.activity import is_active
from adbc.runtime.state.closures import with_active_defaults
from adbc.states import Files
from adbc.tangents import (
    NO_TANGENT,
    ArrayTangent,
    MutableTangent,
    Tangent,
    increment,
    scale,
    set_to_zero,
    slot_increment,
    slot_rdata,
    slot_shadow,
    slot_tangent,
    zero_tangent,
)
from adbc.tangents.activity_marks import activate
from adbc.tangents.keys import CALL
from adbc.tangents.walk import is_address_tangent

__all__ = ["checkpoint", "checkpoint_loop"]


def checkpoint(f: Callable[..., Any]) -> Callable[..., Any]:
    """A function that computes what `f` does, of which reverse mode saves nothing: it runs `f` again.

    So a gradient needs memory for one such call at a time, and takes the time of one more run of `f`.
    Arguments that `f` overwrites are kept, and put back for the second run; so are the states of the random
    generators in its arguments and its closure, and of those of the modules `random` and `numpy.random`.

    Forward mode, plain calls and derivatives of gradients are not changed by it.  If `f` reaches memory with
    a derivative otherwise than by its arguments and its closure, changes the structure of what it is given
    (appends to a list), or returns an argument, it is differentiated as without a checkpoint.

    Raises `adbc.errors.UnsupportedError` in the pullback if the second run does not give the same bits as the
    first.

    >>> import math, adbc
    >>> def layer(x):
    ...     for _ in range(100):
    ...         x = math.sin(x) + 0.5
    ...     return x
    >>> adbc.grad(adbc.checkpoint(layer))(1.0) == adbc.grad(layer)(1.0)
    True
    """

    def checkpointed(*args: Any, **kwargs: Any) -> Any:
        return _called(f, kwargs, *args)

    return checkpointed


def checkpoint_loop(
    step: Callable[[int, Any], Any],
    state: Any,
    n: int,
    *,
    snapshots: int | None = None,
    taped: int | None = None,
    directory: str | os.PathLike[str] | None = None,
) -> Any:
    """The state after ``for i in range(n): state = step(i, state)``, of which reverse mode saves few states.

    The loop begins with a copy of `state`, so `step` may work in place.  Its reverse runs `taped` steps at a
    time, whose values it saves; the states between such pieces are snapshots, and are computed again from the
    last one before them where there are fewer than pieces, in the order of Griewank and Walther's *revolve*,
    which takes the fewest steps.

    step: ``step(i, state)`` gives the next state, of the same structure: a number, an array, a tuple, list,
    dict or object of such.  What it computes with has a derivative if it is in the state or in the closure of
    `step`.
    snapshots: the most states that are kept at a time; by default as many as there are pieces, so that each
    step is run twice.
    taped: the number of steps in a piece; by default the square root of `n`, rounded up.
    directory: where snapshots are kept in files, in a directory of their own that is made there, and not in
    memory.  A file is removed when its state has been used, and all are when the pullback has run, has
    raised, or is given up; what is left if a process is killed begins with ``adbc-states-``.  States are
    written by `pickle` and have the same bits when they come back; what it cannot write is refused with
    `adbc.errors.UnsupportedError`.

    Forward mode, plain calls and derivatives of gradients run the loop as it is written above.  Random
    generators are those of `checkpoint`, and so is what is raised.

    >>> import adbc
    >>> def euler(i, y, h=0.001):
    ...     return y - h * y * y
    >>> y, dy = adbc.value_and_grad(lambda y: adbc.checkpoint_loop(euler, y, 1000))(1.0)
    >>> round(y, 3), round(dy, 3)
    (0.5, 0.25)
    """
    for name, number in (("snapshots", snapshots), ("taped", taped)):
        if number is not None and number < 1:
            raise ArgumentError(f"{name} is a number of states or steps, at least 1, and not {number}")
    return _looped(step, state, n, snapshots, taped, directory)


def _called(f: Callable[..., Any], kwargs: dict[str, Any], *args: Any) -> Any:
    return f(*args, **kwargs)


def _looped(step: Any, state: Any, n: int, snapshots: int | None, taped: int | None, directory: Any) -> Any:
    return _steps(step, copy.deepcopy(state), 0, n)


def _call(f: Callable[..., Any], kwargs: dict[str, Any], *args: Any) -> Any:
    """`_called`, which has a rule, without it."""
    return f(*args, **kwargs)


def _loop(step: Any, state: Any, n: int, snapshots: int | None, taped: int | None, directory: Any) -> Any:
    """`_looped`, which has a rule, without it."""
    return _steps(step, copy.deepcopy(state), 0, n)


def _steps(step: Any, state: Any, first: int, end: int) -> Any:
    for i in range(first, end):
        state = step(i, state)
    return state


# -- one run of a function -----------------------------------------------------------------------------------


class _Run:
    """A call in a context of its own.

    active: the places of the arguments that have a derivative.
    """

    def __init__(self, f: Any, args: tuple[Any, ...], active: Sequence[int]) -> None:
        self.call = FirstCall(default_engine(), f, args, {}, active, strict=False)

    def pulled_back(self, cotangent: Any, after: Sequence[Any]) -> list[Any]:
        """The cotangents of the active arguments, given those of the value and,
        `after`, those of what stands in the arguments after the call."""
        call = self.call
        if after:
            _added([call.tangents[i] for i in call.numbers], after)
        returned = call.pullback(cotangent)
        return list(call.gradients(returned))


def _added(t: Any, s: Any) -> Any:
    """The tangent `t` with `s` added: in place where it has an address.  What is a constant in one of
    them is left out: a call in a context of its own takes less for constant than the one around it."""
    arrays: list[tuple[Any, Any]] = []
    total = _with(t, s, arrays, {})
    if arrays:  # together, for some may share memory
        increment([a for a, _ in arrays], [b for _, b in arrays])
    return total


def _with(t: Any, s: Any, arrays: list[tuple[Any, Any]], seen: dict[int, Any]) -> Any:
    if t is NO_TANGENT or s is NO_TANGENT or t is None or s is None:
        return t
    if isinstance(t, tuple):
        return tuple([_with(a, b, arrays, seen) for a, b in zip(t, s, strict=True)])
    if type(t) is Tangent:
        given = vars(s)
        return Tangent(**{k: _with(a, given.get(k), arrays, seen) for k, a in vars(t).items()})
    if not is_address_tangent(type(t)):
        return t + s
    if id(t) in seen:
        return t
    seen[id(t)] = t, s
    if isinstance(t, ArrayTangent) or not isinstance(t, list | dict | MutableTangent | deque):
        arrays.append((t, s))
        return t
    if isinstance(t, list | deque):
        for k, (a, b) in enumerate(zip(t, s, strict=True)):
            t[k] = _with(a, b, arrays, seen)
        return t
    for own, given in (
        ((t, s), (vars(t), vars(s)))
        if isinstance(t, dict) and hasattr(t, "__dict__")
        else (((t, s),) if isinstance(t, dict) else ((vars(t), vars(s)),))
    ):
        for k in list(own):
            own[k] = _with(own[k], given.get(k), arrays, seen)
    return t


class _State:
    """What a run of a function changes, noted before it: memory, and random generators."""

    def __init__(self, roots: Iterable[Any]) -> None:
        self.notes = Notes(of_generators=True)
        self.notes.run([*roots, *_generators()])

    def changed(self) -> tuple[list[Any], bool]:
        """What has been changed, as it was, and whether only numbers have been."""
        now = Notes(of_generators=True)
        changed, is_form_kept = [], True
        for x, old, put in self.notes.found:
            at = len(now.found)
            now.note(x)
            new = now.found[at][1] if len(now.found) > at else old
            if is_changed(old, new, put):
                changed.append((x, old, put))
                is_form_kept = is_form_kept and has_kept_form(old, new, put)
        return changed, is_form_kept


def _generators() -> list[Any]:
    """The random generators that functions of modules use."""
    found: list[Any] = [random._inst]  # the one behind the functions
    numpy_random = sys.modules.get("numpy.random")
    return found if numpy_random is None else [*found, numpy_random.mtrand._rand]


class _Put:
    """Puts noted contents back, and what stood there instead when it is left."""

    def __init__(self, noted: Sequence[Any]) -> None:
        self.noted = noted

    def __enter__(self) -> None:
        now = Notes(of_generators=True)
        for x, _, _ in self.noted:
            now.note(x)
        self.before = [entry for entry in now.found if _is_generator(entry)]
        for x, content, put in self.noted:
            put(x, content)

    def __exit__(self, *_: object) -> None:
        for x, content, put in self.before:
            put(x, content)


def _is_generator(entry: Any) -> bool:
    return bool(entry[2].__name__ == "_put_state")


def _digest(roots: Sequence[Any]) -> bytes:
    """A number for the bits of all numbers in `roots`."""
    found = hashlib.blake2b(digest_size=16)
    notes = Notes()
    pending: list[Any] = [list(roots)]
    seen: set[int] = set()
    while pending:
        for x in pending.pop():
            if isinstance(x, float | int | complex):
                found.update(repr(x).encode())
            elif id(x) not in seen and x is not None and not isinstance(x, str | bytes):
                seen.add(id(x))
                at = len(notes.found)
                pending.append(x if type(x) is tuple else list(notes.note(x)))
                for _, content, _ in notes.found[at:]:
                    if hasattr(content, "tobytes"):
                        found.update(content.tobytes())
                if hasattr(x, "dtype") and not x.ndim:
                    found.update(x.tobytes())
    return found.digest()


def _check_same(f: Any, first: bytes, again: Sequence[Any]) -> None:
    if _digest(again) != first:
        raise UnsupportedError(
            f"{describe(f)} is run again from a checkpoint, and gives something else than before",
            "it depends on what has changed meanwhile: a file, a clock, a counter, a random generator that is"
            " reached neither from its arguments nor from its closure",
            f"pass what it depends on as an argument, or call {describe(f)} without adbc.checkpoint",
        )


def _plain_value(x: Any, seen: set[int]) -> bool:
    """Whether `x` is made of numbers, and of memory that was not there before."""
    notes = Notes()
    notes.run([x])
    return not notes.public and notes.seen.isdisjoint(seen)


# -- checkpoints of calls ------------------------------------------------------------------------------------


def _inline(args: tuple[Any, ...], fargs: tuple[Any, ...]) -> tuple[Any, Any, Callable[[Any], Any]]:
    """What the dynamic call of a function, the first of `args`, answers."""
    calls: Any = default_engine().reverse_calls
    found: tuple[Any, Any, Callable[[Any], Any]] = calls.call(
        CALL.memory, (), args[0], fargs[0], args[1:], fargs[1:]
    )
    return found


def _inline_call(args: Any, fargs: Any) -> Any:
    """The call as it is differentiated without a checkpoint."""
    return _without_first(_inline((_call, *args), (None, *fargs)))


def _without_first(answer: Any) -> Any:
    out, fout, pullback = answer
    return out, fout, lambda bout: tuple(pullback(bout))[1:]


def _called_rrule(args: Any, fargs: Any, kwargs: Any) -> Any:
    f = args[0]
    context: Any = CALL.memory
    active = [i for i, s in enumerate(fargs) if s is not None]
    try:
        state = _State(args)
    except OutOfSight:
        return _inline_call(args, fargs)
    if state.notes.public or _has_active_defaults(state.notes):
        return _inline_call(args, fargs)
    try:
        run = _Run(_call, args, active)
    except AdbcError:
        _undo(state)
        return _inline_call(args, fargs)
    except BaseException:  # any exception of the user's is passed on
        if any(not _is_generator(entry) for entry in state.changed()[0]):
            context.refuse(
                UnsupportedError(
                    f"{describe(f)} raises an exception after it has overwritten an argument",
                    "what it has done cannot be undone from a checkpoint",
                    f"call {describe(f)} without adbc.checkpoint",
                )
            )
        raise
    changed, is_form_kept = state.changed()
    out, inner = run.call.out, run.call.context
    try:
        is_new = _plain_value(out, state.notes.seen)
    except OutOfSight:
        is_new = False
    others = "shadows" in vars(inner) and context.shadows.is_shared(
        inner.shadows, state.notes.seen, is_active
    )
    if others or not (is_form_kept and is_new):
        run.pulled_back(None, [])
        _undo(state)
        return _inline_call(args, fargs)
    if changed:
        activate(tuple(fargs))
    first = _digest([out, *args])
    whole = zero_tangent(out)
    del run, inner

    def called_pullback(bout: Any) -> Sequence[Any]:
        cotangent = slot_increment(whole, bout)
        mine = [slot_tangent(args[i], fargs[i]) for i in active]
        after = scale(1.0, mine)
        set_to_zero(mine)
        with _Put(changed):
            again = _Run(_call, args, active)
            _check_same(f, first, [again.call.out, *args])
            found = again.pulled_back(cotangent, after)
        total = _added(mine, found)
        result: list[Any] = [None] * len(args)
        for i, t in zip(active, total, strict=True):
            result[i] = slot_rdata(t)
        return result

    return out, slot_shadow(whole) if active else None, called_pullback


def _has_active_defaults(notes: Notes) -> bool:
    """Whether a function was met whose defaults have a derivative: a second run would begin with functions
    alone, of which defaults are no part."""
    return any(id(function) in notes.seen for function in with_active_defaults)


def _undo(state: _State) -> None:
    for x, content, put in state.notes.found:
        put(x, content)


# -- loops ---------------------------------------------------------------------------------------------------


def _looped_rrule(args: Any, fargs: Any, kwargs: Any) -> Any:
    step, state, n, snapshots, taped, directory = args
    context: Any = CALL.memory
    active = [i for i in (0, 1) if fargs[i] is not None]
    try:
        noted = _State([step])
    except OutOfSight:
        return _inline_loop(args, fargs)
    try:
        Notes(of_generators=True).run([state])
        if noted.notes.public or n < 1 or _has_active_defaults(noted.notes):
            raise OutOfSight
        loop = _Loop(step, n, snapshots, taped, context, noted.notes.seen, directory)
        if loop.is_shared(_Run(_steps, (step, copy.deepcopy(state), 0, 1), [0, 1])):
            raise OutOfSight
    except OutOfSight:
        return _inline_loop(args, fargs)
    finally:
        _undo(noted)
    value = loop.run(state)
    changed, is_form_kept = noted.changed()
    if not is_form_kept or any(not _is_generator(entry) for entry in changed):
        loop.end()
        raise UnsupportedError(
            f"{describe(step)} changes what is in its closure, in a loop with checkpoints",
            "its steps are run again from states that do not hold that",
            "make it part of the state",
        )
    if not _plain_value(value, noted.notes.seen):
        loop.end()
        _undo(noted)
        return _inline_loop(args, fargs)
    whole = zero_tangent(value)

    def looped_pullback(bout: Any) -> Sequence[Any]:
        both = loop.pulled_back(slot_increment(whole, bout))
        mine = [slot_tangent(args[i], fargs[i]) for i in active]
        result: list[Any] = [None] * len(args)
        for i, t in zip(active, _added(mine, [both[i] for i in active]), strict=True):
            result[i] = slot_rdata(t)
        return result

    return value, slot_shadow(whole) if active else None, looped_pullback


def _inline_loop(args: Any, fargs: Any) -> Any:
    """The loop as it is differentiated without checkpoints."""
    return _without_first(_inline((_loop, *args), (None, *fargs)))


class _Snapshot:
    """A state of a loop before the piece `piece`, in one of `files` if there are any, and those of the random
    generators."""

    def __init__(self, piece: int, step: Any, state: Any, files: Files | None) -> None:
        self.piece = piece
        self._file = None if files is None else files.keep(state)
        self._state = copy.deepcopy(state) if files is None else None
        self._generators = _generators_of(step)

    def state(self) -> Any:
        """A copy of the state, with the generators as they were."""
        for x, content, put in self._generators:
            put(x, content)
        return copy.deepcopy(self._state) if self._file is None else self._file.read()

    def forget(self) -> None:
        """Take note that it is not needed any more."""
        if self._file is not None:
            self._file.remove()


def _generators_of(step: Any) -> list[Any]:
    """The random generators of modules and in the closure of `step`, with their states."""
    notes = Notes(of_generators=True)
    notes.run([step, *_generators()])
    return [entry for entry in notes.found if _is_generator(entry)]


class _Loop:
    """A loop with checkpoints, cut into pieces of `taped` steps.

    context: that of the call around; seen: the addresses of what `step` reaches; directory: where snapshots
    are kept in files, None if they are kept in memory.
    """

    def __init__(
        self,
        step: Any,
        n: int,
        snapshots: int | None,
        taped: int | None,
        context: Any,
        seen: set[int],
        directory: Any,
    ) -> None:
        self.step, self.n, self.context, self.seen = step, n, context, seen
        self.taped = min(n, taped or math.isqrt(n - 1) + 1)
        self.pieces = -(-n // self.taped)
        self.slots = min(snapshots or self.pieces, self.pieces)
        self.files = None if directory is None else Files(directory, _digest)

    def end(self) -> None:
        """Remove all files."""
        if self.files is not None:
            self.files.close()

    def run(self, state: Any) -> Any:
        """The value of the loop; snapshots are made on the way."""
        try:
            return self._run(state)
        except BaseException:  # any exception of the user's is passed on
            self.end()
            raise

    def _run(self, state: Any) -> Any:
        state = copy.deepcopy(state)
        self.kept = [_Snapshot(0, self.step, state, self.files)]
        while (at := self.kept[-1].piece) < self.pieces - 1 and len(self.kept) < self.slots:
            where = at + split(self.pieces - at, self.slots - len(self.kept) + 1)
            state = self._advance(state, at, where)
            self.kept.append(_Snapshot(where, self.step, state, self.files))
        value = self._advance(state, at, self.pieces)
        self.first = _digest([value])
        return value

    def _advance(self, state: Any, first: int, end: int) -> Any:
        """The state before the piece `end`, from that before the piece `first`."""
        return _steps(self.step, state, first * self.taped, min(end * self.taped, self.n))

    def pulled_back(self, cotangent: Any) -> tuple[Any, Any]:
        """The cotangents of `step` and of the first state."""
        try:
            return self._pulled_back(cotangent)
        finally:
            self.end()

    def _pulled_back(self, cotangent: Any) -> tuple[Any, Any]:
        now = _generators_of(self.step)
        self.by_step: Any = None
        end, kept = self.pieces, self.kept
        while kept:
            snapshot = kept.pop()
            cotangent = self._pull(snapshot, end, self.slots - len(kept), cotangent)
            end = snapshot.piece
            snapshot.forget()
        for x, content, put in now:
            put(x, content)
        return self.by_step, cotangent

    def _pull(self, snapshot: _Snapshot, end: int, slots: int, cotangent: Any) -> Any:
        """The cotangent of the state in `snapshot`, from that of the state before the piece `end`; that many
        slots may be used, of which the snapshot has one."""
        first = snapshot.piece
        while end - first > 1:
            where = first + split(end - first, slots) if slots > 1 else end - 1
            state = self._advance(snapshot.state(), first, where)
            inside = _Snapshot(where, self.step, state, self.files)
            cotangent = self._pull(inside, end, slots - 1, cotangent)
            end = where
            inside.forget()
        given = self.step, snapshot.state(), first * self.taped, min(end * self.taped, self.n)
        run = _Run(_steps, given, [0, 1])
        if self.is_shared(run):
            raise UnsupportedError(
                f"{describe(self.step)} reaches memory with a derivative outside of its state and closure",
                "a loop with checkpoints follows these alone",
                "make it part of the state",
            )
        if end == self.pieces:
            _check_same(self.step, self.first, [run.call.out])
        by_step, by_state = run.pulled_back(cotangent, [])
        self.by_step = by_step if self.by_step is None else _added(self.by_step, by_step)
        return by_state

    def is_shared(self, run: _Run) -> bool:
        inner = run.call.context
        return "shadows" in vars(inner) and self.context.shadows.is_shared(
            inner.shadows, self.seen, is_active
        )


def split(n: int, slots: int) -> int:
    """Where the next snapshot of `n` pieces is best made, if there are `slots` of them, one of which is in
    front of the first piece."""
    return min(range(1, n), key=lambda m: m + advances(n - m, slots - 1) + advances(m, slots))


@functools.cache
def advances(n: int, slots: int) -> int:
    """How many pieces are run, besides once for each with its values saved, to reverse `n` pieces with
    `slots` snapshots, one of which is in front of the first."""
    if slots < 1:
        return 0 if n == 0 else sys.maxsize
    times = 0
    while math.comb(slots + times, slots) < n:
        times += 1
    return times * n - math.comb(slots + times, slots + 1) if times else 0


def _refuse_forward(*_: Any) -> Any:
    raise NotImplementedError("the function is derived in forward mode")


def _reverse_row(function: Any, rrule: Any, inside: Any) -> Primitive:
    row = Primitive(function, frule=_refuse_forward, rrule=rrule, is_fitted=True)
    row.inside = inside
    row.modes = frozenset({"reverse"})
    return row


default_table().add(
    [_reverse_row(_called, _called_rrule, _call), _reverse_row(_looped, _looped_rrule, _loop)]
)
