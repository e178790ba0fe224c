"""Text that is made from numbers with a derivative: it may be printed, but no number is read from it.

Rows of text (`Rule.of_text`) and calls of C functions without a rule come by here: what is made of numbers
with a derivative, or of what was made of such, is remembered (`runtime.state.texts`), and a number that is
read from it is refused, for it would come back as a constant.

Two things are numbers and are not refused.  What says how long a text is, or where something stands in it,
is not what the text says.  And ``int(f"{x:.0f}")`` is a rounding, whose derivative is zero as that of
``int(x)``: an int may be read from a text that is as it was made from a number, not from parts of one put
together.
"""

from __future__ import annotations

import builtins
import io
import numbers
import os
import re
import stat
import struct
import sys
import types
import unicodedata
from _socket import socket
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from adbc.errors import UnsupportedError
from adbc.ir import intrinsics
from adbc.rules.spelling import SPELLING
from adbc.rules.table import Rule
from adbc.runtime.calls.classes import is_python_function, lookup
from adbc.runtime.calls.formats import ENCODER, WRITERS
from adbc.runtime.calls.steps import Call, UseRow
from adbc.runtime.state.context import Context
from adbc.runtime.state.texts import Texts, behind, is_told, keeps_unseen
from adbc.tangents import NO_FDATA
from adbc.tangents.fields import arguments, instance_fields, is_python_class

__all__ = [
    "after_library",
    "after_row",
    "among_arguments",
    "are_free",
    "before_foreign",
    "before_library",
    "check_evaluated",
    "follow",
    "hand_on",
    "listed",
    "looks_at_text",
    "makes_text",
    "raised_in_c",
    "read",
    "text",
    "written",
]

_TEXT = (str, bytes, bytearray)
_NUMBERS = frozenset({int, float, complex, bool, types.NoneType})
_NESTING = (list, tuple, set, frozenset, dict)
_NOTHING: Mapping[str, Any] = types.MappingProxyType({})
_SAYS_WHAT = frozenset(
    {
        int, ord, int.from_bytes, unicodedata.digit, unicodedata.decimal, struct.unpack, struct.unpack_from,
        struct.iter_unpack, struct.Struct.unpack, struct.Struct.unpack_from, struct.Struct.iter_unpack,
    }
)  # fmt: skip
"""Functions whose result is, or has in it, an int that a text says."""
_HOLDERS = frozenset(
    {
        "builtins", "re", "_sre", "io", "_io", "_csv", "csv", "itertools", "functools", "collections",
        "_collections", "types", "_hashlib", "_blake2", "_md5", "_sha1", "_sha2", "_sha3", "codecs",
        "_codecs", "posix", "nt",
    }
)  # fmt: skip
"""Modules whose objects give text back as text."""
_OF_FILES = frozenset(
    {
        "posix", "nt", "os", "posixpath", "ntpath", "genericpath", "glob", "fnmatch", "tempfile", "shutil",
        "pathlib", "pathlib._abc", "pathlib._local", "pathlib.types",
    }
)  # fmt: skip
"""Modules whose functions are told by text which file is meant: the numbers that they give are not of it."""
_NAMING = frozenset(
    {
        "chdir", "copy", "copy2", "copyfile", "copytree", "link", "makedirs", "mkdir", "mkdtemp", "mkfifo",
        "mknod", "mkstemp", "move", "open", "rename", "renames", "replace", "symlink",
    }
)  # fmt: skip
"""The functions of files that give a file, a folder or the process a name which can be asked for."""
_TO_PROCESSES = frozenset({"fork_exec", "popen", "posix_spawn", "posix_spawnp", "system"})
"""The functions of the system that hand text to another program."""


def text(
    context: Context, function: Any, args: Sequence[Any], shadows: Sequence[Any], is_open: bool = False
) -> Any:
    """``function(*args)``, which has a row of text; `is_open` as `follow` has it."""
    out = function(*args)
    if type(out) is not str or not _of_atoms(context, args, shadows, out, is_open):
        follow(context, function, args, shadows, out, _NOTHING, is_open)
    return out


