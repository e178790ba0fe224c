"""Which callables are implemented in C, and which are classes of Python."""

from __future__ import annotations

import math
import operator
import types
from typing import Any

from adbc.ir.intrinsics import _foreigncall_, _new_
from adbc.ir.values import Const
from adbc.ir.verify import verify
from adbc.lift import lift
from adbc.passes import NORMAL
from adbc.passes.normal.foreigncall_to_call import is_foreign, is_python_class


class Plain:
    pass


class Slotted:
    __slots__ = ()


class Meta(type):
    def __call__(cls, *args: Any) -> Any:
        return args


class WithMeta(metaclass=Meta):
    pass


class Callable_:
    def __call__(self) -> int:
        return 1


def test_targets_are_told_apart() -> None:
    import collections
    import functools

    for foreign in (
        len,
        math.sin,
        int,
        list,
        list.append,
        "a".join,
        type,
        ValueError,
        collections.deque,
        dict.fromkeys,
    ):
        assert is_foreign(foreign)
        assert not is_python_class(foreign)
    for kind in (Plain, Slotted, WithMeta, types.SimpleNamespace().__class__):
        assert is_python_class(kind) != is_foreign(kind)
    assert is_python_class(Plain) and is_python_class(Slotted) and is_python_class(WithMeta)
    for own in (
        lambda: 1,
        Callable_(),
        Plain().__init_subclass__.__class__ and Callable_().__call__,
        functools.wraps,
    ):
        assert not is_foreign(own)


def test_foreign_calls_and_new_instances() -> None:
    def f(x: Any) -> Any:
        return len(x), Plain(), Slotted(), WithMeta(x), operator.mul(x, x), dict(k=x), verify(x)  # noqa: C408

    graph = lift(f)
    for step in NORMAL.stages[:7]:
        step.run(graph, f.__globals__)
    verify(graph, normal_form=True)
    found = []
    for i in graph.instructions():
        head, *rest = [v.value if isinstance(v, Const) else None for v in i.operands]
        found.append((head, rest[0]) if head in (_foreigncall_, _new_) else (head, None))
    assert found == [
        (_foreigncall_, len),
        (_new_, Plain),
        (_new_, Slotted),
        (WithMeta, None),
        (operator.mul, None),
        (_foreigncall_, dict),
        (verify, None),
        (_new_, tuple),
    ]
