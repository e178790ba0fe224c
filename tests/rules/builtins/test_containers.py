"""Rows for lists, tuples, dicts, sets and cells: values, derivatives, exact undo, aliasing."""

from __future__ import annotations

import operator
import re
from collections import OrderedDict, defaultdict, namedtuple
from types import CellType
from typing import Any, NamedTuple

import pytest

import adbc
from adbc.errors import ConstWriteError, UnsupportedError
from adbc.ir import intrinsics as i
from adbc.rules.builtins.ordering import permuted, sorted_by, sum_numbers
from adbc.rules.builtins.permutations import put_in_order, sort_by
from adbc.rules.consumers import product_of_reals
from adbc.rules.math import _dist_of, _fsum_of
from adbc.runtime import default_engine
from adbc.tangents import NO_FDATA, NO_TANGENT
from adbc.testing import test_rule as check
from tests.rules.constants import holding
from tests.rules.rows import find

Point = namedtuple("Point", "x y tag")

LISTS = [
    (operator.getitem, [1.0, 2.0, 3.0], 1),
    (operator.getitem, [1.0, 2.0, 3.0], -1),
    (operator.getitem, [1.0, 2], 1),
    (operator.getitem, [[1.0], [2.0]], 0),
    (operator.getitem, [(1.0, [2.0])], 0),
    (operator.getitem, [1.0, 2.0, 3.0], slice(1, None)),
    (operator.getitem, [1.0, 2.0, 3.0], slice(None, None, -2)),
    (operator.getitem, [(1.0, 2), [3.0]], slice(0, 2)),
    (list.__getitem__, [1.0, 2.0], 0),
    (operator.setitem, [1.0, 2.0, 3.0], 1, 5.0),
    (operator.setitem, [1.0, 2.0, 3.0], -1, 5),
    (operator.setitem, [1.0, 2], 1, 2.5),
    (operator.setitem, [1.0, [2.0]], 1, 2.5),
    (operator.setitem, [1.0, [2.0]], 0, [2.5]),
    (operator.setitem, [(1.0, 2.0)], 0, (1.0, [2.5])),
    (operator.setitem, [1.0, 2.0, 3.0], slice(0, 2), [7.0]),
    (operator.setitem, [1.0, 2.0, 3.0], slice(0, 0), (7.0, 8.0)),
    (operator.setitem, [1.0, 2.0, 3.0], slice(None, None, 2), [7.0, 8.0]),
    (operator.setitem, [1.0, 2.0], slice(1, 2), [[1.0], "a"]),
    (operator.delitem, [1.0, 2.0, 3.0], 0),
    (operator.delitem, [1.0, 2.0, 3.0], slice(None, 2)),
    (operator.delitem, [1.0, 2.0, 3.0], -1),
    (list.append, [1.0], 2.0),
    (list.append, [1.0], [2.0]),
    (list.append, [], 3),
    (list.append, [], (1.0, [2.0])),
    (put_in_order, [1.0, [2.0], (3.0, 4)], (2, 0, 1)),
    (put_in_order, [], ()),
    (sort_by, [1.0, 3.0, 2.0], [1.0, 3.0, 2.0], True),
    (sort_by, [(1.0, 4), (3.0, 2), (3.0, 1)], [4, 2, 1], False),
    (sort_by, [[1.0], 3.0, (2.0, [1.0])], [4, 2, 1], False),
    (list.extend, [1.0], [2.0, [3.0]]),
    (list.extend, [1.0], (2.0, 3)),
    (list.extend, [1.0], range(2)),
    (list.extend, [1.0], {"a": 1.0}),
    (operator.iadd, [1.0], [2.0]),
    (operator.iadd, [1.0], (2.0,)),
    (list.insert, [1.0, 2.0], 1, 3.0),
    (list.insert, [1.0, 2.0], -1, [3.0]),
    (list.insert, [1.0, 2.0], 100, 3.0),
    (list.insert, [1.0, 2.0], -100, 3.0),
    (list.pop, [1.0, 2.0]),
    (list.pop, [1.0, 2.0], 0),
    (list.pop, [1.0, [2.0], 3.0], -2),
    (list.pop, [(1.0, [2.0])]),
    (list.clear, [1.0, [2.0]]),
    (list.reverse, [1.0, [2.0], 3.0]),
    (operator.imul, [1.0, [2.0]], 3),
    (operator.imul, [1.0], 0),
    (operator.add, [1.0], [2.0, [3.0]]),
    (operator.mul, [1.0, (2.0, 1)], 2),
    (operator.mul, 2, [1.0, 2.0]),
    (operator.mul, [1.0], 0),
    (list.copy, [1.0, [2.0]]),
    (list, [1.0, [2.0]]),
    (list, (1.0, 2.0)),
    (list, range(3)),
    (list,),
    (list.index, [1, 2], 2),
    (list.count, [1.0, 2.0], 2.0),
    (i._list_append_, [1.0], 2.0),
    (i._list_extend_, [1.0], (2.0,)),
    (i._list_to_tuple_, [1.0, [2.0], 3]),
    (operator.contains, [1.0], 1.0),
    (operator.eq, [1.0], [1.0]),
]

