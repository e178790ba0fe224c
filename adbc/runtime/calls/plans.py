"""Inline caches of dispatch: decisions that depend on classes alone, so that they can be kept.

A decision may be kept if nothing that user code can change enters into it: classes made by a class
statement can get new methods at any time, so operators on their instances are resolved anew.
"""

from __future__ import annotations

import functools
import inspect
import itertools
import operator
import types
from collections.abc import Callable, Collection, Iterable, Sequence
from operator import is_
from typing import Any, Literal

from adbc.cpython.arity import is_misfit
from adbc.cpython.libraries import is_library_code
from adbc.forward.presence import PERHAPS
from adbc.ir import intrinsics
from adbc.rules.lookup import RuleTable
from adbc.rules.table import Overlay
from adbc.runtime.calls import resolve, steps
from adbc.runtime.calls.classes import SLOW, may_change
from adbc.runtime.calls.dispatched import CHOOSING
from adbc.runtime.calls.forms import SOME_TUPLE, data_arguments, data_places, forms_met
from adbc.runtime.calls.keys import BY_KEY, is_asked_key
from adbc.runtime.calls.nested import is_machinery
from adbc.runtime.calls.steps import Call
from adbc.runtime.calls.texts import looks_at_text, makes_text
from adbc.runtime.calls.unfollowed import is_differentiation, runs_as_it_is
from adbc.runtime.state.context import Context
from adbc.runtime.state.engine import DerivedView, EngineView
from adbc.tangents import slot_rdata
from adbc.types import AbstractType, ArrayType, has_cotangent, has_shadow, is_local
from adbc.types.lattice import FLOAT, ListType, ValueArrayType

__all__ = [
    "BY_VALUE",
    "FLOATS",
    "ROWS",
    "Layout",
    "Mode",
    "Plan",
    "body",
    "bound",
    "bound_at_once",
    "by_more_than_class",
    "by_structure",
    "by_value",
    "checked",
    "decide",
    "decide_for_instances",
    "followed",
    "handing",
    "is_bound_in_c",
    "is_derived",
    "is_of_class",
    "kind",
    "made",
    "plan",
    "stays",
    "takes",
]

Values = tuple[Any, ...]
Mode = Literal["forward", "reverse", "protected"]
"""How a Python function is entered: "protected" is reverse mode, with exceptions returned as `Raised`."""

BY_VALUE = frozenset({tuple, slice, types.FunctionType, types.BuiltinFunctionType, types.ModuleType, type})
"""Classes whose instances have types of their own: what a rule is made for is more than the class."""

FLOATS = ListType(list, FLOAT)
"""The type of a list of floats that was looked through."""
ROWS = ListType(list, FLOATS)
"""The type of a list of lists of floats that was looked through."""

_LOCAL = "local"
"""Stands for every class that differentiated code has made."""
_DEPENDS_ON_VALUES = frozenset(
    {intrinsics._new_, intrinsics._foreigncall_, intrinsics._apply_, isinstance, issubclass}
)
_EQUALITY = (operator.eq, operator.ne)
_INTRINSICS = frozenset(intrinsics.INTRINSICS.values())


class Plan:
    """How to enter a Python function with exactly its positional parameters.

    flags: what the rule is handed per argument (1: its shadow too, 2: a cotangent comes back); parameters,
    active: what the rule is made for (`active` has bools, or `PERHAPS`).
    """

    __slots__ = (
        "active",
        "cleared",
        "flags",
        "give",
        "give_behind",
        "hand",
        "is_followed",
        "last",
        "parameters",
        "rule",
    )

    def __init__(
        self,
        rule: DerivedView,
        flags: Sequence[int],
        parameters: Sequence[AbstractType],
        active: Sequence[Any],
    ) -> None:
        self.rule = rule
        self.flags = flags
        self.hand = handing(tuple(flags), rule.mode == "forward", rule.takes_function)
        """Hands the arguments to the code of the rule."""
        self.give, self.give_behind = (taking_back(tuple([flag & 2 for flag in flags]), n) for n in (0, 1))
        """What comes back for the parameters, from what the pullback of the rule returns: the second has None
        in front, for the function."""
        self.parameters = parameters
        self.active = active
        self.cleared: Callable[[], Any] = bool
        """Gives the function that was entered last, which has no rules, while it is there."""
        self.is_followed = False
        """Whether the function is known to be followed whatever it is given: it is no code of a library."""
        self.last: Any = None
        """What the rule that was entered last is asked whenever it is entered, behind the rule."""


