"""Calls of C functions without a rule: what must hold for one to be made, and what is looked at afterwards.

A C function without a rule is called if nothing with a derivative reaches it.  But it may do more
than compute: change what it was given, keep it, hand it back, or call Python code that reaches
active state by another way.  So before the call the objects among its arguments are made known to
the memo, and what stands in them is noted; after it, what was changed is put in step (and undone
by the pullback), and objects that may hide an argument from sight are remembered.

State that is out of sight (a random generator, a file) is not restored.
"""

from __future__ import annotations

import gc
import types
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from adbc.cpython.cells import captured
from adbc.cpython.libraries import is_library_class, is_library_code, is_own_code
from adbc.cpython.names import names_in, rebinds_beyond_its_frame
from adbc.errors import AdbcError, UnsupportedError
from adbc.flags import HEAP_TYPE
from adbc.functions import is_function, meaning_of
from adbc.rules.builtins.iteration import ITERATORS
from adbc.runtime.calls import beside, imports, nested, texts
from adbc.runtime.calls.changeable import Code, bind, reach_of, variable
from adbc.runtime.calls.changes import LibraryMemory, Undo, has_lost, in_step
from adbc.runtime.calls.classes import lookup
from adbc.runtime.calls.impossible import SYNTAX, changes_nothing
from adbc.runtime.calls.lost_arguments import LostArguments, lost_arguments, queued
from adbc.runtime.calls.plain import has_fields_in_c, is_active_key, made_in_c, reaches_out
from adbc.runtime.calls.plain_functions import may_look_at_callers
from adbc.runtime.calls.quiet_keys import are_quiet, classes_in
from adbc.runtime.calls.reach import functions_beside
from adbc.runtime.calls.states_in_c import States
from adbc.runtime.calls.steps import Call
from adbc.runtime.report.messages import missing_rule
from adbc.runtime.state.activity import is_active, is_opaque, keeps_bytes, may_hide
from adbc.runtime.state.context import Context
from adbc.tangents import NO_TANGENT
from adbc.tangents.contents import contents, differs, elements_of, is_of_array, put_back
from adbc.tangents.fields import instance_fields, is_python_class
from adbc.tangents.protocol import AddressKind, ValueKind, kind_of
from adbc.tangents.walk import is_address_tangent

__all__ = [
    "call_foreign", "call_plainly", "held", "is_met", "let_iterators_be",
    "reaches_active", "settled", "watched",
]  # fmt: skip

_PYTHON = frozenset({types.FunctionType, types.MethodType})
_COMPUTING = frozenset({types.GeneratorType, map, filter})
"""Classes of iterators that compute what they give when they are asked, from what there is then."""


