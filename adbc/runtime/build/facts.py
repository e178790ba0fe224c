"""Facts that derived rules are specialised on, which are looked at again whenever a rule is entered.

What a path of global names leads to, what a function is, that an attribute of a class is a plain field or
this method, what calling a class does.  Many rules depend on the same facts, and on facts about the same
classes: `together` makes one look of those.
"""

from __future__ import annotations

import builtins
import sys
import types
from collections.abc import Callable, Iterable, Sequence
from operator import is_
from typing import Any

from adbc.cpython.libraries import is_library_code
from adbc.functions import is_function
from adbc.ir.graph import HOME, IMPORT
from adbc.rules.classes import inherits, overrides
from adbc.rules.lookup import RuleTable
from adbc.runtime.build.glances import Checked, Glance, Shot
from adbc.runtime.calls.classes import (
    accessor,
    are_fields,
    asks_nothing,
    cached_function,
    certain_member,
    certain_method,
    class_member,
    constructor,
    descriptor,
    entered,
    inherited,
    is_bare,
    is_beside,
    is_default,
    is_field,
    is_instance,
    is_kept,
    keeps,
    lacks,
    method,
    name_of_class,
    presence,
    record_names,
    setting,
    special,
    unbound,
)
from adbc.runtime.calls.derived_classes import (
    allocator,
    attribute_hook,
    derived_from,
    filled_by,
    inherited_in_c,
    is_value,
    iterated_as,
    made_by,
)
from adbc.tangents.objects import FrozenKind
from adbc.tangents.protocol import kind_of

__all__ = [
    "AccessorFact",
    "AnswerFact",
    "CellFact",
    "ClassFact",
    "Classes",
    "ConstructorFact",
    "DefaultsFact",
    "Fact",
    "KeepingFact",
    "LackingFact",
    "NameFact",
    "QuestionFact",
    "class_fact",
    "together",
]


_CELL = "__closure__["


def _number(attribute: str) -> int:
    """The number of the cell that a step of a path leads to (`calling.cell_step`)."""
    return int(attribute[len(_CELL) : -1])


def _follow(owner: Any, attribute: str) -> Any:
    """Where a path goes on from `owner`: an attribute, or what is in a cell of its closure."""
    if not attribute.startswith(_CELL):
        return getattr(owner, attribute, None)
    cells = getattr(owner, "__closure__", None) or ()
    number = _number(attribute)
    return cells[number].cell_contents if number < len(cells) and cells[number] != _EMPTY else None


_EMPTY = types.CellType()

_Meaning = tuple[Any, ...]


def _meaning(function: Any) -> _Meaning:
    """What a function, perhaps in a static or class method, is besides being itself: its code, its defaults,
    and what functions among these are.

    Defaults by keyword stand in a dictionary, which may be changed in place.  Nothing for other objects.
    """
    if isinstance(function, (staticmethod, classmethod)):
        function = function.__func__
    code = getattr(function, "__code__", None)
    if not isinstance(code, types.CodeType):  # the class of functions has a descriptor of this name
        return ()
    defaults, by_name = getattr(function, "__defaults__", None), getattr(function, "__kwdefaults__", None)
    if not (defaults or by_name):
        return (code,)
    found: list[Any] = [code]
    values = [*(defaults or ()), *(by_name or {}).values()]
    found += (*(by_name or ()), *values)
    seen = {id(function)}
    for value in values:
        if type(value) is types.FunctionType and id(value) not in seen:
            seen.add(id(value))
            inner = *(value.__defaults__ or ()), *(value.__kwdefaults__ or {}).values()
            found += (value.__code__, *(value.__kwdefaults__ or ()), *inner)
            values += inner
    return tuple(found)


def _still(function: Any, meaning: _Meaning) -> bool:
    """Whether `function` is what it was when its meaning was `meaning`."""
    if not meaning:
        return True
    if len(meaning) == 1 and type(function) is types.FunctionType:  # quickly, for most are so
        is_bare = not (function.__defaults__ or function.__kwdefaults__)
        return is_bare and function.__code__ is meaning[0]
    now = _meaning(function)
    return len(now) == len(meaning) and all(map(is_, now, meaning))