@functools.cache
def taking_back(comes_back: tuple[int, ...], first: int) -> Callable[[Sequence[Any]], list[Any]]:
    """A function that gives what comes back for parameters, behind `first` Nones, out of what a pullback
    returns, which has nothing for those of which nothing `comes_back`."""
    names = [f"r{i}" for i, has in enumerate(comes_back) if has]
    values = ["None"] * first + [f"r{i}" if has else "None" for i, has in enumerate(comes_back)]
    lines = [
        "def give(returned):",
        *([f" {', '.join(names)}, = returned"] if names else []),
        f" return [{', '.join(values)}]",
    ]
    scope: dict[str, Any] = {}
    exec(compile("\n".join(lines), __file__, "exec"), scope)
    made: Callable[[Sequence[Any]], list[Any]] = scope["give"]
    return made


@functools.cache
def handing(flags: tuple[int, ...], is_forward: bool, takes_function: bool) -> Callable[..., Any]:
    """The function ``hand(code, context, function, ff, xs, fs)`` that calls `code` with the arguments `xs`,
    and behind those that are given with a shadow or tangent, by the `flags` of a plan, this one out of `fs`.

    A call with as many arguments as are written down is one of Python: ``code(*arguments)`` takes room on the
    C stack before CPython 3.12, of which a deep recursion has not enough.
    """
    has_shadow = [bool(flag if is_forward else flag & 1) for flag in flags]
    names = [f"x{i}, f{i}" if has else f"x{i}" for i, has in enumerate(has_shadow)]
    given = ", ".join(["context", *["function", "ff"] * takes_function, *names])
    xs = "".join(f"x{i}, " for i in range(len(has_shadow)))
    fs = "".join(f"f{i}, " for i in range(len(has_shadow)))
    lines = [
        "def hand(code, context, function, ff, xs, fs):",
        *([f" {xs}= xs"] if xs else []),
        *([f" {fs}= fs"] if any(has_shadow) else []),
        f" return code({given})",
    ]
    scope: dict[str, Any] = {}
    exec(compile("\n".join(lines), __file__, "exec"), scope)
    made: Callable[..., Any] = scope["hand"]
    return made


def decide(
    function: Any,
    xs: Sequence[Any],
    table: RuleTable,
    protocols: steps.Protocols,
    looks: Callable[[Any, Sequence[Any]], bool] = looks_at_text,
) -> Any:
    """The row for `function` on arguments like `xs`, if their classes decide it; else `SLOW`.

    looks: whether the text among such arguments, or what is made of them, has to be looked at.
    """
    no_row = function in _DEPENDS_ON_VALUES or is_misfit(function, len(xs))
    if no_row or any(map(may_change, map(type, xs))):
        return SLOW
    none = (None,) * len(xs)
    call = Call(function, None, tuple(xs), none, none)
    step = resolve.step(call, table, protocols)
    if not isinstance(step, steps.UseRow) or step.call is not call:
        return SLOW
    return SLOW if looks(step.row, xs) else step.row


def decide_for_instances(
    function: Any, xs: Sequence[Any], table: RuleTable, protocols: steps.Protocols
) -> Any:
    """As `decide`, where arguments are instances of classes that a class statement has made, and no text has
    been made from numbers with a derivative.

    Only the table is asked: what a protocol makes of an instance may depend on more than its class.
    """
    if function in _DEPENDS_ON_VALUES or not any(map(may_change, map(type, xs))):
        return SLOW
    if function in protocols and not _is_lookup(function, xs):
        return SLOW
    if type(function) is types.FunctionType and function not in _INTRINSICS:
        return SLOW
    row = table.find(function, tuple(map(type, xs)))
    if row is None or makes_text(row, xs):
        return SLOW
    step = steps.pass_to_row(row, Call(function, None, tuple(xs), (None,) * len(xs), (None,) * len(xs)))
    return row if isinstance(step, steps.UseRow) else SLOW


