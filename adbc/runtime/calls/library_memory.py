"""The memory that library code finds by names: globals, attributes of modules and classes, defaults.

Library code that is given constants is run as it is (`calls.plain`), which is right if nothing with a
derivative stands in memory that it finds by itself.  `state.kept` knows of memory that was met in code of
libraries.  What was put there before the call (an argument that had been registered), or by another name
(``from library import REGISTRY as own``), is found here: from the names in the code of a function, over the
functions, classes and modules of the same package and of the user that they mean, to containers, arrays and
objects.  It is a look of limited length; packages known to keep nothing of the program's are left out.
"""

from __future__ import annotations

import types
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import Any

from adbc.runtime.calls.reach import (
    KEEP_NOTHING,
    NOTHING,
    Reach,
    content_of,
    is_large,
    is_looked_into,
    memory_in,
    package_of,
    reach_of,
)
from adbc.runtime.state.closures import with_active_defaults
from adbc.runtime.state.context import Context
from adbc.tangents.contents import differs
from adbc.tangents.fields import is_python_class
from adbc.tangents.standing import Standing

__all__ = ["depend", "finds_active", "finds_memory", "found_by_names"]


def finds_active(context: Context, function: Any, args: Iterable[Any] = ()) -> bool:
    """Whether code of a library, `function` that is called on `args`, finds memory with a derivative."""
    looks_anew(context)
    if package_of(function) in KEEP_NOTHING:
        return False
    if not context.shadows and not with_active_defaults:
        return False  # no memory was met at all
    return _looked(context).finds_active(context, function, args)


def finds_memory(context: Context, function: Any) -> bool:
    """Whether code of a library, `function`, finds memory by itself."""
    return package_of(function) not in KEEP_NOTHING and _looked(context).finds_any(function)


def found_by_names(context: Context, function: Any, args: Iterable[Any]) -> Noted | None:
    """The memory that code of a library, `function` that is called on `args`, finds from itself and from the
    classes of these, and what stands in it; None if there is none.  What is large is passed over.

    `finds_active` was asked just now, and nothing has run since.
    """
    if package_of(function) in KEEP_NOTHING:
        return None
    found = _looked(context).noted(function, args)
    looks_anew(context)
    return found


def looks_anew(context: Context) -> None:
    """Take nothing for granted that was seen of the memory of libraries: code may have run."""
    memory: _Memory | None = context.library_memory
    if memory is not None:
        memory.standing.clear()


class Noted:
    """Memory, and what stood in it.

    beside: objects that were found otherwise than by names.
    content: pairs of an object and what `contents` has found there.
    """

    def __init__(self, beside: Sequence[Any], reaches: Sequence[Reach]) -> None:
        self.content = [pair for x in beside if not is_large(x) for pair in content_of(x)]
        self._standing = [Standing(self.content)] if self.content else []
        self._arrays: list[tuple[Any, Any]] = []
        for reach in reaches:
            content, arrays = reach.noted()
            self._standing += [part.standing for part in reach.parts]
            self.content += content
            self._arrays += arrays
        self.content += self._arrays

    def stands(self) -> bool:
        """Whether that stands there still."""
        return all(standing.stands() for standing in self._standing) and not any(
            differs(x, old) for x, old in self._arrays
        )


def _looked(context: Context) -> _Memory:
    """What was looked at in this top-level call."""
    memory: _Memory | None = context.library_memory
    if memory is None:
        memory = context.library_memory = _Memory()
    return memory


class _Memory:
    """What was looked at in one top-level call: it does not refer to that, which would then be a cycle, and
    let objects of the program live until the garbage collector comes."""

    def __init__(self) -> None:
        self.own: dict[int, Reach] = {}
        """By address, what functions and classes reach that may be gone after the call."""
        self.standing: dict[int, Reach] = {}
        """By address, the looks that were seen to hold and since when no code of the program has run."""

    def finds_active(self, context: Context, function: Any, args: Iterable[Any]) -> bool:
        package = package_of(function)
        starts: dict[int, Any] = {}
        for x in (function, *args):
            if depend(context, memory_in(x, package, starts)):
                return True
        return any(_reaches_active(context, reach) for reach in self._reaches(starts.values(), package))

    def finds_any(self, function: Any) -> bool:
        package = package_of(function)
        starts: dict[int, Any] = {}
        if next(memory_in(function, package, starts), None) is not None:
            return True
        return any(reach.found for reach in self._reaches(starts.values(), package))

    def noted(self, function: Any, args: Iterable[Any]) -> Noted | None:
        """What stands in the memory that is found."""
        given = [x if issubclass(type(x), type) else type(x) for x in args if type(x) not in NOTHING]
        package = package_of(function)
        classes = [cls for cls in given if is_python_class(cls) and is_looked_into(cls, package)]
        starts: dict[int, Any] = {}
        beside = [*memory_in(function, package, starts, True)]
        starts.update((id(cls), cls) for cls in classes)
        reaches = [reach for reach in self._reaches(starts.values(), package) if reach.held]
        if not (beside or reaches):
            return None
        note = Noted(beside, reaches)
        return note if note.content else None

    def _reaches(self, starts: Iterable[Any], package: str) -> Iterator[Reach]:
        """What each of `starts` reaches, but for those that another has looked into, and to the end."""
        found: list[Reach] = []
        for start in starts:
            if any(id(start) in reach.codes and not reach.is_cut for reach in found):
                continue
            reach = self.standing.get(id(start))
            if reach is None or reach.package != package:
                reach = self.standing[id(start)] = reach_of(start, package, self.own)
            found.append(reach)
            yield reach


def _reaches_active(context: Context, reach: Reach) -> bool:
    """Whether something in `reach` has a derivative of which `Kept` does not tell."""
    if with_active_defaults and any(f in with_active_defaults for f in reach.functions):
        return True
    met = chain(reach.windows, () if not context.shadows.meets(reach.ids) else reach.found)
    return depend(context, met)


def depend(context: Context, met: Iterable[Any]) -> bool:
    """Whether one of those that were `met` has a derivative of which `Kept` does not tell."""
    met = [*met]
    if with_active_defaults and any(type(x) is types.FunctionType and x in with_active_defaults for x in met):
        return True
    shadows = [*map(context.shadows.behind, met)]
    # At once, for what stands in one stands in many others, too, and is looked at a single time.
    if not context.is_active(shadows):
        return False
    if context.kept is None and context.made is None:
        return True
    return any(
        context.depends(x, shadow) and not (context.kept is not None and context.kept.tells_of(shadow))
        for x, shadow in zip(met, shadows, strict=True)
        if shadow is not None
    )
