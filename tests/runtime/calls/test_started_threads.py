"""Threads that are started in a call: what they compute is not followed, so it may not matter."""

from __future__ import annotations

import gc
import multiprocessing.pool
import queue
import sys
import threading
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import adbc
from adbc.errors import AdbcError, UnsupportedError

X = 1.3
PARAMETERS: dict[str, Any] = {}


def run(*threads: threading.Thread) -> None:
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


class Worker(threading.Thread):
    def __init__(self, k: Any) -> None:
        super().__init__()
        self.k = k

    def run(self) -> None:
        self.out = self.k * 2.0


class WithGlobal(threading.Thread):
    def run(self) -> None:
        self.out = self.helped()

    def helped(self) -> Any:
        return PARAMETERS["a"] * 2.0


def by_a_class_made_here(x: Any) -> Any:
    class Local(threading.Thread):
        def run(self) -> None:
            self.out = 2.0 * x

    local = Local()
    run(local)
    return local.out


def by_an_attribute(x: Any) -> Any:
    worker = Worker(x)
    run(worker)
    return worker.out


def by_a_global(x: Any) -> Any:
    PARAMETERS["a"] = x
    worker = WithGlobal()
    run(worker)
    return worker.out


def by_what_an_object_calls(x: Any) -> Any:
    def callback() -> Any:
        return x

    class Holder:
        def go(self) -> None:
            self.out = callback()

    holder = Holder()
    run(threading.Thread(target=holder.go))
    return holder.out


def by_a_closure(x: Any) -> Any:
    found = {}

    def work(k: int) -> None:
        found[k] = k * x

    run(*(threading.Thread(target=work, args=(k,)) for k in range(3)))
    return sum(found.values())


def into_a_list(x: Any) -> Any:
    found: list[float] = []
    run(*(threading.Thread(target=lambda k: found.append(k * 1.0), args=(k,)) for k in range(3)))
    return sum(v * x for v in found)


def into_a_dict(x: Any) -> Any:
    found: dict[int, float] = {}

    def work(k: int) -> None:
        found[k] = k * 0.5

    run(*(threading.Thread(target=work, args=(k,)) for k in range(3)))
    return sum(v * x for _, v in sorted(found.items()))


@pytest.mark.parametrize(
    "f",
    [
        by_a_class_made_here, by_an_attribute, by_a_global, by_what_an_object_calls, by_a_closure,
        into_a_list, into_a_dict,
    ],
)  # fmt: skip
def test_what_would_be_lost_is_refused(f: Callable[[Any], Any], speculation: str) -> None:
    message = "a thread is started that runs .*: what another thread computes is not followed"
    for _ in range(2):
        with pytest.raises(AdbcError, match=message):
            adbc.grad(f)(X)
        with pytest.raises(AdbcError, match=message):
            adbc.jvp(f, (X,), (1.0,))


def of_constants(x: Any) -> Any:
    workers = [Worker(k) for k in range(3)]
    run(*workers)
    return x * sum(worker.out for worker in workers)


def by_a_queue(x: Any) -> Any:
    waiting: queue.Queue[float] = queue.Queue()
    run(threading.Thread(target=lambda q: q.put(2.0), args=(waiting,), daemon=True))
    return waiting.get() * x


def without_result(x: Any) -> Any:
    run(threading.Thread(target=len, args=("text",)))
    return x * 3.0


class Counter:
    def __init__(self) -> None:
        self.count = 0
        self.lock = threading.Lock()

    def add(self, k: int, more: int = 1) -> None:
        with self.lock:
            self.count += k + more


def by_methods(x: Any) -> Any:
    counter = Counter()
    run(*[threading.Thread(target=counter.add, args=(k,), kwargs={"more": 2}) for k in range(3)])
    return x * counter.count


@pytest.mark.parametrize("f", [of_constants, by_a_queue, without_result, by_methods])
def test_what_has_no_derivative_is_run(f: Callable[[Any], Any], speculation: str) -> None:
    for _ in range(2):
        assert adbc.value_and_grad(f)(X) == (f(X), pytest.approx(f(1.0)))
        assert adbc.jvp(f, (X,), (1.0,)) == (f(X), pytest.approx(f(1.0)))


@pytest.mark.parametrize("is_named", [False, True])
def test_values_among_the_arguments(is_named: bool) -> None:
    """An array that is in the tuple of the arguments alone is not known by its address."""

    def f(x: float) -> Any:
        results: queue.SimpleQueue[Any] = queue.SimpleQueue()

        def work(given: Any, results: Any) -> None:
            results.put(np.sin(*given))

        v = np.ones(3) * x
        if is_named:
            thread = threading.Thread(target=work, kwargs={"given": (v,), "results": results})
        else:
            thread = threading.Thread(target=work, args=((v,), results))
        thread.start()
        thread.join()
        return results.get().sum()

    for differentiate in (adbc.grad(f), lambda x: adbc.jvp(f, (x,), (1.0,))):
        with pytest.raises(UnsupportedError, match="a thread is started"):
            differentiate(1.5)


NUMBERS = [1.0]
TOTAL = [0.0]


def add_up() -> None:
    TOTAL[0] = TOTAL[0] + NUMBERS[0] ** 2


@pytest.fixture
def without_a_word_of_buffers(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """What a refusal has come through stays until the collector comes, if it passed handlers.  Views of the
    memory of a `BytesIO` are in that, which from CPython 3.13 on complains if it dies in a cycle with one: in
    whatever test is running then.
    """
    monkeypatch.setattr(sys, "unraisablehook", lambda _: None)
    yield
    gc.collect()


@pytest.mark.usefixtures("without_a_word_of_buffers")
@pytest.mark.parametrize("hand_over", [
    lambda pool: pool.map(lambda f: f(), [add_up, add_up]),
    lambda pool: pool.apply_async(add_up).get(),
    lambda pool: list(pool.imap(lambda f: f(), [add_up])),
], ids=["map", "apply_async", "imap"])  # fmt: skip
def test_what_a_pool_takes_from_a_queue(hand_over: Any) -> None:
    """Its threads are started before there is something to do."""

    def f(x: Any) -> Any:
        TOTAL[0] = 0.0
        NUMBERS[0] = x
        with multiprocessing.pool.ThreadPool(2) as pool:
            hand_over(pool)
        return TOTAL[0]

    assert f(1.5) > 0.0
    for run_it in (lambda: adbc.jvp(f, (1.5,), (1.0,)), lambda: adbc.grad(f)(1.5)):
        with pytest.raises(AdbcError, match="it may call add_up"):
            run_it()
