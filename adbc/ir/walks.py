"""The intrinsics of walks over containers: steps that say where in a list or dict they are.

Loops take them in the place of `_iter_` and `_next_` where it is known what is walked through; each is an
ordinary function whose body is its meaning.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from adbc.ir.sentinels import EXHAUSTED

__all__ = [
    "_element_",
    "_entry_key_",
    "_entry_value_",
    "_list_iterator_",
    "_list_reversed_",
    "_next_at_",
    "_next_entry_",
    "_next_key_",
    "_next_place_",
    "_next_value_",
    "_resume_iterator_",
    "_resume_view_",
    "_take_at_",
    "_view_iterator_",
]  # fmt: skip


# -- walks over lists, whose steps are counted -----------------------------------------------------------


def _list_iterator_(values: list[Any]) -> Iterator[Any]:
    """``iter(values)`` of a list, whose steps are counted."""
    return iter(values)


def _list_reversed_(values: list[Any]) -> Iterator[Any]:
    """``reversed(values)`` of a list, whose steps are counted."""
    return iter(reversed(values))


def _element_(unpacked: tuple[Any, ...], values: list[Any], index: int) -> Any:
    """Element `index` of what was unpacked from a list."""
    return unpacked[index]


def _next_at_(iterator: Iterator[Any], values: list[Any], index: int) -> Any:
    """The next value of an iterator over `values`, or `EXHAUSTED`; it is element number `index`."""
    return next(iterator, EXHAUSTED)


def _take_at_(iterator: Iterator[Any], values: list[Any], index: int) -> Any:
    """``next(iterator)`` of an iterator over `values`; it is element number `index`."""
    return next(iterator)


def _resume_iterator_(
    iterator: Iterator[Any], values: list[Any], index: int, stride: int = 1
) -> Iterator[Any]:
    """The iterator over `values` that goes on with element number `index`, and goes by `stride`."""
    return iterator


# -- walks over dicts, whose steps say at which key they are -----------------------------------------------


def _view_iterator_(source: dict[Any, Any], method: Any) -> Iterator[Any]:
    """``iter(source.keys())``, ``.values()`` or ``.items()``, whose steps are told apart by their keys;
    `method` is that of `dict`."""
    return iter(method(source))


def _next_key_(iterator: Iterator[Any]) -> Any:
    """The next key that an iterator over a dict gives, or `EXHAUSTED`."""
    return next(iterator, EXHAUSTED)


def _next_place_(iterator: Iterator[Any]) -> Any:
    """The next key that an iterator over a dict gives, or `EXHAUSTED`; it only says where a step is."""
    return next(iterator, EXHAUSTED)


def _next_value_(iterator: Iterator[Any], source: dict[Any, Any], key: Any) -> Any:
    """The next value of an iterator over the values of `source`, or `EXHAUSTED`; it is that at `key`."""
    return next(iterator, EXHAUSTED)


def _next_entry_(iterator: Iterator[Any]) -> Any:
    """The next pair of an iterator over the items of a dict, or `EXHAUSTED`; it is used only in parts."""
    return next(iterator, EXHAUSTED)


def _entry_key_(entry: tuple[Any, Any]) -> Any:
    """The key of a pair that `_next_entry_` gave."""
    return entry[0]


def _entry_value_(entry: tuple[Any, Any], source: dict[Any, Any], key: Any) -> Any:
    """The value of a pair that `_next_entry_` gave; it is that of `source` at `key`."""
    return entry[1]


def _resume_view_(iterator: Iterator[Any], source: dict[Any, Any]) -> Iterator[Any]:
    """The iterator over `source` or a view of it, as it is by now, for code that takes any iterator."""
    return iterator