def _of_atoms(context: Context, args: Sequence[Any], shadows: Sequence[Any], out: str, is_open: bool) -> bool:
    """Whether all `args` are numbers and texts; then `out`, which was made of them, is remembered as `follow`
    would do it."""
    texts = context.texts
    is_part = is_number = False
    for x, shadow in zip(args, shadows, strict=False):  # what stands beside constants may be left out
        cls = type(x)
        if cls is str:
            if texts is not None and texts.holds(x):
                if x is out:
                    return True
                is_part = True
        elif cls not in _NUMBERS:
            return False
        elif shadow is NO_FDATA or context.is_active(shadow):
            is_number = True
    if is_number:
        if texts is None:
            texts = context.texts = Texts()
        if not is_open:
            texts.is_certain = True
    if texts is not None and (is_part or is_number):
        if is_part:
            texts.taken(out)
        else:
            texts.made(out)
    return True


def open_text(context: Context, function: Any, args: Sequence[Any], shadows: Sequence[Any]) -> Any:
    """What `text` does in reverse mode: all that has a derivative among `args` are real numbers, to which
    `lost_in_text` comes back."""
    is_open = context.start_waiting is not None and not context.follows_inner
    return text(context, function, args, shadows, is_open)


def lost_in_text(context: Context) -> float:
    """What comes back to the numbers that `open_text` has written: zero, or NaN once a number was read from
    such text."""
    texts = context.texts
    return 0.0 if texts is None or texts.nan is None else texts.nan


def follow(
    context: Context,
    function: Any,
    args: Sequence[Any],
    shadows: Sequence[Any],
    out: Any,
    by_name: Mapping[str, Any] = _NOTHING,
    is_open: bool = False,
) -> None:
    """Remember `out`, the result of a function with a row of text, if a number with a derivative is said by
    it; refuse if it is a number that was read from such text.

    is_open: something comes back to the numbers with a derivative if a number is read (`lost_arguments`).
    """
    texts = context.texts
    source = None if texts is None else texts.reached((*args, *by_name.values()))
    says_number = any(map(context.is_active, shadows))
    if source is None and not says_number:
        return
    if texts is None:
        texts = context.texts = Texts()
    if says_number and not is_open:
        texts.is_certain = True
    if function is intrinsics._iter_:
        _spell(texts, function, args[0], out)
    elif function is print:
        texts.written(by_name.get("file") or sys.stdout)
    elif any(function is method for method in WRITERS):
        texts.written(args[0])
    elif source is not None:
        _hand_on(context, function, (*args, *by_name.values()), out, source)
    elif issubclass(type(out), _TEXT):
        texts.made(out)
    elif type(function) is ENCODER:
        for part in out:
            texts.taken(part)


def after_row(context: Context, step: UseRow, out: Any, is_open: bool = False) -> None:
    """Look at `out`, the result of a row that was used at run time; `is_open` as `follow` has it."""
    call, texts, row = step.call, context.texts, step.row
    if row.of_text:
        follow(context, call.function, call.args[: call.count], call.shadows, out, call.by_name(), is_open)
    elif texts is None or not call.args:
        return
    elif row.converts is not None:
        source = texts.reached(call.args)
        if source is not None:
            _refuse(context, call.function, source)
    elif row.function in SPELLING:
        for x in filter(texts.holds, call.args):
            _spell(texts, call.function, x, out)


def _spell(texts: Texts, function: Any, source: Any, out: Any) -> None:
    """Remember the characters of the text `source`, which `out` may give one by one; of bytes these are
    numbers."""
    if type(source) is str:
        texts.spelt(source)
    elif issubclass(type(source), _TEXT) and not issubclass(type(out), (int, *_TEXT)):
        raise _refused(function, source)


def looks_at_text(row: Rule, args: Sequence[Any]) -> bool:
    """Whether `after_row` may have something to do behind a call by `row`, as far as the classes of `args`
    tell."""
    if row.converts is not None:
        return any(type(x) not in _NUMBERS and not hasattr(type(x), "dtype") for x in args[row.converts])
    return makes_text(row, args)


def makes_text(row: Rule, args: Sequence[Any]) -> bool:
    """Whether `after_row` may have something to do behind a call by `row` even if no text has been made from
    numbers with a derivative."""
    return row.of_text or (row.function in SPELLING and any(issubclass(type(x), _TEXT) for x in args))


