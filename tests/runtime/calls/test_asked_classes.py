"""`isinstance` of objects whose class answers in Python which class they are of."""

from __future__ import annotations

import gc
import weakref
from typing import Any

import pytest

import adbc
from adbc.runtime.calls import asked_classes

_get, _set = object.__getattribute__, object.__setattr__


class Other:
    pass


class Says:
    def __init__(self, value):
        self.value = self.grown = value

    @property
    def __class__(self):
        _set(self, "grown", _get(self, "grown") * 3.0)
        return Says


class Asked:
    def __init__(self, value):
        self.value = self.grown = value

    def __getattribute__(self, name):
        if name == "__class__":
            _set(self, "grown", _get(self, "grown") * 3.0)
        return _get(self, name)


class Stands:
    """Says that it is another, and changes nothing."""

    def __init__(self, value):
        self.value = self.grown = value

    @property
    def __class__(self):
        return Other


KEPT: dict[type, Any] = {cls: cls(2.0) for cls in (Says, Asked, Stands)}


def of_an_argument(o: Any, x: Any) -> Any:
    total = 0.0
    for _ in range(4):
        if isinstance(o, Other):
            total = total + 100.0 * x
        if isinstance(o, (Other, float)):
            total = total + 10.0 * x
        total = total + o.grown * x
    return total


def of_elements(cls: Any, x: Any) -> Any:
    total = 0.0
    for o in [cls(x), cls(2.0 * x), Other()]:
        if type(o) is not Other:
            if isinstance(o, Other):
                total = total + 100.0 * x
            total = total + o.grown * x
    return total


def of_a_global(cls: Any, x: Any) -> Any:
    return x if isinstance(KEPT[cls], Other) else KEPT[cls].grown * x * x


CASES: list[Any] = [
    lambda cls, x: of_an_argument(cls(x * x), x), of_elements, of_a_global,
    lambda cls, x: of_an_argument(KEPT[cls], x),
]  # fmt: skip
SETTINGS = [(s, w) for s in ("learn", "always", "never", "dynamic") for w in (0, 40)]


@pytest.mark.parametrize(("speculation", "warm_after"), SETTINGS)
@pytest.mark.parametrize("case", range(len(CASES)))
@pytest.mark.parametrize("cls", [Says, Asked, Stands])
def test_what_the_class_does_is_followed_or_refused(cls, case, speculation, warm_after):
    def f(x):
        return CASES[case](cls, x)

    def plain(x):
        before = dict(vars(KEPT[cls]))
        value = f(x)
        vars(KEPT[cls]).update(before)
        return value

    value, slope = plain(1.5), (plain(1.5 + 1e-6) - plain(1.5 - 1e-6)) / 2e-6
    with adbc.use(adbc.Config(speculation=speculation, warm_after=warm_after)):
        for _ in range(3):
            for take in (lambda: adbc.value_and_grad(f)(1.5), lambda: adbc.jvp(f, (1.5,), (1.0,))):
                try:
                    assert take() == pytest.approx((value, slope), rel=1e-6)
                except adbc.errors.UnsupportedError as error:
                    assert "isinstance() asks" in str(error)
                    assert cls is not Stands
                    assert vars(KEPT[cls]) == {"value": 2.0, "grown": 2.0}
                vars(KEPT[cls]).update(value=2.0, grown=2.0)


def test_what_is_remembered_of_a_class_goes_with_it():
    def made():
        class Gone:
            pass

        assert asked_classes.is_instance(Gone(), Gone)
        assert not asked_classes.is_instance(Gone(), (Other, int))
        assert id(Gone) in asked_classes._SILENT
        return weakref.ref(Gone), id(Gone)

    reference, address = made()
    gc.collect()
    assert reference() is None
    assert address not in asked_classes._SILENT


def test_a_class_that_is_told_to_answer_later_is_asked():
    class Later:
        grown = 1.0

    def answers(self, name):
        if name == "__class__":
            Later.grown = Later.grown * 3.0
            _set(self, "asked", _get(self, "asked") + 1.0)
        return _get(self, name)

    o = Later()
    o.asked = 0.0
    assert not asked_classes.is_instance(o, Other)
    Later.__getattribute__ = answers
    with pytest.raises(adbc.errors.UnsupportedError, match="isinstance"):
        asked_classes.is_instance(o, Other)
    assert _get(o, "asked") == 0.0


class Node:
    parent: Any = None


class Table:
    """Asks by a name of its own for `isinstance`, as code does that wants to be quick."""

    def __init__(self):
        self.found = {}
        self.rows = [0.0] * 4

    def __setitem__(self, key, value, isinstance=isinstance):
        part = value
        if isinstance(key, int):
            self.rows[key] = value
        else:
            self.found[key] = [*self.found.get(key, ()), value]
            part = value[0] if isinstance(value, list) else value
        if isinstance(part, Node):
            part.parent = self


@pytest.mark.parametrize("warm_after", [0, 40])
def test_by_another_name(warm_after):
    def f(x):
        table = Table()
        for i in range(8):
            table["a"] = x * i
            table[i % 4] = x
            table["b"] = [Node()] if i % 2 else [x]
        return sum(table.rows) + table.found["a"][3]

    with adbc.use(adbc.Config(warm_after=warm_after)):
        for _ in range(5):
            assert adbc.grad(f)(1.5) == 7.0
            assert adbc.jvp(f, (1.5,), (1.0,)) == (10.5, 7.0)