TUPLES = [
    (operator.getitem, (1.0, [2.0], 3), 0),
    (operator.getitem, (1.0, [2.0], 3), 1),
    (operator.getitem, (1.0, [2.0], 3), -1),
    (operator.getitem, (1.0, (2.0, 5.0), 3), 1),
    (operator.getitem, (1.0, 2.0, 3.0), slice(None, None, -1)),
    (operator.getitem, (1.0, 2, [3.0]), slice(1, 3)),
    (operator.getitem, (1, 2, 3.0), slice(0, 2)),
    (operator.getitem, Point(1.0, [2.0], "a"), 0),
    (operator.getitem, Point(1.0, [2.0], "a"), 1),
    (operator.getitem, Point(1.0, 2.0, "a"), slice(0, 2)),
    (operator.add, (1.0,), (2.0, [3.0])),
    (operator.add, (1,), (2.0, 3)),
    (operator.add, (1, 2), (3,)),
    (operator.iadd, (1.0,), (2.0,)),
    (operator.add, Point(1.0, 2.0, 3), (4.0,)),
    (operator.mul, (1.0, 2.0), 2),
    (operator.mul, 2, (1.0, [2.0])),
    (operator.mul, (1.0, 2), 0),
    (tuple, [1.0, [2.0], 3]),
    (tuple, (1.0, 2)),
    (tuple,),
    (tuple, "ab"),
    (i._unpack_, (1.0, 2.0), 2),
    (i._unpack_, [1.0, [2.0]], 2),
    (i._unpack_, "ab", 2),
    (i._unpack_ex_, (1.0, [2.0], 3, 4.0), 1, 1),
    (i._unpack_ex_, (1.0, 2.0), 1, 1),
    (i._unpack_ex_, ("add", 2.0, (3.0, [4.0])), 1, 0),
    (i._unpack_ex_, [1.0, (2.0, 3), [4.0]], 0, 1),
    (i._unpack_ex_, [1, 2], 0, 0),
    (permuted, [1.0, [2.0], (3.0, 4)], (2, 0, 1)),
    (sorted_by, [1.0, [2.0], (3.0, 4)], [2, 0, 1], False),
    (sorted_by, [1.0, 3.0, 2.0], [1.0, 3.0, 2.0], True),
    (sorted_by, (1.0, 3.0, 2.0), [2, 0, 1], True),
    (i._project_, (1.0, [2.0]), 1),
    (i._check_, 1.5, "x"),
    (i._check_, [1.5], "x"),
    (tuple.index, (1, 2), 2),
    (operator.lt, (1.0, 2.0), (1.0, 3.0)),
]

DICTS = [
    (operator.getitem, {"a": 1.0, "b": 2.0}, "a"),
    (operator.getitem, {"a": [1.0]}, "a"),
    (operator.getitem, {1: (1.0, 2)}, 1),
    (operator.setitem, {"a": 1.0}, "a", 2.0),
    (operator.setitem, {"a": 1.0}, "b", 2.0),
    (operator.setitem, {"a": 1.0}, "a", [2.0]),
    (operator.setitem, {"a": [1.0]}, "a", 2),
    (operator.delitem, {"a": 1.0, "b": [2.0], "c": 3.0}, "a"),
    (operator.delitem, {"a": 1.0}, "a"),
    (dict.get, {"a": 1.0}, "a"),
    (dict.get, {"a": 1.0}, "b"),
    (dict.get, {"a": 1.0}, "b", 3.0),
    (dict.get, {"a": [1.0]}, "a", 3.0),
    (dict.pop, {"a": 1.0, "b": 2.0}, "a"),
    (dict.pop, {"a": [1.0], "b": 2.0}, "b"),
    (dict.pop, {"a": 1.0}, "b", 3.0),
    (dict.pop, {"a": 1.0}, "b", [3.0]),
    (dict.update, {"a": 1.0, "b": 2.0}, {"c": 3.0, "a": [4.0]}),
    (dict.update, {"a": 1.0}, {}),
    (operator.ior, {"a": 1.0}, {"b": 2.0}),
    (dict.clear, {"a": 1.0, "b": [2.0]}),
    (dict.copy, {"a": 1.0, "b": [2.0]}),
    (i._map_add_, {}, "a", 1.0),
    (i._dict_update_, {"a": 1.0}, {"b": 2.0}),
    (i._dict_merge_, {"a": 1.0}, {"b": [2.0]}, print),
    (operator.setitem, defaultdict(list, a=[1.0]), "b", [2.0]),
    (operator.delitem, OrderedDict(a=1.0, b=2.0), "a"),
    (operator.getitem, OrderedDict(a=1.0, b=2.0), "a"),
    (operator.contains, {"a": 1.0}, "a"),
]

