"""Rules of `adbc.chainrules` as rows of the table, and tangents of the one as tangents of the other.

Here a tangent has one class for each class of primal, and what has an address has a shadow; there a rule
gives what is natural: a thunk, a zero, a `Tangent` of some parts.  What a rule gives is checked, and goes the
way of all cotangents (`tangents.accumulate`), so that no rule can drop one.
"""

from __future__ import annotations

import types
from collections import deque
from collections.abc import Callable, Sequence
from typing import Any

from adbc import chainrules as cr
from adbc.chainrules.binding import Binding, positional_parameters
from adbc.chainrules.registry import BOTH, Declaration
from adbc.chainrules.scalar import Partials
from adbc.chainrules.structured import parts_of
from adbc.errors import InvalidTangentError, UnsupportedError
from adbc.lazy import demanded
from adbc.rules.declared import DeclaredZero, JointPartials, SeparatePartials, check_fit, name_of, new_result
from adbc.rules.lookup import OptOut, RuleTable, derived_body
from adbc.rules.stopping import ROWS as STOPPING
from adbc.rules.stopping import stop_gradient
from adbc.rules.table import NO_KWARGS, Args, Kwargs, Overlay, Pullback, Rule
from adbc.tangents import (
    NO_TANGENT,
    FData,
    RData,
    accumulate,
    cotangent_of,
    fill_tangent,
    fresh_shadow,
    fresh_tangent,
    project,
    slot_increment,
    slot_shadow,
    zero_tangent,
)
from adbc.tangents.fit import complex_misfit, cotangent_misfit, misfit, result_misfit
from adbc.tangents.protocol import AddressKind, ValueKind, kind_of

__all__ = [
    "ChainRule",
    "add_natural",
    "adopt",
    "engine_tangent",
    "natural_tangent",
    "refuse_shared",
    "row_of",
]

Key = Any


# -- tangents -------------------------------------------------------------------------------------------


def natural_tangent(x: Any, t: Any) -> Any:
    """What a rule of `chainrules` is given for `t`, the tangent of `x`, in which None stands for zero."""
    kind = kind_of(type(x))
    if kind.inactive:
        return NO_TANGENT
    if t is None:
        return cr.ZeroTangent()
    if t is NO_TANGENT:
        return cr.ZeroTangent() if kind.address else NO_TANGENT
    if type(x) is types.FunctionType:
        cells: dict[Key, Any] = {
            name: natural_tangent(cell.cell_contents, t.__dict__[name].cell_contents)
            for name, cell in zip(x.__code__.co_freevars, x.__closure__ or (), strict=True)
            if name in t.__dict__ and t.__dict__[name] is not NO_TANGENT
        }
        return cr.Tangent.of(type(x), cells)
    if isinstance(kind, ValueKind | AddressKind):
        parts = {
            getattr(key, "name", key) if not isinstance(x, dict) else key: natural_tangent(
                part, kind.part(t, key)
            )
            for key, part in kind.parts(x)
            if key is not None
        }
        return cr.Tangent.of(type(x), parts)
    return t


def engine_tangent(x: Any, t: Any, fit: Fit | None = None) -> Any:
    """The tangent of `x` that `t`, which a rule of `chainrules` gives, stands for; None for zero."""
    t = _given(t)
    if t is None:
        return None
    t = _by_parts(x, t, fit)
    if not isinstance(t, cr.Tangent):
        return t
    whole = zero_tangent(x)
    rdata = add_natural(slot_shadow(whole), x, t)
    return slot_increment(whole, rdata)


def _given(t: Any) -> Any:
    """`t` without thunks; None if it is zero."""
    t = cr.unthunk(t)
    if isinstance(t, cr.NotImplementedTangent):
        t.raise_error("a derivative that was asked for")
    return None if t is None or isinstance(t, cr.NoTangent | cr.ZeroTangent) else t


class Fit:
    """What is asked of that which a rule of `function` gives, for its result `out`; it raises what it finds.

    what: which of it is meant, for messages.
    """

    def __init__(self, function: Any, what: str, out: Any) -> None:
        self.function, self.what, self.out = function, what, out

    def __call__(self, x: Any, d: Any) -> None:
        check_fit(self.function, self.what, cotangent_misfit(x, d, self.out))

    def is_real(self, x: Any, d: Any) -> None:
        check_fit(self.function, self.what, complex_misfit(x, d, self.out))


