"""Derivatives leave no garbage in cycles: the collector would take longer than they do.

An exception holds the frames that it came through, and these hold all that was computed.
"""

import gc
import itertools
from collections import ChainMap

import pytest

import adbc


def looked_up(x):
    settings = ChainMap({}, {"a": x}, {"b": 2.0})
    return sum(settings["a"] * settings["b"] * k for k in range(5))


class Lots:
    def __init__(self, x):
        self.bids = [x, 2.0 * x]

    def take(self):
        if not self.bids:
            raise StopIteration
        return self.bids.pop()


def taken(x):
    lots, total = Lots(x), 0.0
    while True:
        try:
            total += lots.take() ** 2
        except StopIteration:
            return total


def in_pieces(x):
    first, second = itertools.tee(x * k for k in range(6))
    return sum(a * b for a, b in zip(itertools.islice(first, 4), second, strict=False))


class Refused(ValueError):
    def __init__(self, value):
        super().__init__("too large")
        self.value = value


def carried(x):
    def checked(y):
        if y > 2.0:
            raise Refused(y - 2.0)
        return y

    total = 0.0
    for k in range(6):
        try:
            total += checked(k * x)
        except Refused as refused:
            total += 0.5 * refused.value
    return total


def through_generators(x):
    def steps():
        try:
            yield x
            yield x * x
        except KeyError as e:
            yield e.args[0]

    made = steps()
    return next(made) + made.throw(KeyError(3.0 * x)) + sum(made)


def left_in_order(x):
    def deep(n, y):
        if n == 0:
            raise ValueError(y)
        try:
            return deep(n - 1, y * 1.1)
        finally:
            seen.append(y)

    seen = []
    try:
        deep(8, x)
    except ValueError as e:
        return e.args[0] + sum(seen)


@pytest.mark.parametrize("f", [looked_up, taken, in_pieces, carried, through_generators, left_in_order])
@pytest.mark.parametrize("mode", ["reverse", "forward"])
def test_no_garbage(f, mode):
    def derivative():
        if mode == "reverse":
            return adbc.value_and_grad(f)(1.5)
        return adbc.jvp(f, (1.5,), (1.0,))

    for _ in range(4):
        expected = derivative()
    f(1.5)
    gc.collect()
    gc.disable()
    try:
        f(1.5)
        plain = gc.collect()
        assert derivative() == expected
        assert gc.collect() <= 3 * plain  # the tangent of what is in a cycle is in one
    finally:
        gc.enable()


def test_exceptions_that_are_kept():
    """What was caught is whole afterwards, and says where it came from."""
    kept = []

    def f(x):
        try:
            raise Refused(x)
        except Refused as refused:
            kept.append(refused)
            return refused.value * x

    assert adbc.jvp(f, (3.0,), (1.0,)) == (9.0, 6.0)
    assert kept[0].value == 3.0
    assert kept[0].__traceback__.tb_frame.f_code.co_name == "f"
