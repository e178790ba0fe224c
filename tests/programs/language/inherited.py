"""Classes derived from numbers and containers, whose methods go on to those of the base, which are C code."""

import collections

from tests.programs.language.cases import Cases

case = Cases()


@case(1.5)
def stack(x):
    class Stack(list):
        def append(self, value):
            super().append(value * 2.0)

        def pop(self, index=-1):
            return super().pop(index) * 3.0

        def __getitem__(self, index):
            return super().__getitem__(index) + 1.0

    stack = Stack([x])
    stack.append(x)
    stack.insert(0, x * x)
    return stack.pop() * stack[0] + sum(stack) * len(stack)


@case(1.5)
def changed_lists(x):
    class Noted(list):
        def extend(self, values):
            for value in values:
                self.append(value)

        def __setitem__(self, index, value):
            super().__setitem__(index, value)

        def __delitem__(self, index):
            super().__delitem__(index)

        def sort(self, **named):
            super().sort(**named)

    noted = Noted([x, 3.0, -x])
    noted.extend(v * x for v in (1.0, 2.0))
    noted += (x, 5.0)
    noted[0:1] = (v for v in (x * x, x))
    noted.sort(key=abs)
    noted.reverse()
    del noted[0]
    noted.remove(3.0)
    return sum(k * v for k, v in enumerate(noted))


@case(1.5)
def new_lists(x):
    class Row(list):
        def __iter__(self):
            return super().__iter__()

        def __reversed__(self):
            return super().__reversed__()

        def __mul__(self, times):
            return Row(super().__mul__(times))

        def __eq__(self, other):
            return super().__eq__(other)

        def __len__(self):
            return super().__len__()

        def copy(self):
            return Row(super().copy())

        __hash__ = None

    row = Row([x, 2.0]) * 2
    y = sum(k * v for k, v in enumerate(reversed(row)))
    return y * len(row.copy()) + (row == [x, 2.0, x, 2.0]) * x + sum(row + [x * x]) + row.count(2.0) * x


@case(1.5)
def mappings(x):
    class Doubled(dict):
        def __iter__(self):
            return iter(self.values())

        def copy(self):
            return Doubled(super().copy())

        def __eq__(self, other):
            return super().__eq__(other)

        def __reversed__(self):
            return super().__reversed__()

        __hash__ = None

    d = Doubled(a=x, b=x * x)
    y = sum(d) + d.copy()["b"] * (d == {"a": x, "b": x * x})
    return y + sum(k * d[key] for k, key in enumerate(reversed(d)))


@case(1.5)
def namespace(x):
    class Settings(dict):
        __getattr__ = dict.get
        __setattr__ = dict.__setitem__
        __delattr__ = dict.__delitem__

    settings = Settings(rate=x, steps=2)
    settings.scale = settings.rate * x
    settings.rate += 1.0
    del settings.steps
    return settings.scale * settings["rate"] * len(settings) * (settings.other is None)


@case(1.5)
def methods_by_another_name(x):
    class Times(float):
        __call__ = float.__mul__
        __matmul__ = float.__add__

    class Filled(list):
        __call__ = list.append

    filled = Filled([x])
    filled(Times(x)(3.0) * (Times(x) @ 2.0))
    return filled[0] * filled[1]


@case(1.5)
def numbers(x):
    class Length(float):
        def __add__(self, other):
            return Length(super().__add__(other))

        def __mul__(self, other):
            return float.__mul__(self, other) + 1.0

        def __neg__(self):
            return Length(super().__neg__() - 1.0)

        def __float__(self):
            return super().__float__() * 2.0

    class Count(int):
        def __mul__(self, other):
            return super().__mul__(other)

    length = Length(x) + 1.0
    return length * 2.0 + (-length) + float(length) + length**2 + Count(3) * x


@case(1.5)
def tuples(x):
    class Pair(tuple):
        def __getitem__(self, index):
            return super().__getitem__(index) * 2.0

        def __iter__(self):
            return (value + 1.0 for value in super().__iter__())

        def total(self):
            return sum(self)

    class Triple(Pair):
        def total(self):
            return super().total() * self[0]

    return Triple((x, 2.0, x * x)).total()


class Box(collections.namedtuple("Box", "a b")):
    def area(self):
        return self.a * self.b


class Crate(Box):
    def area(self):
        return super().area() * self.a

    @property
    def scaled(self):
        return super().area() + self.b


@case(1.5)
def records(x):
    crate = Crate(x, 2.0 * x)
    return crate.area() + crate.scaled