def _by_parts(x: Any, t: Any, fit: Fit | None) -> Any:
    """`t` as a `Tangent`, if it is a tuple, list or dict and stands for the tangent of one, `x`."""
    if not isinstance(x, tuple | list | dict) or not isinstance(t, tuple | list | dict):
        return t
    if fit is not None:
        fit.is_real(x, t)  # the projection takes real parts
    return cr.ProjectTo(x)(t)


def add_natural(f: Any, x: Any, t: Any, fit: Fit | None = None) -> Any:
    """Add `t`, a cotangent of `x` that a rule of `chainrules` gives, to the shadow `f`, and return the rdata.

    fit: is given each number or array that is added, behind what it is for.
    """
    if f is None or f is NO_TANGENT:
        return None
    if isinstance(t, cr.InplaceableThunk) and not t.is_computed and _is_array(f):
        if t.add_into(f) is not f:
            raise InvalidTangentError(
                "add_into of an InplaceableThunk does not give the buffer that it is given",
                "what it adds might be lost",
                "add in place, and return the buffer",
            )
        return None
    t = _given(t)
    if t is None:
        return None
    t = _by_parts(x, t, fit)
    if not isinstance(t, cr.Tangent):
        if fit is not None:
            fit(x, t)
        return accumulate(f, x, t)
    return _add_parts(f, x, t, fit)


def _is_array(f: Any) -> bool:
    return hasattr(type(f), "__array_interface__")


def _add_parts(f: Any, x: Any, t: cr.Tangent, fit: Fit | None) -> Any:
    """Add the parts of `t` to those of the shadow `f`, and return the rdata."""
    cls = type(f)
    if cls is tuple:
        found = tuple(add_natural(c, y, t[i], fit) for i, (c, y) in enumerate(zip(f, x, strict=True)))
        return None if all(r is None for r in found) else found
    if cls is FData:
        kind: Any = kind_of(type(x))
        fields = {k: add_natural(f.__dict__[k], y, t[k], fit) for k, y in kind.parts(x)}
        return None if all(r is None for r in fields.values()) else RData(**fields)
    if f is not None and not kind_of(type(x)).address:
        return accumulate(f, x, t)  # it says what does not fit
    if isinstance(f, list | deque | dict):
        for key in t._parts:
            _add_to_slot(f, key, x[key], t[key], fit)
    elif type(x) is types.FunctionType:
        for name, cell in zip(x.__code__.co_freevars, x.__closure__ or (), strict=True):
            shadow = f.__dict__.get(name)
            if shadow is not None and shadow is not NO_TANGENT and name in t._parts:
                kept = shadow.cell_contents
                rdata = add_natural(slot_shadow(kept), cell.cell_contents, t[name], fit)
                shadow.cell_contents = slot_increment(kept, rdata)
    else:
        for name in t._parts:
            _add_to_slot(f.__dict__, name, getattr(x, name), t[name], fit)
    return None


def _add_to_slot(slots: Any, key: Key, x: Any, t: Any, fit: Fit | None) -> None:
    kept = slots[key]
    if kept is not NO_TANGENT:
        slots[key] = slot_increment(kept, add_natural(slot_shadow(kept), x, t, fit))


def refuse_shared(x: Any, what: str) -> None:
    """Raise if a structure has one object, or one memory, in two places: `what` is that structure.

    A tangent by parts would have the derivative of that object in both, and nobody could say whether it
    counts once or twice.
    """
    kind = kind_of(type(x))
    if not isinstance(kind, ValueKind | AddressKind):
        return
    seen: dict[int, Any] = {}
    arrays: list[Any] = []
    pending = [x]
    while pending:
        y = pending.pop()
        kind = kind_of(type(y))
        if kind.inactive:
            continue
        overlap = getattr(kind, "overlap", None)
        is_shared = id(y) in seen or (
            overlap is not None and any(type(z) is type(y) and overlap(z, y) is not None for z in arrays)
        )
        if kind.address and is_shared and type(y) is not types.FunctionType:
            raise UnsupportedError(
                f"{what} holds a {type(y).__name__} in two places",
                "a tangent by parts would count it twice",
                "make a copy of it, or declare the derivative with adbc.primitive",
            )
        if kind.address:
            if id(y) in seen:
                continue
            seen[id(y)] = y
        if overlap is not None:
            arrays.append(y)
        if type(y) is types.FunctionType:
            pending += [part for part in (parts_of(y) or {}).values() if part is not y]
        elif isinstance(kind, ValueKind | AddressKind):
            pending += [part for key, part in kind.parts(y) if key is not None]


