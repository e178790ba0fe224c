"""`adbc.records.record` beside `dataclasses.dataclass`: the same classes, whatever the options."""

from __future__ import annotations

import copy
import dataclasses
import inspect
import itertools
import pickle
from typing import Any

import pytest

from adbc.records import record

OPTIONS = [
    dict(zip(("eq", "frozen", "slots", "kw_only"), x, strict=True))
    for x in itertools.product((True, False), repeat=4)
]


def _made(decorate: Any, options: dict[str, bool]) -> tuple[type, type]:
    @decorate(**options)
    class Plain:
        a: int
        b: object = 2.0
        c: list[int] = dataclasses.field(default_factory=lambda: [1, 2])

    @decorate(**options)
    class Derived(Plain):
        """One that has a field more, and another default."""

        b: object = "b"
        d: int = 4

        def __repr__(self) -> str:
            return f"<{self.a}>"

    Derived.__qualname__ = Plain.__qualname__ = "Plain"
    return Plain, Derived


def _attempt(call: Any) -> Any:
    try:
        return call()
    except (TypeError, AttributeError) as error:
        return type(error)


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_records_are_data_classes(options: dict[str, bool]) -> None:
    seen = []
    for decorate in (record, dataclasses.dataclass):
        notes: list[Any] = []
        for cls in _made(decorate, options):
            x, y, z = cls(a=1), cls(a=1), cls(a=1, b=3, c=[])
            notes += [repr(x), x == y, x == z, x != z, x == 1, z.c, x.c is y.c, x.c == y.c]  # type: ignore[comparison-overlap]
            notes += [str(inspect.signature(cls)), hasattr(x, "__dict__")]
            notes += [dataclasses.asdict(x), repr(dataclasses.replace(x, b=7)), repr(copy.deepcopy(z))]
            notes.append(_attempt(lambda cls=cls: cls(1, 2, [3]).b))
            notes.append(_attempt(lambda cls=cls: repr(cls())))
            notes.append(_attempt(lambda cls=cls: cls(a=1, b=1, c=1, e=1)))
            notes.append(_attempt(lambda x=x: setattr(x, "a", 5)))
            notes.append(_attempt(lambda x=x: delattr(x, "a")))
            both = cls(a=1, c=()), cls(a=1, c=())
            notes.append(_attempt(lambda both=both: hash(both[0]) == hash(both[1])))
            notes.append([getattr(x, "a", None), vars(cls).get("__match_args__")])
        seen.append(notes)
    assert seen[0] == seen[1]


@record(frozen=True, slots=True)
class Point:
    x: float
    y: float = 0.0

    def __hash__(self) -> int:
        return 7


@record(eq=False)
class Checked:
    x: float

    def __post_init__(self) -> None:
        if self.x < 0:
            raise ValueError(self.x)


def test_what_a_class_has_of_its_own_stays() -> None:
    assert hash(Point(1.0)) == 7
    assert pickle.loads(pickle.dumps(Point(1.0, 2.0))) == Point(1.0, 2.0)
    with pytest.raises(ValueError, match="-1"):
        Checked(-1.0)
    assert Checked(1.0) != Checked(1.0)


def test_methods_tell_where_they_belong() -> None:
    init: Any = Point.__init__
    assert (init.__qualname__, init.__module__) == ("Point.__init__", __name__)


def test_other_fields_are_left_to_dataclasses() -> None:
    with pytest.raises(TypeError, match="only dataclasses"):

        @record
        class Counted:
            n: int = dataclasses.field(default=0, init=False)