def at_home(globals: dict[str, Any], path: tuple[str, ...]) -> tuple[dict[str, Any], tuple[str, ...]]:
    """The globals that the first name of `path` is one of, and the path from there: those of another module,
    if it begins with one."""
    if not path[0].endswith(HOME):
        return globals, path
    module = sys.modules.get(path[0][: -len(HOME)])
    return ({} if module is None else vars(module)), path[1:]


class NameFact:
    """Something about the world that must still hold: what a path of names leads to, what a function is."""

    __slots__ = ("asked", "globals", "meaning", "path", "value")

    def __init__(self, globals: dict[str, Any], path: tuple[str, ...], value: Any) -> None:
        self.asked = globals, path
        """Where the path begins for who asks, and the path from there."""
        self.globals, self.path = at_home(globals, path)
        self.value = value
        self.meaning = _meaning(value)

    def key(self) -> object:
        """A key that is equal for equal facts; the objects whose addresses are in it are held by the fact."""
        return id(self.globals), self.path, id(self.value), *map(id, self.meaning)

    def __str__(self) -> str:
        *owner, name = self.path
        return f"global {name!r}{' of ' + '.'.join(owner) if owner else ''}"

    def mend(self) -> None:
        """Bind the name to what it was bound to."""
        name, *rest = self.path
        globals = self.globals
        if name.startswith(IMPORT):
            name, globals = name[len(IMPORT) :], sys.modules
        if not rest:
            globals[name] = self.value
            return
        owner = globals[name] if name in globals else getattr(builtins, name)
        for attribute in rest[:-1]:
            owner = _follow(owner, attribute)
        if rest[-1].startswith(_CELL):
            owner.__closure__[_number(rest[-1])].cell_contents = self.value
        else:
            setattr(owner, rest[-1], self.value)

    @staticmethod
    def found(globals: dict[str, Any], path: tuple[str, ...]) -> Any:
        """What `path` leads to."""
        name, *rest = path
        if name in globals:
            value = globals[name]
        elif name.startswith(IMPORT):
            value = sys.modules.get(name[len(IMPORT) :])
        else:
            namespace = globals.get("__builtins__")
            value = getattr(namespace, name, None) if not isinstance(namespace, dict) else namespace.get(name)
        for attribute in rest:
            value = _follow(value, attribute)
        return value

    def holds(self) -> bool:
        value = self.found(self.globals, self.path)
        return value is self.value and _still(value, self.meaning)

    def is_of_code_alone(self) -> bool:
        """Whether the name still means the same function, of a library, which only has another code: some
        functions are compiled when they are first called."""
        value = self.value
        if type(value) is not types.FunctionType or not self.meaning:
            return False
        code = self.meaning[0]
        is_same = self.found(self.globals, self.path) is value and code is not value.__code__
        return is_same and is_library_code(code.co_filename, value.__globals__)

    def rests_on(self, shot: Shot) -> bool:
        is_noted = _note_names(self, shot.present, shot.absent) or self._is_method_noted(shot)
        return is_noted and shot.note_function(self.value)

    def _is_method_noted(self, shot: Shot) -> bool:
        """Whether the path leads to the function of a method of an object, such as ``stats.norm.pdf``; if so,
        what it rests on is noted."""
        if len(self.path) < 3 or self.path[-1] != "__func__":
            return False
        *path, name, _ = self.path
        owner = self.found(self.globals, tuple(path))
        cls, space = type(owner), getattr(owner, "__dict__", {})
        asks_nobody = not overrides(cls, "__getattribute__") and type(space) is dict
        if not asks_nobody or name in space or not _is_found_there(cls, name):
            return False
        if getattr(cls, name) is not self.value:
            return False
        shot.note_class(cls)
        shot.absent[id(space), name] = space, name
        return _note_names(NameFact(self.globals, tuple(path), owner), shot.present, shot.absent)


