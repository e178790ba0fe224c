"""Generators that are consumed where they are made, in the ways in which people write that.

Each program takes a float and a list of floats, returns floats, and writes what happens when into `LOG`.
"""

from __future__ import annotations

import itertools
import math
import operator
import statistics
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

__all__ = ["LOG", "PROGRAMS"]

LOG: list[Any] = []
PROGRAMS: list[Callable[[float, list[float]], Any]] = []


def program(function: Callable[..., Any]) -> Callable[..., Any]:
    PROGRAMS.append(function)
    return function


def seen(name: Any, value: Any) -> Any:
    LOG.append((name, round(float(value), 9)))
    return value


# -- generator functions --------------------------------------------------------------------------------


def halves(values: Any) -> Iterator[float]:
    for value in values:
        yield seen("half", value / 2.0)


def decaying(x: float, count: int = 4, *, rate: float = 0.5) -> Iterator[float]:
    value = x
    for _ in range(count):
        value = value * rate
        yield value


def once(x: float) -> Iterator[float]:
    yield seen("once", x * x)


def some(values: Any, limit: float) -> Iterator[float]:
    """Yields in the middle of nested loops, and may return early."""
    for i, value in enumerate(values):
        if value < 0.0:
            return
        k = 0
        while k < i:
            k += 1
            if k % 2:
                continue
            yield value * k + limit
            if value > limit:
                break


def told(values: Any) -> Iterator[float]:
    """Uses what it is sent, which is nothing."""
    for value in values:
        got = yield value
        seen("sent", -1.0 if got is None else got)


def counting(state: dict[str, float], values: Any) -> Iterator[float]:
    """Reads what the consumer changes, and changes what the consumer reads."""
    for value in values:
        state["steps"] += 1.0
        yield value * state["factor"]


def raising(values: Any) -> Iterator[float]:
    for value in values:
        if value > 0.5:
            raise ValueError(f"{value:.2f} is too large")
        yield value


def guarded(values: Any) -> Iterator[float]:
    try:
        for value in values:
            yield value
    finally:
        seen("closed", 0.0)


def catching(values: Any) -> Iterator[float]:
    """Has a handler, but is not suspended in it."""
    for value in values:
        try:
            scaled = 1.0 / (value - 0.4) if value != 0.4 else 1.0 / 0.0
        except ZeroDivisionError:
            scaled = 0.0
        yield scaled * value


def pairs(values: Any) -> Iterator[tuple[int, float]]:
    for i in range(len(values)):
        for j in range(i + 1, len(values)):
            yield i * j, values[i] * values[j]


def chained(*parts: Any) -> Iterator[float]:
    for part in parts:
        yield from part


def down(x: float, n: int) -> Iterator[float]:
    if n > 0:
        yield x * n
        yield from down(x, n - 1)


# -- expressions ----------------------------------------------------------------------------------------


@program
def summed(x: float, xs: list[float]) -> Any:
    return sum(seen("term", v * x) for v in xs)


@program
def summed_onto(x: float, xs: list[float]) -> Any:
    return sum((v * x for v in xs), x), sum((v * x for v in xs), start=2.0)


@program
def summed_lists(x: float, xs: list[float]) -> Any:
    flat = sum(([v, v * x] for v in xs), [])
    return flat[-1] * flat[0], len(flat) * x


@program
def with_conditions(x: float, xs: list[float]) -> Any:
    return sum(v * x for v in xs if v > 0.2 if v < 0.9)


@program
def over_two(x: float, xs: list[float]) -> Any:
    return sum(u * v * x for u in xs for v in xs if u < v)


@program
def nested(x: float, xs: list[float]) -> Any:
    return sum(sum(seen("inner", u * v) for u in xs) * x for v in xs)


@program
def of_another(x: float, xs: list[float]) -> Any:
    squares = (seen("square", v * v) for v in xs)
    scaled = (seen("scaled", s * x) for s in squares)
    return sum(scaled)


@program
def matrix_product(x: float, xs: list[float]) -> Any:
    a = [[x, v] for v in xs]
    b = [[v, x] for v in xs]
    c = [[sum(p * q for p, q in zip(row, column)) for column in b] for row in a]
    return sum(sum(row) for row in c)