def call_foreign(context: Context, call: Call) -> tuple[Any, Undo | None, LostArguments | None]:
    """Make `call`; the result, what undoes the changes it made to its arguments (None: it made none), and
    the arguments that may have a derivative, which would be lost."""
    function = call.function
    # Where int and float meet, an int arrives with the zero tangent of a float.
    shadows = [
        None if type(x) is int or type(x) is bool else shadow
        for x, shadow in zip(call.args, call.shadows, strict=True)
    ]
    lost: LostArguments | None = None
    if context.is_active(call.shadow) or any(map(context.is_active, shadows)):
        if not callable(function) or changes_nothing(function, call.args):
            function(*call.args)  # if these types do not go together, the error is the user's
        lost = lost_arguments(context, call, shadows)
    for key in _keys_in(call.args):
        if is_active_key(context, key):
            raise missing_rule(
                call,
                f"a {type(key).__name__} with a derivative is a key of a dict, or in a set, that it is given",
            )
    reached = [x for x in (function, *call.args) if may_hide(x)]
    _check_seen(context, call, (*reached, *(x for x in call.args if type(x) in _COMPUTING)))
    windows = [(x, getattr(x, "__self__", x) if _is_bound(x) else x) for x in reached]
    windows += [(x, y) for x in (function, *call.args) for y in _referred_to(x)]
    if "beside" in vars(context) and not (beside.reads_value(function) or id(function) in SYNTAX):
        windows += [(x, beside.hidden(x)) for x in (*call.args, *_contained(call.args))]
    for x, seen in windows:
        behind = context.shadows.behind(seen)
        if behind is not None and context.is_active(behind):
            raise missing_rule(
                call,
                f"a {type(x).__name__} is a window on memory with a derivative, which is not followed",
            )
    addresses: list[tuple[Any, Any]] = []
    for x, shadow in zip(call.args, shadows, strict=True):
        if shadow is not None and shadow is not NO_TANGENT:
            context.shadows.adopt(x, shadow, anew=True)
            if is_address_tangent(type(shadow)):
                addresses.append((x, shadow))
    if "held" in vars(context):
        _check_seen(context, call, _contained(call.args))
    for f in _functions(call.args):
        if _reaches_out(f) and context.shadows.is_any(context.is_active):
            raise missing_rule(
                call, f"it is given {f.__qualname__}, which may find what has a derivative by other names"
            )
    is_method = issubclass(type(function), types.MethodDescriptorType | types.WrapperDescriptorType)
    for i, x in enumerate((function, *call.args, *queued(call))):
        way = active_global(context, x, is_called=not (is_method and i == 1))
        if way is not None:
            raise missing_rule(call, f"it may call {way}")
    try:
        out, undo = _made(context, call, reached, addresses)
    except Exception as error:  # it may hold what was lost: nobody may look at it
        if lost is None:
            raise
        raise missing_rule(call) from error
    if lost is not None:
        lost.refuse(undo)
    if not addresses:
        let_iterators_be(context, out)
    return out, undo, lost


def _check_seen(context: Context, call: Call, objects: Iterable[Any]) -> None:
    """Refuse `call` if one of `objects`, which it is given, hides something with a derivative."""
    for x in objects:
        if context.is_held(x):
            what = f"a value with a derivative is behind a {type(x).__name__}, which adbc cannot look into"
            raise missing_rule(call, what)


def let_iterators_be(context: Context, value: Any) -> None:
    """Remember that the iterators in `value`, made of nothing that may change, give constants."""
    for x in _iterators(value):
        if type(x) not in ITERATORS:
            context.shadows.let_be(x)


def call_plainly(context: Context, call: Call) -> tuple[Any, Undo | None]:
    """Make `call` of Python code that nothing with a derivative reaches, as `call_foreign` does one of C."""
    addresses: list[tuple[Any, Any]] = []
    for x, shadow in zip(call.args, call.shadows, strict=True):
        if shadow is not None and shadow is not NO_TANGENT:
            context.shadows.adopt(x, shadow, anew=True)
            if is_address_tangent(type(shadow)):
                addresses.append((x, shadow))
    within = [(x, gc.get_referents(x)) for x in call.inside]
    reached = [x for x in call.args if is_opaque(x)]
    memory = LibraryMemory(context, call.function, call.args)
    functions = [(f, meaning_of(f)) for f in _functions(call.args)]
    out, undo = _made(
        context, call, reached, addresses, [y for _, inside in within for y in inside], is_python=True
    )
    for f, meaning in functions:
        if meaning_of(f) != meaning and not is_library_code(meaning[0].co_filename, f.__globals__):
            raise UnsupportedError(
                f"{f.__qualname__} is given other code or defaults by {call.function!r:.60}",
                "code that may have been derived for what it was is being differentiated",
                "make another function, or replace it before the call",
            )
    if undo is not None:
        for x, shadow in zip(call.args, call.shadows, strict=True):
            context.note_made(x, shadow)
    undo = memory.undoing(undo)
    for x, inside in [] if context.is_forward else within:
        if id(x) not in context.new and has_lost(x, inside):
            raise UnsupportedError(
                f"{call.function!r:.60} changes a {type(x).__name__}, which is made in C",
                "what it was before cannot be put back",
                "make the change before the call, or to a copy",
            )
    keep_made(context, out, call.inside, addresses)
    return out, undo


