"""The memoised walk: every recursive operation on tangents is one of the walks of this module.

A walk visits each object once, however often and along whichever cycle it is reached.  An object is
registered before its parts are visited, and its parts are visited later, from a list of pending
work: so a linked list of a million nodes needs no deep recursion.  Values (tuples, records) are put
together on the way back.  Arrays may overlap in memory; they are collected and treated together at
the end, by whoever knows about arrays.
"""

from __future__ import annotations

import operator
from collections import deque
from collections.abc import Callable, Sequence
from typing import Any

from adbc.errors import InvalidTangentError
from adbc.tangents.duals import (
    WITH_FIELDS,
    ArrayTangent,
    DequeTangent,
    DictTangent,
    ListTangent,
    MutableTangent,
    Tangent,
)
from adbc.tangents.nothing import NO_TANGENT
from adbc.tangents.protocol import kind_of

__all__ = [
    "REGION",
    "DifferWalk",
    "MakeWalk",
    "PerturbWalk",
    "TangentWalk",
    "add_structure",
    "is_address_tangent",
]

Memo = dict[Any, tuple[Any, Any]]

REGION = "region"
"""The key of a memo under which stands what makes the counterparts of memory of arrays, where it is for
batches."""


class _Walk:
    """A walk over values: the memory of what was visited, and the work that is pending."""

    def __init__(self, memo: Memo | None = None) -> None:
        self.memo: Memo = {} if memo is None else memo
        self.arrays: list[Any] = []
        self.finish: Callable[[_Walk], None] | None = None
        self._pending: deque[Callable[[], None]] = deque()

    def register(self, x: Any, result: Any) -> None:
        """Let the walk know the result for `x`, which is kept alive: its address must not be used again."""
        self.memo[id(x)] = (x, result)

    def later(self, work: Callable[[], None]) -> None:
        """Call `work` when what is being put together now is complete."""
        self._pending.append(work)

    def __call__(self, *nodes: Any) -> Any:
        raise NotImplementedError

    def run(self, *nodes: Any) -> Any:
        """The result of the walk from `nodes`, with all pending work done."""
        result = self(*nodes)
        while self._pending:
            self._pending.popleft()()
        if self.finish is not None:
            self.finish(self)
            self.arrays.clear()  # an array that is shown cannot change its length
        return result


class MakeWalk(_Walk):
    """The walk that makes a tangent of a primal, with numbers drawn from `source` (None: zeros).

    is_constant: whether everything that the walk meets is declared constant, and no tangent is wanted.
    is_found: whether the walk begins at something that nobody has asked a derivative of: numbers there are
    constants.
    """

    is_constant = False

    def __init__(self, memo: Memo | None = None, source: Any = None, is_found: bool = False) -> None:
        super().__init__(memo)
        self.source = source
        self.is_found = is_found

    def number(self, cls: type, is_complex: bool) -> Any:
        """A number of class `cls` for the tangent."""
        if self.source is None:
            return cls(0.0)
        gauss = getattr(self.source, "gauss", None)
        draw = (lambda: gauss(0.0, 1.0)) if gauss is not None else self.source.standard_normal
        return cls(complex(draw(), draw()) if is_complex else draw())

    def __call__(self, x: Any) -> Any:
        found = self.memo.get(id(x))
        if found is not None and found[0] is x:
            return found[1]
        return kind_of(type(x)).make(x, self)


class PerturbWalk(_Walk):
    """The walk that makes a new primal: a primal moved by a tangent.

    combine: gives a number of the new primal, from that of the primal and that of the tangent.
    """

    combine: Callable[[Any, Any], Any] = staticmethod(operator.add)

    def __call__(self, x: Any, t: Any) -> Any:
        kind = kind_of(type(x))
        if kind.address:
            found = self.memo.get(id(x))
            if found is not None:
                return found[1]
        return kind.perturb(x, t, self)


class DifferWalk(_Walk):
    """The walk that makes the tangent from its second primal to its first.

    combine: gives a number of the tangent, from those of the two primals.
    """

    combine: Callable[[Any, Any], Any] = staticmethod(operator.sub)

    def __call__(self, p: Any, q: Any) -> Any:
        kind = kind_of(type(p))
        if type(p) is not type(q):
            raise InvalidTangentError(f"no difference between a {type(p).__name__} and a {type(q).__name__}")
        if kind.address:
            found = self.memo.get(id(p))
            if found is not None:
                return found[1]
        return kind.difference(p, q, self)