@program
def made_tuples(x: float, xs: list[float]) -> Any:
    state = (x, xs[0], xs[1])
    for _ in range(3):
        state = tuple(a + 0.1 * b for a, b in zip(state, (state[2], state[0], state[1])))
    return state


@program
def made_collections(x: float, xs: list[float]) -> Any:
    listed = list(v * x for v in xs)
    table = dict((i, v * x) for i, v in enumerate(xs))
    whole = len(set(int(v * 10) for v in xs)) + len(frozenset(int(v * 10) for v in xs))
    ordered = sorted((v * x for v in xs), reverse=True)
    ordered_too = sorted(v * x for v in xs)
    return listed[1] + table[2] * whole + ordered[0] * 2.0 - ordered_too[0]


@program
def extremes(x: float, xs: list[float]) -> Any:
    largest = max(math.sin(3.0 * v) * x for v in xs)
    smallest = min(math.cos(3.0 * v) * x for v in xs)
    by_key = max((v * x for v in xs), key=lambda v: -abs(v - 0.3))
    return largest * 2.0 + smallest + by_key + max((v for v in xs if v > 9.0), default=x)


@program
def products(x: float, xs: list[float]) -> Any:
    return math.prod(1.0 + v * x for v in xs) + math.fsum(v * x for v in xs)


@program
def lazily(x: float, xs: list[float]) -> Any:
    found = any(seen("any", v * x) > 0.3 for v in xs)
    every = all(seen("all", v * x) < 0.3 for v in xs)
    first = next((seen("next", v * x) for v in xs if v > 0.25), None)
    missing = next((v * x for v in xs if v > 25.0), x)
    return (x if found else 0.0) + (0.0 if every else x * x), first, missing


@program
def exhausted(x: float, xs: list[float]) -> Any:
    try:
        return next(v for v in xs if v > 25.0)
    except StopIteration:
        return x * next(v for v in xs if v > 0.25)


@program
def taken_apart(x: float, xs: list[float]) -> Any:
    a, b = (v * x for v in xs[:2])
    c, *rest = (v * x for v in xs)
    return a * b + c * rest[-1]


@program
def spread(x: float, xs: list[float]) -> Any:
    def weighted(a: float, *others: float, power: float = 2.0) -> float:
        return a**power + sum(o * a for o in others)

    listed = [*(v * x for v in xs), x]
    return weighted(*(v * x for v in xs)) + math.hypot(*(v * x for v in xs)) + listed[-1] * listed[0]


@program
def late_names(x: float, xs: list[float]) -> Any:
    """What a generator finds in its closure it finds when it runs; what it iterates over, when it is made."""
    factor = 1.0
    scaled = (v * factor for v in xs)
    factor = x * 3.0
    xs = [0.0]
    return sum(scaled), xs


@program
def joined(x: float, xs: list[float]) -> Any:
    text = ",".join(str(int(10.0 * v)) for v in xs)
    return x * len(text)


@program
def twice(x: float, xs: list[float]) -> Any:
    values = (v * x for v in xs)
    return next(values) + 2.0 * sum(values), sum(values)


@program
def empty(x: float, xs: list[float]) -> Any:
    return sum(v for v in xs if v > 9.0) + x, tuple(v for v in xs if v > 9.0), x * sum(v for v in ())


# -- loops ----------------------------------------------------------------------------------------------


@program
def looped(x: float, xs: list[float]) -> Any:
    total = 0.0
    for value in halves(xs):
        total += seen("body", value * x)
    return total


@program
def with_defaults(x: float, xs: list[float]) -> Any:
    total = 0.0
    for v in decaying(x):
        total += v
    for v in decaying(x, 2, rate=x):
        total += v * v
    return total + sum(decaying(count=3, x=x))


@program
def only_once(x: float, xs: list[float]) -> Any:
    total = x
    for v in once(x):
        total += v
    for v in once(total):
        return v * total
    return None


@program
def left_early(x: float, xs: list[float]) -> Any:
    total = 0.0
    for v in halves(xs):
        if v > 0.25:
            break
        if v < 0.06:
            continue
        total += v * x
    else:
        total += 100.0
    for v in halves(xs):
        total += v
    else:
        total *= x
    return total