def keep_made(
    context: Context, out: Any, known: Sequence[Any], addresses: Sequence[tuple[Any, Any]] = ()
) -> None:
    """Remember what has come with `out`, which code in Python gave that was called as it is: iterators, and
    objects made in C other than those `known` before.  addresses: what may be behind them, with shadows."""
    for x in _iterators(out):  # what they give is constant
        context.shadows.let_be(x)
        if not keeps_bytes(x):  # a stream gives lines, and copies what it is given
            context.held.setdefault(id(x), (x, []))[1].extend(addresses)
    if not context.is_forward:
        before = set(map(id, known))
        context.new.update((id(x), x) for x in made_in_c(out) if id(x) not in before)


_WITHOUT = frozenset({str, bytes, int, float, bool, types.NoneType})
"""Classes of values in which nothing else is."""


def _iterators(value: Any) -> Iterator[Any]:
    """The iterators in `value`, and in attributes of instances and elements of tuples and lists there."""
    pending, seen = [value], set()
    while pending:
        x = pending.pop()
        cls = type(x)
        if cls is str or cls is int or cls is float or x is None or id(x) in seen:
            continue
        seen.add(id(x))
        if cls is tuple or cls is list:
            if not _WITHOUT.issuperset(map(type, x)):
                pending.extend(x)
        elif is_python_class(cls) and not issubclass(cls, type):
            pending.extend(v for _, v in instance_fields(x))
        elif lookup(cls, "__next__") is not None:
            yield x


def _made(
    context: Context,
    call: Call,
    reached: list[Any],
    addresses: Sequence[tuple[Any, Any]],
    inside: Sequence[Any] = (),
    is_python: bool = False,
) -> tuple[Any, Undo | None]:
    """Make `call`, see what it has changed, and remember what may hide memory at `addresses`, objects with
    their shadows: its result, and those `reached`.  inside: objects that the arguments lead to unseen."""
    written = texts.before_foreign(context, call)
    before, met = list(contents((*call.args, *inside))), imports.before_call(context, call)
    function = call.function
    looks = is_python and may_look_at_callers(function)
    calls_back = looks or not _PYTHON.isdisjoint(map(type, call.args))
    try:
        out = call.perform_for_user() if calls_back else call.perform()
    except AdbcError:
        raise
    except BaseException:
        if is_python and any(differs(x, old) for x, old in before):
            raise UnsupportedError(
                f"{function!r:.60} changes its arguments and raises",
                "it is run as it is, and what it has done cannot be undone",
                "make the change in a function of your own",
            ) from None
        raise
    if written is not None:
        texts.hand_on(context, call, out, written)
    else:
        texts.listed(context, call, out)
    context.attributes.clear()
    changed = [(x, old) for x, old in before if differs(x, old)]
    if addresses:
        for x in (*reached, out):
            if may_hide(x) and (x is out or not keeps_bytes(x)):
                context.held.setdefault(id(x), (x, []))[1].extend(addresses)
    return out, in_step(context, changed) if changed else imports.settled(context, met)


def is_met(context: Context, call: Call) -> bool:
    """Whether `call` has to be followed where it can be: something with a derivative reaches it, or text that
    was made from such a number."""
    return texts.among_arguments(context, call) is not None or reaches_active(context, call)


def reaches_active(context: Context, call: Call) -> bool:
    """Whether something with a derivative reaches `call`, of a function that differentiates: an argument,
    what such a function was made of, or a global that the code uses."""
    function = call.function
    inner = [*_differentiated(function)]
    for x in call.args:
        inner += _differentiated(x)
    if any(context.is_active(context.known_shadow(x)) for x in inner):
        return True
    given = zip((function, *call.args), (call.shadow, *call.shadows), strict=True)
    if any(context.is_active(f) for x, f in given if type(x) is not int and type(x) is not bool):
        return True
    reached = (function, *inner, *call.args)
    if any(active_global(context, x) is not None for x in reached):
        return True
    if any(map(_reaches_out, _functions(reached))) and context.shadows.is_any(context.is_active):
        return True
    if any(context.is_active(fields) for _, fields in context.classes.values()):
        return True  # of a class that was made in this call; which classes the code reads is not looked for
    return any(_sees_active(context, x) for x in (*call.args, *_contained(call.args)))


