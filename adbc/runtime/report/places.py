"""Where something was met, in the words of whoever called: the function of a library, and the user's line.

What a refusal is about often happens deep in a library, in a function that its users have never heard of.
So the frames are walked outwards while the top package stays the same: the outermost function there that can
be called by a public name is what the message speaks of, and the line that it names is the first outside of
all libraries.  The standard library is a library too.
"""

from __future__ import annotations

import sys
import types
from collections.abc import Sequence
from typing import Any

from adbc.cpython.libraries import is_library_code
from adbc.records import record
from adbc.runtime.report.frames import Entry, Frame, frames

__all__ = ["Place", "place_of", "public_name", "typed_name"]


@record(frozen=True)
class Place:
    """library: the public name of the function of a library that something was met in, None if it was met in
    the user's own code.  through: that of the function that the user called, if it is another library's.
    line: function, file and line of the user's.  is_function: whether `library` is a function, and no class
    or method."""

    library: str | None
    through: str | None
    line: str
    is_function: bool = False

    def __str__(self) -> str:
        if self.library is None:
            return f"in {self.line}"
        through = "" if self.through is None else f"called by {self.through}, "
        return f"in {self.library}, {through}called from {self.line}"


def place_of(entries: Sequence[Entry]) -> Place | None:
    """Where the innermost of `entries`, which come outermost first, is; None if there are none."""
    outwards = (frame for entry in reversed(entries) for frame in frames(entry))
    innermost = next(outwards, None)
    if innermost is None:
        return None
    if not _is_library(innermost):
        return Place(None, None, str(innermost))
    walk = [innermost, *outwards]
    count = next((i for i, frame in enumerate(walk) if not _is_library(frame)), len(walk))
    line = str(walk[min(count, len(walk) - 1)])
    first = _of_one_package(walk[:count])
    library = _called(first)
    outermost = walk[count - 1]
    module, _, name = library.rpartition(".")
    found = getattr(sys.modules.get(module), "__dict__", {}).get(name)
    is_function = found is not None and not isinstance(found, type)
    if _package(outermost) == _package(walk[0]):
        return Place(library, None, line, is_function)
    return Place(library, _called(_of_one_package(walk[:count][::-1])[::-1]), line, is_function)


def _of_one_package(walk: Sequence[Frame]) -> Sequence[Frame]:
    """The frames that are of the same top package as the first.  There may be others between them: what calls
    back from elsewhere (a function that `numpy.vectorize` was given) is a part of who gave it."""
    package = _package(walk[0])
    return [frame for frame in walk if _package(frame) == package]


def _package(frame: Frame) -> str:
    return str(frame.namespace.get("__name__", "")).partition(".")[0]


def _is_library(frame: Frame) -> bool:
    """Whether a frame runs code of the standard library or of an installed package."""
    return is_library_code(frame.function.filename, frame.namespace)


# -- names that can be typed ---------------------------------------------------------------------------------


def _called(walk: Sequence[Frame]) -> str:
    """The name of the outermost function with a public name among frames of one package, innermost first."""
    for frame in reversed(walk):
        name = public_name(frame) or _namesake(frame)
        if name is not None:
            return name
    outermost = walk[-1]
    return f"{outermost.namespace.get('__name__')}.{outermost.function.qualname}"


def _namesake(frame: Frame) -> str | None:
    """The public method that calls the function of a frame, its private namesake, perhaps by code of adbc's
    that stands in its place; None if there is none."""
    held, name = _public_instance(frame), frame.function.qualname.rpartition(".")[2].lstrip("_")
    if held is None or not hasattr(frame.entry.frame.f_locals["self"], name):
        return None
    return f"{held}.{name}"


def public_name(frame: Frame) -> str | None:
    """The name, beginning with a module, by which a user calls the function of a frame; None if it has none.

    The shortest is taken: `scipy.linalg.cholesky`, which is `scipy.linalg._decomp_cholesky.cholesky`.
    """
    parts = frame.function.qualname.split(".")
    if parts[-1] == "__init__" and not frame.is_part:
        made = typed_name(type(frame.entry.frame.f_locals.get("self")))
        if made is not None and not any(map(_is_private, made.split("."))):
            return made  # it may be inherited from a class that nobody speaks of
    held = _public_instance(frame) or _public_class(frame)
    if held is not None and not _is_private(parts[-1]):
        return f"{held}.{parts[-1]}" if parts[-1] != "__call__" else held
    if any(map(_is_private, parts)):
        return None
    module = str(frame.namespace.get("__name__", "")).split(".")
    for count in range(1, len(module) + 1):
        if _is_private(module[count - 1]):
            return None
        prefix = ".".join(module[:count])
        found = _attribute(sys.modules.get(prefix), parts)
        if found is not None and _is_of(found, frame):
            is_of_class = parts[-1] in ("__init__", "__new__", "__call__")
            return ".".join((prefix, *(parts[:-1] if is_of_class else parts)))
    return None


