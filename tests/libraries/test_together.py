"""The calls of a package in one process: what goes wrong at other values and in later calls is told."""

from __future__ import annotations

import pathlib

import numpy as np
import pytest

from libraries import __main__ as command
from libraries.package import places
from libraries.together import changed, run_package
from tests.libraries.made_up import BEGINNING

SOURCE = (
    BEGINNING
    + """


@package.call(2.0, np.array([1.0, 2.0, 3.0]), [0.5, 0.25])
def right(x, values, pair):
    return (values * x).sum() + x**2, pair[0] * pair[1] + values[-1]


@package.call(2.0)
def wrong_for_numbers_of_numpy(x):
    return squares["off"](x) if type(x) is np.float64 else x * x


@package.call(2.0)
def raised_for_large_ones(x):
    return squares["raising"](x) if x > 2.3 else x * x


@package.call(2.0)
def refused_for_negative_ones(x):
    return struct.unpack("d", struct.pack("d", x))[0] if x < 0.0 else x * x


@package.call(2.0)
def always_refused(x):
    return struct.unpack("d", struct.pack("d", x))[0]


@package.call(2.0)
def broken(x):
    return x.missing
"""
)
LAST = """

@package.call(2.0)
def dying_for_negative_ones(x):
    return squares["dying"](x) if x < 0.0 else x * x
"""


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    root = tmp_path_factory.mktemp("together")
    folder = root / "made_together" / "field"
    folder.mkdir(parents=True)
    (folder / "package.py").write_text(SOURCE, encoding="utf-8")
    (folder / "mortal.py").write_text(SOURCE.partition("@package")[0] + LAST, encoding="utf-8")
    return root


def test_what_goes_wrong_is_told(made: pathlib.Path) -> None:
    chosen = [place for place in places(made / "made_together") if place.module.endswith("package")]
    found = {}
    for result in run_package(chosen, 300.0, made):
        name = result["call"].rpartition(".")[2]
        found.setdefault((name, result["outcome"]), set()).add((result["mode"], result["when"]))
    numpys = {(mode, "argument 0 is a number of NumPy's") for mode in ("reverse", "forward")}
    assert found == {
        ("wrong_for_numbers_of_numpy", "wrong"): numpys,
        ("raised_for_large_ones", "raised"): {(mode, "larger") for mode in ("reverse", "forward")},
        ("refused_for_negative_ones", "refused"): {(mode, "negative") for mode in ("reverse", "forward")},
    }


def test_a_process_that_dies_is_told(made: pathlib.Path) -> None:
    chosen = [place for place in places(made / "made_together") if place.module.endswith("mortal")]
    (result,) = run_package(chosen, 300.0, made)
    assert result["outcome"] == "crashed" and "status 3" in result["detail"]
    assert result["call"] == "made_together.field.mortal.dying_for_negative_ones"
    (result,) = run_package(chosen, 0.01, made)
    assert result["outcome"] == "too long"


def test_arguments_are_changed_in_their_places() -> None:
    given = 2.0, [np.array([1.0, 2.0]), 3], (0.5,), "text"
    found = dict(changed(given))
    assert found["negative"][0] == -2.0 and found["negative"][1][0].tolist() == [-1.0, -2.0]
    assert found["negative"][1][1:] == [3] and found["negative"][2:] == ((-0.5,), "text")
    assert type(found["argument 0 is an int"][0]) is int
    assert found["argument 0 is an array without dimensions"][0].shape == ()
    assert type(found["argument 0 is a number of NumPy's"][0]) is np.float64
    assert [found[f"{word} arrays"][1][0].shape for word in ("longer", "shorter")] == [(3,), (1,)]
    assert found["arrays with gaps"][1][0].strides == (16,)
    assert found["arrays for numbers"][2][0].shape == (2,)
    assert given[1][0].tolist() == [1.0, 2.0]  # its own are left alone


def test_the_command_counts_what_went_wrong(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def told(chosen: list[object], limit: float) -> list[dict[str, str]]:
        assert limit == 5.0 * len(chosen)
        return [{"call": "a.b", "mode": "reverse", "when": "near", "outcome": "wrong", "detail": "1 of 2"}]

    monkeypatch.setattr(command, "run_package", told)
    one = str(min(places()))
    assert command.main(["--together", "--only", one, "--limit", "5"]) == 1
    said = capsys.readouterr().out
    assert "a.b (reverse)  1 of 2  (near)" in said and "1 derivatives of 1 calls went wrong" in said
