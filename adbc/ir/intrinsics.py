"""The intrinsics: what normal form calls where Python has syntax.

Each is an ordinary function whose body is its meaning, so the interpreter of graphs simply calls
it, and rules are written for it as for any other function.  Arithmetic, comparison and subscript
syntax needs no intrinsic of its own: the functions of `operator` say it already.

Those in `CONTEXTUAL` mean something only inside a frame, so whoever runs a graph supplies it; the functions
here only hold the name.  Those that no Python function can spell are in `native`, and those that no syntax
stands for in `synthetic`; both are handed on here.
"""

from __future__ import annotations

import builtins
import inspect
import sys
import types
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NoReturn

from adbc.errors import UnsupportedError
from adbc.ir.native import (
    _check_eg_match_,
    _check_exc_match_,
    _go_on_raising_,
    _intrinsic_1_,
    _intrinsic_2_,
    _match_class_,
    _match_keys_,
    _match_mapping_,
    _match_sequence_,
    _pop_except_,
    _prep_reraise_star_,
    _push_exc_info_,
    _reraise_,
)
from adbc.ir.sentinels import BEGINNING, EXHAUSTED, MISSING, UNBOUND, Sentinel
from adbc.ir.synthetic import (
    Raised,
    _array_is_,
    _assume_,
    _attempt_,
    _class_is_,
    _code_is_,
    _counts_from_zero_,
    _empty_counter_,
    _empty_default_,
    _exception_,
    _expose_,
    _factory_is_,
    _form_is_,
    _has_field_,
    _init_field_,
    _is_raised_,
    _members_,
    _method_is_,
    _nonzero_,
    _not_nan_,
    _observe_,
    _or_else_,
    _overwrite_field_,
    _overwrite_item_,
    _own_,
    _pass_on_,
    _product_,
    _quotient_,
    _raised_,
    _real_,
    _recall_,
    _recognise_,
    _record_,
    _refuse_,
    _remember_,
    _require_,
    _slot_,
    _within_,
)
from adbc.ir.walks import (
    _element_,
    _entry_key_,
    _entry_value_,
    _list_iterator_,
    _list_reversed_,
    _next_at_,
    _next_entry_,
    _next_key_,
    _next_place_,
    _next_value_,
    _resume_iterator_,
    _resume_view_,
    _take_at_,
    _view_iterator_,
)

__all__ = [
    "BEGINNING", "CONTEXTUAL", "EXHAUSTED", "KEPT", "MISSING", "STACK", "UNBOUND", "Raised", "Sentinel",
    "_array_is_", "_assume_", "_attempt_", "_check_eg_match_", "_check_exc_match_", "_class_is_",
    "_code_is_", "_counts_from_zero_", "_element_", "_empty_counter_", "_empty_default_",
    "_entry_key_", "_entry_value_", "_exception_", "_expose_", "_factory_is_", "_form_is_", "_go_on_raising_",
    "_has_field_", "_init_field_",
    "_intrinsic_1_",
    "_intrinsic_2_", "_is_raised_",
    "_list_iterator_", "_list_reversed_",
    "_match_class_", "_match_keys_", "_match_mapping_", "_match_sequence_", "_members_",
    "_method_is_", "_next_at_", "_next_entry_", "_next_key_", "_next_place_", "_next_value_", "_nonzero_",
    "_not_nan_", "_observe_", "_or_else_", "_overwrite_field_", "_overwrite_item_", "_own_", "_pass_on_",
    "_pop_except_", "_prep_reraise_star_", "_product_", "_push_exc_info_", "_quotient_", "_raised_",
    "_real_", "_recall_", "_recognise_", "_record_", "_refuse_", "_remember_",
    "_require_", "_reraise_", "_resume_iterator_",
    "_resume_view_", "_slot_", "_take_at_", "_variables_", "_view_iterator_", "_within_", "find_special",
    "in_namespace", "unraisable",
]  # fmt: skip