class _Structure:
    """How tangents of some class are taken apart and put together."""

    address = True

    def keys(self, t: Any) -> Sequence[Any]:
        raise NotImplementedError

    def get(self, t: Any, keys: Sequence[Any]) -> list[Any]:
        raise NotImplementedError

    def shell(self, t: Any) -> Any:
        return type(t)()

    def put(self, target: Any, keys: Sequence[Any], values: list[Any]) -> Any:
        """Write `values` at `keys` of the object `target`, or make a value of them; returns the result."""
        raise NotImplementedError


class _TupleParts(_Structure):
    address = False

    def keys(self, t: Any) -> Sequence[Any]:
        return range(len(t))

    def get(self, t: Any, keys: Sequence[Any]) -> list[Any]:
        return list(t)

    def put(self, target: Any, keys: Sequence[Any], values: list[Any]) -> Any:
        return tuple(values)


class _FieldParts(_Structure):
    def keys(self, t: Any) -> Sequence[Any]:
        return list(t.__dict__)

    def get(self, t: Any, keys: Sequence[Any]) -> list[Any]:
        fields = t.__dict__
        return [fields[k] for k in keys]

    def put(self, target: Any, keys: Sequence[Any], values: list[Any]) -> Any:
        target.__dict__.update(zip(keys, values, strict=True))
        return target


class _InstanceParts(_FieldParts):
    """Instances of subclasses of `ndarray`: the array under the key None, and the fields."""

    def keys(self, t: Any) -> Sequence[Any]:
        return [None, *t.__dict__]

    def get(self, t: Any, keys: Sequence[Any]) -> list[Any]:
        fields = t.__dict__
        return [t.array if k is None else fields[k] for k in keys]

    def put(self, target: Any, keys: Sequence[Any], values: list[Any]) -> Any:
        fields = dict(zip(keys, values, strict=True))
        target.array = fields.pop(None)
        target.__dict__.update(fields)
        return target


class _RecordParts(_FieldParts):
    address = False

    def put(self, target: Any, keys: Sequence[Any], values: list[Any]) -> Any:
        return type(target)(**dict(zip(keys, values, strict=True)))


class _ListParts(_Structure):
    def keys(self, t: Any) -> Sequence[Any]:
        return range(len(t))

    def get(self, t: Any, keys: Sequence[Any]) -> list[Any]:
        return list(t)

    def put(self, target: Any, keys: Sequence[Any], values: list[Any]) -> Any:
        if type(target) in (list, ListTangent):
            target[:] = values
        elif len(target) == len(values):
            for i, value in enumerate(values):
                target[i] = value
        else:
            target.clear()
            target.extend(values)
        return target

    def shell(self, t: Any) -> Any:
        return type(t)((), t.maxlen) if issubclass(type(t), deque) else type(t)()


class _DictParts(_Structure):
    def keys(self, t: Any) -> Sequence[Any]:
        return list(t)

    def get(self, t: Any, keys: Sequence[Any]) -> list[Any]:
        return [t[k] for k in keys]

    def put(self, target: Any, keys: Sequence[Any], values: list[Any]) -> Any:
        for k, v in zip(keys, values, strict=True):
            target[k] = v
        return target


STRUCTURES: dict[type, _Structure] = {
    tuple: _TupleParts(),
    Tangent: _RecordParts(),
    MutableTangent: _FieldParts(),
    ArrayTangent: _InstanceParts(),
    list: _ListParts(),
    ListTangent: _ListParts(),
    deque: _ListParts(),
    DequeTangent: _ListParts(),
    dict: _DictParts(),
    DictTangent: _DictParts(),
}
_FIELDS = _FieldParts()
_FIELDS_BESIDE = (ListTangent, DequeTangent, DictTangent)


def add_structure(cls: type, visit: Callable[..., Any]) -> None:
    """Let ``visit(walk, t, *others)`` visit tangents of class `cls` in each `TangentWalk`."""
    _VISITORS[cls] = visit


