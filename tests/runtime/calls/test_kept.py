"""What a library keeps in memory of its own is followed when a value with a derivative comes there, though
its functions are given constants."""

from __future__ import annotations

import importlib
import math
import sys
from collections.abc import Callable, Iterator
from typing import Any
from unittest import mock

import numpy as np
import pytest

import adbc
from adbc.errors import UnsupportedError
from adbc.testing import test_rule as check_rule

SOURCE = """
import functools
import math
import threading
import weakref

import numpy as np

NAMED = {}
ROWS = []
LOCAL = threading.local()
WEAK = weakref.WeakKeyDictionary()
NUMBERS = np.zeros(3)


class Box:
    def __init__(self, value):
        self.value = value


BOX = Box(1.5)


def reset():
    NAMED.clear()
    ROWS.clear()
    Registry.rows.clear()
    NUMBERS[:] = 0.0
    vars(BOX).clear()
    BOX.value = 1.5
    HOOKS.clear()


def keep(name, value):
    NAMED[name] = Box(value)


def put(name, box):
    NAMED[name] = box


def scaled(name, x):
    return NAMED[name].value * x


def total(factor):
    return sum(box.value for box in NAMED.values()) * factor


def add(value):
    ROWS.append(Box(value))


def row(i, x):
    return ROWS[i].value * x


def set_on_box(name, value):
    setattr(BOX, name, Box(value))


def of_box(name, x):
    return getattr(BOX, name).value * x


def value_of_box(factor):
    return BOX.value * factor


def counter():
    held = [1.0]

    def hold(new):
        nonlocal held
        held = new

    def total(factor):
        return held[0] * factor

    return hold, total


def scalar():
    held = 1.0

    def hold(new):
        nonlocal held
        held = new

    def total(factor):
        return held * factor

    return hold, total


HOLD, TOTAL = counter()
HOLD_NUMBER, TOTAL_OF_NUMBER = scalar()


SETTINGS = {"scale": 1, "name": "a"}
COUNTS = [1, 2]


def by_setting(factor):
    return SETTINGS["scale"] * factor


def by_count(factor):
    return COUNTS[0] * factor


def by_number_of_box(factor):
    return BOX.count * factor


def by_hooks(factor):
    return TOTAL(factor)


def by_hook_of_number(factor):
    return TOTAL_OF_NUMBER(factor)


@functools.lru_cache
def remembered(factor):
    return BOX.value * factor


class Registry:
    rows = []

    @classmethod
    def put(cls, x):
        cls.rows.append(Box(x))

    @classmethod
    def total(cls, factor):
        return sum(box.value for box in cls.rows) * factor


class Single:
    made = None

    def __new__(cls):
        if cls.made is None:
            cls.made = super().__new__(cls)
        return cls.made


def set_single(x):
    Single().x = x


def get_single(factor):
    return Single().x * factor


def cached(key, value=None, store={}):
    if value is not None:
        store[key] = value
    return store[key]


def set_local(x):
    LOCAL.x = x


def get_local(factor):
    return LOCAL.x * factor


def set_weakly(key, x):
    WEAK[key] = x


def get_weakly(key):
    return WEAK[key]


def set_number(x):
    NUMBERS[0] = x


def sum_of_numbers(factor):
    return NUMBERS.sum() * factor


def in_own_function():
    def inside():
        return NAMED["z"].value

    return inside()


def rebind(function):
    math.sin = _square if function is None else function


def _square(x):
    return x * x


HOOKS = []
CONSTANT = 2.5


class Model:
    scale = 2.0
    weights = None

    def go(self, x):
        return self.scale * x


def of_constant(x):
    return CONSTANT * x


def go(x):
    return Model().go(x)


PARENTS = {}


class Node:
    def __init__(self, value):
        self.value = value
        PARENTS[id(self)] = weakref.ref(self, lambda _, pop=PARENTS.pop, k=id(self): pop(k, None))


def of_node(x):
    return Node(x).value * x


def register(x):
    HOOKS.append(x)


def call_hooks(x):
    return sum(hook(x) for hook in HOOKS)


def sum_of_values(factor):
    return sum(x.value for x in HOOKS) * factor


def sum_of_elements(factor):
    return float(sum(np.sum(x) for x in HOOKS)) * factor


def first_element():
    return HOOKS[0][0]
"""

KEY: Any = None
BOX: Any = None
OTHER: Any = None
HOLDER: Any = None
ROWS: Any = None
library: Any = None