def written(context: Context, streams: Sequence[Any], is_open: bool = False) -> None:
    """Remember `streams`, to which text is written that is made from a number with a derivative; `is_open` as
    `follow` has it."""
    if context.texts is None:
        context.texts = Texts()
    if not is_open:
        context.texts.is_certain = True
    for stream in streams:
        context.texts.written(stream)


def raised_in_c(context: Context, error: BaseException) -> None:
    """Remember what `error`, which the program has not made, says with digits: a number that C code was
    given, or text, may be in there."""
    said = [
        x
        for x in (*arguments(error), *_said(error))
        if not issubclass(type(x), (int, types.NoneType)) and not (issubclass(type(x), str) and _NO_DIGIT(x))
    ]
    if not said:
        return
    if context.texts is None:
        context.texts = Texts()
    context.texts.is_certain = True
    context.texts.kept(error)
    for x in said:
        if issubclass(type(x), _TEXT):
            context.texts.taken(x)


def read(context: Context, call: Call, value: Any) -> None:
    """Remember the text `value`, which an attribute of an object that has been given such text is."""
    texts = context.texts
    if texts is not None and issubclass(type(value), _TEXT) and any(map(texts.holds, call.args[:1])):
        texts.note_source(call.args[0])
        texts.taken(value)


def after_library(context: Context, call: Call, out: Any, source: Any) -> None:
    """Remember `out`, what a function of the standard library that runs as it is has made of `source`, if
    that is there; of an exception if it is one of `traceback`."""
    if source is not None:
        hand_on(context, call, out, source)
    elif call.function.__module__ == "traceback":
        _traced(context, call, out)
    else:
        listed(context, call, out)


def _traced(context: Context, call: Call, out: Any) -> None:
    """Remember `out`, what a function of `traceback` has made of an exception, or the stream that it has
    written to: what the exception says may be a number with a derivative."""
    if context.texts is None:
        context.texts = Texts()
    context.texts.is_certain = True
    for x in out if issubclass(type(out), (list, tuple)) else (out,):
        if issubclass(type(x), str):
            context.texts.taken(x)
        elif x is not None:
            context.texts.kept(x)
    context.texts.written(call.by_name().get("file") or sys.stderr)


def _said(error: BaseException) -> Iterator[Any]:
    """What attributes of exceptions that C code raises are made of.

    The object that has no attribute of a name is none of these, unless it is a text: of others the message
    has the class, which says no number.
    """
    cls = type(error)
    for name in _SAID_BY[cls] if cls in _SAID_BY else _names_said(cls):
        value = getattr(error, name, None)
        if name != "obj" or issubclass(type(value), _TEXT):
            yield value


def _names_said(cls: type) -> list[str]:
    """The names of these attributes that stand in `cls` or a class that it is derived from."""
    spaces = [*map(vars, cls.__mro__)]
    names = ("name", "obj", "filename", "filename2", "object", "text")
    return [name for name in names if any(name in space for space in spaces)]


_SAID_BY = {
    cls: _names_said(cls)
    for cls in vars(builtins).values()
    if issubclass(type(cls), type) and issubclass(cls, BaseException)
}
"""What `_names_said` gives for the classes of builtin exceptions, which do not change."""
_NO_DIGIT = re.compile(r"\D*\Z").match


# -- functions of C without a rule -----------------------------------------------------------------------


def before_foreign(context: Context, call: Call) -> Any:
    """What holds text that was made from a number, among what a C function is given; None if there is
    nothing."""
    source = among_arguments(context, call)
    if source is None:
        return None
    _check_sent(call.function, source)
    what = f"a {type(source).__name__} with text that was made from a value with a derivative"
    if any(map(_calls_back, call.args)):
        raise UnsupportedError(
            f"{_name(call.function)} is given a function to call, and {what}",
            "it is implemented in C, and what the function does with that text is not seen",
            "call the function in a loop of your own",
        )
    for x in _objects(call):
        hidden = next((y for y in behind(x) if is_told(y)), None)
        if hidden is not None:
            who = getattr(hidden, "__qualname__", type(hidden).__qualname__)
            raise UnsupportedError(
                f"{_name(call.function)} is given {what}, and hands it to {who}",
                f"a {type(x).__name__} is implemented in C: what is done there with that text is not seen",
                "make the text of adbc.stop_gradient(x), or hand the number on beside its text",
            )
        if _leaves(x):
            raise _sent(call.function, source)
    return source


