"""Switches come from the environment, and a configuration is a value."""

from __future__ import annotations

import dataclasses

import pytest

from adbc.config import Config


def test_defaults() -> None:
    assert Config.from_environment({}) == Config()


def test_switches() -> None:
    found = Config.from_environment({"ADBC_VERIFY": "1", "ADBC_DUMP": "f", "ADBC_DUMP_DIRECTORY": "d"})
    assert found == Config(verify=True, dump="f", dump_directory="d")
    assert Config.from_environment({"ADBC_DEBUG": "1"}) == Config(debug=True)
    assert Config.from_environment({"ADBC_TRACE_NAN": "1"}) == Config(trace_nan=True)
    assert Config.from_environment({"ADBC_SPECULATION": "never"}) == Config(speculation="never")


def test_there_are_four_ways_of_speculating() -> None:
    with pytest.raises(ValueError, match="there is no speculation 'sometimes': choose from learn, never"):
        Config(speculation="sometimes")


@pytest.mark.parametrize("text", ["", "0", "no", "False", " off "])
def test_off(text: str) -> None:
    assert not Config.from_environment({"ADBC_VERIFY": text}).verify


def test_frozen() -> None:
    with pytest.raises(dataclasses.FrozenInstanceError):
        Config().verify = True  # type: ignore[misc]  # what is tested