# -- names ---------------------------------------------------------------------------------------


def _check_(value: object, name: str) -> object:
    """The value of local `name`; `UnboundLocalError` if it has none."""
    if value is UNBOUND:
        raise UnboundLocalError(
            f"cannot access local variable '{name}' where it is not associated with a value"
        )
    return value


def _global_(name: str) -> NoReturn:
    """The global or builtin `name`.  Contextual."""
    raise AssertionError("_global_ needs a frame")


def _class_global_(namespace: Mapping[str, Any], name: str) -> NoReturn:
    """What `name` means in a class with this namespace: what is there, or the global.  Contextual."""
    raise AssertionError("_class_global_ needs a frame")


def _class_cell_(namespace: Mapping[str, Any], cell: types.CellType, name: str, free: bool) -> object:
    """What `name` means in a class with this namespace: what is there, or what is in `cell`."""
    found = in_namespace(namespace, name)
    return _cell_get_(cell, name, free) if found is MISSING else found


def in_namespace(namespace: Mapping[str, Any], name: str) -> object:
    """What a namespace holds under `name`, or `MISSING`."""
    try:
        return namespace[name]
    except KeyError:
        return MISSING


def _load_name_(namespace: Mapping[str, Any], name: str, globals: dict[str, Any]) -> object:
    """What `name` means in the body of a class: what is in its namespace, or the global or builtin."""
    found = in_namespace(namespace, name)
    return global_or_builtin(globals, name) if found is MISSING else found


def global_or_builtin(globals: dict[str, Any], name: str) -> object:
    """What `name` means in code that runs with `globals`."""
    if name in globals:
        return globals[name]
    builtins_ = globals.get("__builtins__", builtins)
    found = builtins_ if isinstance(builtins_, dict) else vars(builtins_)
    if name in found:
        return found[name]
    raise NameError(f"name '{name}' is not defined", name=name)


def _delete_name_(namespace: dict[str, Any], name: str) -> None:
    """``del name`` in the body of a class."""
    try:
        del namespace[name]
    except KeyError:
        pass  # the error below has no context
    else:
        return
    raise NameError(f"name '{name}' is not defined", name=name)


def _setup_annotations_(namespace: dict[str, Any]) -> None:
    """Put an empty ``__annotations__`` into the namespace of a class body, unless there is one."""
    if "__annotations__" not in namespace:
        namespace["__annotations__"] = {}


def _store_global_(name: str, value: object) -> NoReturn:
    """Bind the global `name`.  Contextual."""
    raise AssertionError("_store_global_ needs a frame")


def _delete_global_(name: str) -> NoReturn:
    """Unbind the global `name`.  Contextual."""
    raise AssertionError("_delete_global_ needs a frame")


def _globals_() -> NoReturn:
    """The dictionary of globals.  Contextual."""
    raise AssertionError("_globals_ needs a frame")


def _freevar_(index: int) -> NoReturn:
    """The cell number `index` of the running function's closure.  Contextual."""
    raise AssertionError("_freevar_ needs a frame")


def _cell_new_(*contents: object) -> types.CellType:
    """A new cell: empty, or holding its one argument.  `UNBOUND` makes an empty one too."""
    return types.CellType() if not contents or contents[0] is UNBOUND else types.CellType(contents[0])


def _cell_get_(cell: types.CellType, name: str, free: bool) -> object:
    """The contents of `cell`, which is variable `name`; the error of an empty cell depends on `free`."""
    try:
        return cell.cell_contents
    except ValueError:
        pass  # the error below has no context
    raise _unbound_cell(name, free)


def _cell_peek_(cell: types.CellType) -> object:
    """The contents of `cell`, or `UNBOUND` if it is empty."""
    try:
        return cell.cell_contents
    except ValueError:
        return UNBOUND


def _cell_set_(cell: types.CellType, value: object) -> None:
    """Put `value` into `cell`."""
    cell.cell_contents = value


