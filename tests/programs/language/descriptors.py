"""What is asked of methods, and of descriptors by their own names."""

import functools
import inspect
import operator
import types

from tests.programs.language.cases import Cases

case = Cases()


class Slotted:
    """Has slots, and methods of all kinds."""

    __slots__ = ("__dict__", "_Slotted__hidden", "x")

    def __init__(self, x):
        self.x, self.__hidden = x, x * x

    def scaled(self, by: float = 2.0, *, more=3.0):
        """Scale."""
        return self.x * by * more

    @classmethod
    def made(cls, x):
        return cls(x)

    @staticmethod
    def given(x):
        return x

    @property
    def square(self):
        return self.x * self.x

    @square.setter
    def square(self, value):
        self.x = value / self.x

    @square.deleter
    def square(self):
        self.x = self.x * 3.0


class Plain:
    """Has a dictionary alone."""

    @property
    def square(self):
        return self.y * self.y


@case(1.5, [1.0, 2.0])
def what_a_method_says_of_itself(x, u):
    method = Slotted(x).scaled
    u[0] *= x * len(method.__name__) * len(method.__qualname__) * len(method.__module__) * len(method.__doc__)
    u[1] *= method.__defaults__[0] * method.__kwdefaults__["more"] * len(method.__annotations__)
    u[1] *= method.__code__.co_argcount * (method.__globals__ is globals()) * (method.__closure__ is None)
    u[0] *= (method.__class__ is types.MethodType) * (not method.__dict__) * hasattr(
        method, "__wrapped__"
    ) + 1
    method.__self__.x *= u[0]
    return method.__func__(method.__self__) * getattr(method, "none", x) * method()


@case(1.5, [1.0, 2.0])
def a_method_of_a_closure(x, u):
    class Local:
        def method(self):
            u[0] *= x
            return x

    Local.method.seen = [x, u[1]]
    bound = Local().method
    bound.seen[1] *= bound()
    return bound.seen[0] * bound.seen[1] * u[0] * len(bound.__name__)


@case(1.5, [1.0, 2.0])
def what_a_method_in_c_says_of_itself(x, u):
    append, times, get = u.append, x.__mul__, {"a": x}.get
    append.__self__[0] *= x
    append(x * len(append.__name__) * len(append.__qualname__))
    y = times.__self__ * get.__self__["a"] * len(times.__name__) * (append.__module__ is None)
    return y * append.__self__[2] * u[0] * u.__len__.__self__[1] * x.hex.__self__ * len.__self__.abs(x)


@case(1.5, [1.0, 2.0])
def wrapped_methods(x, u):
    box = Slotted(x)

    @functools.wraps(box.scaled)
    def wrapped():
        u[0] *= x
        return box.scaled() * len(wrapped.__name__) * len(wrapped.__doc__)

    updated = functools.update_wrapper(lambda: u[1] * x, u.pop, assigned=("__name__",))
    return wrapped() * updated() * len(updated.__name__) * len(inspect.unwrap(wrapped).__name__)


@case(1.5, [1.0, 2.0])
def equal_methods(x, u):
    a, b = Slotted(x), Slotted(x)
    same = a.scaled == a.scaled and a.scaled != b.scaled and a.scaled != a.made and u.append == u.append
    none = a.scaled == None or a.scaled == 3 or x.__mul__ == 3 or u.append != u.append  # noqa: E711
    u[0] *= x * (2 if same else 3) * (5 if none else 7)
    return u[0] * ([b.scaled, a.scaled].index(a.scaled) + 1) * (a.scaled in [a.scaled])


@case(1.5, [1.0, 2.0])
def methods_that_are_equal_by_what_their_functions_say(x, u):
    class Says:
        def __call__(self, obj):
            return obj.x

        def __eq__(self, other):
            return type(other) is Says

        def __hash__(self):
            return 1

    box = Slotted(x)
    a, b = types.MethodType(Says(), box), types.MethodType(Says(), box)
    return (a == b) * u[0] * a() + (a != b) * u[0]


@case(1.5, [1.0, 2.0])
def slots_by_their_descriptors(x, u):
    box, slot, hidden = Slotted(x), Slotted.x, vars(Slotted)["_Slotted__hidden"]
    slot.__set__(box, slot.__get__(box) * u[0])
    u[1] *= slot.__get__(box, Slotted) * hidden.__get__(box)
    slot.__delete__(box)
    try:
        slot.__get__(box)
    except AttributeError:
        u[0] *= x
    slot.__set__(box, u[0] * x)
    return u[0] * u[1] * box.x * (slot.__get__(None, Slotted) is slot)


@case(1.5, [1.0, 2.0])
def properties_by_their_methods(x, u):
    box, square = Slotted(x), Slotted.square
    u[0] *= square.__get__(box) * square.fget(box)
    square.__set__(box, u[0] * u[1])
    square.__delete__(box)
    return box.x * square.__get__(box, Slotted) * u[0] * (square.__get__(None, Slotted) is square)