def _public_instance(frame: Frame) -> str | None:
    """The name of the object that the function of a frame is a method of, if a public module has it, as
    `scipy.stats.norm`: its class is often private, or the method inherited."""
    if frame.is_part or "." not in frame.function.qualname:
        return None
    instance = frame.entry.frame.f_locals.get("self")
    if instance is None or isinstance(instance, type | types.ModuleType):
        return None
    module = str(type(instance).__module__).split(".")
    for count in range(1, len(module) + 1):
        if _is_private(module[count - 1]):
            return None
        prefix = ".".join(module[:count])
        for name, value in getattr(sys.modules.get(prefix), "__dict__", {}).items():
            if value is instance and not _is_private(name):
                return f"{prefix}.{name}"
    return None


def _public_class(frame: Frame) -> str | None:
    """The name of the class of the object that the function of a frame is an inherited method of, if it is a
    public one of the same package: `scipy.sparse.csr_array` has most methods from private classes."""
    if frame.is_part or "." not in frame.function.qualname:
        return None
    instance = frame.entry.frame.f_locals.get("self")
    cls, name = type(instance), frame.function.qualname.rpartition(".")[2]
    if instance is None or isinstance(instance, type) or name in vars(cls):
        return None
    made = typed_name(cls) if _is_of(_attribute(cls, [name]), frame) else None
    if made is None or made.partition(".")[0] != _package(frame) or any(map(_is_private, made.split("."))):
        return None
    return made


def _is_private(part: str) -> bool:
    return part.startswith("<") or (part.startswith("_") and not part.endswith("__"))


def _attribute(owner: Any, parts: Sequence[str]) -> Any:
    """What stands under a dotted name below `owner`, without running code of a module or class; else None."""
    for part in parts:
        if isinstance(owner, type):
            owner = next((vars(c)[part] for c in owner.__mro__ if part in vars(c)), None)
        else:
            owner = getattr(owner, "__dict__", {}).get(part)
    return owner


def _is_of(found: Any, frame: Frame) -> bool:
    """Whether `found`, perhaps behind decorators, is the function of `frame`, whose code is another where a
    derived rule stands for it."""
    for _ in range(20):  # decorators may go round in circles
        found = getattr(found, "__func__", found)
        found = found.fget if isinstance(found, property) else found
        code = getattr(found, "__code__", None)
        function = frame.function
        if (
            code is not None
            and code.co_filename == function.filename
            and code.co_firstlineno == function.first_line
        ):
            return True
        inner = getattr(found, "__dict__", {})
        if "__wrapped__" not in inner:
            return False
        found = inner["__wrapped__"]
    return False


def typed_name(function: Any) -> str | None:
    """The name, beginning with a module unless it is a builtin, that gives `function` in a program that has
    imported the module; None if there is none.

    What a C function says of its module is not always so: `_struct.pack` is `struct.pack`, a function of f2py
    has no module, and neither has a ufunc.
    """
    owner = getattr(function, "__self__", None)
    if owner is not None and not isinstance(owner, types.ModuleType):
        cls = owner if isinstance(owner, type) else type(owner)
        known = typed_name(cls)
        name = getattr(function, "__name__", None)
        if known is None or name is None or name == "__new__":
            return known
        return f"{known}.{name}"
    qualname = getattr(function, "__qualname__", None) or getattr(function, "__name__", None)
    if not isinstance(qualname, str):
        return None
    parts = qualname.rpartition(" ")[2].split(".")  # f2py says "function dpotrf"
    if parts[-1] in ("__new__", "__init__"):
        parts = parts[:-1]
    module = getattr(function, "__module__", None)
    if not isinstance(module, str):
        module = str(getattr(getattr(function, "__objclass__", None), "__module__", ""))
    if module == "builtins":
        return ".".join(parts)
    names = _modules(module)
    for name in names:
        if _leads_to(_attribute(sys.modules.get(name), parts), function):
            known = ".".join((name, *parts))
            return _public_twin(function, known) if _is_private(name) else known
    return None


def _public_twin(function: Any, name: str) -> str:
    """What the function `name` of a private module is called in the public one: `_hashlib.openssl_sha1` is
    `hashlib.sha1`."""
    public = name.partition(".")[0].lstrip("_")
    content = getattr(sys.modules.get(public), "__dict__", {})
    return next((f"{public}.{key}" for key, value in content.items() if value is function), name)


def _leads_to(found: Any, function: Any) -> bool:
    if found is None:
        return False
    name = getattr(function, "__name__", None)
    return found is function or (isinstance(found, type) and name in ("__new__", "__init__"))


def _modules(module: str) -> list[str]:
    """The names of modules to look into for a function that says that it is of `module`: those with a public
    name first, and shorter ones before longer ones."""
    top = module.lstrip("_").partition(".")[0]
    public: list[str] = []
    private: list[str] = []
    for name in sys.modules:
        parts = name.split(".")
        if parts[0].lstrip("_") == top or not top:
            (private if any(part.startswith("_") for part in parts) else public).append(name)
    return sorted(public, key=lambda n: (n.count("."), n)) + sorted(private)
