"""Walks through an array element by element: `np.ndenumerate`, `np.nditer`, `np.broadcast`, `np.vectorize`,
`np.frompyfunc`, `np.fromiter`.

They are loops in Python here, over subscripts, which have rules.
"""

from __future__ import annotations

import inspect
import math
import types
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import as_strided

from adbc.errors import UnsupportedError
from adbc.rules.numpy.base import any_active
from adbc.rules.numpy.dressing import bare_all
from adbc.rules.numpy.object_numbers import filled
from adbc.rules.numpy.stand_ins import has_finalize, is_instance_class
from adbc.rules.numpy.ufunc_methods import accumulate_by_steps, outer_by_steps, reduce_by_steps
from adbc.rules.numpy.views import ViewRule
from adbc.rules.quick import once_per_call
from adbc.rules.table import NO_KWARGS, Args, Kwargs, Overlay, Primitive, Pullback, Rule, ZeroRule
from adbc.tangents.array_instances import instance_of

__all__ = ["ROWS", "by_elements"]


def all_indices(shape: Any) -> list[tuple[int, ...]]:
    """Every index of an array of this shape, in order."""
    return list(np.ndindex(*shape))


class _Ndenumerate:
    def __init__(self, array: Any) -> None:
        self.array = array
        self.indices = all_indices(array.shape)
        self.at = 0

    def __iter__(self) -> Any:
        return self

    def __next__(self) -> Any:
        if self.at == len(self.indices):
            raise StopIteration
        index = self.indices[self.at]
        self.at += 1
        return index, self.array[index]


def _ndenumerate(arr: Any) -> Any:
    return _Ndenumerate(np.asarray(arr))


def common_shape(shapes: Any) -> tuple[int, ...]:
    """The shape that these `shapes` are broadcast to."""
    return np.broadcast_shapes(*shapes)


def type_codes(value: Any) -> list[str]:
    """The codes of the dtypes that NumPy gives arrays of the parts of a tuple, or of another value."""
    return [np.asarray(x).dtype.char for x in (value if isinstance(value, tuple) else (value,))]


def _broadcast_flat(args: Any) -> tuple[tuple[int, ...], list[Any]]:
    """The shape that `args` are broadcast to, and flat arrays of them, broadcast."""
    arrays: list[Any] = []
    shapes: list[Any] = []
    for x in args:
        array = np.asarray(x)
        arrays.append(array)
        shapes.append(array.shape)
    shape = common_shape(shapes)
    flat: list[Any] = []
    for array in arrays:
        flat.append(np.broadcast_to(array, shape).reshape(-1))  # noqa: PERF401  # before 3.12 a function
    return shape, flat


def numbers_in(own: tuple[int, ...], shape: tuple[int, ...]) -> list[int]:
    """For each element of an array of the shape `own` that is broadcast to `shape`, its number."""
    numbers: list[int] = np.broadcast_to(np.arange(math.prod(own)).reshape(own), shape).reshape(-1).tolist()
    return numbers


@once_per_call
def _broadcast_columns(args: Any) -> tuple[tuple[int, ...], list[list[Any]]]:
    """The shape that `args` are broadcast to, and their elements: those of lists, and numbers of NumPy, as
    they are, where an array of numbers would have whole numbers made fractions."""
    shapes: list[Any] = []
    elements: list[list[Any]] = []
    for x in args:
        if isinstance(x, np.generic):
            shapes.append(())
            elements.append([x])
        else:
            array = np.asarray(x, object) if isinstance(x, (list, tuple)) else np.asarray(x)
            shapes.append(array.shape)
            elements.append(array.reshape(-1).tolist())
    shape = common_shape(shapes)
    columns: list[list[Any]] = []
    for own, values in zip(shapes, elements, strict=True):
        if own == shape:
            columns.append(values)
        else:
            wide: list[Any] = []
            for i in numbers_in(own, shape):
                wide.append(values[i])  # noqa: PERF401  # before 3.12 a function
            columns.append(wide)
    return shape, columns


def _by_position(function: Any, count: int, names: tuple[str, ...]) -> Any:
    """`function`, which takes the arguments from `count` on by `names`, with all by position."""

    def by_position(*values: Any) -> Any:
        return function(*values[:count], **dict(zip(names, values[count:], strict=True)))

    return by_position


NOT_GIVEN: Any = inspect.signature(np.vectorize).parameters["pyfunc"].default
"""What stands for the function that comes later, where `np.vectorize` is a decorator with arguments."""