def _is_lookup(function: Any, xs: Sequence[Any]) -> bool:
    """Whether `function` looks for a key in a dict or set, and no Python code runs for that."""
    if function not in BY_KEY or len(xs) < 2 or type(xs[0]) not in _WITH_KEYS:
        return False
    key = type(xs[1])
    return key is not tuple and not is_asked_key(key)


_WITH_KEYS = (dict, set)


_IN_CLASSES = (
    types.MethodDescriptorType, types.WrapperDescriptorType, types.GetSetDescriptorType,
    types.MemberDescriptorType,
)  # fmt: skip
"""The classes of what stands in the namespace of a class in C."""


def stays(function: Any) -> bool:
    """Whether `function` is there as long as its module is, so that what was decided for it can be kept: no
    method that is bound to an object, and no class of the user's, nor what stands in one."""
    cls = type(function)
    if cls is types.FunctionType:
        return True
    if cls is type:
        return not may_change(function)
    if cls in _IN_CLASSES:
        return not may_change(function.__objclass__)
    return issubclass(type(getattr(function, "__self__", None)), types.ModuleType)


def is_of_class(function: Any) -> bool:
    """Whether `function` is a class method of a class in C: a new object whenever it is read, and equal to
    all others."""
    owner = getattr(function, "__self__", None)
    return type(function) is types.BuiltinFunctionType and type(owner) is type and not may_change(owner)


def is_bound_in_c(function: Any) -> bool:
    """Whether `function` is a method in C that is bound to an object, neither a module nor a class: what is
    done with it is said by its descriptor, if it has no rules of its own."""
    owner = getattr(function, "__self__", None)
    return owner is not None and not issubclass(type(owner), types.ModuleType | type)


def plan(
    engine: EngineView,
    mode: Mode,
    function: types.FunctionType,
    xs: Sequence[Any],
    fs: Sequence[Any],
    lists: Sequence[AbstractType | None] = (),
) -> Plan | None:
    """How to enter a Python function without a rule on these arguments, if their classes decide; else None.

    lists: of calls from outside, per argument the type of a list whose elements were looked at.
    """
    short = None
    if not lists:
        short = mode, function.__code__, id(function.__globals__), (*map(type, xs),), (*map(is_, fs, _NONES),)
        at_once: Any = engine.plans.get(short)
        if at_once is not None and engine.epoch == engine.table.epoch:
            if at_once.__class__ is not tuple:
                return at_once or None
            if at_once := engine.plans.get((short, *[_shape(xs[place]) for place in at_once])):
                return at_once  # type: ignore[no-any-return]  # a plan
        elif not takes(function, len(xs)):
            engine.plans[short] = False
            return None
    classes: list[Any] = [*lists]
    for place, x in enumerate(xs):
        cls = type(x)
        if cls in BY_VALUE and (lists or cls is not tuple or place not in data_places(engine, function)):
            return None
        classes.append(_LOCAL if is_local(cls) else cls)
        if _is_array(cls):
            classes += _shape(x)  # its type says so much more
    if engine.epoch != engine.table.epoch:
        engine.clear()
    given: list[Any] = [f is not None for f in fs]
    if mode == "forward":
        for i, known_list in enumerate(lists):
            if known_list is ROWS and given[i] and {*map(type, fs[i])} - {list}:  # a row of zeros is none
                given[i] = PERHAPS
    key = (mode, function.__code__, id(function.__globals__), *classes, *given)
    known: Plan | None = engine.plans.get(key)
    if known is None:
        parameters = [SOME_TUPLE if type(x) is tuple else engine.typeof(x) for x in xs]
        for i, known_list in enumerate(lists):
            parameters[i] = known_list or parameters[i]
        if not takes(function, len(xs)) or not is_derived(engine, function):
            return None
        active = [
            flag if has_shadow(t) or has_cotangent(t) else False
            for flag, t in zip(given, parameters, strict=True)
        ]
        known = engine.plans[key] = planned(engine, mode, function, parameters, active)
    if short is not None and _LOCAL not in classes:
        known.is_followed = not is_library_code(function.__code__.co_filename, function.__globals__)
        places = tuple([place for place, x in enumerate(xs) if _is_array(type(x))])
        engine.plans[short] = places or known  # without arrays, the classes say all that is asked
        engine.plans[short, *[_shape(xs[place]) for place in places]] = known
    return known


