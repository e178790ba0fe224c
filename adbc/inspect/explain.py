"""`explain`: what became of each call of a function, and why.  To be read first when a gradient is slow.

The function runs a few times in an engine of its own, until its guesses of types have settled, and the
builders tell what they decide.  So this is what the code that was run does, not a second opinion on it.
"""

from __future__ import annotations

import copy
import dataclasses
import functools
import operator
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from adbc.api import jvp, vjp
from adbc.errors import ArgumentError
from adbc.inspect.advice import Advice, advise
from adbc.inspect.reasons import HIDDEN, Reasons
from adbc.inspect.source import line_of, text_at
from adbc.ir import intrinsics
from adbc.ir.graph import Block
from adbc.ir.loops import Loop, natural_loops
from adbc.ir.values import Argument, Const, Instruction, Phi, Value
from adbc.passes.query import target
from adbc.records import record
from adbc.runtime import default_engine, make_engine, using
from adbc.runtime.build.derived import Derived
from adbc.runtime.build.disk_cache import Unwritten
from adbc.runtime.build.engine import Engine
from adbc.runtime.build.native import Native
from adbc.runtime.build.speculation import Continuation
from adbc.tangents import NoTangent, zero_tangent
from adbc.types.decisions import Decisions
from adbc.types.derived import LinksType, TapeType
from adbc.types.inference import type_of

__all__ = ["Explanation", "Saved", "Section", "Site", "explain"]

_RUNS = 6


@record(frozen=True)
class Site:
    """One call or operation.

    function: the qualified name of the function it is in.  filename, line: where.  source: its text there,
    None if the source is not at hand.  called: what is called; operators are functions of `operator`.

    kind: ``"inactive"`` (it runs as it is), ``"inline"`` (its derivative is written into the code),
    ``"primitive"`` (a rule is called), ``"derived"`` (the derived rule of a Python function is called),
    ``"guarded"`` (the type of its result is guessed and tested) or ``"dynamic"`` (found out each time).

    how: the kind of code in full, one of those in `adbc.types.callsites`.  why: in words.  depth: how many
    loops are around it.
    """

    function: str
    filename: str
    line: int | None
    source: str | None
    called: str
    kind: str
    how: str
    why: str
    depth: int


@record(frozen=True)
class Saved:
    """Something that the forwards pass saves for the pullback: `what` it is, as the source has it, its
    `type`, and the line of the `loop` that saves it in each of its iterations (None: once per call)."""

    what: str
    type: str
    loop: int | None


@record(frozen=True)
class Section:
    """One derived rule: `name` and types of the function, where it is, its `sites` and what it saves.

    not_kept: if there is a cache on disk, why the rule is not kept there; empty if it is.

    native: where the configuration asks for machine code, whether the rule has a native form: a line that
    says so, or a line per reason why not.
    """

    name: str
    parameters: tuple[str, ...]
    result: str
    filename: str
    line: int
    mode: str
    sites: tuple[Site, ...]
    saved: tuple[Saved, ...]
    not_kept: str = ""
    native: tuple[str, ...] = ()

    def __str__(self) -> str:
        mode = "" if self.mode in ("reverse", "forward") else ", where exceptions are caught"
        lines = [f"{self.name}({', '.join(self.parameters)}) -> {self.result}{mode}"]
        rows = [
            ("" if s.line is None else str(s.line), s.kind, "  " * s.depth + (s.source or s.called), s.why)
            for s in self.sites
        ]
        widths = [max((len(row[k]) for row in rows), default=0) for k in range(3)]
        for number, kind, what, why in rows:
            lines.append(f"  {number:>{widths[0]}}  {kind:<{widths[1]}}  {what:<{widths[2]}}  {why}")
        for loop in dict.fromkeys(s.loop for s in self.saved):
            where = "per call" if loop is None else f"per iteration of the loop in line {loop}"
            kept = ", ".join(f"{s.what}: {s.type}" for s in self.saved if s.loop == loop)
            lines.append(f"  saved {where}: {kept}")
        if self.not_kept:
            lines.append(f"  not kept on disk: {self.not_kept}")
        lines += [f"  {line}" for line in self.native]
        return "\n".join(lines)