class _Vectorize(np.vectorize):
    """An `np.vectorize` of a function, without signature: what it calls for each element, in Python."""

    @once_per_call
    def __init__(self, pyfunc: Any, otypes: Any, cache: bool = False, doc: Any = None) -> None:
        self.pyfunc = pyfunc
        self.otypes = otypes
        self.cache = cache
        self.signature = self._in_and_out_core_dims = None
        self.excluded = set()
        self._doc = doc
        if type(pyfunc) is types.FunctionType:
            self.__name__ = pyfunc.__name__
            self.__doc__ = pyfunc.__doc__ if doc is None else doc

    @once_per_call
    def __call__(self, *args: Any, **by_name: Any) -> Any:
        if by_name:
            function = _by_position(self.pyfunc, len(args), tuple(by_name))
            return _Vectorize(function, self.otypes, self.cache)(*args, *by_name.values())
        if not args:
            return self.pyfunc()
        for x in args:
            if is_instance_class(type(x)):
                return _over_instances(self, args)
        shape, columns = _broadcast_columns(args)
        codes: Any = self.otypes
        results: list[Any] = []
        if codes is None:
            if 0 in shape:
                raise ValueError("cannot call `vectorize` on size 0 inputs unless `otypes` is set")
            first = self.pyfunc(
                *[np.asarray(x).reshape(-1)[0] for x in args]
            )  # for its type; NumPy makes this call twice as well
            codes = type_codes(first)
            if self.cache:
                results.append(first)
        if len(columns) == 1:
            column = columns[0][len(results) :] if results else columns[0]
            for value in column:
                results.append(self.pyfunc(value))  # noqa: PERF401
        else:
            for values in list(zip(*columns, strict=True))[len(results) :]:
                results.append(self.pyfunc(*values))  # noqa: PERF401
        if len(codes) == 1:
            return np.array(results, dtype=codes[0]).reshape(shape)
        found: list[Any] = []
        for i in range(len(codes)):
            parts: list[Any] = []
            for result in results:
                parts.append(result[i])  # noqa: PERF401
            found.append(np.array(parts, dtype=codes[i]).reshape(shape))
        return tuple(found)


def has_say(cls: Any) -> bool:
    """Whether `cls`, a subclass of ndarray, decides what is made of results."""
    names = ("__array_wrap__", "__array_priority__", "__array_ufunc__")
    return has_finalize(cls) or any(getattr(cls, name) is not getattr(np.ndarray, name) for name in names)


def _over_instances(function: Any, args: Any) -> Any:
    """What the `np.vectorize` gives where some of `args` are instances of subclasses of ndarray, that have no
    say in what is made of the results: instances of the class of the first of them."""
    first: Any = None
    for x in args:
        if is_instance_class(type(x)):
            if has_say(type(x)):
                raise UnsupportedError(
                    f"np.vectorize of a {type(x).__qualname__}",
                    "how NumPy makes an instance of it from arrays of objects is not followed",
                    "give it the array itself, numpy.asarray(x)",
                )
            if first is None or issubclass(type(x), first):
                first = type(x)
    result = function(*bare_all(args))
    if not isinstance(result, tuple):
        return instance_of(first, result)
    made: list[Any] = []
    for part in result:
        made.append(instance_of(first, part))  # noqa: PERF401  # before 3.12 a comprehension is a function
    return tuple(made)


def _vectorize(
    pyfunc: Any = NOT_GIVEN,
    otypes: Any = None,
    doc: Any = None,
    excluded: Any = None,
    cache: Any = False,
    signature: Any = None,
) -> Any:
    """The usual form in Python; others by NumPy's own class."""
    if pyfunc is not NOT_GIVEN and callable(pyfunc) and excluded is None and signature is None:
        return _Vectorize(pyfunc, otypes, bool(cache), doc)
    made = object.__new__(np.vectorize)
    np.vectorize.__init__(made, pyfunc, otypes, doc, excluded, cache, signature)
    return made


def _vectorize_call(self: Any, func: Any, args: Any) -> Any:
    """The call of an `np.vectorize` that was made before, by code that is not differentiated."""
    if self.signature is not None:
        return self._vectorize_call_with_signature(func, args)
    return _Vectorize(func, self.otypes, self.cache)(*args) if args else func()


# -- nditer ----------------------------------------------------------------------------------------------


def walked(operands: Any, order: Any) -> tuple[tuple[int, ...], list[tuple[int, ...]]]:
    """The common shape of the operands, and its indices in the order in which `np.nditer` takes them."""
    with np.nditer(operands, flags=["multi_index", "zerosize_ok", "refs_ok"], order=order) as it:
        return it.shape, [it.multi_index for _ in it]


