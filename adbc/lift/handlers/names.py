"""Locals, globals, names of classes, and imports.

A store to a local emits nothing: the variable simply has another value from then on.  Names that
give access to the frame itself are refused here, or where they are called (`calls`).
"""

from __future__ import annotations

import sys
from types import BuiltinFunctionType, FunctionType
from typing import Any

from adbc.cpython.decode import Slot
from adbc.ir.intrinsics import UNBOUND, _delete_name_, _load_name_, _setup_annotations_
from adbc.ir.values import Const, Value
from adbc.lift.frame import Frame

__all__ = ["HANDLERS", "LOOKS_OF_MODULES"]

_LOOKS_AT_FRAME = {"locals": "locals", "eval": "eval", "exec": "eval"}
LOOKS_OF_MODULES = {
    ("sys", "_getframe"): "frame",
    ("sys", "settrace"): "trace",
    ("sys", "setprofile"): "trace",
    ("inspect", "currentframe"): "currentframe",
    ("inspect", "stack"): "stack",
    ("builtins", "eval"): "eval",
    ("builtins", "exec"): "eval",
}
"""Functions, by module and name, that are refused however the name was imported, each with the construct that
the refusal names.

``builtins.locals`` is not among them: what testing tools make of an ``assert`` calls it where the assertion
fails.  It is refused when it is called.
"""


_FUNCTIONS = (BuiltinFunctionType, FunctionType)


def _load(frame: Frame, slot: Slot) -> None:
    frame.push(frame.checked(slot))


def _load_bound(frame: Frame, slot: Slot) -> None:
    frame.push(frame.read(slot))


def _load_and_clear(frame: Frame, slot: Slot) -> None:
    # The value may be UNBOUND: it is only moved about and put back into its slot.
    frame.push(frame.read(slot))
    frame.write(slot, Const(UNBOUND))


def _store(frame: Frame, slot: Slot) -> None:
    before = frame.read(slot) if frame.releases else None
    frame.write(slot, frame.pop())
    if before is not None:
        frame.release(before, slot.index)


def _delete(frame: Frame, slot: Slot) -> None:
    before = frame.checked(slot)
    frame.write(slot, Const(UNBOUND))
    frame.release(before, slot.index)


def _global(frame: Frame, name: str) -> None:
    value = frame.emit("global", attribute=name)
    if frame.looks is None and frame.is_builtin(value, *_LOOKS_AT_FRAME):
        raise frame.refusal(_LOOKS_AT_FRAME[name])
    known = frame.globals.get(name)
    if isinstance(known, _FUNCTIONS):
        construct = LOOKS_OF_MODULES.get((known.__module__, known.__name__))
        if construct is not None and getattr(sys.modules[known.__module__], known.__name__, None) is known:
            frame.look(value, construct)
    frame.push(value)


def _class_global(frame: Frame, name: str) -> None:
    if frame.looks is None and name in _LOOKS_AT_FRAME and name not in frame.globals:
        raise frame.refusal(_LOOKS_AT_FRAME[name])
    frame.push(frame.emit("class_global", frame.pop(), attribute=name))


def _namespace(frame: Frame, _: None) -> None:
    frame.push(_names_of_class(frame))


def _load_name(frame: Frame, name: str) -> None:
    if frame.looks is None and name in _LOOKS_AT_FRAME and name not in frame.globals:
        raise frame.refusal(_LOOKS_AT_FRAME[name])
    frame.push(frame.call(_load_name_, _names_of_class(frame), name, frame.emit("globals")))


def _store_name(frame: Frame, name: str) -> None:
    frame.emit("setitem", _names_of_class(frame), name, frame.pop())


def _delete_name(frame: Frame, name: str) -> None:
    frame.call(_delete_name_, _names_of_class(frame), name)


def _setup_annotations(frame: Frame, _: None) -> None:
    frame.call(_setup_annotations_, _names_of_class(frame))


def _names_of_class(frame: Frame) -> Value:
    if frame.namespace is None:
        raise frame.refusal("module")
    return frame.namespace


def _store_global(frame: Frame, name: str) -> None:
    frame.emit("store_global", frame.pop(), attribute=name)


def _delete_global(frame: Frame, name: str) -> None:
    frame.emit("delete_global", attribute=name)


def _import_name(frame: Frame, name: str) -> None:
    level, names = frame.pop_many(2)
    frame.push(frame.emit("import_name", level, names, attribute=name))


def _import_from(frame: Frame, name: str) -> None:
    frame.push(frame.emit("import_from", frame.stack[-1], attribute=name))


HANDLERS: dict[str, Any] = {
    "load": _load,
    "load_bound": _load_bound,
    "load_and_clear": _load_and_clear,
    "store": _store,
    "delete": _delete,
    "global": _global,
    "class_global": _class_global,
    "namespace": _namespace,
    "load_name": _load_name,
    "store_name": _store_name,
    "delete_name": _delete_name,
    "setup_annotations": _setup_annotations,
    "store_global": _store_global,
    "delete_global": _delete_global,
    "import_name": _import_name,
    "import_from": _import_from,
}
