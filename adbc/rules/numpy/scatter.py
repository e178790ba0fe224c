"""Rules of functions that write a sequence of values to chosen elements of an array.

``putmask``, ``place``, ``put`` and ``fill_diagonal`` differ only in which elements they write and
which value goes to each: that is all a row says (`Places`).  Values repeat if there are too few; of
repeated elements the last value survives, and only that one receives a cotangent.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from adbc.rules.numpy.base import (
    check_writable,
    converting,
    gather,
    gather_tangent,
    give,
    plain,
    refuse_text_of,
)
from adbc.rules.numpy.indexing import mutating
from adbc.rules.table import NO_KWARGS, Args, Kwargs, Primitive, Pullback, Rule

__all__ = ["ROWS"]

Places = Callable[..., tuple[Any, Any]]
"""A function of the target, the number of values and the arguments that say where to write: it gives the
numbers of the elements that are written, each once, and the number of the value for each."""


def masked_places(target: Any, count: int, mask: Any) -> tuple[Any, Any]:
    """The places of ``putmask``: a value goes to the element of the same number."""
    places = np.flatnonzero(mask)
    return places, places % count


def ordered_places(target: Any, count: int, mask: Any) -> tuple[Any, Any]:
    """The places of ``place``: the values go in order to the elements where `mask` is on."""
    places = np.flatnonzero(mask)
    return places, np.arange(places.size) % count


def numbered_places(target: Any, count: int, ind: Any, mode: str = "raise") -> tuple[Any, Any]:
    """The places of ``put``: the values go in order to the elements with the numbers `ind`."""
    numbers = np.ravel(ind).astype(np.intp)
    places = np.clip(numbers, 0, target.size - 1) if mode == "clip" else numbers % max(target.size, 1)
    winner = np.full(target.size, -1)
    order = np.arange(places.size)
    winner[places] = order
    stays = winner[places] == order
    return places[stays], order[stays] % count


def diagonal_places(target: Any, count: int, wrap: bool = False) -> tuple[Any, Any]:
    """The places of ``fill_diagonal``: the values go in order to the elements of the diagonal."""
    mask = np.zeros(target.shape, bool)
    np.fill_diagonal(mask, True, wrap)
    return ordered_places(target, count, mask)


def scatter(function: Any, places_of: Places, names: str, at: int) -> Rule:
    """The row of a function of parameters `names` that writes the argument at `at` into the first one."""
    parameters = names.split()

    def others_of(args: Args, kwargs: Kwargs) -> dict[str, Any]:
        """The arguments that say where to write, by name."""
        given = list(zip(parameters, args, strict=False))
        return {**dict(given[1:at] + given[at + 1 :]), **kwargs}

    def frule(args: Args, dargs: Args, kwargs: Kwargs = NO_KWARGS) -> tuple[Any, Any]:
        target, values = args[0], args[at]
        dtarget, dvalues = dargs[0], gather_tangent(values, dargs[at])
        check_writable(target, dtarget, dvalues is not None)
        refuse_text_of(target, (values,), (dvalues,))
        count = np.size(values)
        # The target may be its own mask, so the places are found before it is written.
        found = places_of(target, count, **others_of(args, kwargs)) if count else None
        if dtarget is not None and found is not None:
            places, sources = found
            if dvalues is None:
                dtarget.flat[places] = 0
            else:
                new = np.ravel(dvalues)[sources]
                dtarget.flat[places] = new if np.iscomplexobj(dtarget) else np.real(new)
        function(*args, **kwargs)
        return None, None

    def rrule(args: Args, fargs: Args, kwargs: Kwargs = NO_KWARGS) -> tuple[Any, Any, Pullback]:
        target, values = args[0], args[at]
        ftarget, fvalues = fargs[0], fargs[at]
        check_writable(target, ftarget, fvalues is not None)
        refuse_text_of(target, (values,), (fvalues,))
        count = np.size(values)
        found = places_of(target, count, **others_of(args, kwargs)) if count else None
        old = target.copy()
        function(*args, **kwargs)

        def scatter_pullback(bout: Any) -> Sequence[Any]:
            np.copyto(target, old)
            result: list[Any] = [None] * len(args)
            if ftarget is not None and found is not None:
                places, sources = found
                b = ftarget.flat[places]
                ftarget.flat[places] = 0
                if fvalues is not None:
                    whole = np.zeros(count, b.dtype)
                    np.add.at(whole, sources, b)
                    result[at] = give(fvalues, values, whole.reshape(np.shape(gather(values))))
            return result

        return None, None, scatter_pullback

    row = Primitive(function, frule=frule, rrule=rrule, when=_array_first, parameters=parameters)
    return converting(mutating(row), at)


def _array_first(cls: type, *rest: type) -> bool:
    return cls is np.ndarray and plain(*rest)


ROWS: list[Rule] = [
    scatter(np.putmask, masked_places, "a mask values", 2),
    scatter(np.place, ordered_places, "arr mask vals", 2),
    scatter(np.put, numbered_places, "a ind v mode", 2),
    scatter(np.ndarray.put, numbered_places, "a ind values mode", 2),
    scatter(np.fill_diagonal, diagonal_places, "a val wrap", 1),
]
