"""Where rules are kept: declarations by function, the first that applies wins.

A declaration says how one function is differentiated in one mode, or in both, for some classes of arguments.
Later ones stand in front of earlier ones of the same origin; those of users in front of those of plug-ins,
and these in front of what a collection brings.  Systems that differentiate listen to what is declared and
removed.
"""

from __future__ import annotations

import contextlib
import dataclasses
import threading
from collections.abc import Callable, Iterator, Sequence
from contextvars import ContextVar
from enum import IntEnum
from typing import Any

from adbc.chainrules.configs import Requirement, RuleConfig
from adbc.records import record

__all__ = [
    "BOTH",
    "BUILT_IN",
    "USER",
    "Declaration",
    "Origin",
    "Rank",
    "Registry",
    "declared_in",
    "declaring",
    "least_arguments",
    "registry",
]

When = Callable[..., bool] | tuple[type, ...] | None
BOTH = frozenset({"forward", "reverse"})


class Rank(IntEnum):
    """Whose rules come first."""

    USER = 0
    PLUGIN = 1
    BUILT_IN = 2


@record(frozen=True)
class Origin:
    """Where a rule comes from.

    name: of the plug-in, or of the part of the collection.  version: what changes when its rules do.
    """

    rank: Rank
    name: str = ""
    version: str = ""

    def __str__(self) -> str:
        rank = {Rank.USER: "user", Rank.PLUGIN: "plug-in", Rank.BUILT_IN: "built-in"}[self.rank]
        return f"{rank} {self.name}".rstrip()


USER = Origin(Rank.USER)
BUILT_IN = Origin(Rank.BUILT_IN)
_origin: ContextVar[Origin] = ContextVar("origin of rules", default=USER)


def declared_in() -> Origin:
    """The origin of what is declared now."""
    return _origin.get()


@contextlib.contextmanager
def declaring(origin: Origin) -> Iterator[None]:
    """In the block, and in this thread or task, rules are declared on behalf of `origin`."""
    token = _origin.set(origin)
    try:
        yield
    finally:
        _origin.reset(token)


def least_arguments(when: Callable[..., bool]) -> int:
    """How many classes the predicate of a rule must be given."""
    code = getattr(when, "__code__", None)
    return code.co_argcount - len(getattr(when, "__defaults__", None) or ()) if code else 1


@record(eq=False)
class Declaration:
    """How `function` is differentiated in `modes`, for arguments of the classes that `when` accepts.

    kind: "rule", "scalar" (`detail` is the `scalar.Partials`), "zero", or "opt out": then there is no rule.
    rules: by mode, what the public forms of the rules are.  requires: what a rule needs of a config; it is
    given the config first.  for_speed: whether the function could as well be derived.
    """

    function: Callable[..., Any]
    kind: str
    rules: dict[str, Callable[..., Any]]
    modes: frozenset[str] = BOTH
    when: When = None
    requires: Requirement | None = None
    for_speed: bool = False
    detail: Any = None
    origin: Origin = dataclasses.field(default_factory=declared_in)

    def accepts(self, classes: Sequence[type]) -> bool:
        """Whether it is for calls whose arguments by position are of these classes."""
        when = self.when
        if when is None:
            return True
        if isinstance(when, tuple):
            return len(classes) >= len(when) and all(map(issubclass, classes, when))
        return len(classes) >= least_arguments(when) and bool(when(*classes))


class Registry:
    """Declarations by function."""

    def __init__(self) -> None:
        self._declared: dict[Any, list[Declaration]] = {}
        self._lock = threading.RLock()
        self.listeners: list[Callable[[Declaration, bool], object]] = []
        """Functions that are told of each declaration that is added, or (False) removed."""
        self.providers: list[Callable[[Any, str, Sequence[type]], Declaration | None]] = []
        """Functions that give the rule of a function in a mode for classes, where nothing is declared."""
        self.before: list[Callable[[], object]] = []
        """Functions that are called before rules are looked up: what waits to be loaded is loaded."""

    def add(self, declaration: Declaration) -> Declaration:
        """Put `declaration` in front of those of its origin's rank."""
        with self._lock:
            present = self._declared.setdefault(declaration.function, [])
            rank = declaration.origin.rank
            at = next((i for i, d in enumerate(present) if d.origin.rank >= rank), len(present))
            # Not changed in place: others may be looking through it.
            self._declared[declaration.function] = [*present[:at], declaration, *present[at:]]
        self._tell(declaration, True)
        return declaration

    def _tell(self, declaration: Declaration, is_added: bool) -> None:
        # Without the lock: who listens has locks of its own, under which rules may be declared.
        for listener in list(self.listeners):
            listener(declaration, is_added)

    def remove(self, declaration: Declaration) -> bool:
        """Take `declaration` back; whether it was there."""
        with self._lock:
            present = self._declared.get(declaration.function, [])
            if declaration not in present:
                return False
            rest = [d for d in present if d is not declaration]
            if rest:
                self._declared[declaration.function] = rest
            else:
                del self._declared[declaration.function]
        self._tell(declaration, False)
        return True

    def listen(self, listener: Callable[[Declaration, bool], object]) -> None:
        """Tell `listener` of all that is declared, and of all that will be; of what is declared meanwhile
        perhaps twice."""
        self.listeners.append(listener)
        for declaration in reversed(list(self)):
            listener(declaration, True)

    def of(self, function: Any) -> list[Declaration]:
        """What is declared for `function`, the first first."""
        for load in self.before:
            load()
        try:
            return self._declared.get(function, [])
        except TypeError:  # what cannot be hashed has no rules
            return []

    def find(
        self, function: Any, mode: str, classes: Sequence[type], config: RuleConfig | None = None
    ) -> Declaration | None:
        """The declaration with the rule of `function` in `mode`; None if there is no rule."""
        for declaration in self.of(function):
            if mode in declaration.modes and declaration.accepts(classes):
                if declaration.requires is not None and not declaration.requires.is_met(config):
                    continue
                return None if declaration.kind == "opt out" else declaration
        for provider in self.providers:
            found = provider(function, mode, classes)
            if found is not None:
                return found
        return None

    def __iter__(self) -> Iterator[Declaration]:
        for load in self.before:
            load()
        return iter([d for declared in list(self._declared.values()) for d in declared])


registry = Registry()
"""The rules that are declared in this process."""
