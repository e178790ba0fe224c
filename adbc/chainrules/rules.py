"""`frule` and `rrule`: how rules are declared, and how they are run by hand."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypedDict, TypeVar, Unpack, overload

from adbc.chainrules.configs import Requirement, RuleConfig, ad_config
from adbc.chainrules.registry import Declaration, When, registry

__all__ = ["FRule", "Pullback", "RRule", "frule", "rrule"]

F = TypeVar("F", bound=Callable[..., Any])


class Pullback:
    """What `rrule` gives beside the result: ``pullback(cotangent) -> (cotangent of f, of each argument...)``.

    It checks that the rule gives one cotangent for the function and one for each argument by position:
    a rule that forgets the one for the function gives each argument that of the next.
    """

    __slots__ = ("_count", "_function", "_pullback")

    def __init__(self, function: Callable[..., Any], pullback: Callable[[Any], Any], count: int) -> None:
        self._function, self._pullback, self._count = function, pullback, count

    def __call__(self, cotangent: Any) -> tuple[Any, ...]:
        given = self._pullback(cotangent)
        if not isinstance(given, tuple) or len(given) != self._count + 1:
            raise TypeError(
                f"the pullback of {_name(self._function)} gives {_described(given)}; it gives a tuple of"
                f" {self._count + 1}: the cotangent of the function, then one for each argument"
            )
        return given

    def __repr__(self) -> str:
        return f"<pullback of {_name(self._function)}>"


def _name(function: Any) -> str:
    return str(getattr(function, "__qualname__", None) or repr(function))


def _described(given: Any) -> str:
    return f"a tuple of {len(given)}" if isinstance(given, tuple) else f"a {type(given).__name__}"


class Options(TypedDict, total=False):
    """What is said of a rule where it is declared."""

    when: When
    config: Requirement | None
    for_speed: bool


class _Form:
    """What `frule` and `rrule` have in common."""

    mode: str

    def _declare(self, function: Callable[..., Any], options: dict[str, Any]) -> Callable[[F], F]:
        unknown = options.keys() - Options.__annotations__.keys()
        if unknown:
            raise TypeError(
                f"{self!r}(f) declares a rule, and {min(unknown)!r} is no option of it; rrule.call(f, ...)"
                " runs the rule of a call without arguments by position"
            )

        def declare(rule: F) -> F:
            rules: dict[str, Callable[..., Any]] = {self.mode: rule}
            when, requires = options.get("when"), options.get("config")
            for_speed = options.get("for_speed", False)
            registry.add(Declaration(function, "rule", rules, frozenset(rules), when, requires, for_speed))
            return rule

        return declare

    def _find(
        self, config: RuleConfig | None, function: Any, args: tuple[Any, ...]
    ) -> Callable[..., Any] | None:
        """The rule for a call, given its config if it asks for one; None if there is none."""
        found = registry.find(function, self.mode, tuple(map(type, args)), config)
        if found is None:
            return None
        rule = found.rules[self.mode]
        return rule if found.requires is None else lambda *given, **kwargs: rule(config, *given, **kwargs)

    def __repr__(self) -> str:
        return type(self).__name__.lower()


class FRule(_Form):
    """Rules of forward mode: ``rule((df, *dargs), f, *args, **kwargs) -> (y, dy)``.

    ``frule(f)`` declares one, as a decorator.  ``when``: for which classes of the arguments, as a predicate
    ``when(*classes)`` or a tuple of classes.  ``config``: what the rule needs (`RuleConfig.requires`); it is
    given the config first.  ``for_speed``: that `f` could as well be derived, which a minimal context does.

    ``frule(tangents, f, *args, **kwargs)`` runs the rule; None says that there is none.  A config may be
    given in front.  The result and its tangent are computed together: in forward mode the derivative that a
    rule needs is there when it is called, and what both need is computed once.

    >>> import math
    >>> from adbc import chainrules as cr
    >>> def cube(x):
    ...     return x**3
    >>> @cr.frule(cube)
    ... def _(tangents, cube, x):
    ...     return x**3, 3 * x**2 * tangents[1]
    >>> cr.frule((cr.NoTangent(), 1.0), cube, 2.0)
    (8.0, 12.0)
    """

    mode = "forward"

    @overload
    def __call__(self, first: Callable[..., Any], /, **options: Unpack[Options]) -> Callable[[F], F]: ...

    @overload
    def __call__(
        self, first: tuple[Any, ...] | RuleConfig, second: Any, /, *args: Any, **kwargs: Any
    ) -> Any: ...

    def __call__(self, first: Any, /, *args: Any, **kwargs: Any) -> Any:
        if isinstance(first, RuleConfig):
            return self._run(first, args[0], args[1], args[2:], kwargs)
        if callable(first) and not args:
            return self._declare(first, kwargs)
        if not isinstance(first, tuple) or not args:
            raise TypeError(
                "frule(f) declares a rule; frule((df, *dargs), f, *args) runs one: a tuple of tangents first"
            )
        return self._run(None, first, args[0], args[1:], kwargs)

    def _run(
        self,
        config: RuleConfig | None,
        tangents: tuple[Any, ...],
        function: Any,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
    ) -> Any:
        if len(tangents) != len(args) + 1:
            raise TypeError(
                f"frule of {_name(function)} is given {len(tangents)} tangents for {len(args)} arguments: the"
                " tangent of the function is the first"
            )
        rule = self._find(config, function, args)
        if rule is None:
            return None
        given = rule(tangents, function, *args, **kwargs)
        if not isinstance(given, tuple) or len(given) != 2:
            raise TypeError(
                f"the frule of {_name(function)} gives {_described(given)}; it gives (y, dy): the result and"
                " its tangent"
            )
        return given

    def from_ad(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """The rule of `function`, derived: ``rule((df, *dargs), f, *args, **kwargs) -> (y, dy)``.

        >>> from adbc import chainrules as cr
        >>> def f(x):
        ...     return x * x
        >>> cr.frule.from_ad(f)((cr.NoTangent(), 1.0), f, 3.0)
        (9.0, 6.0)
        """

        def derived(tangents: tuple[Any, ...], f: Any, *args: Any, **kwargs: Any) -> Any:
            return ad_config().frule_via_ad(tangents, f, *args, **kwargs)

        return derived


class RRule(_Form):
    """Rules of reverse mode: ``rule(f, *args, **kwargs) -> (y, pullback)``.

    ``rrule(f)`` declares one, as a decorator, with the options of `frule`.  The pullback takes the cotangent
    of `y` and returns 1 + n cotangents, that of `f` first.

    ``rrule(f, *args, **kwargs)`` runs the rule; None says that there is none.  A config may be given in
    front.  Functions without arguments are run by ``rrule.call(f)``.

    >>> from adbc import chainrules as cr
    >>> def scaled(x, y):
    ...     return x * y
    >>> @cr.rrule(scaled)
    ... def _(scaled, x, y):
    ...     return x * y, lambda dz: (cr.NoTangent(), y * dz, x * dz)
    >>> z, pullback = cr.rrule(scaled, 2.0, 5.0)
    >>> z, pullback(1.0)
    (10.0, (NoTangent(), 5.0, 2.0))
    """

    mode = "reverse"

    @overload
    def __call__(self, first: Callable[..., Any], /, **options: Unpack[Options]) -> Callable[[F], F]: ...

    @overload
    def __call__(self, first: Any, second: Any, /, *args: Any, **kwargs: Any) -> Any: ...

    def __call__(self, first: Any, /, *args: Any, **kwargs: Any) -> Any:
        if isinstance(first, RuleConfig):
            return self._run(first, args[0], args[1:], kwargs)
        if not callable(first):
            raise TypeError("rrule(f) declares a rule; rrule(f, *args) runs one: a function first")
        if not args:
            return self._declare(first, kwargs)
        return self._run(None, first, args, kwargs)

    def call(self, function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        """Run the rule of `function`, which may be called without arguments by position."""
        return self._run(None, function, args, kwargs)

    def _run(
        self, config: RuleConfig | None, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> Any:
        rule = self._find(config, function, args)
        if rule is None:
            return None
        given = rule(function, *args, **kwargs)
        if not isinstance(given, tuple) or len(given) != 2 or not callable(given[1]):
            raise TypeError(
                f"the rrule of {_name(function)} gives {_described(given)}; it gives (y, pullback): the"
                " result and a function of its cotangent"
            )
        return given[0], Pullback(function, given[1], len(args))

    def from_ad(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """The rule of `function`, derived: ``rule(f, *args, **kwargs) -> (y, pullback)``.

        >>> from adbc import chainrules as cr
        >>> def f(x, y):
        ...     return x * x * y
        >>> y, pullback = cr.rrule.from_ad(f)(f, 3.0, 2.0)
        >>> y, pullback(1.0)
        (18.0, (NoTangent(), 12.0, 9.0))
        """

        def derived(f: Any, *args: Any, **kwargs: Any) -> Any:
            return ad_config().rrule_via_ad(f, *args, **kwargs)

        return derived


frule = FRule()
"""Declares and runs rules of forward mode."""
rrule = RRule()
"""Declares and runs rules of reverse mode."""