@pytest.fixture(scope="module", autouse=True)
def installed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    global KEY, BOX, ROWS, OTHER, HOLDER, library
    folder = tmp_path_factory.mktemp("installed") / "site-packages"
    folder.mkdir()
    (folder / "keeping_things.py").write_text(SOURCE)
    sys.path.insert(0, str(folder))
    try:
        library = importlib.import_module("keeping_things")
        KEY, BOX, ROWS = library.Box(0), library.BOX, library.ROWS
        OTHER, HOLDER = library.NAMED, [library.ROWS]
        yield
    finally:
        sys.path.remove(str(folder))
        sys.modules.pop("keeping_things", None)


def summed(x: Any) -> Any:
    library.keep("z", x)
    return library.total(2.0)


def replaced(x: Any) -> Any:
    library.keep("z", x)
    y = library.scaled("z", x)
    library.put("z", library.Box(3.0))
    return y * library.scaled("z", x) + library.total(x)


def constants_added(x: Any) -> Any:
    library.put("a", library.Box(2.0))
    y = library.scaled("a", x)
    library.put("b", library.Box(3.0))
    return y + library.scaled("b", x) + library.total(x)


def rows(x: Any) -> Any:
    library.add(2.0)
    y = library.row(0, x)
    library.add(3.0)
    return y * library.row(1, x)


def attributes(x: Any) -> Any:
    library.set_on_box("p", 2.0)
    y = library.of_box("p", x)
    library.set_on_box("q", 3.0)
    return y * library.of_box("q", x)


def by_module(x: Any) -> Any:
    library.BOX.value = x
    return library.value_of_box(2.0) * library.BOX.value


def by_own_name(x: Any) -> Any:
    BOX.value = x
    return library.value_of_box(2.0)


def by_own_list(x: Any) -> Any:
    ROWS.append(library.Box(x))
    return library.row(-1, 2.0)


def by_class(x: Any) -> Any:
    library.Registry.put(x)
    return library.Registry.total(2.0)


def by_single(x: Any) -> Any:
    library.set_single(x)
    return library.get_single(2.0)


def by_default(x: Any) -> Any:
    library.cached("k", x)
    return library.cached("k") * x


def by_thread(x: Any) -> Any:
    library.set_local(x)
    return library.get_local(2.0)


def weakly(x: Any) -> Any:
    library.set_weakly(KEY, x)
    return library.get_weakly(KEY)


def by_array(x: Any) -> Any:
    library.set_number(x)
    return library.sum_of_numbers(2.0)


def by_cached_function(x: Any) -> Any:
    library.BOX.value = x
    library.remembered.cache_clear()
    y = library.remembered(3.0)
    library.remembered.cache_clear()
    return y


def by_another_name(x: Any) -> Any:
    OTHER["z"] = library.Box(x)
    return library.in_own_function() * library.scaled("z", 2.0)


def held_by_the_user(x: Any) -> Any:
    HOLDER[0].append(library.Box(x))
    return library.row(-1, 2.0)


def by_a_function(x: Any) -> Any:
    library.register(lambda y: y * x)
    return library.call_hooks(2.0)


PROGRAMS = [
    summed, replaced, constants_added, rows, attributes, by_module, by_own_name, by_own_list, by_class,
    by_single, by_default, by_thread, weakly, by_array, by_cached_function, by_another_name, held_by_the_user,
    by_a_function,
]  # fmt: skip


@pytest.mark.parametrize("speculation", ["learn", "dynamic"])
@pytest.mark.parametrize("f", PROGRAMS)
def test_what_a_library_keeps_has_its_derivative(f: Callable[[Any], Any], speculation: str) -> None:
    def value(x: float) -> float:
        library.reset()
        return float(f(x))

    x = 1.5
    expected, slope = value(x), (value(x + 1e-6) - value(x - 1e-6)) / 2e-6
    value(x)  # the numbers that are kept are those that will be put there again
    with adbc.use(adbc.Config(speculation=speculation)):
        for _ in range(2):
            library.reset()
            found, tangent = adbc.jvp(f, (x,), (1.0,))
            assert found == expected
            assert tangent == pytest.approx(slope, rel=1e-8)
            library.reset()
            found, gradient = adbc.value_and_grad(f)(x)
            assert found == expected
            assert gradient == pytest.approx(slope, rel=1e-8)