def _cell_del_(cell: types.CellType, name: str, free: bool) -> None:
    """Empty `cell`."""
    _cell_get_(cell, name, free)
    del cell.cell_contents


def _unbound_cell(name: str, free: bool) -> NameError:
    if free:
        return NameError(
            f"cannot access free variable '{name}' where it is not associated with a value in enclosing scope"
        )
    return UnboundLocalError(f"cannot access local variable '{name}' where it is not associated with a value")


def _variables_(names: tuple[tuple[str, bool], ...], *values: Any) -> dict[str, Any]:
    """The variables of a frame that are bound, as ``locals()`` gives them.

    names: of each value the name, and whether the value is the cell that holds it.
    """
    found: dict[str, Any] = {}
    for (name, is_cell), value in zip(names, values, strict=True):
        if not is_cell:
            content = value
        else:
            try:
                content = value.cell_contents
            except ValueError:
                continue
        if content is not UNBOUND:
            found[name] = content
    return found


# -- attributes, truth, iteration, membership ------------------------------------------------------


def _getattr_(obj: object, name: str) -> Any:
    """``obj.name``"""
    return getattr(obj, name)


def _setattr_(obj: object, name: str, value: object) -> None:
    """``obj.name = value``"""
    setattr(obj, name, value)


def _delattr_(obj: object, name: str) -> None:
    """``del obj.name``"""
    delattr(obj, name)


def _bool_(value: object) -> bool:
    """The truth of `value`, as ``if`` sees it."""
    return bool(value)


def _not_contains_(container: Any, item: object) -> bool:
    """``item not in container``"""
    return item not in container


def _iter_(iterable: Any) -> Iterator[Any]:
    """``iter(iterable)``"""
    return iter(iterable)


def _next_(iterator: Iterator[Any]) -> Any:
    """The next value of `iterator`, or `EXHAUSTED`."""
    return next(iterator, EXHAUSTED)


def _exhausted_(value: object) -> bool:
    """Whether `_next_` found no value."""
    return value is EXHAUSTED


_TELLS_LENGTH = sys.version_info >= (3, 14)
"""Whether the error of unpacking too long a list, tuple or dict tells its length."""


def _unpack_(sequence: Any, count: int) -> tuple[Any, ...]:
    """The `count` values of ``a, b, c = sequence``; CPython's `ValueError` if there are more or fewer."""
    if not hasattr(type(sequence), "__iter__") and not hasattr(type(sequence), "__getitem__"):
        raise TypeError(f"cannot unpack non-iterable {type(sequence).__name__} object")
    values: list[Any] = []
    iterator = iter(sequence)
    for value in iterator:
        if len(values) == count:
            known = _TELLS_LENGTH and type(sequence) in (list, tuple, dict)
            got = f", got {len(sequence)}" if known else ""
            raise ValueError(f"too many values to unpack (expected {count}{got})")
        values.append(value)
    if len(values) < count:
        raise ValueError(f"not enough values to unpack (expected {count}, got {len(values)})")
    return tuple(values)


def _unpack_ex_(sequence: Any, before: int, after: int) -> tuple[Any, ...]:
    """The values of ``a, b, *rest, z = sequence``, `rest` as a list."""
    if not hasattr(type(sequence), "__iter__") and not hasattr(type(sequence), "__getitem__"):
        raise TypeError(f"cannot unpack non-iterable {type(sequence).__name__} object")
    iterator = iter(sequence)
    first = [x for _, x in zip(range(before), iterator, strict=False)]
    rest = list(iterator) if len(first) == before else []
    if len(first) < before or len(rest) < after:
        got = len(first) + len(rest)
        raise ValueError(f"not enough values to unpack (expected at least {before + after}, got {got})")
    end = len(rest) - after
    return (*first, rest[:end], *rest[end:])


def _unpack_list_(values: list[Any], count: int) -> tuple[Any, ...]:
    """`_unpack_` of a list, of which only the elements are used."""
    return _unpack_(values, count)