@dataclasses.dataclass(frozen=True)
class Explanation:
    """What `explain` found: a `Section` for the function and for each that it derives, in the order in which
    they were first called; `value` is what the function returned.  ``print`` shows it as a table."""

    sections: tuple[Section, ...]
    value: Any
    _advise: Callable[[Sequence[Site]], Advice] | None = dataclasses.field(
        default=None, repr=False, compare=False
    )

    @functools.cached_property
    def advice(self) -> Advice:
        """The lines that cost most, and what to write instead.

        That is measured when it is asked for: the gradient runs some more times, and the function, on copies
        of the arguments.  Raises `ArgumentError` if it was forward mode that was explained.
        """
        if self._advise is None:
            raise ArgumentError('there is advice for mode="reverse" only')
        return self._advise(self.sites)

    @property
    def sites(self) -> tuple[Site, ...]:
        """The sites of all sections."""
        return tuple(site for section in self.sections for site in section.sites)

    def __str__(self) -> str:
        return "\n\n".join(map(str, self.sections))

    def __repr__(self) -> str:
        return str(self)


def explain(f: Callable[..., Any], *args: Any, mode: str = "reverse", **kwargs: Any) -> Explanation:
    """What becomes of each call in ``f(*args, **kwargs)``, and in the functions that it calls, when it is
    differentiated: its class, its line and the reason.

    mode: "reverse" or "forward".  The function runs several times, on the arguments themselves, which are
    as they were afterwards (in forward mode, on copies).  What it prints it prints several times.

    Raises `ArgumentError` if `mode` is neither, and what `adbc.vjp` raises.

    >>> import adbc.inspect
    >>> def total(x, weights):
    ...     return x * weights["first"] + len(weights)
    >>> for site in adbc.inspect.explain(total, 2.0, {"first": 3.0}).sites:
    ...     print(f"{site.called}: {site.kind}")
    getitem: guarded
    mul: inline
    len: inactive
    add: inline

    What to do about it says `advice`, by lines, after some measuring:

    >>> import math
    >>> def by_name(x, names):
    ...     for name in names:
    ...         x = x + getattr(math, name)(x)
    ...     return x
    >>> advice = adbc.inspect.explain(by_name, 2.0, ["sin", "cos"] * 50).advice
    >>> (worst,) = [line for line in advice.lines if "getattr" in line.instead]
    >>> worst.why.partition(":")[0]
    'dynamic in `getattr(math, name)(x)`'
    >>> worst.instead
    'the attribute by its name: obj.name, not getattr(obj, name)'
    """
    if mode not in ("reverse", "forward"):
        raise ArgumentError(f'mode is "reverse" or "forward", not {mode!r}')
    outer = default_engine()
    told: dict[Derived, Decisions] = {}
    engine = make_engine(
        outer.table,
        dataclasses.replace(outer.observer.config, cache=None),
        cache=None if outer.cache is None else Unwritten,
        told=told.__setitem__,
    )
    kept = engine.cache
    function = functools.partial(f, **kwargs) if kwargs else f
    with using(engine):
        value = _run(function, args, mode)
        for _ in range(_RUNS):
            builds = engine.builds
            value = _run(function, args, mode)
            if engine.builds == builds and not engine.stale:
                break
        # Once more, with what has been learnt: the rules are built in the order in which they are called.
        with engine.lock:
            engine.rules.clear()
            engine.plans.clear()
            engine.ways.clear()
            engine.entrances.clear()
        told.clear()
        value = _run(function, args, mode)
    sections = tuple(
        _section(rule, decisions, engine, kept.reasons[rule] if isinstance(kept, Unwritten) else "")
        for rule, decisions in told.items()
    )
    if outer.config.backend != "bytecode":
        sections = tuple(
            dataclasses.replace(section, native=_native(rule, engine))
            for section, rule in zip(sections, told, strict=True)
        )
    ask = functools.partial(advise, f, args, kwargs)
    return Explanation(sections, value, ask if mode == "reverse" else None)


def _run(function: Callable[..., Any], args: tuple[Any, ...], mode: str) -> Any:
    if mode == "forward":
        own = copy.deepcopy(args)
        value, _ = jvp(function, own, [zero_tangent(x) for x in own])
        return value
    value, pullback = vjp(function, *args)
    pullback(NoTangent())
    return value