# -- rows -----------------------------------------------------------------------------------------------


class ChainRule(Rule):
    """The row of an `frule` or `rrule`, for the mode that it is for."""

    def __init__(self, declaration: Declaration, **options: Any) -> None:
        super().__init__(declaration.function, **options)
        self.modes, self.declaration = declaration.modes, declaration
        (self.mode,) = declaration.modes
        self.rule = declaration.rules[self.mode]
        self.binding = Binding(self.function, (_any_number,), 0)
        leading = (2 if self.mode == "forward" else 1) + (declaration.requires is not None)
        most = positional_parameters(self.rule)
        self.most = None if most is None else max(most - leading, 0)

    def accepts(self, classes: Sequence[type]) -> bool:
        needs = self.declaration.requires
        return super().accepts(classes) and (needs is None or needs.is_met(demanded("rule config")))

    def bind(self, args: Args, kwargs: Kwargs) -> tuple[tuple[Any, ...], dict[str, Any]]:
        return self.binding.bind(args, dict(kwargs))

    def _split(self, args: Args, derivatives: Args, kwargs: Kwargs) -> tuple[Args, dict[str, Any]]:
        """The arguments that the rule is given by position, and those by name."""
        count = len(args)
        if len(self.binding.names) > self.binding.positional:
            count = min(count, self.binding.positional)
        if self.most is not None:
            count = min(count, self.most)
        if count == len(args):
            return args, dict(kwargs)
        names = self.binding.names[count : len(args)]
        if len(names) != len(args) - count:
            return args, dict(kwargs)  # the rule says what it lacks
        for name, d in zip(names, derivatives[count:], strict=True):
            if d is not None:
                raise UnsupportedError(
                    f"{name_of(self.function)} is given {name!r} by name, with a derivative",
                    "the rule declared for it gives tangents of arguments by position only",
                    f"give {name!r} by position, and have the rule take it so",
                )
        return args[:count], {**dict(zip(names, args[count:], strict=True)), **kwargs}

    def _run(self, *given: Any, **kwargs: Any) -> Any:
        if self.declaration.requires is not None:
            return self.rule(demanded("rule config"), *given, **kwargs)
        return self.rule(*given, **kwargs)

    def frule(self, args: Args, dargs: Args, kwargs: Kwargs = NO_KWARGS) -> tuple[Any, Any]:
        by_position, by_name = self._split(args, dargs, kwargs)
        tangents = tuple(map(natural_tangent, by_position, dargs))
        made: list[Any] = [None]

        def call() -> Any:
            found = self._run((NO_TANGENT, *tangents), self.function, *by_position, **by_name)
            out, made[0] = _pair(self.function, found, "an frule gives (y, dy)")
            return out

        out = new_result(self.function, args, dargs, call, "chainrules.frule")
        refuse_shared(out, f"the result of {name_of(self.function)}")
        dout = engine_tangent(out, made[0], Fit(self.function, "its frule gives", out))
        if dout is None or kind_of(type(out)).inactive:
            return out, fresh_tangent(out)
        is_structure = isinstance(kind_of(type(out)), ValueKind | AddressKind)
        problem = misfit(out, dout) if is_structure else result_misfit(out, dout)
        check_fit(self.function, "its frule gives", problem)
        return out, dout if is_structure else project(dout, out, fresh=True)

    def rrule(self, args: Args, fargs: Args, kwargs: Kwargs = NO_KWARGS) -> tuple[Any, Any, Pullback]:
        by_position, by_name = self._split(args, fargs, kwargs)
        made: list[Any] = [None]

        def call() -> Any:
            found = self._run(self.function, *by_position, **by_name)
            out, made[0] = _pair(self.function, found, "an rrule gives (y, pullback)")
            return out

        out = new_result(self.function, args, fargs, call, "chainrules.rrule")
        refuse_shared(out, f"the result of {name_of(self.function)}")
        pullback = cr.Pullback(self.function, made[0], len(by_position))
        fout = fresh_shadow(out, active=any(f is not None for f in fargs))

        def chain_pullback(bout: Any) -> Sequence[Any]:
            by = cotangent_of(fout, bout)
            if by is None:
                return (None,) * len(args)
            by = fill_tangent(out, by) if type(by) is not tuple else tuple(map(fill_tangent, out, by))
            of_function, *given = pullback(natural_tangent(out, by))
            if _given(of_function) is not None:
                raise UnsupportedError(
                    f"the rrule of {name_of(self.function)} gives a cotangent of the function itself",
                    "the derivative of what a closure holds is kept with the closure, which the rule is for",
                    "give NoTangent(), and pass what the function holds as an argument",
                )
            result: list[Any] = [None] * len(args)
            for i, (f, x, t) in enumerate(zip(fargs, args, given, strict=False)):
                if f is not None:
                    result[i] = add_natural(
                        f, x, t, Fit(self.function, f"its rrule gives, for argument {i},", out)
                    )
            return result

        return out, fout, chain_pullback


