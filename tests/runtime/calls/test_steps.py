"""No step of dispatch is forgotten in a mode: every class of steps has a driver, and both modes have it."""

from __future__ import annotations

import inspect

import pytest

from adbc.runtime.calls import steps
from adbc.runtime.calls.driver import Calls
from adbc.runtime.calls.forward import ForwardCalls
from adbc.runtime.calls.reverse import ReverseCalls

LOOPED = {steps.Delegate}
"""Steps that the loop of dispatch takes itself."""


def classes_of_steps() -> set[type]:
    """The classes in `steps` that hold a call to be made, by themselves, in a list or in another step."""
    return {
        cls
        for cls in vars(steps).values()
        if isinstance(cls, type)
        and cls.__module__ == steps.__name__
        and {"call", "calls", "step"} & set(inspect.signature(cls).parameters)
        and cls is not steps.OfCall
    }


def test_every_step_has_a_driver() -> None:
    assert set(steps.DRIVERS) == classes_of_steps() - LOOPED


@pytest.mark.parametrize("mode", [ForwardCalls, ReverseCalls])
def test_both_modes_carry_out_every_step(mode: type[Calls]) -> None:
    assert not inspect.isabstract(mode)
    for name in steps.DRIVERS.values():
        assert list(inspect.signature(getattr(mode, name)).parameters) == ["self", "context", "step", "mode"]


def test_no_driver_is_without_a_step() -> None:
    drivers = {
        name
        for name, function in inspect.getmembers(Calls, inspect.isfunction)
        if [*inspect.signature(function).parameters][1:] == ["context", "step", "mode"]
    }
    assert drivers == set(steps.DRIVERS.values())
