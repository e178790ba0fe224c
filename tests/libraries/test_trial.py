"""How often a trial forms the derivative: what a later call does wrong is seen, however slow it is."""

from __future__ import annotations

from typing import Any

import pytest

import adbc
from libraries import trial
from libraries.package import Call
from libraries.trial import LEAST, ROUNDS, attempt


def square(x: float) -> float:
    return x * x


def told(monkeypatch: pytest.MonkeyPatch, mode: str, patience: float, fault: int, with_what: Any) -> Any:
    """What is told of a trial whose derivative number `fault` goes wrong, in the way that is given."""
    right = trial.derivative

    def worn(call: Call, mode: str, of: Any) -> Any:
        form, made = right(call, mode, of), []

        def formed() -> Any:
            made.append(None)
            value, found = form()
            if len(made) == fault and isinstance(with_what, Exception):
                raise with_what
            return (value, found * with_what) if len(made) == fault else (value, found)

        return formed

    report: dict[str, Any] = {}
    monkeypatch.setattr(trial, "derivative", worn)
    monkeypatch.setattr(trial, "PATIENCE", patience)
    attempt(Call(square, (1.5,)), mode, lambda **found: report.update(found))
    return report


@pytest.mark.parametrize("mode", trial.MODES)
def test_six_derivatives_are_formed_without_patience(monkeypatch: pytest.MonkeyPatch, mode: str) -> None:
    report = told(monkeypatch, mode, 0.0, 0, 1.0)
    assert (report["outcome"], report["formed"]) == ("right", 6)


def test_more_are_formed_with_patience(monkeypatch: pytest.MonkeyPatch) -> None:
    report = told(monkeypatch, "reverse", 1000.0, 0, 1.0)
    assert (report["outcome"], report["formed"]) == ("right", ROUNDS)


@pytest.mark.parametrize("mode", trial.MODES)
@pytest.mark.parametrize(
    ("fault", "outcome"),
    [
        (1.0 + 1e-4, "wrong"),
        (TypeError("made up"), "raised"),
        (adbc.AdbcError("made up", "because", "do not"), "refused"),
    ],
)
def test_what_the_sixth_call_does_wrong_is_seen(
    monkeypatch: pytest.MonkeyPatch, mode: str, fault: Any, outcome: str
) -> None:
    report = told(monkeypatch, mode, 0.0, LEAST, fault)
    assert report["outcome"] == outcome and report["detail"].startswith("in call 6: ")
    assert report["formed"] == (6 if outcome == "wrong" else 5)
