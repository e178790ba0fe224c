"""Modules that are loaded while a derivative is taken.

The code of a module runs as it is, and so does what it calls.  It may write into memory that the derivative
has met: plug-ins enter themselves into a registry.  So what was met is noted before a module is loaded for
the first time, which happens once in a process, and shadows are brought in step with what it has changed.
That stays, as the module does, unless code that is differentiated writes there as well.
"""

from __future__ import annotations

import builtins
import importlib
import importlib.util
import operator
import sys
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from adbc.errors import UnsupportedError
from adbc.runtime.calls.changes import Undo, in_step, when_written
from adbc.runtime.calls.steps import Call
from adbc.runtime.state.context import Context
from adbc.tangents.contents import contents, differs, elements_of

__all__ = ["Content", "before_call", "before_import", "loads_anew", "settled"]

Content = list[tuple[Any, Any]]
"""Mutable objects, each with what stands in it."""

_LOADERS = (importlib.import_module, builtins.__import__)


def before_import(
    context: Context, namespace: Mapping[str, Any], name: str, level: int, fromlist: Sequence[str] | None
) -> Content | None:
    """What stands in the memory that was met, if ``import`` of these in a module with this `namespace` is
    about to load a module; else None."""
    if not loads_anew(namespace, name, level, fromlist):
        return None
    met = [obj for obj in context.shadows.objects() if id(obj) != id(sys.modules)]
    return list(contents(met, with_arrays=False))


def loads_anew(namespace: Mapping[str, Any], name: str, level: int, fromlist: Sequence[str] | None) -> bool:
    """Whether an ``import`` in a module with this `namespace` runs the code of a module."""
    return any(part not in sys.modules for part in _modules(namespace, name, level, fromlist))


def _modules(
    namespace: Mapping[str, Any], name: str, level: int, fromlist: Sequence[str] | None
) -> Iterator[str]:
    """The names of the modules that an ``import`` loads."""
    if level:
        package = namespace.get("__package__") or namespace.get("__name__", "").rpartition(".")[0]
        try:
            name = importlib.util.resolve_name("." * level + name, package)
        except ImportError:  # as the import itself is going to find
            return
    yield name
    for part in fromlist or ():
        if name in sys.modules and not hasattr(sys.modules[name], part) and part != "*":
            yield f"{name}.{part}"


def before_call(context: Context, call: Call) -> Content | None:
    """What stands in the memory that was met, if `call` is about to load a module; else None."""
    if not any(call.function is loader for loader in _LOADERS):
        return None
    given = dict(zip(("name", "package"), call.args[: call.count], strict=False)) | call.by_name()
    name = given.get("name", "")
    if call.function is builtins.__import__ or type(name) is not str or not name.startswith("."):
        return before_import(context, {}, name, 0, None)
    dots = len(name) - len(name.lstrip("."))
    return before_import(context, {"__package__": given.get("package")}, name[dots:], dots, None)


def settled(context: Context, before: Content | None) -> Undo | None:
    """Bring the shadows of what has changed since `before` in step; gives what undoes that, if it is to be
    undone."""
    parts: list[tuple[Undo, Callable[[], bool]]] = []
    for x, old in before or ():
        if differs(x, old):
            parts.append((_in_step(context, x, old), when_written(context, x)))
    if not parts:
        return None
    context.has_end = True  # then it is seen what was written to

    def undo() -> None:
        for put_in_place, is_wanted in parts:
            if is_wanted():
                put_in_place()

    return undo


def _in_step(context: Context, x: Any, old: Any) -> Undo:
    """Bring the shadow of `x`, in which `old` stood, in step: what stands there still has the derivative that
    it had."""
    shadow = context.shadows.lookup(x)
    if not issubclass(type(shadow), list | deque):
        return in_step(context, [(x, old)])
    stays = all(map(operator.is_, old, elements_of(x))) and len(old) <= len(elements_of(x))
    if not stays and context.is_active(shadow):
        raise UnsupportedError(
            f"a module that is loaded changes a {type(x).__name__} that may have a derivative",
            "its code is not followed, so nobody knows which elements are the same as before",
            "import the module before the derivative is taken",
        )
    before = list(shadow)
    undo = in_step(context, [(x, old)])
    for k, part in enumerate(before if stays else ()):
        shadow[k] = part
    return undo