def test_numbers_that_are_kept_stay_as_they_were() -> None:
    library.reset()
    library.NAMED.update({"negative zero": -0.0, "huge": 1e308, "nan": float("nan")})

    def f(x: float) -> float:
        return library.scaled("z", x) if library.keep("z", x) is None else x

    assert adbc.grad(f)(2.0) == 4.0
    library.NAMED.pop("z", None)
    assert repr(library.NAMED) == "{'negative zero': -0.0, 'huge': 1e+308, 'nan': nan}"


def test_an_init_without_bases_is_called_on_an_object_with_a_derivative() -> None:
    class Last:
        def __init__(self, value: Any) -> None:
            self.value = value
            super().__init__()

    check_rule(lambda x: Last(x).value * x, 1.5)


@pytest.mark.parametrize("program", [summed, by_module, by_own_name, by_single, by_default, by_thread])
def test_numbers_of_numpy(program: Callable[[Any], Any]) -> None:
    x = np.float64(1.5)
    library.reset()
    program(x)  # so that this very object stands there before
    slope = {by_module: 4.0 * x, by_default: 2.0 * x}.get(program, 2.0)
    for _ in range(3):
        assert adbc.grad(program)(x) == pytest.approx(slope)
        assert adbc.jvp(program, (x,), (1.0,))[1] == pytest.approx(slope)


def test_constants_of_numpy_that_a_library_keeps() -> None:
    """Numbers of NumPy's that stand in the tables of a library do not count as what depends on the input."""
    from adbc.runtime.state.kept import Kept
    from adbc.tangents import fresh_shadow

    kept = Kept(lambda shadow: True, False)
    box = library.Box(np.float64(0.5))
    kept.note(box, fresh_shadow(box), set)
    assert kept.is_constant()
    box.value = np.float64(0.5)
    assert not kept.is_constant()


class Own:
    def __init__(self) -> None:
        self.value = 2.0


def number_of(o: Any) -> Any:
    o.value *= 3.0
    return library.sum_of_values(2.0)


def elements_of(o: Any) -> Any:
    o[0] = o[0] * 3.0
    return library.sum_of_elements(2.0)


def as_it_came(o: Any) -> Any:
    return library.first_element() * o[0]


def by_a_hook(o: Any) -> Any:
    library.register(lambda x: x * o[0])
    o[0] = o[0] * 3.0
    return library.call_hooks(2.0)


@pytest.mark.parametrize(
    ("f", "make", "slope"),
    [
        (number_of, Own, 6.0),
        (number_of, lambda: library.Box(2.0), 6.0),
        (elements_of, lambda: [2.0], 6.0),
        (elements_of, lambda: np.array([2.0]), 6.0),
        (elements_of, lambda: np.array([2.0, 1.0])[:1], 6.0),
        (as_it_came, lambda: [2.0], 4.0),
        (as_it_came, lambda: np.array([2.0]), 4.0),
        (by_a_hook, lambda: [2.0], 6.0),
    ],
)
def test_an_argument_that_a_library_keeps_has_its_derivative(f: Any, make: Any, slope: float) -> None:
    """What was registered before the call is found from the names in the code of the library."""
    for _ in range(2):
        library.reset()
        o = make()
        if f is not by_a_hook:
            library.register(o)
        value, gradient = adbc.value_and_grad(f)(o)
        if f is by_a_hook:
            assert value == f(make())
        assert (gradient.value if hasattr(o, "value") else gradient[0]) == slope
        tangent = adbc.zero_tangent(o)
        if hasattr(o, "value"):
            tangent.value = 1.0
        else:
            tangent[0] = 1.0
        assert adbc.jvp(f, (o,), (tangent,))[1] == slope


def set_a_setting(x: Any) -> Any:
    total = library.by_setting(2.0)
    library.SETTINGS["scale"] = x
    total += library.by_setting(3.0)
    library.SETTINGS["scale"] = 1
    return total


def set_a_count(x: Any) -> Any:
    total = library.by_count(2.0)
    library.COUNTS[0] = x
    total += library.by_count(3.0)
    library.COUNTS[0] = 1
    return total


def set_a_field(x: Any) -> Any:
    library.BOX.count = 1
    total = library.by_number_of_box(2.0)
    library.BOX.count = x
    total += library.by_number_of_box(3.0)
    library.BOX.count = 1
    return total


