"""Objects of classes that are made in C, which only the garbage collector looks into: constants that are
handed to the library they belong to, and memory that is reached through them."""

from __future__ import annotations

import gc
import operator
from typing import Any

import numpy as np
import pytest

import adbc
from adbc.errors import AdbcError, MissingRuleError, UnsupportedError
from adbc.runtime.calls import plain

spatial = pytest.importorskip("scipy.spatial")

POINTS = np.array([[0.0, 0.0], [1.0, 0.5], [2.0, 2.0]])
TREE = spatial.KDTree(POINTS)
"""A class in Python that derives from one in C, which holds the points."""
LABELS = np.array(["a", "b", None], dtype=object)
KEPT: dict[str, Any] = {}


@pytest.fixture(autouse=True)
def _unknown_library(monkeypatch: pytest.MonkeyPatch) -> Any:
    """SciPy as one of the packages of which nothing is said."""
    monkeypatch.setattr(plain, "_HARMLESS", plain._HARMLESS - {"scipy"})
    before = POINTS.copy()
    yield
    POINTS[...] = before


def nearest(x):
    distance, _ = TREE.query([0.25, 0.0])
    return x * x * distance


def in_a_container(x):
    tools = {"tree": TREE, "labels": LABELS}
    return x**3 * tools["tree"].query([1.0, 1.0])[0] * len(tools["labels"])


def made_inside(x):
    tree = spatial.KDTree([[0.0, 0.0], [3.0, 4.0]])
    return np.exp(x) * tree.query([3.0, 3.0])[0]


class Holder:
    def __init__(self, tree: Any) -> None:
        self.tree = tree

    def value(self, x):
        return x * self.tree.query([0.0, 0.75])[0]


def in_an_object(x):
    return Holder(TREE).value(x * x)


MODES = [{}, {"speculation": "interpret"}, {"speculation": "never"}, {"warm_after": 0}]


@pytest.mark.parametrize("f", [nearest, in_a_container, made_inside, in_an_object])
@pytest.mark.parametrize("options", MODES, ids=str)
def test_constants_in_c(f: Any, options: dict[str, Any]) -> None:
    step = 1e-6
    expected = (f(0.8 + step) - f(0.8 - step)) / (2 * step)
    with adbc.use(adbc.Config(**options)):
        for _ in range(2):
            assert adbc.grad(f)(0.8) == pytest.approx(expected, rel=1e-8)
            assert adbc.jvp(f, (0.8,), (1.0,))[1] == pytest.approx(expected, rel=1e-8)


def written_behind(x):
    POINTS[0, 0] = x
    return TREE.query([0.25, 0.0])[0]


def written_behind_in_c(x):
    POINTS[1, 0] = x
    return spatial.cKDTree.query(TREE, [1.0, 0.0])[0]


@pytest.mark.parametrize("f", [written_behind, written_behind_in_c])
@pytest.mark.parametrize("options", MODES, ids=str)
def test_memory_behind_an_object_in_c(f: Any, options: dict[str, Any]) -> None:
    """The array that the tree holds has a derivative now: no shadow of the tree tells of that."""
    held = [y for y in gc.get_referents(TREE) if isinstance(y, np.ndarray)]
    assert any(np.shares_memory(y, POINTS) for y in held)
    with adbc.use(adbc.Config(**options)):
        with pytest.raises(MissingRuleError):
            adbc.grad(f)(0.1)
        POINTS[...] = TREE.data.copy()
        with pytest.raises(MissingRuleError):
            adbc.jvp(f, (0.1,), (1.0,))


def test_what_tells_all() -> None:
    assert plain._tells_all(spatial.KDTree)
    assert plain.has_fields_in_c(spatial.KDTree)
    assert not plain.has_fields_in_c(dict)
    assert not plain.has_fields_in_c(Holder)
    assert not plain._tells_all(type(iter([])))
    assert not plain._tells_all(type(x for x in ()))
    assert not plain._tells_all(type(memoryview(b"")))


# -- arrays of objects ---------------------------------------------------------------------------------