def _native(rule: Derived, engine: Engine) -> tuple[str, ...]:
    """Whether `rule` has a native form, in lines."""
    from adbc.low.reasons import NotNative  # loaded where the configuration asks for machine code

    try:
        Native(engine).program(rule)
    except NotNative as refused:
        return tuple(f"not native: {reason}" for reason in refused.reasons)
    return ("native as a whole",)


# -- from decisions to words ---------------------------------------------------------------------------


def _section(rule: Derived, decisions: Decisions, engine: Engine, not_kept: str) -> Section:
    graph = decisions.graph
    reasons = Reasons(decisions, engine.table.rows)
    loops = natural_loops(graph)
    elsewhere = {block for block in graph.blocks if any(_goes_on(decisions, c) for c in block.instructions)}
    counters = {c.position for c in graph.instructions() if target(c) is intrinsics._next_at_}
    sites: list[Site] = []
    order: dict[int, int] = {}  # what was written in stands where it was called
    for block in graph.blocks:
        for call in block.instructions:
            site = decisions.sites.get(call)
            if site is None or block in elsewhere or call.position is None or id(site.function) in HIDDEN:
                continue
            if site.function is operator.add and call.position in counters:
                continue  # the index of a loop over a list
            inlined = call.position.inlined
            at = call.position
            while at.inlined is not None and at.inlined.call is not None:
                at = at.inlined.call
            order[len(sites)] = line_of(at) or 0
            sites.append(
                Site(
                    function=graph.qualname if inlined is None else inlined.qualname,
                    filename=graph.filename if inlined is None else inlined.filename,
                    line=line_of(call.position),
                    source=text_at(graph.filename if inlined is None else inlined.filename, call.position),
                    called=reasons.called(site),
                    kind=reasons.kind(call, site),
                    how=site.kind.value,
                    why=reasons.why(call, site),
                    depth=loops.depth(block),
                )
            )
    sites = [sites[k] for k in sorted(order, key=order.__getitem__)]
    return Section(
        name=graph.qualname + (" after a wrong guess" if rule.is_rest else ""),
        parameters=tuple(
            f"{argument.name}: {type_}" + ("" if is_active else " (no derivative)")
            for argument, type_, is_active in zip(graph.arguments, rule.parameters, rule.active, strict=True)
        ),
        result=str(rule.result),
        filename=graph.filename,
        line=graph.first_line,
        mode=rule.mode,
        sites=tuple(sites),
        saved=tuple(dict.fromkeys(_saved(decisions, reasons))),
        not_kept=not_kept,
    )


def _goes_on(decisions: Decisions, call: Instruction) -> bool:
    """Whether `call` is the rest of the function behind a wrong guess."""
    site = decisions.sites.get(call)
    return site is not None and isinstance(site.function, Continuation)


def _saved(decisions: Decisions, reasons: Reasons) -> Iterator[Saved]:
    for value, loop in decisions.saved:
        if isinstance(value, Instruction) and value.block is not None and _is_elsewhere(value.block):
            continue
        line = None if loop is None else _first_line(loop)
        yield Saved(_kept(value, reasons), "record" if value.type is None else str(type_of(value)), line)


def _is_elsewhere(block: Block) -> bool:
    """Whether `block` of the forwards pass is a side exit, where a wrong guess is observed and the rest of
    the function runs."""
    return any(target(call) is intrinsics._observe_ for call in block.instructions) and any(
        isinstance(operand, Const) and isinstance(operand.value, Continuation)
        for call in block.instructions
        for operand in call.operands
    )


def _first_line(loop: Loop) -> int | None:
    """The line of the loop's head."""
    positions = [i.position for i in loop.header.instructions] + [loop.header.terminator.position]
    return next((position.line for position in positions if position is not None), None)


def _kept(value: Value, reasons: Reasons) -> str:
    """What a saved value is, in words."""
    if isinstance(value.type, TapeType | LinksType):
        return "the records of a loop inside"
    if isinstance(value, Phi):
        if value.name == "came_from":
            return "the way that was taken"
        return value.name if value.name else "a position"
    name = reasons.name(value)
    if isinstance(value, Argument):
        return f"shadow of {name.removesuffix('_shadow')}" if name.endswith("_shadow") else name
    return name