def _check_length_(values: Any, count: int) -> None:
    """Raise what unpacking the array `values` to `count` names raises, if it has not as many elements."""
    got = len(values)
    if got > count:
        raise ValueError(f"too many values to unpack (expected {count})")
    if got < count:
        raise ValueError(f"not enough values to unpack (expected {count}, got {got})")


def _takes_(function: Callable[..., Any], behind: int, count: int, values: tuple[Any, ...]) -> None:
    """Raise what calling `function` with `values` behind `behind` other arguments raises, if these are not
    `count`, which is how many it takes."""
    if len(values) != count:
        function(*(None,) * behind, *values)


def _takes_named_(
    function: Callable[..., Any],
    behind: int,
    given: tuple[str, ...],
    names: tuple[str, ...],
    required: int,
    values: dict[str, Any],
) -> None:
    """Raise what calling `function` with `values` by keyword raises, beside `behind` arguments by position
    and those that are `given` by name, if their names are not among `names`, or if one of the first
    `required` of these is not there."""
    if len(values) == len(names) and all(map(values.__contains__, names)):
        return
    if not values.keys() <= {*names} or not all(map(values.__contains__, names[:required])):
        function(*(None,) * behind, **dict.fromkeys(given), **values)


def _project_(values: tuple[Any, ...], index: int) -> Any:
    """Element `index` of a tuple that an unpacking or a multiple result made."""
    return values[index]


# -- making objects ----------------------------------------------------------------------------------


def _new_(kind: type, *parts: Any) -> Any:
    """A new object of `kind`, made by syntax or by calling the class.

    For list, tuple, set: of the parts.  For dict: of alternating keys and values.  For slice: start,
    stop and maybe step.  For a function: code, defaults, keyword defaults, annotations and closure,
    None where absent (contextual: it needs the globals of the frame).  For any other class: the
    instance that calling it gives.
    """
    if kind is tuple:
        return parts
    if kind is list:
        return list(parts)
    if kind is set:
        return set(parts)
    if kind is dict:
        return dict(zip(parts[::2], parts[1::2], strict=True))
    if kind is slice:
        return slice(*parts)
    if kind is types.FunctionType:
        raise AssertionError("_new_ of a function needs a frame")
    return kind(*parts)


def _instance_(cls: type) -> Any:
    """A new instance of `cls`, before ``__init__`` has run."""
    return object.__new__(cls)


def _foreigncall_(target: Callable[..., Any], /, *arguments: Any, **keywords: Any) -> Any:
    """A call of a function that is implemented in C."""
    return target(*arguments, **keywords)


def _apply_(function: Callable[..., Any], arguments: Any, keywords: Any = None) -> Any:
    """``function(*arguments, **keywords)``"""
    return function(*arguments) if keywords is None else function(*arguments, **keywords)


def _list_append_(target: list[Any], value: object) -> None:
    """Append to a list under construction."""
    target.append(value)


def _list_extend_(target: list[Any], values: Any) -> None:
    """Extend a list under construction."""
    if not hasattr(type(values), "__iter__") and not hasattr(type(values), "__getitem__"):
        raise TypeError(f"Value after * must be an iterable, not {type(values).__name__}")
    target.extend(values)


def _list_to_tuple_(values: list[Any]) -> tuple[Any, ...]:
    """The tuple of a list under construction."""
    return tuple(values)


def _set_add_(target: set[Any], value: object) -> None:
    """Add to a set under construction."""
    target.add(value)


def _set_update_(target: set[Any], values: Any) -> None:
    """Add all of `values` to a set under construction."""
    target.update(values)


def _map_add_(target: dict[Any, Any], key: object, value: object) -> None:
    """Put a pair into a dict under construction."""
    target[key] = value