class ClassFact:
    """The fact that an attribute of the instances of a class is a plain field, or a certain method."""

    __slots__ = ("cls", "function", "meaning", "name")

    def __init__(self, cls: type, name: str, function: Any = None) -> None:
        self.cls = cls
        self.name = name
        self.function = function
        self.meaning = _meaning(function)

    def key(self) -> object:
        """A key that is equal for equal facts; the objects whose addresses are in it are held by the fact."""
        return self.cls, self.name, self.function, *map(id, self.meaning)

    def holds(self) -> bool:
        if self.function is not None:
            return method(self.cls, self.name) is self.function and _still(self.function, self.meaning)
        return is_field(self.cls, self.name)

    def rests_on(self, shot: Shot) -> bool:
        shot.note_class(self.cls)
        return shot.note_function(self.function)


class ConstructorFact:
    """The fact that calling a class runs a certain ``__init__`` on a new object, and nothing else."""

    __slots__ = ("cls", "function", "meaning")

    def __init__(self, cls: type, function: Any) -> None:
        self.cls = cls
        self.function = function
        self.meaning = _meaning(function)

    def key(self) -> object:
        """A key that is equal for equal facts; the objects whose addresses are in it are held by the fact."""
        return self.cls, "()", self.function, *map(id, self.meaning)

    def holds(self) -> bool:
        return constructor(self.cls) is self.function and _still(self.function, self.meaning)

    def rests_on(self, shot: Shot) -> bool:
        shot.note_class(self.cls)
        return shot.note_function(self.function)


class KeepingFact:
    """The fact that what is set as a certain attribute of an instance of a class is what is read there."""

    __slots__ = ("cls", "name")

    function = None

    def __init__(self, cls: type, name: str) -> None:
        self.cls = cls
        self.name = name

    def key(self) -> object:
        """A key that is equal for equal facts."""
        return self.cls, self.name

    def holds(self) -> bool:
        return keeps(self.cls, self.name[:-1])

    def rests_on(self, shot: Shot) -> bool:
        shot.note_class(self.cls)
        return True


class AccessorFact:
    """The fact that a certain function reads or writes a property of the instances of a class."""

    __slots__ = ("cls", "function", "meaning", "name", "way")

    def __init__(self, cls: type, name: str, way: str, function: Any) -> None:
        self.cls, self.name, self.way, self.function = cls, name, way, function
        self.meaning = _meaning(function)

    def key(self) -> object:
        """A key that is equal for equal facts; the objects whose addresses are in it are held by the fact."""
        return self.cls, self.name, self.way, self.function, *map(id, self.meaning)

    def holds(self) -> bool:
        found = accessor(self.cls, self.name, self.way)
        return found is self.function and _still(self.function, self.meaning)

    def rests_on(self, shot: Shot) -> bool:
        shot.note_class(self.cls)
        return shot.note_function(self.function)


class LackingFact:
    """The fact that a class has no attribute of a certain name."""

    __slots__ = ("cls", "name")

    function = None

    def __init__(self, cls: type, name: str) -> None:
        self.cls, self.name = cls, name

    def key(self) -> object:
        """A key that is equal for equal facts."""
        return self.cls, self.name, "lacks"

    def holds(self) -> bool:
        return lacks(self.cls, self.name)

    def rests_on(self, shot: Shot) -> bool:
        shot.note_class(self.cls)
        return True