@program
def from_nested_loops(x: float, xs: list[float]) -> Any:
    total = 1.0
    for v in some(xs, x):
        total = total * 0.9 + v
    return total + sum(some([*xs, -1.0, 3.0], 0.3))


@program
def told_nothing(x: float, xs: list[float]) -> Any:
    total = 0.0
    for v in told(xs):
        total += v * x
    return total


@program
def shared_state(x: float, xs: list[float]) -> Any:
    state = {"steps": 0.0, "factor": x}
    total = 0.0
    for v in counting(state, xs):
        total += v * state["steps"]
        state["factor"] = state["factor"] * 0.9 + 0.01
    return total, state["factor"]


@program
def changed_while_read(x: float, xs: list[float]) -> Any:
    values = list(xs)
    total = 0.0
    for i, v in enumerate(halves(values)):
        if i + 1 < len(values):
            values[i + 1] += v * x
        total += v
    return total, values


@program
def in_a_try(x: float, xs: list[float]) -> Any:
    total = 0.0
    try:
        for v in raising(xs):
            total += v * x
    except ValueError as error:
        total = total * 2.0 + len(str(error))
    try:
        total += sum(v * x for v in raising(xs))
    except ValueError:
        total *= x
    for v in xs:
        try:
            total += sum(1.0 / (v - u) for u in (0.1, 0.2))
        except ZeroDivisionError:
            total -= v * x
    try:
        total += max(v * x for v in xs if v > 9.0)
    except ValueError:
        total += sorted(v * x for v in xs)[1]
    return total


@program
def raised_by_the_body(x: float, xs: list[float]) -> Any:
    total = x
    try:
        for v in halves(xs):
            total += v
            if v > 0.25:
                raise KeyError("enough")
    except KeyError:
        total *= 3.0
    finally:
        total += 1.0
    return total


@program
def closed_by_hand(x: float, xs: list[float]) -> Any:
    total = 0.0
    for v in guarded(xs):
        if v > 0.5:
            break
        total += v * x
    return total


@program
def with_handlers(x: float, xs: list[float]) -> Any:
    return sum(catching(xs)) * x + sum(v * x for v in catching(xs))


@program
def several_values(x: float, xs: list[float]) -> Any:
    total = 0.0
    for n, product in pairs(xs):
        total += n * product * x
    return total + sum(a * b for a, b in pairs(xs))


@program
def not_written_in(x: float, xs: list[float]) -> Any:
    return sum(chained(xs, (v * x for v in xs))) + sum(down(x, 4))


@program
def made_in_a_loop(x: float, xs: list[float]) -> Any:
    total = 0.0
    for k in range(3):
        for v in decaying(x, k + 1):
            for w in decaying(v, 2):
                total += w * v
    while total < 3.0:
        total += sum(decaying(x + 1.0))
    return total


@program
def resumed_in_a_loop(x: float, xs: list[float]) -> Any:
    """One generator, of which each round of the outer loop takes a part."""
    values = halves(xs)
    total = 0.0
    for k in range(3):
        for v in values:
            total += v * (k + 1) * x
            break
    return total


@program
def side_by_side(x: float, xs: list[float]) -> Any:
    total = 0.0
    for a, b in zip(halves(xs), xs):
        total += a * b * x
    for b, a in zip(xs, halves(xs)):
        total += a * b
    for i, a in enumerate(halves(xs), 1):
        total += i * a * x
    for a, b in zip(halves(xs), halves(xs[1:])):
        total += a * b * x
    return total


@program
def made_here(x: float, xs: list[float]) -> Any:
    def scaled(values: list[float]) -> Iterator[float]:
        for value in values:
            yield value * x + offset

    offset = 0.5
    total = 0.0
    for v in scaled(xs):
        total += v
        offset = offset * 0.5
    return total


@program
def counted(x: float, xs: list[float]) -> Any:
    count = 0

    def step(values: list[float]) -> Iterator[float]:
        nonlocal count
        for value in values:
            count += 1
            yield value * count

    return sum(step(xs)) * x * count


@program
def kept_behind_the_loop(x: float, xs: list[float]) -> Any:
    v = last = 0.0
    for v in halves(xs):
        last = last * 0.5 + v
    return v * last * x


@program
def without_a_body(x: float, xs: list[float]) -> Any:
    v = x
    for v in halves(xs):
        pass
    return v * x


