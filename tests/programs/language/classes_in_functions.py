"""Class statements that a differentiated function runs, and everything that a class may define."""

from tests.programs.language.cases import Cases

case = Cases()


@case(1.5, [1.0, 2.0])
def closing_over(x, u):
    class C:
        factor = 2.0
        table = {"k": 3.0}

        def __init__(self, v):
            self.v = v * x

        def step(self):
            u[0] *= self.v
            self.v += self.factor * self.table["k"]
            return self

    c = C(u[1])
    return c.step().step().v * u[0]


@case(1.5, [1.0, 2.0], 3, "name")
def values_in_the_body(x, u, n, name):
    class C:
        scale = n * 2.0
        rows = [n, "text", len(name)]

        def get(self):
            self.rows[0] += 1
            u[0] *= self.scale * x
            return u[0] * self.rows[0]

    return C().get() * C.scale * u[0] * C.rows[0] * C.rows[2]


@case(1.5, [1.0, 2.0], 3)
def loops_in_the_body(x, u, n):
    class C:
        names = []
        for k in range(n):
            names.append(k)
        if n > 2:

            def get(self):
                u[0] *= x
                return u[0] * len(self.names)
        else:
            get = None
        del k

    return C().get() * u[1] * (hasattr(C, "k") + 1)


@case(1.5, [1.0, 2.0])
def inheritance(x, u):
    class A:
        def __init__(self, v):
            self.v = v
            u[0] *= v

        def get(self):
            return self.v * u[0]

    class B(A):
        def __init__(self, v, w):
            super().__init__(v * w)
            self.w = w

        def get(self):
            u[1] += self.w
            return super().get() * self.w

    class C(B):
        def get(self):
            return super(C, self).get() + A.get(self)

    b = C(x, u[1])
    b.v *= x
    return b.get() * u[0] * u[1] * isinstance(b, A)


@case(1.5, [1.0, 2.0])
def diamond(x, u):
    class A:
        def run(self):
            u[0] *= x

    class B(A):
        def run(self):
            u[0] += u[1]
            super().run()

    class C(A):
        def run(self):
            u[1] *= x
            super().run()

    class D(B, C):
        def run(self):
            super().run()
            u[1] += u[0]

    D().run()
    return u[0] * u[1]


@case(1.5, [1.0, 2.0])
def properties(x, u):
    class C:
        def __init__(self, v):
            self._v = v

        @property
        def v(self):
            u[0] *= x
            return self._v

        @v.setter
        def v(self, value):
            self._v = value * u[0]

        @v.deleter
        def v(self):
            u[1] *= self._v
            self._v = x

    class D(C):
        @property
        def v(self):
            return super().v * x

        @C.v.setter
        def w(self, value):
            u[0] += value

    c, d = C(x), D(u[1])
    c.v = c.v * u[1]
    c.v += x
    del c.v
    d.w = x
    return c.v * d.v * d.w * u[0] * u[1]


@case(1.5, [1.0, 2.0])
def methods_of_the_class(x, u):
    class C:
        count = 0

        def __init__(self, v):
            self.v = v

        @classmethod
        def make(cls, v):
            cls.count += 1
            u[0] *= v
            return cls(v * u[0])

        @staticmethod
        def twice(v):
            u[1] += v
            return v * 2.0

    class D(C):
        @classmethod
        def make(cls, v):
            return super().make(v * x)

    c, d = C.make(x), D.make(u[1])
    return c.v * d.v * c.twice(x) * D.twice(d.v) * u[0] * u[1] * (C.count + D.count)


@case(1.5, [1.0, 2.0])
def slots(x, u):
    class A:
        __slots__ = ("a", "b")

        def __init__(self, a):
            self.a = a

    class B(A):
        __slots__ = ("c",)

        def step(self):
            self.c = self.a * x
            self.a *= self.c
            del self.c
            self.b = u[0] * self.a
            u[0] = self.b

    b = B(u[1])
    b.step()
    b.step()
    return b.a * b.b * u[0] * (x if hasattr(b, "c") else 1.0)


