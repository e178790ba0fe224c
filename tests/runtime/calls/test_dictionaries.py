"""The dictionary of an instance of a container's subclass: its attributes by another name."""

from __future__ import annotations

import functools
from collections import OrderedDict, deque
from typing import Any

import pytest

import adbc


class Listed(list):
    @functools.cached_property
    def doubled(self):
        return self.v * 2.0


class Keyed(dict):
    pass


class Queued(deque):
    pass


class Ordered(OrderedDict):
    pass


class Itself(dict):
    def __init__(self, **items):
        super().__init__(**items)
        self.__dict__ = self


class Slotted(list):
    __slots__ = ("__dict__", "place")


CLASSES = [Listed, Keyed, Queued, Ordered]


def both(f: Any, x: float) -> tuple[float, float]:
    """Value and derivative, which are the same in both modes."""
    forward = adbc.jvp(f, (x,), (1.0,))
    for _ in range(2):
        assert adbc.value_and_grad(f)(x) == pytest.approx(forward)
    return forward


@pytest.mark.parametrize("cls", CLASSES)
def test_attributes_are_written_and_read_by_way_of_the_dictionary(cls):
    def f(x):
        o = cls()
        o.v = x
        own = vars(o)
        own["w"] = 3.0 * x
        o.own = own
        return o.v * o.w + o.own["v"] + o.__dict__["w"]

    assert both(f, 2.0) == pytest.approx((20.0, 16.0))


@pytest.mark.parametrize("cls", CLASSES)
def test_an_argument_is_changed_by_way_of_its_dictionary_and_restored(cls):
    def f(o, x):
        own = vars(o)
        own["w"] = own["v"] * x
        del own["unused"]
        return o.w * 2.0 + o.v

    o = cls()
    o.v, o.unused = 1.5, 1.0
    value, (of_o, of_x) = adbc.value_and_grad(f, (0, 1))(o, 2.0)
    assert value == f(o, 2.0) == 7.5
    assert (of_o.v, of_o.unused, of_x) == (5.0, 0.0, 3.0)
    o = cls()
    o.v, o.unused = 1.5, 1.0
    adbc.value_and_grad(f, (0, 1))(o, 2.0)
    assert list(vars(o).items()) == [("v", 1.5), ("unused", 1.0)]
    tangent = adbc.zero_tangent(o)
    tangent.v = 1.0
    assert adbc.jvp(f, (o, 2.0), (tangent, 0.0)) == (7.5, 5.0)
    assert vars(o) == {"v": 1.5, "w": 3.0}
    assert vars(tangent) == {"v": 1.0, "w": 2.0}


@pytest.mark.parametrize("cls", CLASSES)
@pytest.mark.parametrize("first", ["the container", "the dictionary"])
def test_a_container_and_its_dictionary_are_two_arguments(cls, first):
    def f(o, own, x):
        own["v"] = own["v"] * x
        return o.v * o.v

    def turned(own, o, x):
        return f(o, own, x)

    o = cls()
    o.v = 1.5
    args, g = ((o, vars(o), 2.0), f) if first == "the container" else ((vars(o), o, 2.0), turned)
    value, gradients = adbc.value_and_grad(g, (0, 1, 2))(*args)
    of_o, of_own = gradients[:2] if first == "the container" else gradients[1::-1]
    assert (value, of_o.v, of_own["v"], gradients[2]) == (9.0, 12.0, 12.0, 9.0)
    assert vars(of_o) is of_own
    assert vars(o) == {"v": 1.5}
    adbc.testing.test_tangent([*args])


def test_values_that_are_kept_by_a_property_are_computed_once():
    def f(x):
        o = Listed([x])
        o.v = x * x
        first = o.doubled
        o.v = 0.0
        return first * o.doubled + o[0]

    assert both(f, 1.5) == pytest.approx((4.0 * 1.5**4 + 1.5, 16.0 * 1.5**3 + 1.0))


def test_a_dict_that_is_its_own_dictionary_is_read_by_either_name():
    def f(o, x):
        return o.__dict__["v"] * x + o["v"]

    value, (of_o, of_x) = adbc.value_and_grad(f, (0, 1))(Itself(v=3.0), 2.0)
    assert (value, dict(of_o), of_x) == (9.0, {"v": 3.0}, 3.0)


def test_with_slots_beside_it_the_dictionary_is_refused():
    def f(x):
        o = Slotted()
        o.place = x
        vars(o)["v"] = x
        return o.v * o.place

    for take in (lambda: adbc.grad(f)(2.0), lambda: adbc.jvp(f, (2.0,), (1.0,))):
        with pytest.raises(adbc.errors.UnsupportedError, match="__slots__ beside it"):
            take()


def test_what_has_no_dictionary_raises_as_it_does_plainly():
    class Bare(list):
        __slots__ = ("place",)

    def f(x):
        o = Bare([x])
        o.place = x
        try:
            vars(o)["v"] = x
        except TypeError as error:
            return x * len(str(error)) * o.place
        return x

    assert both(f, 2.0) == pytest.approx((f(2.0), f(2.0)))
