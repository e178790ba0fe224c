"""How instances are made: what a class, its metaclass and its bases in C do when the class is called."""

import collections
import dataclasses
import functools
import typing

from tests.programs.language.cases import Cases

case = Cases()


class Made(list):
    def __new__(cls, *args):
        return super().__new__(cls)


class MadeDict(dict):
    def __new__(cls, *args, **named):
        return super().__new__(cls)


class MadeSet(set):
    def __new__(cls, *args):
        return super().__new__(cls)


class MadeDefaults(collections.defaultdict):
    def __new__(cls, *args):
        return super().__new__(cls)


class MadeOrder(collections.OrderedDict):
    def __new__(cls, *args):
        return super().__new__(cls)


@case(1.3)
def containers_with_a_new_of_their_own(x):
    lists = MadeDefaults(list)
    lists["a"].append(x)
    return x * sum(Made([x, x])) * MadeDict(a=x)["a"] * len(MadeSet([1, 2])) * lists["a"][0] + (
        MadeOrder([("a", x)])["a"] * x
    )


class InitOfList(list):
    def __new__(cls, *args):
        new = super().__new__(cls)
        new.count = len(args)
        return new

    __init__ = list.__init__


@case(1.3)
def the_init_of_a_list_by_name(x):
    made = InitOfList([x, x])
    return sum(made) * made.count * x


class Partial:
    def _init(self, factor, x):
        self.value = factor * x

    __init__ = functools.partialmethod(_init, 3)


class PartialWithNew(Partial):
    def __new__(cls, x):
        return object.__new__(cls)


class Dispatched:
    def __new__(cls, x):
        return object.__new__(cls)

    @functools.singledispatchmethod
    def __init__(self, x):
        self.value = x

    @__init__.register
    def _(self, x: float):
        self.value = 2 * x


class Gives:
    def __get__(self, obj, cls):
        def init(x):
            obj.value = x * x

        return init


class ByDescriptor:
    __init__ = Gives()


class Counts:
    def __init__(self):
        self.count = 0

    def __call__(self, *args):
        self.count += len(args)


class ByCallable:
    __init__ = Counts()


class Seen:
    calls: typing.ClassVar[list] = []

    @staticmethod
    def __init__(x):
        Seen.calls.append(1)


class SeenClass:
    calls: typing.ClassVar[list] = []

    @classmethod
    def __init__(cls, x):
        cls.calls.append(1)


@case(1.3)
def an_init_that_is_no_function(x):
    value = Partial(x).value * PartialWithNew(x).value * Dispatched(x).value * ByDescriptor(x).value
    before = len(Seen.calls), len(SeenClass.calls), vars(ByCallable)["__init__"].count
    ByCallable(x), Seen(x), SeenClass(x)
    after = len(Seen.calls), len(SeenClass.calls), vars(ByCallable)["__init__"].count
    return value * (sum(after) - sum(before))


class Base:
    def __new__(cls, x):
        return object.__new__(Derived if cls is Base else cls)

    def __init__(self, x):
        self.value = x


class Derived(Base):
    def __init__(self, x):
        self.value = 5 * x


class Other:
    def __new__(cls, x):
        made = Derived(x)
        made.value *= x
        return made

    def __init__(self, x):
        raise AssertionError("of another class than what was made")


@case(1.3)
def a_new_that_makes_something_else(x):
    return Base(x).value * Other(x).value


class NewByClassmethod:
    @classmethod
    def __new__(cls, same, x):
        made = object.__new__(same)
        made.value = x * x
        return made


class Doubling(type):
    def __call__(cls, x, *rest):
        made = super().__call__(x, *rest)
        made.value *= 2
        return made


class Doubled(metaclass=Doubling):
    def __init__(self, x):
        self.value = x * x


class Scaling(type):
    def _call(cls, factor, x):
        made = cls.__new__(cls)
        made.value = factor * x
        return made

    __call__ = functools.partialmethod(_call, 4)


class Scaled(metaclass=Scaling):
    pass


@case(1.3)
def metaclasses_and_a_new_that_is_no_function(x):
    return NewByClassmethod(x).value * Doubled(x).value * Scaled(x).value


class Pair(typing.NamedTuple):
    a: float
    b: float = 2.0


class Twice(Pair):
    def __new__(cls, a):
        return super().__new__(cls, a * 2, a)

    def __init__(self, a):
        MADE.append(1)


MADE: list = []


class Numbers(tuple):
    def __new__(cls, *numbers):
        return super().__new__(cls, numbers)

    def __init__(self, *numbers):
        self.count = len(self)


