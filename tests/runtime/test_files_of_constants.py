"""Constants that are written and read again: by `json`, `pickle` and `csv`, into memory, files and templates.

Of what a list or a global holds reverse mode does not know at first whether it depends on the input.
"""

from __future__ import annotations

import csv
import io
import json
import pathlib
import pickle
import re
import string
import tempfile
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import adbc
from adbc.errors import AdbcError

Program = Callable[[Any], Any]
ROBOT = {"gain": 2.0, "links": [{"length": 0.5}, {"length": 1.5}]}
POINT = np.array([0.5, -1.25, 2.0])


@pytest.fixture(autouse=True, params=[0, 3], ids=["code", "interpreted"])
def _warm_after(request: pytest.FixtureRequest) -> Iterator[None]:
    with adbc.use(adbc.Config(warm_after=request.param)):
        yield


def _covariance(seed: int = 6) -> Any:
    a = np.random.default_rng(seed).normal(size=(3, 3))
    return a @ a.T + np.eye(3)


def _configuration(v: Any) -> Any:
    found = json.loads(json.dumps(ROBOT))
    return found["gain"] * (v * v).sum() + sum(link["length"] for link in found["links"])


def _configuration_of_a_file(v: Any) -> Any:
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "robot.json")
        path.write_text(json.dumps(ROBOT, indent=1))
        with path.open() as file:
            return json.load(file)["gain"] * (v * v).sum()


def _pickled_array(v: Any) -> Any:
    with tempfile.TemporaryDirectory() as folder:
        with open(folder + "/kept", "wb") as file:
            pickle.dump(_covariance(), file, protocol=pickle.HIGHEST_PROTOCOL)
        with open(folder + "/kept", "rb") as file:
            return v @ pickle.load(file) @ v


def _pickled_list(v: Any) -> Any:
    with io.BytesIO() as stream:
        pickle.dump([float(i) * 2 for i in range(3)], stream)
        stream.seek(0)
        return pickle.load(stream)[2] * v.sum()


def _table(v: Any) -> Any:
    stream = io.StringIO()
    writer = csv.writer(stream, delimiter=";")
    for k in range(3):
        writer.writerow([k, f"{8 + np.sin(k / 9):.2f}", 6.5 if k else 0])
    stream.seek(0)
    rows = [(int(row[0]), *map(float, row[1:])) for row in csv.reader(stream, delimiter=";")]
    return v.sum() * sum(b * c for _, b, c in rows)


def _template(v: Any) -> Any:
    total = (v * v).sum()
    text = string.Template("$name: ${total}").substitute(name="total", total=f"{total:.3f}")
    shown = re.sub(r"\d", lambda match: "#", text)
    return total * len(shown) + len(re.sub("o", lambda match: text, "to do"))


FOLLOWED: list[Program] = [
    _configuration, _configuration_of_a_file, _pickled_array, _pickled_list, _table, _template,
]  # fmt: skip


@pytest.mark.parametrize("program", FOLLOWED, ids=lambda f: f.__name__)
def test_what_was_written_of_constants_is_read(program: Program) -> None:
    step = 1e-6
    differences = [(program(POINT + step * e) - program(POINT - step * e)) / (2 * step) for e in np.eye(3)]
    for _ in range(4):
        point = POINT.copy()
        value, gradient = adbc.value_and_grad(program)(point)
        assert value == program(POINT) and np.array_equal(point, POINT)
        np.testing.assert_allclose(gradient, differences, rtol=1e-6)
        _, along = adbc.jvp(program, (point,), (np.ones(3),))
        np.testing.assert_allclose(along, sum(differences), rtol=1e-6)


def _number_of_the_input(v: Any) -> Any:
    return json.loads(json.dumps({"a": float(v[0]) * 2, "b": ROBOT}))["a"]


def _written_later(v: Any) -> Any:
    found = {"a": 1.0}
    text = json.dumps(found)
    found["a"] = v[0] * 2
    return json.loads(text)["a"] * json.loads(json.dumps(found))["a"]


def _pickled_input(v: Any) -> Any:
    stream = io.BytesIO()
    pickle.dump([v * 2], stream)
    stream.seek(0)
    return pickle.load(stream)[0].sum()


def _bytes_of_the_input(v: Any) -> Any:
    stream = io.BytesIO()
    stream.write(v * 2)
    return np.frombuffer(stream.getvalue()).sum()


def _put_into_a_text(v: Any) -> Any:
    text = f"{v[0]:.6f}"
    return float(re.sub("a", lambda match: text, "a"))


def _digits_met(v: Any) -> Any:
    met: list[int] = []
    re.sub(r"\d", lambda match: met.append(int(match[0])) or "", f"{v[0]:.6f}")
    return v[0] * sum(met)


REFUSED: list[Program] = [
    _number_of_the_input, _written_later, _pickled_input, _bytes_of_the_input, _put_into_a_text, _digits_met,
]  # fmt: skip


@pytest.mark.parametrize("program", REFUSED, ids=lambda f: f.__name__)
def test_and_nothing_of_what_depends_on_the_input(program: Program) -> None:
    for _ in range(4):
        with pytest.raises(AdbcError):
            adbc.value_and_grad(program)(POINT)
        with pytest.raises(AdbcError):
            adbc.jvp(program, (POINT,), (np.ones(3),))


def _shown(x: Any) -> Any:
    w = x * np.arange(3.0)
    print(np.array2string(np.sin(w), precision=2, floatmode="fixed"), np.array_repr(w * 2))
    print(f"{np.cos(w)}", np.array_str(w[1:]))
    return (w * w).sum()


def test_arrays_are_shown_in_written_code(capsys: pytest.CaptureFixture[str]) -> None:
    """An array that is only computed and shown is no value without memory there."""
    _shown(0.5)
    text = capsys.readouterr().out
    for _ in range(4):
        assert adbc.value_and_grad(_shown)(0.5) == (1.25, 5.0)
        assert adbc.jvp(_shown, (0.5,), (1.0,)) == (1.25, 5.0)
        assert capsys.readouterr().out == 2 * text
