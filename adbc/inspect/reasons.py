"""Why a call is differentiated the way it is, in words, read off what the builder decided."""

from __future__ import annotations

import dataclasses
import inspect
import operator
import types
from collections.abc import Callable
from typing import Any

from adbc.functions import is_function
from adbc.inspect.source import line_of, text_at
from adbc.ir import intrinsics
from adbc.ir.graph import Graph
from adbc.ir.values import Argument, Const, Instruction, Phi, Value
from adbc.rules.kinds import RowKind
from adbc.types.callsites import CallSite, name_of
from adbc.types.decisions import Decisions
from adbc.types.inference import type_of
from adbc.types.kinds import Kind
from adbc.types.lattice import ANY, GUESSED_CODES, ClosureType, class_of

__all__ = ["CLASSES", "HIDDEN", "Reasons"]

CLASSES = {
    Kind.PRIMAL: "inactive", Kind.FRESH: "inactive", Kind.STEP: "inactive",
    Kind.ROW: "primitive", Kind.DERIVED: "derived", Kind.DYNAMIC: "dynamic", Kind.ATTEMPT: "dynamic",
}  # fmt: skip
"""The class of each kind of call site (`adbc.types.kinds`); all others are written inline."""

_DTYPES: dict[Any, str] = {code: dtype for dtype, code in GUESSED_CODES.items()}

HIDDEN = frozenset(
    map(
        id,
        (
        intrinsics._assume_, intrinsics._class_is_, intrinsics._array_is_, intrinsics._form_is_,
        intrinsics._method_is_, intrinsics._code_is_, intrinsics._observe_, intrinsics._exhausted_,
        intrinsics._check_,
        intrinsics._resume_iterator_, intrinsics._project_,
        intrinsics._element_, intrinsics._list_iterator_, intrinsics._list_reversed_,
        intrinsics._push_exc_info_, intrinsics._pop_except_,
        intrinsics._view_iterator_, intrinsics._resume_view_, intrinsics._next_place_, intrinsics._entry_key_,
        intrinsics._entry_value_,
        intrinsics._is_raised_, intrinsics._raised_, intrinsics._freevar_, intrinsics._own_,
        intrinsics._expose_,
        intrinsics._pass_on_,
        ),
    )
)  # fmt: skip
"""Functions whose calls are not shown: adbc has put them in, or they stand for a part of a statement."""

_SYNTAX = {id(function): name for function, name in {
    intrinsics._next_: "next element", intrinsics._next_at_: "next element",
    intrinsics._take_at_: "next element", intrinsics._iter_: "iterator",
    intrinsics._next_key_: "next element", intrinsics._next_value_: "next element",
    intrinsics._next_entry_: "next element",
    intrinsics._getattr_: "attribute", intrinsics._setattr_: "set attribute", intrinsics._bool_: "bool",
    intrinsics._init_field_: "set attribute",
    intrinsics._overwrite_field_: "set attribute", intrinsics._overwrite_item_: "set element",
    intrinsics._unpack_: "unpack", intrinsics._unpack_list_: "unpack", intrinsics._new_: "display",
    intrinsics._attempt_: "try",
    intrinsics._global_: "global", intrinsics._format_: "format",
}.items()}  # fmt: skip

_INLINE = {
    Kind.SCALAR: "numbers: the partial derivatives are written in",
    Kind.COMPLEX: "complex numbers: the partial derivatives are written in",
    Kind.FORMULA: "an array whose result is a number or new: the formulas of the rule are written in",
    Kind.UPDATE: "an array grows or shrinks in place: its shadow is what the operand gets",
    Kind.WRITE: "a part of an array is written: the operand gets that part of the shadow",
    Kind.VIEW: "a view of an array: the same view of its shadow",
    Kind.PART: "a view of an array that is only read: its cotangent is added to a part of that of the array",
    Kind.MOVE: "an array that is only read, in another shape: its cotangent in the shape of the array",
    Kind.TUPLE: "a tuple is made: its parts keep their cotangents",
    Kind.PROJECT: "an element of a tuple that is known",
    Kind.COPY: "the same value by another name",
    Kind.CONTEXTUAL: "a global, what stands in a class, a closure, a new function or what a cache gives:"
    " looked up with its shadow",
    Kind.TEXT: "text, which has no derivative: remembered if it was made from a number that has one",
    Kind.LOAD: "one element of an array: a slot of its shadow",
    Kind.STORE: "one element of an array: a slot of its shadow",
    Kind.SLOT_LOAD: "a slot of a list or dict: the same slot of its shadow",
    Kind.SLOT_STORE: "a float is written to a list: the same slot of its shadow",
    Kind.FIELD_LOAD: "a plain field: the same field of the shadow",
    Kind.CELL_LOAD: "a variable of a closure: the field of the cell's shadow",
    Kind.RECORD_LOAD: "a field of a value with named parts: the same field of the shadow",
    Kind.FIELD_PUT: "something is written to a plain field, and its shadow to that of the shadow",
    Kind.FIELD_INIT: "a field of a new object is written, and that of its shadow",
    Kind.FIELD_STORE: "a float is written to a plain field: the same field of the shadow",
    Kind.OVERWRITE_ITEM: "a float is written over a float",
    Kind.OVERWRITE_FIELD: "a float is written over a float",
    Kind.NEXT: "the next element of a list or value of a dict: its slot of the shadow",
    Kind.ELEMENT: "unpacked from a list or an item of a dict: its slot of the shadow",
    Kind.KEY: "the next key of a dict: only objects have a shadow",
    Kind.SLOT_APPEND: "a float is appended to a list: the same done to its shadow",
    Kind.EMPTY_LIST: "an empty list: so is its shadow",
    Kind.OWN: "an array that is treated like a number becomes memory: a zero shadow",
    Kind.METHOD: "a method is read from an instance",
    Kind.RESUME: "an iterator goes on",
}


