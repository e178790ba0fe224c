"""Classes derived from `collections.deque`: how they are made, what they inherit, and that all is undone."""

from __future__ import annotations

import copy
from collections import deque
from typing import Any

import pytest

import adbc


class Plain(deque):
    """Has an attribute or none, and the methods of deques."""


class Own(deque):
    """Has methods in Python, which the C code of deques does not call."""

    def __init__(self, values, scale, room=None):
        super().__init__(values, room)
        self.scale = scale

    def append(self, y):
        self.scale = self.scale * 1.5
        super().append(y * 2.0)

    def __iter__(self):
        self.scale = self.scale + 1.0
        return super().__iter__()

    def __len__(self):
        self.scale = self.scale + 10.0
        return super().__len__()

    def __getitem__(self, place):
        return super().__getitem__(place) * 3.0


class Made(deque):
    def __new__(cls, *given):
        made = super().__new__(cls, *given)
        made.first = given[0][0]
        return made


def right(f: Any, x: float = 1.3) -> None:
    """Both modes give the value of `f`, and the derivative that differences give."""
    value, step = f(x), 1e-6
    slope = (f(x + step) - f(x - step)) / (2.0 * step)
    assert adbc.jvp(f, (x,), (1.0,)) == pytest.approx((value, slope), rel=1e-6)
    for _ in range(2):
        assert adbc.value_and_grad(f)(x) == pytest.approx((value, slope), rel=1e-6)


def ends(p: Any, x: Any) -> Any:
    p.append(x * x)
    p.appendleft(3.0 * x)
    p.rotate(1)
    t = p.pop() * p.popleft()
    p.extend([x, x * x])
    p.extendleft((2.0 * x, x))
    p.reverse()
    return t + p[0] * p[1]


def places(p: Any, x: Any) -> Any:
    p[0] = p[1] * x
    p.insert(1, x)
    p.insert(-1, 2.0 * x)
    p.insert(99, 4.0 * x)
    del p[0]
    p.remove(x)
    return p[0] + x * p[-1] + p.count(x)


def joined(p: Any, x: Any) -> Any:
    p += [x]
    q = p + deque([x * x])
    p *= 2
    r = 2 * p
    s = p * 2
    return sum(q) * r[1] + s[0] + (type(q) is type(p)) + (type(r) is type(s) is type(p))


def copies(p: Any, x: Any) -> Any:
    p.note = x
    q, r, s = p.copy(), copy.copy(p), copy.deepcopy(p)
    p[0] = 0.0
    q.append(x)
    s.note = s.note * 2.0
    return q[0] * r[1] + s[0] * s.note + p.note + (p.maxlen == r.maxlen == s.maxlen)


def asked(p: Any, x: Any) -> Any:
    q = Plain(p)
    found = [p == q, p != q, p < q, p >= q, p == 3, bool(p), x in p, p.index(p[1]), len(p)]
    return x * sum(map(int, found)) + sum(p) + sum(reversed(p)) + sum([*p]) + repr(p).count("P")


def made_again(p: Any, x: Any) -> Any:
    t = p[0]
    p.__init__([x, 2.0 * x, 3.0 * x], 2)
    return t + p[0] * x + (p.maxlen == 2)


USES = [ends, places, joined, copies, asked, made_again]
CASES = [(use, room) for use in USES for room in (None, 9, 3) if use is not places or room != 3]


@pytest.mark.parametrize(("use", "room"), CASES)
def test_what_a_derived_class_inherits(use, room):
    right(lambda x: use(Plain([x, 2.0 * x, 0.5], room), x))


@pytest.mark.parametrize(("use", "room"), CASES)
def test_an_argument_is_as_before(use, room):

    def f(p, x):
        return use(p, x)

    p, held = Plain([1.3, 2.0, 0.5], room), [1.5]
    p.kept = held
    wanted = use(copy.deepcopy(p), 0.7)
    value, (of_p, _) = adbc.value_and_grad(f, (0, 1))(p, 0.7)
    assert value == pytest.approx(wanted)
    assert len(of_p) == 3
    assert (list(p), p.maxlen, vars(p)) == ([1.3, 2.0, 0.5], room, {"kept": held})
    for i in range(3):
        up, down = copy.deepcopy(p), copy.deepcopy(p)
        up[i] += 1e-6
        down[i] -= 1e-6
        slope = (use(up, 0.7) - use(down, 0.7)) / 2e-6
        assert of_p[i] == pytest.approx(slope, abs=1e-6), i
    tangent = adbc.zero_tangent(p)
    tangent[0] = 1.0
    assert adbc.jvp(f, (p, 0.7), (tangent, 0.0)) == pytest.approx((wanted, of_p[0]))


def test_methods_in_python_are_called_where_the_interpreter_calls_them():
    def f(x):
        p = Own([x, 2.0 * x], x, 3)
        p.append(x * x)
        p.append(x)
        p.appendleft(3.0 * x)
        p.extend([x, x * x])
        p.insert(1, x) if len(p) < 3 else p.rotate(2)
        t = p[1] + sum(p) + p.scale
        p.clear()
        p.extend(y for y in (x, x))
        return t + p[0] * p.scale + p.pop()

    right(f)


def test_what_new_gives_has_attributes():
    def f(x):
        p = Made([x, x * x])
        p.first = p.first * p[1]
        return p.first + len(p)

    right(f)


def test_a_deque_of_a_derived_class_given_another_name():
    def f(x):
        p = Plain([x, x])
        q = p
        held = {"it": [q]}
        p[0] = x * x
        held["it"][0].append(q[0] * x)
        return p.pop() + q[0]

    right(f)


def test_effects_are_undone_where_an_error_ends_the_call():
    def f(p, x):
        p.append(x)
        p.rotate(1)
        try:
            p.remove(99.0)
        except ValueError:
            p.append(x * p[0])
        return p[-1] * p[-2]

    p = Plain([2.0, 3.0])
    value, (of_p, of_x) = adbc.value_and_grad(f, (0, 1))(p, 0.5)
    assert (value, list(of_p), of_x) == (f(Plain([2.0, 3.0]), 0.5), [0.0, 0.25], 3.0)
    assert list(p) == [2.0, 3.0]