OTHERS = [
    (i._new_, list, 1.0, [2.0], 3),
    (i._new_, list),
    (i._new_, tuple, 1.0, [2.0], 3),
    (i._new_, tuple, 1, 2),
    (i._new_, dict, "a", 1.0, "b", [2.0]),
    (i._new_, dict, "a", 1.0, "a", 2.0),
    (i._new_, set, 1, 2),
    (i._new_, slice, 1, 2),
    (sum_numbers, [1.0, 2.0, 3], 0),
    (sum_numbers, (1.0, 2.0), 0.5),
    (sum_numbers, [1, 2], 0),
    (sum_numbers, [1j, 2.0], 0),
    (product_of_reals, [2.0, 3.0, 4], 1),
    (product_of_reals, [2.0, 0.0, 4.0], 1.5),
    (product_of_reals, [0.0, 0.0], 1),
    (_fsum_of, [1.0, 2, 3.0]),
    (_fsum_of, (1.0, 2.0)),
    (_dist_of, [1.0, 2.0], [3.0, 5]),
    (_dist_of, (1.0, 2.0), [3.0, 5.0]),
    (i._cell_new_, 1.5),
    (i._cell_new_,),
    (i._cell_new_, [1.5]),
    (i._cell_get_, CellType(1.5), "x", True),
    (i._cell_get_, CellType([1.5]), "x", True),
    (set, [1, 2]),
    (set.union, {1}, {2}),
    (operator.and_, {1, 2}, {2}),
    (set.copy, {1}),
]


def name(case: tuple) -> str:
    """The call as text; a cell's own text would have its address in it, which no two processes share."""
    return re.sub(r" at 0x[0-9a-f]+", "", f"{case[0].__name__}{case[1:]}")


@pytest.mark.parametrize("case", [*LISTS, *TUPLES, *DICTS, *OTHERS], ids=name)
def test_every_row_of_a_container_is_right(case: tuple) -> None:
    check(*case)


@pytest.mark.parametrize(
    "case",
    [
        case
        for case in [*LISTS, *DICTS]
        if case[0] in (operator.setitem, list.append, list.extend, list.insert)
    ],
    ids=name,
)
def test_writing_an_inactive_value(case: tuple) -> None:
    function, args = holding(case[0], case[1:], inactive=(len(case) - 2,))
    check(function, *args)


CELLS = [
    (i._cell_set_, CellType(1.0), 2.0),
    (i._cell_set_, CellType(), 2.0),
    (i._cell_set_, CellType(1.0), [2.0]),
    (i._cell_set_, CellType([1.0]), 2),
    (i._cell_del_, CellType(1.0), "x", False),
]


@pytest.mark.parametrize("case", CELLS, ids=lambda case: case[0].__name__)
def test_cells(case: tuple) -> None:
    check(*case)


def test_aliased_arguments() -> None:
    a = [1.0, 2.0]
    for function in (operator.add, operator.iadd, list.extend, list.append):
        check(function, a, a) if function is not list.append else None
    check(operator.setitem, a, slice(0, 1), a)
    inner = [1.0]
    check(operator.setitem, [inner, inner, 1.0], 1, inner)
    check(list.append, [inner], inner)
    check(operator.setitem, {"a": inner, "b": inner}, "a", 1.0)
    check(list.pop, [inner, inner])


def test_sharing_is_kept_in_the_shadow() -> None:
    inner, finner = [1.0], [0.0]
    rule = find(list.append, ([], inner))
    outer, fouter = [inner], [finner]
    rule.rrule((outer, inner), (fouter, finner))
    assert fouter[0] is fouter[1] is finner


