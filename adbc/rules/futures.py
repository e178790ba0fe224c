"""`concurrent.futures.ThreadPoolExecutor`: a task is run where it is submitted.

That is one of the orders in which the threads may run tasks that do not wait for each other, and the one that
can be differentiated.  What a thread is prepared with by an initialiser is not there then: such executors are
left to be refused.
"""

from __future__ import annotations

from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

from adbc.errors import UnsupportedError
from adbc.rules.table import Overlay, Rule, ZeroRule
from adbc.tangents.keys import CALL

__all__ = ["ROWS"]


def _submit(executor: Any, function: Any, /, *args: Any, **keywords: Any) -> Any:
    if executor._initializer is not None:
        raise UnsupportedError(
            "a task is submitted to a ThreadPoolExecutor with an initializer",
            "the task is run where it is submitted, and what the initializer does for a thread is not there",
            "call the function in a loop, or pass to it what the initializer sets",
        )
    if executor._shutdown:
        raise RuntimeError("cannot schedule new futures after shutdown")
    future: Future[Any] = Future()
    begin_task(executor)
    try:
        result = function(*args, **keywords)
    except BaseException as error:  # whoever asks for the result gets it
        future.set_exception(error)
    else:
        future.set_result(result)
    finally:
        end_task()
    return future


def begin_task(executor: Any) -> None:
    """Take note that a task begins, which a thread of the executor would run, in a context of its own."""
    if CALL.memory is not None:
        CALL.memory.tasks.append(executor)


def end_task() -> None:
    """Take note that the task has ended that began last."""
    if CALL.memory is not None:
        CALL.memory.tasks.pop()


ROWS: list[Rule] = [
    Overlay(ThreadPoolExecutor.submit, _submit),
    ZeroRule(begin_task),
    ZeroRule(end_task),
]