def _any_number(*args: Any) -> None:
    """What takes as many arguments as there are."""


def _pair(function: Any, found: Any, wanted: str) -> tuple[Any, Any]:
    if not isinstance(found, tuple) or len(found) != 2:
        raise TypeError(f"the rule declared for {name_of(function)} gives {found!r:.60}; {wanted}")
    return found


# -- declarations ---------------------------------------------------------------------------------------


def _constant(value: Any, count: int) -> Callable[..., Any]:
    """A function of the result and `count` arguments that gives a number, as builders write it inline."""
    names = ", ".join(["out", *(f"x{i}" for i in range(count))])
    made: Callable[..., Any] = eval(f"lambda {names}: value", {"value": value})
    if type(value) is float and value == value and abs(value) != float("inf"):
        made = eval(f"lambda {names}: {value!r}")
    return made


def _of_partials(declaration: Declaration, options: dict[str, Any]) -> Rule:
    found: Partials = declaration.detail
    width = len(found.rows[0])
    if found.is_single and found.setup is None:
        partials = [p if p is None or callable(p) else _constant(p, width) for p in found.rows[0]]
        return SeparatePartials(declaration.function, partials, **options)

    def joint(out: Any, *args: Any) -> Any:
        rows = found.evaluate(out, args, range(len(args)))
        return tuple(rows[0]) if found.is_single else tuple(zip(*rows, strict=True))

    return JointPartials(declaration.function, joint, **options)


def row_of(declaration: Declaration) -> Rule:
    """The row that says what `declaration` says."""
    options: dict[str, Any] = {}
    if declaration.when is not None:
        options["when"] = lambda *classes: declaration.accepts(classes)
    if declaration.function is cr.ignore_derivatives:
        row: Rule = _stopping()
    elif declaration.kind == "zero":
        row = DeclaredZero(declaration.function, **options)
    elif declaration.kind == "scalar":
        row = _of_partials(declaration, options)
    elif declaration.kind == "opt out":
        body = derived_body(declaration.function)
        made = OptOut(declaration.function, **options)
        row = made if body is None else Overlay(declaration.function, body, **options)
    else:
        row = ChainRule(declaration, **options)
    row.modes = BOTH if declaration.modes == BOTH else declaration.modes
    row.origin, row.for_speed = declaration.origin, declaration.for_speed
    return row


def _stopping() -> Rule:
    """The row of `ignore_derivatives`, which is another name of `stop_gradient`."""
    (known,) = [row for row in STOPPING if row.function is stop_gradient]
    return type(known)(cr.ignore_derivatives, frule=known.frule, rrule=known.rrule)  # type: ignore[call-arg]


def adopt(table: RuleTable) -> None:
    """Put into `table` what is declared, and what will be."""
    rows: dict[int, tuple[Declaration, Rule]] = {}

    def change(declaration: Declaration, is_added: bool) -> None:
        if is_added and id(declaration) not in rows:
            row = row_of(declaration)
            rows[id(declaration)] = declaration, row
            table.put(row)
        elif not is_added and id(declaration) in rows:
            table.remove(rows.pop(id(declaration))[1])

    cr.registry.listen(change)
