"""What one top-level call knows: its shadows, and which derived rules it has checked.

A `Context` is made when a rule is entered from outside and handed down through every derived rule
and protocol, as the first argument.  It is never stored in a rule: calls are re-entrant, can be
abandoned, and run in several threads at once.
"""

from __future__ import annotations

import functools
import itertools
import operator
import types
import weakref
from collections.abc import Callable, Sequence
from typing import Any

from adbc.errors import AdbcError
from adbc.runtime.state.activity import is_active, is_nonzero
from adbc.runtime.state.kept import Kept
from adbc.runtime.state.made import Made, may_be_found, may_note
from adbc.runtime.state.shadows import Shadows
from adbc.runtime.state.stack import STACK
from adbc.runtime.state.texts import Texts
from adbc.tangents import NO_FDATA, NO_TANGENT, MutableTangent, slot_shadow
from adbc.tangents.duals import without_fields
from adbc.tangents.iterators import ITERATOR_KIND
from adbc.tangents.protocol import kind_of

__all__ = ["Context"]


class Context:
    """One top-level call.  What it knows of something is made when it is first asked for: a function of
    numbers and arrays alone may never ask."""

    shadows: Shadows
    is_forward: bool = False
    """Whether tangents stand beside the values, and no shadows."""
    attributes: dict[Any, Any]
    """How attributes of classes are found, by class and name; forgotten when a class is changed, and when
    unknown C code has run, which may have changed one."""
    beside: list[Any]
    """Values of classes derived from builtin ones that were given attributes with a derivative."""
    constants: dict[int, tuple[Any, ...]]
    """By address, tuples that came through no argument and hold constants only."""
    classes: dict[int, tuple[type, dict[Any, Any]]]
    """By address, a class that was made in this call, and the tangents of its attributes."""
    entered: Any = None
    """The rule that was entered from outside, if it has been checked: the first of `checked`."""
    checked: set[Any]
    opened: Sequence[Any] = ()
    """Generators that may have to be closed, see `generators.refuse_left_open`; `opening` notes them."""
    is_shallow: bool = True
    """Whether few functions have been entered that were decided when they were called."""
    entries: int = 0
    """How many have been (`go_in`)."""
    is_deep: bool = False
    """Whether the recursion limit had to be raised: such calls take more frames."""
    is_raised: bool = False
    """Whether the recursion limit is raised for this call at this time."""
    warns: bool = True
    """Whether NumPy may have something to say, as far as is known when the call begins."""
    hearing: Any = None
    """What NumPy's settings are changed by, if it tells of errors of floating-point numbers (`floating`)."""
    has_end: bool = False
    """Whether something is to be done when the pass ends: because of `opened`, `is_raised`, `raised` or
    `refusal`."""
    start_waiting: Callable[[], Any] | None = None
    """Makes `waiting`, if refusals may be `put_off`: somebody asks when cotangents have gone back."""
    waiting: Any = None
    """The refusals that were (`report.waiting`)."""
    interpreted: set[Any]
    """The programs that were met in this call (`runtime.cold`)."""
    follows_inner: bool = False
    """Whether a derivative has been taken inside of this one, so that code of adbc's own may be met."""
    is_followed: bool = False
    """Whether this is the context of an inner level, the code of which is differentiated by an outer one."""
    captured: dict[types.FunctionType, tuple[Any, tuple[Any, ...]]]
    """By function, its tangent, and the cells of its closure with their tangents."""
    held: dict[int, tuple[Any, list[tuple[Any, Any]]]]
    """By address, an object that cannot be looked into, and what C code may put there, with its shadows."""
    raised: dict[int, BaseException]
    """By address, exceptions that derived code has caught: see `report.tracebacks.let_go`."""
    patches: list[Callable[[], None]]
    """What puts back attributes of classes and modules that were there before and have been set: a refusal
    passes the handlers of the user's that would."""
    refusal: AdbcError | None = None
    """The refusal that the call ends with, once a handler has been entered with one."""
    holders: list[tuple[types.FrameType | None, Any]]
    """Objects with weak references that were made in this call, each with a frame that is known to hold it;
    None stands for adbc's own hold on it, so that it does not die before the program lets go of it."""
    lasting: dict[int, tuple[types.CodeType, frozenset[str]]]
    """By address, the code of a function, and its variables that hold what they are first given."""
    finalised: list[tuple[Any, Any]]
    """Objects for which something is to run when they die, each with the `weakref.finalize` that runs it, if
    one does."""
    given: Sequence[Any] | None = None
    """The arguments that the call was given, if they were noted."""
    kept: Kept | None = None
    """What libraries keep for themselves, as far as it was met."""
    made: Made | None = None
    """What code of libraries has made of constants, if that was noted."""
    left: dict[int, tuple[Any, Any]]
    """By address, memory that code of a library has changed when it was called as it is, and what it has left
    there."""
    written: dict[int, Any]
    """By address, such memory in which something else was found later."""
    library_memory: Any = None
    """What code of libraries finds by names, as far as it was looked at (`calls.library_memory`)."""
    texts: Texts | None = None
    """What holds text that was made from numbers with a derivative, from the first such text on."""
    started: dict[int, Any]
    """By address, threads that were started in this call, and what they held then (`calls.started`)."""
    tasks: list[Any]
    """What stands for a thread of its own, as far as it is under way (`rules.futures`)."""
    solvers: dict[int, Any]
    """By address, what solvers have found, with the memory that they have left (`rules.implicit`)."""
    tokens: dict[int, Any]
    """By address, tokens of variables of contexts, with what was there before these were set
    (`rules.contextvars`)."""
    remembered: dict[Any, Any]
    """By owner and key, places in which results are remembered and that this call has written; by owner
    alone, objects that it has made (`rules.recollections`)."""
    memos: dict[Any, Any]
    """By address, what stands for the cache of a function that was made before this call (`calls.memos`).
    That of an inner level is known by "inner" and the address (`calls.inner_memos`)."""

    large: dict[int, Any]
    """By address, objects that lead to more than is looked at (`calls.plain`)."""
    new: dict[int, Any]
    """By address, objects made in C that came with results in this call: what changes there stays so."""
    quiet: dict[frozenset[type], bool]
    """By classes of keys, whether they are seen to change nothing when they are asked."""
    stored: dict[int, Any]
    """By address, containers with keys that answer by Python code, and what is known of these."""
    unwatched: dict[tuple[int, str], int]
    """By address of a class and name, counts among its attributes that nothing was derived for
    (`calls.counters`)."""
    settled: dict[int, Any]
    """By address, the keys that change nothing when they are asked again (`foreign.settled`)."""

    def __getattr__(self, name: str) -> Any:
        if name == "checked":
            made: Any = {self.entered}
        elif name in _PARTS:
            made = _PARTS[name]()
        else:
            raise AttributeError(name)
        setattr(self, name, made)
        return made

    def is_active(self, shadow: Any) -> bool:
        """Whether a value with this shadow (or tangent) depends on the input, as far as can be known.

        A tangent of zero is that of a constant, but for a derivative of that derivative.
        """
        if self.is_forward and not (self.follows_inner or self.is_followed):
            return is_nonzero(shadow)
        return is_active(shadow)

    def depends(self, x: Any, shadow: Any) -> bool:
        """Whether `x`, which has `shadow`, depends on the input, as far as can be known: what a library has
        made of constants, and in which the same stands still, does not."""
        if not self.is_active(shadow):
            return False
        made = self.made
        if made is None:
            return True
        return not made.stands(x.__self__ if x.__class__ is types.MethodType else x, shadow)

    def is_held(self, x: Any) -> bool:
        """Whether `x`, which cannot be looked into, may hide something that depends on the input."""
        found = self.__dict__.get("held", {}).get(id(x))
        return found is not None and any(itertools.starmap(self.depends, found[1]))

    def note_made(self, x: Any, shadow: Any) -> None:
        """Take note that what is in `x` now, which has `shadow`, is constant: code that was called as it is
        has made or changed it."""
        if self.is_forward or self.follows_inner or self.is_followed or not may_note(shadow):
            return  # where tangents stand beside numbers, they tell
        if self.made is None:
            self.made = Made(self.given)
        self.made.note(x)

    def refuse(self, error: AdbcError) -> None:
        """End the call with `error`, or with the refusal that there was before it."""
        if self.refusal is None:
            self.refusal = error
            self.has_end = True

    def has_caught(self, error: BaseException) -> None:
        """Take note that the program goes on after `error`.  A function that has returned it takes two frames
        on the way back: that of its pullback, and that of what comes there of it."""
        self.raised[id(error)] = error
        self.has_end = self.is_deep = True

    def put_off(self, refusal: Callable[[], AdbcError]) -> float | None:
        """The NaN that is to come back to a value from where a derivative would be lost, if the error that
        `refusal` makes may wait until it is known whether there is one; else None."""
        if self.start_waiting is None or self.follows_inner:
            return None
        if self.waiting is None:
            self.waiting = self.start_waiting()
        nan: float = self.waiting.add(refusal)
        return nan

    def refused(self) -> None:
        """Put back the attributes of classes and modules: the call ends with a refusal."""
        for put_back in reversed(self.__dict__.get("patches", ())):
            put_back()

    def opening(self) -> list[Any]:
        """The list of `opened`, to which generators are added."""
        if not isinstance(self.opened, list):
            self.opened = []
            self.has_end = True
        return self.opened

    def go_in(self) -> None:
        """Take note that a function is entered that was decided when it was called.

        A few of these have room below any limit, however they are nested.
        """
        self.entries += 1
        if self.entries == _FEW:
            STACK.deepen()
            self.is_shallow = False
            self.is_deep = self.is_raised = self.has_end = True

    def backwards(self, pullback: Callable[..., Any]) -> Callable[..., Any]:
        """`pullback`, that of the whole call, so that it may go as deep as the way there."""
        return functools.partial(_deep, pullback) if self.is_deep else pullback

    def class_fields(self, cls: type) -> dict[Any, Any] | None:
        """The tangents of the attributes of `cls`, if it was made in this call.

        Other classes are global state: numbers there are constants, and memory has its shadow by its address.
        """
        found = self.classes.get(id(cls))
        return None if found is None else found[1]

    def found_default(self, cls: type, name: str) -> Any:
        """What has the shadow, or tangent, of the attribute `name` that `cls` has for its instances as a
        field (`keep_default`); None if it has to be found again."""
        known = self.attributes.get((cls, name, "default"))
        if known is None:
            return None
        base, value, of_class = known
        is_still = base.__dict__.get(name, self) is value and id(base) not in self.classes
        return of_class if is_still else None

    def keep_default(self, cls: type, name: str, base: type, of_class: Any) -> None:
        """Remember that `of_class` has the shadow, or tangent, of the attribute `name` of `cls`, which `base`
        has, as a field."""
        self.attributes[cls, name, "default"] = base, base.__dict__[name], of_class

    def known_shadow(self, value: Any) -> Any:
        """The shadow of an object that did not come through an argument: a global, a default, a class
        attribute.  Numbers found there are constants; memory found there may be written to, so it has
        the one shadow that belongs to its address."""
        cls = type(value)
        if cls in _CONSTANT or (cls is types.FunctionType and _has_no_state(value)):
            return None
        if cls is tuple and self._is_constant(value):
            return None
        shadows = self.shadows
        if not (self.is_forward or shadows.waiting):  # most are met again and again
            met = shadows.met.get(id(value))
            if met is not None and met[0] is value and met[1].__class__ in _OF_MEMORY:
                return met[1]
        if self.is_forward:
            return _memory(slot_shadow(shadows.found(value)))
        return _memory(slot_shadow(self.met(value)))

    def note_given(self, constants: Sequence[Any], asked: Sequence[Any]) -> None:
        """Take note of what stands in `constants`, arguments of the call, objects of libraries that share
        nothing with those that are `asked` for."""
        self.given = asked
        self.made = Made(asked)
        self.made.note_found({id(x): (x, None) for x in constants}, {})

    def _note_found(self, before: int) -> None:
        """Take note of what stands in the objects of libraries that were met just now, when `before` entries
        had been made: they hold constants."""
        if self.follows_inner or self.is_followed:
            return
        met = self.shadows.met
        classes = {*map(type, map(_FIRST, itertools.islice(met.values(), before, None)))}
        if not any(map(may_be_found, classes)):
            return
        if self.made is None:
            self.made = Made(self.given)
        self.made.note_found(dict(itertools.islice(met.items(), before, None)), met)

    def _is_constant(self, value: tuple[Any, ...]) -> bool:
        """Whether there are only constants in `value`, a tuple that did not come through an argument."""
        constants = self.constants
        if constants.get(id(value)) is value:
            return True
        is_constant = _CONSTANT.issuperset(map(type, value))
        if is_constant:
            constants[id(value)] = value
        return is_constant

    def kept_shadow(self, value: Any) -> Any:
        """`known_shadow` of what code of a library keeps, as a global or an attribute of a class."""
        if type(value) is tuple and self._is_constant(value):
            return None
        before = self.met_before(value)
        shadow = self.known_shadow(value)
        return shadow if shadow is None else self.note_kept(value, shadow, before)

    def kept_tangent(self, value: Any) -> Any:
        """`known_tangent` of what code of a library keeps."""
        before = self.met_before(value)
        tangent = self.known_tangent(value)
        return tangent if tangent is None else self.note_kept(value, tangent, before)

    def note_kept(self, value: Any, shadow: Any, before: int) -> Any:
        """`shadow`, of `value`, which a library keeps; there were `before` shadows when it was met."""
        if self.kept is None:
            is_active_here = weakref.WeakMethod(self.is_active)  # the context has these, and nobody else has
            self.kept = Kept(lambda shadow: is_active_here()(shadow), self.is_forward, self.given)  # type: ignore[misc]
        self.kept.note(value, shadow, functools.partial(self._without_derivative, value, shadow, before))
        return shadow

    def _without_derivative(self, value: Any, shadow: Any, before: int) -> dict[int, Any]:
        """By address, shadows in which nothing depends on the input: those that were met since there were
        `before`, and what is in `shadow`, of `value`, if it is known that this holds constants."""
        new = self.shadows.since(before)
        if self.made is not None and self.made.stands(value, shadow):
            found = map(self.shadows.lookup, self.made.seen_with(value))
            new |= {id(x): x for x in found if x is not None}
        return new

    def met_before(self, value: Any) -> int:
        """How much was met when `value` is: what `note_kept` is told of memory."""
        cls = type(value)
        is_constant = cls in _CONSTANT or (cls is types.FunctionType and _has_no_state(value))
        return 0 if is_constant else self.shadows.count()

    def keep(self, obj: Any, tangent: Any) -> None:
        """Let `tangent`, or this shadow, be that of `obj`, wherever it is met from now on."""
        if self.shadows.lookup(obj) is None:
            self.shadows.adopt(obj, tangent)

    def met(self, obj: Any) -> Any:
        """The tangent of object `obj`, which is met by its address only."""
        known = self.shadows.lookup(obj)
        if known is not None:
            return known
        if self.is_forward:
            return self.shadows.found(obj)
        before = self.shadows.count()
        shadow = self.shadows.known(obj)
        if len(self.shadows.met) > before:
            self._note_found(before)
        return shadow

    def instance_shadow(self, obj: Any) -> Any:
        """The shadow, or tangent, of a new instance, which has no fields yet."""
        shadow = without_fields(type(obj))
        self.shadows.register(obj, shadow)
        self.remembered[id(obj)] = obj
        return shadow

    def known_tangent(self, value: Any) -> Any:
        """The tangent of an object that did not come through an argument, None for zero."""
        cls = type(value)
        if cls in _CONSTANT or (cls is tuple and self._is_constant(value)):
            return None
        tangent = self.shadows.found(value)
        return None if tangent is NO_TANGENT else tangent

    def given_shadow(self, value: Any) -> Any:
        """`known_shadow` of what library code has made of constants, which iterators there give again."""
        if kind_of(type(value)) is ITERATOR_KIND:
            self.shadows.let_be(value)
        return self.known_shadow(value)

    def given_tangent(self, value: Any) -> Any:
        """`known_tangent` of what library code has made of constants."""
        if kind_of(type(value)) is ITERATOR_KIND:
            self.shadows.let_be(value)
        return self.known_tangent(value)