def _differentiated(gradient: Any) -> Iterator[Any]:
    """What a gradient is of, and what that is of, if it is a gradient itself."""
    while type(gradient) in nested.FOLLOWED:
        gradient = gradient._function
        yield gradient


def _sees_active(context: Context, x: Any) -> bool:
    """Whether `x` is a window on memory with a derivative, or refers to some that no shadow tells of."""
    if not may_hide(x):
        return False
    seen = [x, *_referred_to(x)]
    return any(context.is_active(behind) for y in seen if (behind := context.shadows.behind(y)) is not None)


def _functions(values: Iterable[Any]) -> Iterator[types.FunctionType]:
    """The functions written in Python among `values`, and in their closures."""
    pending, seen = list(values), set()
    while pending:
        x = pending.pop()
        if type(x) is types.MethodType:
            x = x.__func__
        if type(x) is types.FunctionType and id(x) not in seen:
            seen.add(id(x))
            yield x
            pending.extend(captured(x))


def _reaches_out(function: types.FunctionType) -> bool:
    """Whether `function` may find what has a derivative by other ways than its names."""
    code = function.__code__
    return reaches_out(code, is_library_code(code.co_filename, function.__globals__))


def _keys_in(values: Iterable[Any]) -> Iterator[Any]:
    """What is in sets and the keys of dicts among `values`, and inside these and in attributes, however
    deep."""
    pending, seen = [*values], set()
    while pending:
        x = pending.pop()
        cls = type(x)
        kind = kind_of(cls)
        is_hashed = cls in (dict, set, frozenset)
        if id(x) in seen or not (is_hashed or isinstance(kind, AddressKind | ValueKind)):
            continue
        seen.add(id(x))
        if is_hashed:
            yield from x
            pending.extend(x.values() if cls is dict else x)
        elif isinstance(kind, AddressKind | ValueKind):
            pending.extend(part for _, part in kind.parts(x))


def _contained(values: Iterable[Any]) -> Iterator[Any]:
    """What is in lists, tuples, sets and dicts among `values`, however deep."""
    pending, seen = [x for x in values if type(x) in _NESTING], set()
    while pending:
        x = pending.pop()
        if id(x) not in seen:
            seen.add(id(x))
            inside = list(x.values()) if type(x) is dict else list(x)
            pending.extend(y for y in inside if type(y) in _NESTING)
            yield from (y for y in inside if type(y) not in _NESTING)


_NESTING = frozenset({list, tuple, set, frozenset, dict})


def _referred_to(x: Any) -> list[Any]:
    """What `x` refers to, if that is an object made in C with fields that no shadow tells of."""
    if _is_bound(x):
        x = x.__self__
    return gc.get_referents(x) if has_fields_in_c(type(x)) else []


def _is_bound(x: Any) -> bool:
    return type(x) in (types.BuiltinMethodType, types.MethodWrapperType)


def watched(
    context: Context,
    call: Call,
    what: str,
    ours: Iterable[object] = (),
    *,
    stays: bool = False,
    roots: Sequence[Any] | None = None,
) -> tuple[Any, Undo | None]:
    """Make `call` of a C function; refuse if the Python code that it runs has changed something in which
    there is a derivative, or may be one now.  The result, and what undoes other changes (None: there are
    none).

    The objects `ours` may be changed, whatever they hold.  stays: what is changed stays so, as records of a
    log do; numbers may be written there if the call is given none that has a derivative.  roots: where the
    Python code begins, if that is not the function and all of the arguments.
    """
    code = Code()
    reached = reach_of((call.function, *call.args) if roots is None else roots, code)
    given = set(map(id, call.args))  # what is done to a class that is given is looked at there
    variables = [bound for bound in code.variables() if id(bound[0]) not in given]
    context.shadows.look_again(reached)
    before = list(contents(reached))
    is_free = stays and not any(map(is_active, call.shadows))
    failed: BaseException | None = None
    out: Any = None
    try:
        out = call.perform_for_user()
    except BaseException as error:  # the user's, who may go on
        failed = error
    known = set(map(id, ours))
    changed = [(x, old) for x, old in before if id(x) not in known and differs(x, old)]
    rebound = [(place, name, old) for place, name, old in variables if variable(place, name) is not old]
    for place, name, old in rebound:
        if not all(kind_of(type(v)).inactive for v in (old, variable(place, name))):
            raise UnsupportedError(
                f"the interpreter {what}, and the Python code that it runs for that binds"
                f" {'a variable of a function' if type(place) is types.CellType else repr(name)} to a number",
                "code that is called from there is not followed",
                "make the change in a function or method that is called plainly",
            )
    for x, old in changed:
        if is_active(context.shadows.lookup(x)) if is_free else _changes_derivative(context, x, old):
            raise UnsupportedError(
                f"the interpreter {what}, and the Python code that it runs for that changes a"
                f" {type(x).__name__} that has a derivative, or writes a number into it",
                "code that is called from there is not followed",
                "make the change in a function or method that is called plainly",
            )
    if failed is not None:
        try:
            raise failed
        finally:
            del failed
    undo = in_step(context, changed) if changed else None
    return out, None if stays else bound_again(rebound, undo)


