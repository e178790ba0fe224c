"""The garbage collector rests while code is made, and while adbc is loaded.

Graphs are cyclic and are made of tens of thousands of objects that are all needed until the code is there:
the collector would walk over them again and again, a quarter of the time of a long build, and find nothing.
What modules and tables of rules are made of stays for good; thirty collections on the way, and the one of
everything that they bring up, would be half of the time to the first gradient.  At the end it is put among
what is old without a look at it.
"""

from __future__ import annotations

import contextlib
import gc
from collections.abc import Iterator

__all__ = ["loading", "paused"]


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