@pytest.mark.parametrize("f", [set_a_setting, set_a_count, set_a_field])
@pytest.mark.parametrize("x", [1.0, 2.0])
def test_a_number_in_place_of_an_equal_whole_number(f: Callable[[Any], Any], x: float) -> None:
    library.reset()
    for _ in range(3):
        assert adbc.grad(f)(x) == 3.0
        assert adbc.jvp(f, (x,), (1.0,))[1] == 3.0


def test_what_is_met_before_a_library_reads_it_is_not_taken_for_what_was_there() -> None:
    def f(box: Any) -> Any:
        box.value = box.value * 2.0
        return library.value_of_box(3.0) + library.value_of_box(4.0) * library.total(1.0)

    library.reset()
    library.put("one", library.Box(1.0))
    assert adbc.grad(f)(library.BOX).value == 14.0


def test_a_library_may_count_its_objects_by_weak_references() -> None:
    """What takes a dead reference out of a table of references is not noticed: who reads there asks them."""
    check_rule(lambda x: library.of_node(x), 1.5)


def patched(x: Any) -> Any:
    with mock.patch.object(library, "CONSTANT", 5.0):
        y = library.of_constant(2.0) * x
    return y + library.of_constant(2.0) * x


def set_on_the_class(x: Any) -> Any:
    settings = [3.0, x]
    with mock.patch.object(library.Model, "scale", settings[0]):
        return library.go(2.0) * settings[1] + library.Model().go(x)


def weights_of_the_class(x: Any) -> Any:
    with mock.patch.object(library.Model, "weights", [1.0, 2.0]):
        library.Model.weights[0] = x * x
        return sum(library.Model.weights) * x


def array_of_the_class(x: Any) -> Any:
    with mock.patch.object(library.Model, "weights", np.array([1.0, 2.0]) * 3.0):
        return library.Model.weights.sum() * x


@pytest.mark.parametrize("speculation", ["learn", "dynamic"])
@pytest.mark.parametrize("f", [patched, set_on_the_class, weights_of_the_class, array_of_the_class])
def test_constants_may_be_set_on_modules_and_classes(f: Callable[[Any], Any], speculation: str) -> None:
    """In reverse mode it is known when cotangents have gone back that a number is one."""
    slope = (f(1.5 + 1e-6) - f(1.5 - 1e-6)) / 2e-6
    assert library.Model.weights is None
    with adbc.use(adbc.Config(speculation=speculation)):
        assert adbc.grad(f)(1.5) == pytest.approx(slope, rel=1e-8)
        assert adbc.jvp(f, (1.5,), (1.0,))[1] == pytest.approx(slope, rel=1e-8)
    assert (library.CONSTANT, library.Model.scale) == (2.5, 2.0)
    assert library.Model.weights is None


@pytest.mark.parametrize("run", [lambda f: adbc.grad(f)(1.5), lambda f: adbc.jvp(f, (1.5,), (1.0,))])
@pytest.mark.parametrize("value", [lambda x: [3.0, x][1], lambda x: [1.0, x], lambda x: np.ones(2) * x])
def test_what_depends_on_the_input_may_not_be_set_there(run: Any, value: Any) -> None:
    def f(x: Any) -> Any:
        with mock.patch.object(library.Model, "weights", value(x)):
            return library.go(2.0) * x

    with pytest.raises(UnsupportedError, match="attribute 'weights' of class Model"):
        run(f)
    assert library.Model.weights is None


def test_a_library_that_binds_a_function_anew_is_refused() -> None:
    def f(x: Any) -> Any:
        library.rebind(None)
        return math.sin(x)

    sine = math.sin
    try:
        for run in (lambda: adbc.grad(f)(1.3), lambda: adbc.jvp(f, (1.3,), (1.0,))):
            with pytest.raises(UnsupportedError, match=r"is bound to something else.* (in|by) [\w.]*rebind"):
                run()
            assert math.sin is sine
    finally:
        library.rebind(sine)


@pytest.mark.parametrize("of_number", [False, True])
def test_what_functions_have_captured_may_be_replaced(of_number: bool) -> None:
    """A cell that code of a library finds by names is looked into for what was put there in the call."""

    def f(x: Any) -> Any:
        hold = library.HOLD_NUMBER if of_number else library.HOLD
        total = library.by_hook_of_number if of_number else library.by_hooks
        before = total(2.0)
        hold(x * x if of_number else [x * x])
        y = total(2.0) + before
        hold(1.0 if of_number else [1.0])
        return y

    for _ in range(3):
        assert adbc.grad(f)(1.5) == 6.0
        assert adbc.jvp(f, (1.5,), (1.0,))[1] == 6.0