@case(1.3)
def subclasses_of_tuples(x):
    before = len(MADE)
    pair, numbers = Twice(x), Numbers(x, 2 * x)
    return pair.a * pair.b * numbers[1] * numbers.count * (len(MADE) - before)


@dataclasses.dataclass(frozen=True)
class Frozen:
    a: float

    def __new__(cls, a):
        MADE.append(1)
        return object.__new__(cls)


@dataclasses.dataclass(frozen=True)
class Filled:
    a: float
    log: list = dataclasses.field(default_factory=lambda: MADE.append(1) or [1.0])


@case(1.3)
def frozen_dataclasses(x):
    before = len(MADE)
    return Frozen(x).a * Filled(x).a * Filled(x).log[0] * (len(MADE) - before)


class Failing(Exception):
    def __new__(cls, *args):
        new = super().__new__(cls, *args)
        new.first = args[0]
        return new

    def __init__(self, x):
        super().__init__(x)
        self.square = x * x


@case(1.3)
def exceptions(x):
    try:
        raise Failing(x)
    except Failing as error:
        return error.first * error.square * error.args[0]


class Empty:
    pass


@case(1.3)
def what_cannot_be_made(x):
    words = ""
    for make in (lambda: Empty(x), lambda: Partial(), lambda: object.__new__(Empty, x)):
        try:
            make()
        except TypeError as error:
            words += str(error)
    return x * len(words)


class Answers:
    """Special methods that are no functions."""

    def _set(self, factor, name, value):
        object.__setattr__(self, name, value * factor)

    def _times(self, factor, y):
        return self.value * factor * y

    __setattr__ = functools.partialmethod(_set, 2)
    __call__ = functools.partialmethod(_times, 3)
    __add__ = functools.partialmethod(_times, 5)
    __getitem__ = staticmethod(lambda key: key * 2)
    __len__ = staticmethod(lambda: 3)
    __contains__ = functools.partialmethod(lambda self, known, y: y == known, 4)
    __bool__ = classmethod(lambda cls: False)
    __enter__ = staticmethod(lambda: 4.0)
    __exit__ = staticmethod(lambda *error: None)
    __iter__ = functools.partialmethod(lambda self, other: iter([self.value, other]), 2.0)
    __float__ = staticmethod(lambda: 4.0)
    __neg__ = property(lambda self: lambda: self.value * 7)
    __eq__ = functools.partialmethod(lambda self, known, other: known == other, 3)
    __hash__ = staticmethod(lambda: 3)


@case(1.3)
def special_methods_that_are_no_functions(x):
    a = Answers()
    a.value = x
    with a as given:
        value = given * a(x) * (a + x) * a[x] * len(a) * (4 in a) * (1 if a else 2)
    return value * sum(a) * float(a) * (-a) * (a == 3) * hash(a)


class Asked:
    def __init__(self, x):
        self.x = x

    @property
    def fails(self):
        raise AttributeError("fails")

    def __getattr__(self, name):
        return self.x * len(name)


class AskedTwice(Asked):
    def __getattribute__(self, name):
        if name == "missing":
            raise AttributeError
        try:
            return object.__getattribute__(self, name)
        except AttributeError:
            if name == "known":
                return 7.0
            raise


class Deleted:
    __slots__ = ("_v",)

    def __init__(self, x):
        self._v = x

    @property
    def v(self):
        return self._v

    @v.setter
    def v(self, value):
        self._v = value * 2

    @v.deleter
    def v(self):
        del self._v

    def __getattr__(self, name):
        if name == "_v":
            return 3.0
        raise AttributeError(name)


@case(1.3)
def attributes_that_cannot_be_found(x):
    value = Asked(x).fails * Asked(x).other
    twice = AskedTwice(x)
    value *= twice.fails * twice.known * twice.missing
    slotted = Deleted(x)
    slotted.v = x
    value *= slotted.v
    del slotted.v
    return value * slotted.v


class Generic:
    def __init__(self, x):
        self.x = x

    def __eq__(self, other):
        return self.x == other.x

    __hash__ = None

    def __lt__(self, other):
        return self.x < other.x

    def _scaled(self, factor, y):
        return self.x * factor * y

    doubled = functools.partialmethod(_scaled, 2)

    @functools.cached_property
    def square(self):
        return self.x**2


Generic = functools.total_ordering(Generic)


@case(1.3)
def total_ordering_beside_descriptors(x):
    a, b = Generic(x), Generic(2 * x)
    return (a >= b) * 1.0 + a.doubled(x) + b.square + b.square + (a <= b) * x