def _dict_update_(target: dict[Any, Any], other: Any) -> None:
    """``{**other}`` into a dict under construction."""
    if not hasattr(other, "keys"):
        raise TypeError(f"'{type(other).__name__}' object is not a mapping")
    target.update(other)


def _dict_merge_(target: dict[str, Any], other: Any, function: object = None) -> None:
    """``f(**other)``: keywords into a dict under construction, each at most once."""
    if not hasattr(other, "keys"):
        raise TypeError(
            f"{_called(function)} argument after ** must be a mapping, not {type(other).__name__}"
        )
    if isinstance(other, dict) and type(other).__iter__ is dict.__iter__:  # as in C, past its own methods
        other = dict(dict.items(other))
    for key in other.keys():  # noqa: SIM118  # a mapping has keys(); it need not be iterable itself
        if key in target:
            raise TypeError(f"{_called(function)} got multiple values for keyword argument '{key}'")
        target[key] = other[key]


def _called(function: object) -> str:
    """How CPython's messages about a call name the function."""
    name = getattr(function, "__qualname__", None)
    if name is None:
        return str(function)
    module = getattr(function, "__module__", None)
    return f"{name}()" if module in (None, "builtins") else f"{module}.{name}()"


def _format_(value: object, conversion: int, spec: str) -> str:
    """A field of an f-string; `conversion` is 0 none, 1 str, 2 repr, 3 ascii."""
    if conversion:
        value = (str, repr, ascii)[conversion - 1](value)
    return format(value, spec)


def _join_(*parts: str) -> str:
    """The parts of an f-string."""
    return "".join(parts)


# -- generators -----------------------------------------------------------------------------------------


def _yield_(value: object) -> NoReturn:
    """``yield value``: suspend, then the value that was sent.  Contextual."""
    raise AssertionError("_yield_ needs a frame")


def _yield_from_(value: object, iterator: object) -> NoReturn:
    """The suspension of ``yield from iterator``.  Contextual."""
    raise AssertionError("_yield_from_ needs a frame")


class Thrown:
    """An exception that was thrown into a generator, on its way to the iterator it yields from."""

    __slots__ = ("exception",)

    def __init__(self, exception: BaseException) -> None:
        self.exception = exception


def _thrown_(exception: BaseException) -> Thrown:
    """The exception in the form in which `_send_` throws it."""
    return Thrown(exception)


def _send_(iterator: Any, value: Any) -> tuple[bool, Any]:
    """Whether `iterator` finishes when `value` is sent to it, and what it gives or returns then."""
    try:
        if type(value) is Thrown:
            error = value.exception
            if isinstance(error, GeneratorExit):
                close = getattr(iterator, "close", None)
                if close is not None:
                    close()
                raise error
            throw = getattr(iterator, "throw", None)
            if throw is None:
                raise error
            return False, throw(error)
        return False, next(iterator) if value is None else iterator.send(value)
    except StopIteration as stop:
        return True, stop.value


def _resume_(generator: Any, throwing: bool, sent: Any) -> Any:
    """The next value of a generator in segments, or `EXHAUSTED`: `sent` is thrown into it, or sent."""
    return generator.resume(throwing, sent)


STACK = -1
KEPT = -2


def _release_(value: object, place: int) -> None:
    """Up to here the frame has held `value`: in the local variable number `place`, on its stack (`STACK`), or
    in a variable that outlives the frame, in the traceback of an exception that leaves it (`KEPT`).

    Such calls stand only in graphs that `lift` made with `releases`, until it is known where generators are
    dropped.
    """


def _makes_generator_(function: Any) -> bool:
    """Whether a call of `function` is known to make a generator, to which nobody but the caller refers."""
    function = function.__func__ if type(function) is types.MethodType else function
    return type(function) is types.FunctionType and bool(function.__code__.co_flags & inspect.CO_GENERATOR)


def _iterates_by_generator_(iterable: Any) -> bool:
    """Whether an iterator over `iterable` is a new generator, which its ``__iter__`` makes."""
    for base in type(iterable).__mro__:
        if "__iter__" in base.__dict__:
            return _makes_generator_(base.__dict__["__iter__"])
    return False