class AnswerFact:
    """The fact that a question about a class, one of those in `_QUESTIONS`, has a certain answer."""

    __slots__ = ("about", "answer", "cls", "function", "meaning", "question")

    def __init__(self, cls: type, question: str, about: tuple[Any, ...], answer: Any) -> None:
        self.cls, self.question, self.about, self.answer = cls, question, about, answer
        first = answer[0] if isinstance(answer, tuple) and answer else answer
        self.function = first if is_function(first) else None
        self.meaning = _meaning(first)

    def key(self) -> object:
        """A key that is equal for equal facts; the objects whose addresses are in it are held by the fact."""
        return self.cls, self.question, self.about, self.answer, *map(id, self.meaning)

    def holds(self) -> bool:
        now = _QUESTIONS[self.question](self.cls, *self.about)
        return bool(now == self.answer) and (self.function is None or _still(self.function, self.meaning))

    def rests_on(self, shot: Shot) -> bool:
        if self.question == "record" and isinstance(kind_of(self.cls), FrozenKind):
            return False  # its fields stand in a dictionary
        if self.question == "name":
            return False  # it stands beside all that the class has
        for cls in (self.cls, *self.about):
            if isinstance(cls, type):
                shot.note_class(cls)
        if self.question == "descriptor":
            shot.note_class(type(self.answer[1].value))
        return shot.note_function(self.function)


_QUESTIONS: dict[str, Callable[..., Any]] = {
    "asked": asks_nothing,
    "member": class_member,
    "name": name_of_class,
    "presence": presence,
    "inherited": inherited,
    "certain": certain_method,
    "certain member": certain_member,
    "derived": derived_from,
    "filled": filled_by,
    "allocator": allocator,
    "hook": attribute_hook,
    "value": is_value,
    "inherited in C": inherited_in_c,
    "made": made_by,
    "instance": is_instance,
    "iterated": iterated_as,
    "bare": is_bare,
    "cached": cached_function,
    "beside": is_beside,
    "default": is_default,
    "descriptor": descriptor,
    "entered": entered,
    "kept": is_kept,
    "record": record_names,
    "setting": setting,
    "special": special,
    "unbound": unbound,
}


class QuestionFact:
    """The fact that a question which the rows of the table ask of a class (`rules.classes`) has a certain
    answer: whether a method is written in Python, or is that of a base."""

    __slots__ = ("answer", "attribute", "cls", "function", "name")

    def __init__(self, cls: type, attribute: str, base: type | None, answer: bool) -> None:
        self.cls, self.function = cls, base
        self.attribute, self.answer = attribute, answer
        self.name = f"{attribute}{_ANSWERS[base is not None, answer]}"
        if base is not None:
            self.name += base.__name__

    def key(self) -> object:
        """A key that is equal for equal facts."""
        return self.cls, self.name, self.function

    def holds(self) -> bool:
        cls, base = self.cls, self.function
        answer = overrides(cls, self.attribute) if base is None else inherits(cls, self.attribute, base)
        return answer == self.answer

    def rests_on(self, shot: Shot) -> bool:
        shot.note_class(self.cls)
        if self.function is None:
            return True
        shot.note_class(self.function)
        return _is_found_there(self.cls, self.attribute) and _is_found_there(self.function, self.attribute)


def _is_found_there(cls: type, name: str) -> bool:
    """Whether attribute `name` of `cls` is what stands in the class or in one of its bases, or nothing: no
    metaclass and no descriptor of the user's is asked for it."""
    if type(cls) is not type or hasattr(vars(type).get(name), "__set__"):
        return False
    found = next((vars(base)[name] for base in cls.__mro__ if name in vars(base)), None)
    return type(found) in _AS_THEY_STAND


_AS_THEY_STAND = frozenset({
    types.NoneType, types.FunctionType, types.WrapperDescriptorType, types.MethodDescriptorType,
    types.BuiltinFunctionType,
})  # fmt: skip


_ANSWERS = {
    (False, True): ".python",
    (False, False): ".native",
    (True, True): ".same:",
    (True, False): ".other:",
}
"""What the name of a `QuestionFact` says, by whether a base is named, and the answer."""


