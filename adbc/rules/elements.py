"""Functions of short sequences of numbers, given the elements one by one.

``math.dist((x, y), (a, b))`` is a function of four numbers: their derivatives need no sequences.  The row of
a function of sequences says with `Rule.elements` which function of the elements does the same; where types
decide it, `passes.typed.known_elements` calls that.  It makes the sequences itself, and generated code does
so in its place, where nothing is differentiated any more (`passes.typed.direct_calls`).
"""

from __future__ import annotations

import builtins
import math
import operator
from collections.abc import Callable, Sequence
from typing import Any

from adbc.records import record
from adbc.rules.classes import reals
from adbc.rules.table import Rule, ScalarRule, ZeroRule

__all__ = [
    "DIST", "FSUM", "LARGEST", "LONGEST", "OF_LIST", "OF_TUPLE", "PROD", "ROWS", "SMALLEST", "SORTED", "SUM",
    "SUMPROD", "Elements", "ElementsRule", "WrittenRule", "expressions", "in_parts", "leg", "of_elements",
    "of_equal_weight",
]  # fmt: skip

LONGEST = 8
"""A sequence that is longer is data."""


@record(frozen=True)
class Elements:
    """How a function of sequences of real numbers is one of their elements.

    function: it takes the elements of all sequences, one sequence behind the other.  sequences: how many
    there are.  start: the name of a parameter behind them, and what it is if it is not given; it comes in
    front of the elements.  step: what joins elements, at most so many at a time as `most` says, where that is
    all.  ranks, falling: the places of the elements in the list that is the result, ascending and descending.
    element: a function that gives one of the elements by its place, which comes in front of them.
    """

    function: Callable[..., Any] | None = None
    sequences: int = 1
    start: tuple[str, int] | None = None
    step: Callable[..., Any] | None = None
    most: int = 2
    ranks: Callable[..., Any] | None = None
    falling: Callable[..., Any] | None = None
    element: Callable[..., Any] | None = None


def of_elements(elements: Elements, *rows: Rule) -> Sequence[Rule]:
    """Rows which say how their functions are those of elements."""
    for row in rows:
        row.elements = elements
    return rows


def in_parts(parts: Sequence[Callable[..., Any]], row: Rule) -> Sequence[Rule]:
    """`row`, which says that its function gives what `parts` give."""
    row.splits = parts
    return [row]


Partials = Callable[[], Sequence[Callable[..., Any] | None]]


class WrittenRule(ScalarRule):
    """A `ScalarRule` whose partial derivatives are made when it is first asked for them: there are hundreds
    that are text at first, and a program needs a few."""

    partials: tuple[Callable[..., Any] | None, ...]

    def __init__(self, function: Callable[..., Any], partials: Partials, **options: Any) -> None:
        super().__init__(function, (), **options)
        del self.partials
        self._made = partials

    def __getattr__(self, name: str) -> Any:
        if name != "partials":
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        self.partials = tuple(self._made())
        return self.partials


class ElementsRule(WrittenRule):
    """The rule of a function that calls `whole` on `sequences` tuples, or instances of `cls`, made of all
    arguments but the `leading` ones, which `whole` takes behind them."""

    def __init__(
        self,
        function: Callable[..., Any],
        partials: Partials,
        whole: Callable[..., Any],
        *,
        sequences: int = 1,
        leading: int = 0,
        cls: type = tuple,
        **options: Any,
    ) -> None:
        super().__init__(function, partials, **options)
        self.whole, self.sequences, self.leading, self.cls = whole, sequences, leading, cls


def leg(out: float, x: float) -> float:
    """The derivative of a hypotenuse by one of the legs.

    It is called, and not written inline, where a division counts as one of a derivative: zero would win over
    what is not finite.
    """
    return x / out if out != 0.0 else 0.0


def _lengths(count: int) -> Callable[..., bool]:
    """The predicate that there are `count` real numbers."""
    return lambda *classes: len(classes) == count and reals(*classes)


def expression(names: str, value: str) -> Callable[..., Any]:
    """The partial derivative `value` of a function whose arguments have these names, in one expression."""
    made: Callable[..., Any] = eval(f"lambda out, {names}: {value}", {"_leg": leg, "float": float})
    return made


def expressions(names: str, values: Sequence[str], leading: int = 0) -> Partials:
    """What makes the partial derivatives of a function whose arguments have these names; that by each of the
    `leading` ones is zero."""
    return lambda: [*[None] * leading, *[expression(names, value) for value in values]]


# -- sums ---------------------------------------------------------------------------------------------------


def sum_of(start: Any, *elements: Any) -> Any:
    return builtins.sum(elements, start)


def fsum_of(*elements: Any) -> float:
    return math.fsum(elements)


SUM = Elements(sum_of, start=("start", 0))
FSUM = Elements(fsum_of)
PROD = Elements(step=operator.mul, start=("start", 1))
"""C code multiplies one after the other, too."""