def test_an_active_value_in_a_constant_is_refused() -> None:
    writes = [
        (list.append, ([], 1.0)),
        (operator.setitem, ([0.0], 0, 1.0)),
        (operator.setitem, ({}, "a", 1.0)),
        (list.insert, ([], 0, 1.0)),
        (i._cell_set_, (CellType(), 1.0)),
    ]
    for function, args in writes:
        rule = find(function, args)
        shadows = [None] * (len(args) - 1) + [NO_FDATA]
        with pytest.raises(ConstWriteError, match="constant"):
            rule.rrule(args, shadows)
        with pytest.raises(ConstWriteError, match="constant"):
            rule.frule(args, [None] * (len(args) - 1) + [1.0])
        # and the inactive write is allowed, and undone
        _, _, pullback = rule.rrule(args, [None] * len(args))
        pullback(None)
        assert args[0] in ([], [0.0], {}) or isinstance(args[0], CellType)


def test_an_active_number_is_no_key() -> None:
    for function, args, active in [
        (operator.setitem, ({}, 1.5, 1), 1),
        (set.add, (set(), 1.5), 1),
        (set.add, (set(), (1.5, 2)), 1),
        (i._new_, (set, 1.5), 1),
        (i._new_, (dict, 1.5, 2), 1),
        (set, ([1.5],), 0),
    ]:
        shadows = [None] * len(args)
        shadows[active] = [0.0] if args[active] == [1.5] else NO_FDATA
        with pytest.raises(UnsupportedError):
            find(function, args).rrule(args, shadows)


def test_a_lookup_by_an_active_number() -> None:
    """What has no derivative is free; a number would be one that a call before has left there."""
    counts, fcounts = {1.5: 2}, {1.5: NO_TANGENT}
    out, _, pullback = find(operator.getitem, (counts, 1.5)).rrule((counts, 1.5), (fcounts, NO_FDATA))
    assert out == 2
    assert pullback(None) == (None, None)
    memo, fmemo = {1.5: 2.0}, {1.5: 0.0}
    with pytest.raises(UnsupportedError, match="the key under which a value is found"):
        find(operator.getitem, (memo, 1.5)).rrule((memo, 1.5), (fmemo, NO_FDATA))
    out, _, pullback = find(operator.getitem, (memo, 1.5)).rrule((memo, 1.5), (fmemo, None))
    assert out == 2.0 and pullback(3.0) == (None, None)
    assert fmemo == {1.5: 3.0}


def test_sets_are_put_back() -> None:
    for function, args in [
        (set.add, ({1}, 2)),
        (set.add, ({1}, 1)),
        (set.discard, ({1, 2}, 2)),
        (set.remove, ({1, 2}, 2)),
        (set.clear, ({1, 2},)),
        (set.update, ({1}, [2, 3])),
        (set.difference_update, ({1, 2}, {2})),
        (set.pop, ({1, 2},)),
        (operator.ior, ({1}, {2})),
    ]:
        target, before = args[0], set(args[0])
        _, _, pullback = find(function, args).rrule(args, [None] * len(args))
        pullback(None)
        assert target == before


def test_errors_are_those_of_python() -> None:
    for function, args, error in [
        (operator.getitem, ([1.0], 3), IndexError),
        (operator.getitem, ({}, "a"), KeyError),
        (list.pop, ([],), IndexError),
        (operator.delitem, ({}, "a"), KeyError),
        (dict.pop, ({}, "a"), KeyError),
        (operator.setitem, ([], 0, 1.0), IndexError),
        (operator.setitem, ([1.0, 2.0], slice(None, None, 2), [1.0, 2.0]), ValueError),
        (i._unpack_, ([1.0], 2), ValueError),
        (i._dict_merge_, ({"a": 1.0}, {"a": 2.0}, print), TypeError),
        (i._cell_get_, (CellType(), "x", True), NameError),
        (set.remove, (set(), 1), KeyError),
    ]:
        rule = find(function, args)
        with pytest.raises(error):
            rule.frule(args, [None] * len(args))
        with pytest.raises(error):
            rule.rrule(args, [None] * len(args))


def test_a_failed_call_changes_nothing() -> None:
    a, fa = [1.0, 2.0], [0.0, 0.0]
    args = (a, slice(None, None, 2), [1.0, 2.0])
    with pytest.raises(ValueError, match="extended slice"):
        find(operator.setitem, args).rrule(args, (fa, None, [0.0, 0.0]))
    assert (a, fa) == ([1.0, 2.0], [0.0, 0.0])


