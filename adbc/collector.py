"""The garbage collector rests while code is made and while adbc is loaded, and is patient in derivatives.

Graphs are cyclic and are made of tens of thousands of objects that are all needed until the code is there:
the collector would walk over them again and again, a quarter of the time of a long build, and find nothing.
What modules and tables of rules are made of stays for good; thirty collections on the way, and the one of
everything that they bring up, would be half of the time to the first gradient.  At the end it is put among
what is old without a look at it.

A forwards pass makes a record for each step, all of which live until the pullback has used them.  The
collector is made for programs in which most of what is new is dropped at once: it would look at the whole
record whenever a quarter has been added, and take most of the time of long loops.  So the first collection
that begins in a pass lets those that follow wait for more objects.  A bounded number of them may be garbage
that only the collector would find; with the end of the pass all is as it was.
"""

from __future__ import annotations

import contextlib
import gc
from collections.abc import Callable, Iterator

__all__ = ["PATIENCE", "Patience", "loading", "paused"]


@contextlib.contextmanager
def paused() -> Iterator[None]:
    """Let no collection begin by itself; what the caller has set is there again at the end."""
    if not gc.isenabled():
        yield
        return
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


@contextlib.contextmanager
def loading() -> Iterator[None]:
    """Let no collection begin by itself while what stays for good is made, and count all that is there at the
    end as old: the next full collection is the first to look at it.  Whoever has frozen objects keeps them
    frozen.
    """
    if not gc.isenabled():
        yield
        return
    with paused():
        yield
        if not gc.get_freeze_count():
            gc.freeze()  # joins lists of objects, as does
            gc.unfreeze()


class Patience:
    """Lets the collector wait for more objects than usual once it comes in a pass of a derivative."""

    OBJECTS = 50_000
    """How many objects there are before the collector comes again."""

    def __init__(self) -> None:
        self.is_asked = False
        """Whether the collector has been told to wait."""
        self._before: tuple[int, int, int] = (0, 0, 0)

    def begin(self, in_pass: Callable[[], bool]) -> None:
        """Ask `in_pass`, from now on, whether the thread in which a collection begins is in such a pass."""

        def comes(phase: str, info: object) -> None:
            if phase == "start" and not self.is_asked and in_pass():
                self.ask()

        gc.callbacks.append(comes)

    def ask(self) -> None:
        """Let the collector wait, unless it waits for as many or is not to come at all."""
        before = gc.get_threshold()
        if 0 < before[0] < self.OBJECTS:
            self._before, self.is_asked = before, True
            gc.set_threshold(self.OBJECTS, *before[1:])

    def end(self) -> None:
        """Let the collector come as before, unless the program has said in the meantime how it is to come."""
        self.is_asked = False
        if gc.get_threshold() == (self.OBJECTS, *self._before[1:]):
            gc.set_threshold(*self._before)


PATIENCE = Patience()
"""What this process has."""