def bound_again(rebound: list[tuple[Any, str, Any]], undo: Undo | None) -> Undo | None:
    """What lets variables have the values again that they had, and does what `undo` does."""
    if not rebound:
        return undo

    def bind_again() -> None:
        for place, name, old in rebound:
            bind(place, name, old)
        if undo is not None:
            undo()

    return bind_again


def settled(context: Context, keys: list[Any], container: Any) -> Undo | None:
    """Look for `keys`, which answer by Python code, in `container`; refuse if to look once more changes
    something.  The result undoes the changes that were made by looking at all (None: there are none).

    This is so each time, because what changes nothing now may do so later, unless the code is seen to change
    nothing, or is that of a library: what its classes do once they are taken to do for all values.
    """
    stored = _stored(context, container)
    if _are_quiet(context, stored, keys):
        return None
    keys = [k for k in keys if id(k) not in context.settled or not is_library_class(type(k))]
    if not keys:
        return None
    context.settled.update((id(k), k) for k in keys)
    for cls in dict.fromkeys(map(type, keys)):
        _refuse_rebinding(cls)
    others, code = stored.others(keys), Code()
    reach_of((*keys, *others), code)
    states = States(code.objects)  # what goes on when it is asked has no first time that others are like
    ask = Call(_ask, None, (container, keys, others), (None,) * 3, (None,) * 3)
    _, undo = watched(context, ask, "looks for a key", roots=(*keys, *others))
    before = list(contents(reach_of((*keys, *others))))
    classes = {base for x in (*keys, *others) for base in type(x).__mro__ if not is_library_class(base)}
    attributes = [(cls, {**vars(cls)}) for cls in classes]
    _ask(container, keys, others)
    changed = [(x, old) for x, old in before if differs(x, old)]
    if (
        changed
        or states.moved()
        or any(vars(cls).get(name, old) is not old for cls, was in attributes for name, old in was.items())
    ):
        for x, old in changed:
            put_back(x, old)
        if undo is not None:
            undo()
        raise UnsupportedError(
            f"__hash__ or __eq__ of {type(keys[0]).__qualname__} changes something whenever it is asked",
            "to differentiate dicts and sets asks keys more often than the interpreter does",
            "compute the hash and compare without changing anything, or use a key of another class",
        )
    stored.add(keys)
    if undo is None and stored.classes and all(map(is_library_class, stored.classes)):
        context.quiet[stored.classes] = True
    return undo


