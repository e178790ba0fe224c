"""Class statements whose bodies, metaclasses and hooks compute with values that have a derivative."""

import abc
import collections
import dataclasses
import enum
import functools
import typing

from tests.programs.language.cases import Cases

case = Cases()


@case(1.5, [1.0, 2.0])
def attributes_of_the_class(x, u):
    class C:
        scale = x * 2.0
        rows = [x, x * x]
        pair = (x, 3)

        def get(self):
            return self.scale * self.rows[1] * self.pair[0]

    c = C()
    C.rows[0] *= x
    return C.scale * c.get() * C.rows[0] * c.pair[0]


@case(1.5, [1.0, 2.0])
def loops_in_the_body(x, u):
    class C:
        a = 1.0
        for k in range(3):
            a *= x
            u[0] *= a
        b = [x * q for q in range(3)]
        del k
        try:
            del missing  # noqa: F821
        except NameError as e:
            pass

    return C.a * C.b[2] * u[0] * (1 + hasattr(C, "k"))


@case(1.5, [1.0, 2.0])
def defaults_from_the_body(x, u):
    class C:
        y = x * x

        def get(self, k=y, *, m=x):
            return k * m * u[0]

        @staticmethod
        def s(k=y):
            return k

        @classmethod
        def c(cls, k=y):
            return k * cls.y

        @property
        def p(self):
            return self.y * x

    return C().get() * C.s() * C.c() * C().p + C().get(x, m=2.0)


@case(1.5, [1.0, 2.0])
def inherited_attributes(x, u):
    class A:
        v = x
        w = x * x

    class B(A):
        v = A.v * u[0]

        def get(self):
            return super().v * self.v * self.w

    B.w = B.v * 3.0
    r = B().get() * A.w
    del B.w
    return r * B.w


@case(1.5, [1.0, 2.0])
def metaclass_that_computes(x, u):
    class M(type):
        def __new__(m, name, bases, ns, *, k=1.0):
            ns["extra"] = k * x
            u[0] *= k
            return super().__new__(m, name, bases, ns)

        def __init__(cls, name, bases, ns, **kw):
            super().__init__(name, bases, ns)
            cls.late = kw["k"] * cls.extra
            u[1] *= x

        @classmethod
        def __prepare__(m, name, bases, **kw):
            u[0] += x
            return {"pre": x * 3.0}

        @property
        def area(cls):
            return cls.pre * x

    class C(metaclass=M, k=x * x):
        q = pre * 2.0  # noqa: F821

    return C.q * C.extra * C.late * u[0] * u[1] * C().pre * C.area


@case(1.5, [1.0, 2.0])
def keywords_for_subclasses(x, u):
    class Base:
        def __init_subclass__(cls, weight=1.0, **rest):
            super().__init_subclass__(**rest)
            cls.weight = weight * x
            u[0] *= weight

    class A(Base, weight=x * x):
        pass

    class B(A):
        z = A.weight

    return A.weight * B.weight * B().z * u[0]


@case(1.5, [1.0, 2.0])
def descriptors_with_numbers(x, u):
    class F:
        def __init__(self, by):
            self.by = by

        def __set_name__(self, owner, name):
            u[0] *= x
            self.name = "_" + name
            owner.tag = self.by * x

        def __get__(self, obj, owner=None):
            return self.by * getattr(obj, self.name) if obj is not None else self.by * 2.0

        def __set__(self, obj, v):
            setattr(obj, self.name, v * self.by)
            self.by *= x

        def __delete__(self, obj):
            self.by *= u[0]

    class C:
        a = F(x)
        b = F(u[1])

    c = C()
    c.a = x
    c.b = 3.0
    del c.a
    return c.a * c.b * u[0] * C.tag * C.a


@case(1.5, [1.0, 2.0])
def dataclass_with_defaults(x, u):
    @dataclasses.dataclass
    class P:
        a: float = x
        b: float = dataclasses.field(default=x * u[0])
        c: list = dataclasses.field(default_factory=lambda: [x])
        d: float = dataclasses.field(default=x * 3.0, kw_only=True)
        e: float = dataclasses.field(default=x * 5.0, init=False)

        def area(self):
            return self.a * self.b * self.c[0] * self.d * self.e

    p = P()
    q = P(2.0)
    r = P(b=x)
    p.a *= x
    return p.area() + q.area() * r.area() * P.a * P.b


@case(1.5, [1.0, 2.0])
def frozen_dataclass_with_defaults(x, u):
    @dataclasses.dataclass(frozen=True)
    class P:
        a: float = x
        b: float = x * u[0]

    @dataclasses.dataclass(frozen=True)
    class Q(P):
        c: float = x * x

    p = P()
    q = Q(a=2.0)
    return p.a * p.b + q.a * q.b * q.c