def pieces(operands: Any, order: Any) -> tuple[list[int], list[int]]:
    """Where the pieces begin that `np.nditer` gives with an outer loop, by number of the element, and how
    many elements each has."""
    starts: list[int] = []
    counts: list[int] = []
    with np.nditer(operands, flags=["external_loop", "zerosize_ok", "refs_ok"], order=order) as it:
        for piece in it:
            starts.append(sum(counts))
            counts.append(len(piece if len(operands) == 1 else piece[0]))
    return (starts, counts) if sum(counts) else ([], [])


def step_in(x: Any, indices: list[tuple[int, ...]], start: int, count: int) -> int:
    """The distance in memory between the elements of `x`, an operand, for `count` indices from `start` on."""
    if count < 2:
        return 0
    places = [place_in(x.shape, index) for index in indices[start : start + 2]]
    return sum(
        (k - i) * stride for i, k, stride in zip(*places, (*x.strides, 0), strict=True) if i is not ...
    )


def number_of(index: tuple[int, ...], shape: tuple[int, ...], order: str) -> int:
    """The number of the element at `index`, in this order of memory."""
    return int(np.ravel_multi_index(index, shape, order=order)) if shape else 0  # type: ignore[call-overload]


def place_in(shape: tuple[int, ...], index: tuple[int, ...]) -> tuple[Any, ...]:
    """The subscript of an operand of `shape` for `index` of what it is broadcast to: it gives a view."""
    own = index[len(index) - len(shape) :] if shape else ()
    return (*[0 if n == 1 else i for n, i in zip(shape, own, strict=True)], Ellipsis)


def read_only(x: Any) -> Any:
    """A view of `x` that cannot be written through."""
    view = x.view()
    view.flags.writeable = False
    return view


def modes_of(op_flags: Any, count: int) -> list[bool]:
    """For each of `count` operands whether it may be written to, by the `op_flags` of `np.nditer`."""
    if op_flags is None:
        return [False] * count
    flags = list(op_flags)
    if flags and isinstance(flags[0], str):
        flags = [flags] * count
    modes = []
    for own in flags:
        unknown = set(own) - {"readonly", "readwrite", "writeonly", "no_broadcast", "allocate"}
        if unknown or ("allocate" in own and "writeonly" not in own):
            raise UnsupportedError(
                f"np.nditer with op_flags {sorted(own)}",
                "adbc has no rule for that form",
                "loop over the indices: for i in np.ndindex(x.shape)",
            )
        modes.append("readonly" not in own)
    return modes


_ITERATION_FLAGS = frozenset({"multi_index", "zerosize_ok", "refs_ok", "c_index", "f_index", "external_loop"})