def test_a_sequence_of_mutations_is_undone_in_order() -> None:
    a, fa = [1.0, [2.0]], [0.0, [0.0]]
    d, fd = {"x": 1.0, "y": 2.0, "z": 3.0}, {"x": 0.0, "y": 0.0, "z": 0.0}
    steps = [
        (list.append, (a, 3.0), (fa, NO_FDATA)),
        (list.reverse, (a,), (fa,)),
        (list.pop, (a, 0), (fa, None)),
        (list.insert, (a, 0, 7), (fa, None, None)),
        (operator.delitem, (a, 0), (fa, None)),
        (list.clear, (a,), (fa,)),
        (operator.delitem, (d, "x"), (fd, None)),
        (operator.setitem, (d, "x", 5.0), (fd, None, NO_FDATA)),
        (dict.pop, (d, "y"), (fd, None)),
        (operator.setitem, (d, "w", [1.0]), (fd, None, [0.0])),
        (dict.clear, (d,), (fd,)),
    ]
    pullbacks = [find(f, args).rrule(args, fargs)[2] for f, args, fargs in steps]
    assert (a, d) == ([], {})
    for pullback in reversed(pullbacks):
        pullback(None)
    assert (a, fa) == ([1.0, [2.0]], [0.0, [0.0]])
    assert list(d.items()) == [("x", 1.0), ("y", 2.0), ("z", 3.0)]
    assert list(fd.items()) == [("x", 0.0), ("y", 0.0), ("z", 0.0)]


class Row(list):
    pass


class Table(dict):
    pass


class Loud(list):
    def __getitem__(self, index: object) -> object:
        return "loud"


SUBCLASSES = [
    (operator.getitem, Row([1.0, 2.0]), 1),
    (operator.setitem, Row([1.0, 2.0]), 1, 5.0),
    (list.append, Row([1.0]), 2.0),
    (list.pop, Row([1.0, [2.0]])),
    (operator.getitem, Table(a=1.0), "a"),
    (operator.setitem, Table(a=1.0), "b", [2.0]),
    (dict.pop, Table(a=1.0, b=2.0), "a"),
    (list.reverse, Row([1.0, 2.0])),
    (list.extend, Row([1.0]), [2.0]),
]


@pytest.mark.parametrize("case", SUBCLASSES, ids=name)
def test_subclasses_that_leave_the_methods_alone(case: tuple) -> None:
    check(*case)


def test_an_operator_has_no_row_where_a_subclass_has_the_method() -> None:
    from adbc.rules import default_table

    assert default_table().find(operator.getitem, (Loud, int)) is None
    assert default_table().find(list.append, (Loud, float)) is not None  # which goes past such methods


def test_update_with_keywords() -> None:
    function, args = holding(dict.update, ({"a": 1.0}, {"b": [2.0]}), keywords={"a": 5.0, "c": 1})
    check(function, *args)


@pytest.mark.parametrize("guess", ["never", "learn", "always"])
def test_the_error_of_an_assignment_is_that_of_an_assignment(guess: str, monkeypatch: Any) -> None:
    def f(x: float, a: list[float]) -> float:
        a[0] += 0.25 * a.pop()
        return x

    engine = default_engine()
    engine.clear()
    monkeypatch.setattr(engine.guesses, "mode", guess)
    for _ in range(2):
        for run in (lambda a: adbc.jvp(f, (0.5, a), (1.0, [1.0])), lambda a: adbc.vjp(f, 0.5, a)):
            with pytest.raises(IndexError, match="list assignment index out of range"):
                run([0.5])
    engine.clear()


class Scaled(NamedTuple):
    """A named tuple whose operators are its own, and change the order of what it holds."""

    x: float
    y: float

    def __mul__(self, n: Any) -> Any:
        return (2.0, self.x, 1.0, 5.0)

    def __rmul__(self, n: Any) -> Any:
        return (self.y * 3.0, self.x, 4.0)

    def __radd__(self, other: Any) -> Any:
        return (7.0, self.y * 3.0, self.x)

    def __iadd__(self, other: Any) -> Any:
        return (2.0, self.x, 1.0)


def of_own_operators(a: float) -> float:
    p = Scaled(a, a * 3.0)
    right, left, behind, there = p * 2, 2 * p, (1.0,) + p, p
    there += (1.0,)
    first = right[-1] * right[0] * a + right[1] * left[0] + left[1]
    return first + behind[1] * behind[2] + there[0] * there[1]


@pytest.mark.parametrize("warm_after", [0, 40])
def test_operators_of_named_tuples_in_python(warm_after: int) -> None:
    with adbc.use(adbc.Config(warm_after=warm_after)):
        check(of_own_operators, 1.5)
