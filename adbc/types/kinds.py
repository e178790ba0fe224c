"""The kinds of calls: what a builder can make of one, a row each.

`callsites.classify` chooses the kind; each builder has a handler per kind that it can meet, and a test
compares the two.  A derivative does not depend on the kind: kinds are only faster or slower.  The rows are
the table "What becomes of a call" of the documents.
"""

from __future__ import annotations

from enum import StrEnum

__all__ = ["FORWARD", "REVERSE", "Kind"]

FORWARD, REVERSE = "forward", "reverse"
_BOTH = (FORWARD, REVERSE)


class Kind(StrEnum):
    """What becomes of a call.

    when: in which case a call is of this kind.
    code: what is written for it.
    writes: whether the code may write into a shadow or tangent that was there before.
    modes: the modes that have calls of this kind.
    """

    when: str
    code: str
    writes: bool
    modes: tuple[str, ...]

    def __new__(
        cls, name: str, when: str, code: str, writes: bool = False, modes: tuple[str, ...] = _BOTH
    ) -> Kind:
        kind = str.__new__(cls, name)
        kind._value_ = name
        kind.when, kind.code, kind.writes, kind.modes = when, code, writes, modes
        return kind

    PRIMAL = (
        "primal",
        "nothing active comes out, or what does only decides where the program goes",
        "the call, as it is",
    )
    FRESH = "fresh", "the derivative is zero, and the result is new memory", "the call, and a zero shadow"
    SCALAR = "scalar", "a scalar rule on proved real numbers", "partial derivatives, inline"
    COMPLEX = (
        "complex",
        "a scalar rule on proved numbers, some of them complex",
        "conjugates of partial derivatives, inline; the rule of the table in forward mode",
    )
    STEP = (
        "step",
        "a function that rounds numbers",
        "the call, as it is, and a test whether anything could be rounded",
    )
    LOAD = "load", "one number is read from an array", "the slot of the shadow"
    STORE = "store", "one number is written into an array", "the slot of the shadow", True
    SLOT_LOAD = "slot_load", "an element of a list or dict is read", "the slot of the shadow"
    SLOT_STORE = "slot_store", "a float is written into a list", "the slot of the shadow", True
    SLOT_APPEND = "slot_append", "`l.append(x)` of a float", "the same done to the shadow", True
    EMPTY_LIST = "empty_list", "`[]`", "another for the shadow"
    NEXT = "next", "the next element of a list or value of a dict", "the slot of the shadow"
    ELEMENT = (
        "element",
        "an element of a list that is unpacked, or of an item of a dict",
        "the slot of the shadow",
    )
    KEY = "key", "the next key of a dict", "none, unless it is an object: that has its shadow by its address"
    FIELD_LOAD = "field_load", "a plain field of an instance is read", "the field of the shadow"
    RECORD_LOAD = (
        "record_load",
        "a field of a frozen dataclass or named tuple is read",
        "the field of the shadow; the cotangent is a field of that of the record",
    )
    FIELD_STORE = "field_store", "a float is written into a plain field", "the field of the shadow", True
    FIELD_PUT = "field_put", "anything else is written into a plain field", "the field of the shadow", True
    FIELD_INIT = "field_init", "a field of a new object is written", "the field of the shadow", True
    CELL_LOAD = "cell_load", "a variable of a closure is read", "the field of the cell's shadow"
    OVERWRITE_ITEM = (
        "overwrite_item",
        "a float is written over a float of a list (`passes/typed/known_slots.py`)",
        "the slot of the shadow, inline",
        True,
    )
    OVERWRITE_FIELD = (
        "overwrite_field",
        "a float is written over a float of a plain field",
        "the field of the shadow, inline",
        True,
    )
    METHOD = "method", "a method is read from an instance", "none, unless the instance has such a field"
    RESUME = "resume", "an iterator over a list or dict goes on elsewhere", "an iterator over the shadow"
    TUPLE = "tuple", "a tuple is made", "none: cotangents are those of the parts"
    PROJECT = "project", "an element of a tuple of known structure", "none: the cotangent is a part"
    COPY = "copy", "the result is the first argument", "none: cotangents are renamed"
    CONTEXTUAL = (
        "contextual",
        "a global is read or written, a function or an instance is made, a cached function is given numbers",
        "a call of the runtime with the context",
        True,
    )
    TEXT = (
        "text",
        "text is made of text, or of what may be text, or a number is read from text",
        "the call, by the runtime with the context",
    )
    VIEW = "view", "basic indexing of an array", "the same view of the shadow"
    PART = (
        "part",
        "basic indexing of an array that is treated like a number",
        "the cotangent is added to a part of that of the array",
        False,
        (REVERSE,),
    )
    MOVE = (
        "move",
        "a reshape or transpose of such an array",
        "the cotangent in the shape of the array",
        False,
        (REVERSE,),
    )
    OWN = (
        "own",
        "a parameter that is treated like a number becomes memory",
        "a zero shadow",
        False,
        (REVERSE,),
    )
    FORMULA = "formula", "a function of arrays whose result is new", "formulas of the rule, inline", True
    UPDATE = (
        "update",
        "`u += v` or `u -= v` of arrays",
        "the cotangent of `v` is the shadow of `u`",
        True,
    )
    WRITE = (
        "write",
        "`u[1:-1] = v` of arrays, by ints and slices or by a mask",
        "the cotangent of `v` is a part of the shadow of `u`",
        True,
    )
    ROW = "row", "another rule, decided by the types (*typed*)", "a call of that rule", True
    DERIVED = (
        "derived",
        "a function written in Python that is known, or whose code is",
        "a call of its derived rule",
        True,
    )
    ATTEMPT = (
        "attempt",
        "a call in a `try` or `with` of a Python function, or of what is found out at run time",
        "like `derived` or `dynamic`, and an exception comes back as a value",
        True,
        (REVERSE,),
    )
    DYNAMIC = "dynamic", "all else", "found out at run time (`runtime/calls/`)", True
