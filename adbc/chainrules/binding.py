"""How the arguments of a call meet the formulas of a declared rule: names, defaults, keyword-only parameters.

Formulas are given arguments by position, in the order of the function's parameters.  What they do not take
by position stays a keyword, which has no derivative.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Sequence
from typing import Any

__all__ = ["Binding", "positional_parameters"]

_POSITIONAL = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)


def positional_parameters(function: Callable[..., Any]) -> int | None:
    """How many arguments `function` takes by position; None if any number, or if that cannot be said."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return None
    if any(p.kind is inspect.Parameter.VAR_POSITIONAL for p in parameters):
        return None
    return sum(p.kind in _POSITIONAL for p in parameters)


class Binding:
    """The parameters that the formulas of a rule are given by position.

    function: what the rule is for.  formulas: functions that take `leading` arguments of their own and then
    those of `function`.  parameters: the names, if the signature of `function` does not say them or if only
    some are meant; names of keyword-only parameters may be among them.  count: how many parameters are meant
    if there are no formulas.

    Raises `TypeError` if `parameters` are not the first of the signature.
    """

    def __init__(
        self,
        function: Callable[..., Any],
        formulas: Iterable[Callable[..., Any] | None],
        leading: int,
        parameters: Sequence[str] | None = None,
        count: int = 0,
    ) -> None:
        try:
            signature = inspect.signature(function).parameters
        except (TypeError, ValueError):
            signature = {}  # type: ignore[assignment]  # C functions may have none
        is_open = any(p.kind is inspect.Parameter.VAR_POSITIONAL for p in signature.values())
        self.total = None if is_open or not signature else len(signature)
        """How many parameters the function has; None if any number, or if that cannot be said."""
        by_position = [n for n, p in signature.items() if p.kind in _POSITIONAL]
        by_name = [n for n, p in signature.items() if p.kind is inspect.Parameter.KEYWORD_ONLY]
        names = (*by_position, *by_name) if parameters is None else tuple(parameters)
        self.positional = len([n for n in names if n not in by_name])
        """How many of the names are passed to the function by position; the others by name."""
        first = by_position if self.positional < len(names) else by_position[: self.positional]
        if signature and [*names[: self.positional]] != first:
            raise TypeError(
                f"parameters={names!r}: the parameters of the function are {(*by_position, *by_name)!r}; name"
                " them in this order, and all that go by position if there is one behind them that does not"
            )
        counts = [positional_parameters(f) for f in formulas if f is not None]
        most = max((n for n in counts if n is not None), default=count + leading) - leading
        self.names = names if parameters is not None or None in counts else names[: max(most, 0)]
        self.defaults = {
            n: signature[n].default
            for n in self.names
            if n in signature and signature[n].default is not inspect.Parameter.empty
        }

    def bind(self, args: Sequence[Any], kwargs: dict[str, Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """`args` and `kwargs` with the keywords among the names made positional, and defaults in the gaps."""
        bound, rest = list(args), dict(kwargs)
        wanted = [i for i, name in enumerate(self.names) if i >= len(bound) and name in rest]
        if len(bound) > self.positional or not wanted:
            return tuple(bound), rest
        gap = self.names[len(bound) : wanted[-1] + 1]
        if any(name not in rest and name not in self.defaults for name in gap):
            return tuple(bound), rest
        bound += [rest.pop(name) if name in rest else self.defaults[name] for name in gap]
        return tuple(bound), rest

    def complete(self, args: Sequence[Any]) -> tuple[Any, ...]:
        """`args` with the defaults of the parameters that are not given."""
        found = []
        for name in self.names[len(args) :]:
            if name not in self.defaults:
                break
            found.append(self.defaults[name])
        return (*args, *found)

    def call(
        self, function: Callable[..., Any], args: Sequence[Any], kwargs: Any, *, leading: int = 0
    ) -> Any:
        """``function(*args, **kwargs)``, with keyword-only parameters among `args` given by name; the first
        `leading` of `args` are the function's own."""
        n = self.positional + leading
        if len(args) <= n or len(self.names) + leading <= n:
            return function(*args, **kwargs)
        by_name = dict(zip(self.names[n - leading :], args[n:], strict=False))
        return function(*args[:n], **by_name, **kwargs)
