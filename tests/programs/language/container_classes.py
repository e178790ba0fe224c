"""Classes derived from dict, with methods in Python that go on to those of dict."""

from tests.programs.language.cases import Cases

case = Cases()


@case(1.5, [1.0, 2.0])
def items(x, u):
    class D(dict):
        def __setitem__(self, key, value):
            u[0] *= x
            super().__setitem__(key, value * x)

        def __getitem__(self, key):
            u[1] *= x
            return super().__getitem__(key) * 2.0

        def __delitem__(self, key):
            u[1] += x
            super().__delitem__(key)

        def __contains__(self, key):
            u[0] += x
            return super().__contains__(key)

    d = D(a=x)
    d["b"] = u[1]
    d["c"] = d["b"] * d["a"]
    d["b"] *= x
    del d["a"]
    y = d["b"] * (("a" in d) + 1) * len(d)
    d.update(a=x, e=u[0])
    d.setdefault("f", x)
    return y * d["c"] * d["e"] * d.pop("b") * d.get("f") * u[0] * u[1] * sum(d.values())


@case(1.5, [1.0, 2.0])
def missing_keys(x, u):
    class D(dict):
        def __missing__(self, key):
            u[0] *= x
            self[key] = x * u[1]
            return self[key]

        def __setitem__(self, key, value):
            super().__setitem__(key, value * x)

    class E(dict):
        def __missing__(self, key):
            return x * len(key)

    d, e = D(), E(a=x)
    try:
        d.pop("b")
    except KeyError:
        u[1] *= x
    return d["a"] * d["a"] * e["a"] * e["text"] * dict.__getitem__(e, "z") * u[0] * u[1] * len(e)


@case(1.5, [1.0, 2.0])
def other_ways_in(x, u):
    class D(dict):
        def __init__(self, *args, **named):
            u[0] *= x
            super().__init__(*args, **named)

        def keys(self):
            u[1] *= x
            return super().keys()

        def items(self):
            u[0] += x
            return super().items()

        def pop(self, key, *default):
            u[1] += x
            return super().pop(key, *default)

        def clear(self):
            u[0] += u[1]
            super().clear()

    d = D({"a": x}, b=u[0])
    total = x
    for key in d.keys():
        total *= d[key]
    for key, value in d.items():
        total += value
    total *= d.pop("a") + d.pop("z", x)
    d |= {"q": x}
    total *= d["q"]
    d.clear()
    return total * u[0] * u[1] * (len(d) + 1)


class Guarded(list):
    """Finds by name, and is iterated over by C code."""

    def __getitem__(self, name):
        return next(x for x in self if x[0] == name)[1]

    def append(self, value):
        raise TypeError("made once")


class Twice(dict):
    """Gives and keeps other values than those that are written."""

    def __getitem__(self, key):
        return super().__getitem__(key) * 2.0

    def __setitem__(self, key, value):
        super().__setitem__(key, value * 3.0)


KNOWN = Guarded([("a", 2.0), ("b", 3.0)])


@case(1.5, [1.0, 2.0])
def iterated_over_by_c_code(x, u):
    values = Twice(a=x, b=2.0)
    values["c"] = x * u[0]
    total = 0.0
    for number, (name, weight) in enumerate(KNOWN):
        total += weight * values[name] * (number + 1)
    for (_, weight), key in zip(reversed(KNOWN), values):
        u[1] *= values[key] * weight
    for key in reversed(values):
        total = total * values[key] + len(key)
    return total * u[1] * KNOWN["b"] * len(list(values)) * len(list(KNOWN)) * len(tuple(KNOWN))
