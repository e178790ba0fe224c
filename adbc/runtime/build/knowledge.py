"""What passes, analyses and builders may ask of the rest of the system: its one implementation.

Each of them says in a protocol of its own what it asks (`types.callsites.Knowledge`,
`types.closed.ClosedKnowledge`, ...).  Answers about functions are kept by code, namespace and types.  What is
answered about classes is noted as facts that the rule that is being built depends on.
"""

from __future__ import annotations

import contextlib
import itertools
import types
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Protocol

from adbc.config import FOLDER
from adbc.cpython.arity import is_misfit
from adbc.cpython.libraries import is_library_code
from adbc.cpython.wrappers import CACHED, calls_a_cached_one
from adbc.ir.graph import Graph
from adbc.ir.intrinsics import _global_
from adbc.ir.traverse import copy_graph
from adbc.ir.values import Const, Instruction, Value
from adbc.passes.normal.dropped_generators import makes_generators
from adbc.passes.query import drop, target
from adbc.passes.typed.guards import is_guessed
from adbc.rules.classes import Question, noting, stands_for
from adbc.rules.kinds import RowKind
from adbc.runtime.build.derived import Derived
from adbc.runtime.build.facts import (
    AccessorFact,
    AnswerFact,
    ClassFact,
    ConstructorFact,
    DefaultsFact,
    LackingFact,
    NameFact,
    QuestionFact,
)
from adbc.runtime.build.graphs import Graphs
from adbc.runtime.build.members import Members
from adbc.runtime.build.memoised import finds_nothing
from adbc.runtime.build.notes import Notes
from adbc.runtime.build.sampling import sampled_type
from adbc.runtime.build.speculation import Guesses
from adbc.runtime.calls.classes import (
    SLOW,
    accessor,
    certain_method,
    class_member,
    constructor,
    entered,
    has_state_in_c,
    inherited,
    is_bare,
    is_beside,
    is_default,
    is_field,
    is_instance,
    is_kept,
    is_made_in_a_call,
    lacks,
    method,
    record_names,
    special,
    through_metaclass,
)
from adbc.runtime.calls.operators import MAY_ASK, is_asked
from adbc.runtime.calls.plain import is_of_library, leads_nowhere
from adbc.types import ANY, NEVER, AbstractType, class_of, infer
from adbc.types.answers import is_seen_to_answer
from adbc.types.array_results import row_result
from adbc.types.callsites import Binding
from adbc.types.closed import is_closed
from adbc.types.inference import type_of
from adbc.types.keywords import deciding
from adbc.types.lattice import (
    ClosureType,
    ComplexType,
    ListType,
    RealType,
    inferred_type,
    memory_type,
)
from adbc.types.readers import only_reads

if TYPE_CHECKING:
    from adbc.passes.typed.object_values import Result

__all__ = ["Knowledge", "ReadsCache"]

Key = tuple[Any, ...]
Types = tuple[AbstractType, ...]

_MOST_CHOICES = 16
"""How many combinations of classes are tried at most where numbers may be of one of several."""
_DEEPEST = 40
"""How many functions, each called by the one before, have the types of their results inferred at most."""
_OFTEN = 4
"""How often at most a function is looked at, in one question, whose result cannot be kept."""
_OF_LIBRARIES = 16
"""The most functions of libraries whose results are inferred in one question."""
_ROUNDS = 4
"""How often at most the result of a recursive function is inferred, each time under the assumption of what
was found before."""


class ReadsCache(Protocol):
    """What keeps for other processes which parameters functions only read: `disk_cache.DiskCache`."""

    def load_reads(self, function: types.FunctionType, parameters: Types) -> tuple[bool, ...] | None: ...

    def store_reads(
        self, function: types.FunctionType, parameters: Types, reads: tuple[bool, ...]
    ) -> None: ...


