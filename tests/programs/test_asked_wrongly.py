"""What Python refuses is refused with the same exception in differentiated code, and not done."""

import itertools
import operator

import pytest

import adbc


class NoIterator:
    def __iter__(self):
        return self


class Irreversible:
    __reversed__ = None

    def __len__(self):
        return 2

    def __getitem__(self, i):
        return i


class Unhashable:
    __hash__ = None


class Uncountable:
    __iter__ = None

    def __getitem__(self, i):
        return i


class Liar:
    def __complex__(self):
        return "a"

    def __int__(self):
        return "b"

    def __bytes__(self):
        return 3

    def __hash__(self):
        return "h"

    def __float__(self):
        return None


ASKED = {
    "iter": lambda: iter(NoIterator()),
    "display": lambda: [*NoIterator()],
    "enumerate": lambda: enumerate(NoIterator()),
    "zip": lambda: zip([1], NoIterator()),
    "map": lambda: map(len, NoIterator()),
    "filter": lambda: filter(None, NoIterator()),
    "accumulate": lambda: itertools.accumulate(NoIterator()),
    "cycle": lambda: itertools.cycle(NoIterator()),
    "islice": lambda: itertools.islice(NoIterator(), 3),
    "tee": lambda: itertools.tee(NoIterator()),
    "starmap": lambda: itertools.starmap(pow, NoIterator()),
    "groupby": lambda: itertools.groupby(NoIterator()),
    "pairwise": lambda: itertools.pairwise(NoIterator()),
    "expression": lambda: sum(1 for _ in NoIterator()),
    "sorted": lambda: sorted(NoIterator()),
    "reversed": lambda: reversed(Irreversible()),
    "unhashable": lambda: hash(Unhashable()),
    "unhashable key": lambda: {Unhashable(): 1},
    "uncountable": lambda: iter(Uncountable()),
    "complex": lambda: complex(Liar()),
    "int": lambda: int(Liar()),
    "bytes": lambda: bytes(Liar()),
    "hash": lambda: hash(Liar()),
    "float": lambda: float(Liar()),
    "count": lambda: itertools.count("a"),
    "count by": lambda: itertools.count(1, "b"),
    "repeat": lambda: itertools.repeat(None, "a"),
    "enumerate from": lambda: enumerate("abc", "a"),
}
TEXT_DIFFERS = {"count", "count by", "float"}


@pytest.mark.parametrize("name", ASKED)
@pytest.mark.parametrize("mode", ["reverse", "forward"])
def test_the_same_exception(name, mode):
    asked = ASKED[name]

    def f(x):
        try:
            asked()
        except TypeError as e:
            said.append(str(e))
            return x * x
        return x

    said = []
    f(1.5)
    (plain,) = said
    for _ in range(4):
        said.clear()
        if mode == "reverse":
            found = adbc.value_and_grad(f)(1.5)
        else:
            found = adbc.jvp(f, (1.5,), (1.0,))
            assert said == [plain]
        assert found == (2.25, 3.0)


def by_functions(x):
    space = {}
    exec("total = 0\ndef add(k):\n    global total\n    total += k\nfor i in range(4): add(i)\n", space)
    return space["total"] * x


def by_comprehensions(x):
    space = {}
    exec("x = 1; result = [x := i for i in range(3)]", space)
    return space["x"] * x + len(space["result"])


def counted(x):
    space = {}
    exec("count = 0\ndef tick():\n    global count\n    count += 1\n    return count\n", space)
    tick = space["tick"]
    return tick() * x + tick() * x**2 + space["count"] + len(list(space))


def set_to_a_number(x):
    space = {}
    exec("def keep(y):\n    global kept\n    kept = y * y\n", space)
    space["keep"](x)
    return space["kept"] * x


@pytest.mark.parametrize("f", [by_functions, by_comprehensions, counted, set_to_a_number])
def test_global_statements_in_executed_code(f):
    """The namespace that is handed to `exec` is a dict of the program's: what code there says is global is
    an item of it."""
    slope = (f(1.5 + 1e-6) - f(1.5 - 1e-6)) / 2e-6
    for _ in range(4):
        assert adbc.value_and_grad(f)(1.5) == pytest.approx((f(1.5), slope))
        assert adbc.jvp(f, (1.5,), (1.0,)) == pytest.approx((f(1.5), slope))


# -- functions in C with another number of arguments than they take ------------------------------------------


def caught(call):
    """A function of `x` that goes on where ``call(x)`` raises a `TypeError`."""
    namespace = {"operator": operator}
    exec(
        "def f(x):\n"
        "    y = x * x\n"
        "    try:\n"
        f"        {call}\n"
        "    except TypeError:\n"
        "        return y * x\n"
        "    return x\n",
        namespace,
    )
    return namespace["f"]


MISFITS = [
    "operator.add(x)", "operator.add(x, x, x)", "operator.neg()", "operator.neg(x, x)", "operator.is_(x)",
    "operator.not_()", "operator.getitem([x])", "operator.getitem([x], 0, 1)", "operator.setitem(x)",
    "operator.setitem([x], 0)", "operator.delitem([x])", "operator.mul(*[x])", "operator.lt(*(x,))", "abs()",
    "len()", "getattr(x)",
]  # fmt: skip


@pytest.mark.parametrize("call", MISFITS)
def test_the_program_goes_on_behind_a_call_that_does_not_fit(call):
    f = caught(call)
    for _ in range(4):  # it is interpreted first, and written in the third call
        assert adbc.grad(f)(0.7) == pytest.approx(3 * 0.7**2)
        assert adbc.jvp(f, (0.7,), (1.0,)) == pytest.approx((0.7**3, 3 * 0.7**2))
    assert adbc.hvp(f, (0.7,), (1.0,))[0] == pytest.approx(6 * 0.7)
    assert adbc.grad(adbc.grad(f))(0.7) == pytest.approx(6 * 0.7)