def _drop_(generator: object, is_own: bool) -> None:
    """Close a generator to which nobody refers any more, if `is_own`.

    Anything but a generator is left alone.
    """
    if is_own and isinstance(generator, types.GeneratorType):
        try:
            generator.close()
        except Exception as error:
            raise unraisable(generator.__name__, error) from error


def unraisable(name: str, error: Exception) -> UnsupportedError:
    """The error for an exception from a dropped generator, which Python would print and forget."""
    return UnsupportedError(
        f"a generator of {name}, which was dropped inside a try or with statement, raised"
        f" {type(error).__name__}: {error}",
        "Python prints such exceptions and goes on, which cannot be followed",
        "catch it in the generator, or close the generator, so that it is raised",
    )


# -- managers of contexts ------------------------------------------------------------------------------


def find_special(manager: object, name: str) -> Any:
    """``__enter__`` or ``__exit__`` of a ``with`` statement: looked up on the class, then bound."""
    kind = type(manager)
    for base in kind.__mro__:
        if name in base.__dict__:
            found = base.__dict__[name]
            bind = getattr(type(found), "__get__", None)
            return found if bind is None else bind(found, manager, kind)
    return MISSING


def _load_special_(manager: object, name: str) -> Any:
    """What `find_special` finds, or the error of a ``with`` statement."""
    found = find_special(manager, name)
    if found is MISSING:
        raise TypeError(_no_manager(type(manager), name))
    return found


def _no_manager(kind: type, name: str) -> str:
    """The message about an object that a ``with`` statement cannot use, because its class `kind` has no
    `name`."""
    recent = sys.version_info >= (3, 14)
    shown = kind.__name__
    if recent:
        short = kind.__module__ in ("builtins", "__main__")
        shown = kind.__qualname__ if short else f"{kind.__module__}.{kind.__qualname__}"
    words = f"'{shown}' object does not support the context manager protocol"
    if recent or name == "__exit__":
        words += f" (missed {name} method)"
    if recent and hasattr(kind, "__aenter__") and hasattr(kind, "__aexit__"):
        words += " but it supports the asynchronous context manager protocol."
        words += " Did you mean to use 'async with'?"
    return words


# -- patterns -----------------------------------------------------------------------------------------


def _get_len_(subject: Any) -> int:
    """The length of a sequence that is matched with a pattern."""
    return len(subject)


# -- modules -----------------------------------------------------------------------------------------


def _import_(name: str, level: int, fromlist: tuple[str, ...] | None) -> NoReturn:
    """``import name``.  Contextual: relative imports read the globals."""
    raise AssertionError("_import_ needs a frame")


def _import_from_(module: Any, name: str) -> Any:
    """``from module import name``"""
    try:
        return getattr(module, name)
    except AttributeError:
        pass  # the error below has no context
    package = getattr(module, "__name__", "<unknown module name>")
    # A submodule that is being imported is not an attribute of its package yet.
    found = sys.modules.get(f"{package}.{name}")
    if found is not None:
        return found
    path = getattr(module, "__file__", None)
    raise ImportError(
        f"cannot import name {name!r} from {package!r} ({path or 'unknown location'})",
        name=package,
        path=path,
    )


CONTEXTUAL: frozenset[Callable[..., Any]] = frozenset(
    {
        _global_,
        _class_global_,
        _store_global_,
        _delete_global_,
        _globals_,
        _freevar_,
        _import_,
        _yield_,
        _yield_from_,
    }
)
"""Intrinsics that need a frame (as does `_new_` of a function)."""

INTRINSICS: dict[str, Callable[..., Any]] = {
    name: value
    for name, value in list(globals().items())
    if name.startswith("_") and name.endswith("_") and not name.startswith("__")
}
"""Every intrinsic by name."""
