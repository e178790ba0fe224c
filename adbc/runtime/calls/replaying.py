"""What a pullback may change, kept so that it may run again without another forwards pass.

A pullback reads the record of its forwards pass, which nobody changes, and memory, which it changes itself:
it adds to shadows, and puts back what the forwards pass has overwritten.  So what stands in all memory that
it can reach is noted between the two (`Memory`), and put there again before each further run.

Which memory that is follows from the objects alone: the closure of the pullback, its record, the shadows of
the call.  Where an object is met whose state is out of sight (an iterator, a generator, an object of a class
in C), there is no `Memory`, and the caller runs the function again.  The same holds if the pullback changes
what others see, the attributes of a class or the globals of a module.
"""

from __future__ import annotations

import functools
import types
from collections import deque
from collections.abc import Callable, Iterable
from typing import Any

from adbc.flags import HEAP_TYPE
from adbc.rules.table import Rule
from adbc.runtime.calls.states_in_c import is_state, state_of_generator
from adbc.tangents import NO_FDATA, NO_RDATA, NO_TANGENT
from adbc.tangents.contents import differs, has_bits_of
from adbc.tangents.fields import instance_dict, instance_fields, is_python_class, slots_of
from adbc.tangents.protocol import kind_of

__all__ = ["Memory", "Notes", "OutOfSight", "has_kept_form", "is_changed", "memory_of"]


class Memory:
    """What stands in all objects that are reached from `roots`.

    visible: objects that the user holds, who may change them between two runs of the pullback.
    """

    def __init__(self, roots: Iterable[Any], visible: Iterable[Any]) -> None:
        walk = Notes()
        walk.run(roots)
        self._kept = walk.found
        self._public = walk.public
        self._settled = False
        seen = Notes()
        seen.run(visible)
        self._visible = [x for x, _, _ in seen.found]
        """What the user may see is left as it is found: the pullback has no business there between runs."""
        self._fixed = {id(x) for x in self._visible}

    def is_public(self) -> bool:
        """Whether classes and modules among the objects are as they were."""
        return all(_same(dict(vars(x) if issubclass(type(x), type) else x), old) for x, old in self._public)

    def settle(self) -> None:
        """Forget what a first run of the pullback has shown to be only read.

        What a pullback puts back does not depend on the cotangent that it is given: what has not changed in
        one run does not change in any, except for shadows.  These are zero before a run, so an array that
        holds another number and has not changed is none.
        """
        kept: list[tuple[Any, Any, _PutBack]] = []
        for x, content, put in self._kept:
            is_ours = id(x) not in self._fixed
            if put is _put_array and is_ours and not content.dtype.hasobject and not differs(x, content):
                if not content.any():
                    kept.append((x, 0, _put_array))
            elif is_ours and _is_settled(x, content, put):
                continue
            else:
                kept.append((x, content, put))
        self._kept = kept

    def again(self, run: Callable[[], Any]) -> Any:
        """What `run` gives when all memory is as it was noted; what the user sees is left as it is found."""
        walk = Notes()
        for x in self._visible:
            walk.note(x)
        for x, content, put in self._kept:
            put(x, content)
        try:
            return run()
        finally:
            for x, content, put in walk.found:
                put(x, content)


class OutOfSight(Exception):
    """The state of an object cannot be noted."""


def memory_of(roots: Iterable[Any], visible: Iterable[Any]) -> Memory | None:
    """The `Memory` of what is reached from `roots`; None if the state of something there is out of sight."""
    try:
        return Memory(roots, visible)
    except OutOfSight:
        return None


_PutBack = Callable[[Any, Any], None]


def _is_settled(x: Any, content: Any, put: _PutBack) -> bool:
    """Whether the attributes of an instance, which stood in `content`, are what they were, and none may
    be the shadow of a number."""
    if put is _put_fields:
        return _same(x, content) and not any(map(_may_be_shadow, content.values()))
    if put is _put_slots:
        now, old = dict(instance_fields(x)), dict(content)
        return all(now.get(k) is v for k, v in old.items()) and not any(map(_may_be_shadow, old.values()))
    return False


def _may_be_shadow(x: Any) -> bool:
    """Whether `x`, in a slot, may be the cotangent of a number, or what stands there before there is one."""
    return x is None or x is NO_TANGENT or issubclass(type(x), float | complex) or getattr(x, "ndim", 1) == 0


def is_changed(old: Any, new: Any, put: _PutBack) -> bool:
    """Whether an object that `put` belongs to holds something else, by what was noted of it twice."""
    if put is _put_array:
        return not has_bits_of(new, old)
    if put in (_put_dict, _put_fields):
        return not _same(old, new)
    if put is _put_set or put is _put_buffer:
        return bool(old != new)
    if put is _put_state:
        return not is_state(old, new)
    if put is _put_slots:
        return not _same(dict(old), dict(new))
    return len(old) != len(new) or any(a is not b for a, b in zip(old, new, strict=True))