class Knowledge(Members):
    """What is known of functions, rules and classes in one engine."""

    def __init__(
        self, graphs: Graphs, guesses: Guesses, building: Sequence[Derived], kept: ReadsCache | None
    ) -> None:
        self.graphs, self.guesses = graphs, guesses
        self.table, self.lock = graphs.table, graphs.lock
        self.building = building
        """The rules that are being built, the innermost last: that depends on what is asked of classes."""
        self.notes = Notes(building)
        """The facts that answers rest on, which whoever is given one depends on."""
        self.kept = kept
        self.results: dict[Key, AbstractType] = {}
        """What functions return, by code, namespace and types."""
        self.settled: dict[Key, bool] = {}
        """By function whose result was inferred, whether that left nothing to guess."""
        self.readers: dict[Key, tuple[bool, ...]] = {}
        """Whether functions are closed and which parameters they only read."""
        self.keepers: dict[Key, tuple[bool, ...]] = {}
        """Whether functions are closed and which lists of known elements they keep as such."""
        self._questions: set[Any] = set()
        """What is being asked, and of which functions; empty between questions."""
        self.samples: dict[Any, AbstractType | None] = {}
        """What calls on examples have shown, by function and descriptions of arguments."""
        self.answering: dict[Key, bool] = {}
        """Whether functions are seen never to return `NotImplemented`."""
        self.iterating = {}
        self.with_rules: dict[type, None] = {}
        """The classes of all that has a rule."""
        self.descriptors: dict[Any, types.FunctionType] = {}
        """What reads and writes attributes by descriptors in Python."""
        self.written: dict[types.CodeType, frozenset[str]] = {}
        """The variables in cells that code binds itself."""
        self.caches: tuple[dict[Any, Any], ...] = (
            self.with_rules, self.settled, self.descriptors, self.written,
            self.results, self.readers, self.keepers, self.samples, self.answering, self.iterating,
            self.notes.kept,
        )  # fmt: skip
        self.assumed: dict[Key, AbstractType] = {}
        """What functions whose results are being inferred are assumed to return; empty between questions."""
        self.library_left = _OF_LIBRARIES
        """How many more functions of libraries may have their results inferred in this question."""
        self.recursive: set[Key] = set()
        """Functions whose results were asked for while they were being inferred."""
        self.again: dict[Key, int] = {}
        """How often functions were looked at whose results could not be kept; empty between questions."""

    # -- rules and bindings --------------------------------------------------------------------------------

    def rows(self, function: object) -> Sequence[Any]:
        """All rules of `function`."""
        return self.table.rows(function)

    def row(self, function: object, types_: Sequence[AbstractType]) -> Any | None:
        """The rule of `function` if the types decide it: each has a class, or all choices agree."""
        rows = self.table.rows(function)
        if not rows or is_misfit(function, len(types_)):
            return None
        if function in MAY_ASK:
            with noting() as questions:
                asked = is_asked(function, types_)
            self._note(questions)
            if asked:
                return None
        if len(rows) == 1 and rows[0].when is None:
            return self._find(function, ())
        classes = list(map(class_of, types_))
        known = [cls for cls in classes if cls is not None]
        if len(known) == len(classes):
            return self._find(function, tuple(known))
        choices: list[tuple[type, ...]] = [()]
        for type, cls in zip(types_, classes, strict=True):
            if isinstance(type, RealType | ComplexType):
                choices = [(*before, c) for before in choices for c in type.members]
            elif cls is None:
                first = tuple(itertools.takewhile(lambda cls: cls is not None, classes))
                return self._find(function, first, self.table.choose_leading)
            else:
                choices = [(*before, cls) for before in choices]
            if len(choices) > _MOST_CHOICES:
                return None
        found = {self._find(function, choice) for choice in choices}
        return found.pop() if len(found) == 1 else None

    def _find(self, function: object, classes: tuple[Any, ...], choose: Any = None) -> Any | None:
        """The rule of `function` for these classes, as `choose` finds it; what it rests on is noted."""
        row, questions = (choose or self.table.choose)(function, classes)
        self._note(questions)
        return row

    def _note(self, questions: Iterable[Question]) -> None:
        """Note what was answered about classes."""
        for cls, name, base, answer in questions:
            fact = QuestionFact(cls, name, base, answer)
            self.notes.add((cls, fact.name), fact)

    def bind(self, function: object, count: int, keywords: tuple[str, ...]) -> Binding | None:
        """How `count` arguments, the last ones by keyword, bind to `function` if it is written in Python and
        can be lifted."""
        binding = self.graphs.bind(function, count, keywords)
        is_form = binding is not None and binding.function is not function
        if (
            is_form
            and type(function) is types.FunctionType
            and (function.__defaults__ or function.__kwdefaults__)
        ):
            self.notes.add(("defaults", id(function)), DefaultsFact(function))
        return binding

    def bind_called(
        self, function: types.FunctionType, count: int, keywords: tuple[str, ...]
    ) -> Binding | None:
        """How arguments bind to `function`, whose cells may get other contents, if it is called as all that
        have its code are: whoever calls it gives it to the rule."""
        if function.__closure__ is None or not self.graphs.bindings.is_followed(function):
            return None
        made = ClosureType(function.__code__, function.__globals__)
        binding = self.graphs.bind(made, count, keywords)
        if binding is not None:
            self.notes.add(("defaults", id(function)), DefaultsFact(function))
        return binding

    def finds_nothing(self, function: object, types: Sequence[AbstractType]) -> bool:
        """Whether `function` has a cache, finds functions and constants only, and `types` are of numbers."""
        are_numbers = all(class_of(t) in (int, float, bool) for t in types)
        return are_numbers and finds_nothing(function, self._body_of)

    def wrapped(self, function: object, given: Sequence[AbstractType]) -> types.FunctionType | None:
        """The function in Python that has been given a cache, which is by-passed, if `function` is such a one
        and is not to be called as it is, and would be computed each time for arguments of these types."""
        if type(function) is not CACHED or self.table.rows(function) or leads_nowhere(function):
            return None
        found = getattr(function, "__wrapped__", None)
        if type(found) is not types.FunctionType or is_of_library(found):
            return None
        if not any(class_of(t) is float for t in given) or calls_a_cached_one(found):
            return None
        return None if self.finds_nothing(function, ()) else found

    def _body_of(self, function: types.FunctionType) -> Graph | None:
        can_be_lifted = self.graphs.bind(function, function.__code__.co_argcount, ()) is not None
        return self.body(function) if can_be_lifted else None

    # -- classes -------------------------------------------------------------------------------------------

    def method(self, cls: type, name: str) -> Any:
        """The function that attribute `name` of instances of exactly `cls` is bound to, without a rule."""
        found = method(cls, name)
        if found is None:
            return None
        is_known = has_state_in_c(cls) or type(found) is types.MethodDescriptorType
        if self.table.rows(found) and not is_known:
            return None
        self.notes.add((cls, name), ClassFact(cls, name, found))
        return found

    def constructor(self, cls: type) -> types.FunctionType | None:
        """The ``__init__`` that calling `cls` runs, if nothing else happens and neither has a rule."""
        found: types.FunctionType | None = constructor(cls)
        if found is None or self.table.rows(found) or self.table.rows(cls):
            return None
        self.notes.add((cls, "()"), ConstructorFact(cls, found))
        return found

    def is_field(self, cls: type, name: str) -> bool:
        """Whether attribute `name` of instances of exactly `cls` is a plain field."""
        answer = is_field(cls, name)
        if answer:
            self.notes.add((cls, name), ClassFact(cls, name))
        return answer

    def is_beside(self, cls: type, name: str) -> bool:
        """Whether attribute `name` of instances of exactly `cls`, a frozen dataclass, is a constant that the
        class has, unless an instance was given one beside its fields."""
        answer = is_beside(cls, name)
        if answer:
            self.notes.add((cls, f"{name}.beside"), AnswerFact(cls, "beside", (name,), True))
        return answer

    def is_instances(self, cls: type, name: str) -> bool:
        """Whether attribute `name` of instances of exactly `cls` is a plain field, or else an object that the
        class has and that is given as it is."""
        return self.is_field(cls, name) or self.is_default(cls, name)

    def accessor(self, cls: type, name: str, way: str) -> types.FunctionType | None:
        """The function that reads or writes the property `name` of instances of exactly `cls`, or what else
        stands there and is asked."""
        found: types.FunctionType | None = accessor(cls, name, way)
        if found is None:
            return self.through_descriptor(cls, name, way)
        if self.table.rows(found):
            return None
        self.notes.add((cls, f"{name}.{way}"), AccessorFact(cls, name, way, found))
        return found

    def lacks(self, cls: type, name: str) -> bool:
        """Whether `cls`, a class in Python, has no attribute `name`."""
        answer = lacks(cls, name)
        if answer:
            self.notes.add((cls, f"{name}.none"), LackingFact(cls, name))
        return answer

    def class_member(self, cls: type, name: str) -> tuple[types.FunctionType, bool] | None:
        """The function that ``cls.name`` calls, without a rule, and whether it is given `cls`."""
        found = class_member(cls, name)
        if found is None or self.table.rows(found[0]) or self.table.rows(getattr(cls, name)):
            return None
        self.notes.add((cls, f"{name}.member"), AnswerFact(cls, "member", (name,), found))
        return found

    def inherited(self, cls: type, behind: type, name: str) -> types.FunctionType | None:
        """The method that ``super(behind, x).name`` is for an `x` of exactly `cls`, without a rule."""
        found: types.FunctionType | None = inherited(cls, behind, name)
        if found is None or self.table.rows(found):
            return None
        self.notes.add((cls, (behind, name)), AnswerFact(cls, "inherited", (behind, name), found))
        return found

    def certain_method(self, cls: type, name: str) -> types.FunctionType | None:
        """The method `name` of instances of exactly `cls`, which have no place for such a field."""
        found: types.FunctionType | None = certain_method(cls, name)
        if found is None or self.table.rows(found):
            return None
        self.notes.add((cls, f"{name}.certain"), AnswerFact(cls, "certain", (name,), found))
        return found

    def is_bare(self, cls: type) -> bool:
        """Whether a call of `cls` without arguments makes a new object and does nothing else."""
        answer = not self.table.rows(cls) and is_bare(cls)
        if answer:
            self.notes.add((cls, "().bare"), AnswerFact(cls, "bare", (), True))
        return answer

    def is_kept(self, cls: type, name: str) -> bool:
        """Whether attribute `name` of instances of exactly `cls` is a plain field, or else a constant that
        the class has."""
        answer = is_kept(cls, name)
        if answer:
            self.notes.add((cls, f"{name}.kept"), AnswerFact(cls, "kept", (name,), True))
        return answer

    def is_default(self, cls: type, name: str) -> bool:
        """Whether attribute `name` of instances of exactly `cls` is a plain field, or else an object that the
        class has."""
        answer = is_default(cls, name)
        if answer:
            self.notes.add((cls, f"{name}.default"), AnswerFact(cls, "default", (name,), True))
        return answer

    def is_variable(self, owner: type | types.ModuleType, name: str) -> bool:
        """Whether ``owner.name`` is an object that stands in a module, or in a class of the program, no
        library's and none that a call has made, whose attributes may have derivatives."""
        if isinstance(owner, types.ModuleType):
            is_told = type(owner) is types.ModuleType and "__getattr__" not in vars(owner)
            return is_told and name in vars(owner) and not hasattr(types.ModuleType, name)
        cls: Any = owner
        if through_metaclass(type(cls), name) is SLOW or is_of_library(cls) or is_made_in_a_call(cls):
            return False
        return self.is_default(cls, name)

    def special(self, cls: type, name: str) -> types.FunctionType | None:
        """The function that the special method `name` of instances of exactly `cls` is, without a rule."""
        found: types.FunctionType | None = special(cls, name)
        if found is None or self.table.rows(found):
            return None
        self.notes.add((cls, f"{name}.special"), AnswerFact(cls, "special", (name,), found))
        return found

    def given_at_once(self, cls: type, count: int) -> types.FunctionType | None:
        """What gives in a tuple the `count` values that ``__iter__`` of instances of exactly `cls` gives, if
        that is a generator that gives just these."""
        found: types.FunctionType | None = special(cls, "__iter__")
        if found is None or not makes_generators(found.__code__) or self.special(cls, "__iter__") is None:
            return None
        return self.graphs.given_at_once(found, count)

    def entered(self, cls: type, name: str) -> object | None:
        """What a ``with`` statement runs as the special method `name` of instances of exactly `cls`, if it
        has a rule."""
        found: object | None = entered(cls, name)
        if found is None or not self.table.rows(found):
            return None
        self.notes.add((cls, f"{name}.entered"), AnswerFact(cls, "entered", (name,), found))
        return found

    def record_names(self, cls: type) -> tuple[str, ...] | None:
        """The fields of `cls`, if it is a frozen dataclass and making and reading its instances is nothing
        else."""
        names: tuple[str, ...] | None = None if self.table.rows(cls) else record_names(cls)
        if names is not None:
            self.notes.add((cls, "().record"), AnswerFact(cls, "record", (), names))
        return names

    def called(self, cls: type) -> types.FunctionType | None:
        """The function that calls of instances of exactly `cls` run, if there are no rules of instances; not
        of classes of libraries, or adbc's own, whose instances may stand for something else, unless these say
        so."""
        if not self.with_rules:
            self.with_rules.update((type(function), None) for function in self.table.functions())
        found = None if cls in self.with_rules else self.special(cls, "__call__")
        if found is None:
            return None
        if found.__code__.co_filename.startswith(FOLDER):
            return found if getattr(cls, "is_followed", False) else None
        return None if is_library_code(found.__code__.co_filename, found.__globals__) else found

    def is_instance(self, cls: type, asked: type) -> bool | None:
        """What ``isinstance(x, asked)`` is for an `x` of exactly `cls`, if the classes decide that."""
        answer = is_instance(cls, asked)
        if answer is not None:
            self.notes.add((cls, (asked, "instance")), AnswerFact(cls, "instance", (asked,), answer))
        return answer

    def class_told(self, cls: type) -> type:
        """What ``type(x)`` is for an `x` of exactly `cls`."""
        return stands_for(cls) or cls

    def answers(self, function: types.FunctionType) -> bool:
        """Whether `function`, which can be lifted, is seen never to return `NotImplemented`."""
        key = function.__code__, id(function.__globals__)
        known = self.answering.get(key)
        if known is None:
            known = self.answering[key] = is_seen_to_answer(self.graphs.primal(function))
        return known

    # -- types of results ----------------------------------------------------------------------------------

    def infer(self, graph: Graph, parameters: Types) -> AbstractType:
        """Write types into `graph`, and what follows from them at once; returns that of the result."""
        if self.guesses.mode == "dynamic":
            return infer(graph, parameters, _knows_nothing)
        from adbc.runtime.build.inferred import infer_types  # what is only interpreted needs none of it

        return infer_types(graph, parameters, self)

    def infer_with(self, graph: Graph, parameters: Types, result: Result | None) -> AbstractType:
        """Like `infer`; `result` may know the type of a call's result better."""
        if result is None or self.guesses.mode == "dynamic":
            return self.infer(graph, parameters)
        from adbc.runtime.build.inferred import Informed, infer_types

        return infer_types(graph, parameters, Informed(self, result))

    def oracle(
        self, function: object, types_: Sequence[AbstractType], keywords: tuple[str, ...]
    ) -> AbstractType:
        """The type of a call's result."""
        row = self.row(function, deciding(types_, keywords))
        if row is not None:
            if row.is_drawn and (declared := row_result(row, types_)) is not ANY and not keywords:
                return declared
            if row.kind is RowKind.OVERLAY:
                return self._python_result(row.body, types_, keywords)
            is_told = not keywords or row.result is function  # a class, whatever it is given
            return row_result(row, types_) if is_told else ANY
        return self._python_result(function, types_, keywords)

    def sample(
        self, function: object, values: Sequence[Value], keywords: tuple[str, ...]
    ) -> AbstractType | None:
        """The type of a call's result by the example that its rule makes, or None."""
        row = self.row(function, deciding([type_of(v) for v in values], keywords))
        return None if row is None else sampled_type(row, function, values, keywords, self.samples)

    def body(self, function: types.FunctionType) -> Graph:
        """The graph of `function`, which can be lifted; it is not to be changed."""
        primal = self.graphs.primal(function)
        self.notes.add_names(primal, function.__globals__)
        for key, fact in primal.facts.items():
            self.notes.add(key, fact)
        return primal

    def _copy(self, function: types.FunctionType) -> Graph:
        """A copy of the graph of `function`, what is found in which depends on what its names mean."""
        return copy_graph(self.body(function))[0]

    def _python_result(
        self, function: object, types_: Sequence[AbstractType], keywords: tuple[str, ...]
    ) -> AbstractType:
        binding = self.bind(function, len(types_), keywords)
        if binding is None:
            return ANY
        bound = tuple(type_of(s) if isinstance(s, Const) else inferred_type(types_[s]) for s in binding.slots)
        return self.result(binding.function, bound)

    def result(self, function: types.FunctionType, parameters: Types) -> AbstractType:
        """The inferred type of what `function` returns.

        A recursive function is first assumed to return nothing, then what was found under that
        assumption, until the two agree.  Results found on the way under an assumption are not kept.
        Where many functions call each other, nothing is known of what was asked for too often; nor of more
        than a few functions of libraries: a call of one may lead to hundreds, most of which it never runs.
        Arithmetic of tangents that is given something unknown gives something unknown: it is not looked into.
        """
        if ANY in parameters and _goes_by_classes(function):
            return ANY
        key = (function.__code__, id(function.__globals__), parameters)
        known = self.results.get(key)
        if known is not None and self.notes.recall(("result", *key)):
            return known
        with self.lock:
            if key in self.assumed:
                self.recursive.add(key)
                return self.assumed[key]
            if len(self.assumed) > _DEEPEST or self.again.get(key, 0) >= _OFTEN:
                return ANY
            if not self.assumed:
                self.library_left = _OF_LIBRARIES
            if is_library_code(function.__code__.co_filename, function.__globals__):
                if not self.library_left:
                    return ANY
                self.library_left -= 1
            self.assumed[key] = NEVER
            try:
                with self.notes.behind(("result", *key)):
                    found = self._fixed_point(key, function, parameters)
            finally:
                del self.assumed[key]
                self.recursive.discard(key)
                if not self.assumed:
                    self.again.clear()
            if found is NEVER:
                found = ANY if self.recursive else NEVER
            if not self.recursive:
                self.results[key] = found
            else:
                self.again[key] = self.again.get(key, 0) + 1
            return found

    def _fixed_point(self, key: Key, function: types.FunctionType, parameters: Types) -> AbstractType:
        """The type of the result of `function` that follows from the assumption of just this type."""
        for _ in range(_ROUNDS):
            graph = self._copy(function)
            found = self.infer(graph, parameters)
            self.settled[key] = not any(map(is_guessed, graph.instructions()))
            if key not in self.recursive or found == self.assumed[key]:
                return found
            self.assumed[key] = found
        return ANY

    def promised(self, function: types.FunctionType, parameters: Types, mode: str) -> AbstractType:
        """The result type that callers of a derived rule compile against."""
        self.graphs.primal(function)
        if mode == "protected":  # it may also return a `Raised`
            return ANY
        result = self.result(function, self._known(function, parameters))
        return ANY if result is NEVER else result

    def is_settled(self, function: types.FunctionType, parameters: Types) -> bool:
        """Whether the types of all values in `function` follow from these: there is nothing to guess."""
        known = self._known(function, parameters)
        key = function.__code__, id(function.__globals__), known
        self.result(function, known)
        if not self.settled.get(key, True):
            graph = self._copy(function)
            if _with_numbers(
                graph, function.__globals__
            ):  # constants mostly, and guessed to be what they are
                self.infer(graph, known)
                self.settled[key] = not any(map(is_guessed, graph.instructions()))
        return self.settled.get(key, False)

    def _known(self, function: types.FunctionType, parameters: Types) -> Types:
        """What is known of parameters of these types, and stays so while `function` runs."""
        known = tuple(map(memory_type, parameters))
        return known if self._keeps_lists(function, known) else tuple(map(inferred_type, known))

    # -- what functions do to memory -----------------------------------------------------------------------

    def only_reads(self, function: types.FunctionType, parameters: Types) -> tuple[bool, ...]:
        """Per parameter of these types, whether `function` only reads it (`types.readers`).

        A function that calls itself is taken to write into what it hands to itself.
        """
        return self._reading(function, parameters)[1:]

    def is_closed(self, function: types.FunctionType, parameters: Types) -> bool:
        """Whether `function` meets no memory but that of its arguments (`types.closed`)."""
        return self._reading(function, parameters)[0]

    def _reading(self, function: types.FunctionType, parameters: Types) -> tuple[bool, ...]:
        """Whether `function` is closed, and which parameters it only reads; nothing is known where it has
        another number of parameters."""
        parameters = tuple(map(inferred_type, parameters))
        key = (function.__code__, id(function.__globals__), parameters)
        known = self.readers.get(key)
        if known is not None and self.notes.recall(("reads", *key)):
            return known
        with self.lock:
            known = None if self.kept is None else self.kept.load_reads(function, parameters)
            if known is not None:
                self.readers[key] = known
                return known
            nothing = (False,) * (len(parameters) + 1)
            if ("reads", *key[:2]) in self._questions:
                return nothing
            self.readers[key] = nothing
            with self._asking("reads", key):
                graph = self._copy(function)
                if len(graph.arguments) != len(parameters):
                    return nothing
                self.infer(graph, parameters)
                reads = [only_reads(graph, argument, self) for argument in graph.arguments]
                known = self.readers[key] = (is_closed(graph, self), *reads)
            facts = self.notes.kept["reads", *key].values()
            rests_on_classes = not all(isinstance(fact, NameFact) for fact in facts)
            if self.kept is not None and not self.building and not rests_on_classes:
                self.kept.store_reads(function, parameters, known)
        return known

    @contextlib.contextmanager
    def _asking(self, question: str, key: Key) -> Iterator[None]:
        """While a `question` is asked of a function, which may lead to it again with ever new types:
        there would be no end to that."""
        asked = (question, *key[:2])
        self._questions.add(asked)
        try:
            with self.notes.behind((question, *key)):
                yield
        finally:
            self._questions.discard(asked)

    def kept_lists(self, function: types.FunctionType, parameters: Types) -> tuple[bool, ...]:
        """Whether nobody else writes into lists while `function` runs, and which of the lists among its
        parameters it keeps as they are (`types.list_elements`).  Of a function that calls itself nothing is
        known."""
        key = (function.__code__, id(function.__globals__), parameters)
        known = self.keepers.get(key)
        if known is not None and self.notes.recall(("keeps", *key)):
            return known
        nothing = (False,) * (len(parameters) + 1)
        with self.lock:
            if ("keeps", *key[:2]) in self._questions:
                return nothing
            self.keepers[key] = nothing
            from adbc.runtime.build.inferred import kept_lists_of

            with self._asking("keeps", key):
                known = self.keepers[key] = kept_lists_of(self._copy(function), parameters, self)
        return known

    def _keeps_lists(self, function: types.FunctionType, parameters: Types) -> bool:
        """Whether parameters that are lists of known elements stay such lists as long as `function` runs."""
        lists = [i for i, t in enumerate(parameters) if isinstance(t, ListType)]
        if not lists:
            return False
        is_closed, *kept = self.kept_lists(function, parameters)
        return is_closed and all(kept[i] for i in lists)


def _goes_by_classes(function: Any) -> bool:
    """Whether what `function` does is decided by the classes of its arguments: it is a part of what code of
    derivatives calls for tangents of any kind, and leads through a good deal of that."""
    name = function.__globals__.get("__name__")
    return type(name) is str and name.startswith(("adbc.tangents.", "adbc.runtime."))


def _with_numbers(graph: Graph, namespace: dict[str, Any]) -> bool:
    """Put the numbers that `graph` reads from its globals in place of that; whether there are any."""
    found: dict[Value, Value] = {}
    reads: set[Instruction] = set()
    for call in graph.instructions():
        if target(call) is _global_ and isinstance(call.operands[1], Const):
            value = namespace.get(call.operands[1].value)  # type: ignore[call-overload]  # a str
            if type(value) in (float, int, bool):
                found[call] = Const(value)
                reads.add(call)
    graph.replace_uses(found)
    drop(graph, reads)
    return bool(found)


def _knows_nothing(
    function: object, types_: Sequence[AbstractType], keywords: tuple[str, ...]
) -> AbstractType:
    return ANY
