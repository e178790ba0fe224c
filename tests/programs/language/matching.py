"""``match`` in all its forms."""

import collections
import dataclasses
import enum
import typing

from tests.programs.language.cases import Cases

case = Cases()


class Shape:
    __match_args__ = ("size", "more")

    def __init__(self, size, more):
        self.size, self.more = size, more


@dataclasses.dataclass
class Point:
    a: float
    b: float


Named = collections.namedtuple("Named", "left right")


class Kind(enum.Enum):
    ONE = 1
    TWO = 2


class Constants:
    LIMIT = 5


@case(1.5, [1.0, 2.0], 1)
@case(1.5, [1.0, 2.0], "text")
@case(1.5, [1.0, 2.0], None)
@case(1.5, [1.0, 2.0], True)
@case(1.5, [1.0, 2.0], -2)
def literals(x, u, o):
    match o:
        case True:
            u[0] *= x
        case 1:
            u[1] *= x
        case "text" | b"bytes":
            u[0] += u[1] * x
        case None:
            u[1] += u[0] * x
        case -2 | -2.5 | 3 + 4j:
            u[0] *= u[1] * x
    return u[0] * u[1]


@case(1.5, [1.0, 2.0])
def capture(x, u):
    match u[0] * x:
        case y:
            u[1] *= y
    match u:
        case v:
            v[0] *= y
    return u[0] * u[1]


@case(1.5, [1.0, 2.0, 3.0, 4.0])
@case(1.5, [1.0, 2.0, 3.0])
@case(1.5, [1.0, 2.0])
@case(1.5, [1.0])
def sequence(x, u):
    match u:
        case []:
            return x
        case [a]:
            u[0] = a * x
        case a, b:
            u[0] = a * b * x
        case (a, b, c):
            u[1] *= a * c * x
        case _:
            u[0] *= x
    return sum(u) * u[0]


@case(1.5, [1.0, 2.0, 3.0, 4.0])
@case(1.5, [1.0, 2.0])
def sequence_with_star(x, u):
    match u:
        case [a, *middle, b, c]:
            middle.append(a * x)
            u[0] *= sum(middle) * b * c
        case [*rest]:
            rest[0] *= x
            u[1] *= rest[0]
    match (x, u[0], *u):
        case (a, *_):
            u[0] *= a
    return sum(u) * u[0]


@case(1.5, {"a": 1.0, "b": [2.0], "c": 3.0})
@case(1.5, {"b": [2.0], "c": 3.0})
def mapping(x, d):
    match d:
        case {"a": a, "b": [b], **rest}:
            rest["c"] *= a * x
            d["a"] = b * rest["c"]
            return d["a"] * x + rest["c"]
        case {"b": v, "c": float(c)}:
            v[0] *= c * x
            return v[0] * d["b"][0]
    return x


@case(1.5, Shape(1.0, [2.0]))
@case(1.5, Point(1.0, 2.0))
@case(1.5, (1.0, 2.0))
def classes(x, o):
    match o:
        case Shape(s, more=[m]):
            o.size = s * x
            o.more[0] *= m * o.size
            return o.size * o.more[0]
        case Point(a=p, b=q):
            o.a *= q * x
            return o.a * p
        case tuple((a, b)):
            return a * b * x * x
    return x


@case(1.5, [1.0, 2.0])
def class_of_a_named_tuple(x, u):
    match Named(x, u):
        case Named(left, right=[a, *_] as r):
            r[0] *= left * a
    return u[0] * u[1]


@case(1.5, [1.0, 2.0], Shape(1.0, [2.0]))
def positional_and_keyword(x, u, o):
    match o:
        case Shape(a, [b]) if a * x > 100.0:
            u[0] = 0.0
        case Shape(size=a) as whole:
            whole.size *= x
            u[0] *= a * whole.size
    return u[0] * u[1] * o.size


@case(1.5, [1.0, 2.0])
@case(0.5, [1.0, 2.0])
def built_in_classes(x, u):
    match x * u[0]:
        case int(n):
            u[0] *= n
        case float(y) if y > 1.0:
            u[1] *= y
        case float() as y:
            u[0] *= y * u[1]
    match {"k": u}:
        case dict(d):
            d["k"][0] *= x
    return u[0] * u[1]