def test_arrays_of_constants() -> None:
    """An array of texts is handed to C code without a rule; one with an active number in it is not."""
    find = operator.methodcaller("dumps")

    def texts(x):
        return x * min(len(KEPT["find"](KEPT["texts"])), 2)

    def numbers(x):
        KEPT["texts"][0] = x
        return len(KEPT["find"](KEPT["texts"]))

    KEPT.update(find=find, texts=np.array(["A", "B"], dtype=object))
    assert adbc.grad(texts)(1.5) == 2.0
    assert adbc.jvp(texts, (1.5,), (1.0,))[1] == 2.0
    with pytest.raises(AdbcError):
        adbc.grad(numbers)(1.5)
    with pytest.raises(AdbcError):
        adbc.jvp(numbers, (1.5,), (1.0,))


# -- pandas ---------------------------------------------------------------------------------


@pytest.fixture
def frames() -> Any:
    """A frame of constants, and one that shows the memory of an array."""
    pd = pytest.importorskip("pandas")
    memory = np.array([[1.0, 2.0], [3.0, 4.0]])
    constant = pd.DataFrame({"load": [1.0, 2.0, 4.0], "city": ["a", "b", "a"]})
    return pd, constant, memory, pd.DataFrame(memory, columns=["x", "y"], copy=False)


def test_frames(frames: Any) -> None:
    pd, constant, memory, shown = frames

    def selected(x):
        chosen = constant[constant["city"] == "a"]
        grouped = constant.groupby("city")["load"].sum()
        return x * chosen["load"].iloc[1] + x * x * grouped["b"] + np.sum(x * constant["load"].to_numpy())

    def made(x):
        frame = constant.copy()
        frame["double"] = frame["load"] * 2
        del frame["city"]
        return x * frame["double"].sum()

    for f in (selected, made):
        expected = (f(1.5 + 1e-6) - f(1.5 - 1e-6)) / 2e-6
        assert adbc.grad(f)(1.5) == pytest.approx(expected, rel=1e-8)
        assert adbc.jvp(f, (1.5,), (1.0,))[1] == pytest.approx(expected, rel=1e-8)

    def written(x):
        memory[0, 1] = x
        return float(shown["y"].sum())

    def changed(x):
        constant["new"] = 2.0
        return x * constant["new"].sum()

    def overwritten(x):
        constant.loc[0, "load"] = 7.0
        return x * constant["load"].sum()

    for refused, error in ((written, MissingRuleError), (changed, UnsupportedError)):
        with pytest.raises(error):
            adbc.grad(refused)(1.5)
    del constant["new"]
    assert adbc.grad(overwritten)(1.5) == 13.0
    assert constant["load"].tolist() == [1.0, 2.0, 4.0]
    for made_of in (lambda x: pd.Series([x, 2.0]).sum(), lambda x: pd.DataFrame({"a": [x]})["a"].sum()):
        with pytest.raises(MissingRuleError):
            adbc.grad(made_of)(1.5)


def test_rows_of_frames_are_constants() -> None:
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame({"load": [3.0, 4.0, 5.5], "key": [1.5, 2.5, 2.5], "city": ["a", "b", "a"]})

    def rows(x):
        total = 0.0
        for i, row in frame[["load", "key"]].iterrows():
            total += x * row["load"] * (i + 1.0)
        return total

    def by_place(x):
        total = 0.0
        for i in range(len(frame)):
            total += x * x * frame.iloc[i]["load"]
        return total

    def by_label(x):
        return x * frame.loc[1]["load"]

    def changed(x):
        frame.loc[0, "load"] = 7.0
        return x * frame["load"].sum()

    for f in (rows, by_place, by_label):
        expected = (f(1.5 + 1e-6) - f(1.5 - 1e-6)) / 2e-6
        assert adbc.grad(f)(1.5) == pytest.approx(expected, rel=1e-8)
        assert adbc.jvp(f, (1.5,), (1.0,))[1] == pytest.approx(expected, rel=1e-8)
    assert adbc.grad(changed)(1.5) == 16.5
    assert frame["load"].tolist() == [3.0, 4.0, 5.5]