def has_kept_form(old: Any, new: Any, put: _PutBack) -> bool:
    """Whether nothing but numbers differs in an object, by what was noted of it twice."""
    if put is _put_array:
        return bool(old.shape == new.shape and not old.dtype.hasobject)
    if put is _put_state or put is _put_buffer:
        return True
    if put is _put_set:
        return bool(old == new)
    if put in (_put_dict, _put_fields, _put_slots):
        old, new = dict(old), dict(new)
        if list(old) != list(new):
            return False
        old, new = list(old.values()), list(new.values())
    return len(old) == len(new) and all(
        a is b or (type(a) in _NUMBERS and type(b) in _NUMBERS) for a, b in zip(old, new, strict=True)
    )


_NUMBERS = frozenset({float, int, bool, str, types.NoneType})


def _put_list(x: Any, content: Any) -> None:
    list.__setitem__(x, slice(None), content)


def _put_deque(x: Any, content: Any) -> None:
    deque.clear(x)
    deque.extend(x, content)


def _put_dict(x: Any, content: Any) -> None:
    if not _same(dict(x), content):
        dict.clear(x)
        dict.update(x, content)


def _put_fields(x: Any, content: Any) -> None:
    _put_dict(x, content)


def _put_set(x: Any, content: Any) -> None:
    set.clear(x)
    set.update(x, content)


def _put_array(x: Any, content: Any) -> None:
    x[...] = content


def _put_buffer(x: Any, content: Any) -> None:
    x[:] = content


def _put_cell(x: Any, content: Any) -> None:
    if content:
        (x.cell_contents,) = content
    else:
        try:
            del x.cell_contents
        except ValueError:  # it is empty
            return


def _put_slots(x: Any, content: Any) -> None:
    values = dict(content)
    for name, slot in slots_of(type(x)):
        if name in values:
            slot.__set__(x, values[name])
        elif any(name == known for known, _ in instance_fields(x)):
            slot.__delete__(x)


def _same(now: dict[Any, Any], old: dict[Any, Any]) -> bool:
    """Whether two dicts hold the same objects by the same keys, in the same order."""
    return len(now) == len(old) and all(
        k is m and v is w for (k, v), (m, w) in zip(now.items(), old.items(), strict=True)
    )


_ATOMS = frozenset(
    {
        types.NoneType, object, int, float, bool, complex, str, bytes, range, slice, types.EllipsisType,
        types.NotImplementedType, types.CodeType, types.MethodDescriptorType, types.WrapperDescriptorType,
        types.MemberDescriptorType, types.GetSetDescriptorType, types.ClassMethodDescriptorType, property,
        type(NO_TANGENT), type(NO_FDATA), type(NO_RDATA),
    }
)  # fmt: skip
_STOPS = (
    "adbc.config", "adbc.ir.", "adbc.rules.table", "adbc.runtime.build.", "adbc.types.",
    "adbc.runtime.calls.reverse", "adbc.runtime.calls.plans", "adbc.runtime.report.floating",
    "adbc.tangents.protocol", "adbc.tangents.objects",
)  # fmt: skip
"""Where classes are defined whose instances have nothing to do with one call: rules, rows, plans, types."""