@case(1.5, [1.0, 2.0])
def descriptors(x, u):
    class Scaled:
        def __init__(self, by):
            self.by = by

        def __set_name__(self, owner, name):
            self.name = "_" + name

        def __get__(self, obj, owner=None):
            if obj is None:
                return self
            u[0] += obj.__dict__[self.name]
            return obj.__dict__[self.name] * self.by

        def __set__(self, obj, value):
            obj.__dict__[self.name] = value * u[0]

        def __delete__(self, obj):
            u[1] *= obj.__dict__.pop(self.name)

    class C:
        a = Scaled(2.0)
        b = Scaled(3.0)

    c = C()
    c.a, c.b = x, u[1]
    c.a *= c.b
    y = c.a
    del c.b
    return y * c.a * u[0] * u[1] * C.a.by


@case(1.5, [1.0, 2.0])
def non_data_descriptor(x, u):
    class Lazy:
        def __init__(self, f):
            self.f = f

        def __set_name__(self, owner, name):
            self.name = name

        def __get__(self, obj, owner):
            value = self.f(obj)
            setattr(obj, self.name, value)
            return value

    class C:
        @Lazy
        def area(self):
            u[0] *= x
            return u[0] * x

    c = C()
    return c.area * c.area * u[0] * C().area


@case(1.5, [1.0, 2.0])
def attribute_hooks(x, u):
    class C:
        def __init__(self):
            self.held = {"a": x}

        def __getattr__(self, name):
            if name not in self.held:
                raise AttributeError(name)
            u[0] *= self.held[name]
            return self.held[name]

    class D:
        def __setattr__(self, name, value):
            u[1] += value
            object.__setattr__(self, name, value * x)

        def __getattribute__(self, name):
            u[0] += x
            return super().__getattribute__(name)

    c, d = C(), D()
    c.held["b"] = c.a * u[1]
    d.p = c.b
    d.p += x
    return c.a * d.p * u[0] * u[1] * getattr(c, "z", x) * (hasattr(c, "a") + hasattr(c, "z"))


@case(1.5, [1.0, 2.0])
def metaclass(x, u):
    class Meta(type):
        def __new__(meta, name, bases, namespace, **options):
            namespace["label"] = options.get("label", "none")
            return super().__new__(meta, name, bases, namespace)

        def __init__(cls, name, bases, namespace, **options):
            super().__init__(name, bases, namespace)
            cls.order = len(name)

        def __call__(cls, *args):
            u[0] *= x
            made = super().__call__(*args)
            made.extra = args[0] * u[0]
            return made

        @property
        def size(cls):
            return len(cls.label)

    class C(metaclass=Meta, label="text"):
        def __init__(self, v):
            self.v = v

    c = C(u[1])
    return c.v * c.extra * u[0] * C.size * u[1] * C.order


@case(1.5, [1.0, 2.0])
def prepared_namespace(x, u):
    class Meta(type):
        @classmethod
        def __prepare__(meta, name, bases):
            return {"count": 2}

    class C(metaclass=Meta):
        more = count + 1  # noqa: F821

        def get(self):
            u[0] *= self.more * x
            return u[0]

    return C().get() * C.more * u[1]


@case(1.5, [1.0, 2.0])
def subclass_hook(x, u):
    class Base:
        kinds = []

        def __init_subclass__(cls, weight=1, **rest):
            super().__init_subclass__(**rest)
            cls.weight = weight
            Base.kinds.append(cls)

    class A(Base, weight=2):
        pass

    class B(A):
        def get(self):
            u[1] *= x
            return self.weight * u[1]

    return B().get() * A.weight * u[0] * len(Base.kinds)


