"""Calls with the elements of lists, arrays, iterators and mappings: as many as are taken, or others."""

import collections
import math
import types

import numpy as np

from tests.programs.language.cases import Cases

case = Cases()


def weighed(a, b, c):
    return a + 2.0 * b * c


def defaulted(a, b=0.5, *, c=2.0):
    return a * b + c * a


def only(a, b, /, c):
    return a * b - c


def gathering(a, *rest, **named):
    return a + sum(rest) + sum(named.values())


class Line:
    def __init__(self, slope, offset):
        self.slope, self.offset = slope, offset

    def at(self, t, scale, *, shift):
        return self.slope * t * scale + shift

    @staticmethod
    def plain(t, scale):
        return t * scale

    @classmethod
    def made(cls, slope, offset):
        return cls(slope, offset)

    def __call__(self, t, scale):
        return self.slope * t + self.offset * scale


@case(1.3, [1.0, 2.0, 0.5])
def lists_and_iterators(x, u):
    total = weighed(*u) + weighed(x, *u[1:]) + weighed(*u[:2], x) + weighed(*(v * x for v in u))
    total += weighed(*iter(u)) + weighed(*map(abs, u)) + weighed(*reversed(u)) + weighed(*u[:1], *u[1:])
    total += only(*u) * only(x, *u[:2]) + gathering(*u) + gathering(x, *u, x)
    total += weighed(*{"a": 1, "b": 2, "c": 3}.values()) * x
    for v in u:
        total += weighed(v, *[x, u[0]])
        u[0] += v * x
    return total


@case(1.3, [1.0, 2.0, 0.5])
def changed_by_later_arguments(x, u):
    def grown(values):
        values[0] *= x
        return values[0]

    total = 0.0
    for _ in range(3):
        total += weighed(*u[:2], grown(u))
        pair = [u[1], u[2]]
        total += weighed(*pair, grown(pair))
    return total * u[0]


@case(1.3, [1.0, 2.0, 0.5])
def arrays(x, u):
    row = np.array(u) * x
    table = np.outer(row, row)
    total = weighed(*row) + float(weighed(*table).sum()) + weighed(x, *row[1:])
    for a, b in zip(row, table):
        total += weighed(a, *b[:2])
    return total


@case(1.3, {"a": 1.0, "b": 2.0})
def dicts(x, d):
    total = 0.0
    for k in range(3):
        total += weighed(c=x, **d) + weighed(x, b=d["a"], **{"c": x}) + defaulted(**d)
        total += defaulted(x, c=d["b"], **{}) + gathering(**d) + gathering(x, x, e=x, **{"f": d["b"]})
        d["a"] += x * k
        total += weighed(c=x, **collections.OrderedDict(d)) + weighed(
            c=x, **types.MappingProxyType({"a": x, "b": 2.0})
        )
    return total * d["b"]


@case(1.3, {"scale": 1.5, "shift": 2.0})
def methods(x, d):
    line = Line(*[x, d["scale"]])
    other = Line(**{"slope": x, "offset": d["shift"]})
    total = 0.0
    for t in (0.5, 1.0, 2.0):
        total += line.at(t, **d) + other.at(t, d["scale"], shift=x) + line(t, *[x])
        total += Line.plain(t, *[d["shift"]]) + Line.made(*[x, t]).slope + line(*(t, x))
        d["scale"] += total * 0.1
        line.slope *= x
    return total


def tried(f, *args, **kwargs):
    try:
        f(*args, **kwargs)
    except TypeError as error:
        return len(str(error))
    return -1


@case(1.3, [1.0, 2.0, 0.5, 3.0])
def wrong_numbers(x, u):
    def called(k):
        return weighed(*u[:k])

    def called_behind(k):
        return weighed(x, *u[:k], x)

    def by_name(d):
        return weighed(x, **d)

    def by_name_too(d):
        return defaulted(b=x, **d)

    def method(d):
        return Line(x, x).at(*u[:1], **d)

    def made(k):
        return Line(*u[:k])

    total = x
    for _ in range(2):
        for k in range(4):
            total += x * tried(called, k) + x * tried(called_behind, k) * u[k] + tried(made, k)
        for d in ({}, {"b": x}, {"b": x, "c": x}, {"b": x, "d": x, "c": 1.0}, {"a": x, "b": x, "c": x}):
            total += x * tried(by_name, d) * u[1] + tried(by_name_too, d)
        for d in ({"a": x}, {"a": x, "c": x}, {"a": x, "b": 1.0}, {1: x}, {"scale": x, "shift": x}):
            total += x * tried(by_name_too, d) + tried(method, d)
    return total


@case(1.3, [1.0, 2.0])
def stars_of_what_is_no_sequence(x, u):
    def called(values):
        return weighed(x, *values)

    def named(values):
        return weighed(x, **values)

    total = 0.0
    for values in (u, tuple(u), x, 3, None, "ab", iter(u), {"b": 1.0, "c": 2.0}):
        total += x * (tried(called, values) > 0) + x * (tried(named, values) > 0) * u[0]
    return total


@case(1.3, [1.0, 2.0, 0.5])
def effects_of_iterators(x, u):
    seen = []

    def giving():
        for v in u:
            seen.append(v)
            yield v * x

    total = weighed(*giving())
    try:
        weighed(x, *giving())
    except TypeError:
        total += len(seen) * x
    return total * len(seen)


@case(1.3, {"b": 1.0, "c": 2.0})
def dicts_beside_names(x, d):
    total = 0.0
    for k in range(3):
        total += weighed(a=x, **{name: v * x for name, v in d.items()}) + weighed(a=d["b"], **dict(d))
        total += defaulted(a=x, **{name: v for name, v in d.items() if k or name == "c"})
        d["c"] += x
    return total


class Doubling(dict):
    """Its methods are passed over where it is spread, for C code goes through it itself."""

    def __getitem__(self, key):
        return dict.__getitem__(self, key) * 2.0

    def keys(self):
        return ["a"]


class Iterating(Doubling):
    def __iter__(self):
        return iter(["a"])


@case(1.3, [0.5, 2.0])
def mappings_with_methods_of_their_own(x, u):
    total = 0.0
    for kind in (Doubling, Iterating, collections.UserDict, collections.OrderedDict):
        d = kind(a=x, b=u[0])
        total += defaulted(**d) * u[1] + gathering(x, **{k: v for k, v in d.items() if k == "b"})
        total += defaulted(c=x, **d)
        u[0] += x
        try:
            total += weighed(x, **d)
        except TypeError as error:
            total += x * len(str(error))
    return total * u[0]


@case(1.3, {"b": 1.0, "c": 2.0})
def errors_that_are_handled_where_they_are_raised(x, d):
    line, total = Line(x, d["b"]), 0.0
    for names in ({}, d, {"b": x}, {**d, "e": x}, {"scale": x, "shift": d["c"]}):
        values = dict(names)
        try:
            total += weighed(x, **values)
        except TypeError as error:
            total += x * len(str(error))
        try:
            total += line.at(x, **values)
        except TypeError as error:
            total += d["b"] * len(str(error))
        try:
            total += weighed(*values.values())
        except TypeError as error:
            total += d["c"] * len(str(error))
        finally:
            total *= 1.5
        d["b"] = d["b"] * x
    return total


@case(1.3, 0.7)
def what_a_call_without_arguments_gives_is_called(x, y):
    stack = [weighed, [y, 2.0, x], math.hypot, (x, y)]
    values, function = stack.pop(), stack.pop()
    total = function(*values)
    values, function = stack.pop(), stack.pop()
    return total + function(*values) * values[0]