def _is_array(cls: type) -> bool:
    """Whether `cls` is that of arrays, whose types say more."""
    return cls.__name__ == "ndarray" and cls.__module__ == "numpy"


def _shape(array: Any) -> tuple[Any, int]:
    """What is asked of an array beside its class where a plan is looked for."""
    return array.dtype, array.ndim


_NONES = itertools.repeat(None)


def followed(
    engine: EngineView, mode: Mode, function: types.FunctionType, xs: Values, fs: Values
) -> Plan | None:
    """The `plan` for a function without a rule, if it is at hand and the function is no library code, which
    might be run as it is."""
    short = mode, function.__code__, id(function.__globals__), (*map(type, xs),), (*map(is_, fs, _NONES),)
    found: Any = engine.plans.get(short)
    if found.__class__ is tuple:
        found = engine.plans.get((short, *[_shape(xs[place]) for place in found]))
    return found if found and found.is_followed and engine.epoch == engine.table.epoch else None


class Layout:
    """How the arguments of a call meet the parameters of a Python function, where these are not exactly its
    positional ones: some are given by keyword, are left out, or are gathered into ``*args`` and ``**kwargs``.

    bind: gives the values of the parameters and what stands beside them, from those of the arguments, the
    defaults of the function by position and by keyword, and what fills a slot in the mode.  gather: gives
    what comes back for the arguments, from what comes back for the parameters and what stood beside these.
    defaults: the places of the parameters that are left out.
    """

    __slots__ = ("bind", "defaults", "gather")

    def __init__(
        self, sources: Sequence[int | str], rest: range | None, named: tuple[tuple[str, int], ...] | None
    ) -> None:
        self.defaults = [place for place, source in enumerate(sources) if isinstance(source, str)]
        self.bind, self.gather = _binding(tuple(sources), rest, named)


@functools.cache
def _binding(
    sources: tuple[int | str, ...], rest: range | None, named: tuple[tuple[str, int], ...] | None
) -> tuple[Callable[..., Any], Callable[..., Any]]:
    """`Layout.bind` and `Layout.gather`.

    sources: per parameter the argument that it is, or what its default is read as.  rest: the arguments that
    ``*args`` gathers; named: those that ``**kwargs`` gathers, with their names; None if there is no such
    parameter.
    """
    values = [f"x{source}" if isinstance(source, int) else source for source in sources]
    beside = [f"f{source}" if isinstance(source, int) else "None" for source in sources]
    returned = {source: f"r{place}" for place, source in enumerate(sources) if isinstance(source, int)}
    if rest is not None:
        returned.update((i, f"rest[{n}]") for n, i in enumerate(rest))
        values.append(_tuple_of(f"x{i}" for i in rest))
        is_constant = " is f".join(["None", *map(str, rest)]) if rest else "True"
        beside.append(f"None if {is_constant} else {_tuple_of(f'f{i}' for i in rest)}")
    if named is not None:
        returned.update((i, f"slot_rdata(beside[-1][{name!r}])") for name, i in named)
        values.append("{" + ", ".join(f"{name!r}: x{i}" for name, i in named) + "}")
        beside.append("{" + ", ".join(f"{name!r}: fill(x{i}, f{i})" for name, i in named) + "}")
    count = len(returned)
    xs, fs = (_tuple_of(f"{letter}{i}" for i in range(count)) for letter in "xf")
    parameters = _tuple_of(f"r{place}" for place in range(len(values)))
    at = len(sources)
    lines = [
        "def bind(xs, fs, defaults, by_name, fill):",
        *([f" {xs} = xs", f" {fs} = fs"] if count else []),
        f" return {_tuple_of(values)}, {_tuple_of(beside)}",
        "def gather(returned, beside):",
        *([f" {parameters} = returned"] if values else []),
        *(
            [f" rest = {_tuple_of('None' for _ in rest)} if r{at} is None else r{at}"]
            if rest is not None
            else []
        ),
        f" return [{', '.join(returned[i] for i in range(count))}]",
    ]
    scope: dict[str, Any] = {"slot_rdata": slot_rdata}
    exec(compile("\n".join(lines), __file__, "exec"), scope)
    return scope["bind"], scope["gather"]