@case(1.5, [1.0, 2.0])
def class_getitem(x, u):
    class C:
        def __class_getitem__(cls, key):
            u[0] *= key
            return u[0]

    return C[x] * C[u[1]] * u[0]


@case(1.5, [1.0, 2.0])
def own_new(x, u):
    class C:
        def __new__(cls, v):
            self = super().__new__(cls)
            self.early = v * x
            u[0] *= v
            return self

        def __init__(self, v):
            self.late = self.early * v

    class Only:
        made = []

        def __new__(cls, v):
            if not cls.made:
                cls.made.append(object.__new__(cls))
            u[1] += v
            return cls.made[0]

    c = C(u[1])
    return c.early * c.late * u[0] * u[1] * (Only(x) is Only(u[0])) * u[1]


@case(1.5, [1.0, 2.0])
def operators(x, u):
    class V:
        def __init__(self, a):
            self.a = a

        def __add__(self, other):
            u[0] *= x
            return V(self.a + (other.a if isinstance(other, V) else other))

        __radd__ = __add__

        def __neg__(self):
            return V(-self.a * u[0])

        def __lt__(self, other):
            u[1] += x
            return self.a < other.a

        def __eq__(self, other):
            u[1] *= x
            return self.a == other.a

        def __bool__(self):
            u[0] += x
            return True

        def __abs__(self):
            return self.a * u[1]

        def __float__(self):
            return self.a * x

        def __len__(self):
            return 3

        def __matmul__(self, other):
            return self.a * other.a * u[0]

        def __rtruediv__(self, other):
            return other / self.a

    a, b = V(x), V(u[1])
    c = sum([a, b, 2.0, -a], V(0.0))
    y = abs(c) * (a @ b) * (x / b)
    if c and a < b and a != b and not a == b:
        y *= float(c)
    return y * len(c) * u[0] * u[1] * min(a, b).a


@case(1.5, [1.0, 2.0])
def container_methods(x, u):
    class Store:
        def __init__(self):
            self.d = {}

        def __getitem__(self, key):
            u[0] *= x
            return self.d[key]

        def __setitem__(self, key, value):
            self.d[key] = value * u[0]

        def __contains__(self, key):
            u[1] *= x
            return key in self.d

        def __iter__(self):
            for key in self.d:
                u[0] += 0.1 * x
                yield key

        def keys(self):
            return list(self.d)

        def __missing__(self, key):
            return x

    s = Store()
    s["a"] = x
    s["a"] += u[1]
    s["b"] = s["a"] * x
    y = sum(s[k] for k in s) * ("a" in s) * ("z" not in s)
    d = {**s}
    return y * d["b"] * u[0] * u[1]


@case(1.5, [1.0, 2.0])
def subclass_of_dict(x, u):
    class Default(dict):
        def __missing__(self, key):
            u[0] *= x
            self[key] = u[0]
            return self[key]

    d = Default()
    d["a"] *= x
    return d["a"] * d["b"] * d["a"] * u[0]


@case(1.5, [1.0, 2.0])
def nested_classes(x, u):
    class Outer:
        class Inner:
            def get(self):
                u[0] *= x
                return u[0]

        def make(self):
            return type(self).Inner()

        def name(self):
            return __class__.__name__

    o = Outer()
    return o.make().get() * Outer.Inner().get() * len(o.name()) * u[1]


@case(1.5, [1.0, 2.0])
def made_by_type(x, u):
    def get(self):
        u[0] *= self.v
        return u[0] * x

    C = type("C", (), {"get": get, "v": 2})
    c = C()
    c.v = u[1]
    return c.get() * C().get() * u[0]


@case(1.5, [1.0, 2.0])
def abstract(x, u):
    import abc

    class A(abc.ABC):
        @abc.abstractmethod
        def get(self): ...

        def twice(self):
            u[0] *= self.get()
            return self.get() * u[0]

    class B(A):
        def get(self):
            u[1] += x
            return u[1]

    return B().twice() * u[0]