def of_equal_weight(
    function: Callable[..., Any], whole: Callable[..., Any], weight: Callable[[int], float], **options: Any
) -> list[Rule]:
    """The rows of `function`, which calls `whole` on its arguments: the sum of them, each times a `weight`
    that depends on how many there are."""
    rows: list[Rule] = []
    for count in range(1, LONGEST + 1 + options.get("leading", 0)):
        names = ", ".join(f"x{i}" for i in range(count))
        partials = expressions(names, [repr(weight(count))] * count)
        rows.append(ElementsRule(function, partials, whole, when=_lengths(count), **options))
    return rows


# -- of two points ------------------------------------------------------------------------------------------


def dist_of(*coordinates: Any) -> float:
    middle = len(coordinates) // 2
    return math.dist(coordinates[:middle], coordinates[middle:])


DIST = Elements(dist_of, sequences=2)


def _names(count: int) -> tuple[list[str], list[str], str]:
    """The names of the elements of two sequences, and both as they are written in a list of parameters."""
    p, q = [f"p{i}" for i in range(count)], [f"q{i}" for i in range(count)]
    return p, q, ", ".join((*p, *q))


def _distances() -> list[Rule]:
    """The rows of `dist_of`: where the points are one, all derivatives are zero."""
    rows: list[Rule] = []
    for count in range(1, LONGEST + 1):
        p, q, names = _names(count)
        pairs = [*zip(p, q, strict=True), *zip(q, p, strict=True)]
        partials = expressions(names, [f"_leg(out, {a} - {b})" for a, b in pairs])
        rows.append(
            ElementsRule(dist_of, partials, math.dist, sequences=2, when=_lengths(2 * count), result=float)
        )
    return rows


SUMPROD = Elements(sequences=2)
_SUMS_OF_PRODUCTS: list[Rule] = []

if hasattr(math, "sumprod"):

    def sumprod_of(*elements: Any) -> Any:
        middle = len(elements) // 2
        return math.sumprod(elements[:middle], elements[middle:])  # type: ignore[attr-defined,unused-ignore]

    SUMPROD = Elements(sumprod_of, sequences=2)
    for _count in range(1, LONGEST + 1):
        _p, _q, _both = _names(_count)
        _SUMS_OF_PRODUCTS.append(
            ElementsRule(
                sumprod_of,
                expressions(_both, [*_q, *_p]),
                math.sumprod,  # type: ignore[attr-defined,unused-ignore]  # 3.12
                sequences=2,
                when=_lengths(2 * _count),
                result="sum",
            )
        )


# -- places -------------------------------------------------------------------------------------------------


def ranks_of(*elements: Any) -> tuple[int, ...]:
    """The indices of the elements in sorted order, as `sorted` finds it, NaN among them or not."""
    if len(elements) == 2:
        return (1, 0) if elements[1] < elements[0] else (0, 1)
    if len(elements) == 3:
        x, y, z = elements
        if x == x and y == y and z == z:
            if y < x:
                return (2, 1, 0) if z < y else (1, 2, 0) if z < x else (1, 0, 2)
            return (0, 1, 2) if not z < y else (2, 0, 1) if z < x else (0, 2, 1)
    return tuple(builtins.sorted(range(len(elements)), key=elements.__getitem__))


def falling_ranks_of(*elements: Any) -> tuple[int, ...]:
    """The indices of the elements in descending order, equal ones in that in which they stand."""
    return tuple(builtins.sorted(range(len(elements)), key=elements.__getitem__, reverse=True))


LARGEST = Elements(step=builtins.max, most=3)
SMALLEST = Elements(step=builtins.min, most=3)


def element_of_list(index: Any, *elements: Any) -> Any:
    return [*elements][index]


def element_of_tuple(index: Any, *elements: Any) -> Any:
    return elements[index]


SORTED = Elements(ranks=ranks_of, falling=falling_ranks_of, element=element_of_list)
OF_LIST = Elements(element=element_of_list)
OF_TUPLE = Elements(element=element_of_tuple)


def _choices(function: Callable[..., Any], cls: type) -> list[Rule]:
    """The rows of a function that gives an element of a list or tuple by its index."""
    rows: list[Rule] = []
    for count in range(1, LONGEST + 1):
        elements = ", ".join(f"x{i}" for i in range(count))
        partials = expressions(f"i, {elements}", [f"i % {count} == {k}" for k in range(count)], leading=1)

        def of_reals(*classes: type, count: int = count) -> bool:
            return len(classes) == count + 1 and classes[0] is int and reals(*classes[1:])

        rows.append(
            ElementsRule(
                function, partials, operator.getitem, leading=1, cls=cls, when=of_reals,
                result="element",
            )
        )  # fmt: skip
    return rows


ROWS: list[Rule] = [
    *of_equal_weight(sum_of, builtins.sum, lambda count: 1.0, leading=1, result="sum"),
    *of_equal_weight(fsum_of, math.fsum, lambda count: 1.0, result=float),
    *_distances(),
    *_SUMS_OF_PRODUCTS,
    ZeroRule(ranks_of, when=reals, result="ranks"),
    ZeroRule(falling_ranks_of, when=reals, result="ranks"),
    *_choices(element_of_list, list),
    *_choices(element_of_tuple, tuple),
]