class Notes:
    """Goes through objects and notes what stands in those that can be changed.

    of_generators: whether the states of random generators are noted too; else they are passed over.
    """

    def __init__(self, of_generators: bool = False) -> None:
        self.of_generators = of_generators
        self.found: list[tuple[Any, Any, _PutBack]] = []
        self.public: list[tuple[Any, dict[Any, Any]]] = []
        """The classes of Python and the dicts of modules that were met, with what stood in them."""
        self.seen: set[int] = set()
        """The addresses of all objects that were met, which have to be kept alive."""

    def run(self, roots: Iterable[Any]) -> None:
        pending, seen = [roots], self.seen
        while pending:
            for x in pending.pop():
                cls = type(x)
                if cls in _ATOMS or id(x) in seen:
                    continue
                seen.add(id(x))
                pending.append(x if cls is tuple else self.note(x))

    def note(self, x: Any) -> Iterable[Any]:
        """Note what stands in `x`; what `x` refers to."""
        cls: Any = type(x)
        if cls is list:
            content = x[:]
            self.found.append((x, content, _put_list))
            return () if set(map(type, content)) <= _ATOMS else content
        if cls is dict:
            return self._dict(x)
        if cls is types.CellType:
            try:
                held: tuple[Any, ...] = (x.cell_contents,)
            except ValueError:  # it is empty
                held = ()
            self.found.append((x, held, _put_cell))
            return held
        if cls is types.FunctionType:
            parts = [*(x.__closure__ or ()), x.__defaults__, x.__kwdefaults__]
            return [*parts, x.__dict__] if x.__dict__ else parts
        if cls is types.MethodType:
            return x.__self__, x.__func__
        if cls is functools.partial:
            return x.func, x.args, x.keywords
        if cls is types.BuiltinFunctionType:
            return () if issubclass(type(x.__self__), types.ModuleType | type) else (x.__self__,)
        if isinstance(x, Rule) or _module(cls).startswith(_STOPS):
            return ()
        if issubclass(cls, type):
            if cls is type and not x.__flags__ & HEAP_TYPE:
                return ()
            self.public.append((x, dict(vars(x))))
            return ()
        if issubclass(cls, types.ModuleType):
            self.public.append((vars(x), dict(vars(x))))
            return ()
        bare = getattr(kind_of(cls), "bare", None)
        if bare is not None:
            return self._array(x, bare(x))
        if issubclass(cls, tuple):
            return [*tuple.__iter__(x), *self._fields(x)]
        if issubclass(cls, list):
            content = list(list.__iter__(x))
            self.found.append((x, content, _put_list))
            return [*content, *self._fields(x)]
        if issubclass(cls, dict):
            return [*self._dict(x), *self._fields(x)]
        if issubclass(cls, deque):
            content = list(deque.__iter__(x))
            self.found.append((x, content, _put_deque))
            return [*content, *self._fields(x)]
        if cls is set:
            self.found.append((x, set(x), _put_set))
            return list(x)
        if cls is frozenset:
            return list(x)
        if cls is bytearray:
            self.found.append((x, x[:], _put_buffer))
            return ()
        if _is_plain_instance(cls):
            if getattr(cls, "is_out_of_sight", False) is True:  # of files, for one
                raise OutOfSight
            return self._fields(x)
        state = state_of_generator(x)
        if state is not None:
            if self.of_generators:
                self.found.append((x, state(), _put_state))
            return ()
        if _is_immutable_in_c(cls):
            return ()
        raise OutOfSight

    def _dict(self, x: dict[Any, Any]) -> Iterable[Any]:
        if "__builtins__" in x or ("__name__" in x and "__spec__" in x):  # the globals of a module
            self.public.append((x, dict(x)))
            return ()
        content = dict(dict.items(x))
        self.found.append((x, content, _put_dict))
        return [*content, *content.values()]

    def _array(self, x: Any, array: Any) -> Iterable[Any]:
        owner = array
        while owner.base is not None:
            owner = owner.base
            if not hasattr(type(owner), "__array_interface__"):
                raise OutOfSight  # a buffer of something else
        more = self._fields(x) if array is not x else ()
        if owner is not array:
            return [owner, *more]
        if array.flags.writeable:
            self.found.append((array, array.copy("K"), _put_array))
        return [*array.ravel("K").tolist(), *more] if array.dtype.hasobject else more

    def _fields(self, x: Any) -> Iterable[Any]:
        """Note the attributes of an instance; their values."""
        own = instance_dict(x)
        values: list[Any] = []
        if own or type(x).__dictoffset__:
            self.found.append((own, dict(own), _put_fields))
            values += own.values()
        if slots_of(type(x)):
            names = {name for name, _ in slots_of(type(x))}
            held = [(name, v) for name, v in instance_fields(x) if name in names]
            self.found.append((x, held, _put_slots))
            values += [v for _, v in held]
        return values


def _module(cls: type) -> str:
    """The module of `cls`; a class may have something else of this name for its instances."""
    module = cls.__module__
    return module if issubclass(type(module), str) else ""


def _put_state(x: Any, state: Any) -> None:
    bits = getattr(x, "bit_generator", x)
    if hasattr(type(bits), "state"):
        bits.state = state
    elif hasattr(x, "set_state"):
        x.set_state(state)
    else:
        x.setstate(state)


@functools.cache
def _is_plain_instance(cls: Any) -> bool:
    """Whether instances of a class of Python have nothing but attributes: no base of it is made in C."""
    return all(c is object or is_python_class(c) for c in cls.__mro__)


_DISPATCHER = "_ArrayFunctionDispatcher"


@functools.cache
def _is_immutable_in_c(cls: Any) -> bool:
    """Whether `cls` is a class in C whose instances never change."""
    names = {c.__name__ for c in cls.__mro__ if c.__module__ == "numpy"}
    return bool(
        names
        & {
            "number",
            "bool",
            "bool_",
            "str_",
            "bytes_",
            "datetime64",
            "timedelta64",
            "ufunc",
            "dtype",
            _DISPATCHER,
        }
    )