def before_library(context: Context, call: Call) -> Any:
    """As `before_foreign`, of a function of the standard library that runs as it is."""
    source = among_arguments(context, call)
    if source is not None:
        _check_sent(call.function, source)
    return source


def _check_sent(function: Any, source: Any) -> None:
    """Raise if `function` hands `source` to another program."""
    if getattr(function, "__name__", "") in _TO_PROCESSES:
        raise _sent(function, source)


def _sent(function: Any, source: Any) -> UnsupportedError:
    return UnsupportedError(
        f"{_name(function)} sends a {type(source).__name__} with text that was made from a value with a"
        " derivative",
        "what comes back from there is not recognised",
        "make the text of adbc.stop_gradient(x)",
    )


def _objects(call: Call) -> Iterator[Any]:
    """The objects made in C that `call` is of, or that are among its arguments."""
    own = getattr(call.function, "__self__", None)
    for x in (own, call.function, *call.args):
        if keeps_unseen(x) and not issubclass(type(x), types.ModuleType):
            yield x


def check_evaluated(context: Context, call: Call) -> None:
    """Raise if `call` evaluates code that was made from a number with a derivative, which is in it then."""
    if call.function is eval or call.function is exec:
        source = among_arguments(context, Call(call.function, None, call.args[:1], (None,), (None,)))
        if source is not None:
            raise _refused(call.function, source)


def among_arguments(context: Context, call: Call) -> Any:
    """What holds text that was made from a number, among what is called and its arguments, or None."""
    texts = context.texts
    return None if texts is None else texts.reached((call.function, *call.args))


def are_free(context: Context, function: Any, values: Sequence[Any]) -> bool:
    """Whether nothing in `function` and the `values` that it is given, of `classes.VALUES` and the like,
    holds text that was made from a number."""
    texts = context.texts
    if texts is None:
        return True
    own = getattr(function, "__self__", None)
    return all(map(texts.is_free, values)) and (own is None or texts.is_free(own))


def hand_on(context: Context, call: Call, out: Any, source: Any) -> None:
    """Remember what a function that is not followed has made of `source`; refuse it if it is a number."""
    texts = context.texts
    assert texts is not None
    if call.function is os.write and call.args[0] > 2:
        raise UnsupportedError(
            "os.write writes text that was made from a value with a derivative into a file by its number",
            "what is read from there is not recognised",
            "write to a file object",
        )
    if call.function is open:
        if out.writable():
            _named(texts, call.args)
        return
    is_of_files = _is_of_files(call.function)
    _hand_on(context, call.function, call.args, out, source, is_of_files)
    if is_of_files:
        name = getattr(call.function, "__name__", "")
        if name.startswith("write"):
            texts.written_at(call.args[0])
        if name in _NAMING:
            _named(texts, call.args)
        return
    for x in _objects(call):
        if x is not source:
            texts.written(x)


def listed(context: Context, call: Call, out: Any) -> None:
    """Remember `out`, what a function of the file system gives, if it says a name that was made from a
    number."""
    texts = context.texts
    if texts is None or not texts.is_in_names or not _is_of_files(call.function):
        return
    for x in out if issubclass(type(out), _NESTING) else (out,):
        if issubclass(type(x), (str, bytes)):
            if texts.is_named(x):
                texts.taken(x)
        elif keeps_unseen(x):
            texts.kept(x)


def _is_of_files(function: Any) -> bool:
    """Whether `function` is told by text which file is meant, or is a method of an entry of a folder."""
    owner = getattr(function, "__objclass__", None) or type(getattr(function, "__self__", None))
    return (getattr(function, "__module__", None) or owner.__module__) in _OF_FILES


def _named(texts: Texts, args: Sequence[Any]) -> None:
    """Remember the names in paths among `args`, at which a file or folder was made."""
    for x in args:
        if issubclass(type(x), (str, bytes, os.PathLike)) and texts.reached((x,)) is not None:
            texts.named(x)


def _leaves(x: Any) -> bool:
    """Whether what is written to `x` goes to another process, or comes back by another object: a socket, or a
    pipe that is none of the standard streams."""
    if not issubclass(type(x), (io.IOBase, socket)):
        return False
    try:
        file = x.fileno()
        mode = os.fstat(file).st_mode
        standard = [os.fstat(k) for k in (1, 2)]
    except (OSError, ValueError, AttributeError):  # no file, or closed
        return False
    if stat.S_ISREG(mode) or stat.S_ISCHR(mode):
        return False
    return not any(os.path.samestat(os.fstat(file), other) for other in standard)