@program
def through_itertools(x: float, xs: list[float]) -> Any:
    total = sum(u * v * x for u, v in itertools.combinations(xs, 2))
    total += sum(itertools.accumulate(v * x for v in xs))
    return total + sum(map(lambda v: v * x, (v for v in xs)))


@program
def through_maps(x: float, xs: list[float]) -> Any:
    def scaled(v: float) -> float:
        return seen("scaled", v * x)

    total = sum(map(scaled, xs)) + sum(map(lambda a, b: a * b * x, xs, xs))
    for v in map(scaled, filter(lambda v: seen("asked", v) > 0.25, xs)):
        total += v * v
    for a, b in map(lambda a, b, c: (a * c, b), xs, xs[1:], itertools.count(x, 0.5)):
        total += a * b
    listed = list(map(math.sin, xs))
    truths = [v for v in filter(None, (0.0, x, 0, xs[1]))]
    for choose in (None, bool):
        total += sum(filter(choose, (0.0, x, 0, xs[1]))) + len(list(itertools.filterfalse(choose, (0.0, x))))
    total += sum(itertools.filterfalse(lambda v: v > 0.25, xs)) * listed[2]
    return total + math.prod(itertools.starmap(pow, ((x, 2), (xs[0], 3)))) + truths[0] * truths[1]


@program
def through_chains(x: float, xs: list[float]) -> Any:
    total = 0.0
    for v in itertools.chain(xs, (x, x * x)):
        total = total * 0.9 + v
    for v in itertools.chain.from_iterable([[v, v * x] for v in xs]):
        total = total * 0.9 + v
    for a, b in itertools.pairwise(xs):
        total += (b - a) ** 2 * x
    for a, b in itertools.pairwise([x]):
        total += 100.0
    for v in itertools.takewhile(lambda v: seen("while", v) < 0.5, xs):
        total += v * x
    for v in itertools.dropwhile(lambda v: seen("until", v) < 0.5, xs):
        total += v * x
    return total + sum(itertools.compress(xs, [1, 0, 1])) * x


@program
def with_what_is_named(x: float, xs: list[float]) -> Any:
    total = 0.0
    turns = itertools.accumulate(xs, initial=x)
    for v, turn, n in zip(xs, turns, itertools.count(2)):
        total += v * math.sin(turn) * n
    for v in itertools.accumulate(xs, initial=None):
        total += v * v * x
    total += sum(itertools.accumulate(xs, func=lambda a, b: seen("by", a * b + x)))
    total += sum(itertools.accumulate(xs[:2], func=operator.mul, initial=x))
    for n, v in zip(itertools.count(start=0.5, step=x), itertools.chain(xs[:1], (x,), xs[2:])):
        total += n * v
    return total + sum(a / (b + x) for a, b in itertools.product(xs, repeat=2))


@program
def through_pools(x: float, xs: list[float]) -> Any:
    values = list(xs)
    total = 0.0
    for a, b in itertools.combinations(values, 2):
        total += a * b * x
        values[-1] = x  # what is combined is what there was
    for a, b, c in itertools.combinations(xs, 3):
        total += a * b * c * x
    for a, b in itertools.permutations(xs, 2):
        total += a / (b + x)
    for a, b in itertools.product(xs, xs):
        total += a * b * b * x
    return total + sum(a * b * c for a, b, c in itertools.product(xs[:2], xs[1:], (x,)))


@program
def iterators_in_a_try(x: float, xs: list[float]) -> Any:
    total = 0.0
    try:
        for a, b in itertools.product(xs, itertools.chain(xs[1:], [0.0])):
            total += a / b
    except ZeroDivisionError:
        total *= x
    try:
        total += sum(map(math.sqrt, (x, xs[0], -x)))
    except ValueError as error:
        total += x * len(str(error))
    try:
        for v in map(math.sin, 5):
            total += v
    except TypeError:
        total += x
    return total


class Tree:
    def __init__(self, value: float, *below: Tree) -> None:
        self.value = value
        self.below = below

    def __iter__(self) -> Iterator[float]:
        yield self.value
        for tree in self.below:
            yield from tree

    def scaled(self, x: float) -> Iterator[float]:
        for value in self:
            yield value * x