_VISITORS: dict[type, Callable[..., Any]] = {}


def add_visit_of_numbers(cls: type, visit: Callable[..., Any]) -> None:
    """Let ``visit(walk, target, t, others)`` visit the numbers in tangents of class `cls` from now on: other
    tangents may share the memory of these numbers."""
    VISITS_OF_NUMBERS[cls] = visit


VISITS_OF_NUMBERS: dict[type, Callable[..., Any]] = {}


def is_address_tangent(cls: type) -> bool:
    """Whether tangents of class `cls` are objects, identified by address."""
    if cls in _VISITORS:
        return True
    structure = STRUCTURES.get(cls)
    if structure is not None:
        return structure.address
    kind_of(cls)  # the first array brings the treatment of arrays with it
    return cls in _VISITORS


class TangentWalk(_Walk):
    """The walk that applies `leaf` to the numbers of one or several tangents of the same structure.

    in_place: whether the objects of the first tangent receive the results; otherwise new objects are made,
    shared in the same way.  For arrays, the walk collects ``(target, t, others)`` in `arrays`.
    """

    def __init__(self, leaf: Callable[..., Any], in_place: bool) -> None:
        super().__init__()
        self.leaf = leaf
        self.in_place = in_place

    def __call__(self, t: Any, *others: Any) -> Any:
        cls = type(t)
        if t is NO_TANGENT:
            for s in others:
                if s is not NO_TANGENT:
                    raise InvalidTangentError(f"NoTangent() does not go together with {s!r}")
            return t
        structure = STRUCTURES.get(cls)
        if structure is None:
            kind_of(cls)  # the first array brings the treatment of arrays with it
            visit = _VISITORS.get(cls)
            return self.leaf(t, *others) if visit is None else visit(self, t, *others)
        for s in others:
            if type(s) is not cls:
                raise InvalidTangentError(f"a {cls.__name__} does not go together with a {type(s).__name__}")
        if not structure.address:
            keys = structure.keys(t)
            return structure.put(t, keys, self._results(structure, keys, t, others))
        found = self.memo.get(id(t))
        if found is not None:
            return found[1]
        target = t if self.in_place else structure.shell(t)
        self.register(t, target)
        if cls in WITH_FIELDS:  # the dictionary may be the tangent of that of the object
            fields = t.__dict__
            found = self.memo.get(id(fields))
            if found is not None:
                target.__dict__ = found[1]
                if cls is ArrayTangent:
                    self.later(lambda: self._visit_array(target, t, others))
                if cls in _FIELDS_BESIDE:
                    self.later(lambda: self._visit_elements(structure, target, t, others))
                return target
            self.register(fields, target.__dict__)
        self.later(lambda: self._visit_parts(structure, target, t, others))
        return target

    def _visit_array(self, target: ArrayTangent, t: ArrayTangent, others: Sequence[Any]) -> None:
        target.array = self(t.array, *[s.array for s in others])

    def _visit_parts(self, structure: _Structure, target: Any, t: Any, others: Sequence[Any]) -> None:
        self._visit_elements(structure, target, t, others)
        if type(t) in _FIELDS_BESIDE and t.__dict__:
            keys = _FIELDS.keys(t)
            _FIELDS.put(target, keys, self._results(_FIELDS, keys, t, others))

    def _visit_elements(self, structure: _Structure, target: Any, t: Any, others: Sequence[Any]) -> None:
        keys = structure.keys(t)
        structure.put(target, keys, self._results(structure, keys, t, others))

    def _results(
        self, structure: _Structure, keys: Sequence[Any], t: Any, others: Sequence[Any]
    ) -> list[Any]:
        columns = [structure.get(t, keys)]
        for s in others:
            try:
                columns.append(structure.get(s, keys))
            except KeyError as error:
                raise InvalidTangentError(f"two tangents of one value: only one has {error}") from None
            if len(structure.keys(s)) != len(keys):
                raise InvalidTangentError(
                    f"two tangents of one value have {len(keys)} and {len(structure.keys(s))} parts"
                )
        return [self(*row) for row in zip(*columns, strict=True)]