class CellFact:
    """The fact that a cell of the closure of a function holds a certain object."""

    __slots__ = ("cell", "meaning", "value")

    function = None

    def __init__(self, cell: types.CellType, value: Any) -> None:
        self.cell, self.value = cell, value
        self.meaning = _meaning(value)

    def key(self) -> object:
        """A key that is equal for equal facts; the objects whose addresses are in it are held by the fact."""
        return "cell", id(self.cell), id(self.value), *map(id, self.meaning)

    def holds(self) -> bool:
        try:
            return self.cell.cell_contents is self.value and _still(self.value, self.meaning)
        except ValueError:  # the variable was deleted
            return False

    def rests_on(self, shot: Shot) -> bool:
        shot.note_cell(self.cell)
        return shot.note_function(self.value)


class DefaultsFact:
    """The fact that a function has certain defaults, which are written into what calls a form of it."""

    __slots__ = ("called", "meaning")

    function = None

    def __init__(self, called: types.FunctionType) -> None:
        self.called, self.meaning = called, _meaning(called)

    def key(self) -> object:
        """A key that is equal for equal facts; the objects whose addresses are in it are held by the fact."""
        return "defaults", id(self.called), *map(id, self.meaning)

    def holds(self) -> bool:
        return _still(self.called, self.meaning)

    def rests_on(self, shot: Shot) -> bool:
        return shot.note_function(self.called)


Fact = (
    NameFact
    | ClassFact
    | ConstructorFact
    | KeepingFact
    | AccessorFact
    | LackingFact
    | AnswerFact
    | QuestionFact
    | CellFact
    | DefaultsFact
)


def class_fact(cls: type, name: str, function: Any) -> Fact:
    """The fact noted of `cls` as `name`: of its constructor ("()"), of setting `x` ("x="), of reading `x`
    ("x"), of reading and writing the property `x` ("x.get", "x.set"), of the absence of `x` ("x.none"), of
    questions with other answers ("x.special", "x.certain", "x.kept", "x.default", "x.beside", "().bare",
    "x.entered", "x.python", "x.native", "x.same:int", "x.other:int")."""
    if name == "()":
        return ConstructorFact(cls, function)
    attribute, _, what = name.rpartition(".")
    if what == "none":
        return LackingFact(cls, attribute)
    for (_, answer), said in _ANSWERS.items():
        if f".{what}".startswith(said):
            return QuestionFact(cls, attribute, function, answer)
    if what in ("special", "certain", "entered"):
        return AnswerFact(cls, what, (attribute,), function)
    if what in ("kept", "default", "beside", "bare"):
        return AnswerFact(cls, what, () if what == "bare" else (attribute,), True)
    if attribute:
        return AccessorFact(cls, attribute, what, function)
    return KeepingFact(cls, name) if name.endswith("=") else ClassFact(cls, name, function)


class Classes:
    """What is known of classes, for those who note it themselves (`passes.scalar_replacement.Classes`)."""

    def __init__(self, table: RuleTable) -> None:
        self.table = table

    def constructor(self, cls: type, facts: dict[Any, Any]) -> types.FunctionType | None:
        found: types.FunctionType | None = constructor(cls)
        if found is None or self.table.rows(found) or self.table.rows(cls):
            return None
        facts[cls, "()"] = ConstructorFact(cls, found)
        return found

    def method(self, cls: type, name: str, facts: dict[Any, Any]) -> types.FunctionType | None:
        found: types.FunctionType | None = method(cls, name)
        if found is None or self.table.rows(found):
            return None
        facts[cls, name] = ClassFact(cls, name, found)
        return found

    def is_default(self, cls: type, name: str, facts: dict[Any, Any]) -> bool:
        if not is_default(cls, name):
            return False
        facts[cls, f"{name}.default"] = AnswerFact(cls, "default", (name,), True)
        return True

    def keeps(self, cls: type, name: str, facts: dict[Any, Any]) -> bool:
        if not keeps(cls, name):
            return False
        facts[cls, f"{name}="] = KeepingFact(cls, f"{name}=")
        return True