@program
def of_objects(x: float, xs: list[float]) -> Any:
    tree = Tree(x, Tree(xs[0]), Tree(xs[1] * x, Tree(x * x)))
    return sum(tree) + sum(v * v for v in tree) + sum(tree.scaled(x))


# -- elements that do something when they are used ------------------------------------------------------


class Loud:
    """A number that tells when it is added, multiplied, compared, converted."""

    def __init__(self, value: float, name: int) -> None:
        self.value, self.name = value, name

    def __add__(self, other: Any) -> Any:
        return seen("add", self.value + getattr(other, "value", other))

    __radd__ = __add__

    def __mul__(self, other: Any) -> Any:
        return seen("mul", self.value * getattr(other, "value", other))

    __rmul__ = __mul__

    def __lt__(self, other: Any) -> bool:
        return bool(seen("lt", self.value) < getattr(other, "value", other))

    def __gt__(self, other: Any) -> bool:
        return bool(seen("gt", self.value) > getattr(other, "value", other))

    def __float__(self) -> float:
        return float(seen("float", self.value))

    def __hash__(self) -> int:
        return self.name

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Loud) and self.name == other.name


def loud(values: Any, x: float) -> Iterator[Loud]:
    for number, value in enumerate(values):
        yield Loud(seen("made", value * x), number % 3)


@program
def added_one_by_one(x: float, xs: list[float]) -> Any:
    return sum(loud(xs, x)) * 1.5 + sum(loud(xs, x), x)


@program
def added_after_numbers(x: float, xs: list[float]) -> Any:
    def mixed() -> Iterator[Any]:
        for number, value in enumerate(xs):
            v = seen("made", value * x)
            yield Loud(v, number) if number == 2 else number if number < 2 else v

    return sum(mixed()) + math.prod(mixed(), start=x) + math.fsum(mixed())


@program
def multiplied_one_by_one(x: float, xs: list[float]) -> Any:
    return math.prod(loud(xs, x)) + math.fsum(loud(xs, x))


@program
def compared_one_by_one(x: float, xs: list[float]) -> Any:
    return max(loud(xs, x)).value * min(loud(xs, x)).value


@program
def ranked_one_by_one(x: float, xs: list[float]) -> Any:
    state = [x]

    def rank(v: float) -> float:
        state[0] += 1.0
        return float(seen("rank", v * (-1.0) ** int(state[0])))

    def values() -> Iterator[float]:
        for v in xs:
            state[0] += 1.0
            yield seen("value", v * state[0])

    largest = max(values(), key=rank)
    return largest + min(values(), key=rank, default=0.0) * max((v for v in xs if v > 9.0), default=x)


@program
def least_of_none(x: float, xs: list[float]) -> Any:
    messages = []
    for take in (max, min):
        try:
            take(v for v in xs if v > 9.0)
        except ValueError as error:
            messages.append(str(error))
    try:
        return max(v * x for v in xs if v > 9.0)
    except ValueError as error:
        return x * len(str(error)) + len(messages)


@program
def equals_among_the_largest(x: float, xs: list[float]) -> Any:
    return max(v * 0.0 + x * k for k, v in enumerate(xs) for _ in range(2)) + min(max(v, 0.3) * x for v in xs)


@program
def in_sets(x: float, xs: list[float]) -> Any:
    found = {*loud(xs, x)} | set(loud(xs[:2], x)) | frozenset(loud(xs, x))
    return sum(v.value for v in sorted(found, key=lambda v: v.name))


@program
def unpacked_and_no_more(x: float, xs: list[float]) -> Any:
    def endless() -> Iterator[float]:
        while True:
            yield seen("taken", x)

    taken = x
    try:
        a, b = endless()
    except ValueError as error:
        taken = x * len(str(error))
    try:
        a, b, c = (v * x for v in xs[:2])
    except ValueError as error:
        taken += x * len(str(error))
    a, b = (v * taken for v in xs[:2])
    return a * b


@program
def of_numpy_numbers(x: float, xs: list[float]) -> Any:
    values = np.array(xs) * x
    return sum(v for v in values) + math.prod(iter(values + 1.0)) + math.fsum(values) + max(v for v in values)


# -- several yields, several places ---------------------------------------------------------------------