_FIRST = operator.itemgetter(0)
_FEW = 4


def _deep(pullback: Callable[..., Any], *arguments: Any) -> Any:
    """``pullback(*arguments)``, under a raised recursion limit."""
    with STACK.way_back():
        return pullback(*arguments)


_PARTS: dict[str, Callable[[], Any]] = {
    "attributes": dict,
    "beside": list,
    "captured": dict,
    "classes": dict,
    "constants": dict,
    "finalised": list,
    "held": dict,
    "holders": list,
    "interpreted": set,
    "large": dict,
    "lasting": dict,
    "left": dict,
    "memos": dict,
    "new": dict,
    "patches": list,
    "quiet": dict,
    "raised": dict,
    "settled": dict,
    "started": dict,
    "shadows": Shadows,
    "stored": dict,
    "solvers": dict,
    "tasks": list,
    "remembered": dict,
    "tokens": dict,
    "unwatched": dict,
    "written": dict,
}
"""The factory of each part of a context that is made when it is first asked for."""


def _has_no_state(function: types.FunctionType) -> bool:
    """Whether a function has neither cells nor defaults."""
    return not (function.__closure__ or function.__defaults__ or function.__kwdefaults__)


_CONSTANT = frozenset(
    {
        float, int, bool, str, bytes, complex, types.NoneType, type, types.ModuleType,
        types.MethodDescriptorType, set, frozenset,
    }
)  # fmt: skip


_OF_MEMORY = frozenset({list, dict, MutableTangent})
"""The most frequent classes of shadows of memory."""


def _memory(shadow: Any) -> Any:
    """`shadow` without its active numbers."""
    if shadow is NO_FDATA:
        return None
    if shadow.__class__ is tuple:
        parts = tuple(map(_memory, shadow))
        return None if all(p is None for p in parts) else parts
    return shadow
