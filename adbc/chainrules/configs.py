"""`RuleConfig`: what a rule may ask of the system that runs it."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from contextvars import ContextVar
from typing import Any

from adbc.errors import UnsupportedError
from adbc.lazy import demanded

__all__ = ["Requirement", "RuleConfig", "ad_config", "using_config"]


class Requirement:
    """What a rule asks of a config (`RuleConfig.requires`)."""

    __slots__ = ("abilities",)

    def __init__(self, abilities: frozenset[str]) -> None:
        self.abilities = abilities

    def is_met(self, config: RuleConfig | None) -> bool:
        """Whether `config` has all of it."""
        return config is not None and self.abilities <= config.abilities

    def __repr__(self) -> str:
        return f"RuleConfig.requires({', '.join(map(repr, sorted(self.abilities)))})"


class RuleConfig:
    """A system that runs rules, as far as rules are concerned: what it can do, and how they ask for it.

    abilities: "forward" if it has `frule_via_ad`, "reverse" if it has `rrule_via_ad`, and whatever else a
    system and its rules agree on.  A system derives a class from this one.  A rule that requires what the
    config at hand lacks is passed over, and the next one is tried.
    """

    abilities: frozenset[str] = frozenset()

    @staticmethod
    def requires(*abilities: str) -> Requirement:
        """What a rule asks of a config: ``config=RuleConfig.requires("reverse")``.  Such a rule is given the
        config as its first argument."""
        return Requirement(frozenset(abilities))

    def frule_via_ad(
        self, tangents: tuple[Any, ...], f: Callable[..., Any], *args: Any, **kwargs: Any
    ) -> Any:
        """``(f(*args, **kwargs), tangent)``, by a rule or by differentiating `f`; `tangents` begins with that
        of `f` itself."""
        raise UnsupportedError(
            "a rule differentiates a function, which this config cannot in forward mode",
            "it says so itself: RuleConfig.requires keeps rules from configs that lack what they need",
            "declare the rule with config=RuleConfig.requires('forward')",
        )

    def rrule_via_ad(self, f: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        """``(f(*args, **kwargs), pullback)``, by a rule or by differentiating `f`; what the pullback gives
        begins with the cotangent of `f` itself: what its closure holds."""
        raise UnsupportedError(
            "a rule differentiates a function, which this config cannot in reverse mode",
            "it says so itself: RuleConfig.requires keeps rules from configs that lack what they need",
            "declare the rule with config=RuleConfig.requires('reverse')",
        )


_current: ContextVar[RuleConfig | None] = ContextVar("adbc rule config", default=None)


def ad_config() -> RuleConfig:
    """The config of the automatic differentiation that is at hand: the one in use, else that of adbc.

    Raises `adbc.errors.UnsupportedError` if there is none.
    """
    config = _current.get()
    if config is None:
        config = demanded("rule config")
    if config is None:
        raise UnsupportedError(
            "a rule is to be derived",
            "no system that could derive it has been set",
            "run the block under adbc.chainrules.using_config(config)",
        )
    return config


@contextlib.contextmanager
def using_config(config: RuleConfig) -> Iterator[None]:
    """In the block, and in this thread or task, `config` derives what `frule.from_ad` and `rrule.from_ad`
    are asked for, instead of adbc."""
    token = _current.set(config)
    try:
        yield
    finally:
        _current.reset(token)