def in_steps(x: float, values: Any) -> Iterator[float]:
    yield seen("first", x)
    scale = 1.0
    for k, value in enumerate(values):
        scale = scale * 0.9 + value
        if k % 2:
            yield seen("odd", scale * value)
        yield seen("any", scale + x * value)
    else:
        yield seen("rest", scale * scale)
    seen("done", 0.0)


def of_parts(x: float, values: Any) -> Iterator[float]:
    yield from (v * x for v in values)
    yield x
    yield from in_steps(x, values[:2])
    yield from values[3:]


def falling(x: float, values: Any) -> Iterator[float]:
    yield x
    for value in values:
        if value > 0.5:
            raise ValueError(value)
        yield value * x


@program
def with_several_yields(x: float, xs: list[float]) -> Any:
    total = 0.0
    for v in in_steps(x, xs):
        total = total * 0.7 + v
    return total + sum(in_steps(total, xs[2:]))


@program
def delegating(x: float, xs: list[float]) -> Any:
    return sum(v * k for k, v in enumerate(of_parts(x, xs))) + max(of_parts(x, xs))


@program
def asked_in_turn(x: float, xs: list[float]) -> Any:
    values = in_steps(x, xs)
    total = next(values)
    for v in values:
        total = total * 0.5 + v
        w = next(values, None)
        if w is None:
            break
        total += w * w
    return total + sum(values)


@program
def taken_up_again(x: float, xs: list[float]) -> Any:
    total = 0.0
    values = in_steps(x, xs)
    for v in values:
        total += v
        if v < 0.5:
            break
    for v in values:
        total = total * 0.5 + v * v
    for v in values:
        total += 1.0
    return total


@program
def asked_by_hand(x: float, xs: list[float]) -> Any:
    values = in_steps(x, xs)
    total = 1.0
    while (v := next(values, None)) is not None:
        total = total * v + x
    return total


@program
def raised_between(x: float, xs: list[float]) -> Any:
    total = 0.0
    for a, b in zip(falling(x, xs[:3]), falling(x * x, xs)):
        total += a * b
    return total


@program
def merged(x: float, xs: list[float]) -> Any:
    """Two sorted runs, as people merge them."""
    first, second = in_steps(x, sorted(xs)), halves(sorted(xs))
    a, b = next(first, None), next(second, None)
    out = []
    while a is not None and b is not None:
        if a < b:
            out.append(a * x)
            a = next(first, None)
        else:
            out.append(b)
            b = next(second, None)
    return sum(v / (k + 1) for k, v in enumerate(out))


@program
def shared_between_loops(x: float, xs: list[float]) -> Any:
    total = 0.0
    for k in range(3):
        values = in_steps(x * k, xs)
        for v in values:
            total += v
            if k:
                break
        for v in values:
            total -= v * 0.5
            if v > 0.9:
                break
    return total


@program
def remembering(x: float, xs: list[float]) -> Any:
    state = [0.0]

    def noted() -> Iterator[float]:
        for v in xs:
            state[0] += v
            yield state[0] * x
            state[0] *= 0.5
            yield state[0]

    total = 0.0
    for v in noted():
        state[0] += 0.125
        total += v * state[0]
    return total


@program
def from_an_iterator(x: float, xs: list[float]) -> Any:
    """Elements are taken from one iterator in front of the loop, and in it."""
    values = iter([x, 2.0 * x, x * x, 3.0, x, 0.5 * x])
    total = next(values)
    for v in values:
        total += v * next(values, x)
    others = iter(xs)
    window = list(itertools.islice(others, 3))
    for v in others:
        window = [*window[1:], v * x]
    return total * window[0] + sum(window)


# -- given to functions in Python ------------------------------------------------------------------------


def average(values: Any, power: float = 1.0) -> float:
    values = list(values)
    return sum(v**power for v in values) / len(values)


def added(values: Any) -> float:
    total = 0.0
    for v in values:
        seen("added", v)
        total += v * v
    return total


def up_to(bound: float, *, values: Any) -> float:
    total = 0.0
    for v in values:
        if v > bound:
            break
        total += v
    return total


def twice_over(values: Any) -> float:
    return sum(v * v for v in values) + sum(values, 0.25)


def halved_again(values: Any, depth: int) -> float:
    return added(values) if depth == 0 else halved_again((v * 0.5 for v in values), depth - 1)