_OF_CONTAINERS: tuple[Any, ...] = (
    operator.getitem, intrinsics._next_at_, intrinsics._take_at_,
    intrinsics._element_, intrinsics._next_value_,
    intrinsics._entry_value_,
)  # fmt: skip
"""Functions that read an element: of their first argument if it is a subscript, else of the second."""


class Reasons:
    """Says in words, for the calls of one graph, what is called and why it is differentiated as it is."""

    def __init__(self, decisions: Decisions, rules: Callable[[Any], list[Any]]) -> None:
        self.decisions = decisions
        self.graph: Graph = decisions.graph
        self.rules = rules
        self.guards: dict[Value, str] = {}
        """What the results of calls are guessed to be and tested for, in words."""
        for call in self.graph.instructions():
            site = decisions.sites.get(call)
            if site is None:
                continue
            if site.function is intrinsics._class_is_ and isinstance(site.arguments[1], Const):
                cls: Any = site.arguments[1].value
                self.guards[site.arguments[0]] = f"guessed to be {cls.__name__}"
            elif site.function is intrinsics._array_is_:
                code, ndim = (a.value if isinstance(a, Const) else None for a in site.arguments[2:])
                self.guards[site.arguments[0]] = f"guessed to be an array, {ndim}-d of {_DTYPES[code]}"
            elif site.function is intrinsics._form_is_ and isinstance(site.arguments[1], Const):
                form: Any = site.arguments[1].value
                self.guards[site.arguments[0]] = f"guessed to be {_form(form)}"
            elif site.function is intrinsics._method_is_ and isinstance(site.arguments[1], Const):
                self.guards[site.arguments[0]] = (
                    f"guessed to be the method {name_of(site.arguments[1].value)}"
                )

    # -- what a value is -------------------------------------------------------------------------------

    def name(self, value: Value) -> str:
        """What a value is called in the source."""
        if isinstance(value, Const):
            constant = value.value
            return name_of(constant) if callable(constant) else f"{constant!r:.30}"
        if isinstance(value, Argument):
            return value.name
        if isinstance(value, Instruction):
            text = text_at(self.graph.filename, value.position)
            if value.name and value.name.isidentifier():
                return value.name
            if text is not None:
                return text
            line = line_of(value.position)
            return "a value" if line is None else f"a value of line {line}"
        if isinstance(value, Phi) and value.name:
            return value.name
        return "a value"

    def origin(self, value: Value) -> str:
        """Where a value of unknown type comes from, in words."""
        while isinstance(value, Instruction) and self._function(value) in (
            intrinsics._check_,
            intrinsics._assume_,
        ):
            value = self.decisions.sites[value].arguments[0]
        if isinstance(value, Argument):
            return "an argument"
        if isinstance(value, Phi):
            return "a variable that has several types"
        site = self.decisions.sites.get(value) if isinstance(value, Instruction) else None
        if site is None:
            return "an exception"
        function, arguments = site.function, site.arguments
        if function in _OF_CONTAINERS:
            container = arguments[0] if function is operator.getitem else arguments[1]
            cls = class_of(type_of(container))
            return "an element of a " + (cls.__name__ if cls is not None else "container of unknown type")
        if function is intrinsics._next_:
            return "what an iterator gives"
        if function is intrinsics._getattr_:
            return (
                f"the attribute {arguments[1].value!r}" if isinstance(arguments[1], Const) else "an attribute"
            )
        if function is intrinsics._freevar_ or function is intrinsics._cell_get_:
            return "a variable of an enclosing function"
        if function is intrinsics._global_:
            return "a global that may change"
        if function is intrinsics._unpack_ or function is intrinsics._project_:
            return "unpacked from something of unknown type"
        if function is None:
            return "the result of an unknown function"
        return f"the result of {name_of(function)}"

    def _function(self, call: Instruction) -> Any:
        site = self.decisions.sites.get(call)
        return None if site is None else site.function

    def called(self, site: CallSite) -> str:
        """What is called at `site`, in words; for syntax, what the syntax does."""
        return _SYNTAX.get(id(site.function)) or self.name(site.callee)

    # -- why -------------------------------------------------------------------------------------------

    def kind(self, call: Instruction, site: CallSite) -> str:
        """The class of a call: the `kind` of a `Site` of `explain`."""
        kind = CLASSES.get(site.kind, "inline")
        if site.kind is Kind.ATTEMPT and site.binding is not None:
            kind = "derived"
        return "guarded" if kind == "inline" and call in self.guards else kind

    def why(self, call: Instruction, site: CallSite) -> str:
        """Why `call` is of its class, in words."""
        guard = self.guards.get(call)
        if guard is None:
            return self._why(site)
        if self.kind(call, site) != "guarded":
            return f"{self._why(site)}; its result is {guard} and guarded"
        name = self.name(call)
        subject = f"type of `{name}` unknown" if not name.startswith("a value") else "type unknown"
        return f"{subject}: {self.origin(call)}, {guard} and guarded"

    def _why(self, site: CallSite) -> str:
        kind = site.kind
        if kind in (Kind.PRIMAL, Kind.FRESH, Kind.STEP):
            if site.row is not None and site.row.kind is RowKind.ZERO:
                return "its derivative is zero"
            active = any(a in self.decisions.active for a in site.arguments)
            return "its result has no derivative" if active else "no argument has a derivative"
        if kind is Kind.ROW:
            return f"a rule of the table ({site.row.kind}) is called"
        if kind is Kind.DERIVED:
            assert site.binding is not None
            body = site.binding.function
            if isinstance(site.function, ClosureType):
                return f"a function of known code ({name_of(body)}): its derived rule is called"
            of_parameters = getattr(body.__code__, "original", None)  # as many as there are arguments
            own = site.function.__code__ if is_function(site.function) else None
            is_own = own is not None and own in (of_parameters, body.__code__)
            if body is not site.function and not is_own:
                name = body.__qualname__ if of_parameters is not None else name_of(body)
                return f"differentiated through {name}, which stands in for it"
            return "a Python function that is known here: its derived rule is called"
        if kind is Kind.ATTEMPT:
            if site.binding is not None:
                why = self._why(dataclasses.replace(site, kind=Kind.DERIVED))
                return f"{why}, and exceptions come back as values"
            return f"in a `try` or `with`: {self._why_dynamic(site)}"
        if kind is Kind.DYNAMIC:
            return self._why_dynamic(site)
        return _INLINE[kind]

    def _why_dynamic(self, site: CallSite) -> str:
        function = site.function
        if function is None:
            name = self.name(site.callee)
            return f"what `{name}` is is not known: {self.origin(site.callee)}"
        unknown = [a for a in site.arguments if type_of(a) is ANY]
        rows = self.rules(function)
        if is_function(function) and not rows and function not in _INTRINSICS:
            return self._why_not_bound(function)
        if site.keywords and rows:
            return "its arguments are passed by keyword, so the rule is called by way of the dispatcher"
        if unknown:
            first = unknown[0]
            return f"type of `{self.name(first)}` unknown: {self.origin(first)}"
        if rows:
            return "which rule it takes depends on the values"
        return "the protocol of these types is followed when it runs"

    @staticmethod
    def _why_not_bound(function: types.FunctionType) -> str:
        if function.__closure__ is not None:
            return "the function has a closure, so it is looked at when it is called"
        flags = function.__code__.co_flags
        if flags & (inspect.CO_VARARGS | inspect.CO_VARKEYWORDS):
            return "the function takes *args or **kwargs, which are put together when it is called"
        if flags & inspect.CO_GENERATOR:
            return "the function is a generator, which runs in steps"
        return "how its arguments bind is found out when it is called"


_INTRINSICS = frozenset(intrinsics.INTRINSICS.values())


def _form(form: tuple[Any, ...]) -> str:
    """The form of a tuple (`intrinsics._form_is_`), in words."""
    return f"tuple[{', '.join(map(_part, form))}]"


def _part(form: Any) -> str:
    if isinstance(form, tuple) and form[:1] == ("array",):
        return f"{form[3]}-d array of {_DTYPES[form[2]]}"
    return "Any" if form is None else _form(form) if isinstance(form, tuple) else form.__name__