class _Stored:
    """The keys in a container, as far as they may answer by Python code."""

    def __init__(self, container: Any) -> None:
        self.container = container
        self.keys: list[Any] = [k for k in container or () if type(k) not in _WITHOUT]
        """Those that were there when it was first met."""
        self.classes = classes_in(self.keys)
        """The classes of all keys, `None` if there are others than are looked into."""
        self.size = len(container or ())
        """The most keys that it can have if there are no others than were asked for."""
        self._added: dict[int, list[Any]] = {}
        """By hash, keys that were asked for since."""

    def others(self, keys: list[Any]) -> list[Any]:
        """The keys that are compared with `keys`."""
        if len(self.keys) > _MANY_KEYS:
            raise UnsupportedError(
                f"a {type(keys[0]).__qualname__} is looked for in a {type(self.container).__name__} of"
                f" {len(self.keys)} keys, and its __hash__ or __eq__ is not seen to change nothing",
                "to differentiate dicts and sets asks keys more often than the interpreter does, and so many"
                " are not looked at each time",
                "let the keys compare values only, `return self.name == other.name`, or use strings as keys",
            )
        if not self._added:
            return self.keys
        return [*self.keys, *(x for k in keys for x in self._added.get(_hash(k), ()) if x is not k)]

    def add(self, keys: list[Any]) -> None:
        """Let `keys`, which have been asked, be among those that may be there."""
        for k in keys:
            alike = self._added.setdefault(_hash(k), [])
            if not any(x is k for x in alike):
                alike.append(k)


def _hash(key: Any) -> int:
    try:
        return hash(key)
    except Exception:  # it is raised again where the key is looked for
        return 0


def _stored(context: Context, container: Any) -> _Stored:
    """What is known of the keys of `container`."""
    found: _Stored | None = context.stored.get(id(container))
    if container is None or found is None or len(container) > found.size:
        found = _Stored(container)
        if container is not None:
            context.stored[id(container)] = found
    return found


def _are_quiet(context: Context, stored: _Stored, keys: list[Any]) -> bool:
    """Whether it is seen that to hash `keys` and to compare them with those that are `stored` changes
    nothing."""
    asked = classes_in(keys)
    stored.classes = None if asked is None or stored.classes is None else asked | stored.classes
    stored.size = max(stored.size, len(stored.container or ()) + len(keys))
    classes = stored.classes
    if classes is None:
        return False
    known = context.quiet.get(classes)
    if known is None:
        known = context.quiet[classes] = are_quiet(classes)
    return known


def _refuse_rebinding(cls: type) -> None:
    """Refuse a class of keys that answer by binding a variable of others', which is not seen by looking at
    objects."""
    for name in ("__hash__", "__eq__"):
        function = lookup(cls, name)
        if is_function(function) and rebinds_beyond_its_frame(function.__code__):
            raise UnsupportedError(
                f"{name} of class {cls.__qualname__} changes something",
                "dicts and sets ask it as often as they like",
                "compute the hash and compare without changing anything",
            )


_MANY_KEYS = 1000
"""The most keys of a container that are watched while another is looked for in it."""


def _ask(container: Any, keys: list[Any], others: list[Any]) -> None:
    """Look for `keys` in `container`, or for each among those before it if that is None."""
    met: set[Any] = set()
    for key in keys:
        try:
            met.add(key) if container is None else key in container
        except Exception:  # whatever it is, it is raised again where the key is looked for
            return


def _changes_derivative(context: Context, x: Any, old: Any) -> bool:
    """Whether what has changed in `x` since `old` stood there had a derivative, or may have one."""
    shadow = context.shadows.lookup(x)
    if issubclass(type(x), set | bytearray) or type(x).__name__ == "array":
        return False
    if is_of_array(x, old):
        return shadow is not None and shadow is not NO_TANGENT
    if issubclass(type(x), list | deque):
        kept = set(map(id, old))
        new = (v for v in elements_of(x) if id(v) not in kept)
        return is_active(shadow) or not all(kind_of(type(v)).inactive for v in new)
    fields = getattr(shadow, "__dict__", {}) if type(shadow) is not dict else shadow
    was = dict(old)
    now = dict(dict.items(x)) if issubclass(type(x), dict) else dict(instance_fields(x))
    for key in {**was, **now}:
        if was.get(key, _ABSENT) is now.get(key, _ABSENT):
            continue
        if is_active(fields.get(key)) or (key in now and not kind_of(type(now[key])).inactive):
            return True
    return False


_ABSENT = object()