@case(1.5, [1.0, 2.0], ("add", 3.0))
@case(1.5, [1.0, 2.0], ("sub", 3.0))
@case(1.5, [1.0, 2.0], {"op": "add", "v": 2.0})
def alternatives(x, u, o):
    match o:
        case ("add", v) | {"op": "add", "v": v}:
            u[0] += v * x
        case ("sub" | "neg", v):
            u[0] -= v * x
    return u[0] * u[1]


@case(1.5, [1.0, 2.0])
def guards(x, u):
    def changes():
        u[0] *= x
        return False

    match u:
        case [a, b] if changes():
            return x
        case [a, b] if (y := a * b) > 2.0:
            u[1] *= y
    return u[0] * u[1]


@case(1.5, [1.0, 2.0], Kind.ONE)
@case(1.5, [1.0, 2.0], Kind.TWO)
@case(1.5, [1.0, 2.0], 5)
def values(x, u, o):
    match o:
        case Kind.ONE:
            u[0] *= x
        case Kind.TWO:
            u[1] *= u[0] * x
        case Constants.LIMIT:
            u[0] *= u[1] * x
    return u[0] * u[1]


@case(1.5, [[1.0, 2.0], {"k": [3.0, Shape(4.0, [5.0])]}])
def nested(x, o):
    match o:
        case [[a, b] as first, {"k": [c, Shape(size=d, more=[e])]}] if a < b:
            first[0] *= x * d
            o[1]["k"][0] = c * first[0] * e
            return o[1]["k"][0] * a * b
    return x


@case(1.5, [1.0, 2.0], [("push", 3.0), ("mul",), ("push", 2.0), ("pop", 1)])
def interpreter(x, u, program):
    stack = [x]
    for instruction in program:
        match instruction:
            case ("push", value):
                stack.append(value * u[0])
            case ("mul",):
                stack.append(stack.pop() * stack.pop())
            case ("pop", int(n)):
                u[n] *= stack.pop()
            case unknown:
                raise ValueError(unknown)
    return stack[0] * u[1]


@case(1.5, [1.0, 2.0])
def user_properties(x, u):
    class Lazy:
        @property
        def field(self):
            u[0] *= x
            return u[0]

    match Lazy():
        case Lazy(missing=_):
            u[1] = 0.0
        case Lazy(field=y):
            u[1] *= y
    return u[0] * u[1]


@case(1.5, [1.0, 2.0])
def wrong_patterns(x, u):
    class Twice:
        __match_args__ = ("a", "a")

    class Text:
        __match_args__ = "ab"

    class Once:
        __match_args__ = ("a",)

    class Numbers:
        __match_args__ = (1,)

    wrong = 0
    for cls in (Twice, Text, Once, Numbers):
        o = cls()
        o.a = x * u[0]
        for ask in range(3):
            try:
                match o:
                    case Twice(p, q):
                        u[1] *= p * q
                    case Text(p):
                        u[1] *= p
                    case Numbers(p):
                        u[1] *= p
                    case Once(p, a=q) if ask == 0:
                        u[1] *= p * q
                    case Once(p) if ask == 1:
                        u[1] *= p
                    case Once(p, q):
                        u[1] *= p * q
            except TypeError:
                wrong += 1
                u[0] += x
    return x * u[1] * wrong


@typing.runtime_checkable
class Weighted(typing.Protocol):
    weight: float

    def grown(self): ...


class Grain:
    def __init__(self, weight):
        self.weight = weight

    def grown(self):
        return 2.0 * self.weight


@case(1.5, [1.0, 2.0])
def protocols_with_fields(x, u):
    for o in (Grain(x), u, Grain(u[0]), x):
        match o:
            case Weighted(weight=w):
                u[0] += w * o.grown()
            case list():
                u[1] *= x
            case float(number):
                u[0] *= number
    return u[0] * u[1]
