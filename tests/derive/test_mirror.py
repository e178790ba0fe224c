"""A kind of call that a mode can meet has a handler there, and no other has."""

from __future__ import annotations

from typing import Any

import pytest

from adbc.derive.mirror import Mirror
from adbc.forward.builder import DualBuilder
from adbc.reverse.forwards import ForwardsPass
from adbc.types.kinds import FORWARD, REVERSE, Kind

BUILDERS: dict[str, type[Mirror]] = {FORWARD: DualBuilder, REVERSE: ForwardsPass}


def handled(builder: type[Mirror]) -> dict[Kind, Any]:
    """The handlers of a builder that has nothing to build."""
    return dict(builder.handlers(object.__new__(builder)))


@pytest.mark.parametrize("mode", BUILDERS)
def test_each_kind_of_call_of_a_mode_has_a_handler_in_its_builder(mode: str) -> None:
    assert set(handled(BUILDERS[mode])) == {kind for kind in Kind if mode in kind.modes}


@pytest.mark.parametrize("mode", BUILDERS)
def test_no_two_kinds_share_a_handler(mode: str) -> None:
    handlers = [getattr(handler, "func", handler) for handler in handled(BUILDERS[mode]).values()]
    names = [handler.__name__.removeprefix("_") for handler in handlers]
    assert sorted(names) == sorted(map(str, handled(BUILDERS[mode])))


@pytest.mark.parametrize("kind", Kind)
def test_each_kind_belongs_to_a_mode(kind: Kind) -> None:
    assert kind.modes
    assert set(kind.modes) <= set(BUILDERS)
