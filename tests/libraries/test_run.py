"""What becomes of a call, with a made-up package: right, wrong, refused, raised, too long, crashed."""

from __future__ import annotations

import json
import pathlib

import pytest

from libraries import __main__ as command
from libraries.package import Place, places
from libraries.run import Trial, finished, run, run_one
from libraries.trial import MODES
from tests.libraries.made_up import BEGINNING

SOURCE = (
    BEGINNING
    + """
seen = []


@package.call(np.array([0.5, 0.0, -2.0]), [0.3, 4.0], 2)
def right(values, pair, power):
    return (values**power).sum(), [np.sin(values) * pair[0], pair[1] * 3.0], "text"


@package.call(0.5)
def wrong(x):
    return squares["off"](x)


@package.call(0.5)
def refused(x):
    return struct.unpack("d", struct.pack("d", x))[0]


@package.call(0.5)
def raised(x):
    return squares["raising"](x)


@package.call(0.5)
def too_long(x):
    return squares["forever"](x)


@package.call(0.5)
def crashed(x):
    return squares["dying"](x)


@package.call(0.5)
def rough(x):
    return math.sin(1e7 * x) * 1e-6 + x


@package.call(0.5)
def constant(x):
    return 0.0 * x


@package.call(0.5)
def infinite(x):
    return x / 1e-320


@package.call(0.5)
def changing(x):
    seen.append(x)
    return len(seen) * x


@package.call(0.5)
def broken(x):
    return x.missing


@package.call(0.5)
def leaving(x):
    os._exit(4)
"""
)

OUTCOMES = {
    "right": "right",
    "wrong": "wrong",
    "refused": "refused",
    "raised": "raised",
    "too_long": "too long",
    "crashed": "crashed",
    "rough": "unsettled",
    "constant": "unsettled",
    "infinite": "unsettled",
    "changing": "broken",
    "broken": "broken",
    "leaving": "broken",
}


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    """A folder with a table of calls, as `libraries` has them."""
    root = tmp_path_factory.mktemp("made")
    folder = root / "made_up" / "field"
    folder.mkdir(parents=True)
    (folder / "package.py").write_text(SOURCE, encoding="utf-8")
    return root


def place_of(made: pathlib.Path, name: str) -> Place:
    return next(place for place in places(made / "made_up") if place.name == name)


IN_BOTH_MODES = ("right", "wrong", "refused", "raised")
CASES = [(name, mode) for name in OUTCOMES for mode in MODES if mode == "reverse" or name in IN_BOTH_MODES]


@pytest.mark.parametrize(("name", "mode"), CASES)
def test_outcomes(made: pathlib.Path, name: str, mode: str) -> None:
    limit = 3.0 if name == "too_long" else 60.0
    result = run_one(Trial(place_of(made, name), mode), limit, made)
    assert result["outcome"] == OUTCOMES[name], result
    assert (result["call"], result["package"]) == (f"field.package.{name}", "numpy")
    if name == "right":
        assert min(result[key] for key in ("plain", "first", "second", "steady")) > 0.0
    else:
        assert result["detail"]
    if name == "refused":
        assert result["error"] == "MissingRuleError" and "struct.pack" in result["met"]
        assert result["after"] > 0.0


def test_every_call_is_of_the_table(made: pathlib.Path) -> None:
    assert {place.name for place in places(made / "made_up")} == set(OUTCOMES)


def test_a_log_is_gone_on_from(made: pathlib.Path, tmp_path: pathlib.Path) -> None:
    log = tmp_path / "log"
    trials = [Trial(place_of(made, name), "forward") for name in ("broken", "leaving")]
    results = list(run(trials, jobs=2, log=log, limit=30.0))
    assert sorted(finished(log)) == sorted(trial.key for trial in trials)
    assert list(finished(log).values()) == results
    assert finished(tmp_path / "none") == finished(None) == {}


def test_the_last_line_of_a_trial_counts(made: pathlib.Path, tmp_path: pathlib.Path) -> None:
    log = tmp_path / "log"
    trial = Trial(place_of(made, "broken"), "forward")
    given = {"call": str(trial.place), "mode": "forward", "package": "numpy"}
    lines = [{**given, "outcome": outcome} for outcome in ("right", "refused", "right", "too long")]
    log.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    assert finished(log) == {trial.key: lines[-1]}


def test_what_is_finished_is_not_run_again(
    tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]
) -> None:
    log, report = tmp_path / "log", tmp_path / "report"
    place = min(places())
    for mode in MODES:
        known = {
            "call": str(place), "mode": mode, "package": place.distribution, "outcome": "right", "plain": 0.5,
            "compile": 0.1, "first": 2.0, "second": 1.5, "steady": 1.0,
        }  # fmt: skip
        with log.open("a") as file:
            print(json.dumps(known), file=file)
    assert command.main(["--only", str(place), "--log", str(log), "--report", str(report)]) == 0
    assert "0 trials of 2" in capsys.readouterr().out
    assert "1 calls of 1 packages, 2 trials" in report.read_text(encoding="utf-8")


def test_calls_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    assert command.main(["--list"]) == 0
    assert capsys.readouterr().out.split() == [str(place) for place in sorted(places())]