@case(1.5, [1.0, 2.0])
def dataclass_with_slots(x, u):
    @dataclasses.dataclass(slots=True)
    class P:
        a: float = x
        b: float = dataclasses.field(default=x * 3.0, init=False)

    @dataclasses.dataclass
    class Q(P):
        c: float = 2.0

    return P().a * P().b * Q().a * P(u[0]).a


@case(1.5, [1.0, 2.0])
def dataclass_with_post_init(x, u):
    @dataclasses.dataclass
    class P:
        a: float
        b: float = x

        def __post_init__(self):
            u[0] *= self.a
            self.b *= x

    return P(x).b * P(u[1], u[0]).b * u[0]


@case(1.5, [1.0, 2.0])
def named_tuple_with_defaults(x, u):
    class P(typing.NamedTuple):
        a: float
        b: float = x * u[0]

        def area(self):
            return self.a * self.b * x

    return P(x).area() * P(2.0, x).b * P(x).b


@case(1.5, [1.0, 2.0])
def named_tuple_made_by_a_call(x, u):
    P = collections.namedtuple("P", "a b", defaults=[x])
    return P(u[0]).b * P(x).a * P(x, x).b


@case(1.5, [1.0, 2.0])
def enumerations(x, u):
    class E(enum.Enum):
        A = 1
        B = 2

        def scale(self):
            return self.value * x

    class I(enum.IntEnum):
        A = 1
        B = enum.auto()

    class Fl(enum.Flag):
        A = enum.auto()
        B = enum.auto()

    return E.A.scale() * E.B.scale() * I.B * u[0] * len(E) * (Fl.A in (Fl.A | Fl.B))


@case(1.5, [1.0, 2.0])
def typed_dict(x, u):
    class D(typing.TypedDict):
        a: float

    d = D(a=x)
    d["a"] *= x
    return d["a"] * u[0]


@case(1.5, [1.0, 2.0])
def abstract_class(x, u):
    class A(abc.ABC):
        k = x

        @abc.abstractmethod
        def f(self): ...
        @property
        @abc.abstractmethod
        def p(self): ...

    class B(A):
        def f(self):
            return self.k * u[0]

        p = property(lambda self: x * self.k)

    return B().f() * B().p


@case(1.5, [1.0, 2.0])
def generic_class(x, u):
    T = typing.TypeVar("T")

    class A(typing.Generic[T]):
        k = x

        def f(self) -> T:
            return self.k * u[0]

    class B(A[float]):
        j = A.k * x

    return B().f() * B.j * A[float]().f()


@case(1.5, [1.0, 2.0])
def protocol_class(x, u):
    class P(typing.Protocol):
        k: float

        def f(self): ...

    class B(P):
        k = x

        def f(self):
            return self.k

    return B().f() * u[0]


@case(1.5, [1.0, 2.0])
def cached_attributes(x, u):
    class A:
        k = x

        @functools.cached_property
        def f(self):
            u[0] *= x
            return self.k * x

        @functools.lru_cache
        def g(self):
            return x * 2.0

    a = A()
    return a.f * a.f * u[0] * a.g() * a.g()


@case(1.5, [1.0, 2.0])
def class_made_by_a_call(x, u):
    C = type("C", (), {"k": x, "get": lambda self: self.k * u[0]})
    D = type("D", (C,), dict(j=x * x))
    return C().get() * D.k * D().j


@case(1.5, [1.0, 2.0])
def nested_classes(x, u):
    class A:
        k = x

        class B:
            j = x * x

            def f(self):
                return self.j * A.k * __class__.j

        m = B.j * k

    return A.B().f() * A.m


@case(1.5, [1.0, 2.0])
def exception_in_the_body(x, u):
    try:

        class A:
            k = x
            u[0] *= k
            u[7]
    except IndexError:
        pass
    return u[0] * x


@case(1.5, [1.0, 2.0])
def class_in_a_loop(x, u):
    r = 1.0
    for i in range(3):

        class A:
            k = x * i + 1.0
            if i > 1:
                k *= x

        r *= A.k * A().k
    return r


@case(1.5, [1.0, 2.0])
def attributes_that_are_replaced(x, u):
    class A:
        k = x

        def f(self):
            return self.k

    a = A()
    y = a.k
    a.k = a.k * 2.0
    A.k = A.k * x
    b = A()
    A.f = lambda self, q=x: self.k * q
    return a.f() * b.f() * y


BUF = [1.0]


