"""What functions of NumPy written in C do with instances of subclasses of ndarray, found out by asking them.

Such a function computes with the memory of an instance, and gives what it has made the class of one of its
arguments: it makes an instance and calls ``__array_finalize__``, or asks an argument to do it by
``__array_wrap__``.  Whose class that is, and which argument is passed on, depends on the function, on
priorities and on the version of NumPy.  So the function is called with *stand-ins*: instances of a class made
for the purpose, which note what is done with them, and run no code of the user's.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from adbc.errors import UnsupportedError
from adbc.functions import is_function
from adbc.tangents.array_instances import bare

__all__ = [
    "ARGUMENT",
    "INSTANCE",
    "PARTS",
    "PLAIN",
    "WRAPPED",
    "has_finalize",
    "is_instance_class",
    "planned",
]

PLAIN = "plain"
"""The result is what the function gives for plain arrays."""
ARGUMENT = "argument"
"""The result is an argument: ``(ARGUMENT, path)``."""
INSTANCE = "instance"
"""The result is a new instance: ``(INSTANCE, cls, path, is_told)`` with the path of what
``__array_finalize__`` is given, None for None; is_told: whether the class has that method."""
WRAPPED = "wrapped"
"""The result is what ``__array_wrap__`` of an argument gives: ``(WRAPPED, path, context, is_scalar)``.  In
the context the arguments of a ufunc stand as pairs: whether it is a path, and that or the argument."""
PARTS = "parts"
"""The result is a tuple or list: ``(PARTS, cls, plans)``."""

Plan = tuple[Any, ...]
Path = tuple[Any, ...]
"""Where an argument stands: its position or name, and its index in each tuple or list that it is in; or
``(None, path, shape)`` for what stands there in another shape."""

_KEPT = frozenset(
    {"__array_finalize__", "__array_wrap__", "__array_priority__", "__array_ufunc__", "__array_function__"}
)
"""The methods by which C code asks an instance, which stand-ins answer themselves."""


def is_instance_class(cls: type) -> bool:
    """Whether `cls` is a subclass of ndarray."""
    return issubclass(cls, np.ndarray) and cls is not np.ndarray


def has_finalize(cls: type) -> bool:
    """Whether `cls`, a subclass of ndarray, is told of new instances."""
    found = cls.__array_finalize__  # type: ignore[attr-defined]
    return found is not None and found is not np.ndarray.__array_finalize__


def _finalize(self: Any, obj: Any) -> None:
    vars(self)["made_from"] = obj


def _wrap(self: Any, array: Any, context: Any = None, return_scalar: bool = False) -> Any:
    made = array.view(type(self))
    vars(made)["wrapped"] = (self, context, return_scalar)
    return made


def _refusing(cls: type, name: str) -> Callable[..., Any]:
    what = f"{cls.__qualname__}.{name}"  # the class itself must not be kept alive

    def refuse(self: Any, *args: Any, **named: Any) -> Any:
        raise UnsupportedError(
            f"a function of NumPy's calls {what} from C code",
            "code that is called from there is not followed",
            "give it the array itself, numpy.asarray(x)",
        )

    return refuse


def _stand_in(cls: type) -> type:
    """The class of stand-ins for instances of `cls`."""
    own = [vars(base) for base in cls.__mro__[: cls.__mro__.index(np.ndarray)]]
    signature = [_signature(entries) for entries in own]
    known = _STAND_INS.get(cls)
    if known is not None and known[0] == signature:
        return known[1]
    namespace: dict[str, Any] = {"__array_finalize__": _finalize}
    for entries in reversed(own):
        for name, entry in entries.items():
            if name == "__array_ufunc__" and is_function(entry):
                namespace[name] = _refusing(cls, name)
            elif name == "__array_priority__" or (name == "__array_ufunc__" and entry is None):
                namespace[name] = entry
            elif name == "__array_wrap__":
                namespace[name] = _wrap
            elif name in _KEPT or not hasattr(np.ndarray, name) or name in _NEVER_ASKED:
                continue
            elif is_function(entry):
                namespace[name] = _refusing(cls, name)
            elif isinstance(entry, property):
                namespace[name] = property(_refusing(cls, name))
    made: type = type(cls.__name__, (np.ndarray,), namespace)
    _STAND_INS[cls] = signature, made
    return made


def _signature(entries: Mapping[str, Any]) -> Any:
    """What tells whether a class has other `entries` than before, without keeping them alive."""
    priority = entries.get("__array_priority__")
    number = priority if isinstance(priority, (int, float)) else None
    return tuple(entries), tuple(map(id, entries.values())), number


_STAND_INS: weakref.WeakKeyDictionary[type, tuple[list[Any], type]] = weakref.WeakKeyDictionary()
"""The classes of stand-ins, and what told of the entries of the classes that they were made for."""
_NEVER_ASKED = frozenset(
    {
        "__new__", "__init__", "__init_subclass__", "__class_getitem__", "__doc__", "__module__", "__dict__",
        "__getattribute__", "__setattr__", "__delattr__", "__class__", "__reduce__", "__reduce_ex__",
        "__setstate__", "__getstate__", "__str__", "__repr__", "__format__", "__dir__", "__sizeof__",
        "__hash__", "__subclasshook__",
    }
)  # fmt: skip
"""Attributes of arrays that functions which compute do not ask for."""


class _StandIns:
    """The stand-ins for the arguments of one call."""

    def __init__(self) -> None:
        self.paths: dict[int, tuple[Any, Path]] = {}
        """The paths of arguments by the address of what stands for them, and that."""
        self.classes: dict[type, type] = {}

    def of(self, x: Any, path: Path) -> Any:
        """What stands for the argument `x`, which is at `path`."""
        cls = type(x)
        if cls is list or cls is tuple:
            return cls([self.of(y, (*path, i)) for i, y in enumerate(x)])
        if isinstance(x, type) and is_instance_class(x):
            return self._class_for(x)
        if not isinstance(x, np.ndarray):
            return x
        array = bare(x)
        if array.dtype.hasobject:
            raise UnsupportedError(
                "a function of NumPy's is given an array of objects, and instances of subclasses of ndarray",
                "what it does with the objects is not followed",
                "give it the arrays themselves, numpy.asarray(x)",
            )
        made = array.copy(order="K")
        if cls is not np.ndarray:
            made = made.view(self._class_for(cls))
        made.flags.writeable = array.flags.writeable
        self.paths[id(made)] = made, path
        return made

    def _class_for(self, cls: type) -> type:
        made = _stand_in(cls)
        self.classes[made] = cls
        return made

    def plan(self, out: Any) -> Plan:
        """What is to be made of the result for plain arrays, where the result for the stand-ins is `out`."""
        if id(out) in self.paths:
            return ARGUMENT, self.paths[id(out)][1]
        cls = type(out)
        if cls in self.classes:
            return self._plan_of_instance(out)
        if cls is tuple or cls is list:
            plans = tuple(map(self.plan, out))
            return (PLAIN,) if all(p == (PLAIN,) for p in plans) else (PARTS, cls, plans)
        return (PLAIN,)

    def _plan_of_instance(self, out: Any) -> Plan:
        cls = self.classes[type(out)]
        found = vars(out)
        if "wrapped" not in found:
            return INSTANCE, cls, self._path(cls, found.get("made_from")), has_finalize(cls)
        by, context, is_scalar = found["wrapped"]
        if context is not None:
            ufunc, args, place = context
            parts = [(True, self._path(cls, x)) if isinstance(x, np.ndarray) else (False, x) for x in args]
            context = ufunc, tuple(parts), place
        return WRAPPED, self._path(cls, by), context, is_scalar

    def _path(self, cls: type, x: Any) -> Path | None:
        """The path of the argument that `x` stands for; None for None."""
        if x is None:
            return None
        found = self.paths.get(id(x))
        if found is None:
            found = self._reshaped(x)
        if found is None:
            raise UnsupportedError(
                f"C code of NumPy's makes a {cls.__qualname__} from another that is only there meanwhile",
                "what its methods do with that one is not followed",
                "give it the array itself, numpy.asarray(x)",
            )
        return found[1]

    def _reshaped(self, x: Any) -> tuple[Any, Path] | None:
        """How `x`, an instance that is only there meanwhile, is an argument in another shape; None if it is
        not."""
        found = self.paths.get(id(vars(x).get("made_from")))
        if found is None or bare(x).tobytes() != bare(found[0]).tobytes():
            return None
        return x, (None, found[1], bare(x).shape)


def planned(function: Any, args: tuple[Any, ...], named: dict[str, Any]) -> Plan:
    """How the result of ``function(*args, **named)``, some of which are instances of subclasses of ndarray,
    is made from what the function gives for the arrays that they are."""
    stand_ins = _StandIns()
    given = [stand_ins.of(x, (i,)) for i, x in enumerate(args)]
    by_name = {k: stand_ins.of(x, (k,)) for k, x in named.items()}
    with np.errstate(all="ignore"):  # it is said where the function is called in earnest
        out = function(*given, **by_name)
    return stand_ins.plan(out)
