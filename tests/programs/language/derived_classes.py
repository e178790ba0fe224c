"""Classes that derive from builtin ones, and take some special methods as they are, or decline them."""

import collections
import copy
import datetime
import enum
import functools

from tests.programs.language.cases import Cases

case = Cases()


@case(1.5, [1.0, 2.0])
def compared_with_what_they_derive_from(x, u):
    class L(list):
        def __eq__(self, other):
            u[0] *= x
            return NotImplemented

        def __lt__(self, other):
            u[1] += x
            return NotImplemented

    class D(dict):
        def __eq__(self, other):
            u[1] *= x
            return NotImplemented

    class F(float):
        def __lt__(self, other):
            u[0] += x
            return NotImplemented

    class E(dict):
        pass

    found = 0
    for answer in (
        L([1, x]) == [1, x],
        [1, x] == L([1, x]),
        [1, x] != L([1, x]),
        L([1, x]) < [2, x],
        [1, x] > L([0, x]),
        D(a=x) == {"a": x},
        {"a": x} == D(a=x),
        D(a=x) != E(a=x),
        E(a=x) == {"a": x},
        F(x) < x + 1.0,
        x + 1.0 > F(x),
        L([1]) == L([1]),
    ):
        found = found * 2 + answer
    return u[0] * u[1] * x * found


@case(1.5, [1.0, 2.0])
def counters_are_dicts(x, u):
    c = collections.Counter("abcaba")
    d = collections.Counter(a=x)
    found = 0
    for answer in (
        c == dict(a=3, b=2, c=1),
        dict(a=3, b=2, c=1) == c,
        c != dict(a=3, b=2, c=1),
        c == {},
        d == dict(a=x),
        dict(a=x) == d,
        d != dict(a=x),
        collections.OrderedDict(a=x) == d,
    ):
        found = found * 2 + answer
    return u[0] * x * found * d["a"]


@case(1.5, [1.0, 2.0])
def only_what_derives_from_the_left_is_asked_first(x, u):
    class L(list):
        def __gt__(self, other):
            u[0] *= x
            return True

        def __lt__(self, other):
            u[1] *= x
            return NotImplemented

    return u[0] * u[1] * x * (1 + ([1] < L([0]))) * (1 + (L([0]) < [1])) * u[0] * u[1]


@case(1.5, [1.0, 2.0])
def texts_of_what_they_derive_from(x, u):
    class S(str):
        def __repr__(self):
            u[0] *= x
            return "S!"

        __str__ = str.__str__

    class Day(datetime.date, enum.Enum):
        first = 2023, 12, 1
        __str__ = datetime.date.__str__

    class Named(str, enum.Enum):
        one = "a"
        __str__ = str.__str__

    class Failed(Exception):
        def __repr__(self):
            u[1] *= x
            return "F!"

    texts = str(S("abcd")), repr(S("b")), f"{S('c')}", str(Day.first), str(Named.one), str(Failed("message"))
    lengths = 1
    for text in texts:
        lengths = lengths * 20 + len(text)
    return x * u[0] * u[1] * lengths


@case(1.5, [1.0, 2.0])
def declined_methods(x, u):
    class A:
        def __iter__(self):
            u[0] *= x
            return iter([1.0, x])

        def __getitem__(self, index):
            u[1] *= x
            return [1.0, x][index]

        def __len__(self):
            return 2

        def __add__(self, other):
            u[0] += x
            return x

        def __radd__(self, other):
            u[1] += x
            return x

        __eq__ = __ne__ = __lt__ = __add__

    class B(A):
        __contains__ = __reversed__ = __iadd__ = __eq__ = __lt__ = __radd__ = __neg__ = None

    def add(b):
        b += 1.0
        return b

    a, b, caught, y = A(), B(), 0, x
    for attempt in (
        lambda: 1.0 in b,
        lambda: 1.0 not in b,
        lambda: reversed(b),
        lambda: add(b),
        lambda: b == 1.0,
        lambda: b < x,
        lambda: x > b,
        lambda: x + b,
        lambda: -b,
        lambda: b + x,
        lambda: a == b,
        lambda: b != 1.0,
        lambda: 1.0 in a,
        lambda: next(reversed(a)),
    ):
        try:
            y = y * attempt() + x
        except TypeError:
            caught = caught * 2 + 1
        else:
            caught *= 2
    return y * u[0] * u[1] * caught


@case(1.5, [1.0, 2.0])
def records_of_too_few(x, u):
    P = collections.namedtuple("P", "a b")
    y = x
    for values in ([x], [x, u[0]], [x, u[1], 3.0], []):
        try:
            made = P._make(values)
        except TypeError:
            y *= 2.0
        else:
            y = y * made.a + made.b
    return y


@case(1.5, [1.0, 2.0])
def what_is_said_about_dispatched_methods(x, u):
    class A:
        @functools.singledispatchmethod
        def scaled(self, value: float) -> float:
            return value * x

    of_class, of_object = A.scaled.__annotations__, A().scaled.__annotations__
    return u[0] * A().scaled(u[1]) * len(of_class) * (of_object == {"value": float, "return": float})


@case(1.5, [1.0, 2.0])
def copied_caches(x, u):
    @functools.lru_cache
    def f(k):
        u[0] *= x
        return k * x

    copies = copy.copy(f), copy.deepcopy(f)
    y = f(2) * copies[0](2) * copies[1](3) * f.cache_info().hits
    return y * u[0] * (copies[0] is f) * (copies[1] is f)
