"""Loops over dicts and their views: what is in them changes while they are walked through."""

import collections
import math

from tests.programs.language.cases import Cases

case = Cases()


class Place:
    """A key that is an object with a number of its own."""

    def __init__(self, at):
        self.at = at


class Counted:
    """A key that says when it is hashed."""

    def __init__(self, name):
        self.name = name

    def __hash__(self):
        return hash(self.name)

    def __eq__(self, other):
        return self.name == other.name


RATES = {"a": 0.5, "b": 1.5, "c": 2.5}


@case({"a": 1.5, "b": 2.0, "c": -0.5})
def items(d):
    total = 0.0
    for key, value in d.items():
        total += value * value * len(key)
    return total


@case({"a": 1.5, "b": 2.0, "c": -0.5})
def values(d):
    total = 0.0
    for value in d.values():
        total += value * math.sin(value)
    return total


@case({"a": 1.5, "b": 2.0, "c": -0.5})
def keys(d):
    total = 0.0
    for key in d:
        total += d[key] * d[key]
    for key in d.keys():  # noqa: SIM118
        total += 3.0 * d[key]
    return total


@case({"a": 1.5, "b": 2.0, "c": -0.5})
def overwritten(d):
    for key, value in d.items():
        d[key] = 0.5 * value
        d["c"] += value * value
    total = 0.0
    for value in d.values():
        d["a"] = value * total
        total += value
    return total * d["a"]


@case({"a": 1.5, "b": 2.0, "c": -0.5}, 0.7)
def written_before_it_is_reached(d, x):
    total = 0.0
    for key, value in d.items():
        if key == "a":
            d["b"] = x * value
        total = total * x + value
    for value in d.values():
        d["c"] = x * x * value
        total += value
    return total


@case({"a": 1.5, "b": 2.0, "c": -0.5}, 0.7)
def grows(d, x):
    total = 0.0
    try:
        for key, value in d.items():
            total += value * x
            d[key + "!"] = total * x
    except RuntimeError:
        total *= 2.0
    for value in d.values():
        total += value
    return total


@case({"a": 1.5, "b": 2.0, "c": -0.5}, 0.7)
def left_behind(d, x):
    for key, value in d.items():
        if value > 1.8:
            d["new"] = value * x
            break
    else:
        return x
    for key in d:
        if d[key] < 0.0:
            d[key] = x
            del d["a"]
            break
    return sum(d.values()) * x


@case({"a": 1.5, "b": [2.0, 3.0], "c": -0.5, "d": [0.5]})
def values_of_several_types(d):
    total = 0.0
    for key, value in d.items():
        if isinstance(value, list):
            for i in range(len(value)):
                value[i] *= total
                total += value[i]
        else:
            total += value * value
    for value in d.values():
        total += value[0] if type(value) is list else value
    return total


@case({"a": {"x": 1.5, "y": 0.5}, "b": {"x": -0.5}})
def dicts_in_dicts(d):
    total = 0.0
    for outer in d.values():
        for key, value in outer.items():
            total += value * total + value * len(key)
            outer[key] = total
    return total + d["a"]["y"]


@case({"a": [1.5, 2.0], "b": [0.5, 3.0]}, 0.7)
def lists_in_place(d, x):
    for row in d.values():
        row[0] *= x
        row.append(row[0] * row[1])
    return sum(row[-1] * row[0] for row in d.values())


@case({0: 1.5, 1: 2.0, (2, 3): 0.5, 2.5: 0.3, None: 1.1}, 0.7)
def keys_of_several_types(d, x):
    total = 0.0
    for key, value in d.items():
        total += value * (key if isinstance(key, int | float) else 0.25) * x
    for key in d:
        if isinstance(key, float):
            total += key * x
    return total


@case(1.5, 0.7)
def keys_that_are_objects(x, y):
    d = {Place(x): y, Place(x * y): x}
    total = 0.0
    for place, value in d.items():
        total += place.at * value
        place.at *= 2.0
    for place in d:
        total += place.at * x
    for value in d.values():
        total *= value
    return total