@case(1.5, [1.0, 2.0])
def attributes_in_c_by_their_descriptors(x, u):
    box = Plain()
    box.y = u[0] * x
    named = vars(Plain)["__dict__"].__get__(box)
    u[1] *= float.real.__get__(x) * named["y"] * len(type.__dict__["__mro__"].__get__(Slotted))
    list.append.__get__(u)(x)
    return float.__mul__.__get__(x)(u[1]) * u[2] * list.__len__.__get__(u, list)()


@case(1.5, [1.0, 2.0])
def methods_of_classes_by_their_descriptors(x, u):
    box = Slotted(x)
    made, given = vars(Slotted)["made"], vars(Slotted)["given"]
    y = made.__get__(box)(x).x * made.__get__(None, Slotted)(u[0]).x * given.__get__(box)(u[1])
    return y * made.__func__(Slotted, x).x * given.__func__(x) * Slotted.scaled.__get__(box)()


@case(1.5, [1.0, 2.0])
def descriptors_of_other_classes(x, u):
    caught = 0
    for attempt in (
        lambda: Slotted.x.__get__(u),
        lambda: Slotted.x.__set__(u, x),
        lambda: type.__dict__["__mro__"].__get__(u),
        lambda: float.real.__get__(u),
        lambda: list.append.__get__(x),
        lambda: float.__mul__.__get__(u),
    ):
        try:
            attempt()
        except TypeError:
            u[0] *= x
            caught += 1
    return u[0] * x * caught


@case(1.5, [1.0, 2.0])
def looked_at_without_running_anything(x, u):
    found = inspect.getattr_static(u, "append", None) is list.append
    box = Plain()
    box.y = x
    static = inspect.getattr_static(box, "square") is Plain.square
    y = inspect.getattr_static(box, "y")
    return u[0] * x * (found + 1) * (static + 2) * operator.attrgetter("scaled.__self__.x")(Slotted(y))


@case(1.5, [1.0, 2.0])
def numbers_have_no_room_for_attributes(x, u):
    caught = 0
    for name in ("name", "real"):
        for change in (lambda y, n=name: setattr(y, n, u[0]), lambda y, n=name: delattr(y, n)):
            try:
                change(x * 2.0)
            except AttributeError:
                u[0] *= x
                caught += 1
    return u[0] * x * caught


@case(1.5, [1.0, 2.0])
def attributes_of_the_function_of_a_method(x, u):
    def marked(function):
        function.seen = [u[0], x]
        return function

    class Local:
        def method(self):
            return x

        @marked
        def decorated(self):
            return u[1]

    def later(self):
        return x

    later.seen = [u[1]]
    Local.later = later
    Local.method.weight = x * x
    y = Local().method.weight * Local().method.__func__.weight * Local().decorated.seen[1]
    Local().later.seen.append(x * y)
    Local().decorated.__func__.seen[0] *= y
    return y * Local.decorated.seen[0] * later.seen[1] * Local().decorated()


class Coordinates:
    __slots__ = ("x", "__weakref__")

    def __init__(self, x):
        self.x = x


class Kept(Coordinates):
    """Has a dictionary beside the slots of its base, as what is kept in it needs."""

    asked = 0

    def __init__(self, x, y):
        super().__init__(x)
        self.y = y

    @functools.cached_property
    def product(self):
        self.asked += 1
        return self.x * self.y

    @functools.cached_property
    def both(self):
        return [self.product, self.x]


class Unnamed(Coordinates):
    pass


Unnamed.product = functools.cached_property(lambda self: self.x)


@case(1.5, [1.0, 2.0])
def properties_that_are_kept_beside_slots(x, u):
    kept = Kept(u[0] * x, x)
    first = kept.product * kept.product
    kept.both[0] *= u[1]
    kept.x = x * 3.0
    second = kept.product * kept.both[0]
    del kept.product
    third = kept.product
    kept.product = u[1] * third
    u[0] = kept.product * x
    return first + second * third + kept.product * kept.asked + kept.both[1] * u[0]


@case(1.5, [1.0, 2.0])
def a_property_that_was_never_named(x, u):
    try:
        return Unnamed(x).product
    except TypeError as error:
        u[0] *= x
        return u[0] * len(str(error))


class Disguised(float):
    __class__ = int


@case(1.5)
def classes_are_asked_for(x):
    hidden = Disguised(x)
    factor = 2.0 if type(x) is float else 3.0
    factor *= 5.0 if x.__class__ is not float else 7.0
    factor *= 11.0 if hidden.__class__ is int else 13.0
    factor *= 17.0 if type(hidden) is int else 19.0
    return factor * x * x