@case(1.5, [1.0, 2.0])
def globals_in_the_body(x, u):
    BUF[0] = x

    class C:
        y = BUF[0] * 2.0

    return C.y * u[0]


@case(1.5, [1.0, 2.0])
def generator_method(x, u):
    class A:
        k = x

        def __iter__(self):
            for i in range(3):
                yield self.k * i

    return sum(A()) * sum(q for q in A())


@case(1.5, [1.0, 2.0])
def hooks_of_the_metaclass(x, u):
    class M(type):
        def __getattr__(cls, name):
            u[0] *= x
            return cls.k * x

        def __setattr__(cls, name, v):
            u[1] *= x
            super().__setattr__(name, v * 2.0)

        def __delattr__(cls, name):
            u[1] *= x
            super().__delattr__(name)

    class C(metaclass=M):
        k = x

    C.z = x
    y = C.z * C.foo
    del C.z
    return y * C.k * u[0] * u[1] * C.z


@case(1.5, [1.0, 2.0])
def namespace_of_its_own_class(x, u):
    class NS(dict):
        def __setitem__(self, k, v):
            u[0] *= 1.1
            super().__setitem__(k, v)

        def __missing__(self, k):
            if k == "magic":
                return x
            raise KeyError(k)

    class M(type):
        @classmethod
        def __prepare__(m, n, b):
            return NS()

    class C(metaclass=M):
        k = magic * 2.0  # noqa: F821
        j = len(str(k)) * 0 + x

    return C.k * u[0] * C.j


@case(1.5, [1.0, 2.0])
def bases_that_are_no_classes(x, u):
    class Entry:
        def __mro_entries__(self, bases):
            u[0] *= x
            return (dict,)

    class C(Entry()):
        k = x

        def __setitem__(self, key, value):
            u[1] *= x
            super().__setitem__(key, value * self.k)

    c = C()
    c["a"] = x
    c.update(b=u[0])
    return c["a"] * c["b"] * u[0] * u[1] * len(C.__orig_bases__)


@case(1.5, [1.0, 2.0])
def exception_in_a_hook(x, u):
    class Field:
        def __set_name__(self, owner, name):
            u[0] *= x
            raise KeyError(name)

    try:

        class C:
            k = x
            f = Field()
    except (KeyError, RuntimeError):
        u[1] *= u[0]
    return u[0] * u[1]


@case(1.5, [1.0, 2.0])
def annotations_that_compute(x, u):
    def kind(value):
        return float

    class C:
        a: kind(x) = x
        b: float

        def get(self, v: kind(x) = x) -> float:
            u[0] *= v
            return self.a * v

    return C().get() * u[0] * C.a


@case(1.5, [1.0, 2.0])
def decorated_class(x, u):
    def scaled(by):
        def decorate(cls):
            cls.k = cls.k * by
            u[0] *= by
            return cls

        return decorate

    @scaled(x)
    @scaled(u[1])
    class C:
        k = x

    return C.k * C().k * u[0]


@case(1.5, [1.0, 2.0])
def nonlocal_in_the_body(x, u):
    total = x

    class C:
        nonlocal total
        total *= x
        k = total

        def add(self):
            nonlocal total
            total += self.k
            return total

    return C().add() * total * C.k


@case(1.5, [1.0, 2.0])
def super_properties(x, u):
    class Get:
        def __get__(self, obj, owner):
            u[0] *= x
            return owner.k * x

    class A:
        k = x
        at = Get()

        @property
        def p(self):
            return self.k

        @classmethod
        def c(cls):
            return cls.k * u[0]

    class B(A):
        k = x * x

        @property
        def p(self):
            return super().p * super().k * super().at

        @classmethod
        def c(cls):
            return super().c() * super().k

    return B().p * B.c() * u[0]


@case(1.5, [1.0, 2.0])
def abstract_by_a_metaclass_of_ones_own(x, u):
    class Meta(type):
        def __new__(meta, name, bases, namespace):
            cls = super().__new__(meta, name, bases, namespace)
            left = {n for n, v in namespace.items() if getattr(v, "__isabstractmethod__", False)}
            for base in bases:
                for n in getattr(base, "__abstractmethods__", ()):
                    if getattr(getattr(cls, n), "__isabstractmethod__", False):
                        left.add(n)
            cls.__abstractmethods__ = frozenset(left)
            return cls

    class Base(metaclass=Meta):
        @abc.abstractmethod
        def get(self):
            pass

    class C(Base):
        def get(self):
            return x * x * u[0]

    try:
        Base()
    except TypeError:
        u[1] = C().get() * len(Base.__abstractmethods__)
    return C().get() + u[1]