class _Nditer:
    """What `np.nditer` gives, as an iterator in Python, without buffers."""

    def __init__(
        self, op: Any, flags: Any = (), op_flags: Any = None, op_dtypes: Any = None, order: str = "K",
        casting: Any = "safe", op_axes: Any = None, itershape: Any = None, buffersize: int = 0,
    ) -> None:  # fmt: skip
        if set(flags) - _ITERATION_FLAGS or not (op_dtypes is None and op_axes is None and itershape is None):
            raise UnsupportedError(
                "np.nditer of an array with a derivative, with other flags than multi_index, c_index,"
                " f_index, external_loop, zerosize_ok and refs_ok, or with op_dtypes, op_axes or itershape",
                "adbc has no rule for that form",
                "loop over the indices: for i in np.ndindex(x.shape)",
            )
        given = list(op) if isinstance(op, (list, tuple)) else [op]
        known: list[Any] = []
        for x in given:
            if x is not None:
                known.append(np.asarray(x))  # noqa: PERF401  # before 3.12 a function
        self.shape, self.indices = walked(known, order)
        if not self.indices and "zerosize_ok" not in flags:
            raise ValueError("Iteration of zero-sized operands is not enabled")
        arrays: list[Any] = []
        for x in given:  # an operand that is to be made may hold anything at first
            made = np.zeros(self.shape, np.result_type(*known)) if x is None else np.asarray(x)
            arrays.append(made)
        self.operands = tuple(arrays)
        self.writes = modes_of(op_flags, len(arrays))
        for i, x in enumerate(given):
            if x is None:
                self.writes[i] = True
            elif self.writes[i] and arrays[i].shape != self.shape:
                raise UnsupportedError(
                    "np.nditer that writes to a broadcast operand",
                    "adbc has no rule for that form",
                    "loop over the indices: for i in np.ndindex(x.shape)",
                )
        self.nop = len(arrays)
        self.ndim = len(self.shape)
        self.itersize = len(self.indices)
        self.has_multi_index = "multi_index" in flags
        self.order_of_index = "C" if "c_index" in flags else "F" if "f_index" in flags else None
        self.starts, self.counts = list(range(self.itersize)), None
        if "external_loop" in flags:
            if self.has_multi_index or self.order_of_index:
                raise ValueError(
                    "Iterator flag EXTERNAL_LOOP cannot be used if an index or multi-index is being tracked"
                )
            if len(known) != len(given):
                raise UnsupportedError(
                    "np.nditer with an outer loop that makes an operand",
                    "its elements may lie otherwise in memory",
                    "make the operand with np.empty_like",
                )
            self.starts, self.counts = pieces(known, order)
        self.at = 0
        self.started = False

    def __enter__(self) -> Any:
        return self

    def __exit__(self, *error: Any) -> None:
        return None

    def __len__(self) -> int:
        return self.itersize

    def __iter__(self) -> Any:
        return self

    def __next__(self) -> Any:
        if self.started:
            self.iternext()
        self.started = True
        if self.finished:
            raise StopIteration
        return self.value

    @property
    def finished(self) -> bool:
        return self.at >= len(self.starts)

    @property
    def iterindex(self) -> int:
        return self.itersize if self.finished else self.starts[self.at]

    @property
    def index(self) -> int:
        if self.order_of_index is None:
            raise ValueError("Iterator does not have an index")
        return number_of(self.indices[self.at], self.shape, self.order_of_index)

    @property
    def value(self) -> Any:
        found = []
        for i in range(self.nop):
            found.append(self[i])  # noqa: PERF401  # before 3.12 a function
        return found[0] if self.nop == 1 else tuple(found)

    @property
    def multi_index(self) -> Any:
        if not self.has_multi_index:
            raise ValueError("Iterator is not tracking a multi-index")
        return self.indices[self.at]

    def iternext(self) -> bool:
        self.at += 1
        return not self.finished

    def reset(self) -> None:
        self.at = 0
        self.started = False

    def close(self) -> None:
        return None

    def __getitem__(self, i: int) -> Any:
        x = self.operands[i]
        start = self.starts[self.at]
        view = x[place_in(x.shape, self.indices[start])]
        if self.counts is not None:
            count = self.counts[self.at]
            view = as_strided(view, (count,), (step_in(x, self.indices, start, count),))
        return view if self.writes[i] else read_only(view)

    def __setitem__(self, i: int, value: Any) -> None:
        if not self.writes[i]:
            raise RuntimeError(f"Iterator operand {i} is not writeable")
        self[i][...] = value


def _nditer(*args: Any, **kwargs: Any) -> Any:
    return _Nditer(*args, **kwargs)


# -- broadcast -------------------------------------------------------------------------------------------


class _Broadcast:
    """What `np.broadcast` gives, as an iterator in Python over tuples of numbers."""

    def __init__(self, *args: Any) -> None:
        self.shape, self.columns = _broadcast_flat(args)
        self.ndim = self.nd = len(self.shape)
        self.numiter = len(args)
        self.index = 0
        self.size = int(np.prod(self.shape, dtype=int))

    def __iter__(self) -> Any:
        return self

    def __next__(self) -> Any:
        if self.index == self.size:
            raise StopIteration
        values: list[Any] = []
        for column in self.columns:
            values.append(column[self.index])  # noqa: PERF401  # as above
        self.index += 1
        return tuple(values)

    def reset(self) -> None:
        self.index = 0

    @property
    def iters(self) -> Any:
        raise UnsupportedError(
            "the iterators of an np.broadcast of arrays with a derivative",
            "adbc has no rule for them",
            "take the arrays that np.broadcast_arrays gives",
        )


def _broadcast(*args: Any) -> Any:
    return _Broadcast(*args)


# -- ufuncs made of functions ----------------------------------------------------------------------------


