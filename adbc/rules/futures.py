"""`concurrent.futures.ThreadPoolExecutor`: a task is run where it is submitted.

That is one of the orders in which the threads may run tasks that do not wait for each other, and the one that
can be differentiated.  What a thread is prepared with by an initialiser is not there then: such executors are
left to be refused.
"""

from __future__ import annotations

from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

from adbc.errors import UnsupportedError
from adbc.rules.table import Overlay, Rule

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
    try:
        result = function(*args, **keywords)
    except BaseException as error:  # whoever asks for the result gets it
        future.set_exception(error)
    else:
        future.set_result(result)
    return future


ROWS: list[Rule] = [Overlay(ThreadPoolExecutor.submit, _submit)]
