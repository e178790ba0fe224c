"""Functions that together use every construct the lifter takes, with arguments to call them on.

Each returns plain data, so that outcomes can be compared; some raise on purpose.
"""

from __future__ import annotations

import collections
import copy
import dataclasses
import math
import operator
from collections.abc import Callable
from typing import Any

CASES: list[tuple[Callable[..., Any], tuple[Any, ...]]] = []
COUNTER = 0
TABLE = {"a": 1.5, "b": 2.5}


def case(*calls: tuple[Any, ...]) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Run the decorated function on each of these tuples of arguments."""

    def register(function: Callable[..., Any]) -> Callable[..., Any]:
        CASES.extend((function, arguments) for arguments in calls)
        return function

    return register


# -- straight lines, operators ----------------------------------------------------------------------


@case((2.0, 3.0), (7, 2), (True, 5))
def arithmetic(x, y):
    return x + y, x - y, x * y, x / y, x // y, x % y, x**y, -x, +x


@case((12, 5), (1, 0))
def bits(x, y):
    return x & y, x | y, x ^ y, x << y, x >> y, ~x, x and y, x or y, not x


@case((1, 0), (1.0, "a"))
def raises_in_the_middle(x, y):
    z = x + 1
    return z / y


@case((3,), (0,))
def comparisons(x):
    return x < 1, x <= 3, x == 3, x != 3, x > 2, x >= 0, x is None, x is not None, x in (1, 3), x not in [3]


@case((1,), (2,), (3,), (5,))
def chained(x):
    return 1 < x < 3, 1 <= x < 4 < 10, x == x != 2


@case((1, 2, 3), (0, 2, 3), (0, 0, 3), ([], {}, ""))
def and_or(a, b, c):
    return a and b, a or b, a and b or c, (a or b) and c, not (a and b), not a or not b


@case((1,), (-1,), (0,))
def conditional_expression(x):
    return ("positive" if x > 0 else "negative" if x < 0 else "zero") + ("!" if x else "?")


@case((5,), (1,))
def walrus(n):
    if (half := n // 2) > 1:
        return half, [y := 3, y**2]
    return half, n


@case((4,), (-1,))
def none_tests(x):
    y = x if x > 0 else None
    a = 1 if y is None else 2
    b = 1 if y is not None else 2
    while y is not None:
        y = None
    return a, b, y


@case((3,), (0,))
def augmented(x):
    x += 1
    x -= 2
    x *= 3
    x /= 4
    x //= 0.5
    x **= 2
    x %= 7
    y = 6
    y &= 3
    y |= 8
    y ^= 1
    y <<= 2
    y >>= 1
    return x, y


class Box:
    """A thing with attributes."""

    def __init__(self, value=0):
        self.value = value
        self.items = [1, 2, 3]


@case((Box(3),))
def augmented_places(box):
    box.value += 2
    box.items[1] *= 5
    box.items[0:2] += [9]
    d = {"k": 1}
    d["k"] += 1
    box.items += [4]
    return box.value, box.items, d


@case(([1, 2, 3, 4, 5, 6], 1))
def slices(xs, i):
    ys = xs[:]
    ys[i:3] = [7, 8, 9, 10]
    ys[::2] = [0] * len(ys[::2])
    del ys[0]
    del ys[-2:]
    return xs[i:], xs[:i], xs[i:4], xs[::2], xs[4:i:-1], xs[-1], ys, xs[slice(1, 3)], xs[1:2]


@case((3,), ("a",))
def deletions(x):
    box = Box(x)
    del box.value
    d = {1: 2, 3: 4}
    del d[1]
    y = x
    del y
    return hasattr(box, "value"), d, x


# -- locals ------------------------------------------------------------------------------------------


@case((True,), (False,))
def maybe_unbound(flag):
    if flag:
        value = 1
    return value


@case((3,), (0,))
def unbound_after_loop(n):
    for i in range(n):
        last = i
    return last, i


@case((1,), (2,))
def unbound_after_del(n):
    x = n
    if n > 1:
        del x
    x += 1
    return x


@case(())
def unbound_del():
    del missing  # noqa: F821
    missing = 1


@case((0,), (1,), (7,))
def swap_in_loop(n):
    a, b = 0, 1
    for _ in range(n):
        a, b = b, a + b
    return a, b


@case((4,))
def rotate_in_loop(n):
    a, b, c, d = 1, 2, 3, 4
    while n:
        a, b, c, d = d, a, b, c
        n -= 1
    return a, b, c, d


# -- branches and loops ----------------------------------------------------------------------------


@case((-1,), (0,), (1,), (10,))
def branches(x):
    if x < 0:
        y = -x
    elif x == 0:
        return "zero"
    elif x > 5:
        y = x * 2
    else:
        y = x
    return y


@case((0,), (1,))
def agreeing_arms(x):
    if x:
        pass
    else:
        pass
    return x


@case((0,), (5,))
def while_loop(n):
    total = 0
    while n > 0:
        total += n
        n -= 1
    return total


@case((3, 10), (3, 2), (0, 0))
def while_else(n, stop):
    i = 0
    while i < n:
        if i == stop:
            break
        i += 1
    else:
        return "finished", i
    return "broken", i


@case(([1, 2, 3], 2), ([1, 2, 3], 9), ([], 1))
def for_else(xs, wanted):
    for k, x in enumerate(xs):
        if x == wanted:
            break
    else:
        return "missing"
    return k


@case((0,), (1,), (4,))
def nested_loops(n):
    out = []
    for i in range(n):
        for j in range(i):
            if (i + j) % 3 == 0:
                continue
            if j > 2:
                break
            k = 0
            while True:
                k += 1
                if k >= j:
                    break
            out.append((i, j, k))
    return out


@case((10,), (0,))
def loop_with_returns(n):
    for i in range(n):
        for j in (1, 2, 3):
            if i * j > 4:
                return i, j
    return None


@case((5,))
def endless(n):
    while True:
        n -= 1
        if n < 0:
            return n
        if n % 2:
            continue
        n -= 1


@case((27,))
def collatz(n):
    steps = 0
    while n != 1:
        n = n // 2 if n % 2 == 0 else 3 * n + 1
        steps += 1
    return steps


@case((2.0, 5))
def newton(x, n):
    y = 1.0
    for _ in range(n):
        y = 0.5 * (y + x / y)
    return y


@case((5,))
def empty_loop(n):
    for i in range(n):
        pass
    return i


@case(([(1, (2, 3)), (4, (5, 6))],))
def loop_unpacking(rows):
    total = 0
    for a, (b, c) in rows:
        total += a * b - c
    return total


@case(("abc",), (5,), (None,))
def not_always_iterable(xs):
    return [x for x in xs]


# -- unpacking and containers ----------------------------------------------------------------------


@case(((1, 2, 3),), ("xyz",), ([1, 2],), ([1, 2, 3, 4],), (5,))
def unpack(xs):
    a, b, c = xs
    return c, b, a


@case(([1, 2, 3, 4],), ((1, 2),), ("a",), (7,))
def unpack_star(xs):
    a, *rest, z = xs
    *most, last = xs
    first, *_ = xs
    return a, rest, z, most, last, first


@case((1, 2))
def unpack_literal(a, b):
    w, x, y, z = b, a, (a, b), [a]
    [p, q] = z + [b]
    return w, x, y, z, p, q


@case(([1], (2, 3), {"k": 1}))
def displays(xs, ys, d):
    return (
        [1, 2, 3],
        [*xs, 0, *ys],
        (*xs, *ys),
        {*xs, *ys},
        {"a": 1, "b": xs, **d, "c": ys},
        {1, 2, 3},
        {},
        (),
        [],
        {xs[0]: ys, "z": 0},
        [[1, 2, 3, 4], {4, 5, 6}],
    )


@case(([1], 5), ([1], [2]))
def display_errors(xs, y):
    return [*xs, *y]


@case(([[1, 2], [3]],), ([],))
def comprehensions(rows):
    x = "outer"
    flat = [x for row in rows for x in row if x != 2]
    square = {x * x for row in rows for x in row}
    sizes = {k: len(row) for k, row in enumerate(rows)}
    nested = [[y + len(row) for y in row] for row in rows]
    total = sum(y for row in rows for y in row)
    return x, flat, square, sizes, nested, total


@case(([1, 2, 3], 2))
def comprehension_scope(xs, k):
    scaled = [k * x for x in xs]
    k += 1
    again = [k * x for x in [x + k for x in scaled]]
    chosen = [x for x in xs if x in [y for y in xs if y >= k - 1]]
    return scaled, again, chosen, xs


@case((3,))
def comprehension_unbound(n):
    if n > 5:
        x = 1
    ys = [x for x in range(n)]
    return ys, x


@case((3,))
def comprehension_as_argument(n):
    return max([i * i for i in range(n)]), dict(zip([i for i in range(n)], {i: i for i in range(n)}))


@case((3,))
def closures_in_comprehension(n):
    return [f() for f in [lambda: i for i in range(n)]], [
        g(1) for g in [lambda x, i=i: x + i for i in range(n)]
    ]


@case((2,), (0,))
def comprehension_raises(n):
    return [1 / (i - n) for i in range(5)]


# -- calls -----------------------------------------------------------------------------------------


def helper(a, b=2, *args, c=3, **kwargs):
    return a, b, args, c, kwargs


@case((1, (2, 3), {"z": 4}))
def call_forms(x, xs, d):
    return (
        helper(x),
        helper(x, 5),
        helper(x, c=6),
        helper(b=x, a=0),
        helper(*xs),
        helper(x, *xs, 9, *xs),
        helper(x, **d),
        helper(*xs, **d, c=7),
        helper(x, *xs, w=1, **d),
        helper(a=x, **d),
    )


@case((1, {"a": 2}), (1, {"c": 5}))
def call_duplicate_keyword(x, d):
    return helper(x, c=1, **d)


@case((5,), ((1, 2),))
def call_bad_star(xs):
    return helper(*xs)


@case((1,))
def call_with_branches(x):
    return helper(x if x else 2, 3 if x > 1 else 4, c=x and 5, d=[y for y in (1, 2)])


@case(([3, 1, 2],))
def methods(xs):
    xs.append(4)
    xs.sort(reverse=True)
    return (
        xs,
        "a,b".split(","),
        " x ".strip().upper(),
        xs.index(max(xs, key=lambda x: -x)),
        str.join("-", "ab"),
    )


@case((2.0,))
def module_functions(x):
    return math.sin(x), math.pi * x, operator.mul(x, 2), copy.copy([x]), collections.OrderedDict(a=x)


@case((1,), ("a",))
def keyword_named_like_ours(x):
    return dict(target=x, function=x, kind=x, self=x, cls=x)


@case((3,), (12,))
def recursion(n):
    return 1 if n < 2 else n * recursion(n - 1)


@case((1,), (1, 2), (1, 2, 3, 4))
def star_parameters(a, b=10, *rest, c=20, **others):
    rest = rest + (a,)
    others["b"] = b
    return a, b, rest, c, others


@case((1, 2))
def positional_only(a, /, b, *, c=5):
    return a - b * c


@case((0,))
def undefined_global(x):
    return not_defined_anywhere + x  # noqa: F821


# -- functions, closures, classes --------------------------------------------------------------------


@case((3,))
def nested_functions(n):
    def add(x, y=n, *, z=1):
        return x + y + z

    def note(x: int, *more: float) -> str:
        return f"{x}{more}"

    return add(1), add(1, 2), add(1, z=5), note(1, 2.0), sorted(note.__annotations__), add.__kwdefaults__


@case((3,))
def closures(n):
    total = 0

    def bump(by):
        nonlocal total
        total += by * n
        return total

    bump(1)
    n = 10
    bump(2)
    return total, n


@case((4,))
def closures_in_loop(n):
    out = []
    for i in range(n):

        def get():
            return i

        out.append(get)
    return [f() for f in out], [f(2) for f in [lambda x, j=j: x * j for j in range(n)]]


@case((True,), (False,))
def empty_cell(flag):
    def get():
        return value

    if flag:
        value = 1
    return get()


@case((True,), (False,))
def own_empty_cell(flag):
    if flag:
        value = 1
    result = value
    return (lambda: value)(), result


@case((2,))
def deleted_cell(x):
    def get():
        return x

    del x
    return get()


def make_counter(start):
    step = 2

    def count(by):
        nonlocal start
        start = start + by * step
        return start

    return count


def fresh_counter_sum(counter, n):
    return [counter(n), counter(n)]


CASES += [(fresh_counter_sum, (make_counter(5), 3))]


@case((3,))
def deep_closures(n):
    def outer(a):
        def inner(b):
            return a + b + n

        return inner

    return outer(1)(2), (lambda *args, **kw: (args, kw))(1, k=2)


@case((2.0,))
def local_class(x):
    class Base:
        scale = 3

        def __init__(self, value):
            self.value = value

        def area(self):
            return self.value * self.scale * x

    class Child(Base):
        def __init__(self, value):
            super().__init__(value + 1)

        def area(self):
            return super().area() + 1

        @property
        def double(self):
            return 2 * self.value

        @staticmethod
        def fixed():
            return 7

        @classmethod
        def make(cls, v):
            return cls(v)

    child = Child.make(x)
    return child.area(), child.double, child.fixed(), Base(1).area()


class Shape:
    def __init__(self, size):
        self.size = size

    def area(self):
        return self.size

    def describe(self, *, unit="m"):
        return f"{self.size}{unit}"


class Square(Shape):
    def area(self):
        return super().area() ** 2

    def two_argument(self):
        return super(Square, self).area()

    def captured(self):
        get = lambda: self.size  # noqa: E731
        return super().area() + get()

    def attribute(self):
        return super().describe(unit="cm")

    def rebound(self):
        self = Square(9)
        return super().area()

    def explicit_class(self):
        return __class__.__name__, super().area


CASES += [
    (Square.area, (Square(3),)),
    (Square.two_argument, (Square(3),)),
    (Square.captured, (Square(3),)),
    (Square.attribute, (Square(3),)),
    (Square.rebound, (Square(3),)),
    (Square.area, (Shape(3),)),
]


@dataclasses.dataclass
class Point:
    x: float
    y: float = 0.0

    def __add__(self, other):
        return Point(self.x + other.x, self.y + other.y)


@case((1.0, 2.0))
def instances(x, y):
    p = Point(x, y) + Point(y=x, x=y) + Point(1.0)
    p.x, p.y = p.y, p.x
    return p, p.x


@case((3,))
def decorated(n):
    def twice(f):
        return lambda x: f(f(x))

    @twice
    def inc(x):
        return x + n

    return inc(1)


# -- strings -----------------------------------------------------------------------------------------


@case((3.14159, 8), ("a", 3), (None, 1))
def fstrings(x, width):
    return f"{x}", f"<{x!r:>{width}}>", f"{x!s}{x!a}", f"{width:04d} {width + 1=}", f"{{{x}}}"


@case(("abc", 2))
def old_formats(s, n):
    return "%s %d" % (s, n), "{}-{k}".format(s, k=n), s * n, s[n]


# -- assert, raise ---------------------------------------------------------------------------------


@case((1,), (0,))
def asserts(x):
    assert x, "must hold"
    assert x > 0
    return x


@case((0,), (-1,))
def asserts_plainly(x):
    assert x == 0
    return "fine"


@case((0,), (1,), (2,), (3,))
def raises(n):
    if n == 1:
        raise ValueError
    if n == 2:
        raise ValueError(f"not {n}") from TypeError("cause")
    if n == 3:
        raise
    return n


@case((2,))
def raises_nonsense(n):
    raise n


# -- globals and imports ---------------------------------------------------------------------------


@case((1,))
def global_store(n):
    global COUNTER
    COUNTER = n
    COUNTER += 1
    return COUNTER


@case(())
def global_delete():
    global TEMPORARY
    TEMPORARY = 3
    x = TEMPORARY
    del TEMPORARY
    return x, "TEMPORARY" in globals()


@case(("a",))
def global_data(name):
    return TABLE[name], len(TABLE), sorted(TABLE)


@case((2.0,))
def imports(x):
    import collections.abc as abc
    import os.path
    from math import cos
    from math import sin as sine

    return os.path.join("a", "b"), cos(x), sine(x), abc.Sized is collections.abc.Sized


@case(())
def import_fails():
    from math import nothing_of_this_name

    return nothing_of_this_name


@case((1, 2), (5, 2))
def match_literals(x, y):
    match x:
        case 1:
            return "one"
        case None:
            return "none"
        case n if n > y:
            return "big"
        case _:
            return "other"


class Collector:
    def collect(self, *args, **kwargs):
        return args, kwargs


@case(([1, 2], {"k": 3}))
def methods_with_stars(args, kwargs):
    c = Collector()
    return c.collect(*args), c.collect(0, *args), c.collect(*args, **kwargs), c.collect(**kwargs, j=1)


@case((3,))
def unreachable_refusal(n):
    return n
    with n:
        pass


def many_joins_source(count: int) -> str:
    lines = ["def many_joins(x, y):", "    z = y"]
    for i in range(count):
        lines += [f"    if x > {i}:", f"        y = y + {i}"]
    return "\n".join([*lines, "    return x, y, z"])


_space: dict[str, Any] = {}
exec(many_joins_source(600), _space)
CASES += [(_space["many_joins"], (300, 0))]


@case((1.5, 3))
def many_locals(a0, n):
    a1 = a2 = a3 = a4 = a5 = a6 = a7 = a8 = a9 = a0
    b0 = b1 = b2 = b3 = b4 = b5 = b6 = b7 = b8 = b9 = n
    for i in range(n):
        a1, b1 = b1, a1
        a9 += b9
        b8 -= a8
    return a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, b0, b1, b2, b3, b4, b5, b6, b7, b8, b9, i
