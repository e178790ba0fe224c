"""States of loops in files: what `checkpoint_loop` keeps on disk where it is asked to.

A state is written as `pickle` writes it, with arrays in the order in which they lie in memory, so that it
comes back bit for bit and sums are added up in the same order.  That it does is seen by a number for its
bits, which is kept beside it.
"""

from __future__ import annotations

import copy
import os
import pickle
import shutil
import sys
import tempfile
import weakref
from collections.abc import Callable
from typing import Any

from adbc.errors import ArgumentError, UnsupportedError

__all__ = ["Files", "Kept"]


class _Writer(pickle.Pickler):
    """Writes arrays so that they come back with their axes in the order of memory."""

    def reducer_override(self, obj: Any) -> Any:
        numpy = sys.modules.get("numpy")
        if numpy is None or type(obj) is not numpy.ndarray or obj.dtype.hasobject:
            return NotImplemented
        if obj.flags.forc or obj.ndim < 2:
            return NotImplemented
        axes = sorted(range(obj.ndim), key=lambda i: -abs(obj.strides[i]))
        back = [axes.index(i) for i in range(obj.ndim)]
        return _transposed, (numpy.ascontiguousarray(obj.transpose(axes)), back)


def _transposed(array: Any, axes: list[int]) -> Any:
    """An array in memory of its own, with these axes."""
    return array.transpose(axes).copy("K")


class Files:
    """A directory in `parent` for the states of one loop: it is removed when it is closed, and else when
    nobody has it any more, or the process ends.

    digest: gives a number for the bits of all numbers in what is listed.
    """

    is_out_of_sight = True
    """A pullback that has used files up cannot be run again: who would do so runs the function again."""

    def __init__(self, parent: Any, digest: Callable[[list[Any]], bytes]) -> None:
        try:
            self.path = tempfile.mkdtemp(prefix="adbc-states-", dir=os.fspath(parent))
        except (OSError, TypeError) as error:
            raise ArgumentError(
                f"directory={parent!r}: states of a loop are to be kept in files there, and no directory can"
                f" be made in it ({error}); give one that exists and may be written to"
            ) from error
        self.digest = digest
        self._count = 0
        self._remove = weakref.finalize(self, shutil.rmtree, self.path, ignore_errors=True)

    def keep(self, state: Any) -> Kept:
        """Write `state` to a file."""
        self._count += 1
        return Kept(self, os.path.join(self.path, str(self._count)), state)

    def close(self) -> None:
        """Remove all files."""
        self._remove()


class Kept:
    """A state in a file."""

    def __init__(self, files: Files, path: str, state: Any) -> None:
        self._files, self._path = files, path
        state = copy.deepcopy(state)  # what would be kept in memory, where views are arrays of their own
        self._bits = files.digest([state])
        try:
            with open(path, "wb") as file:
                _Writer(file, protocol=5).dump(state)
        except (pickle.PicklingError, TypeError, AttributeError) as error:
            raise _refused(f"cannot be written to a file ({error})") from error

    def read(self) -> Any:
        """A state with the same bits."""
        with open(self._path, "rb") as file:
            state = copy.deepcopy(pickle.load(file))  # arrays lie in memory of the file's bytes otherwise
        if self._files.digest([state]) != self._bits:
            raise _refused("is another one when it is read from its file")
        return state

    def remove(self) -> None:
        """Remove the file."""
        if os.path.exists(self._path):
            os.remove(self._path)


def _refused(what: str) -> UnsupportedError:
    return UnsupportedError(
        f"a state of a loop with directory= {what}",
        "it holds something that pickle does not write, or not exactly: a function without a name in a"
        " module, an open file, an object that leaves numbers out",
        "keep such objects in the closure of the step, or leave directory= out, so that states stay in"
        " memory",
    )
