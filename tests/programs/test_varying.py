"""Programs as their authors write them, called sixty times with what varies from call to call: values,
branches, lengths, classes of numbers, globals, attributes and methods of classes, exceptions in between."""

# ruff: noqa: B905

from __future__ import annotations

import bisect
import heapq
import itertools
import math
from collections import ChainMap, Counter, OrderedDict, UserList, defaultdict, deque
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from tests.programs.varying import check_calls

# -- a ledger: settings, a queue, a cache --------------------------------------------------------------------

DEFAULTS = {"rate": 0.05, "fee": 1.0}
PRICES = [0.0, 0.8, 1.2, 1.9, 2.0]
SIZES = [0.0, 1.0, 2.0, 4.0, 8.0]


class Recent(OrderedDict[str, Any]):
    def __init__(self, size: int) -> None:
        super().__init__()
        self.size = size

    def __setitem__(self, key: str, value: Any) -> None:
        super().__setitem__(key, value)
        self.move_to_end(key)
        while len(self) > self.size:
            self.popitem(last=False)


def price(size: Any) -> Any:
    i = min(max(bisect.bisect_right(SIZES, size) - 1, 0), len(SIZES) - 2)
    t = (size - SIZES[i]) / (SIZES[i + 1] - SIZES[i])
    return PRICES[i] * (1 - t) + PRICES[i + 1] * t


def ledger(cash: Any, jobs: Any, settings: Any) -> Any:
    conf = ChainMap(settings, DEFAULTS)
    book, seen, recent = defaultdict(list, first=[cash]), Counter(first=1), Recent(3)
    count = itertools.count()
    heap = [(prio, next(count), name, size) for name, size, prio in jobs]
    heapq.heapify(heap)
    pending: deque[Any] = deque(maxlen=4)
    while heap:
        prio, _, name, size = heapq.heappop(heap)
        seen[name] += 1
        value = price(size) * (1 + conf["rate"]) ** seen[name]
        book[name].append(value)
        recent[name] = value + recent.get(name, 0.0)
        pending.append(size * cash)
        if size > 3.0 and seen[name] < 3:
            heapq.heappush(heap, (prio + 1.5, next(count), name, size - conf["fee"]))
    pending.rotate(1)
    first, *rest = pending
    print(f"{len(book)} names, {sum(seen.values())} jobs")
    total = sum(sum(values) * seen[name] for name, values in sorted(book.items()))
    return total + first * 2 - sum(rest) + sum(recent.values())


def test_a_ledger() -> None:
    def arguments(call: int) -> tuple[Any, ...]:
        jobs = [("a", 1.5, 2), ("b", 5.537 + 0.01 * call, 1), ("a", 0.3, 0.5), ("c", 2.2, 3)][: 2 + call % 3]
        settings: dict[str, float] = [{"rate": 0.02}, {"fee": 0.7}, {"rate": 0.01, "fee": 2}, {"fee": 0.3}][
            call % 4
        ]
        return 1.0 + 0.1 * call, [] if call == 31 else jobs, settings  # nothing pending: a ValueError

    def before(call: int) -> None:
        DEFAULTS["rate"], PRICES[2] = 0.05 + 0.01 * (call % 3), 1.2 + 0.1 * (call % 2)

    assert check_calls(ledger, arguments, (0, 1, 2), before) == 59


# -- callbacks with arguments that are passed on -------------------------------------------------------------


class Callback:
    def __init__(self, function: Callable[..., Any], *args: Any, **named: Any) -> None:
        self.function, self.args, self.named = function, args, named

    def __call__(self, *extra: Any, **more: Any) -> Any:
        return self.function(*extra, *self.args, self.named["weight"], **{**self.named, **more})


def response(t: Any, *terms: Any, weight: Any = 1.0, **scales: Any) -> Any:
    y = weight
    for k, term in enumerate(terms):
        y = y * 0.5 + term * t**k
    for name in sorted(scales):
        y *= scales[name]
    return y


def response_squared(t: Any, *terms: Any, **named: Any) -> Any:
    return response(t, *terms, **named) ** 2


FUNCTION: list[Callable[..., Any]] = [response]


def integrated(weight: Any, terms: Any, settings: Any, steps: int) -> Any:
    callback = Callback(FUNCTION[0], *terms, weight=weight)
    total = 0.0
    for k in range(steps):
        total += callback(k / steps, settings["level"], settings["level"])
        total += callback(weight, *settings["pair"], settings["level"], gain=settings["level"])
    return total


def test_arguments_that_are_passed_on() -> None:
    def arguments(call: int) -> tuple[Any, ...]:
        terms = [(0.3,), [0.5, 1.0], (0.1, 2.0, 0.7)][call % 3]
        level = [0.7, 2, np.float64(1.5)][(call // 7) % 3]
        pair = [(0.2, 0.3), (1, 2.0), (), (0.5,)][(call // 5) % 4]
        settings = {} if call == 47 else {"level": level, "pair": pair}
        return 1.0 + 0.01 * call, terms, settings, 2 + call % 2

    def before(call: int) -> None:
        FUNCTION[0] = response_squared if call % 11 == 5 else response

    assert check_calls(integrated, arguments, (0, 1), before) == 59


# -- streams ------------------------------------------------------------------------------------------------


def in_turn(*streams: Any, weight: Any = 1.0, **named: Any) -> Iterator[Any]:
    waiting = [iter(stream) for stream in [*streams, *named.values()]]
    while waiting:
        stream = waiting.pop(0)
        for value in stream:
            yield value * weight
            waiting.append(stream)
            break


class Track(UserList[Any]):
    bend = 1.0

    def length(self) -> Any:
        return sum(self.step(a, b) for a, b in zip(self, self[1:]))

    def step(self, a: Any, b: Any) -> Any:
        return math.hypot(self.bend, b - a)


def flat(self: Track, a: Any, b: Any) -> Any:
    return (b - a) ** 2


def streams(x: Any, y: Any, n: int) -> Any:
    total = 0.0
    for value in in_turn([x, y], (k * x for k in range(n)), weight=y, more=[x * y]):
        total = total * 0.9 + value * value
    track = Track([0.0, x])
    track.append(y)
    track += [x * y] * (n - 1)
    return total + track.length() * sum(heapq.merge([x, 9.0], [y])) + sum(a * b for a, b in zip(track, [x]))


def test_streams() -> None:
    original = Track.step

    def before(call: int) -> None:
        Track.bend = 1.0 + 0.1 * (call % 4)
        Track.step = flat if call % 9 in (4, 5) else original  # type: ignore[method-assign]

    check_calls(streams, lambda call: (0.61 + 0.01 * call, 1.307, 1 + call % 3), (0, 1), before)