def _tuple_of(parts: Iterable[str]) -> str:
    """The display of a tuple of `parts`."""
    return "(" + "".join(f"{part}, " for part in parts) + ")"


def layout(engine: EngineView, function: types.FunctionType, count: int, keywords: tuple[str, ...]) -> Any:
    """The `Layout` for a call of `function` with `count` arguments, the last ones by keyword; None if the
    call fails."""
    code, by_name = function.__code__, function.__kwdefaults__
    defaults = len(function.__defaults__ or ())
    key = (Layout, code, count, keywords, defaults, *(by_name or ()))
    found: Any = engine.plans.get(key, engine)
    if found is engine:  # not known, or another thread had it forgotten
        found = engine.plans[key] = _layout(code, count, keywords, code.co_argcount - defaults, by_name or {})
    return found


def _layout(
    code: types.CodeType, count: int, keywords: tuple[str, ...], first: int, by_name: Collection[str]
) -> Layout | None:
    """first: the first positional parameter with a default; by_name: those by keyword with one."""
    if code.co_flags & _SUSPENDED:
        return None
    names = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    positional = count - len(keywords)
    sources: list[int | str | None] = [None] * len(names)
    given = min(positional, code.co_argcount)
    sources[:given] = range(given)
    named = []
    for i, keyword in enumerate(keywords, positional):
        at = names.index(keyword) if keyword in names else -1
        if at < code.co_posonlyargcount:
            named.append((keyword, i))
        elif sources[at] is not None:
            return None
        else:
            sources[at] = i
    for at, name in enumerate(names):
        if sources[at] is None and first <= at < code.co_argcount:
            sources[at] = f"defaults[{at - first}]"
        elif sources[at] is None and at >= code.co_argcount and name in by_name:
            sources[at] = f"by_name[{name!r}]"
    found = [source for source in sources if source is not None]
    rest = range(given, positional) if code.co_flags & inspect.CO_VARARGS else None
    takes_names = bool(code.co_flags & inspect.CO_VARKEYWORDS)
    fits = (
        len(found) == len(sources)
        and (rest is not None or given == positional)
        and (takes_names or not named)
    )
    return Layout(found, rest, tuple(named) if takes_names else None) if fits else None


_SUSPENDED = inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR
_CONSTANTS = frozenset(
    {types.NoneType, bool, int, float, complex, str, bytes, type, types.BuiltinFunctionType}
)
"""Classes of defaults beside which there is nothing."""