def held(context: Context, call: Call) -> Any:
    """``property(f)`` and the like: `f` is found again by its address."""
    for x, shadow in zip(call.args, call.shadows, strict=True):
        if shadow is None or shadow is NO_TANGENT:
            continue
        context.shadows.adopt(x, shadow)
        if context.shadows.lookup(x) is None and context.is_active(shadow):
            raise missing_rule(call, f"it is given a {type(x).__name__} that holds a value with a derivative")
    return call.perform()


# -- callbacks ---------------------------------------------------------------------------------------


_HOLD_NONE = frozenset(
    {
        types.BuiltinFunctionType,
        types.MethodDescriptorType,
        types.WrapperDescriptorType,
        types.ClassMethodDescriptorType,
        types.MethodWrapperType,
        type,
    }
)
"""The classes of most callables made in C, which call no function that they hold."""


def active_global(context: Context, f: Any, *, is_called: bool = True) -> str | None:
    """The way from `f`, if it is a Python function, to a global object that holds active numbers; from what
    is made in C, if it may be called, and not only asked by a method of its own."""
    pending = deque([(f, is_called)])
    seen: dict[int, Any] = {}  # held, so that no address is used again
    while pending:
        f, is_called = pending.popleft()
        pending.extend((x, True) for x in functions_beside(f, seen))
        function = _in_python(f)
        if function is None:
            if not is_called or type(f) in _HOLD_NONE or not callable(f) or issubclass(type(f), type):
                continue
            if id(f) in seen:
                continue
            seen[id(f)] = f
            for held in gc.get_referents(f):  # as callables of ctypes hold functions
                if type(held) is types.FunctionType:
                    if any(_is_active_memory(context, x) for x in captured(held)):
                        return f"{held.__qualname__}, which has a variable whose derivative would not be seen"
                    pending.append((held, True))
            continue
        if id(function) in seen:
            continue
        seen[id(function)] = function
        if function.__dict__ and context.is_active(context.shadows.lookup(function.__dict__)):
            return f"{function.__qualname__}, which has an attribute whose derivative would not be seen"
        # Captured data has a shadow of the function's own; functions there may go on.
        found = [*captured(function)]
        # Code of adbc's own leads to all of it, and finds no number of the program's by a name.
        is_own = is_own_code(function.__code__.co_filename)
        for name in () if is_own else names_in(function.__code__):
            value = function.__globals__.get(name)
            if type(value) is not types.FunctionType and _is_active_memory(context, value):
                user = f"{function.__qualname__}, which uses the global {name!r}"
                return f"{user}, whose derivative would not be seen"
            found.append(value)
        for x in found:
            for method in _methods(type(x)):
                if context.is_active(context.shadows.lookup(method)):
                    return f"{method.__qualname__}, which has a variable whose derivative would not be seen"
                pending.append((method, True))
        pending.extend((x, True) for x in found if not issubclass(type(x), type))
    return None


def _methods(cls: type) -> Iterator[types.FunctionType]:
    """The functions that instances of `cls`, a class of the user's, have for methods."""
    if not cls.__flags__ & HEAP_TYPE or issubclass(cls, type) or is_library_class(cls):
        return
    for base in cls.__mro__:
        if is_python_class(base) and not is_library_class(base):
            for value in vars(base).values():
                parts = [value, *[getattr(value, name, None) for name in _FUNCTIONS_OF.get(type(value), ())]]
                yield from (f for f in parts if type(f) is types.FunctionType)


_FUNCTIONS_OF: dict[type, tuple[str, ...]] = {
    classmethod: ("__func__",),
    staticmethod: ("__func__",),
    property: ("fget", "fset", "fdel"),
}


def _is_active_memory(context: Context, x: Any) -> bool:
    tangent = context.shadows.lookup(x)
    return is_address_tangent(type(tangent)) and context.is_active(tangent)


def _in_python(f: Any) -> types.FunctionType | None:
    """The Python function that runs where `f` is called; None if that is something else."""
    if type(f) is types.MethodType:
        f = f.__func__
    if type(f) is types.FunctionType:
        return f
    method = lookup(type(f), "__call__")
    if type(method) is types.MemberDescriptorType:  # as gradients have it
        method = getattr(f, "__call__", None)  # noqa: B004  # what is in the slot is wanted
    return method if type(method) is types.FunctionType else None
