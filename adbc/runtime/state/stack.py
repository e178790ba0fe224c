"""How deep calls may be nested while a derivative is taken.

What recurses in plain Python at its recursion limit must recurse in its derivative.  A call whose function
is known when a rule is built takes one frame there, as in Python.  One that is decided when it runs takes
several, and so does its pullback: so the limit is raised while a top-level call is under way that has made
such a call, and put back behind it.  A rule may be built at the bottom of a recursion, which needs room of
its own.

Python functions that call each other take no room on the C stack, so a higher limit costs nothing.  But
before CPython 3.12 the limit is all that keeps functions in C that call back, such as ``getattr`` with a
hook, from running over the end of that stack.  There it is raised only as far as the stack goes.  A pullback
takes two frames where its call has returned an exception, or has gone on behind a wrong guess; the second is
entered by the first, in Python.  So on the way back, the limit is twice as high, on the same stack too.

The limit belongs to the interpreter, not to a thread.  So there is one `Stack`, which counts who needs what.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from sys import getrecursionlimit, setrecursionlimit
from threading import Lock, stack_size

__all__ = ["STACK", "Stack"]

_PER_FRAME = 40
"""How many frames one frame of the user's has at most, and its pullback; delegation by ``yield from`` has
most."""
_ROOM = 2000
"""How many frames building a rule may need."""
_HIGHEST = 400_000
"""How far the limit is raised at most: each frame takes memory, and an endless recursion takes them all."""
_BYTES_PER_FRAME = 800
"""How much of the C stack one frame may take, where the interpreter does not look after that."""
_USUAL_SIZE = 8 << 20


def _main_stack() -> int:
    """How large the C stack of a thread is, if `stack_size` says nothing else."""
    try:
        import resource
    except ImportError:  # on Windows, where that of the main thread usually has one megabyte
        return 1 << 20
    size = resource.getrlimit(resource.RLIMIT_STACK)[0]
    return _USUAL_SIZE if size == resource.RLIM_INFINITY else min(size, _USUAL_SIZE)


class Stack:
    """The recursion limit, and who has it raised."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._size = None if sys.version_info >= (3, 12) else _main_stack()
        """The size of the C stack, if what is on it is to be limited here."""
        self._calls = 0
        self._returns = 0
        self._builds = 0
        self._users = 0
        """The limit that the user has set."""
        self._raised = 0
        """The limit that was set here last; another one is the user's."""

    def _change(self, calls: int, builds: int, returns: int = 0) -> None:
        with self._lock:
            users = limit = getrecursionlimit()
            if limit == self._raised:
                users = limit = self._users
            calls += self._calls
            returns += self._returns
            if calls:
                limit *= _PER_FRAME
                highest = _HIGHEST
                if self._size is not None:
                    highest = min(stack_size() or self._size, self._size) // _BYTES_PER_FRAME
                if limit > highest:
                    limit = max(users, highest)
                if returns:
                    limit *= 2
            builds += self._builds
            if builds:
                limit += _ROOM
            setrecursionlimit(limit)
            self._calls, self._returns = calls, returns
            self._builds = builds
            self._users = users
            self._raised = limit

    def deepen(self) -> None:
        """Raise the limit for a top-level call, until `restore`."""
        self._change(1, 0)

    def restore(self) -> None:
        """Undo one `deepen`: the limit is the user's again, unless another call needs it as it is."""
        self._change(-1, 0)

    @contextmanager
    def way_back(self) -> Iterator[None]:
        """Raise the limit for the pullback of a top-level call in the block."""
        self._change(1, 0, 1)
        try:
            yield
        finally:
            self._change(-1, 0, -1)

    @contextmanager
    def room(self) -> Iterator[None]:
        """Let there be room for building a rule in the block."""
        self._change(0, 1)
        try:
            yield
        finally:
            self._change(0, -1)


STACK = Stack()