def bound(
    engine: EngineView,
    mode: Mode,
    function: types.FunctionType,
    xs: Values,
    fs: Values,
    keywords: tuple[str, ...],
    fill: Callable[[Any, Any], Any],
) -> tuple[Plan, Values, Values, Callable[..., Any]] | None:
    """How to enter a Python function whose parameters are not exactly the arguments, the last ones by
    keyword, or depend on more than their classes: the plan, the parameters, what stands beside these, and
    `Layout.gather`.  None if it takes more than that.  fill: what fills a slot in this mode."""
    known_before = bound_at_once(engine, mode, function, xs, fs, keywords, fill)
    if known_before is not None:
        return known_before
    engine.written(function)
    found: Layout | None = layout(engine, function, len(xs), keywords)
    if found is None:
        return None
    values, beside = found.bind(xs, fs, function.__defaults__, function.__kwdefaults__, fill)
    defaults = [values[place] for place in found.defaults]
    for value in defaults:
        if type(value) not in _CONSTANTS:
            return None
    if engine.epoch != engine.table.epoch:
        engine.clear()
    data = () if keywords else data_arguments(engine, function)
    kinds = [
        tuple if place in data and type(x) is tuple else kind(engine, x)
        for place, x in enumerate((*xs, *defaults))
    ]
    key = (
        Layout, mode, function.__code__, id(function.__globals__), keywords, *kinds,
        *[f is not None for f in fs],
    )  # fmt: skip
    known: Plan | None = engine.plans.get(key)
    if known is None:
        if not is_derived(engine, function) or runs_as_it_is(function, xs, fs):
            return None
        parameters = list(map(engine.typeof, values))
        known = made(engine, mode, function, parameters, [f is not None for f in beside])
        engine.plans[key] = known
    places = by_more_than_class(kinds, (*xs, *defaults))
    if places is not None and all(place < len(xs) for place in places):
        known.is_followed = not is_library_code(function.__code__.co_filename, function.__globals__)
        if not function.__kwdefaults__:
            short = (
                Layout, mode, function.__code__, id(function.__globals__), keywords,
                (*map(type, xs),), (*map(is_, fs, _NONES),), len(function.__defaults__ or ()),
            )  # fmt: skip
            engine.plans[short] = known, found, [*map(type, defaults)], places
            if places:
                engine.plans[short, *[kinds[place] for place in places]] = known
    return known, values, beside, found.gather


def by_more_than_class(kinds: Sequence[Any], xs: Sequence[Any]) -> tuple[int, ...] | None:
    """The places of the arguments `xs` of whose `kinds` more than the class is asked; None if a plan cannot
    be kept by their classes, one of which differentiated code has made."""
    if _LOCAL in kinds:
        return None
    return tuple([place for place, x in enumerate(xs) if kinds[place] is not type(x)])


def bound_at_once(
    engine: EngineView,
    mode: Mode,
    function: types.FunctionType,
    xs: Values,
    fs: Values,
    keywords: tuple[str, ...],
    fill: Callable[[Any, Any], Any],
) -> tuple[Plan, Values, Values, Callable[..., Any]] | None:
    """What `bound` gives, if the classes of the arguments say all that is asked and a call like this has been
    planned."""
    short = (
        Layout, mode, function.__code__, id(function.__globals__), keywords,
        (*map(type, xs),), (*map(is_, fs, _NONES),), len(function.__defaults__ or ()),
    )  # fmt: skip
    at_once: Any = engine.plans.get(short)
    if at_once is None or engine.epoch != engine.table.epoch or function.__kwdefaults__:
        return None
    plan, found, classes, places = at_once
    if places:
        plan = engine.plans.get((short, *[kind(engine, xs[place]) for place in places]))
        if plan is None:
            return None
    values, beside = found.bind(xs, fs, function.__defaults__, None, fill)
    if classes and [type(values[place]) for place in found.defaults] != classes:
        return None
    return plan, values, beside, found.gather


def body(
    function: Any, xs: Sequence[Any], keywords: tuple[str, ...], table: RuleTable, protocols: steps.Protocols
) -> types.FunctionType | None:
    """The Python function that a rule has stand in for `function`, called on arguments like `xs`, the last
    ones by keyword, if their classes decide that."""
    if function in protocols and not (
        (function is operator.getitem and tuple not in map(type, xs))
        or (function in _EQUALITY and {*map(type, xs)} == {types.MethodType})
    ):
        return None  # it may depend on more than the classes
    if function in _DEPENDS_ON_VALUES or any(map(may_change, map(type, xs))):
        return None
    none = (None,) * len(xs)
    call = Call(function, None, tuple(xs), none, none, keywords)
    step = resolve.step(call, table, protocols)
    if type(step) is not steps.Delegate or step.call.args is not call.args:
        return None
    found = step.call.function
    is_body = any(isinstance(row, Overlay) and row.body is found for row in table.rows(function))
    return found if is_body and type(found) is types.FunctionType else None