class _Fields:
    """The fact that some attributes of the instances of a class are plain fields."""

    __slots__ = ("cls", "names")

    def __init__(self, cls: type, names: Iterable[str]) -> None:
        self.cls = cls
        self.names = frozenset(names)

    def holds(self) -> bool:
        return are_fields(self.cls, self.names)

    def rests_on(self, shot: Shot) -> bool:
        shot.note_class(self.cls)
        return True


_Names = dict[tuple[int, str], tuple[dict[str, Any], str, Any]]


_Absent = dict[tuple[int, str], tuple[dict[str, Any], str]]


class _NamesFact:
    """The fact that names in the dictionaries of modules stand for certain objects, and that others are not
    there, so that these hide no builtin function."""

    def __init__(self, names: _Names, absent: _Absent) -> None:
        self.present: Any = tuple(zip(*names.values(), strict=True))
        self.absent: Any = tuple(zip(*absent.values(), strict=True)) or ((), ())

    def holds(self) -> bool:
        spaces, names, values = self.present
        if not all(map(is_, map(dict.get, spaces, names), values)):
            return False
        return not any(map(dict.__contains__, *self.absent))


def _is_of_names(fact: Fact, names: _Names, absent: _Absent) -> bool:
    """Whether all that `fact` says is what names in the dictionaries of modules stand for; if so, these are
    added to `names` and `absent`: facts share them."""
    return type(fact) is NameFact and not fact.meaning and _note_names(fact, names, absent)


def _note_names(fact: NameFact, names: _Names, absent: _Absent) -> bool:
    """Whether the path of `fact` goes by names in the dictionaries of modules; if so, these are added to
    `names` and `absent`."""
    found: list[tuple[dict[str, Any], str, Any]] = []
    namespace: Any = fact.globals
    builtins = namespace.get("__builtins__")
    path = fact.path
    is_imported = path[0].startswith(IMPORT)
    if is_imported:
        namespace, path = sys.modules, (path[0][len(IMPORT) :], *path[1:])
    elif path[0] not in namespace:  # a builtin
        namespace = builtins.__dict__ if isinstance(builtins, types.ModuleType) else builtins
        if not isinstance(namespace, dict):
            return False
    is_builtin = not is_imported and namespace is not fact.globals
    for k, name in enumerate(path):
        if name not in namespace:
            return False
        value = namespace[name]
        found.append((namespace, name, value))
        if k + 1 < len(path):
            if type(value) is not types.ModuleType:
                return False
            namespace = value.__dict__
    if found[-1][2] is not fact.value:
        return False
    names.update(((id(namespace), name), (namespace, name, value)) for namespace, name, value in found)
    if is_builtin:
        names[id(fact.globals), "__builtins__"] = fact.globals, "__builtins__", builtins
        absent[id(fact.globals), fact.path[0]] = fact.globals, fact.path[0]
    return True


def _is_of_engine(fact: Fact) -> bool:
    """Whether `fact` says what a function in a module of the engine is.

    Nobody binds these anew, and derivatives of derivatives depend on dozens of them.
    """
    if type(fact) is not NameFact or type(fact.value) is not types.FunctionType:
        return False
    home = fact.value.__module__
    if home is None or home.partition(".")[0] != "adbc":
        return False
    return getattr(sys.modules.get(home), fact.value.__name__, None) is fact.value


def together(facts: Iterable[Fact]) -> Sequence[Checked]:
    """`facts` without repetitions and without those that hold always: those about fields of one class become
    one, those about names as well."""
    fields: dict[type, dict[str, None]] = {}
    others: dict[Any, Fact] = {}
    names: _Names = {}
    absent: _Absent = {}
    for fact in facts:
        if type(fact) is ClassFact and fact.function is None:
            fields.setdefault(fact.cls, {})[fact.name] = None
        elif not _is_of_engine(fact) and not _is_of_names(fact, names, absent):
            others.setdefault(fact.key(), fact)
    in_modules = [_NamesFact(names, absent)] if names else []
    rest = (*others.values(), *[_Fields(cls, found) for cls, found in fields.items()])
    return (*in_modules, *([Glance(rest)] if rest else ()))