@case(1.5, 0.7)
def keys_that_are_hashed_in_python(x, y):
    d = {Counted("a"): x, Counted("b"): y, Counted("a"): x * y}
    return sum(v * len(k.name) for k, v in d.items()) * len(d)


@case({"a": 1.5, "b": 2.0, "c": -0.5})
def pairs_as_they_are(d):
    found = []
    for item in d.items():
        found.append(item)
    total = 0.0
    for item in d.items():
        key, value = item
        total += value * len(key)
    (first, x), *_ = d.items()
    return total + found[1][1] * x


@case({("a", "b"): 1.5, ("c", "d"): 2.0})
def keys_that_are_unpacked(d):
    total = 0.0
    for (left, right), value in d.items():
        total += value * value * (ord(left) - ord(right))
    return total


@case({"a": 1.5, "b": 2.0, "c": -0.5}, [0.5, 0.25, 2.0])
def beside_a_list(d, u):
    total = 0.0
    for (key, value), w in zip(d.items(), u, strict=True):
        total += value * w * len(key)
    for w, value in zip(u, d.values(), strict=False):
        total -= w * w * value
    for i, (key, value) in enumerate(d.items()):
        u[i] *= value
    for i, value in enumerate(d.values()):
        total += u[i] * value
    return total


@case({"a": 1.5, "b": 2.0, "c": -0.5}, {"a": 0.5, "b": 3.0, "c": 0.1})
def beside_another(d, e):
    total = 0.0
    for (k, v), w in zip(d.items(), e.values(), strict=True):
        total += v * w + e[k]
    for a, b in zip(d.values(), e.values(), strict=True):
        total += a * b * b
    return total


@case(0.7)
def constants(x):
    total = x
    for key, rate in RATES.items():
        total += rate * x * len(key)
    for rate in RATES.values():
        total *= rate * x
    for key in RATES:
        total += RATES[key] * x
    return total


@case(0.7, 1.3)
def made_here(x, y):
    d = {"x": x, "y": y, "n": 2}
    total = 0.0
    for _ in range(3):
        for key, value in d.items():
            total += value * x
            if key != "n":
                d[key] = value * 0.5
    return total


@case({"a": 1.5, "b": 2.0})
def comprehensions(d):
    e = {k: v * v for k, v in d.items()}
    f = {v: k for k, v in zip(d, "xy", strict=True)}
    u = [v * d[k] for k, v in e.items()]
    return sum(u) + sum(v for v in e.values()) + max(d.values()) + d[f["x"]]


@case([1.5, 2.0, -0.5, 0.25])
def other_classes(u):
    d = collections.defaultdict(float)
    o = collections.OrderedDict()
    for i, x in enumerate(u):
        d[i % 2] += x * x
        o[i] = x
    o.move_to_end(0)
    total = 0.0
    for key, value in d.items():
        total += value * (key + 1.0)
    for key, value in o.items():
        total = total * 0.5 + value
    for value in o.values():
        total = total * value + 1.0
    return total


@case({"a": 1.5, "b": 2.0, "c": -0.5})
def iterators_that_go_on(d):
    rest = iter(d.items())
    total = 0.0
    for _, value in rest:
        total += value
        break
    for _, value in rest:
        total = total * value
    left = iter(d.values())
    for value in left:
        total += value * value
        if value > 1.8:
            break
    return total * next(left)


@case({"a": 1.5, "b": 2.0, "c": -0.5})
def inside_of_try(d):
    total = 0.0
    try:
        for key, value in d.items():
            total += math.sqrt(value)
            d[key] = total
    except ValueError:
        d["b"] *= 2.0
    finally:
        for value in d.values():
            total += value
    return total


@case({"b": 2.0, "a": 1.5, "c": -0.5})
def backwards(d):
    total = 0.0
    for key in sorted(d):
        total = total * 0.5 + d[key]
    for key, value in reversed(d.items()):
        total = total * 0.5 + value * len(key)
    for value in reversed(d.values()):
        total = total * 0.5 + value
    return total