def by_structure(
    engine: EngineView,
    function: types.FunctionType,
    xs: Sequence[Any],
    fs: Sequence[Any],
    lists: Sequence[AbstractType | None],
) -> Plan | None:
    """How to enter a function from outside on arguments among which are tuples, whose types say more than
    their classes; `lists` as for `plan`.  None if it takes more than that."""
    if not takes(function, len(xs)) or not is_derived(engine, function):
        return None
    if runs_as_it_is(function, xs, fs):
        return None
    parameters = [t or engine.typeof(x) for x, t in zip(xs, lists or (None,) * len(xs), strict=True)]
    return made(engine, "reverse", function, parameters, [f is not None for f in fs])


def by_value(
    engine: EngineView,
    function: types.FunctionType,
    parameters: Sequence[AbstractType],
    values: Collection[int],
    wanted: Sequence[bool],
) -> Plan | None:
    """How to enter a function so that the cotangents of the arrays at `values` come back as values; `wanted`
    says which parameters have a derivative."""
    if not takes(function, len(parameters)):
        return None
    passed = [
        ValueArrayType(t.dtype, t.ndim, t.cls) if i in values and isinstance(t, ArrayType) else t
        for i, t in enumerate(parameters)
    ]
    active = [on and (has_shadow(t) or has_cotangent(t)) for on, t in zip(wanted, passed, strict=True)]
    return _planned(engine.entry(function, passed, active, "reverse"), passed, active)


def kind(engine: EngineView, value: Any) -> Any:
    """What is asked of an argument where a plan is looked for: its class, or its type if that says more."""
    cls = type(value)
    if cls in BY_VALUE or _is_array(cls):
        return engine.typeof(value)
    return _LOCAL if is_local(cls) else cls


def made(
    engine: EngineView,
    mode: Mode,
    function: types.FunctionType,
    parameters: Sequence[AbstractType],
    given: Sequence[bool],
) -> Plan:
    """The plan for a function of these `parameters`, of which some are given something beside them."""
    parameters = forms_met(engine, function, parameters)
    active = [on and (has_shadow(t) or has_cotangent(t)) for on, t in zip(given, parameters, strict=True)]
    return planned(engine, mode, function, parameters, active)


def planned(
    engine: EngineView,
    mode: Mode,
    function: types.FunctionType,
    parameters: Sequence[AbstractType],
    active: Sequence[Any],
) -> Plan:
    return _planned(engine.entry(function, parameters, active, mode, is_dynamic=True), parameters, active)


def _planned(rule: DerivedView, parameters: Sequence[AbstractType], active: Sequence[Any]) -> Plan:
    flags = tuple(
        (has_shadow(t) + 2 * has_cotangent(t)) if on else 0 for t, on in zip(parameters, active, strict=True)
    )
    return Plan(rule, flags, parameters, active)


def takes(function: types.FunctionType, count: int) -> bool:
    """Whether `function` has exactly this many parameters, all of them positional."""
    code = function.__code__
    others = code.co_flags & (inspect.CO_VARARGS | inspect.CO_VARKEYWORDS | inspect.CO_GENERATOR)
    return count == code.co_argcount and not code.co_kwonlyargcount and not others


def is_derived(engine: EngineView, function: Any) -> bool:
    """Whether `function` is differentiated by what it is written as: in Python, and without a rule."""
    return (
        type(function) is types.FunctionType
        and not engine.table.rows(function)
        and function not in _INTRINSICS
        and not is_differentiation(function)
        and not runs_as_it_is(function)
        and not is_machinery(function)
        and function.__code__ not in CHOOSING
    )


def checked(
    engine: EngineView,
    context: Context,
    rule: DerivedView,
    function: types.FunctionType,
    parameters: Sequence[AbstractType],
    active: Sequence[Any],
) -> DerivedView:
    """`rule`, or the one that is entered in place of it now, built, and checked for this top-level call."""
    mode, is_dynamic = rule.mode, rule.is_provisional
    if engine.pressing:
        engine.refresh()
        rule = engine.entry(function, parameters, active, mode, is_dynamic)
    elif rule.is_retired:
        rule = engine.entry(function, parameters, active, mode, is_dynamic)
    rule.build()
    if not engine.check(rule):
        rule = engine.entry(function, parameters, active, mode, is_dynamic)
        rule.build()
    context.checked.add(rule)
    context.unwatched.clear()
    return rule