def by_elements(made: tuple[Any, int, int], *args: Any, **options: Any) -> Any:
    """The call of a ufunc that `np.frompyfunc` has made of a function with so many arguments and results."""
    function, count, results = made
    if options or len(args) != count:
        raise UnsupportedError(
            "a ufunc of np.frompyfunc is called with keywords, or with arrays for its results",
            "adbc has no rule for that form",
            "assign what it returns",
        )
    shape, wide = _broadcast_flat(args)
    columns: list[Any] = []
    for flat in wide:
        columns.append(flat.tolist())  # noqa: PERF401  # as above
    rows: list[Any] = []
    for k in range(len(columns[0])):
        values: list[Any] = []
        for column in columns:
            values.append(column[k])  # noqa: PERF401  # as above
        rows.append(function(*values))
    if results == 1:
        return _of_objects(rows, shape)
    found: list[Any] = []
    for i in range(results):
        part: list[Any] = []
        for row in rows:
            part.append(row[i])  # noqa: PERF401  # as above
        found.append(_of_objects(part, shape))
    return tuple(found)


def _of_objects(values: list[Any], shape: tuple[int, ...]) -> Any:
    """An array of these objects, or the one there is where `shape` is empty."""
    if not shape:
        return values[0]
    for value in values:
        if not isinstance(value, (int, float, complex, np.number, np.bool_)):
            return filled(tuple(values), shape)
    return np.array(values, dtype=object).reshape(shape)


def _filled_frule(args: Args, dargs: Args, kwargs: Kwargs = NO_KWARGS) -> tuple[Any, Any]:
    return _filled(args, dargs), None


def _filled_rrule(args: Args, fargs: Args, kwargs: Kwargs = NO_KWARGS) -> tuple[Any, Any, Pullback]:
    return _filled(args, fargs), None, lambda bout: (None, None)


def _filled(args: Args, derivatives: Args) -> Any:
    if derivatives[0] is not None and any_active(derivatives[0]):
        kinds = sorted({type(x).__name__ for x in args[0]})
        raise UnsupportedError(
            f"a function of which np.frompyfunc has made a ufunc returns objects ({', '.join(kinds)})",
            "of arrays of objects only those of numbers have a derivative",
            "write the loop",
        )
    return filled(*args)


class _Made:
    """The ufunc that `np.frompyfunc` makes of a function, in Python."""

    def __init__(self, function: Any, nin: int, nout: int, identity: Any) -> None:
        self.made = function, nin, nout
        self.nin = nin
        self.nout = nout
        self.nargs = nin + nout
        self.identity = identity

    def __call__(self, *args: Any, **options: Any) -> Any:
        return by_elements(self.made, *args, **options)

    def reduce(self, *args: Any, **options: Any) -> Any:
        return reduce_by_steps(self, *args, **options)

    def accumulate(self, array: Any, axis: int = 0, dtype: Any = None, out: Any = None) -> Any:
        return accumulate_by_steps(self, np.asarray(array).astype(object), axis, dtype, out)

    def outer(self, *args: Any, **options: Any) -> Any:
        return outer_by_steps(self, *args, **options)

    def __getattr__(self, name: str) -> Any:
        raise UnsupportedError(
            f"attribute {name!r} of a ufunc of np.frompyfunc",
            "adbc has no rule for it",
            "write the loop",
        )


def _frompyfunc(func: Any, /, nin: int, nout: int, *, identity: Any = None) -> Any:
    return _Made(func, nin, nout, identity)


def _fromiter(iter: Any, dtype: Any, count: int = -1, *, like: Any = None) -> Any:
    if like is not None:
        raise UnsupportedError("np.fromiter with like=", "adbc has no rule for that form", "leave it out")
    out: list[Any] = []
    if count:
        for x in iter:
            out.append(x)
            if len(out) == count:
                break
    if len(out) < count:
        raise ValueError(f"iterator too short: Expected {count} but iterator had only {len(out)} items.")
    return np.array(out, dtype=dtype)


ROWS: list[Rule] = [
    ZeroRule(all_indices, result=list),
    ZeroRule(common_shape, result=tuple),
    ZeroRule(numbers_in, result=list),
    ZeroRule(type_codes, result=list),
    ZeroRule(walked, result=tuple),
    ZeroRule(pieces, result=tuple),
    ZeroRule(step_in, result=int),
    ZeroRule(number_of, result=int),
    ZeroRule(place_in, result=tuple),
    ZeroRule(modes_of, result=list),
    ViewRule(read_only, parameters=("x",)),
    Overlay(np.nditer, _nditer),
    Overlay(np.ndenumerate, _ndenumerate),
    Primitive(filled, frule=_filled_frule, rrule=_filled_rrule),
    Overlay(np.broadcast, _broadcast),
    Overlay(np.frompyfunc, _frompyfunc),
    ZeroRule(has_say),
    Overlay(np.vectorize, _vectorize),
    Overlay(vars(np.vectorize)["_vectorize_call"], _vectorize_call),
    Overlay(np.fromiter, _fromiter, consumes=0),
]