def _calls_back(x: Any) -> bool:
    cls = type(x)
    if cls is types.MethodType:
        return _calls_back(x.__func__)
    return cls is types.FunctionType or is_python_function(lookup(cls, "__call__"))


def _hand_on(
    context: Context, function: Any, args: Sequence[Any], out: Any, source: Any, is_of_files: bool = False
) -> None:
    """Remember what `function` has made of `args`, among which is `source`."""
    texts = context.texts
    assert texts is not None
    is_parser = type(function).__module__ == "_json" and type(function) is not ENCODER
    pending, seen = [out[0] if is_parser and type(out) is tuple else out], set()
    while pending:
        x = pending.pop()
        cls = type(x)
        if x is None or cls is bool or issubclass(cls, (type, types.ModuleType, intrinsics.Sentinel)):
            continue
        if issubclass(type(x), _TEXT):
            if not any(x is argument for argument in args):
                texts.note_source(source)
                texts.taken(x)
        elif issubclass(type(x), int):
            is_said = is_parser or _says_what(function, args)
            if is_said and not (function is int and texts.is_whole(args[0])):
                _refuse(context, function, source)
        elif issubclass(type(x), _NESTING):
            if id(x) not in seen:
                seen.add(id(x))
                pending.extend((*x.keys(), *x.values()) if issubclass(type(x), dict) else x)
        elif is_of_files and issubclass(type(x), numbers.Number):
            continue
        elif is_of_files and is_python_class(cls):
            texts.kept(x)
            for said in (value for _, value in instance_fields(x) if issubclass(type(value), (str, bytes))):
                texts.taken(said)
                texts.named(said)
        elif issubclass(type(x), numbers.Number):
            _refuse(context, function, source)
        elif issubclass(type(x), (types.CodeType, memoryview)) or not _may_hold(x):
            raise _refused(function, source)
        else:
            if keeps_unseen(x):
                texts.written(x)
            for said in _shown(x):
                texts.note_source(source)
                texts.taken(said)


def _shown(x: Any) -> Iterator[Any]:
    """The texts that are attributes of `x`, an object made in C, as they stand there."""
    for base in type(x).__mro__:
        for name, found in vars(base).items():
            if issubclass(type(found), types.MemberDescriptorType):
                value = getattr(x, name, None)
                if issubclass(type(value), (str, bytes)):
                    yield value


def _says_what(function: Any, args: Sequence[Any]) -> bool:
    """Whether the int that `function` gives is what a text says, not how long it is."""
    if getattr(function, "__name__", "") in ("getitem", "next", "_next_"):
        return True
    try:
        return function in _SAYS_WHAT
    except TypeError:
        return False


def _may_hold(x: Any) -> bool:
    """Whether text goes through `x`, a result of a C function, and comes out as text."""
    kind = getattr(getattr(x, "dtype", None), "kind", None)
    return kind == "b" if kind is not None else type(x).__module__ in _HOLDERS


def _name(function: Any) -> str:
    name = getattr(function, "__qualname__", None) or type(function).__name__
    module = getattr(function, "__module__", None)
    return f"{module}.{name}" if module and module not in ("builtins", "adbc.ir.intrinsics") else str(name)


def _refuse(context: Context, function: Any, source: Any) -> None:
    """Refuse that `function` has read a number from `source`, at once if it is known that a number with a
    derivative was written there; else what comes back to the numbers that were written tells."""
    texts = context.texts
    assert texts is not None
    nan = None if texts.is_certain else context.put_off(lambda: _refused(function, source))
    if nan is None:
        raise _refused(function, source)
    texts.note_source(source)
    if texts.nan is None:
        texts.nan = nan


def _refused(function: Any, source: Any) -> UnsupportedError:
    return UnsupportedError(
        f"{_name(function)} reads a number from a {type(source).__name__} that holds text made from a value"
        " with a derivative",
        "what is read from text is a constant, and the derivative would be lost without a word",
        "hand the number on beside its text; for the number as it was printed write round(x, digits), whose"
        " derivative is zero; or make the text of adbc.stop_gradient(x)",
    )
