"""Special methods that change state and are asked by operators and builtin functions."""

import math
import operator

from tests.programs.language.cases import Cases

case = Cases()


class Declines:
    """Changes something, and then does not know the answer."""

    def __init__(self, u, x):
        self.u, self.x = u, x

    def __add__(self, other):
        self.u[0] *= self.x
        return NotImplemented

    def __radd__(self, other):
        self.u[1] *= self.x
        return NotImplemented

    def __iadd__(self, other):
        self.u[0] += self.x
        return NotImplemented

    def __lt__(self, other):
        self.u[0] *= self.x
        return NotImplemented

    def __gt__(self, other):
        self.u[1] *= self.x
        return NotImplemented

    def __eq__(self, other):
        self.u[1] *= self.x
        return NotImplemented


@case(1.5, [1.0, 2.0])
def nobody_knows(x, u):
    a, b, caught = Declines(u, x), Declines(u, x), 0
    for attempt in (
        lambda: a + b,
        lambda: a + 1,
        lambda: x + a,
        lambda: a < b,
        lambda: 1 < a,
    ):
        try:
            attempt()
        except TypeError:
            caught += 1
    try:
        a += b
    except TypeError:
        caught += 1
    return u[0] * u[1] * x * caught * ((a == b) + 1) * ((a != b) + 1) * ((1 == a) + 1) * ((a in [b]) + 1)


@case(1.5, [1.0, 2.0])
def numbers(x, u):
    class N:
        def __int__(self):
            u[0] *= x
            return 3

        def __complex__(self):
            u[1] *= x
            return 3j

        def __trunc__(self):
            u[0] += x
            return 3

        def __floor__(self):
            u[1] += x
            return 4

        def __ceil__(self):
            u[0] *= u[1]
            return 5

        def __round__(self, digits=None):
            u[1] *= u[0]
            return 6

        def __divmod__(self, other):
            u[0] *= x
            return 1, x

        def __rdivmod__(self, other):
            u[1] *= x
            return 2, x

        def __pow__(self, other, modulus=None):
            u[0] *= x
            return x

        def __rpow__(self, other, modulus=None):
            u[1] *= x
            return x

        def __bytes__(self):
            u[0] *= x
            return b"1"

        def __hash__(self):
            return 7

        def __dir__(self):
            u[1] *= x
            return ["b", "a"]

    n = N()
    total = int(n) + abs(complex(n)) + math.trunc(n) + math.floor(n) + math.ceil(n) + round(n) + round(n, 2)
    total *= divmod(n, 2)[1] * divmod(2, n)[1] * pow(n, 2, 3) * pow(2, n) * n**2
    return total * len(bytes(n)) * hash(n) * len(dir(n)) * u[0] * u[1]


class Place:
    """A whole number that changes something when it is asked."""

    def __init__(self, n, u, x):
        self.n, self.u, self.x = n, u, x

    def __index__(self):
        self.u[0] *= self.x
        return self.n


@case(1.5, [1.0, 2.0])
def places(x, u):
    one, two, v = Place(1, u, x), Place(2, u, x), [x, u[1], 3.0]
    y = v[one] * (1.0, x)[one]
    v[one] = x
    v.insert(one, u[1])
    y *= v.pop(two) * v[1]
    del v[one]
    for k in range(one, Place(4, u, x)):
        y *= k * v[0]
    text = "text"[one] + hex(two) + bin(one) + chr(Place(65, u, x))
    return y * operator.index(two) * len(text) * len(v) * range(5)[two] * u[0]


@case(1.5, [1.0, 2.0])
def checks(x, u):
    class Meta(type):
        def __instancecheck__(cls, other):
            u[0] *= x
            return other == 3

        def __subclasscheck__(cls, other):
            u[1] *= x
            return other is int

    class C(metaclass=Meta):
        pass

    total = isinstance(3, C) + isinstance(4, (str, C)) + issubclass(int, C) + isinstance(C(), C)
    match 3:
        case C():
            total += 1
    try:
        raise KeyError
    except (ValueError, KeyError):
        total += issubclass(str, (C, object))
    return total * u[0] * u[1] * x


@case(1.5, [1.0, 2.0])
def texts(x, u):
    class T:
        def __format__(self, spec):
            u[0] *= x
            return "1" + spec

        def __str__(self):
            u[1] *= x
            return "22"

        def __repr__(self):
            u[0] += x
            return "333"

    t = T()
    text = f"{t}{t!r}{t!s:>4}{t:>5}" + str(t) + repr(t) + format(t, "a") + ",".join(str(q) for q in (t, t))
    return len(text) * u[0] * u[1]


class Table:
    def __init__(self, rows):
        self.rows, self.writes = rows, 0

    def __getitem__(self, where):
        i, j = where
        return self.rows[i][j]

    def __setitem__(self, where, value):
        i, j = where
        self.writes += 1
        self.rows[i][j] = value

    def __delitem__(self, where):
        i, j = where
        del self.rows[i][j]


@case(1.3, [0.5, 2.0])
def subscripts_that_are_set_and_deleted(x, u):
    table = Table([[x, u[0]], [u[1], x * u[0], 1.0]])
    for k in range(3):
        table[0, 0] = table[0, 0] * u[1] + table[1, k % 2]
        table[k % 2, 1] *= x
    del table[1, 2]
    table[1, 0] = table[0, 1]
    return table[0, 0] * table[1, 0] + table.writes * x + len(table.rows[1])


class Pair:
    def __init__(self, x, y):
        self.x, self.y, self.asked = x, y, 0

    def __iter__(self):
        self.asked += 1
        yield self.x
        self.x = self.x * 0.5
        yield self.y * self.x


class Stopping(Pair):
    def __iter__(self):
        yield self.x
        yield next(iter(()))


@case(1.3, [0.5, 2.0])
def unpacked_objects(x, u):
    pair = Pair(x, u[0])
    total = 0.0
    for k in range(4):
        a, b = pair
        total += a * b * u[1] + k * x
        (c, d), e = Pair(a, x), u[1]
        total += c * d * e
    for wrong in (Pair(x, u[0]), Stopping(x, u[0])):
        try:
            a, b, c = wrong
        except (ValueError, RuntimeError) as error:
            total += x * len(str(error)) + wrong.asked * wrong.x
        except StopIteration:
            total = 0.0
        try:
            a, b = wrong
        except RuntimeError:
            total += x
    return total * pair.x + pair.asked * x
