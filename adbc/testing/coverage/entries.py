"""What a module has to offer: the public names that are judged, in groups."""

from __future__ import annotations

import importlib
import inspect
import sys
from collections.abc import Iterator
from typing import Any

import numpy as np

from adbc.testing.coverage.tables import CALLS, SKIPPED

__all__ = ["Entries", "entries_of"]

Entries = dict[str, Any]
"""Public names and what they stand for: functions, methods, attributes."""

METHODS = ("reduce", "accumulate", "reduceat", "outer", "at")
"""The methods of ufuncs."""

_OBJECTS = ("r_", "c_", "s_", "mgrid", "ogrid")
"""The objects of NumPy that are used like functions."""

_CLASSES = ("vectorize", "poly1d", "ndarray", "nditer", "ndenumerate", "ndindex", "broadcast", "flatiter")
_SERIES = ("Polynomial", "Chebyshev", "Legendre", "Laguerre", "Hermite", "HermiteE")


def entries_of(module: str) -> dict[str, Entries]:
    """The public names of `module`, by the name of the group that they are counted in.

    Of NumPy these are all of its modules, the methods of ufuncs, arrays, numbers and generators too.
    """
    if module == "numpy":
        return dict(_numpy())
    return {module: _public(module)}


def _public(module: str) -> Entries:
    home = importlib.import_module(module)
    names = getattr(home, "__all__", None) or [name for name in dir(home) if not name.startswith("_")]
    found = {f"{module}.{name}": getattr(home, name) for name in names if hasattr(home, name)}
    found = {name: thing for name, thing in found.items() if callable(thing) and not _is_other(thing)}
    found.update({name: None for name in CALLS if _home(name) == module and _exists(name)})
    return {name: thing for name, thing in sorted(found.items()) if name not in SKIPPED}


def _home(name: str) -> str:
    """The module of a public name, which may be that of a method of a class."""
    home = name.rpartition(".")[0]
    while home and home not in sys.modules:
        home = home.rpartition(".")[0]
    return home


def _is_other(thing: Any) -> bool:
    """Whether `thing` is an exception or a class of types, which is never called for a number."""
    return isinstance(thing, type) and (
        issubclass(thing, BaseException | np.generic | np.dtype) or not issubclass(thing, object)
    )


def _numpy() -> Iterator[tuple[str, Entries]]:
    functions = {
        name: thing
        for name, thing in _public("numpy").items()
        if name.count(".") == 1  # methods have groups of their own
        and (not isinstance(thing, type) or name.removeprefix("numpy.") in _CLASSES)
    }
    functions.update({f"numpy.{name}": getattr(np, name) for name in _OBJECTS})
    ufuncs = {name: thing for name, thing in functions.items() if isinstance(thing, np.ufunc)}
    yield "ufunc calls", ufuncs
    yield "ufunc methods", dict(_methods(ufuncs))
    yield "numpy", {name: thing for name, thing in functions.items() if name not in ufuncs}
    yield "ndarray", _attributes("numpy.ndarray", np.ndarray)
    yield "numpy numbers", _attributes("numpy.float64", np.float64)
    for module in ("numpy.linalg", "numpy.fft", "numpy.lib.stride_tricks"):
        yield module, _public(module)
    yield "numpy.polynomial", dict(_polynomials())
    yield "numpy.random", _random()


def _methods(ufuncs: Entries) -> Iterator[tuple[str, Any]]:
    for name, ufunc in ufuncs.items():
        if name != f"numpy.{ufunc.__name__}" or ufunc.signature is not None:  # another name of the same
            continue
        for method in METHODS:
            if (method == "at" and ufunc.nin <= 2 and ufunc.nout == 1) or (ufunc.nin, ufunc.nout) == (2, 1):
                yield f"{name}.{method}", ufunc


def _attributes(home: str, cls: type) -> Entries:
    left_out = {
        "__new__",
        "__init__",
        "__class__",
        "__doc__",
        "__dir__",
        "__delattr__",
        "__delitem__",
        "__getattribute__",
    }
    left_out |= {
        "__setattr__",
        "__init_subclass__",
        "__subclasshook__",
        "__reduce__",
        "__reduce_ex__",
        "__hash__",
    }
    left_out |= {
        "__getstate__",
        "__setstate__",
        "__sizeof__",
        "__class_getitem__",
        "__getformat__",
        "__getnewargs__",
    }
    left_out |= {
        "__array_function__",
        "__array_ufunc__",
        "__array_finalize__",
        "__array_struct__",
        "__buffer__",
    }
    left_out |= {"__dlpack_device__", "__index__", "__array_namespace__", "__dlpack__", "device", "ctypes"}
    names = [name for name in dir(cls) if name not in left_out and f"{home}.{name}" not in SKIPPED]
    return {f"{home}.{name}": getattr(cls, name, None) for name in names}


def _polynomials() -> Iterator[tuple[str, Any]]:
    for part in ("polynomial", "chebyshev", "legendre", "laguerre", "hermite", "hermite_e"):
        home = importlib.import_module(f"numpy.polynomial.{part}")
        for name in home.__all__:
            thing = getattr(home, name)
            if inspect.isfunction(thing):
                yield f"numpy.polynomial.{part}.{name}", thing
    for name in _SERIES:
        for method in SERIES:
            yield f"numpy.polynomial.{name}.{method}", None


def _random() -> Entries:
    found = {name: None for name in CALLS if name.startswith("numpy.random.") and name not in SKIPPED}
    return {name: None for name in found if _exists(name)}


def _exists(name: str) -> bool:
    home = _home(name)
    thing: Any = sys.modules[home]
    for part in name.removeprefix(home).split(".")[1:]:
        if not hasattr(thing, part):
            return False
        thing = getattr(thing, part)
    return True


SERIES = (
    "__call__",
    "__add__",
    "__sub__",
    "__mul__",
    "__pow__",
    "__floordiv__",
    "__mod__",
    "__truediv__",
    "__neg__",
    "deriv",
    "integ",
    "roots",
    "fit",
    "fromroots",
    "linspace",
    "cutdeg",
    "truncate",
    "trim",
    "convert",
    "cast",
    "basis",
    "identity",
    "mapparms",
    "copy",
    "degree",
)
"""The methods of series of polynomials."""