@program
def given_to_functions(x: float, xs: list[float]) -> float:
    total = average(seen("a", v * x) for v in xs) + average((v * x for v in xs), power=2.0)
    total += added(seen("b", v * x) for v in xs)
    total += up_to(0.5 * x, values=(seen("c", v * x) for v in xs))
    return total + added(halves(v * x for v in xs))


@program
def given_to_what_is_made_here(x: float, xs: list[float]) -> float:
    factor = x * x

    def weighed(values: Any) -> float:
        total = 0.0
        for k, v in enumerate(values):
            total += k * v * factor
        return total

    largest = lambda values, least=0.1: max(*values, least)  # noqa: E731
    return weighed(seen("v", v * x) for v in xs) + largest(v * x for v in xs)


@program
def given_to_who_asks_twice(x: float, xs: list[float]) -> float:
    return twice_over(seen("v", v * x) for v in xs)


@program
def given_to_itself(x: float, xs: list[float]) -> float:
    return halved_again((seen("v", v * x) for v in xs), 2)


def first_of(values: Any) -> Any:
    return values, next(values)


@program
def given_and_kept(x: float, xs: list[float]) -> float:
    rest, first = first_of(seen("v", v * x) for v in xs)
    return first + sum(v * v for v in rest)


def roots(values: Any) -> Iterator[float]:
    for v in values:
        yield math.sqrt(v - 0.3)


@program
def given_where_it_fails(x: float, xs: list[float]) -> float:
    total = 0.0
    for bound in (0.5, 0.0):
        try:
            total += added(roots(seen("v", v * x + bound) for v in xs))
        except ValueError:
            seen("failed", bound)
            total += x * bound
    return total


def tried(values: Any) -> float:
    total = 0.0
    try:
        for v in values:
            total += math.sqrt(v - 0.1)
    except ValueError:
        total += 1.0
    return total


@program
def given_to_who_tries(x: float, xs: list[float]) -> float:
    return tried(seen("v", v * x) for v in xs)


class Sample:
    def __init__(self, name: str, values: Any) -> None:
        self.name = name
        self.values = list(values)

    def power(self) -> float:
        return sum(v * v for v in self.values)


class Told:
    def __init__(self, values: Any) -> None:
        seen("told", 1.0)
        self.values = tuple(values)


class Checked:
    @property
    def name(self) -> str:
        return "checked"

    @name.setter
    def name(self, value: str) -> None:
        seen(value, 0.0)

    def __init__(self, values: Any) -> None:
        self.name = "set"
        self.values = tuple(values)


@program
def given_to_classes(x: float, xs: list[float]) -> float:
    kept = [Sample("kept", (seen("k", v * x) for v in xs))]
    return kept[-1].power() + Sample("gone", values=(seen("g", v * x) for v in xs)).power()


@program
def given_to_classes_that_tell(x: float, xs: list[float]) -> float:
    made = [Told(seen("t", v * x) for v in xs), Checked(seen("c", v * x) for v in xs)]
    return sum(sum(m.values) * x for m in made)


@program
def given_to_statistics(x: float, xs: list[float]) -> float:
    total = statistics.fmean(seen("f", v * x) for v in xs) + statistics.stdev(seen("s", v * x) for v in xs)
    return total + statistics.median(v * x for v in xs)


@program
def given_to_lists(x: float, xs: list[float]) -> float:
    others: list[float] = []
    for k in range(2):
        others.extend(seen(k, v * x) for v in xs[k:])
    return sum(v * v for v in others)


@program
def given_to_a_list_that_is_read_meanwhile(x: float, xs: list[float]) -> float:
    found = [x]
    seen_last = lambda: seen("last", found[-1])  # noqa: E731
    found.extend(seen("v", v * x + seen_last()) for v in xs)
    return sum(v * v for v in found)


@program
def in_turns_with_a_tuple(x: float, xs: list[float]) -> float:
    total = sum(k * seen("c", v) for k, v in zip((2, 3, 5), itertools.cycle([x, x * x]), strict=False))
    for name, v in zip(("a", "b", "c"), itertools.cycle(v * x for v in xs[:2]), strict=False):
        total += seen(name, v) * x
    return total
